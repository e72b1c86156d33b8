//! The `recount` program: parse, run, exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(recount::cli::main())
}
