"""Derivatives where there is none, or more than one: at ties, steps, bounds and zeros.

The table is what docs/rules.md says of a function; each line is run. What it expects was decided,
not measured: the choices of PyTorch, JAX and MindSpore where these agree.
"""

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jvp

TABLE = Path(__file__).resolve().parents[1] / "data" / "conventions.csv"
with TABLE.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


def numbers(text):
    """The arguments or derivatives that a cell names."""
    space = {"nan": np.nan, "inf": np.inf}
    found = (eval(each, space) for each in text.split(";"))
    return [np.array(each)[()] for each in found]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['program']} at {row['arguments']}")
def test_convention(row):
    arguments, expected = numbers(row["arguments"]), numbers(row["derivatives"])
    names = ["x", "y"][: len(arguments)]
    f = module(f"def f({', '.join(names)}):\n    return {row['program']}\n").f
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, wanted in enumerate(expected):
            np.testing.assert_array_equal(grad(f, place)(*arguments), wanted)
            direction = [np.zeros_like(each) for each in arguments]
            direction[place] = np.ones_like(arguments[place])
            if not any(np.isnan(each).any() for each in expected):  # nan times zero is nan
                _, slope = jvp(f, tuple(arguments), tuple(direction))
                np.testing.assert_allclose(slope, np.sum(wanted), rtol=1e-15)
