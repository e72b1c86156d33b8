//! One CUDA device: opening it, compiling for it, memory, launches, and the time between events.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute, CUfunction_attribute_enum, CUlaunchAttributeID};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr,
    DriverError,
};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use super::route::Limits;
use crate::bench::divergence::timing::{Protocol, Spans};

/// Oldest driver interface that has everything that is called here, times between events above all: CUDA 12.8.
const MIN_DRIVER: i32 = 12_080;

/// Dynamic shared memory beyond this has to be asked for, in bytes.
const DEFAULT_SHARED_BYTES: usize = 48 << 10;

/// What went wrong on the device.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeviceError {
    /// Something is not here.
    #[error("{0}")]
    Missing(String),
    /// The driver refused a call.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A kernel does not compile.
    #[error("{0}")]
    Compile(String),
    /// A graph is not what was captured.
    #[error("{0}")]
    Graph(String),
}

/// An opened device. Its work goes to one stream.
#[derive(Debug)]
pub(super) struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// Name, as the driver says it.
    pub(super) name: String,
    /// Compute capability.
    pub(super) capability: (i32, i32),
    /// CUDA version that the driver supports, as 1000 * major + 10 * minor.
    pub(super) driver: i32,
    /// Version of the run-time compiler.
    pub(super) compiler: (i32, i32),
    /// What kernels may use.
    pub(super) limits: Limits,
    /// Threads of a warp.
    pub(super) warp: usize,
    /// Most warps that a multiprocessor holds.
    pub(super) resident_warps: usize,
}

/// Shape of a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    /// Blocks along x and y.
    pub(super) grid: (usize, usize),
    /// Threads of a block.
    pub(super) threads: usize,
    /// Dynamic shared memory of a block, in bytes.
    pub(super) shared_bytes: usize,
    /// What is asked for beside the shape.
    pub(super) mode: Mode,
}

/// What a launch asks for beside its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing.
    Plain,
    /// All blocks resident at once.
    Cooperative,
    /// To begin before the work that stands before it in the stream ends: the kernel itself waits for that.
    Overlapping,
}

/// An argument of a kernel: a pointer or an `int`, in the low bytes of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument(u64);

impl Argument {
    /// An address on the device.
    pub(super) fn address(address: u64) -> Self {
        Self(address)
    }

    /// An `int`; sizes that do not fit one are refused before anything is launched.
    pub(super) fn int(value: usize) -> Self {
        Self(u64::from(u32::try_from(value).unwrap_or(u32::MAX)))
    }
}

impl Device {
    /// Opens a device by its index, 0 for the first.
    ///
    /// # Errors
    /// No driver, no such device, no run-time compiler.
    pub(super) fn open(index: usize) -> Result<Self, DeviceError> {
        let missing = |what: &str| DeviceError::Missing(what.to_owned());
        // SAFETY: loads the libraries and runs their initialisers; nothing is called in them. The crate would panic later
        // where they are missing.
        let (driver_present, compiler_present) =
            unsafe { (sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !driver_present {
            return Err(missing("no CUDA driver (libcuda) is installed; install NVIDIA's driver"));
        }
        if !compiler_present {
            return Err(missing(
                "no CUDA run-time compiler (libnvrtc) is found; install the CUDA toolkit, or put its lib64 on LD_LIBRARY_PATH",
            ));
        }
        let mut driver = 0;
        // SAFETY: writes one int.
        unsafe { sys::cuDriverGetVersion(&raw mut driver) }.result()?;
        if driver < MIN_DRIVER {
            return Err(missing("the CUDA driver is older than CUDA 12.8; update it"));
        }
        let count = CudaContext::device_count().unwrap_or(0);
        let context = CudaContext::new(index).map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NO_DEVICE | sys::CUresult::CUDA_ERROR_INVALID_DEVICE if count <= 0 => {
                missing("the CUDA driver sees no GPU")
            }
            sys::CUresult::CUDA_ERROR_INVALID_DEVICE => {
                DeviceError::Missing(format!("there is no GPU {index}: the CUDA driver sees {count}, numbered from 0"))
            }
            _ => DeviceError::Driver(error),
        })?;
        // SAFETY: this module never uses one buffer on two streams without waiting; the crate's own events would end up
        // in captured graphs.
        unsafe { context.disable_event_tracking() };
        let attribute = |attribute| context.attribute(attribute);
        let size = |value: i32| usize::try_from(value).unwrap_or(0);
        let limits = Limits {
            processors: size(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?),
            shared_bytes: size(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?),
            cooperative: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
        };
        let warp = size(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?);
        let threads = size(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?);
        let mut compiler = (0, 0);
        // SAFETY: writes two ints. Its status only says that they are there.
        let _ = unsafe { cudarc::nvrtc::sys::nvrtcVersion(&raw mut compiler.0, &raw mut compiler.1) };
        Ok(Self {
            stream: context.new_stream()?,
            name: context.name()?,
            capability: context.compute_capability()?,
            driver,
            compiler,
            limits,
            warp,
            resident_warps: threads / warp.max(1),
            context,
        })
    }

