//! Lines that a mailer wrapped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::reading::{DIFF, HEAD, LONG, mended, mends, one, refused};
use ktrial_patches::read::ReadErrorKind;
use ktrial_patches::{MendKind, Rewrite};

/// Breaks lines as mailers do: at the last blank that leaves up to 72
/// characters before it, and the blank goes.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > 72 {
            let Some(at) = rest[1..73].rfind(' ').or_else(|| rest[1..].find(' ')) else {
                break;
            };
            out.push_str(&rest[..1 + at]);
            out.push('\n');
            rest = &rest[2 + at..];
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

#[test]
fn wrapped_lines_are_joined() {
    let comment = "/* and a comment that goes on and on as in some drivers that people know */";
    let line = LONG.replace('-', "*");
    let whole = format!(
        "{HEAD}@@ -1,4 +1,4 @@ {comment}\n {line}\n-{line} {{\n+{line} {comment}\n \t;\n }}\n"
    );
    let patch = one(&wrapped(&whole));
    assert_eq!(patch.files, one(&whole).files);
    let wanted = [(3, 2), (5, 2), (7, 2), (9, 3)];
    let wanted = wanted.map(|(line, lines)| (MendKind::Wrapped, line, lines));
    assert_eq!(mends(&patch), wanted);
    let added: Vec<_> = patch.mends.iter().map(|mend| &mend.added).collect();
    assert_eq!(added[..3], [&None, &None, &None]);
    let rewrite = Rewrite {
        was: line.strip_suffix(" third)").unwrap().as_bytes().to_vec(),
        now: format!("{line} {comment}").into_bytes(),
    };
    assert_eq!(added[3], &Some(rewrite));
    // A line that belongs to nobody, where the counts don't match.
    let error = refused(&wrapped(&whole).replace("-1,4 +1,4", "-1,4 +1,5"));
    assert!(
        matches!(error.kind, ReadErrorKind::HunkTooShort { .. }),
        "{error}"
    );
    // The line above is too short for a mailer to have broken it.
    let error = refused(&format!("{HEAD}@@ -1,2 +1,2 @@\n 1\n+short\nNACK\n-2\n"));
    assert_eq!(error.line, 6, "{error}");
}

#[test]
fn the_rest_of_the_last_line_is_not_lost() {
    let whole = format!("{HEAD}@@ -1,2 +1,3 @@\n 1\n 2\n+{LONG}\n");
    for end in ["", "\nBye.\n", "-- \n2.47.3\n"] {
        // By the counts, the wrapped text reads strictly: git loses the rest.
        let whole = format!("{whole}{end}");
        assert!(wrapped(&whole).contains("-\nthird"));
        mended(&wrapped(&whole), &whole, &[(MendKind::Wrapped, 6, 2)]);
    }
    // Text of its own below a long line.
    let own = format!("{whole}Text of\nits own.\n");
    assert_eq!(one(&own).mends, []);
}

#[test]
fn a_rest_with_a_mark_by_chance_is_joined_where_one_way_fits() {
    let chance = LONG.replace("(first,", "(the_first,");
    let whole = format!("{HEAD}@@ -1,3 +1,3 @@\n {LONG}\n-2\n+{chance}\n 3\n");
    // Some other line shows that a mailer has wrapped the text.
    let text = wrapped(&whole);
    assert!(text.contains("\n- third)\n"), "{text}");
    let wanted = [(MendKind::Wrapped, 4, 2), (MendKind::Wrapped, 7, 2)];
    mended(&text, &whole, &wanted);
    // Nothing shows it: the line could as well be one that the counts leave out.
    let alone = wrapped(&whole.replace(LONG, "1"));
    let error = refused(&alone);
    assert_eq!(error.line, 7);
    assert!(error.to_string().contains("can be one: 7)"), "{error}");
    // Two ways: one of two lines is too much.
    let two = wrapped(&whole.replace("-2\n", &format!("-{chance}\n"))).replace("-1,3", "-1,4");
    let error = refused(&two);
    assert!(error.to_string().contains("can be one: 7, 9)"), "{error}");
}

