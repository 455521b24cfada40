// SPDX-License-Identifier: GPL-2.0-or-later
//! A QEMU TCG plugin that counts a guest's instructions between marks: in user space, and in each
//! function of its kernel.
//!
//! A mark is an instruction that does nothing, with a number in it ([`marks`]); programs in the
//! guest run one where a job begins, and around what is to be counted. Functions are those of a
//! table of symbols ([`symbols`]), and the kernel must run where that table says (`nokaslr`).
//!
//! Options: `symbols=FILE`, lines `address name`, as `nm` sorts them; `out=FILE`, what is written
//! ([`counts`]); `exact=on` counts by instruction, and not by translated block, so that a block which
//! a fault leaves halfway counts only as far as it came.

mod board;
mod counts;
mod marks;
mod symbols;

#[cfg(not(test))]
mod plugin;
#[cfg(not(test))]
mod qemu;
