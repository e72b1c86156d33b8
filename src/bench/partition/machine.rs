//! What a machine is and how busy it is: processor, load, affinity. No names of hosts or people, no UUID.

use std::fs;

use crate::package::json::{Json, object};

/// The processor's name, as the system has it.
pub fn processor_name() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == "model name");
    named.map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

/// Runnable work of the last minute, as the system averages it.
pub fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// The host: what does not change during a campaign.
pub fn host() -> Json {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned());
    object([
        ("cpu", Json::from(processor_name())),
        ("processors", Json::from(std::thread::available_parallelism().map_or(1, usize::from))),
        ("architecture", Json::from(std::env::consts::ARCH)),
        ("operating_system", Json::from(std::env::consts::OS)),
        ("kernel", kernel.map_or(Json::Null, Json::from)),
    ])
}
