//! `recount verify` on claims over printed medians: what rounding allows is accepted, and nothing else.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they count"
)]

#[path = "claims/package.rs"]
mod package;
#[path = "claims/truth.rs"]
mod truth;

#[path = "common/shared.rs"]
mod shared;

use package::{Package, cell_with, number};
use proptest::prelude::*;
use recount::audit::{Code, Outcome};
use recount::fit::nnls::{self, Row};
use recount::fit::{Facts, Geometry, Schedule};
use serde_json::{Value, json};

#[test]
fn the_published_claims_hold() {
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("recount"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["verify", "artifacts", "--strict", "--format", "json"])
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let subjects = report["subjects"].as_array().expect("subjects");
    let subject = subjects.iter().find(|subject| subject["kind"] == "claims").expect("a package of claims");
    let facts = subject["facts"].as_array().expect("facts");
    let fact = |name: &str| &facts.iter().find(|fact| fact["name"] == name).expect("the fact")["value"];
    assert_eq!([fact("claims checked"), fact("claims not derivable"), fact("cases")], ["31", "5", "16"]);
}

#[test]
fn what_cannot_be_derived_is_never_counted_as_held() {
    let check = Package::published().check();
    // Every claim that is recomputed, and every row's selection; nothing for the others.
    assert_eq!(check.tally.total(), 31 + 16);
    assert!(check.notes.iter().any(|note| note.starts_with("5 claims") && note.contains("retry-torch")));
    // A number that cannot be checked may be any.
    let mut package = Package::published();
    package.claim("samples")["printed"] = json!("568");
    assert_eq!(package.findings(), []);
}

/// Prints the interval of each claim (`--nocapture`).
#[test]
fn every_claim_is_caught_once_it_leaves_its_interval() {
    let published = Package::published();
    for claim in published.claims().iter().filter(|claim| claim["quantity"] != "not-derivable") {
        let id = claim["id"].as_str().expect("an id");
        let text = claim["printed"].as_str().expect("a number");
        let printed = number(text);
        let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let unit = 10_f64.powi(-i32::try_from(decimals).expect("few digits"));
        let is_count = claim["unit"] == "count";
        for direction in [-1.0, 1.0] {
            let mut caught = false;
            for step in 0..64 {
                let moved = printed + direction * unit * 2_f64.powi(step);
                let mut package = Package::published();
                package.claim(id)["printed"] = json!(format!("{moved:.decimals$}"));
                let findings = package.findings();
                assert!(!caught || !findings.is_empty(), "{id}: caught, but not further away");
                assert!(!is_count || !findings.is_empty(), "{id}: {moved} counted");
                if let Some(finding) = findings.first().filter(|_| !caught) {
                    assert_eq!(finding.code, Code::ClaimInconsistent, "{finding:?}");
                    assert!(finding.file == "claims.json" && finding.found.contains(id), "{finding:?}");
                    assert!(finding.place.pointer.as_deref().is_some_and(|pointer| pointer.ends_with("/printed")));
                    if direction > 0.0 {
                        eprintln!("{id}: {text} within {}", finding.expected);
                    }
                    caught = true;
                }
                if caught && step > 20 {
                    break;
                }
            }
            assert!(caught, "{id} may be anything");
        }
    }
}

/// The boundary of a claim by search, against `[low, high]`: each printed number is accepted exactly if it could be the
/// rounding of a number in between.
fn assert_boundary(id: &str, decimals: usize, [low, high]: [f64; 2]) {
    let unit = 10_f64.powi(-i32::try_from(decimals).expect("few digits"));
    let (first, last) = ((low / unit).round() as i64, (high / unit).round() as i64);
    for near in [first, last] {
        for step in near - 3..=near + 3 {
            let mut package = Package::published();
            remove(package.claim(id), "exact");
            package.claim(id)["printed"] = json!(format!("{:.decimals$}", step as f64 * unit));
            let accepted = package.findings().is_empty();
            assert_eq!(accepted, (first..=last).contains(&step), "{id}: {step} units");
        }
    }
}

const HALF: f64 = 0.5e-4;

#[test]
fn drift_is_bounded_by_its_two_medians() {
    // SUM 128x2048: 1.6461 after 1.6550.
    let low = 100.0 * ((1.6461 - HALF) / (1.6550 + HALF) - 1.0);
    let high = 100.0 * ((1.6461 + HALF) / (1.6550 - HALF) - 1.0);
    assert_boundary("drift-lowest", 3, [low, high]);
    // SUM 65x512: 1.3320 after 1.3280.
    let low = 100.0 * ((1.3320 - HALF) / (1.3280 + HALF) - 1.0);
    let high = 100.0 * ((1.3320 + HALF) / (1.3280 - HALF) - 1.0);
    assert_boundary("drift-highest", 3, [low, high]);
}

