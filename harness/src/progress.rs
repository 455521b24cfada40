//! What is running, how far it is, and how long it will take. Bars on a terminal; elsewhere one
//! line when a task starts and one when it ends, so that a log stays readable.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::terminal::{complain, plain};

/// Where progress is shown: standard error.
#[derive(Clone)]
pub struct Progress {
    bars: Option<MultiProgress>,
    quiet: bool,
}

/// One task on display.
pub struct Task {
    bar: Option<ProgressBar>,
    name: String,
    total: Option<u64>,
    start: Instant,
    quiet: bool,
}

impl Progress {
    /// Bars if standard error is a terminal, else lines; nothing if `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        Progress {
            bars: (terminal && !quiet).then(MultiProgress::new),
            quiet,
        }
    }

    /// Shows one line that stays.
    pub fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) => drop(bars.println(plain(line))),
            None if !self.quiet => complain(line),
            None => {}
        }
    }

    /// Starts a task of `total` steps, or of an unknown number.
    pub fn task(&self, name: &str, total: Option<u64>) -> Task {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(match total {
                Some(total) => ProgressBar::new(total),
                None => ProgressBar::new_spinner(),
            });
            let template = match total {
                Some(_) => "{prefix} {bar:24} {pos}/{len} {elapsed}, {eta} left  {wide_msg}",
                None => "{prefix} {spinner} {elapsed} {pos}  {wide_msg}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_prefix(name.to_owned());
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        if bar.is_none() && !self.quiet {
            complain(&format!("{name} ..."));
        }
        Task {
            bar,
            name: name.to_owned(),
            total,
            start: Instant::now(),
            quiet: self.quiet,
        }
    }
}

impl Task {
    /// Moves to `done` steps.
    pub fn at(&self, done: u64, note: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(note.to_owned());
        }
    }

    /// Moves to `done` steps; where there is no bar, a line says so.
    pub fn step(&self, done: u64, note: &str) {
        self.at(done, note);
        if self.bar.is_none() && !self.quiet {
            let of = self
                .total
                .map_or(String::new(), |total| format!(" of {total}"));
            complain(&format!("{}: {done}{of}, {note}", self.name));
        }
    }

    /// Ends the task with a word on its outcome.
    pub fn end(self, outcome: &str) {
        let line = format!(
            "{}: {outcome} ({})",
            self.name,
            duration(self.start.elapsed())
        );
        match &self.bar {
            Some(bar) => bar.suspend(|| complain(&line)),
            None if !self.quiet => complain(&line),
            None => {}
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `48 s`, `6 min 02 s`, `1 h 05 min`.
pub fn duration(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        10..=119 => format!("{s} s"),
        120..=5_399 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3_600, s % 3_600 / 60),
    }
}
