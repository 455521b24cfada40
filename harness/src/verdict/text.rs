//! A trial's verdicts for the terminal.

use std::fmt::Write;

use ktrial_db::{Cell, CellId, Trial, Verdict};

use super::curve::curves;
use super::design::Design;
use super::oddities::Note;
use super::outcome::Held;

/// The whole text: heading, one block a workload setting, and what the clock cannot see.
pub fn render(trial: &Trial, cells: &[(CellId, Cell)], verdicts: &[Verdict]) -> String {
    let mut text = heading(trial);
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
            for (cell, verdict) in rows {
                text.push_str(&row(cell, verdict));
                text.push_str(&notes(cell, verdict));
            }
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

fn heading(trial: &Trial) -> String {
    let own: String = Design::of(trial)
        .own_margins()
        .map(|(metric, share)| format!(", of {metric} {}", percent(share)))
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

/// What is odd about the data of a cell that the workload is for, or that was decided.
fn notes(cell: &Cell, verdict: &Verdict) -> String {
    if !cell.primary && !matches!(verdict.verdict.as_str(), "improved" | "regressed") {
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

/// Four significant digits, with thousands parted by commas.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if whole.starts_with('-') { "-" } else { "" };
    let bare = whole.trim_start_matches('-');
    let grouped: Vec<&str> = bare
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|chunk| std::str::from_utf8(chunk).ok())
        .collect();
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{dot}{fraction}", grouped.join(","))
}

pub(super) fn signed(share: f64) -> String {
    format!("{} %", bare(share))
}

/// Per cent with a sign; hundredths only where they are worth reading.
pub(super) fn bare(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 10.0 {
        format!("{percent:+.2}")
    } else {
        format!("{percent:+.1}")
    }
}

pub(super) fn percent(share: f64) -> String {
    format!(
        "{} %",
        number(share * 100.0)
            .trim_end_matches('0')
            .trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_commas() {
        for (value, text) in [
            (6_691.25, "6,691"),
            (1_234_567.0, "1,234,567"),
            (0.012_345, "0.01235"),
            (12.0, "12.00"),
            (-1_500.0, "-1,500"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(percent(0.02), "2 %");
        assert_eq!(percent(0.015), "1.5 %");
        assert_eq!(signed(-0.0717), "-7.17 %");
        assert_eq!(signed(5.7119), "+571.2 %");
    }
}
