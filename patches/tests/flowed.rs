//! `format=flowed` (RFC 3676): lines that a mailer broke.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::reading::{DIFF, one};
use ktrial_patches::LineKind;
use ktrial_patches::read::read;

fn flowed(parameters: &str, body: &str) -> String {
    format!(
        "From: A <a@example.org>\nSubject: [PATCH] s\n\
         Content-Type: text/plain; format=flowed{parameters}\n\n{body}"
    )
}

#[test]
fn flowed_text() {
    // RFC 3676, section 4.7, above a diff that makes it a patch.
    let rfc = "`Take some more tea,' the March Hare said to Alice, very \nearnestly.\n\n\
        `I've had nothing yet,' Alice replied in an offended tone, `so \nI can't take more.'\n\n\
        >>>Take some more tea.\n>>I've had nothing yet, so I can't take more.\n\
        >You mean you can't take LESS, it's very easy to take \n>MORE than nothing.\n";
    let joined = "`Take some more tea,' the March Hare said to Alice, very earnestly.\n\n\
        `I've had nothing yet,' Alice replied in an offended tone, `so I can't take more.'\n\n\
        >>> Take some more tea.\n>> I've had nothing yet, so I can't take more.\n\
        > You mean you can't take LESS, it's very easy to take MORE than nothing.";
    assert_eq!(
        one(&flowed("", &format!("{rfc}---\n{DIFF}")))
            .header
            .message,
        joined
    );
    // Section 4.3: the signature mark is not flowed. Section 4.5: another depth ends a paragraph.
    let ends = one(&flowed(
        "",
        &format!("> one \ntwo\n> \n> x\n-- \nJane\n---\n{DIFF}"),
    ));
    let not_joined = "> one \ntwo\n> \n> x";
    assert_eq!(ends.header.message, not_joined);
}

#[test]
fn a_flowed_patch() {
    // By section 4.2: lines that begin with a blank or `From ` are stuffed, long
    // ones broken at a blank, which DelSp has to take away.
    let diff = |broken: &str| {
        format!(
            "From all of them,\n From here.\n---\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n  \tif (a)\n-\tb();\n{broken}\n  \tc();\n-- \n2.47.3\n"
        )
    };
    let plain = one(&flowed("", &diff("+\tlong(one, \ntwo,  \n three);")));
    let del_sp = one(&flowed(
        "; DelSp=yes",
        &diff("+\tlong(one,  \ntwo,   \n three);"),
    ));
    for patch in [&plain, &del_sp] {
        assert_eq!(patch.header.message, "From all of them,\nFrom here.");
        let lines: Vec<_> = patch.files[0].hunks[0]
            .lines
            .iter()
            .map(|l| (l.kind, std::str::from_utf8(&l.bytes).unwrap()))
            .collect();
        assert_eq!(
            lines,
            [
                (LineKind::Context, "\tif (a)\n"),
                (LineKind::Removed, "\tb();\n"),
                (LineKind::Added, "\tlong(one, two,  three);\n"),
                (LineKind::Context, "\tc();\n"),
            ]
        );
    }
    // Some mailers stuff and break nothing: then a blank at the end is the text's.
    let stuffed = one(&flowed(
        "",
        "Why.\n---\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n  1\n-2\n+two \n  3\n",
    ));
    assert_eq!(stuffed.files[0].hunks[0].lines[2].bytes, b"two \n");
    // Lines of errors are those of the file.
    let bad = flowed("", "a \nb \nc\n---\n--- a/f\n+++ b/f\nno hunk\n");
    assert_eq!(read("p", bad.as_bytes()).unwrap_err().line, 11);
}

/// In a mail whose lines end in a newline, a carriage return is the file's, so that the line does
/// not end in the blank before it. In one that came with CR LF, it does (section 4.1).
#[test]
fn a_blank_before_a_carriage_return_breaks_a_line_only_where_all_lines_end_in_one() {
    let diff = |added: &str| format!("--- a/f\n+++ b/f\n@@ -1,2 +1,4 @@\n  1\n{added}\n  2\n");
    let added = |mail: &str| -> Vec<u8> {
        let patch = one(mail);
        let lines = &patch.files[0].hunks[0].lines;
        let added = lines.iter().filter(|line| line.kind == LineKind::Added);
        added.flat_map(|line| line.bytes.clone()).collect()
    };
    let some = flowed("", &diff("+0x10, \r\n+0x1f, \r"));
    assert_eq!(added(&some), b"0x10, \r\n0x1f, \r\n");
    let all = flowed("", &diff("+a \nb\n+c")).replace('\n', "\r\n");
    assert_eq!(added(&all), b"a b\nc\n");
}
