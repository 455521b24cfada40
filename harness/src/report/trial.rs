//! The page of one trial: the answer, the verdicts, every sample, and where they come from.

use std::collections::HashMap;

use ktrial_db::{Cell, CellId, Db, Value};
use serde::Serialize;

use super::boots::{self, BootRow, Console};
use super::chart::{Chart, Frame};
use super::counted::{self, Counted};
use super::figures::{BootFigures, Figures};
use super::format::{self, Scale};
use super::host::{self, HostSection};
use super::index::tree_name;
use super::kernels::{self, Made};
use super::profiles::{self, Profiles};
use super::record::{Record, has_failed};
use super::site::Extra;
use super::text;
use super::verdict::{self, Badge, Comparison, Headline, is_told};
use crate::fault::Result;
use crate::guest::Shape;

/// What `trial.html` shows.
#[derive(Debug, Serialize)]
pub(super) struct TrialPage {
    id: i64,
    title: String,
    headlines: Vec<Headline>,
    /// What a trial that failed showed beside its first line; may be empty.
    evidence: String,
    facts: Facts,
    comparisons: Vec<Comparison>,
    counted: Vec<Counted>,
    profiles: Profiles,
    /// What the trial hangs on, then what was seen on the side.
    cells: Vec<CellFigure>,
    side_cells: Vec<CellFigure>,
    made: Vec<Made>,
    host: Option<HostSection>,
    boots: Vec<BootRow>,
    boots_failed: usize,
    consoles: Vec<Console>,
}

#[derive(Debug, Serialize)]
struct Facts {
    tree: String,
    tree_source: String,
    base_commit: String,
    clock: String,
    accelerator: String,
    rounds: u32,
    margin: String,
    seed: String,
    shape: String,
    started: String,
    finished: Option<String>,
    command: String,
    version: String,
    machine: String,
    cpu: String,
    cpus: u32,
    memory: String,
    os: String,
    machine_facts: Option<String>,
}

/// One cell: its chart and the table behind it.
#[derive(Debug, Serialize)]
struct CellFigure {
    cell: i64,
    name: String,
    parameters: String,
    better: String,
    /// The worst verdict on it, if it was judged.
    badge: Option<Badge>,
    chart: Option<Chart>,
    /// What the chart says, in words.
    summary: String,
    outliers: usize,
    /// Why there are runs without a number, each reason once.
    reasons: Vec<String>,
    /// What the table's numbers are in: `, µs`.
    unit: String,
    rows: Vec<FigureRow>,
}

#[derive(Debug, Serialize)]
struct FigureRow {
    variant: String,
    round: u32,
    boot: i64,
    median: String,
    outlier: bool,
    warmups: String,
    runs: String,
}

/// The page and the files beside it.
///
/// # Errors
/// A host fault if the database can't be read.
pub(super) fn page(db: &Db, record: &Record) -> Result<(TrialPage, Vec<Extra>)> {
    let figures = Figures::of(record);
    let (made, mut extras) = kernels::made(record);
    let (consoles, files) = boots::consoles(db, record)?;
    extras.extend(files);
    let (cells, side_cells) = cell_figures(record, &figures);
    let (profiles, pictures) = profiles::profiles(db, record)?;
    extras.extend(pictures);
    let (host, picture) = host::section(record);
    extras.extend(picture);
    let page = TrialPage {
        id: record.number(),
        title: record.trial.title.clone(),
        headlines: verdict::headlines(record),
        evidence: evidence(record),
        facts: facts(record),
        comparisons: verdict::comparisons(record, &figures),
        counted: counted::counted(record, &figures),
        profiles,
        cells,
        side_cells,
        made,
        host,
        boots: boots::table(record),
        boots_failed: record.boots.iter().filter(|boot| has_failed(boot)).count(),
        consoles,
    };
    Ok((page, extras))
}

fn facts(record: &Record) -> Facts {
    let (trial, machine) = (&record.trial, &record.machine);
    let machine_facts = Some(&machine.facts_json).filter(|json| json.trim() != "{}");
    Facts {
        tree: tree_name(record),
        tree_source: record.tree.source.clone(),
        base_commit: record.tree.base_commit.clone(),
        clock: trial.clock.clone(),
        accelerator: trial.accelerator.clone(),
        rounds: trial.rounds,
        margin: format::share(trial.margin),
        seed: trial.seed.to_string(),
        shape: shape(&trial.shape_json),
        started: format::when(trial.started_at),
        finished: trial.finished_at.map(format::when),
        command: trial.command_line.clone(),
        version: trial.ktrial_version.clone(),
        machine: machine.hostname.clone(),
        cpu: machine.cpu_model.clone(),
        cpus: machine.cpus,
        memory: format::size(machine.memory_bytes),
        os: machine.os_release.clone(),
        machine_facts: machine_facts.map(|json| text::pretty_json(json)),
    }
}

