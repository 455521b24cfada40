//! A folder of patches that nothing describes.

use std::path::{Path, PathBuf};

use super::SeriesError;
use super::bounded::{read_bounded, too_large};
use crate::MAX_PATCH_BYTES;
use crate::read::{File, LeftOut, ReadErrorKind, Reading, Reason, is_mail, read, read_all};

/// What patches are saved as.
const PATCHES: [&str; 4] = ["patch", "diff", "eml", "mbox"];
/// What may be a patch, or a note beside them.
const TEXT: &str = "txt";

/// Reads all patches of a folder.
pub(super) fn read_folder(folder: &Path) -> Result<Reading, SeriesError> {
    let mut files = Vec::new();
    let mut left_out = Vec::new();
    let mut total = 0;
    for (path, is_text) in candidates(folder)? {
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let bytes = read_bounded(&path)?;
        if is_text && is_note(&name, &bytes) {
            left_out.push(LeftOut {
                subject: name.clone(),
                name,
                line: 1,
                why: Reason::NoDiff,
            });
            continue;
        }
        total += bytes.len();
        if total > MAX_PATCH_BYTES {
            return Err(too_large(&folder.display().to_string(), total));
        }
        files.push((name, bytes));
    }
    if files.is_empty() {
        let path = folder.to_owned();
        return Err(SeriesError::NoSeries { path });
    }
    let files: Vec<File> = files
        .iter()
        .map(|(name, bytes)| File { name, bytes })
        .collect();
    let mut reading = read_all(&files)?;
    reading.left_out.extend(left_out);
    Ok(reading)
}

/// The files that may hold patches, in the order of their names, and whether each
/// may just as well be a note.
fn candidates(folder: &Path) -> Result<Vec<(PathBuf, bool)>, SeriesError> {
    let io = |source| SeriesError::Io {
        path: folder.to_owned(),
        source,
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let extension = extension.to_ascii_lowercase();
        let is_text = extension == TEXT;
        if !name.starts_with('.') && (is_text || PATCHES.contains(&extension.as_str())) {
            let key = in_order(&name);
            found.push((key, path, is_text));
        }
    }
    found.sort();
    Ok(found
        .into_iter()
        .map(|(_, path, text)| (path, text))
        .collect())
}

/// A name taken apart so that `9-x` comes before `10-y`: text, and the number behind
/// it (its digits without leading zeros, shorter ones first), again and again.
fn in_order(name: &str) -> Vec<(String, usize, String)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digit = |c: char| c.is_ascii_digit();
        let text = rest.find(digit).unwrap_or(rest.len());
        let (text, after) = rest.split_at(text);
        let end = after.find(|c| !digit(c)).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        let number = number.trim_start_matches('0');
        key.push((text.to_owned(), number.len(), number.to_owned()));
        rest = after;
    }
    key
}

fn is_note(name: &str, bytes: &[u8]) -> bool {
    let reading = read(name, bytes);
    let is_nothing = |kind| matches!(kind, ReadErrorKind::NoDiff | ReadErrorKind::Empty);
    !is_mail(bytes) && reading.is_err_and(|error| is_nothing(error.kind))
}
