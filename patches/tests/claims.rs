//! What of a trial a claim can be held against, as `series.toml` says it; and A/A.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;

use ktrial_patches::catalogue::{
    self, ClaimClock, ClaimKind, ClaimTest, Series, SeriesError, Value,
};
use tempfile::TempDir;

const MANIFEST: &str = r#"title = "t"
patches = ["one.patch"]
[[claim]]
metric = "exec rate"
unit = "/s"
machine = "an opteron"
before = 20000
after = 50000
quote = "two and a half times"
source = "a mail"
[claim.test]
kind = "change"
workload = "exec"
parameters = { processes = 48 }
metric = "rate"
cpus = 48
clock = "real"
[[claim]]
metric = "wall time"
machine = "another"
change = "1 to 10 x"
quote = "up to ten times"
source = "a mail"
test = { kind = "change", workload = "exec", metric = "rate", variant = "flag" }
[[claim]]
metric = "size"
machine = "any"
after = 1
quote = "1"
source = "a mail"
[[workload]]
name = "exec"
parameters = { processes = 48 }
[[variant]]
name = "flag"
kernel = "patched"
"#;

fn open(manifest: &str) -> Result<Series, SeriesError> {
    let folder = TempDir::with_prefix("my-series").unwrap();
    fs::write(folder.path().join("series.toml"), manifest).unwrap();
    let patch = "Two.\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";
    fs::write(folder.path().join("one.patch"), patch).unwrap();
    Series::open(folder.path())
}

#[test]
fn a_claim_says_what_can_be_held_against_it() {
    let series = open(MANIFEST).unwrap();
    let [rate, wall, size] = &series.claims[..] else {
        panic!("three claims, not {}", series.claims.len());
    };
    let wanted = ClaimTest {
        kind: ClaimKind::Change,
        variant: "patched".into(),
        workload: "exec".into(),
        parameters: [("processes".to_owned(), Value::Int(48))].into(),
        metric: "rate".into(),
        cpus: Some(48),
        clock: Some(ClaimClock::Real),
    };
    assert_eq!(rate.test.as_ref(), Some(&wanted));
    let flag = wall.test.as_ref().unwrap();
    assert_eq!(
        (&flag.variant[..], flag.cpus, flag.clock),
        ("flag", None, None)
    );
    assert_eq!(size.test, None);
}

#[test]
fn a_claim_may_name_a_machine_that_is_known() {
    assert_eq!(open(MANIFEST).unwrap().claims[0].known_machine, None);
    let named = |name: &str| {
        let machine = "machine = \"an opteron\"";
        open(&MANIFEST.replacen(machine, &format!("{machine}\nknown-machine = {name}"), 1))
    };
    let series = named("\"opteron-6168-4s\"").unwrap();
    let name = series.claims[0].known_machine.as_deref();
    assert_eq!(name, Some("opteron-6168-4s"));
    for nonsense in ["\"\"", "\"a\\nb\""] {
        let fault = named(nonsense).unwrap_err().to_string();
        assert!(fault.contains("series.toml:7"), "{fault}");
    }
}

#[test]
fn a_change_is_a_ratio_of_after_to_before() {
    let change = |lines: &str| {
        let text = MANIFEST.replacen("change = \"1 to 10 x\"", lines, 1);
        open(&text).unwrap().claims[1].change()
    };
    // 50,000 is 2.5 times 20,000.
    assert_eq!(open(MANIFEST).unwrap().claims[0].change(), Some((2.5, 2.5)));
    assert_eq!(change("change = \"1 to 10 x\""), Some((1.0, 10.0)));
    assert_eq!(change("change = \"1.5 x\""), Some((1.5, 1.5)));
    assert_eq!(change("change = \"-50 %\""), Some((0.5, 0.5)));
    // The smaller first, however it is written.
    assert_eq!(change("change = \"-25 to -50 %\""), Some((0.5, 0.75)));
    // What is stated goes before what could be computed.
    assert_eq!(
        change("change = 100\nbefore = 1\nafter = 3"),
        Some((2.0, 2.0))
    );
    let per_cent = |text: &str| {
        let text = MANIFEST.replacen("1 to 10 x", text, 1);
        open(&text).unwrap().claims[1].change_percent
    };
    assert_eq!(per_cent("1.1 x"), Some(10.0));
    assert_eq!(per_cent("10 x"), Some(900.0));
}

