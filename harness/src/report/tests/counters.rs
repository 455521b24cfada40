//! What was counted and seen, as pages show it.

use roxmltree::Document;

use super::*;

/// The frames of a flame graph: what each says, and its colour.
fn frames(svg: &Document) -> String {
    let groups = svg.descendants().filter(|node| node.has_tag_name("g"));
    let said = groups.map(|group| {
        let of = |tag: &str| {
            group
                .children()
                .find(|n| n.tag_name().name() == tag)
                .unwrap()
        };
        let fill = of("rect").attribute("fill").unwrap();
        format!("{fill} {}\n", of("title").text().unwrap())
    });
    said.collect()
}

#[test]
fn flame_graphs_show_what_they_showed() {
    let folder = site(&fixture::counted());
    for word in ["base", "difference"] {
        let svg = read(folder.path(), &format!("trial-1-flame-1-{word}.svg"));
        golden(&format!("flame-{word}"), &frames(&parse(&svg)));
    }
}

#[test]
fn every_flame_graph_is_one_and_has_no_script_but_its_own() {
    for db in [fixture::counted(), fixture::hostile()] {
        let folder = site(&db);
        let names = files(folder.path());
        let drawn: Vec<&String> = names
            .iter()
            .filter(|name| name.contains("-flame-"))
            .collect();
        // Of a profile and of locks: base and variant; and the difference, but where a guest says
        // that it has done more than can be.
        assert!(drawn.len() >= 4, "{drawn:?}");
        for name in drawn {
            let svg = read(folder.path(), name);
            let svg = parse(&svg);
            let scripts = svg.descendants().filter(|node| node.has_tag_name("script"));
            assert_eq!(scripts.count(), 1, "{name}");
            let known = [
                "svg",
                "defs",
                "linearGradient",
                "stop",
                "style",
                "script",
                "rect",
                "text",
                "g",
                "title",
            ];
            for node in svg.descendants().filter(|node| node.is_element()) {
                assert!(known.contains(&node.tag_name().name()), "{name}: {node:?}");
            }
        }
    }
}

#[test]
fn counts_that_did_not_change_are_not_among_the_verdicts() {
    let folder = site(&fixture::counted());
    let page = read(folder.path(), "trial-1.html");
    let page = parse(&page);
    let section = |id: &str| {
        let found = page
            .descendants()
            .find(|node| node.attribute("id") == Some(id));
        words(found.unwrap())
    };
    let verdicts = section("verdicts");
    assert!(verdicts.contains("irq.tlb"), "{verdicts}");
    assert!(!verdicts.contains("pgfault"), "{verdicts}");
    // Thirteen counts; four changed, one of which the trial hangs on.
    assert!(
        verdicts.contains("9 counts more, none known to have changed: see what was counted"),
        "{verdicts}"
    );
    assert!(!section("samples").contains("pgfault"));
    let counted = section("counted");
    assert_eq!(
        counted.matches("no PMU in this guest").count(),
        1,
        "{counted}"
    );
    assert!(!counted.contains("pmu.cycles"), "{counted}");
    assert!(
        counted.contains("sw.alignment not counted: this kernel has no such event"),
        "{counted}"
    );
}

#[test]
fn a_trial_without_counts_says_nothing_of_them() {
    let folder = site(&fixture::plausible());
    let page = read(folder.path(), "trial-2.html");
    assert!(!page.contains("id=\"counted\"") && !page.contains("id=\"profiles\""));
}
