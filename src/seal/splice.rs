//! One member of a JSON object replaced or added; everything else stays as it is written, whatever numbers it holds.

use std::ops::Range;

use crate::package::json::{Document, Json, compact, indented};
use crate::package::private::{each_string, literal};

/// A text that is one JSON object.
#[derive(Debug, Clone)]
pub(super) struct ObjectText(String);

struct Member {
    name: String,
    key: Range<usize>,
    value: Range<usize>,
}

impl ObjectText {
    /// `None` where the text is no JSON object.
    pub(super) fn new(text: String) -> Option<Self> {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        (is_json && text.trim_start().starts_with('{')).then_some(Self(text))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The value of a member, where it can be read.
    pub(super) fn get(&self, name: &str) -> Option<Json> {
        let member = self.members().into_iter().find(|member| member.name == name)?;
        Document::parse(name, self.0[member.value].to_owned()).ok().map(|document| document.root().clone())
    }

    pub(super) fn set(&mut self, name: &str, value: &Json) {
        let members = self.members();
        let base = members.first().and_then(|member| indentation(&self.0[..member.key.start])).map(str::to_owned);
        let written = match &base {
            // Lines below each other, as far in as those around them.
            Some(base) => indented(value).replace('\n', &format!("\n{base}")),
            None => compact(value),
        };
        if let Some(member) = members.iter().find(|member| member.name == name) {
            self.0.replace_range(member.value.clone(), &written);
            return;
        }
        let named = format!("{}{}{written}", literal(name, ""), if base.is_some() { ": " } else { ":" });
        match members.last() {
            Some(last) => {
                let between = base.map_or(",".to_owned(), |base| format!(",\n{base}"));
                self.0.insert_str(last.value.end, &(between + &named));
            }
            None => {
                let open = self.0.find('{').map_or(0, |open| open + 1);
                self.0.insert_str(open, &named);
            }
        }
    }

    fn members(&self) -> Vec<Member> {
        let text = &self.0;
        let mut keys = Vec::new();
        each_string(text, &mut |token| {
            if token.depth == 1 && token.is_key {
                keys.push((token.value.clone(), token.range.clone()));
            }
        });
        let close = text.rfind('}').unwrap_or(text.len());
        let ends: Vec<usize> = keys.iter().skip(1).map(|(_, key)| key.start).chain([close]).collect();
        let members = keys.into_iter().zip(ends).enumerate();
        let count = members.len();
        members
            .map(|(at, ((name, key), end))| {
                let rest = &text[key.end..end];
                let value = rest.trim_start().trim_start_matches(':').trim_start();
                let start = end - value.len();
                let value = value.trim_end();
                let value = if at + 1 < count { value.trim_end_matches(',').trim_end() } else { value };
                Member { name, key, value: start..start + value.len() }
            })
            .collect()
    }
}

/// The white space between the beginning of the line and what follows; `None` where something else stands there.
fn indentation(before: &str) -> Option<&str> {
    let line = &before[before.rfind('\n')? + 1..];
    line.chars().all(|letter| matches!(letter, ' ' | '\t')).then_some(line)
}
