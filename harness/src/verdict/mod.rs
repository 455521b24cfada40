//! Verdicts, computed from stored samples: what a variant does against the base, cell by cell.
//!
//! The boot is the unit: the iterations of a boot are reduced to one level ([`boots`]), and estimate,
//! interval and test ([`contrast`]) are taken over boots, on logarithms, so that a ratio and its
//! inverse weigh the same. `bench/verdicts` shows how often that is wrong, and what it finds.

pub mod adjust;
pub mod boots;
pub mod contrast;
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
use contrast::{Boot, Contrast};
use shift::median;

/// Confidence level of the intervals shown.
pub const LEVEL: f64 = 0.95;
/// Equivalence is two one-sided tests at 5 %: the 90 % interval inside the margin (Schuirmann,
/// J. Pharmacokinet. Biopharm. 15, 1987).
const EQUIVALENCE_LEVEL: f64 = 0.90;
/// The false discovery rate that a trial allows over all its cells.
const FALSE_DISCOVERIES: f64 = 0.05;
/// More rounds than this are not worth proposing.
const MOST_ROUNDS: f64 = 200.0;
/// With fewer, an answer is out of reach for most metrics.
const FEWEST_ROUNDS: u32 = 4;
/// Named in the database.
const METHOD: &str =
    "likelihood of shift, trend and noise shape over boots, backed by rank sums; BH over cells; 2";

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
    /// The round and the values of each boot, in the cell's unit.
    boots: Vec<(u32, Vec<f64>)>,
    /// How many values are missing.
    missing: usize,
    /// Why there is no value, if a boot had none.
    unsupported: Option<String>,
    failed: Option<String>,
}

impl Group {
    fn of(samples: &[Sample], variant: VariantId, cell: CellId) -> Group {
        let mut boots: BTreeMap<BootId, (u32, Vec<f64>)> = BTreeMap::new();
        let mut group = Group::default();
        for sample in samples {
            if sample.variant != variant || sample.cell != cell || sample.warmup {
                continue;
            }
            match &sample.value {
                Value::Ok(value) => {
                    let boot = boots.entry(sample.boot).or_default();
                    boot.0 = sample.round;
                    boot.1.push(*value);
                }
                Value::Missing => group.missing += 1,
                Value::Unsupported(why) => group.unsupported = Some(why.clone()),
                Value::Failed(why) => group.failed = Some(why.clone()),
            }
        }
        group.boots = boots.into_values().collect();
        group
    }

    fn is_empty(&self) -> bool {
        self.boots.is_empty()
            && self.missing == 0
            && self.unsupported.is_none()
            && self.failed.is_none()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.boots
            .iter()
            .flat_map(|(_, values)| values.iter().copied())
    }

    /// The middle of the boots' own medians, to be shown.
    fn middle(&self) -> Option<f64> {
        let medians: Vec<f64> = self.boots.iter().filter_map(|(_, v)| median(v)).collect();
        median(&medians)
    }
}

/// Two groups compared, or why they cannot be.
#[derive(Debug)]
enum Comparison {
    Contrast(Box<Contrast>),
    Unsupported(String),
    Failed(String),
    Silent(String),
}

fn compare(base: &Group, variant: &Group) -> Comparison {
    for (side, group) in [("base", base), ("the variant", variant)] {
        if let Some(why) = &group.unsupported {
            return Comparison::Unsupported(why.clone());
        }
        if let Some(why) = &group.failed {
            return Comparison::Failed(why.clone());
        }
        if group.missing > 0 {
            let values = if group.missing == 1 {
                "value is"
            } else {
                "values are"
            };
            return Comparison::Failed(format!("{} {values} missing in {side}", group.missing));
        }
    }
    if let Some(why) = no_ratio(base, variant) {
        return Comparison::Silent(why.into());
    }
    let (base, variant) = boots_of(base, variant);
    if base.len() < 2 || variant.len() < 2 {
        return Comparison::Silent("too few boots for an interval".into());
    }
    match Contrast::of(&base, &variant) {
        // Chance must show: where it does not, it was not let in, and nothing can be concluded.
        None => Comparison::Silent(
            "no spread between boots: the perturbation does not reach this metric".into(),
        ),
        Some(contrast) => Comparison::Contrast(Box::new(contrast)),
    }
}

