#!/usr/bin/env bash
# Verifies everything that this repository publishes, refits every model in it, and prints a summary.
# Needs a Rust toolchain; works in a fresh clone. Further packages may be named as arguments.
# With --bench, also runs the row reductions again on the GPU of this machine, and compares with the published package.
set -uo pipefail
cd "$(dirname "$0")"

cargo build --release --locked || exit 2
recount=target/release/recount
bench=0
if [[ ${1:-} == --bench ]]; then
  bench=1
  shift
fi
failed=0
summary=()
packages=0
claims=0
receipts=0
models=0

# Runs a command; its status decides, its words go into the summary.
check() {
  local what=$1
  shift
  printf '\n== %s\n' "$what"
  if "$@"; then
    summary+=("holds   $what")
  else
    summary+=("FAILS   $what")
    failed=1
    return 1
  fi
}

# Verifies a package. Claims are refitted where they are verified, as a package of claims has no model of its own.
verify() {
  local package=$1 what="verify $1"
  shift
  if [[ -f $package/claims.json ]]; then
    what+=" (claims are refitted from the printed medians)"
    check "$what" "$recount" verify "$package" "$@" && claims=$((claims + 1))
  else
    check "$what" "$recount" verify "$package" "$@"
  fi && packages=$((packages + 1))
}

refit() {
  check "refit $1" "$recount" refit "$1" --exact --quiet "${@:2}" && models=$((models + 1))
}

shopt -s nullglob
declare -A anchors=()
while read -r sha256 name; do
  anchors[$name]=$sha256
done < receipts/artifacts.sha256

for package in artifacts/*/; do
  name=${package}receipts.json
  if [[ -z ${anchors[$name]:-} ]]; then
    check "$name is listed in receipts/artifacts.sha256" false
  fi
done
# A package's receipts.json must be the one whose hash this repository records outside of the package, and signed by the key
# that it names.
signers=()
if [[ -f receipts/allowed_signers ]]; then
  signers=(--allowed-signers receipts/allowed_signers --signer artifacts@recount)
fi
for name in "${!anchors[@]}"; do
  verify "$(dirname "$name")" --strict --expect-receipts "${anchors[$name]}" "${signers[@]}"
done
for receipt in receipts/*.json; do
  check "verify $receipt" "$recount" verify "$receipt" --strict && receipts=$((receipts + 1))
done
for model in artifacts/*/model.json; do
  refit "$(dirname "$model")"
done
for package in "$@"; do
  verify "$package"
  if [[ -f $package/model.json || -f $package/validation.json ]]; then
    refit "$package"
  fi
done
has_gpu() {
  command -v nvidia-smi > /dev/null && nvidia-smi -L > /dev/null 2>&1
}

# Writes a new package with today's time of day in its name, so that none is in the way.
bench() {
  local out published
  out=target/reproduced/partition-$(date -u +%Y-%m-%dT%H%M%SZ)
  mkdir -p target/reproduced || return 1
  published=(artifacts/partition-h200-2*/)
  check "bench $out" "$recount" bench --backend cuda --overlap --out "$out" || return 1
  verify "$out"
  refit "$out"
  check "diff ${published[0]} $out" "$recount" diff "${published[0]}" "$out"
}

if ((bench)); then
  if has_gpu; then
    bench
  else
    check "bench: nvidia-smi finds a GPU here" false
  fi
fi
if ((packages + receipts == 0)); then
  check "anything was verified" false
fi

printf '\n== Summary\n'
printf '%s\n' "${summary[@]}"
printf 'hold: packages %d (of these, claims refitted from printed medians: %d), single receipts %d, models refitted %d\n' \
  "$packages" "$claims" "$receipts" "$models"
if ((!bench)) && has_gpu; then
  printf 'This machine has a GPU: ./reproduce.sh --bench runs the row reductions on it again (about five minutes).\n'
fi
exit "$failed"
