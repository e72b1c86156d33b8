//! Untrusted text made safe to show: hidden characters as escapes, and the quoting that Markdown and JSON need.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts on the display instead of showing itself: controls (line breaks among them), the two Unicode
/// line separators, direction controls, zero-width and tag characters, and the noncharacters that XML 1.0 cannot hold.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text on one line with hidden characters as `\n`, `\t`, `\r`, `\x1b`, `\u202e` or `\U000e0001`. A backslash of the
/// text itself stays as it is: this is for reading, not for reading back.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace(text, |character, shown| match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        _ => {
            let code = u32::from(character);
            let _ = match code {
                0..=0xff => write!(shown, "\\x{code:02x}"),
                0x100..=0xffff => write!(shown, "\\u{code:04x}"),
                _ => write!(shown, "\\U{code:08x}"),
            };
        }
    })
}

/// Several lines, each made visible; only the line feeds between them stay.
pub fn lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// A finished JSON text with the hidden characters inside its strings as `\u` escapes, which changes no value. The line
/// feeds between its tokens stay.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    replace(text, |character, shown| {
        if character == '\n' {
            shown.push(character);
            return;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

/// Text as HTML or XML that shows this very text, within elements and quoted attributes.
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in visible(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text as Markdown that renders as this very text: no markup, HTML, link, mention or reference to an issue. Spaces at its
/// start are left out.
pub fn markdown(text: &str) -> String {
    let text = visible(text);
    let text = text.trim_start_matches(' ');
    // `-`, `+`, `=` and `1.` mean something only where a line begins.
    let first = text.bytes().take_while(u8::is_ascii_digit).count();
    let mut escaped = String::with_capacity(text.len() + 8);
    for (at, character) in text.char_indices() {
        let rest = &text[at + character.len_utf8()..];
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // An empty comment keeps the site's own scanners from seeing `@name` and `#1`.
            '@' | '#' => escaped.push_str(&format!("\\{character}<!-- -->")),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => escaped.push_str(&format!("\\{character}")),
            ':' if rest.starts_with('/') => escaped.push_str("\\:"),
            '.' if text[..at].ends_with(['w', 'W']) => escaped.push_str("\\."),
            '.' | ')' if at == first && at > 0 && (rest.is_empty() || rest.starts_with(' ')) => {
                escaped.push_str(&format!("\\{character}"))
            }
            '-' | '+' | '=' if at == 0 && (rest.is_empty() || rest.starts_with([' ', character])) => {
                escaped.push_str(&format!("\\{character}"))
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text as a Markdown code span, which nothing in it can end. Empty text gives `(empty)` in italics, since a code span
/// cannot be empty.
pub fn code_span(text: &str) -> String {
    let text = visible(text);
    if text.is_empty() {
        return "*(empty)*".to_owned();
    }
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // One space at each end is taken off again by the reader of the span, unless the text is spaces only.
    let padded = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let pad = if padded && !text.trim_matches(' ').is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// `text` with each hidden character as `escape` writes it; borrowed where there is none.
fn replace(text: &str, mut escape: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((at, character)) = rest.char_indices().find(|&(_, character)| is_hidden(character)) {
        shown.push_str(&rest[..at]);
        escape(character, &mut shown);
        rest = &rest[at + character.len_utf8()..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_others_are_kept() {
        assert_eq!(
            visible("a\u{1b}[31mb\r\n\tc\u{202e}d\u{85}\u{e0041}"),
            "a\\x1b[31mb\\r\\n\\tc\\u202ed\\x85\\U000e0041"
        );
        assert!(matches!(visible("größer ≤ 3 µs \\n"), Cow::Borrowed("größer ≤ 3 µs \\n")));
    }

    #[test]
    fn html_text_is_no_markup() {
        assert_eq!(html("<b a='1'>\"&\u{202e}"), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;\\u202e");
    }

    #[test]
    fn json_strings_keep_their_value() {
        let value = serde_json::json!({ "a\u{202e}": "\u{7f}\u{e0001}\u{1b}\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = json(&text);
        assert!(!shown.chars().any(|character| is_hidden(character) && character != '\n'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn markdown_text_is_no_markup() {
        assert_eq!(markdown("a: b_c (1.5), x!"), "a: b\\_c (1.5), x!");
        assert_eq!(markdown("-1.5e-9"), "-1.5e-9");
        assert_eq!(markdown("---"), "\\---");
        assert_eq!(markdown(" - 1. @me #1"), "\\- 1. \\@<!-- -->me \\#<!-- -->1");
        assert_eq!(markdown("12. http://x www.x <b>"), "12\\. http\\://x www\\.x &lt;b&gt;");
    }

    #[test]
    fn a_code_span_outlasts_the_backticks_in_it() {
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("``a` b`"), "``` ``a` b` ```");
        assert_eq!(code_span(" a"), "`  a `");
        assert_eq!(code_span("  "), "`  `");
        assert_eq!(code_span(""), "*(empty)*");
    }
}
