//! The reader of JSON that does not keep the text.

use recount::package::json::{Document, Floats, Json, KnownFloats, StreamOptions, canonical, compact, indented};

/// Packs lists from two floats on.
fn streamed(text: &str) -> Json {
    let known = KnownFloats::default();
    let options = StreamOptions { packed_from: 2, is_long: |name| name != "x", shrink: |_| {}, known: &known };
    Document::stream("x.json", &mut text.as_bytes(), &options).expect("JSON").root().clone()
}

#[test]
fn packed_lists_are_written_as_others() {
    let text =
        r#"{"a":[1.5,2.5,0.1],"b":[1.5,2],"c":[0.1234,7.0001],"d":[[3.5,4.5],[]],"x":[0.1,0.2],"e":[1.25e-05,3e+17]}"#;
    let (kept, packed) = (Document::parse("x.json", text.to_owned()).expect("JSON"), streamed(text));
    assert_eq!(compact(&packed), text);
    assert_eq!(indented(&packed), indented(kept.root()));
    assert_eq!(canonical(&packed), canonical(kept.root()));
    assert!(recount::audit::same_value(&packed, kept.root()) && recount::audit::same_value(kept.root(), &packed));
    assert!(matches!(packed.get("a"), Some(Json::Floats(_))) && matches!(packed.get("b"), Some(Json::Array(_))));
    assert!(matches!(packed.get("x"), Some(Json::Array(_))), "a list of another name is not packed");
}

#[test]
fn an_integer_that_became_a_float_is_found_wherever_the_reads_end() {
    for (text, place) in [
        ("-0", Some((1, 1))),
        ("[1.5,\n -0]", Some((2, 2))),
        ("{\"a\": [-0.0, -1, 0, \"-0\", 1e-05],\n\n\"b\": -0, \"c\": 18446744073709551616}", Some((3, 6))),
        ("[18446744073709551615, 18446744073709551616]", Some((1, 24))),
        ("[-1.25, {\"x\":-9223372036854775809}]", Some((1, 14))),
        ("[\"-0\", \"18446744073709551616\", -0.0, 184467440737095516160.0, 18446744073709551616e0, true, null]", None),
        ("123456789012345678901234567890", Some((1, 1))),
        ("-1234567890123456789012345678.5", None),
    ] {
        for bytes in 1..=text.len() {
            let options =
                StreamOptions { packed_from: 64, is_long: |_| true, shrink: |_| {}, known: &KnownFloats::default() };
            let mut reader = Pieces { text: text.as_bytes(), bytes };
            let read = Document::stream("x.json", &mut reader, &options);
            assert_eq!(read.err().map(|error| error.position()), place, "{text} in pieces of {bytes}");
        }
    }
}

/// Gives a text in pieces.
struct Pieces<'t> {
    text: &'t [u8],
    bytes: usize,
}

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.min(self.text.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.text[..count]);
        self.text = &self.text[count..];
        Ok(count)
    }
}

/// One byte again and again, after a beginning, so many times.
struct Repeated<'b>(&'b [u8], u8, usize);

impl std::io::Read for Repeated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.0.is_empty() {
            return self.0.read(buffer);
        }
        let count = self.2.min(buffer.len());
        buffer[..count].fill(self.1);
        self.2 -= count;
        Ok(count)
    }
}

#[test]
fn strings_and_numbers_without_end_are_refused_in_a_stream() {
    use recount::package::limits::{MAX_JSON_TEXT_BYTES, MAX_JSON_TOKEN_BYTES};

    let known = KnownFloats::default();
    let options = StreamOptions { packed_from: 2, is_long: |name| name != "x", shrink: |_| {}, known: &known };
    for (beginning, byte, bytes, expected) in [
        ("[\"", b'a', MAX_JSON_TEXT_BYTES + 1, "bytes in strings"),
        ("{\"", b'a', MAX_JSON_TEXT_BYTES + 1, "bytes in strings"),
        ("[1.", b'5', MAX_JSON_TOKEN_BYTES + 1, "bytes without a comma"),
        ("[", b'[', MAX_JSON_TOKEN_BYTES + 1, "recursion limit"),
        ("[", b' ', 3 * MAX_JSON_TOKEN_BYTES, "EOF"),
    ] {
        let mut reader = Repeated(beginning.as_bytes(), byte, bytes);
        let error = Document::stream("x.json", &mut reader, &options).expect_err("no end");
        assert!(error.to_string().contains(expected), "{beginning}: {error}");
    }
    let escaped = format!("[\"{}\\\"\\\\\", \"b\", 1.5]", "a".repeat(100));
    assert_eq!(streamed(&escaped).pointer("/1"), Some(&Json::from("b")));
}

proptest::proptest! {
    #[test]
    fn packing_keeps_every_bit(
        bits in proptest::collection::vec(proptest::num::u64::ANY, 1..40),
        kind in 0..4,
    ) {
        let values: Vec<f64> = bits
            .iter()
            .map(|&bits| match kind {
                0 => f64::from_bits(bits),
                1 => f64::from(f32::from_bits(bits as u32)),
                2 => (bits % 5_000_000_000) as f64 / 1e6,
                _ => (bits % 5_000_000_000) as f64 / 1e4,
            })
            .filter(|value| value.is_finite())
            .collect();
        let packed = Floats::pack(values.clone());
        proptest::prop_assert_eq!(packed.len(), values.len());
        let all = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<_>>();
        proptest::prop_assert_eq!(all(&mut packed.iter()), all(&mut values.iter().copied()));
        let scaled = Floats::pack(values.iter().map(|value| value * 1000.0 / 700.0).collect());
        let by = scaled.as_scaled(&packed, 1000.0, 700.0).expect("the same rounding");
        proptest::prop_assert_eq!(all(&mut by.iter()), all(&mut scaled.iter()));
    }
}
