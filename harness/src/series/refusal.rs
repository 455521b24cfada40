//! Why a series does not go onto a tree: whose fault it is, the evidence, and what to do.

use git2::Repository;
use ktrial_patches::Patch;
use ktrial_patches::apply::ApplyError;
use ktrial_patches::catalogue::{Series, SeriesError};
use ktrial_patches::history::ResolveError;
use ktrial_patches::read::{ReadError, ReadErrorKind, ThreadError};

use super::evidence;
use crate::fault::{At, Fault};
use crate::tree::{Tree, proper_name};

/// A series that can't be read or found, or that the tree lacks the commits of. What the user typed
/// or wrote is the user's; a patch that is none is the patch's.
pub(super) fn of_series(name: &str, error: SeriesError) -> Fault {
    match error {
        SeriesError::Patch(error) => of_reading(&error),
        SeriesError::Unknown { name, nearest } => {
            let hint = nearest.map(|name| format!("did you mean `{name}`? "));
            Fault::user(format!(
                "no series of the catalogue is called `{name}`, and no file or folder here"
            ))
            .next(hint.unwrap_or_default() + "`ktrial series list` shows the catalogue")
        }
        SeriesError::Resolve(error) => of_reference(name, error),
        other => Fault::user(other.to_string()),
    }
}

/// The patches of a series that the tree lacks; the series may say in words what it needs.
pub(super) fn of_patches(series: &Series, error: SeriesError) -> Fault {
    let missing = matches!(error, SeriesError::Resolve(ResolveError::NotFound { .. }));
    let fault = of_series(&series.name, error);
    match (&series.needs, &fault.next) {
        (Some(needs), Some(next)) if missing => {
            let next = format!("{next}; the series needs {needs}");
            fault.next(next)
        }
        _ => fault,
    }
}

/// A series of commits that only their messages tell, and a tree of another system: no message
/// of its history can be the right one.
pub(super) fn of_other_system(tree: &Tree, series: &Series) -> Option<Fault> {
    let (wanted, found) = (series.system?, tree.system?);
    let searched = series.searched().filter(|_| wanted != found)?;
    let (name, what) = (&series.name, super::described(searched));
    let (wanted, found) = (proper_name(wanted), proper_name(found));
    let needs = match &series.needs {
        Some(needs) => needs.clone(),
        None => format!("a {wanted} git tree whose history has it"),
    };
    let what = format!("{name}: {what} is {wanted}'s, and {} is {found}", tree.name);
    Some(Fault::user(what).next(format!("give --tree {needs}")))
}

fn of_reading(error: &ReadError) -> Fault {
    let fault = Fault::new(At::Patch, error.to_string());
    match error.kind {
        ReadErrorKind::Thread(ThreadError::Missing { .. }) => {
            fault.next("add the mail that is missing, or try each patch by itself")
        }
        _ => fault,
    }
}

fn of_reference(name: &str, error: ResolveError) -> Fault {
    match error {
        ResolveError::NotFound { what, next } => {
            Fault::user(format!("{name}: the tree's history has no {what}")).next(next)
        }
        ResolveError::Ambiguous { .. } => Fault::user(format!("{name}: {error}"))
            .next("name the one that is meant by its hash in the series.toml"),
        ResolveError::Repository(_) => of_repository(&error.to_string()),
        _ => Fault::new(At::Patch, format!("{name}: {error}")),
    }
}

/// A series that can't be undone on the base of the tree.
pub(super) fn of_undoing(
    repository: &Repository,
    tree: &Tree,
    patches: &[Patch],
    error: &ApplyError,
) -> Fault {
    match error {
        ApplyError::AlreadyApplied { patch, path } => {
            let what = format!("{patch}: nothing to undo: {path} already is without it");
            Fault::new(At::Patch, what)
                .next("the series is not in this tree; leave --reverse out, or give --revision")
        }
        other => of_apply(repository, tree, patches, other),
    }
}

