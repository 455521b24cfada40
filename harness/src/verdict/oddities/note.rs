//! One sentence about something odd.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Answer;
use crate::verdict::figures::{number, signed};

/// The most boots that one sentence names.
const NAMED: usize = 5;

/// Something odd about a cell. Shares are of the value that they stand beside: 0.31 is 31 % more.
/// Rounds count from 0 here, and from 1 in sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Note {
    /// Marked boots change what means would say.
    Carried {
        /// Marked boots of both sides.
        boots: usize,
        /// Variant over base less one, of means of all boots.
        with: f64,
        /// The same without the marked ones.
        without: f64,
        /// What means of all boots say.
        answer_with: Answer,
        /// The same without the marked ones.
        answer_without: Answer,
    },
    /// Boots of one side fall into two groups.
    Modes {
        /// The side.
        of: String,
        /// The lower group.
        low: Mode,
        /// The higher group.
        high: Mode,
    },
    /// Boots of one side lie far from its other boots.
    Boots {
        /// The side.
        of: String,
        /// The side's boots.
        out_of: usize,
        /// The marked ones, the farthest first.
        boots: Vec<MarkedBoot>,
    },
    /// Samples of one side lie far from their boots' levels.
    Samples {
        /// The side.
        of: String,
        /// How many.
        count: usize,
        /// The side's samples.
        out_of: usize,
        /// The farthest, with its boot.
        farthest: MarkedBoot,
    },
    /// The first iteration of a boot is not like the others.
    WarmUp {
        /// The side or sides.
        of: String,
        /// The first over the others, less one.
        by: f64,
        /// Boots in which it is so.
        boots: usize,
        /// Boots that were looked at.
        out_of: usize,
    },
    /// Iterations rise or fall to the end of a boot.
    Drift {
        /// The side or sides.
        of: String,
        /// The last over the first, less one.
        by: f64,
        /// Boots in which it is so.
        boots: usize,
        /// Boots that were looked at.
        out_of: usize,
    },
    /// The two iterations of a boot differ, and two can't tell warm-up from drift.
    Uneven {
        /// The side or sides.
        of: String,
        /// The first over the second, less one.
        by: f64,
        /// Boots in which it is so.
        boots: usize,
        /// Boots that were looked at.
        out_of: usize,
    },
    /// Boots rise or fall over the rounds, both sides together.
    HostDrift {
        /// The last round over the first, less one.
        by: f64,
        /// The first round.
        from: u32,
        /// The last round.
        to: u32,
    },
}

/// A boot that is marked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MarkedBoot {
    /// Its round, from 0.
    pub round: u32,
    /// How far above the middle, as a share.
    pub by: f64,
}

/// One of two groups of boots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Where its middle is, in the cell's unit.
    pub at: f64,
    /// The rounds of its boots, from 0.
    pub rounds: Vec<u32>,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Carried {
                boots,
                with,
                without,
                answer_with,
                answer_without,
            } => write!(
                f,
                "outliers carry the means: {} ({answer_with}) with {}, {} ({answer_without}) without",
                signed(*with),
                counted(*boots, "marked boot"),
                signed(*without),
            ),
            Note::Modes { of, low, high } => modes(f, of, low, high),
            Note::Boots { of, out_of, boots } => {
                let verb = if boots.len() == 1 { "lies" } else { "lie" };
                write!(
                    f,
                    "{of}: {} of {out_of} boots {verb} far from the rest: {}",
                    boots.len(),
                    named(boots, |boot| format!(
                        "round {} ({})",
                        u64::from(boot.round) + 1,
                        signed(boot.by)
                    ))
                )
            }
            Note::Samples {
                of,
                count,
                out_of,
                farthest,
            } => write!(
                f,
                "{of}: {count} of {out_of} samples lie far from their boot's level, at most {} in round {}",
                signed(farthest.by),
                u64::from(farthest.round) + 1
            ),
            Note::WarmUp {
                of,
                by,
                boots,
                out_of,
            } => write!(
                f,
                "{of}: still warming up: the first iteration lies {} from the later ones in {boots} of {out_of} boots",
                signed(*by)
            ),
            Note::Drift {
                of,
                by,
                boots,
                out_of,
            } => write!(
                f,
                "{of}: drift inside a boot: {} from the first to the last iteration, in {boots} of {out_of} boots",
                signed(*by)
            ),
            Note::Uneven {
                of,
                by,
                boots,
                out_of,
            } => write!(
                f,
                "{of}: the first of two iterations lies {} from the second in {boots} of {out_of} boots: warm-up or drift, which --iterations 5 would tell",
                signed(*by)
            ),
            Note::HostDrift { by, from, to } => write!(
                f,
                "the host drifts: {} from round {} to {}, base and variant together",
                signed(*by),
                u64::from(*from) + 1,
                u64::from(*to) + 1
            ),
        }
    }
}

fn modes(f: &mut fmt::Formatter<'_>, of: &str, low: &Mode, high: &Mode) -> fmt::Result {
    let fewer = if low.rounds.len() < high.rounds.len() {
        low
    } else {
        high
    };
    write!(
        f,
        "{of}: two modes: {} near {} and {} near {} ({}), the fewer in {}",
        counted(low.rounds.len(), "boot"),
        number(low.at),
        counted(high.rounds.len(), "boot"),
        number(high.at),
        signed(high.at / low.at - 1.0),
        named(&fewer.rounds, |round| format!(
            "round {}",
            u64::from(*round) + 1
        ))
    )
}

/// The first few, in words.
fn named<T>(all: &[T], word: impl Fn(&T) -> String) -> String {
    let mut text: Vec<String> = all.iter().take(NAMED).map(word).collect();
    if all.len() > NAMED {
        text.push(format!("and {} more", all.len() - NAMED));
    }
    text.join(", ")
}

fn counted(count: usize, of_what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {of_what}{s}")
}
