//! What ktrial says of machines, against what lstopo says of them: real ones, whose snapshots are not
//! part of the project, and this one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Lab;
use serde_json::Value;

/// What is counted of a machine: parts by name, sizes of caches and how many have each, CPUs offline.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    parts: BTreeMap<String, usize>,
    caches: BTreeMap<(String, u64), usize>,
    offline: Vec<u32>,
}

/// Of the JSON of `ktrial machine`.
fn counted(json: &str) -> Counts {
    let json: Value = serde_json::from_str(json).unwrap();
    let mut counts = Counts::default();
    count(&json["topology"]["machine"], &mut counts);
    let offline = json["topology"]["offline"].as_array().unwrap();
    counts.offline = offline
        .iter()
        .map(|cpu| cpu.as_u64().unwrap() as u32)
        .collect();
    counts
}

fn count(part: &Value, counts: &mut Counts) {
    let is = &part["is"];
    let name = match (
        is.as_str(),
        is["cache"].as_u64(),
        is["instruction-cache"].as_u64(),
    ) {
        (Some(name), ..) => name.to_owned(),
        (_, Some(level), _) => format!("l{level}"),
        (_, _, Some(level)) => format!("l{level}i"),
        _ => panic!("{is}"),
    };
    if let Some(bytes) = part["bytes"].as_u64().filter(|_| name.starts_with('l')) {
        *counts.caches.entry((name.clone(), bytes)).or_default() += 1;
    }
    if ["package", "node", "core", "thread"].contains(&name.as_str()) {
        *counts.parts.entry(name).or_default() += 1;
    }
    for inside in ["memory", "inside"] {
        for part in part[inside].as_array().into_iter().flatten() {
            count(part, counts);
        }
    }
}

/// Of the text of `lstopo -v`: a line for each object, `L2Cache L#0 (P#0 size=1280KiB ...)`, and the
/// CPUs that it did not draw as a mask.
fn counted_by_lstopo(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(mask) = line.split(" not represented in topology: ").nth(1) {
            counts.offline = masked(mask);
        }
        let Some((name, rest)) = line.split_once(" L#") else {
            continue;
        };
        let part = match name {
            "Package" => "package",
            "NUMANode" => "node",
            "Core" => "core",
            "PU" => "thread",
            _ => "",
        };
        if !part.is_empty() {
            *counts.parts.entry(part.to_owned()).or_default() += 1;
        }
        if let Some(cache) = name.strip_suffix("Cache") {
            let size = rest
                .split([' ', '(', ')'])
                .find_map(|word| word.strip_prefix("size="));
            let cache = cache.to_lowercase().trim_end_matches('d').to_owned();
            *counts
                .caches
                .entry((cache, bytes(size.unwrap())))
                .or_default() += 1;
        }
    }
    counts
}

/// `0x00000001,0x00006024`: words of 32 bits, the highest first.
fn masked(mask: &str) -> Vec<u32> {
    let words = mask.trim().rsplit(',').zip(0_u32..);
    let cpus = words.flat_map(|(word, at)| {
        let word = u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
        (0..32)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| at * 32 + bit)
    });
    cpus.collect()
}

/// `512KiB`, or `512KB`, which means the same to lstopo up to 2.9.
fn bytes(size: &str) -> u64 {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match size[digits.len()..].replace('i', "").as_str() {
        "KB" => 10,
        "MB" => 20,
        "GB" => 30,
        unit => panic!("{unit}"),
    };
    digits.parse::<u64>().unwrap() << shift
}

fn lstopo(arguments: &[&str], folder: Option<&Path>) -> Option<String> {
    let mut command = Command::new("lstopo-no-graphics");
    command.arg("-v").args(arguments);
    if let Some(folder) = folder {
        command
            .env("HWLOC_FSROOT", folder)
            .env("HWLOC_THISSYSTEM", "0");
        command.env("HWLOC_COMPONENTS", "linux,stop");
    }
    let said = command.output().ok()?;
    said.status
        .success()
        .then(|| String::from_utf8_lossy(&said.stdout).into_owned())
}

