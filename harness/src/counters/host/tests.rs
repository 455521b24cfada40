//! Software events against what is known otherwise, always on a thread that does not open them;
//! hardware events are tried, and counted or absent with a reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use nix::libc;

use super::*;

/// A thread that is counted from outside: it says who it is, works when told, and says what it got.
struct Foreign<T> {
    tid: i32,
    go: Sender<()>,
    done: Receiver<T>,
    thread: JoinHandle<()>,
}

impl<T: Send + 'static> Foreign<T> {
    fn that(work: impl FnOnce() -> T + Send + 'static) -> Foreign<T> {
        let (said, tid) = channel();
        let (go, begin) = channel();
        let (finished, done) = channel();
        let thread = thread::spawn(move || {
            said.send(nix::unistd::gettid().as_raw()).unwrap();
            begin.recv().unwrap();
            finished.send(work()).unwrap();
            // Alive until it is counted.
            let _ = begin.recv();
        });
        Foreign {
            tid: tid.recv().unwrap(),
            go,
            done,
            thread,
        }
    }

    /// What `event` counted of the work, with what the work gave and the wall time in ns. None where
    /// a sandbox forbids counting.
    fn count(self, event: &'static Event) -> Option<(f64, T, f64)> {
        let mut counters = Counters::open(&[self.tid], std::iter::once(event));
        let start = Instant::now();
        let before = counters.read();
        self.go.send(()).unwrap();
        let gave = self.done.recv().unwrap();
        let interval = counters.read().since(&before);
        let wall = start.elapsed().as_nanos() as f64;
        drop(self.go);
        self.thread.join().unwrap();
        if let Some(reason) = counters.absent.get(event.name) {
            // Software needs no PMU: only a permission can be lacking.
            assert!(reason.contains("CAP_PERFMON"), "{reason}");
            return None;
        }
        let counted = interval[event.name];
        assert_eq!(counted.share, 1.0, "software events take no turns");
        Some((counted.count, gave, wall))
    }
}

fn software(name: &str) -> &'static Event {
    SOFTWARE.iter().find(|event| event.name == name).unwrap()
}

/// What the kernel says of this thread by getrusage(2), which perf has no part in.
fn usage() -> libc::rusage {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the call fills in the whole structure when it returns 0.
    unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), 0);
        usage.assume_init()
    }
}

/// Writes to each of `pages` pages that nobody has touched, none of them huge.
fn touch(pages: usize) {
    // SAFETY: sysconf takes any number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let length = pages * page;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a mapping of its own, written to within its bounds, gone at the end.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        // Fails on a kernel without huge pages, where there is nothing to ask for.
        libc::madvise(memory, length, libc::MADV_NOHUGEPAGE);
        for at in 0..pages {
            memory.cast::<u8>().add(at * page).write_volatile(1);
        }
        assert_eq!(libc::munmap(memory, length), 0);
    }
}

/// One fault a page, and no more than a few for the thread's own stack and the channel.
#[test]
fn page_faults_of_another_thread_are_the_pages_it_touched() {
    const PAGES: usize = 3_000;
    let foreign = Foreign::that(|| {
        let before = usage();
        touch(PAGES);
        let after = usage();
        (after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt) as f64
    });
    let Some((faults, by_usage, _)) = foreign.count(software("vcpu.faults")) else {
        return;
    };
    let pages = PAGES as f64;
    assert!((pages..=pages + 32.0).contains(&faults), "{faults}");
    assert!((by_usage..=by_usage + 32.0).contains(&faults), "{by_usage}");
}

