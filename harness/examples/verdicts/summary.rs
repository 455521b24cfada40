//! What all rows come to, to be quoted.

use crate::demands::{Check, Kind};
use crate::judges::LEVEL;
use crate::table::{TOOLS, said, share};
use crate::trials::{Outcome, SIZES};

#[derive(Default)]
pub struct Summary {
    checks: Vec<Check>,
    /// The alarms of each tool as it is used, a row each.
    used: [Vec<f64>; 4],
}

impl Summary {
    pub fn add(&mut self, outcome: &Outcome, checks: Vec<Check>) {
        self.checks.extend(checks);
        for (all, (_, says)) in self.used.iter_mut().zip(TOOLS) {
            all.push(share(&outcome.used[0], says));
        }
    }

    /// Prints it. Whether all is as it must be; of all rows together more is demanded than of some.
    pub fn print(&self, all_rows: bool) -> bool {
        let count = |is: fn(&Check) -> bool| self.checks.iter().filter(|check| is(check)).count();
        let (all, wrong) = (self.checks.len(), count(|check| !check.holds));
        let again = count(|check| check.again);
        println!("{all} figures judged: {wrong} not as they must be, {again} counted again");
        for kind in [Kind::Alarms, Kind::FalseDiscoveries, Kind::Unchanged] {
            self.worst("most", kind, |value| value);
        }
        for kind in [Kind::Normal, Kind::Other] {
            self.worst("least", kind, |value| -value);
        }
        let means = SIZES.map(|size| self.mean_alarms(size));
        let shown = means.map(|mean| format!("{mean:.4}")).join(", ");
        let sizes = SIZES.map(|size| size.to_string()).join(", ");
        let over = all_rows && means.iter().any(|mean| *mean > LEVEL);
        let verdict = if over {
            "; WRONG: above the nominal level"
        } else {
            ""
        };
        println!("alarms, mean over rows, with {sizes} cells: {shown}{verdict}");
        self.tools();
        wrong == 0 && !over
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.kind == kind)
    }

    fn worst(&self, word: &str, kind: Kind, by: fn(f64) -> f64) {
        let order = |a: &&Check, b: &&Check| by(a.value).total_cmp(&by(b.value));
        if let Some(worst) = self.of(kind).max_by(order) {
            println!("{word} of {}: {}", self.of(kind).count(), said(worst));
        }
    }

    fn mean_alarms(&self, size: usize) -> f64 {
        let of_size = self.of(Kind::Alarms).filter(|check| check.size == size);
        let (sum, count) = of_size.fold((0.0, 0.0), |(sum, count), check| {
            (sum + check.value, count + 1.0)
        });
        sum / count
    }

    fn tools(&self) {
        for ((name, _), alarms) in TOOLS.iter().zip(&self.used) {
            let least = alarms.iter().copied().fold(f64::INFINITY, f64::min);
            let most = alarms.iter().copied().fold(0.0, f64::max);
            println!("{name} as used, by rows: alarms from {least:.3} to {most:.3}");
        }
    }
}
