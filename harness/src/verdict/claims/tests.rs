use super::*;
use ktrial_db::{MachineId, TreeId, TrialId, Variant, VariantId};
use ktrial_patches::catalogue::Value;

/// A claim of a change of the rate of `exec processes=48`, in per cent.
fn claim(from: f64, to: Option<f64>) -> Claim {
    Claim {
        metric: "exec rate".into(),
        unit: None,
        machine: "an opteron".into(),
        known_machine: None,
        before: None,
        after: None,
        change_percent: Some(from),
        change_percent_to: to,
        quote: "so much".into(),
        source: "a mail".into(),
        test: Some(ClaimTest {
            kind: ClaimKind::Change,
            variant: "patched".into(),
            workload: "exec".into(),
            parameters: [("processes".to_owned(), Value::Int(48))].into(),
            metric: "rate".into(),
            cpus: None,
            clock: None,
        }),
    }
}

/// A verdict with its change and interval in per cent, at a margin of 1 %.
fn verdict(word: &str, change: f64, interval: (f64, f64)) -> Verdict {
    let ratio = |percent: f64| 1.0 + percent / 100.0;
    Verdict {
        variant: VariantId(2),
        baseline: VariantId(1),
        cell: CellId(1),
        verdict: word.into(),
        ratio: Some(ratio(change)),
        low: Some(ratio(interval.0)),
        high: Some(ratio(interval.1)),
        level: 0.95,
        p_value: None,
        p_adjusted: None,
        boots_base: 12,
        boots_variant: 12,
        base_value: Some(4_973.0),
        variant_value: Some(4_973.0 * ratio(change)),
        margin: 0.01,
        rounds_needed: None,
        method: String::new(),
        reason: None,
        notes_json: "[]".into(),
        computed_at: 0,
    }
}

fn trial() -> Trial {
    let variant = |id, name: &str| Variant {
        id: VariantId(id),
        name: name.into(),
        position: 0,
        series: None,
        kernel: None,
        settings_json: "{}".into(),
        applied_json: "{}".into(),
        left_out: false,
    };
    Trial {
        id: TrialId(1),
        plan_key: String::new(),
        machine: MachineId(1),
        tree: TreeId(1),
        title: String::new(),
        seed: 0,
        rounds: 12,
        margin: 0.01,
        clock: "real".into(),
        accelerator: "kvm".into(),
        shape_json: String::new(),
        plan_json: "{}".into(),
        host_json: "{}".into(),
        command_line: String::new(),
        ktrial_version: String::new(),
        started_at: 0,
        finished_at: None,
        outcome: None,
        failure: None,
        variants: vec![variant(1, "base"), variant(2, "patched")],
    }
}

fn machine(cpus: u32) -> Machine {
    Machine {
        key: "m".into(),
        hostname: "lab".into(),
        cpu_model: String::new(),
        cpus,
        memory_bytes: 0,
        os_release: String::new(),
        facts_json: "{}".into(),
    }
}

fn cell(parameters: &str) -> Cell {
    Cell {
        workload: "exec".into(),
        parameters: parameters.into(),
        metric: "rate".into(),
        unit: "1/s".into(),
        better: "higher".into(),
        primary: true,
    }
}

/// What one claim comes to in a trial with these verdicts, on 64 CPUs unless changed.
fn held_in(
    claim: &Claim,
    verdicts: &[Verdict],
    change: impl FnOnce(&mut Trial, &mut u32),
) -> HeldClaim {
    let (mut trial, mut cpus) = (trial(), 64);
    change(&mut trial, &mut cpus);
    let cells = [
        (CellId(1), cell("processes=48")),
        (CellId(2), cell("processes=1")),
    ];
    let machine = machine(cpus);
    let seen = Seen {
        known: Vec::new(),
        trial: &trial,
        cells: &cells,
        verdicts,
        machine: &machine,
        guest_cpus: 48,
    };
    let mut held = hold(std::slice::from_ref(claim), &seen);
    assert_eq!(held.len(), 1);
    held.remove(0)
}

fn answer(claim: &Claim, verdict: Verdict) -> Answer {
    held_in(claim, &[verdict], |_, _| ()).answer
}

