#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

/// A kernel of six functions and two locks.
fn symbols() -> Symbols {
    let text = "\
        ffffffff81000000 _stext\n\
        ffffffff81000100 do_syscall_64\n\
        ffffffff81000200 __x64_sys_close\n\
        ffffffff81000300 find_next_zero_bit\n\
        ffffffff81000400 native_queued_spin_lock_slowpath\n\
        ffffffff81000500 __lock_text_start\n\
        ffffffff81000500 _raw_spin_lock\n\
        ffffffff81000600 __lock_text_end\n\
        ffffffff82000000 tasklist_lock\n\
        ffffffff82000040 other_data\n\
        ffffffff83000000 _end\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Symbols::read(file.path()).unwrap()
}

fn folded(watch: Watch, lines: &[&str]) -> Stacks {
    fold(watch, lines.iter().copied(), &symbols())
}

/// A call at the very end of do_syscall_64 returns to where __x64_sys_close begins.
#[test]
fn a_frame_is_the_function_of_its_call_and_the_innermost_of_where_it_was() {
    let seen = folded(
        Watch::Profile,
        &[
            "operations 0 12",
            "watched cpu-clock samples 3",
            "stack 5 5 ffffffff81000200,ffffffff81000300,ffffffff81000300",
            "stack 2 2 user",
            "stack 1 1 ffffffffa0000000",
            "stack 4 4 other",
        ],
    );
    let expected = [
        ("do_syscall_64;__x64_sys_close;find_next_zero_bit", 5),
        ("user space", 2),
        ("[unknown]", 1),
        ("other", 4),
    ];
    let expected = expected.map(|(stack, weight)| (stack.to_owned(), weight));
    assert_eq!(seen.stacks, expected.into());
    assert_eq!(
        (seen.event.as_str(), seen.unit.as_str()),
        ("cpu-clock", "samples")
    );
    assert_eq!((seen.lost, seen.count()), (3, 12));
    assert!(seen.times.is_empty());
}

#[test]
fn who_waits_is_who_wants_the_lock() {
    let chain = "ffffffff81000110,ffffffff81000210,ffffffff81000510,ffffffff81000410";
    let lines = [
        format!("stack 700 2 {chain},lock:1:ffffffff82000010"),
        format!("stack 300 1 {chain},lock:1:ffff888000001000"),
        format!("stack 90 1 {chain},lock:2:ffff888000002000"),
        "stack 8 1 ffffffff81000410,lock:20:ffff888000003000".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let seen = folded(Watch::Locks, &lines);
    let expected = [
        ("do_syscall_64;__x64_sys_close;[tasklist_lock]", 700),
        ("do_syscall_64;__x64_sys_close;[spinlock]", 300),
        ("do_syscall_64;__x64_sys_close;[rwsem:R]", 90),
        ("native_queued_spin_lock_slowpath;[mutex]", 8),
    ];
    let expected = expected.map(|(stack, weight)| (stack.to_owned(), weight));
    assert_eq!(seen.stacks, expected.into());
    assert_eq!(seen.count(), 5);
    assert_eq!(seen.unit, "ns");
}

#[test]
fn locks_without_a_name_are_called_after_their_kind() {
    let name = |flags: &str| lock_name(flags, "ffff888000001000", &symbols());
    let names = ["0", "1", "2", "21", "40", "x"].map(name);
    let expected = [
        "[semaphore]",
        "[spinlock]",
        "[rwsem:R]",
        "[mutex]",
        "[lock]",
        "[lock]",
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_is_no_stack_is_lost_and_nothing_overflows() {
    let seen = folded(
        Watch::Profile,
        &[
            "stack x 1 user",
            "stack -1 1 user",
            "stack 1",
            "watched cpu-clock samples 18446744073709551615",
            "stack 18446744073709551615 1 user",
            "stack 18446744073709551615 1 user",
            "stack 1 1 zz,,lock:zz:zz,lock:",
        ],
    );
    assert_eq!(seen.lost, u64::MAX);
    assert_eq!(seen.stacks["user space"], u64::MAX);
}
