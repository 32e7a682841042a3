"""Where copies are put: for each program the copies that an expert would write, and no more."""

from __future__ import annotations

import copy
from collections import Counter

import numpy as np
import pytest

from emit.in_place import InPlace
from programs.interpreter import interpret
from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.program import Hint
from s2s_ad.core.regions import Loop, region_of
from s2s_ad.emit.stores import plan_stores
from s2s_ad.simplify.finish import own_outputs
from transforms.regions_core import (
    INTEGER,
    SCALAR,
    append,
    attempt,
    branch,
    loop,
    pop,
    program,
    set_at,
    vector,
)

MATRIX = values.Array(np.dtype(float), (4, 4))
FOUR = values.Array(np.dtype(float), (4,))
LIST = values.List(FOUR)
V = np.array([0.3, -0.8, 1.7, 0.4])
W = np.array([1.1, 0.2, -0.6, 0.9])
M = np.arange(16.0).reshape(4, 4) / 10

CASES = {}


def case(facts, arguments, copies="", stores=""):
    """Enter the writer of a program.

    `copies` are those expected: for each its depth of loops and what it is of ("0 array").
    `stores` are the kinds of stores that there are; of a kind that is not named there are none.
    """

    def enter(write):
        name = write.__name__
        CASES[name] = (facts, write, arguments, Counter(copies.split(", ")), stores.split())
        return write

    return enter


def add_at(b, array, index, value):
    return b.call(runtime.index_add, (array, index, value), {})


def list_of(b, *items):
    return b.call(runtime.list_of, items, {})


def copies_in(block, depth=0):
    """The copies in a block: how many loops they stand in, and what of."""
    found = []
    for statement in block.body:
        region = region_of(statement)
        for each in () if region is None else region.blocks:
            found += copies_in(each, depth + isinstance(region, Loop))
        fact = block.facts[statement.target]
        is_slice = hasattr(statement.parameters.get("index"), "lower")
        of_list = isinstance(fact, values.List) and is_slice
        if of_list or statement.function is np.copy:
            found.append(f"{depth} {'list' if of_list else 'array'}")
    return found


# ---- stores without branches and loops ----------------------------------------------------------


@case([FOUR], (V,), "0 array", "set")
def input_is_copied(b, x):
    return [set_at(b, x, 0, 1.0)]


@case([FOUR], (V,), "0 array", "set set add")
def input_is_copied_once(b, x):
    x = set_at(b, set_at(b, x, 0, 1.0), 1, 2.0)
    return [add_at(b, x, slice(1, None), 1.0)]


@case([FOUR], (V,), "", "set")
def own_memory_is_not_copied(b, x):
    return [set_at(b, np.sin(x), 0, 1.0)]


@case([FOUR], (V,), "0 array", "set")
def old_value_is_read_again(b, x):
    y = np.sin(x)
    return [set_at(b, y, 0, 1.0), np.cos(y)]


@case([FOUR], (V,), "", "set")
def old_value_is_read_for_its_shape(b, x):
    y = np.sin(x)
    return [set_at(b, y, 0, 1.0), np.ones_like(y)]


@case([FOUR], (V,), "0 array", "add")
def view_is_copied_and_not_the_array(b, x):
    y = np.sin(x)
    part = y[1:-1]
    y = add_at(b, y, slice(1, -1), 2.0)
    return [y, np.cos(part)]


@case([FOUR], (V,), "", "set")
def number_is_no_view(b, x):
    y = np.sin(x)
    first = y[0]
    return [set_at(b, y, 0, 1.0), first]


@case([FOUR], (V,), "0 array", "set")
def element_by_ellipsis_is_a_view(b, x):
    y = np.sin(x)
    first = y[0, ...]
    return [set_at(b, y, 0, 1.0), first * 2.0]


@case([FOUR], (V,), "", "set")
def elements_by_array_are_no_view(b, x):
    y = np.sin(x)
    some = y[b.call(np.array, ([0, 1],), {})]
    return [set_at(b, y, 0, 1.0), some]


@case([MATRIX], (M,), "", "set add same")
def view_is_written_through(b, m):
    m = np.sin(m)
    row = m[1]
    row = set_at(b, row, 0, 1.0)
    row = add_at(b, row, slice(1, None), row[1:])
    return [set_at(b, m, 1, row)]


