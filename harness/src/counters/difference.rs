//! Two kernels' profiles of one workload, function by function: what a change costs, and where.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::USER;
use super::profile::Profile;

/// One function, all of user space, or all together, in both kernels: instructions an operation, the
/// mean over boots.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The function, `user space`, `?`, or `all`.
    pub name: String,
    /// In the base.
    pub base: f64,
    /// In the variant.
    pub variant: f64,
    /// The standard error of the cost, as boots of one kernel differ; none of fewer than two boots
    /// on a side.
    pub error: Option<f64>,
}

impl Line {
    /// Of the boots of both sides.
    fn of(name: &str, sides: &[Vec<f64>; 2]) -> Line {
        let [base, variant] = sides.each_ref().map(|boots| mean(boots));
        let squares = sides.each_ref().map(|boots| squared_error(boots));
        Line {
            name: name.to_owned(),
            base,
            variant,
            error: squares[0].zip(squares[1]).map(|(a, b)| (a + b).sqrt()),
        }
    }

    /// Instructions an operation that the variant takes more.
    pub fn cost(&self) -> f64 {
        self.variant - self.base
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The square of the mean's standard error.
fn squared_error(values: &[f64]) -> Option<f64> {
    let (count, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (count - 1.0) / count)
}

/// All together, and then each function of both, those that the change costs or saves most first.
/// None where one side has no boots.
pub fn lines(base: &[&Profile], variant: &[&Profile]) -> Vec<Line> {
    if base.is_empty() || variant.is_empty() {
        return Vec::new();
    }
    let none = || [vec![0.0; base.len()], vec![0.0; variant.len()]];
    let mut all = none();
    let mut functions: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
    for (side, profiles) in [base, variant].into_iter().enumerate() {
        for (boot, profile) in profiles.iter().enumerate() {
            let user = std::iter::once((USER, profile.in_user()));
            for (name, count) in profile.by_function().chain(user) {
                functions.entry(name).or_insert_with(none)[side][boot] += count;
                all[side][boot] += count;
            }
        }
    }
    let mut lines: Vec<Line> = functions
        .iter()
        .map(|(name, sides)| Line::of(name, sides))
        .collect();
    // Stable: what costs the same stays in the order of names.
    lines.sort_by(|a, b| b.cost().abs().total_cmp(&a.cost().abs()));
    lines.insert(0, Line::of("all", &all));
    lines
}

/// A table of all together and of the first `most` functions.
pub fn render(lines: &[Line], most: usize) -> String {
    let mut text = format!(
        "  {:>12} {:>12} {:>12} {:>9}   instructions an operation\n",
        "base", "variant", "cost", "±"
    );
    for line in lines.iter().take(most.saturating_add(1)) {
        let error = line.error.map_or("?".into(), |error| format!("{error:.1}"));
        let _ = writeln!(
            text,
            "  {:12.1} {:12.1} {:+12.1} {error:>9}   {}",
            line.base,
            line.variant,
            line.cost(),
            line.name
        );
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn profile(operations: u64, user: u64, functions: &[(&str, u64)]) -> Profile {
        Profile {
            operations,
            user,
            functions: functions
                .iter()
                .map(|(n, c)| ((*n).to_owned(), *c))
                .collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn the_dearest_function_comes_first_by_instructions_an_operation() {
        // A boot that did twice as much weighs no more than another.
        let base = [
            profile(10, 100, &[("open", 1000), ("gone", 20)]),
            profile(20, 200, &[("open", 2200), ("gone", 40)]),
        ];
        let variant = [profile(5, 55, &[("open", 525), ("search", 1500)])];
        let lines = lines(&base.iter().collect::<Vec<_>>(), &[&variant[0]]);
        let found: Vec<(&str, f64, f64)> = lines
            .iter()
            .map(|line| (line.name.as_str(), line.base, line.variant))
            .collect();
        assert_eq!(
            found,
            [
                ("all", 117.0, 416.0),
                ("search", 0.0, 300.0),
                ("gone", 2.0, 0.0),
                ("user space", 10.0, 11.0),
                ("open", 105.0, 105.0),
            ]
        );
        assert_eq!((lines[1].cost(), lines[1].error), (300.0, None));
        assert_eq!(
            render(&lines, 1),
            "          base      variant         cost         ±   instructions an operation\n\
             \x20        117.0        416.0       +299.0         ?   all\n\
             \x20          0.0        300.0       +300.0         ?   search\n"
        );
    }

    /// R: sqrt(var(c(100, 110)) / 2 + var(c(120, 120)) / 2) is 5.
    #[test]
    fn a_cost_has_the_standard_error_of_a_difference_of_means() {
        let of = |count| profile(1, 0, &[("open", count)]);
        let (base, variant) = ([of(100), of(110)], [of(120), of(120)]);
        let lines = lines(&[&base[0], &base[1]], &[&variant[0], &variant[1]]);
        let open = lines.iter().find(|line| line.name == "open").unwrap();
        assert_eq!((open.cost(), open.error), (15.0, Some(5.0)));
        assert_eq!(lines[0].error, Some(5.0));
    }

    #[test]
    fn nothing_is_said_of_one_side_alone() {
        assert!(lines(&[], &[&profile(1, 1, &[])]).is_empty());
    }
}
