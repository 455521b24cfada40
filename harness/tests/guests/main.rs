//! Real kernels: built from source, booted, repeated, broken, killed. Run by `./test`, which sets
//! `KTRIAL_HOME` (a cache shared by all tests, so that each kernel is built once) and
//! `KTRIAL_TEST_TREE` (a Linux 6.1 source).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod counted;
mod failures;
mod lab;
mod shapes;
