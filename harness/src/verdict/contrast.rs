//! The shift between two groups of boots, with the test and the intervals that belong to it.
//!
//! Two tests must agree before a shift is believed. The first fits shift and noise together, once
//! with the shift free and once held, under each of a few shapes of noise, and compares how well
//! the best of them fits. It knows how small a chance is, but only as far as the noise has one of
//! those shapes. The second is the rank sum test, which knows nothing of shapes and is asked at a
//! looser level. With drift of the host, both look at what a smooth curve over the rounds leaves.
//!
//! `bench/verdicts` shows what comes of it; its `--calibrate` makes the table in [`mod@self`].

use super::noise::{Fit, Lines, MOST_COLUMNS, Row, SHAPES, Shape, least_scale};
use super::ranks::RankSums;
use super::student;

/// The rank sum test's p-value counts at this power: it is asked at a looser level. Where the fit
/// lets some boots weigh less than others, the ranks must back it more.
const RANK_POWER: f64 = 2.0;
const RANK_POWER_WEIGHED: f64 = 1.5;
/// By how much, in deviance a column, a trend must fit better than none.
const PRICE_TREND: f64 = 8.0;
/// How precisely ends of intervals are found, as a share of the noise's scale.
const END_PRECISION: f64 = 1e-4;

/// One boot's value and the round it was part of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Boot {
    /// The round, from any number on.
    pub round: u32,
    /// The value, in any unit; differences of values are what is looked at.
    pub value: f64,
}

/// Two groups of boots, compared.
#[derive(Debug, Clone)]
pub struct Contrast {
    lines: Lines,
    /// Columns of level and trend; the shift's comes after them.
    width: usize,
    best: Fit,
    shape: Shape,
    ranks: RankSums,
    /// All differences between the groups less the trend, sorted.
    differences: Vec<f64>,
}

impl Contrast {
    /// Compares two groups. `None` with fewer than two boots a side, or when all boots of both
    /// sides are the same: chance must show, or nothing can be said about it.
    pub fn of(base: &[Boot], variant: &[Boot]) -> Option<Contrast> {
        Self::with(base, variant, RankSums::new(base.len(), variant.len()))
    }

    /// The same, with a table made before: cells of a trial have the same numbers of boots.
    pub fn with(base: &[Boot], variant: &[Boot], ranks: RankSums) -> Option<Contrast> {
        if base.len() < 2 || variant.len() < 2 || (flat(base) && flat(variant)) {
            return None;
        }
        let rounds = Rounds::of(base.iter().chain(variant));
        let values: Vec<f64> = base.iter().chain(variant).map(|b| b.value).collect();
        let least_scale = least_scale(&values);
        let fitted = |width: usize| {
            let row = |boot: &Boot, group: f64| {
                let mut row = rounds.row(boot.round);
                row[width] = group;
                row
            };
            let base = base.iter().map(|b| row(b, -0.5));
            let rows: Vec<Row> = base.chain(variant.iter().map(|b| row(b, 0.5))).collect();
            let lines = Lines {
                rows,
                values: values.clone(),
                least_scale,
            };
            let best = SHAPES
                .iter()
                .map(|&shape| (free(&lines, width, shape), shape))
                .min_by(|a, b| a.0.deviance.total_cmp(&b.0.deviance));
            best.map(|(best, shape)| (lines, width, best, shape))
        };
        let level = fitted(1)?;
        let columns = rounds.columns();
        let trend = if columns > 0 {
            fitted(1 + columns)
        } else {
            None
        };
        let price = PRICE_TREND * columns as f64;
        let (lines, width, best, shape) = match trend {
            Some(trend) if trend.2.deviance + price < level.2.deviance => trend,
            _ => level,
        };
        let left = |i: usize| {
            let row = &lines.rows[i];
            let trend: f64 = (1..width).map(|c| row[c] * best.factors[c]).sum();
            lines.values[i] - trend
        };
        let mut differences: Vec<f64> = (base.len()..lines.values.len())
            .flat_map(|v| (0..base.len()).map(move |b| (v, b)))
            .map(|(v, b)| left(v) - left(b))
            .collect();
        differences.sort_by(f64::total_cmp);
        Some(Contrast {
            lines,
            width,
            best,
            shape,
            ranks,
            differences,
        })
    }

