"""e / sum(e) sums to one: the maximum in log-sum-exp has no part in a derivative.

And what is divided by a sum, or a norm, of its own has a derivative as a whole.
"""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jvp, vmap
from s2s_ad.core import values
from s2s_ad.core.builder import Builder
from s2s_ad.core.magnitudes import may_be_infinite
from transforms.differences import differences

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.2, -0.4], [-0.6, 0.9, 1.1], [0.1, 0.4, -2.0]])
W = np.array([0.5, -1.0, 2.0, 0.7])
LABELS = np.array([0, 2, 1, 1])


def log_sum_exp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def of_rows(x):
    top = np.max(x, axis=1)
    return np.sum(W * (top + np.log(np.sum(np.exp(x - top[:, None]), axis=1))))


def cross_entropy(x):
    top = np.max(x, axis=1, keepdims=True)
    shifted = x - top
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(4), LABELS])


def of_one_sample(x, label=2):
    logits = np.tanh(x[0] * x[1])
    z = logits - np.max(logits)
    return np.log(np.sum(np.exp(z))) - z[label]


def chain(x):
    """The forward pass of a hidden Markov model."""
    a = x[0]
    for row in x[1:]:
        scores = a[:, None] + 0.3 * np.outer(row, row)
        top = np.max(scores, axis=0)
        a = row + top + np.log(np.sum(np.exp(scores - top), axis=0))
    return log_sum_exp(a)


def by_column(x):
    """The maxima keep their axis, which an index or a squeeze takes away."""
    top = x.max(axis=1, keepdims=True)
    return np.sum(top[:, 0] + np.log(np.exp(x - top).sum(axis=1)))


def squeezed(x):
    top = np.max(x[0], keepdims=True)
    return np.squeeze(top) + np.log(np.sum(np.exp(x[0] - top)))


def samples_in_turn(x):
    total = 0.0
    for t in range(len(x)):
        z = np.sin(x[t])
        z = z - z.max()
        total -= z[LABELS[t]] - np.log(np.sum(np.exp(z)))
    return total / len(x)


def weighted_samples(x):
    total = 0.0
    for t in range(len(x)):
        top = np.max(x[t])
        total += W[t] * (top + np.log(np.sum(np.exp(x[t] - top))) - x[t, LABELS[t]])
    return total


def log_of_a_share(x, label=1, scale=1.5):
    p = np.exp(x[0] - np.max(x[0]))
    p = p / np.sum(p)
    return -scale * np.log(p[label])


def weighted_labels(x):
    z = x - np.max(x, axis=1)[:, None]
    logs = z - np.log(np.sum(np.exp(z), axis=1))[:, None]
    return -np.sum(W * logs[np.arange(len(W)), LABELS]) / np.sum(W)


def evidence(x):
    """Weights of particles: the log of their sum, and how many of them count."""
    top = np.max(x[1])
    w = np.exp(x[1] - top)
    total = np.sum(w)
    w = w / total
    return top + np.log(total) + 0.1 / np.sum(w**2)


def of_numbers(x, gamma=0.5):
    a, b, c = x[0]
    low = min(a, b, c)
    e = [np.exp((low - each) / gamma) for each in (a, b, c)]
    return low - gamma * np.log(e[0] + e[1] + e[2])


def with_a_number_added(x):
    """These shares do not sum to one: the maximum has a part."""
    p = np.exp(x[0] - np.max(x[0]))
    p = p / (np.sum(p) + 0.1)
    return -1.5 * np.log(p[1])


def weighted(x):
    """A quotient of sums, where nothing comes back."""
    e = np.exp(x)
    total = np.sum(e, axis=1, keepdims=True)
    return np.sum(W[:, None] * e / total * x) + np.sum(np.sum(e / total, axis=0) ** 2)


def other_axis(x):
    e = np.exp(x)
    return np.sum(np.sum(x * e / np.sum(e, axis=0), axis=1) ** 2)


SHIFTED = [
    log_sum_exp,
    of_rows,
    cross_entropy,
    of_one_sample,
    chain,
    by_column,
    squeezed,
    samples_in_turn,
    weighted_samples,
    log_of_a_share,
    weighted_labels,
    evidence,
    of_numbers,
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "fn", [*SHIFTED, with_a_number_added, weighted, other_axis], ids=lambda f: f.__name__
)
def test_derivatives_are_right(fn):
    slopes, direction = differences(fn, X), np.cos(3 * X)
    np.testing.assert_allclose(grad(fn)(X), slopes, atol=1e-8)
    np.testing.assert_allclose(vmap(grad(fn))(np.stack([X, -X]))[0], slopes, atol=1e-8)
    around = [grad(fn)(X + sign * 1e-5 * direction) for sign in (1, -1)]
    curvature = (around[0] - around[1]) / 2e-5
    np.testing.assert_allclose(jvp(grad(fn), X, direction)[1], curvature, atol=1e-7)


def scaled_rows(c, x, s):
    return s * np.sum(np.log(np.sum(np.exp(x - c), axis=1)))


def shifted_rows(x, s):
    top = np.max(x, axis=1)
    return s * np.sum(np.log(np.sum(np.exp(x - top[:, None]), axis=1)) + top)


def test_a_number_that_rows_share_is_the_adjoint_of_each():
    """It was the adjoint of all of them at once."""
    c, x = np.zeros((2, 1)), np.array([[0.3, -0.2, 0.5], [1.0, 0.4, 0.1]])
    np.testing.assert_allclose(grad(scaled_rows)(c, x, 0.7), [[-0.7], [-0.7]])
    shares = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    np.testing.assert_allclose(grad(shifted_rows)(x, 0.7), 0.7 * shares)


