//! The README of the published package against its data, as it is, forged, rephrased and hostile.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[path = "common/shared.rs"]
#[allow(dead_code, reason = "this test reads whole folders, not single texts")]
mod shared;

use std::fs;
use std::time::{Duration, Instant};

use recount::audit::{CheckReport, Code, Family, Finding, Options, Outcome, Severity, verify};
use recount::selftest::leaves;
use tempfile::TempDir;

/// A copy of the published package whose README can be replaced. Its receipts then no longer fit, which is another
/// family's concern.
struct Package {
    folder: TempDir,
    readme: String,
}

impl Package {
    fn published() -> Option<Self> {
        let source = shared::shared("packages/program-partition")?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        for entry in fs::read_dir(&source).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.path().is_file() {
                fs::write(folder.path().join(entry.file_name()), fs::read(entry.path()).expect("readable"))
                    .expect("written");
            }
        }
        let readme = fs::read_to_string(source.join("README.md")).expect("a README");
        Some(Self { folder, readme })
    }

    /// The prose family's report for another README.
    fn with(&self, readme: impl AsRef<[u8]>) -> CheckReport {
        fs::write(self.folder.path().join("README.md"), readme).expect("written");
        self.check()
    }

    fn check(&self) -> CheckReport {
        let report = verify(self.folder.path(), "package", &Options::default(), &|_| {});
        report.checks.into_iter().find(|check| check.family == Family::Prose).expect("the prose family")
    }

    /// The README with one text replaced, which must stand in it.
    fn replaced(&self, from: &str, to: &str) -> String {
        assert!(self.readme.contains(from), "{from:?} is not in the README");
        self.readme.replacen(from, to, 1)
    }

    /// The only finding after one text was replaced.
    fn finding(&self, from: &str, to: &str) -> Finding {
        let readme = self.replaced(from, to);
        let report = self.with(&readme);
        let [finding] = report.findings.as_slice() else {
            panic!("{from} -> {to}: {} findings: {:#?}", report.findings.len(), report.findings)
        };
        // Findings point at the line that was changed.
        let lines: Vec<usize> = readme
            .lines()
            .zip(self.readme.lines())
            .enumerate()
            .filter(|(_, (new, old))| new != old)
            .map(|(index, _)| index + 1)
            .collect();
        assert_eq!(lines, [finding.place.line.expect("a line")], "{from} -> {to}");
        finding.clone()
    }

    /// That a README has no finding at all.
    fn assert_clean(&self, readme: &str) {
        let report = self.with(readme);
        assert!(report.findings.is_empty(), "{readme}\n{:#?}", report.findings);
    }
}

macro_rules! published {
    () => {
        match Package::published() {
            Some(package) => package,
            None => return,
        }
    };
}

#[path = "prose/statements.rs"]
mod statements;

#[path = "prose/calm.rs"]
mod calm;

fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).expect("a line") + 1
}

#[test]
fn the_published_readme_is_clean() {
    let package = published!();
    let report = package.with(&package.readme);
    assert_eq!(report.findings, [], "{:#?}", report.findings);
    assert_eq!(report.outcome, Outcome::Passed);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    // 79 medians, one missing, 16 decisions, 16 rows, 15 decimals in sentences, and counts.
    assert!(report.tally.exact > 79 + 1 + 16 + 16 + 15, "{:?}", report.tally);
}

