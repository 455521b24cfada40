//! Kernels: a built variant, addressed by what went into it, and cached.

mod failure;
mod linux;
mod salvage;
mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use git2::Oid;
use ktrial_patches::apply::Applied;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, OrHost, Result};
use crate::hash::{hash16, sha256_of_file};
use crate::home::Home;
use crate::input;
use crate::progress::Progress;
use crate::timestamp::unix_ms;
use crate::tree::Tree;
use linux::Built;

pub use toolchain::{TOOLS, Toolchain};

/// Bumped when the way of building changes what comes out.
const RECIPE: &str = "ktrial kernel recipe 1";
/// The file that makes a folder of the cache a kernel.
const CARD: &str = "kernel.json";
/// Its `.config`.
const CONFIG: &str = "config";
/// Where its functions and data begin: lines of `address name`, ascending.
const SYMBOLS: &str = "symbols";

/// A built kernel in the cache.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kernel {
    /// Hash of tree, config, toolchain and recipe, in 16 hex digits.
    pub hash: String,
    /// The tree object it was built from.
    pub tree: String,
    /// The commit that was checked out (another commit of the same tree gives this kernel too).
    pub commit: String,
    /// Hash of the config fragment.
    pub config: String,
    /// Compiler and linker, as they call themselves.
    pub toolchain: String,
    /// What `uname -r` says in the guest.
    pub release: String,
    /// File name of the bootable image in `folder`.
    pub image: String,
    /// Unix time in milliseconds.
    pub built_at: i64,
    /// Wall time of the build in milliseconds; it may have started from another variant's objects.
    pub build_ms: u64,
    /// Size of the image in bytes.
    pub size: u64,
    /// Size of the table of its symbols in bytes; none of a kernel that an earlier ktrial built.
    #[serde(default)]
    pub symbols_size: Option<u64>,
    /// Options of the fragment that the tree did not take.
    pub refused_options: Vec<String>,
    /// SHA-256 of the image, in hex. Not part of the card: it is taken of the bytes that lie there.
    #[serde(skip)]
    pub image_sha256: String,
    /// Where it lies; not part of the card.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Kernel {
    /// A kernel of the cache by its hash.
    ///
    /// # Errors
    /// A user fault if the cache has none of that hash.
    pub fn find(home: &Home, hash: &str) -> Result<Kernel> {
        let plain = hash.bytes().all(|b| b.is_ascii_hexdigit());
        let folder = home.cache("kernels")?.join(hash);
        plain.then(|| cached(&folder)).flatten().ok_or_else(|| {
            Fault::user(format!("no kernel {hash} is in the cache"))
                .next("the report of a trial names its kernels; a trial builds them again")
        })
    }

    /// The one in the cache that was built last.
    ///
    /// # Errors
    /// A host fault if the cache can't be read.
    pub fn newest(home: &Home) -> Result<Option<Kernel>> {
        let folder = home.cache("kernels")?;
        let doing = || format!("read {}", folder.display());
        let mut kernels = Vec::new();
        for entry in fs::read_dir(&folder).or_host(doing)? {
            kernels.extend(cached(&entry.or_host(doing)?.path()));
        }
        Ok(kernels.into_iter().max_by_key(|kernel| kernel.built_at))
    }

    /// The file that QEMU loads.
    pub fn image(&self) -> PathBuf {
        self.folder.join(&self.image)
    }

    /// What it was configured with: the `.config` that its build ended with.
    ///
    /// # Errors
    /// A host fault if it can't be read.
    pub fn options(&self) -> Result<String> {
        let path = self.folder.join(CONFIG);
        fs::read_to_string(&path).or_host(|| format!("read {}", path.display()))
    }

    /// Where its functions and data begin: lines of `address name`, the address hexadecimal,
    /// ascending.
    pub fn symbols(&self) -> PathBuf {
        self.folder.join(SYMBOLS)
    }
}

/// What to build besides the source: an options file for `make`.
#[derive(Debug, Clone)]
pub struct Config {
    fragment: String,
}

impl Config {
    /// ktrial's own small config, with the user's fragment (lines of a `.config`) on top.
    ///
    /// # Errors
    /// A user fault if the file cannot be read.
    pub fn with(fragment: Option<&Path>) -> Result<Config> {
        let mut text = linux::FRAGMENT.to_owned();
        if let Some(path) = fragment {
            text.push_str(&input::text(path)?);
        }
        Ok(Config { fragment: text })
    }

    fn hash(&self) -> String {
        hash16([&self.fragment])
    }
}

/// Builds kernels of one tree with one config and toolchain.
pub struct Builder<'a> {
    /// Where the cache is.
    pub home: &'a Home,
    /// The source tree.
    pub tree: &'a Tree,
    /// The configuration.
    pub config: &'a Config,
    /// Compiler and linker.
    pub toolchain: &'a Toolchain,
    /// How many jobs `make` runs.
    pub jobs: usize,
    /// Where progress goes.
    pub progress: &'a Progress,
}

