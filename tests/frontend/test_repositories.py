"""Programs in the style of repositories of robotics, filtering, signals and algorithms, each in all
modes: value, gradient, tangent, second order, batch, and as text that stands alone."""

import collections
import copy
import dataclasses
import decimal
import heapq
import itertools
import logging
import statistics
from functools import cache, cached_property

import numba
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.special
from numba import njit, prange

from api.oracles import gradient
from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vmap

pytestmark = pytest.mark.thinned(2)

X = np.array([0.83, 1.07, 0.91])
LOG = logging.getLogger("tests.repositories")


class Matrix:
    """Rows as lists, checked where they come in."""

    def __init__(self, rows):
        if any(len(row) != len(rows[0]) for row in rows):
            raise TypeError("rows of different lengths")
        self.rows = rows

    def columns(self):
        return [[row[i] for row in self.rows] for i in range(len(self.rows[0]))]

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Matrix([[item * other for item in row] for row in self.rows])
        return Matrix([[dot(row, col) for col in other.columns()] for row in self.rows])

    def __pow__(self, n):
        result = self
        for _ in range(n - 1):
            result *= self
        return result


def dot(row, column):
    return sum(row[i] * column[i] for i in range(len(row)))


def a_matrix_of_lists(x):
    m = Matrix([[x[0], 2.0], [x[1], x[2]]])
    return (m**2 * 0.5).rows[0][1] ** 2


def points_of_a_generator(x):
    def between(a, b, h):
        at = a + h
        while at < b:
            yield at
            at = at + h

    return sum(np.exp(-x[0] * at) * x[1] for at in between(0.0, 1.0, 0.3)) * x[2]


def with_a_cache(x):
    @cache
    def best(i, room):
        if i == 3:
            return x[2] * room
        return max(best(i + 1, room), x[0] * (i + 1) + best(i + 1, room - 1))

    return best(0, 2) ** 2


class Tracker:
    def __init__(self, x):
        self.x, self.v = x, 0.1

    def step(self, z):
        self.x = self.x + 0.5 * (z - self.x) * self.v
        self.v = self.v * self.x


def saved_by_name(x):
    tracker, saved = Tracker(x[0]), {}
    for z in (0.2, 0.4):
        tracker.step(z * x[1])
        for name in ("x", "v"):
            saved.setdefault(name, []).append(tracker.__dict__[name])
    return np.sum(np.array(saved["x"])) * saved["v"][-1]


def named_if_it_can_be(x):
    y = np.cos(x)
    try:
        y.name = "projection"
    except AttributeError:
        pass
    return np.sum(y * x)


def frame_length(x, seconds=0.03125, rate=64):
    length = int(decimal.Decimal(seconds * rate).quantize(decimal.Decimal("1")))
    return np.sum(x[:length] ** 2)


def filled_where_it_is_known(x):
    result = np.full_like(x, np.nan)
    known = x > 0.9
    result[known] = x[known] ** 2
    return np.nansum(result)


def joined_with_numbers(x):
    y = np.sort(np.append(x, [0.1, 0.9]))
    return np.sum(y**2) * scipy.special.comb(5, 2)


def filtered(x):
    b, a = scipy.signal.butter(2, 0.3)
    return np.sum(scipy.signal.lfilter(b * x[0], a, x) ** 2)


def split(a):
    a = np.asarray(a)
    return np.array([a[..., i] for i in range(a.shape[-1])])


def stacked(a):
    a = np.asarray(a)
    return np.concatenate([each[..., np.newaxis] for each in a], axis=-1)


def channels(x):
    red, green, blue = split(x)
    return np.sum(stacked([red * green, green, blue]) ** 2 * [1.0, 2.0, 3.0])


def columns_of_a_product(x):
    return np.sum(np.concatenate([x[:, None] * each for each in x], axis=1) ** 2)


def trajectory(x):
    state, time = x * 1.0, 0
    path = np.array(state)
    while time <= 0.3:
        state = state + 0.1 * np.sin(state)
        path = np.vstack((path, state))
        time += 0.1
    return np.sum(path[-1] ** 2) + np.sum(path[:, 0])


@njit(parallel=True)
def cubes(x):
    total = 0.0
    for i in prange(len(x)):
        total += x[i] ** 3
    return total


