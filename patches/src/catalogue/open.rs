//! Series of one's own: folders, files and bytes.

use std::path::Path;

use super::bounded::{Files, read_bounded, too_large};
use super::{MANIFEST, Series, SeriesError, Step, folder, manifest, quilt};
use crate::MAX_PATCH_BYTES;
use crate::history::{Reference, is_bundle};
use crate::read::{Reading, read};

impl Series {
    /// A user's folder: with a `series.toml`; else with a quilt `series` file, in it or
    /// in its `patches/`; else with patches, which are read as one thread of mails where
    /// all of them are mails, and otherwise one by one in the order of their names
    /// (`9-x` before `10-y`).
    ///
    /// # Errors
    /// A file that can't be read, or what is wrong in one, with its line.
    pub fn open(folder: &Path) -> Result<Series, SeriesError> {
        let name = stem(folder.canonicalize().as_deref().unwrap_or(folder));
        if folder.join(MANIFEST).symlink_metadata().is_ok() {
            let shown = folder.display().to_string();
            let files = Files::of(folder);
            return manifest::load(&name, &shown, |file| files.read(&folder.join(file)));
        }
        for place in [folder.to_owned(), folder.join("patches")] {
            if place.join(quilt::SERIES).is_file() {
                return Ok(Series::bare(&name, quilt::read_folder(&place)?));
            }
        }
        Ok(Series::bare(&name, folder::read_folder(folder)?))
    }

    /// A patch file, mbox, plain diff or git bundle as a series: no expectations, and
    /// whatever workloads the user names.
    ///
    /// # Errors
    /// A file that can't be read, or is no patch.
    pub fn from_patch_file(path: &Path) -> Result<Series, SeriesError> {
        let bytes = read_bounded(path)?;
        let file = path.file_name().unwrap_or(path.as_os_str());
        Series::from_bytes(&file.to_string_lossy(), &bytes)
    }

    /// The same of bytes, from standard input for example; `name` stands for the file's.
    ///
    /// # Errors
    /// [`SeriesError::Patch`] if they are no patch.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Series, SeriesError> {
        let stem = stem(Path::new(name));
        if !is_bundle(bytes) {
            return Ok(Series::bare(&stem, read(name, bytes)?));
        }
        if bytes.len() > MAX_PATCH_BYTES {
            return Err(too_large(name, bytes.len()));
        }
        let bundle = Reference::Bundle {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        let nothing = Reading {
            patches: Vec::new(),
            cover: None,
            left_out: Vec::new(),
        };
        Ok(Series {
            title: format!("The commits of {name}"),
            steps: vec![Step::Commits(vec![bundle])],
            ..Series::bare(&stem, nothing)
        })
    }

    /// Patches without a description of them: what their mails say has to do.
    fn bare(name: &str, reading: Reading) -> Series {
        let Reading {
            patches,
            cover,
            left_out,
        } = reading;
        let first = patches.first();
        let only = first.filter(|_| patches.len() == 1);
        let header = cover.as_ref().or(first.map(|patch| &patch.header));
        let about = cover.as_ref().or(only.map(|patch| &patch.header));
        let made_on = patches.iter().find_map(|p| p.trailers.base_commit.as_ref());
        let subject = header.map(|header| header.subject.as_str());
        Series {
            name: name.to_owned(),
            title: subject.filter(|s| !s.is_empty()).unwrap_or(name).to_owned(),
            description: about.map_or_else(String::new, |header| header.message.clone()),
            system: None,
            applies_to: None,
            source: None,
            licence: None,
            needs: made_on.map(|commit| format!("made on commit {commit}")),
            steps: patches.into_iter().map(Step::from).collect(),
            reverse: false,
            aa: false,
            claims: Vec::new(),
            left_out,
            workloads: Vec::new(),
            variants: Vec::new(),
            expectations: Vec::new(),
        }
    }
}

fn stem(path: &Path) -> String {
    let name = if path.is_dir() {
        path.file_name()
    } else {
        path.file_stem()
    };
    name.unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
