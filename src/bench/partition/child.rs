//! What a child process does: one case in one cohort, from the fixtures to outputs on disk that are checked again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::backend::{Backend, BackendError, Prepared, ReadBack, Task};
use super::cases::CaseSpec;
use super::job::{Fault, Groups, Job, JobError, Measure, OfCase, Work};
use super::oracle::{self, BOUND, EXPECTED, Verdict, tensor_file};
use super::sampling::{Protocol, sample};
use super::source::{Entry, Order};
use super::{affinity, machine, process, tune};
use crate::bench::cuda;
use crate::package::json::{Json, compact, object};

/// Name of a result in a child's folder.
pub const RESULT: &str = "result.json";

/// Name of a source in a child's folder.
pub const SOURCE: &str = "source.txt";

/// Name of the part of a source that the original entry is.
pub const ORIGINAL_SOURCE: &str = "original-source.txt";

/// Times that outputs are checked in a run.
const CHECKS: u64 = 3;

/// Why a child has failed.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The job is none.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The backend has failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A file cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something came out that is wrong.
    #[error("{0}")]
    Wrong(String),
}

/// Files of a route.
struct Names {
    source: &'static str,
    output: String,
}

/// Does a job; writes [`RESULT`] whatever comes of it, and gives whether it succeeded.
///
/// # Errors
/// The job cannot be read, or the result cannot be written.
pub fn run(path: &Path) -> Result<bool, ChildError> {
    process::end_with_parent();
    let job = Job::read(path)?;
    let result = work(&job);
    let succeeded = result.is_ok();
    let document = result.unwrap_or_else(|error| {
        let unavailable = matches!(error, ChildError::Backend(BackendError::Unavailable(_)));
        object([
            ("status", Json::from("failed")),
            ("error", Json::from(chain(&error))),
            ("unavailable", Json::Bool(unavailable)),
        ])
    });
    write(&job.folder.join(RESULT), (compact(&document) + "\n").as_bytes())?;
    Ok(succeeded)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

fn work(job: &Job) -> Result<Json, ChildError> {
    let before = affinity::current();
    if let Some(cpus) = &job.cpus {
        affinity::pin(cpus).map_err(ChildError::Wrong)?;
    }
    let after = affinity::current();
    let state =
        || object([("load_average", machine::load_average().map_or(Json::Null, Json::from)), ("gpu", gpu_state(job))]);
    match &job.work {
        Work::Probe => {
            let backend = job.open()?;
            Ok(object([
                ("status", Json::from("passed")),
                ("device", backend.device()),
                ("overlaps", Json::Bool(backend.overlaps())),
                ("machine", state()),
            ]))
        }
        Work::Tune(of) => {
            let fixture = Fixture::read(of)?;
            let backend = job.open()?;
            let tried = tune::tune(backend.as_ref(), &fixture.spec, &fixture.input)?;
            Ok(object([("status", Json::from("passed")), ("tried", tried)]))
        }
        Work::Measure(measure) => {
            let at_first = state();
            let begin = Instant::now();
            let fixture = Fixture::read(&measure.of)?;
            let fixture_ms = milliseconds(begin);
            let begin = Instant::now();
            let backend = job.open()?;
            let opened = (fixture_ms, milliseconds(begin));
            let mut routes = routes(job, measure, &fixture, backend.as_ref(), opened)?;
            routes.insert(0, ("status".to_owned(), Json::from("passed")));
            let process = object([
                ("affinity_before", affinity::mask(before.as_deref())),
                ("affinity_actual", affinity::mask(after.as_deref())),
                ("machine_before", at_first),
                ("machine_after", state()),
            ]);
            routes.push(("process".to_owned(), process));
            if measure.fault == Some(Fault::Late) {
                return Err(ChildError::Wrong("a failure that a test asked for".to_owned()));
            }
            Ok(Json::Object(routes))
        }
    }
}

fn gpu_state(job: &Job) -> Json {
    if job.backend == "cuda" { cuda::state(job.device) } else { Json::Null }
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_nanos() as f64 / 1e6
}

/// A case's files.
pub(super) struct Fixture {
    pub(super) spec: CaseSpec,
    pub(super) input: Vec<u8>,
    pub(super) expected: Vec<f64>,
    pub(super) bound: Vec<f64>,
}

impl Fixture {
    pub(super) fn read(of: &OfCase) -> Result<Self, ChildError> {
        let spec = of.spec()?;
        let file = |name: &str| {
            let path = of.fixture.join(name);
            fs::read(&path).map_err(|source| ChildError::File { path, source })
        };
        let floats =
            |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value)).collect::<Vec<_>>();
        let input = file(&tensor_file("input0", spec.storage))?;
        Ok(Self { input, expected: floats(file(EXPECTED)?), bound: floats(file(BOUND)?), spec })
    }

    /// Checks an output against the oracle.
    pub(super) fn check(&self, output: &[u8]) -> Verdict {
        oracle::check(self.spec.storage, output, &self.expected, &self.bound)
    }
}

