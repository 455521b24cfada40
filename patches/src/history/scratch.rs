//! Trying a series without leaving anything in the repository.

use git2::{Mempack, Repository};

/// Above the backends that every object database has.
const PRIORITY: i32 = 1000;

/// Calls `work` with a second handle of the repository that keeps new objects in
/// memory, and with the memory, so that it can be emptied after each trial.
pub(super) fn in_memory<T, E: From<git2::Error>>(
    repo: &Repository,
    work: impl FnOnce(&Repository, &Mempack) -> Result<T, E>,
) -> Result<T, E> {
    let scratch = Repository::open(repo.path())?;
    let odb = scratch.odb()?;
    let memory = odb.add_new_mempack_backend(PRIORITY)?;
    work(&scratch, &memory)
}
