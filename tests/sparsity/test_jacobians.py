"""sparse_jacobian and sparse_hessian: their patterns, values, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse

from s2s_ad import custom_rule, hessian, jacfwd, sparse_hessian, sparse_jacobian
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, S2SError, UnsupportedError
from s2s_ad.sparse.colouring import of_symmetric

rng = np.random.default_rng(0)
N = 9
POINTS = rng.normal(size=N)
GRID = rng.normal(size=(4, 5))
KERNEL = np.array([1.0, 0.0, -2.0])
BANDED = np.diag(np.arange(1.0, N + 1)) + np.diag(np.ones(N - 1), 1)
MATRIX = scipy.sparse.random_array((6, N), density=0.2, rng=1, format="csr")
PLACES = np.array([3, 3, 0, 8])


def band(below: int, above: int, rows: int = N, columns: int = N) -> np.ndarray:
    return np.tri(rows, columns, above, bool) & ~np.tri(rows, columns, -below - 1, bool)


def scalar_loop(x):
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = x[i] * x[i + 1] - np.sin(x[i - 1])
    return y


def time_steps(x, steps):
    for _ in range(steps):
        x = x.copy()
        x[1:-1] += 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
    return x


def until(x):
    while np.sum(x**2) > 1.0:
        x = 0.5 * x
    return x[1:] * x[0]


def either(x):
    return x[:-1] if x[0] > 0 else x[1:] ** 2


def unless_large(x):
    y = x**2
    for i in range(len(x) - 1):
        if x[i] > 10:
            break
        y[i + 1] += x[i]
    return y


def rows_kept(x):
    rows = [x[i : i + 2] for i in range(0, len(x) - 1, 2)]
    return np.array(rows[::-1]).ravel()


def chosen(x):
    return np.where(np.arange(len(x)) % 2 == 0, x**2, 1.0)


def laplacian(u):
    padded = np.pad(u, 1)
    return padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2] - 4 * u


def neighbours(shape):
    """What the Laplacian depends on, node by node."""
    found = np.zeros((*shape, *shape), bool)
    for i, j in np.ndindex(*shape):
        for k, m in ((i, j), (i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= k < shape[0] and 0 <= m < shape[1]:
                found[i, j, k, m] = True
    return found.reshape(np.prod(shape), -1)


def places(pairs, rows, columns):
    found = np.zeros((rows, columns), bool)
    found[tuple(zip(*pairs, strict=True))] = True
    return found


INNER = np.arange(N)[:, None] % (N - 1) > 0  # all rows but the first and the last

# (function, input, what it depends on, how many directions that takes)
PROGRAMS = {
    "elementwise": (np.sin, POINTS, band(0, 0), 1),
    "differences": (lambda x: np.diff(x) ** 2, POINTS, band(0, 1, N - 1), 2),
    "a cycle": (lambda x: x * np.roll(x, 1), POINTS, band(1, 0) | band(1 - N, N - 1), 3),
    "a scalar loop": (scalar_loop, POINTS, band(1, 1) & INNER, 3),
    "two steps in time": (
        lambda x: time_steps(x, 2),
        POINTS,
        (band(2, 2) & INNER) | band(0, 0) & ~INNER,
        5,
    ),
    "a gather": (
        lambda x: np.exp(x[PLACES]),
        POINTS,
        places(enumerate(PLACES), 4, N),
        1,
    ),
    "a scatter": (
        lambda x: np.bincount(PLACES, x[:4], 9),
        POINTS,
        places(zip(PLACES, range(4), strict=True), N, N),
        2,
    ),
    "a banded matrix": (lambda x: BANDED @ x**2, POINTS, BANDED != 0, 2),
    "a sparse matrix": (lambda x: MATRIX @ np.sin(x), POINTS, MATRIX.toarray() != 0, None),
    "a convolution": (
        lambda x: np.convolve(x, KERNEL, "valid"),
        POINTS,
        band(0, 0, N - 2) | band(-2, 2, N - 2),
        2,
    ),
    "a running sum": (lambda x: np.cumsum(x[:3]), POINTS[:3], band(2, 0, 3, 3), 3),
    "sums of rows": (
        lambda u: np.sum(u**2, axis=1),
        GRID,
        np.kron(np.eye(4), np.ones(5)) > 0,
        5,
    ),
    "an order along an axis": (
        lambda u: np.sort(u, axis=1),
        GRID,
        np.kron(np.eye(4), np.ones((5, 5))) > 0,
        5,
    ),
    "a stack of matrices": (
        lambda u: np.linalg.inv(u.reshape(2, 2, 2)),
        rng.normal(size=8) + 3,
        np.kron(np.eye(2), np.ones((4, 4))) > 0,
        4,
    ),
    "a grid": (laplacian, GRID, neighbours(GRID.shape), None),
    "a loop that data end": (
        until,
        POINTS,
        places([(i, j) for i in range(N - 1) for j in (0, i + 1)], N - 1, N),
        2,
    ),
    "a branch of data": (either, POINTS, band(0, 1, N - 1), 2),
    "a break of data": (unless_large, POINTS, band(1, 0), 2),
    "rows in a list": (
        rows_kept,
        POINTS,
        places(enumerate([6, 7, 4, 5, 2, 3, 0, 1]), N - 1, N),
        1,
    ),
    "a known mask": (chosen, POINTS, np.diag(np.arange(N) % 2 == 0), 1),
    "several results": (
        lambda x: (x[1:] * x[0], x[0] ** 2),
        POINTS,
        places([*((i, j) for i in range(N - 1) for j in (0, i + 1)), (N - 1, 0)], N, N),
        2,
    ),
    "no dependence": (lambda x: np.floor(x) + np.sign(x), POINTS, np.zeros((N, N), bool), 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_pattern_is_exact_and_the_values_are_those_of_the_dense_jacobian(name):
    fn, x, expected, count = PROGRAMS[name]
    made = sparse_jacobian(fn)
    np.testing.assert_array_equal(made.pattern(x).toarray(), expected)
    assert count is None or made.directions(x) <= count
    dense = jacfwd(fn)(x)
    parts = dense if isinstance(dense, tuple) else (dense,)
    whole = np.concatenate([np.reshape(each, (-1, np.size(x))) for each in parts])
    np.testing.assert_allclose(made(x).toarray(), whole, rtol=1e-12, atol=1e-14)


def chain(x):
    return np.sum(np.diff(x) ** 4) + np.sum(np.cos(x))


def arrow(x):
    return x[0] * np.sum(x**2)


def plate(u):
    return np.sum((u[1:] - u[:-1]) ** 4) + np.sum((u[:, 1:] - u[:, :-1]) ** 4) + np.sum(u**3)


def well(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


ENERGIES = [
    (chain, POINTS, band(1, 1), 3),
    (arrow, POINTS, band(0, 0) | (np.arange(N) * np.arange(N)[:, None] == 0), 2),
    (plate, GRID, neighbours(GRID.shape), 6),
    (well, POINTS, band(1, 1), 3),
    (lambda x: np.sum(x**2) ** 2, POINTS, np.ones((N, N), bool), N),
]


@pytest.mark.parametrize("fn, x, expected, count", ENERGIES)
def test_a_hessian_is_computed_by_few_products(fn, x, expected, count):
    made = sparse_hessian(fn)
    np.testing.assert_array_equal(made.pattern(x).toarray(), expected)
    assert made.directions(x) <= count
    whole = hessian(fn)(x).reshape(np.size(x), -1)
    np.testing.assert_allclose(made(x).toarray(), whole, rtol=1e-10, atol=1e-12)


def test_every_element_of_a_symmetric_matrix_is_read_where_it_stands_alone():
    for seed in range(40):
        some = np.random.default_rng(seed)
        matrix = np.triu(some.normal(size=(12, 12)) * (some.random((12, 12)) < 0.2))
        matrix += matrix.T
        rows, columns = np.nonzero(matrix)
        found = of_symmetric(rows, columns, 12)
        sums = np.array([matrix[:, found.colours == c].sum(axis=1) for c in range(found.count)])
        read = sums[found.colour_read, found.row_read]
        np.testing.assert_allclose(read, matrix[rows, columns])


def test_rows_are_computed_together_where_these_are_fewer():
    def sums(x):
        return np.array([np.sum(x**2), np.prod(x)])

    by_rows = sparse_jacobian(sums)
    assert by_rows.directions(POINTS) == 2
    by_columns = sparse_jacobian(sums, by="columns")
    assert by_columns.directions(POINTS) == N
    for made in (by_rows, by_columns):
        np.testing.assert_allclose(made(POINTS).toarray(), jacfwd(sums)(POINTS))


def test_rules_of_the_users_may_depend_on_all_that_they_are_given():
    def slope(y_bar, y, x):
        return np.full(x.shape, np.sum(y_bar))

    summed = custom_rule(lambda x: 2.0 * x, reverse=slope)
    made = sparse_jacobian(lambda x: summed(x[:3]), by="rows")
    np.testing.assert_array_equal(made(POINTS).toarray()[:, :3], np.ones((3, 3)))
    assert made.pattern(POINTS).nnz == 9


def test_arguments_that_decide_the_pattern_are_looked_at_again():
    made = sparse_jacobian(time_steps)
    for steps in (1, 3, 2):
        found = made(POINTS, steps)
        assert found.nnz == np.sum((band(steps, steps) & INNER) | band(0, 0) & ~INNER)
        np.testing.assert_allclose(found.toarray(), jacfwd(time_steps)(POINTS, steps))


def test_arrays_that_decide_the_pattern_are_looked_at_again():
    def product(x, matrix):
        return matrix @ x**2

    made, matrix = sparse_jacobian(product), np.eye(N)
    assert made(POINTS, matrix).nnz == N
    matrix[0, 5] = 3.0
    found = made(POINTS, matrix)
    assert found.nnz == N + 1
    np.testing.assert_allclose(found.toarray(), jacfwd(product)(POINTS, matrix))


FACTORS = np.eye(N)
HELD = scipy.sparse.csr_array(np.eye(N))


def test_captured_arrays_and_matrices_are_looked_at_again(monkeypatch):
    made = sparse_jacobian(lambda x: FACTORS @ x + HELD @ x)
    assert made(POINTS).nnz == N
    monkeypatch.setitem(globals(), "FACTORS", band(1, 0).astype(float))
    np.testing.assert_allclose(made(POINTS).toarray(), band(1, 0) + np.eye(N))
    monkeypatch.setitem(globals(), "HELD", scipy.sparse.csr_array(np.eye(N)[::-1]))
    np.testing.assert_allclose(made(POINTS).toarray(), band(1, 0) + np.eye(N)[::-1])
    HELD.indices[:] = np.arange(N)
    np.testing.assert_allclose(made(POINTS).toarray(), band(1, 0) + np.eye(N))


def test_a_matrix_that_was_handed_out_is_the_callers():
    made = sparse_jacobian(lambda x: np.diff(x) ** 2)
    first = made(POINTS)
    expected = first.toarray()
    first.data[:] = 0
    first.eliminate_zeros()
    np.testing.assert_allclose(made(POINTS).toarray(), expected)


def test_a_pattern_may_be_given():
    def kept(x):
        return x[x > -np.inf] ** 2  # nobody knows how many these are

    with pytest.raises(UnsupportedError, match="decided by the elements") as caught:
        sparse_jacobian(kept)(POINTS)
    assert "pattern=" in str(caught.value)
    for pattern in (np.eye(N, dtype=bool), scipy.sparse.eye_array(N)):
        made = sparse_jacobian(kept, pattern=pattern)
        np.testing.assert_allclose(made(POINTS).toarray(), np.diag(2 * POINTS))
    with pytest.raises(ArgumentValueError, match="the pattern lacks elements"):
        sparse_jacobian(lambda x: x * np.roll(x, 1), pattern=np.eye(N))(POINTS)
    with pytest.raises(ArgumentValueError, match="the pattern lacks elements"):
        sparse_hessian(chain, pattern=np.eye(N))(POINTS)
    with pytest.raises(ArgumentValueError, match="pattern of shape"):
        sparse_jacobian(np.sin, pattern=np.eye(N + 1))(POINTS)


def test_other_dtypes_numbers_and_keywords():
    single = POINTS.astype(np.float32)
    assert sparse_jacobian(np.sin)(single).dtype == np.float32
    assert sparse_jacobian(lambda x: np.array([x, 2 * x]))(1.5).toarray().tolist() == [[1], [2]]
    made = sparse_jacobian(lambda x, k=2.0: k * x, grad_position=0)
    np.testing.assert_allclose(made(POINTS, k=3.0).toarray(), 3.0 * np.eye(N))
    second = sparse_jacobian(lambda a, x: a * x**2, 1)
    np.testing.assert_allclose(second(3.0, POINTS).toarray(), np.diag(6.0 * POINTS))


def test_the_text_can_be_read():
    assert "def" in (text := sparse_jacobian(scalar_loop).source(POINTS))
    assert "seeds" in text
    assert repr(sparse_jacobian(scalar_loop)) == "sparse_jacobian(scalar_loop)"


def no_number(x):
    return "no number"


REFUSED = [
    (lambda: sparse_jacobian(3), ArgumentTypeError),
    (lambda: sparse_jacobian(np.sin, (0, 1)), ArgumentTypeError),
    (lambda: sparse_jacobian(np.sin, -1), ArgumentValueError),
    (lambda: sparse_jacobian(np.sin, by="diagonals"), ArgumentValueError),
    (lambda: sparse_jacobian(np.sin, pattern=np.ones(3)), ArgumentTypeError),
    (lambda: sparse_jacobian(np.sin)(np.arange(3)), ArgumentTypeError),
    (lambda: sparse_jacobian(np.sin)(POINTS + 1j), ArgumentTypeError),
    (lambda: sparse_jacobian(lambda x: 1j * x)(POINTS), ArgumentTypeError),
    (lambda: sparse_jacobian(lambda d: d["a"] ** 2)({"a": POINTS}), UnsupportedError),
    (lambda: sparse_jacobian(no_number)(POINTS), ArgumentTypeError),
    (lambda: sparse_hessian(np.sin)(POINTS), ArgumentTypeError),
    (lambda: sparse_jacobian(lambda x: x[:, None] * np.sum(x) * x)(np.ones(600)), UnsupportedError),
]


@pytest.mark.parametrize("call, error", REFUSED)
def test_what_is_refused(call, error):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, S2SError)
