//! How a series was applied, told to people: in a line, loudly where an added line is not as the
//! patch has it, and hunk by hunk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use ktrial_patches::apply::{AppliedFile, AppliedHunk, Rung};
use ktrial_patches::catalogue::Series;
use ktrial_patches::{Change, Mend, MendKind, Rewrite};

use super::Outcome;
use crate::terminal::headline;
use crate::terminal::plain;

/// Lines of one kind that are printed; a hostile patch can ask for millions.
const MOST_LINES: usize = 200;

/// Characters of a line of code that are printed.
const LONGEST_LINE: usize = 160;

/// In one line: `x applies: 2 patches, 7 hunks: 5 exact, 2 offset; 1 mend`.
pub fn summary(name: &str, outcome: &Outcome) -> String {
    let patches = outcome.applied.patches.len();
    if patches == 0 {
        return format!("{name}: no patches, both variants are the same kernel");
    }
    let files = || outcome.applied.patches.iter().flat_map(|p| &p.files);
    let mut rungs: BTreeMap<Rung, usize> = BTreeMap::new();
    for hunk in files().flat_map(|file| &file.hunks) {
        *rungs.entry(hunk.rung).or_default() += 1;
    }
    let hunks: usize = rungs.values().sum();
    let how = match rungs.keys().next_back() {
        None | Some(Rung::Exact) => "exactly".to_owned(),
        Some(_) => {
            let each = rungs.iter().map(|(rung, n)| format!("{n} {}", rung.name()));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    let verb = if outcome.reverse {
        "is undone"
    } else {
        "applies"
    };
    let mut line = format!(
        "{name} {verb}: {}, {}: {how}",
        count(patches, "patch", "patches"),
        count(hunks, "hunk", "hunks")
    );
    let elsewhere = files().filter(|file| file.named.is_some()).count();
    if elsewhere > 0 {
        let files = count(elsewhere, "file", "files");
        let _ = write!(line, "; {files} under another name");
    }
    match mends(outcome).len() {
        0 => {}
        n => {
            let _ = write!(line, "; {}", count(n, "mend", "mends"));
        }
    }
    line
}

/// The lines that must not be overlooked: what the tree has is not what the patch adds, or what the
/// patch adds had lost something before.
pub fn loud(outcome: &Outcome) -> Vec<String> {
    let patches = outcome.applied.patches.iter();
    let placed = patches.flat_map(|patch| {
        let of_this = patch.files.iter().flat_map(|file| &file.mends);
        of_this.map(|mend| (patch.name.as_str(), mend))
    });
    let read = outcome.patches.iter().flat_map(|patch| {
        let of_this = patch.mends.iter();
        of_this.map(|mend| (patch.name.as_str(), mend))
    });
    let added = read.chain(placed).filter_map(|(patch, mend)| {
        let rewrite = mend.added.as_ref()?;
        Some((patch, mend, rewrite))
    });
    let (kept, changed): (Vec<_>, Vec<_>) = added.partition(|(_, _, line)| line.was == line.now);
    let is = |n| count(n, "added line is", "added lines are");
    let mut lines = Vec::new();
    if !changed.is_empty() {
        let are = is(changed.len());
        lines.push(format!("ATTENTION: {are} not in the tree as in the patch:"));
        lines.extend(by_patch(&changed));
    }
    if !kept.is_empty() {
        lines.push(format!(
            "ATTENTION: {} as in the patch, but may have lost blanks, tabs or text before:",
            is(kept.len())
        ));
        lines.extend(by_patch(&kept));
    }
    lines.extend(listed(outcome.taken.iter().map(taken).collect()));
    lines
}

/// A commit that was found outside the base's history.
fn taken((patch, from): &(String, String)) -> String {
    match from.as_str() {
        "" => format!("note: {patch} is taken from beside the base, whose history lacks it"),
        from => format!("note: {patch} is taken from {from}; the base's history lacks it"),
    }
}

/// The added lines below the names of their patches.
fn by_patch(added: &[(&str, &Mend, &Rewrite)]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last = None;
    for &(patch, mend, Rewrite { was, now }) in added {
        if last != Some(patch) {
            lines.push(format!("  {patch}"));
            last = Some(patch);
        }
        let file = mend.path.as_deref().map(|path| format!("{path}:"));
        let place = format!("{}{}", file.unwrap_or_default(), mend.line);
        let why = match mend.kind {
            MendKind::Whitespace => String::new(),
            kind => format!(" ({})", kind.sentence()),
        };
        lines.push(match was == now {
            true => format!("    {place}: `{}`{why}", code(now)),
            false => format!("    {place}: `{}` is now `{}`{why}", code(was), code(now)),
        });
    }
    listed(lines)
}

/// A line of a patch or tree in which tabs can be told from blanks, cut where it is too long.
fn code(line: &[u8]) -> String {
    let line = &line[..line.len().min(4 * LONGEST_LINE)];
    let text = plain(String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']));
    let more = text.chars().nth(LONGEST_LINE).is_some();
    let mut text: String = text.chars().take(LONGEST_LINE).collect();
    if more {
        text.push('…');
    }
    text.replace('\t', "\\t")
}

/// All of it: what is loud first, then every hunk, the other mends, and the mails left out.
pub fn full(series: &Series, outcome: &Outcome) -> String {
    let mut lines = loud(outcome);
    for (patch, read) in outcome.applied.patches.iter().zip(&outcome.patches) {
        let title = read.header.title();
        lines.push(match title.is_empty() || title == patch.name {
            true => patch.name.clone(),
            false => format!("{}  {title}", patch.name),
        });
        lines.extend(stripped(&patch.files));
        lines.extend(patch.files.iter().flat_map(file));
        let already = patch.already.iter();
        lines.extend(already.map(|path| format!("  {path}  is as the patch makes it already")));
    }
    let all = mends(outcome).into_iter();
    let quiet: Vec<String> = all
        .filter(|(mend, _)| !mend.changes_added())
        .map(|(_, line)| format!("mended: {line}"))
        .collect();
    lines.extend(listed(quiet));
    lines.extend(left_out(series));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The mails in the files of a series that are no part of it.
pub fn left_out(series: &Series) -> Vec<String> {
    let mails = series.left_out.iter();
    let line = mails.map(|mail| {
        format!(
            "left out: {}:{}: \"{}\": {}",
            plain(&mail.name),
            mail.line,
            headline(&mail.subject),
            mail.why
        )
    });
    listed(line.collect())
}

/// What was put right to read the patches of a series.
pub fn read_mends<'a>(patches: impl IntoIterator<Item = &'a ktrial_patches::Patch>) -> Vec<String> {
    let each = patches
        .into_iter()
        .flat_map(|patch| patch.mends.iter().map(|mend| of_patch(&patch.name, mend)));
    listed(each.collect())
}

/// Every mend with its line: of the patches, then of the files.
fn mends(outcome: &Outcome) -> Vec<(&Mend, String)> {
    let read = outcome.patches.iter().flat_map(|patch| {
        let of_this = patch.mends.iter();
        of_this.map(|mend| (mend, of_patch(&patch.name, mend)))
    });
    let placed = outcome.applied.patches.iter().flat_map(|patch| {
        let of_this = patch.files.iter().flat_map(|file| &file.mends);
        of_this.map(|mend| (mend, format!("{}: {mend}", patch.name)))
    });
    read.chain(placed).collect()
}

/// A mend of reading: its line is one of the patch, whatever file it is about.
fn of_patch(name: &str, mend: &Mend) -> String {
    let plain = Mend {
        path: None,
        ..mend.clone()
    };
    match &mend.path {
        Some(path) => format!("{name}:{plain}, in {path}"),
        None => format!("{name}:{plain}"),
    }
}

/// What was taken off the names of a patch, each once: `  names without /usr/src/ (-p3)`.
fn stripped(files: &[AppliedFile]) -> Vec<String> {
    let prefixes: BTreeSet<&str> = files.iter().map(|file| file.stripped.as_str()).collect();
    let prefixes = prefixes.into_iter().filter(|prefix| !prefix.is_empty());
    let line = |prefix: &str| {
        let levels = prefix.matches('/').count();
        format!("  names in the patch without `{prefix}` (-p{levels})")
    };
    listed(prefixes.map(line).collect())
}

fn file(file: &AppliedFile) -> Vec<String> {
    let mut lines = Vec::new();
    let whole = match file.change {
        Change::Modify if file.hunks.is_empty() => Some("changed without hunks: mode or binary"),
        Change::Modify => None,
        Change::Create => Some("made"),
        Change::Delete => Some("removed"),
        Change::Rename => Some("renamed"),
        Change::Copy => Some("copied"),
    };
    if let Some(whole) = whole {
        lines.push(format!("  {}  {whole}", file.path));
    }
    if let Some(named) = &file.named {
        lines.push(format!("  {}  is {named} in the patch", file.path));
    }
    let hunks = file.hunks.iter();
    lines.extend(hunks.map(|hunk| format!("  {}:{}  {}", file.path, hunk.line, how(hunk))));
    lines
}

/// `exact`, `offset 12`, `merge`, `fuzz 1, offset -3`.
fn how(hunk: &AppliedHunk) -> String {
    let mut words = Vec::new();
    match hunk.rung {
        Rung::Offset => {}
        Rung::Fuzz => words.push(format!("fuzz {}", hunk.fuzz)),
        rung => words.push(rung.name().to_owned()),
    }
    if hunk.offset != 0 {
        words.push(format!("offset {}", hunk.offset));
    }
    if hunk.fuzz != 0 && hunk.rung != Rung::Fuzz {
        words.push(format!("fuzz {}", hunk.fuzz));
    }
    words.join(", ")
}

/// The first 200 of these lines, and how many more there are.
pub fn listed(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("  … and {more} more"));
    }
    lines
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::fixture::{changed, hunk, mend, outcome};

    #[test]
    fn every_hunk_says_how_it_found_its_place() {
        let words = [
            (hunk(1, Rung::Exact, 0, 0), "exact"),
            (hunk(1, Rung::Offset, 12, 0), "offset 12"),
            (hunk(1, Rung::Merge, 0, 0), "merge"),
            (hunk(1, Rung::Fuzz, -3, 1), "fuzz 1, offset -3"),
            (hunk(1, Rung::Whitespace, 7, 0), "whitespace, offset 7"),
            (hunk(1, Rung::Markup, 0, 2), "markup, fuzz 2"),
        ];
        for (hunk, word) in words {
            assert_eq!(how(&hunk), word);
        }
    }

    #[test]
    fn the_summary_counts_rungs_from_the_strongest_down() {
        let exact = outcome(vec![changed(vec![hunk(1, Rung::Exact, 0, 0)])], Vec::new());
        assert_eq!(summary("x", &exact), "x applies: 1 patch, 1 hunk: exactly");
        let hunks = vec![
            hunk(9, Rung::Whitespace, 0, 0),
            hunk(1, Rung::Exact, 0, 0),
            hunk(5, Rung::Exact, 0, 0),
        ];
        let moved = AppliedFile {
            named: Some("sys/kern/exec.c".into()),
            mends: vec![mend(MendKind::Whitespace, None)],
            ..changed(hunks)
        };
        assert_eq!(
            summary("x", &outcome(vec![moved], Vec::new())),
            "x applies: 1 patch, 3 hunks: 2 exact, 1 whitespace; 1 file under another name; 1 mend"
        );
    }

    #[test]
    fn a_changed_added_line_comes_first_with_both_readings() {
        let rewrite = Rewrite {
            was: b"        int n;\n".to_vec(),
            now: b"\tint n;\n".to_vec(),
        };
        let file = AppliedFile {
            mends: vec![
                mend(MendKind::LineEnds, None),
                mend(MendKind::Whitespace, Some(rewrite)),
            ],
            ..changed(vec![hunk(10, Rung::Whitespace, 0, 0)])
        };
        let quoted = Mend {
            path: None,
            line: 34,
            lines: 3,
            ..mend(MendKind::Quotation, None)
        };
        let outcome = outcome(vec![file], vec![quoted]);
        let series = Series::from_bytes("one.patch", &outcome.patches[0].source);
        let text = full(&series.unwrap(), &outcome);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "ATTENTION: 1 added line is not in the tree as in the patch:",
                "  one.patch",
                "    sys/kern/kern_exec.c:12: `        int n;` is now `\\tint n;`",
                "one.patch",
                "  sys/kern/kern_exec.c:10  whitespace",
                "mended: one.patch:34: `> ` taken off (3 lines)",
                "mended: one.patch: sys/kern/kern_exec.c:12: line ends made those of the file",
            ]
        );
    }

    #[test]
    fn an_added_line_that_stands_as_it_is_is_told_apart_from_a_changed_one() {
        let same = |text: &[u8]| Rewrite {
            was: text.to_vec(),
            now: text.to_vec(),
        };
        let file = AppliedFile {
            mends: vec![
                mend(MendKind::Markup, Some(same(b"#include\n"))),
                mend(MendKind::Whitespace, Some(same(b"int \x1b[1mn;\n"))),
            ],
            ..changed(vec![hunk(10, Rung::Markup, 0, 0)])
        };
        assert_eq!(
            loud(&outcome(vec![file], Vec::new())),
            [
                "ATTENTION: 2 added lines are as in the patch, but may have lost blanks, tabs or \
                 text before:",
                "  one.patch",
                "    sys/kern/kern_exec.c:12: `#include` (`<…>` is gone)",
                "    sys/kern/kern_exec.c:12: `int [1mn;`",
            ]
        );
    }

    #[test]
    fn what_was_taken_off_the_names_is_told_once() {
        let file = |stripped: &str| AppliedFile {
            stripped: stripped.into(),
            ..changed(vec![hunk(1, Rung::Exact, 0, 0)])
        };
        let files = [file("/usr/src/"), file(""), file("/usr/src/"), file("old/")];
        // GNU `patch -p3` takes `/`, `usr/` and `src/` off.
        assert_eq!(
            stripped(&files),
            [
                "  names in the patch without `/usr/src/` (-p3)",
                "  names in the patch without `old/` (-p1)",
            ]
        );
    }

    #[test]
    fn what_a_hostile_patch_makes_long_is_cut_and_counted() {
        let lines = listed((0..1_000).map(|n| n.to_string()).collect());
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines[MOST_LINES], "  … and 800 more");
    }
}
