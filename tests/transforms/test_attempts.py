"""What raises in a `try` decides on the path taken, also where nobody reads its result."""

import math

import numpy as np
import pytest
from scipy import linalg

from s2s_ad import checkpoint, grad, jvp, vmap
from transforms import attempts_in_parts
from transforms.modes_of_programs import assert_every_mode, check, differences

pytestmark = pytest.mark.thinned(2)

ONE, NONE = np.eye(2), -np.eye(2)


def result_not_read(x, A):
    try:
        np.linalg.cholesky(A)
        y = 3.0 * x
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y


def element_not_read(x, A):
    try:
        A[int(3 * A[0, 0]) - 2]
        y = 3.0 * x
    except IndexError:
        y = 2.0 * x
    return y


def division_of_numbers_not_read(x, A):
    n = float(A[0, 0]) + 1.0
    try:
        1.0 / n
        y = 3.0 * x
    except ZeroDivisionError:
        y = 2.0 * x
    return y


def shapes_that_do_not_fit(x, A):
    n = int(A[0, 0]) + 1
    try:
        np.ones(n) + np.ones(2)
        y = 3.0 * x
    except ValueError:
        y = 2.0 * x
    return y


def positive(A):
    np.linalg.cholesky(A)
    B = 2.0 * A
    return B


def checked_by_a_helper(x, A):
    try:
        positive(A)
        y = 3.0 * x
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y


def used_inside_and_outside(x, A):
    B = positive(np.eye(2) * x * x)
    try:
        positive(A)
        y = 3.0 * x
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y + B[0, 0]


def in_a_loop(x, A):
    s = 0.0
    for i in range(3):
        try:
            np.linalg.cholesky(A + i * np.eye(2))
            y = 3.0 * x
        except np.linalg.LinAlgError:
            y = 2.0 * x
        s = s + y * i
    return s


def loop_inside(x, A):
    try:
        for i in range(2):
            np.linalg.cholesky(A - 0.5 * i * np.eye(2))
        y = 3.0 * x
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y


def branch_inside(x, A):
    try:
        if A[0, 0] < 0:
            np.linalg.cholesky(A)
        y = 3.0 * x
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y


def one_in_another(x, A):
    try:
        try:
            np.linalg.cholesky(A)
        except ValueError:
            pass
        y = 3.0 * x
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y


def factor_not_read(x, A):
    try:
        L = np.linalg.cholesky(A * x * x)
        k = L[0, 0] * 0 + 3.0
        k = 3.0
    except np.linalg.LinAlgError:
        k = 2.0
    return k * x


def one_of_two_results(x, A):
    try:
        y = 3.0 * np.sum(np.linalg.eigh(A * x + np.diag([0.0, 1.0]))[0] ** 2)
    except np.linalg.LinAlgError:
        y = 2.0 * x
    return y


PROGRAMS = (
    *(result_not_read, element_not_read, division_of_numbers_not_read, shapes_that_do_not_fit),
    *(checked_by_a_helper, used_inside_and_outside, in_a_loop, loop_inside, branch_inside),
    *(one_in_another, factor_not_read, one_of_two_results),
)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("A", [ONE, NONE], ids=["comes to its end", "raises"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_what_may_raise_stays_in_every_mode(function, A):
    assert_every_mode(function, 1.5, A)


TAKEN = {
    "solve": lambda A, b: np.linalg.solve(A, b),
    "inv": lambda A, b: np.linalg.inv(A),
    "matrix_power": lambda A, b: np.linalg.matrix_power(A, 3),
    "tensorinv": lambda A, b: np.linalg.tensorinv(A, ind=1),
    "tensorsolve": lambda A, b: np.linalg.tensorsolve(A, b),
    "scipy.linalg.inv": lambda A, b: linalg.inv(A),
    "eigvalsh": lambda A, b: linalg.eigvalsh(A),
    "scipy.linalg.solve": lambda A, b: linalg.solve(A, b),
    "solve_triangular": lambda A, b: linalg.solve_triangular(A, b),
}


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 3)])
@pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN)
def test_a_matrix_that_is_not_square_leads_to_the_handler_of_python(take, shape):
    def f(A, b):
        try:
            y = 3.0 * np.sum(A) + 0.0 * np.sum(take(A, b))
        except np.linalg.LinAlgError:
            y = 5.0 * np.sum(A)
        except ValueError:
            y = 7.0 * np.sum(A)
        return y

    for count in (2, 3):
        A, b = np.eye(*shape), np.ones(count)
        slope = f(A, b) / np.sum(A)
        np.testing.assert_allclose(grad(f)(A, b), np.full(shape, slope))


