//! A metric over the weeks: the same cell measured on one kernel after the other, and where it
//! changed.
//!
//! [`changes`](changes::changes) finds change points in plain numbers; [`partition`], [`spread`]
//! and [`penalties`] are its parts. [`series`] takes the numbers from the database, only those
//! that were measured under one [`key`], and [`text`] shows what came of it.

pub mod changes;
pub mod key;
pub mod part;
pub mod partition;
pub mod penalties;
mod race;
pub mod series;
pub mod spread;
pub mod text;

#[cfg(test)]
mod tests;
