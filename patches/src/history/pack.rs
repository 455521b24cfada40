//! How much a pack holds, before it is unpacked: a few bytes of it can stand for gigabytes.

use std::io::Read;

use flate2::bufread::ZlibDecoder;
use flate2::{Decompress, FlushDecompress, Status};

/// The largest object that is unpacked, in bytes (256 MiB).
const MAX_OBJECT: u64 = 256 << 20;

/// The most that all objects together may have, in bytes (1 GiB).
const MAX_TOTAL: u64 = 1 << 30;

/// Bytes of the hash that ends a pack, and of those in it.
const HASH: usize = 20;

const DAMAGED: &str = "it is damaged or cut off";
const TOO_LARGE: &str = "it holds files of more than 256 MiB, or of more than 1 GiB together";

const COMMIT: u8 = 1;

/// The kinds of object that only say how they differ from another one.
const OFFSET_DELTA: u8 = 6;
const HASH_DELTA: u8 = 7;

/// Refuses a pack that is no whole one, or that would grow too large.
pub(super) fn check(pack: &[u8]) -> Result<(), &'static str> {
    let mut input = Input(pack);
    let head = input.take(12).ok_or(DAMAGED)?;
    let is_pack = head.starts_with(b"PACK") && matches!(head[4..8], [0, 0, 0, 2 | 3]);
    if !is_pack {
        return Err("it is no pack of git's");
    }
    let objects = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
    let mut total = 0;
    for _ in 0..objects {
        total += object(&mut input)?;
        if total > MAX_TOTAL {
            return Err(TOO_LARGE);
        }
    }
    match input.0.len() {
        HASH => Ok(()),
        _ => Err(DAMAGED),
    }
}

/// The largest commit that is read, and all of them together, in bytes.
const MAX_COMMIT: u64 = 1 << 20;
const MAX_COMMITS: u64 = 64 << 20;

/// The commits that stand whole in a pack, which [`check`] has taken; one that is stored as a
/// difference from another, as is rare, is not among them.
pub(super) fn commits(pack: &[u8]) -> Vec<Vec<u8>> {
    let mut input = Input(pack.get(12..).unwrap_or_default());
    let (mut commits, mut total) = (Vec::new(), 0);
    while input.0.len() > HASH && total < MAX_COMMITS {
        let mut ahead = Input(input.0);
        let head = ahead.object_head();
        if let Some((COMMIT, size)) = head.filter(|(_, size)| *size <= MAX_COMMIT) {
            let mut bytes = Vec::new();
            let read = ZlibDecoder::new(ahead.0).take(size).read_to_end(&mut bytes);
            commits.extend(read.is_ok().then_some(bytes));
            total += size;
        }
        if object(&mut input).is_err() {
            break;
        }
    }
    commits
}

/// The bytes of the next object, once unpacked.
fn object(input: &mut Input) -> Result<u64, &'static str> {
    let (kind, size) = input.object_head().ok_or(DAMAGED)?;
    match kind {
        OFFSET_DELTA => {
            input.number().ok_or(DAMAGED)?;
        }
        HASH_DELTA => {
            input.take(HASH).ok_or(DAMAGED)?;
        }
        _ => {}
    }
    if size > MAX_OBJECT {
        return Err(TOO_LARGE);
    }
    let start = input.inflate(size)?;
    if !matches!(kind, OFFSET_DELTA | HASH_DELTA) {
        return Ok(size);
    }
    // A delta starts with the size of what it is made from and of what it makes.
    let mut delta = Input(&start);
    let before = delta.number().ok_or(DAMAGED)?;
    let after = delta.number().ok_or(DAMAGED)?;
    if before.max(after) > MAX_OBJECT {
        return Err(TOO_LARGE);
    }
    Ok(size + after)
}

/// The bytes that are left.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The kind and the size of an object.
    fn object_head(&mut self) -> Option<(u8, u64)> {
        let first = self.take(1)?[0];
        let size = u64::from(first & 15);
        let more = match first & 0x80 {
            0 => 0,
            _ => self.number()?,
        };
        // No more than is refused in any case.
        Some(((first >> 4) & 7, size | more.min(u64::MAX >> 4) << 4))
    }

    /// A number in bytes of seven bits, the lowest first. Offsets are written in
    /// another order, but are as long.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..9 {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Skips what is compressed here and has this size unpacked; gives its start.
    fn inflate(&mut self, size: u64) -> Result<Vec<u8>, &'static str> {
        let mut inflater = Decompress::new(true);
        let mut buffer = vec![0; 1 << 16];
        let mut start = Vec::new();
        loop {
            let (read, written) = (inflater.total_in(), inflater.total_out());
            let status = inflater.decompress(self.0, &mut buffer, FlushDecompress::None);
            let status = status.map_err(|_| DAMAGED)?;
            let read = (inflater.total_in() - read) as usize;
            let written = (inflater.total_out() - written) as usize;
            self.take(read).ok_or(DAMAGED)?;
            if start.is_empty() {
                start.extend_from_slice(&buffer[..written.min(32)]);
            }
            match status {
                Status::StreamEnd if inflater.total_out() == size => return Ok(start),
                Status::Ok if inflater.total_out() <= size && read + written > 0 => {}
                _ => return Err(DAMAGED),
            }
        }
    }
}
