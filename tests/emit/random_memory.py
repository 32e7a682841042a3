"""Random programs that are about memory: stores, views, lists, branches and loops, nested."""

from __future__ import annotations

import operator
import random

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.callee import Callee
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Attempt, Branch, Loop, block
from s2s_ad.core.tree import Tree

N = 4
FLOAT = np.dtype(float)
FACTS = {
    "vector": values.Array(FLOAT, (N,)),
    "part": values.Array(FLOAT, (N - 1,)),
    "matrix": values.Array(FLOAT, (N, N)),
    "number": values.Array(FLOAT, ()),
    "list": values.List(values.Array(FLOAT, (N,))),
    "integer": values.Scalar(int),
}
ARRAYS = ("vector", "part", "matrix")
CARRIED = ("vector", "vector", "matrix", "list", "number", "part")
INPUTS = ("vector", "vector", "matrix", "number", "list", "integer")


class Scope:
    """The values of a block, by kind; the latest are used most."""

    def __init__(self, rng: random.Random, builder: Builder, depth: int):
        self.rng, self.builder, self.depth = rng, builder, depth
        self.values: dict[str, list] = {kind: [] for kind in FACTS}

    def add(self, kind: str, value) -> None:
        if isinstance(value, Symbol):
            self.values[kind].append(value)

    def pick(self, kind: str):
        known = self.values[kind]
        if not known:
            return self.make(kind)
        return known[-1 - min(int(self.rng.expovariate(0.7)), len(known) - 1)]

    def make(self, kind: str):
        builder, rng = self.builder, self.rng
        if kind == "number":
            return rng.choice((0.5, -1.0, 2.0))
        if kind == "integer":
            return rng.randrange(N - 1)
        if kind == "list":
            items = [self.pick("vector") for _ in range(rng.randrange(3))]
            value = builder.call(runtime.list_of, tuple(items), {})
            if not items:
                value = builder.call(runtime.list_append, (value, self.pick("vector")), {})
        else:
            shape = {"vector": (N,), "part": (N - 1,), "matrix": (N, N)}[kind]
            value = builder.call(np.full, (shape, self.pick("number")), {})
        self.add(kind, value)
        return value

    def index(self, kind: str):
        """(index, kind of what it takes)."""
        rng = self.rng
        if kind == "list":
            return rng.choice((0, -1)), "vector"
        if kind == "part":
            return rng.choice([(rng.randrange(N - 1), "number"), (slice(None), "part")])
        if kind == "vector":
            return rng.choice(
                [
                    (rng.randrange(N), "number"),
                    (self.pick("integer"), "number"),
                    (slice(1, None), "part"),
                    (slice(None, -1), "part"),
                    (slice(None), "vector"),
                    (slice(None, None, -1), "vector"),
                ]
            )
        return rng.choice(
            [
                (rng.randrange(N), "vector"),
                (self.pick("integer"), "vector"),
                ((slice(None), rng.randrange(N)), "vector"),
                ((0, slice(1, None)), "part"),
                ((rng.randrange(N), self.pick("integer")), "number"),
                ((slice(None, None, -1), slice(None)), "matrix"),
                ((Ellipsis, 1), "vector"),
                ((1, 2, Ellipsis), "number"),
            ]
        )

    # ---- steps

    def step(self) -> None:
        name = self.rng.choices(list(STEPS), weights=list(STEPS.values()))[0]
        getattr(self, name)()

    def compute(self) -> None:
        kind = self.rng.choice(ARRAYS)
        x, y = self.pick(kind), self.pick(self.rng.choice((kind, "number")))
        function = self.rng.choice((operator.add, operator.mul, operator.sub))
        result = self.builder.call(function, (x, y), {})
        if self.rng.random() < 0.5:  # a variable that is updated
            self.builder.hints[result.name] = self.builder.hints[x.name] = Hint("x", "user")
        self.add(kind, np.tanh(result) if self.rng.random() < 0.2 else result)

    def sum(self) -> None:
        kind = self.rng.choice(ARRAYS)
        self.add("number", np.mean(self.pick(kind)))

    def read(self) -> None:
        kind = self.rng.choice(("vector", "matrix", "list"))
        index, taken = self.index(kind)
        self.add(taken, self.pick(kind)[index])

    def view(self) -> None:
        m, v = self.pick("matrix"), self.pick("vector")
        choice = self.rng.randrange(6)
        if choice == 0:
            self.add("matrix", np.transpose(m))
        elif choice == 1:
            self.add("vector", np.diagonal(m))
        elif choice == 2:
            self.add("vector", np.reshape(np.reshape(v, (2, 2)), (N,)))
        elif choice == 3:
            self.add("matrix", np.broadcast_to(v, (N, N)))
        elif choice == 4:
            self.add("vector", np.flip(v))
        else:
            self.add("vector", np.squeeze(np.expand_dims(v, 0), axis=0))

    def shape(self) -> None:
        kind = self.rng.choice(ARRAYS)
        self.add(kind, np.ones_like(self.pick(kind)))

    def store(self) -> None:
        kind = self.rng.choice(ARRAYS)
        x = self.pick(kind)
        index, taken = self.index(kind)
        value = self.pick(self.rng.choice((taken, taken, "number")))
        function = self.rng.choice((runtime.index_add, runtime.index_set))
        if kind == "vector" and self.rng.random() < 0.2:
            index = np.array((0, 2, 0)) if self.rng.random() < 0.5 else np.array((3, 1, 0))
            index = self.builder.call(np.array, (index.tolist(),), {})
            value = self.pick(self.rng.choice(("part", "number")))
        self.add(kind, self.builder.call(function, (x, index, value), {}))

    def write_back(self) -> None:
        """A view that is written through."""
        kind = self.rng.choice(("vector", "matrix", "list"))
        x = self.pick(kind)
        index, taken = self.index(kind)
        part = x[index]
        if not isinstance(part, Symbol) or taken == "number":
            return
        self.add(taken, part)
        for _ in range(self.rng.randrange(1, 3)):
            inner, of = self.index(taken)
            function = self.rng.choice((runtime.index_add, runtime.index_set))
            part = self.builder.call(function, (part, inner, self.pick(of)), {})
        if self.rng.random() < 0.2:
            part = part * 2.0
        self.add(taken, part)
        if self.rng.random() < 0.2:
            self.step()
        self.add(kind, self.builder.call(runtime.index_set, (x, index, part), {}))

    def append(self) -> None:
        items = self.builder.call(runtime.list_append, (self.pick("list"), self.pick("vector")), {})
        self.add("list", items)

    def pop(self) -> None:
        result = self.builder.call(runtime.list_pop, (self.pick("list"),), {})
        item, rest = (self.builder.emit_item(result, i) for i in range(2))
        self.add("list", rest)
        self.add("vector", item)
        if self.rng.random() < 0.4:  # what is left of the list may hold it too
            index, value = self.rng.randrange(N), self.pick("number")
            changed = self.builder.call(runtime.index_set, (item, index, value), {})
            self.add("vector", changed)
            self.add("vector", rest[self.rng.choice((0, -1))])

    def lists(self) -> None:
        a, b = self.pick("list"), self.pick("list")
        choice = self.rng.randrange(5)
        if choice == 4:
            v = self.pick("vector")
            self.add("list", self.builder.call(runtime.list_of, (v, self.pick("vector"), v), {}))
        elif choice == 0:
            self.add("list", self.builder.call(runtime.list_join, (a, b), {}))
        elif choice == 1:
            self.add("list", a[slice(None)])
        elif choice == 2:
            self.add("list", self.builder.call(runtime.list_rows, (self.pick("matrix"),), {}))
        else:
            self.add("list", self.builder.call(runtime.index_set, (a, 0, self.pick("vector")), {}))

    # ---- blocks

    def inside(self, kinds, results, steps, conditions=0, leaf_kinds=()) -> Program:
        """A block with leaves of these kinds and results of those."""
        builder = Builder()
        scope = Scope(self.rng, builder, self.depth + 1)
        leaves = [builder.symbol(FACTS[kind]) for kind in (*leaf_kinds, *kinds)]
        for kind, leaf in zip((*leaf_kinds, *kinds), leaves, strict=True):
            scope.add(kind, leaf)
        for _ in range(steps):
            scope.step()
        outputs = [scope.output(kind) for kind in results]
        for _ in range(conditions):
            outputs.append(builder.call(operator.gt, (scope.pick("number"), 0.3), {}))
        names = [leaf.name for leaf in leaves]
        return block(builder, names, outputs)

    def output(self, kind: str):
        value = self.pick(kind)
        return self.make(kind) if not isinstance(value, Symbol) and kind != "number" else value

    def some(self, count: int) -> list[str]:
        return [self.rng.choice(CARRIED) for _ in range(self.rng.randrange(1, count))]

    def enter(self, kinds, results) -> None:
        for kind, value in zip(kinds, results, strict=False):
            self.add(kind, value)

    def steps(self) -> int:
        return self.rng.randrange(1, 7)

    def branch(self) -> None:
        if self.depth > 2:
            return
        kinds, results = self.some(5), self.some(4)
        operands = [self.output(kind) for kind in kinds]
        condition = self.builder.call(operator.gt, (self.pick("number"), 0.1), {})
        made = Branch(*(self.inside(kinds, results, self.steps()) for _ in range(2)))
        self.enter(results, made.call(self.builder, [condition, *operands]))

    def attempt(self) -> None:
        if self.depth > 1:
            return
        kinds, results = self.some(5), self.some(4)
        known = {kind: len(each) for kind, each in self.values.items()}
        operands = [self.rng.choice((self.make, self.output))(kind) for kind in kinds]
        for kind, count in known.items():  # what was made for it is not read again
            del self.values[kind][count:]
        body, handler = (self.inside(kinds, results, self.steps()) for _ in range(2))
        if self.rng.random() < 0.6:
            body = _raising(body)
        made = Attempt(body, [form.Handled((IndexError,), "")], [handler])
        self.enter(results, made.call(self.builder, operands))

    def loop(self) -> None:
        if self.depth > 2:
            return
        carried, fixed = self.some(5), self.some(4)
        operands = [self.output(kind) for kind in (*carried, *fixed)]
        backwards = self.rng.random() < 0.3
        exits = self.rng.random() < 0.3
        body = self.inside(
            (*carried, *fixed), carried, self.steps(), int(exits), leaf_kinds=("integer",)
        )
        if self.rng.random() < 0.5:  # the values of another pass
            outputs = list(body.output.items)
            for a in range(len(carried)):
                same = [b for b in range(len(carried)) if carried[b] == carried[a]]
                b = self.rng.choice(same)
                outputs[a], outputs[b] = outputs[b], outputs[a]
            body = body.with_(output=Tree(tuple, body.output.keys, tuple(outputs)))
        made = Loop(body, len(carried), backwards=backwards, exits=exits)
        stop = self.rng.randrange(N)
        self.enter(carried, made.call(self.builder, [0, stop, 1, *operands]))

    def while_loop(self) -> None:
        """A loop that counts down."""
        if self.depth > 2:
            return
        carried, fixed = self.some(4), self.some(3)
        operands = [self.output(kind) for kind in (*carried, *fixed)]
        kinds = (*carried, *fixed)
        body = self.inside(kinds, carried, self.steps(), leaf_kinds=("number",))
        test = self.inside(kinds, (), self.rng.randrange(3), leaf_kinds=("number",))
        body, test = _counting(body), _positive(test)
        made = Loop(body, 1 + len(carried), test=test)
        results = made.call(self.builder, [float(self.rng.randrange(N)), *operands])
        self.enter(("number", *carried), results)

    def call(self) -> None:
        """A function that keeps its name: what it returns is its own."""
        kinds, results = ("vector", "number"), ("vector", "number")
        made = self.inside(kinds, results, 3)
        outputs = Tree(tuple, (0, 1), made.output.items)
        function = Callee(made.with_(output=outputs))
        operands = [self.output(kind) for kind in kinds]
        self.enter(results, function.call(self.builder, operands))


