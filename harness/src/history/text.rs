//! Histories for the terminal.

use std::fmt::Write;

use super::changes::{Change, FEWEST, Segment};
use super::series::{History, Point, Stretch};
use crate::timestamp::date;
use crate::verdict::figures::{bare, number};

/// The whole text: a heading for each machine and tree, and one block a cell.
pub fn render(histories: &[History]) -> String {
    let mut text = String::new();
    let mut heading = String::new();
    for history in histories {
        let (machine, tree) = (&history.machine, &history.tree);
        let own = format!(
            "{} on {} ({}, {} CPUs)\n",
            tree.name, machine.hostname, machine.cpu_model, machine.cpus
        );
        if own != heading {
            let gap = if heading.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{own}");
            heading = own;
        }
        text += &block(history);
    }
    if histories.is_empty() {
        text += "no complete trial has measured this\n";
    }
    text
}

fn block(history: &History) -> String {
    let cell = &history.cell;
    let mut text = format!(
        "\n  {}: {} {}, {} is better\n",
        format!("{} {}", cell.workload, cell.setting()).trim_end(),
        cell.metric,
        cell.unit,
        cell.better
    );
    for stretch in &history.stretches {
        text += &conditions(stretch);
        text += &levels(stretch, &cell.unit, cell.better == "higher");
    }
    for (trial, why) in &history.left_out {
        let _ = writeln!(text, "    left out: trial {trial}: {why}");
    }
    text
}

fn conditions(stretch: &Stretch) -> String {
    let mut text = String::new();
    if stretch.differences.is_empty() {
        let (clock, accelerator) = (stretch.key.get("clock"), stretch.key.get("accelerator"));
        let _ = writeln!(text, "    {clock} time ({accelerator})");
        return text;
    }
    text += "    -- not comparable with what is above:\n";
    let shown = |value: &str| {
        if value.is_empty() {
            "none".into()
        } else {
            value.to_owned()
        }
    };
    for difference in &stretch.differences {
        let (before, after) = (shown(&difference.before), shown(&difference.after));
        let _ = writeln!(text, "       {}: {before} -> {after}", difference.name);
    }
    text
}

/// Segments and the changes between them, in order of time.
fn levels(stretch: &Stretch, unit: &str, higher_is_better: bool) -> String {
    let mut text = String::new();
    let found = &stretch.found;
    for (at, segment) in found.segments.iter().enumerate() {
        if let Some(change) = at.checked_sub(1).and_then(|at| found.changes.get(at)) {
            text += &changed(&stretch.points, change, higher_is_better);
        }
        text += &level(&stretch.points, segment, unit);
    }
    if stretch.points.len() < FEWEST {
        let _ = writeln!(
            text,
            "    too few points to see a change: it takes {FEWEST}"
        );
    } else {
        let noise = found.sigma.exp_m1() * 100.0;
        let _ = writeln!(text, "    noise from point to point: {noise:.2} %");
    }
    text
}

fn level(points: &[Point], segment: &Segment, unit: &str) -> String {
    let own = &points[segment.start..segment.end];
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return String::new();
    };
    let plural = if own.len() == 1 { "" } else { "s" };
    let mut text = format!(
        "    {} to {}  {:>11} {unit}  {} point{plural}\n",
        day(first),
        day(last),
        number(segment.level.exp()),
        own.len()
    );
    for at in &segment.outliers {
        let point = &points[*at];
        let _ = writeln!(
            text,
            "      outlier: trial {}, {}, {} {unit} ({} %)",
            point.trial,
            day(point),
            number(point.value.exp()),
            percent(point.value - segment.level),
        );
    }
    text
}

fn changed(points: &[Point], change: &Change, higher_is_better: bool) -> String {
    let (before, after) = (&points[change.index - 1], &points[change.index]);
    let word = if (change.size > 0.0) == higher_is_better {
        "IMPROVED"
    } else {
        "REGRESSED"
    };
    let mut text = format!(
        "    {word} by {} % [{}, {}] %, seen from {} on\n",
        percent(change.size),
        percent(change.low),
        percent(change.high),
        day(after),
    );
    if before.commit == after.commit {
        let _ = writeln!(
            text,
            "      on one kernel, {}: what changed is not the tree",
            kernel(after)
        );
    } else {
        let _ = writeln!(text, "      after {}", kernel(before));
        let _ = writeln!(text, "      up to {}", kernel(after));
    }
    let _ = writeln!(
        text,
        "      an unchanged history shows as much {}",
        once_in(change.p)
    );
    text
}

fn kernel(point: &Point) -> String {
    let commit: String = point.commit.chars().take(12).collect();
    format!("{commit} ({}, trial {})", point.release, point.trial)
}

fn day(point: &Point) -> String {
    date(point.started_at.div_euclid(1000))
}

/// A difference of logarithms as the change in per cent that it is.
fn percent(size: f64) -> String {
    bare(size.exp_m1())
}

/// A chance as odds with two significant digits.
fn once_in(p: f64) -> String {
    let odds = (1.0 / p).min(1e6);
    let step = 10f64.powf(odds.log10().floor() - 1.0).max(1.0);
    let rounded = number((odds / step).round() * step);
    let rounded = rounded.split('.').next().unwrap_or_default();
    if odds >= 1e6 {
        format!("less than once in {rounded}")
    } else {
        format!("once in {rounded}")
    }
}
