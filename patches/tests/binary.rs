//! Git's binary patches, as `git diff -M --binary` (2.47.3) wrote them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{File, Lab};
use ktrial_patches::apply::{Applied, ApplyError, apply};
use ktrial_patches::read::read;

/// A file changed, one removed, one renamed with a change, one made.
const PATCH: &str = "\
diff --git a/blob b/blob
index 198ac2e2739d181eb33bdc66a4f3a34f77c00c3d..a160fa393d98b88264663176079561d20ec71ba9 100644
GIT binary patch
delta 19
acmZo*X=a&_!r~ng<he0p1|xH7UJ3v_KL#oQ

delta 15
WcmZo>X<(U<!ZJm8f%V3W8H@lZ83i~1

diff --git a/gone b/gone
deleted file mode 100644
index 3c4f499b31d846fc4e1028011429bd744f88c59a..0000000000000000000000000000000000000000
GIT binary patch
literal 0
HcmV?d00001

literal 6
NcmZQb&(BNc0ssZ$0ki-B

diff --git a/move b/moved
similarity index 78%
rename from move
rename to moved
index ff3dc6bafe3659816a2b8e1ade730db6132f797c..86f75a9d051239e50456b761d022e9814610f5b6 100644
GIT binary patch
delta 15
WcmZ3>w3dmDfq`2mnPDTFIwJrYbOPQ0

delta 15
WcmZ3>w3dmDfq`2mdE-Vlbw&Uk=>v}d

diff --git a/new b/new
new file mode 100644
index 0000000000000000000000000000000000000000..b66efb8adab7795606f4ebbc70be4c0a1d047a52
GIT binary patch
literal 16
XcmZQzWMXDvWn<^y<l^Sx<>Lnc0=NKq

literal 0
HcmV?d00001

";

/// What `git write-tree` said of the patched tree.
const TREE: &str = "46d43ea4ee950626d2a5594cf453046a0e102f5d";

fn blob() -> Vec<u8> {
    (0..512u32)
        .map(|i| (7 * i * i + (i >> 3) * 3) as u8)
        .collect()
}

fn moved() -> Vec<u8> {
    let bytes = (0..300u32).map(|i| (11 * i * i + (i >> 2)) as u8);
    [0].into_iter().chain(bytes).collect()
}

fn try_on(blob: &[u8], patch: &str) -> Result<Applied, ApplyError> {
    let lab = Lab::new();
    let moved = moved();
    let files: [File; 3] = [
        ("blob", 0o100644, blob),
        ("gone", 0o100644, b"\0gone\n"),
        ("move", 0o100644, &moved),
    ];
    lab.try_patch(&files, patch)
}

/// The words of the refusal.
fn refused(blob: &[u8], patch: &str) -> String {
    let error = try_on(blob, patch).unwrap_err();
    assert!(error.is_patch_fault());
    error.to_string()
}

/// The part of the patch for `blob` alone.
fn first() -> &'static str {
    &PATCH[..PATCH.find("diff --git a/gone").unwrap()]
}

#[test]
fn binary_files_change_come_go_and_move() {
    let applied = try_on(&blob(), PATCH).unwrap();
    assert_eq!(applied.tree.to_string(), TREE);
    // Sent by mail, with its line ends made CR LF.
    let applied = try_on(&blob(), &PATCH.replace('\n', "\r\n")).unwrap();
    assert_eq!(applied.tree.to_string(), TREE);
}

#[test]
fn back_again() {
    let lab = Lab::new();
    let (blob, moved) = (blob(), moved());
    let files: [File; 3] = [
        ("blob", 0o100644, &blob),
        ("gone", 0o100644, b"\0gone\n"),
        ("move", 0o100644, &moved),
    ];
    let patch = read("p", PATCH.as_bytes()).unwrap().patches.remove(0);
    let there = apply(&lab.repo, lab.commit(&files), std::slice::from_ref(&patch)).unwrap();
    let back = apply(&lab.repo, there.commit, &[patch.reversed().unwrap()]).unwrap();
    assert_eq!(back.tree, lab.tree(&files));
    let end = first().find("delta 15").unwrap();
    let one_way = read("p", &first().as_bytes()[..end]).unwrap().patches;
    let error = one_way[0].reversed().unwrap_err();
    assert_eq!(
        error.to_string(),
        "p: can't be reversed: it has a binary change in one direction only, for b/blob"
    );
}

