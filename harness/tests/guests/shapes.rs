//! Guests after machines: what they say of themselves is what was asked for, and they lie where they
//! were put.

use std::time::Duration;

use ktrial::guest::shape::{Mirror, Per, Scale};
use ktrial::guest::{Guest, Placement, Programs, Seen, Shape};
use ktrial::machine::files::Files;
use ktrial::machine::topology::Topology;
use ktrial::machine::{hwloc, known, text};
use ktrial::vm::frames::Frame;
use ktrial::vm::{self, Clock, Ending};

use crate::lab::*;

/// Boots a guest of this shape with nothing to do, and returns what it says of its own.
fn seen(shape: &Shape, clock: Clock, patience: Duration) -> Seen {
    let home = home();
    let kernel = base_kernel(&home);
    let guest = Guest {
        shape,
        pins: None,
        clock,
        programs: &Programs::build(&home).unwrap(),
    };
    let mut launch = guest.launch(kernel.image(), &[], 3).unwrap();
    launch.limits.boot = launch.limits.boot.max(patience);
    let folder = tempfile::tempdir().unwrap();
    let boot = vm::boot(&launch, folder.path(), home.cache_root(), &mut |_| ()).unwrap();
    assert_eq!(boot.ending, Ending::Complete, "{}", boot.last_words);
    Seen::of(&boot.frames).unwrap()
}

fn like(topology: &Topology) -> Shape {
    let mirror = Mirror::of(topology, None, Per::Thread, Scale::ALL).unwrap();
    mirror.shape(None).unwrap()
}

/// The nodes in a ring: the next one is 16 away, the one across 22.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn four_packages_of_two_cores_of_two_threads_with_distances_are_what_the_guest_sees() {
    let mut topology = hwloc::synthetic("pack:4 numa:1(memory=1GiB) core:2 pu:2").unwrap();
    let distance = |from: usize, to: usize| [10, 16, 22, 16][(to + 4 - from) % 4];
    let row = |from| (0..4).map(|to| distance(from, to)).collect();
    topology.distances = Some((0..4).map(row).collect());
    let shape = like(&topology);
    assert_eq!(shape.words(), "4 packages × 2 cores × 2 threads, 4 nodes");
    let mut clocks = vec![Clock::Emulated];
    let qemu = vm::version(&home()).unwrap();
    clocks.extend(
        vm::check_turns(&qemu, Clock::Virtual, 16)
            .is_ok()
            .then_some(Clock::Virtual),
    );
    for clock in clocks {
        let seen = seen(&shape, clock, Duration::ZERO);
        assert_eq!(
            seen.differences(&shape, false),
            Vec::<String>::new(),
            "{clock:?}"
        );
        // Had it been asked for other distances, that would have been found.
        let mut other = shape.clone();
        other.layout.as_mut().unwrap().distances.as_mut().unwrap()[1][2] = 17;
        assert_eq!(seen.differences(&other, false).len(), 1);
    }
}

/// Dies, which an emulated guest has not, one vCPU a core, nodes of unequal memory, and one without CPUs.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn dies_and_a_node_of_memory_alone_are_what_the_guest_sees() {
    let mut topology = hwloc::synthetic("pack:2 numa:1(memory=1GiB) die:2 core:1 pu:1").unwrap();
    let mut memory = topology.machine.inside[0].memory[0].clone();
    memory.number = Some(2);
    topology.machine.memory.push(memory);
    let shape = like(&topology);
    let layout = shape.layout.as_ref().unwrap();
    assert_eq!((layout.dies, layout.nodes.len()), (2, 3));
    let seen = seen(&shape, Clock::Emulated, Duration::ZERO);
    assert_eq!(seen.differences(&shape, false), Vec::<String>::new());
}

