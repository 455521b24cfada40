//! What QEMU calls.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::BufWriter;
use std::slice;
use std::sync::{Mutex, OnceLock};

use crate::counts::Counts;
use crate::marks::{self, Mark};
use crate::qemu::{self, Block, Counter, Id, Info, Instruction, Scoreboard};
use crate::symbols::Symbols;

/// Read by QEMU before anything else.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = qemu::VERSION;

static PLUGIN: OnceLock<Plugin> = OnceLock::new();

struct Plugin {
    symbols: Symbols,
    board: *mut Scoreboard,
    /// Each instruction is counted when it runs, and not with its block.
    exact: bool,
    counts: Mutex<Counts<BufWriter<File>>>,
}

// SAFETY: the scoreboard is QEMU's, which gives each vCPU a row of its own.
unsafe impl Send for Plugin {}
// SAFETY: as above; everything else in it is Sync.
unsafe impl Sync for Plugin {}

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
            Counts::begin(BufWriter::new(out)).map_err(|e| format!("write {path}: {e}"))?;
        // SAFETY: it may be called at any time.
        let board = unsafe { qemu::new_scoreboard(symbols.places() * size_of::<u64>()) };
        Ok(Plugin {
            symbols,
            board,
            exact: options.get("exact") == Some(&"on"),
            counts: Mutex::new(counts),
        })
    }

    fn counter(&self, address: u64) -> Counter {
        Counter {
            score: self.board,
            offset: self.symbols.place(address) * size_of::<u64>(),
        }
    }

    /// The counters of all vCPUs, summed up by place.
    fn read(&self) -> Vec<u64> {
        let mut sums = vec![0; self.symbols.places()];
        // SAFETY: every vCPU has a row of so many numbers. In virtual time no other vCPU runs now.
        unsafe {
            for vcpu in 0..c_uint::try_from(qemu::vcpus()).unwrap_or(0) {
                let row = qemu::row(self.board, vcpu).cast::<u64>();
                for (sum, count) in sums
                    .iter_mut()
                    .zip(slice::from_raw_parts(row, self.symbols.places()))
                {
                    *sum += count;
                }
            }
        }
        sums
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
                let counter = plugin.counter(qemu::address(*instruction));
                qemu::count_instruction(*instruction, qemu::ADD, counter, 1);
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
            let counter = plugin.counter(qemu::address(*first));
            let here =
                |i: &&*mut Instruction| plugin.counter(qemu::address(**i)).offset == counter.offset;
            let number = rest.iter().take_while(here).count();
            qemu::count_block(block, qemu::ADD, counter, number as u64);
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

extern "C" fn marked(_: c_uint, which: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    let mark = [Mark::Job, Mark::Begin, Mark::End]
        .into_iter()
        .find(|mark| *mark as usize == which as usize);
    if let Some(mark) = mark {
        plugin.write(|counts| counts.mark(mark, &plugin.symbols, || plugin.read()));
    }
}

extern "C" fn ended(_: Id, _: *mut c_void) {
    if let Some(plugin) = PLUGIN.get() {
        plugin.write(Counts::end);
    }
}
