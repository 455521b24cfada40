//! File names as diffs write them.

use super::ReadErrorKind;

/// A name as it stands on a `---`, `+++`, `rename` or `diff` line: quoted like
/// a C string where git found it needful, or ending at a tab, after which old
/// diffs put a date.
pub(super) fn parse(field: &[u8]) -> Result<String, ReadErrorKind> {
    let name = if field.starts_with(b"\"") {
        unquote(field)?.0
    } else {
        let end = field.iter().position(|&b| b == b'\t');
        field[..end.unwrap_or(field.len())]
            .trim_ascii_end()
            .to_vec()
    };
    text(name)
}

/// The two names of `diff --git <old> <new>`, still unread where they are not
/// quoted, as blanks in names make them ambiguous.
pub(super) fn parse_pair(field: &[u8]) -> Result<Option<(String, String)>, ReadErrorKind> {
    if field.starts_with(b"\"") {
        let (old, rest) = unquote(field)?;
        return Ok(Some((text(old)?, parse(rest.trim_ascii_start())?)));
    }
    if field.ends_with(b"\"") {
        let Some(at) = field.windows(2).position(|two| two == b" \"") else {
            return Err(ReadErrorKind::BadPath("a quotation mark is missing"));
        };
        return Ok(Some((parse(&field[..at])?, parse(&field[at + 1..])?)));
    }
    // Without a rename both halves name one file: `a/x y b/x y`.
    let half = field.len() / 2;
    if field.len() % 2 == 1 && field[half] == b' ' {
        let (old, new) = (&field[..half], &field[half + 1..]);
        let rest = |name: &[u8]| {
            name.iter()
                .position(|&b| b == b'/')
                .map(|at| name[at..].to_vec())
        };
        if old == new || (rest(old).is_some() && rest(old) == rest(new)) {
            return Ok(Some((text(old.to_vec())?, text(new.to_vec())?)));
        }
    }
    Ok(None)
}

fn text(name: Vec<u8>) -> Result<String, ReadErrorKind> {
    if name.is_empty() {
        return Err(ReadErrorKind::BadPath("it is empty"));
    }
    String::from_utf8(name).map_err(|_| ReadErrorKind::BadPath("it is not UTF-8"))
}

/// Undoes git's C quoting; returns the name and what follows the closing mark.
fn unquote(field: &[u8]) -> Result<(Vec<u8>, &[u8]), ReadErrorKind> {
    const UNCLOSED: ReadErrorKind = ReadErrorKind::BadPath("a quotation mark is missing");
    const ESCAPE: ReadErrorKind = ReadErrorKind::BadPath("an unknown escape in quotation marks");
    let mut name = Vec::new();
    let mut rest = field.get(1..).ok_or(UNCLOSED)?;
    loop {
        let (&byte, after) = rest.split_first().ok_or(UNCLOSED)?;
        rest = after;
        match byte {
            b'"' => return Ok((name, rest)),
            b'\\' => {
                let (&escape, after) = rest.split_first().ok_or(UNCLOSED)?;
                rest = after;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let low = rest.get(..2).ok_or(UNCLOSED)?;
                        if !low.iter().all(|b| (b'0'..=b'7').contains(b)) {
                            return Err(ESCAPE);
                        }
                        rest = &rest[2..];
                        (escape - b'0') * 64 + (low[0] - b'0') * 8 + (low[1] - b'0')
                    }
                    _ => return Err(ESCAPE),
                });
            }
            byte => name.push(byte),
        }
    }
}
