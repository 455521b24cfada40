//! Verdicts, computed from stored samples: what a variant does against the base, cell by cell.
//!
//! The boot is the unit: the iterations of a boot are reduced to one level ([`boots`]), and
//! estimate, interval and test are taken over boots, on logarithms, so that a ratio and its inverse
//! weigh the same ([`contrast`], with [`noise`], [`ranks`] and [`student`]). A trial may be looked
//! at many times ([`looks`]) and has many cells ([`adjust`]); both are paid for. `bench/verdicts`
//! holds all that against ministat, benchstat, LKP and MMTests; docs/statistics.md explains it.

pub mod adjust;
pub mod boots;
pub mod claims;
pub mod contrast;
pub mod course;
pub mod curve;
pub mod decide;
pub mod design;
pub mod figures;
mod group;
pub mod identical;
pub mod looks;
mod lookup;
pub mod median;
pub mod modes;
pub mod noise;
pub mod oddities;
pub mod outcome;
pub mod ranks;
pub mod remarks;
pub mod selftest;
pub mod spread;
pub mod student;
pub mod text;

use std::collections::BTreeSet;

use ktrial_db::{Cell, CellId, Db, Sample, Trial, TrialId, VariantId, Verdict};

use crate::counters;
use crate::fault::{Fault, Result};
use crate::timestamp::unix_ms;
use course::{Course, Silence};
use decide::Answer;
use design::Design;
use group::Group;
use oddities::Note;

/// Named in the database.
const METHOD: &str = "fit of shift, trend and noise over boots, backed by exact ranks; alpha spending; BH over cells; 2";

/// Computes the verdicts of a trial from its stored samples and stores them.
///
/// # Errors
/// A user fault if there is no such trial; a host fault from the database.
pub fn judge(db: &mut Db, id: TrialId) -> Result<Vec<Verdict>> {
    let trial = trial(db, id)?;
    let cells = db.cells(id)?;
    let samples = db.samples(id)?;
    let design = Design::of(&trial)?;
    let now = unix_ms();
    let verdicts: Vec<Verdict> = findings(&trial, &cells, &samples, &design)
        .iter()
        .map(|finding| finding.verdict(&trial, now))
        .collect();
    db.replace_verdicts(id, &verdicts)?;
    Ok(verdicts)
}

/// The settings of workloads that are not settled after the first `rounds` rounds: a primary cell of
/// them is open for one of the variants, and more rounds are of use.
///
/// # Errors
/// A user fault if there is no such trial; a host fault from the database.
pub fn unsettled(db: &Db, id: TrialId, rounds: u32) -> Result<BTreeSet<Setting>> {
    let trial = trial(db, id)?;
    let cells = db.cells(id)?;
    let mut samples = db.samples(id)?;
    samples.retain(|sample| sample.round < rounds);
    let design = Design::of(&trial)?;
    let open = findings(&trial, &cells, &samples, &design)
        .into_iter()
        .filter(|finding| finding.cell.primary && finding.answer.open)
        .map(|finding| Setting::of(finding.cell));
    Ok(open.collect())
}

/// A workload with its parameters, as cells name them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// The workload's name.
    pub workload: String,
    /// `fds=500000 touch=0`, sorted by name.
    pub parameters: String,
}

impl Setting {
    fn of(cell: &Cell) -> Setting {
        Setting {
            workload: cell.workload.clone(),
            parameters: cell.parameters.clone(),
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.workload)?;
        // A flag that is off says nothing.
        let parameters = self.parameters.split(' ').filter(|pair| !pair.is_empty());
        for pair in parameters.filter(|pair| !pair.ends_with("=false")) {
            write!(f, " {pair}")?;
        }
        Ok(())
    }
}

fn trial(db: &Db, id: TrialId) -> Result<Trial> {
    db.trial(id)?.ok_or_else(|| {
        Fault::user(format!("there is no trial {id}"))
            .next("`ktrial verdict --list` shows those there are")
    })
}

/// One cell of one variant, judged.
struct Finding<'a> {
    variant: VariantId,
    baseline: VariantId,
    cell_id: CellId,
    cell: &'a Cell,
    margin: f64,
    base: Group,
    boots: Group,
    course: std::result::Result<Course, Silence>,
    p_adjusted: Option<f64>,
    answer: Answer,
}

