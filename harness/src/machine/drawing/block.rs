//! Pieces of a picture, and how they are put together.

use super::{Label, Rectangle};

/// Between neighbours.
pub(super) const GAP: u32 = 3;
/// Between a frame and what is in it.
const PAD: u32 = 5;
/// Height of a line of letters.
const LINE: u32 = 14;
/// Height of a bar, and of a thread's box.
const BAR: u32 = 18;
/// Of a thread's box, and a cell of a table.
const THREAD: u32 = 30;
/// Width of a letter, in tenths of its height.
const LETTER: u32 = 6;
/// The height of most letters.
const TEXT: u32 = 10;
/// Width to height of what looks well, in tenths.
const SHAPE: f64 = 1.6;
/// How much worse a grid without anything in it is than one that is e times too wide.
const EMPTY: f64 = 4.0;
/// Columns are tried up to this many.
const MOST_COLUMNS: usize = 64;

/// Something with its own origin.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) boxes: Vec<Rectangle>,
    pub(super) labels: Vec<Label>,
    /// Boxes that grow with the block: bars, and the frame around it.
    bars: Vec<usize>,
}

fn text_width(text: &str, height: u32) -> u32 {
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    letters.saturating_mul(LETTER * height) / 10 + 1
}

impl Block {
    /// Letters alone.
    pub(super) fn label(class: &'static str, text: &str, height: u32) -> Block {
        Block {
            width: text_width(text, height),
            height: height + 4,
            labels: vec![Label {
                class,
                x: 0,
                y: height,
                text: text.to_owned(),
            }],
            ..Block::default()
        }
    }

    /// A filled box with its name in it, as wide as the name at least, which grows with what stands
    /// below it.
    pub(super) fn bar(class: &str, text: &str) -> Block {
        let mut bar = Block::filled(class, "small", text, 0);
        bar.bars.push(0);
        bar
    }

    /// A thread.
    pub(super) fn thread(class: &str, text: &str) -> Block {
        Block::filled(class, "number", text, THREAD)
    }

    fn filled(class: &str, letters: &'static str, text: &str, least: u32) -> Block {
        let width = (text_width(text, TEXT) + 2 * PAD).max(least);
        Block {
            width,
            height: BAR,
            boxes: vec![Rectangle {
                class: class.to_owned(),
                x: 0,
                y: 0,
                width,
                height: BAR,
            }],
            labels: vec![Label {
                class: letters,
                x: PAD,
                y: BAR - 5,
                text: text.to_owned(),
            }],
            ..Block::default()
        }
    }

    /// A cell of a table.
    pub(super) fn cell(class: &'static str, text: &str) -> Block {
        let mut cell = Block::label(class, text, TEXT);
        cell.width = cell.width.max(THREAD);
        cell
    }

    pub(super) fn shift(&mut self, x: u32, y: u32) {
        for shown in &mut self.boxes {
            (shown.x, shown.y) = (shown.x + x, shown.y + y);
        }
        for label in &mut self.labels {
            (label.x, label.y) = (label.x + x, label.y + y);
        }
    }

    /// The same with its bars as wide as all of it.
    pub(super) fn stretched(mut self) -> Block {
        for bar in &self.bars {
            self.boxes[*bar].width = self.width;
        }
        self
    }

    /// In a frame with a name above what is in it.
    pub(super) fn framed(mut self, class: &str, text: &str) -> Block {
        self.shift(PAD, LINE + PAD);
        let width = self.width.max(text_width(text, TEXT)) + 2 * PAD;
        let height = self.height + LINE + 2 * PAD;
        let frame = Rectangle {
            class: class.to_owned(),
            x: 0,
            y: 0,
            width,
            height,
        };
        let name = Label {
            class: "small",
            x: PAD,
            y: LINE,
            text: text.to_owned(),
        };
        let mut framed = Block {
            width,
            height,
            boxes: vec![frame],
            labels: vec![name],
            // It grows with what stands above it.
            bars: vec![0],
        };
        framed.boxes.append(&mut self.boxes);
        framed.labels.append(&mut self.labels);
        framed
    }

    fn take(&mut self, mut other: Block, x: u32, y: u32) {
        other.shift(x, y);
        self.boxes.append(&mut other.boxes);
        self.labels.append(&mut other.labels);
        self.width = self.width.max(x + other.width);
        self.height = self.height.max(y + other.height);
    }
}

/// One below the other. Bars stay bars, as far as they stand in a stack of their own.
pub(super) fn stack(blocks: Vec<Block>, gap: u32) -> Block {
    let mut all = Block::default();
    for block in blocks.into_iter().filter(|block| block.height > 0) {
        let y = match all.height {
            0 => 0,
            height => height + gap,
        };
        let first = all.boxes.len();
        all.bars.extend(block.bars.iter().map(|bar| first + bar));
        all.take(block, 0, y);
    }
    all
}

/// Side by side.
pub(super) fn row(blocks: Vec<Block>) -> Block {
    let count = blocks.len();
    in_columns(blocks, count.max(1))
}

/// In rows and columns that look well; none of nothing. Neighbours of one height share a grid: weak
/// cores in groups of four do not stand between strong ones that are alone.
pub(super) fn grid(blocks: Vec<Block>) -> Option<Block> {
    let mut runs: Vec<Vec<Block>> = Vec::new();
    for block in blocks {
        match runs.last_mut() {
            Some(run) if run[0].height == block.height => run.push(block),
            _ => runs.push(vec![block]),
        }
    }
    match runs.len() {
        0 => None,
        1 => runs.pop().and_then(grid_of_equals),
        _ => {
            let grids = runs.into_iter().filter_map(grid_of_equals);
            Some(stack(grids.collect(), GAP))
        }
    }
}

fn grid_of_equals(mut blocks: Vec<Block>) -> Option<Block> {
    if blocks.len() < 2 {
        return blocks.pop();
    }
    let width = blocks.iter().map(|block| block.width).max()? + GAP;
    let height = blocks.iter().map(|block| block.height).max()? + GAP;
    let count = blocks.len();
    let badness = |columns: usize| {
        let rows = count.div_ceil(columns);
        let shape = (columns * width as usize) as f64 / (rows * height as usize) as f64;
        let cells = rows * columns;
        (shape / SHAPE).ln().abs() + EMPTY * (cells - count) as f64 / cells as f64
    };
    let candidates = 1..=count.min(MOST_COLUMNS);
    let columns = candidates.min_by(|a, b| badness(*a).total_cmp(&badness(*b)))?;
    Some(in_columns(blocks, columns))
}

/// Each column as wide as its widest, each row as high as its highest.
fn in_columns(blocks: Vec<Block>, columns: usize) -> Block {
    let mut widths = vec![0; columns.min(blocks.len())];
    for (at, block) in blocks.iter().enumerate() {
        let width: &mut u32 = &mut widths[at % columns];
        *width = (*width).max(block.width);
    }
    let mut all = Block::default();
    let (mut x, mut y) = (0, 0);
    for (at, block) in blocks.into_iter().enumerate() {
        let column = at % columns;
        if column == 0 {
            x = 0;
            y = if at == 0 { 0 } else { all.height + GAP };
        }
        all.take(block, x, y);
        x += widths[column] + GAP;
    }
    all
}
