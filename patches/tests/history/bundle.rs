//! Bundles made by git, and what is no bundle.

use ktrial_patches::apply::apply;
use ktrial_patches::history::{Reference, ResolveError, resolve};

use crate::past::{Past, with_line};

/// Two commits on a branch `topic` of a clone; the repository itself has `base`.
fn topic() -> (Past, Past) {
    let past = Past::new();
    let clone = Past::empty();
    let from = past.path().to_str().unwrap();
    clone.git(&["fetch", "--quiet", from, "main:base"]);
    clone.git(&["checkout", "--quiet", "-b", "topic", "base"]);
    clone.commit("one\n", &[("f", Some(&with_line(40, 20, "one")))]);
    clone.commit(
        "two\n",
        &[
            ("f", Some(&with_line(40, 20, "two"))),
            ("new", Some("new\n")),
        ],
    );
    (past, clone)
}

fn bundle(past: &Past, arguments: &[&str]) -> Vec<u8> {
    versioned(past, "--version=2", arguments)
}

fn versioned(past: &Past, version: &str, arguments: &[&str]) -> Vec<u8> {
    let file = past.file(".git/made.bundle");
    let start = [
        "bundle",
        "create",
        "--quiet",
        version,
        file.to_str().unwrap(),
    ];
    past.git(&[&start, arguments].concat());
    std::fs::read(file).unwrap()
}

fn unpack(past: &Past, bytes: &[u8]) -> Result<Vec<ktrial_patches::Patch>, ResolveError> {
    let (name, bytes) = ("made.bundle".to_owned(), bytes.to_vec());
    resolve(&past.repo(), past.tip(), &Reference::Bundle { name, bytes })
}

