//! The life of a trial: begun, booted, finished, extended, judged.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use fixture::*;
use ktrial_db::*;

#[test]
fn a_variant_counts_once_in_a_round_and_the_second_boot_leaves_nothing() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let failed = NewBoot {
        outcome: "panic".into(),
        detail: Some("Kernel panic - not syncing".into()),
        guest_boot_ns: None,
        ..boot(&begun, 0)
    };
    let failed = db.record_boot(&failed).unwrap();
    let good = NewBoot {
        attempt: 1,
        ..boot(&begun, 0)
    };
    db.record_boot(&good).unwrap();
    let (boots, samples) = (
        db.boots(begun.trial).unwrap(),
        db.samples(begun.trial).unwrap(),
    );
    let again = NewBoot {
        attempt: 2,
        ..boot(&begun, 0)
    };
    let error = db.record_boot(&again).unwrap_err();
    assert!(
        matches!(&error, Error::AlreadyCounted { variant, round: 0 } if variant == "base"),
        "{error}"
    );
    assert_eq!(db.boots(begun.trial).unwrap(), boots);
    assert_eq!(db.samples(begun.trial).unwrap(), samples);
    // The failed one is kept, its samples too, and they don't count.
    assert_eq!(boots.len(), 2);
    assert_eq!(samples.len(), 3);
    assert_eq!(db.boot_samples(failed).unwrap().len(), 3);
    // A failed boot after a good one is kept as well, and the same attempt isn't.
    let late = NewBoot {
        outcome: "hang".into(),
        ..again
    };
    db.record_boot(&late).unwrap();
    assert!(matches!(db.record_boot(&late), Err(Error::Refused(_))));
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn boots_that_belong_nowhere_are_refused() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let mut other = plan(&mut db);
    other.plan_key = "plan-2".into();
    let other = db.begin_trial(&other).unwrap();

    let error = db.record_boot(&boot(&begun, 2)).unwrap_err();
    assert!(matches!(error, Error::NoSuchRound { .. }), "{error}");
    let stray = NewBoot {
        trial: other,
        ..boot(&begun, 0)
    };
    let error = db.record_boot(&stray).unwrap_err();
    assert!(matches!(error, Error::NoSuch { .. }), "{error}");
    let lost = NewBoot {
        trial: TrialId(99),
        ..boot(&begun, 0)
    };
    let error = db.record_boot(&lost).unwrap_err();
    assert_eq!(error.to_string(), "there is no trial 99 in the database");
    let mut unknown_cell = boot(&begun, 0);
    unknown_cell.samples[2].cell = CellId(99);
    let error = db.record_boot(&unknown_cell).unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
    let mut twice = boot(&begun, 0);
    twice.samples.push(twice.samples[0].clone());
    let error = db.record_boot(&twice).unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
    assert_eq!(db.boots(begun.trial).unwrap(), []);
}

#[test]
fn a_trial_ends_when_all_its_boots_are_there_and_can_be_extended() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let trial = begun.trial;
    assert_eq!(db.unfinished_trial("plan-1").unwrap(), Some(trial));
    boot_all(&mut db, &begun, 1);
    let error = db.finish_trial(trial, 5, "complete", None).unwrap_err();
    assert!(
        matches!(error, Error::Incomplete { have: 2, want: 4 }),
        "{error}"
    );
    db.record_boot(&boot(&begun, 1)).unwrap();
    db.record_boot(&NewBoot {
        variant: begun.patched,
        ..boot(&begun, 1)
    })
    .unwrap();
    assert!(matches!(
        db.finish_trial(trial, 5, "done", None),
        Err(Error::Refused(_))
    ));
    db.finish_trial(trial, 5, "complete", None).unwrap();
    assert_eq!(db.unfinished_trial("plan-1").unwrap(), None);
    assert!(matches!(
        db.finish_trial(trial, 6, "complete", None),
        Err(Error::Finished(_))
    ));
    let late = NewBoot {
        attempt: 1,
        outcome: "hang".into(),
        ..boot(&begun, 1)
    };
    assert!(matches!(db.record_boot(&late), Err(Error::Finished(_))));

    assert!(matches!(
        db.extend_trial(trial, 1),
        Err(Error::Shrinking { have: 2, want: 1 })
    ));
    db.extend_trial(trial, 2).unwrap(); // nothing to do: stays complete
    assert_eq!(db.trial(trial).unwrap().unwrap().finished_at, Some(5));
    db.extend_trial(trial, 3).unwrap();
    assert_eq!(db.unfinished_trial("plan-1").unwrap(), Some(trial));
    assert!(db.record_boot(&boot(&begun, 2)).is_ok());

    let failure = Some("boot: patched panics");
    assert!(matches!(
        db.finish_trial(trial, 7, "failed", None),
        Err(Error::Refused(_))
    ));
    db.finish_trial(trial, 7, "failed", failure).unwrap();
    assert!(matches!(db.extend_trial(trial, 4), Err(Error::Finished(_))));
    assert_eq!(
        db.trial(trial).unwrap().unwrap().failure.as_deref(),
        failure
    );
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn a_plan_under_way_is_not_begun_twice() {
    let mut db = Db::in_memory().unwrap();
    let plan = plan(&mut db);
    let first = db.begin_trial(&plan).unwrap();
    assert!(matches!(db.begin_trial(&plan), Err(Error::Refused(_))));
    db.finish_trial(first, 1, "failed", Some("build")).unwrap();
    let second = db.begin_trial(&plan).unwrap();
    assert_eq!(db.latest_trial().unwrap(), Some(second));
    let trials: Vec<_> = db
        .trials()
        .unwrap()
        .into_iter()
        .map(|trial| trial.id)
        .collect();
    assert_eq!(trials, [second, first]);
}

