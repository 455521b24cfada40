//! The shift between two groups of boots, with the test and the intervals that belong to it.
//!
//! Two tests must agree before a shift is believed. The first fits shift and noise together, once
//! with the shift free and once held, under each of a few shapes of noise, and compares how well
//! the best of them fits. It knows how small a chance is, but only as far as the noise has one of
//! those shapes. The second is the rank sum test, which knows nothing of shapes and is asked at a
//! looser level, and at no looser one where boots fall into modes ([`super::modes`]). With drift of
//! the host, both look at what a smooth curve over the rounds leaves.
//!
//! `bench/verdicts` shows what comes of it; its `--calibrate` says what the tables in here must be.

mod model;
mod trend;

use super::lookup::line_between;
use super::noise::{Fit, Shape};
use super::ranks::RankSums;
use super::student;
use model::{Model, least_deviance};
use trend::Trend;

/// The rank sum test's p-value counts at this power: it is asked at a looser level. Where the fit
/// lets some boots weigh less than others, the ranks must back it more.
const RANK_POWER: f64 = 2.0;
const RANK_POWER_WEIGHED: f64 = 1.5;
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
    model: Model,
    /// The model without a trend, if `model` has one.
    plain: Option<Model>,
    best: Fit,
    shape: Shape,
    ranks: RankSums,
    /// All differences between the groups less the trend, sorted.
    differences: Vec<f64>,
    /// How far boots of the trial fall into modes.
    modes: f64,
}

/// Two-sided p-values of one shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tests {
    /// By the fits.
    pub fit: f64,
    /// By the rank sums, and the power at which that counts.
    pub ranks: f64,
    power: f64,
}

impl Tests {
    /// What both agree on. As far as boots fall into modes, 0 to 1, ranks count at no looser level.
    pub fn p(&self, modes: f64) -> f64 {
        let looser = (1.0 - modes) * self.ranks.powf(self.power);
        self.fit.max(looser + modes * self.ranks)
    }
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
        let trend = Trend::of(base.iter().chain(variant).map(|boot| boot.round));
        let level = Model::of(base, variant, &trend, 0);
        let level_fits = level.started_at_means();
        let with_trend = (trend.columns() > 0).then(|| {
            let model = Model::of(base, variant, &trend, trend.columns());
            let fits = model.started_at_means();
            (model, fits)
        });
        let (model, fits, plain) = match with_trend {
            Some((model, fits))
                if model.price + least_deviance(&fits) < least_deviance(&level_fits) =>
            {
                (model, fits, Some(level))
            }
            _ => (level, level_fits, None),
        };
        let (shape, best) = model.free(fits);
        Some(Contrast {
            differences: model.differences(&best, base.len()),
            model,
            plain,
            best,
            shape,
            ranks,
            modes: 0.0,
        })
    }

    /// The most likely shift from base to variant.
    pub fn estimate(&self) -> f64 {
        self.best.factors[self.model.width]
    }

    /// The shape of noise that fits best.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The same among the cells of a trial whose boots fall into modes as far as `modes` says, 0 to
    /// 1 ([`super::modes::share`]).
    pub fn among(self, modes: f64) -> Contrast {
        Contrast { modes, ..self }
    }

    /// Two-sided p-value of "the shift is `shift`", in [0, 1].
    pub fn p(&self, shift: f64) -> f64 {
        self.tests(shift).p(self.modes)
    }

    /// Both tests of "the shift is `shift`".
    pub fn tests(&self, shift: f64) -> Tests {
        Tests {
            fit: self.fit_p(shift),
            ..self.ranks_alone(shift)
        }
    }

    /// The rank sum test of "the shift is `shift`", which is quick, with a fit that believes
    /// anything.
    pub fn ranks_alone(&self, shift: f64) -> Tests {
        Tests {
            fit: 0.0,
            ranks: self.ranks.p(&self.differences, shift),
            power: match self.shape {
                Shape::Normal => RANK_POWER,
                _ => RANK_POWER_WEIGHED,
            },
        }
    }

    /// The likelihood's p-value: with normal noise alone, Student's to the digit.
    fn fit_p(&self, shift: f64) -> f64 {
        let n = self.model.lines.values.len();
        let weighed = match self.shape {
            Shape::Normal => 1.0,
            _ => line_between(&STRETCH_WEIGHED, n as f64),
        };
        let worse = self.worse(shift) / stretch(n) / weighed / n as f64;
        let freedom = self.freedom();
        student::two_sided((freedom as f64 * worse.exp_m1()).sqrt(), freedom)
    }

    /// By how much the deviance grows when the shift is held. A trend that was believed with the
    /// shift free may be given up for that.
    pub fn worse(&self, shift: f64) -> f64 {
        let held = self.model.held(shift, Some(&self.best));
        let plain = self.plain.as_ref().map(|plain| plain.held(shift, None));
        let held = held.min(plain.unwrap_or(f64::INFINITY));
        (held - self.model.price - self.best.deviance).max(0.0)
    }

    /// Boots less what is fitted to them.
    pub fn freedom(&self) -> usize {
        self.model.lines.values.len() - self.model.width - 1
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

fn flat(boots: &[Boot]) -> bool {
    boots.windows(2).all(|pair| pair[0].value == pair[1].value)
}

/// By how much the choice of a shape stretches the difference of deviances in `boots` boots with
/// normal noise, so that the whole test keeps its level there, and with two modes as frequent.
pub fn stretch(boots: usize) -> f64 {
    line_between(&STRETCH, boots as f64)
}

/// Boots of both sides, and the factor: no less than what `bench/verdicts --calibrate` finds for
/// normal noise, and with few boots more, for noise in two modes.
const STRETCH: [(f64, f64); 4] = [(6.0, 1.12), (10.0, 1.03), (24.0, 1.025), (40.0, 1.015)];
/// Where the fit lets some boots weigh less than others it is stretched by this as well: with
/// outliers, the far tail is longer than with normal noise (`bench/verdicts`, 20 boots, 30 cells).
const STRETCH_WEIGHED: [(f64, f64); 3] = [(10.0, 1.04), (20.0, 1.05), (40.0, 1.10)];

#[cfg(test)]
mod tests;
