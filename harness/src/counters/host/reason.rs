//! Why an event can't be counted, in words that say what to do.

use std::fs;
use std::io;

use nix::errno::Errno;
use nix::libc;

/// Says whom the kernel lets count.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// In words, why the kernel did not open a counter.
pub(super) fn reason(error: &io::Error) -> String {
    let paranoid = fs::read_to_string(PARANOID).ok();
    let paranoid = paranoid.and_then(|text| text.trim().parse().ok());
    words(error, paranoid)
}

fn words(error: &io::Error, paranoid: Option<i32>) -> String {
    let Some(code) = error.raw_os_error() else {
        return format!("this kernel does not know how to count it: {error}");
    };
    match Errno::from_raw(code) {
        Errno::ENOENT => "this CPU or hypervisor offers no such event".into(),
        Errno::EOPNOTSUPP => "this CPU or hypervisor can't count it in guest mode alone".into(),
        Errno::EACCES => refused(paranoid),
        Errno::EPERM => {
            "a sandbox or container forbids perf_event_open: allow it, or CAP_PERFMON".into()
        }
        Errno::EMFILE => format!(
            "ktrial may open no more files: every event takes one a vCPU; raise `ulimit -n`{}",
            limit()
        ),
        Errno::ESRCH => "the thread has ended".into(),
        Errno::ENOSYS => "this kernel has no perf events (CONFIG_PERF_EVENTS)".into(),
        Errno::EINVAL => "this kernel does not count it for one thread in guest mode".into(),
        errno => format!("the kernel says {errno}"),
    }
}

/// Counting the kernel of another thread takes `perf_event_paranoid` 1 or a capability.
fn refused(paranoid: Option<i32>) -> String {
    match paranoid {
        Some(value) if value > 1 => format!(
            "{PARANOID} is {value}: `sysctl kernel.perf_event_paranoid=1` allows it, or CAP_PERFMON"
        ),
        Some(value) => format!(
            "this user may not watch that thread, though {PARANOID} is {value}: run QEMU as the \
             same user, or give ktrial CAP_PERFMON"
        ),
        None => format!("this user may not, and {PARANOID} can't be read: give ktrial CAP_PERFMON"),
    }
}

fn limit() -> String {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is one, and lives until the call returns.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => format!(", which is {}", limit.rlim_cur),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: Errno, paranoid: Option<i32>) -> String {
        words(&io::Error::from_raw_os_error(errno as i32), paranoid)
    }

    /// The errors are those that perf_event_open(2) names.
    #[test]
    fn each_error_says_what_to_do_in_its_own_words() {
        for (errno, says) in [
            (Errno::ENOENT, "offers no such event"),
            (Errno::EOPNOTSUPP, "guest mode"),
            (Errno::EPERM, "CAP_PERFMON"),
            (Errno::EMFILE, "`ulimit -n`, which is "),
            (Errno::ESRCH, "the thread has ended"),
            (Errno::ENOSYS, "CONFIG_PERF_EVENTS"),
            (Errno::EBUSY, "EBUSY"),
        ] {
            let words = of(errno, Some(2));
            assert!(words.contains(says), "{errno}: {words}");
        }
    }

    #[test]
    fn who_may_count_is_said_with_the_value_that_decides() {
        let locked = of(Errno::EACCES, Some(3));
        assert!(locked.contains("perf_event_paranoid is 3"), "{locked}");
        assert!(locked.contains("kernel.perf_event_paranoid=1"), "{locked}");
        let open = of(Errno::EACCES, Some(1));
        assert!(open.contains("same user"), "{open}");
        assert!(of(Errno::EACCES, None).contains("can't be read"));
    }
}
