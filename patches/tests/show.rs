//! Reading what `git show` and `git log -p` print. The texts are what git 2.47
//! printed for commits made for this.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{ReadErrorKind, Reading, Reason, read};
use ktrial_patches::{Date, Header, Person};

const HASHES: [&str; 2] = [
    "ebb9fd7634ff01fe0a4697112bfae58302700725",
    "74612a3d74fda3c56e227330d45fde9a34679309",
];
const FIRST: &str = "    fs/file: one\n    \n    Why it is so.\n    \n      indented\n    \n    \
    Signed-off-by: J\n";
const STAT: &str = "---\n f | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n";
const DIFFS: [&str; 2] = [
    "\ndiff --git a/f b/f\nindex 0ff3bbb..6c69c71 100644\n--- a/f\n+++ b/f\n@@ -7,7 +7,7 @@\n 7\n 8\n \
     9\n-10\n+ten\n 11\n 12\n 13\n",
    "\ndiff --git a/f b/f\nindex 6c69c71..b0f9ccd 100644\n--- a/f\n+++ b/f\n@@ -9,7 +9,7 @@\n 9\n \
     ten\n 11\n-12\n+twelve\n 13\n 14\n 15\n",
];

fn first(header: &str) -> String {
    format!("commit {}{header}\n{FIRST}{}", HASHES[0], DIFFS[0])
}

fn second() -> String {
    format!(
        "commit {} (HEAD -> main)\nAuthor: Committer C <c@example.org>\n\
         Date:   Fri Oct 30 05:35:19 2015 +0530\n\n    fs/file: two\n{}",
        HASHES[1], DIFFS[1]
    )
}

const MEDIUM: &str =
    "\nAuthor: Doe, Jane <jane@example.org>\nDate:   Thu Oct 29 05:35:19 2015 -0700\n";

fn parsed(text: &str) -> Reading {
    read("p", text.as_bytes()).unwrap()
}

/// What the first commit says.
fn wanted(date: Option<Date>) -> Header {
    let (name, email) = ("Doe, Jane".to_owned(), "jane@example.org".to_owned());
    Header {
        subject: "fs/file: one".to_owned(),
        author: Some(Person { name, email }),
        date,
        message: "Why it is so.\n\n  indented\n\nSigned-off-by: J".to_owned(),
    }
}

/// `git show -s --format=%at`, and the zone of its `Date:`.
const WRITTEN: Date = Date {
    seconds: 1_446_122_119,
    offset_minutes: -420,
};

#[test]
fn a_commit_in_each_of_gits_formats() {
    let author = "\nAuthor: Doe, Jane <jane@example.org>\n";
    let fuller = "\nAuthor:     Doe, Jane <jane@example.org>\nAuthorDate: Thu Oct 29 05:35:19 2015 -0700\n\
        Commit:     Committer C <c@example.org>\nCommitDate: Mon Nov 30 17:25:08 2026 +0000\n";
    let raw = "\ntree c097289135c94a1c174b7fa3fe5431b94f8cc437\nauthor Doe, Jane <jane@example.org> \
        1446122119 -0700\ncommitter Committer C <c@example.org> 1796059508 +0000\n";
    let dated = |date: &str| format!("{author}Date:   {date}\n");
    for header in [
        MEDIUM,
        fuller,
        raw,
        &dated("2015-10-29 05:35:19 -0700"),
        &dated("2015-10-29T05:35:19-07:00"),
        &dated("Thu, 29 Oct 2015 05:35:19 -0700"),
        &dated("1446122119 -0700"),
    ] {
        let text = first(header);
        for text in [&text, &text.replace('\n', "\r\n"), &format!("\n{text}")] {
            let reading = parsed(text);
            assert_eq!(reading.patches.len(), 1, "{text}");
            assert_eq!(reading.patches[0].header, wanted(Some(WRITTEN)), "{text}");
            assert_eq!(reading.patches[0].mends, [], "{text}");
        }
    }
    // These say no date, or none that can be known.
    let full = "\nAuthor: Doe, Jane <jane@example.org>\nCommit: Committer C <c@example.org>\n";
    let relative = dated("11 years ago");
    let local = dated("Thu Oct 29 12:35:19 2015");
    for header in [full, &relative, &local] {
        assert_eq!(parsed(&first(header)).patches[0].header, wanted(None));
    }
}

