//! What each variant was made of: kernel, series, patches, and how these were applied.

use ktrial_db::{Kernel, PatchText, Variant};
use ktrial_patches::MendKind;
use serde::Serialize;

use super::format;
use super::record::{Built, Record};
use super::site::Extra;
use super::text;
use crate::series::record::{Applied, AppliedFile, AppliedHunk, AppliedMend, AppliedPatch};

/// A patch is shown to this many bytes; the whole is in a file beside the page.
const SHOWN_BYTES: usize = 48 << 10;

/// Mends of a patch that are shown.
const SHOWN_MENDS: usize = 100;
/// Characters of an added line that are shown.
const SHOWN_COLUMNS: usize = 300;

/// One variant's section.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    name: String,
    kernel: Option<KernelFacts>,
    /// Settings of its own, as JSON; none when there are none.
    settings: Option<String>,
    /// It was not booted: it is the base to the bit.
    left_out: bool,
    series: Option<SeriesFacts>,
}

#[derive(Debug, Serialize)]
struct KernelFacts {
    release: String,
    hash: String,
    tree: String,
    commit: String,
    config: String,
    toolchain: String,
    built_at: String,
    build_time: String,
    size: String,
    /// SHA-256 of what is booted, where it was recorded.
    image: Option<String>,
}

#[derive(Debug, Serialize)]
struct SeriesFacts {
    name: String,
    title: String,
    source: String,
    /// The series was undone.
    reverse: bool,
    patches: Vec<PatchFacts>,
    /// How it was applied, where that is not in a form this report knows.
    applied: Option<String>,
}

#[derive(Debug, Serialize)]
struct PatchFacts {
    name: String,
    /// Added lines that the tree does not have as the patch has them.
    rewrites: Vec<RewriteFacts>,
    /// How each file was changed: `fs/file.c: 3 hunks in place`.
    applied: Vec<String>,
    /// What else was put right, a line each.
    mends: Vec<String>,
    /// The text below is not to the byte what was applied.
    lossy: bool,
    lines: Vec<DiffLine>,
    is_cut: bool,
    link: String,
}

#[derive(Debug, Serialize)]
struct DiffLine {
    /// `added`, `removed`, `hunk`, or empty.
    kind: &'static str,
    text: String,
}

/// An added line as it was and as it is.
#[derive(Debug, PartialEq, Serialize)]
struct RewriteFacts {
    /// Where, and why.
    place: String,
    was: String,
    now: String,
}

/// Every variant's section, and the patches as files.
pub(super) fn made(record: &Record) -> (Vec<Made>, Vec<Extra>) {
    let mut extras = Vec::new();
    let both = record.trial.variants.iter().zip(&record.built);
    let made = both.map(|(variant, built)| Made {
        name: variant.name.clone(),
        kernel: built.kernel.as_ref().map(kernel),
        settings: settings(&variant.settings_json),
        left_out: variant.left_out && variant.position > 0,
        series: series(record.number(), variant, built, &mut extras),
    });
    (made.collect(), extras)
}

fn kernel(kernel: &Kernel) -> KernelFacts {
    KernelFacts {
        release: kernel.release.clone(),
        hash: kernel.hash.clone(),
        tree: kernel.tree_oid.clone(),
        commit: kernel.commit_oid.clone(),
        config: kernel.config_hash.clone(),
        toolchain: kernel.toolchain.clone(),
        built_at: format::when(kernel.built_at),
        build_time: format::duration(kernel.build_ms),
        size: format::size(kernel.size_bytes),
        image: kernel.image_sha256.clone(),
    }
}

fn settings(json: &str) -> Option<String> {
    (!matches!(json.trim(), "" | "{}" | "null")).then(|| text::pretty_json(json))
}

