//! What each source of counters offers here: those of this machine are opened, and those of a guest
//! are tried in one that boots the kernel that was built last.

use std::collections::BTreeMap;

use super::Check;
use crate::cli::Context;
use crate::counters::host::{HARDWARE, Offer, SOFTWARE};
use crate::counters::stacks::Watch;
use crate::counters::{self, instructions};
use crate::fault::{Fault, OrHost, Result};
use crate::guest::{Guest, Programs, Shape};
use crate::kernel::Kernel;
use crate::machine::places::Places;
use crate::trial::Run;
use crate::vm::frames::Frame;
use crate::vm::{self, Boot, Clock, Counter};
use crate::workload::Settings;

/// What was tried, and what it offers or why it offers nothing.
type Tried = (&'static str, std::result::Result<String, String>);

/// All sources. In a guest in real time too, where that `works`: there it may have a PMU.
pub(super) fn all(context: &Context, real_works: bool) -> Vec<Check> {
    let mut tried = vec![
        ("host PMU", Offer::of(&HARDWARE).words()),
        ("software events", Offer::of(&SOFTWARE).words()),
    ];
    match Kernel::newest(&context.home) {
        Ok(Some(kernel)) => tried.extend(in_guests(context, &kernel, real_works)),
        Ok(None) => tried.push((
            "guest counters",
            Err("tried once a trial has built a kernel".into()),
        )),
        Err(fault) => tried.push(("guest counters", Err(fault.what))),
    }
    let checks = tried.into_iter().map(|(name, outcome)| Check {
        name,
        outcome,
        package: None,
        optional: true,
    });
    checks.collect()
}

fn in_guests(context: &Context, kernel: &Kernel, real_works: bool) -> Vec<Tried> {
    let clock = match real_works {
        true => Clock::Real,
        false => Clock::Virtual,
    };
    let mut tried = match boot(context, kernel, clock, None) {
        Ok(boot) => of_guest(&boot.frames),
        Err(fault) => vec![("guest counters", Err(fault.what))],
    };
    let counted = vm::version(&context.home)
        .and_then(|version| vm::counter::plugin(&version))
        .and_then(|plugin| boot(context, kernel, Clock::Virtual, Some(plugin)))
        .and_then(|boot| of_plugin(&boot));
    tried.push(("instructions", counted.map_err(|fault| fault.what)));
    tried
}

/// One boot: a few iterations of exec, then the same watched in each way.
fn boot(
    context: &Context,
    kernel: &Kernel,
    clock: Clock,
    plugin: Option<std::path::PathBuf>,
) -> Result<Boot> {
    let run = Run::new("exec", &Settings::new(), 20, 1)?;
    let job = run.job(&run.settings, 0, &Places::of(&[]))?;
    let jobs = [
        job.clone(),
        Watch::Profile.job(job.clone()),
        Watch::Locks.job(job),
    ];
    let guest = Guest {
        shape: &Shape::plain(1, 512)?,
        pins: None,
        clock,
        programs: &Programs::build(&context.home)?,
    };
    let mut launch = guest.launch(kernel.image(), &jobs, 0)?;
    launch.marks = false;
    launch.counter = plugin.map(|plugin| Counter {
        plugin,
        symbols: kernel.symbols(),
        exact: false,
    });
    let folder = context.home.cache("run")?;
    let folder = folder.join(format!("doctor-{}", std::process::id()));
    std::fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
    let boot = vm::boot(&launch, &folder, context.home.cache_root(), &mut |_| ());
    let _ = std::fs::remove_dir_all(&folder);
    let boot = boot?;
    match boot.fault("the newest kernel") {
        Some(fault) => Err(fault),
        None => Ok(boot),
    }
}

/// What the lines of a guest's jobs say.
fn of_guest(frames: &[Frame]) -> Vec<Tried> {
    let mut offered: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut lacking: BTreeMap<&str, &str> = BTreeMap::new();
    let mut watched = [Err("nothing was said"), Err("nothing was said")];
    for frame in frames {
        let Frame::Out { job, text } = frame else {
            continue;
        };
        match text.splitn(4, ' ').collect::<Vec<_>>().as_slice() {
            ["count", "0", metric, _] if *job == 0 => {
                let (source, name) = metric.split_once('.').unwrap_or((metric, ""));
                offered.entry(source).or_default().push(name);
            }
            ["uncounted", what, ..] if *job == 0 => {
                let why = text.splitn(3, ' ').nth(2).unwrap_or_default();
                lacking.insert(counters::source(what).unwrap_or(what), why);
            }
            ["watched", event, ..] if *job > 0 => watched[(job - 1).min(1)] = Ok(*event),
            ["unsupported", ..] if *job > 0 => {
                let why = text.splitn(3, ' ').nth(2).unwrap_or_default();
                watched[(job - 1).min(1)] = Err(why);
            }
            _ => {}
        }
    }
    let pmu = offered.remove("pmu");
    let pmu = pmu.map(|names| names.join(", "));
    let why = lacking.remove("pmu").unwrap_or("nothing was said");
    let own: Vec<String> = offered
        .iter()
        .map(|(source, names)| format!("{source} ({})", names.join(", ")))
        .collect();
    let lacks = lacking.iter();
    let lacks = lacks.map(|(source, why)| format!("no {source}: {why}"));
    let own = own.into_iter().chain(lacks).collect::<Vec<_>>().join("; ");
    let [profile, locks] = watched.map(|tried| tried.map(str::to_owned).map_err(str::to_owned));
    vec![
        (
            "guest counters",
            match own.is_empty() {
                true => Err("nothing was said".to_owned()),
                false => Ok(own),
            },
        ),
        ("guest PMU", pmu.ok_or_else(|| why.to_owned())),
        ("guest profile", profile),
        ("guest locks", locks),
    ]
}

/// Whether what the plugin counted can be read, and has functions.
fn of_plugin(boot: &Boot) -> Result<String> {
    let text = String::from_utf8_lossy(boot.counts.as_deref().unwrap_or_default());
    let jobs = instructions::read(&text).map_err(Fault::host)?;
    let functions = jobs.iter().flatten().map(|i| i.functions.len()).max();
    match functions.unwrap_or(0) {
        0 => Err(Fault::host("no function of the kernel was counted")),
        _ => Ok("counted by kernel function: `ktrial trial --deterministic`".into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn said(lines: &[(usize, &str)]) -> Vec<Frame> {
        let frames = lines.iter().map(|(job, text)| Frame::Out {
            job: *job,
            text: (*text).to_owned(),
        });
        frames.collect()
    }

    #[test]
    fn what_a_guest_counts_is_listed_by_source_and_what_it_lacks_has_a_reason() {
        let tried = of_guest(&said(&[
            (0, "count 0 irq.tlb 5"),
            (0, "count 0 irq.timer 0"),
            (0, "count 1 irq.timer 0"),
            (0, "count 0 stat.forks 7"),
            (0, "uncounted vmstat No such file or directory"),
            (0, "uncounted pmu.cycles no such event here"),
            (1, "count 0 late.name 7"),
            (1, "watched cpu-clock samples 0"),
            (2, "unsupported locks the kernel has no tracepoints"),
        ]));
        let expected = [
            (
                "guest counters",
                Ok("irq (tlb, timer); stat (forks); no vmstat: No such file or directory"),
            ),
            ("guest PMU", Err("no such event here")),
            ("guest profile", Ok("cpu-clock")),
            ("guest locks", Err("the kernel has no tracepoints")),
        ];
        let expected =
            expected.map(|(name, said)| (name, said.map(str::to_owned).map_err(str::to_owned)));
        assert_eq!(tried, expected);
        let nothing = of_guest(&said(&[]));
        assert!(nothing.iter().all(|(_, said)| said.is_err()));
    }
}
