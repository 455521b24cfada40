use super::*;
use std::fs;
use std::path::Path;

/// A machine of three CPUs; the measured thread 9 of process 7 runs on CPU 1.
fn write(root: &Path, cpu1: &str, ticks: u64) {
    fs::create_dir_all(root.join("proc/7/task/9")).unwrap();
    let stat = format!("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 900 0 0 0 0 0 0 0 0 0\n{cpu1}\nintr 5\n");
    fs::write(root.join("proc/stat"), stat).unwrap();
    // proc_pid_stat(5), with a name that is meant to confuse.
    let own = format!("9 (a) 1 2) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 10 7 7 20 0 1 0 5 0 0\n");
    fs::write(root.join("proc/7/task/9/stat"), own).unwrap();
    let cpufreq = root.join("sys/devices/system/cpu/cpu1/cpufreq");
    fs::create_dir_all(&cpufreq).unwrap();
    fs::write(cpufreq.join("scaling_cur_freq"), "1800000\n").unwrap();
}

fn measured() -> Measured {
    Measured {
        cpus: vec![1],
        own: Own::Threads(7, vec![9]),
    }
}

#[test]
fn others_are_what_is_busy_and_not_the_measured_thread() {
    let root = tempfile::tempdir().unwrap();
    let files = Files::at(root.path());
    write(root.path(), "cpu1 100 0 50 1000 20 1 2 5 0 0", 40);
    let first = Reading::take(&files, &measured()).unwrap();
    assert_eq!((first.busy, first.idle, first.stolen), (153, 1020, 5));
    assert_eq!(first.own, 50);
    // Of 100 ticks: 70 busy, 60 of them its own, 25 idle, 5 stolen.
    write(root.path(), "cpu1 160 0 58 1025 20 2 3 10 60 0", 100);
    let second = Reading::take(&files, &measured()).unwrap();
    let [others, stolen] = second.since(&first);
    assert!((others - 0.10).abs() < 1e-9, "{others}");
    assert!((stolen - 0.05).abs() < 1e-9, "{stolen}");
}

#[test]
fn a_meter_sees_the_worst_second_and_the_speed() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "cpu1 0 0 0 0 0 0 0 0 0 0", 0);
    let mut meter = Meter::start(Files::at(root.path()), measured()).unwrap();
    write(root.path(), "cpu1 100 0 0 0 0 0 0 0 0 0", 60);
    meter.read();
    meter.end_slice();
    write(root.path(), "cpu1 200 0 0 0 0 0 0 0 0 0", 160);
    meter.read();
    meter.end_slice();
    // Its thread ends, and what it has used is not to be had any more.
    write(root.path(), "cpu1 300 0 0 0 0 0 0 0 0 0", 260);
    fs::remove_dir_all(root.path().join("proc/7")).unwrap();
    meter.read();
    let load = meter.load();
    assert!((load.others - 0.20).abs() < 1e-9, "{load:?}");
    assert!((load.others_at_worst - 0.40).abs() < 1e-9);
    assert_eq!(load.mhz, Some([1800, 1800]));
    assert_eq!(load.cpus, "1");
    let why = load.disturbance().unwrap();
    assert_eq!(
        why,
        "others took 20 % of the time of the measured CPUs, 40 % in one second"
    );
}

#[test]
fn a_quiet_machine_is_not_disturbed() {
    let load = |others: f64, worst: f64, stolen: f64| Load {
        cpus: String::new(),
        seconds: 5.0,
        others,
        others_at_worst: worst,
        stolen,
        stolen_at_worst: stolen,
        mhz: None,
    };
    assert_eq!(load(0.04, 0.2, 0.01).disturbance(), None);
    assert!(load(0.01, 0.31, 0.0).disturbance().is_some());
    assert!(
        load(0.0, 0.0, 0.06)
            .disturbance()
            .unwrap()
            .contains("the hypervisor took 6 %")
    );
}

#[test]
fn what_a_process_started_is_its_own_wherever_it_is_numbered() {
    let root = tempfile::tempdir().unwrap();
    let files = Files::at(root.path());
    for (id, parent, ticks) in [
        (50, 1, 1_000),
        (60, 70, 4),
        (70, 40, 2),
        (40, 1, 1),
        (61, 60, 8),
    ] {
        let folder = root.path().join(format!("proc/{id}"));
        fs::create_dir_all(&folder).unwrap();
        let stat = format!("{id} (x) S {parent} 0 0 0 -1 0 0 0 0 0 {ticks} 0 100 0 20 0\n");
        fs::write(folder.join("stat"), stat).unwrap();
    }
    // 40, 70, 60 and 61, each with what it has waited for.
    assert_eq!(Own::Tree(40).ticks(&files), Some(1 + 2 + 4 + 8 + 400));
    assert_eq!(Own::Tree(61).ticks(&files), Some(108));
    assert_eq!(Own::Tree(99).ticks(&files), None);
}

#[test]
fn a_system_that_does_not_tell_is_not_measured() {
    let root = tempfile::tempdir().unwrap();
    assert!(Meter::start(Files::at(root.path()), measured()).is_none());
    fs::create_dir_all(root.path().join("proc")).unwrap();
    fs::write(root.path().join("proc/stat"), "cpu0 1 2 3\n").unwrap();
    assert!(Meter::start(Files::at(root.path()), measured()).is_none());
}
