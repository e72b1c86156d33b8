//! Statements of a README that contradict the data, each beside honest ones that look like it.

use recount::audit::{CheckReport, Code, Severity};

use super::{Package, line_of};

/// Each text is put in the place of another one, which stands in the README.
struct Class {
    /// What it replaces.
    from: &'static str,
    /// Forgeries, each with what is expected instead.
    forged: &'static [(&'static str, &'static str)],
    /// Honest ones.
    honest: &'static [&'static str],
}

const CELL: &str = "| 2.1989 |";

const CLASSES: &[Class] = &[
    Class {
        from: CELL,
        forged: &[
            ("| 2.1989 ms |", "0.0022"),
            ("| 2.1989ms |", "0.0022"),
            ("| 2.1989 ns |", "2198.9028"),
            ("| 2.1989<!-- --> 9.9989 |", "2.1989 alone"),
            ("| <s>2.1989</s> 9.9989 |", "2.1989 alone"),
            ("| 2.1989 / 9.9989 |", "2.1989 alone"),
        ],
        honest: &[
            "| 2.1989 us |",
            "| 2.1989 us/op |",
            "| 2198.9 ns |",
            "| 0.0021989 ms |",
            "| 2.1989 (n = 7) |",
            "| 2.1989 \u{b1} 0.01 |",
            "| 2.1989 (2.38x) |",
            "| 2.1989 [1] |",
            "| 2.19<!-- note -->89 |",
            "| 2.1989 / 0.979 |",
        ],
    },
    Class {
        from: "Times are microseconds per operation",
        forged: &[
            ("Times are milliseconds per operation", "microseconds, which the medians are in"),
            ("All medians are in ns", "microseconds, which the medians are in"),
            ("Milliseconds per operation", "microseconds, which the medians are in"),
        ],
        honest: &[
            "All times in \u{b5}s",
            "Times are microseconds, not milliseconds",
            "Times are medians",
            "Sample targets are in milliseconds, and host times are in ms",
        ],
    },
    Class {
        from: "original 16-case",
        forged: &[("original 15-case", "16 (cases)"), ("original fifteen-case", "16 (cases)")],
        honest: &["original sixteen-case", "original"],
    },
    Class {
        from: "seven adaptive graph samples",
        forged: &[
            ("nine adaptive graph samples", "7 (samples)"),
            ("five adaptive graph samples", "7 (samples)"),
            ("six samples", "7 (samples)"),
        ],
        honest: &["7 adaptive graph samples", "seven samples", "adaptive samples, the first two samples of it warm,"],
    },
    Class {
        from: "no observed selected regressions",
        forged: &[
            ("three observed selected regressions", "0 (regressions among the selected)"),
            ("one selected regression", "0 (regressions among the selected)"),
        ],
        honest: &["zero observed selected regressions", "two regressions of the toolchain apart"],
    },
    Class {
        from: "one Torch compile process",
        forged: &[
            ("two Torch compile processes", "1 (failed processes of this route)"),
            ("3 Torch processes", "1 (failed processes of this route)"),
        ],
        honest: &["1 Torch compile process", "a Torch compile process"],
    },
    Class {
        from: "choose rows1 for 14 cases",
        forged: &[
            ("choose rows2 for 14 cases", "0 (cases that take this schedule)"),
            ("choose the default for 14 cases", "2 (cases that take this schedule)"),
            ("choose rows1 for twelve cases", "14 (cases that take this schedule)"),
        ],
        honest: &[
            "choose rows1 in 14 cases",
            "choose rows1 for fourteen cases",
            "choose rows2 for 0 cases, rows1 for 14 cases",
        ],
    },
    Class {
        from: "two 1024x512 defaults",
        forged: &[
            ("three 1024x512 defaults", "2 (cases of this shape)"),
            ("two 1024x513 defaults", "the shape of a case, such as 1024x512"),
        ],
        honest: &["2 1024x512 defaults", "1024x512 defaults"],
    },
    Class {
        from: "all eight nonnegative",
        forged: &[("all nine nonnegative", "8 (subsets of the features)")],
        honest: &["all 8 nonnegative"],
    },
    Class {
        from: "regressions at 1024x512.",
        forged: &[
            ("regressions at 1024x513.", "the shape of a case, such as 1024x512"),
            ("regressions at 1023x512.", "the shape of a case, such as "),
            ("regressions of SUM 1024x256.", "the shape of a case, such as 1024x512"),
        ],
        honest: &["regressions at 1024x512, not at another such as SUM 2048x512.", "regressions, in tiles of 4x512."],
    },
    Class {
        from: "RTX 4060",
        forged: &[
            ("RTX 4090", "RTX 4060 (the recorded device)"),
            ("GeForce RTX-4090", "RTX 4060 (the recorded device)"),
        ],
        honest: &["NVIDIA GeForce RTX 4060", "rtx4060", "RTX 4000-series", "A100"],
    },
    Class {
        from: "**+82.06%** (BF16 MAX 128x2048 rows1)",
        forged: &[
            ("**+82.06%** (BF16 SUM 128x2048 rows2)", "128x2048 bf16 B8 with rows1 (the residual)"),
            ("**+82.06%** (MAX 256x128 rows1)", "128x2048 bf16 B8 with rows1 (the residual)"),
            ("+82.06%, that of reduce_max 128x2048 bf16 B8 with rows2", "128x2048 bf16 B8 with rows1 (the residual)"),
        ],
        honest: &[
            "**+82.06%** (MAX 128x2048, rows1)",
            "+82.06%, that of reduce_max 128x2048 bf16 B8 with rows1",
            "+82% for BF16 MAX 128x2048",
            "+82.06% (far from MAX 37x257 rows1)",
        ],
    },
    Class {
        from: "ceil(P/24)",
        forged: &[
            ("ceil(P/25)", "24 (processors in the model's formula)"),
            ("ceil(P / 48)", "24 (processors in the model's formula)"),
        ],
        honest: &["ceil(P / 24)", "ceil(P/S)", "ceil(R/8)"],
    },
    Class {
        from: "default cohort remains **failed**",
        forged: &[
            ("default cohort remains **passed**", "failed (the status of default)"),
            ("default cohort is marked as passed", "failed (the status of default)"),
            ("rows1 cohort is failed", "passed (the status of rows1)"),
        ],
        honest: &[
            "default cohort was recorded as failed",
            "default cohort passed all native checks",
            "rows2 cohort is passed",
            "default cohort is **not** passed",
        ],
    },
    Class {
        from: "`0x15400`",
        forged: &[("`0x15401`", "(recorded masks)"), ("0x1", "(recorded masks)"), ("`0x1540000`", "(recorded masks)")],
        honest: &["0x15400", "`0x0015400`", "of all"],
    },
];

