//! Made-up trials whose oddities are known.

mod rates;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Standard normal, by Box and Muller.
fn normal(random: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// A cell of one-sided boots, `samples` a boot, with spread 1 % between boots and within them.
struct Lab {
    base: Vec<Vec<f64>>,
    variant: Vec<Vec<f64>>,
    warmups: Vec<Vec<f64>>,
}

impl Lab {
    fn new(seed: u64, boots: usize, samples: usize) -> Lab {
        Lab::with(seed, boots, samples, normal)
    }

    fn with(
        seed: u64,
        boots: usize,
        samples: usize,
        noise: impl Fn(&mut ChaCha8Rng) -> f64,
    ) -> Lab {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut side = || -> Vec<Vec<f64>> {
            let mut boot = || {
                let level = 1000.0 * (1.0 + 0.01 * noise(&mut random));
                let sample = |_| level * (1.0 + 0.01 * normal(&mut random));
                (0..samples).map(sample).collect()
            };
            (0..boots).map(|_| boot()).collect()
        };
        let (base, variant) = (side(), side());
        Lab {
            base,
            variant,
            warmups: Vec::new(),
        }
    }

    /// Multiplies a sample of both sides, given boot and iteration.
    fn shape(&mut self, factor: impl Fn(usize, usize) -> f64) -> &mut Lab {
        for side in [&mut self.base, &mut self.variant] {
            for (boot, samples) in side.iter_mut().enumerate() {
                for (at, sample) in samples.iter_mut().enumerate() {
                    *sample *= factor(boot, at);
                }
            }
        }
        self
    }

    fn notes(&self) -> Vec<Note> {
        let rounds: Vec<u32> = (0..self.base.len() as u32).collect();
        let side = |name, samples| Side {
            name,
            rounds: &rounds,
            samples,
            warmups: &self.warmups,
        };
        notes(
            side("base", &self.base),
            side("patched", &self.variant),
            0.01,
        )
    }

    fn said(&self) -> Vec<String> {
        self.notes().iter().map(ToString::to_string).collect()
    }
}

fn scale(boot: &mut [f64], factor: f64) {
    boot.iter_mut().for_each(|sample| *sample *= factor);
}

fn is_modes(note: &Note) -> bool {
    matches!(note, Note::Modes { .. })
}

#[test]
fn a_run_that_is_30_percent_better_is_marked_and_said_to_carry_the_means() {
    // As in the mail of 14 May 2006 on chgsbsize: one result more than 30 % better than the others
    // at the same settings.
    let mut lab = Lab::new(1, 12, 3);
    scale(&mut lab.variant[4], 1.32);
    let notes = lab.notes();
    let [
        Note::Carried {
            boots: 1,
            with,
            without,
            ..
        },
        Note::Boots {
            of,
            out_of: 12,
            boots,
        },
    ] = notes.as_slice()
    else {
        panic!("{notes:?}");
    };
    assert!(*with > 0.015 && without.abs() < 0.01, "{with} {without}");
    assert_eq!(
        (of.as_str(), boots.len(), boots[0].round),
        ("patched", 1, 4)
    );
    assert!((boots[0].by - 0.32).abs() < 0.03, "{}", boots[0].by);
    let said = lab.said();
    assert!(
        said[0].starts_with("outliers carry the means: +"),
        "{said:?}"
    );
    assert!(
        said[1].starts_with("patched: 1 of 12 boots lies far from the rest: round 5 (+3"),
        "{said:?}"
    );
}

#[test]
fn a_sample_far_from_its_boot_is_marked() {
    let mut lab = Lab::new(2, 10, 5);
    lab.base[3][2] *= 1.5;
    let notes = lab.notes();
    let [
        Note::Samples {
            of,
            count: 1,
            out_of: 50,
            farthest,
        },
    ] = notes.as_slice()
    else {
        panic!("{notes:?}");
    };
    assert_eq!((of.as_str(), farthest.round), ("base", 3));
    assert!((farthest.by - 0.5).abs() < 0.06, "{}", farthest.by);
}

#[test]
fn two_modes_are_named_with_where_they_lie_and_in_which_rounds() {
    let mut lab = Lab::new(3, 20, 3);
    for round in [1, 6, 7, 15] {
        scale(&mut lab.base[round], 1.25);
    }
    let notes = lab.notes();
    let Some(Note::Modes { of, low, high }) = notes.iter().find(|note| is_modes(note)) else {
        panic!("{notes:?}");
    };
    assert_eq!((of.as_str(), low.rounds.len()), ("base", 16));
    assert_eq!(high.rounds, [1, 6, 7, 15]);
    assert!((low.at - 1000.0).abs() < 15.0 && (high.at - 1250.0).abs() < 25.0);
    assert!(!notes.iter().any(|note| matches!(note, Note::Boots { .. })));
    let said = lab.said().join("\n");
    assert!(said.contains("base: two modes: 16 boots near "), "{said}");
    assert!(
        said.ends_with("the fewer in round 2, round 7, round 8, round 16"),
        "{said}"
    );
}

#[test]
fn a_first_iteration_below_the_others_is_a_warm_up() {
    let mut lab = Lab::new(4, 12, 5);
    lab.shape(|_, at| if at == 0 { 0.95 } else { 1.0 });
    let notes = lab.notes();
    let [
        Note::WarmUp {
            of,
            by,
            boots,
            out_of: 24,
        },
    ] = notes.as_slice()
    else {
        panic!("{notes:?}");
    };
    assert_eq!(of, "base and patched");
    assert!((by + 0.05).abs() < 0.01 && *boots >= 22, "{by} {boots}");
}

#[test]
fn what_settles_over_some_iterations_is_a_warm_up_and_what_goes_on_is_drift() {
    let mut settling = Lab::new(5, 12, 6);
    settling.shape(|_, at| 1.0 - 0.08 * 0.4f64.powi(at as i32));
    let notes = settling.notes();
    assert!(
        matches!(notes.as_slice(), [Note::WarmUp { .. }]),
        "{notes:?}"
    );
    let mut drifting = Lab::new(6, 12, 6);
    drifting.shape(|_, at| 1.0 - 0.02 * at as f64);
    let notes = drifting.notes();
    let [
        Note::Drift {
            by,
            boots,
            out_of: 24,
            ..
        },
    ] = notes.as_slice()
    else {
        panic!("{notes:?}");
    };
    assert!((by + 0.10).abs() < 0.015 && *boots >= 22, "{by} {boots}");
}

#[test]
fn two_iterations_tell_warm_up_from_drift_by_what_came_before_them() {
    let lab = |warmup: f64| {
        let mut lab = Lab::new(7, 12, 2);
        lab.shape(|_, at| 1.0 + 0.05 * at as f64);
        if warmup > 0.0 {
            lab.warmups = vec![vec![warmup]; 12];
        }
        lab.notes()
    };
    let [without, settling, steady] = [0.0, 700.0, 950.0].map(lab);
    assert!(
        matches!(without.as_slice(), [Note::Uneven { .. }]),
        "{without:?}"
    );
    assert!(
        matches!(settling.as_slice(), [Note::WarmUp { .. }]),
        "{settling:?}"
    );
    assert!(
        matches!(steady.as_slice(), [Note::Drift { .. }]),
        "{steady:?}"
    );
}

#[test]
fn one_side_that_drifts_alone_is_named() {
    let mut lab = Lab::new(8, 12, 6);
    for boot in &mut lab.variant {
        for (at, sample) in boot.iter_mut().enumerate() {
            *sample *= 1.0 - 0.03 * at as f64;
        }
    }
    // The other goes the other way, so that together they have no trend.
    for boot in &mut lab.base {
        for (at, sample) in boot.iter_mut().enumerate() {
            *sample *= 1.0 + 0.03 * at as f64;
        }
    }
    let notes = lab.notes();
    let [
        Note::Drift {
            of: base, by: up, ..
        },
        Note::Drift {
            of: patched,
            by: down,
            ..
        },
    ] = notes.as_slice()
    else {
        panic!("{notes:?}");
    };
    assert_eq!((base.as_str(), patched.as_str()), ("base", "patched"));
    assert!(*up > 0.1 && *down < -0.1);
}

#[test]
fn a_host_that_drifts_is_named_with_its_size() {
    let mut lab = Lab::new(9, 12, 3);
    lab.shape(|boot, _| 1.0 + 0.005 * boot as f64);
    let notes = lab.notes();
    let [
        Note::HostDrift {
            by,
            from: 0,
            to: 11,
        },
    ] = notes.as_slice()
    else {
        panic!("{notes:?}");
    };
    assert!((by - 0.055).abs() < 0.015, "{by}");
}

#[test]
fn nothing_is_said_of_zeros_of_nothing_or_of_less_than_half_the_margin() {
    let lab = |base: Vec<Vec<f64>>| Lab {
        base,
        ..Lab::new(10, 6, 2)
    };
    for base in [
        vec![vec![0.0; 2]; 6],
        vec![vec![]; 6],
        vec![],
        vec![vec![f64::NAN]],
    ] {
        assert_eq!(lab(base).notes(), []);
    }
    let mut quiet = Lab::new(11, 12, 2);
    quiet.base = vec![vec![1000.0, 1000.01]; 12];
    quiet.base[3] = vec![1004.0, 1004.01];
    quiet.variant = quiet.base.clone();
    assert_eq!(quiet.notes(), []);
    // Larger by a little, it is said.
    quiet.base[3] = vec![1006.0, 1006.01];
    assert!(matches!(quiet.notes().as_slice(), [Note::Boots { .. }]));
}

#[test]
fn notes_are_read_back_from_what_is_stored() {
    let mut lab = Lab::new(3, 20, 5);
    scale(&mut lab.variant[4], 1.32);
    for round in [1, 6, 7, 15] {
        scale(&mut lab.base[round], 1.25);
    }
    lab.variant[8][3] *= 0.7;
    lab.shape(|boot, at| (1.0 + 0.03 * boot as f64) * if at == 0 { 0.9 } else { 1.0 });
    let notes = lab.notes();
    assert!(notes.len() >= 3, "{notes:?}");
    let stored = serde_json::to_string(&notes).unwrap();
    let read: Vec<Note> = serde_json::from_str(&stored).unwrap();
    // serde_json reads a number to its last digit or the one before.
    let said = |notes: &[Note]| -> Vec<String> { notes.iter().map(ToString::to_string).collect() };
    assert_eq!(said(&read), said(&notes));
}
