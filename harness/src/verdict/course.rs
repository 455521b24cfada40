//! One cell of one variant, look by look: what each look says and what has been seen by now.

use super::boots::levels;
use super::contrast::{Boot, Contrast};
use super::group::{Group, Lack};
use super::looks::Looks;
use super::modes;
use super::ranks::RankSums;

/// What is known of the shift from base to variant, on logarithms.
#[derive(Debug, Clone)]
pub struct Course {
    /// The last look that is complete; none before the first one is.
    pub look: Option<usize>,
    /// Boots of each side that it rests on.
    pub boots: (u32, u32),
    /// The two sides compared, with all boots that it rests on.
    pub contrast: Contrast,
    /// The overall p-value of "no shift": it holds however often it was looked.
    pub p: f64,
    /// The same by the newest look alone.
    pub newest: f64,
    /// Whether at some look both one-sided tests found the shift inside the margin.
    pub inside: bool,
    /// Whether the rounds that are left would hardly settle it.
    pub hopeless: bool,
}

/// Why two groups cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Silence {
    Lack(Lack),
    NotPositive,
    NoSpread,
    TooFew,
}

/// Confidence level of the intervals shown.
pub const LEVEL: f64 = 0.95;
/// Each of the two one-sided tests against the margin may err in 5 % of trials (Schuirmann,
/// J. Pharmacokinet. Biopharm. 15, 1987): one two-sided test at twice that.
pub(super) const EQUIVALENCE: f64 = 0.10;

/// Both sides compared after the rounds of a look, or with what there is before the first one.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Which look; none before the first one is complete.
    pub look: Option<usize>,
    /// Boots of each side.
    pub boots: (u32, u32),
    /// The two sides.
    pub contrast: Contrast,
    /// How much the boots look like two modes.
    pub modes: Option<modes::Score>,
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
    let mut last = Ok(());
    for (look, &until) in complete.enumerate() {
        let boots = (base.until(until), variant.until(until));
        match at(Some(look), base, variant, boots) {
            Ok(seen) => {
                compared.push(seen);
                last = Ok(());
            }
            // Equal values of a few boots may be chance: nothing was seen, and nothing is spent.
            Err(silence @ Silence::NoSpread) => last = Err(silence),
            Err(silence) => return Err(silence),
        }
    }
    last?;
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
        let by_then = |seen: &&Compared| seen.look.is_none_or(|seen| seen <= look);
        let seen = cells.clone().filter_map(|of| of.iter().rfind(by_then));
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
        compared.into_iter().fold(None, |before, now| {
            let modes = now.look.and_then(|look| modes.get(look)).copied();
            let modes = modes.unwrap_or(0.0);
            Some(Course::after(before.as_ref(), now, modes, looks, margin))
        })
    }

    /// The course of a cell with one look more, among cells whose boots fall into modes as far as
    /// `modes` says, 0 to 1; `margin` on logarithms.
    pub fn after(
        before: Option<&Course>,
        now: Compared,
        modes: f64,
        looks: &Looks,
        margin: f64,
    ) -> Course {
        let contrast = now.contrast.among(modes);
        let Some(look) = now.look else {
            return Course {
                look: None,
                boots: now.boots,
                contrast,
                p: 1.0,
                newest: 1.0,
                inside: false,
                hopeless: false,
            };
        };
        let p = contrast.p(0.0);
        let newest = looks.overall(look, p);
        let level = looks.nominal(look, EQUIVALENCE);
        Course {
            look: now.look,
            boots: now.boots,
            p: before.map_or(1.0, |c| c.p).min(newest),
            newest,
            inside: before.is_some_and(|c| c.inside) || is_inside(&contrast, margin, level),
            hopeless: looks.is_hopeless(look, p) && !may_be_inside(&contrast, looks, look, margin),
            contrast,
        }
    }

    /// Whether the newest look alone tells the shift from none: then its interval leaves out zero.
    pub fn is_apart(&self) -> bool {
        self.newest <= 1.0 - LEVEL
    }

    /// The interval that holds at every look, if there is one yet.
    pub(super) fn interval(&self, looks: &Looks, level: f64) -> Option<(f64, f64)> {
        let nominal = looks.nominal(self.look?, 1.0 - level);
        self.contrast.interval(1.0 - nominal)
    }
}

/// Whether the interval of the last look would fit inside the margin if the estimate stayed: it
/// shrinks with the root of the boots. The margin is on logarithms.
fn may_be_inside(contrast: &Contrast, looks: &Looks, look: usize, margin: f64) -> bool {
    let interval = contrast.interval(1.0 - looks.nominal(look, EQUIVALENCE));
    let (Some((low, high)), Some(last)) = (interval, looks.rounds().last()) else {
        return true;
    };
    let shrink = (f64::from(looks.rounds()[look]) / f64::from(*last)).sqrt();
    (high - low) / 2.0 * shrink <= margin - contrast.estimate().abs()
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