#[test]
fn only_the_very_file_is_changed() {
    let mut other = blob();
    other[500] ^= 1;
    let text = "test.patch: the binary change of blob can't be made: the tree's file is not the one \
        that it was made from";
    assert_eq!(refused(&other, first()), text);
    // Without the index line a delta's size tells, and nothing else does.
    let index = first().find("index ").unwrap();
    let bare = first()[..index].to_owned() + &first()[first().find("GIT").unwrap()..];
    assert!(refused(&blob(), &bare).contains("does not say from which file it was made"));
    assert!(refused(&other[1..], &bare).ends_with("not of the size that it was made from"));
    // A second part that has the whole file does tell.
    let [new, old] = [b"new", &blob()[..]].map(|data| common::binary_section("literal", data));
    let head = "diff --git a/blob b/blob\nGIT binary patch\n";
    let whole = format!("{head}{new}\n{old}\n");
    assert!(try_on(&blob(), &whole).is_ok());
    assert!(refused(&other, &whole).ends_with("does not make the tree's file again"));
    let one_way = format!("{head}{new}\n");
    assert!(refused(&blob(), &one_way).contains("does not say from which file it was made"));
}

#[test]
fn a_binary_change_that_is_there_is_recognised() {
    let mut new = blob();
    new[100..104].copy_from_slice(b"KTRI");
    new.extend_from_slice(b"end");
    let error = try_on(&new, first()).unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
    let create = &PATCH[PATCH.find("diff --git a/new").unwrap()..];
    let made: Vec<u8> = (0..16).collect();
    let error = Lab::new()
        .try_patch(&[("new", 0o100644, &made)], create)
        .unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
    let error = Lab::new()
        .try_patch(&[("new", 0o100644, b"")], create)
        .unwrap_err();
    assert!(matches!(error, ApplyError::FileExists { .. }), "{error}");
}

#[test]
fn damage_is_found() {
    let cases = [
        ("acmZo*X", "acmZo*Y", "its lines are corrupt"),
        ("delta 19", "delta 18", "its size is not the one it states"),
        ("delta 19", "delta 20", "its size is not the one it states"),
        (
            "delta 19",
            "literal 19",
            "it does not make the file that its index line names",
        ),
        ("delta 19", "literal 67108865", "it makes more than 64 MiB"),
        (
            "delta 19",
            "literal 99999999999999999999",
            "its lines are corrupt",
        ),
    ];
    for (from, to, why) in cases {
        let text = refused(&blob(), &first().replacen(from, to, 1));
        assert!(text.ends_with(why), "{to}: {text}");
    }
    // Too few characters for the length that the line states.
    let short = first().replacen("acmZo", "acmZ", 1);
    let error = read("p", short.as_bytes()).unwrap_err().to_string();
    assert!(
        error.starts_with("p:5: expected a line of a git binary patch"),
        "{error}"
    );
}

/// Sizes stand seven bits a byte, the lowest first: of 512 bytes, 2^40 are made.
#[test]
fn what_a_delta_states_is_not_allocated() {
    let delta = b"\x80\x04\x80\x80\x80\x80\x80\x20\x01x";
    let section = common::binary_section("delta", delta);
    let patch = format!("diff --git a/blob b/blob\nGIT binary patch\n{section}\n{section}\n");
    assert!(refused(&blob(), &patch).ends_with("it makes more than 64 MiB"));
    // A copy from beyond the end of the file: 4 bytes at 510.
    let delta = b"\x80\x04\x04\x93\xfe\x01\x04";
    let section = common::binary_section("delta", delta);
    let patch = format!("diff --git a/blob b/blob\nGIT binary patch\n{section}\n{section}\n");
    assert!(refused(&blob(), &patch).ends_with("its lines are corrupt"));
}

/// Zeros pack a thousand to one: a small patch may not make a large file that it
/// does not announce, nor a series many large ones.
#[test]
fn a_bomb_does_not_go_off() {
    let zeros = vec![0; 64 << 20];
    let bomb = common::binary_section("literal", &zeros);
    let hidden = bomb.replacen("literal 67108864", "literal 100", 1);
    let create = |name: u32, section: &str| {
        format!("diff --git a/{name} b/{name}\nnew file mode 100644\nGIT binary patch\n{section}\n")
    };
    let text = refused(&blob(), &create(0, &hidden));
    assert!(
        text.ends_with("its size is not the one it states"),
        "{text}"
    );
    let many: String = (0..9).map(|name| create(name, &bomb)).collect();
    let text = refused(&blob(), &many);
    assert!(
        text.ends_with("more than 512 MiB of binary files"),
        "{text}"
    );
}
