//! The section on the route of overlapping operations.

use std::fmt::Write;

use super::{Readme, label, line};
use crate::package::json::Json;
use crate::package::partition::overlap::ROUTE;

impl Readme<'_, '_> {
    pub(super) fn overlapping(&self, text: &mut String) {
        let Some(overlap) = self.overlap else { return };
        line!(text, "## Overlapping operations: the route {ROUTE}");
        line!(text);
        line!(
            text,
            "This is another launch contract. Under programmatic dependent launch an operation may begin before the one \
             before it has ended, so these figures are throughput and no latency, and are not to be compared with the plain \
             medians above as the speed of a kernel. They stand in `overlap.json` alone: not in the table above, not in \
             `samples.csv`, not in the fit. For each case the fastest schedule of this route is shown, in microseconds per \
             operation, with its ratio to the plain median of the same schedule{}.",
            if self.campaign.torch { " and to Torch" } else { "" }
        );
        line!(text);
        let torch = if self.campaign.torch { (" Over Torch |", "---:|") } else { ("", "") };
        line!(text, "| Operation / shape / storage / B | Overlap schedule | Overlap us | Over plain |{}", torch.0);
        line!(text, "|---|---|---:|---:|{}", torch.1);
        for case in overlap.get("cases").and_then(Json::as_array).unwrap_or_default() {
            let id = case.get("case").and_then(Json::as_str).unwrap_or_default();
            let Some(record) = self.validation.cases.iter().find(|record| record.case.id == id) else { continue };
            let number = |value: Option<&Json>| {
                value.and_then(Json::as_f64).map_or("missing".to_owned(), |value| format!("{value:.4}"))
            };
            let schedule = case.path(&["best", "cohort"]).and_then(Json::as_str).unwrap_or("missing");
            let mut row = format!(
                "| {} | {schedule} | {} | {} |",
                label(record),
                number(case.path(&["best", "us"])),
                number(case.get("over_plain"))
            );
            if self.campaign.torch {
                let _ = write!(row, " {} |", number(case.get("over_torch")));
            }
            line!(text, "{row}");
        }
        line!(text);
        for (name, base) in [("over_plain", "plain"), ("over_torch", "Torch")] {
            if let Some(mean) = overlap.path(&["geometric_means", name]).and_then(Json::as_f64) {
                line!(text, "The geometric mean of overlap over {base} is {mean:.4}.");
            }
        }
        line!(text);
    }
}
