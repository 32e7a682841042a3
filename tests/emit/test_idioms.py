"""Statements as a reader expects them: what the user wrote on one line, numbers written again."""

import ast
import math

import gast
import numpy as np
import pytest

from s2s_ad import grad
from s2s_ad.emit.idioms import idiomatic
from transforms.differences import differences

X = np.array([0.4, -0.9, 1.7, 0.2])


def on_one_line(x, n):
    low, high = np.sin(x), np.cos(x)
    for _ in range(n):
        low, high = low * high, high - low
    return np.sum(low * high)


def two_loops(x, y):
    a, b = np.zeros_like(x), np.zeros_like(y)
    for i in range(len(x)):
        a[i] = math.sin(x[i])
        b[i] = a[i] * y[i]
    return np.sum(a * b)


def growing(x, count):
    y, count = x * 1.5, count + 1
    while count < 4:
        y, count = y * x, count + 1
    return np.sum(y)


def early(x, limit):
    if x < limit:
        return 0.0
    root = math.sqrt(x)
    if root > 3.0:
        return 9.0 * x
    return root**3 + x * limit


def with_array(x, light):
    d = np.sum(x) - 1.0
    if d < 0:
        return 0.0
    turned = x * d
    return max(np.sum(turned * light), 0.0)


def numbers(x, dt, n):
    y = x
    for _ in range(n):
        y = y + 0.5 * dt * np.sin(y + 0.5 * dt * y)
    return np.sum(y)


def turning(x, dt, n):
    place, angle, cost = x[0], x[1], 0.0
    for _ in range(n):
        place = place + dt * np.cos(angle)
        angle = angle + dt * np.sin(angle) * x[2]
        cost = cost + (place - x[3]) ** 2
    return cost


def scaled_in_place(x, w):
    y = np.pad(x, 1, mode="edge") * w
    y[y > 0.5] *= 0.5
    y[1:] *= 0.95
    return np.sum(y**3)


CASES = [
    (scaled_in_place, (X, 1.3)),
    (turning, (X, 0.3, 4)),
    (on_one_line, (X, 3)),
    (two_loops, (X, X + 1.0)),
    (growing, (X, 1)),
    (early, (2.3, 0.5)),
    (early, (0.3, 0.5)),
    (early, (11.0, 0.5)),
    (with_array, (X, X[::-1].copy())),
    (with_array, (-X, X)),
    (with_array, (X, -X)),
    (numbers, (X, 0.1, 3)),
]


@pytest.mark.parametrize("fn, args", CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_gradients(fn, args):
    expected = differences(lambda x: fn(x, *args[1:]), np.asarray(args[0]))
    np.testing.assert_allclose(grad(fn)(*args), expected, rtol=1e-6, atol=1e-8)


def test_what_the_user_wrote_on_one_line_is_one():
    text = grad(on_one_line).source(X, 3)
    assert "low, high = np.sin(x), np.cos(x)" in text
    text = grad(two_loops, (0, 1)).source(X, X)
    assert "a, b = np.zeros_like(x), np.zeros_like(y)" in text
    assert "x_bar, y_bar = np.zeros_like(x), np.zeros_like(y)" in text


def test_a_number_that_is_shorter_than_a_name_is_written_again():
    text = grad(numbers).source(X, 0.1, 3)
    assert "half" not in text
    assert "0.5 * dt" in text


def test_what_a_pass_keeps_is_kept_before_its_next_value():
    text = grad(turning).source(X, 0.3, 4)
    assert "angle_2" not in text


def test_what_the_user_scales_in_place_is_scaled_in_place():
    text = grad(scaled_in_place).source(X, 1.3).partition("# backward")[0]
    assert "y[1:] *= 0.95" in text
    assert text.count("*= 0.5") == 1
    assert 'np.pad(x, 1, mode="edge")' in text


LISTS = {
    "a copy is popped": (
        "ys = xs[:]\nfor _ in range(len(xs)):\n    y = ys.pop()\n    a += y",
        "for y in reversed(xs):\n    a += y",
    ),
    "the list is read in the loop": (
        "ys = xs[:]\nfor _ in range(len(xs)):\n    y = ys.pop()\n    a += y * xs[0]",
        "ys = xs[:]\nfor _ in range(len(xs)):\n    a += ys.pop() * xs[0]",
    ),
    "an item is read once": (
        "y = ys.pop()\nz = x + 1\na[i] += y * z",
        "z = x + 1\na[i] += ys.pop() * z",
    ),
    "an item is read twice": ("y = ys.pop()\na += y * y", "y = ys.pop()\na += y * y"),
    "an item is read on a path": (
        "y = ys.pop()\na = y if x else 1.0",
        "y = ys.pop()\na = y if x else 1.0",
    ),
    "an item is read in a block": (
        "y = ys.pop()\nif x:\n    a = 2 * y",
        "y = ys.pop()\nif x:\n    a = 2 * y",
    ),
    "the list is read before": (
        "y = ys.pop()\nn = len(ys)\na = n * y",
        "y = ys.pop()\nn = len(ys)\na = n * y",
    ),
    "another item is taken before": (
        "y = ys.pop()\nz = ys.pop()\na = z - y",
        "y = ys.pop()\na = ys.pop() - y",
    ),
    "a value is stored twice": ("y = 2 * x\na[i] = y\nb[j] = y", "a[i] = b[j] = 2 * x"),
    "a value is stored and read": (
        "y = 2 * x\na[i] = y\nb[j] = y\nc = y",
        "y = 2 * x\na[i] = y\nb[j] = y\nc = y",
    ),
    "a value says where it is stored": (
        "i = x + 1\na[i] = i\nb[j] = i",
        "i = x + 1\na[i] = i\nb[j] = i",
    ),
}


@pytest.mark.parametrize("before, after", LISTS.values(), ids=LISTS)
def test_loops_that_pop_a_list(before, after):
    body = idiomatic(gast.parse(before).body, 88)
    assert ast.unparse(gast.gast_to_ast(gast.Module(body, []))) == after
