//! The rows: trials of 1, 30 and 300 cells made of judged cells, and what comes of them.

use ktrial::verdict::adjust::benjamini_hochberg;

use crate::host::Noise;
use crate::judges::{Opinion, opinions};

/// What a tool as it is used finds in a cell.
type Says = fn(&Opinion) -> bool;

const LEVEL: f64 = 0.05;
const SHIFTS: [f64; 4] = [0.005, 0.01, 0.02, 0.05];
/// In trials of many cells, one in ten is shifted.
const SHIFTED: usize = 10;

pub struct Options {
    pub seed: u64,
    /// Cells without a shift, and with, for each row.
    pub null: usize,
    pub cells: usize,
    pub calibrate: bool,
    /// Only the trials that end as soon as they may.
    pub sequential: bool,
    only: Vec<String>,
}

impl Options {
    pub fn read() -> Options {
        let mut options = Options {
            seed: 1,
            null: 30_000,
            cells: 2_000,
            calibrate: false,
            sequential: false,
            only: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|w| w.parse().ok()).unwrap_or(1);
            match word.as_str() {
                "--seed" => options.seed = number(),
                "--null" => options.null = number() as usize,
                "--cells" => options.cells = number() as usize,
                "--sequential" => options.sequential = true,
                "--calibrate" => options.calibrate = true,
                _ => options.only.push(word.to_lowercase()),
            }
        }
        options
    }

    /// Words choose rows: `normal`, `n5`, `r0.5`.
    pub fn wants(&self, row: &Row) -> bool {
        let names = [
            format!("{:?}", row.noise).to_lowercase(),
            format!("n{}", row.rounds),
            format!("r{}", row.between),
        ];
        let kind = |prefix: &str| {
            let mut of = self.only.iter().filter(|w| {
                let number = |w: &str| w[1..].parse::<f64>().is_ok();
                match prefix {
                    "" => !number(w),
                    _ => w.starts_with(prefix) && number(w),
                }
            });
            of.clone().next().is_none() || of.any(|w| names.contains(w))
        };
        ["", "n", "r"].into_iter().all(kind)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub noise: Noise,
    pub rounds: usize,
    pub between: f64,
}

/// Who decides by p-values over boots, and so can be corrected for many cells.
#[derive(Clone, Copy)]
enum Judge {
    Ktrial,
    Student,
    Ranks,
}

const JUDGES: [Judge; 3] = [Judge::Ktrial, Judge::Student, Judge::Ranks];

impl Judge {
    fn p(self, opinion: &Opinion) -> f64 {
        match self {
            Judge::Ktrial => opinion.ktrial,
            Judge::Student => opinion.student,
            Judge::Ranks => opinion.ranks,
        }
    }

    fn calls(self, opinion: &Opinion, p: f64) -> bool {
        let beyond = !matches!(self, Judge::Ktrial) || opinion.beyond;
        p <= LEVEL && beyond
    }
}

/// How often a trial of these cells has an alarm at all, and the share of cells called.
fn corrected(judge: Judge, cells: &[&Opinion]) -> Vec<bool> {
    let mut p: Vec<Option<f64>> = cells.iter().map(|c| Some(judge.p(c))).collect();
    benjamini_hochberg(&mut p);
    cells
        .iter()
        .zip(p)
        .map(|(c, p)| judge.calls(c, p.unwrap_or(1.0)))
        .collect()
}

/// The share of trials of `size` unshifted cells with any alarm.
fn alarms(judge: Judge, null: &[Opinion], size: usize) -> (f64, usize) {
    let trials = null.len() / size;
    let any = null
        .chunks_exact(size)
        .filter(|trial| corrected(judge, &trial.iter().collect::<Vec<_>>()).contains(&true))
        .count();
    (any as f64 / trials as f64, trials)
}

