//! What noise between boots may look like, and the fit of a line of columns under each of its
//! shapes by maximum likelihood.
//!
//! Sources: Lange, Little, Taylor, J. Am. Stat. Assoc. 84 (1989), p. 881 (regression with
//! t-distributed noise and its reweighting); Fernández and Steel, J. Am. Stat. Assoc. 93 (1998),
//! p. 359 (two halves of different width).

/// The most columns that a fit has: the level, the trend and the shift.
pub const MOST_COLUMNS: usize = 5;
/// One boot's columns; only the first few are used.
pub type Row = [f64; MOST_COLUMNS];

/// A shape of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Normal: every boot weighs the same.
    Normal,
    /// Student's t with 2 degrees of freedom: a boot far from the rest weighs little.
    Heavy,
    /// Most boots lie close together and the others above them.
    SkewedUp,
    /// Most boots lie close together and the others below them.
    SkewedDown,
}

/// The shapes to try for residuals of normal noise, in any unit: skewed to the side they lean to.
pub(super) fn candidates(residuals: impl Iterator<Item = f64>) -> [Shape; 3] {
    let leaning: f64 = residuals.map(|r| r * r * r).sum();
    let skewed = if leaning > 0.0 {
        Shape::SkewedUp
    } else {
        Shape::SkewedDown
    };
    [Shape::Normal, Shape::Heavy, skewed]
}

/// Degrees of freedom of [`Shape::Heavy`].
const HEAVY: f64 = 2.0;
/// Degrees of freedom of the skewed shapes, and how much wider their wide half is.
const SKEWED: f64 = 5.0;
const WIDER: f64 = 3.0;
/// Prices of shapes, in deviance.
const PRICE_HEAVY: f64 = 3.0;
const PRICE_SKEWED: f64 = 8.0;
const MOST_STEPS: usize = 200;
/// Steps end when nothing moves by more than this share of the scale.
const PRECISION: f64 = 1e-3;

impl Shape {
    /// The weight of a residual of `u` scales in the levels, and in the sum of weights that its
    /// square is divided by for the scale: that sum is their number where the likelihood is
    /// largest, and dividing by it gets there in few steps (Kent, Tyler, Vardi, Commun. Stat.
    /// Simul. Comput. 23, 1994, p. 441).
    #[inline(always)]
    pub(super) fn weight(self, u: f64) -> (f64, f64) {
        let student = |u: f64, freedom: f64| (freedom + 1.0) / (freedom + u * u);
        match self {
            Shape::Normal => (1.0, 1.0),
            Shape::Heavy => {
                let weight = student(u, HEAVY);
                (weight, weight)
            }
            Shape::SkewedUp | Shape::SkewedDown => {
                let per_width = 1.0 / self.width(u);
                let weight = student(u * per_width, SKEWED);
                (weight * per_width * per_width, weight)
            }
        }
    }

    /// The part of the deviance of a residual of `u` scales that depends on it.
    pub(super) fn deviance(self, u: f64) -> f64 {
        let student = |u: f64, freedom: f64| (freedom + 1.0) * (u * u / freedom).ln_1p();
        match self {
            Shape::Normal => u * u,
            Shape::Heavy => student(u, HEAVY),
            Shape::SkewedUp | Shape::SkewedDown => student(u / self.width(u), SKEWED),
        }
    }

    /// How wide the half is that `u` lies in.
    fn width(self, u: f64) -> f64 {
        if (u > 0.0) == (self == Shape::SkewedUp) {
            WIDER
        } else {
            1.0
        }
    }

    /// The part of the deviance of `count` values that does not depend on them.
    pub(super) fn at(self, count: usize, scale: f64) -> f64 {
        count as f64 * (2.0 * scale.ln() + self.constant()) + self.price()
    }

    /// What makes the density integrate to one: -2 ln of its factor, at scale 1.
    fn constant(self) -> f64 {
        match self {
            Shape::Normal => (2.0 * std::f64::consts::PI).ln(),
            // 2 ln(sqrt(2 pi) gamma(1) / gamma(3/2)).
            Shape::Heavy => 8.0f64.ln(),
            // 2 ln(sqrt(5 pi) gamma(5/2) / gamma(3)), and both halves share the whole.
            Shape::SkewedUp | Shape::SkewedDown => {
                1.937_239_178_1 + 2.0 * ((1.0 + WIDER) / 2.0).ln()
            }
        }
    }

    /// By how much a shape must fit better than normal noise to be preferred: few boots look
    /// skewed by chance.
    fn price(self) -> f64 {
        match self {
            Shape::Normal => 0.0,
            Shape::Heavy => PRICE_HEAVY,
            Shape::SkewedUp | Shape::SkewedDown => PRICE_SKEWED,
        }
    }
}

