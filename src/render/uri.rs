//! Names joined as text: the user's spelling of a subject's path with a file's name in the package, as text or as a URI.
//!
//! Neither function asks the system, so a report means the same wherever it is rendered.

use std::fmt::Write;

/// The name of a package's file with the subject's path before it, in the user's spelling. `.` is the subject itself, and
/// so is a file named like a subject that is a single file.
pub fn join(subject: &str, file: &str) -> String {
    if is_subject(subject, file) {
        return subject.to_owned();
    }
    let separator = if subject.ends_with('/') || (is_windows(subject) && subject.ends_with('\\')) { "" } else { "/" };
    match subject {
        "" | "." | "./" => file.to_owned(),
        _ => format!("{subject}{separator}{file}"),
    }
}

/// A percent-encoded URI reference with `/`: relative for a relative path, `file:` for an absolute one. A file's name that
/// could leave the package (an absolute path, a `..`) gives the package itself.
pub fn uri(subject: &str, file: &str) -> String {
    let windows = is_windows(subject);
    let separators: &[char] = if windows { &['/', '\\'] } else { &['/'] };
    let file_parts: &[&str] = &file.split('/').collect::<Vec<_>>();
    let stays = !is_subject(subject, file) && file_parts.iter().all(|part| !matches!(*part, "" | "." | ".."));
    let mut uri = match (subject.starts_with(separators), windows) {
        (true, true) if subject[1..].starts_with(separators) => "file://".to_owned(),
        (true, _) => "file:///".to_owned(),
        (false, true) if has_drive(subject) => "file:///".to_owned(),
        (false, _) => String::new(),
    };
    let subject_parts = subject.split(separators).filter(|part| !matches!(*part, "" | "."));
    let mut written = false;
    for part in subject_parts.chain(file_parts.iter().copied().filter(|_| stays)) {
        if written {
            uri.push('/');
        }
        let drive = windows && !written && has_drive(part) && part.len() == 2;
        if drive {
            uri.push_str(part)
        } else {
            encode(part, &mut uri)
        }
        written = true;
    }
    if uri.is_empty() { ".".to_owned() } else { uri }
}

/// Whether the name means the subject itself.
fn is_subject(subject: &str, file: &str) -> bool {
    let last = if is_windows(subject) { subject.rsplit(['/', '\\']).next() } else { subject.rsplit('/').next() };
    file.is_empty() || file == "." || last == Some(file)
}

/// A path as only Windows has it: `C:\...`, `C:/...` or `\\server`. Elsewhere a backslash is part of a name, except where
/// this program runs on Windows.
fn is_windows(path: &str) -> bool {
    cfg!(windows)
        || path.starts_with("\\\\")
        || (has_drive(path) && matches!(path.as_bytes().get(2), Some(b'/' | b'\\')))
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn encode(part: &str, uri: &mut String) {
    for &byte in part.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_in_the_users_spelling() {
        assert_eq!(join("pkg", "a/b.json"), "pkg/a/b.json");
        assert_eq!(join("./pkg/", "b.json"), "./pkg/b.json");
        assert_eq!(join(".", "b.json"), "b.json");
        assert_eq!(join("C:\\pkg\\", "b.json"), "C:\\pkg\\b.json");
        assert_eq!(join("pkg", "."), "pkg");
        assert_eq!(join("claims/claims.json", "claims.json"), "claims/claims.json");
    }

    #[test]
    fn uris_are_relative_for_relative_paths_and_never_leave_the_package() {
        assert_eq!(uri("./my pkg//", "a/b%c.json"), "my%20pkg/a/b%25c.json");
        assert_eq!(uri("../pkg", "b.json"), "../pkg/b.json");
        assert_eq!(uri("a:b", "ü\n<x>"), "a%3Ab/%C3%BC%0A%3Cx%3E");
        assert_eq!(uri(".", "b.json"), "b.json");
        assert_eq!(uri(".", "."), ".");
        assert_eq!(uri("/srv/pkg", "b.json"), "file:///srv/pkg/b.json");
        assert_eq!(uri("C:\\data\\pkg", "b.json"), "file:///C:/data/pkg/b.json");
        assert_eq!(uri("\\\\server\\share", "b.json"), "file://server/share/b.json");
        assert_eq!(uri("pkg", "../../etc/passwd"), "pkg");
        assert_eq!(uri("pkg", "/etc/passwd"), "pkg");
        assert_eq!(uri("claims/claims.json", "claims.json"), "claims/claims.json");
    }
}
