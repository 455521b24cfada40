//! Signals while series are read and tried: nothing is half done then, so they end at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Lab;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The exit code, and standard error; at the latest after ten seconds.
fn end(mut child: Child) -> (Option<i32>, String) {
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > Duration::from_secs(10) => {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    (status.code(), said)
}

#[test]
fn one_signal_ends_the_wait_for_standard_input() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let lab = Lab::new();
        // Where this test runs in the background of a shell, SIGINT is ignored, and ktrial leaves
        // that so.
        let mut child = Command::new("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_ktrial")])
            .args(["series", "show", "-"])
            .env("KTRIAL_HOME", lab.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // More than a pipe holds: when it is written, ktrial is reading.
        let mut input = child.stdin.take().unwrap();
        input.write_all(&[b'x'; 1 << 20]).unwrap();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert_eq!(end(child), (Some(130), "ktrial: interrupted\n".into()));
        drop(input);
    }
}
