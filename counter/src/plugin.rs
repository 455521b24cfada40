//! What QEMU calls.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::BufWriter;
use std::slice;
use std::sync::{Mutex, OnceLock};

use crate::board::{self, Board};
use crate::counts::Counts;
use crate::marks::{self, Mark};
use crate::qemu::{self, Block, Id, Info, Instruction};
use crate::symbols::Symbols;

/// Read by QEMU before anything else.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = qemu::VERSION;

/// The longest text, in bytes: thousands of iterations, each with all functions that run in one.
const MOST: usize = 256 << 20;

static PLUGIN: OnceLock<Plugin> = OnceLock::new();

struct Plugin {
    symbols: Symbols,
    board: Board,
    /// Each instruction is counted when it runs, and not with its block.
    exact: bool,
    counts: Mutex<Counts<BufWriter<File>>>,
}

/// Called once, when QEMU loads the plugin.
///
/// # Safety
/// The pointers are QEMU's, and valid during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    info: *const Info,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    // SAFETY: so the interface says.
    let (info, options) = unsafe {
        let count = usize::try_from(count).unwrap_or(0);
        let options = match count {
            0 => &[],
            _ => slice::from_raw_parts(options, count),
        };
        let options = options.iter().map(|option| CStr::from_ptr(*option));
        (
            &*info,
            options.map(CStr::to_string_lossy).collect::<Vec<_>>(),
        )
    };
    let made = if info.system_emulation {
        Plugin::new(options.iter().map(|option| option.as_ref()))
    } else {
        Err("it counts in whole machines only".to_owned())
    };
    let set = |plugin| {
        PLUGIN
            .set(plugin)
            .map_err(|_| "it was loaded twice".to_owned())
    };
    if let Err(why) = made.and_then(set) {
        eprintln!("ktrial-counter: {why}");
        return 1;
    }
    // SAFETY: both may be called from here.
    unsafe {
        qemu::on_translation(id, translated);
        qemu::on_exit(id, ended, std::ptr::null_mut());
    }
    0
}

impl Plugin {
    fn new<'a>(options: impl Iterator<Item = &'a str>) -> Result<Plugin, String> {
        let options: HashMap<&str, &str> = options.filter_map(|o| o.split_once('=')).collect();
        let wanted = |name: &str| {
            let value = options.get(name).copied();
            value.ok_or_else(|| format!("the option {name}= is missing"))
        };
        let path = wanted("symbols")?;
        let text = std::fs::read_to_string(path).map_err(|e| format!("read {path}: {e}"))?;
        let symbols = Symbols::read(&text).map_err(|why| format!("{path}: {why}"))?;
        let path = wanted("out")?;
        let out = File::create(path).map_err(|e| format!("write {path}: {e}"))?;
        let counts =
            Counts::begin(BufWriter::new(out), MOST).map_err(|e| format!("write {path}: {e}"))?;
        let board = Board::new(symbols.places());
        Ok(Plugin {
            symbols,
            board,
            exact: options.get("exact") == Some(&"on"),
            counts: Mutex::new(counts),
        })
    }

    fn write(&self, what: impl FnOnce(&mut Counts<BufWriter<File>>) -> std::io::Result<()>) {
        let mut counts = self
            .counts
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        if let Err(error) = what(&mut counts) {
            // The text lacks its end then, and is not believed.
            eprintln!("ktrial-counter: write: {error}");
        }
    }
}

extern "C" fn translated(_: Id, block: *mut Block) {
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the block and its instructions are valid during this call.
    unsafe {
        let count = qemu::instructions(block);
        let instructions: Vec<*mut Instruction> =
            (0..count).map(|i| qemu::instruction(block, i)).collect();
        let marks: Vec<Option<Mark>> = instructions.iter().map(|i| mark(*i)).collect();
        // Where a block has a mark, what lies before it is told from what comes after.
        if plugin.exact || marks.iter().any(Option::is_some) {
            for (instruction, mark) in instructions.iter().zip(marks) {
                let place = plugin.symbols.place(qemu::address(*instruction));
                let one = board::packed(place, 1);
                qemu::on_instruction(*instruction, add, qemu::NO_REGISTERS, one);
                if let Some(mark) = mark {
                    let which = mark as usize as *mut c_void;
                    qemu::on_instruction(*instruction, marked, qemu::NO_REGISTERS, which);
                }
            }
            return;
        }
        // A block may run over the end of a function into the next.
        let mut rest = instructions.as_slice();
        while let Some(first) = rest.first() {
            let place = plugin.symbols.place(qemu::address(*first));
            let here = |i: &&*mut Instruction| plugin.symbols.place(qemu::address(**i)) == place;
            let number = rest.iter().take_while(here).count();
            qemu::on_block(block, add, qemu::NO_REGISTERS, board::packed(place, number));
            rest = &rest[number..];
        }
    }
}

/// # Safety
/// The instruction is valid.
unsafe fn mark(instruction: *mut Instruction) -> Option<Mark> {
    // SAFETY: as many bytes are read as there is room for.
    unsafe {
        if qemu::size(instruction) != marks::LENGTH {
            return None;
        }
        let mut bytes = [0u8; marks::LENGTH];
        let read = qemu::bytes(instruction, bytes.as_mut_ptr().cast(), bytes.len());
        marks::read(bytes.get(..read)?)
    }
}

/// Adds to a count.
extern "C" fn add(_: c_uint, what: *mut c_void) {
    if let Some(plugin) = PLUGIN.get() {
        plugin.board.add(what);
    }
}

extern "C" fn marked(_: c_uint, which: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    let mark = [Mark::Job, Mark::Begin, Mark::End]
        .into_iter()
        .find(|mark| *mark as usize == which as usize);
    if let Some(mark) = mark {
        plugin.write(|counts| counts.mark(mark, &plugin.symbols, || plugin.board.read()));
    }
}

extern "C" fn ended(_: Id, _: *mut c_void) {
    if let Some(plugin) = PLUGIN.get() {
        plugin.write(Counts::end);
    }
}
