#!/usr/bin/env bash
# Compares recount with what else reads such files, side by side in one run: Polars and DuckDB (installed from PyPI into a
# virtual environment) for grouped medians, OpenSSL for hashes; and shows how `recount verify` grows with the samples.
#
# usage: benches/peers/run.sh [LARGEST_SAMPLES [ROUNDS]]
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release --locked --bin recount --example make_package --example grouped_medians
work=$(mktemp -d "${TMPDIR:-/tmp}/recount-peers.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet polars==1.* duckdb==1.*
"$work/venv/bin/python" benches/peers/compare.py target/release "$work" "${1:-10000000}" "${2:-5}"
