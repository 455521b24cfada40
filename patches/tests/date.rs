//! When a patch was written, by the `Date:` of its mail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{ReadError, read};
use ktrial_patches::{Date, MendKind, Patch};

fn dated(line: &str) -> Result<Patch, ReadError> {
    let mail = format!(
        "From: A <a@example.org>\n{line}Subject: [PATCH] s\n\nWhy.\n---\n\
         --- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"
    );
    let patches = read("p", mail.as_bytes())?.patches;
    Ok(patches.into_iter().next().unwrap())
}

/// What `git am` of git 2.47 makes of each date, on a machine in UTC:
/// `git log -1 --format=%ad --date=raw`.
#[test]
fn dates_are_those_of_git_am() {
    let cases = [
        ("Mon, 5 Dec 2016 16:49:04 -0800", 1480985344, -480),
        ("Mon, 5 Dec 2016 16:49:04 +0530", 1480936744, 330),
        ("Mon, 5 Dec 2016 16:49:04 +05:30", 1480936744, 330),
        ("Mon, 5 Dec 2016 16:49:04 +0545 (NPT)", 1480935844, 345),
        ("Mon, 5 Dec 2016 16:49:04 +1400", 1480906144, 840),
        ("Mon, 5 Dec 2016 16:49:04 -0000", 1480956544, 0),
        ("Mon, 5 Dec 2016 16:49:04 +0000", 1480956544, 0),
        ("Mon, 5 Dec 2016 16:49:04 GMT", 1480956544, 0),
        ("Mon, 5 Dec 2016 16:49:04 UT", 1480956544, 0),
        ("Mon, 5 Dec 2016 16:49:04 UTC", 1480956544, 0),
        ("Mon, 5 Dec 2016 16:49:04 Z", 1480956544, 0),
        ("Mon, 5 Dec 2016 16:49:04 EST", 1480974544, -300),
        ("Mon, 5 Dec 2016 16:49:04 EDT", 1480970944, -240),
        ("Mon, 5 Dec 2016 16:49:04 CST", 1480978144, -360),
        ("Mon, 5 Dec 2016 16:49:04 CDT", 1480974544, -300),
        ("Mon, 5 Dec 2016 16:49:04 MST", 1480981744, -420),
        ("Mon, 5 Dec 2016 16:49:04 MDT", 1480978144, -360),
        ("Mon, 5 Dec 2016 16:49:04 PST", 1480985344, -480),
        ("Mon, 5 Dec 2016 16:49:04 PDT", 1480981744, -420),
        ("Mon, 5 Dec 2016 16:49:04 CET", 1480952944, 60),
        ("Mon, 5 Dec 2016 16:49:04 CEST", 1480949344, 120),
        ("Mon, 5 Dec 2016 16:49:04 JST", 1480924144, 540),
        ("5 Dec 2016 16:49:04 -0800", 1480985344, -480),
        ("Mon, 5 Dec 2016 16:49 -0800", 1480985340, -480),
        ("Mon Dec 5 16:49:04 2016 -0800", 1480985344, -480),
        ("2016-12-05 16:49:04 -0800", 1480985344, -480),
        ("2016-12-05T16:49:04-08:00", 1480985344, -480),
        ("2016-12-05T16:49:04Z", 1480956544, 0),
        ("Sat, 31 Dec 2016 23:59:60 +0000", 1483228800, 0),
        ("1480985344 -0800", 1480985344, -480),
    ];
    for (text, seconds, offset_minutes) in cases {
        let patch = dated(&format!("Date: {text}\n")).unwrap();
        let wanted = Date {
            seconds,
            offset_minutes,
        };
        assert_eq!(patch.header.date, Some(wanted), "{text}");
        assert_eq!(patch.mends, [], "{text}");
    }
    // `date -u -d 2000-02-29 +%s` and the like.
    for (day, seconds) in [
        ("29 Feb 2000", 951_782_400),
        ("1 Mar 2000", 951_868_800),
        ("28 Feb 2100", 4_107_456_000),
        ("1 Mar 2100", 4_107_542_400),
        ("31 Dec 1999", 946_598_400),
        ("1 Jan 1970", 0),
    ] {
        let patch = dated(&format!("Date: {day} 00:00:00 +0000\n")).unwrap();
        assert_eq!(patch.header.date.unwrap().seconds, seconds, "{day}");
    }
}

/// RFC 5322, section 4.3: zones by letter and names that are not known mean no more than `-0000`.
/// Git takes them, and what has no zone, for the zone of the machine that it runs on.
#[test]
fn a_date_without_a_zone_that_is_known_is_named() {
    for zone in ["A", "M", "FOO", "", "GMT+2", "-9999", "+2500"] {
        let patch = dated(&format!("Date: Mon, 5 Dec 2016 16:49:04 {zone}\n")).unwrap();
        let utc = Date {
            seconds: 1_480_956_544,
            offset_minutes: 0,
        };
        assert_eq!(patch.header.date, Some(utc), "{zone}");
        let mends: Vec<_> = patch.mends.iter().map(|m| (m.kind, m.line)).collect();
        assert_eq!(mends, [(MendKind::Zone, 1)], "{zone}");
    }
    let none = dated("").unwrap();
    assert_eq!((none.header.date, &none.mends[..]), (None, &[][..]));
}

/// `git am` says "invalid date format" of all but the 32nd of December and the 30th of February,
/// which it moves in silence.
#[test]
fn what_is_no_date_is_refused() {
    for text in [
        "rubbish",
        "5 Dec 16 16:49:04 -0800",
        "Mon, 5 Dec 116 16:49:04 -0800",
        "Mon, 5 Dec 1969 16:49:04 +0000",
        "Mon, 32 Dec 2016 16:49:04 -0800",
        "30 Feb 2016 16:49:04 -0800",
    ] {
        let error = dated(&format!("Date: {text}\n")).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("p:1: `{text}` is no date")),
            "{error}"
        );
    }
}
