//! Trials that end as soon as they may, beside those of a fixed number of rounds.

use ktrial::verdict::adjust::benjamini_hochberg;
use ktrial::verdict::course::{Compared, Course};
use ktrial::verdict::decide;
use ktrial::verdict::looks::{Looks, schedule};
use ktrial::verdict::modes;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::host::{self, Cell, Noise, Row};
use crate::judges::{self, LEVEL, MARGIN, Tables};

const SHIFT: f64 = 0.05;
/// Rounds of the fixed trials, which find the shift in 80 % of trials.
const FIXED: [usize; 2] = [12, 20];
/// The most rounds of a sequential trial, by rounds of the fixed one.
const MORE: f64 = 1.1;
/// What the average boots of sequential trials may be, by those of the fixed ones.
const MOST_BOOTS: f64 = 0.70;
const NOISES: [Noise; 4] = [Noise::Normal, Noise::Skewed, Noise::Outliers, Noise::Walk];
/// Cells of a trial of many, and how many of them are shifted.
const CELLS: usize = 30;
const SHIFTED: usize = 3;

/// How one cell goes: what is seen at each look, if anything can be.
type Going = Vec<Option<Compared>>;

/// How a cell ended: after how many rounds, and whether a difference was found.
#[derive(Clone, Copy)]
struct End {
    rounds: usize,
    found: bool,
}

/// Prints the rows; counts those that are not as they must be.
pub fn run(seed: u64, null: usize, shifted: usize) -> i32 {
    println!(
        "Sequential trials at a shift of 5 %: looked at after 4 rounds and then after each (a tenth\n\
         more each time from 20 on), {MORE} times as many rounds at most as the fixed trials.\n\
         boots: of the fixed trial's, on average; over all trials, and over those that decide.\n\n\
         {:<10} {:>6} {:>7} {:>9} {:>9} {:>7} {:>8} {:>9} {:>8} {:>10}",
        "noise",
        "fixed",
        "spread",
        "found",
        "found",
        "boots",
        "boots of",
        "alarms",
        "boots",
        "false of"
    );
    println!(
        "{:<10} {:>6} {:>7} {:>9} {:>9} {:>7} {:>8} {:>9} {:>8} {:>10}",
        "",
        "rounds",
        "%",
        "by fixed",
        "by seq.",
        "of all",
        "deciders",
        "by seq.",
        "at none",
        "30 cells"
    );
    let mut faults = 0;
    for noise in NOISES {
        for fixed in FIXED {
            faults += i32::from(!row(noise, fixed, seed, null, shifted));
        }
    }
    println!("\n{faults} sequential rows are not as they must be");
    faults
}

fn row(noise: Noise, fixed: usize, seed: u64, null: usize, shifted: usize) -> bool {
    let between = spread_for(noise, fixed, seed, shifted);
    let most = (fixed as f64 * MORE).round() as u32;
    let looks = Looks::new(&schedule(4, 1, most));
    let alone = |shift: f64, count: usize, salt: u64| -> Vec<End> {
        goings(noise, between, shift, seed ^ salt, count, &looks)
            .iter()
            .map(|going| ends(&[going], &looks)[0])
            .collect()
    };
    let (at_shift, at_none) = (alone(SHIFT, shifted, 1), alone(0.0, null, 2));
    let share = |ends: &[End]| ends.iter().filter(|e| e.found).count() as f64 / ends.len() as f64;
    let boots = |ends: &mut dyn Iterator<Item = &End>| {
        let (sum, count) = ends.fold((0, 0), |(sum, count), e| (sum + e.rounds, count + 1));
        sum as f64 / f64::from(count.max(1)) / fixed as f64
    };
    let by_fixed = power(noise, fixed, between, seed ^ 3, shifted);
    let all = boots(&mut at_shift.iter());
    let deciders = boots(&mut at_shift.iter().filter(|e| e.found));
    let alarms = share(&at_none);
    let false_share = false_discoveries(noise, between, seed, shifted / 4, &looks);
    let error = 2.6 * (LEVEL * (1.0 - LEVEL) / null as f64).sqrt();
    let trials = (shifted / 4) as f64;
    let fine = alarms <= LEVEL + error
        && false_share <= LEVEL + 2.6 * (LEVEL * (1.0 - LEVEL) / trials).sqrt()
        && deciders <= MOST_BOOTS;
    println!(
        "{:<10} {fixed:>6} {:>7.2} {by_fixed:>9.3} {:>9.3} {all:>7.3} {deciders:>8.3} {alarms:>9.4} {:>8.3} {false_share:>10.4}{}",
        format!("{noise:?}").to_lowercase(),
        100.0 * host::WITHIN * (between * between + 1.0 / host::SAMPLES as f64).sqrt(),
        share(&at_shift),
        boots(&mut at_none.iter()),
        if fine { "" } else { "  NOT AS IT MUST BE" },
    );
    fine
}

