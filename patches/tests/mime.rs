//! Reading mails of several parts, files in UTF-16, and mails made to hurt.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{ReadErrorKind, Reason, read};
use ktrial_patches::{MendKind, Patch, Person};

const DIFF: &str = "diff --git a/f b/f\nindex 01e79c3..0b66db1 100644\n--- a/f\n+++ b/f\n\
    @@ -1,3 +1,3 @@ heading\n 1\n-2\n+two\n 3\n";

fn all(text: &[u8]) -> Vec<Patch> {
    read("p", text).unwrap().patches
}

fn one(text: &str) -> Patch {
    let mut patches = all(text.as_bytes());
    assert_eq!(patches.len(), 1);
    patches.remove(0)
}

fn refused(text: &str) -> String {
    read("p", text.as_bytes()).unwrap_err().to_string()
}

fn person(name: &str, email: &str) -> Option<Person> {
    let (name, email) = (name.to_owned(), email.to_owned());
    Some(Person { name, email })
}

/// A mail of parts, each a header and a body.
fn multipart(kind: &str, parts: &[(&str, &str)]) -> String {
    let parts: String = parts
        .iter()
        .map(|(head, body)| format!("--=_b\n{head}\n\n{body}\n"))
        .collect();
    format!(
        "From: A <a@example.org>\nSubject: [PATCH] s\nMIME-Version: 1.0\n\
         Content-Type: multipart/{kind}; boundary=\"=_b\"\n\nPreamble.\n{parts}--=_b--\nEpilogue.\n"
    )
}

#[test]
fn text_beside_html_and_an_attachment() {
    // The HTML says the same with a diff of its own, and is not read.
    let html = "<pre>diff --git a/g b/g</pre>";
    let mail = multipart(
        "alternative",
        &[
            ("Content-Type: text/plain", &format!("Why.\n---\n{DIFF}")),
            ("Content-Type: text/html", html),
            ("Content-Type: text/plain", &format!("Why.\n---\n{DIFF}")),
        ],
    );
    let patch = one(&mail);
    assert_eq!(patch.files.len(), 1);
    assert_eq!(patch.header.message, "Why.");
    let only_html = multipart("mixed", &[("Content-Type: text/html", html)]);
    assert!(
        refused(&only_html).contains("only there as HTML"),
        "{}",
        refused(&only_html)
    );
}

#[test]
fn a_nested_multipart_with_an_attached_diff() {
    // `printf '%s' ... | base64` of: --- a/g / +++ b/g / @@ -1 +1 @@ / -x / +caf\xe9
    let base64 = "LS0tIGEvZworKysgYi9nCkBAIC0xICsxIEBACi14CitjYWbpCg==";
    let inner = "--in\nContent-Type: text/plain; charset=iso-8859-1\n\
        Content-Transfer-Encoding: quoted-printable\n\nIt is caf=E9 =\ntime.\n--=20\nJane\n\
        --in\nContent-Type: text/html\n\n<p>It is café time.\n--in--";
    let mail = multipart(
        "mixed",
        &[
            ("Content-Type: multipart/alternative; boundary=in", inner),
            (
                "Content-Type: text/x-patch; name=\"g.patch\"\nContent-Transfer-Encoding: base64\n\
                 Content-Disposition: attachment; filename=\"g.patch\"",
                base64,
            ),
            (
                "Content-Type: image/png\nContent-Transfer-Encoding: base64",
                "iVBORw0KGgo=",
            ),
            (
                "Content-Type: text/x-diff; name=f.diff\nContent-Disposition: inline; filename=f.diff\n\
                 Content-Transfer-Encoding: quoted-printable",
                "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a =3D 1\n+a =\n=3D 2",
            ),
            ("Content-Type: text/plain", "______\nlist@example.org"),
        ],
    );
    let patch = one(&mail);
    assert_eq!(patch.header.message, "It is café time.");
    let news: Vec<_> = patch
        .files
        .iter()
        .map(|f| f.new.as_deref().unwrap())
        .collect();
    assert_eq!(news, ["b/g", "b/f"]);
    assert_eq!(patch.files[0].hunks[0].lines[1].bytes, b"caf\xe9\n");
    assert_eq!(patch.files[1].hunks[0].lines[1].bytes, b"a = 2\n");
}

