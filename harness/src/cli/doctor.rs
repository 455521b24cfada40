//! `ktrial doctor`: what works here, tried and not assumed.

mod sources;

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use sysinfo::Disks;

use super::{Context, print};
use crate::fault::Result;
use crate::guest::Programs;
use crate::kernel::TOOLS;
use crate::vm::accel::{self, Accelerator};
use crate::{machine, process, vm};

/// Room for one tree, its objects and a few kernels, in GiB.
const DISK_GIB: u64 = 6;
/// Room for two guests and a compiler, in GiB.
const MEMORY_GIB: u64 = 4;

/// One thing that was tried.
struct Check {
    name: &'static str,
    outcome: std::result::Result<String, String>,
    /// A Debian package that mends it.
    package: Option<&'static str>,
    /// Whether a trial can run without it.
    optional: bool,
}

pub(super) fn run(context: &Context) -> Result<u8> {
    let checks = checks(context)?;
    for check in &checks {
        let (mark, text) = match &check.outcome {
            Ok(text) => ("ok", text),
            Err(text) if check.optional => ("--", text),
            Err(text) => ("NO", text),
        };
        print(&format!("{mark:<3} {:<18} {text}\n", check.name))?;
    }
    let failed = || checks.iter().filter(|c| c.outcome.is_err() && !c.optional);
    let packages: BTreeSet<&str> = failed().filter_map(|c| c.package).collect();
    if !packages.is_empty() {
        let packages = packages.into_iter().collect::<Vec<_>>().join(" ");
        print(&format!("\ninstall: apt-get install {packages}\n"))?;
    }
    Ok(if failed().next().is_some() { 6 } else { 0 })
}

fn checks(context: &Context) -> Result<Vec<Check>> {
    let qemu = vm::version(&context.home);
    let turns = qemu.as_ref().ok().map(|qemu| Check {
        name: "several vCPUs",
        outcome: vm::check_turns(qemu, vm::Clock::Virtual, 2)
            .map(|()| "also in virtual time".into())
            .map_err(|f| f.what),
        package: None,
        optional: true,
    });
    let mut checks = vec![Check {
        name: "qemu",
        outcome: qemu.map_err(|f| f.what),
        package: Some("qemu-system-x86"),
        optional: false,
    }];
    checks.extend(turns);
    checks.push(Check {
        name: "emulation",
        outcome: accel::try_out(&context.home, Accelerator::Tcg)
            .map(|()| "boots a guest: trials run in virtual time".into()),
        package: None,
        optional: false,
    });
    let kvm = accel::try_out(&context.home, Accelerator::Kvm);
    let real = kvm.is_ok();
    checks.push(Check {
        name: "kvm",
        outcome: kvm
            .map(|()| "boots a guest: trials run in real time".into())
            .map_err(|why| format!("{why}: trials run emulated, in virtual time")),
        package: None,
        optional: true,
    });
    for &(tool, package) in TOOLS {
        checks.push(Check {
            name: tool,
            outcome: tool_version(context, tool),
            package: Some(package),
            optional: false,
        });
    }
    checks.push(Check {
        name: "libelf headers",
        outcome: compiles(context, "#include <libelf.h>\n"),
        package: Some("libelf-dev"),
        optional: true,
    });
    checks.push(Check {
        name: "guest programs",
        outcome: Programs::build(&context.home)
            .map(|programs| format!("{} built, static", programs.iter().count()))
            .map_err(|f| f.what),
        package: Some("musl-tools"),
        optional: false,
    });
    checks.extend(sources::all(context, real));
    checks.extend(room(context)?);
    Ok(checks)
}

fn tool_version(context: &Context, tool: &str) -> std::result::Result<String, String> {
    let mut command = Command::new(tool);
    command.arg("--version").env("LC_ALL", "C");
    let output = process::run(command, context.home.cache_root(), Duration::from_secs(20));
    let output = output.map_err(|fault| fault.what)?;
    let line = output.text.lines().find(|line| !line.trim().is_empty());
    Ok(line.unwrap_or("found").to_owned())
}

/// Whether a C program of these lines compiles.
fn compiles(context: &Context, source: &str) -> std::result::Result<String, String> {
    let mut command = Command::new("sh");
    let script = format!("printf '{source}' | gcc -xc -fsyntax-only -");
    command.args(["-c", &script.replace('\n', "\\n")]);
    match process::run(command, context.home.cache_root(), Duration::from_secs(20)) {
        Ok(output) if output.success => Ok("found".into()),
        Ok(_) => Err("missing: configs with ORC unwinding need them".into()),
        Err(fault) => Err(fault.what),
    }
}

fn room(context: &Context) -> Result<Vec<Check>> {
    let cache = context.home.cache_root();
    let disks = Disks::new_with_refreshed_list();
    let free = disks
        .iter()
        .flat_map(|disks| disks.iter())
        .filter(|disk| cache.starts_with(disk.mount_point()))
        .max_by_key(|disk| disk.mount_point().as_os_str().len())
        .map(|disk| disk.available_space() >> 30);
    let memory = machine::describe("")?.memory_bytes >> 30;
    let enough = |have: u64, need: u64, what: &str| {
        let text = format!("{have} GiB {what}");
        if have >= need {
            Ok(text)
        } else {
            Err(format!("{text}; a trial wants {need}"))
        }
    };
    Ok(vec![
        Check {
            name: "disk",
            outcome: free.map_or_else(
                || Err("unknown".into()),
                |free| enough(free, DISK_GIB, &format!("free at {}", cache.display())),
            ),
            package: None,
            optional: free.is_none(),
        },
        Check {
            name: "memory",
            outcome: enough(memory, MEMORY_GIB, "in all"),
            package: None,
            optional: true,
        },
    ])
}
