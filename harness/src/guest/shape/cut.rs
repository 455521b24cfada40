//! How much of a machine a guest is to have.

use std::str::FromStr;

/// A share of the cores of each part of a machine, above 0, at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    part: u32,
    whole: u32,
}

impl Scale {
    /// All of it.
    pub const ALL: Scale = Scale { part: 1, whole: 1 };

    /// One of so many, at least 1.
    pub fn one_of(whole: u32) -> Scale {
        let whole = whole.max(1);
        Scale { part: 1, whole }
    }

    /// The share of `count` things, rounded down, but one at least: the structure is kept.
    pub fn of(self, count: usize) -> usize {
        self.share(count).max(1)
    }

    /// Whether the share of `count` things is one or more.
    pub fn leaves_any(self, count: usize) -> bool {
        self.share(count) > 0
    }

    fn share(self, count: usize) -> usize {
        let share = count as u64 * u64::from(self.part) / u64::from(self.whole);
        usize::try_from(share).unwrap_or(count)
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        let (part, whole) = text.split_once('/').unwrap_or((text, "1"));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n > 0);
        match (number(part), number(whole)) {
            (Some(part), Some(whole)) if part <= whole => Ok(Scale { part, whole }),
            _ => Err("a share is written like 1/8, and is at most 1".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_keeps_one_at_least() {
        let eighth: Scale = "1/8".parse().unwrap();
        assert_eq!([eighth.of(16), eighth.of(6), eighth.of(1)], [2, 1, 1]);
        assert!(eighth.leaves_any(8) && !eighth.leaves_any(7));
        assert_eq!("3/4".parse::<Scale>().unwrap().of(10), 7);
        assert_eq!(Scale::ALL.of(5), 5);
        for text in ["", "0", "1/0", "0/8", "9/8", "-1/8", "1/8/2", "half"] {
            assert!(text.parse::<Scale>().is_err(), "{text}");
        }
    }
}
