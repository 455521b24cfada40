//! Stacks that were seen in a guest while a workload ran: where its time went, or where it waited
//! for locks. They come from boots of their own, whose times are never judged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::workload::Job;

/// Kind of an observation in which a clock interrupts the guest and looks where it is.
pub const PROFILE: &str = "profile";
/// Kind of an observation of every wait for a lock that was held.
pub const LOCKS: &str = "locks";

/// What stands for all stacks for which there was no room.
pub const OTHER: &str = "other";

/// What is looked for in a boot that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watch {
    /// [`PROFILE`].
    Profile,
    /// [`LOCKS`].
    Locks,
}

impl Watch {
    /// The kind of its observations, and the word that the guest's program takes.
    pub fn kind(self) -> &'static str {
        match self {
            Watch::Profile => PROFILE,
            Watch::Locks => LOCKS,
        }
    }

    /// The same job, run by the guest's program that watches it (`workloads/watch/`), which takes
    /// longer.
    pub fn job(self, job: Job) -> Job {
        let mut arguments = vec![self.kind().to_owned(), job.program];
        arguments.extend(job.arguments);
        Job {
            program: "/bin/watch".to_owned(),
            arguments,
            deadline_ms: 2 * job.deadline_ms,
        }
    }

    /// What makes each stack be taken, and what a stack weighs.
    pub fn event(self) -> (&'static str, &'static str) {
        match self {
            Watch::Profile => ("cpu-clock", "samples"),
            Watch::Locks => ("lock:contention_begin", "ns"),
        }
    }
}

/// What was seen of one workload at one setting in one boot; an observation holds a list of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// The workload's name.
    pub workload: String,
    /// `fds=500000 touch=0`, sorted by name.
    pub parameters: String,
    /// What made each stack be taken ([`Watch::event`]).
    pub event: String,
    /// What a stack weighs: `samples`; for locks `ns`, the time waited.
    pub unit: String,
    /// Operations while it was watched; 0 where unknown.
    pub operations: u64,
    /// Stacks that the guest could not keep.
    pub lost: u64,
    /// Why nothing was seen, where it could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Weight by folded stack, the outermost function first: `do_syscall_64;__x64_sys_close;filp_close`.
    /// User space is one frame, `user space`. For locks the last frame is the lock, `[files->file_lock]`
    /// where it has a name, `[lock]` where not.
    pub stacks: BTreeMap<String, u64>,
    /// How often each stack was seen; as `stacks` where each weighs 1, and then left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times: BTreeMap<String, u64>,
}

impl Stacks {
    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.values().copied().fold(0, u64::saturating_add)
    }

    /// Weight and times by innermost function.
    pub fn by_function(&self) -> BTreeMap<&str, Seen> {
        let mut sums: BTreeMap<&str, Seen> = BTreeMap::new();
        for (stack, seen) in self.seen() {
            let leaf = stack.rsplit(';').next().unwrap_or(stack);
            sums.entry(leaf).or_default().add(seen);
        }
        sums
    }

    /// Every stack with its weight, and how often it was seen.
    pub fn seen(&self) -> impl Iterator<Item = (&str, Seen)> {
        self.stacks.iter().map(|(stack, weight)| {
            let times = match self.times.is_empty() {
                true => *weight,
                false => self.times.get(stack).copied().unwrap_or(0),
            };
            let seen = Seen {
                weight: *weight,
                times,
            };
            (stack.as_str(), seen)
        })
    }

    /// How often any stack was seen.
    pub fn count(&self) -> u64 {
        let times = self.seen().map(|(_, seen)| seen.times);
        times.fold(0, u64::saturating_add)
    }

    /// Keeps the heaviest stacks whose names take at most so many bytes, with what is said of each;
    /// the others are one, [`OTHER`].
    pub fn keep_heaviest(&mut self, bytes: usize) {
        // Quotes, colon, comma and number, twice where times are kept too.
        let each = if self.times.is_empty() { 1 } else { 2 };
        let size = |stack: &String| each * (stack.len() + 24);
        let mut heaviest: Vec<(&String, u64)> = self.stacks.iter().map(|(s, w)| (s, *w)).collect();
        // Stable: of equal weight, those that come first by name.
        heaviest.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        let mut left = bytes;
        let too_many = heaviest.into_iter().skip_while(|(stack, _)| {
            let fits = size(stack) <= left;
            left = left.saturating_sub(size(stack));
            fits
        });
        let too_many: Vec<String> = too_many.map(|(stack, _)| stack.clone()).collect();
        for stack in too_many.iter().filter(|stack| *stack != OTHER) {
            for all in [&mut self.stacks, &mut self.times] {
                if let Some(number) = all.remove(stack) {
                    let sum = all.entry(OTHER.to_owned()).or_insert(0);
                    *sum = sum.saturating_add(number);
                }
            }
        }
    }

    /// Adds what was seen of the same workload at another time.
    pub fn add(&mut self, more: &Stacks) {
        if !(self.times.is_empty() && more.times.is_empty()) {
            // Where each weighs 1, times are left out.
            let theirs = more.all_times();
            self.times = self.all_times();
            merge(&mut self.times, &theirs);
        }
        merge(&mut self.stacks, &more.stacks);
        self.operations = self.operations.saturating_add(more.operations);
        self.lost = self.lost.saturating_add(more.lost);
    }

    fn all_times(&self) -> BTreeMap<String, u64> {
        let seen = self.seen();
        seen.map(|(stack, seen)| (stack.to_owned(), seen.times))
            .collect()
    }
}

