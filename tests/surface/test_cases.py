"""What MindSpore 2.10 computes, and what it should refuse: each of its counted cases."""

from pathlib import Path

import pytest

from surface.cases import CASES, fault

PENDING = set((Path(__file__).parents[1] / "data/mindspore/pending.txt").read_text().splitlines())

COUNTED = [name for name, case in CASES.items() if case["kind"] != "note"]


@pytest.mark.parametrize("name", COUNTED)
def test_the_case_has_the_outcome_of_mindspore(name, tmp_path, monkeypatch):
    if name in PENDING:
        pytest.skip("not built yet")
    monkeypatch.syspath_prepend(tmp_path)
    assert fault(CASES[name], tmp_path) == ""
