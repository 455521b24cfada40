//! Samples of a boot reduced to one value: the boot is the unit.
//!
//! The samples of all boots of a cell, base and variant alike, show what the noise within a boot
//! looks like; each boot's value is its level under the shape that fits them all best: the mean if
//! that is normal noise, and something near the median if not.

use super::noise::{Shape, candidates, least_scale};

/// By how much, in deviance a boot, another shape must fit better than normal noise: with a level
/// for every boot there is much that it can fit by chance.
const PRICE: f64 = 1.5;
const MOST_STEPS: usize = 100;
const PRECISION: f64 = 1e-3;

/// One value a boot, in order. Boots without samples have none.
pub fn levels(boots: &[Vec<f64>]) -> Vec<Option<f64>> {
    let all: Vec<f64> = boots.iter().flatten().copied().collect();
    if all.is_empty() {
        return vec![None; boots.len()];
    }
    let least = least_scale(&all);
    let (means, _) = fit(boots, all.len(), least, Shape::Normal);
    let boot_residuals = boots.iter().zip(&means);
    let residuals = boot_residuals.flat_map(|(boot, mean)| boot.iter().map(move |v| v - mean));
    let fits = candidates(residuals).map(|shape| fit(boots, all.len(), least, shape));
    let best = fits
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|fit| fit.0)
        .unwrap_or_default();
    boots
        .iter()
        .zip(best)
        .map(|(boot, level)| (!boot.is_empty()).then_some(level))
        .collect()
}

/// The levels of boots with one common scale, and the deviance.
fn fit(boots: &[Vec<f64>], count: usize, least: f64, shape: Shape) -> (Vec<f64>, f64) {
    let mut levels: Vec<f64> = boots
        .iter()
        .map(|b| b.iter().sum::<f64>() / b.len().max(1) as f64)
        .collect();
    let each = |levels: &[f64], part: &dyn Fn(f64) -> f64| -> f64 {
        let of = |(boot, level): (&Vec<f64>, &f64)| -> f64 {
            boot.iter().map(|v| part(v - level)).sum()
        };
        boots.iter().zip(levels).map(of).sum()
    };
    let scale_of = |sum: f64, all: f64| (sum / all).sqrt().max(least);
    let mut scale = scale_of(each(&levels, &|r| r * r), count as f64);
    if shape != Shape::Normal {
        for _ in 0..MOST_STEPS {
            let (mut sum, mut all) = (0.0, 0.0);
            let mut moved = 0.0f64;
            let per_scale = 1.0 / scale;
            for (boot, level) in boots.iter().zip(&mut levels) {
                let (mut top, mut bottom) = (0.0, 0.0);
                for value in boot {
                    let r = value - *level;
                    let (weight, share) = shape.weight(r * per_scale);
                    sum += weight * r * r;
                    all += share;
                    top += weight * r;
                    bottom += weight;
                }
                if bottom > 0.0 {
                    *level += top / bottom;
                    moved = moved.max((top / bottom).abs());
                }
            }
            let next = scale_of(sum, all);
            moved = moved.max((next - scale).abs());
            scale = next;
            if moved <= PRECISION * scale {
                break;
            }
        }
    }
    let sum = each(&levels, &|r| shape.deviance(r / scale));
    let price = if shape == Shape::Normal {
        0.0
    } else {
        PRICE * boots.len() as f64
    };
    (levels, sum + shape.at(count, scale) + price)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_noise_gives_means_and_empty_boots_none() {
        let boots = vec![vec![1.0, 2.0, 3.0], vec![], vec![2.0, 2.5, 3.6], vec![7.0]];
        let found: Vec<Option<f64>> = levels(&boots);
        let expected = [Some(2.0), None, Some(2.7), Some(7.0)];
        for (found, expected) in found.iter().zip(expected) {
            match (found, expected) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-12, "{a} {b}"),
                (a, b) => assert_eq!(*a, b),
            }
        }
        assert_eq!(levels(&[vec![], vec![]]), [None, None]);
    }

    #[test]
    fn a_sample_far_off_does_not_move_its_boot() {
        // Five boots at 0 to 4, the same noise in each; one sample in some lies 50 above.
        let noise = [-0.2, -0.1, 0.0, 0.1, 0.2];
        let boots: Vec<Vec<f64>> = (0..5)
            .map(|boot| {
                let mut samples = noise.map(|e| e + f64::from(boot)).to_vec();
                if boot % 2 == 0 {
                    samples[4] = 50.0;
                }
                samples
            })
            .collect();
        for (boot, level) in levels(&boots).into_iter().enumerate() {
            assert!(
                (level.unwrap() - boot as f64).abs() < 0.1,
                "{boot} {level:?}"
            );
        }
    }

    #[test]
    fn samples_that_are_all_the_same_are_their_level() {
        assert_eq!(
            levels(&[vec![3.0; 4], vec![4.0; 4]]),
            [Some(3.0), Some(4.0)]
        );
    }
}