    /// Compiles a source for this device and loads it.
    ///
    /// # Errors
    /// The compiler's log, or the driver's refusal.
    pub(super) fn compile(&self, name: &str, source: &str) -> Result<Arc<CudaModule>, DeviceError> {
        let (major, minor) = self.capability;
        let options = CompileOptions {
            options: vec![format!("--gpu-architecture=compute_{major}{minor}"), "--std=c++17".to_owned()],
            name: Some(name.to_owned()),
            ..CompileOptions::default()
        };
        let toolkit = format!("{}.{}", self.compiler.0, self.compiler.1);
        let ptx = compile_ptx_with_opts(source, options).map_err(|error| {
            DeviceError::Compile(match error {
                CompileError::CompileError { log, .. } if log.to_string_lossy().contains("gpu-architecture") => format!(
                    "the run-time compiler of CUDA toolkit {toolkit} does not know compute capability {major}.{minor}; \
                     install a newer toolkit"
                ),
                CompileError::CompileError { log, .. } => format!("{name}: {}", log.to_string_lossy().trim()),
                other => format!("{name}: {other:?}"),
            })
        })?;
        self.context.load_module(ptx).map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => DeviceError::Missing(format!(
                "the driver is older than the run-time compiler of CUDA toolkit {toolkit}; update the driver, or put the \
                 libnvrtc of a toolkit up to {}.{} first on LD_LIBRARY_PATH",
                self.driver / 1000,
                self.driver % 1000 / 10
            )),
            _ => DeviceError::Driver(error),
        })
    }

    /// Where the device is on its bus, as the management library names it.
    pub(super) fn bus_id(&self) -> Option<String> {
        let attribute = |attribute| self.context.attribute(attribute).ok();
        let domain = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
        let bus = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
        let device = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
        Some(format!("{domain:08X}:{bus:02X}:{device:02X}.0"))
    }

    /// SHA-256 of the device's UUID, which itself is never kept.
    pub(super) fn fingerprint(&self) -> Option<String> {
        let uuid = self.context.uuid().ok()?;
        let bytes: Vec<u8> = uuid.bytes.iter().map(|&byte| byte.cast_unsigned()).collect();
        Some(crate::package::digest::digest(&bytes).sha256)
    }

    /// The stream that everything goes to.
    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// A new stream beside it.
    pub(super) fn new_stream(&self) -> Result<Arc<CudaStream>, DeviceError> {
        Ok(self.context.new_stream()?)
    }

    /// Copies values to the device.
    pub(super) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>, DeviceError> {
        Ok(self.stream.clone_htod(values)?)
    }

    /// Zeros on the device.
    pub(super) fn zeros<T: DeviceRepr + cudarc::driver::ValidAsZeroBits>(
        &self,
        count: usize,
    ) -> Result<CudaSlice<T>, DeviceError> {
        Ok(self.stream.alloc_zeros(count)?)
    }

    /// The address of a buffer, as an argument.
    pub(super) fn pointer<T>(&self, buffer: &CudaSlice<T>) -> Argument {
        Argument(self.address(buffer))
    }

    /// The address of a buffer.
    pub(super) fn address<T>(&self, buffer: &CudaSlice<T>) -> u64 {
        buffer.device_ptr(&self.stream).0
    }

    /// Puts a kernel on a stream.
    ///
    /// # Safety
    /// The arguments are those of the kernel, in type, number and order; their buffers live until the stream is through
    /// with them and are as large as the kernel, launched in this shape, takes them to be.
    pub(super) unsafe fn launch(
        &self,
        stream: &CudaStream,
        function: &CudaFunction,
        launch: Launch,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let dimension = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        if launch.shared_bytes > DEFAULT_SHARED_BYTES {
            let bytes = i32::try_from(launch.shared_bytes).unwrap_or(i32::MAX);
            function
                .set_attribute(CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
        }
        let (id, value) = match launch.mode {
            Mode::Overlapping => (
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
            ),
            Mode::Plain | Mode::Cooperative => (
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                sys::CUlaunchAttributeValue { cooperative: i32::from(launch.mode == Mode::Cooperative) },
            ),
        };
        let mut attribute = sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let config = sys::CUlaunchConfig {
            gridDimX: dimension(launch.grid.0),
            gridDimY: dimension(launch.grid.1),
            gridDimZ: 1,
            blockDimX: dimension(launch.threads),
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: dimension(launch.shared_bytes),
            hStream: stream.cu_stream(),
            attrs: &raw mut attribute,
            numAttrs: u32::from(launch.mode != Mode::Plain),
        };
        let mut values: Vec<u64> = arguments.iter().map(|argument| argument.0).collect();
        let mut pointers: Vec<_> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        self.context.bind_to_thread()?;
        // SAFETY: configuration, attribute and argument words live through the call, which copies them; an `int` is read
        // from the low bytes of its word, little-endian as every host of a CUDA device. The rest is the caller's promise.
        unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                function.cu_function(),
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()?;
        Ok(())
    }

    /// Captures operations in a graph.
    pub(super) fn capture(
        &self,
        operations: usize,
        operation: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<CudaGraph, DeviceError> {
        self.stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let captured = (0..operations).try_for_each(|_| operation());
        // The capture ends whatever came of the operations; otherwise the stream is of no use any more.
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        captured?;
        graph?.ok_or_else(|| DeviceError::Graph("nothing was captured".to_owned()))
    }

    /// Replays a graph between two events; milliseconds, in binary32 as CUDA gives them.
    pub(super) fn replay(&self, graph: &CudaGraph, events: &Events, replays: u64) -> Result<f32, DeviceError> {
        events.begin.record(&self.stream)?;
        for _ in 0..replays {
            graph.launch()?;
        }
        events.end.record(&self.stream)?;
        events.end.synchronize()?;
        Ok(events.begin.elapsed_ms(&events.end)?)
    }

    /// A pair of events that record times.
    pub(super) fn events(&self) -> Result<Events, DeviceError> {
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        Ok(Events { begin: self.context.new_event(flags)?, end: self.context.new_event(flags)? })
    }

    /// Times operations: captures them in a graph, replays it between events.
    pub(super) fn time(
        &self,
        protocol: Protocol,
        operation: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Spans, DeviceError> {
        let graph = self.capture(protocol.operations, operation)?;
        let events = self.events()?;
        let span = |replays: usize| Ok::<_, DeviceError>(f64::from(self.replay(&graph, &events, replays as u64)?));
        span(protocol.warm_up)?;
        let replays = protocol.replays(protocol.warm_up, span(protocol.warm_up)?);
        let milliseconds = (0..protocol.spans).map(|_| span(replays)).collect::<Result<_, _>>()?;
        Ok(Spans { operations: protocol.operations, replays, milliseconds })
    }
}

/// Two events around a span.
#[derive(Debug)]
pub(super) struct Events {
    begin: CudaEvent,
    end: CudaEvent,
}
