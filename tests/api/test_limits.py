"""Where a derivative of Python's numbers divides by zero, and the function does not: inf or nan."""

import math

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap

INF, NAN = np.inf, np.nan


def summed_roots(x):
    total = 0.0
    for i in range(1, 4):
        total += (i * x) ** 0.5
    return total


def distance(x, y):
    return (x * x + y * y) ** 0.5


def root_of_a_branch(x):
    return math.sqrt(x) if x < 1 else 1 / x


def updated(x):
    y = math.sqrt(x)
    y /= 2.0
    y **= 3
    return y + x**0.5


def root_in_a_try(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = 2.0
    return y


def caught(x):
    try:
        y = guarded(x)
    except ZeroDivisionError:
        y = 2.0
    return math.sqrt(x) + y * x


def guarded(x):
    if x > 3:
        x = x + 1
    return 1.0 / x


def root_of_changed(x):
    x = [x, 3.0]
    return root_of_first(x)


def root_of_first(xs):
    xs[0] *= 2.0
    return math.sqrt(xs[0])


def checked_root(x):
    if x > 3:
        raise ValueError(x)
    for _ in range(2):
        assert x < 3
    return math.sqrt(x)


#: function, where, its slope there (from its definition), the slope of its slope
SINGULAR = [
    (lambda x: x**0.5, 0.0, INF, -INF),
    (lambda x: pow(x, 0.25), 0.0, INF, -INF),
    (lambda x: x**1.5, 0.0, 0.0, INF),
    (lambda x: math.sqrt(x), 0.0, INF, -INF),
    (lambda x: math.pow(x, 0.5), 0.0, INF, -INF),
    (lambda x: math.cbrt(x), 0.0, INF, NAN),
    (lambda x: math.hypot(x, x), 0.0, NAN, NAN),
    (lambda x: 3.0 - 2.0 * x**0.5, 0.0, -INF, INF),
    (root_of_a_branch, 0.0, INF, -INF),
    (updated, 0.0, NAN, None),  # the slope of the cube is 0, that of the root infinite
    (summed_roots, 0.0, INF, -INF),
    (root_in_a_try, 0.0, INF, -INF),
    (caught, 0.0, INF, -INF),
    (checked_root, 0.0, INF, -INF),
    (root_of_changed, 0.0, INF, -INF),
    (lambda x: 1e-200 / x, 1e-160, -INF, None),  # 1 / x**2 overflows
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, x, slope, curvature", SINGULAR)
def test_slope_where_it_has_no_number(function, x, slope, curvature):
    derived = grad(function)
    if x == 1e-160:  # NumPy's numbers divide twice, and get the slope itself, which is -1e120
        np.testing.assert_allclose(derived(x), -1e-200 / 1e-160 / 1e-160, rtol=1e-12)
        return
    for _ in range(4):  # the first calls, and then the generated comparison with a hot one
        np.testing.assert_equal(float(derived(x)), slope)
    value, found = value_and_grad(function)(x)
    assert (value, repr(float(found))) == (function(x), repr(slope))
    _, found = jvp(function, (x,), (1.0,))
    np.testing.assert_equal(float(found), slope)
    if curvature is not None:
        np.testing.assert_equal(float(grad(derived)(x)), curvature)
    assert math.isfinite(derived(0.25))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_by_keyword_and_of_several_arguments():
    derived = grad(distance, (0, 1))
    for _ in range(3):
        np.testing.assert_equal([float(each) for each in derived(0.0, y=0.0)], [NAN, NAN])
    np.testing.assert_allclose(derived(3.0, y=4.0), (0.6, 0.8))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_number_that_is_the_same_for_all_samples():
    def scaled(x, y):
        return np.sum(x["w"]) * math.sqrt(y)

    given = {"w": np.ones((3, 2))}, 0.0
    for _ in range(3):
        found = vmap(grad(scaled, 1), ({"w": 1}, None))(*given)
        np.testing.assert_array_equal(found, [INF, INF])
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x, y: x + 1.0 / y, (0, None))(np.ones(2), 0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_an_argument_that_is_changed_in_place():
    given, array = [0.0, 1.0], {"w": np.array(0.0)}

    def root_of_doubled(held):
        held["w"] *= 2.0
        return math.sqrt(held["w"])

    for _ in range(3):
        np.testing.assert_equal(float(grad(root_of_first)(given)[0]), INF)
        np.testing.assert_equal(float(grad(root_of_doubled)(array)["w"]), INF)
    assert given == [0.0, 1.0]
    assert array == {"w": 0.0}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_slope_that_is_no_number_is_as_weak_as_a_number():
    def lifted(x, y):
        return x * math.sqrt(y)

    x, y = np.float32(2.0), 0.0
    _, change = jvp(lifted, (x, y), (x, 1.0))
    assert (change, change.dtype) == (INF, np.float32)


def test_numpy_warns():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        grad(lambda x: x**0.5)(0.0)


@pytest.mark.filterwarnings("error")
def test_compiling_warns_of_nothing_that_the_function_does_not_do():
    x = np.array([[1.0, 2.0], [4.0, 7.0], [1.0, 5.0]])
    made = grad(lambda x: x.sum(axis=0).var(ddof=1))(x)
    np.testing.assert_allclose(made, 2 * np.array([[-4.0, 4.0]] * 3))


RAISING = [
    (lambda x: x / (x - 1.0), 1.0, ZeroDivisionError),
    (lambda x: x**-0.5, 0.0, ZeroDivisionError),
    (lambda x: math.exp(x), 1000.0, OverflowError),
    (lambda x: math.sqrt(x), -1.0, ValueError),
]


@pytest.mark.parametrize("function, x, error", RAISING)
def test_what_the_function_raises_is_raised(function, x, error):
    for derived in (jit(function), grad(function), grad(grad(function))):
        for _ in range(4):
            with pytest.raises(error):
                derived(x)
    with pytest.raises(error):
        jvp(function, (x,), (1.0,))


def test_what_was_printed_is_not_printed_again(capsys):
    def told(x):
        print("once")
        return x**0.5

    with pytest.raises(ZeroDivisionError):
        grad(told)(0.0)
    assert capsys.readouterr().out == "once\n"


def test_a_batch_is_of_numpy_numbers():
    with np.errstate(divide="ignore"):
        found = vmap(grad(lambda x: x**0.5))(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(found, [INF, 0.25])
