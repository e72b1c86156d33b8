//! What is private in a text: any text at all, which is looked at as JSON where it is JSON.

use recount::package::json::Document;
use recount::package::private::{Places, Reading, Rules, edited};

thread_local! {
    static RULES: Rules = Rules::general();
}

/// Edits lie apart and in order, and after them the same rules find nothing that they did not put there.
pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    look(text, Reading::TEXT);
    if let Ok(document) = Document::parse("any.json", text.to_owned()) {
        let new = look(text, Reading::JSON);
        // Names of members that become one are refused before anything is written.
        if let Ok(again) = Document::parse("any.json", new) {
            assert_eq!(again.offsets().len(), document.offsets().len(), "{text} has other values afterwards");
        }
    }
}

fn look(text: &str, reading: Reading) -> String {
    RULES.with(|rules| {
        let scan = rules.scan(text, reading);
        assert_eq!(scan.hits.is_empty(), scan.edits.is_empty());
        assert!(scan.hits.len() >= scan.edits.len() && scan.hits.is_sorted_by_key(|hit| hit.offset));
        let mut end = 0;
        for (range, _) in &scan.edits {
            assert!(range.start >= end && range.start < range.end && text.get(range.clone()).is_some(), "{range:?}");
            end = range.end;
        }
        let mut places = Places::of(text);
        for hit in &scan.hits {
            let place = recount::package::json::line_column(text, hit.offset);
            assert_eq!(places.place(hit.offset), place);
        }
        let new = edited(text, &scan.edits);
        // One match may have hidden another that overlaps it, so a text may need several turns, but not without end.
        let mut current = new.clone();
        for _ in 0..=scan.hits.len() {
            if reading.is_json && Document::parse("any.json", current.clone()).is_err() {
                return new;
            }
            let again = rules.scan(&current, reading);
            if again.hits.is_empty() {
                return new;
            }
            current = edited(&current, &again.edits);
        }
        panic!("{text:?} never comes to rest: {current:?}");
    })
}

/// Something for each rule, alone and in JSON.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "/usr/local/cuda-13.0/bin /opt/cuda",
        "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4",
        "/home/alice/x file:///Users/bob",
        "C:\\Users\\Carol Smith\\x",
        "GPU-01234567-89ab-cdef-0123-456789abcdef",
        "alice@some-place.org git@github.com",
        "AKIAABCDEFGHIJKLMNOP ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa sk-aaaaaaaaaaaaaaaaaaaa1",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC are refused",
        "--api-key abcdef0123 \"--password\", \"hunter2\" wandb login 0123456789abcdef0123456789abcdef01234567",
        "machine a login b password c1d2e3f4 time_per_output_token=8.345e-03 token=1.5e-05us/x",
        "i,gpu_uuid\n0,12345678-9abc-def0-1234-56789abcdef0\n\n1,12345678-9abc-def0-1234-56789abcdef1",
        "\\\\server\\home\\alice /hpc/home/alice //wsl$/a/home/bob /global/homes/a/alice hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
        "eyJhbGciOiJI.eyJzdWIiOiIx.AAAAAAAAAA https://a:b12345@c.org/ password = \"hunter2!\"",
    ];
    let json = texts.map(|text| {
        let text = serde_json::Value::from(text);
        format!("{{\"password\":\"abcd1234\",{text}:[{text},{{\"api_key\":{text}}}]}}").into_bytes()
    });
    texts.map(|text| text.as_bytes().to_vec()).into_iter().chain(json).collect()
}
