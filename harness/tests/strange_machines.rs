//! Machines of strangers, made by hand: of kinds that this one is not, and such as are none at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Lab, Said};
use serde_json::{Value, json};

/// Longer than a second ktrial may take (20 s), with room for a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

fn asked(lab: &Lab, folder: &str) -> Said {
    let start = Instant::now();
    let path = lab.path(folder);
    let said = lab.ktrial(&["machine", "--json", "--sysfs", &path.to_string_lossy()]);
    assert!(start.elapsed() < LONGEST, "{folder}: {:?}", start.elapsed());
    said
}

fn topology(lab: &Lab, folder: &str) -> Value {
    let said = asked(lab, folder);
    assert_eq!(said.code, 0, "{folder}: {}", said.err);
    let mut json: Value = serde_json::from_str(&said.out).unwrap();
    json["topology"].take()
}

/// Numbers of all threads of a JSON tree, and how many of some part there are.
fn threads(part: &Value) -> Vec<u64> {
    let own = (part["is"] == "thread").then(|| part["number"].as_u64().unwrap());
    let inside = part["inside"].as_array().into_iter().flatten();
    own.into_iter().chain(inside.flat_map(threads)).collect()
}

fn count(part: &Value, is: &str) -> usize {
    let inside = ["memory", "inside"].map(|name| part[name].as_array().into_iter().flatten());
    let inside: usize = inside.into_iter().flatten().map(|one| count(one, is)).sum();
    inside + usize::from(part["is"] == is)
}

/// A core of one thread, as Linux shows it.
fn core(lab: &Lab, folder: &str, cpu: u32, package: u32) {
    let base = format!("{folder}/sys/devices/system/cpu/cpu{cpu}");
    let mask = format!("{:08x}\n", 1_u64 << cpu);
    for (name, text) in [
        ("topology/physical_package_id", format!("{package}\n")),
        ("topology/core_id", format!("{cpu}\n")),
        ("topology/thread_siblings", mask.clone()),
        ("topology/core_cpus", mask),
        ("online", "1\n".to_owned()),
    ] {
        lab.write(&format!("{base}/{name}"), text);
    }
}

fn cores(lab: &Lab, folder: &str, cpus: &[u32]) {
    for cpu in cpus {
        core(lab, folder, *cpu, 0);
    }
    let cpuinfo = cpus
        .iter()
        .map(|cpu| format!("processor\t: {cpu}\nmodel name\t: x\n\n"));
    lab.write(
        &format!("{folder}/proc/cpuinfo"),
        cpuinfo.collect::<String>(),
    );
}

#[test]
fn sparse_numbers_and_no_numa() {
    let lab = Lab::new();
    cores(&lab, "m", &[0, 3, 17]);
    let topology = topology(&lab, "m");
    assert_eq!(threads(&topology["machine"]), [0, 3, 17]);
    assert_eq!(count(&topology["machine"], "core"), 3);
    // Memory is one node to hwloc, where the system has none.
    assert_eq!(count(&topology["machine"], "node"), 1);
    assert_eq!(topology["distances"], Value::Null);
}

#[test]
fn offline_cpus_are_named_and_not_in_the_tree() {
    let lab = Lab::new();
    cores(&lab, "m", &[0, 1, 2, 3]);
    lab.write("m/sys/devices/system/cpu/cpu2/online", "0\n");
    let topology = topology(&lab, "m");
    assert_eq!(threads(&topology["machine"]), [0, 1, 3]);
    assert_eq!(topology["offline"], json!([2]));
}

