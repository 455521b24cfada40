//! Context diffs, as GNU diff prints them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, file, numbers};
use ktrial_patches::read::{ReadError, read};
use ktrial_patches::{Change, FilePatch};

fn files(text: &str) -> Vec<FilePatch> {
    let mut patches = read("p", text.as_bytes()).unwrap().patches;
    assert_eq!(patches.len(), 1);
    patches.remove(0).files
}

fn refused(text: &str) -> ReadError {
    read("p", text.as_bytes()).unwrap_err()
}

/// What `diff -c` (diffutils 3.8) printed for `seq 1 12` and its variants; the
/// file it was made for is what comes out.
#[test]
fn context_diffs() {
    let all = numbers(12);
    let both = all.replace("\n5\n", "\n").replace("\n8\n", "\n8\nnew\n");
    let cases = [
        (
            all.clone(),
            both,
            "*** 2,11 ****\n  2\n  3\n  4\n- 5\n  6\n  7\n  8\n  9\n  10\n  11\n--- 2,11 ----\n  2\n  \
             3\n  4\n  6\n  7\n  8\n+ new\n  9\n  10\n  11\n",
        ),
        // One side without a change is left out.
        (
            all.clone(),
            format!("zero\n{all}"),
            "*** 1,3 ****\n--- 1,4 ----\n+ zero\n  1\n  2\n  3\n",
        ),
        (
            all.clone(),
            all.replace("3\n", ""),
            "*** 1,6 ****\n  1\n  2\n- 3\n  4\n  5\n  6\n--- 1,5 ----\n",
        ),
        (
            "1\n2".to_owned(),
            "1\n2\n".to_owned(),
            "*** 1,2 ****\n  1\n! 2\n\\ No newline at end of file\n--- 1,2 ----\n  1\n! 2\n",
        ),
        // `-C0`: one number is one line where there is one, or the place behind it.
        (
            all.clone(),
            all.replace("3\n", ""),
            "*** 3 ****\n- 3\n--- 2 ----\n",
        ),
        // An empty context line that lost its blanks on the way.
        (
            "1\n\n3\n".to_owned(),
            "1\n\nthree\n".to_owned(),
            "*** 1,3 ****\n  1\n\n! 3\n--- 1,3 ----\n  1\n\n! three\n",
        ),
    ];
    for (before, after, hunk) in cases {
        let lab = Lab::new();
        let patch = format!(
            "*** a/f\t2026-11-30 15:45:54.977575963 +0000\n--- b/f\t2026-11-30 15:45:54.989093309 \
             +0000\n*************** main(void)\n{hunk}"
        );
        let applied = lab.try_patch(&[file("f", &before)], &patch);
        let applied = applied.unwrap_or_else(|error| panic!("{hunk}: {error}"));
        let content = String::from_utf8(lab.content(applied.tree, "f")).unwrap();
        assert_eq!(content, after, "{hunk}");
        let reading = &files(&patch)[0].hunks[0];
        assert_eq!(reading.heading, "main(void)");
    }
}

/// Any change of any small file, as the `diff` at hand prints it.
#[test]
#[ignore = "runs GNU diff a thousand times"]
fn context_diffs_of_gnu_diff() {
    use rand_lines::pair;
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    for seed in 0..1000 {
        let (before, after) = pair(seed);
        if before == after || before.is_empty() {
            continue;
        }
        std::fs::write(path("f"), &before).unwrap();
        std::fs::write(path("g"), &after).unwrap();
        let context = format!("-C{}", 1 + seed % 4);
        let mut diff = std::process::Command::new("diff");
        let diff = diff
            .current_dir(folder.path())
            .args([&context, "f", "g"])
            .output()
            .unwrap();
        let patch = String::from_utf8(diff.stdout).unwrap();
        let lab = Lab::new();
        let applied = lab.try_patch(&[file("f", &before), file("x", "")], &patch);
        let applied = applied.unwrap_or_else(|error| panic!("{seed}: {error}\n{patch}"));
        let content = String::from_utf8(lab.content(applied.tree, "f")).unwrap();
        assert_eq!(content, after, "{seed}\n{patch}");
    }
}

