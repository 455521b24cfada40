//! Folders of patches: quilt's, and those that nothing describes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;

use common::{Lab, file};
use ktrial_patches::apply::apply;
use ktrial_patches::catalogue::{Series, SeriesError};
use ktrial_patches::history::Reference;
use tempfile::TempDir;

fn diff(path: &str, from: u32, to: u32) -> String {
    format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-{from}\n+{to}\n")
}

fn mail(tag: &str, subject: &str, from: u32, to: u32) -> String {
    let head = "From: A <a@example.org>\nDate: Mon, 5 Dec 2016 16:49:04 -0800\n";
    let body = diff("a/f", from, to).replace("+++ a/", "+++ b/");
    format!("{head}Subject: [{tag}] {subject}\n\nWhy.\n---\n{body}")
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::with_prefix("my-folder").unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn names(series: &Series) -> Vec<&str> {
    series
        .own_patches()
        .map(|patch| patch.name.as_str())
        .collect()
}

/// The content of `f` when the series is applied to a tree where it is `before`.
fn outcome(series: &Series, before: &str) -> String {
    let lab = Lab::new();
    let base = lab.commit(&[file("f", before), file("sub/f", before)]);
    let patches = series.patches(&lab.repo, base).unwrap();
    let applied = apply(&lab.repo, base, &patches).unwrap();
    String::from_utf8(lab.content(applied.tree, "f")).unwrap()
}

/// quilt(1), "Example of working tree": the series file has a patch a line, with
/// the options of patch(1) behind it; `#` begins a comment.
const SERIES: &str = "# what we carry\n\nfirst.patch\nsub/second.diff -p0 # no prefix\n\
                      third.patch -p2 -R\n";

#[test]
fn a_quilt_folder_in_the_order_of_its_series_file() {
    let files = [
        ("series", SERIES),
        ("third.patch", &diff("x/y/f", 4, 3)),
        ("first.patch", &diff("a/f", 1, 2)),
        ("sub/second.diff", &diff("f", 2, 3)),
        ("unused.patch", "rubbish"),
    ];
    let series = Series::open(folder(&files).path()).unwrap();
    assert_eq!(
        names(&series),
        ["first.patch", "sub/second.diff", "third.patch"]
    );
    let strips: Vec<_> = series
        .own_patches()
        .map(|patch| patch.files[0].strip)
        .collect();
    assert_eq!(strips, [None, Some(0), Some(2)]);
    assert_eq!(outcome(&series, "1\n"), "4\n");
}

/// patch(1) strips one less of git's `rename from`, which has no `a/`.
#[test]
fn names_of_a_moved_file_have_one_component_less() {
    let git = "diff --git a/d/f b/d/g\nsimilarity index 60%\nrename from d/f\nrename to d/g\n\
        --- a/d/f\n+++ b/d/g\n@@ -1 +1 @@\n-1\n+2\n";
    let series = Series::open(folder(&[("series", "p -p1\n"), ("p", git)]).path()).unwrap();
    let lab = Lab::new();
    let base = lab.commit(&[file("d/f", "1\n")]);
    let patches = series.patches(&lab.repo, base).unwrap();
    let applied = apply(&lab.repo, base, &patches).unwrap();
    assert_eq!(lab.content(applied.tree, "d/g"), b"2\n");
}

/// A file of 33 MiB, named twice.
#[test]
fn all_patches_together_are_bounded() {
    let patch = "x".repeat(33 << 20) + "\n\n" + &diff("a/f", 1, 2);
    let bundles = "title = \"t\"\npatches = [{ bundle = \"p\" }, { bundle = \"p\" }]\n";
    for (list, text) in [("series", "p\np\n"), ("series.toml", bundles)] {
        let error = Series::open(folder(&[(list, text), ("p", &patch)]).path()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("more than the 67108864"), "{error}");
    }
}

#[test]
fn quilt_patches_stand_in_the_folder_patches() {
    let patch = diff("a/f", 1, 2);
    for files in [
        [("patches/series", "p.patch\n"), ("patches/p.patch", &patch)],
        [("series", "p.patch\n"), ("patches/p.patch", &patch)],
    ] {
        let series = Series::open(folder(&files).path()).unwrap();
        assert_eq!(names(&series), ["p.patch"]);
    }
}

#[test]
fn a_quilt_line_that_is_not_understood_is_refused() {
    let patch = diff("a/f", 1, 2);
    let cases = [
        ("../p.patch", "expected the name of a file in this folder"),
        ("/etc/passwd", "expected the name of a file in this folder"),
        (
            "a/../../p.patch",
            "expected the name of a file in this folder",
        ),
        ("gone.patch", "the patch `gone.patch` can't be read"),
        ("p.patch -p", "found `-p`"),
        ("p.patch -p65", "found `-p65`"),
        ("p.patch -p+1", "found `-p+1`"),
        ("p.patch --fuzz=3", "found `--fuzz=3`"),
        ("p.patch p2.patch", "found `p2.patch`"),
        ("+needs p.patch", "`+needs` is a guard"),
        ("-x86 p.patch", "`-x86` is a guard"),
        ("p.patch #+stable", "`#+stable` is a guard"),
    ];
    for (line, part) in cases {
        let series = format!("p.patch\n{line}\n");
        let files = [("series", series.as_str()), ("p.patch", patch.as_str())];
        let message = Series::open(folder(&files).path()).unwrap_err().to_string();
        assert!(message.contains("series:2: "), "{line}: {message}");
        assert!(message.contains(part), "{line}: {message}");
    }
    let nothing = folder(&[("series", "# none\n")]);
    let error = Series::open(nothing.path()).unwrap_err();
    assert!(matches!(error, SeriesError::NoSeries { .. }), "{error}");
}

/// `git format-patch` writes a file a mail; the numbers in their subjects rule, and a
/// note beside them is no part of the series.
#[test]
fn mails_of_a_folder_are_one_thread() {
    let files = [
        ("0001-one.patch", &*mail("PATCH 1/2", "One", 1, 2)),
        ("0002-two.patch", &*mail("PATCH 2/2", "Two", 2, 3)),
        ("README.txt", "How to apply these.\n"),
    ];
    let folder = folder(&files);
    let series = Series::open(folder.path()).unwrap();
    assert_eq!(names(&series), ["0001-one.patch", "0002-two.patch"]);
    assert_eq!(series.left_out[0].subject, "README.txt");
    assert_eq!(outcome(&series, "1\n"), "3\n");
    let one = series.own_patches().next().unwrap();
    assert_eq!(one.header.author.as_ref().unwrap().email, "a@example.org");
}

#[test]
fn mails_saved_under_any_name_are_put_in_order() {
    let cover = "From: A <a@example.org>\nSubject: [PATCH 0/2] Both\n\nTogether.\n";
    let files = [
        ("a.eml", &*mail("PATCH 2/2", "Two", 2, 3)),
        ("b.eml", &*mail("PATCH 1/2", "One", 1, 2)),
        ("c.eml", cover),
    ];
    let series = Series::open(folder(&files).path()).unwrap();
    assert_eq!(names(&series), ["b.eml", "a.eml"]);
    assert_eq!(
        (&series.title[..], &series.description[..]),
        ("Both", "Together.")
    );
    let files = [
        ("a.eml", &*mail("PATCH 3/3", "Three", 3, 4)),
        ("b.eml", &*mail("PATCH 1/3", "One", 1, 2)),
    ];
    let missing = folder(&files);
    let message = Series::open(missing.path()).unwrap_err().to_string();
    assert!(message.contains("2/3"), "{message}");
}

#[test]
fn plain_diffs_follow_their_names_by_number() {
    let files = [
        ("10-c.diff", &*diff("a/f", 3, 4)),
        ("9-b.patch", &*diff("a/f", 2, 3)),
        ("009-a.DIFF", &*diff("a/f", 1, 2)),
        ("notes.md", "not a patch"),
        (".hidden.patch", "not a patch"),
        ("11-d.txt", &*diff("a/f", 4, 5)),
    ];
    let series = Series::open(folder(&files).path()).unwrap();
    assert_eq!(
        names(&series),
        ["009-a.DIFF", "9-b.patch", "10-c.diff", "11-d.txt"]
    );
    assert_eq!(outcome(&series, "1\n"), "5\n");
}

#[test]
fn a_fault_in_a_folder_names_the_file() {
    let broken = mail("PATCH 2/2", "Two", 2, 3).replace("@@ -1 +1 @@", "@@ -1,9 +1,9 @@");
    let files = [
        ("0001-one.patch", &*mail("PATCH 1/2", "One", 1, 2)),
        ("0002-two.patch", &*broken),
    ];
    let message = Series::open(folder(&files).path()).unwrap_err().to_string();
    assert!(message.starts_with("0002-two.patch:"), "{message}");
}

#[test]
fn a_folder_without_patches_says_what_was_expected() {
    let folder = folder(&[("README", "x"), ("a.txt", "y")]);
    let message = Series::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("expected a `series.toml`"), "{message}");
    let missing = Series::open(Path::new("/nonexistent")).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("/nonexistent can't be read"),
        "{missing}"
    );
}

