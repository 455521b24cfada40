//! A folder of patches in the form of quilt: a file `series` with one patch a line.

use std::path::{Component, Path};

use super::SeriesError;
use super::bounded::Files;
use super::steps::{strip, undone, without_alone};
use crate::Patch;
use crate::read::{Reading, read};

/// The file that lists the patches.
pub(super) const SERIES: &str = "series";

/// More components than this no path has.
const MAX_STRIP: usize = 64;

/// A line of the file.
#[derive(Default)]
struct Entry<'a> {
    name: &'a str,
    strip: Option<usize>,
    reverse: bool,
}

/// Reads the patches that the `series` file of a folder lists. They stand beside it,
/// or in `patches/` beside it.
pub(super) fn read_folder(folder: &Path) -> Result<Reading, SeriesError> {
    let path = folder.join(SERIES);
    let files = Files::of(folder);
    let bytes = files.read(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut all = Reading {
        patches: Vec::new(),
        cover: None,
        left_out: Vec::new(),
    };
    for (index, line) in text.lines().enumerate() {
        let wrong = |message: String| SeriesError::Manifest {
            file: path.display().to_string(),
            line: index + 1,
            message,
        };
        let Some(entry) = entry(line).map_err(wrong)? else {
            continue;
        };
        let bytes = content(&files, folder, entry.name).map_err(|error| match error {
            SeriesError::Io { source, .. } => wrong(format!(
                "the patch `{}` can't be read: {source}",
                entry.name
            )),
            other => other,
        })?;
        let one = read(entry.name, &bytes)?;
        all.patches.extend(entry.in_order(one.patches)?);
        all.left_out.extend(without_alone(one.left_out));
    }
    if all.patches.is_empty() {
        let path = folder.to_owned();
        return Err(SeriesError::NoSeries { path });
    }
    Ok(all)
}

fn content(files: &Files, folder: &Path, name: &str) -> Result<Vec<u8>, SeriesError> {
    let beside = folder.join(name);
    match beside.exists() {
        true => files.read(&beside),
        false => files.read(&folder.join("patches").join(name)),
    }
}

impl Entry<'_> {
    /// The patches as the line's options say.
    fn in_order(&self, mut patches: Vec<Patch>) -> Result<Vec<Patch>, SeriesError> {
        strip(&mut patches, self.strip);
        match self.reverse {
            true => Ok(undone(&patches)?),
            false => Ok(patches),
        }
    }
}

/// What a line says; `None` for a blank line and a comment.
fn entry(line: &str) -> Result<Option<Entry<'_>>, String> {
    let mut words = line.split_whitespace();
    let mut entry = Entry::default();
    match words.next() {
        None => return Ok(None),
        Some(word) if word.starts_with('#') => return Ok(None),
        Some(word) => entry.name = word,
    }
    if entry.name.starts_with(['+', '-']) {
        return Err(guarded(entry.name));
    }
    if !is_inside(entry.name) {
        return Err(format!(
            "expected the name of a file in this folder, found `{}`",
            entry.name
        ));
    }
    for word in words {
        match word {
            guard if guard.starts_with("#+") || guard.starts_with("#-") => {
                return Err(guarded(guard));
            }
            comment if comment.starts_with('#') => break,
            "-R" => entry.reverse = true,
            option => match level(option) {
                Some(level) => entry.strip = Some(level),
                None => {
                    return Err(format!(
                        "expected `-p0`, `-p1` … or `-R` after the name of a patch, found `{option}`"
                    ));
                }
            },
        }
    }
    Ok(Some(entry))
}

fn guarded(guard: &str) -> String {
    format!(
        "`{guard}` is a guard, and which guards hold is not known here: \
         write a `series` file of the patches that are wanted"
    )
}

/// `-p2`; quilt's own `-pab` stands for `-p1`.
fn level(option: &str) -> Option<usize> {
    match option.strip_prefix("-p")? {
        "ab" => Some(1),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok().filter(|level| *level <= MAX_STRIP)
        }
        _ => None,
    }
}

/// Quilt lets patches stand in folders below; none may stand elsewhere.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let plain = |part| matches!(part, Component::Normal(_));
    !name.contains('\0') && parts.all(plain)
}
