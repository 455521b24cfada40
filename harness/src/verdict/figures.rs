//! Numbers as they are printed.

use crate::terminal::grouped;

/// Four significant digits, with thousands parted by commas.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(bare) => format!("-{}", grouped(bare)),
        None => grouped(&text),
    }
}

/// Per cent with a sign and the word for it.
pub fn signed(share: f64) -> String {
    format!("{} %", bare(share))
}

/// Per cent with a sign; hundredths only where they are worth reading.
pub fn bare(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 10.0 {
        format!("{percent:+.2}")
    } else {
        format!("{percent:+.1}")
    }
}

/// A share in per cent, without a sign, as short as it can be.
pub fn percent(share: f64) -> String {
    format!(
        "{} %",
        number(share * 100.0)
            .trim_end_matches('0')
            .trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_commas() {
        for (value, text) in [
            (6_691.25, "6,691"),
            (1_234_567.0, "1,234,567"),
            (0.012_345, "0.01235"),
            (12.0, "12.00"),
            (-1_500.0, "-1,500"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(percent(0.02), "2 %");
        assert_eq!(percent(0.015), "1.5 %");
        assert_eq!(signed(-0.0717), "-7.17 %");
        assert_eq!(signed(5.7119), "+571.2 %");
    }
}
