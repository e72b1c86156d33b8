//! Numbers are read and written as Python reads and writes them: hashes depend on it.

use proptest::prelude::*;
use recount::package::json::{Document, Json, JsonError, canonical, compact, indented, python_float};

use crate::common::json::parse;
use crate::common::shared::shared_text;

/// Written by Python, see python-json.py beside it.
const CORPUS: &str = include_str!("../data/python-json.txt");

#[test]
fn every_value_of_the_corpus_is_written_as_python_writes_it() {
    let mut counts = [0, 0];
    for (number, line) in CORPUS.lines().enumerate() {
        let [kind, source, expected] = line.split('\t').collect::<Vec<_>>().try_into().expect("three cells");
        let number = number + 1;
        match kind {
            "float" => {
                let value = f64::from_bits(u64::from_str_radix(source, 16).expect("bits"));
                assert_eq!(python_float(value), expected, "line {number}");
                assert_eq!(canonical(&Json::Float(value)), expected, "line {number}");
                let Json::Float(read) = parse(expected) else { panic!("line {number}: {expected} is no float") };
                assert_eq!(read.to_bits(), value.to_bits(), "line {number}");
                counts[0] += 1;
            }
            "tree" => {
                let tree = parse(source);
                assert_eq!(canonical(&tree), expected, "line {number}");
                assert_eq!(parse(&canonical(&tree)), parse(expected), "line {number}");
                counts[1] += 1;
            }
            other => panic!("line {number}: {other}"),
        }
    }
    assert!(counts[0] > 500 && counts[1] > 60, "{counts:?}");
}

#[test]
fn the_known_hard_floats_have_pythons_notation() {
    for (value, text) in [
        (1.5e-7, "1.5e-07"),
        (1e-5, "1e-05"),
        (0.0001, "0.0001"),
        (1e16, "1e+16"),
        (9_999_999_999_999_998.0, "9999999999999998.0"),
        (-0.0, "-0.0"),
        (1e22, "1e+22"),
        (5e-324, "5e-324"),
        (1.238_319_396_972_656_2, "1.2383193969726562"),
        (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
        (100.0, "100.0"),
    ] {
        assert_eq!(python_float(value), text);
    }
}

#[test]
fn compact_and_indented_text_keep_the_order_of_members() {
    let value = parse("{\"b\": [1, {}], \"a\": []}");
    assert_eq!(canonical(&value), "{\"a\":[],\"b\":[1,{}]}");
    assert_eq!(compact(&value), "{\"b\":[1,{}],\"a\":[]}");
    assert_eq!(indented(&value), "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}");
}

#[test]
fn the_published_profile_id_is_the_hash_of_the_published_profile() {
    let Some(text) = shared_text("packages/program-partition/model.json") else { return };
    let model = parse(&text);
    let id = model.get("profile_id").and_then(Json::as_str).expect("an id");
    assert_eq!(recount::refit::document::profile_id(model.get("profile").expect("a profile")), id);
}

#[test]
fn a_published_file_is_written_again_byte_for_byte() {
    for name in ["validation.json", "model.json", "device.json", "cases.json", "provenance.json"] {
        let Some(text) = shared_text(&format!("packages/program-partition/{name}")) else { return };
        // What stands outside ASCII is the only thing that the publisher's own layout could change.
        assert_eq!(compact(&parse(&text)), text.trim_end(), "{name}");
    }
}

#[test]
fn a_decimal_literal_is_the_nearest_binary64() {
    for (literal, bits) in [
        ("0.23347200453281403", 0x3fcd_e269_2000_0000_u64),
        ("1e23", 0x44b5_2d02_c7e1_4af6),
        ("9007199254740993.0", 0x4340_0000_0000_0000),
        ("9007199254740993.0000000000000000000000001", 0x4340_0000_0000_0001),
        ("2.2250738585072011e-308", 0x000f_ffff_ffff_ffff),
        ("4.9406564584124654e-324", 1),
        ("2.4703282292062327e-324", 0),
        ("1.7976931348623157e308", 0x7fef_ffff_ffff_ffff),
        ("-0.0", 0x8000_0000_0000_0000),
        ("1E+2", 0x4059_0000_0000_0000),
    ] {
        let Json::Float(value) = parse(literal) else { panic!("{literal} is no float") };
        assert_eq!(value.to_bits(), bits, "{literal} is {value:e}");
        assert_eq!(value, literal.parse::<f64>().unwrap(), "{literal}");
    }
}

#[test]
fn integers_and_floats_are_told_apart_and_kept_whole() {
    assert_eq!(parse("9223372036854775807"), Json::Int(i64::MAX));
    assert_eq!(parse("-9223372036854775808"), Json::Int(i64::MIN));
    assert_eq!(parse("18446744073709551615"), Json::Large(u64::MAX));
    assert_eq!(parse("9223372036854775808"), Json::Large(1 << 63));
    assert_eq!(parse("1.0"), Json::Float(1.0));
    assert_eq!(parse("1e19"), Json::Float(1e19));
    assert_ne!(parse("1"), parse("1.0"));
}

#[test]
fn the_integer_minus_zero_is_an_integer() {
    assert_eq!(canonical(&parse("[-0, -0.0, {\"a\": -0}]")), "[0,-0.0,{\"a\":0}]");
}

#[test]
fn an_integer_beyond_64_bits_is_refused_where_it_stands() {
    for literal in ["18446744073709551616", "-9223372036854775809", "100000000000000000000000000000"] {
        let text = format!("{{\"a\": [1.5,\n  {literal}]}}");
        let error = Document::parse("x.json", text).expect_err("too large");
        assert_eq!(error.position(), (2, 3), "{literal}");
        assert!(matches!(&error, JsonError::LargeInteger { pointer, .. } if pointer == "/a/1"), "{error}");
    }
    // As a float the same magnitude is fine, and so are digits in a string.
    let text = "[1e30, 100000000000000000000.0, \"100000000000000000000000\", {\"100000000000000000000000\": 1e25}]";
    assert!(Document::parse("x.json", text.to_owned()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_decimal_literal_decodes_as_rust_decodes_it(
        sign in "-?", whole in "0|[1-9][0-9]{0,24}", fraction in "[0-9]{1,30}", exponent in "(e[+-]?[0-9]{1,3})?",
    ) {
        let literal = format!("{sign}{whole}.{fraction}{exponent}");
        let expected: f64 = literal.parse().unwrap();
        match Document::parse("x.json", literal.clone()) {
            Ok(document) => {
                let Json::Float(value) = document.root() else { panic!("{literal} is no float") };
                prop_assert_eq!(value.to_bits(), expected.to_bits(), "{}", literal);
            }
            Err(error) => prop_assert!(expected.is_infinite(), "{}: {}", literal, error),
        }
    }

    #[test]
    fn any_float_is_read_back_as_it_was_written(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let Json::Float(read) = parse(&python_float(value)) else { panic!("{} is no float", python_float(value)) };
        prop_assert_eq!(read.to_bits(), bits);
    }

    #[test]
    fn any_string_is_read_back_as_it_was_written(text in any::<String>()) {
        let written = canonical(&Json::Str(text.clone()));
        prop_assert!(written.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{}", written);
        prop_assert_eq!(parse(&written), Json::Str(text));
    }
}
