//! Where each value of an already accepted JSON text begins. Only asked for when there is something to report.

use std::collections::HashMap;

use super::pointer_token;

/// Where a value begins. Line and column count from 1, the column in characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) offset: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Where every value begins, by JSON pointer. One pass over the text, however many values are asked for later.
pub(super) fn starts(text: &str) -> HashMap<String, Start> {
    let mut starts = HashMap::new();
    let mut last = Start { offset: 0, line: 1, column: 1 };
    walk(text, &mut |pointer, offset, _| {
        for &byte in &text.as_bytes()[last.offset..offset] {
            match byte {
                b'\n' => (last.line, last.column) = (last.line + 1, 1),
                // The second to fourth bytes of a character are no characters.
                0x80..=0xbf => {}
                _ => last.column += 1,
            }
        }
        last.offset = offset;
        starts.insert(pointer.to_owned(), last);
    });
    starts
}

/// The first integer literal that needs more than 64 bits: its pointer and byte offset.
pub(super) fn large_integer(text: &str) -> Option<(String, usize)> {
    let mut found = None;
    walk(text, &mut |pointer, start, literal| {
        let digits = literal.strip_prefix('-').unwrap_or(literal);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_integer && found.is_none() && literal.parse::<i64>().is_err() && literal.parse::<u64>().is_err() {
            found = Some((pointer.to_owned(), start));
        }
    });
    found
}

/// Calls `visit(pointer, offset, literal)` for every value; `literal` is empty but for scalars other than strings.
fn walk(text: &str, visit: &mut dyn FnMut(&str, usize, &str)) {
    let mut walker = Walker { text, at: 0, pointer: String::new() };
    walker.value(visit);
}

struct Walker<'t> {
    text: &'t str,
    at: usize,
    pointer: String,
}

impl Walker<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, while_in: &[u8]) {
        while self.peek().is_some_and(|byte| while_in.contains(&byte)) {
            self.at += 1;
        }
    }

    fn value(&mut self, visit: &mut dyn FnMut(&str, usize, &str)) {
        self.skip(b" \t\r\n");
        let start = self.at;
        match self.peek() {
            Some(b'{') => {
                visit(&self.pointer, start, "");
                self.members(visit);
            }
            Some(b'[') => {
                visit(&self.pointer, start, "");
                self.items(visit);
            }
            Some(b'"') => {
                visit(&self.pointer, start, "");
                self.string();
            }
            _ => {
                while self.peek().is_some_and(|byte| !b",]} \t\r\n".contains(&byte)) {
                    self.at += 1;
                }
                visit(&self.pointer, start, &self.text[start..self.at]);
            }
        }
    }

    /// Steps over a string and gives its content unescaped.
    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                break;
            }
        }
        let literal = self.text.get(start..self.at.min(self.text.len())).unwrap_or_default();
        serde_json::from_str(literal).unwrap_or_default()
    }

    fn members(&mut self, visit: &mut dyn FnMut(&str, usize, &str)) {
        self.at += 1;
        let outer = self.pointer.len();
        loop {
            self.skip(b" \t\r\n,");
            if self.peek() != Some(b'"') {
                break;
            }
            let name = self.string();
            self.skip(b" \t\r\n:");
            self.pointer.push('/');
            self.pointer.push_str(&pointer_token(&name));
            self.value(visit);
            self.pointer.truncate(outer);
        }
        self.at += 1;
    }

    fn items(&mut self, visit: &mut dyn FnMut(&str, usize, &str)) {
        self.at += 1;
        let outer = self.pointer.len();
        for at in 0.. {
            self.skip(b" \t\r\n,");
            if matches!(self.peek(), None | Some(b']')) {
                break;
            }
            self.pointer.push('/');
            self.pointer.push_str(&at.to_string());
            self.value(visit);
            self.pointer.truncate(outer);
        }
        self.at += 1;
    }
}
