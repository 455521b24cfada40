//! Series whose truth is known.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// How far outliers lie off, in sigmas, and how many there are.
const FAR: f64 = 10.0;
const SHARE: f64 = 0.05;

/// What lies around the level; sigma is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    Normal,
    /// Normal, and one value in twenty lies ten sigmas above.
    Outliers,
}

pub const NOISES: [Noise; 2] = [Noise::Normal, Noise::Outliers];

impl Noise {
    pub fn name(self) -> &'static str {
        match self {
            Noise::Normal => "normal",
            Noise::Outliers => "5 % outliers",
        }
    }
}

/// Series of `count` values that rise by `step` sigmas after the first `before` of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    pub noise: Noise,
    pub count: usize,
    pub before: usize,
    pub step: f64,
}

impl Kind {
    pub fn unchanged(noise: Noise, count: usize) -> Kind {
        Kind {
            noise,
            count,
            before: count,
            step: 0.0,
        }
    }

    fn draw(&self, random: &mut impl Rng) -> Vec<f64> {
        let one = |at| {
            let far = self.noise == Noise::Outliers && random.random_bool(SHARE);
            let level = if at < self.before { 0.0 } else { self.step };
            level + normal(random) + if far { FAR } else { 0.0 }
        };
        (0..self.count).map(one).collect()
    }

    /// `series` of them, each kind with noise of its own, the same for the same seed on any number
    /// of cores.
    pub fn series(&self, seed: u64, series: usize) -> Vec<Vec<f64>> {
        self.map(seed, series, |values| values)
    }

    /// The same, and what `f` makes of each.
    pub fn map<T: Send>(
        &self,
        seed: u64,
        series: usize,
        f: impl Fn(Vec<f64>) -> T + Sync,
    ) -> Vec<T> {
        let words = [
            seed,
            (self.noise as u64) << 32 | self.count as u64,
            self.before as u64,
            self.step.to_bits(),
        ];
        let mut key = [0; 32];
        for (chunk, word) in key.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        (0..series as u64)
            .into_par_iter()
            .map(|stream| {
                let mut random = ChaCha8Rng::from_seed(key);
                random.set_stream(stream);
                f(self.draw(&mut random))
            })
            .collect()
    }
}

/// Standard normal, by Box and Muller.
fn normal(random: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}
