//! The device that a package declares, or that a model was fitted for.

use crate::package::json::{Json, canonical};

/// What tells one kind of device from another: name, compute capability, number of multiprocessors. Two boards of one kind
/// are alike in all three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name of the GPU; `None` where none is recorded.
    pub name: Option<String>,
    /// Compute capability as recorded, `89` for 8.9; `None` for `null` or nothing, as of a CPU.
    pub compute_capability: Option<String>,
    /// Streaming multiprocessors; `None` where no positive number is recorded.
    pub sm_count: Option<u64>,
}

impl Device {
    /// Reads the content of `device.json`, or a model's `device_declared_identity`. What is missing is `None`.
    pub fn read(at: &Json) -> Self {
        let capability = at.get("compute_capability").filter(|value| **value != Json::Null);
        Self {
            name: at.path(&["identity", "gpu"]).and_then(Json::as_str).map(str::to_owned),
            compute_capability: capability.map(|value| value.as_str().map_or_else(|| canonical(value), str::to_owned)),
            sm_count: at.get("sm_count").and_then(Json::as_u64).filter(|&count| count > 0),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name.as_deref().unwrap_or("a device without a name"))?;
        match &self.compute_capability {
            Some(capability) => write!(formatter, ", compute capability {capability}")?,
            None => formatter.write_str(", no compute capability")?,
        }
        match self.sm_count {
            Some(1) => formatter.write_str(", 1 multiprocessor"),
            Some(count) => write!(formatter, ", {count} multiprocessors"),
            None => formatter.write_str(", an unknown number of multiprocessors"),
        }
    }
}
