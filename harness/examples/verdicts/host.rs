//! A host that makes noise: the samples of a trial, with what a patch really does known.

use rand::{Rng, RngExt};

/// The spread of the samples within a boot, as a share of their level.
pub const WITHIN: f64 = 0.02;
/// Samples a boot.
pub const SAMPLES: usize = 5;
/// Host drift in spreads of boots' means: from the first boot to the last along a line, and the
/// step of a walk from boot to boot, strong and weak.
const SLOPE: f64 = 3.0;
const WALK: f64 = 0.7;
const STROLL: f64 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    Normal,
    /// Lognormal with sigma 0.75: skewness 3.3.
    Skewed,
    /// Student's t with 3 degrees of freedom.
    Heavy,
    /// Normal, and one in twenty lies ten sigmas above.
    Outliers,
    /// Normal, on a host that drifts along a line.
    Line,
    /// Normal, on a host that drifts in a random walk, one step a boot.
    Walk,
    /// The same with steps less than half as long.
    Stroll,
    /// One in five is slow by 2.4 sigmas of the whole, and within a mode there is little noise.
    Bimodal,
    /// The same with two modes as frequent, two sigmas apart.
    Halves,
}

pub const NOISES: [Noise; 9] = [
    Noise::Normal,
    Noise::Skewed,
    Noise::Heavy,
    Noise::Outliers,
    Noise::Line,
    Noise::Walk,
    Noise::Stroll,
    Noise::Bimodal,
    Noise::Halves,
];

/// What a cell's boots have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    pub noise: Noise,
    /// Rounds of one boot of base and one of variant each.
    pub rounds: usize,
    /// The spread between boots in that within them.
    pub between: f64,
}

/// Standard normal, by Box and Muller.
pub fn normal(random: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

impl Noise {
    pub fn name(self) -> &'static str {
        match self {
            Noise::Normal => "normal noise",
            Noise::Skewed => "skewed noise",
            Noise::Heavy => "heavy-tailed noise",
            Noise::Outliers => "5 % outliers",
            Noise::Line => "drift along a line",
            Noise::Walk => "drift in a walk",
            Noise::Stroll => "drift in a weak walk",
            Noise::Bimodal => "two modes, 80 to 20",
            Noise::Halves => "two modes, 50 to 50",
        }
    }

    /// One value; sigma is 1 but for the outliers, whose core has it.
    fn draw(self, random: &mut impl Rng) -> f64 {
        match self {
            Noise::Normal | Noise::Line | Noise::Walk | Noise::Stroll => normal(random),
            Noise::Skewed => {
                let (s, s2) = (0.75f64, 0.75f64 * 0.75);
                let sigma = (s2.exp_m1() * s2.exp()).sqrt();
                ((s * normal(random)).exp() - (s2 / 2.0).exp()) / sigma
            }
            Noise::Heavy => {
                let chi: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                normal(random) / chi.sqrt()
            }
            Noise::Outliers => {
                let far = if random.random_bool(0.05) { 10.0 } else { 0.0 };
                normal(random) + far
            }
            Noise::Bimodal => {
                let mode = if random.random_bool(0.2) { 0.8 } else { -0.2 };
                mode * 2.42 + 0.25 * normal(random)
            }
            Noise::Halves => {
                let mode = if random.random() { 0.5 } else { -0.5 };
                mode * 1.936 + 0.25 * normal(random)
            }
        }
    }

    /// The host's drift at boot `boot` of `boots`, from that at the boot before.
    fn drift(self, before: f64, boot: usize, boots: usize, random: &mut impl Rng) -> f64 {
        match self {
            Noise::Line => SLOPE * boot as f64 / boots as f64,
            Noise::Walk => before + WALK * normal(random),
            Noise::Stroll => before + STROLL * normal(random),
            _ => 0.0,
        }
    }
}

/// A boot's samples.
pub type Samples = Vec<f64>;

/// A cell of a trial: boots of base and of variant, by round.
#[derive(Debug)]
pub struct Cell {
    pub base: Vec<Samples>,
    pub variant: Vec<Samples>,
}

/// A cell whose rounds have two boots each, in random order; `shift` is the ratio of variant to base
/// less one.
pub fn cell(row: &Row, shift: f64, random: &mut impl Rng) -> Cell {
    let mut cell = Cell {
        base: Vec::with_capacity(row.rounds),
        variant: Vec::with_capacity(row.rounds),
    };
    let boots = 2 * row.rounds;
    let mut drift = 0.0;
    let spread = (row.between * row.between + 1.0 / SAMPLES as f64).sqrt();
    for round in 0..row.rounds {
        let base_first: bool = random.random();
        for second in [false, true] {
            let boot = 2 * round + usize::from(second);
            drift = row.noise.drift(drift, boot, boots, random);
            let variant = second == base_first;
            let level = spread * drift + row.between * row.noise.draw(random);
            let ratio = if variant { 1.0 + shift } else { 1.0 };
            let samples = (0..SAMPLES)
                .map(|_| 100.0 * ratio * (WITHIN * (level + row.noise.draw(random))).exp())
                .collect();
            if variant {
                cell.variant.push(samples)
            } else {
                cell.base.push(samples)
            }
        }
    }
    cell
}