def kernels_made_inside(x):
    @njit
    def square(v):
        return v * v

    @numba.jit("f8(f8)", nopython=True)
    def cube(v):
        return v * v * v

    return square(x[0]) * cube(x[1]) + cubes(x) + njit(lambda v: v * 2)(x[2])


def in_order_of_pairs(x):
    """Of points with one abscissa the other one decides."""
    points = [(x[0], x[1]), (x[0], x[2]), (0.2, x[2]), (x[1], 0.1)]
    up, down = sorted(points), sorted(points, key=lambda p: (p[1], -p[0]), reverse=True)
    return sum(i * u * v for i, (u, v) in enumerate(up)) + down[0][0] * down[1][1]


class Spectrum:
    """Copied without its `__init__`, and run through by a generator over another."""

    def __init__(self, at, values):
        self.at, self.values = np.array(at), values

    def __mul__(self, other):
        made = object.__new__(Spectrum)
        made.__dict__.update(self.__dict__)
        made.values = self.values * (other.values if isinstance(other, Spectrum) else other)
        return made

    def __iter__(self):
        yield from zip(self.at, self.values)


def spectra(x):
    both = Spectrum([0.1, 0.2, 0.4], x) * 2.0 * Spectrum([0.0, 0.0, 0.0], np.sin(x))
    return sum(at * value for at, value in both)


def rows_of_a_loop(p):
    """The sweep back over a loop that stores rows reads and clears each of them."""
    rows = np.zeros((5, 2))
    for i in range(5):
        rows[i] = [np.sin(i + p[2]), np.cos(i) * p[0]]
    for k in range(3, -1, -1):
        rows[k] += p[1] * rows[k + 1]
    return np.sum(rows**2)


class Settings:
    """Parameters that are read like attributes."""

    def __init__(self, **params):
        self.params = {"rate": 0.5, **params}
        self.count = 0

    def __getattr__(self, name):
        try:
            return self.__dict__["params"][name]
        except KeyError:
            raise AttributeError(name) from None


class Wrapped(Settings):
    def __init__(self, inner):
        super().__init__(inner=inner)

    def __getattr__(self, name):
        return getattr(self.params["inner"], name) if name != "params" else {}

    def step(self, x):
        self.count += 1
        return x * self.rate**self.count


def attributes_that_a_class_looks_up(x):
    settings = Settings(alpha=x[0], beta=x[1])
    wrapped = Wrapped(settings)
    return wrapped.step(x[2]) * wrapped.step(settings.alpha) + settings.beta**2


def counted(x):
    letters = collections.Counter("banana")
    scores = {chr(97 + i): x[i % 3] * (i + 1) for i in range(14)}
    letters.update(b=2)
    letters["z"] += 1
    shares = collections.Counter({k: x[i] for i, k in enumerate("abc")})
    (_, greatest), *_ = shares.most_common(1)
    best, times = letters.most_common(1)[0]
    total = sum(n * scores.get(k, 1.0) for k, n in letters.items())
    return total * greatest + scores[best] * times + shares["d"] + shares.total() ** 2


def turn_by_turn(x):
    turns = itertools.cycle(x)
    first = sum(k * next(turns) for k in range(4))
    return first + sum(k * each**2 for k, each in zip([3, 1, 4, 1, 5], itertools.cycle([*x, 2.0])))


def gains(x):
    _, h = scipy.signal.freqz([x[0], 0.5], [1.0, x[1] / 4, 0.1], worN=np.array([0.1, 0.9]))
    w, whole = scipy.signal.freqz(x, worN=8, whole=True, fs=2.0)
    return np.sum(np.abs(h)) + np.sum(w * np.abs(whole) ** 2)


def rows_of_lists(x):
    points = np.outer(x, [1.0, 2.0])
    moved = np.array([[each[0] * np.cos(each[1]), each[1] ** 2] for each in points])
    tables = [[[a, 1.0], [b, a * b]] for a, b in points]
    return np.sum(moved**2) + np.sum(np.mean(tables, axis=0) @ [1.0, 2.0])


