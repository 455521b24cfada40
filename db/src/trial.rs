//! Trials and their variants: what was set out to be done, and how it ended.

use rusqlite::{Connection, Row};

use crate::error::{Error, Result};
use crate::row::{self, Seed};
use crate::{Db, KernelId, MachineId, SeriesId, TreeId, TrialId, VariantId};

/// A trial that begins.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTrial {
    /// Hash of everything that decides the outcome: equal plans have equal keys,
    /// and one that was interrupted is found again by it.
    pub plan_key: String,
    /// Where it runs.
    pub machine: MachineId,
    /// What the series were applied to.
    pub tree: TreeId,
    /// One line for people.
    pub title: String,
    /// From which the order of variants and the seeds of boots are drawn.
    pub seed: u64,
    /// Boots of each variant that are wanted, at least 1.
    pub rounds: u32,
    /// Differences within this share of the base count as none: 0.02 is 2 %.
    /// Above 0, below 1.
    pub margin: f64,
    /// "virtual", "real" or "emulated".
    pub clock: String,
    /// "tcg" or "kvm".
    pub accelerator: String,
    /// The guest's shape, as JSON.
    pub shape_json: String,
    /// The whole plan, as JSON: enough to go on after a kill.
    pub plan_json: String,
    /// What the machine was when it began, as JSON.
    pub host_json: String,
    /// As it was typed.
    pub command_line: String,
    /// Version of ktrial that began it.
    pub ktrial_version: String,
    /// When it began.
    pub started_at: i64,
    /// What is compared, at least one, names and positions each once.
    pub variants: Vec<NewVariant>,
}

/// A variant of a trial that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVariant {
    /// "base", "patched", or what it was named.
    pub name: String,
    /// Its place in tables, from 0.
    pub position: u32,
    /// The series in it; the base has none.
    pub series: Option<SeriesId>,
    /// Its kernel; none when it could not be built.
    pub kernel: Option<KernelId>,
    /// Settings of its own, as JSON: kernel command line, flags of workloads.
    pub settings_json: String,
    /// How the series applied, as JSON: offsets, fuzz, mends.
    pub applied_json: String,
    /// It is not booted: its kernel is the base's to the bit and its settings are the base's.
    /// The base itself is, where nothing else is left to compare it with.
    pub left_out: bool,
}

/// A stored trial. Fields that are not described here are those of [`NewTrial`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Trial {
    pub id: TrialId,
    pub plan_key: String,
    pub machine: MachineId,
    pub tree: TreeId,
    pub title: String,
    pub seed: u64,
    pub rounds: u32,
    pub margin: f64,
    pub clock: String,
    pub accelerator: String,
    pub shape_json: String,
    pub plan_json: String,
    pub host_json: String,
    pub command_line: String,
    pub ktrial_version: String,
    pub started_at: i64,
    /// When it ended, if it did.
    pub finished_at: Option<i64>,
    /// "complete" or "failed"; none while it runs or was interrupted.
    pub outcome: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// In the order of their positions.
    pub variants: Vec<Variant>,
}

/// A stored variant. Fields that are not described here are those of [`NewVariant`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Variant {
    pub id: VariantId,
    pub name: String,
    pub position: u32,
    pub series: Option<SeriesId>,
    pub kernel: Option<KernelId>,
    pub settings_json: String,
    pub applied_json: String,
    pub left_out: bool,
}

/// One line of a list of trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialSummary {
    /// The trial.
    pub id: TrialId,
    /// Its title.
    pub title: String,
    /// Host name of its machine.
    pub hostname: String,
    /// Name of its tree.
    pub tree: String,
    /// Its clock: figures of two clocks are never compared.
    pub clock: String,
    /// Its accelerator.
    pub accelerator: String,
    /// When it began.
    pub started_at: i64,
    /// When it ended, if it did.
    pub finished_at: Option<i64>,
    /// "complete" or "failed"; none while it runs or was interrupted.
    pub outcome: Option<String>,
    /// Rounds wanted.
    pub rounds: u32,
    /// How many variants it compares.
    pub variants: u32,
    /// How many of them are not booted, see [`NewVariant::left_out`].
    pub left_out: u32,
    /// Boots that count.
    pub boots_ok: u32,
    /// Boots that don't.
    pub boots_failed: u32,
}

impl Db {
    /// Stores a trial with its variants.
    ///
    /// # Errors
    /// [`Error::Refused`] when a trial of this plan is unfinished (go on with that
    /// one, see [`Db::unfinished_trial`]), when a name or position comes twice, or
    /// when an id leads nowhere.
    pub fn begin_trial(&mut self, trial: &NewTrial) -> Result<TrialId> {
        if trial.variants.is_empty() {
            return Err(Error::Refused("a trial has at least one variant".into()));
        }
        let transaction = self.connection.transaction()?;
        insert_trial(&transaction, trial)?;
        let id = TrialId(transaction.last_insert_rowid());
        for variant in &trial.variants {
            insert_variant(&transaction, id, variant)?;
        }
        transaction.commit()?;
        Ok(id)
    }

