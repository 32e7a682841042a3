"""The text says it as the user does: max and min, his names, round numbers, Python's types."""

import math

import gast
import numpy as np
import pytest

from s2s_ad import grad, jit, vmap
from s2s_ad.emit.folding import negative_of
from s2s_ad.emit.printer import print_expression
from transforms.differences import agrees

X = np.array([0.4, -0.9, 1.7, 0.2])


def windows(x):
    total = 0.0
    for i in range(len(x)):
        lo, hi = max(0, i - 1), min(len(x), i + 2)
        total += np.sum(x[lo:hi]) ** 2
    return total


def clipped(x):
    total = 0.0
    for each in x:
        total += min(max(each * 2.0, -1.0), 3.0) ** 2
    return total


def largest_of_three(x):
    return max(x[0] * x[1], x[2], x[3] + 1.0) ** 2


def ternary(x):
    a, b = x[0] * 2.5, x[1] + x[2]
    return (a if a > b else b) ** 2


def masked(x):
    mask = np.triu(np.ones((2, 2), dtype=bool), k=1)
    return np.sum(np.exp(np.where(mask, -1e9, np.outer(x[:2], x[2:])))) * 1e-5 + np.sum(x)


def powers_of_ten(x):
    return np.sum(10.0**x)


def scores(x):
    scale = np.exp(x[:2])
    z = (x[2:] - 0.3) / scale
    return np.sum(np.exp(-0.5 * z**2) / scale)


def lens(x):
    total = 0.0
    for h in np.array([1.0, 2.0, 5.0]):
        y, u, n = h * x[0], 0.0, 1.0
        for radius in x[1:]:
            power = (1.5 - n) / radius
            u = (n * u - y * power) / 1.5
            y = y + 0.1 * u
            n = n * radius
        total += (y / u) ** 2
    return total


