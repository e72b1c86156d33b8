//! Lines of a given width, counted in characters.

/// Breaks text at spaces so that no line is longer than `width`; a longer word is cut. Empty text gives one empty line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    let mut fresh = true;
    for word in text.split(' ') {
        let mut word = word;
        let mut length = word.chars().count();
        if !fresh && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
            fresh = true;
        }
        while length > width {
            let cut = word.char_indices().nth(width).map_or(word.len(), |(at, _)| at);
            push(&mut lines, &word[..cut]);
            lines.push(String::new());
            word = &word[cut..];
            length -= width;
        }
        if !fresh {
            push(&mut lines, " ");
            used += 1;
        }
        push(&mut lines, word);
        used += length;
        fresh = false;
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a bbbbbbbb c", 3), ["a", "bbb", "bbb", "bb", "c"]);
        assert_eq!(wrap("a bbbbbbb c", 3), ["a", "bbb", "bbb", "b c"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("größe über", 5), ["größe", "über"]);
    }
}