#[test]
fn figures_and_notes_between_message_and_diff() {
    let notes = "\nNotes:\n    svn path=/head/; revision=313756\n";
    let text = format!(
        "commit {}{MEDIUM}\n{FIRST}{notes}{STAT}{}",
        HASHES[0], DIFFS[0]
    );
    let patch = &parsed(&text).patches[0];
    assert_eq!(patch.header, wanted(Some(WRITTEN)));
    assert_eq!(patch.trailers.svn_revision, Some(313_756));
    assert_eq!(patch.files.len(), 1);
    // A commit may have no message at all.
    let bare = format!("commit {}{MEDIUM}{}", HASHES[0], DIFFS[0]);
    let patch = &parsed(&bare).patches[0];
    let header = &patch.header;
    assert_eq!((&header.subject[..], &header.message[..]), ("", ""));
    // A tag stands above its commit.
    let tag = "tag v1\nTagger: T <t@example.org>\nDate:   Fri Oct 30 05:35:19 2015 +0530\n\nv1\n\n";
    let patch = &parsed(&format!("{tag}{text}")).patches[0];
    assert_eq!(patch.header, wanted(Some(WRITTEN)));
}

#[test]
fn commits_apply_oldest_first() {
    let both = [first(MEDIUM), second()];
    let logs = [
        format!("{}\n{}", both[1], both[0]),
        format!("{}\n{}", both[0], both[1]),
    ];
    for log in logs {
        let reading = parsed(&log);
        let subjects = reading
            .patches
            .iter()
            .map(|p| (&p.name[..], &p.header.subject[..]));
        let subjects: Vec<_> = subjects.collect();
        assert_eq!(subjects, [("p", "fs/file: one"), ("p#2", "fs/file: two")]);
    }
    // Where they have no file in common, dates tell, and then the habit of `git log`.
    let other = both[1].replace("/f", "/g");
    let same_date = other.replace(
        "Fri Oct 30 05:35:19 2015 +0530",
        "Thu Oct 29 05:35:19 2015 -0700",
    );
    let cases = [
        (format!("{other}\n{}", both[0]), "one"),
        (format!("{}\n{other}", both[0]), "one"),
        (format!("{same_date}\n{}", both[0]), "one"),
        (format!("{}\n{same_date}", both[0]), "two"),
    ];
    for (log, first) in cases {
        let subject = &parsed(&log).patches[0].header.subject;
        assert!(subject.ends_with(first), "{log}");
    }
}

#[test]
fn merges_and_empty_commits_are_left_out() {
    let merge = format!(
        "commit {}\nMerge: ebb9fd7 08eb1e5\nAuthor: Committer C <c@example.org>\n\
         Date:   Fri Oct 30 05:35:19 2015 +0530\n\n    Merge it\n",
        HASHES[1]
    );
    let reading = parsed(&format!("{merge}\n{}", first(MEDIUM)));
    assert_eq!(reading.patches.len(), 1);
    let left_out = &reading.left_out[0];
    assert_eq!(
        (&left_out.subject[..], left_out.line, left_out.why),
        ("Merge it", 1, Reason::NoDiff)
    );
    let error = read("p", merge.as_bytes()).unwrap_err();
    assert_eq!((error.line, error.kind), (1, ReadErrorKind::NoDiff));
    // `git show` shows a merge as a combined diff.
    let combined = format!("{merge}\ndiff --cc f\nindex 1,2..3\n@@@ -1,1 -1,1 +1,1 @@@\n");
    let error = read("p", combined.as_bytes()).unwrap_err();
    assert_eq!(error.line, 8);
    assert!(matches!(error.kind, ReadErrorKind::Unsupported { .. }));
    // Lines of errors and mends count in the file.
    let short = format!(
        "{merge}\n{}",
        first(MEDIUM).replace("-7,7 +7,7", "-7,6 +7,7")
    );
    assert_eq!(parsed(&short).patches[0].mends[0].line, 8 + 16);
}

#[test]
fn words_of_a_description_are_no_commit() {
    let text = format!("commit deadbeef is wrong\n\nAuthor: nobody\n{}", DIFFS[0]);
    let header = &parsed(&text).patches[0].header;
    assert_eq!(header.subject, "commit deadbeef is wrong");
    assert_eq!(header.author, None);
}
