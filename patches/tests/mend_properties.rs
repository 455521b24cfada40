//! A diff that was damaged is read to the hunks it had, or refused; never to
//! others in silence. And what is no patch does not become one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use git2::DiffOptions;
use ktrial_patches::read::read;
use ktrial_patches::{FilePatch, Line, LineKind, MendKind};
use proptest::prelude::*;
use proptest::sample::Index;

/// Words of which some look like the beginning of a hunk's line or a heading.
fn word() -> impl Strategy<Value = String> {
    let odd = [
        "-", "+", "--", "+=", "-1", "->x", "*", "@@", "---", "+++", "}", "diff", "Index:", "a  b",
        "&lt;",
    ];
    prop_oneof![
        6 => "[a-z_(]{2,12}",
        1 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
    ]
}

/// A line as it stands in a file, without blanks at its end.
fn line() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(word(), 1..25);
    let end = prop::sample::select(vec!["", "", "", " \\"]);
    let words = (words, end).prop_map(|(words, end)| words.join(" ") + end);
    let indent = prop::sample::select(vec!["", "", "\t", "\t\t", "    ", " "]);
    prop_oneof![
        2 => Just(String::new()),
        2 => "[a-c}]{1,2}",
        4 => (indent, words).prop_map(|(indent, words)| format!("{indent}{words}")),
    ]
}

/// A diff that reads, as git and as `diff -u` write it.
fn whole() -> impl Strategy<Value = String> {
    let edit = (
        any::<Index>(),
        0..3usize,
        proptest::collection::vec(line(), 0..3),
    );
    let edits = proptest::collection::vec(edit, 1..5);
    let files = proptest::collection::vec((proptest::collection::vec(line(), 1..40), edits), 1..3);
    let end = prop::sample::select(vec!["", "", "-- \n2.47.3\n", "-- \n2.47.3\n\n", "\n"]);
    (files, 0..5u32, any::<bool>(), end).prop_map(|(files, context, git, end)| {
        let mut diff = String::new();
        for (number, (before, edits)) in files.into_iter().enumerate() {
            let mut after = before.clone();
            for (at, removed, added) in edits {
                let at = at.index(after.len() + 1);
                let end = (at + removed).min(after.len());
                after.splice(at..end, added);
            }
            diff += &one_file(&format!("d/f{number}"), &before, &after, context, git);
        }
        diff + end
    })
}

fn one_file(name: &str, before: &[String], after: &[String], context: u32, git: bool) -> String {
    let text = |lines: &[String]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let (before, after) = (text(before), text(after));
    let path = std::path::Path::new(name);
    let mut options = DiffOptions::new();
    options.context_lines(context).force_text(true);
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let options = Some(&mut options);
    let mut patch = git2::Patch::from_buffers(old, Some(path), new, Some(path), options).unwrap();
    let diff = patch.to_buf().unwrap().as_str().unwrap().to_owned();
    match diff.find("--- ") {
        Some(at) if !git => diff[at..].to_owned(),
        _ => diff,
    }
}

/// The files of a text that reads without a mend.
fn undamaged(text: &str) -> Option<Vec<FilePatch>> {
    let mut patches = read("p", text.as_bytes()).ok()?.patches;
    let patch = patches.remove(0);
    patch.mends.is_empty().then_some(patch.files)
}

/// The same with the context at the end of hunks that the whole ones have: counts can
/// leave it out, and where it is empty and the end of a mail, it can be gone.
fn with_last_context(found: &[FilePatch], whole: &[FilePatch]) -> Vec<FilePatch> {
    let mut found = found.to_vec();
    let hunks = found.iter_mut().flat_map(|file| &mut file.hunks);
    for (hunk, whole) in hunks.zip(whole.iter().flat_map(|file| &file.hunks)) {
        let lost = whole.lines.get(hunk.lines.len()..).unwrap_or_default();
        let context = |line: &Line| line.kind == LineKind::Context;
        if !lost.is_empty() && lost.iter().all(context) {
            hunk.lines.extend_from_slice(lost);
            hunk.old_count += lost.len();
            hunk.new_count += lost.len();
        }
    }
    found
}