STEPS = {
    "append": 4, "attempt": 2, "branch": 2, "compute": 4, "lists": 2, "loop": 3, "pop": 2,
    "read": 5, "shape": 1, "store": 10, "sum": 2, "view": 3, "while_loop": 1, "write_back": 4,
}  # fmt: skip


def _counting(body: Program) -> Program:
    """The first leaf less one is the first output."""
    builder = Builder.of(body)
    builder.body = list(body.body)
    first = Symbol(builder, body.leaves()[0])
    less = to_node(first - 1.0)
    output = Tree(tuple, (*body.output.keys, len(body.output.keys)), (less, *body.output.items))
    return body.with_(
        body=tuple(builder.body), output=output, facts=builder.facts, hints=builder.hints
    )


def _raising(body: Program) -> Program:
    """The body, with an end that it does not come to."""
    builder = Builder.of(body)
    builder.body = list(body.body)
    nothing = builder.call(runtime.list_of, (), {})
    builder.call(runtime.list_pop, (nothing,), {})
    return body.with_(body=tuple(builder.body), facts=builder.facts, hints=builder.hints)


def _positive(test: Program) -> Program:
    builder = Builder.of(test)
    builder.body = list(test.body)
    first = Symbol(builder, test.leaves()[0])
    output = Tree(tuple, (0,), (to_node(first > 0.5),))
    return test.with_(
        body=tuple(builder.body), output=output, facts=builder.facts, hints=builder.hints
    )


