//! Marks: `nopl disp32(%rax)`, which no compiler makes with these displacements.
//!
//! `workloads/common/marks.h` has the other side.

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The next job begins.
    Job,
    /// An iteration begins,
    Begin,
    /// and ends.
    End,
}

/// The length of a mark in bytes.
pub const LENGTH: usize = 7;

/// `0f 1f 80`, then "KT", which mark, and 0x4b.
pub fn read(instruction: &[u8]) -> Option<Mark> {
    match instruction {
        [0x0f, 0x1f, 0x80, b'K', b'T', which, 0x4b] => match which {
            1 => Some(Mark::Job),
            2 => Some(Mark::Begin),
            3 => Some(Mark::End),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_as_gnu_as_assembles_it() {
        // GNU as 2.40: `nopl 0x4b02544b(%rax)`.
        let begin = [0x0f, 0x1f, 0x80, 0x4b, 0x54, 0x02, 0x4b];
        assert_eq!(read(&begin), Some(Mark::Begin));
        assert_eq!(begin.len(), LENGTH);
        // What compilers pad with.
        assert_eq!(read(&[0x0f, 0x1f, 0x80, 0, 0, 0, 0]), None);
        assert_eq!(read(&begin[..6]), None);
        assert_eq!(read(&[0x0f, 0x1f, 0x80, 0x4b, 0x54, 0x09, 0x4b]), None);
    }
}
