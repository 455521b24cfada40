//! Boots and samples that lie far from the others.
//!
//! A value is marked when it lies more than k scaled median absolute deviations from the median
//! (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993). Their k of 3.5 marks
//! something in one of nine groups of 12 normal values, so k here grows where values are few and
//! their deviation is known badly, and where they are many: in about 1 of 200 groups of normal
//! values one is marked. k is 8.2 for 10 values, 5.8 for 20, 4.9 for 40. Fewer than five mark none.

use super::note::MarkedBoot;
use super::{Group, Note, median};

/// The median absolute deviation of normal noise, times this, is its standard deviation.
const MAD_TO_SIGMA: f64 = 1.4826;
/// The same for the mean absolute deviation: the root of pi/2.
const MEAN_TO_SIGMA: f64 = 1.2533;
/// The share of groups of normal values in which something is marked.
const LEVEL: f64 = 0.005;
const LEAST: usize = 5;
/// With two samples in a boot, nobody knows which of them is odd.
const LEAST_SAMPLES: usize = 3;

/// Which values lie far from the median of all.
pub(super) fn marked(values: &[f64]) -> Vec<bool> {
    let Some(middle) = median(values).filter(|_| values.len() >= LEAST) else {
        return vec![false; values.len()];
    };
    let away: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let far = threshold(values.len()) * scale(&away);
    // Without any spread nothing is far.
    away.iter().map(|away| far > 0.0 && *away > far).collect()
}

/// The scaled MAD, given distances from the median; where more than half of them are zero, the
/// scaled mean instead.
fn scale(away: &[f64]) -> f64 {
    let mad = MAD_TO_SIGMA * median(away).unwrap_or_default();
    if mad > 0.0 {
        return mad;
    }
    MEAN_TO_SIGMA * away.iter().sum::<f64>() / away.len().max(1) as f64
}

/// How many scaled MADs are far among `count` values: as for one normal value among so many, and
/// more where the MAD is known badly. The second factor is fitted to simulations.
fn threshold(count: usize) -> f64 {
    let even = (count & !1) as f64;
    normal_tail(LEVEL / 2.0 / count as f64) * (1.0 + 10.5 / (even - 2.2))
}

/// Where the normal distribution leaves `chance` (up to 1/2) above; to 0.0005.
///
/// Source: Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.2.23.
fn normal_tail(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// The boots of a side that lie far from the others.
pub(super) fn of_boots(group: &Group, floor: f64) -> Option<Note> {
    let middle = group.middle();
    let marks = marked(&group.levels());
    let far = group.boots.iter().zip(marks);
    let far = far.filter(|(boot, mark)| *mark && (boot.level - middle).abs() >= floor);
    let mut boots: Vec<MarkedBoot> = far
        .map(|(boot, _)| MarkedBoot {
            round: boot.round,
            by: (boot.level - middle).exp_m1(),
        })
        .collect();
    boots.sort_by(|a, b| b.by.abs().total_cmp(&a.by.abs()));
    (!boots.is_empty()).then(|| Note::Boots {
        of: group.name.to_owned(),
        out_of: group.boots.len(),
        boots,
    })
}

/// The samples of a side that lie far from the level of their boot and what is `usual` at their
/// place in it.
pub(super) fn of_samples(group: &Group, usual: &[f64], floor: f64) -> Option<Note> {
    let many = |boot: &&super::Boot| boot.samples.len() >= LEAST_SAMPLES;
    let from_level = |boot: &super::Boot| -> Vec<(u32, f64)> {
        let usual = usual.iter().chain(std::iter::repeat(&0.0));
        let samples = boot.samples.iter().zip(usual);
        samples
            .map(|(sample, usual)| (boot.round, sample - boot.level - usual))
            .collect()
    };
    let all: Vec<(u32, f64)> = group
        .boots
        .iter()
        .filter(many)
        .flat_map(from_level)
        .collect();
    let away: Vec<f64> = all.iter().map(|(_, away)| *away).collect();
    let marks = marked(&away);
    let far = all.iter().zip(marks);
    let far: Vec<(u32, f64)> = far
        .filter(|((_, away), mark)| *mark && away.abs() >= floor)
        .map(|(sample, _)| *sample)
        .collect();
    let farthest = far.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    Some(Note::Samples {
        of: group.name.to_owned(),
        count: far.len(),
        out_of: all.len(),
        farthest: MarkedBoot {
            round: farthest.0,
            by: farthest.1.exp_m1(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_the_one_of_scipy() {
        // scipy 1.17.1: stats.median_abs_deviation([2.1, 2.4, 1.9, 7.5, 2.2, 2.0]) = 0.2, so 0.29652.
        let values: [f64; 6] = [2.1, 2.4, 1.9, 7.5, 2.2, 2.0];
        let away = values.map(|v| (v - 2.15).abs());
        assert!((scale(&away) - 0.296_52).abs() < 1e-9, "{}", scale(&away));
        // More than half are zero: the mean, 1.5, times the root of pi/2.
        assert!((scale(&[0.0, 0.0, 0.0, 6.0]) - 1.5 * 1.2533).abs() < 1e-12);
        assert_eq!(scale(&[0.0; 4]), 0.0);
    }

    #[test]
    fn the_normal_distribution_ends_where_scipy_says() {
        // scipy 1.17.1: norm.isf.
        for (chance, at) in [(0.025, 1.959_964), (2.5e-4, 3.480_756), (1e-6, 4.753_424)] {
            assert!((normal_tail(chance) - at).abs() < 5e-4, "{chance}");
        }
    }

    #[test]
    fn one_boot_far_off_is_marked_wherever_it_is_and_no_other() {
        let near = [
            1.0, 1.2, 0.9, 1.1, 1.05, 0.95, 1.15, 1.02, 0.98, 1.07, 0.93, 1.03,
        ];
        assert_eq!(marked(&near), [false; 12]);
        for at in 0..12 {
            let mut values = near;
            values[at] = 3.0;
            let marks = marked(&values);
            assert!(marks.iter().enumerate().all(|(i, mark)| *mark == (i == at)));
        }
    }

    #[test]
    fn equal_values_mark_nothing_and_the_one_that_differs_among_them_is_marked() {
        assert_eq!(marked(&[5.0; 8]), [false; 8]);
        let mut values = [5.0; 20];
        values[3] = 6.0;
        assert_eq!(marked(&values).iter().filter(|mark| **mark).count(), 1);
        // Two are a third of six: no outliers.
        assert_eq!(marked(&[5.0, 5.0, 5.0, 5.0, 6.0, 6.0]), [false; 6]);
        assert_eq!(marked(&[1.0, 1.0, 1.0, 99.0]), [false; 4]);
        assert!(marked(&[]).is_empty());
    }
}
