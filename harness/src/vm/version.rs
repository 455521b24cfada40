//! Which QEMU this is, and what it is too old for.

use std::process::Command;
use std::time::Duration;

use super::{Clock, PROGRAM};
use crate::fault::{Fault, Result};
use crate::home::Home;
use crate::process;

/// How long QEMU may take to say its version.
const DEADLINE: Duration = Duration::from_secs(20);

/// What QEMU calls itself.
///
/// # Errors
/// A host fault if it is missing.
pub fn version(home: &Home) -> Result<String> {
    let mut command = Command::new(PROGRAM);
    command.arg("--version");
    let output = process::run(command, home.cache_root(), DEADLINE)?;
    let line = output.text.lines().next().unwrap_or_default();
    if !output.success || !line.contains("QEMU") {
        return Err(Fault::host(format!("{PROGRAM} --version failed")).showing(output.text));
    }
    Ok(line.to_owned())
}

/// The first QEMU, by major and minor number, whose virtual time gives every vCPU its turn
/// (`icount_percpu_budget` in its accel/tcg/tcg-accel-ops-icount.c). In an older one a busy vCPU
/// spends all instructions up to the next timer and the others get none: Linux hangs while it
/// brings up its second CPU.
const FIRST_WITH_TURNS: (u32, u32) = (8, 1);

/// Whether the QEMU that calls itself `version` can run `cpus` vCPUs by `clock`.
///
/// # Errors
/// A host fault if it is too old for that.
pub fn check_turns(version: &str, clock: Clock, cpus: u32) -> Result<()> {
    if clock != Clock::Virtual || cpus == 1 {
        return Ok(());
    }
    match numbers(version) {
        Some(found) if found < FIRST_WITH_TURNS => Err(Fault::host(format!(
            "QEMU {}.{} runs no more than one vCPU in virtual time: the others never get a turn",
            found.0, found.1
        ))
        .next("install QEMU 8.1 or newer (Debian 12: from bookworm-backports), or take --cpus 1")),
        _ => Ok(()),
    }
}

/// 7 and 2 of "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)".
pub(super) fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split("version ").nth(1)?.split(['.', ' ']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::At;

    const DEBIAN_12: &str = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)";

    /// Seen: on 7.2 every such guest hangs at "x86: Booting SMP configuration:"; on 10.0 none.
    #[test]
    fn an_old_qemu_runs_one_vcpu_in_virtual_time_and_any_number_by_the_wall() {
        let fault = check_turns(DEBIAN_12, Clock::Virtual, 2).unwrap_err();
        assert_eq!(fault.at, At::Host);
        assert!(fault.what.contains("QEMU 7.2"), "{}", fault.what);
        for (clock, cpus) in [
            (Clock::Virtual, 1),
            (Clock::Real, 2),
            (Clock::Emulated, 128),
        ] {
            check_turns(DEBIAN_12, clock, cpus).unwrap();
        }
    }

    #[test]
    fn a_qemu_from_8_1_on_and_one_of_unknown_number_are_taken() {
        for version in [
            "QEMU emulator version 8.1.0",
            "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)",
            "QEMU of my own",
        ] {
            check_turns(version, Clock::Virtual, 2).unwrap();
        }
        check_turns("QEMU emulator version 8.0.5", Clock::Virtual, 2).unwrap_err();
    }
}
