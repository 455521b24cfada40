//! The drift of the host over rounds, which base and variant share: a smooth curve.

use super::super::noise::{MOST_COLUMNS, Row};

/// Legendre's polynomials over the rounds, more of them with more rounds.
pub(super) struct Trend {
    first: u32,
    last: u32,
}

impl Trend {
    pub(super) fn of(rounds: impl Iterator<Item = u32>) -> Trend {
        let (first, last) = rounds.fold((u32::MAX, 0), |(first, last), round| {
            (first.min(round), last.max(round))
        });
        Trend { first, last }
    }

    /// How many columns it may have besides the level.
    pub(super) fn columns(&self) -> usize {
        match self.last.saturating_sub(self.first) + 1 {
            0..5 => 0,
            5..8 => 1,
            8..16 => 2,
            _ => 3,
        }
    }

    /// The level's column and the first `columns` of the trend in a round.
    pub(super) fn row(&self, round: u32, columns: usize) -> Row {
        let span = f64::from(self.last - self.first).max(1.0);
        let t = 2.0 * f64::from(round - self.first) / span - 1.0;
        let all = [
            1.0,
            t,
            (3.0 * t * t - 1.0) / 2.0,
            (5.0 * t * t - 3.0) * t / 2.0,
        ];
        let mut row = [0.0; MOST_COLUMNS];
        row[..=columns].copy_from_slice(&all[..=columns]);
        row
    }
}
