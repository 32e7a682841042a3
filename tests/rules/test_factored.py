"""Systems solved with factors: the derivatives are those of np.linalg.solve, whatever else the
factors are used for, and cost one more system."""

import numpy as np
import pytest
import scipy.linalg

from s2s_ad import grad, jvp, vmap

pytestmark = pytest.mark.thinned(3)

TURNED = {0: lambda a: a, 1: np.transpose, 2: lambda a: np.conj(a.T)}


def drawn(dtype, *shape, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x


def by_lu(a, b, trans):
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans=trans)


def directly(a, b, trans):
    if trans == 0:
        return np.linalg.solve(a, b)
    return np.linalg.solve(a.T if trans == 1 else np.conj(a.T), b)


def by_cholesky(a, b, lower):
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, lower), b)


def of_triangle(a, b, lower):
    """The matrix is Hermitian, and one triangle of it is read, of the diagonal the real part."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = half + np.conj(half.T) + np.diag(np.real(np.diag(a)))
    return np.linalg.solve(whole, b)


def determinant_too(a, b, trans):
    """The factors are used for something else as well."""
    lu, piv = scipy.linalg.lu_factor(a)
    x = scipy.linalg.lu_solve((lu, piv), b, trans)
    return x * np.prod(np.abs(np.diagonal(lu)))


def determinant_of_a(a, b, trans):
    return directly(a, b, trans) * np.abs(np.linalg.det(a))


def steps(a, b, trans):
    """One factorisation, and a system in each pass."""
    factors = scipy.linalg.lu_factor(a)
    for _ in range(3):
        b = scipy.linalg.lu_solve(factors, b, trans=trans) + b**2
    return b


def direct_steps(a, b, trans):
    for _ in range(3):
        b = directly(a, b, trans) + b**2
    return b


def both(a, b, lower):
    """Two systems with the same factors, one of them with a matrix of right-hand sides."""
    factors = scipy.linalg.cho_factor(a, lower)
    inverse = scipy.linalg.cho_solve(factors, np.eye(3))
    return scipy.linalg.cho_solve(factors, b) + inverse @ b


def both_directly(a, b, lower):
    return 2 * of_triangle(a, b, lower)


PAIRS = [(by_lu, directly), (determinant_too, determinant_of_a), (steps, direct_steps)]
CASES = [(*pair, trans) for pair in PAIRS for trans in (0, 1, 2)]
PAIRS = [(by_cholesky, of_triangle), (both, both_directly)]
CASES += [(*pair, lower) for pair in PAIRS for lower in (False, True)]


def matrix(dtype, function):
    a = drawn(dtype, 3, 3)
    if function in (by_cholesky, both):
        return a @ np.conj(a.T) + 3 * np.eye(3)
    return a[[1, 2, 0]] + 2 * np.eye(3)[[2, 0, 1]]


@pytest.mark.thinned(28)
@pytest.mark.parametrize("columns", [(), (2,)], ids=["a vector", "columns"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(
    "function, expected, option", CASES, ids=lambda each: getattr(each, "__name__", str(each))
)
def test_derivatives_are_those_of_the_system(function, expected, option, dtype, columns):
    a, b = matrix(dtype, function), 0.2 * drawn(dtype, 3, *columns, seed=1)
    seed, direction = drawn(dtype, 3, *columns, seed=2), (drawn(dtype, 3, 3, seed=3), b + 1)

    def total(f):
        return lambda a, b: np.sum(np.real(np.conj(seed) * f(a, b, option)))

    def slope(f):
        """A number made of the gradient: its gradient is a second derivative."""

        def moved(a, b):
            a_bar, b_bar = grad(f, (0, 1))(a, b)
            of_a, of_b = np.conj(direction[0]) * a_bar, np.conj(direction[1]) * b_bar
            return np.real(np.sum(of_a) + np.sum(of_b))

        return moved

    close = {"rtol": 1e-9, "atol": 1e-11}
    plain, direct = total(function), total(expected)
    np.testing.assert_allclose(function(a, b, option), expected(a, b, option), **close)
    for one, other in ((plain, direct), (slope(plain), slope(direct))):
        for x, y in zip(grad(one, (0, 1))(a, b), grad(other, (0, 1))(a, b), strict=True):
            np.testing.assert_allclose(x, y, **close)
    tangents = [jvp(f, (a, b), direction)[1] for f in (plain, direct)]
    np.testing.assert_allclose(*tangents, **close)


@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)], ids=str)
@pytest.mark.parametrize("columns", [(), (2,)], ids=["a vector", "columns"])
@pytest.mark.parametrize("function", [by_lu, by_cholesky])
def test_batches_are_loops_over_samples(function, columns, axes):
    a, b = matrix(float, function), drawn(float, 3, *columns, seed=1)
    scales = np.array([1.0, 1.5, 2.0, 3.0])
    stacked = [
        np.stack([scale * each for scale in scales]) if axis == 0 else each
        for each, axis in zip((a, b), axes, strict=True)
    ]

    def loss(a, b):
        return np.sum(np.sin(function(a, b, 0)))

    derived = grad(loss, (0, 1))
    batched = vmap(derived, axes)(*stacked)
    for i in range(len(scales)):
        sample = [x[i] if axis == 0 else x for x, axis in zip(stacked, axes, strict=True)]
        for x, y in zip(batched, derived(*sample), strict=True):
            np.testing.assert_allclose(x[i], y, rtol=1e-10)


def test_the_adjoint_of_the_matrix_is_an_outer_product():
    def loss(a, b):
        return np.sum(scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b))

    text = grad(loss, (0, 1)).source(np.eye(3), np.ones(3))
    assert "b_bar = scipy.linalg.lu_solve((lu, piv), " in text
    assert "a_bar = -np.outer(b_bar, " in text
    assert "tri" not in text  # neither tril nor triangular systems


@pytest.mark.parametrize("function", [by_lu, by_cholesky])
@pytest.mark.parametrize(
    "of_a, of_b", [((2,), (3,)), ((2,), (3, 2)), ((), (2, 3, 1)), ((2,), (1, 3, 1))], ids=str
)
def test_stacks_of_matrices_and_of_right_hand_sides_are_broadcast(function, of_a, of_b):
    a = matrix(float, function) * np.linspace(1.0, 2.0, 2)[: of_a[0] if of_a else 1, None, None]
    a, b = a if of_a else a[0], drawn(float, *of_b, seed=1)
    columns = b if b.ndim > 1 else b[:, None]

    def loss(a, b):
        try:
            return np.sum(np.sin(function(a, b, 0)))
        except ValueError:
            return np.sum(a)

    def expected(a, b):
        return np.sum(np.sin(np.linalg.solve(a, b)))

    assert loss(a, b) == pytest.approx(expected(a, columns))
    if function is by_cholesky:
        a_bar, b_bar = grad(lambda a, b: expected((a + np.moveaxis(a, -1, -2)) / 2, b), (0, 1))(
            a, columns
        )
        found = grad(lambda a, b: loss((a + np.moveaxis(a, -1, -2)) / 2, b), (0, 1))(a, b)
    else:
        a_bar, b_bar = grad(expected, (0, 1))(a, columns)
        found = grad(loss, (0, 1))(a, b)
    np.testing.assert_allclose(found[0], a_bar)
    np.testing.assert_allclose(found[1], b_bar.reshape(b.shape))


def test_a_matrix_that_is_not_square_is_refused_as_lapack_refuses_it():
    """By an exception of its own, which is no ValueError."""

    def loss(a, b):
        try:
            return np.sum(scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b))
        except ValueError:
            return np.sum(b)

    with pytest.raises(Exception, match="not square"):
        grad(loss)(np.ones((3, 4)) + np.eye(3, 4), np.ones(3))
    np.testing.assert_array_equal(grad(loss, 1)(np.eye(3, 4), np.ones(4)), np.ones(4))