/// What rounding alone leaves of a scale: that of a uniform step, the smallest between values.
/// Without a least scale the fit of a heavy-tailed shape has no bottom when most values are equal.
pub(super) fn least_scale(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let step = sorted
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|step| *step > 0.0)
        .fold(f64::INFINITY, f64::min);
    if step.is_finite() {
        step / 12.0f64.sqrt()
    } else {
        f64::MIN_POSITIVE
    }
}

/// A fit by maximum likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// -2 ln of the likelihood.
    pub deviance: f64,
    /// One factor a column.
    pub factors: Row,
    /// The noise's scale, in the unit of the values.
    pub scale: f64,
}

/// Values with their columns, to be fitted.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The columns of each value.
    pub rows: Vec<Row>,
    /// The values.
    pub values: Vec<f64>,
    /// What rounding alone leaves of a scale.
    pub least_scale: f64,
}

impl Lines {
    /// Fits the first `width` columns to the values less `offset` times column `width`; from
    /// `start`, or from the means.
    pub fn fit(&self, width: usize, offset: f64, shape: Shape, start: Option<&Fit>) -> Fit {
        let mut fit = match start {
            Some(start) if shape != Shape::Normal => {
                let mut fit = *start;
                fit.factors[width..].fill(0.0);
                if offset != 0.0 {
                    fit.factors[width] = offset;
                }
                fit
            }
            _ => self.means(width, offset),
        };
        if shape != Shape::Normal {
            for _ in 0..MOST_STEPS {
                if self.step(width, shape, &mut fit) <= PRECISION * fit.scale {
                    break;
                }
            }
        }
        let sum: f64 = self
            .residuals(&fit.factors)
            .map(|r| shape.deviance(r / fit.scale))
            .sum();
        fit.deviance = sum + shape.at(self.values.len(), fit.scale);
        fit
    }

    /// What a fit leaves of the values.
    pub fn residuals(&self, factors: &Row) -> impl Iterator<Item = f64> {
        let rows = self.rows.iter().zip(&self.values);
        rows.map(|(row, value)| value - product(row, factors))
    }

    /// The fit by least squares, without its deviance.
    fn means(&self, width: usize, offset: f64) -> Fit {
        let mut fit = Fit {
            deviance: 0.0,
            factors: [0.0; MOST_COLUMNS],
            scale: 1.0,
        };
        if offset != 0.0 {
            fit.factors[width] = offset;
        }
        self.step(width, Shape::Normal, &mut fit);
        let squares: f64 = self.residuals(&fit.factors).map(|r| r * r).sum();
        let scale = (squares / self.values.len() as f64).sqrt();
        fit.scale = scale.max(self.least_scale);
        fit
    }

    /// One step of reweighting; by how much it moves the fit at most.
    fn step(&self, width: usize, shape: Shape, fit: &mut Fit) -> f64 {
        match width {
            1 => self.step_of::<1>(shape, fit),
            2 => self.step_of::<2>(shape, fit),
            3 => self.step_of::<3>(shape, fit),
            4 => self.step_of::<4>(shape, fit),
            _ => self.step_of::<MOST_COLUMNS>(shape, fit),
        }
    }

    /// The same with the number of columns known beforehand, which is several times as fast.
    fn step_of<const WIDTH: usize>(&self, shape: Shape, fit: &mut Fit) -> f64 {
        let mut equations = Equations::<WIDTH>::default();
        let (mut sum, mut all) = (0.0, 0.0);
        let per_scale = 1.0 / fit.scale;
        for (row, value) in self.rows.iter().zip(&self.values) {
            let r = value - product(row, &fit.factors);
            let (level, scale) = shape.weight(r * per_scale);
            sum += level * r * r;
            all += scale;
            equations.add(row, level, r);
        }
        let scale = (sum / all).sqrt().max(self.least_scale);
        let mut moved = (scale - fit.scale).abs();
        fit.scale = scale;
        for (factor, step) in fit.factors.iter_mut().zip(equations.solve()) {
            *factor += step;
            moved = moved.max(step.abs());
        }
        moved
    }
}

fn product(row: &Row, factors: &Row) -> f64 {
    row.iter().zip(factors).map(|(a, b)| a * b).sum()
}

/// The normal equations of weighted least squares over the first `WIDTH` columns.
struct Equations<const WIDTH: usize> {
    square: [[f64; WIDTH]; WIDTH],
    right: [f64; WIDTH],
}

impl<const WIDTH: usize> Default for Equations<WIDTH> {
    fn default() -> Self {
        Equations {
            square: [[0.0; WIDTH]; WIDTH],
            right: [0.0; WIDTH],
        }
    }
}

