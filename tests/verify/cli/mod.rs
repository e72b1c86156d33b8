//! The command line: exit status, streams, and what each command says.

mod commands;
mod diff;
mod options;
mod output;
mod paths;
mod predict;
mod refit;
mod seal;
mod seal_hard;
mod seal_names;
mod seal_private;
mod seal_record;
mod seal_rewrite;
mod selftest;
mod sign;
