"""What code assumes of the lengths of its arguments is checked before it is called.

One gradient is called with many shapes, one after the other: those that it was compiled for, those
that break what was assumed, and those that NumPy refuses.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, jvp, vmap
from s2s_ad.core import sizes

pytestmark = pytest.mark.thinned(2)

LENGTHS = (4, 1, 2, 3)
MORE = (0, 5, 4, 2, 1)
R = np.random.default_rng(5)


def differences(w, x):
    return np.sum(w[1:] * (x[1:] - x[:-1]) ** 2)


def first_and_last(x, y):
    return np.sum(x[:2] * y[-2:]) + np.sum(x[2:] * 3.0)


def every_other(x, y):
    return np.sum(x[::2] * y[1::2])


def column(a, b):
    return np.sum(a[:, :2] / (1.0 + b[:, 2:] ** 2))


def layer(h, w, b):
    z = h @ w + b
    left = z[:, :2]
    return np.tanh(left * z[:, -1:])


def two_layers(h, w, v):
    first = layer(h, w, w[0])
    return np.sum(layer(h, v, v[0]) * first)


def pairs(x, y):
    total = 0.0
    for i in range(len(x)):
        total = total + np.sum(x[:i] * y[:i]) * x[i]
    return total


def correlated(x, k):
    out = np.zeros(len(x) - len(k) + 1)
    for i in range(len(k)):
        out = out + x[i : i + len(out)] * k[i]
    return np.sum(out**2)


def lags(x, y):
    total = 0.0
    for lag in range(1, 3):
        total = total + np.sum(x[lag:] * y[: len(y) - lag])
    return total


def segments(x, y):
    """Slices of two arrays between the same two numbers, which an array holds."""
    ends = np.array([0, 2, 3, 3])
    total = 0.0
    for i in range(3):
        total = total + x[ends[i] : ends[i + 1]] @ y[ends[i] : ends[i + 1]]
    return total


def squared_count(x, y):
    """The square of a whole number is one."""
    return np.sum(x * ((len(x) - 1) ** 2 + 0.5 * y))


def joined(x, y):
    both = np.concatenate([x, y])
    return np.sum(both[: len(x)] * both[len(y) :])


def halves(x, y):
    n = len(x) // 2
    return np.sum(x[:n] * x[n:] * np.sum(y))


def padded(x, y):
    v = np.empty(len(x) + 1)
    v[0] = np.sum(y)
    for t in range(len(x)):
        v[t + 1] = 0.5 * v[t] + x[t]
    return np.sum(np.log(1.0 + v[:-1] ** 2) + x * v[:-1])


def of_collected(x, y):
    parts = []
    for k in range(1, len(x)):
        parts.append(x[:k] * 2.0)
    total = np.sum(y)
    for part in parts:
        total = total + np.sum(parts[0] * part)
    return total


def beside_an_end(x, y):
    after, before = np.diff(x, append=y[-1:]), np.diff(y, prepend=x[:1], n=2)
    joined = np.concatenate([x[:1], 0.5 * (x[1:] + x[:-1]), x[-1:]])
    return np.sum(after**2) + np.sum(before**2) + np.sum(joined * np.sin(joined))


def length_as_number(x, y):
    return taken(len(y), x) + taken(2, x) + taken(len(x) // 2, x)


def taken(k, x):
    part = x[:k] * x[0]
    return np.sum(np.broadcast_to(x[0], (k,)) * part)


def solved_backwards(u, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - u[i, i + 1 :] @ x[i + 1 :]) / (3.0 + u[i, i])
    return np.sum(x**2)


def durbin(r, y):
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    for i in range(1, n + 1):
        g = r[i] + np.sum(a[1:i] * r[i - 1 : 0 : -1])
        before = a.copy()
        a[1:i] = before[1:i] + 0.1 * g * before[i - 1 : 0 : -1]
        a[i] = 0.1 * g
    return np.sum(a**2) * np.sum(y)


def elements(x, y):
    """All elements of x, if it has two."""
    return np.exp(x[0]) * x[1] * np.sum(y)


class Cell:
    """Parts of what a layer gives, as long as the object says."""

    def __init__(self, w, b):
        self.w, self.b = w, b
        self.size = w.shape[0]

    def step(self, h):
        n = self.size
        z = h @ self.w + self.b
        gate = np.tanh(z[:n])
        return gate * h + (1.0 - gate) * z[n:]


def cell_steps(w, b):
    cell = Cell(w, b)
    h = np.ones(cell.size)
    for _ in range(2):
        h = cell.step(h)
    return np.sum(h**2)


VECTORS = list(itertools.product(LENGTHS, LENGTHS))
MORE_VECTORS = list(itertools.product(MORE, MORE))
MATRICES = [
    ((n, k), (m, p)) for n, m in ((3, 3), (3, 1), (1, 1)) for k in (3, 1, 4) for p in (3, 2)
]
SYSTEMS = [(3, 3, 3), (1, 1, 1), (2, 2, 2), (4, 3, 3), (2, 1, 1), (3, 2, 2), (3, 4, 3)]
CELLS = [
    (3, 6, 6),
    (2, 4, 4),
    (1, 2, 2),
    (2, 3, 3),
    (3, 4, 4),
    (3, 6, 1),
    (2, 5, 5),
    (2, 1, 4),
    (3, 3, 3),
]
LAYERS = [
    ((n, k), (k, m), (k, p))
    for n, k in ((3, 2), (1, 1))
    for m, p in ((3, 3), (3, 1), (1, 4), (2, 2), (1, 1))
]


@dataclass(frozen=True)
class Case:
    function: object
    shapes: tuple

    def __str__(self):
        return self.function.__name__


CASES = [
    *(
        Case(each, tuple(VECTORS))
        for each in (
            differences,
            first_and_last,
            every_other,
            pairs,
            correlated,
            lags,
            joined,
            halves,
            padded,
            of_collected,
            length_as_number,
            beside_an_end,
            durbin,
        )
    ),
    Case(elements, tuple(each for each in VECTORS if each[0] > 1)),
    Case(column, tuple(MATRICES)),
    Case(solved_backwards, tuple(((n, m), (k,)) for n, m, k in SYSTEMS)),
    Case(two_layers, tuple(LAYERS)),
    Case(cell_steps, tuple(((n, m), (k,)) for n, m, k in CELLS)),
]


def slopes(function, args, position, h=1e-6):
    """Central differences."""
    found = np.zeros_like(args[position])
    for index in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            moved = [np.array(each) for each in args]
            moved[position][index] += sign * h
            ends.append(function(*moved))
        found[index] = (ends[0] - ends[1]) / (2 * h)
    return found


def arguments(shapes):
    return [R.normal(size=shape) + 0.5 for shape in shapes]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_gradient_is_right_for_all_shapes_in_turn(case):
    positions = tuple(range(len(case.shapes[0])))
    gradient = grad(case.function, positions)
    for shapes in case.shapes:
        args = arguments(shapes)
        try:
            case.function(*args)
        except (ValueError, IndexError) as error:
            with pytest.raises((type(error), S2SError)):
                gradient(*args)
            continue
        for position, found in zip(positions, gradient(*args), strict=True):
            expected = slopes(case.function, args, position)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=str(shapes))


def smoothed(x, r):
    n = len(x)
    out = np.zeros(n - 2 * r)
    for d in range(-r, r + 1):
        out += x[r + d : n - r + d] ** 2
    return np.sum(np.sqrt(1.0 + out))


def lagged(x, k):
    return np.sum(x[k:] * x[: len(x) - k])


def cut(x, k):
    return np.sum(x[:k] ** 2) * np.sum(x[k:]) + x[k]


def spread_out(x, k):
    n = len(x) - 2 * k
    out = np.zeros(n)
    for i in range(3):
        out += (i + 1.0) * x[i * k : i * k + n]
    return np.sum(out**2)


def in_steps(x, k):
    total = 0.0
    for i in range((len(x) - 2) // k + 1):
        part = x[(2 * i + 1) * k - k : i * k + 2]
        total += np.sum(part * part[0]) + np.sum(x[i * k : i * k + 2] * x[:2])
    return total


def first_differences(x, k):
    for _ in range(k):
        x = x[1:] - x[:-1] * 0.5
    return np.sum(x**2)


def zeros_in_front(x, k):
    padded = np.zeros(len(x) + k)
    padded[k:] = x
    return np.sum(padded[: len(x)] * x)


def in_blocks(x, k):
    total = 0.0
    for start in range(0, len(x), k):
        total += np.sum(x[start : start + k]) ** 2
    return total


def of_a_tree(x, options):
    k = options["width"]
    return np.sum(x[: k + 1] ** 2) + np.sum(x[-k:]) * options["weight"]


def two_parts(x, n):
    first, second = x[:n], x[n : 2 * n]
    return first * (1.0 + second)


def by_a_helper(x, k):
    """The helper is called with one number, with another, and by a helper that has its own."""
    return np.sum(two_parts(x, k) ** 2) + np.sum(two_parts(x[1:], k - 1)) + np.sum(shifted(x, k))


def shifted(x, n):
    y = two_parts(x, n)
    return y * two_parts(x[1:], n)


def helper_in_a_loop(x, k):
    total = np.sum(two_parts(x, k))
    for i in range(k):
        total += np.sum(two_parts(x, i + 1)) * x[i]
    return total


def split(x, heads):
    width = len(x) // heads
    return x.reshape(heads, width)


def in_heads(x, k):
    return np.sum(split(x, k) * split(x**2, k)) + np.sum(np.tanh(split(x, k)[:, : 6 // k]))


def halved(x, n):
    if n < 2:
        return np.sum(x[:1] ** 2)
    half = n // 2
    return halved(x[:half], half) * np.sum(x[: n // 2] * x[half:n][:half])


def by_itself(x, k):
    return halved(x, k + 1)


COUNTS = (2, 1, 0, -1, 3, 5, 7, -2, 6, 4)


@pytest.mark.parametrize(
    "function",
    [smoothed, lagged, cut, spread_out, in_steps, first_differences, zeros_in_front, in_blocks]
    + [of_a_tree, by_a_helper, helper_in_a_loop, in_heads, by_itself],
)
@np.errstate(all="ignore")
def test_a_gradient_is_right_for_all_whole_numbers_in_turn(function):
    """Often enough in turn that each way of finding the code serves it: tables and fast path."""
    gradient, inline = grad(function), grad(function)
    x = R.normal(size=6) + 0.5
    for k in COUNTS + 12 * (2,) + COUNTS + 12 * (1,) + COUNTS:
        given = {"width": k, "weight": 1.5} if function is of_a_tree else k
        try:
            function(x, given)
        except (ValueError, IndexError, ZeroDivisionError) as error:
            for each in (gradient, inline):
                with pytest.raises((type(error), S2SError)):
                    each(x, given)
            continue
        (expected,) = [slopes(lambda x: function(x, given), [x], 0)]
        for each in (gradient, inline):
            np.testing.assert_allclose(each(x, given), expected, rtol=1e-5, atol=1e-6)
        inline = grad(function)


def made_and_not_read(x, k):
    made = np.full(k + 2, 1.0) * x[1], np.ones(k + 1) * x[0]
    return np.sum(x) + 0.0 * len(made)


def added_and_not_read(x, k):
    added = x[k // 3 : k] - x[4 - k :]
    return np.sum(x) + 0.0 * len((added,))


@pytest.mark.parametrize("function", [made_and_not_read, added_and_not_read])
def test_what_raises_for_a_whole_number_does_though_nobody_reads_it(function):
    gradient, x = grad(function), np.arange(6.0)
    for k in 2 * COUNTS:
        try:
            function(x, k)
        except ValueError:
            with pytest.raises((ValueError, S2SError)):
                gradient(x, k)
        else:
            np.testing.assert_array_equal(gradient(x, k), 1.0)


def test_whole_numbers_say_how_long_slices_are():
    gradient = grad(smoothed)
    source = gradient.source(np.ones(9), 2)
    assert "# for arguments with len(x) >= 2 * r" in source
    assert "unbroadcast" not in source
    assert "broadcast_to" not in source
    for r in (1, 3, 0, 4):
        gradient(np.ones(9), r)
    assert len(compiled(gradient)) == 1


def test_whole_numbers_that_functions_are_given_say_how_long_slices_are():
    source = grad(cell_steps).source(*arguments(((3, 6), (6,))))
    assert "unbroadcast" not in source
    assert source.count("def step_backward") == 1


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_gradient_is_right_for_more_shapes(case):
    if isinstance(case.shapes[0][0], int):
        case = Case(case.function, tuple(MORE_VECTORS))
    test_a_gradient_is_right_for_all_shapes_in_turn(case)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_batches_and_tangents_are_right_for_all_shapes_in_turn(case):
    positions = tuple(range(len(case.shapes[0])))
    of_batch = vmap(grad(case.function, positions))
    of_one = grad(case.function, positions)
    for shapes in case.shapes[::4]:
        args = arguments(shapes)
        try:
            case.function(*args)
        except (ValueError, IndexError):
            continue
        batch = [np.stack([each, each * 0.5, each + 0.1]) for each in args]
        found = of_batch(*batch)
        for i in range(3):
            sample = [each[i] for each in batch]
            for one, own in zip(of_one(*sample), found, strict=True):
                np.testing.assert_allclose(own[i], one, rtol=1e-9, atol=1e-12)
        directions = arguments(shapes)
        tangent = jvp(case.function, tuple(args), tuple(directions))[1]
        inner = sum(map(np.vdot, of_one(*args), directions))
        np.testing.assert_allclose(tangent, inner, rtol=1e-8, atol=1e-10)


def compiled(transformed):
    """What was compiled, as lists of what each assumes."""
    every = transformed._dispatch.by_signature.values()
    return [each.assumed.texts() for variants in every for each in variants]


def test_one_compilation_serves_all_sizes_of_a_batch():
    def loss(w, x, y):
        h = np.tanh(x @ w[:, :2]) * w[0, 2]
        return np.sum((h[:, 0] - y) ** 2) / len(x)

    gradient = grad(loss)
    w = R.normal(size=(3, 4))
    for n in R.integers(2, 10_000, size=50):
        gradient(w, np.ones((n, 3)), np.zeros(n))
    assert len(compiled(gradient)) == 1


def test_one_compilation_serves_batches_of_all_sizes():
    gradients = vmap(grad(differences, (0, 1)), (0, None))
    for n in (3, 1, 2, 7):
        w, x = np.ones((n, 4)), np.arange(4.0)
        np.testing.assert_array_equal(gradients(w, x)[0], [[0.0, 1.0, 1.0, 1.0]] * n)
    assert len(compiled(gradients)) == 1


def test_what_is_assumed_is_the_least_that_answers():
    gradient = grad(differences, (0, 1))
    gradient(np.ones(5), np.arange(5.0))
    assert sorted(*compiled(gradient)) == ["len(w) != 2", "len(x) != 2"]
    gradient = grad(first_and_last)
    gradient(np.ones(4), np.ones(4))
    assert sorted(*compiled(gradient)) == ["len(x) >= 2", "len(y) >= 2"]


def test_lengths_that_have_to_be_equal_ask_nothing_in_the_text():
    u, b = np.eye(3), np.ones(3)
    gradient = grad(solved_backwards, (0, 1))
    assert "unbroadcast" not in gradient.source(u, b)
    assert compiled(gradient) == [["u.shape[1] == len(b)"]]
    for each, args in ((correlated, (np.ones(6), b)), (pairs, (b, b)), (durbin, (np.ones(5), b))):
        assert "unbroadcast" not in grad(each).source(*args)


def test_text_says_what_it_assumes_unless_it_assumes_nothing():
    args = np.ones(5), np.ones(5)
    gradient = grad(differences, (0, 1))
    assert "# for arguments with len(w) != 2, len(x) != 2" in gradient.source(*args)
    assert "for arguments" not in gradient.source(*args, standalone=True)
    assert "for arguments" not in gradient.source()
    assert "for arguments" not in grad(lambda x: np.sum(x * x)).source(np.ones(3))
    captured = np.ones(4)
    once = grad(lambda x: np.sum(captured[:3] * x)).source(np.ones(3))
    assert "# for arguments with len(captured) >= 3\n" in once


def test_text_that_stands_alone_is_right_for_other_lengths_too():
    source = grad(differences, (0, 1)).source(np.ones(5), np.ones(5), standalone=True)
    space: dict = {}
    exec(source, space)
    function = space["differences_grad"]
    for n, m in ((2, 4), (4, 2), (2, 2)):
        args = arguments(((n,), (m,)))
        for position, found in enumerate(function(*args)):
            np.testing.assert_allclose(found, slopes(differences, args, position), rtol=1e-5)


def test_assumptions_that_are_broken_again_and_again_are_given_up():
    def f(x, y):
        return np.sum(x[: len(y)] * y) + np.sum(x[:5]) + np.sum(x[:7]) + np.sum(x[3:] * y[3:])

    gradient = grad(f, (0, 1))
    shapes = [(n, m) for n in range(3, 12) for m in range(3, n + 1)]
    for n, m in shapes:
        args = arguments(((n,), (m,)))
        try:
            f(*args)
        except ValueError:
            continue
        for position, found in enumerate(gradient(*args)):
            np.testing.assert_allclose(found, slopes(f, args, position), rtol=1e-5, atol=1e-7)
    assert len(compiled(gradient)) <= 10


def test_a_helper_stays_one_function_for_arguments_of_several_lengths():
    source = grad(two_layers).source(*arguments(((3, 2), (2, 3), (2, 4))))
    assert source.count("def layer_forward") == source.count("def layer_backward") == 1
    assert "layer_2" not in source


def test_values_are_right_for_all_shapes_in_turn():
    for case in CASES:
        code = jit(case.function)
        for shapes in case.shapes[::3]:
            args = arguments(shapes)
            try:
                expected = case.function(*args)
            except (ValueError, IndexError):
                continue
            np.testing.assert_allclose(code(*args), expected, rtol=1e-12)


def test_which_side_of_a_comparison_is_which_does_not_depend_on_hashes():
    """A length and the larger of it and 0 are told apart, though one atom is in both."""
    signs = set()
    for _ in range(30):
        atom = sizes.fresh()
        length = sizes.of(atom)
        difference = sizes.clamped(length - 2) - length
        signs |= {dict(sizes._positive(each).terms)[atom] for each in (difference, -difference)}
    assert len(signs) == 1


def test_a_length_that_is_none_is_asked_about():
    """Two lengths that are equal by their formulas: a call of another function asked of nothing."""
    assumed = sizes.Assumptions({})
    assert assumed.decide(sizes.Size(()), sizes.ZERO) is True


def drift(x, v, m):
    for _ in range(3):
        a = np.stack([np.sin(x[:, 0]), x[:, 1] ** 2], axis=1)
        v = v + 0.1 * a
        x = x + 0.1 * v
    return np.sum(m[:, None] * v**2)


def test_lengths_that_have_to_be_equal_are_one_in_loops():
    x, v, m = np.ones((3, 2)), np.full((3, 2), 0.5), np.arange(3.0)
    steps = [1e-6 * each.reshape(3, 2) for each in np.eye(6)]
    slopes = [(drift(x + d, v, m) - drift(x - d, v, m)) / 2e-6 for d in steps]
    np.testing.assert_allclose(grad(drift)(x, v, m).ravel(), slopes, atol=1e-8)
    text = grad(drift).source(x, v, m)
    assert "v**2" not in text  # computed to see whether lengths fit
    for wrong in ((x[:2], v, m), (x, v, m[:2]), (np.ones((3, 3)), v, m)):
        with pytest.raises(ValueError):  # noqa: PT011
            grad(drift)(*wrong)
    x, v, m = (np.concatenate([each, each]) for each in (x, v, m))
    assert grad(drift)(x, v, m).shape == (6, 2)
