//! Records that say two things at once: of a route, of the device, of the compiler, of the settings.

use recount::package::json::Json;

use crate::common::content::Recipe;
use crate::common::content::variants;
use crate::common::json::{add, copy, set, take};
use crate::common::package::Package;

const TORCH: &str = "/cases/0/cohorts/default/routes/torch";
const COMPILER: &str = "/cases/0/cohorts/default/routes/torch/compiler_evidence";

forgeries! {
    a_case_does_not_fail_as_a_whole_without_a_run_that_did:
        "validation.json", "/cases/0/status", |root, _| add(root, "/cases/0", "status", "failed") => "failure-relabelled";
    a_case_with_a_failed_run_did_not_pass_as_a_whole:
        "validation.json", "/cases/2/status", |root, _| add(root, "/cases/2", "status", "passed") => "failure-relabelled";
    a_retry_that_passed_is_not_called_failed:
        "validation.json", "/cases/2/independent_torch_retest/status",
        |root, _| add(root, "/cases/2/independent_torch_retest", "status", "failed") => "failure-relabelled";
    a_run_has_no_route_of_a_third_kind:
        "validation.json", "/cases/0/cohorts/default/routes/triton",
        |root, _| add(root, "/cases/0/cohorts/default/routes", "triton", copy(root, TORCH)) => "malformed-field";
    the_driver_names_the_device:
        "device.json", "/identity/driver", |root, _| set(root, "/identity/gpu", "Another GPU") => "device-record";
    the_driver_names_the_capability:
        "device.json", "/compute_capability", |root, at| set(root, at, 90_u64) => "device-record";
    no_capability_is_none_that_the_driver_names:
        "device.json", "/compute_capability", |root, at| set(root, at, Json::Null) => "device-record";
    a_warp_of_cuda_has_its_threads:
        "device.json", "/warp_size", |root, at| set(root, at, 64_u64) => "device-record";
    a_multiprocessor_holds_warps:
        "device.json", "/max_resident_warps_per_sm", |root, at| set(root, at, 0_u64) => "device-record";
    resident_threads_are_those_of_the_resident_warps:
        "device.json", "/max_threads_per_sm", |root, _| add(root, "", "max_threads_per_sm", 2048_u64) => "device-record";
    torch_saw_the_same_device:
        "validation.json", "/environment/torch/device_name",
        |root, _| {
            add(root, "", "environment", obj! { "torch": obj! { "device_name": "Another GPU" } });
        } => "device-record";
    the_package_has_one_backend:
        "validation.json", "/backend", |root, _| add(root, "", "backend", "cpu") => "device-record";
    each_input_has_a_name_of_its_own:
        "validation.json", "/cases/0/cohorts/rows1/manifest/inputs/1/name",
        |root, at| set(root, at, "input0") => "case-mismatch";
    the_bound_has_one_file:
        "validation.json", "/cases/0/cohorts/rows1/manifest/validation/bound",
        |root, _| {
            let manifest = "/cases/0/cohorts/rows1/manifest";
            add(root, manifest, "expected", obj! { "bound_path": "per_element_bound.f64" });
            add(root, manifest, "validation", obj! { "bound": "other.f64" });
        } => "case-mismatch";
    what_was_rechecked_was_written:
        "validation.json", "/cases/0/cohorts/default/torch_compiler_artifacts_rechecked",
        |root, _| {
            take(root, &format!("{COMPILER}/artifacts"));
        } => "copy-mismatch";
    what_was_written_was_rechecked_where_the_rest_was:
        "validation.json", "/cases/0/cohorts/default/routes/torch/compiler_evidence/artifacts",
        |root, _| {
            take(root, "/cases/0/cohorts/default/torch_compiler_artifacts_rechecked");
        } => "copy-mismatch";
    a_wrapper_is_a_file_that_was_written:
        "validation.json", "/cases/0/cohorts/default/routes/torch/compiler_evidence/cuda_wrappers/0",
        |root, _| add(root, COMPILER, "cuda_wrappers", vec!["nowhere.py"]) => "copy-mismatch";
}

