//! Texts of benchmarks that look like something private and are not, each beside what looks alike and is.

use crate::{becomes, redacted, stays};

const UUID: &str = "12345678-9abc-def0-1234-56789abcdef0";

#[track_caller]
fn members(stay: &[&str], become_other: &[(&str, &str)]) {
    let stay = stay.iter().map(|text| (*text, *text));
    for (text, expected) in stay.chain(become_other.iter().copied()) {
        assert_eq!(redacted("a.json", text), expected);
        assert_eq!(redacted("a.txt", text), expected);
    }
}

#[test]
fn only_identities_of_devices_are_those_of_a_gpu() {
    let of = |text: &str| (text.replace('@', UUID), text.replace('@', "${GPU_UUID_REDACTED}"));
    for text in [
        "gpu_uuid=@",
        "GPU UUID: @",
        "device.uuid: @",
        "mig uuid @",
        "nvidia_uuid=@",
        "NVIDIA GPU UUID: @",
        "index, uuid, name\n0, @, NVIDIA H200",
        "uuid,driver_version\n@,580.159.04",
        "uuid, pci.bus_id, run\n@, 0000:19:00.0, 1",
        "| index | uuid |\n|---|---|\n| 0 | @ |",
        "run,device_uuid\n1,@",
        "_CudaDeviceProperties(name='NVIDIA H200', major=9, minor=0, uuid=@, L2_cache_size=60MB)",
        r#"{"device_uuid":"@","run":1}"#,
        r#"{"gpuUuid":"@"}"#,
        r#"{"name":"NVIDIA H200","uuid":"@","driver_version":"580.159.04"}"#,
        r#"[{"pci.bus_id":"0000:19:00.0","uuid":"@"}]"#,
    ] {
        let (text, expected) = of(text);
        assert_eq!(redacted(if text.starts_with(['{', '[']) { "a.json" } else { "a.txt" }, &text), expected);
    }
    let (prefixed, gone) = (format!(r#"{{"uuid":"GPU-{UUID}"}}"#), r#"{"uuid":"${GPU_UUID_REDACTED}"}"#);
    members(&[], &[(&prefixed, gone)]);
    for text in [
        r#"{"uuid":"@","run":1}"#,
        r#"[{"uuid":"@","name":"run 1"},{"driver_version":"580.159.04"}]"#,
        "run,uuid,median_us\n1,@,2.5",
        "run,uuid,name\n1,@,a",
        "MLflow run uuid: @",
        "root=UUID=@ ro",
        "experiment uuid,@",
        "uuid=@",
        "uuid\n@",
        "driver_version 580\nuuid=@",
    ] {
        let (text, _) = of(text);
        members(&[&text], &[]);
    }
}

#[test]
fn home_is_a_word_in_paths_of_data() {
    stays(&[
        "/out/home/run1 /data/home/feature_maps/run1.npy /datasets/home/objects /mnt/home/results/a.json",
        "/workspace/home/results/x.csv /usr/share/home/user1 /a/b/home/c.json /proc/sys/home/x",
        "/gpfs/data/home/objects /hpc/home/a.json /lustre/home/results/x /data/home/a.npy file:///data/home/run1",
        "file:///home/conda/feedstock_root/build_artifacts/numpy C:\\Users\\runneradmin\\x /home/conda /home/ubuntu",
        "/home/circleci/x /home/travis/x /home/gitpod/x /home/codespace/x /home/jovyan/x /home/vscode/x /home/vsts/x",
    ]);
    becomes(&[
        ("/hpc/home/alice/results/a.json", "${USER_HOME}/results/a.json"),
        ("/mnt/home/alice /data/home/bob.smith/x", "${USER_HOME} ${USER_HOME}/x"),
        ("/lustre/fs1/home/alice /afs/cell.edu/home/alice", "${USER_HOME} ${USER_HOME}"),
        ("/gpfs01/u/home/alice, /nfs2/homes/alice", "${USER_HOME}, ${USER_HOME}"),
        ("/home/results/x /home/condaalice/x", "${USER_HOME}/x ${USER_HOME}/x"),
        ("file:///home/alice/feedstock_root", "file://${USER_HOME}/feedstock_root"),
    ]);
}

#[test]
fn tokens_of_texts_and_hashes_are_no_secrets() {
    members(
        &[
            r#"{"token":"a1b2c3d4e5f6a7b8c9d0","logprob":-0.1}"#,
            r#"{"token":"Xk29vLq81ZtRw04mPs","logprob":-0.1}"#,
            r#"{"logprob":-0.1,"token":"Xk29vLq81ZtRw04mPs"}"#,
            r#"{"token":"0x1234567890abcdef12","id":12}"#,
            r#"{"PublicKeyToken":"b77a5c561934e089"}"#,
            r#"{"eoc_token":"a1b2c3d4e5f6g7h8i9","speaker_token":"a1b2c3d4e5f6g7h8i9"}"#,
            r#"{"python_token":"a1b2c3d4e5f6g7h8i9","callToken":"a1b2c3d4e5f6g7h8i9"}"#,
        ],
        &[
            (r#"{"token":"Xk29vLq81ZtRw04mPs"}"#, r#"{"token":"${SECRET}"}"#),
            (r#"{"token":"Xk29vLq81ZtRw04mPs","rank":0}"#, r#"{"token":"${SECRET}","rank":0}"#),
            (r#"[{"token":"Xk29vLq81ZtRw04mPs"},{"logprob":1}]"#, r#"[{"token":"${SECRET}"},{"logprob":1}]"#),
            (r#"{"hf_token":"a1b2c3d4e5f6a7b8c9d0"}"#, r#"{"hf_token":"${SECRET}"}"#),
            (r#"{"vault_token":"a1b2c3d4e5f6a7b8c9d0"}"#, r#"{"vault_token":"${SECRET}"}"#),
            (r#"{"ANY_TOKEN":"a1b2c3d4e5f6g7h8i9"}"#, r#"{"ANY_TOKEN":"${SECRET}"}"#),
        ],
    );
    stays(&[
        "error: unexpected token: a1b2c3d4e5f6a7b8c9d0",
        "error: unexpected token: Xk29vLq81ZtRw04mPs",
        "public key token: b77a5c561934e089, PublicKeyToken=b77a5c561934e089",
        "eoc_token=a1b2c3d4e5f6g7h8i9 speaker_token: a1b2c3d4e5f6g7h8i9 --python-token a1b2c3d4e5f6g7h8i9",
        "token: 0123456789abcdef0123456789abcdef01234567",
    ]);
    becomes(&[
        ("token: Xk29vLq81ZtRw04mPs", "token: ${SECRET}"),
        ("config.token=Xk29vLq81ZtRw04mPs", "config.token=${SECRET}"),
        ("ANY_TOKEN=a1b2c3d4e5f6", "ANY_TOKEN=${SECRET}"),
        ("X-Vault-Token: a1b2c3d4e5f6a7b8c9d0", "X-Vault-Token: ${SECRET}"),
        ("run --token a1b2c3d4e5f6g7h8 --ci-token a1b2c3d4e5f6g7h8", "run --token ${SECRET} --ci-token ${SECRET}"),
        ("gh_token: 0123456789abcdef0123456789abcdef01234567", "gh_token: ${SECRET}"),
        ("?download_token=a1b2c3d4e5", "?download_token=${SECRET}"),
        ("python_token=hf_abcdefghijklmnopqrstuvwxyz01234567", "python_token=${SECRET}"),
    ]);
}

#[test]
fn settings_of_benchmarks_are_no_secrets() {
    stays(&[
        "secret_key=ed25519 sign=1.2us",
        "shared_secret=x25519 12345 ops/s",
        "private_key = rsa2048, 1.2 ms",
        "private_key: secp256k1\nsecret_key = 'aes-256-gcm' secret=ml_kem_768",
        "bcrypt password=12rounds time=0.251s",
        "auth_token: hmac_sha256\nAUTH_TOKEN=hmac_sha256",
        "api_token: v1alpha2\nAPI_TOKEN=v1alpha2",
        "\"access_key\":\"row_major\" secret_key=\"autotune_v2\" secret_key=\"col_major_v10\"",
        "password=sha256crypt rounds=5000 password: argon2id",
    ]);
    members(
        &[r#"{"access_key":"row_major","secret_key":"autotune_v2","private_key":"ed25519"}"#],
        &[(
            r#"{"access_key":"rowmajor17x","password":"my_horse7","secret_key":"a1_b2c3"}"#,
            r#"{"access_key":"${SECRET}","password":"${SECRET}","secret_key":"${SECRET}"}"#,
        )],
    );
    becomes(&[
        ("secret_key=ed25519abc9 x", "secret_key=${SECRET} x"),
        ("password=12horses! time=1", "password=${SECRET} time=1"),
        ("secret_key='row_major17'", "secret_key='${SECRET}'"),
        ("password='correct_horse'", "password='${SECRET}'"),
        ("secret_key=v1alpha2beta3", "secret_key=${SECRET}"),
    ]);
}

#[test]
fn ports_code_and_marks_are_nothing_private() {
    stays(&[
        "nccl://10.0.0.1:29500@rank0/ http://proxy:3128@cluster:80/",
        "op@aten.mm bench@v1.in x@prims.add y@ops.to",
        "\"-----BEGIN OPENSSH PRIVATE KEY-----\" is refused. So is `-----BEGIN PRIVATE KEY-----`.",
        "if text.startswith(\"-----BEGIN RSA PRIVATE KEY-----\"):\n    raise ValueError(text)",
    ]);
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    becomes(&[
        (
            "redis://:12345@h https://bob:123456@h https://bob:a1234@h",
            "redis://:${SECRET}@h https://bob:${SECRET}@h https://bob:${SECRET}@h",
        ),
        ("bob@startup.in kyaw@mail.com.mm bob@math.uni.edu", "${EMAIL} ${EMAIL} ${EMAIL}"),
        (&format!("\"-----BEGIN PRIVATE KEY-----\"\n\"{line}\""), "\"${SECRET}\""),
        (&format!("[\"-----BEGIN PRIVATE KEY-----\", \"{line}\"]"), &format!("[\"${{SECRET}}\", \"{line}\"]")),
    ]);
}
