//! Bounds on what is read from a package. A package is untrusted; every size it can choose ends here.

/// Largest file that is read into memory to be parsed: 256 MiB, over a hundred times the published `validation.json`. Ten
/// files may be parsed at once, and a value takes at least 32 bytes in memory where its text may take two.
pub const MAX_PARSED_BYTES: u64 = 256 << 20;

/// Values in one JSON file: with their 32 bytes each, at most 1 GiB.
pub const MAX_JSON_VALUES: usize = 1 << 25;

/// Arrays and objects inside each other in one JSON file; that of `serde_json`, whose parser recurses.
pub const MAX_JSON_DEPTH: usize = 127;

/// Floats in the long lists of one JSON file that is read in a stream: with at most 8 bytes each, 2 GiB.
pub const MAX_JSON_FLOATS: usize = 1 << 28;

/// Bytes of all strings of one JSON file that is read in a stream: 256 MiB.
pub const MAX_JSON_TEXT_BYTES: usize = 256 << 20;

/// Bytes but for blanks that follow each other without a comma or a string in a JSON file that is read in a stream: 1 MiB.
pub const MAX_JSON_TOKEN_BYTES: usize = 1 << 20;

/// Runs of a `samples.csv` that is read in a stream: 2^18, more than a `validation.json` can have values for.
pub const MAX_SAMPLE_RUNS: usize = 1 << 18;

/// Files of measurements from this size on are read in a stream, and their text is not kept: 32 MiB.
pub const STREAMED_BYTES: u64 = 32 << 20;

/// Lists of at least so many floats are packed while a file is read in a stream.
pub const PACKED_FROM: usize = 64;

/// Largest file of measurements that is read in a stream: 16 GiB.
pub const MAX_STREAMED_BYTES: u64 = 16 << 30;

/// Length of a JSON pointer that a finding shows, in bytes; a package chooses the names that pointers consist of.
pub const MAX_POINTER_BYTES: usize = 8 << 10;

/// Largest file that is hashed: 1 TiB.
pub const MAX_HASHED_BYTES: u64 = 1 << 40;

/// Folders below each other that are searched.
pub const MAX_FOLDER_DEPTH: usize = 64;

/// Files and folders that are listed in one package.
pub const MAX_LISTED_FILES: usize = 1 << 22;

/// Length of a file name's component, in bytes; the limit of common file systems.
pub const MAX_NAME_BYTES: usize = 255;

/// Length of a whole declared name, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;

/// Largest `.recountignore`: thousands of lines.
pub const MAX_IGNORE_BYTES: u64 = 64 << 10;

/// Largest JSON file that may be a divergence receipt: 64 MiB, thousands of devices.
pub const MAX_RECEIPT_BYTES: u64 = 64 << 20;

/// Values of inputs that are made again from their seed while one package is verified: 32 Mi, nineteen times the published
/// ones.
pub const MAX_GENERATED_VALUES: usize = 1 << 25;

/// Extents and resolutions of a divergence protocol; tensors of more are not measured anywhere.
pub const MAX_EXTENT: u64 = 1 << 24;

/// Trials whose pairs are counted; far more than anyone compares.
pub const MAX_COUNTED_TRIALS: u64 = 1 << 31;

/// Largest `receipts.json.sig`, key and passphrase file: 64 KiB.
pub const MAX_SIGNATURE_BYTES: u64 = 64 << 10;

/// Largest file of allowed signers: 4 MiB, tens of thousands of keys.
pub const MAX_ALLOWED_BYTES: u64 = 4 << 20;

/// Largest README that is read as prose: 1 MiB.
pub const MAX_README_BYTES: usize = 1 << 20;

/// Numbers in the sentences of a README that are looked at.
pub const MAX_README_NUMBERS: usize = 20_000;

/// Rows of `medians.csv`. Each geometry is held out of a fit once, so that work grows with the square.
pub const MAX_MEDIAN_ROWS: usize = 1024;

/// Longest line of a `samples.csv` that is read in a stream: a row has names of some hundred bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Largest file that is no text and is still searched for what is private: 16 MiB.
pub const MAX_BINARY_BYTES: u64 = 16 << 20;
