//! Forgeries that are sealed again, so that every hash holds: each is caught by the check that it offends.
//!
//! A row is a file, the pointer of a value, what is done to the value, and the code that must be found at that very place.

macro_rules! forgeries {
    ($($name:ident: $file:literal, $pointer:literal, $edit:expr => $code:literal;)*) => {$(
        #[test]
        fn $name() {
            let edit: fn(&mut recount::package::json::Json, &str) = $edit;
            let package = crate::common::package::Package::valid();
            let outcome = package.forged($file, |root| edit(root, $pointer));
            outcome.exits(1).at($code, $file, $pointer);
        }
    )*};
}

mod contradictions;
mod erased;
mod failures;
mod left_out;
mod model;
mod model_tables;
mod preserved;
mod proofs;
mod proofs_outputs;
mod receipt_forms;
mod samples;
mod timing;
