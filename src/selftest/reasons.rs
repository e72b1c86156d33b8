//! Why nothing contradicts a forged leaf, by class of leaf, and which cross-check would.
//!
//! A class without a row here is one that nobody has looked at yet; the report says so.

/// Why leaves of a class can be forged, short of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unbound {
    /// Why nothing in the package contradicts the forged leaf.
    pub reason: &'static str,
    /// The cross-check that would bind it, and what it would need.
    pub bound_by: &'static str,
}

/// A class: leaves of a file (any, where empty) whose pattern contains one of these.
type Row = (&'static str, &'static [&'static str], Unbound);

const FILE_IS_ELSEWHERE: Unbound = Unbound {
    reason: "the file that was hashed is not in the package, and its hash or size is recorded once",
    bound_by: "hashing the file again: publish it",
};

const TABLE: &[Row] = &[
    (
        "medians.csv",
        &[""],
        Unbound {
            reason: "a median as it was printed: the claims hold at their own printed precision with either last digit",
            bound_by: "the samples that it is the median of",
        },
    ),
    (
        "claims.json",
        &["/printed", "/exact"],
        Unbound {
            reason: "the figure follows from printed medians to within their rounding, which leaves room for its last digits",
            bound_by: "the samples, or medians with more digits",
        },
    ),
    (
        "claims.json",
        &["/"],
        Unbound {
            reason: "said of the source, or a setting under which the claims hold as well",
            bound_by: "the source itself, or a claim that depends on the same setting",
        },
    ),
    ("proof-receipts.json", &["/compact_receipts/"], FILE_IS_ELSEWHERE),
    (
        "proof-receipts.json",
        &["/"],
        Unbound {
            reason: "a setting of a build that nothing else in the package names",
            bound_by: "the build's own files: publish them",
        },
    ),
    (
        "",
        &["case_receipt/", "result_receipt/", "/receipt/", "/original_model_report/", "_receipt/", "_receipts/"],
        FILE_IS_ELSEWHERE,
    ),
    (
        "",
        &["/source_files/", "/source/"],
        Unbound {
            reason: "the kernel's source is not in the package; of its hashes only those that repeat are compared",
            bound_by: "hashing the sources again: publish them",
        },
    ),
    (
        "",
        &["/machine_after_", "/machine_before_", "/process/", "/environment/cudnn_version"],
        Unbound {
            reason: "what the system said once: a sensor, a process's number or command, a version; no other value follows from it",
            bound_by: "a second, independent reading of the same moment",
        },
    ),
    (
        "",
        &["/compiler_evidence/", "/compile/", "/artifacts/"],
        Unbound {
            reason: "a counter, version, or size of a file of the Torch compiler: what its lists of files repeat is compared, and \
                     nothing else names this",
            bound_by: "counting again in the compiler's own files: publish them",
        },
    ),
    (
        "",
        &["/warmup/", "/cold_ms/", "/sampling/", "/alternations", "/setup/"],
        Unbound {
            reason: "time or repetitions outside of the samples: only a lower or an upper bound follows from other values",
            bound_by: "a second clock around the same steps, as host spans are around event spans",
        },
    ),
    (
        "",
        &["/recorded_correctness/", "/saved_output_recheck/", "max_error_over_bound", "max_abs_error"],
        Unbound {
            reason: "an error against the oracle; outputs and oracle are not in the package",
            bound_by: "checking the outputs again: publish outputs, oracle and bounds",
        },
    ),
    (
        "README.md",
        &["line "],
        Unbound {
            reason: "a decimal that no sentence ties to one figure, or one that equals another figure of the data as well",
            bound_by: "stating it in the form of the generated README, or in claims.json",
        },
    ),
    (
        "experiment_results.json",
        &["all_pairwise_drift", "all_pairwise_divs"],
        Unbound {
            reason: "the gradients of this resolution are not in the package: a pair is bound by the largest one and by equal \
                     hashes alone",
            bound_by: "comparing the trials again: keep the tensors of every resolution (--keep-tensors)",
        },
    ),
    (
        "experiment_results.json",
        &["trial_sha256"],
        Unbound {
            reason: "the gradients of this resolution are not in the package: a hash says which trials are equal, and no more",
            bound_by: "hashing the trials again: keep the tensors of every resolution (--keep-tensors)",
        },
    ),
    (
        "experiment_results.json",
        &["/protocol/seed"],
        Unbound {
            reason: "the inputs are not from a generator that is known here",
            bound_by: "making the inputs again: use recount-divergence-inputs-v1",
        },
    ),
    (
        "accuracy.json",
        &["_error"],
        Unbound {
            reason: "an error against a binary64 reference that verify does not compute; only equal trials must have equal ones, \
                     and norms bound its size alone",
            bound_by: "computing the reference from the inputs and comparing it with tensors that are kept",
        },
    ),
    (
        "accuracy.json",
        &["equals_host_fixed_point"],
        Unbound {
            reason: "no other trials at this resolution equal the host's fixed point, so that its bits are not known",
            bound_by: "computing the fixed point from the inputs",
        },
    ),
    (
        "timing.json",
        &["/protocol/"],
        Unbound {
            reason: "a setting that leaves no trace in the spans: the calibration of the replays is not recorded",
            bound_by: "recording the calibration, as bench does",
        },
    ),
];

/// Why a class of leaves of a file is not bound; `None` where nobody has said.
pub fn unbound(file: &str, pattern: &str) -> Option<Unbound> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let fits =
        |&&(of, parts, _): &&Row| (of.is_empty() || of == name) && parts.iter().any(|part| pattern.contains(part));
    TABLE.iter().find(fits).map(|(_, _, unbound)| *unbound)
}
