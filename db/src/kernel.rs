//! Kernels: the builds that were booted.

use rusqlite::Row;

use crate::error::{Error, Result};
use crate::{Db, KernelId, row};

/// One build of a kernel. Built again from the same sources, it is another row
/// under the same hash; `image_sha256` says whether it came out the same to the bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Address in the cache: hash of tree, config and toolchain.
    pub hash: String,
    /// Git tree that was built.
    pub tree_oid: String,
    /// Git commit that holds the tree.
    pub commit_oid: String,
    /// Hash of the configuration.
    pub config_hash: String,
    /// Compiler and linker with their versions.
    pub toolchain: String,
    /// When the build ended.
    pub built_at: i64,
    /// How long it took, in milliseconds.
    pub build_ms: u64,
    /// Size of the image that is booted, in bytes.
    pub size_bytes: u64,
    /// As the kernel names itself (`uname -r`).
    pub release: String,
    /// SHA-256 of the image that is booted, in hex; none where it was not recorded.
    pub image_sha256: Option<String>,
}

impl Db {
    /// The id of this kernel, equal in every field; stored if it is new. One that was stored
    /// without its image's hash gets it.
    ///
    /// # Errors
    /// [`Error::Conflict`] when this very build was stored with another image.
    pub fn put_kernel(&mut self, kernel: &Kernel) -> Result<KernelId> {
        let transaction = self.connection.transaction()?;
        let id = row::find_or_insert(
            &transaction,
            "kernel",
            &[
                ("hash", &kernel.hash),
                ("tree_oid", &kernel.tree_oid),
                ("commit_oid", &kernel.commit_oid),
                ("config_hash", &kernel.config_hash),
                ("toolchain", &kernel.toolchain),
                ("built_at", &kernel.built_at),
                ("build_ms", &kernel.build_ms),
                ("size_bytes", &kernel.size_bytes),
                ("release", &kernel.release),
            ],
        )?;
        if let Some(image) = &kernel.image_sha256 {
            let sql = "UPDATE kernel SET image_sha256 = ?2
                WHERE id = ?1 AND coalesce(image_sha256, ?2) = ?2";
            if transaction.execute(sql, (id, image))? == 0 {
                return Err(Error::Conflict {
                    what: "kernel",
                    key: kernel.hash.clone(),
                });
            }
        }
        transaction.commit()?;
        Ok(KernelId(id))
    }

    /// The kernel with this id.
    pub fn kernel(&self, id: KernelId) -> Result<Option<Kernel>> {
        row::first(
            &self.connection,
            "SELECT * FROM kernel WHERE id = ?1",
            [id],
            read,
        )
    }
}

fn read(row: &Row) -> rusqlite::Result<Kernel> {
    Ok(Kernel {
        hash: row.get("hash")?,
        tree_oid: row.get("tree_oid")?,
        commit_oid: row.get("commit_oid")?,
        config_hash: row.get("config_hash")?,
        toolchain: row.get("toolchain")?,
        built_at: row.get("built_at")?,
        build_ms: row.get("build_ms")?,
        size_bytes: row.get("size_bytes")?,
        release: row.get("release")?,
        image_sha256: row.get("image_sha256")?,
    })
}