#[test]
fn the_geometric_mean_is_bounded_by_all_selected_ratios() {
    let published = Package::published();
    let mut logarithms = [0.0; 2];
    for row in published.rows().iter().filter(|row| row[6] == "rows1") {
        let (default, rows1) = (number(&row[1]), number(&row[2]));
        // Each of eight geometries has two cases.
        logarithms[0] += ((rows1 - HALF) / (default + HALF)).ln() / 16.0;
        logarithms[1] += ((rows1 + HALF) / (default - HALF)).ln() / 16.0;
    }
    assert_boundary("policy-geomean", 8, logarithms.map(f64::exp));
}

#[test]
fn coefficients_are_bounded_by_what_each_median_adds() {
    let published = Package::published();
    let rows: Vec<Row> = published.rows().iter().flat_map(|row| observations(row)).collect();
    let fit = nnls::fit(&rows).expect("a fit");
    let mut radii = [0.0; 3];
    for at in 0..rows.len() {
        let mut moved = rows.clone();
        moved[at].observed += HALF;
        let moved = nnls::fit(&moved).expect("a fit");
        // The coefficients are linear in the medians as long as the subset is the same.
        assert_eq!(moved.active_mask, fit.active_mask);
        for (radius, (after, before)) in radii.iter_mut().zip(moved.coefficients.iter().zip(&fit.coefficients)) {
            *radius += (after - before).abs();
        }
    }
    for (id, feature, decimals) in [("a0", 0, 9), ("aD", 2, 11)] {
        let centre = fit.coefficients[feature];
        assert_boundary(id, decimals, [centre - radii[feature], centre + radii[feature]]);
    }
}

/// Training observations of a table row; equal geometries get equal labels.
fn observations(row: &[String]) -> [Row; 3] {
    let words: Vec<&str> = row[0].split(' ').collect();
    let (rows, columns) = words[1].split_once('x').expect("a shape");
    let size = |text: &str| text.parse::<u64>().expect("a size");
    let columns = size(columns);
    let geometry =
        Geometry { rows: size(rows), columns, block: size(&words[3][1..]), width: columns.next_power_of_two() };
    Schedule::ALL.map(|schedule| {
        let facts = Facts::of(geometry, schedule, 2, 24).expect("facts");
        let group = usize::try_from(geometry.rows << 20 | columns).expect("small");
        Row { group, features: facts.features().to_vec(), observed: number(&row[1 + schedule as usize]) }
    })
}

/// Prints how many cells are bound (`--nocapture`).
#[test]
fn a_median_that_is_one_percent_off_is_caught_where_a_claim_depends_on_it() {
    let published = Package::published();
    let mut bound = [0; 5];
    let mut cells = 0;
    for (line, row) in published.rows().iter().enumerate() {
        for column in 1..=5 {
            if row[column] == "missing" {
                continue;
            }
            cells += 1;
            let caught = [0.99, 1.01].map(|factor| {
                let mut package = Package::published();
                package.set_cell(line, column, &format!("{:.4}", number(&row[column]) * factor));
                let findings = package.findings();
                assert!(findings.iter().all(|finding| finding.code == Code::ClaimInconsistent));
                !findings.is_empty()
            });
            if column <= 3 {
                // All of these are fitted, so that the coefficients feel each.
                assert_eq!(caught, [true; 2], "{}, column {column}", row[0]);
            }
            bound[column - 1] += usize::from(caught == [true; 2]);
        }
    }
    eprintln!("of {cells} medians, {} are bound both ways: {bound:?}", bound.iter().sum::<usize>());
    assert_eq!(cells, 79);
    // Every second default run would become the one that drifts most. Of Torch's medians only those that the text names
    // are bound, and to two digits only.
    assert!(bound[3] == 16 && bound[4] >= 1, "{bound:?}");
}

#[test]
fn fewer_digits_in_the_table_leave_more_room() {
    let with = |decimals: usize, printed: &str| {
        let mut package = Package::published();
        package.round_medians(decimals);
        package.claim("small-saving-max")["printed"] = json!(printed);
        package.inconsistent("small-saving-max")
    };
    // 0.9581 after 0.9766 is 1.88 to 1.91 %; 0.96 after 0.98 is 1.02 to 3.05 %.
    assert!(!with(4, "1.89") && with(4, "1.20") && with(4, "2.90"));
    assert!(!with(2, "1.89") && !with(2, "1.20") && !with(2, "2.90"));
    assert!(with(2, "0.90") && with(2, "3.20"));
}

