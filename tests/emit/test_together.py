"""What a pass of a loop saves is one tuple in one list, what a call saves is one tuple."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest

from s2s_ad import grad, jvp, vjp, vmap
from transforms.differences import differences

W = np.array([[0.4, -0.7, 0.2], [0.3, 0.5, -0.6], [0.8, -0.1, 0.9]])
XS = np.array([[0.3, -0.2, 0.9], [1.1, 0.4, -0.5], [0.2, 0.8, 0.1], [-0.3, 0.6, 0.7]])


def cell(w, x, h):
    """A step that saves more than it returns."""
    z = np.tanh(w @ h + x)
    r = np.exp(-z * x)
    return np.sin(r * z) + h * r


def network(w, xs=XS):
    h = np.ones(3)
    for x in xs:
        h = cell(w, x, h)
    return np.sum(h**2)


def in_one_function(w, xs=XS):
    h = np.ones(3)
    for x in xs:
        z = np.tanh(w @ h + x)
        r = np.exp(-z * x)
        h = np.sin(r * z) + h * r
    return np.sum(h**2)


def nested(w):
    """Lists of a loop in a loop; the matrix is changed in place."""
    m = w.copy()
    for j in range(3):
        scale = np.exp(m[j, j])
        for i in range(3):
            m[i, j] = np.sin(m[i, j] * scale) / (1.5 + m[j, i])
    return np.sum(m * w)


def factorised(w):
    return np.sum(np.log(np.diagonal(eliminated(w + 3 * np.eye(3)))))


def eliminated(a):
    a = a.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def branching(w):
    """What a path lacks is kept by nobody."""
    h = w[0]
    for x in XS:
        if x[0] > 0.25:
            u = np.exp(h * x)
            h = np.sin(u) * np.cos(u + h)
        else:
            h = np.tanh(w @ h)
    return np.sum(h)


def until_small(w):
    h, k = w[0], 0
    while np.sum(h**2) > 1e-3 and k < 5:
        g = np.exp(-h)
        h = 0.3 * h * np.sin(g * h)
        k += 1
        if k == 4:
            break
    return np.sum(h) * w[1, 1]


def twice(w):
    """One function, called in a loop and outside."""
    h = cell(w, XS[0], XS[1])
    for x in XS[2:]:
        h = cell(w, x, h) * cell(w, h, x)
    return np.sum(h)


def raising(w):
    """What was appended in a `try` counts where it was left."""
    h = w[0]
    for k in range(3):
        try:
            u = np.exp(h)
            if k == 1:
                raise ValueError
            h = np.sin(u) * h
        except ValueError:
            h = np.cos(h)
    return np.sum(h * w[2])


PROGRAMS = (network, nested, branching)
MORE = (in_one_function, factorised, until_small, twice, raising)


@pytest.mark.parametrize("fn", MORE, ids=lambda fn: fn.__name__)
def test_a_gradient_is_right(fn):
    np.testing.assert_allclose(grad(fn)(W), differences(fn, W), atol=1e-7)


@pytest.mark.parametrize(
    "fn",
    [*PROGRAMS, *(pytest.param(fn, marks=pytest.mark.slow) for fn in MORE)],
    ids=lambda fn: fn.__name__,
)
def test_derivatives_of_all_kinds_are_right(fn):
    direction = np.cos(np.arange(9.0)).reshape(3, 3)
    slopes = differences(fn, W)
    np.testing.assert_allclose(grad(fn)(W), slopes, atol=1e-7)
    batch = np.stack([W, 0.8 * W])
    expected = np.stack([slopes, differences(fn, 0.8 * W)])
    np.testing.assert_allclose(vmap(grad(fn))(batch), expected, atol=1e-7)
    around = [grad(fn)(W + sign * 1e-5 * direction) for sign in (1, -1)]
    curvature = (around[0] - around[1]) / 2e-5
    np.testing.assert_allclose(jvp(grad(fn), W, direction)[1], curvature, atol=1e-6)
    of_slope = grad(lambda w: np.sum(direction * grad(fn)(w)))
    np.testing.assert_allclose(of_slope(W), curvature, atol=1e-6)


def test_a_pullback_may_be_called_twice():
    """The first call has taken nothing from the lists that the second needs."""
    for fn in (network, nested, factorised):
        _, pullback = vjp(fn, W)
        (first,), (second,) = pullback(1.0), pullback(1.0)
        np.testing.assert_array_equal(first, second)


def unpacked(w):
    """What is popped is read as a whole, too."""
    for _ in range(2):
        a, b, _ = w
        w = w / np.float64(a)
    return b * np.sum(w)


def test_what_is_unpacked_and_read_as_a_whole_keeps_its_name():
    w = np.array([0.3, -1.2, 0.2])
    np.testing.assert_allclose(grad(unpacked)(w), differences(unpacked, w), rtol=1e-6)
    single = w.astype(np.float32)
    np.testing.assert_allclose(grad(unpacked)(single), grad(unpacked)(w), rtol=1e-4)


def functions_of(fn, *args):
    source = grad(fn).source(*args)
    return {each.name: each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)}


def test_a_pass_saves_one_tuple():
    source = grad(in_one_function).source(W)
    assert len(re.findall(r"\.append\(\(", source)) == len(re.findall(r"append", source)) == 1
    assert len(re.findall(r"= steps\.pop\(\)", source)) == 1


def waves(c, source=XS[0], dt=0.1):
    previous, current, misfit = np.zeros(5), np.ones(5), 0.0
    for t in range(len(source)):
        following = 2 * current - previous + (c * dt) ** 2 * np.sin(current)
        misfit += 0.5 * following[t] ** 2
        previous, current = current, following
    return misfit


def test_what_has_no_name_is_called_alike_where_it_is_taken_from_its_list():
    (step,) = re.findall(r"steps.append\(\((.*)\)\)", text := grad(waves).source(np.ones(5)))
    (popped,) = re.findall(r"(\S.*) = steps.pop", text)
    assert popped.split(", ")[:2] == step.split(", ")[:2]
    assert "value" not in popped


def labels_in(x):
    labels = [0, 2, 1]
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2 * labels[i]
    return total


def test_a_list_that_is_indexed_keeps_its_name():
    assert "labels = [0, 2, 1]" in grad(labels_in).source(np.ones(3))


def test_a_call_saves_one_tuple_under_the_same_names():
    """Arguments that travel with it are part of it: `h` in each pass."""
    functions = functions_of(network, W)
    assert list(functions) == ["network_grad", "cell_forward", "cell_backward"]
    (returned,) = (s for s in functions["cell_forward"].body if isinstance(s, ast.Return))
    first = functions["cell_backward"].body[1]
    saved = [ast.unparse(each) for each in returned.value.elts[1].elts]
    assert saved == [ast.unparse(each) for each in first.targets[0].elts]
    assert saved[0] == "h"
    assert ast.unparse(first.value) == "saved"
    assert "steps.append(step)" in ast.unparse(functions["network_grad"])


def test_a_list_of_a_pass_is_popped_where_it_is():
    """Nobody else has it: it needs no copy."""
    assert "[:]" not in grad(nested).source(W)


class Rotation:
    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    def __mul__(self, o):
        if isinstance(o, Rotation):
            real = self.w * o.w - self.x * o.x - self.y * o.y
            turned = self.w * o.x + self.x * o.w, self.w * o.y + self.z * o.x
            return Rotation(real, *turned, self.z * o.w + self.w * o.z)
        return Rotation(self.w * o, self.x * o, self.y * o, self.z * o)

    def applied(self, v):
        q = self * Rotation(0.0, *v) * Rotation(self.w, -self.x, -self.y, -self.z)
        return np.array([q.x, q.y, q.z])


def path_of_rotations(a):
    end, points = Rotation(np.cos(a), np.sin(a), 0.3 * a, a * a), []
    for t in np.array([0.1, 0.9]):
        points.append((end * t).applied(np.array([1.0, 0.5, -0.25])))
    return np.sum(np.array(points))


def test_what_goes_into_two_lists_is_no_tuple():
    """The second lists were appended what was a part of the tuple in the first: a NameError."""
    slope = grad(path_of_rotations)
    difference = (slope(1.3 + 1e-5) - slope(1.3 - 1e-5)) / 2e-5
    assert grad(slope)(1.3) == pytest.approx(difference, rel=1e-8)
