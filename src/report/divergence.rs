//! Drift and divergence of a receipt's devices, or of a package's engines.

use super::figures::{CurvePoint, DeviceCurves, DivergenceFigures, Figures, MAX_DEVICES};
use crate::audit::Evidence;
use crate::divergence::side_by_side::{Cell, DeviceFigures, Side};
use crate::package::divergence::{Arm, RawResults, SummaryReceipt, files, side_of_package, side_of_receipt};

/// Most points of one device.
const MAX_POINTS: usize = 128;

/// The devices of a receipt.
pub(super) fn of_receipt(evidence: &Evidence) -> Figures {
    let document = evidence.documents.values().find_map(|document| document.as_ref().ok());
    document.map_or(Figures::None, |document| of_side(&side_of_receipt("", &SummaryReceipt::read(document))))
}

/// The engines of a package.
pub(super) fn of_package(evidence: &Evidence) -> Figures {
    let results = evidence.documents.iter().filter(|(name, _)| files::engine_of(name).is_some());
    let results: Vec<_> = results.filter_map(|(_, document)| Some(RawResults::read(document.as_ref().ok()?))).collect();
    of_side(&side_of_package("", &results))
}

fn of_side(side: &Side) -> Figures {
    Figures::Divergence(DivergenceFigures {
        devices: side.devices.iter().take(MAX_DEVICES).map(curves).collect(),
        left_out: side.devices.len().saturating_sub(MAX_DEVICES),
    })
}

fn curves(device: &DeviceFigures) -> DeviceCurves {
    let drawable = |cell: &&Cell| {
        let figures = [cell.drift, cell.divergence];
        cell.resolution > 0 && figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0)
    };
    let point = |cell: &Cell| CurvePoint {
        background: cell.arm == Arm::BackgroundMatmul.name(),
        resolution: cell.resolution as f64,
        drift: cell.drift,
        divergence: cell.divergence,
    };
    let mut points: Vec<_> = device.cells.iter().filter(drawable).take(MAX_POINTS).map(point).collect();
    points.sort_by(|left, right| {
        (left.background, left.resolution)
            .partial_cmp(&(right.background, right.resolution))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    DeviceCurves { key: device.key.clone(), points }
}
