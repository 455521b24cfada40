//! Verdicts, computed from stored samples: what a variant does against the base, cell by cell.
//!
//! The boot is the unit: the iterations of a boot are reduced to their median, and estimate,
//! interval and test are taken over boots, on logarithms, so that a ratio and its inverse weigh
//! the same.
//!
//! [`contrast`], with [`boots`], [`noise`] and [`student`], is a candidate for all that: a fit of
//! shift, trend and noise backed by the same rank sums. Nothing is judged by it until
//! `bench/verdicts`, which holds it against ministat, benchstat, LKP and MMTests, says that it may.

pub mod adjust;
pub mod boots;
pub mod contrast;
mod lookup;
pub mod modes;
pub mod noise;
pub mod outcome;
pub mod ranks;
pub mod shift;
pub mod student;
pub mod text;

use std::collections::BTreeMap;

use ktrial_db::{BootId, Cell, CellId, Db, Sample, Trial, TrialId, Value, VariantId, Verdict};

use crate::fault::{Fault, Result};
use crate::timestamp::unix_ms;
use shift::{Shift, median, shift};

/// Confidence level of the intervals shown.
pub const LEVEL: f64 = 0.95;
/// Equivalence is two one-sided tests at 5 %: the 90 % interval inside the margin (Schuirmann,
/// J. Pharmacokinet. Biopharm. 15, 1987).
const EQUIVALENCE_LEVEL: f64 = 0.90;
/// The false discovery rate that a trial allows over all its cells.
const FALSE_DISCOVERIES: f64 = 0.05;
/// More rounds than this are not worth proposing.
const MOST_ROUNDS: f64 = 200.0;
/// Named in the database.
const METHOD: &str = "Hodges-Lehmann over boot medians, exact rank sum, BH over cells; 1";

/// Computes the verdicts of a trial from its stored samples and stores them.
///
/// # Errors
/// A user fault if there is no such trial; a host fault from the database.
pub fn judge(db: &mut Db, id: TrialId) -> Result<Vec<Verdict>> {
    let trial = db.trial(id)?.ok_or_else(|| {
        Fault::user(format!("there is no trial {id}"))
            .next("`ktrial verdict --list` shows those there are")
    })?;
    let cells = db.cells(id)?;
    let samples = db.samples(id)?;
    let verdicts = judge_samples(&trial, &cells, &samples);
    db.replace_verdicts(id, &verdicts)?;
    Ok(verdicts)
}

fn judge_samples(trial: &Trial, cells: &[(CellId, Cell)], samples: &[Sample]) -> Vec<Verdict> {
    let Some((base, variants)) = trial.variants.split_first() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for variant in variants {
        for (cell_id, cell) in cells {
            let [base, boots] = [base, variant].map(|of| Group::of(samples, of.id, *cell_id));
            // A metric that only one of the two owes, or a trial that has just begun.
            if base.is_empty() || boots.is_empty() {
                continue;
            }
            findings.push(Finding {
                variant: variant.id,
                cell_id: *cell_id,
                better: cell.better == "higher",
                comparison: compare(&base, &boots),
                base,
                boots,
            });
        }
    }
    let mut p: Vec<Option<f64>> = findings.iter().map(Finding::p).collect();
    adjust::benjamini_hochberg(&mut p);
    let now = unix_ms();
    findings
        .iter()
        .zip(p)
        .map(|(finding, p)| finding.verdict(trial, base.id, p, now))
        .collect()
}

/// What the boots of one variant say in one cell.
#[derive(Debug, Default)]
struct Group {
    /// Medians of boots, in the cell's unit.
    medians: Vec<f64>,
    /// Why there is no value, if a boot had none.
    unsupported: Option<String>,
    failed: Option<String>,
}

impl Group {
    fn of(samples: &[Sample], variant: VariantId, cell: CellId) -> Group {
        let mut boots: BTreeMap<BootId, Vec<f64>> = BTreeMap::new();
        let mut group = Group::default();
        for sample in samples {
            if sample.variant != variant || sample.cell != cell || sample.warmup {
                continue;
            }
            match &sample.value {
                Value::Ok(value) => boots.entry(sample.boot).or_default().push(*value),
                Value::Missing => group.failed = Some("a value is missing".into()),
                Value::Unsupported(why) => group.unsupported = Some(why.clone()),
                Value::Failed(why) => group.failed = Some(why.clone()),
            }
        }
        group.medians = boots.values().filter_map(|values| median(values)).collect();
        group
    }
}

impl Group {
    fn is_empty(&self) -> bool {
        self.medians.is_empty() && self.unsupported.is_none() && self.failed.is_none()
    }
}

/// Two groups compared, or why they cannot be.
#[derive(Debug)]
enum Comparison {
    Shift(Shift),
    Unsupported(String),
    Failed(String),
    Silent(String),
}

