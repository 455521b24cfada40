//! Threads: which mails of an mbox become the series, in which order, and what
//! is left out or refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::thread::{DIFF, Mail, added, left_out, letter, mbox, patch, refused, sorted};
use ktrial_patches::read::{ReadErrorKind, Reason, read};

#[test]
fn an_mbox_of_several_in_file_order() {
    let mail = |subject: &str, body: &str| {
        format!(
            "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: {subject}\n\n{body}\n"
        )
    };
    let mbox = mail("[PATCH 0/2] the series", "Cover.\n")
        + &mail(
            "[PATCH 1/2] one",
            &format!("From here on it is fast.\n---\n{DIFF}-- \n2.4\n"),
        )
        + &mail("[PATCH 2/2] two", &format!("---\n{DIFF}-- \n2.4\n"));
    let patches = read("m.mbox", mbox.as_bytes()).unwrap().patches;
    let names: Vec<_> = patches
        .iter()
        .map(|p| (&p.name[..], &p.header.subject[..]))
        .collect();
    assert_eq!(names, [("m.mbox", "one"), ("m.mbox#2", "two")]);
    assert_eq!(patches[0].header.message, "From here on it is fast.");
    // A reply is left out, and said to be.
    let reply = mbox + &mail("Re: [PATCH 1/2] one", "Looks good.\n");
    let reading = read("m.mbox", reply.as_bytes()).unwrap();
    assert_eq!(left_out(&reading), [("Re: [PATCH 1/2] one", Reason::Reply)]);
}

#[test]
fn the_newest_version_by_number() {
    let reading = sorted(&[
        letter("[PATCH net-next 0/2] the series"),
        patch("[PATCH net-next 1/2] one", "one"),
        patch("[PATCH net-next 2/2] two", "two"),
        Mail {
            text: "> +one\nNo.",
            ..letter("Re: [PATCH net-next 1/2] one")
        },
        Mail {
            id: "c",
            text: "Changed.",
            ..letter("[PATCH net-next v2 0/3] the series")
        },
        Mail {
            answers: "c",
            ..patch("[PATCH net-next v2 03/3] three", "three")
        },
        Mail {
            answers: "c",
            ..patch("[PATCH net-next v2 2/3] two", "two-b")
        },
        patch("AW: [PATCH net-next v2 2/3] two", "or-so"),
        Mail {
            answers: "c",
            text: "Tested-by: me",
            ..letter("tested")
        },
        Mail {
            answers: "c",
            ..patch("[PATCH net-next v2 1/3] one anew", "one-b")
        },
    ]);
    assert_eq!(added(&reading), ["one-b", "two-b", "three"]);
    let cover = reading.cover.as_ref().unwrap();
    assert_eq!(
        (&cover.subject[..], cover.message.starts_with("Changed.")),
        ("the series", true)
    );
    assert_eq!(
        left_out(&reading),
        [
            ("[PATCH net-next 0/2] the series", Reason::OlderVersion),
            ("[PATCH net-next 1/2] one", Reason::OlderVersion),
            ("[PATCH net-next 2/2] two", Reason::OlderVersion),
            ("Re: [PATCH net-next 1/2] one", Reason::Reply),
            ("AW: [PATCH net-next v2 2/3] two", Reason::Reply),
            ("tested", Reason::Reply),
        ]
    );
    // grep -n of the mbox.
    let text = mbox(&[
        letter("[PATCH 0/1] a"),
        letter("Re: x"),
        patch("[PATCH 1/1] b", "b"),
    ]);
    let line = text.lines().position(|l| l == "Subject: Re: x").unwrap();
    assert_eq!(read("m", text.as_bytes()).unwrap().left_out[0].line, line);
}

#[test]
fn versions_with_a_point_and_in_any_place() {
    let reading = sorted(&[
        patch("[PATCH v4 1/1] a", "v4"),
        patch("[PATCH v4.1 1/1] a", "v4.1"),
        patch("[PATCH 1/1 v3] a", "v3"),
    ]);
    assert_eq!(added(&reading), ["v4.1"]);
    // A single patch has versions too.
    let single = sorted(&[patch("[PATCH] a", "v1"), patch("[PATCH v2] a", "v2")]);
    assert_eq!(added(&single), ["v2"]);
    // Renamed and split, but sent in answer to the first version.
    let renamed = sorted(&[
        Mail {
            id: "a",
            ..patch("[PATCH] a", "v1")
        },
        Mail {
            answers: "a",
            ..patch("[PATCH v2 1/1] b", "v2")
        },
    ]);
    assert_eq!(added(&renamed), ["v2"]);
}