fn series(
    trial: i64,
    variant: &Variant,
    built: &Built,
    extras: &mut Vec<Extra>,
) -> Option<SeriesFacts> {
    let series = built.series.as_ref()?;
    let applied: Option<Applied> = serde_json::from_str(&variant.applied_json).ok();
    let patch = |(position, patch): (usize, &PatchText)| {
        // The suffix keeps a browser from taking a patch for HTML.
        let link = format!(
            "trial-{trial}-{}-{}.patch.txt",
            variant.position,
            position + 1
        );
        extras.push(Extra {
            name: link.clone(),
            bytes: patch.text.clone().into_bytes(),
        });
        let shown = head(&patch.text);
        let done = applied.as_ref();
        let done = done.and_then(|all| of_patch(all, position, &patch.name));
        PatchFacts {
            name: patch.name.clone(),
            rewrites: done.map_or(Vec::new(), rewrites),
            applied: done.map_or(Vec::new(), |done| done.files.iter().map(file).collect()),
            mends: done.map_or(Vec::new(), mends),
            lossy: done.is_some_and(|done| done.lossy),
            lines: shown.lines().map(diff_line).collect(),
            is_cut: shown.len() < patch.text.len(),
            link,
        }
    };
    Some(SeriesFacts {
        name: series.name.clone(),
        title: series.title.clone(),
        source: series.source.clone(),
        reverse: applied.as_ref().is_some_and(|applied| applied.reverse),
        patches: series.patches.iter().enumerate().map(patch).collect(),
        applied: match applied {
            Some(_) => None,
            None => settings(&variant.applied_json),
        },
    })
}

fn head(patch: &str) -> &str {
    &patch[..patch.floor_char_boundary(SHOWN_BYTES)]
}

fn diff_line(line: &str) -> DiffLine {
    let kind = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "hunk",
        [b'@', b'@', ..] => "hunk",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        _ => "",
    };
    DiffLine {
        kind,
        text: line.to_owned(),
    }
}

/// How the patch at this position went in; its name must agree.
fn of_patch<'a>(applied: &'a Applied, position: usize, name: &str) -> Option<&'a AppliedPatch> {
    let patch = applied.patches.get(position);
    let patch = patch.filter(|patch| patch.name == name);
    patch.or_else(|| applied.patches.iter().find(|patch| patch.name == name))
}

fn file(file: &AppliedFile) -> String {
    let moved = |hunk: &&AppliedHunk| rung(hunk).is_some() || hunk.offset != 0 || hunk.fuzz != 0;
    let total = format::count(file.hunks.len(), "hunk");
    let moved: Vec<String> = file.hunks.iter().filter(moved).map(hunk).collect();
    let path = match &file.named {
        Some(named) => format!("{} ({named} in the patch)", file.path),
        None => file.path.clone(),
    };
    if moved.is_empty() {
        format!("{path}: {total}, in place")
    } else {
        format!("{path}: {total}; {}", moved.join("; "))
    }
}

fn hunk(hunk: &AppliedHunk) -> String {
    let mut said = format!("line {}", hunk.line);
    if let Some(rung) = rung(hunk) {
        said += &format!(", {rung}");
    }
    if hunk.offset != 0 {
        said += &format!(", offset {}", format::signed(hunk.offset as f64, 0));
    }
    if hunk.fuzz != 0 {
        said += &format!(", fuzz {}", hunk.fuzz);
    }
    said
}

/// The rung, where offset and fuzz do not say it already.
fn rung(hunk: &AppliedHunk) -> Option<&str> {
    let rung = hunk.rung.as_deref()?;
    (!["exact", "offset", "fuzz"].contains(&rung)).then_some(rung)
}

/// The mends of a patch, each with its place.
fn placed(patch: &AppliedPatch) -> impl Iterator<Item = (&AppliedMend, String)> {
    let read = patch.mends.iter().map(|mend| {
        let of = mend.path.iter().map(|path| format!(", {path}"));
        let place = format!("line {} of the patch{}", mend.line, of.collect::<String>());
        (mend, place)
    });
    let applied = patch.files.iter().flat_map(|file| {
        let path = |mend: &AppliedMend| mend.path.clone().unwrap_or_else(|| file.path.clone());
        let line = move |mend| (mend, format!("{}:{}", path(mend), mend.line));
        file.mends.iter().map(line)
    });
    read.chain(applied)
}

fn sentence(mend: &AppliedMend) -> String {
    let known = MendKind::named(&mend.kind).map(MendKind::sentence);
    known.unwrap_or(&mend.kind).to_owned()
}

fn rewrites(patch: &AppliedPatch) -> Vec<RewriteFacts> {
    let changed = placed(patch).filter_map(|(mend, place)| {
        let added = mend.added.as_ref()?;
        Some(RewriteFacts {
            place: format!("{place}: {}", sentence(mend)),
            was: with_tabs_shown(&added.was),
            now: with_tabs_shown(&added.now),
        })
    });
    changed.take(SHOWN_MENDS).collect()
}

