//! The partition benchmark on a GPU: the row reduction kernel under the host's selector.

#![allow(unsafe_code)]

use std::time::Instant;

use cudarc::driver::{CudaFunction, CudaGraph, CudaSlice};

use super::device::{Argument, Device, DeviceError, Events, Launch, Mode};
use super::graph::kernel_nodes;
use crate::bench::partition::backend::{
    Backend, BackendError, GUARD_BYTE, GUARD_ELEMENTS, Kind, Observed, POISON_BYTE, Prepared, ReadBack, Task,
};
use crate::bench::partition::cases::CaseSpec;
use crate::bench::partition::clock::milliseconds;
use crate::bench::partition::sampling::{Replayer, Span};
use crate::bench::partition::selector::{Binding, Choice, Selection, Span as Bytes, input_bytes, output_bytes, select};
use crate::bench::partition::source::{Entry, LATE, ORIGINAL, Order, PARTITION, Source};
use crate::package::json::{Json, object};

/// Compute capability that the kernel needs: maxima of pairs, and of a warp.
const MIN_CAPABILITY: (i32, i32) = (8, 0);

/// Compute capability from which an operation may begin before the one before it ends.
const OVERLAP_CAPABILITY: (i32, i32) = (9, 0);

/// Alternations of the check of the order of stores.
const ALTERNATIONS: usize = 10;

impl From<DeviceError> for BackendError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Missing(what) => Self::Unavailable(what),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// Opens a GPU.
///
/// # Errors
/// No driver, no run-time compiler, no such GPU, or one that is too old.
pub(crate) fn backend(index: usize) -> Result<Box<dyn Backend>, BackendError> {
    let device = Device::open(index)?;
    let (major, minor) = device.capability;
    if device.capability < MIN_CAPABILITY {
        return Err(BackendError::Unavailable(format!(
            "{} has compute capability {major}.{minor}; the kernel needs {}.{} or higher",
            device.name, MIN_CAPABILITY.0, MIN_CAPABILITY.1
        )));
    }
    Ok(Box::new(Gpu { device }))
}

#[derive(Debug)]
struct Gpu {
    device: Device,
}

impl Backend for Gpu {
    fn kind(&self) -> Kind {
        Kind::Cuda
    }

    fn device(&self) -> Json {
        let device = &self.device;
        let (major, minor) = device.capability;
        // Some libraries are loaded by the first compilation only.
        let _ = device.compile("nothing.cu", "extern \"C\" __global__ void nothing() {}");
        let driver = super::telemetry::driver_version().unwrap_or_else(|| "unknown".to_owned());
        let receipts = super::telemetry::libraries().into_iter().map(|receipt| receipt.json()).collect();
        object([
            ("schema", Json::Int(1)),
            ("compute_capability", Json::Int(i64::from(10 * major + minor))),
            ("sm_count", Json::from(device.limits.processors)),
            ("warp_size", Json::from(device.warp)),
            ("max_resident_warps_per_sm", Json::from(device.resident_warps)),
            (
                "budget_scope",
                Json::from(
                    "Resident threads that the device allows, over its warp size: a capacity, no measured occupancy.",
                ),
            ),
            (
                "identity",
                object([
                    ("gpu", Json::from(device.name.as_str())),
                    (
                        "driver",
                        Json::from(format!("{}, ${{GPU_UUID_REDACTED}}, {driver}, {major}.{minor}", device.name)),
                    ),
                    ("cuda_driver_api_version", Json::Int(i64::from(device.driver))),
                    ("toolkit", Json::from("${CUDA_TOOLKIT}")),
                    ("toolkit_version", Json::from(format!("{}.{}", device.compiler.0, device.compiler.1))),
                    ("tool_receipts", Json::Array(receipts)),
                ]),
            ),
            ("evidence", Json::Array(Vec::new())),
        ])
    }

    fn bus_id(&self) -> Option<String> {
        self.device.bus_id()
    }

    fn fingerprint(&self) -> Option<String> {
        self.device.fingerprint()
    }

    fn overlaps(&self) -> bool {
        self.device.capability >= OVERLAP_CAPABILITY
    }

    fn prepare(&self, task: &Task<'_>) -> Result<Box<dyn Prepared + '_>, BackendError> {
        let source = Source::new(task.case, true, task.order, task.original, task.partition);
        Ok(Box::new(Ready::new(&self.device, task, source, GUARD_ELEMENTS)?))
    }
}

/// A case on the device.
struct Ready<'d> {
    device: &'d Device,
    case: CaseSpec,
    operations: u64,
    order: Order,
    source: Source,
    original: (CudaFunction, Entry),
    partition: Option<(CudaFunction, Entry)>,
    /// The original entry with a delay before its store, where operations overlap.
    late: Option<CudaFunction>,
    /// Bytes before the tensors.
    before: usize,
    /// With its guards.
    original_input: Vec<u8>,
    input: CudaSlice<u8>,
    output: CudaSlice<u8>,
    binding: Binding,
    selection: Selection,
    graph: Option<CudaGraph>,
    events: Events,
    cold_ms: (f64, f64),
}

