//! Cells: what is measured, apart from any one measurement (rustc-perf's "series",
//! a word that means patches here).

use std::collections::BTreeMap;

use rusqlite::Row;

use crate::error::{Error, Result};
use crate::{CellId, Db, TrialId, row};

/// One metric of one workload at one setting. A cell is the whole of its fields:
/// with another unit it is another cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Name of the workload, such as "fd-churn".
    pub workload: String,
    /// The setting, as [`canonical_parameters`] writes it: "fds=500000 threads=1".
    pub parameters: String,
    /// What is measured, such as "rate".
    pub metric: String,
    /// Unit of the values, such as "1/s".
    pub unit: String,
    /// "higher" or "lower": which way is an improvement.
    pub better: String,
    /// Whether the workload exists to measure this, or it is seen on the side.
    pub primary: bool,
}

impl Cell {
    /// The parameters for people: without flags that are off, which say nothing.
    pub fn setting(&self) -> String {
        setting(&self.parameters)
    }
}

/// Parameters for people, as in [`Cell::setting`].
pub fn setting(parameters: &str) -> String {
    let words = parameters.split(' ');
    let words = words.filter(|word| !word.ends_with("=false"));
    words.collect::<Vec<_>>().join(" ")
}

/// Writes parameters in the one form under which equal settings are equal texts:
/// `name=value`, sorted by name, parted by one blank; empty when there are none.
///
/// # Errors
/// [`Error::Parameters`] when a name comes twice or is empty, a name holds a `=`,
/// or either holds white space or a control character.
pub fn canonical_parameters<N, V>(parameters: impl IntoIterator<Item = (N, V)>) -> Result<String>
where
    N: AsRef<str>,
    V: AsRef<str>,
{
    let mut sorted = BTreeMap::new();
    for (name, value) in parameters {
        let (name, value) = (name.as_ref().to_owned(), value.as_ref().to_owned());
        let word = format!("{name}={value}");
        let is_plain = !name.is_empty()
            && !name.contains('=')
            && !word.contains(|c: char| c.is_whitespace() || c.is_control());
        if !is_plain || sorted.insert(name, value).is_some() {
            return Err(Error::Parameters(word));
        }
    }
    let words: Vec<_> = sorted
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Ok(words.join(" "))
}

/// Refuses a text that [`canonical_parameters`] would have written otherwise.
fn require_canonical(text: &str) -> Result<()> {
    let words = text.split(' ').filter(|_| !text.is_empty());
    let pairs = words.map(|word| word.split_once('=').unwrap_or((word, "")));
    if canonical_parameters(pairs).is_ok_and(|canonical| canonical == text) {
        Ok(())
    } else {
        Err(Error::Parameters(text.to_owned()))
    }
}

impl Db {
    /// The id of this cell, equal in every field; stored if it is new.
    ///
    /// # Errors
    /// [`Error::Parameters`] when they are not in canonical form.
    pub fn put_cell(&mut self, cell: &Cell) -> Result<CellId> {
        require_canonical(&cell.parameters)?;
        self.put(
            "cell",
            &[
                ("workload", &cell.workload),
                ("parameters", &cell.parameters),
                ("metric", &cell.metric),
                ("unit", &cell.unit),
                ("better", &cell.better),
                ("is_primary", &cell.primary),
            ],
        )
        .map(CellId)
    }

    /// The cells that a trial has samples of, failed boots included, in the order
    /// of workload, parameters and metric.
    pub fn cells(&self, trial: TrialId) -> Result<Vec<(CellId, Cell)>> {
        let sql = "SELECT * FROM cell WHERE id IN (
                SELECT sample.cell FROM sample JOIN boot ON boot.id = sample.boot
                WHERE boot.trial = ?1)
            ORDER BY workload, parameters, metric, unit, better, is_primary";
        row::all(&self.connection, sql, [trial], |row| {
            Ok((row.get("id")?, read(row)?))
        })
    }
}

pub(crate) fn read(row: &Row) -> rusqlite::Result<Cell> {
    Ok(Cell {
        workload: row.get("workload")?,
        parameters: row.get("parameters")?,
        metric: row.get("metric")?,
        unit: row.get("unit")?,
        better: row.get("better")?,
        primary: row.get("is_primary")?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_are_sorted_by_name() {
        let given = [("threads", "1"), ("fds", "500000"), ("flag", "")];
        let text = canonical_parameters(given).unwrap();
        assert_eq!(text, "fds=500000 flag= threads=1");
        assert_eq!(canonical_parameters::<&str, &str>([]).unwrap(), "");
        // By name and not by word: '-' sorts before '=', so the words would go
        // the other way round.
        let text = canonical_parameters([("fds-max", "2"), ("fds", "1")]).unwrap();
        assert_eq!(text, "fds=1 fds-max=2");
    }

    #[test]
    fn ambiguous_parameters_are_refused() {
        for (name, value) in [
            ("", "1"),
            ("a=b", "1"),
            ("a b", "1"),
            ("a", "1 b=2"),
            ("a", "\n"),
        ] {
            let result = canonical_parameters([(name, value)]);
            assert!(
                matches!(result, Err(Error::Parameters(_))),
                "{name:?} {value:?}"
            );
        }
        assert!(canonical_parameters([("a", "1"), ("a", "1")]).is_err());
    }

    #[test]
    fn only_the_canonical_text_is_taken() {
        for good in ["", "a=1", "a=1 b=2", "a=", "a=x=y"] {
            assert!(require_canonical(good).is_ok(), "{good:?}");
        }
        for bad in [
            " ", "a", "b=2 a=1", "a=1  b=2", "a=1 ", "a=1 a=1", "a=1\tb=2", "=1",
        ] {
            assert!(require_canonical(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_canonical_whatever_the_order(
            parameters in proptest::collection::btree_map("[a-z-]{1,6}", "[!-~]{0,6}", 0..6)
        ) {
            let forward = canonical_parameters(&parameters).unwrap();
            let backward = canonical_parameters(parameters.iter().rev()).unwrap();
            prop_assert_eq!(&forward, &backward);
            prop_assert!(require_canonical(&forward).is_ok());
        }

        #[test]
        fn any_text_is_judged_without_panic(text in ".*") {
            let _ = require_canonical(&text);
        }
    }
}
