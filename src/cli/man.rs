//! `recount man`.

use std::path::PathBuf;

use anyhow::Context;

use super::{Failure, output::Output};

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Write one page for the program and one for each command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the program's page, or writes all pages.
///
/// # Errors
/// The folder or standard output cannot be written.
pub(super) fn run(args: &Args) -> Result<u8, Failure> {
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(super::command(), dir))
                .with_context(|| format!("cannot write manual pages to {}", dir.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::command()).render(&mut page)?;
            Output::Stdout.write(|out| out.write_all(&page))?;
        }
    }
    Ok(0)
}
