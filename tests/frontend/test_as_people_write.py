"""What authors write around their formulas: guards by type, enums, namespaces, bounded queues,
loggers, filters of warnings, objects that compare themselves. Each in all modes, against Python."""

import copy
import datetime
import enum
import functools
import inspect
import itertools
import logging
import math
import numbers
import operator
import random
import re
import sys
import warnings
from collections import OrderedDict, deque, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scipy.optimize import root

from api.oracles import gradient
from s2s_ad import S2SError, grad, jit, jvp, vmap

pytestmark = pytest.mark.thinned(2)

X = np.array([0.5, 1.2, 2.0])
LOG = logging.getLogger("tests.as_people_write")
Item = TypeVar("Item")


# ---- a try that the types decide -----------------------------------------------------------------


def length_or_one(x):
    try:
        n = len(x)
    except TypeError:
        n = 1
    return x**2 * n


def shape_or_none(x):
    try:
        rank = len(x.shape)
    except AttributeError:
        rank = 7
    return np.sum(x**2) * rank


def number_or_sum(x):
    try:
        x = float(x)
    except (TypeError, ValueError):
        x = np.sum(x)
    else:
        x = 3 * x
    return x**2


def items_or_itself(x):
    try:
        parts = list(iter(x))
    except TypeError:
        parts = [x]
    finally:
        factor = 2
    return sum(v**2 for v in parts) * factor


def first_or_zero(x):
    """The handler sees what the body did before it failed."""
    seen = 1.0
    try:
        seen = 5.0
        first, *_ = x
    except TypeError:
        first = x * seen
    return first * seen


def small_ones_are_zero(x):
    """As modules say it that are for arrays and for numbers: a number has no elements to set."""
    x = x * 1.0
    try:
        x[abs(x) < 1e-3] = 0.0
        x[1:] *= 2.0
    except TypeError:
        if abs(x) < 1e-3:
            x = 0.0
        x = 2.0 * x
    return np.sum(x**2)


def in_a_helper(x):
    return length_or_one(x) + shape_or_none(x)


def raised_anew(x):
    try:
        try:
            len(x)
        except TypeError:
            raise ValueError("not a list") from None
        finally:
            x = x * 2
    except ValueError:
        x = x * 5
    return x


def changed_before_it_failed(x):
    """What the body has done by then stays, in each pass, and so does what `finally` does."""
    seen = []
    for i in range(3):
        try:
            seen.append(x * i)
            seen.append(x.missing)
        except AttributeError:
            seen.append(x)
        finally:
            x = x * 1.5
    return sum(seen)


class Remembers:
    def __init__(self, x):
        self.x = x

    def get(self):
        try:
            return self.kept
        except AttributeError:
            self.kept = self.x * 3
        return self.kept + 1


def kept_by_an_object(x):
    one = Remembers(x)
    return one.get() + 10 * one.get()


def of_a_table_or_an_array(x):
    try:
        x = x.values
    except AttributeError:
        pass
    return np.sum(x**2)


def known_containers(x):
    try:
        a = {"a": 1}["b"]
    except KeyError:
        a = 3
    try:
        b = [1, 2][5]
    except IndexError:
        b = 4
    return x * a * b


def a_name_that_is_not_there(x):
    if np.sum(x) < -100:
        return missing_helper(x)  # noqa: F821
    return x**2


TRIES = [shape_or_none, number_or_sum, in_a_helper, a_name_that_is_not_there]
TRIES += [of_a_table_or_an_array, small_ones_are_zero]
TRIES += [length_or_one, items_or_itself, first_or_zero, raised_anew, changed_before_it_failed]
TRIES += [kept_by_an_object, known_containers]

# ---- values of Python's own classes --------------------------------------------------------------


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 3


class Mode(enum.Enum):
    SLOW = 1.5
    FAST = 2.5

    @property
    def half(self):
        return self.value / 2


def members_as_numbers(x):
    total = x * Level.LOW + x**Level.HIGH + np.power(x, Level.LOW) - (-Level.LOW) * x
    return np.sum(total) * (1.0 if Level.HIGH > 2 else 5.0)


def members_by_name(x):
    total = sum(each.value for each in Mode) * np.sum(x)
    return total * Mode["SLOW"].half + Mode(2.5).half * np.sum(x**2) + Level(3) * len(Mode)


def namespace(x):
    p = SimpleNamespace(a=x, b=2.0)
    p.c = p.a * p.b
    for _ in range(3):
        p.a = p.a * 1.5
    assert isinstance(p, SimpleNamespace)
    return np.sum(p.a * p.c) * getattr(p, "missing", 4.0) + vars(p)["b"]


class Settings:
    def __init__(self, **options):
        self.__dict__.update(options)
        self.scale = 2.0


def attributes_by_name(x):
    s = Settings(a=x, b=x**2)
    return np.sum(s.a * s.b) * s.scale + sum(np.sum(v) for v in vars(s).values())


