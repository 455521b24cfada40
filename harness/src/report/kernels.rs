//! What each variant was made of: kernel, series, patches, and how these were applied.

use ktrial_db::{Kernel, PatchText, Variant};
use serde::{Deserialize, Serialize};

use super::format;
use super::record::{Built, Record};
use super::site::Extra;
use super::text;

/// A patch is shown to this many bytes; the whole is in a file beside the page.
const SHOWN_BYTES: usize = 48 << 10;

/// One variant's section.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    name: String,
    kernel: Option<KernelFacts>,
    /// Settings of its own, as JSON; none when there are none.
    settings: Option<String>,
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
}

#[derive(Debug, Serialize)]
struct SeriesFacts {
    name: String,
    title: String,
    source: String,
    patches: Vec<PatchFacts>,
    /// How it was applied, where that is not in a form this report knows.
    applied: Option<String>,
}

#[derive(Debug, Serialize)]
struct PatchFacts {
    name: String,
    /// How each file was changed: `fs/file.c: 3 hunks in place`.
    applied: Vec<String>,
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

/// How a series was applied, as a trial stores it.
#[derive(Debug, Deserialize)]
struct Applied {
    patches: Vec<AppliedPatch>,
}

#[derive(Debug, Deserialize)]
struct AppliedPatch {
    name: String,
    files: Vec<AppliedFile>,
}

#[derive(Debug, Deserialize)]
struct AppliedFile {
    path: String,
    hunks: Vec<AppliedHunk>,
}

#[derive(Debug, Deserialize)]
struct AppliedHunk {
    line: u64,
    offset: i64,
    fuzz: u64,
}

/// Every variant's section, and the patches as files.
pub(super) fn made(record: &Record) -> (Vec<Made>, Vec<Extra>) {
    let mut extras = Vec::new();
    let both = record.trial.variants.iter().zip(&record.built);
    let made = both.map(|(variant, built)| Made {
        name: variant.name.clone(),
        kernel: built.kernel.as_ref().map(kernel),
        settings: settings(&variant.settings_json),
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
        PatchFacts {
            name: patch.name.clone(),
            applied: applied
                .as_ref()
                .map_or(Vec::new(), |all| how(all, position, &patch.name)),
            lines: shown.lines().map(diff_line).collect(),
            is_cut: shown.len() < patch.text.len(),
            link,
        }
    };
    Some(SeriesFacts {
        name: series.name.clone(),
        title: series.title.clone(),
        source: series.source.clone(),
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

/// How the patch at this position went in, file by file; its name must agree.
fn how(applied: &Applied, position: usize, name: &str) -> Vec<String> {
    let patch = applied
        .patches
        .get(position)
        .filter(|patch| patch.name == name);
    let found = patch.or_else(|| applied.patches.iter().find(|patch| patch.name == name));
    found.map_or(Vec::new(), |patch| patch.files.iter().map(file).collect())
}

fn file(file: &AppliedFile) -> String {
    let moved = |hunk: &&AppliedHunk| hunk.offset != 0 || hunk.fuzz != 0;
    let total = format::count(file.hunks.len(), "hunk");
    let moved: Vec<String> = file.hunks.iter().filter(moved).map(hunk).collect();
    if moved.is_empty() {
        format!("{}: {total}, in place", file.path)
    } else {
        format!("{}: {total}; {}", file.path, moved.join("; "))
    }
}

fn hunk(hunk: &AppliedHunk) -> String {
    let mut said = format!("line {}", hunk.line);
    if hunk.offset != 0 {
        said += &format!(", offset {}", format::signed(hunk.offset as f64, 0));
    }
    if hunk.fuzz != 0 {
        said += &format!(", fuzz {}", hunk.fuzz);
    }
    said
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
        let applied = serde_json::from_str(json).unwrap();
        assert_eq!(
            how(&applied, 0, "p").join("\n").replace('\u{a0}', " "),
            "fs/file.c: 3 hunks; line 512, offset \u{2212}3, fuzz 1; line 600, offset +12\n\
             fs/open.c: 1 hunk, in place"
        );
        assert!(how(&applied, 0, "another").is_empty());
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
