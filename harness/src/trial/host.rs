//! What the machine was when a trial began; stored with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::Result;
use crate::guest::Placement;
use crate::machine::hwloc;
use crate::machine::topology::Topology;
use crate::terminal::folded;
use crate::vm::Clock;

/// What of the machine a trial's figures may depend on, and what its report shows. What an earlier
/// ktrial did not store is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// What it is made of.
    pub topology: Topology,
    /// Where guests lay on it.
    pub placement: Placement,
    /// How it was set, by what; only where figures depend on it, which they don't in virtual time.
    pub settings: BTreeMap<String, String>,
}

impl Host {
    /// This machine now, for guests that lie on it like that.
    ///
    /// # Errors
    /// A host fault if it can't be read.
    pub fn now(placement: Placement, clock: Clock) -> Result<Host> {
        Ok(Host {
            topology: hwloc::here()?,
            placement,
            settings: BTreeMap::new(),
        })
    }

    /// What of it a reader of verdicts has to know, for the terminal; none if there is nothing.
    pub fn render(&self) -> String {
        let notes = self.placement.notes.iter();
        let lines: Vec<String> = notes
            .map(|note| folded(&format!("guests: {note}")) + "\n")
            .collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("\n{}", lines.concat()),
        }
    }

    /// What a trial stored; nothing where that can't be read.
    pub fn stored(json: &str) -> Host {
        serde_json::from_str(json).unwrap_or_default()
    }
}
