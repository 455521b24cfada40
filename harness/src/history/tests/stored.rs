use ktrial_db::*;

use crate::history::series::{Wanted, histories};
use crate::history::text::render;

const WEEK_MS: i64 = 7 * 86_400_000;
/// 2026-01-05, a Monday.
const FIRST: i64 = 1_767_571_200_000;
/// Per mille: what is left of chance in the points.
const NOISE: [f64; 7] = [1.0, -2.0, 1.5, 0.0, -1.0, 2.0, -1.5];

/// What one week's trial is like.
#[derive(Clone)]
struct Week {
    week: i64,
    rate: f64,
    qemu: &'static str,
    /// How the machine's boost was set.
    boost: &'static str,
    commit: char,
    complete: bool,
    /// One of its boots lacks its value.
    lacking: bool,
}

fn week(week: i64, rate: f64) -> Week {
    Week {
        week,
        rate,
        qemu: "7.2.1",
        boost: "off",
        commit: char::from_digit(week as u32 % 16, 16).unwrap(),
        complete: true,
        lacking: false,
    }
}

fn cell(metric: &str) -> Cell {
    Cell {
        workload: "exec".into(),
        parameters: "processes=1".into(),
        metric: metric.into(),
        unit: "1/s".into(),
        better: "higher".into(),
        primary: metric == "rate",
    }
}

fn machine(qemu: &str) -> Machine {
    Machine {
        key: "m1".into(),
        hostname: "lab1".into(),
        cpu_model: "AMD EPYC".into(),
        cpus: 128,
        memory_bytes: 2 << 40,
        os_release: "6.1.0-28-amd64".into(),
        facts_json: format!(r#"{{"qemu":"{qemu}","system":"Debian 12"}}"#),
    }
}

fn tree(week: &Week) -> Tree {
    let commit = week.commit.to_string().repeat(40);
    Tree {
        key: format!("t-{commit}"),
        system: "linux".into(),
        name: "linux".into(),
        source: "/usr/src/linux".into(),
        version: format!("6.1.{}", week.week),
        base_commit: commit.clone(),
        base_tree: commit,
    }
}

fn kernel(week: &Week) -> Kernel {
    let commit = week.commit.to_string().repeat(40);
    Kernel {
        hash: format!("k-{commit}"),
        tree_oid: commit.clone(),
        commit_oid: commit,
        config_hash: "0123".into(),
        toolchain: "gcc 12.2.0; ld 2.40".into(),
        built_at: 0,
        build_ms: 95_000,
        size_bytes: 9_000_000,
        release: format!("6.1.{}", week.week),
        image_sha256: None,
    }
}

/// A trial of one variant and three boots.
fn put(db: &mut Db, week: &Week) {
    let base = NewVariant {
        name: "base".into(),
        position: 0,
        series: None,
        kernel: Some(db.put_kernel(&kernel(week)).unwrap()),
        settings_json: "{}".into(),
        applied_json: "{}".into(),
        left_out: false,
    };
    let started_at = FIRST + week.week * WEEK_MS;
    let trial = NewTrial {
        plan_key: format!("week {}", week.week),
        machine: db.put_machine(&machine(week.qemu)).unwrap(),
        tree: db.put_tree(&tree(week)).unwrap(),
        title: "weekly".into(),
        seed: 1,
        rounds: 3,
        margin: 0.01,
        clock: "real".into(),
        accelerator: "kvm".into(),
        shape_json: r#"{"cpus":2,"memory_mib":2048}"#.into(),
        plan_json: r#"{"variants":[],"runs":[{"workload":"exec","settings":{"processes":"1"},
            "duration_ms":500,"iterations":2,"warmups":1}],"looks":[3],"margin":0.01,
            "clock":"real","shape":{"cpus":2,"memory_mib":2048}}"#
            .into(),
        host_json: format!(r#"{{"settings":{{"boost":"{}"}}}}"#, week.boost),
        command_line: "ktrial trial".into(),
        ktrial_version: "0.1.0".into(),
        started_at,
        variants: vec![base],
    };
    let trial = db.begin_trial(&trial).unwrap();
    let variant = db.trial(trial).unwrap().unwrap().variants[0].id;
    let cells = ["rate", "speed"].map(|metric| db.put_cell(&cell(metric)).unwrap());
    let per_mille = NOISE[week.week as usize % NOISE.len()];
    for round in 0..3 {
        // Boots lie half a per mille apart; the middle one is the point.
        let boot = f64::from(round) / 2.0 - 0.5;
        let value = week.rate * (1.0 + (per_mille + boot) / 1000.0);
        let sample = |cell| NewSample {
            cell,
            iteration: 0,
            warmup: false,
            value: match week.lacking && round == 1 {
                true => Value::Missing,
                false => Value::Ok(value),
            },
        };
        db.record_boot(&NewBoot {
            trial,
            variant,
            round,
            position: 0,
            attempt: 0,
            seed: u64::from(round),
            perturbation_json: "{}".into(),
            outcome: "ok".into(),
            detail: None,
            started_at,
            ended_at: started_at,
            guest_boot_ns: None,
            samples: cells.map(sample).into(),
            artifacts: Vec::new(),
        })
        .unwrap();
    }
    if week.complete {
        db.finish_trial(trial, started_at, "complete", None)
            .unwrap();
    }
}

fn database(weeks: impl IntoIterator<Item = Week>) -> Db {
    let mut db = Db::in_memory().unwrap();
    weeks.into_iter().for_each(|week| put(&mut db, &week));
    db
}

