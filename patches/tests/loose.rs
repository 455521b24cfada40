//! Patches whose blanks, line ends or `<…>` were lost on their way. The file
//! keeps its bytes; what is added is put right as far as the file can tell, and
//! each such line is reported.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::damage::{applied, damaged, rewritten};
use common::{Lab, file};
use ktrial_patches::apply::{ApplyError, Rung};
use ktrial_patches::{Mend, MendKind};

const BEFORE: &str = "\
/*
 * A table.
 */
#include <sys/param.h>
#include <sys/mman.h>

#define\tLIMIT\t\t10\t/* at most */
#define\tSLOTS\t\t(LIMIT * 4)

static int
find(struct table *t, int key)
{
\tint\tslot;
\tint\ti;

\tslot = key % SLOTS;
\tfor (i = 0; i < LIMIT; i++) {
\t\tif (t->key[slot] == key)
\t\t\treturn (slot);
\t\tslot++;
\t}
\treturn (-1);
}
";

const AFTER: &str = "\
/*
 * A table.
 */
#include <sys/param.h>
#include <sys/mman.h>

#define\tLIMIT\t\t10\t/* at most */
#define\tSLOTS\t\t(LIMIT * 4)
#define\tSTRIDE\t\t2\t/* slots to go on */

static int
find(struct table *t, int key)
{
\tint\tslot;
\tint\ti;

\t/*
\t * Start anywhere.
\t */
\tslot = key % SLOTS;
\tfor (i = 0; i < LIMIT; i++) {
\t\tif (t->key[slot] == key)
\t\t\treturn (slot);
\t\tslot += STRIDE;
\t\tif (slot >= SLOTS &&
\t\t    t->wraps) {
\t\t\tslot = 0;
\t\t}
\t}
\treturn (-1);
}
";

/// As `expand -t <width>` does it, which counts the mark of the line.
fn expand(line: &str, width: usize) -> String {
    let mut out = String::new();
    for c in line.chars() {
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', width - out.len() % width)),
            c => out.push(c),
        }
    }
    out
}

/// The tabs come back whatever was made of them; but where a tab is as long as
/// four blanks, that a line goes on from the one above is not to be seen.
#[test]
fn tabs_that_became_blanks_are_tabs_again() {
    type Damage = fn(&str) -> String;
    let damages: [(&str, Damage, &str); 6] = [
        ("expand", |line| expand(line, 8), "\t\t    "),
        ("expand -t 4", |line| expand(line, 4), "\t\t\t"),
        (
            "expand, the mark aside",
            |line| line[..1].to_owned() + &expand(&line[1..], 8),
            "\t\t    ",
        ),
        (
            "eight each",
            |line| line.replace('\t', "        "),
            "\t\t    ",
        ),
        ("four each", |line| line.replace('\t', "    "), "\t\t\t"),
        ("two each", |line| line.replace('\t', "  "), "\t\t\t\t"),
    ];
    for (name, damage, goes_on) in damages {
        let patch = damaged(BEFORE, AFTER, damage);
        let (text, file) = applied(BEFORE, &patch);
        let wanted = AFTER.replace("\t\t    t->wraps", &format!("{goes_on}t->wraps"));
        assert_eq!(text, wanted, "{name}");
        assert!(
            file.hunks.iter().all(|hunk| hunk.rung == Rung::Whitespace),
            "{name}: {file:?}"
        );
        let changed = rewritten(&file);
        let added = wanted.lines().enumerate().filter(|(index, line)| {
            let new = [8, 16, 17, 18, 23, 24, 25, 26, 27].contains(index);
            new && line.contains('\t')
        });
        let added: Vec<_> = added.map(|(index, line)| (index + 1, line)).collect();
        assert_eq!(changed, added, "{name}");
        for mend in &file.mends {
            assert_eq!(
                (mend.kind, mend.path.as_deref()),
                (MendKind::Whitespace, Some("f"))
            );
        }
    }
}

/// `git apply` and `patch -l` put added lines in as they are; so does ktrial
/// where it is the tree whose blanks are others.
#[test]
fn what_the_tree_has_changed_is_no_damage() {
    let tree = BEFORE.replace("\t\tslot++;", "\t\t\t\tslot++;");
    let patch = damaged(BEFORE, AFTER, str::to_owned);
    let (text, file) = applied(&tree, &patch);
    assert_eq!(text, AFTER);
    assert_eq!(file.hunks[1].rung, Rung::Whitespace);
    assert_eq!(file.hunks[0].rung, Rung::Exact);
    assert!(rewritten(&file).is_empty(), "{file:?}");
    assert_eq!(file.mends.len(), 1);
}

