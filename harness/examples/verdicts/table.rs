//! What is printed: a block a row, and at the end the worst of all.

use crate::demands::{Check, Kind};
use crate::host::Row;
use crate::judges::{LEVEL, Used};
use crate::trials::{Outcome, SHIFTS, Scores, USED_SHIFT};

/// A tool as it is used, and whether it calls a cell.
type Tool = (&'static str, fn(&Used) -> bool);

const TOOLS: [Tool; 4] = [
    ("ministat", |used| used.ministat),
    ("benchstat", |used| used.benchstat),
    ("LKP", |used| used.lkp),
    ("MMTests", |used| used.mmtests),
];

fn place(row: &Row) -> String {
    let Row {
        noise,
        rounds,
        between,
    } = row;
    let noise = noise.name();
    format!("{noise}, {rounds} boots a side, spread between boots {between} of that within")
}

fn percent(shift: f64) -> String {
    format!("{} %", shift * 100.0)
}

fn share(used: &[Used], says: fn(&Used) -> bool) -> f64 {
    used.iter().filter(|used| says(used)).count() as f64 / used.len() as f64
}

/// Prints a row's block, with what is not as it must be.
pub fn block(outcome: &Outcome, checks: &[Check]) {
    println!("{}", place(&outcome.row));
    println!("  cells        alarms          {}", heads("finds at "));
    println!(
        "        {}",
        "  ktrial  t-test   ranks".repeat(1 + SHIFTS.len())
    );
    outcome
        .sizes
        .iter()
        .for_each(|scores| println!("{}", line(scores)));
    as_used(&outcome.used);
    let faults = checks.iter().filter(|check| !check.holds);
    faults.for_each(|check| println!("  WRONG: {}", said(check)));
    println!();
}

fn heads(word: &str) -> String {
    SHIFTS
        .map(|shift| format!("{:^24}", format!("{word}{}", percent(shift))))
        .concat()
}

fn line(scores: &Scores) -> String {
    let three = |values: &[f64; 3]| values.map(|value| format!("{value:8.3}")).concat();
    let finds: String = scores.shifts.iter().map(|at| three(&at.finds)).collect();
    format!("  {:5} {}{finds}", scores.size, three(&scores.alarms))
}

fn as_used(used: &[Vec<Used>]) {
    let (unshifted, shifted) = (&used[0], &used[1 + USED_SHIFT]);
    let of_tool = |(name, says): Tool| {
        let (alarms, finds) = (share(unshifted, says), share(shifted, says));
        format!("{name} {alarms:.3} {finds:.2}")
    };
    println!(
        "  as used, alarms and finds at {}: {}",
        percent(SHIFTS[USED_SHIFT]),
        TOOLS.map(of_tool).join(", ")
    );
    let unchanged: Vec<String> = used
        .iter()
        .map(|used| format!("{:.3}", share(used, |used| used.unchanged)))
        .collect();
    println!(
        "  ktrial, looking once, says unchanged at 0 and these shifts: {}",
        unchanged.join(" ")
    );
}

/// A check in words.
fn said(check: &Check) -> String {
    let cells = match check.size {
        1 => "one cell".to_owned(),
        size => format!("{size} cells"),
    };
    let shift = check
        .shift
        .map_or(String::new(), |shift| format!(", {}", percent(shift)));
    let what = match check.kind {
        Kind::Alarms => "alarms",
        Kind::FalseDiscoveries => "false among its calls",
        Kind::Normal | Kind::Other => "more found than by the better peer",
    };
    let again = if check.again { ", counted again" } else { "" };
    format!(
        "{:.3} {what}: {}, {cells}{shift}{again}",
        check.value,
        place(&check.row)
    )
}

/// What all rows come to, to be quoted. Whether all is as it must be.
pub struct Summary {
    checks: Vec<Check>,
    /// The alarms of each tool as it is used, a row each.
    used: [Vec<f64>; 4],
}

impl Summary {
    pub fn new() -> Summary {
        Summary {
            checks: Vec::new(),
            used: Default::default(),
        }
    }

    pub fn add(&mut self, outcome: &Outcome, checks: Vec<Check>) {
        self.checks.extend(checks);
        for (all, (_, says)) in self.used.iter_mut().zip(TOOLS) {
            all.push(share(&outcome.used[0], says));
        }
    }

    /// Prints it; how many figures are not as they must be.
    pub fn print(&self) -> usize {
        let mut wrong = self.checks.iter().filter(|check| !check.holds).count();
        println!(
            "{} figures judged, {wrong} not as they must be; {} counted again",
            self.checks.len(),
            self.checks.iter().filter(|check| check.again).count()
        );
        for kind in [Kind::Alarms, Kind::FalseDiscoveries] {
            self.extreme("most", kind, |value| value);
        }
        for kind in [Kind::Normal, Kind::Other] {
            self.extreme("least", kind, |value| -value);
        }
        for size in crate::trials::SIZES {
            let alarms: Vec<f64> = self
                .of(Kind::Alarms)
                .filter(|check| check.size == size)
                .map(|check| check.value)
                .collect();
            let mean = alarms.iter().sum::<f64>() / alarms.len().max(1) as f64;
            let verdict = if mean <= LEVEL {
                ""
            } else {
                "  WRONG: above the nominal level"
            };
            wrong += usize::from(mean > LEVEL);
            println!(
                "mean alarms over {} rows, {size} cells: {mean:.4}{verdict}",
                alarms.len()
            );
        }
        for ((name, _), alarms) in TOOLS.iter().zip(&self.used) {
            let least = alarms.iter().copied().fold(f64::INFINITY, f64::min);
            let most = alarms.iter().copied().fold(0.0, f64::max);
            println!("{name} as used: alarms from {least:.3} to {most:.3}");
        }
        wrong
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.kind == kind)
    }

    fn extreme(&self, word: &str, kind: Kind, by: fn(f64) -> f64) {
        let all = self.of(kind).count();
        let worst = self
            .of(kind)
            .max_by(|a, b| by(a.value).total_cmp(&by(b.value)));
        if let Some(worst) = worst {
            println!("{word} of {all}: {}", said(worst));
        }
    }
}
