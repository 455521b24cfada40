//! The noise of a series, without what changes and outliers add to it.

/// Residuals beyond this many sigmas are outliers and say nothing of the noise.
const BEYOND: f64 = 4.0;
/// The variance of normal noise within [`BEYOND`] sigmas, as a share of the whole:
/// 1 - 2 c phi(c) / (2 Phi(c) - 1) with c = 4.
const KEPT_VARIANCE: f64 = 0.998_929_29;
/// The standard deviation of normal noise, in medians of its distances from 0.
const OF_MEDIAN: f64 = 1.482_602;
/// Rounds of finding outliers; it settles after two or three.
const ROUNDS: usize = 6;

/// Sigma by the differences of neighbours, which a change of level hardly touches: their median,
/// scaled; the mean of the lower nine tenths where most differences are zero.
pub fn by_differences(values: &[f64]) -> f64 {
    let pairs = values.windows(2);
    let mut differences: Vec<f64> = pairs.map(|pair| (pair[1] - pair[0]).abs()).collect();
    let middle = middle(&mut differences);
    if middle > 0.0 {
        return OF_MEDIAN * middle / std::f64::consts::SQRT_2;
    }
    differences.sort_by(f64::total_cmp);
    let kept = &differences[..differences.len() * 9 / 10];
    // The mean distance of two normal values is 2 / sqrt(pi) sigma.
    let mean = kept.iter().sum::<f64>() / kept.len().max(1) as f64;
    mean * std::f64::consts::PI.sqrt() / 2.0
}

/// The median, the upper one of an even number; 0 of nothing. Changes the order.
pub(super) fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let at = values.len() / 2;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

/// Sigma by the distances of values from their levels, of which there are `levels`: the standard
/// deviation without outliers, which are those beyond 4 of the sigma that is left. Begins with
/// `rough`, or with what the median says if that is more: too few outliers are found at first, and
/// not too many.
pub fn by_residuals(residuals: &[f64], levels: usize, rough: f64) -> f64 {
    let mut residuals: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    let mut sigma = rough.max(OF_MEDIAN * middle(&mut residuals));
    for _ in 0..ROUNDS {
        let near = residuals.iter().filter(|r| **r <= BEYOND * sigma);
        let (squares, count) = near.fold((0.0, 0), |(s, n), r| (s + r * r, n + 1));
        let freedom = usize::saturating_sub(count, levels).max(1) as f64;
        let next = (squares / freedom / KEPT_VARIANCE).sqrt();
        if next == sigma {
            break;
        }
        sigma = next;
    }
    sigma
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_are_those_of_the_normal_distribution() {
        // scipy 1.17.1: 1 / stats.norm.ppf(0.75), stats.truncnorm(-4, 4).var().
        assert!((OF_MEDIAN - 1.482_602_218_505_602).abs() < 1e-6);
        assert!((KEPT_VARIANCE - 0.998_929_290_372_474).abs() < 1e-7);
    }

    #[test]
    fn differences_of_a_step_and_of_ties() {
        // Differences 1, 1, 100, 1, 1: the median is 1.
        let sigma = by_differences(&[0.0, 1.0, 0.0, 100.0, 101.0, 100.0]);
        assert!((sigma - OF_MEDIAN / 2f64.sqrt()).abs() < 1e-12);
        // Of ten differences nine are kept, of which two are 1: mean 2/9.
        let ties = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 9.0];
        let mean = 2.0 / 9.0;
        assert!((by_differences(&ties) - mean * 0.886_226_925_452_758).abs() < 1e-12);
        assert_eq!(by_differences(&[3.0; 9]), 0.0);
        assert_eq!(by_differences(&[]), 0.0);
    }

    #[test]
    fn an_outlier_says_nothing_of_the_noise() {
        // Eight squares of 1 over 8 - 2 degrees of freedom.
        let residuals = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 500.0];
        let sigma = by_residuals(&residuals, 2, 0.5);
        let expected = (8.0f64 / 6.0 / KEPT_VARIANCE).sqrt();
        assert!((sigma - expected).abs() < 1e-12, "{sigma}");
        assert_eq!(by_residuals(&[], 0, 0.0), 0.0);
    }
}
