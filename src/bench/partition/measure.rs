//! One measurement in a child: what is compiled, the first operation, the graph, the samples, the checks, the output on disk.

use std::fs;
use std::time::Instant;

use super::backend::{Backend, Observed, Prepared, ReadBack, Task};
use super::child::{ChildError, Fixture, ORIGINAL_SOURCE, SOURCE, output_file, state, write};
use super::clock::milliseconds;
use super::job::{Fault, Job, Measure};
use super::oracle::Verdict;
use super::sampling::{Protocol, Sampled, sample};
use super::selector::Choice;
use super::source::{Entry, Order};
use crate::package::json::{Json, object};

/// Times that outputs are checked in a run.
const CHECKS: u64 = 3;

/// Members of a child's result.
type Members = Vec<(String, Json)>;

/// Measures a case in an order of operations; `opened` has the milliseconds of reading the fixtures and of opening the
/// backend.
pub(super) fn measure(
    job: &Job,
    measure: &Measure,
    fixture: &Fixture,
    backend: &dyn Backend,
    opened: (f64, f64),
) -> Result<Members, ChildError> {
    match measure.fault {
        Some(Fault::Crash) => std::process::abort(),
        Some(Fault::Hang) => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        _ => {}
    }
    let order = if measure.overlap { Order::Overlap } else { Order::Stream };
    let task = Task {
        case: &fixture.spec,
        input: &fixture.input,
        original: Entry { rows: fixture.spec.geometry.block, group: measure.original.of(order) },
        partition: (measure.requested > 0)
            .then_some(Entry { rows: measure.requested, group: measure.partition.of(order) }),
        order,
        operations: measure.protocol.operations,
    };
    let mut prepared = backend.prepare(&task)?;
    let (text, original_bytes) = prepared.source();
    write(&job.folder.join(SOURCE), text.as_bytes())?;
    let original = text.as_bytes().get(..original_bytes).unwrap_or(text.as_bytes());
    write(&job.folder.join(ORIGINAL_SOURCE), original)?;
    let mut members = route(job, measure, fixture, prepared.as_mut(), opened)?;
    let selection = prepared.selection().receipt(&fixture.spec, prepared.entries());
    members.push(("selection".to_owned(), selection));
    Ok(members)
}

fn route(
    job: &Job,
    measure: &Measure,
    fixture: &Fixture,
    prepared: &mut dyn Prepared,
    (fixture_ms, runtime_ms): (f64, f64),
) -> Result<Members, ChildError> {
    let mut checks = Checks { fixture, wrong: measure.fault == Some(Fault::WrongResult), first: None };
    let (compile_ms, upload_ms) = prepared.cold_ms();
    let begin = Instant::now();
    prepared.run_once()?;
    let cold_ms = milliseconds(begin);
    checks.run("the first operation", prepared.read_back()?)?;
    let begin = Instant::now();
    let observed = prepared.build_graph()?;
    let graph_build_ms = milliseconds(begin);
    check_graph(prepared, &observed, measure.protocol.operations)?;
    prepared.poison()?;
    let protocol = Protocol::from(measure.protocol);
    let mut warm = Json::Null;
    let sampled = sample(&protocol, prepared, &mut || warm = state(job.bus_id.as_deref()))?;
    let sampled_state = state(job.bus_id.as_deref());
    checks.run("the timed replays", prepared.read_back()?)?;
    prepared.poison()?;
    prepared.replay(1)?;
    let (output, verdict) = checks.run("a replay after them", prepared.read_back()?)?;
    let order_check = order_check(prepared, &output)?;
    save(job, fixture, &output)?;
    let cold = object([
        ("fixture_ms", Json::from(fixture_ms)),
        ("runtime_ms", Json::from(runtime_ms)),
        ("compile_ms", Json::from(compile_ms)),
        ("allocation_upload_ms", Json::from(upload_ms)),
        ("cold_ms", Json::from(cold_ms)),
        ("graph_build_ms", Json::from(graph_build_ms)),
    ]);
    let observed = object([
        ("nodes", Json::from(observed.nodes)),
        ("entry", Json::from(observed.entry)),
        ("grid", Json::from(observed.grid.to_vec())),
    ]);
    let members = [
        ("route", record(&sampled, &protocol, &verdict, cold, prepared.realization())),
        ("observed", observed),
        ("order_check", order_check),
        ("machine_after_warm_up", warm),
        ("machine_after_samples", sampled_state),
    ];
    Ok(members.map(|(name, value)| (name.to_owned(), value)).into())
}

/// The route's record, but for what is known of its files.
fn record(sampled: &Sampled, protocol: &Protocol, verdict: &Verdict, cold: Json, realization: String) -> Json {
    let correctness = object([
        ("checks", Json::from(CHECKS)),
        ("elements_per_check", Json::from(verdict.elements)),
        ("errors", Json::from(verdict.failed_elements)),
        ("max_abs_error", Json::from(verdict.max_abs_error)),
        ("max_error_over_bound", Json::from(verdict.max_error_over_bound)),
        ("inputs_unchanged", Json::Bool(true)),
        ("guards_unchanged", Json::Bool(true)),
        ("all_outputs_finite", Json::Bool(verdict.all_finite)),
    ]);
    object([
        ("event_us", sampled.event_us(protocol)),
        ("sampling", sampled.sampling(protocol)),
        ("warmup", sampled.warmup(protocol)),
        ("recorded_correctness", correctness),
        ("cold_ms", cold),
        ("realization", Json::from(realization)),
        ("compiler_evidence", Json::Null),
    ])
}

fn order_check(prepared: &mut dyn Prepared, output: &[u8]) -> Result<Json, ChildError> {
    match prepared.keeps_order(output)? {
        None => Ok(Json::Null),
        Some((alternations, true)) => {
            Ok(object([("alternations", Json::from(alternations)), ("all_in_order", Json::Bool(true))]))
        }
        Some((_, false)) => {
            Err(ChildError::Wrong("overlapping operations do not keep the order of their stores".to_owned()))
        }
    }
}

/// Writes an output, and checks what is then on the disk.
fn save(job: &Job, fixture: &Fixture, output: &[u8]) -> Result<(), ChildError> {
    let name = output_file(fixture.spec.storage);
    let path = job.folder.join(&name);
    write(&path, output)?;
    let again = fs::read(&path).map_err(|source| ChildError::File { path, source })?;
    if again == output && fixture.check(&again).holds() {
        return Ok(());
    }
    Err(ChildError::Wrong(format!("{name} on disk is not what the device gave")))
}

/// The graph launches what was chosen, and nothing else.
fn check_graph(prepared: &dyn Prepared, observed: &Observed, operations: u64) -> Result<(), ChildError> {
    let selection = prepared.selection();
    let expected = match selection.choice {
        Choice::Original => prepared.entries().0,
        Choice::Partition => prepared.entries().1,
    };
    let holds = observed.entry == expected && observed.grid == [selection.grid, 1, 1] && observed.nodes == operations;
    if holds {
        return Ok(());
    }
    Err(ChildError::Wrong(format!(
        "the graph launches {} with grid {:?} {} times; chosen was {expected} with grid {}, {operations} times",
        observed.entry, observed.grid, observed.nodes, selection.grid
    )))
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
