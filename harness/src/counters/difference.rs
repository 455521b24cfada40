//! Two kernels' profiles of one workload, function by function: what a change costs, and where.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::profile::Profile;

/// One function, or all of user space, in both kernels: instructions an operation, the mean over
/// boots.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The function, `user space`, or `?`.
    pub name: String,
    /// In the base.
    pub base: f64,
    /// In the variant.
    pub variant: f64,
}

impl Line {
    /// Instructions an operation that the variant takes more.
    pub fn cost(&self) -> f64 {
        self.variant - self.base
    }
}

/// What user space is called among the functions.
const USER: &str = "user space";

/// All functions of both, those that the change costs or saves most first. None of no boots.
pub fn lines(base: &[&Profile], variant: &[&Profile]) -> Vec<Line> {
    if base.is_empty() || variant.is_empty() {
        return Vec::new();
    }
    let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (side, profiles) in [base, variant].into_iter().enumerate() {
        let boots = profiles.len() as f64;
        for profile in profiles {
            let user = std::iter::once((USER, profile.in_user()));
            for (name, count) in profile.by_function().chain(user) {
                sums.entry(name).or_default()[side] += count / boots;
            }
        }
    }
    let mut lines: Vec<Line> = sums
        .into_iter()
        .map(|(name, [base, variant])| Line {
            name: name.to_owned(),
            base,
            variant,
        })
        .collect();
    // Stable: what costs the same stays in the order of names.
    lines.sort_by(|a, b| b.cost().abs().total_cmp(&a.cost().abs()));
    lines
}

/// A table of the first `most` lines, and of their sum.
pub fn render(lines: &[Line], most: usize) -> String {
    let mut text = format!(
        "  {:>12} {:>12} {:>12}   instructions an operation\n",
        "base", "variant", "cost"
    );
    let all = |of: fn(&Line) -> f64| lines.iter().map(of).sum::<f64>();
    let mut row = |base: f64, variant: f64, name: &str| {
        let cost = variant - base;
        let _ = writeln!(text, "  {base:12.1} {variant:12.1} {cost:+12.1}   {name}");
    };
    row(all(|line| line.base), all(|line| line.variant), "all");
    for line in lines.iter().take(most) {
        row(line.base, line.variant, &line.name);
    }
    text
}

#[cfg(test)]
mod tests {
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
                ("search", 0.0, 300.0),
                ("gone", 2.0, 0.0),
                ("user space", 10.0, 11.0),
                ("open", 105.0, 105.0),
            ]
        );
        assert_eq!(lines[0].cost(), 300.0);
        assert_eq!(
            render(&lines, 1),
            "          base      variant         cost   instructions an operation\n\
             \x20        117.0        416.0       +299.0   all\n\
             \x20          0.0        300.0       +300.0   search\n"
        );
    }

    #[test]
    fn nothing_is_said_of_one_side_alone() {
        assert!(lines(&[], &[&profile(1, 1, &[])]).is_empty());
    }
}
