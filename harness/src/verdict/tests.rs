use super::*;
use ktrial_db::{BootId, Value, Variant};

fn judged(base: &[f64], variant: &[f64], margin: f64) -> Verdict {
    verdict_of(samples_of(base, variant), margin)
}

/// One sample a boot, a boot a round.
fn samples_of(base: &[f64], variant: &[f64]) -> Vec<Sample> {
    let samples = [(1, base), (2, variant)]
        .into_iter()
        .flat_map(|(id, values)| {
            values.iter().zip(0..).map(move |(value, round)| Sample {
                boot: BootId(id * 100 + round),
                variant: VariantId(id),
                round: round as u32,
                cell: CellId(1),
                iteration: 0,
                warmup: false,
                value: Value::Ok(*value),
            })
        });
    samples.collect()
}

fn verdict_of(samples: Vec<Sample>, margin: f64) -> Verdict {
    let rounds = samples.iter().map(|s| s.round + 1).max().unwrap();
    looked_at(&samples, margin, &[rounds])
}

fn looked_at(samples: &[Sample], margin: f64, looks: &[u32]) -> Verdict {
    planned(samples, margin, &format!("{{\"looks\": {looks:?}}}"))
}

fn planned(samples: &[Sample], margin: f64, plan: &str) -> Verdict {
    let cell = Cell {
        workload: "fd-churn".into(),
        parameters: String::new(),
        metric: "rate".into(),
        unit: "1/s".into(),
        better: "higher".into(),
        primary: true,
    };
    let variant = |id, name: &str| Variant {
        id: VariantId(id),
        name: name.into(),
        position: 0,
        series: None,
        kernel: None,
        settings_json: String::new(),
        applied_json: String::new(),
        left_out: false,
    };
    let trial = Trial {
        id: TrialId(1),
        plan_key: String::new(),
        machine: ktrial_db::MachineId(1),
        tree: ktrial_db::TreeId(1),
        title: String::new(),
        seed: 0,
        rounds: 0,
        margin,
        clock: "virtual".into(),
        accelerator: "tcg".into(),
        shape_json: String::new(),
        plan_json: plan.into(),
        host_json: "{}".into(),
        command_line: String::new(),
        ktrial_version: String::new(),
        started_at: 0,
        finished_at: None,
        outcome: None,
        failure: None,
        variants: vec![variant(1, "base"), variant(2, "patched")],
    };
    let design = Design::of(&trial).unwrap();
    let cells = [(CellId(1), cell)];
    let found = findings(&trial, &cells, samples, &design);
    found[0].verdict(&trial, 0)
}

const BASE: &[f64] = &[1000.0, 1001.0, 999.0, 1002.0, 998.0];

#[test]
fn far_apart_is_regressed_and_close_is_unchanged() {
    let slower: Vec<f64> = BASE.iter().map(|v| v * 0.93).collect();
    let verdict = judged(BASE, &slower, 0.01);
    assert_eq!(verdict.verdict, "regressed");
    assert!((verdict.ratio.unwrap() - 0.93).abs() < 1e-3);
    let same: Vec<f64> = BASE.iter().map(|v| v * 1.001).collect();
    assert_eq!(judged(BASE, &same, 0.01).verdict, "unchanged");
}

