#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::catalogue::System;

use super::{included, swamping};

fn names(system: System, config: &str) -> Vec<String> {
    let swamping = swamping(system, config);
    assert!(swamping.iter().all(|one| !one.effect.is_empty()));
    swamping.into_iter().map(|one| one.option).collect()
}

fn linux(config: &str) -> Vec<String> {
    names(System::Linux, config)
}

/// Lines as `make oldconfig` writes them.
#[test]
fn options_of_linux_are_on_off_or_not_there() {
    let config = "#\n# Automatically generated file; DO NOT EDIT.\n#\nCONFIG_64BIT=y\n\
                  # CONFIG_KASAN is not set\nCONFIG_KCSAN=y\nCONFIG_DEBUG_VM=n\n\
                  CONFIG_LOCALVERSION=\"-KMSAN=y\"\nCONFIG_GCOV_PROFILE_ALL=m\nCONFIG_KMSAN_CHECK_PARAM_RETVAL=y\n";
    assert_eq!(linux(config), ["CONFIG_KCSAN", "CONFIG_GCOV_PROFILE_ALL"]);
    // Of two lines about an option the last counts, as in scripts/kconfig.
    assert!(linux("CONFIG_KCSAN=y\n# CONFIG_KCSAN is not set\n").is_empty());
    assert_eq!(
        linux("# CONFIG_KCSAN is not set\nCONFIG_KCSAN=y\n"),
        ["CONFIG_KCSAN"]
    );
    for nothing in [
        "",
        "\n\n",
        "=y",
        "CONFIG_=y",
        "# is not set",
        "\u{feff}CONFIG",
    ] {
        assert!(linux(nothing).is_empty(), "{nothing:?}");
    }
}

/// PROVE_LOCKING selects all the others (`lib/Kconfig.debug`): it is the one to turn off.
#[test]
fn only_the_cause_is_named() {
    let config = "CONFIG_PROVE_LOCKING=y\nCONFIG_LOCKDEP=y\nCONFIG_DEBUG_SPINLOCK=y\n\
                  CONFIG_DEBUG_MUTEXES=y\nCONFIG_DEBUG_LOCK_ALLOC=y\n";
    assert_eq!(linux(config), ["CONFIG_PROVE_LOCKING"]);
    assert_eq!(
        linux("CONFIG_DEBUG_SPINLOCK=y\n"),
        ["CONFIG_DEBUG_SPINLOCK"]
    );
    assert_eq!(
        linux("CONFIG_KASAN=y\nCONFIG_KASAN_GENERIC=y\n"),
        ["CONFIG_KASAN_GENERIC"]
    );
    // Before Linux 5.0; and the kind that is made for kernels in use.
    assert_eq!(
        linux("CONFIG_KASAN=y\nCONFIG_KASAN_INLINE=y\n"),
        ["CONFIG_KASAN"]
    );
    assert!(linux("CONFIG_KASAN=y\nCONFIG_KASAN_HW_TAGS=y\n").is_empty());
    assert!(linux("CONFIG_DEBUG_KMEMLEAK=y\nCONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y\n").is_empty());
    assert_eq!(
        linux("CONFIG_DEBUG_KMEMLEAK=y\n"),
        ["CONFIG_DEBUG_KMEMLEAK"]
    );
}

/// What Debian 12 sets of this kind (its config-6.1-amd64) costs little, and is not named.
#[test]
fn a_distributions_kernel_is_not_accused() {
    let config = "CONFIG_DEBUG_KERNEL=y\nCONFIG_SLUB_DEBUG=y\nCONFIG_DEBUG_LIST=y\nCONFIG_KFENCE=y\n\
                  CONFIG_FUNCTION_TRACER=y\nCONFIG_PAGE_POISONING=y\nCONFIG_LOCKUP_DETECTOR=y\n\
                  CONFIG_SCHED_DEBUG=y\nCONFIG_DEBUG_FS=y\nCONFIG_LOCK_DEBUGGING_SUPPORT=y\n";
    assert!(linux(config).is_empty());
}

#[test]
fn the_figures_are_those_of_the_sources() {
    let effect = |config| swamping(System::Linux, config)[0].effect.clone();
    assert!(effect("CONFIG_KASAN_GENERIC=y").contains("~x3"));
    assert!(effect("CONFIG_KCSAN=y").contains("5.0x"));
    assert!(effect("CONFIG_PROVE_LOCKING=y").contains("11 s instead of 3.4 s"));
}

/// Lines of FreeBSD's `sys/conf/std.debug` and `std.nodebug`.
#[test]
fn options_of_freebsd() {
    let debug = "include GENERIC\n\nident\tMINE\n#options\tKASAN\noptions \tINVARIANTS\t\t# Enable calls of extra sanity checking\n\
                 options \tINVARIANT_SUPPORT\noptions \tWITNESS\t\t\t# Enable checks\noptions \tWITNESS_SKIPSPIN\n\
                 options \tMALLOC_DEBUG_MAXZONES=8\t# Separate malloc(9) zones\noptions\t\tDEADLKRES\n";
    let all = [
        "INVARIANTS",
        "WITNESS",
        "MALLOC_DEBUG_MAXZONES",
        "DEADLKRES",
    ];
    assert_eq!(names(System::FreeBsd, debug), all);
    let off = "nooptions\tINVARIANTS\nnooptions\tWITNESS\nnooptions\tMALLOC_DEBUG_MAXZONES\n";
    assert_eq!(
        names(System::FreeBsd, &format!("{debug}{off}")),
        ["DEADLKRES"]
    );
    assert_eq!(
        names(System::FreeBsd, "options WITNESS, DIAGNOSTIC\n"),
        ["WITNESS", "DIAGNOSTIC"]
    );
    assert!(
        names(
            System::FreeBsd,
            "option\nmakeoptions DEBUG=-g WITNESS\ndevice WITNESS\n"
        )
        .is_empty()
    );
    assert_eq!(included(debug), ["GENERIC"]);
    let quoted = "include \"../../conf/std.nodebug\"\n#include X\n";
    assert_eq!(included(quoted), ["../../conf/std.nodebug"]);
}

/// `sys/config/X86_64_GENERIC` of DragonFly has INVARIANTS on, and a debugger that costs nothing.
#[test]
fn options_of_dragonfly() {
    let generic = "makeoptions\tDEBUG=-g\t\t#Build kernel with gdb(1) debug symbols\n\
                   options \tDDB\noptions \tDDB_TRACE\noptions \tINVARIANTS\n";
    assert_eq!(names(System::DragonFly, generic), ["INVARIANTS"]);
    assert!(names(System::DragonFly, "options\tWITNESS\n").is_empty());
}
