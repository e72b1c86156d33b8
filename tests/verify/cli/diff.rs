//! `recount diff`.

mod refusals;

use serde_json::{Value, json};

use crate::common::content::{Recipe, variants};
use crate::common::json::{add, set, take};
use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;
use crate::common::shared::shared;

const SCHEMA: &str = include_str!("../../../docs/schema/recount-diff-v1.json");

#[track_caller]
fn compared(old: &Package, new: &Package, args: &[&str]) -> Outcome {
    let [old, new] = [old, new].map(|package| package.path().to_str().expect("UTF-8"));
    Outcome::of(&[&["diff", old, new], args].concat(), None)
}

#[track_caller]
fn document(old: &Package, new: &Package) -> Value {
    compared(old, new, &["--format", "json"]).exits(0).obeys(SCHEMA).report().clone()
}

/// All compared medians.
fn medians(document: &Value) -> Vec<&Value> {
    let cohorts = document["cohorts"].as_array().expect("cohorts");
    cohorts.iter().flat_map(|cohort| cohort["medians"].as_array().expect("medians")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[track_caller]
fn is_alike(document: &Value) {
    for row in medians(document) {
        assert_eq!((number(&row["ratio"]), row["change"].as_str()), (1.0, Some("no_difference")), "{row}");
    }
    for cohort in document["cohorts"].as_array().unwrap() {
        assert_eq!(cohort["geometry_equal_weight_geomean"], 1.0);
    }
    assert!(document["environment"].as_array().unwrap().iter().all(|field| field["differs"] == false));
    let model = &document["model"];
    assert!(model["decisions"].as_array().unwrap().iter().all(|row| row["changed"] == false));
    assert!(model["coefficients"].as_array().unwrap().iter().all(|one| one["relative_change"] == 0.0));
    assert_eq!(document["devices"]["differ"], false);
}

#[test]
fn a_package_is_like_itself() {
    let package = Package::valid();
    let found = document(&package, &package);
    is_alike(&found);
    assert_eq!(medians(&found).len(), 17 + 4);
    assert!(medians(&found).iter().all(|row| row["confidence"] == 0.968_75));
    let drift = number(&found["recheck_drift"]["old"]);
    assert!(drift > 0.0 && drift < 0.004 && found["recheck_drift"]["new"] == drift, "{drift}");
}

#[test]
fn the_published_package_is_like_itself() {
    let Some(folder) = shared("packages/program-partition") else { return };
    let folder = folder.to_str().expect("UTF-8");
    let outcome = Outcome::of(&["diff", folder, folder, "--format", "json"], None);
    outcome.exits(0).obeys(SCHEMA);
    is_alike(outcome.report());
    assert_eq!(medians(outcome.report()).len(), 81);
    outcome.require(outcome.stderr.contains("absent-file: code/calibrate.py"), "what is absent is named");
}

#[test]
fn slower_kernels_are_slower_and_the_others_are_not() {
    let (old, new) = (Package::valid(), Package::of(&Recipe { native_percent: 110, noise: 1, ..Recipe::default() }));
    let found = document(&old, &new);
    for cohort in found["cohorts"].as_array().unwrap() {
        let (native, rows) = (cohort["route"] == "native", cohort["medians"].as_array().unwrap().len());
        assert_eq!(cohort["counts"][if native { "slower" } else { "no_difference" }], json!(rows), "{cohort}");
        let geomean = number(&cohort["geometry_equal_weight_geomean"]);
        assert!((geomean - if native { 1.1 } else { 1.0 }).abs() < 0.005, "{geomean}");
    }
    for row in medians(&found) {
        assert!(number(&row["low"]) <= number(&row["ratio"]) && number(&row["ratio"]) <= number(&row["high"]));
        assert_eq!(number(&row["ratio"]), number(&row["new_us"]) / number(&row["old_us"]));
    }
    assert!(found["model"]["coefficients"][0]["relative_change"].as_f64().unwrap() > 0.05);
}

#[test]
fn exchanging_the_packages_inverts_ratios_and_intervals() {
    let (left, right) = (Package::valid(), Package::of(&Recipe { native_percent: 90, noise: 2, ..Recipe::default() }));
    let (there, back) = (document(&left, &right), document(&right, &left));
    let (there, back) = (medians(&there), medians(&back));
    assert_eq!(there.len(), back.len());
    for (there, back) in there.iter().zip(&back) {
        assert_eq!((&there["case_id"], &there["confidence"]), (&back["case_id"], &back["confidence"]));
        for (one, other) in [("ratio", "ratio"), ("low", "high"), ("high", "low")] {
            assert!((number(&there[one]) * number(&back[other]) - 1.0).abs() < 1e-15, "{there} {back}");
        }
        let inverted = match there["change"].as_str().unwrap() {
            "faster" => "slower",
            "slower" => "faster",
            other => other,
        };
        assert_eq!(back["change"], inverted);
    }
}

#[test]
fn other_devices_come_first_and_fields_are_named() {
    let old = Package::valid();
    let new = Package::derived(&Recipe { noise: 4, ..Recipe::default() }, |parts| {
        variants::another_machine(parts, false);
        add(
            &mut parts.validation,
            "",
            "environment",
            obj! { "python": "3.13", "gpu": obj! { "clock_mhz": vec![1980_u64] } },
        );
        add(&mut parts.validation, "", "protocol", obj! { "order": "interleaved" });
    });
    let found = document(&old, &new);
    assert_eq!(found["devices"]["differ"], true);
    let field = |name: &str| {
        let fields = found["environment"].as_array().unwrap();
        let field = fields.iter().find(|field| field["name"] == name).unwrap_or_else(|| panic!("{name}"));
        json!([field["old"], field["new"], field["differs"]])
    };
    assert_eq!(field("device.sm_count"), json!(["6", "132", true]));
    assert_eq!(field("device.compute_capability"), json!(["89", "90", true]));
    assert_eq!(field("device.identity.gpu"), json!(["Demonstration GPU", "Demonstration GPU", false]));
    assert_eq!(field("environment.gpu.clock_mhz.0"), json!([null, "1980", true]));
    assert_eq!(field("protocol.order"), json!([null, "interleaved", true]));
    assert_eq!(field("manifest.graph_batch"), json!(["100", "100", false]));
    assert_eq!(field("manifest.semantics.logical_view_offset_bytes"), json!(["128 | 256", "128 | 256", false]));
    assert_eq!(field("native.samples"), json!(["7", "7", false]));
    assert_eq!(field("native.sampling.sample_target_ms"), json!(["100", "100", false]));
    assert_eq!(field("torch.warmup.target_ms"), json!(["500", null, true]));
    // Torch was timed in one of them alone.
    let torch = found["cohorts"].as_array().unwrap().iter().find(|one| one["route"] == "torch").unwrap();
    assert_eq!((torch["only_old"].as_array().unwrap().len(), &torch["medians"]), (3, &json!([])));
    let outcome = compared(&old, &new, &["-q"]);
    outcome.require(outcome.stdout.starts_with("Devices\nThe devices differ: "), "devices come first");
    let lines = |args: &[&str]| compared(&old, &new, args).stdout;
    let (normal, verbose) = (lines(&[]), lines(&["-v"]));
    assert!(normal.contains("device.sm_count") && !normal.contains("device.identity.gpu"));
    assert!(verbose.contains("device.identity.gpu"));
}

#[test]
fn cases_of_one_package_alone_and_redefined_ones_are_named() {
    let new = Package::derived(&Recipe::default(), |parts| {
        variants::without_torch(parts);
        set(&mut parts.cases, "/cases/1/seed", 5_u64);
        set(&mut parts.validation, "/cases/1/case/seed", 5_u64);
        for cohort in ["default", "rows1", "rows2", "recheck"] {
            set(&mut parts.validation, &format!("/cases/1/cohorts/{cohort}/manifest/seed"), 5_u64);
        }
        take(&mut parts.cases, "/cases/3");
        take(&mut parts.validation, "/cases/3");
    });
    let old = Package::valid();
    let found = document(&old, &new);
    assert_eq!(found["cases"]["common"].as_array().unwrap().len(), 2);
    assert_eq!(found["cases"]["only_old"], json!(["demo-max-200x128-fp32-br4"]));
    let redefined = json!([{
        "id": "demo-max-10x300-fp32-br4",
        "members": [{ "name": "seed", "old": "20261003", "new": "5" }],
    }]);
    assert_eq!(found["cases"]["redefined"], redefined);
    assert_eq!(found["model"]["decisions"].as_array().unwrap().len(), 2);
    assert_eq!(document(&new, &old)["cases"]["only_new"], json!(["demo-max-200x128-fp32-br4"]));
    let outcome = compared(&old, &new, &[]);
    outcome.require(outcome.stdout.contains("only in OLD: demo-max-200x128-fp32-br4"), "the one");
    outcome.require(outcome.stdout.contains("(seed 20261003 against 5)"), "the other");
}

#[test]
fn decisions_that_changed_are_shown() {
    let (old, new) = (Package::valid(), Package::valid());
    let decision = "/full_training_evaluation/decisions/1/decision/selected_schedule";
    new.edit_json("model.json", |root| set(root, decision, "rows2")).seal();
    let outcome = compared(&old, &new, &["--format", "json"]);
    // A decision that does not follow from its data is what `verify` is for.
    outcome.exits(1).obeys(SCHEMA);
    let row = &outcome.report()["model"]["decisions"].as_array().unwrap().iter().find(|row| row["changed"] == true);
    let row = row.expect("one changed");
    assert_eq!(row["case_id"], "demo-max-200x128-fp32-br4");
    assert_eq!(row["full_fit"]["new"], "rows2");
    let outcome = compared(&old, &new, &[]);
    outcome.require(outcome.stdout.contains("1 of 4 cases changed"), "it is counted");
}

#[test]
fn what_does_not_hold_is_said_and_fails() {
    let (old, new) = (Package::valid(), Package::valid());
    new.edit_text("samples.csv", |text| text.replacen(",passed,", ",failed,", 1)).seal();
    for (outcome, sound) in [
        (compared(&old, &new, &["--format", "json"]), [true, false]),
        (compared(&new, &old, &["--format", "json"]), [false, true]),
    ] {
        outcome.exits(1).obeys(SCHEMA);
        assert_eq!([&outcome.report()["old"]["sound"], &outcome.report()["new"]["sound"]], [sound[0], sound[1]]);
        let name = new.path().to_str().unwrap();
        outcome.require(outcome.stderr.starts_with(&format!("{name}:\nerror ")), "the package is named");
        outcome.require(outcome.stderr.contains("the package itself does not hold"), "and what follows is said");
    }
}

fn without_model(package: &Package) {
    package.remove("model.json").remove("provenance.json").remove("README.md").seal();
}

#[test]
fn a_package_without_a_model_is_refitted() {
    let (old, new) = (Package::valid(), Package::valid());
    without_model(&new);
    let found = document(&old, &new);
    assert_eq!(found["model"]["sources"], json!({ "old": "recorded", "new": "refitted" }));
    is_alike(&found);
    let outcome = compared(&old, &new, &[]);
    outcome.require(outcome.stdout.contains("OLD's model is recorded, NEW's refitted"), "it is said");
}

#[test]
fn few_samples_say_the_level_that_they_reach() {
    for (samples, level, said) in [
        (1, 0.0, "nothing can be said of 21 medians"),
        (5, 0.875, "at least 87.5 %; 21 of them stay below 95 %"),
        (10, 0.957_031_25, "at least 95.703 %"),
    ] {
        let package = Package::of(&Recipe { samples, ..Recipe::default() });
        let found = compared(&package, &package, &["--format", "json"]);
        found.obeys(SCHEMA);
        assert!(medians(found.report()).iter().all(|row| row["confidence"] == level), "{samples}");
        let outcome = compared(&package, &package, &[]);
        let text = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        outcome.require(text.contains(said), said);
    }
}

#[test]
fn the_text_of_a_comparison() {
    let parent = tempfile::tempdir().unwrap();
    for (name, recipe) in
        [("old", Recipe::default()), ("new", Recipe { native_percent: 101, noise: 6, ..Recipe::default() })]
    {
        let package = Package::of(&recipe);
        let folder = parent.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::create_dir(folder.join("code")).unwrap();
        for file in ["README.md", ".gitattributes", "cases.json", "code/calibrate.py", "device.json", "model.json"]
            .into_iter()
            .chain(["proof-receipts.json", "provenance.json", "samples.csv", "validation.json", "receipts.json"])
        {
            std::fs::write(folder.join(file), package.bytes(file)).unwrap();
        }
    }
    let mut command = program();
    command.current_dir(parent.path()).env("COLUMNS", "80");
    let outcome = Outcome::with(&mut command, &["diff", "old", "new"], None);
    outcome.require(outcome.stdout.lines().all(|line| line.chars().count() <= 80), "it fits 80 columns");
    insta::assert_snapshot!(outcome.exits(0).stdout, @r"
    Devices
    Both devices are of one kind.
      OLD is old: Demonstration GPU, compute capability 89, 6 multiprocessors
      NEW is new: Demonstration GPU, compute capability 89, 6 multiprocessors

    Environment and protocol
    0 of 32 fields differ

    default, native: microseconds per operation
    case                          OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-10x300-fp16-br4   1.5543  1.5686   1.0092  1.0069  1.0139  slower
    demo-max-10x300-fp32-br4   1.5076  1.5238   1.0108  1.0067  1.0125  slower
    demo-sum-64x256-bf16-br8   2.1910  2.2150   1.0109  1.0067  1.0133  slower
    demo-max-200x128-fp32-br4  2.3607  2.3839   1.0098  1.0079  1.0126  slower

    rows1, native: microseconds per operation
    case                          OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-10x300-fp16-br4   1.2555  1.2671   1.0092  1.0067  1.0132  slower
    demo-max-10x300-fp32-br4   1.2165  1.2304   1.0114  1.0068  1.0136  slower
    demo-sum-64x256-bf16-br8   1.9129  1.9338   1.0109  1.0069  1.0132  slower
    demo-max-200x128-fp32-br4  2.5840  2.6107   1.0103  1.0074  1.0121  slower

    rows2, native: microseconds per operation
    case                          OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-10x300-fp16-br4   1.2429  1.2575   1.0118  1.0075  1.0130  slower
    demo-max-10x300-fp32-br4   1.2073  1.2210   1.0113  1.0079  1.0139  slower
    demo-sum-64x256-bf16-br8   1.9268  1.9462   1.0101  1.0068  1.0129  slower
    demo-max-200x128-fp32-br4  2.3843  2.4097   1.0106  1.0077  1.0132  slower

    recheck, native: microseconds per operation
    case                          OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-10x300-fp16-br4   1.5548  1.5687   1.0090  1.0062  1.0117  slower
    demo-max-10x300-fp32-br4   1.5071  1.5234   1.0109  1.0065  1.0137  slower
    demo-sum-64x256-bf16-br8   2.1924  2.2151   1.0104  1.0066  1.0138  slower
    demo-max-200x128-fp32-br4  2.3634  2.3889   1.0108  1.0063  1.0137  slower

    default, torch: microseconds per operation
    case                          OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-10x300-fp16-br4   1.3229  1.3242   1.0009  0.9974  1.0030  -
    demo-max-10x300-fp32-br4   1.3047  1.3043   0.9997  0.9972  1.0031  -
    demo-max-200x128-fp32-br4  1.6463  1.6465   1.0002  0.9973  1.0031  -

    independent_retest, native: microseconds per operation
    case                         OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-64x256-bf16-br8  2.1923  2.2154   1.0105  1.0072  1.0132  slower

    independent_retest, torch: microseconds per operation
    case                         OLD     NEW  NEW/OLD     low    high  NEW is
    demo-sum-64x256-bf16-br8  1.5789  1.5779   0.9993  0.9971  1.0035  -

    Medians by cohort; NEW/OLD: geometric mean in which each geometry counts once
    cohort       route   cases  faster  slower  neither  NEW/OLD  only OLD  only NEW
    default      native      4       0       4        0   1.0103         0         0
    rows1        native      4       0       4        0   1.0105         0         0
    rows2        native      4       0       4        0   1.0108         0         0
    recheck      native      4       0       4        0   1.0103         0         0
    default      torch       3       0       0        3   1.0002         0         0
    independent  native      1       0       1        0   1.0105         0         0
    _retest
    independent  torch       1       0       0        1   0.9993         0         0
    _retest

    Coefficients
    coefficient                     OLD                     NEW  change %
    a0               0.9204858643596148      0.9306878925063179     +1.11
    aP             0.001751805756563649   0.0017702845231889535     +1.05
    aD           0.00030083819783274714  0.00030379873157710215     +0.98
    both models are recorded

    Decisions that changed
    0 of 4 cases changed

    Metrics, each over all cases of its package
    metric                      full fit OLD       NEW  held out OLD       NEW
    cases                                  4         4             4         4
    geometries                             3         3             3         3
    selected                               3         3             3         3
    selected regressions                   0         0             0         0
    the same over 5 %                      0         0             0         0
    worst policy/default             1.00000   1.00000       1.00000   1.00000
    geometry-equal-weight mean      0.887345  0.887787      0.887345  0.887787

    Result
    4 cases compared; of 21 medians, NEW is faster in 0, slower in 17; no difference
    is shown (-) in 4
    decisions changed: 0 of 4
    confidence of the intervals (order statistics, Bonferroni): at least 96.875 %
    An interval speaks of the two processes whose samples it is made of, each by
    itself: samples of one process are not independent runs, and of many intervals
    some miss.
    For scale, recheck against default (two processes, one schedule): up to 0.12 %
    in OLD, up to 0.21 % in NEW.
    ");
}
