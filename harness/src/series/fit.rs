//! Whether a series can be tried on a tree at hand.

use ktrial_patches::apply::apply;
use ktrial_patches::catalogue::{Series, SeriesError};
use ktrial_patches::history::ResolveError;

use crate::tree::{Tree, proper_name};

/// In some words: `applies to linux-source-6.1`, `needs a DragonFly tree`.
pub fn fit(tree: &Tree, series: &Series) -> String {
    let (name, kind) = (tree.title(), series.system.map(proper_name));
    match (series.system, tree.system) {
        (Some(wanted), found) if found != Some(wanted) => {
            return format!("{name}: needs a {} tree", kind.unwrap_or_default());
        }
        _ => {}
    }
    let patches = match series.patches(&tree.repository, tree.base) {
        Ok(patches) => patches,
        Err(SeriesError::Resolve(ResolveError::NotFound { what, .. })) => {
            return format!("{name}: needs a history that has {what}");
        }
        Err(error) => return format!("{name}: {error}"),
    };
    match apply(&tree.repository, tree.base, &patches) {
        Ok(_) => format!("applies to {name}"),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("{name}: does not apply: {first}")
        }
    }
}
