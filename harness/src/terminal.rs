//! What goes to a person's terminal: text of guests, patches and compilers is data, and must not
//! move the cursor or colour the screen.

use std::ffi::OsStr;

/// The text without control characters other than line ends and tabs.
pub fn plain(text: &str) -> String {
    let keep = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    text.chars().filter(keep).collect()
}

/// One line on standard error; where that is closed or full there is nobody to tell.
pub fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{line}");
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
    }

    #[test]
    fn a_shell_gets_the_same_words_back() {
        let line = shell_line(["ktrial", "it's", "a b", "", "$x", "fds=1,touch=0"]);
        assert_eq!(line, r"ktrial 'it'\''s' 'a b' '' '$x' fds=1,touch=0");
    }
}