impl<'d> Ready<'d> {
    /// Tensors begin `before` elements into their allocations, which are aligned to 256 bytes.
    fn new(device: &'d Device, task: &Task<'_>, source: Source, before: u64) -> Result<Self, DeviceError> {
        let begin = Instant::now();
        let module = device.compile("row_reduce.cu", &source.text)?;
        let original = (module.load_function(ORIGINAL)?, task.original);
        let partition = match task.partition {
            Some(entry) => Some((module.load_function(PARTITION)?, entry)),
            None => None,
        };
        let late = match task.order {
            Order::Overlap => Some(module.load_function(LATE)?),
            Order::Stream => None,
        };
        let compile_ms = milliseconds(begin);
        let begin = Instant::now();
        let case = task.case.clone();
        let before = (before * case.storage.bytes()) as usize;
        let original_input = guarded(&case, before, task.input);
        let input = device.upload(&original_input)?;
        let output = device.upload(&guarded(&case, before, &vec![POISON_BYTE; output_bytes(&case) as usize]))?;
        let view = |buffer: &CudaSlice<u8>, bytes| Bytes { address: device.address(buffer) + before as u64, bytes };
        let binding = Binding { input: view(&input, input_bytes(&case)), output: view(&output, output_bytes(&case)) };
        device.stream().synchronize()?;
        let selection = select(&case, task.partition.map_or(0, |entry| entry.rows), binding);
        let cold_ms = (compile_ms, milliseconds(begin));
        Ok(Self {
            device,
            operations: task.operations,
            order: task.order,
            source,
            original,
            partition,
            late,
            before,
            original_input,
            input,
            output,
            binding,
            selection,
            graph: None,
            events: device.events()?,
            cold_ms,
            case,
        })
    }

    /// The function that was chosen, and its entry.
    fn chosen(&self) -> (&CudaFunction, Entry) {
        match (self.selection.choice, &self.partition) {
            (Choice::Partition, Some((function, entry))) => (function, *entry),
            _ => (&self.original.0, self.original.1),
        }
    }

    /// Puts a function on the stream, with one program for each block.
    fn launch(&self, function: &CudaFunction, entry: Entry, grid: u64, input: u64) -> Result<(), DeviceError> {
        let mode = if self.order == Order::Overlap { Mode::Overlapping } else { Mode::Plain };
        let launch =
            Launch { grid: (grid as usize, 1), threads: entry.threads(self.order) as usize, shared_bytes: 0, mode };
        let arguments = [Argument::address(input), Argument::address(self.binding.output.address)];
        // SAFETY: every entry takes the input's and the output's address. `input` is that of R * N values, the output has R
        // of them, the source was made for this case and this entry, and `self` outlives the stream's work, which is waited
        // for before it is dropped.
        unsafe { self.device.launch(self.device.stream(), function, launch, &arguments) }
    }

    fn operate(&self) -> Result<(), DeviceError> {
        let (function, entry) = self.chosen();
        self.launch(function, entry, self.selection.grid, self.binding.input.address)
    }

    fn unguarded<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(self.before..self.before + output_bytes(&self.case) as usize).unwrap_or_default()
    }

    fn download(&self, buffer: &CudaSlice<u8>) -> Result<Vec<u8>, DeviceError> {
        let bytes = self.device.stream().clone_dtoh(buffer)?;
        self.device.stream().synchronize()?;
        Ok(bytes)
    }

    fn observe(&self, graph: &CudaGraph) -> Result<Observed, DeviceError> {
        let nodes = kernel_nodes(graph)?;
        let different = || DeviceError::Graph("the captured graph launches more than one entry or grid".to_owned());
        let first = nodes.first().ok_or_else(different)?;
        let functions = [(Some(&self.original.0), ORIGINAL), (self.partition.as_ref().map(|(one, _)| one), PARTITION)];
        let named = functions.iter().find(|(function, _)| function.is_some_and(|function| first.launches(function)));
        let (Some(function), name) = named.ok_or_else(different)? else { return Err(different()) };
        if nodes.iter().any(|node| !node.launches(function) || node.grid() != first.grid()) {
            return Err(different());
        }
        Ok(Observed { nodes: nodes.len() as u64, entry: (*name).to_owned(), grid: first.grid() })
    }

    /// Whether stores of overlapping operations keep their order: operations on two inputs alternate, the ones before the
    /// last store late, and the last one's result stays. The other input is zeros, whose results are zeros.
    fn stores_in_order(&self, expected: &[u8]) -> Result<bool, DeviceError> {
        let Some(late) = &self.late else { return Ok(true) };
        let zeros = self.device.upload(&vec![0_u8; self.original_input.len()])?;
        let zeros_at = self.device.address(&zeros) + self.before as u64;
        let own = self.binding.input.address;
        let zero_results = vec![0_u8; expected.len()];
        let original_grid = self.case.geometry.rows.div_ceil(self.case.geometry.block);
        let (function, entry) = self.chosen();
        let mut holds = true;
        for (first, last, result) in [(own, zeros_at, zero_results.as_slice()), (zeros_at, own, expected)] {
            let graph = self.device.capture(ALTERNATIONS, &mut || {
                self.launch(late, self.original.1, original_grid, first)?;
                self.launch(function, entry, self.selection.grid, last)
            })?;
            self.device.replay(&graph, &self.events, 1)?;
            holds &= self.unguarded(&self.download(&self.output)?) == result;
        }
        Ok(holds)
    }
}

