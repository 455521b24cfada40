#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn side(operations: u64, stacks: &[(&str, u64)]) -> Option<Stacks> {
    Some(Stacks {
        operations,
        stacks: stacks.iter().map(|(s, w)| ((*s).to_owned(), *w)).collect(),
        ..Stacks::default()
    })
}

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

/// 100 samples in 1000 operations, and 200 in 500: an operation takes four times as long.
fn slower() -> Pair {
    pair([
        side(1000, &[("sys;open;memset", 60), ("sys;close", 40)]),
        side(
            500,
            &[
                ("open;memset", 10),
                ("memset", 20),
                ("sys;close", 50),
                ("sys;search", 120),
            ],
        ),
    ])
}

#[test]
fn what_an_operation_costs_more_comes_first_and_chance_is_no_difference() {
    let shares = shares(&slower()).unwrap();
    assert!(shares.is_by_operation);
    assert_eq!(shares.samples, [Some(100), Some(200)]);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(close(shares.all.cost.unwrap(), 3.0));
    let names: Vec<&str> = shares.lines.iter().map(|line| &*line.name).collect();
    assert_eq!(names, ["search", "close", "memset"]);
    // 120 of 200 samples, four times as long; nothing in the base.
    assert!(close(shares.lines[0].cost.unwrap(), 2.4));
    assert_eq!(shares.lines[0].shares, [Some(0.0), Some(0.6)]);
    // Three functions: √(2 ln(2 × 3 ÷ 0.05)) = 3.09.
    assert_eq!((shares.sure * 100.0).round(), 309.0);
    // 0.25 × 4 − 0.4 = 0.6, and its error √(0.4² ÷ 40 + 1² ÷ 50) = 0.155.
    assert!(close(shares.lines[1].cost.unwrap(), 0.6));
    // 0.15 × 4 − 0.6 = 0.
    assert_eq!(shares.lines[2].cost, None);
}

#[test]
fn few_samples_show_no_difference_however_large_it_looks() {
    // Two functions: √(2 ln(2 × 2 ÷ 0.05)) = 2.96. 8 against none is √8 = 2.83 standard errors, 9 is 3.
    let of = |count| {
        let pair = pair([
            side(10, &[("a", 500)]),
            side(10, &[("a", 500), ("b", count)]),
        ]);
        let shares = shares(&pair).unwrap();
        let line = shares.lines.iter().find(|line| line.name == "b");
        line.unwrap().cost.is_some()
    };
    assert_eq!([of(8), of(9)], [false, true]);
}

#[test]
fn samples_that_weigh_more_are_no_more_sure() {
    let heavy = |mut stacks: Stacks| {
        stacks.times = stacks.stacks.clone();
        stacks
            .stacks
            .values_mut()
            .for_each(|weight| *weight *= 1000);
        stacks
    };
    let light = slower();
    let mut weighed = light.clone();
    weighed.sides = light.sides.clone().map(|side| side.map(heavy));
    assert_eq!(shares(&weighed), shares(&light));
}

#[test]
fn without_operations_the_shares_are_compared() {
    let mut pair = slower();
    pair.sides[0].as_mut().unwrap().operations = 0;
    let shares = shares(&pair).unwrap();
    assert!(!shares.is_by_operation);
    assert_eq!(shares.all.cost, None);
    let costs: Vec<_> = shares
        .lines
        .iter()
        .map(|line| (&*line.name, line.cost))
        .collect();
    // 0.6 from nothing; 0.15 from 0.6; 0.25 from 0.4 with an error of √(0.16 ÷ 40 + 0.0625 ÷ 50) = 0.07.
    assert_eq!(costs[0], ("search", Some(0.6)));
    assert_eq!(
        (costs[1].0, costs[1].1.map(|cost| (cost * 100.0).round())),
        ("memset", Some(-45.0))
    );
    assert_eq!(costs[2], ("close", None));
}

#[test]
fn the_table_says_how_much_it_is_worth() {
    let mut pair = slower();
    pair.sides[0].as_mut().unwrap().lost = 7;
    let shares = shares(&pair).unwrap();
    assert_eq!(
        render(&pair, &shares, 2),
        "\npatched against base, fd-churn fds=5: samples by cpu-clock\n\
         \x20 one boot each, so no verdict: 100 and 200 samples (base lost 7 stacks); ~ is within 3.1 standard errors of counting\n\
         \x20      base   variant       cost   cost in per cent of what an operation takes in the base\n\
         \x20  100.00 %  100.00 %  +300.00 %   all\n\
         \x20    0.00 %   60.00 %  +240.00 %   search\n\
         \x20   40.00 %   25.00 %   +60.00 %   close\n"
    );
}

#[test]
fn one_side_alone_is_shown_and_nothing_is_compared() {
    let alone = pair([None, side(0, &[("a", 3)])]);
    let found = shares(&alone).unwrap();
    assert_eq!(found.lines[0].shares, [None, Some(1.0)]);
    assert_eq!(found.lines[0].cost, None);
    assert!(render(&alone, &found, 9).contains("        -  100.00 %          ~   a\n"));
    // A side that was watched and saw nothing.
    let empty = pair([side(5, &[]), side(5, &[("a", 30)])]);
    assert_eq!(shares(&empty).unwrap().lines[0].shares, [None, Some(1.0)]);
    assert_eq!(shares(&pair([side(1, &[]), side(1, &[])])), None);
    assert_eq!(shares(&pair([None, None])), None);
}
