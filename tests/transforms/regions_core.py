"""Branches and loops in Core, written by hand, with the Python function that each stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.program import Hint, Input, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, block, index_size
from s2s_ad.core.tree import Tree

SCALAR = values.Array(np.dtype(float), ())
INTEGER = values.Scalar(int)
FLOAT = values.Scalar(float)


def vector() -> values.Array:
    return values.Array(np.dtype(float), (values.fresh_dim(False),))


def program(facts: Sequence[Any], write: Callable) -> Program:
    """A program whose leaves have these facts; `write(*leaves)` gives its outputs."""
    builder = Builder()
    leaves = [builder.symbol(fact, Hint(f"x{i}", "user")) for i, fact in enumerate(facts)]
    outputs = write(builder, *leaves)
    return Program(
        name="f",
        doc="f",
        inputs=tuple(Input(f"x{i}", leaf.name) for i, leaf in enumerate(leaves)),
        body=tuple(builder.body),
        output=Tree(tuple, tuple(range(len(outputs))), tuple(map(to_node, outputs))),
        facts=builder.facts,
        hints=builder.hints,
    ).verify()


def inside(facts: Sequence[Any], write: Callable) -> Program:
    """A block whose leaves have these facts; `write(builder, *leaves)` gives its outputs."""
    builder = Builder()
    leaves = [builder.symbol(fact) for fact in facts]
    return block(builder, [each.name for each in leaves], write(builder, *leaves))


def branch(builder: Builder, condition: Any, operands: Sequence[Any], then, orelse) -> list:
    facts = [builder.fact(each) for each in operands]
    made = Branch(inside(facts, then), inside(facts, orelse))
    return made.call(builder, [condition, *operands])


def loop(
    builder: Builder,
    body: Callable,
    carried: Sequence[tuple[Any, Any]],
    fixed: Sequence[Any] = (),
    *,
    bounds: Sequence[Any] = (),
    test: Callable | None = None,
    backwards: bool = False,
    exits: bool = False,
) -> list:
    """Carried values are pairs: the value before the loop, and the fact that holds throughout."""
    facts = [fact for _, fact in carried] + [builder.fact(each) for each in fixed]
    index = [INTEGER] if test is None else []

    def numbered(b: Builder, *leaves: Any) -> Any:
        if test is None:
            b.is_size(leaves[0], index_size(builder, bounds))
        return body(b, *leaves)

    made = Loop(
        inside([*index, *facts], numbered),
        len(carried),
        test=None if test is None else inside(facts, test),
        backwards=backwards,
        exits=exits,
    )
    return made.call(builder, [*bounds, *(value for value, _ in carried), *fixed])


def attempt(builder: Builder, operands: Sequence[Any], body, errors, handlers) -> list:
    facts = [builder.fact(each) for each in operands]
    kinds = [form.Handled(each, "") for each in errors]
    made = Attempt(inside(facts, body), kinds, [inside(facts, each) for each in handlers])
    return made.call(builder, list(operands))


def append(builder: Builder, items: Any, value: Any) -> Any:
    return builder.call(runtime.list_append, (items, value), {})


def pop(builder: Builder, items: Any) -> list:
    result = builder.call(runtime.list_pop, (items,), {})
    return [builder.emit_item(result, i) for i in range(2)]


def set_at(builder: Builder, array: Any, index: Any, value: Any) -> Any:
    return builder.call(runtime.index_set, (array, index, value), {})


# ---- the table -----------------------------------------------------------------------------------

CASES: dict[str, tuple[Callable, Callable[[], Program], tuple]] = {}


def case(facts: Callable[[], Sequence[Any]] | Sequence[Any], *arguments: Any) -> Callable:
    """Enter a pair (function, writer of its Core) with the arguments that it is tested at."""

    def enter(pair: Callable) -> Callable:
        function, write = pair()

        def build() -> Program:
            return program(facts() if callable(facts) else facts, write)

        CASES[pair.__name__] = (function, build, arguments)
        return pair

    return enter


@case([SCALAR, SCALAR], 0.7, 1.3)
def two_sides():
    def f(x, a):
        y = np.sin(x) * a if x < a else x * x
        return y + x

    def write(b, x, a):
        (y,) = branch(
            b,
            x < a,
            [x, a],
            lambda b, x, a: [np.sin(x) * a],
            lambda b, x, a: [x * x],
        )
        return [y + x]

    return f, write


@case([SCALAR], -0.7)
def constant_side():
    def f(x):
        y = np.log(x) if x > 0 else 0.0
        return y * x

    def write(b, x):
        (y,) = branch(b, x > 0, [x], lambda b, x: [np.log(x)], lambda b, x: [0.0])
        return [y * x]

    return f, write


@case(lambda: [vector(), SCALAR], np.array([0.3, 0.8]), 0.4)
def one_side_keeps():
    def f(x, a):
        if np.sum(x) > a:
            x = np.exp(x) * a
        return np.sum(x * x)

    def write(b, x, a):
        (y,) = branch(
            b, np.sum(x) > a, [x, a], lambda b, x, a: [np.exp(x) * a], lambda b, x, a: [x]
        )
        return [np.sum(y * y)]

    return f, write


@case(lambda: [vector(), SCALAR], np.array([0.3, 0.8]), 0.4)
def constant_array_side():
    def f(x, a):
        y = np.ones_like(x) if a > 0 else x * a
        return np.sum(y * x)

    def write(b, x, a):
        (y,) = branch(b, a > 0, [x, a], lambda b, x, a: [np.ones_like(x)], lambda b, x, a: [x * a])
        return [np.sum(y * x)]

    return f, write


@case([SCALAR], 0.7)
def name_of_one_path():
    def f(x):
        if x > 0.5:
            y, flag = np.sin(x), True
        else:
            flag = False
        if flag:
            x = x * y
        return x

    def write(b, x):
        y, flag = branch(
            b,
            x > 0.5,
            [x],
            lambda b, x: [np.sin(x), True],
            lambda b, x: [values.UNDEFINED, False],
        )
        return branch(b, flag, [x, y], lambda b, x, y: [x * y], lambda b, x, y: [x])

    return f, write


@case([SCALAR, SCALAR], 0.7, 1.1)
def nested():
    def f(x, a):
        if x > 0:
            y = np.sqrt(x) * a if a > 1 else x + a
        else:
            y = 1.0
        return y * x

    def write(b, x, a):
        def then(b, x, a):
            return branch(
                b, a > 1, [x, a], lambda b, x, a: [np.sqrt(x) * a], lambda b, x, a: [x + a]
            )

        (y,) = branch(b, x > 0, [x, a], then, lambda b, x, a: [1.0])
        return [y * x]

    return f, write


@case([SCALAR, SCALAR, INTEGER], 3.1, 0.4, 5)
def logistic_map():
    def f(r, x, n):
        for _ in range(n):
            x = r * x * (1 - x)
        return x

    def write(b, r, x, n):
        return loop(
            b,
            lambda b, i, x, r: [r * x * (1 - x)],
            [(x, SCALAR)],
            [r],
            bounds=(0, n, 1),
        )

    return f, write


@case([SCALAR], 0.4)
def carried_number():
    """What is carried starts as a number without a tangent; one carried value has none."""

    def f(x):
        total, k, last = 0.0, 1, 2.0
        for i in range(4):
            last = total
            total = total + np.sin(x) * i
            k = k * 2
        return total * k + last

    def write(b, x):
        total, k, last = loop(
            b,
            lambda b, i, total, k, last, x: [total + np.sin(x) * i, k * 2, total],
            [(0.0, SCALAR), (1, INTEGER), (2.0, SCALAR)],
            [x],
            bounds=(0, 4, 1),
        )
        return [total * k + last]

    return f, write


@case(lambda: [vector(), SCALAR], np.array([0.3, 0.8, -0.2]), 0.4)
def rows():
    """Elements are read and written, from the last to the first."""

    def f(x, a):
        y = np.zeros_like(x)
        for i in reversed(range(1, len(x))):
            y[i] = np.sin(x[i]) * a + x[i - 1]
            y[0] += x[i]
        return np.sum(y * x)

    def write(b, x, a):
        def body(b, i, y, x, a):
            y = set_at(b, y, i, np.sin(x[i]) * a + x[i - 1])
            return [b.call(runtime.index_add, (y, 0, x[i]), {})]

        (y,) = loop(
            b,
            body,
            [(np.zeros_like(x), x.fact)],
            [x, a],
            bounds=(1, np.size(x), 1),
            backwards=True,
        )
        return [np.sum(y * x)]

    return f, write


@case([SCALAR], 2.5)
def newton_sqrt():
    def f(a):
        x = a
        while abs(x * x - a) > 1e-10:
            x = 0.5 * (x + a / x)
        return x

    def write(b, a):
        return loop(
            b,
            lambda b, x, a: [0.5 * (x + a / x)],
            [(a, SCALAR)],
            [a],
            test=lambda b, x, a: [abs(x * x - a) > 1e-10],
        )

    return f, write


@case([SCALAR], 0.35)
def leaves_early():
    def f(x):
        total, k = 0.0, 0
        for i in range(20):
            total = total + x * (i + 1)
            k = i
            if total > 5.0:
                break
        return total * np.cos(x) + k * x

    def write(b, x):
        def body(b, i, total, k, x):
            total = total + x * (i + 1)
            return [total, i, total > 5.0]

        total, k = loop(b, body, [(0.0, SCALAR), (0, INTEGER)], [x], bounds=(0, 20, 1), exits=True)
        return [total * np.cos(x) + k * x]

    return f, write


@case([SCALAR], 0.35)
def while_that_exits():
    def f(x):
        y, k = x, 0
        while y < 10.0:
            y = y * (1.5 + x)
            k = k + 1
            if k == 4:
                break
        return y

    def write(b, x):
        y, _ = loop(
            b,
            lambda b, y, k, x: [y * (1.5 + x), k + 1, b.call(np.equal, (k + 1, 4), {})],
            [(x, SCALAR), (0, INTEGER)],
            [x],
            test=lambda b, y, k, x: [y < 10.0],
            exits=True,
        )
        return [y]

    return f, write


@case([SCALAR, INTEGER], 0.9, 4)
def kept_list():
    """Appended to in one loop, popped in the next."""

    def f(x, n):
        kept = []
        for _ in range(n):
            kept.append(x)
            x = np.sin(x) + x
        while kept:
            x = x * kept.pop()
        return x

    def write(b, x, n):
        items = values.List(SCALAR)

        def body(b, i, x, kept):
            return [np.sin(x) + x, append(b, kept, x)]

        start = b.call(runtime.list_of, (), {})
        x, kept = loop(b, body, [(x, SCALAR), (start, items)], bounds=(0, n, 1))

        def back(b, x, kept):
            last, rest = pop(b, kept)
            return [x * last, rest]

        x, _ = loop(
            b,
            back,
            [(x, SCALAR), (kept, items)],
            test=lambda b, x, kept: [np.size(kept, 0) > 0],
        )
        return [x]

    return f, write


@case([SCALAR, INTEGER], 0.9, 3)
def loop_in_loop():
    def f(x, n):
        total = 0.0
        for i in range(n):
            y = x
            for j in range(i):
                y = y * x if y * j < 3.0 else np.cos(y)
            total = total + y
        return total

    def write(b, x, n):
        def inner(b, j, y, x):
            return branch(
                b, y * j < 3.0, [y, x], lambda b, y, x: [y * x], lambda b, y, x: [np.cos(y)]
            )

        def outer(b, i, total, x):
            (y,) = loop(b, inner, [(x, SCALAR)], [x], bounds=(0, i, 1))
            return [total + y]

        return loop(b, outer, [(0.0, SCALAR)], [x], bounds=(0, n, 1))

    return f, write


@case([FLOAT], 0.0)
def tried():
    def f(x):
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            y = 3.0 * x
        return y + x * x

    def write(b, x):
        y, _ = attempt(
            b,
            [x],
            lambda b, x: [1.0 / x],
            [(ZeroDivisionError,)],
            [lambda b, x: [3.0 * x]],
        )
        return [y + x * x]

    return f, write


@case([FLOAT, FLOAT], 0.5, 0.0)
def tried_twice():
    def f(x, a):
        try:
            z = x * x
            y = z / a
        except IndexError:
            y = x
        except ZeroDivisionError:
            y = np.sin(x) * x
        return y

    def write(b, x, a):
        y, _ = attempt(
            b,
            [x, a],
            lambda b, x, a: [x * x / a],
            [(IndexError,), (ZeroDivisionError,)],
            [lambda b, x, a: [x], lambda b, x, a: [np.sin(x) * x]],
        )
        return [y]

    return f, write
