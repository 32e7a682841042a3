"""Where the nearest ancestor gives wrong numbers in silence: here each is right, or refused.

Each program is checked against central differences of itself. Two are refused, at a line: what one
of them reads may or may not be the memory that changed, and Python itself refuses the other.
"""

import numpy as np
import pytest

from s2s_ad import S2SError, grad, jvp
from wrong import module_a, module_b

X = np.array([0.4, 1.3, -0.7])
M = np.array([[0.4, 1.3, 0.7], [2.0, 0.5, 1.1]])
S = np.float64(1.7)


def store(x, v):
    y = np.zeros(3)
    y[0] += v
    return y * x


def store_into_copy(x):
    y = x.copy()
    y[0] = 2.0 * y[1]
    return y * y


def alias(x):
    y = x
    x[0] = 5.0
    return y * x


def alias_of_a_local(x):
    y = x * 1.0
    z = y
    y[0] = 5.0
    return z * y


def view(z):
    y = z[1:]
    y[0] = 3.0
    return z * z


def augmented_alias(x):
    a = x * 2.0
    b = a
    a += 1.0
    return a * b


def augmented_view(x):
    a = x * 2.0
    b = a[1:]
    a += 1.0
    return np.sum(a) * b


def augmented_whole_view(x):
    a = x * 2.0
    b = a[:]
    a *= 3.0
    return a * b


def augmented_transpose(m):
    a = m * 2.0
    b = a.T.T
    a *= 3.0
    return a * b


def augmented_through_a_view(x):
    a = x * 2.0
    b = a[:2]
    b += 1.0
    return np.sum(a) * b


def augmented_input(x):
    x += 1.0
    return x * x


def augmented_in_a_list(x):
    a = x * 2.0
    items = [a]
    a += 1.0
    return a * items[0]


def augmented_in_a_closure(x):
    a = x * 2.0
    f = lambda: a
    a += 1.0
    return a * f()


def kept_by_a_factory(a):
    return lambda: a


def augmented_in_a_factory(x):
    a = x * 2.0
    f = kept_by_a_factory(a)
    a += 1.0
    return a * f()


def augmented_as_a_default(x):
    a = x * 2.0
    f = lambda v=a: v
    a += 1.0
    return a * f()


def augmented_as_a_method(x):
    a = x * 2.0
    f = a.sum
    a += 1.0
    return a * f()


def identity(a):
    return a


def augmented_through_a_call(x):
    a = x * 2.0
    b = identity(a)
    b += 1.0
    return a * b


def augmented_row(m):
    a = m * 2.0
    first, _ = a
    a += 1.0
    return a * first


def augmented_asarray(x):
    a = x * 2.0
    b = np.asarray(a)
    a += 1.0
    return a * b


def augmented_or(x):
    a = x * 2.0
    b = a[:1] or a[:1]
    b += 1.0
    return np.sum(a) * b


def mutating_helper(a):
    a[0] = 0.0


def calls_mutating_helper(x):
    y = x * 2.0
    mutating_helper(y)
    return y * x


def augmenting_helper(a):
    a *= 2.0
    return a


def calls_augmenting_helper(x):
    y = x * 2.0
    z = augmenting_helper(y)
    return y * z


def sorting_in_place(x):
    y = x * 2.0
    y.sort()
    return y * x


def filling_in_place(x):
    y = x * 2.0
    np.copyto(y, 1.0)
    return y * x


def out_argument(x):
    y = x * 2.0
    np.multiply(x, x, out=y)
    return y * x


def appending(x):
    items = [x]
    items.append(x * x)
    return items[0] * items[-1]


def updating_a_dict(x):
    entries = {"a": x}
    entries["a"] = x * x
    return entries["a"]


def in_a_with_block(x):
    y = x
    with np.errstate(all="ignore"):
        y = y * x
    return y * x


def loop_variable_rebound(x):
    y = x
    for i in range(3):
        i = i * 2
        y = y * x + i
    return y


def array_by_scalar(x, c):
    return x / c + c / x + np.multiply(x, c) + x**2 * c


def array_to_scalar_power(x, c):
    return np.abs(x) ** c


def scalar_to_array_power(c, x):
    return c**x


def broadcast_column(c, x):
    return c[:, None] / x + np.multiply(x, c[:, None]) ** 2