def merged_in_pairs(x):
    heap, total = [x[0], x[1] * 2, x[2], 0.5], 0.0
    heapq.heapify(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        total += a * b
        heapq.heappush(heap, a + b)
    return total + heapq.heappushpop(heap, x[0]) * heapq.heapreplace(heap, 1.0)


def shortest_path(x):
    ways = np.array([[0, x[0], x[1], 9], [9, 0, 0.3, x[2]], [9, 9, 0, 2 * x[0]], [9, 9, 9, 0]])
    reached, queue = [0.0, np.inf, np.inf, np.inf], [(0.0, 0)]
    while queue:
        so_far, node = heapq.heappop(queue)
        if so_far > reached[node]:
            continue
        for other in range(4):
            if ways[node, other] < 9 and so_far + ways[node, other] < reached[other]:
                reached[other] = so_far + ways[node, other]
                heapq.heappush(queue, (reached[other], other))
    return reached[3] ** 2


def extremes(x):
    low = heapq.nsmallest(2, x)
    return low[0] * 2 + low[1] + heapq.nlargest(1, [x[0], x[1] * 2], key=lambda each: -each)[0]


COEFFICIENTS = [[1.0, 2.0, 3.0], [4.0, 5.0], [6.0, 7.0, 8.0, 9.0]]
BOUNDARIES, RANGES = [0.0, 0.85, 1.0, 2.0], len(COEFFICIENTS)


def horner(coefficients, x):
    total = 0.0
    for each in coefficients:
        total = total * x + each
    return total


def fitted(t):
    """As tables of properties are read: polynomials of several degrees, in a loop that returns."""
    for i in range(RANGES):
        if BOUNDARIES[i] <= t <= BOUNDARIES[i + 1]:
            coefficients = COEFFICIENTS[i]
            return horner(coefficients, t - BOUNDARIES[i])
    raise ValueError("out of range")


def coefficients_by_range(x):
    return fitted(x[0]) * fitted(x[1]) + fitted(x[2])


def halved_until_it_is_small(x):
    """Both derivatives: what is saved for a second one was changed in place."""

    def total(a, n):
        part = x[0] * a + x[2] ** 2
        return part if n == 0 else total(a / 2, n - 1) + total(a / 3, n - 1)

    return total(1.0, 2)


def put_onto(before, x):
    m = np.array([[x[0], 1.0], [0.5, x[1]]])
    return m if before is None else before @ m


def none_before_the_first(x):
    """The first pass hands over what is not there yet."""
    whole, error, count = None, x[0], 0
    while error > 0.1:
        count += 1
        if error > 10.0:
            break
        whole = put_onto(whole, x)
        error = error / 3
    return whole[0, 0] * count + x[2]


def of_two_strikes(forward, strike, x):
    if abs(forward - strike) < 1e-8:
        return forward * x[0]
    z = np.log(forward / strike)
    return x[1] * z / np.log(1 + z * x[2])


def shifted_strikes(x):
    """The second call decides otherwise, by what is certain of its arguments."""
    shift = 0.5
    return sum(of_two_strikes(0.03 + shift, k + shift, x) for k in (0.02, 0.03, 0.04))


class Bond:
    def __init__(self, coupon):
        self.coupon = coupon

    @cached_property
    def flows(self):
        return [(t, self.coupon + (t == 2)) for t in (1, 2)]

    def price(self, rate):
        return sum(c / (1 + rate) ** t for t, c in self.flows)


def yield_of_a_bond(x):
    def error(rate, bond, price):
        return bond.price(rate) - price

    bond = Bond(0.1 * x[0])
    root = scipy.optimize.newton(error, x0=0.05, fprime=None, args=(bond, x[1]), tol=1e-12)
    return root * x[2] * len(bond.flows)


class Burns:
    """Iterated over by its items; as long as it says."""

    def __init__(self, *burns):
        self.burns = burns

    def __getitem__(self, key):
        return self.burns[key]

    def __len__(self):
        return 7

    def __repr__(self):
        return "\n".join(["burns", f"of {self.burns[0][1]:.3f}"])


def burned(x):
    burns = Burns((0.5, x[0]), (2.0, x[1] * x[2]))
    LOG.debug("%s of %d", burns, 2)
    text = f"{x[2]:.3f} burnt"
    LOG.debug(text)
    return sum(time * dv for time, dv in burns) * len(burns) + max(dv for _, dv in burns)


def recorded(x):
    """A copy of what an object holds, after each of its steps."""
    record = collections.defaultdict(list)
    bond = Bond(x[0])
    for i in range(3):
        bond.coupon = bond.coupon * x[i]
        for name, value in copy.deepcopy(bond.__dict__).items():
            record[name].append(value)
    held = vars(bond)
    bond.coupon = bond.coupon + 1.0
    return sum(record["coupon"]) * held["coupon"] + len(dict(held))


def classes_made_inside(x):
    @dataclasses.dataclass(frozen=True)
    class Part:
        size: float
        count: int = 2
        seen: list = dataclasses.field(default_factory=list)

        def scaled(self, by):
            return dataclasses.replace(self, size=self.size * by)

    class Window(Bond):
        most = 2
        both = (most, 3.0)

        def __init__(self, part):
            super().__init__(part.size)
            self.__held = [part]

        def push(self, part):
            self.__held = [*self.__held, part][-self.most :]
            return self

        @property
        def mean(self):
            return sum(p.size * p.count for p in self.__held) / len(self.__held)

        @staticmethod
        def of(value):
            return Window(Part(value, 3))

    window = Window.of(x[0]).push(Part(x[1])).push(Part(x[1]).scaled(x[2]))
    return window.mean * window.both[1] + window.price(0.1)


def history_turned(x):
    history, t = [], 0.0
    while t < 2.0 * x[0]:
        history.append((t, x[1] * t**2))
        t += 0.5
    times, places = zip(*history)
    return np.trapezoid(np.asarray(places), times) + places[-1] * x[2]


class Setting:
    def __init__(self, scale, shift=2.0):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})
        self.name = f"setting {id(self)}"


