"""Of what a backward pass only compares a mask is kept, a byte an element."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, runtime, value_and_grad, vmap
from s2s_ad.core import form
from s2s_ad.transforms.small import in_one
from transforms.differences import differences

rng = np.random.default_rng(7)
X = rng.normal(size=5)
SQUARE = rng.uniform(0.1, 1.0, (5, 5))


def shortest_paths(path):
    for k in range(len(path)):
        path = np.minimum(path, path[:, k][:, None] + path[k, :])
    return np.sum(path**2)


def widest(path):
    for k in range(len(path)):
        path = np.maximum(path, np.minimum(path[:, k][:, None], path[k, :]))
    return np.sum(path**2)


def sliding(x):
    for _ in range(4):
        flow = np.maximum(x[:-1] - x[1:] - 0.1, 0.0)
        x[:-1] -= 0.25 * flow
        x[1:] += 0.25 * flow
    return np.sum(x**2)


def reflected(x):
    v = np.cos(x)
    for _ in range(4):
        v = v - 0.3 * np.sin(x)
        x = np.clip(x + 0.3 * v, -1.0, 1.2)
    return np.sum(x * v)


def until_small(x):
    while np.sum(np.abs(x)) > 1.0:
        x = x - 0.2 * np.clip(x, -0.5, 0.7)
    return np.sum(x**2)


def radial(x):
    """Of what a mask selects the length is kept."""
    means = np.zeros(3)
    for i in range(3):
        values = x[(i / 3 - 0.7 <= np.abs(X)) & (np.abs(X) < (i + 1) / 2)]
        means[i] = np.mean(values) ** 2
    return np.sum(means)


KEPT = {
    shortest_paths: (SQUARE, "path_halves_saved.append(halves_smaller("),
    widest: (SQUARE, "halves_larger("),
    sliding: (X, "flow_mask_saved.append(flow > 0.0)"),
    reflected: (X, "_mask"),
    until_small: (X, "_mask_saved.append("),
    radial: (X, "len(values)"),
}


@pytest.mark.parametrize("f", KEPT)
def test_a_mask_is_kept(f):
    x, text = KEPT[f]
    assert text in grad(f).source(x.copy())
    np.testing.assert_allclose(grad(f)(x.copy()), differences(f, x), atol=1e-7)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", KEPT)
def test_in_all_modes(f):
    x, _ = KEPT[f]
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    expected = np.sum(grad(f)(x.copy()) * direction)
    np.testing.assert_allclose(jvp(f, (x.copy(),), (direction,))[1], expected)
    twice = grad(lambda x: np.sum(grad(f)(x.copy()) * direction))
    np.testing.assert_allclose(
        twice(x.copy()),
        differences(lambda x: np.sum(grad(f)(x.copy()) * direction), x),
        atol=1e-6,
    )
    samples = np.stack([x, 0.7 * x])
    one_by_one = [grad(f)(each.copy()) for each in samples]
    np.testing.assert_allclose(vmap(grad(f))(samples.copy()), one_by_one)
    together = grad(lambda samples: np.sum(vmap(f)(samples)))
    np.testing.assert_allclose(together(samples.copy()), one_by_one)
    value, gradient = jit(value_and_grad(f))(x.copy())
    np.testing.assert_allclose(value, f(x.copy()))
    np.testing.assert_allclose(gradient, grad(f)(x.copy()), rtol=1e-12)


def test_ties_are_halved_as_without_a_loop():
    def once(a, b):
        return np.sum(np.minimum(a, b) * X)

    def looped(a, b):
        for _ in range(1):
            a = np.minimum(a, b)
        return np.sum(a * X)

    ones = np.ones(5)
    np.testing.assert_array_equal(grad(looped, (0, 1))(ones, ones), [0.5 * X, 0.5 * X])
    np.testing.assert_array_equal(grad(once, (0, 1))(ones, ones), [0.5 * X, 0.5 * X])


def test_what_was_not_taken_has_no_part_in_an_infinite_adjoint():
    def f(x):
        y = x
        for _ in range(2):
            y = np.minimum(y, 1.0 * x + 1.0)
        return np.sum(np.sqrt(y))

    with np.errstate(divide="ignore"):
        found = grad(f)(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(found, [np.inf, 0.25])


def test_a_first_step_stays_where_something_else_reads_it():
    value, a, b, items = map(form.name, ("value", "a", "b", "items"))
    first = form.op("halves", runtime.halves_smaller, [a, b])
    taken = form.op("part", runtime.by_halves, [value, form.name("halves")])
    kept = form.op("more", runtime.list_append, [items, form.name("halves")])
    alone, both = in_one([first, taken]), in_one([first, taken, kept])
    assert [each.function for each in alone] == [runtime.where_smaller]
    assert [each.target for each in both] == ["halves", "part", "more"]


def test_what_is_there_in_each_pass_is_asked_again():
    def f(x, limits):
        for _ in range(3):
            x = x * np.maximum(limits, 0.5)
        return np.sum(x)

    assert "mask" not in grad(f, (0, 1)).source(X, X).partition("# backward")[0]
