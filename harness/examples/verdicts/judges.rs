//! One cell judged by everyone.

use ktrial::verdict::boots::levels;
use ktrial::verdict::contrast::{Boot, Contrast, stretch};
use ktrial::verdict::ranks::RankSums;
use ktrial::verdict::student;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::host::{self, Cell, Noise};
use crate::peers;

/// The margin of verdicts.
pub const MARGIN: f64 = 0.01;

/// What everyone says of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Opinion {
    /// ktrial's p-value, and whether its estimate is beyond the margin.
    pub ktrial: f64,
    pub beyond: bool,
    /// Both one-sided tests against the margin at 5 %.
    pub unchanged: bool,
    /// Student's and Mann and Whitney's p-value over means of boots.
    pub student: f64,
    pub ranks: f64,
    /// As they are used: all samples, or runs.
    pub ministat: bool,
    pub benchstat: bool,
    pub lkp: bool,
    pub mmtests: bool,
}

/// Tables that all cells of a row share.
pub struct Tables {
    boots: RankSums,
    samples: RankSums,
}

impl Tables {
    pub fn new(rounds: usize) -> Tables {
        let samples = rounds * host::SAMPLES;
        let exact = if samples <= 50 { samples } else { 1 };
        Tables {
            boots: RankSums::new(rounds, rounds),
            samples: RankSums::new(exact, exact),
        }
    }
}

pub fn contrast(cell: &Cell, tables: &Tables) -> Option<Contrast> {
    let logs: Vec<Vec<f64>> = cell
        .base
        .iter()
        .chain(&cell.variant)
        .map(|boot| boot.iter().map(|v| v.ln()).collect())
        .collect();
    let values = levels(&logs);
    let rounds = cell.base.len();
    let boots: Vec<Boot> = (0u32..)
        .zip(values)
        .map(|(i, value)| Boot {
            round: i % rounds as u32,
            value: value.unwrap_or(0.0),
        })
        .collect();
    let (base, variant) = boots.split_at(rounds);
    Contrast::with(base, variant, tables.boots.clone())
}

pub fn judge(cell: &Cell, tables: &Tables, equivalence: bool) -> Opinion {
    let means = |boots: &[Vec<f64>]| -> Vec<f64> { boots.iter().map(|b| peers::mean(b)).collect() };
    let (base, variant) = (means(&cell.base), means(&cell.variant));
    let (all_base, all_variant) = (cell.base.concat(), cell.variant.concat());
    let contrast = contrast(cell, tables);
    let estimate = contrast.as_ref().map_or(0.0, Contrast::estimate);
    let margin = MARGIN.ln_1p();
    let p = |shift: f64| contrast.as_ref().map_or(1.0, |c| c.p(shift));
    Opinion {
        ktrial: p(0.0),
        beyond: estimate.abs() > margin,
        unchanged: equivalence && estimate.abs() < margin && p(margin) <= 0.1 && p(-margin) <= 0.1,
        student: peers::ministat(&base, &variant),
        ranks: peers::benchstat(&base, &variant, &tables.boots),
        ministat: peers::ministat(&all_base, &all_variant) <= 0.05,
        benchstat: peers::benchstat(&all_base, &all_variant, &tables.samples) <= 0.05,
        lkp: peers::lkp(&base, &variant),
        mmtests: peers::mmtests(&all_base, &all_variant),
    }
}

/// Judges `count` cells, the same for the same seed on any number of cores; where there is no
/// shift, only the first few are asked whether nothing changed.
pub fn opinions(
    noise: Noise,
    rounds: usize,
    between: f64,
    shift: f64,
    seed: u64,
    count: usize,
) -> Vec<Opinion> {
    let tables = Tables::new(rounds);
    (0..count.div_ceil(500))
        .into_par_iter()
        .flat_map_iter(|block| {
            let mut random = ChaCha8Rng::from_seed(row_seed(noise, rounds, between, shift, seed));
            random.set_stream(block as u64 + 1);
            let tables = &tables;
            let equivalence = shift > 0.0 || block < 4;
            (0..500).map(move |_| {
                let cell = host::cell(noise, rounds, between, shift, &mut random);
                judge(&cell, tables, equivalence)
            })
        })
        .collect()
}

/// Rows and shifts have noise of their own, so that one lucky draw does not show in all of them.
pub fn row_seed(noise: Noise, rounds: usize, between: f64, shift: f64, seed: u64) -> [u8; 32] {
    let words = [
        seed,
        (noise as u64) << 32 | rounds as u64,
        between.to_bits(),
        shift.to_bits(),
    ];
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Finds how much the choice of a shape stretches the test, by numbers of boots: the factor at
/// which the whole test has its level in normal noise.
pub fn calibrate(seed: u64, count: usize) {
    for rounds in [3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 30] {
        let ranks = RankSums::new(rounds, rounds);
        let found: Vec<(f64, f64, usize)> = (0..count.div_ceil(500))
            .into_par_iter()
            .flat_map_iter(|block| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(block as u64 + 1);
                let ranks = &ranks;
                (0..500).filter_map(move |_| {
                    let boots: Vec<Boot> = (0..2 * rounds)
                        .map(|i| Boot {
                            round: (i % rounds) as u32,
                            value: host::normal(&mut random),
                        })
                        .collect();
                    let (base, variant) = boots.split_at(rounds);
                    let contrast = Contrast::with(base, variant, ranks.clone())?;
                    Some((
                        contrast.worse(0.0),
                        contrast.rank_p(0.0),
                        contrast.freedom(),
                    ))
                })
            })
            .collect();
        let size = |factor: f64, alpha: f64| {
            let alarms = found.iter().filter(|(worse, rank, freedom)| {
                let n = 2.0 * rounds as f64;
                let t = (*freedom as f64 * (worse / factor / n).exp_m1()).sqrt();
                student::two_sided(t, *freedom).max(*rank) <= alpha
            });
            alarms.count() as f64 / found.len() as f64
        };
        print!("boots {:3}", 2 * rounds);
        for alpha in [0.1, 0.05, 0.01, 0.005, 0.001, 0.0005, 0.0001] {
            let (mut low, mut high) = (0.3, 3.0);
            for _ in 0..30 {
                let middle = (low + high) / 2.0;
                if size(middle, alpha) > alpha {
                    low = middle
                } else {
                    high = middle
                }
            }
            let now = size(stretch(2 * rounds), alpha);
            print!("   {alpha}: {:.4} ({:.5})", (low + high) / 2.0, now);
        }
        println!();
    }
}
