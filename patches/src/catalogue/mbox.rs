//! The line that opens a mail in an mbox.

use std::borrow::Cow;

use crate::read::is_mail;

/// What `git format-patch` writes there, without a commit's hash.
const LINE: &[u8] = b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n";

/// A mail as it stands in an mbox; anything else, and what has that line, as it is.
pub(super) fn opened(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.starts_with(b"From ") || !is_mail(bytes) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned([LINE, bytes.trim_ascii_start()].concat())
}

/// A mail without that line.
pub(super) fn bare(bytes: &[u8]) -> &[u8] {
    if !bytes.starts_with(b"From ") {
        return bytes;
    }
    let end = bytes.iter().position(|&b| b == b'\n');
    end.map_or(bytes, |end| &bytes[end + 1..])
}
