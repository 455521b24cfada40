//! `patches = […]`: files beside the manifest, and commits of the tree.

use std::path::Path;

use toml::{Spanned, Table, Value};

use super::Source;
use crate::catalogue::{SeriesError, Step, steps};
use crate::history::Reference;
use crate::read::{LeftOut, read};

const PLAIN: &str = "expected the name of a file in the same folder";
const KINDS: &str =
    "expected `file`, `bundle`, or one or more of `commit`, `range`, `svn`, `review`, `subject`";

/// The steps, with the files they name read by `file`, and the mails left out of them.
pub(super) fn steps(
    source: &Source,
    entries: &[Spanned<Value>],
    file: impl Fn(&str) -> Result<Vec<u8>, SeriesError>,
) -> Result<(Vec<Step>, Vec<LeftOut>), SeriesError> {
    let mut steps = Vec::new();
    let mut left_out = Vec::new();
    for entry in entries {
        let content = |what: &str, name: &str| {
            file(name).map_err(|error| match error {
                SeriesError::Io { source: io, .. } => {
                    source.wrong(entry, &format!("the {what} `{name}` can't be read: {io}"))
                }
                other => other,
            })
        };
        match meaning(entry.get_ref()).map_err(|message| source.wrong(entry, &message))? {
            Meaning::File {
                name,
                strip,
                reverse,
            } => {
                let mut reading = read(name, &content("patch", name)?)?;
                steps::strip(&mut reading.patches, strip);
                if reverse {
                    reading.patches = steps::undone(&reading.patches)?;
                }
                steps.extend(reading.patches.into_iter().map(Step::from));
                left_out.extend(steps::without_alone(reading.left_out));
            }
            Meaning::Bundle(name) => {
                let bytes = content("bundle", name)?;
                let name = name.to_owned();
                steps.push(Step::Commits(vec![Reference::Bundle { name, bytes }]));
            }
            Meaning::Commits(references) => steps.push(Step::Commits(references)),
        }
    }
    Ok((steps, left_out))
}

enum Meaning<'a> {
    File {
        name: &'a str,
        strip: Option<usize>,
        reverse: bool,
    },
    Bundle(&'a str),
    Commits(Vec<Reference>),
}

fn meaning(entry: &Value) -> Result<Meaning<'_>, String> {
    let table = match entry {
        Value::String(name) => return file(name, None, false),
        Value::Table(table) => table,
        other => {
            return Err(format!(
                "expected the name of a patch file, or a table such as {{ commit = \"8cdef6cbcc73\" }}, found `{other}`"
            ));
        }
    };
    if let Some(name) = table.get("file") {
        return file_with_options(table, name);
    }
    if let Some(name) = table.get("bundle") {
        return match name.as_str() {
            Some(name) if is_plain(name) && table.len() == 1 => Ok(Meaning::Bundle(name)),
            Some(name) if is_plain(name) => Err("expected nothing beside `bundle`".to_owned()),
            _ => Err(PLAIN.to_owned()),
        };
    }
    if let Some(unknown) = table.keys().find(|key| !NAMES.contains(&key.as_str())) {
        return Err(format!("{KINDS}, found `{unknown}`"));
    }
    let named = NAMES
        .iter()
        .filter_map(|kind| Some((*kind, table.get(*kind)?)));
    let references: Vec<Reference> = named
        .map(|(kind, value)| reference(kind, value))
        .collect::<Result<_, _>>()?;
    match references.is_empty() {
        true => Err(KINDS.to_owned()),
        false => Ok(Meaning::Commits(references)),
    }
}

/// What may name commits, the surest first, which is the order in which they are tried.
const NAMES: [&str; 5] = ["commit", "range", "svn", "review", "subject"];

fn reference(kind: &str, value: &Value) -> Result<Reference, String> {
    let text = value.as_str().unwrap_or_default().to_owned();
    let (found, expected) = match kind {
        "commit" => (
            is_revision(&text).then_some(Reference::Commit(text)),
            COMMIT,
        ),
        "range" => (is_range(&text).then_some(Reference::Range(text)), RANGE),
        "svn" => (
            text.strip_prefix('r').and_then(number).map(Reference::Svn),
            SVN,
        ),
        "review" => (is_review(&text).then_some(Reference::Review(text)), REVIEW),
        _ => (is_line(&text).then_some(Reference::Subject(text)), SUBJECT),
    };
    found.ok_or_else(|| format!("`{kind}`: expected {expected}, found `{value}`"))
}

const COMMIT: &str =
    "a commit's hash in hexadecimal (7 digits at least), or the name of a tag or branch";
const RANGE: &str = "`from..to`, each a commit's hash, a tag or a branch";
const SUBJECT: &str = "the first line of a commit's message";
const REVIEW: &str = "a review such as \"D9586\"";
const SVN: &str = "a Subversion revision such as \"r313756\"";

fn file(name: &str, strip: Option<usize>, reverse: bool) -> Result<Meaning<'_>, String> {
    match is_plain(name) {
        true => Ok(Meaning::File {
            name,
            strip,
            reverse,
        }),
        false => Err(PLAIN.to_owned()),
    }
}

/// `{ file = "x.patch", strip = 0, reverse = true }`
fn file_with_options<'a>(table: &'a Table, name: &'a Value) -> Result<Meaning<'a>, String> {
    let (mut strip, mut reverse) = (None, false);
    for (key, value) in table {
        match (key.as_str(), value) {
            ("file", _) => {}
            ("strip", Value::Integer(count @ 0..=64)) => strip = usize::try_from(*count).ok(),
            ("reverse", Value::Boolean(on)) => reverse = *on,
            _ => {
                return Err(format!(
                    "expected `strip` (0 to 64) and `reverse` (true or false) beside `file`, \
                     found `{key} = {value}`"
                ));
            }
        }
    }
    file(name.as_str().unwrap_or_default(), strip, reverse)
}

fn is_plain(name: &str) -> bool {
    let path = Path::new(name);
    path.file_name() == Some(path.as_os_str()) && !name.contains(['/', '\\', '\0'])
}

/// A hash or a name that git would take, and nothing that it would compute from one.
fn is_revision(text: &str) -> bool {
    let is_hex = text.bytes().all(|b| b.is_ascii_hexdigit());
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    !text.is_empty()
        && text.len() <= 256
        && (!is_hex || (7..=64).contains(&text.len()))
        && !text.starts_with(['-', '/', '.'])
        && !text.contains("..")
        && text.chars().all(fits)
}

fn is_range(text: &str) -> bool {
    let ends = text.split_once("..");
    ends.is_some_and(|(from, to)| is_revision(from) && is_revision(to))
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}

fn is_review(text: &str) -> bool {
    text.strip_prefix('D').and_then(number).is_some()
}

fn number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}
