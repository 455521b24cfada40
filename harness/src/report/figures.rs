//! The figures of one cell, boot by boot: what charts and tables show.

use std::collections::HashMap;

use ktrial_db::{BootId, CellId, Sample, Value, VariantId};

use super::record::{Record, is_good};

/// One cell's figures, by variant in the trial's order.
pub(super) struct Figures {
    pub(super) variants: Vec<VariantFigures>,
}

/// One variant's figures in a cell, by boot in the order of time.
pub(super) struct VariantFigures {
    pub(super) variant: VariantId,
    pub(super) boots: Vec<BootFigures>,
}

/// One boot's figures in a cell.
pub(super) struct BootFigures {
    pub(super) boot: BootId,
    pub(super) round: u32,
    /// In the order they were taken, warm-ups first.
    pub(super) runs: Vec<Run>,
    /// Of the runs that count; none when there are none.
    pub(super) median: Option<f64>,
    /// Whether the median lies outside Tukey's fences over the variant's boots.
    pub(super) outlier: bool,
}

/// One measurement.
pub(super) struct Run {
    pub(super) warmup: bool,
    pub(super) value: Value,
}

impl Run {
    /// The number, if there is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Ok(number) => Some(number),
            _ => None,
        }
    }
}

impl Figures {
    /// Sorts the samples of good boots by cell.
    pub(super) fn of(record: &Record) -> HashMap<CellId, Figures> {
        let mut by_place: HashMap<(CellId, BootId), Vec<&Sample>> = HashMap::new();
        for sample in &record.samples {
            by_place
                .entry((sample.cell, sample.boot))
                .or_default()
                .push(sample);
        }
        let figures = |cell| {
            let variants = record.trial.variants.iter();
            let variants = variants
                .map(|v| variant_figures(record, &by_place, cell, v.id))
                .collect();
            (cell, Figures { variants })
        };
        record
            .cells
            .iter()
            .map(|(cell, _)| figures(*cell))
            .collect()
    }

    /// How large the numbers are: the largest, without its sign.
    pub(super) fn size(&self) -> f64 {
        let runs = self
            .variants
            .iter()
            .flat_map(|v| &v.boots)
            .flat_map(|boot| &boot.runs);
        runs.filter_map(Run::number)
            .map(f64::abs)
            .fold(0.0, f64::max)
    }

    /// The figures of one variant.
    pub(super) fn variant(&self, id: VariantId) -> Option<&VariantFigures> {
        self.variants.iter().find(|figures| figures.variant == id)
    }
}

impl VariantFigures {
    /// The medians of the boots that have one.
    pub(super) fn medians(&self) -> Vec<f64> {
        self.boots.iter().filter_map(|boot| boot.median).collect()
    }

    /// The middle of the boots' medians.
    pub(super) fn middle(&self) -> Option<f64> {
        quantile(&self.medians(), 0.5)
    }

    /// How far boots lie from each other: 1.4826 times the median distance from their middle,
    /// which for a normal distribution is its standard deviation, and which an outlier hardly
    /// moves. None with fewer than two boots.
    pub(super) fn spread(&self) -> Option<f64> {
        let medians = self.medians();
        let middle = quantile(&medians, 0.5)?;
        let distances: Vec<f64> = medians.iter().map(|value| (value - middle).abs()).collect();
        (medians.len() > 1).then(|| quantile(&distances, 0.5).map(|d| 1.4826 * d))?
    }
}

fn variant_figures(
    record: &Record,
    by_place: &HashMap<(CellId, BootId), Vec<&Sample>>,
    cell: CellId,
    variant: VariantId,
) -> VariantFigures {
    let boots = record
        .boots
        .iter()
        .filter(|b| is_good(b) && b.variant == variant);
    let figures = boots.filter_map(|boot| {
        let samples = by_place.get(&(cell, boot.id))?;
        Some(boot_figures(boot.id, boot.round, samples))
    });
    let mut figures = VariantFigures {
        variant,
        boots: figures.collect(),
    };
    if let Some((low, high)) = fences(&figures.medians()) {
        for boot in &mut figures.boots {
            boot.outlier = boot.median.is_some_and(|m| m < low || m > high);
        }
    }
    figures
}

fn boot_figures(boot: BootId, round: u32, samples: &[&Sample]) -> BootFigures {
    let run = |sample: &&Sample| Run {
        warmup: sample.warmup,
        value: sample.value.clone(),
    };
    let runs: Vec<Run> = samples.iter().map(run).collect();
    let counted: Vec<f64> = runs
        .iter()
        .filter(|r| !r.warmup)
        .filter_map(Run::number)
        .collect();
    BootFigures {
        boot,
        round,
        median: quantile(&counted, 0.5),
        runs,
        outlier: false,
    }
}

/// Tukey's fences: one and a half times the distance of the quartiles beyond them. Four values
/// are the fewest that have quartiles worth the name.
fn fences(values: &[f64]) -> Option<(f64, f64)> {
    let (lower, upper) = (quantile(values, 0.25)?, quantile(values, 0.75)?);
    let reach = 1.5 * (upper - lower);
    (values.len() >= 4).then_some((lower - reach, upper + reach))
}

/// The quantile `q`, between 0 and 1, interpolated between neighbours (type 7 of Hyndman and Fan,
/// the default of R and numpy). None of nothing.
pub(super) fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(medians: &[f64]) -> VariantFigures {
        let boot = |(round, median): (usize, &f64)| BootFigures {
            boot: BootId(round as i64),
            round: round as u32,
            runs: Vec::new(),
            median: Some(*median),
            outlier: false,
        };
        VariantFigures {
            variant: VariantId(1),
            boots: medians.iter().enumerate().map(boot).collect(),
        }
    }

    #[test]
    fn quantiles_are_those_of_r() {
        // quantile(c(1, 2, 3, 4, 10), c(.25, .5, .75)) and quantile(c(1, 2, 3, 4), .25) in R.
        let values = [10.0, 2.0, 4.0, 1.0, 3.0];
        let quartiles = [0.25, 0.5, 0.75].map(|q| quantile(&values, q).unwrap());
        assert_eq!(quartiles, [2.0, 3.0, 4.0]);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), Some(1.75));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.75), Some(7.0));
    }

    #[test]
    fn fences_are_one_and_a_half_quartile_distances_out() {
        // Quartiles 2 and 4: 2 - 3 = -1 and 4 + 3 = 7.
        assert_eq!(fences(&[1.0, 2.0, 3.0, 4.0, 10.0]), Some((-1.0, 7.0)));
        assert_eq!(fences(&[1.0, 2.0, 30.0]), None);
    }

    #[test]
    fn the_spread_is_the_scaled_median_distance() {
        // mad(c(1, 2, 3, 4, 10)) in R is 1.4826.
        assert_eq!(variant(&[1.0, 2.0, 3.0, 4.0, 10.0]).spread(), Some(1.4826));
        assert_eq!(variant(&[5.0, 5.0]).spread(), Some(0.0));
        assert_eq!(variant(&[5.0]).spread(), None);
    }
}
