//! A commit as a patch.

use git2::{
    Commit, Diff, DiffFindOptions, DiffOptions, Email, EmailCreateOptions, Oid, Repository,
    Signature,
};
use mail_parser::decoders::charsets::map::charset_decoder;

use super::ResolveError;
use crate::changed;
use crate::read::{ReadError, ReadErrorKind, read};
use crate::{Date, Header, MAX_PATCH_BYTES, Patch, Person, Trailers};

/// How much of a file must be left for git to call it renamed, in percent.
const SIMILAR: u16 = 50;

/// Digits of a hash that are shown to people.
const SHORT: usize = 12;

/// The patch that a commit with one parent is, with author, date, message, modes,
/// renames and binary files: what `git format-patch` writes of it, read again.
///
/// # Errors
/// [`ResolveError::NoPatch`] for a merge or a commit without a parent.
pub fn from_commit(repo: &Repository, commit: Oid) -> Result<Patch, ResolveError> {
    let commit = repo.find_commit(commit)?;
    let no_patch = |what| ResolveError::NoPatch {
        commit: commit.id(),
        what,
    };
    match commit.parent_count() {
        0 => return Err(no_patch("the first of its history")),
        1 => {}
        _ => return Err(no_patch("a merge")),
    }
    let diff = diff(repo, &commit)?;
    if diff.deltas().len() == 0 {
        return Err(no_patch("a commit that changes nothing"));
    }
    let name = commit.id().to_string()[..SHORT].to_owned();
    let unread = |error| ResolveError::Read {
        commit: commit.id(),
        error,
    };
    let text = text(repo, &name, &diff)?.map_err(unread)?;
    let reading = read(&name, &text).map_err(unread)?;
    let message = message(&commit);
    let mut patch = Patch {
        name,
        trailers: Trailers::of(&message),
        header: header(&commit, &message),
        mends: Vec::new(),
        files: Vec::new(),
        source: mail(&commit, &diff)?,
    };
    for part in reading.patches {
        patch.files.extend(part.files);
        patch.mends.extend(part.mends);
    }
    Ok(patch)
}

/// What a commit changes, whatever the user's git is set to show.
pub(super) fn diff<'r>(repo: &'r Repository, commit: &Commit) -> Result<Diff<'r>, git2::Error> {
    let (before, after) = (commit.parent(0)?.tree()?, commit.tree()?);
    let mut options = options();
    changed::narrow(&mut options, repo, &before, &after)?;
    let mut diff = repo.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options))?;
    if !changes_a_type(&diff) {
        diff.find_similar(Some(&mut as_git_finds()))?;
    }
    Ok(diff)
}

fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    // Whole ids, so that the file before the change is found in any repository.
    options.show_binary(true).context_lines(3).id_abbrev(40);
    options.interhunk_lines(0).old_prefix("a").new_prefix("b");
    options
}

fn as_git_finds() -> DiffFindOptions {
    let mut options = DiffFindOptions::new();
    options.renames(true).rename_threshold(SIMILAR);
    options
}

/// A file that becomes a link goes away and is made again under one name;
/// the half that goes away must not be taken for the source of a rename.
fn changes_a_type(diff: &Diff) -> bool {
    let paths = diff.deltas().map(|delta| delta.new_file().path_bytes());
    let paths: Vec<_> = paths.collect();
    paths.windows(2).any(|two| two[0] == two[1])
}

/// The diff as text, no longer than what is read.
fn text(
    repo: &Repository,
    name: &str,
    diff: &Diff,
) -> Result<Result<Vec<u8>, ReadError>, git2::Error> {
    let too_large = |bytes| {
        Ok(Err(ReadError {
            name: name.to_owned(),
            line: 1,
            kind: ReadErrorKind::TooLarge(bytes),
        }))
    };
    let odb = repo.odb()?;
    let mut text = Vec::new();
    for (index, delta) in diff.deltas().enumerate() {
        // A diff takes many times the memory of its files, and one that libgit2 has no memory
        // for can come out empty.
        for id in [delta.old_file().id(), delta.new_file().id()] {
            // No blob: on one side of what is made or removed, or a submodule.
            let bytes = odb.read_header(id).map_or(0, |(bytes, _)| bytes);
            if bytes > MAX_PATCH_BYTES {
                return too_large(bytes);
            }
        }
        if let Some(mut file) = git2::Patch::from_diff(diff, index)? {
            text.extend_from_slice(&file.to_buf()?);
        }
        if text.len() > MAX_PATCH_BYTES {
            return too_large(text.len());
        }
    }
    Ok(Ok(text))
}

/// The mail that `git format-patch` makes of it, for the record and for others.
fn mail(commit: &Commit, diff: &Diff) -> Result<Vec<u8>, git2::Error> {
    let summary = commit.summary_bytes().unwrap_or_default();
    let body = commit.body_bytes().unwrap_or_default();
    let mut options = EmailCreateOptions::new();
    let author = commit.author();
    let id = commit.id();
    let mail = Email::from_diff(diff, 1, 1, &id, summary, body, &author, &mut options)?;
    Ok(mail.as_slice().to_vec())
}

/// The message in UTF-8; bytes that are in no known character set are replaced.
pub(super) fn message(commit: &Commit) -> String {
    let bytes = commit.message_raw_bytes();
    let charset = commit.message_encoding().ok().flatten();
    match charset.and_then(|name| charset_decoder(name.as_bytes())) {
        Some(decode) => decode(bytes),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Author, date, and the message in two parts that [`Header::commit_message`]
/// puts together again: where the first paragraph has several lines, all of
/// them are the subject, as they are for git.
fn header(commit: &Commit, message: &str) -> Header {
    let author = commit.author();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let message = message.trim_end_matches('\n');
    let start = message.len() - message.trim_start_matches('\n').len();
    let (subject, rest) = match message[start..].find("\n\n") {
        Some(end) => (&message[..start + end], &message[start + end + 2..]),
        None => (message, ""),
    };
    Header {
        subject: subject.to_owned(),
        author: Some(Person {
            name: text(author.name_bytes()),
            email: text(author.email_bytes()),
        }),
        date: Some(date(&author)),
        message: rest.to_owned(),
    }
}

pub(super) fn date(signature: &Signature) -> Date {
    Date {
        seconds: signature.when().seconds(),
        offset_minutes: signature.when().offset_minutes(),
    }
}

/// The first paragraph on one line, which is what git calls the subject.
pub(super) fn subject(message: &str) -> String {
    let lines = message.lines().map(str::trim_end);
    let lines = lines.skip_while(|line| line.is_empty());
    let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    first.join(" ")
}
