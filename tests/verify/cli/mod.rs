//! The command line: exit status, streams, and what each command says.

mod commands;
mod options;
mod output;
mod paths;
mod refit;
mod seal;
mod selftest;
