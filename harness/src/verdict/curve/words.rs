//! A curve in a few lines.

use std::fmt::Write;

use super::{Curve, Effect, Knee, Point};
use crate::verdict::figures::number;

/// The most values that a line names one by one.
const NAMED: usize = 10;

impl Curve {
    /// The curve in words, indented; each line ends. `base` and `variant` are the sides' names.
    pub fn render(&self, base: &str, variant: &str) -> String {
        let mut text = format!(
            "  {} over {}={}{}: {} {}\n",
            self.workload,
            self.parameter,
            values(self.points.iter().map(|point| point.at)),
            self.setting(),
            self.metric,
            self.unit
        );
        let width = base.len().max(variant.len()).max("change".len());
        for (name, knee) in [(base, &self.base), (variant, &self.variant)] {
            if let Some(knee) = knee {
                let _ = writeln!(text, "    {name:width$}  {}", self.shape(knee));
            }
        }
        let _ = writeln!(text, "    {:width$}  {}", "change", self.change());
        for (name, odd) in [(base, self.odd_base), (variant, self.odd_variant)] {
            if let Some(odd) = odd {
                let side = if odd < 0.0 { "below" } else { "above" };
                let _ = writeln!(
                    text,
                    "    {name:width$}  odd counts lie {:.1} % {side} the line between their even neighbours",
                    100.0 * odd.abs()
                );
            }
        }
        text
    }

    /// The other parameters, without flags that are off.
    fn setting(&self) -> String {
        let words = self.others.split(' ');
        let on: Vec<&str> = words.filter(|word| !word.ends_with("=false")).collect();
        let on = on.join(" ");
        if on.is_empty() {
            on
        } else {
            format!(" ({on})")
        }
    }

    /// Where a side is at its best, and what comes of it.
    fn shape(&self, knee: &Knee) -> String {
        let ends = self.points.first().zip(self.points.last());
        let (first, last) = ends.map_or((0, 0), |(a, b)| (a.at, b.at));
        let best = number(knee.best);
        if knee.from == first && knee.to == last {
            return format!("flat: within 5 % of its best, {best}, at all of them");
        }
        let (still, knee_at) = if self.higher_is_better {
            ("rising", knee.from)
        } else {
            ("falling", knee.to)
        };
        if knee.from == last {
            return format!("no knee: still {still} at {last}, {best}");
        }
        let mut text = format!("knee at {knee_at}: best is {best} at {}, ", knee.best_at);
        let _ = if knee.from == knee.to {
            write!(text, "no other within 5 % of it")
        } else {
            write!(text, "within 5 % of it from {} to {}", knee.from, knee.to)
        };
        if knee.to < last {
            let _ = write!(text, ", {:.0} % of it at {last}", 100.0 * knee.end);
        }
        text
    }

    /// Where the variant differs, and where nobody knows.
    fn change(&self) -> String {
        let mut parts: Vec<String> = self.effects.iter().map(effect).collect();
        for (verdict, word) in [
            ("unchanged", "unchanged"),
            ("inconclusive", "not known"),
            ("unsupported", "unsupported"),
            ("failed", "failed"),
        ] {
            let of_verdict = |point: &&Point| point.verdict == verdict;
            let at: Vec<u64> = self
                .points
                .iter()
                .filter(of_verdict)
                .map(|p| p.at)
                .collect();
            if at.len() == self.points.len() {
                parts.push(format!("{word} at all of them"));
            } else if !at.is_empty() {
                parts.push(format!("{word} at {}", values(at.into_iter())));
            }
        }
        parts.join("; ")
    }
}

fn effect(effect: &Effect) -> String {
    let (low, high) = effect.ratios;
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    if effect.from == effect.to {
        return format!("{} at {} ({})", effect.verdict, effect.from, percent(low));
    }
    format!(
        "{} from {} to {} ({} to {})",
        effect.verdict,
        effect.from,
        effect.to,
        percent(low),
        percent(high)
    )
}

/// `1..8` where no number is left out, else `1, 2, 4`; of many, the ends.
fn values(values: impl Iterator<Item = u64>) -> String {
    let values: Vec<u64> = values.collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return String::new();
    };
    if values.len() > 2 && last - first == values.len() as u64 - 1 {
        return format!("{first}..{last}");
    }
    if values.len() > NAMED {
        return format!("{first}..{last} ({} of them)", values.len());
    }
    let words: Vec<String> = values.iter().map(u64::to_string).collect();
    words.join(", ")
}
