"""Objects of the user's that behave as sequences, mappings or arrays, for they hold one."""

import collections.abc
from collections import UserDict, UserList

import numpy as np
import pytest

from s2s_ad import jvp, value_and_grad, vmap
from s2s_ad.diagnostics import S2SError


class Samples(UserList):
    def mean(self):
        return sum(self.data) / len(self.data)


def of_a_user_list(x):
    samples = Samples()
    for i in range(4):
        samples.append(np.sin(x) * i)
    more = Samples([1.0, x * x]) + samples
    more.extend([3.0 * x])
    return samples.mean() * more[-1] + sum(more) + more[1:3].mean() * len(more)


class Coefficients(collections.abc.MutableSequence):
    def __init__(self, items=()):
        self.items = list(items)

    def __getitem__(self, place):
        return self.items[place]

    def __setitem__(self, place, item):
        self.items[place] = item

    def __delitem__(self, place):
        del self.items[place]

    def __len__(self):
        return len(self.items)

    def insert(self, place, item):
        self.items.insert(place, item)


def of_a_mutable_sequence(x):
    found = Coefficients([x, 2.0, x * x])
    found.append(0.5 * x)
    found += [1.0, x]
    found.pop(1)
    total = sum(each * place for place, each in enumerate(found)) + max(found)
    first, second, *rest = found
    return total * found.index(1.0) + found.count(1.0) * first * second + sum(rest)


def items_that_a_loop_changes(x):
    """Each is read when its pass begins."""
    found, total = Coefficients([x, 2.0, 3.0]), 0.0
    for place, each in zip(range(3), [x, x, x], strict=True):
        found[place] = found[place] * each
    for each in found:
        total += each**2
        found[2] = total * x
        if len(found) < 6:
            found.append(each)
    return total


def as_many_items_as_data_say(x):
    found, y = Coefficients(), x
    while y < 10.0:
        y = y * 1.7
        found.append(y)
    total = 0.0
    for each in found:
        total += each * each
    return total + sum(found)


class Settings(UserDict):
    def scaled(self, factor):
        return Settings({key: each * factor for key, each in self.items()})

    def __missing__(self, key):
        return 0.5


def of_a_user_dict(x):
    found = Settings({"a": x, "b": 2.0})
    found["c"] = x * x
    other = found.scaled(2.0)
    if "c" in other:
        other["c"] += found["a"]
    return other["none"] * sum(other.values()) + other.get("b", 1.0) * found.pop("a")


class Table(collections.abc.Mapping):
    def __init__(self, **entries):
        self.entries = entries

    def __getitem__(self, key):
        return self.entries[key]

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)


def weighed(ab, cd):
    return ab * 3.0 + cd**2


def of_a_mapping(x):
    """Keys of two characters: no pairs of a key and an item."""
    table = Table(ab=x, cd=x * x)
    copied = dict(table)
    copied.update(Table(ef=2.0 * x))
    total = sum(each for key, each in table.items() if key != "ab")
    return total + copied["ab"] * copied["ef"] + weighed(**table) * table.get("cd", 0.0)


class State:
    def __init__(self, values):
        self.values = np.asarray(values, dtype=float)

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __add__(self, other):
        return State(self.values + np.asarray(other))


def of_an_array(x):
    """What it gives as a copy is the array itself, whoever asks."""
    state = State([x, 2.0]) + State([1.0, x])
    first = np.array(state)
    first[0] = 5.0 * x
    return np.sum(state.values**2) + np.sum(np.sin(state))


CASES = [of_a_user_list, of_a_mutable_sequence, items_that_a_loop_changes, of_a_user_dict]
CASES += [of_a_mapping, of_an_array]
CASES += [pytest.param(as_many_items_as_data_say, marks=pytest.mark.slow)]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_in_all_modes(f):
    x, h = 1.3, 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    value, found = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose([found, jvp(f, (x,), (1.0,))[1]], slope, rtol=1e-7)
    batch = np.array([1.3, 1.4])
    np.testing.assert_allclose(vmap(f)(batch), [f(each) for each in batch], rtol=1e-12)


def changed_behind_a_loop(x):
    found, total = Coefficients([x, 2.0, 3.0]), 0.0
    for place, each in enumerate(found):
        total += each
        if place < 2:
            found[place + 1] = each * each
    return total


def test_items_that_are_read_together_are_not_changed_unseen():
    """Python sees the changes: the value would be another one."""
    with pytest.raises(S2SError, match="changed"):
        value_and_grad(changed_behind_a_loop)(1.3)