def rod(x):
    edge, rate = x[0] * 2.0, x[1] / 0.1**2
    T = x.copy()
    for k in range(6):
        change = T[2:] - 2 * T[1:-1] + T[:-2]
        T[1:-1] = T[1:-1] + 1e-3 * rate * change
        T[-1] = edge
        if k % 2 == 0:
            T[0] = T[0] + edge * x[k // 2]
    return np.sum(T**2)


def every_other(x):
    total, level = 0.0, x[0]
    for k in range(6):
        level = level * 0.9
        if k % 2 == 0:
            total += (level - x[k // 2]) ** 2
    return total


def diffused(T0, rate, edge):
    T = T0.copy()
    for _ in range(4):
        new = T.copy()
        change = T[2:] - 2 * T[1:-1] + T[:-2]
        new[1:-1] = T[1:-1] + rate * change
        new[0], new[-1] = edge, edge
        T = new
    return T


def of_a_helper(x):
    return np.sum(diffused(x, x[0], x[1]) ** 2)


def last_item_changed(x):
    items = [math.sin(each) for each in x]
    items[-1] = items[-1] * x[0]
    return np.sum(items * x)


def last_element_changed(x):
    y = x * 3.0
    y[-1] = y[-1] + 100
    return np.sum(y * x)


class Grid:
    def __init__(self, scale):
        self._ts = np.linspace(0, 1, 4)[::-1]
        self._paid = [scale for _ in range(len(self._ts))]


def nameless(x):
    return np.sum(x * Grid(x[0])._paid)


def smoothed(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.mean(x[i : i + 2])
    return np.sum((out - x) ** 2)


def from_the_last(x):
    y, total = np.cos(x), 0.0
    for a, b in zip(reversed(x), reversed(y)):
        total = total * 0.5 + np.sin(a) * b
    return total


def from_the_last_of_each(x):
    total = 0.0
    for a, b in zip(reversed(x), reversed(x[1:-1])):
        total = total * 0.5 + np.sin(a) * b
    return total


def weighted_sines(x):
    total, carried = 0.0, 1.0
    for each in x:
        total += np.sin(each * carried)
        carried = np.cos(carried)
    return total


def correlated(x):
    found = np.array([np.dot(x[: len(x) - k], x[k:]) for k in range(3)])
    return np.sum(np.exp(found))


def of_the_last(x):
    rows, each = [], 0.0
    for each in x:
        rows.append(each * 2.0)
    return np.sum(np.sin(np.array(rows))) * np.cos(each)


def soft_values(x):
    q = np.outer(x[:2], x)
    top = q.max(axis=1)
    value = top + np.log(np.sum(np.exp(x[3] * (q - top[:, None])), axis=1)) / x[3]
    return np.sum(value**2)


def mean_of_log_sums(x):
    q = np.outer(x, x)
    top = np.max(q, axis=1)
    return np.mean(top + np.log(np.sum(np.exp(q - top[:, None]), axis=1)))


def collected_states(x):
    out, state = [], 0.0
    for each in x:
        state = np.sin(state * 0.5 + each)
        out.append(state)
    return np.sum(np.array(out) ** 3)


def faded(x):
    s = np.sin(x)
    s[1:] *= 0.95
    return np.sum(s**2)


def left_over(x):
    rows = list(x)
    total = 0.0
    for i in range(3):
        total += np.sin(rows.pop()) * i
    return total * rows[0]


def turned(x):
    c, s = math.cos(x[0]), math.sin(x[0])
    return (c * x[1] - s * x[2]) ** 2 + (s * x[1] + c * x[3]) ** 3


def wrapped(x):
    total = np.sum(((x * 3.0 + np.pi) % (2 * np.pi) - np.pi) ** 2)
    return total + np.sin(x[0] * (np.pi / 180)) - x[1] * (-2 * np.pi)


def counted(x):
    scale = np.exp(x[0])
    return -0.5 * np.sum((x / scale) ** 2) - len(x) * x[0]


def turned_in_a_loop(x):
    p, total = np.outer(x, x[:3]), 0.0
    for i, j in np.array([[0, 2], [1, 3], [2, 1]]):
        dx, dy = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
        c, s = np.cos(p[i, 2]), np.sin(p[i, 2])
        total += (c * dx + s * dy) ** 2 + (-s * dx + c * dy) ** 4
    return total


def blurred(x):
    change = np.diff(x, append=x[-1:])
    return np.sum(np.sqrt(change**2 + 0.1))


def on_a_grid(x):
    rows, cols = np.mgrid[0 : len(x), 0:3]
    return np.sum(np.tanh((rows - x[0]) * (cols - x[1])) * x[:, None])


def standardised(x):
    z = (x - x.mean()) / (x.std() + 1e-3)
    return np.sum(z**3 * x)


def clipped_ratio(x):
    z = (x - x.mean()) / x.std()
    ratio = np.exp(x * np.array([0.9, 0.2, -0.1, 0.6]))
    return np.sum(np.minimum(ratio * z, np.clip(ratio, 0.9, 1.1) * z))


def mixed(x):
    z, c, h = np.exp(-x), np.cos(x), np.sin(x)
    return np.sum(((1 - z) * h + z * c) ** 3)


def in_a_ring(x):
    """Distances in a ring, of which a mask takes the large ones."""
    rows = np.tile(x, (4, 1))
    dx = rows - rows.T
    dx[dx > 0.5] = dx[dx > 0.5] - 1.0
    dx[dx < -0.5] = dx[dx < -0.5] + 1.0
    return np.sum(dx**4 * np.arange(4))


def smoothed_slopes(x):
    """Both ends are repeated, and the slopes there are one-sided."""
    for _ in range(3):
        wide = np.pad(x, 1, mode="edge")
        x = (wide[:-2] + wide[2:]) / 2.0 - np.gradient(x) ** 2
    return np.sum(x**2)


def soft_means(x):
    """What is taken from all distances of a row before they are shared out changes nothing."""
    d = (x[:, None] - x[:2]) ** 2
    w = np.exp(-x[3] * (d - np.min(d, axis=1, keepdims=True)))
    w /= np.sum(w, axis=1, keepdims=True)
    return np.sum((w.T @ x) ** 2)


def heads(x):
    """Stacks of matrices are multiplied by BLAS: np.einsum takes four times as long."""
    q = np.outer(x, x).reshape(4, 2, 2).transpose(1, 0, 2)
    p = np.exp(0.1 * (q @ q.transpose(0, 2, 1)))
    return np.sum((p @ q).transpose(1, 0, 2) ** 2)


def in_parts(x):
    """A helper that is called twice has its variables once, and is reshaped back at once."""

    def split(z):
        n, d = z.shape
        return z.reshape(n, 2, d // 2).transpose(1, 0, 2)

    A = np.outer(x, x)
    return np.sum(split(A) * split(A * A[0]))


def answers(x):
    """The slope of a logistic function is one, whatever stands above and in its exponential."""
    z = np.exp(x[0]) * x
    p = 0.2 + (1.0 - x[1]) / (1.0 + np.exp(-z))
    return np.sum(np.log(p)) + np.sum(np.logaddexp(0.0, z))


def ordered(x):
    """A pass back asks for what was kept, and reads an element where it needs it."""
    level = total = 0.0
    for order in x:
        level = level + order - 0.3
        if level >= 0:
            total += 0.5 * level
        else:
            total -= level
        total += 0.05 * order**2
    return total


def shortfalls(x):
    """What has max(y, 0) as a factor is 0 where that is: no mask says it once more."""
    return np.sum(np.maximum(1.0 - x, 0.0) ** 2) - 0.5 * np.sum(np.minimum(x - 0.7, 0) ** 2)


def residuals_of_rows(x):
    errors = 0.3 - x[np.array([0, 2, 1, 0])]
    return np.mean(errors**2) + 0.1 * np.sum(x**2)


def fitted_sum(x):
    t = np.array([0.1, 0.5, 0.7])
    model = np.exp(-np.outer(t, x)) @ np.exp(x)
    return np.sum((t - model) ** 2)


def on_a_circle(x):
    return np.sum((np.roll(x, -1) - np.roll(x, 1)) ** 3) + np.sum(np.cos(-np.outer(x, x) @ x))


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "fn, expected, avoided",
    [
        (mixed, ["* (c - h)"], []),
        (answers, [], ["isfinite", "== -np.inf"]),
        (ordered, ["if saved.pop():", "0.1 * x[i]"], ["order = "]),
        (shortfalls, [], ["where", "> 0"]),
        (residuals_of_rows, ["-0.5 * errors"], ["-errors", "-("]),
        (fitted_sum, ["t * model_bar @ "], ["outer(model", "outer(tw"]),
        (on_a_circle, [], ["roll(-", "@ (-", "@ -"]),
        (clipped_ratio, [], ["where_smaller(z_bar"]),
        (wrapped, ["% (2 * np.pi) - np.pi", "np.pi / 180"], ["6.28"]),
        (counted, ["- len(x)"], ["1.0 * len"]),
        (turned_in_a_loop, ["-= dx_bar", "+= dx_bar"], []),
        (blurred, ["np.concatenate([x[1:], x[-1:]]) - x"], [": len(x"]),
        (on_a_grid, [], ["unbroadcast"]),
        (standardised, [], ["keepdims"]),
        (windows, ["lo, hi = max(0, i - 1), min(len(x), i + 2)"], ["steps", "append((lo"]),
        (largest_of_three, [], ["np.max"]),
        (ternary, [], ["max("]),
        (masked, ["np.triu(np.ones((2, 2), dtype=bool), k=1)", "1e-5"], []),
        (powers_of_ten, [f"{math.log(10.0)!r} * 10.0**x"], ["np.float64"]),
        (scores, [], ["isfinite", "np.where"]),
        (rod, ["edge_bar += T_bar[-1]", "/ 0.1**2"], ["T_bar_last", "T_bar[0] = T_bar[0]"]),
        (every_other, [], ["        x[k // 2]\n"]),
        (of_a_helper, ["for change in reversed(change_saved)"], []),
        (faded, ["s_bar[1:] *= 0.95"], ["0.95 * s_bar"]),
        (last_item_changed, ["[-1] *= x[0]"], ["[-1] = 0"]),
        (last_element_changed, ["return y + 3.0 * x"], [".copy()", "x[-1]"]),
        (nameless, [], ["__"]),
        (smoothed, ["x_bar[i : i + 2] += out_bar[i] /"], ["= 0.0"]),
        (from_the_last, [], ["- 1 - i"]),
        (from_the_last_of_each, [], []),
        (weighted_sines, ["x_bar[i] = np.cos("], ["each_bar = "]),
        (correlated, ["np.array([x[: len(x) - k] @ x[k:] for k in range(3)])"], ["append"]),
        (of_the_last, ["rows.append("], []),
        (soft_values, [], ["top_bar", "=="]),
        (mean_of_log_sums, [], ["top_bar", "=="]),
        (collected_states, ["state_bar += out_bar[i]"], ["list(", "out_bar.pop"]),
        (left_over, [], []),
        (turned, ["c, s = math.cos(x[0]), math.sin(x[0])"], ["np.cos", "np.sin"]),
        (in_a_ring, ["np.tile(x, (4, 1))", "- dx_bar.T"], ["dx_bar[", "squeeze", "reshape"]),
        (
            smoothed_slopes,
            ["for arguments with len(x) >= 2", "[-1] += wide_bar[-1]", "[1:-1] / 2.0"],
            ["folded", "/ 1.0", "raise", "len(gradient"],
        ),
        (in_parts, [], ["n_2", ").reshape(n, 2", "reshape(n, 2, d // 2).reshape("]),
        (heads, ["p @ np.transpose("], ["einsum"]),
        (soft_means, [], ["==", "0.0 *"]),
        (lens, [" steps.append((u, y, n))"], ["y_saved"]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_gradient_says_it_as_the_user_does(fn, expected, avoided):
    text = grad(fn).source(X)
    assert [each for each in expected if each not in text] == []
    assert [each for each in avoided if each in text] == []
    agrees(fn, X)


def priced(curve, times):
    total = 0.0
    for t in times:
        rate = curve["rate"]
        total += np.exp(-rate * t) * curve["t"]
    return total


def test_an_item_leaves_the_name_of_a_variable_to_the_user():
    curve = {"t": 2.0, "rate": 0.1}
    text = grad(priced).source(curve, X)
    assert 'curve_t, rate = curve["t"], curve["rate"]' in text
    assert "for t in" in text
    found = grad(priced)(curve, X)
    np.testing.assert_allclose(found["t"], np.sum(np.exp(-0.1 * X)))
    np.testing.assert_allclose(found["rate"], np.sum(-2.0 * X * np.exp(-0.1 * X)))


@pytest.mark.parametrize(
    "fn, expected",
    [
        (clipped, "min(max(each * 2.0, -1.0), 3.0)"),
        (largest_of_three, "max(x[0] * x[1], x[2], x[3] + 1.0)"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_max_and_min_stay(fn, expected):
    assert expected in jit(fn).source(X)


@pytest.mark.parametrize("values", [(1.0, 1.0, 1.0), (0.0, -0.0, 0.0), (math.nan, 1.0, 2.0)])
def test_of_equal_numbers_and_nan_it_is_the_first(values):
    def first(x):
        return math.copysign(1.0, max(x[0], x[1])), max(x[0], x[1], x[2]), min(x[0], x[1], x[2])

    found = vmap(first)(np.array([values, values]))
    np.testing.assert_array_equal([each[0] for each in found], first(np.array(values)))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("-a", "a"),
        ("-a * b", "a * b"),
        ("-a @ b", "a @ b"),
        ("-a - b * c", "a + b * c"),
        ("-a - b - c", "a + b + c"),
        ("-1.0 - a", "1.0 + a"),
        ("-a + b", None),
        ("a - b", None),
    ],
)
def test_a_negative_sum_is_subtracted(text, expected):
    found = negative_of(gast.parse(text, mode="eval").body)
    assert (None if found is None else print_expression(found)) == expected


def springs(x, pairs):
    return sum((x[i] - x[j]) ** 2 for i, j in pairs)


def chained(x, weights, pairs):
    s = 1.0
    for weight, (i, far, plus) in zip(weights, pairs):
        s = s * np.cos(weight * x[i]) + far * x[0] if plus else s - x[i] * weight
    return s


@pytest.mark.parametrize(
    "fn, others, expected",
    [
        (springs, ([(0, 1), (3, 2)],), ["    for i, j in reversed(pairs):"]),
        (
            chained,
            (np.array([0.5, 2.0, 1.5]), [(0, 0.3, True), (2, 0.4, False), (1, 0.5, True)]),
            ["len(weights) == len(pairs)", "for weight, (i, far, plus) in zip(weights, pairs):"],
        ),
        (chained, ([0.5, 2.0, 1.5, 3.0, 0.1], [(0, 0.3, True), (2, 0.4, False)]), ["len(pairs)"]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_list_of_tuples_is_a_loop_over_them(fn, others, expected):
    text = grad(fn).source(X, *others)
    assert [each for each in expected if each not in text] == []
    agrees(lambda x: fn(x, *others), X)


def test_lists_of_other_lengths_have_code_of_their_own():
    pairs = [(0, 0.3, True), (2, 0.4, False), (1, 0.5, True)]
    found = grad(chained, (0, 1))
    for given in (pairs, pairs[:2], pairs[:1], pairs * 3):
        for weights in (np.array([0.5, 2.0, 1.5]), [0.5, 2.0, 1.5, 0.2, 0.1]):
            steps = X + 1e-30j * np.eye(len(X))  # exact: all functions are analytic
            expected = [chained(each, weights, given).imag / 1e-30 for each in steps]
            x_bar, weights_bar = found(X, weights, given)
            np.testing.assert_allclose(x_bar, expected, rtol=1e-12)
            assert len(weights_bar) == len(weights)
