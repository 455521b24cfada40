//! ktrial puts kernel patches on trial: it builds the kernel with and without a series, boots both
//! again and again in random order, measures, and gives a verdict that can be trusted.
//!
//! The way of the data is one direction: [`tree`] and [`series`] give variants, [`kernel`] builds
//! them, [`guest`] says what to boot, [`vm`] boots it, [`trial`] runs the rounds and stores every
//! sample, [`verdict`] judges what is stored, `report` shows it.

pub mod cli;
pub mod counters;
pub mod fault;
pub mod guest;
pub mod hash;
pub mod history;
pub mod home;
pub mod input;
pub mod kernel;
pub mod machine;
pub mod process;
pub mod progress;
pub mod report;
pub mod series;
pub mod terminal;
pub mod timestamp;
pub mod tree;
pub mod trial;
pub mod verdict;
pub mod vm;
pub mod workload;