    /// Adds a variant to a trial that has not ended.
    ///
    /// # Errors
    /// [`Error::Finished`]; [`Error::NoSuch`] when there is no such trial; [`Error::Refused`] when the
    /// name or the position is taken.
    pub fn add_variant(&mut self, id: TrialId, variant: &NewVariant) -> Result<()> {
        let transaction = self.connection.transaction()?;
        State::of(&transaction, id)?.require_open(id)?;
        insert_variant(&transaction, id, variant)?;
        transaction.commit()?;
        Ok(())
    }

    /// The trial of this plan that was begun and not finished, if there is one.
    pub fn unfinished_trial(&self, plan_key: &str) -> Result<Option<TrialId>> {
        let sql = "SELECT id FROM trial WHERE plan_key = ?1 AND outcome IS NULL";
        row::first(&self.connection, sql, [plan_key], |row| row.get(0))
    }

    /// The trial with this id.
    pub fn trial(&self, id: TrialId) -> Result<Option<Trial>> {
        let sql = "SELECT * FROM trial WHERE id = ?1";
        let Some(trial) = row::first(&self.connection, sql, [id], read_trial)? else {
            return Ok(None);
        };
        let sql = "SELECT * FROM variant WHERE trial = ?1 ORDER BY position";
        let variants = row::all(&self.connection, sql, [id], read_variant)?;
        Ok(Some(Trial { variants, ..trial }))
    }

    /// All trials, the latest first.
    pub fn trials(&self) -> Result<Vec<TrialSummary>> {
        let sql = "SELECT trial.*, machine.hostname, tree.name AS tree_name,
                (SELECT count(*) FROM variant WHERE trial = trial.id) AS variants,
                (SELECT count(*) FROM variant WHERE trial = trial.id AND left_out) AS left_out,
                (SELECT count(*) FROM boot WHERE trial = trial.id AND outcome = 'ok') AS boots_ok,
                (SELECT count(*) FROM boot WHERE trial = trial.id AND outcome <> 'ok')
                    AS boots_failed
            FROM trial
            JOIN machine ON machine.id = trial.machine
            JOIN tree ON tree.id = trial.tree
            ORDER BY trial.id DESC";
        row::all(&self.connection, sql, [], read_summary)
    }

    /// The trial that was begun last.
    pub fn latest_trial(&self) -> Result<Option<TrialId>> {
        let sql = "SELECT id FROM trial ORDER BY id DESC LIMIT 1";
        row::first(&self.connection, sql, [], |row| row.get(0))
    }

