//! Threads whose numbers are not all there, or there twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::thread::{Mail, added, left_out, letter, patch, refused, sorted};
use ktrial_patches::read::{ReadErrorKind, Reason};

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
