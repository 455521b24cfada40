//! Trials of one or many cells, made of judged cells, and what comes of them.

use ktrial::verdict::adjust::benjamini_hochberg;
use ktrial::verdict::modes;

use crate::host::{Noise, Row};
use crate::judges::{LEVEL, Opinion, Used, opinions};

/// Cells of a trial.
pub const SIZES: [usize; 3] = [1, 30, 300];
/// Shifts of the cells that are shifted, variant to base.
pub const SHIFTS: [f64; 4] = [0.005, 0.01, 0.02, 0.05];
/// The shift at which finds of tools as they are used are shown.
pub const USED_SHIFT: usize = 2;
/// In trials of many cells, one in ten is shifted.
const SHIFTED: usize = 10;

/// Who decides by p-values over boots, and so can be corrected for many cells.
#[derive(Clone, Copy)]
pub enum Judge {
    Ktrial,
    Student,
    Ranks,
}

pub const JUDGES: [Judge; 3] = [Judge::Ktrial, Judge::Student, Judge::Ranks];

impl Judge {
    /// Which cells of a trial are called.
    fn calls(self, cells: &[&Opinion]) -> Vec<bool> {
        let modes = modes::share(cells.iter().filter_map(|cell| cell.modes));
        let p_of = |cell: &&Opinion| match self {
            Judge::Ktrial => cell.ktrial.map(|tests| tests.p(modes)),
            Judge::Student => Some(cell.student),
            Judge::Ranks => Some(cell.ranks),
        };
        let mut p: Vec<Option<f64>> = cells.iter().map(p_of).collect();
        benjamini_hochberg(&mut p);
        let called = |(cell, p): (&&Opinion, Option<f64>)| {
            let beyond = cell.beyond || !matches!(self, Judge::Ktrial);
            beyond && p.is_some_and(|p| p <= LEVEL)
        };
        cells.iter().zip(p).map(called).collect()
    }
}

/// A share with its standard error.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    pub mean: f64,
    pub error: f64,
}

impl Share {
    fn of(values: &[f64]) -> Share {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Share {
            mean,
            error: (squares / n / n).sqrt(),
        }
    }
}

/// How often a judge is right and wrong in trials of one size; the judges in order.
#[derive(Debug, Clone)]
pub struct Scores {
    pub size: usize,
    /// Trials without any shift that have an alarm, and their number.
    pub alarms: [f64; 3],
    pub trials: usize,
    pub shifts: Vec<AtShift>,
}

/// The same for one shift of one cell in ten.
#[derive(Debug, Clone, Copy)]
pub struct AtShift {
    /// Shifted cells that are found.
    pub finds: [f64; 3],
    /// How many more of them ktrial finds than the better of the other two.
    pub lead: Share,
    /// Of ktrial's calls, those of cells that are not shifted; the mean over trials.
    pub false_share: Share,
}

/// A row with all that comes of it.
#[derive(Debug)]
pub struct Outcome {
    pub row: Row,
    pub sizes: Vec<Scores>,
    /// Of cells judged closely: those without a shift, and those of each shift.
    pub used: Vec<Vec<Used>>,
}

/// In normal noise, where a few hundredths are judged, there are so many times the shifted cells.
const NORMAL: usize = 4;

/// Simulates a row: `null` cells without a shift and `cells` with each shift.
pub fn run(row: Row, seed: u64, null: usize, cells: usize) -> Outcome {
    let unshifted = opinions(&row, 0.0, seed, null);
    let cells = match row.noise {
        Noise::Normal => NORMAL * cells,
        _ => cells,
    };
    let shifted = SHIFTS.map(|shift| opinions(&row, shift, seed, cells));
    let sizes = SIZES.map(|size| scores(size, &unshifted, &shifted));
    let closely = |cells: &[Opinion]| cells.iter().filter_map(|cell| cell.used).collect();
    Outcome {
        row,
        sizes: sizes.to_vec(),
        used: std::iter::once(&unshifted)
            .chain(&shifted)
            .map(|cells| closely(cells))
            .collect(),
    }
}

/// Of unshifted trials of one size, the share in which ktrial has an alarm, and their number.
pub fn alarms_again(row: &Row, size: usize, seed: u64, null: usize) -> (f64, usize) {
    let unshifted = opinions(row, 0.0, seed, null);
    let rate = alarms(Judge::Ktrial, &unshifted, size);
    (rate, unshifted.len() / size)
}

fn scores(size: usize, unshifted: &[Opinion], shifted: &[Vec<Opinion>]) -> Scores {
    let of_shift = |cells: &Vec<Opinion>| {
        let [own, student, ranks] = JUDGES.map(|judge| finds(judge, unshifted, cells, size));
        let more = |than: &Finds| {
            let pairs = own.found.iter().zip(&than.found);
            Share::of(&pairs.map(|(own, other)| own - other).collect::<Vec<_>>())
        };
        let leads = [more(&student), more(&ranks)];
        AtShift {
            finds: [&own, &student, &ranks].map(|finds| Share::of(&finds.found).mean),
            lead: if leads[0].mean < leads[1].mean {
                leads[0]
            } else {
                leads[1]
            },
            false_share: Share::of(&own.false_share),
        }
    };
    Scores {
        size,
        alarms: JUDGES.map(|judge| alarms(judge, unshifted, size)),
        trials: unshifted.len() / size,
        shifts: shifted.iter().map(of_shift).collect(),
    }
}

/// The share of trials of `size` unshifted cells with any alarm.
fn alarms(judge: Judge, unshifted: &[Opinion], size: usize) -> f64 {
    let trials = unshifted.chunks_exact(size);
    let count = trials.len();
    let alarm = |trial: &[Opinion]| {
        let cells: Vec<&Opinion> = trial.iter().collect();
        judge.calls(&cells).contains(&true)
    };
    trials.filter(|trial| alarm(trial)).count() as f64 / count as f64
}

/// By trials: the share of shifted cells found, and of calls that are false.
#[derive(Default)]
struct Finds {
    found: Vec<f64>,
    false_share: Vec<f64>,
}

/// Goes through trials of `size` cells. Unshifted cells are used once each as long as they last.
fn finds(judge: Judge, unshifted: &[Opinion], shifted: &[Opinion], size: usize) -> Finds {
    let truly = size.div_ceil(SHIFTED);
    let mut others = unshifted.iter().cycle();
    let mut finds = Finds::default();
    for trial in shifted.chunks_exact(truly) {
        let mut cells: Vec<&Opinion> = trial.iter().collect();
        cells.extend(others.by_ref().take(size - truly));
        let called = judge.calls(&cells);
        let count = |called: &[bool]| called.iter().filter(|c| **c).count() as f64;
        let (right, wrong) = (count(&called[..truly]), count(&called[truly..]));
        finds.found.push(right / truly as f64);
        finds.false_share.push(wrong / (right + wrong).max(1.0));
    }
    finds
}
