//! Several values of one parameter: `1..8`, `1|2|4`, and both in one: `1|2|4..8`. Of workers also words
//! for what a machine is made of: `packages`, `nodes`, `complexes`, `cores`, `threads` are as many as
//! there are of each; `topology` is 1, 2 and all of these; `topology+-1` has the counts beside them
//! too.

use std::collections::BTreeSet;

use crate::fault::{Fault, Result};
use crate::machine::places::Places;

/// The most settings that one `-w` may ask for.
const MOST_SETTINGS: usize = 64;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Swept {
    /// In the order in which they are named.
    pub(super) values: Vec<String>,
    /// Whether a word for a part of a machine was among them.
    pub(super) in_words: bool,
}

/// The values that `text` names; `places` where it counts workers.
///
/// # Errors
/// A user fault for an empty value, one named twice, a range that is none, or too many.
pub(super) fn values(text: &str, places: Option<&Places>) -> Result<Swept> {
    let mut values: Vec<String> = Vec::new();
    let mut in_words = false;
    for part in text.split('|') {
        if let Some(counts) = places.and_then(|places| word(part, places)) {
            in_words = true;
            let new = counts.iter().map(u32::to_string);
            let new: Vec<String> = new.filter(|count| !values.contains(count)).collect();
            check_count(values.len() + new.len())?;
            values.extend(new);
            continue;
        }
        let more = match part.split_once("..") {
            Some((first, last)) => range(first, last)?,
            None if part.is_empty() && text.contains('|') => {
                return Err(Fault::user(format!("a value is missing in {text}")));
            }
            None => vec![part.to_owned()],
        };
        check_count(values.len() + more.len())?;
        for value in more {
            if values.contains(&value) {
                return Err(Fault::user(format!("{value} is named twice in {text}")));
            }
            values.push(value);
        }
    }
    Ok(Swept { values, in_words })
}

/// The counts that a word stands for; none if it is none of those words.
fn word(word: &str, places: &Places) -> Option<BTreeSet<u32>> {
    match word {
        "topology" => Some(places.steps()),
        "topology+-1" => Some(places.steps_and_neighbours()),
        part => places.count(part).map(|count| BTreeSet::from([count])),
    }
}

/// Refuses more settings than one workload may be run at.
///
/// # Errors
/// A user fault that says how many there may be.
pub(super) fn check_count(settings: usize) -> Result<()> {
    if settings <= MOST_SETTINGS {
        return Ok(());
    }
    Err(Fault::user(format!(
        "that would be more than {MOST_SETTINGS} settings of one workload"
    ))
    .next("name fewer values, such as 1|2|4|8|16"))
}

/// The numbers from `first` to `last`, both of them included.
fn range(first: &str, last: &str) -> Result<Vec<String>> {
    let number = |text: &str| {
        // Rust would take a sign too.
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| digits)
    };
    let (Some(from), Some(to)) = (number(first), number(last)) else {
        return Err(Fault::user(format!(
            "{first}..{last} is no range of numbers, such as 1..8"
        )));
    };
    let Some(steps) = to.checked_sub(from) else {
        return Err(Fault::user(format!("{first}..{last} begins above its end")));
    };
    check_count(usize::try_from(steps).map_or(usize::MAX, |s| s.saturating_add(1)))?;
    Ok((from..=to).map(|n| n.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_give_their_values_in_order() {
        for (text, expected) in [
            ("7", "7"),
            ("1..4", "1 2 3 4"),
            ("3..3", "3"),
            ("8|1|2", "8 1 2"),
            ("1|2|4..6|16", "1 2 4 5 6 16"),
            ("true|false", "true false"),
            ("", ""),
        ] {
            let swept = values(text, None).unwrap();
            assert_eq!(swept.values.join(" "), expected, "{text}");
        }
        assert_eq!(values("1..64", None).unwrap().values.len(), 64);
    }

    #[test]
    fn what_names_no_values_is_told_and_takes_no_memory() {
        for (text, says) in [
            ("4..1", "begins above its end"),
            ("1..", "no range of numbers"),
            ("..4", "no range of numbers"),
            ("..", "no range of numbers"),
            ("1...4", "no range of numbers"),
            ("+1..4", "no range of numbers"),
            ("a..c", "no range of numbers"),
            ("1||2", "a value is missing"),
            ("|", "a value is missing"),
            ("1|2|1", "1 is named twice"),
            ("1..4|3", "3 is named twice"),
            ("1..65", "more than 64 settings"),
            ("0..18446744073709551615", "more than 64 settings"),
            ("1..99999999999999999999", "no range of numbers"),
        ] {
            let fault = values(text, None).unwrap_err();
            assert_eq!(fault.at, crate::fault::At::User, "{text}");
            assert!(fault.what.contains(says), "{text}: {}", fault.what);
        }
    }
}
