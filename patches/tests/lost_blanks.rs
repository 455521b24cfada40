//! Once a patch is known to be damaged in its blanks, every added line that may
//! have had others is named, put right or not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::damage::{applied, damaged, damaged_file, rewritten};
use common::{Lab, file};
use ktrial_patches::MendKind;
use ktrial_patches::apply::{Applied, AppliedFile};

/// Each tab as eight blanks.
fn eight_each(line: &str) -> String {
    line.replace('\t', "        ")
}

/// Each run of blanks as one, the mark of the line among them.
fn folded(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        match c {
            ' ' | '\t' if out.ends_with(' ') => {}
            ' ' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A file that is indented by tabs, but for one comment.
const MIXED: &str = "\
int
f(void)
{
\tint\ta;

        /*
         * Old.
         */
\ta = 1;
\tif (a)
\t\tg(a);
\treturn\t(a);
}
";

fn apply_both(files: [(&str, &str); 2], patch: &str) -> (Lab, Applied) {
    let lab = Lab::new();
    let files = files.map(|(name, content)| file(name, content));
    let applied = lab
        .try_patch(&files, patch)
        .unwrap_or_else(|error| panic!("{error}\n{patch}"));
    (lab, applied)
}

fn told(file: &AppliedFile) -> Vec<usize> {
    rewritten(file).iter().map(|(line, _)| *line).collect()
}

/// The nearest comment has blanks; most of the file has tabs.
#[test]
fn indentation_is_that_of_most_of_the_file() {
    let new = "\tif (a) {\n\t\t/*\n\t\t * New.\n\t\t */\n\t\tg(a);\n\t}\n\t/*\n\t * Last.\n\t */\n";
    let after = MIXED.replace("\tif (a)\n\t\tg(a);\n", new);
    let (text, file) = applied(MIXED, &damaged(MIXED, &after, eight_each));
    assert_eq!(text, after);
    assert_eq!(told(&file), [10, 11, 12, 13, 15, 16, 17, 18]);
    // Where most of the file has blanks, they stay, and are told.
    let blanks = MIXED.replace('\t', "        ") + "\tg(0);\n";
    let after = blanks.replace("a = 1;\n", "a = 1;\n        a++;\n");
    let patch = damaged(&blanks, &(after.clone() + "h();\n"), eight_each);
    let (text, file) = applied(&blanks, &patch);
    assert_eq!(text, after + "h();\n");
    assert_eq!(rewritten(&file), [(10, "        a++;")]);
}

#[test]
fn lines_of_blanks_alone_are_told() {
    let after = MIXED.replace("\ta = 1;\n", "\ta = 1;\n\t\n\tg(2);\t\n");
    let (text, file) = applied(MIXED, &damaged(MIXED, &after, eight_each));
    assert_eq!(text, after);
    assert_eq!(told(&file), [10, 11]);
    // What was folded into one blank is not known.
    let (text, file) = applied(MIXED, &damaged(MIXED, &after, folded));
    assert_eq!(
        text,
        after.replace("\n\t\n", "\n \n").replace("2);\t", "2); ")
    );
    assert_eq!(told(&file), [10, 11]);
    let mend = file.mends.iter().find(|mend| mend.line == 10).unwrap();
    let rewrite = mend.added.as_ref().unwrap();
    assert_eq!(mend.kind, MendKind::Whitespace);
    assert_eq!(
        (&rewrite.was[..], &rewrite.now[..]),
        (&b" \n"[..], &b" \n"[..])
    );
}

/// Four blanks stay four whatever became of tabs: only another file tells.
#[test]
fn a_file_that_can_not_tell_is_put_right_by_another() {
    let before = "int\ng(int n)\n{\n    n++;\n    n--;\n    return (n);\n}\n";
    let after = before.replace("n++;\n", "n++;\n    if (n)\n\tn = 2;\n");
    let mixed = MIXED.replace("\ta = 1;\n", "\ta = 1;\n\ta++;\n");
    let second = damaged_file("g", before, &after, eight_each);
    for patch in [
        damaged(MIXED, &mixed, eight_each) + &second,
        second.clone() + &damaged(MIXED, &mixed, eight_each),
    ] {
        let (lab, applied) = apply_both([("f", MIXED), ("g", before)], &patch);
        assert_eq!(
            applied.tree,
            lab.tree(&[file("f", &mixed), file("g", &after)])
        );
        let files = &applied.patches[0].files;
        let g = files.iter().find(|file| file.path == "g").unwrap();
        assert_eq!(rewritten(g), [(6, "\tn = 2;")]);
    }
    // Alone, nothing shows that it was damaged.
    let lab = Lab::new();
    let alone = lab.try_patch(&[file("g", before)], &second).unwrap();
    assert!(alone.patches[0].files[0].mends.is_empty());
}

/// A tab and blanks behind it can't be told from blanks alone.
#[test]
fn gaps_that_may_have_been_tabs_are_told() {
    let before = "a 1\nLink x y\t\t# one\nLink x z\t\t# two\nb 2\n\tc\nd\n";
    let after = before.replace("b 2\n", "Link x w\t     # three\nb    2\n");
    let (text, file) = applied(before, &damaged(before, &after, eight_each));
    assert_eq!(
        text,
        before.replace("b 2\n", "Link x w             # three\nb    2\n")
    );
    assert_eq!(told(&file), [4]);
}

/// Where eight blanks are a tab, three are none. But one tab that became one
/// blank may as well be a run that was folded, by a page that left nothing at
/// the start of lines; and a file that is made shows nothing at all.
#[test]
fn lines_of_a_new_file_are_told_whatever_the_other_shows() {
    let made = "KMOD\t= r\nSRCS   += a.h\n\n.include <x.mk>\nall:\n";
    let before = "SRCS+=\ta.c\nSRCS+=\tb.c\n";
    let after = "SRCS+=\ta.c\nSRCS+=\tb.c\nSRCS+=\tc.c\n";
    let damages: [fn(&str) -> String; 2] = [folded, eight_each];
    for (damage, wanted) in damages.into_iter().zip([&[1, 2, 4, 5][..], &[1]]) {
        let patch = damaged(before, after, damage) + &damaged_file("new", "", made, damage);
        let (_, applied) = apply_both([("f", before), ("g", "")], &patch);
        let files = &applied.patches[0].files;
        assert_eq!(rewritten(&files[0]), [(3, "SRCS+=\tc.c")]);
        assert_eq!(told(&files[1]), wanted);
    }
}

/// A page leaves one blank of an indentation: a line without one had none.
#[test]
fn lines_without_a_blank_at_their_start_get_none() {
    let before = "one\n\ttwo\n\t\tthree\nfour\n";
    let after = "one\n\ttwo\n\t\tthree\nnew words\n\t\tlast\nfour\n";
    let (text, file) = applied(before, &damaged(before, after, folded));
    assert!(text.contains("\nnew words\n"), "{text}");
    assert_eq!(told(&file), [4, 5]);
}
