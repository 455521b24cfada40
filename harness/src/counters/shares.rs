//! Two profiles of one workload, by the innermost function: what share each had of the samples, and
//! what the change costs an operation.
//!
//! Samples are counted, so each number of them is uncertain by about its square root, and hundreds
//! of functions are looked at. What may be the chance of that is not shown as a difference: where the
//! kernels are equal, one table in twenty shows one at the most ([`Shares::sure`]). This is the least
//! that chance does: samples of one boot hang together, and boots differ.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::observed::Pair;
use super::stacks::{PROFILE, Seen, Stacks};

/// How often a table of equal kernels may show a difference.
const FALSE_ALARMS: f64 = 0.05;

/// One function, or all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// The innermost function, or `user space`.
    pub name: String,
    /// Its share of the samples of the base and of the variant; none of one that was not watched.
    pub shares: [Option<f64>; 2],
    /// What the variant takes more, where that is more than chance may do: a part of all that an
    /// operation takes in the base, or, where operations are unknown, of all samples.
    pub cost: Option<f64>,
}

/// A pair of profiles by function.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// All functions together.
    pub all: Line,
    /// What the change costs or saves most first; then those whose difference may be chance, the
    /// largest first.
    pub lines: Vec<Line>,
    /// Samples of the base and of the variant.
    pub samples: [Option<u64>; 2],
    /// Standard errors of counting beyond which a difference is shown. Of a normal number,
    /// P(|z| > t) < 2 exp(-t²/2); that, for all functions together, is 1 in 20.
    pub sure: f64,
    /// Whether costs are those of an operation.
    pub is_by_operation: bool,
}

/// None of waits for locks, and where no sample was taken.
pub fn shares(pair: &Pair) -> Option<Shares> {
    let samples = pair
        .sides
        .each_ref()
        .map(|side| side.as_ref().map(Stacks::count));
    let is_empty = samples.iter().flatten().all(|count| *count == 0);
    if pair.kind != PROFILE || is_empty {
        return None;
    }
    let totals = pair.sides.each_ref().map(total);
    let longer = longer(pair, totals);
    let scale = longer.unwrap_or(1.0);
    let functions = by_function(pair);
    let sure = (2.0 * (2.0 * functions.len() as f64 / FALSE_ALARMS).ln()).sqrt();
    let line = |name: &str, seen| line(name, seen, totals, scale, sure);
    let mut lines: Vec<Line> = functions
        .into_iter()
        .map(|(name, seen)| line(name, seen))
        .collect();
    // Stable: what is alike stays in the order of names.
    let largest = |line: &Line| line.shares.iter().flatten().copied().fold(0.0, f64::max);
    lines.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let cost = |line: &Line| line.cost.map_or(0.0, f64::abs);
    lines.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let all = pair.sides.each_ref().map(|side| Seen {
        weight: side.as_ref().map_or(0, Stacks::total),
        times: side.as_ref().map_or(0, Stacks::count),
    });
    let mut all = line("all", all);
    if longer.is_none() {
        all.cost = None;
    }
    Some(Shares {
        all,
        lines,
        samples,
        sure,
        is_by_operation: longer.is_some(),
    })
}

/// How many times as long an operation takes in the variant; none where that is unknown.
fn longer(pair: &Pair, totals: [Option<f64>; 2]) -> Option<f64> {
    let [base, variant] = pair.operations()?;
    let [base_total, variant_total] = totals;
    Some((variant_total? / variant) / (base_total? / base))
}

/// The weight of all stacks of a side, above 0.
fn total(side: &Option<Stacks>) -> Option<f64> {
    let total = side.as_ref()?.total();
    (total > 0).then_some(total as f64)
}

fn by_function(pair: &Pair) -> BTreeMap<&str, [Seen; 2]> {
    let mut functions: BTreeMap<&str, [Seen; 2]> = BTreeMap::new();
    for (side, stacks) in pair.sides.iter().enumerate() {
        for (name, seen) in stacks.iter().flat_map(Stacks::by_function) {
            functions.entry(name).or_default()[side] = seen;
        }
    }
    functions
}

fn line(name: &str, seen: [Seen; 2], totals: [Option<f64>; 2], scale: f64, sure: f64) -> Line {
    let [base, variant] = [0, 1].map(|side| Some(seen[side].weight as f64 / totals[side]?));
    let cost = base.zip(variant).and_then(|(base, variant)| {
        let (base, variant) = (base, variant * scale);
        // Of a number that was counted, the relative standard error is one over its square root.
        let square = |share: f64, side: usize| match seen[side].times {
            0 => 0.0,
            times => share * share / times as f64,
        };
        let error = (square(base, 0) + square(variant, 1)).sqrt();
        let cost = variant - base;
        (cost.abs() > sure * error).then_some(cost)
    });
    Line {
        name: name.to_owned(),
        shares: [base, variant],
        cost,
    }
}

/// A table of the first `most` lines, under a heading.
pub fn render(pair: &Pair, shares: &Shares, most: usize) -> String {
    let [base, variant] = &pair.names;
    let mut text = format!(
        "\n{variant} against {base}, {}: samples by {}\n  {}\n",
        pair.what(),
        pair.event,
        said(pair, shares)
    );
    let _ = writeln!(
        text,
        "  {:>9} {:>9} {:>10}   {}",
        "base",
        "variant",
        "cost",
        of_what(shares)
    );
    for line in std::iter::once(&shares.all).chain(shares.lines.iter().take(most)) {
        let [base, variant] = line.shares.map(share);
        let cost = line.cost.map_or("~".into(), |cost| {
            format!("{:+.2} %", (cost * 1e4).round() / 100.0)
        });
        let _ = writeln!(text, "  {base:>9} {variant:>9} {cost:>10}   {}", line.name);
    }
    text
}

/// What the costs are in per cent of.
pub fn of_what(shares: &Shares) -> &'static str {
    match shares.is_by_operation {
        true => "cost in per cent of what an operation takes in the base",
        false => "operations unknown: cost in points of per cent",
    }
}

/// How many samples there are, and what that means.
pub fn said(pair: &Pair, shares: &Shares) -> String {
    let [base, variant] = shares.samples.map(|count| match count {
        Some(count) => count.to_string(),
        None => "no".into(),
    });
    let lost = match pair.lacks() {
        none if none.is_empty() => none,
        lost => format!(" ({lost})"),
    };
    format!(
        "one boot each, so no verdict: {base} and {variant} samples{lost}; ~ is within {:.1} \
         standard errors of counting",
        shares.sure
    )
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.2} %", share * 100.0))
}

#[cfg(test)]
mod tests;
