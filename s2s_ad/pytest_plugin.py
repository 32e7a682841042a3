"""A plugin for pytest: tests that check derivatives.

In a conftest.py, `pytest_plugins = ["s2s_ad.pytest_plugin"]`; then

    @pytest.mark.derivatives(grad(energy), "f64[9], float, 5")
    def test_the_gradient_of_the_energy():
        ...

compares what `s2s_ad.check.check` compares, before the body of the test runs. The arguments are
described as for `--like`, or given: `@pytest.mark.derivatives(energy, args=(u, k, 5))`. A test may
have several such marks; `seed=` and `tolerance=` are those of `check`. Inside a test,
`assert_derivatives(energy, u, k, 5)` does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2s_ad.check import check
from s2s_ad.cli import like as described


def assert_derivatives(
    fn: Callable, *args: Any, seed: int = 0, tolerance: float | None = None
) -> None:
    """Fail where reverse mode, forward mode and central differences of `fn` do not agree.

    Args:
        fn, args, seed, tolerance: as for `s2s_ad.check.check`.

    Raises:
        AssertionError: they differ by more than is tolerated; the message is the table.
        S2SError: what cannot be compiled or differentiated.

    Example:
        >>> assert_derivatives(lambda x: x @ x, np.array([1.0, 2.0]))
    """
    __tracebackhide__ = True
    report = check(fn, *args, seed=seed, tolerance=tolerance)
    if not report.passed:
        raise AssertionError(f"derivatives differ\n{report}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "derivatives(fn, like=None, *, args=None, seed=0, tolerance=None): compare both modes of "
        "differentiation of fn with each other and with central differences",
    )


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    __tracebackhide__ = True
    for mark in pyfuncitem.iter_markers("derivatives"):
        _check_marked(*mark.args, **mark.kwargs)
    return (yield)


def _check_marked(
    fn: Callable | None = None,
    like: str | None = None,
    *,
    args: tuple | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> None:
    __tracebackhide__ = True
    if fn is None:
        raise TypeError("derivatives needs a function: derivatives(grad(energy), 'f64[9]')")
    if (like is None) == (args is None):
        raise TypeError("derivatives needs a description of the arguments, or args=(...)")
    if like is not None:
        args = described.parse(like, described.random(np.random.default_rng(seed)))
    assert_derivatives(fn, *args, seed=seed, tolerance=tolerance)