#[test]
fn bytes_from_standard_input() {
    let series = Series::from_bytes("stdin", mail("PATCH", "One", 1, 2).as_bytes()).unwrap();
    assert_eq!((&series.name[..], &series.title[..]), ("stdin", "One"));
    assert_eq!(series.description, "Why.");
    assert!(Series::from_bytes("stdin", b"rubbish").is_err());
}

/// gitformat-bundle(5): the signature is `# v2 git bundle` or `# v3 git bundle` and LF.
#[test]
fn a_bundle_is_known_by_its_first_line() {
    for bytes in [&b"# v2 git bundle\nrest"[..], b"# v3 git bundle\nrest"] {
        let series = Series::from_bytes("my.bundle", bytes).unwrap();
        let bundle = Reference::Bundle {
            name: "my.bundle".into(),
            bytes: bytes.into(),
        };
        assert_eq!(series.references().collect::<Vec<_>>(), [&bundle]);
        assert_eq!(series.name, "my");
    }
    assert!(Series::from_bytes("my.bundle", b"# v2 git bundles\n").is_err());
}

#[test]
fn blank_lines_above_the_line_of_an_mbox() {
    let from = "From 2f0f2ef0 Mon Sep 17 00:00:00 2001\n";
    let two = format!("\n\n{from}{}", mail("PATCH 2/2", "two", 2, 3));
    let files = [
        ("1.eml", &mail("PATCH 1/2", "one", 1, 2)[..]),
        ("2.eml", &two),
    ];
    let series = Series::open(folder(&files).path()).unwrap();
    assert_eq!(names(&series), ["1.eml", "2.eml"]);
}

