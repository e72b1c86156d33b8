//! `samples.csv` in a stream against the same whole: any bytes, or rows put together from bytes.

use recount::package::partition::SampleTable;
use recount::package::partition::sample_runs::{SampleRuns, samples_sha256, shortest_number};
use recount::package::partition::samples::{COLUMNS, INDEX, MEDIAN, TIME};

/// What rows are put together from.
const PARTS: [&str; 24] = [
    "a,d,native,p,p,",
    "b,d,native,p,p,",
    "\"a\",d,native,p,p,",
    "0,",
    "1,",
    "2,",
    "01,",
    "1.5,",
    "2.25,",
    "0.1,",
    "1.50,",
    "nan,",
    "1.5",
    "2.25",
    "\n",
    "\r\n",
    "\r",
    "\"",
    "\u{feff}",
    "\n\n",
    ",",
    " ",
    "-1.5",
    "1e-05",
];

/// What is wrong with a table that is read whole is wrong with it in a stream; what is right says the same.
pub(super) fn run(data: &[u8]) {
    compare(data);
    let header = COLUMNS.join(",") + "\n";
    let rows: String = data.iter().take(400).map(|&byte| PARTS[usize::from(byte) % PARTS.len()]).collect();
    compare((header + &rows).as_bytes());
}

fn compare(data: &[u8]) {
    let table = SampleTable::read(data);
    let (digest, runs) = SampleRuns::read(&mut &*data, u64::MAX, &|_| {}).expect("short lines");
    assert_eq!(digest, recount::package::digest::digest(data));
    assert!(table.problems.is_empty() || runs.fault_count > 0, "a stream hides {:?}", table.problems);
    if runs.fault_count > 0 {
        return;
    }
    assert_eq!(runs.rows(), table.rows.len() as u64);
    let mut rows = table.rows.iter();
    for run in &runs.runs {
        let of_run: Vec<_> = rows.by_ref().take(usize::try_from(run.rows).expect("few")).collect();
        assert_eq!(of_run.first().map(|row| row.line), Some(run.line));
        let mut stated =
            run.stated.iter().flat_map(|(_, text, rows)| std::iter::repeat_n(text.as_str(), *rows as usize));
        let mut samples = Vec::new();
        for (index, row) in of_run.iter().enumerate() {
            assert!((0..5).all(|column| row.cell(column) == run.names[column]), "{run:?}");
            assert_eq!(row.cell(INDEX), index.to_string());
            assert_eq!(Some(row.cell(MEDIAN)), stated.next());
            samples.push(shortest_number(row.cell(TIME)).expect("a number"));
        }
        assert_eq!(run.sha256, Some(samples_sha256(samples.iter().copied())));
        assert_eq!(run.median, recount::fit::median::median(&samples));
    }
    assert!(rows.next().is_none());
}

/// Those of the other target, and rows in order.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let rows: Vec<u8> = vec![0, 3, 7, 12, 14, 0, 4, 8, 12, 14, 1, 3, 9, 13, 14, 2, 3, 7, 12, 15, 0, 3, 7, 17, 12, 17];
    super::samples::seeds().into_iter().chain([rows]).collect()
}
