"""Rows of the elementwise table are checked before they are added."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from s2s_ad.check.rows import DOMAINS, check_row, coverage_row, function_at
from s2s_ad.core.registry import RULES
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules.elementwise import Elementwise

COVERAGE = Path(__file__).resolve().parents[1] / "data" / "coverage.csv"


@pytest.mark.parametrize(
    "function, texts, domain, passes",
    [
        (np.tanh, ["y_bar * (1 - y**2)"], "real", True),
        (np.tanh, ["y_bar * (1 - x**2)"], "real", False),
        (np.log, ["y_bar / x"], "positive", True),
        (np.hypot, ["y_bar * a / y", "y_bar * b / y"], "real", True),
        (np.hypot, ["y_bar * a / y", "y_bar * a / y"], "real", False),
        (np.hypot, ["y_bar * a / y", None], "real", False),
        (np.floor, [None], "real", True),
    ],
)
def test_a_row_is_right_or_wrong(function, texts, domain, passes):
    assert check_row(function, texts, domain=domain).passed is passes


def test_a_function_that_has_no_rule_yet_has_none_afterwards(monkeypatch):
    monkeypatch.delitem(RULES, np.cbrt)
    assert check_row(np.cbrt, ["y_bar / (3 * y**2)"], domain="positive").passed
    assert np.cbrt not in RULES


def test_a_rule_that_there_is_stays():
    before = RULES[np.tanh]
    check_row(np.tanh, ["y_bar"])
    assert RULES[np.tanh] is before


@pytest.mark.parametrize("text", ["y_bar * z", "y_bar *", "sin(x)"])
def test_texts_that_mean_nothing_are_refused(text):
    with pytest.raises(ArgumentValueError):
        check_row(np.tanh, [text])


def test_functions_that_there_are_not_are_refused():
    with pytest.raises(ArgumentValueError, match="no function"):
        function_at("np.tnah")


def test_domains_are_those_that_rows_have():
    rows = [rule for rule in RULES.values() if isinstance(rule, Elementwise)]
    assert {rule.domain for rule in rows} == set(DOMAINS)


@pytest.mark.parametrize("path, count", [("np.cbrt", 1), ("np.hypot", 2)])
def test_the_line_for_the_tests_is_the_one_that_is_there(path, count):
    with COVERAGE.open(encoding="utf-8", newline="") as file:
        known = {(row[0], row[1]): row for row in csv.reader(file)}
    (made,) = csv.reader([coverage_row(path, count)])
    there = known[made[0], made[1]]
    peers = slice(4, 10)  # which other libraries have it
    del made[peers], there[peers]
    assert made == there
