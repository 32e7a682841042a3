"""Entries of dicts, and attributes of objects, that are there on some paths only."""

from collections import defaultdict

import numpy as np
import pytest

from frontend.every_mode import assert_as_a_whole
from s2s_ad import S2SError, grad, jit, jvp
from s2s_ad.check import central_differences

pytestmark = pytest.mark.thinned(2)

XS = np.array([1.0, -2.0, 3.0, 0.5])


def set_in_a_loop(xs):
    d = {}
    for i in range(len(xs)):
        d["last"] = xs[i] ** 2
    return d["last"]


def set_by_default(xs):
    d = {}
    for i in range(len(xs)):
        d.setdefault("sum", 0.0)
        d["sum"] += xs[i] ** 2
        d["last"] = xs[i]
    total = d.pop("sum")
    return total * d.get("last", 1.0) * d.get("sum", 2.0)


def counted(xs):
    d = {"n": 0.0}
    for x in xs:
        if x < 0:
            d["negative"] = d.get("negative", 0.0) + x**2
        else:
            d["positive"] = d.get("positive", 0.0) + x**3
        d["n"] += 1
    if "negative" in d:
        return d["negative"] * d["n"]
    return d["positive"]


def one_of_two(xs):
    d = {}
    if xs[0] > 0:
        d["a"] = xs[0] ** 2
    else:
        d["b"] = xs[1]
    return d.get("a", xs[2]) * (d["b"] if "b" in d else 3.0)


def in_another_order(xs):
    d = {}
    if xs[0] > 0:
        d["a"] = xs * 2
        d["b"] = xs[1]
    else:
        d["b"] = xs[1] ** 2
        d["a"] = xs + 1
    d["a"][0] = xs[3] ** 2
    return d["a"].sum() * d["b"]


def taken_out_again(xs):
    d = {}
    for x in xs:
        if x > 0:
            d["a"] = x * x
        elif "a" in d:
            del d["a"]
    return d.get("a", xs[0])


def of_a_default_dict(xs):
    d = defaultdict(float)
    for x in xs:
        if x > 0:
            d["a"] += x * x
        else:
            d["b"] += x**3
    return d["a"] * d["b"] + d["c"]


class Tracker:
    def __init__(self):
        self.total = 0.0

    def see(self, x):
        self.total += x
        if x > 0:
            self.best = x * x


def of_an_object(xs):
    tracker = Tracker()
    for x in xs:
        tracker.see(x)
    best = tracker.best if hasattr(tracker, "best") else 1.0
    return best * tracker.total + getattr(tracker, "worst", xs[1])


PROGRAMS = [(each, (XS,)) for each in (set_in_a_loop, set_by_default, counted, one_of_two)]
PROGRAMS += [(each, (XS,)) for each in (in_another_order, taken_out_again, of_a_default_dict)]
PROGRAMS += [(of_an_object, (XS,))]


@pytest.mark.parametrize("function, missing", [(set_in_a_loop, "last"), (set_by_default, "sum")])
def test_an_entry_that_is_missing_raises_what_python_raises(function, missing):
    for call in (function, grad(function)):
        with pytest.raises(KeyError, match=missing):
            call(XS[:0])


def test_an_attribute_that_is_missing_raises_what_python_raises():
    def best(xs):
        tracker = Tracker()
        for x in xs:
            tracker.see(x)
        return tracker.best

    for call in (best, grad(best)):
        with pytest.raises(AttributeError, match="'Tracker' object has no attribute 'best'"):
            call(-np.abs(XS))


def values(d):
    return sum(d.values())


def number(d):
    return float(len(d))


def keys(d):
    return sum(1.0 for key in d if key != "b")


def test_the_number_of_entries_is_known_when_the_code_runs():
    def function(xs):
        d = {"b": xs[0]}
        for x in xs:
            if x > 0:
                d["a"] = x * x
        return number(d) * d.get("a", xs[1]) if len(d) > 1 and d else xs[0]

    for xs in (XS, -np.abs(XS)):
        np.testing.assert_allclose(jit(function)(xs), function(xs))
        np.testing.assert_allclose(grad(function)(xs), central_differences(function, [xs])[0])


def in_their_order(x):
    paths = {}
    if x > 0.5:
        paths["near"] = (x, 2.0 * x)
    if x < 1.0:
        paths["far away"] = (x * x, 0.3)
    paths["always"] = (1.0, x)
    word, parts = min(paths.items(), key=lambda entry: sum(entry[1]))
    total = sum(parts) + len(word)
    for place, (name, (first, _)) in enumerate(paths.items()):
        total += first * (2.0 if name == "far away" else 1.0) * place
    for name in paths:
        total += 0.5 * paths[name][1]
    return total


def filtered(x):
    found = {}
    for name, level in (("cold", 1.0), ("ok", 2.0), ("hot", 3.0)):
        if level - x <= 0.0:
            continue
        found[name] = level - x
    best = max(found, key=found.get)
    return found[best] + 2.0 * sum(found.values()) ** 2 + 0.1 * len(found) * x


@pytest.mark.thinned(5)
@pytest.mark.parametrize("f", [in_their_order, filtered])
@pytest.mark.parametrize("x", [0.3, 0.7, 1.3])
def test_entries_that_may_be_missing_are_read_in_their_order(f, x):
    assert_as_a_whole(f, x)


def as_data_come(xs):
    d = {}
    for x in xs:
        d["b" if x > 0 else "a"] = x
    return d


def put_in_front_or_behind(xs):
    d = {}
    if xs[0] > 0:
        d["b"] = xs[0]
    d["a"] = xs[1]
    d["b"] = xs[2]
    return d


def in_two_orders(xs):
    return {"a": xs[0], "b": xs[1]} if xs[0] > 0 else {"b": xs[0], "a": xs[1]}


@pytest.mark.parametrize("of_all", [values, keys])
@pytest.mark.parametrize("made", [as_data_come, put_in_front_or_behind, in_two_orders])
def test_entries_whose_order_data_decide_are_refused(of_all, made):
    def function(xs):
        return of_all(made(xs))

    with pytest.raises(S2SError, match="which entries a dict has"):
        grad(function)(XS)


FLAGS, PASSES = 3, 40


def root_with_flags(x):
    """What is returned the flags decide, how many passes there are the data."""
    found = {}
    if FLAGS & 1:
        found["x"] = x
    count, root = 0, x
    while count < PASSES:
        if count < 25 and root > 1.0:
            root = 0.5 * (root + x / root)
        else:
            root = 0.4 * root + 0.6 * x / root
        count += 1
        if abs(root * root - x) < 1e-12:
            break
    if FLAGS & 2:
        found["root"] = root
    return found


def test_a_loop_stays_a_loop_where_flags_decide_what_is_returned():
    """It was written out, as a condition in it is on a whole number that is known at its start."""
    assert jit(root_with_flags)(2.0) == root_with_flags(2.0)
    assert "while" in jit(root_with_flags).source(2.0)
    slopes = jvp(root_with_flags, (2.0,), (1.0,))[1]
    assert slopes == pytest.approx({"x": 1.0, "root": 0.5 / 2**0.5})