@case([MATRIX], (M,), "0 array", "set same")
def view_of_an_input_is_written_through(b, m):
    return [set_at(b, m, 1, set_at(b, m[1], 0, 1.0))]


@case([MATRIX], (M,), "0 array", "set set")
def other_part_is_written(b, m):
    m = np.sin(m)
    row = set_at(b, m[1], 0, 1.0)
    return [set_at(b, m, 2, row)]


@case([MATRIX], (M,), "", "set")
def transpose_is_written_through(b, m):
    m = np.sin(m)
    return [np.transpose(set_at(b, np.transpose(m), 0, 1.0))]


@case([MATRIX], (M,), "0 array", "set")
def what_numpy_protects_is_copied(b, m):
    return [set_at(b, np.diagonal(np.sin(m)), 0, 1.0)]


@case([FOUR], (V,), "", "append append")
def lists_of_one_object(b, x):
    return [append(b, append(b, list_of(b), x), np.sin(x))]


@case([FOUR], (V,), "0 array", "append set")
def appended_item_is_updated(b, x):
    y = np.sin(x)
    items = append(b, list_of(b), y)
    return [set_at(b, y, 0, 1.0), items]


@case([FOUR], (V,), "", "pop same set")
def popped_item_is_updated(b, x):
    item, rest = pop(b, list_of(b, np.cos(x), np.sin(x)))
    return [set_at(b, item, 0, 1.0), rest]


@case([FOUR], (V,), "0 array", "pop same set")
def popped_item_is_in_the_list_twice(b, x):
    y = np.sin(x)
    item, rest = pop(b, list_of(b, y, y))
    return [set_at(b, item, 0, 1.0), rest]


@case([FOUR], (V,), "", "set same")
def item_is_updated_in_its_list(b, x):
    items = list_of(b, np.sin(x), np.cos(x))
    return [set_at(b, items, 0, set_at(b, items[0], 1, 2.0))]


@case([LIST, FOUR], ([V, W], V), "0 list", "append")
def list_that_came_in_is_copied(b, items, x):
    return [append(b, items, x)]


# ---- loops --------------------------------------------------------------------------------------


@case([FOUR, INTEGER], (V, 3), "0 array", "set")
def recurrence_on_an_input(b, x, n):
    """x[i + 1] = sin(x[i]): constant work in each pass."""
    return loop(
        b, lambda b, i, x: [set_at(b, x, i + 1, np.sin(x[i]))], [(x, FOUR)], bounds=(0, n, 1)
    )


@case([FOUR, INTEGER], (V, 3), "", "set")
def recurrence_on_zeros(b, x, n):
    def body(b, i, h, x):
        return [set_at(b, h, i + 1, np.sin(h[i]) + x[i])]

    return loop(b, body, [(np.zeros_like(x), FOUR)], [x], bounds=(0, n, 1))


@case([FOUR, FOUR, INTEGER], (V, W, 3), "0 array", "add set")
def adjoint_of_a_recurrence(b, x_bar, x, n):
    def body(b, i, x_bar, x):
        v = x_bar[i + 1]
        x_bar = set_at(b, x_bar, i + 1, 0.0)
        return [add_at(b, x_bar, i, v * np.cos(x[i]))]

    return loop(b, body, [(x_bar, FOUR)], [x], bounds=(0, n, 1), backwards=True)


@case([FOUR, SCALAR, INTEGER], (V, 0.1, 3), "0 array", "add append")
def heat(b, u, k, n):
    def body(b, i, u, saved, k):
        curvature = u[2:] - 2 * u[1:-1] + u[:-2]
        saved = append(b, saved, curvature)
        return [add_at(b, u, slice(1, -1), k * curvature), saved]

    part = values.List(values.Array(np.dtype(float), (2,)))
    return loop(b, body, [(u, FOUR), (list_of(b), part)], [k], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "0 array, 1 array", "append set")
