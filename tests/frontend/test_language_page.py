"""docs/language.md says what the frontend does: it is written from the same tables."""

import importlib.util
import pathlib

import pytest

from s2s_ad.frontend.lower.core import EXPRESSIONS, STATEMENTS

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_language", DOCS / "make_language.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(maker):
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), (
        "run: python docs/make_language.py"
    )


@pytest.mark.parametrize("table", [STATEMENTS, EXPRESSIONS])
def test_every_handler_shows_what_it_takes(table):
    for kind, handler in table.items():
        assert (handler.__doc__ or "").startswith("`"), kind
