//! Where the values of an already accepted JSON text begin. Only asked for when there is something to report.
//!
//! One walk over the text answers for any number of pointers, and unescapes names only where a wanted pointer may lead on.

use std::borrow::Cow;
use std::collections::HashMap;

/// Line and column (both from 1, columns in characters) of the values at the wanted pointers; those that lead nowhere are
/// left out.
pub(super) fn positions<'p>(text: &str, wanted: impl Iterator<Item = &'p str>) -> HashMap<&'p str, (usize, usize)> {
    let mut tree = Wanted::default();
    wanted.for_each(|pointer| tree.add(pointer));
    let mut found = HashMap::new();
    let (mut counted, mut line, mut column) = (0, 1, 1);
    walk(text, Some(&tree), &mut |offset, _, node| {
        let Some(pointer) = node.and_then(|node| node.pointer) else { return };
        for &byte in &text.as_bytes()[counted..offset] {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                // The second to fourth bytes of a character are no characters.
                0x80..=0xbf => {}
                _ => column += 1,
            }
        }
        counted = offset;
        found.insert(pointer, (line, column));
    });
    found
}

/// Where every value begins, in the order of the text: an array or object before what it holds.
pub(super) fn offsets(text: &str) -> Vec<usize> {
    let mut offsets = Vec::new();
    walk(text, None, &mut |offset, _, _| offsets.push(offset));
    offsets
}

/// The byte offset of the first integer literal that needs more than 64 bits, and how many values begin before it.
pub(super) fn large_integer(text: &str) -> Option<(usize, usize)> {
    let is_large = |literal: &str| {
        let digits = literal.strip_prefix('-').unwrap_or(literal);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_integer && literal.parse::<i64>().is_err() && literal.parse::<u64>().is_err()
    };
    literals(text, &is_large).first().copied()
}

/// Which values, counted in the order of the text, are the integer literal `-0`.
pub(super) fn negative_zeros(text: &str) -> Vec<usize> {
    literals(text, &|literal| literal == "-0").into_iter().map(|(_, before)| before).collect()
}

/// The byte offset of each wanted literal, and how many values begin before it.
fn literals(text: &str, is_wanted: &dyn Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let (mut found, mut before) = (Vec::new(), 0);
    walk(text, None, &mut |start, literal, _| {
        if is_wanted(literal) {
            found.push((start, before));
        }
        before += 1;
    });
    found
}

/// Pointers by their tokens, unescaped.
#[derive(Default)]
struct Wanted<'p> {
    pointer: Option<&'p str>,
    inner: HashMap<Cow<'p, str>, Wanted<'p>>,
}

impl<'p> Wanted<'p> {
    fn add(&mut self, pointer: &'p str) {
        let tokens = pointer.strip_prefix('/').map(|rest| rest.split('/'));
        let node = tokens.into_iter().flatten().fold(self, |node, token| {
            let name =
                if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() };
            node.inner.entry(name).or_default()
        });
        node.pointer = Some(pointer);
    }
}

/// Called with a value's offset, its literal (empty but for scalars other than strings), and what is wanted there.
type Visit<'v, 'p> = &'v mut dyn FnMut(usize, &str, Option<&Wanted<'p>>);

fn walk<'p>(text: &str, wanted: Option<&Wanted<'p>>, visit: Visit<'_, 'p>) {
    Walker { text, at: 0 }.value(wanted, visit);
}

struct Walker<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Walker<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, while_in: &[u8]) {
        while self.peek().is_some_and(|byte| while_in.contains(&byte)) {
            self.at += 1;
        }
    }

    fn value<'p>(&mut self, wanted: Option<&Wanted<'p>>, visit: Visit<'_, 'p>) {
        self.skip(b" \t\r\n");
        let start = self.at;
        match self.peek() {
            Some(b'{') => {
                visit(start, "", wanted);
                self.members(wanted, visit);
            }
            Some(b'[') => {
                visit(start, "", wanted);
                self.items(wanted, visit);
            }
            Some(b'"') => {
                visit(start, "", wanted);
                self.string();
            }
            _ => {
                while self.peek().is_some_and(|byte| !b",]} \t\r\n".contains(&byte)) {
                    self.at += 1;
                }
                visit(start, &self.text[start..self.at], wanted);
            }
        }
    }

    /// Steps over a string and gives its literal.
    fn string(&mut self) -> &'t str {
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
        self.text.get(start..self.at.min(self.text.len())).unwrap_or_default()
    }

    fn members<'p>(&mut self, wanted: Option<&Wanted<'p>>, visit: Visit<'_, 'p>) {
        self.at += 1;
        let wanted = wanted.filter(|node| !node.inner.is_empty());
        loop {
            self.skip(b" \t\r\n,");
            if self.peek() != Some(b'"') {
                break;
            }
            let literal = self.string();
            self.skip(b" \t\r\n:");
            let member = wanted.and_then(|node| node.inner.get(unescaped(literal).as_ref()));
            self.value(member, visit);
        }
        self.at += 1;
    }

    fn items<'p>(&mut self, wanted: Option<&Wanted<'p>>, visit: Visit<'_, 'p>) {
        self.at += 1;
        let wanted = wanted.filter(|node| !node.inner.is_empty());
        for at in 0_usize.. {
            self.skip(b" \t\r\n,");
            if matches!(self.peek(), None | Some(b']')) {
                break;
            }
            let item = wanted.and_then(|node| node.inner.get(at.to_string().as_str()));
            self.value(item, visit);
        }
        self.at += 1;
    }
}

/// The content of a string literal.
fn unescaped(literal: &str) -> Cow<'_, str> {
    match literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(content) if !content.contains('\\') => content.into(),
        _ => serde_json::from_str::<String>(literal).unwrap_or_default().into(),
    }
}