fn mends(patch: &AppliedPatch) -> Vec<String> {
    let quiet = || placed(patch).filter(|(mend, _)| mend.added.is_none());
    let line = |(mend, place): (&AppliedMend, String)| match mend.lines {
        0 | 1 => format!("{place}: {}", sentence(mend)),
        lines => format!("{place}: {} ({lines} lines)", sentence(mend)),
    };
    let mut lines: Vec<String> = quiet().take(SHOWN_MENDS).map(line).collect();
    let loud = placed(patch).count() - quiet().count();
    let more = quiet().count().saturating_sub(SHOWN_MENDS) + loud.saturating_sub(SHOWN_MENDS);
    if more > 0 {
        lines.push(format!("and {more} more, in the trial's JSON file"));
    }
    lines
}

/// A line whose blanks and tabs can be told apart.
fn with_tabs_shown(line: &str) -> String {
    text::cut(&line.replace('\t', "\u{21e5}\t"), SHOWN_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_that_moved_are_named() {
        let json = r#"{"patches": [{"name": "p", "files": [
            {"path": "fs/file.c", "hunks": [
                {"line": 10, "offset": 0, "fuzz": 0},
                {"line": 512, "offset": -3, "fuzz": 1},
                {"line": 600, "offset": 12, "fuzz": 0}]},
            {"path": "fs/open.c", "hunks": [{"line": 1, "offset": 0, "fuzz": 0}]}]}]}"#;
        let applied: Applied = serde_json::from_str(json).unwrap();
        let patch = of_patch(&applied, 0, "p").unwrap();
        let lines: Vec<String> = patch.files.iter().map(file).collect();
        assert_eq!(
            lines.join("\n").replace('\u{a0}', " "),
            "fs/file.c: 3 hunks; line 512, offset \u{2212}3, fuzz 1; line 600, offset +12\n\
             fs/open.c: 1 hunk, in place"
        );
        assert!(of_patch(&applied, 0, "another").is_none());
        assert!(rewrites(patch).is_empty() && mends(patch).is_empty());
    }

    #[test]
    fn rungs_names_and_mends_are_told_and_changed_lines_apart() {
        let json = r#"{"patches": [{"name": "p",
            "mends": [{"kind": "quotation", "line": 34, "lines": 3}],
            "files": [{"path": "fs/file.c", "named": "fs/fd.c",
                "hunks": [{"line": 10, "offset": 0, "fuzz": 0, "rung": "exact"},
                          {"line": 20, "offset": 2, "fuzz": 0, "rung": "whitespace"},
                          {"line": 30, "offset": 0, "fuzz": 0, "rung": "merge"}],
                "mends": [{"kind": "whitespace", "path": "fs/file.c", "line": 12, "lines": 1,
                           "added": {"was": "        int n;", "now": "\tint n;"}},
                          {"kind": "of-tomorrow", "line": 30, "lines": 1}]}]}]}"#;
        let applied: Applied = serde_json::from_str(json).unwrap();
        let patch = of_patch(&applied, 0, "p").unwrap();
        assert_eq!(
            file(&patch.files[0]).replace('\u{a0}', " "),
            "fs/file.c (fs/fd.c in the patch): 3 hunks; line 20, whitespace, offset +2; \
             line 30, merge"
        );
        let changed = RewriteFacts {
            place: "fs/file.c:12: blanks and tabs differ from the file's".into(),
            was: "        int n;".into(),
            now: "\u{21e5}\tint n;".into(),
        };
        assert_eq!(rewrites(patch), [changed]);
        assert_eq!(
            mends(patch),
            [
                "line 34 of the patch: `> ` taken off (3 lines)",
                "fs/file.c:30: of-tomorrow",
            ]
        );
    }

    #[test]
    fn lines_of_a_diff_are_told_apart() {
        let kinds = ["+++ b/f", "--- a/f", "@@ -1 +1 @@", "+x", "-x", " x", ""];
        let kinds = kinds.map(|line| diff_line(line).kind);
        assert_eq!(kinds, ["hunk", "hunk", "hunk", "added", "removed", "", ""]);
    }

    #[test]
    fn a_long_patch_is_cut_between_letters() {
        let patch = "\u{e9}".repeat(SHOWN_BYTES);
        assert_eq!(head(&patch).len(), SHOWN_BYTES);
        assert_eq!(head(&format!("a{patch}")).len(), SHOWN_BYTES - 1);
    }
}