/// Both routes: in stream order, and overlapping where that is asked for and can be.
fn routes(
    job: &Job,
    measure: &Measure,
    fixture: &Fixture,
    backend: &dyn Backend,
    opened: (f64, f64),
) -> Result<Vec<(String, Json)>, ChildError> {
    match measure.fault {
        Some(Fault::Crash) => std::process::abort(),
        Some(Fault::Hang) => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        _ => {}
    }
    let mut members = Vec::new();
    let orders: &[Order] = match measure.overlap && backend.overlaps() {
        true => &[Order::Stream, Order::Overlap],
        false => &[Order::Stream],
    };
    for &order in orders {
        let group = |groups: Groups| if order == Order::Stream { groups.stream } else { groups.overlap };
        let task = Task {
            case: &fixture.spec,
            input: &fixture.input,
            original: Entry { rows: fixture.spec.geometry.block, group: group(measure.original) },
            partition: (measure.requested > 0)
                .then_some(Entry { rows: measure.requested, group: group(measure.partition) }),
            order,
            operations: measure.protocol.operations,
        };
        let names = match order {
            Order::Stream => Names { source: SOURCE, output: tensor_file("output", fixture.spec.storage) },
            Order::Overlap => {
                Names { source: "overlap-source.txt", output: tensor_file("overlap-output", fixture.spec.storage) }
            }
        };
        let mut prepared = backend.prepare(&task)?;
        let (text, original_bytes) = prepared.source();
        write(&job.folder.join(names.source), text.as_bytes())?;
        if order == Order::Stream {
            write(&job.folder.join(ORIGINAL_SOURCE), &text.as_bytes()[..original_bytes.min(text.len())])?;
        }
        let route = route(job, measure, fixture, prepared.as_mut(), &names.output, opened)?;
        let selection = prepared.selection().receipt(&fixture.spec, prepared.entries());
        let record = object([
            ("route", route.record),
            ("selection", selection),
            ("observed", route.observed),
            ("output", Json::from(names.output)),
        ]);
        members.push((if order == Order::Stream { "native" } else { "overlap" }.to_owned(), record));
    }
    Ok(members)
}

struct Measured {
    record: Json,
    observed: Json,
}

