//! The rows, what must hold in them, and the peers beside them.

use std::time::Instant;

use ktrial::history::changes::{Change, FEWEST, changes};
use rayon::prelude::*;

use crate::noise::{Kind, NOISES, Noise};
use crate::options::Options;
use crate::oracle::Oracle;
use crate::otava::Otava;

/// A long history: two years of weeks.
const LONG: usize = 104;
/// Values before the step that is to be found.
const BEFORE: usize = 30;
/// A change counts as found where one is seen this near to its true place.
const NEAR: usize = 1;
/// At most this share of unchanged series may alarm.
const ALARMS: f64 = 0.01;
/// Simulation error that is allowed for, in standard errors: one row in two hundred is beyond.
const ERRORS: f64 = 2.6;

/// Over the series that are timed: one pass takes too short a time to tell.
const PASSES: u32 = 10;

fn find(values: &[f64]) -> Vec<Change> {
    changes(values, 0.0).changes
}

fn is_near(index: usize, kind: &Kind) -> bool {
    index.abs_diff(kind.before) <= NEAR
}

/// Whether these indices are right or wrong: anything in an unchanged series, or the place.
fn counts(indices: &[usize], kind: &Kind) -> bool {
    if kind.step == 0.0 {
        !indices.is_empty()
    } else {
        indices.iter().any(|index| is_near(*index, kind))
    }
}

fn share(of: impl IntoIterator<Item = bool>) -> f64 {
    let (mut yes, mut all) = (0, 0);
    for one in of {
        yes += u32::from(one);
        all += 1;
    }
    f64::from(yes) / f64::from(all.max(1))
}

fn indices(values: &[f64]) -> Vec<usize> {
    find(values).iter().map(|change| change.index).collect()
}

/// Prints everything and counts what is not as it must be.
pub fn run(options: &Options) -> usize {
    let mut faults = Faults(0);
    println!(
        "{} series a row, seed {}; sigma is 1, outliers lie 10 above; a step is found where a\n\
         change is seen at most {NEAR} from its place\n",
        options.series, options.seed
    );
    alarms(options, &mut faults);
    finds(options, &mut faults);
    weekly(options);
    intervals(options);
    match &options.python {
        Some(python) => against_otava(options, &Otava::new(python, &options.folder), &mut faults),
        None => println!("apache-otava is not here: not compared"),
    }
    println!("{} figures are not as they must be", faults.0);
    faults.0
}

struct Faults(usize);

impl Faults {
    /// The mark of a figure that must hold.
    fn unless(&mut self, holds: bool, what: &str) -> String {
        if holds {
            return String::new();
        }
        self.0 += 1;
        format!("   NOT AS IT MUST BE: {what}")
    }
}

fn alarms(options: &Options, faults: &mut Faults) {
    println!("unchanged series that alarm, by length:");
    for noise in NOISES {
        for count in [9, 12, 20, 33, 52, LONG, 260] {
            let kind = Kind::unchanged(noise, count);
            let found = kind.map(options.seed, options.series, |v| {
                counts(&indices(&v), &kind)
            });
            let rate = share(found);
            let error = (ALARMS * (1.0 - ALARMS) / options.series as f64).sqrt();
            // At the length that the claim is about there is no allowance.
            let most = if count == LONG {
                ALARMS
            } else {
                ALARMS + ERRORS * error
            };
            let mark = faults.unless(rate <= most, "more than 1 % alarm");
            println!(
                "  {:<13} {count:3} values  {:6.2} %{mark}",
                noise.name(),
                100.0 * rate
            );
        }
    }
    println!();
}

fn finds(options: &Options, faults: &mut Faults) {
    let oracle = Oracle::new(options.seed, LONG, ALARMS);
    println!(
        "steps found after {BEFORE} values, beside an oracle: a scan by likelihood ratio that knows sigma, on\n\
         normal noise, with 1 % alarms on unchanged series of {LONG} values"
    );
    for (step, new, least) in [
        (3.0, 3, Some(0.70)),
        (3.0, 5, Some(0.90)),
        (3.0, 10, None),
        (2.0, 5, None),
        (2.0, 10, None),
        (1.0, 30, None),
    ] {
        let kind = |noise| Kind {
            noise,
            count: BEFORE + new,
            before: BEFORE,
            step,
        };
        let rate = |noise, find: &(dyn Fn(&[f64]) -> Vec<usize> + Sync)| {
            let kind = kind(noise);
            share(kind.map(options.seed, options.series, |v| counts(&find(&v), &kind)))
        };
        let best = rate(Noise::Normal, &|v| oracle.find(v));
        print!(
            "  {step} sigma, {new:2} new values: oracle {:5.1} %",
            100.0 * best
        );
        for noise in NOISES {
            let own = rate(noise, &indices);
            let mark = least.map(|least| faults.unless(own >= least, "too few are found"));
            let of_best = 100.0 * own / best;
            print!(
                "   {} {:5.1} % ({of_best:.0} % of it)",
                noise.name(),
                100.0 * own
            );
            print!("{}", mark.unwrap_or_default());
        }
        println!();
    }
    println!();
}

