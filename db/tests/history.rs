//! What counts as a point of a history.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use fixture::*;
use ktrial_db::*;

/// A trial with one round that began at `started_at`, and its boots of both variants.
fn trial(db: &mut Db, key: &str, started_at: i64, rate: f64) -> TrialId {
    let plan = NewTrial {
        plan_key: key.into(),
        started_at,
        rounds: 1,
        ..plan(db)
    };
    let id = db.begin_trial(&plan).unwrap();
    let variants = db.trial(id).unwrap().unwrap().variants;
    let cell_rate = db.put_cell(&cell("rate")).unwrap();
    let begun = Begun {
        trial: id,
        base: variants[0].id,
        patched: variants[1].id,
        rate: cell_rate,
        latency: db.put_cell(&cell("p99")).unwrap(),
    };
    let mut base = boot(&begun, 0);
    base.samples[1].value = Value::Ok(rate);
    db.record_boot(&base).unwrap();
    let mut patched = boot(&begun, 0);
    patched.variant = begun.patched;
    patched.position = 1;
    patched.samples[1].value = Value::Ok(-1.0);
    db.record_boot(&patched).unwrap();
    id
}

#[test]
fn a_history_is_what_bases_measured_in_good_boots_without_warm_ups() {
    let mut db = Db::in_memory().unwrap();
    let late = trial(&mut db, "late", 2_000, 20.0);
    let early = trial(&mut db, "early", 1_000, 10.0);
    db.finish_trial(early, 3_000, "complete", None).unwrap();
    let trials = db.history_trials().unwrap();
    let order: Vec<_> = trials.iter().map(|t| (t.trial, t.started_at)).collect();
    assert_eq!(order, [(early, 1_000), (late, 2_000)]);
    assert_eq!(trials[0].outcome.as_deref(), Some("complete"));
    assert_eq!(trials[1].outcome, None);
    assert_eq!(trials[0].shape_json, r#"{"cpus":2}"#);
    assert_eq!(trials[0].settings_json, "{}");
    let kernel = trials[0].kernel.unwrap();
    assert_eq!(db.kernel(kernel).unwrap().unwrap().hash, "k-base");
    assert_eq!(db.machine(trials[0].machine).unwrap().unwrap(), machine());
    assert_eq!(db.tree(trials[0].tree).unwrap().unwrap(), tree());

    // The latency was always missing: no cell of the history. The fixture's warm-up is 6,000.
    let cells = db.history_cells().unwrap();
    let rate = db.put_cell(&cell("rate")).unwrap();
    assert_eq!(cells, [(rate, cell("rate"))]);
    let values = db.history_values(rate).unwrap();
    let values: Vec<_> = values.into_iter().map(|v| (v.trial, v.value)).collect();
    assert_eq!(values, [(late, Value::Ok(20.0)), (early, Value::Ok(10.0))]);
    // A value that is not there is told, too.
    let latency = db.put_cell(&cell("p99")).unwrap();
    assert!(
        db.history_values(latency)
            .unwrap()
            .iter()
            .all(|v| v.value == Value::Missing)
    );
}

#[test]
fn failed_boots_and_trials_without_a_plain_base_have_no_part_in_it() {
    let mut db = Db::in_memory().unwrap();
    let mut patched_first = plan(&mut db);
    let series = patched_first.variants[1].series;
    patched_first.variants[0].series = series;
    db.begin_trial(&patched_first).unwrap();
    assert_eq!(db.history_trials().unwrap(), []);

    let begun = begin(&mut Db::in_memory().unwrap(), 1);
    let mut db = Db::in_memory().unwrap();
    assert_eq!(begin(&mut db, 1).trial, begun.trial);
    let mut failed = boot(&begun, 0);
    failed.outcome = "panic".into();
    db.record_boot(&failed).unwrap();
    assert_eq!(db.history_trials().unwrap().len(), 1);
    assert_eq!(db.history_cells().unwrap(), []);
    assert_eq!(db.history_values(begun.rate).unwrap(), []);
}
