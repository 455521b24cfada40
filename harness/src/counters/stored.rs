//! The profiles of a trial, as they are stored: variant against base, workload by workload.

use ktrial_db::{Db, Trial, VariantId};

use super::difference::{self, Line};
use super::observed;
use super::profile::{ARTIFACT, Profile};
use crate::fault::Result;

/// Where a variant's instructions went, against its base's, in one workload at one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The workload's name.
    pub workload: String,
    /// `fds=500000 touch=0`, sorted by name.
    pub parameters: String,
    /// The base's name.
    pub base: String,
    /// The variant's name.
    pub variant: String,
    /// Boots of the base, and of the variant.
    pub boots: (usize, usize),
    /// All together, and then what costs or saves most.
    pub lines: Vec<Line>,
}

/// All differences of a trial; none of one whose instructions were not counted.
///
/// # Errors
/// A host fault from the database.
pub fn differences(db: &Db, trial: &Trial) -> Result<Vec<Difference>> {
    let profiles = profiles(db, trial)?;
    let Some((base, variants)) = trial.variants.split_first() else {
        return Ok(Vec::new());
    };
    let mut settings: Vec<(&str, &str)> = Vec::new();
    for (_, profile) in &profiles {
        let setting = (profile.workload.as_str(), profile.parameters.as_str());
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let of = |variant: VariantId, setting: (&str, &str)| -> Vec<&Profile> {
        let is_it =
            |profile: &Profile| (profile.workload.as_str(), profile.parameters.as_str()) == setting;
        let mine = profiles
            .iter()
            .filter(|(id, profile)| *id == variant && is_it(profile));
        mine.map(|(_, profile)| profile).collect()
    };
    let mut differences = Vec::new();
    for variant in variants {
        for &setting in &settings {
            let sides = (of(base.id, setting), of(variant.id, setting));
            differences.push(Difference {
                workload: setting.0.to_owned(),
                parameters: setting.1.to_owned(),
                base: base.name.clone(),
                variant: variant.name.clone(),
                boots: (sides.0.len(), sides.1.len()),
                lines: difference::lines(&sides.0, &sides.1),
            });
        }
    }
    differences.retain(|difference| !difference.lines.is_empty());
    Ok(differences)
}

/// The profiles of the boots that count, each with its variant.
fn profiles(db: &Db, trial: &Trial) -> Result<Vec<(VariantId, Profile)>> {
    let mut all = Vec::new();
    for boot in db
        .boots(trial.id)?
        .iter()
        .filter(|boot| boot.outcome == "ok")
    {
        let Some(bytes) = db.artifact(boot.id, ARTIFACT)? else {
            continue;
        };
        // Only a later ktrial's profiles could not be read, and those say nothing here.
        let profiles: Vec<Profile> = serde_json::from_slice(&bytes).unwrap_or_default();
        let whole = profiles
            .into_iter()
            .filter(|profile| profile.operations > 0);
        all.extend(whole.map(|profile| (boot.variant, profile)));
    }
    Ok(all)
}

/// The first `most` lines of each.
pub fn render(differences: &[Difference], most: usize) -> String {
    differences
        .iter()
        .map(|difference| {
            let (base, variant) = difference.boots;
            format!(
                "\n{} against {}, {}: where instructions went ({base} and {variant} boots; ± is the \
                 standard error)\n{}",
                difference.variant,
                difference.base,
                observed::what(&difference.workload, &difference.parameters),
                difference::render(&difference.lines, most)
            )
        })
        .collect()
}
