//! One CUDA device: opening it, compiling for it, memory, launches, and the time between events.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute, CUfunction_attribute_enum, CUlaunchAttributeID};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};

use super::route::Limits;
use crate::bench::divergence::timing::{Protocol, Spans};

/// Oldest driver interface that has everything that is called here: CUDA 12.0.
const MIN_DRIVER: i32 = 12_000;

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
    /// Whether all blocks have to be resident at once.
    pub(super) cooperative: bool,
}

/// An argument of a kernel: a pointer or an `int`, in the low bytes of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument(u64);

impl Argument {
    /// An `int`; sizes that do not fit one are refused before anything is launched.
    pub(super) fn int(value: usize) -> Self {
        Self(u64::from(u32::try_from(value).unwrap_or(u32::MAX)))
    }
}

impl Device {
    /// Opens the first device.
    ///
    /// # Errors
    /// No driver, no device, no run-time compiler.
    pub(super) fn open() -> Result<Self, DeviceError> {
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
            return Err(missing("the CUDA driver is older than CUDA 12.0; update it"));
        }
        let context = CudaContext::new(0).map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NO_DEVICE | sys::CUresult::CUDA_ERROR_INVALID_DEVICE => {
                missing("the CUDA driver sees no GPU")
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
        let ptx = compile_ptx_with_opts(source, options).map_err(|error| {
            DeviceError::Compile(match error {
                CompileError::CompileError { log, .. } => format!("{name}: {}", log.to_string_lossy().trim()),
                other => format!("{name}: {other:?}"),
            })
        })?;
        Ok(self.context.load_module(ptx)?)
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
    pub(super) fn upload(&self, values: &[f32]) -> Result<CudaSlice<f32>, DeviceError> {
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
        Argument(buffer.device_ptr(&self.stream).0)
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
        let mut attribute = sys::CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { cooperative: i32::from(launch.cooperative) },
        };
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
            numAttrs: u32::from(launch.cooperative),
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

    /// Times operations: captures them in a graph, replays it between events.
    pub(super) fn time(
        &self,
        protocol: Protocol,
        operation: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Spans, DeviceError> {
        self.stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let captured = (0..protocol.operations).try_for_each(|_| operation());
        // The capture ends whatever came of the operations; otherwise the stream is of no use any more.
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        captured?;
        let graph = graph?.ok_or_else(|| DeviceError::Missing("nothing was captured".to_owned()))?;
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let (begin, end) = (self.context.new_event(flags)?, self.context.new_event(flags)?);
        let span = |replays: usize| -> Result<f64, DeviceError> {
            begin.record(&self.stream)?;
            for _ in 0..replays {
                graph.launch()?;
            }
            end.record(&self.stream)?;
            end.synchronize()?;
            Ok(f64::from(begin.elapsed_ms(&end)?))
        };
        span(protocol.warm_up)?;
        let replays = protocol.replays(protocol.warm_up, span(protocol.warm_up)?);
        let milliseconds = (0..protocol.spans).map(|_| span(replays)).collect::<Result<_, _>>()?;
        Ok(Spans { operations: protocol.operations, replays, milliseconds })
    }
}