def random_program(seed: int, inputs: tuple[str, ...] = INPUTS) -> Program:
    rng = random.Random(seed)
    builder = Builder()
    scope = Scope(rng, builder, 0)
    leaves = [builder.symbol(FACTS[kind], TEMPORARY) for kind in inputs]
    for kind, leaf in zip(inputs, leaves, strict=True):
        scope.add(kind, leaf)
    for _ in range(rng.randrange(3, 14)):
        scope.step()
    outputs = [scope.output(kind) for kind in scope.some(5)]
    nodes = tuple(map(to_node, outputs))
    return Program(
        name="f",
        doc="f",
        inputs=tuple(Input(f"x{i}", leaf.name) for i, leaf in enumerate(leaves)),
        body=tuple(builder.body),
        output=Tree(tuple, tuple(range(len(nodes))), nodes),
        facts=builder.facts,
        hints=builder.hints,
    ).verify()


def random_inputs(seed: int, inputs: tuple[str, ...] = INPUTS) -> list:
    """A value for each of the first inputs; some of them share memory."""
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(-1, 1, (N, N))
    first = rng.uniform(-1, 1, N)
    second = first if seed % 3 == 0 else matrix[1] if seed % 3 == 1 else rng.uniform(-1, 1, N)
    items = [first, rng.uniform(-1, 1, N), matrix[0]]
    number = np.float64(rng.uniform(-1, 1))
    return [first, second, matrix, number, items, seed % (N - 1)][: len(inputs)]