#[test]
fn as_large_as_claimed_or_larger_is_confirmed_and_smaller_is_in_direction() {
    // Less is meant: wall time, say; `improved` or `regressed` hangs on the metric alone.
    let less = claim(-7.5, None);
    for (change, interval, wanted) in [
        (-7.9, (-8.6, -7.1), Answer::Confirmed),
        (-7.0, (-7.6, -6.4), Answer::Confirmed),
        (-12.0, (-13.0, -11.0), Answer::Confirmed),
        (-3.0, (-3.5, -2.5), Answer::InDirection),
        (3.0, (2.5, 3.5), Answer::Contradicted),
    ] {
        for word in ["improved", "regressed"] {
            let found = answer(&less, verdict(word, change, interval));
            assert_eq!(found, wanted, "{change}");
        }
    }
    let said = held_in(&less, &[verdict("improved", -3.0, (-3.5, -2.5))], |_, _| ());
    assert_eq!(
        said.sentence,
        "claimed change -7.5 %; measured -3.00 % [-3.50, -2.50] %, which is less \
         (exec processes=48: rate of patched)"
    );
    let more = held_in(
        &less,
        &[verdict("improved", -12.0, (-13.0, -11.0))],
        |_, _| (),
    );
    assert!(
        more.sentence.contains("[-13.0, -11.0] %, which is more"),
        "{}",
        more.sentence
    );
}

#[test]
fn a_range_is_reached_at_its_nearer_end_and_left_at_its_farther_one() {
    let range = claim(4.0, Some(5.0));
    assert_eq!(
        answer(&range, verdict("improved", 3.8, (3.4, 4.2))),
        Answer::Confirmed
    );
    assert_eq!(
        answer(&range, verdict("improved", 3.0, (2.6, 3.4))),
        Answer::InDirection
    );
    // Up to ten times: any improvement is as claimed, a regression is not.
    let up_to = claim(0.0, Some(900.0));
    assert_eq!(
        answer(&up_to, verdict("improved", 230.0, (220.0, 240.0))),
        Answer::Confirmed
    );
    assert_eq!(
        answer(&up_to, verdict("regressed", -9.0, (-10.0, -8.0))),
        Answer::Contradicted
    );
    assert_eq!(
        answer(&up_to, verdict("unchanged", 0.1, (-0.3, 0.5))),
        Answer::NotSettled
    );
}

#[test]
fn unchanged_contradicts_only_what_is_beyond_the_margin() {
    let found = verdict("unchanged", 0.1, (-0.4, 0.6));
    assert_eq!(
        answer(&claim(7.5, None), found.clone()),
        Answer::Contradicted
    );
    assert_eq!(
        answer(&claim(-7.5, None), found.clone()),
        Answer::Contradicted
    );
    // Half a per cent is less than the margin of one.
    let small = held_in(&claim(0.5, None), std::slice::from_ref(&found), |_, _| ());
    assert_eq!(small.answer, Answer::NotSettled);
    assert!(
        small.sentence.contains("a smaller --margin would tell"),
        "{}",
        small.sentence
    );
    // One per cent is the margin, 1.2 % is more.
    for (percent, wanted) in [
        (1.0, Answer::NotSettled),
        (-1.0, Answer::NotSettled),
        (1.2, Answer::Contradicted),
        (-1.2, Answer::Contradicted),
    ] {
        assert_eq!(
            answer(&claim(percent, None), found.clone()),
            wanted,
            "{percent}"
        );
    }
    // The interval at 95 % reaches it, though the one at 90 % lies inside the margin.
    let wide = verdict("unchanged", 0.6, (0.1, 1.2));
    assert_eq!(answer(&claim(1.1, None), wide), Answer::NotSettled);
}

#[test]
fn no_change_can_be_claimed_too() {
    let none = claim(0.0, None);
    assert_eq!(
        answer(&none, verdict("unchanged", 0.1, (-0.4, 0.6))),
        Answer::Confirmed
    );
    assert_eq!(
        answer(&none, verdict("regressed", -5.0, (-6.0, -4.0))),
        Answer::Contradicted
    );
    // A change that was found is never "no change, confirmed".
    assert_eq!(
        answer(&none, verdict("regressed", -1.2, (-2.6, 0.2))),
        Answer::NotSettled
    );
    let either_way = claim(-2.0, Some(2.0));
    assert_eq!(
        answer(&either_way, verdict("regressed", -1.8, (-2.4, -1.2))),
        Answer::Confirmed
    );
}

