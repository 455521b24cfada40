//! What is asked for.

use crate::host::{NOISES, Noise, Row};

const ROUNDS: [usize; 4] = [3, 5, 10, 20];
const BETWEEN: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

pub struct Options {
    pub seed: u64,
    /// Cells without a shift, and with each, for each row.
    pub null: usize,
    pub cells: usize,
    pub calibrate: bool,
    /// Only the trials that end as soon as they may.
    pub sequential: bool,
    noises: Vec<Noise>,
    rounds: Vec<usize>,
    between: Vec<f64>,
}

impl Options {
    /// Reads the command line; the word that is none of it.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            seed: 1,
            null: 99_900,
            cells: 6_000,
            calibrate: false,
            sequential: false,
            noises: Vec::new(),
            rounds: Vec::new(),
            between: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut number = || {
                let number = words.next().and_then(|word| word.parse::<u32>().ok());
                number.ok_or_else(|| format!("{word} wants a number"))
            };
            match word.as_str() {
                "--seed" => options.seed = u64::from(number()?),
                "--null" => options.null = number()? as usize,
                "--cells" => options.cells = number()? as usize,
                "--sequential" => options.sequential = true,
                "--calibrate" => options.calibrate = true,
                _ => options.choose(&word)?,
            }
        }
        Ok(options)
    }

    /// A word that chooses rows: `halves`, `n5`, `r0.5`.
    fn choose(&mut self, word: &str) -> Result<(), String> {
        let noise = NOISES
            .into_iter()
            .find(|n| format!("{n:?}").to_lowercase() == word);
        let rounds = word.strip_prefix('n').and_then(|n| n.parse().ok());
        let between = word.strip_prefix('r').and_then(|r| r.parse().ok());
        match (noise, rounds, between) {
            (Some(noise), ..) => self.noises.push(noise),
            (_, Some(rounds), _) if ROUNDS.contains(&rounds) => self.rounds.push(rounds),
            (.., Some(between)) if BETWEEN.contains(&between) => self.between.push(between),
            _ => return Err(format!("what is {word}?")),
        }
        Ok(())
    }

    /// Whether none are chosen.
    pub fn all_rows(&self) -> bool {
        self.noises.is_empty() && self.rounds.is_empty() && self.between.is_empty()
    }

    pub fn rows(&self) -> Vec<Row> {
        fn wanted<T: PartialEq>(chosen: &[T], one: &T) -> bool {
            chosen.is_empty() || chosen.contains(one)
        }
        let all = ROUNDS.into_iter().flat_map(|rounds| {
            BETWEEN.into_iter().flat_map(move |between| {
                NOISES.map(|noise| Row {
                    noise,
                    rounds,
                    between,
                })
            })
        });
        all.filter(|row| {
            wanted(&self.noises, &row.noise)
                && wanted(&self.rounds, &row.rounds)
                && wanted(&self.between, &row.between)
        })
        .collect()
    }
}