/// A page joins blanks: the indentation is that of the place.
#[test]
fn joined_blanks_are_guessed_and_every_line_is_told() {
    let join = |line: &str| {
        let words: Vec<&str> = line[1..]
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .collect();
        let indented = line[1..].starts_with(['\t', ' ']) && !line.starts_with(' ');
        format!(
            "{}{}{}",
            &line[..1],
            if indented { " " } else { "" },
            words.join(" ")
        )
    };
    let patch = damaged(BEFORE, AFTER, join);
    assert!(patch.contains("\n+ slot += STRIDE;\n"), "{patch}");
    let (text, file) = applied(BEFORE, &patch);
    // Only the tabs inside of the new `#define` are lost for good.
    let wanted = AFTER.replace("STRIDE\t\t2\t/*", "STRIDE 2 /*");
    assert_eq!(text, wanted);
    let told: Vec<usize> = rewritten(&file).iter().map(|(line, _)| *line).collect();
    assert_eq!(told, [9, 17, 18, 19, 24, 25, 26, 27, 28]);
}

#[test]
fn blanks_at_the_end_of_lines_stay_those_of_the_tree() {
    let tree = BEFORE.replace("10\t/* at most */", "10\t/* at most */ \t");
    let after = AFTER.replace("10\t/* at most */", "10\t/* at most */ \t");
    let patch = damaged(&tree, &after, |line| line.trim_end().to_owned());
    let patch = patch.replace("\n\n", "\n \n");
    let (text, file) = applied(&tree, &patch);
    assert_eq!(text, after);
    assert!(rewritten(&file).is_empty());
    assert_eq!(file.mends[0].kind, MendKind::Whitespace);
    assert_eq!((file.mends[0].line, file.mends[0].lines), (7, 1));
}

/// Added lines take the line ends of the file: never both kinds in one.
#[test]
fn line_ends_are_those_of_the_file() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let plain = damaged(BEFORE, AFTER, str::to_owned);
    let (text, file) = applied(&crlf(BEFORE), &plain);
    assert_eq!(text, crlf(AFTER));
    let ends: Vec<&Mend> = file
        .mends
        .iter()
        .filter(|mend| mend.added.is_some())
        .collect();
    let told: Vec<_> = ends
        .iter()
        .map(|mend| (mend.kind, mend.line, mend.lines))
        .collect();
    let kind = MendKind::LineEnds;
    assert_eq!(told, [(kind, 9, 1), (kind, 17, 3), (kind, 24, 5)]);
    // The other way round.
    let sent = damaged(BEFORE, AFTER, |line| format!("{line}\r"));
    let (text, _) = applied(BEFORE, &sent);
    assert_eq!(text, AFTER);
    // In a file with both, those of the neighbours.
    let mixed = "1\r\n2\r\n3\r\n4\n5\n6\n7\n8\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,8 +1,10 @@\n 1\n 2\n+two\n 3\n 4\n 5\n 6\n+six\n 7\n 8\n";
    let (text, _) = applied(mixed, patch);
    assert_eq!(text, "1\r\n2\r\ntwo\r\n3\r\n4\n5\n6\nsix\n7\n8\n");
}

/// A line that was only moved comes back as it was.
#[test]
fn a_moved_line_keeps_its_blanks() {
    let before = "a\nint  x;\t\t/* x */\nb\nc\nd\n";
    let patch =
        "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n a\n-int x; /* x */\n b\n c\n+int x; /* x */\n d\n";
    let (text, _) = applied(before, patch);
    assert_eq!(text, "a\nb\nc\nint  x;\t\t/* x */\nd\n");
}

/// As a browser shows it, and as its page source has it.
#[test]
fn entities_are_decoded_where_the_file_shows_it() {
    let page = |line: &str| {
        let line = line
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        line.replace('"', "&quot;").replace('\'', "&#39;")
    };
    let patch = damaged(BEFORE, AFTER, page);
    let (text, file) = applied(BEFORE, &patch);
    assert_eq!(text, AFTER);
    assert_eq!(file.hunks[1].rung, Rung::Markup);
    assert_eq!(
        rewritten(&file),
        [
            (25, "\t\tif (slot >= SLOTS &&"),
            (26, "\t\t    t->wraps) {")
        ]
    );
    assert!(
        file.mends
            .iter()
            .all(|mend| mend.kind == MendKind::Entities)
    );
    // Where all that the file knows is plain, an entity means itself.
    let before = "1\n2\n3\n";
    let plain = "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n 1\n 2\n+&lt;\n 3\n";
    assert_eq!(applied(before, plain).0, "1\n2\n&lt;\n3\n");
}

