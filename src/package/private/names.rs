//! Names of users and machines that name nobody.

/// Names that so many machines and users have, or that documentation uses, that they name nobody; texts use them as words.
/// Those of images and of services that build and test are documented ones.
const GENERIC: &[&str] = &[
    "admin",
    "administrator",
    "build",
    "builder",
    "circleci",
    "codespace",
    "conda",
    "debian",
    "default",
    "ec2-user",
    "gitlab-runner",
    "gitpod",
    "jenkins",
    "jovyan",
    "linuxbrew",
    "localhost",
    "mambauser",
    "me",
    "name",
    "nobody",
    "public",
    "root",
    "runner",
    "runneradmin",
    "shared",
    "test",
    "ubuntu",
    "user",
    "username",
    "vagrant",
    "vscode",
    "vsts",
    "you",
];

/// Whether a name says nothing about anybody, however it is written.
pub fn names_nobody(name: &str) -> bool {
    GENERIC.iter().any(|generic| name.eq_ignore_ascii_case(generic))
}
