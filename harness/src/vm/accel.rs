//! Which accelerator really works here. A `/dev/kvm` that opens and creates a VM can still be
//! useless, so the only test is to boot something.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::qemu::escape;
use crate::fault::{Fault, OrHost};
use crate::home::Home;
use crate::process;

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accelerator {
    /// The processor itself.
    Kvm,
    /// QEMU's translator.
    Tcg,
}

/// Whether this user may open `/dev/kvm`, and if not why: the first of two questions.
///
/// # Errors
/// The reason as text.
fn kvm_opens() -> Result<(), String> {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/kvm")
        .map(drop)
        .map_err(|e| format!("/dev/kvm: {e}"))
}

/// How long the tiny guest may take; where KVM works it takes well under a second.
const DEADLINE: Duration = Duration::from_secs(6);
/// QEMU's `isa-debug-exit` ends with twice the value written, plus one.
const EXIT: i32 = 0x21 * 2 + 1;

/// A boot sector: writes to memory 26 million times, then says so. Long enough that a KVM which
/// crawls, as nested ones do, misses the deadline; short enough that one which works does not.
const BOOT_SECTOR: [u8; 31] = [
    0x31, 0xc0, //             xor  %ax, %ax
    0x8e, 0xd8, //             mov  %ax, %ds
    0xb9, 0x90, 0x01, //       mov  $400, %cx
    0x89, 0xcb, //          1: mov  %cx, %bx
    0xb9, 0xff, 0xff, //       mov  $0xffff, %cx
    0xff, 0x06, 0x00, 0x90, // 2: incw 0x9000
    0xe2, 0xfa, //             loop 2b
    0x89, 0xd9, //             mov  %bx, %cx
    0xe2, 0xf1, //             loop 1b
    0xb0, 0x21, //             mov  $0x21, %al
    0xba, 0xf4, 0x00, //       mov  $0xf4, %dx
    0xee, //                   out  %al, %dx
    0xf4, //                   hlt
    0xeb, 0xfd, //             jmp  .-1
];

/// Whether the accelerator boots a guest here: boots a tiny one, with a deadline.
///
/// # Errors
/// Why not, in a few words.
pub fn try_out(home: &Home, accelerator: Accelerator) -> Result<(), String> {
    if accelerator == Accelerator::Kvm {
        kvm_opens()?;
    }
    boot_tiny(home, accelerator).map_err(|fault| fault.what)
}

fn boot_tiny(home: &Home, accelerator: Accelerator) -> crate::fault::Result<()> {
    let mut sector = BOOT_SECTOR.to_vec();
    sector.resize(510, 0);
    sector.extend([0x55, 0xaa]);
    let run = home.cache("run")?;
    let image = run.join(format!("tiny-{}.img", std::process::id()));
    std::fs::write(&image, sector).or_host(|| format!("write {}", image.display()))?;
    let mut command = Command::new(super::PROGRAM);
    let drive = format!("file={},format=raw,if=floppy,readonly=on", escape(&image));
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none"])
        .args(["-machine", "pc", "-m", "64", "-boot", "a"])
        .args(["-accel", accelerator.name()])
        .args(["-drive", &drive])
        .args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if accelerator == Accelerator::Kvm {
        command.args(["-cpu", "host"]);
    }
    let status = process::spawn(command, home.cache_root()).and_then(|child| child.wait(DEADLINE));
    let _ = std::fs::remove_file(&image);
    match status? {
        status if status.code() == Some(EXIT) => Ok(()),
        status => Err(Fault::host(format!(
            "a tiny guest ended with {}",
            process::describe(status)
        ))),
    }
}
