//! Numbers, times and sizes for people.

use crate::terminal::grouped;
use crate::timestamp::date;

/// The minus sign, as wide as a plus.
const MINUS: char = '\u{2212}';
/// Keeps a number and its unit on one line.
const NBSP: char = '\u{a0}';

/// A scale that values of one unit are shown in: `ns` values of a million as `ms`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// What a value is divided by.
    pub(super) divisor: f64,
    /// What stands behind it, as in `5,012/s` or `1.250 ms`.
    pub(super) suffix: String,
}

impl Scale {
    /// The scale for values about as large as `size`.
    pub(super) fn of(size: f64, unit: &str) -> Scale {
        let steps: &[(f64, &str)] = match unit {
            "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
            "bytes" | "B" => &[
                (1_073_741_824.0, "GiB"),
                (1_048_576.0, "MiB"),
                (1024.0, "KiB"),
                (1.0, "B"),
            ],
            _ => &[(1.0, unit)],
        };
        let fits = |(divisor, _): &&(f64, &str)| size.abs() >= *divisor;
        let (divisor, name) = steps
            .iter()
            .find(fits)
            .or(steps.last())
            .copied()
            .unwrap_or((1.0, unit));
        let suffix = match name.strip_prefix("1/") {
            Some(per) => format!("/{per}"),
            None if name.is_empty() => String::new(),
            None => format!("{NBSP}{name}"),
        };
        Scale { divisor, suffix }
    }

    /// A value in this scale, without its unit.
    pub(super) fn bare(&self, value: f64) -> String {
        significant(value / self.divisor, 4)
    }

    /// A value in this scale, with its unit.
    pub(super) fn show(&self, value: f64) -> String {
        format!("{}{}", self.bare(value), self.suffix)
    }

    /// A value and its spread in this scale, with the unit: `6,691 ± 12/s`.
    pub(super) fn show_spread(&self, value: f64, spread: f64) -> String {
        let (value, spread) = (value / self.divisor, spread / self.divisor);
        format!(
            "{}{NBSP}±{NBSP}{}{}",
            significant(value, 4),
            significant(spread, 2),
            self.suffix
        )
    }
}

/// A value in the scale that fits it: `6,691/s`, `1.250 ms`.
pub(super) fn value(value: f64, unit: &str) -> String {
    Scale::of(value, unit).show(value)
}

/// A size in bytes to three digits: `2.70 MiB`.
pub(super) fn size(bytes: u64) -> String {
    let scale = Scale::of(bytes as f64, "bytes");
    format!(
        "{}{}",
        significant(bytes as f64 / scale.divisor, 3),
        scale.suffix
    )
}

/// A number to so many significant digits, thousands grouped. Digits before the point are all
/// shown, up to 10^15; above that, and below 10^-6, there is an exponent.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value.abs());
    let exponent = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse::<i32>().ok());
    let text = match exponent {
        Some(exponent) if (-6..15).contains(&exponent) => {
            let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
            grouped(&format!("{:.decimals$}", value.abs()))
        }
        _ => scientific,
    };
    if value < 0.0 {
        format!("{MINUS}{text}")
    } else {
        text
    }
}

/// A number with so many decimals, thousands grouped, with a minus sign where it is negative.
pub(super) fn decimals(value: f64, decimals: usize) -> String {
    let text = grouped(&format!("{:.decimals$}", value.abs()));
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if value < 0.0 && !is_zero {
        format!("{MINUS}{text}")
    } else {
        text
    }
}

/// The same, with a plus sign where it is positive.
pub(super) fn signed(value: f64, places: usize) -> String {
    let text = decimals(value, places);
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if value > 0.0 && !is_zero {
        format!("+{text}")
    } else {
        text
    }
}

/// The change that a ratio means, in percent: 0.928 is -7.2.
pub(super) fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// How many decimals of a percentage mean something, given the width of its interval.
pub(super) fn percent_decimals(change: f64, width: Option<f64>) -> usize {
    match width.unwrap_or(change.abs() / 10.0) {
        w if w >= 20.0 => 0,
        w if w >= 0.2 => 1,
        w if w >= 0.02 => 2,
        _ => 3,
    }
}

/// A ratio between 0 and 1 as a percentage without useless zeros: 0.02 is `2 %`.
pub(super) fn share(ratio: f64) -> String {
    let text = format!("{:.2}", ratio * 100.0);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{short}{NBSP}%")
}

