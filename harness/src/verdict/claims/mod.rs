//! What the author of a series claims, held against what its trial measured.
//!
//! A claimed change is `confirmed` where the change is decided in its direction and is as large as
//! claimed, within the interval, or larger; `confirmed in direction` where it is decided and
//! smaller; `contradicted` where it is decided otherwise: in the other direction, or as none while
//! the claim is of more than the margin. What is inconclusive is `not settled`. A figure that says
//! how large something is on the author's machine says nothing about this one.

mod judge;
mod text;

use ktrial_db::{Cell, CellId, Db, Machine, Trial, Verdict};
use ktrial_patches::catalogue::{Claim, ClaimClock, ClaimKind, ClaimTest};
use serde::Deserialize;

use super::outcome::parameters;
use crate::fault::{Fault, OrHost, Result};
use crate::machine::known::Match;

pub use text::{figures, render, tested_by};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The change is there, as large as claimed or larger.
    Confirmed,
    /// The change is there, and smaller than claimed.
    InDirection,
    /// It was decided otherwise.
    Contradicted,
    /// It was measured and is not decided.
    NotSettled,
    /// This trial can't say.
    NotTestable,
}

impl Answer {
    /// In words, as it is printed.
    pub fn words(self) -> &'static str {
        match self {
            Answer::Confirmed => "confirmed",
            Answer::InDirection => "confirmed in direction",
            Answer::Contradicted => "contradicted",
            Answer::NotSettled => "not settled",
            Answer::NotTestable => "not testable here",
        }
    }
}

/// A claim with what a trial says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldClaim {
    /// The author's own words for what was measured.
    pub claim: String,
    /// What became of it.
    pub answer: Answer,
    /// The claimed figure, the measured one with its interval and setting, or why there is none.
    pub sentence: String,
}

/// Holds the claims that were stored with a trial against its verdicts; none for a trial that
/// failed. A claim that is about several settings that were run is held against each.
///
/// # Errors
/// A host fault if the database can't be read or the stored plan is damaged.
pub fn held(
    db: &Db,
    trial: &Trial,
    cells: &[(CellId, Cell)],
    verdicts: &[Verdict],
) -> Result<Vec<HeldClaim>> {
    let plan: Stored = serde_json::from_str(&trial.plan_json)
        .or_host(|| format!("read the plan of trial {}", trial.id))?;
    if plan.claims.is_empty() || trial.failure.is_some() {
        return Ok(Vec::new());
    }
    let machine = db
        .machine(trial.machine)?
        .ok_or_else(|| Fault::host(format!("the machine of trial {} is gone", trial.id)))?;
    let host: StoredHost = serde_json::from_str(&trial.host_json)
        .or_host(|| format!("read what trial {} says of its machine", trial.id))?;
    let seen = Seen {
        trial,
        cells,
        verdicts,
        machine: &machine,
        known: host.known,
        guest_cpus: plan.shape.map_or(1, |shape| shape.cpus),
    };
    Ok(hold(&plan.claims, &seen))
}

/// Of a stored plan what claims are held by; one of an earlier ktrial has none.
#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    claims: Vec<Claim>,
    shape: Option<StoredShape>,
}

#[derive(Deserialize)]
struct StoredShape {
    cpus: u32,
}

/// Of what was stored of the machine; an earlier ktrial stored nothing.
#[derive(Deserialize)]
struct StoredHost {
    #[serde(default)]
    known: Vec<Match>,
}

/// What a trial saw, and where.
struct Seen<'a> {
    trial: &'a Trial,
    cells: &'a [(CellId, Cell)],
    verdicts: &'a [Verdict],
    machine: &'a Machine,
    /// The known machines that it is, or is like.
    known: Vec<Match>,
    guest_cpus: u32,
}

