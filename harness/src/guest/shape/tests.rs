//! Guests after machines of known structure. hwloc's words number CPUs in their order.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::machine::hwloc;
use crate::machine::topology::{Is, Part, Topology};

const OPTERON: &str = "pack:4 numa:2(memory=16GiB) core:6 pu:1";
const X1: &str = "pack:4 numa:1(memory=488GiB) core:16 pu:2";

fn mirror(words: &str, scale: &str) -> Mirror {
    let topology = hwloc::synthetic(words).unwrap();
    Mirror::of(&topology, None, Per::Thread, scale.parse().unwrap()).unwrap()
}

fn layout(mirror: &Mirror) -> Layout {
    mirror.shape(None).unwrap().layout.unwrap()
}

#[test]
fn whole_machines_keep_all_of_their_structure() {
    let opteron = mirror(OPTERON, "1").shape(None).unwrap();
    assert_eq!(opteron.words(), "4 packages × 12 cores × 1 thread, 8 nodes");
    let nodes = opteron.layout.unwrap().nodes;
    assert_eq!(nodes[3].cpus, (18..24).collect::<Vec<_>>());
    // 1 GiB, and 32 MiB for each of 40 vCPUs, in eight equal nodes.
    assert!(nodes.iter().all(|node| node.memory_mib == 288));
    let x1 = mirror(X1, "1").shape(Some(8192)).unwrap();
    assert_eq!(x1.words(), "4 packages × 16 cores × 2 threads, 4 nodes");
    assert_eq!((x1.cpus, x1.memory_mib), (128, 8192));
}

#[test]
fn a_share_keeps_packages_and_nodes_and_has_fewer_cores() {
    let x1 = mirror(X1, "1/8");
    let layout = layout(&x1);
    assert_eq!((layout.packages, layout.cores, layout.threads), (4, 2, 2));
    assert_eq!(layout.nodes.len(), 4);
    assert!(x1.notes.is_empty());
    let opteron = mirror(OPTERON, "1/8");
    assert_eq!(opteron.cpus(), 8);
    assert_eq!(opteron.notes.len(), 1, "{:?}", opteron.notes);
    assert_eq!(mirror(OPTERON, "1/2").cpus(), 24);
}

#[test]
fn the_largest_share_that_fits_is_found() {
    let topology = hwloc::synthetic(X1).unwrap();
    let fit = |per, cpus| Mirror::fitting(&topology, None, per, cpus).map(|m| m.cpus());
    assert_eq!(fit(Per::Thread, 128).unwrap(), 128);
    assert_eq!(fit(Per::Thread, 127).unwrap(), 64);
    assert_eq!(fit(Per::Thread, 8).unwrap(), 8);
    assert_eq!(fit(Per::Core, 7).unwrap(), 4);
    let fault = fit(Per::Core, 3).unwrap_err();
    assert_eq!(fault.at, crate::fault::At::User);
    assert!(fault.what.contains("4 vCPUs"), "{}", fault.what);
}

#[test]
fn one_node_is_a_guest_of_its_own() {
    let topology = hwloc::synthetic(OPTERON).unwrap();
    let node = |number| Mirror::of(&topology, Some(number), Per::Thread, Scale::ALL);
    let shape = node(5).unwrap().shape(None).unwrap();
    assert_eq!(shape.words(), "1 package × 6 cores × 1 thread, 1 node");
    let fault = node(8).unwrap_err();
    assert_eq!(fault.next.unwrap(), "the nodes are 0-7");
}

#[test]
fn distances_and_unequal_memory_are_kept() {
    let mut topology = hwloc::synthetic("pack:2 numa:1(memory=1GiB) core:2 pu:1").unwrap();
    topology.distances = Some(vec![vec![10, 21], vec![16, 10]]);
    topology.machine.inside[1].memory[0].bytes = Some(3 << 30);
    let mirror = Mirror::of(&topology, None, Per::Thread, Scale::ALL).unwrap();
    let layout = mirror.shape(Some(1152)).unwrap().layout.unwrap();
    assert_eq!(layout.distances, Some(vec![vec![10, 21], vec![16, 10]]));
    // 64 MiB each, and of the other 1,024 a quarter and three quarters.
    let memory: Vec<u32> = layout.nodes.iter().map(|node| node.memory_mib).collect();
    assert_eq!(memory, [320, 832]);
    // Such as QEMU does not take are left out.
    topology.distances = Some(vec![vec![11, 21], vec![16, 10]]);
    let mirror = Mirror::of(&topology, None, Per::Thread, Scale::ALL).unwrap();
    assert_eq!(self::layout(&mirror).distances, None);
}

