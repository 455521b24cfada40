#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_db::TrialId;

use super::*;

fn variant(id: i64, name: &str) -> Variant {
    Variant {
        id: VariantId(id),
        name: name.into(),
        position: id as u32 - 1,
        series: None,
        kernel: None,
        settings_json: "{}".into(),
        applied_json: "{}".into(),
        left_out: false,
    }
}

fn observation(variant: i64, kind: &str, json: &str) -> Observation {
    Observation {
        trial: TrialId(1),
        variant: VariantId(variant),
        kind: kind.into(),
        seed: 1,
        started_at: 0,
        ended_at: 1,
        json: json.into(),
    }
}

fn entry(workload: &str, event: &str, stacks: &str) -> String {
    format!(
        r#"{{"workload": "{workload}", "parameters": "fds=5 grow=false", "event": "{event}",
            "unit": "samples", "operations": 10, "lost": 1, "stacks": {stacks}}}"#
    )
}

#[test]
fn sides_are_paired_by_what_was_watched_and_how() {
    let clock = entry("exec", "cpu-clock", r#"{"a;b": 3}"#);
    let cycles = entry("exec", "cycles", r#"{"a": 9}"#);
    let variants = [variant(1, "base"), variant(2, "p"), variant(3, "q")];
    let observed = paired(
        &variants,
        &[
            observation(1, LOCKS, &format!("[{clock}]")),
            observation(1, PROFILE, &format!("[{clock}, {clock}]")),
            observation(2, PROFILE, &format!("[{clock}, {cycles}]")),
        ],
    );
    assert_eq!(observed.unread, 0);
    let found: Vec<_> = observed
        .pairs
        .iter()
        .map(|pair| {
            let totals = pair.sides.each_ref().map(|s| s.as_ref().map(Stacks::total));
            (&*pair.names[1], &*pair.kind, &*pair.event, totals)
        })
        .collect();
    assert_eq!(
        found,
        [
            // The base's two entries of one setting are one.
            ("p", PROFILE, "cpu-clock", [Some(6), Some(3)]),
            // Never cycles of one against ticks of the other.
            ("p", PROFILE, "cycles", [None, Some(9)]),
            ("p", LOCKS, "cpu-clock", [Some(3), None]),
            ("q", PROFILE, "cpu-clock", [Some(6), None]),
            ("q", LOCKS, "cpu-clock", [Some(3), None]),
        ]
    );
    let first = &observed.pairs[0];
    assert_eq!(first.what(), "exec fds=5");
    assert_eq!(first.operations(), Some([20.0, 10.0]));
    assert_eq!(first.lacks(), "base lost 2 stacks; p lost 1 stacks");
}

#[test]
fn what_could_not_be_seen_has_its_reason_beside_what_was() {
    let lacking =
        entry("exec", "cpu-clock", "{}").replacen('{', r#"{"absent": "no \u0007clock", "#, 1);
    let observed = paired(
        &[variant(1, "base"), variant(2, "p")],
        &[
            observation(
                1,
                PROFILE,
                &format!("[{}]", entry("exec", "cpu-clock", r#"{"a": 3}"#)),
            ),
            observation(2, PROFILE, &format!("[{lacking}]")),
        ],
    );
    let pair = &observed.pairs[0];
    assert_eq!(pair.lacks(), "base lost 1 stacks; p: no clock");
    assert_eq!(pair.nothing(), "base lost 1 stacks; p: no clock");
    let alone = paired(
        &[variant(1, "base"), variant(2, "p")],
        &[observation(
            1,
            LOCKS,
            &format!("[{}]", entry("exec", "cpu-clock", "{}")),
        )],
    );
    assert_eq!(
        alone.pairs[0].nothing(),
        "base lost 1 stacks; p was not watched"
    );
    let none = Pair {
        sides: [Some(Stacks::default()), Some(Stacks::default())],
        event: "cpu-clock".into(),
        ..Pair::default()
    };
    assert_eq!(none.nothing(), "nothing seen by cpu-clock");
}

#[test]
fn what_a_later_ktrial_wrote_is_counted_and_the_rest_is_read() {
    let known = entry("exec", "cpu-clock", r#"{"a": 1}"#);
    let more = known.replacen('{', r#"{"depth": 3, "#, 1);
    let observed = paired(
        &[variant(1, "base"), variant(2, "p")],
        &[
            observation(1, PROFILE, &format!("[{more}, {{\"stacks\": 5}}]")),
            observation(2, PROFILE, "{\"version\": 2}"),
            observation(2, "energy", &format!("[{known}]")),
            observation(2, LOCKS, "no JSON"),
        ],
    );
    assert_eq!(observed.pairs.len(), 1);
    assert_eq!(observed.unread, 4);
    assert_eq!(paired(&[], &[]), Observed::default());
}

#[test]
fn names_are_made_fit_to_be_shown_and_equal_ones_are_one() {
    let stack = |text: &str| fit_stack(text);
    assert_eq!(stack("a\u{1b}[31m;b\nc; ;d\u{fffe}"), "a[31m;b c;?;d");
    assert_eq!(stack(""), "?");
    let deep = vec!["f"; 10_000].join(";") + ";caller;lock";
    let cut = stack(&deep);
    assert_eq!(cut.split(';').count(), DEEPEST);
    assert!(cut.ends_with("f;\u{2026};caller;lock"), "{cut}");
    let seen = Stacks {
        stacks: [("a\u{7}".into(), 2), ("a".into(), 3)].into(),
        ..Stacks::default()
    };
    assert_eq!(fit(seen).unwrap().stacks, [("a".into(), 5)].into());
}

#[test]
fn numbers_that_nothing_counts_to_are_refused() {
    let of = |weights: [u64; 2]| {
        fit(Stacks {
            stacks: [("a".into(), weights[0]), ("b".into(), weights[1])].into(),
            ..Stacks::default()
        })
    };
    assert!(of([LARGEST - 1, 1]).is_some());
    assert!(of([LARGEST, 1]).is_none());
    assert!(of([u64::MAX, u64::MAX]).is_none());
}

#[test]
fn a_guest_that_invents_workloads_does_not_fill_the_report() {
    let entries: Vec<String> = (0..1000)
        .map(|n| entry(&format!("w{n}"), "cpu-clock", "{}"))
        .collect();
    let json = format!("[{}]", entries.join(","));
    let observed = paired(
        &[variant(1, "base"), variant(2, "p")],
        &[observation(2, PROFILE, &json)],
    );
    assert_eq!(
        (observed.pairs.len(), observed.unread),
        (MOST_SETTINGS, 1000 - MOST_SETTINGS)
    );
}
