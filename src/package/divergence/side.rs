//! A receipt or a package as one side of a comparison.

use super::{Arm, DEFINING, Engine, Environment, Figures, RawResults, SummaryReceipt, device_key};
use crate::divergence::side_by_side::{Cell, Class, DeviceFigures, ProbeOutcome, Side};
use crate::package::json::{Json, compact};

/// Members of the protocol that only raw results have; a receipt that says nothing of them does not contradict.
const RAW_ONLY: [&str; 2] = ["seed", "generator"];

/// Members that follow from others.
const DERIVED: [&str; 2] = ["pairs_per_resolution", "total_coordinates"];

/// Members of the protocol in words, which two authors write differently.
const WORDS: [&str; 2] = ["operation", "comparison"];

/// A receipt as one side.
pub fn side_of_receipt(label: &str, receipt: &SummaryReceipt<'_>) -> Side {
    let release = |is_gpu: bool| {
        let here = receipt.devices.iter().filter(|one| one.is_torch() && one.environment.is_gpu() == is_gpu);
        let mut releases: Vec<_> = here.filter_map(|one| one.environment.pytorch_release()).collect();
        releases.dedup();
        (releases.len() == 1).then(|| releases[0].to_owned())
    };
    let outcomes = [("cuda", true, receipt.probe_cuda), ("cpu", false, receipt.probe_cpu)];
    let probes = outcomes.into_iter().filter_map(|(place, is_gpu, outcome)| {
        Some(ProbeOutcome { place, release: release(is_gpu), outcome: outcome?.to_owned() })
    });
    let resolutions = receipt.protocol.resolutions.as_deref().unwrap_or_default();
    let devices = receipt.devices.iter().map(|one| {
        let engine = one.engine.and_then(Engine::from_name);
        let cells = one.arms.iter().flat_map(|arm| cells(arm.arm, resolutions, &arm.figures)).collect();
        figures(one.key.to_owned(), engine, &one.environment, cells)
    });
    Side {
        label: label.to_owned(),
        protocol: protocol(receipt.protocol.at),
        probes: probes.collect(),
        devices: devices.collect(),
    }
}

/// A package as one side: each engine as a device.
pub fn side_of_package(label: &str, results: &[RawResults<'_>]) -> Side {
    let mut side = Side { label: label.to_owned(), ..Side::default() };
    for one in results {
        if side.protocol.is_empty() {
            side.protocol = protocol(one.protocol.at);
        }
        let environment = &one.environment;
        if let (Some(Engine::Torch), Some(outcome)) = (one.engine, one.probe_result) {
            let place = if environment.is_gpu() { "cuda" } else { "cpu" };
            let release = environment.pytorch_release().map(str::to_owned);
            side.probes.push(ProbeOutcome { place, release, outcome: outcome.to_owned() });
        }
        let key = device_key(environment.device_name.unwrap_or_default(), environment.is_gpu());
        let key = match one.engine {
            None | Some(Engine::Torch | Engine::Cpu) => key,
            Some(engine) => format!("{key}_{}", engine.name()),
        };
        let cells = one.conditions.iter().flat_map(|condition| {
            cells(condition.arm, condition.resolutions.as_deref().unwrap_or_default(), &condition.figures)
        });
        side.devices.push(figures(key, one.engine, environment, cells.collect()));
    }
    side
}

fn protocol(at: &Json) -> Vec<(String, String)> {
    let left_out = |name: &str| [RAW_ONLY, DERIVED, WORDS].iter().any(|names| names.contains(&name));
    let defining = DEFINING.iter().filter(|name| !left_out(name));
    defining.filter_map(|name| Some(((*name).to_owned(), compact(at.get(name)?)))).collect()
}

fn figures(key: String, engine: Option<Engine>, environment: &Environment<'_>, cells: Vec<Cell>) -> DeviceFigures {
    let class = match engine {
        _ if !environment.is_gpu() => Class::Host,
        Some(engine) if engine.is_deterministic() => Class::Ordered,
        _ => Class::Unordered,
    };
    let text = |text: Option<&str>| text.unwrap_or("none").to_owned();
    let environment = vec![
        ("device", text(environment.device_name)),
        ("capability", text(environment.capability)),
        ("PyTorch", text(environment.pytorch)),
        ("CUDA", text(environment.cuda)),
        ("cuDNN", environment.cudnn.map_or("none".to_owned(), |version| version.to_string())),
    ];
    DeviceFigures { key, class, environment, cells }
}

fn cells(arm: Arm, resolutions: &[u64], figures: &Figures<'_>) -> Vec<Cell> {
    let number = |column: Option<&Json>, index: usize| column?.as_array()?.get(index)?.as_f64();
    let cell = |(index, &resolution): (usize, &u64)| {
        Some(Cell {
            arm: arm.name(),
            resolution,
            drift: number(figures.drift, index)?,
            divergence: number(figures.divergence, index)?,
            rate: number(figures.rate, index)?,
        })
    };
    resolutions.iter().enumerate().filter_map(cell).collect()
}
