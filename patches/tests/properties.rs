//! Any change of any small file survives diff, read and apply; and no bytes
//! make the reader or the applier panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Lab;
use git2::{DiffOptions, Patch};
use ktrial_patches::apply::apply;
use ktrial_patches::read::read;
use proptest::prelude::*;

/// Text of few different lines, so that many places look alike; with and
/// without a newline at its end, and with CR LF here and there.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[abc]{0,2}",
        1 => Just("}".to_owned()),
        1 => Just("\ttab".to_owned()),
        1 => Just("--- x".to_owned()),
        1 => Just("-- ".to_owned()),
        1 => Just("@@ -1 +1 @@".to_owned()),
        1 => Just("cr\r".to_owned()),
    ];
    (proptest::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = lines.join("\n");
        if newline && !lines.is_empty() {
            text.push('\n');
        }
        text.into_bytes()
    })
}

/// A file, and the same file after some edits.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let edit = (any::<prop::sample::Index>(), 0..3usize, "[abx\n]{0,4}");
    let edited = (text(), proptest::collection::vec(edit, 1..4)).prop_map(|(before, edits)| {
        let mut lines: Vec<Vec<u8>> = before
            .split_inclusive(|&b| b == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        for (at, removed, added) in edits {
            let at = at.index(lines.len() + 1);
            let end = (at + removed).min(lines.len());
            lines.splice(at..end, [added.into_bytes()]);
        }
        (before, lines.concat())
    });
    prop_oneof![2 => edited, 1 => (text(), text())]
}

/// The diff as libgit2 prints it.
fn diff(before: &[u8], after: &[u8], context: u32) -> Vec<u8> {
    let path = std::path::Path::new("d/f");
    let mut options = DiffOptions::new();
    options.context_lines(context).force_text(true);
    let mut patch =
        Patch::from_buffers(before, Some(path), after, Some(path), Some(&mut options)).unwrap();
    patch.to_buf().unwrap().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_gives_the_edited_file((before, after) in pair(), context in 1u32..5) {
        prop_assume!(before != after && !before.is_empty() && !after.is_empty());
        let lab = Lab::new();
        let base = lab.commit(&[("d/f", 0o100644, &before), ("d/g", 0o100644, b"other\n")]);
        let patches = read("p", &diff(&before, &after, context)).unwrap().patches;
        let applied = apply(&lab.repo, base, &patches).unwrap();
        prop_assert_eq!(lab.content(applied.tree, "d/f"), after);
        for hunk in &applied.patches[0].files[0].hunks {
            prop_assert_eq!((hunk.offset, hunk.fuzz), (0, 0));
        }
    }

    /// On a file that is another, the outcome is an error or a tree; never a panic.
    #[test]
    fn a_diff_on_another_file_never_panics(
        (before, after) in pair(), other in text(), context in 0u32..5,
    ) {
        prop_assume!(before != after);
        let patch = diff(&before, &after, context);
        let lab = Lab::new();
        let base = lab.commit(&[("d/f", 0o100644, &other)]);
        if let Ok(patches) = read("p", &patch).map(|reading| reading.patches) {
            match apply(&lab.repo, base, &patches) {
                Ok(applied) => prop_assert!(!applied.patches.is_empty()),
                Err(error) => prop_assert!(error.is_patch_fault(), "{}", error),
            }
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read("p", &bytes);
    }

    /// Pieces of patches in any order get past the first checks.
    #[test]
    fn no_pieces_make_it_panic(pieces in proptest::collection::vec(piece(), 0..20)) {
        let text = pieces.concat();
        let Ok(patches) = read("p", text.as_bytes()).map(|reading| reading.patches) else { return Ok(()) };
        let lab = Lab::new();
        let base = lab.commit(&[("f", 0o100644, b"1\n2\n"), ("a/f", 0o100755, b"1\n2")]);
        if let Err(error) = apply(&lab.repo, base, &patches) {
            prop_assert!(error.is_patch_fault(), "{}", error);
            let _ = error.to_string();
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "diff --git a/f b/f\n",
        "diff --git \"a/\\1\" b/f\n",
        "diff --git f f\n",
        "--- a/f\n",
        "+++ b/f\n",
        "--- f\r\n",
        "+++ f\r\n",
        "--- /dev/null\n",
        "+++ /dev/null\n",
        "@@ -1 +1 @@\n",
        "@@ -1,2 +1,2 @@ x\n",
        "@@ -0,0 +1 @@\n",
        "@@ -1,2 +0,0 @@\n",
        "@@ -0,0 +0,0 @@\n",
        " 1\n",
        "-1\n",
        "+1\n",
        "-2\n",
        "+2\n",
        " 2\n",
        "\n",
        "\\ No newline at end of file\n",
        "new file mode 100644\n",
        "deleted file mode 100644\n",
        "rename from f\n",
        "rename to g\n",
        "copy from a/f\n",
        "copy to f\n",
        "new mode 120000\n",
        "index 01e79c3..1234567\n",
        "From: A <a@b>\n",
        "Subject: s\n",
        "---\n",
        "-- \n",
        "From x Mon Sep 17 00:00:00 2001\n",
        "Content-Transfer-Encoding: base64\n",
        "Content-Type: multipart/mixed; boundary=x\n",
        "--x\n",
        "GIT binary patch\n",
    ];
    prop_oneof![9 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}