#[test]
fn attached_mails_are_patches_of_their_own() {
    let inner = |number: u32, who: &str| {
        format!(
            "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n\
             From: {who} <{who}@example.org>\nSubject: [PATCH {number}/2] number {number}\n\nWhy.\n---\n{DIFF}-- \n2.47.3\n"
        )
    };
    let file = "Content-Type: text/x-patch\nContent-Disposition: attachment; filename=1.patch";
    let mail = multipart(
        "mixed",
        &[
            ("Content-Type: text/plain", "Please find attached."),
            (file, &inner(2, "bea")),
            (
                "Content-Type: message/rfc822",
                inner(1, "al").split_once('\n').unwrap().1,
            ),
        ],
    );
    let reading = read("p", mail.as_bytes()).unwrap();
    let found: Vec<_> = reading
        .patches
        .iter()
        .map(|p| (&p.header.subject[..], p.header.author.clone()))
        .collect();
    let wanted = [
        ("number 1", person("al", "al@example.org")),
        ("number 2", person("bea", "bea@example.org")),
    ];
    assert_eq!(found, wanted);
    assert_eq!(
        reading.left_out[0].why.to_string(),
        "only carries the patches attached to it"
    );
    // Unix `cat -n` of the mail says so: the bad line is the 14th.
    let bad = mail.replacen("@@ -1,3 +1,3 @@ heading", "@@ -1,3 +1,x @@", 1);
    let line = 1 + bad.lines().position(|l| l.contains("+1,x")).unwrap();
    assert_eq!(read("p", bad.as_bytes()).unwrap_err().line, line);
}

const FILE: &str =
    "Content-Type: text/x-patch; name=f.patch\nContent-Disposition: attachment; filename=f.patch";

/// `git am` 2.47 refuses such a mail: it puts both parts on the tree, one after the other, and the
/// second does not apply.
#[test]
fn a_patch_in_the_text_and_attached_is_taken_once() {
    let inline = format!("Why.\n---\n f | 2 +-\n\n{DIFF}-- \n2.47\n");
    let quoted = DIFF.replace('=', "=3D").replace("heading", "head=\ning");
    let encoded = format!("{FILE}\nContent-Transfer-Encoding: quoted-printable");
    let crlf = DIFF.replace('\n', "\r\n");
    for (head, attached) in [(FILE, DIFF), (&encoded, &quoted), (FILE, &crlf)] {
        let text = ("Content-Type: text/plain", &inline[..]);
        for parts in [[text, (head, attached)], [(head, attached), text]] {
            let mail = multipart("mixed", &parts);
            let patch = one(&mail);
            assert_eq!(patch.files.len(), 1);
            let line = 1 + mail.lines().position(|l| l == "--=_b").unwrap();
            let mends: Vec<_> = patch.mends.iter().map(|mend| mend.kind).collect();
            assert_eq!(mends, [MendKind::Twice]);
            assert!(patch.mends[0].line > line, "{:?}", patch.mends);
        }
    }
    let other = DIFF.replace("+two", "+three");
    let mail = multipart(
        "mixed",
        &[("Content-Type: text/plain", &inline), (FILE, &other)],
    );
    let message = refused(&mail);
    assert!(message.contains("each in its own way"), "{message}");
}

/// The same, where what is attached is a mail as `git format-patch` makes them.
#[test]
fn a_mail_attached_to_its_own_patch_is_taken_once() {
    let inner = |tag: &str, diff: &str| {
        format!(
            "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n\
             From: bea <bea@example.org>\nSubject: {tag}number 1\n\nWhy.\n---\n{diff}-- \n2.47.3\n"
        )
    };
    let text = format!("Please look.\n---\n{DIFF}");
    let mail = |subject: &str, inner: &str| {
        let parts = [("Content-Type: text/plain", &text[..]), (FILE, inner)];
        multipart("mixed", &parts).replace("[PATCH] s", subject)
    };
    // Of the two, the one that says to be a patch.
    for (subject, author, why) in [
        ("[PATCH] s", "a@example.org", Reason::Duplicate),
        ("Look at this", "bea@example.org", Reason::Carrier),
    ] {
        let mail = mail(subject, &inner("[PATCH] ", DIFF));
        let reading = read("p", mail.as_bytes()).unwrap();
        assert_eq!(reading.patches.len(), 1, "{subject}");
        let header = &reading.patches[0].header;
        assert_eq!(header.author.as_ref().unwrap().email, author);
        assert_eq!(reading.left_out[0].why, why);
    }
    let other = inner("[PATCH] ", &DIFF.replace("+two", "+three"));
    let message = refused(&mail("[PATCH] s", &other));
    assert!(message.contains("each in its own way"), "{message}");
}