#[test]
fn several_series_in_one_file() {
    let reading = sorted(&[
        patch("[PATCH 2/2] b", "b"),
        patch("[PATCH 1/2] a", "a"),
        letter("[PATCH v3 0/1] another"),
        patch("[PATCH v3 1/1] c", "c"),
        patch("no tag", "d"),
    ]);
    assert_eq!(added(&reading), ["a", "b", "c", "d"]);
    let incomplete = refused(&[
        patch("[PATCH 1/1] a", "a"),
        patch("[PATCH 1/3] b", "b"),
        patch("[PATCH 3/3] c", "c"),
    ]);
    assert_eq!(incomplete.to_string(), "m:21: v1 has no 2/3: found 1, 3");
    let same = refused(&[patch("[PATCH] a", "a"), patch("[PATCH 1/1] a", "b")]);
    assert!(
        same.to_string()
            .contains("v1 is there twice, here and at m:2"),
        "{same}"
    );
    let rfc = refused(&[patch("[RFC PATCH v3] a", "a"), patch("[PATCH] a", "b")]);
    assert!(
        rfc.to_string().contains("the series at m:21 is none"),
        "{rfc}"
    );
}

#[test]
fn a_patch_in_answer_to_a_series_is_no_part_of_it() {
    let reading = sorted(&[
        Mail {
            id: "a",
            ..patch("[PATCH v2 1/1] a", "a")
        },
        Mail {
            answers: "a",
            ..patch("[PATCH] a: mend it", "b")
        },
    ]);
    assert_eq!(added(&reading), ["a"]);
    assert_eq!(
        left_out(&reading),
        [("[PATCH] a: mend it", Reason::FollowUp)]
    );
}

#[test]
fn without_numbers_the_order_of_the_file() {
    let without_tags = [patch("b", "b"), patch("a", "a"), letter("See above")];
    let reading = sorted(&without_tags);
    assert_eq!(added(&reading), ["b", "a"]);
    assert_eq!(left_out(&reading), [("See above", Reason::NoDiff)]);
    // git send-email makes each an answer to the first.
    let sent = |tag: &str| {
        let subjects = [format!("{tag}b"), format!("{tag}a")];
        let first = Mail {
            id: "a",
            ..patch(&subjects[0], "b")
        };
        let second = Mail {
            id: "b",
            answers: "a",
            ..patch(&subjects[1], "a")
        };
        added(&sorted(&[first, second]))
    };
    assert_eq!(sent(""), ["b", "a"]);
    assert_eq!(sent("[PATCH] "), ["b", "a"]);
}

#[test]
fn a_reply_is_a_patch_where_there_is_no_other() {
    assert_eq!(added(&sorted(&[patch("Re: [PATCH] x", "x")])), ["x"]);
    let among = sorted(&[letter("Re: y"), patch("Re: x", "x")]);
    assert_eq!(added(&among), ["x"]);
    let two = refused(&[patch("Re: x", "a"), patch("Re: x", "b")]);
    assert!(
        two.to_string()
            .starts_with("m:21: a second reply with a diff, beside that at m:2"),
        "{two}"
    );
    assert_eq!(
        refused(&[letter("Re: y"), letter("Re: x")]).kind,
        ReadErrorKind::NoDiff
    );
}

#[test]
fn the_base_in_the_cover_letter_is_that_of_every_patch() {
    let base = "8cdef6cbcc7300000000000000000000000000aa";
    let said = format!("base-commit: {base}");
    let reading = sorted(&[
        Mail {
            text: &said,
            ..letter("[PATCH 0/2] x")
        },
        patch("[PATCH 1/2] a", "a"),
        patch("[PATCH 2/2] b", "b"),
    ]);
    for patch in &reading.patches {
        assert_eq!(patch.trailers.base_commit.as_deref(), Some(base));
    }
}

#[test]
fn a_cover_letter_that_was_not_filled_in() {
    // What `git format-patch --cover-letter` writes; the mail's signature is below.
    let cover = |subject: &str, text: &str| {
        let cover = Mail {
            text,
            ..letter(subject)
        };
        sorted(&[cover, patch("[PATCH 1/1] a", "a")]).cover
    };
    let subject = "[PATCH 0/1] *** SUBJECT HERE ***";
    let shortlog = "*** BLURB HERE ***\n\nA (1):\n  a\n";
    let found = cover(subject, shortlog).unwrap();
    assert_eq!(
        (&found.subject[..], &found.message[..]),
        ("", "A (1):\n  a")
    );
    assert_eq!(cover(subject, "*** BLURB HERE ***\n"), None);
    let found = cover("[PATCH 0/1] Faster", "It is.\n").unwrap();
    assert_eq!(
        (&found.subject[..], &found.message[..]),
        ("Faster", "It is.")
    );
}

#[test]
fn a_huge_thread_is_sorted_in_one_go() {
    // 50,000 versions and as many titles: comparing each with each would take very long.
    let mails: String = (0..50_000)
        .map(|n| format!("From x Thu Jan  1 00:00:00 1970\nSubject: [PATCH v{n} 1/9] {n}\n\n"))
        .collect();
    let error = read("m", mails.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "m:2: v0 has no 2/9: found 1");
}
