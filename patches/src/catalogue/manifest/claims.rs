//! `[[claim]]`: a figure that the author of a series states.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{Known, Source};
use crate::catalogue::{Claim, ClaimClock, ClaimKind, ClaimTest, SeriesError, Value};

/// A claim as it is written down.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimEntry {
    metric: Spanned<String>,
    unit: Option<Spanned<String>>,
    machine: Spanned<String>,
    #[serde(rename = "known-machine")]
    known_machine: Option<Spanned<String>>,
    before: Option<Spanned<Number>>,
    after: Option<Spanned<Number>>,
    change: Option<Spanned<Change>>,
    quote: Spanned<String>,
    source: Spanned<String>,
    test: Option<TestEntry>,
}

/// What a trial has to measure for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestEntry {
    kind: Spanned<ClaimKind>,
    variant: Option<Spanned<String>>,
    workload: Spanned<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    metric: Spanned<String>,
    cpus: Option<Spanned<u32>>,
    clock: Option<ClaimClock>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number")]
enum Number {
    Whole(i64),
    Broken(f64),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a change such as \"-7.5 %\"")]
enum Change {
    Percent(Number),
    Text(String),
}

/// Characters of a quotation at most.
const LINE: usize = 160;

pub(super) fn claims(known: &Known, entries: Vec<ClaimEntry>) -> Result<Vec<Claim>, SeriesError> {
    let source = known.source;
    let mut claims = Vec::new();
    for entry in entries {
        let quote = entry.quote.get_ref();
        if quote.chars().count() > LINE {
            let message = format!("expected a quotation of one line, {LINE} characters at most");
            return Err(source.wrong(&entry.quote, &message));
        }
        let texts = [
            Some(&entry.metric),
            entry.unit.as_ref(),
            Some(&entry.machine),
            entry.known_machine.as_ref(),
            Some(&entry.quote),
            Some(&entry.source),
        ];
        for text in texts.into_iter().flatten() {
            if text.get_ref().trim().is_empty() || text.get_ref().contains(char::is_control) {
                return Err(source.wrong(text, "expected one line of text"));
            }
        }
        if entry.before.is_none() && entry.after.is_none() && entry.change.is_none() {
            let message = "expected a figure: one of `before`, `after` and `change` at least";
            return Err(source.wrong(&entry.metric, message));
        }
        let change = match &entry.change {
            None => (None, None),
            Some(change) => percent(source, change)?,
        };
        let mut claim = Claim {
            before: figure(source, entry.before.as_ref())?,
            after: figure(source, entry.after.as_ref())?,
            change_percent: change.0,
            change_percent_to: change.1,
            metric: entry.metric.into_inner(),
            unit: entry.unit.map(Spanned::into_inner),
            machine: entry.machine.into_inner(),
            known_machine: entry.known_machine.map(Spanned::into_inner),
            quote: entry.quote.into_inner(),
            source: entry.source.into_inner(),
            test: None,
        };
        claim.test = match entry.test {
            None => None,
            Some(test) => Some(self::test(known, test, &claim)?),
        };
        claims.push(claim);
    }
    Ok(claims)
}

fn test(known: &Known, entry: TestEntry, claim: &Claim) -> Result<ClaimTest, SeriesError> {
    let lacking = match entry.kind.get_ref() {
        ClaimKind::Change => match claim.change() {
            Some((from, to)) if from > 0.0 && to.is_finite() => None,
            Some(_) => Some("expected a change of more than -100 %"),
            None => Some("expected `change`, or `before` and `after`, for a claim of a change"),
        },
        ClaimKind::Level => match claim.before.or(claim.after) {
            Some(_) => None,
            None => Some("expected `before` or `after` for a claim of a level"),
        },
    };
    if let Some(message) = lacking {
        return Err(known.source.wrong(&entry.kind, message));
    }
    if let Some(cpus) = entry.cpus.as_ref().filter(|cpus| *cpus.get_ref() == 0) {
        let message = "expected a number of CPUs, 1 at least";
        return Err(known.source.wrong(cpus, message));
    }
    let variant = match &entry.variant {
        Some(variant) => known.variant(variant)?,
        None => "patched".to_owned(),
    };
    Ok(ClaimTest {
        kind: entry.kind.into_inner(),
        variant,
        workload: known.workload(&entry.workload, &entry.parameters)?,
        parameters: entry.parameters,
        metric: known.metric(&entry.metric)?,
        cpus: entry.cpus.map(Spanned::into_inner),
        clock: entry.clock,
    })
}

fn figure(source: &Source, number: Option<&Spanned<Number>>) -> Result<Option<f64>, SeriesError> {
    let Some(number) = number else {
        return Ok(None);
    };
    match value(*number.get_ref()) {
        Some(value) => Ok(Some(value)),
        None => Err(source.wrong(number, "expected a number, neither `nan` nor `inf`")),
    }
}

fn value(number: Number) -> Option<f64> {
    match number {
        // Exact up to 2^53, which is more than any claim has.
        Number::Whole(number) => Some(number as f64),
        Number::Broken(number) => Some(number).filter(|number| number.is_finite()),
    }
}

/// The change, and its other end where it is a range.
fn percent(
    source: &Source,
    change: &Spanned<Change>,
) -> Result<(Option<f64>, Option<f64>), SeriesError> {
    let read = match change.get_ref() {
        Change::Percent(number) => value(*number).map(|one| (Some(one), None)),
        Change::Text(text) => range(text),
    };
    let message = "expected a change in per cent such as -7.5, \"-7.5 %\" or \"+4 to +5 %\", \
                   or a factor such as \"3 x\"";
    read.ok_or_else(|| source.wrong(change, message))
}

/// `-7.5 %`, or `+4 to +5 %`; `3 x`, or `1 to 10 x`, for factors.
fn range(text: &str) -> Option<(Option<f64>, Option<f64>)> {
    let (text, is_factor) = match text.strip_suffix('x') {
        Some(text) => (text, true),
        None => (text.strip_suffix('%')?, false),
    };
    let number = |text: &str| -> Option<f64> {
        let text = text.trim();
        let fits = |b: u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.');
        let number: f64 = text.parse().ok().filter(|_| text.bytes().all(fits))?;
        match is_factor {
            // To the millionth: 1.1 is 10 %, not 10.000000000000014 %.
            true => (number > 0.0).then(|| ((number - 1.0) * 1e8).round() / 1e6),
            false => Some(number),
        }
    };
    match text.split_once(" to ") {
        Some((from, to)) => Some((Some(number(from)?), Some(number(to)?))),
        None => Some((Some(number(text)?), None)),
    }
}
