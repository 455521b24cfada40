//! A machine for people, in a few lines.

use std::fmt::Write;

use super::identity::{self, Identity};
use super::known::{Match, Nearness};
use super::topology::{Is, Kind, Topology};
use crate::terminal::folded;

/// The whole text, a line for each thing that there is to say: who it is, where that is known, what it
/// is made of, and the known machines that it is like.
pub fn render(topology: &Topology, identity: Option<&Identity>, known: &[Match]) -> String {
    let mut lines = identity.map_or_else(|| named(topology), identity::lines);
    lines.extend(made_of(topology));
    lines.extend(known.iter().map(|known| ("known", alike(known))));
    let mut text = String::new();
    for (name, said) in lines {
        let _ = writeln!(text, "{}", folded(&format!("{name:<10} {said}")));
    }
    text
}

/// What a topology alone knows of its names.
fn named(topology: &Topology) -> Vec<(&'static str, String)> {
    let names = [("machine", "DMIProductName"), ("processor", "CPUModel")];
    let said = names.into_iter().filter_map(|(name, fact)| {
        let said = topology.facts.get(fact)?;
        Some((name, said.clone()))
    });
    said.collect()
}

fn made_of(topology: &Topology) -> Vec<(&'static str, String)> {
    let mut lines = vec![("parts", parts(topology)), ("memory", memory(topology))];
    let caches = caches(topology);
    if !caches.is_empty() {
        lines.push(("caches", caches));
    }
    lines.extend(topology.kinds.iter().map(|kind| ("kind", kind_of(kind))));
    for (name, cpus) in [
        ("offline", &topology.offline),
        ("forbidden", &topology.disallowed),
    ] {
        if !cpus.is_empty() {
            lines.push((name, format!("CPUs {}", ranges(cpus))));
        }
    }
    if let Some(distances) = topology.distances.as_ref().filter(|all| all.len() > 1) {
        for (node, row) in topology.parts(Is::Node).iter().zip(distances) {
            let number = node
                .number
                .map_or_else(String::new, |number| number.to_string());
            let row: Vec<String> = row.iter().map(u64::to_string).collect();
            lines.push(("distances", format!("node {number}: {}", row.join(" "))));
        }
    }
    lines
}

fn alike(known: &Match) -> String {
    match known.nearness {
        Nearness::Same => format!("the same as {}", known.name),
        Nearness::Alike => format!("like {}: {}", known.name, known.differs.join(", ")),
    }
}

fn parts(topology: &Topology) -> String {
    let count = |is: Is, one: &str, more: &str| match topology.count(is) {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {more}")),
    };
    let counts = [
        count(Is::Package, "package", "packages"),
        count(Is::Die, "die", "dies"),
        count(Is::Node, "node", "nodes"),
        count(Is::Core, "core", "cores"),
        count(Is::Thread, "thread", "threads"),
    ];
    counts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn memory(topology: &Topology) -> String {
    let nodes = topology.parts(Is::Node);
    if nodes.iter().all(|node| node.bytes.is_none()) {
        return "unknown".into();
    }
    let all = size(topology.memory_bytes());
    if nodes.len() < 2 {
        return all;
    }
    let of = nodes.iter().map(|node| {
        let number = node
            .number
            .map_or_else(String::new, |number| number.to_string());
        format!("node {number} {}", size(node.bytes.unwrap_or(0)))
    });
    format!("{all}: {}", of.collect::<Vec<_>>().join(", "))
}

fn caches(topology: &Topology) -> String {
    let caches = topology
        .caches()
        .into_iter()
        .map(|(is, bytes, count)| format!("{count} × {} {}", cache_name(is), size(bytes)));
    caches.collect::<Vec<_>>().join(", ")
}

/// `L1d`, `L1i`, `L2`.
pub(super) fn cache_name(is: Is) -> String {
    match is {
        // The first level is the only one that is for data alone everywhere.
        Is::Cache(1) => "L1d".into(),
        Is::Cache(level) => format!("L{level}"),
        Is::InstructionCache(level) => format!("L{level}i"),
        _ => String::new(),
    }
}

/// `CPUs 0-7: CoreType IntelAtom`.
pub(super) fn kind_of(kind: &Kind) -> String {
    let facts = kind.facts.iter();
    let facts: Vec<String> = facts
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    format!("CPUs {}: {}", ranges(&kind.cpus), facts.join(", "))
}

/// `0-3,8`, as the kernel writes lists of CPUs; of ascending numbers.
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let runs = runs.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// In the largest unit in which it is a whole number of four digits at most, or else with one digit
/// behind the point: `1952 GiB`, `1280 KiB`, `23.5 GiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let mut units = UNITS.iter().filter(|(_, shift)| bytes >> shift > 0);
    let Some((unit, shift)) = units.clone().next() else {
        return format!("{bytes} B");
    };
    let whole = units.find(|(_, shift)| bytes.trailing_zeros() >= *shift);
    match whole.map(|(unit, shift)| (bytes >> shift, unit)) {
        Some((count, unit)) if count < 10_000 => format!("{count} {unit}"),
        _ => {
            let value = bytes as f64 / (1_u64 << shift) as f64;
            let text = format!("{value:.1}");
            format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::machine::hwloc;

    /// The text is hwloc's own for an imaginary machine; all figures are in it.
    #[test]
    fn a_machine_of_two_packages_is_told_in_a_few_lines() {
        let words = "pack:2 numa:1(memory=2GiB) l3:1(size=16MiB) l2:4(size=512KiB) core:1 pu:2";
        let topology = hwloc::synthetic(words).unwrap();
        let text = render(&topology, None, &[]);
        let expected = "\
parts      2 packages, 2 nodes, 8 cores, 16 threads
memory     4 GiB: node 0 2 GiB, node 1 2 GiB
caches     8 × L2 512 KiB, 2 × L3 16 MiB
";
        assert_eq!(text, expected);
        assert_eq!(topology.threads_per_core(), 2);
        assert_eq!(
            topology.parts(Is::Package)[1].cpus(),
            (8..16).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_describes_no_machine_is_the_users_fault() {
        for words in [
            "",
            "pack:",
            "pack:2 nonsense:3",
            "core:99999999999999999999",
        ] {
            let fault = hwloc::synthetic(words).unwrap_err();
            assert_eq!(fault.at, crate::fault::At::User, "{words}");
        }
    }

    #[test]
    fn lists_of_cpus_are_those_of_the_kernel() {
        for (numbers, text) in [
            (&[][..], ""),
            (&[3], "3"),
            (&[0, 1, 2, 5, 7, 8], "0-2,5,7-8"),
            (&[u32::MAX], "4294967295"),
        ] {
            assert_eq!(ranges(numbers), text);
        }
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1280 << 10), "1280 KiB");
        assert_eq!(size(1952 << 30), "1952 GiB");
        assert_eq!(size((16 << 30) + 4096), "16 GiB");
        assert_eq!(size(1_300_000), "1.2 MiB");
        assert_eq!(size(48 << 10), "48 KiB");
    }
}
