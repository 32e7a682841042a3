"""Adjoints that several parts of the code add to are put together before they go on."""

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

X = np.array([0.9, 1.7, 0.4, 2.3, 1.1])
A = 1.0 + np.arange(12.0).reshape(3, 4) / 7.0


def fluxes(x):
    flux = np.sqrt(x) / (1.0 + x)
    return np.sum((flux[1:] - flux[:-1]) ** 2 * x[1:])


def borders(x):
    flux = np.sqrt(x) / x[0]
    y = np.zeros(6)
    y[0] += flux[0] ** 2
    y[1:-1] += flux[:-1] - flux[1:]
    y[-1] += flux[-1]
    return np.sum(y**2)


def along_one_axis(a):
    flux = np.sqrt(a) / a[0, 0]
    return np.sum(flux[:, 1:] * flux[:, :-1] ** 2)


@pytest.mark.parametrize("fn, x", [(fluxes, X), (borders, X), (along_one_axis, A)])
def test_slices_that_cover_an_array_are_added_before_they_go_on(fn, x):
    np.testing.assert_allclose(grad(fn)(x), differences(fn, x), rtol=1e-5)
    text = grad(fn).source(x)
    assert text.count("flux_bar = np.zeros_like") == 1
    assert "zeros_like_" not in text
    batch = np.stack([x, x[::-1]])
    expected = [differences(fn, each) for each in batch]
    np.testing.assert_allclose(vmap(grad(fn))(batch), expected, rtol=1e-5)


def inner(x):
    flux = np.sqrt(x)
    return np.sum((flux[2:] - flux[1:-1]) ** 2)


def test_an_element_that_no_slice_takes_has_no_part_however_steep_it_is():
    x = np.array([0.0, 1.0, 4.0, 9.0])  # the slope of sqrt is infinite at the first
    expected = np.concatenate([[0.0], differences(lambda y: inner(np.append(1.0, y)), x[1:])])
    np.testing.assert_allclose(grad(inner)(x), expected, rtol=1e-6)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(grad(fluxes)(X[:1]), [0.0])  # two empty slices
        np.testing.assert_allclose(grad(fluxes)(np.zeros(1)), [0.0])


def chosen_columns(a, columns):
    """Rows are normalised; which of their elements are read, an argument says."""
    p = np.exp(a)
    p = p / p.sum(axis=1, keepdims=True)
    order = [0]
    for column in columns:
        order += [column, 0]
    alpha = np.zeros(len(order))
    alpha[0], alpha[1] = p[0, 0], p[0, order[1]]
    for i in range(1, len(p)):
        new = np.zeros(len(order))
        for k in range(len(order)):
            new[k] = (alpha[k] + alpha[k - 1]) * p[i, order[k]]
        alpha = new
    return -np.log(alpha[-1] + alpha[-2])


def test_elements_whose_index_a_run_tells_are_added_too():
    found = grad(chosen_columns)(A, np.array([2, 1]))
    wanted = differences(lambda a: chosen_columns(a, np.array([2, 1])), A)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def mixture(means, x):
    joint = -0.5 * (x[:, None] - means) ** 2
    top = np.max(joint, axis=1, keepdims=True)
    return -np.mean(top[:, 0] + np.log(np.sum(np.exp(joint - top), axis=1)))


def test_below_a_mean_the_maximum_is_only_a_shift():
    means, x = X[:3], np.array([0.1, -0.7, 2.0, 1.2])
    expected = differences(lambda m: mixture(m, x), means)
    np.testing.assert_allclose(grad(mixture)(means, x), expected, rtol=1e-6)
    assert "==" not in grad(mixture).source(means, x)
