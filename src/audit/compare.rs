//! A recorded value against a rebuilt one, member by member.

use super::{Code, Recorder, show};
use crate::package::json::{Document, Json, Members, Series};

/// Which code a difference has, from the names of the members on the way to it (array positions left out).
pub(super) type CodeOf<'c> = &'c dyn Fn(&[&str]) -> Code;

/// The magnitude that a member's rounding errors are relative to, from its name and the rebuilt object around it.
pub(super) type ScaleOf<'c> = &'c dyn Fn(&str, &Json) -> f64;

/// Compares `found`, a value of `document`, with `expected`; floats to the last bit.
pub(super) fn compare(recorder: &mut Recorder, document: &Document, found: &Json, expected: &Json, code: CodeOf<'_>) {
    let mut comparison = Comparison { recorder, document, code, within: None, names: Vec::new() };
    comparison.value(found, expected, None);
}

/// As [`compare`], but floats may differ by the tolerance, relative to `scale`.
pub(super) fn compare_within(
    recorder: &mut Recorder,
    document: &Document,
    found: &Json,
    expected: &Json,
    code: CodeOf<'_>,
    scale: ScaleOf<'_>,
) {
    let mut comparison = Comparison { recorder, document, code, within: Some(scale), names: Vec::new() };
    comparison.value(found, expected, None);
}

struct Comparison<'c> {
    recorder: &'c mut Recorder,
    document: &'c Document,
    code: CodeOf<'c>,
    within: Option<ScaleOf<'c>>,
    names: Vec<&'c str>,
}

impl<'c> Comparison<'c> {
    fn value(&mut self, found: &Json, expected: &'c Json, parent: Option<&'c Json>) {
        match (found, expected) {
            (Json::Object(members), Json::Object(wanted)) => {
                let (found_members, expected_members) = (Members::of(found), Members::of(expected));
                for (name, value) in wanted {
                    self.names.push(name);
                    match found_members.get(name) {
                        Some(found) => self.value(found, value, Some(expected)),
                        None => {
                            let code = (self.code)(&self.names);
                            let expected = format_args!("the member {name}");
                            self.recorder.report_at(code, self.document, found, expected, "nothing");
                        }
                    }
                    self.names.pop();
                }
                for (name, value) in members {
                    if expected_members.get(name).is_none() {
                        let code = (self.code)(&self.names);
                        self.recorder.report_at(code, self.document, value, "no such member", name);
                    }
                }
            }
            (Json::Array(items), Json::Array(wanted)) => {
                if items.len() != wanted.len() {
                    let code = (self.code)(&self.names);
                    let expected = format_args!("{} items", wanted.len());
                    self.recorder.report_at(
                        code,
                        self.document,
                        found,
                        expected,
                        format_args!("{} items", items.len()),
                    );
                }
                for (item, wanted) in items.iter().zip(wanted) {
                    self.value(item, wanted, parent);
                }
            }
            (Json::Floats(_), Json::Array(_) | Json::Floats(_)) | (Json::Array(_), Json::Floats(_)) => {
                if let (Some(found), Some(expected)) = (Series::of(found), Series::of(expected)) {
                    self.series(found, expected, parent);
                }
            }
            (Json::Float(_), Json::Float(value)) => {
                let code = (self.code)(&self.names);
                match (self.within, parent) {
                    (Some(scale), Some(parent)) => {
                        let scale = scale(self.names.last().copied().unwrap_or_default(), parent);
                        self.recorder.close(code, self.document, found, *value, scale);
                    }
                    _ => {
                        self.recorder.equal(code, self.document, found, expected);
                    }
                }
            }
            _ if found == expected => self.recorder.held(),
            _ => {
                let code = (self.code)(&self.names);
                self.recorder.report_at(code, self.document, found, show(expected), show(found));
            }
        }
    }
    /// Lists of which one is packed.
    fn series(&mut self, found: Series<'_>, expected: Series<'_>, parent: Option<&'c Json>) {
        let code = (self.code)(&self.names);
        if found.len() != expected.len() {
            let wanted = format_args!("{} items", expected.len());
            let items = format_args!("{} items", found.len());
            self.recorder.report_at(code, self.document, found.at(), wanted, items);
        }
        if found == expected && (0..found.len()).all(|index| found.is_float(index) == expected.is_float(index)) {
            self.recorder.held_many(found.len() as u64);
            return;
        }
        let scale = self.within.zip(parent);
        for index in 0..found.len().min(expected.len()) {
            match (scale, expected.get(index).as_deref()) {
                (Some((scale, parent)), Some(Json::Float(value))) => {
                    let scale = scale(self.names.last().copied().unwrap_or_default(), parent);
                    self.recorder.close_item(code, self.document, (found, index), *value, scale);
                }
                (_, Some(value)) => self.recorder.equal_item(code, self.document, (found, index), value),
                (_, None) => {}
            }
        }
    }
}
