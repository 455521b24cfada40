//! The machine on a trial's page: its picture, what on it makes noise, and where guests lay.

use serde::Serialize;

use super::machine::machine_svg;
use super::record::Record;
use super::site::Extra;
use crate::machine::audit::{Finding, State};
use crate::machine::text;
use crate::machine::topology::Topology;
use crate::trial::host::Host;

/// What the page shows.
#[derive(Debug, Serialize)]
pub(super) struct HostSection {
    /// Who it is and what it is made of, a line for each thing.
    text: String,
    /// The file of its picture.
    picture: Option<String>,
    /// Where guests lay, and what was not to be had.
    notes: Vec<String>,
    /// `the kernel of base has CONFIG_KASAN: …`.
    swamping: Vec<String>,
    /// Whether figures depend on any of the rest.
    matters: bool,
    noisy: usize,
    findings: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    word: &'static str,
    is_noisy: bool,
    found: String,
    effect: String,
    mend: Option<String>,
}

/// What was stored of the machine with the trial, and its picture; none of a trial of an earlier
/// ktrial.
pub(super) fn section(record: &Record) -> (Option<HostSection>, Vec<Extra>) {
    let host = Host::stored(&record.trial.host_json);
    if host.topology == Topology::default() {
        return (None, Vec::new());
    }
    let name = format!("trial-{}-machine.svg", record.number());
    // A machine with more parts than a picture shows has a text.
    let picture = machine_svg(&host.topology, &record.machine.hostname).ok();
    let extras: Vec<Extra> = picture
        .map(|svg| Extra {
            name: name.clone(),
            bytes: svg.into_bytes(),
        })
        .into_iter()
        .collect();
    let mut findings: Vec<&Finding> = host.audit.findings.iter().collect();
    findings.sort_by_key(|finding| finding.state != State::Noisy);
    let section = HostSection {
        text: text::render(&host.topology, Some(&host.identity), &host.known),
        picture: extras.first().map(|_| name),
        swamping: host.options_that_swamp().collect(),
        matters: !host.settings.is_empty(),
        noisy: host.audit.noisy().count(),
        findings: findings.into_iter().map(row).collect(),
        notes: host.placement.notes,
    };
    (Some(section), extras)
}

fn row(finding: &Finding) -> Row {
    Row {
        name: finding.name.clone(),
        word: match finding.state {
            State::Quiet => "quiet",
            State::Noisy => "noisy",
            State::Unknown => "unknown",
            State::Absent => "absent",
        },
        is_noisy: finding.state == State::Noisy,
        found: finding.found.clone(),
        effect: finding.effect.clone(),
        mend: finding.mend.clone(),
    }
}
