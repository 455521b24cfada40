//! Applying: patches become commits, on git objects and without a checkout.
//!
//! Only the blobs and the trees on the way to them are read and written, so
//! the cost does not grow with the size of the tree.

mod binary;
mod error;
mod nearest;
mod overlay;
mod paths;
mod place;
mod search;

use git2::{Oid, Repository, Signature, Time};

use crate::{BinaryChange, Change, Date, FilePatch, Header, Hunk, Mend, Patch, Person};
use overlay::{Entry, Found, Overlay};
use place::Refusal;

pub use error::{ApplyError, HunkFailure, ShownLine};

/// What came of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The tree after the last patch.
    pub tree: Oid,
    /// The commit of the last patch; the base where there is none.
    pub commit: Oid,
    /// What each patch did, in order.
    pub patches: Vec<AppliedPatch>,
}

impl Applied {
    /// The name of the last patch that touched this path.
    pub fn patch_of(&self, path: &str) -> Option<&str> {
        let touches = |patch: &&AppliedPatch| patch.files.iter().any(|file| file.path == path);
        self.patches
            .iter()
            .rev()
            .find(touches)
            .map(|patch| patch.name.as_str())
    }
}

/// What one patch did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedPatch {
    /// Its name.
    pub name: String,
    /// Its commit, on top of the one before it.
    pub commit: Oid,
    /// The files it touched, in the order of the patch.
    pub files: Vec<AppliedFile>,
}

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFile {
    /// Its path in the tree, after the patch; where it is deleted, before it.
    pub path: String,
    /// The path that the patch means, where the tree has the file elsewhere by now.
    pub named: Option<String>,
    /// What happened to it as a whole.
    pub change: Change,
    /// Where each hunk landed.
    pub hunks: Vec<AppliedHunk>,
    /// What was put right to find the places and to make the added lines fit.
    pub mends: Vec<Mend>,
}

/// Where a hunk landed, in the terms that `patch` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedHunk {
    /// Its first line in the patched file, from 1.
    pub line: usize,
    /// Lines between where the patch says it stands and where it stood.
    pub offset: i64,
    /// Context lines left out at each end to find it, 0 to 2.
    pub fuzz: u32,
    /// How far down the ladder it had to go.
    pub rung: Rung,
}

/// The ladder: the ways to find a hunk's place, each weaker than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// It stands where the patch says.
    Exact,
    /// It stands on other lines.
    Offset,
    /// A three-way merge with the file that the patch was made from.
    Merge,
    /// With context lines left out.
    Fuzz,
    /// With blanks and tabs that differ.
    Whitespace,
    /// With `<…>` gone and `&lt;` for `<`, as web archives do.
    Markup,
}

impl Rung {
    /// One word for records and for people: `exact`, `offset`, `merge`.
    pub fn name(self) -> &'static str {
        match self {
            Rung::Exact => "exact",
            Rung::Offset => "offset",
            Rung::Merge => "merge",
            Rung::Fuzz => "fuzz",
            Rung::Whitespace => "whitespace",
            Rung::Markup => "markup",
        }
    }
}

/// Puts `patches` on the commit `base`, one commit each, and says where every
/// hunk landed. Objects are written to `repo`; no reference, index or work
/// tree is touched. Authors and dates are kept and the committer is fixed, so
/// the same input gives the same commit ids everywhere.
///
/// An empty series gives the base's own tree and commit.
///
/// # Errors
/// [`ApplyError`]; nothing refers to what was written until then.
pub fn apply(repo: &Repository, base: Oid, patches: &[Patch]) -> Result<Applied, ApplyError> {
    let mut parent = repo.find_commit(base)?;
    let mut tree = parent.tree()?;
    let fallback = parent.time();
    let mut overlay = Overlay::new(repo, tree.clone());
    paths::check_all(patches)?;
    let strip = paths::strip(&overlay, patches)?;
    let mut done = Vec::new();
    for patch in patches {
        let files = patch.files.iter();
        let files: Vec<AppliedFile> = files
            .map(|file| apply_file(&mut overlay, patch, file, strip))
            .collect::<Result<_, _>>()?;
        let next = repo.find_tree(overlay.write(&tree)?)?;
        if next.id() == tree.id() {
            return Err(ApplyError::NoChange {
                patch: patch.name.clone(),
            });
        }
        tree = next;
        let (author, committer) = signatures(&patch.header, fallback)?;
        let message = patch.header.commit_message();
        let commit = repo.commit(None, &author, &committer, &message, &tree, &[&parent])?;
        parent = repo.find_commit(commit)?;
        done.push(AppliedPatch {
            name: patch.name.clone(),
            commit,
            files,
        });
    }
    Ok(Applied {
        tree: tree.id(),
        commit: parent.id(),
        patches: done,
    })
}