fn findings<'a>(
    trial: &Trial,
    cells: &'a [(CellId, Cell)],
    samples: &[Sample],
    design: &Design,
) -> Vec<Finding<'a>> {
    let Some((base, variants)) = trial.variants.split_first() else {
        return Vec::new();
    };
    let looks = &design.looks;
    let (mut groups, mut compared) = (Vec::new(), Vec::new());
    for variant in variants {
        for (cell_id, cell) in cells {
            let [base_boots, boots] = [base, variant].map(|of| Group::of(samples, of.id, *cell_id));
            // A metric that only one of the two owes, or a trial that has just begun.
            if base_boots.is_empty() || boots.is_empty() {
                continue;
            }
            compared.push(course::compare(&base_boots, &boots, looks));
            groups.push((variant.id, *cell_id, cell, base_boots, boots));
        }
    }
    let modes = course::modes_by_look(compared.iter().flatten(), looks);
    let courses: Vec<std::result::Result<Course, Silence>> = compared
        .into_iter()
        .zip(&groups)
        .map(|(of, (_, _, cell, ..))| {
            let margin = design.margin(&cell.metric).ln_1p();
            Course::of(of?, &modes, looks, margin).ok_or(Silence::TooFew)
        })
        .collect();
    let mut p: Vec<Option<f64>> = courses
        .iter()
        .map(|course| course.as_ref().ok().map(|course| course.p))
        .collect();
    // Sources that count by the dozen must not make the rates' verdicts harder.
    let sources: Vec<Option<&str>> = groups
        .iter()
        .map(|(_, _, cell, ..)| counters::source(&cell.metric))
        .collect();
    adjust::by_family(&mut p, &sources);
    let judged = groups.into_iter().zip(courses).zip(p);
    judged
        .map(
            |(((variant, cell_id, cell, base_boots, boots), course), p)| {
                let margin = design.margin(&cell.metric);
                let answer = match &course {
                    Ok(course) => {
                        let higher = cell.better == "higher";
                        let p = p.unwrap_or(1.0);
                        decide::decide(course, looks, p, margin.ln_1p(), higher)
                    }
                    Err(silence) => decide::silent(silence),
                };
                Finding {
                    variant,
                    baseline: base.id,
                    cell_id,
                    cell,
                    margin,
                    base: base_boots,
                    boots,
                    course,
                    p_adjusted: p,
                    answer,
                }
            },
        )
        .collect()
}

impl Finding<'_> {
    /// What is odd about the data that it rests on, and about those that came after.
    fn notes(&self, trial: &Trial) -> Vec<Note> {
        let name = |of: VariantId| {
            let variant = trial.variants.iter().find(|variant| variant.id == of);
            variant.map_or("", |variant| &variant.name)
        };
        oddities::notes(
            self.base.side(name(self.baseline)),
            self.boots.side(name(self.variant)),
            self.margin,
        )
    }

    fn verdict(&self, trial: &Trial, now: i64) -> Verdict {
        let course = self.course.as_ref().ok();
        // Before the first look there is an estimate, and nothing to be sure of.
        let looked = course.filter(|course| course.look.is_some());
        let boots = course.map_or_else(
            || {
                (
                    self.base.rounds.len() as u32,
                    self.boots.rounds.len() as u32,
                )
            },
            |course| course.boots,
        );
        Verdict {
            variant: self.variant,
            baseline: self.baseline,
            cell: self.cell_id,
            verdict: self.answer.word.into(),
            ratio: course.map(|course| course.contrast.estimate().exp()),
            low: self.answer.interval.map(|(low, _)| low.exp()),
            high: self.answer.interval.map(|(_, high)| high.exp()),
            level: course::LEVEL,
            p_value: looked.map(|course| course.p),
            p_adjusted: looked.and(self.p_adjusted),
            boots_base: boots.0,
            boots_variant: boots.1,
            base_value: self.base.middle(),
            variant_value: self.boots.middle(),
            margin: self.margin,
            rounds_needed: self.answer.rounds_needed,
            method: METHOD.into(),
            reason: self.answer.reason.clone(),
            notes_json: serde_json::to_string(&self.notes(trial)).unwrap_or_else(|_| "[]".into()),
            computed_at: now,
        }
    }
}

#[cfg(test)]
mod tests;