def window(x):
    recent, total = deque(maxlen=2), 0.0
    for i in range(4):
        recent.append(x * i)
        if recent and len(recent) == recent.maxlen:
            a, b = recent
            total = total + np.sum(a * b) + np.mean(recent) * np.sum(np.array(recent)[0])
    return total


def ends_of_a_window(x):
    d = deque([x, 2 * x, 3 * x], maxlen=3)
    d.extend([x**2, x**3])
    d.rotate(1)
    d.appendleft(x)
    e = copy.copy(d)
    e.append(x * 7)
    one = deque([x], maxlen=2) if np.sum(x) > 0 else deque([x], maxlen=3)
    for i in range(3):
        one.append(x + i)
    return np.sum(d[0] * e[-1] * e.popleft() * len(d)) * isinstance(d, deque) + np.sum(sum(one))


def counting(x):
    term, total = x, 0.0 * x
    for k in itertools.count(1):
        total = total + term
        term = -term * x * x / ((2 * k) * (2 * k + 1))
        if np.max(np.abs(term)) < 1e-14:
            break
    pairs = zip(itertools.count(2, 3), [x, x**2], strict=False)
    return np.sum(total) + sum(k * np.sum(v) for k, v in pairs)


START = datetime.date(2020, 1, 1)
FLOWS = [(datetime.date(2020, 7, 1), -10.0), (datetime.date(2021, 1, 1), 12.0)]


def dates(x):
    """What is computed of dates, decimals, fractions and patterns is known."""
    first = min(day for day, _ in FLOWS)
    years = (first - START).days / 365.0
    end = datetime.datetime.strptime("2020-03-01", "%Y-%m-%d").date()
    total = x ** float(Decimal("0.1") * 30) + Fraction(1, 3) * x * years
    count = int(re.compile(r"(\d+)").match("42 days").group(1))
    assert count == 42
    when = np.datetime64(datetime.datetime(2020, 1, 2)) + np.timedelta64(12, "h")
    total = total * ((when - np.datetime64("2020-01-01")) / np.timedelta64(1, "D"))
    return np.sum(total) * (2.0 if START < end else 3.0) + count * FLOWS[0][0].year * np.sum(x)


def nodes(x):
    points, weights = np.polynomial.legendre.leggauss(4)
    return np.sum(weights * np.exp(np.sum(x) * points / 3))


def records(x):
    Pair = namedtuple("Pair", ["first", "second"])
    pair = Pair(x, second=x**2)
    ordered = OrderedDict(a=pair.first, b=pair._replace(first=x**3).first)
    ordered.move_to_end("a")
    assert pair.__class__.__name__ == "Pair"
    return np.sum(sum(k * v for k, v in enumerate(ordered.values())) * pair.second)


VALUES = [dates, nodes, records, members_as_numbers, members_by_name, namespace, attributes_by_name]
VALUES += [window, ends_of_a_window, counting]

# ---- objects -------------------------------------------------------------------------------------


@dataclass(order=True)
class Particle:
    mass: float
    position: list = field(compare=False)


class Node:
    def __init__(self, value):
        self.value = value


class Weighed(Node):
    def __eq__(self, other):
        return isinstance(other, Weighed) and self.value == other.value

    __hash__ = None


def dataclasses_compared(x):
    a, b, c = Particle(x, [1.0]), Particle(2 * x, [2.0]), Particle(x, [3.0])
    same = (a == c) * x + (a != b) * x**2 + (a < b) * x**3
    return same + max(a, b, c).position[0] * min(b, c).mass + (2.0 if a >= c else 5.0) * x


def compared_by_identity(x):
    nodes, total = [Node(x), Node(x)], 0.0
    for one in nodes:
        for other in nodes:
            total += one.value * other.value if one != other else x
    return total + (x if Weighed(x) != Weighed(2 * x) else x**3)


class Curve:
    """It keeps one of its methods, as a choice made once."""

    def __init__(self, k, kind="line"):
        self.k = k
        self._at = getattr(self, f"_{kind}")

    def _line(self, x):
        return self.k * x

    def _square(self, x):
        return self.k * x**2

    def __call__(self, x):
        return self._at(x)


def a_method_kept(x):
    c = Curve(2.0, "square")
    shallow, deep = copy.copy(c), copy.deepcopy(c)
    shallow.k, deep.k = 5.0, 7.0
    either = Curve(x) if x > 0 else Curve(3 * x)
    return c(x) + 10 * shallow(x) + 100 * deep(x) + either(x)


class Lazy:
    def __init__(self, k):
        self.k = k

    @functools.cached_property
    def square(self):
        return self.k * self.k


def computed_when_read(x):
    lazy, total = Lazy(x), 0.0
    while total < 20:
        for i in range(3):
            total = total + lazy.square * (i + 1)
    return total


class Pose:
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        yield from self.values


def unpacked_by_its_own(x):
    a, b = Pose(x, x**2)
    first, *rest = Pose(a, b, a * b)
    return a * b + first + sum(rest) + max(*Pose(x, 2 * x))


@dataclass
class Circle:
    radius: Any


@dataclass
class Square:
    side: Any


