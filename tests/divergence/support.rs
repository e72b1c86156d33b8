//! Running the program, editing JSON, and building small raw packages.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use recount::divergence::pair_count;
use recount::package::divergence::{
    Arm, ConditionRecord, Engine, ExperimentResults, ResolutionRecord, files, input_sha256,
};
use recount::package::json::{Document, Json, indented};
use recount::package::npy::Tensor;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The repository's own receipt.
pub(crate) const RECEIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/receipts/grid-sample-divergence.json");

/// How a run of the program ended.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program.
#[track_caller]
pub(crate) fn recount(args: &[impl AsRef<OsStr>]) -> Run {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_recount"));
    let output = command.env_remove("COLUMNS").args(args).output().unwrap();
    let run = Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert!((0..=2).contains(&run.status) && !run.stderr.contains("panicked"), "{}\n{}", run.status, run.stderr);
    run
}

/// What `verify` says of a path.
pub(crate) struct Verified {
    pub(crate) status: i32,
    pub(crate) report: Value,
}

/// Verifies a path.
#[track_caller]
pub(crate) fn verify(path: &Path) -> Verified {
    let run = recount(&["verify".as_ref(), path.as_os_str(), "--format".as_ref(), "json".as_ref()]);
    let report = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout));
    Verified { status: run.status, report }
}

impl Verified {
    /// `code file pointer` of every finding.
    pub(crate) fn findings(&self) -> Vec<(String, String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let subjects = self.report["subjects"].as_array().unwrap().iter();
        let checks = subjects.flat_map(|subject| subject["checks"].as_array().unwrap());
        let findings = checks.flat_map(|check| check["findings"].as_array().unwrap());
        findings.map(|one| (text(&one["code"]), text(&one["file"]), text(&one["pointer"]))).collect()
    }

    /// Whether there is a finding with this code at this pointer.
    pub(crate) fn has(&self, code: &str, pointer: &str) -> bool {
        self.findings().iter().any(|(found, _, at)| found == code && at == pointer)
    }

    /// All notes of the family.
    pub(crate) fn notes(&self) -> String {
        let checks = self.report["subjects"][0]["checks"].as_array().unwrap();
        checks.iter().map(|check| check["notes"].to_string()).collect()
    }

    /// Nothing was found, and the status says so.
    #[track_caller]
    pub(crate) fn is_clean(&self) {
        assert_eq!((self.status, self.findings()), (0, Vec::new()));
    }
}

/// A change of a JSON tree.
#[derive(Clone)]
pub(crate) enum Edit {
    /// Put a value in place of another.
    Set(&'static str, Value),
    /// Add a member or replace it.
    Add(&'static str, &'static str, Value),
    /// Take a member or the last item away.
    Remove(&'static str),
}

/// Changes a tree.
#[track_caller]
pub(crate) fn edit(root: &mut Value, change: &Edit) {
    match change {
        Edit::Set(pointer, value) => {
            *root.pointer_mut(pointer).unwrap_or_else(|| panic!("nothing at {pointer}")) = value.clone();
        }
        Edit::Add(pointer, name, value) => root.pointer_mut(pointer).unwrap()[*name] = value.clone(),
        Edit::Remove(pointer) => {
            let (parent, last) = pointer.rsplit_once('/').unwrap();
            match root.pointer_mut(parent).unwrap() {
                Value::Object(members) => assert!(members.remove(last).is_some(), "nothing at {pointer}"),
                Value::Array(items) => {
                    items.remove(last.parse().unwrap());
                }
                other => panic!("{parent} is {other}"),
            }
        }
    }
}

/// The repository's receipt, changed, in a folder of its own.
#[track_caller]
pub(crate) fn changed_receipt(changes: &[Edit]) -> (TempDir, PathBuf) {
    let mut root: Value = serde_json::from_str(&fs::read_to_string(RECEIPT).unwrap()).unwrap();
    for change in changes {
        edit(&mut root, change);
    }
    receipt_file(&serde_json::to_string_pretty(&root).unwrap())
}

/// A text as a receipt file in a folder of its own.
pub(crate) fn receipt_file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("receipt.json");
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// A small raw package: what it is to hold.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) shape: [u64; 4],
    pub(crate) trials: u64,
    pub(crate) resolutions: Vec<u64>,
    pub(crate) engines: Vec<Engine>,
    pub(crate) arms: Vec<Arm>,
    /// Resolutions whose gradients are kept.
    pub(crate) kept: Vec<u64>,
    pub(crate) inputs: bool,
    pub(crate) seed: u64,
    pub(crate) gpu: bool,
    pub(crate) device: &'static str,
    /// The resolutions measured, where the run was stopped.
    pub(crate) stopped_after: Option<Vec<u64>>,
    /// What kind of gradients there are.
    pub(crate) gradients: Gradients,
    /// A last change of every tensor of gradients.
    pub(crate) touch: fn(&mut Tensor),
}

/// Where gradients come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gradients {
    /// Values from 1 to 2 that differ by some steps of 2^-23.
    Steps,
    /// Sums of some terms, each trial in another order.
    Sums,
    /// Any bits at all.
    Bits,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            shape: [2, 2, 3, 3],
            trials: 4,
            resolutions: vec![2, 5],
            engines: vec![Engine::Torch, Engine::Deterministic],
            arms: Arm::ALL.to_vec(),
            kept: vec![2, 5],
            inputs: true,
            seed: 7,
            gpu: true,
            device: "NVIDIA H200",
            stopped_after: None,
            gradients: Gradients::Steps,
            touch: |_| {},
        }
    }
}

