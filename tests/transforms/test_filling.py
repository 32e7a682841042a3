"""An adjoint whose parts are all known is one array: np.array, np.stack or np.concatenate."""

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

P = np.array([0.4, -1.2, 0.7, 1.5])
M = np.random.default_rng(5).normal(size=(4, 3)) + 3.0


def halves_of_a_vector(p):
    center, size = p[:2], p[2:]
    return np.sum(center**2) * np.sum(np.sin(size))


def three_slices(p):
    return np.sum(p[:1] ** 2) + np.sum(np.exp(p[1:3])) * np.sum(p[3:] ** 2)


def thirds(p):
    q, n = np.sin(p), len(p) // 3
    return np.sum(q[:n] ** 2) * np.sum(q[n : 2 * n] ** 3) * np.sum(np.exp(q[2 * n :]))


def backwards(p):
    q, n = np.sin(p), len(p) // 2
    return np.sum(q[n:] ** 2) * np.sum(q[:n] ** 3)


def overlapping_by_size(p):
    q, n = np.sin(p), len(p) // 2
    return np.sum(q[: n + 1] ** 2) * np.sum(q[n:] ** 3)


def columns_of_a_product(m):
    p = m @ np.ones((3, 3))
    return np.sum((p[:, :2] / p[:, 2:]) ** 2)


def elements_of_a_display(p):
    q = np.array([p[0], p[1] * p[0], p[3]])
    return q[0] * q[1] * q[2] + q[1] * np.sin(q[0])


def columns_of_a_stack(m):
    q = np.stack([m[:, 0] ** 2, m[:, 1] * m[:, 2]], axis=1)
    return np.sum(q[:, 0] * np.sin(q[:, 1]))


def overlapping(p):
    return np.sum(p[:3] ** 2) * np.sum(p[1:] ** 3)


def with_a_gap(p):
    return np.sum(p[:1] ** 2) * np.sum(p[2:] ** 3)


def number_into_a_slice(p):
    return np.sum(p[:2]) * np.sum(p[2:] ** 2)


def steep_beside_a_gap(p):
    q = np.sqrt(np.array([p[0] ** 2, 0.0 * p[1], p[2] ** 2]))
    return q[0] * q[2]


FILLED = {
    halves_of_a_vector: (P, "return np.concatenate("),
    three_slices: (P, "return np.concatenate("),
    thirds: (P, "q_bar = np.concatenate("),
    backwards: (P, "q_bar = np.concatenate("),
    columns_of_a_product: (M, "axis=1"),
    elements_of_a_display: (P, "q_bar = np.array("),
    columns_of_a_stack: (M, "q_bar = np.stack("),
}
OTHERS = [overlapping, overlapping_by_size, with_a_gap, number_into_a_slice, steep_beside_a_gap]
PROGRAMS = [(f, x) for f, (x, _) in FILLED.items()] + [(f, P) for f in OTHERS]


@pytest.mark.parametrize("function, x", PROGRAMS)
def test_the_gradient(function, x):
    expected = differences(function, x)
    np.testing.assert_allclose(grad(function)(x), expected, rtol=1e-6, atol=1e-8)
    single = grad(function)(x.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-4)
    samples = np.stack([x, x[::-1]])
    expected = [grad(function)(each) for each in samples]
    np.testing.assert_allclose(vmap(grad(function))(samples), expected, rtol=1e-12)


@pytest.mark.parametrize("function", FILLED)
def test_no_zeros_are_made_for_what_is_filled(function):
    x, line = FILLED[function]
    assert line in grad(function).source(x)


@pytest.mark.parametrize("function", [with_a_gap, overlapping, number_into_a_slice])
def test_what_is_not_known_to_be_filled_is_added_to_zeros(function):
    assert "p_bar = np.zeros_like(p)" in grad(function).source(P)


def test_a_matrix_is_written_as_rows_in_a_list():
    def turned(a):
        c, s = np.cos(a), np.sin(a)
        return np.array([[c, -s], [s, c]]) @ np.array([1.0, 2.0])

    assert "np.array([[c, -s], [s, c]])" in grad(lambda a: np.sum(turned(a) ** 3)).source(1.0)
