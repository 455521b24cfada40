//! `ktrial profile`: where the instructions, the time and the waits of a trial's kernels went.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use ktrial_db::TrialId;

use super::{Context, pick, print};
use crate::counters::observed::{self, Observed, Pair};
use crate::counters::{flame, shares, stored, waits};
use crate::fault::{Fault, OrHost, Result};

/// Options of `ktrial profile`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The trial's number [default: the latest]
    trial: Option<i64>,
    /// How many functions are shown, those that the change costs or saves most
    #[arg(long, short = 'n', default_value_t = 20)]
    top: usize,
    /// Write flame graphs of what was sampled into this folder; a browser shows them
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let db = context.database()?;
    let id = pick(&db, arguments.trial)?;
    let trial = db.trial(id)?;
    let trial = trial.ok_or_else(|| Fault::user(format!("there is no trial {id}")))?;
    let differences = stored::differences(&db, &trial)?;
    let observed = observed::observed(&db, &trial)?;
    if differences.is_empty() && observed == Observed::default() {
        return Err(Fault::user(format!(
            "nothing is known of where the time of trial {id} went"
        ))
        .next(
            "`ktrial trial --deterministic` counts instructions by function, --profile samples \
                 stacks, --locks looks at waits for locks",
        ));
    }
    print(&stored::render(&differences, arguments.top))?;
    for pair in &observed.pairs {
        print(&table(pair, arguments.top))?;
    }
    if observed.unread > 0 {
        print(&format!(
            "\n{} entries are no profiles that this ktrial can read\n",
            observed.unread
        ))?;
    }
    if let Some(folder) = &arguments.svg {
        print(&draw(id, &observed.pairs, folder)?)?;
    }
    Ok(0)
}

fn table(pair: &Pair, most: usize) -> String {
    let profile = shares::shares(pair).map(|shares| shares::render(pair, &shares, most));
    let waits = || waits::waits(pair).map(|waits| waits::render(pair, &waits, most));
    profile.or_else(waits).unwrap_or_else(|| {
        let [base, variant] = &pair.names;
        let (what, nothing) = (pair.what(), pair.nothing());
        format!("\n{variant} against {base}, {what}: {nothing}\n")
    })
}

/// Writes every flame graph, and says what is in which file.
fn draw(trial: TrialId, pairs: &[Pair], folder: &Path) -> Result<String> {
    fs::create_dir_all(folder).or_host(|| format!("make the folder {}", folder.display()))?;
    let mut said = String::from("\n");
    for (number, pair) in (1..).zip(pairs) {
        for drawing in flame::drawings(pair)? {
            let path = folder.join(drawing.file(trial, number));
            fs::write(&path, &drawing.svg).or_host(|| format!("write {}", path.display()))?;
            said += &format!("{}  {}\n", path.display(), drawing.title);
        }
    }
    if said.trim().is_empty() {
        said = "\nno stacks were sampled, so there is no flame graph\n".into();
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::counters::stacks::{PROFILE, Stacks};

    fn pair(stacks: &[(&str, u64)]) -> Pair {
        let side = Stacks {
            stacks: stacks.iter().map(|(s, w)| ((*s).into(), *w)).collect(),
            ..Stacks::default()
        };
        Pair {
            kind: PROFILE.into(),
            workload: "exec".into(),
            event: "cpu-clock".into(),
            names: ["base".into(), "../p".into()],
            sides: [Some(side.clone()), Some(side)],
            ..Pair::default()
        }
    }

    #[test]
    fn every_flame_graph_is_written_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("new");
        let said = draw(TrialId(7), &[pair(&[]), pair(&[("a;b", 3)])], &into).unwrap();
        let expected = [
            ("difference", "../p against base: exec"),
            ("base", "base: exec"),
            ("variant", "../p: exec"),
        ]
        .map(|(word, title)| {
            let path = into.join(format!("trial-7-flame-2-{word}.svg"));
            assert!(path.is_file());
            format!("{}  {title}\n", path.display())
        });
        assert_eq!(said, format!("\n{}", expected.concat()));
        let none = draw(TrialId(7), &[], &into).unwrap();
        assert_eq!(
            none,
            "\nno stacks were sampled, so there is no flame graph\n"
        );
        assert_eq!(into.read_dir().unwrap().count(), 3);
    }

    #[test]
    fn a_pair_in_which_nothing_was_seen_says_so() {
        assert_eq!(
            table(&pair(&[]), 5),
            "\n../p against base, exec: nothing seen by cpu-clock\n"
        );
    }
}
