"""Writes python-json.txt: values as Python's json module writes them, for tests/verify/canonical.rs.

Run it with any Python 3 whose floats are binary64: python3 tests/data/python-json.py > tests/data/python-json.txt
Each line has a kind, an input and the expected text, separated by tabs.
  float  the binary64 bits in hexadecimal; what json.dumps writes
  tree   a JSON text; what json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False) writes
"""

import json
import random
import struct

random.seed(20261003)


def bits(value):
    return struct.pack(">d", value).hex()


def from_bits(number):
    return struct.unpack(">d", struct.pack(">Q", number))[0]


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def line(kind, source, expected):
    assert "\t" not in source + expected and "\n" not in source + expected
    print(kind, source, expected, sep="\t")


FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 1.5e-07, 1e-05, 0.0001, 0.00011327031090119965, 1e15, 1e16, -1e16, 9999999999999998.0,
    1e17, 1e21, 1e22, 1e23, 9.5e22, 5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308,
    1.2383193969726562, 123456789012345680.0, 1234567890123456.8, 0.23347200453281403, 0.9028899747245084,
    9007199254740992.0, 9007199254740993.0, 9007199254740994.0, 4503599627370496.5, 4503599627370497.5,
    2.0 ** -1074, 2.0 ** -1022, 2.0 ** 1023, 2.0 ** 63, 2.0 ** 64, -(2.0 ** 63), 1 / 3, 2 / 3, 100.0, 500.0, 1e100, 1e-100,
    5e-5, 0.00010000000000000002, 9.999999999999999e-05, 94.22029113769531, 98.02547454833984,
]

for value in FLOATS:
    line("float", bits(value), json.dumps(value))

# Every exponent: random bits.
for _ in range(250):
    value = from_bits(random.getrandbits(64))
    if value == value and abs(value) != float("inf"):
        line("float", bits(value), json.dumps(value))

# Binary32 values widened end in few bits, so that two shortest decimals are often equally near.
for _ in range(250):
    value = struct.unpack(">f", struct.pack(">f", random.uniform(0.0, 200.0)))[0]
    line("float", bits(value), json.dumps(value))

# Times per operation.
for _ in range(100):
    value = struct.unpack(">f", struct.pack(">f", random.uniform(80.0, 100.0)))[0] * 1000.0 / (random.randrange(10, 900) * 100)
    line("float", bits(value), json.dumps(value))

TREES = [
    None, True, False, 0, -1, 9223372036854775807, -9223372036854775808, 18446744073709551615, [], {}, "", [[]], [{}], {"": 1},
    {"b": 1, "a": 2, "B": 3, "A": 4, "": 5, "aa": 6, "a b": 7, "10": 8, "9": 9},
    # By code point: U+FFFD comes before the astral U+1F600, though not in UTF-16.
    {"\U0001f600": 1, "\ufffd": 2, "\u00e9": 3, "e": 4, "~": 5, "\x7f": 6, "\x80": 7},
    {"a": [1, 1.0, -0.0, 1e16, "1"], "z": {"y": {"x": [None, True, False]}}},
    "caf\u00e9 \u20ac \U0001f600 \U0010ffff \ue000 \uffff",
    "".join(chr(number) for number in range(0x20)),
    "\x7f\x80\x9f\xa0\xad\u2028\u2029\u200b\u202e\ufeff",
    "\"\\/</script>'`&",
    [1, -0.0, 0.1, 1e-7, 123456789012345680.0, 2 ** 63, -(2 ** 63)],
]

for tree in TREES:
    line("tree", json.dumps(tree), canonical(tree))
    if not any(mark in json.dumps(tree) for mark in ("\\u00", "\\n", "\\r", "\\t")):
        line("tree", json.dumps(tree, ensure_ascii=False), canonical(tree))

for _ in range(60):
    text = "".join(chr(random.choice([random.randrange(0x20), random.randrange(0x250), random.randrange(0xD800),
                                      random.randrange(0xE000, 0x110000)])) for _ in range(12))
    tree = {text: text[::-1], text[:3]: [text]}
    line("tree", json.dumps(tree), canonical(tree))

# Where a power of two makes the gaps below and above unlike, and where decimals of equal length compete.
for exponent in range(-1074, 1024, 37):
    for value in (2.0 ** exponent, 3.0 * 2.0 ** min(exponent, 1021)):
        line("float", bits(value), json.dumps(value))

# Both sides of where Python's notation changes.
for power in (1e-5, 1e-4, 1e-3, 1e15, 1e16, 1e17):
    number = struct.unpack(">Q", struct.pack(">d", power))[0]
    for step in (-2, -1, 1, 2):
        line("float", bits(from_bits(number + step)), json.dumps(from_bits(number + step)))

# Texts that are not how Python itself would write the value.
TEXTS = [
    "1E5", "1e5", "1E+2", "1e-2", "0.10", "-0.0", "-0e0", "0e99", "1.0e0", "123e-400", "4.9e-324", "2.4e-324", "1.7976931348623158e308",
    "9007199254740993", "9007199254740993.0", "-9223372036854775808", "18446744073709551615", "0.1e1", "100e-2",
    '"\\u0041\\/\\u00e9\\ud83d\\ude00"', '{"\\u0061": 1, "A": 2, "\\u00e9": 3}', " [ 1 , 2.50 ] ",
    '"\\b\\f\\n\\r\\t\\u000b\\u007f\\u0080"',
]

for text in TEXTS:
    line("tree", text, canonical(json.loads(text)))
