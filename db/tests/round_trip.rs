//! What goes in comes out, and what must not go in doesn't.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use fixture::*;
use ktrial_db::*;

#[test]
fn things_come_back_as_they_were_and_equal_ones_are_one_row() {
    let mut db = Db::in_memory().unwrap();
    let id = db.put_machine(&machine()).unwrap();
    assert_eq!(db.put_machine(&machine()).unwrap(), id);
    assert_eq!(db.machine(id).unwrap().unwrap(), machine());
    let id = db.put_tree(&tree()).unwrap();
    assert_eq!(db.put_tree(&tree()).unwrap(), id);
    assert_eq!(db.tree(id).unwrap().unwrap(), tree());
    let id = db.put_kernel(&kernel("k")).unwrap();
    assert_eq!(db.put_kernel(&kernel("k")).unwrap(), id);
    assert_eq!(db.kernel(id).unwrap().unwrap(), kernel("k"));
    let id = db.put_series(&series()).unwrap();
    assert_eq!(db.put_series(&series()).unwrap(), id);
    assert_eq!(db.series(id).unwrap().unwrap(), series());
    assert_eq!(db.series(SeriesId(99)).unwrap(), None);
}

#[test]
fn a_machine_that_changed_is_another_row_under_the_same_key() {
    let mut db = Db::in_memory().unwrap();
    let before = db.put_machine(&machine()).unwrap();
    let changed = Machine {
        os_release: "Debian 13".into(),
        ..machine()
    };
    let after = db.put_machine(&changed).unwrap();
    assert_ne!(before, after);
    assert_eq!(db.machine(before).unwrap().unwrap(), machine());
    assert_eq!(db.machine(after).unwrap().unwrap(), changed);
}

#[test]
fn one_key_for_two_contents_is_a_conflict() {
    let mut db = Db::in_memory().unwrap();
    db.put_series(&series()).unwrap();
    let mut other = series();
    other.patches.pop();
    let error = db.put_series(&other).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
}

#[test]
fn a_trial_comes_back_as_it_was_with_all_64_bits_of_its_seed() {
    let mut db = Db::in_memory().unwrap();
    let plan = plan(&mut db);
    let id = db.begin_trial(&plan).unwrap();
    let trial = db.trial(id).unwrap().unwrap();
    let variants = trial.variants.iter().map(|variant| NewVariant {
        name: variant.name.clone(),
        position: variant.position,
        series: variant.series,
        kernel: variant.kernel,
        settings_json: variant.settings_json.clone(),
        applied_json: variant.applied_json.clone(),
        left_out: variant.left_out,
    });
    let back = NewTrial {
        plan_key: trial.plan_key.clone(),
        machine: trial.machine,
        tree: trial.tree,
        title: trial.title.clone(),
        seed: trial.seed,
        rounds: trial.rounds,
        margin: trial.margin,
        clock: trial.clock.clone(),
        accelerator: trial.accelerator.clone(),
        shape_json: trial.shape_json.clone(),
        plan_json: trial.plan_json.clone(),
        host_json: trial.host_json.clone(),
        command_line: trial.command_line.clone(),
        ktrial_version: trial.ktrial_version.clone(),
        started_at: trial.started_at,
        variants: variants.collect(),
    };
    assert_eq!(back, plan);
    assert_eq!(trial.seed, u64::MAX);
    assert_eq!((trial.finished_at, trial.outcome), (None, None));
    assert_eq!(db.trial(TrialId(99)).unwrap(), None);
}

#[test]
fn a_boot_comes_back_as_it_was() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let new = boot(&begun, 0);
    let id = db.record_boot(&new).unwrap();
    let expected = Boot {
        id,
        trial: new.trial,
        variant: new.variant,
        round: 0,
        position: 0,
        attempt: 0,
        seed: u64::MAX,
        perturbation_json: new.perturbation_json.clone(),
        outcome: "ok".into(),
        detail: None,
        started_at: 1_790_000_200_000,
        ended_at: 1_790_000_260_000,
        guest_boot_ns: Some(2_600_000_000),
    };
    assert_eq!(db.boots(begun.trial).unwrap(), [expected]);
    assert_eq!(
        db.artifact(id, "console").unwrap().unwrap(),
        new.artifacts[0].bytes
    );
    assert_eq!(db.artifact(id, "frames").unwrap(), None);
    let artifacts = db.artifacts(id).unwrap();
    assert_eq!(artifacts.len(), 1);
    assert_eq!((artifacts[0].raw_bytes, artifacts[0].cut), (38, false));
    let cells: Vec<_> = db.cells(begun.trial).unwrap();
    assert_eq!(
        cells,
        [(begun.latency, cell("p99")), (begun.rate, cell("rate"))]
    );
}

