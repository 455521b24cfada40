//! A diff that reads is damaged as mailers and archives do it. It is then read to the same
//! hunks, or to others with a mend that says so, or refused; never to others in silence.
//!
//! The first byte picks the damage, the second its strength; the rest is the diff.
#![no_main]

use ktrial_patches::read::read;
use ktrial_patches::{Hunk, Patch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [kind, strength, diff @ ..] = bytes else { return };
    let Ok(whole) = read("f", diff) else { return };
    let [whole] = &whole.patches[..] else { return };
    if !whole.mends.is_empty() || !is_plain(diff) {
        return;
    }
    let Ok(text) = std::str::from_utf8(diff) else { return };
    // Blanks that end a line with text on it are lost for good; only an empty line shows its loss.
    let ends_in_blanks = |line: &str| line != " " && line.trim_end() != line;
    if kind % 4 == 1 && text.lines().any(ends_in_blanks) {
        return;
    }
    let damaged = damage(text, kind % 4, usize::from(*strength));
    let Ok(reading) = read("f", damaged.as_bytes()) else { return };
    let [mended] = &reading.patches[..] else {
        panic!("one patch has become {}", reading.patches.len());
    };
    if hunks(mended) != hunks(whole) {
        assert!(!mended.mends.is_empty(), "changed in silence:\n{text}\n---\n{damaged}");
    }
});

/// Text whose lines mean the same wherever they stand: no mail around it, no odd line ends.
fn is_plain(diff: &[u8]) -> bool {
    diff.starts_with(b"--- ") && !diff.contains(&b'\r') && !diff.contains(&0)
}

fn hunks(patch: &Patch) -> Vec<&Hunk> {
    patch.files.iter().flat_map(|file| &file.hunks).collect()
}

fn damage(text: &str, kind: u8, strength: usize) -> String {
    let lines = text.lines();
    match kind {
        0 => lines.map(|line| format!("> {line}\n")).collect(),
        1 => lines.map(|line| format!("{}\n", line.trim_end())).collect(),
        2 => {
            let width = 20 + strength % 60;
            lines.map(|line| wrapped(line, width)).collect()
        }
        _ => {
            let wrong = |line: &str| match line.starts_with("@@ -") {
                true => line.replacen(",", &format!(",{}", strength % 10), 1),
                false => line.to_owned(),
            };
            lines.map(|line| wrong(line) + "\n").collect()
        }
    }
}

fn wrapped(line: &str, width: usize) -> String {
    match line.char_indices().filter(|&(at, c)| c == ' ' && at > 4 && at < width).next_back() {
        Some((at, _)) if line.len() > width => format!("{}\n{}\n", &line[..at], &line[at + 1..]),
        _ => format!("{line}\n"),
    }
}
