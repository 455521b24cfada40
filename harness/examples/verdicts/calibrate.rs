//! Makes the tables of constants in `verdict/contrast.rs` and `verdict/modes.rs` again.

use ktrial::verdict::contrast::{Boot, Contrast, stretch};
use ktrial::verdict::modes;
use ktrial::verdict::ranks::RankSums;
use ktrial::verdict::student;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::host;

const LEVELS: [f64; 7] = [0.1, 0.05, 0.01, 0.005, 0.001, 0.0005, 0.0001];

/// A cell of normal noise.
struct Found {
    worse: f64,
    rank_p: f64,
    freedom: usize,
    explained: Option<f64>,
}

/// Prints, by numbers of boots, the factors at which the whole test has its level in normal noise,
/// with its size at the factor in use; and what two modes explain of that noise.
pub fn run(seed: u64, count: usize) {
    println!("boots of both sides; for each level the factor that keeps it (size now, in levels)");
    println!("                     and what two modes explain, mean and standard deviation");
    for rounds in [3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 30, 40] {
        let found = cells(rounds, seed, count);
        print!("{:3}", 2 * rounds);
        for level in LEVELS {
            let now = size(&found, rounds, stretch(2 * rounds), level);
            print!(
                "   {level}: {:.4} ({:.3})",
                factor(&found, rounds, level),
                now / level
            );
        }
        let explained: Vec<f64> = found.iter().filter_map(|f| f.explained).collect();
        let n = explained.len() as f64;
        let mean = explained.iter().sum::<f64>() / n;
        let squares: f64 = explained.iter().map(|e| (e - mean).powi(2)).sum();
        println!("   modes {mean:.4} {:.4}", (squares / n).sqrt());
    }
}

fn cells(rounds: usize, seed: u64, count: usize) -> Vec<Found> {
    let ranks = RankSums::new(rounds, rounds);
    (0..count.div_ceil(500))
        .into_par_iter()
        .flat_map_iter(|block| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(block as u64 + 1);
            let ranks = &ranks;
            (0..500).filter_map(move |_| {
                let values: Vec<f64> = (0..2 * rounds).map(|_| host::normal(&mut random)).collect();
                let boots: Vec<Boot> = (0..2 * rounds)
                    .map(|i| Boot {
                        round: (i % rounds) as u32,
                        value: values[i],
                    })
                    .collect();
                let (base, variant) = boots.split_at(rounds);
                let contrast = Contrast::with(base, variant, ranks.clone())?;
                Some(Found {
                    worse: contrast.worse(0.0),
                    rank_p: contrast.ranks_alone(0.0).p(0.0),
                    freedom: contrast.freedom(),
                    explained: modes::explained(&values[..rounds], &values[rounds..]),
                })
            })
        })
        .collect()
}

/// The share of cells that alarm at a factor and a level.
fn size(found: &[Found], rounds: usize, factor: f64, level: f64) -> f64 {
    let alarms = found.iter().filter(|found| {
        let worse = (found.worse / factor / (2 * rounds) as f64).exp_m1();
        let t = (found.freedom as f64 * worse).sqrt();
        student::two_sided(t, found.freedom).max(found.rank_p) <= level
    });
    alarms.count() as f64 / found.len() as f64
}

/// The factor at which as many alarm as may, by halves.
fn factor(found: &[Found], rounds: usize, level: f64) -> f64 {
    let (mut low, mut high) = (0.3, 3.0);
    for _ in 0..30 {
        let middle = (low + high) / 2.0;
        if size(found, rounds, middle, level) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}
