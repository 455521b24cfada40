//! A kernel's symbols: from an address to a name.

use std::path::Path;

use crate::fault::{Fault, OrHost, Result};

/// Names by where they begin, ascending.
#[derive(Debug, Default)]
pub struct Symbols(Vec<(u64, String)>);

impl Symbols {
    /// Reads a file of lines `address name`, the address hexadecimal, as a kernel in the cache has.
    ///
    /// # Errors
    /// A host fault if it can't be read, is empty, or has another line.
    pub fn read(path: &Path) -> Result<Symbols> {
        let text = std::fs::read_to_string(path).or_host(|| format!("read {}", path.display()))?;
        let fault = |what: &str| {
            Fault::host(format!("{} {what}", path.display()))
                .next("remove the kernel's folder: the next trial builds it again")
        };
        match Symbols::parse(&text) {
            Ok(Symbols(all)) if all.is_empty() => Err(fault("has no symbols")),
            Ok(symbols) => Ok(symbols),
            Err(line) => Err(fault("has a line that is no symbol").showing(line)),
        }
    }

    fn parse(text: &str) -> std::result::Result<Symbols, String> {
        let symbol = |line: &str| {
            let (address, name) = line.split_once(' ')?;
            Some((u64::from_str_radix(address, 16).ok()?, name.to_owned()))
        };
        let lines = text.lines();
        let all = lines.map(|line| symbol(line).ok_or_else(|| line.to_owned()));
        let mut all: Vec<(u64, String)> = all.collect::<std::result::Result<_, _>>()?;
        // Stable: of names at one address the first counts.
        all.sort_by_key(|(address, _)| *address);
        Ok(Symbols(all))
    }

    /// The name of what begins last before the address, or at it. None before the first symbol, and
    /// where the last one begins and behind: that is the end of the kernel.
    pub fn at(&self, address: u64) -> Option<&str> {
        let behind = self.0.partition_point(|(start, _)| *start <= address);
        if behind == self.0.len() {
            return None;
        }
        let (start, _) = self.0.get(behind.checked_sub(1)?)?;
        let first = self.0.partition_point(|(other, _)| other < start);
        self.0.get(first).map(|(_, name)| name.as_str())
    }

    /// Where the symbol of this name begins.
    pub fn find(&self, name: &str) -> Option<u64> {
        let mut all = self.0.iter();
        all.find_map(|(address, other)| (other == name).then_some(*address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_first_name_of_what_begins_last_before_it() {
        let text = "ffff10 b\nffff00 a\nffff10 alias\nffff20 c\nffff30 _end\n";
        let symbols = Symbols::parse(text).unwrap();
        let names = [
            0xfffeff, 0xffff00, 0xffff0f, 0xffff10, 0xffff1f, 0xffff2f, 0xffff30,
        ]
        .map(|address| symbols.at(address));
        let expected = [
            None,
            Some("a"),
            Some("a"),
            Some("b"),
            Some("b"),
            Some("c"),
            None,
        ];
        assert_eq!(names, expected);
        assert_eq!(symbols.find("alias"), Some(0xffff10));
        assert_eq!(symbols.find("d"), None);
        assert_eq!(Symbols::default().at(0), None);
    }

    #[test]
    fn another_line_is_named() {
        assert_eq!(Symbols::parse("1 a\nx y\n").unwrap_err(), "x y");
        assert_eq!(Symbols::parse("1\n").unwrap_err(), "1");
        let empty = tempfile::NamedTempFile::new().unwrap();
        let fault = Symbols::read(empty.path()).unwrap_err();
        assert!(fault.what.ends_with("has no symbols"), "{}", fault.what);
    }
}
