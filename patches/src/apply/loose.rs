//! Added lines put right where the patch was damaged on its way: what became
//! of the lines that the tree still has tells what became of the added ones.
//! Every added line that is changed, or may be wrong, is reported.

use std::collections::{HashMap, HashSet};

use super::AppliedHunk;
use super::damage::{Damage, indentation};
use super::form::{Form, decoded, split_end};
use super::habits::Habits;
use super::journey::{Journey, Pair, Verdict, is_bare_include, looks_escaped};
use super::place::Place;
use super::style;
use crate::{Hunk, Line, LineKind, Mend, MendKind, Rewrite};

/// The hunks as they should be put into the file.
pub(super) struct Restored {
    pub hunks: Vec<Hunk>,
    /// What the lines of the file show of the patch's way.
    pub journey: Journey,
    notes: Vec<Note>,
}

/// A mend whose line in the patched file is not known yet.
struct Note {
    kind: MendKind,
    hunk: usize,
    /// Lines of the hunk's new side before the first that it is about.
    after: usize,
    lines: usize,
    added: Option<Rewrite>,
}

impl Restored {
    /// The mends, once it is known where the hunks came to stand.
    pub(super) fn mends(self, applied: &[AppliedHunk]) -> Vec<Mend> {
        let mend = |note: Note| Mend {
            kind: note.kind,
            path: None,
            line: applied
                .get(note.hunk)
                .map_or(1, |hunk| hunk.line + note.after),
            lines: note.lines,
            added: note.added,
        };
        self.notes.into_iter().map(mend).collect()
    }
}

/// The hunks with their added lines put right for the file's `lines`. What they
/// do not show is taken from what all files of the patch show, `patch`.
pub(super) fn restore(
    lines: &[&[u8]],
    hunks: &[Hunk],
    places: &[Place],
    patch: Journey,
) -> Restored {
    let aligned: Vec<Vec<Option<&[u8]>>> = hunks
        .iter()
        .zip(places)
        .map(|(hunk, place)| aligned(lines, hunk, place))
        .collect();
    let repair = Repair::new(lines, hunks, &aligned, patch);
    let mut restored = Restored {
        hunks: Vec::with_capacity(hunks.len()),
        journey: repair.shown,
        notes: Vec::new(),
    };
    for (index, hunk) in hunks.iter().enumerate() {
        let (place, aligned) = (&places[index], &aligned[index]);
        restored
            .notes
            .extend(found_loosely(index, hunk, place, aligned));
        let work = Work {
            repair: &repair,
            hunk,
            aligned,
            at: place.at,
        };
        let (hunk, notes) = work.restore(index);
        restored.hunks.push(hunk);
        restored.notes.extend(notes);
    }
    restored
}

/// For each line of a hunk, the line of the file that it stands for: none for
/// added lines and for context that was left out.
fn aligned<'a>(lines: &[&'a [u8]], hunk: &Hunk, place: &Place) -> Vec<Option<&'a [u8]>> {
    let mut at = place.at;
    let last = hunk.lines.len() - place.trim.end;
    let stands_for = |(index, line): (usize, &Line)| {
        if line.kind == LineKind::Added {
            return None;
        }
        at += 1;
        let used = index >= place.trim.start && index < last;
        lines.get(at - 1).copied().filter(|_| used)
    };
    hunk.lines.iter().enumerate().map(stands_for).collect()
}

/// One mend for the lines of a hunk that are not byte for byte those of the file.
fn found_loosely(
    index: usize,
    hunk: &Hunk,
    place: &Place,
    aligned: &[Option<&[u8]>],
) -> Option<Note> {
    let differs =
        |(line, tree): &(&Line, &Option<&[u8]>)| tree.is_some_and(|tree| tree != line.bytes);
    let pairs = || hunk.lines.iter().zip(aligned);
    let first = pairs().position(|pair| differs(&pair))?;
    let only_ends = |(line, tree): (&Line, &Option<&[u8]>)| {
        tree.is_none_or(|tree| split_end(tree).0 == split_end(&line.bytes).0)
    };
    let kind = match place.form {
        Form::Markup if pairs().any(|(line, _)| decoded(&line.bytes) != line.bytes) => {
            MendKind::Entities
        }
        Form::Markup => MendKind::Markup,
        _ if pairs().all(only_ends) => MendKind::LineEnds,
        _ => MendKind::Whitespace,
    };
    let stays = |line: &&Line| line.kind != LineKind::Removed;
    Some(Note {
        kind,
        hunk: index,
        after: hunk.lines[..first].iter().filter(stays).count(),
        lines: pairs().filter(differs).count(),
        added: None,
    })
}