def told_apart(x):
    a, b = Setting(x[0]), Setting(x[1], x[2])
    weights = {id(a): 1.0, id(b): 3.0}
    return a.scale * a.shift * weights[id(a)] + b.shift * b.scale**2 * weights[id(b)]


def spread_of_numbers(x):
    numbers = [x[0], x[1] * 2, x[2], 1.0]
    middle = statistics.fmean(numbers)
    return statistics.stdev(numbers) * statistics.pvariance(numbers, middle) + x[0] * (
        statistics.variance(numbers) + statistics.pstdev(numbers)
    )


class Body:
    def __init__(self, place):
        self.place, self.force = np.array(place), np.zeros(2)


def forces_of_pairs(x):
    """The objects change while pairs of them are read, their list does not."""
    bodies = [Body([x[0], 0.0]), Body([0.0, x[1]]), Body([1.0, x[2]])]
    for a, b in itertools.combinations(bodies, 2):
        apart = b.place - a.place
        a.force += apart
        b.force -= apart * x[0]
    return sum(b.force @ b.force for b in itertools.chain.from_iterable([bodies, bodies[:1]]))


def best_by_name(x):
    scores = {"linear": x[0], "square": x[1] * 2, "root": x[2]}
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    bonus = 3.0 if ranked[0][0] == "square" else 1.0
    return ranked[0][1] ** 2 * bonus + ranked[-1][1]


def windows_of_strides(x):
    """As frames of a signal are often taken."""
    signal = np.concatenate((x, x[::-1] ** 2, np.sin(x)))
    shape = signal.shape[:-1] + (signal.shape[-1] - 4 + 1, 4)
    strides = signal.strides + (signal.strides[-1],)
    rolling = np.lib.stride_tricks.as_strided(signal, shape=shape, strides=strides)[::2]
    stride = x.strides[0]
    frames = np.lib.stride_tricks.as_strided(x, (2, 2), (1 * stride, stride))
    return np.sum(rolling * np.hanning(4)) + np.sum(frames**3)


class Flows:
    """What a bond pays, and when: both anew where something is set."""

    def __init__(self, maturity, rate, periods=2):
        self.maturity, self.rate, self.periods = maturity, rate, periods
        self.refresh()

    def refresh(self):
        self.times = np.arange(self.maturity, 0, -1 / self.periods)[::-1]
        self.paid = [self.rate / self.periods for _ in range(len(self.times))]
        self.paid[-1] += 1.0

    def value(self, y):
        return np.sum(np.exp(-y * self.times) * self.paid)


def bonds(x):
    flows = Flows(3.2 + 0.1 * x[0], 0.04 * x[1])
    known = Flows(2, 0.05).value(x[2])
    return flows.value(0.03 * x[2]) / known + flows.value(x[0])


def lists_beside_arrays(x):
    means, total = [], np.zeros(len(x) + 1)
    for i in range(len(x)):
        means.append(np.mean(x[: i + 1]) ** 2)
    total[1:] = means
    total[:-1] += means
    above = x > means
    return np.sum(total * total) + np.dot(x - means, above * means / x)