#[test]
fn forged_decimals_are_caught() {
    let package = published!();
    let mut random = fastrand::Rng::with_seed(1);
    let forgeries: Vec<_> =
        leaves("README.md", &package.readme).into_iter().map(|leaf| leaf.forge(&package.readme, &mut random)).collect();
    assert_eq!(forgeries.len(), 94);
    let mut missed = Vec::new();
    let mut warned = Vec::new();
    for forgery in &forgeries {
        let mut forged = package.readme.clone();
        forged.replace_range(forgery.range.clone(), &forgery.replacement);
        let findings = package.with(&forged).findings;
        let line = package.readme[..forgery.range.start].matches('\n').count() + 1;
        assert!(findings.iter().all(|finding| finding.place.line == Some(line)), "{forgery:?}: {findings:#?}");
        match findings.iter().map(|finding| finding.severity).max() {
            None => missed.push(&forgery.pattern),
            Some(Severity::Warning) => warned.push(&forgery.pattern),
            Some(_) => {}
        }
    }
    eprintln!("missed {missed:?}, warned {warned:?}");
    assert!(missed.is_empty() && warned.is_empty(), "missed {missed:?}, warned {warned:?}");
}

#[test]
fn forged_integers_are_caught() {
    let package = published!();
    for (from, to, expected) in [
        ("**567 retained raw", "**568 retained raw", "567 (samples)"),
        ("all 567 samples", "all 566 samples", "567 (samples)"),
        ("There are 64 main", "There are 65 main", "64 (executions with times)"),
        ("15 initial Torch executions", "16 initial Torch executions", "15 (executions with times)"),
        ("All 16 original native", "All 15 original native", "16 (executions with times)"),
        ("uses 48 observations", "uses 47 observations", "48 (observations)"),
        ("(16 cases x", "(15 cases x", "16 (cases)"),
        ("24 SMs", "25 SMs", "24 (multiprocessors)"),
        ("**8 groups**", "**9 groups**", "8 (geometries)"),
        ("100 operations per graph", "99 operations per graph", "100 (operations in a graph)"),
        ("SM89", "SM90", "SM89 (compute capability)"),
        ("500 ms warmup", "501 ms warmup", "500 ms (the warm-up's target)"),
        ("targeting 100 ms", "targeting 101 ms", "100 ms (a sample's target)"),
        ("than 5% lower", "than 6% lower", "5% (the policy's improvement fraction)"),
        ("`aP=0`", "`aP=1`", "0 (the recorded coefficient)"),
        ("`0154c82ec`", "`0154c82ed`", "0154c82ec (captured_head)"),
        ("`C000070A`", "`C000070B`", "C000070A (exit status of the failed process)"),
    ] {
        let finding = package.finding(from, to);
        assert_eq!((finding.code, finding.expected.as_str()), (Code::ProseClaim, expected), "{from} -> {to}");
        assert!(finding.place.column.is_some());
    }
}

#[test]
fn what_only_words_explain_is_a_warning() {
    let package = published!();
    for (from, to, expected) in [
        ("16-case default", "17-case default", "16 (cases)"),
        ("rows1 for 14 cases", "rows1 for 13 cases", "14 (cases that take this schedule)"),
        ("one Torch compile process", "four Torch compile processes", "1 (failed processes of this route)"),
    ] {
        let finding = package.finding(from, to);
        assert_eq!((finding.code, finding.severity), (Code::ProseStatement, Severity::Warning), "{from} -> {to}");
        assert_eq!(finding.expected, expected, "{from} -> {to}");
    }
}

#[test]
fn forged_cells_name_their_column_and_the_right_value() {
    let package = published!();
    for (from, to, column, expected) in [
        ("| 0.9235 |", "| 0.9236 |", "Rows1", "0.9235"),
        ("| 2.1989 |", "| 2.198 |", "Default", "2.199"),
        ("| 1.3005 |", "| 1.30052 |", "Rows2", "1.30051"),
        ("| 2.1985 |", "| -2.1985 |", "Recheck", "2.1985"),
        ("| 0.9790 |", "| missing |", "Initial Torch", "0.9790"),
        ("| missing |", "| 1.2831 |", "Initial Torch", "missing"),
        ("6.3253 | missing | rows1", "6.3253 | missing | rows2", "LOGO selection", "rows1"),
        ("2.5812 | default", "2.5812 | rows1", "LOGO selection", "default"),
    ] {
        let finding = package.finding(from, to);
        assert_eq!(finding.code, Code::ProseTable, "{from} -> {to}");
        assert_eq!(finding.place.field.as_deref(), Some(column), "{from} -> {to}");
        assert_eq!(finding.expected, expected, "{from} -> {to}");
        assert!(finding.place.column.is_some_and(|column| column > 1));
    }
}

