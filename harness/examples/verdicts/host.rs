//! A host that makes noise: the samples of a trial, with what a patch really does known.

use rand::{Rng, RngExt};

/// The spread of the samples within a boot, as a share of their level.
pub const WITHIN: f64 = 0.02;
/// Samples a boot.
pub const SAMPLES: usize = 5;
/// Host drift in spreads of boots' means: from the first boot to the last along a line, and the
/// step of a walk from boot to boot.
const SLOPE: f64 = 3.0;
const WALK: f64 = 0.7;

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
    /// One in five is slow by 2.4 sigmas of the whole, and within a mode there is little noise.
    Bimodal,
}

pub const NOISES: [Noise; 7] = [
    Noise::Normal,
    Noise::Skewed,
    Noise::Heavy,
    Noise::Outliers,
    Noise::Line,
    Noise::Walk,
    Noise::Bimodal,
];

/// Standard normal, by Box and Muller.
pub fn normal(random: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

impl Noise {
    /// One value; sigma is 1 but for the outliers, whose core has it.
    fn draw(self, random: &mut impl Rng) -> f64 {
        match self {
            Noise::Normal | Noise::Line | Noise::Walk => normal(random),
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

/// Rounds of two boots each, in random order. `between` is the spread between boots in that within
/// them, `shift` the ratio of variant to base less one.
pub fn cell(noise: Noise, rounds: usize, between: f64, shift: f64, random: &mut impl Rng) -> Cell {
    let mut cell = Cell {
        base: Vec::new(),
        variant: Vec::new(),
    };
    let boots = 2.0 * rounds as f64;
    let mut drift = 0.0;
    let spread = (between * between + 1.0 / SAMPLES as f64).sqrt();
    for round in 0..rounds {
        let base_first: bool = random.random();
        for second in [false, true] {
            drift = match noise {
                Noise::Line => SLOPE * spread * (2 * round + usize::from(second)) as f64 / boots,
                Noise::Walk => drift + WALK * spread * normal(random),
                _ => 0.0,
            };
            let variant = second == base_first;
            let level = drift + between * noise.draw(random);
            let ratio = if variant { 1.0 + shift } else { 1.0 };
            let boot = (0..SAMPLES)
                .map(|_| 100.0 * ratio * (WITHIN * (level + noise.draw(random))).exp())
                .collect();
            if variant {
                cell.variant.push(boot)
            } else {
                cell.base.push(boot)
            }
        }
    }
    cell
}
