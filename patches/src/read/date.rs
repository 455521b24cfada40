//! Dates as mails, git and archives write them, with the zones that git knows.

use crate::Date;

/// A date that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub date: Date,
    /// It names a zone, and one that is known; else it is taken for UTC.
    pub has_zone: bool,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Zones by name, in hours east of UTC: those of RFC 5322, section 4.3, and some that git takes.
const ZONES: [(&str, i32); 22] = [
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
    ("wet", 0),
    ("bst", 1),
    ("cet", 1),
    ("met", 1),
    ("cest", 2),
    ("mest", 2),
    ("eet", 2),
    ("eest", 3),
    ("jst", 9),
    ("nzst", 12),
];

/// No zone is further than this from Greenwich, in minutes.
const FURTHEST: i32 = 14 * 60;

/// The longest date that is read, in bytes, with its comments.
const LONGEST: usize = 200;

/// Reads `Mon, 5 Dec 2016 16:49:04 -0800 (PST)`, `Mon Dec 5 16:49:04 2016 -0800`,
/// `2016-12-05 16:49:04 -0800`, `2016-12-05T16:49:04Z` and `1480985344 -0800`; `None` for what
/// says no day of a year since 1970 with its time.
pub(super) fn parse(text: &str) -> Option<Moment> {
    let text = without_comments(text.get(..text.len().min(LONGEST))?).to_ascii_lowercase();
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
    let mut found = Found::default();
    words.try_for_each(|word| found.add(word))?;
    found.moment()
}

/// RFC 5322, section 3.2.2: what stands in brackets says nothing.
fn without_comments(text: &str) -> String {
    let mut depth = 0_usize;
    let kept = |c: char| match c {
        '(' => {
            depth += 1;
            None
        }
        ')' => {
            depth = depth.saturating_sub(1);
            Some(' ')
        }
        c => Some(c).filter(|_| depth == 0),
    };
    text.chars().filter_map(kept).collect()
}

/// The parts of a date.
#[derive(Default)]
struct Found {
    /// Seconds since 1970, as git's raw format has it.
    seconds: Option<i64>,
    year: Option<i64>,
    month: Option<usize>,
    day: Option<i64>,
    /// In seconds.
    time: Option<i64>,
    /// In minutes east of UTC.
    zone: Option<i32>,
}

impl Found {
    /// Takes a word into account; `None` where it is no part of a date, or one too many.
    fn add(&mut self, word: &str) -> Option<()> {
        let is_first = |known: bool| (!known).then_some(());
        if word.is_empty() {
            return Some(());
        }
        if let Some((day, time)) = word.split_once('t').filter(|(day, _)| is_numbers(day, '-')) {
            self.add(day)?;
            return self.add_clock(time);
        }
        if is_numbers(word, '-') && word.len() >= 8 && word.contains('-') {
            is_first(self.year.is_some())?;
            let mut parts = word.splitn(3, '-').map(number);
            self.year = Some(parts.next()??);
            self.month = usize::try_from(parts.next()??).ok();
            self.day = Some(parts.next()??);
        } else if word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit()) {
            is_first(self.time.is_some())?;
            self.add_clock(word)?;
        } else if let Some(number) = number(word) {
            match word.len() {
                1 | 2 => {
                    is_first(self.day.is_some())?;
                    self.day = Some(number);
                }
                4 => {
                    is_first(self.year.is_some())?;
                    self.year = Some(number);
                }
                8.. => self.seconds = Some(number),
                _ => return None,
            }
        } else if word.starts_with(['+', '-']) {
            self.zone = self.zone.or(offset(word));
        } else if let Some(month) = named(&MONTHS, word) {
            is_first(self.month.is_some())?;
            self.month = Some(month + 1);
        } else if named(&DAYS, word).is_none() {
            let zone = ZONES.iter().find(|(name, _)| *name == word);
            self.zone = self.zone.or(zone.map(|(_, hours)| hours * 60));
        }
        Some(())
    }

    /// `16:49`, `16:49:04`, `16:49:04.25`, and a zone right behind it.
    fn add_clock(&mut self, word: &str) -> Option<()> {
        let end = word.find(['+', '-', 'z']).unwrap_or(word.len());
        let (clock, zone) = word.split_at(end);
        let mut parts = clock.split(':');
        let hours = number(parts.next()?)?;
        let minutes = number(parts.next()?)?;
        let seconds = parts.next().unwrap_or("0");
        let seconds = number(seconds.split('.').next()?)?;
        // A second may be added to a day's last minute.
        let fits = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
        self.time = fits.then_some(hours * 3600 + minutes * 60 + seconds);
        match zone {
            "" => {}
            "z" => self.zone = Some(0),
            zone => self.zone = Some(offset(zone)?),
        }
        self.time.map(|_| ())
    }

    fn moment(&self) -> Option<Moment> {
        let offset_minutes = self.zone.unwrap_or(0);
        let seconds = match self.seconds {
            Some(seconds) if self.day.is_none() && self.year.is_none() => seconds,
            Some(_) => return None,
            None => {
                let (year, month, day) = (self.year?, self.month?, self.day?);
                let in_year = (1..=12).contains(&month) && (1970..=9999).contains(&year);
                let days = in_year.then(|| first_of(year, month))?;
                let next = match month {
                    12 => first_of(year + 1, 1),
                    month => first_of(year, month + 1),
                };
                if !(1..=next - days).contains(&day) {
                    return None;
                }
                (days + day - 1) * 86_400 + self.time? - i64::from(offset_minutes) * 60
            }
        };
        Some(Moment {
            date: Date {
                seconds,
                offset_minutes,
            },
            has_zone: self.zone.is_some(),
        })
    }
}

/// Days from the first of January 1970 to the first of a month.
fn first_of(year: i64, month: usize) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let before = year - 1;
    let leaps = before / 4 - before / 100 + before / 400 - 477;
    let days = BEFORE.get(month - 1).copied().unwrap_or(0);
    (year - 1970) * 365 + leaps + days + i64::from(is_leap && month > 2)
}

/// `-0800` or `-08:00`, in minutes east of UTC.
fn offset(word: &str) -> Option<i32> {
    let digits = word.get(1..)?.replacen(':', "", 1);
    let number = number(&digits).filter(|_| digits.len() == 4)?;
    let minutes = i32::try_from(number / 100 * 60 + number % 100).ok()?;
    let fits = number % 100 < 60 && minutes <= FURTHEST;
    fits.then_some(if word.starts_with('-') {
        -minutes
    } else {
        minutes
    })
}

/// A day or a month, in three letters or in full.
fn named(names: &[&str], word: &str) -> Option<usize> {
    let letters = word.bytes().all(|b| b.is_ascii_alphabetic());
    names
        .iter()
        .position(|name| letters && word.starts_with(name))
}

fn is_numbers(word: &str, between: char) -> bool {
    let fits = |c: char| c.is_ascii_digit() || c == between;
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(fits)
}

fn number(word: &str) -> Option<i64> {
    let digits = !word.is_empty() && word.len() <= 12 && word.bytes().all(|b| b.is_ascii_digit());
    word.parse().ok().filter(|_| digits)
}
