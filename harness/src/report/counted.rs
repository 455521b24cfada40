//! What was counted besides what workloads measure, setting by setting and source by source, and how
//! time and instructions are parted between kernel and user space.

use std::collections::HashMap;

use ktrial_db::{Cell, CellId, Verdict};
use serde::Serialize;

use super::chart::pixel;
use super::figures::Figures;
use super::forest;
use super::format;
use super::record::Record;
use super::verdict::{self, Row};
use crate::counters::{self, observed::what};

/// The counts of one workload at one setting in a pair of kernels.
#[derive(Debug, Serialize)]
pub(super) struct Counted {
    name: String,
    baseline: String,
    variant: String,
    splits: Vec<Split>,
    sources: Vec<Source>,
}

/// What one source counted. Two of them are never compared.
#[derive(Debug, Serialize)]
struct Source {
    name: String,
    words: &'static str,
    rows: Vec<Row>,
    /// What is not there, and why, each reason once; what is 0 in both.
    absent: Vec<String>,
}

/// The part of the kernel and that of user space, in both kernels on one scale.
#[derive(Debug, Serialize)]
struct Split {
    title: String,
    bars: Vec<Bar>,
}

#[derive(Debug, Serialize)]
struct Bar {
    name: String,
    kernel: f64,
    user: f64,
    /// `81 % kernel, 6,010 of 7,420 insn/op`.
    said: String,
}

/// A bar of all is so wide, in pixels.
const WIDTH: f64 = 300.0;

/// Where a metric is the kernel's part, its source and what user space's is called.
const PARTS: [(&str, &str, &str, &str); 2] = [
    ("stat", "stat.system", "stat.user", "Time"),
    ("tcg", "tcg.kernel", "tcg.user", "Instructions"),
];

/// All that was counted and judged; nothing where nothing was counted.
pub(super) fn counted(record: &Record, figures: &HashMap<CellId, Figures>) -> Vec<Counted> {
    type Place<'a> = (&'a Verdict, String);
    let mut places: Vec<(Place, Vec<(&Cell, &Verdict)>)> = Vec::new();
    // In the order of the cells, which is that of the workloads' own lists.
    for (id, cell) in &record.cells {
        if counters::source(&cell.metric).is_none() {
            continue;
        }
        for v in record.verdicts.iter().filter(|v| v.cell == *id) {
            let name = what(&cell.workload, &cell.parameters);
            let is_it = |((other, of), _): &&mut (Place, Vec<_>)| {
                (other.variant, other.baseline) == (v.variant, v.baseline) && *of == name
            };
            match places.iter_mut().find(is_it) {
                Some((_, counts)) => counts.push((cell, v)),
                None => places.push(((v, name), vec![(cell, v)])),
            }
        }
    }
    let counted = places.into_iter().map(|((first, name), counts)| Counted {
        name,
        baseline: record.variant_name(first.baseline).to_owned(),
        variant: record.variant_name(first.variant).to_owned(),
        splits: splits(record, &counts),
        sources: sources(record, figures, &counts),
    });
    counted.collect()
}

fn sources(
    record: &Record,
    figures: &HashMap<CellId, Figures>,
    counts: &[(&Cell, &Verdict)],
) -> Vec<Source> {
    let mut by_source: Vec<(&str, Vec<(&Cell, &Verdict)>)> = Vec::new();
    for (cell, v) in counts {
        let source = counters::source(&cell.metric).unwrap_or_default();
        match by_source.iter_mut().find(|(known, _)| *known == source) {
            Some((_, counts)) => counts.push((cell, v)),
            None => by_source.push((source, vec![(cell, v)])),
        }
    }
    let reach = forest::reach(counts.iter().map(|(_, v)| *v));
    let made = by_source.into_iter().map(|(name, counts)| {
        let (there, absent): (Vec<_>, Vec<_>) = counts.into_iter().partition(|(_, v)| is_there(v));
        let (zeros, there): (Vec<_>, Vec<_>) = there.into_iter().partition(is_zero);
        let rows = there
            .iter()
            .map(|(_, v)| verdict::row(record, figures, v, reach));
        let zeros: Vec<&str> = zeros.iter().map(|(cell, _)| &*cell.metric).collect();
        let is_nothing = there.is_empty() && zeros.is_empty();
        let mut absent = reasons(&absent, is_nothing);
        if !zeros.is_empty() {
            absent.push(format!("{}: 0 in both", zeros.join(", ")));
        }
        Source {
            name: name.to_owned(),
            words: counters::in_words(name).unwrap_or_default(),
            rows: rows.collect(),
            absent,
        }
    });
    made.collect()
}

fn is_there(v: &Verdict) -> bool {
    v.verdict != "unsupported" && v.base_value.or(v.variant_value).is_some()
}

/// Counted, and never seen: there is nothing to divide.
fn is_zero((_, v): &(&Cell, &Verdict)) -> bool {
    (v.base_value, v.variant_value) == (Some(0.0), Some(0.0))
}

/// Why counts are absent: `not counted: no PMU`, or with their names where others of the source
/// are there.
fn reasons(absent: &[(&Cell, &Verdict)], is_all: bool) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<&str>)> = Vec::new();
    for (cell, v) in absent {
        let word = match &*v.verdict {
            "unsupported" => "not counted",
            word => word,
        };
        let reason = v.reason.as_deref().unwrap_or("no reason is known");
        let reason = format!("{word}: {reason}");
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, metrics)) => metrics.push(&cell.metric),
            None => by_reason.push((reason, vec![&cell.metric])),
        }
    }
    let is_one = by_reason.len() == 1;
    let said = by_reason
        .into_iter()
        .map(|(reason, metrics)| match is_all && is_one {
            true => reason,
            false => format!("{} {reason}", metrics.join(", ")),
        });
    said.collect()
}

fn splits(record: &Record, counts: &[(&Cell, &Verdict)]) -> Vec<Split> {
    let of = |metric: &str| counts.iter().find(|(cell, _)| cell.metric == metric);
    let split = |(source, kernel, user, noun): (&str, &str, &str, &str)| {
        let ((cell, kernel), (_, user)) = (of(kernel)?, of(user)?);
        let base = [kernel.base_value?, user.base_value?];
        let variant = [kernel.variant_value?, user.variant_value?];
        let whole = base.iter().sum::<f64>().max(variant.iter().sum());
        let is_drawn = whole > 0.0 && base.iter().chain(&variant).all(|part| *part >= 0.0);
        let bar = |name: &str, parts: [f64; 2]| bar(name, parts, whole, &cell.unit);
        (is_drawn && whole.is_finite()).then(|| Split {
            title: format!("{noun}, {source}:"),
            bars: vec![
                bar(record.variant_name(kernel.baseline), base),
                bar(record.variant_name(kernel.variant), variant),
            ],
        })
    };
    PARTS.into_iter().filter_map(split).collect()
}

fn bar(name: &str, [kernel, user]: [f64; 2], whole: f64, unit: &str) -> Bar {
    let all = kernel + user;
    let share = if all > 0.0 { kernel / all } else { 0.0 };
    Bar {
        name: name.to_owned(),
        kernel: pixel(WIDTH * kernel / whole),
        user: pixel(WIDTH * user / whole),
        said: format!(
            "{}\u{a0}% kernel: {} of {}",
            format::decimals(share * 100.0, 1),
            format::value(kernel, unit),
            format::value(all, unit)
        ),
    }
}

#[cfg(test)]
mod tests;
