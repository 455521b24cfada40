//! The QEMU command line and its monitor.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use qapi::qmp::CpuInfoFast;

use super::layout::memory_argument;
use super::{Accelerator, Clock, Counter, Launch, Pins};
use crate::fault::{Fault, OrHost, Result};
use crate::machine::load::{Measured, Own};
use crate::process::{self, Child};
use crate::terminal::shell_line;

/// The program.
pub const PROGRAM: &str = "qemu-system-x86_64";

/// How long the monitor may take to answer.
const MONITOR_DEADLINE: Duration = Duration::from_secs(20);

/// The files of one boot.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    pub console: PathBuf,
    pub results: PathBuf,
    pub log: PathBuf,
    pub counts: PathBuf,
    initrd: PathBuf,
}

impl Paths {
    pub(super) fn in_folder(folder: &Path) -> Paths {
        let file = |name: &str| folder.join(name);
        Paths {
            console: file("console"),
            results: file("results"),
            log: file("qemu.log"),
            counts: file("counts"),
            initrd: file("initrd"),
        }
    }
}

/// Everything about how this launch is started, as text: equal texts start equal guests.
pub fn fingerprint(launch: &Launch) -> String {
    arguments(launch, &Paths::in_folder(Path::new(""))).join("\n")
}

/// A running QEMU.
pub(super) struct Qemu {
    pub child: Child,
    monitor: Monitor,
    /// Where the guest marks its iterations, if it is to; taken by who answers.
    pub marks: Option<UnixStream>,
    /// The command line, for the record and for people who want to boot it by hand.
    pub command: String,
}

type Monitor = qapi::Qmp<qapi::Stream<NoEnd<BufReader<UnixStream>>, UnixStream>>;

/// A reader whose end is an error: qapi panics where QEMU hangs up in the middle of an answer.
struct NoEnd<R>(R);

impl<R: BufRead> Read for NoEnd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let read = bytes.len().min(into.len());
        into[..read].copy_from_slice(&bytes[..read]);
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for NoEnd<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.0.fill_buf()? {
            [] => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")),
            bytes => Ok(bytes),
        }
    }

    fn consume(&mut self, read: usize) {
        self.0.consume(read);
    }
}

