//! The catalogue as it ships, and series of one's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use ktrial_patches::catalogue::{self, Kernel, Series, SeriesError, System, Value, Verdict};
use tempfile::TempDir;

#[test]
fn every_series_that_ships_is_whole() {
    let series = catalogue::list().unwrap();
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
    let wanted = [
        "dragonfly-exec-rate",
        "dragonfly-exec-rate-archived",
        "freebsd-chgsbsize",
        "freebsd-exec-args-madv-free",
        "linux-control-comment",
        "linux-control-same",
        "linux-control-unused-function",
        "linux-control-wording",
        "linux-fd-alloc-bitmap",
        "linux-fd-alloc-bitmap-reversed",
        "linux-fd-fastalloc",
        "linux-fd-linear-scan",
    ];
    assert_eq!(names, wanted);
    for one in &series {
        let fields = [&one.applies_to, &one.source, &one.licence];
        assert!(fields.iter().all(|field| field.is_some()), "{}", one.name);
        assert!(!one.workloads.is_empty(), "{}", one.name);
        // A kernel patch carries the licence of its tree.
        let system = one.system.unwrap();
        let licence = one.licence.as_deref().unwrap();
        let right: &[&str] = match system {
            System::Linux => &["GPL-2.0-only"],
            System::FreeBsd => &["BSD-2-Clause", "BSD-3-Clause"],
            System::DragonFly => &["BSD-3-Clause"],
        };
        assert!(right.contains(&licence), "{}: {licence}", one.name);
        assert!(one.name.starts_with(&system.to_string()), "{}", one.name);
        for patch in one.own_patches() {
            assert!(patch.header.date.is_some(), "{}", patch.name);
        }
        // What needs a history says so.
        assert!(
            one.references().count() == 0 || one.needs.is_some(),
            "{}",
            one.name
        );
    }
}

/// The workloads that there are: folders with a `workload.toml`.
#[test]
fn series_name_workloads_that_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads");
    for series in catalogue::list().unwrap() {
        for workload in &series.workloads {
            let manifest = folder.join(&workload.name).join("workload.toml");
            let text = std::fs::read_to_string(&manifest).unwrap();
            for parameter in workload.parameters.keys() {
                let line = format!("name = \"{parameter}\"");
                assert!(text.contains(&line), "{}: {parameter}", series.name);
            }
        }
    }
}

#[test]
fn the_positive_control_expects_a_regression_of_fd_churn_alone() {
    let series = catalogue::find("linux-fd-linear-scan").unwrap();
    assert_eq!(
        series.own_patches().next().unwrap().files[0].new.as_deref(),
        Some("b/fs/file.c")
    );
    let churn = [("fds", 500_000), ("touch", 0)];
    let churn = churn
        .map(|(key, value)| (key.to_owned(), Value::Int(value)))
        .into();
    let about = |workload: &str, parameters| {
        let mut found = series.expectations.iter();
        found.find(|one| one.is_about("patched", workload, parameters, "rate"))
    };
    assert!(
        about("fd-churn", &churn)
            .unwrap()
            .is_met_by(Verdict::Regressed)
    );
    let exec = [("processes".to_owned(), Value::Int(1))].into();
    assert_eq!(about("exec", &exec).unwrap().verdicts, [Verdict::Unchanged]);
    let touched = [("fds", 500_000), ("touch", 400_000)];
    let touched = touched
        .map(|(key, value)| (key.to_owned(), Value::Int(value)))
        .into();
    assert!(about("fd-churn", &touched).is_none());
}

#[test]
fn the_flag_is_a_variant_of_its_own() {
    let series = catalogue::find("linux-fd-fastalloc").unwrap();
    let variant = &series.variants[0];
    assert_eq!(
        (&variant.name[..], variant.kernel),
        ("patched-flag", Kernel::Patched)
    );
    let key = ("fd-churn".to_owned(), "fastalloc".to_owned());
    assert_eq!(variant.set.get(&key), Some(&Value::Bool(true)));
}

#[test]
fn a_name_that_is_almost_right_gets_a_hint() {
    let message = |name: &str| catalogue::find(name).unwrap_err().to_string();
    let hint = "did you mean `linux-fd-linear-scan`?";
    assert!(
        message("linux-fd-linaer-scan").contains(hint),
        "{}",
        message("linux-fd-linaer-scan")
    );
    assert!(message("linear").contains(hint), "{}", message("linear"));
    for name in ["zzz", "", "../series", "linux-fd-linear-scan/series.toml"] {
        let error = catalogue::find(name).unwrap_err();
        assert!(matches!(error, SeriesError::Unknown { .. }), "{error}");
    }
    assert!(!message("zzz").contains("did you mean"));
}

