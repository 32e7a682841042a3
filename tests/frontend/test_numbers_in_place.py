"""`y = x; y += 1`: a number is bound anew, an array without axes is changed for all who hold it."""

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jit, value_and_grad, vmap

NUMBERS = [2.5, np.float64(2.5), np.array(2.5), np.float32(2.5), np.array(2.5, np.float32)]
STEP = 1e-6


def alias(x):
    y = x
    y += 1
    return x * y


def in_a_dict(x):
    held = {"a": x}
    held["a"] *= 3
    return x * held["a"]


def add_one(a):
    a += 1
    return a


def by_a_helper(x):
    return add_one(x) * x


def by_a_longer_helper(x):
    def shifted(a, by):
        b = a
        b *= by
        return np.sin(b) + by

    return shifted(x, 2.0) * x + shifted(x, 3.0)


def as_array(x):
    y = z = np.asarray(x)
    z *= 2
    return y * z


def as_view(x):
    y = np.asarray(x)[...]
    y += 1
    return x * y


def squeezed(x):
    y = np.squeeze(x)
    y += 1
    return x * y


def transposed(x):
    y = np.transpose(x)
    y += 1
    return x * y


def reshaped(x):
    y = np.reshape(x, ())
    y += 1
    return x * y


def element(x):
    values = np.array([x, x])
    y = values[0]
    y += 1
    return y * values[0]


def view_of_an_element(x):
    values = np.array([x, x])
    y = values[0, ...]
    y += 1
    return y * values[0]


def sums(x):
    total = np.sum(x * np.ones(3))
    y = total
    y += 1
    return total * y


def of_a_type(x):
    y = z = np.float64(x)
    z += 1
    return y * z


def on_one_path(x):
    y = x if x > 0 else np.float64(1.0)
    z = y
    z += 1
    return y * z


def in_a_loop(x):
    y = x
    for i in range(3):
        y *= 1.5
        y += i
    return x * y


def viewed_in_a_try(x):
    held = np.array(x)
    try:
        y = held[...]
        y += y >= 0.7
    except TypeError:
        return x
    return held * x


PROGRAMS = [alias, in_a_dict, by_a_helper, by_a_longer_helper, as_array, as_view, squeezed]
PROGRAMS += [transposed, reshaped, element, view_of_an_element, sums, of_a_type, on_one_path]
PROGRAMS += [in_a_loop, viewed_in_a_try]


def fresh(x, value):
    """The same kind of number or array with another value."""
    return np.array(value, x.dtype) if isinstance(x, np.ndarray) else type(x)(value)


@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: f"{type(x).__name__}-{np.result_type(x)}")
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python_does_it(function, x):
    tolerance = 1e-6 if np.result_type(x) == np.float32 else 1e-12
    expected = function(fresh(x, 2.5))
    np.testing.assert_allclose(jit(function)(x), expected, rtol=tolerance)
    # the kind of number decides what the function is: the slope is taken at float64 of that kind
    wide = np.array(2.5) if isinstance(x, np.ndarray) else 2.5
    ends = [function(fresh(wide, 2.5 + step)) for step in (STEP, -STEP)]
    slope = (ends[0] - ends[1]) / (2 * STEP)
    np.testing.assert_allclose(grad(function)(x), slope, rtol=1e-6 if tolerance < 1e-6 else 1e-5)
    assert x == 2.5


def changed(x):
    x += 0.5
    return x


def filled(x):
    y = np.zeros(())
    y += x
    return y


def changed_in_a_loop(x):
    y = np.array(x)
    for _ in range(2):
        y *= x
    return [y, y + 1, x]


def changed_on_one_path(x):
    if x > 1:
        x *= 2
    return {"x": x}


def of_a_number(x):
    return np.asarray(x * 2), np.array(x * 2), (x * 2, np.stack([x, x])[0, ...])


def kinds(value):
    """Which of the parts of a result are arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [kinds(each) for each in value]
    return isinstance(value, np.ndarray)


ENDS = [changed, filled, changed_in_a_loop, changed_on_one_path, of_a_number]


@pytest.mark.parametrize("x", [np.array(2.5), np.float64(2.5)], ids=["array", "number"])
@pytest.mark.parametrize("function", ENDS, ids=lambda f: f.__name__)
def test_an_array_without_axes_is_returned_as_one(function, x):
    found = jit(function)(x)
    assert kinds(found) == kinds(function(fresh(x, 2.5)))
    _, slope = value_and_grad(lambda x: np.sum(first(function(x))))(x)
    ends = [first(function(fresh(x, 2.5 + step))) for step in (STEP, -STEP)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * STEP), rtol=1e-6)


def first(value):
    while isinstance(value, dict | list | tuple):
        value = value["x"] if isinstance(value, dict) else value[0]
    return value


def test_one_function_follows_the_kind_of_its_argument():
    derived = grad(alias)
    found = [float(derived(x)) for x in (2.0, np.array(2.0), np.float64(2.0), np.array(2.0))]
    assert found == [5.0, 6.0, 5.0, 6.0]  # of x * (x + 1), and of (x + 1)**2


def test_a_sample_of_a_vector_is_a_number():
    x = np.array([1.0, 2.0, -3.0])
    np.testing.assert_allclose(vmap(alias)(x), [alias(each) for each in x])
    np.testing.assert_allclose(vmap(grad(alias))(x), 2 * x + 1)


def test_an_array_of_one_element_is_viewed_whatever_its_memory():
    def f(x):
        y = x.reshape(())
        y += 1
        return x[0] * y

    np.testing.assert_allclose(grad(f)(np.array([3.0])), [2 * (3.0 + 1)])


@pytest.mark.parametrize("function", [alias, in_a_dict, by_a_helper])
def test_text_for_all_arguments_does_not_guess(function):
    with pytest.raises(S2SError, match=r"a value that, if it is an array, was changed at line \d+"):
        grad(function).source()


@pytest.mark.parametrize("x", [np.array(2.0), np.array([2.0])], ids=["no axes", "one axis"])
@pytest.mark.parametrize("transformed", [jit, grad], ids=["jit", "grad"])
def test_an_array_without_axes_that_was_passed_stays_as_it_was(transformed, x):
    def bound_anew(x):
        x = np.squeeze(x)
        x = x + 1
        x = np.sin(x)
        return x * 2

    transformed(bound_anew)(x)
    assert x == 2.0
