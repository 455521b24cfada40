use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;
use crate::machine::tune::{How, Tuned, restore_leftovers};

#[test]
fn a_tuned_machine_is_put_back_in_reverse() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let files = noisy(root);
    let before = values(root);
    let tuned = Tuned::set(&files).unwrap();
    assert_eq!(files.value(GOVERNOR).unwrap(), "performance");
    assert_eq!(files.value(NO_TURBO).unwrap(), "1");
    assert_eq!(
        files
            .value("sys/devices/system/cpu/cpu0/cpuidle/state3/disable")
            .unwrap(),
        "1"
    );
    assert_eq!(
        files
            .value("sys/devices/system/cpu/cpu0/cpuidle/state1/disable")
            .unwrap(),
        "0"
    );
    for path in [NUMA, WATCHDOG, KSM] {
        assert_eq!(files.value(path).unwrap(), "0");
    }
    assert!(tuned.refused.is_empty());
    assert!(plan(&files).is_empty());
    let set: Vec<String> = tuned.set.iter().map(|change| change.path.clone()).collect();
    let returned = tuned.restore().unwrap();
    assert!(returned.iter().all(|one| one.how == How::PutBack));
    let back = returned.into_iter().rev().map(|one| one.change.path);
    assert_eq!(back.collect::<Vec<_>>(), set);
    assert_eq!(values(root), before);
    assert_eq!(fs::metadata(journal(root)).unwrap().len(), 0);
    assert!(restore_leftovers(&files).unwrap().is_empty());
}

#[test]
fn a_tuned_machine_that_is_dropped_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let before = values(folder.path());
    drop(Tuned::set(&files).unwrap());
    assert_eq!(values(folder.path()), before);
}

#[test]
fn what_others_have_set_meanwhile_is_left_alone_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let tuned = Tuned::set(&files).unwrap();
    files.set(NUMA, "2").unwrap();
    files.set(KSM, "1").unwrap();
    fs::remove_file(files.path(WATCHDOG)).unwrap();
    let returned = tuned.restore().unwrap();
    let how = |path: &str| {
        let one = returned.iter().find(|one| one.change.path == path);
        one.unwrap().how.clone()
    };
    assert_eq!(how(NUMA), How::SetByOthers { now: "2".into() });
    assert_eq!(how(KSM), How::AsBefore);
    assert_eq!(how(WATCHDOG), How::Gone);
    assert_eq!(how(GOVERNOR), How::PutBack);
    assert_eq!(files.value(NUMA).unwrap(), "2");
    assert!(restore_leftovers(&files).unwrap().is_empty());
}

/// `oom_score_adj` is a number that its owner may write: it refuses a word with EINVAL, as a driver
/// refuses a governor that it does not have.
#[test]
fn what_does_not_take_its_value_is_told_and_the_rest_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let files = noisy(root);
    fs::remove_file(root.join(GOVERNOR)).unwrap();
    symlink("/proc/self/oom_score_adj", root.join(GOVERNOR)).unwrap();
    let before = values(root);
    let tuned = Tuned::set(&files).unwrap();
    assert_eq!(tuned.refused.len(), 1);
    let (change, why) = &tuned.refused[0];
    assert_eq!(change.path, GOVERNOR);
    assert!(why.contains("Invalid argument"), "{why}");
    assert_eq!(files.value(WATCHDOG).unwrap(), "0");
    let returned = tuned.restore().unwrap();
    let of_it = returned.iter().find(|one| one.change.path == GOVERNOR);
    assert_eq!(of_it.unwrap().how, How::AsBefore);
    assert_eq!(values(root), before);
}

/// What can't be put back stays in the journal: the next start tries again, and nothing new is set
/// on top of it.
#[test]
fn what_can_not_be_put_back_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let files = noisy(root);
    let before = values(root);
    let tuned = Tuned::set(&files).unwrap();
    // A folder can't be written, and has no value.
    fs::remove_file(root.join(WATCHDOG)).unwrap();
    fs::create_dir(root.join(WATCHDOG)).unwrap();
    let returned = tuned.restore().unwrap();
    let refused = |all: &[crate::machine::tune::Returned]| {
        let all = all.iter();
        all.filter(|one| matches!(one.how, How::Refused { .. }))
            .count()
    };
    assert_eq!(refused(&returned), 1);
    assert_eq!(refused(&restore_leftovers(&files).unwrap()), 1);
    let fault = Tuned::set(&files).unwrap_err();
    assert!(fault.what.contains("nothing was set"), "{fault}");
    fs::remove_dir(root.join(WATCHDOG)).unwrap();
    put(root, WATCHDOG, "0\n");
    assert_eq!(refused(&restore_leftovers(&files).unwrap()), 0);
    assert_eq!(values(root), before);
}

