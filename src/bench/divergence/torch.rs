//! The real operation: `torch.nn.functional.grid_sample` and its backward, through a Python interpreter.
//!
//! The script `torch_engine.py` is embedded, written to a temporary folder beside the inputs, and spoken to in lines of
//! JSON. One process serves the whole run.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::engine::{Engine, EngineError, Kind, Probe, Task};
use super::inputs::{Geometry, Inputs, values_bytes};
use super::timing::{Protocol, Spans};
use crate::package::json::{Document, Json, compact, object};

/// The script.
const SCRIPT: &str = include_str!("torch_engine.py");

/// How much of what the interpreter complained about is shown, in bytes from the end.
const MAX_COMPLAINT_BYTES: u64 = 2000;

/// Longest line of an answer, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// How long an interpreter whose requests have ended may take to end, before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// What to do about an interpreter that is none.
const ADVICE: &str = "name a Python interpreter with torch: --python PYTHON";

/// The engine.
#[derive(Debug)]
pub struct Torch {
    /// Script, inputs, results and complaints; removed at the end.
    folder: tempfile::TempDir,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    environment: Vec<(&'static str, Json)>,
    probe: Probe,
}

impl Torch {
    /// Starts the interpreter and asks what it runs on.
    ///
    /// # Errors
    /// No such interpreter, no torch, no CUDA device.
    pub fn open(python: &Path, inputs: &Inputs) -> Result<Self, EngineError> {
        let failed = |error: std::io::Error| EngineError::failed(Kind::Torch, error);
        let folder = tempfile::tempdir().map_err(failed)?;
        for (name, tensor) in inputs.arrays() {
            std::fs::write(folder.path().join(format!("{name}.f32")), values_bytes(&tensor.values)).map_err(failed)?;
        }
        let config = object([("shape", Json::from(inputs.shape.extents().to_vec()))]);
        std::fs::write(folder.path().join("config.json"), compact(&config)).map_err(failed)?;
        let script = folder.path().join("torch_engine.py");
        std::fs::write(&script, SCRIPT).map_err(failed)?;
        let complaints = File::create(complaints(folder.path())).map_err(failed)?;
        let mut child = Command::new(python)
            .arg(&script)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(complaints)
            .spawn()
            .map_err(|error| {
                let python = python.display();
                EngineError::unavailable(
                    Kind::Torch,
                    format!("{python} cannot be started ({error}); name an interpreter with torch: --python PYTHON"),
                )
            })?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(EngineError::failed(Kind::Torch, "the interpreter has no pipes"));
        };
        let mut engine = Self {
            folder,
            child,
            requests: Some(requests),
            answers: BufReader::new(answers),
            environment: Vec::new(),
            probe: Probe { setting: String::new(), result: String::new() },
        };
        let hello = engine.answer(true)?;
        let text = |path: &[&str]| hello.path(path).and_then(Json::as_str).unwrap_or_default().to_owned();
        engine.probe = Probe { setting: text(&["probe", "setting"]), result: text(&["probe", "result"]) };
        engine.environment = environment(&hello);
        Ok(engine)
    }

    fn ask(&mut self, request: &Json) -> Result<(), EngineError> {
        let line = compact(request) + "\n";
        let sent = self.requests.as_mut().map(|pipe| pipe.write_all(line.as_bytes()).and_then(|()| pipe.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.gone(false)),
        }
    }

    /// The next line. `starting` tells what is missing from what failed.
    fn answer(&mut self, starting: bool) -> Result<Json, EngineError> {
        let mut line = String::new();
        match (&mut self.answers).take(MAX_LINE_BYTES).read_line(&mut line) {
            Ok(0) | Err(_) => return Err(self.gone(starting)),
            Ok(_) => {}
        }
        let answer = match Document::parse("the interpreter's answer", line) {
            Ok(document) => document.root().clone(),
            Err(error) => {
                // Whatever it is, it may go on printing for ever, and nobody reads any more.
                let _ = self.child.kill();
                return Err(if starting {
                    let reason = format!("it did not answer as a Python interpreter with torch does; {ADVICE}");
                    EngineError::unavailable(Kind::Torch, reason)
                } else {
                    EngineError::failed(Kind::Torch, error)
                });
            }
        };
        match answer.get("error").and_then(Json::as_str) {
            Some(error) if answer.get("missing").and_then(Json::as_bool) == Some(true) => {
                let advice = "name an interpreter with torch for CUDA: --python PYTHON";
                Err(EngineError::unavailable(Kind::Torch, format!("{error}; {advice}")))
            }
            Some(error) => Err(EngineError::failed(Kind::Torch, error)),
            None => Ok(answer),
        }
    }