#[test]
fn inconclusive_is_not_settled_whatever_the_interval_leaves_out() {
    let mut found = verdict("inconclusive", 0.5, (-3.0, 4.0));
    found.rounds_needed = Some(31);
    let held = held_in(&claim(50.0, None), &[found], |_, _| ());
    assert_eq!(held.answer, Answer::NotSettled);
    assert!(
        held.sentence
            .contains("[-3.00, +4.00] %, which leaves out what is claimed, try 31 rounds"),
        "{}",
        held.sentence
    );
    let few = Verdict {
        low: None,
        high: None,
        reason: Some("too few boots for an interval".into()),
        ..verdict("inconclusive", 8.0, (7.0, 9.0))
    };
    let held = held_in(&claim(7.5, None), &[few], |_, _| ());
    assert_eq!(held.answer, Answer::NotSettled);
    assert!(
        held.sentence.contains("measured +8.00 %: too few boots"),
        "{}",
        held.sentence
    );
}

#[test]
fn what_this_trial_cannot_see_is_not_testable_and_says_why() {
    let found = [verdict("regressed", -5.0, (-6.0, -4.0))];
    let mut demanding = claim(7.5, None);
    let test = demanding.test.as_mut().unwrap();
    (test.cpus, test.clock) = (Some(48), Some(ClaimClock::Real));
    // On a machine that can see it, it is what it is.
    let fit = held_in(&demanding, &found, |_, _| ());
    assert_eq!(fit.answer, Answer::Contradicted);
    type Change = fn(&mut Trial, &mut u32);
    let cases: [(Change, &str); 4] = [
        (
            |_, cpus| *cpus = 2,
            "it takes 48 CPUs, and this machine has 2",
        ),
        (
            |trial, _| trial.clock = "virtual".into(),
            "neither contention nor wall time",
        ),
        (
            |trial, _| trial.clock = "emulated".into(),
            "for looking only",
        ),
        (
            |trial, _| trial.variants[1].left_out = true,
            "patched is the base to the bit",
        ),
    ];
    for (change, why) in cases {
        let held = held_in(&demanding, &found, change);
        assert_eq!(held.answer, Answer::NotTestable, "{why}");
        assert!(held.sentence.contains(why), "{}", held.sentence);
    }
    let test = demanding.test.as_mut().unwrap();
    (test.cpus, test.clock) = (Some(49), Some(ClaimClock::Virtual));
    let held = held_in(&demanding, &found, |_, _| ());
    let both = "real time does not count instructions; it takes 49 CPUs, and the guests had 48";
    assert!(held.sentence.contains(both), "{}", held.sentence);
}

#[test]
fn what_is_not_measured_is_not_testable() {
    let mut unmeasured = claim(7.5, None);
    unmeasured.test = None;
    let held = held_in(&unmeasured, &[], |_, _| ());
    assert_eq!(held.answer, Answer::NotTestable);
    assert_eq!(
        held.sentence,
        "claimed change +7.5 %; no workload of ktrial measures it"
    );
    let not_run = held_in(&claim(7.5, None), &[], |_, _| ());
    assert_eq!(not_run.answer, Answer::NotTestable);
    assert!(
        not_run
            .sentence
            .ends_with("this trial did not run exec processes=48")
    );
    // At another setting it says nothing of this one.
    let elsewhere = Verdict {
        cell: CellId(2),
        ..verdict("regressed", -5.0, (-6.0, -4.0))
    };
    assert_eq!(answer(&claim(7.5, None), elsewhere), Answer::NotTestable);
    let unsupported = Verdict {
        ratio: None,
        low: None,
        high: None,
        reason: Some("fastalloc: EINVAL".into()),
        ..verdict("unsupported", 0.0, (0.0, 0.0))
    };
    let held = held_in(&claim(7.5, None), &[unsupported], |_, _| ());
    assert_eq!(held.answer, Answer::NotTestable);
    assert!(
        held.sentence.contains("unsupported: fastalloc: EINVAL"),
        "{}",
        held.sentence
    );
}