def divided_by_zero(x, A):
    """A number of Python's, or one of NumPy's that raises nothing."""
    try:
        np.linalg.cholesky(A * np.abs(x))
        scale = 1.5
    except np.linalg.LinAlgError:
        scale = np.fmax(0.25, x)
    try:
        y = 3.0 * x if scale / 0 else x
    except ZeroDivisionError:
        y = 2.0 * x
    return y


@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_what_raises_as_a_number_of_python_does_so_in_a_batch():
    x = np.array([1.5, 0.5, 2.5])
    A = np.stack([ONE, NONE, ONE])
    with np.errstate(divide="ignore"):
        expected = [divided_by_zero(*each) for each in zip(x.tolist(), A, strict=True)]
        assert expected == [3.0, 1.5, 5.0]
        np.testing.assert_array_equal(vmap(divided_by_zero)(x, A), expected)
        np.testing.assert_array_equal(vmap(grad(divided_by_zero))(x, A), [2.0, 3.0, 2.0])


def by_recursion(x, n):
    if n <= 0:
        return x
    try:
        if x > 2.0:
            raise ValueError("large")
        y = x * x
    except ValueError:
        y = 3.0 * x
    return by_recursion(y, n - 1)


@checkpoint
def computed_again(x):
    try:
        if x > 2.0:
            raise ValueError("large")
        y = np.sin(x) * x
    except ValueError:
        y = np.cos(x)
    return y * y


@pytest.mark.parametrize("x", [1.2, 2.5])
@pytest.mark.parametrize("function", [lambda x: by_recursion(x, 3), computed_again])
def test_what_was_raised_is_raised_again_where_values_are_computed_again(function, x):
    check(grad(function)(x), differences(function, x), 1e-5)


def test_what_nobody_reads_is_a_statement_of_its_own():
    text = grad(result_not_read).source(1.5, ONE)
    assert "        np.linalg.cholesky(A)" in text
    assert "3.0 * x" not in text


@pytest.mark.thinned(44)
@pytest.mark.parametrize("scale", [-1.0, 0.4, 1.0, 9.0])
@pytest.mark.parametrize("function", attempts_in_parts.PROGRAMS)
def test_what_was_done_before_the_failure_holds_after_it(function, scale):
    assert_every_mode(function, 1.5, scale * np.eye(2))


def attempt_in_attempt(x):
    """The inner tangents are a value of the outer `try` and read again behind it."""
    try:
        try:
            k = x
            a = math.log(np.median(x))
        except ValueError:
            a = x
    finally:
        k = k * 1.0
    return k + a**2


def attempt_in_attempt_of_two(x):
    try:
        try:
            a = math.log(x)
            b = math.sqrt(x - 1.0)
        except ValueError:
            a, b = x * x, 2.0 * x
        c = math.sqrt(a * b)
    except ValueError:
        a, b, c = 0.5 * x, x**3, x
    return a * b + c**2


@pytest.mark.thinned(4)
@pytest.mark.parametrize("x", [1.466, 2.5, 0.3, -1.2])
@pytest.mark.parametrize("f", [attempt_in_attempt, attempt_in_attempt_of_two])
def test_tangents_of_tangents_behind_what_is_tried_in_what_is_tried(f, x):
    h = 1e-4
    first = (f(x + h) - f(x - h)) / (2 * h)
    second = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
    np.testing.assert_allclose(grad(f)(x), first, rtol=1e-6)
    np.testing.assert_allclose(jvp(grad(f), (x,), (1.0,))[1], second, rtol=1e-5)
    np.testing.assert_allclose(grad(grad(f))(x), second, rtol=1e-5)
    np.testing.assert_allclose(
        jvp(lambda y: jvp(f, (y,), (1.0,))[1], (x,), (1.0,))[1], second, rtol=1e-5
    )
