//! Devices: capability, architecture, name and software versions agree.

use crate::audit::{Code, Recorder, show};
use crate::package::divergence::{Engine, Environment};
use crate::package::json::{Document, Json};

/// Architectures with their compute capabilities, as NVIDIA's CUDA programming guide and its table of GPUs list them.
const ARCHITECTURES: [(&str, &[&str]); 8] = [
    ("Maxwell", &["5.0", "5.2", "5.3"]),
    ("Pascal", &["6.0", "6.1", "6.2"]),
    ("Volta", &["7.0", "7.2"]),
    ("Turing", &["7.5"]),
    ("Ampere", &["8.0", "8.6", "8.7"]),
    ("Ada", &["8.9"]),
    ("Hopper", &["9.0"]),
    ("Blackwell", &["10.0", "10.1", "10.3", "11.0", "12.0", "12.1"]),
];

/// Words of device names that settle the compute capability, from the same table.
const DEVICES: [(&str, &str); 12] = [
    ("v100", "7.0"),
    ("t4", "7.5"),
    ("a100", "8.0"),
    ("a10", "8.6"),
    ("a10g", "8.6"),
    ("l4", "8.9"),
    ("l40", "8.9"),
    ("l40s", "8.9"),
    ("h100", "9.0"),
    ("h200", "9.0"),
    ("b200", "10.0"),
    ("b300", "10.3"),
];

/// The words of a device's name in lower case.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    lower.split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect()
}

/// Checks the environment of one device; `who` is how it is called.
pub(super) fn check(environment: &Environment<'_>, who: &str, document: &Document, recorder: &mut Recorder) {
    let at = |name: &str| environment.at.get(name).unwrap_or(environment.at);
    match environment.capability {
        Some(capability) => {
            if is_amd(environment) {
                recorder
                    .note(format!("{who}: a device of AMD's, whose capability {capability} is not one of NVIDIA's"));
            } else {
                check_capability(environment, capability, who, document, recorder);
            }
            if let Some(version) = environment.pytorch {
                check_local_version(environment, version, who, document, recorder);
            }
        }
        None => {
            // A PyTorch built with CUDA names its CUDA and cuDNN on a host without a GPU, too.
            let built_with = environment.pytorch.and_then(built_with);
            if let (Some(version), Some(_), Some(_)) = (environment.pytorch, &built_with, environment.cuda) {
                check_local_version(environment, version, who, document, recorder);
            }
            let none = [("cuda_version", environment.cuda.is_some()), ("cudnn_version", environment.cudnn.is_some())];
            for (name, is_some) in none {
                let found = format_args!("{} ({who})", show(at(name)));
                let expected = "null: without a compute capability it is a host, and used neither CUDA nor cuDNN";
                recorder.require(
                    !is_some || built_with.is_some(),
                    Code::DeviceSoftware,
                    document,
                    at(name),
                    expected,
                    found,
                );
            }
            let words = words(environment.architecture.unwrap_or_default());
            let architecture = !ARCHITECTURES.iter().any(|(name, _)| words.contains(&name.to_lowercase()));
            let expected = "no GPU architecture: there is no compute capability";
            let found = format_args!("{} ({who})", environment.architecture.unwrap_or_default());
            recorder.require(architecture, Code::DeviceCapability, document, at("architecture"), expected, found);
        }
    }
}

