//! How `--margin` is typed: `2`, or for one metric `latency_max=5`.

use std::collections::BTreeMap;

use crate::fault::{Fault, Result};
use crate::trial::Run;
use crate::verdict::design::MARGIN;
use crate::workload;

/// A margin, of one metric or of all others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Margin {
    metric: Option<String>,
    share: f64,
}

impl std::str::FromStr for Margin {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Margin, String> {
        let (metric, share) = match text.split_once('=') {
            Some((metric, share)) => (Some(metric.trim().to_owned()), share),
            None => (None, text),
        };
        let number = share.trim().trim_end_matches('%').trim_end();
        let number: f64 = number
            .parse()
            .map_err(|_| "a number of per cent, such as 2 or 0.5, or METRIC=2".to_owned())?;
        // Less than a millionth of a per cent is a slip, or 0 once it is divided.
        if (1e-6..100.0).contains(&number) {
            let share = number / 100.0;
            Ok(Margin { metric, share })
        } else {
            Err("a number of per cent above 0 and below 100".into())
        }
    }
}

/// The margin of all metrics but those that are named, and of those.
///
/// # Errors
/// A user fault for two of the same, and for a metric that none of the runs has.
pub(super) fn split(typed: &[Margin], runs: &[Run]) -> Result<(f64, BTreeMap<String, f64>)> {
    let (mut rest, mut named) = (None, BTreeMap::new());
    for Margin { metric, share } in typed {
        let before = match metric {
            None => rest.replace(*share),
            Some(metric) => {
                check(metric, runs)?;
                named.insert(metric.clone(), *share)
            }
        };
        if before.is_some() {
            let of = metric.as_deref().unwrap_or("all metrics");
            return Err(Fault::user(format!("two margins are given for {of}")));
        }
    }
    Ok((rest.unwrap_or(MARGIN), named))
}

fn check(metric: &str, runs: &[Run]) -> Result<()> {
    let mut names = Vec::new();
    for run in runs {
        let workload = workload::find(&run.workload)?;
        let metrics = workload.metrics_with(&run.settings);
        names.extend(metrics.map(|metric| metric.name.clone()));
    }
    if names.iter().any(|name| name == metric) {
        return Ok(());
    }
    names.sort_unstable();
    names.dedup();
    Err(
        Fault::user(format!("--margin: nothing measures {metric:?} here"))
            .next(format!("these runs have: {}", names.join(", "))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(typed: &[&str]) -> Result<(f64, BTreeMap<String, f64>)> {
        let typed: Vec<Margin> = typed.iter().map(|text| text.parse().unwrap()).collect();
        split(&typed, &[Run::parse("fd-churn", 300, 2)?])
    }

    #[test]
    fn a_margin_is_for_all_metrics_but_those_with_their_own() {
        assert_eq!(of(&[]).unwrap(), (0.01, BTreeMap::new()));
        let (rest, named) = of(&["2 %", "latency_max=5%"]).unwrap();
        assert_eq!((rest, named["latency_max"], named.len()), (0.02, 0.05, 1));
    }

    #[test]
    fn what_cannot_be_meant_is_the_users_fault() {
        for text in [
            "0", "100", "-1", "one", "rate=", "=", "nan", "1e-320", "rate=inf",
        ] {
            assert!(text.parse::<Margin>().is_err(), "{text}");
        }
        assert!(of(&["1", "2"]).is_err());
        assert!(of(&["rate=1", "rate=1"]).is_err());
        let fault = of(&["latency=5"]).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User);
        assert!(fault.next.unwrap_or_default().contains("latency_max"));
    }
}