@functools.singledispatch
def area(shape):
    return 0.0


@area.register
def _(shape: Circle):
    return math.pi * shape.radius**2


@area.register
def _(shape: Square):
    return shape.side**2


def by_class(x):
    shapes = [Circle(x), Square(2 * x), Circle(3 * x)]
    rounds = math.fsum(each.radius for each in shapes if isinstance(each, Circle))
    return sum(area(each) for each in shapes) + rounds + area(x)


CONFIG = """
rate = 0.5   # a comment
name = test
"""


def settings_from_a_text(x):
    """What Python raises of texts that are known is caught when code is generated."""
    found = {}
    for line in CONFIG.strip().splitlines():
        key, _, value = line.split("#")[0].partition("=")
        try:
            found[key.strip()] = float(value)
        except ValueError:
            found[key.strip()] = value.strip()
    return x ** found["rate"] if found["name"].isalpha() else x


@dataclass
class Sensor:
    gain: float
    offset: float = 0.5
    seen: list = field(default_factory=list)


class Calibrated(Sensor):
    def __init__(self, gain, factor):
        self.factor = factor
        super().__init__(gain, offset=gain * factor)


def derived_from_a_dataclass(x):
    made = Calibrated(x, 2.0)
    for name in ("gain", "offset"):
        if made.__getattribute__(name) is None:
            raise ValueError(name)
    return np.sum(made.gain * made.offset + made.factor + len(made.seen))


def by_version(x):
    if (3, 8) <= sys.version_info < (4, 0) and sys.version_info[0] == sys.version_info.major:
        return np.sum(x**2)
    return np.sum(x)


@functools.cache
def kept_at_the_top(x):
    return x**3 if x > 0 else x


OBJECTS = [
    by_class,
    settings_from_a_text,
    dataclasses_compared,
    compared_by_identity,
    a_method_kept,
]
OBJECTS += [computed_when_read, unpacked_by_its_own, derived_from_a_dataclass]
OBJECTS += [by_version, kept_at_the_top]

# ---- what surrounds a formula --------------------------------------------------------------------


def logged(x):
    log = logging.getLogger("tests.as_people_write.inner")
    log.addHandler(logging.NullHandler())
    if LOG.isEnabledFor(logging.DEBUG):
        LOG.debug("x = %s", x)
    return x**2


def without_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sum(np.log(x) * x)


def kinds_of_dtypes(x):
    """Guards as libraries of images and signals write them."""
    x = np.asarray(x)
    if x.shape == 1 or x.shape == [] or {} == 0.0:  # which is never so
        return x
    if np.issubdtype(x.dtype, np.integer) or np.isdtype(x.dtype, "complex floating"):
        x = x.astype(np.dtype("float64"))
    wide = np.dtype(x.dtype)
    if issubclass(wide.type, np.floating) and wide.kind == "f" and wide.itemsize == 8:
        x = x.astype(wide) * 2.0
    return np.sum(x.astype(np.dtype(float), copy=False) ** 3)


def an_error_made_before(x):
    error = ValueError(f"{x} is too large")
    if np.sum(x) > 100:
        raise error
    return x**3


@functools.lru_cache(maxsize=8)
def triangle(n, top=None):
    top = top or n
    assert top >= n, "top is below n"
    table = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            table[i, j] = (top - j) / n
    return table


def cached_and_checked(x):
    return np.sum(triangle(3).T @ np.atleast_1d(x) ** 2)


def frames(x):
    """The number of copies is computed from lengths by way of floats."""
    x = np.atleast_1d(x)
    count = 1 + int(np.ceil((1.0 * len(x) - 1) / 2))
    places = np.tile(np.arange(2), (count, 1))
    return np.sum(places * x[0] ** 2) + np.sum(np.repeat(np.sum(x), int(np.ceil(len(x) / 2))))


PARTS = {"level": (slice(0, 1), range(2)), "slope": (slice(1, None), range(1, 3))}


def batch_of(i):
    first = i % 2
    return slice(first, first + 2)


def slices_of_values(x):
    """A slice that a helper makes of what it is given is none that is known."""
    rows = np.stack([x, 2 * x, 3 * x])
    total = 0.0
    for i in range(3):
        total = total + np.sum(rows[batch_of(i)] ** 2) * (i + 1)
    return total


def parts_by_name(x):
    """Slices and ranges that stand in a table; texts by %; statements that are conditions."""
    x, total, seen = np.atleast_1d(x), 0.0, []
    for name in PARTS:
        where, steps = PARTS[name]
        total += sum(k * np.sum(x[where] ** 2) for k in steps)
        total < -1 and print("%s: %.2f" % (name, total))  # noqa: UP031
        seen.append("%d of %s" % (len(steps), name)) if name else None  # noqa: UP031
    return total * len(seen) * (3.0 if seen[0] == "2 of level" else 5.0)


PARENTS = np.array([-1, 0, 1, 1, 0])


