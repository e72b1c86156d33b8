//! The device and software that something was measured on, and the probe of its deterministic mode.

use crate::package::json::{Json, canonical};
use crate::package::partition::Reader;

/// Device and software. A member that is `null` says that there is no such thing (a host has no compute capability).
#[derive(Debug, Clone)]
pub struct Environment<'d> {
    /// The object.
    pub at: &'d Json,
    /// The device as its driver names it.
    pub device_name: Option<&'d str>,
    /// Name of the GPU's architecture.
    pub architecture: Option<&'d str>,
    /// PyTorch's version with its local part.
    pub pytorch: Option<&'d str>,
    /// Version of the CUDA toolkit.
    pub cuda: Option<&'d str>,
    /// cuDNN's version as one number.
    pub cudnn: Option<u64>,
    /// Compute capability, `major.minor`.
    pub capability: Option<&'d str>,
}

impl<'d> Environment<'d> {
    /// Reads the object at `at`. The architecture may be left out; the others are there, perhaps as `null`.
    pub fn read(at: &'d Json, reader: &Reader<'d>) -> Self {
        let cudnn = reader.member(at, "cudnn_version").filter(|value| **value != Json::Null);
        if cudnn.is_some_and(|value| value.as_u64().is_none()) {
            reader.problem(at, Some("cudnn_version"), "a non-negative integer or null", "something else");
        }
        Self {
            at,
            device_name: reader.text(at, "device_name").inspect(|name| check_plain(at, "device_name", name, reader)),
            architecture: at.get("architecture").and_then(|_| nullable_name(at, "architecture", reader)),
            pytorch: nullable_name(at, "pytorch_version", reader),
            cuda: nullable_name(at, "cuda_version", reader),
            cudnn: cudnn.and_then(Json::as_u64),
            capability: nullable_name(at, "compute_capability", reader),
        }
    }

    /// Whether the device is a GPU: only those have a compute capability.
    pub fn is_gpu(&self) -> bool {
        self.capability.is_some()
    }

    /// PyTorch's version without its local part: `2.11.0` of `2.11.0+cu128`.
    pub fn pytorch_release(&self) -> Option<&'d str> {
        self.pytorch.map(|version| version.split('+').next().unwrap_or(version))
    }
}

/// What asking PyTorch for deterministic algorithms led to.
#[derive(Debug, Clone)]
pub struct Probe<'d> {
    /// The object.
    pub at: &'d Json,
    /// The call.
    pub setting: Option<&'d str>,
}

impl<'d> Probe<'d> {
    /// Reads the object at `at`.
    pub fn read(at: &'d Json, reader: &Reader<'d>) -> Self {
        Self { at, setting: nullable_text(at, "setting", reader) }
    }

    /// The outcome `name`; `None` where it is `null` or left out.
    pub fn result(&self, name: &str, reader: &Reader<'d>) -> Option<&'d str> {
        self.at.get(name)?;
        nullable_text(self.at, name, reader)
    }
}

/// A member that is a name or a version, or `null`.
pub(super) fn nullable_name<'d>(at: &'d Json, name: &str, reader: &Reader<'d>) -> Option<&'d str> {
    nullable_text(at, name, reader).inspect(|text| check_plain(at, name, text, reader))
}

/// A name says something and has nothing around it: what is compared letter by letter must not differ in what nobody sees, and
/// an empty name must not pass for a recorded one.
fn check_plain<'d>(at: &'d Json, name: &str, text: &str, reader: &Reader<'d>) {
    if text.is_empty() || text.trim() != text || text.chars().any(char::is_control) {
        let expected = "a name without blanks around it or control characters";
        reader.problem(at, Some(name), expected, &canonical(&Json::from(text)));
    }
}

/// A member that is a string or `null`.
fn nullable_text<'d>(at: &'d Json, name: &str, reader: &Reader<'d>) -> Option<&'d str> {
    let member = reader.member(at, name).filter(|value| **value != Json::Null)?;
    if member.as_str().is_none() {
        reader.problem(at, Some(name), "a string or null", member.kind());
    }
    member.as_str()
}
