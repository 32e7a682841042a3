"""A function without a batched form is taken sample by sample, with one warning."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, vmap
from s2s_ad.core.registry import rule_for
from s2s_ad.core.rule import CannotBatch
from s2s_ad.diagnostics import SampleLoopWarning, SamplesDiffer

pytestmark = pytest.mark.thinned(2)

x = np.random.default_rng(0).normal(size=(4, 3))


def weighted(x):
    y = np.flip(x) * np.array([1.0, 2.0, 3.0])
    return np.sum(y * y)


@pytest.fixture
def no_batched_flip(monkeypatch):
    def batch(self, operation, batched, batch):
        raise CannotBatch

    monkeypatch.setattr(type(rule_for(np.flip)), "batch", batch)


def test_the_numbers_are_those_of_a_loop(no_batched_flip):
    line = weighted.__code__.co_firstlineno + 1
    with pytest.warns(SampleLoopWarning, match=f"flip has no batched form.*test_samples.py:{line}"):
        found = vmap(grad(weighted))(x)
    np.testing.assert_allclose(found, [grad(weighted)(row) for row in x])
    with pytest.warns(SampleLoopWarning):
        total = grad(vmap(weighted))(x)
    np.testing.assert_allclose(total, found)


def test_one_warning_for_each_compilation(no_batched_flip):
    derived = vmap(weighted)
    with pytest.warns(SampleLoopWarning) as caught:
        derived(x)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derived(x)
        derived(x[:2])


def first_two_or_all(x):
    y = x[:2] if x[0] > 0 else x
    return y * 2


def test_samples_whose_results_have_several_shapes():
    derived = vmap(first_two_or_all)
    with pytest.warns(SampleLoopWarning):
        np.testing.assert_allclose(derived(np.abs(x)), 2 * np.abs(x)[:, :2])
    with pytest.raises(ValueError, match=r"results of shapes \(2,\) and \(3,\)"):
        derived(np.array([[1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]]))


def named(x):
    return x[0], "positive" if x[0] > 0 else "negative"


def test_a_text_that_differs_is_called_that():
    with pytest.raises(S2SError, match="named returns a text that differs from sample to sample"):
        vmap(named)(x)


def test_an_empty_batch_is_refused_where_only_a_sample_shows_the_shape():
    with pytest.warns(SampleLoopWarning), pytest.raises(ValueError, match="empty batch"):
        vmap(first_two_or_all)(x[:0])


def of_two_shapes_in_a_try(x):
    try:
        if x[0] > 0:
            raise ValueError("positive")
        return x
    except ValueError:
        return x[:1]


def grown(x):
    y = x
    while y.sum() < 10:
        y = np.concatenate([y, x])
    return y


def repeated(x, n):
    return x if n == 0 else np.concatenate([repeated(x, n - 1), x])


def listed(x):
    return np.array([float(each) for each in x if each > 0])


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize(
    "function, arguments, line",
    [
        (first_two_or_all, ([[1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]],), "y = x[:2] if"),
        (of_two_shapes_in_a_try, ([[1.0, 2.0], [-1.0, 2.0]],), "try:"),
        (grown, ([[1.0, 2.0], [3.0, 2.0]],), "while y.sum()"),
        (repeated, ([[1.0, 2.0], [3.0, 2.0]], [0, 1]), "return x if n == 0"),
        (listed, ([[1.0, -2.0], [3.0, 2.0]],), "def listed"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_samples_that_do_not_fit_are_refused_with_their_place(function, arguments, line):
    arguments = [np.array(each) for each in arguments]
    with pytest.raises(S2SError, match="for two samples") as caught:
        vmap(function)(*arguments)
    assert isinstance(caught.value, ValueError)
    assert caught.value.why
    assert caught.value.help
    assert line in caught.value.origin.text
    assert caught.value.origin.file == __file__
    with pytest.raises(S2SError, match="empty batch") as caught:
        vmap(function)(*(each[:0] for each in arguments))
    assert line in caught.value.origin.text


@pytest.mark.parametrize("bits", [np.packbits, np.unpackbits])
def test_bits_of_flattened_samples(bits):
    x = np.array([[[1, 0], [3, 4]], [[0, 7], [9, 1]]], np.uint8)
    function = jit(vmap(lambda sample: bits(sample)))
    np.testing.assert_array_equal(function(x), np.stack([bits(each) for each in x]))
    assert function(x[:0]).shape == (0, *bits(x[0]).shape)


def of_a_list_of_items(x):
    items = list(x)
    return items[0] if x[0] > -9.0 else x


def test_a_list_that_was_made_before_the_samples_are_taken():
    """The list is one of columns; that of a sample holds a number of each."""
    batch = np.arange(1.0, 10.0).reshape(3, 3) ** 2
    with pytest.warns(SampleLoopWarning) as noted:
        found = vmap(of_a_list_of_items)(batch)
    np.testing.assert_array_equal(found, [1.0, 16.0, 49.0])
    assert len(noted) == 1


def of_three(x):
    while np.sum(x) > 2.0:
        x = np.full((3, 1), 0.25 * np.sum(x)) @ np.full(1, 0.5)
    return np.sum(x)


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_loop_that_changes_a_shape():
    """What a pass left was to be entered in the row of four that the sample came with."""
    alike = np.array([[0.5, 1.0, 1.0, 1.5], [0.75, 0.5, 1.25, 1.5]])
    np.testing.assert_array_equal(vmap(of_three)(alike), [1.5, 1.5])  # 3 * 0.125 * 4.0
    other = np.array([[0.5, 1.0, 1.0, 1.5], [0.5, 0.25, 1.0, 0.0]])
    with pytest.raises(SamplesDiffer, match="results of shapes"):
        vmap(of_three)(other)


def found_by_one(x):
    """One path has neither the indices nor the number, and no sample reads them there."""
    try:
        scale = math.sqrt(-1.0)
        if x[0] > 0:
            scale = x[1]
    except ValueError:
        scale = 1.5
    if np.any(x > 1.0):
        if np.sum((1, 1)):
            kind = 2.0
        else:
            x = x.copy()
            x[np.arange(2)] = kind = 1.5
        scale = scale * kind
    return np.sum(x) * scale


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_what_a_path_lacks_is_no_object_among_the_samples():
    x = np.array([[0.5, 2.0], [-1.0, 0.25], [3.0, 1.0]])
    found = vmap(found_by_one)(x)
    assert found.dtype == float
    np.testing.assert_array_equal(found, [found_by_one(each) for each in x])
    slopes = vmap(grad(found_by_one))(x)
    np.testing.assert_array_equal(slopes, [[3.0, 3.0], [1.5, 1.5], [3.0, 3.0]])


def swapped_by_one(x, y):
    """Which of two arrays of several ranks is the first is the sample's."""
    items = [x, y]
    if x[0] > 0:
        items.reverse()
    items[0] += np.sin(items[0])
    return np.sum(items[0]) * 2.0 + np.sum(items[1])


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_arrays_whose_rank_depends_on_the_sample():
    x, y = np.array([[0.5, 2.0], [1.0, 0.25]]), np.array([[[0.5], [1.0]], [[1.5], [0.75]]])
    expected = [swapped_by_one(a.copy(), b.copy()) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(vmap(swapped_by_one)(x, y), expected, rtol=1e-12)
    with pytest.raises(SamplesDiffer, match="results of shapes"):
        vmap(swapped_by_one)(x * [[1.0], [-1.0]], y)


@pytest.mark.parametrize("count", [0, 2])
def test_an_array_of_the_items_of_a_list_that_may_be_empty(count):
    def squares(x):
        return np.array([v**2 for v in x])

    x = np.arange(3.0 * count).reshape(3, count)
    np.testing.assert_array_equal(vmap(squares)(x), x**2)
    slopes = vmap(grad(lambda x: np.sum(squares(x))))(x)
    np.testing.assert_array_equal(slopes, 2 * x)
    y = np.stack([x, x + 1])
    if count:
        np.testing.assert_array_equal(vmap(vmap(squares))(y), y**2)


class Spline:
    def __init__(self, x, y):
        h = np.diff(x)
        self.x, self.y, self.count, self.slopes = x, list(y), len(x), []
        self.bends = np.linalg.solve(np.eye(self.count), self.right(h, self.y))
        for i in range(self.count - 1):
            self.slopes.append((self.bends[i + 1] - self.bends[i]) / h[i])

    def right(self, h, y):
        made = np.zeros(self.count)
        for i in range(self.count - 2):
            made[i + 1] = (y[i + 2] - y[i + 1]) / h[i + 1] - (y[i + 1] - y[i]) / h[i]
        return made

    def index(self, x):
        import bisect

        return bisect.bisect(self.x, x) - 1

    def at(self, x):
        if x < self.x[0]:
            return None
        elif x > self.x[-1]:
            return None
        i = self.index(x)
        return self.y[i] + self.slopes[i] * (x - self.x[i]) + self.bends[i]


def of_lists_that_grow(x):
    knots = [0]
    knots.extend(np.cumsum(np.hypot(x, 1.0)))
    return Spline(knots, [-2.5, 0.0, 2.5, 5.0]).at(1.1) * 2.0


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_list_among_the_arguments_of_a_function_is_that_of_a_sample():
    """Each item holds all samples: item 1 of the list is not sample 1."""
    batch = np.array([[0.83, 1.07, 0.91], [0.2, 0.5, 0.3], [0.1, 0.2, 0.9], [0.6, 1.0, 0.1]])
    found = vmap(of_lists_that_grow)(batch)
    np.testing.assert_allclose(found, [of_lists_that_grow(each) for each in batch], rtol=1e-12)
    slopes = vmap(grad(of_lists_that_grow))(batch)
    expected = [grad(of_lists_that_grow)(each) for each in batch]
    np.testing.assert_allclose(slopes, expected, rtol=1e-12)


class Course:
    REACH = 0.5


def followed(x):
    """Where in the list each sample stands differs, in a loop that reads what was captured."""
    course, y = Course(), x
    heights = [math.sin(each) for each in np.arange(0, 5, 0.4)]
    for _ in range(2):
        place = 0
        while course.REACH * y > heights[place]:
            if place + 1 >= len(heights):
                break
            place += 1
        y = y + course.REACH * heights[place]
    return y


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_a_loop_over_samples_knows_what_is_captured():
    batch = np.array([0.3, 1.1, 2.5])
    np.testing.assert_allclose(vmap(followed)(batch), [followed(each) for each in batch])


# ---- sides that hand over arrays of several lengths ----------------------------------------------


def zeros_or_given(w, b):
    if b > 0:
        w = np.zeros(4)
    return w + b


def numbers_or_a_part(w, b):
    if b > 0:
        w = np.arange(3.0)
    else:
        w = w[1:] * b
    return w * 2


def summed_beside_another(w, b):
    y = w * 2
    if b > 0:
        w = np.zeros(4)
        y = y * 2
    return np.sum(w) + np.sum(y)


def whole_numbers_or_given(w, b):
    if b > 0:
        w = np.arange(3)
        b /= b
    first, *_ = w
    return first + w + b


SIDES = [zeros_or_given, numbers_or_a_part, summed_beside_another, whole_numbers_or_given]


@pytest.mark.thinned(12)
@pytest.mark.parametrize("count", [0, 1, 2, 4, 5])
@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, -1, -1), (1, -1, 1)], ids=str)
@pytest.mark.parametrize("function", SIDES)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_sides_of_several_lengths(function, signs, count):
    """What a side hands over that needs no computation has not the shape of the other's."""
    w, b = 0.1 + np.arange(3.0 * count).reshape(3, count), np.array([1.5, 2.5, 0.5]) * signs
    for one in (function, grad(lambda w, b: np.sum(function(w, b)), (0, 1))):
        try:
            samples = [one(*each) for each in zip(w, b, strict=True)]
        except (IndexError, ValueError):
            with pytest.raises((IndexError, ValueError)):
                vmap(one)(w, b)
            continue
        try:
            found = vmap(one)(w, b)
        except SamplesDiffer:
            assert len(set(signs)) > 1
            continue
        pairs = (
            zip(found, zip(*samples, strict=True), strict=True)
            if one is not function
            else [(found, samples)]
        )
        for batched, each in pairs:
            np.testing.assert_allclose(batched, np.stack(each))


