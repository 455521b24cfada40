//! Kernels that are the same to the bit: left out of a trial, or tried against each other.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use fixture::*;
use ktrial_db::*;

/// A trial in which `patched` has this kernel, begun.
fn begin_with(db: &mut Db, patched: &Kernel, change: impl FnOnce(&mut NewTrial)) -> Trial {
    let mut plan = plan(db);
    plan.rounds = 1;
    plan.variants[1].kernel = Some(db.put_kernel(patched).unwrap());
    change(&mut plan);
    let id = db.begin_trial(&plan).unwrap();
    db.trial(id).unwrap().unwrap()
}

fn boot_each(db: &mut Db, trial: &Trial) {
    let rate = db.put_cell(&cell("rate")).unwrap();
    for (variant, position) in trial.variants.iter().zip(0..) {
        let begun = Begun {
            trial: trial.id,
            base: variant.id,
            patched: variant.id,
            rate,
            latency: rate,
        };
        let mut boot = boot(&begun, 0);
        boot.position = position;
        boot.samples.truncate(1);
        db.record_boot(&boot).unwrap();
    }
}

fn complete(db: &mut Db, trial: &Trial) {
    boot_each(db, trial);
    db.finish_trial(trial.id, 5, "complete", None).unwrap();
}

#[test]
fn a_trial_whose_only_variant_is_left_out_is_complete_without_a_boot() {
    let mut db = Db::in_memory().unwrap();
    let trial = begin_with(&mut db, &kernel("k-base"), |plan| {
        plan.variants[0].left_out = true;
        plan.variants[1].left_out = true;
    });
    assert!(trial.variants.iter().all(|variant| variant.left_out));
    let begun = Begun {
        trial: trial.id,
        base: trial.variants[0].id,
        patched: trial.variants[1].id,
        rate: db.put_cell(&cell("rate")).unwrap(),
        latency: db.put_cell(&cell("p99")).unwrap(),
    };
    let error = db.record_boot(&boot(&begun, 0)).unwrap_err();
    assert!(
        error.to_string().contains("base is left out of its trial"),
        "{error}"
    );
    db.finish_trial(trial.id, 5, "complete", None).unwrap();
    let line = &db.trials().unwrap()[0];
    assert_eq!((line.variants, line.left_out, line.boots_ok), (2, 2, 0));
    assert_eq!(db.check().unwrap(), []);
    assert_eq!(db.aa_trials("m1").unwrap(), []);
}

#[test]
fn the_others_still_owe_their_boots() {
    let mut db = Db::in_memory().unwrap();
    let trial = begin_with(&mut db, &kernel("k-base"), |plan| {
        plan.variants[1].left_out = true;
        plan.variants.push(NewVariant {
            name: "flag".into(),
            position: 2,
            settings_json: r#"{"fd-churn":{"fastalloc":"true"}}"#.into(),
            left_out: false,
            ..plan.variants[1].clone()
        });
    });
    let error = db.finish_trial(trial.id, 5, "complete", None).unwrap_err();
    assert!(
        matches!(error, Error::Incomplete { have: 0, want: 2 }),
        "{error}"
    );
    let booted = Trial {
        variants: trial
            .variants
            .iter()
            .filter(|v| !v.left_out)
            .cloned()
            .collect(),
        ..trial
    };
    complete(&mut db, &booted);
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn trials_of_one_kernel_against_itself_are_found_by_build_and_by_image() {
    let mut db = Db::in_memory().unwrap();
    let rebuilt = Kernel {
        built_at: 1_790_000_000_001,
        ..kernel("k-base")
    };
    let other_hash = Kernel {
        image_sha256: Some(image("k-base")),
        ..kernel("k-comment")
    };
    let without_image = |hash: &str| Kernel {
        image_sha256: None,
        ..kernel(hash)
    };
    let mut wanted = Vec::new();
    for (at, patched, is_aa) in [
        (0, kernel("k-base"), true),
        (1, rebuilt, true),
        (2, other_hash, true),
        (3, kernel("k-patched"), false),
        // Nobody knows.
        (4, without_image("k-old"), false),
    ] {
        let trial = begin_with(&mut db, &patched, |plan| {
            plan.plan_key = format!("plan-{at}");
        });
        complete(&mut db, &trial);
        let [base, variant] = [0, 1].map(|at: usize| trial.variants[at].id);
        wanted.extend(is_aa.then_some(AaTrial {
            trial: trial.id,
            base,
            variant,
        }));
    }
    assert_eq!(db.aa_trials("m1").unwrap(), wanted);
    assert_eq!(db.aa_trials("another machine").unwrap(), []);
    // One that goes on, and one with settings of its own.
    begin_with(&mut db, &kernel("k-base"), |plan| {
        plan.plan_key = "5".into()
    });
    let set = begin_with(&mut db, &kernel("k-base"), |plan| {
        plan.plan_key = "6".into();
        plan.variants[1].settings_json = r#"{"exec":{"processes":"2"}}"#.into();
    });
    complete(&mut db, &set);
    assert_eq!(db.aa_trials("m1").unwrap(), wanted);
}

#[test]
fn a_build_has_one_image_and_may_get_it_late() {
    let mut db = Db::in_memory().unwrap();
    let bare = Kernel {
        image_sha256: None,
        ..kernel("k")
    };
    let id = db.put_kernel(&bare).unwrap();
    assert_eq!(db.kernel(id).unwrap().unwrap(), bare);
    assert_eq!(db.put_kernel(&kernel("k")).unwrap(), id);
    assert_eq!(db.put_kernel(&bare).unwrap(), id);
    assert_eq!(db.kernel(id).unwrap().unwrap(), kernel("k"));
    let other = Kernel {
        image_sha256: Some(image("x")),
        ..kernel("k")
    };
    let error = db.put_kernel(&other).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    let malformed = Kernel {
        image_sha256: Some("A".repeat(64)),
        ..kernel("other")
    };
    assert!(db.put_kernel(&malformed).is_err());
}
