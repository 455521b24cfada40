//! Parameter sweeps read as curves: where they stop rising, where an effect begins and ends, and
//! whether odd counts behave differently.
//!
//! A sweep is three cells or more of one workload and metric that differ in one number. Each point
//! is what its own cell says: cells borrow no strength from each other, and where an effect begins
//! and ends is read off their verdicts.

mod parity;
mod words;

use std::collections::BTreeMap;

use ktrial_db::{Cell, CellId, Verdict};

use crate::counters;

/// A knee is where a curve comes within this share of its best.
const NEAR: f64 = 0.95;
/// Fewer points are no curve.
const LEAST_POINTS: usize = 3;

/// One sweep of one variant against the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the workload.
    pub workload: String,
    /// The other parameters, which are the same at all points: "fds=500000 touch=0".
    pub others: String,
    /// The parameter that differs: "threads".
    pub parameter: String,
    /// What is measured: "rate".
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Whether the workload exists to measure this.
    pub primary: bool,
    /// The cells, by value of the parameter.
    pub points: Vec<Point>,
    /// The base's knee. None where fewer than three points have a figure.
    pub base: Option<Knee>,
    /// The variant's knee.
    pub variant: Option<Knee>,
    /// Where the variant differs, in order.
    pub effects: Vec<Effect>,
    /// How far odd counts of the base lie off their even neighbours, as a share, where they do.
    pub odd_base: Option<f64>,
    /// The same of the variant.
    pub odd_variant: Option<f64>,
}

/// One cell of a sweep, with its verdict's figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The parameter's value.
    pub at: u64,
    /// The base's estimate, in the metric's unit.
    pub base: Option<f64>,
    /// The variant's estimate.
    pub variant: Option<f64>,
    /// Variant over base.
    pub ratio: Option<f64>,
    /// The ratio's interval, where it has both ends.
    pub interval: Option<(f64, f64)>,
    /// The verdict's word.
    pub verdict: String,
    /// The margin it was judged by, as a share.
    pub margin: f64,
}

/// Where a curve is at its best: the best figure measured, and the values that come within 5 % of
/// it. A rate's knee is the first of them, a latency's the last; no model is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The parameter's value at the best figure.
    pub best_at: u64,
    /// The best figure.
    pub best: f64,
    /// The first value within 5 % of it.
    pub from: u64,
    /// The last value within 5 % of it.
    pub to: u64,
    /// The figure at the largest value, over the best.
    pub end: f64,
}

/// Neighbouring values at which the variant has the same effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// "improved" or "regressed".
    pub verdict: String,
    /// The first value.
    pub from: u64,
    /// The last value.
    pub to: u64,
    /// The smallest and the largest ratio.
    pub ratios: (f64, f64),
}

/// The sweeps among the verdicts of one variant against one base, in the order of the cells, what a
/// workload is for first.
pub fn curves(cells: &[(CellId, Cell)], verdicts: &[&Verdict]) -> Vec<Curve> {
    let verdicts: BTreeMap<CellId, &Verdict> = verdicts.iter().map(|v| (v.cell, *v)).collect();
    let mut sweeps: Vec<Curve> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (id, cell) in cells {
        let Some(verdict) = verdicts.get(id).filter(|_| !counters::explains(cell)) else {
            continue;
        };
        for (parameter, at, others) in numbers(&cell.parameters) {
            let key = [
                &cell.workload,
                &others,
                parameter,
                &cell.metric,
                &cell.unit,
                &cell.better,
            ];
            let place = *known.entry(key.join("\n")).or_insert_with(|| {
                sweeps.push(Curve::empty(cell, parameter, others));
                sweeps.len() - 1
            });
            sweeps[place].points.push(Point::of(at, verdict));
        }
    }
    sweeps.retain(|sweep| sweep.points.len() >= LEAST_POINTS);
    sweeps.iter_mut().for_each(Curve::read);
    sweeps.sort_by_key(|sweep| !sweep.primary);
    sweeps
}

