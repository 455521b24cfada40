//! Tarballs and plain folders become one commit in a bare repository, written as a single pack by
//! `git fast-import`. Every file goes in: a `.gitignore` in the tree is a file like any other.

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::fault::{Fault, OrHost, Result};
use crate::home::Home;
use crate::process;

/// The branch that an import makes.
pub(crate) const BRANCH: &str = "refs/heads/base";
/// Stands in the repository once the import is whole.
pub(super) const DONE: &str = "ktrial-imported";

/// A kernel is about 80,000 files; far more than that is no kernel.
const MOST_FILES: usize = 2_000_000;
/// The longest name that Linux's file systems take.
const LONGEST_NAME: usize = 255;
/// The longest an import may take, in seconds; 60 is usual on two slow cores.
const DEADLINE_S: u64 = 1_800;

/// A key that changes when the source does: the content of a tarball; the path, size and time of
/// each file of a folder.
pub(super) fn signature(source: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    if source.is_dir() {
        hash.update(source.as_os_str().as_bytes());
        for path in walk(source)? {
            let meta =
                fs::symlink_metadata(&path).or_host(|| format!("read {}", path.display()))?;
            hash.update(path.as_os_str().as_bytes());
            hash.update(meta.len().to_le_bytes());
            hash.update(meta.mtime().to_le_bytes());
            hash.update(meta.mtime_nsec().to_le_bytes());
        }
    } else {
        let reading = || format!("read {}", source.display());
        let file = File::open(source).or_host(reading)?;
        let mut file = io::BufReader::with_capacity(1 << 20, file);
        loop {
            let bytes = file.fill_buf().or_host(reading)?;
            if bytes.is_empty() {
                break;
            }
            hash.update(bytes);
            let read = bytes.len();
            file.consume(read);
        }
    }
    Ok(hex::encode(&hash.finalize()[..8]))
}

/// Imports `source` into a new bare repository at `git_dir`; a half-done earlier one is replaced,
/// and one that fails is removed, for it may have filled the disk.
pub(super) fn import(home: &Home, source: &Path, git_dir: &Path) -> Result<()> {
    let imported = fill(home, source, git_dir);
    if imported.is_err() {
        let _ = fs::remove_dir_all(git_dir);
    }
    imported
}

fn fill(home: &Home, source: &Path, git_dir: &Path) -> Result<()> {
    if git_dir.exists() {
        fs::remove_dir_all(git_dir).or_host(|| format!("remove {}", git_dir.display()))?;
    }
    git2::Repository::init_bare(git_dir).or_host(|| format!("make {}", git_dir.display()))?;
    let mut command = Command::new("git");
    command
        .arg("--git-dir")
        .arg(git_dir)
        // Speed over size: this pack lives in a cache. Large files are source too.
        .args(["-c", "core.compression=1", "-c", "core.bigFileThreshold=1g"])
        .args(["fast-import", "--quiet", "--done", "--depth=0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let log = git_dir.join("fast-import.log");
    command.stderr(File::create(&log).or_host(|| format!("write {}", log.display()))?);
    let mut child = process::spawn(command, home.cache_root())?;
    let stdin = child
        .take_stdin()
        .ok_or_else(|| Fault::host("git fast-import has no input"))?;
    let mut feed = Feed {
        inner: BufWriter::with_capacity(1 << 20, stdin),
        broken: false,
    };
    let written = write_commit(home, source, &mut feed);
    let broken = feed.broken;
    drop(feed);
    if !broken {
        written?;
    }
    let status = child.wait(Duration::from_secs(DEADLINE_S))?;
    if broken || !status.success() {
        let what = format!("git fast-import of {} failed", source.display());
        return Err(Fault::host(what)
            .showing(fs::read_to_string(&log).unwrap_or_default())
            .next("check the free space of the disk"));
    }
    File::create(git_dir.join(DONE)).or_host(|| format!("write {}", git_dir.display()))?;
    Ok(())
}

/// The way to git; knows that git has hung up, because then git says why.
struct Feed<W> {
    inner: W,
    broken: bool,
}

impl<W: Write> Write for Feed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.broken |= written.is_err();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.broken |= flushed.is_err();
        flushed
    }
}

fn write_commit(home: &Home, source: &Path, mut out: impl Write) -> Result<()> {
    let broken = || "feed git fast-import".to_owned();
    let message = format!("{}\n", source.display());
    // A fixed committer and date: the same source at the same path gives the same commit.
    write!(
        out,
        "commit {BRANCH}\ncommitter ktrial <ktrial@localhost> 0 +0000\ndata {}\n{message}",
        message.len()
    )
    .or_host(broken)?;
    if source.is_dir() {
        write_folder(source, &mut out)?;
    } else {
        write_tarball(home, source, &mut out)?;
    }
    out.write_all(b"\ndone\n")
        .and_then(|()| out.flush())
        .or_host(broken)
}

fn write_folder(root: &Path, out: &mut impl Write) -> Result<()> {
    for path in walk(root)? {
        process::check_interrupt()?;
        let reading = || format!("import {}", path.display());
        let meta = fs::symlink_metadata(&path).or_host(reading)?;
        let name = path.strip_prefix(root).or_host(reading)?;
        if meta.is_symlink() {
            let target = fs::read_link(&path).or_host(reading)?;
            write_file(out, "120000", name, target.as_os_str().as_bytes())?;
        } else {
            let mode = file_mode(meta.permissions().mode());
            write_file(out, mode, name, &fs::read(&path).or_host(reading)?)?;
        }
    }
    Ok(())
}

