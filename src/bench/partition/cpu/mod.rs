//! The backend on threads of this host. It has the protocol of the GPU's: programs of rows, a graph of operations in order,
//! events around replays. It is there so that everything can be run and checked without a GPU; its figures are a CPU's.

mod rows;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::backend::{
    Backend, BackendError, GUARD_BYTE, GUARD_ELEMENTS, Kind, Observed, POISON_BYTE, Prepared, ReadBack, Task,
};
use super::cases::CaseSpec;
use super::clock::milliseconds;
use super::sampling::{Replayer, Span};
use super::selector::{Binding, Choice, Selection, Span as Bytes, input_bytes, output_bytes, select};
use crate::package::json::{Json, object};
use rows::{Shared, Values, reduce};

/// Rows and their loops.
pub(super) const LOOPS: &str = include_str!("rows.rs");

/// Names of the original entry and of the appended one.
pub(super) const ENTRIES: (&str, &str) = ("host_rows", "host_rows_partition");

/// Most threads, where nobody says how many.
const DEFAULT_THREADS: usize = 4;

/// Turns of waiting before a thread lets others run: there may be more threads than processors.
const TURNS: usize = 2000;

/// Threads of this host.
#[derive(Debug)]
pub struct Cpu {
    threads: usize,
}

impl Cpu {
    /// As many threads as this process may use processors, four at most; `threads` of them where that is given.
    pub fn open(threads: Option<usize>) -> Self {
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads: threads.unwrap_or(available.min(DEFAULT_THREADS)).max(1) }
    }
}

impl Backend for Cpu {
    fn kind(&self) -> Kind {
        Kind::Cpu
    }

    fn device(&self) -> Json {
        object([
            ("schema", Json::Int(1)),
            ("compute_capability", Json::Null),
            ("sm_count", Json::from(self.threads)),
            ("warp_size", Json::Int(1)),
            ("max_resident_warps_per_sm", Json::Int(1)),
            ("budget_scope", Json::from("Host threads that share the programs; no GPU was used.")),
            (
                "identity",
                object([
                    ("gpu", Json::Null),
                    ("backend", Json::from("host threads")),
                    ("cpu", Json::from(super::machine::processor_name())),
                    ("architecture", Json::from(std::env::consts::ARCH)),
                    ("operating_system", Json::from(std::env::consts::OS)),
                ]),
            ),
            ("evidence", Json::Array(Vec::new())),
        ])
    }

    fn overlaps(&self) -> bool {
        false
    }

    fn prepare(&self, task: &Task<'_>) -> Result<Box<dyn Prepared + '_>, BackendError> {
        let begin = Instant::now();
        let case = task.case.clone();
        let (mut text, original) = (LOOPS.to_owned(), task.original.rows);
        text.push_str(&format!("\n// {}: {original} rows for each program\n", ENTRIES.0));
        let original_bytes = text.len();
        if let Some(partition) = task.partition {
            text.push_str(&format!("\n// {}: {} rows for each program\n", ENTRIES.1, partition.rows));
        }
        let compile_ms = milliseconds(begin);
        let begin = Instant::now();
        let guarded = |bytes: &[u8]| {
            let guard = vec![GUARD_BYTE; (GUARD_ELEMENTS * case.storage.bytes()) as usize];
            [guard.as_slice(), bytes, guard.as_slice()].concat()
        };
        let original_input = guarded(task.input);
        let input = Values::from_bytes(case.storage, &original_input);
        let poisoned = guarded(&vec![POISON_BYTE; output_bytes(&case) as usize]);
        let output = Shared::from_bytes(case.storage, &poisoned);
        // Two allocations are apart, whatever their addresses.
        let offset = GUARD_ELEMENTS * case.storage.bytes();
        let binding = Binding {
            input: Bytes { address: offset, bytes: input_bytes(&case) },
            output: Bytes { address: original_input.len() as u64 + offset, bytes: output_bytes(&case) },
        };
        let selection = select(&case, task.partition.map_or(0, |entry| entry.rows), binding);
        let upload_ms = milliseconds(begin);
        Ok(Box::new(Ready {
            case,
            threads: self.threads,
            selection,
            operations: task.operations,
            text,
            original_bytes,
            original_input,
            input,
            output,
            poisoned,
            cold_ms: (compile_ms, upload_ms),
        }))
    }
}

struct Ready {
    case: CaseSpec,
    threads: usize,
    selection: Selection,
    operations: u64,
    text: String,
    original_bytes: usize,
    /// With its guards, as it was.
    original_input: Vec<u8>,
    input: Values,
    output: Shared,
    /// The output with its guards before anything ran.
    poisoned: Vec<u8>,
    cold_ms: (f64, f64),
}

impl Ready {
    fn rows_per_program(&self) -> u64 {
        match self.selection.choice {
            Choice::Original => self.case.geometry.block,
            Choice::Partition => self.selection.requested,
        }
    }

