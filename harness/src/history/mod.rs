//! A metric over the weeks: the same cell measured on one kernel after the other, and where it
//! changed.
//!
//! [`changes`](changes::changes) finds change points in plain numbers; [`partition`], [`spread`]
//! and [`penalties`] are its parts.

pub mod changes;
pub mod partition;
pub mod penalties;
pub mod spread;
