"""Objects of the user's that behave as sequences, mappings or arrays, for they hold one."""

import array
import collections.abc
import copy
import heapq
from collections import OrderedDict, UserDict, UserList

import numpy as np
import pytest

from s2s_ad import grad, jvp, value_and_grad, vmap
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


class Named(dict):
    """Entries that are attributes."""

    __getattr__ = dict.__getitem__

    def __setattr__(self, name, value):
        self[name] = value


class Usual(OrderedDict):
    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.scale = 2.0

    def __setitem__(self, key, value):
        super().__setitem__(key, value * 1.5)

    def __missing__(self, key):
        self[key] = 0.5
        return self[key]


def of_kinds_of_dict(x):
    named = Named(a=x, b=2.0)
    named.c = named.a * named.b
    named["d"] = named.c**2
    usual = Usual(k=x)
    usual["m"] = usual["k"] * usual["none"] * usual.scale
    usual.move_to_end("k")
    merged = dict(usual) | {"n": x}
    total = sum(named.values()) * len(usual) + sum(merged.values()) * named.get("e", 1.0)
    first, *_ = usual
    return total + usual.pop(first) + (x if "a" in named and named == dict(named) else 0.0)


class Scaled(dict):
    """What is read of it by its name is another number than what it holds."""

    def __getitem__(self, key):
        return 3.0 * super().__getitem__(key)


def read_past_the_class(x):
    scaled = Scaled(ab=x, cd=2.0)
    held = dict(scaled)
    held.update(scaled, ef=scaled["ab"])
    return weighed(**scaled) * sum(held.values()) + scaled.get("ab") * scaled["ab"]


class Polynomial(list):
    def __init__(self, *items):
        super().__init__(items)
        self.name = "p"

    def __call__(self, x):
        total = 0.0
        for each in reversed(self):
            total = total * x + each
        return total

    def __add__(self, other):
        return type(self)(*(a + b for a, b in zip(self, other, strict=True)))

    def append(self, item):
        super().append(2.0 * item)


OUTSIDE = Polynomial(1.0, 2.0)
INSIDE = [Named(a=3.0)]  # not in the module itself: doctest asks what it finds there


def of_a_kind_of_list(x):
    p = Polynomial(x, 1.0, 2.0)
    q = p + p
    q.append(x)
    q += [x]
    list.append(q, 0.5)
    q.sort(key=lambda each: -each)
    first, *rest = q
    found = q(x) * first + np.sum(np.array(q)) + q[-1] * sum(rest[1:]) + len([1.0] + q)
    return found + OUTSIDE(x) * INSIDE[0].a * OUTSIDE[1] + (x if type(q) is Polynomial else 0.0)


class Tripled:
    """A class that says how its attributes are set; a property does so behind it."""

    def __init__(self, value):
        self.value, self.other = value, 2.0

    def __setattr__(self, name, value):
        super().__setattr__(name, value if name == "other" else 3.0 * value)

    @property
    def half(self):
        return self.value / 2.0

    @half.setter
    def half(self, value):
        self.value = 2.0 * value


def of_attributes_as_the_class_sets_them(x):
    made = Tripled(x)
    made.value = made.value * x
    made.half = made.half + x
    made.other *= x
    return made.value * made.other


class Doubling:
    """What an index gives is a copy, and what is stored is doubled."""

    def __init__(self, held):
        self.held = held

    def __getitem__(self, place):
        return self.held[place].copy()

    def __setitem__(self, place, item):
        self.held[place] = item * 2.0


class Wrapping(list):
    def __getitem__(self, place):
        return [super().__getitem__(place)]

    def __setitem__(self, place, item):
        super().__setitem__(place, item[0] * item[1])


def what_a_class_stores(x):
    """`a[i] += b` stores what it gives by the class: it was left out where that had changed in
    place."""
    doubling, wrapping = Doubling(np.array([x, x, 2.0 * x])), Wrapping([x, 2.0])
    doubling[1:] += 1.0
    wrapping[0] += [3.0 * x]
    return np.sum(doubling.held) * list.__getitem__(wrapping, 0)


def of_a_path_for_empty_arrays(x):
    """The item of an array that has several elements is asked for on a path that is not taken."""
    y = np.array([x, x * x])
    out = np.empty(len(y) + 1)
    if len(y) < 1:
        return out.item()
    out[1:] = y
    return out[1] * out[2:].item(0) * y[:1].item()


def what_can_be_called(x):
    """Classes are called, objects of list are not."""
    things = ([x], (x,), {"a": x}, {1}, Polynomial(x), np.sin, Tripled, Tripled(x), Samples([x]))
    return x * sum(2.0**place for place, each in enumerate(things) if callable(each))


CASES = [
    what_a_class_stores,
    what_can_be_called,
    of_a_path_for_empty_arrays,
    of_a_user_list,
    of_a_mutable_sequence,
    items_that_a_loop_changes,
    of_a_user_dict,
]
CASES += [of_a_mapping, of_an_array, of_kinds_of_dict, of_a_kind_of_list]
CASES += [read_past_the_class, of_attributes_as_the_class_sets_them]
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


def test_a_method_that_is_added_to_a_class_is_seen():
    class Path(list):
        pass

    def f(x):
        path = Path([x])
        path.append(x)
        return sum(path)

    found = grad(f)
    assert found(1.0) == 2.0
    Path.append = lambda self, item: list.append(self, 3.0 * item)
    assert found(1.0) == 4.0
    del Path.append
    assert found(1.0) == 2.0


class Turned(array.array):
    pass


def sets_its_class(x):
    class Scale:
        k = 2.0

    Scale.k = x
    return Scale.k


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: copy.copy(Polynomial(x))[0], "which has its own append"),
        (lambda x: copy.copy(INSIDE[0]).a * x, "make another one of what it holds"),
        (lambda x: len(vars(Polynomial(x))) * x, "which derives from a container"),
        (lambda x: sum(Turned("d", [x])), "let a plain class hold one in an attribute"),
        (lambda x: sum(array.array("d", [x])), "use a list or an array of NumPy's"),
        (lambda x: OUTSIDE.append(x), "not the function's own is changed"),
        (lambda x: setattr(Turned, "a", x), "of a class Turned that is not the function's own"),
        (lambda x: setattr(np, "a", x), "of a module numpy that is not the function's own is set"),
        (sets_its_class, "a class that is defined inside a function stays what its body says"),
        (lambda x: Polynomial(x), "it cannot be made again from what it holds"),
    ],
)
def test_what_is_refused(f, message):
    with pytest.raises(S2SError, match=message):
        grad(f)(1.0)


def index_that_is_a_text(x):
    return Polynomial([x])["first"]


def heap_of_numbers_and_texts(x):
    heap = [x]
    heapq.heappush(heap, "first")
    return heap[0]


@pytest.mark.parametrize(
    "f, message, line",
    [
        (index_that_is_a_text, "indices must be", 'return Polynomial([x])["first"]'),
        (heap_of_numbers_and_texts, "a comparison of", 'heapq.heappush(heap, "first")'),
    ],
)
def test_what_a_method_written_here_refuses_is_shown_where_it_is_called(f, message, line):
    with pytest.raises(S2SError, match=message) as caught:
        grad(f)(1.0)
    assert caught.value.origin.text.strip() == line
