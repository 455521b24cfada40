use super::State::{Noisy, Quiet, Unknown};
use super::{assert_found, found, mend};

/// The first lines of a machine with two CPUs; of 10,000 ticks, the given ones are stolen.
fn stat(stolen: u64) -> String {
    let idle = 9000 - stolen;
    format!(
        "cpu  600 0 400 {idle} 0 0 0 {stolen} 300 0\ncpu0 300 0 200 4500 0 0 0 0 0 0\n\
         cpu1 300 0 200 4500 0 0 0 0 0 0\nintr 1\n"
    )
}

#[test]
fn load() {
    let (path, cpus) = ("proc/loadavg", ("proc/stat", &*stat(0)));
    assert_found(
        "load",
        &[
            (
                &[(path, "0.08 0.03 0.01 1/81 18755\n"), cpus],
                Quiet,
                "0.08 on 2 CPUs",
            ),
            (
                &[(path, "1.76 1.25 0.89 2/81 18755\n"), cpus],
                Noisy,
                "1.76 on 2 CPUs",
            ),
            (&[(path, "much\n"), cpus], Unknown, "much in /proc/loadavg"),
            (
                &[(path, "0.08 0.03 0.01 1/81 18755\n")],
                Unknown,
                "0.08, on an unknown number of CPUs",
            ),
        ],
    );
    // A twentieth of many CPUs is more than a fixed amount: 64 of them bear 3.2.
    let many: String = (0..64)
        .map(|cpu| format!("cpu{cpu} 1 1 1 1 1 1 1 1 1 1\n"))
        .collect();
    let busy = |load| [(path, load), ("proc/stat", &*many)];
    assert_eq!(found("load", &busy("3.1 1 1 1/9 9\n")).state, Quiet);
    assert_eq!(found("load", &busy("3.3 1 1 1/9 9\n")).state, Noisy);
}

/// The share of 9,700 + 300 ticks: what guests took (300) is in the first number already and does not
/// count again, so the ticks are 10,000.
#[test]
fn steal_time() {
    let path = "proc/stat";
    assert_found(
        "steal time",
        &[
            (&[(path, &stat(0))], Quiet, "0.00 %"),
            (&[(path, &stat(9))], Quiet, "0.09 %"),
            (&[(path, &stat(57))], Noisy, "0.57 % since boot"),
            (
                &[(path, "cpu  1 2 3\n")],
                Unknown,
                "no stolen time in /proc/stat",
            ),
            (
                &[(path, "cpu  1 2 3 4 5 6 7 x\n")],
                Unknown,
                "no stolen time in /proc/stat",
            ),
        ],
    );
}

const INIT: (&str, &str) = ("proc/1/stat", "1 (init) S 0 1 1 0 -1");
const SYSTEMD: (&str, &str) = ("proc/1/stat", "1 (systemd) S 0 1 1 0 -1");

/// A guest that ktrial started is a child of a child of the process that asks.
#[test]
fn other_guests() {
    let own = ("proc/self/stat", "100 (ktrial) R 1 100 1 0 -1");
    let ktrial = ("proc/100/stat", "100 (ktrial) R 1 100 1 0 -1");
    let child = ("proc/101/stat", "101 (sh) S 100 100 1 0 -1");
    let ours = ("proc/102/stat", "102 (qemu-system-x86) S 101 100 1 0 -1");
    let theirs = ("proc/200/stat", "200 (qemu-system-x86) S 1 200 1 0 -1");
    let cloud = ("proc/201/stat", "201 (cloud-hyperviso) S 1 201 1 0 -1");
    let fire = ("proc/202/stat", "202 (firecracker) S 1 202 1 0 -1");
    assert_found(
        "other guests",
        &[
            (&[INIT], Quiet, "none"),
            (&[INIT, own, ktrial, child, ours], Quiet, "none"),
            (&[own, ktrial], Quiet, "none"),
            (
                &[INIT, own, ktrial, child, ours, theirs, cloud, fire],
                Noisy,
                "1 × cloud-hyperviso, 1 × firecracker, 1 × qemu-system-x86",
            ),
        ],
    );
}

#[test]
fn background_jobs() {
    let updates = ("proc/300/stat", "300 (unattended-upgr) S 1 1 1 0 -1");
    let index = ("proc/301/stat", "301 (updatedb) D 1 1 1 0 -1");
    assert_found(
        "background jobs",
        &[
            (&[INIT], Quiet, "none"),
            (
                &[INIT, updates, index],
                Noisy,
                "1 × unattended-upgr, 1 × updatedb",
            ),
        ],
    );
}

#[test]
fn timers() {
    let cron = ("proc/400/stat", "400 (cron) S 1 1 1 0 -1");
    let stamp = ("var/lib/systemd/timers/stamp-apt-daily.timer", "");
    assert_found(
        "timers",
        &[
            (&[INIT], Quiet, "none known"),
            (&[INIT, cron], Noisy, "cron"),
            (&[SYSTEMD, cron, stamp], Noisy, "cron, apt-daily.timer"),
            // A stamp of a systemd that does not run says nothing.
            (&[INIT, stamp], Quiet, "none known"),
        ],
    );
    assert_eq!(
        mend("timers", &[SYSTEMD, cron, stamp]),
        "systemctl stop cron apt-daily.timer   # start them again after"
    );
}

#[test]
fn irqbalance() {
    let daemon = ("proc/500/stat", "500 (irqbalance) S 1 1 1 0 -1");
    assert_found(
        "irqbalance",
        &[
            (&[INIT], Quiet, "not running"),
            (&[INIT, daemon], Noisy, "running"),
        ],
    );
    assert_eq!(
        mend("irqbalance", &[INIT, daemon]),
        "systemctl stop irqbalance"
    );
}
