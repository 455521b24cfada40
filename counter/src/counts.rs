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
//! without a beginning, or a beginning without an end, makes no interval. Without `end` it was cut.

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
}

impl<W: Write> Counts<W> {
    /// Begins the text.
    ///
    /// # Errors
    /// Those of `out`, here and below.
    pub fn begin(mut out: W) -> std::io::Result<Counts<W>> {
        out.write_all(b"ktrial-counts 1\n")?;
        Ok(Counts {
            out,
            job: None,
            iteration: 0,
            begun: None,
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
        writeln!(self.out, "interval {job} {iteration} {user} {kernel}")?;
        let functions = counts.iter().enumerate().skip(USER + 1);
        for (place, count) in functions.filter(|(_, count)| **count > 0) {
            let name = symbols.name(place);
            writeln!(self.out, "function {job} {iteration} {count} {name}")?;
        }
        Ok(())
    }

    /// Ends the text.
    pub fn end(&mut self) -> std::io::Result<()> {
        self.out.write_all(b"end\n")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_differences_by_job_and_iteration() {
        let symbols = Symbols::read("ffffffff81000000 open\nffffffff81000100 close\n").unwrap();
        let mut text = Vec::new();
        let mut counts = Counts::begin(&mut text).unwrap();
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
}
