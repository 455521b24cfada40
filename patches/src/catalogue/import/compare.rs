//! Whether what was written says what was to be written.

use super::{ImportError, is_nameless};
use crate::catalogue::{Series, Step};
use crate::history::Reference;
use crate::{MendKind, Patch};

/// Compares a series with what was read again: all of it but its name, which is its folder's,
/// and what was left out of it.
pub(super) fn check(series: &Series, again: &Series) -> Result<(), ImportError> {
    for (step, found) in series.steps.iter().zip(&again.steps) {
        compare(step, found)?;
    }
    // A field that is added must be compared too.
    let Series {
        name: _,
        title,
        description,
        system,
        applies_to,
        source,
        licence,
        steps,
        reverse,
        aa,
        needs,
        claims,
        left_out: _,
        workloads,
        variants,
        expectations,
    } = series;
    let same = [
        (
            "the number of its patches",
            steps.len() == again.steps.len(),
        ),
        ("its title", *title == again.title),
        ("its description", *description == again.description),
        ("its system", *system == again.system),
        ("its version", *applies_to == again.applies_to),
        ("its source", *source == again.source),
        ("its licence", *licence == again.licence),
        ("its direction", *reverse == again.reverse),
        ("whether it is A/A", *aa == again.aa),
        ("what it needs", *needs == again.needs),
        ("what it claims", *claims == again.claims),
        ("its workloads", *workloads == again.workloads),
        ("its variants", *variants == again.variants),
        ("what it expects", *expectations == again.expectations),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(ImportError::Changes { what }),
        None => Ok(()),
    }
}

fn compare(step: &Step, found: &Step) -> Result<(), ImportError> {
    let what = match (step, found) {
        (Step::Patch(patch), Step::Patch(found)) if is_same(patch, found) => return Ok(()),
        (Step::Patch(patch), Step::Patch(_)) => {
            let patch = patch.name.clone();
            return Err(ImportError::Differs { patch });
        }
        (Step::Commits(one), Step::Commits(other)) => {
            let pairs = || one.iter().zip(other);
            if one.len() == other.len() && pairs().all(|(one, other)| means_the_same(one, other)) {
                return Ok(());
            }
            "a commit that it names"
        }
        _ => "the order of its patches and commits",
    };
    Err(ImportError::Changes { what })
}

/// A bundle gets another name in the folder.
fn means_the_same(one: &Reference, other: &Reference) -> bool {
    match (one, other) {
        (Reference::Bundle { bytes, .. }, Reference::Bundle { bytes: other, .. }) => bytes == other,
        _ => one == other,
    }
}

/// Whether two patches say and do the same. Their names may differ, and the lines at
/// which something was mended.
pub(super) fn is_same(one: &Patch, other: &Patch) -> bool {
    let kinds = |patch: &Patch| -> Vec<MendKind> { patch.mends.iter().map(|m| m.kind).collect() };
    let nameless = is_nameless(one) && is_nameless(other);
    (nameless || one.header == other.header)
        && one.files == other.files
        && kinds(one) == kinds(other)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::catalogue::System;

    fn series() -> Series {
        let diff = b"--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n";
        let mut series = Series::from_bytes("x.diff", diff).unwrap();
        let commit = |name: &str| Reference::Commit(name.to_owned());
        let names = vec![commit("8cdef6cbcc73"), Reference::Svn(313_756)];
        series.steps.push(Step::Commits(names));
        series
    }

    fn changed(change: impl FnOnce(&mut Series)) -> String {
        let mut again = series();
        change(&mut again);
        check(&series(), &again).unwrap_err().to_string()
    }

    #[test]
    fn whatever_comes_out_otherwise_is_named() {
        check(&series(), &series()).unwrap();
        let fewer = changed(|it| it.steps.truncate(1));
        assert!(fewer.contains("the number of its patches"), "{fewer}");
        let more = changed(|it| it.steps.extend(series().steps));
        assert!(more.contains("the number of its patches"), "{more}");
        let patch = changed(|it| {
            let Step::Patch(patch) = &mut it.steps[0] else {
                panic!("a patch");
            };
            patch.files[0].hunks[0].new_start = 2;
        });
        assert!(patch.starts_with("x.diff can't be kept"), "{patch}");
        let other = changed(|it| it.steps[1] = Step::Commits(vec![Reference::Svn(313_756)]));
        assert!(other.contains("a commit that it names"), "{other}");
        let order = changed(|it| it.steps.swap(0, 1));
        assert!(order.contains("the order"), "{order}");
        let reverse = changed(|it| it.reverse = true);
        assert!(reverse.contains("its direction"), "{reverse}");
        let system = changed(|it| it.system = Some(System::Linux));
        assert!(system.contains("its system"), "{system}");
    }
}
