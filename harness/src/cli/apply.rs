//! `ktrial apply`: a series on a branch.

use std::path::PathBuf;

use clap::Args;

use super::{Context, print};
use crate::fault::Result;
use crate::series;
use crate::terminal::shell_line;
use crate::tree::Tree;

/// Options of `ktrial apply`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A series of the catalogue, a folder of patches, a patch file or mbox, or - for standard input
    series: String,
    /// The source: a git checkout, where only objects and the branch are written; or a tarball or
    /// folder, whose branch is in ktrial's cache
    #[arg(long, value_name = "PATH")]
    tree: PathBuf,
    /// The base, where the tree is a git checkout [default: HEAD]
    #[arg(long)]
    revision: Option<String>,
    /// The branch to make [default: ktrial/SERIES]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Undo the series, last patch first
    #[arg(long)]
    reverse: bool,
    /// Move the branch if it is there already
    #[arg(long)]
    force: bool,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let mut series = series::open(&arguments.series)?;
    series.reverse ^= arguments.reverse;
    let tree = Tree::open(
        &context.home,
        &arguments.tree,
        arguments.revision.as_deref(),
    )?;
    if let Some(note) = series::foreign(&tree, &series) {
        context.progress.say(&note);
    }
    let branch = arguments.branch.as_deref();
    let done = series::put_on_branch(&tree, &series, branch, arguments.force)?;
    print(&format!(
        "{}\n",
        series::summary(&series.name, &done.outcome)
    ))?;
    print(&series::full(&series, &done.outcome))?;
    let (base, commit) = (
        tree.base.to_string(),
        done.outcome.applied.commit.to_string(),
    );
    print(&format!("branch {} is at {commit}\n", done.branch))?;
    let range = format!("{}..{}", &base[..12], done.branch);
    let place = done.repository.as_os_str().to_owned();
    let log = ["git".into(), "-C".into(), place, "log".into(), range.into()];
    print(&format!("see it: {}\n", shell_line(log)))?;
    Ok(0)
}
