//! Claims and what became of them, in words.

use std::fmt::Write;

use ktrial_db::{Cell, Machine, Verdict};
use ktrial_patches::catalogue::{Claim, ClaimKind, ClaimTest};

use super::HeldClaim;
use crate::machine::known::{Match, Nearness};
use crate::terminal::folded;
use crate::verdict::figures::{bare, number, signed};

/// A block for the terminal, empty where nothing is claimed.
pub fn render(held: &[HeldClaim]) -> String {
    let mut text = String::new();
    if held.is_empty() {
        return text;
    }
    text.push_str("\nwhat its author claims\n");
    for one in held {
        let head = format!("  {}: {}", one.answer.words(), one.claim);
        let _ = writeln!(text, "{}", folded(&head));
        let _ = writeln!(text, "{}", folded(&format!("      {}", one.sentence)));
    }
    text
}

/// The figures of a claim: `before 10000 /s, after 100000 /s`, `change -7.5 %`.
pub fn figures(claim: &Claim) -> String {
    let unit = claim.unit.as_deref().unwrap_or_default();
    let figure = |name: &str, value: f64| format!("{name} {value} {unit}").trim_end().to_owned();
    let change = claim
        .change_percent
        .map(|from| match claim.change_percent_to {
            Some(to) => format!("change {from:+} to {to:+} %"),
            None => format!("change {from:+} %"),
        });
    let figures = [
        claim.before.map(|value| figure("before", value)),
        claim.after.map(|value| figure("after", value)),
        change,
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    figures.join(", ")
}

/// What a claim is held by: `exec processes=48: rate of patched`.
pub fn tested_by(test: &ClaimTest) -> String {
    format!("{}: {} of {}", setting(test), test.metric, test.variant)
}

/// The figures, with the change that two of them make.
pub(super) fn claimed(claim: &Claim) -> String {
    let figures = figures(claim);
    let is_change = |test: &ClaimTest| test.kind == ClaimKind::Change;
    match claim.change() {
        Some((ratio, _))
            if claim.change_percent.is_none() && claim.test.as_ref().is_some_and(is_change) =>
        {
            format!("{figures} ({})", signed(ratio - 1.0))
        }
        _ => figures,
    }
}

/// ` of x1.32xlarge (here: AMD EPYC, 2 CPUs)`, where the claim is about a machine that is known; or
/// that this machine is it, or is like it.
pub(super) fn of_machine(claim: &Claim, here: &Machine, known: &[Match]) -> String {
    let Some(name) = &claim.known_machine else {
        return String::new();
    };
    let found = known.iter().find(|found| found.name == *name);
    match found.map(|found| found.nearness) {
        Some(Nearness::Same) => format!(" of {name}, which this machine is"),
        Some(Nearness::Alike) => format!(" of {name}, which this machine is built like"),
        None => format!(" of {name} (here: {}, {} CPUs)", here.cpu_model, here.cpus),
    }
}

/// `measured -7.9 % [-8.6, -7.1] %`.
pub(super) fn measured(verdict: &Verdict) -> String {
    let Some(ratio) = verdict.ratio else {
        return "measured, without a figure".into();
    };
    let change = format!("measured {}", signed(ratio - 1.0));
    match verdict.low.zip(verdict.high) {
        Some((low, high)) => format!("{change} [{}, {}] %", bare(low - 1.0), bare(high - 1.0)),
        None => change,
    }
}

/// `exec processes=48`.
pub(super) fn setting(test: &ClaimTest) -> String {
    let pairs = test.parameters.iter();
    let pairs = pairs.map(|(name, value)| format!(" {name}={value}"));
    format!("{}{}", test.workload, pairs.collect::<String>())
}

/// Where it was measured, every parameter named.
pub(super) fn place(cell: &Cell, test: &ClaimTest) -> String {
    let place = format!("{} {}", cell.workload, cell.setting());
    format!("{}: {} of {}", place.trim_end(), cell.metric, test.variant)
}

/// `here base has 4,973 1/s, patched 4,970 1/s (exec processes=48: rate of patched)`.
pub(super) fn level(cell: &Cell, test: &ClaimTest, base: f64, variant: f64) -> String {
    format!(
        "here base has {} {unit}, {} {} {unit} ({})",
        number(base),
        test.variant,
        number(variant),
        place(cell, test),
        unit = cell.unit,
    )
}
