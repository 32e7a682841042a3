"""docs/rules.md, cell by cell: what it says of a function is what the function's program does."""

import importlib.util
import pathlib

import pytest

from rules import probes

pytestmark = pytest.mark.thinned(2)

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
EVERY = 32  # of the rows is checked by `make test`, all by `make test-all`
ROWS = [
    pytest.param(row, id=str(row), marks=[pytest.mark.slow] if number % EVERY else [])
    for number, row in enumerate(probes.rows())
]


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_rules", DOCS / "make_rules.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def recorded():
    return probes.recorded()


@pytest.mark.thinned(12)
@pytest.mark.parametrize("row", ROWS)
def test_row(row, recorded):
    for column in probes.COLUMNS:
        expected = recorded[row.module, row.name][column]
        assert probes.outcome(row, column)[0] == expected, column


def test_every_row_is_recorded(recorded):
    assert list(recorded) == [(row.module, row.name) for row in probes.rows()]


def test_refusals_have_a_reason(recorded):
    for cells in recorded.values():
        assert bool(cells["reason"]) == ("refused" in cells.values())


def test_the_page_is_up_to_date(maker):
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), "run: python docs/make_rules.py"


def test_ahead_of_the_peers(maker):
    """Reverse and forward mode are there for more functions than in any other library."""
    counts = maker.counts()
    assert counts["s2s_ad"]["reverse"] > max(
        each["reverse"] for name, each in counts.items() if name != "s2s_ad"
    )