impl Qemu {
    /// Starts QEMU and greets its monitor.
    pub(super) fn start(launch: &Launch, files: &Paths, cache: &Path) -> Result<Qemu> {
        let doing = || "start QEMU".to_owned();
        std::fs::write(&files.initrd, &launch.initrd)
            .or_host(|| format!("write {}", files.initrd.display()))?;
        for path in [&files.console, &files.results] {
            std::fs::write(path, b"").or_host(|| format!("write {}", path.display()))?;
        }
        let log = std::fs::File::create(&files.log)
            .or_host(|| format!("write {}", files.log.display()))?;
        // The monitor is QEMU's standard input: a socket without a path, gone with its ends.
        let (ours, theirs) = UnixStream::pair().or_host(doing)?;
        // It greets once the guest's memory is there, where that is taken whole: a second a GiB.
        let memory = match launch.clock {
            Clock::Real => Duration::from_secs(u64::from(launch.memory_mib >> 10)),
            Clock::Virtual | Clock::Emulated => Duration::ZERO,
        };
        ours.set_read_timeout(Some(MONITOR_DEADLINE + memory))
            .or_host(doing)?;
        ours.set_write_timeout(Some(MONITOR_DEADLINE))
            .or_host(doing)?;
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments(launch, files))
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(log);
        let marks = match launch.marks {
            true => {
                // In the same way its standard output, on which QEMU says nothing of its own.
                let (ours, theirs) = UnixStream::pair().or_host(doing)?;
                command.stdout(OwnedFd::from(theirs));
                Some(ours)
            }
            false => None,
        };
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let shown = shell_line(words);
        let child = process::spawn(command, cache)?;
        let reader = BufReader::new(ours.try_clone().or_host(doing)?);
        let mut qemu = Qemu {
            child,
            monitor: qapi::Qmp::new(qapi::Stream::new(NoEnd(reader), ours)),
            marks,
            command: shown,
        };
        qemu.greet(files, launch.counter.as_ref())?;
        Ok(qemu)
    }

    fn greet(&mut self, files: &Paths, counter: Option<&Counter>) -> Result<()> {
        self.monitor.handshake().map(drop).map_err(|e| {
            let mut said = String::new();
            if let Ok(log) = std::fs::File::open(&files.log) {
                let _ = log.take(4_096).read_to_string(&mut said);
            }
            let fault = Fault::host(format!("QEMU did not start: {e}")).showing(said);
            match counter {
                Some(counter) => fault.next(format!(
                    "if it starts without counting, make {} again: cargo build --release -p \
                     ktrial-counter",
                    counter.plugin.display()
                )),
                None => fault.next(
                    "if QEMU's line names memory, give less --memory; `ktrial doctor` tries QEMU",
                ),
            }
        })
    }

    /// The ids of the threads that run the vCPUs, vCPU by vCPU.
    pub(super) fn vcpu_threads(&mut self) -> Result<Vec<i64>> {
        let cpus = self.monitor.execute(&qapi::qmp::query_cpus_fast {});
        let cpus = cpus.or_host(|| "ask QEMU for the threads of its vCPUs".into())?;
        let thread = |cpu: &CpuInfoFast| match cpu {
            CpuInfoFast::x86_64(cpu) => Some(cpu.thread_id),
            _ => None,
        };
        let threads: Option<Vec<i64>> = cpus.iter().map(thread).collect();
        let threads = threads.filter(|threads| !threads.is_empty());
        threads.ok_or_else(|| Fault::host("QEMU does not say which threads run its vCPUs"))
    }

    /// What of this machine its guest uses: the CPUs that its vCPUs are held on, or all of them.
    pub(super) fn measured(&mut self, pins: Option<&Pins>) -> Result<Measured> {
        let Some(pins) = pins else {
            return Ok(Measured {
                cpus: Vec::new(),
                // QEMU too was started by ktrial.
                own: Own::Tree(std::process::id()),
            });
        };
        let mut cpus = pins.vcpus.clone();
        cpus.sort_unstable();
        let own = match pins.others.is_empty() {
            // QEMU's other threads run there too.
            true => Own::Tree(std::process::id()),
            false => Own::Threads(self.child.id(), self.vcpu_threads()?),
        };
        Ok(Measured { cpus, own })
    }

    /// Puts its threads where they belong, sees that they are there, and lets the guest start.
    pub(super) fn pin(&mut self, pins: &Pins) -> Result<()> {
        let (id, vcpus) = (self.child.id(), self.vcpu_threads()?);
        pins.hold(id, &vcpus)?;
        let started = self.monitor.execute(&qapi::qmp::cont {});
        started.map(drop).or_host(|| "let the guest start".into())
    }

    /// Asks QEMU to end; what does not is killed when dropped.
    pub(super) fn quit(&mut self) {
        let _ = self.monitor.execute(&qapi::qmp::quit {});
    }
}

fn arguments(launch: &Launch, files: &Paths) -> Vec<String> {
    let mut args: Vec<String> = vec![
        "-nodefaults".into(),
        "-no-user-config".into(),
        "-display".into(),
        "none".into(),
        // A guest that reboots has crashed: it exits instead.
        "-no-reboot".into(),
        "-machine".into(),
        // No keyboard controller: Linux waits for it at power-off.
        "pc,i8042=off".into(),
        "-m".into(),
        format!("{}M", launch.memory_mib),
    ];
    args.extend(shape_arguments(launch));
    args.extend(clock_arguments(launch).into_iter().map(str::to_owned));
    let chardev = |id: &str, path: &Path| format!("file,id={id},path={}", escape(path));
    args.extend([
        "-kernel".into(),
        launch.kernel.display().to_string(),
        "-initrd".into(),
        files.initrd.display().to_string(),
        "-append".into(),
        launch.append.clone(),
        "-chardev".into(),
        chardev("console", &files.console),
        "-serial".into(),
        "chardev:console".into(),
        "-chardev".into(),
        chardev("results", &files.results),
        // ioeventfd=off: an eventfd is served by the host when it has time, which virtual time
        // would see.
        "-device".into(),
        "virtio-serial-pci,ioeventfd=off".into(),
    ]);
    if launch.marks {
        // Before the results, for which the agent waits: by then it sees this one too.
        args.extend([
            "-chardev".into(),
            "socket,id=marks,fd=1".into(),
            "-device".into(),
            "virtserialport,nr=2,chardev=marks,name=ktrial.marks".into(),
        ]);
    }
    args.extend([
        "-device".into(),
        "virtserialport,chardev=results,name=ktrial.results".into(),
        "-chardev".into(),
        "socket,id=monitor,fd=0".into(),
        "-mon".into(),
        "chardev=monitor,mode=control".into(),
    ]);
    if let Some(counter) = &launch.counter {
        args.extend(["-plugin".into(), counter.argument(&files.counts)]);
    }
    args
}

