//! `ktrial series`: the catalogue.

use std::path::PathBuf;

use clap::Subcommand;
use ktrial_patches::catalogue;

use super::trial::open_series;
use super::{Context, print};
use crate::fault::{Fault, Result};
use crate::tree::Tree;
use crate::trial;
use crate::verdict::outcome;

/// The commands of `ktrial series`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Every series of the catalogue, one a line
    List,
    /// One series: where it comes from, its patches, what it should show
    Show {
        /// Its name, folder or patch file
        series: String,
    },
    /// Does it apply to this tree, and how
    Check {
        /// Its name, folder or patch file
        series: String,
        /// The kernel source
        #[arg(long)]
        tree: PathBuf,
        /// The base, where the tree is a git checkout [default: HEAD]
        #[arg(long)]
        revision: Option<String>,
    },
}

pub(super) fn run(context: &Context, command: &Command) -> Result<u8> {
    match command {
        Command::List => list(),
        Command::Show { series } => show(series),
        Command::Check {
            series,
            tree,
            revision,
        } => {
            let series = open_series(series)?;
            let tree = Tree::open(&context.home, tree, revision.as_deref())?;
            let applied = trial::apply_series(&tree, &series)?;
            print(&format!("{}\n", trial::applied_line(&series, &applied)))?;
            for patch in &applied.patches {
                print(&format!("{}\n", patch.name))?;
                for file in &patch.files {
                    for hunk in &file.hunks {
                        let line = format!(
                            "  {}:{}  offset {}, fuzz {}\n",
                            file.path, hunk.line, hunk.offset, hunk.fuzz
                        );
                        print(&line)?;
                    }
                }
            }
            Ok(0)
        }
    }
}

fn list() -> Result<u8> {
    let all = catalogue::list().map_err(|e| Fault::host(e.to_string()))?;
    for series in all {
        let system = series.system.map_or_else(|| "?".into(), |s| s.to_string());
        let version = series.applies_to.unwrap_or_default();
        print(&format!(
            "{:<30} {system} {version:<6} {}\n",
            series.name, series.title
        ))?;
    }
    Ok(0)
}

fn show(name: &str) -> Result<u8> {
    let series = open_series(name)?;
    print(&format!(
        "{}: {}\n\n{}\n",
        series.name,
        series.title,
        series.description.trim()
    ))?;
    if let Some(source) = &series.source {
        print(&format!("\nsource: {source}\n"))?;
    }
    for patch in series.own_patches() {
        print(&format!(
            "patch: {}  {}\n",
            patch.name, patch.header.subject
        ))?;
    }
    for workload in &series.workloads {
        let pairs = workload.parameters.iter();
        let pairs: Vec<String> = pairs.map(|(k, v)| format!("{k}={v}")).collect();
        print(&format!(
            "workload: {} {}\n",
            workload.name,
            pairs.join(" ")
        ))?;
    }
    for variant in &series.variants {
        let settings = variant.set.iter();
        let settings: Vec<String> = settings
            .map(|((workload, parameter), value)| format!("{workload}.{parameter}={value}"))
            .collect();
        print(&format!(
            "variant: {} {}\n",
            variant.name,
            settings.join(" ")
        ))?;
    }
    for expectation in &series.expectations {
        print(&format!("expects: {}\n", outcome::expected(expectation)))?;
    }
    Ok(0)
}