const PATCH: &str = "Two.\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";

const MANIFEST: &str = r#"title = "t"
system = "freebsd"
patches = ["one.patch"]
[[workload]]
name = "exec"
parameters = { processes = 2, fast = true, mode = "x" }
[[variant]]
name = "v"
kernel = "base"
set = { "exec.fast" = false }
[[expect]]
variant = "v"
workload = "exec"
parameters = { processes = 2 }
metric = "rate"
verdict = ["unchanged", "inconclusive"]
"#;

fn folder(manifest: &str) -> TempDir {
    let folder = TempDir::with_prefix("my-series").unwrap();
    std::fs::write(folder.path().join("series.toml"), manifest).unwrap();
    std::fs::write(folder.path().join("one.patch"), PATCH).unwrap();
    folder
}

#[test]
fn a_folder_of_ones_own() {
    let folder = folder(MANIFEST);
    let series = Series::open(folder.path()).unwrap();
    assert!(series.name.starts_with("my-series"));
    assert_eq!(series.system, Some(System::FreeBsd));
    assert_eq!(series.own_patches().next().unwrap().header.subject, "Two.");
    assert_eq!(series.workloads[0].parameters["fast"], Value::Bool(true));
    assert_eq!(
        series.expectations[0].verdicts,
        [Verdict::Unchanged, Verdict::Inconclusive]
    );
}

#[test]
fn a_patch_file_is_a_series() {
    let folder = folder(MANIFEST);
    let series = Series::from_patch_file(&folder.path().join("one.patch")).unwrap();
    assert_eq!((&series.name[..], &series.title[..]), ("one", "Two."));
    assert_eq!((series.system, series.own_patches().count()), (None, 1));
    let missing = Series::from_patch_file(Path::new("/nonexistent.patch")).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("/nonexistent.patch can't be read: ")
    );
}

/// Each fault: what is changed, the line it is on, and a part of the message.
#[test]
fn faults_are_named_with_their_line() {
    let cases = [
        ("title = \"t\"", "titel = \"t\"", 1, "unknown field `titel`"),
        ("title = \"t\"", "title = 5", 1, "expected a string"),
        (
            "\"freebsd\"",
            "\"minix\"",
            2,
            "expected one of `linux`, `freebsd`, `dragonfly`",
        ),
        ("one.patch", "two.patch", 3, "`two.patch` can't be read"),
        (
            "one.patch",
            "../one.patch",
            3,
            "expected the name of a file in the same folder",
        ),
        (
            "one.patch",
            "..",
            3,
            "expected the name of a file in the same folder",
        ),
        (
            "processes = 2, fast",
            "processes = 2.5, fast",
            6,
            "expected true, false, a whole number",
        ),
        ("name = \"exec\"", "name = \"ex/ec\"", 5, "letters, digits"),
        (
            "name = \"v\"",
            "name = \"patched\"",
            8,
            "a variant `patched` already",
        ),
        (
            "kernel = \"base\"",
            "kernel = \"third\"",
            9,
            "expected `base` or `patched`",
        ),
        (
            "exec.fast",
            "exce.fast",
            10,
            "expected \"workload.parameter\"",
        ),
        (
            "variant = \"v\"",
            "variant = \"w\"",
            12,
            "expected `patched` or a variant",
        ),
        (
            "parameters = { processes = 2 }",
            "parameters = { processes = 3 }",
            13,
            "expected a workload",
        ),
        (
            "[\"unchanged\", \"inconclusive\"]",
            "\"same\"",
            16,
            "improved, regressed, unchanged",
        ),
        (
            "[\"unchanged\", \"inconclusive\"]",
            "[]",
            16,
            "expected one verdict",
        ),
    ];
    for (from, to, line, part) in cases {
        let changed = MANIFEST.replacen(from, to, 1);
        assert_ne!(changed, MANIFEST, "{from}");
        let folder = folder(&changed);
        let message = Series::open(folder.path()).unwrap_err().to_string();
        let place = format!("series.toml:{line}: ");
        assert!(
            message.contains(&place),
            "{to}: {message} should be at {place}"
        );
        assert!(message.contains(part), "{to}: {message} should say {part}");
    }
}

#[test]
fn a_missing_field_is_named() {
    let folder = folder("system = \"linux\"\npatches = []\n");
    let message = Series::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("missing field `title`"), "{message}");
}
