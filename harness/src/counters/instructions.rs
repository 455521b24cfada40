//! Source `tcg`: the instructions of an emulated guest, by the plugin in `counter/`, exact.

use std::collections::BTreeMap;

use crate::workload::Metric;

/// What ran in one iteration of a job, on all vCPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interval {
    /// Instructions in user space, of all processes.
    pub user: u64,
    /// Instructions in the kernel.
    pub kernel: u64,
    /// Those by function; `?` where none is known.
    pub functions: BTreeMap<String, u64>,
}

impl Interval {
    /// One of [`metrics`], in instructions.
    pub fn count(&self, metric: &str) -> Option<u64> {
        match metric {
            ALL => self.user.checked_add(self.kernel),
            "tcg.kernel" => Some(self.kernel),
            "tcg.user" => Some(self.user),
            _ => None,
        }
    }
}

/// Instructions of the whole guest.
pub const ALL: &str = "tcg.all";

/// What is made of an interval, each divided by the operations in it.
pub fn metrics() -> [Metric; 3] {
    [
        (ALL, true, "instructions of the whole guest, an operation"),
        (
            "tcg.kernel",
            false,
            "instructions in the kernel, an operation",
        ),
        (
            "tcg.user",
            false,
            "instructions in user space, an operation",
        ),
    ]
    .map(|(name, primary, help)| Metric::counted(name, "insn/op", primary, help))
}

/// By job, in the order of the list of jobs: the iterations that ended, in their order.
pub type Jobs = Vec<Vec<Interval>>;

/// The most jobs that a list can have (`workloads/PROTOCOL.md`).
const MOST_JOBS: usize = 4_096;

/// Reads what the plugin has written; the form is in `counter/src/counts.rs`.
///
/// # Errors
/// The first line that is not of that form; a text without its end, which was cut.
pub fn read(text: &str) -> std::result::Result<Jobs, String> {
    let mut lines = text.lines();
    if lines.next() != Some("ktrial-counts 1") {
        return Err("these are no counts of version 1".into());
    }
    let mut jobs = Jobs::new();
    for line in lines.by_ref() {
        if line == "end" {
            return match lines.next() {
                None => Ok(jobs),
                Some(_) => Err("there is more behind the end".into()),
            };
        }
        enter(&mut jobs, line).ok_or_else(|| format!("no count: {line}"))?;
    }
    Err("the counts were cut: they have no end".into())
}

fn enter(jobs: &mut Jobs, line: &str) -> Option<()> {
    let mut words = line.splitn(5, ' ');
    let kind = words.next()?;
    let job: usize = words.next()?.parse().ok()?;
    let iteration: usize = words.next()?.parse().ok()?;
    let first: u64 = words.next()?.parse().ok()?;
    let last = words.next()?;
    if job >= MOST_JOBS {
        return None;
    }
    if jobs.len() <= job {
        jobs.resize_with(job + 1, Vec::new);
    }
    let intervals = &mut jobs[job];
    match kind {
        "interval" if intervals.len() == iteration => {
            intervals.push(Interval {
                user: first,
                kernel: last.parse().ok()?,
                functions: BTreeMap::new(),
            });
            Some(())
        }
        // Static functions of different files may have one name.
        "function" if intervals.len() == iteration + 1 => {
            let functions = &mut intervals[iteration].functions;
            let sum = functions.entry(last.to_owned()).or_insert(0);
            *sum = sum.checked_add(first)?;
            Some(())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_have_their_functions_and_equal_names_are_one() {
        let jobs = read(
            "ktrial-counts 1\n\
             interval 1 0 5 21\nfunction 1 0 1 ?\nfunction 1 0 15 open\nfunction 1 0 5 open\n\
             interval 1 1 7 0\n\
             end\n",
        )
        .unwrap();
        assert_eq!(jobs.len(), 2);
        assert!(jobs[0].is_empty());
        let functions = [("?".to_owned(), 1), ("open".to_owned(), 20)].into();
        let expected = [
            Interval {
                user: 5,
                kernel: 21,
                functions,
            },
            Interval {
                user: 7,
                ..Interval::default()
            },
        ];
        assert_eq!(jobs[1], expected);
    }

    #[test]
    fn what_was_cut_or_is_out_of_order_is_refused() {
        for text in [
            "",
            "ktrial-counts 2\nend\n",
            "ktrial-counts 1\ninterval 0 0 1 2\n",
            "ktrial-counts 1\nend\nend\n",
            "ktrial-counts 1\ninterval 0 1 1 2\nend\n",
            "ktrial-counts 1\nfunction 0 0 1 open\nend\n",
            "ktrial-counts 1\ninterval 5000 0 1 2\nend\n",
            "ktrial-counts 1\ninterval 0 0 -1 2\nend\n",
            "ktrial-counts 1\ninterval 0 0 1 2\nfunction 0 0 18446744073709551615 a\nfunction 0 0 1 a\nend\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(ktrial-counts 1\n)?((interval|function|end)? ?[0-9 ]{0,12}[a-z]?\n){0,8}") {
            let _ = read(&text);
        }
    }
}
