//! Counts what a guest's vCPU threads do on this machine, between the marks of its iterations.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use super::Clock;
use super::marks::{self, Marked};
use crate::counters::host::{Counters, HARDWARE, HOST, Interval, Reading, SOFTWARE, Watched};
use crate::fault::{OrHost, Result};

/// Answers the marks of one guest in a thread of its own.
pub(super) struct Vcpus {
    stream: UnixStream,
    threads: String,
    absent: Vec<(String, String)>,
    answering: JoinHandle<Marked<Interval>>,
}

impl Vcpus {
    /// Begins to count the threads that QEMU names for its vCPUs, of a guest with `jobs` that
    /// speaks to the other end of `stream`.
    pub(super) fn start(
        stream: UnixStream,
        clock: Clock,
        vcpus: &[i64],
        jobs: usize,
    ) -> Result<Vcpus> {
        let threads = distinct(vcpus);
        let hardware = match clock {
            Clock::Real => &HARDWARE[..],
            Clock::Virtual | Clock::Emulated => &[],
        };
        let mut counters = Counters::open(&threads, hardware.iter().chain(&SOFTWARE));
        let mut absent: Vec<(String, String)> = std::mem::take(&mut counters.absent)
            .into_iter()
            .map(|(name, why)| (name.to_owned(), why))
            .collect();
        if hardware.is_empty() {
            let why = "an emulated guest never runs in guest mode";
            absent.extend(HARDWARE.iter().map(|e| (e.name.to_owned(), why.to_owned())));
        }
        let ours = stream
            .try_clone()
            .or_host(|| format!("count source {HOST}"))?;
        let answering = std::thread::Builder::new()
            .name("marks".into())
            .spawn(move || {
                let between = |earlier: &Reading, now: &Reading| now.since(earlier);
                marks::answer(&ours, jobs, || counters.read(), between)
            })
            .or_host(|| "start a thread".into())?;
        Ok(Vcpus {
            stream,
            threads: describe(vcpus.len(), threads.len()),
            absent,
            answering,
        })
    }

    /// What was counted, once the guest is gone.
    pub(super) fn end(self) -> Watched {
        // A guest that is still there gets no answer any more.
        let _ = self.stream.shutdown(Shutdown::Both);
        let marked = self.answering.join().unwrap_or_else(|_| Marked {
            broken: Some("the thread that counts was lost".into()),
            ..Marked::default()
        });
        Watched {
            threads: self.threads,
            absent: self.absent.into_iter().collect(),
            jobs: marked.jobs,
            broken: marked.broken,
        }
    }
}

/// Each thread once, in the order of the first vCPU that it runs.
fn distinct(vcpus: &[i64]) -> Vec<i32> {
    let mut threads = Vec::new();
    for thread in vcpus.iter().filter_map(|id| i32::try_from(*id).ok()) {
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }
    threads
}

fn describe(vcpus: usize, threads: usize) -> String {
    match threads {
        1 if vcpus > 1 => format!("{vcpus} vCPUs take turns on 1 thread, which is counted once"),
        _ if threads < vcpus => format!("{vcpus} vCPUs share {threads} threads"),
        _ => format!("{vcpus} vCPUs on a thread each"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// QEMU's answer to `query-cpus-fast` of two vCPUs with `thread=single` names one id twice.
    #[test]
    fn vcpus_that_share_a_thread_are_counted_once_and_that_is_said() {
        assert_eq!(distinct(&[3519, 3519]), [3519]);
        assert_eq!(distinct(&[7, 5, 7, 6]), [7, 5, 6]);
        assert!(describe(2, 1).contains("take turns on 1 thread"));
        assert_eq!(describe(2, 2), "2 vCPUs on a thread each");
    }

    #[test]
    fn an_emulated_guests_hardware_is_absent_with_the_reason_and_its_threads_are_counted() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let own = i64::from(nix::unistd::gettid().as_raw());
        let vcpus = Vcpus::start(ours, Clock::Emulated, &[own, own], 1).unwrap();
        let mut answers = [0; 3];
        theirs.write_all(b"j0\nb").unwrap();
        theirs.read_exact(&mut answers[..2]).unwrap();
        theirs.write_all(b"e").unwrap();
        theirs.read_exact(&mut answers[2..]).unwrap();
        let watched = vcpus.end();
        assert_eq!(&answers, b"jbe");
        assert!(watched.absent["host.cycles"].contains("never runs in guest mode"));
        // This thread at least waited for the first answer, or was never counted at all.
        let counted = &watched.jobs[&0][0];
        match watched.absent.get("vcpu.task") {
            None => assert!(counted["vcpu.task"].count >= 0.0),
            Some(reason) => assert!(!reason.is_empty() && counted.is_empty()),
        }
    }
}