#[test]
fn fewer_digits_in_a_claim_leave_more_room() {
    let with = |printed: &str| {
        let mut package = Package::published();
        package.claim("drift-lowest")["printed"] = json!(printed);
        package.inconsistent("drift-lowest")
    };
    assert!(!with("-0.5") && !with("-1") && with("-0.6") && with("-0.50"));
    // The sign is part of the number.
    assert!(with("+0.537") && with("0.537"));
}

#[test]
fn a_selection_that_the_refit_contradicts_is_caught() {
    let published = Package::published();
    for (line, row) in published.rows().iter().enumerate() {
        for other in ["default", "rows1", "rows2"].into_iter().filter(|name| *name != row[6]) {
            let mut package = Package::published();
            package.set_cell(line, 6, other);
            let findings = package.findings();
            let finding = findings.iter().find(|finding| finding.file == "medians.csv").expect("a finding");
            assert_eq!((finding.code, finding.place.line), (Code::ClaimInconsistent, Some(line + 2)), "{finding:?}");
            assert_eq!(finding.place.field.as_deref(), Some("selection"));
            assert!(finding.expected.starts_with(&row[6]), "{finding:?}");
        }
    }
}

#[test]
fn a_selection_that_rounding_decides_may_go_either_way() {
    // 24x512 is judged by the fit to 24x1024 alone. Its rows1 median is searched for, at which the predicted saving is
    // five percent.
    let training =
        |rows1: f64| ["reduce_sum 24x1024 fp16 B4".to_owned(), "1.3000".into(), rows1.to_string(), "1.0900".into()];
    let judged = observations(&["reduce_sum 24x512 fp16 B2".to_owned(), "1".into(), "1".into(), "1".into()]);
    let ratio = |rows1: f64| {
        let fit = nnls::fit(&observations(&training(rows1))).expect("a fit");
        let [default, rows1, _] = judged.each_ref().map(|row| nnls::predict(&fit.coefficients, &row.features));
        rows1 / default
    };
    let (mut low, mut high) = (0.9, 1.1);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if ratio(middle) < 0.95 { low = middle } else { high = middle }
    }
    let accepted = |rows1: String, selected: u32| {
        let with = |selection: &&str| {
            let mut package = Package::published();
            package.table = format!(
                "case,default,rows1,rows2,recheck,torch,selection\n\
                 reduce_sum 24x1024 fp16 B4,1.3000,{rows1},1.0900,missing,missing,rows1\n\
                 reduce_sum 24x512 fp16 B2,2.0000,1.0000,2.0000,missing,missing,{selection}\n"
            );
            package.keep_claims(&["selected-held-out"]);
            package.claim("selected-held-out")["printed"] = json!(selected.to_string());
            package.findings().is_empty()
        };
        ["default", "rows1", "rows2"].into_iter().filter(with).collect::<Vec<_>>()
    };
    assert_eq!(accepted(format!("{:.4}", low - 0.001), 2), ["rows1"]);
    assert_eq!(accepted(format!("{:.4}", low + 0.001), 1), ["default"]);
    // Default and rows2 are the same launch, so that rows2 is never faster, however the rounding goes. The number of
    // selected cases is as open as the selection.
    for selected in [1, 2] {
        assert_eq!(accepted(format!("{low:.4}"), selected), ["default", "rows1"]);
        assert_eq!(accepted(format!("{:.2}", low + 0.001), selected), ["default", "rows1"]);
    }
    assert!(accepted(format!("{low:.4}"), 0).is_empty());
}

#[test]
fn the_place_of_an_extreme_is_part_of_the_claim() {
    let mut package = Package::published();
    package.claim("largest-relative-residual")["schedule"] = json!("rows2");
    assert!(package.inconsistent("largest-relative-residual"));
    let mut package = Package::published();
    package.claim("drift-lowest")["case"] = json!("reduce_sum 128x2048 bf16 B8");
    assert_eq!(package.findings(), []);
    package.claim("drift-lowest")["case"] = json!("reduce_max 1024x512 fp16 B4");
    assert!(package.inconsistent("drift-lowest"));
}

