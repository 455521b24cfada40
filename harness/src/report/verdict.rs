//! Verdicts as a reader meets them: a table, a sentence, a badge. Nothing is judged here.

use std::collections::HashMap;

use ktrial_db::{Cell, CellId, Value, Verdict};
use serde::Serialize;

use super::figures::{Figures, VariantFigures};
use super::forest::{self, Forest};
use super::format::{self, Scale};
use super::record::Record;
use crate::counters;

/// What a reader sees first, the worst first. Every one has a word and a letter, so that colour
/// is never the only sign.
const BADGES: [Badge; 7] = [
    Badge {
        word: "regressed",
        letter: "R",
    },
    Badge {
        word: "failed",
        letter: "F",
    },
    Badge {
        word: "inconclusive",
        letter: "?",
    },
    Badge {
        word: "unsupported",
        letter: "\u{2013}",
    },
    Badge {
        word: "unfinished",
        letter: "\u{2026}",
    },
    Badge {
        word: "improved",
        letter: "I",
    },
    Badge {
        word: "unchanged",
        letter: "=",
    },
];

/// A verdict's word, which is its CSS class too, and its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Badge {
    pub(super) word: &'static str,
    letter: &'static str,
}

impl Badge {
    /// The badge of a verdict's word; a word that is not known is no verdict yet.
    pub(super) fn of(word: &str) -> Badge {
        let known = BADGES.into_iter().find(|badge| badge.word == word);
        known.unwrap_or(Badge {
            word: "unfinished",
            letter: "\u{2026}",
        })
    }

    /// 0 for the worst.
    pub(super) fn rank(&self) -> usize {
        BADGES
            .iter()
            .position(|badge| badge == self)
            .unwrap_or(BADGES.len())
    }
}

/// How many cells have a verdict.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Tally {
    pub(super) badge: Badge,
    count: usize,
}

/// Counts of the primary cells' verdicts (of all cells, if none is primary), the worst first.
pub(super) fn tally(record: &Record) -> Vec<Tally> {
    let judged = leading(record);
    let count = |badge: Badge| judged.iter().filter(|v| v.verdict == badge.word).count();
    let tallies = BADGES.into_iter().map(|badge| Tally {
        badge,
        count: count(badge),
    });
    tallies.filter(|tally| tally.count > 0).collect()
}

/// The verdicts that the trial hangs on.
fn leading(record: &Record) -> Vec<&Verdict> {
    let primary = |v: &&Verdict| record.cell(v.cell).is_some_and(|cell| cell.primary);
    let leading: Vec<&Verdict> = record.verdicts.iter().filter(primary).collect();
    if leading.is_empty() {
        record.verdicts.iter().collect()
    } else {
        leading
    }
}

/// A sentence with its badge.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Headline {
    pub(super) badge: Badge,
    /// The sentence, without the verdict's word where that ends it.
    text: String,
    ends_in_verdict: bool,
}

/// What the trial found, in a sentence for each thing that moved or failed, the worst first.
pub(super) fn headlines(record: &Record) -> Vec<Headline> {
    let whole = |word: &str, text: String| {
        vec![Headline {
            badge: Badge::of(word),
            text,
            ends_in_verdict: false,
        }]
    };
    if let Some(failure) = &record.trial.failure {
        let what = failure.lines().next().unwrap_or_default();
        return whole("failed", format!("The trial failed: {what}"));
    }
    let mut variants = record.trial.variants.iter();
    if variants.all(|variant| variant.left_out) {
        let what = "Nothing to measure: the kernel is the base\u{2019}s to the bit.";
        return whole("unchanged", what.to_owned());
    }
    let tallies = tally(record);
    let Some(worst) = tallies.first() else {
        let boots = format::count(record.boots.len(), "boot");
        return whole("unfinished", format!("Not judged yet; {boots} stored."));
    };
    let mut moved = leading(record);
    moved.retain(|v| matches!(&*v.verdict, "regressed" | "failed" | "improved"));
    moved.sort_by_key(|v| Badge::of(&v.verdict).rank());
    if moved.is_empty() {
        let counts: Vec<String> = tallies
            .iter()
            .map(|t| format!("{} {}", t.count, t.badge.word))
            .collect();
        return whole(
            worst.badge.word,
            format!("Nothing improved or regressed: {}.", counts.join(", ")),
        );
    }
    let headline = |v: &&Verdict| Headline {
        badge: Badge::of(&v.verdict),
        text: sentence(record, v),
        ends_in_verdict: v.ratio.is_some(),
    };
    moved.iter().map(headline).collect()
}

