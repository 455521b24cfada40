//! Binary files: git's sections decoded, and checked against the file they
//! were made from. What a patch states of sizes is never allocated unseen.

use std::cell::Cell;
use std::io::Read;

use flate2::read::ZlibDecoder;
use git2::{ObjectType, Oid};

use crate::{BinaryChange, Change, FilePatch};

/// The largest file made, in bytes, and the most that one series may make.
const MAX_BYTES: usize = 64 << 20;
const MAX_SERIES_BYTES: usize = 512 << 20;

/// The alphabet of git's base 85.
const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Why there is no new content.
pub(super) enum Refusal {
    /// The file is as the patch makes it.
    AlreadyApplied,
    /// What is wrong with the patch or the file.
    Wrong(&'static str),
}

const CORRUPT: Refusal = Refusal::Wrong("its lines are corrupt");
const TOO_LARGE: Refusal = Refusal::Wrong("it makes more than 64 MiB");

/// What has been made of binary patches so far, in bytes.
#[derive(Default)]
pub(super) struct Made(Cell<usize>);

/// The content that `old`, empty for a file that is made, becomes.
pub(super) fn content(
    made: &Made,
    file: &FilePatch,
    change: &BinaryChange,
    old: &[u8],
) -> Result<Vec<u8>, Refusal> {
    if is_blob(old, &file.old_blob) == Some(false) {
        return Err(match is_blob(old, &file.new_blob) {
            Some(true) => Refusal::AlreadyApplied,
            _ => Refusal::Wrong("the tree's file is not the one that it was made from"),
        });
    }
    let new = section(made, &change.forward, old)?;
    if is_blob(&new, &file.new_blob) == Some(false) {
        return Err(Refusal::Wrong(
            "it does not make the file that its index line names",
        ));
    }
    if let Some(reverse) = &change.reverse
        && section(made, reverse, &new)? != old
    {
        return Err(Refusal::Wrong(
            "its second part does not make the tree's file again",
        ));
    }
    // Deltas copy what they do not change: that both parts fit proves nothing.
    let starts = |section: &[u8], kind: &[u8]| section.starts_with(kind);
    let certain = file.change == Change::Create
        || file.old_blob.is_some()
        || (file.new_blob.is_some() && starts(&change.forward, b"delta "))
        || change
            .reverse
            .as_ref()
            .is_some_and(|reverse| starts(reverse, b"literal "));
    match certain {
        true => Ok(new),
        false => Err(Refusal::Wrong(
            "it does not say from which file it was made; make it with `git diff --binary`",
        )),
    }
}

/// Whether the content is the blob that the patch names, where it names one.
fn is_blob(content: &[u8], named: &Option<String>) -> Option<bool> {
    let named = named.as_ref()?.to_ascii_lowercase();
    let id = Oid::hash_object(ObjectType::Blob, content).ok()?;
    Some(id.to_string().starts_with(&named))
}

/// What one section makes of the file on its other side.
fn section(made: &Made, section: &[u8], other: &[u8]) -> Result<Vec<u8>, Refusal> {
    let end = section.iter().position(|&b| b == b'\n').ok_or(CORRUPT)?;
    let (head, lines) = section.split_at(end);
    let head = std::str::from_utf8(head).map_err(|_| CORRUPT)?;
    let (kind, size) = head.split_once(' ').ok_or(CORRUPT)?;
    let size: usize = size.trim().parse().map_err(|_| CORRUPT)?;
    let data = inflated(made, &base85(lines)?, size)?;
    match kind {
        "literal" => Ok(data),
        "delta" => with_delta(made, &data, other),
        _ => Err(CORRUPT),
    }
}

impl Made {
    fn add(&self, bytes: usize) -> Result<(), Refusal> {
        if bytes > MAX_BYTES {
            return Err(TOO_LARGE);
        }
        let all = self.0.get() + bytes;
        self.0.set(all);
        match all > MAX_SERIES_BYTES {
            true => Err(Refusal::Wrong(
                "the series makes more than 512 MiB of binary files",
            )),
            false => Ok(()),
        }
    }
}

fn inflated(made: &Made, data: &[u8], size: usize) -> Result<Vec<u8>, Refusal> {
    made.add(size)?;
    let mut out = Vec::new();
    let mut bounded = ZlibDecoder::new(data).take(size as u64 + 1);
    bounded.read_to_end(&mut out).map_err(|_| CORRUPT)?;
    match out.len() == size {
        true => Ok(out),
        false => Err(Refusal::Wrong("its size is not the one it states")),
    }
}

/// Lines of git's base 85: a letter for the number of bytes, then five
/// characters for each four of them.
fn base85(lines: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut values = [None; 256];
    for (value, &letter) in ALPHABET.iter().enumerate() {
        values[usize::from(letter)] = Some(value as u32);
    }
    let mut out = Vec::with_capacity(lines.len());
    for line in lines.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
        let length = match line[0] {
            letter @ b'A'..=b'Z' => usize::from(letter - b'A') + 1,
            letter @ b'a'..=b'z' => usize::from(letter - b'a') + 27,
            _ => return Err(CORRUPT),
        };
        let from = out.len();
        for five in line[1..].chunks(5) {
            let mut word: u32 = 0;
            for &letter in five {
                let value = values[usize::from(letter)].ok_or(CORRUPT)?;
                let shifted = word
                    .checked_mul(85)
                    .and_then(|word| word.checked_add(value));
                word = shifted.ok_or(CORRUPT)?;
            }
            out.extend_from_slice(&word.to_be_bytes());
        }
        let whole = line.len() % 5 == 1;
        if !whole || out.len() - from != length.div_ceil(4) * 4 {
            return Err(CORRUPT);
        }
        out.truncate(from + length);
    }
    Ok(out)
}