/// A raw package in a folder that goes away with it.
pub(crate) struct Package {
    folder: TempDir,
}

impl Recipe {
    /// A host that computes with the engine `cpu`.
    pub(crate) fn host() -> Self {
        Self { engines: vec![Engine::Cpu], gpu: false, device: "Some host", ..Self::default() }
    }

    fn size(&self) -> usize {
        usize::try_from(self.shape.iter().product::<u64>()).unwrap()
    }

    fn inputs(&self) -> Vec<(String, Tensor)> {
        let [batch, channels, _, _] = self.shape;
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut tensor = |shape: Vec<u64>| {
            let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
            Tensor {
                shape: shape.into_iter().map(|extent| usize::try_from(extent).unwrap()).collect(),
                values: (0..count).map(|_| random.f32() * 2.0 - 1.0).collect(),
            }
        };
        let mut inputs = vec![("input".to_owned(), tensor(self.shape.to_vec()))];
        for &one in &self.resolutions {
            inputs.push((format!("grid-{one}"), tensor(vec![batch, one, one, 2])));
            inputs.push((format!("grad-output-{one}"), tensor(vec![batch, channels, one, one])));
        }
        inputs
    }

    /// Gradients of all trials. Those of deterministic engines do not differ, and neither do the first two trials of others.
    pub(crate) fn gradients(&self, engine: Engine, arm: Arm, resolution: u64) -> Tensor {
        let mut random = fastrand::Rng::with_seed(self.seed * 1000 + resolution * 10 + arm as u64);
        let base: Vec<f32> = (0..self.size()).map(|_| 1.0 + random.f32() * 0.9).collect();
        let terms: Vec<f32> = (0..12 * self.size()).map(|_| random.f32() * 2.0 - 1.0).collect();
        let mut values = Vec::new();
        for trial in 0..self.trials {
            for (at, &value) in base.iter().enumerate() {
                let same = engine.is_deterministic() || trial < 2;
                values.push(match self.gradients {
                    Gradients::Steps => f32::from_bits(value.to_bits() + if same { 0 } else { random.u32(0..3) }),
                    Gradients::Sums => {
                        let mut terms = terms[12 * at..12 * at + 12].to_vec();
                        if !same {
                            random.shuffle(&mut terms);
                        }
                        terms.iter().sum()
                    }
                    Gradients::Bits => f32::from_bits(if same { value.to_bits() } else { random.u32(..) }),
                });
            }
        }
        let mut shape = vec![usize::try_from(self.trials).unwrap()];
        shape.extend(self.shape.iter().map(|&extent| usize::try_from(extent).unwrap()));
        let mut tensor = Tensor { shape, values };
        (self.touch)(&mut tensor);
        tensor
    }

    /// The resolutions that were measured.
    fn measured(&self) -> &[u64] {
        self.stopped_after.as_ref().unwrap_or(&self.resolutions)
    }

    pub(crate) fn protocol(&self) -> Json {
        let arms: Vec<_> = self.arms.iter().map(|arm| arm.name()).collect();
        from_value(&json!({
            "operation": "bilinear grid_sample backward (input gradient)",
            "input_shape": self.shape,
            "output_resolutions": self.resolutions,
            "trials_per_resolution": self.trials,
            "pairs_per_resolution": pair_count(self.trials),
            "total_coordinates": self.shape.iter().product::<u64>(),
            "comparison": "all pairs, bits as int32",
            "inputs": "made for a test",
            "warmup": "none",
            "synchronization": "none",
            "arms": arms,
            "seed": self.seed,
            "generator": "fastrand",
        }))
    }

