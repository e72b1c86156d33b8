//! Two receipts or packages side by side.

use serde_json::{Value, json};

use super::support::{Edit, RECEIPT, Recipe, changed_receipt, obeys, recount};
use Edit::Set;

#[track_caller]
fn compared(left: &str, right: &str) -> (i32, Value) {
    let run = recount(&["divergence", "compare", left, right, "--format", "json"]);
    let document = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    obeys(&document, "recount-divergence-compare-v1.json");
    assert_eq!(document["agrees"], json!(run.status == 0));
    (run.status, document)
}

#[test]
fn a_receipt_agrees_with_itself_and_with_another_run() {
    let (status, document) = compared(RECEIPT, RECEIPT);
    assert_eq!((status, document["figures"].as_array().unwrap().len()), (0, 5 * 2 * 6));
    assert_eq!(document["differences"], json!([]));
    let (_folder, path) = changed_receipt(&[
        Set("/devices/t4/idle/max_drift_coords/0", json!(40)),
        Set("/devices/t4/idle/max_div/0", json!(2.3842e-7)),
        Set("/devices/t4/idle/pairwise_match_rate/0", json!(0.0)),
        Set("/devices/t4/pytorch_version", json!("2.11.1+cu128")),
    ]);
    let (status, document) = compared(RECEIPT, path.to_str().unwrap());
    assert_eq!((status, &document["mattering"]), (0, &json!(0)));
    assert_eq!(document["differences"][0]["what"], "t4: PyTorch");
}

#[test]
fn zero_against_more_than_zero_matters() {
    let (_folder, path) = changed_receipt(&[
        Set("/devices/t4/idle/max_drift_coords/0", json!(0)),
        Set("/devices/t4/idle/max_div/0", json!(0.0)),
        Set("/devices/t4/idle/pairwise_match_rate/0", json!(100.0)),
    ]);
    let (status, document) = compared(RECEIPT, path.to_str().unwrap());
    assert_eq!((status, &document["mattering"]), (1, &json!(1)));
    let rows = document["figures"].as_array().unwrap();
    let row = rows.iter().find(|row| row["matters"] == json!(true)).unwrap();
    assert_eq!((&row["arm"], &row["resolution"], &row["left"]["device"]), (&json!("idle"), &json!(16), &json!("t4")));
    let run = recount(&["divergence", "compare", RECEIPT, path.to_str().unwrap()]);
    assert!(run.status == 1 && run.stdout.contains("1 difference matters; 60 figures compared"), "{}", run.stdout);
    assert!(run.stdout.starts_with("Environment\nA is "), "{}", run.stdout);
    let row = run.stdout.lines().find(|line| line.ends_with("yes")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["idle", "16", "23", "0", "1.1921e-07", "0.0", "0.2", "100.0", "yes"]
    );
    let run = recount(&["divergence", "compare", RECEIPT, path.to_str().unwrap(), "--format", "markdown"]);
    assert!(run.stdout.contains("\n\n| in | key | device |"), "{}", run.stdout);
    let run = recount(&["divergence", "compare", RECEIPT, path.to_str().unwrap(), "-q"]);
    assert!(run.stdout.starts_with("Result\n1 difference matters"), "{}", run.stdout);
}

#[test]
fn a_package_agrees_with_the_receipt_made_of_it() {
    let package = Recipe { kept: vec![2], ..Recipe::default() }.build();
    let folder = tempfile::tempdir().unwrap();
    let receipt = folder.path().join("receipt.json");
    let path = package.path().to_str().unwrap();
    let run = recount(&["divergence", "summarize", path, "--out", receipt.to_str().unwrap(), "-q"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    let (status, document) = compared(path, receipt.to_str().unwrap());
    assert_eq!((status, document["figures"].as_array().unwrap().len()), (0, 2 * 2 * 2), "{document}");
    assert_eq!((&document["only_left"], &document["only_right"]), (&json!([]), &json!([])));
}

#[test]
fn another_protocol_matters() {
    let package = Recipe::default().build();
    let (status, document) = compared(RECEIPT, package.path().to_str().unwrap());
    assert_eq!(status, 1);
    let what: Vec<_> =
        document["differences"].as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert!(what.contains(&"protocol: trials_per_resolution") && what.contains(&"protocol: input_shape"), "{what:?}");
    assert_eq!(document["result"], "nothing could be compared: no device of one side is like one of the other");
}

#[test]
fn what_does_not_verify_cannot_agree() {
    let (_folder, path) = changed_receipt(&[Set("/devices/t4/idle/pairwise_match_rate/0", json!(0.3))]);
    let (status, document) = compared(RECEIPT, path.to_str().unwrap());
    assert_eq!((status, &document["right"]["verifies"]), (1, &json!(false)));
    assert!(document["result"].as_str().unwrap().contains("does not verify"));
}

#[test]
fn what_is_neither_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "text").unwrap();
    let text = recount::seal::receipts_text(folder.path(), &globset::GlobSet::empty()).unwrap();
    recount::seal::write_receipts(folder.path(), &text).unwrap();
    let run = recount(&["divergence", "compare", RECEIPT, folder.path().to_str().unwrap()]);
    assert!(run.status == 2 && run.stderr.contains("it is neither a divergence receipt nor"), "{}", run.stderr);
    let run = recount(&["divergence", "compare", RECEIPT, "/nowhere/at/all"]);
    assert!(run.status == 2 && run.stderr.contains("no such file"), "{}", run.stderr);
}
