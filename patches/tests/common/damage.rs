//! Patches whose blanks were lost, and what came of them.

use ktrial_patches::apply::AppliedFile;

use super::{Lab, file};

/// The diff of `f`, each line of its hunks changed by `damage`, mark and all.
pub fn damaged(before: &str, after: &str, damage: impl Fn(&str) -> String) -> String {
    damaged_file("f", before, after, damage)
}

/// The same of another file, one that is made where it was empty.
pub fn damaged_file(
    name: &str,
    before: &str,
    after: &str,
    damage: impl Fn(&str) -> String,
) -> String {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let mut diff = git2::Patch::from_buffers(old, None, new, None, None).unwrap();
    let text = String::from_utf8(diff.to_buf().unwrap().to_vec()).unwrap();
    let hunks = text[text.find("@@").unwrap()..].lines();
    let hunks = hunks.map(|line| match line.starts_with("@@") {
        true => format!("{line}\n"),
        false => format!("{}\n", damage(line)),
    });
    let old = match before {
        "" => "/dev/null".to_owned(),
        _ => format!("a/{name}"),
    };
    format!("--- {old}\n+++ b/{name}\n{}", hunks.collect::<String>())
}

/// What becomes of `f`.
pub fn applied(before: &str, patch: &str) -> (String, AppliedFile) {
    let lab = Lab::new();
    let mut applied = lab
        .try_patch(&[file("f", before)], patch)
        .unwrap_or_else(|error| panic!("{error}\n{patch}"));
    let text = String::from_utf8(lab.content(applied.tree, "f")).unwrap();
    (text, applied.patches.remove(0).files.remove(0))
}

/// The lines of the patched file that the mends say to have been changed.
pub fn rewritten(file: &AppliedFile) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    for mend in &file.mends {
        if let Some(rewrite) = &mend.added {
            let now = std::str::from_utf8(&rewrite.now).unwrap();
            lines.push((mend.line, now.trim_end()));
        }
    }
    lines
}
