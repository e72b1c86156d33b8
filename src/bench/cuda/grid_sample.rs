//! The engines `cuda` and `deterministic`.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use cudarc::driver::{CudaFunction, CudaSlice};

use super::device::{Argument, Device, DeviceError, Launch, Mode};
use super::load::Load;
use super::route::{Route, choose, flag_words, quarter, shared_bytes, workspace_words};
use crate::bench::divergence::engine::{Engine, EngineError, Kind, Probe, Task};
use crate::bench::divergence::inputs::{Geometry, Inputs};
use crate::bench::divergence::timing::{Protocol, Spans};
use crate::bench::divergence::{Arm, Shape};
use crate::package::json::Json;

const ATOMIC: &str = include_str!("../../kernels/grid_sample_atomic.cu");
const DETERMINISTIC: &str = include_str!("../../kernels/grid_sample_deterministic.cu");

/// Threads of a block where they stride over the points.
const STRIDING_THREADS: usize = 256;

/// Blocks for each multiprocessor where they stride over the points.
const STRIDING_BLOCKS: usize = 8;

/// Largest second extent of a launch.
const MAX_GRID_Y: usize = 65_535;

/// Opens an engine.
///
/// # Errors
/// No GPU, or none that can be used.
pub(crate) fn engine(kind: Kind) -> Result<Box<dyn Engine>, EngineError> {
    let unavailable = |error: DeviceError| EngineError::unavailable(kind, error.to_string());
    let device = Device::open(0).map_err(unavailable)?;
    let (name, source) = match kind {
        Kind::Deterministic => ("grid_sample_deterministic.cu", DETERMINISTIC),
        _ => ("grid_sample_atomic.cu", ATOMIC),
    };
    let module = device.compile(name, source).map_err(unavailable)?;
    let names: Vec<String> = match kind {
        Kind::Deterministic => {
            let each =
                |points: usize| [format!("deterministic_block_{points}"), format!("deterministic_grid_{points}")];
            let global = ["max", "scatter", "finish"].map(|part| format!("deterministic_global_{part}"));
            [1, 2, 4, 6].into_iter().flat_map(each).chain(global).collect()
        }
        _ => vec!["grid_sample_atomic".to_owned()],
    };
    let load = |name: String| Ok((name.clone(), module.load_function(&name)?));
    let functions = names.into_iter().map(load).collect::<Result<_, DeviceError>>().map_err(unavailable)?;
    Ok(Box::new(Gpu { kind, device, functions, load: None }))
}

struct Gpu {
    kind: Kind,
    device: Device,
    functions: HashMap<String, CudaFunction>,
    /// Compiled when the background arm first needs it.
    load: Option<Load>,
}

/// A geometry on the device, and how it is computed.
struct Prepared {
    shape: Shape,
    points: usize,
    route: Option<Route>,
    grad: CudaSlice<f32>,
    grid: CudaSlice<f32>,
    out: CudaSlice<f32>,
    /// 64-bit counters and what blocks tell one another; zero between operations but for the number of launches.
    workspace: CudaSlice<u64>,
    flags: CudaSlice<u32>,
    maxima: CudaSlice<u32>,
}

impl Gpu {
    fn prepare(&self, shape: Shape, geometry: &Geometry) -> Result<Prepared, DeviceError> {
        let (points, area, planes) = (geometry.points(), shape.area(), shape.planes());
        let route = (self.kind == Kind::Deterministic).then(|| choose(&self.device.limits, shape, points));
        let (words, flags, maxima) = match route {
            Some(Route::Grid { blocks, .. }) => (planes * workspace_words(area, blocks), 1, 1),
            Some(Route::Global) if planes > MAX_GRID_Y => {
                return Err(DeviceError::Missing(format!("{planes} planes of {area} coordinates are too many")));
            }
            Some(Route::Global) => (planes * area, planes * flag_words(area), planes),
            Some(Route::Block { .. }) | None => (1, 1, 1),
        };
        Ok(Prepared {
            shape,
            points,
            route,
            grad: self.device.upload(&geometry.grad_output.values)?,
            grid: self.device.upload(&geometry.grid.values)?,
            out: self.device.zeros(shape.coordinates())?,
            workspace: self.device.zeros(words)?,
            flags: self.device.zeros(flags)?,
            maxima: self.device.zeros(maxima)?,
        })
    }

    fn launch(&self, name: &str, launch: Launch, arguments: &[Argument]) -> Result<(), DeviceError> {
        let function = self.functions.get(name).ok_or_else(|| DeviceError::Missing(format!("no kernel {name}")))?;
        // SAFETY: `operate` below passes each kernel the arguments of its definition; `prepare` gave the buffers the sizes
        // that the shape asks for, and `Prepared` outlives the stream's work, which is waited for before it is dropped.
        unsafe { self.device.launch(self.device.stream(), function, launch, arguments) }
    }