/// Why the values have no ratio: a zero is a value, and never a missing one.
fn no_ratio(base: &Group, variant: &Group) -> Option<&'static str> {
    let all_zero = |group: &Group| group.values().all(|v| v == 0.0);
    let bad = |group: &Group| group.values().any(|v| v <= 0.0 || !v.is_finite());
    match (bad(base), bad(variant)) {
        (true, true) if all_zero(base) && all_zero(variant) => Some("zero on both sides"),
        (true, _) => Some("a value of zero or less in base, which has no ratio"),
        (_, true) => Some("a value of zero or less in the variant, which has no ratio"),
        _ => None,
    }
}

/// One logarithm a boot, with its round.
fn boots_of(base: &Group, variant: &Group) -> (Vec<Boot>, Vec<Boot>) {
    let all = || base.boots.iter().chain(&variant.boots);
    let logs: Vec<Vec<f64>> = all()
        .map(|(_, v)| v.iter().map(|v| v.ln()).collect())
        .collect();
    let mut boots = all().zip(boots::levels(&logs));
    let mut take = |count: usize| -> Vec<Boot> {
        let boot = |((round, _), value): (&(u32, Vec<f64>), Option<f64>)| {
            value.map(|value| Boot {
                round: *round,
                value,
            })
        };
        boots.by_ref().take(count).filter_map(boot).collect()
    };
    (take(base.boots.len()), take(variant.boots.len()))
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
            Comparison::Contrast(contrast) => Some(contrast.p(0.0)),
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
            boots_base: self.base.boots.len() as u32,
            boots_variant: self.boots.boots.len() as u32,
            base_value: self.base.middle(),
            variant_value: self.boots.middle(),
            margin: trial.margin,
            rounds_needed: None,
            method: METHOD.into(),
            reason: None,
            computed_at: now,
        };
        match &self.comparison {
            Comparison::Contrast(contrast) => {
                self.decide(contrast, p.unwrap_or(1.0), &mut verdict);
            }
            Comparison::Unsupported(why) => {
                verdict.verdict = "unsupported".into();
                verdict.reason = Some(why.clone());
            }
            Comparison::Failed(why) => {
                verdict.verdict = "failed".into();
                verdict.reason = Some(why.clone());
            }
            Comparison::Silent(why) => {
                verdict.reason = Some(why.clone());
                let boots = self.base.boots.len().min(self.boots.boots.len());
                verdict.rounds_needed = (boots < 2).then_some(FEWEST_ROUNDS);
            }
        }
        verdict
    }

    fn decide(&self, contrast: &Contrast, p: f64, verdict: &mut Verdict) {
        verdict.ratio = Some(contrast.estimate().exp());
        let (Some((low, high)), Some(tight)) = (
            contrast.interval(LEVEL),
            contrast.interval(EQUIVALENCE_LEVEL),
        ) else {
            verdict.reason = Some("too few boots for an interval".into());
            verdict.rounds_needed = Some(FEWEST_ROUNDS);
            return;
        };
        verdict.low = Some(low.exp());
        verdict.high = Some(high.exp());
        let margin = verdict.margin.ln_1p();
        let differs = low > 0.0 || high < 0.0;
        let beyond = contrast.estimate().abs() > margin;
        if -margin < tight.0 && tight.1 < margin {
            verdict.verdict = "unchanged".into();
        } else if differs && beyond && p <= FALSE_DISCOVERIES {
            let better = (contrast.estimate() > 0.0) == self.better;
            verdict.verdict = if better { "improved" } else { "regressed" }.into();
        } else {
            verdict.reason = match (differs, beyond) {
                (true, true) => Some("significant alone, but not among so many comparisons"),
                (true, false) => Some("it differs, perhaps by no more than the margin"),
                _ => None,
            }
            .map(str::to_owned);
            verdict.rounds_needed = rounds_needed(
                contrast.estimate(),
                (low, high),
                margin,
                self.boots.boots.len(),
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
