//! What happened to a patch on its way, told from the lines that it shares with
//! the files of the tree, and from its text alone.

use super::damage::{Damage, RULES};
use super::form::{Form, decoded};
use crate::{Hunk, Line, LineKind};

/// A line of the patch beside the line of the tree that it stands for, both
/// without their line ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub kind: LineKind,
    pub patch: &'a [u8],
    pub tree: &'a [u8],
}

/// What files of a patch show of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Journey {
    /// Of blanks.
    blanks: Evidence,
    /// `&lt;` stands for `<`.
    pub entities: bool,
}

impl Journey {
    pub(super) fn new(pairs: &[Pair], entities: bool) -> Self {
        Journey {
            blanks: Evidence::of(pairs),
            entities,
        }
    }

    /// What two files of the same patch show.
    pub(super) fn and(self, other: Journey) -> Journey {
        Journey {
            blanks: self.blanks.and(other.blanks),
            entities: self.entities || other.entities,
        }
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.entities || self.verdict(&Journey::default()).rule != Damage::None
    }

    /// What became of the blanks of a file that shows this, in a patch whose
    /// files show `all`.
    pub(super) fn verdict(&self, all: &Journey) -> Verdict {
        self.blanks.verdict(&all.blanks)
    }
}

/// The lines that can tell what became of blanks, and how many of them each of
/// the rules explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Evidence {
    telling: usize,
    explained: [usize; RULES.len()],
}

/// What became of blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The rule that explains most.
    pub rule: Damage,
    /// That and the others that explain as much.
    equal: Vec<Damage>,
}

impl Verdict {
    /// Whether an added line that looks like this now may have had other blanks.
    pub(super) fn may_have_changed(&self, line: &[u8]) -> bool {
        let damaged = self.rule != Damage::None;
        damaged && self.equal.iter().any(|rule| rule.may_have_changed(line))
    }
}

impl Evidence {
    fn of(pairs: &[Pair]) -> Evidence {
        let mut evidence = Evidence::default();
        for pair in pairs.iter().filter(|pair| tells(pair)) {
            evidence.telling += 1;
            for (rule, explained) in RULES.iter().zip(&mut evidence.explained) {
                let made = rule.made_of(pair.tree, pair.kind);
                let explains = made.trim_ascii_end() == pair.patch.trim_ascii_end();
                *explained += usize::from(explains);
            }
        }
        evidence
    }

    fn and(self, other: Evidence) -> Evidence {
        let sums = |index| self.explained[index] + other.explained[index];
        Evidence {
            telling: self.telling + other.telling,
            explained: std::array::from_fn(sums),
        }
    }

    /// The rule that explains most of a file's own lines; of equal ones, that
    /// which explains most lines of the whole patch.
    fn verdict(&self, all: &Evidence) -> Verdict {
        let worth = |index: usize| (self.explained[index], all.explained[index]);
        let mut best = 0;
        for index in 1..RULES.len() {
            if worth(index) > worth(best) {
                best = index;
            }
        }
        let (explained, telling) = match self.telling {
            0 => (all.explained[best], all.telling),
            own => (self.explained[best], own),
        };
        if 2 * explained < telling {
            let rule = Damage::Unknown;
            return Verdict {
                rule,
                equal: vec![rule],
            };
        }
        let equal = (0..RULES.len()).filter(|&index| worth(index) == worth(best));
        Verdict {
            rule: RULES[best],
            equal: equal.map(|index| RULES[index]).collect(),
        }
    }
}

/// Whether the tree's line has blanks of which something could have become.
fn tells(pair: &&Pair) -> bool {
    let text = pair.tree.trim_ascii_end();
    let has_tab = text.contains(&b'\t') || pair.patch.contains(&b'\t');
    let has_run = text.windows(2).any(|two| two == b"  ") || text.starts_with(b" ");
    (has_tab || has_run) && Form::Blanks.same(pair.patch, pair.tree)
}

/// Whether the text alone is suspicious: it adds `#include` without a name, so a
/// page has taken `<…>` for a tag; or it adds `&lt;` and the like and has no `<`
/// and no `>` anywhere, so a page's source may have been taken for its text.
pub(super) fn looks_damaged(hunks: &[Hunk]) -> bool {
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let mut added = lines().filter(|line| line.kind == LineKind::Added);
    added.any(|line| is_bare_include(&line.bytes)) || looks_escaped(hunks)
}

/// The latter.
pub(super) fn looks_escaped(hunks: &[Hunk]) -> bool {
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let is_raw = |line: &Line| line.bytes.iter().any(|b| matches!(b, b'<' | b'>'));
    let escaped = |line: &Line| {
        let has = line.kind == LineKind::Added && line.bytes.contains(&b'&');
        has && decoded(&line.bytes) != line.bytes
    };
    lines().any(escaped) && !lines().any(is_raw)
}

/// `#include`, and no name.
pub(super) fn is_bare_include(line: &[u8]) -> bool {
    let rest = line.trim_ascii().strip_prefix(b"#");
    rest.is_some_and(|rest| rest.trim_ascii_start() == b"include")
}
