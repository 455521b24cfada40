//! What else ran on this machine while something was measured: other programs, time that the
//! hypervisor took, and how fast the processors went.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::text::ranges;

/// Who is measured, and where.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The CPUs that matter, ascending; none for all that are online.
    pub cpus: Vec<u32>,
    /// What runs there of the measurement itself.
    pub own: Own,
}

/// What belongs to a measurement.
#[derive(Debug, Clone)]
pub enum Own {
    /// These threads of a process.
    Threads(u32, Vec<i64>),
    /// A process, and all that it has started.
    Tree(u32),
}

/// What was seen in one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// CPUs that were looked at, as the kernel writes lists; empty for all.
    pub cpus: String,
    /// How long, in seconds.
    pub seconds: f64,
    /// Of the CPUs' time, what others took, 0 to 1.
    pub others: f64,
    /// The same in the worst second.
    pub others_at_worst: f64,
    /// Of the CPUs' time, what the hypervisor gave to other machines, 0 to 1.
    pub stolen: f64,
    /// The same in the worst second.
    pub stolen_at_worst: f64,
    /// The slowest and the fastest that any of the CPUs was seen at, in MHz, where the system tells.
    pub mhz: Option<[u32; 2]>,
}

/// A measurement in which others had more than this of the CPUs' time is disturbed: more than the
/// margin within which a difference counts as none, times the few that a kernel's own threads take.
const DISTURBING: f64 = 0.05;
/// So is one in which they had more than this in one second, as an iteration is shorter.
const DISTURBING_AT_WORST: f64 = 0.30;
/// A second seen is at least so long.
const SLICE: Duration = Duration::from_millis(1_000);

