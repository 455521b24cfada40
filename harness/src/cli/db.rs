//! `ktrial db`: care of the database.

use clap::Subcommand;

use super::{Context, print};
use crate::fault::{Fault, Result};

/// The commands of `ktrial db`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look for damage: of the file, of references, of ktrial's own rules
    Check,
    /// Print where the database is
    Path,
}

pub(super) fn run(context: &Context, command: &Command) -> Result<u8> {
    match command {
        Command::Path => {
            print(&format!("{}\n", context.home.database().display()))?;
            Ok(0)
        }
        Command::Check => {
            let findings = context.database()?.check()?;
            if findings.is_empty() {
                print("the database is sound\n")?;
                return Ok(0);
            }
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            Err(Fault::host("the database is damaged").showing(lines.join("\n")))
        }
    }
}
