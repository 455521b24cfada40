//! Trees: the kernel sources that series were applied to.

use rusqlite::Row;

use crate::error::Result;
use crate::{Db, TreeId, row};

/// A kernel source tree at one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Hash of what makes it this tree and no other.
    pub key: String,
    /// "linux", "freebsd" or "dragonfly".
    pub system: String,
    /// What people call it.
    pub name: String,
    /// Path or package it was taken from.
    pub source: String,
    /// As the tree names its own version, such as "6.1.158".
    pub version: String,
    /// Git commit that series are applied to.
    pub base_commit: String,
    /// Git tree of that commit.
    pub base_tree: String,
}

impl Db {
    /// The id of this tree, equal in every field; stored if it is new.
    pub fn put_tree(&mut self, tree: &Tree) -> Result<TreeId> {
        self.put(
            "tree",
            &[
                ("key", &tree.key),
                ("system", &tree.system),
                ("name", &tree.name),
                ("source", &tree.source),
                ("version", &tree.version),
                ("base_commit", &tree.base_commit),
                ("base_tree", &tree.base_tree),
            ],
        )
        .map(TreeId)
    }

    /// The tree with this id.
    pub fn tree(&self, id: TreeId) -> Result<Option<Tree>> {
        row::first(
            &self.connection,
            "SELECT * FROM tree WHERE id = ?1",
            [id],
            read,
        )
    }

    /// All trees, the latest first.
    pub fn trees(&self) -> Result<Vec<Tree>> {
        let sql = "SELECT * FROM tree ORDER BY id DESC";
        row::all(&self.connection, sql, [], read)
    }
}

fn read(row: &Row) -> rusqlite::Result<Tree> {
    Ok(Tree {
        key: row.get("key")?,
        system: row.get("system")?,
        name: row.get("name")?,
        source: row.get("source")?,
        version: row.get("version")?,
        base_commit: row.get("base_commit")?,
        base_tree: row.get("base_tree")?,
    })
}