def ends_filled(x):
    y = np.where(np.abs(x) > 0.2, x, np.nan)
    there = ~np.isnan(y)
    if not there[0]:
        first = np.argmax(there)
        y[0:first] = y[first]
    return y


def test_an_index_that_a_sample_lacks_is_kept_as_a_number():
    rows = np.array([[0.1, 0.0, 0.4], [0.5, 0.6, 0.7], [0.1, 0.3, 0.4]])
    weights = np.array([1.0, 2.0, 3.0])

    def total(x):
        return np.sum(weights * ends_filled(x))

    with pytest.warns(SampleLoopWarning):
        found = vmap(grad(total))(rows)
    np.testing.assert_allclose(found, [[0, 0, 6], [1, 2, 3], [0, 3, 3]])


def counted(x, numbers):
    """Each sample has numbers of Python's of its own, which raise where NumPy's do not."""
    k, odd = 1, False
    for each in numbers:
        try:
            if x[0] < each:
                1 // (k - k)
            if x[1] > each:
                (k - k) ** -1
            odd = odd + odd + True
        except ZeroDivisionError:
            k += 1
    return x[0] + k + odd


def test_numbers_of_a_sample_are_those_of_python():
    batch, numbers = np.array([[0.5, 3.0], [2.0, 1.0], [4.0, 6.0]]), (1.0, 3.0, 5.0, 7.0)
    with pytest.warns(SampleLoopWarning):
        found = vmap(counted, (0, None))(batch, numbers)
    np.testing.assert_array_equal(found, [counted(row, numbers) for row in batch])


def pair_or_number(x):
    p = np.array([0.3, 1.0]) if np.sum(x) else 0.5
    first, second = p
    return first + second * x[0]


def last_of_a_list(x):
    items = [x]
    while len(items) < 3:
        items.append(items[-1] * 0.5)
    last, found = items.pop(), None
    if np.sum(x) > 1:
        found = last
    return x if found is None else found * x


@pytest.mark.parametrize("f", [pair_or_number, last_of_a_list])
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_operations_with_several_results(f):
    np.testing.assert_allclose(vmap(f)(x + 1), [f(row) for row in x + 1])
