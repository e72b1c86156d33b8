//! What this machine and its user are called, as the environment and the system say.

use std::path::Path;

use crate::package::folder::VERSION_CONTROL;
use crate::seal::Machine;

/// This machine, its user, and the work tree around `folder`.
pub(super) fn this(folder: &Path) -> Machine {
    let variable = |names: &[&str]| {
        let values = names.iter().filter_map(|name| std::env::var(name).ok());
        values.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
    };
    let real = folder.canonicalize().ok();
    let repository = real.as_deref().and_then(|real| real.ancestors().find(|path| path.join(VERSION_CONTROL).exists()));
    let home = variable(&["HOME", "USERPROFILE"]);
    let last = || {
        let home = home.as_deref()?.trim_end_matches(['/', '\\']);
        home.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).map(str::to_owned)
    };
    Machine {
        user: variable(&["USER", "USERNAME", "LOGNAME"]).or_else(last),
        host: variable(&["HOSTNAME", "COMPUTERNAME"]).or_else(node_name),
        home,
        repository: repository.map(Path::to_owned),
    }
}

/// The machine's name in its network.
#[cfg(unix)]
fn node_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_str().ok()?.trim().to_owned();
    (!name.is_empty() && name != "(none)").then_some(name)
}

#[cfg(not(unix))]
fn node_name() -> Option<String> {
    None
}
