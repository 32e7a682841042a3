"""Dead code: what is left out, what stays, and that each block is looked into once."""

from __future__ import annotations

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad.core.callee import compound_of
from s2s_ad.core.regions import region_of
from s2s_ad.simplify import dead
from s2s_ad.simplify.dead import remove_dead
from transforms.regions_core import CASES, SCALAR, branch, loop, program


def functions(block):
    return [each.function for each in block.body if not compound_of(each)]


def regions(block):
    return [region for each in block.body if (region := region_of(each))]


def first_of(write):
    """The program without dead code whose output is the first of these, and the same in full."""
    core = program([SCALAR, SCALAR], write)
    output = type(core.output)(tuple, (0,), core.output.items[:1])
    return remove_dead(core.with_(output=output)).verify(), core


def turns(count):
    """A loop over `count` carried values: each becomes the sine of the next, the last stays."""

    def write(b, x, a):
        body = lambda b, _, *c: [*(np.sin(each) for each in c[1:]), c[-1]]
        start = [(np.cos(x) * i, SCALAR) for i in range(count)]
        return loop(b, body, start, bounds=(0, 3, 1))

    return write


def test_operations_whose_result_nobody_reads_go():
    made, _ = first_of(lambda b, x, a: [np.sin(x), np.cos(x)])
    assert functions(made) == [np.sin]


def test_outputs_of_a_branch_that_nobody_reads_go_and_so_do_its_operands():
    def write(b, x, a):
        sides = [lambda b, x, a: [np.sin(x), a + 1.0], lambda b, x, a: [x, np.cos(a)]]
        return branch(b, x < a, [x, a * 2.0], *sides)

    made, whole = first_of(write)
    (region,) = regions(made)
    assert region.count == 1
    assert [len(block.leaves()) for block in region.blocks] == [1, 1]
    for x in (0.3, 2.0):
        assert interpret(made, (x, 1.0))[0] == interpret(whole, (x, 1.0))[0]


@pytest.mark.parametrize("asked, stay", [(0, 5), (3, 2), (4, 1)])
def test_a_carried_value_stays_where_another_one_needs_it(asked, stay):
    core = program([SCALAR, SCALAR], turns(5))
    output = type(core.output)(tuple, (0,), (core.output.items[asked],))
    made = remove_dead(core.with_(output=output)).verify()
    (region,) = regions(made)
    assert region.count == stay
    assert interpret(made, (0.7, 0.2))[0] == interpret(core, (0.7, 0.2))[asked]


@pytest.mark.parametrize("name", CASES)
def test_what_the_program_computes_stays(name):
    _, build, arguments = CASES[name]
    core = build()
    made = remove_dead(core).verify()
    for found, expected in zip(interpret(made, arguments), interpret(core, arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", CASES)
def test_a_second_time_there_is_nothing_to_do(name):
    made = remove_dead(CASES[name][1]())
    again = remove_dead(made.with_(name="again"))
    assert len(again.body) == len(made.body)
    assert [each.target for each in again.body] == [each.target for each in made.body]


# ---- each block once -----------------------------------------------------------------------------


@pytest.fixture
def entered(monkeypatch):
    """The programs that are looked into."""
    found, enter = [], dead._Marks.enter

    def noted(marks, block, use):
        found.append(block)
        return enter(marks, block, use)

    monkeypatch.setattr(dead._Marks, "enter", noted)
    return found


def nested(depth):
    """Loops in loops, in each of which one of the two carried values needs the other."""

    def body(depth):
        def write(b, _, x, y):
            inner = [np.sin(y), x + y] if depth == 0 else rolled(b, x, y, depth - 1)
            return [inner[1], np.cos(inner[0])]

        return write

    def rolled(b, x, y, depth):
        return loop(b, body(depth), [(x, SCALAR), (y, SCALAR)], bounds=(0, 2, 1))

    return lambda b, x, a: rolled(b, x, a, depth - 1)


@pytest.mark.parametrize("depth", [1, 4, 9])
def test_nested_loops_are_entered_once_each(entered, depth):
    first_of(nested(depth))
    assert len(entered) == 1 + depth


def test_what_came_out_is_not_entered_again(entered):
    made = remove_dead(program([SCALAR, SCALAR], nested(4)))
    del entered[:]
    remove_dead(made)
    assert not entered
    remove_dead(made.with_(name="around"))  # another program around the same blocks
    assert len(entered) == 1
