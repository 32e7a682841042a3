"""The last simplifications, in blocks and through them."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad import grad, runtime
from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import Callee, callee_of
from s2s_ad.core.regions import region_of
from s2s_ad.simplify.finish import own_outputs
from s2s_ad.simplify.pipelines import finish
from transforms.regions_core import INTEGER, SCALAR, append, branch, inside, loop, program

FOUR = values.Array(np.dtype(float), (4,))
V = np.array([0.3, -0.8, 1.7, 0.4])


def functions(block):
    """The functions of all operations, those in blocks too."""
    found = []
    for statement in block.body:
        region = region_of(statement)
        found += [statement.function] if region is None else []
        for each in () if region is None else region.blocks:
            found += functions(each)
    return found


def in_a_loop(write, facts=(FOUR, INTEGER)):
    """A program that runs `write(b, x, y)` on a carried x and a fixed y."""

    def body(b, i, x, y):
        return [write(b, x, y)]

    return program(
        list(facts), lambda b, x, n: loop(b, body, [(x, FOUR)], [np.sin(x)], bounds=(0, n, 1))
    )


def in_a_branch(write):
    return program(
        [FOUR, SCALAR],
        lambda b, x, c: branch(
            b, c > 0, [x, np.sin(x)], lambda b, x, y: [write(b, x, y)], lambda b, x, y: [x]
        ),
    )


def stop(b, x, y):
    return x + b.call(runtime.stop_gradient, (y,), {})


def reciprocal(b, x, y):
    with b.at(None, "backward"):
        return x * (1.0 / y)


def put_back(b, x, y):
    return x * np.expand_dims(np.sum(y, axis=0), 0)


@pytest.mark.parametrize("around", [in_a_loop, in_a_branch])
@pytest.mark.parametrize(
    "write, gone, there",
    [
        (stop, runtime.stop_gradient, operator.add),
        (reciprocal, operator.mul, operator.truediv),
        (put_back, np.expand_dims, np.sum),
    ],
)
def test_blocks_are_simplified(around, write, gone, there):
    core = around(write)
    made = finish(core, derived=False).verify()
    assert gone in functions(core)
    assert gone not in functions(made)
    assert there in functions(made)
    assert np.allclose(interpret(made, [V, 2]), interpret(core, [V, 2]), rtol=1e-14)


@pytest.mark.parametrize(
    "around, leaf", [(in_a_loop, "fixed"), (in_a_branch, "first")], ids=["loop", "branch"]
)
def test_shapes_are_read_off_what_is_the_same_in_each_pass(around, leaf):
    made = finish(around(lambda b, x, y: x + np.ones_like(np.cos(x) * y)), derived=False)
    (region,) = [region for each in made.body if (region := region_of(each))]
    block = region.blocks[0]
    (like,) = [s for s in block.body if s.function is np.ones_like]
    expected = region.leaves(block).fixed[0] if leaf == "fixed" else block.leaves()[0]
    assert form.reads(like) == [expected]


def test_no_shape_is_read_off_what_a_path_may_not_have():
    """The slice is changed on one path; on the other only its shape is asked for."""

    def f(a, s, n):
        A = a.copy()
        if s < 0.1:
            return s
        part = A[:3]
        if n:
            return s + np.sum(A * 1.1) + 0.3 * np.sum(part)
        part[0] += 0.3
        return np.sum(A * 1.1)

    slopes = grad(f, (0, 1))
    for s, n, expected in [(0.5, 3, [1.4] * 3 + [1.1]), (0.5, 0, [1.1] * 4), (0.0, 3, [0.0] * 4)]:
        np.testing.assert_allclose(slopes(V, s, n)[0], expected)


def test_functions_that_blocks_call_are_finished():
    """What they return is memory of their own."""
    block = inside([FOUR], lambda b, x: [x])
    callee = Callee(block.with_(output=block.output.items[0]))
    core = in_a_loop(lambda b, x, y: callee.call(b, [y])[0])
    made = finish(core, derived=False).verify()
    (region,) = [region for each in made.body if (region := region_of(each))]
    (call,) = [found for each in region.body.body if (found := callee_of(each))]
    assert np.copy in functions(call.program)


def test_a_function_that_calls_itself_is_finished():
    stub = inside([FOUR, INTEGER], lambda b, x, n: [x])
    callee = Callee(stub.with_(output=stub.output.items[0]))

    def deeper(b, x, n):
        return [callee.call(b, [x * 0.5, n - 1])[0]]

    def body(b, x, n):
        return branch(b, n > 0, [x, n], deeper, lambda b, x, n: [x])

    whole = inside([FOUR, INTEGER], body)
    callee.define(whole.with_(output=whole.output.items[0]))
    core = program([FOUR, INTEGER], lambda b, x, n: callee.call(b, [x, n]))
    made = finish(core, derived=True).verify()
    (call,) = [found for each in made.body if (found := callee_of(each))]
    assert call.is_recursive
    (inner,) = [region for each in call.program.body if (region := region_of(each))]
    (again,) = [found for each in inner.then.body if (found := callee_of(each))]
    assert again is call
    result = interpret(made, [V, 3])[0]
    assert np.array_equal(result, V / 8)
    assert not np.shares_memory(interpret(made, [V, 0])[0], V)


# ---- memory of its own --------------------------------------------------------------------------


def copies(block):
    return functions(block).count(np.copy)


OWNED = {}


def owned(facts, arguments, count):
    """Enter the writer of a program, and how many copies make its outputs its own."""

    def enter(write):
        OWNED[write.__name__] = (facts, write, arguments, count)
        return write

    return enter


@owned([FOUR], (V,), 0)
def new_array(b, x):
    return [np.sin(x)]


@owned([FOUR], (V,), 1)
def input_itself(b, x):
    return [x]


@owned([FOUR], (V,), 1)
def view_of_an_input(b, x):
    return [x[1:]]


@owned([FOUR], (V,), 0)
def element_of_an_input(b, x):
    return [x[1]]


@owned([values.Array(np.dtype(float), (1,))], (V[:1],), 1)
def array_without_axes(b, x):
    return [np.squeeze(x)]


@owned([FOUR], (V,), 1)
def one_array_twice(b, x):
    y = np.sin(x)
    return [y, y]


@owned([FOUR, SCALAR], (V, 1.0), 1)
def input_on_one_side(b, x, c):
    return branch(b, c > 0, [x], lambda b, x: [x], lambda b, x: [np.sin(x)])


@owned([FOUR, SCALAR], (V, 1.0), 1)
def inputs_on_both_sides(b, x, c):
    return branch(b, c > 0, [x], lambda b, x: [x], lambda b, x: [x[::-1]])


@owned([FOUR, SCALAR], (V, 1.0), 0)
def number_of_a_branch(b, x, c):
    return branch(b, c > 0, [x], lambda b, x: [x[0]], lambda b, x: [0.0])


@owned([values.Array(np.dtype(float), (1,)), SCALAR], (V[:1], 1.0), 1)
def number_or_array_without_axes(b, x, c):
    return branch(b, c > 0, [x], lambda b, x: [np.squeeze(x)], lambda b, x: [0.0])


@owned([FOUR, INTEGER], (V, 0), 1)
def loop_without_passes(b, x, n):
    return loop(b, lambda b, i, x: [np.sin(x)], [(x, FOUR)], bounds=(0, n, 1))


@owned([FOUR, SCALAR], (V, 1.0), 0)
def sides_exchange(b, x, c):
    operands = [np.sin(x), np.cos(x)]
    return branch(b, c > 0, operands, lambda b, y, z: [y, z], lambda b, y, z: [z, y])


@owned([FOUR], (V,), 1)
def list_of_an_input(b, x):
    return [append(b, b.call(runtime.list_of, (), {}), x)]


@pytest.mark.parametrize("name", OWNED)
def test_what_is_handed_out_is_memory_of_its_own(name):
    facts, write, arguments, count = OWNED[name]
    core = program(facts, write)
    made = own_outputs(core, items=True).verify()
    assert copies(made) == count
    outputs = interpret(made, list(arguments))
    arrays = [each for item in outputs for each in (item if isinstance(item, list) else [item])]
    for place, each in enumerate(arrays):
        for other in [*arguments, *arrays[:place]]:
            assert not np.shares_memory(each, other)
    for ours, theirs in zip(outputs, interpret(core, list(arguments)), strict=True):
        assert np.array_equal(ours, theirs)


def test_items_of_the_lists_of_helpers_may_be_what_came_in():
    """A forward pass saves what it was given without a copy in each pass."""
    core = program(*OWNED["list_of_an_input"][:2])
    assert copies(own_outputs(core)) == 0
    assert tree.leaves(own_outputs(core).output) == tree.leaves(core.output)
