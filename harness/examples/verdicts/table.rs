//! What is printed of a row: what everyone finds, and what is not as it must be.

use crate::demands::{Check, Kind};
use crate::host::Row;
use crate::judges::Used;
use crate::trials::{Outcome, SHIFTS, Scores, USED_SHIFT};

/// A tool as it is used, and whether it calls a cell.
pub type Tool = (&'static str, fn(&Used) -> bool);

pub const TOOLS: [Tool; 4] = [
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

pub fn share(used: &[Used], says: fn(&Used) -> bool) -> f64 {
    used.iter().filter(|used| says(used)).count() as f64 / used.len() as f64
}

/// Says what is printed.
pub fn legend(seed: u64, null: usize, cells: usize) {
    println!("seed {seed}; {null} cells a row without a shift and {cells} with each");
    println!(
        "cells of a trial; alarms: trials without a shift that have one; finds: shifted cells found"
    );
    println!(
        "t-test: Student's, as in ministat, ranks: Mann and Whitney's, as in benchstat, both over"
    );
    println!(
        "the means of boots, and like ktrial corrected for the cells (Benjamini and Hochberg)"
    );
    println!();
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
pub fn said(check: &Check) -> String {
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
        Kind::Unchanged => "called unchanged",
        Kind::Normal | Kind::Other => "more found than by the better peer",
    };
    let again = if check.again { ", counted again" } else { "" };
    format!(
        "{:.3} {what}: {}, {cells}{shift}{again}",
        check.value,
        place(&check.row)
    )
}