/// Of a thread in several files, both places of what is there twice are named.
#[test]
fn mails_that_disagree_are_named_with_their_files() {
    let files = [
        ("a.eml", &*mail("PATCH 1/1", "One", 1, 2)),
        ("b.eml", &format!("\n{}", mail("PATCH 1/1", "One", 1, 3))),
        (
            "c.eml",
            "From: A <a@example.org>\nSubject: Re: [PATCH 1/1] One\n\nNo.\n",
        ),
    ];
    let twice = folder(&files);
    assert_eq!(
        Series::open(twice.path()).unwrap_err().to_string(),
        "b.eml:2: v1 has two different mails for 1/1, here and at a.eml:1; take one out"
    );
    let answered = folder(&[files[0], files[2]]);
    let left_out = &Series::open(answered.path()).unwrap().left_out[0];
    assert_eq!((&left_out.name[..], left_out.line), ("c.eml", 1));
}

/// An mbox beside a mail: patches are called by their file, and told apart by their number in it.
#[test]
fn patches_of_one_thread_keep_the_names_of_their_files() {
    let from = "From 2f0f2ef0 Mon Sep 17 00:00:00 2001\n";
    let (one, three) = (
        mail("PATCH 1/3", "One", 1, 2),
        mail("PATCH 3/3", "Three", 3, 4),
    );
    let mbox = format!("{from}{three}\n{from}{one}");
    // No newline at its end, as some mailers save a mail.
    let two = mail("PATCH 2/3", "Two", 2, 3);
    let files = [("1.eml", two.trim_end()), ("2.mbox", &mbox[..])];
    let series = Series::open(folder(&files).path()).unwrap();
    assert_eq!(names(&series), ["2.mbox", "1.eml", "2.mbox#2"]);
    assert_eq!(outcome(&series, "1\n"), "4\n");
}

/// A list of a few kilobytes must not stand for gigabytes.
#[test]
fn a_file_that_is_listed_again_and_again_is_read_a_bounded_number_of_times() {
    let small = diff("f", 1, 2);
    let series = "one.diff\n".repeat(20_000);
    let many = folder(&[("series", &series), ("one.diff", &small)]);
    let error = Series::open(many.path()).unwrap_err();
    assert!(matches!(error, SeriesError::TooMany { .. }), "{error}");

    // Of 64 MiB, the most that is read, ten bytes are left for the patches.
    let fill = |list: &str| format!("#{}\n{list}", "x".repeat((64 << 20) - 12 - list.len()));
    for (name, list) in [
        ("series", "one.diff\n"),
        ("series.toml", "title = \"x\"\npatches = [\"one.diff\"]\n"),
    ] {
        let folder = folder(&[(name, &fill(list)), ("one.diff", &small)]);
        let error = Series::open(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("more than the 67108864 that are read"),
            "{error}"
        );
    }
}

#[test]
fn a_description_that_is_no_file_is_not_passed_over() {
    let folder = folder(&[("series.toml/x", ""), ("one.diff", &diff("f", 1, 2))]);
    let error = Series::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("series.toml can't be read"), "{error}");
}

#[test]
fn what_is_wrong_with_a_thread_in_a_folder_names_its_files() {
    let refused = |files: &[(&str, &str)]| {
        let folder = folder(files);
        let error = Series::open(folder.path()).unwrap_err().to_string();
        let shown = format!("{}: ", folder.path().display());
        error.strip_prefix(&shown).unwrap_or(&error).to_owned()
    };
    let (one, three) = (mail("1/3", "one", 1, 2), mail("3/3", "three", 3, 4));
    assert_eq!(
        refused(&[("1.patch", &one), ("3.patch", &three)]),
        "1.patch:1: v1 has no 2/3: found 1, 3"
    );
    let (one, other) = (mail("1/2", "one", 1, 2), mail("1/2", "other", 2, 3));
    let two = mail("2/2", "two", 3, 4);
    assert_eq!(
        refused(&[("1.patch", &one), ("1b.patch", &other), ("2.patch", &two)]),
        "1b.patch:1: v1 has two different mails for 1/2, here and at 1.patch:1; take one out"
    );
}
