//! What children inherit, and what of the machine must not get into a package.

use std::env;
use std::ffi::OsString;

use crate::bench::partition::process::Change;

/// Variables that change what is measured.
const MEDDLING: [&str; 8] = [
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_FORCE_PTX_JIT",
    "TORCH_COMPILE_DISABLE",
    "TORCHDYNAMO_DISABLE",
    "TORCH_LOGS",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "NVIDIA_TF32_OVERRIDE",
    "TRITON_INTERPRET",
];

/// Whole families of them.
const MEDDLING_PREFIXES: [&str; 2] = ["TORCHINDUCTOR_", "TORCHDYNAMO_"];

/// What is taken away from every child.
fn meddling() -> Vec<Change> {
    let is_meddling = |name: &OsString| {
        let name = name.to_string_lossy();
        MEDDLING.contains(&name.as_ref()) || MEDDLING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    env::vars_os().map(|(name, _)| name).filter(is_meddling).map(|name| (name, None)).collect()
}

/// For native children: nothing is taken from the driver's cache of compiled kernels, so that cold times are cold.
pub(super) fn of_native() -> Vec<Change> {
    let mut changes = meddling();
    changes.push(("CUDA_CACHE_DISABLE".into(), Some("1".into())));
    changes
}

/// For Torch: it sees the GPU of that number alone, as the native children count them.
pub(super) fn of_torch(device: usize) -> Vec<Change> {
    let mut changes = meddling();
    let visible = env::var("CUDA_VISIBLE_DEVICES").ok();
    let listed = visible.and_then(|list| list.split(',').nth(device).map(|one| one.trim().to_owned()));
    changes.push(("CUDA_VISIBLE_DEVICES".into(), Some(listed.unwrap_or_else(|| device.to_string()).into())));
    changes
}

/// Takes the machine's own folders out of a text: of a path, its last name stays.
pub(super) fn redact(text: &str) -> String {
    let is_boundary = |symbol: char| symbol.is_whitespace() || "\"'`,;:()[]{}<>|=".contains(symbol);
    let mut redacted = String::with_capacity(text.len());
    let mut word = String::new();
    for symbol in text.chars().chain(std::iter::once(' ')) {
        if !is_boundary(symbol) {
            word.push(symbol);
            continue;
        }
        redacted.push_str(&without_folders(&word));
        word.clear();
        redacted.push(symbol);
    }
    redacted.pop();
    redacted
}

fn without_folders(word: &str) -> String {
    let is_absolute = word.starts_with('/') || word.starts_with('~') || word.get(..2) == Some("\\\\");
    match word.trim_end_matches('/').rsplit_once(['/', '\\']) {
        Some((_, name)) if is_absolute => format!("${{PATH}}/{name}"),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_paths_only_the_last_name_stays() {
        for (text, expected) in [
            ("no path here: 1/2 of a/b", "no path here: 1/2 of a/b"),
            ("File \"/home/al/x y.py\", line 3", "File \"${PATH}/x y.py\", line 3"),
            ("cannot open /tmp/a/b.txt: gone", "cannot open ${PATH}/b.txt: gone"),
            ("/opt/venv/lib/python3.12/site-packages/", "${PATH}/site-packages"),
            ("~/secret/name", "${PATH}/name"),
            ("(/a/b)=/c/d", "(${PATH}/b)=${PATH}/d"),
            ("", ""),
        ] {
            assert_eq!(redact(text), expected);
        }
    }
}