/// Two performance cores with two threads each, and four efficient ones with one, as a hybrid
/// processor has them.
fn hybrid() -> Topology {
    let part = |is, number, inside| Part {
        is,
        number,
        inside,
        ..Part::default()
    };
    let core = |cpus: &[u32]| {
        let threads = cpus
            .iter()
            .map(|cpu| part(Is::Thread, Some(*cpu), Vec::new()));
        part(Is::Core, None, threads.collect())
    };
    let cores = [&[0, 1][..], &[2, 3], &[4], &[5], &[6], &[7]];
    let mut package = part(Is::Package, Some(0), cores.map(core).to_vec());
    package.memory = vec![part(Is::Node, Some(0), Vec::new())];
    Topology {
        machine: part(Is::Machine, None, vec![package]),
        kinds: vec![
            crate::machine::topology::Kind {
                cpus: vec![4, 5, 6, 7],
                facts: [].into(),
            },
            crate::machine::topology::Kind {
                cpus: vec![0, 1, 2, 3],
                facts: [].into(),
            },
        ],
        ..Topology::default()
    }
}

#[test]
fn what_a_guest_can_not_have_is_said() {
    let mirror = Mirror::of(&hybrid(), None, Per::Thread, Scale::ALL).unwrap();
    assert_eq!(mirror.cpus(), 6);
    assert_eq!(
        mirror.notes,
        [
            "its cores are of several kinds, which the guest's are not",
            "its cores have 1 to 2 threads: the guest has 1 in each",
        ]
    );
}

#[test]
fn what_may_not_be_used_is_left_out_and_packages_stay_alike() {
    let topology = Topology {
        disallowed: vec![0, 5],
        ..hwloc::synthetic("pack:2 numa:1 core:4 pu:1").unwrap()
    };
    let mirror = Mirror::of(&topology, None, Per::Thread, Scale::ALL).unwrap();
    // Three cores are left in each package.
    assert_eq!((mirror.cpus(), mirror.notes.len()), (6, 0));
    let uneven = Topology {
        disallowed: vec![0],
        ..topology.clone()
    };
    let mirror = Mirror::of(&uneven, None, Per::Thread, Scale::ALL).unwrap();
    assert_eq!(mirror.cpus(), 6);
    assert_eq!(
        mirror.notes,
        ["1 of its cores are left out, for all packages of a guest are alike"]
    );
    let none = Topology {
        disallowed: (0..8).collect(),
        ..topology
    };
    assert!(Mirror::of(&none, None, Per::Thread, Scale::ALL).is_err());
}

#[test]
fn a_node_of_memory_alone_stays() {
    let mut topology = hwloc::synthetic("pack:1 numa:1(memory=1GiB) core:2 pu:1").unwrap();
    topology.machine.memory.push(Part {
        is: Is::Node,
        number: Some(1),
        bytes: Some(1 << 30),
        ..Part::default()
    });
    let layout = layout(&Mirror::of(&topology, None, Per::Thread, Scale::ALL).unwrap());
    let cpus: Vec<usize> = layout.nodes.iter().map(|node| node.cpus.len()).collect();
    assert_eq!(cpus, [2, 0]);
}

#[test]
fn too_many_vcpus_and_too_little_memory_are_refused() {
    let large = mirror("pack:4 numa:1 core:64 pu:2", "1")
        .shape(None)
        .unwrap_err();
    assert!(large.to_string().contains("--scale"), "{large}");
    assert_eq!(
        mirror(OPTERON, "1").shape(Some(511)).unwrap_err().at,
        crate::fault::At::User
    );
    assert!(mirror(OPTERON, "1").shape(Some(512)).is_ok());
    assert!(Shape::plain(0, 1024).is_err() && Shape::plain(256, 1024).is_err());
    assert!(Shape::plain(1, 127).is_err());
}