#[test]
fn a_metric_may_have_a_margin_of_its_own() {
    let slower: Vec<f64> = BASE.iter().map(|v| v * 0.93).collect();
    let samples = samples_of(BASE, &slower);
    let of = |margins: &str| {
        planned(
            &samples,
            0.01,
            &format!(r#"{{"looks": [5], "margins": {margins}}}"#),
        )
    };
    let wide = of(r#"{"rate": 0.1}"#);
    assert_eq!((wide.verdict.as_str(), wide.margin), ("unchanged", 0.1));
    let of_another = of(r#"{"p50": 0.1}"#);
    let found = (of_another.verdict.as_str(), of_another.margin);
    assert_eq!(found, ("regressed", 0.01));
}

#[test]
fn significant_but_inside_the_margin_is_unchanged_with_the_figure_shown() {
    let shifted: Vec<f64> = BASE.iter().map(|v| v * 1.006).collect();
    let verdict = judged(BASE, &shifted, 0.02);
    assert_eq!(verdict.verdict, "unchanged");
    assert!(verdict.low.unwrap() > 1.0, "the interval leaves out 1");
}

#[test]
fn a_difference_that_may_lie_inside_the_margin_is_no_alarm() {
    // Medians 0.8 % apart, all above the base, some by more than the margin of 1 %.
    let variant: Vec<f64> = [1.004, 1.006, 1.008, 1.013, 1.015]
        .iter()
        .zip([1000.0, 1000.1, 999.9, 1000.2, 999.8])
        .map(|(factor, base)| factor * base)
        .collect();
    let verdict = judged(&[1000.0, 1000.1, 999.9, 1000.2, 999.8], &variant, 0.01);
    assert!(verdict.low.unwrap() > 1.0);
    assert_eq!(verdict.verdict, "inconclusive");
    assert!(verdict.reason.unwrap().contains("no more than the margin"));
}

#[test]
fn wide_is_inconclusive_with_the_rounds_that_would_settle_it() {
    let base = [900.0, 1100.0, 1000.0, 950.0, 1050.0];
    let verdict = judged(&base, &[910.0, 1090.0, 1005.0, 955.0, 1060.0], 0.01);
    assert_eq!(verdict.verdict, "inconclusive");
    // Seven times as narrow would do: hundreds of rounds, which nobody makes.
    assert_eq!(verdict.rounds_needed, None);
}

#[test]
fn few_boots_decide_little_and_no_spread_nothing_however_far_apart() {
    let one = judged(&[100.0], &[50.0], 0.01);
    assert_eq!(
        (one.verdict.as_str(), one.rounds_needed),
        ("inconclusive", Some(3))
    );
    // Two against two: only 6 arrangements.
    let two = judged(&[100.0, 101.0], &[50.0, 51.0], 0.01);
    assert_eq!(two.verdict, "inconclusive");
    let flat = judged(&[100.0; 8], &[50.0; 8], 0.01);
    assert_eq!(flat.verdict, "inconclusive");
    assert!(flat.reason.unwrap().contains("no spread"));
    assert_eq!((flat.ratio, flat.p_value), (None, None));
}

#[test]
fn zero_missing_and_unsupported_are_told_apart() {
    let zero = judged(BASE, &[0.0, 1.0, 2.0, 3.0, 4.0], 0.01);
    assert_eq!(zero.verdict, "inconclusive");
    assert!(zero.reason.unwrap().contains("zero"));
    let mut samples = samples_of(BASE, BASE);
    samples[7].value = Value::Missing;
    let missing = verdict_of(samples.clone(), 0.01);
    assert_eq!(missing.verdict, "failed");
    assert_eq!(missing.reason.unwrap(), "a value is missing");
    samples[7].value = Value::Unsupported("no such flag".into());
    assert_eq!(verdict_of(samples, 0.01).verdict, "unsupported");
}

#[test]
fn a_first_look_without_spread_is_no_last_word() {
    let noise = [100.0, 100.2, 99.9, 100.1, 99.8, 100.3, 99.7, 100.0];
    let base: Vec<f64> = [100.0; 4].into_iter().chain(noise).collect();
    let variant: Vec<f64> = base.iter().map(|v| v * 0.9).collect();
    let until = |rounds: usize| samples_of(&base[..rounds], &variant[..rounds]);
    let first = looked_at(&until(4), 0.01, &[4, 12]);
    assert!(first.reason.unwrap().contains("no spread"));
    let last = looked_at(&until(12), 0.01, &[4, 12]);
    assert_eq!(last.verdict, "regressed", "{:?}", last.reason);
    assert!((last.ratio.unwrap() - 0.9).abs() < 1e-3);
}

#[test]
fn what_an_early_look_found_is_not_said_of_later_boots_that_deny_it() {
    let base: Vec<f64> = BASE.iter().chain(BASE).copied().collect();
    let slower = BASE.iter().map(|v| v * 0.93);
    let variant: Vec<f64> = slower.chain(BASE.iter().map(|v| v * 1.04)).collect();
    let early = looked_at(&samples_of(&base[..5], &variant[..5]), 0.01, &[5, 10]);
    assert_eq!(early.verdict, "regressed");
    let late = looked_at(&samples_of(&base, &variant), 0.01, &[5, 10]);
    // The p-value of any look so far stands, and what is said is of all boots.
    assert!(late.p_value.unwrap() <= early.p_value.unwrap());
    assert!(late.low.unwrap() < 1.0 && late.high.unwrap() > 1.0);
    assert_eq!(late.verdict, "inconclusive");
}

#[test]
fn a_look_spends_its_share() {
    let slower: Vec<f64> = BASE.iter().map(|v| v * 0.93).collect();
    let samples = samples_of(BASE, &slower);
    let once = looked_at(&samples, 0.01, &[5]);
    let early = looked_at(&samples, 0.01, &[5, 20]);
    // A quarter of the way spends a quarter of the level: four times the p-value.
    let times = early.p_value.unwrap() / once.p_value.unwrap();
    assert!((times - 4.0).abs() < 1e-6, "{times}");
    let width = |v: &Verdict| v.high.unwrap() / v.low.unwrap();
    assert!(width(&early) > width(&once));
    // Between two looks nothing new is said.
    let between = looked_at(&samples, 0.01, &[4, 6]);
    let at_four = looked_at(&samples, 0.01, &[4, 20]);
    assert_eq!((between.boots_base, at_four.boots_base), (4, 4));
    // Before the first look there is an estimate and no verdict.
    let before = looked_at(&samples, 0.01, &[6, 12]);
    assert_eq!(before.verdict, "inconclusive");
    assert_eq!((before.low, before.p_value), (None, None));
    assert!((before.ratio.unwrap() - 0.93).abs() < 1e-3);
    assert_eq!(before.rounds_needed, Some(6));
}

#[test]
fn what_the_rounds_left_would_hardly_settle_is_given_up() {
    let wide = [900.0, 1100.0, 1000.0, 950.0, 1050.0, 1010.0];
    let same = [901.0, 1099.0, 1002.0, 949.0, 1049.0, 1012.0];
    let verdict = looked_at(&samples_of(&wide, &same), 0.01, &[6, 12]);
    assert_eq!(verdict.verdict, "inconclusive");
    assert!(verdict.reason.unwrap().contains("given up"));
}

#[test]
fn more_iterations_in_a_boot_are_not_more_boots() {
    let samples = (1..=2).flat_map(|id| {
        (0..100).map(move |iteration| Sample {
            boot: BootId(id),
            variant: VariantId(id),
            round: 0,
            cell: CellId(1),
            iteration,
            warmup: false,
            value: Value::Ok(if id == 1 { 100.0 } else { 50.0 } + f64::from(iteration) / 100.0),
        })
    });
    let verdict = verdict_of(samples.collect(), 0.01);
    assert_eq!((verdict.boots_base, verdict.boots_variant), (1, 1));
    assert_eq!(verdict.verdict, "inconclusive");
}

#[test]
fn unsupported_is_never_a_rate_of_zero() {
    let mut samples: Vec<Sample> = Vec::new();
    for (id, value) in [
        (1, Value::Ok(5.0)),
        (2, Value::Unsupported("no flag".into())),
    ] {
        samples.push(Sample {
            boot: BootId(id),
            variant: VariantId(id),
            round: 0,
            cell: CellId(1),
            iteration: 0,
            warmup: false,
            value,
        });
    }
    let verdict = verdict_of(samples, 0.01);
    assert_eq!(verdict.verdict, "unsupported");
    assert_eq!((verdict.ratio, verdict.variant_value), (None, None));
}