#[test]
fn cells_may_be_printed_with_other_digits_and_words() {
    let package = published!();
    package.assert_clean(&package.replaced("| 2.1989 | 0.9235 |", "| 2.2 | 0.923461 |"));
    package.assert_clean(&package.replaced("| 2.1989 | 0.9235 |", "| **2.20** us | `0.92` |"));
    package.assert_clean(&package.replaced("| missing |", "| n/a |"));
    package.assert_clean(&package.replaced("| missing |", "| |"));
    package.assert_clean(&package.replaced("| Default |", "| Default (us/op) |"));
    package.assert_clean(&package.replaced("| reduce_sum 17x1024 fp16 B4 |", "| `partition-sum-17x1024-fp16-br4` |"));
}

#[test]
fn rows_may_stand_in_any_order_but_once_each() {
    let package = published!();
    let row = |part: &str| package.readme.lines().find(|line| line.starts_with(part)).expect("a row").to_owned() + "\n";
    let first = row("| reduce_sum 17x1024");
    let last = row("| reduce_max 256x128");
    let without = package.readme.replacen(&first, "", 1);
    package.assert_clean(&without.replacen(&last, &format!("{last}{first}"), 1));

    let report = package.with(&without);
    let [missing] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    assert_eq!(missing.code, Code::ProseTable);
    assert_eq!(missing.expected, "a row for reduce_sum 17x1024 fp16 B4");
    assert_eq!(missing.place.line, Some(line_of(&without, "| Default |")));

    let twice = package.readme.replacen(&last, &format!("{last}{first}"), 1);
    let report = package.with(&twice);
    let [duplicate] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    assert_eq!((duplicate.code, duplicate.expected.as_str()), (Code::ProseTable, "one row for each case"));
    assert_eq!(duplicate.place.line, Some(line_of(&twice, "| reduce_max 256x128") + 1));

    let unknown = package.readme.replacen(&last, &format!("{last}{}", first.replace("17x1024", "18x1024")), 1);
    let report = package.with(&unknown);
    let [unknown] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    assert_eq!((unknown.code, unknown.found.as_str()), (Code::ProseTable, "reduce_sum 18x1024 fp16 B4"));
}

#[test]
fn forged_sentences_say_what_was_expected() {
    let package = published!();
    for (from, to, expected) in [
        ("-0.537%", "-0.538%", "-0.537% (smallest drift of the recheck)"),
        ("+0.303%", "+0.31%", "+0.30% (largest drift of the recheck)"),
        ("**0.56988747**", "**0.5699**", ""),
        ("**0.56988747**", "**0.5698**", "0.5699 (geometric mean of the folds' policy)"),
        ("**+82.06%**", "**+82.1%**", ""),
        ("**+82.06%**", "**-82.06%**", "82.06% (largest relative residual of the folds)"),
        ("**3.898 us**", "**3.89 us**", "3.90 us (largest absolute residual of the folds)"),
        ("CUDA 13.4", "CUDA 13.3", "13.4 (CUDA driver version)"),
        ("**1.2831 us**", "**1.283 us**", ""),
        ("+0.016%", "-0.016%", "retest against the original native median"),
        ("The 1.89%", "The 2.89%", "rows1 against default"),
        ("a0=0.9028899747245084", "a0=0.9028899747245085", "0.9028899747245084 (the recorded coefficient)"),
        ("aD=0.00011327031090119965", "aD=0.00011327", ""),
        ("aD=0.00011327031090119965", "aD=1.1327e-4", ""),
        ("aD=0.00011327031090119965", "aD=1.1328e-4", "1.1327e-4 (the recorded coefficient)"),
    ] {
        if expected.is_empty() {
            package.assert_clean(&package.replaced(from, to));
            continue;
        }
        let finding = package.finding(from, to);
        assert_eq!(finding.code, Code::ProseClaim, "{from} -> {to}");
        assert!(finding.expected.contains(expected), "{from} -> {to}: {}", finding.expected);
    }
}