def a_tree_of_joints(x):
    """A list that starts empty, and is read at an index that an array says."""
    frames = []
    for i in range(len(PARENTS)):
        joint = np.atleast_1d(x) * (i + 1)
        if PARENTS[i] < 0:
            frames.append(joint)
        else:
            frames.append(frames[PARENTS[i]] * joint)
    return np.sum(np.array(frames) ** 2) * 1e-3


def running_log_sums(x):
    rows = np.stack([np.atleast_1d(x), np.atleast_1d(x) ** 2])
    across = np.logaddexp.accumulate(rows, axis=1)
    return np.sum(across**2) + np.sum(np.logaddexp2.accumulate(rows))


WEIGHTS = np.array([1.0, 2.0, 4.0])


def captured_lengths(x):
    rows = np.tile(np.sum(x), (len(WEIGHTS), 1))
    return np.sum(np.repeat(np.sum(x**2), len(WEIGHTS) + 1)) + np.sum(rows * WEIGHTS[:, None])


def sets_of_keys(x):
    """Keys are no list: they are reckoned with as sets, and show what is added later."""
    x = np.sum(x)
    p, grads = {"w": x, "b": 2 * x}, {"b": x**2, "c": x**3}
    names = p.keys()
    assert not isinstance(names, list)
    assert names != ["w", "b"]
    assert names == {"b", "w"}
    total = sum(p[k] * grads[k] for k in names & grads.keys())
    p["late"] = x**2
    if not {"w", "late"} <= names or names.isdisjoint(["w"]):
        raise KeyError(f"missing: {names - grads.keys()}")
    left = sorted(names - ["b"] | {"z"})
    pairs = p.items() - {("n", 1)} if not p else {("w", 1)}
    return total * len(names) + sum(p.get(k, x) * len(left) for k in left) * len(pairs)


INDEX = frozenset(["a", "b"])


def frozen_keys(x):
    """Sets that are keys of a dict, as coalitions of players are."""
    x = np.sum(x)
    worth = {frozenset(s): x ** len(s) for r in (1, 2) for s in itertools.combinations("abc", r)}
    grown = frozenset("c") | {"a"}
    total = worth[grown] + worth[INDEX] * 2 + worth[INDEX - {"b"}]
    if grown & INDEX < grown and not isinstance({"z"} | grown, frozenset):
        total = total * x
    return total + sum({"a": x, "b": x**2}[k] for k in INDEX) * len(grown.union(["q"]))


class Job:
    def __init__(self, rank, cost, name):
        self.rank, self.cost, self.name = rank, cost, name

    def __lt__(self, other):
        return self.cost < other.cost if self.rank == other.rank else self.rank < other.rank


@dataclass(order=True)
class Parcel:
    weight: float
    value: float


def sorted_as_they_say(x):
    """Objects in the order of their own `__lt__`, and of a dataclass; equal ones stay in turn."""
    x = np.sum(x)
    jobs = [Job(r, c, f"j{r}") for r, c in [(2, x), (1, 3 * x), (1, x**2), (0, x)]]
    jobs.sort()
    total = sum(job.cost * 2**i for i, job in enumerate(jobs))
    last, *_, first = sorted(jobs, reverse=True)
    light, *_ = sorted(Parcel(w, x * i) for i, w in enumerate((2 * x, x, x)))
    same = sorted([Job(0, 1, x), Job(0, 1, x**2)], reverse=True)
    return total + last.cost * first.cost**2 + light.weight * light.value + same[0].name


note = functools.partial(LOG.debug, "at %s")
warn = functools.partial(warnings.warn, stacklevel=2)


def effects_prepared(x, limit=None):
    """What prints, warns or logs, with some of its arguments given before."""
    if limit is None:
        limit = 1e3
        warn("no limit", category=FutureWarning)
    note("the start")
    return np.sum(x**2) if np.sum(x) < limit else np.sum(x)


def of_a_wrapper(x):
    """What is asked for an attribute that no number has is taken as it is."""
    inner = getattr(x, "_results", x)
    return np.sum(getattr(inner, "value", inner) ** 2) * (1 if hasattr(x, "iloc") else 3)


