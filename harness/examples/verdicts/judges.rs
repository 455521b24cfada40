//! One cell judged by everyone.

use ktrial::verdict::boots::levels;
use ktrial::verdict::contrast::{Boot, Contrast, Tests};
use ktrial::verdict::course::Compared;
use ktrial::verdict::modes::{self, Score};
use ktrial::verdict::ranks::RankSums;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::host::{self, Cell, Row};
use crate::peers;

/// The nominal level of all alarms and false discoveries.
pub const LEVEL: f64 = 0.05;
/// The margin of verdicts.
pub const MARGIN: f64 = 0.01;
/// Cells are drawn in blocks, each with noise of its own.
const BLOCK: usize = 500;
/// So many cells of a row and shift are also judged by tools as they are used.
const CLOSELY: usize = 4_000;

/// What everyone says of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Opinion {
    /// ktrial's tests of no shift; the fit is asked where the ranks do not refuse alone.
    pub ktrial: Option<Tests>,
    /// Whether ktrial's estimate is beyond the margin.
    pub beyond: bool,
    /// How much the boots look like two modes.
    pub modes: Option<Score>,
    /// Student's and Mann and Whitney's p-value over means of boots.
    pub student: f64,
    pub ranks: f64,
    /// What is asked of the first cells alone.
    pub used: Option<Used>,
}

/// What tools say as they are used, of all samples or of runs.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    pub ministat: bool,
    pub benchstat: bool,
    pub lkp: bool,
    pub mmtests: bool,
    /// Whether ktrial, looking once, calls it unchanged: two one-sided tests inside the margin.
    pub unchanged: bool,
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

/// The boots of both sides as ktrial sees them.
fn boots(cell: &Cell) -> Vec<Boot> {
    let both = cell.base.iter().chain(&cell.variant);
    let logs: Vec<Vec<f64>> = both
        .map(|boot| boot.iter().map(|v| v.ln()).collect())
        .collect();
    let rounds = cell.base.len() as u32;
    (0u32..)
        .zip(levels(&logs))
        .map(|(i, value)| Boot {
            round: i % rounds,
            value: value.unwrap_or(f64::NAN),
        })
        .collect()
}

/// Both sides compared at a look.
pub fn compared(cell: &Cell, tables: &Tables, look: usize) -> Option<Compared> {
    let boots = boots(cell);
    let values: Vec<f64> = boots.iter().map(|boot| boot.value).collect();
    let (base, variant) = boots.split_at(cell.base.len());
    Some(Compared {
        look: Some(look),
        boots: (base.len() as u32, variant.len() as u32),
        contrast: Contrast::with(base, variant, tables.boots.clone())?,
        modes: modes::score(&values[..base.len()], &values[base.len()..]),
    })
}

fn judge(cell: &Cell, tables: &Tables, closely: bool) -> Opinion {
    let means = |boots: &[Vec<f64>]| -> Vec<f64> { boots.iter().map(|b| peers::mean(b)).collect() };
    let (base, variant) = (means(&cell.base), means(&cell.variant));
    let boots = boots(cell);
    let values: Vec<f64> = boots.iter().map(|boot| boot.value).collect();
    let (own_base, own_variant) = boots.split_at(cell.base.len());
    let contrast = Contrast::with(own_base, own_variant, tables.boots.clone());
    Opinion {
        ktrial: contrast.as_ref().map(tests_within_level),
        beyond: contrast
            .as_ref()
            .is_some_and(|c| c.estimate().abs() > MARGIN.ln_1p()),
        modes: modes::score(&values[..base.len()], &values[base.len()..]),
        student: peers::ministat(&base, &variant),
        ranks: peers::benchstat(&base, &variant, &tables.boots),
        used: closely.then(|| {
            let (all_base, all_variant) = (cell.base.concat(), cell.variant.concat());
            Used {
                ministat: peers::ministat(&all_base, &all_variant) <= LEVEL,
                benchstat: peers::benchstat(&all_base, &all_variant, &tables.samples) <= LEVEL,
                lkp: peers::lkp(&base, &variant),
                mmtests: peers::mmtests(&all_base, &all_variant),
                unchanged: contrast.as_ref().is_some_and(is_unchanged),
            }
        }),
    }
}

/// The tests of no shift, without the fit where the ranks, which are quick, refuse alone.
fn tests_within_level(contrast: &Contrast) -> Tests {
    let ranks = contrast.ranks_alone(0.0);
    if ranks.p(0.0) > LEVEL {
        ranks
    } else {
        contrast.tests(0.0)
    }
}

fn is_unchanged(contrast: &Contrast) -> bool {
    let margin = MARGIN.ln_1p();
    let refused = |edge: f64| {
        let quickly = contrast.ranks_alone(edge).p(0.0);
        quickly <= 2.0 * LEVEL && contrast.p(edge) <= 2.0 * LEVEL
    };
    contrast.estimate().abs() < margin && refused(margin) && refused(-margin)
}

/// Judges `count` cells, the same for the same seed on any number of cores.
pub fn opinions(row: &Row, shift: f64, seed: u64, count: usize) -> Vec<Opinion> {
    let tables = Tables::new(row.rounds);
    let seed = row_seed(row, shift, seed);
    (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .flat_map_iter(|block| {
            let mut random = ChaCha8Rng::from_seed(seed);
            random.set_stream(block as u64 + 1);
            let tables = &tables;
            (0..BLOCK.min(count - block * BLOCK)).map(move |i| {
                let cell = host::cell(row, shift, &mut random);
                judge(&cell, tables, block * BLOCK + i < CLOSELY)
            })
        })
        .collect()
}

/// Rows and shifts have noise of their own, so that one lucky draw does not show in all of them.
pub fn row_seed(row: &Row, shift: f64, seed: u64) -> [u8; 32] {
    let words = [
        seed,
        (row.noise as u64) << 32 | row.rounds as u64,
        row.between.to_bits(),
        shift.to_bits(),
    ];
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
