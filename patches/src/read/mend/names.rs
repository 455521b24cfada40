//! How mends name files: as people know them, without git's `a/` and `b/`.

use std::collections::HashMap;

use crate::{FilePatch, Mend};

/// Mends whose files are named without what the patch itself says to strip.
pub(super) fn as_in(files: &[FilePatch], mut mends: Vec<Mend>) -> Vec<Mend> {
    let named = mends.iter_mut().filter_map(|mend| mend.path.as_mut());
    let mut named = named.peekable();
    if named.peek().is_none() {
        return mends;
    }
    let mut strips: HashMap<&str, usize> = HashMap::new();
    for file in files {
        let names = [&file.old, &file.new].into_iter().flatten();
        strips.extend(names.map(|name| (name.as_str(), file.strip.unwrap_or(0))));
    }
    for name in named {
        let strip = strips.get(name.as_str()).copied().unwrap_or(0);
        if let Some(bare) = name.splitn(strip + 1, '/').nth(strip) {
            *name = bare.to_owned();
        }
    }
    mends
}
