//! The chart of one cell: every run of every boot, grouped by variant in the order of time. Here
//! are the coordinates; `chart.svg` draws them.

use std::ops::Range;

use serde::Serialize;

use super::figures::{BootFigures, Figures, VariantFigures};
use super::format::{self, Scale};
use super::text;

/// Room left of the plot for the axis, right of it, above it for the unit, below it for names.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 22.0;
/// Height of the plot.
const HEIGHT: f64 = 150.0;
/// Width of the plot, unless boots are so many or so few that they need another.
const WIDTH: f64 = 280.0;
/// Width of a boot's column.
const COLUMN: Range<f64> = 10.0..40.0;
/// Width of a letter below the plot, about.
const LETTER: f64 = 7.0;

/// A chart ready to be drawn; lengths are pixels.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    width: f64,
    height: f64,
    plot: Box,
    /// What the numbers at the axis are in.
    unit: String,
    ticks: Vec<Tick>,
    /// Where the base lies and what counts as equal to it.
    reference: Option<Reference>,
    groups: Vec<Group>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Box {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

#[derive(Debug, PartialEq, Serialize)]
struct Tick {
    y: f64,
    label: String,
}

#[derive(Debug, PartialEq, Serialize)]
struct Reference {
    y: f64,
    band_top: f64,
    band_height: f64,
}

/// The boots of one variant.
#[derive(Debug, Serialize)]
struct Group {
    name: String,
    x: f64,
    boots: Vec<BootMarks>,
}

#[derive(Debug, Serialize)]
struct BootMarks {
    /// What a pointer held over the boot shows.
    title: String,
    x: f64,
    /// The boot's median.
    median: Option<f64>,
    median_left: f64,
    median_right: f64,
    outlier: bool,
    runs: Vec<Dot>,
    warmups: Vec<Dot>,
    /// Runs without a number.
    crosses: Vec<Dot>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Dot {
    x: f64,
    y: f64,
}

/// What a chart is drawn from, apart from the figures.
pub(super) struct Frame<'a> {
    pub(super) unit: &'a str,
    /// Names of the variants, in the order of [`Figures::variants`].
    pub(super) names: &'a [String],
    /// Half the width of what counts as equal, as a ratio: 0.02 is 2 %.
    pub(super) margin: f64,
}

impl Chart {
    /// Lays out one cell; none when no run has a number.
    pub(super) fn of(figures: &Figures, frame: &Frame) -> Option<Chart> {
        let base = figures.variants.first().and_then(VariantFigures::middle);
        let band = base.map(|b| (b - b.abs() * frame.margin, b + b.abs() * frame.margin));
        let axis = Axis::over(figures, band, frame.unit)?;
        let slots = slots(figures);
        let column = (WIDTH / slots as f64).clamp(COLUMN.start, COLUMN.end);
        let plot = Box {
            left: LEFT,
            top: TOP,
            right: pixel(LEFT + column * slots as f64),
            bottom: TOP + HEIGHT,
        };
        let reference = base.zip(band).map(|(base, (low, high))| Reference {
            y: axis.y(base),
            band_top: axis.y(high),
            band_height: pixel(axis.y(low) - axis.y(high)),
        });
        Some(Chart {
            width: plot.right + RIGHT,
            height: plot.bottom + BOTTOM,
            unit: text::cut(axis.scale.suffix.trim(), 8),
            ticks: axis.ticks(),
            reference,
            groups: groups(figures, frame, &axis, column),
            plot,
        })
    }
}

/// Columns in all: one a boot, and an empty one between variants.
fn slots(figures: &Figures) -> usize {
    let boots: usize = figures.variants.iter().map(|v| v.boots.len()).sum();
    (boots + figures.variants.len().saturating_sub(1)).max(1)
}

fn groups(figures: &Figures, frame: &Frame, axis: &Axis, column: f64) -> Vec<Group> {
    let mut left = LEFT;
    let mut groups = Vec::new();
    for (variant, name) in figures.variants.iter().zip(frame.names) {
        let width = column * variant.boots.len() as f64;
        let center = |index: usize| left + column * (index as f64 + 0.5);
        let boots = variant.boots.iter().enumerate();
        groups.push(Group {
            name: text::cut(name, (((width + column) / LETTER) as usize).max(2) - 1),
            x: pixel(left + width / 2.0),
            boots: boots
                .map(|(i, boot)| marks(boot, name, axis, center(i), column))
                .collect(),
        });
        left += width + column;
    }
    groups
}

/// Runs stand side by side within their boot's column, in the order they were taken.
fn marks(boot: &BootFigures, variant: &str, axis: &Axis, x: f64, column: f64) -> BootMarks {
    let gap = (column * 0.6 / boot.runs.len().max(1) as f64).min(4.0);
    let middle = boot.runs.len().saturating_sub(1) as f64 / 2.0;
    let (mut runs, mut warmups, mut crosses) = (Vec::new(), Vec::new(), Vec::new());
    for (index, run) in boot.runs.iter().enumerate() {
        let x = pixel(x + (index as f64 - middle) * gap);
        match run.number() {
            Some(value) if run.warmup => warmups.push(Dot {
                x,
                y: axis.y(value),
            }),
            Some(value) => runs.push(Dot {
                x,
                y: axis.y(value),
            }),
            None => crosses.push(Dot {
                x,
                y: TOP + HEIGHT - 5.0,
            }),
        }
    }
    let half = (column * 0.36).min(10.0);
    let median = boot.median.map_or("no value".into(), |m| {
        format!("median {}", axis.scale.show(m))
    });
    let outlier = if boot.outlier { ", outlier" } else { "" };
    BootMarks {
        title: format!("{variant}, round {}: {median}{outlier}", boot.round + 1),
        x: pixel(x),
        median: boot.median.map(|value| axis.y(value)),
        median_left: pixel(x - half),
        median_right: pixel(x + half),
        outlier: boot.outlier,
        runs,
        warmups,
        crosses,
    }
}

/// From values to heights.
struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
}