/// The parameters of a cell that are numbers, each with the text of all others.
fn numbers(parameters: &str) -> impl Iterator<Item = (&str, u64, String)> {
    let words = || parameters.split(' ').filter(|word| !word.is_empty());
    words().enumerate().filter_map(move |(place, word)| {
        let (name, value) = word.split_once('=')?;
        let others = words().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<&str> = others.map(|(_, word)| word).collect();
        Some((name, value.parse().ok()?, others.join(" ")))
    })
}

impl Point {
    fn of(at: u64, verdict: &Verdict) -> Point {
        Point {
            at,
            base: verdict.base_value,
            variant: verdict.variant_value,
            ratio: verdict.ratio,
            interval: verdict.low.zip(verdict.high),
            verdict: verdict.verdict.clone(),
            margin: verdict.margin,
        }
    }

    fn has_effect(&self) -> bool {
        matches!(self.verdict.as_str(), "improved" | "regressed")
    }
}

impl Curve {
    fn empty(cell: &Cell, parameter: &str, others: String) -> Curve {
        Curve {
            workload: cell.workload.clone(),
            others,
            parameter: parameter.to_owned(),
            metric: cell.metric.clone(),
            unit: cell.unit.clone(),
            higher_is_better: cell.better == "higher",
            primary: cell.primary,
            points: Vec::new(),
            base: None,
            variant: None,
            effects: Vec::new(),
            odd_base: None,
            odd_variant: None,
        }
    }

    /// Reads off the points what there is to say.
    fn read(&mut self) {
        self.points.sort_by_key(|point| point.at);
        self.base = self.knee(|point| point.base);
        self.variant = self.knee(|point| point.variant);
        self.effects = effects(&self.points);
        self.odd_base = parity::odd(&self.points, |point| point.base);
        self.odd_variant = parity::odd(&self.points, |point| point.variant);
    }

    fn knee(&self, figure: impl Fn(&Point) -> Option<f64>) -> Option<Knee> {
        let with_figure = |point: &Point| Some((point.at, figure(point).filter(|f| *f > 0.0)?));
        let figures: Vec<(u64, f64)> = self.points.iter().filter_map(with_figure).collect();
        if figures.len() < LEAST_POINTS {
            return None;
        }
        // Of 1, more is better, whichever way the metric goes.
        let goodness = |(_, figure): &(u64, f64)| {
            if self.higher_is_better {
                *figure
            } else {
                1.0 / figure
            }
        };
        // The first of equals: of `max_by` it would be the last.
        let (best_at, best) = *figures
            .iter()
            .rev()
            .max_by(|a, b| goodness(a).total_cmp(&goodness(b)))?;
        let near = |point: &&(u64, f64)| goodness(point) >= NEAR * goodness(&(best_at, best));
        // Its neighbours only: beyond a dip it begins anew.
        let place = figures.iter().position(|point| point.0 == best_at)?;
        let (before, after) = figures.split_at(place);
        Some(Knee {
            best_at,
            best,
            from: before
                .iter()
                .rev()
                .take_while(near)
                .last()
                .map_or(best_at, |p| p.0),
            to: after
                .iter()
                .take_while(near)
                .last()
                .map_or(best_at, |p| p.0),
            end: figures.last()?.1 / best,
        })
    }
}

/// Runs of neighbouring points with the same effect.
fn effects(points: &[Point]) -> Vec<Effect> {
    points
        .chunk_by(|a, b| a.verdict == b.verdict)
        .filter(|run| run[0].has_effect())
        .map(|run| {
            let ratios = run.iter().filter_map(|point| point.ratio);
            Effect {
                verdict: run[0].verdict.clone(),
                from: run[0].at,
                to: run[run.len() - 1].at,
                ratios: ratios.fold((f64::INFINITY, 0.0), |(low, high), ratio| {
                    (ratio.min(low), ratio.max(high))
                }),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