#[test]
fn a_macros_backslash_on_its_own_is_no_end_of_file() {
    let line = "#define A(x) do { something_that_is_quite_long(x); another_thing(x); }";
    let whole = format!("{HEAD}@@ -1,2 +1,3 @@\n 1\n+{line} \\\n 2\n");
    let text = whole.replace(" \\\n", "\n\\\n");
    let patch = mended(&text, &whole, &[(MendKind::Wrapped, 5, 2)]);
    assert!(patch.mends[0].changes_added());
}

#[test]
fn wrapped_headings_are_joined() {
    let name = "sys/dev/very/long/folder/name/that/makes/it/wrap/file.c";
    let whole = format!(
        "diff --git a/{name} b/{name}\n--- a/{name}\tMon Jan  1 00:00:00 2001\n\
         +++ b/{name}\tTue Jan  2 00:00:00 2001\n@@ -1 +1 @@\n-a\n+b\n"
    );
    let text = whole
        .replace(" b/", "\nb/")
        .replace("\n+++\nb/", "\n+++ b/");
    let text = text
        .replace("\tMon", "\nMon")
        .replace(" 00:00:00 2001\n@", "\n00:00:00 2001\n@");
    let wanted = [1, 3, 5].map(|line| (MendKind::Wrapped, line, 2));
    mended(&text, &whole, &wanted);
    // Without its second name, a rename would be lost, and git reads on.
    let whole = format!(
        "diff --git a/{name} b/{name}.c\nsimilarity index 100%\nrename from {name}\n\
         rename to {name}.c\n{DIFF}"
    );
    let text = whole.replacen(" b/", "\nb/", 1);
    mended(&text, &whole, &[(MendKind::Wrapped, 1, 2)]);
}

/// Found by chance: the rest of a wrapped line is `diff -`, and the next file's diff follows. What
/// `diff` itself writes there names a file of the lines below (GNU diff -r), or, in CVS, a
/// revision.
#[test]
fn a_rest_that_looks_like_a_command_is_joined() {
    let long = "some words of a comment that is as long as mailers make lines, ended with --";
    let file = |line: &str, command: &str| {
        format!(
            "{HEAD}@@ -1,2 +1,2 @@\n-a\n+b\n {line}\n{command}--- a/z.c\n+++ b/z.c\n@@ -1 +1 @@\n-a\n+b\n"
        )
    };
    for rest in ["diff -", "diff - x", "diff -1 ->x", "diff -- and"] {
        let text = file(&format!("{long}\n{rest}"), "");
        mended(
            &text,
            &file(&format!("{long} {rest}"), ""),
            &[(MendKind::Wrapped, 6, 2)],
        );
    }
    for command in [
        "diff -ru a/z.c b/z.c\n",
        "diff -u -r1.38 -r1.39\n",
        "diff -up 'a/z.c' 'b/z.c'\n",
    ] {
        assert_eq!(one(&file(long, command)).files, one(&file(long, "")).files);
    }
}

/// Found by chance, in thousands of made texts: what follows a full hunk may be the rest of its
/// last line, where that is as long as mailers make lines.
#[test]
fn a_rest_that_looks_like_what_follows_a_hunk_is_refused() {
    let long = "+\tif (some_condition_that_is_long(argument) && other(first, second) - third)";
    for (rest, refused_there) in [
        (" b\n", true),
        ("--\n\n", true),
        ("--\n2.47.3\n", false),
        ("-- \n\n", false),
    ] {
        let text = format!("{HEAD}@@ -0,0 +1 @@\n{long}\n{rest}");
        let reading = ktrial_patches::read::read("p", text.as_bytes());
        assert_eq!(reading.is_err(), refused_there, "{rest:?}");
        // A short line has no rest.
        assert_eq!(one(&text.replace(long, "+x")).mends, [], "{rest:?}");
    }
}
