//! Whether a series can be tried on a tree at hand.

use ktrial_patches::catalogue::{Fit, Series};

use crate::tree::{Tree, proper_name};

/// In some words: `applies to linux-source-6.1 6.1.192: exactly`, `src: needs a DragonFly tree`.
pub fn fit(tree: &Tree, series: &Series) -> String {
    let name = tree.title();
    match series.fits(tree.system, &tree.repository, tree.base) {
        Ok(Fit::Applies(how)) => format!("applies to {name}: {how}"),
        Ok(Fit::DoesNotApply(why)) => format!("{name}: does not apply: {why}"),
        Ok(Fit::NeedsHistory(why)) => format!("{name}: needs more history: {why}"),
        Ok(Fit::OtherSystem(system)) => format!("{name}: needs a {} tree", proper_name(system)),
        Err(error) => format!("{name}: can't be read: {}", error.message()),
    }
}
