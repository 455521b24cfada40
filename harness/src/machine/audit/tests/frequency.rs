use super::State::{Absent, Noisy, Quiet, Unknown};
use super::{assert_found, found, mend};

const CPU0: &str = "sys/devices/system/cpu/cpufreq/policy0";
const CPU1: &str = "sys/devices/system/cpu/cpufreq/policy4";

/// Two policies of four CPUs each.
fn policies<'a>(
    paths: &'a [String; 6],
    driver: &'a str,
    governors: [&'a str; 2],
) -> Vec<(&'a str, &'a str)> {
    let values = [
        governors[0],
        driver,
        "0 1 2 3\n",
        governors[1],
        driver,
        "4 5 6 7\n",
    ];
    paths.iter().map(String::as_str).zip(values).collect()
}

fn paths() -> [String; 6] {
    let names = ["scaling_governor", "scaling_driver", "affected_cpus"];
    let of = |policy: &str, at: usize| format!("{policy}/{}", names[at]);
    [
        of(CPU0, 0),
        of(CPU0, 1),
        of(CPU0, 2),
        of(CPU1, 0),
        of(CPU1, 1),
        of(CPU1, 2),
    ]
}

#[test]
fn the_governor() {
    let paths = paths();
    let system = |driver, governors| policies(&paths, driver, governors);
    assert_found(
        "frequency governor",
        &[
            (
                &system("intel_pstate\n", ["performance\n", "performance\n"]),
                Quiet,
                "performance (intel_pstate) on CPUs 0-7",
            ),
            (
                &system("intel_pstate\n", ["performance\n", "powersave\n"]),
                Noisy,
                "performance (intel_pstate) on CPUs 0-3; powersave (intel_pstate) on CPUs 4-7",
            ),
            // The generic powersave holds the lowest clock (cpufreq.rst).
            (
                &system("acpi-cpufreq\n", ["powersave\n", "powersave\n"]),
                Quiet,
                "powersave (acpi-cpufreq) on CPUs 0-7",
            ),
            (
                &system("acpi-cpufreq\n", ["schedutil\n", "ondemand\n"]),
                Noisy,
                "ondemand (acpi-cpufreq) on CPUs 4-7; schedutil (acpi-cpufreq) on CPUs 0-3",
            ),
            (
                &system("amd-pstate-epp\n", ["powersave\n", "powersave\n"]),
                Noisy,
                "powersave (amd-pstate-epp) on CPUs 0-7",
            ),
            (
                &system("acpi-cpufreq\n", ["userspace\n", "userspace\n"]),
                Unknown,
                "userspace (acpi-cpufreq) on CPUs 0-7",
            ),
        ],
    );
    let bad = system("intel_pstate\n", ["powersave\n", "powersave\n"]);
    assert_eq!(
        mend("frequency governor", &bad),
        "echo performance | tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor"
    );
    assert!(found("frequency governor", &bad).lasting);
}

#[test]
fn boost() {
    let pstate = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let generic = "sys/devices/system/cpu/cpufreq/boost";
    let of_policy = "sys/devices/system/cpu/cpufreq/policy0/boost";
    assert_found(
        "boost",
        &[
            (&[(pstate, "1\n")], Quiet, "off"),
            (&[(pstate, "0\n")], Noisy, "on"),
            (&[(generic, "0\n")], Quiet, "off"),
            (&[(generic, "1\n")], Noisy, "on"),
            (&[(of_policy, "1\n")], Noisy, "on"),
            (&[(generic, "0\n"), (of_policy, "1\n")], Noisy, "on"),
            (
                &[(pstate, "maybe\n")],
                Unknown,
                "maybe in /sys/devices/system/cpu/intel_pstate/no_turbo",
            ),
        ],
    );
    assert_eq!(
        mend("boost", &[(pstate, "0\n")]),
        format!("echo 1 > /{pstate}")
    );
    assert_eq!(
        mend("boost", &[(generic, "1\n")]),
        format!("echo 0 > /{generic}")
    );
}

/// States as intel_idle has them on Skylake servers: POLL 0, C1 2, C1E 10, C6 133 µs
/// (`drivers/idle/intel_idle.c`, `skx_cstates`).
#[test]
fn idle_states() {
    let path =
        |state: u32, name: &str| format!("sys/devices/system/cpu/cpu0/cpuidle/state{state}/{name}");
    let states = [("POLL", "0"), ("C1", "2"), ("C1E", "10"), ("C6", "133")];
    let mut files = Vec::new();
    for (at, (name, latency)) in (0..).zip(states) {
        files.push((path(at, "name"), format!("{name}\n")));
        files.push((path(at, "latency"), format!("{latency}\n")));
        files.push((path(at, "disable"), "0\n".to_owned()));
    }
    let borrowed = |files: &'static [(String, String)]| -> Vec<(&str, &str)> {
        files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect()
    };
    let deep = borrowed(files.clone().leak());
    let deepest = files.len() - 1;
    files[deepest].1 = "1\n".into();
    let shallow = borrowed(files.leak());
    assert_found(
        "idle states",
        &[
            (&deep, Noisy, "C6 in use, up to 133 µs to wake, on CPUs 0"),
            (&shallow, Quiet, "none deeper than C1 in use"),
            (
                &[("sys/devices/system/cpu/cpuidle/current_driver", "none\n")],
                Absent,
                "no idle states, driver none",
            ),
        ],
    );
    assert_eq!(
        mend("idle states", &deep),
        "for n in 3; do echo 1 | tee /sys/devices/system/cpu/cpu*/cpuidle/state$n/disable; done"
    );
    // C10 is no kind of C1, and ARM's WFI is shallow.
    for (name, state) in [
        ("C10\n", Noisy),
        ("C1_ACPI\n", Quiet),
        ("WFI\n", Quiet),
        ("cpu-sleep-0\n", Noisy),
    ] {
        let files = [("sys/devices/system/cpu/cpu7/cpuidle/state1/name", name)];
        assert_eq!(found("idle states", &files).state, state, "{name}");
    }
}

#[test]
fn throttling() {
    let core = "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count";
    let package = "sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count";
    assert_found(
        "throttling by heat",
        &[
            (
                &[(core, "0\n"), (package, "0\n")],
                Quiet,
                "never since boot",
            ),
            (
                &[(core, "3\n"), (package, "17\n")],
                Noisy,
                "up to 17 times since boot, on CPUs 1",
            ),
            (
                &[(core, "hot\n")],
                Unknown,
                "no number in /sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count",
            ),
        ],
    );
    assert!(!found("throttling by heat", &[]).lasting);
}

#[test]
fn the_power_supply() {
    let kind = "sys/class/power_supply/AC/type";
    let online = "sys/class/power_supply/AC/online";
    assert_found(
        "power supply",
        &[
            (&[(kind, "Mains\n"), (online, "1\n")], Quiet, "mains"),
            (&[(kind, "Mains\n"), (online, "0\n")], Noisy, "unplugged"),
            (
                &[(kind, "Mains\n")],
                Unknown,
                "a power supply that does not say whether it is plugged in",
            ),
            (
                &[("sys/class/power_supply/BAT0/type", "Battery\n")],
                Absent,
                "no /sys/class/power_supply/*/online",
            ),
        ],
    );
}
