//! Linux kernels, built on the host with the tree's own `make O=`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ktrial_patches::apply::Applied;

use super::{Builder, failure, salvage};
use crate::fault::{At, Fault, OrHost, Result};
use crate::process;
use crate::progress::Task;

/// The options that ktrial's guests need, on top of tinyconfig.
pub(super) const FRAGMENT: &str = include_str!("linux.config");

/// The longest that a build may take: a full distribution config on two slow cores.
const DEADLINE: Duration = Duration::from_secs(6 * 3_600);
/// How many lines a full build of the small config prints; only the bar's length hangs on it.
const USUAL_LINES: u64 = 1_400;
/// Holds the line count of the last full build.
const LINES: &str = ".ktrial-lines";

/// What `make` left behind.
pub(super) struct Built {
    pub image: PathBuf,
    pub release: String,
    pub refused_options: Vec<String>,
    /// Lines of `address name`, ascending.
    pub symbols: String,
}

/// Configures and builds what the worktree holds.
pub(super) fn build(
    builder: &Builder<'_>,
    variant: &str,
    objects: &Path,
    applied: &Applied,
) -> Result<Built> {
    let make = Make { builder, objects };
    let mended = salvage::begin(objects)?;
    if mended > 0 {
        builder.progress.say(&format!(
            "an earlier build was killed: {mended} objects that may be half written are built again"
        ));
    }
    let result = make.all(variant, applied);
    // Where make did not end by itself it may have been killed in the middle of a file: the mark
    // stays.
    if matches!(&result, Ok(_) | Err(Fault { at: At::Kernel, .. })) {
        salvage::end(objects)?;
    }
    result
}

struct Make<'a> {
    builder: &'a Builder<'a>,
    objects: &'a Path,
}

impl Make<'_> {
    fn all(&self, variant: &str, applied: &Applied) -> Result<Built> {
        let refused_options = self.configure(variant, applied)?;
        let config = self.read(".config")?;
        // An uncompressed image starts by PVH at once; unpacking a compressed one is guest time
        // that changes with the size of the patch.
        let (target, image) = if config.contains("\nCONFIG_PVH=y\n") {
            ("vmlinux", "vmlinux")
        } else {
            ("bzImage", "arch/x86/boot/bzImage")
        };
        let lines = self.expected_lines();
        let name = format!("building the kernel of {variant}");
        let task = self.builder.progress.task(&name, Some(lines));
        let seen = self.run(&[target], variant, applied, Some(&task))?;
        task.end("built");
        if seen > lines / 2 {
            let path = self.objects.join(LINES);
            fs::write(&path, seen.to_string()).or_host(|| format!("write {}", path.display()))?;
        }
        Ok(Built {
            image: self.objects.join(image),
            release: self
                .read("include/config/kernel.release")?
                .trim()
                .to_owned(),
            refused_options,
            symbols: symbols(&self.read("System.map")?),
        })
    }

    /// tinyconfig, the fragment, olddefconfig; returns the options that did not take.
    fn configure(&self, variant: &str, applied: &Applied) -> Result<Vec<String>> {
        let fragment = &self.builder.config.fragment;
        self.run(&["tinyconfig"], variant, applied, None)?;
        let path = self.objects.join(".config");
        let merged = format!("{}\n{fragment}", self.read(".config")?);
        fs::write(&path, merged).or_host(|| format!("write {}", path.display()))?;
        self.run(&["olddefconfig"], variant, applied, None)?;
        Ok(refused(fragment, &self.read(".config")?))
    }

    fn run(
        &self,
        targets: &[&str],
        variant: &str,
        applied: &Applied,
        task: Option<&Task>,
    ) -> Result<u64> {
        let log = self.objects.join("ktrial-build.log");
        let out = File::create(&log).or_host(|| format!("write {}", log.display()))?;
        let mut follower = LineCounter::open(&log)?;
        let mut child =
            process::spawn(self.command(targets, out)?, self.builder.home.cache_root())?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.poll()? {
                break status;
            }
            process::check_interrupt()?;
            if start.elapsed() > DEADLINE {
                return Err(Fault::host("make did not end within six hours"));
            }
            if let Some(task) = task {
                let last = follower.advance()?;
                task.at(follower.lines, &last);
            }
            std::thread::sleep(process::TICK);
        };
        if status.success() {
            follower.advance()?;
            return Ok(follower.lines);
        }
        if status.signal().is_some() {
            let how = process::describe(status);
            return Err(Fault::host(format!("make was ended by {how}")));
        }
        let text = fs::read(&log).or_host(|| format!("read {}", log.display()))?;
        Err(failure::explain(
            variant,
            &String::from_utf8_lossy(&text),
            &self.builder.tree.worktree(),
            applied,
        ))
    }

    fn command(&self, targets: &[&str], out: File) -> Result<Command> {
        let err = out.try_clone().or_host(|| "duplicate a file".into())?;
        let mut make = Command::new("make");
        make.arg("-C")
            .arg(self.builder.tree.worktree())
            .arg(format!("O={}", self.objects.display()))
            .arg(format!("-j{}", self.builder.jobs))
            .arg("LOCALVERSION=")
            .args(targets)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err);
        // Nothing of the user's shell may reach the kernel (LLVM=1, KCFLAGS, CPATH and their like
        // are no part of its hash), nor the hour or the host's name.
        make.env_clear();
        for variable in ["PATH", "HOME", "TMPDIR"] {
            make.envs(std::env::var_os(variable).map(|value| (variable, value)));
        }
        make.env("LC_ALL", "C")
            .env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 2026")
            .env("KBUILD_BUILD_USER", "ktrial")
            .env("KBUILD_BUILD_HOST", "ktrial")
            .env("KBUILD_BUILD_VERSION", "1");
        Ok(make)
    }

    fn expected_lines(&self) -> u64 {
        fs::read_to_string(self.objects.join(LINES))
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(USUAL_LINES)
    }

    fn read(&self, name: &str) -> Result<String> {
        let path = self.objects.join(name);
        fs::read_to_string(&path).or_host(|| format!("read {}", path.display()))
    }
}

