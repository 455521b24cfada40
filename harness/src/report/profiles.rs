//! Where instructions, samples and waits were, function by function, and flame graphs of them.

use ktrial_db::Db;
use serde::Serialize;

use super::format;
use super::record::Record;
use super::site::Extra;
use crate::counters::difference;
use crate::counters::flame::{self, Drawing, Shows};
use crate::counters::observed::{self, Pair, what};
use crate::counters::shares::{self, Shares};
use crate::counters::stacks::Seen;
use crate::counters::stored::{self, Difference};
use crate::counters::waits::{self, Waits};
use crate::fault::Result;

/// So many functions are listed; the others are one line.
const LISTED: usize = 20;

/// All profiles of a trial.
#[derive(Debug, Serialize)]
pub(super) struct Profiles {
    tables: Vec<Table>,
    /// Entries that this ktrial can't read.
    unread: usize,
}

/// One table of functions, and the flame graphs that belong to it.
#[derive(Debug, Serialize)]
struct Table {
    name: String,
    baseline: String,
    variant: String,
    /// What is in the table: `kernel instructions an operation`.
    what: String,
    /// How much it is worth.
    note: String,
    heads: Vec<String>,
    /// The head of the names.
    who: &'static str,
    /// All functions together first, and those that are not listed last.
    rows: Vec<Row>,
    pictures: Vec<Picture>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// The function that waited, in a table of waits.
    detail: String,
    numbers: Vec<String>,
    /// Its CSS class: red and blue as in a flame graph.
    tone: &'static str,
    /// Whether it stands for more than one function.
    is_sum: bool,
}

#[derive(Debug, Serialize)]
struct Picture {
    link: String,
    title: String,
    subtitle: String,
    /// Whether it is seen at once.
    is_first: bool,
}

/// The tables, and the pictures as files.
///
/// # Errors
/// A host fault if the database can't be read.
pub(super) fn profiles(db: &Db, record: &Record) -> Result<(Profiles, Vec<Extra>)> {
    let differences = stored::differences(db, &record.trial)?;
    let mut tables: Vec<Table> = differences.iter().map(exact).collect();
    let observed = observed::observed(db, &record.trial)?;
    let mut extras = Vec::new();
    for (number, pair) in (1..).zip(&observed.pairs) {
        let profile = || shares::shares(pair).map(|shares| sampled(pair, &shares));
        let waits = || waits::waits(pair).map(|waits| waited(pair, &waits));
        let Some(mut table) = profile().or_else(waits) else {
            tables.push(nothing(pair));
            continue;
        };
        for drawing in flame::drawings(pair)? {
            let link = drawing.file(record.trial.id, number);
            table
                .pictures
                .push(picture(&drawing, &link, table.pictures.is_empty()));
            extras.push(Extra {
                name: link,
                bytes: drawing.svg.into_bytes(),
            });
        }
        tables.push(table);
    }
    let profiles = Profiles {
        tables,
        unread: observed.unread,
    };
    Ok((profiles, extras))
}

fn picture(drawing: &Drawing, link: &str, is_first: bool) -> Picture {
    Picture {
        link: link.to_owned(),
        title: match drawing.shows {
            Shows::Difference => format!("Difference: {}", drawing.title),
            _ => drawing.title.clone(),
        },
        subtitle: drawing.subtitle.clone(),
        is_first,
    }
}

fn exact(difference: &Difference) -> Table {
    let (base, variant) = difference.boots;
    let number = |value: f64| format::decimals(value, 1);
    let cost = |line: &difference::Line| {
        let cost = format::signed(line.cost(), 1);
        match line.error {
            Some(error) => format!("{cost} ± {}", number(error)),
            None => cost,
        }
    };
    let row = |line: &difference::Line, is_sum| Row {
        name: line.name.clone(),
        detail: String::new(),
        numbers: vec![number(line.base), number(line.variant), cost(line)],
        tone: tone((line.cost() * 10.0).round()),
        is_sum,
    };
    let (all, lines) = difference.lines.split_at(difference.lines.len().min(1));
    let (listed, rest) = lines.split_at(lines.len().min(LISTED));
    let mut rows: Vec<Row> = all.iter().map(|line| row(line, true)).collect();
    rows.extend(listed.iter().map(|line| row(line, false)));
    if !rest.is_empty() {
        let sum = |of: fn(&difference::Line) -> f64| rest.iter().map(of).sum();
        let others = difference::Line {
            name: others(rest.len()),
            base: sum(|line| line.base),
            variant: sum(|line| line.variant),
            error: None,
        };
        rows.push(row(&others, true));
    }
    Table {
        name: what(&difference.workload, &difference.parameters),
        baseline: difference.base.clone(),
        variant: difference.variant.clone(),
        what: "instructions an operation, exact".into(),
        note: format!(
            "Counted by the emulator; the mean over {} of the base and {} of the variant. ± is the \
             standard error of the cost.",
            format::count(base, "boot"),
            format::count(variant, "boot")
        ),
        heads: [&difference.base, &difference.variant, "cost"]
            .map(str::to_owned)
            .into(),
        who: "function",
        rows,
        pictures: Vec::new(),
    }
}

