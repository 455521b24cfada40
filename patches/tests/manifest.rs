//! Steps and claims in `series.toml`, and whether a series fits a tree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;

use common::{Lab, file, numbers};
use ktrial_patches::catalogue::{Fit, Series, SeriesError, System};
use ktrial_patches::history::Reference;
use tempfile::TempDir;

const PATCH: &str = "Two.\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";
const NEXT: &str = "Three.\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-2\n+3\n";

const MANIFEST: &str = r#"title = "t"
system = "dragonfly"
needs = "a history"
reverse = true
patches = [
    "one.patch",
    { file = "two.patch", strip = 1 },
    { commit = "8cdef6cbcc73" },
    { range = "v4.3..8cdef6cbcc73" },
    { subject = "kernel - Fix it" },
    { svn = "r313756" },
    { review = "D9586", svn = "r313756" },
    { bundle = "x.bundle" },
]
[[claim]]
metric = "exec rate"
unit = "/s"
machine = "an old one"
before = 10000
after = 1e5
quote = "ten times as fast"
source = "a mail"
[[claim]]
metric = "wall time"
machine = "another"
change = "-7.5 %"
quote = "7.5 % less"
source = "a review"
[[claim]]
metric = "parity"
machine = "a third"
change = "+4 to +5 %"
quote = "4-5 %"
source = "a mail"
"#;

fn folder(manifest: &str) -> TempDir {
    let folder = TempDir::with_prefix("my-series").unwrap();
    fs::write(folder.path().join("series.toml"), manifest).unwrap();
    fs::write(folder.path().join("one.patch"), PATCH).unwrap();
    fs::write(folder.path().join("two.patch"), NEXT).unwrap();
    fs::write(folder.path().join("x.bundle"), "# v2 git bundle\n").unwrap();
    folder
}

fn open(manifest: &str) -> Result<Series, SeriesError> {
    Series::open(folder(manifest).path())
}

#[test]
fn every_kind_of_step() {
    let series = open(MANIFEST).unwrap();
    assert!(series.reverse);
    assert_eq!(series.needs.as_deref(), Some("a history"));
    let own: Vec<_> = series.own_patches().collect();
    assert_eq!(
        (own[0].name.as_str(), own[1].name.as_str()),
        ("one.patch", "two.patch")
    );
    assert_eq!(
        (own[0].files[0].strip, own[1].files[0].strip),
        (None, Some(1))
    );
    let wanted = [
        Reference::Commit("8cdef6cbcc73".into()),
        Reference::Range("v4.3..8cdef6cbcc73".into()),
        Reference::Subject("kernel - Fix it".into()),
        Reference::Svn(313_756),
        // Two names of one commit, the surer first.
        Reference::Svn(313_756),
        Reference::Review("D9586".into()),
        Reference::Bundle {
            name: "x.bundle".into(),
            bytes: b"# v2 git bundle\n".into(),
        },
    ];
    let references: Vec<Reference> = series.references().cloned().collect();
    assert_eq!(references, wanted);
}

#[test]
fn claims_are_figures_with_their_source() {
    let series = open(MANIFEST).unwrap();
    let [rate, wall, parity] = &series.claims[..] else {
        panic!("three claims, not {}", series.claims.len());
    };
    assert_eq!((rate.before, rate.after), (Some(10_000.0), Some(100_000.0)));
    assert_eq!(
        (rate.unit.as_deref(), rate.change_percent),
        (Some("/s"), None)
    );
    assert_eq!(
        (&rate.quote[..], &rate.source[..]),
        ("ten times as fast", "a mail")
    );
    assert_eq!(
        (wall.change_percent, wall.change_percent_to),
        (Some(-7.5), None)
    );
    assert_eq!(
        (parity.change_percent, parity.change_percent_to),
        (Some(4.0), Some(5.0))
    );
}