/// Adds what the published compiler records to every timed Torch route; `edit` changes that of the first case.
fn with_wrappers(edit: impl Fn(&mut Json)) -> Package {
    Package::derived(&Recipe::default(), |parts| {
        let root = &mut parts.validation;
        let runs = [0, 1, 3].map(|case| format!("/cases/{case}/cohorts/default"));
        for run in runs.into_iter().chain(["/cases/2/independent_torch_retest/evidence".to_owned()]) {
            let compiler = format!("{run}/routes/torch/compiler_evidence");
            let wrapper = copy(root, &format!("{compiler}/artifacts/0/path"));
            add(root, &compiler, "generated_kernel_count", 1_u64);
            add(root, &compiler, "triton_wrappers", vec![wrapper.clone()]);
            add(root, &compiler, "cuda_wrappers", vec![wrapper]);
            add(root, &compiler, "external_call_wrappers", Json::Array(Vec::new()));
        }
        edit(root);
    })
}

#[test]
fn the_compilers_files_are_those_that_it_counts() {
    with_wrappers(|_| {}).verify(&["--strict"]).holds();
    let empty = || Json::Array(Vec::new());
    let count = |root: &mut Json| set(root, &format!("{COMPILER}/generated_kernel_count"), 0_u64);
    with_wrappers(count).verify(&["--strict"]).exits(1).one("compiler-files");
    let none = |root: &mut Json| {
        set(root, &format!("{COMPILER}/triton_wrappers"), empty());
        set(root, &format!("{COMPILER}/cuda_wrappers"), empty());
    };
    with_wrappers(none).verify(&["--strict"]).exits(1).all("compiler-files");
    // Two kernels in one file, a file that is no wrapper, a case without kernels, and other forms of the lists.
    let path = |root: &Json| copy(root, &format!("{COMPILER}/artifacts/0/path"));
    let edits: [&dyn Fn(&mut Json); 7] = [
        &|root| set(root, &format!("{COMPILER}/generated_kernel_count"), 2_u64),
        &|root| set(root, &format!("{COMPILER}/generated_kernel_count"), Json::Null),
        &|root| drop(take(root, &format!("{COMPILER}/triton_wrappers"))),
        &|root| {
            take(root, &format!("{COMPILER}/triton_wrappers"));
            take(root, &format!("{COMPILER}/generated_kernel_count"));
            take(root, &format!("{COMPILER}/cuda_wrappers"));
        },
        &|root| {
            for run in ["/cases/0/cohorts/default", "/cases/1/cohorts/default"] {
                let listed = copy(root, &format!("{run}/routes/torch/compiler_evidence/artifacts/0"));
                let intermediate = obj! {
                    "path": format!("{run}/kernel.ttir"),
                    "sha256": listed.get("sha256").expect("a hash").clone(),
                    "bytes": listed.get("bytes").expect("a size").clone(),
                };
                let files = vec![listed, intermediate];
                set(root, &format!("{run}/routes/torch/compiler_evidence/artifacts"), files.clone());
                set(root, &format!("{run}/torch_compiler_artifacts_rechecked"), files);
            }
        },
        &|root| set(root, &format!("{COMPILER}/artifacts"), "https://example.org/artifacts"),
        &|root| {
            let named = path(root);
            set(root, &format!("{COMPILER}/artifacts"), vec![named]);
        },
    ];
    for edit in edits {
        with_wrappers(edit).verify(&["--strict"]).holds();
    }
}

