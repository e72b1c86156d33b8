//! A summary receipt: one protocol, a probe, and the figures of several devices.

use super::{Arm, Environment, Probe, Protocol};
use crate::package::json::{Document, Json};
use crate::package::partition::{Problem, Reader};

/// Text that only a divergence receipt has, however damaged it is otherwise.
const MARKS: [&str; 3] = ["\"devices\"", "\"max_drift_coords\"", "\"pairwise_match_rate\""];

/// Whether a JSON text is a divergence receipt: a protocol, and devices by name.
pub fn is_receipt(root: &Json) -> bool {
    let is_object = |name: &str| root.get(name).is_some_and(|member| member.as_object().is_some());
    is_object("protocol") && is_object("devices")
}

/// Whether a text that may not even be JSON is meant as a divergence receipt.
pub fn looks_like_receipt(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    MARKS.iter().all(|mark| text.contains(mark))
}

/// A receipt as it was read.
#[derive(Debug)]
pub struct SummaryReceipt<'d> {
    /// The file.
    pub document: &'d Document,
    /// The protocol.
    pub protocol: Protocol<'d>,
    /// The probe.
    pub probe: Option<Probe<'d>>,
    /// Its outcome on a GPU.
    pub probe_cuda: Option<&'d str>,
    /// Its outcome on a host.
    pub probe_cpu: Option<&'d str>,
    /// The devices, in the order of the file.
    pub devices: Vec<Device<'d>>,
    /// What is missing or of the wrong type.
    pub problems: Vec<Problem>,
}

/// One device.
#[derive(Debug)]
pub struct Device<'d> {
    /// Its name in the receipt.
    pub key: &'d str,
    /// Its object.
    pub at: &'d Json,
    /// Device and software.
    pub environment: Environment<'d>,
    /// What computed the gradients; PyTorch, unless the receipt says otherwise.
    pub engine: Option<&'d str>,
    /// The arms that it has.
    pub arms: Vec<ArmRecord<'d>>,
}

/// The figures of one arm.
#[derive(Debug)]
pub struct ArmRecord<'d> {
    /// Which arm.
    pub arm: Arm,
    /// Its object.
    pub at: &'d Json,
    /// The figures.
    pub figures: Figures<'d>,
}

/// Three arrays with one value for each resolution; `None` where there is no such array.
#[derive(Debug, Clone, Copy)]
pub struct Figures<'d> {
    /// Largest drift of any pair.
    pub drift: Option<&'d Json>,
    /// Largest divergence of any pair.
    pub divergence: Option<&'d Json>,
    /// Equal pairs in percent.
    pub rate: Option<&'d Json>,
}

impl<'d> Figures<'d> {
    /// Reads the arrays of the object at `at`.
    pub fn read(at: &'d Json, reader: &Reader<'d>) -> Self {
        let array = |name: &str| {
            reader.array(at, name)?;
            at.get(name)
        };
        Self { drift: array("max_drift_coords"), divergence: array("max_div"), rate: array("pairwise_match_rate") }
    }
}

impl<'d> SummaryReceipt<'d> {
    /// Reads what is there.
    pub fn read(document: &'d Document) -> Self {
        let reader = Reader::new(document);
        let root = document.root();
        let protocol = Protocol::read(reader.member(root, "protocol").unwrap_or(root), &reader);
        for name in ["date", "runtime", "source"] {
            if protocol.at.get(name).is_some() {
                reader.text(protocol.at, name);
            }
        }
        let probe = reader.member(root, "deterministic_mode_probe").map(|at| Probe::read(at, &reader));
        let outcome = |name: &str| probe.as_ref().and_then(|probe| probe.result(name, &reader));
        let (probe_cuda, probe_cpu) = (outcome("cuda_result"), outcome("cpu_result"));
        let devices = root.get("devices").and_then(Json::as_object).unwrap_or_default();
        let devices = devices.iter().map(|(key, at)| Device::read(key, at, &protocol, &reader)).collect();
        Self { document, protocol, probe, probe_cuda, probe_cpu, devices, problems: reader.into_problems() }
    }
}

impl<'d> Device<'d> {
    fn read(key: &'d str, at: &'d Json, protocol: &Protocol<'d>, reader: &Reader<'d>) -> Self {
        let declared = protocol.known_arms();
        let arm = |arm: Arm| {
            // An arm that the protocol does not have is read, too: what it says is no less to be checked.
            let at = if declared.contains(&arm) { reader.member(at, arm.member()) } else { at.get(arm.member()) }?;
            Some(ArmRecord { arm, at, figures: Figures::read(at, reader) })
        };
        Self {
            key,
            at,
            environment: Environment::read(at, reader),
            engine: at.get("engine").and_then(|_| reader.text(at, "engine")),
            arms: Arm::ALL.into_iter().filter_map(arm).collect(),
        }
    }

    /// Whether PyTorch computed the gradients.
    pub fn is_torch(&self) -> bool {
        self.engine.is_none_or(|engine| engine == super::Engine::Torch.name())
    }
}
