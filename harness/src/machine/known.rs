//! Machines that claims are made of, as data: `harness/machines/`. A machine at hand is one of them,
//! or like one.

use std::path::Path;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use super::hwloc;
use super::identity::Identity;
use super::topology::{Is, Topology};
use crate::fault::{Fault, Result};

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/machines");

/// A machine that is known by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Known {
    /// The name of its file.
    #[serde(skip_deserializing)]
    pub name: String,
    /// One line.
    pub title: String,
    /// Where each thing is stated: an address, a document, a mail.
    pub source: Vec<String>,
    /// Its structure and caches, in hwloc's words. Sizes of nodes count only with `memory-gib`.
    words: String,
    /// What its processor is called; none if that is not known.
    pub processor: Option<String>,
    /// What the name of a processor must hold to be the same, all of it.
    #[serde(default)]
    match_processor: Vec<String>,
    /// Memory in GiB; none if that is not known.
    pub memory_gib: Option<u64>,
    /// From each node to each, 10 being near; none if that is not known.
    distances: Option<Vec<Vec<u64>>>,
    /// What is assumed, or can't be known.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How near a machine is to a known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nearness {
    /// Structure, processor, and memory within 10 % where it is known of both.
    Same,
    /// Packages, nodes, cores and threads.
    Alike,
}

/// A known machine that one at hand is, or is like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Its name.
    pub name: String,
    /// How near.
    pub nearness: Nearness,
    /// Why it is not known to be the same; empty where it is.
    pub differs: Vec<String>,
}

/// All of them, by name.
///
/// # Errors
/// A host fault if a file in the command is broken, which the tests rule out.
pub fn all() -> Result<Vec<Known>> {
    let files = FILES.files();
    let mut all: Vec<Known> = files
        .map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            read(file.path(), text)
        })
        .collect::<Result<_>>()?;
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn read(path: &Path, text: &str) -> Result<Known> {
    let mut known: Known = toml::from_str(text)
        .map_err(|why| Fault::host(format!("machines/{}: {why}", path.display())))?;
    let name = path.to_string_lossy();
    known.name = name.strip_suffix(".toml").unwrap_or(&name).to_owned();
    Ok(known)
}

/// The one of that name.
///
/// # Errors
/// A user fault that lists those there are.
pub fn find(name: &str) -> Result<Known> {
    let all = all()?;
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    let fault = Fault::user(format!("no machine is called {name:?}"))
        .next(format!("there are: {}", names.join(", ")));
    let mut all = all.into_iter();
    all.find(|known| known.name == name).ok_or(fault)
}

/// Known machines that have this one's structure, those that it is the same as first.
///
/// # Errors
/// A host fault if a file in the command is broken.
pub fn matching(topology: &Topology, identity: Option<&Identity>) -> Result<Vec<Match>> {
    let mut matches = Vec::new();
    for known in all()? {
        if structure(&known.topology()?) != structure(topology) {
            continue;
        }
        let differs = known.differs(topology, identity);
        matches.push(Match {
            nearness: match differs.is_empty() {
                true => Nearness::Same,
                false => Nearness::Alike,
            },
            name: known.name,
            differs,
        });
    }
    matches.sort_by_key(|found| found.nearness == Nearness::Alike);
    Ok(matches)
}

fn structure(topology: &Topology) -> [usize; 4] {
    // What has no nodes of its own is one node.
    let nodes = topology.count(Is::Node).max(1);
    let packages = topology.count(Is::Package);
    let cores = topology.count(Is::Core);
    [packages, nodes, cores, topology.count(Is::Thread)]
}

impl Known {
    /// What it is made of. Nodes have no size where its memory is not known.
    ///
    /// # Errors
    /// A host fault if its words are none of hwloc's, which the tests rule out.
    pub fn topology(&self) -> Result<Topology> {
        let broken = |fault: Fault| Fault::host(format!("machines/{}: {}", self.name, fault.what));
        let mut topology = hwloc::synthetic(&self.words).map_err(broken)?;
        if self.memory_gib.is_none() {
            topology.machine.forget_memory();
        }
        topology.distances = self.distances.clone();
        let processor = self.processor.clone().map(|name| ("CPUModel".into(), name));
        topology.facts.extend(processor);
        Ok(topology)
    }