#[test]
fn a_timed_route_has_no_record_of_a_failure() {
    let raw = obj! { "status": "failed", "process": obj! { "returncode": 3_u64 } };
    let missing = Json::from("missing_initial_torch_baseline");
    let absent = Json::from("absent_native_only_calibration");
    for status in [None, Some("passed"), Some("validated")] {
        for route in [TORCH, "/cases/0/cohorts/rows1/routes/native"] {
            for (name, value, code) in [
                ("raw_failure", &raw, "failure-relabelled"),
                ("error", &Json::from("it crashed"), "failure-relabelled"),
                ("traceback", &Json::from("Traceback"), "failure-relabelled"),
                ("reason", &Json::from("no module named torch"), "failure-relabelled"),
                ("comparison", &missing, "baseline-filled"),
                ("comparison", &absent, "baseline-filled"),
            ] {
                let package = Package::valid();
                package.edit_json("validation.json", |root| {
                    status.into_iter().for_each(|status| add(root, route, "status", status));
                    add(root, route, name, value.clone());
                });
                package.seal().verify(&[]).exits(1).at(code, "validation.json", &format!("{route}/{name}"));
            }
        }
    }
    let package = Package::derived(&Recipe::default(), |parts| add(&mut parts.validation, TORCH, "error", Json::Null));
    package.verify(&["--strict"]).holds();
}

#[test]
fn a_timed_process_ended_well() {
    let process = |code: u64, elapsed: f64| {
        Package::derived(&Recipe::default(), |parts| {
            let process = obj! { "native": obj! {
                "started": "2026-11-30T12:58:25.348Z", "finished": "2026-11-30T12:58:27.027Z",
                "returncode": code, "elapsed_seconds": elapsed, "affinity_before": "0xffff",
            } };
            add(&mut parts.validation, "/cases/0/cohorts/rows1", "process", process);
        })
    };
    let at = |name: &str| format!("/cases/0/cohorts/rows1/process/native/{name}");
    process(0, 1.678_866).verify(&["--strict"]).holds();
    process(1, 1.678_866).verify(&[]).exits(1).at("failure-relabelled", "validation.json", &at("returncode"));
    process(0, 16.78).verify(&[]).exits(1).at("failure-record", "validation.json", &at("elapsed_seconds"));
}

#[test]
fn settings_of_one_case_are_those_of_all() {
    // Twice as many cases, so that two have the same operation and storage type.
    let recipe = Recipe { copies: 2, ..Recipe::default() };
    Package::of(&recipe).verify(&["--strict"]).holds();
    for (name, value) in [
        ("backend", Json::from("hip")),
        ("fast_math", Json::Bool(true)),
        ("semantics/accumulation", Json::from("float16")),
    ] {
        let package = Package::derived(&recipe, |parts| {
            for cohort in ["default", "rows1", "rows2", "recheck"] {
                set(&mut parts.validation, &format!("/cases/5/cohorts/{cohort}/manifest/{name}"), value.clone());
            }
        });
        let pointer = format!("/cases/5/cohorts/default/manifest/{name}");
        package.verify(&[]).exits(1).at("protocol-setting", "validation.json", &pointer);
    }
}

#[test]
fn what_ran_on_the_host_has_no_gpu() {
    let recipe = Recipe { nanoseconds: true, ..Recipe::default() };
    let manifest = "/cases/0/cohorts/default/manifest/backend";
    let on_cpu = |pointer: &'static str, value: Json| {
        Package::derived(&recipe, move |parts| {
            variants::another_machine(parts, true);
            match pointer.rsplit_once('/') {
                Some((parent, name)) if parts.device.pointer(pointer).is_none() => {
                    add(&mut parts.device, parent, name, value.clone());
                }
                _ => set(&mut parts.device, pointer, value.clone()),
            }
        })
    };
    on_cpu("/identity/architecture", Json::from("x86_64")).verify(&["--strict"]).holds();
    on_cpu("/compute_capability", Json::Int(0)).verify(&["--strict"]).holds();
    for (pointer, value) in [
        ("/compute_capability", Json::Int(90)),
        ("/identity/gpu", Json::from("NVIDIA H100")),
        ("/identity/driver", Json::from("617.14")),
        ("/identity/cuda_driver_api_version", Json::Int(13_040)),
    ] {
        on_cpu(pointer, value).verify(&[]).exits(1).at("device-record", "validation.json", manifest);
    }
    let compiled = Package::derived(&recipe, |parts| {
        variants::another_machine(parts, true);
        let realization = "/cases/0/cohorts/default/routes/native/realization";
        let text =
            copy(&parts.validation, realization).as_str().expect("a text").replace("Rust loops", "CUDA C++ -> PTX");
        set(&mut parts.validation, realization, text);
    });
    compiled.verify(&[]).exits(1).at("device-record", "validation.json", manifest);
    // The other way round: what ran on CUDA has a device of CUDA.
    let without = Package::derived(&Recipe::default(), |parts| {
        variants::another_machine(parts, false);
        set(&mut parts.device, "/compute_capability", Json::Null);
    });
    without.verify(&[]).exits(1).at("device-record", "validation.json", manifest);
}