#[test]
fn claims_that_cannot_be_read_are_reported_where_they_stand() {
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit, &str); 22] = [
        ("cases", |claim| claim["quantity"] = json!("speed"), "/quantity"),
        ("cases", |claim| claim["printed"] = json!("abc"), "/printed"),
        ("cases", |claim| claim["printed"] = json!(16), "/printed"),
        ("cases", |claim| claim["printed"] = json!("16.0"), "/printed"),
        ("cases", |claim| claim["unit"] = json!("us"), "/unit"),
        ("cases", |claim| claim["cohort"] = json!("torch"), "/cohort"),
        ("cases", |claim| claim["remark"] = json!(""), "/remark"),
        ("cases", |claim| remove(claim, "says"), ""),
        ("cases", |claim| claim["id"] = json!("geometries"), ""),
        ("cases", |claim| *claim = json!("16"), ""),
        ("drift-lowest", |claim| claim["printed"] = json!("-5e-1"), "/printed"),
        ("drift-lowest", |claim| claim["reference"] = json!("rows9"), "/reference"),
        ("drift-lowest", |claim| remove(claim, "over"), ""),
        ("drift-lowest", |claim| claim["policy"] = json!("full-fit"), "/policy"),
        ("small-saving-max", |claim| claim["case"] = json!("reduce_max 38x257 fp32 B4"), "/case"),
        ("small-saving-max", |claim| claim["case"] = json!("the other one"), "/case"),
        ("small-saving-max", |claim| claim["exact"] = json!("no"), "/exact"),
        ("regressions-rows1", |claim| claim["cases"] = json!([]), "/cases"),
        ("regressions-rows1", |claim| claim["cases"][1] = claim["cases"][0].clone(), "/cases/1"),
        ("bf16-selected-lowest", |claim| remove(claim, "policy"), ""),
        ("a0", |claim| claim["coefficient"] = json!("a1"), "/coefficient"),
        ("samples", |claim| remove(claim, "why"), ""),
    ];
    for (id, edit, member) in edits {
        let mut package = Package::published();
        let at = package.claims().iter().position(|claim| claim["id"] == id).expect("a claim");
        edit(package.claim(id));
        let findings = package.findings();
        let malformed = findings.iter().find(|finding| finding.code == Code::ClaimMalformed).expect(id);
        let pointer = malformed.place.pointer.as_deref().expect("a pointer");
        // Of two equal ids, the second is the wrong one.
        let expected = if member.is_empty() && pointer == "/claims/1" { 1 } else { at };
        assert_eq!(pointer, format!("/claims/{expected}{member}"), "{malformed:?}");
    }
}

fn remove(claim: &mut Value, member: &str) {
    claim.as_object_mut().expect("an object").remove(member);
}

#[test]
fn a_median_that_is_missing_can_not_be_claimed() {
    let mut package = Package::published();
    let claim = package.claim("bf16-torch-lowest");
    claim["case"] = json!("reduce_sum 65x2048 fp16 B8");
    remove(claim, "over");
    remove(claim, "cases");
    let findings = package.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].code, findings[0].found.as_str()), (Code::ClaimMalformed, "missing"));
}

#[test]
fn headers_that_cannot_be_read_are_reported() {
    type Edit = fn(&mut Value);
    let edits: [(Edit, &str); 8] = [
        (|root| root["claims"] = json!({}), "/claims"),
        (|root| root["claims"] = json!([]), "/claims"),
        (|root| remove(root, "claims"), "/claims"),
        (|root| root["medians"] = json!("../medians.csv"), "/medians"),
        (|root| root["unit"] = json!("ms"), "/unit"),
        (|root| root["processors"] = json!(0), "/processors"),
        (|root| root["processors"] = json!(24.5), "/processors"),
        (|root| root["improvement_fraction"] = json!(1.0), "/improvement_fraction"),
    ];
    for (edit, pointer) in edits {
        let mut package = Package::published();
        edit(&mut package.root);
        let findings = package.findings();
        assert!(
            findings.iter().any(|finding| finding.code == Code::ClaimMalformed
                && finding.place.pointer.as_deref() == Some(pointer)
                && finding.place.line.is_some_and(|line| line > 0)),
            "{pointer}: {findings:?}"
        );
    }
}