class Halving:
    """An iterator that has no end."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        self.x = self.x / 2
        return self.x


class Readings:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return Reading(self.values)


class Reading:
    def __init__(self, values):
        self.values, self.at = values, 0

    def __next__(self):
        if self.at >= len(self.values):
            raise StopIteration
        self.at += 1
        return self.values[self.at - 1] * self.at

    def __iter__(self):
        return self


def objects_that_are_iterators(x):
    total, readings = 0.0, Readings(np.sum(x) * np.arange(1.0, 4.0))
    for each in Halving(np.sum(x)):
        if each < 1e-3:
            break
        total += each**2
    for each in readings:
        if each > 12.0:
            continue
        for other in readings:
            total += each * other
    else:
        total *= 2
    return total + max([each**2 for each in readings])


def lists_three_deep(x):
    """Lists whose items are lists of lists are written to by index, however long they are."""
    x = np.atleast_1d(x)
    n = len(x)
    table = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        plane = table[i]
        for j in range(n):
            row = plane[j]
            for k in range(n):
                row[k] = x[i] * x[j] ** 2 * x[k]
    return np.sum(np.array(table) ** 2)


class Stack(Generic[Item]):
    """A class that is told of what its items are."""

    def __init__(self):
        self.items: list[Item] = []

    @contextmanager
    def trial(self, extra):
        before = len(self.items)
        self.items.append(extra)
        try:
            yield self
        finally:
            while len(self.items) > before:
                self.items.pop()


def of_types_in_brackets(x):
    stack = Stack[float]()
    stack.items.append(np.sum(x))
    with stack.trial(np.sum(x * x)) as tried:
        y = tried.items[-1]
    return y + stack.items[-1] * len(stack.items)


def managers_made_inside(x):
    """Of a function of the function, of one that makes such, and kept before it is entered."""
    seen, steps = [], 0.0

    @contextmanager
    def weighed(weight):
        nonlocal steps
        steps += weight
        try:
            yield weight * 2.0
        finally:
            seen.append(steps * weight)

    def counted():
        number = 0

        @contextmanager
        def step():
            nonlocal number
            number += 1
            yield number * np.sum(x)

        return step

    step, total, kept = counted(), 0.0, weighed(np.sum(x))
    for _ in range(3):
        with step() as now:
            total += now**2
    with kept as twice, weighed(twice) as more:
        total += more * twice
    return total * sum(seen) + steps


class Costs:
    """Methods by the class of their first argument, which call each other."""

    def __init__(self, rate):
        self.rate = rate

    @functools.singledispatchmethod
    def of(self, item):
        raise NotImplementedError

    @of.register
    def _(self, item: int):
        return item * self.rate

    @of.register
    def _(self, item: list):
        return sum(self.of(each) for each in item)

    @of.register(str)
    def _named(self, item):
        return len(item) * self.rate**2


KNOWN_COSTS = Costs(3.0)


def by_the_class_of_an_argument(x):
    costs = Costs(np.sum(x))
    return costs.of([1, "ab", [2, "c"]]) * KNOWN_COSTS.of([2, "a"])


OF_FLOATS = {"power": float.__pow__, "difference": float.__rsub__, "sum": float.__add__}


def methods_of_float(x):
    total = functools.reduce(OF_FLOATS["sum"], [x, 2.0, x * x])
    return OF_FLOATS["power"](total, 3) * OF_FLOATS["difference"](x, 5.0)


def ranges_beside_arrays(x):
    y = np.atleast_1d(x) * np.ones(3)
    return np.sum(range(1, 4) * y / range(2, len(y) + 2))


def ranges_in_functions(x):
    y = np.atleast_1d(x) * np.ones(3)
    grid = range(len(y))
    if len(y) != len(grid) or len(grid) < 2:
        raise ValueError(f"{grid} for {y}")
    steps = np.diff(grid) * y[1:] + np.array(range(1, len(y)))
    return np.sum(steps * np.multiply(range(2), y[:2])) + np.sum(y * range(3)) * np.mean(grid)


class Problem:
    def evaluated(self, x, power):
        return np.sum(x) ** power


def calls_that_fit_on_the_path_that_is_taken(x):
    problem = Problem()
    if np.sum(x) < 0:
        return problem.evaluated(x, 2, "more")
    try:
        return problem.evaluated(x)
    except TypeError:
        return problem.evaluated(x, 3)


def guards_that_end_the_program(x):
    if np.ndim(x) > 3:
        exit(1)
    try:
        if np.sum(x) < 0:
            sys.exit("no root")
        return np.sqrt(np.sum(x)) * len(functools.reduce(operator.iconcat, [[1], [2, 3]], []))
    except SystemExit:
        return 3.0 * np.sum(x)


def methods_that_stand_for_syntax(x):
    y = np.atleast_1d(x) * np.ones(3)
    parts = {"a": y.__getitem__(0), "b": [y[1], y[2]].__getitem__(1)}
    z = y.copy()
    z.__setitem__(1, parts.__getitem__("b").__abs__())
    n = y.__len__() + parts.__len__() + "abc".__len__()
    return np.sum(z.__mul__(n).__add__(y.__neg__()).__rsub__(1.5).__pow__(2))


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __mul__(self, other):
        return Length(self.metres * getattr(other, "metres", other))

    def __rmul__(self, other):
        assert not isinstance(other, Length)
        return Length(3.0 * other * self.metres)

    def __lt__(self, other):
        return self.metres < other.metres

    def __gt__(self, other):
        return self.metres > 2.0 * other.metres


class Radius(Length):
    pass


class Turned(Length):
    def __rmul__(self, other):
        return Length(5.0 * self.metres / other.metres)


def operators_of_derived_classes(x):
    """The reflected method comes first where a derived class says it otherwise; of comparisons it
    always does."""
    base = Length(np.sum(x))
    plain, turned = base * Radius(2.0), base * Turned(2.0)
    later = 1.0 if base < Radius(np.sum(x) * 1.5) else 4.0
    return plain.metres * turned.metres * later + (2.0 * base).metres


class Dated:
    def __init__(self, day, amount):
        self.day, self.amount = day, amount

    def __lt__(self, other):
        return self.day < other.day


def sorted_by_what_is_known(x):
    days = [datetime.date(2024, 5, 1), datetime.date(2024, 1, 1), datetime.date(2024, 3, 1)]
    flows = sorted(Dated(day, x * i) for i, day in enumerate(days, 1))
    rates = OrderedDict((each.day.month, each.amount) for each in flows)
    return sum(np.sum(rate) ** month for month, rate in rates.items())


def running_mean():
    total, count, mean = 0.0, 0, 0.0
    while True:
        x = yield mean
        total += x
        count += 1
        mean = total / count


def sent_to_a_generator(x):
    mean = running_mean()
    next(mean)
    s = 0.0
    for factor in (1.0, 2.5, 0.3):
        s = s * mean.send(np.sum(x) * factor) + factor
    return s if s is not None else (_ for _ in ()).throw(ValueError("no mean"))


class Corner:
    """A point that is indexed alone, which Python iterates over until an IndexError."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __getitem__(self, place):
        if place == 0:
            return self.x
        elif place == 1:
            return self.y
        raise IndexError