    /// One operation: everything from the inputs to the gradient.
    fn operate(&self, prepared: &mut Prepared) -> Result<(), DeviceError> {
        let shape = prepared.shape;
        let (planes, area, points) = (shape.planes(), shape.area(), prepared.points);
        let [grad, grid, out] = [&prepared.grad, &prepared.grid, &prepared.out].map(|one| self.device.pointer(one));
        let [images, channels, height, width] = shape.extents().map(Argument::int);
        let count = Argument::int(points);
        let striding =
            |total: usize| total.div_ceil(STRIDING_THREADS).min(STRIDING_BLOCKS * self.device.limits.processors).max(1);
        let mut launch = Launch { grid: (1, 1), threads: STRIDING_THREADS, shared_bytes: 0, mode: Mode::Plain };
        match prepared.route {
            None => {
                self.device.stream().memset_zeros(&mut prepared.out)?;
                // As PyTorch does: one thread for each point.
                launch.grid.0 = (shape.images * points).div_ceil(STRIDING_THREADS);
                self.launch("grid_sample_atomic", launch, &[grad, grid, out, images, channels, count, width, height])
            }
            Some(Route::Block { threads, points_per_thread }) => {
                launch.grid.0 = 4 * planes;
                launch.threads = threads;
                launch.shared_bytes = shared_bytes(quarter(shape));
                let name = format!("deterministic_block_{points_per_thread}");
                self.launch(&name, launch, &[grad, grid, out, channels, count, width, height])
            }
            Some(Route::Grid { blocks, threads, points_per_thread }) => {
                launch.grid.0 = planes * blocks;
                launch.threads = threads;
                launch.shared_bytes = shared_bytes(area);
                launch.mode = if blocks > 1 { Mode::Cooperative } else { Mode::Plain };
                let name = format!("deterministic_grid_{points_per_thread}");
                let workspace = self.device.pointer(&prepared.workspace);
                let stride = Argument::int(workspace_words(area, blocks));
                let blocks = Argument::int(blocks);
                let arguments = [grad, grid, out, channels, count, width, height, blocks, workspace, stride];
                self.launch(&name, launch, &arguments)
            }
            Some(Route::Global) => {
                self.device.stream().memset_zeros(&mut prepared.maxima)?;
                let (counters, flags) =
                    (self.device.pointer(&prepared.workspace), self.device.pointer(&prepared.flags));
                let maxima = self.device.pointer(&prepared.maxima);
                launch.grid = (striding(points), planes);
                self.launch("deterministic_global_max", launch, &[grad, count, maxima])?;
                let arguments = [grad, grid, channels, count, width, height, maxima, counters, flags];
                self.launch("deterministic_global_scatter", launch, &arguments)?;
                launch.grid.0 = striding(flag_words(area));
                let arguments = [out, Argument::int(area), maxima, counters, flags];
                self.launch("deterministic_global_finish", launch, &arguments)
            }
        }
    }

    fn trials(&self, task: &Task<'_>, trial: &mut dyn FnMut()) -> Result<Vec<f32>, DeviceError> {
        let mut prepared = self.prepare(task.inputs.shape, task.geometry)?;
        let stream = self.device.stream();
        self.operate(&mut prepared)?;
        stream.synchronize()?;
        let mut gradients = Vec::with_capacity(task.trials * task.inputs.shape.coordinates());
        for _ in 0..task.trials {
            self.operate(&mut prepared)?;
            stream.synchronize()?;
            gradients.extend(stream.clone_dtoh(&prepared.out)?);
            stream.synchronize()?;
            trial();
        }
        Ok(gradients)
    }

    fn trials_under_load(&mut self, task: &Task<'_>, trial: &mut dyn FnMut()) -> Result<Vec<f32>, DeviceError> {
        let load = match self.load.take() {
            Some(load) => load,
            None => Load::new(&self.device)?,
        };
        let stop = AtomicBool::new(false);
        let result = std::thread::scope(|scope| {
            let (started, under_way) = sync_channel(1);
            let running = scope.spawn({
                let (load, device, stop) = (&load, &self.device, &stop);
                move || load.run(device, stop, &started)
            });
            // An end of the channel is an error that the thread itself reports.
            let _ = under_way.recv();
            let gradients = self.trials(task, trial);
            stop.store(true, Ordering::Relaxed);
            let ended = running.join().map_err(|_| DeviceError::Missing("the background thread failed".to_owned()))?;
            ended.and(gradients)
        });
        self.load = Some(load);
        result
    }
}

fn version(value: i32) -> String {
    format!("{}.{}", value / 1000, value % 1000 / 10)
}

