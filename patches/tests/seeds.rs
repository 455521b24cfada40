//! The four seeds in the catalogue: what they claim, and that the archived patch is
//! the archive's text and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, file};
use git2::{ObjectType, Oid, Repository};
use ktrial_patches::apply::{Applied, apply};
use ktrial_patches::catalogue::{self, Claim, Series};
use ktrial_patches::history::Reference;

fn claims(name: &str) -> Vec<Claim> {
    catalogue::find(name).unwrap().claims
}

/// The figures as they stand in the seeds.
#[test]
fn the_figures_are_the_seeds() {
    let exec = claims("dragonfly-exec-rate");
    assert_eq!(
        (exec[0].before, exec[0].after),
        (Some(10_000.0), Some(100_000.0))
    );
    assert_eq!((exec[1].before, exec[1].after), (None, Some(43_000.0)));
    let build = claims("freebsd-exec-args-madv-free");
    assert_eq!(build[0].change_percent, Some(-7.5));
    assert_eq!(build[1].change_percent, Some(-50.0));
    assert!(
        build
            .iter()
            .take(2)
            .all(|c| c.machine.contains("x1.32xlarge"))
    );
    let smack = claims("freebsd-chgsbsize");
    assert_eq!((smack[0].before, smack[1].before), (Some(8e6), Some(3e6)));
    let parity = (smack[2].change_percent, smack[2].change_percent_to);
    assert_eq!(parity, (Some(4.0), Some(5.0)));
    let profile = claims("linux-fd-alloc-bitmap");
    let shares: Vec<f64> = profile.iter().filter_map(|claim| claim.before).collect();
    assert_eq!(shares, [64.98, 14.88, 11.15]);
}

#[test]
fn the_commits_are_the_seeds() {
    let reference = |name: &str| {
        let series = catalogue::find(name).unwrap();
        let references: Vec<Reference> = series.references().cloned().collect();
        (references, series.reverse)
    };
    let hash = "8cdef6cbcc73174e567af3341631ec8fa492796a";
    let exec = Reference::Commit(hash.into());
    assert_eq!(reference("dragonfly-exec-rate"), (vec![exec], false));
    let args = [Reference::Svn(313_756), Reference::Review("D9586".into())];
    assert_eq!(
        reference("freebsd-exec-args-madv-free"),
        (args.into(), false)
    );
    let bitmap = Reference::Commit("f3f86e33dc3d".into());
    assert_eq!(
        reference("linux-fd-alloc-bitmap"),
        (vec![bitmap.clone()], false)
    );
    assert_eq!(
        reference("linux-fd-alloc-bitmap-reversed"),
        (vec![bitmap], true)
    );
}

/// Only line breaks were put into the archive's text: with each run of blanks and
/// line ends made one blank, it is the seed. The id is that of the seed treated so,
/// by `tr -s ' \n' ' '`, without a blank at its end, and `git hash-object --stdin`.
#[test]
fn the_archived_patch_is_the_archives_text() {
    let series = catalogue::find("dragonfly-exec-rate-archived").unwrap();
    let patch = series.own_patches().next().unwrap();
    let text = include_str!(
        "../series/dragonfly-exec-rate-archived/0001-kernel-Increase-worst-case-maximum-exec-rate.patch"
    );
    assert!(text.ends_with(std::str::from_utf8(&patch.source).unwrap()));
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let id = Oid::hash_object(ObjectType::Blob, words.join(" ").as_bytes()).unwrap();
    assert_eq!(id.to_string(), "873ca86610e47a00edc06dbd29609c9df7810a62");
    assert!(!text.contains('\t') && !text.contains("  "));
}

/// The function that the mail is about, written for this test after its K&R form.
const RESOURCE: &str = "int
chgsbsize(uip, hiwat, to, max)
\tstruct uidinfo\t*uip;
\tu_int  *hiwat;
\tu_int\tto;
\trlim_t\tmax;
{
\trlim_t new;

\tUIDINFO_LOCK(uip);
\tnew = uip->ui_sbsize + to - *hiwat;
\t/* Don't allow them to exceed max, but allow subtraction. */
\tif (to > *hiwat && new > max) {
\t\tUIDINFO_UNLOCK(uip);
\t\treturn (0);
\t}
}
";

