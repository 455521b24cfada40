//! Which processors there are to run on, and what they share.

use super::super::text::ranges;
use super::frequency::cpus;
use super::{Check, Host, Seen};

const CPUS: &str = "sys/devices/system/cpu";
/// More processors than Linux can be built for.
const MOST_CPUS: u32 = 1 << 16;

pub(super) const CHECKS: [Check; 5] = [
    Check {
        name: "SMT",
        lasting: true,
        effect: "two threads of a core share its caches and its units: work on one slows the other",
        look: smt,
    },
    Check {
        name: "offline CPUs",
        lasting: true,
        effect: "results are of the CPUs that are online, not of the whole machine",
        look: offline,
    },
    Check {
        name: "isolated CPUs",
        lasting: true,
        effect: "the kernel keeps other work off isolated CPUs; with nohz_full, intel_pstate lets \
                 their clock wander",
        look: isolated,
    },
    Check {
        name: "mitigations",
        lasting: true,
        effect: "they make system calls, interrupts and switches dearer: results with and without \
                 are not comparable",
        look: mitigations,
    },
    Check {
        name: "hypervisor",
        lasting: true,
        effect: "this machine is itself a guest: its CPUs, caches and clock are shared with guests \
                 that it can't see",
        look: hypervisor,
    },
];

/// `Documentation/ABI/testing/sysfs-devices-system-cpu`: `control` is `on`, `off`, `forceoff`,
/// `notsupported` or `notimplemented`; `active` says whether siblings are online.
fn smt(host: &Host) -> Seen {
    let control = host.files.value(&format!("{CPUS}/smt/control"));
    let active = host.files.value(&format!("{CPUS}/smt/active"));
    match (control.as_deref(), active.as_deref()) {
        (None, None) => Seen::absent(&format!("{CPUS}/smt")),
        (Some("on"), Some("1")) => {
            Seen::noisy("on").mended_by(format!("echo off > /{CPUS}/smt/control"))
        }
        (_, Some("1")) => Seen::noisy("on, and firmware or boot options decide it"),
        (Some("notsupported"), _) => Seen::quiet("not supported"),
        (Some("on" | "off" | "forceoff" | "notimplemented") | None, Some("0"))
        | (Some("off" | "forceoff"), None) => Seen::quiet("off"),
        (control, active) => Seen::unknown(format!(
            "control {}, active {}",
            control.unwrap_or("not said"),
            active.unwrap_or("not said")
        )),
    }
}

/// `Documentation/admin-guide/cputopology.rst`: `present` and `online` are lists. `offline` also
/// names CPUs that could be plugged in and are not there, so it is not read.
fn offline(host: &Host) -> Seen {
    let list = |name: &str| host.files.value(&format!("{CPUS}/{name}"));
    let (Some(present), Some(online)) = (list("present"), list("online")) else {
        return Seen::absent(&format!("{CPUS}/present or online"));
    };
    match (numbers(&present), numbers(&online)) {
        (Some(present), Some(online)) => {
            let off: Vec<u32> = present
                .into_iter()
                .filter(|cpu| online.binary_search(cpu).is_err())
                .collect();
            // They stay off until somebody sets them on: nothing varies.
            match off.is_empty() {
                true => Seen::quiet("none"),
                false => Seen::quiet(format!("CPUs {}", ranges(&off))),
            }
        }
        _ => Seen::unknown(format!("present {present}, online {online}")),
    }
}

