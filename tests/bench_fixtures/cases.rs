//! Inventories, and own cases with their refusals.

use recount::bench::partition::cases::{CaseSpec, CasesError, document, held_out, published, read};
use recount::package::json::{Document, compact};
use recount::package::partition::{Operation, Storage};

#[test]
fn the_inventory_is_that_of_the_published_package() {
    let text = compact(&document("Original frozen sixteen-case strict partition inventory.", &published()));
    let shared = std::env::var_os("RECOUNT_SHARED")
        .map_or_else(|| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), std::path::PathBuf::from);
    let file = shared.join("packages/program-partition/cases.json");
    let Ok(recorded) = std::fs::read_to_string(&file) else {
        eprintln!("skipped: {} is not there", file.display());
        return;
    };
    let recorded = Document::parse("cases.json", recorded).unwrap();
    assert_eq!(text, compact(recorded.root()));
}

#[test]
fn the_held_out_inventory_shares_no_geometry_with_the_published_one() {
    let (published, held_out) = (published(), held_out());
    assert_eq!((published.len(), held_out.len()), (16, 12));
    assert!(held_out.iter().all(|case| published.iter().all(|other| other.geometry != case.geometry)));
    assert_eq!(held_out[7].id, "partition-max-11x3073-fp16-br4");
    assert_eq!(held_out[7].geometry.key(), "[11,3073,4,4096]");
    assert_eq!(held_out[10].label().to_string(), "reduce_sum 9x8192 fp32 B8");
}

#[test]
fn a_written_inventory_reads_back() {
    for cases in [published(), held_out()] {
        let text = compact(&document("all", &cases));
        assert_eq!(read("cases.json", text.as_bytes()).unwrap(), cases);
    }
}

#[test]
fn what_is_left_out_has_the_usual_value() {
    let text = br#"{"cases": [
        {"operation": "reduce_max", "dimensions": [5, 33], "precision": "bf16", "rows_per_program": 2},
        {"id": "mine", "operation": "reduce_sum", "dimensions": [1, 1], "precision": "fp32", "tile": [64, 1, 1],
         "rows_per_program": 64, "pattern": "cancellation", "seed": 18446744073709551615}]}"#;
    let [first, second] = read("own.json", text).unwrap().try_into().unwrap();
    assert_eq!(first, CaseSpec::new(Operation::Max, 5, 33, Storage::Bf16, 2));
    assert_eq!((first.id.as_str(), first.geometry.width, first.seed), ("partition-max-5x33-bf16-br2", 64, 20_261_003));
    assert_eq!(first.pattern.name(), "adversarial");
    assert_eq!((second.id.as_str(), second.geometry.key(), second.seed), ("mine", "[1,1,64,1]".to_owned(), u64::MAX));
}

