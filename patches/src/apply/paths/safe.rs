//! Names that could lead out of the tree or into git's own files, as git's
//! `verify_path` and `fsck` know them.

/// What is wrong with a name wherever it leads, before anything is stripped.
pub(super) fn never(path: &str) -> Option<&'static str> {
    if path.chars().any(char::is_control) {
        return Some("it has a control character in it");
    }
    // NTFS parts components at either slash.
    let leads_to_git = path.split(['/', '\\']).any(is_git_folder);
    leads_to_git.then_some("it leads into git's own folder")
}

/// What is wrong with a path in the tree.
pub(super) fn unsafe_because(path: &str) -> Option<&'static str> {
    if path.starts_with('/') {
        return Some("it is absolute");
    }
    let wrong = path.split('/').find_map(|component| match component {
        "" => Some("it has an empty component"),
        "." | ".." => Some("it has a `.` or `..` in it"),
        _ => None,
    });
    wrong.or_else(|| never(path))
}

/// What is wrong with a symbolic link of this path and target: it may point
/// about inside the tree, not out of it, and may not stand for git's settings.
pub(super) fn link_unsafe_because(path: &str, target: &[u8]) -> Option<&'static str> {
    if path.split(['/', '\\']).any(is_git_modules) {
        return Some("it becomes a symbolic link that git reads settings through");
    }
    let target = String::from_utf8_lossy(target);
    let components = || target.split('/').filter(|name| !matches!(*name, "" | "."));
    if target.split(['/', '\\']).any(is_git_folder) {
        return Some("it becomes a symbolic link into git's own folder");
    }
    let above = components().take_while(|name| *name == "..").count();
    if target.starts_with('/') || above > path.matches('/').count() {
        return Some("it becomes a symbolic link that points out of the tree");
    }
    // What a name leads to may be a link itself, so that `name/..` is anywhere.
    components()
        .skip(above)
        .any(|name| name == "..")
        .then_some("it becomes a symbolic link with a `..` behind a name")
}

/// `.git`, and the spellings that some file system takes for it.
fn is_git_folder(name: &str) -> bool {
    let plain = as_file_systems_see(name);
    plain == ".git" || plain == "git~1"
}

/// `.gitmodules`, and the short names that NTFS may give it.
fn is_git_modules(name: &str) -> bool {
    let plain = as_file_systems_see(name);
    let Some((short, number)) = plain.split_once('~') else {
        return plain == ".gitmodules";
    };
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    // NTFS falls back to a hash of the name where the plain numbers are taken.
    is_number && (short == "gitmod" || (!short.is_empty() && "gi7eba".starts_with(short)))
}

/// Without what HFS+ ignores, what NTFS ignores at the end, and case.
fn as_file_systems_see(name: &str) -> String {
    let ignorable = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = name.chars().filter(|c| !ignorable(c)).collect();
    let plain = plain.split(':').next().unwrap_or_default();
    plain.trim_end_matches(['.', ' ']).to_ascii_lowercase()
}