/// The `CONFIG_X=...` lines of the fragment that are not in the final config.
fn refused(fragment: &str, config: &str) -> Vec<String> {
    let taken: BTreeSet<&str> = config.lines().collect();
    fragment
        .lines()
        .filter(|line| line.starts_with("CONFIG_") && !line.ends_with("=n"))
        .filter(|line| !taken.contains(line))
        .map(str::to_owned)
        .collect()
}

/// Counts the lines of a growing log and keeps the last one.
struct LineCounter {
    file: BufReader<File>,
    lines: u64,
    last: String,
}

impl LineCounter {
    fn open(path: &Path) -> Result<LineCounter> {
        let file = File::open(path).or_host(|| format!("read {}", path.display()))?;
        Ok(LineCounter {
            file: BufReader::new(file),
            lines: 0,
            last: String::new(),
        })
    }

    fn advance(&mut self) -> Result<String> {
        let reading = || "follow the build log".to_owned();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.file.read_until(b'\n', &mut line).or_host(reading)?;
            if read == 0 || line.last() != Some(&b'\n') {
                // A line in the making is read again when it is whole.
                self.file
                    .seek(SeekFrom::Current(-(read as i64)))
                    .or_host(reading)?;
                return Ok(self.last.clone());
            }
            self.lines += 1;
            self.last = String::from_utf8_lossy(&line).trim().to_owned();
        }
    }
}

/// The symbols of a System.map (lines of `address type name`), as `address name`: those of code and
/// data in the kernel's half of the addresses, and no absolute ones.
fn symbols(map: &str) -> String {
    let mut text = String::new();
    for line in map.lines() {
        let mut words = line.split(' ');
        if let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
            && !kind.eq_ignore_ascii_case("a")
            && address.len() == 16
            && address.starts_with('f')
        {
            text.push_str(address);
            text.push(' ');
            text.push_str(name);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_the_tree_does_not_take_are_named() {
        let fragment = "# a comment\nCONFIG_SMP=y\nCONFIG_GONE=y\nCONFIG_NR_CPUS=256\n";
        let config = "CONFIG_SMP=y\nCONFIG_NR_CPUS=64\n";
        assert_eq!(
            refused(fragment, config),
            ["CONFIG_GONE=y", "CONFIG_NR_CPUS=256"]
        );
    }
}
