"""match: decided now as far as structure tells, else a chain of branches."""

from dataclasses import dataclass

import numpy as np
import pytest

from frontend.flow import assert_like_python, lowered
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.versions import ARRAYS_ARE_SEQUENCES


@dataclass
class Point:
    x: float
    y: float


def by_text(x, mode):
    match mode:
        case "plain" | "simple":
            return x
        case "twice":
            return 2 * x
        case str():
            return 3 * x
        case None:
            return -x
        case True | False:
            return x * x


def by_number(n, x):
    match n:
        case 0:
            return x
        case 1 | 2:
            return x * x
        case k if k > 5:
            return x * k
    return -x


def by_structure(x, config):
    match config:
        case {"w": w, **rest}:
            x = x * w + len(rest)
        case [a, b]:
            x = x * a - b
        case [a, *others]:
            x = x * a + len(others)
        case _:
            x = -x
    return x


def by_parts(x, y):
    match (x, y):
        case (0.0, q):
            return q
        case (p, q) if p > q:
            return p
        case (p, *_):
            return p + y


def by_class(x, k):
    match Point(x, k):
        case Point(x=0.0, y=y):
            return y
        case Point(a, b) if a > b:
            return a * b
        case Point() as point:
            return point.x - point.y


def by_kind(x):
    match x:
        case int(n):
            return n * 2
        case float():
            return x * 3
        case [_, *_]:
            return 0.0
        case _:
            return x[0]


def in_a_loop(xs):
    total = 0.0
    for i in range(len(xs)):
        match i % 3:
            case 0:
                total += xs[i]
            case 1:
                continue
            case _:
                total *= 2
        if total > 100:
            break
    return total


ARRAY = np.array([1.0, 2.0])
PROGRAMS = [
    *((by_text, (1.5, mode)) for mode in ("plain", "simple", "twice", "other", None, True)),
    *((by_number, (n, 1.5)) for n in (0, 1, 2, 3, 7)),
    *((by_structure, (1.5, each)) for each in ({"w": 2.0, "v": 1.0}, [1.0, 2.0])),
    *((by_structure, (1.5, each)) for each in ((1.0, 2.0, 3.0), {"v": 1.0}, 2.0)),
    *((by_parts, (x, 0.5)) for x in (0.0, 1.0, -1.0)),
    *((by_class, (x, 0.5)) for x in (0.0, 1.0, -1.0)),
    *((by_kind, (x,)) for x in (2, 2.0, [0.5], *([] if ARRAYS_ARE_SEQUENCES else [ARRAY]))),
    (in_a_loop, (np.arange(7.0),)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_match_is_that_of_python(function, args):
    assert_like_python(function, args)


@pytest.mark.skipif(not ARRAYS_ARE_SEQUENCES, reason="this NumPy's arrays match no sequence")
def test_a_sequence_pattern_for_an_array_is_refused():
    with pytest.raises(UnsupportedError, match="a pattern of a sequence for an array"):
        lowered(by_kind, (ARRAY,))


def test_structure_is_decided_now():
    program = lowered(by_structure, (1.5, {"w": 2.0, "v": 1.0}))
    assert len(program.body) == 2