#[test]
fn crlf_changes_nothing() {
    let package = published!();
    let crlf = |text: &str| text.replace('\n', "\r\n");
    package.assert_clean(&crlf(&package.readme));
    let report = package.with(crlf(&package.replaced("| 0.9235 |", "| 0.9236 |")));
    let [finding] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    assert_eq!(finding.place.line, Some(line_of(&package.readme, "| 0.9235 |")));
}

#[test]
fn what_cannot_be_read_is_not_run() {
    let package = published!();
    let not_run = |report: CheckReport, part: &str| match report.outcome {
        Outcome::NotRun(reason) => assert!(reason.contains(part), "{reason}"),
        other => panic!("{other:?}"),
    };
    not_run(package.with(b"# Results\n\n0.5\xff\n"), "not UTF-8 text from byte 14 on");
    not_run(package.with(""), "nothing to compare");
    let empty = package.with("# Results\n\nNo numbers here, see 3 other files.\n");
    assert!(empty.notes.iter().any(|note| note.contains("no table of medians")), "{:?}", empty.notes);
    not_run(empty, "nothing to compare");
    fs::remove_file(package.folder.path().join("README.md")).expect("removed");
    not_run(package.check(), "README.md");
}

#[test]
fn a_number_that_nothing_explains_is_a_warning() {
    let package = published!();
    let finding = package.finding("small changes, not robust", "small changes (power factor 37.25), not robust");
    assert_eq!((finding.code, finding.severity), (Code::ProseUntraced, Severity::Warning));
    assert_eq!(finding.found, "37.25");
}

