//! Secrets by their published form, by what stands before them, and what documentation has in their place.

use crate::{becomes, redacted, stays};

/// Forty digits as those of a hash.
const FORTY: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn keys_are_found_by_their_published_form() {
    for (beginning, rest) in [
        ("hf_", "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"),
        ("hf_", "abcdefghijklmnopqrstuvwxyzABCDEFGH"),
        ("hf_", "qRtYpLkJhGfDsAzXcVbNmQwErTyUiOpLkJ"),
        ("api_org_", "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"),
        ("xapp-", "1-A01234567-0123456789012-0123456789abcdef"),
        ("gsk_", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"),
        ("r8_", "abcdefghijklmnopqrstuvwxyz01234567890"),
        ("ya29.", "a0AbCdEfGhIjKlMnOpQrStUv"),
        ("SG.", "abcdefghij0123456789AB.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"),
        ("sk_live_", "abcdefghij0123456789"),
        ("sk-", "proj-abcDEF0123456789ghiJKL_mnoPQR345stuVWX"),
        ("sk-", "ant-api03-aBcD3fGh1JkLmN0pQrStUvWxYz-aBcD3fGh1JkLmN0pQr"),
    ] {
        becomes(&[(&format!("x {beginning}{rest}, y"), "x ${SECRET}, y")]);
        let json = format!(r#"{{"log": "x {beginning}{rest}"}}"#);
        assert_eq!(redacted("a.json", &json), r#"{"log": "x ${SECRET}"}"#);
    }
    let hook = ["https://hooks.slack", ".com/services/"].concat();
    becomes(&[
        (&format!("{hook}T01234567/B01234567/abcdefghijklmnopqrstuvwx"), &format!("{hook}${{SECRET}}")),
        (
            &format!("AccountName=a;AccountKey={}==;EndpointSuffix=b", "aB3/".repeat(21)),
            "AccountName=a;AccountKey=${SECRET};EndpointSuffix=b",
        ),
        (&format!("SharedAccessKey={}=", "aB3/".repeat(10)), "SharedAccessKey=${SECRET}"),
    ]);
    stays(&[
        "hf_LlamaForSequenceClassification hf_hub_download_with_a_very_long_name_of_its_own hf_modelname",
        "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx hf_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX api_org_name",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "gsk_layer r8_conv SG.a.b ya29.x xapp-1 AccountKey=<key> AKIAIOSFODNN7EXAMPLE",
    ]);
}

#[test]
fn documentation_is_left_alone() {
    stays(&[
        "OPENAI_API_KEY=\"sk-...\" HF_TOKEN=\"hf_...\" api_key='sk-\u{2026}' token: \"hf_xxxx1234xxxx\"",
        "api_key=\"token-abc123\" password=\"my_password\" password='my-secret-password' secret=\"my-secret\"",
        "api_key=\"your_api_key\" token=\"insert-your-token-here-1\" api_key=\"sk-your-key-123\" password=\"changeme\"",
        "api_key=\"EMPTY\" api_key=\"sk-no-key-required\" HF_TOKEN=hf_your_token_1 API_KEY=my-api-key-123",
        "client = OpenAI(base_url=\"http://localhost:8000/v1\", api_key=\"token-abc123\")",
        "pip install numpy@1.26.4.dev torch@2.5.1.dev pkg@2.dev a@v1.2.pro",
        "vllm serve --api-key token-abc123 --password my_password1 --token $TOKEN1",
    ]);
    becomes(&[
        ("password=\"password123\"", "password=\"${SECRET}\""),
        ("api_key=\"token-abx173q\"", "api_key=\"${SECRET}\""),
        ("password='my_horse7'", "password='${SECRET}'"),
        ("qq@163.com 1234567@126.com bob@360.cn", "${EMAIL} ${EMAIL} ${EMAIL}"),
    ]);
}

#[test]
fn what_is_given_to_an_option_is_found() {
    let forty = FORTY;
    becomes(&[
        ("run --api-key abcdef0123456789 -v", "run --api-key ${SECRET} -v"),
        ("run --password hunter2 -v", "run --password ${SECRET} -v"),
        ("run -Password 'hunter2'", "run -Password '${SECRET}'"),
        ("run --db-password hunter2,", "run --db-password ${SECRET},"),
        (&format!("run --hf_token {forty}"), "run --hf_token ${SECRET}"),
        (&format!("wandb login {forty}"), "wandb login ${SECRET}"),
        (&format!("wandb login --relogin {forty}\n"), "wandb login --relogin ${SECRET}\n"),
        (&format!("['wandb', 'login', '{forty}']"), "['wandb', 'login', '${SECRET}']"),
        ("wandb.login(key=\"abcdef0123456789\")", "wandb.login(key=\"${SECRET}\")"),
        ("wandb.login(relogin=True, key='abcdef0123')", "wandb.login(relogin=True, key='${SECRET}')"),
        ("args = ['--api-key', 'abcdef0123456789', '-v']", "args = ['--api-key', '${SECRET}', '-v']"),
        (r#""{\"argv\": [\"--api-key\", \"abcdef0123\"]}""#, r#""{\"argv\": [\"--api-key\", \"${SECRET}\"]}""#),
        (
            &format!("machine api.wandb.ai login user password {forty}\n"),
            "machine api.wandb.ai login user password ${SECRET}\n",
        ),
        (
            &format!("machine api.wandb.ai\n  login user\n  password {forty}\n"),
            "machine api.wandb.ai\n  login user\n  password ${SECRET}\n",
        ),
        ("default login bob password hunter2", "default login bob password ${SECRET}"),
    ]);
    for (text, expected) in [
        (r#"{"argv": ["--api-key", "abcdef0123456789", "-v"]}"#, r#"{"argv": ["--api-key", "${SECRET}", "-v"]}"#),
        (r#"["--password", "hunter", "--token","a1b2c3d4"]"#, r#"["--password", "${SECRET}", "--token","${SECRET}"]"#),
        (r#"["--api-key", "--model", "x1"]"#, r#"["--api-key", "--model", "x1"]"#),
        (r#"[["--password"], "hunter2"]"#, r#"[["--password"], "hunter2"]"#),
        (r#"{"a": "--password", "b": "hunter2"}"#, r#"{"a": "--password", "b": "hunter2"}"#),
        (r#"["--pad-token", "a1b2c3d4e5f6"]"#, r#"["--pad-token", "a1b2c3d4e5f6"]"#),
        (r#"["x", "run --password hunter2"]"#, r#"["x", "run --password ${SECRET}"]"#),
    ] {
        assert_eq!(redacted("a.json", text), expected);
    }
    assert_eq!(redacted("a.json", &format!(r#"["wandb", "login", "{forty}"]"#)), r#"["wandb", "login", "${SECRET}"]"#);
    stays(&[
        "Give --password to be asked, --api-key or --token as you like; --secret is for builds.",
        "--secret id=mysecret1,src=key1 --token-id 123456a8 --password $PASS1 --api-key ${KEY1} --api-key <your-key1>",
        "--password-file secrets1.txt --passwords 12345678 --no-password a1b2c3d4.txt(x)",
        "wandb login --relogin\nwandb login && python train.py --lr 1e-3\nwandb.login(key=key)",
        "machine learning: login page, password reset1",
    ]);
}

#[test]
fn a_private_key_ends_where_it_ends() {
    let begin = |label: &str| ["-----BEGIN ", label, "-----"].concat();
    let end = |label: &str| ["-----END ", label, "-----"].concat();
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let (begin, end) = (begin(label), end(label));
        becomes(&[
            (&format!("a\n{begin}\n{line}\n{line}\nabc=\n{end}\nb"), "a\n${SECRET}\nb"),
            (&format!("k: \"{begin}\\n{line}\\nabc=\\n{end}\\n\""), "k: \"${SECRET}\\n\""),
            (&format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n{line}\n{end}"), "${SECRET}"),
            (
                &format!("{begin}\nVersion: GnuPG v2.0 of a b c\nComment: by a b c d\n\n{line}\n=aB1c\n{end}"),
                "${SECRET}",
            ),
            (&format!("    \"{begin}\\n\"\n    \"{line}\\n\"\n    \"{end}\"\n"), "    \"${SECRET}\"\n"),
            (&format!("12:00 INFO run: {begin}\n12:00 INFO run: {line}\n{end}\n"), "12:00 INFO run: ${SECRET}\n"),
            (&format!("{begin} {line} {end} {begin}\n{line}\n{end}"), "${SECRET} ${SECRET}"),
            // Cut off.
            (&format!("a\n{begin}\n{line}\n{line}\nMIIEvQIB0\n\n## Medians"), "a\n${SECRET}\n\n## Medians"),
            (&format!("{begin}\n{line}\nMedians of all runs"), "${SECRET}\nMedians of all runs"),
            (&format!("{begin}\nProc-Type: 4,ENCRYPTED\n\n{line}"), "${SECRET}"),
            (&format!("{begin}\n{}", &line[..20]), "${SECRET}"),
            (&format!("{begin}\nMedians\n\n| a | 1.5 |\n"), "${SECRET}\nMedians\n\n| a | 1.5 |\n"),
            (
                &format!("Keys that start with {begin} are refused.\n\n## Medians\n\n| a | 8.5e-3 |\n"),
                &format!("Keys that start with {begin} are refused.\n\n## Medians\n\n| a | 8.5e-3 |\n"),
            ),
            (
                &format!("From `{begin}` on.\n\n## Medians\n\n| case a | 8.5e-3 | 9.5e-3 |\n\nUp to `{end}`.\n"),
                &format!("From `{begin}` on.\n\n## Medians\n\n| case a | 8.5e-3 | 9.5e-3 |\n\nUp to `{end}`.\n"),
            ),
        ]);
    }
    stays(&["-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n"]);
}
