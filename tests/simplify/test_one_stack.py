"""What loops in loops save stands on one stack, where the way back takes off what was put there."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, vmap
from s2s_ad.check.passes import after
from s2s_ad.core import tree, values
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, blocks_of
from s2s_ad.simplify.one_stack import ONE_STACK
from transforms.differences import differences

X, W = np.array([0.3, -0.7, 0.9]), np.array([1.1, -0.6, 0.3, 0.8])


def nested(x, w):
    for i in range(3):
        for j in range(len(w)):
            x = np.sin(x * w[j]) + 0.1 * i
    return np.sum(x)


def triangle(x, w):
    """As many inner passes as the index of the outer one says."""
    total = 0.0
    for i in range(len(w)):
        for j in range(i + 1):
            x = np.tanh(x * w[j]) + x
        total += np.sum(x * w[i])
    return total


def downwards(x, w):
    for i in range(3, 0, -1):
        for j in range(i - 1, -1, -2):
            for k in range(j, 3):
                x = np.sin(x) * w[k]
    return np.sum(x)


def both_levels(x, w):
    """Of the outer passes something is kept, too."""
    for i in range(2):
        y = np.exp(x * w[i])
        for j in range(3):
            x = np.cos(x) * y
        x = x * y + w[i]
    return np.sum(x)


def in_turn(x, w):
    for i in range(2):
        for j in range(3):
            x = np.sin(x) * w[j]
        for j in range(2):
            x = np.cos(x) + w[j] * x
    return np.sum(x)


def in_a_while(x, w):
    while np.sum(x) < 3.0:
        for j in range(2):
            x = np.sin(x) * w[j] + x
        x = x + 1.0
    return np.sum(x)


def as_long_as_others(x, w):
    """The bound is the smaller of two."""
    for i in range(3):
        for j in range(min(len(w), i + 2)):
            x = np.sin(x) * w[j]
    return np.sum(x)


def as_data_say(x, w):
    """The bound of the inner loop is another one in each pass."""
    n = 1
    for i in range(3):
        for j in range(n):
            x = np.sin(x) * w[j] + 0.6
        n = 3 if np.sum(x) > 1.0 else 2
    return np.sum(x)


ON_ONE = [nested, triangle, downwards, both_levels, in_turn, as_long_as_others, as_data_say]


def until(x, w):
    """The way back has to know how many passes there were."""
    for i in range(2):
        while np.sum(x) < i + 1.0:
            x = np.sin(x) * w[0] + x + 0.5
    return np.sum(x)


def left_early(x, w):
    for i in range(3):
        for j in range(4):
            x = np.sin(x) * w[j] + 0.4
            if np.sum(x) > 1.2:
                break
    return np.sum(x)


def on_a_path(x, w):
    for i in range(3):
        if np.sum(x) > 0.6:
            for j in range(2):
                x = np.sin(x) * w[j]
        else:
            x = x + w[i] ** 2
    return np.sum(x)


NESTED = [in_a_while, until, left_early, on_a_path]


@pytest.mark.parametrize("fn", [*ON_ONE, *NESTED])
def test_derivatives_agree_with_differences(fn):
    expected = differences(lambda x: fn(x, W), X), differences(lambda w: fn(X, w), W)
    for made, each in zip(grad(fn, (0, 1))(X, W), expected, strict=True):
        np.testing.assert_allclose(made, each, rtol=1e-6, atol=1e-8)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("fn", ON_ONE)
def test_in_a_batch_and_of_second_order(fn):
    xs = np.stack([X, X + 0.1, -X])
    for made, x in zip(vmap(grad(fn), (0, None))(xs, W), xs, strict=True):
        np.testing.assert_allclose(made, differences(lambda x: fn(x, W), x), rtol=1e-6, atol=1e-8)
    second = grad(lambda x: grad(fn)(x, W) @ X)(X)
    expected = differences(lambda x: grad(fn)(x, W) @ X, X)
    np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", [*ON_ONE, *NESTED])
def test_only_what_is_known_to_be_as_much_is_on_one_stack(fn):
    """A list that is made in a loop is one of a pass."""
    lines = grad(fn, (0, 1)).source(X, W).splitlines()
    inside = [line for line in lines if line.startswith(" " * 8) and " = []" in line]
    assert bool(inside) == (fn in NESTED)


@pytest.mark.parametrize("fn", ON_ONE)
def test_what_is_known_of_the_stack_is_that_of_its_items(fn):
    _agree(after(ONE_STACK, grad(fn, (0, 1)), X, W))


def _agree(program: Program) -> None:
    """What a loop carries is a list of the same items at its start, in its passes and after it."""
    for statement in program.body:
        if isinstance(statement.rule, Loop):
            loop = statement.rule
            starts = map(program.fact, loop.parts(statement.operands).carried)
            leaves = [loop.body.facts[each] for each in loop.leaves(loop.body).carried]
            ends = map(loop.body.fact, loop.body.outputs())
            results = tree.leaves(program.facts[statement.target])
            for start, leaf, end, result in zip(starts, leaves, ends, results, strict=False):
                depths = {*map(_depth, (leaf, end, result))}
                assert len(depths) == 1
                assert _depth(start) in (*depths, 1)  # an empty list is one of anything
        for each in blocks_of(statement):
            _agree(each)


def _depth(fact: values.AbstractValue) -> int:
    return 1 + _depth(fact.item) if isinstance(fact, values.List) else 0