impl Engine for Gpu {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn environment(&self) -> Vec<(&'static str, Json)> {
        let (major, minor) = self.device.capability;
        let capability = format!("{major}.{minor}");
        let (compiler_major, compiler_minor) = self.device.compiler;
        let mut members = vec![("device_name", Json::from(self.device.name.as_str()))];
        if let Some(architecture) = super::architecture(&capability) {
            members.push(("architecture", Json::from(architecture)));
        }
        members.extend([
            ("pytorch_version", Json::Null),
            ("cuda_version", Json::from(format!("{compiler_major}.{compiler_minor}"))),
            ("cudnn_version", Json::Null),
            ("compute_capability", Json::from(capability)),
            ("driver", Json::from(version(self.device.driver))),
            ("multiprocessors", Json::from(self.device.limits.processors)),
        ]);
        members
    }

    fn probe(&self) -> Probe {
        let setting = match self.kind {
            Kind::Deterministic => "none: sums of integers do not depend on their order",
            _ => "none: the kernel has FP32 atomic additions only",
        };
        Probe { setting: setting.to_owned(), result: "backward completed".to_owned() }
    }

    fn background(&self) -> &'static str {
        "4 CUDA streams of 4096x4096 FP32 products (our own kernel), each synchronised on its own by another host thread"
    }

    fn measure(&mut self, task: &Task<'_>, trial: &mut dyn FnMut()) -> Result<Vec<f32>, EngineError> {
        let result = match task.arm {
            Arm::Idle => self.trials(task, trial),
            Arm::BackgroundMatmul => self.trials_under_load(task, trial),
        };
        result.map_err(|error| EngineError::failed(self.kind, error))
    }

    fn time(&mut self, inputs: &Inputs, geometry: &Geometry, protocol: Protocol) -> Result<Option<Spans>, EngineError> {
        let timed = |engine: &Self| {
            let mut prepared = engine.prepare(inputs.shape, geometry)?;
            engine.operate(&mut prepared)?;
            engine.device.stream().synchronize()?;
            engine.device.time(protocol, &mut || engine.operate(&mut prepared))
        };
        timed(self).map(Some).map_err(|error| EngineError::failed(self.kind, error))
    }
}

#[cfg(test)]
// A test says why it compares nothing.
#[allow(clippy::print_stderr)]
mod tests {
    use super::*;
    use crate::bench::divergence::fixed_point::gradient;

    /// What makes a geometry hostile.
    fn spoil(geometry: &mut Geometry, how: usize) {
        let gradients = &mut geometry.grad_output.values;
        match how {
            1 => gradients.iter_mut().for_each(|value| *value *= 1e-42),
            2 => gradients.iter_mut().for_each(|value| *value = value.signum() * 3.4e38),
            3 => {
                let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
                let places = gradients.iter_mut().step_by(97).zip(bad.into_iter().cycle());
                places.for_each(|(value, bad)| *value = bad);
                let outside = [f32::NAN, 1e30, f32::INFINITY, f32::NEG_INFINITY, -1e30];
                let places = geometry.grid.values.iter_mut().skip(3).step_by(61).zip(outside);
                places.for_each(|(value, bad)| *value = bad);
            }
            _ => {}
        }
    }

    /// Runs where there is a GPU: every route, every kind of hostile input, both arms, the bits of the host.
    #[test]
    fn the_kernel_has_the_bits_of_its_arithmetic_on_the_host() {
        let mut engine = match engine(Kind::Deterministic) {
            Ok(engine) => engine,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let shapes = [
            // One block, several blocks, and a last block without points.
            (Shape::PROTOCOL, vec![1, 5, 16, 23, 32, 50, 64, 65, 100, 128, 256, 333, 512, 700]),
            (Shape { images: 2, channels: 5, height: 33, width: 17 }, vec![20, 64, 120]),
            (Shape { images: 1, channels: 1, height: 1, width: 1 }, vec![7, 150]),
            // More planes than multiprocessors: one block for each, in rounds.
            (Shape { images: 50, channels: 6, height: 8, width: 9 }, vec![30, 129]),
            // Planes that no shared memory holds.
            (Shape { images: 2, channels: 2, height: 190, width: 210 }, vec![3, 100, 300]),
            (Shape { images: 1, channels: 2, height: 400, width: 401 }, vec![9, 64]),
        ];
        let mut compared = 0;
        for (shape, resolutions) in shapes {
            let mut inputs = Inputs::generate(shape, &resolutions, 11).unwrap();
            for how in 0..4 {
                inputs.geometries.iter_mut().for_each(|geometry| spoil(geometry, how));
                for geometry in &inputs.geometries {
                    let arm = if compared % 9 == 0 { Arm::BackgroundMatmul } else { Arm::Idle };
                    let task = Task { inputs: &inputs, geometry, arm, trials: 3 };
                    let found = engine.measure(&task, &mut || {}).unwrap();
                    let expected = gradient(shape, geometry);
                    for trial in found.chunks_exact(expected.len()) {
                        let differ =
                            trial.iter().zip(&expected).filter(|(left, right)| left.to_bits() != right.to_bits());
                        assert_eq!(differ.count(), 0, "{shape:?}, output {}, inputs {how}", geometry.resolution);
                        compared += 1;
                    }
                }
            }
        }
        eprintln!("{compared} gradients compared");
    }
}