#[track_caller]
fn refuses(past: &Past, bytes: &[u8], words: &[&str]) {
    let error = unpack(past, bytes).unwrap_err();
    assert!(matches!(error, ResolveError::Bundle { .. }), "{error:?}");
    let error = error.to_string();
    for word in words.iter().chain(&["made.bundle: "]) {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn a_thin_bundle_is_the_commits_that_it_brings() {
    let (past, clone) = topic();
    for version in ["--version=2", "--version=3"] {
        let bytes = versioned(&clone, version, &["base..topic"]);
        let patches = unpack(&past, &bytes).unwrap();
        let subjects: Vec<&str> = patches.iter().map(|p| p.header.subject.as_str()).collect();
        assert_eq!(subjects, ["one", "two"]);
        let applied = apply(&past.repo(), past.tip(), &patches).unwrap();
        assert_eq!(applied.tree, clone.tree(clone.tip()));
    }
    assert_eq!(
        past.git(&["for-each-ref", "--format=%(refname)"]),
        "refs/heads/main"
    );
}

#[test]
fn a_branch_and_head_may_both_name_it() {
    let (past, clone) = topic();
    let bytes = bundle(&clone, &["base..topic", "HEAD"]);
    assert_eq!(unpack(&past, &bytes).unwrap().len(), 2);
}

#[test]
fn a_bundle_with_a_whole_history_is_no_series() {
    let (past, clone) = topic();
    refuses(
        &past,
        &bundle(&clone, &["topic"]),
        &["from its first commit on", "base..branch"],
    );
}

#[test]
fn missing_commits_are_named() {
    let (past, clone) = topic();
    let bytes = bundle(&clone, &["topic~1..topic"]);
    refuses(
        &past,
        &bytes,
        &[
            "does not have 1 of the commits",
            &clone.id("topic~1").to_string(),
        ],
    );
}

#[test]
fn several_branches_are_listed() {
    let (past, clone) = topic();
    clone.git(&["branch", "half", "topic~1"]);
    let bytes = bundle(&clone, &["base..topic", "half"]);
    let half = clone.id("half").to_string();
    refuses(
        &past,
        &bytes,
        &[
            "2 branches",
            "refs/heads/topic",
            "refs/heads/half",
            &half[..12],
        ],
    );
}

#[test]
fn a_filtered_bundle_is_refused() {
    let (past, clone) = topic();
    let bytes = versioned(
        &clone,
        "--version=3",
        &["--filter=blob:none", "base..topic"],
    );
    refuses(&past, &bytes, &["@filter=blob:none"]);
}

#[test]
fn every_truncated_bundle_is_refused() {
    let (past, clone) = topic();
    let bytes = bundle(&clone, &["base..topic"]);
    for end in 0..bytes.len() {
        refuses(&past, &bytes[..end], &[]);
    }
}

#[test]
fn garbage_is_refused() {
    let (past, clone) = topic();
    let bytes = bundle(&clone, &["base..topic"]);
    let pack = bytes.windows(4).position(|four| four == b"PACK").unwrap();
    for at in [pack, pack + 4, pack + 20, bytes.len() - 30, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        refuses(&past, &damaged, &["can't be unpacked"]);
    }
    refuses(&past, b"From 1234\n", &["starts with `From 1234`"]);
    refuses(
        &past,
        b"# v2 git bundle\nzzzz refs/heads/x\n\nPACK",
        &["`zzzz refs/heads/x`"],
    );
    refuses(&past, b"# v2 git bundle\n\nPACK", &["names no branch"]);
    let long = [b"# v2 git bundle\n-".as_slice(), &vec![b'a'; 1 << 20]].concat();
    refuses(&past, &long, &["ends within its header"]);
}

/// The size and kind before an object of a pack.
fn object_head(kind: u8, mut size: u64) -> Vec<u8> {
    let mut head = vec![kind << 4 | (size & 15) as u8];
    size >>= 4;
    while size > 0 {
        *head.last_mut().unwrap() |= 0x80;
        head.push((size & 0x7f) as u8);
        size >>= 7;
    }
    head
}

/// A bundle whose pack has one object that stands here as it is. Its hash is not
/// right: it must be refused before that is looked at.
fn one_object(head: Vec<u8>, content: impl std::io::Read) -> Vec<u8> {
    let mut bytes = format!("# v2 git bundle\n{} refs/heads/x\n\n", "1".repeat(40)).into_bytes();
    bytes.extend_from_slice(b"PACK\0\0\0\x02\0\0\0\x01");
    bytes.extend(head);
    let mut packed = flate2::read::ZlibEncoder::new(content, flate2::Compression::fast());
    std::io::Read::read_to_end(&mut packed, &mut bytes).unwrap();
    bytes.extend_from_slice(&[0; 20]);
    bytes
}

#[test]
fn a_file_that_would_grow_too_large_is_refused_before() {
    use std::io::Read;
    let past = Past::new();
    let size = (256 << 20) + 1;
    let blob = one_object(object_head(3, size), std::io::repeat(0).take(size));
    refuses(&past, &blob, &["more than 256 MiB"]);
    // A lie about the size.
    let blob = one_object(object_head(3, 10), std::io::repeat(0).take(size));
    refuses(&past, &blob, &["damaged"]);
    let blob = one_object(object_head(3, u64::MAX), std::io::repeat(0).take(10));
    refuses(&past, &blob, &["more than 256 MiB"]);
    // A delta of 12 bytes that says it makes 2^40 bytes of 5.
    let delta = [5, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0x90, 5, 0x90, 5, 0];
    let head = [object_head(7, delta.len() as u64), vec![0; 20]].concat();
    refuses(&past, &one_object(head, &delta[..]), &["more than 256 MiB"]);
}

/// What `git rev-list --no-merges --reverse base..topic` has, without the tree at hand.
#[test]
fn the_commits_of_a_bundle_are_read_without_its_tree() {
    let past = Past::new();
    let base = past.tip();
    past.branch("topic", base);
    for (line, subject) in [(3, "first"), (20, "second"), (30, "third")] {
        past.commit(
            &format!("{subject}\n\nText.\n"),
            &[("f", Some(&with_line(40, line, "x")))],
        );
    }
    past.git(&[
        "bundle",
        "create",
        "-q",
        "x.bundle",
        &format!("{base}..topic"),
    ]);
    let bytes = std::fs::read(past.file("x.bundle")).unwrap();
    let (commits, whole) = ktrial_patches::history::bundled("x.bundle", &bytes).unwrap();
    assert!(whole);
    let told = commits
        .iter()
        .map(|c| format!("{} {} {}\n", c.id, c.author, c.subject));
    let range = format!("{base}..topic");
    let git = past.git(&[
        "log",
        "--reverse",
        "--no-merges",
        "--format=%H %an %s",
        &range,
    ]);
    assert_eq!(told.collect::<String>(), git + "\n");
    let cut = &bytes[..bytes.len() - 30];
    assert!(ktrial_patches::history::bundled("x.bundle", cut).is_err());
}