    /// The most likely shift from base to variant.
    pub fn estimate(&self) -> f64 {
        self.best.factors[self.width]
    }

    /// The shape of noise that fits best.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Two-sided p-value of "the shift is `shift`", in [0, 1].
    pub fn p(&self, shift: f64) -> f64 {
        self.likelihood_p(shift).max(self.rank_p(shift))
    }

    /// The rank sum test's share of [`Self::p`].
    pub fn rank_p(&self, shift: f64) -> f64 {
        self.ranks
            .p(&self.differences, shift)
            .powf(match self.shape {
                Shape::Normal => RANK_POWER,
                _ => RANK_POWER_WEIGHED,
            })
    }

    /// The likelihood's share of [`Self::p`]: with normal noise alone, Student's to the digit.
    fn likelihood_p(&self, shift: f64) -> f64 {
        let n = self.lines.values.len();
        let weighed = if self.shape == Shape::Normal {
            1.0
        } else {
            STRETCH_WEIGHED
        };
        let worse = self.worse(shift) / stretch(n) / weighed / n as f64;
        let freedom = self.freedom();
        student::two_sided((freedom as f64 * worse.exp_m1()).sqrt(), freedom)
    }

    /// By how much the deviance grows when the shift is held.
    pub fn worse(&self, shift: f64) -> f64 {
        let held = SHAPES
            .iter()
            .map(|&shape| self.held(shift, shape))
            .fold(f64::INFINITY, f64::min);
        (held - self.best.deviance).max(0.0)
    }

    /// Boots less what is fitted to them.
    pub fn freedom(&self) -> usize {
        self.lines.values.len() - self.width - 1
    }

    /// The least deviance with the shift held.
    fn held(&self, shift: f64, shape: Shape) -> f64 {
        let fresh = self.lines.fit(self.width, shift, shape, None);
        if shape == Shape::Normal {
            return fresh.deviance;
        }
        let near = self.lines.fit(self.width, shift, shape, Some(&self.best));
        fresh.deviance.min(near.deviance)
    }

    /// The interval of all shifts that the test does not refuse at `level` (0 to 1, open). `None`
    /// if there are too few boots for an end to be found.
    pub fn interval(&self, level: f64) -> Option<(f64, f64)> {
        let alpha = 1.0 - level;
        let low = self.end(alpha, -1.0)?;
        let high = self.end(alpha, 1.0)?;
        Some((low, high))
    }

