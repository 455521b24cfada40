//! What people use today, written anew from their sources.

/// ministat, FreeBSD `usr.bin/ministat/ministat.c`, `Relative()`: Student's t with pooled variance
/// over all values; its table of quantiles at 95 % is Student's to three digits. The p-value.
pub fn ministat(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len() as f64, b.len() as f64);
    let squares = |values: &[f64]| {
        let mean = mean(values);
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
    };
    let freedom = a.len() + b.len() - 2;
    let pooled = (squares(a) + squares(b)) / freedom as f64;
    let t = (mean(b) - mean(a)) / (pooled * (1.0 / n + 1.0 / m)).sqrt();
    ktrial::verdict::student::two_sided(t, freedom)
}

/// benchstat, golang.org/x/perf `benchmath/anone.go` and `aclements/go-moremath`
/// `stats/utest.go`: Mann and Whitney's test, exact up to 50 values a side, else normal with
/// corrections for continuity. The p-value.
pub fn benchstat(a: &[f64], b: &[f64], exact: &ktrial::verdict::ranks::RankSums) -> f64 {
    let mut u: f64 = 0.0;
    for x in a {
        for y in b {
            u += if y > x {
                1.0
            } else if y == x {
                0.5
            } else {
                0.0
            };
        }
    }
    let (n, m) = (a.len() as f64, b.len() as f64);
    if a.len() <= 50 && b.len() <= 50 {
        return exact.p_of_count((u.min(n * m - u)).ceil() as usize);
    }
    let away = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    normal_two_sided(away / (n * m * (n + m + 1.0) / 12.0).sqrt())
}

/// LKP, intel/lkp-tests `lib/changed_stat.rb` with `lib/stats.rb` and the distance that
/// `sbin/compare` sets: one value a run; both ranges apart, by more than half of the distance of
/// their middle values (the upper of two), and these 1 % apart. No run is cut off below 32.
pub fn lkp(a: &[f64], b: &[f64]) -> bool {
    let sorted = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        (
            sorted[0],
            sorted[sorted.len() / 2],
            sorted[sorted.len() - 1],
        )
    };
    let (a, b) = (sorted(a), sorted(b));
    let apart = |low: (f64, f64, f64), high: (f64, f64, f64)| {
        high.0 > low.2 && high.0 - low.2 > (high.1 - low.1) / 2.0 && high.1 / low.1 > 1.01
    };
    apart(a, b) || apart(b, a)
}

/// MMTests, gormanm/mmtests at 7fe7def, `bin/lib/MMTests/Stat.pm` (`calc_hmean`, `calc_stddev`,
/// `_calc_meanci`, `cidiff`) and `Compare.pm`: for "higher is better" the harmonic mean ± 1.96
/// standard deviations of the values, not of the mean; a difference is marked when it is larger
/// than both halves together.
pub fn mmtests(a: &[f64], b: &[f64]) -> bool {
    let summary = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = n / values.iter().map(|v| 1.0 / v).sum::<f64>();
        let squares: f64 = values.iter().map(|v| (1.0 / v - 1.0 / mean).powi(2)).sum();
        (mean, 1.959_964 * (squares * mean.powi(4) / n).sqrt())
    };
    let ((a, half_a), (b, half_b)) = (summary(a), summary(b));
    (a - b).abs() > half_a + half_b
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// P(|z| >= z), by the series of the error function and its continued fraction: Student's t with
/// very many degrees of freedom is the same to four digits.
fn normal_two_sided(z: f64) -> f64 {
    ktrial::verdict::student::two_sided(z, 20_001)
}