/// 20 weeks at 5,000 a second, 10 at 4,500; week 7 is far off; a new QEMU in week 30, under which
/// nothing changes; week 41 was interrupted. Put in backwards: time decides, not the number.
fn year() -> Db {
    let mut weeks: Vec<Week> = (0..20).map(|w| week(w, 5_000.0)).collect();
    weeks.extend((20..30).map(|w| week(w, 4_500.0)));
    weeks[7].rate = 6_000.0;
    weeks.extend((30..41).map(|w| Week {
        qemu: "10.0.2",
        ..week(w, 4_000.0)
    }));
    weeks.push(Week {
        complete: false,
        ..week(41, 100.0)
    });
    weeks.reverse();
    database(weeks)
}

#[test]
fn a_change_has_its_commits_and_a_new_qemu_parts_what_cannot_be_compared() {
    let text = render(&histories(&year(), &Wanted::default()).unwrap());
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("year", text);
    });
}

#[test]
fn points_are_medians_of_boots_and_the_change_is_the_one_put_in() {
    let histories = histories(&year(), &Wanted::default()).unwrap();
    let [history] = histories.as_slice() else {
        panic!("{histories:?}");
    };
    let [old, new] = history.stretches.as_slice() else {
        panic!("{:?}", history.stretches);
    };
    assert_eq!((old.points.len(), new.points.len()), (30, 11));
    // Week 3 has no noise of its own.
    assert!((old.points[3].value - 5_000f64.ln()).abs() < 1e-12);
    assert_eq!(old.points[3].boots, 3);
    // Boots at -0.5, 0 and 0.5 per mille: a deviation of 0.5, over the root of 3.
    let error = old.points[3].error.unwrap();
    assert!(
        (error / (0.0005 / 3f64.sqrt()) - 1.0).abs() < 1e-3,
        "{error}"
    );
    let [change] = old.found.changes.as_slice() else {
        panic!("{:?}", old.found);
    };
    assert_eq!(change.index, 20);
    assert!(
        change.low < 0.9f64.ln() && 0.9f64.ln() < change.high,
        "{change:?}"
    );
    assert_eq!(old.found.segments[0].outliers, [7]);
    assert!(new.found.changes.is_empty());
    let names: Vec<_> = new.differences.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["host qemu"]);
}

#[test]
fn conditions_that_come_back_go_on_with_their_stretch() {
    let weeks = (0..24).map(|w| Week {
        qemu: if w % 2 == 0 { "7.2.1" } else { "10.0.2" },
        ..week(w, if w % 2 == 0 { 5_000.0 } else { 4_000.0 })
    });
    let histories = histories(&database(weeks), &Wanted::default()).unwrap();
    let stretches = &histories[0].stretches;
    assert_eq!(stretches.len(), 2);
    for stretch in stretches {
        assert_eq!(stretch.points.len(), 12);
        assert!(stretch.found.changes.is_empty());
    }
}

#[test]
fn one_kernel_on_both_sides_is_not_what_changed() {
    let weeks = (0..20).map(|w| Week {
        commit: 'a',
        ..week(w, if w < 12 { 5_000.0 } else { 5_500.0 })
    });
    let text = render(&histories(&database(weeks), &Wanted::default()).unwrap());
    assert!(text.contains("IMPROVED by +10.0 %"), "{text}");
    assert!(
        text.contains("on one kernel, aaaaaaaaaaaa (6.1.12, trial 13)"),
        "{text}"
    );
}

#[test]
fn a_machine_that_was_set_otherwise_is_not_compared() {
    let weeks = (0..24).map(|w| Week {
        boost: if w < 12 { "off" } else { "on" },
        ..week(w, if w < 12 { 5_000.0 } else { 5_500.0 })
    });
    let histories = histories(&database(weeks), &Wanted::default()).unwrap();
    let [before, after] = histories[0].stretches.as_slice() else {
        panic!("{:?}", histories[0].stretches);
    };
    assert!(before.found.changes.is_empty() && after.found.changes.is_empty());
    let [found] = after.differences.as_slice() else {
        panic!("{:?}", after.differences);
    };
    assert_eq!(
        (
            found.name.as_str(),
            found.before.as_str(),
            found.after.as_str()
        ),
        ("host's boost", "off", "on")
    );
}

#[test]
fn other_metrics_are_shown_when_asked_for() {
    let db = database([week(0, 1.0)]);
    let metrics = |wanted| -> Vec<String> {
        let all = histories(&db, &wanted).unwrap();
        all.into_iter().map(|h| h.cell.metric).collect()
    };
    let none = Wanted::default();
    assert_eq!(metrics(none.clone()), ["rate"]);
    let all = Wanted {
        all: true,
        ..none.clone()
    };
    assert_eq!(metrics(all), ["rate", "speed"]);
    let speed = Wanted {
        metric: Some("speed".into()),
        ..none.clone()
    };
    assert_eq!(metrics(speed), ["speed"]);
    let other = Wanted {
        workload: Some("fd-churn".into()),
        ..none
    };
    assert_eq!(metrics(other), [""; 0]);
    let empty = histories(&Db::in_memory().unwrap(), &Wanted::default()).unwrap();
    assert_eq!(render(&empty), "no complete trial has measured this\n");
}

#[test]
fn a_trial_with_a_value_missing_is_no_point_and_says_so() {
    let weeks = (0..12).map(|w| Week {
        lacking: w == 5,
        ..week(w, 5_000.0)
    });
    let histories = histories(&database(weeks), &Wanted::default()).unwrap();
    assert_eq!(histories[0].stretches[0].points.len(), 11);
    let [(trial, why)] = histories[0].left_out.as_slice() else {
        panic!("{:?}", histories[0].left_out);
    };
    assert_eq!((trial.0, why.as_str()), (6, "a value is missing"));
}