/// CPUs, and memory where it is to lie somewhere.
fn shape_arguments(launch: &Launch) -> Vec<String> {
    let nodes = launch.pins.as_ref().map_or(&[][..], |pins| &pins.nodes);
    // Memory that is measured is there before the guest starts; who only looks need not wait.
    let whole = launch.clock == Clock::Real;
    let mut args = match &launch.layout {
        Some(layout) => {
            let all: u32 = layout.nodes.iter().map(|node| node.memory_mib).sum();
            let layout = match launch.clock.has_dies() {
                true => layout.clone(),
                false => layout.without_dies(),
            };
            layout.arguments(launch.memory_mib.saturating_sub(all), nodes, whole)
        }
        None => vec!["-smp".into(), launch.cpus.to_string()],
    };
    if launch.layout.is_none() && !nodes.is_empty() {
        let memory = memory_argument(0, launch.memory_mib, nodes.first(), whole);
        let machine = ["-machine".into(), "memory-backend=memory0".into()];
        args.extend(["-object".into(), memory].into_iter().chain(machine));
    }
    if launch.pins.is_some() {
        // It stands still until its threads are where they belong.
        args.push("-S".into());
    }
    args
}

/// In virtual time one vCPU runs at a time, the clock counts instructions, and everything that
/// would bring the host's time or randomness in is fixed.
fn clock_arguments(launch: &Launch) -> Vec<&'static str> {
    // QEMU's emulated AMD models have no threads in a core, and `max` is one on an AMD machine.
    let threads = launch
        .layout
        .as_ref()
        .is_some_and(|layout| layout.threads > 1);
    let mut args = match launch.clock {
        Clock::Real => vec!["-accel", "kvm", "-cpu"],
        Clock::Emulated => vec!["-accel", "tcg,thread=multi", "-cpu"],
        Clock::Virtual => vec![
            "-accel",
            "tcg,thread=single",
            "-icount",
            "shift=1,sleep=off",
            "-rtc",
            "base=2026-01-01,clock=vm",
            "-seed",
            "1",
            "-cpu",
        ],
    };
    args.push(match (launch.clock, threads) {
        // Where the processor knows it; else QEMU says so in its log, and goes on.
        (Clock::Real, true) => "host,+topoext",
        (Clock::Real, false) => "host",
        (Clock::Emulated, true) => "Haswell-noTSX",
        (Clock::Emulated, false) => "max",
        (Clock::Virtual, true) => "Haswell-noTSX,-rdrand",
        (Clock::Virtual, false) => "qemu64,-rdrand",
    });
    args
}

/// QEMU's option lists take a doubled comma for one.
pub(super) fn escape(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

impl Accelerator {
    /// The word used on QEMU's command line, in the database and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::Limits;

    fn of(clock: Clock, marks: bool) -> Vec<String> {
        let launch = Launch {
            kernel: "/kernel".into(),
            initrd: Vec::new(),
            append: String::new(),
            cpus: 2,
            memory_mib: 512,
            layout: None,
            pins: None,
            clock,
            signs: &[],
            limits: Limits::of(clock, 2, std::iter::empty()),
            counter: None,
            marks,
        };
        arguments(&launch, &Paths::in_folder(Path::new("/run")))
    }

    /// The kernel numbers the ports itself where QEMU does not, and the agent falls back to the
    /// first one: the results stay there, and are named last.
    #[test]
    fn the_port_of_marks_changes_nothing_else_and_is_named_before_the_results() {
        let (without, with) = (of(Clock::Emulated, false), of(Clock::Emulated, true));
        let position = |name: &str| with.iter().position(|argument| argument.contains(name));
        assert!(position("name=ktrial.marks") < position("name=ktrial.results"));
        assert!(position("nr=2,chardev=marks").is_some());
        let marks = position("id=marks").unwrap() - 1;
        let others = [&with[..marks], &with[marks + 4..]].concat();
        assert_eq!(others, without);
    }
}
