//! Coordinates by hand.

use ktrial_db::{BootId, Value, VariantId};

use super::super::figures::Run;
use super::*;

fn boot(round: u32, runs: &[(bool, Value)], median: Option<f64>) -> BootFigures {
    let run = |(warmup, value): &(bool, Value)| Run {
        warmup: *warmup,
        value: value.clone(),
    };
    BootFigures {
        boot: BootId(i64::from(round)),
        round,
        runs: runs.iter().map(run).collect(),
        median,
        outlier: false,
    }
}

fn figures(variants: Vec<Vec<BootFigures>>) -> Figures {
    let variant = |(id, boots)| VariantFigures {
        variant: VariantId(id),
        boots,
    };
    Figures {
        variants: (0..).zip(variants).map(variant).collect(),
    }
}

fn frame<'a>(names: &'a [String], margin: f64) -> Frame<'a> {
    Frame {
        unit: "1/s",
        names,
        margin,
    }
}

fn names() -> Vec<String> {
    vec!["base".into(), "patched".into()]
}

/// Base: one boot with a warm-up of 80 and runs of 90 and 110. Patched: one of 120, one without.
fn chart() -> Chart {
    let base = [(true, 80.0), (false, 90.0), (false, 110.0)].map(|(w, v)| (w, Value::Ok(v)));
    let variants = vec![
        vec![boot(0, &base, Some(100.0))],
        vec![
            boot(0, &[(false, Value::Ok(120.0))], Some(120.0)),
            boot(1, &[(false, Value::Missing)], None),
        ],
    ];
    Chart::of(&figures(variants), &frame(&names(), 0.1)).unwrap()
}

#[test]
fn values_become_heights() {
    // Numbers from 80 to 120, the band 90 to 110 inside; 5 % room: the axis goes from 78 to 122.
    // 150 px for 44: y(v) = 18 + 150 * (122 - v) / 44.
    let chart = chart();
    let base = &chart.groups[0].boots[0];
    assert_eq!(base.median, Some(93.0)); // 18 + 150 * 22 / 44
    assert_eq!(base.warmups[0].y, 161.2); // 18 + 150 * 42 / 44 = 161.18
    assert_eq!([base.runs[0].y, base.runs[1].y], [127.1, 58.9]); // 32 and 12 of 44
    assert_eq!(chart.groups[1].boots[0].median, Some(24.8)); // 2 of 44
    let reference = Reference {
        y: 93.0,
        band_top: 58.9,
        band_height: 68.2,
    };
    assert_eq!(chart.reference, Some(reference));
}

#[test]
fn boots_stand_in_columns_and_runs_side_by_side() {
    // 3 boots and a gap: 280 / 4 = 70, held to 40 px a column. Base at 56 + 20 = 76; the patched
    // ones begin after base and gap, at 56 + 80: 156 and 196. Three runs, 4 px apart.
    let chart = chart();
    let x: Vec<f64> = chart
        .groups
        .iter()
        .flat_map(|g| &g.boots)
        .map(|b| b.x)
        .collect();
    assert_eq!(x, [76.0, 156.0, 196.0]);
    let base = &chart.groups[0].boots[0];
    assert_eq!(
        [base.warmups[0].x, base.runs[0].x, base.runs[1].x],
        [72.0, 76.0, 80.0]
    );
    assert_eq!([base.median_left, base.median_right], [66.0, 86.0]);
    assert_eq!([chart.groups[0].x, chart.groups[1].x], [76.0, 176.0]);
    assert_eq!(
        chart.plot,
        Box {
            left: 56.0,
            top: 18.0,
            right: 216.0,
            bottom: 168.0
        }
    );
    assert_eq!((chart.width, chart.height), (224.0, 190.0));
}

#[test]
fn ticks_are_round_numbers_at_their_heights() {
    let chart = chart();
    let ticks: Vec<(&str, f64)> = chart.ticks.iter().map(|t| (&*t.label, t.y)).collect();
    // 44 / 5 = 8.8: steps of 10. y(80) = 161.2, y(90) = 127.1, and so on by 34.1.
    let expected = [
        ("80", 161.2),
        ("90", 127.1),
        ("100", 93.0),
        ("110", 58.9),
        ("120", 24.8),
    ];
    assert_eq!(ticks, expected);
    assert_eq!(chart.unit, "/s");
}

#[test]
fn a_run_without_a_number_is_crossed_and_not_zero() {
    let chart = chart();
    let failed = &chart.groups[1].boots[1];
    assert_eq!(failed.crosses, [Dot { x: 196.0, y: 163.0 }]);
    assert!(failed.runs.is_empty() && failed.median.is_none());
    assert_eq!(failed.title, "patched, round 2: no value");
}

#[test]
fn nanoseconds_are_shown_in_the_scale_that_fits() {
    let runs = [1_000_000.0, 1_400_000.0].map(|v| (false, Value::Ok(v)));
    let figures = figures(vec![vec![boot(0, &runs, Some(1_200_000.0))]]);
    let names = ["base".to_owned()];
    let chart = Chart::of(
        &figures,
        &Frame {
            unit: "ns",
            names: &names,
            margin: 0.01,
        },
    )
    .unwrap();
    let labels: Vec<&str> = chart.ticks.iter().map(|t| &*t.label).collect();
    // 0.98 to 1.42 ms: 0.44 / 5 = 0.088, steps of 0.1.
    assert_eq!(labels, ["1.0", "1.1", "1.2", "1.3", "1.4"]);
    assert_eq!(chart.unit, "ms");
}

#[test]
fn equal_zero_and_enormous_numbers_draw_or_say_no() {
    let one = |value| {
        let runs = [(false, Value::Ok(value))];
        Chart::of(
            &figures(vec![vec![boot(0, &runs, Some(value))]]),
            &frame(&names(), 0.02),
        )
    };
    for value in [0.0, 1.0, -5.0, 1e-300, 1e300] {
        let chart = one(value).unwrap();
        let median = chart.groups[0].boots[0].median.unwrap();
        assert!((18.0..=168.0).contains(&median), "{value}: {median}");
        assert!(
            chart.ticks.iter().all(|t| (18.0..=168.0).contains(&t.y)),
            "{value}"
        );
    }
    assert!(one(f64::MAX).is_none());
    let nothing = figures(vec![vec![boot(0, &[(false, Value::Missing)], None)]]);
    assert!(Chart::of(&nothing, &frame(&names(), 0.02)).is_none());
}

#[test]
fn many_boots_get_narrow_columns_and_short_names() {
    // 30 boots and no gap: 280 / 30 = 9.3, held to 10 px. Base's name fits.
    let runs = [(false, Value::Ok(1.0))];
    let many = (0..30).map(|round| boot(round, &runs, Some(1.0))).collect();
    let chart = Chart::of(&figures(vec![many]), &frame(&["base".to_owned()], 0.02)).unwrap();
    assert_eq!(chart.plot.right, 356.0);
    // One boot of 40 px and its gap: 80 / 7 = 11 letters, less one.
    let few = figures(vec![vec![boot(0, &runs, Some(1.0))]]);
    let name = ["a-very-long-variant".to_owned()];
    let chart = Chart::of(&few, &frame(&name, 0.02)).unwrap();
    assert_eq!(chart.groups[0].name, "a-very-lon\u{2026}");
}