fn write_tarball(home: &Home, source: &Path, out: &mut impl Write) -> Result<()> {
    let reading = || format!("read {}", source.display());
    let (mut unpacker, stream) = unpack(home, source)?;
    let mut archive = tar::Archive::new(stream);
    let mut files = 0;
    let mut top: Option<PathBuf> = None;
    for entry in archive.entries().or_host(reading)? {
        let mut entry = entry.map_err(|e| not_an_archive(source, &e))?;
        process::check_interrupt()?;
        let path = entry.path().or_host(reading)?.into_owned();
        let kind = entry.header().entry_type();
        // What `git archive` puts in front is no file.
        if kind.is_pax_global_extensions() {
            continue;
        }
        // A kernel tarball has one folder at the top, which is no part of the tree.
        let Some(name) = below_top(&path, &mut top)
            .map_err(|e| Fault::user(format!("{}: {e}", source.display())))?
        else {
            continue;
        };
        if kind.is_symlink() {
            let target = entry.link_name().or_host(reading)?.unwrap_or_default();
            write_file(out, "120000", &name, target.as_os_str().as_bytes())?;
        } else if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
            let mode = file_mode(entry.header().mode().or_host(reading)?);
            let mut bytes = Vec::new();
            entry
                .read_to_end(&mut bytes)
                .map_err(|e| not_an_archive(source, &e))?;
            write_file(out, mode, &name, &bytes)?;
        } else if !kind.is_dir() {
            let what = format!(
                "{}: {} is neither file, folder nor symbolic link",
                source.display(),
                path.display()
            );
            return Err(Fault::user(what).next("unpack it and give --tree the folder"));
        }
        files += 1;
        if files > MOST_FILES {
            return Err(Fault::user(format!(
                "{} has over {MOST_FILES} files",
                source.display()
            )));
        }
    }
    if let Some(unpacker) = unpacker.take() {
        let status = unpacker.wait(Duration::from_secs(60))?;
        if !status.success() {
            return Err(not_an_archive(source, &process::describe(status)));
        }
    }
    if files == 0 {
        return Err(Fault::user(format!("{} is empty", source.display())));
    }
    Ok(())
}

fn not_an_archive(source: &Path, why: &dyn std::fmt::Display) -> Fault {
    Fault::user(format!(
        "{} is no whole tar archive: {why}",
        source.display()
    ))
    .next("give --tree a .tar, .tar.xz, .tar.gz, .tar.bz2 or .tar.zst of a kernel, or a folder")
}

type Unpacked = (Option<process::Child>, Box<dyn Read>);

/// The tar stream inside a compressed file, by the program that its suffix names.
fn unpack(home: &Home, source: &Path) -> Result<Unpacked> {
    let file = File::open(source).or_host(|| format!("open {}", source.display()))?;
    let suffix = source.extension().and_then(|e| e.to_str()).unwrap_or("");
    let program = match suffix {
        "xz" | "txz" => "xz",
        "gz" | "tgz" => "gzip",
        "bz2" => "bzip2",
        "zst" => "zstd",
        _ => return Ok((None, Box::new(io::BufReader::new(file)))),
    };
    let mut command = Command::new(program);
    command
        .args(["-d", "-c"])
        .stdin(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = process::spawn(command, home.cache_root())?;
    let stdout = child
        .take_stdout()
        .ok_or_else(|| Fault::host(format!("{program} has no output")))?;
    Ok((
        Some(child),
        Box::new(io::BufReader::with_capacity(1 << 20, stdout)),
    ))
}

/// The path below the archive's one top folder; `None` for that folder itself and for headers.
fn below_top(
    path: &Path,
    top: &mut Option<PathBuf>,
) -> std::result::Result<Option<PathBuf>, String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part),
            _ => return Err(format!("the path {} leaves the archive", path.display())),
        }
    }
    let Some((first, rest)) = parts.split_first() else {
        return Ok(None);
    };
    // A packed checkout brings its repository along, which is no source.
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Ok(None);
    }
    if parts.iter().any(|part| part.len() > LONGEST_NAME) {
        return Err("a file name of over 255 bytes".into());
    }
    let top = top.get_or_insert_with(|| PathBuf::from(first));
    if top.as_os_str() != *first {
        return Err(format!(
            "{} lies beside the top folder {}",
            path.display(),
            top.display()
        ));
    }
    Ok((!rest.is_empty()).then(|| rest.iter().collect()))
}

fn file_mode(mode: u32) -> &'static str {
    if mode & 0o100 != 0 {
        "100755"
    } else {
        "100644"
    }
}

fn write_file(out: &mut impl Write, mode: &str, name: &Path, bytes: &[u8]) -> Result<()> {
    let quoted = quote(name.as_os_str().as_bytes());
    write!(out, "M {mode} inline {quoted}\ndata {}\n", bytes.len())
        .and_then(|()| out.write_all(bytes))
        .and_then(|()| out.write_all(b"\n"))
        .or_host(|| "feed git fast-import".into())
}

/// A path as `git fast-import` wants it: quoted like a C string.
fn quote(path: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in path {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

/// Every file and link below `root`, sorted, without `.git`.
fn walk(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        process::check_interrupt()?;
        let reading = || format!("read {}", folder.display());
        for entry in fs::read_dir(&folder).or_host(reading)? {
            let entry = entry.or_host(reading)?;
            let kind = entry.file_type().or_host(reading)?;
            if kind.is_dir() {
                if entry.file_name() != ".git" {
                    folders.push(entry.path());
                }
            } else if kind.is_file() || kind.is_symlink() {
                files.push(entry.path());
            }
        }
        if files.len() > MOST_FILES {
            return Err(Fault::user(format!(
                "{} has over {MOST_FILES} files",
                root.display()
            )));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
