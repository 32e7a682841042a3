"""Every function at inputs of other dtype, layout, shape, size and number, and in batches."""

import csv

import pytest

from rules import probes, variants
from s2s_ad.diagnostics import S2SError

EVERY = 151  # of the pairs is checked by `make test`, all by `make test-all`
RECORDED = {
    (each["function"], each["variant"]): each
    for each in csv.DictReader((probes.DATA / "variants.csv").open(encoding="utf-8", newline=""))
}
ROWS = [
    row
    for row in probes.rows()
    if row.names and not row.random and probes.recorded()[row.module, row.name]["reverse"] == "yes"
]
PAIRS = [(row, group) for row in ROWS for group in variants.GROUPS]
CASES = [
    pytest.param(row, group, id=f"{row}-{group}", marks=[pytest.mark.slow] if place % EVERY else [])
    for place, (row, group) in enumerate(PAIRS)
]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("row, group", CASES)
def test_group(row, group):
    if (str(row), group) in RECORDED:
        pytest.skip(RECORDED[str(row), group]["reason"])
    program = variants.Program(row)
    for variant in variants.GROUPS[group](program):
        exception = RECORDED.get((str(row), variant.name))
        if exception is None:
            variants.check(program, variant)
            continue
        error = S2SError if exception["outcome"] == "refused" else Exception
        with pytest.raises(error):
            variants.check(program, variant)


def test_exceptions_have_a_reason():
    assert {function for function, _ in RECORDED} <= {str(row) for row in ROWS}
    assert all(each["reason"] for each in RECORDED.values())
    assert {each["outcome"] for each in RECORDED.values()} <= {
        "refused",
        "differs",
        "not asked",
    }
