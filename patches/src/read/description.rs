//! What stands above a diff and is no description of it.

/// What `git format-patch --cover-letter` leaves to be filled in.
const UNFILLED: [&str; 2] = ["*** SUBJECT HERE ***", "*** BLURB HERE ***"];

/// A title, or nothing where it was never filled in.
pub(super) fn title(subject: String) -> String {
    if UNFILLED.contains(&subject.as_str()) {
        return String::new();
    }
    subject
}

/// A description without the writer's signature at its end and without what was
/// never filled in. git takes the blank off a line `-- ` of a commit, so that
/// such a line is no commit message's.
pub(super) fn without_signature(text: &str) -> String {
    let mut end = text.len();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end_matches(['\r', '\n']) == "-- " {
            end = at;
        }
        at += line.len();
    }
    let lines = text[..end].lines();
    let filled = lines.filter(|line| !UNFILLED.contains(&line.trim()));
    filled.collect::<Vec<_>>().join("\n").trim().to_owned()
}
