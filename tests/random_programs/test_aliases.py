"""Items that are picked, exchanged and held twice: as in Python, or refused, in all modes.

No refusal says that Python refuses what it runs, and none is a fault of the compiler's.
"""

import collections
import os
import re

import numpy as np
import pytest

from api.oracles import gradient
from random_programs.aliases import Writer
from random_programs.program import namespace, quiet
from s2s_ad import S2SError, grad, jit, jvp, vmap
from s2s_ad.diagnostics import InternalError

XS = (np.array([0.7, 0.2, 0.9]), np.array([0.4, 0.8, 0.6]))
SHARDS = 6
FIRST = int(os.environ.get("RANDOM_PROGRAMS_FIRST", "1000"))  # to go on with others
PROGRAMS = int(os.environ.get("RANDOM_PROGRAMS", "300"))
MOST_REFUSED = 0.15
MOST_FAIL = 0.1  # in Python, where nothing is compared


def assert_value(f, expected):
    same([jit(f)(x) for x in XS], expected)


def assert_batch(f, expected):
    same(vmap(f)(np.stack(XS)), expected)


def assert_gradient(f, _):
    for x in XS:
        if not kink_is_near(f, x):
            same(grad(f)(x), gradient(f, x), 1e-5)


def assert_tangent(f, _):
    for x in XS:
        if not kink_is_near(f, x):
            same(jvp(f, (x,), (np.ones(3),))[1], np.sum(gradient(f, x)), 1e-5)


def kink_is_near(f, x):
    """Whether differences beside the point, off which numbers that are equal differ, are others."""
    aside = x + 1e-5 * np.array([1.0, -1.7, 2.3])
    return not np.allclose(gradient(f, x), gradient(f, aside), rtol=1e-3, atol=1e-3)


def same(found, expected, within=1e-12):
    np.testing.assert_allclose(found, expected, rtol=within, atol=within)


MODES = (assert_value, assert_gradient, assert_tangent, assert_batch)


def came_of(seed, modes):
    """'right', why it was refused, or 'fails' where Python does."""
    text = Writer(seed).text()
    f = namespace(text, readable=True)["main"]
    with quiet():
        try:
            expected = [f(x) for x in XS]
        except Exception:
            return "fails"
        try:
            for each in modes:
                each(f, expected)
        except S2SError as error:
            if isinstance(error, InternalError) or "Python refuses this" in str(error):
                raise AssertionError(f"seed {seed}: {error}\n{text}") from error
            return re.split(" at line|\n", str(error))[0]
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}\n{text}") from error
    return "right"


def assert_right_or_refused(seeds, modes):
    found = collections.Counter(came_of(seed, modes) for seed in seeds)
    print(found.most_common())
    assert found["fails"] <= MOST_FAIL * len(seeds) + 1
    assert len(seeds) - found["fails"] - found["right"] <= MOST_REFUSED * len(seeds)


def test_a_sample():
    assert_right_or_refused(range(6), (assert_value, assert_gradient))


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_many(shard):
    assert_right_or_refused(range(FIRST + shard, FIRST + PROGRAMS, SHARDS), MODES)


def test_a_seed_makes_one_program():
    assert Writer(7).text() == Writer(7).text()
    assert len({Writer(seed).text() for seed in range(4)}) == 4


def test_what_is_wrong_is_seen():
    def is_one_more(f, expected):
        same([jit(f)(x) for x in XS], np.add(expected, 1.0))

    with pytest.raises(AssertionError, match="seed 2:"):
        came_of(2, (is_one_more,))
