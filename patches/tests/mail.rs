//! Reading mails: headers, encodings, character sets and trailers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::read;
use ktrial_patches::{Change, Date, LineKind, MendKind, Patch, Person};

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

fn person(name: &str, email: &str) -> Option<Person> {
    let (name, email) = (name.to_owned(), email.to_owned());
    Some(Person { name, email })
}

#[test]
fn a_mail_from_format_patch() {
    let patch = one(&format!(
        "From 2f0f2ef0 Mon Sep 17 00:00:00 2001\nFrom: \"Doe, Jane\" <jane@example.org>\n\
         Date: Thu, 29 Oct 2015 05:35:19 -0700\nSubject: [PATCH v2 1/3] fs/file: a long subject \
         that\n git folds\n\nFirst line.\n\nSigned-off-by: Jane\n---\nNot for the log.\n\n\
         \x20f | 2 +-\n 1 file changed\n\n{DIFF}-- \n2.47.3\n\n"
    ));
    let header = &patch.header;
    assert_eq!(header.subject, "fs/file: a long subject that git folds");
    assert_eq!(header.message, "First line.\n\nSigned-off-by: Jane");
    let (name, email) = ("Doe, Jane".to_owned(), "jane@example.org".to_owned());
    assert_eq!(header.author, Some(Person { name, email }));
    // `date -d 'Thu, 29 Oct 2015 05:35:19 -0700' +%s`
    let (seconds, offset_minutes) = (1_446_122_119, -420);
    assert_eq!(
        header.date,
        Some(Date {
            seconds,
            offset_minutes
        })
    );
    let file = &patch.files[0];
    assert_eq!(
        (file.old.as_deref(), file.new.as_deref()),
        (Some("a/f"), Some("b/f"))
    );
    assert_eq!((file.change, file.strip), (Change::Modify, Some(1)));
    assert_eq!(file.old_blob.as_deref(), Some("01e79c3"));
    let hunk = &file.hunks[0];
    assert_eq!(
        (
            hunk.old_start,
            hunk.old_count,
            hunk.new_start,
            hunk.new_count
        ),
        (1, 3, 1, 3)
    );
    assert_eq!(hunk.heading, "heading");
    let lines: Vec<(LineKind, &[u8])> = hunk.lines.iter().map(|l| (l.kind, &l.bytes[..])).collect();
    let wanted: [(LineKind, &[u8]); 4] = [
        (LineKind::Context, b"1\n"),
        (LineKind::Removed, b"2\n"),
        (LineKind::Added, b"two\n"),
        (LineKind::Context, b"3\n"),
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn the_author_in_the_body_wins() {
    let patch = one(&format!(
        "From: List <list@example.org>\nSubject: Re: [PATCH] [net] x: y\n\n\
         From: =?UTF-8?Q?Andr=C3=A9?= <andre@example.org>\nDate: Thu, 1 Jan 1970 00:00:10 +0000\n\n\
         Why.\n---\n{DIFF}"
    ));
    let (name, email) = ("André".to_owned(), "andre@example.org".to_owned());
    assert_eq!(patch.header.author, Some(Person { name, email }));
    assert_eq!(patch.header.date.map(|date| date.seconds), Some(10));
    assert_eq!(
        (&patch.header.subject[..], &patch.header.message[..]),
        ("x: y", "Why.")
    );
}

#[test]
fn transfer_encodings_are_undone_and_bytes_kept() {
    let head = "From: A <a@example.org>\nSubject: s\nMIME-Version: 1.0\n\
        Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: ";
    // The added line is `+caf\xe9 = 1`, in Latin-1, and stays so.
    let quoted = format!(
        "{head}quoted-printable\n\nCaf=E9 =3D message.\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+caf=E9 =\n=3D 1\n"
    );
    // printf 'Hi\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+caf\xe9 = 1\n' | base64
    let base64 = format!(
        "{head}base64\n\nSGkKLS0tCi0tLSBhL2YKKysrIGIvZgpAQCAtMSArMSBAQAoteAorY2Fm6SA9IDEK\n"
    );
    for mail in [&quoted, &base64] {
        let patch = one(mail);
        assert_eq!(patch.files[0].hunks[0].lines[1].bytes, b"caf\xe9 = 1\n");
    }
    assert_eq!(one(&quoted).header.message, "Café = message.");
}

#[test]
fn a_nul_in_a_mail_is_the_patchs_fault() {
    let mail = b"From: A <a@b>\nSubject: [PATCH] x\n\nbo\0dy\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    let error = read("nul.patch", mail).unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
}

#[test]
fn carriage_returns_folding_and_encoded_words() {
    let mail = format!(
        "From: =?ISO-8859-1?Q?J=FCrgen?= =?UTF-8?B?IFN0csO2bQ==?= <j@example.org>\n\
         Subject: [PATCH]\n =?UTF-8?Q?caf=C3=A9=3A?=\n open\nDate: Thu, 1 Jan 1970 00:00:10 +0000\n\n\
         Why.\n\nSigned-off-by: J\n---\n{DIFF}"
    )
    .replace('\n', "\r\n");
    let header = one(&mail).header;
    assert_eq!(header.author, person("Jürgen Ström", "j@example.org"));
    assert_eq!(header.subject, "café: open");
    assert_eq!(header.message, "Why.\n\nSigned-off-by: J");
    assert!(one(&mail).files[0].carriage_returns);
    // As git: a header in no set is Latin-1 where it is no UTF-8.
    let raw = b"From: Andr\xe9 <a@example.org>\nSubject: s\n\nb\xe9\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";
    let header = &all(raw)[0].header;
    assert_eq!(header.author, person("André", "a@example.org"));
    assert_eq!(header.message, "bé");
}

#[test]
fn addresses_that_git_makes_of_hosts_without_a_domain() {
    // DragonFly's a580ab6cd087 has such an author; `git mailinfo` takes it so.
    let mail = format!("From: Rui Paulo <r@eeepc.(none)>\nSubject: s\n\n---\n{DIFF}");
    assert_eq!(
        one(&mail).header.author,
        person("Rui Paulo", "r@eeepc.(none)")
    );
}

#[test]
fn line_ends_of_quoted_printable_text_stay() {
    let mail = "From: A <a@example.org>\nSubject: s\nContent-Transfer-Encoding: quoted-printable\n\n\
        ---\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\r\n-2\n+2 =20 \t\n";
    let lines = &one(mail).files[0].hunks[0].lines;
    let texts: Vec<_> = lines.iter().map(|l| &l.bytes[..]).collect();
    assert_eq!(texts, [&b"1\r\n"[..], b"2\n", b"2  \n"]);
}

#[test]
fn from_in_the_text_of_an_mbox() {
    let mail = |mbox_line: &str| {
        format!(
            "{mbox_line}\nFrom: A <a@example.org>\nSubject: [PATCH] s\n\nWhy:\n>From here on.\n>>From there.\n---\n{DIFF}"
        )
    };
    // public-inbox writes mboxrd; what it marked is what `mboxrd` says in mbox(5).
    let lore = one(&mail("From mboxrd@z Thu Jan  1 00:00:00 1970"));
    assert_eq!(lore.header.message, "Why:\nFrom here on.\n>From there.");
    // git format-patch marks nothing, and git am takes nothing off.
    let git = one(&mail(
        "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001",
    ));
    assert_eq!(git.header.message, "Why:\n>From here on.\n>>From there.");
    // A mail that is no mbox is one mail, whatever it quotes.
    let pasted = mail("From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001");
    let around = one(&format!(
        "From: B <b@example.org>\nSubject: Fwd: it\n\n{pasted}"
    ));
    assert_eq!(around.header.author, person("A", "a@example.org"));
    assert_eq!(around.header.subject, "s");
}

#[test]
fn lines_of_errors_in_quoted_printable() {
    let mail = "From: A <a@example.org>\nSubject: s\nContent-Transfer-Encoding: quoted-printable\n\n\
        a=\nb=\nc\n---\n--- a/f\n+++ b=\n/f\nno hunk\n";
    assert_eq!(read("p", mail.as_bytes()).unwrap_err().line, 12);
}

#[test]
fn trailers() {
    // The shapes of FreeBSD's r313756 and of git format-patch --base.
    let mail = format!(
        "From: A <a@example.org>\nSubject: [PATCH] s\n\nWhy.\n\n\
         Fixes: 1da177e4c3f4 (\"Linux-2.6.12-rc2\")\nFixes:\t\tr357614\nFixes: issue277\n\
         Reviewed by:\tkib\nDifferential Revision:\thttps://reviews.freebsd.org/D9586\n\
         Differential Revision: D42/\ngit-svn-id: svn+ssh://svn.freebsd.org/base/head@313756 ccf9f872-aa2e\n\
         ---\n{DIFF}\nbase-commit: 8cdef6cbcc7300000000000000000000000000aa\n-- \n2.47.3\n"
    );
    let found = one(&mail).trailers;
    assert_eq!(
        found.fixes,
        ["1da177e4c3f4 (\"Linux-2.6.12-rc2\")", "r357614"]
    );
    assert_eq!(found.reviews, ["D9586", "D42"]);
    assert_eq!(found.svn_revision, Some(313_756));
    assert_eq!(
        found.base_commit.as_deref(),
        Some("8cdef6cbcc7300000000000000000000000000aa")
    );
    let notes = one(&format!(
        "From: A <a@example.org>\nSubject: s\n\nNotes:\n    svn path=/head/; revision=313756\n---\n{DIFF}"
    ));
    assert_eq!(notes.trailers.svn_revision, Some(313_756));
    assert_eq!(notes.trailers.base_commit, None);
    // In a diff that adds such lines they are text.
    let text = "+Fixes: 1da177e4c3f4\n+base-commit: 1da177e4c3f4\n";
    let added = one(&format!(
        "Why.\n\n--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n{text}"
    ));
    assert_eq!(
        (added.trailers.fixes.len(), added.trailers.base_commit),
        (0, None)
    );
}

#[test]
fn a_quoted_patch_is_not_by_who_quotes_it() {
    let quoted =
        |text: &str| -> String { text.lines().map(|line| format!("> {line}\n")).collect() };
    let reply = |body: &str| {
        one(&format!(
            "From: B &lt;b@example.org&gt;\nSubject: Re: [PATCH v2 1/3] x: y\n\
             Date: Thu, 1 Jan 1970 00:00:10 +0000\n\n{body}\nI like it.\n-- \nB\n"
        ))
    };
    let why = "Why.\n\nBecause.\n\nSigned-off-by: A";
    let whole = quoted(&format!(
        "{why}\n---\n f | 2 +-\n\n{DIFF}base-commit: 1da177e4c3f4\n"
    ));
    let wrote = "On Monday, A wrote:\n";
    for body in [
        format!("{wrote}{whole}"),
        format!("Fine.\n\n{wrote}\n{whole}"),
    ] {
        let patch = reply(&body);
        let header = &patch.header;
        assert_eq!((&header.author, header.date), (&None, None));
        assert_eq!((&header.subject[..], &header.message[..]), ("x: y", why));
        assert_eq!(patch.trailers.base_commit.as_deref(), Some("1da177e4c3f4"));
        let mends: Vec<_> = patch.mends.iter().map(|mend| mend.kind).collect();
        assert_eq!(mends, [MendKind::Quotation]);
    }
    // What is above the diff is the reply's, or not the whole message.
    let diff = quoted(DIFF);
    for body in [
        format!("Why.\n\nAcked-by: B\n\n{diff}"),
        format!("{}Really?\n{diff}", quoted(why)),
        format!("{}> {wrote}{}", quoted(why), diff),
        format!("{}> > No.\n{}", quoted(why), diff),
        format!("{}> [...]\n{}", quoted(why), diff),
    ] {
        let header = reply(&body).header;
        assert_eq!((&header.author, &header.message[..]), (&None, ""), "{body}");
    }
    // An author who stands in the quoted text is the patch's.
    let own = "From: C <c@example.org>\nDate: Thu, 1 Jan 1970 00:00:20 +0000\n\nWhy.\n";
    let header = reply(&quoted(&format!("{own}---\n{DIFF}"))).header;
    assert_eq!(header.author, person("C", "c@example.org"));
    assert_eq!(header.date.map(|date| date.seconds), Some(20));
    assert_eq!(header.message, "Why.");
}

#[test]
fn the_description_ends_where_a_mended_diff_begins() {
    let head = "From: A <a@example.org>\nSubject: [PATCH] s\n\nWhy.\n\nAcked-by: B\n";
    let escaped = DIFF.replace("+++ ", "&#43;&#43;&#43; ");
    let escaped = escaped.replace("diff --git a/f b/f\nindex 01e79c3..0b66db1 100644\n", "");
    let patch = one(&format!("{head}\n{escaped}"));
    assert_eq!(patch.header.message, "Why.\n\nAcked-by: B");
    assert_eq!(patch.header.author, person("A", "a@example.org"));
    assert_eq!(patch.files.len(), 1);
    // The mark between the two as well as what they stand around.
    let all: String =
        format!("From: C <c@example.org>\n\nWhy.\n---\n{DIFF}base-commit: 1da177e4c3f4\n");
    let quoted: String = all.lines().map(|line| format!("> {line}\n")).collect();
    let patch = one(&format!(
        "From: A <a@example.org>\nSubject: [PATCH] s\n\n{quoted}"
    ));
    assert_eq!(patch.header.message, "Why.");
    assert_eq!(patch.header.author, person("C", "c@example.org"));
    assert_eq!(patch.trailers.base_commit.as_deref(), Some("1da177e4c3f4"));
}

#[test]
fn a_signature_is_no_part_of_the_description() {
    // RFC 3676, section 4.3. A rule of dashes is none.
    let above = "Why.\n\n--\nBecause.\n\nAcked-by: B\n-- \nJane\nhttps://example.org\n";
    let message = "Why.\n\n--\nBecause.\n\nAcked-by: B";
    let mail = format!("From: A <a@example.org>\nSubject: s\n\n{above}\n{DIFF}");
    assert_eq!(one(&mail).header.message, message);
    assert_eq!(one(&mail.replace('\n', "\r\n")).header.message, message);
    let plain = one(&format!("A title\n\n{above}\n{DIFF}")).header;
    assert_eq!(
        (&plain.subject[..], &plain.message[..]),
        ("A title", message)
    );
}

#[test]
fn an_address_that_an_archive_wrote_as_html() {
    let mail = |from: &str| format!("From: {from}\nSubject: [PATCH] a &lt; b\n\nWhy.\n---\n{DIFF}");
    for (from, name) in [
        ("A B &lt;a@example.org&gt;", "A B"),
        ("&quot;B, A&quot; &lt;a@example.org&gt;", "B, A"),
        ("&lt;a@example.org&gt;", "a@example.org"),
    ] {
        let patch = one(&mail(from));
        assert_eq!(patch.header.author, person(name, "a@example.org"), "{from}");
        let mends: Vec<_> = patch.mends.iter().map(|m| (m.kind, m.line)).collect();
        assert_eq!(mends, [(MendKind::Entities, 1)]);
        assert_eq!(patch.header.subject, "a &lt; b");
    }
    assert_eq!(one(&mail("A <a@example.org>")).mends, []);
}

#[test]
fn marks_of_an_mbox_are_no_part_of_its_mails() {
    let mail = format!("From: A <a@example.org>\nSubject: s\n\nFrom here on.\n---\n{DIFF}");
    let escaped = mail.replace("\nFrom here", "\n>From here");
    let mbox = format!("From mboxrd@z Thu Jan  1 00:00:00 1970\n{escaped}");
    assert_eq!(one(&mbox).source, mail.as_bytes());
}

#[test]
fn a_mail_of_too_many_lines_among_others() {
    let mail = |lines: usize| {
        let lines = "\n".repeat(lines);
        format!("From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A <a@b>\nSubject: s\n\n{lines}\n")
    };
    let mbox = mail(2_100_000) + &mail(2_100_000);
    let error = read("m", mbox.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("more than 4,000,000 lines"), "{error}");
}
