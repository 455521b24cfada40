//! Programs that ktrial starts (QEMU, make, git, cc): each in a process group of its own, each
//! with a deadline, and none that outlives ktrial, however ktrial dies.
//!
//! Three belts, because each has a hole. The kernel's parent-death signal reaches the child but
//! not the child's children; the [`guard`] reaches whole groups but can itself be killed; the
//! check for [`leftovers`] at the next start finds what both missed.

mod guard;
pub mod leftovers;

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, killpg, sigaction};
use nix::unistd::Pid;

use crate::fault::{At, Fault, OrHost, Result};

/// The environment variable that marks a process as ktrial's: `<pid of ktrial>:<cache folder>`.
const MARK: &str = "KTRIAL_CHILD_OF";

/// How often a waiting loop looks: short against any build or boot, long against its own cost.
pub const TICK: Duration = Duration::from_millis(20);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether a signal may end ktrial where it stands: see [`ending_at_once`].
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Whether not even a second signal ends ktrial: see [`run_in_foreground`].
static TO_THE_END: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP end the run in an orderly way: running boots are given up,
/// finished ones are kept. A second signal kills at once.
///
/// # Errors
/// A host fault if the handler cannot be set.
pub fn catch_interrupts() -> Result<()> {
    extern "C" fn note(signal: i32) {
        if AT_ONCE.load(Ordering::SeqCst) {
            end_here()
        }
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        if again && !TO_THE_END.load(Ordering::SeqCst) {
            // SAFETY: `_exit` is async-signal-safe; the guard ends what is still running.
            unsafe { nix::libc::_exit(128 + signal) }
        }
    }
    let action = SigAction::new(
        SigHandler::Handler(note),
        SaFlags::SA_RESTART,
        SigSet::empty(),
    );
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: the handler only touches an atomic and calls `_exit`.
        let before = unsafe { sigaction(signal, &action) }.or_host(|| "catch signals".into())?;
        if matches!(before.handler(), SigHandler::SigIgn) {
            // nohup, or a background job: it stays ignored.
            // SAFETY: puts back what was there.
            unsafe { sigaction(signal, &before) }.or_host(|| "catch signals".into())?;
        }
    }
    Ok(())
}

/// Work that leaves nothing half done, such as reading and trying patches: a signal meanwhile ends
/// ktrial at once, where it would else go on to the next [`check_interrupt`], which code that
/// knows nothing of signals does not have.
pub fn ending_at_once<T>(work: impl FnOnce() -> T) -> T {
    let before = AT_ONCE.swap(true, Ordering::SeqCst);
    if INTERRUPTED.load(Ordering::SeqCst) {
        end_here();
    }
    let done = work();
    AT_ONCE.store(before, Ordering::SeqCst);
    done
}

fn end_here() -> ! {
    let line = b"ktrial: interrupted\n";
    // SAFETY: both calls are async-signal-safe; the guard ends what is still running.
    unsafe {
        nix::libc::write(nix::libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        nix::libc::_exit(i32::from(At::Interrupted.exit_code()))
    }
}

/// Fails with [`At::Interrupted`] once a signal has come.
///
/// # Errors
/// See above.
pub fn check_interrupt() -> Result<()> {
    if INTERRUPTED.load(Ordering::SeqCst) {
        return Err(Fault::new(
            At::Interrupted,
            "stopped by a signal; what was measured is kept",
        )
        .next("run the same command again to go on"));
    }
    Ok(())
}

/// A running program and its process group. Dropping it kills the group.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    name: String,
    reaped: bool,
}

/// Starts `command` in a process group of its own. The name is used in messages.
///
/// # Errors
/// A host fault that says what is missing if the program cannot be started.
pub fn spawn(mut command: Command, cache: &Path) -> Result<Child> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.env(MARK, format!("{}:{}", std::process::id(), cache.display()));
    command.process_group(0);
    let parent = std::process::id();
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from)?;
            // The parent may have died before the line above took effect.
            if nix::unistd::getppid().as_raw() as u32 != parent {
                return Err(io::Error::other("ktrial is gone"));
            }
            // A background job of a shell starts with SIGINT ignored, and make inherits that.
            nix::libc::signal(nix::libc::SIGINT, nix::libc::SIG_DFL);
            Ok(())
        });
    }
    let inner = spawner()
        .spawn(command)
        .map_err(|e| missing_program(&name, &e))?;
    guard::watch(inner.id());
    Ok(Child {
        inner,
        name,
        reaped: false,
    })
}

fn missing_program(name: &str, error: &io::Error) -> Fault {
    let fault = Fault::host(format!("cannot start {name}: {error}"));
    match error.kind() {
        io::ErrorKind::NotFound => fault.next("`ktrial doctor` says which package to install"),
        _ => fault,
    }
}

impl Child {
    /// The process id, which is also the id of its group.
    pub fn id(&self) -> u32 {
        self.inner.id()
    }

