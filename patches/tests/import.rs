//! A series written down as a folder, and read again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ktrial_patches::Patch;
use ktrial_patches::catalogue::import::{self, ImportError};
use ktrial_patches::catalogue::{self, Series, System};
use tempfile::TempDir;

/// Two mails as `git format-patch --stdout -2` writes them.
const MBOX: &str = "From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: A B <a@example.org>
Date: Mon, 5 Dec 2016 16:49:04 -0800
Subject: [PATCH 1/2] kernel - Increase worst-case maximum (exec) rate, and more words

Why.
---
 f | 2 +-

diff --git a/f b/f
index d00491fd7e5b..0cfbf08886fc 100644
--- a/f
+++ b/f
@@ -1 +1 @@
-1
+2
-- 
2.39.5

From 2222222222222222222222222222222222222222 Mon Sep 17 00:00:00 2001
From: A B <a@example.org>
Date: Mon, 5 Dec 2016 16:50:04 -0800
Subject: [PATCH 2/2] f: three

diff --git a/f b/f
index 0cfbf08886fc..00750edc07d6 100644
--- a/f
+++ b/f
@@ -1 +1 @@
-2
+3
-- 
2.39.5

";

const DIFF: &str = "--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n";

fn write(series: &Series) -> (TempDir, PathBuf, Series) {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("mine");
    let written = import::write(series, &folder).unwrap();
    (place, folder, written)
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The patches without their names, and without the lines of mends.
fn content(series: &Series) -> Vec<Patch> {
    let bare = |patch: &Patch| Patch {
        name: String::new(),
        mends: Vec::new(),
        ..patch.clone()
    };
    series.own_patches().map(bare).collect()
}

#[test]
fn an_mbox_becomes_a_folder_of_mails() {
    let series = Series::from_bytes("thread.mbox", MBOX.as_bytes()).unwrap();
    let (_place, folder, written) = write(&series);
    // The names are those that git 2.47 gives to these mails.
    let first = "0001-kernel-Increase-worst-case-maximum-exec-rate-and-mor.patch";
    assert_eq!(files(&folder), [first, "0002-f-three.patch", "series.toml"]);
    assert_eq!(content(&written), content(&series));
    assert_eq!(written.name, "mine");
    let text = fs::read_to_string(folder.join(first)).unwrap();
    let (mail, _) = MBOX.split_once("From 2222").unwrap();
    let (_, mail) = mail.split_once('\n').unwrap();
    assert!(
        text.starts_with("From 0000") && text.ends_with(mail),
        "{text}"
    );
}

/// git itself is the judge: `git am` takes the files, with author and date.
#[test]
fn git_am_takes_what_was_written() {
    let series = Series::from_bytes("thread.mbox", MBOX.as_bytes()).unwrap();
    let (place, folder, _written) = write(&series);
    let work = place.path().join("work");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = command.arg("-C").arg(&work).args(arguments);
        let output = output.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    fs::create_dir(&work).unwrap();
    git(&["init", "-q"]);
    fs::write(work.join("f"), "1\n").unwrap();
    git(&["add", "f"]);
    git(&["commit", "-qm", "base"]);
    for file in files(&folder)
        .iter()
        .filter(|name| name.ends_with(".patch"))
    {
        git(&["am", "-q", &folder.join(file).display().to_string()]);
    }
    assert_eq!(fs::read_to_string(work.join("f")).unwrap(), "3\n");
    let log = git(&["log", "-1", "--format=%an %ae %ad %s"]);
    let wanted = "A B a@example.org Mon Dec 5 16:50:04 2016 -0800 f: three\n";
    assert_eq!(log, wanted);
}

#[test]
fn what_is_there_is_never_replaced() {
    let series = Series::from_bytes("x.diff", DIFF.as_bytes()).unwrap();
    let place = TempDir::new().unwrap();
    let empty = place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let link = place.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let file = place.path().join("file");
    fs::write(&file, "mine").unwrap();
    for path in [&empty, &link, &file] {
        let error = import::write(&series, path).unwrap_err();
        assert!(matches!(error, ImportError::Exists { .. }), "{error}");
    }
    assert_eq!(files(place.path()), ["empty", "file", "link"]);
    let nowhere = place.path().join("a/b");
    let error = import::write(&series, &nowhere).unwrap_err();
    assert!(matches!(error, ImportError::Io { .. }), "{error}");
}

#[test]
fn of_many_at_once_one_makes_the_folder() {
    let series = Series::from_bytes("x.diff", DIFF.as_bytes()).unwrap();
    let place = TempDir::new().unwrap();
    let folder = place.path().join("x");
    let write = || import::write(&series, &folder);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert!(matches!(error, ImportError::Exists { .. }), "{error}");
    }
    assert_eq!(files(place.path()), ["x"]);
}

