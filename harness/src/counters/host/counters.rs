//! Counters on threads of another process.

use std::collections::BTreeMap;
use std::io;

use perf_event::Counter;

use super::events::Event;
use super::reading::{Reading, State};
use super::reason::reason;

/// Every event that can be counted on each of some threads.
#[derive(Debug)]
pub struct Counters {
    open: Vec<Open>,
    /// By metric: why an event is not counted.
    pub absent: BTreeMap<&'static str, String>,
}

#[derive(Debug)]
struct Open {
    name: &'static str,
    /// One a thread.
    counters: Vec<Counter>,
}

impl Counters {
    /// Opens `events` on each of `threads` (ids of this machine); they count from now on. An event
    /// counts on all of the threads or is absent.
    pub fn open(threads: &[i32], events: impl Iterator<Item = &'static Event>) -> Counters {
        let mut open = Vec::new();
        let mut absent = BTreeMap::new();
        for event in events {
            let name = event.name;
            match counters(event, threads) {
                Ok(counters) => open.push(Open { name, counters }),
                Err(error) => {
                    absent.insert(name, reason(&error));
                }
            }
        }
        Counters { open, absent }
    }

    /// What they say now. Threads that have ended keep what they had.
    pub fn read(&mut self) -> Reading {
        let mut reading = Reading::default();
        for event in &mut self.open {
            let states = event.counters.iter_mut().map(state);
            let states: io::Result<Vec<State>> = states.collect();
            reading.0.insert(event.name, states.ok());
        }
        reading
    }

    /// The metrics of what is counted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.open.iter().map(|event| event.name)
    }
}

fn counters(event: &Event, threads: &[i32]) -> io::Result<Vec<Counter>> {
    let mut builder = event.builder();
    let open = |thread: &i32| builder.observe_pid(*thread).build();
    threads.iter().map(open).collect()
}

fn state(counter: &mut Counter) -> io::Result<State> {
    let said = counter.read_count_and_time()?;
    Ok(State {
        value: said.count,
        enabled: said.time_enabled,
        running: said.time_running,
    })
}
