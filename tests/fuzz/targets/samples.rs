//! `samples.csv`: any bytes at all.

use recount::package::partition::{SampleTable, samples};

use super::scratch::Scratch;

thread_local! {
    static SOUND: Scratch = Scratch::partition();
}

/// No line is lost, and rows that were read are read again as the same.
pub(super) fn run(data: &[u8]) {
    let table = SampleTable::read(data);
    account(data, &table);
    assert!(table.rows.is_sorted_by_key(|row| row.line) && table.rows.iter().all(|row| row.line > 0));
    let cells = |table: &SampleTable| -> Vec<Vec<String>> {
        let row =
            |at: usize| (0..samples::COLUMNS.len()).map(|column| table.rows[at].cell(column).to_owned()).collect();
        (0..table.rows.len()).map(row).collect()
    };
    let rows = cells(&table);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(samples::COLUMNS).expect("a buffer takes everything");
    rows.iter().for_each(|row| writer.write_record(row).expect("a buffer takes everything"));
    let again = SampleTable::read(&writer.into_inner().expect("a buffer takes everything"));
    assert!(again.problems.is_empty(), "{:?}", again.problems);
    assert_eq!(cells(&again), rows);
    SOUND.with(|scratch| {
        let report = scratch.verify_with("samples.csv", data);
        if !table.problems.is_empty() {
            assert!(
                report.findings().any(|finding| finding.file == "samples.csv"),
                "{:?} are no findings",
                table.problems
            );
        }
    });
}

/// Without quotes a record is a line, which is the header, a row or a problem.
fn account(data: &[u8], table: &SampleTable) {
    if data.contains(&b'"') {
        return;
    }
    let lines = data.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty()).count();
    let marked = data.starts_with("\u{feff}".as_bytes());
    // The mark alone is no line.
    let lines = lines - usize::from(marked && data[3..].first().is_none_or(|byte| matches!(byte, b'\n' | b'\r')));
    let besides = ["byte order mark", "the file is empty", "a carriage return that does not end a line"];
    let besides = table.problems.iter().filter(|(_, reason)| besides.iter().any(|one| reason.contains(one))).count();
    let records = table.rows.len() + table.problems.len() - besides;
    assert!(records == lines || records + 1 == lines, "{lines} lines: {} rows, {:?}", table.rows.len(), table.problems);
}

/// The small package's samples, whole and in part, and lines of other kinds.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let own = SOUND.with(|scratch| scratch.file("samples.csv").to_vec());
    let lines: Vec<&[u8]> = own.split_inclusive(|&byte| byte == b'\n').take(6).collect();
    let part = lines.concat();
    let crlf = String::from_utf8_lossy(&part).replace('\n', "\r\n").into_bytes();
    let quoted = [lines[0], b"\"a,\"\"b\n\",default,native,passed,passed,0,1e-7,inf\n,,\n\n\xff,"].concat();
    vec![own, part, crlf, quoted]
}