#[test]
fn trials_are_listed_with_their_boots() {
    let mut db = Db::in_memory().unwrap();
    assert_eq!(
        (db.latest_trial().unwrap(), db.trials().unwrap()),
        (None, vec![])
    );
    let begun = begin(&mut db, 2);
    boot_all(&mut db, &begun, 1);
    let oops = NewBoot {
        outcome: "oops".into(),
        ..boot(&begun, 1)
    };
    db.record_boot(&oops).unwrap();
    let expected = TrialSummary {
        id: begun.trial,
        title: "linear scan of descriptors".into(),
        hostname: "lab1".into(),
        tree: "linux-6.1".into(),
        clock: "virtual".into(),
        accelerator: "tcg".into(),
        started_at: 1_790_000_100_000,
        finished_at: None,
        outcome: None,
        rounds: 2,
        variants: 2,
        left_out: 0,
        boots_ok: 2,
        boots_failed: 1,
    };
    assert_eq!(db.trials().unwrap(), [expected]);
}

#[test]
fn verdicts_are_replaced_all_at_once_or_not_at_all() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    boot_all(&mut db, &begun, 2);
    let first = verdict(&begun);
    let second = Verdict {
        cell: begun.latency,
        verdict: "unsupported".into(),
        ratio: None,
        low: None,
        high: None,
        p_value: None,
        p_adjusted: None,
        base_value: None,
        variant_value: None,
        rounds_needed: Some(40),
        reason: Some("missing".into()),
        notes_json: "[]".into(),
        ..first.clone()
    };
    db.replace_verdicts(begun.trial, &[first.clone(), second.clone()])
        .unwrap();
    // p99 sorts before rate.
    assert_eq!(
        db.verdicts(begun.trial).unwrap(),
        [second.clone(), first.clone()]
    );
    let bad: [fn(&mut Verdict); 7] = [
        |verdict| verdict.ratio = Some(f64::NAN),
        |verdict| verdict.verdict = "better".into(),
        |verdict| verdict.low = Some(2.0),
        |verdict| verdict.p_value = Some(1.5),
        |verdict| verdict.variant = VariantId(99),
        |verdict| verdict.baseline = verdict.variant,
        |verdict| verdict.notes_json = "[".into(),
    ];
    for spoil in bad {
        let mut spoilt = first.clone();
        spoil(&mut spoilt);
        let result = db.replace_verdicts(begun.trial, &[second.clone(), spoilt.clone()]);
        assert!(result.is_err(), "{spoilt:?}");
    }
    assert_eq!(db.verdicts(begun.trial).unwrap(), [second.clone(), first]);
    db.replace_verdicts(begun.trial, std::slice::from_ref(&second))
        .unwrap();
    assert_eq!(db.verdicts(begun.trial).unwrap(), [second]);
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn a_variant_is_added_to_a_trial_that_runs_and_to_no_other() {
    let mut db = Db::in_memory().unwrap();
    let begun = begin(&mut db, 2);
    let third = NewVariant {
        name: "6.2".into(),
        position: 2,
        series: None,
        kernel: Some(db.put_kernel(&kernel("k-third")).unwrap()),
        settings_json: "{}".into(),
        applied_json: "{}".into(),
        left_out: false,
    };
    db.add_variant(begun.trial, &third).unwrap();
    let variants = db.trial(begun.trial).unwrap().unwrap().variants;
    assert_eq!(variants.len(), 3);
    assert_eq!(variants[2].name, "6.2");
    assert!(db.add_variant(begun.trial, &third).is_err());
    assert!(db.add_variant(TrialId(99), &third).is_err());
    db.finish_trial(begun.trial, 1, "failed", Some("it panicked"))
        .unwrap();
    let late = NewVariant {
        name: "late".into(),
        position: 3,
        ..third
    };
    let error = db.add_variant(begun.trial, &late).unwrap_err();
    assert!(matches!(error, Error::Finished(_)), "{error}");
    assert_eq!(db.check().unwrap(), []);
}
