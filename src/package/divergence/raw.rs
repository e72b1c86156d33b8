//! The raw results of one engine: every pair and every trial's hash, from which the summary follows.

use std::collections::HashSet;

use super::protocol::positive;
use super::receipt::Figures;
use super::{Arm, Engine, Environment, Probe, Protocol};
use crate::package::json::{Document, Json};
use crate::package::partition::{Problem, Reader};

/// Raw results as they were read.
#[derive(Debug)]
pub struct RawResults<'d> {
    /// The file.
    pub document: &'d Document,
    /// The engine, if it is a known one.
    pub engine: Option<Engine>,
    /// Whether everything that the protocol asks for was measured; `None` where neither is said.
    pub complete: Option<bool>,
    /// The protocol.
    pub protocol: Protocol<'d>,
    /// Device and software.
    pub environment: Environment<'d>,
    /// The probe.
    pub probe: Probe<'d>,
    /// Its outcome.
    pub probe_result: Option<&'d str>,
    /// The arms that were run.
    pub conditions: Vec<Condition<'d>>,
    /// What is missing or of the wrong type.
    pub problems: Vec<Problem>,
}

/// One arm.
#[derive(Debug)]
pub struct Condition<'d> {
    /// Which arm.
    pub arm: Arm,
    /// Its object.
    pub at: &'d Json,
    /// Its own name for itself.
    pub name: Option<&'d str>,
    /// Trials at each resolution.
    pub trials: Option<u64>,
    /// Height and width of the input.
    pub input_res: Option<Vec<u64>>,
    /// Pairs at each resolution.
    pub pairs: Option<u64>,
    /// Values of one gradient.
    pub coordinates: Option<u64>,
    /// Hashes of the inputs by name.
    pub input_hashes: &'d [(String, Json)],
    /// The resolutions measured.
    pub resolutions: Option<Vec<u64>>,
    /// The summary.
    pub figures: Figures<'d>,
    /// Resolutions whose gradients are in the package.
    pub kept: Option<Vec<u64>>,
}

impl<'d> RawResults<'d> {
    /// Reads what is there.
    pub fn read(document: &'d Document) -> Self {
        let reader = Reader::new(document);
        let root = document.root();
        let member = |name: &str| reader.member(root, name).unwrap_or(root);
        let status = reader.text(root, "status");
        let complete = match status {
            Some("complete") => Some(true),
            Some("incomplete") => Some(false),
            Some(other) => {
                reader.problem(root, Some("status"), "complete or incomplete", other);
                None
            }
            None => None,
        };
        let probe = Probe::read(member("deterministic_mode_probe"), &reader);
        let condition = |arm: Arm| {
            let at = reader.member(root, arm.condition()).filter(|at| **at != Json::Null)?;
            Some(Condition::read(arm, at, &reader))
        };
        Self {
            document,
            engine: reader.text(root, "engine").and_then(Engine::from_name),
            complete,
            protocol: Protocol::read(member("protocol"), &reader),
            environment: Environment::read(member("environment"), &reader),
            probe_result: probe.result("result", &reader),
            probe,
            conditions: Arm::ALL.into_iter().filter_map(condition).collect(),
            problems: reader.into_problems(),
        }
    }
}

impl<'d> Condition<'d> {
    fn read(arm: Arm, at: &'d Json, reader: &Reader<'d>) -> Self {
        let hashes = reader.member(at, "input_hashes").and_then(Json::as_object);
        for name in ["all_pairwise_divs", "all_pairwise_drift", "trial_sha256", "input_hashes"] {
            if reader.member(at, name).is_some_and(|member| member.as_object().is_none()) {
                reader.problem(at, Some(name), "an object", "something else");
            }
        }
        // No resolution at all is what a run that was stopped at once has measured.
        let list = |name: &str| match reader.array(at, name) {
            Some([]) => Some(Vec::new()),
            Some(_) => positive(at, name, reader),
            None => None,
        };
        // One that stands twice would have its tensors read and compared as often.
        let resolutions = list("res").filter(|resolutions| {
            let distinct = resolutions.iter().collect::<HashSet<_>>().len() == resolutions.len();
            if !distinct {
                reader.problem(at, Some("res"), "distinct resolutions", "one that stands twice");
            }
            distinct
        });
        Self {
            arm,
            at,
            name: reader.text(at, "condition"),
            trials: reader.count(at, "trials_per_res"),
            input_res: positive(at, "input_res", reader),
            pairs: reader.count(at, "total_pairs_per_res"),
            coordinates: reader.count(at, "total_coords"),
            input_hashes: hashes.unwrap_or_default(),
            resolutions,
            figures: Figures::read(at, reader),
            kept: list("tensors_kept"),
        }
    }

    /// The entry of a resolution in one of the objects by resolution.
    pub fn entry(&self, name: &str, resolution: u64) -> Option<&'d Json> {
        self.at.get(name)?.get(&resolution.to_string())
    }
}