impl Load {
    /// Why the measurement is disturbed, if it is.
    pub fn disturbance(&self) -> Option<String> {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let line = |who: &str, mean: f64, worst: f64| {
            let disturbing = mean > DISTURBING || worst > DISTURBING_AT_WORST;
            disturbing.then(|| {
                let (mean, worst) = (percent(mean), percent(worst));
                format!("{who} {mean} of the time of the measured CPUs, {worst} in one second")
            })
        };
        let others = line("others took", self.others, self.others_at_worst);
        let stolen = line("the hypervisor took", self.stolen, self.stolen_at_worst);
        let reasons: Vec<String> = [others, stolen].into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// Looks at a machine from its making on.
#[derive(Debug)]
pub struct Meter {
    files: Files,
    measured: Measured,
    begun: Instant,
    first: Reading,
    latest: (Instant, Reading),
    /// Where the second that is being looked at began.
    slice: (Instant, Reading),
    worst: [f64; 2],
    mhz: Option<[u32; 2]>,
}

impl Meter {
    /// Begins; none if the system does not tell.
    pub fn start(files: Files, measured: Measured) -> Option<Meter> {
        let first = Reading::take(&files, &measured)?;
        let now = Instant::now();
        Some(Meter {
            files,
            measured,
            begun: now,
            latest: (now, first),
            slice: (now, first),
            first,
            worst: [0.0; 2],
            mhz: None,
        })
    }

    /// To be called often.
    pub fn look(&mut self) {
        if self.latest.0.elapsed() >= self.measured.own.interval() {
            self.read();
        }
        if self.latest.0 - self.slice.0 >= SLICE {
            self.end_slice();
        }
    }

    fn read(&mut self) {
        // What is measured may be gone: then nothing of the time since can be told from others'.
        if let Some(reading) = Reading::take(&self.files, &self.measured) {
            self.latest = (Instant::now(), reading);
        }
    }

    fn end_slice(&mut self) {
        let shares = self.latest.1.since(&self.slice.1);
        for (worst, share) in self.worst.iter_mut().zip(shares) {
            *worst = worst.max(share);
        }
        self.slice = self.latest;
        if let Some(mhz) = speed(&self.files, &self.measured.cpus) {
            let [slowest, fastest] = self.mhz.unwrap_or(mhz);
            self.mhz = Some([slowest.min(mhz[0]), fastest.max(mhz[1])]);
        }
    }

    /// What was seen until the last look at which all that is measured was still there.
    pub fn load(&mut self) -> Load {
        self.read();
        // A last piece that is too short would be all rounding.
        if (self.latest.0 - self.slice.0) * 2 >= SLICE {
            self.end_slice();
        }
        let [others, stolen] = self.latest.1.since(&self.first);
        Load {
            cpus: ranges(&self.measured.cpus),
            seconds: (self.latest.0 - self.begun).as_secs_f64(),
            others,
            others_at_worst: self.worst[0].max(others),
            stolen,
            stolen_at_worst: self.worst[1].max(stolen),
            mhz: self.mhz,
        }
    }
}

/// Times since the machine started, in clock ticks.
#[derive(Debug, Clone, Copy)]
struct Reading {
    busy: u64,
    idle: u64,
    stolen: u64,
    own: u64,
}

impl Reading {
    fn take(files: &Files, measured: &Measured) -> Option<Reading> {
        let mut reading = Reading {
            busy: 0,
            idle: 0,
            stolen: 0,
            own: 0,
        };
        let stat = files.text("proc/stat")?;
        let mut seen = false;
        for line in stat.lines() {
            let mut words = line.split_ascii_whitespace();
            let Some(number) = words.next().and_then(|name| name.strip_prefix("cpu")) else {
                continue;
            };
            let Ok(cpu) = number.parse::<u32>() else {
                // The line of all of them.
                continue;
            };
            if !measured.cpus.is_empty() && !measured.cpus.contains(&cpu) {
                continue;
            }
            let times: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
            // proc_stat(5): user nice system idle iowait irq softirq steal; guest time is in user's.
            let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = times[..] else {
                return None;
            };
            reading.busy += user + nice + system + irq + softirq;
            reading.idle += idle + iowait;
            reading.stolen += steal;
            seen = true;
        }
        reading.own = measured.own.ticks(files)?;
        seen.then_some(reading)
    }

    /// The shares of others and of the hypervisor in the time since.
    fn since(&self, earlier: &Reading) -> [f64; 2] {
        let [busy, idle, stolen, own] = [
            self.busy.saturating_sub(earlier.busy),
            self.idle.saturating_sub(earlier.idle),
            self.stolen.saturating_sub(earlier.stolen),
            self.own.saturating_sub(earlier.own),
        ];
        let all = (busy + idle + stolen).max(1) as f64;
        [busy.saturating_sub(own) as f64 / all, stolen as f64 / all]
    }
}

impl Own {
    /// How often it is looked. Threads may be gone at any moment; a tree is found among all processes
    /// of the machine, which is work, and stays.
    fn interval(&self) -> Duration {
        match self {
            Own::Threads(..) => Duration::from_millis(100),
            Own::Tree(_) => SLICE,
        }
    }

    /// User and system time, in clock ticks; none if some of it is gone, and its time with it.
    fn ticks(&self, files: &Files) -> Option<u64> {
        match self {
            Own::Threads(process, threads) => {
                let task = |thread| Task::read(files, &format!("{process}/task/{thread}"));
                let tasks = threads.iter().map(task);
                tasks.map(|task| Some(task?.ticks)).sum()
            }
            Own::Tree(root) => {
                let names = files.names("proc");
                let numbers = names.iter().filter(|name| name.parse::<u32>().is_ok());
                let all: Vec<(u32, Task)> = numbers
                    .filter_map(|name| Some((name.parse().ok()?, Task::read(files, name)?)))
                    .collect();
                let mut tree = BTreeSet::from([*root]);
                // A child may have a lower number than its parent: once around is not enough.
                loop {
                    let before = tree.len();
                    let children = all.iter().filter(|(_, task)| tree.contains(&task.parent));
                    let children: Vec<u32> = children.map(|(id, _)| *id).collect();
                    tree.extend(children);
                    if tree.len() == before {
                        break;
                    }
                }
                let own = all.iter().filter(|(id, _)| tree.contains(id));
                let is_there = all.iter().any(|(id, _)| id == root);
                is_there.then(|| own.map(|(_, task)| task.ticks + task.waited_for).sum())
            }
        }
    }
}

/// A thread or a process, as its `stat` tells.
struct Task {
    parent: u32,
    /// User and system time, in clock ticks.
    ticks: u64,
    /// The same of children that have ended and been waited for.
    waited_for: u64,
}

impl Task {
    fn read(files: &Files, task: &str) -> Option<Task> {
        let stat = files.text(&format!("proc/{task}/stat"))?;
        // proc_pid_stat(5): the name, in brackets, may hold anything. Behind it are the state, the
        // parent, and as the 12th to 15th word utime, stime, cutime and cstime.
        let (_, after) = stat.rsplit_once(')')?;
        let words: Vec<&str> = after.split_ascii_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        Some(Task {
            parent: u32::try_from(number(1)?).ok()?,
            ticks: number(11)? + number(12)?,
            waited_for: number(13)? + number(14)?,
        })
    }
}

/// The slowest and the fastest of these CPUs now, in MHz.
fn speed(files: &Files, cpus: &[u32]) -> Option<[u32; 2]> {
    let folder = "sys/devices/system/cpu";
    let names: Vec<String> = match cpus.is_empty() {
        true => files.names(folder),
        false => cpus.iter().map(|cpu| format!("cpu{cpu}")).collect(),
    };
    let speeds = names.iter().filter_map(|name| {
        let khz = files.number(&format!("{folder}/{name}/cpufreq/scaling_cur_freq"))?;
        u32::try_from(khz / 1_000).ok()
    });
    speeds.fold(None, |found, mhz| {
        let [slowest, fastest] = found.unwrap_or([mhz, mhz]);
        Some([slowest.min(mhz), fastest.max(mhz)])
    })
}

#[cfg(test)]
mod tests;
