//! The rank sum test of Mann and Whitney, exact.

/// P(U <= u) of the Mann–Whitney statistic for two numbers of boots.
#[derive(Debug, Clone, PartialEq)]
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

/// P(U = u) for u from 0 to n·m, by Mann and Whitney's recurrence (Ann. Math. Statist. 18, 1947,
/// p. 50 f.), on probabilities so that no count overflows: with chance m/(n+m) the largest value
/// is of the second group and beats all n of the first.
fn distribution(n: usize, m: usize) -> Vec<f64> {
    // row[j] is the distribution for (i, j), i growing.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let second = j as f64 / (i + j) as f64;
            let mut cell = vec![0.0; i * j + 1];
            for (u, p) in row[j].iter().enumerate() {
                cell[u] += (1.0 - second) * p;
            }
            for (u, p) in next[j - 1].iter().enumerate() {
                cell[u + i] += second * p;
            }
            next.push(cell);
        }
        row = next;
    }
    row.swap_remove(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cumulative(n: usize, m: usize, u: usize) -> f64 {
        distribution(n, m).iter().take(u + 1).sum()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_distribution_is_the_one_of_the_tables() {
        // Mann & Whitney 1947, table I: n = m = 5, P(U <= 2) = .008, P(U <= 4) = .048 (one-sided
        // table: 2/126 ... as fractions of 252 arrangements: 4 and 12).
        assert!(close(cumulative(5, 5, 2), 4.0 / 252.0));
        assert!(close(cumulative(5, 5, 4), 12.0 / 252.0));
        assert!(close(cumulative(3, 3, 0), 1.0 / 20.0));
        assert!(close(cumulative(3, 4, 2), 4.0 / 35.0));
        assert!(close(distribution(7, 9).iter().sum(), 1.0));
    }

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