def items_until_an_error(x):
    start = Corner(np.sum(x), 2.0)
    a, b = Corner(start[0] * 3.0, start.y)
    return sum(each * place for place, each in enumerate(start, 1)) * max(start) + a / b


def checked_by_name(*names):
    def decorator(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            for name in names:
                place = inspect.getfullargspec(function).args.index(name)
                given = args[place] if place < len(args) else kwargs[name]
                if np.min(given) <= 0:
                    raise ValueError(name)
            known = inspect.signature(function).parameters
            return function(*args, **{k: v for k, v in kwargs.items() if k in known})

        return checked

    return decorator


@checked_by_name("rate", "x")
def decayed(x, rate=2.0):
    return np.sum(np.exp(-rate * x))


def of_its_signature(x):
    return decayed(x, rate=0.5, unknown=3.0)


def of_one_type(x):
    kinds = {type(each) for each in (np.sum(x) > 0, np.sum(x) < 5)}
    if len(kinds) > 1 or not issubclass(kinds.pop(), np.bool_ | bool):
        raise TypeError("of several types")
    return np.sum(x * x) if not kinds else 0.0


class Quaternion:
    """Made of one number, or of a sequence: which of them a `try` finds out."""

    def __init__(self, *parts):
        if len(parts) != 1:
            self.q = np.asarray(parts)
            return
        try:
            r = float(parts[0])
            self.q = np.array([r, 0.0, 0.0, 0.0])
            return
        except TypeError:
            pass
        if len(parts[0]) != 4:
            raise ValueError("four parts")
        self.q = np.asarray(parts[0])

    def turned(self):
        if self.q[0] < 0:
            self.q = -self.q
        return Quaternion(self.q * 2.0)


def numbers_or_sequences(x):
    return np.sum((Quaternion(np.sum(x)).turned().q + Quaternion(np.ones(4) * x[:1]).q) ** 2)


class Labels:
    def __init__(self):
        self.count = 0

    def next(self, kind):
        self.count += 1
        return f"{kind.lower()}{self.count}"


def keys_that_are_computed(x):
    """Expressions in f-strings, which may do something; each is done once."""
    labels, found = Labels(), {}
    for kind in ("A", "B"):
        found[f"{labels.next(kind)}:{len(found) + 1:02d}"] = np.sum(x) * labels.count
    return found["a1:01"] + found["b2:02"] ** 2 * len(f"{labels.next('c')}-{labels.count}")


DAY = datetime.datetime(2007, 2, 18, 20, tzinfo=datetime.UTC)
DELTAS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def of_a_date(x):
    """What is computed of a date is another object each time that it is looked at."""
    when = DAY.utctimetuple()
    year, month = when.tm_year, when.tm_mon
    if year == 2006 + len(DELTAS) - 1:
        month = min(month, len(DELTAS[year - 2006]))
    return np.sum(x) ** month * DELTAS[year - 2006][month - 1]


def first_of(holder, x):
    try:
        return x * holder[0]
    except (TypeError, IndexError):
        return x * 3.0


def items_of_anything(x):
    return np.sum(first_of(2, x) * first_of(None, x) + first_of([5.0], x) - first_of([], x))


class Pair(NamedTuple):
    x: float
    y: float

    def __mul__(self, other):
        """By a pair, or by a matrix of four numbers; a number of values that is wrong tells."""
        assert len(other) in (2, 4), f"{other} has another length"
        assert isinstance(self.x, numbers.Real)
        try:
            a, b, c, d = other
            return Pair(self.x * a + self.y * b, self.x * c + self.y * d)
        except ValueError:
            a, b = other
        return Pair(self.x * a, self.y * b)


class Place:
    """Made of two numbers or of a sequence, as it says itself; of none other is `__init__` run."""

    __slots__ = ("checks", "lat", "lon")

    def __new__(cls, lat, lon=None):
        if isinstance(lat, (list, tuple)):
            return cls(*lat)
        if cls is Place and lon is None:
            return lat**2
        place = super().__new__(cls)
        place.lat, place.checks = lat, 0
        return place

    def __init__(self, lat, lon=1.0):
        if not isinstance(lat, (list, tuple)):
            self.lon = lon
        self.checks += 1

    def __iter__(self):
        return iter((self.lat, self.lon))


class Pole(Place):
    pass


def made_by_new(x):
    lat, lon = Place((x, 2.0))
    pole = Pole(x)
    try:
        pole.height = 3.0
    except AttributeError:
        pole.lon *= 0.5
    return lat * lon + Place(x) * pole.lon + pole.lat * pole.checks + Place([x, x]).checks


FAILED = {"size": 0.5, "weights": np.array([1.0, 2.0])}


def with_defaults(f):
    def safe(x):
        try:
            return f(x)
        except ValueError:
            return FAILED

    return safe


@with_defaults
def measured(x):
    if x > 2.0:
        raise ValueError("too large")
    return {"size": x**2, "weights": x * np.ones(2)}


def captured_where_it_fails(x):
    found = [measured(x), measured(3.0 * x)]
    own = {"size": x, "weights": np.ones(2)}
    either = FAILED if x > 2.0 else own
    own["size"] = 5.0 * x
    return sum(np.sum(each["weights"]) * each["size"] * x for each in found) + either["size"]


def as_many_as_there_are(x):
    half = 0.5
    pair = Pair(x, 2.0) * Pair(x * x, half.conjugate()) * (1.0, x, half, 3.0)
    return pair.x if (pair.x * pair.y).is_integer() else pair.x * pair.y


SETS = [sets_of_keys, of_a_wrapper, frozen_keys, objects_that_are_iterators, lists_three_deep]
AROUND = [
    *SETS,
    logged,
    without_warnings,
    an_error_made_before,
    frames,
    captured_lengths,
]
AROUND += [of_types_in_brackets, ranges_beside_arrays, sorted_by_what_is_known]
AROUND += [
    calls_that_fit_on_the_path_that_is_taken,
    guards_that_end_the_program,
    ranges_in_functions,
    methods_that_stand_for_syntax,
    operators_of_derived_classes,
]
AROUND += [items_until_an_error, of_its_signature, of_one_type, keys_that_are_computed]
AROUND += [of_a_date, items_of_anything, by_the_class_of_an_argument, managers_made_inside]
AROUND += [sent_to_a_generator, slices_of_values, parts_by_name, a_tree_of_joints, running_log_sums]

NUMBERS = [sorted_as_they_say, *TRIES, *VALUES, *OBJECTS, *AROUND]
NUMBERS += [methods_of_float, as_many_as_there_are, made_by_new, captured_where_it_fails]
ARRAYS = [*TRIES[:6], *VALUES, *AROUND, cached_and_checked, kinds_of_dtypes, numbers_or_sequences]
CASES = [(each, 1.3) for each in NUMBERS] + [(each, X) for each in ARRAYS]
every_case = pytest.mark.parametrize(
    "f, x",
    [
        pytest.param(f, x, marks=[pytest.mark.slow] if f in NUMBERS and x is X else [])
        for f, x in CASES
    ],
    ids=[f"{f.__name__}-{np.ndim(x)}" for f, x in CASES],
)


@pytest.mark.thinned(20)
@every_case
def test_in_all_modes(f, x):
    slope = gradient(f, x) if np.ndim(x) else (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-6, atol=1e-6)
    tangent = jvp(f, (x,), (np.ones(3) if np.ndim(x) else 1.0,))[1]
    np.testing.assert_allclose(np.sum(tangent), np.sum(slope), rtol=1e-6, atol=1e-6)
    batch = np.stack([x, 1.1 * x, 0.9 * x])
    given = batch if np.ndim(x) else [np.float64(each) for each in batch]
    np.testing.assert_allclose(vmap(f)(batch), np.stack([f(each) for each in given]), rtol=1e-12)
    of_batch = np.stack([grad(f)(each) for each in given])
    np.testing.assert_allclose(vmap(grad(f))(batch), of_batch, rtol=1e-9, atol=1e-12)


def test_what_is_known_of_kinds_and_lengths_is_not_asserted():
    """The text asked it of objects of the user's class, which it had to import for that."""
    text = grad(as_many_as_there_are).source(1.3, standalone=True)
    assert "assert" not in text
    assert "Pair" not in text

    def acts(x):
        seen = []

        def noted():
            seen.append(x)
            return seen

        assert len(noted()) == 1
        return seen[0] ** 2 * len(seen)

    assert grad(acts)(3.0) == 6.0


def test_what_may_be_captured_is_not_changed():
    def f(x):
        found = measured(x)
        found["size"] = x
        return found["size"]

    with pytest.raises(S2SError, match="a dict that is not the function's own is changed"):
        grad(f)(1.3)


def test_an_iterator_is_not_read_further_than_python_reads_it():
    for f in (
        lambda x: sum(each for _, each in zip(range(5), Halving(x), strict=False)),
        lambda x: sum(a for a, _ in zip((e for e in Halving(x)), range(5), strict=False)),
    ):
        with pytest.raises(S2SError, match="Halving"):
            grad(f)(1.0)


def test_effects_that_were_prepared_are_kept():
    with pytest.warns(FutureWarning, match="no limit"):
        assert grad(effects_prepared)(3.0) == 6.0
    assert grad(lambda x: effects_prepared(x, 1.0))(3.0) == 1.0
    text = str(grad(effects_prepared).source(3.0))
    assert "no limit" in text
    assert "at %s" in text


def test_captured_lengths_are_followed(monkeypatch):
    g = grad(captured_lengths)
    for weights in (WEIGHTS, np.ones(5), np.ones(3), np.ones(2)):
        monkeypatch.setitem(globals(), "WEIGHTS", weights)
        np.testing.assert_allclose(g(X), gradient(captured_lengths, X), rtol=1e-6)


def draws_decide(x: Any) -> Any:
    n = int(random.random() * 2)
    return x if n > 0 or random.random() < 0.25 else 2 * x


def of_links(x, links):
    return sum(x[i] * len(links[n]) for i, n in enumerate("abc") if n in links["b"])


def test_sets_are_arguments():
    g = grad(of_links)
    for links in ({"a": set("bc"), "b": {"a"}}, {"a": {"b"}, "b": set("ac"), "c": set()}):
        np.testing.assert_allclose(
            g(X, links), gradient(lambda x: of_links(x, links), X), atol=1e-8
        )


def blurred(x, sigma):
    return np.sum(gaussian_filter(x, sigma) ** 3)


def blurred_slope(x, sigma):
    return np.sum(grad(blurred)(x, sigma) ** 2)


@pytest.mark.parametrize("f", [blurred, blurred_slope])
def test_a_float_that_is_asked_for_counts_by_value(f):
    g = grad(f)
    for sigma in (0.5, 1.0, 0.5, 1):
        np.testing.assert_allclose(g(X, sigma), gradient(lambda x: f(x, sigma), X), rtol=1e-6)
    with pytest.raises(S2SError, match="must be known"):
        grad(f, (0, 1))(X, 0.5)


def draws_from_a_seed(x):
    np.random.seed(3)
    low, best = np.random.uniform(0.0, 1.0, 3), np.zeros(3)
    for _ in range(3):
        low = low * x + np.random.rand(3)
        better = low > 1.2
        best[better] = low[better] ** 2
    while np.sum(best) < 4.0 * x:
        best = best + np.random.rand()
    return np.sum(best)


def test_each_sample_draws_what_it_draws_by_itself():
    """The second sample drew on where the first one had stopped, and gave another value."""
    batch = np.array([0.7, 1.3, 0.9])
    np.testing.assert_allclose(vmap(draws_from_a_seed)(batch), [*map(draws_from_a_seed, batch)])
    slopes = [(draws_from_a_seed(x + 1e-6) - draws_from_a_seed(x - 1e-6)) / 2e-6 for x in batch]
    np.testing.assert_allclose(vmap(grad(draws_from_a_seed))(batch), slopes, rtol=1e-6)


def test_a_draw_is_never_decided_when_code_is_generated():
    """A number that nothing else decides was taken for a constant: one draw served all calls."""
    random.seed(3)
    expected = [draws_decide(1.0) for _ in range(30)]
    random.seed(3)
    assert [jit(draws_decide)(1.0) for _ in range(30)] == expected


def test_an_error_made_before_is_raised():
    with pytest.raises(ValueError, match=r"1000\.0 is too large"):
        grad(an_error_made_before)(1000.0)


def test_a_missing_name_is_an_error_of_the_path_that_reads_it():
    with pytest.raises(NameError, match="missing_helper"):
        grad(a_name_that_is_not_there)(-200.0)


def filters_for_good(x):
    warnings.simplefilter("ignore")
    return x


@pytest.mark.parametrize("function", [filters_for_good])
def test_what_would_be_seen_outside_is_refused(function):
    with pytest.raises(S2SError) as caught:
        grad(function)(1.0)
    assert caught.value.code == "S2S207"


def of_a_solver(x):
    solution = root(lambda y: y**3 - x, 1.0)
    if not solution.success:
        raise RuntimeError("no root")
    assert solution.success, "no root"
    return solution.x[0]


def prints_a_solution(x):
    print(root(np.cos, x))
    return x


def test_what_a_solver_says_is_asked_of_its_result():
    """The object that stands for the result while code is generated was written into the text."""
    assert grad(of_a_solver)(8.0) == pytest.approx(1 / 12)
    with pytest.raises(S2SError, match="inside a print"):
        grad(prints_a_solution)(1.0)


def test_a_call_that_does_not_fit_raises_where_a_path_comes_to_it():
    with pytest.raises(TypeError, match=r"evaluated.* too many positional arguments"):
        grad(calls_that_fit_on_the_path_that_is_taken)(-X)
