"""What all tests share."""

import collections
import gc
import os

import pytest
from hypothesis import settings

os.environ.setdefault("S2S_AD_VERIFY", "1")  # Core is verified after each pass
os.environ.setdefault("S2S_AD_NATIVE", "0")  # Numba takes a second a function: tests ask for it
os.environ["S2S_AD_CACHE"] = "0"  # nothing of one run serves the next, or the user

# No deadline: the first example of a test compiles, the others do not, and machines are shared.
settings.register_profile("s2s_ad", deadline=None, print_blob=True)
settings.load_profile("s2s_ad")


@pytest.fixture(autouse=True)
def nothing_compiled():
    """What one test compiles does not serve the next one: texts and counts are its own."""
    from s2s_ad.api.families import FAMILIES  # once it is known whether Core is verified

    FAMILIES.clear()


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden", action="store_true", help="write tests/golden/expected anew"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the cases of a test that is marked `thinned(n)` all but one of n are slow."""
    counts = collections.Counter()
    for item in items:
        mark = item.get_closest_marker("thinned")
        if mark is not None:
            counts[item.path, item.originalname] += 1
            if (counts[item.path, item.originalname] - 1) % mark.args[0]:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A file of tests that cannot be imported is an error.

    Modules of the package may need a library that is not installed, so their doctests are skipped
    then; pytest skips files of tests by the same option, and their tests with them.
    """
    report = yield
    if report.skipped and "unable to import module" in str(report.longrepr):
        if collector.nodeid.startswith("tests/"):
            report.outcome = "failed"
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """What collecting has made stays: tests that count garbage need not look through it."""
    gc.collect()
    gc.freeze()