fn compare(base: &Group, variant: &Group) -> Comparison {
    for group in [base, variant] {
        if let Some(why) = &group.unsupported {
            return Comparison::Unsupported(why.clone());
        }
        if let Some(why) = &group.failed {
            return Comparison::Failed(why.clone());
        }
    }
    let all = || base.medians.iter().chain(&variant.medians);
    if all().any(|v| *v <= 0.0) {
        return Comparison::Silent("a value of zero or less has no ratio".into());
    }
    let logs = |group: &Group| -> Vec<f64> { group.medians.iter().map(|v| v.ln()).collect() };
    match shift(&logs(base), &logs(variant)) {
        None => Comparison::Silent("no boots on one side".into()),
        // Chance must show: where it does not, it was not let in, and nothing can be concluded.
        Some(_) if flat(&base.medians) && flat(&variant.medians) => Comparison::Silent(
            "no spread between boots: the perturbation does not reach this metric".into(),
        ),
        Some(shift) => Comparison::Shift(shift),
    }
}

fn flat(values: &[f64]) -> bool {
    values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1])
}

struct Finding {
    variant: VariantId,
    cell_id: CellId,
    better: bool,
    comparison: Comparison,
    base: Group,
    boots: Group,
}

impl Finding {
    fn p(&self) -> Option<f64> {
        match &self.comparison {
            Comparison::Shift(shift) => Some(shift.p),
            _ => None,
        }
    }

    fn verdict(&self, trial: &Trial, baseline: VariantId, p: Option<f64>, now: i64) -> Verdict {
        let mut verdict = Verdict {
            variant: self.variant,
            baseline,
            cell: self.cell_id,
            verdict: "inconclusive".into(),
            ratio: None,
            low: None,
            high: None,
            level: LEVEL,
            p_value: self.p(),
            p_adjusted: p,
            boots_base: self.base.medians.len() as u32,
            boots_variant: self.boots.medians.len() as u32,
            base_value: median(&self.base.medians),
            variant_value: median(&self.boots.medians),
            margin: trial.margin,
            rounds_needed: None,
            method: METHOD.into(),
            reason: None,
            computed_at: now,
        };
        match &self.comparison {
            Comparison::Shift(shift) => self.decide(shift, p.unwrap_or(1.0), &mut verdict),
            Comparison::Unsupported(why) => {
                verdict.verdict = "unsupported".into();
                verdict.reason = Some(why.clone());
            }
            Comparison::Failed(why) => {
                verdict.verdict = "failed".into();
                verdict.reason = Some(why.clone());
            }
            Comparison::Silent(why) => verdict.reason = Some(why.clone()),
        }
        verdict
    }

    fn decide(&self, shift: &Shift, p: f64, verdict: &mut Verdict) {
        verdict.ratio = Some(shift.estimate.exp());
        let (Some((low, high)), Some(tight)) =
            (shift.interval(LEVEL), shift.interval(EQUIVALENCE_LEVEL))
        else {
            verdict.reason = Some("too few boots for an interval".into());
            verdict.rounds_needed = Some(4);
            return;
        };
        verdict.low = Some(low.exp());
        verdict.high = Some(high.exp());
        let margin = verdict.margin.ln_1p();
        let differs = low > 0.0 || high < 0.0;
        let beyond = shift.estimate.abs() > margin;
        if -margin < tight.0 && tight.1 < margin {
            verdict.verdict = "unchanged".into();
        } else if differs && beyond && p <= FALSE_DISCOVERIES {
            let better = (shift.estimate > 0.0) == self.better;
            verdict.verdict = if better { "improved" } else { "regressed" }.into();
        } else {
            verdict.reason = match (differs, beyond) {
                (true, true) => Some("significant alone, but not among so many comparisons"),
                (true, false) => Some("it differs, perhaps by no more than the margin"),
                _ => None,
            }
            .map(str::to_owned);
            verdict.rounds_needed = rounds_needed(
                shift.estimate,
                (low, high),
                margin,
                self.boots.medians.len(),
            );
        }
    }
}

/// How many rounds would probably settle it: intervals shrink with the root of the boots, and must
/// fit between the estimate and the margin's edge, or, beyond the margin, leave out zero.
fn rounds_needed(estimate: f64, (low, high): (f64, f64), margin: f64, boots: usize) -> Option<u32> {
    let half = (high - low) / 2.0;
    let away = estimate.abs();
    let room = if away < margin { margin - away } else { away };
    let rounds = (boots as f64 * (half / room).powi(2)).ceil();
    (rounds.is_finite() && rounds <= MOST_ROUNDS).then(|| (rounds as u32).max(boots as u32 + 1))
}

#[cfg(test)]
mod tests;
