"""A local that the path which was taken has not assigned: what Python raises, all code raises."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap
from s2s_ad.diagnostics import UnsupportedError


def on_one_side(x):
    if x > 0:
        y = x * 2
    return y


def on_two_of_three(x):
    if x > 3:
        y = x
    elif x > 1:
        y = x * x
    return y * x


def read_where_it_was_assigned(x):
    if x > 0:
        y = x * 2
    z = x
    if x > 0:
        z = z + y * y
    return z


def read_on_the_other_side(x):
    if x > 0:
        y = x * x
    z = y if x < 5 else 0.0
    return z * x


def in_a_helper(x):
    return _helper(x) * x


def _helper(x):
    t = x * 3
    if t > 1:
        found = t * t
    return found


def deleted_on_one_side(x):
    y = x * x
    if x < 0:
        del y
    return y + x


def updated(x):
    if x > 0:
        y = x * x
    y += x
    return y


def in_a_try_of_a_loop(x):
    for i in range(3):
        try:
            if x < i + 1:
                raise ValueError
            y = x * x
        except ValueError:
            pass
    return y


def in_a_branch_of_a_loop(x):
    for i in range(3):
        if x > i + 1:
            y = x * x * (i + 1)
    return y


def left_and_read_in_a_loop(x):
    s = 0.0
    for i in range(3):
        if i > 0 and x > 5:
            s = s + y  # noqa: F821
        if x > i + 1:
            y = x * x
    return s + y


def parts_left_and_read_in_a_loop(x):
    s, i = 0.0, 0
    while i < 3:
        i += 1
        if x < i:
            continue
        if i > 1:
            s = s + y[0] * y[1]  # noqa: F821
        if x > i + 1:
            y = (x, x * i)
    return s * y[0]


def read_by_the_first_pass(x):
    s = 0.0
    for i in range(3):
        if x > i:
            s = s + y  # noqa: F821
        y = x * (i + 1)  # noqa: F841
    return s


def read_by_later_passes(x):
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + y  # noqa: F821
        y = x * x * (i + 1)  # noqa: F841
    return s


def last_of_a_while(x):
    while x < 3:
        y = [x * x, x]
        x = x + 1.1
    return y[0] * y[1]


def none_in_a_while(x):
    while x < 3:
        y = None
        x = x * x + 0.7
    return x if y is None else 2 * x


def caught_after_a_while(x):
    try:
        while x < 3:
            y = x * x
            x = x + 1.1
        return y
    except UnboundLocalError:
        return 7 * x


def counted_by_data(x):
    for i in range(int(x + 0.25)):
        y = x * np.array([i + 1.0, 2.0])
    return np.sum(y * y)


def those_that_are_large(x):
    for each in [v for v in [x, 2 * x, 3 * x] if v > 4]:
        y = each * x
    return y


def assigned_by_the_second_loop(x):
    while x < 3:
        y = x * x
        x = x + 1.1
    while x < 11.3:
        y = x * x
        x = x + 2
    return y


def left_unread_by_an_error(x):
    """What follows a certain error reads nothing: the handler runs."""
    for _ in range(2):
        try:
            y = np.ones(2) * x + np.ones(3)
            x = x * np.sum(y)
        except IndexError:
            x = 2 * x
        except ValueError:
            x = x * x
    return x


def assigned_on_no_path_before(x):
    for _ in range(3):
        if x > 5:
            x = x + y  # noqa: F821
            y = x  # noqa: F841
        x = x * 1.1
    return x


PROGRAMS = [
    left_unread_by_an_error,
    assigned_on_no_path_before,
    last_of_a_while,
    none_in_a_while,
    caught_after_a_while,
    counted_by_data,
    those_that_are_large,
    assigned_by_the_second_loop,
    on_one_side,
    on_two_of_three,
    read_where_it_was_assigned,
    read_on_the_other_side,
    in_a_helper,
    deleted_on_one_side,
    updated,
    in_a_try_of_a_loop,
    in_a_branch_of_a_loop,
    left_and_read_in_a_loop,
    read_by_the_first_pass,
    read_by_later_passes,
    parts_left_and_read_in_a_loop,
]
POINTS = [-1.3, 0.2, 1.7, 4.0, 6.5]


def outcome(function, *args):
    """The value, or the class of the exception."""
    try:
        return function(*args)
    except UnboundLocalError:
        return UnboundLocalError


@pytest.mark.thinned(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_all_code_raises_what_python_raises(program):
    modes = {
        "jit": jit(program),
        "grad": grad(program),
        "value_and_grad": value_and_grad(program),
        "jvp": lambda x: jvp(program, x, 1.0)[1],
        "vmap(grad)": lambda x: vmap(grad(program))(np.array([x, x]))[0],
    }
    for x in POINTS:
        expected = outcome(program, x)
        if expected is UnboundLocalError:
            raised = [mode for mode, run in modes.items() if outcome(run, x) is UnboundLocalError]
            assert raised == list(modes)
            continue
        slope = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
        for mode, run in modes.items():
            found = run(x)
            found = found[1] if mode == "value_and_grad" else found
            wanted = expected if mode == "jit" else slope
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8, err_msg=mode)


def test_no_flag_tells_what_the_first_pass_is_certain_to_assign():
    assert "missing" not in grad(read_by_later_passes).source(1.5)


def by_newton(x):
    error = 1.0
    while error > 1e-6:
        new = 0.5 * (x + 2 / x)
        error = abs(new - x)
        x = new
    return new


def test_no_flag_tells_of_a_loop_that_is_certain_to_have_a_pass():
    assert "missing" not in grad(by_newton).source(1.5)


def last_item(x, v):
    for each in v:
        y = each * x
    return y * x


def last_of_every_second(x, v):
    for i in range(0, len(v), 2):
        y = [v[i] * x, x]
    return y[0] * y[1]


def first_of_all_but_one(x, v):
    for i in range(len(v) - 1, 0, -1):
        y = v[i] * np.array([x, 2.0])
    return np.sum(y * y)


def last_index(x, v):
    for k, _ in enumerate(v):
        x = x * x
    return x * k


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(
    "function", [last_item, last_of_every_second, first_of_all_but_one, last_index]
)
def test_what_only_passes_assign_is_not_there_without_one(function, count):
    """A call with a pass and one without are compiled apart: nothing in the text asks."""
    v = np.array([1.5, 0.5, 2.0])
    derivative = grad(function)
    assert np.isfinite(derivative(1.25, v))
    part = v[:count]
    if outcome(function, 1.25, part) is UnboundLocalError:
        for mode in (derivative, jit(function), value_and_grad(function)):
            with pytest.raises((UnboundLocalError, UnsupportedError), match=r"'[yk]'"):
                mode(1.25, part)
        with pytest.raises((UnboundLocalError, UnsupportedError), match=r"'[yk]'"):
            vmap(derivative, in_axes=(0, None))(np.array([1.25]), part)
        return
    slope = (function(1.25 + 1e-6, part) - function(1.25 - 1e-6, part)) / 2e-6
    assert derivative(1.25, part) == pytest.approx(slope, rel=1e-6)


def assigned_again_after_a_loop(x, v):
    for each in v:
        y = None
        x = x * each
    y = None
    return x if y is None else 2 * x


def test_what_is_assigned_again_after_a_loop_is_there_without_a_pass():
    assert grad(assigned_again_after_a_loop)(1.25, np.array([])) == 1.0
    assert grad(assigned_again_after_a_loop)(1.25, np.array([1.5, 2.0])) == 3.0


def deleted_again_in_a_loop(x, k):
    y = x
    for _ in range(3):
        try:
            del x
        except NameError:
            y = y * y
    return y * k


def read_after_it_was_deleted(x, k):
    y = x * k
    for _ in range(3):
        try:
            y = y * x
            del x
        except UnboundLocalError:
            x = y + 1  # noqa: F841
    return y


def deleted_again_where_it_was(x, k):
    y = x * k
    if k > 1:
        del x
    try:
        del x
    except NameError:
        y = y * y
    return y


@pytest.mark.parametrize("k", [0.5, 2.0])
@pytest.mark.parametrize(
    "function", [deleted_again_in_a_loop, read_after_it_was_deleted, deleted_again_where_it_was]
)
def test_what_is_deleted_is_not_there(function, k):
    """A pass that deleted a local left it to the next one, and to be deleted twice was no error."""
    x, h = 1.25, 1e-6
    assert jit(function)(x, k) == function(x, k)
    slope = (function(x + h, k) - function(x - h, k)) / (2 * h)
    assert grad(function)(x, k) == pytest.approx(slope, rel=1e-8)
    assert jvp(lambda x: function(x, k), x, 1.0)[1] == pytest.approx(slope, rel=1e-8)
