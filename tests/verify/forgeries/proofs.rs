//! Cases, fixtures, sources, launches, realizations and comparisons.

use recount::package::json::Json;

use crate::common::json::{add, at, bump, copy, rehash, scale, set, take};
use crate::common::package::Package;

forgeries! {
    a_grid_follows_from_rows_and_schedule:
        "validation.json", "/cases/0/cohorts/rows2/selection/program_partition/0/grid_x",
        |root, at| bump(root, at, 1) => "selection";
    an_original_grid_follows_from_rows_and_block:
        "validation.json", "/cases/0/cohorts/default/selection/program_partition/0/original_grid/0",
        |root, at| bump(root, at, 1) => "selection";
    the_selected_grid_is_the_schedules:
        "validation.json", "/cases/0/cohorts/rows1/selection/program_partition/0/expected_selected_grid/0",
        |root, at| set(root, at, 3_u64) => "selection";
    the_entry_is_that_of_the_schedule:
        "validation.json", "/cases/1/cohorts/rows1/selection/program_partition/0/expected_selected_entry",
        |root, at| set(root, at, "demo_main") => "selection";
    the_input_span_is_the_input:
        "validation.json", "/cases/1/cohorts/rows1/selection/program_partition/0/input_bytes",
        |root, at| bump(root, at, 4) => "selection";
    the_output_span_is_the_output:
        "validation.json", "/cases/1/cohorts/rows1/selection/program_partition/0/output_bytes",
        |root, at| bump(root, at, -4) => "selection";
    the_rows_asked_for_are_the_cohorts:
        "validation.json", "/cases/1/cohorts/rows1/selection/program_partition/0/rows_requested",
        |root, at| set(root, at, 2_u64) => "selection";
    the_output_comes_after_the_inputs:
        "validation.json", "/cases/1/cohorts/rows1/selection/program_partition/0/output_slot",
        |root, at| set(root, at, 2_u64) => "selection";
    a_default_run_asks_for_no_partition:
        "validation.json", "/cases/1/cohorts/default/selection/program_partition/0/static_ranges_disjoint",
        |root, at| set(root, at, true) => "selection";
    overlapping_spans_forbid_the_partition_entry:
        "validation.json", "/cases/1/cohorts/rows1/selection/program_partition/0/expected_selected_entry",
        |root, _| set(root, "/cases/1/cohorts/rows1/selection/program_partition/0/static_ranges_disjoint", false)
        => "selection";
    the_host_selection_follows_from_the_stages:
        "validation.json", "/cases/1/cohorts/rows1/selection/partition_host_selection_expected",
        |root, at| set(root, at, false) => "selection";
    a_fixture_is_the_same_in_every_cohort:
        "validation.json", "/cases/1/cohorts/rows2/fixture_sha256/input0.f32", rehash => "fixture-mismatch";
    the_oracle_is_the_same_in_every_cohort:
        "validation.json", "/cases/2/independent_torch_retest/evidence/fixture_sha256/expected.f64",
        rehash => "fixture-mismatch";
    a_fixture_hash_is_a_hash:
        "validation.json", "/cases/0/cohorts/default/fixture_sha256/input1.f16",
        |root, at| set(root, at, "unknown") => "fixture-mismatch";
    a_manifest_is_the_same_in_every_cohort:
        "validation.json", "/cases/1/cohorts/recheck/manifest/fast_math",
        |root, at| set(root, at, true) => "fixture-mismatch";
    a_manifest_has_no_member_of_its_own:
        "validation.json", "/cases/1/cohorts/recheck/manifest/extra",
        |root, _| add(root, "/cases/1/cohorts/recheck/manifest", "extra", true) => "fixture-mismatch";
    the_source_prefix_is_the_original_source:
        "validation.json", "/cases/0/cohorts/rows1/source_files/source.txt/original_source_sha256",
        rehash => "source-prefix";
    a_partition_source_has_the_entry:
        "validation.json", "/cases/0/cohorts/rows1/source_files/source.txt/partition_entry_present",
        |root, at| set(root, at, false) => "source-prefix";
    the_appended_part_is_not_the_whole:
        "validation.json", "/cases/0/cohorts/rows1/source_files/source.txt/partition_suffix_sha256",
        |root, at| set(root, at, copy(root, "/cases/0/cohorts/rows1/source_files/source.txt/sha256")) => "source-prefix";
    an_appended_source_is_longer:
        "validation.json", "/cases/0/cohorts/rows1/source_files/source.txt/bytes",
        |root, at| set(root, at, 3000_u64) => "source-prefix";
    a_recheck_has_the_original_source_whole:
        "validation.json", "/cases/0/cohorts/recheck/source_files/source.txt/sha256", rehash => "source-prefix";
    the_realization_has_the_cases_programs:
        "validation.json", "/cases/0/cohorts/default/routes/native/realization",
        |root, at| replace(root, at, "programs=3", "programs=4") => "realization";
    the_realization_has_the_cases_kind:
        "validation.json", "/cases/1/cohorts/rows1/routes/native/realization",
        |root, at| replace(root, at, "kind2", "kind0") => "realization";
    the_realization_has_the_schedules_rows:
        "validation.json", "/cases/1/cohorts/rows1/routes/native/realization",
        |root, at| replace(root, at, "partition-rows=1", "partition-rows=2") => "realization";
    the_compilers_own_counts_are_the_same_in_every_run:
        "validation.json", "/cases/1/cohorts/rows1/routes/native/realization",
        |root, at| replace(root, at, "elementwork=", "elementwork=1") => "realization";
    a_default_realization_has_no_partition_facts:
        "validation.json", "/cases/1/cohorts/recheck/routes/native/realization",
        |root, at| replace(root, at, "demo compiler", "demo compiler; program-partition-rows=1") => "realization";
    a_tile_is_as_wide_as_the_least_power_of_two:
        "validation.json", "/cases/0/case/tile", |root, at| set(root, &format!("{at}/1"), 1024_u64) => "case-mismatch";
    a_tile_is_one_deep:
        "validation.json", "/cases/0/case/tile", |root, at| set(root, &format!("{at}/2"), 2_u64) => "case-mismatch";
    a_pattern_is_the_manifests:
        "validation.json", "/cases/0/cohorts/rows1/manifest/pattern",
        |root, _| set(root, "/cases/0/case/pattern", "adversarial") => "case-mismatch";
    the_inventory_describes_the_same_cases:
        "cases.json", "/cases/2/seed", |root, at| bump(root, at, 1) => "case-mismatch";
    the_inventory_lists_the_same_cases:
        "cases.json", "/cases",
        |root, _| {
            take(root, "/cases/3");
        } => "case-mismatch";
    the_inventory_lists_them_in_the_same_order:
        "cases.json", "/cases/0/id",
        |root, _| {
            let Json::Array(cases) = at(root, "/cases") else { panic!("cases") };
            cases.swap(0, 1);
        } => "case-mismatch";
    a_manifest_has_the_cases_type:
        "validation.json", "/cases/0/cohorts/default/manifest/inputs/1/storage_dtype",
        |root, at| set(root, at, "float32") => "case-mismatch";
    a_view_offset_is_its_elements_in_bytes:
        "validation.json", "/cases/0/cohorts/default/manifest/semantics/logical_view_offset_bytes",
        |root, at| bump(root, at, 1) => "case-mismatch";
    a_ratio_is_that_of_the_medians:
        "validation.json", "/cases/0/comparisons/rows1/candidate_over_default",
        |root, at| set(root, at, copy(root, at).as_f64().unwrap().next_down()) => "comparison";
    a_percentage_is_that_of_the_ratio:
        "validation.json", "/cases/0/comparisons/rows1_vs_recheck/delta_percent",
        |root, at| scale(root, at, -1.0) => "comparison";
    the_words_follow_the_ratio:
        "validation.json", "/cases/3/comparisons/rows1/interpretation",
        |root, at| set(root, at, "observed_lower_median") => "comparison";
    a_comparison_names_its_medians:
        "validation.json", "/cases/0/comparisons/recheck/candidate_p50_us",
        |root, at| scale(root, at, 1.0 + 1e-12) => "comparison";
    the_torch_ratio_is_that_of_the_medians:
        "validation.json", "/cases/0/comparisons/rows1/candidate_over_baseline_torch",
        |root, at| scale(root, at, 1.001) => "comparison";
    a_comparison_that_is_due_is_there:
        "validation.json", "/cases/0/comparisons",
        |root, at| {
            take(root, &format!("{at}/rows2"));
        } => "comparison";
    a_comparison_of_nothing_known_is_not_there:
        "validation.json", "/cases/0/comparisons/rows4",
        |root, _| {
            let record = copy(root, "/cases/0/comparisons/rows2");
            add(root, "/cases/0/comparisons", "rows4", record);
        } => "comparison";
    the_retest_is_compared_with_the_initial_run:
        "validation.json", "/cases/2/independent_torch_retest/native_retest_vs_initial/candidate_over_default",
        |root, at| scale(root, at, 1.001) => "comparison";
}

