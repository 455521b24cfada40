//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use ktrial_patches::Date;

/// Unix time in milliseconds.
pub fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_millis() as i64)
}

/// The day of a Unix time in seconds, in UTC: `2016-12-30`.
pub fn date(seconds: i64) -> String {
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The day of a commit where its author was, as `git log --date=short` shows it.
pub fn day(date: Date) -> String {
    let seconds = i64::from(date.offset_minutes) * 60;
    self::date(date.seconds.saturating_add(seconds))
}

/// Days since 1970-01-01 as year, month, day of the Gregorian calendar, for every day that unix
/// milliseconds can name. Years are counted from March, so that the leap day comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let days = days + 719_468; // since 0000-03-01
    let era = days.div_euclid(DAYS_IN_400_YEARS);
    let day_of_era = days.rem_euclid(DAYS_IN_400_YEARS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153; // from March
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TZ=… date -d @1481305000`: 17:36 in UTC is past midnight in Tokyo.
    #[test]
    fn a_commit_is_of_the_day_that_its_author_had() {
        let of = |offset_minutes| {
            day(Date {
                seconds: 1_481_305_000,
                offset_minutes,
            })
        };
        assert_eq!(of(0), "2016-12-09");
        assert_eq!(of(9 * 60), "2016-12-10");
        assert_eq!(of(-18 * 60), "2016-12-08");
    }
}
