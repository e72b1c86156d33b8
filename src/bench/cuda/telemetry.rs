//! The state of a GPU while it is measured, and which libraries were used. Never its UUID.

use std::fs;
use std::path::Path;

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};

use crate::bench::partition::record::Receipt;
use crate::package::digest::digest_file;
use crate::package::json::{Json, object};
use crate::package::limits::MAX_HASHED_BYTES;

/// The driver's version, such as `580.159.04`; `None` where the management library is not there.
pub(crate) fn driver_version() -> Option<String> {
    Nvml::init().ok()?.sys_driver_version().ok()
}

/// Clocks, temperature, power, load and processes of the GPU at a place of the bus; null where the management library does
/// not say. The processes include those that ask, as far as the library sees them.
pub(crate) fn state(bus_id: Option<&str>) -> Json {
    let nvml = Nvml::init().ok();
    let device = nvml.as_ref().and_then(|nvml| nvml.device_by_pci_bus_id(bus_id?).ok());
    let number = |value: Option<u32>| value.map_or(Json::Null, |value| Json::from(u64::from(value)));
    let device = device.as_ref();
    let clock = |clock: Clock| number(device.and_then(|device| device.clock_info(clock).ok()));
    let utilization = device.and_then(|device| device.utilization_rates().ok());
    let power_mw = device.and_then(|device| device.power_usage().ok());
    let processes = device.and_then(|device| device.running_compute_processes_count().ok());
    object([
        ("sm_clock_mhz", clock(Clock::SM)),
        ("memory_clock_mhz", clock(Clock::Memory)),
        ("temperature_c", number(device.and_then(|device| device.temperature(TemperatureSensor::Gpu).ok()))),
        ("power_w", power_mw.map_or(Json::Null, |power| Json::from(f64::from(power) / 1000.0))),
        ("utilization_percent", number(utilization.map(|rates| rates.gpu))),
        ("compute_processes", number(processes)),
    ])
}

/// The CUDA libraries that this process has loaded, with placeholders for their folders.
pub(crate) fn libraries() -> Vec<Receipt> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut paths: Vec<&str> = maps.lines().filter_map(|line| Some(&line[line.find('/')?..])).collect();
    paths.sort_unstable();
    paths.dedup();
    let receipt = |path: &&str| {
        let name = Path::new(path).file_name()?.to_str()?;
        let folder = match name {
            name if name.starts_with("libnvrtc") => "${CUDA_TOOLKIT}",
            name if name.starts_with("libcuda.") || name.starts_with("libnvidia-ptxjitcompiler") => "${CUDA_DRIVER}",
            _ => return None,
        };
        let digest = digest_file(&fs::File::open(path).ok()?, MAX_HASHED_BYTES).ok()?;
        Some(Receipt { path: format!("{folder}/{name}"), sha256: digest.sha256, bytes: digest.bytes })
    };
    paths.iter().filter_map(receipt).collect()
}
