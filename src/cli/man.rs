//! `recount man`.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{Failure, inputs::Inputs, output::Output};

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
            std::fs::create_dir_all(dir).with_context(|| format!("cannot write manual pages to {}", dir.display()))?;
            let mut command = super::command().disable_help_subcommand(true);
            command.build();
            write_pages(&command, dir)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::command()).render(&mut page)?;
            Output::Stdout.write(|out| out.write_all(&page))?;
        }
    }
    Ok(0)
}

/// Writes the page of a command and those of its subcommands, each whole or not at all.
fn write_pages(command: &clap::Command, dir: &Path) -> Result<(), Failure> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write_pages(inner, dir)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    Output::open(Some(&dir.join(page.get_filename())), &Inputs::none())?.write(|out| page.render(out))
}
