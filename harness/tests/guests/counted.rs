//! What is counted of guests: instructions, threads, stacks, shootdowns; and that it repeats.

use std::path::Path;
use std::process::Command;

use ktrial::counters::instructions;
use ktrial::vm::frames::Frame;
use ktrial::vm::{self, Boot, Clock, Ending};

use crate::lab::*;

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn the_same_seed_repeats_to_the_digit_and_instruction_and_another_one_does_not() {
    let home = home();
    let kernel = base_kernel(&home);
    // A QEMU that starves the second vCPU is refused (tested in vm/version.rs).
    let qemu = vm::version(&home).unwrap();
    let turns = vm::check_turns(&qemu, Clock::Virtual, 2);
    for cpus in if turns.is_ok() { 1..=2 } else { 1..=1 } {
        let first = boot(&home, &kernel, cpus, 11);
        assert_eq!(first.ending, Ending::Complete, "{}", first.last_words);
        let second = boot(&home, &kernel, cpus, 11);
        let bytes = |boot: &Boot| String::from_utf8_lossy(&boot.results).into_owned();
        assert_eq!(bytes(&first), bytes(&second), "{cpus} CPUs");
        let other = boot(&home, &kernel, cpus, 12);
        assert_ne!(bytes(&first), bytes(&other), "{cpus} CPUs");
        if plugin(&home).is_none() {
            continue;
        }
        // To the instruction, in every function.
        let counts = |boot: &Boot| String::from_utf8(boot.counts.clone().unwrap()).unwrap();
        let jobs = instructions::read(&counts(&first)).unwrap();
        assert_eq!(jobs.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        assert!(
            jobs[1][2].functions.contains_key("__sys_socket"),
            "{:?}",
            jobs[1]
        );
        assert!(
            counts(&first) == counts(&second),
            "{cpus} CPUs: other counts"
        );
    }
}

/// Two threads keep two vCPUs busy for 100 ms in each iteration, but for what this machine takes
/// from them; what is not virtual time is about the wall's.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn the_threads_of_an_emulated_guest_are_counted_in_each_of_its_iterations() {
    let home = home();
    let kernel = base_kernel(&home);
    let launch = launch(&home, &kernel, &BOTH, Clock::Emulated, 2, 3);
    let folder = tempfile::tempdir().unwrap();
    let boot = vm::boot(&launch, folder.path(), home.cache_root(), &mut |_| ()).unwrap();
    assert_eq!(boot.ending, Ending::Complete, "{}", boot.last_words);
    let watched = boot.watched.unwrap();
    assert_eq!(watched.broken, None);
    assert_eq!(watched.threads, "2 vCPUs on a thread each");
    let said = String::from_utf8_lossy(&boot.results);
    assert!(!said.contains("uncounted host"), "{said}");
    let iterations: Vec<usize> = watched.jobs.values().map(Vec::len).collect();
    assert_eq!(iterations, [3, 3]);
    assert!(watched.absent["host.cycles"].contains("guest mode"));
    if !watched.absent.contains_key("vcpu.task") {
        for churn in &watched.jobs[&1] {
            let task = churn["vcpu.task"].count / 1e6;
            // Less than 20 ms of 200 would be no guest that works, more than 1 s no iteration alone.
            assert!((20.0..1_000.0).contains(&task), "{task} ms");
            assert!(churn["vcpu.switches"].count >= 1.0);
        }
    }
    // In virtual time nobody answers.
    let quiet = self::boot(&home, &kernel, 1, 3);
    assert!(quiet.watched.is_none());
}

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_loop_of_known_length_is_found_in_its_function_to_one_per_cent() {
    let churn = [
        "--deterministic",
        "--rounds-max",
        "5",
        "-w",
        "fd-churn:fds=2000,touch=0",
    ];
    let series = fault_patch("known-loop.patch");
    if plugin(&home()).is_none() {
        expect(trial(&series, &churn), 6, &["plugin interface"]);
        return;
    }
    let said = expect(trial(&series, &churn), 1, &["tcg.all insn/op", "REGRESSED"]);
    // The first line of the table is the sum, the next what costs most: base, patched, cost, ±, name.
    let table = said.split("instructions an operation\n").nth(1).unwrap();
    let dearest: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(dearest[4], "ktrial_known_loop", "{said}");
    let cost: f64 = dearest[2].parse().unwrap();
    // 9,999 and the return.
    assert!((9_900.0..10_100.0).contains(&cost), "{said}");
}

/// The catalogue's patch takes an index out, so that a bitmap of all descriptors is searched.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_profile_puts_the_search_of_the_bitmap_first_and_locks_are_looked_at() {
    let watched = [
        "--rounds",
        "1",
        "--profile",
        "--locks",
        "-w",
        "fd-churn:touch=0",
        "-w",
        "exec:processes=2",
    ];
    let series = Path::new("linux-fd-linear-scan");
    expect(trial(series, &watched), 3, &["watched boots"]);
    let mut profile = Command::new(KTRIAL);
    profile.arg("profile");
    let said = expect(
        profile,
        0,
        &["samples by cpu-clock", "lock:contention_begin"],
    );
    let table = said.split("samples by cpu-clock\n").nth(1).unwrap();
    // What is said of the samples, the heads, all functions together, and then the dearest.
    let dearest = table.lines().nth(3).unwrap();
    assert!(dearest.ends_with(" _find_next_zero_bit"), "{said}");
    let most: Vec<&str> = dearest.split_whitespace().collect();
    let share: f64 = most[2].parse().unwrap();
    assert!(share > 50.0, "{said}");
}

/// Two threads of one process on two vCPUs: each has to tell the other to drop what it unmapped.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn unmapping_on_several_vcpus_takes_shootdowns_and_on_one_none() {
    let home = home();
    let kernel = base_kernel(&home);
    for cpus in [1, 2] {
        if vm::check_turns(&vm::version(&home).unwrap(), Clock::Virtual, cpus).is_err() {
            continue;
        }
        let launch = launch(&home, &kernel, &["unmap"], Clock::Virtual, cpus, 5);
        let folder = tempfile::tempdir().unwrap();
        let boot = vm::boot(&launch, folder.path(), home.cache_root(), &mut |_| ()).unwrap();
        assert_eq!(boot.ending, Ending::Complete, "{}", boot.last_words);
        let count = |name: &str| {
            let start = format!("count 1 {name} ");
            boot.frames.iter().find_map(|frame| match frame {
                Frame::Out { text, .. } => text.strip_prefix(&start)?.parse::<u64>().ok(),
                _ => None,
            })
        };
        let shootdowns = count("irq.tlb").unwrap();
        match cpus {
            1 => assert_eq!(shootdowns, 0),
            // 100 ms hold some 800 operations of 16 pages, most of them while the other thread runs.
            _ => assert!(shootdowns > 100, "{shootdowns}"),
        }
        assert!(count("vmstat.pgfault").unwrap() > 16 * 100);
    }
}
