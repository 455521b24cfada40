//! A folder of a series made of what people have: a mail, an mbox, a folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ktrial_patches::catalogue::import::{ImportError, write};
use ktrial_patches::catalogue::{Series, System};

use super::open::STANDARD_INPUT;
use super::refusal;
use crate::fault::{At, Fault, Result};

/// What the user says beside the source.
pub struct Importing<'a> {
    /// Its name; the source's own if none.
    pub name: Option<&'a str>,
    /// The folder to make; one of the series' name here if none.
    pub to: Option<&'a Path>,
    /// The system of its tree, where the source does not say.
    pub system: Option<System>,
}

/// What was made.
#[derive(Debug)]
pub struct Imported {
    /// The folder.
    pub folder: PathBuf,
    /// The series, read again from there.
    pub series: Series,
}

/// Writes a series to a new folder, and reads it from there again.
///
/// # Errors
/// A user fault if the name is none or the folder is there already; a patch fault if a patch can't
/// be kept; a host fault if the folder can't be written.
pub fn import(mut series: Series, wanted: &Importing) -> Result<Imported> {
    if series.title == STANDARD_INPUT
        && let Some(title) = titled_by_file(&series)
    {
        series.title = title;
    }
    series.name = match wanted.name {
        Some(name) if is_name(name) => name.to_owned(),
        Some(name) => {
            return Err(Fault::user(format!("`{name}` is no name for a series"))
                .next("a name has letters, digits, `-` and `_`, 64 at most"));
        }
        None if is_name(&series.name) && series.name != STANDARD_INPUT => series.name,
        None => named_after(&series.title),
    };
    series.system = wanted.system.or(series.system);
    let folder = match wanted.to {
        Some(folder) => folder.to_owned(),
        None => PathBuf::from(&series.name),
    };
    let parent = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty());
    if let Some(above) = parent.filter(|above| !above.is_dir()) {
        return Err(
            Fault::user(format!("there is no folder {}", above.display()))
                .next("make it first, or give --to one in a folder that is there"),
        );
    }
    let written = write(&series, &folder);
    let series = written.map_err(|error| refused(&series.name, error))?;
    Ok(Imported { folder, series })
}

fn refused(name: &str, error: ImportError) -> Fault {
    let text = error.to_string();
    match error {
        ImportError::Exists { path } => Fault::user(format!("{} is there already", path.display()))
            .next("give --to another folder, or --name another name"),
        ImportError::Unreadable(error) => refusal::of_series(name, error),
        ImportError::Differs { .. } | ImportError::Changes { .. } => Fault::new(At::Patch, text),
        ImportError::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                Fault::user(text).next("give --to a path in a folder that is there")
            }
            _ => Fault::host(text).next("give --to a path on a disk with room, yours to write"),
        },
        ImportError::Manifest(_) => Fault::host(text),
    }
}

/// The title of a bare diff that came without a name: `Changes kern_exec.c`.
fn titled_by_file(series: &Series) -> Option<String> {
    let file = series.own_patches().next()?.files.first()?;
    let path = file.new.as_deref().or(file.old.as_deref())?;
    let name = Path::new(path).file_name()?.to_str()?;
    Some(format!("Changes {name}"))
}

fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    !name.is_empty() && !name.starts_with('-') && name.len() <= 64 && name.bytes().all(fits)
}

/// A name of the words of a subject: `kern: count again` is `kern-count-again`.
fn named_after(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    let mut name = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        if name.len() + word.len() >= 48 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&word.to_ascii_lowercase());
    }
    match name.is_empty() {
        true => "series".to_owned(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_without_a_name_is_called_after_its_subject() {
        assert_eq!(named_after("kern: count again"), "kern-count-again");
        assert_eq!(named_after("…"), "series");
        assert!(is_name(&named_after(&"long ".repeat(100))));
        assert!(!is_name("../x") && !is_name("-x") && !is_name(""));
    }
}
