//! Measurements, settings of models and names of kernels are never taken for secrets: what a redactor destroys is gone.

use crate::{redacted, stays};

#[test]
fn numbers_behind_a_token_stay() {
    stays(&[
        "time_per_output_token=8.3456789012345671e-03",
        "SECONDS_PER_TOKEN=1.25e-05",
        "TIME_PER_OUTPUT_TOKEN: 12.345ms/token",
        "ms/token: 12.345678901234567",
        "JOULES_PER_TOKEN=0.000123456789J",
        "LATENCY_TOKEN=+1.2345678e-05s THROUGHPUT_TOKEN=123456.75tokens/s",
        "token = 1.2345678901234567e-05\ntoken: -1.2345678901234567E-05us\ntoken=0x1.91eb851eb851fp+1",
        "COST_TOKEN=1_234_567.25 USD\nSTD_TOKEN=1.25e-05+-3.1e-07\nRANGE_TOKEN=1.2345e-05/2.3456e-05",
        "--token 12345678 --token 1.2345678e-05 --ms-per-token 1.2345678e-05",
        "https://h.lab/x?token=12345678.25&y=2 ?time_per_output_token=8.3456789e-03",
        "\"ms_per_token\": \"1.2345678901234567e-05\", 'token': '1.2345678901234567e-05'",
        "access_token: 8.3456789e-03 token=9.5367431640625e-07f token=1.2345678901234567e-05L token=1.7976931348623157e+308",
        "token=2026-11-30T182807Z token: 2026-11-30_18-28-07 token=20261130-182807.123",
        "password: 8.3456789e-03, secret=1234.5678 secret: 12.5e-3ms",
    ]);
    for text in [
        r#"{"ms_per_token": "1.2345678901234567e-05", "token": "8.3456789012345671e-03"}"#,
        r#"{"SECONDS_PER_TOKEN": "1.25e-05", "TIME_TOKEN": "12.345ms/token", "apiToken": "1.25e-05"}"#,
        r#"{"class_token": "vit_base_patch16_224", "token": "bfloat16_bs128_seq2048"}"#,
        r#"["--token", "1.2345678901234567e-05", "--ms-per-token", "12.345ms/token"]"#,
    ] {
        assert_eq!(redacted("a.json", text), text);
    }
}

#[test]
fn tokens_of_a_model_stay() {
    for name in [
        "class",
        "mask",
        "next",
        "pad",
        "eos",
        "bos",
        "cls",
        "sep",
        "unk",
        "image",
        "prompt",
        "output",
        "max_new",
        "decoder_start",
        "forced_bos",
        "time_to_first",
        "time_to_next",
        "ms_per",
        "seconds_per_output",
        "latency_to_first",
    ] {
        for (token, set) in [("token", "="), ("token", ": "), ("TOKEN", "=")] {
            let name = if token == "TOKEN" { name.to_ascii_uppercase() } else { name.to_owned() };
            stays(&[
                &format!("{name}_{token}{set}a1b2c3d4e5f6g7h8i9"),
                &format!("--{name}-{token} a1b2c3d4e5f6g7h8i9"),
            ]);
        }
        let member = format!(r#"{{"{name}_token": "a1b2c3d4e5f6g7h8i9"}}"#);
        assert_eq!(redacted("a.json", &member), member);
    }
    stays(&[
        "class_token=vit_base_patch16_224",
        "timePerOutputToken = a1b2c3d4e5f6g7h8i9 padToken: a1b2c3d4e5f6g7h8i9",
        "max_new_tokens=2048 tokens_per_second: 12345.678901234567 num_tokens = 1234567890123456",
        "token = bfloat16_bs128_seq2048, token: llama-3.1-8b-instruct-fp8, token=BFloat16_bs128_seq2048",
        "MODEL_TOKEN=h100-sxm5-80gb SHAPE_TOKEN=128x128x64 TILE_TOKEN=f16-splitk3-stages4",
        "sk-128x128x64-f16-splitk3-stages4-warps8 sk-gemm-bf16-tile128x256-stage3",
    ]);
}
