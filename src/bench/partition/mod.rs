//! The program-partition benchmark: row SUM and MAX with B rows per program, repartitioned to one or two rows per program.
//!
//! | module | owns |
//! |---|---|
//! | [`cases`] | what is run: the published inventory, the held-out one, and own ones |
//! | [`storage`] | values as tensors store them |
//! | [`fixtures`] | inputs from a seed, and what must come out |
//! | [`oracle`] | results in binary64, their bounds, the check of outputs, the files and manifest of a fixture |
//! | [`torch`] | the optional route through `torch.compile` |
//! | [`record`] | what a campaign recorded, before it is a package |

pub mod cases;
pub mod fixtures;
pub mod oracle;
pub mod record;
pub mod storage;
pub mod torch;
