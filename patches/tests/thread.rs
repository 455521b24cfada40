//! Threads: which mails of an mbox become the series, in which order, and what
//! is left out or refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{LeftOut, ReadError, ReadErrorKind, Reading, Reason, read};

const DIFF: &str = "diff --git a/f b/f\nindex 01e79c3..0b66db1 100644\n--- a/f\n+++ b/f\n\
    @@ -1,3 +1,3 @@ heading\n 1\n-2\n+two\n 3\n";

/// A mail of an mbox, ten header and blank lines long.
#[derive(Default)]
struct Mail<'a> {
    subject: &'a str,
    id: &'a str,
    answers: &'a str,
    /// Hours after the first of January 2015.
    hour: u32,
    /// What it adds; no diff where it is empty.
    adds: &'a str,
    text: &'a str,
}

impl Mail<'_> {
    fn written(&self) -> String {
        let Mail {
            subject,
            id,
            answers,
            hour,
            adds,
            text,
        } = self;
        let mut ids = String::new();
        if !id.is_empty() {
            ids += &format!("Message-ID: <{id}@x>\n");
        }
        if !answers.is_empty() {
            ids += &format!("In-Reply-To: <{answers}@x>\nReferences: <{answers}@x>\n");
        }
        let diff = match *adds {
            "" => String::new(),
            adds => format!("---\n{}", DIFF.replace("two", adds)),
        };
        format!(
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A <a@example.org>\nSubject: {subject}\n{ids}\
             Date: Thu, 1 Jan 2015 {hour:02}:00:00 +0000\n\n{text}\n{diff}-- \n2.4\n\n"
        )
    }
}

/// A patch with this subject, which is told from others by what it adds.
fn patch<'a>(subject: &'a str, adds: &'a str) -> Mail<'a> {
    Mail {
        subject,
        adds,
        ..Mail::default()
    }
}

/// A mail without a diff.
fn letter(subject: &str) -> Mail<'_> {
    patch(subject, "")
}

fn mbox(mails: &[Mail]) -> String {
    mails.iter().map(Mail::written).collect()
}

fn sorted(mails: &[Mail]) -> Reading {
    read("m", mbox(mails).as_bytes()).unwrap()
}

fn refused(mails: &[Mail]) -> ReadError {
    read("m", mbox(mails).as_bytes()).unwrap_err()
}

/// What the patches add, in their order.
fn added(reading: &Reading) -> Vec<String> {
    let line = |patch: &ktrial_patches::Patch| {
        let bytes = &patch.files[0].hunks[0].lines[2].bytes;
        String::from_utf8(bytes.clone())
            .unwrap()
            .trim_end()
            .to_owned()
    };
    reading.patches.iter().map(line).collect()
}

fn left_out(reading: &Reading) -> Vec<(&str, Reason)> {
    let mut both = Vec::new();
    for LeftOut { subject, why, .. } in &reading.left_out {
        both.push((subject.as_str(), *why));
    }
    both
}

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
fn a_missing_number_is_named() {
    let subjects: Vec<String> = [1, 2, 4, 5, 6, 7]
        .iter()
        .map(|n| format!("[PATCH v2 {n}/7] n{n}"))
        .collect();
    let mails: Vec<Mail> = subjects.iter().map(|s| patch(s, &s[10..11])).collect();
    assert_eq!(
        refused(&mails).to_string(),
        "m:2: v2 has no 3/7: found 1, 2, 4–7"
    );
    let last = refused(&[patch("[PATCH 1/3] a", "a"), patch("[PATCH 2/3] b", "b")]);
    assert_eq!(last.to_string(), "m:2: v1 has no 3/3: found 1, 2");
    let none = refused(&[
        letter("[PATCH 0/4000000000] a"),
        letter("Re: [PATCH 0/2] a"),
    ]);
    assert_eq!(none.to_string(), "m:2: v1 has no 1/4000000000: found none");
    let beyond = refused(&[patch("[PATCH 1/1] a", "a"), patch("[PATCH 2/1] b", "b")]);
    assert!(
        beyond.to_string().starts_with("m:21: 2/1 is more than"),
        "{beyond}"
    );
    // A numbered patch without a diff.
    let empty = refused(&[patch("[PATCH 1/2] a", "a"), letter("[PATCH 2/2] b")]);
    assert_eq!((empty.line, empty.kind), (21, ReadErrorKind::NoDiff));
}

