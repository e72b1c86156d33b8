//! The launch: entry, grid and byte spans follow from the geometry and the schedule.

use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::Json;
use crate::package::partition::{CaseRecord, DEFAULT, RECHECK, Reader, Run, Validation};

pub(super) fn check<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    for run in &record.runs {
        check_selection(validation, record, run, reader, recorder);
    }
}

/// Whether a stage takes the partition entry: it is there, and the spans that it reads and writes are apart. Spans that
/// overlap are a legal fact of a run; then the original entry and grid are taken.
fn stage_takes_partition(stage: &Json) -> bool {
    let flag = |name: &str| stage.get(name).and_then(Json::as_bool) == Some(true);
    flag("available") && flag("static_ranges_disjoint")
}

/// Whether a run took the partition entry that it was asked to take.
pub(super) fn takes_partition(run: &Run<'_>) -> bool {
    let stages = run.at.path(&["selection", "program_partition"]).and_then(Json::as_array).unwrap_or_default();
    run.requested_rows > 0 && stages.iter().any(stage_takes_partition)
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
        let disjoint = asked && reader.flag(stage, "static_ranges_disjoint")?;
        let available = asked && reader.flag(stage, "available")?;
        let taken = available && disjoint;
        expected_host_selection |= taken;
        let if_asked = |value: u64| if asked { value } else { 0 };
        let partition_grid = if_asked(geometry.rows.div_ceil(requested.max(1)));
        let selected_grid = if taken { partition_grid } else { original_grid };
        let input_count = record.manifest(run).and_then(|manifest| manifest.get("inputs")?.as_array());
        // Inputs come before the output in the kernel's arguments, so their number is the output's slot.
        let input_count = input_count.map_or(0, |inputs| inputs.len() as u64);
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
    recorder.require(!stages.is_empty(), Code::Selection, document, selection, "the launch of a stage", "none");
    Some(())
}

/// One entry name for all original launches of the package, another for all partitioned ones.
fn check_entry<'d>(
    validation: &Validation<'d>,
    stage: &'d Json,
    taken: bool,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) -> Option<()> {
    let entry_of = |partition: bool| {
        let (_, run) = validation.runs().find(|(_, run)| takes_partition(run) == partition)?;
        run.launch()?.get("expected_selected_entry")
    };
    let found = reader.member(stage, "expected_selected_entry")?;
    let expected = entry_of(taken)?;
    let is_right = found == expected && (!taken || Some(found) != entry_of(false));
    recorder.require(is_right, Code::Selection, validation.document, found, show(expected), show(found));
    Some(())
}
