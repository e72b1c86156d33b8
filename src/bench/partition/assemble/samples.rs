//! `samples.csv`: one row for each sample, in the order of cases, cohorts, routes and indexes.

use crate::package::json::python_float;
use crate::package::partition::Validation;
use crate::package::partition::samples::COLUMNS;

/// The text of the file: LF, floats in Python's shortest form, cells quoted only where they must be.
///
/// # Errors
/// Rows that cannot be written as CSV.
pub(super) fn text(validation: &Validation<'_>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for (record, run, route, timing) in validation.timed() {
        let p50 = python_float(timing.p50);
        for (index, sample) in timing.samples.numbers().enumerate() {
            let (index, sample) = (index.to_string(), python_float(sample));
            writer.write_record([
                record.case.id,
                run.cohort,
                route.name(),
                run.case_status,
                run.cohort_status,
                &index,
                &sample,
                &p50,
            ])?;
        }
    }
    writer.into_inner().map_err(|error| csv::Error::from(std::io::Error::other(error.to_string())))
}
