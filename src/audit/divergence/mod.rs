//! Divergence: the figures are possible, agree with each other, and follow from pairs and tensors.
//!
//! What can be known of a figure without its data is decided in [`crate::divergence`]; here it is asked, and findings name
//! device, arm and resolution.

mod conditions;
mod device;
mod figures;
mod inputs;
mod package;
mod probe;
mod protocol;
mod receipt;

pub(super) use package::{check as check_package, facts as package_facts, limits as package_limits};
pub(super) use receipt::{check as check_receipt, facts as receipt_facts, limits as receipt_limits};

use crate::package::divergence::Arm;

/// Where a figure belongs, for a person.
#[derive(Debug, Clone, Copy)]
struct Where<'w> {
    /// A device of a receipt, or an engine of a package.
    who: &'w str,
    arm: Arm,
    resolution: u64,
}

impl std::fmt::Display for Where<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}, {}, output {}", self.who, self.arm.name(), self.resolution)
    }
}
