//! Which line of the file a line of the decoded text comes from.

/// A table of the lines at which the two begin to differ by another number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LineMap {
    starts: Vec<(u32, u32)>,
}

impl LineMap {
    /// Text that starts at this line of the file and is as it stands there.
    pub(super) fn starting_at(line: usize) -> LineMap {
        let mut map = LineMap::default();
        map.start(1, line);
        map
    }

    /// From line `text` of the text on, lines come from line `file` on of the
    /// file. Both count from 1, and `text` never goes back.
    pub(super) fn start(&mut self, text: usize, file: usize) {
        let (text, file) = (to_u32(text), to_u32(file));
        match self.starts.last_mut() {
            Some(last) if last.0 == text => last.1 = file,
            Some(&mut (t, f)) if text.wrapping_sub(t) == file.wrapping_sub(f) => {}
            _ => self.starts.push((text, file)),
        }
    }

    /// Adds the table of text that begins after `ended` lines of this one's.
    pub(super) fn append(&mut self, other: &LineMap, ended: usize) {
        for &(text, file) in &other.starts {
            self.start(ended + text as usize, file as usize);
        }
    }

    /// The line of the file from which this line of the text comes.
    pub(super) fn line(&self, text: usize) -> usize {
        let after = self.starts.partition_point(|&(t, _)| t as usize <= text);
        match after.checked_sub(1).and_then(|at| self.starts.get(at)) {
            Some(&(t, file)) => file as usize + (text - t as usize),
            None => text,
        }
    }
}

/// Files are of 64 MiB at most, so this never cuts.
fn to_u32(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