/// Author and committer. The committer's clock is the author's, or the base
/// commit's where the patch has no date.
fn signatures(
    header: &Header,
    fallback: Time,
) -> Result<(Signature<'static>, Signature<'static>), git2::Error> {
    let time = header.date.map_or(fallback, |date: Date| {
        let offset = date.offset_minutes;
        // No zone is further than this from Greenwich.
        let offset = if offset.abs() <= 14 * 60 { offset } else { 0 };
        Time::new(date.seconds, offset)
    });
    let committer = Signature::new("ktrial", "ktrial@localhost", &time)?;
    let author = match &header.author {
        Some(Person { name, email }) => Signature::new(&plain(name), &plain(email), &time)?,
        None => committer.clone(),
    };
    Ok((author, committer))
}

/// What git lets stand in a name or an address.
fn plain(text: &str) -> String {
    let kept = |c: &char| !c.is_control() && !matches!(c, '<' | '>');
    let text: String = text.chars().filter(kept).collect();
    match text.trim() {
        "" => "unknown".to_owned(),
        text => text.to_owned(),
    }
}

/// One file of one patch, with what is needed to say what is wrong with it.
struct Job<'a> {
    patch: &'a Patch,
    file: &'a FilePatch,
    path: String,
}

fn apply_file(
    overlay: &mut Overlay,
    patch: &Patch,
    file: &FilePatch,
    strip: paths::Strip,
) -> Result<AppliedFile, ApplyError> {
    let names = paths::names(overlay, patch, file, strip)?;
    let change = match (file.change, overlay.find(&names.old)?) {
        // A plain diff that inserts at line 0 of a file that is not there makes it.
        (Change::Modify, Found::Absent) if inserts_at_start(&file.hunks) => Change::Create,
        (change, _) => change,
    };
    let path = match change {
        Change::Delete => names.old.clone(),
        _ => names.new.clone(),
    };
    let job = Job { patch, file, path };
    let before = job.before(overlay, change, &names.old)?;
    if matches!(change, Change::Create | Change::Rename | Change::Copy) {
        job.must_be_free(overlay, change)?;
    }
    let content = match &before {
        Some(entry) => overlay.content(entry)?,
        None => Vec::new(),
    };
    let exact = before.as_ref().is_some_and(|entry| job.is_preimage(entry));
    let (content, hunks) = match &file.binary {
        Some(binary) => (job.apply_binary(overlay, binary, &content)?, Vec::new()),
        None => job.apply_hunks(&content, exact)?,
    };
    match change {
        Change::Delete if !content.is_empty() && !is_copy(overlay, &names, &content)? => {
            return Err(job.not_emptied(&content));
        }
        Change::Delete => overlay.remove(&names.old),
        _ => {
            let mode = file.new_mode.or(before.map(|entry| entry.mode));
            let mode = mode.unwrap_or(0o100644);
            if mode == 0o120000 {
                paths::check_link(patch, &job.path, &content)?;
            }
            if change == Change::Rename {
                overlay.remove(&names.old);
            }
            overlay.put(&job.path, &content, mode)?;
        }
    }
    Ok(AppliedFile {
        path: job.path,
        named: None,
        change,
        hunks,
        mends: Vec::new(),
    })
}

/// Whether what is left of a file that goes away is the file it was a copy of.
fn is_copy(overlay: &Overlay, names: &paths::Names, content: &[u8]) -> Result<bool, ApplyError> {
    match overlay.find(&names.new)? {
        Found::File(entry) if names.new != names.old => Ok(overlay.content(&entry)? == content),
        _ => Ok(false),
    }
}

fn inserts_at_start(hunks: &[Hunk]) -> bool {
    matches!(hunks, [hunk] if hunk.old_start == 0 && hunk.old_count == 0)
}

