//! A/A boots kept in a text file: data that outlive a database, and that others can judge.
//!
//! Lines that begin with `#` are for people. Each other one is a boot's values in a cell:
//! `BOOT,higher or lower,CELL,VALUE VALUE ...`, boots counted from 0, values in the cell's unit and
//! in the order of iterations, without warm-ups.

use std::fmt::Write;

use super::{Boots, Measured};
use crate::fault::{Fault, Result};
use crate::verdict::design::MARGIN;

/// So much of a bad line is shown.
const SHOWN: usize = 80;

/// The text of `boots`, under lines that say where they are from.
pub fn write(boots: &Boots, about: &[String]) -> String {
    let mut text: String = about.iter().map(|line| format!("# {line}\n")).collect();
    for (number, boot) in boots.values.iter().enumerate() {
        for (cell, values) in boots.cells.iter().zip(boot) {
            let (name, higher) = (&cell.name, cell.higher);
            let better = if higher { "higher" } else { "lower" };
            let values: Vec<String> = values.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "{number},{better},{name},{}", values.join(" "));
        }
    }
    text
}

/// Reads it back.
///
/// # Errors
/// A user fault that names the line: not of that form, a boot out of order, a cell twice in a boot or
/// missing in one, a value that is not above zero.
pub fn read(text: &str) -> Result<Boots> {
    let mut boots = Boots::default();
    for (at, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let start: String = line.chars().take(SHOWN).collect();
        let fault = |what: &str| Fault::user(format!("line {at}: {what}: {start:?}"));
        let [number, better, cell, values] = line
            .splitn(4, ',')
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| fault("not BOOT,BETTER,CELL,VALUES"))?;
        let higher = match better {
            "higher" => true,
            "lower" => false,
            _ => return Err(fault("better is higher or lower")),
        };
        let number: usize = number.parse().map_err(|_| fault("a boot is a number"))?;
        if number == boots.values.len() {
            boots.values.push(Vec::new());
        }
        let count = boots.values.len();
        let boot = match boots.values.last_mut() {
            Some(boot) if number + 1 == count => boot,
            _ => return Err(fault("boots come one after the other, from 0")),
        };
        let cell = Measured {
            name: cell.to_owned(),
            higher,
            margin: MARGIN,
        };
        // The first boot says which cells there are.
        if count == 1 && !boots.cells.contains(&cell) {
            boots.cells.push(cell.clone());
        }
        if boots.cells.get(boot.len()) != Some(&cell) {
            return Err(fault("not the cell that comes here in the first boot"));
        }
        let values: Option<Vec<f64>> = values
            .split(' ')
            .map(|value| {
                value
                    .parse()
                    .ok()
                    .filter(|v: &f64| *v > 0.0 && v.is_finite())
            })
            .collect();
        boot.push(
            values.ok_or_else(|| fault("values are numbers above zero, a blank between two"))?,
        );
    }
    match boots
        .values
        .iter()
        .position(|boot| boot.len() != boots.cells.len())
    {
        Some(boot) => Err(Fault::user(format!("boot {boot} lacks a cell"))),
        None => Ok(boots),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let boots = Boots {
            cells: [("exec processes=1 rate", true), ("p99", false)]
                .map(|(name, higher)| Measured {
                    name: name.into(),
                    higher,
                    margin: MARGIN,
                })
                .into(),
            values: vec![
                vec![vec![1.5, 2.25], vec![1e9]],
                vec![vec![0.1, 0.2], vec![3.0]],
            ],
        };
        let text = write(&boots, &["from a test".into()]);
        assert!(text.starts_with("# from a test\n0,higher,exec processes=1 rate,1.5 2.25\n"));
        assert_eq!(read(&text).unwrap(), boots);
        assert_eq!(read("").unwrap(), Boots::default());
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, says) in [
            ("0,higher,a", "line 1: not BOOT"),
            ("0,up,a,1", "higher or lower"),
            ("1,higher,a,1", "from 0"),
            ("x,higher,a,1", "a number"),
            ("0,higher,a,1\n0,higher,a,1", "line 2: not the cell"),
            ("0,higher,a,1\n1,higher,b,1", "line 2: not the cell"),
            ("0,higher,a,1\n0,higher,b,1\n1,higher,a,1", "boot 1 lacks"),
            ("0,higher,a,-1", "above zero"),
            ("0,higher,a,nan", "above zero"),
            ("0,higher,a,", "above zero"),
        ] {
            let said = read(text).unwrap_err().to_string();
            assert!(said.contains(says), "{text:?}: {said}");
        }
    }
}
