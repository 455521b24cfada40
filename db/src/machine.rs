//! Machines: the hosts that trials ran on.

use rusqlite::Row;

use crate::error::Result;
use crate::{Db, MachineId, row};

/// A host as it was found. The same machine with other facts (another kernel,
/// another governor) is another row under the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Hash of the facts that make it this machine and no other.
    pub key: String,
    /// What it calls itself.
    pub hostname: String,
    /// As the processor names itself.
    pub cpu_model: String,
    /// Logical processors, at least 1.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Operating system and kernel release.
    pub os_release: String,
    /// Everything else, as a JSON text.
    pub facts_json: String,
}

impl Db {
    /// The id of this machine, equal in every field; stored if it is new.
    pub fn put_machine(&mut self, machine: &Machine) -> Result<MachineId> {
        self.put(
            "machine",
            &[
                ("key", &machine.key),
                ("hostname", &machine.hostname),
                ("cpu_model", &machine.cpu_model),
                ("cpus", &machine.cpus),
                ("memory_bytes", &machine.memory_bytes),
                ("os_release", &machine.os_release),
                ("facts_json", &machine.facts_json),
            ],
        )
        .map(MachineId)
    }

    /// The machine with this id.
    pub fn machine(&self, id: MachineId) -> Result<Option<Machine>> {
        row::first(
            &self.connection,
            "SELECT * FROM machine WHERE id = ?1",
            [id],
            read,
        )
    }

    /// Finds or inserts one row in a transaction of its own.
    pub(crate) fn put(&mut self, table: &'static str, columns: &[row::Column]) -> Result<i64> {
        let transaction = self.connection.transaction()?;
        let id = row::find_or_insert(&transaction, table, columns)?;
        transaction.commit()?;
        Ok(id)
    }
}

fn read(row: &Row) -> rusqlite::Result<Machine> {
    Ok(Machine {
        key: row.get("key")?,
        hostname: row.get("hostname")?,
        cpu_model: row.get("cpu_model")?,
        cpus: row.get("cpus")?,
        memory_bytes: row.get("memory_bytes")?,
        os_release: row.get("os_release")?,
        facts_json: row.get("facts_json")?,
    })
}
