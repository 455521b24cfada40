//! Whether outliers carry the result: what means would say with them and without.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::outliers::marked;
use super::{Group, Note};
use crate::verdict::student;

/// The level at which means are asked; equivalence is two one-sided tests at the same.
const LEVEL: f64 = 0.05;

/// What a comparison of means says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Higher than the base, by more than the margin.
    Higher,
    /// Lower than the base, by more than the margin.
    Lower,
    /// Inside the margin.
    Same,
    /// None of these.
    Open,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::Higher => "higher",
            Answer::Lower => "lower",
            Answer::Same => "the same",
            Answer::Open => "open",
        })
    }
}

/// Says so when marked boots change the answer of the means, or move them by more than the margin.
pub(super) fn note(base: &Group, variant: &Group, margin: f64) -> Option<Note> {
    let sides = [base.levels(), variant.levels()];
    let marks = [marked(&sides[0]), marked(&sides[1])];
    let count = marks.iter().flatten().filter(|mark| **mark).count();
    if count == 0 {
        return None;
    }
    let rest = |side: usize| -> Vec<f64> {
        let values = sides[side].iter().zip(&marks[side]);
        values
            .filter(|(_, mark)| !**mark)
            .map(|(v, _)| *v)
            .collect()
    };
    let edge = margin.ln_1p();
    let (with, answer_with) = compare(&sides[0], &sides[1], edge)?;
    let (without, answer_without) = compare(&rest(0), &rest(1), edge)?;
    let carried = answer_with != answer_without || (with - without).abs() > edge;
    carried.then(|| Note::Carried {
        boots: count,
        with: with.exp_m1(),
        without: without.exp_m1(),
        answer_with,
        answer_without,
    })
}

/// The difference of means and what Student's t says of it.
fn compare(base: &[f64], variant: &[f64], edge: f64) -> Option<(f64, Answer)> {
    let freedom = (base.len() + variant.len())
        .checked_sub(2)
        .filter(|n| *n > 0)?;
    let [first, second] = [moments(base)?, moments(variant)?];
    let shift = second.0 - first.0;
    let per_boot = 1.0 / base.len() as f64 + 1.0 / variant.len() as f64;
    let error = ((first.1 + second.1) / freedom as f64 * per_boot).sqrt();
    let chance = |from: f64| student::two_sided((shift - from) / error, freedom);
    // One side of a two-sided chance is half of it, on the side where it lies.
    let inside = shift.abs() < edge && chance(edge).max(chance(-edge)) / 2.0 <= LEVEL;
    let answer = if inside {
        Answer::Same
    } else if shift.abs() > edge && chance(0.0) <= LEVEL {
        if shift > 0.0 {
            Answer::Higher
        } else {
            Answer::Lower
        }
    } else {
        Answer::Open
    };
    Some((shift, answer))
}

/// Mean and sum of squares about it. `None` without values.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
    mean.is_finite().then_some((mean, squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_students_test() {
        // scipy 1.17.1: ttest_ind of the first pair: p = 0.00105. Of the second, moved by 0.02
        // either way, one-sided: 6.2e-6 and 2.9e-6; moved by 0.001: 0.5 and 0.17.
        let base = [1.0, 2.0, 3.0, 4.0, 5.0];
        let higher = base.map(|v| v + 5.0);
        assert_eq!(compare(&base, &higher, 0.5).unwrap(), (5.0, Answer::Higher));
        assert_eq!(compare(&higher, &base, 0.5).unwrap(), (-5.0, Answer::Lower));
        let near = [1.000, 1.002, 0.998, 1.004, 0.996];
        let other = near.map(|v| v + 0.001);
        assert_eq!(compare(&near, &other, 0.02).unwrap().1, Answer::Same);
        assert_eq!(compare(&near, &other, 0.001).unwrap().1, Answer::Open);
        assert!(compare(&[1.0], &[2.0], 0.1).is_none());
        assert!(compare(&[], &[1.0, 2.0, 3.0], 0.1).is_none());
    }
}
