//! The program-partition benchmark: row SUM and MAX with B rows per program, repartitioned to one or two rows per program.
//!
//! | module | owns |
//! |---|---|
//! | [`cases`] | what is run: the published inventory, the held-out one, and own ones |
//! | [`storage`] | values as tensors store them |
//! | [`fixtures`] | inputs from a seed, and what must come out |
//! | [`oracle`] | results in binary64, their bounds, the check of outputs, the files and manifest of a fixture |
//! | [`source`] | the kernel's source for a case, with the partition entry appended |
//! | [`selector`] | the host's choice of entry and grid from the bound spans |
//! | [`sampling`] | the sampling protocol over anything that replays a graph |
//! | [`backend`] | what a backend is |
//! | [`cpu`] | the backend on threads of this host |
//! | [`affinity`] | on which processors a process may run |
//! | [`clock`] | the time of day, and the time since a moment |
//! | [`job`], [`child`] | what a child process is asked to do, and doing it |
//! | [`tune`] | how many threads reduce a row |
//! | [`campaign`] | every case in every cohort, and what came of it |
//! | [`process`] | child processes under a time limit |
//! | [`machine`] | the host, and how busy it is |
//! | [`torch`] | the optional route through `torch.compile` |
//! | [`record`] | what a campaign recorded, before it is a package |
//! | [`assemble`] | from a campaign to a package folder in the published format |

pub mod affinity;
pub mod assemble;
pub mod backend;
pub mod campaign;
pub mod cases;
pub mod child;
pub mod clock;
pub mod cpu;
pub mod fixtures;
pub mod job;
pub mod machine;
mod measure;
pub mod oracle;
pub mod process;
pub mod record;
pub mod sampling;
pub mod selector;
pub mod source;
pub mod storage;
pub mod torch;
pub mod tune;
