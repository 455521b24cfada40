//! One cell of one variant, look by look: what each look says and what has been seen by now.

use super::boots::levels;
use super::contrast::{Boot, Contrast};
use super::group::{Group, Lack};
use super::looks::Looks;
use super::modes;
use super::ranks::RankSums;

/// What is known of the shift from base to variant, on logarithms.
#[derive(Debug)]
pub(super) struct Course {
    /// The last look that is complete; none before the first one is.
    pub(super) look: Option<usize>,
    /// Boots of each side that it rests on.
    pub(super) boots: (u32, u32),
    /// The two sides compared, with all boots that it rests on.
    pub(super) contrast: Contrast,
    /// The overall p-value of "no shift": it holds however often it was looked.
    pub(super) p: f64,
    /// Whether at some look both one-sided tests found the shift inside the margin.
    pub(super) inside: bool,
    /// Whether the rounds that are left would hardly settle it.
    pub(super) hopeless: bool,
}

/// Why two groups cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Silence {
    Lack(Lack),
    NotPositive,
    NoSpread,
    TooFew,
}

/// Each of the two one-sided tests against the margin may err in 5 % of trials (Schuirmann,
/// J. Pharmacokinet. Biopharm. 15, 1987): one two-sided test at twice that.
pub(super) const EQUIVALENCE: f64 = 0.10;

/// Both sides compared after the rounds of a look, or with what there is before the first one.
#[derive(Debug)]
pub(super) struct Compared {
    look: Option<usize>,
    boots: (u32, u32),
    contrast: Contrast,
    /// How much the boots look like two modes.
    modes: Option<modes::Score>,
}

/// Compares two groups at each look that is complete.
pub(super) fn compare(
    base: &Group,
    variant: &Group,
    looks: &Looks,
) -> Result<Vec<Compared>, Silence> {
    if let Some(lack) = base.lack.as_ref().or(variant.lack.as_ref()) {
        return Err(Silence::Lack(lack.clone()));
    }
    let mut values = base.values.iter().chain(&variant.values).flatten();
    if values.any(|value| *value <= 0.0) {
        return Err(Silence::NotPositive);
    }
    let rounds = base.whole_rounds().min(variant.whole_rounds());
    let complete = looks.rounds().iter().take_while(|look| **look <= rounds);
    let mut compared = Vec::new();
    for (look, &until) in complete.enumerate() {
        let boots = (base.until(until), variant.until(until));
        compared.push(at(Some(look), base, variant, boots)?);
    }
    if compared.is_empty() {
        let boots = (base.values.len(), variant.values.len());
        compared.push(at(None, base, variant, boots)?);
    }
    Ok(compared)
}

/// By look: how far boots fall into two modes. A cell that has ended counts as it was last seen.
pub(super) fn modes_by_look<'a>(
    cells: impl Iterator<Item = &'a Vec<Compared>> + Clone,
    looks: &Looks,
) -> Vec<f64> {
    let share = |look: usize| {
        let seen = cells.clone().filter_map(|of| of.get(look).or(of.last()));
        modes::share(seen.filter_map(|compared| compared.modes))
    };
    (0..looks.rounds().len()).map(share).collect()
}

impl Course {
    /// Goes through the looks; `modes` is by look, `margin` on logarithms. None of no looks.
    pub(super) fn of(
        compared: Vec<Compared>,
        modes: &[f64],
        looks: &Looks,
        margin: f64,
    ) -> Option<Course> {
        let mut course: Option<Course> = None;
        for now in compared {
            let modes = now.look.and_then(|look| modes.get(look)).copied();
            let contrast = now.contrast.among(modes.unwrap_or(0.0));
            let mut next = Course {
                look: now.look,
                boots: now.boots,
                contrast,
                p: 1.0,
                inside: false,
                hopeless: false,
            };
            if let Some(look) = now.look {
                let before = course.as_ref().map_or((1.0, false), |c| (c.p, c.inside));
                let p = next.contrast.p(0.0);
                let level = looks.nominal(look, EQUIVALENCE);
                next.p = before.0.min(looks.overall(look, p));
                next.inside = before.1 || is_inside(&next.contrast, margin, level);
                next.hopeless =
                    looks.is_hopeless(look, p) && !next.may_be_inside(looks, look, margin);
            }
            course = Some(next);
        }
        course
    }

    /// The interval that holds at every look, if there is one yet.
    pub(super) fn interval(&self, looks: &Looks, level: f64) -> Option<(f64, f64)> {
        let nominal = looks.nominal(self.look?, 1.0 - level);
        self.contrast.interval(1.0 - nominal)
    }

    /// Whether the interval of the last look would fit inside the margin if the estimate stayed:
    /// it shrinks with the root of the boots.
    fn may_be_inside(&self, looks: &Looks, look: usize, margin: f64) -> bool {
        let (Some((low, high)), Some(last)) = (
            self.contrast
                .interval(1.0 - looks.nominal(look, EQUIVALENCE)),
            looks.rounds().last(),
        ) else {
            return true;
        };
        let shrink = (f64::from(looks.rounds()[look]) / f64::from(*last)).sqrt();
        (high - low) / 2.0 * shrink <= margin - self.contrast.estimate().abs()
    }
}

/// Two one-sided tests against the margin, each at half of `level`.
fn is_inside(contrast: &Contrast, margin: f64, level: f64) -> bool {
    contrast.estimate().abs() < margin
        && [-margin, margin]
            .iter()
            .all(|edge| contrast.p(*edge) <= level)
}

/// The first `n` boots of the base and `m` of the variant compared.
fn at(
    look: Option<usize>,
    base: &Group,
    variant: &Group,
    (n, m): (usize, usize),
) -> Result<Compared, Silence> {
    let logs: Vec<Vec<f64>> = base.values[..n]
        .iter()
        .chain(&variant.values[..m])
        .map(|boot| boot.iter().map(|value| value.ln()).collect())
        .collect();
    let values: Option<Vec<f64>> = levels(&logs).into_iter().collect();
    let values = values.ok_or(Silence::Lack(Lack::Missing))?;
    let rounds = base.rounds[..n].iter().chain(&variant.rounds[..m]);
    let boots: Vec<Boot> = rounds
        .zip(&values)
        .map(|(&round, &value)| Boot { round, value })
        .collect();
    let (base, variant) = boots.split_at(n);
    if n < 2 || m < 2 {
        return Err(Silence::TooFew);
    }
    // Chance must show: where it does not, it was not let in, and nothing can be concluded.
    let ranks = RankSums::new(n, m);
    Ok(Compared {
        look,
        boots: (n as u32, m as u32),
        contrast: Contrast::with(base, variant, ranks).ok_or(Silence::NoSpread)?,
        modes: modes::score(&values[..n], &values[n..]),
    })
}