/// `fd-churn rate (fds=500000 touch=0): 7.2 % lower [6.9, 7.5]`.
fn sentence(record: &Record, verdict: &Verdict) -> String {
    let cell = record.cell(verdict.cell);
    let mut what = cell.map_or("?".into(), |cell| {
        format!("{} {}", cell.workload, cell.metric)
    });
    if let Some(setting) = cell.map(Cell::setting).filter(|text| !text.is_empty()) {
        what += &format!(" ({setting})");
    }
    if record.trial.variants.len() > 2 {
        what += &format!(", {}", record.variant_name(verdict.variant));
    }
    match verdict.ratio {
        Some(ratio) => format!("{what}: {}", by_how_much(verdict, ratio)),
        None => format!(
            "{what}: {}",
            verdict.reason.as_deref().unwrap_or(&verdict.verdict)
        ),
    }
}

/// `7.2 % lower [6.9, 7.5]`: the interval counts in the sentence's own direction.
fn by_how_much(verdict: &Verdict, ratio: f64) -> String {
    let change = format::percent(ratio);
    let places = format::percent_decimals(change, width(verdict));
    let size = format::decimals(change.abs(), places);
    let end = |end: Option<f64>, none: &str| match end {
        Some(end) if change < 0.0 => format::decimals(-format::percent(end), places),
        Some(end) => format::decimals(format::percent(end), places),
        None => none.to_owned(),
    };
    let (word, low, high) = match change < 0.0 {
        true => ("lower", end(verdict.high, "−∞"), end(verdict.low, "∞")),
        false => ("higher", end(verdict.low, "−∞"), end(verdict.high, "∞")),
    };
    format!("{size}\u{a0}% {word} [{low}, {high}]")
}

fn width(verdict: &Verdict) -> Option<f64> {
    Some((verdict.high? - verdict.low?) * 100.0)
}

/// One variant judged against its baseline.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    variant: String,
    baseline: String,
    margin: String,
    level: String,
    method: String,
    /// What the trial hangs on, then what was seen on the side; the worst first.
    primary: Vec<Row>,
    side: Vec<Row>,
    /// How many counts are not here, as they are there to explain and did not change.
    hidden: usize,
}

/// One row of a verdict table.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) badge: Badge,
    cell: i64,
    name: String,
    metric: String,
    setting: String,
    better: String,
    base: String,
    variant: String,
    change: Option<String>,
    interval: Option<String>,
    forest: Option<Forest>,
    p: Option<String>,
    p_adjusted: Option<String>,
    boots: String,
    pub(super) reason: Option<String>,
    rounds_needed: Option<u32>,
    /// Whether its samples are drawn on the page.
    drawn: bool,
}

/// Whether a cell stands among the verdicts, and its samples are drawn: what is only there to
/// explain others does where it changed.
pub(super) fn is_told(record: &Record, id: CellId, cell: &Cell) -> bool {
    let mut of_cell = record.verdicts.iter().filter(|v| v.cell == id);
    !counters::explains(cell) || of_cell.any(is_change)
}

fn is_change(verdict: &Verdict) -> bool {
    matches!(&*verdict.verdict, "regressed" | "improved")
}

/// The verdict tables, one for each pair of variants.
pub(super) fn comparisons(record: &Record, figures: &HashMap<CellId, Figures>) -> Vec<Comparison> {
    let mut pairs: Vec<Vec<&Verdict>> = Vec::new();
    for verdict in &record.verdicts {
        let is_of_pair =
            |v: &&Verdict| (v.variant, v.baseline) == (verdict.variant, verdict.baseline);
        let same = |pair: &&mut Vec<&Verdict>| pair.first().is_some_and(is_of_pair);
        match pairs.iter_mut().find(same) {
            Some(pair) => pair.push(verdict),
            None => pairs.push(vec![verdict]),
        }
    }
    pairs
        .iter()
        .filter_map(|pair| comparison(record, figures, pair))
        .collect()
}

