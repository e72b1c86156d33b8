//! Names of users and machines that name nobody.

/// Names that so many machines and users have, or that documentation uses, that they name nobody; texts use them as words.
const GENERIC: &[&str] = &[
    "admin",
    "administrator",
    "build",
    "builder",
    "codespace",
    "debian",
    "default",
    "jovyan",
    "linuxbrew",
    "localhost",
    "me",
    "name",
    "public",
    "root",
    "runner",
    "shared",
    "test",
    "ubuntu",
    "user",
    "username",
    "vscode",
    "you",
];

/// Whether a name says nothing about anybody, however it is written.
pub fn names_nobody(name: &str) -> bool {
    GENERIC.iter().any(|generic| name.eq_ignore_ascii_case(generic))
}
