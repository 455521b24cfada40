//! Sentences and drawings by hand.

use ktrial_db::VariantId;

use super::*;

fn verdict(ratio: f64, low: Option<f64>, high: Option<f64>) -> Verdict {
    Verdict {
        variant: VariantId(2),
        baseline: VariantId(1),
        cell: CellId(1),
        verdict: "regressed".into(),
        ratio: Some(ratio),
        low,
        high,
        level: 0.95,
        p_value: None,
        p_adjusted: None,
        boots_base: 5,
        boots_variant: 5,
        base_value: None,
        variant_value: None,
        margin: 0.02,
        rounds_needed: None,
        method: "m".into(),
        reason: None,
        notes_json: "[]".into(),
        computed_at: 0,
    }
}

fn said(ratio: f64, low: Option<f64>, high: Option<f64>) -> String {
    by_how_much(&verdict(ratio, low, high), ratio).replace('\u{a0}', " ")
}

#[test]
fn the_interval_counts_in_the_direction_of_the_sentence() {
    assert_eq!(
        said(0.928, Some(0.925), Some(0.931)),
        "7.2 % lower [6.9, 7.5]"
    );
    assert_eq!(
        said(1.072, Some(1.069), Some(1.075)),
        "7.2 % higher [6.9, 7.5]"
    );
    assert_eq!(
        said(0.997, Some(0.991), Some(1.002)),
        "0.3 % lower [\u{2212}0.2, 0.9]"
    );
    assert_eq!(said(1.5, None, None), "50.0 % higher [−∞, ∞]");
}

#[test]
fn a_table_has_signs_and_open_ends() {
    assert_eq!(
        interval(&verdict(0.928, Some(0.925), Some(0.931)), 1),
        "[\u{2212}7.5, \u{2212}6.9]"
    );
    assert_eq!(
        interval(&verdict(0.928, Some(0.925), None), 1),
        "[\u{2212}7.5, +∞]"
    );
}

#[test]
fn flags_that_are_off_are_not_named() {
    let cell = Cell {
        workload: "fd-churn".into(),
        parameters: "fastalloc=false fds=500000 grow=true touch=0".into(),
        metric: "rate".into(),
        unit: "1/s".into(),
        better: "higher".into(),
        primary: true,
    };
    assert_eq!(cell.setting(), "fds=500000 grow=true touch=0");
}

#[test]
fn an_interval_is_drawn_against_the_margin() {
    // 8 % of reach over 66 - 8 = 58 px: 7.25 px a percent, from the middle at 66.
    let forest = Forest::of(&verdict(0.96, Some(0.94), Some(0.98)), 8.0).unwrap();
    let json = serde_json::to_value(&forest).unwrap();
    let of = |field: &str| json[field].as_f64().unwrap();
    assert_eq!(
        [of("zero"), of("margin_left"), of("margin_width")],
        [66.0, 51.5, 29.0]
    );
    assert_eq!(
        [of("left"), of("estimate"), of("right")],
        [22.5, 37.0, 51.5]
    );
    assert_eq!([&json["open_left"], &json["open_right"]], [false, false]);
}

#[test]
fn what_lies_beyond_the_drawing_is_open_and_not_moved() {
    let forest = Forest::of(&verdict(0.5, None, Some(0.99)), 8.0).unwrap();
    let json = serde_json::to_value(&forest).unwrap();
    assert_eq!(json["left"], 8.0);
    assert_eq!([&json["open_left"], &json["open_right"]], [true, false]);
    assert!(json["estimate"].is_null());
}

#[test]
fn the_reach_keeps_the_margin_in_sight() {
    let reach = |ratio| forest::reach([verdict(ratio, None, None)].iter());
    assert_eq!(
        [reach(1.0), reach(0.9), reach(5.0)].map(f64::round),
        [4.0, 10.0, 24.0]
    );
}
