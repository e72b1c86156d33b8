//! Looking costs no more than the length of a text, whatever it repeats.

use std::time::{Duration, Instant};

use recount::package::private::{Reading, Rules};

#[test]
fn no_text_costs_more_than_its_length() {
    let beginnings = [
        "/home/",
        "/home/a.",
        "-I/home/a",
        "/",
        "\\/",
        "//home",
        "C:\\Users\\a b",
        "\\\\wsl$\\a",
        "%2Fhome%2F",
        "file://",
        "file://a/",
        "/usr/local/cuda-1.",
        "a@",
        "a@b.",
        "a@b.cc,",
        "a@b.cc.",
        "a.",
        "://a:",
        "://a:b@",
        "://abcdefgh01234567@",
        "password=",
        "password=a1&",
        "password=hunter22&",
        "password=hunter22,a",
        "password=\"a",
        "password: a",
        "password=))))))",
        "password=(\\\"",
        "secret",
        "_TOKEN=",
        "A_",
        "A_TOKEN=a1.",
        "token=a",
        "uuid=",
        "uuid=\"",
        "Authorization: Bearer ",
        "Bearer a",
        "?token=",
        "&sig=a",
        "eyJ",
        "eyJabcdefgh.",
        "sk-",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "GPU-",
        "\\n",
        "\u{1b}[0;",
        "\"",
        "{\"password\":\"",
        "[",
        "a1",
        "&a=",
        "\"password\":\"",
        "é",
        "home ",
        "/a/home/a",
        "/a",
        "/a/",
        "/hpc/homes/a/ab",
        "/run/media/a ",
        "//wsl$/",
        "\\\\a\\home\\a",
        "\\\\a",
        "vscode-remote://",
        "uuid,",
        "uuid,a\n",
        "uuid\n12345678-9abc-def0-1234-56789abcdef0\n",
        "uuid ",
        "uuid,index\n",
        "gpu_uuid ",
        "uuid=12345678-9abc-def0-1234-56789abcdef0 ",
        "token=Xk29vLq81ZtRw04mPs ",
        "{\"token\":\"Xk29vLq81ZtRw04mPs\"",
        "a_",
        "secret_key=\"a_",
        "`-----BEGIN PRIVATE KEY-----`",
        "/hpc/",
        "\"uuid",
        "hf_",
        "hf_a",
        "AccountKey=",
        "--password ",
        "--a-",
        "--password a1b2c3d4 ",
        "--token ",
        "--token a",
        "\"--token\", \"",
        "wandb login ",
        "wandb login -a ",
        "wandb.login(",
        "wandb.login(key=",
        "machine a ",
        "machine a login a password ",
        "machine ",
        "time_per_token=1.",
        "token=1.5e-5/",
        "token=a1-",
        "a_token=",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ ",
        "-----BEGIN PRIVATE KEY-----\nVersion: ",
        "-----BEGIN PRIVATE KEY-----\\n",
        "-----BEGIN PRIVATE KEY----- a b c\n",
        "xoxb-xapp-",
        "SG.a.",
    ];
    let rules = Rules::general();
    let plain = |bytes: usize| {
        let text = "x".repeat(bytes);
        let start = Instant::now();
        assert_eq!(rules.scan(&text, Reading::TEXT).hits, []);
        start.elapsed()
    };
    let allowed = plain(1 << 20) * 40 + Duration::from_secs(1);
    for beginning in beginnings {
        let text = beginning.repeat((1 << 20) / beginning.len());
        let start = Instant::now();
        rules.scan(&text, Reading::TEXT);
        assert!(start.elapsed() < allowed, "{beginning}: {:?}, allowed {allowed:?}", start.elapsed());
    }
}
