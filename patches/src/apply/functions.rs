//! The lines that name the functions of a file, as `diff -p` and git see them.

/// For each line, and for the end, the last line above it that names a function.
pub(super) fn functions(lines: &[&[u8]]) -> Vec<Option<u32>> {
    let mut last = None;
    let mut above = vec![None];
    for (index, line) in lines.iter().enumerate() {
        last = if names_function(line) {
            u32::try_from(index).ok()
        } else {
            last
        };
        above.push(last);
    }
    above
}

/// Whether `diff -p` and git would name a hunk below by this line.
pub(super) fn names_function(line: &[u8]) -> bool {
    let first = line.first();
    first.is_some_and(|&b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$'))
}

/// A line with its blanks made one each.
pub(super) fn words(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