def repeated_gather(x):
    return x[np.array([0, 0, 2, 0])] ** 2


def power_keyword(x, base=2.0, exponent=2):
    return base * x**exponent


def keyword_to_a_user_call(x):
    return power_keyword(x, exponent=3, base=x)


def helpers_of_one_name(x):
    return module_a.helper(x) + module_b.helper(x)


def globals_of_one_name(x):
    return module_a.scaled(x) * module_b.scaled(x)


def read_before_assignment(x):
    y = rate * x  # noqa: F823
    rate = 2.0
    return y * rate


rate = 3.0

PROGRAMS = {
    alias: (X,),
    alias_of_a_local: (X,),
    appending: (X,),
    array_by_scalar: (X, S),
    augmented_alias: (X,),
    augmented_as_a_default: (X,),
    augmented_as_a_method: (X,),
    augmented_asarray: (X,),
    augmented_in_a_closure: (X,),
    augmented_in_a_factory: (X,),
    augmented_in_a_list: (X,),
    augmented_input: (X,),
    augmented_or: (X,),
    augmented_row: (M,),
    augmented_through_a_call: (X,),
    augmented_through_a_view: (X,),
    augmented_transpose: (M,),
    augmented_view: (X,),
    augmented_whole_view: (X,),
    array_to_scalar_power: (X, S),
    broadcast_column: (M[:, 0], M),
    calls_augmenting_helper: (X,),
    calls_mutating_helper: (X,),
    filling_in_place: (X,),
    globals_of_one_name: (np.abs(X),),
    helpers_of_one_name: (np.abs(X),),
    in_a_with_block: (X,),
    keyword_to_a_user_call: (X,),
    loop_variable_rebound: (X,),
    out_argument: (X,),
    read_before_assignment: (X,),
    repeated_gather: (X,),
    scalar_to_array_power: (S, X),
    sorting_in_place: (X,),
    store: (X, S),
    store_into_copy: (X,),
    updating_a_dict: (X,),
    view: (X,),
}

REFUSED = {  # the code of the error, and the expression that it points at
    read_before_assignment: ("S2S202", "rate * x"),
}


def total(function, args):
    """The sum of the outputs for copies of the arguments, so that no run changes the next."""
    return np.sum(function(*(np.array(each) for each in args)))


def central_differences(function, args, position, step=1e-6):
    moved = [np.array(each) for each in args]
    result = np.zeros_like(moved[position])
    for index in np.ndindex(result.shape):
        ends = []
        for h in (step, -step):
            moved[position] = np.array(args[position])
            moved[position][index] += h
            ends.append(total(function, moved))
        result[index] = (ends[0] - ends[1]) / (2 * step)
    return result


CASES = [
    (function, position)
    for function, args in PROGRAMS.items()
    for position in range(len(args))
    if function not in REFUSED
]


@pytest.mark.parametrize(
    "function, position", CASES, ids=lambda each: getattr(each, "__name__", each)
)
def test_right(function, position):
    args = PROGRAMS[function]
    before = [np.array(each) for each in args]
    gradient = grad(function, position)(*args)
    expected = central_differences(function, before, position)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    for one, other in zip(args, before, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", REFUSED)
def test_refused(function):
    args = PROGRAMS[function]
    before = [np.array(each) for each in args]
    with pytest.raises(S2SError) as caught:
        grad(function)(*args)
    code, expression = REFUSED[function]
    origin = caught.value.origin
    assert caught.value.code == code
    assert origin.text[origin.column :].startswith(expression)
    for one, other in zip(args, before, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", [array_to_scalar_power, scalar_to_array_power])
@pytest.mark.parametrize("position", [0, 1])
def test_powers_in_forward_mode_with_respect_to_base_and_exponent(function, position):
    args = PROGRAMS[function]
    directions = [np.zeros_like(np.asarray(each)) for each in args]
    directions[position] = np.ones_like(directions[position])
    _, tangent = jvp(function, args, tuple(directions))
    expected = np.sum(central_differences(function, args, position))
    np.testing.assert_allclose(np.sum(tangent), expected, rtol=1e-5)


@pytest.mark.parametrize("value", [np.array([1, 2, 3]), np.array([True, False]), 3, True, "text"])
def test_what_is_not_floating_point_is_not_differentiated(value):
    with pytest.raises(S2SError, match="x"):
        grad(lambda x: x * 2.0)(value)