/// A series that does not apply to the base of the tree.
pub(super) fn of_apply(
    repository: &Repository,
    tree: &Tree,
    patches: &[Patch],
    error: &ApplyError,
) -> Fault {
    let text = error.to_string();
    if !error.is_patch_fault() {
        return of_repository(&text);
    }
    let what = text.lines().next().unwrap_or_default();
    let mut fault = Fault::new(At::Patch, what);
    for line in evidence::of(repository, tree.base, patches, error) {
        fault = fault.showing(line);
    }
    let has_history = repository
        .find_commit(tree.base)
        .is_ok_and(|commit| commit.parent_count() > 0);
    fault.next(match error {
        ApplyError::AlreadyApplied { .. } if patches.len() > 1 => {
            "what the tree has already must go out of the series: import the rest of its patches"
        }
        ApplyError::AlreadyApplied { .. } => {
            "nothing is left to do on this tree; `ktrial apply --reverse` takes the series out of it"
        }
        ApplyError::PartlyApplied { .. }
        | ApplyError::Ambiguous { .. }
        | ApplyError::SeveralFiles { .. } => {
            "mend the patch as said, or try another --revision of the tree"
        }
        ApplyError::UnsafePath { .. } => {
            "name the file in the patch as it lies in the tree, such as a/sys/kern/x.c"
        }
        ApplyError::NoSuchFile { .. } => {
            "is --tree the right one? A diff made in a folder of the tree must be made from its top"
        }
        _ if has_history => {
            "bring the patch up to this tree; or add --find-base to `ktrial series check`, which \
             names the newest commit on which it applies"
        }
        _ => "bring the patch up to this tree, or give --tree the one that it was made for",
    })
}

fn of_repository(text: &str) -> Fault {
    Fault::host(text).next(to_write(text).unwrap_or(
        "`git fsck` in the tree says what is missing; a partial clone needs `git fetch --refetch`",
    ))
}

/// What to do where a repository could not be written; libgit2 gives the system's reason in words.
pub(super) fn to_write(text: &str) -> Option<&'static str> {
    let says = |reasons: [&str; 2]| reasons.iter().any(|reason| text.contains(reason));
    if says(["No space left on device", "Disk quota exceeded"]) {
        Some("make room on the disk, then run the same command again")
    } else if says(["Read-only file system", "Permission denied"]) {
        Some("it must be yours to write")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(error: ResolveError) -> Fault {
        of_series("s", SeriesError::Resolve(error))
    }

    #[test]
    fn a_commit_that_the_tree_lacks_is_the_users_to_get() {
        let fault = fault(ResolveError::NotFound {
            what: "commit 8cdef6cbcc73".into(),
            next: "give --tree one with its history".into(),
        });
        assert_eq!(
            fault.to_string(),
            "usage: s: the tree's history has no commit 8cdef6cbcc73\n  \
             next: give --tree one with its history"
        );
    }

    #[test]
    fn a_full_disk_is_no_damage() {
        // As libgit2 1.9 says it on a full tmpfs.
        let full = "failed to write out file: No space left on device";
        let next = of_repository(full).next.unwrap();
        assert!(next.starts_with("make room"), "{next}");
        let next = of_repository("object not found").next.unwrap();
        assert!(next.starts_with("`git fsck`"), "{next}");
    }

    #[test]
    fn the_party_follows_the_error() {
        let commit = git2::Oid::ZERO_SHA1;
        let ambiguous = ResolveError::Ambiguous {
            what: "subject `x`".into(),
            commits: vec![commit, commit],
        };
        let merge = ResolveError::NoPatch {
            commit,
            what: "a merge",
        };
        let broken = ResolveError::Repository(git2::Error::from_str("object not found"));
        assert_eq!(fault(ambiguous).at, At::User);
        assert_eq!(fault(merge).at, At::Patch);
        assert_eq!(fault(broken).at, At::Host);
        let unknown = SeriesError::Unknown {
            name: "x".into(),
            nearest: None,
        };
        assert_eq!(of_series("x", unknown).at, At::User);
    }
}
