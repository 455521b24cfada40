//! What was counted, and the text that says so.
//!
//! ```text
//! ktrial-counts 1
//! interval <job> <iteration> <user> <kernel>
//! function <job> <iteration> <instructions> <name>
//! end
//! ```
//!
//! Jobs and iterations count from 0. `interval` is followed by its functions, those that ran. An end
//! without a beginning, or a beginning without an end, makes no interval. Without `end` it was cut:
//! by QEMU's death, or because a guest made marks without end.

use std::io::Write;

use crate::marks::Mark;
use crate::symbols::{Symbols, USER};

/// The text as it grows.
pub struct Counts<W: Write> {
    out: W,
    /// Of the newest job; none has begun before its mark.
    job: Option<u32>,
    iteration: u32,
    /// The counters when the iteration began.
    begun: Option<Vec<u64>>,
    /// Bytes that may still be written.
    left: usize,
}

impl<W: Write> Counts<W> {
    /// Begins the text, which gets no longer than `most` bytes.
    ///
    /// # Errors
    /// Those of `out`, here and below.
    pub fn begin(mut out: W, most: usize) -> std::io::Result<Counts<W>> {
        out.write_all(b"ktrial-counts 1\n")?;
        Ok(Counts {
            out,
            job: None,
            iteration: 0,
            begun: None,
            left: most,
        })
    }

    /// Takes a mark; `now` reads the counters, a number by place.
    pub fn mark(
        &mut self,
        mark: Mark,
        symbols: &Symbols,
        now: impl FnOnce() -> Vec<u64>,
    ) -> std::io::Result<()> {
        match mark {
            Mark::Job => {
                self.job = Some(self.job.map_or(0, |job| job + 1));
                self.iteration = 0;
                self.begun = None;
                Ok(())
            }
            Mark::Begin => {
                self.begun = Some(now());
                Ok(())
            }
            Mark::End => match (self.job, self.begun.take()) {
                (Some(job), Some(begun)) => self.interval(job, &begun, &now(), symbols),
                _ => Ok(()),
            },
        }
    }

    fn interval(
        &mut self,
        job: u32,
        begun: &[u64],
        now: &[u64],
        symbols: &Symbols,
    ) -> std::io::Result<()> {
        let iteration = self.iteration;
        self.iteration += 1;
        let counts: Vec<u64> = now
            .iter()
            .zip(begun)
            .map(|(now, then)| now - then)
            .collect();
        let user = counts.get(USER).copied().unwrap_or(0);
        let kernel: u64 = counts.iter().skip(USER + 1).sum();
        self.line(&format!("interval {job} {iteration} {user} {kernel}\n"))?;
        let functions = counts.iter().enumerate().skip(USER + 1);
        for (place, count) in functions.filter(|(_, count)| **count > 0) {
            let name = symbols.name(place);
            self.line(&format!("function {job} {iteration} {count} {name}\n"))?;
        }
        Ok(())
    }

    /// Once one line had no room, there is none for any other.
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.left = self.left.saturating_sub(line.len());
        match self.left {
            0 => Ok(()),
            _ => self.out.write_all(line.as_bytes()),
        }
    }

    /// Ends the text, if it is whole.
    pub fn end(&mut self) -> std::io::Result<()> {
        if self.left == 0 {
            return self.out.flush();
        }
        self.out.write_all(b"end\n")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_differences_by_job_and_iteration() {
        let symbols =
            Symbols::read("ffffffff81000000 open\nffffffff81000100 close\nffffffff82000000 _end\n")
                .unwrap();
        let mut text = Vec::new();
        let mut counts = Counts::begin(&mut text, 1000).unwrap();
        let mut mark = |mark, now: [u64; 4]| {
            counts.mark(mark, &symbols, || now.to_vec()).unwrap();
        };
        // Before the first job nothing counts.
        mark(Mark::Begin, [1, 1, 1, 1]);
        mark(Mark::End, [9, 9, 9, 9]);
        mark(Mark::Job, [9; 4]);
        mark(Mark::End, [9; 4]);
        mark(Mark::Begin, [10, 10, 10, 10]);
        mark(Mark::End, [15, 11, 30, 10]);
        mark(Mark::Begin, [20, 20, 20, 20]);
        mark(Mark::End, [20, 20, 20, 27]);
        // A job that was killed in an iteration.
        mark(Mark::Begin, [30; 4]);
        mark(Mark::Job, [40; 4]);
        mark(Mark::End, [50; 4]);
        mark(Mark::Begin, [60; 4]);
        mark(Mark::End, [61, 60, 60, 60]);
        counts.end().unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "ktrial-counts 1\n\
             interval 0 0 5 21\nfunction 0 0 1 ?\nfunction 0 0 20 open\n\
             interval 0 1 0 7\nfunction 0 1 7 close\n\
             interval 1 0 1 0\n\
             end\n"
        );
    }

    #[test]
    fn a_text_that_grows_too_long_is_cut_and_has_no_end() {
        let symbols = Symbols::read("").unwrap();
        let mut text = Vec::new();
        // Two lines of 19 bytes each fit.
        let mut counts = Counts::begin(&mut text, 50).unwrap();
        counts.mark(Mark::Job, &symbols, Vec::new).unwrap();
        for n in 0..4 {
            counts.mark(Mark::Begin, &symbols, || vec![n, 0]).unwrap();
            counts.mark(Mark::End, &symbols, || vec![n + 1, 0]).unwrap();
        }
        counts.end().unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "ktrial-counts 1\ninterval 0 0 1 0\ninterval 0 1 1 0\n"
        );
    }
}