#[test]
fn a_plain_diff_keeps_its_name() {
    let series = Series::from_bytes("my-fix.diff", DIFF.as_bytes()).unwrap();
    let (_place, folder, written) = write(&series);
    assert_eq!(files(&folder), ["my-fix.diff", "series.toml"]);
    assert_eq!(content(&written), content(&series));
    assert_eq!(
        fs::read_to_string(folder.join("my-fix.diff")).unwrap(),
        DIFF
    );
    // A name that would be something else in the folder is not kept.
    for name in ["series.toml", ".x", "x y"] {
        let series = Series::from_bytes(name, DIFF.as_bytes()).unwrap();
        let (_place, folder, _) = write(&series);
        assert!(
            files(&folder)[0].starts_with("0001-"),
            "{:?}",
            files(&folder)
        );
    }
}

/// What came by a pipe has no name of its own.
#[test]
fn a_diff_without_a_name_is_called_after_its_series() {
    let mut series = Series::from_bytes("stdin", DIFF.as_bytes()).unwrap();
    series.title = "Changes f".into();
    let (_place, folder, written) = write(&series);
    assert_eq!(files(&folder), ["0001-Changes-f.patch", "series.toml"]);
    let patch = written.own_patches().next().unwrap();
    assert_eq!(patch.header.subject, "0001-Changes-f.patch");
    assert_eq!(patch.files, series.own_patches().next().unwrap().files);
}

#[test]
fn options_of_a_quilt_folder_are_kept() {
    let quilt = TempDir::new().unwrap();
    let put = |name: &str, text: &str| fs::write(quilt.path().join(name), text).unwrap();
    put("series", "one.patch -p0\ntwo.patch -R -p2\n");
    put("one.patch", DIFF);
    put("two.patch", &DIFF.replace(" f", " x/y/f"));
    let series = Series::open(quilt.path()).unwrap();
    let (_place, folder, written) = write(&series);
    assert_eq!(files(&folder), ["one.patch", "series.toml", "two.patch"]);
    let [one, two] = &content(&written)[..] else {
        panic!("two patches");
    };
    assert_eq!((one.files[0].strip, two.files[0].strip), (Some(0), Some(2)));
    let before: Vec<&[u8]> = two.files[0].hunks[0].before().collect();
    assert_eq!(before, [b"2\n"]);
    assert_eq!(content(&written), content(&series));
}

#[test]
fn a_bundle_is_kept_beside_the_manifest() {
    let series = Series::from_bytes("x.bundle", b"# v2 git bundle\n\0rest").unwrap();
    let (_place, folder, written) = write(&series);
    assert_eq!(files(&folder), ["0001.bundle", "series.toml"]);
    assert_eq!(written.references().count(), 1);
    assert_eq!(
        fs::read(folder.join("0001.bundle")).unwrap(),
        b"# v2 git bundle\n\0rest"
    );
}

/// A series that has everything comes back whole: those of the catalogue do.
#[test]
fn nothing_that_a_series_says_is_lost() {
    for series in catalogue::list().unwrap() {
        let (_place, _folder, written) = write(&series);
        let again = Series {
            name: series.name.clone(),
            steps: series.steps.clone(),
            ..written.clone()
        };
        assert_eq!(again, series);
        assert_eq!(content(&written), content(&series));
        let references: Vec<_> = written.references().collect();
        assert_eq!(references, series.references().collect::<Vec<_>>());
    }
}

#[test]
fn text_that_toml_would_take_for_its_own_is_escaped() {
    let mut series = Series::from_bytes("x.diff", DIFF.as_bytes()).unwrap();
    series.title = "\"]\npatches = [\"/etc/passwd\"]\u{1b}\\ '''".into();
    series.description = "\"\"\" ''' \\\n[[claim]]\n\u{7f}\u{0}é".into();
    series.source = Some("a = \"b\"\r\n".into());
    series.system = Some(System::DragonFly);
    let (_place, _folder, written) = write(&series);
    assert_eq!(
        (&written.title, &written.description),
        (&series.title, &series.description)
    );
    assert_eq!(
        (&written.source, written.system),
        (&series.source, series.system)
    );
    assert_eq!(content(&written), content(&series));
}

/// The names are those that git 2.47's `format-patch` gave to commits with these subjects.
#[test]
fn file_names_are_those_of_format_patch() {
    let cases = [
        ("../../etc/passwd", "0001-.-.-etc-passwd.patch"),
        ("a..b.", "0001-a.b.patch"),
        ("sys_x.c: don't (really)", "0001-sys_x.c-don-t-really.patch"),
        ("größer", "0001-gr-er.patch"),
        ("a - . - b", "0001-a-.-b.patch"),
        ("end.-", "0001-end.patch"),
        ("word. next", "0001-word.-next.patch"),
        // git makes `0001-.patch` of this.
        ("世界", "0001.patch"),
    ];
    for (subject, name) in cases {
        let mail = format!("From: A <a@b.c>\nSubject: {subject}\n\n{DIFF}");
        let series = Series::from_bytes("x.eml", mail.as_bytes()).unwrap();
        let (_place, folder, _) = write(&series);
        assert_eq!(files(&folder)[0], name, "{subject}");
    }
}