AXES, PLACES = {"J", "C", "h"}, {"name": "J", "at": np.array([1.0, 2.0])}


def axes_of_a_space(x):
    wanted = set("Jh")
    if not AXES.issuperset(wanted) or "x" in AXES or len(AXES | {"x"}) != 4:
        return x[0]
    same = PLACES == {"name": "J", "at": PLACES["at"]} and {"a": x[1]} == {"a": x[1]}
    return sum(x[i] ** (i + 1) for i, axis in enumerate(sorted(AXES)) if axis in wanted) * (
        1 + same
    )


def checked_by_numpy(x):
    shares = x / np.sum(x)
    np.testing.assert_allclose(np.sum(shares), 1, err_msg=f"{shares}")
    ratios = np.append(shares / x[::-1], [np.inf, np.nan])
    np.nan_to_num(ratios, copy=False, posinf=2.0)
    return np.sum(ratios**2)


def a_grid_as_fine_as_asked(x):
    total, step = 0.0, 0.3 + 0.01 * x[1]
    for t in np.arange(0.1 * x[0], 2.05, step):
        total += np.sin(x[2] * t) * step
    return total


def lobes_around_peaks(x):
    spectrum = np.zeros(12)
    for i, place in enumerate(4.0 + 3.0 * x):
        near = np.arange(round(place) - 1, round(place) + 2)
        spectrum[near] += x[i] * np.cos(near - place)
    starts = np.flatnonzero(spectrum[1:] > spectrum[:-1]) + 1
    starts = np.insert(starts, 0, 0)
    return np.sum(spectrum[starts] ** 2 * (1 + starts)) + np.sum(spectrum)


def forward_angle(n, theta):
    normal = n * np.cos(theta)
    answer = bool(normal.imag > 0 if abs(normal.imag) > 1e-9 else normal.real > 0)
    if answer is True:
        assert normal.imag > -1e-9, f"{n} {theta}"
    else:
        assert (n * np.cos(theta.conjugate())).real < 1e-9, f"{n} {theta}"
    return answer


def light_through_layers(x):
    indices = np.array([1.0, 1.2 + x[0], 1.1, 1.0])
    before = np.seterr(invalid="ignore")
    angles = np.emath.arcsin(np.sin(0.1 + 0.5 * x[1] ** 2) / indices)
    phases = indices * np.cos(angles) * (1 + x[2])
    np.seterr(**before)
    for i in range(len(phases)):
        if phases[i].imag > 35:
            phases[i] = phases[i].real + 35j
    turned = 1 if forward_angle(indices[0], angles[0]) is not False else 2
    return np.sum(phases) * turned + np.emath.sqrt(x[0] ** 2 + 1) * np.emath.power(2.0, x[2])


class Measures(type):
    """Adds operators to its classes, as they are made."""

    def __new__(cls, name, bases, space):
        space["__add__"] = lambda self, other: type(self)(self.value + other.value, self.unit)
        return super().__new__(cls, name, bases, space)


class Degrees(metaclass=Measures):
    def __init__(self, value, unit="C"):
        self.value, self.unit = float(value), unit

    @property
    def f(self):
        return self.value if self.unit == "F" else self.value * 9 / 5.0 + 32


def number_of(text):
    try:
        found = float(text)
    except (ValueError, TypeError):
        found = len(str(text).split("."))
    return found


def heat(x):
    warm = Degrees(x[0]) + Degrees(number_of(x[1]))
    mixed = tuple(0.3 * a + 0.7 * b for a, b in zip(x, x[::-1], strict=True))
    return warm.f * mixed[0] + mixed[1] ** 2


def spread_of_clusters(x):
    clusters = {i: [] for i in range(len(x))}
    for p in (0.4, 0.5, 1.1, 0.8):
        d = [abs(p - c) for c in x]
        clusters[d.index(min(d))].append(p * x)
    return sum(np.sum((np.array(c) - x[i]) ** 2) for i, c in clusters.items() if c)


def radius_of_an_orbit(x):
    anomaly = 0.0 if x[0] == 0 else x[1] - x[0]
    if anomaly is None:
        return x[0]
    return x[0] * (1 - x[2] * np.cos(anomaly))


