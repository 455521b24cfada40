//! A folder of patches that nothing describes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::SeriesError;
use super::bounded::{read_bounded, too_large};
use crate::MAX_PATCH_BYTES;
use crate::read::{
    LeftOut, ReadError, ReadErrorKind, Reading, Reason, is_mail, read, with_mbox_line,
    without_mbox_line,
};

/// What patches are saved as.
const PATCHES: [&str; 4] = ["patch", "diff", "eml", "mbox"];
/// What may be a patch, or a note beside them.
const TEXT: &str = "txt";

/// One file of the folder.
struct File {
    name: String,
    bytes: Vec<u8>,
}

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
                subject: name,
                line: 0,
                why: Reason::NoDiff,
            });
            continue;
        }
        total += bytes.len();
        if total > MAX_PATCH_BYTES {
            return Err(too_large(&folder.display().to_string(), total));
        }
        files.push(File { name, bytes });
    }
    let mut reading = match files.iter().all(|file| is_mail(&file.bytes)) {
        true if files.is_empty() => {
            let path = folder.to_owned();
            return Err(SeriesError::NoSeries { path });
        }
        true => read_thread(folder, &files)?,
        false => read_each(&files)?,
    };
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

/// Files of which some are no mails: each by itself.
fn read_each(files: &[File]) -> Result<Reading, SeriesError> {
    let mut all = Reading {
        patches: Vec::new(),
        cover: None,
        left_out: Vec::new(),
    };
    for file in files {
        let one = read(&file.name, &file.bytes)?;
        all.patches.extend(one.patches);
        all.left_out.extend(one.left_out);
        all.cover = all.cover.or(one.cover);
    }
    Ok(all)
}

/// Mails: one thread, so that they are put in order and what is no part of the
/// series is left out.
fn read_thread(folder: &Path, files: &[File]) -> Result<Reading, SeriesError> {
    let mut mbox = Vec::new();
    // The line of the mbox at which each file starts, from 1.
    let mut starts = Vec::new();
    let mut line = 1;
    for file in files {
        let before = mbox.len();
        starts.push(line);
        mbox.extend_from_slice(&with_mbox_line(&file.bytes));
        if !mbox.ends_with(b"\n") {
            mbox.push(b'\n');
        }
        mbox.push(b'\n');
        line += mbox[before..].iter().filter(|&&b| b == b'\n').count();
    }
    let shown = folder.display().to_string();
    let mut reading = read(&shown, &mbox).map_err(|error| located(error, files, &starts))?;
    // Lines of a file that no one has.
    for mail in &mut reading.left_out {
        mail.line = 0;
    }
    let known = files.iter().map(|file| {
        let mail = without_mbox_line(&file.bytes).trim_ascii();
        (mail, file)
    });
    let known: HashMap<&[u8], &File> = known.collect();
    for patch in &mut reading.patches {
        let mail = without_mbox_line(&patch.source).trim_ascii();
        if let Some(file) = known.get(mail) {
            patch.name = file.name.clone();
            patch.source = without_mbox_line(&file.bytes).to_vec();
        }
    }
    Ok(reading)
}

/// The fault of a thread with the file and line that it is on, where it is one
/// file's and not the thread's.
fn located(error: ReadError, files: &[File], starts: &[usize]) -> ReadError {
    let own = files
        .iter()
        .filter_map(|file| read(&file.name, &file.bytes).err());
    // What it says of lines may differ, as a blank line follows each file here.
    let kind = std::mem::discriminant(&error.kind);
    let mut own = own.filter(|found| std::mem::discriminant(&found.kind) == kind);
    own.next()
        .unwrap_or_else(|| without_lines(error, files, starts))
}

/// The fault of a thread with the names of files for lines of the mbox made of them.
fn without_lines(error: ReadError, files: &[File], starts: &[usize]) -> ReadError {
    let file = |line: usize| {
        let index = starts.partition_point(|start| *start <= line);
        let file = files.get(index.saturating_sub(1));
        file.map_or("", |file| file.name.as_str())
    };
    let ReadErrorKind::Thread(thread) = &error.kind else {
        return ReadError { line: 0, ..error };
    };
    let kind = match thread.other() {
        Some(line) => {
            let text = thread.to_string();
            let text = text.replace(&format!("at line {line}"), &format!("in {}", file(line)));
            ReadErrorKind::Folder(text.replace("here", &format!("in {}", file(error.line))))
        }
        None => error.kind,
    };
    ReadError {
        line: 0,
        kind,
        ..error
    }
}
