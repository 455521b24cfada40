//! Where a name ends and its date begins, on lines that have lost their tabs.

const DAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// What Subversion puts behind a name.
const MARKS: [&[u8]; 5] = [
    b"(revision ",
    b"(working copy)",
    b"(nonexistent)",
    b"(.../",
    b"(r",
];

/// The index of the blanks behind which the rest of the line is a date, or a
/// revision in brackets. A name may have blanks and even numbers in it, so
/// only a whole date with its time counts.
pub(super) fn start(field: &[u8]) -> Option<usize> {
    let field = field.trim_ascii_end();
    let mut at = 0;
    loop {
        let blank = at + field[at..].iter().position(|&b| b == b' ')?;
        let rest = field[blank..].trim_ascii_start();
        if blank > 0 && (is_date(rest) || is_mark(rest)) {
            return Some(blank);
        }
        at = field.len() - rest.len();
    }
}

fn is_date(text: &[u8]) -> bool {
    // A longer word than these is no part of a date.
    let head = &text[..text.len().min(128)];
    let mut words = head.split(|&b| b == b' ').filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default();
    let first = next();
    let first = first.strip_suffix(b",").unwrap_or(first);
    if is_numeric_date(first) {
        return is_time(next());
    }
    if is_day_of_month(first) {
        return MONTHS.contains(&next()) && is_year(next()) && is_time(next());
    }
    if !DAYS.contains(&first) {
        return false;
    }
    let second = next();
    match MONTHS.contains(&second) {
        // Sat Mar 11 12:48:19 2006
        true => is_day_of_month(next()) && is_time(next()),
        // Sat, 11 Mar 2006 12:48:19 +0000
        false => {
            is_day_of_month(second)
                && MONTHS.contains(&next())
                && is_year(next())
                && is_time(next())
        }
    }
}

fn is_mark(text: &[u8]) -> bool {
    let is_revision = |text: &[u8]| text.get(2).is_some_and(u8::is_ascii_digit);
    MARKS.iter().any(|mark| text.starts_with(mark))
        && (!text.starts_with(b"(r") || text.starts_with(b"(revision ") || is_revision(text))
        && text.ends_with(b")")
}

/// 2006-03-11 or 2006/03/11.
fn is_numeric_date(word: &[u8]) -> bool {
    matches!(word, [year @ .., b'-', _, _, b'-', _, _] | [year @ .., b'/', _, _, b'/', _, _]
        if is_year(year) && is_number(&word[5..7]) && is_number(&word[8..10]))
}

/// 12:48, 12:48:19 or 12:48:19.000000000.
fn is_time(word: &[u8]) -> bool {
    let word = word.splitn(2, |&b| b == b'.').next().unwrap_or_default();
    let mut parts = word.split(|&b| b == b':');
    let count = parts.clone().count();
    (2..=3).contains(&count) && parts.all(|part| part.len() == 2 && is_number(part))
}

fn is_year(word: &[u8]) -> bool {
    word.len() == 4 && is_number(word)
}

fn is_day_of_month(word: &[u8]) -> bool {
    (1..=2).contains(&word.len()) && is_number(word)
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
}