/// The same with one blank for several: where a mailer broke a line between
/// two of them, there is one.
fn one_blank(files: &[FilePatch]) -> Vec<FilePatch> {
    let mut files = files.to_vec();
    for hunk in files.iter_mut().flat_map(|file| &mut file.hunks) {
        hunk.heading = hunk.heading.replace("  ", " ");
        for line in &mut hunk.lines {
            let text = String::from_utf8_lossy(&line.bytes).replace("  ", " ");
            line.bytes = text.into_bytes();
        }
    }
    files
}

/// What comes of a damaged text is what it was, or an error with a line of the text.
fn same_or_refused(damaged: &str, files: &[FilePatch]) -> Result<bool, TestCaseError> {
    match read("p", damaged.as_bytes()) {
        Ok(reading) => {
            prop_assert_eq!(reading.patches.len(), 1);
            let patch = &reading.patches[0];
            let wrapped = patch
                .mends
                .iter()
                .any(|mend| mend.kind == MendKind::Wrapped);
            let (found, files) = match wrapped {
                true => (one_blank(&patch.files), one_blank(files)),
                false => (with_last_context(&patch.files, files), files.to_vec()),
            };
            prop_assert_eq!(found, files, "{}\n{:?}", damaged, patch.mends);
            let last = damaged.lines().count();
            for mend in &patch.mends {
                prop_assert!(mend.line >= 1 && mend.line <= last && mend.lines >= 1);
            }
            Ok(true)
        }
        Err(error) => {
            let last = damaged.lines().count() + 1;
            prop_assert!(
                error.line >= 1 && error.line <= last,
                "{}\n{}",
                error,
                damaged
            );
            Ok(false)
        }
    }
}

