//! `recount predict`.

mod refusals;

use recount::package::json::Json;
use recount::refit::document::profile_id;
use serde_json::{Value, json};

use crate::common::content::{Parts, Recipe, variants};
use crate::common::json::{copy, set, take};
use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;
use crate::common::shared::shared;

const SCHEMA: &str = include_str!("../../../docs/schema/recount-predict-v1.json");

/// Applies the model of one folder or file to a package, as JSON.
#[track_caller]
fn predicted(model: &str, package: &Package) -> Outcome {
    let path = package.path().to_str().expect("UTF-8");
    Outcome::of(&["predict", model, path, "--format", "json"], Some(package.path()))
}

#[track_caller]
fn document(outcome: &Outcome) -> Value {
    outcome.exits(0).obeys(SCHEMA).report().clone()
}

fn path(package: &Package, name: &str) -> String {
    package.file(name).to_str().expect("UTF-8").to_owned()
}

/// The members that predictions share with the recorded full fit are equal to the last bit; the geometric mean alone may be
/// `apart` units in the last place from it, since another mathematical library took its logarithms.
#[track_caller]
fn reproduces(document: &Value, recorded: &str, apart: u64) {
    let recorded: Value = serde_json::from_str(recorded).expect("JSON");
    let metrics = recorded["full_training_metrics"].as_object().expect("metrics");
    for (name, value) in metrics {
        let found = &document["metrics"]["all"][name];
        if name == "geometry_equal_weight_policy_geomean" {
            let bits = |value: &Value| value.as_f64().expect("a number").to_bits();
            assert!(bits(found).abs_diff(bits(value)) <= apart, "{name}: {found} instead of {value}");
        } else {
            assert_eq!(found, value, "{name}");
        }
    }
    let decisions = recorded["full_training_evaluation"]["decisions"].as_array().expect("decisions");
    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(decisions.len(), cases.len());
    for (case, decision) in cases.iter().zip(decisions) {
        let made = &decision["decision"];
        let expected = json!([
            decision["case_id"],
            decision["group"],
            made["selected_schedule"],
            made["scores_us_proxy"],
            made["predicted_ratio"],
            decision["observed_policy_ratio"],
            decision["all_candidate_ratios"]
        ]);
        let found = json!([
            case["case_id"],
            case["geometry"],
            case["selected"],
            case["scores_us_proxy"],
            case["predicted_ratio"],
            case["observed_policy_ratio"],
            case["all_candidate_ratios"]
        ]);
        assert_eq!(found, expected);
    }
    for residual in recorded["full_training_evaluation"]["residuals"].as_array().expect("residuals") {
        let (id, schedule) = residual["record_id"].as_str().and_then(|id| id.rsplit_once(':')).expect("an id");
        let case = cases.iter().find(|case| case["case_id"] == id).expect("the case");
        for name in ["predicted_us", "observed_us", "signed_error_us", "relative_error"] {
            assert_eq!(case["residuals"][schedule][name], residual[name], "{id} {schedule} {name}");
        }
    }
}

