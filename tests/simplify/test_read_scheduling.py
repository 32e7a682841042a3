"""The order of operations around updates, and sums into cleared elements."""

from __future__ import annotations

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.regions import region_of
from s2s_ad.simplify.read_scheduling import READERS_FIRST
from s2s_ad.simplify.sums import SET_SUMS
from transforms.regions_core import INTEGER, append, loop, program, set_at

FOUR = values.Array(np.dtype(float), (4,))
V = np.array([0.3, -0.8, 1.7, 0.4])


def add_at(b, array, index, value):
    return b.call(runtime.index_add, (array, index, value), {})


def order(block):
    """The names of the functions, one after the other."""
    functions = [statement.function for statement in block.body]
    return [getattr(each, "name", getattr(each, "__name__", "")) for each in functions]


def check(run, write, *, facts=(FOUR,), arguments=(V,)):
    core = program(list(facts), write)
    made = run.run(core).verify()
    assert all(map(np.array_equal, interpret(made, arguments), interpret(core, arguments)))
    return made


def cleared(b, x):
    part = x[1:-1]
    x = set_at(b, x, slice(1, -1), 0.0)
    return [x, 2.0 * part + 1.0]


def read_through_what_changed(b, x):
    part = x[1:-1]
    x = set_at(b, x, slice(1, -1), 0.0)
    return [x, part * x[0]]


def handed_out(b, x):
    part = x[1:-1]
    return [set_at(b, x, slice(1, -1), 0.0), part]


def put_into_a_list(b, x):
    part = x[1:-1]
    x = set_at(b, x, slice(1, -1), 0.0)
    return [x, append(b, b.call(runtime.list_of, (), {}), part)]


def element(b, x):
    part = x[1]
    x = set_at(b, x, 1, 0.0)
    return [x, part * 2.0]


@pytest.mark.parametrize(
    "write, expected",
    [
        (cleared, ["getitem", "mul", "index_set", "add"]),
        (read_through_what_changed, ["getitem", "index_set", "getitem", "mul"]),
        (handed_out, ["getitem", "index_set"]),
        (put_into_a_list, ["getitem", "index_set", "list_of", "list_append"]),
        (element, ["getitem", "mul", "index_set"]),
    ],
)
def test_what_reads_a_view_goes_before_the_update(write, expected):
    assert order(check(READERS_FIRST, write)) == expected


def test_readers_go_first_in_blocks():
    def write(b, x, n):
        return loop(
            b,
            lambda b, i, x, y: cleared(b, x)[:1] + [y + np.sum(cleared(b, x)[1])],
            [(x, FOUR), (0.0, values.Array(np.dtype(float), ()))],
            bounds=(0, n, 1),
        )

    made = check(READERS_FIRST, write, facts=(FOUR, INTEGER), arguments=(V, 2))
    (region,) = [region for each in made.body if (region := region_of(each))]
    found = order(region.body)
    assert found.index("mul") < found.index("index_set")


def one_element(b, x):
    return [add_at(b, set_at(b, x, 1, 0.0), 1, x[1] * 2.0)]


def one_slice(b, x):
    return [add_at(b, set_at(b, x, slice(1, None), 0.0), slice(1, None), x[:-1])]


def another_element(b, x):
    return [add_at(b, set_at(b, x, 1, 0.0), 2, x[1] * 2.0)]


def another_value(b, x):
    return [add_at(b, set_at(b, x, 1, 1.0), 1, x[1] * 2.0)]


def read_in_between(b, x):
    zeroed = set_at(b, x, 1, 0.0)
    return [add_at(b, zeroed, 1, x[1]), np.sum(zeroed)]


def places_that_repeat(b, x):
    places = b.call(np.array, ([0, 0, 1],), {})
    return [add_at(b, set_at(b, x, places, 0.0), places, x[1:])]


@pytest.mark.parametrize(
    "write, merged",
    [
        (one_element, True),
        (one_slice, True),
        (another_element, False),
        (another_value, False),
        (read_in_between, False),
        (places_that_repeat, False),
    ],
)
def test_sums_into_cleared_elements_are_stores(write, merged):
    found = order(check(SET_SUMS, write))
    assert (found.count("index_set"), found.count("index_add")) == ((1, 0) if merged else (1, 1))


@pytest.mark.parametrize("dtype, merged", [(np.float64, True), (np.float32, False)])
def test_the_dtype_of_a_sum_is_kept(dtype, merged):
    """index_add refuses what index_set would cut off."""
    facts = [values.Array(np.dtype(np.float64), (4,)), values.Array(np.dtype(dtype), ())]
    core = program(facts, lambda b, x, v: [add_at(b, set_at(b, x, 1, 0.0), 1, v)])
    assert (order(SET_SUMS.run(core)) == ["index_set"]) is merged
