//! What a counter said at two moments, and what lies between.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one counter of one thread said: how often it happened, for how long it was on (in ns of
/// the thread's own time), and for how long of that the hardware really counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) value: u64,
    pub(super) enabled: u64,
    pub(super) running: u64,
}

/// What all counters said at one moment: by event, each by thread; none where the kernel failed.
#[derive(Debug, Clone, Default)]
pub struct Reading(pub(super) BTreeMap<&'static str, Option<Vec<State>>>);

/// How often something happened between two readings, on all threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// Exact, or where the hardware had to take turns scaled up to the whole time.
    pub count: f64,
    /// The share of the time in which it was counted, above 0 to 1; below 1 the count is scaled.
    pub share: f64,
}

/// By metric, as `host.cycles`: what was counted between two readings. What was not counted for a
/// moment, or can't be told, is not there.
pub type Interval = BTreeMap<Cow<'static, str>, Count>;

impl Reading {
    /// What lies between an earlier reading and this one, of the same counters.
    pub fn since(&self, earlier: &Reading) -> Interval {
        let both = self.0.iter().filter_map(|(name, now)| {
            let before = earlier.0.get(name)?.as_ref()?;
            let count = between(before, now.as_ref()?)?;
            Some((Cow::Borrowed(*name), count))
        });
        both.collect()
    }
}

/// The sum over threads, each scaled for itself. None where one was not counted while it ran, as
/// nobody knows what it did.
fn between(before: &[State], now: &[State]) -> Option<Count> {
    let (mut count, mut enabled, mut running) = (0.0, 0, 0);
    for (before, now) in before.iter().zip(now) {
        let value = now.value.checked_sub(before.value)?;
        let on = now.enabled.checked_sub(before.enabled)?;
        // Clocks of two processors may differ a little; no counter counts longer than it is on.
        let counted = now.running.checked_sub(before.running)?.min(on);
        // A thread that slept did nothing.
        if on > 0 && counted == 0 {
            return None;
        }
        count += match on == counted {
            true => value as f64,
            false => value as f64 * (on as f64 / counted as f64),
        };
        enabled += on;
        running += counted;
    }
    let share = match enabled {
        0 => 1.0,
        on => running as f64 / on as f64,
    };
    Some(Count { count, share })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(all: &[(u64, u64, u64)]) -> Vec<State> {
        let state = |&(value, enabled, running): &(u64, u64, u64)| State {
            value,
            enabled,
            running,
        };
        all.iter().map(state).collect()
    }

    /// By hand: the second thread was counted for 25 of 100, so its 30 stand for 120.
    #[test]
    fn each_thread_is_scaled_by_its_own_time_and_the_share_is_of_all() {
        let before = states(&[(10, 100, 100), (5, 100, 50)]);
        let now = states(&[(17, 400, 400), (35, 200, 75)]);
        let count = between(&before, &now).unwrap();
        assert_eq!(count.count, 7.0 + 120.0);
        // 300 and 25 of 300 and 100.
        assert_eq!(count.share, 0.8125);
    }

    #[test]
    fn what_was_counted_all_the_time_is_exact_to_the_last() {
        let many = u64::pow(2, 53) - 1;
        let count = between(&states(&[(0, 0, 0)]), &states(&[(many, 7, 7)])).unwrap();
        assert_eq!((count.count, count.share), (many as f64, 1.0));
    }

    #[test]
    fn a_thread_that_slept_did_nothing_and_one_that_was_not_counted_is_unknown() {
        let slept = between(&states(&[(5, 9, 9)]), &states(&[(5, 9, 9)])).unwrap();
        assert_eq!((slept.count, slept.share), (0.0, 1.0));
        let uncounted = between(&states(&[(5, 9, 9)]), &states(&[(5, 19, 9)]));
        assert_eq!(uncounted, None);
        let one_of_two = between(
            &states(&[(0, 0, 0), (0, 0, 0)]),
            &states(&[(100, 10, 10), (0, 10, 0)]),
        );
        assert_eq!(one_of_two, None);
    }

    #[test]
    fn times_that_the_kernel_got_wrong_never_scale_down_and_what_runs_backwards_is_unknown() {
        let count = between(&states(&[(0, 0, 0)]), &states(&[(10, 100, 101)])).unwrap();
        assert_eq!((count.count, count.share), (10.0, 1.0));
        assert_eq!(between(&states(&[(2, 5, 5)]), &states(&[(1, 6, 6)])), None);
    }

    #[test]
    fn an_event_that_could_not_be_read_is_left_out() {
        let reading = |value, other| {
            let known = ("host.cycles", Some(states(&[(value, value, value)])));
            Reading([known, ("host.branches", other)].into())
        };
        let earlier = reading(1, Some(states(&[(1, 1, 1)])));
        let interval = reading(4, None).since(&earlier);
        let names: Vec<&str> = interval.keys().map(AsRef::as_ref).collect();
        assert_eq!(names, ["host.cycles"]);
        assert_eq!(interval["host.cycles"].count, 3.0);
    }
}