/// Git's delta: two sizes, then runs copied from `base` or given.
fn with_delta(made: &Made, delta: &[u8], base: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut delta = delta.iter().copied();
    let base_size = size(&mut delta)?;
    let new_size = size(&mut delta)?;
    if base_size != base.len() {
        return Err(Refusal::Wrong(
            "the tree's file is not of the size that it was made from",
        ));
    }
    made.add(new_size)?;
    let mut out = Vec::new();
    while let Some(command) = delta.next() {
        if command & 0x80 != 0 {
            let mut number = |bits: u8, bytes: u8| {
                let mut number = 0;
                for byte in 0..bytes {
                    if bits & (1 << byte) != 0 {
                        number |= usize::from(delta.next()?) << (8 * byte);
                    }
                }
                Some(number)
            };
            let from = number(command & 0x0f, 4).ok_or(CORRUPT)?;
            let length = number((command >> 4) & 0x07, 3).ok_or(CORRUPT)?;
            let length = if length == 0 { 0x10000 } else { length };
            let end = from.checked_add(length).ok_or(CORRUPT)?;
            out.extend_from_slice(base.get(from..end).ok_or(CORRUPT)?);
        } else if command > 0 {
            let length = usize::from(command);
            let before = out.len();
            out.extend(delta.by_ref().take(length));
            if out.len() != before + length {
                return Err(CORRUPT);
            }
        } else {
            return Err(CORRUPT);
        }
        if out.len() > new_size {
            return Err(CORRUPT);
        }
    }
    match out.len() == new_size {
        true => Ok(out),
        false => Err(CORRUPT),
    }
}

/// Seven bits a byte, the lowest first.
fn size(bytes: &mut impl Iterator<Item = u8>) -> Result<usize, Refusal> {
    let mut size = 0;
    for shift in (0..63).step_by(7) {
        let byte = bytes.next().ok_or(CORRUPT)?;
        size |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(size);
        }
    }
    Err(CORRUPT)
}
