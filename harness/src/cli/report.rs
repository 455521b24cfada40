//! `ktrial report`: the HTML pages.

use std::path::PathBuf;

use clap::Args;

use super::{Context, print};
use crate::fault::Result;
use crate::report;

/// Options of `ktrial report`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where the pages go
    #[arg(default_value = "report")]
    folder: PathBuf,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let index = report::write(&context.database()?, &arguments.folder)?;
    print(&format!("{}\n", index.display()))?;
    Ok(0)
}
