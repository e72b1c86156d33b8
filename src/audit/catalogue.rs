//! The catalogue of finding codes: one row each, the only place where their words and levels stand.

use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Suspicious, or a habit of the producer that is broken; fails under `--strict`.
    Warning,
    /// Contradicts the data.
    Error,
    /// Cannot be judged by this version; exit status 2.
    Unsupported,
}

impl Severity {
    /// The level's name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Unsupported => "unsupported",
        }
    }
}

/// The families of checks, in the order in which they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Files, names, hashes.
    Integrity,
    /// The raw samples and their medians.
    Samples,
    /// Event spans, calibration, warm-up, host clocks.
    Timing,
    /// Fixtures, sources, launches, outputs, comparisons.
    Proofs,
    /// Failed processes stay failed.
    Failures,
    /// The fitted model, refitted.
    Model,
    /// The fit in exact rational arithmetic.
    Exactness,
    /// Numbers in the package's README.
    Prose,
    /// Claims made from printed medians.
    Claims,
    /// Run-to-run divergence: what figures are possible, and follow from pairs and tensors.
    Divergence,
}

impl Family {
    /// All families in report order.
    pub const ALL: [Family; 10] = [
        Family::Integrity,
        Family::Samples,
        Family::Timing,
        Family::Proofs,
        Family::Failures,
        Family::Model,
        Family::Exactness,
        Family::Prose,
        Family::Claims,
        Family::Divergence,
    ];

    /// The family's name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Integrity => "integrity",
            Family::Samples => "samples",
            Family::Timing => "timing",
            Family::Proofs => "proofs",
            Family::Failures => "failures",
            Family::Model => "model",
            Family::Exactness => "exactness",
            Family::Prose => "prose",
            Family::Claims => "claims",
            Family::Divergence => "divergence",
        }
    }

    /// What a pass of the family proves, in one sentence.
    pub fn proves(self) -> &'static str {
        match self {
            Family::Integrity => "every declared file is there, inside the package, with the recorded bytes and hash",
            Family::Samples => "samples.csv and validation.json hold the same samples, and every median is theirs",
            Family::Timing => "times per operation follow from spans and counts; clocks, calibration and caps agree",
            Family::Proofs => "fixtures, sources, launches, outputs and comparisons follow from geometry and data",
            Family::Failures => "what failed stays failed, what is missing stays missing, a retry stays apart",
            Family::Model => "observations, subsets, folds, residuals, decisions and metrics are what a refit gives",
            Family::Exactness => {
                "the recorded coefficients are the optimum in exact rational arithmetic, within tolerance"
            }
            Family::Prose => "the numbers in the README agree with the data at their printed precision",
            Family::Claims => "each claim follows from the printed medians within their rounding",
            Family::Divergence => {
                "the divergence figures are possible, agree with each other, and follow from the raw data that is there"
            }
        }
    }
}

/// One row of the catalogue.
#[derive(Debug)]
pub struct Rule {
    /// The code, as written in output.
    pub name: &'static str,
    /// The family that raises it.
    pub family: Family,
    /// Its level.
    pub severity: Severity,
    /// The rule in a few words.
    pub title: &'static str,
    /// Why it matters and how it is checked.
    pub explanation: &'static str,
    /// What to do when it is raised.
    pub advice: &'static str,
}

macro_rules! catalogue {
    ($($code:ident $name:literal $family:ident $severity:ident $title:literal $explanation:literal $advice:literal;)*) => {
        /// A finding code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $title] $code,)* }

        /// All rules, in catalogue order.
        pub static CATALOGUE: &[Rule] = &[$(Rule {
            name: $name,
            family: Family::$family,
            severity: Severity::$severity,
            title: $title,
            explanation: $explanation,
            advice: $advice,
        },)*];

        impl Code {
            /// All codes, in catalogue order.
            pub const ALL: &[Code] = &[$(Code::$code,)*];
        }
    };
}

impl Code {
    /// The code's row.
    pub fn rule(self) -> &'static Rule {
        &CATALOGUE[self as usize]
    }

    /// The code as written in output.
    pub fn name(self) -> &'static str {
        self.rule().name
    }

    /// The code's level.
    pub fn severity(self) -> Severity {
        self.rule().severity
    }

    /// What to do when it is raised.
    pub fn advice(self) -> &'static str {
        self.rule().advice
    }

    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }
}