#[test]
fn a_name_of_cuda_alone_asks_for_binary32_spans() {
    let recipe = Recipe { nanoseconds: true, ..Recipe::default() };
    for (name, value) in [
        ("gpu", Json::from("NVIDIA H100")),
        ("driver", Json::from("NVIDIA H100, x, 617.14, 9.0")),
        ("cuda_driver_api_version", Json::Int(13_040)),
    ] {
        let package = Package::derived(&recipe, |parts| {
            variants::another_machine(parts, true);
            set(&mut parts.device, "/identity", Json::Object(vec![(name.to_owned(), value.clone())]));
        });
        package.verify(&[]).exits(1).all("span-lattice");
    }
}

#[test]
fn the_drivers_line_is_read_as_it_is_written() {
    let device = |gpu: &str, driver: &str| {
        Package::derived(&Recipe::default(), |parts| {
            set(&mut parts.device, "/identity/gpu", gpu);
            set(&mut parts.device, "/identity/driver", driver);
        })
    };
    let nvidia = "NVIDIA GeForce RTX 4060 Laptop GPU";
    let jetson =
        "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64, 540.4.0, Release Build, (builder@host, 2025)";
    for (gpu, driver) in [
        ("Maker, Inc. GPU", "Maker, Inc. GPU, GPU-12ab-34, 617.14, 8.9"),
        ("GPU two", "GPU one, GPU-1, 617.14, 9.0\nGPU two, GPU-2, 617.14, 8.9"),
        ("GPU two", "GPU one, ${UUID}, 617.14, 9.0\nGPU two, ${UUID}, 617.14, 8.9\n"),
        ("Demonstration GPU", "617.14"),
        ("Demonstration GPU", "617.14, 13.0, open"),
        ("Demonstration GPU", "NVIDIA Corporation, 580.159.04, 13.0"),
        ("Demonstration GPU", "amdgpu, 6.8.5, ROCm 6.2.1"),
        ("Orin", jetson),
        ("Demonstration GPU", "NVIDIA Driver 617.14, WDDM, CUDA 13.4"),
        ("Demonstration GPU", "${GPU_UUID_REDACTED}, Demonstration GPU, 617.14, 8.9"),
        ("GeForce RTX 4060 Laptop GPU", "NVIDIA GeForce RTX 4060 Laptop GPU, ${GPU_UUID_REDACTED}, 617.14, 8.9"),
        (nvidia, "GeForce RTX 4060 Laptop GPU, ${GPU_UUID_REDACTED}, 617.14, 8.9"),
        ("NVIDIA L4 MIG 1g.6gb", "NVIDIA L4, GPU-12ab, 617.14, 8.9"),
        ("NVIDIA L4", "NVIDIA L4 MIG 1g.6gb, MIG-12ab, 617.14, 8.9"),
    ] {
        device(gpu, driver).verify(&["--strict"]).holds();
    }
    for (gpu, driver) in [
        ("GPU one", "GPU one, GPU-1, 617.14, 9.0\nGPU two, GPU-2, 617.14, 8.9"),
        ("GPU three", "GPU one, GPU-1, 617.14, 9.0\nGPU two, GPU-2, 617.14, 8.9"),
        ("GeForce RTX 4090", "NVIDIA GeForce RTX 4060 Laptop GPU, ${GPU_UUID_REDACTED}, 617.14, 8.9"),
        (nvidia, "NVIDIA GeForce RTX 4060 Laptop GPU, ${GPU_UUID_REDACTED}, 617.14, 9.0"),
    ] {
        device(gpu, driver).verify(&[]).exits(1).all("device-record");
    }
}
