//! The control: one host thread adds the contributions in the order of the points, so that nothing can differ.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Arm;
use super::engine::{Engine, EngineError, Kind, Probe, Task};
use super::inputs::{Geometry, Inputs};
use super::sampling::sequential;
use super::timing::{Protocol, Spans};
use crate::package::json::Json;

/// Extent of the background arm's matrices: three of them fill a second-level cache.
const LOAD_EXTENT: usize = 256;

/// The engine.
#[derive(Debug)]
pub struct Cpu;

impl Engine for Cpu {
    fn kind(&self) -> Kind {
        Kind::Cpu
    }

    fn environment(&self) -> Vec<(&'static str, Json)> {
        vec![
            ("device_name", Json::from("CPU")),
            ("pytorch_version", Json::Null),
            ("cuda_version", Json::Null),
            ("cudnn_version", Json::Null),
            ("compute_capability", Json::Null),
            ("processor", Json::from(std::env::consts::ARCH)),
        ]
    }

    fn probe(&self) -> Probe {
        Probe { setting: "none: the order of additions is fixed".to_owned(), result: "backward completed".to_owned() }
    }

    fn background(&self) -> &'static str {
        "256x256 FP32 matrix products on every host thread"
    }

    fn measure(&mut self, task: &Task<'_>, trial: &mut dyn FnMut()) -> Result<Vec<f32>, EngineError> {
        let stop = AtomicBool::new(false);
        let started = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            if task.arm == Arm::BackgroundMatmul {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                for _ in 0..threads {
                    scope.spawn(|| keep_busy(&stop, &started));
                }
                // Trials are short: without this they could be over before the first product begins.
                while started.load(Ordering::Acquire) < threads {
                    std::thread::yield_now();
                }
            }
            let warm_up = sequential(task.inputs.shape, task.geometry);
            std::hint::black_box(warm_up);
            let mut gradients = Vec::with_capacity(task.trials * task.inputs.shape.coordinates());
            for _ in 0..task.trials {
                gradients.extend(sequential(task.inputs.shape, task.geometry));
                trial();
            }
            Ok(gradients)
        })
    }

    fn time(&mut self, _: &Inputs, _: &Geometry, _: Protocol) -> Result<Option<Spans>, EngineError> {
        Ok(None)
    }
}

/// Tells the background to stop however a measurement ends: its scope waits for it.
struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Multiplies matrices until told to stop, and counts itself among the started once it begins.
fn keep_busy(stop: &AtomicBool, started: &AtomicUsize) {
    let left = vec![1.5_f32; LOAD_EXTENT * LOAD_EXTENT];
    let right = vec![0.5_f32; LOAD_EXTENT * LOAD_EXTENT];
    let mut product = vec![0.0_f32; LOAD_EXTENT];
    started.fetch_add(1, Ordering::Release);
    while !stop.load(Ordering::Relaxed) {
        for row in left.chunks_exact(LOAD_EXTENT) {
            product.fill(0.0);
            for (&factor, column) in row.iter().zip(right.chunks_exact(LOAD_EXTENT)) {
                product.iter_mut().zip(column).for_each(|(sum, &value)| *sum += factor * value);
            }
            std::hint::black_box(&mut product);
            if stop.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}
