//! Where counts are kept, and what QEMU hands on with a call to add to one.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count for each place.
///
/// QEMU could add by itself, without a call, to a scoreboard with a row for each vCPU. With two
/// vCPUs or more, QEMU 10.0.2 finds the row by multiplying a constant that other code of the guest
/// shares (`gen_plugin_u64_ptr`), and the guest goes astray; with one, that saves a tenth.
pub struct Board(Box<[AtomicU64]>);

impl Board {
    /// All counts 0.
    pub fn new(places: usize) -> Board {
        Board((0..places).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds what [`packed`] says.
    pub fn add(&self, what: *mut c_void) {
        let what = what as usize;
        if let Some(count) = self.0.get(what >> NUMBER_BITS) {
            // In virtual time vCPUs take turns on one thread: nothing comes in between.
            let sum = count.load(Ordering::Relaxed) + (what & MOST) as u64;
            count.store(sum, Ordering::Relaxed);
        }
    }

    /// All counts, by place.
    pub fn read(&self) -> Vec<u64> {
        let counts = self.0.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).collect()
    }
}

/// QEMU ends a block after 512 instructions (`TCG_MAX_INSNS`).
const NUMBER_BITS: u32 = 16;
const MOST: usize = (1 << NUMBER_BITS) - 1;

/// Place and number in one word.
pub fn packed(place: usize, number: usize) -> *mut c_void {
    (place << NUMBER_BITS | number.min(MOST)) as *mut c_void
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_added_where_it_belongs() {
        let board = Board::new(3);
        for (place, number) in [(2, 512), (0, 1), (2, 3), (3, 9)] {
            board.add(packed(place, number));
        }
        assert_eq!(board.read(), [1, 0, 515]);
    }
}
