//! File names as diffs write them.

mod date;

use super::ReadErrorKind;

/// The longest name taken, in bytes: Linux's `PATH_MAX`.
const MAX_NAME: usize = 4096;

/// A name as it stands on a line of git's, `---`, `rename` or `diff`: quoted
/// like a C string where git found it needful, or ending at a tab.
pub(super) fn parse(field: &[u8]) -> Result<String, ReadErrorKind> {
    if field.starts_with(b"\"") {
        return text(unquote(field)?.0);
    }
    let end = field.iter().position(|&b| b == b'\t');
    let name = field[..end.unwrap_or(field.len())].trim_ascii_end();
    text(name.to_vec())
}

/// A name as it stands on the `---` and `+++` lines of a plain diff, and what
/// follows it: a date or a revision, after a tab or, where tabs were lost,
/// after blanks.
pub(super) fn parse_dated(field: &[u8]) -> Result<(String, &[u8]), ReadErrorKind> {
    if field.starts_with(b"\"") {
        let (name, rest) = unquote(field)?;
        return Ok((text(name)?, rest));
    }
    let tab = field.iter().position(|&b| b == b'\t');
    // CVS puts a tab before the revision as well, which may be the only one left.
    let only_revision = tab.is_none_or(|tab| is_revision(field[tab..].trim_ascii()));
    let before = &field[..tab.unwrap_or(field.len())];
    let date = date::start(before).filter(|_| only_revision);
    let end = date.unwrap_or(before.len());
    let (name, rest) = field.split_at(end);
    let name = without_revision(name.trim_ascii_end());
    Ok((text(name.to_vec())?, rest))
}

/// `cvs rdiff` puts the revision behind the name: `src/sys/x.c:1.39`.
fn without_revision(name: &[u8]) -> &[u8] {
    let Some(colon) = name.iter().rposition(|&b| b == b':') else {
        return name;
    };
    match is_revision(&name[colon + 1..]) {
        true => &name[..colon],
        false => name,
    }
}

/// `1.39` and `1.39.2.1` of CVS, `(r313755)` of Subversion's mails.
fn is_revision(word: &[u8]) -> bool {
    let mut numbers = word.split(|&b| b == b'.');
    let is_number = |number: &[u8]| !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    match word {
        [b'(', b'r', number @ .., b')'] => is_number(number),
        _ => word.contains(&b'.') && numbers.all(is_number),
    }
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
    if name.len() > MAX_NAME {
        return Err(ReadErrorKind::BadPath("it is longer than 4096 bytes"));
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