impl Builder<'_> {
    /// The kernel of `applied`, from the cache or built now. `name` is the variant's.
    ///
    /// # Errors
    /// A kernel fault with the compiler's first error if it does not build; a host fault if a tool
    /// is missing or the disk is full.
    pub fn build(&self, name: &str, applied: &Applied) -> Result<Kernel> {
        let hash = self.hash(applied.tree);
        let folder = self.home.cache("kernels")?.join(&hash);
        if let Some(kernel) = cached(&folder) {
            self.progress
                .say(&format!("kernel of {name}: {hash}, cached"));
            return Ok(kernel);
        }
        let damaged = match folder.exists() {
            true => "damaged in the cache, ",
            false => "",
        };
        self.progress
            .say(&format!("kernel of {name}: {hash}, {damaged}to be built"));
        let _lock = self.tree.lock(self.home)?;
        // Another ktrial may have built it while this one waited.
        if let Some(kernel) = cached(&folder) {
            return Ok(kernel);
        }
        let start = Instant::now();
        self.tree.check_out(applied.commit)?;
        let objects = self.objects()?;
        let built = linux::build(self, name, &objects, applied)?;
        let size = fs::metadata(&built.image)
            .or_host(|| format!("read {}", built.image.display()))?
            .len();
        let kernel = Kernel {
            hash,
            tree: applied.tree.to_string(),
            commit: applied.commit.to_string(),
            config: self.config.hash(),
            toolchain: self.toolchain.describe(),
            release: built.release.clone(),
            image: file_name(&built.image),
            built_at: unix_ms(),
            build_ms: start.elapsed().as_millis() as u64,
            size,
            symbols_size: Some(built.symbols.len() as u64),
            refused_options: built.refused_options.clone(),
            image_sha256: sha256_of_file(&built.image)
                .or_host(|| format!("read {}", built.image.display()))?,
            folder,
        };
        store(&kernel, &built, &objects)?;
        Ok(kernel)
    }

    fn hash(&self, tree: Oid) -> String {
        hash16([
            RECIPE.to_owned(),
            tree.to_string(),
            self.config.hash(),
            self.toolchain.describe(),
        ])
    }

    /// One folder of objects for all variants, so that the second starts from the first one's.
    fn objects(&self) -> Result<PathBuf> {
        let key = hash16([
            RECIPE.to_owned(),
            self.tree.key.clone(),
            self.config.hash(),
            self.toolchain.describe(),
        ]);
        self.home.cache(&format!("builds/{key}"))
    }
}

fn cached(folder: &Path) -> Option<Kernel> {
    let card = fs::read(folder.join(CARD)).ok()?;
    let mut kernel: Kernel = serde_json::from_slice(&card).ok()?;
    kernel.folder = folder.to_path_buf();
    // A kernel of a ktrial before that has no symbols, and is built again.
    let symbols = fs::metadata(kernel.symbols()).ok()?.len();
    let whole = fs::metadata(kernel.image()).ok()?.len() == kernel.size
        && symbols > 0
        && kernel.symbols_size.is_none_or(|size| size == symbols);
    kernel.image_sha256 = sha256_of_file(&kernel.image()).ok()?;
    whole.then_some(kernel)
}

/// Puts image, symbols and config in the cache. The folder appears whole or not at all.
fn store(kernel: &Kernel, built: &Built, objects: &Path) -> Result<()> {
    let doing = || format!("store the kernel in {}", kernel.folder.display());
    let partial = kernel.folder.with_extension("partial");
    for old in [&partial, &kernel.folder] {
        if old.exists() {
            fs::remove_dir_all(old).or_host(doing)?;
        }
    }
    fs::create_dir_all(&partial).or_host(doing)?;
    fs::copy(&built.image, partial.join(&kernel.image)).or_host(doing)?;
    fs::write(partial.join(SYMBOLS), &built.symbols).or_host(doing)?;
    fs::copy(objects.join(".config"), partial.join(CONFIG)).or_host(doing)?;
    let card = serde_json::to_vec_pretty(kernel).or_host(doing)?;
    fs::write(partial.join(CARD), card).or_host(doing)?;
    fs::rename(&partial, &kernel.folder).or_host(doing)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// A copy that was cut names other functions, and would do so in silence.
    #[test]
    fn a_kernel_with_an_image_or_symbols_that_were_cut_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let card = |symbols: &str| {
            format!(
                r#"{{"hash": "a", "tree": "", "commit": "", "config": "", "toolchain": "",
                "release": "", "image": "vmlinux", "built_at": 0, "build_ms": 0, "size": 5,
                {symbols} "refused_options": []}}"#
            )
        };
        let whole = |image: &str, symbols: &str, said: &str| {
            fs::write(path("vmlinux"), image).unwrap();
            fs::write(path(SYMBOLS), symbols).unwrap();
            fs::write(path(CARD), card(said)).unwrap();
            cached(folder.path()).is_some()
        };
        let table = "ffffffff81000000 _text\n";
        assert!(whole("image", table, r#""symbols_size": 23,"#));
        assert!(!whole("imag", table, r#""symbols_size": 23,"#));
        assert!(!whole("image", &table[..20], r#""symbols_size": 23,"#));
        // Of an earlier ktrial, which did not say how long it is.
        assert!(whole("image", table, ""));
        assert!(!whole("image", "", ""));
    }
}
