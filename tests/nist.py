"""Correct digits of numpy.linalg.lstsq on NIST's sets; `tests/nist.rs` runs it: nist.py FOLDER SET=COLUMNS..."""

import csv
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np


def design(columns, cells):
    """As in the test: powers:N of the one column, the columns as they stand, or those after an intercept."""
    if columns.startswith("powers:"):
        return np.array([[row[0] ** power for power in range(int(columns[7:]) + 1)] for row in cells])
    cells = np.array(cells)
    return cells if columns == "origin" else np.column_stack([np.ones(len(cells)), cells])


def digits(value, certified):
    error = abs((Fraction(float(value)) - Fraction(certified)) / Fraction(certified))
    return 15.0 if error == 0 else min(15.0, -math.log10(error))


folder = Path(sys.argv[1])
with open(folder / "certified.csv", newline="") as file:
    certified = {}
    for name, _, _, value in list(csv.reader(file))[1:]:
        certified.setdefault(name, []).append(value)
for name, columns in (argument.split("=") for argument in sys.argv[2:]):
    with open(folder / f"{name}.csv", newline="") as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    solved = np.linalg.lstsq(design(columns, [row[1:] for row in rows]), np.array([row[0] for row in rows]), rcond=None)[0]
    worst = min(digits(value, text) for value, text in zip(solved, certified[name], strict=True))
    print(f"{name} {max(worst, 0.0):.1f}")
