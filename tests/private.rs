//! What is taken for private in a text, what is not, and that looking costs no more than the text's length.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use recount::package::private::{Legible, Reading, Rules, edited, legible};

#[path = "private/cost.rs"]
mod cost;
#[path = "private/honest.rs"]
mod honest;
#[path = "private/measurements.rs"]
mod measurements;
#[path = "private/secrets.rs"]
mod secrets;

fn redacted(name: &str, text: &str) -> String {
    let scan = Rules::general().scan(text, Reading::of(name, text));
    edited(text, &scan.edits)
}

#[track_caller]
fn becomes(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let found = redacted("a.txt", text);
            (found != *expected).then(|| format!("{text}\n  became   {found}\n  expected {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[track_caller]
fn stays(texts: &[&str]) {
    becomes(&texts.iter().map(|text| (*text, *text)).collect::<Vec<_>>());
}

#[test]
fn paths_are_found_wherever_they_begin() {
    becomes(&[
        ("-I/home/alice/inc", "-I${USER_HOME}/inc"),
        (
            "cc -I/home/alice/inc -L/usr/local/cuda/lib64 -isystem/home/bob/x",
            "cc -I${USER_HOME}/inc -L${CUDA_TOOLKIT}/lib64 -isystem${USER_HOME}/x",
        ),
        ("--prefix=/home/alice", "--prefix=${USER_HOME}"),
        ("-Wl,-rpath,/home/alice/lib", "-Wl,-rpath,${USER_HOME}/lib"),
        ("PATH=/usr/bin:/home/alice/bin", "PATH=/usr/bin:${USER_HOME}/bin"),
        ("-DROOT=\\\"/home/alice\\\"", "-DROOT=\\\"${USER_HOME}\\\""),
        ("/mnt/home/alice/x", "${USER_HOME}/x"),
        ("/var/home/alice", "${USER_HOME}"),
        (
            "in /export/home/alice, /nfs/home/alice and /data/home/alice.",
            "in ${USER_HOME}, ${USER_HOME} and ${USER_HOME}.",
        ),
        ("/gpfs01/home/alice /home2/alice /scratch/home/alice", "${USER_HOME} ${USER_HOME} ${USER_HOME}"),
        ("open //home/alice/x", "open ${USER_HOME}/x"),
        ("file:///home/alice/x scp://host/home/alice/x", "file://${USER_HOME}/x scp://host${USER_HOME}/x"),
        ("host:/home/alice", "host:${USER_HOME}"),
        ("/Users/alice/x /c/Users/bob/x /mnt/c/Users/bob/x", "${USER_HOME}/x ${USER_HOME}/x ${USER_HOME}/x"),
        ("-IC:\\Users\\bob\\inc", "-I${USER_HOME}\\inc"),
        ("\\\\wsl$\\Ubuntu\\home\\bob\\x", "${USER_HOME}\\x"),
        ("//wsl.localhost/Ubuntu/home/alice/x //wsl$/Debian/home/bob", "${USER_HOME}/x ${USER_HOME}"),
        ("vscode-remote://ssh-remote+box/home/alice/x", "vscode-remote://ssh-remote+box${USER_HOME}/x"),
        (r"open \\server\home\alice\x or \\\\server\\home\\alice", r"open ${USER_HOME}\x or ${USER_HOME}"),
        ("/run/media/alice/usb", "${USER_HOME}/usb"),
        (
            "/hpc/home/alice/x -I/gpfs/u/home/alice /cm/shared/home/alice. /sdf/home/a/alice/x",
            "${USER_HOME}/x -I${USER_HOME} ${USER_HOME}. ${USER_HOME}/x",
        ),
        ("/global/homes/a/alice/x, file:///hpc/home/bob", "${USER_HOME}/x, file://${USER_HOME}"),
        ("?p=%2Fhome%2Falice%2Fx", "?p=${USER_HOME}%2Fx"),
        (r"print('a\n/home/alice/x\n/home/bob')", r"print('a\n${USER_HOME}/x\n${USER_HOME}')"),
        (r#"{"a": "x\t\/home\/alice\/y"} and"#, r#"{"a": "x\t${USER_HOME}\/y"} and"#),
        (r"\u001b[1m/home/alice", r"\u001b[1m${USER_HOME}"),
        ("\u{1b}[0m/home/alice", "\u{1b}[0m${USER_HOME}"),
        ("Done in /home/alice.", "Done in ${USER_HOME}."),
        ("/home/jos\u{e9}/x", "${USER_HOME}/x"),
        ("see /usr/local/cuda.", "see ${CUDA_TOOLKIT}."),
        ("/usr/local/cuda-12.4/bin", "${CUDA_TOOLKIT}/bin"),
    ]);
    stays(&[
        "http://host/home/page, http://home/page, https://a.b/mnt/home/page, https://host:80/home/page",
        "src/home/page x/Users/y my-a/home/page ./home/page ../home/page ${REPO}/home/x",
        "/home/$USER /home/<you> /home/user /home/runner/work /Users/Shared /home/ /home",
        "<a href=\"/home/index.html\"> /app/home/page",
        "/usr/local/cudnn /usr/local/cuda-samples x/usr/local/cuda",
        "C:\\Users\\Public\\x C:\\Users\\<you>",
        "https://x.org/home/page https://x.org/a/home/page https://x.org:80/a/b/home/page //cdn.org/home/index",
        "[a](/guide/home/start) href=\"/x/home/y\" GET /x/home/y @/components/home/Hero ~/x/home/y ${REPO}/hpc/home/x",
        "/api/home/status /docs/home/intro /hpc/home/user /hpc/home/ /x/homework/y /run/media/ a/hpc/home/b",
    ]);
}

#[test]
fn settings_with_secrets_are_found_and_code_is_not() {
    becomes(&[
        ("AWS_SECRET_ACCESS_KEY=abc/DEF+ghi1", "AWS_SECRET_ACCESS_KEY=${SECRET}"),
        ("export HF_TOKEN=abcdef123456", "export HF_TOKEN=${SECRET}"),
        ("MY_SERVICE_TOKEN=abc12345", "MY_SERVICE_TOKEN=${SECRET}"),
        ("WANDB_API_KEY='abcdefgh'", "WANDB_API_KEY='${SECRET}'"),
        ("Authorization: Bearer abc123def", "Authorization: Bearer ${SECRET}"),
        ("curl -H \"Authorization: Basic dXNlcjpwYXNz1\"", "curl -H \"Authorization: Basic ${SECRET}\""),
        ("-H 'X-Api-Key: abc123def'", "-H 'X-Api-Key: ${SECRET}'"),
        ("PRIVATE-TOKEN: abc123def", "PRIVATE-TOKEN: ${SECRET}"),
        ("password: hunter22\nuser: x", "password: ${SECRET}\nuser: x"),
        ("db:\r\n  password: hunter22 # old\r\n", "db:\r\n  password: ${SECRET} # old\r\n"),
        ("{\"password\":\"hunter\"} in a log", "{\"password\":\"${SECRET}\"} in a log"),
        (r#"body = "{\"password\":\"hunter\"}""#, r#"body = "{\"password\":\"${SECRET}\"}""#),
        ("connect(password='hunter', host='x')", "connect(password='${SECRET}', host='x')"),
        ("os.environ[\"API_KEY\"] = \"abcdefgh\"", "os.environ[\"API_KEY\"] = \"${SECRET}\""),
        ("dbPassword = \"hunter\"", "dbPassword = \"${SECRET}\""),
        ("password=\"a$b*c(d)&;,<e>\"", "password=\"${SECRET}\""),
        ("password=a$b*c(d)&;,<e>1 next", "password=${SECRET} next"),
        ("DB_PASSWORD=p4ss(word&more;x", "DB_PASSWORD=${SECRET}"),
        ("Server=a;Password=hunter22;Uid=b", "Server=a;Password=${SECRET};Uid=b"),
        ("?api_key=abc123&x=1", "?api_key=${SECRET}&x=1"),
        ("https://h.lab/x?token=abc12345&y=2", "https://h.lab/x?token=${SECRET}&y=2"),
        ("https://ab12cd34ef56gh78ij@host.lab/x", "https://${SECRET}@host.lab/x"),
        ("https://bob:s3cret@host.lab/x", "https://bob:${SECRET}@host.lab/x"),
        ("redis://:pa$$w0rd@h", "redis://:${SECRET}@h"),
    ]);
    for (beginning, rest) in [
        ("glpat-", "abcdefghij0123456789"),
        ("xoxb-", "0123456789-abcdef"),
        ("xoxp-", "0123456789-abcdef"),
        ("AIza", "abcdefghijklmnopqrstuvwxyz012345678"),
        ("nvapi-", "abcdefghijklmnopqrst0123"),
        ("hf_", "abcdefghijklmnopqrstuvwxyz01234567"),
        ("npm_", "abcdefghijklmnopqrstuvwxyz0123456789"),
    ] {
        becomes(&[(&format!("x {beginning}{rest}, y"), "x ${SECRET}, y")]);
    }
    stays(&[
        "password = getpass() api_key=os.environ[1] secret_key = settings.key2 token = tokenizer.encode(x1)",
        "--password=$PASS --token=${TOKEN} password=%(pass1)s {{ password1 }} password: <your-password1>",
        "password: required, at least 8 letters\npassword: str = None\nself.password = password\n/etc/passwd",
        "eos_token = \"</s>\" pad_token=\"[PAD]\" MAX_TOKEN=409600 \"token\": \"hello\" tokens: 1024",
        "api_key=\"OPENAI_API_KEY\" password=\"password\" password: \"changeme\" secret=\"${SECRET}\" token=\"your-token-1\"",
        "Authorization: Bearer <token> Authorization: Bearer $TOKEN Bearer YOUR_TOKEN_12345678",
        "private_key = \"/etc/ssl/key.pem\" http://user:password@host https://${SECRET}@host",
        "token e9b9446c2aba8e282fe8839eb9d34d0cacbb7086d4d38acabfbafc2640a7fa2d",
        "token: e9b9446c2aba8e282fe8839eb9d34d0cacbb7086d4d38acabfbafc2640a7fa2d",
        "pub const IFLA_INET6_TOKEN: _bindgen_ty_5 = x; type Secret = curve::ecdh::Secret<P384>;",
        "The password is asked for. Secrets: none. secret sauce = 11 herbs",
        "sk-learn scikit-0123456789 AIzaShort xoxo-1",
    ]);
}

#[test]
fn members_of_json_are_read_decoded() {
    for (name, text, expected) in [
        ("a.json", r#"{"password":"hunter"}"#, r#"{"password":"${SECRET}"}"#),
        (
            "a.jsonl",
            "{\"x\":\"\\u002fhome\\u002falice\"}\n{\"password\":\"hunter\"}\n",
            "{\"x\":\"${USER_HOME}\"}\n{\"password\":\"${SECRET}\"}\n",
        ),
        ("a.jsonl", "{\"x\":\"a\\n/home/alice\"}\n", "{\"x\":\"a\\n${USER_HOME}\"}\n"),
        (
            "a.json",
            r#"{"n":123456789012345678901234567890,"p":"/home/alice"}"#,
            r#"{"n":123456789012345678901234567890,"p":"${USER_HOME}"}"#,
        ),
        ("a.json", r#"{"Authorization":"Bearer abc12345"}"#, r#"{"Authorization":"${SECRET}"}"#),
        (
            "a.json",
            r#"{"HF_TOKEN":"abc12345x","token":"abcdefgh01234567"}"#,
            r#"{"HF_TOKEN":"${SECRET}","token":"${SECRET}"}"#,
        ),
        ("a.json", r#"{"gpu_uuid":"12345678-9abc-def0-1234-56789abcdef0"}"#, r#"{"gpu_uuid":"${GPU_UUID_REDACTED}"}"#),
        (
            "a.json",
            r#"{"run_uuid":"12345678-9abc-def0-1234-56789abcdef0"}"#,
            r#"{"run_uuid":"12345678-9abc-def0-1234-56789abcdef0"}"#,
        ),
        (
            "a.json",
            r#"{"token":"hello","password":null,"secret":"${SECRET}"}"#,
            r#"{"token":"hello","password":null,"secret":"${SECRET}"}"#,
        ),
    ] {
        assert_eq!(redacted(name, text), expected, "{name}");
    }
    becomes(&[
        ("uuid=12345678-9abc-def0-1234-56789abcdef0, pci_bus_id=1", "uuid=${GPU_UUID_REDACTED}, pci_bus_id=1"),
        ("\"gpu_uuid\": \"12345678-9abc-def0-1234-56789abcdef0\"", "\"gpu_uuid\": \"${GPU_UUID_REDACTED}\""),
        ("gpu_uuid: 12345678-9ABC-DEF0-1234-56789ABCDEF0", "gpu_uuid: ${GPU_UUID_REDACTED}"),
        ("gpu_uuid,12345678-9abc-def0-1234-56789abcdef0", "gpu_uuid,${GPU_UUID_REDACTED}"),
        ("| GPU UUID | 12345678-9abc-def0-1234-56789abcdef0 |", "| GPU UUID | ${GPU_UUID_REDACTED} |"),
        ("GPU UUID 12345678-9abc-def0-1234-56789abcdef0", "GPU UUID ${GPU_UUID_REDACTED}"),
        (
            "i,gpu_uuid,name\n0,12345678-9abc-def0-1234-56789abcdef0,\"a, b\"\n1,\"12345678-9abc-def0-1234-56789abcdef1\",c\r\n",
            "i,gpu_uuid,name\n0,${GPU_UUID_REDACTED},\"a, b\"\n1,\"${GPU_UUID_REDACTED}\",c\r\n",
        ),
        (
            "| index | uuid |\n|---|---|\n| 1 | `12345678-9abc-def0-1234-56789abcdef0` |\n",
            "| index | uuid |\n|---|---|\n| 1 | `${GPU_UUID_REDACTED}` |\n",
        ),
        ("gpu_uuid\n12345678-9abc-def0-1234-56789abcdef0\n", "gpu_uuid\n${GPU_UUID_REDACTED}\n"),
    ]);
    stays(&[
        "the UUID 12345678-9abc-def0-1234-56789abcdef0, UUID:\n12345678-9abc-def0-1234-56789abcdef0",
        "uuid\n12345678-9abc-def0-1234-56789abcdef0",
        "gpu_uuid,run\n,12345678-9abc-def0-1234-56789abcdef0\n",
        "run_uuid,a\n12345678-9abc-def0-1234-56789abcdef0,1\n",
        "gpu_uuid,a\n\n12345678-9abc-def0-1234-56789abcdef0,1\n",
    ]);
    let log = r#"{"log": "i,gpu_uuid\n0,12345678-9abc-def0-1234-56789abcdef0"}"#;
    assert_eq!(redacted("a.json", log), r#"{"log": "i,gpu_uuid\n0,${GPU_UUID_REDACTED}"}"#);
    stays(&["run_uuid=12345678-9abc-def0-1234-56789abcdef0 uuid=00000000-0000-0000-0000-000000000000"]);
}

#[test]
fn addresses_are_told_from_code() {
    becomes(&[
        ("BOB@MYLAB.EDU", "${EMAIL}"),
        ("Bob.Doe@Lab.Uni.DE,", "${EMAIL},"),
        ("bob@myexample.com", "${EMAIL}"),
        ("ana@firma.rs ion@firma.md juan@uni.edu.py ali@uni.so", "${EMAIL} ${EMAIL} ${EMAIL} ${EMAIL}"),
        ("Mail bob@lab.edu.", "Mail ${EMAIL}."),
        ("ssh carol@login.cluster", "ssh ${EMAIL}"),
        ("<12+alice@users.noreply.github.com>", "<${EMAIL}>"),
    ]);
    stays(&[
        "y = x@self.weight + q@k.T + a@b.to + w@v.mT",
        "x@self.to(d) x@w.is() @app.route @torch.no_grad() x@torch.pi",
        "me@example.com you@mail.example.org x@a.example y@b.test git@github.com:a/b noreply@github.com",
        "icon@2x.png icon@2x.md foo@1.2.rs cudaMalloc@@libcudart.so.12 memcpy@GLIBC_2.14 x@libx.so left-pad@1.3.0",
        "x@block.wq h@attn.fc q@head.kv x@mlp.up",
        "getty@tty1.service image@sha256:abc k@v.cu",
    ]);
}

#[test]
fn names_of_files_are_looked_at() {
    let rules = Rules::general();
    for (name, rule) in [
        ("home/alice/run.log", "home folder"),
        ("logs/bob@lab.edu.txt", "e-mail address"),
        ("GPU-01234567-89ab-cdef-0123-456789abcdef.csv", "GPU identity"),
    ] {
        let hits = rules.scan_name(name);
        assert!(hits.len() == 1 && hits[0].rule == rule && !hits[0].masked.contains("alice"), "{name}: {hits:?}");
    }
    for name in ["README.md", "docs/home/page.md", "code/calibrate.py", "torch/gradients/idle-64.npy", "icon@2x.png"] {
        assert_eq!(rules.scan_name(name), [], "{name}");
    }
}

#[test]
fn what_is_no_utf8_is_read_as_far_as_it_can_be() {
    let wide = |text: &str, big: bool| -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    let text = "made in /home/alice/x, and more";
    for bytes in [
        [&[0xff, 0xfe][..], &wide(text, false)].concat(),
        [&[0xfe, 0xff][..], &wide(text, true)].concat(),
        wide(text, false),
        [text.as_bytes(), b"\xe9"].concat(),
        [b"\x7fELF\0\x01\0\0", text.as_bytes(), b"\0\0\0"].concat(),
    ] {
        let Legible::Lossy(read) = legible(&bytes) else { panic!("{bytes:?} is no UTF-8 text") };
        assert_eq!(redacted("a", &read).trim_end_matches('\u{fffd}'), "made in ${USER_HOME}/x, and more");
    }
    assert_eq!(legible(text.as_bytes()), Legible::Text(text));
}
