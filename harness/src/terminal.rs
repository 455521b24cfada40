//! What goes to a person's terminal: text of guests, patches and compilers is data, and must not
//! move the cursor or colour the screen.

use std::ffi::OsStr;

/// Longest text of a patch that is shown in one line, in characters.
const WIDTH: usize = 160;

/// The text without control characters other than line ends and tabs, and without marks that make
/// text show in another order than it is in.
pub fn plain(text: &str) -> String {
    let keep = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || reorders(*c));
    text.chars().filter(keep).collect()
}

fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first line of a text, cut where it is longer than a screen is wide: a subject may have
/// hundreds of kilobytes.
pub fn headline(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Widest line of a list, in characters.
const FOLD: usize = 100;

/// A line folded between its words where it is wider than 100 characters; what goes on stands
/// deeper than what it belongs to.
pub fn folded(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut text = line[..indent].to_owned();
    let (mut width, mut empty) = (indent, true);
    for word in line.split_whitespace() {
        // More than one blank, as between columns, stays.
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        let before = &line[..start];
        let blanks = before.len() - before.trim_end().len();
        let length = word.chars().count();
        if !empty && width + blanks + length > FOLD {
            width = indent + 4;
            text += &format!("\n{:width$}", "");
        } else if !empty {
            width += blanks;
            text += &" ".repeat(blanks);
        }
        text += word;
        width += length;
        empty = false;
    }
    text
}

/// A plain number with commas between thousands; what stands behind its point stays.
pub fn grouped(plain: &str) -> String {
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut shown = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown + rest
}

/// One line on standard error; where that is closed or full there is nobody to tell.
pub fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{}", plain(line));
}

/// Words as one line that a shell takes apart into the same words.
pub fn shell_line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let quoted = words.into_iter().map(|word| {
        let word = word.as_ref().to_string_lossy().into_owned();
        let safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
        if !word.is_empty() && word.chars().all(safe) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_taken_apart() {
        assert_eq!(plain("a\x1b[31mb\r\x07\n\tc"), "a[31mb\n\tc");
        // Trojan Source, CVE-2021-42574: what stands last is shown first.
        assert_eq!(plain("a\u{202e}b\u{2066}c\u{9b}1m"), "abc1m");
    }

    #[test]
    fn a_subject_is_shown_in_one_line_of_bounded_length() {
        assert_eq!(headline("kern: count\nagain"), "kern: count");
        assert_eq!(headline(&"ä".repeat(160)), "ä".repeat(160));
        assert_eq!(headline(&"ä".repeat(161)), "ä".repeat(160) + "…");
        assert_eq!(headline(""), "");
    }

    #[test]
    fn a_wide_line_is_folded_between_words_and_columns_stay() {
        assert_eq!(folded("  name      a title"), "  name      a title");
        let wide = format!("    needs {}", "word ".repeat(30).trim_end());
        let lines: Vec<String> = folded(&wide).lines().map(str::to_owned).collect();
        assert_eq!(lines[0].len(), 99);
        assert_eq!(
            lines[1],
            format!("        {}", "word ".repeat(12).trim_end())
        );
        assert_eq!(lines.len(), 2);
        // A word that is wider stands alone.
        let long = "x".repeat(120);
        assert_eq!(
            folded(&format!("a {long} b")),
            format!("a\n    {long}\n    b")
        );
    }

    #[test]
    fn a_shell_gets_the_same_words_back() {
        let line = shell_line(["ktrial", "it's", "a b", "", "$x", "fds=1,touch=0"]);
        assert_eq!(line, r"ktrial 'it'\''s' 'a b' '' '$x' fds=1,touch=0");
    }
}
