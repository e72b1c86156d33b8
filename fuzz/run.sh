#!/usr/bin/env bash
# Fuzzes all targets, or those named, one after the other, and prints a row of a table for each:
#   fuzz/run.sh [SECONDS] [TARGET...]
# Needs a nightly toolchain and cargo-fuzz. It starts from the stored corpus; what it finds worth keeping goes to
# fuzz/corpus/TARGET, and an input that crashes, hangs or takes too much memory to fuzz/artifacts/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
((${#targets[@]})) || mapfile -t targets < <(cargo +nightly fuzz list)

# No sanitizer: there is no unsafe code to be watched, and without one there are several times as many executions.
cargo +nightly fuzz build --sanitizer none --no-trace-compares >&2
host=$(rustc +nightly -vV | sed -n 's/^host: //p')

# Packages are written to a folder in memory, where there is one.
memory=/dev/shm
[[ -d $memory && -w $memory ]] || memory=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$memory/recount-fuzz-XXXXXX")
export TMPDIR RAYON_NUM_THREADS=1
trap 'rm -rf "$TMPDIR"' EXIT

printf '| target | executions | seconds | per second | crashes |\n|---|---|---|---|---|\n'
failed=0
for target in "${targets[@]}"; do
  own=fuzz/corpus/$target artifacts=fuzz/artifacts/$target log=$TMPDIR/log
  mkdir -p "$own" "$artifacts"
  before=$(find "$artifacts" -type f | wc -l)
  "fuzz/target/$host/release/$target" "$own" "tests/fuzz/corpus/$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=1024 -artifact_prefix="$artifacts/" -print_final_stats=1 > "$log" 2>&1 || failed=1
  stat() { sed -n "s/^stat::$1: *//p" "$log"; }
  crashes=$(($(find "$artifacts" -type f | wc -l) - before))
  ran=$(sed -n 's/^Done .* in \([0-9]*\) second.*/\1/p' "$log")
  printf '| `%s` | %s | %s | %s | %s |\n' "$target" "$(stat number_of_executed_units)" "${ran:-?}" \
    "$(stat average_exec_per_sec)" "$crashes"
  ((crashes == 0)) || grep -a -m1 -A2 panicked "$log" >&2 || tail -n 5 "$log" >&2
done
exit "$failed"
