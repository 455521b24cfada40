//! Exact chances of signs and of ranks.

/// Two-sided p-value of `more` against `fewer` signs, each as likely as the other: the sign test.
pub(super) fn signs(up: usize, down: usize) -> f64 {
    let (all, fewer) = (up + down, up.min(down));
    // P(X = i) for i from 0 on, by logarithms, as 2^-n has no number for many boots.
    let mut log = -(all as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for i in 0..=fewer {
        sum += log.exp();
        log += ((all - i) as f64 / (i + 1) as f64).ln();
    }
    (2.0 * sum).min(1.0)
}

/// Two-sided p-value of Kendall's S of `n` values in an order where all are as likely (Kendall,
/// Biometrika 30, 1938, p. 81; Mann, Econometrica 13, 1945, p. 245, as a test of trend). Exact
/// without ties; ties make S smaller, and the p-value too large.
pub(super) fn kendall(s: i64, n: usize) -> f64 {
    // Inversions of a random order: the i-th value comes before 0 to i - 1 of those there.
    let mut chances = vec![1.0];
    for i in 2..=n {
        let mut next = vec![0.0; chances.len() + i - 1];
        let mut window = 0.0;
        for (at, chance) in next.iter_mut().enumerate() {
            window += chances.get(at).unwrap_or(&0.0);
            if at >= i {
                window -= chances.get(at - i).unwrap_or(&0.0);
            }
            *chance = window / i as f64;
        }
        chances = next;
    }
    // S is the number of pairs less twice the inversions; both ends are as likely.
    let pairs = n * n.saturating_sub(1) / 2;
    let inversions = pairs.saturating_sub(s.unsigned_abs() as usize) / 2;
    let tail: f64 = chances.iter().take(inversions + 1).sum();
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_those_of_scipy() {
        // scipy 1.17.1: binomtest(k, n).pvalue.
        for (up, down, p) in [
            (1, 9, 0.021_484_375),
            (12, 0, 0.000_488_281_25),
            (20, 4, 0.001_543_879_508_972_168),
            (7, 7, 1.0),
            (1_100, 1_300, 4.818_464_103_380_2e-5),
        ] {
            let found = signs(up, down);
            assert!(
                (found - p).abs() < 1e-9 * p.max(1e-3),
                "{up} {down} {found}"
            );
        }
        assert_eq!(signs(0, 0), 1.0);
    }

    #[test]
    fn kendalls_chances_are_those_of_scipy() {
        // scipy 1.17.1: kendalltau(range(n), y, method="exact").pvalue; of six and of five all in
        // order, two of 720 and two of 120.
        for (s, n, p) in [
            (15, 6, 2.0 / 720.0),
            (-15, 6, 2.0 / 720.0),
            (10, 5, 2.0 / 120.0),
            (20, 8, 0.014_136_904_761_904_762),
            (54, 12, 4.412_928_892_095_558_4e-5),
            (0, 4, 1.0),
            (0, 1, 1.0),
        ] {
            let found = kendall(s, n);
            assert!((found - p).abs() < 1e-15, "{s} {n} {found}");
        }
    }
}
