//! Commits as patches, and the commits that a patch fits. What is right is said by
//! git, or follows from how the small repositories are made.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod base;
mod bundle;
mod commit;
mod past;
mod resolve;
mod since;
