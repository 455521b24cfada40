//! Waits for locks in two kernels: which lock, who waited, how long and how often.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::observed::{Pair, UNKNOWN};
use super::stacks::{Seen, Stacks};

/// Waits of one function for one lock.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// The lock, the last frame of a stack.
    pub lock: String,
    /// The function that waited, the frame before it.
    pub caller: String,
    /// In the base and in the variant.
    pub waits: [Seen; 2],
    /// What the variant waits more, an operation; where operations are unknown, in all.
    pub cost: f64,
}

/// A pair's waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Waits {
    /// What the change costs or saves most first.
    pub lines: Vec<Line>,
    /// All waits together.
    pub all: Line,
    /// Whether costs are those of an operation.
    pub is_by_operation: bool,
}

/// None of a profile, and where nothing waited.
pub fn waits(pair: &Pair) -> Option<Waits> {
    if !pair.is_locks() {
        return None;
    }
    let mut sums: BTreeMap<(&str, &str), [Seen; 2]> = BTreeMap::new();
    let mut all = [Seen::default(); 2];
    for (side, stacks) in pair.sides.iter().enumerate() {
        for (stack, seen) in stacks.iter().flat_map(Stacks::seen) {
            let mut frames = stack.rsplit(';');
            let lock = frames.next().unwrap_or(UNKNOWN);
            let caller = frames.next().unwrap_or(UNKNOWN);
            sums.entry((lock, caller)).or_default()[side].add(seen);
            all[side].add(seen);
        }
    }
    let operations = pair.operations();
    let line = |(lock, caller): (&str, &str), waits: [Seen; 2]| Line {
        lock: lock.to_owned(),
        caller: caller.to_owned(),
        waits,
        cost: cost(waits, operations),
    };
    let sums = sums.into_iter();
    let mut lines: Vec<Line> = sums.map(|(who, waits)| line(who, waits)).collect();
    // Stable: what costs the same stays in the order of names.
    lines.sort_by(|a, b| b.cost.abs().total_cmp(&a.cost.abs()));
    (!lines.is_empty()).then(|| Waits {
        lines,
        all: line(("all", ""), all),
        is_by_operation: operations.is_some(),
    })
}

fn cost(waits: [Seen; 2], operations: Option<[f64; 2]>) -> f64 {
    let [base, variant] = operations.unwrap_or([1.0, 1.0]);
    waits[1].weight as f64 / variant - waits[0].weight as f64 / base
}

/// The mean wait.
pub fn mean(waits: Seen) -> Option<f64> {
    (waits.times > 0).then(|| waits.weight as f64 / waits.times as f64)
}

/// A table of the first `most` lines, under a heading.
pub fn render(pair: &Pair, waits: &Waits, most: usize) -> String {
    let [base, variant] = &pair.names;
    let mut text = format!(
        "\n{variant} against {base}, {}: waits for locks by {}\n  {}\n",
        pair.what(),
        pair.event,
        said(pair)
    );
    let units = Units::of(pair);
    let side = ["total", "times", "mean"];
    let cost = match waits.is_by_operation {
        true => format!("cost {}/op", pair.unit),
        false => format!("cost {}", pair.unit),
    };
    let _ = writeln!(text, "{:>36}{:>36}", "base", "variant");
    let heads = format!(
        "  {:>12} {:>9} {:>11}",
        units.head(side[0], units.total.1),
        side[1],
        units.head(side[2], units.mean.1)
    );
    let _ = writeln!(text, "{heads}{heads} {cost:>13}   lock, and who waited");
    for line in std::iter::once(&waits.all).chain(waits.lines.iter().take(most)) {
        for waits in line.waits {
            text.push_str(&units.row(waits));
        }
        let who = match line.caller.as_str() {
            "" => line.lock.clone(),
            caller => format!("{} in {caller}", line.lock),
        };
        let _ = writeln!(text, " {:>13}   {who}", format!("{:+.1}", line.cost));
    }
    text
}

/// What such boots mean.
pub fn said(pair: &Pair) -> String {
    let lost = match pair.lacks() {
        none if none.is_empty() => none,
        lost => format!("; {lost}"),
    };
    format!("one boot each, slowed down by the watching, so no verdict{lost}")
}

/// Totals and means are shown in these: a divisor and its name.
struct Units {
    total: (f64, &'static str),
    mean: (f64, &'static str),
}

impl Units {
    fn of(pair: &Pair) -> Units {
        match pair.unit.as_str() {
            "ns" => Units {
                total: (1e6, "ms"),
                mean: (1e3, "\u{b5}s"),
            },
            _ => Units {
                total: (1.0, ""),
                mean: (1.0, ""),
            },
        }
    }

    fn head(&self, word: &str, unit: &str) -> String {
        format!("{word} {unit}").trim_end().to_owned()
    }

    fn row(&self, waits: Seen) -> String {
        let mean = mean(waits).map_or("-".into(), |mean| format!("{:.1}", mean / self.mean.0));
        format!(
            "  {:12.3} {:9} {mean:>11}",
            waits.weight as f64 / self.total.0,
            waits.times
        )
    }
}

#[cfg(test)]
mod tests;