/// One route: first operation, graph, sampling, checks, the output on disk.
fn route(
    job: &Job,
    measure: &Measure,
    fixture: &Fixture,
    prepared: &mut dyn Prepared,
    output_name: &str,
    (fixture_ms, runtime_ms): (f64, f64),
) -> Result<Measured, ChildError> {
    let mut checks = Checks { fixture, wrong: measure.fault == Some(Fault::WrongResult), first: None };
    let (compile_ms, upload_ms) = prepared.cold_ms();
    let begin = Instant::now();
    prepared.run_once()?;
    let cold_ms = milliseconds(begin);
    checks.run("the first operation", prepared.read_back()?)?;
    let begin = Instant::now();
    let observed = prepared.build_graph()?;
    let graph_build_ms = milliseconds(begin);
    let selection = prepared.selection();
    let expected = match selection.choice {
        super::selector::Choice::Original => prepared.entries().0,
        super::selector::Choice::Partition => prepared.entries().1,
    };
    if observed.entry != expected
        || observed.grid != [selection.grid, 1, 1]
        || observed.nodes != measure.protocol.operations
    {
        return Err(ChildError::Wrong(format!(
            "the graph launches {} with grid {:?} {} times; chosen was {expected} with grid {}, {} times",
            observed.entry, observed.grid, observed.nodes, selection.grid, measure.protocol.operations
        )));
    }
    prepared.poison()?;
    let protocol = Protocol::from(measure.protocol);
    let sampled = sample(&protocol, prepared)?;
    checks.run("the timed replays", prepared.read_back()?)?;
    prepared.poison()?;
    prepared.replay(1)?;
    let (output, verdict) = checks.run("a replay after them", prepared.read_back()?)?;
    if !prepared.keeps_order(&output)? {
        return Err(ChildError::Wrong("overlapping operations do not keep the order of their stores".to_owned()));
    }
    let path = job.folder.join(output_name);
    write(&path, &output)?;
    let again = fs::read(&path).map_err(|source| ChildError::File { path, source })?;
    let from_disk = fixture.check(&again);
    if !from_disk.holds() || again != output {
        return Err(ChildError::Wrong(format!("{output_name} on disk is not what the device gave")));
    }
    let observed = object([
        ("nodes", Json::from(observed.nodes)),
        ("entry", Json::from(observed.entry)),
        ("grid", Json::from(observed.grid.to_vec())),
    ]);
    let record = object([
        ("event_us", sampled.event_us(&protocol)),
        ("sampling", sampled.sampling(&protocol)),
        ("warmup", sampled.warmup(&protocol)),
        (
            "recorded_correctness",
            object([
                ("checks", Json::from(CHECKS)),
                ("elements_per_check", Json::from(verdict.elements)),
                ("errors", Json::from(verdict.failed_elements)),
                ("max_abs_error", Json::from(verdict.max_abs_error)),
                ("max_error_over_bound", Json::from(verdict.max_error_over_bound)),
                ("inputs_unchanged", Json::Bool(true)),
                ("guards_unchanged", Json::Bool(true)),
                ("all_outputs_finite", Json::Bool(verdict.all_finite)),
            ]),
        ),
        (
            "cold_ms",
            object([
                ("fixture_ms", Json::from(fixture_ms)),
                ("runtime_ms", Json::from(runtime_ms)),
                ("compile_ms", Json::from(compile_ms)),
                ("allocation_upload_ms", Json::from(upload_ms)),
                ("cold_ms", Json::from(cold_ms)),
                ("graph_build_ms", Json::from(graph_build_ms)),
            ]),
        ),
        ("realization", Json::from(prepared.realization())),
        ("compiler_evidence", Json::Null),
    ]);
    Ok(Measured { record, observed })
}

/// The checks of a run: all within the bound, and all the same bytes.
struct Checks<'f> {
    fixture: &'f Fixture,
    /// Whether to spoil what is checked, for tests.
    wrong: bool,
    first: Option<Vec<u8>>,
}

impl Checks<'_> {
    fn run(&mut self, what: &str, mut found: ReadBack) -> Result<(Vec<u8>, Verdict), ChildError> {
        if self.wrong
            && let Some(byte) = found.output.last_mut()
        {
            *byte ^= 0x40;
        }
        let verdict = self.fixture.check(&found.output);
        let wrong = |text: String| Err(ChildError::Wrong(format!("after {what}: {text}")));
        if !verdict.holds() || !verdict.all_finite {
            return wrong(format!(
                "{} of {} outputs are wrong, by up to {:e} ({:.3} of the bound)",
                verdict.failed_elements, verdict.elements, verdict.max_abs_error, verdict.max_error_over_bound
            ));
        }
        if !found.guards_unchanged {
            return wrong("elements beside a tensor have changed".to_owned());
        }
        if !found.inputs_unchanged {
            return wrong("the input has changed".to_owned());
        }
        match &self.first {
            Some(first) if *first != found.output => return wrong("the output is not the same as before".to_owned()),
            Some(_) => {}
            None => self.first = Some(found.output.clone()),
        }
        Ok((found.output, verdict))
    }
}

/// Writes a file beside its place and renames it, so that it is there whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ChildError> {
    let failed = |source| ChildError::File { path: path.to_owned(), source };
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path)).map_err(failed)
}