    /// Where p falls to `alpha` on one side of the estimate: outwards in growing steps until it is
    /// below, then by halves.
    fn end(&self, alpha: f64, side: f64) -> Option<f64> {
        let estimate = self.estimate();
        let spread = self.differences.last()? - self.differences.first()?;
        let reach = 1e3 * (spread + self.best.scale);
        let refused = |away: f64| self.p(estimate + side * away) <= alpha;
        let (mut inside, mut step) = (0.0, self.best.scale * 0.25);
        while !refused(inside + step) {
            inside += step;
            step *= 1.5;
            if inside > reach {
                return None;
            }
        }
        let mut outside = inside + step;
        while outside - inside > END_PRECISION * self.best.scale {
            let middle = (inside + outside) / 2.0;
            if refused(middle) {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        Some(estimate + side * outside)
    }
}

/// The best fit with the shift free. The heavy and skewed shapes may have more than one hollow, so
/// they start from the plain means and from no shift.
fn free(lines: &Lines, width: usize, shape: Shape) -> Fit {
    let means = lines.fit(width + 1, 0.0, shape, None);
    if shape == Shape::Normal {
        return means;
    }
    let none = lines.fit(width, 0.0, shape, None);
    let other = lines.fit(width + 1, 0.0, shape, Some(&none));
    if other.deviance < means.deviance {
        other
    } else {
        means
    }
}

fn flat(boots: &[Boot]) -> bool {
    boots.windows(2).all(|pair| pair[0].value == pair[1].value)
}

/// The trend over rounds: Legendre's polynomials, more of them with more rounds.
struct Rounds {
    first: u32,
    last: u32,
}

impl Rounds {
    fn of<'a>(boots: impl Iterator<Item = &'a Boot>) -> Rounds {
        let (first, last) = boots.fold((u32::MAX, 0), |(first, last), boot| {
            (first.min(boot.round), last.max(boot.round))
        });
        Rounds { first, last }
    }

    fn columns(&self) -> usize {
        match self.last.saturating_sub(self.first) + 1 {
            0..5 => 0,
            5..8 => 1,
            8..16 => 2,
            _ => 3,
        }
    }

    fn row(&self, round: u32) -> Row {
        let span = f64::from(self.last - self.first).max(1.0);
        let t = 2.0 * f64::from(round - self.first) / span - 1.0;
        let all = [
            1.0,
            t,
            (3.0 * t * t - 1.0) / 2.0,
            (5.0 * t * t - 3.0) * t / 2.0,
        ];
        let mut row = [0.0; MOST_COLUMNS];
        let count = 1 + self.columns();
        row[..count].copy_from_slice(&all[..count]);
        row
    }
}

/// By how much the choice of a shape stretches the difference of deviances in `boots` boots with
/// normal noise, so that the whole test keeps its level there: a table with lines between.
pub fn stretch(boots: usize) -> f64 {
    let n = boots as f64;
    let after = STRETCH.iter().position(|(at, _)| n <= *at);
    match after {
        Some(0) => STRETCH[0].1,
        None => STRETCH[STRETCH.len() - 1].1,
        Some(i) => {
            let ((a, from), (b, to)) = (STRETCH[i - 1], STRETCH[i]);
            from + (to - from) * (n - a) / (b - a)
        }
    }
}

/// Boots of both sides, and the factor, made by `bench/verdicts --calibrate`.
const STRETCH: [(f64, f64); 3] = [(10.0, 1.04), (24.0, 1.03), (40.0, 1.015)];
/// Where the fit lets some boots weigh less than others it is stretched by this as well: with
/// outliers, the far tail is longer than with normal noise (`bench/verdicts`, 20 boots, 30 cells).
const STRETCH_WEIGHED: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::*;

    fn boots(values: &[f64]) -> Vec<Boot> {
        (0..)
            .zip(values)
            .map(|(round, &value)| Boot { round, value })
            .collect()
    }

    fn contrast(base: &[f64], variant: &[f64]) -> Contrast {
        Contrast::of(&boots(base), &boots(variant)).unwrap()
    }

    const BASE: &[f64] = &[10.1, 9.8, 10.3, 9.9, 10.0];
    const VARIANT: &[f64] = &[10.4, 10.6, 10.2, 10.7, 10.5];

    #[test]
    fn with_normal_noise_it_is_students_test_stretched() {
        // scipy 1.17.1: ttest_ind(VARIANT, BASE).statistic = 3.7811767080232253, 8 degrees of
        // freedom; the deviances then differ by 10 ln(1 + t^2 / 8) = 10.250239. At a stretch of
        // 1.04, p = 2 * t.sf(sqrt(8 * expm1(10.250239 / 10 / 1.04)), 8).
        let found = contrast(BASE, VARIANT);
        assert_eq!(found.shape(), Shape::Normal);
        assert!((found.estimate() - 0.46).abs() < 1e-12);
        let t = (8.0 * (found.worse(0.0) / 10.0).exp_m1()).sqrt();
        assert!((t - 3.781_176_708).abs() < 1e-8, "{t}");
        assert!((found.p(0.0) - 0.00635126).abs() < 1e-8, "{}", found.p(0.0));
        let (low, high) = found.interval(0.95).unwrap();
        assert!(
            (low - 0.172_318_53).abs() < 1e-4 && (high - 0.747_681_47).abs() < 1e-4,
            "{low} {high}"
        );
    }