#[test]
fn cells_that_cannot_be_read_are_reported_where_they_stand() {
    let bad =
        ["nan", "inf", "-2.1989", "+2.1989", "", "0.0000", "2,1989", "2.1989 ", "1e0", "0x1", ".5", "5.", "missing"];
    for cell in bad {
        let mut package = Package::published();
        package.set_cell(2, 1, &cell_with(cell));
        let findings = package.findings();
        assert_eq!(findings.len(), 1, "{cell}: {findings:?}");
        let finding = &findings[0];
        assert_eq!((finding.code, finding.file.as_str()), (Code::ClaimMalformed, "medians.csv"), "{finding:?}");
        assert_eq!((finding.place.line, finding.place.field.as_deref()), (Some(4), Some("default")));
    }
    for (column, cell, field) in
        [(6, "rows9", "selection"), (0, "reduce_min 3x3 fp16 B4", "case"), (5, "none", "torch")]
    {
        let mut package = Package::published();
        package.set_cell(0, column, cell);
        let findings = package.findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!((findings[0].place.line, findings[0].place.field.as_deref()), (Some(2), Some(field)));
    }
}

#[test]
fn tables_that_cannot_be_read_are_reported() {
    let published = Package::published().table;
    let first = published.lines().nth(1).expect("a row");
    let tables = [
        (published.replacen("rows1", "rows_1", 1), 1),
        (published.replacen(",torch", "", 1), 1),
        (String::new(), 1),
        (published.lines().next().expect("a header").to_owned() + "\n", 1),
        (format!("{published}{first}\n"), 18),
        (format!("{published}{}\n", first.replace(' ', "  ")), 18),
        (format!("{published}reduce_sum 9x9 fp16 B4,1.0,1.0\n"), 18),
    ];
    for (table, line) in tables {
        let mut package = Package::published();
        package.table = table;
        let check = package.check();
        assert_eq!(check.outcome, Outcome::Failed);
        assert_eq!(check.findings.len(), 1, "{:?}", check.findings);
        let finding = &check.findings[0];
        assert_eq!((finding.code, finding.place.line), (Code::ClaimMalformed, Some(line)), "{finding:?}");
        assert_eq!(check.tally.total(), 1, "nothing else is compared");
    }
}

#[test]
fn a_package_without_its_table_does_not_pass() {
    let mut package = Package::published();
    package.has_table = false;
    let findings = package.findings();
    assert_eq!((findings[0].code, findings[0].place.pointer.as_deref()), (Code::ClaimMalformed, Some("/medians")));
    assert_eq!(exit_status(&package), Some(1));
}

#[test]
fn claims_of_another_version_are_not_judged() {
    let mut package = Package::published();
    package.root["schema"] = json!("recount-claims-v2");
    assert_eq!(exit_status(&package), Some(2));
}

/// Of the program on the package.
fn exit_status(package: &Package) -> Option<i32> {
    let folder = package.write();
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("recount"))
        .arg("verify")
        .arg(folder.path())
        .output()
        .expect("the program runs");
    output.status.code()
}

#[test]
fn one_geometry_alone_cannot_be_cross_validated() {
    let mut package = Package::published();
    package.table = package.table.lines().take(2).collect::<Vec<_>>().join("\n");
    package.keep_claims(&["cases"]);
    package.claim("cases")["printed"] = json!("1");
    let findings = package.findings();
    assert_eq!((findings.len(), findings[0].code), (1, Code::ClaimMalformed));
}

#[test]
fn the_printed_table_is_the_published_data_rounded() {
    let Some(validation) = shared::shared_text("packages/program-partition/validation.json") else { return };
    let validation: Value = serde_json::from_str(&validation).expect("JSON");
    let published = Package::published();
    let cases = validation["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), published.rows().len());
    for (case, row) in cases.iter().zip(published.rows()) {
        let record = &case["case"];
        let label = format!(
            "{} {}x{} {} B{}",
            record["operation"].as_str().expect("an operation"),
            record["dimensions"][0],
            record["dimensions"][1],
            record["precision"].as_str().expect("a precision"),
            record["tile"][0]
        );
        assert_eq!(row[0], label);
        let median =
            |cohort: &str, route: &str| match case["cohorts"][cohort]["routes"][route]["event_us"]["p50"].as_f64() {
                Some(median) => format!("{median:.4}"),
                None => "missing".to_owned(),
            };
        for (column, cohort) in ["default", "rows1", "rows2", "recheck"].into_iter().enumerate() {
            assert_eq!(row[1 + column], median(cohort, "native"), "{label}, {cohort}");
        }
        assert_eq!(row[5], median("default", "torch"), "{label}, torch");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is true of the medians before they are rounded, is consistent with them after.
    #[test]
    fn true_claims_are_never_rejected(case in truth::tables()) {
        let package = case.package();
        prop_assert_eq!(package.findings(), []);
    }
}