/// This thread, and all that it starts from now on, on one processor.
fn stay_on_one_processor() {
    // SAFETY: the set is all zero bits, which is an empty one, and as long as is said.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}

/// On one processor the other one answers only once this one has left it, so each round takes a
/// switch at the least. More come from the scheduler, all of which getrusage knows too.
#[test]
fn context_switches_of_a_ping_pong_are_its_rounds_at_the_least_and_those_of_getrusage() {
    const ROUNDS: u32 = 2_000;
    let foreign = Foreign::that(|| {
        stay_on_one_processor();
        let (mut asked, mut ask) = std::io::pipe().unwrap();
        let (mut answered, mut answer) = std::io::pipe().unwrap();
        let other = thread::spawn(move || {
            let mut byte = [0];
            while asked.read(&mut byte).unwrap() == 1 {
                answer.write_all(&byte).unwrap();
            }
        });
        let before = usage();
        for _ in 0..ROUNDS {
            let mut byte = [1];
            ask.write_all(&byte).unwrap();
            answered.read_exact(&mut byte).unwrap();
        }
        let after = usage();
        drop(ask);
        other.join().unwrap();
        (after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw) as f64
    });
    let Some((switches, by_usage, _)) = foreign.count(software("vcpu.switches")) else {
        return;
    };
    assert!(switches >= f64::from(ROUNDS), "{switches}");
    // Before and after the rounds it waits for its orders, moves, and starts and joins the other.
    assert!(
        (by_usage..=by_usage + 40.0).contains(&switches),
        "{switches}, getrusage {by_usage}"
    );
}

fn own_time_ns() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills in `time`, which lives until it returns.
    assert_eq!(
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) },
        0
    );
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[test]
fn processor_time_of_another_thread_is_its_own_clocks_and_no_more_than_the_walls() {
    const WORK_NS: f64 = 50e6;
    let foreign = Foreign::that(|| {
        let begin = own_time_ns();
        while own_time_ns() < begin + WORK_NS {}
        // Asleep it takes none.
        thread::sleep(std::time::Duration::from_millis(50));
        own_time_ns() - begin
    });
    let Some((task, own, wall)) = foreign.count(software("vcpu.task")) else {
        return;
    };
    // Two clocks of the kernel, which may run apart by a little; the thread wakes up and ends too.
    assert!(task >= 0.99 * own, "{task} ns, own clock {own} ns");
    assert!(task <= own + 20e6, "{task} ns, own clock {own} ns");
    assert!(task <= 1.01 * wall, "{task} ns in {wall} ns");
    assert!(wall >= own + 50e6 * 0.99, "it slept: {wall} ns");
}

#[test]
fn threads_are_counted_together() {
    let foreign: Vec<_> = [1_000, 2_000]
        .map(|pages| Foreign::that(move || touch(pages)))
        .into();
    let tids: Vec<i32> = foreign.iter().map(|foreign| foreign.tid).collect();
    let mut counters = Counters::open(&tids, std::iter::once(software("vcpu.faults")));
    let before = counters.read();
    for one in &foreign {
        one.go.send(()).unwrap();
        one.done.recv().unwrap();
    }
    let interval = counters.read().since(&before);
    for one in foreign {
        drop(one.go);
        one.thread.join().unwrap();
    }
    if counters.absent.is_empty() {
        let faults = interval["vcpu.faults"].count;
        assert!((3_000.0..=3_064.0).contains(&faults), "{faults}");
    }
}

/// What a thread did before it ended is not lost: a guest may power off before it is read.
#[test]
fn a_thread_that_has_ended_keeps_its_count_but_can_not_be_counted_any_more() {
    let foreign = Foreign::that(|| touch(500));
    let tid = foreign.tid;
    let mut counters = Counters::open(&[tid], std::iter::once(software("vcpu.faults")));
    let before = counters.read();
    foreign.go.send(()).unwrap();
    foreign.done.recv().unwrap();
    drop(foreign.go);
    foreign.thread.join().unwrap();
    if counters.absent.is_empty() {
        let faults = counters.read().since(&before)["vcpu.faults"].count;
        assert!((500.0..=600.0).contains(&faults), "{faults}");
    }
    // A process that was waited for is gone for certain; a thread may linger a moment.
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let late = Counters::open(&[child.id() as i32], SOFTWARE.iter());
    assert_eq!(late.absent.len(), SOFTWARE.len());
    for reason in late.absent.values() {
        assert!(
            reason == "the thread has ended" || reason.contains("CAP_PERFMON"),
            "{reason}"
        );
    }
}

/// Whatever this machine has: an event counts, or says why it does not, and never both.
#[test]
fn each_event_opens_or_has_a_reason() {
    let own = nix::unistd::gettid().as_raw();
    let mut counters = Counters::open(&[own], HARDWARE.iter().chain(&SOFTWARE));
    let before = counters.read();
    let interval = counters.read().since(&before);
    let open: Vec<&str> = counters.names().collect();
    assert_eq!(
        open.len() + counters.absent.len(),
        HARDWARE.len() + SOFTWARE.len()
    );
    for name in &open {
        assert!(!counters.absent.contains_key(name), "{name}");
    }
    for (name, reason) in &counters.absent {
        assert!(!interval.contains_key(*name), "{name}");
        assert!(
            [
                "this CPU or hypervisor ",
                "perf_event_paranoid",
                "CAP_PERFMON",
                "this kernel ",
            ]
            .iter()
            .any(|words| reason.contains(words)),
            "{name}: {reason}"
        );
    }
}

/// Each metric has its source's word, less of it is better, and no verdict hangs on it.
#[test]
fn metrics_explain_and_name_their_source() {
    for metric in metrics() {
        let source = crate::counters::source(&metric.name).unwrap();
        assert!([HOST, VCPU].contains(&source), "{}", metric.name);
        assert!(!metric.primary && metric.better == "lower" && !metric.help.is_empty());
        let unit = match metric.name.as_str() {
            "vcpu.task" => "ns/op",
            _ => "1/op",
        };
        assert_eq!(metric.unit, unit);
    }
}