#[test]
fn values_of_every_kind_come_back_to_the_last_bit() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let values = [
        Value::Ok(0.1 + 0.2),
        Value::Ok(f64::MAX),
        Value::Ok(f64::MIN),
        Value::Ok(f64::MIN_POSITIVE / 2.0),
        Value::Ok(9_007_199_254_740_993.0),
        Value::Ok(0.0),
        Value::Missing,
        Value::Unsupported("SOCK_FD_FASTALLOC: EINVAL".into()),
        Value::Failed(String::new()),
    ];
    let samples = (0..).zip(&values).map(|(iteration, value)| NewSample {
        cell: begun.rate,
        iteration,
        warmup: false,
        value: value.clone(),
    });
    db.record_boot(&NewBoot {
        samples: samples.collect(),
        ..boot(&begun, 0)
    })
    .unwrap();
    let back = db.samples(begun.trial).unwrap();
    let back: Vec<_> = back.into_iter().map(|sample| sample.value).collect();
    assert_eq!(back, values);
}

#[test]
fn samples_come_in_order_and_warm_ups_first() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    // Recorded the other way round.
    db.record_boot(&boot(&begun, 1)).unwrap();
    db.record_boot(&boot(&begun, 0)).unwrap();
    let seen: Vec<_> = db
        .samples(begun.trial)
        .unwrap()
        .into_iter()
        .map(|sample| (sample.round, sample.cell, sample.warmup))
        .collect();
    let of = |round| {
        [
            (round, begun.rate, true),
            (round, begun.rate, false),
            (round, begun.latency, false),
        ]
    };
    assert_eq!(seen, [of(0), of(1)].concat());
}

#[test]
fn what_is_no_number_is_refused_and_leaves_nothing() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut new = boot(&begun, 0);
        new.samples[2].value = Value::Ok(value);
        let error = db.record_boot(&new).unwrap_err();
        let Error::NotFinite { table, column, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((table, column), ("sample", "value"));
    }
    assert_eq!(db.boots(begun.trial).unwrap(), []);
    assert_eq!(db.samples(begun.trial).unwrap(), []);

    let plan = NewTrial {
        plan_key: "another".into(),
        margin: f64::NAN,
        ..plan(&mut db)
    };
    assert!(matches!(
        db.begin_trial(&plan),
        Err(Error::NotFinite { .. })
    ));
}

#[test]
fn what_needs_64_bits_is_refused_by_name() {
    let mut db = Db::in_memory().unwrap();
    let largest = Machine {
        memory_bytes: i64::MAX as u64,
        ..machine()
    };
    let id = db.put_machine(&largest).unwrap();
    assert_eq!(db.machine(id).unwrap().unwrap(), largest);
    let error = db
        .put_machine(&Machine {
            memory_bytes: i64::MAX as u64 + 1,
            ..machine()
        })
        .unwrap_err();
    assert!(
        error.to_string().contains("machine.memory_bytes"),
        "{error}"
    );
}

#[test]
fn a_rule_of_the_schema_is_told_in_words() {
    let mut db = Db::in_memory().unwrap();
    let mut new = plan(&mut db);
    new.clock = "wall".into();
    let error = db.begin_trial(&new).unwrap_err().to_string();
    assert!(
        error.contains("a clock is virtual, real or emulated"),
        "{error}"
    );
    let mut new = plan(&mut db);
    new.variants.clear();
    assert!(matches!(db.begin_trial(&new), Err(Error::Refused(_))));
    assert_eq!(db.trials().unwrap(), []);
}

#[test]
fn a_large_artifact_keeps_head_and_tail() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let mut new = boot(&begun, 0);
    let mut bytes = b"Linux version 6.1\n".to_vec();
    bytes.resize(9 << 20, b'.');
    bytes.extend(b"Kernel panic\n");
    new.artifacts[0].bytes = bytes.clone();
    let id = db.record_boot(&new).unwrap();
    let kept = db.artifact(id, "console").unwrap().unwrap();
    assert!(kept.len() <= MAX_ARTIFACT_BYTES && kept.len() > MAX_ARTIFACT_BYTES - 100);
    assert!(kept.starts_with(b"Linux version 6.1\n") && kept.ends_with(b"Kernel panic\n"));
    let size = &db.artifacts(id).unwrap()[0];
    assert_eq!((size.raw_bytes, size.cut), (bytes.len() as u64, true));
    assert!(size.stored_bytes < 100_000);
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn what_was_seen_comes_back_by_kind_and_variant_and_once_only() {
    let mut db = Db::in_memory().unwrap();
    let plan = plan(&mut db);
    let trial = db.begin_trial(&plan).unwrap();
    let variants = db.trial(trial).unwrap().unwrap().variants;
    let seen = |variant: usize, kind: &str| Observation {
        trial,
        variant: variants[variant].id,
        kind: kind.to_owned(),
        seed: u64::MAX,
        started_at: 1,
        ended_at: 2,
        json: format!("[\"{kind} {variant}\"]").into_bytes(),
    };
    let all = [seen(1, "profile"), seen(0, "profile"), seen(1, "locks")];
    for observation in &all {
        db.record_observation(observation).unwrap();
    }
    let back = db.observations(trial).unwrap();
    assert_eq!(back, [all[2].clone(), all[1].clone(), all[0].clone()]);
    assert!(db.record_observation(&all[0]).is_err());
    let long = Observation {
        json: vec![b' '; MAX_ARTIFACT_BYTES + 1],
        ..seen(0, "locks")
    };
    assert!(matches!(
        db.record_observation(&long),
        Err(Error::Unstorable { .. })
    ));
    assert_eq!(db.observations(trial).unwrap().len(), 3);
}
