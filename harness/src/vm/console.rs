//! Reads a guest's console for signs of trouble. What the guest prints is data: it is searched,
//! kept and shown, and never acted on.

/// What a console line says has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `Kernel panic - not syncing`.
    Panic,
    /// A fault in kernel mode: null pointer, bad page, bad instruction.
    Oops,
    /// `kernel BUG at`: an assertion of the kernel's own.
    Bug,
    /// A CPU that never came back to the scheduler.
    SoftLockup,
    /// A CPU that no longer takes interrupts.
    HardLockup,
    /// RCU waits for a CPU that does not answer.
    Stall,
    /// The kernel ran out of memory and killed a process.
    OutOfMemory,
    /// The agent says why it gives up.
    Agent,
}

/// What a system prints, and what it means; the first sign on the console names the ending.
pub type Signs = &'static [(&'static str, Sign)];

/// The console kept in memory: the first half and the last half of this many bytes.
const KEPT: usize = 2 << 20;
/// A line is cut here when it is searched or shown.
const LINE: usize = 512;

/// A console as it grows.
#[derive(Debug, Default)]
pub struct Console {
    signs: Signs,
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    cut: u64,
    partial: Vec<u8>,
    sign: Option<(Sign, String)>,
    /// Lines since the first sign, itself included.
    since: Vec<String>,
    last: std::collections::VecDeque<String>,
    /// Lines that begin a kernel warning; no ending, but worth a look.
    pub warnings: u32,
}

/// Lines shown as evidence.
const SHOWN: usize = 24;

impl Console {
    /// An empty console, on which these signs are looked for.
    pub fn watching(signs: Signs) -> Console {
        Console {
            signs,
            ..Console::default()
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.keep(bytes);
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.partial);
                self.line(&line);
            } else if self.partial.len() < LINE {
                self.partial.push(byte);
            }
        }
    }

    /// The first sign of trouble and its line, without the time stamp.
    pub fn sign(&self) -> Option<(Sign, &str)> {
        self.sign
            .as_ref()
            .map(|(sign, line)| (*sign, line.as_str()))
    }

    /// From the first sign on, or else the last lines; a line without its end comes too.
    pub fn last_words(&self) -> String {
        let partial = printable(&self.partial);
        let lines: Vec<&str> = match self.since.as_slice() {
            [] => self.last.iter().map(String::as_str).collect(),
            since => since.iter().map(String::as_str).collect(),
        };
        let partial = (!partial.is_empty()).then_some(partial.as_str());
        lines
            .into_iter()
            .chain(partial)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Everything, or its first and last megabyte with a marked cut.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.cut > 0 {
            let mark = format!("\n[ktrial: {} bytes of console left out]\n", self.cut);
            self.head.extend(mark.as_bytes());
        }
        self.head.extend(self.tail);
        self.head
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (KEPT / 2).saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let over = self.tail.len().saturating_sub(KEPT / 2);
        self.tail.drain(..over);
        self.cut += over as u64;
    }

    fn line(&mut self, bytes: &[u8]) {
        let line = printable(bytes);
        if line.contains("WARNING: CPU: ") {
            self.warnings += 1;
        }
        if self.sign.is_none()
            && let Some((_, sign)) = self.signs.iter().find(|(text, _)| line.contains(text))
        {
            self.sign = Some((*sign, without_time(&line).to_owned()));
        }
        if self.sign.is_some() && self.since.len() < SHOWN {
            self.since.push(line.clone());
        }
        self.last.push_back(line);
        if self.last.len() > SHOWN / 2 {
            self.last.pop_front();
        }
    }
}

/// The line without `[    2.345678] `.
fn without_time(line: &str) -> &str {
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .filter(|(time, _)| time.trim().parse::<f64>().is_ok())
        .map_or(line, |(_, text)| text)
}

/// Text without control characters, which could do things to a terminal.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| !c.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Console {
        let mut console = Console::watching(crate::guest::LINUX_SIGNS);
        console.push(text.as_bytes());
        console
    }

    #[test]
    fn the_first_sign_names_the_ending_not_the_panic_it_leads_to() {
        let console = read(
            "[    1.0] Linux version 6.1\n\
             [    2.5] kernel BUG at fs/file.c:500!\n\
             [    2.5] invalid opcode: 0000 [#1] PREEMPT SMP\n\
             [    2.6] Kernel panic - not syncing: Fatal exception\n",
        );
        assert_eq!(
            console.sign(),
            Some((Sign::Bug, "kernel BUG at fs/file.c:500!"))
        );
        assert!(console.last_words().starts_with("[    2.5] kernel BUG"));
        assert!(console.last_words().ends_with("Fatal exception"));
    }

    #[test]
    fn a_quiet_console_has_no_sign_and_its_last_lines_are_shown() {
        let text: String = (0..30).map(|i| format!("line {i}\n")).collect();
        let console = read(&(text + "half"));
        assert_eq!(console.sign(), None);
        let words = console.last_words();
        assert!(
            words.starts_with("line 18\n") && words.ends_with("line 29\nhalf"),
            "{words}"
        );
    }

    #[test]
    fn a_flood_is_cut_in_the_middle_and_says_so() {
        let mut console = Console::default();
        for _ in 0..5 {
            console.push(&vec![b'x'; 1 << 20]);
        }
        let bytes = console.into_bytes();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("[ktrial: 3145728 bytes of console left out]"));
        assert!(text.len() < KEPT + 100);
    }

    #[test]
    fn escape_sequences_never_reach_the_terminal() {
        assert!(
            !read("\x1b[31mred\x07\n")
                .last_words()
                .contains(['\x1b', '\x07'])
        );
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ -~\n]{0,300}", cut in 0usize..300) {
            let whole = read(&text);
            let mut pieces = Console::watching(crate::guest::LINUX_SIGNS);
            let cut = cut.min(text.len());
            pieces.push(&text.as_bytes()[..cut]);
            pieces.push(&text.as_bytes()[cut..]);
            prop_assert_eq!(whole.last_words(), pieces.last_words());
            prop_assert_eq!(whole.into_bytes(), pieces.into_bytes());
        }
    }
}
