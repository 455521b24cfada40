//! One cell of one variant, look by look: what each look says and what has been seen by now.

use super::boots::levels;
use super::contrast::{Boot, Contrast};
use super::group::{Group, Lack};
use super::looks::Looks;
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

impl Course {
    /// Goes through the looks; `margin` is on logarithms.
    pub(super) fn of(
        base: &Group,
        variant: &Group,
        looks: &Looks,
        margin: f64,
    ) -> Result<Course, Silence> {
        if let Some(lack) = base.lack.as_ref().or(variant.lack.as_ref()) {
            return Err(Silence::Lack(lack.clone()));
        }
        let mut values = base.values.iter().chain(&variant.values).flatten();
        if values.any(|value| *value <= 0.0) {
            return Err(Silence::NotPositive);
        }
        let rounds = base.whole_rounds().min(variant.whole_rounds());
        let complete = looks
            .rounds()
            .iter()
            .filter(|look| **look <= rounds)
            .count();
        let mut course: Option<Course> = None;
        for look in 0..complete {
            let before = course.as_ref().map_or((1.0, false), |c| (c.p, c.inside));
            let until = looks.rounds()[look];
            let mut now = at(base, variant, (base.until(until), variant.until(until)))?;
            let p = now.contrast.p(0.0);
            now.look = Some(look);
            now.p = before.0.min(looks.overall(look, p));
            now.inside =
                before.1 || is_inside(&now.contrast, margin, looks.nominal(look, EQUIVALENCE));
            now.hopeless = looks.is_hopeless(look, p) && !now.may_be_inside(looks, look, margin);
            course = Some(now);
        }
        match course {
            Some(course) => Ok(course),
            None => at(base, variant, (base.values.len(), variant.values.len())),
        }
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

/// The first `n` boots of the base and `m` of the variant compared, not as a look yet.
fn at(base: &Group, variant: &Group, (n, m): (usize, usize)) -> Result<Course, Silence> {
    let logs: Vec<Vec<f64>> = base.values[..n]
        .iter()
        .chain(&variant.values[..m])
        .map(|boot| boot.iter().map(|value| value.ln()).collect())
        .collect();
    let rounds = base.rounds[..n].iter().chain(&variant.rounds[..m]);
    let boots: Option<Vec<Boot>> = rounds
        .zip(levels(&logs))
        .map(|(&round, value)| value.map(|value| Boot { round, value }))
        .collect();
    let boots = boots.ok_or(Silence::Lack(Lack::Missing))?;
    let (base, variant) = boots.split_at(n);
    if n < 2 || m < 2 {
        return Err(Silence::TooFew);
    }
    // Chance must show: where it does not, it was not let in, and nothing can be concluded.
    let ranks = RankSums::new(n, m);
    let contrast = Contrast::with(base, variant, ranks).ok_or(Silence::NoSpread)?;
    Ok(Course {
        look: None,
        boots: (n as u32, m as u32),
        contrast,
        p: 1.0,
        inside: false,
        hopeless: false,
    })
}