/// A case whose member `name` has the value `json`; without it where `json` is empty.
fn with(name: &str, json: &str) -> String {
    let usual = [
        ("operation", r#""reduce_sum""#),
        ("dimensions", "[17, 1024]"),
        ("tile", "[4, 1024, 1]"),
        ("precision", r#""fp16""#),
    ];
    let kept = usual.iter().filter(|(usual, _)| *usual != name).copied();
    let members = kept.chain([(name, json)]).filter(|(_, json)| !json.is_empty());
    let members: Vec<_> = members.map(|(name, json)| format!(r#""{name}": {json}"#)).collect();
    format!("{{{}}}", members.join(", "))
}

#[test]
fn an_error_names_file_pointer_expectation_and_advice() {
    let rules: [(&str, &str, &str, &[&str]); 27] = [
        ("dimensions", "[0, 1024]", "/dimensions", &["from 1 to 2^28", "[0,1024]"]),
        ("dimensions", "[17, 0]", "/dimensions", &["from 1 to 2^28"]),
        ("dimensions", "[17]", "/dimensions", &["[rows, columns]"]),
        ("dimensions", "[17, -1]", "/dimensions", &["[17,-1]"]),
        ("dimensions", "[17, 1.5]", "/dimensions", &["[17,1.5]"]),
        ("dimensions", "[268435457, 1]", "/dimensions", &["2^28"]),
        ("dimensions", "[268435456, 3]", "/dimensions", &["at most 1073741824 bytes", "fewer rows"]),
        ("dimensions", "", "/dimensions", &["found nothing"]),
        ("tile", "[0, 1024, 1]", "/tile", &["from 1 to 64"]),
        ("tile", "[65, 1024, 1]", "/tile", &["from 1 to 64"]),
        ("tile", "[4, 2048, 1]", "/tile", &["[rows per program, 1024, 1]", "[4,2048,1]"]),
        ("tile", "[4, 1000, 1]", "/tile", &["least power of two"]),
        ("tile", "[4, 1024, 2]", "/tile", &["1024, 1]"]),
        ("tile", "[4, 1024]", "/tile", &["1024, 1]"]),
        ("tile", "", "", &["tile or rows_per_program", "neither"]),
        ("rows_per_program", "8", "/rows_per_program", &["rows per program of the tile", "one of the two"]),
        ("rows_per_program", "0", "/rows_per_program", &["from 1 to 64"]),
        ("precision", r#""fp8""#, "/precision", &["fp16, bf16 or fp32", "fp8"]),
        ("precision", "", "/precision", &["found nothing"]),
        ("operation", r#""reduce_min""#, "/operation", &["reduce_sum or reduce_max", "reduce_min"]),
        ("pattern", r#""adversarial""#, "/pattern", &["cancellation for reduce_sum", "leave it out"]),
        ("seed", "-1", "/seed", &["0 to 2^64 - 1"]),
        ("seed", r#""1""#, "/seed", &["integer"]),
        ("id", r#""../up""#, "/id", &["folder", "letters"]),
        ("id", r#""a/b""#, "/id", &["folder"]),
        ("id", r#""nul.txt""#, "/id", &["folder"]),
        ("row_per_program", "4", "", &["no members but id, operation", "row_per_program"]),
    ];
    for (name, json, pointer, words) in rules {
        let text = format!(r#"{{"schema": 1, "cases": [{}, {}]}}"#, with("id", r#""first""#), with(name, json));
        let error = read("own.json", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("own.json at /cases/1{pointer}: expected ")), "{name} {json}: {error}");
        assert!(error.contains("; ") && words.iter().all(|word| error.contains(word)), "{name} {json}: {error}");
    }
}

#[test]
fn lists_are_refused_that_are_none() {
    let rules = [
        (r#"{"cases": []}"#, "at /cases: expected an array with at least one case, found []"),
        (r#"{"case": []}"#, "at /cases: expected an array with at least one case, found nothing"),
        (r#"{"cases": {"a": 1}}"#, "found an object"),
        (r#"[]"#, "at /cases"),
        (r#"{"cases": [7]}"#, "at /cases/0: expected an object, found 7"),
        (r#"{"schema": 2, "cases": []}"#, "at /schema: expected 1, found 2"),
        ("cases: 1", "found an error at line 1, column 1"),
        (r#"{"cases": [], "cases": []}"#, "/cases appears twice"),
    ];
    for (text, words) in rules {
        let error = read("own.json", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("own.json") && error.contains(words), "{text}: {error}");
    }
    assert!(matches!(read("own.json", b"{\"\xff"), Err(CasesError::Encoding { offset: 2, .. })));
}

#[test]
fn two_cases_of_one_folder_are_refused() {
    let case = |id: &str| with("id", &format!("{id:?}"));
    let text = format!(r#"{{"cases": [{}, {}, {}]}}"#, case("a"), case("b"), case("A"));
    let error = read("own.json", text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        error,
        "own.json at /cases/2/id: expected an id other than that of /cases/0, found \"A\"; give every case an id of its own"
    );
    let same = format!(r#"{{"cases": [{}, {}]}}"#, with("seed", "1"), with("seed", "2"));
    assert!(read("own.json", same.as_bytes()).unwrap_err().to_string().contains("/cases/1/id"));
}