/// What is known of the damage to one file of a patch.
struct Repair<'a> {
    /// What the file itself shows.
    shown: Journey,
    /// What became of blanks, here or else in other files.
    blanks: Verdict,
    /// The text looks like the source of a page.
    escaped: bool,
    /// It is one.
    decodes: bool,
    /// Line ends differ.
    ends: bool,
    habits: Option<Habits<'a>>,
    unit: Vec<u8>,
}

impl<'a> Repair<'a> {
    fn new(
        lines: &'a [&'a [u8]],
        hunks: &[Hunk],
        aligned: &[Vec<Option<&[u8]>>],
        patch: Journey,
    ) -> Self {
        let patch_lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        let pairs = patch_lines.zip(aligned.iter().flatten());
        let pairs: Vec<(&Line, &[u8])> = pairs
            .filter_map(|(line, tree)| Some((line, (*tree)?)))
            .collect();
        let entities = |(line, tree): &(&Line, &[u8])| {
            let plain = decoded(&line.bytes);
            plain != line.bytes && Form::Blanks.same(&plain, tree)
        };
        let ends = |(line, tree): &(&Line, &[u8])| split_end(&line.bytes).1 != split_end(tree).1;
        let texts: Vec<Pair> = pairs
            .iter()
            .map(|(line, tree)| Pair {
                kind: line.kind,
                patch: split_end(&line.bytes).0,
                tree: split_end(tree).0,
            })
            .collect();
        let shown = Journey::new(&texts, pairs.iter().any(entities));
        let blanks = shown.verdict(&patch);
        let rule = blanks.rule;
        let escaped = looks_escaped(hunks);
        Repair {
            shown,
            blanks,
            escaped,
            decodes: shown.entities || (patch.entities && escaped),
            ends: pairs.iter().any(ends),
            habits: (rule != Damage::None).then(|| Habits::new(rule, lines)),
            unit: style::unit(lines),
        }
    }
}

/// The repair of one hunk.
struct Work<'a> {
    repair: &'a Repair<'a>,
    hunk: &'a Hunk,
    aligned: &'a [Option<&'a [u8]>],
    /// The index of the file's line at which the hunk starts.
    at: usize,
}

/// Lines that a hunk removes, by what the patch has for them.
#[derive(Default)]
struct Removed<'a> {
    /// The file's line, where all of them stand for the same.
    trees: HashMap<&'a [u8], Option<&'a [u8]>>,
    /// The runs of changes they are in.
    runs: HashSet<(usize, &'a [u8])>,
}