/// The spread between boots at which a fixed trial finds the shift in 80 % of trials, by halves.
fn spread_for(noise: Noise, rounds: usize, seed: u64, count: usize) -> f64 {
    let (mut low, mut high) = (0.2, 12.0);
    for _ in 0..9 {
        let middle = (low + high) / 2.0;
        if power(noise, rounds, middle, seed ^ 5, count) > 0.8 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// How often a fixed trial finds the shift.
fn power(noise: Noise, rounds: usize, between: f64, seed: u64, count: usize) -> f64 {
    let looks = Looks::new(&[rounds as u32]);
    let goings = goings(noise, between, SHIFT, seed, count, &looks);
    let found = goings
        .iter()
        .filter(|going| ends(&[going], &looks)[0].found);
    found.count() as f64 / count as f64
}

/// Simulates cells and looks at them; the same for the same seed on any number of cores.
fn goings(
    noise: Noise,
    between: f64,
    shift: f64,
    seed: u64,
    count: usize,
    looks: &Looks,
) -> Vec<Going> {
    let rounds: Vec<usize> = looks.rounds().iter().map(|r| *r as usize).collect();
    let tables: Vec<Tables> = rounds.iter().map(|r| Tables::new(*r)).collect();
    let row = Row {
        noise,
        rounds: rounds.last().copied().unwrap_or(1),
        between,
    };
    (0..count)
        .into_par_iter()
        .map(|number| {
            let mut random = ChaCha8Rng::from_seed(judges::row_seed(&row, shift, seed));
            random.set_stream(number as u64);
            let cell = host::cell(&row, shift, &mut random);
            let each = rounds.iter().zip(&tables).enumerate();
            each.map(|(look, (&until, tables))| {
                let seen = Cell {
                    base: cell.base[..until].to_vec(),
                    variant: cell.variant[..until].to_vec(),
                };
                judges::compared(&seen, tables, look)
            })
            .collect()
        })
        .collect()
}

/// Goes through the looks of a trial's cells together, as a trial does: each ends where it is decided,
/// given up, or out of rounds.
fn ends(cells: &[&Going], looks: &Looks) -> Vec<End> {
    let margin = MARGIN.ln_1p();
    let mut ended: Vec<Option<End>> = vec![None; cells.len()];
    // A cell that has ended stays as it was last seen.
    let mut seen: Vec<Option<Course>> = vec![None; cells.len()];
    let mut scores = vec![None; cells.len()];
    for (look, rounds) in looks.rounds().iter().enumerate() {
        let now = |cell: usize| cells[cell][look].as_ref().filter(|_| ended[cell].is_none());
        for (cell, score) in scores.iter_mut().enumerate() {
            *score = now(cell).map_or(*score, |compared| compared.modes);
        }
        let modes = modes::share(scores.iter().copied().flatten());
        for (cell, course) in seen.iter_mut().enumerate() {
            if let Some(compared) = now(cell) {
                let next = Course::after(course.as_ref(), compared.clone(), modes, looks, margin);
                *course = Some(next);
            }
        }
        let mut p: Vec<Option<f64>> = seen.iter().map(|c| c.as_ref().map(|c| c.p)).collect();
        benjamini_hochberg(&mut p);
        for (cell, course) in seen.iter().enumerate() {
            if ended[cell].is_some() {
                continue;
            }
            let p = p[cell].unwrap_or(1.0);
            let word = course
                .as_ref()
                .and_then(|course| decide::word(course, p, margin, true));
            let open = course
                .as_ref()
                .is_none_or(|course| decide::is_open(course, looks));
            if word.is_some() || !open || look + 1 == looks.rounds().len() {
                ended[cell] = Some(End {
                    rounds: *rounds as usize,
                    found: matches!(word, Some("improved" | "regressed")),
                });
            }
        }
    }
    ended.into_iter().flatten().collect()
}

/// The share of discoveries that are false, on average over trials of 30 cells.
fn false_discoveries(noise: Noise, between: f64, seed: u64, trials: usize, looks: &Looks) -> f64 {
    let null = goings(
        noise,
        between,
        0.0,
        seed ^ 7,
        trials * (CELLS - SHIFTED),
        looks,
    );
    let shifted = goings(noise, between, SHIFT, seed ^ 8, trials * SHIFTED, looks);
    let each = null
        .chunks_exact(CELLS - SHIFTED)
        .zip(shifted.chunks_exact(SHIFTED));
    let shares = each.map(|(null, shifted)| {
        let cells: Vec<&Going> = null.iter().chain(shifted).collect();
        let found: Vec<bool> = ends(&cells, looks).iter().map(|end| end.found).collect();
        let wrong = found[..null.len()].iter().filter(|f| **f).count();
        wrong as f64 / found.iter().filter(|f| **f).count().max(1) as f64
    });
    shares.sum::<f64>() / trials as f64
}
