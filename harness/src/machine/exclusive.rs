//! One run at a time on this machine in real time: another one beside it would be in the figures of
//! both.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};

use crate::fault::{OrHost, Result};
use crate::process;
use crate::progress::Progress;

/// The right to measure here. It is the name of an abstract socket, which the kernel gives to one
/// process of the machine, whoever runs it and wherever its cache lies, and which no process
/// survives: there is nothing to clean up, and no stale lock. A container with a network of its own
/// has such names of its own too.
#[derive(Debug)]
pub struct Exclusive(#[allow(dead_code, reason = "held for its drop")] UnixListener);

/// Looks between two questions after the holder: a minute.
const ASK_EVERY: u64 = 300;

const NAME: &str = "ktrial measures on this machine";

impl Exclusive {
    /// Waits for it, and says for whom.
    ///
    /// # Errors
    /// A host fault if the system has no such sockets; an interrupt.
    pub fn wait(progress: &Progress) -> Result<Exclusive> {
        Exclusive::wait_for(NAME, &mut |line| progress.say(line))
    }

    /// Takes it, if nobody has it.
    ///
    /// # Errors
    /// A host fault if the system has no such sockets.
    pub fn try_take() -> Result<Option<Exclusive>> {
        Exclusive::take(NAME)
    }

    fn wait_for(name: &str, say: &mut dyn FnMut(&str)) -> Result<Exclusive> {
        let (mut said, mut looks) = (None, 0_u64);
        loop {
            if let Some(right) = Exclusive::take(name)? {
                return Ok(right);
            }
            // Whoever asks takes a place in a queue that the holder never looks at: so not often.
            let holder = (looks % ASK_EVERY == 0).then(|| holder(name)).flatten();
            if let Some(pid) = holder.filter(|_| said != holder) {
                say(&format!(
                    "another ktrial (pid {pid}) measures on this machine: waiting for its end"
                ));
                said = holder;
            }
            process::check_interrupt()?;
            std::thread::sleep(10 * process::TICK);
            looks += 1;
        }
    }

    fn take(name: &str) -> Result<Option<Exclusive>> {
        let doing = || "make sure that nothing else measures here".to_owned();
        let address = SocketAddr::from_abstract_name(name).or_host(doing)?;
        match UnixListener::bind_addr(&address) {
            Ok(socket) => Ok(Some(Exclusive(socket))),
            Err(why) if why.kind() == ErrorKind::AddrInUse => Ok(None),
            Err(why) => Err(why).or_host(doing),
        }
    }
}

/// The process that has it; none if it has gone in the meantime.
fn holder(name: &str) -> Option<i32> {
    let address = SocketAddr::from_abstract_name(name).ok()?;
    let stream = UnixStream::connect_addr(&address).ok()?;
    Some(getsockopt(&stream, PeerCredentials).ok()?.pid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_it_and_the_next_waits_and_says_for_whom() {
        let name = &format!("ktrial test {}", std::process::id());
        let held = Exclusive::take(name).unwrap().unwrap();
        assert!(Exclusive::take(name).unwrap().is_none());
        assert_eq!(holder(name), Some(std::process::id() as i32));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut said = Vec::new();
                let right = Exclusive::wait_for(name, &mut |line| said.push(line.to_owned()));
                right.unwrap();
                said
            });
            std::thread::sleep(20 * process::TICK);
            drop(held);
            let said = waiting.join().unwrap();
            let line = format!("another ktrial (pid {}) measures", std::process::id());
            assert_eq!(said.len(), 1);
            assert!(said[0].starts_with(&line), "{said:?}");
        });
        assert_eq!(holder(name), None);
    }
}
