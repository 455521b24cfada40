//! Tables that were found by simulation, with lines between their rows.

/// The value at `at` in a table sorted by the first of each pair; beyond its ends, that of the end.
pub(super) fn line_between(table: &[(f64, f64)], at: f64) -> f64 {
    let after = table.partition_point(|row| row.0 < at);
    match (table.get(after.wrapping_sub(1)), table.get(after)) {
        (Some((from, low)), Some((to, high))) => low + (high - low) * (at - from) / (to - from),
        (Some((_, end)), None) | (None, Some((_, end))) => *end,
        (None, None) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_on_lines_and_ends_are_flat() {
        let table = [(2.0, 10.0), (4.0, 20.0), (8.0, 0.0)];
        for (at, value) in [
            (1.0, 10.0),
            (2.0, 10.0),
            (3.0, 15.0),
            (4.0, 20.0),
            (7.0, 5.0),
            (9.0, 0.0),
        ] {
            assert_eq!(line_between(&table, at), value, "{at}");
        }
    }
}
