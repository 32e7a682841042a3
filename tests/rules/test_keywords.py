"""Every keyword argument that the coverage table lists, given: NumPy's value, and its slope."""

import csv

import pytest

from rules import keywords, probes
from s2s_ad.diagnostics import S2SError

EVERY = 40  # of the pairs is checked by `make test`, all by `make test-all`
RECORDED = {
    (each["function"], each["keyword"]): each
    for each in csv.DictReader((probes.DATA / "keywords.csv").open(encoding="utf-8", newline=""))
}
PAIRS = [
    pytest.param(
        row, keyword, id=f"{row}-{keyword}", marks=[pytest.mark.slow] if number % EVERY else []
    )
    for number, (row, keyword) in enumerate(keywords.pairs())
]


@pytest.mark.parametrize("row, keyword", PAIRS)
def test_keyword(row, keyword):
    exception = RECORDED.get((str(row), keyword))
    if exception is None:
        assert keywords.check(row, keyword), "no value of it was tried"
    elif exception["outcome"] == "refused":
        with pytest.raises(S2SError):
            keywords.check(row, keyword)
    else:
        assert not keywords.check(row, keyword), "it is checked: leave it out of the table"


def test_exceptions_are_listed_and_have_a_reason():
    listed = {(str(row), keyword) for row, keyword in keywords.pairs()}
    assert RECORDED.keys() <= listed
    assert all(each["reason"] for each in RECORDED.values())
    assert {each["outcome"] for each in RECORDED.values()} <= {"refused", "not asked"}
