//! How a series was applied, as a trial stores it and a report reads it. What was stored by an
//! earlier ktrial lacks fields and still reads.

use ktrial_patches::apply;
use ktrial_patches::{Mend, Patch};
use serde::{Deserialize, Serialize};

use super::Outcome;

/// How a series was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The series was undone, not done.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reverse: bool,
    /// Its patches, in order.
    pub patches: Vec<AppliedPatch>,
}

/// How one patch was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedPatch {
    /// Its name.
    pub name: String,
    /// Its stored text is not to the byte what was applied: that was no UTF-8.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lossy: bool,
    /// What was put right to read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mends: Vec<AppliedMend>,
    /// The files it touched.
    pub files: Vec<AppliedFile>,
    /// The files that the tree had as the patch makes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub already: Vec<String>,
}

/// How one file was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    /// Its path in the tree.
    pub path: String,
    /// The path in the patch, where the tree has the file elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// Where its hunks landed.
    pub hunks: Vec<AppliedHunk>,
    /// What was put right to apply it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mends: Vec<AppliedMend>,
}

/// Where a hunk landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedHunk {
    /// Its first line in the patched file, from 1.
    pub line: u64,
    /// Lines between where the patch says it stands and where it stood.
    pub offset: i64,
    /// Context lines left out at each end.
    pub fuzz: u64,
    /// [`apply::Rung::name`]; `None` in records that are older than rungs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
}

/// Something that was put right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedMend {
    /// `ktrial_patches::MendKind::name`.
    pub kind: String,
    /// The file; `None` where it is about the whole patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The first line, from 1: of the patch for a patch's mends, of the patched file for a file's.
    pub line: u64,
    /// Lines.
    pub lines: u64,
    /// The added line that is not as the patch has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Rewrite>,
}

/// An added line as the patch has it and as the tree has it, without the newline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    /// In the patch.
    pub was: String,
    /// In the tree.
    pub now: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Applied {
    /// What to store of an outcome.
    pub fn of(outcome: &Outcome) -> Applied {
        let both = outcome.applied.patches.iter().zip(&outcome.patches);
        Applied {
            reverse: outcome.reverse,
            patches: both.map(|(done, patch)| of_patch(done, patch)).collect(),
        }
    }
}

fn of_patch(done: &apply::AppliedPatch, patch: &Patch) -> AppliedPatch {
    AppliedPatch {
        name: done.name.clone(),
        lossy: std::str::from_utf8(&patch.source).is_err(),
        mends: patch.mends.iter().map(of_mend).collect(),
        files: done.files.iter().map(of_file).collect(),
        already: done.already.clone(),
    }
}

fn of_file(file: &apply::AppliedFile) -> AppliedFile {
    let hunk = |hunk: &apply::AppliedHunk| AppliedHunk {
        line: hunk.line as u64,
        offset: hunk.offset,
        fuzz: hunk.fuzz.into(),
        rung: Some(hunk.rung.name().to_owned()),
    };
    AppliedFile {
        path: file.path.clone(),
        named: file.named.clone(),
        hunks: file.hunks.iter().map(hunk).collect(),
        mends: file.mends.iter().map(of_mend).collect(),
    }
}

fn of_mend(mend: &Mend) -> AppliedMend {
    AppliedMend {
        kind: mend.kind.name().to_owned(),
        path: mend.path.clone(),
        line: mend.line as u64,
        lines: mend.lines as u64,
        added: mend.added.as_ref().map(|added| Rewrite {
            was: line(&added.was),
            now: line(&added.now),
        }),
    }
}

fn line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use ktrial_patches::apply::Rung;
    use ktrial_patches::{MendKind, Rewrite};
    use serde_json::json;

    use super::*;
    use crate::series::fixture::{changed, hunk, mend, outcome};

    #[test]
    fn a_record_has_rungs_names_and_mends_and_is_read_back_as_it_was() {
        let rewrite = Rewrite {
            was: b"  int n;\r\n".to_vec(),
            now: b"\tint \xff;\n".to_vec(),
        };
        let file = apply::AppliedFile {
            named: Some("kern/exec.c".into()),
            mends: vec![mend(MendKind::Whitespace, Some(rewrite))],
            ..changed(vec![hunk(10, Rung::Whitespace, -2, 0)])
        };
        let quoted = Mend {
            path: None,
            ..mend(MendKind::Quotation, None)
        };
        let mut outcome = outcome(vec![file], vec![quoted]);
        outcome.patches[0].source.push(0xff);
        let record = Applied::of(&outcome);
        let stored = serde_json::to_value(&record).unwrap();
        let wanted = json!({"patches": [{
            "name": "one.patch",
            "lossy": true,
            "mends": [{"kind": "quotation", "line": 12, "lines": 1}],
            "files": [{
                "path": "sys/kern/kern_exec.c",
                "named": "kern/exec.c",
                "hunks": [{"line": 10, "offset": -2, "fuzz": 0, "rung": "whitespace"}],
                "mends": [{
                    "kind": "whitespace", "path": "sys/kern/kern_exec.c", "line": 12, "lines": 1,
                    "added": {"was": "  int n;\r", "now": "\tint \u{fffd};"},
                }],
            }],
        }]});
        assert_eq!(stored, wanted);
        assert_eq!(serde_json::from_value::<Applied>(stored).unwrap(), record);
    }

    #[test]
    fn a_record_of_the_first_ktrial_still_reads() {
        let old = r#"{"patches": [{"name": "p", "files": [
            {"path": "f", "hunks": [{"line": 1, "offset": 3, "fuzz": 1}]}]}]}"#;
        let record: Applied = serde_json::from_str(old).unwrap();
        let patch = &record.patches[0];
        assert!(!record.reverse && !patch.lossy && patch.mends.is_empty());
        assert_eq!(
            (&patch.files[0].named, &patch.files[0].hunks[0].rung),
            (&None, &None)
        );
    }
}
