//! A small file system in memory that fills up.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The file system; it goes away with the value.
pub(crate) struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Mounts one in a new folder; `None`, with a message, where nothing may be mounted.
    pub(crate) fn new(at: &Path, bytes: u64) -> Option<Self> {
        std::fs::create_dir(at).expect("a folder");
        let size = format!("size={bytes}");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        match output {
            Ok(output) if output.status.success() => Some(Self { at: at.to_owned() }),
            Ok(output) => {
                eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped: mount cannot be started ({error})");
                None
            }
        }
    }

    pub(crate) fn resize(&self, bytes: u64) {
        let status = Command::new("mount").arg("-o").arg(format!("remount,size={bytes}")).arg(&self.at).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    /// Leaves room for so many more blocks.
    pub(crate) fn leave(&self, blocks: u64) {
        let room = rustix::fs::statvfs(&self.at).expect("a file system");
        self.resize((room.f_blocks - room.f_bfree + blocks) * room.f_frsize);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}