/// Each fault: what is changed, the line it is on, and a part of the message.
#[test]
fn faults_are_named_with_their_line() {
    let commit = r#"{ commit = "8cdef6cbcc73" }"#;
    let before = "before = 10000\nafter = 1e5\n";
    let cases = [
        (commit, r#"{ commit = "8cdef" }"#, 8, "7 digits at least"),
        (commit, r#"{ commit = "-x" }"#, 8, "7 digits at least"),
        (
            commit,
            r#"{ commit = "HEAD~3" }"#,
            8,
            "the name of a tag or branch",
        ),
        (commit, r#"{ commit = 8 }"#, 8, "found `8`"),
        (commit, r#"{ comit = "8cdef6cbcc73" }"#, 8, "found `comit`"),
        (
            commit,
            r#"{ commit = "8cdef6cbcc73", strip = 1 }"#,
            8,
            "found `strip`",
        ),
        (commit, "{ }", 8, "expected `file`, `bundle`, or"),
        (
            commit,
            "8",
            8,
            "expected the name of a patch file, or a table",
        ),
        ("v4.3..8cdef6cbcc73", "v4.3...8cdef6cbcc73", 9, "`from..to`"),
        ("v4.3..8cdef6cbcc73", "v4.3", 9, "`from..to`"),
        ("kernel - Fix it", "a\\nb", 10, "the first line"),
        ("r313756", "313756", 11, "such as \"r313756\""),
        ("r313756", "r+3", 11, "such as \"r313756\""),
        ("r313756", "r99999999999", 11, "such as \"r313756\""),
        ("D9586", "9586", 12, "such as \"D9586\""),
        ("x.bundle", "../x.bundle", 13, "a file in the same folder"),
        (
            "x.bundle",
            "y.bundle",
            13,
            "the bundle `y.bundle` can't be read",
        ),
        (
            "two.patch\", strip = 1",
            "../two.patch\", strip = 1",
            7,
            "in the same folder",
        ),
        ("strip = 1", "strip = -1", 7, "`strip` (0 to 64)"),
        ("strip = 1", "revers = true", 7, "found `revers = true`"),
        ("reverse = true", "reverse = 1", 4, "expected a boolean"),
        (before, "", 16, "one of `before`, `after` and `change`"),
        ("after = 1e5", "after = nan", 20, "neither `nan` nor `inf`"),
        ("after = 1e5", "after = \"x\"", 20, "expected a number"),
        ("\"-7.5 %\"", "\"-7.5\"", 26, "in per cent"),
        ("\"-7.5 %\"", "\"inf %\"", 26, "in per cent"),
        ("\"-7.5 %\"", "\"a bit\"", 26, "in per cent"),
        ("\"ten times as fast\"", "\"ten\\ntimes\"", 21, "one line"),
        ("metric = \"exec rate\"", "metric = \" \"", 16, "one line"),
        (
            "machine = \"an old one\"\n",
            "",
            15,
            "missing field `machine`",
        ),
        (
            "machine = \"an old one\"",
            "host = \"x\"",
            18,
            "unknown field `host`",
        ),
    ];
    for (from, to, line, part) in cases {
        let changed = MANIFEST.replacen(from, to, 1);
        assert_ne!(changed, MANIFEST, "{from}");
        let message = open(&changed).unwrap_err().to_string();
        let place = format!("series.toml:{line}: ");
        assert!(
            message.contains(&place),
            "{to}: {message} should be at {place}"
        );
        assert!(message.contains(part), "{to}: {message} should say {part}");
    }
    let long = MANIFEST.replacen("ten times as fast", &"x".repeat(161), 1);
    let message = open(&long).unwrap_err().to_string();
    assert!(
        message.contains("series.toml:21: expected a quotation of one line"),
        "{message}"
    );
}

#[test]
fn a_reversed_series_leads_back() {
    let lab = Lab::new();
    let forward = "title = \"t\"\npatches = [\"one.patch\", \"two.patch\"]\n";
    let backward = format!("{forward}reverse = true\n");
    let old = lab.commit(&[file("f", "1\n")]);
    let new = lab.commit(&[file("f", "3\n")]);
    let apply = |manifest: &str, base| {
        let patches = open(manifest).unwrap().patches(&lab.repo, base).unwrap();
        ktrial_patches::apply::apply(&lab.repo, base, &patches)
            .unwrap()
            .tree
    };
    assert_eq!(apply(forward, old), lab.tree(&[file("f", "3\n")]));
    assert_eq!(apply(&backward, new), lab.tree(&[file("f", "1\n")]));
}

#[test]
fn a_single_file_may_be_reversed() {
    let lab = Lab::new();
    let manifest =
        "title = \"t\"\npatches = [{ file = \"one.patch\", reverse = true, strip = 1 }]\n";
    let base = lab.commit(&[file("f", "2\n")]);
    let patches = open(manifest).unwrap().patches(&lab.repo, base).unwrap();
    let applied = ktrial_patches::apply::apply(&lab.repo, base, &patches).unwrap();
    assert_eq!(applied.tree, lab.tree(&[file("f", "1\n")]));
}

#[test]
fn what_can_be_tried_on_a_tree() {
    let lab = Lab::new();
    let ten = numbers(10);
    let twelve = format!("a\nb\n{ten}");
    let patch = "--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n";
    let series = Series::from_bytes("x.patch", patch.as_bytes()).unwrap();
    let fits = |system, content: &str| {
        let tip = lab.commit(&[file("f", content)]);
        series.fits(system, &lab.repo, tip).unwrap()
    };
    assert_eq!(fits(None, &ten), Fit::Applies("exactly".into()));
    assert_eq!(
        fits(Some(System::Linux), &ten),
        Fit::Applies("exactly".into())
    );
    assert_eq!(fits(None, &twelve), Fit::Applies("by offset".into()));
    let Fit::DoesNotApply(why) = fits(None, "x\n") else {
        panic!("it can't apply");
    };
    assert!(why.contains("x.patch") && !why.contains('\n'), "{why}");
    let commit = "title = \"t\"\nsystem = \"freebsd\"\npatches = []\n";
    let tip = lab.commit(&[file("f", &ten)]);
    let fit = open(commit)
        .unwrap()
        .fits(Some(System::Linux), &lab.repo, tip);
    assert_eq!(fit.unwrap(), Fit::OtherSystem(System::FreeBsd));
}

#[test]
fn a_tree_without_the_commit_needs_history() {
    let lab = Lab::new();
    let tip = lab.commit(&[file("f", "1\n")]);
    for step in [
        "commit = \"8cdef6cbcc73\"",
        "svn = \"r313756\"",
        "review = \"D9586\"",
    ] {
        let series = open(&format!("title = \"t\"\npatches = [{{ {step} }}]\n")).unwrap();
        let fit = series.fits(None, &lab.repo, tip).unwrap();
        assert!(matches!(fit, Fit::NeedsHistory(_)), "{step}: {fit}");
    }
}

/// FreeBSD's git history names the revision in notes, which clones lack, and the
/// review in the message: either name will do.
#[test]
fn the_first_name_that_the_tree_knows_counts() {
    let lab = Lab::new();
    let parent = lab
        .repo
        .find_commit(lab.commit(&[file("f", "1\n")]))
        .unwrap();
    let tree = lab.repo.find_tree(lab.tree(&[file("f", "2\n")])).unwrap();
    let message = "Two.\n\nDifferential Revision:\thttps://reviews.freebsd.org/D9586\n";
    let who = parent.author();
    let tip = lab
        .repo
        .commit(None, &who, &who, message, &tree, &[&parent])
        .unwrap();
    let step = "{ svn = \"r313756\", review = \"D9586\" }";
    let series = open(&format!("title = \"t\"\npatches = [{step}]\n")).unwrap();
    let patches = series.patches(&lab.repo, tip).unwrap();
    assert_eq!(patches[0].header.subject, "Two.");
    let missing = series
        .patches(&lab.repo, parent.id())
        .unwrap_err()
        .to_string();
    assert!(missing.contains("313756"), "{missing}");
}
