//! The device: what `device.json` says of it twice agrees, and the runs were made by the backend that it has.

use crate::audit::divergence::names_amd;
use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::{Validation, files};

/// Threads that every CUDA device runs in step.
const CUDA_WARP: u64 = 32;

/// Other names under which the threads that a multiprocessor holds may be recorded.
const RESIDENT_THREADS: [&str; 3] =
    ["max_resident_threads_per_sm", "max_threads_per_sm", "max_threads_per_multiprocessor"];

/// Words of a realization that only a compiler for CUDA has.
const OF_CUDA: [&str; 5] = ["cuda", "nvrtc", "ptx", "cubin", "tileiras"];

pub(super) fn check(evidence: &Evidence, validation: &Validation<'_>, recorder: &mut Recorder) {
    let Ok(document) = evidence.document(files::DEVICE) else { return };
    let device = Device { document, root: document.root() };
    device.check_driver(recorder);
    device.check_warps(validation, recorder);
    device.check_torch(validation, recorder);
    let first = validation.runs().find_map(|(_, run)| run.at.path(&["manifest", "backend"]));
    if let (Some(stated), Some(first)) = (validation.document.root().get("backend"), first) {
        recorder.equal(Code::DeviceRecord, validation.document, stated, first);
    }
    for (record, run) in validation.runs() {
        let Some(backend) = record.manifest(run).and_then(|manifest| manifest.get("backend")) else { continue };
        let realization = run.native.at.and_then(|route| route.get("realization"));
        device.check_backend(validation, backend, realization, recorder);
    }
}

struct Device<'d> {
    document: &'d Document,
    root: &'d Json,
}