impl Axis {
    /// An axis that holds every number and the band, so that noise looks as small as it is
    /// beside what counts as equal. It does not begin at zero.
    fn over(figures: &Figures, band: Option<(f64, f64)>, unit: &str) -> Option<Axis> {
        let boots = figures.variants.iter().flat_map(|v| &v.boots);
        let numbers: Vec<f64> = boots
            .flat_map(|b| &b.runs)
            .filter_map(|r| r.number())
            .collect();
        let ends = band.into_iter().flat_map(|(low, high)| [low, high]);
        let all = || numbers.iter().copied().chain(ends.clone());
        let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
        let room = match high - low {
            0.0 => (high.abs() * 0.01).max(f64::MIN_POSITIVE),
            range => range * 0.05,
        };
        let scale = Scale::of(low.abs().max(high.abs()), unit);
        // Of numbers near the end of what f64 holds, nothing sensible can be drawn.
        (high - low + 2.0 * room).is_finite().then_some(Axis {
            low: low - room,
            high: high + room,
            scale,
        })
    }

    fn y(&self, value: f64) -> f64 {
        pixel(TOP + HEIGHT * (self.high - value) / (self.high - self.low))
    }

    /// Three to six round numbers: 1, 2 or 5 times a power of ten apart.
    fn ticks(&self) -> Vec<Tick> {
        let (low, high) = (
            self.low / self.scale.divisor,
            self.high / self.scale.divisor,
        );
        let power = 10f64.powf(((high - low) / 5.0).log10().floor());
        let fits = |step: &f64| (high - low) / step <= 5.5;
        let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let step = steps.into_iter().find(fits).unwrap_or(10.0 * power);
        let places = (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
        let first = (low / step).ceil();
        let values = (0..6).map(|index| (first + f64::from(index)) * step);
        let ticks = values.take_while(|value| *value <= high).map(|value| Tick {
            y: self.y(value * self.scale.divisor),
            label: format::decimals(value, places),
        });
        ticks.collect()
    }
}

/// Rounds to a tenth of a pixel: finer is not seen, and the page stays small.
pub(super) fn pixel(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests;
