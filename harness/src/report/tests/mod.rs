//! Whole sites, drawn and read again.

mod counters;
mod fixture;

use std::collections::BTreeSet;
use std::path::Path;

use ktrial_db::Db;
use roxmltree::{Document, Node, ParsingOptions};

use super::write;

/// Draws a site into a folder of its own.
fn site(db: &Db) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let index = write(db, folder.path()).unwrap();
    assert_eq!(index, folder.path().join("index.html"));
    folder
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Pages are written as XML too, so that a strict reader finds what a browser forgives.
fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).unwrap()
}

/// What a page says, a line a block, without what only draws.
fn words(node: Node) -> String {
    let mut said = String::new();
    speak(node, &mut said);
    let lines = said
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn speak(node: Node, said: &mut String) {
    const SILENT: [&str; 3] = ["svg", "head", "nav"];
    const INLINE: [&str; 9] = ["a", "b", "i", "em", "code", "dt", "span", "td", "th"];
    let is_hidden = node.attribute("aria-hidden") == Some("true");
    if is_hidden || SILENT.contains(&node.tag_name().name()) {
        return;
    }
    if let Some(text) = node.text().filter(|_| node.is_text()) {
        let is_kept = node.ancestors().any(|outer| outer.has_tag_name("pre"));
        said.push_str(&if is_kept {
            text.to_owned()
        } else {
            text.replace('\n', " ")
        });
    }
    for child in node.children() {
        speak(child, said);
    }
    match node.tag_name().name() {
        "td" | "th" => said.push_str(" | "),
        "dt" => said.push_str(": "),
        name if node.is_element() && !INLINE.contains(&name) => said.push('\n'),
        _ => {}
    }
}

fn golden(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn the_pages_say_what_they_said() {
    let folder = site(&fixture::plausible());
    for (name, file) in [("index", "index.html"), ("trial", "trial-2.html")] {
        let page = read(folder.path(), file);
        golden(name, &words(parse(&page).root_element()));
    }
    let counted = site(&fixture::counted());
    let page = read(counted.path(), "trial-1.html");
    golden("counted", &words(parse(&page).root_element()));
    golden(
        "csv",
        &read(folder.path(), "trial-2.csv").replace("\r\n", "\n"),
    );
}

#[test]
fn equal_data_give_equal_bytes_and_leave_files_alone() {
    let (first, second) = (site(&fixture::counted()), site(&fixture::counted()));
    for name in files(first.path()) {
        let [one, other] = [&first, &second].map(|site| read(site.path(), &name));
        assert_eq!(one, other, "{name}");
    }
    let (first, second) = (site(&fixture::plausible()), site(&fixture::plausible()));
    assert_eq!(files(first.path()), files(second.path()));
    for name in files(first.path()) {
        assert_eq!(
            read(first.path(), &name),
            read(second.path(), &name),
            "{name}"
        );
    }
    let modified = |name: &str| {
        first
            .path()
            .join(name)
            .metadata()
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = modified("trial-2.html");
    std::fs::write(first.path().join("index.html"), "stale").unwrap();
    std::fs::write(first.path().join("mine.txt"), "mine").unwrap();
    write(&fixture::plausible(), first.path()).unwrap();
    assert_eq!(modified("trial-2.html"), before);
    assert_eq!(
        read(first.path(), "index.html"),
        read(second.path(), "index.html")
    );
    assert_eq!(read(first.path(), "mine.txt"), "mine");
    let mut expected = files(second.path());
    expected.insert("mine.txt".into());
    assert_eq!(files(first.path()), expected, "no temporary file is left");
}

#[test]
fn every_link_leads_somewhere_and_none_leaves_the_folder() {
    for db in [fixture::plausible(), fixture::hostile(), fixture::counted()] {
        let folder = site(&db);
        let names = files(folder.path());
        for name in names.iter().filter(|name| name.ends_with(".html")) {
            let page = read(folder.path(), name);
            let page = parse(&page);
            let ids: Vec<&str> = page
                .descendants()
                .filter_map(|n| n.attribute("id"))
                .collect();
            assert_eq!(
                ids.len(),
                ids.iter().collect::<BTreeSet<_>>().len(),
                "an id comes twice"
            );
            for node in page.descendants() {
                for link in ["href", "src"]
                    .into_iter()
                    .filter_map(|a| node.attribute(a))
                {
                    match link.strip_prefix('#') {
                        Some(id) => assert!(ids.contains(&id), "{name}: {link}"),
                        None => assert!(link == "data:," || names.contains(link), "{name}: {link}"),
                    }
                }
            }
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let folder = site(&fixture::hostile());
    for name in ["index.html", "trial-1.html"] {
        let page = read(folder.path(), name);
        let parsed = parse(&page);
        for node in parsed.descendants() {
            assert!(!node.has_tag_name("script"), "{name}");
            let is_ours =
                |image: &str| image.starts_with("trial-1-flame-") || image == "trial-1-machine.svg";
            assert!(
                !node.has_tag_name("img") || node.attribute("src").is_some_and(is_ours),
                "{name}"
            );
            assert!(
                node.attributes()
                    .all(|a| !a.name().starts_with("on") && a.name() != "style")
            );
        }
        // The strict reader would take "{{ trial }}" as text; that it stands there shows that what
        // was inserted was not read as a template again.
        assert!(page.contains("{{ trial }}{% raw %}"), "{name}");
        assert!(
            page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
            "{name}"
        );
        assert!(!page.contains(['\0', '\u{1b}', '\u{202e}']), "{name}");
    }
    let page = read(folder.path(), "trial-1.html");
    // The mends, which came out of a patch: the place, both readings, and the ones in a line.
    let said = words(parse(&page).root_element());
    for mark in [
        "was ",
        "now ",
        "mended: ",
        " in the patch)",
        "undone, last patch",
    ] {
        assert!(said.contains(mark), "{mark}: {said}");
    }
    let drawing = page
        .split("<svg class=\"chart\"")
        .nth(1)
        .and_then(|s| s.split("</svg>").next());
    let drawing = format!("<svg{}</svg>", drawing.unwrap());
    let label = parse(&drawing)
        .root_element()
        .attribute("aria-label")
        .unwrap()
        .to_owned();
    assert!(
        label.contains("<script>alert(1)</script>"),
        "escaped once: {label}"
    );
}

#[test]
fn consoles_and_patches_come_as_plain_text_files() {
    let folder = site(&fixture::hostile());
    let console = read(folder.path(), "boot-1-console.txt");
    assert!(console.contains("</pre>") && console.contains("^[[31m"));
    assert!(!console.contains(['\0', '\u{1b}', '\u{7}', '\u{202e}']));
    // A patch is to be applied again, so it is kept to the byte; only its name is made harmless.
    let patch = read(folder.path(), "trial-1-0-1.patch.txt");
    assert_eq!(patch, format!("Subject: {0}\n+{0}", fixture::HOSTILE));
}

#[test]
fn no_field_of_the_csv_is_a_formula() {
    let folder = site(&fixture::hostile());
    let csv = read(folder.path(), "trial-1.csv");
    // Eight samples, two boots failed; hostile texts hold no newline, so a line is a record.
    let records: Vec<&str> = csv.trim_end().split("\r\n").collect();
    assert_eq!(records.len(), 1 + 8);
    for record in &records[1..] {
        let fields = fields(record);
        assert_eq!(fields.len(), 18);
        for field in fields {
            assert!(!field.starts_with(['=', '+', '-', '@']), "{field}");
        }
    }
    assert!(csv.contains("'=2+2"));
}

/// The fields of one record, as RFC 4180 has it.
fn fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in record.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn the_json_is_json_and_keeps_every_sample_and_seed() {
    let folder = site(&fixture::plausible());
    let json: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "trial-2.json")).unwrap();
    let boots = json["boots"].as_array().unwrap();
    assert_eq!(boots.len(), 13); // 6 rounds of 2, and one that panicked
    // 12 boots of 4 runs of 4 cells, and one that is unsupported.
    assert_eq!(json["samples"].as_array().unwrap().len(), 12 * 17);
    assert_eq!(json["trial"]["seed"], "12648430");
    // u64::MAX, of the boot that panicked: as a number it would come back as 2^64.
    assert!(
        boots
            .iter()
            .any(|boot| boot["seed"] == "18446744073709551615")
    );
}

#[test]
fn absent_values_are_words_and_never_zero() {
    let folder = site(&fixture::plausible());
    let page = read(folder.path(), "trial-2.html");
    let page = parse(&page);
    let row = page
        .descendants()
        .find(|n| n.has_tag_name("tr") && words(*n).contains("fastalloc=true"));
    let said = words(row.unwrap());
    assert!(
        said.contains("unsupported | unsupported | none | none"),
        "{said}"
    );
}

#[test]
fn a_failed_trial_says_why_before_anything_else() {
    let mut db = fixture::plausible();
    let what = "patched does not build: fs/file.c:512: <expected> ';'";
    let why = format!("{what}\n    512 | <b>x\n  next: mend it");
    db.finish_trial(
        ktrial_db::TrialId(1),
        1_790_000_200_000,
        "failed",
        Some(&why),
    )
    .unwrap();
    let folder = site(&db);
    for name in ["index.html", "trial-1.html"] {
        let page = read(folder.path(), name);
        let said = words(parse(&page).root_element());
        assert!(
            said.contains(&format!("The trial failed: {what}")),
            "{name}: {said}"
        );
    }
    let page = read(folder.path(), "trial-1.html");
    let said = words(parse(&page).root_element());
    assert!(said.contains("512 | <b>x"), "the evidence: {said}");
    assert!(
        said.contains("failed The trial failed"),
        "the badge says so too: {said}"
    );
}

#[test]
fn a_trial_of_a_kernel_that_is_the_base_says_that_there_is_nothing_to_measure() {
    let site = site(&fixture::left_out());
    for page in ["index.html", "trial-1.html"] {
        let page = read(site.path(), page);
        let said = words(parse(&page).root());
        assert!(
            said.contains("Nothing to measure: the kernel is the base\u{2019}s to the bit."),
            "{said}"
        );
        assert!(!said.contains("Not judged yet"), "{said}");
    }
    let page = read(site.path(), "trial-1.html");
    let said = words(parse(&page).root());
    assert_eq!(said.matches("Not booted").count(), 1, "{said}");
}

#[test]
fn an_empty_database_says_what_to_type() {
    let folder = site(&Db::in_memory().unwrap());
    assert!(read(folder.path(), "index.html").contains("<code>ktrial trial</code>"));
}

#[test]
fn a_folder_that_cannot_be_made_is_this_machines_fault() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("file");
    std::fs::write(&taken, "").unwrap();
    let fault = write(&Db::in_memory().unwrap(), &taken.join("site")).unwrap_err();
    assert_eq!(fault.at, crate::fault::At::Host);
    assert!(fault.to_string().contains("file/site"), "{fault}");
}

/// Writes the sites where KTRIAL_SITE says, to be looked at in a browser.
#[test]
#[ignore = "for looking at: KTRIAL_SITE=folder cargo test -- --ignored look"]
fn look() {
    let folder = std::env::var_os("KTRIAL_SITE").unwrap();
    write(&fixture::plausible(), &Path::new(&folder).join("plausible")).unwrap();
    write(&fixture::hostile(), &Path::new(&folder).join("hostile")).unwrap();
    write(&fixture::counted(), &Path::new(&folder).join("counted")).unwrap();
}
