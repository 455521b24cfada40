#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::machine::hwloc;
use crate::machine::topology::Kind;

fn drawing(words: &str) -> Drawing {
    Drawing::of(&hwloc::synthetic(words).unwrap(), "a machine").unwrap()
}

fn of<'a>(drawing: &'a Drawing, class: &str) -> Vec<&'a Rectangle> {
    let has = |shown: &&Rectangle| shown.class.split(' ').any(|one| one == class);
    drawing.boxes.iter().filter(has).collect()
}

fn is_inside(inner: &Rectangle, outer: &Rectangle) -> bool {
    inner.x > outer.x
        && inner.y > outer.y
        && inner.x + inner.width < outer.x + outer.width
        && inner.y + inner.height < outer.y + outer.height
}

fn overlap(a: &Rectangle, b: &Rectangle) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/// Hand count: 4 packages of 16 cores of 2 threads; of each core three caches, of each package one.
#[test]
fn every_part_is_drawn_once_and_none_over_another() {
    let words = "pack:4 [numa] l3:1 l2:16 l1d:1 l1i:1 core:1 pu:2";
    let drawing = drawing(words);
    for (class, count) in [
        ("machine", 1),
        ("package", 4),
        ("core", 64),
        // One each in the legend, of these three.
        ("thread", 128 + 1),
        ("memory", 4 + 1),
        ("instructions", 64 + 1),
        ("cache", 4 + 3 * 64 + 2),
    ] {
        assert_eq!(of(&drawing, class).len(), count, "{class}");
    }
    for class in ["package", "core", "thread", "cache", "memory"] {
        let all = of(&drawing, class);
        for (at, one) in all.iter().enumerate() {
            assert!(
                all[..at].iter().all(|other| !overlap(one, other)),
                "{class}"
            );
        }
    }
    for core in of(&drawing, "core") {
        let threads = of(&drawing, "thread");
        let inside = threads.iter().filter(|thread| is_inside(thread, core));
        assert_eq!(inside.count(), 2);
        let packages = of(&drawing, "package");
        assert_eq!(
            packages.iter().filter(|one| is_inside(core, one)).count(),
            1
        );
    }
    for shown in &drawing.boxes {
        assert!(shown.x + shown.width < drawing.width && shown.y + shown.height < drawing.height);
    }
}

/// The L3 lies over both cores, the L1 over one.
#[test]
fn a_cache_is_as_wide_as_what_shares_it() {
    let drawing = drawing("pack:1 l3:1(size=8MiB) l1d:2(size=32KiB) core:1 pu:2");
    let caches = of(&drawing, "cache");
    let cores = of(&drawing, "core");
    let (first, last) = (cores[0], cores[1]);
    assert_eq!(caches[0].x, first.x);
    assert!(caches[0].x + caches[0].width >= last.x + last.width);
    assert!(caches[0].y + caches[0].height <= caches[1].y);
    assert_eq!((caches[1].x, caches[1].width), (first.x, first.width));
    let texts: Vec<&str> = drawing.labels.iter().map(|l| l.text.as_str()).collect();
    assert!(
        texts.contains(&"L3 8 MiB") && texts.contains(&"L1d 32 KiB"),
        "{texts:?}"
    );
}

#[test]
fn kinds_offline_and_forbidden_cpus_are_marked_by_more_than_colour() {
    let mut topology = hwloc::synthetic("pack:1 core:4 pu:1").unwrap();
    topology.disallowed = vec![2];
    topology.offline = vec![4, 9];
    topology.kinds = [[0, 1], [2, 3]]
        .map(|cpus| Kind {
            cpus: cpus.to_vec(),
            facts: [("FrequencyMaxMHz".to_owned(), "3900".to_owned())].into(),
        })
        .to_vec();
    let drawing = Drawing::of(&topology, "x").unwrap();
    assert_eq!(of(&drawing, "forbidden").len(), 1 + 1);
    assert_eq!(of(&drawing, "offline").len(), 2 + 1);
    assert_eq!(of(&drawing, "kind-1").len(), 2 + 1);
    let texts: Vec<&str> = drawing.labels.iter().map(|l| l.text.as_str()).collect();
    for text in ["core 0 A", "core 3 B", "9", "offline", "offline: CPUs 4,9"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

#[test]
fn distances_are_a_table() {
    let mut topology = hwloc::synthetic("pack:2 [numa] core:1 pu:1").unwrap();
    topology.distances = Some(vec![vec![10, 21], vec![21, 10]]);
    let drawing = Drawing::of(&topology, "x").unwrap();
    let cells = drawing
        .labels
        .iter()
        .filter(|label| label.class == "distance");
    let cells: Vec<&str> = cells.map(|label| label.text.as_str()).collect();
    assert_eq!(cells, ["10", "21", "21", "10"]);
}

#[test]
fn what_is_too_large_to_be_drawn_is_refused_in_words() {
    let mut topology = hwloc::synthetic("pack:1 [numa] core:1 pu:1").unwrap();
    let package = topology.machine.inside[0].clone();
    // Package, node, core and thread; and the machine.
    topology.machine.inside = vec![package; 10_000];
    let fault = Drawing::of(&topology, "x").unwrap_err();
    assert_eq!(fault.at, crate::fault::At::User);
    assert!(fault.what.contains("40001 parts"), "{}", fault.what);
    // A large one is drawn: 1,024 threads.
    let large = drawing("pack:16 core:32 pu:2");
    assert_eq!(of(&large, "core").len(), 512);
    let shape = f64::from(large.width) / f64::from(large.height);
    assert!((0.4..4.0).contains(&shape), "{shape}");
}