def state_is_saved_before_it_is_updated(b, u, n):
    """u = u.copy() before the loop, u_saved.append(u.copy()) in it."""

    def body(b, i, u, saved):
        saved = append(b, saved, u)
        return [set_at(b, u, i, u[i] * 3.0), saved]

    return loop(b, body, [(u, FOUR), (list_of(b), LIST)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "0 array, 1 array", "append set set")
def state_is_saved_and_updated_on_both_sides(b, u, n):
    """One copy where it is saved, and none on the sides."""

    def body(b, i, u, saved):
        saved = append(b, saved, u)
        (u,) = branch(
            b,
            u[i] > 0.5,
            [u, i],
            lambda b, u, i: [set_at(b, u, i, 0.0)],
            lambda b, u, i: [set_at(b, u, i, 2.0 * u[i])],
        )
        return [u, saved]

    return loop(b, body, [(u, FOUR), (list_of(b), LIST)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "", "append")
def new_state_is_saved(b, u, n):
    def body(b, i, u, saved):
        return [np.sin(u), append(b, saved, u)]

    return loop(b, body, [(u, FOUR), (list_of(b), LIST)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "", "append append set pop same")
def saved_and_popped(b, u, n):
    """What a backward pass does: nothing is copied, for each state is new memory."""

    def body(b, i, u, saved):
        u = set_at(b, np.sin(u), 0, 1.0)
        return [u, append(b, saved, u)]

    saved = append(b, list_of(b), u)
    _, saved = loop(b, body, [(u, FOUR), (saved, LIST)], bounds=(0, n, 1))

    def back(b, i, total, saved):
        item, saved = pop(b, saved)
        return [total + np.sum(item), saved]

    return loop(b, back, [(0.0, SCALAR), (saved, LIST)], bounds=(0, n, 1), backwards=True)[:1]


@case([FOUR, INTEGER], (V, 3), "0 array", "set")
def two_buffers_in_turn(b, u, n):
    """u, new = new, u: the two are never the same memory."""

    def body(b, i, u, new):
        new = set_at(b, new, slice(1, -1), 0.5 * (u[2:] + u[:-2]))
        return [new, u]

    return loop(b, body, [(u, FOUR), (np.zeros_like(u), FOUR)], bounds=(0, n, 1))[:1]


@case([FOUR, INTEGER], (V, 3), "0 array", "set set")
def buffer_that_starts_as_the_other(b, u, n):
    """new = u to begin with: one copy before the loop parts them."""

    def body(b, i, u, new):
        new = set_at(b, new, slice(1, -1), 0.5 * (u[2:] + u[:-2]))
        return [np.sin(new), set_at(b, new, 0, u[1])]

    u = np.cos(u)
    return loop(b, body, [(u, FOUR), (u, FOUR)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "", "set set")
def fresh_array_in_each_pass(b, u, n):
    def body(b, i, u):
        new = set_at(b, np.zeros_like(u), slice(1, -1), 0.5 * (u[2:] + u[:-2]))
        return [set_at(b, new, 0, u[0])]

    return loop(b, body, [(u, FOUR)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "1 array", "set")
def same_start_in_each_pass(b, x, n):
    """The array that is changed is read again by the next pass: a copy in each."""

    def body(b, i, total, x):
        y = set_at(b, x, i, 0.0)
        return [total + np.sum(y * y)]

    return loop(b, body, [(0.0, SCALAR)], [np.sin(x)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3), "0 array", "set")
def start_is_read_after_the_loop(b, x, n):
    x = np.sin(x)
    (y,) = loop(b, lambda b, i, y: [set_at(b, y, i, 0.0)], [(x, FOUR)], bounds=(0, n, 1))
    return [y, np.sum(x)]


@case([MATRIX, INTEGER], (M, 3), "0 array", "set same")
def rows_are_written_through_in_two_loops(b, m, n):
    def inner(b, j, m, i):
        row = m[i]
        return [set_at(b, m, i, set_at(b, row, j, row[j] * 2.0))]

    def outer(b, i, m, n):
        return loop(b, inner, [(m, MATRIX)], [i], bounds=(0, n, 1))

    return loop(b, outer, [(m, MATRIX)], [n], bounds=(0, n, 1))


@case([MATRIX, INTEGER], (M, 3), "", "update")
def adjoint_accumulates(b, w, n):
    def body(b, i, w_bar, w):
        return [w_bar + w * i]

    return loop(b, body, [(np.zeros_like(w), MATRIX)], [w], bounds=(0, n, 1))


@case([MATRIX, INTEGER], (M, 3), "", "update update")
def adjoint_accumulates_twice(b, w, n):
    def body(b, i, w_bar, w):
        with b.at(None, "backward"):
            return [w_bar + w * i + np.sin(w)]

    return loop(b, body, [(np.zeros_like(w), MATRIX)], [w], bounds=(0, n, 1))


@case([MATRIX, INTEGER], (M, 3))
def accumulator_that_came_in(b, w, n):
    """x = x + y says itself in new memory: no copy is put for it."""
    return loop(b, lambda b, i, x: [x + 1.0], [(w, MATRIX)], bounds=(0, n, 1))


@case([MATRIX, INTEGER], (M, 3))
def expression_is_not_taken_apart(b, w, n):
    return loop(b, lambda b, i, x: [np.sin(x) * x + 1.0], [(w, MATRIX)], bounds=(0, n, 1))


@case([FOUR, INTEGER], (V, 3))
def result_of_another_shape(b, x, n):
    """x + y is a matrix: it is no update of x."""
    return loop(
        b,
        lambda b, i, m, x: [x[:, None] * m[0]],
        [(np.ones((4, 4), like=x), MATRIX)],
        [x],
        bounds=(0, n, 1),
    )


@case([FOUR, SCALAR], (V, 2.5), "0 array", "set")
def while_loop(b, x, n):
    def body(b, k, x):
        return [k - 1.0, set_at(b, x, 0, x[0] + k)]

    return loop(b, body, [(n, SCALAR), (x, FOUR)], test=lambda b, k, x: [x[0] < 4.0 * k])


# ---- branches -----------------------------------------------------------------------------------


@case([FOUR, SCALAR], (V, 0.5), "", "set")
def one_side_is_updated(b, x, c):
    return branch(b, c > 0, [np.sin(x)], lambda b, y: [set_at(b, y, 0, 1.0)], lambda b, y: [y])


@case([FOUR, SCALAR], (V, 0.5), "0 array", "set")
def one_side_is_not_ours(b, x, c):
    (y,) = branch(b, c > 0, [x], lambda b, x: [x], lambda b, x: [np.sin(x)])
    return [set_at(b, y, 0, 1.0)]


@case([FOUR, SCALAR], (V, -0.5), "0 array", "set")
def both_sides_are_not_ours(b, x, c):
    """One copy after the branch, not one on each side."""
    (y,) = branch(b, c > 0, [x], lambda b, x: [x], lambda b, x: [x[::-1]])
    return [set_at(b, y, 0, 1.0)]


@case([FOUR, SCALAR], (V, -0.5))
def nothing_is_updated(b, x, c):
    return branch(b, c > 0, [x], lambda b, x: [x], lambda b, x: [np.sin(x)])


@case([FOUR, SCALAR], (V, -0.5), "", "set set")
def sides_exchange(b, x, c):
    y, z = branch(b, c > 0, [np.sin(x), np.cos(x)], lambda b, y, z: [y, z], lambda b, y, z: [z, y])
    return [set_at(b, y, 0, 1.0), set_at(b, z, 0, 2.0)]


@case([FOUR], (V,), "0 array", "set")
def handler_reads_what_was_there_before(b, x):
    def body(b, y):
        y = set_at(b, y, 0, 5.0)
        item, _ = pop(b, list_of(b))
        return [y + item]

    (result, _) = attempt(b, [np.sin(x)], body, [(IndexError,)], [lambda b, y: [y * 2.0]])
    return [result]


@pytest.mark.parametrize("name", CASES)
def test_copies(name):
    facts, write, arguments, copies, kinds = CASES[name]
    core = program(facts, write)
    already = Counter(copies_in(core))
    planned, stores = plan_stores(core)
    assert Counter(copies_in(planned.verify())) - already == copies - Counter([""])
    found = Counter(each.kind for each in stores.values())
    if name != "handler_reads_what_was_there_before":  # its list is empty on purpose
        assert found == Counter(kinds)
    before = copy.deepcopy(arguments)
    expected = copy.deepcopy(interpret(core, list(arguments)))
    got = InPlace(stores).run(planned, list(arguments))
    for ours, theirs in zip(got, expected, strict=True):
        assert np.array_equal(ours, theirs)
    for each, was in zip(arguments, before, strict=True):
        assert np.array_equal(each, was)


def test_what_is_copied_for_an_update_is_not_copied_for_the_output():
    core = own_outputs(program(*CASES["recurrence_on_an_input"][:2]))
    assert copies_in(core) == ["0 array"]
    planned, stores = plan_stores(core)
    assert copies_in(planned.verify()) == ["0 array"]
    (result,) = InPlace(stores).run(planned, [V, 3])
    assert np.array_equal(result, interpret(core, [V, 3])[0])
    assert not np.shares_memory(InPlace(stores).run(planned, [V, 0])[0], V)


OVERLAPS = {
    "reversed": (slice(0, None), lambda a: a[::-1]),
    "shifted": (slice(1, None), lambda a: a[:-1]),
    "shifted back": (slice(None, -1), lambda a: a[1:]),
    "transposed": (slice(0, None), np.transpose),
    "a row for all": (slice(None), lambda a: a[0]),
    "a column": ((slice(None), 0), lambda a: a[2]),
    "by an array": (np.array([2, 0, 1, 3]), lambda a: a[::-1]),
    "by an array with repeats": (np.array([0, 0, 1, 3]), lambda a: a[::-1]),
}


@pytest.mark.parametrize("function", [runtime.index_add, runtime.index_set])
@pytest.mark.parametrize("name", OVERLAPS)
def test_values_that_are_views_of_what_is_changed(name, function):
    """NumPy itself reads all of a value before it writes."""
    index, view = OVERLAPS[name]

    def write(b, m):
        m = np.sin(m)
        place = index
        if isinstance(index, np.ndarray):
            place = b.call(np.array, (index.tolist(),), {})
        return [b.call(function, (m, place, view(m)), {})]

    core = program([MATRIX], write)
    planned, stores = plan_stores(core)
    assert not copies_in(planned)
    assert len(stores) == 1
    expected = function(np.sin(M), index, np.copy(view(np.sin(M))))
    assert np.array_equal(InPlace(stores).run(planned, [M])[0], expected)


@pytest.mark.parametrize(
    "dtype, value, in_place",
    [
        (np.float32, values.Array(np.dtype(np.float64), ()), True),
        (np.float32, values.Scalar(float), True),
        (np.float64, values.Array(np.dtype(np.complex128), ()), False),
        (np.int64, values.Array(np.dtype(np.float64), ()), False),
        (np.float64, values.Unknown(), False),
    ],
)
def test_sums_that_the_dtype_cannot_take_are_expressions(dtype, value, in_place):
    core = program(
        [values.Array(np.dtype(dtype), (4,)), value],
        lambda b, x, v: [add_at(b, np.zeros_like(x), slice(1, None), v)],
    )
    assert bool(plan_stores(core)[1]) is in_place


@pytest.mark.parametrize(
    "left, right, in_place",
    [
        (FOUR, FOUR, True),
        (FOUR, values.Scalar(float), True),
        (values.Array(np.dtype(np.float32), (4,)), FOUR, False),
        (values.Array(np.dtype(np.int64), (4,)), FOUR, False),
        (values.Array(np.dtype(float), (1,)), FOUR, False),
        (FOUR, MATRIX, False),
        (vector(), values.Array(np.dtype(float), (values.fresh_dim(False),)), True),
        (values.Array(np.dtype(float), (values.fresh_dim(True),)), vector(), False),
        (SCALAR, SCALAR, False),
        (values.Unknown(True), FOUR, False),
    ],
)
def test_whole_arrays_are_updated_where_dtype_and_shape_stay(left, right, in_place):
    """h = -x; h = h + y."""

    def write(b, x, y):
        h = b.named(-x, Hint("h", "user"))
        return [b.named(h + y, Hint("h", "user"))]

    stores = plan_stores(program([left, right], write))[1]
    assert [each.kind for each in stores.values()] == ["update"] * in_place