/// The share of shifted cells found, and of calls that are false, in trials of `size` cells.
/// Unshifted cells are used once each as long as they last.
fn finds(judge: Judge, null: &[Opinion], shifted: &[Opinion], size: usize) -> (f64, f64) {
    let truly = size.div_ceil(SHIFTED);
    let trials = shifted.len() / truly;
    let mut others = null.iter().cycle();
    let (mut found, mut false_share) = (0, 0.0);
    for trial in shifted.chunks_exact(truly) {
        let mut cells: Vec<&Opinion> = trial.iter().collect();
        cells.extend(others.by_ref().take(size - truly));
        let called = corrected(judge, &cells);
        let right = called[..truly].iter().filter(|c| **c).count();
        let wrong = called[truly..].iter().filter(|c| **c).count();
        found += right;
        false_share += wrong as f64 / (right + wrong).max(1) as f64;
    }
    (
        found as f64 / (trials * truly) as f64,
        false_share / trials as f64,
    )
}

/// Counts what is not as it must be.
pub fn run(rows: &[Row], options: &Options) -> i32 {
    let mut faults = 0;
    for row in rows {
        let Row {
            noise,
            rounds,
            between,
        } = *row;
        let all = |shift, count| opinions(noise, rounds, between, shift, options.seed, count);
        let null = all(0.0, options.null);
        let shifted: Vec<Vec<Opinion>> = SHIFTS.iter().map(|s| all(*s, options.cells)).collect();
        let share = |cells: &[Opinion], f: &dyn Fn(&Opinion) -> bool| {
            cells.iter().filter(|o| f(o)).count() as f64 / cells.len() as f64
        };
        print!("{noise:?} {rounds} boots, between {between}; as used, alarms and finds at 2 %:");
        let used: [(&str, Says); 4] = [
            ("ministat", |o| o.ministat),
            ("benchstat", |o| o.benchstat),
            ("lkp", |o| o.lkp),
            ("mmtests", |o| o.mmtests),
        ];
        for (name, says) in used {
            print!(
                " {name} {:.3} {:.2}",
                share(&null, &says),
                share(&shifted[2], &says)
            );
        }
        let says = |o: &Opinion| o.unchanged;
        print!(
            "; unchanged at 0, 0.5, 1, 2 %: {:.2}",
            share(&null[..2000.min(null.len())], &says)
        );
        (0..3).for_each(|i| print!(" {:.3}", share(&shifted[i], &says)));
        println!();
        for size in [1, 30, 300] {
            let mut line = format!("  {size:3} cells  alarms");
            let mut bad = String::new();
            for judge in JUDGES {
                let (rate, trials) = alarms(judge, &null, size);
                line += &format!(" {rate:.3}");
                let error = (LEVEL * (1.0 - LEVEL) / trials as f64).sqrt();
                if matches!(judge, Judge::Ktrial) && rate > LEVEL + 2.6 * error {
                    bad += " ALARMS";
                }
            }
            for (shift, cells) in SHIFTS.iter().zip(&shifted) {
                let all = JUDGES.map(|j| finds(j, &null, cells, size));
                let [own, student, ranks] = all.map(|f| f.0);
                line += &format!("   {}%: {own:.3} {student:.3} {ranks:.3}", shift * 100.0);
                let trials = cells.len() / size.div_ceil(SHIFTED);
                if size > 1
                    && all[0].1 > LEVEL + 2.6 * (LEVEL * (1.0 - LEVEL) / trials as f64).sqrt()
                {
                    bad += &format!(" FALSE-DISCOVERIES({:.3})", all[0].1);
                }
                let best = student.max(ranks);
                if rounds < 5 || *shift <= 0.01 || !(0.1..=0.95).contains(&best) {
                    continue;
                }
                match noise {
                    Noise::Normal if own < best - 0.05 => {
                        bad += &format!(" LOST({:.3})", own - best)
                    }
                    Noise::Skewed | Noise::Outliers | Noise::Line | Noise::Walk if own <= best => {
                        bad += &format!(" NOT-ABOVE({:.3})", own - best);
                    }
                    _ => {}
                }
            }
            faults += i32::from(!bad.is_empty());
            println!("{line}{bad}");
        }
    }
    println!("{faults} rows are not as they must be");
    i32::from(faults > 0)
}