fn sampled(pair: &Pair, shares: &Shares) -> Table {
    let row = |line: &shares::Line, is_sum| {
        let [base, variant] = line.shares.map(|share| match share {
            Some(share) => percent(share),
            None => "none".into(),
        });
        let cost = line.cost.map_or("~".into(), |cost| {
            format!("{}\u{a0}%", format::signed(cost * 100.0, 2))
        });
        Row {
            name: line.name.clone(),
            detail: String::new(),
            numbers: vec![base, variant, cost],
            tone: tone((line.cost.unwrap_or(0.0) * 1e4).round()),
            is_sum,
        }
    };
    let (listed, rest) = shares.lines.split_at(shares.lines.len().min(LISTED));
    let mut rows = vec![row(&shares.all, true)];
    rows.extend(listed.iter().map(|line| row(line, false)));
    if !rest.is_empty() {
        let sum = |side: usize| rest.iter().map(|line| line.shares[side]).sum();
        let rest = shares::Line {
            name: others(rest.len()),
            shares: [sum(0), sum(1)],
            cost: None,
        };
        rows.push(row(&rest, true));
    }
    let mut note = sentence(&shares::said(pair, shares));
    note += " ";
    note += &sentence(shares::of_what(shares));
    let what = format!("samples by {}, by innermost function", pair.event);
    table(pair, what, note, &["cost"], rows)
}

fn waited(pair: &Pair, waits: &Waits) -> Table {
    let row = |line: &waits::Line, is_sum| {
        let mut numbers = Vec::new();
        for seen in line.waits {
            let mean = waits::mean(seen);
            numbers.push(format::value(seen.weight as f64, &pair.unit));
            numbers.push(format::decimals(seen.times as f64, 0));
            numbers.push(mean.map_or("none".into(), |mean| format::value(mean, &pair.unit)));
        }
        let sign = if line.cost > 0.0 { "+" } else { "" };
        numbers.push(format!("{sign}{}", format::value(line.cost, &pair.unit)));
        Row {
            name: line.lock.clone(),
            detail: line.caller.clone(),
            numbers,
            tone: tone(line.cost),
            is_sum,
        }
    };
    let (listed, rest) = waits.lines.split_at(waits.lines.len().min(LISTED));
    let mut rows = vec![row(&waits.all, true)];
    rows.extend(listed.iter().map(|line| row(line, false)));
    if !rest.is_empty() {
        let mut sum = waits::Line {
            lock: others(rest.len()),
            cost: rest.iter().map(|line| line.cost).sum(),
            ..waits::Line::default()
        };
        for (side, into) in sum.waits.iter_mut().enumerate() {
            rest.iter()
                .for_each(|line| Seen::add(into, line.waits[side]));
        }
        rows.push(row(&sum, true));
    }
    let cost = match waits.is_by_operation {
        true => "cost an operation",
        false => "cost in all",
    };
    let what = format!("waits for locks by {}, by lock and who waited", pair.event);
    let mut made = table(pair, what, sentence(&waits::said(pair)), &[cost], rows);
    let [base, variant] = &pair.names;
    let side = |name: &str| ["waited", "times", "mean"].map(|head| format!("{name}: {head}"));
    made.who = "lock, and who waited";
    made.heads = [side(base).as_slice(), &side(variant), &[cost.to_owned()]].concat();
    made
}

fn nothing(pair: &Pair) -> Table {
    let note = sentence(&pair.nothing());
    table(pair, format!("by {}", pair.event), note, &[], Vec::new())
}

fn table(pair: &Pair, what: String, note: String, costs: &[&str], rows: Vec<Row>) -> Table {
    let [baseline, variant] = pair.names.clone();
    let names = [baseline.clone(), variant.clone()].into_iter();
    Table {
        name: pair.what(),
        heads: names
            .chain(costs.iter().map(|cost| (*cost).to_owned()))
            .collect(),
        baseline,
        variant,
        what,
        note,
        who: "function",
        rows,
        pictures: Vec::new(),
    }
}

fn others(number: usize) -> String {
    format::count(number, "other")
}

fn percent(share: f64) -> String {
    format!("{}\u{a0}%", format::decimals(share * 100.0, 2))
}

/// Of a cost as it is shown: what is shown as nothing has no colour.
fn tone(cost: f64) -> &'static str {
    match cost {
        cost if cost > 0.0 => "more",
        cost if cost < 0.0 => "less",
        _ => "",
    }
}

/// With a large first letter, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first
        .into_iter()
        .flatten()
        .chain(letters)
        .chain(['.'])
        .collect()
}
