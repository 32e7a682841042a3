"""Random programs over the whole language: value and derivatives, or a refusal with its place."""

from __future__ import annotations

import copy
import importlib.util
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from programs.language_programs import program
from s2s_ad import S2SError, jvp, value_and_grad

POSITIONS = (0, 1, 2)
ARGUMENTS = [
    (np.array([0.31, -0.52, 0.83, 0.17]), np.array([0.45, -0.29, 0.66]), 0.57, 3),
    (np.array([-0.74, 0.28, 0.06, 0.93]), np.array([-0.12, 0.81, 0.35]), -0.39, 0),
    (np.array([0.64, 0.41, -0.97, -0.33]), np.array([0.22, 0.54, -0.71]), 0.18, 2),
]
REFUSED_AT_MOST = 0.15
FAULTS = ("S2S901", "S2S202")  # every name is defined in Python, and so it is here


def load(text, folder):
    path = folder / f"language_{len(list(folder.iterdir()))}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def moved(args, direction, step):
    first = [np.asarray(x) + step * d for x, d in zip(args, direction, strict=False)]
    return (first[0], first[1], float(first[2]), args[3])


def slope(f, args, direction, step):
    up, down = f(*moved(args, direction, step)), f(*moved(args, direction, -step))
    return (up - down) / (2 * step)


def check(text, folder):
    """None, or the refusal of a program; a wrong one fails with its text."""
    f = load(text, folder)
    rng = np.random.default_rng(0)
    derived = value_and_grad(f, POSITIONS)
    for args in ARGUMENTS:
        with np.errstate(all="ignore"):
            expected = f(*copy.deepcopy(args))
        if not abs(expected) < 1e4:
            continue
        before = [np.copy(x) for x in args]
        direction = [rng.normal(size=np.shape(x)) for x in args[:3]]
        direction[2] = float(direction[2])
        try:
            value, gradient = derived(*args)
            _, tangent = jvp(lambda a, b, s: f(a, b, s, args[3]), args[:3], tuple(direction))
        except S2SError as error:
            if error.code in FAULTS or error.origin is None:
                raise AssertionError(text) from error
            return error
        except Exception as error:
            raise AssertionError(text) from error
        assert np.isclose(value, expected, rtol=1e-10, atol=1e-12), f"value \n{text}"
        assert all(np.array_equal(x, y) for x, y in zip(before, args, strict=True)), text
        pairs = zip(gradient, direction, strict=True)
        total = sum(np.sum(np.asarray(x) * d) for x, d in pairs)
        size = 1 + abs(total) + sum(np.sum(np.abs(x)) for x in gradient)
        assert abs(total - tangent) < 1e-9 * size, f"grad {total}, jvp {tangent} \n{text}"
        near, far = (slope(f, args, direction, step) for step in (1e-6, 4e-6))
        if abs(near - far) < 1e-5 * size:  # else a kink is in between
            assert abs(total - near) < 1e-4 * size, f"grad {total}, differences {near} \n{text}"
    return None


def check_random(number, programs, folder):
    """So many programs that hypothesis chooses, the same ones for the same number."""
    refusals = []

    @seed(number)
    @settings(max_examples=programs, database=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False).map(program))
    def run(text):
        refusals.append(check(text, folder))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
    refused = [str(each) for each in refusals if each is not None]
    assert len(refused) <= REFUSED_AT_MOST * len(refusals), "\n\n".join(refused)


def test_programs_of_the_whole_language(tmp_path):
    check_random(0, 5, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 41))
def test_many_programs_of_the_whole_language(number, tmp_path):
    check_random(number, 50, tmp_path)
