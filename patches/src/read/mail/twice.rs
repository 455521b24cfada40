//! A patch that a mail has in its text and attached as well.

use std::collections::HashSet;

use super::body::Body;
use super::flowed::{self, Flow};
use crate::FilePatch;
use crate::read::{ReadErrorKind, mend};

/// The file patches of a mail's parts.
#[derive(Default)]
pub(super) struct Seen {
    inline: Vec<FilePatch>,
    attached: Vec<FilePatch>,
}

impl Seen {
    /// Whether a part with a diff says again what is there already: once in the text and once
    /// attached, to the byte.
    ///
    /// # Errors
    /// Where the two differ and change one file: which of them is meant can't be told.
    pub(super) fn has(
        &mut self,
        part: &Body,
        flowed: Option<bool>,
        is_attached: bool,
    ) -> Result<bool, ReadErrorKind> {
        let files = files(part, flowed);
        let (own, other) = match is_attached {
            true => (&mut self.attached, &self.inline),
            false => (&mut self.inline, &self.attached),
        };
        if files.is_empty() || other.is_empty() {
            own.extend(files);
            return Ok(false);
        }
        if are_same(&files, other) {
            return Ok(true);
        }
        if change_one_file(&files, other) {
            return Err(ReadErrorKind::Mail(
                "its text and its attachment change one file, each in its own way; keep the one \
                 that is meant",
            ));
        }
        own.extend(files);
        Ok(false)
    }
}

/// The files of a part by itself; none where it can't be read so.
fn files(part: &Body, flowed: Option<bool>) -> Vec<FilePatch> {
    let read = |part: &Body| mend::parse(&part.bytes, 1).map(|read| read.files);
    let joined = flowed.map(|del_sp| read(&flowed::join(part, Flow { del_sp })));
    let unstuffed = || flowed.map(|_| read(&flowed::unstuff(part)));
    let ways = joined
        .into_iter()
        .chain(std::iter::once_with(unstuffed).flatten());
    let mut ways = ways.chain(std::iter::once_with(|| read(part)));
    ways.find_map(Result::ok).unwrap_or_default()
}

/// Line ends of the text may be those of the mail.
pub(in crate::read) fn are_same(one: &[FilePatch], other: &[FilePatch]) -> bool {
    let alike = |one: &FilePatch, other: &FilePatch| {
        one.hunks == other.hunks
            && *one
                == FilePatch {
                    carriage_returns: one.carriage_returns,
                    ..other.clone()
                }
    };
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
}

pub(in crate::read) fn change_one_file(one: &[FilePatch], other: &[FilePatch]) -> bool {
    let names: HashSet<&str> = one.iter().filter_map(name).collect();
    other
        .iter()
        .filter_map(name)
        .any(|name| names.contains(name))
}

fn name(file: &FilePatch) -> Option<&str> {
    let name = file.new.as_deref().or(file.old.as_deref())?;
    let rest = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    Some(rest.unwrap_or(name))
}
