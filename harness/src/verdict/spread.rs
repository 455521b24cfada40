//! How far boots lie from each other in what was counted exactly, beside what the workload is for.
//!
//! In virtual time a guest that never idles runs the same number of instructions in each iteration,
//! so that instructions an operation spread as its rate does; they spread less where it waits.

use ktrial_db::{Cell, CellId, Sample, Trial};

use super::boots::levels;
use super::group::Group;
use super::{Setting, figures::percent};
use crate::counters;
use crate::counters::instructions::ALL;

/// One setting of a workload in one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The workload with its parameters.
    pub setting: String,
    /// The variant's name.
    pub variant: String,
    /// Boots that it rests on, at least two.
    pub boots: usize,
    /// By metric, what the workload is for and then instructions: the standard deviation of its
    /// boots' levels over their mean, at least 0.
    pub metrics: Vec<(String, f64)>,
}

/// Every setting whose instructions were counted.
pub fn spreads(trial: &Trial, cells: &[(CellId, Cell)], samples: &[Sample]) -> Vec<Spread> {
    let mut spreads = Vec::new();
    for (counted, cell) in cells.iter().filter(|(_, cell)| cell.metric == ALL) {
        let setting = Setting::of(cell);
        let is_measured = |other: &Cell| {
            other.primary
                && counters::source(&other.metric).is_none()
                && Setting::of(other) == setting
        };
        let measured = cells.iter().filter(|(_, other)| is_measured(other));
        let wanted: Vec<(CellId, &str)> = measured
            .map(|(id, cell)| (*id, cell.metric.as_str()))
            .chain([(*counted, ALL)])
            .collect();
        for variant in trial.variants.iter().filter(|variant| !variant.left_out) {
            let of = |(id, metric): &(CellId, &str)| {
                let group = Group::of(samples, variant.id, *id);
                let levels: Vec<f64> = levels(&group.values).into_iter().flatten().collect();
                Some(((*metric).to_owned(), coefficient(&levels)?, levels.len()))
            };
            let metrics: Option<Vec<(String, f64, usize)>> = wanted.iter().map(of).collect();
            let Some(metrics) = metrics else { continue };
            spreads.push(Spread {
                setting: setting.to_string(),
                variant: variant.name.clone(),
                boots: metrics.iter().map(|(.., boots)| *boots).min().unwrap_or(0),
                metrics: metrics
                    .into_iter()
                    .map(|(name, share, _)| (name, share))
                    .collect(),
            });
        }
    }
    spreads
}

/// The standard deviation over the mean; none of fewer than two values, or of those around 0.
fn coefficient(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean > 0.0).then(|| (squares / (count - 1.0)).sqrt() / mean)
}

/// A line for each; nothing where no instructions were counted.
pub fn render(spreads: &[Spread]) -> String {
    let line = |spread: &Spread| {
        let metrics = spread.metrics.iter();
        let metrics = metrics.map(|(name, share)| format!("{name} {}", percent(*share)));
        format!(
            "  {}, {}: {} ({} boots)\n",
            spread.setting,
            spread.variant,
            metrics.collect::<Vec<_>>().join(", "),
            spread.boots
        )
    };
    match spreads {
        [] => String::new(),
        spreads => format!(
            "\nspread over boots (standard deviation)\n{}",
            spreads.iter().map(line).collect::<String>()
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// R: sd(c(98, 100, 102)) / mean(c(98, 100, 102)) is 0.02.
    #[test]
    fn a_spread_is_the_coefficient_of_variation() {
        let close = |share: Option<f64>, right: f64| (share.unwrap() - right).abs() < 1e-12;
        assert!(close(coefficient(&[98.0, 100.0, 102.0]), 0.02));
        assert!(close(coefficient(&[5.0, 5.0]), 0.0));
        for none in [&[][..], &[1.0], &[-1.0, 1.0]] {
            assert_eq!(coefficient(none), None);
        }
        let spread = Spread {
            setting: "exec processes=1".into(),
            variant: "base".into(),
            boots: 4,
            metrics: vec![("rate".into(), 0.0112), ("tcg.all".into(), 0.0025)],
        };
        assert_eq!(
            render(&[spread]),
            "\nspread over boots (standard deviation)\n  exec processes=1, base: rate 1.12 %, tcg.all 0.25 % (4 boots)\n"
        );
        assert_eq!(render(&[]), "");
    }
}
