//! Git bundles: commits in a file.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::io::Write;

use git2::{ObjectType, Odb, Oid, Repository};

use super::ResolveError;
use super::named::Named;
use super::pack;
use super::range::after;
use crate::text::shown;

/// The first line of a bundle, of either version (gitformat-bundle(5)).
const HEADINGS: [&[u8]; 2] = [b"# v2 git bundle", b"# v3 git bundle"];

/// Whether a file begins as git bundles do.
pub(crate) fn is_bundle(bytes: &[u8]) -> bool {
    let follows = |heading: &&[u8]| {
        bytes
            .strip_prefix(*heading)
            .is_some_and(|r| r.starts_with(b"\n"))
    };
    HEADINGS.iter().any(follows)
}

/// How to make a bundle that is taken.
const MAKE: &str = "make it with `git bundle create FILE base..branch`";

/// Unpacks a bundle into the repository and returns its commits, oldest first.
pub(super) fn unpack(
    repo: &Repository,
    name: &str,
    bytes: &[u8],
) -> Result<Vec<Oid>, ResolveError> {
    let wrong = |why: String| ResolveError::Bundle {
        name: name.to_owned(),
        why,
    };
    let head = Head::read(bytes).map_err(wrong)?;
    head.check_needs(repo).map_err(wrong)?;
    let tip = head.tip().map_err(wrong)?;
    let unpacked = |why: &str| wrong(format!("its pack can't be unpacked: {why}; {MAKE} again"));
    let damaged = |error: git2::Error| unpacked(error.message());
    pack::check(head.pack).map_err(unpacked)?;
    index(repo, head.pack).map_err(damaged)?;
    let tip = repo.find_object(tip, None).map_err(damaged)?;
    let tip = tip.peel_to_commit().map_err(damaged)?.id();
    let commits = after(repo, &head.needs, tip).map_err(damaged)?;
    let first = commits.first().copied();
    let first = first.map(|first| repo.find_commit(first)).transpose()?;
    match first {
        None => Err(wrong(format!(
            "it holds no commit beyond those it needs; {MAKE}"
        ))),
        Some(first) if first.parent_count() == 0 => Err(wrong(format!(
            "it holds a history from its first commit on, not a series; {MAKE}"
        ))),
        Some(_) => Ok(commits),
    }
}

/// The commits of a bundle as far as they can be read without a tree, oldest first, and
/// whether those are all.
///
/// # Errors
/// [`ResolveError::Bundle`] where it can't be unpacked whatever the tree.
pub fn bundled(name: &str, bytes: &[u8]) -> Result<(Vec<Named>, bool), ResolveError> {
    let wrong = |why: String| ResolveError::Bundle {
        name: name.to_owned(),
        why,
    };
    let head = Head::read(bytes).map_err(wrong)?;
    let tip = head.tip().map_err(wrong)?;
    pack::check(head.pack)
        .map_err(|why| wrong(format!("its pack can't be unpacked: {why}; {MAKE} again")))?;
    // A repository of these commits alone, in memory.
    let odb = Odb::new()?;
    let _memory = odb.add_new_mempack_backend(1)?;
    for commit in pack::commits(head.pack) {
        odb.write(ObjectType::Commit, &commit)?;
    }
    let repo = Repository::from_odb(odb)?;
    let (mut commits, mut whole) = (Vec::new(), true);
    let (mut open, mut seen) = (BinaryHeap::new(), HashSet::new());
    let mut next = vec![tip];
    loop {
        for id in next.drain(..).filter(|id| !head.needs.contains(id)) {
            if !seen.insert(id) {
                continue;
            }
            match repo.find_commit(id) {
                Ok(commit) => open.push((commit.time().seconds(), Reverse(seen.len()), id)),
                Err(_) => whole = false,
            }
        }
        let Some((_, _, id)) = open.pop() else {
            break;
        };
        next.extend(repo.find_commit(id)?.parent_ids());
        // A merge is no patch of the series.
        if next.len() < 2 {
            commits.push(Named::of(&repo, id)?);
        }
    }
    commits.reverse();
    Ok((commits, whole))
}

/// What stands before the pack.
struct Head<'a> {
    /// The commits that a repository must have.
    needs: Vec<Oid>,
    refs: Vec<(Oid, String)>,
    pack: &'a [u8],
}

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8]) -> Result<Head<'a>, String> {
        let mut head = Head {
            needs: Vec::new(),
            refs: Vec::new(),
            pack: bytes,
        };
        let version = head.line()?;
        if !HEADINGS.contains(&version) {
            let headings = HEADINGS.map(|heading| format!("`{}`", shown(heading)));
            return Err(format!(
                "it starts with `{}`, not with {}",
                shown(version),
                headings.join(" or ")
            ));
        }
        loop {
            let line = head.line()?;
            match line.first() {
                None => return Ok(head),
                Some(b'@') => refuse_capability(line)?,
                Some(b'-') => {
                    let (need, _) = named(&line[1..])?;
                    head.needs.push(need);
                }
                Some(_) => {
                    let (id, name) = named(line)?;
                    head.refs.push((id, name));
                }
            }
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<&'a [u8], String> {
        let pack = self.pack;
        let end = pack.iter().position(|&b| b == b'\n');
        let end = end.ok_or_else(|| format!("it ends within its header; {MAKE} again"))?;
        self.pack = &pack[end + 1..];
        Ok(&pack[..end])
    }

    fn check_needs(&self, repo: &Repository) -> Result<(), String> {
        let missing = self
            .needs
            .iter()
            .filter(|&&id| repo.find_commit(id).is_err());
        let missing: Vec<String> = missing.map(Oid::to_string).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let more = if missing.len() > 5 { ", …" } else { "" };
        Err(format!(
            "the tree does not have {} of the commits that it builds on: {}{more}; fetch them into \
             the tree",
            missing.len(),
            missing[..missing.len().min(5)].join(", ")
        ))
    }

    /// The commit that it is about: all names in it must mean the same one.
    fn tip(&self) -> Result<Oid, String> {
        let Some((first, _)) = self.refs.first() else {
            return Err(format!("it names no branch; {MAKE}"));
        };
        if self.refs.iter().all(|(id, _)| id == first) {
            return Ok(*first);
        }
        let names = self.refs.iter().take(10);
        let names: Vec<String> = names
            .map(|(id, name)| format!("{} {:.12}", shown(name.as_bytes()), id.to_string()))
            .collect();
        Err(format!(
            "it holds {} branches and tags ({}), and a series is one of them; {MAKE}",
            self.refs.len(),
            names.join(", ")
        ))
    }
}

/// `<hash> <name>`.
fn named(line: &[u8]) -> Result<(Oid, String), String> {
    let text = String::from_utf8_lossy(line);
    let (id, name) = text.split_once(' ').unwrap_or((&text, ""));
    match Oid::from_str(id) {
        Ok(oid) if id.len() == 40 => Ok((oid, name.to_owned())),
        _ => Err(format!("`{}` in its header is no commit", shown(line))),
    }
}

fn refuse_capability(line: &[u8]) -> Result<(), String> {
    if line == b"@object-format=sha1" {
        return Ok(());
    }
    Err(format!(
        "`{}` in its header asks for what is not read: a bundle with SHA-1 and without a filter is",
        shown(line)
    ))
}

fn index(repo: &Repository, pack: &[u8]) -> Result<(), git2::Error> {
    let odb = repo.odb()?;
    let mut writer = odb.packwriter()?;
    let written = writer.write_all(pack);
    written.map_err(|error| git2::Error::from_str(&error.to_string()))?;
    writer.commit()?;
    odb.refresh()
}
