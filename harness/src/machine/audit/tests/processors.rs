use super::State::{Noisy, Quiet, Unknown};
use super::{assert_found, found, mend};

#[test]
fn smt() {
    let control = "sys/devices/system/cpu/smt/control";
    let active = "sys/devices/system/cpu/smt/active";
    let system = |said, is| [(control, said), (active, is)];
    assert_found(
        "SMT",
        &[
            (&system("on\n", "1\n"), Noisy, "on"),
            (&system("off\n", "0\n"), Quiet, "off"),
            (&system("forceoff\n", "0\n"), Quiet, "off"),
            (&system("on\n", "0\n"), Quiet, "off"),
            (&system("notsupported\n", "0\n"), Quiet, "not supported"),
            (
                &system("notimplemented\n", "1\n"),
                Noisy,
                "on, and firmware or boot options decide it",
            ),
            (&system("on\n", "2\n"), Unknown, "control on, active 2"),
        ],
    );
    assert_eq!(
        mend("SMT", &system("on\n", "1\n")),
        "echo off > /sys/devices/system/cpu/smt/control"
    );
}

#[test]
fn offline_cpus() {
    let present = "sys/devices/system/cpu/present";
    let online = "sys/devices/system/cpu/online";
    assert_found(
        "offline CPUs",
        &[
            (&[(present, "0-7\n"), (online, "0-7\n")], Quiet, "none"),
            (
                &[(present, "0-7\n"), (online, "0-3,6\n")],
                Quiet,
                "CPUs 4-5,7",
            ),
            (
                &[(present, "0-7\n"), (online, "all\n")],
                Unknown,
                "present 0-7, online all",
            ),
        ],
    );
}

#[test]
fn isolated_cpus() {
    let isolated = "sys/devices/system/cpu/isolated";
    let tickless = "sys/devices/system/cpu/nohz_full";
    let pstate = "sys/devices/system/cpu/intel_pstate/status";
    let both = [(isolated, "2-3\n"), (tickless, "2-3\n")];
    assert_found(
        "isolated CPUs",
        &[
            (&[(isolated, "\n")], Quiet, "none"),
            (&[(isolated, "\n"), (tickless, "(null)\n")], Quiet, "none"),
            (&[(isolated, "2-3\n")], Quiet, "CPUs 2-3"),
            (&both, Quiet, "CPUs 2-3, nohz_full 2-3"),
            (
                &[both[0], both[1], (pstate, "active\n")],
                Noisy,
                "CPUs 2-3, nohz_full 2-3, with intel_pstate",
            ),
        ],
    );
}

/// Values of a Zen machine, as its kernel says them.
#[test]
fn mitigations() {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let [meltdown, stack, store] =
        ["meltdown", "spec_rstack_overflow", "spectre_v2"].map(|name| format!("{folder}/{name}"));
    assert_found(
        "mitigations",
        &[
            (
                &[
                    (&meltdown, "Not affected\n"),
                    (&stack, "Mitigation: Safe RET\n"),
                    (
                        &store,
                        "Mitigation: Retpolines; IBPB: conditional; STIBP: disabled\n",
                    ),
                ],
                Quiet,
                "spec_rstack_overflow: Safe RET; spectre_v2: Retpolines",
            ),
            (
                &[(&stack, "Vulnerable\n")],
                Quiet,
                "spec_rstack_overflow: Vulnerable",
            ),
            (
                &[(&meltdown, "Not affected\n")],
                Quiet,
                "none: this processor needs none",
            ),
        ],
    );
    assert!(found("mitigations", &[]).lasting);
}

#[test]
fn a_machine_that_is_a_guest() {
    let cpu = "proc/cpuinfo";
    let vendor = "sys/class/dmi/id/sys_vendor";
    let product = "sys/class/dmi/id/product_name";
    let guest = "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n";
    let bare = "processor\t: 0\nflags\t\t: fpu vme lahf_lm\n";
    let arm = "processor\t: 0\nFeatures\t: fp asimd\n";
    assert_found(
        "hypervisor",
        &[
            (&[(cpu, guest)], Noisy, "a guest"),
            (
                &[
                    (cpu, guest),
                    (vendor, "QEMU\n"),
                    (product, "Standard PC (Q35 + ICH9, 2009)\n"),
                ],
                Noisy,
                "a guest: QEMU Standard PC (Q35 + ICH9, 2009)",
            ),
            (&[(cpu, bare)], Quiet, "none"),
            // EC2's machines without a hypervisor have the vendor of the others.
            (
                &[
                    (cpu, bare),
                    (vendor, "Amazon EC2\n"),
                    (product, "c5.metal\n"),
                ],
                Quiet,
                "none",
            ),
            (
                &[
                    (cpu, arm),
                    (vendor, "Amazon EC2\n"),
                    (product, "m7g.large\n"),
                ],
                Noisy,
                "a guest: Amazon EC2 m7g.large",
            ),
            (
                &[
                    (cpu, arm),
                    (vendor, "Amazon EC2\n"),
                    (product, "m7g.metal\n"),
                ],
                Quiet,
                "none: Amazon EC2 m7g.metal",
            ),
            (
                &[(cpu, arm)],
                Unknown,
                "neither the processor nor firmware says",
            ),
        ],
    );
}
