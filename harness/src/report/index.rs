//! The front page: every trial in a line, the latest first.

use serde::Serialize;

use super::format;
use super::record::{Record, has_failed, is_good};
use super::verdict::{self, Badge, Headline, Tally};

/// What `index.html` shows.
#[derive(Debug, Serialize)]
pub(super) struct IndexPage {
    pub(super) trials: Vec<TrialLine>,
}

/// A trial in a line.
#[derive(Debug, Serialize)]
pub(super) struct TrialLine {
    id: i64,
    title: String,
    tree: String,
    machine: String,
    clock: String,
    boots_ok: usize,
    boots_failed: usize,
    variants: usize,
    /// The worst there is to say.
    badge: Badge,
    tallies: Vec<Tally>,
    headline: Headline,
    /// How many things more there are to say.
    more: usize,
    date: String,
}

impl TrialLine {
    /// Sums a trial up; none if there is nothing to say, which does not happen.
    pub(super) fn of(record: &Record) -> Option<TrialLine> {
        let mut headlines = verdict::headlines(record).into_iter();
        let headline = headlines.next()?;
        let tallies = verdict::tally(record);
        let good = record.boots.iter().filter(|boot| is_good(boot)).count();
        let worst = tallies.first().filter(|_| record.trial.failure.is_none());
        Some(TrialLine {
            id: record.number(),
            title: record.trial.title.clone(),
            tree: tree_name(record),
            machine: record.machine.hostname.clone(),
            clock: record.trial.clock.clone(),
            boots_ok: good,
            boots_failed: record.boots.iter().filter(|boot| has_failed(boot)).count(),
            variants: record.trial.variants.len(),
            badge: worst.map_or(headline.badge, |tally| tally.badge),
            tallies,
            headline,
            more: headlines.len(),
            date: format::when(record.trial.started_at),
        })
    }
}

/// `linux-6.1 (6.1.158)`, or the name alone where it ends in the version.
pub(super) fn tree_name(record: &Record) -> String {
    let (name, version) = (&record.tree.name, &record.tree.version);
    if version.is_empty() || name.ends_with(version.as_str()) {
        name.clone()
    } else {
        format!("{name} ({version})")
    }
}
