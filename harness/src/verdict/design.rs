//! What was decided about a trial's verdicts before it began.

use std::collections::BTreeMap;

use ktrial_db::Trial;
use serde::Deserialize;

use super::looks::Looks;
use crate::fault::{OrHost, Result};

/// The margin of a trial that says nothing of one.
pub const MARGIN: f64 = 0.01;

/// When a trial is looked at, and which differences count as none.
#[derive(Debug, Clone)]
pub struct Design {
    /// After how many rounds it is judged.
    pub(super) looks: Looks,
    margin: f64,
    margins: BTreeMap<String, f64>,
}

impl Design {
    /// As it was planned; a trial that says nothing of looks is judged once, at its end.
    ///
    /// # Errors
    /// A host fault if the stored plan is none.
    pub fn of(trial: &Trial) -> Result<Design> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Planned {
            looks: Option<Vec<u32>>,
            margins: BTreeMap<String, f64>,
        }
        let planned: Planned = serde_json::from_str(&trial.plan_json)
            .or_host(|| format!("read the plan of trial {}", trial.id))?;
        let looks = planned.looks.unwrap_or_else(|| vec![trial.rounds]);
        Ok(Design {
            looks: Looks::new(&looks),
            margin: trial.margin,
            margins: planned.margins,
        })
    }

    /// The share of itself within which a difference of this metric counts as none, between 0 and 1.
    pub fn margin(&self, metric: &str) -> f64 {
        self.margins.get(metric).copied().unwrap_or(self.margin)
    }
}