    #[test]
    fn the_interval_is_what_the_test_does_not_refuse() {
        let skewed = [1.0, 1.2, 0.98, 1.1, 1.02, 0.97, 2.4, 1.6, 1.01, 1.9];
        let shifted = [1.3, 1.52, 1.27, 1.38, 3.1, 1.33, 1.29, 1.31, 1.6, 1.35];
        for (base, variant) in [(BASE, VARIANT), (&skewed[..], &shifted[..])] {
            let found = contrast(base, variant);
            for level in [0.90, 0.95, 0.99] {
                let (low, high) = found.interval(level).unwrap();
                let step = 1e-3 * (high - low);
                assert!(low < found.estimate() && found.estimate() < high);
                for (inside, outside) in [(low + step, low - step), (high - step, high + step)] {
                    assert!(found.p(inside) > 1.0 - level, "{level} {low} {high}");
                    assert!(found.p(outside) <= 1.0 - level, "{level} {low} {high}");
                }
            }
        }
    }

    #[test]
    fn one_boot_far_off_does_not_hide_a_shift_and_does_not_make_one() {
        // Student's p here is 0.118 (scipy 1.17.1: ttest_ind), for the one boot at 14.
        let mut variant = VARIANT.to_vec();
        variant[2] = 14.0;
        let found = contrast(BASE, &variant);
        assert_eq!(found.shape(), Shape::Heavy);
        assert!(found.p(0.0) < 0.05, "{}", found.p(0.0));
        assert!((found.estimate() - 0.5).abs() < 0.1, "{}", found.estimate());
        let mut same = BASE.to_vec();
        same[2] = 14.0;
        assert!(contrast(BASE, &same).p(0.0) > 0.3);
    }

    #[test]
    fn it_does_not_matter_where_zero_is_what_the_unit_is_and_which_side_is_base() {
        let found = contrast(BASE, VARIANT);
        let moved = |values: &[f64]| values.iter().map(|v| 3.0 * v - 7.0).collect::<Vec<_>>();
        let other = contrast(&moved(BASE), &moved(VARIANT));
        assert!((found.p(0.0) - other.p(0.0)).abs() < 1e-9);
        assert!((3.0 * found.estimate() - other.estimate()).abs() < 1e-9);
        let turned = contrast(VARIANT, BASE);
        assert!((found.p(0.1) - turned.p(-0.1)).abs() < 1e-9);
    }

    #[test]
    fn a_drift_that_both_share_is_taken_out() {
        // 1 a round on both sides, and 0.3 between them with the noise of BASE and VARIANT.
        let drifting = |values: &[f64]| {
            (0..)
                .zip(values)
                .map(|(i, v)| v + f64::from(i))
                .collect::<Vec<_>>()
        };
        let found = contrast(&drifting(BASE), &drifting(VARIANT));
        assert!(
            (found.estimate() - 0.46).abs() < 1e-9,
            "{}",
            found.estimate()
        );
        assert!(found.p(0.0) < 0.02, "{}", found.p(0.0));
    }

    #[test]
    fn five_boots_never_alarm_alone_among_three_hundred_cells_when_some_are_weighed_less() {
        // Ranks: 1 of 126 arrangements, two-sided 0.0079; at the power of 1.5 that is 0.0007.
        let found = contrast(
            &[1.0, 1.001, 0.999, 1.002, 5.0],
            &[9.0, 9.001, 8.999, 9.002, 9.003],
        );
        assert_ne!(found.shape(), Shape::Normal);
        assert!((found.p(0.0) - (2.0f64 / 252.0).powf(1.5)).abs() < 1e-12);
    }

    #[test]
    fn two_boots_a_side_settle_nothing_and_without_spread_there_is_no_answer() {
        assert!(contrast(&[1.0, 1.01], &[2.0, 2.01]).p(0.0) > 0.05);
        assert!(Contrast::of(&boots(&[1.0; 5]), &boots(&[2.0; 5])).is_none());
        assert!(Contrast::of(&boots(&[1.0]), &boots(&[2.0, 2.1])).is_none());
        // Spread on one side alone is spread.
        assert!(Contrast::of(&boots(&[1.0; 5]), &boots(&[2.0, 2.1, 2.2, 2.0, 2.1])).is_some());
    }
}
