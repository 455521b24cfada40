//! Kernel patches: reading them from mails and diffs, applying them to a git
//! tree without a checkout, and the catalogue of series that ship with ktrial.
//!
//! ```text
//! bytes ──read──► Vec<Patch> ──apply──► commits, trees, and where each hunk landed
//! ```
//!
//! The data goes one way: [`read`] knows no tree, [`apply`] knows no mail, and
//! [`catalogue`] only says which files make a series and what to expect of it.

pub mod apply;
pub mod catalogue;
pub mod read;

mod model;
mod text;

pub use model::{Change, Date, FilePatch, Header, Hunk, Line, LineKind, Patch, Person};

/// The largest patch file that is read, in bytes (64 MiB).
pub const MAX_PATCH_BYTES: usize = 64 << 20;