impl Job<'_> {
    /// The file before the patch; `None` where it is to be made.
    fn before(
        &self,
        overlay: &Overlay,
        change: Change,
        old: &str,
    ) -> Result<Option<Entry>, ApplyError> {
        if change == Change::Create {
            return Ok(None);
        }
        match overlay.find(old)? {
            Found::File(entry) => Ok(Some(entry)),
            Found::Absent => Err(ApplyError::NoSuchFile {
                patch: self.patch.name.clone(),
                path: old.to_owned(),
                named: self.file.old.clone().unwrap_or_default(),
            }),
            Found::Blocked(why) => Err(self.unsafe_path(old, why)),
        }
    }

    /// A file that is made may not be there yet.
    fn must_be_free(&self, overlay: &Overlay, change: Change) -> Result<(), ApplyError> {
        let (patch, path) = (self.patch.name.clone(), self.path.clone());
        match overlay.find(&self.path)? {
            Found::Absent => Ok(()),
            Found::Blocked(why) => Err(self.unsafe_path(&path, why)),
            Found::File(entry) => {
                let after = self.file.hunks.iter().flat_map(Hunk::after);
                let wanted: Vec<u8> = after.flatten().copied().collect();
                let same = match &self.file.binary {
                    Some(_) => self.is_blob(&entry, &self.file.new_blob),
                    None => overlay.content(&entry)? == wanted,
                };
                if change == Change::Create && same {
                    return Err(ApplyError::AlreadyApplied { patch, path });
                }
                Err(ApplyError::FileExists { patch, path })
            }
        }
    }

    /// Whether this very blob is what the patch was made from.
    fn is_preimage(&self, entry: &Entry) -> bool {
        self.is_blob(entry, &self.file.old_blob)
    }

    fn is_blob(&self, entry: &Entry, named: &Option<String>) -> bool {
        let id = entry.blob.to_string();
        let named = named.as_ref();
        named.is_some_and(|named| id.starts_with(&named.to_ascii_lowercase()))
    }

    fn apply_binary(
        &self,
        overlay: &mut Overlay,
        change: &BinaryChange,
        content: &[u8],
    ) -> Result<Vec<u8>, ApplyError> {
        let new = binary::content(&mut overlay.binary, self.file, change, content);
        let (patch, path) = (self.patch.name.clone(), self.path.clone());
        new.map_err(|refusal| match refusal {
            binary::Refusal::AlreadyApplied => ApplyError::AlreadyApplied { patch, path },
            binary::Refusal::Wrong(why) => ApplyError::Binary { patch, path, why },
        })
    }

    fn apply_hunks(
        &self,
        content: &[u8],
        exact: bool,
    ) -> Result<(Vec<u8>, Vec<AppliedHunk>), ApplyError> {
        let hunks = self.hunks_for(content);
        let forward = place::all(content, &hunks, exact, place::MAX_FUZZ);
        let rung = forward.as_ref().ok().map(|done| done.rung);
        if rung.map(|(rung, _)| rung) != Some(Rung::Exact)
            && place::is_applied(content, &hunks, rung)
        {
            return Err(ApplyError::AlreadyApplied {
                patch: self.patch.name.clone(),
                path: self.path.clone(),
            });
        }
        match forward {
            Ok(done) => Ok((done.content, done.hunks)),
            Err((index, refusal)) => Err(self.refused(content, &hunks, index, refusal)),
        }
    }

    /// The hunks, with the carriage returns that reading took off put back
    /// where the file has them.
    fn hunks_for(&self, content: &[u8]) -> Vec<Hunk> {
        let mut hunks = self.file.hunks.clone();
        let first = content.split_inclusive(|&b| b == b'\n').next();
        if self.file.carriage_returns && first.is_some_and(|line| line.ends_with(b"\r\n")) {
            for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                if line.bytes.pop() == Some(b'\n') {
                    line.bytes.extend_from_slice(b"\r\n");
                }
            }
        }
        hunks
    }

    fn refused(
        &self,
        content: &[u8],
        hunks: &[Hunk],
        index: usize,
        refusal: Refusal,
    ) -> ApplyError {
        let (patch, path) = (self.patch.name.clone(), self.path.clone());
        let (hunk, line) = (index + 1, hunks[index].old_start);
        match refusal {
            Refusal::NoPlace { expected } => ApplyError::HunkFailed(Box::new(HunkFailure {
                patch,
                path,
                hunk,
                hunks: hunks.len(),
                ..nearest::show(content, &hunks[index], expected)
            })),
            Refusal::Ambiguous { lines, fuzz } => ApplyError::Ambiguous {
                patch,
                path,
                hunk,
                line,
                lines,
                fuzz,
            },
            Refusal::Unplaceable(why) => ApplyError::Unplaceable {
                patch,
                path,
                hunk,
                line,
                why,
            },
        }
    }

    fn not_emptied(&self, content: &[u8]) -> ApplyError {
        ApplyError::NotEmptied {
            patch: self.patch.name.clone(),
            path: self.path.clone(),
            lines: crate::text::lines(content).len(),
        }
    }

    fn unsafe_path(&self, path: &str, why: &'static str) -> ApplyError {
        ApplyError::UnsafePath {
            patch: self.patch.name.clone(),
            path: path.to_owned(),
            why,
        }
    }
}
