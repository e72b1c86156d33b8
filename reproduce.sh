#!/usr/bin/env bash
# Verifies everything that this repository publishes, refits every model in it, and prints a summary.
# Needs a Rust toolchain; works in a fresh clone. Further packages may be named as arguments.
set -uo pipefail
cd "$(dirname "$0")"

cargo build --release --locked || exit 2
recount=target/release/recount
failed=0
summary=()

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
  fi
}

# A package's receipts.json must be the one whose hash this repository records outside of the package.
anchored() {
  local receipts=$1 sha256=$2
  "$recount" verify "$(dirname "$receipts")" --strict --expect-receipts "$sha256"
}

shopt -s nullglob
declare -A anchors=()
while read -r sha256 receipts; do
  anchors[$receipts]=$sha256
done < receipts/artifacts.sha256

for receipts in artifacts/*/receipts.json; do
  if [[ -z ${anchors[$receipts]:-} ]]; then
    check "$receipts is listed in receipts/artifacts.sha256" false
  fi
done
for receipts in "${!anchors[@]}"; do
  check "verify $(dirname "$receipts")" anchored "$receipts" "${anchors[$receipts]}"
done
for receipt in receipts/*.json; do
  check "verify $receipt" "$recount" verify "$receipt" --strict
done
for model in artifacts/*/model.json; do
  check "refit $(dirname "$model")" "$recount" refit "$(dirname "$model")" --exact --quiet
done
for package in "$@"; do
  check "verify $package" "$recount" verify "$package"
  check "refit $package" "$recount" refit "$package" --exact --quiet
done

printf '\n== Summary\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
