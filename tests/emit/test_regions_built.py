"""Programs built by hand, for what random ones seldom meet."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from programs.interpreter import interpret
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.program import Hint, Input, Program
from s2s_ad.core.regions import Attempt, Loop, block
from s2s_ad.core.tree import Tree
from s2s_ad.emit.write import write
from s2s_ad.load.module import load

INT = values.Scalar(int)
VECTOR = values.Array(np.dtype(float), (values.fresh_dim(False),))
NUMBER = values.Array(np.dtype(float), ())


def part(facts, fill):
    """A block with leaves of these facts; `fill` takes their Symbols and returns the outputs."""
    builder = Builder()
    leaves = [builder.symbol(fact) for fact in facts]
    return block(builder, [leaf.name for leaf in leaves], fill(*leaves))


def program(facts, fill):
    """A program with inputs `x0`, `x1` ... of these facts."""
    builder = Builder()
    leaves = [builder.symbol(fact, Hint(f"x{i}", "user")) for i, fact in enumerate(facts)]
    nodes = tuple(map(to_node, fill(*leaves)))
    return Program(
        name="f",
        doc="f",
        inputs=tuple(Input(f"x{i}", leaf.name) for i, leaf in enumerate(leaves)),
        body=tuple(builder.body),
        output=Tree(tuple, tuple(range(len(nodes))), nodes),
        facts=builder.facts,
        hints=builder.hints,
    ).verify()


def function_of(built):
    return load(built, write(built)).function


def test_a_handler_reads_what_was_there_before_the_body():
    """The body has doubled the number when it fails; the handler goes on from the number."""
    body = part([INT, INT], lambda i, x: [x * 2, _call(operator.floordiv, 5, i - 1)])
    handler = part([INT, INT], lambda i, x: [x + 100, 0])
    attempt = Attempt(body, [form.Handled((ZeroDivisionError,), "")], [handler])
    passes = part([INT] * 3, lambda i, x, y: attempt.call(i.builder, [i, x])[:2])
    built = program([INT], lambda x: Loop(passes, 2).call(x.builder, [0, 3, 1, x, 0]))
    assert list(function_of(built)(7)) == interpret(built, [7]) == [(7 * 2 + 100) * 2, 5]


def _call(function, *operands):
    (builder,) = {each.builder for each in operands if not isinstance(each, int)}
    return builder.call(function, operands, {})


def test_what_may_raise_before_a_try_is_not_computed_in_it():
    body, handler = part([NUMBER], lambda x: [x * 2.0]), part([NUMBER], lambda x: [0.0])
    attempt = Attempt(body, [form.Handled((IndexError,), "")], [handler])
    function = function_of(program([VECTOR], lambda x: attempt.call(x.builder, [x[9]])[:1]))
    with pytest.raises(IndexError):
        function(np.ones(3))