@pytest.mark.parametrize("fn", SHIFTED, ids=lambda f: f.__name__)
def test_the_maximum_is_no_more_than_a_shift(fn):
    """Nothing asks where it is; where several are largest the derivative is the same."""
    text = grad(fn).source(X).partition("def ")[2]
    assert not any(each in text for each in ("==", "<", " if "))
    np.testing.assert_allclose(grad(fn)(0 * X), differences(fn, 0 * X), atol=1e-8)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def of_a_row(x):
    return np.sum(np.cos(softmax(x[0])) * x[1])


def of_all_rows(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum((e / np.sum(e, axis=-1, keepdims=True)) ** 2 * x)


def of_columns(x):
    e = np.exp(x - x.max(axis=0))
    return np.sum((e / np.sum(e, axis=0)[None, :]) ** 3)


def beside_a_number(x):
    e = np.exp(x)
    total = np.sum(e, axis=1)[:, None] + 0.5
    return np.sum((e / total) ** 2) + np.sum(np.log(total))


def unit(x):
    v = x[0] * x[1]
    return np.sum(np.sin(v / np.linalg.norm(v)) * x[2])


def unit_by_products(x):
    return np.sum((x[1] / np.sqrt(x[1] @ x[1] + 1e-3)) ** 3)


def unit_rows(x):
    return np.sum((x / np.linalg.norm(x, axis=1, keepdims=True)) ** 3)


def layer_norm(x):
    centered = x - np.mean(x, axis=-1, keepdims=True)
    var = np.mean(centered**2, axis=-1, keepdims=True)
    return np.sum((centered / np.sqrt(var + 1e-5)) ** 3)


def with_var(x):
    return np.sum(((x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 1e-5)) ** 3)


def relative_to_the_mean(x):
    y = x**2
    return np.sum((y / np.mean(y)) ** 2 * np.cos(x))


def sizes(x):
    """Elements by their own sizes: no norm."""
    return np.sum((x[0] / np.sqrt(np.einsum("i,i->i", x[0], x[0]))) * x[1])


def of_another(x):
    """The norm of something else, and an axis that is summed and one that is not."""
    a = 1.0 + (x @ x.T) ** 2
    return np.sum(x[0] / np.linalg.norm(x[1])) + np.sum(np.cos(a / np.sum(a, axis=0)))


NORMALISED = [of_a_row, of_all_rows, of_columns, beside_a_number, unit, unit_by_products]
NORMALISED += [unit_rows, layer_norm, with_var, relative_to_the_mean, sizes, of_another]


@pytest.mark.parametrize("fn", NORMALISED, ids=lambda f: f.__name__)
def test_what_is_normalised(fn):
    test_derivatives_are_right(fn)


def test_softmax_as_an_expert_differentiates_it():
    source = grad(of_a_row).source(X)
    assert "(x_1_times_sin_e @ softmax_e - x_1_times_sin_e) * softmax_e" in source
    source = grad(attended).source(X)
    assert "np.sum(normalised_x_bar * normalised_x, axis=-1, keepdims=True)" in source


def attended(x):
    return np.sum((normalised(x) @ x.T) ** 2)


def normalised(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pytest.mark.parametrize("number, infinite", [(0.0, False), (0.5, False), (-0.5, True)])
def test_a_share_is_finite_unless_what_it_is_of_may_be_zero(number, infinite):
    builder = Builder()
    e = np.exp(builder.symbol(values.Array(np.dtype(float), (values.fresh_dim(),))))
    assert may_be_infinite(builder, e / (np.sum(e) + number)) is infinite


# ---- what differs from its mean sums to zero


def variance(x):
    return np.sum((x - np.mean(x)) ** 2)


def deviation_of_columns(x):
    return np.sum(W[:3] * np.sqrt(np.mean((x - np.mean(x, axis=0)) ** 2, axis=0)))


def of_each_row(x):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return np.sum(W * np.sum(centred**2, axis=1))


def correlation(x):
    a, b = x[:, 0] - np.mean(x[:, 0]), x[:, 1] - np.mean(x[:, 1])
    return a @ b / np.sqrt((a @ a) * (b @ b))


@pytest.mark.parametrize("f", [variance, deviation_of_columns, of_each_row])
def test_no_mean_is_taken_of_an_adjoint_that_sums_to_zero(f):
    assert "np.sum(" not in grad(f).source(X)
    np.testing.assert_allclose(grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(vmap(grad(f))(X[None])[0], grad(f)(X), rtol=1e-12, atol=1e-14)


def of_a_mean_along_another_axis(x):
    """What is taken from a row is the mean of another."""
    square = x @ x.T
    return np.sum((square - np.mean(square, axis=1)) ** 2)


def weighted_along_the_axis(x):
    return np.sum(W[:, None] * (x - np.mean(x, axis=0)) ** 2)


def of_all_less_that_of_columns(x):
    return np.sum((x - np.mean(x)) ** 2 * np.mean(x, axis=0))


def of_another(x):
    return np.sum((x - np.mean(x**2)) ** 2)


@pytest.mark.parametrize(
    "f",
    [
        correlation,
        of_a_mean_along_another_axis,
        weighted_along_the_axis,
        of_all_less_that_of_columns,
        of_another,
    ],
)
def test_what_sums_to_something_is_summed(f):
    np.testing.assert_allclose(grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-7)