    /// The programs of one thread.
    fn programs(&self, thread: usize) {
        let geometry = self.case.geometry;
        let rows = self.rows_per_program();
        let guard = GUARD_ELEMENTS as usize;
        let columns = geometry.columns as usize;
        for program in (thread as u64..self.selection.grid).step_by(self.threads) {
            for row in program * rows..geometry.rows.min((program + 1) * rows) {
                let row = row as usize;
                let from = (guard + row * columns, columns);
                reduce(self.case.operation, self.case.storage, &self.input, from, &self.output, guard + row);
            }
        }
    }

    /// Operations in order: none begins before all programs of the one before are through. Gives the time that they took,
    /// without that of starting threads.
    fn run(&self, operations: u64) -> f64 {
        let barrier = Barrier { threads: self.threads, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) };
        let work = |thread: usize| {
            barrier.wait();
            let begin = Instant::now();
            for _ in 0..operations {
                self.programs(thread);
                barrier.wait();
            }
            milliseconds(begin)
        };
        std::thread::scope(|scope| {
            for thread in 1..self.threads {
                scope.spawn(move || work(thread));
            }
            work(0)
        })
    }
}

/// A barrier that threads wait at without going to sleep: operations take microseconds.
struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut turns = 0;
        while self.round.load(Ordering::Acquire) == round {
            turns += 1;
            if turns % TURNS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

impl Replayer for Ready {
    fn replay(&mut self, count: u64) -> Result<Span, BackendError> {
        let begin = Instant::now();
        let event_ms = self.run(count * self.operations);
        Ok(Span { event_ms, host_ms: milliseconds(begin) })
    }
}

impl Prepared for Ready {
    fn source(&self) -> (&str, usize) {
        (&self.text, self.original_bytes)
    }

    fn realization(&self) -> String {
        format!(
            "Rust loops on {} host threads; programs={}",
            self.threads,
            self.case.geometry.rows.div_ceil(self.case.geometry.block)
        )
    }

    fn selection(&self) -> Selection {
        self.selection
    }

    fn entries(&self) -> (&'static str, &'static str) {
        ENTRIES
    }

    fn cold_ms(&self) -> (f64, f64) {
        self.cold_ms
    }

    fn run_once(&mut self) -> Result<(), BackendError> {
        self.run(1);
        Ok(())
    }

    fn build_graph(&mut self) -> Result<Observed, BackendError> {
        let entry = match self.selection.choice {
            Choice::Original => ENTRIES.0,
            Choice::Partition => ENTRIES.1,
        };
        Ok(Observed { nodes: self.operations, entry: entry.to_owned(), grid: [self.selection.grid, 1, 1] })
    }

    fn poison(&mut self) -> Result<(), BackendError> {
        self.output = Shared::from_bytes(self.case.storage, &self.poisoned);
        Ok(())
    }

    fn read_back(&mut self) -> Result<ReadBack, BackendError> {
        let bytes = self.output.to_bytes();
        let guard = (GUARD_ELEMENTS * self.case.storage.bytes()) as usize;
        let end = bytes.len().saturating_sub(guard).max(guard);
        let (before, output) = bytes.get(..end).unwrap_or_default().split_at_checked(guard).unwrap_or_default();
        let after = bytes.get(end..).unwrap_or_default();
        Ok(ReadBack {
            output: output.to_vec(),
            guards_unchanged: before.iter().chain(after).all(|&byte| byte == GUARD_BYTE),
            inputs_unchanged: self.input.to_bytes() == self.original_input,
        })
    }
}
