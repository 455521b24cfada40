//! The series of points themselves, out of the database.

use std::collections::BTreeMap;

use ktrial_db::{
    BootId, Cell, CellId, Db, HistoryTrial, HistoryValue, Kernel, Machine, Tree, TrialId, Value,
};

use super::changes::{Changes, changes};
use super::key::{Difference, Key};
use crate::fault::{Fault, Result};
use crate::verdict::boots::levels;
use crate::verdict::median::median;

/// Which histories are wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Of this workload only.
    pub workload: Option<String>,
    /// Of this metric only.
    pub metric: Option<String>,
    /// Also of metrics that workloads do not exist to measure.
    pub all: bool,
}

impl Wanted {
    fn wants(&self, cell: &Cell) -> bool {
        let named = |name: &Option<String>, is: &str| name.as_deref().is_none_or(|n| n == is);
        named(&self.workload, &cell.workload)
            && named(&self.metric, &cell.metric)
            && (self.all || cell.primary || self.metric.is_some())
    }
}

/// One kernel measured in one trial: its base.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The trial.
    pub trial: TrialId,
    /// When it began, in unix milliseconds.
    pub started_at: i64,
    /// The commit that was built.
    pub commit: String,
    /// As the kernel names itself.
    pub release: String,
    /// The natural logarithm of the median of boots.
    pub value: f64,
    /// The standard error of their mean, as a logarithm; none of a single boot.
    pub error: Option<f64>,
    /// How many boots.
    pub boots: usize,
}

/// Points under equal conditions, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// The conditions.
    pub key: Key,
    /// What of them is not as in the stretch before; nothing in the first.
    pub differences: Vec<Difference>,
    /// At least one.
    pub points: Vec<Point>,
    /// Where they changed.
    pub found: Changes,
}

/// A cell over time on one machine and one tree.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// As it was found last.
    pub machine: Machine,
    /// As it was measured last.
    pub tree: Tree,
    /// What was measured.
    pub cell: Cell,
    /// In the order in which their conditions were met first. Conditions that come back go on with
    /// the stretch that they had.
    pub stretches: Vec<Stretch>,
    /// Trials that are no points, and why.
    pub left_out: Vec<(TrialId, String)>,
}

/// The histories of a database, by machine, tree and cell.
///
/// # Errors
/// A host fault from the database.
pub fn histories(db: &Db, wanted: &Wanted) -> Result<Vec<History>> {
    let places = places(db)?;
    let mut all: BTreeMap<(String, String, String, usize), History> = BTreeMap::new();
    for (order, (id, cell)) in db.history_cells()?.into_iter().enumerate() {
        if !wanted.wants(&cell) {
            continue;
        }
        for (trial, boots) in measured(db, id)? {
            let Some(place) = places.get(&trial) else {
                continue;
            };
            let (machine, tree) = (&place.machine, &place.tree);
            let group = (
                machine.key.clone(),
                tree.system.clone(),
                tree.name.clone(),
                order,
            );
            let history = all.entry(group).or_insert_with(|| History {
                machine: machine.clone(),
                tree: tree.clone(),
                cell: cell.clone(),
                stretches: Vec::new(),
                left_out: Vec::new(),
            });
            match place.point(&boots) {
                Ok(point) => history.add(place, point),
                Err(why) => history.left_out.push((trial, why)),
            }
        }
    }
    let mut histories: Vec<History> = all.into_values().collect();
    histories.iter_mut().for_each(History::look_for_changes);
    Ok(histories)
}

/// When, where and on what a trial's base ran.
struct Place {
    trial: HistoryTrial,
    machine: Machine,
    tree: Tree,
    kernel: Option<Kernel>,
}