/// A p value: two significant digits, and no smaller than it could be told.
pub(super) fn probability(p: f64) -> String {
    if p < 0.0001 {
        return "<0.0001".into();
    }
    let text = significant(p, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Unix milliseconds as `2026-11-30 12:27 UTC`.
pub(super) fn when(unix_ms: i64) -> String {
    let minutes = unix_ms.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    format!(
        "{} {:02}:{:02} UTC",
        date(days * 86_400),
        minute / 60,
        minute % 60
    )
}

/// A duration in milliseconds: `840 ms`, `52.1 s`, `1 min 15 s`, `2 h 3 min`.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}{NBSP}ms"),
        1_000..60_000 => format!("{:.1}{NBSP}s", ms as f64 / 1000.0),
        60_000..3_600_000 => format!("{}{NBSP}min {}{NBSP}s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{}{NBSP}h {}{NBSP}min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// A count and its noun: `1 boot`, `24 boots`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{}{NBSP}{noun}{plural}", grouped(&number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With plain blanks, for reading.
    fn plain(text: String) -> String {
        text.replace(NBSP, " ")
    }

    #[test]
    fn numbers_have_four_digits_and_whole_ones_all() {
        let cases = [
            (0.0, "0"),
            (1431.27, "1,431"),
            (43_123.4, "43,123"),
            (1_234_567.0, "1,234,567"),
            (12.346, "12.35"),
            (99.996, "100.0"),
            (-0.001_234_5, "\u{2212}0.001234"),
            (2e15, "2.000e15"),
            (1e-9, "1.000e-9"),
        ];
        for (value, shown) in cases {
            assert_eq!(significant(value, 4), shown);
        }
    }

    #[test]
    fn units_scale_where_people_expect_it() {
        let cases = [
            (6691.25, "1/s", "6,691/s"),
            (850.0, "ns", "850.0 ns"),
            (1500.0, "ns", "1.500 µs"),
            (1_250_000.0, "ns", "1.250 ms"),
            (2.5e9, "ns", "2.500 s"),
            (0.0, "ns", "0 ns"),
            (2_621_440.0, "bytes", "2.500 MiB"),
            (3.5, "", "3.500"),
        ];
        for (number, unit, shown) in cases {
            assert_eq!(plain(value(number, unit)), shown);
        }
        let scale = Scale::of(1_250_000.0, "ns");
        assert_eq!(
            plain(scale.show_spread(1_250_000.0, 12_340.0)),
            "1.250 ± 0.012 ms"
        );
        assert_eq!(
            plain(Scale::of(6691.0, "1/s").show_spread(6691.0, 0.0)),
            "6,691 ± 0/s"
        );
    }

    #[test]
    fn percentages_are_signed_and_as_fine_as_their_interval() {
        assert_eq!(signed(percent(0.928), 1), "\u{2212}7.2");
        assert_eq!(signed(percent(1.0034), 1), "+0.3");
        assert_eq!(signed(-0.04, 1), "0.0");
        assert_eq!(signed(0.0, 1), "0.0");
        assert_eq!(percent_decimals(7.2, Some(0.6)), 1);
        assert_eq!(percent_decimals(0.31, Some(0.05)), 2);
        assert_eq!(percent_decimals(0.31, Some(0.0)), 3);
        assert_eq!(percent_decimals(800.0, Some(90.0)), 0);
        assert_eq!(percent_decimals(7.2, None), 1);
        assert_eq!(plain(share(0.02)), "2 %");
        assert_eq!(plain(share(0.125)), "12.5 %");
        assert_eq!(probability(0.0416), "0.042");
        assert_eq!(probability(0.002), "0.002");
        assert_eq!([probability(1.0), probability(0.0)], ["1", "<0.0001"]);
    }

    #[test]
    fn times_agree_with_date() {
        // `date -u -d @…` of coreutils.
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (1_790_000_100_000, "2026-09-21 14:15 UTC"),
            (4_107_542_399_999, "2100-02-28 23:59 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ];
        for (ms, shown) in cases {
            assert_eq!(when(ms), shown);
        }
        when(i64::MIN);
        when(i64::MAX);
    }

    #[test]
    fn durations_and_counts_read_as_spoken() {
        let shown = [840, 52_140, 75_000, 7_380_000].map(|ms| plain(duration(ms)));
        assert_eq!(shown, ["840 ms", "52.1 s", "1 min 15 s", "2 h 3 min"]);
        assert_eq!(plain(size(2_831_155)), "2.70 MiB");
        assert_eq!(plain(size(24 << 30)), "24.0 GiB");
        assert_eq!(plain(count(1, "boot")), "1 boot");
        assert_eq!(plain(count(1200, "boot")), "1,200 boots");
    }
}