fn comparison(
    record: &Record,
    figures: &HashMap<CellId, Figures>,
    verdicts: &[&Verdict],
) -> Option<Comparison> {
    let first = verdicts.first()?;
    let is_primary = |v: &&&Verdict| record.cell(v.cell).is_some_and(|cell| cell.primary);
    let rows = |mut verdicts: Vec<&&Verdict>| -> Vec<Row> {
        verdicts.sort_by_key(|v| Badge::of(&v.verdict).rank());
        let reach = forest::reach(verdicts.iter().map(|v| **v));
        verdicts
            .iter()
            .map(|v| row(record, figures, v, reach))
            .collect()
    };
    let is_told = |v: &&&Verdict| {
        let explains = record.cell(v.cell).is_some_and(counters::explains);
        !explains || is_change(v)
    };
    let (told, hidden): (Vec<_>, Vec<_>) = verdicts.iter().partition(is_told);
    let (primary, side) = told.into_iter().partition(is_primary);
    Some(Comparison {
        variant: record.variant_name(first.variant).to_owned(),
        baseline: record.variant_name(first.baseline).to_owned(),
        margin: format::share(first.margin),
        level: format::share(first.level),
        method: first.method.clone(),
        primary: rows(primary),
        side: rows(side),
        hidden: hidden.len(),
    })
}

/// One verdict as a row; intervals are drawn as far as `reach`.
pub(super) fn row(
    record: &Record,
    figures: &HashMap<CellId, Figures>,
    v: &Verdict,
    reach: f64,
) -> Row {
    let cell = record.cell(v.cell);
    let figures = figures.get(&v.cell);
    let of = |variant| figures.and_then(|f| f.variant(variant));
    let unit = cell.map_or("", |cell| cell.unit.as_str());
    let change = v.ratio.map(format::percent);
    let places = format::percent_decimals(change.unwrap_or(0.0), width(v));
    Row {
        badge: Badge::of(&v.verdict),
        cell: v.cell.0,
        name: cell.map_or("?".into(), |cell| {
            format!("{} {}", cell.workload, cell.metric)
        }),
        metric: cell.map_or("?".into(), |cell| cell.metric.clone()),
        setting: cell.map_or(String::new(), Cell::setting),
        better: cell.map_or(String::new(), |cell| cell.better.clone()),
        base: estimate(v.base_value, of(v.baseline), unit),
        variant: estimate(v.variant_value, of(v.variant), unit),
        change: change.map(|change| format!("{}\u{a0}%", format::signed(change, places))),
        interval: v.ratio.map(|_| interval(v, places)),
        forest: Forest::of(v, reach),
        p: v.p_value.map(format::probability),
        p_adjusted: v.p_adjusted.map(format::probability),
        boots: format!("{}\u{a0}/\u{a0}{}", v.boots_base, v.boots_variant),
        reason: v.reason.clone(),
        rounds_needed: v.rounds_needed,
        drawn: cell.is_some_and(|cell| is_told(record, v.cell, cell)),
    }
}

fn interval(verdict: &Verdict, places: usize) -> String {
    let end = |end: Option<f64>, none: &str| {
        end.map_or(none.to_owned(), |end| {
            format::signed(format::percent(end), places)
        })
    };
    format!("[{}, {}]", end(verdict.low, "−∞"), end(verdict.high, "+∞"))
}

/// A value with its spread over boots, or the word for why there is none.
fn estimate(judged: Option<f64>, figures: Option<&VariantFigures>, unit: &str) -> String {
    let spread = figures.and_then(VariantFigures::spread);
    match (
        judged.or_else(|| figures.and_then(VariantFigures::middle)),
        spread,
    ) {
        (Some(value), Some(spread)) => Scale::of(value, unit).show_spread(value, spread),
        (Some(value), None) => format::value(value, unit),
        (None, _) => absence(figures).to_owned(),
    }
}

fn absence(figures: Option<&VariantFigures>) -> &'static str {
    let boots = figures.map_or(&[][..], |figures| &figures.boots);
    let has = |is: fn(&Value) -> bool| boots.iter().flat_map(|b| &b.runs).any(|r| is(&r.value));
    if has(|value| matches!(value, Value::Failed(_))) {
        "failed"
    } else if has(|value| matches!(value, Value::Unsupported(_))) {
        "unsupported"
    } else {
        "missing"
    }
}

#[cfg(test)]
mod tests;
