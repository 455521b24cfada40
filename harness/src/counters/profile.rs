//! Where one job of one boot spent its instructions, an operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::instructions::Interval;

/// What it is called among what a boot leaves behind: a list of profiles, as JSON.
pub const ARTIFACT: &str = "profiles";

/// The iterations that count, taken together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The workload's name.
    pub workload: String,
    /// `fds=500000 touch=0`, sorted by name.
    pub parameters: String,
    /// Operations in these iterations, above 0.
    pub operations: u64,
    /// Instructions in user space.
    pub user: u64,
    /// Instructions by kernel function; `?` where none is known.
    pub functions: BTreeMap<String, u64>,
}

impl Profile {
    /// Of intervals, each with its operations. None where nothing was done.
    pub fn of<'a>(
        workload: &str,
        parameters: &str,
        iterations: impl Iterator<Item = (&'a Interval, u64)>,
    ) -> Option<Profile> {
        let mut profile = Profile {
            workload: workload.to_owned(),
            parameters: parameters.to_owned(),
            ..Profile::default()
        };
        for (interval, operations) in iterations {
            profile.operations = profile.operations.checked_add(operations)?;
            profile.user = profile.user.checked_add(interval.user)?;
            for (name, count) in &interval.functions {
                let sum = profile.functions.entry(name.clone()).or_insert(0);
                *sum = sum.checked_add(*count)?;
            }
        }
        (profile.operations > 0).then_some(profile)
    }

    /// Instructions of each kernel function, an operation.
    pub fn by_function(&self) -> impl Iterator<Item = (&str, f64)> {
        let operations = self.operations as f64;
        let functions = self.functions.iter();
        functions.map(move |(name, count)| (name.as_str(), *count as f64 / operations))
    }

    /// Instructions in user space, an operation.
    pub fn in_user(&self) -> f64 {
        self.user as f64 / self.operations as f64
    }
}