#[test]
fn a_models_own_package_gives_its_recorded_decisions_and_metrics() {
    for recipe in [
        Recipe::default(),
        Recipe { noise: 5, ..Recipe::default() },
        Recipe { samples: 6, native_percent: 250, ..Recipe::default() },
    ] {
        let package = Package::of(&recipe);
        let document = document(&predicted(&path(&package, "model.json"), &package));
        reproduces(&document, &package.text("model.json"), 0);
        assert_eq!(document["devices"]["differ"], false);
        assert_eq!(document["metrics"]["held_out"], Value::Null);
        assert_eq!(document["shared_geometries"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn the_published_model_gives_its_published_decisions_and_metrics() {
    let Some(folder) = shared("packages/program-partition") else { return };
    let folder = folder.to_str().expect("UTF-8");
    let outcome = Outcome::of(&["predict", folder, folder, "--format", "json"], None);
    let document = document(&outcome);
    reproduces(&document, &std::fs::read_to_string(format!("{folder}/model.json")).unwrap(), 1);
    assert_eq!(document["metrics"]["all"]["selected"], 14);
    assert_eq!(document["regressions"], json!([]));
    outcome.require(outcome.stderr.contains("absent-file: code/calibrate.py"), "what is absent is named");
}

#[test]
fn a_folder_and_its_file_are_one_model() {
    let (home, other) = (Package::valid(), Package::of(&Recipe { noise: 3, ..Recipe::default() }));
    let of = |model: &str| {
        let mut document = document(&predicted(model, &other));
        take_name(&mut document);
        document
    };
    assert_eq!(of(&path(&home, "")), of(&path(&home, "model.json")));
    assert_eq!(of(&path(&home, "receipts.json")), of(&path(&home, "model.json")));
}

fn take_name(document: &mut Value) {
    document["model"]["name"] = Value::Null;
}

#[test]
fn another_device_is_said_first_and_changes_no_feature() {
    let home = Package::valid();
    let away = Package::derived(&Recipe::default(), |parts| variants::another_machine(parts, false));
    let model = path(&home, "model.json");
    let (there, here) = (document(&predicted(&model, &away)), document(&predicted(&model, &home)));
    assert_eq!(there["devices"]["differ"], true);
    assert_eq!(there["devices"]["package"]["sm_count"], 132);
    assert_eq!(there["model"]["processor_reference"], 6);
    for (there, here) in there["cases"].as_array().unwrap().iter().zip(here["cases"].as_array().unwrap()) {
        assert_eq!(there["scores_us_proxy"], here["scores_us_proxy"]);
    }
    let outcome = Outcome::of(&["predict", &model, away.path().to_str().unwrap(), "-q"], None);
    outcome.exits(0);
    outcome.require(outcome.stdout.starts_with("Devices\nThe devices differ: "), "devices come first");
    let said = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    outcome.require(
        said.contains(
            "counted with the 6 multiprocessors that the model was fitted with (processor_reference), not with the 132",
        ),
        "which count is used",
    );
}

/// Takes the last case, the only one of its geometry, out of a package.
fn without_last_case(parts: &mut Parts) {
    variants::without_torch(parts);
    take(&mut parts.cases, "/cases/3");
    take(&mut parts.validation, "/cases/3");
}

#[test]
fn geometries_that_were_trained_on_are_named_and_the_others_are_held_out() {
    let (home, away) = (Package::derived(&Recipe::default(), without_last_case), Package::valid());
    let outcome = predicted(&path(&home, "model.json"), &away);
    let found = document(&outcome);
    assert_eq!(found["shared_geometries"], json!(["[10,300,4,512]", "[64,256,8,256]"]));
    assert_eq!(found["metrics"]["held_out"]["cases"], 1);
    let held: Vec<_> = found["cases"].as_array().unwrap().iter().filter(|case| case["held_out"] == true).collect();
    assert_eq!((held.len(), &held[0]["case_id"]), (1, &json!("demo-max-200x128-fp32-br4")));
    let mut strange = home.json("model.json");
    set(&mut strange, "/full_training_model/training_groups", vec!["[1,1,1,1]"]);
    let out = Package::empty();
    out.write("model.json", recount::package::json::compact(&strange));
    let outcome = Outcome::of(&["predict", &path(&out, "model.json"), &path(&away, ""), "-q"], None);
    outcome.require(outcome.exits(0).stdout.contains("all cases are held out"), "nothing is shared");
}

/// A model with these coefficients and the id that then belongs to it.
fn with_coefficients(package: &Package, coefficients: &[f64]) -> String {
    let mut model = package.json("model.json");
    set(&mut model, "/profile/coefficients", coefficients.to_vec());
    set(&mut model, "/full_training_model/coefficients", coefficients.to_vec());
    written(&model)
}

/// The model with the id that belongs to its profile.
fn written(model: &Json) -> String {
    let mut model = model.clone();
    let id = profile_id(&copy(&model, "/profile"));
    set(&mut model, "/profile_id", id);
    recount::package::json::compact(&model)
}

#[test]
fn regressions_are_results_unless_they_are_denied() {
    let (package, out) = (Package::valid(), Package::empty());
    // Programs that cost nothing: what one row for each program costs is not seen.
    out.write("model.json", with_coefficients(&package, &[0.0, 0.0, 0.0003]));
    let model = path(&out, "model.json");
    let found = document(&predicted(&model, &package));
    let regressions = found["regressions"].as_array().unwrap();
    assert_eq!((regressions.len(), &regressions[0]["case_id"]), (1, &json!("demo-max-200x128-fp32-br4")));
    assert_eq!((&regressions[0]["selected"], &regressions[0]["over_five_percent"]), (&json!("rows1"), &json!(true)));
    let case =
        found["cases"].as_array().unwrap().iter().find(|case| case["selected"] == "rows1" && case["best"] == "default");
    let case = case.expect("the regression");
    assert_eq!(case["lost"].as_f64(), Some(case["observed_policy_ratio"].as_f64().unwrap() - 1.0));
    assert_eq!((&case["best"], &case["best_ratio"]), (&json!("default"), &json!(1.0)));
    assert_eq!(found["metrics"]["all"]["selected_regressions_over_five_percent"], 1);
    let args = |more: &'static [&'static str]| {
        let path = package.path().to_str().unwrap();
        Outcome::of(&[&["predict", &model, path], more].concat(), None)
    };
    let outcome = args(&["--deny-regressions"]);
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("demo-max-200x128-fp32-br4 rows1: 1.09"), "it is named");
    outcome.require(outcome.stderr.is_empty(), "the package holds");
    args(&[]).exits(0);
    package.run("predict", &[package.path().to_str().unwrap(), "--deny-regressions"]).exits(0);
}

#[test]
fn a_package_that_does_not_hold_fails_whatever_is_predicted() {
    let (home, package) = (Package::valid(), Package::of(&Recipe { noise: 9, ..Recipe::default() }));
    package.edit_text("validation.json", |text| text.replacen('{', "{ ", 1));
    let outcome = predicted(&path(&home, "model.json"), &package);
    outcome.exits(1).obeys(SCHEMA);
    assert_eq!(outcome.report()["sound"], false);
    for text in ["error hash-mismatch: validation.json", "the package itself does not hold"] {
        outcome.require(outcome.stderr.contains(text), text);
    }
    // So does the package that the model is in.
    let outcome = predicted(&path(&package, ""), &home);
    outcome.exits(1);
    predicted(&path(&package, "model.json"), &home).exits(0);
}

#[test]
fn a_case_without_times_is_left_out_and_named() {
    let home = Package::valid();
    let package = Package::derived(&Recipe::default(), variants::failed_native_default);
    let found = document(&predicted(&path(&home, "model.json"), &package));
    assert_eq!(found["left_out"], json!(["demo-max-200x128-fp32-br4"]));
    assert_eq!(found["cases"].as_array().unwrap().len(), 3);
}

#[test]
fn the_text_of_a_prediction() {
    let package = Package::valid();
    let mut command = program();
    command.current_dir(package.path()).env("COLUMNS", "80");
    let outcome = Outcome::with(&mut command, &["predict", "model.json", "."], None);
    outcome.require(outcome.stdout.lines().all(|line| line.chars().count() <= 80), "it fits 80 columns");
    insta::assert_snapshot!(outcome.exits(0).stdout, @r"
    Devices
    Both are of one kind: Demonstration GPU, compute capability 89, 6
    multiprocessors

    Frozen model
    frozen               value
    a0                   0.9204858643596148
    aP                   0.001751805756563649
    aD                   0.00030083819783274714
    processor_reference  6
    profile id           f5e8d443465d0397a6d5b6baba862b6f6a92541b1fcf069f11526ce893a
                         17ba5
    model.json is applied to .; nothing is fitted.

    Decisions: time over the default's; lost: slower than the best schedule
    case                       selected  predicted  observed  best     lost %
    demo-max-10x300-fp32-br4   rows2        0.8025    0.8008  rows2      0.00
    demo-max-200x128-fp32-br4  default      1.0000    1.0000  default    0.00
    demo-sum-10x300-fp16-br4   rows2        0.8025    0.7997  rows2      0.00
    demo-sum-64x256-bf16-br8   rows1        0.8676    0.8731  rows1      0.00

    Scores and observed medians, microseconds per operation
    case                       schedule   score  median  off by %   ratio
    demo-max-10x300-fp32-br4   default   1.5419  1.5076     +2.27  1.0000
                               rows1     1.2461  1.2165     +2.43  0.8070
                               rows2     1.2373  1.2073     +2.49  0.8008
    demo-max-200x128-fp32-br4  default   2.3943  2.3607     +1.43  1.0000
                               rows1     2.5801  2.5840     -0.15  1.0946
                               rows2     2.4049  2.3843     +0.86  1.0100
    demo-sum-10x300-fp16-br4   default   1.5419  1.5543     -0.80  1.0000
                               rows1     1.2461  1.2555     -0.76  0.8078
                               rows2     1.2373  1.2429     -0.45  0.7997
    demo-sum-64x256-bf16-br8   default   2.1667  2.1910     -1.11  1.0000
                               rows1     1.8798  1.9129     -1.73  0.8731
                               rows2     1.9007  1.9268     -1.35  0.8794

    Geometries: geometric means of the observed time over the default's
    geometry [R,N,B,W]  cases  held out  policy    best
    [10,300,4,512]          2  no        0.8002  0.8002
    [200,128,4,128]         1  no        1.0000  1.0000
    [64,256,8,256]          1  no        0.8731  0.8731

    Metrics
    metric                                all cases  held out
    cases                                         4  -
    geometries                                    3  -
    selected                                      3  -
    selected regressions                          0  -
    selected regressions over 5 %                 0  -
    worst policy/default                    1.00000  -
    geometry-equal-weight geometric mean   0.887345  -
    the same of the best schedules         0.887345  -

    Result
    another schedule than the default is selected in 3 of 4 cases; policy/default
    0.8873, best possible 0.8873 (geometric means in which each geometry counts
    once)
    no selected schedule ran slower than the default
    median residual over the cases: default +0.31 %, rows1 -0.45 %, rows2 +0.21 %
    the model was fitted on all of the package's geometries, so that no case is held
    out: [10,300,4,512], [200,128,4,128], [64,256,8,256]
    The best schedules are chosen with hindsight, from the medians that they are
    judged by.
    ");
    for format in ["json", "markdown"] {
        let outcome = package.run("predict", &[package.path().to_str().unwrap(), "--format", format]);
        outcome.exits(0);
        outcome.require(!outcome.stdout.is_empty(), format);
    }
    let out = path(&package, "prediction.txt");
    let outcome = package.run("predict", &[package.path().to_str().unwrap(), "-o", &out]);
    outcome.exits(0);
    assert!(outcome.stdout.is_empty() && package.text("prediction.txt").starts_with("Devices\n"));
}