/// As on a 13th generation Core: what strong and weak cores differ in is their frequency.
#[test]
fn kinds_of_cores_are_told_apart() {
    let lab = Lab::new();
    cores(&lab, "m", &[0, 1, 2, 3]);
    for (cpu, base, most) in [
        (0, 1900, 5000),
        (1, 1900, 5000),
        (2, 1400, 3900),
        (3, 1400, 3900),
    ] {
        let folder = format!("{CPU}/cpu{cpu}/cpufreq");
        lab.write(&format!("{folder}/base_frequency"), format!("{base}000\n"));
        lab.write(
            &format!("{folder}/cpuinfo_max_freq"),
            format!("{most}000\n"),
        );
    }
    let topology = topology(&lab, "m");
    let kinds = topology["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    assert_eq!(kinds[0]["cpus"], json!([2, 3]));
    assert_eq!(kinds[0]["facts"]["FrequencyMaxMHz"], "3900");
    assert_eq!(kinds[1]["cpus"], json!([0, 1]));
    assert_eq!(kinds[1]["facts"]["FrequencyBaseMHz"], "1900");
}

/// A container that may use CPUs 0 and 1: cgroups of version 2, as /proc shows them.
#[test]
fn cpus_that_a_cgroup_keeps_away_are_named() {
    let lab = Lab::new();
    cores(&lab, "m", &[0, 1, 2, 3]);
    lab.write("m/proc/mounts", "cgroup2 /cg cgroup2 rw,nosuid 0 0\n");
    lab.write("m/proc/self/cgroup", "0::/box\n");
    lab.write("m/cg/cgroup.controllers", "cpuset cpu memory\n");
    lab.write("m/cg/box/cgroup.controllers", "cpuset cpu memory\n");
    lab.write("m/cg/box/cpuset.cpus.effective", "0-1\n");
    lab.write("m/cg/box/cpuset.mems.effective", "0\n");
    let topology = topology(&lab, "m");
    assert_eq!(threads(&topology["machine"]), [0, 1, 2, 3]);
    assert_eq!(topology["disallowed"], json!([2, 3]));
}

const CPU: &str = "m/sys/devices/system/cpu";

/// What someone's disk or network did to a snapshot, or someone did to us.
#[test]
fn a_damaged_snapshot_is_an_error_or_an_answer_soon() {
    type Damage = fn(&Lab);
    let damages: [(&str, Damage); 15] = [
        ("no cpu", |lab| fs::remove_dir_all(lab.path(CPU)).unwrap()),
        ("empty cpu", |lab| {
            fs::remove_dir_all(lab.path(CPU)).unwrap();
            fs::create_dir(lab.path(CPU)).unwrap();
        }),
        ("empty files", |lab| {
            for name in [
                "physical_package_id",
                "core_id",
                "thread_siblings",
                "core_cpus",
            ] {
                lab.write(&format!("{CPU}/cpu1/topology/{name}"), "");
            }
        }),
        ("nonsense in files", |lab| {
            for name in [
                "physical_package_id",
                "core_id",
                "thread_siblings",
                "core_cpus",
            ] {
                lab.write(
                    &format!("{CPU}/cpu1/topology/{name}"),
                    b"\xff\0zz,-1,99999999999",
                );
            }
        }),
        ("nonsense in names", |lab| {
            for name in ["cpu-1", "cpux", "cpu 7", "cpu", "cpu99999999999999999999"] {
                lab.write(&format!("{CPU}/{name}/topology/core_id"), "1\n");
            }
        }),
        ("a huge number of a CPU", |lab| {
            lab.write(&format!("{CPU}/cpu4294967295/topology/core_id"), "1\n");
            lab.write(&format!("{CPU}/cpu2147483647/topology/core_id"), "1\n");
        }),
        ("a large number of a CPU", |lab| {
            lab.write(&format!("{CPU}/cpu50000000/topology/core_id"), "1\n");
        }),
        ("a long mask", |lab| {
            let mask = "ffffffff,".repeat(200_000);
            lab.write(&format!("{CPU}/cpu0/topology/core_cpus"), mask);
        }),
        ("an endless file", |lab| {
            let path = lab.path(&format!("{CPU}/cpu0/topology/core_cpus"));
            fs::remove_file(&path).unwrap();
            symlink("/dev/zero", path).unwrap();
        }),
        ("an endless list", |lab| {
            symlink("/dev/zero", lab.path(&format!("{CPU}/possible"))).unwrap();
            fs::remove_file(lab.path("m/proc/cpuinfo")).unwrap();
            symlink("/dev/zero", lab.path("m/proc/cpuinfo")).unwrap();
        }),
        ("a loop", |lab| {
            fs::remove_dir_all(lab.path(&format!("{CPU}/cpu1"))).unwrap();
            symlink("../cpu", lab.path(&format!("{CPU}/cpu1"))).unwrap();
            symlink("self", lab.path(&format!("{CPU}/self"))).unwrap();
        }),
        ("a pipe that nobody writes to", |lab| {
            let path = lab.path("m/proc/cpuinfo");
            fs::remove_file(&path).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("a pipe that hwloc does not read", |lab| {
            let path = lab.path(&format!("{CPU}/vulnerabilities/meltdown"));
            fs::create_dir(path.parent().unwrap()).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("folders for files", |lab| {
            let path = lab.path(&format!("{CPU}/cpu0/topology/core_cpus"));
            fs::remove_file(&path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("nodes of nonsense", |lab| {
            let node = "m/sys/devices/system/node";
            for (at, distances) in [
                (0, "10 -7 x"),
                (1, "10"),
                (4_294_967_295_u32, ""),
                (70_000, "1"),
            ] {
                let node = format!("{node}/node{at}");
                lab.write(&format!("{node}/cpumap"), "ffffffff,ffffffff\n");
                lab.write(&format!("{node}/distance"), distances);
                lab.write(&format!("{node}/meminfo"), "Node 0 MemTotal: -1 kB\n");
            }
            lab.write(&format!("{node}/online"), "0-4294967295\n");
        }),
    ];
    let ask = |name: &str, damage: Damage| {
        let lab = Lab::new();
        cores(&lab, "m", &[0, 1]);
        damage(&lab);
        let said = asked(&lab, "m");
        match said.code {
            0 => assert!(said.out.contains("\"thread\""), "{name}: {}", said.out),
            2 => assert!(
                said.err.contains(&*lab.path("m").to_string_lossy()),
                "{name}: {}",
                said.err
            ),
            code => panic!("{name}: {code} {}", said.err),
        }
    };
    // Side by side, as some are only ended by the deadline.
    std::thread::scope(|scope| {
        for (name, damage) in damages {
            scope.spawn(move || ask(name, damage));
        }
    });
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let lab = Lab::new();
    lab.write("random", noise(4096));
    lab.write("noise/sys/devices/system/cpu", noise(4096));
    lab.write("other/readme", "hello");
    for name in ["random", "noise", "other", "none"] {
        let folder = lab.path(name).to_string_lossy().into_owned();
        asked(&lab, name).with(2, &[&folder, "hwloc-gather-topology"]);
    }
}

/// Not random, and the same each time: a linear congruence of Knuth's.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

const DOCTYPE: &str = "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";

fn asked_of_xml(lab: &Lab, xml: impl AsRef<[u8]>) -> Said {
    lab.write("m.xml", xml);
    let start = Instant::now();
    let said = lab.ktrial(&[
        "machine",
        "--json",
        "--xml",
        &lab.path("m.xml").to_string_lossy(),
    ]);
    assert!(start.elapsed() < LONGEST);
    said
}

/// A machine of one core, by hand after hwloc's hwloc2.dtd.
fn machine_of_xml() -> String {
    let sets = "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
    format!(
        "{DOCTYPE}<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" {sets} \
         allowed_cpuset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\n<object \
         type=\"NUMANode\" os_index=\"0\" {sets} gp_index=\"2\" local_memory=\"1073741824\"/>\n\
         <object type=\"Core\" os_index=\"0\" {sets} gp_index=\"3\">\n<object type=\"PU\" \
         os_index=\"0\" {sets} gp_index=\"4\"/>\n</object>\n</object>\n</topology>\n"
    )
}

#[test]
fn xml_of_lstopo_is_a_machine_and_xml_of_others_is_none() {
    let lab = Lab::new();
    let good = machine_of_xml();
    let said = asked_of_xml(&lab, &good);
    assert_eq!(said.code, 0, "{}", said.err);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["identity"], Value::Null);
    assert_eq!(threads(&json["topology"]["machine"]), [0]);

    // Ten times ten times ten ... of one entity: "billion laughs", CVE-2003-1564.
    let laughs: String = (1..12)
        .map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10)))
        .collect();
    let bomb = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE topology [<!ENTITY l0 \"ha\">{laughs}]>\n<topology \
         version=\"2.0\">&l11;</topology>\n"
    );
    let outside = good
        .replace(
            "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">",
            "<!DOCTYPE t [<!ENTITY p SYSTEM \"file:///etc/passwd\">]>",
        )
        .replace("os_index=\"0\"", "os_index=\"&p;\"");
    let deep = format!(
        "{DOCTYPE}<topology version=\"2.0\">{}",
        "<object type=\"Group\">".repeat(100_000)
    );
    for (name, xml) in [
        ("empty", Vec::new()),
        ("noise", noise(4096)),
        ("text", b"hello".to_vec()),
        ("another", b"<html><body>hello</body></html>".to_vec()),
        ("bomb", bomb.into_bytes()),
        ("outside", outside.into_bytes()),
        ("deep", deep.into_bytes()),
        (
            "huge number",
            good.replace("os_index=\"0\"", "os_index=\"99999999999999\"")
                .into_bytes(),
        ),
        (
            "huge set",
            good.replace("\"0x1\"", &format!("\"{}0x1\"", "0x1,".repeat(100_000)))
                .into_bytes(),
        ),
        ("no sets", good.replace("cpuset", "other").into_bytes()),
    ] {
        let said = asked_of_xml(&lab, xml);
        assert!(!said.out.contains("root:"), "{name}: {}", said.out);
        match said.code {
            0 => assert!(
                ["huge number", "huge set", "outside"].contains(&name),
                "{name}: {}",
                said.out
            ),
            _ => drop(said.with(2, &["m.xml"])),
        }
    }
    for end in (0..good.len() - 13).step_by(97) {
        asked_of_xml(&lab, &good[..end]).with(2, &["m.xml"]);
    }
}

/// hwloc takes minutes for a hundred thousand CPUs, and gigabytes for what is larger.
#[test]
fn an_imaginary_machine_has_a_bound_too() {
    let lab = Lab::new();
    let start = Instant::now();
    let words = "pack:100 core:1000 pu:1";
    lab.ktrial(&["machine", "--like", words]).with(2, &[words]);
    assert!(start.elapsed() < LONGEST);
    lab.ktrial(&["machine", "--like", "pack:2 nonsense:3"])
        .with(2, &["nonsense", "for example"]);
    let said = lab.ktrial(&["machine", "--like", "pack:2 [numa] core:3 pu:2"]);
    said.with(0, &["2 packages, 2 nodes, 6 cores, 12 threads"]);
}

/// Nothing here may be left running, or lie about.
#[test]
fn a_drawing_of_a_stranger_is_a_file() {
    let lab = Lab::new();
    cores(&lab, "m", &[0, 1]);
    let [folder, file] = ["m", "m.svg"].map(|name| lab.path(name).to_string_lossy().into_owned());
    lab.ktrial(&["machine", "--sysfs", &folder, "--svg", &file])
        .with(0, &[]);
    let svg = fs::read_to_string(Path::new(&file)).unwrap();
    let svg = roxmltree::Document::parse(&svg).unwrap();
    let threads = svg
        .descendants()
        .filter(|one| one.attribute("class") == Some("thread"));
    // Two, and one in the legend.
    assert_eq!(threads.count(), 3);
    let to_screen = lab.ktrial(&["machine", "dual-core", "--svg", "-"]);
    assert!(to_screen.out.starts_with("<svg "), "{}", to_screen.out);
    lab.ktrial(&["machine", "triple-core"])
        .with(2, &["dual-core", "x1.32xlarge"]);
    lab.ktrial(&["machine", "dual-core", "--like", "core:2 pu:1"])
        .with(2, &["cannot be used"]);
}
