"""Times recount beside Polars, DuckDB and OpenSSL, and prints tables for benches/README.md.

usage: compare.py BINARIES WORK LARGEST_SAMPLES ROUNDS

Each round runs every side once, in turn; what is printed are medians of the rounds' ratios, so that what else the machine
does falls on both sides. Polars and DuckDB are timed within a process that has imported them already; recount as a whole
process. Peak memory is the largest resident set of a process.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

POLARS = """
import sys, time, polars as pl
began = time.perf_counter()
table = (
    pl.scan_csv(sys.argv[1])
    .group_by("case", "cohort", "route")
    .agg(pl.col("event_us_per_op").median())
    .collect()
)
print(time.perf_counter() - began, len(table))
"""
DUCKDB = """
import sys, time, duckdb
began = time.perf_counter()
rows = duckdb.sql(
    f"SELECT \\"case\\", cohort, route, median(event_us_per_op) FROM read_csv('{sys.argv[1]}') GROUP BY ALL"
).fetchall()
print(time.perf_counter() - began, len(rows))
"""


def run(command, **options):
    """Wall seconds, CPU seconds, peak MiB and standard output of a command that must not fail."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if status != 0:
        sys.exit(f"{command}: status {status}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.decode()


def package(binaries, work, samples, cases):
    folder = work / f"package-{samples}-{cases}"
    if not folder.exists():
        run([binaries / "examples/make_package", "--samples", str(samples), "--cases", str(cases), folder])
    return folder


def growth(binaries, work, largest, rounds):
    print("\n| samples | runs | samples.csv | validation.json | wall s | us a sample | cores | peak MiB | over what is kept |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    samples = 10_000
    idle = run([binaries / "recount", "--version"])[2]
    while samples <= largest:
        folder = package(binaries, work, samples, 40)
        found = [run([binaries / "recount", "verify", folder, "--strict", "-q"]) for _ in range(rounds)]
        wall = statistics.median(one[0] for one in found)
        cpu = statistics.median(one[1] for one in found)
        peak = statistics.median(one[2] for one in found)
        rows = sum(1 for _ in open(folder / "samples.csv")) - 1
        sizes = [(folder / name).stat().st_size / 1e6 for name in ("samples.csv", "validation.json")]
        kept = rows * 8 / 2**20
        print(
            f"| {rows:,} | 201 | {sizes[0]:,.1f} MB | {sizes[1]:,.1f} MB | {wall:.2f} | {wall / rows * 1e6:.2f} "
            f"| {cpu / wall:.2f} | {peak:.0f} | {peak / kept:.2f} |"
        )
        samples *= 10
    print(f"\nA process that does nothing has {idle:.0f} MiB; what is kept are the samples as binary64.")


def medians(binaries, work, samples, rounds):
    table = package(binaries, work, samples, 40) / "samples.csv"
    ratios = {"Polars": [], "DuckDB": []}
    times = {"Polars": [], "DuckDB": [], "recount": []}
    groups = set()
    for _ in range(rounds):
        ours, _, peak, output = run([binaries / "examples/grouped_medians", table])
        groups.add(len(output.splitlines()))
        times["recount"].append(ours)
        for name, script in (("Polars", POLARS), ("DuckDB", DUCKDB)):
            output = run([sys.executable, "-c", script, table])[3]
            # DuckDB shows its progress before it.
            seconds, count = output.split()[-2:]
            groups.add(int(count))
            times[name].append(float(seconds))
            ratios[name].append(ours / float(seconds))
    if len(groups) != 1:
        sys.exit(f"the sides disagree about the number of groups: {groups}")
    print(f"\n| grouped medians of {table.stat().st_size / 1e6:,.0f} MB, {groups.pop()} groups | median s | recount over it |")
    print("|---|---:|---:|")
    for name in ("Polars", "DuckDB", "recount"):
        ratio = f"{statistics.median(ratios[name]):.2f}" if name in ratios else ""
        print(f"| {name} | {statistics.median(times[name]):.2f} | {ratio} |")


def hashes(binaries, work, rounds):
    folder = work / "many"
    if not folder.exists():
        folder.mkdir()
        for number in range(10_000):
            (folder / f"{number:05}.bin").write_bytes(random.Random(number).randbytes(10_000))
    large = work / "large"
    if not large.exists():
        large.mkdir()
        with open(large / "one.bin", "wb") as file:
            block = bytes(range(256)) * 4096
            for _ in range(1024):
                file.write(block)
    print("\n| SHA-256 | recount verify s | openssl dgst s | ratio |\n|---|---:|---:|---:|")
    for what, place in (("10,000 files of 10 kB", folder), ("one file of 1 GiB", large)):
        names = sorted(place.glob("*.bin"))
        run([binaries / "recount", "seal", place])
        ours, theirs, ratios = [], [], []
        for _ in range(rounds):
            mine = run([binaries / "recount", "verify", place, "-q"])[0]
            other = run(["openssl", "dgst", "-sha256", *names])[0]
            ours.append(mine)
            theirs.append(other)
            ratios.append(mine / other)
        print(
            f"| {what} | {statistics.median(ours):.2f} | {statistics.median(theirs):.2f} | {statistics.median(ratios):.2f} |"
        )


def main():
    binaries, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    largest, rounds = int(sys.argv[3]), int(sys.argv[4])
    growth(binaries, work, largest, rounds)
    medians(binaries, work, largest, rounds)
    hashes(binaries, work, rounds)


main()