/// `$KTRIAL_TOPOLOGIES`, or `shared/topologies` beside the repository.
fn snapshots() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/topologies");
    let folder = std::env::var_os("KTRIAL_TOPOLOGIES").map_or(beside, PathBuf::from);
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("SKIPPED: there are no snapshots in {}", folder.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut archives: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().ends_with(".tar.bz2"))
        .collect();
    archives.sort();
    archives
}

fn unpacked(lab: &Lab, archive: &Path) -> PathBuf {
    let folder = lab.path(&archive.file_name().unwrap().to_string_lossy());
    fs::create_dir_all(&folder).unwrap();
    let tar = Command::new("tar")
        .arg("-xjf")
        .arg(archive)
        .arg("-C")
        .arg(&folder)
        .status();
    assert!(tar.unwrap().success());
    let inner = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let inner: Vec<PathBuf> = inner.filter(|path| path.join("sys").is_dir()).collect();
    inner.first().cloned().unwrap_or(folder)
}

#[test]
fn of_real_machines_ktrial_says_what_lstopo_says() {
    let lab = Lab::new();
    for archive in snapshots() {
        let folder = unpacked(&lab, &archive);
        let path = archive.to_string_lossy().into_owned();
        let text = fs::read_to_string(path.replace(".tar.bz2", ".lstopo.txt")).ok();
        let Some(text) = text.or_else(|| lstopo(&["--disallowed"], Some(&folder))) else {
            println!("SKIPPED: {path} has no text, and lstopo-no-graphics is not here");
            continue;
        };
        let said = lab.ktrial(&["machine", "--json", "--sysfs", &folder.to_string_lossy()]);
        assert_eq!(said.code, 0, "{path}: {}", said.err);
        let expected = counted_by_lstopo(&text);
        assert!(expected.parts["thread"] > 0, "{path}");
        assert_eq!(counted(&said.out), expected, "{path}");
    }
}

#[test]
fn a_text_of_lstopo_is_read_right() {
    let text = "Machine (P#0 total=16GiB)\n  Package L#0 (P#0 CPUModel=\"x\")\n    NUMANode L#0 (P#0 \
                local=16GiB)\n    L3Cache L#0 (size=4096KiB linesize=64)\n      L1dCache L#0 \
                (P#1 size=16KiB ways=8)\n        L1iCache L#0 (size=16KiB)\n          Core L#0 \
                (P#0)\n            PU L#0 (P#0)\ndepth 0:  1 Machine (type #0)\n2 processors not \
                represented in topology: 0x00000001,0x00000004\n";
    let counts = counted_by_lstopo(text);
    let parts: Vec<(&str, usize)> = counts.parts.iter().map(|(k, n)| (k.as_str(), *n)).collect();
    assert_eq!(
        parts,
        [("core", 1), ("node", 1), ("package", 1), ("thread", 1)]
    );
    let of = |name: &str, kib: u64| counts.caches[&(name.to_owned(), kib << 10)];
    assert_eq!([of("l1", 16), of("l1i", 16), of("l3", 4096)], [1, 1, 1]);
    assert_eq!(counts.offline, [2, 32]);
}

#[test]
fn of_this_machine_ktrial_says_what_lstopo_and_lscpu_say() {
    let lab = Lab::new();
    let said = lab.ktrial(&["machine", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let counts = counted(&said.out);
    match lstopo(&["--no-io", "--disallowed"], None) {
        Some(text) => assert_eq!(counts, counted_by_lstopo(&text)),
        None => println!("SKIPPED: lstopo-no-graphics is not here"),
    }
    let lscpu = Command::new("lscpu")
        .args(["-p=CPU,CORE,SOCKET,NODE"])
        .output();
    let Ok(lscpu) = lscpu.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()) else {
        println!("SKIPPED: lscpu is not here");
        return;
    };
    let rows = lscpu.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split(',').collect()).collect();
    // A machine without NUMA has an empty column, and one node all the same.
    for (column, part) in [(0, "thread"), (1, "core"), (2, "package"), (3, "node")] {
        let mut numbers: Vec<&str> = rows.iter().map(|row| row[column]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), counts.parts[part], "{part}");
    }
}
