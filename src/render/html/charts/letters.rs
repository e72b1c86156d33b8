//! How wide texts are at most. Which letters a reader's browser has is not known; these are no wider in the fonts that systems
//! come with, of which the widest (Verdana, DejaVu Sans) decide.

/// Size of letters in pixels.
pub(super) const LETTERS: f64 = 12.5;

/// Pixels that a text takes at most, at the size of [`LETTERS`].
pub(super) fn width(text: &str) -> i32 {
    (text.chars().map(share).sum::<f64>() * LETTERS).ceil() as i32
}

/// The text, or as much of its beginning as `pixels` have room for, with an ellipsis.
pub(super) fn fitted(text: &str, pixels: i32) -> String {
    if width(text) <= pixels {
        return text.to_owned();
    }
    let room = f64::from(pixels) / LETTERS - share('…');
    let mut taken = 0.0;
    let fits = |character: &char| {
        taken += share(*character);
        taken <= room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Width of a character as a share of the letters' size.
fn share(character: char) -> f64 {
    match character {
        ' ' | '\u{a0}' | '.' | ',' | '!' | '\'' | '|' | 'i' | 'j' | 'l' | 'f' => 0.38,
        '⁰'..='⁻' | '¹' | '²' | '³' | ':' | ';' | '(' | ')' | '[' | ']' | '/' | '-' | 't' | 'r' => 0.46,
        '0'..='9' | 'a'..='l' | 'n'..='v' | 'x'..='z' | '_' | '"' | '*' | '$' | '?' | 'µ' => 0.65,
        'A'..='C' | 'E' | 'F' | 'I'..='L' | 'P' | 'R'..='T' | 'V' | 'X'..='Z' | '\\' | '{' | '}' | '`' => 0.72,
        'D' | 'G' | 'H' | 'N' | 'O' | 'Q' | 'U' | 'w' | '#' | '+' | '<' | '=' | '>' | '^' | '~' => 0.83,
        '\u{20}'..='\u{2ff}' | '\u{2010}'..='\u{2027}' => 1.1,
        _ => 1.4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fitted_is_no_wider_than_its_room() {
        for text in
            ["", "SUM 17x1024 fp16 B4", "WWWWWWWWWWWWWWWWWWWWWWWW", "漢字漢字漢字漢字漢字漢字", "iiiiiiiiiiiiiiiiiiii"]
        {
            for room in [20, 60, 100, 174, 400] {
                let fitted = fitted(text, room);
                assert!(width(&fitted) <= room, "{fitted} in {room}");
                assert!(fitted == text || fitted.ends_with('…'), "{fitted}");
            }
        }
        assert_eq!(fitted("rows1", 100), "rows1");
    }
}