fn hold(claims: &[Claim], seen: &Seen) -> Vec<HeldClaim> {
    let held = claims.iter().flat_map(|claim| {
        let answers = match &claim.test {
            None => vec![(
                Answer::NotTestable,
                "no workload of ktrial measures it".to_owned(),
            )],
            Some(test) => seen.answers(claim, test),
        };
        answers.into_iter().map(|(answer, said)| HeldClaim {
            claim: claim.metric.clone(),
            answer,
            sentence: format!(
                "claimed {}{}; {said}",
                text::claimed(claim),
                text::of_machine(claim, seen.machine, &seen.known)
            ),
        })
    });
    held.collect()
}

impl Seen<'_> {
    fn answers(&self, claim: &Claim, test: &ClaimTest) -> Vec<(Answer, String)> {
        let not_testable = |why: String| vec![(Answer::NotTestable, why)];
        if test.kind == ClaimKind::Level {
            return not_testable(self.level(claim, test));
        }
        let hindrances = self.hindrances(test);
        if !hindrances.is_empty() {
            return not_testable(hindrances.join("; "));
        }
        let about: Vec<_> = self.about(test).collect();
        if about.is_empty() {
            return not_testable(format!("this trial did not run {}", text::setting(test)));
        }
        let judged = about.into_iter().map(|(cell, verdict)| {
            let (answer, said) = judge::change(claim, verdict);
            let place = text::place(cell, test);
            (answer, format!("{said} ({place})"))
        });
        judged.collect()
    }

    /// The results that a claim is about.
    fn about(&self, test: &ClaimTest) -> impl Iterator<Item = (&Cell, &Verdict)> {
        let named = |verdict: &&Verdict| {
            let mut variants = self.trial.variants.iter();
            variants.any(|v| v.id == verdict.variant && v.name == test.variant)
        };
        self.verdicts.iter().filter(named).filter_map(|verdict| {
            let (_, cell) = self.cells.iter().find(|(id, _)| *id == verdict.cell)?;
            let has = parameters(&cell.parameters);
            let mut wanted = test.parameters.iter();
            let is_meant = cell.workload == test.workload
                && cell.metric == test.metric
                && wanted.all(|(name, value)| has.get(name) == Some(value));
            is_meant.then_some((cell, verdict))
        })
    }

    /// Why this trial, on this machine, can't see what is claimed.
    fn hindrances(&self, test: &ClaimTest) -> Vec<String> {
        let mut why = Vec::new();
        let clock = self.trial.clock.as_str();
        if clock == "emulated" {
            why.push("emulated time is for looking only".to_owned());
        } else if let Some(wanted) = test.clock.filter(|wanted| wanted.to_string() != clock) {
            why.push(match wanted {
                ClaimClock::Real => format!(
                    "{clock} time counts instructions: it sees neither contention nor wall time"
                ),
                ClaimClock::Virtual => format!("{clock} time does not count instructions"),
            });
        }
        let wanted = test.cpus.unwrap_or(1);
        let (guest, host) = (self.guest_cpus, self.machine.cpus);
        if guest < wanted {
            why.push(format!(
                "it takes {wanted} CPUs, and the guests had {guest}"
            ));
        } else if host < wanted {
            why.push(format!(
                "it takes {wanted} CPUs, and this machine has {host}"
            ));
        }
        let mut variants = self.trial.variants.iter();
        if variants.any(|v| v.name == test.variant && v.left_out) {
            let name = &test.variant;
            why.push(format!("with this config {name} is the base to the bit"));
        }
        why
    }

    /// Why a level is not tested, and what the level is here.
    fn level(&self, claim: &Claim, test: &ClaimTest) -> String {
        let why = format!("a level is the machine's, there: {}", claim.machine);
        let here = self.about(test).find_map(|(cell, verdict)| {
            let (base, variant) = (verdict.base_value?, verdict.variant_value?);
            Some(text::level(cell, test, base, variant))
        });
        match here {
            Some(here) => format!("{why}; {here}"),
            None => why,
        }
    }
}

#[cfg(test)]
mod tests;
