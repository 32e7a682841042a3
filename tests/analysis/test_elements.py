"""What nests of loops store in arrays is read off these afterwards, where that is certain."""

import numpy as np
import pytest

from s2s_ad import grad


def cholesky(A):
    n = len(A)
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[j, :j]) / A[j, j]
        A[i, i] = np.sqrt(A[i, i] - A[i, :i] @ A[i, :i])
    return np.sum(np.tril(A))


def factors(A):
    n = len(A)
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A * A)


def from_the_last(A):
    n = len(A)
    for i in range(n - 2, -1, -1):
        A[i] = A[i + 1] * A[-1, i]
    return np.sum(A * A)


def not_yet_written(A):
    n = len(A)
    for i in range(n):
        for j in range(n):
            A[i, j] += A[i + 1 :, i] @ A[i + 1 :, j]
    return np.sum(A)


def read_in_a_loop_that_writes_another(A):
    n = len(A)
    B = 0.0 * A
    for i in range(n):
        B[:, i] = np.sin(A[i])
        for j in range(i, n):
            A[j] += B[:, i] * B[j, i]
    return np.sum(A)


def on_one_side(A):
    n = len(A)
    for i in range(1, n):
        if i > 2:
            A[i] = np.sin(A[i - 1])
        else:
            A[i] *= A[i - 1]
    return np.sum(A * A)


def behind_the_column(A):
    """Nothing is lost by the lists: column j - 1 is overwritten once more in the same pass."""
    n = len(A)
    for j in range(1, n):
        A[:, j] = np.sin(A[:, j - 1]) * 1.5
        A[:, j - 1] *= A[:, j]
    return np.sum(A)


def in_each_pass_anew(A):
    for _ in range(3):
        for i in range(1, len(A)):
            A[i] = np.sin(A[i - 1])
    return np.sum(A)


def from_both_ends(A):
    n = len(A)
    for i in range(n):
        A[i, n - 1 - i] = np.sin(A[i, i])
    return np.sum(A * A)


def with_other_steps(A):
    n = len(A)
    for i in range(0, n - 1, 2):
        A[i + 1] = np.sin(A[i])
        A[i] = np.cos(A[i + 1])
    return np.sum(A)


def until(A):
    n = len(A)
    i = 0
    while i < n - 1:
        A[i + 1] = np.sin(A[i])
        i += 1
    return np.sum(A)


#: how many lists the text has
PROGRAMS = {
    cholesky: 0,
    factors: 0,
    from_the_last: 0,
    not_yet_written: 0,
    read_in_a_loop_that_writes_another: 1,
    on_one_side: None,
    behind_the_column: None,
    in_each_pass_anew: None,
    from_both_ends: None,
    with_other_steps: None,
    until: None,
}
rng = np.random.default_rng(2)
A = np.eye(4) + 0.2 * rng.uniform(0.5, 1.0, (4, 4))


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_gradient_and_the_lists(f):
    gradient = grad(f)
    expected = np.zeros(A.shape)
    for place in np.ndindex(A.shape):
        moved = A.astype(complex)
        moved[place] += 1e-30j
        expected[place] = f(moved).imag / 1e-30
    np.testing.assert_allclose(gradient(A), expected, rtol=1e-12, atol=1e-13)
    if PROGRAMS[f] is not None:
        assert gradient.source(A).count("append") == PROGRAMS[f]


@pytest.mark.parametrize("columns", [1, 2])
def test_what_a_pass_reads_before_it_overwrites(columns):
    """The sweep of a gradient reads an adjoint, and makes it zero, in the same pass."""

    def rows(p):
        made = np.zeros((3, columns))
        for i in range(3):
            made[i] = [np.sin(i + p), 1.0][:columns]
        return np.sum(made**3)

    second = sum(
        6 * np.sin(i + 0.4) * np.cos(i + 0.4) ** 2 - 3 * np.sin(i + 0.4) ** 3 for i in range(3)
    )
    np.testing.assert_allclose(grad(grad(rows))(0.4), second, rtol=1e-12)
    np.testing.assert_allclose(grad(lambda p: 2.0 * grad(rows)(p))(0.4), 2 * second, rtol=1e-12)
    assert "copy" not in grad(rows).source(0.4)