impl<const WIDTH: usize> Equations<WIDTH> {
    #[inline(always)]
    fn add(&mut self, row: &Row, weight: f64, value: f64) {
        for a in 0..WIDTH {
            let weighted = weight * row[a];
            self.right[a] += weighted * value;
            for (sum, other) in self.square[a].iter_mut().zip(row).take(a + 1) {
                *sum += weighted * other;
            }
        }
    }

    /// By Cholesky's factors; nothing if columns say nothing.
    fn solve(mut self) -> [f64; WIDTH] {
        let square = &mut self.square;
        for a in 0..WIDTH {
            for b in 0..=a {
                let sum: f64 = (0..b).map(|k| square[a][k] * square[b][k]).sum();
                if a == b {
                    let pivot = square[a][a] - sum;
                    if pivot <= 1e-12 * square[a][a] {
                        return [0.0; WIDTH];
                    }
                    square[a][a] = pivot.sqrt();
                } else {
                    square[a][b] = (square[a][b] - sum) / square[b][b];
                }
            }
        }
        let mut factors = [0.0; WIDTH];
        for a in 0..WIDTH {
            let sum: f64 = (0..a).map(|k| square[a][k] * factors[k]).sum();
            factors[a] = (self.right[a] - sum) / square[a][a];
        }
        for a in (0..WIDTH).rev() {
            let sum: f64 = (a + 1..WIDTH).map(|k| square[k][a] * factors[k]).sum();
            factors[a] = (factors[a] - sum) / square[a][a];
        }
        factors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(values: &[f64], shape: Shape) -> Fit {
        let lines = Lines {
            rows: vec![[1.0, 0.0, 0.0, 0.0, 0.0]; values.len()],
            values: values.to_vec(),
            least_scale: least_scale(values),
        };
        lines.fit(1, 0.0, shape, None)
    }

    /// All from scipy 1.17.1: optimize.minimize(Nelder-Mead) of -2 times the sum of logpdf.
    #[test]
    fn levels_scales_and_deviances_are_those_of_scipy() {
        let far = [1.0, 1.2, 0.9, 1.1, 1.05, 0.95, 8.0, 1.15];
        // stats.norm.
        let normal = level(&far, Shape::Normal);
        assert!((normal.factors[0] - 1.918_75).abs() < 1e-9);
        assert!((normal.scale - 2.300_399_08).abs() < 1e-7);
        assert!((normal.deviance - 36.032_338_5).abs() < 1e-6);
        // stats.t with 2 degrees of freedom: the boot at 8 hardly counts.
        let heavy = level(&far, Shape::Heavy);
        assert!((heavy.factors[0] - 1.051_155_9).abs() < 1e-4, "{heavy:?}");
        assert!((heavy.scale - 0.113_572_3).abs() < 1e-4);
        assert!((heavy.deviance - PRICE_HEAVY - 10.719_710_87).abs() < 1e-5);
        // stats.t with 5 degrees of freedom, three times as wide above, times 2 / (1 + 3).
        let skewed = [1.0, 1.2, 0.98, 1.1, 1.02, 0.97, 2.4, 1.6, 1.01, 1.9];
        let up = level(&skewed, Shape::SkewedUp);
        assert!((up.factors[0] - 1.028_896_3).abs() < 1e-4, "{up:?}");
        assert!((up.deviance - PRICE_SKEWED - 6.954_599_67).abs() < 1e-5);
        let mirrored: Vec<f64> = skewed.iter().map(|v| -v).collect();
        let down = level(&mirrored, Shape::SkewedDown);
        assert!((up.deviance - down.deviance).abs() < 1e-9);
    }

    #[test]
    fn a_straight_line_is_found_by_least_squares() {
        // y = 2 + 3 x exactly but for residuals (1, -1, -1, 1) that are orthogonal to both.
        let lines = Lines {
            rows: [-1.5, -0.5, 0.5, 1.5]
                .map(|x| [1.0, x, 0.0, 0.0, 0.0])
                .to_vec(),
            values: vec![-1.5, -0.5, 2.5, 7.5],
            least_scale: 1e-9,
        };
        let fit = lines.fit(2, 0.0, Shape::Normal, None);
        assert!((fit.factors[0] - 2.0).abs() < 1e-12 && (fit.factors[1] - 3.0).abs() < 1e-12);
        assert!((fit.scale - 1.0).abs() < 1e-12);
        // The slope held at 3 leaves the same.
        let held = lines.fit(1, 3.0, Shape::Normal, None);
        assert!((held.deviance - fit.deviance).abs() < 1e-12);
    }

    #[test]
    fn equal_values_keep_the_scale_of_their_rounding() {
        let fit = level(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0], Shape::Heavy);
        assert!(fit.deviance.is_finite());
        assert!((fit.scale - 1.0 / 12.0f64.sqrt()).abs() < 1e-12);
    }
}