#[test]
fn a_part_of_a_series_that_stands_alone_is_taken_and_noted() {
    let part = Reason::Alone {
        number: 3,
        total: 7,
    };
    let subject = "[PATCH 3/7] c";
    let alone = sorted(&[patch(subject, "c")]);
    assert_eq!(added(&alone), ["c"]);
    assert_eq!(left_out(&alone), [(subject, part)]);
    let note = alone.left_out[0].why.to_string();
    assert!(note.contains("part 3 of 7 alone"), "{note}");
    let reply = "Re: [PATCH 3/7] c";
    let answered = sorted(&[patch(subject, "c"), letter(reply)]);
    assert_eq!(added(&answered), ["c"]);
    assert_eq!(
        left_out(&answered),
        [(subject, part), (reply, Reason::Reply)]
    );
    for whole in ["[PATCH 1/1] c", "[PATCH] c", "c"] {
        assert_eq!(sorted(&[patch(whole, "c")]).left_out, []);
    }
}

/// A mail twice may stand where the other should; so a series of two is not one of one.
#[test]
fn a_part_that_is_there_twice_is_no_series() {
    let one = |id, subject| Mail {
        id,
        ..patch(subject, "a")
    };
    let plain = "[PATCH 1/2] a";
    let pairs = [
        [one("", plain), one("", plain)],
        [one("a", plain), one("a", plain)],
        [one("a", plain), one("b", "[PATCH RESEND 1/2] a")],
    ];
    for pair in pairs {
        let error = refused(&pair).to_string();
        assert_eq!(error, "m:2: v1 has no 2/2: found 1");
    }
}

#[test]
fn one_patch_sent_again() {
    let error = refused(&[
        patch("[PATCH v2 1/2] a", "a"),
        patch("[PATCH v2 2/2] b", "b"),
        patch("[PATCH v3 2/2] b", "b-anew"),
    ]);
    let message = error.to_string();
    assert!(
        message.starts_with("m:40: v3 has only 2/2, while v2 is complete"),
        "{message}"
    );
}

#[test]
fn the_same_mail_twice_and_another_for_one_number() {
    let by_id = |text| Mail {
        id: "a",
        text,
        ..patch("[PATCH 1/1] a", "a")
    };
    let reading = sorted(&[by_id(""), by_id("x")]);
    assert_eq!(left_out(&reading), [("[PATCH 1/1] a", Reason::Duplicate)]);
    // Another list, another footer.
    let by_diff = sorted(&[
        patch("[PATCH 1/1] a", "a"),
        Mail {
            id: "b",
            text: "_____\nlist@example.org",
            ..patch("[PATCH 1/1] a", "a")
        },
    ]);
    assert_eq!(left_out(&by_diff), [("[PATCH 1/1] a", Reason::Duplicate)]);
    // One id, as where a mail was edited after it was saved: which is meant?
    let edited = Mail {
        id: "a",
        ..patch("[PATCH 1/1] a", "b")
    };
    let edited = refused(&[by_id(""), edited]).to_string();
    assert!(edited.contains("two different mails for 1/1"), "{edited}");
    let twice = refused(&[patch("[PATCH 1/1] a", "a"), patch("[PATCH 1/1] a", "b")]);
    assert_eq!(
        twice.to_string(),
        "m:21: v1 has two different mails for 1/1, here and at m:2; take one out"
    );
}

#[test]
fn a_resent_patch_by_its_date() {
    let old = || Mail {
        hour: 1,
        ..patch("[PATCH 1/1] a", "old")
    };
    let new = || Mail {
        hour: 2,
        ..patch("[PATCH RESEND 1/1] a", "new")
    };
    for reading in [sorted(&[old(), new()]), sorted(&[new(), old()])] {
        assert_eq!(added(&reading), ["new"]);
        assert_eq!(left_out(&reading), [("[PATCH 1/1] a", Reason::Resent)]);
    }
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