/// The added lines get the tabs that the tree has at that place, and each is named.
#[test]
fn the_patch_in_the_mail_finds_its_place() {
    let lab = Lab::new();
    let base = lab.commit(&[file("sys/kern/kern_resource.c", RESOURCE)]);
    let series = catalogue::find("freebsd-chgsbsize").unwrap();
    let applied = apply(&lab.repo, base, &series.patches(&lab.repo, base).unwrap()).unwrap();
    let content = lab.content(applied.tree, "sys/kern/kern_resource.c");
    let added = "\tif (max == RLIM_INFINITY) {\n\t\t*hiwat = to;\n\t\treturn (1);\n\t}\n";
    let wanted = RESOURCE.replace("\tUIDINFO_LOCK", &format!("{added}\tUIDINFO_LOCK"));
    let words = |text: &str| -> Vec<String> { text.lines().map(|l| l.trim().into()).collect() };
    let content = String::from_utf8(content).unwrap();
    assert_eq!(words(&content), words(&wanted));
    let mends = applied.patches[0].files[0].mends.iter();
    assert!(mends.filter(|mend| mend.changes_added()).count() > 0);
    let line = |text: &str| content.lines().any(|line| line == text);
    assert!(line("\tif (max == RLIM_INFINITY) {"), "{content}");
}

/// A bare DragonFly repository with the commit and its history (FACTS.md), never written
/// to: objects go to a repository of the test's own that borrows from it.
fn dragonfly(lab: &Lab) -> Oid {
    let path = std::env::var("KTRIAL_DRAGONFLY").expect("KTRIAL_DRAGONFLY names a repository");
    let source = Repository::open_bare(&path).unwrap();
    let objects = source.path().join("objects");
    lab.repo
        .odb()
        .unwrap()
        .add_disk_alternate(objects.to_str().unwrap())
        .unwrap();
    let commit = source.revparse_single("8cdef6cbcc73").unwrap();
    commit.id()
}

fn put(lab: &Lab, series: &Series, base: Oid, tip: Oid) -> Applied {
    apply(&lab.repo, base, &series.patches(&lab.repo, tip).unwrap()).unwrap()
}

/// `KTRIAL_DRAGONFLY=<bare repository> cargo test -p ktrial-patches --test seeds -- --ignored`
#[test]
#[ignore = "needs a DragonFly tree"]
fn the_archived_patch_gives_the_tree_of_the_commit_but_for_what_was_lost() {
    let lab = Lab::new();
    let tip = dragonfly(&lab);
    let commit = lab.repo.find_commit(tip).unwrap();
    let parent = commit.parent_id(0).unwrap();
    let by_commit = put(
        &lab,
        &catalogue::find("dragonfly-exec-rate").unwrap(),
        parent,
        tip,
    );
    assert_eq!(by_commit.tree, commit.tree_id());
    let archived = catalogue::find("dragonfly-exec-rate-archived").unwrap();
    let by_text = put(&lab, &archived, parent, parent);
    let (old, new) = (
        commit.tree().unwrap(),
        lab.repo.find_tree(by_text.tree).unwrap(),
    );
    let diff = lab
        .repo
        .diff_tree_to_tree(Some(&old), Some(&new), None)
        .unwrap();
    let changed: Vec<_> = diff.deltas().filter_map(|d| d.new_file().path()).collect();
    let files = ["sys/kern/kern_proc.c", "test/sysperf/exec1.c"];
    assert!(
        changed
            .iter()
            .all(|path| files.iter().any(|file| path.ends_with(file)))
    );
    for (index, path) in files.iter().enumerate() {
        let text = |tree| String::from_utf8(lab.content(tree, path)).unwrap();
        let (right, ours) = (text(commit.tree_id()), text(by_text.tree));
        let mends = &by_text.patches[0].files[index].mends;
        let pairs = right.lines().zip(ours.lines()).enumerate();
        assert_eq!(right.lines().count(), ours.lines().count(), "{path}");
        for (number, (right, ours)) in pairs.filter(|(_, (a, b))| a != b) {
            let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            let include = right == "#include <machine/atomic.h>" && ours == "#include";
            assert!(
                squeezed(right) == squeezed(ours) || include,
                "{path}: {right} {ours}"
            );
            let named = |mend: &ktrial_patches::Mend| {
                let lines = mend.line..mend.line + mend.lines;
                mend.changes_added() && lines.contains(&(number + 1))
            };
            assert!(
                mends.iter().any(named),
                "{path}:{}: {ours} is not reported",
                number + 1
            );
        }
    }
}