#[test]
fn a_level_of_another_machine_is_not_testable_and_the_one_here_is_shown() {
    let mut level = claim(0.0, None);
    level.change_percent = None;
    (level.after, level.unit) = (Some(43_000.0), Some("/s".into()));
    level.test.as_mut().unwrap().kind = ClaimKind::Level;
    let held = held_in(
        &level,
        &[verdict("regressed", -5.0, (-6.0, -4.0))],
        |_, _| (),
    );
    assert_eq!(held.answer, Answer::NotTestable);
    // 4,973 less 5 % is 4,724.35.
    assert_eq!(
        held.sentence,
        "claimed after 43000 /s; a level is the machine's, there: an opteron; here base has \
         4,973 1/s, patched 4,724 1/s (exec processes=48: rate of patched)"
    );
}

#[test]
fn a_claim_of_a_known_machine_names_both_machines() {
    let mut known = claim(-7.5, None);
    known.known_machine = Some("x1.32xlarge".into());
    let trial = trial();
    let machine = Machine {
        cpu_model: "AMD EPYC".into(),
        ..machine(2)
    };
    let seen = Seen {
        known: Vec::new(),
        trial: &trial,
        cells: &[],
        verdicts: &[],
        machine: &machine,
        guest_cpus: 2,
    };
    let held = hold(&[known], &seen);
    assert_eq!(
        held[0].sentence,
        "claimed change -7.5 % of x1.32xlarge (here: AMD EPYC, 2 CPUs); this trial did not run exec \
         processes=48"
    );
}

#[test]
fn figures_before_and_after_are_a_change_where_the_claim_says_so() {
    let mut both = claim(0.0, None);
    both.change_percent = None;
    (both.before, both.after) = (Some(20_000.0), Some(50_000.0));
    let held = held_in(
        &both,
        &[verdict("improved", 150.0, (140.0, 160.0))],
        |_, _| (),
    );
    assert_eq!(held.answer, Answer::Confirmed);
    let wanted = "claimed before 20000, after 50000 (+150.0 %); measured +150.0 %";
    assert!(held.sentence.starts_with(wanted), "{}", held.sentence);
}

#[test]
fn a_claim_of_several_settings_is_held_against_each() {
    let mut any = claim(7.5, None);
    any.test.as_mut().unwrap().parameters.clear();
    let at_one = Verdict {
        cell: CellId(2),
        ..verdict("unchanged", 0.0, (-0.5, 0.5))
    };
    let verdicts = [verdict("improved", 8.0, (7.0, 9.0)), at_one];
    let (trial, machine) = (trial(), machine(64));
    let cells = [
        (CellId(1), cell("processes=48")),
        (CellId(2), cell("processes=1")),
    ];
    let seen = Seen {
        known: Vec::new(),
        trial: &trial,
        cells: &cells,
        verdicts: &verdicts,
        machine: &machine,
        guest_cpus: 1,
    };
    let held = hold(&[any], &seen);
    let answers: Vec<Answer> = held.iter().map(|one| one.answer).collect();
    assert_eq!(answers, [Answer::Confirmed, Answer::Contradicted]);
    assert_eq!(
        render(&held[..1]),
        "\nwhat its author claims\n  confirmed: exec rate\n      claimed change +7.5 %; measured \
         +8.00 % [+7.00, +9.00] % (exec processes=48: rate of patched)\n"
    );
    assert_eq!(render(&[]), "");
}

/// Of the database and not of the catalogue: a plan is kept with its trial.
#[test]
fn claims_come_back_from_the_stored_plan_and_old_plans_have_none() {
    let stored =
        serde_json::json!({"claims": [claim(4.0, Some(5.0))], "shape": {"cpus": 4, "x": 1}});
    let plan: Stored = serde_json::from_str(&stored.to_string()).unwrap();
    assert_eq!(plan.claims, [claim(4.0, Some(5.0))]);
    assert_eq!(plan.shape.unwrap().cpus, 4);
    let old: Stored = serde_json::from_str(r#"{"rounds":6}"#).unwrap();
    assert!(old.claims.is_empty() && old.shape.is_none());
}
