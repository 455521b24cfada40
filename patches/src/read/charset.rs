//! Character sets: a file in UTF-16 becomes UTF-8, and what stands in a mail
//! around the diff is decoded. The diff's own bytes are left alone, because
//! the tree's files may be in any set.

use std::borrow::Cow;

use mail_parser::decoders::charsets::map::charset_decoder;

use super::ReadErrorKind;
use crate::MendKind;

/// The file without a byte order mark and in UTF-8 where it was in UTF-16, as
/// PowerShell's `>` writes it; and what was done, where something was.
pub(super) fn without_mark(
    bytes: &[u8],
) -> Result<(Cow<'_, [u8]>, Option<MendKind>), ReadErrorKind> {
    let mark = Some(MendKind::ByteOrderMark);
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Ok((Cow::Borrowed(rest), mark));
    }
    let (rest, unit): (_, fn([u8; 2]) -> u16) = if let Some(rest) = bytes.strip_prefix(b"\xff\xfe")
    {
        (rest, u16::from_le_bytes)
    } else if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        (rest, u16::from_be_bytes)
    } else {
        return Ok((Cow::Borrowed(bytes), None));
    };
    let (pairs, odd) = rest.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(ReadErrorKind::Charset(
            "it begins as UTF-16 does and has an odd number of bytes",
        ));
    }
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|&two| unit(two))).collect();
    let text = text.map_err(|_| {
        ReadErrorKind::Charset("it begins as UTF-16 does and is damaged further down")
    })?;
    Ok((Cow::Owned(text.into_bytes()), mark))
}

/// Text in the set that a mail names, as UTF-8. As in git, text is taken for
/// UTF-8 if it is that and nothing else is said, and for Latin-1 otherwise.
pub(super) fn to_utf8(bytes: &[u8], named: Option<&str>) -> String {
    let named = named.map(str::trim).filter(|name| {
        let plain = ["us-ascii", "ascii", "utf-8", "utf8", "unknown-8bit"];
        !plain.iter().any(|set| set.eq_ignore_ascii_case(name))
    });
    let decoder = named.and_then(|name| charset_decoder(name.as_bytes()));
    match (decoder, std::str::from_utf8(bytes)) {
        (Some(decode), _) => decode(bytes),
        (None, Ok(text)) => text.to_owned(),
        (None, Err(_)) => match charset_decoder(b"iso-8859-1") {
            Some(decode) => decode(bytes),
            None => String::from_utf8_lossy(bytes).into_owned(),
        },
    }
}