/// A tensor between its guards, the one before it of `before` bytes.
fn guarded(case: &CaseSpec, before: usize, bytes: &[u8]) -> Vec<u8> {
    let after = (GUARD_ELEMENTS * case.storage.bytes()) as usize;
    [&vec![GUARD_BYTE; before], bytes, &vec![GUARD_BYTE; after]].concat()
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        // Whatever has failed, buffers and code are not given back under work that may use them still.
        let _ = self.device.stream().synchronize();
    }
}

impl Replayer for Ready<'_> {
    fn replay(&mut self, count: u64) -> Result<Span, BackendError> {
        let graph =
            self.graph.as_ref().ok_or_else(|| BackendError::Failed("the graph has not been built".to_owned()))?;
        let begin = Instant::now();
        let event_ms = f64::from(self.device.replay(graph, &self.events, count)?);
        Ok(Span { event_ms, host_ms: milliseconds(begin) })
    }
}

impl Prepared for Ready<'_> {
    fn source(&self) -> (&str, usize) {
        (&self.source.text, self.source.original_bytes)
    }

    fn realization(&self) -> String {
        let geometry = self.case.geometry;
        let (_, entry) = self.chosen();
        let original_grid = geometry.rows.div_ceil(geometry.block);
        let order = match self.order {
            Order::Stream => "stream order",
            Order::Overlap => "programmatic dependent launch",
        };
        let mut text = format!(
            "CUDA C++ -> NVRTC {}.{} -> PTX -> driver; no compilation cache; {order}; threads={}; threads-per-row={}; \
             programs={original_grid}",
            self.device.compiler.0,
            self.device.compiler.1,
            entry.threads(self.order),
            entry.group
        );
        if let Some((_, partition)) = &self.partition {
            text.push_str(&format!(
                "; program-partition-rows={}; program-partition-input-bytes={}; program-partition-output-bytes={}; \
                 program-partition-original-rows={}; program-partition-grid-x={}; \
                 program-partition-original-grid-x={original_grid}",
                partition.rows,
                input_bytes(&self.case),
                output_bytes(&self.case),
                geometry.block,
                geometry.rows.div_ceil(partition.rows),
            ));
        }
        text
    }

    fn selection(&self) -> Selection {
        self.selection
    }

    fn entries(&self) -> (&'static str, &'static str) {
        (ORIGINAL, PARTITION)
    }

    fn cold_ms(&self) -> (f64, f64) {
        self.cold_ms
    }

    fn run_once(&mut self) -> Result<(), BackendError> {
        self.operate()?;
        self.device.stream().synchronize().map_err(DeviceError::from)?;
        Ok(())
    }

    fn build_graph(&mut self) -> Result<Observed, BackendError> {
        let graph = self.device.capture(self.operations as usize, &mut || self.operate())?;
        let observed = self.observe(&graph)?;
        self.graph = Some(graph);
        Ok(observed)
    }

    fn poison(&mut self) -> Result<(), BackendError> {
        let poisoned = guarded(&self.case, self.before, &vec![POISON_BYTE; output_bytes(&self.case) as usize]);
        let stream = self.device.stream();
        stream.memcpy_htod(&poisoned, &mut self.output).map_err(DeviceError::from)?;
        stream.synchronize().map_err(DeviceError::from)?;
        Ok(())
    }

    fn read_back(&mut self) -> Result<ReadBack, BackendError> {
        let bytes = self.download(&self.output)?;
        let output = self.unguarded(&bytes).to_vec();
        Ok(ReadBack {
            guards_unchanged: bytes == guarded(&self.case, self.before, &output),
            inputs_unchanged: self.download(&self.input)? == self.original_input,
            output,
        })
    }

    fn keeps_order(&mut self, expected: &[u8]) -> Result<Option<(u64, bool)>, BackendError> {
        match self.order {
            Order::Stream => Ok(None),
            Order::Overlap => Ok(Some((2 * ALTERNATIONS as u64, self.stores_in_order(expected)?))),
        }
    }
}

#[cfg(test)]
mod tests;
