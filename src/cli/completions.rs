//! `recount completions`.

use super::{Failure, output::Output};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the completion script.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn run(args: &Args) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "recount", &mut script);
    Output::Stdout.write(|out| out.write_all(&script))?;
    Ok(0)
}