#[test]
fn a_boundary_is_a_whole_line() {
    let mail = multipart(
        "mixed",
        &[
            (
                "Content-Type: text/plain",
                "--=_bc is none, and x --=_b neither.\n---",
            ),
            ("Content-Type: text/x-patch", DIFF),
        ],
    );
    assert_eq!(
        one(&mail).header.message,
        "--=_bc is none, and x --=_b neither."
    );
    // A boundary that is nowhere leaves the text as it is.
    let without = format!(
        "From: A <a@example.org>\nSubject: s\nContent-Type: multipart/mixed; boundary=nowhere\n\nWhy.\n---\n{DIFF}"
    );
    assert_eq!(one(&without).header.message, "Why.");
}

#[test]
fn files_in_utf16_and_with_a_byte_order_mark() {
    let utf16: Vec<u8> = format!(
        "\u{feff}caf\u{e9} \u{1f600}\r\n{}",
        DIFF.replace('\n', "\r\n")
    )
    .encode_utf16()
    .flat_map(u16::to_le_bytes)
    .collect();
    let big: Vec<u8> = utf16.chunks(2).flat_map(|two| [two[1], two[0]]).collect();
    let marked = format!("\u{feff}café 😀\n{DIFF}").into_bytes();
    for bytes in [&utf16, &big, &marked] {
        let patch = &all(bytes)[0];
        assert_eq!(patch.header.subject, "café 😀");
        assert_eq!(patch.files[0].new.as_deref(), Some("b/f"));
        assert_eq!(patch.mends.len(), 1);
        assert_eq!(patch.mends[0].kind, MendKind::ByteOrderMark);
        assert_eq!(&patch.source, bytes);
    }
    let odd = read("p", &utf16[..utf16.len() - 1]).unwrap_err();
    assert!(matches!(odd.kind, ReadErrorKind::Charset(_)), "{odd}");
    let lone = read("p", b"\xff\xfe\x00\xd8a\x00").unwrap_err();
    assert!(lone.to_string().contains("damaged"), "{lone}");
    // The same attached: a mark at the start of a part.
    let mail = multipart(
        "mixed",
        &[
            ("Content-Type: text/plain", "Why."),
            (
                "Content-Type: text/x-patch; name=x",
                &format!("\u{feff}{DIFF}"),
            ),
        ],
    );
    assert_eq!(one(&mail).mends[0].kind, MendKind::ByteOrderMark);
}

#[test]
fn mails_made_to_hurt_are_refused() {
    let nested: String = (0..40)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
        .collect();
    let nested = format!("From: A <a@example.org>\nSubject: s\n{nested}");
    assert!(
        refused(&nested).contains("more than 16 parts"),
        "{}",
        refused(&nested)
    );
    // Each is a mail within a mail; a parser that nests them runs out of stack.
    let mails = "Subject: s\nContent-Type: message/rfc822\n\n".repeat(200_000);
    assert!(
        refused(&mails).contains("too many mails"),
        "{}",
        refused(&mails)
    );
    let parts = multipart("mixed", &[]).replace("--=_b--", &"--=_b\n\nx\n".repeat(20_000));
    assert!(
        refused(&parts).contains("more than 10,000 parts"),
        "{}",
        refused(&parts)
    );
    let header = format!(
        "From: A <a@example.org>\nX-Long: {}\n\nx\n",
        "y".repeat(300_000)
    );
    assert!(
        refused(&header).contains("longer than 256 KiB"),
        "{}",
        refused(&header)
    );
}
