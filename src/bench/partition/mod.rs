//! The program-partition benchmark: row SUM and MAX with B rows per program, repartitioned to one or two rows per program.
//!
//! | module | owns |
//! |---|---|
//! | [`cases`] | what is run: the published inventory, the held-out one, and own ones |
//! | [`record`] | what a campaign recorded, before it is a package |
//! | [`assemble`] | from a campaign to a package folder in the published format |

pub mod assemble;
pub mod cases;
pub mod record;
