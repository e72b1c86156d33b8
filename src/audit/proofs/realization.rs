//! The realization, the compiler's own text: the facts that it states follow from the tile and the launch.
//!
//! Which facts a text states is up to the compiler. Those that it states must be right, and every run of a case states the
//! same ones: a fact that one run lacks was taken away.

use std::collections::BTreeSet;

use crate::audit::{Code, Recorder};
use crate::package::json::Json;
use crate::package::partition::{CaseRecord, Reader, Run, Validation, realization_facts};

/// How the names of facts about a partition entry begin.
const PARTITION: &str = "program-partition";

/// Facts that the compiler counted itself: they cannot be derived, but are the same in every run of the case.
const COUNTED: [&str; 2] = ["elementwork", "tile-live-bytes"];

pub(super) fn check<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    let first = record.runs.iter().find_map(text).unwrap_or_default();
    let partition = validation.runs().filter(|(_, run)| run.requested_rows > 0).find_map(|(_, run)| text(run));
    for run in record.runs.iter().filter(|run| run.native.timing.is_some()) {
        let Some(route) = run.native.at else { continue };
        // A text that is missing or no text is written down by the reader.
        if reader.text(route, "realization").is_some()
            && let Some(at) = route.get("realization")
        {
            let mut check = Realization { validation, at, recorder };
            check.facts(record, run);
            check.same(first, partition.unwrap_or_default(), run);
        }
    }
}

fn text<'d>(run: &Run<'d>) -> Option<&'d str> {
    run.native.at?.get("realization")?.as_str()
}

struct Realization<'c, 'd> {
    validation: &'c Validation<'d>,
    at: &'d Json,
    recorder: &'c mut Recorder,
}

impl Realization<'_, '_> {
    /// What is stated is what follows from geometry and schedule.
    fn facts(&mut self, record: &CaseRecord<'_>, run: &Run<'_>) {
        let stated = realization_facts(self.at.as_str().unwrap_or_default());
        let (geometry, size) = (record.case.geometry, record.case.storage.bytes());
        let original_grid = geometry.rows.div_ceil(geometry.block);
        let collective =
            format!("kind{}:width{}:independent{}", record.case.operation.kind(), geometry.width, geometry.block);
        let requested = run.requested_rows;
        let expected = [
            ("programs", original_grid.to_string()),
            ("read-bytes", (geometry.block * geometry.width * size).to_string()),
            ("write-bytes", (geometry.block * size).to_string()),
            ("largest-tile", (geometry.block * geometry.width).to_string()),
            ("collective", collective),
            ("program-partition-rows", requested.to_string()),
            ("program-partition-input-bytes", (geometry.rows * geometry.columns * size).to_string()),
            ("program-partition-output-bytes", (geometry.rows * size).to_string()),
            ("program-partition-original-rows", geometry.block.to_string()),
            ("program-partition-grid-x", geometry.rows.div_ceil(requested.max(1)).to_string()),
            ("program-partition-original-grid-x", original_grid.to_string()),
        ];
        for (name, expected) in &expected {
            if let Some(found) = stated.get(name) {
                self.require(found == expected, format_args!("{name}={expected}"), format_args!("{name}={found}"));
            }
        }
        let names_partition = stated.keys().any(|name| name.starts_with(PARTITION));
        if requested == 0 {
            self.require(!names_partition, "no partition entry", "facts of a partition entry");
        }
    }

    /// The same facts are stated in every run: of the case, and about partition entries of the package.
    fn same(&mut self, first: &str, partition: &str, run: &Run<'_>) {
        let own = realization_facts(self.at.as_str().unwrap_or_default());
        let (first, partition) = (realization_facts(first), realization_facts(partition));
        let names = |facts: &std::collections::HashMap<&str, &str>, of_partition: bool| -> BTreeSet<String> {
            let wanted = facts.keys().filter(|name| name.starts_with(PARTITION) == of_partition);
            wanted.map(|&name| name.to_owned()).collect()
        };
        self.same_names(&names(&own, false), &names(&first, false));
        if run.requested_rows > 0 {
            self.same_names(&names(&own, true), &names(&partition, true));
        }
        for name in COUNTED {
            let (found, expected) = (own.get(name), first.get(name));
            if let (Some(found), Some(expected)) = (found, expected) {
                self.require(found == expected, format_args!("{name}={expected}"), format_args!("{name}={found}"));
            }
        }
    }

    fn same_names(&mut self, found: &BTreeSet<String>, expected: &BTreeSet<String>) {
        let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let expected_list = format!("facts as in other runs: {}", list(expected));
        self.require(found == expected, expected_list, list(found));
    }

    fn require(&mut self, holds: bool, expected: impl std::fmt::Display, found: impl std::fmt::Display) {
        self.recorder.require(holds, Code::Realization, self.validation.document, self.at, expected, found);
    }
}