/// Files of few different lines, by a generator that is the same everywhere.
mod rand_lines {
    fn next(state: &mut u64) -> usize {
        // Knuth's multiplier, as in MMIX.
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*state >> 33) as usize
    }

    pub fn pair(seed: u64) -> (String, String) {
        let state = &mut (seed + 1);
        let line = |state: &mut u64| ["a", "b", "! c", "- d", "", "*** 1 ****"][next(state) % 6];
        let mut before: Vec<&str> = (0..next(state) % 30).map(|_| line(state)).collect();
        let mut after = before.clone();
        for _ in 0..1 + next(state) % 4 {
            let at = next(state) % (after.len() + 1);
            let end = (at + next(state) % 3).min(after.len());
            let added: Vec<&str> = (0..next(state) % 3).map(|_| line(state)).collect();
            after.splice(at..end, added);
        }
        let newline = |state: &mut u64, lines: &mut Vec<&str>| {
            if !next(state).is_multiple_of(3) && !lines.is_empty() {
                lines.push("");
            }
            lines.join("\n")
        };
        (newline(state, &mut before), newline(state, &mut after))
    }
}

/// The same change as `diff -u` and as `diff -c` printed it is the same hunk.
#[test]
fn a_context_diff_is_the_hunk_of_the_unified_one() {
    let unified = "--- f\n+++ g\n@@ -1,5 +1,5 @@\n 1\n-2\n-3\n+two\n 4\n+x\n 5\n";
    let context = "*** f\n--- g\n***************\n*** 1,5 ****\n  1\n! 2\n! 3\n  4\n  5\n\
        --- 1,5 ----\n  1\n! two\n  4\n+ x\n  5\n";
    let after = |text: &str| files(text)[0].hunks.clone();
    assert_eq!(after(context), after(unified));
}

#[test]
fn context_diffs_make_and_remove_files() {
    let made = "diff -cN a/f b/f\n*** a/f\tThu Jan  1 00:00:00 1970\n--- b/f\tMon Nov 30 15:45:55 \
        2026\n***************\n*** 0 ****\n--- 1,2 ----\n+ 1\n+ 2\n";
    let file = &files(made)[0];
    assert_eq!((file.change, file.old.as_deref()), (Change::Create, None));
    let gone = "*** a/f\tMon Nov 30 15:45:55 2026\n--- /dev/null\tThu Jan  1 00:00:00 1970\n\
        ***************\n*** 1 ****\n- 1\n--- 0 ----\n";
    let file = &files(gone)[0];
    assert_eq!((file.change, file.new.as_deref()), (Change::Delete, None));
    // In a mail, the description ends where the diff begins.
    let mail = format!("From: A <a@example.org>\nSubject: s\n\n*** Really.\n\n{gone}-- \nA\n");
    let patch = read("p", mail.as_bytes()).unwrap().patches.remove(0);
    assert_eq!(patch.header.message, "*** Really.");
    assert_eq!(patch.files.len(), 1);
}

#[test]
fn a_damaged_context_diff_is_refused() {
    let head = "*** f\n--- f\n***************\n";
    let cases = [
        (
            "*** 1,3 ****\n  1\n! 2\n",
            "p:7: the hunk announces 3 lines before",
        ),
        (
            "*** 1,2 ****\n  1\n! 2\n--- 1,2 ----\n  1\n! two\n! three\n",
            "p:10: the hunk announces fewer lines",
        ),
        (
            "*** 1,2 ****\n  1\n! 2\n--- 1,2 ----\n  one\n! two\n",
            "p:10: expected the same context lines",
        ),
        (
            "*** 1,3 ****\n--- 1,3 ----\n",
            "p:6: expected the same context lines",
        ),
        (
            "*** 4,2 ****\n",
            "p:4: expected a line `*** first,last ****`",
        ),
        (
            "*** 1,99999999999999999999 ****\n",
            "p:4: expected a line `*** first,last ****`",
        ),
        (
            "*** 1,4000000000 ****\n  1\n",
            "p:6: the hunk announces 4000000000 lines",
        ),
        (
            "*** 1 ****\n! 1\nrubbish\n",
            "p:6: expected a line `--- first,last ----`",
        ),
    ];
    for (hunk, message) in cases {
        let error = refused(&format!("{head}{hunk}")).to_string();
        assert!(error.starts_with(message), "{error:?}, {message:?}");
    }
}