impl Work<'_> {
    fn restore(&self, index: usize) -> (Hunk, Vec<Note>) {
        let removed = self.removed();
        let runs = runs(self.hunk);
        let mut hunk = self.hunk.clone();
        let mut notes: Vec<Note> = Vec::new();
        // The new side so far, for the style at a place.
        let mut above: Vec<Vec<u8>> = Vec::new();
        let (mut at, mut end) = (self.at, self.first_end());
        for (number, line) in hunk.lines.iter_mut().enumerate() {
            if line.kind != LineKind::Added {
                at += 1;
                let tree = self.aligned[number];
                end = tree.map_or(end, |tree| split_end(tree).1);
                if line.kind == LineKind::Context {
                    above.push(tree.map_or_else(|| line.bytes.clone(), <[u8]>::to_vec));
                }
                continue;
            }
            let rewritten = self.added(&line.bytes, runs[number], &removed, &above, at);
            let (kind, text) = rewritten.unzip();
            let (was, was_end) = split_end(&line.bytes);
            let text = text.unwrap_or_else(|| was.to_vec());
            let ends_too =
                self.repair.ends && !was_end.is_empty() && !end.is_empty() && was_end != end;
            let now = [&text[..], if ends_too { end } else { was_end }].concat();
            let note = |kind, added| Note {
                kind,
                hunk: index,
                after: above.len(),
                lines: 1,
                added: Some(added),
            };
            let rewrite = Rewrite {
                was: line.bytes.clone(),
                now: now.clone(),
            };
            match kind {
                Some(kind) => notes.push(note(kind, rewrite)),
                // A run of them is one mend.
                None if ends_too => match notes.last_mut() {
                    Some(last) if last.goes_on_at(above.len()) => last.lines += 1,
                    _ => notes.push(note(MendKind::LineEnds, rewrite)),
                },
                None => {}
            }
            above.push(now.clone());
            line.bytes = now;
        }
        (hunk, notes)
    }

    /// The line end of the first line of the file that the hunk shows.
    fn first_end(&self) -> &[u8] {
        let first = self.aligned.iter().flatten().next();
        first.map_or(b"", |line| split_end(line).1)
    }

    fn removed(&self) -> Removed<'_> {
        let mut removed = Removed::default();
        let runs = runs(self.hunk);
        for (number, line) in self.hunk.lines.iter().enumerate() {
            if let (LineKind::Removed, Some(tree)) = (line.kind, self.aligned[number]) {
                let text = split_end(&line.bytes).0.trim_ascii_end();
                let tree = split_end(tree).0;
                let one = removed.trees.entry(text).or_insert(Some(tree));
                *one = one.filter(|one| *one == tree);
                removed.runs.insert((runs[number], text));
            }
        }
        removed
    }

    /// What an added line should be, without its line end, and what was wrong
    /// with it. `None` where nothing was.
    fn added(
        &self,
        line: &[u8],
        run: usize,
        removed: &Removed,
        above: &[Vec<u8>],
        at: usize,
    ) -> Option<(MendKind, Vec<u8>)> {
        let was = split_end(line).0;
        let key = was.trim_ascii_end();
        let alike = removed.trees.get(key).copied();
        // A line that the patch takes from elsewhere in the hunk. In the same
        // run of changes it is another line that only looks the same.
        let same_run = removed.runs.contains(&(run, key));
        let moved = alike.flatten().filter(|_| !same_run);
        if is_bare_include(was) {
            let now = moved.filter(|tree| !is_bare_include(tree)).unwrap_or(was);
            return Some((MendKind::Markup, now.to_vec()));
        }
        let plain = decoded(was);
        let (kind, text) = match plain == was {
            true => (MendKind::Whitespace, plain),
            false if self.repair.decodes => (MendKind::Entities, plain),
            // No line that the file has tells whether to decode it.
            false if self.repair.escaped => return Some((MendKind::Entities, was.to_vec())),
            false => (MendKind::Whitespace, was.to_vec()),
        };
        let lost = self.repair.blanks.may_have_changed(&text);
        let now = match (&self.repair.habits, moved) {
            (None, _) => text,
            (Some(_), Some(tree)) if !key.is_empty() => tree.to_vec(),
            (Some(habits), _) => self.like_the_file(habits, &text, alike.is_some(), above, at),
        };
        (lost || now != was).then_some((kind, now))
    }

    /// The line with the blanks that the file would have at the place; `removed`
    /// says that the hunk takes one away that looks the same.
    fn like_the_file(
        &self,
        habits: &Habits,
        text: &[u8],
        removed: bool,
        above: &[Vec<u8>],
        at: usize,
    ) -> Vec<u8> {
        let like = habits.line_like(text).filter(|_| !removed);
        match (self.repair.blanks.rule.keeps_lengths(), like) {
            (true, Some(tree)) => habits.like(tree, text, at),
            (true, None) => habits.with_tabs(text, at),
            (false, _) if text.trim_ascii().is_empty() => text.to_vec(),
            // A line that stands elsewhere may be deeper there.
            (false, Some(tree)) => self.styled(text, tree, above),
            (false, None) => self.styled(text, &habits.with_first_gap(text, at), above),
        }
    }

    /// The line `now`, with the indentation that is the style at the place where
    /// the patch's has one, or may have lost it.
    fn styled(&self, was: &[u8], now: &[u8], above: &[Vec<u8>]) -> Vec<u8> {
        let text = &now[indentation(now).len()..];
        let flush = indentation(was).is_empty();
        let mut now = match flush && !self.repair.blanks.rule.hides_indentation() {
            true => Vec::new(),
            false => style::indent(above, text, &self.repair.unit),
        };
        now.extend_from_slice(text);
        now
    }
}

impl Note {
    /// Whether it is about line ends only, and the next line is this one.
    fn goes_on_at(&self, after: usize) -> bool {
        self.kind == MendKind::LineEnds && self.added.is_some() && self.after + self.lines == after
    }
}

/// For each line of a hunk, the number of the run of changes it is in: runs are
/// divided by context.
fn runs(hunk: &Hunk) -> Vec<usize> {
    let mut run = 0;
    let number = |line: &Line| {
        run += usize::from(line.kind == LineKind::Context);
        run
    };
    hunk.lines.iter().map(number).collect()
}