fn check_capability(
    environment: &Environment<'_>,
    capability: &str,
    who: &str,
    document: &Document,
    recorder: &mut Recorder,
) {
    let at = |name: &str| environment.at.get(name).unwrap_or(environment.at);
    let numbers = capability.split_once('.').is_some_and(|(major, minor)| {
        [major, minor]
            .iter()
            .all(|part| !part.is_empty() && part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let found = format_args!("{capability} ({who})");
    let place = at("compute_capability");
    if !recorder.require(numbers, Code::DeviceCapability, document, place, "major.minor, such as 9.0", found) {
        return;
    }
    let named = ARCHITECTURES.iter().find(|(_, capabilities)| capabilities.contains(&capability));
    let name = words(environment.device_name.unwrap_or_default());
    match (named, environment.architecture) {
        (Some((expected, _)), Some(architecture)) => {
            recorder.require(
                words(architecture).contains(&expected.to_lowercase()),
                Code::DeviceCapability,
                document,
                at("architecture"),
                format_args!("{expected}: the compute capability is {capability}"),
                format_args!("{architecture} ({who})"),
            );
        }
        (None, _) => recorder.note(format!("{who}: compute capability {capability} is not known to this version")),
        (Some(_), None) => {}
    }
    if let Some((word, expected)) = DEVICES.iter().find(|(word, _)| name.iter().any(|other| other == word)) {
        recorder.require(
            capability == *expected,
            Code::DeviceCapability,
            document,
            place,
            format_args!("{expected}: the device is {}", word.to_uppercase()),
            found,
        );
    }
    let said = ARCHITECTURES.iter().find(|(architecture, _)| name.contains(&architecture.to_lowercase()));
    if let (Some((architecture, _)), Some((expected, _))) = (said, named) {
        recorder.require(
            architecture == expected,
            Code::DeviceCapability,
            document,
            at("device_name"),
            format_args!("a device of architecture {expected}: the compute capability is {capability}"),
            format_args!("{} ({who})", environment.device_name.unwrap_or_default()),
        );
    }
}

/// The CUDA that a PyTorch was built with: 12.8 of `2.11.0+cu128`.
fn built_with(version: &str) -> Option<String> {
    let digits = version.split_once('+')?.1.strip_prefix("cu")?;
    if digits.len() < 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (major, minor) = digits.split_at(digits.len() - 1);
    Some(format!("{major}.{minor}"))
}

/// Whether a GPU is one of AMD's: PyTorch numbers their architectures as if they were compute capabilities.
fn is_amd(environment: &Environment<'_>) -> bool {
    names_amd(environment.device_name.unwrap_or_default(), environment.pytorch)
}

/// Whether the names of a device and its driver, or the version of PyTorch that used it, are those of AMD's.
pub(in crate::audit) fn names_amd(names: &str, pytorch: Option<&str>) -> bool {
    let rocm = pytorch.and_then(|version| version.split_once('+'));
    rocm.is_some_and(|(_, local)| local.starts_with("rocm"))
        || words(names).iter().any(|word| ["amd", "radeon", "instinct", "amdgpu", "rocm"].contains(&word.as_str()))
}

/// PyTorch's engine has a version of PyTorch.
pub(super) fn check_has_pytorch(
    environment: &Environment<'_>,
    who: &str,
    document: &Document,
    recorder: &mut Recorder,
) {
    let at = environment.at.get("pytorch_version").unwrap_or(environment.at);
    let expected = format_args!("the version of the PyTorch that computed the gradients of {who}");
    recorder.require(environment.pytorch.is_some(), Code::DeviceSoftware, document, at, expected, "none");
}

/// `2.11.0+cu128` was built with CUDA 12.8; `2.11.0+cpu` cannot use a GPU.
fn check_local_version(
    environment: &Environment<'_>,
    version: &str,
    who: &str,
    document: &Document,
    recorder: &mut Recorder,
) {
    let at = |name: &str| environment.at.get(name).unwrap_or(environment.at);
    let Some((_, local)) = version.split_once('+') else { return };
    if local == "cpu" {
        let expected = "a PyTorch that can use a GPU: there is a compute capability";
        let found = format_args!("{version} ({who})");
        recorder.report_at(Code::DeviceSoftware, document, at("pytorch_version"), expected, found);
        return;
    }
    let Some(built_with) = built_with(version) else { return };
    recorder.require(
        environment.cuda == Some(&built_with),
        Code::DeviceSoftware,
        document,
        at("cuda_version"),
        format_args!("{built_with}: PyTorch is {version}"),
        format_args!("{} ({who})", show(environment.at.get("cuda_version").unwrap_or(&Json::Null))),
    );
}

/// A key is made of words of the device's name; the name of an engine may follow.
pub(super) fn check_key(
    key: &str,
    at: &Json,
    environment: &Environment<'_>,
    document: &Document,
    recorder: &mut Recorder,
) {
    let Some(name) = environment.device_name else { return };
    let mut known = words(name);
    known.extend(Engine::ALL.map(|engine| engine.name().to_owned()));
    let is_host = !environment.is_gpu();
    let names = !key.is_empty() && key.split('_').all(|word| known.iter().any(|known| known == word));
    let expected = format_args!("words of {name}, in lower case");
    recorder.require(names || (is_host && key.starts_with("cpu")), Code::DeviceKey, document, at, expected, key);
}
