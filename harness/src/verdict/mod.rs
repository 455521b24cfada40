//! Verdicts, computed from stored samples: what a variant does against the base, cell by cell.
//!
//! The boot is the unit: the iterations of a boot are reduced to their median, and estimate,
//! interval and test are taken over boots, on logarithms, so that a ratio and its inverse weigh
//! the same.

mod adjust;
pub mod outcome;
pub mod shift;
pub mod text;

use std::collections::BTreeMap;

use ktrial_db::{BootId, Cell, CellId, Db, Sample, Trial, TrialId, Value, VariantId, Verdict};

use crate::clock::unix_ms;
use crate::fault::{Fault, Result};
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
mod tests {
    use super::*;
    use ktrial_db::Variant;

    fn judged(base: &[f64], variant: &[f64], margin: f64) -> Verdict {
        let samples = [(1, base), (2, variant)]
            .into_iter()
            .flat_map(|(id, values)| {
                values.iter().zip(1..).map(move |(value, round)| Sample {
                    boot: BootId(id * 100 + round),
                    variant: VariantId(id),
                    round: round as u32,
                    cell: CellId(1),
                    iteration: 0,
                    warmup: false,
                    value: Value::Ok(*value),
                })
            });
        verdict_of(samples.collect(), margin)
    }

    fn verdict_of(samples: Vec<Sample>, margin: f64) -> Verdict {
        let cell = Cell {
            workload: "fd-churn".into(),
            parameters: String::new(),
            metric: "rate".into(),
            unit: "1/s".into(),
            better: "higher".into(),
            primary: true,
        };
        let variant = |id, name: &str| Variant {
            id: VariantId(id),
            name: name.into(),
            position: 0,
            series: None,
            kernel: None,
            settings_json: String::new(),
            applied_json: String::new(),
        };
        let trial = Trial {
            id: TrialId(1),
            plan_key: String::new(),
            machine: ktrial_db::MachineId(1),
            tree: ktrial_db::TreeId(1),
            title: String::new(),
            seed: 0,
            rounds: 5,
            margin,
            clock: "virtual".into(),
            accelerator: "tcg".into(),
            shape_json: String::new(),
            plan_json: String::new(),
            command_line: String::new(),
            ktrial_version: String::new(),
            started_at: 0,
            finished_at: None,
            outcome: None,
            failure: None,
            variants: vec![variant(1, "base"), variant(2, "patched")],
        };
        judge_samples(&trial, &[(CellId(1), cell)], &samples).remove(0)
    }

    const BASE: &[f64] = &[1000.0, 1001.0, 999.0, 1002.0, 998.0];

    #[test]
    fn far_apart_is_regressed_and_close_is_unchanged() {
        let slower: Vec<f64> = BASE.iter().map(|v| v * 0.93).collect();
        let verdict = judged(BASE, &slower, 0.01);
        assert_eq!(verdict.verdict, "regressed");
        assert!((verdict.ratio.unwrap() - 0.93).abs() < 1e-3);
        let same: Vec<f64> = BASE.iter().map(|v| v * 1.001).collect();
        assert_eq!(judged(BASE, &same, 0.01).verdict, "unchanged");
    }

    #[test]
    fn significant_but_inside_the_margin_is_unchanged_with_the_figure_shown() {
        let shifted: Vec<f64> = BASE.iter().map(|v| v * 1.006).collect();
        let verdict = judged(BASE, &shifted, 0.02);
        assert_eq!(verdict.verdict, "unchanged");
        assert!(verdict.low.unwrap() > 1.0, "the interval leaves out 1");
    }

    #[test]
    fn a_difference_that_may_lie_inside_the_margin_is_no_alarm() {
        // Medians 0.8 % apart, all above the base, some by more than the margin of 1 %.
        let variant: Vec<f64> = [1.004, 1.006, 1.008, 1.013, 1.015]
            .iter()
            .zip([1000.0, 1000.1, 999.9, 1000.2, 999.8])
            .map(|(factor, base)| factor * base)
            .collect();
        let verdict = judged(&[1000.0, 1000.1, 999.9, 1000.2, 999.8], &variant, 0.01);
        assert!(verdict.low.unwrap() > 1.0);
        assert_eq!(verdict.verdict, "inconclusive");
        assert!(verdict.reason.unwrap().contains("no more than the margin"));
    }

    #[test]
    fn wide_is_inconclusive_with_the_rounds_that_would_settle_it() {
        let base = [900.0, 1100.0, 1000.0, 950.0, 1050.0];
        let verdict = judged(&base, &[910.0, 1090.0, 1005.0, 955.0, 1060.0], 0.01);
        assert_eq!(verdict.verdict, "inconclusive");
        assert!(verdict.rounds_needed.is_none_or(|rounds| rounds > 5));
    }

    #[test]
    fn few_boots_and_no_spread_are_inconclusive_however_far_apart() {
        let few = judged(&[100.0, 101.0, 102.0], &[50.0, 51.0, 52.0], 0.01);
        assert_eq!(
            (few.verdict.as_str(), few.rounds_needed),
            ("inconclusive", Some(4))
        );
        let flat = judged(&[100.0; 8], &[50.0; 8], 0.01);
        assert_eq!(flat.verdict, "inconclusive");
        assert!(flat.reason.unwrap().contains("no spread"));
    }

    #[test]
    fn more_iterations_in_a_boot_are_not_more_boots() {
        let samples = (1..=2).flat_map(|id| {
            (0..100).map(move |iteration| Sample {
                boot: BootId(id),
                variant: VariantId(id),
                round: 0,
                cell: CellId(1),
                iteration,
                warmup: false,
                value: Value::Ok(if id == 1 { 100.0 } else { 50.0 } + f64::from(iteration) / 100.0),
            })
        });
        let verdict = verdict_of(samples.collect(), 0.01);
        assert_eq!((verdict.boots_base, verdict.boots_variant), (1, 1));
        assert_eq!(verdict.verdict, "inconclusive");
    }

    #[test]
    fn unsupported_is_never_a_rate_of_zero() {
        let mut samples: Vec<Sample> = Vec::new();
        for (id, value) in [
            (1, Value::Ok(5.0)),
            (2, Value::Unsupported("no flag".into())),
        ] {
            samples.push(Sample {
                boot: BootId(id),
                variant: VariantId(id),
                round: 0,
                cell: CellId(1),
                iteration: 0,
                warmup: false,
                value,
            });
        }
        let verdict = verdict_of(samples, 0.01);
        assert_eq!(verdict.verdict, "unsupported");
        assert_eq!((verdict.ratio, verdict.variant_value), (None, None));
    }
}