/// Replaces a part of the text at a pointer.
fn replace(root: &mut Json, pointer: &str, from: &str, to: &str) {
    let Json::Str(text) = at(root, pointer) else { panic!("{pointer} is no text") };
    assert!(text.contains(from), "{from} is in {text}");
    *text = text.replacen(from, to, 1);
}

#[test]
fn a_manifest_changed_in_every_cohort_still_contradicts_its_case() {
    let outcome = Package::valid().forged("validation.json", |root| {
        for cohort in ["default", "rows1", "rows2", "recheck"] {
            bump(root, &format!("/cases/0/cohorts/{cohort}/manifest/seed"), 1);
        }
    });
    outcome.exits(1).at("case-mismatch", "validation.json", "/cases/0/cohorts/rows1/manifest/seed");
}

#[test]
fn a_graph_batch_changed_everywhere_contradicts_the_operations() {
    let outcome = Package::valid().forged("validation.json", |root| {
        for cohort in ["default", "rows1", "rows2", "recheck"] {
            set(root, &format!("/cases/0/cohorts/{cohort}/manifest/graph_batch"), 50_u64);
        }
    });
    outcome.exits(1).all("operation-count");
}

#[test]
fn an_oracle_left_out_of_every_cohort_is_missed() {
    let outcome = Package::valid().forged("validation.json", |root| {
        for cohort in ["default", "rows1", "rows2", "recheck"] {
            take(root, &format!("/cases/0/cohorts/{cohort}/fixture_sha256/expected.f64"));
        }
    });
    outcome.exits(1).only(&["fixture-mismatch"]);
}

#[test]
fn a_cohort_that_runs_another_schedule_under_its_name_is_found() {
    // Everything else follows the schedule that was asked for, and so agrees.
    let outcome = Package::valid().forged("validation.json", |root| {
        set(root, "/cohorts/1/requested_program_rows", 2_u64);
        for case in 0..4 {
            let record = copy(root, &format!("/cases/{case}/cohorts/rows2"));
            set(root, &format!("/cases/{case}/cohorts/rows1"), record);
        }
    });
    outcome.exits(1).at("selection", "validation.json", "/cohorts/1/requested_program_rows");
}
