//! What a Python interpreter has: asked before anything is run with it.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::bench::partition::process::{Change, change};
use crate::package::json::{Document, Json};

/// How long an interpreter may take to say what it has: torch alone is gigabytes on a disk that may be cold.
const PROBE_TIMEOUT: Duration = Duration::from_secs(180);

/// How much of what an interpreter says is read, in bytes from the end.
const MAX_SAID_BYTES: u64 = 4 << 10;

/// From here on it is no interpreter, but something that prints for ever.
const MAX_PRINTED_BYTES: u64 = 16 << 20;

/// Prints one line of JSON, whatever libraries print before.
const PROBE: &str = r#"
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def answer(**members):
    answers.write("\n" + json.dumps(members) + "\n")
    answers.flush()
    sys.exit(0)
try:
    import torch
except ImportError as error:
    answer(missing="torch", reason=str(error))
if not torch.cuda.is_available():
    answer(missing="device", reason="torch %s sees no CUDA device" % torch.__version__)
try:
    import triton
    triton = str(triton.__version__)
except ImportError:
    triton = None
answer(
    python_version="%d.%d.%d" % sys.version_info[:3],
    torch_version=str(torch.__version__),
    triton_version=triton,
    cuda_version=torch.version.cuda,
    device_name=torch.cuda.get_device_name(),
    compute_capability="%d.%d" % torch.cuda.get_device_capability(),
)
"#;

/// Why an interpreter cannot run the route.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It is not there, or is no program.
    #[error("{python} cannot be started ({source}); name a Python interpreter with torch: --torch PYTHON")]
    NotStarted {
        /// As the user named it.
        python: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It has no torch.
    #[error("{python} has no torch ({reason}); name an interpreter with torch: --torch PYTHON")]
    NoTorch {
        /// As the user named it.
        python: String,
        /// What it says.
        reason: String,
    },
    /// Torch has no GPU.
    #[error("{python}: {reason}; install torch for CUDA, or leave --torch out")]
    NoDevice {
        /// As the user named it.
        python: String,
        /// What it says.
        reason: String,
    },
    /// It did not end.
    #[error(
        "{python} did not answer within {seconds} s and was ended; name a Python interpreter with torch: --torch PYTHON"
    )]
    TimedOut {
        /// As the user named it.
        python: String,
        /// How long it was given.
        seconds: u64,
    },
    /// It said something else.
    #[error("{python} did not answer as a Python interpreter does ({status}): {said}")]
    Unexpected {
        /// As the user named it.
        python: String,
        /// How it ended.
        status: String,
        /// The end of what it complained about.
        said: String,
    },
}

/// What an interpreter has: `python_version`, `torch_version`, `triton_version`, `cuda_version`, `device_name` and
/// `compute_capability`, each a text or null.
///
/// # Errors
/// No such program, no torch, no CUDA device, no answer in three minutes.
pub fn interpreter_probe(python: &Path, changes: &[Change]) -> Result<Json, ProbeError> {
    interpreter_probe_within(python, changes, PROBE_TIMEOUT)
}

/// The same with another time limit.
///
/// # Errors
/// As [`interpreter_probe`].
pub fn interpreter_probe_within(python: &Path, changes: &[Change], timeout: Duration) -> Result<Json, ProbeError> {
    let name = python.display().to_string();
    let not_started = |source| ProbeError::NotStarted { python: name.clone(), source };
    // Files, not pipes: whatever it prints, it never has to wait for a reader.
    let (said, complaints) = (tempfile::tempfile().map_err(not_started)?, tempfile::tempfile().map_err(not_started)?);
    let mut command = Command::new(python);
    change(&mut command, changes);
    let mut child = command
        .args(["-c", PROBE])
        .stdin(Stdio::null())
        .stdout(said.try_clone().map_err(not_started)?)
        .stderr(complaints.try_clone().map_err(not_started)?)
        .spawn()
        .map_err(not_started)?;
    let status = end(&mut child, timeout, &[&said, &complaints]).map_err(not_started)?;
    let Some(status) = status else {
        return Err(ProbeError::TimedOut { python: name, seconds: timeout.as_secs() });
    };
    let said = tail(said);
    let answer = said.lines().rev().find(|line| line.starts_with('{'));
    let answer = answer.and_then(|line| Document::parse("the interpreter's answer", line.to_owned()).ok());
    let Some(answer) = answer.filter(|_| status.success()) else {
        let said = tail(complaints).trim().to_owned();
        return Err(ProbeError::Unexpected { python: name, status: status.to_string(), said });
    };
    let text = |member: &str| answer.root().get(member).and_then(Json::as_str).map(str::to_owned);
    let reason = text("reason").unwrap_or_default();
    match text("missing").as_deref() {
        Some("torch") => Err(ProbeError::NoTorch { python: name, reason }),
        Some(_) => Err(ProbeError::NoDevice { python: name, reason }),
        None => Ok(answer.root().clone()),
    }
}

/// Waits for a process, and ends one that takes longer (`None`) or prints more than an interpreter would.
fn end(child: &mut Child, timeout: Duration, printed: &[&File]) -> std::io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    while begin.elapsed() < timeout {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if printed.iter().any(|file| file.metadata().is_ok_and(|metadata| metadata.len() > MAX_PRINTED_BYTES)) {
            child.kill()?;
            return child.wait().map(Some);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// The end of a file; what cannot be read is left out.
fn tail(mut file: File) -> String {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    let start = std::io::SeekFrom::Start(length.saturating_sub(MAX_SAID_BYTES));
    let _ = file.seek(start).and_then(|_| file.take(MAX_SAID_BYTES).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
