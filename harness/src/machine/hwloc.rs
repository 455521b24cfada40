//! Topologies as hwloc reads them: of this machine, of a snapshot of another one's `/sys`, of an XML
//! file that `lstopo` wrote, or of a short text (`pack:2 core:4 pu:2`).

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;

use hwlocality::Topology as Hwloc;
use hwlocality::cpu::cpuset::CpuSet;
use hwlocality::cpu::kind::CpuKind;
use hwlocality::info::TextualInfo;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::types::ObjectType;
use nix::sched::sched_getaffinity;
use nix::unistd::Pid;

use hwlocality::topology::builder::{BuildFlags, TopologyBuilder, TypeFilter};

use super::topology::{Is, Kind, Part, Topology};
use crate::fault::{Fault, Result};

/// The machine at hand: all that is online, with what may not be used. Where `HWLOC_FSROOT` names a
/// folder, the machine whose `/sys` and `/proc` are copied there.
///
/// # Errors
/// A host fault if hwloc can make nothing of it.
pub fn here() -> Result<Topology> {
    let built = builder().and_then(|builder| Ok(builder.build()?));
    let hwloc =
        built.map_err(|why| Fault::host(format!("hwloc can't read this machine: {why}")))?;
    let mut topology = topology(&hwloc);
    if std::env::var_os("HWLOC_FSROOT").is_none() {
        forbid_others(&mut topology);
    }
    Ok(topology)
}

/// What `taskset`, a job scheduler or a service's settings keep this process from may not be used
/// either; hwloc only asks the cgroup.
fn forbid_others(topology: &mut Topology) {
    let Ok(own) = sched_getaffinity(Pid::from_raw(0)) else {
        return;
    };
    let mut cpus = topology.machine.cpus();
    cpus.retain(|cpu| !own.is_set(*cpu as usize).unwrap_or(true));
    topology.disallowed.extend(cpus);
    topology.disallowed.sort_unstable();
    topology.disallowed.dedup();
}

/// A machine that `lstopo` wrote to an XML file.
///
/// # Errors
/// A user fault if it can't be read or is none.
pub fn xml(path: &Path) -> Result<Topology> {
    let text = crate::input::text(path)?;
    let built = builder().and_then(|builder| Ok(builder.from_xml(&text)?.build()?));
    let why = |why| {
        Fault::user(format!(
            "{} is no machine of hwloc's: {why}",
            path.display()
        ))
    };
    Ok(topology(&built.map_err(why)?))
}

/// A machine that is described in hwloc's words: `pack:2 core:4 pu:2`.
///
/// # Errors
/// A user fault that shows the words if they are none.
pub fn synthetic(text: &str) -> Result<Topology> {
    let built = builder().and_then(|builder| Ok(builder.from_synthetic(text)?.build()?));
    let why = |why| {
        Fault::user(format!("{text:?} describes no machine: {why}"))
            .next("for example: pack:2 numa:1 l3:1 core:4 pu:2")
    };
    Ok(topology(&built.map_err(why)?))
}

type Built<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn builder() -> Built<TopologyBuilder> {
    let builder = TopologyBuilder::new()
        .with_flags(BuildFlags::INCLUDE_DISALLOWED)?
        .with_cpu_icache_type_filter(TypeFilter::KeepAll)?;
    Ok(builder)
}

fn topology(hwloc: &Hwloc) -> Topology {
    let online = numbers(&hwloc.cpuset());
    let allowed = numbers(&hwloc.allowed_cpuset());
    let complete = numbers(&hwloc.complete_cpuset());
    let without = |all: &[u32], some: &[u32]| {
        // Both are ascending.
        let others = all.iter().filter(|cpu| some.binary_search(cpu).is_err());
        others.copied().collect()
    };
    let root = hwloc.root_object();
    Topology {
        offline: without(&complete, &online),
        disallowed: without(&online, &allowed),
        machine: part(root),
        kinds: kinds(hwloc),
        distances: distances(hwloc),
        facts: facts(root),
    }
}

/// CPUs by the system's number.
fn numbers(set: &CpuSet) -> Vec<u32> {
    let indexes = set.iter_set();
    indexes
        .filter_map(|index| u32::try_from(usize::from(index)).ok())
        .collect()
}

fn part(object: &TopologyObject) -> Part {
    Part {
        is: is(object),
        number: object
            .os_index()
            .and_then(|number| u32::try_from(number).ok()),
        bytes: match object.attributes() {
            Some(ObjectAttributes::Cache(cache)) => cache.size().map(|size| size.get()),
            Some(ObjectAttributes::NUMANode(node)) => node.local_memory().map(|size| size.get()),
            _ => None,
        },
        memory: object.memory_children().map(part).collect(),
        inside: object.normal_children().map(part).collect(),
    }
}

fn is(object: &TopologyObject) -> Is {
    match object.object_type() {
        ObjectType::Machine => Is::Machine,
        ObjectType::Package => Is::Package,
        ObjectType::Die => Is::Die,
        ObjectType::NUMANode => Is::Node,
        ObjectType::Core => Is::Core,
        ObjectType::PU => Is::Thread,
        ObjectType::L1Cache => Is::Cache(1),
        ObjectType::L2Cache => Is::Cache(2),
        ObjectType::L3Cache => Is::Cache(3),
        ObjectType::L4Cache => Is::Cache(4),
        ObjectType::L5Cache => Is::Cache(5),
        ObjectType::L1ICache => Is::InstructionCache(1),
        ObjectType::L2ICache => Is::InstructionCache(2),
        ObjectType::L3ICache => Is::InstructionCache(3),
        _ => Is::Group,
    }
}

fn facts(object: &TopologyObject) -> BTreeMap<String, String> {
    let own = object.infos().iter();
    // The model of the processors is said by each package, and is one in all machines there are.
    let inside = object.normal_children().flat_map(TopologyObject::infos);
    let all = inside.chain(own).map(fact);
    all.filter(|(_, value)| !value.is_empty()).collect()
}

fn fact(info: &TextualInfo) -> (String, String) {
    let text = |text: &CStr| text.to_string_lossy().trim().to_owned();
    (text(info.name()), text(info.value()))
}

fn kinds(hwloc: &Hwloc) -> Vec<Kind> {
    let Ok(kinds) = hwloc.cpu_kinds() else {
        return Vec::new();
    };
    let kind = |kind: CpuKind<'_>| Kind {
        cpus: numbers(&kind.cpuset),
        facts: kind.infos.iter().map(fact).collect(),
    };
    let kinds: Vec<Kind> = kinds.map(kind).collect();
    if kinds.len() > 1 { kinds } else { Vec::new() }
}

fn distances(hwloc: &Hwloc) -> Option<Vec<Vec<u64>>> {
    let all = hwloc.distances_with_type(None, ObjectType::NUMANode).ok()?;
    let matrix = all.first()?;
    let rows = matrix.distances().chunks(matrix.num_objects().max(1));
    Some(rows.map(<[u64]>::to_vec).collect())
}