catalogue! {
    HashMismatch "hash-mismatch" Integrity Error
        "A file's bytes are not the recorded ones"
        "The SHA-256 of the file differs from its entry in receipts.json, and so does that of its text with line endings \
         normalised to LF. The file was changed after it was sealed, or the receipt was."
        "Fetch the file again from its source; if you changed it on purpose, seal the package again.";
    SizeMismatch "size-mismatch" Integrity Error
        "A recorded byte count contradicts the recorded hash"
        "The file's SHA-256 matches its receipt but the recorded number of bytes does not, so the receipt was not \
         written from the file."
        "Seal the package again.";
    LineEndings "line-endings" Integrity Warning
        "A text file matches only after its line endings are normalised"
        "Version control may check text out with CRLF. The raw bytes differ from the receipt, the same text with LF \
         matches: nothing was changed but the line endings."
        "Check out with `* text eol=lf` in .gitattributes, or with core.autocrlf=false, and verify again.";
    AbsentFile "absent-file" Integrity Error
        "A declared file is not there"
        "receipts.json lists the file, the package does not have it. Nothing can be said about its content."
        "Fetch the missing file, or accept its absence with --allow-absent GLOB.";
    Unsigned "unsigned" Integrity Error
        "A signature was asked for and there is none"
        "With --allowed-signers a package must carry receipts.json.sig, an SSH signature over receipts.json. Without it \
         anybody may have written the receipts. A single file has no receipts that could be signed."
        "Ask the author for a signed package (recount seal DIR --sign KEY), or verify without --allowed-signers.";
    SignatureInvalid "signature-invalid" Integrity Error
        "receipts.json.sig is no signature that can be checked"
        "The file must be an armored SSH signature (PROTOCOL.sshsig) in the namespace that is expected, made with an \
         ed25519, ecdsa or rsa key. A signature in another namespace was made for another purpose and says nothing here."
        "Sign again with `recount seal DIR --sign KEY`, or with `ssh-keygen -Y sign -n recount -f KEY receipts.json`.";
    SignatureMismatch "signature-mismatch" Integrity Error
        "The signature was made over other bytes than those of receipts.json"
        "receipts.json was changed after it was signed, or the signature belongs to another package or was changed itself. \
         Whoever forges a file can write new receipts, but no new signature."
        "Fetch the package again from its source; if you changed it on purpose, sign it again.";
    SignerUnknown "signer-unknown" Integrity Error
        "The signature is valid, but its key is not one that is allowed"
        "The signature covers receipts.json, so the holder of its key signed them. The allowed-signers file has no line with \
         this key that counts for the identity, the namespace and the time that were asked for."
        "Find out whose key it is; if you trust it, add a line for it to the allowed-signers file.";
    UndeclaredFile "undeclared-file" Integrity Warning
        "A file in the package has no receipt"
        "The file lies in the package folder but receipts.json does not list it, so nothing binds its content."
        "Remove the file, or seal the package again with it.";
    UnboundEvidence "unbound-evidence" Integrity Error
        "A file that checks read has no receipt"
        "The file's name is one of those that checks read, so its content would count as evidence. But receipts.json does not \
         list it: neither a hash from elsewhere nor a signature says anything of it, and anybody may have put it there."
        "Seal the package again with it, or remove it.";
    Unredacted "unredacted" Integrity Warning
        "A file, or its name, holds what looks private"
        "A home folder, a toolkit path of one machine, a GPU's UUID, an e-mail address, or what has the form of a key, a \
         token or a password stands in a file that is published, or in its name. Only its form is known, so this is a \
         warning; reports show it masked."
        "Replace it with `recount seal DIR --redact`, which leaves names of files and bytes that are no UTF-8 text to you; \
         if it is a secret that was published, revoke it.";
    UnsafePath "unsafe-path" Integrity Error
        "A declared name is not a plain relative path"
        "Names must be relative, normalised, written with `/`, and mean the same on every system: no `..`, no drive or \
         home prefix, no backslash, no control character, no name that Windows reserves. Nothing is opened."
        "Rename the file and seal the package again.";
    DuplicatePath "duplicate-path" Integrity Error
        "Two names are one file on some systems"
        "A declared name equals another one, declared or not, after Unicode normalisation (NFC) or case folding, so the \
         package cannot be unpacked everywhere without losing a file."
        "Rename or remove one of the files and seal the package again.";
    Symlink "symlink" Integrity Error
        "A declared file is a symbolic link"
        "A link may point outside the package and may change its target. Links are never followed."
        "Replace the link with the file itself.";
    SpecialFile "special-file" Integrity Error
        "A declared name is not a regular file"
        "A folder, pipe, socket or device stands where a file was declared. It is not opened."
        "Replace it with a regular file.";
    UnreadableFile "unreadable-file" Integrity Error
        "A declared file could not be read"
        "The system refused to open or read the file, it changed while it was read, or it is larger than the limit."
        "Check permissions and size, and verify again.";
    UnreadablePackage "unreadable-package" Integrity Unsupported
        "receipts.json cannot be read"
        "The system refused to open or read receipts.json, it changed while it was read, or it is larger than the limit. \
         Nothing can be said about the package."
        "Check permissions and size, and verify again.";
    ReceiptsAnchor "receipts-anchor" Integrity Error
        "receipts.json is not the one that was expected"
        "Hashes inside a package prove nothing against someone who can rewrite all of it. The SHA-256 given with \
         --expect-receipts comes from elsewhere, and this receipts.json does not have it."
        "Obtain the package, or the expected hash, from a source that you trust.";
    NothingVerified "nothing-verified" Integrity Error
        "The package declares nothing"
        "receipts.json lists no file. A check of nothing is not a pass."
        "Seal the package.";
    IncompletePackage "incomplete-package" Integrity Error
        "A file or a record that the package's own evidence needs is not there"
        "A partition package has its cases, device, runs and samples, and what its model, its provenance and its README state \
         can be recomputed from them. What was left out cannot be checked, and leaving out must not pass for agreement."
        "Restore what is missing; accept the absence of a file with --allow-absent GLOB.";
    EmptyPackage "empty-package" Integrity Error
        "The package records no case, no cohort or no run"
        "A package of nothing contradicts nothing; that is not a pass."
        "Restore the records, or remove the package.";
    MalformedReceipt "malformed-receipt" Integrity Error
        "A receipt lacks its hash or its byte count"
        "Each entry of receipts.json needs a lower-case SHA-256 of 64 hexadecimal digits and a byte count that is not \
         negative."
        "Seal the package again.";
    JsonSyntax "json-syntax" Integrity Error
        "A JSON file cannot be read"
        "The text is not JSON as RFC 8259 defines it (NaN and Infinity are not), is nested too deep, or holds a number that \
         cannot be represented. Checks that need the file are not run."
        "Fetch the file again; it may be cut off.";
    DuplicateKey "duplicate-key" Integrity Error
        "A JSON object has one member twice"
        "Readers differ in which of the two they keep, so two people may verify different content."
        "Remove one of the two members.";
    UnsupportedSchema "unsupported-schema" Integrity Unsupported
        "The format or its version is not known"
        "The `schema` or `kind` field names a format that this version does not read. Nothing can be said about it."
        "Use a version of recount that knows this format.";
    MalformedField "malformed-field" Proofs Error
        "A field is missing or has the wrong type"
        "A value that the format requires is absent or is something else (a string where a number belongs, a receipt without a \
         hash), or stands where the format has none. What depends on it is not checked."
        "Compare the file with the published format.";

    CsvSyntax "csv-syntax" Samples Error
        "samples.csv cannot be read"
        "The header, the number of cells in a row, or the text encoding is not what the format says."
        "Fetch the file again; it may be cut off.";
    SampleValue "sample-value" Samples Error
        "A sample is not a positive finite number in its shortest form"
        "Times are finite and greater than zero. `nan`, `inf`, empty, zero and negative cells are no measurements, and \
         neither is a decimal that is not the shortest form of its binary64 value."
        "Restore the measured value.";
    SampleMismatch "sample-mismatch" Samples Error
        "samples.csv and validation.json disagree on a sample"
        "Each sample stands in both files. They must be the same binary64 number, bit for bit."
        "Find out which of the two files was changed.";
    SampleRows "sample-rows" Samples Error
        "Samples are missing, superfluous or not in order"
        "samples.csv has one row for each sample in validation.json, in the order of cases, cohorts, routes and indexes, \
         with indexes from 0 without gaps; a cohort without samples is no cohort."
        "Export samples.csv again from validation.json.";
    MedianMismatch "median-mismatch" Samples Error
        "A recorded median is not the median of its samples"
        "The p50 must equal the true median of the samples beside it (the mean of the middle two for an even count), to the \
         last bit."
        "Recompute the median; find out which run the recorded one came from.";
    StatusMismatch "status-mismatch" Samples Error
        "A status column contradicts the record"
        "original_case_status and original_cohort_status repeat what validation.json says of the case and the cohort."
        "Restore the original status; a failed run stays failed.";
    CountMismatch "count-mismatch" Samples Error
        "A stated count is not the counted one"
        "Cases, executions and groups that the package states are counted again in its data."
        "Correct the statement or restore the missing records.";

    EventTime "event-time" Timing Error
        "A time per operation does not follow from its span"
        "Microseconds per operation are the event span in milliseconds times 1000 over the operations in it, in \
         binary64, in that order."
        "Recompute the time from the span.";
    SpanLattice "span-lattice" Timing Error
        "An event span is not a binary32 number"
        "CUDA reports event times as binary32 milliseconds. A recorded span that no binary32 number equals was not \
         reported by the device. Spans of another backend are positive and finite."
        "Restore the span as the device reported it.";
    OperationCount "operation-count" Timing Error
        "Operations, replays and batch disagree"
        "Operations per sample are the replays times the operations in one graph; native dispatches equal them, and Torch's, \
         where they were counted, are no fewer."
        "Restore the recorded counts.";
    Calibration "calibration" Timing Error
        "The calibration record does not lead to the replay count"
        "Calibration starts with one replay; each next count is the target over the last span times its count, rounded up; \
         counts stay within the caps, and may be cut to them; a target whose span was reached was not missed."
        "Restore the calibration record of this run.";
    CalibrationEnd "calibration-end" Timing Warning
        "The calibration ended otherwise than in the published package"
        "There the samples use the last calibrated count, the target counts as reached from half its span on, and as missed \
         only at a cap. Another producer may do otherwise, so this is a warning."
        "Check how the replay count was chosen.";
    WarmUp "warm-up" Timing Error
        "The warm-up did not reach its target"
        "The recorded warm-up time is at least the target, with at least one replay."
        "Restore the warm-up record, or run again.";
    WarmUpReplays "warm-up-replays" Timing Warning
        "A warm-up has more replays than its time allows"
        "At the median span of the samples, the recorded number of replays takes over a quarter longer than the recorded \
         warm-up. Spans vary, so this is a warning."
        "Check which run the warm-up record belongs to.";
    HostSpan "host-span" Timing Error
        "A host span is shorter than the device span inside it"
        "The host waits for the device, so its span contains the event span, but for one tick of the host's clock and the \
         rounding of the event span."
        "Restore the recorded spans.";
    ClockTick "clock-tick" Timing Warning
        "A host time is finer than its own clock"
        "Most host times of the package are whole ticks of 100 ns (as in the published one) or of 1 ns. A finer value was not \
         read from the same clock."
        "Restore the time as the clock gave it.";
    ProtocolSetting "protocol-setting" Timing Error
        "Runs of one package were made under different settings"
        "Targets, caps, number of samples, protocol name and what manifests say of how cases are computed are settings of the \
         whole benchmark; medians of runs with different settings cannot be compared."
        "Find the runs with other settings and repeat them.";
    OverlapFigure "overlap-figure" Timing Error
        "A figure of overlapping operations does not follow from its medians"
        "overlap.json names for each case the fastest schedule of the route, the plain and the Torch median of the same case, \
         and their ratios, and geometric means over all cases; all of it is taken again from the medians."
        "Recompute the figures.";
    OverlapMixed "overlap-mixed" Timing Error
        "Figures of overlapping operations stand for plain ones, or plain ones for them"
        "Programmatic dependent launch is another contract than stream order, so overlap.json has runs of its own, says so in \
         its scope, and none of its samples are those of a plain run; it names cases and cohorts that were run."
        "Restore the samples of the route, or take the file out.";

    CaseMismatch "case-mismatch" Proofs Error
        "A case is described differently in two places"
        "cases.json, validation.json, the manifests and the model repeat each case; the padded width is the smallest power \
         of two that holds a row; storage, operation and pattern agree, and each tensor has a path of its own."
        "Restore the description under which the case was run.";
    FixtureMismatch "fixture-mismatch" Proofs Error
        "Two runs of one case had different inputs or manifests"
        "Every cohort of a case uses the same fixture files (the manifest's inputs, the oracle and its bound) and the same \
         manifest; otherwise times are not comparable."
        "Run the cohort again on the same fixtures.";
    SourcePrefix "source-prefix" Proofs Error
        "The original source is not an unchanged prefix"
        "A partition entry is appended to the original source. Each cohort's hash of the original part equals the \
         default's source hash."
        "Restore the source receipts, or run again with the original source.";
    CompilerHints "compiler-hints" Proofs Warning
        "A run was compiled with other hints than the others"
        "In the published package the hints to the compiler are the same in every run. Another producer may vary them, so \
         this is a warning."
        "Check which hints the run was made with.";
    CompilerFiles "compiler-files" Proofs Warning
        "The compiler's count and its files are not those of the published package"
        "There every kernel that Torch's compiler counted has a Triton wrapper of its own, and every file that it wrote is one of \
         its wrappers. Another compiler may do otherwise, so this is a warning."
        "Check which run the compiler's record belongs to.";
    DeviceRecord "device-record" Proofs Error
        "The device record contradicts itself or the runs"
        "The driver's line repeats the device's name and compute capability, warps have threads, Torch saw the same device, and \
         what the manifests call the CPU has no GPU, no driver and no compiler for CUDA."
        "Restore the record of the device that the runs were made on.";
    Selection "selection" Proofs Error
        "A launch does not follow from geometry and schedule"
        "Grid, entry, byte spans and original rows follow from R, N, B, the storage type and the rows asked for; the \
         partition entry is taken only when its spans are disjoint, and the original one otherwise."
        "Restore the launch receipt.";
    Realization "realization" Proofs Error
        "The compiler's realization contradicts the tile"
        "A realization text may state programs, byte counts, tile size, width and reduction kind; what it states follows from \
         the case, and all cohorts of a case state the same facts."
        "Restore the realization text.";
    OutputCheck "output-check" Proofs Error
        "An output was not fully rechecked, or failed"
        "Every output element is compared with the oracle, none fails, guards and inputs are unchanged, the saved output has \
         the size of R elements, and errors recorded twice agree."
        "Run again; an output that fails has no valid time.";
    OutputDiffers "output-differs" Proofs Warning
        "Exact outputs of one case differ"
        "Runs whose recorded error against the oracle is zero, on the same fixtures, store the same numbers; two hashes for \
         them contradict each other."
        "Check which output belongs to which run.";
    Comparison "comparison" Proofs Error
        "A recorded comparison is not the ratio of its medians"
        "candidate/default, the percentage, the sign in words and the Torch ratio are recomputed from the medians; a \
         comparison of a run without times has no numbers."
        "Recompute the comparison.";
    ReceiptConflict "receipt-conflict" Proofs Error
        "One file is recorded with two hashes"
        "The same path stands in several receipts of the package; hash and byte count must be the same everywhere. A bare name \
         without a folder does not identify a file."
        "Find out which receipt is the right one.";
    CopyMismatch "copy-mismatch" Proofs Error
        "A record that is repeated differs from its original"
        "Parts of the record stand in several files; the copies must be equal."
        "Find out which copy was changed.";

    FailureRelabelled "failure-relabelled" Failures Error
        "A failed run is called something else"
        "A case whose process failed makes its cohort failed, whatever happened later, and a failure that is preserved \
         anywhere in the package is one in the record of its run. What has times has no record of a failure."
        "Restore the original status.";
    BaselineFilled "baseline-filled" Failures Error
        "A missing baseline carries a time"
        "A route that failed or was not asked for has no timing: not zero, not a later retry's, not another's, and under no \
         other name. Neither has a comparison with it."
        "Remove the time; a missing measurement stays missing.";
    RetrySubstituted "retry-substituted" Failures Error
        "A retry is not kept apart"
        "A later run of a failed case is stored as a separate execution, for a case that did fail with the same rows per \
         program, with its own receipts."
        "Store the retry separately and restore the original record.";
    FailureRecord "failure-record" Failures Error
        "The record of the failure is incomplete or contradicts itself"
        "A failed process keeps its exit status, times and text; the preserved failure agrees with the run it came from and \
         with itself; a process ends after it started, by as many seconds as it took."
        "Restore the original failure record.";

    ProfileId "profile-id" Model Error
        "The profile id is not the hash of the profile"
        "profile_id is the SHA-256 of the profile's canonical JSON (sorted keys, no spaces, ASCII, Python's floats)."
        "Recompute the id, or restore the profile that was fitted.";
    Provenance "provenance" Model Error
        "Ids or hashes disagree between files"
        "model.json, provenance.json, proof-receipts.json, receipts.json and validation.json name the same script, summary, \
         profile and snapshot."
        "Restore the provenance of this package.";
    Observation "observation" Model Error
        "A training observation does not follow from the data"
        "Observations, their facts and features are rebuilt from validation.json and device.json."
        "Rebuild the observations and fit again.";
    Weight "weight" Model Error
        "A weight, scale, group or record id of a training set is wrong"
        "Each geometry has total weight one; scales are the weighted RMS of each feature over the training set only."
        "Fit again.";
    Subset "subset" Model Error
        "An active subset is not what a refit gives"
        "All subsets of the features are solved again: status, coefficients, objective, rank, singular values, condition."
        "Fit again.";
    Coefficient "coefficient" Model Error
        "A coefficient or the chosen subset is not what a refit gives"
        "The best feasible subset is chosen again by objective, size and mask; its coefficients are compared."
        "Fit again.";
    Residual "residual" Model Error
        "A residual is not what a refit gives"
        "Predicted, observed, signed and relative error of each observation, in the full fit and in each fold."
        "Evaluate the model again.";
    Decision "decision" Model Error
        "A decision or an observed ratio is not what a refit gives"
        "Scores, the selected schedule, its reason and the observed ratios are made again from the refitted model."
        "Evaluate the policy again.";
    Metric "metric" Model Error
        "A summary metric is not what the decisions give"
        "Counts, regressions, worst ratio and the geometry-equal-weight geometric mean."
        "Recompute the summary.";
    Fold "fold" Model Error
        "The folds are not leave-one-geometry-out"
        "There is one fold for each geometry, in order; it trains on all others and holds out every variant of its own."
        "Run the cross-validation again.";
    Drift "drift" Model Error
        "A recheck drift or candidate ratio is not what the medians give"
        "Samples, medians, recheck over default, and candidates over default and over recheck."
        "Recompute the record.";
    ModelText "model-text" Model Error
        "A declared part of the model contradicts the procedure"
        "Formula, policy, feature names, status and declared device repeat what the fit is and what it was fitted on."
        "Restore the declaration.";

    ExactOptimum "exact-optimum" Exactness Error
        "A coefficient is not the exact optimum"
        "The same least-squares problem is solved in rational arithmetic without rounding. A recorded coefficient further \
         from it than the tolerance, relative to the largest scaled coefficient and the condition of the columns, is not a \
         solution of this problem."
        "Fit again.";
    ExactSubset "exact-subset" Exactness Error
        "The exact optimum has another active subset"
        "The best nonnegative subset is decided without rounding, with the optimality (KKT) conditions of the winner."
        "Fit again, and look at how close the objectives are.";

    ProseTable "prose-table" Prose Error
        "A table cell of the README contradicts the data"
        "In a table with a `default` column and rows named by case, each median is compared with the recorded one rounded to \
         the printed digits, `missing` stands where there is no time, the selection is the decision when the case's geometry \
         is held out, and each case has one row."
        "Correct the README.";
    ProseClaim "prose-claim" Prose Error
        "A number in the README's text contradicts the data"
        "Coefficients, counts, drift, residuals, metrics, single medians, the device, the commit and exit statuses that the \
         words around a number name are recomputed and rounded to the printed digits; either side of a tie will do."
        "Correct the README.";
    ProseStatement "prose-statement" Prose Warning
        "A statement in the README does not seem to agree with the data"
        "Counts in letters, statuses, names of devices, masks, shapes, whose a figure is, the unit that a caption states, and \
         tables in HTML or in code are compared with the data. What they speak of is understood only from the words around \
         them, so that this is a warning."
        "Read the statement: correct it if it is wrong, or leave it if it speaks of something else.";
    ProseUntraced "prose-untraced" Prose Warning
        "A decimal number in the README follows from nothing in the data"
        "A measured-looking number that equals no derived quantity at its printed precision may be out of date."
        "Correct the number, or say where it comes from.";

    ClaimInconsistent "claim-inconsistent" Claims Error
        "A claim cannot follow from the printed medians"
        "Printed medians stand for intervals of half a unit in their last digit. The claimed number, at its own printed \
         precision, lies outside everything those intervals allow."
        "Correct the claim or the table.";
    ClaimMalformed "claim-malformed" Claims Error
        "A claim or a medians table cannot be read"
        "claims.json names a quantity that is not known, a number that is not a decimal, or a case that the table does \
         not have."
        "Correct the entry.";

    PairCount "pair-count" Divergence Error
        "The number of pairs is not that of the trials"
        "All pairs of n trials are n(n-1)/2. Another number means that pairs were left out or counted twice."
        "Compare all pairs, or restore the number of trials.";
    CoordinateCount "coordinate-count" Divergence Error
        "The number of coordinates is not the product of the shape"
        "The gradient has the input's shape, so it has as many values as the product of the extents."
        "Restore the shape or the number of coordinates.";
    DivergenceProtocol "divergence-protocol" Divergence Error
        "A measurement contradicts its protocol"
        "Resolutions are distinct, a complete run has measured every one of them with every trial, and all engines of a \
         package followed the same protocol."
        "Mark the run as incomplete, or measure what is missing.";
    DivergenceArm "divergence-arm" Divergence Error
        "An arm is unknown, undeclared or missing"
        "The arms are idle and background-matmul. A device has the figures of every arm that the protocol declares, and of \
         no other."
        "Restore the arm, or correct the protocol.";
    FigureLength "figure-length" Divergence Error
        "A list does not have one entry for each of what it is about"
        "Figures have one value for each resolution, pairs one for each pair in combination order, hashes one for each \
         trial."
        "Restore the entries.";
    FigureRange "figure-range" Divergence Error
        "A figure is outside of what it can be"
        "A drift is a whole number from 0 to the number of coordinates, a divergence is finite and not negative, a match rate \
         lies between 0 and 100 percent."
        "Restore the measured figure; gradients that are not finite have no divergence to publish.";
    ZeroDrift "zero-drift" Divergence Error
        "Drift, divergence and match rate contradict each other"
        "Without drift in any pair the divergence is zero and all pairs match; with drift some pair does not match."
        "Find out which of the three figures is another run's.";
    SignedZero "signed-zero" Divergence Warning
        "Coordinates drift, but by nothing"
        "Bits differ while the largest absolute difference is zero. That is possible in one way: 0.0 here and -0.0 there. \
         Where the tensors are in the package they decide; here they are not."
        "Look at the gradients, or publish them.";
    MatchRate "match-rate" Divergence Error
        "A match rate is no number of pairs"
        "Equal pairs are counted, so a rate is a whole number out of all pairs. None of those rounds to the printed rate."
        "Recompute the rate from the pairs.";
    EqualPairs "equal-pairs" Divergence Error
        "No trials can have this number of equal pairs"
        "Bitwise equality divides the trials into classes; the equal pairs are the sum of C(n,2) over their sizes. Already one \
         trial that stands apart from 29 others takes 29 pairs with it."
        "Recompute the rate from the pairs.";
    DivergenceLattice "divergence-lattice" Divergence Error
        "A divergence is no difference of binary32 gradients"
        "Differences of binary32 numbers are multiples of the smaller one's step. Sums of the same terms agree to better than \
         one part in 4096, so a divergence is a multiple of 2^-11 times its own power of two; none of those rounds to the \
         printed figure."
        "Recompute the divergence from the gradients.";
    DeviceCapability "device-capability" Divergence Error
        "Compute capability, architecture and device contradict each other"
        "Each compute capability belongs to one architecture, and well-known devices have a well-known one."
        "Restore the capability as the driver reports it.";
    DeviceSoftware "device-software" Divergence Error
        "Software versions contradict each other"
        "The local part of PyTorch's version names the CUDA version it was built with, and what ran on a host used no CUDA or \
         cuDNN."
        "Restore the versions as they were reported.";
    DeviceKey "device-key" Divergence Warning
        "A device's key does not name it"
        "Keys are made of the words of the device's name, with the engine where it is not PyTorch, and differ in more than \
         case."
        "Rename the device.";
    DeterminismProbe "determinism-probe" Divergence Error
        "The deterministic-mode probe contradicts the devices"
        "On a GPU a refusal names the CUDA kernel, on a host nothing refers to one. One PyTorch release has one outcome: in 2.11 \
         this operation has no deterministic implementation on a GPU. Another release may differ, which is noted as changed."
        "Restore the outcome, or the version under which it was observed.";
    ExperimentIncomplete "experiment-incomplete" Divergence Warning
        "A run is marked as incomplete"
        "It was stopped before it had measured all that its protocol asks for. What it has measured is checked like any other."
        "Measure the rest before publishing the figures as the protocol's.";
    TrialHash "trial-hash" Divergence Error
        "A trial's hash is not that of its gradient"
        "Each trial has the SHA-256 of its values, little-endian in row-major order; it is taken again from the tensors."
        "Find out which run the tensor belongs to.";
    PairMismatch "pair-mismatch" Divergence Error
        "A pair's drift or divergence is not that of its trials"
        "Pairs are compared again from the tensors, bit for bit. Where those are not in the package, equal hashes and zero \
         drift still imply each other."
        "Compare the trials again.";
    SummaryMismatch "summary-mismatch" Divergence Error
        "A summary does not follow from its pairs"
        "The largest drift, the largest divergence and the share of equal pairs are taken again from the recorded pairs."
        "Summarize the pairs again.";
    InputHash "input-hash" Divergence Error
        "An input's hash is wrong, missing or not the same everywhere"
        "Every arm and engine consumed the same bytes: one input, and a grid and an output gradient for each resolution. Hashes \
         are taken again from the inputs in the package, and from those that the protocol's seed and generator make."
        "Run again with the same inputs.";
    TensorFile "tensor-file" Divergence Error
        "A tensor is missing, unexpected or of another form"
        "Tensors are .npy files (version 1.0) of little-endian binary32 values in row-major order, with the shape that the \
         protocol asks for; nothing else is read, least of all pickled objects. Gradients are there for the resolutions that \
         the results list, and for no others."
        "Export the tensor again.";
    DivergenceTiming "divergence-timing" Divergence Error
        "A time in timing.json does not follow from its spans"
        "An operation's time is its span over the replays and the operations of a graph; medians, ratios of medians and their \
         geometric mean are taken again. Spans are binary32, as device events give them, as many as the protocol says, for \
         engines and resolutions of the package."
        "Compute the times again from the spans.";
    DivergenceAccuracy "divergence-accuracy" Divergence Error
        "An entry of accuracy.json contradicts the trials"
        "Each engine, arm and resolution of the results has an error against a binary64 reference. Trials with the same hash have \
         the same errors, and those that equal the host's fixed point are one tensor for each resolution."
        "Run the comparison with the reference again.";
    EngineFolder "engine-folder" Divergence Error
        "An engine is unknown or not in its own folder"
        "The engines are torch, cuda, deterministic and cpu; each has its results in the folder of its name."
        "Rename the folder.";
}
