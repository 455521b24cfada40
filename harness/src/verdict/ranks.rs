//! The rank sum test of Mann and Whitney, exact.

use super::shift::distribution;

/// P(U <= u) of the Mann–Whitney statistic for two numbers of boots.
#[derive(Debug, Clone)]
pub struct RankSums {
    below: std::sync::Arc<[f64]>,
}

impl RankSums {
    /// The table for `n` against `m` boots.
    pub fn new(n: usize, m: usize) -> RankSums {
        let below = distribution(n, m).into_iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        RankSums {
            below: below.collect(),
        }
    }

    /// Two-sided p-value of "the shift is `shift`", given all differences, sorted. A tie counts
    /// half, and half a count is rounded towards "no difference".
    pub fn p(&self, differences: &[f64], shift: f64) -> f64 {
        let all = differences.len();
        let below = differences.partition_point(|d| *d < shift);
        let up_to = differences.partition_point(|d| *d <= shift);
        // Twice the smaller of both counts, rounded up.
        let twice = (below + up_to).min(2 * all - below - up_to);
        self.p_of_count(twice.div_ceil(2))
    }

    /// Two-sided p-value of the smaller of both counts.
    pub fn p_of_count(&self, count: usize) -> f64 {
        self.below.get(count).map_or(1.0, |p| (2.0 * p).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_p_values_are_those_of_scipy() {
        // scipy 1.17.1: mannwhitneyu([1..5], [6..10], method="exact").pvalue = 0.007936507936507936;
        // with 5.5 moved in between: mannwhitneyu([1,2,3,4,7.5], [6,7,8,9,10]).pvalue.
        let differences = |a: &[f64], b: &[f64]| {
            let mut all: Vec<f64> = b
                .iter()
                .flat_map(|b| a.iter().map(move |a| b - a))
                .collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let ranks = RankSums::new(5, 5);
        let apart = differences(&[1., 2., 3., 4., 5.], &[6., 7., 8., 9., 10.]);
        assert!((ranks.p(&apart, 0.0) - 2.0 / 252.0).abs() < 1e-12);
        let mixed = differences(&[1., 2., 3., 4., 7.5], &[6., 7., 8., 9., 10.]);
        assert!((ranks.p(&mixed, 0.0) - 8.0 / 252.0).abs() < 1e-12);
    }
}