#[test]
fn eaten_includes_are_found_again_and_new_ones_told() {
    let before = "#include <a.h>\n#include <b.h>\n\nint x;\nint y;\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,5 +1,6 @@\n #include \n #include \n+#include \n \n-int x;\n+int z;\n int y;\n";
    let (text, file) = applied(before, patch);
    assert_eq!(
        text,
        "#include <a.h>\n#include <b.h>\n#include \n\nint z;\nint y;\n"
    );
    assert_eq!(file.hunks[0].rung, Rung::Markup);
    let told: Vec<_> = file
        .mends
        .iter()
        .map(|mend| (mend.kind, mend.line, mend.added.is_some()))
        .collect();
    assert_eq!(
        told,
        [(MendKind::Markup, 1, false), (MendKind::Markup, 3, true)]
    );
    // Even where nothing else was eaten.
    let bare = "--- a/f\n+++ b/f\n@@ -3,3 +3,4 @@\n \n int x;\n+#include \n int y;\n";
    let (_, file) = applied(before, bare);
    assert_eq!(file.hunks[0].rung, Rung::Exact);
    assert_eq!(
        (file.mends[0].kind, file.mends[0].line),
        (MendKind::Markup, 5)
    );
    // One that was moved is the one that was removed.
    let moved = "--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n-#include\n \n int x;\n+#include\n int y;\n";
    let (text, _) = applied(before, moved);
    assert_eq!(text, "#include <a.h>\n\nint x;\n#include <b.h>\nint y;\n");
}

/// What names another thing in `<…>` was not eaten.
#[test]
fn another_name_is_another_line() {
    let before = "#include <a.h>\n\nint x;\nint y;\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@\n-#include <z.h>\n \n int x;\n int y;\n";
    let error = Lab::new()
        .try_patch(&[file("f", before)], patch)
        .unwrap_err();
    assert!(matches!(error, ApplyError::HunkFailed(_)), "{error}");
}

/// The nearer place is not taken where so little is compared.
#[test]
fn equal_places_are_refused_in_every_form() {
    let before = "#include <a.h>\nx\nz\nw\n".repeat(2);
    let patch = "--- a/f\n+++ b/f\n@@ -4,4 +4,5 @@\n #include\n x\n+y\n z\n w\n";
    let error = Lab::new()
        .try_patch(&[file("f", &before)], patch)
        .unwrap_err();
    match error {
        ApplyError::Ambiguous { lines, .. } => assert_eq!(lines, [1, 5]),
        other => panic!("{other}"),
    }
}

/// A damaged patch that the tree has is recognised.
#[test]
fn a_damaged_patch_that_is_there_is_recognised() {
    let patch = damaged(BEFORE, AFTER, |line| expand(line, 8));
    let error = Lab::new()
        .try_patch(&[file("f", AFTER)], &patch)
        .unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
}

/// A new file shows nothing of what became of its tabs; another file of the
/// patch does.
#[test]
fn a_new_file_is_put_right_by_what_another_shows() {
    let created = |damage: fn(&str) -> String| {
        let lines = "+int\n+new(void)\n+{\n+\treturn (a <b);\n+}\n";
        let lines: String = lines.lines().map(|line| damage(line) + "\n").collect();
        format!("--- /dev/null\n+++ b/new.c\n@@ -0,0 +1,5 @@\n{lines}")
    };
    let wanted = "int\nnew(void)\n{\n\treturn (a <b);\n}\n";
    type Damage = fn(&str) -> String;
    let damages: [Damage; 2] = [
        |line| expand(line, 8),
        |line| line.replace('<', "&lt;").replace('>', "&gt;"),
    ];
    for damage in damages {
        let lab = Lab::new();
        let patch = created(damage) + &damaged(BEFORE, AFTER, damage);
        let applied = lab.try_patch(&[file("f", BEFORE)], &patch).unwrap();
        assert_eq!(
            applied.tree,
            lab.tree(&[file("f", AFTER), file("new.c", wanted)])
        );
        let new = &applied.patches[0].files[0];
        assert_eq!(rewritten(new), [(4, "\treturn (a <b);")]);
    }
    // Alone, the entities are only told.
    let alone = created(damages[1]);
    let lab = Lab::new();
    let applied = lab.try_patch(&[file("f", BEFORE)], &alone).unwrap();
    let new = &applied.patches[0].files[0];
    assert_eq!(rewritten(new), [(4, "\treturn (a &lt;b);")]);
    assert_eq!(new.mends[0].kind, MendKind::Entities);
}

/// Where a run of blanks may have been a tab and nothing tells, the line is told.
#[test]
fn a_gap_that_nothing_tells_of_is_told() {
    let before = "a\n\tb();\nc\n";
    let patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n         b();\n+int     x;\n c\n";
    let (text, file) = applied(before, patch);
    assert_eq!(text, "a\n\tb();\nint     x;\nc\n");
    assert_eq!(rewritten(&file), [(3, "int     x;")]);
}