/// The numbers of a list as the kernel writes it, `0-3,8`; none if it is no such list. Ascending.
fn numbers(list: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for run in list.split(',') {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let follows = numbers.last().is_none_or(|before| *before < first);
        if !follows || first > last || last >= MOST_CPUS {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// pyperf's checks "Linux scheduler" and "Check nohz_full": isolated CPUs make benchmarks more
/// stable, and intel_pstate does not work with `nohz_full` (Red Hat bug 1378529). None being
/// isolated is no noise of its own: who else runs is seen by the load.
fn isolated(host: &Host) -> Seen {
    let list = |name: &str| {
        let text = host.files.text(&format!("{CPUS}/{name}"))?;
        // The kernel prints a mask that it never made as `(null)`.
        Some(text.trim().replace("(null)", ""))
    };
    let (isolated, tickless) = (list("isolated"), list("nohz_full"));
    let Some(isolated) = isolated else {
        return Seen::absent(&format!("{CPUS}/isolated"));
    };
    let mut found = match isolated.is_empty() {
        true => "none".to_owned(),
        false => format!("CPUs {isolated}"),
    };
    match tickless.filter(|cpus| !cpus.is_empty()) {
        None => Seen::quiet(found),
        Some(cpus) => {
            found.push_str(&format!(", nohz_full {cpus}"));
            match host.files.has(&format!("{CPUS}/intel_pstate")) {
                true => Seen::noisy(format!("{found}, with intel_pstate"))
                    .mended_by("grubby --update-kernel=ALL --remove-args=nohz_full   # and reboot"),
                false => Seen::quiet(found),
            }
        }
    }
}

/// `Documentation/ABI/testing/sysfs-devices-system-cpu`: each file says `Not affected`,
/// `Vulnerable…`, `Mitigation: …` or `Unknown: …`. What follows a semicolon are details, some of
/// which depend on which guests run (`vmx: conditional cache flushes, SMT vulnerable`).
fn mitigations(host: &Host) -> Seen {
    let folder = format!("{CPUS}/vulnerabilities");
    let names = host.files.names(&folder);
    let mut found = Vec::new();
    for name in &names {
        let value = host.files.value(&format!("{folder}/{name}"));
        let Some(value) = value else { continue };
        let said = value.split(';').next().unwrap_or_default().trim();
        if said == "Not affected" {
            continue;
        }
        let said = said.strip_prefix("Mitigation: ").unwrap_or(said);
        found.push(format!("{name}: {said}"));
    }
    match (names.is_empty(), found.is_empty()) {
        (true, _) => Seen::absent(&folder),
        (false, true) => Seen::quiet("none: this processor needs none"),
        // They do not vary while the machine runs.
        (false, false) => Seen::quiet(found.join("; ")),
    }
}

/// Of a processor's flags, `hypervisor` is the bit that every hypervisor sets for its guests (CPUID
/// leaf 1, ECX bit 31). Elsewhere firmware says it: names as in systemd's `detect-virt`.
fn hypervisor(host: &Host) -> Seen {
    let dmi = |name: &str| host.files.value(&format!("sys/class/dmi/id/{name}"));
    let product = [dmi("sys_vendor"), dmi("product_name")];
    let product = product.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let information = host.files.text("proc/cpuinfo");
    let flags = information.as_deref().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("flags"))?;
        Some(line.split_whitespace().any(|flag| flag == "hypervisor"))
    });
    let named = |product: &str| match product.is_empty() {
        true => "a guest".to_owned(),
        false => format!("a guest: {product}"),
    };
    match flags {
        Some(true) => Seen::noisy(named(&product)),
        Some(false) => Seen::quiet("none"),
        None if is_guest(&product) => Seen::noisy(named(&product)),
        None if !product.is_empty() => Seen::quiet(format!("none: {product}")),
        None if information.is_some() || !cpus(host.files).is_empty() => {
            Seen::unknown("neither the processor nor firmware says")
        }
        None => Seen::absent("proc/cpuinfo or sys/class/dmi/id"),
    }
}

fn is_guest(product: &str) -> bool {
    const NAMES: [&str; 9] = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "innotek",
        "Xen",
        "Bochs",
        "Parallels",
        "Hyper-V",
    ];
    // EC2 has machines without a hypervisor, whose types end so: `m7g.metal`, `m7g.metal-48xl`.
    let cloud = product.contains("Amazon EC2") && !product.contains(".metal");
    cloud || NAMES.iter().any(|name| product.contains(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// Lists as in `Documentation/admin-guide/cputopology.rst`.
    #[test]
    fn lists_of_cpus_are_those_of_the_kernel() {
        assert_eq!(numbers("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(numbers("2,4-31,32-63").unwrap().len(), 61);
        for broken in ["", "x", "3-1", "0-", "0,0", "5,1-3", "0-4294967295", "-1"] {
            assert_eq!(numbers(broken), None, "{broken}");
        }
    }
}