    /// Raises the rounds of a trial to `rounds` in all. One that was complete is
    /// unfinished again.
    ///
    /// # Errors
    /// [`Error::Shrinking`]; [`Error::Finished`] when the trial failed, for then
    /// more rounds don't help; [`Error::Refused`] when another trial of the same
    /// plan is unfinished.
    pub fn extend_trial(&mut self, id: TrialId, rounds: u32) -> Result<()> {
        let transaction = self.connection.transaction()?;
        let state = State::of(&transaction, id)?;
        if state.outcome.as_deref() == Some("failed") {
            return Err(Error::Finished(id.0));
        }
        if rounds < state.rounds {
            return Err(Error::Shrinking {
                have: state.rounds,
                want: rounds,
            });
        }
        if rounds > state.rounds {
            transaction.execute(
                "UPDATE trial SET rounds = ?2, finished_at = NULL, outcome = NULL WHERE id = ?1",
                (id, rounds),
            )?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Closes a trial, at `at`: `outcome` is "complete", or "failed" with the
    /// `failure` that says at which stage and why.
    ///
    /// # Errors
    /// [`Error::Finished`] when it was closed before; [`Error::Incomplete`] when it
    /// is called complete and a boot is missing.
    pub fn finish_trial(
        &mut self,
        id: TrialId,
        at: i64,
        outcome: &str,
        failure: Option<&str>,
    ) -> Result<()> {
        let transaction = self.connection.transaction()?;
        let state = State::of(&transaction, id)?;
        state.require_open(id)?;
        if outcome == "complete" {
            require_all_boots(&transaction, id, state.rounds)?;
        }
        transaction.execute(
            "UPDATE trial SET finished_at = ?2, outcome = ?3, failure = ?4 WHERE id = ?1",
            (id, at, outcome, failure),
        )?;
        transaction.commit()?;
        Ok(())
    }
}

/// What decides whether a trial takes another boot.
pub(crate) struct State {
    /// Rounds wanted.
    pub(crate) rounds: u32,
    outcome: Option<String>,
}

impl State {
    /// Reads it, inside the transaction that relies on it.
    pub(crate) fn of(db: &Connection, id: TrialId) -> Result<Self> {
        let sql = "SELECT rounds, outcome FROM trial WHERE id = ?1";
        let state = row::first(db, sql, [id], |row| {
            Ok(Self {
                rounds: row.get("rounds")?,
                outcome: row.get("outcome")?,
            })
        })?;
        state.ok_or(Error::NoSuch {
            what: "trial",
            id: id.0,
        })
    }

    /// Fails when the trial has ended.
    pub(crate) fn require_open(&self, id: TrialId) -> Result<()> {
        match self.outcome {
            None => Ok(()),
            Some(_) => Err(Error::Finished(id.0)),
        }
    }
}

fn require_all_boots(db: &Connection, trial: TrialId, rounds: u32) -> Result<()> {
    let sql = "SELECT (SELECT count(*) FROM boot WHERE trial = ?1 AND outcome = 'ok') AS have,
                      (SELECT count(*) FROM variant WHERE trial = ?1 AND NOT left_out) * ?2
                          AS want";
    let (have, want) = db.query_row(sql, (trial, rounds), |row| {
        Ok((row.get("have")?, row.get("want")?))
    })?;
    if have == want {
        Ok(())
    } else {
        Err(Error::Incomplete { have, want })
    }
}

fn insert_trial(db: &Connection, trial: &NewTrial) -> Result<()> {
    row::insert(
        db,
        "trial",
        &[
            ("plan_key", &trial.plan_key),
            ("machine", &trial.machine),
            ("tree", &trial.tree),
            ("title", &trial.title),
            ("seed", &Seed(trial.seed)),
            ("rounds", &trial.rounds),
            ("margin", &trial.margin),
            ("clock", &trial.clock),
            ("accelerator", &trial.accelerator),
            ("shape_json", &trial.shape_json),
            ("plan_json", &trial.plan_json),
            ("host_json", &trial.host_json),
            ("command_line", &trial.command_line),
            ("ktrial_version", &trial.ktrial_version),
            ("started_at", &trial.started_at),
        ],
    )
}

fn insert_variant(db: &Connection, trial: TrialId, variant: &NewVariant) -> Result<()> {
    row::insert(
        db,
        "variant",
        &[
            ("trial", &trial),
            ("position", &variant.position),
            ("name", &variant.name),
            ("series", &variant.series),
            ("kernel", &variant.kernel),
            ("settings_json", &variant.settings_json),
            ("applied_json", &variant.applied_json),
            ("left_out", &variant.left_out),
        ],
    )
}

fn read_trial(row: &Row) -> rusqlite::Result<Trial> {
    Ok(Trial {
        id: row.get("id")?,
        plan_key: row.get("plan_key")?,
        machine: row.get("machine")?,
        tree: row.get("tree")?,
        title: row.get("title")?,
        seed: row.get::<_, Seed>("seed")?.0,
        rounds: row.get("rounds")?,
        margin: row.get("margin")?,
        clock: row.get("clock")?,
        accelerator: row.get("accelerator")?,
        shape_json: row.get("shape_json")?,
        plan_json: row.get("plan_json")?,
        host_json: row.get("host_json")?,
        command_line: row.get("command_line")?,
        ktrial_version: row.get("ktrial_version")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        outcome: row.get("outcome")?,
        failure: row.get("failure")?,
        variants: Vec::new(),
    })
}

fn read_variant(row: &Row) -> rusqlite::Result<Variant> {
    Ok(Variant {
        id: row.get("id")?,
        name: row.get("name")?,
        position: row.get("position")?,
        series: row.get("series")?,
        kernel: row.get("kernel")?,
        settings_json: row.get("settings_json")?,
        applied_json: row.get("applied_json")?,
        left_out: row.get("left_out")?,
    })
}

fn read_summary(row: &Row) -> rusqlite::Result<TrialSummary> {
    Ok(TrialSummary {
        id: row.get("id")?,
        title: row.get("title")?,
        hostname: row.get("hostname")?,
        tree: row.get("tree_name")?,
        clock: row.get("clock")?,
        accelerator: row.get("accelerator")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        outcome: row.get("outcome")?,
        rounds: row.get("rounds")?,
        variants: row.get("variants")?,
        left_out: row.get("left_out")?,
        boots_ok: row.get("boots_ok")?,
        boots_failed: row.get("boots_failed")?,
    })
}
