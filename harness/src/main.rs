//! The command `ktrial`: see `ktrial --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ktrial::cli::main()
}
