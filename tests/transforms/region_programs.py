"""Random programs in Core: branches, loops and stores of elements in each other."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import Program
from transforms.regions_core import INTEGER, SCALAR, branch, loop, program, vector

LENGTH = 5  # of the vectors; what loops count is below it by two, or one

State = dict[str, Any]  # name -> value; a, b are numbers, u, v vectors, k a whole number


def random_program(seed: int) -> Program:
    """A program of two numbers, two vectors and a whole number."""
    fact = vector()
    facts = [SCALAR, SCALAR, fact, fact, INTEGER]

    def write(builder: Builder, *leaves: Symbol) -> list:
        state = dict(zip("abuvk", leaves, strict=True))
        state = Writer(random.Random(seed), fact).block(builder, state, 3, 4)
        return [state["a"] * state["b"] + np.sum(state["u"] * state["v"])]

    return program(facts, write)


def arguments(seed: int) -> list:
    rng = np.random.default_rng(seed)
    numbers = [float(each) for each in rng.uniform(0.3, 1.2, size=2)]
    return [*numbers, *rng.uniform(-1, 1, size=(2, LENGTH)), int(rng.integers(0, 4))]


class Writer:
    """Writes blocks of random statements on a state."""

    def __init__(self, rng: random.Random, fact: values.Array):
        self.rng, self.fact = rng, fact

    def block(self, builder: Builder, state: State, depth: int, count: int) -> State:
        """The state after some statements."""
        state = dict(state)
        for _ in range(self.rng.randint(1, count)):
            kinds = [self.assign, self.assign, self.store]
            if depth:
                kinds += [self.branch, self.branch, self.loop, self.loop]
            self.rng.choice(kinds)(builder, state, depth)
        return state

    def number(self, state: State) -> Any:
        a, b = state["a"], state["b"]
        choices = [
            lambda: a * b,
            lambda: a + 0.3 * b,
            lambda: np.sin(a),
            lambda: np.tanh(a - b),
            lambda: b / (1.5 + a * a),
            lambda: np.exp(-a * a),
            lambda: state["u"][self.rng.randrange(LENGTH)] * a,
            lambda: np.sum(state["u"] * state["v"]) * 0.3,
            lambda: a * state["k"] * 0.2,
            lambda: 0.7,
            lambda: b,
        ]
        return self.rng.choice(choices)()

    def array(self, state: State) -> Any:
        u, v, a = state["u"], state["v"], state["a"]
        choices = [
            lambda: u * a,
            lambda: np.sin(u) + v,
            lambda: u * v,
            lambda: np.tanh(u * v) * a,
            lambda: u / (2.0 + v * v),
            lambda: np.exp(-v * v),
            lambda: np.zeros_like(u),
            lambda: v,
        ]
        return self.rng.choice(choices)()

    def index(self, state: State) -> Any:
        if "i" not in state or self.rng.random() < 0.2:
            return self.rng.randrange(LENGTH)
        return state["i"] + self.rng.choice([-1, 0, 0, 1])

    def assign(self, builder: Builder, state: State, depth: int) -> None:
        if self.rng.random() < 0.6:
            state[self.rng.choice("ab")] = self.number(state)
        else:
            state[self.rng.choice("uv")] = self.array(state)

    def store(self, builder: Builder, state: State, depth: int) -> None:
        name = self.rng.choice("uv")
        other = state[self.rng.choice("uv")]
        value = self.rng.choice(
            [
                lambda: state["a"],
                lambda: other[self.index(state)] * state["b"],
                lambda: np.sin(other[self.index(state)]),
                lambda: other[self.index(state)] ** 2 * state["a"],
                lambda: 0.5,
            ]
        )()
        update = self.rng.choice([runtime.index_set, runtime.index_add])
        state[name] = builder.call(update, (state[name], self.index(state), value), {})

    def condition(self, state: State) -> Any:
        return self.rng.choice(
            [
                lambda: state["a"] > state["b"],
                lambda: np.sum(state["u"]) > 0.1,
                lambda: state["k"] > 1,
                lambda: state["v"][0] < 0.2,
            ]
        )()

    def branch(self, builder: Builder, state: State, depth: int) -> None:
        names, keys = list("abuv"), list(state)

        def side(builder: Builder, *leaves: Symbol) -> list:
            inner = self.block(builder, dict(zip(keys, leaves, strict=True)), depth - 1, 2)
            return [inner[name] for name in names]

        operands = [state[key] for key in keys]
        operands = [self.as_symbol(builder, each) for each in operands]
        found = branch(builder, self.condition(state), operands, side, side)
        state.update(zip(names, found, strict=True))

    def as_symbol(self, builder: Builder, value: Any) -> Any:
        """Numbers that are known take part as they are."""
        return value

    def loop(self, builder: Builder, state: State, depth: int) -> None:
        names = [name for name in "abuv" if self.rng.random() < 0.7] or ["a"]
        fixed = [key for key in state if key not in names and key != "i"]
        exits, is_while = self.rng.random() < 0.3, self.rng.random() < 0.25
        facts = {"a": SCALAR, "b": SCALAR, "u": self.fact, "v": self.fact}

        def body(builder: Builder, i: Symbol, *leaves: Symbol) -> list:
            inner = dict(zip([*names, *fixed], leaves, strict=True)) | {"i": i}
            inner = self.block(builder, inner, depth - 1, 3)
            ends = [self.condition(inner)] if exits else []
            return [*(inner[name] for name in names), *ends]

        carried = [(state[name], facts[name]) for name in names]
        others = [state[key] for key in fixed]
        if is_while:
            found = loop(
                builder,
                lambda b, i, *rest: [i + 1, *body(b, i, *rest)],
                [(0, INTEGER), *carried],
                others,
                test=lambda b, i, *rest: [i < 3],
                exits=exits,
            )[1:]
        else:
            stop = self.rng.choice([state["k"], 2, LENGTH - 1])
            found = loop(
                builder,
                body,
                carried,
                others,
                bounds=(self.rng.choice([0, 0, 1]), stop, self.rng.choice([1, 1, 2])),
                backwards=self.rng.random() < 0.3,
                exits=exits,
            )
        state.update(zip(names, found, strict=True))
