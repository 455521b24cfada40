//! What is fitted to the boots of two groups.

use super::super::noise::{Fit, Lines, Shape, candidates, least_scale};
use super::Boot;
use super::trend::Trend;

/// By how much, in deviance a column, a trend must fit better than none.
const PRICE_TREND: f64 = 8.0;

/// Level and shift, with a trend or without, to be fitted under any shape of noise.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) lines: Lines,
    /// Columns of level and trend; the shift's comes after them.
    pub(super) width: usize,
    /// What the trend costs, in deviance.
    pub(super) price: f64,
}

impl Model {
    pub(super) fn of(base: &[Boot], variant: &[Boot], trend: &Trend, columns: usize) -> Model {
        let width = 1 + columns;
        let row = |boot: &Boot, group: f64| {
            let mut row = trend.row(boot.round, columns);
            row[width] = group;
            row
        };
        let base_rows = base.iter().map(|boot| row(boot, -0.5));
        let rows = base_rows.chain(variant.iter().map(|boot| row(boot, 0.5)));
        let values: Vec<f64> = base.iter().chain(variant).map(|boot| boot.value).collect();
        Model {
            width,
            price: PRICE_TREND * columns as f64,
            lines: Lines {
                rows: rows.collect(),
                least_scale: least_scale(&values),
                values,
            },
        }
    }

    /// The fits with the shift free, from the means.
    pub(super) fn started_at_means(&self) -> [(Shape, Fit); 3] {
        self.each(self.width + 1, 0.0, |shape| {
            self.lines.fit(self.width + 1, 0.0, shape, None)
        })
    }

    /// The best of these fits. The heavy and skewed shapes may have more than one hollow, so they
    /// are started from no shift as well.
    pub(super) fn free(&self, started_at_means: [(Shape, Fit); 3]) -> (Shape, Fit) {
        let mut best = started_at_means[0];
        for (shape, means) in started_at_means.into_iter().skip(1) {
            let none = self.lines.fit(self.width, 0.0, shape, None);
            let other = self.lines.fit(self.width + 1, 0.0, shape, Some(&none));
            for fit in [means, other] {
                if fit.deviance < best.1.deviance {
                    best = (shape, fit);
                }
            }
        }
        best
    }

    /// The least deviance with the shift held, with the price; looked for from the means and near
    /// another fit.
    pub(super) fn held(&self, shift: f64, near: Option<&Fit>) -> f64 {
        let fits = self.each(self.width, shift, |shape| {
            let fresh = self.lines.fit(self.width, shift, shape, None);
            match near {
                Some(near) if shape != Shape::Normal => {
                    let near = self.lines.fit(self.width, shift, shape, Some(near));
                    if near.deviance < fresh.deviance {
                        near
                    } else {
                        fresh
                    }
                }
                _ => fresh,
            }
        });
        least_deviance(&fits) + self.price
    }

    /// A fit under each shape that the residuals of normal noise suggest.
    fn each(&self, width: usize, offset: f64, fit: impl Fn(Shape) -> Fit) -> [(Shape, Fit); 3] {
        let normal = self.lines.fit(width, offset, Shape::Normal, None);
        candidates(self.lines.residuals(&normal.factors)).map(|shape| {
            let fit = match shape {
                Shape::Normal => normal,
                _ => fit(shape),
            };
            (shape, fit)
        })
    }

    /// All differences of values of the first `base` and the others, less the trend, sorted.
    pub(super) fn differences(&self, fit: &Fit, base: usize) -> Vec<f64> {
        let mut trend = fit.factors;
        trend[0] = 0.0;
        trend[self.width] = 0.0;
        let left: Vec<f64> = self.lines.residuals(&trend).collect();
        let (base, variant) = left.split_at(base);
        let mut differences: Vec<f64> = variant
            .iter()
            .flat_map(|v| base.iter().map(move |b| v - b))
            .collect();
        differences.sort_by(f64::total_cmp);
        differences
    }
}

pub(super) fn least_deviance(fits: &[(Shape, Fit)]) -> f64 {
    let deviances = fits.iter().map(|(_, fit)| fit.deviance);
    deviances.fold(f64::INFINITY, f64::min)
}
