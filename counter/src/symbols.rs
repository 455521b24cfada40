//! From an address to what is counted there.

/// Addresses from here on are the kernel's, on x86-64.
const KERNEL: u64 = 1 << 63;

/// What instructions are counted under, as places in a row of counters.
#[derive(Debug)]
pub struct Symbols {
    /// Where functions begin, ascending.
    starts: Vec<u64>,
    names: Vec<String>,
}

/// All of user space.
pub const USER: usize = 0;
/// The kernel where no function is known.
pub const UNNAMED: usize = 1;
/// The first function's.
const FIRST: usize = 2;

impl Symbols {
    /// Reads lines of `address name`, the address hexadecimal. Of names at one address the first
    /// counts. What is not in the kernel's half, and what is no such line, is refused.
    pub fn read(text: &str) -> Result<Symbols, String> {
        let mut lines = Vec::new();
        for line in text.lines() {
            let bad = || format!("no symbol: {line}");
            let (address, name) = line.split_once(' ').ok_or_else(bad)?;
            let address = u64::from_str_radix(address, 16).map_err(|_| bad())?;
            if address < KERNEL {
                return Err(format!("not in the kernel: {line}"));
            }
            lines.push((address, name));
        }
        // Stable: names at one address keep their order.
        lines.sort_by_key(|(address, _)| *address);
        lines.dedup_by_key(|(address, _)| *address);
        Ok(Symbols {
            starts: lines.iter().map(|(address, _)| *address).collect(),
            names: lines.iter().map(|(_, name)| (*name).to_owned()).collect(),
        })
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        FIRST + self.starts.len()
    }

    /// Where an instruction at `address` is counted.
    pub fn place(&self, address: u64) -> usize {
        if address < KERNEL {
            return USER;
        }
        // The function that begins last before it, or at it. The last symbol is the kernel's end:
        // what lies there is a module's, or made at run time.
        match self.starts.partition_point(|start| *start <= address) {
            0 => UNNAMED,
            n if n == self.starts.len() => UNNAMED,
            n => FIRST + n - 1,
        }
    }

    /// The name of a place in the kernel.
    pub fn name(&self, place: usize) -> &str {
        let function = place.checked_sub(FIRST).and_then(|n| self.names.get(n));
        function.map_or("?", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_that_begins_last_before_it() {
        let text = "ffffffff81000010 second\nffffffff81000000 first\nffffffff81000010 alias\n\
            ffffffff82000000 _end\n";
        let symbols = Symbols::read(text).unwrap();
        assert_eq!(symbols.places(), 5);
        let name = |address| symbols.name(symbols.place(address));
        assert_eq!(name(0xffff_ffff_8100_0000), "first");
        assert_eq!(name(0xffff_ffff_8100_000f), "first");
        assert_eq!(name(0xffff_ffff_8100_0010), "second");
        assert_eq!(name(0xffff_ffff_81ff_ffff), "second");
        assert_eq!(symbols.place(0xffff_8000_0000_0000), UNNAMED);
        assert_eq!(symbols.place(0xffff_ffff_c000_0000), UNNAMED);
        assert_eq!(symbols.place(0x40_1000), USER);
        assert_eq!(symbols.name(UNNAMED), "?");
    }

    #[test]
    fn what_is_no_symbol_is_refused() {
        for text in ["ffffffff81000000", "xyz name", "401000 main", "\n"] {
            assert!(Symbols::read(text).is_err(), "{text:?}");
        }
        assert_eq!(Symbols::read("").unwrap().places(), 2);
    }
}
