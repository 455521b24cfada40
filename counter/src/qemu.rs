//! What is used of QEMU's plugin interface (include/qemu/qemu-plugin.h of QEMU 9.1 and later,
//! documented in docs/devel/tcg-plugins.rst), version 3.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// The version of the interface.
pub const VERSION: c_int = 3;

/// Names this plugin.
pub type Id = u64;

/// A translated block, while it is being translated.
#[repr(C)]
pub struct Block {
    private: [u8; 0],
}

/// An instruction of a block.
#[repr(C)]
pub struct Instruction {
    private: [u8; 0],
}

/// How QEMU says who it is; only its beginning, which has not changed since version 1.
#[repr(C)]
pub struct Info {
    pub target_name: *const c_char,
    pub oldest_version: c_int,
    pub version: c_int,
    pub system_emulation: bool,
}

/// What QEMU calls when something runs: with the vCPU, and with what was given to it before.
pub type Call = extern "C" fn(c_uint, *mut c_void);

/// `QEMU_PLUGIN_CB_NO_REGS`.
pub const NO_REGISTERS: c_int = 0;

unsafe extern "C" {
    #[link_name = "qemu_plugin_register_vcpu_tb_trans_cb"]
    pub fn on_translation(id: Id, call: extern "C" fn(Id, *mut Block));
    #[link_name = "qemu_plugin_register_atexit_cb"]
    pub fn on_exit(id: Id, call: extern "C" fn(Id, *mut c_void), data: *mut c_void);
    #[link_name = "qemu_plugin_tb_n_insns"]
    pub fn instructions(block: *const Block) -> usize;
    #[link_name = "qemu_plugin_tb_get_insn"]
    pub fn instruction(block: *const Block, index: usize) -> *mut Instruction;
    #[link_name = "qemu_plugin_insn_vaddr"]
    pub fn address(instruction: *const Instruction) -> u64;
    #[link_name = "qemu_plugin_insn_size"]
    pub fn size(instruction: *const Instruction) -> usize;
    #[link_name = "qemu_plugin_insn_data"]
    pub fn bytes(instruction: *const Instruction, to: *mut c_void, length: usize) -> usize;
    #[link_name = "qemu_plugin_register_vcpu_insn_exec_cb"]
    pub fn on_instruction(
        instruction: *mut Instruction,
        call: Call,
        flags: c_int,
        data: *mut c_void,
    );
    #[link_name = "qemu_plugin_register_vcpu_tb_exec_cb"]
    pub fn on_block(block: *mut Block, call: Call, flags: c_int, data: *mut c_void);
}
