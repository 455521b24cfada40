//! Perturbation: in virtual time equal boots give equal digits, which is repeatability and not
//! truth. So each boot is disturbed on purpose, from its own recorded seed, in what chance decides
//! on a real machine: where things lie in memory.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::Serialize;

/// What a seed does to a boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Perturbation {
    /// The seed that all of it comes from.
    pub seed: u64,
    /// Fed to the guest's random pool by the agent: user-space layout, stack offsets.
    #[serde(serialize_with = "hex::serialize")]
    pub entropy: [u8; 32],
    /// A word on the kernel's command line. Linux mixes the command line into its random pool
    /// before the allocators start (`random_init_early`, drivers/char/random.c), so this shuffles
    /// the free lists of pages and slabs.
    pub word: String,
    /// Memory beyond the guest's shape, in MiB: moves where the kernel's tables lie.
    pub extra_mib: u32,
    /// Given to every workload of the boot.
    pub workload_seed: u32,
}

/// Memory varies in steps of this, so that large pages still fit.
const STEP_MIB: u32 = 2;
/// And by fewer than this many steps: at most 6 % of a 1 GiB guest.
const STEPS: u32 = 32;

impl Perturbation {
    /// The same seed gives the same perturbation on every machine.
    pub fn of(seed: u64) -> Perturbation {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let mut entropy = [0; 32];
        random.fill_bytes(&mut entropy);
        Perturbation {
            seed,
            entropy,
            word: format!("{:016x}", random.next_u64()),
            extra_mib: random.random_range(0..STEPS) * STEP_MIB,
            workload_seed: random.next_u32(),
        }
    }
}

/// The seed of one boot of a trial: every (round, position) has its own.
pub fn boot_seed(trial: u64, round: u32, position: u32) -> u64 {
    let mut random = ChaCha20Rng::seed_from_u64(trial);
    random.set_stream((u64::from(round) << 32) | u64::from(position));
    random.next_u64()
}

/// The order of `variants` in a round, as positions into them.
pub fn round_order(trial: u64, round: u32, variants: usize) -> Vec<usize> {
    use rand::seq::SliceRandom;
    let mut random = ChaCha20Rng::seed_from_u64(trial);
    random.set_stream(u64::MAX - u64::from(round));
    let mut order: Vec<usize> = (0..variants).collect();
    order.shuffle(&mut random);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_seed_repeats_and_no_two_boots_share_one() {
        assert_eq!(Perturbation::of(7), Perturbation::of(7));
        assert_ne!(Perturbation::of(7), Perturbation::of(8));
        let seeds: HashSet<u64> = (0..50)
            .flat_map(|round| (0..4).map(move |position| boot_seed(1, round, position)))
            .collect();
        assert_eq!(seeds.len(), 200);
    }

    #[test]
    fn memory_moves_by_at_most_62_mib_in_steps_of_two() {
        for seed in 0..500 {
            let extra = Perturbation::of(seed).extra_mib;
            assert!(extra <= 62 && extra.is_multiple_of(2));
        }
    }

    #[test]
    fn every_order_of_three_variants_comes_up_about_equally_often() {
        let mut counts = std::collections::HashMap::new();
        for round in 0..6_000 {
            *counts.entry(round_order(3, round, 3)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Binomial(6000, 1/6): mean 1000, standard deviation 29; five of them is 145.
        assert!(counts.values().all(|&n| (855..=1145).contains(&n)));
    }
}