/// The kernel's own word for where the vCPU, QEMU's other threads and the guest's memory may be,
/// while the guest runs; what else is asserted of placements is tested on imaginary machines.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_guest_lies_where_it_was_put() {
    let here = hwloc::here().unwrap();
    let files = Files::here();
    if here.located().len() < 2 {
        println!("not tried: this machine has one CPU");
        return;
    }
    let shape = Shape::plain(1, 512).unwrap();
    let placement = Placement::here(&shape, Clock::Emulated).unwrap();
    let pins = placement.pins.unwrap();
    assert!(!pins.others.contains(&pins.vcpus[0]));
    let home = home();
    let kernel = base_kernel(&home);
    let mut launch = launch(&home, &kernel, &["exec"], Clock::Emulated, 1, 3);
    launch.pins = Some(pins.clone());
    let folder = tempfile::tempdir().unwrap();
    let mut found = None;
    let boot = vm::boot(&launch, folder.path(), home.cache_root(), &mut |frame| {
        if matches!(frame, Frame::Begin { .. }) {
            found = Some(threads(&files));
        }
    });
    assert_eq!(boot.unwrap().ending, Ending::Complete);
    let (allowed, maps) = found.unwrap();
    let vcpu = pins.vcpus[0].to_string();
    let others = text::ranges(&pins.others);
    let on = |list: &str| allowed.iter().filter(|found| *found == list).count();
    assert_eq!(
        on(&vcpu),
        if others == vcpu { allowed.len() } else { 1 },
        "{allowed:?}"
    );
    assert_eq!(on(&vcpu) + on(&others), allowed.len(), "{allowed:?}");
    if !pins.nodes.is_empty() {
        // 512 MiB and what the boot has beyond them, all of what is bound.
        let bound = maps.lines().filter(|line| line.contains(" bind:0 "));
        assert_eq!(bound.count(), 1, "{maps}");
    }
}

/// `Cpus_allowed_list` of each thread of the QEMU that this process has started, and its `numa_maps`.
fn threads(files: &Files) -> (Vec<String>, String) {
    let own = std::process::id().to_string();
    let is_ours = |pid: &&String| {
        let status = files
            .text(&format!("proc/{pid}/status"))
            .unwrap_or_default();
        let has = |start: &str, value: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(start));
            line.is_some_and(|rest| rest.trim().starts_with(value))
        };
        has("PPid:", &own) && has("Name:", "qemu-system")
    };
    let processes = files.names("proc");
    let qemu = processes.iter().find(is_ours).expect("no QEMU is running");
    let threads = files.names(&format!("proc/{qemu}/task"));
    // A worker thread may be gone by now.
    let lists = threads.iter().filter_map(|thread| {
        let status = files.text(&format!("proc/{qemu}/task/{thread}/status"))?;
        let mut lines = status.lines();
        let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(list.trim().to_owned())
    });
    let maps = files
        .text(&format!("proc/{qemu}/numa_maps"))
        .unwrap_or_default();
    (lists.collect(), maps)
}

/// 128 vCPUs: 4 packages of 16 cores of 2 threads, a node each. Over a minute on two idle cores.
#[test]
#[ignore = "takes minutes; ./test --all runs it"]
fn slow_a_guest_like_the_large_instance_of_the_seed_boots() {
    let known = known::find("x1.32xlarge").unwrap();
    let shape = like(&known.topology().unwrap());
    assert_eq!(shape.cpus, 128);
    let seen = seen(&shape, Clock::Emulated, Duration::from_secs(1_800));
    assert_eq!(seen.differences(&shape, false), Vec::<String>::new());
}

/// 48 vCPUs on 8 nodes, two in each package.
#[test]
#[ignore = "takes minutes; ./test --all runs it"]
fn slow_a_guest_like_the_opteron_of_the_seed_boots() {
    let known = known::find("opteron-6168-4s").unwrap();
    let shape = like(&known.topology().unwrap());
    assert_eq!(shape.cpus, 48);
    let seen = seen(&shape, Clock::Emulated, Duration::from_secs(1_800));
    assert_eq!(seen.differences(&shape, false), Vec::<String>::new());
}