/// Each series judged anew with each new value, from the first that can alarm to two years.
fn weekly(options: &Options) {
    let series = options.series / 10;
    println!("unchanged series judged anew with each of {LONG} values ({series} series):");
    for noise in NOISES {
        let kind = Kind::unchanged(noise, LONG);
        let ever = kind.map(options.seed, series, |values| {
            (FEWEST..=LONG)
                .filter(|end| !find(&values[..*end]).is_empty())
                .count()
        });
        let weeks: usize = ever.iter().sum();
        println!(
            "  {:<13} {:5.1} % alarm in some week; an alarm that is false stands for {:.1} weeks",
            noise.name(),
            100.0 * share(ever.iter().map(|n| *n > 0)),
            weeks as f64 / ever.iter().filter(|n| **n > 0).count().max(1) as f64
        );
    }
    println!();
}

/// How often the interval of the size holds the true one, of those found at their place.
fn intervals(options: &Options) {
    println!("intervals (95 %) of found steps that hold the true size:");
    for noise in NOISES {
        for (step, new) in [(3.0, 3), (3.0, 5), (3.0, 30), (1.5, 30)] {
            let kind = Kind {
                noise,
                count: BEFORE + new,
                before: BEFORE,
                step,
            };
            let held: Vec<Option<bool>> = kind.map(options.seed, options.series, |values| {
                let found = find(&values);
                let change = found.iter().find(|c| is_near(c.index, &kind))?;
                Some(change.low <= step && step <= change.high)
            });
            println!(
                "  {:<13} {step} sigma, {new:2} new values: {:5.1} %",
                noise.name(),
                100.0 * share(held.into_iter().flatten())
            );
        }
    }
    println!();
}

fn against_otava(options: &Options, otava: &Otava, faults: &mut Faults) {
    println!(
        "beside apache-otava {} with its defaults, {} series a row, one thread each:",
        options.otava_version, options.peer_series
    );
    let step = |noise, new| Kind {
        noise,
        count: BEFORE + new,
        before: BEFORE,
        step: 3.0,
    };
    let kinds = [
        ("alarms", NOISES.map(|noise| Kind::unchanged(noise, LONG))),
        ("found ", NOISES.map(|noise| step(noise, 3))),
        ("found ", NOISES.map(|noise| step(noise, 5))),
    ];
    for (what, kind) in kinds
        .into_iter()
        .flat_map(|(what, two)| two.map(|kind| (what, kind)))
    {
        let series = kind.series(options.seed, options.peer_series);
        let mut own = Vec::new();
        let start = Instant::now();
        for _ in 0..PASSES {
            own = series
                .iter()
                .map(|values| indices(values))
                .collect::<Vec<_>>();
        }
        let own_seconds = start.elapsed().as_secs_f64() / f64::from(PASSES);
        let answer = match otava.run(&series) {
            Ok(answer) => answer,
            Err(why) => {
                println!("  {why}: not compared");
                return;
            }
        };
        let rate = |found: &[Vec<usize>]| {
            100.0
                * share(
                    found
                        .par_iter()
                        .map(|f| counts(f, &kind))
                        .collect::<Vec<_>>(),
                )
        };
        let times = answer.seconds / own_seconds;
        let mark = faults.unless(times >= 100.0, "less than 100 times as fast");
        let each = |seconds: f64| 1e6 * seconds / series.len() as f64;
        println!(
            "  {:<13} {:3} values: {what} ktrial {:5.1} %, otava {:5.1} %; a series takes {:.0} µs and {:.0} µs: {times:.0} times as fast{mark}",
            kind.noise.name(),
            kind.count,
            rate(&own),
            rate(&answer.found),
            each(own_seconds),
            each(answer.seconds),
        );
    }
    println!();
}
