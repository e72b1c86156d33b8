//! The background arm's load: FP32 matrix products on four streams, from another host thread that waits for each of its
//! streams.

#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream};

use super::device::{Argument, Device, DeviceError, Launch, Mode};

/// The kernel.
const SOURCE: &str = include_str!("../../kernels/matmul.cu");

/// Streams.
const STREAMS: usize = 4;

/// Extent of the matrices.
const EXTENT: usize = 4096;

/// Extent of the square that one block computes.
const TILE: usize = 64;

/// Matrices and streams, ready to run.
#[derive(Debug)]
pub(super) struct Load {
    function: CudaFunction,
    left: CudaSlice<f32>,
    right: CudaSlice<f32>,
    streams: Vec<(Arc<CudaStream>, CudaSlice<f32>)>,
}

impl Load {
    /// Compiles the kernel and takes the memory.
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        let function = device.compile("matmul.cu", SOURCE)?.load_function("matmul")?;
        let values: Vec<f32> = (0..EXTENT * EXTENT).map(|at| (at % 1009) as f32 / 1009.0).collect();
        let left = device.upload(&values)?;
        let right = device.upload(&values)?;
        let stream = |_| Ok((device.new_stream()?, device.zeros(EXTENT * EXTENT)?));
        let streams = (0..STREAMS).map(stream).collect::<Result<_, DeviceError>>()?;
        // Copies and zeros are on the device's own stream.
        device.stream().synchronize()?;
        Ok(Self { function, left, right, streams })
    }

    /// Runs products until told to stop; tells when the first ones are under way. Nothing runs any more when it returns.
    pub(super) fn run(&self, device: &Device, stop: &AtomicBool, started: &SyncSender<()>) -> Result<(), DeviceError> {
        let result = self.products(device, stop, started);
        for (stream, _) in &self.streams {
            stream.synchronize()?;
        }
        result
    }

    fn products(&self, device: &Device, stop: &AtomicBool, started: &SyncSender<()>) -> Result<(), DeviceError> {
        let launch = Launch { grid: (EXTENT / TILE, EXTENT / TILE), threads: 256, shared_bytes: 0, mode: Mode::Plain };
        while !stop.load(Ordering::Relaxed) {
            for (stream, product) in &self.streams {
                let arguments = [
                    device.pointer(&self.left),
                    device.pointer(&self.right),
                    device.pointer(product),
                    Argument::int(EXTENT),
                ];
                // SAFETY: `matmul` takes three matrices of EXTENT * EXTENT values and an int; they live as long as `self`,
                // and `run` waits for the streams.
                unsafe { device.launch(stream, &self.function, launch, &arguments) }?;
            }
            // Nobody may be listening any more.
            let _ = started.try_send(());
            for (stream, _) in &self.streams {
                stream.synchronize()?;
            }
        }
        Ok(())
    }
}
