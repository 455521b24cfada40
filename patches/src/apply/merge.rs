//! The merge rung: what the patch makes of the file it was made from, merged
//! with what became of that file in the tree, as `git am -3` does.

use git2::{DiffOptions, MergeFileInput, MergeFileOptions, ObjectType, Oid, Repository};

use super::{AppliedHunk, Rung};

/// Larger files are not merged, in bytes: a merge compares whole files.
const MAX_MERGED: usize = 16 << 20;

/// Bytes looked at to tell text from other things, as git does.
const LOOKED_AT: usize = 8000;

/// The blob that an abbreviated id names, where the repository has one such
/// and it is of a size to be merged.
pub(super) fn find_blob(
    repo: &Repository,
    id: &str,
) -> Result<Option<(Oid, Vec<u8>)>, git2::Error> {
    let known = (7..=40).contains(&id.len());
    let Some(short) = Oid::from_str(id).ok().filter(|oid| known && !oid.is_zero()) else {
        return Ok(None);
    };
    let odb = repo.odb()?;
    // Not there, or not the only one.
    let Ok(oid) = odb.exists_prefix(short, id.len()) else {
        return Ok(None);
    };
    match odb.read_header(oid) {
        Ok((size, ObjectType::Blob)) if size <= MAX_MERGED => {
            Ok(Some((oid, repo.find_blob(oid)?.content().to_vec())))
        }
        _ => Ok(None),
    }
}

/// The two changes of `ancestor` put together; `None` where they are in each
/// other's way, or can't be compared.
pub(super) fn three_way(
    ancestor: &[u8],
    ours: &[u8],
    theirs: &[u8],
) -> Result<Option<Vec<u8>>, git2::Error> {
    let all = [ancestor, ours, theirs];
    let is_binary = |text: &&[u8]| text.iter().take(LOOKED_AT).any(|&b| b == 0);
    if all.iter().any(is_binary) || all.iter().any(|text| text.len() > MAX_MERGED) {
        return Ok(None);
    }
    let input = |text| {
        let mut input = MergeFileInput::new();
        input.content(text);
        input
    };
    let [ancestor, ours, theirs] = all.map(input);
    // Of what libgit2 offers, it is nearest to git's own choice, histogram.
    let mut options = MergeFileOptions::new();
    options.patience(true);
    let merged = git2::merge_file(&ancestor, &ours, &theirs, Some(&mut options))?;
    Ok(merged.is_automergeable().then(|| merged.content().to_vec()))
}

/// Where the hunks of `theirs` stand in `merged`.
pub(super) fn moved(
    theirs: &[u8],
    merged: &[u8],
    hunks: &[AppliedHunk],
) -> Result<Vec<AppliedHunk>, git2::Error> {
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let diff = git2::Patch::from_buffers(theirs, None, merged, None, Some(&mut options))?;
    let mut changes = Vec::new();
    for index in 0..diff.num_hunks() {
        let (change, _) = diff.hunk(index)?;
        changes.push((
            change.old_start() as usize + change.old_lines() as usize,
            i64::from(change.new_lines()) - i64::from(change.old_lines()),
        ));
    }
    let mut changes = changes.into_iter().peekable();
    let mut offset = 0;
    let moved = hunks.iter().map(|hunk| {
        while let Some((_, more)) = changes.next_if(|&(end, _)| end <= hunk.line) {
            offset += more;
        }
        AppliedHunk {
            line: usize::try_from(hunk.line as i64 + offset).unwrap_or(1),
            offset: hunk.offset + offset,
            fuzz: hunk.fuzz,
            rung: hunk.rung.max(Rung::Merge),
        }
    });
    Ok(moved.collect())
}
