//! Writes the inputs to start from: `cargo run --example seeds FOLDER` makes FOLDER/TARGET/seed-N.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).ok_or_else(|| io::Error::other("give a folder to write to"))?);
    for (target, seeds) in recount_fuzz::seeds() {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        for (at, seed) in seeds.into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{at:02}")), seed)?;
        }
    }
    Ok(())
}