#[test]
fn where_nothing_is_to_be_set_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::at(folder.path());
    let tuned = Tuned::set(&files).unwrap();
    assert!(tuned.set.is_empty() && tuned.restore().unwrap().is_empty());
    assert!(!journal(folder.path()).exists());
}

#[test]
fn two_at_once_are_refused_and_the_seconds_start_leaves_the_first_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let first = Tuned::set(&files).unwrap();
    let fault = Tuned::set(&files);
    // All is set: a second one is refused by the lock, not by having nothing to do.
    let fault = fault.unwrap_err();
    assert_eq!(fault.at, crate::fault::At::Host);
    let process = format!("process {}", std::process::id());
    assert!(fault.what.contains(&process), "{fault}");
    assert!(restore_leftovers(&files).unwrap().is_empty());
    assert_eq!(files.value(GOVERNOR).unwrap(), "performance");
    drop(first);
    assert_eq!(files.value(GOVERNOR).unwrap(), "powersave");
}

/// After a reboot the values are the system's own, whatever the journal says.
#[test]
fn a_journal_from_before_the_boot_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let files = noisy(root);
    let tuned = Tuned::set(&files).unwrap();
    let kept = fs::read(journal(root)).unwrap();
    drop(tuned);
    fs::write(journal(root), kept).unwrap();
    put(
        root,
        "proc/sys/kernel/random/boot_id",
        "99999999-2222-3333-4444-555555555555\n",
    );
    files.set(WATCHDOG, "0").unwrap();
    assert!(restore_leftovers(&files).unwrap().is_empty());
    assert_eq!(files.value(WATCHDOG).unwrap(), "0");
    assert_eq!(fs::metadata(journal(root)).unwrap().len(), 0);
}

#[test]
fn a_journal_that_is_broken_in_the_middle_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let files = noisy(root);
    let head = r#"{"boot":"11111111-2222-3333-4444-555555555555","process":1}"#;
    put(
        root,
        "run/ktrial/tuned.json",
        &format!("{head}\nnonsense\n{{}}\n"),
    );
    let fault = restore_leftovers(&files).unwrap_err();
    assert!(fault.what.contains("line 2"), "{fault}");
    assert!(Tuned::set(&files).is_err());
    assert_eq!(files.value(WATCHDOG).unwrap(), "1");
}

/// As nobody, in a thread of its own: the kernel keeps user ids for each thread.
#[test]
fn without_root_nothing_is_set_and_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let before = values(folder.path());
    for path in [GOVERNOR, WATCHDOG] {
        let mut may = fs::metadata(files.path(path)).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut may, 0o444);
        fs::set_permissions(files.path(path), may).unwrap();
    }
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).unwrap();
    let asked = files.clone();
    let nobody = std::thread::spawn(move || {
        if nix::unistd::geteuid().is_root() {
            // SAFETY: a system call on numbers, which changes this thread's user only.
            let changed =
                unsafe { nix::libc::syscall(nix::libc::SYS_setresuid, 65534, 65534, 65534) };
            assert_eq!(changed, 0);
        }
        Tuned::set(&asked).map(drop)
    });
    let fault = nobody.join().unwrap().unwrap_err();
    assert_eq!(fault.at, crate::fault::At::Host);
    assert!(fault.what.contains("root"), "{fault}");
    assert_eq!(values(folder.path()), before);
    assert!(!journal(folder.path()).exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A kill at any byte of the journal: a change is made only after its whole line is written, and
    /// the last one may not have been made yet.
    #[test]
    fn any_beginning_of_the_journal_gives_the_tree_back(cut in 0.0..=1.0_f64, made_last: bool) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = noisy(root);
        let before = values(root);
        let tuned = Tuned::set(&files).unwrap();
        let whole = fs::read(journal(root)).unwrap();
        let changes = tuned.set.clone();
        drop(tuned);
        prop_assert_eq!(&values(root), &before);
        let length = (whole.len() as f64 * cut) as usize;
        let kept = &whole[..length];
        let lines = kept.iter().filter(|byte| **byte == b'\n').count();
        let told = lines.saturating_sub(1);
        let made = if made_last { told } else { told.saturating_sub(1) };
        for change in &changes[..made] {
            files.set(&change.path, &change.to).unwrap();
        }
        fs::write(journal(root), kept).unwrap();
        let returned = restore_leftovers(&files).unwrap();
        prop_assert_eq!(returned.len(), told);
        prop_assert_eq!(values(root), before);
        prop_assert!(restore_leftovers(&files).unwrap().is_empty());
    }
}
