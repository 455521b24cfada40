//! A trial's verdicts for the terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use ktrial_db::{Cell, CellId, Trial, Verdict};

use super::curve::curves;
use super::figures::{bare, number, percent, signed};
use super::oddities::Note;
use super::outcome::Held;
use crate::counters;
use crate::terminal::folded;

/// The whole text: heading, one block a workload setting, and what the clock cannot see.
pub fn render(trial: &Trial, cells: &[(CellId, Cell)], verdicts: &[Verdict]) -> String {
    let mut text = heading(trial, cells, verdicts);
    for variant in trial.variants.iter().skip(1) {
        let of_variant: Vec<&Verdict> = verdicts
            .iter()
            .filter(|v| v.variant == variant.id)
            .collect();
        let _ = writeln!(
            text,
            "\n{} against {}",
            variant.name, trial.variants[0].name
        );
        text.push_str(&columns());
        for (workload, rows) in blocks(cells, &of_variant) {
            let _ = writeln!(text, "  {workload}");
            let (counts, measured): (Vec<_>, Vec<_>) = rows
                .into_iter()
                .partition(|(cell, _)| counters::explains(cell));
            for (cell, verdict) in measured {
                text.push_str(&row(cell, verdict));
                text.push_str(&notes(cell, verdict));
            }
            text.push_str(&explained(&counts));
        }
        for curve in curves(cells, &of_variant) {
            text.push('\n');
            text.push_str(&curve.render(&trial.variants[0].name, &variant.name));
        }
    }
    text.push('\n');
    text.push_str(clock_note(&trial.clock));
    text
}

/// What a control was expected to do, line by line.
pub fn render_control(held: &[Held]) -> String {
    let mut text = String::from("\nas expected of this control?\n");
    for line in held {
        let (mark, found) = match (&line.found, line.met) {
            (Some(_), true) => ("yes", String::new()),
            (Some(found), false) => ("NO", format!(", but it is {found}")),
            (None, _) => ("NO", ", but this trial did not try it".into()),
        };
        let _ = writeln!(text, "  {mark:3}  {}{found}", line.expected);
    }
    text
}

fn heading(trial: &Trial, cells: &[(CellId, Cell)], verdicts: &[Verdict]) -> String {
    let of_their_own = verdicts.iter().filter(|v| v.margin != trial.margin);
    let own: BTreeMap<&str, f64> = of_their_own
        .filter_map(|verdict| {
            let (_, cell) = cells.iter().find(|(id, _)| *id == verdict.cell)?;
            Some((cell.metric.as_str(), verdict.margin))
        })
        .collect();
    let own: String = own
        .iter()
        .map(|(metric, share)| format!(", of {metric} {}", percent(*share)))
        .collect();
    format!(
        "trial {}: {}\n{} time ({}), {} rounds of {} variants, margin {}{own}, seed {}\n",
        trial.id,
        trial.title,
        trial.clock,
        trial.accelerator,
        trial.rounds,
        trial.variants.len(),
        percent(trial.margin),
        trial.seed,
    )
}

type Block<'a> = (String, Vec<(&'a Cell, &'a Verdict)>);

/// Verdicts grouped by workload and parameters, in the order of the cells, what a workload is for
/// first.
fn blocks<'a>(cells: &'a [(CellId, Cell)], verdicts: &[&'a Verdict]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for (id, cell) in cells {
        let Some(verdict) = verdicts.iter().find(|v| v.cell == *id) else {
            continue;
        };
        let name = format!("{} {}", cell.workload, cell.setting());
        match blocks.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push((cell, verdict)),
            None => blocks.push((name, vec![(cell, verdict)])),
        }
    }
    for (_, rows) in &mut blocks {
        rows.sort_by_key(|(cell, _)| !cell.primary);
    }
    blocks
}

fn columns() -> String {
    format!(
        "    {:<18} {:>11} {:>11} {:>9}  {:<22} verdict\n",
        "", "base", "variant", "change", "95 % interval"
    )
}

fn row(cell: &Cell, verdict: &Verdict) -> String {
    let metric = format!("{} {}", cell.metric, cell.unit);
    let value = |v: Option<f64>| v.map_or_else(|| "-".into(), number);
    let change = verdict
        .ratio
        .map_or_else(|| "-".into(), |r| signed(r - 1.0));
    let interval = match (verdict.low, verdict.high) {
        (Some(low), Some(high)) => format!("[{}, {}] %", bare(low - 1.0), bare(high - 1.0)),
        _ => "-".into(),
    };
    let word = match verdict.verdict.as_str() {
        loud @ ("improved" | "regressed") => loud.to_uppercase(),
        quiet => quiet.to_owned(),
    };
    let mut line = format!(
        "    {metric:<18} {:>11} {:>11} {change:>9}  {interval:<22} {word}",
        value(verdict.base_value),
        value(verdict.variant_value),
    );
    if let Some(reason) = &verdict.reason {
        let _ = write!(line, ": {reason}");
    }
    if let Some(rounds) = verdict.rounds_needed {
        let _ = write!(line, " (try {rounds} rounds)");
    }
    line.push('\n');
    line
}

/// What is counted to explain the rest: what changed of it, in few words.
fn explained(counts: &[(&Cell, &Verdict)]) -> String {
    let there = counts.iter().filter(|(_, v)| v.verdict != "unsupported");
    let (changed, others): (Vec<_>, Vec<_>) = there.partition(|(_, v)| is_change(v));
    let change = |(cell, verdict): &(&Cell, &Verdict)| match verdict.ratio {
        Some(ratio) => format!("{} {}", cell.metric, signed(ratio - 1.0)),
        None => cell.metric.clone(),
    };
    let mut said = Vec::new();
    if !changed.is_empty() {
        let changes: Vec<String> = changed.into_iter().map(change).collect();
        said.push(format!("counts that changed: {}", changes.join(", ")));
    }
    if !others.is_empty() {
        said.push(format!("{} counts not known to have changed", others.len()));
    }
    match said.join("; ") {
        none if none.is_empty() => none,
        said => folded(&format!("    {said} (see the report)")) + "\n",
    }
}

fn is_change(verdict: &Verdict) -> bool {
    matches!(verdict.verdict.as_str(), "improved" | "regressed")
}

/// What is odd about the data of a cell that the workload is for, or that was decided.
fn notes(cell: &Cell, verdict: &Verdict) -> String {
    if !cell.primary && !is_change(verdict) {
        return String::new();
    }
    let notes: Vec<Note> = serde_json::from_str(&verdict.notes_json).unwrap_or_default();
    let lines = notes.iter().map(|note| format!("      note: {note}\n"));
    lines.collect()
}

fn clock_note(clock: &str) -> &'static str {
    match clock {
        "virtual" => {
            "virtual time counts instructions: it cannot see contention, caches or parallelism.\n"
        }
        "emulated" => "emulated time is for looking only: nothing is claimed from it.\n",
        _ => "",
    }
}
