"""First and second derivatives of every function, along a line and to eight digits.

What is expected comes from the values of NumPy and SciPy alone: see `accuracy`.
"""

import warnings

import numpy as np
import pytest

from rules import accuracy, probes
from s2s_ad import jvp

EVERY = 25  # of the programs is checked by `make test`, all by `make test-all`
#: programs with a kink close to the point, and values that are right to a tolerance alone
ROUGH = {"ndarray method.round", "scipy.integrate.odeint", "scipy.integrate.solve_ivp"}
SOLVERS = ("scipy.optimize", "scipy.sparse.linalg")


def smooth():
    """The programs with a second derivative that is not zero everywhere."""
    recorded = probes.recorded()
    return [
        row
        for row in probes.rows()
        if recorded[row.module, row.name]["second order"] == "yes"
        and not (row.random or row.kind.startswith("nondiff"))
        and f"{row.module}.{row.name}" not in ROUGH
        and row.module not in SOLVERS
    ]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=str(row), marks=[pytest.mark.slow] if place % EVERY else [])
        for place, row in enumerate(smooth())
    ],
)
def test_derivatives_along_a_line(row):
    arguments = {name: np.copy(probes.INPUTS[name])[()] for name in row.names}
    program = probes.Program(row.statements, arguments)
    longest = max(np.max(np.abs(each)) for each in program.directions)
    program.directions = [each / longest for each in program.directions]

    def value(step):
        pairs = zip(program.arguments, program.directions, strict=True)
        return float(program.module.loss(*[start + step * way for start, way in pairs]))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = accuracy.along(value)
        assert expected.doubt <= accuracy.TOLERANCE * expected.scale
        first = program.along(program.gradient(*program.arguments))
        _, dots = jvp(program.slopes, tuple(program.arguments), tuple(program.directions))
        second = program.along(dots if isinstance(dots, tuple) else (dots,))
    assert first == pytest.approx(expected.first, abs=accuracy.TOLERANCE * expected.scale)
    assert second == pytest.approx(expected.second, abs=accuracy.TOLERANCE * expected.scale)


def test_the_derivatives_of_a_known_function():
    """sin(3 t) at t = 0.2 along the line from there."""
    found = accuracy.along(lambda step: np.sin(3 * (0.2 + step)))
    assert found.first == pytest.approx(3 * np.cos(0.6), rel=1e-12)
    assert found.second == pytest.approx(-9 * np.sin(0.6), rel=1e-10)


def test_a_kink_is_in_doubt():
    found = accuracy.along(lambda step: abs(step - 1e-3))
    assert found.doubt > accuracy.TOLERANCE * found.scale
