//! The launch: entry, grid, byte spans and the compiler's realization follow from the geometry and the schedule.

use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::Json;
use crate::package::partition::{CaseRecord, DEFAULT, RECHECK, Reader, Run, Validation, realization_facts};

pub(super) fn check<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    for run in &record.runs {
        check_selection(validation, record, run, reader, recorder);
        check_realization(validation, record, run, recorder);
    }
}

/// A cohort asks for the rows that its name says: what is called rows1 is fitted as one row per program.
pub(super) fn check_cohorts(validation: &Validation<'_>, recorder: &mut Recorder) {
    for cohort in &validation.cohorts {
        let named = match cohort.name {
            DEFAULT | RECHECK => Some(0),
            name => name.strip_prefix("rows").and_then(|rows| rows.parse::<u64>().ok()),
        };
        if let Some(rows) = named {
            recorder.require(
                cohort.requested_rows == rows,
                Code::Selection,
                validation.document,
                cohort.at.get("requested_program_rows").unwrap_or(cohort.at),
                format_args!("{rows}, as the cohort's name {} says", cohort.name),
                cohort.requested_rows,
            );
        }
    }
}

/// The receipts of the host's choice between the original entry and the appended one.
fn check_selection<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    run: &Run<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) -> Option<()> {
    let document = validation.document;
    let selection = reader.member(run.at, "selection")?;
    let stages = reader.array(selection, "program_partition")?;
    let (geometry, size) = (record.case.geometry, record.case.storage.bytes());
    let requested = run.requested_rows;
    let original_grid = geometry.rows.div_ceil(geometry.block);
    let mut expected_host_selection = false;
    for (number, stage) in stages.iter().enumerate() {
        let asked = requested > 0;
        // Spans that overlap are a legal fact of the run; then the original entry and grid must have been taken.
        let disjoint = asked && reader.flag(stage, "static_ranges_disjoint")?;
        let available = asked && reader.flag(stage, "available")?;
        let taken = available && disjoint;
        expected_host_selection |= taken;
        let if_asked = |value: u64| if asked { value } else { 0 };
        let partition_grid = if_asked(geometry.rows.div_ceil(requested.max(1)));
        let selected_grid = if taken { partition_grid } else { original_grid };
        let input_count = run_inputs(record, run);
        let expected = [
            ("stage", Json::from(number)),
            ("rows_requested", Json::from(requested)),
            ("available", Json::Bool(available)),
            ("input_slot", Json::Int(0)),
            ("output_slot", Json::from(if_asked(input_count))),
            ("input_bytes", Json::from(if_asked(geometry.rows * geometry.columns * size))),
            ("output_bytes", Json::from(if_asked(geometry.rows * size))),
            ("original_rows", Json::from(if_asked(geometry.block))),
            ("grid_x", Json::from(partition_grid)),
            ("original_grid_x", Json::from(if_asked(original_grid))),
            ("static_ranges_disjoint", Json::Bool(disjoint)),
            ("original_grid", Json::from(vec![original_grid, 1, 1])),
            ("expected_selected_grid", Json::from(vec![selected_grid, 1, 1])),
        ];
        for (member, expected) in &expected {
            if let Some(found) = reader.member(stage, member) {
                compare(recorder, document, found, expected, &|_| Code::Selection);
            }
        }
        check_entry(validation, stage, taken, reader, recorder);
    }
    if let Some(found) = reader.member(selection, "partition_host_selection_expected") {
        recorder.equal(Code::Selection, document, found, &Json::Bool(expected_host_selection));
    }
    if requested > 0 {
        recorder.require(
            expected_host_selection,
            Code::Selection,
            document,
            selection,
            "the partition entry, which the cohort is about",
            "the original entry",
        );
    }
    Some(())
}

/// Inputs come before the output in the kernel's arguments, so their number is the output's slot.
fn run_inputs(record: &CaseRecord<'_>, run: &Run<'_>) -> u64 {
    let manifest = run.at.get("manifest").or_else(|| record.runs.first()?.at.get("manifest"));
    manifest.and_then(|manifest| manifest.get("inputs")?.as_array()).map_or(0, |inputs| inputs.len() as u64)
}

/// One entry name for all original launches of the package, another for all partitioned ones.
fn check_entry<'d>(
    validation: &Validation<'d>,
    stage: &'d Json,
    taken: bool,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) -> Option<()> {
    let entry_of = |rows: bool| {
        let (_, run) = validation.runs().find(|(_, run)| (run.requested_rows > 0) == rows)?;
        let stages = run.at.path(&["selection", "program_partition"])?.as_array()?;
        stages.first()?.get("expected_selected_entry")
    };
    let found = reader.member(stage, "expected_selected_entry")?;
    let expected = entry_of(taken)?;
    let is_right = found == expected && (!taken || Some(found) != entry_of(false));
    recorder.require(is_right, Code::Selection, validation.document, found, show(expected), show(found));
    Some(())
}

/// The compiler's own text: its facts follow from the tile, and from the launch receipt for a partition entry.
fn check_realization(validation: &Validation<'_>, record: &CaseRecord<'_>, run: &Run<'_>, recorder: &mut Recorder) {
    let Some(at) = run.native.at.and_then(|route| route.get("realization")) else { return };
    let facts = realization_facts(at.as_str().unwrap_or_default());
    let geometry = record.case.geometry;
    let size = record.case.storage.bytes();
    let original_grid = geometry.rows.div_ceil(geometry.block);
    let collective =
        format!("kind{}:width{}:independent{}", record.case.operation.kind(), geometry.width, geometry.block);
    let mut expected = vec![
        ("programs", original_grid.to_string()),
        ("read-bytes", (geometry.block * geometry.width * size).to_string()),
        ("write-bytes", (geometry.block * size).to_string()),
        ("largest-tile", (geometry.block * geometry.width).to_string()),
        ("collective", collective),
    ];
    let requested = run.requested_rows;
    if requested > 0 {
        expected.extend([
            ("program-partition-rows", requested.to_string()),
            ("program-partition-input-bytes", (geometry.rows * geometry.columns * size).to_string()),
            ("program-partition-output-bytes", (geometry.rows * size).to_string()),
            ("program-partition-original-rows", geometry.block.to_string()),
            ("program-partition-grid-x", geometry.rows.div_ceil(requested).to_string()),
            ("program-partition-original-grid-x", original_grid.to_string()),
        ]);
    }
    for (name, expected) in &expected {
        let found = facts.get(name).copied().unwrap_or("nothing");
        recorder.require(
            found == expected,
            Code::Realization,
            validation.document,
            at,
            format_args!("{name}={expected}"),
            format_args!("{name}={found}"),
        );
    }
    // What the compiler counted itself cannot be derived, but it is the same for every run of the case.
    let first = record.runs.first().and_then(|first| first.native.at?.get("realization")?.as_str());
    let first = realization_facts(first.unwrap_or_default());
    for name in ["elementwork", "tile-live-bytes"] {
        recorder.require(
            facts.get(name) == first.get(name),
            Code::Realization,
            validation.document,
            at,
            format_args!("{name}={}", first.get(name).unwrap_or(&"nothing")),
            format_args!("{name}={}", facts.get(name).unwrap_or(&"nothing")),
        );
    }
    let partition_facts = facts.keys().any(|name| name.starts_with("program-partition"));
    recorder.require(
        partition_facts == (requested > 0),
        Code::Realization,
        validation.document,
        at,
        if requested > 0 { "facts of a partition entry" } else { "no partition entry" },
        if partition_facts { "facts of a partition entry" } else { "none" },
    );
}