def as_rows(v):
    """Rows of three, one alone as a vector, and how many."""
    v = np.atleast_2d(v)
    size = np.shape(v)
    if (size[0] != 3) & (size[1] != 3):
        raise ValueError("not N x 3")
    if size[1] != 3:
        v = v.T
    count = v.shape[0]
    if count == 1:
        v = v.reshape(v.shape[1])
    return v, count


def torque_of_rows(x):
    arm, count = as_rows(x)
    force, _ = as_rows(x * x + 1.0)
    found = np.cross(arm, force)
    return np.sum(found[1:] ** 2) * count + np.dot(arm, force)


def as_vector(v, dtype=np.float64):
    v = v.flatten()
    if v.dtype.kind == "O":
        dtype = "O"
    return v.astype(dtype)


def power_of_a_rotation(x):
    """Whole numbers before the first pass, and others after it."""
    turned = np.r_[1, 0]
    for _ in range(4):
        a, b = as_vector(turned), as_vector(x[:2])
        turned = np.r_[a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
    return turned[0] + x[2] * turned[1]


PROGRAMS = [
    torque_of_rows,
    power_of_a_rotation,
    spread_of_clusters,
    radius_of_an_orbit,
    heat,
    light_through_layers,
    bonds,
    lobes_around_peaks,
    lists_beside_arrays,
    axes_of_a_space,
    checked_by_numpy,
    a_grid_as_fine_as_asked,
    halved_until_it_is_small,
    none_before_the_first,
    shifted_strikes,
    yield_of_a_bond,
    burned,
    recorded,
    classes_made_inside,
    history_turned,
    told_apart,
    spread_of_numbers,
    forces_of_pairs,
    best_by_name,
    windows_of_strides,
    merged_in_pairs,
    shortest_path,
    extremes,
    attributes_that_a_class_looks_up,
    counted,
    turn_by_turn,
    gains,
    rows_of_lists,
    a_matrix_of_lists,
    points_of_a_generator,
    with_a_cache,
    saved_by_name,
    named_if_it_can_be,
    frame_length,
    filled_where_it_is_known,
    joined_with_numbers,
    filtered,
    channels,
    columns_of_a_product,
    trajectory,
    kernels_made_inside,
    in_order_of_pairs,
    spectra,
    rows_of_a_loop,
    coefficients_by_range,
]
SLOW = [a_matrix_of_lists, with_a_cache, channels, trajectory, kernels_made_inside, rows_of_a_loop]
SLOW += [merged_in_pairs, shortest_path]


def alone(f):
    """The gradient, of its text alone."""
    names = {}
    exec(grad(f).source(X, standalone=True), names)
    return names[f"{f.__name__}_grad"](X)


@pytest.mark.thinned(18)
@pytest.mark.filterwarnings("ignore:.*a loop over samples")
@pytest.mark.parametrize(
    "f",
    [pytest.param(f, marks=[pytest.mark.slow] if f in SLOW else []) for f in PROGRAMS],
    ids=[f.__name__ for f in PROGRAMS],
)
def test_in_all_modes(f):
    slope, direction = gradient(f, X), np.array([0.3, -0.5, 0.7])
    value, found = value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(alone(f), slope, rtol=1e-6, atol=1e-6)
    tangent = jvp(f, (X,), (direction,))[1]
    np.testing.assert_allclose(tangent, slope @ direction, rtol=1e-6, atol=1e-6)
    step, g = 1e-5 * direction, grad(f)
    product = (g(X + step) - g(X - step)) / 2e-5
    for second in (jvp(g, (X,), (direction,))[1], grad(lambda x: grad(f)(x) @ direction)(X)):
        np.testing.assert_allclose(second, product, rtol=1e-5, atol=1e-5)
    batch = np.stack([X, 1.01 * X, 0.99 * X])
    np.testing.assert_allclose(vmap(f)(batch), [f(each) for each in batch], rtol=1e-12)
    np.testing.assert_allclose(vmap(g)(batch), [g(each) for each in batch], rtol=1e-9, atol=1e-12)


def a_name_that_changes_meanwhile(x):
    k = 1.0

    def multiples():
        for i in range(3):
            yield k * i

    for each in multiples():
        k = k + each + x
    return k


def a_list_that_changes_meanwhile(x):
    ks = [1.0]

    def multiples():
        for i in range(3):
            yield ks[0] * i

    total = 0.0
    for each in multiples():
        ks[0] = ks[0] + each + x
        total = total + each
    return total


def test_a_generator_sees_what_changes_meanwhile():
    for f in (a_name_that_changes_meanwhile, a_list_that_changes_meanwhile):
        assert jit(f)(0.5) == f(0.5)


class Pair:
    def __init__(self, x):
        self.x, self.y = x, 2.0


def test_attributes_are_updated_by_objects_and_keywords():
    def updated(a):
        p, q = Pair(a[0]), Pair(a[1])
        p.__dict__.update(q.__dict__, x=a[1] * 5)
        return p.x * p.y

    np.testing.assert_allclose(grad(updated)(np.array([0.3, 0.4])), [0.0, 10.0])


def blocks_of_lists(t):
    """As a noise model is put together: lists, a number, and one block several times."""
    block = [[t**4 / 4, t**3 / 2], [t**3 / 2, t**2]]
    return np.sum(scipy.linalg.block_diag(*[block] * 2, 2.0, np.eye(1), [t]) ** 2)


def test_block_diag_takes_lists_and_numbers():
    assert grad(blocks_of_lists)(1.3) == pytest.approx(central(blocks_of_lists, 1.3), rel=1e-8)
    assert vmap(blocks_of_lists)(np.array([1.3]))[0] == pytest.approx(blocks_of_lists(1.3))


def central(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


def a_list_that_changes_between_turns(x):
    items = [x, 2.0]
    turns = itertools.cycle(items)
    first = next(turns)
    items[0] = 3.0
    return first * next(turns) + next(turns)


def whether_a_class_would_look_it_up(x):
    settings = Settings(alpha=x)
    return settings.alpha if hasattr(settings, "gamma") else 2 * settings.alpha


def an_object_that_changes_after_it_was_sorted(x):
    a, b = Bond(x), Bond(0.7)
    ranked = sorted([a, b], key=lambda each: each.coupon)
    a.coupon = 7.0
    return ranked[0].coupon * 2


def an_object_that_changes_after_it_was_picked(x):
    a, b = Bond(x), Bond(0.7)
    picked = [a, b][int(x > 0.6)]
    a.coupon = 7.0
    return picked.coupon


def an_inner_list_that_changes_meanwhile(x):
    lists, total = [[x], [2.0]], 0.0
    for each in itertools.chain.from_iterable(lists):
        lists[1][0] = 5.0
        total = total + each
    return total


def asks_for_a_stride(x):
    return x if np.array([x, x]).strides == (8,) else 2 * x


def windows_with_holes(x):
    y = np.array([x, 2.0, x, x])
    stride = y.strides[0]
    return np.sum(np.lib.stride_tricks.as_strided(y, (2, 2), (stride, 2 * stride)))


@pytest.mark.parametrize(
    "f",
    [
        asks_for_a_stride,
        windows_with_holes,
        a_list_that_changes_between_turns,
        whether_a_class_would_look_it_up,
        an_inner_list_that_changes_meanwhile,
    ],
)
def test_what_cannot_be_known_is_refused(f):
    with pytest.raises(S2SError):
        jit(f)(0.5)


@pytest.mark.parametrize(
    "f",
    [
        an_object_that_changes_after_it_was_sorted,
        an_object_that_changes_after_it_was_picked,
    ],
)
def test_an_object_changes_where_it_has_been_put_meanwhile(f):
    for x in (0.5, 0.8):
        assert jit(f)(x) == pytest.approx(f(x))
        assert grad(f)(x) == pytest.approx(central(f, x), abs=1e-8)


def test_an_attribute_that_a_class_does_not_find():
    with pytest.raises(AttributeError, match="gamma"):
        jit(lambda x: Settings(alpha=x).gamma)(0.5)


@pytest.mark.parametrize("seed", range(6))
def test_a_heap_is_kept_as_python_keeps_it(seed):
    """Where items are equal, too: its order is seen by who reads it."""
    rng = np.random.default_rng(seed)

    def kept(x):
        heap = [*x]
        heapq.heapify(heap)
        for each in x[:4]:
            heapq.heappush(heap, each * 0.5)
            heap[0] += heapq.heappop(heap)
        return np.array(heap)

    x = rng.integers(1, 5, 9) / 4.0
    np.testing.assert_array_equal(jit(kept)(x), kept(x))
