"""Random programs that are about control flow: branches, loops, exits, errors, lists, nested.

Their values are integers and lists of integers, so that results are equal or wrong; their names
are of few words, so that variables of one name meet.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Sequence
from typing import Any

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, block
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED

INT = values.Scalar(int)
LIST = values.List(INT)
WORDS = ("x", "y", "h", "i")
MODULUS = 1009
DEEPEST = 3


class Scope:
    """The values of one block.

    Attributes:
        numbers: may be computed with.
        lists: may be appended to and read.
        perhaps: may be undefined here: they are handed on, and nothing else.
    """

    def __init__(self, rng: random.Random, depth: int):
        self.rng, self.depth = rng, depth
        self.builder = Builder()
        self.numbers: list[Symbol] = []
        self.lists: list[Symbol] = []
        self.perhaps: list[Symbol] = []

    def hint(self) -> Hint:
        kind = self.rng.choice(("user", "derived", "temporary", "temporary"))
        text = self.rng.choice(WORDS)
        return {
            "user": Hint(text, kind),
            "derived": Hint(f"{text}_bar", kind),
            "temporary": TEMPORARY,
        }[kind]

    def enter(self, value: Any, fact: Any = INT, *, perhaps: bool = False) -> None:
        if not isinstance(value, Symbol):
            return
        self.builder.named(value, self.hint())
        known = self.perhaps if perhaps else self.lists if fact == LIST else self.numbers
        known.append(value)

    def number(self) -> Any:
        """A number; the latest are used most."""
        if not self.numbers or self.rng.random() < 0.1:
            return self.rng.randrange(4)
        return self.recent(self.numbers)

    def value(self) -> Symbol:
        """A number that is not known when the text is written."""
        if not self.numbers:
            self.enter(self.call(runtime.list_of, 3, 1)[0])
        return self.recent(self.numbers)

    def recent(self, known: list[Symbol]) -> Symbol:
        return known[-1 - min(int(self.rng.expovariate(0.5)), len(known) - 1)]

    def call(self, function: Any, *operands: Any) -> Any:
        return self.builder.call(function, operands, {})

    def condition(self) -> Any:
        function = self.rng.choice((operator.lt, operator.gt, operator.eq, operator.ne))
        left = self.call(operator.mod, self.value(), 5)
        return self.call(function, left, self.rng.randrange(4))

    # ---- steps

    def step(self) -> None:
        shallow = self.depth < DEEPEST
        kinds = {
            "compute": 8,
            "branch": 2 * shallow,
            "loop": 2 * shallow,
            "while_loop": shallow,
            "attempt": 0.7 * shallow,
            "append": 2,
            "read": 1,
            "pop": 1,
            "sweeps": 0.7 * shallow,
            "guarded": 1.5 * shallow,
        }
        getattr(self, self.rng.choices(list(kinds), weights=list(kinds.values()))[0])()

    def compute(self) -> None:
        function = self.rng.choice((operator.add, operator.sub, operator.mul))
        result = self.call(function, self.number(), self.number())
        self.enter(self.call(operator.mod, result, MODULUS))

    def list(self) -> Symbol:
        if self.lists and self.rng.random() < 0.8:
            return self.recent(self.lists)
        items = [self.number() for _ in range(self.rng.randrange(3))]
        made = self.call(runtime.list_of, *items)
        if not items:
            made = self.call(runtime.list_append, made, self.number())
        self.enter(made, LIST)
        return made

    def append(self) -> None:
        self.enter(self.call(runtime.list_append, self.list(), self.number()), LIST)

    def read(self) -> None:
        items = self.call(runtime.list_append, self.list(), self.number())
        self.enter(items[self.rng.choice((0, -1))])

    def pop(self) -> None:
        items = self.call(runtime.list_append, self.list(), self.number())
        result = self.call(runtime.list_pop, items)
        item, rest = (self.builder.emit_item(result, i) for i in range(2))
        self.enter(item)
        if self.rng.random() < 0.7:
            self.enter(self.call(runtime.list_append, rest, item), LIST)

    # ---- blocks

    def operands(self, least: int = 0) -> tuple[list[Any], list[Any], list[bool]]:
        """(operands, their facts, which of them may be undefined)."""
        given, facts, perhaps = [], [], []
        for _ in range(self.rng.randrange(least, 5)):
            kind = self.rng.random()
            if kind < 0.25:
                given.append(self.list())
                facts.append(LIST)
            elif kind < 0.4 and self.perhaps:
                given.append(self.recent(self.perhaps))
                facts.append(INT)
            else:
                given.append(self.number())
                facts.append(INT)
            perhaps.append(any(given[-1] is each for each in self.perhaps))
        return given, facts, perhaps

    def inside(
        self, operands: Sequence[Any], facts: Sequence[Any], perhaps: Sequence[bool]
    ) -> tuple[Scope, list[str]]:
        """(the scope of a block, its leaves); a leaf may bear the name of the operand."""
        scope = Scope(self.rng, self.depth + 1)
        leaves = []
        for operand, fact, flag in zip(operands, facts, perhaps, strict=True):
            same = isinstance(operand, Symbol) and self.rng.random() < 0.5
            if same and operand.name not in leaves:
                leaf = scope.builder.adopt(operand.name, fact, self.builder.hints[operand.name])
            else:
                leaf = scope.builder.symbol(fact)
            scope.enter(leaf, fact, perhaps=flag)
            leaves.append(leaf.name)
        return scope, leaves

    def run(self, most: int = 5) -> None:
        for _ in range(self.rng.randrange(most)):
            self.step()

    def output(self, fact: Any, *, perhaps: bool = False) -> Any:
        if perhaps and self.perhaps and self.rng.random() < 0.6:
            return self.recent(self.perhaps)
        if perhaps and self.rng.random() < 0.5:
            return UNDEFINED
        return self.list() if fact == LIST else self.number()

    def results(self) -> tuple[list[Any], list[bool]]:
        count = self.rng.randrange(1, 5)
        flags = [self.rng.random() < 0.2 for _ in range(count)]
        return [INT if flag or self.rng.random() < 0.7 else LIST for flag in flags], flags

    def take(self, made: Any, operands: list, facts: Sequence, perhaps: Sequence[bool]) -> list:
        outputs = made.call(self.builder, operands)
        pairs = list(zip(outputs, facts, perhaps, strict=False))
        self.rng.shuffle(pairs)
        for value, fact, flag in pairs[: self.rng.randrange(len(pairs) + 1)]:
            self.enter(value, fact, perhaps=flag)
        return outputs

    def branch(self) -> None:
        operands, facts, perhaps = self.operands()
        wanted, flags = self.results()
        blocks = []
        for _ in range(2):
            scope, leaves = self.inside(operands, facts, perhaps)
            scope.run()
            outputs = [scope.output(f, perhaps=p) for f, p in zip(wanted, flags, strict=True)]
            blocks.append(block(scope.builder, leaves, outputs))
        self.take(Branch(*blocks), [self.condition(), *operands], wanted, flags)

    def attempt(self) -> None:
        operands, facts, perhaps = self.operands()
        wanted, flags = self.results()
        blocks = []
        for number in range(2):
            scope, leaves = self.inside(operands, facts, perhaps)
            scope.run(4)
            if number == 0:  # this may raise
                divisor = scope.call(operator.mod, scope.value(), 2)
                scope.enter(scope.call(operator.floordiv, scope.number(), divisor))
                scope.run(3)
            outputs = [scope.output(f, perhaps=p) for f, p in zip(wanted, flags, strict=True)]
            blocks.append(block(scope.builder, leaves, outputs))
        made = Attempt(blocks[0], [form.Handled((ZeroDivisionError,), "")], blocks[1:])
        self.take(made, operands, [*wanted, INT], [*flags, False])

    def loop(self) -> None:
        carried, facts, perhaps = self.operands(least=1)
        fixed, fixed_facts, fixed_perhaps = self.operands()
        for place, flag in enumerate(perhaps):
            if not flag and facts[place] == INT and self.rng.random() < 0.15:
                carried[place], perhaps[place] = UNDEFINED, True
        exits, backwards = self.rng.random() < 0.4, self.rng.random() < 0.3
        scope, leaves = self.inside(
            [None, *carried, *fixed],
            [INT, *facts, *fixed_facts],
            [False, *perhaps, *fixed_perhaps],
        )
        scope.run()
        outputs = scope.carried(leaves[1 : 1 + len(carried)], facts, perhaps)
        if exits:
            outputs.append(scope.leaving())
        body = block(scope.builder, leaves, outputs)
        made = Loop(body, len(carried), backwards=backwards, exits=exits)
        self.take(made, [*self.bounds(), *carried, *fixed], facts, perhaps)

    def bounds(self) -> list[Any]:
        step = self.rng.choice((1, 1, 1, 2, -1))
        stop = self.call(operator.mod, self.number(), 4)
        if step < 0:
            return [stop, 0, step]
        return [self.rng.choice((0, 0, 0, 1)), stop, step]

    def carried(self, leaves: list[str], facts: list, perhaps: list[bool]) -> list[Any]:
        """What a pass hands to the next; sometimes what it was given, in another order."""
        if self.rng.random() < 0.25:
            places = list(range(len(leaves)))
            for a in places:
                like = [b for b in places if (facts[b], perhaps[b]) == (facts[a], perhaps[a])]
                b = self.rng.choice(like)
                leaves[a], leaves[b] = leaves[b], leaves[a]
            return [Symbol(self.builder, leaf) for leaf in leaves]
        return [
            Symbol(self.builder, leaf)
            if self.rng.random() < 0.2
            else self.output(fact, perhaps=flag)
            for leaf, fact, flag in zip(leaves, facts, perhaps, strict=True)
        ]

    def leaving(self) -> Any:
        """Whether a loop ends: a condition, or what branches say in each of their sides."""
        if self.depth > DEEPEST or self.rng.random() < 0.4:
            return self.condition()
        operands, facts, perhaps = self.operands()
        wanted, flags = self.results()
        blocks = []
        for _ in range(2):
            scope, leaves = self.inside(operands, facts, perhaps)
            scope.run(3)
            leave = self.rng.choice((True, False, False, None))
            stop = scope.leaving() if leave is None else leave
            outputs = [scope.output(f, perhaps=p) for f, p in zip(wanted, flags, strict=True)]
            blocks.append(block(scope.builder, leaves, [*outputs, stop]))
        outputs = self.take(Branch(*blocks), [self.condition(), *operands], wanted, flags)
        return outputs[-1]

    def while_loop(self) -> None:
        """A loop that counts down, unless it is left before."""
        carried, facts, perhaps = self.operands()
        fixed, fixed_facts, fixed_perhaps = self.operands()
        exits = self.rng.random() < 0.3
        forever = exits and self.rng.random() < 0.5
        blocks = []
        for number in range(2):
            given = [None, *carried, *fixed]
            scope, leaves = self.inside(
                given, [INT, *facts, *fixed_facts], [False, *perhaps, *fixed_perhaps]
            )
            counter = Symbol(scope.builder, leaves[0])
            scope.run(3 if number == 0 else 5)
            more = scope.call(operator.gt, counter, 0)
            outputs: list = [True if forever else more]
            if number == 1:
                own = scope.carried(leaves[1 : 1 + len(carried)], facts, perhaps)
                outputs = [scope.call(operator.sub, counter, 1), *own]
                if exits:
                    outputs.append(
                        scope.call(operator.le, counter, 0) if forever else scope.leaving()
                    )
            blocks.append(block(scope.builder, leaves, outputs))
        made = Loop(blocks[1], 1 + len(carried), test=blocks[0], exits=exits)
        start = self.call(operator.mod, self.number(), 4)
        self.take(made, [start, *carried, *fixed], [INT, *facts], [False, *perhaps])

    def sweeps(self) -> None:
        """A loop that keeps a value of each pass, and a loop back over what was kept."""
        saved = self.call(runtime.list_of)
        count = self.call(operator.mod, self.number(), 4)
        x = self.number()
        scope, leaves = self.inside([None, saved, x], [INT, LIST, INT], [False] * 3)
        saved_leaf, x_leaf = (Symbol(scope.builder, name) for name in leaves[1:])
        kept = scope.call(runtime.list_append, saved_leaf, x_leaf)
        scope.lists.clear()
        scope.run(3)
        forward = Loop(block(scope.builder, leaves, [kept, scope.number()]), 2)
        kept, x = forward.call(self.builder, [0, count, 1, saved, x])
        scope, leaves = self.inside([None, kept, x, x], [INT, LIST, INT, INT], [False] * 4)
        result = scope.call(runtime.list_pop, Symbol(scope.builder, leaves[1]))
        item, rest = (scope.builder.emit_item(result, i) for i in range(2))
        scope.lists.clear()
        scope.enter(item)
        scope.run(3)
        outputs = [rest, item, scope.number()]
        backward = Loop(block(scope.builder, leaves, outputs), 3, backwards=True)
        _, x, y = backward.call(self.builder, [0, count, 1, kept, x, x])
        self.enter(x)
        self.enter(y)

    def guarded(self) -> None:
        """A value of one side of a branch, read where the same side runs again."""
        condition = self.condition()
        value = self.one_side(condition, None)
        if self.rng.random() < 0.5:
            self.step()
        if self.rng.random() < 0.6:
            value = self.through_loop(condition, value)
        self.enter(value, perhaps=True)
        if self.rng.random() < 0.5:
            self.step()
        operands = [value, self.number()]
        blocks = []
        for side in range(2):
            scope, leaves = self.inside(operands, [INT, INT], [side == 1, False])
            scope.run(3)
            blocks.append(block(scope.builder, leaves, [scope.number()]))
        self.enter(*Branch(*blocks).call(self.builder, [condition, *operands]))

    def one_side(self, condition: Any, value: Symbol | None) -> Any:
        """A branch of which only the first side has a value, or hands one on."""
        operands = [self.value() if value is None else value]
        then, leaves = self.inside(operands, [INT], [False])
        then.run(3)
        orelse, others = self.inside(operands, [INT], [value is not None])
        orelse.run(3)
        result = then.number() if self.rng.random() < 0.7 else then.numbers[0]
        other = Symbol(orelse.builder, others[0]) if value is not None else UNDEFINED
        if self.rng.random() < 0.5:
            other = UNDEFINED
        blocks = block(then.builder, leaves, [result]), block(orelse.builder, others, [other])
        (made,) = Branch(*blocks).call(self.builder, [condition, *operands])
        return made

    def through_loop(self, condition: Any, value: Symbol) -> Symbol:
        """What is there on one side only is carried by a loop."""
        other = self.number()
        operands = [None, value, other, condition]
        scope, leaves = self.inside(operands, [INT] * 4, [False, True, False, True])
        inner, own = (Symbol(scope.builder, leaves[place]) for place in (1, 3))
        scope.run(3)
        for _ in range(self.rng.randrange(3)):
            inner = scope.one_side(own, inner)
        outputs = [inner, scope.number()]
        if self.rng.random() < 0.3:
            outputs[0] = Symbol(scope.builder, leaves[1])
        loop = Loop(block(scope.builder, leaves, outputs), 2)
        made, other = loop.call(self.builder, [*self.bounds(), value, other, condition])
        self.enter(other)
        return made


def random_program(seed: int) -> Program:
    """A program of four integers and a list."""
    rng = random.Random(seed)
    scope = Scope(rng, 0)
    facts = (INT, INT, INT, INT, LIST)
    leaves = [
        scope.builder.symbol(fact, Hint(f"{rng.choice(WORDS)}{i}", "user"))
        for i, fact in enumerate(facts)
    ]
    for leaf, fact in zip(leaves, facts, strict=True):
        scope.enter(leaf, fact)
    for _ in range(rng.randrange(3, 9)):
        scope.step()
    wanted, _ = scope.results()
    nodes = tuple(to_node(scope.output(fact)) for fact in wanted)
    inputs = (Input(scope.builder.hints[leaf.name].text, leaf.name) for leaf in leaves)
    return Program(
        name="f",
        doc="f",
        inputs=tuple(inputs),
        body=tuple(scope.builder.body),
        output=Tree(tuple, tuple(range(len(nodes))), nodes),
        facts=scope.builder.facts,
        hints=scope.builder.hints,
    ).verify()


def random_inputs(seed: int) -> list:
    rng = random.Random(seed)
    return [*(rng.randrange(12) for _ in range(4)), [rng.randrange(9) for _ in range(3)]]
