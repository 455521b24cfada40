//! The processes of a system, by name.

use std::collections::BTreeMap;

use super::super::files::Files;

/// A process that is not ktrial's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    /// As the kernel keeps it: at most 15 bytes of the program's name.
    pub name: String,
}

/// All processes but the one that asks and those that it started; none if there is no list of them.
///
/// `/proc/PID/stat` is `PID (NAME) STATE PARENT …`, and a name may have brackets and blanks in it
/// (proc_pid_stat(5)).
pub(super) fn others(files: &Files) -> Option<Vec<Process>> {
    let mut all: BTreeMap<u32, (String, u32)> = BTreeMap::new();
    for name in files.names("proc") {
        if let Ok(id) = name.parse()
            && let Some(stat) = files.text(&format!("proc/{name}/stat"))
            && let Some((_, name, parent)) = parse(&stat)
        {
            all.insert(id, (name, parent));
        }
    }
    let own = files.text("proc/self/stat");
    let own = own.as_deref().and_then(parse).map(|(id, _, _)| id);
    let others = all.iter().filter(|(id, _)| !is_own(**id, own, &all));
    let others = others.map(|(_, (name, _))| Process { name: name.clone() });
    (!all.is_empty()).then(|| others.collect())
}

fn parse(stat: &str) -> Option<(u32, String, u32)> {
    let (head, tail) = stat.rsplit_once(')')?;
    let (id, name) = head.split_once('(')?;
    let parent = tail.split_ascii_whitespace().nth(1)?;
    Some((
        id.trim().parse().ok()?,
        name.to_owned(),
        parent.parse().ok()?,
    ))
}

/// Whether a process is the asking one or descends from it.
fn is_own(mut id: u32, own: Option<u32>, all: &BTreeMap<u32, (String, u32)>) -> bool {
    let Some(own) = own else { return false };
    // A snapshot that was torn while processes ended may have a circle in it.
    for _ in 0..all.len() {
        if id == own {
            return true;
        }
        match all.get(&id) {
            Some((_, parent)) => id = *parent,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// The form is that of proc_pid_stat(5); a program may call itself anything.
    #[test]
    fn a_name_with_brackets_in_it_is_read() {
        assert_eq!(
            parse("42 (a) b (c) S 7 42 42 0 -1"),
            Some((42, "a) b (c".into(), 7))
        );
        for broken in ["", "42", "42 (x", "42 (x) S", "x (y) S 1", "1 (y) S z"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let all = BTreeMap::from([(2, ("a".into(), 3)), (3, ("b".into(), 2))]);
        assert!(!is_own(2, Some(9), &all));
        assert!(is_own(2, Some(3), &all));
    }
}
