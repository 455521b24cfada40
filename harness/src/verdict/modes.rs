//! Boots in two modes, over the cells of a trial.
//!
//! Where boots fall into two modes by chance, all of base may be in one and all of variant in the
//! other: with 5 boots a side and modes as frequent, that happens in one of 512 cells, and the boots
//! of such a cell look just like a shift with little noise. With more boots, most may be apart and
//! the others look like outliers. No test of that cell alone can tell; but the other cells of its
//! trial show whether boots fall into modes here. As far as they do, ranks are trusted instead.

use super::lookup::line_between;

/// One way to put a group's boots into two modes: the largest of them into the upper one.
struct Cut {
    /// By how much those in the upper mode lie above the group's mean, summed up.
    above: f64,
    /// The squares of the boots' places, 0 or 1, around their mean.
    squares: f64,
    /// Boots in the mode with fewer.
    fewer: usize,
}

fn cuts(values: &[f64]) -> Vec<Cut> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut sorted: Vec<f64> = values.iter().map(|v| v - mean).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut above = 0.0;
    let cut = |(upper, value): (usize, &f64)| {
        let cut = Cut {
            above,
            squares: (upper * (n - upper)) as f64 / n as f64,
            fewer: upper.min(n - upper),
        };
        above += value;
        cut
    };
    sorted.iter().enumerate().map(cut).collect()
}

/// How much of the spread within two groups two modes explain, the same distance apart in both: 0
/// to 1. Each boot is in either mode, as fits best, but a fifth of them and at least two are not in
/// their group's more frequent one: fewer are outliers.
pub fn explained(base: &[f64], variant: &[f64]) -> Option<f64> {
    let squares = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
    };
    let all = squares(base) + squares(variant);
    let least = (base.len() + variant.len()).div_ceil(5).max(2);
    let (of_base, of_variant) = (cuts(base), cuts(variant));
    let pairs = of_base
        .iter()
        .flat_map(|a| of_variant.iter().map(move |b| (a, b)));
    let most = pairs
        .filter(|(a, b)| a.fewer + b.fewer >= least)
        .map(|(a, b)| (a.above + b.above).powi(2) / (a.squares + b.squares))
        .fold(0.0, f64::max);
    (all > 0.0).then(|| most / all)
}

/// How much the boots of a cell look like two modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Above what normal noise looks like, in its standard deviations.
    above: f64,
    /// What that counts: the more boots, the less power ranks cost, and the sooner they are trusted.
    weight: f64,
}

/// Of more boots a side than these, so many are looked at, evenly spread: all ways of falling into
/// modes are tried.
const MOST_BOOTS: usize = 40;
/// The boots of both sides at which a standard deviation counts as one.
const BOOTS: f64 = 10.0;

/// Looks at the boots of a cell. `None` where nothing can be said.
pub fn score(base: &[f64], variant: &[f64]) -> Option<Score> {
    if base.len().min(variant.len()) < 3 {
        return None;
    }
    let [base, variant] = [base, variant].map(|boots| {
        let step = (boots.len() as f64 / MOST_BOOTS as f64).max(1.0);
        let places = (0..boots.len().min(MOST_BOOTS)).map(|i| (i as f64 * step) as usize);
        places.map(|place| boots[place]).collect::<Vec<f64>>()
    });
    let boots = (base.len() + variant.len()) as f64;
    let above = explained(&base, &variant)? - line_between(&EXPECTED, boots);
    Some(Score {
        above: above / line_between(&DEVIATION, boots),
        weight: boots / BOOTS,
    })
}

/// By how much two modes explain normal noise, by the boots of both sides, and its standard
/// deviation; both made by `bench/verdicts --calibrate`.
const EXPECTED: [(f64, f64); 10] = [
    (6.0, 0.8148),
    (8.0, 0.8033),
    (10.0, 0.7801),
    (12.0, 0.7544),
    (14.0, 0.7424),
    (16.0, 0.7278),
    (20.0, 0.7132),
    (24.0, 0.7010),
    (40.0, 0.6762),
    (80.0, 0.6568),
];
const DEVIATION: [(f64, f64); 10] = [
    (6.0, 0.1136),
    (8.0, 0.0839),
    (10.0, 0.0756),
    (12.0, 0.0753),
    (14.0, 0.0700),
    (16.0, 0.0686),
    (20.0, 0.0622),
    (24.0, 0.0585),
    (40.0, 0.0479),
    (80.0, 0.0357),
];

/// So many standard errors are put down to chance.
const SHY: f64 = 0.75;

/// How far ranks are to be trusted instead, 0 to 1: the mean of what the scores of a trial's cells
/// count, less what it may be by chance.
pub fn share(scores: impl Iterator<Item = Score>) -> f64 {
    let (mut sum, mut squares, mut count) = (0.0, 0.0f64, 0.0);
    for score in scores {
        sum += score.weight * score.above;
        squares += score.weight.powi(2);
        count += 1.0;
    }
    if count == 0.0 {
        return 0.0;
    }
    ((sum - SHY * squares.sqrt()) / count).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_modes_explain_what_the_best_of_all_cuts_explains() {
        // Base in two modes, 0 and 10, variant with one boot of three in the upper: with the modes'
        // means in both groups (0.1 and 10; 0.05 and 10) nearly all is explained. By hand, all cuts:
        // numpy 2.4.6, least squares over every assignment of boots to modes.
        let found = explained(&[0.0, 0.2, 10.0], &[0.0, 0.1, 10.0]).unwrap();
        assert!((found - 0.999_803_35).abs() < 1e-8, "{found}");
        assert_eq!(explained(&[1.0; 3], &[2.0; 3]), None);
    }

    #[test]
    fn the_share_is_what_chance_does_not_explain() {
        let of = |above: f64, weight: f64, count: usize| {
            share(std::iter::repeat_n(Score { above, weight }, count))
        };
        assert_eq!(of(0.0, 1.0, 0), 0.0);
        assert_eq!(of(0.7, 1.0, 1), 0.0);
        // 0.5 less 0.75 / sqrt(100); and twice that for twice the boots.
        assert!((of(0.5, 1.0, 100) - 0.425).abs() < 1e-12);
        assert!((of(0.5, 2.0, 100) - 0.85).abs() < 1e-12);
        assert_eq!(of(3.0, 1.0, 100), 1.0);
    }

    #[test]
    fn many_boots_are_looked_at_too() {
        let modes: Vec<f64> = (0..90)
            .map(|i| f64::from(i % 2) + 1e-3 * f64::from(i % 7))
            .collect();
        let score = score(&modes, &modes).unwrap();
        assert!(score.above > 5.0, "{score:?}");
        assert_eq!(share([score; 2].into_iter()), 1.0);
    }

    #[test]
    fn modes_score_high_and_normal_noise_does_not() {
        // numpy 2.4.6: default_rng(7).standard_normal(10).
        let noise = [
            0.00123, 0.29875, -0.27414, -0.89059, -0.45467, -0.99165, 0.06014, 1.34022, -0.49221,
            -0.62047,
        ];
        let modes: Vec<f64> = noise
            .iter()
            .zip(0..)
            .map(|(e, i)| 0.2 * e + f64::from(i % 2))
            .collect();
        let score = |values: &[f64]| score(&values[..5], &values[5..]).unwrap();
        assert!(score(&noise).above < 1.0, "{:?}", score(&noise));
        assert!(score(&modes).above > 1.5, "{:?}", score(&modes));
    }

    #[test]
    fn few_boots_have_no_score() {
        assert_eq!(score(&[1.0, 2.0], &[1.0, 2.0]), None);
    }
}
