//! The commits that changed a place of a file again.

use std::collections::HashMap;

use git2::{Oid, Repository};

use super::entries::Entry;
use super::part::Part;
use super::turn::Way;
use crate::apply::shown_at;

/// The commits after `first` up to `tip` that changed what stands where the last hunk of
/// the part would fit best, newest first. `limit` commits are looked at; where `first` is
/// not met among them, none are given, as it is not known what came before it.
pub(super) fn after(
    repo: &Repository,
    tip: Oid,
    first: Oid,
    part: &Part,
    limit: usize,
) -> Result<Vec<Oid>, git2::Error> {
    let last = part.patches.last().and_then(|patch| patch.files.last());
    let Some(hunk) = last.and_then(|file| file.hunks.last()) else {
        return Ok(Vec::new());
    };
    let mut known: HashMap<Option<Entry>, Vec<String>> = HashMap::new();
    let mut shown = |file: Option<Entry>| -> Result<Vec<String>, git2::Error> {
        if let Some(lines) = known.get(&file) {
            return Ok(lines.clone());
        }
        let blob = file.and_then(|entry| repo.find_blob(entry.id).ok());
        let lines = blob.map_or_else(Vec::new, |blob| shown_at(blob.content(), hunk));
        known.insert(file, lines.clone());
        Ok(lines)
    };
    let mut found = Vec::new();
    let mut way = Way::new(repo, tip, &part.path)?;
    for _ in 0..limit {
        let Some(step) = way.next() else { break };
        if step.commit == first {
            return Ok(found);
        }
        let Some(change) = way.change(&step)? else {
            continue;
        };
        let now = shown(change.here)?;
        let mut changed = true;
        for file in change.before {
            changed &= shown(file)? != now;
        }
        if changed {
            found.push(step.commit);
        }
    }
    Ok(Vec::new())
}
