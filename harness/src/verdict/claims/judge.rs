//! A claimed change against a verdict.

use ktrial_db::Verdict;
use ktrial_patches::catalogue::Claim;

use super::Answer;
use super::text::measured;
use crate::verdict::figures::percent;

/// Where the claimed change lies, as ratios of variant to base.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Claimed {
    /// Up, by `least` or more.
    Up { least: f64, most: f64 },
    /// Down, to `least` or less.
    Down { least: f64, most: f64 },
    /// None, or either way.
    Around { low: f64, high: f64 },
}

/// What 1.01 - 1.0 may be off 0.01.
const ROUNDING: f64 = 1e-9;

impl Claimed {
    fn of((low, high): (f64, f64)) -> Claimed {
        if low >= 1.0 && high > 1.0 {
            Claimed::Up {
                least: low,
                most: high,
            }
        } else if high <= 1.0 && low < 1.0 {
            Claimed::Down {
                least: high,
                most: low,
            }
        } else {
            Claimed::Around { low, high }
        }
    }

    /// Whether a change of that ratio goes the way that is claimed.
    fn goes(&self, ratio: f64) -> bool {
        match self {
            Claimed::Up { .. } => ratio > 1.0,
            Claimed::Down { .. } => ratio < 1.0,
            Claimed::Around { .. } => false,
        }
    }

    /// Whether the interval has something that is as large as claimed, or larger.
    fn is_reached_by(&self, (low, high): (f64, f64)) -> bool {
        match self {
            Claimed::Up { least, .. } => high >= *least,
            Claimed::Down { least, .. } => low <= *least,
            Claimed::Around {
                low: from,
                high: to,
            } => low <= *to && high >= *from,
        }
    }

    /// Whether the whole interval is beyond what is claimed.
    fn is_exceeded_by(&self, (low, high): (f64, f64)) -> bool {
        match self {
            Claimed::Up { most, .. } => low > *most,
            Claimed::Down { most, .. } => high < *most,
            Claimed::Around { .. } => false,
        }
    }

    /// Whether all that is claimed lies outside the margin.
    fn is_beyond(&self, margin: f64) -> bool {
        match self {
            Claimed::Up { least, .. } | Claimed::Down { least, .. } => {
                (least - 1.0).abs() > margin + ROUNDING
            }
            Claimed::Around { .. } => false,
        }
    }
}

/// What a verdict says of a claimed change, with the figures.
pub(super) fn change(claim: &Claim, verdict: &Verdict) -> (Answer, String) {
    let Some(claimed) = claim.change().map(Claimed::of) else {
        return (Answer::NotTestable, "it claims no change".into());
    };
    let found = measured(verdict);
    match verdict.verdict.as_str() {
        "improved" | "regressed" => decided(claimed, verdict, found),
        "unchanged" => unchanged(claimed, verdict, found),
        "inconclusive" => (Answer::NotSettled, open(claimed, verdict, found)),
        word => {
            let why = verdict.reason.as_deref().unwrap_or("no value");
            (Answer::NotTestable, format!("{word}: {why}"))
        }
    }
}

/// Beyond the margin, one way or the other.
fn decided(claimed: Claimed, verdict: &Verdict, found: String) -> (Answer, String) {
    let (Some(ratio), Some(interval)) = (verdict.ratio, interval(verdict)) else {
        return (Answer::NotSettled, found);
    };
    if matches!(claimed, Claimed::Around { .. }) {
        // A change that was found is not what is claimed, however near its interval comes to that,
        // unless it is a claim of either way that it lies in.
        return match (
            claimed.is_reached_by((ratio, ratio)),
            claimed.is_reached_by(interval),
        ) {
            (true, _) => (Answer::Confirmed, found),
            (false, true) => (Answer::NotSettled, found),
            (false, false) => (Answer::Contradicted, found),
        };
    }
    if !claimed.goes(ratio) {
        return (
            Answer::Contradicted,
            format!("{found}, the other way round"),
        );
    }
    if claimed.is_exceeded_by(interval) {
        (Answer::Confirmed, format!("{found}, which is more"))
    } else if claimed.is_reached_by(interval) {
        (Answer::Confirmed, found)
    } else {
        (Answer::InDirection, format!("{found}, which is less"))
    }
}

/// The same within the margin.
fn unchanged(claimed: Claimed, verdict: &Verdict, found: String) -> (Answer, String) {
    let within = format!("{found}, unchanged within {}", percent(verdict.margin));
    if matches!(claimed, Claimed::Around { .. }) {
        return (Answer::Confirmed, within);
    }
    let is_out_of_reach = interval(verdict).is_none_or(|it| !claimed.is_reached_by(it));
    if claimed.is_beyond(verdict.margin) && is_out_of_reach {
        (Answer::Contradicted, within)
    } else {
        let said = "the claim is too near to that: a smaller --margin would tell";
        (Answer::NotSettled, format!("{within}; {said}"))
    }
}

/// Not decided; what is known all the same, and what would settle it.
fn open(claimed: Claimed, verdict: &Verdict, found: String) -> String {
    let mut said = found;
    if interval(verdict).is_some_and(|it| !claimed.is_reached_by(it)) {
        said += ", which leaves out what is claimed";
    }
    if let Some(reason) = &verdict.reason {
        said += &format!(": {reason}");
    }
    if let Some(rounds) = verdict.rounds_needed {
        said += &format!(", try {rounds} rounds");
    }
    said
}

fn interval(verdict: &Verdict) -> Option<(f64, f64)> {
    verdict.low.zip(verdict.high)
}
