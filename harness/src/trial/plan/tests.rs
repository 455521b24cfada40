use super::*;

#[test]
fn a_typed_workload_is_a_run_with_defaults_filled_in() {
    let run = Run::parse("fd-churn:fds=1000,touch=0,fastalloc", 500, 2).unwrap();
    assert_eq!(run.settings["fds"], "1000");
    assert_eq!(run.settings["fastalloc"], "true");
    assert_eq!(run.settings["threads"], "1");
    assert_eq!(run.timing().iterations, 3);
}

#[test]
fn one_cell_is_not_measured_twice_nor_for_days() {
    let run = |text, duration| Run::parse(text, duration, 2).unwrap();
    let twice = [run("exec", 300), run("exec:processes=1", 300)];
    assert!(check_runs(&twice).is_err());
    assert!(check_runs(&[run("exec", 300), run("exec:processes=2", 300)]).is_ok());
    assert!(check_runs(&[run("exec", 1_300_000)]).is_err());
}

#[test]
fn the_catalogues_claims_are_about_what_is_measured_and_others_are_refused() {
    for series in ktrial_patches::catalogue::list().unwrap() {
        assert_eq!(claims(&series).unwrap().len(), series.claims.len());
    }
    let mut series = ktrial_patches::catalogue::find("linux-fd-alloc-bitmap").unwrap();
    let test = series
        .claims
        .iter_mut()
        .find_map(|claim| claim.test.as_mut());
    test.unwrap().metric = "latency_p95".into();
    let fault = claims(&series).unwrap_err();
    assert_eq!(fault.at, crate::fault::At::User);
    assert!(
        fault.what.contains("fd-churn latency_p95"),
        "{}",
        fault.what
    );
}

/// Four packages of two cores with two threads.
fn places() -> Places {
    let words = "pack:4 numa:1 core:2 pu:2";
    Places::of(&crate::machine::hwloc::synthetic(words).unwrap().located())
}

#[test]
fn workers_are_counted_in_words_for_parts_and_then_spread() {
    let all = |text| Run::parse_all(text, 500, 2, &places()).unwrap();
    let counts = |runs: Vec<Run>| -> Vec<String> {
        runs.iter()
            .map(|run| run.settings["threads"].clone())
            .collect()
    };
    assert_eq!(
        counts(all("unmap:threads=topology")),
        ["1", "2", "4", "8", "16"]
    );
    assert_eq!(
        counts(all("unmap:threads=topology+-1")),
        ["1", "2", "3", "4", "5", "7", "8", "9", "15", "16"]
    );
    assert_eq!(
        counts(all("unmap:threads=3|nodes|cores|packages")),
        ["3", "4", "8"]
    );
    let place = |text| all(text)[0].settings.get("place").cloned();
    assert_eq!(place("unmap:threads=nodes").as_deref(), Some("spread"));
    assert_eq!(
        place("unmap:threads=nodes,place=compact").as_deref(),
        Some("compact")
    );
    assert_eq!(place("unmap:threads=4"), None);
    let run = &all("unmap:threads=nodes")[0];
    let job = run.job(&run.settings, 1, &places()).unwrap();
    let arguments = job.arguments.join(" ");
    // One thread in each package, then its second core, then second threads.
    assert!(
        arguments.contains("-c 0+4+8+12+2+6+10+14+1+5+9+13+3+7+11+15"),
        "{arguments}"
    );
    for text in [
        "unmap:pages=cores",
        "unmap:threads=sockets",
        "unmap:place=far",
    ] {
        assert!(Run::parse_all(text, 500, 2, &places()).is_err(), "{text}");
    }
}

#[test]
fn a_claim_about_a_machine_that_nobody_knows_is_refused() {
    let mut series = ktrial_patches::catalogue::find("dragonfly-exec-rate").unwrap();
    let known = series.claims[1].known_machine.as_deref();
    assert_eq!(known, Some("opteron-6168-4s"));
    series.claims[1].known_machine = Some("opteron-6168".into());
    let fault = claims(&series).unwrap_err();
    assert_eq!(fault.at, crate::fault::At::User);
    assert!(fault.next.unwrap().contains("opteron-6168-4s"));
}

#[test]
fn several_values_are_several_runs_each_with_each() {
    let runs = Run::parse_all(
        "fd-churn:threads=1..3,touch=0|400000,fastalloc",
        500,
        2,
        &places(),
    );
    let runs = runs.unwrap();
    let found: Vec<_> = runs
        .iter()
        .map(|run| {
            let of = |name: &str| run.settings[name].as_str();
            (of("threads"), of("touch"), of("fastalloc"))
        })
        .collect();
    let expected = [
        ("1", "0", "true"),
        ("1", "400000", "true"),
        ("2", "0", "true"),
        ("2", "400000", "true"),
        ("3", "0", "true"),
        ("3", "400000", "true"),
    ];
    assert_eq!(found, expected);
    assert!(check_runs(&runs).is_ok());
    let one = Run::parse_all("exec", 500, 2, &places()).unwrap();
    assert_eq!(one, [Run::parse("exec", 500, 2).unwrap()]);
}

#[test]
fn a_sweep_of_nonsense_is_the_users_fault() {
    for text in [
        "exec:processes=0..2",
        "exec:processes=1|5000",
        "exec:procs=1..2",
        "exec:processes=1..2,processes=3",
        "fd-churn:fastalloc=0..1",
        "fd-churn:threads=1..10,fds=1..10",
    ] {
        let fault = Run::parse_all(text, 500, 2, &places()).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User, "{text}");
    }
}

#[test]
fn typos_are_the_users_fault() {
    for text in [
        "fd-chrn",
        "exec:procs=2",
        "exec:processes=0",
        "exec:processes=1,processes=2",
    ] {
        assert_eq!(
            Run::parse(text, 500, 2).unwrap_err().at,
            crate::fault::At::User
        );
    }
}
