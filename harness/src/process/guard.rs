//! The guard: a forked process that does nothing but wait for ktrial to die, and then kills the
//! process groups that were still running. A kill -9 of ktrial reaches it as the end of a pipe.

use std::fs::File;
use std::io::Write;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::{Mutex, OnceLock};

use nix::fcntl::OFlag;
use nix::libc;
use nix::unistd::{ForkResult, fork, pipe2};

/// Groups that can be watched at once: a guest for each CPU of a large machine, a build, a tool.
const SLOTS: usize = 4096;

/// Watches the process group `id`: killed with SIGKILL when ktrial dies.
pub(super) fn watch(id: u32) {
    tell(id as i32);
}

/// Stops watching `id`, which has ended.
pub(super) fn forget(id: u32) {
    tell(-(id as i32));
}

/// One message is four bytes, well below PIPE_BUF, so messages of two threads never mix.
fn tell(message: i32) {
    static PIPE: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    let pipe = PIPE.get_or_init(|| start().map(Mutex::new));
    if let Some(pipe) = pipe
        && let Ok(mut pipe) = pipe.lock()
    {
        let _ = pipe.write_all(&message.to_ne_bytes());
    }
}

/// Forks the guard; `None` where that fails, in which case the parent-death signal is what is left.
fn start() -> Option<File> {
    // Closed on exec: a child that held the write end would keep the guard from seeing the end.
    let (read, write): (OwnedFd, OwnedFd) = pipe2(OFlag::O_CLOEXEC).ok()?;
    // SAFETY: the child only makes async-signal-safe calls and never returns.
    match unsafe { fork() }.ok()? {
        ForkResult::Child => {
            let (read, write) = (read.into_raw_fd(), write.into_raw_fd());
            // SAFETY: plain system calls on plain integers; nothing of the parent is touched.
            unsafe {
                libc::setsid();
                libc::close(write);
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_IGN);
                }
                // Every other descriptor goes: a held pipe or lock would outlive ktrial.
                if read > 0 {
                    libc::syscall(libc::SYS_close_range, 0, read as u32 - 1, 0);
                }
                libc::syscall(libc::SYS_close_range, read as u32 + 1, u32::MAX, 0);
                guard(read)
            }
        }
        ForkResult::Parent { .. } => {
            drop(read);
            Some(File::from(write))
        }
    }
}

/// Keeps the list of groups until the pipe ends, then kills them.
///
/// # Safety
/// Runs after fork in a process that may have had threads: only system calls, no allocation.
unsafe fn guard(pipe: i32) -> ! {
    let mut groups = [0i32; SLOTS];
    let mut message = [0u8; 4];
    // SAFETY: the buffer is valid for four bytes; the calls are async-signal-safe.
    unsafe {
        loop {
            match libc::read(pipe, message.as_mut_ptr().cast(), 4) {
                4 => {
                    let group = i32::from_ne_bytes(message);
                    let (from, to) = if group > 0 { (0, group) } else { (-group, 0) };
                    for slot in &mut groups {
                        if *slot == from {
                            *slot = to;
                            break;
                        }
                    }
                }
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        for group in groups {
            if group > 0 {
                libc::kill(-group, libc::SIGKILL);
            }
        }
        libc::_exit(0)
    }
}
