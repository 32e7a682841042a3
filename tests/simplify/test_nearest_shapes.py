"""Shapes read off what a loop starts from: a loop that is run for a shape alone is not run."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, vmap

X = np.array([0.3, -0.8, 1.7])
A = np.arange(6.0).reshape(2, 3) / 5


def product_by_hand(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(b.shape[0]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c)


def test_a_product_is_not_computed_for_its_shape():
    for dtype in (np.float32, np.float64):
        a, b = A.astype(dtype), A.T.astype(dtype)
        found = grad(product_by_hand)(a, b)
        np.testing.assert_allclose(found, np.ones((2, 2)) @ b.T, rtol=1e-6)
        assert found.dtype == dtype
    text = grad(product_by_hand).source(A, A.T)
    assert "c_bar = np.ones((len(a), b.shape[1]))" in text
    assert "# forward" not in text


def sum_of_squares(x):
    total = 0.0
    for each in x:
        total += each * each
    return total


def test_a_sum_over_a_batch_is_not_computed_for_its_shape():
    def loss(xs):
        return np.sum(vmap(sum_of_squares)(xs))

    np.testing.assert_allclose(grad(loss)(A), 2 * A)
    text = grad(loss).source(A)
    assert "np.ones(len(xs))" in text
    assert "np.sum" not in text


def grown(x):
    y = np.zeros(1)
    for each in x:
        y = np.append(y, each * each)
    return np.sum(y)


def shrunk(x):
    y = x * x
    while len(y) > 2:
        y = y[1:] + y[:-1]
    return np.sum(y)


def broadcast(x):
    y = np.zeros(1)
    for _ in range(2):
        y = y + x
    return np.sum(y)


def left_early(x):
    y = np.zeros(2)
    for each in x:
        y = np.append(y, each)
        if each < 0:
            break
    return np.sum(y)


@pytest.mark.parametrize(
    "program, expected",
    [
        (grown, 2 * X),
        (shrunk, 2 * X * [1, 2, 1]),
        (broadcast, [2.0, 2.0, 2.0]),
        (left_early, [1.0, 1.0, 0.0]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_shape_that_passes_change_is_the_last(program, expected):
    np.testing.assert_allclose(grad(program)(X), expected)


WEIGHTS = np.array([0.5, -1.0])


def differences(x):
    return np.sum(WEIGHTS * (x[1:] - x[:-1]))


def test_differences_are_not_computed_for_their_shape():
    np.testing.assert_allclose(grad(differences)(X), [-0.5, 1.5, -1.0])
    np.testing.assert_allclose(grad(differences)(X[:2]), [0.5, -0.5])
    assert "x_bar[:-1] = -WEIGHTS" in grad(differences).source(X)
    alone = grad(differences).source(X, standalone=True)  # nothing asks before if lengths fit
    assert "    WEIGHTS * x_difference\n" in alone
    assert "unbroadcast(WEIGHTS, x_difference)" in alone


def mean_square_of_differences(x, y):
    difference = x[:, None] - y
    return np.mean(difference**2)


def mean_sine_of_differences(x, y):
    difference = x[:, None] - y
    return np.mean(np.sin(difference))


@pytest.mark.parametrize(
    "program, slope",
    [(mean_square_of_differences, lambda d: 2 * d), (mean_sine_of_differences, np.cos)],
)
def test_the_terms_of_a_mean_are_not_computed_for_their_number(program, slope):
    x, y = X, np.array([0.2, -1.1])
    expected = np.mean(slope(x[:, None] - y), axis=1) / len(x)
    np.testing.assert_allclose(grad(program)(x, y), expected)
    text = grad(program).source(x, y)
    assert "/ difference.size" in text
    assert "**" not in text
    assert "np.sin(" not in text


def smooth_path(a, b):
    """Its passes read the table for what they save: it is computed anyway."""
    D = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            before = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            D[i, j] = (a[i - 1] - b[j - 1]) ** 2 + np.log(np.sum(np.exp(before)))
    return D[-1, -1]


def test_what_is_computed_for_others_is_one_variable():
    b = np.array([0.2, 1.1])
    differences = [(smooth_path(X + h, b) - smooth_path(X - h, b)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(smooth_path)(X, b), differences, rtol=1e-7)
    text = grad(smooth_path).source(X, b)
    assert "np.zeros_like(D)" in text
    assert "D_2" not in text, text


def product_by_rows(a, b):
    """What is carried beside the result is for the result alone."""
    c, row = np.zeros((a.shape[0], b.shape[1])), np.zeros(b.shape[1])
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            row[j] = a[i] @ b[:, j]
        c[i] += 2.0 * row
    return np.sum(c)


def test_what_is_computed_for_a_result_that_nobody_reads_is_not():
    b = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
    np.testing.assert_allclose(grad(product_by_rows)(A, b), 2.0 * np.ones((2, 4)) @ b.T)
    assert "@" not in grad(product_by_rows).source(A, b)


def flux_of(h, a):
    slope = h[1:] - h[:-1]
    middle = 0.5 * (h[1:] + h[:-1])
    return -a * middle**3 * slope


def conserved(h, a):
    h = h.copy()
    for _ in range(3):
        flux = flux_of(h, a)
        h[1:-1] -= 0.1 * (flux[1:] - flux[:-1])
    return np.sum(h**2)


def test_no_result_of_a_helper_is_kept_for_its_shape():
    program = conserved
    h = np.array([0.3, 0.8, 1.7, 1.1, 0.2])
    steps = 1e-6 * np.eye(5)
    differences = [(program(h + d, 0.4) - program(h - d, 0.4)) / 2e-6 for d in steps]
    np.testing.assert_allclose(grad(program)(h, 0.4), differences, rtol=1e-7)
    batch = np.stack([h, h[::-1]])
    samples = [grad(program)(each, 0.4) for each in batch]
    np.testing.assert_allclose(vmap(grad(program), (0, None))(batch, 0.4), samples, rtol=1e-12)
    text = grad(program).source(h, 0.4)
    assert "flux_bar = np.zeros(len(h_bar) - 1)" in text
    assert "flux" not in text[text.index("# backward") :].replace("flux_", "")
    assert grad(program)(h.astype(np.float32), 0.4).dtype == np.float32


def test_shapes_are_read_off_what_loops_end_with_where_that_is_computed():
    def settled(a, b):
        a = a.copy()
        for i in range(1, len(b)):
            a[i] = a[i] * np.sin(a[i - 1])
        y = np.zeros_like(b)
        for i in range(1, len(b)):
            y[i] = b[i] - a[i] * y[i - 1]
        return np.sum(y)

    b = np.array([0.4, 1.2, -0.9])
    steps = 1e-6 * np.eye(3)
    differences = [(settled(X + d, b) - settled(X - d, b)) / 2e-6 for d in steps]
    np.testing.assert_allclose(grad(settled)(X, b), differences, rtol=1e-7, atol=1e-9)
    text = grad(settled).source(X, b)
    assert "    a = a.copy()" in text
    assert "y_bar = np.ones_like(y)" in text