    fn differs(&self, topology: &Topology, identity: Option<&Identity>) -> Vec<String> {
        let mut differs = Vec::new();
        let name = identity.and_then(|identity| identity.processor.name.as_ref());
        let name = name.or_else(|| topology.facts.get("CPUModel"));
        let is_same = |name: &String| {
            let mut words = self.match_processor.iter();
            words.all(|word| name.contains(word.as_str()))
        };
        match (&self.processor, name) {
            (None, _) => differs.push("its processor is not stated".into()),
            (Some(_), None) => differs.push("the processor here is unknown".into()),
            (Some(theirs), Some(name)) if !is_same(name) => {
                differs.push(format!("that one's processor is {theirs}"));
            }
            _ => {}
        }
        let here = topology.memory_bytes();
        if let Some(gib) = self.memory_gib.filter(|_| here > 0) {
            let ratio = here as f64 / (gib << 30) as f64;
            if !(0.9..=1.1).contains(&ratio) {
                differs.push(format!("that one has {gib} GiB of memory"));
            }
        }
        differs
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// Counts as the sources in each file have them: 4 × 2 × 6 cores; 4 × 16 × 2 vCPUs.
    #[test]
    fn known_machines_are_what_their_sources_say() {
        let all = all().unwrap();
        let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(
            names,
            ["dual-core", "eight-core", "opteron-6168-4s", "x1.32xlarge"]
        );
        for (name, counts, memory) in [
            ("dual-core", [1, 1, 2, 2], 0),
            ("eight-core", [4, 4, 8, 8], 0),
            ("opteron-6168-4s", [4, 8, 48, 48], 0),
            ("x1.32xlarge", [4, 4, 64, 128], 1952_u64 << 30),
        ] {
            let known = find(name).unwrap();
            let topology = known.topology().unwrap();
            assert_eq!(structure(&topology), counts, "{name}");
            assert_eq!(topology.memory_bytes(), memory, "{name}");
            assert!(!known.source.is_empty() && !known.title.is_empty());
        }
    }

    #[test]
    fn distances_are_a_square_from_10_and_as_far_there_as_back() {
        for known in all().unwrap() {
            let topology = known.topology().unwrap();
            let Some(distances) = &topology.distances else {
                continue;
            };
            let nodes = topology.count(Is::Node);
            assert_eq!(distances.len(), nodes, "{}", known.name);
            for (from, row) in distances.iter().enumerate() {
                assert_eq!(row.len(), nodes, "{}", known.name);
                for (to, far) in row.iter().enumerate() {
                    assert_eq!(*far, distances[to][from], "{}: {from} {to}", known.name);
                    assert_eq!(*far == 10, from == to, "{}: {from} {to}", known.name);
                }
            }
        }
    }

    /// `lscpu` of the instance: node 0 has CPUs 0-15 and 64-79.
    #[test]
    fn vcpus_of_the_instance_are_numbered_as_they_are_there() {
        let topology = find("x1.32xlarge").unwrap().topology().unwrap();
        let first: Vec<u32> = (0..16).chain(64..80).collect();
        assert_eq!(topology.parts(Is::Package)[0].cpus(), first);
        assert_eq!(topology.parts(Is::Core)[0].cpus(), [0, 64]);
    }

    #[test]
    fn a_name_that_is_none_is_answered_with_those_that_are() {
        let fault = find("x1.16xlarge").unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User);
        let next = fault.next.unwrap();
        assert!(next.contains("opteron-6168-4s, x1.32xlarge"), "{next}");
    }

    #[test]
    fn a_machine_is_the_same_or_alike_or_neither() {
        let known = find("x1.32xlarge").unwrap();
        let mut topology = known.topology().unwrap();
        let found = matching(&topology, None).unwrap();
        assert_eq!((found.len(), found[0].nearness), (1, Nearness::Same));

        // Twice the memory, as x1e.32xlarge has.
        topology.machine.inside[0].memory[0].bytes = Some((1952 + 488) << 30);
        let found = matching(&topology, None).unwrap();
        assert_eq!(found[0].nearness, Nearness::Alike);
        assert_eq!(found[0].differs, ["that one has 1952 GiB of memory"]);

        let mut identity = Identity::default();
        identity.processor.name = Some("AMD EPYC 7571".into());
        let found = matching(&topology, Some(&identity)).unwrap();
        let differs = &found[0].differs;
        assert!(differs[0].ends_with("E7-8880 v3 @ 2.30GHz"), "{differs:?}");

        let other = hwloc::synthetic("pack:1 core:3 pu:1").unwrap();
        assert_eq!(matching(&other, None).unwrap(), []);
        // Whatever has two cores in one package is like it; nothing says that it is the same.
        let two = hwloc::synthetic("pack:1 core:2 pu:1").unwrap();
        let found = matching(&two, Some(&identity)).unwrap();
        assert_eq!(
            (found[0].name.as_str(), found[0].nearness),
            ("dual-core", Nearness::Alike)
        );
    }

    #[test]
    fn a_misspelt_key_is_refused_with_the_file() {
        let fault = read(Path::new("a.toml"), "titel = \"x\"").unwrap_err();
        assert!(fault.what.starts_with("machines/a.toml"), "{}", fault.what);
    }
}
