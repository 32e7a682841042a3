"""Rows that carry texts, lists of texts, and what is a list on one path and a tuple on another."""

from collections import namedtuple

import numpy as np
import pytest

from frontend.every_mode import assert_as_a_whole
from s2s_ad import grad, jit

pytestmark = pytest.mark.thinned(2)

Layer = namedtuple("Layer", "name thickness conductivity")
WALL = [Layer("brick", 0.1, 0.7), Layer("insulation", 0.08, 0.04), Layer("gypsum board", 0.01, 0.5)]


def wall(x):
    resistance = 0.17
    for layer in WALL:
        thickness = x * layer.thickness if layer.name == "insulation" else layer.thickness
        resistance += thickness / layer.conductivity
    names = ", ".join(layer.name for layer in WALL)
    return x / resistance * len(names)


def labelled_rows(x, n):
    rows = []
    for i in range(n):
        rows.append({"id": f"s{i}", "phase": "burn" if x * i < 2.0 else "coast", "mass": x * i})
    burning = [row for row in rows if row["phase"] == "burn"]
    return sum(row["mass"] ** 2 for row in burning) + len(burning) * x


def classified(x, n):
    rows, v = [], x
    for _ in range(n):
        v = 0.8 * v
        if v > 1.0:
            rows.append((v, "large"))
        elif v > 0.4:
            rows.append((v * v, "mid"))
    total = 0.0
    for value, kind in rows:
        total += 2.0 * value if kind == "large" else value
    return total


def of_one_label(x, n):
    rows = []
    for i in range(n):
        if x * i > 1.0:
            rows.append(("late", x * i))
    return sum(v for kind, v in rows if kind == "late")


def counted(x, n):
    log = []
    for i in range(n):
        log.append("hot" if x * i > 2.0 else "cold")
    first = log.index("hot") if "hot" in log else 0
    return x * log.count("hot") + x**2 * first


def counted_of_few(x):
    log = ["hot" if x > 1.0 else "cold", "mild" if x > 0.5 else "cold", "cold"]
    return x * log.count("cold") + log.index("cold") * x * x


def list_or_tuple(x):
    pair = [x, 2.0 * x] if x > 1.0 else (x, 3.0 * x)
    a, b = pair
    return a * b + sum(pair) + np.sum(np.array(pair) ** 2) + pair[-1] * len(pair)


def of_two_lengths(x):
    values = (1.0, x) if x > 1.0 else (x, 2.0, x)
    if len(values) == 2:
        a, b = values
    else:
        a, b, _ = values
    return a * b + sum(v * v for v in values) + max(values)


def made_a_list(x):
    def bounds(x):
        if x > 1.0:
            return (x, 2.0 * x)
        return [0.5, x]

    found = bounds(x)
    if isinstance(found, tuple):
        found = list(found)
    found.append(x * x)
    return found[0] + found[1] * found[2]


def texts_of_two_lengths(x):
    names = []
    if x > 0.5:
        names.append("one")
    if x > 1.0:
        names.append("second")
    return x * len(names) + (x if "second" in names else 0.0) + sum(len(each) for each in names)


def lists_of_two_lengths(x):
    rows = [[x, 1.0]] if x > 1.0 else [[x, 1.0], [2.0]]
    return sum(sum(row) for row in rows)


CASES = [
    (wall, (1.3,)),
    (labelled_rows, (1.3, 4)),
    (classified, (2.0, 7)),
    (of_one_label, (1.3, 4)),
]
CASES += [(counted, (1.3, 5)), (counted_of_few, (1.3,)), (counted_of_few, (0.3,))]
CASES += [(f, (x,)) for f in (list_or_tuple, of_two_lengths, made_a_list) for x in (1.3, 0.4)]
CASES += [(f, (x,)) for f in (texts_of_two_lengths, lists_of_two_lengths) for x in (1.3, 0.7, 0.3)]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("f, args", CASES, ids=[f"{f.__name__}-{args[0]}" for f, args in CASES])
def test_in_all_modes(f, args):
    assert_as_a_whole(f, *args)


def test_too_many_or_too_few_to_unpack_raise_on_their_path():
    def first(x):
        a, _ = (x, x) if x > 1.0 else (x, x, x)
        return 2.0 * a

    assert jit(first)(1.5) == 3.0
    with pytest.raises(ValueError, match="unpack"):
        jit(first)(0.5)


def test_the_gradient_by_an_object_is_one_of_its_class():
    class Beam:
        def __init__(self):
            self.sides = (0.1, 0.2)

    def inertia(beam):
        return beam.sides[0] * beam.sides[1] ** 3 / 12

    found = grad(inertia)(Beam())
    assert type(found) is Beam
    np.testing.assert_allclose(found.sides, (0.2**3 / 12, 0.1 * 0.2**2 / 4))