/// Each fault: what is changed, the line it is on, and a part of the message.
#[test]
fn faults_are_named_with_their_line() {
    let cases = [
        (
            "kind = \"change\"",
            "kind = \"speed\"",
            12,
            "`change` or `level`",
        ),
        (
            "kind = \"change\"",
            "kinds = \"x\"",
            12,
            "unknown field `kinds`",
        ),
        ("kind = \"change\"\n", "", 11, "missing field `kind`"),
        (
            "before = 20000\n",
            "",
            11,
            "`change`, or `before` and `after`",
        ),
        ("before = 20000", "before = 0", 12, "more than -100 %"),
        ("\"1 to 10 x\"", "-100", 24, "more than -100 %"),
        ("\"1 to 10 x\"", "\"0 x\"", 21, "a factor such as"),
        ("\"1 to 10 x\"", "\"ten x\"", 21, "a factor such as"),
        (
            "kind = \"change\", workload",
            "kind = \"level\", workload",
            24,
            "`before` or `after`",
        ),
        (
            "workload = \"exec\"\nparam",
            "workload = \"x\"\nparam",
            13,
            "a workload of this series",
        ),
        (
            "processes = 48 }\nmetric",
            "processes = 4 }\nmetric",
            13,
            "at parameters that it lists",
        ),
        (
            "metric = \"rate\"\ncpus",
            "metric = \"a b\"\ncpus",
            15,
            "expected a name",
        ),
        ("cpus = 48", "cpus = 0", 16, "1 at least"),
        ("cpus = 48", "cpus = -1", 16, "expected u32"),
        (
            "clock = \"real\"",
            "clock = \"wall\"",
            17,
            "`real` or `virtual`",
        ),
        (
            "variant = \"flag\"",
            "variant = \"x\"",
            24,
            "a variant of this series",
        ),
        (
            "patches = [\"one.patch\"]",
            "patches = [\"one.patch\"]\naa = true",
            3,
            "only with `patches = []`",
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
}

#[test]
fn an_aa_series_has_no_patches_and_says_that_it_is_one() {
    let bare = "title = \"t\"\npatches = []\n";
    assert!(!open(bare).unwrap().aa);
    assert!(open(&format!("{bare}aa = true\n")).unwrap().aa);
    assert!(!open(&format!("{bare}aa = false\n")).unwrap().aa);
    let aa = catalogue::list().unwrap();
    let aa: Vec<&str> = aa
        .iter()
        .filter(|one| one.aa)
        .map(|one| &one.name[..])
        .collect();
    assert_eq!(aa, ["linux-control-same"]);
}

#[test]
fn a_series_that_is_kept_keeps_what_its_claims_are_held_against() {
    let series = open(MANIFEST).unwrap();
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("kept");
    let kept = catalogue::import::write(&series, &to).unwrap();
    assert_eq!(kept.claims, series.claims);
}

#[test]
fn the_catalogue_holds_claims_against_what_its_workloads_measure() {
    let tests = catalogue::list().unwrap().into_iter().flat_map(|series| {
        let name = series.name;
        let tests = series.claims.into_iter().filter_map(|claim| claim.test);
        tests.map(move |test| (name.clone(), test.workload, test.metric, test.kind))
    });
    let tests: Vec<_> = tests.collect();
    let wanted = [
        ("dragonfly-exec-rate", "exec", "rate", ClaimKind::Level),
        (
            "linux-fd-alloc-bitmap",
            "fd-churn",
            "rate",
            ClaimKind::Change,
        ),
    ];
    let wanted = wanted.map(|(a, b, c, kind)| (a.to_owned(), b.to_owned(), c.to_owned(), kind));
    assert_eq!(tests, wanted);
}