#[test]
fn forged_statements_are_told_from_honest_ones() {
    let package = published!();
    let described = |report: &CheckReport| {
        let findings = report.findings.iter();
        findings
            .map(|finding| format!("{}: {} for {}", finding.code.name(), finding.expected, finding.found))
            .collect::<Vec<_>>()
    };
    let mut failures = Vec::new();
    for Class { from, forged, honest } in CLASSES {
        for (to, expected) in *forged {
            let report = package.with(package.replaced(from, to));
            let is_said = report.findings.iter().any(|finding| {
                let code = if *from == CELL { Code::ProseTable } else { Code::ProseStatement };
                finding.code == code && finding.expected.contains(expected) && finding.place.column.is_some()
            });
            if !is_said || report.findings.len() != 1 {
                failures.push(format!("{from} -> {to}: {:?}", described(&report)));
            }
        }
        for to in *honest {
            let report = package.with(package.replaced(from, to));
            if !report.findings.is_empty() {
                failures.push(format!("honest: {from} -> {to}: {:?}", described(&report)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn honest_sentences_of_other_things_are_left_alone() {
    let package = published!();
    for text in [
        "Each process ran one sample at a time; two samples of it were slow, and no native run failed.",
        "A two-sample check: in each case three raw samples were outliers.",
        "Each of two samples is kept. Each process discards two samples before seven samples are taken.",
        "Held-out cases such as SUM 31x1024 FP16 are in another package.",
        "For MAX 4096x4096, the time is spent in memory; by default SUM 4096x4096 has 1024 programs.",
        "Tiles are 4x512, padded MAX 37x512 in rows1, and the median is that of 37x257.",
        "With active mask 0x5 the fit has two features; the mask 0x7 of the process is another one.",
        "One Torch process exited with `0xC000070A`; no other process failed.",
        "Two of the cases, one for each algebra, keep the default.",
        "The maximum relative residual is +82.06%, far from that of MAX 37x257 rows1.",
        "No regressions were observed over 5%; two separate regressions of the compiler are gone.",
        "All sixteen cases ran; eight cases are MAX, eight are SUM. All three rescue cohorts passed.",
        "Sixteen native runs of rows1 took one hour. One native run for each case and cohort.",
        "On an RTX 4090 this would differ; it was not measured on an RTX 3060.",
        "The default cohort passed natively; a passed cohort is a whole one.",
        "Drift reached +0.303% (SUM 65x512 FP32); 1.3524 us (BF16 SUM 128x2048 rows1) is fast.",
        "Address 0x7fff and 0x15 are no masks.",
    ] {
        package.assert_clean(&format!("{}\n{text}\n", package.readme));
    }
    // Where nothing names the recorded device, another one may still be spoken of.
    let anonymous = package.replaced("an RTX 4060 Laptop GPU", "a laptop GPU");
    package.assert_clean(&format!("{anonymous}\nOn an RTX 4090 this would differ.\n"));
}

/// The lines of the table of medians.
pub(super) fn table(readme: &str) -> String {
    let lines = readme.lines().filter(|line| line.starts_with('|'));
    lines.collect::<Vec<_>>().join("\n")
}

/// The table as HTML.
pub(super) fn html(table: &str) -> String {
    let row = |(index, line): (usize, &str)| {
        let tag = if index == 0 { "th" } else { "td" };
        let cells = line.trim_matches('|').split('|').map(|cell| format!("<{tag}>{}</{tag}>", cell.trim()));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = table.lines().enumerate().filter(|&(index, _)| index != 1).map(row).collect();
    format!("<table>\n{rows}</table>")
}

#[test]
fn a_header_without_rows_lacks_every_case() {
    let package = published!();
    let table = table(&package.readme);
    let header: Vec<&str> = table.lines().take(2).collect();
    for rest in ["", "\n| ... | ... | | | | | |"] {
        let readme = package.readme.replace(&table, &(header.join("\n") + rest));
        let report = package.with(&readme);
        assert_eq!(report.findings.len(), 16, "{rest}: {:#?}", report.findings);
        for finding in &report.findings {
            assert_eq!((finding.code, finding.found.as_str()), (Code::ProseTable, "none"));
            assert_eq!(finding.place.line, Some(line_of(&readme, "| Default |")));
        }
    }
    // A README need not show medians, and an empty table is no loss beside a whole one.
    package.assert_clean(&package.readme.replace(&table, ""));
    package.assert_clean(&package.readme.replace(&table, &format!("{}\n\n{table}", header.join("\n"))));
    package.assert_clean(
        &package.readme.replace(&table, &format!("| Setting | Default | Rows1 |\n|---|---|---|\n\n{table}")),
    );
}

#[test]
fn tables_in_code_blocks_and_html_are_compared_if_they_are_simple() {
    let package = published!();
    let table = table(&package.readme);
    let forged = table.replace("| 2.1989 |", "| 2.9989 |");
    let fenced = |table: &str| format!("```text\n{table}\n```");
    let indented = |table: &str| table.lines().map(|line| format!("    {line}\n")).collect::<String>();
    for shown in [&fenced as &dyn Fn(&str) -> String, &indented, &html] {
        package.assert_clean(&package.readme.replace(&table, &shown(&table)));
        let report = package.with(package.readme.replace(&table, &shown(&forged)));
        let [finding] = report.findings.as_slice() else { panic!("{}: {:#?}", shown(&forged), report.findings) };
        assert_eq!(
            (finding.code, finding.expected.as_str(), finding.found.as_str()),
            (Code::ProseStatement, "2.1989", "2.9989")
        );
        let line = package.readme.replace(&table, &shown(&forged));
        assert_eq!(finding.place.line, Some(line_of(&line, "2.9989")));
    }
    let second = format!("{}\n{}\n", package.readme, html(&forged).replace("2.9989", "<b>2&#46;9989</b>"));
    assert_eq!(package.with(second).findings.len(), 1);
    let headless = "<table><tr><td>reduce_sum 17x1024 fp16 B4</td><td>9.9999</td></tr></table>";
    let report = package.with(format!("{}\n{headless}\n", package.readme));
    let [finding] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    assert_eq!((finding.code, finding.severity), (Code::ProseUntraced, Severity::Warning));
}

#[test]
fn tables_that_are_not_read_are_noted() {
    let package = published!();
    let table = table(&package.readme);
    let example: Vec<&str> = table.lines().take(4).collect();
    let spanned = html(&table).replacen("<td>2.1989", "<td colspan=2>2.9989", 1);
    let aligned = "reduce_sum 17x1024 fp16 B4  2.9989 0.9\nreduce_max 17x1024 fp16 B4  2.9989 0.9";
    for (text, is_noted) in [
        (format!("```\n{}\n```", example.join("\n").replace("2.1989", "<time>")), true),
        (spanned, true),
        ("<table><tr><td>1</td></tr>".to_owned(), true),
        (format!("```\n{aligned}\n```"), true),
        ("```text\ngeometric mean 0.9999\n| a | b |\n|---|---|\n| 1 | 2 |\n```".to_owned(), false),
        ("<table><tr><th>a</th></tr><tr><td>1</td></tr></table>".to_owned(), false),
        ("<details>\n<summary>More</summary>\n\nText.\n\n</details>".to_owned(), false),
    ] {
        let report = package.with(format!("{}\n\n{text}\n", package.readme));
        assert!(report.findings.is_empty(), "{text}: {:#?}", report.findings);
        let has_note = report.notes.iter().any(|note| note.contains("was not compared"));
        assert_eq!(has_note, is_noted, "{text}: {:?}", report.notes);
    }
}

#[test]
fn a_table_in_another_unit_is_compared_in_it() {
    let package = published!();
    let scaled = |cell: &str| cell.parse::<f64>().map_or_else(|_| cell.to_owned(), |time| format!("{:.7}", time / 1e3));
    let rows = package.readme.lines().map(|line| {
        if !line.starts_with("| reduce_") {
            return line.to_owned();
        }
        let cells: Vec<String> = line.split('|').map(|cell| format!(" {} ", scaled(cell.trim()))).collect();
        cells.join("|").trim().to_owned()
    });
    let readme = rows.collect::<Vec<_>>().join("\n") + "\n";
    package.assert_clean(&readme.replace("Times are microseconds", "Times are milliseconds"));
    let behind = readme.replace("Times are microseconds per operation. ", "");
    package
        .assert_clean(&behind.replace("\n\nThe separate retry", "\n\nTimes are milliseconds.\n\nThe separate retry"));
    assert_eq!(package.with(readme).findings.len(), 79);
}