    /// The writing end of a piped standard input, once.
    pub fn take_stdin(&mut self) -> Option<std::process::ChildStdin> {
        self.inner.stdin.take()
    }

    /// The reading end of a piped standard output, once.
    pub fn take_stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.inner.stdout.take()
    }

    /// The exit status if it has ended; never blocks.
    ///
    /// # Errors
    /// A host fault if the process cannot be waited for.
    pub fn poll(&mut self) -> Result<Option<ExitStatus>> {
        let status = self
            .inner
            .try_wait()
            .or_host(|| format!("wait for {}", self.name))?;
        if status.is_some() && !self.reaped {
            self.reaped = true;
            guard::forget(self.inner.id());
        }
        Ok(status)
    }

    /// Waits for the end, killing the group at the deadline or on an interrupt.
    ///
    /// # Errors
    /// A host fault at the deadline, an interrupt fault on a signal.
    pub fn wait(mut self, deadline: Duration) -> Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.poll()? {
                return Ok(status);
            }
            check_interrupt()?;
            if start.elapsed() > deadline {
                return Err(Fault::host(format!(
                    "{} did not end within {} s and was killed",
                    self.name,
                    deadline.as_secs()
                )));
            }
            std::thread::sleep(TICK);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        let group = Pid::from_raw(self.inner.id() as i32);
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.inner.wait();
        guard::forget(self.inner.id());
    }
}

/// What a short program printed.
#[derive(Debug)]
pub struct Output {
    /// Whether it exited with 0.
    pub success: bool,
    /// Its standard output and error, in the order written.
    pub text: String,
}

/// Runs a short program to its end and returns what it printed.
///
/// # Errors
/// A host fault if it cannot be started or passes the deadline.
pub fn run(mut command: Command, cache: &Path, deadline: Duration) -> Result<Output> {
    // Without a name, so that a killed run leaves nothing.
    let log = tempfile::tempfile_in(cache)
        .or_host(|| format!("make a temporary file in {}", cache.display()))?;
    let both = log.try_clone().or_host(|| "duplicate a file".into())?;
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().or_host(|| "duplicate a file".into())?)
        .stderr(both);
    let status = spawn(command, cache)?.wait(deadline)?;
    let mut log = log;
    io::Seek::rewind(&mut log).or_host(|| "read a program's output".into())?;
    let mut bytes = Vec::new();
    // A bound: no tool that ktrial runs to its end has more to say.
    io::Read::read_to_end(&mut io::Read::take(log, 4 << 20), &mut bytes)
        .or_host(|| "read a program's output".into())?;
    Ok(Output {
        success: status.success(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Runs somebody's command as a shell would, with this process's own streams and in its group, and
/// returns its exit code, 128 and more for a signal. A signal from the terminal reaches both; the
/// command decides what it makes of it, and ktrial waits for its end, however many come. A ktrial that
/// is killed takes it with it (SIGTERM).
///
/// # Errors
/// A user fault if it can't be started.
pub fn run_in_foreground(mut command: Command) -> Result<u8> {
    let name = command.get_program().to_string_lossy().into_owned();
    // SAFETY: only an async-signal-safe call between fork and exec.
    unsafe {
        let with_ktrial =
            || nix::sys::prctl::set_pdeathsig(Signal::SIGTERM).map_err(io::Error::from);
        command.pre_exec(with_ktrial);
    }
    TO_THE_END.store(true, Ordering::SeqCst);
    let status = command.status();
    TO_THE_END.store(false, Ordering::SeqCst);
    let status = status.map_err(|why| Fault::user(format!("cannot start {name}: {why}")))?;
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// How a process ended, in words.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => Signal::try_from(signal)
            .map_or_else(|_| format!("signal {signal}"), |s| format!("signal {s}")),
        _ => "an unknown end".into(),
    }
}

/// The thread that starts every program. PDEATHSIG fires when the *thread* that spawned a child
/// ends, so all are spawned from one that lives as long as the process.
struct Spawner(Sender<Job>);

type Job = (Command, Sender<io::Result<std::process::Child>>);

fn spawner() -> &'static Spawner {
    static SPAWNER: OnceLock<Spawner> = OnceLock::new();
    SPAWNER.get_or_init(|| {
        let (jobs, inbox) = mpsc::channel::<Job>();
        std::thread::spawn(move || {
            for (mut command, reply) in inbox {
                let _ = reply.send(command.spawn());
            }
        });
        Spawner(jobs)
    })
}

impl Spawner {
    fn spawn(&self, command: Command) -> io::Result<std::process::Child> {
        let (reply, answer) = mpsc::channel();
        let gone = |_| io::Error::other("the spawning thread is gone");
        self.0.send((command, reply)).map_err(|e| gone(e.0.1))?;
        answer
            .recv()
            .map_err(|_| io::Error::other("the spawning thread is gone"))?
    }
}
