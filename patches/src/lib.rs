//! Kernel patches: reading them from mails and diffs, applying them to a git
//! tree without a checkout, and the catalogue of series that ship with ktrial.
//!
//! ```text
//! bytes ──read──────┐
//!                   ├──► Vec<Patch> ──apply──► commits, trees, and where each hunk landed
//! commits ──history─┘
//! ```
//!
//! The data goes one way: [`read`] knows no tree, [`apply`] knows no mail,
//! [`history`] makes patches of a tree's commits and finds the commit on which a
//! patch applies, and [`catalogue`] says which files and commits make a series
//! and what to expect of it. What was put right on the way is a [`Mend`].

pub mod apply;
pub mod catalogue;
pub mod history;
pub mod read;

mod changed;
mod mend;
mod model;
mod text;
mod trailers;

pub use mend::{Mend, MendKind, Rewrite};
pub use model::{
    BinaryChange, Change, Date, FilePatch, Header, Hunk, Irreversible, Line, LineKind, Patch,
    Person, Trailers,
};

/// The largest patch file that is read, in bytes (64 MiB).
pub const MAX_PATCH_BYTES: usize = 64 << 20;
