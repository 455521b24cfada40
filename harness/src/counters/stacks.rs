//! Stacks that were seen in a guest while a workload ran: where its time went, or where it waited
//! for locks. They come from boots of their own, whose times are never judged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Kind of an observation in which a clock interrupts the guest and looks where it is.
pub const PROFILE: &str = "profile";
/// Kind of an observation of every wait for a lock that was held.
pub const LOCKS: &str = "locks";

/// What was seen of one workload at one setting in one boot; an observation holds a list of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// The workload's name.
    pub workload: String,
    /// `fds=500000 touch=0`, sorted by name.
    pub parameters: String,
    /// What made each stack be taken: `cpu-clock`, `cycles`, `lock:contention_begin`.
    pub event: String,
    /// What a stack weighs: `samples`; for locks `ns`, the time waited.
    pub unit: String,
    /// Operations while it was watched; 0 where unknown.
    pub operations: u64,
    /// Stacks that the guest could not keep.
    pub lost: u64,
    /// Weight by folded stack, the outermost function first: `do_syscall_64;__x64_sys_close;filp_close`.
    /// User space is one frame, `user space`. For locks the last frame is the lock, `[files->file_lock]`
    /// where it has a name, `[lock]` where not.
    pub stacks: BTreeMap<String, u64>,
    /// How often each stack was seen; as `stacks` where each weighs 1, and then left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times: BTreeMap<String, u64>,
}

impl Stacks {
    /// The weight of all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Weight by innermost function.
    pub fn by_function(&self) -> BTreeMap<&str, u64> {
        let mut sums = BTreeMap::new();
        for (stack, weight) in &self.stacks {
            let leaf = stack.rsplit(';').next().unwrap_or(stack);
            *sums.entry(leaf).or_insert(0) += weight;
        }
        sums
    }
}