fn places(db: &Db) -> Result<BTreeMap<TrialId, Place>> {
    let mut places = BTreeMap::new();
    for trial in db.history_trials()? {
        let kernel = match trial.kernel {
            Some(id) => db.kernel(id)?,
            None => None,
        };
        let machine = db.machine(trial.machine)?;
        let tree = db.tree(trial.tree)?;
        let place = Place {
            machine: machine.ok_or_else(|| lost("machine", trial.machine.0))?,
            tree: tree.ok_or_else(|| lost("tree", trial.tree.0))?,
            kernel,
            trial,
        };
        places.insert(place.trial.trial, place);
    }
    Ok(places)
}

fn lost(what: &str, id: i64) -> Fault {
    Fault::host(format!(
        "the database refers to {what} {id}, which is not there"
    ))
    .next("run `ktrial db check`")
}

/// The values of a cell's good boots, or why one of them has none.
type Boots = std::result::Result<BTreeMap<BootId, Vec<f64>>, String>;

/// By trial.
fn measured(db: &Db, cell: CellId) -> Result<BTreeMap<TrialId, Boots>> {
    let mut trials: BTreeMap<TrialId, Boots> = BTreeMap::new();
    for HistoryValue { trial, boot, value } in db.history_values(cell)? {
        let boots = trials.entry(trial).or_insert_with(|| Ok(BTreeMap::new()));
        let lack = match value {
            Value::Ok(value) => {
                if let Ok(boots) = boots {
                    boots.entry(boot).or_default().push(value);
                }
                continue;
            }
            Value::Missing => "a value is missing".to_owned(),
            Value::Unsupported(why) => format!("unsupported: {why}"),
            Value::Failed(why) => why,
        };
        *boots = Err(lack);
    }
    Ok(trials)
}

impl Place {
    /// The point that these boots are, or why they are none.
    fn point(&self, boots: &Boots) -> std::result::Result<Point, String> {
        if self.trial.outcome.as_deref() != Some("complete") {
            return Err("it is not complete".into());
        }
        let Some(kernel) = &self.kernel else {
            return Err("its kernel is not recorded".into());
        };
        let boots = boots.as_ref().map_err(Clone::clone)?;
        if boots.values().flatten().any(|v| *v <= 0.0) {
            return Err("a value of zero or less has no ratio".into());
        }
        let logs: Vec<Vec<f64>> = boots
            .values()
            .map(|boot| boot.iter().map(|v| v.ln()).collect())
            .collect();
        let levels: Vec<f64> = levels(&logs).into_iter().flatten().collect();
        Ok(Point {
            trial: self.trial.trial,
            started_at: self.trial.started_at,
            commit: self.tree.base_commit.clone(),
            release: kernel.release.clone(),
            value: median(&levels).ok_or("it has no values")?,
            error: standard_error(&levels),
            boots: levels.len(),
        })
    }
}

/// The standard error of the mean; of one value there is none.
fn standard_error(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (count > 1.0).then(|| (squares / (count - 1.0) / count).sqrt())
}

impl History {
    fn add(&mut self, place: &Place, point: Point) {
        let Some(kernel) = &place.kernel else { return };
        let key = Key::of(&place.trial, &place.machine, kernel, &self.cell);
        match self.stretches.iter_mut().find(|s| s.key == key) {
            Some(stretch) => stretch.points.push(point),
            None => self.stretches.push(Stretch {
                key,
                differences: Vec::new(),
                points: vec![point],
                found: changes(&[], 0.0),
            }),
        }
    }

    /// Puts points and stretches in order of time, and looks for changes in each stretch.
    fn look_for_changes(&mut self) {
        let when = |point: &Point| (point.started_at, point.trial);
        for stretch in &mut self.stretches {
            stretch.points.sort_by_key(when);
            let values: Vec<f64> = stretch.points.iter().map(|p| p.value).collect();
            let errors: Vec<f64> = stretch.points.iter().filter_map(|p| p.error).collect();
            stretch.found = changes(&values, median(&errors).unwrap_or(0.0));
        }
        self.stretches.sort_by_key(|s| s.points.first().map(when));
        for at in 1..self.stretches.len() {
            let before = &self.stretches[at - 1].key;
            self.stretches[at].differences = before.differences(&self.stretches[at].key);
        }
    }
}
