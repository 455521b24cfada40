//! A trial's verdicts for the terminal, and its exit code.

use ktrial_db::{Cell, CellId, Db, Trial, TrialId, Verdict};

use crate::counters::stored::{self, Difference};
use crate::fault::{At, Fault, Result};
use crate::trial::host::Host;
use crate::verdict::spread::{self, Spread};
use crate::verdict::{self, claims, identical, outcome, remarks, text};

/// Under a verdict, so many functions are named; `ktrial profile` names more.
const FUNCTIONS: usize = 5;

/// A trial with its verdicts, computed and stored anew.
pub(super) struct Judged {
    pub trial: Trial,
    pub cells: Vec<(CellId, Cell)>,
    pub verdicts: Vec<Verdict>,
    /// What is said of variants that were not booted.
    left_out: String,
    /// The claims of the series, held against the verdicts.
    claims: Vec<claims::HeldClaim>,
    /// What is to be said of its boots as such.
    remarks: String,
    /// How far boots lie apart, if instructions were counted.
    spreads: Vec<Spread>,
    /// Where instructions went, if they were counted.
    differences: Vec<Difference>,
    /// Whether kernels were watched too.
    was_watched: bool,
}

impl Judged {
    pub(super) fn of(db: &mut Db, id: TrialId) -> Result<Judged> {
        let verdicts = verdict::judge(db, id)?;
        let trial = db.trial(id)?;
        let trial = trial.ok_or_else(|| Fault::user(format!("there is no trial {id}")))?;
        let cells = db.cells(id)?;
        let name = |of| trial.variants.iter().find(|variant| variant.id == of);
        let name = |of| name(of).map_or("?", |variant| variant.name.as_str());
        Ok(Judged {
            remarks: remarks::render(&db.boots(id)?, name),
            left_out: identical::render(db, &trial)?,
            claims: claims::held(db, &trial, &cells, &verdicts)?,
            spreads: spread::spreads(&trial, &cells, &db.samples(id)?),
            differences: stored::differences(db, &trial)?,
            was_watched: !db.observations(id)?.is_empty(),
            trial,
            cells,
            verdicts,
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = match identical::is_all_left_out(&self.trial) {
            true => format!("trial {}: {}\n", self.trial.id, self.trial.title),
            false => {
                let booted = identical::booted(&self.trial);
                text::render(&booted, &self.cells, &self.verdicts)
            }
        };
        text.push_str(&Host::stored(&self.trial.host_json).render());
        text.push_str(&self.remarks);
        text.push_str(&spread::render(&self.spreads));
        text.push_str(&stored::render(&self.differences, FUNCTIONS));
        if self.was_watched {
            let id = self.trial.id;
            text += &format!("\nwhat the watched boots saw: ktrial profile {id}, and the report\n");
        }
        text.push_str(&self.left_out);
        text.push_str(&claims::render(&self.claims));
        text
    }

    /// The code of what stopped a trial that failed, else that of its verdicts.
    pub(super) fn exit_code(&self) -> u8 {
        match &self.trial.failure {
            Some(failure) => At::named_in(failure).unwrap_or(At::Kernel).exit_code(),
            None if identical::is_all_left_out(&self.trial) => outcome::FINE,
            None => outcome::exit_code(&self.cells, &self.verdicts),
        }
    }
}
