"""Captured dicts of a class of their own, and views of dicts, are read as dicts are."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import MutableMapping
from types import MappingProxyType

import numpy as np
import pytest

from s2s_ad import S2SError, grad

X = 1.3


class Registry(dict):
    """Entries as attributes, as settings have them."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    def scaled(self, key, x):
        return self[key] * x


class Named(MutableMapping):
    """Keys in lower case, as libraries have them; the rest is the standard library's."""

    def __init__(self, **data):
        self._data = {}
        self.update(data)

    def __getitem__(self, key):
        return self._data[key.lower()]

    def __setitem__(self, key, value):
        self._data[key.lower()] = value

    def __delitem__(self, key):
        del self._data[key.lower()]

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        yield from self._data.keys()

    def __contains__(self, key):
        return key.lower() in self._data


NAMED = Named(A=2.0, B=3.0)
VIEW = MappingProxyType({"a": 2.0, "b": {"c": 3.0}})
ORDERED = OrderedDict(z=1.0, a=2.0)
ORDERED.move_to_end("z")
MADE = defaultdict(list, {"a": 2.0})
COUNTS = Counter(a=2, b=3)
SETTINGS = Registry(a=2.0, f=np.sin)


def weighted(x, a=1.0, b=None):
    return x * a * b["c"]


def through_methods(x):
    return x * SETTINGS.get("none", 4.0) + sum(i * v * x for i, v in enumerate(ORDERED.values()))


def of_the_standard_library(x):
    names = [each.upper() for each in NAMED]
    total = sum(v * x for v in NAMED.values()) + NAMED.get("q", 4.0) * x
    return total * len(tuple(NAMED)) if "B" in names and "a" in tuple(NAMED) else x


PROGRAMS = {
    "what yields its keys": (of_the_standard_library, 18.0),
    "a view": (lambda x: x * VIEW["a"] + VIEW["b"]["c"], 2.0),
    "a view spread into a dict": (lambda x: {**VIEW, "a": x}["a"] * VIEW["a"], 2.0),
    "a view spread into a call": (lambda x: weighted(x, **VIEW), 6.0),
    "a dict made of one": (lambda x: dict(ORDERED, z=x)["z"] * dict(ORDERED)["a"], 2.0),
    "its order, and methods": (through_methods, 4.0 + 1.0),
    "keys and truth": (lambda x: sum(COUNTS[k] * x for k in COUNTS) if COUNTS else x, 5.0),
    "membership and length": (lambda x: x * len(MADE) if "a" in MADE and "q" not in MADE else x, 1),
    "attributes and methods": (lambda x: SETTINGS.f(x) + SETTINGS.scaled("a", x), np.cos(X) + 2.0),
    "its class": (lambda x: 3 * x if isinstance(ORDERED, OrderedDict) else x, 3.0),
}


@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_a_captured_mapping_is_read(case):
    function, slope = PROGRAMS[case]
    np.testing.assert_allclose(grad(function)(X), slope)


def an_entry(x):
    return x * MADE["new"]


def a_store(x):
    MADE["a"] = x
    return x


def an_update(x):
    SETTINGS.update(a=x)
    return x


@pytest.mark.parametrize("function", [an_entry, a_store, an_update], ids=lambda f: f.__name__)
def test_what_would_change_it_is_refused(function):
    with pytest.raises(S2SError) as error:
        grad(function)(X)
    assert "who calls the function would see" in str(error.value) or "outside" in str(error.value)
    assert dict(MADE) == {"a": 2.0}


def test_changes_of_entries_keys_and_order_are_followed():
    held = OrderedDict(a=2.0, b=3.0)
    slope = grad(lambda x: sum(i * v * x for i, v in enumerate(held.values())))
    assert slope(X) == 3.0
    held["b"] = 5.0
    assert slope(X) == 5.0
    held.move_to_end("a")
    assert slope(X) == 2.0
    held["c"] = 10.0
    assert slope(X) == 22.0
