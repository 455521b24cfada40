//! What the verdicts of a trial come to: the exit code, and whether a control behaved.

use std::collections::BTreeMap;

use ktrial_db::{Cell, CellId, Trial, Verdict};
use ktrial_patches::catalogue::{self, Expectation};

/// Nothing regressed.
pub const FINE: u8 = 0;
/// Something regressed.
pub const REGRESSED: u8 = 1;
/// Not known yet.
pub const INCONCLUSIVE: u8 = 3;

/// The exit code of a trial: 1 if anything regressed, 3 if a primary metric is not settled, else 0.
pub fn exit_code(cells: &[(CellId, Cell)], verdicts: &[Verdict]) -> u8 {
    if verdicts.iter().any(|v| v.verdict == "regressed") {
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
        let words: Vec<String> = expectation
            .verdicts
            .iter()
            .map(ToString::to_string)
            .collect();
        let expected = format!(
            "{} {}: {} of {} {}",
            expectation.workload,
            parameters_text(expectation),
            expectation.metric,
            expectation.variant,
            words.join(" or ")
        );
        let about = verdicts
            .iter()
            .filter(|v| is_about(expectation, v, trial, cells));
        let before = held.len();
        for verdict in about {
            held.push(Held {
                expected: expected.clone(),
                met: words.contains(&verdict.verdict),
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
fn parameters(canonical: &str) -> BTreeMap<String, catalogue::Value> {
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
