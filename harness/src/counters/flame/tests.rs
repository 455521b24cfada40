#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use roxmltree::{Document, ParsingOptions};

use super::*;
use crate::counters::stacks::PROFILE;

fn pair(sides: [Option<Stacks>; 2]) -> Pair {
    Pair {
        kind: PROFILE.into(),
        workload: "fd-churn".into(),
        parameters: "fds=5 grow=false".into(),
        event: "cpu-clock".into(),
        unit: "samples".into(),
        names: ["base".into(), "patched".into()],
        sides,
    }
}

fn side(operations: u64, stacks: &[(&str, u64)]) -> Option<Stacks> {
    Some(Stacks {
        operations,
        stacks: stacks.iter().map(|(s, w)| ((*s).to_owned(), *w)).collect(),
        ..Stacks::default()
    })
}

/// Every frame: what it says, and its colour. A strict reader reads it.
fn frames(svg: &str) -> Vec<(String, String)> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(svg, options).unwrap();
    let groups = document.descendants().filter(|node| node.has_tag_name("g"));
    let said = groups.map(|group| {
        let of = |tag: &str| {
            group
                .children()
                .find(|n| n.tag_name().name() == tag)
                .unwrap()
        };
        let fill = of("rect").attribute("fill").unwrap().to_owned();
        (of("title").text().unwrap().to_owned(), fill)
    });
    said.collect()
}

fn slower() -> Pair {
    pair([
        side(
            1000,
            &[
                ("sys;find_bit", 60),
                ("sys;find_bit;memset", 20),
                ("gone", 20),
            ],
        ),
        side(
            500,
            &[
                ("sys;find_bit", 120),
                ("sys;find_bit.part.0", 40),
                ("sys;find_bit;memset", 10),
                ("user space", 30),
            ],
        ),
    ])
}

#[test]
fn a_difference_is_by_operation_red_where_it_costs_and_blue_where_it_saves() {
    let drawings = drawings(&slower()).unwrap();
    let shows: Vec<Shows> = drawings.iter().map(|drawing| drawing.shows).collect();
    assert_eq!(shows, [Shows::Difference, Shows::Base, Shows::Variant]);
    let difference = &drawings[0];
    assert_eq!(difference.title, "patched against base: fd-churn fds=5");
    assert!(
        difference
            .subtitle
            .starts_with("cpu-clock, samples in 10,000,000 operations: red is"),
        "{}",
        difference.subtitle
    );
    // In ten million operations: 60 of 1000 are 600,000; 120 of 500 are 2,400,000 of 4,000,000.
    // Colours are inferno's, `color_scale`: 255 with 100 to 250, by the largest difference, 1,800,000.
    let white = "rgb(250,250,250)";
    let expected = [
        (
            "user space (600,000 samples in 10,000,000 operations, 15.00%; +15.00%)",
            "rgb(255,200,200)",
        ),
        (
            "find_bit.part.0 (800,000 samples in 10,000,000 operations, 20.00%; +20.00%)",
            "rgb(255,183,183)",
        ),
        (
            "memset (200,000 samples in 10,000,000 operations, 5.00%; 0.00%)",
            white,
        ),
        (
            "find_bit (2,600,000 samples in 10,000,000 operations, 65.00%; +45.00%)",
            "rgb(255,100,100)",
        ),
        (
            "sys (3,400,000 samples in 10,000,000 operations, 85.00%; 0.00%)",
            white,
        ),
        (
            "all (4,000,000 samples in 10,000,000 operations, 100%)",
            white,
        ),
    ];
    let mut found = frames(&difference.svg);
    found.sort();
    let mut expected = expected.map(|(title, fill)| (title.to_owned(), fill.to_owned()));
    expected.sort();
    assert_eq!(found, expected, "one find_bit, with what it calls");
    // The other way round it saves.
    let mut faster = slower();
    faster.sides.reverse();
    let blue = frames(&super::drawings(&faster).unwrap()[0].svg);
    assert!(
        blue.contains(&(
            "find_bit (800,000 samples in 10,000,000 operations, 80.00%; -180.00%)".into(),
            "rgb(100,100,255)".into()
        )),
        "{blue:?}"
    );
}