#[test]
fn other_words_for_the_same_facts_are_no_errors() {
    let package = published!();
    for text in [
        "Across the 16 cases, re-measuring the default drifted between -0.54 % and 0.30 %.",
        "Drift stayed under 1%, at most 0.6 %.",
        "The policy's geomean is 0.57, i.e. 1.755x faster than always using the default schedule.",
        "Selected schedules need 57% of the default's time (geometric mean).",
        "On average the geometric mean improves by 43.0%.",
        "For MAX 37x257, rows1 is 1.9% faster than default; rows2 gains 3.8%.",
        "SUM 17x1024 drops from 2.199 us to 0.923 us with rows1, a speedup of 2.38x.",
        "reduce_sum 3x8191 bf16 B4 took 4.90 us by default and 1.40 us with rows1 (Torch 1.97 us).",
        "At 1024x512 the rows1 schedule is 13.5% slower than the default for SUM and 8.4% slower for MAX.",
        "The worst fold misses by 82% relative and 3.9 us absolute.",
        "Largest residuals: +82.1% (relative), 3.90 us (absolute).",
        "We recorded 567 samples: 455 native samples and 112 Torch samples.",
        "Each run has 7 samples, each of about 100 ms after 500 ms of warm-up.",
        "65 native executions and 16 Torch executions have times; 1 Torch process failed with `0xC000070A`.",
        "14 of 16 cases select rows1, 2 cases keep the default.",
        "rows1 is faster than Torch in 9 cases.",
        "Python 3.12, PyTorch 2.9, NumPy 2.3.5, driver 617.14, LLVM 22.1, Windows 11.",
        "GPU: compute capability 8.9 (SM89), 24 SMs, CUDA 13.4; requires SM80 or newer.",
        "CUDA toolkit 12.8 and CUDA 13.4.",
        "Fixed in commit `0154c82eca51`; started 2026-10-03 10:27:13, mask `0x15400`.",
        "The optimum is a0 = 0.90289 us, aP = 0 and aD = 1.1327e-4.",
        "A candidate is taken when its predicted score is less than 0.95 of the default, that is by 5%.",
        "Values agree within a relative tolerance of 1e-12; outputs are bounded by 1e-3.",
        "The retry of SUM 65x2048 FP16 gave 1.283 us for Torch and 6.327 us natively, 0.02% from the first run.",
        "Three cohorts of 16 cases, 8 geometries, 8 folds; 7 folds agree.",
        "See section 2.1 and https://example.org/v1.25/0.77.html or [this](https://example.org/0.123).",
        "| quantity | value |\n|---|---|\n| geometric mean | 0.5699 |\n| recheck drift, max | 0.30% |\n| cases | 16 |",
        "```text\ngeometric mean 0.9999\n```",
        "| case | default | rows1 | rows1/default | GB/s | stdev |\n|---|---|---|---|---|---|\n| reduce_sum 17x1024 fp16 B4 | 2.1989 | 0.9235 | 0.420 | 812 | 0 |",
        "GPU time drifts are small: native medians of SUM 17x1024 rows1 lie between 0.9226 us and 0.9235 us per sample.",
        "We chose 5% because a margin of 2% is noise; the 95% interval and 2 of 3 reviewers agree.",
        "The model explains little: an R of 1 would be 100%. Batch 8, 4 threads, 2 GPUs, 3 samples looked odd.",
        "Drift is within noise for 100% of cases, and residuals are small in 90% of them.",
        "Predictions are off by more than 50%; fewer than 30% are within 5%.",
        "Improvements range from 1.9% to 75%, that is up to 4.0x; most exceed 10%.",
        "Rows2 alone has a geometric mean of 0.7232 over default.",
        "A mean of 100 operations per graph; 100 operations per second were not measured.",
    ] {
        let report = package.with(text);
        // A table of some cases only lacks the others; that is another test's.
        let other = report.findings.iter().filter(|finding| finding.found != "none");
        let errors: Vec<_> = other.map(|finding| (finding.code.name(), &finding.expected, &finding.found)).collect();
        assert!(errors.is_empty(), "{text}\n{errors:?}");
    }
}

#[test]
fn other_words_for_wrong_facts_are_errors() {
    let package = published!();
    for (text, expected) in [
        ("Re-measuring the default drifted between -0.64 % and 0.30 %.", "-0.54%"),
        ("The geomean is 0.58.", "0.57 "),
        ("SUM 17x1024 drops from 2.199 us to 0.933 us with rows1.", "0.923 us"),
        ("Largest residuals: +83.1% (relative).", "82.1%"),
        ("We recorded 568 raw samples.", "567"),
        ("a0 = 0.90288", "0.90289"),
        ("Compute capability 9.0.", "8.9"),
        ("The improvement of MAX 37x257 by rows1 is 1.8%.", "1.9%"),
        ("| metric | value |\n|---|---|\n| geometric mean | 0.5799 |", "0.5699"),
    ] {
        let report = package.with(text);
        assert_eq!(report.outcome, Outcome::Failed, "{text}: {:#?}", report.findings);
        let said = report
            .findings
            .iter()
            .any(|finding| finding.code == Code::ProseClaim && finding.expected.contains(expected));
        assert!(said, "{text}: {:#?}", report.findings);
    }
}