impl<'d> Device<'d> {
    fn identity(&self, name: &str) -> Option<&'d Json> {
        self.root.path(&["identity", name]).filter(|value| **value != Json::Null)
    }

    /// The capability as ten times its major number and its minor one; `None` where none is recorded.
    fn capability(&self) -> Option<u64> {
        let at = self.root.get("compute_capability")?;
        at.as_u64().or_else(|| {
            let text = at.as_str()?;
            let digits = ["sm_", "SM_", "sm", "SM"].into_iter().find_map(|prefix| text.strip_prefix(prefix));
            tenfold(text).or_else(|| digits.unwrap_or(text).parse().ok())
        })
    }

    /// The driver's own line for each device names the device and its capability again. Other text is the producer's own.
    fn check_driver(&self, recorder: &mut Recorder) {
        let Some((at, text)) = self.identity("driver").and_then(|at| Some((at, at.as_str()?))) else { return };
        let lines: Vec<(String, u64)> = text.lines().filter_map(driver_line).collect();
        if lines.is_empty() {
            return;
        }
        let gpu = self.identity("gpu").and_then(Json::as_str);
        let is_own = |name: &str| gpu.is_none_or(|gpu| is_same_device(name, gpu));
        let is_named = lines.iter().any(|(name, _)| is_own(name));
        let expected = gpu.unwrap_or("a device");
        recorder.require(is_named, Code::DeviceRecord, self.document, at, expected, show(at));
        // Where no line is of this device, which is a finding, each may be.
        let own = lines.iter().filter(|(name, _)| !is_named || is_own(name));
        let stated: Vec<u64> = own.map(|&(_, capability)| capability).collect();
        let Some(found) = self.root.get("compute_capability") else { return };
        let capability = self.capability();
        if capability.is_some() || *found == Json::Null {
            let holds = capability.is_some_and(|capability| stated.contains(&capability));
            let expected = format_args!("{}, as the driver's line says: {text}", stated[0]);
            recorder.require(holds, Code::DeviceRecord, self.document, found, expected, show(found));
        }
    }

    /// Whether it is one of AMD's, by its name or its driver.
    fn is_of_amd(&self, validation: &Validation<'_>) -> bool {
        let text = |name: &str| self.identity(name).and_then(Json::as_str).unwrap_or_default();
        let torch = validation.document.root().path(&["environment", "torch", "version"]).and_then(Json::as_str);
        names_amd(&format!("{} {}", text("gpu"), text("driver")), torch)
    }

    /// Warps have threads, and a multiprocessor holds warps; those of CUDA have 32. AMD's have as many or twice as many.
    fn check_warps(&self, validation: &Validation<'_>, recorder: &mut Recorder) {
        let [warp, resident] = ["warp_size", "max_resident_warps_per_sm"].map(|name| self.root.get(name));
        for at in [warp, resident].into_iter().flatten() {
            let holds = at.as_u64().is_some_and(|count| count > 0);
            recorder.require(holds, Code::DeviceRecord, self.document, at, "a positive number", show(at));
        }
        let is_cuda = self.capability().is_some_and(|capability| capability > 0) && !self.is_of_amd(validation);
        if let (Some(at), true) = (warp, is_cuda) {
            let holds = at.as_u64() == Some(CUDA_WARP);
            let expected = format_args!("{CUDA_WARP}, as every device with a compute capability has");
            recorder.require(holds, Code::DeviceRecord, self.document, at, expected, show(at));
        }
        let (Some(warp), Some(resident)) = (warp.and_then(Json::as_u64), resident.and_then(Json::as_u64)) else {
            return;
        };
        for at in RESIDENT_THREADS.iter().filter_map(|name| self.root.get(name)) {
            let expected = warp.checked_mul(resident);
            let text = format_args!("{resident} warps of {warp} threads");
            recorder.require(at.as_u64() == expected, Code::DeviceRecord, self.document, at, text, show(at));
        }
    }

    /// Torch saw the same device.
    fn check_torch(&self, validation: &Validation<'_>, recorder: &mut Recorder) {
        let torch = |name: &str| validation.document.root().path(&["environment", "torch", name]);
        let Some(gpu) = self.identity("gpu") else { return };
        if let (Some((found, name)), Some(text)) =
            (torch("device_name").and_then(|at| Some((at, at.as_str()?))), gpu.as_str())
        {
            let holds = is_same_device(name, text);
            recorder.require(holds, Code::DeviceRecord, validation.document, found, show(gpu), show(found));
        }
        let (Some(found), Some(capability)) = (torch("compute_capability"), self.capability()) else { return };
        if let Some(stated) = found.as_str().and_then(tenfold) {
            let expected = format_args!("{capability}, as {} says", files::DEVICE);
            let holds = stated == capability;
            recorder.require(holds, Code::DeviceRecord, validation.document, found, expected, show(found));
        }
    }

    /// What ran on the host has no GPU, no driver and no compiler for CUDA; what ran on CUDA has its device.
    fn check_backend(
        &self,
        validation: &Validation<'_>,
        backend: &Json,
        realization: Option<&Json>,
        recorder: &mut Recorder,
    ) {
        let contradiction = match backend.as_str() {
            Some("cpu") => self.is_gpu().or_else(|| {
                let text = realization?.as_str()?;
                let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
                words
                    .any(|word| OF_CUDA.contains(&word.to_ascii_lowercase().as_str()))
                    .then(|| format!("the realization {text}"))
            }),
            Some("cuda") => self.is_no_gpu(),
            _ => return,
        };
        let expected = format_args!("a backend beside {}", contradiction.as_deref().unwrap_or_default());
        let holds = contradiction.is_none();
        recorder.require(holds, Code::DeviceRecord, validation.document, backend, expected, show(backend));
    }

    /// What says that the device is a GPU.
    fn is_gpu(&self) -> Option<String> {
        let capability = self.capability().filter(|&capability| capability > 0);
        let capability = capability.map(|capability| format!("compute_capability {capability}"));
        capability.or_else(|| {
            ["gpu", "driver", "cuda_driver_api_version"]
                .into_iter()
                .find_map(|name| Some(format!("{name} {}", show(self.identity(name)?))))
        })
    }

    /// What says that it is none.
    fn is_no_gpu(&self) -> Option<String> {
        let capability = self.root.get("compute_capability")?;
        let is_none = *capability == Json::Null || capability.as_u64() == Some(0);
        is_none.then(|| format!("compute_capability {}", show(capability)))
    }
}

/// A line as NVIDIA's tool writes it for a device, `name, UUID, version, capability`: name and capability. A name may have
/// commas itself, and the UUID may be a placeholder. `None` for any other text.
fn driver_line(line: &str) -> Option<(String, u64)> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [name @ .., uuid, _version, capability] = &fields[..] else { return None };
    (!name.is_empty() && is_uuid(uuid)).then_some(())?;
    Some((name.join(", "), tenfold(capability)?))
}

/// A UUID of a device or of a part of one, or `${...}` in its place.
fn is_uuid(text: &str) -> bool {
    let id = ["GPU-", "MIG-"].into_iter().find_map(|prefix| text.strip_prefix(prefix));
    let is_hex = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    id.is_some_and(is_hex) || text.len() > 3 && text.starts_with("${") && text.ends_with('}')
}

/// Whether two names may be those of one device: some leave out the maker, some say which part of it was used.
fn is_same_device(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(|name| {
        let lower = name.to_lowercase();
        let whole = lower.split(" mig ").next().unwrap_or_default();
        whole.split_whitespace().filter(|word| *word != "nvidia").collect::<Vec<_>>().join(" ")
    });
    left.contains(&right) || right.contains(&left)
}

/// `8.9` as 89; `None` for what is no capability.
fn tenfold(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once('.')?;
    let digits =
        |part: &str, most: usize| (1..=most).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit());
    if !digits(major, 2) || !digits(minor, 1) {
        return None;
    }
    Some(10 * major.parse::<u64>().ok()? + minor.parse::<u64>().ok()?)
}