#[test]
fn without_operations_shares_are_compared() {
    let mut pair = slower();
    pair.sides[1].as_mut().unwrap().operations = 0;
    let difference = drawings(&pair).unwrap().remove(0);
    assert!(
        difference.subtitle.contains("samples in a million: "),
        "{}",
        difference.subtitle
    );
    // 60 of 100 before, 120 of 200 now.
    let found = frames(&difference.svg);
    let bit = found
        .iter()
        .find(|(title, _)| title.starts_with("find_bit ("));
    assert_eq!(
        bit.unwrap().0,
        "find_bit (650,000 samples in a million, 65.00%; 0.00%)"
    );
}

#[test]
fn one_kernel_alone_is_drawn_by_itself() {
    let mut pair = slower();
    pair.sides[0] = None;
    pair.sides[1].as_mut().unwrap().lost = 3;
    let drawings = drawings(&pair).unwrap();
    assert_eq!(drawings.len(), 1);
    assert_eq!(drawings[0].title, "patched: fd-churn fds=5");
    assert_eq!(
        drawings[0].subtitle,
        "cpu-clock: 200 samples in 500 operations, 3 stacks lost"
    );
    let names: Vec<String> = frames(&drawings[0].svg)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert!(
        names.contains(&"user space (30 samples, 15.00%)".into()),
        "{names:?}"
    );
    assert_eq!(
        drawings[0].file(TrialId(2), 1),
        "trial-2-flame-1-variant.svg"
    );
    let nothing = super::tests::pair([side(1, &[]), None]);
    assert_eq!(super::drawings(&nothing).unwrap(), []);
}

#[test]
fn equal_stacks_give_equal_bytes() {
    assert_eq!(drawings(&slower()).unwrap(), drawings(&slower()).unwrap());
}

#[test]
fn hostile_names_stay_names() {
    let evil = "</title><script>alert(1)</script>&amp;\"']]>";
    // What is behind a semicolon is the next frame.
    let stacks = [
        (evil, 1),
        ("# not a comment", 2),
        ("counted 12 34", 3),
        ("a 5;b 6 7", 4),
        ("--", 5),
    ];
    let mut pair = pair([side(1, &stacks), side(1, &stacks)]);
    pair.names = [evil.into(), evil.into()];
    pair.workload = evil.into();
    pair.event = evil.into();
    pair.unit = evil.into();
    for drawing in drawings(&pair).unwrap() {
        let found = frames(&drawing.svg);
        for name in [
            "</title><script>alert(1)</script>&amp (",
            "\"']]> (",
            "#\u{a0}not\u{a0}a\u{a0}comment",
            "counted\u{a0}12\u{a0}34",
            "b\u{a0}6\u{a0}7",
        ] {
            assert!(
                found.iter().any(|(title, _)| title.starts_with(name)),
                "{name}: {found:?}"
            );
        }
        let all = found.iter().find(|(title, _)| title.starts_with("all ("));
        let all = &all.unwrap().0;
        assert!(
            all.starts_with("all (15 ") || all.starts_with("all (1,500,000 "),
            "{all}"
        );
        assert_eq!(drawing.svg.matches("<script").count(), 1, "inferno's own");
    }
}

#[test]
fn numbers_at_the_ends_draw_or_are_left_out() {
    let most = 1 << 53;
    for (operations, weights, drawn) in [
        ([1, u64::MAX], [most, 1], 2),
        ([u64::MAX, 1], [1, most], 3),
        ([1, 1], [most, most], 3),
        ([0, 0], [1, most], 3),
    ] {
        let of = |side_of: usize| side(operations[side_of], &[("a;b", weights[side_of]), ("c", 0)]);
        let drawings = drawings(&pair([of(0), of(1)])).unwrap();
        assert_eq!(drawings.len(), drawn);
        drawings
            .iter()
            .for_each(|drawing| assert!(!frames(&drawing.svg).is_empty()));
    }
}

#[test]
fn ten_thousand_stacks_make_a_file_of_bounded_size() {
    let stacks: Vec<(String, u64)> = (0..10_000)
        .map(|n| (format!("sys;f{n};g{n}"), n + 1))
        .collect();
    let stacks: Vec<(&str, u64)> = stacks.iter().map(|(s, w)| (&**s, *w)).collect();
    let drawing = drawings(&pair([None, side(1, &stacks)])).unwrap().remove(0);
    assert!(drawing.svg.len() < 2_000_000, "{}", drawing.svg.len());
}