#[test]
fn hostile_readmes_end_quickly() {
    let package = published!();
    let row = "| reduce_sum 17x1024 fp16 B4 | 9.9 | 9.9 |\n";
    let table = format!("| case | default | rows1 |\n|---|---|---|\n{}", row.repeat(20_000));
    let size = 1_000_000;
    let filled = |unit: &str| unit.repeat(size / unit.len());
    for (name, readme) in [
        ("five megabytes", "0.123 ".repeat(900_000)),
        ("decimals", filled("0.123 ")),
        ("named decimals", filled("drift 0.123% MAX 37x257 9.99 us ")),
        ("one digit string", format!("drift 0.{}%", filled("3"))),
        ("one word", filled("a")),
        ("thousands", filled("1,234,567,")),
        ("shapes", filled("37x257 ")),
        ("points", filled("1.")),
        ("signs", filled("-")),
        ("quotes", filled(">")),
        ("brackets", filled("[")),
        ("stars", filled("*a_")),
        ("backticks", filled("`1` ``")),
        ("nested lists", (0..1000).map(|depth| " ".repeat(depth) + "- 1.5\n").collect()),
        ("table rows", table),
        ("wide table", format!("|{}\n|{}\n|{}\n", filled("d|"), filled("-|"), "1.5|".repeat(1000))),
        ("tables", filled("|a|default|\n|-|-|\n|reduce_sum 17x1024 fp16 B4|1.5|\n\n")),
        ("tables with more columns", filled("|a|default|GB|\n|-|-|-|\n|reduce_sum 17x1024 fp16 B4|1.5|77.123456|\n\n")),
        ("cells of HTML", filled("<table><tr><td>reduce_sum 17x1024 fp16 B4</td><td>1.5 &&</td></tr></table>\n")),
        ("open HTML", filled("<table><tr><td>&#")),
        (
            "rows in a code block",
            format!("```\n| a | default |\n|-|-|\n{}```\n", filled("| reduce_sum 17x1024 fp16 B4 | 1.5 |\n")),
        ),
        (
            "tables in a code block",
            format!("```\n{}```\n", filled("|a|default|\n|-|-|\n|reduce_sum 17x1024 fp16 B4|1.5|\n")),
        ),
        ("unknown shapes", filled("the median of SUM 38x258 is measured ")),
        ("numerals", filled("each run took nine 1024x512 defaults ")),
        ("masks", filled("process mask 0x15401 ")),
        ("multibyte", filled("\u{2212}0.5 \u{b5}s \u{1f600} ")),
    ] {
        let start = Instant::now();
        let _ = package.with(&readme);
        let taken = start.elapsed();
        eprintln!("{name}: {taken:?}");
        assert!(taken < Duration::from_secs(10), "{name}: {taken:?}");
    }
}

#[test]
fn no_text_makes_it_panic() {
    let package = published!();
    let pieces = [
        "0.123",
        "-",
        "+",
        "\u{2212}",
        "1e-12",
        "1e",
        "%",
        " us",
        "x",
        "37x257",
        "\u{d7}",
        "MAX",
        "SM89",
        "sm_90a",
        "drift ",
        "`",
        "`C000070A`",
        "commit ",
        "|",
        "\n",
        "\n|-|-|\n",
        "| a | default |\n",
        "reduce_sum 17x1024 fp16 B4",
        "(",
        "](",
        "&amp;",
        "&nbsp;",
        "\0",
        "\u{1f600}",
        "\u{b5}s",
        "e.g.",
        ". ",
        ",",
        "1,024",
        "a0=",
        "567 samples",
        "and 3+4 ",
        "\r\n",
        "> ",
        "- ",
        "# ",
        "**",
        "http://",
        "2026-10-03",
        "1.2.3",
        "10:27",
        "CUDA 13.4",
        "\u{feff}",
        " of ",
        "99999999999999999999",
        "0x",
        "<table><tr><td>",
        "</td></tr></table>\n\n",
        "&#x",
        "&#46;",
        "```\n",
        "<!--",
        "seven samples",
        "each run took ",
        "mask 0x1",
        "RTX 4090",
        "ceil(P/25)",
        "default cohort is passed",
        "Times are in ms",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..150 {
        let text: String = (0..random.usize(1..300)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        let report = package.with(&text);
        let lines = text.split('\n').count();
        for finding in &report.findings {
            assert!(finding.place.line.is_some_and(|line| (1..=lines).contains(&line)), "{text:?}: {finding:?}");
        }
    }
}