    pub(crate) fn environment(&self, engine: Engine) -> Json {
        let torch = engine == Engine::Torch;
        from_value(&json!({
            "device_name": self.device,
            "architecture": self.gpu.then_some("Hopper"),
            "pytorch_version": torch.then_some(if self.gpu { "2.11.0+cu130" } else { "2.11.0+cpu" }),
            "cuda_version": self.gpu.then_some("13.0"),
            "cudnn_version": (torch && self.gpu).then_some(91900),
            "compute_capability": self.gpu.then_some("9.0"),
            "driver": "580.159.04",
        }))
    }

    fn results(&self, engine: Engine) -> ExperimentResults {
        let hashes =
            self.inputs().iter().map(|(name, tensor)| (name.clone(), input_sha256(tensor))).collect::<Vec<_>>();
        let condition = |&arm: &Arm| ConditionRecord {
            arm,
            trials: self.trials,
            input_shape: self.shape.to_vec(),
            input_hashes: hashes.clone(),
            resolutions: self
                .measured()
                .iter()
                .map(|&one| ResolutionRecord::measure(one, &self.gradients(engine, arm, one), self.kept.contains(&one)))
                .collect(),
        };
        let result = if self.gpu {
            "RuntimeError: grid_sampler_2d_backward_cuda does not have a deterministic implementation"
        } else {
            "backward completed"
        };
        let torch = engine == Engine::Torch;
        ExperimentResults {
            engine,
            complete: self.stopped_after.is_none(),
            protocol: self.protocol(),
            environment: self.environment(engine),
            probe: (
                torch.then(|| "torch.use_deterministic_algorithms(True)".to_owned()),
                torch.then(|| result.to_owned()),
            ),
            conditions: self.arms.iter().map(condition).collect(),
        }
    }

    /// Writes the package and seals it.
    pub(crate) fn build(&self) -> Package {
        let package = Package { folder: tempfile::tempdir().unwrap() };
        if self.inputs {
            for (name, tensor) in self.inputs() {
                package.write_tensor(&files::input(&name), &tensor);
            }
        }
        for &engine in &self.engines {
            package.write(&files::results(engine.name()), &(indented(&self.results(engine).to_json()) + "\n"));
            for &arm in &self.arms {
                for one in self.kept.iter().copied().filter(|one| self.measured().contains(one)) {
                    let name = files::gradients(engine.name(), arm, one);
                    package.write_tensor(&name, &self.gradients(engine, arm, one));
                }
            }
        }
        package.seal();
        package
    }
}

impl Package {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn write_tensor(&self, name: &str, tensor: &Tensor) {
        let mut bytes = Vec::new();
        tensor.write(&mut bytes).unwrap();
        self.write_bytes(name, &bytes);
    }

    /// Changes a tensor and seals the package again.
    pub(crate) fn edit_tensor(&self, name: &str, change: impl FnOnce(&mut Tensor)) {
        let mut tensor = self.read_tensor(name);
        change(&mut tensor);
        self.write_tensor(name, &tensor);
        self.seal();
    }

    fn read_tensor(&self, name: &str) -> Tensor {
        Tensor::read(&fs::read(self.path().join(name)).unwrap()).unwrap()
    }

    /// Writes receipts for what is there.
    pub(crate) fn seal(&self) {
        let text = recount::seal::receipts_text(self.path(), &globset::GlobSet::empty()).unwrap();
        recount::seal::write_receipts(self.path(), &text).unwrap();
    }

    /// Changes a JSON file and seals the package again.
    #[track_caller]
    pub(crate) fn edit(&self, name: &str, changes: &[Edit]) {
        let mut root: Value = serde_json::from_str(&fs::read_to_string(self.path().join(name)).unwrap()).unwrap();
        for change in changes {
            edit(&mut root, change);
        }
        self.write(name, &serde_json::to_string_pretty(&root).unwrap());
        self.seal();
    }
}

/// A value of serde's as one of ours.
pub(crate) fn from_value(value: &Value) -> Json {
    Document::parse("value", value.to_string()).unwrap().root().clone()
}

/// Whether a document obeys a schema of the repository.
#[track_caller]
pub(crate) fn obeys(document: &Value, schema: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema").join(schema);
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
}
