//! Lines that a mailer broke at a blank, so that the rest stands on a line of
//! its own.

use super::hunks::{End, Region};
use super::rest::looks_like_a_rest;
use super::row::{Mark, Row};
use super::tally::Counts;

/// The longest line that mailers leave, in characters.
const WIDEST: usize = 80;

/// Whether a line is short enough to be what a mailer leaves of a longer one.
fn is_broken(line: &[u8]) -> bool {
    let characters = line.iter().filter(|&&b| !(0x80..=0xbf).contains(&b));
    let one_word = |line: &[u8]| !line.trim_ascii().iter().any(u8::is_ascii_whitespace);
    characters.count() <= WIDEST || line.get(1..).is_none_or(one_word)
}

/// What joining lines can make of a hunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Joining {
    /// Nothing that has its counts.
    None,
    /// With these lines joined to those above, and so many empty lines behind
    /// the region's body taken for context, the counts are right.
    Tails { tails: Vec<usize>, blanks: usize },
    /// Several of these lines could be the rest of the line above, or they
    /// are lines that the counts have left out.
    Doubt(Vec<usize>),
}

/// Finds the lines to join so that a hunk has its counts.
pub(super) fn joining(
    rows: &[Row],
    region: &Region,
    announced: Counts,
    wraps_elsewhere: bool,
) -> Joining {
    if region.end == End::Prose && region.blanks == 0 {
        return Joining::None;
    }
    let body = region.body.clone();
    let missing = |at: &usize| rows[*at].mark() == Mark::Missing;
    let tails: Vec<usize> = body.clone().filter(missing).collect();
    let found = Counts::of(&rows[body]);
    if let Some(short) = announced.less(found) {
        let fits = short.old == short.new && short.old <= region.blanks;
        return match fits && !tails.is_empty() {
            true => Joining::Tails {
                tails,
                blanks: short.old,
            },
            false => Joining::None,
        };
    }
    match found.less(announced) {
        Some(over) => by_chance(rows, region, over, tails, wraps_elsewhere),
        None => Joining::None,
    }
}

/// The hunk has too many lines: some rests begin, by chance, with a blank,
/// `+` or `-`.
fn by_chance(
    rows: &[Row],
    region: &Region,
    over: Counts,
    mut tails: Vec<usize>,
    wraps_elsewhere: bool,
) -> Joining {
    let body = region.body.clone();
    let possible: Vec<usize> = body.filter(|&at| looks_like_a_rest(rows, at)).collect();
    let likely = possible.iter().copied();
    let likely: Vec<usize> = likely
        .filter(|&at| is_broken(rows[at - 1].content()))
        .collect();
    match choose(rows, &likely, over) {
        Choice::One(chosen) if wraps_elsewhere || !tails.is_empty() => {
            tails.extend(chosen);
            tails.sort_unstable();
            Joining::Tails { tails, blanks: 0 }
        }
        Choice::One(_) | Choice::Several => Joining::Doubt(likely),
        Choice::None => match choose(rows, &possible, over) {
            Choice::None => Joining::None,
            Choice::One(_) | Choice::Several => Joining::Doubt(possible),
        },
    }
}

/// Which lines to join, of those that can be.
enum Choice {
    None,
    One(Vec<usize>),
    Several,
}

/// Picks lines that add up to those that are over.
fn choose(rows: &[Row], candidates: &[usize], over: Counts) -> Choice {
    let of = |wanted: Mark| -> Vec<usize> {
        let all = candidates.iter().copied();
        all.filter(|&at| Counts::one(rows[at].mark()) == Counts::one(wanted))
            .collect()
    };
    let (context, removed, added) = (of(Mark::Context), of(Mark::Removed), of(Mark::Added));
    let mut choice = Choice::None;
    for from_context in 0..=context.len().min(over.old).min(over.new) {
        let picks = [
            pick(&context, from_context),
            pick(&removed, over.old - from_context),
            pick(&added, over.new - from_context),
        ];
        let ways: usize = picks.iter().map(|pick| pick.0).product();
        choice = match (choice, ways) {
            (choice, 0) => choice,
            (Choice::None, 1) => {
                Choice::One(picks.iter().flat_map(|pick| pick.1).copied().collect())
            }
            _ => return Choice::Several,
        };
    }
    choice
}

/// In how many ways `wanted` of the lines can be picked (2 for more than one),
/// and the lines where there is one way.
fn pick(lines: &[usize], wanted: usize) -> (usize, &[usize]) {
    match wanted {
        0 => (1, &[]),
        n if n == lines.len() => (1, lines),
        n if n > lines.len() => (0, &[]),
        _ => (2, &[]),
    }
}
