//! Many comparisons: a trial has dozens of cells, and one in twenty would differ by chance.

/// Replaces p-values by Benjamini and Hochberg's adjusted ones (J. R. Statist. Soc. B 57, 1995,
/// p. 293): the smallest false discovery rate at which each would be called a discovery.
/// Entries without a p-value are no comparisons and stay.
pub fn benjamini_hochberg(p: &mut [Option<f64>]) {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| p[i].is_some()).collect();
    let value = |p: &[Option<f64>], i: usize| p[i].unwrap_or(1.0);
    order.sort_by(|&a, &b| value(p, a).total_cmp(&value(p, b)));
    let tests = order.len() as f64;
    let mut least = 1.0f64;
    for (rank, &i) in order.iter().enumerate().rev() {
        least = least.min(value(p, i) * tests / (rank + 1) as f64);
        p[i] = Some(least);
    }
}

/// The same within each family of comparisons: entries with equal `families`.
pub fn by_family<K: PartialEq>(p: &mut [Option<f64>], families: &[K]) {
    let mut done = vec![false; p.len().min(families.len())];
    for first in 0..done.len() {
        if done[first] {
            continue;
        }
        let same: Vec<usize> = (first..done.len())
            .filter(|&i| families[i] == families[first])
            .collect();
        let mut own: Vec<Option<f64>> = same.iter().map(|&i| p[i]).collect();
        benjamini_hochberg(&mut own);
        for (&i, adjusted) in same.iter().zip(own) {
            (p[i], done[i]) = (adjusted, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_do_not_weigh_on_each_other() {
        let mut p = [
            Some(0.01),
            Some(0.5),
            Some(0.04),
            None,
            Some(0.03),
            Some(0.2),
        ];
        by_family(&mut p, &["a", "b", "a", "b", "a", "a"]);
        let mut alone = [Some(0.01), Some(0.04), Some(0.03), Some(0.2)];
        benjamini_hochberg(&mut alone);
        assert_eq!(p, [alone[0], Some(0.5), alone[1], None, alone[2], alone[3]]);
    }

    #[test]
    fn the_adjusted_values_are_those_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.2), "BH") gives 0.04 0.0533... 0.0533... 0.2.
        let mut p = [Some(0.01), None, Some(0.04), Some(0.03), Some(0.2)];
        benjamini_hochberg(&mut p);
        let expected = [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.2];
        for (got, want) in p.iter().flatten().zip(expected) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        assert_eq!(p[1], None);
    }
}
