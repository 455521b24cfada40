//! What reading mends without a tree, what it refuses, and what it leaves alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::reading::{DIFF, HEAD, LONG, hunks, mended, mends, one, refused};
use ktrial_patches::MendKind;
use ktrial_patches::read::{ReadErrorKind, read};

fn quoted(text: &str, sign: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

#[test]
fn quotation_is_taken_off() {
    for sign in ["> ", ">", "| ", "> > ", ">> ", ">>> ", "&gt; "] {
        let text = format!("On Monday, Jane wrote:\n{}", quoted(DIFF, sign));
        let patch = mended(&text, DIFF, &[(MendKind::Quotation, 2, 8)]);
        // It is no title of the patch.
        assert_eq!(patch.header.subject, "p");
        let below = format!("{text}\nI like it.\n- Joe\n+ Ann\n");
        mended(&below, DIFF, &[(MendKind::Quotation, 2, 8)]);
    }
    // A mailer took the blanks at the ends of lines.
    let whole = format!("{HEAD}@@ -1,3 +1,4 @@\n 1\n \n 3\n+4\n");
    let text = quoted(&whole, "> ").replace(">  \n", ">\n");
    let wanted = [(MendKind::Quotation, 1, 7), (MendKind::EmptyContext, 5, 1)];
    mended(&text, &whole, &wanted);
}

#[test]
fn text_of_a_reply_between_quoted_lines_is_refused() {
    let (above, below) = DIFF.split_at(DIFF.find("+two").unwrap());
    let review = format!("{}\nWhy?\n\n{}", quoted(above, "> "), quoted(below, "> "));
    let error = refused(&review);
    assert_eq!((error.line, error.kind), (8, ReadErrorKind::ReplyText));
    // What is left of a quoted hunk is not counted again: the reply has cut it.
    let cut = quoted(&DIFF.replace("-2\n", ""), "> ");
    let error = refused(&format!("{cut}\nNo.\n"));
    assert!(
        matches!(error.kind, ReadErrorKind::HunkTooShort { .. }),
        "{error}"
    );
}

#[test]
fn counts_are_counted_again_where_the_end_is_plain() {
    let hunk = |counts: &str| format!("@@ -10,{counts} @@ f()\n 1\n-2\n+two\n+2b\n 3\n");
    let whole = |end: &str| format!("{HEAD}{}{end}", hunk("3 +10,4"));
    let next = "@@ -50 +51 @@\n-a\n+b\n";
    let ends = [
        next,
        "Index: g\n==================\n--- g\n+++ g\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
        "-- \n2.47.3\n\n",
        "--\n2.47.3\n",
        "\n_______________________________________________\nfreebsd-current@freebsd.org mailing list\n\
         To unsubscribe, send any mail to \"freebsd-current-unsubscribe@freebsd.org\"\n",
    ];
    for end in ends {
        for counts in [
            "2 +10,4", "4 +10,4", "3 +10,3", "3 +10,5", "4 +10,5", "2 +10,3", "9 +10,9",
        ] {
            // The empty line above the footer is what these counts miss.
            if counts == "4 +10,5" && end.starts_with('\n') {
                continue;
            }
            // The hunk is full by these, and only another hunk below shows that they are wrong.
            if counts == "2 +10,3" && !end.starts_with("@@") {
                continue;
            }
            let text = format!("{HEAD}{}{end}", hunk(counts));
            let patch = mended(&text, &whole(end), &[(MendKind::Counts, 3, 1)]);
            assert_eq!(patch.mends[0].path.as_deref(), Some("b/f"));
            assert_eq!(hunks(&patch)[0].heading, "f()");
        }
    }
}

#[test]
fn a_hunk_that_may_have_been_cut_off_is_refused() {
    let body = " 1\n 2\n 3\n-4\n+four\n 5\n 6\n";
    // Blank lines at the end of a mail go first: three lines of context are
    // what diff makes, and one is missing.
    let patch = one(&format!("{HEAD}@@ -1,7 +1,7 @@\n{body}"));
    assert_eq!(mends(&patch), [(MendKind::Counts, 3, 1)]);
    assert_eq!(
        (hunks(&patch)[0].old_count, hunks(&patch)[0].new_count),
        (6, 6)
    );
    // More is missing than can be context, or something else.
    for counts in ["-1,8 +1,8", "-1,6 +1,7", "-1,7 +1,6", "-1,20 +1,25"] {
        let error = refused(&format!("{HEAD}@@ {counts} @@\n{body}"));
        assert_eq!(error.line, 11, "{counts}: {error}");
        assert!(error.to_string().contains("probably cut off"), "{error}");
    }
    // A line that was taken out by hand: the context is complete.
    let body = " 1\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n";
    let patch = one(&format!("{HEAD}@@ -1,7 +1,8 @@\n{body}"));
    assert_eq!(mends(&patch), [(MendKind::Counts, 3, 1)]);
    // Text that is no line of a hunk.
    for text in ["rubbish\n", "rubbish\n 8\n", "rubbish\n+8\n"] {
        let text = format!("{HEAD}@@ -1,8 +1,8 @@\n{body}{text}");
        assert_eq!(refused(&text).line, 12);
    }
    let prose = format!("{HEAD}@@ -1,6 +1,6 @@\n{body}\nMy wishes:\n- a pony\n+ another\n");
    one(&prose);
    // What counts 0 lines begins elsewhere than what counts 1.
    let error = refused(&format!("{HEAD}@@ -5,0 +6,2 @@\n-x\n+y\n"));
    assert_eq!(error.line, 4, "{error}");
}

#[test]
fn a_last_hunk_without_its_last_lines() {
    // What `git diff` prints in the midst of a file, at its start, near its end
    // (one line of context below), and with ten lines of context.
    let far = |counts: &str| format!("@@ -7,{counts} @@\n 7\n 8\n 9\n-10\n+ten\n");
    let ten: String = (10..20).map(|line| format!(" {line}\n")).collect();
    let cases = [
        (far("7 +7,7"), " 11\n 12\n 13\n"),
        ("@@ -1,5 +1,5 @@\n 1\n-2\n+two\n".to_owned(), " 3\n 4\n 5\n"),
        (far("5 +7,5"), " 11\n"),
        (far("6 +7,6"), " 11\n \n"),
        (format!("@@ -10,21 +10,21 @@\n{ten}-20\n+twenty\n"), &ten),
    ];
    for (hunk, below) in &cases {
        let lines: Vec<&str> = below.split_inclusive('\n').collect();
        for missing in 0..=lines.len() {
            let left = lines[..lines.len() - missing].concat();
            let text = format!("{HEAD}{hunk}{left}");
            if missing > 3 {
                let error = refused(&text).to_string();
                assert!(error.contains("probably cut off"), "{error}");
                continue;
            }
            let patch = one(&text);
            let wanted = [(MendKind::Counts, 3, 1)];
            assert_eq!(mends(&patch), wanted[..missing.min(1)], "{text}");
            let whole = one(&format!("{HEAD}{hunk}{below}"));
            let (found, whole) = (hunks(&patch)[0], hunks(&whole)[0]);
            assert_eq!(found.old_count, whole.old_count - missing);
            assert_eq!(found.new_count, whole.new_count - missing);
            assert_eq!(found.lines, whole.lines[..whole.lines.len() - missing]);
        }
        // A changed line is missing too.
        let (changed, _) = hunk.trim_end().rsplit_once('\n').unwrap();
        let error = refused(&format!("{HEAD}{changed}\n")).to_string();
        assert!(error.contains("probably cut off"), "{error}");
    }
}

#[test]
fn signatures_and_footers_are_no_lines_of_a_hunk() {
    // The hunk announces one removed line more than it has; git itself takes
    // the signature for it.
    let text = format!("{HEAD}@@ -1,4 +1,3 @@\n 1\n-2\n+two\n 3\n-- \n2.47.3\n");
    let whole = text.replace("-1,4", "-1,3");
    mended(&text, &whole, &[(MendKind::Counts, 3, 1)]);
    // A removed line `- ` is one.
    let removed = one(&format!(
        "{HEAD}@@ -1,3 +1,2 @@\n 1\n 2\n-- \n-- \n2.47.3\n"
    ));
    assert_eq!(hunks(&removed)[0].lines[2].bytes, b"- \n");
    assert_eq!(removed.mends, []);
    // The names of the next file are no changed lines.
    let next = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n";
    let whole = format!("{HEAD}@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n{next}");
    let text = whole.replace("-1,3 +1,3", "-1,4 +1,4");
    mended(&text, &whole, &[(MendKind::Counts, 3, 1)]);
}

/// `git apply` 2.47 and GNU patch 2.7.6 put this hunk in its place in the lines 1 to 20 exactly,
/// whatever of these follows it: a hunk ends where its counts say.
#[test]
fn what_follows_a_full_hunk_is_text() {
    let whole = format!("{HEAD}@@ -19,2 +19,3 @@\n 19\n 20\n+21\n");
    let next = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n";
    for below in [
        " foo\n",
        "\tfoo\n",
        "    foo\n  bar\n",
        "\n foo\n",
        " foo\n\n-- \n2.47\n",
    ] {
        for next in ["", next] {
            mended(
                &format!("{whole}{below}{next}"),
                &format!("{whole}{next}"),
                &[],
            );
        }
    }
    // A long line, whose rest could stand below it, is no reason to take another line in.
    let long = format!("{HEAD}@@ -1,3 +1,4 @@\n 1\n {LONG}\n+\tx;\n 3\n");
    mended(&format!("{long} foo\n bar\n"), &long, &[]);
    // Both tools refuse a heading below such a line, or apply half of the patch; changed lines
    // below the hunk they pass over in silence.
    let second = "@@ -30 +31 @@\n-a\n+b\n";
    let whole = format!("{HEAD}@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n{second}");
    let text = whole.replace("-1,3 +1,3", "-1,2 +1,2");
    mended(&text, &whole, &[(MendKind::Counts, 3, 1)]);
    let error = refused(&format!(
        "{HEAD}@@ -1,2 +1,2 @@\n 1\n-2\n+two\n foo\n-3\nText.\n"
    ));
    assert!(
        matches!(error.kind, ReadErrorKind::HunkTooLong(_)),
        "{error}"
    );
}

#[test]
fn context_lines_get_their_blank_back() {
    let whole = format!("{HEAD}@@ -1,4 +1,4 @@\n \tint x;\n \n-\tx = 1;\n+\tx = 2;\n }}\n");
    let text = whole
        .replace("\n \tint", "\n\tint")
        .replace("\n \n", "\n\n")
        .replace("\n }", "\n}");
    let wanted = [
        (MendKind::ContextBlank, 4, 2),
        (MendKind::EmptyContext, 5, 1),
    ];
    let patch = one(&text);
    assert_eq!(patch.files, one(&whole).files);
    assert_eq!(mends(&patch), wanted);
    // One has kept it: is ` }` the line `}` or the line ` }`?
    assert!(read("p", text.replace("\n}", "\n }").as_bytes()).is_err());
    // The counts say something else.
    assert!(read("p", text.replace("-1,4 +1,4", "-1,5 +1,5").as_bytes()).is_err());
}

#[test]
fn empty_context_is_named_once_a_file() {
    let hunk = "@@ -1,3 +1,4 @@\n\n 1\n+2\n\n";
    let text = format!(
        "{HEAD}{hunk}{}--- a/g\n+++ b/g\n{hunk}",
        hunk.replace("1,", "9,")
    );
    let patch = one(&text);
    let found: Vec<_> = patch
        .mends
        .iter()
        .map(|m| (m.path.as_deref(), m.line, m.lines))
        .collect();
    assert_eq!(found, [(Some("b/f"), 4, 4), (Some("b/g"), 16, 2)]);
    assert!(
        patch
            .mends
            .iter()
            .all(|mend| mend.kind == MendKind::EmptyContext)
    );
    // In a mail, lines count from its top.
    let mail = format!("From: A <a@b>\nSubject: s\n\n---\n{text}");
    assert_eq!(one(&mail).mends[0].line, 8);
}

#[test]
fn mends_name_files_as_people_do() {
    let hunk = "@@ -1,3 +1,3 @@\n\n-2\n+two\n 3\n";
    let git = "diff --git a/sys/x b/sys/x\n--- a/sys/x\n+++ b/sys/x\n";
    let cases = [
        (git.to_owned(), "sys/x"),
        (git.replace("a/", "").replace("b/", ""), "sys/x"),
        // Only the tree can tell what to strip of a plain diff's names.
        (git.split_once('\n').unwrap().1.to_owned(), "b/sys/x"),
        (
            // The blank that stands for a tab: DragonFly's list archive has many.
            "--- /usr/src/sys/x.c Sun May 14 05:33:57 2006\n\
             +++ /usr/src/sys/x.c Sun May 14 05:34:02 2006\n"
                .to_owned(),
            "/usr/src/sys/x.c",
        ),
        (
            "--- /dev/null\n+++ sys/x.c\t(revision 12)\n".to_owned(),
            "sys/x.c",
        ),
    ];
    for (names, wanted) in &cases {
        // One is read as it is, the other is counted again.
        for counts in ["-1,3 +1,3", "-1,3 +1,4"] {
            let hunk = hunk.replace("-1,3 +1,3", counts);
            let patch = one(&format!("{names}{hunk}"));
            assert!(!patch.mends.is_empty());
            for mend in &patch.mends {
                assert_eq!(mend.path.as_deref(), Some(*wanted), "{mend}");
            }
        }
    }
}

#[test]
fn blanks_and_signs_of_web_pages() {
    let whole = format!("{HEAD}@@ -1,2 +1,2 @@\n  1\n-2\n+two  /* caf\u{e9} */\n");
    let text = whole
        .replace("  1", "\u{a0}\u{a0}1")
        .replace("  /*", "\u{a0}\u{a0}/*");
    let wanted = [(MendKind::Whitespace, 4, 1), (MendKind::Whitespace, 6, 1)];
    let patch = mended(&text, &whole, &wanted);
    let rewrite = patch.mends[1].added.as_ref().unwrap();
    assert_eq!(rewrite.was, "two\u{a0}\u{a0}/* caf\u{e9} */".as_bytes());
    assert_eq!(rewrite.now, "two  /* caf\u{e9} */".as_bytes());
    // A patch that reads keeps the one that is its own.
    let own = one(&format!("{HEAD}@@ -1 +1 @@\n-2\n+a\u{a0}b\n"));
    assert_eq!(own.mends, []);
    assert_eq!(hunks(&own)[0].lines[1].bytes, "a\u{a0}b\n".as_bytes());
    // Only the signs are decoded; what they stand before is told by the tree.
    let text = "--- a/f\n&#43;&#43;&#43; b/f\n@@ -1,2 &#43;1,2 @@\n-2\n&#43;a &lt; b\n &amp;c\n";
    let patch = one(text);
    assert_eq!(mends(&patch), [(MendKind::Entities, 2, 3)]);
    assert_eq!(hunks(&patch)[0].lines[1].bytes, b"a &lt; b\n");
}

#[test]
fn what_is_no_patch_does_not_become_one() {
    let prose = "- first\n+ second\n--- a line\n\n@@ a heading\n> quoted\n> + more\n";
    let thread = "> On Monday Joe wrote:\n>> --- a/f is old\n>> and +++ b/f new\n> @@ -1 +1 @@\n> -a\n> +b\n";
    let code = "/*\n * diff --git a/f b/f\n * --- a/f\n */\nint f(void)\n{\n\treturn -1\n+ 2;\n}\n";
    let table = "| --- | --- |\n| a | b |\n| +++ | c |\n";
    for text in [prose, thread, code, table] {
        assert_eq!(refused(text).kind, ReadErrorKind::NoDiff, "{text}");
    }
}