fn merge(into: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (stack, weight) in more {
        let sum = into.entry(stack.clone()).or_insert(0);
        *sum = sum.saturating_add(*weight);
    }
}

/// How much something weighs, and how often it was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// In the unit of its stacks.
    pub weight: u64,
    /// Samples, or waits.
    pub times: u64,
}

impl Seen {
    /// Adds another.
    pub fn add(&mut self, more: Seen) {
        self.weight = self.weight.saturating_add(more.weight);
        self.times = self.times.saturating_add(more.times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(weights: &[(&str, u64)], times: &[(&str, u64)]) -> Stacks {
        let of = |pairs: &[(&str, u64)]| pairs.iter().map(|(s, n)| ((*s).into(), *n)).collect();
        Stacks {
            stacks: of(weights),
            times: of(times),
            operations: 10,
            lost: 1,
            ..Stacks::default()
        }
    }

    #[test]
    fn functions_are_those_that_ran_and_not_those_that_called() {
        let seen = stacks(&[("a;b", 5), ("b", 2), ("b;a", 1)], &[]);
        let of = |weight| Seen {
            weight,
            times: weight,
        };
        assert_eq!(seen.by_function(), [("a", of(1)), ("b", of(7))].into());
        assert_eq!((seen.total(), seen.count()), (8, 8));
        assert_eq!(
            (Stacks::default().total(), Stacks::default().count()),
            (0, 0)
        );
    }

    #[test]
    fn what_is_added_has_its_times_where_only_one_of_both_names_them() {
        let mut sum = stacks(&[("a", 5)], &[]);
        sum.add(&stacks(&[("a", 100), ("b", 7)], &[("a", 2), ("b", 1)]));
        assert_eq!(sum.stacks, [("a".into(), 105), ("b".into(), 7)].into());
        assert_eq!(sum.times, [("a".into(), 7), ("b".into(), 1)].into());
        assert_eq!((sum.operations, sum.lost, sum.count()), (20, 2, 8));
        let mut light = stacks(&[("a", 5)], &[]);
        light.add(&stacks(&[("a", 1)], &[]));
        assert!(light.times.is_empty());
        let mut much = stacks(&[("a", u64::MAX), ("b", 1)], &[]);
        much.add(&stacks(&[("a", 1)], &[]));
        assert_eq!(much.total(), u64::MAX);
    }

    #[test]
    fn what_has_no_room_is_one_stack_and_nothing_is_lost() {
        let weights = [("a;long;one", 1), ("b", 7), ("c", 9), ("d", 2)];
        let mut seen = stacks(&weights, &[("a;long;one", 1), ("b", 3), ("c", 4), ("d", 1)]);
        seen.keep_heaviest(100);
        assert_eq!(
            seen.stacks,
            [("b".into(), 7), ("c".into(), 9), (OTHER.into(), 3)].into()
        );
        assert_eq!(
            seen.times,
            [("b".into(), 3), ("c".into(), 4), (OTHER.into(), 2)].into()
        );
        let mut whole = stacks(&weights, &[]);
        whole.keep_heaviest(10_000);
        assert_eq!(whole, stacks(&weights, &[]));
        whole.keep_heaviest(0);
        assert_eq!(whole.stacks, [(OTHER.into(), 19)].into());
    }
}
