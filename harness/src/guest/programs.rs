//! The agent and the workloads, compiled as static programs for the guest and cached by what
//! went into them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::fault::{Fault, OrHost, Result};
use crate::hash::hash16;
use crate::home::Home;
use crate::process;
use crate::workload::{self, Program};

const COMPILER: &str = "musl-gcc";
const FLAGS: &[&str] = &["-static", "-O2", "-Wall", "-std=gnu11", "-pthread", "-s"];

/// The programs that go into a guest, by name.
#[derive(Debug, Clone)]
pub struct Programs {
    binaries: BTreeMap<String, Vec<u8>>,
}

impl Programs {
    /// Compiles what is not in the cache yet.
    ///
    /// # Errors
    /// A host fault if the compiler is missing or fails.
    pub fn build(home: &Home) -> Result<Programs> {
        let mut command = Command::new(COMPILER);
        command.arg("-v");
        let version = process::run(command, home.cache_root(), Duration::from_secs(20))?;
        let folder = home.cache("programs")?.join(key(&version.text));
        if !folder.join("bin").exists() {
            compile_all(home, &folder)?;
        }
        let mut binaries = BTreeMap::new();
        for program in workload::programs()? {
            let path = folder.join("bin").join(&program.name);
            let bytes = fs::read(&path).or_host(|| format!("read {}", path.display()))?;
            binaries.insert(program.name, bytes);
        }
        Ok(Programs { binaries })
    }

    /// The same with another program in the place of the one called `name`.
    pub fn with(mut self, name: &str, binary: Vec<u8>) -> Programs {
        self.binaries.insert(name.to_owned(), binary);
        self
    }

    /// Hash of names and contents, 16 hex digits.
    pub fn hash(&self) -> String {
        hash16(
            self.iter()
                .flat_map(|(name, bytes)| [name.as_bytes(), bytes]),
        )
    }

    /// Writes them into a folder, so that they can be run here.
    ///
    /// # Errors
    /// As the system has it.
    pub fn install(&self, folder: &Path) -> std::io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        for (name, bytes) in self.iter() {
            let path = folder.join(name);
            fs::write(&path, bytes)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    /// Names and contents.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.binaries
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }
}

fn compile_all(home: &Home, folder: &Path) -> Result<()> {
    let _lock = home.lock("programs")?;
    // Another ktrial may have built them while this one waited.
    if folder.join("bin").exists() {
        return Ok(());
    }
    let doing = || format!("write {}", folder.display());
    let partial = folder.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).or_host(doing)?;
    }
    let bin = partial.join("bin");
    fs::create_dir_all(&bin).or_host(doing)?;
    workload::SOURCES.extract(&partial).or_host(doing)?;
    for program in workload::programs()? {
        compile(home, &partial, &bin, &program)?;
    }
    fs::rename(&partial, folder).or_host(doing)
}

fn compile(home: &Home, sources: &Path, bin: &Path, program: &Program) -> Result<()> {
    let mut command = Command::new(COMPILER);
    command.current_dir(sources).args(FLAGS);
    command.arg("-o").arg(bin.join(&program.name));
    command.args(&program.sources);
    let output = process::run(command, home.cache_root(), Duration::from_secs(120))?;
    if output.success {
        return Ok(());
    }
    Err(Fault::host(format!(
        "{COMPILER} cannot build the guest's program {}",
        program.name
    ))
    .showing(output.text)
    .next("`ktrial doctor` checks the compiler"))
}

fn key(compiler: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(compiler);
    hash.update(FLAGS.join(" "));
    hash_folder(&mut hash, &workload::SOURCES);
    hex::encode(&hash.finalize()[..8])
}

fn hash_folder(hash: &mut Sha256, folder: &include_dir::Dir<'_>) {
    for file in folder.files() {
        hash.update(file.path().as_os_str().as_encoded_bytes());
        hash.update((file.contents().len() as u64).to_le_bytes());
        hash.update(file.contents());
    }
    for folder in folder.dirs() {
        hash_folder(hash, folder);
    }
}