    /// What the interpreter said before it went away.
    fn gone(&mut self, starting: bool) -> EngineError {
        self.requests = None;
        let status = end(&mut self.child).map_or_else(|error| error.to_string(), |status| status.to_string());
        let mut said = Vec::new();
        if let Ok(file) = File::open(complaints(self.folder.path())) {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            let mut file = BufReader::new(file);
            let skipped = file.seek_relative(i64::try_from(length.saturating_sub(MAX_COMPLAINT_BYTES)).unwrap_or(0));
            let _ = skipped.and_then(|()| file.read_to_end(&mut said));
        }
        let said = String::from_utf8_lossy(&said);
        let reason = match said.trim() {
            "" if starting => format!("the Python interpreter ended ({status}) without an answer; {ADVICE}"),
            said => format!("the Python interpreter ended ({status}): {said}"),
        };
        if starting { EngineError::unavailable(Kind::Torch, reason) } else { EngineError::failed(Kind::Torch, reason) }
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        // The end of its requests ends the interpreter.
        self.requests = None;
        let _ = end(&mut self.child);
    }
}

/// Waits for a process that should end by itself, and kills one that does not.
fn end(child: &mut Child) -> std::io::Result<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < GRACE {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()
}

fn complaints(folder: &Path) -> PathBuf {
    folder.join("complaints.txt")
}

/// The members that results record, in their order; what the interpreter does not say is null.
fn environment(hello: &Json) -> Vec<(&'static str, Json)> {
    let names = [
        "device_name",
        "pytorch_version",
        "cuda_version",
        "cudnn_version",
        "compute_capability",
        "driver",
        "python_version",
    ];
    let said = |name| hello.path(&["environment", name]).cloned().unwrap_or(Json::Null);
    let mut members: Vec<_> = names.into_iter().map(|name| (name, said(name))).collect();
    let capability = said("compute_capability");
    // PyTorch for ROCm gives AMD's devices capabilities, too, and no CUDA version: the names are NVIDIA's.
    if said("cuda_version").as_str().is_some()
        && let Some(name) = capability.as_str().and_then(crate::bench::cuda::architecture)
    {
        members.insert(1, ("architecture", Json::from(name)));
    }
    members
}

impl Engine for Torch {
    fn kind(&self) -> Kind {
        Kind::Torch
    }

    fn environment(&self) -> Vec<(&'static str, Json)> {
        self.environment.clone()
    }

    fn probe(&self) -> Probe {
        self.probe.clone()
    }

    fn background(&self) -> &'static str {
        "4 CUDA streams of 4096x4096 FP32 torch.mm, each synchronised on its own by another host thread"
    }

    fn measure(&mut self, task: &Task<'_>, trial: &mut dyn FnMut()) -> Result<Vec<f32>, EngineError> {
        self.ask(&object([
            ("do", Json::from("measure")),
            ("arm", Json::from(task.arm.name())),
            ("resolution", Json::from(task.geometry.resolution)),
            ("trials", Json::from(task.trials)),
        ]))?;
        while self.answer(false)?.get("done").is_none() {
            trial();
        }
        let bytes = std::fs::read(self.folder.path().join("out.f32"));
        let bytes = bytes.map_err(|error| EngineError::failed(Kind::Torch, error))?;
        let expected = task.trials * task.inputs.shape.coordinates() * 4;
        if bytes.len() != expected {
            let reason = format!("the gradients have {} bytes, not {expected}", bytes.len());
            return Err(EngineError::failed(Kind::Torch, reason));
        }
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn time(&mut self, _: &Inputs, geometry: &Geometry, protocol: Protocol) -> Result<Option<Spans>, EngineError> {
        self.ask(&object([
            ("do", Json::from("time")),
            ("resolution", Json::from(geometry.resolution)),
            ("operations", Json::from(protocol.operations)),
            ("spans", Json::from(protocol.spans)),
            ("span_ms", Json::from(protocol.span_ms)),
            ("warm_up", Json::from(protocol.warm_up)),
        ]))?;
        let answer = self.answer(false)?;
        let spans = answer.get("span_ms").and_then(Json::as_array);
        let milliseconds = spans.map(|spans| spans.iter().filter_map(Json::as_f64).collect());
        let replays = answer.get("replays").and_then(Json::as_u64).and_then(|count| usize::try_from(count).ok());
        match (replays, milliseconds) {
            (Some(replays), Some(milliseconds)) => {
                Ok(Some(Spans { operations: protocol.operations, replays, milliseconds }))
            }
            _ => Err(EngineError::failed(Kind::Torch, "the interpreter's answer has no spans")),
        }
    }
}