/// `2 CPUs, 2.00 GiB`, or the JSON as it is where it is no shape.
fn shape(json: &str) -> String {
    match serde_json::from_str::<Shape>(json) {
        Ok(shape) => {
            let memory = format::size(u64::from(shape.memory_mib) << 20);
            format!("{}, {memory}", shape.words())
        }
        Err(_) => json.to_owned(),
    }
}

fn cell_figures(
    record: &Record,
    figures: &HashMap<CellId, Figures>,
) -> (Vec<CellFigure>, Vec<CellFigure>) {
    let variants = record.trial.variants.iter();
    let names: Vec<String> = variants.map(|variant| variant.name.clone()).collect();
    let (mut primary, mut side) = (Vec::new(), Vec::new());
    for (id, cell) in &record.cells {
        if let Some(figures) = figures.get(id).filter(|_| is_told(record, *id, cell)) {
            let figure = cell_figure(record, *id, cell, figures, &names);
            if cell.primary {
                primary.push(figure)
            } else {
                side.push(figure)
            }
        }
    }
    (primary, side)
}

fn cell_figure(
    record: &Record,
    id: CellId,
    cell: &Cell,
    figures: &Figures,
    names: &[String],
) -> CellFigure {
    let frame = Frame {
        unit: &cell.unit,
        names,
        margin: record.trial.margin,
    };
    let boots = || figures.variants.iter().flat_map(|variant| &variant.boots);
    let scale = Scale::of(figures.size(), &cell.unit);
    CellFigure {
        cell: id.0,
        name: format!("{} {}", cell.workload, cell.metric),
        parameters: cell.setting(),
        better: cell.better.clone(),
        badge: worst(record, id),
        chart: Chart::of(figures, &frame),
        summary: summary(figures, names, &cell.unit),
        outliers: boots().filter(|boot| boot.outlier).count(),
        reasons: reasons(boots()),
        rows: rows(figures, names, &scale),
        unit: match scale.suffix.trim() {
            "" => String::new(),
            unit => format!(", {unit}"),
        },
    }
}

fn worst(record: &Record, cell: CellId) -> Option<Badge> {
    let of_cell = record
        .verdicts
        .iter()
        .filter(|verdict| verdict.cell == cell);
    of_cell
        .map(|verdict| Badge::of(&verdict.verdict))
        .min_by_key(Badge::rank)
}

/// `base 6,691/s over 5 boots; patched 6,211/s over 5 boots`.
fn summary(figures: &Figures, names: &[String], unit: &str) -> String {
    let said = figures.variants.iter().zip(names).map(|(variant, name)| {
        let boots = format::count(variant.boots.len(), "boot");
        match variant.middle() {
            Some(middle) => format!("{name} {} over {boots}", format::value(middle, unit)),
            None => format!("{name} has no value in {boots}"),
        }
    });
    said.collect::<Vec<_>>().join("; ")
}

fn reasons<'a>(boots: impl Iterator<Item = &'a BootFigures>) -> Vec<String> {
    let mut reasons = Vec::new();
    for run in boots.flat_map(|boot| &boot.runs) {
        let reason = match &run.value {
            Value::Unsupported(why) => format!("unsupported: {why}"),
            Value::Failed(why) => format!("failed: {why}"),
            Value::Missing => "missing: asked for, and nothing came".to_owned(),
            Value::Ok(_) => continue,
        };
        // A guest can give another reason for each run; ten are enough to see that.
        if reasons.len() < 10 && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

fn rows(figures: &Figures, names: &[String], scale: &Scale) -> Vec<FigureRow> {
    let both = figures.variants.iter().zip(names);
    let all = both.flat_map(|(variant, name)| variant.boots.iter().map(move |boot| (boot, name)));
    let row = |(boot, name): (&BootFigures, &String)| FigureRow {
        variant: name.clone(),
        round: boot.round + 1,
        boot: boot.boot.0,
        median: boot
            .median
            .map_or("none".into(), |median| scale.bare(median)),
        outlier: boot.outlier,
        warmups: values(boot, true, scale),
        runs: values(boot, false, scale),
    };
    all.map(row).collect()
}

fn values(boot: &BootFigures, warmup: bool, scale: &Scale) -> String {
    let runs = boot.runs.iter().filter(|run| run.warmup == warmup);
    let said = runs.map(|run| match &run.value {
        Value::Ok(number) => scale.bare(*number),
        Value::Missing => "missing".into(),
        Value::Unsupported(_) => "unsupported".into(),
        Value::Failed(_) => "failed".into(),
    });
    said.collect::<Vec<_>>().join("  ")
}

/// The lines below the first of what stopped the trial: the console's, the compiler's.
fn evidence(record: &Record) -> String {
    let failure = record.trial.failure.as_deref().unwrap_or_default();
    let lines = failure.lines().skip(1).map(|line| line.trim_start());
    lines.collect::<Vec<_>>().join("\n")
}