/// Breaks lines as mailers do: at the last blank that leaves up to `width`
/// characters before it, and the blank goes. `None` where several rests begin,
/// by chance, with a mark: an added and a removed one count as a context line.
fn wrapped(text: &str, width: usize) -> Option<String> {
    let mut out = String::new();
    let mut by_chance = 0;
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > width {
            let blanks = rest.bytes().enumerate().skip(1);
            let mut blanks = blanks.filter(|&(_, byte)| byte == b' ').map(|(at, _)| at);
            let fits = blanks.clone().take_while(|&at| at <= width).last();
            let Some(at) = fits.or_else(|| blanks.next()) else {
                break;
            };
            out.push_str(&rest[..at]);
            out.push('\n');
            rest = &rest[at + 1..];
            by_chance += usize::from(rest.starts_with(['+', '-', ' ']));
        }
        out.push_str(rest);
        out.push('\n');
    }
    (by_chance < 2).then_some(out)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quoted(
        text in whole(),
        sign in prop::sample::select(vec!["> ", ">", "> > ", ">> ", "| ", "&gt; "]),
    ) {
        let Some(files) = undamaged(&text) else { return Ok(()) };
        let quoted: String = text.lines().map(|line| format!("{sign}{line}\n")).collect();
        let alone = format!("Joe wrote:\n{quoted}");
        prop_assert!(same_or_refused(&alone, &files)?);
        let reply = format!("Joe wrote:\n{quoted}\nFine.\n+1\n");
        prop_assert!(same_or_refused(&reply, &files)?);
    }

    #[test]
    fn with_wrong_counts(
        text in whole(), which in any::<Index>(), old in -3i64..4, new in -3i64..4,
    ) {
        // An empty line below a hunk is a line of it where the counts say so.
        let Some(files) = undamaged(text.trim_end_matches('\n')) else { return Ok(()) };
        let text = text.trim_end_matches('\n');
        let headings = text.lines().filter(|line| line.starts_with("@@ -")).count();
        prop_assume!(headings > 0);
        let mut left = which.index(headings);
        let damaged: String = text.lines().map(|line| {
            if !line.starts_with("@@ -") {
                return format!("{line}\n");
            }
            let here = left == 0;
            left = left.wrapping_sub(1);
            if here { other_counts(line, old, new) } else { format!("{line}\n") }
        }).collect();
        same_or_refused(&damaged, &files)?;
    }

    #[test]
    fn wrapped_by_a_mailer(text in whole(), width in prop::sample::select(vec![68, 72, 76, 78, 80])) {
        let Some(files) = undamaged(&text) else { return Ok(()) };
        if let Some(damaged) = wrapped(&text, width) {
            same_or_refused(&damaged, &files)?;
        }
    }

    #[test]
    fn quoted_and_wrapped(text in whole()) {
        let Some(files) = undamaged(&text) else { return Ok(()) };
        let quoted = |text: &str| -> String {
            text.lines().map(|line| format!("> {line}\n")).collect()
        };
        let first = wrapped(&text, 72).map(|text| quoted(&text));
        for damaged in [first, wrapped(&quoted(&text), 72)].iter().flatten() {
            same_or_refused(damaged, &files)?;
        }
    }

    #[test]
    fn without_blanks_at_the_ends_of_lines(text in whole()) {
        let Some(files) = undamaged(&text) else { return Ok(()) };
        let bare: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        same_or_refused(&bare, &files)?;
        // Where the last lines were empty, they may be missing.
        if let Ok(reading) = read("p", bare.trim_end().as_bytes()) {
            prop_assert_eq!(with_last_context(&reading.patches[0].files, &files), files);
        }
    }

    #[test]
    fn without_the_blank_before_context(text in whole()) {
        // Where every context line begins with a blank of its own, only the tree can tell.
        if text.contains("\n  ") {
            return Ok(());
        }
        let Some(files) = undamaged(&text) else { return Ok(()) };
        let strip = |line: &str| format!("{}\n", line.strip_prefix(' ').unwrap_or(line));
        same_or_refused(&text.lines().map(strip).collect::<String>(), &files)?;
    }

    /// No mend makes a patch of text in which no hunk has a heading.
    #[test]
    fn no_text_becomes_a_patch(pieces in proptest::collection::vec(piece(), 0..30)) {
        prop_assert!(read("p", pieces.concat().as_bytes()).is_err());
    }

    #[test]
    fn no_pieces_make_it_panic(pieces in proptest::collection::vec(
        prop_oneof![3 => piece(), 1 => whole()], 0..12,
    )) {
        let _ = read("p", pieces.concat().as_bytes());
    }
}

/// `@@ -1,2 +1,3 @@` with other counts, which are 0 where they would be less.
fn other_counts(heading: &str, old: i64, new: i64) -> String {
    let fields: Vec<&str> = heading.splitn(4, ' ').collect();
    let other = |field: &str, by: i64| {
        let (start, count) = field.split_once(',').unwrap_or((field, "1"));
        format!("{start},{}", (count.parse::<i64>().unwrap() + by).max(0))
    };
    let (old, new) = (other(fields[1], old), other(fields[2], new));
    format!("@@ {old} {new} {}\n", fields[3])
}

fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "> --- a/f\n",
        "> +++ b/f\n",
        "--- a/f\n",
        "+++ b/f\n",
        "> > +++ b/f\n",
        "&#43;&#43;&#43; b/f\n",
        "> @@ is an operator\n",
        "@@ -1 @@\n",
        "+ one\n",
        "- two\n",
        " three\n",
        "\n",
        "> quoted\n",
        "On Monday, Joe wrote:\n",
        "-- \n",
        "___________________\n",
        "\u{a0}\n",
        "---\u{a0}a/f\n",
        "a line of text that is long enough for a mailer to break it, as many are\n",
        "\\ No newline\n",
        "\\\n",
        "&lt;\n",
        "| --- | --- |\n",
        "Index: f\n",
        "int x;\n",
    ];
    prop::sample::select(pieces.to_vec()).prop_map(str::to_owned)
}
