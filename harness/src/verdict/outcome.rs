//! What the verdicts of a trial come to: the exit code, and whether a control behaved.

use std::collections::BTreeMap;

use crate::counters;
use ktrial_db::{Cell, CellId, Trial, Verdict};
use ktrial_patches::catalogue::{self, Expectation};

/// Nothing regressed.
pub const FINE: u8 = 0;
/// Something regressed.
pub const REGRESSED: u8 = 1;
/// Not known yet.
pub const INCONCLUSIVE: u8 = 3;

/// The exit code of a trial: 1 if anything regressed but what is counted to explain it, 3 if a primary metric is not settled, else 0.
pub fn exit_code(cells: &[(CellId, Cell)], verdicts: &[Verdict]) -> u8 {
    let explains = |v: &Verdict| cell(cells, v.cell).is_some_and(counters::explains);
    if verdicts
        .iter()
        .any(|v| v.verdict == "regressed" && !explains(v))
    {
        return REGRESSED;
    }
    let primary = |v: &&Verdict| cell(cells, v.cell).is_some_and(|c| c.primary);
    let mut settled = false;
    for verdict in verdicts.iter().filter(primary) {
        match verdict.verdict.as_str() {
            "improved" | "unchanged" => settled = true,
            "unsupported" => {}
            _ => return INCONCLUSIVE,
        }
    }
    if settled { FINE } else { INCONCLUSIVE }
}

/// One expectation of a control, held against what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What was expected, in words.
    pub expected: String,
    /// The verdict that was found; none where the trial did not try it.
    pub found: Option<String>,
    /// Whether it is as expected.
    pub met: bool,
}

/// Holds a series' expectations against the verdicts of its trial.
pub fn hold(
    expectations: &[Expectation],
    trial: &Trial,
    cells: &[(CellId, Cell)],
    verdicts: &[Verdict],
) -> Vec<Held> {
    let mut held = Vec::new();
    for expectation in expectations {
        let expected = expected(expectation);
        let right = |word: &str| expectation.verdicts.iter().any(|v| v.to_string() == word);
        let about = verdicts
            .iter()
            .filter(|v| is_about(expectation, v, trial, cells));
        if is_left_out(trial, &expectation.variant) {
            held.push(Held {
                expected: format!("{expected}, by construction: base's image to the bit"),
                met: right("unchanged"),
                found: Some("unchanged".into()),
            });
            continue;
        }
        let before = held.len();
        for verdict in about {
            held.push(Held {
                expected: expected.clone(),
                met: right(&verdict.verdict),
                found: Some(verdict.verdict.clone()),
            });
        }
        if held.len() == before {
            held.push(Held {
                expected,
                found: None,
                met: false,
            });
        }
    }
    held
}

/// Whether the trial has this variant and did not boot it, as it is the base to the bit.
fn is_left_out(trial: &Trial, name: &str) -> bool {
    let mut variants = trial.variants.iter();
    variants.any(|variant| variant.name == name && variant.left_out)
}

/// An expectation in words: `exec processes=1: rate of patched unchanged`.
pub fn expected(expectation: &Expectation) -> String {
    let verdicts = expectation.verdicts.iter().map(ToString::to_string);
    format!(
        "{} {}: {} of {} {}",
        expectation.workload,
        parameters_text(expectation),
        expectation.metric,
        expectation.variant,
        verdicts.collect::<Vec<_>>().join(" or ")
    )
}

/// The exit code of a control: 0 if every expectation was tried and met, 1 if something regressed
/// that should not have, else 3.
pub fn control_exit_code(held: &[Held]) -> u8 {
    let missed = |h: &&Held| !h.met;
    if held
        .iter()
        .filter(missed)
        .any(|h| h.found.as_deref() == Some("regressed"))
    {
        REGRESSED
    } else if held.is_empty() || held.iter().any(|h| !h.met) {
        INCONCLUSIVE
    } else {
        FINE
    }
}

/// Whether the verdict is on a result that the expectation speaks of.
fn is_about(
    expectation: &Expectation,
    verdict: &Verdict,
    trial: &Trial,
    cells: &[(CellId, Cell)],
) -> bool {
    let variant = trial.variants.iter().find(|v| v.id == verdict.variant);
    let (Some(variant), Some(cell)) = (variant, cell(cells, verdict.cell)) else {
        return false;
    };
    let parameters = parameters(&cell.parameters);
    expectation.is_about(&variant.name, &cell.workload, &parameters, &cell.metric)
}

/// `fds=500000 touch=0` as the catalogue has it.
pub(super) fn parameters(canonical: &str) -> BTreeMap<String, catalogue::Value> {
    let value = |text: &str| match text {
        "true" => catalogue::Value::Bool(true),
        "false" => catalogue::Value::Bool(false),
        _ => text.parse().map_or_else(
            |_| catalogue::Value::Text(text.to_owned()),
            catalogue::Value::Int,
        ),
    };
    canonical
        .split(' ')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, text)| (name.to_owned(), value(text)))
        .collect()
}

fn parameters_text(expectation: &Expectation) -> String {
    let pairs = expectation.parameters.iter();
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join(" ")
}

fn cell(cells: &[(CellId, Cell)], id: CellId) -> Option<&Cell> {
    cells
        .iter()
        .find(|(cell, _)| *cell == id)
        .map(|(_, cell)| cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(found: Option<&str>, met: bool) -> Held {
        Held {
            expected: "exec processes=1: rate of patched unchanged".into(),
            found: found.map(str::to_owned),
            met,
        }
    }

    #[test]
    fn a_control_is_fine_only_if_everything_was_tried_and_met() {
        let met = || held(Some("unchanged"), true);
        assert_eq!(control_exit_code(&[met(), met()]), FINE);
        assert_eq!(control_exit_code(&[met(), held(None, false)]), INCONCLUSIVE);
        let wrong = held(Some("inconclusive"), false);
        assert_eq!(control_exit_code(&[met(), wrong]), INCONCLUSIVE);
        let wolf = held(Some("regressed"), false);
        assert_eq!(control_exit_code(&[met(), wolf]), REGRESSED);
        assert_eq!(control_exit_code(&[]), INCONCLUSIVE);
    }

    #[test]
    fn an_expected_regression_is_fine() {
        assert_eq!(control_exit_code(&[held(Some("regressed"), true)]), FINE);
    }

    #[test]
    fn parameters_are_read_back_as_the_catalogue_writes_them() {
        let read = parameters("fastalloc=true fds=500000 name=x");
        assert_eq!(read["fastalloc"], catalogue::Value::Bool(true));
        assert_eq!(read["fds"], catalogue::Value::Int(500_000));
        assert_eq!(read["name"], catalogue::Value::Text("x".into()));
    }
}
