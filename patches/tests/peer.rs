//! Hunks land where GNU `patch` puts them, on files that are not the ones the
//! patch was made from. Run with `cargo test -p ktrial-patches --test peer -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::process::Command;

use common::Lab;
use git2::{DiffOptions, Patch};
use ktrial_patches::apply::{AppliedHunk, ApplyError, Rung, apply};
use ktrial_patches::read::read;
use proptest::prelude::*;

/// Lines that are mostly different, as in source files, with a few that repeat.
/// None is without a letter: context of braces alone is no place for ktrial.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![6 => "[a-z]{2}", 1 => Just("x".to_owned()), 1 => Just("y".to_owned())];
    proptest::collection::vec(line, 8..60)
}

type Edits = Vec<(prop::sample::Index, usize, Vec<String>)>;

fn edits() -> impl Strategy<Value = Edits> {
    let added = proptest::collection::vec("[A-Z]{2}", 0..3);
    proptest::collection::vec((any::<prop::sample::Index>(), 0..3usize, added), 1..4)
}

fn edited(lines: &[String], edits: &Edits) -> Vec<String> {
    let mut lines = lines.to_vec();
    for (at, removed, added) in edits {
        let at = at.index(lines.len() + 1);
        let end = (at + removed).min(lines.len());
        lines.splice(at..end, added.clone());
    }
    lines
}

fn text(lines: &[String]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}

/// What `patch` makes of it: the file, and where each hunk landed.
fn by_patch(content: &[u8], patch: &[u8]) -> Option<(Vec<u8>, Vec<AppliedHunk>)> {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("f"), content).unwrap();
    std::fs::write(folder.path().join("p"), patch).unwrap();
    let mut command = Command::new("patch");
    command.current_dir(folder.path()).env("LC_ALL", "C");
    let output = command
        .args(["-p1", "--verbose", "-f", "-i", "p"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let number = |line: &str, after: &str| {
        let rest = line.split_once(after)?.1;
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(rest.len());
        rest[..end].parse::<i64>().ok()
    };
    let hunks = said.lines().filter(|line| line.contains(" succeeded at "));
    let hunks = hunks.map(|line| {
        let offset = number(line, "(offset ").unwrap_or(0);
        let fuzz = number(line, "with fuzz ").unwrap_or(0) as u32;
        AppliedHunk {
            line: number(line, " succeeded at ").unwrap() as usize,
            offset,
            fuzz,
            rung: match (offset, fuzz) {
                (0, 0) => Rung::Exact,
                (_, 0) => Rung::Offset,
                _ => Rung::Fuzz,
            },
        }
    });
    let hunks = hunks.collect();
    output
        .status
        .success()
        .then(|| (std::fs::read(folder.path().join("f")).unwrap(), hunks))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "needs GNU patch, takes a minute"]
    fn hunks_land_where_gnu_patch_puts_them(base in lines(), ours in edits(), theirs in edits()) {
        let (before, after) = (text(&base), text(&edited(&base, &ours)));
        let other = text(&edited(&base, &theirs));
        prop_assume!(before != after && !after.is_empty() && !other.is_empty());
        let path = std::path::Path::new("f");
        let mut options = DiffOptions::new();
        options.force_text(true);
        let patch =
            Patch::from_buffers(&before, Some(path), &after, Some(path), Some(&mut options));
        let patch = patch.unwrap().to_buf().unwrap().to_vec();
        let lab = Lab::new();
        let base = lab.commit(&[("f", 0o100644, &other), ("g", 0o100644, b"x\n")]);
        let result = apply(&lab.repo, base, &read("p", &patch).unwrap().patches);
        match (result, by_patch(&other, &patch)) {
            (Ok(applied), Some((content, hunks))) => {
                let (patch, other) = (String::from_utf8_lossy(&patch), String::from_utf8_lossy(&other));
                let ours = &applied.patches[0].files[0].hunks;
                prop_assert_eq!(ours, &hunks, "{}\n{}", patch, other);
                prop_assert_eq!(lab.content(applied.tree, "f"), content);
            }
            (Ok(applied), None) => {
                let (patch, other) = (String::from_utf8_lossy(&patch), String::from_utf8_lossy(&other));
                prop_assert!(false, "patch refuses: {applied:?}\n{patch}\n{other}");
            }
            // ktrial is the stricter one, in these ways only.
            (Err(ApplyError::HunkFailed(failed)), Some((_, hunks))) => {
                let (patch, other) = (String::from_utf8_lossy(&patch), String::from_utf8_lossy(&other));
                prop_assert!(false, "patch applies: {failed}\n{hunks:?}\n{patch}\n{other}");
            }
            (Err(_), _) => {}
        }
    }
}
