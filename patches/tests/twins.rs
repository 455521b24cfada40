//! Functions that look alike: a hunk goes into the one that it is for, or nowhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, file};
use ktrial_patches::apply::ApplyError;

/// GNU patch 2.7.6 says "misordered hunks! output would be garbled" of both.
#[test]
fn hunks_out_of_order_are_refused() {
    let lab = Lab::new();
    let function = "{\n\tint a;\n\n\ta = 1;\n\treturn a;\n}\n\n";
    let text: String = (1..=4)
        .map(|n| format!("int f{n}(void)\n{function}"))
        .collect();
    let hunk = |line: usize, to: &str| {
        format!(
            "@@ -{line},5 +{line},5 @@\n {{\n \tint a;\n \n-\ta = 1;\n+\ta = {to};\n \treturn a;\n"
        )
    };
    for (first, second) in [(10, 2), (2, 2)] {
        let patch = format!(
            "--- a/f\n+++ b/f\n{}{}",
            hunk(first, "2"),
            hunk(second, "3")
        );
        let error = lab.try_patch(&[file("f", &text)], &patch).unwrap_err();
        assert!(
            matches!(error, ApplyError::Unplaceable { hunk: 2, .. }),
            "{error}"
        );
        assert!(
            error.to_string().contains("in the order of their lines"),
            "{error}"
        );
    }
    let patch = format!("--- a/f\n+++ b/f\n{}{}", hunk(2, "2"), hunk(10, "3"));
    assert!(lab.try_patch(&[file("f", &text)], &patch).is_ok());
}

/// Both `git apply` and GNU patch put this hunk of `f3` into `f2`, which has moved to its lines.
#[test]
fn the_function_that_a_hunk_names_tells_twins_apart() {
    let lab = Lab::new();
    let function =
        |name: &str| format!("int {name}(void)\n{{\n\tint a;\n\n\ta = 1;\n\treturn a;\n}}\n\n");
    let text: String = ["f0", "f1", "f2", "f3"].map(function).concat();
    // Made of the file without `f0`, where `f3` begins at line 17.
    let hunk = |heading: &str| {
        format!(
            "--- a/f\n+++ b/f\n@@ -18,5 +18,5 @@{heading}\n {{\n \tint a;\n \n-\ta = 1;\n+\ta = 2;\n \treturn a;\n"
        )
    };
    match lab.try_patch(&[file("f", &text)], &hunk(" int f3(void)")) {
        Err(ApplyError::Ambiguous { lines, .. }) => assert_eq!(lines, [18, 26]),
        other => panic!("{other:?}"),
    }
    // Where no other place is better, a name that has changed is no reason to refuse.
    for heading in [" int f2(void)", " int f9(void)", ""] {
        assert!(lab.try_patch(&[file("f", &text)], &hunk(heading)).is_ok());
    }
}

/// Where tabs have become blanks, another function that has always had blanks looks right to the
/// byte: `git apply` 2.47, and GNU patch 2.7.6 with fuzz, put the hunk there, 10 lines further down.
#[test]
fn a_folded_hunk_does_not_go_to_a_twin_with_blanks() {
    let lab = Lab::new();
    let function = |name: &str, tab: &str| {
        format!("int {name}(void)\n{{\n{tab}int a;\n\n{tab}a = 1;\n{tab}return a;\n}}\n")
    };
    let blanks = " ".repeat(8);
    let text = function("f1", "\t") + "\nx\ny\n" + &function("f2", &blanks);
    let hunk = |line: usize, tab: &str| {
        format!(
            "@@ -{line},5 +{line},5 @@\n {{\n {tab}int a;\n \n-{tab}a = 1;\n+{tab}a = 2;\n {tab}return a;\n"
        )
    };
    let plain = |hunk: &str| format!("--- a/f\n+++ b/f\n{hunk}");
    let file = [file("f", &text)];
    match lab.try_patch(&file, &plain(&hunk(2, &blanks))) {
        Err(ApplyError::Ambiguous { lines, .. }) => assert_eq!(lines, [2, 12]),
        other => panic!("{other:?}"),
    }
    // Each that is what it says goes to its own place, moved or not.
    for (hunk, line) in [
        (hunk(2, "\t"), 2),
        (hunk(5, "\t"), 2),
        (hunk(12, &blanks), 12),
        (hunk(11, &blanks), 12),
    ] {
        let applied = lab.try_patch(&file, &plain(&hunk)).unwrap();
        assert_eq!(applied.patches[0].files[0].hunks[0].line, line);
    }
    // In the very file that the patch was made from, the line decides.
    let blob = lab.repo.blob(text.as_bytes()).unwrap();
    let git = format!(
        "diff --git a/f b/f\nindex {blob}..1111111111111111111111111111111111111111 100644\n{}",
        plain(&hunk(2, &blanks))
    );
    let applied = lab.try_patch(&file, &git).unwrap();
    let wanted = text.replacen("\ta = 1", "\ta = 2", 1);
    assert_eq!(lab.content(applied.tree, "f"), wanted.as_bytes());
}

/// GNU patch 2.7.6 puts this hunk of `init` into `resume` with fuzz 2. (So it did with a commit of
/// DragonFly's, e8de9e94be61, on a tree whose `si_init` lacked the line.)
#[test]
fn a_hunk_does_not_go_into_another_function_with_fuzz() {
    let lab = Lab::new();
    let text = "int init(void)\n{\n\tint r;\n\n\tr = start();\n\treturn r;\n}\n\n\
        int resume(void)\n{\n\tint r;\n\n\tworks = true;\n\tr = start();\n\treturn r;\n}\n";
    let hunk = |heading: &str| {
        format!(
            "--- a/f\n+++ b/f\n@@ -3,7 +3,7 @@{heading}\n \tif (!found())\n \t\treturn 1;\n \n\
             -\tworks = true;\n+\tworks = false;\n \tr = start();\n \tif (r)\n \t\tstop();\n"
        )
    };
    let error = lab
        .try_patch(&[file("f", text)], &hunk(" int init(void)"))
        .unwrap_err();
    assert!(
        matches!(error, ApplyError::Unplaceable { hunk: 1, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("in another function"), "{error}");
    for heading in ["", " int resume(void)", " int set_up(void)"] {
        assert!(lab.try_patch(&[file("f", text)], &hunk(heading)).is_ok());
    }
}
