"""The derivative of a function along a direction in three ways: forward, reverse, differences."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Collection
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.api.make import jit
from s2s_ad.check.differences import is_real, leaves, like, moved, precision
from s2s_ad.core import form, tree
from s2s_ad.core.program import Input, Program
from s2s_ad.core.sharing import lazy
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import NoForwardMode
from s2s_ad.emit.write import write
from s2s_ad.frontend.signatures import signature_of
from s2s_ad.load.module import load
from s2s_ad.simplify.pipelines import finish
from s2s_ad.transforms.common import Target, check_output, is_floating, pair
from s2s_ad.transforms.gradients import cotangent_program, tangent_program


class Modes:
    """A function at some arguments, with a random direction for each input and weights for outputs.

    Args:
        fn, args: the function and where; `rng`: makes the directions and the weights.
        only: paths of the leaves that are looked at; None for all that are floating-point.
        first_output: the other outputs are left out.

    Attributes:
        args: the arguments by the name of their parameter.
        paths: of each leaf of `args` that is looked at; `directions`: one for each of them.
        value: the floating-point leaves of the output; `weights`: an adjoint for each of them.
    """

    def __init__(
        self,
        fn: Callable,
        args: tuple,
        rng: np.random.Generator,
        *,
        only: Collection[tree.Path] | None = None,
        first_output: bool = False,
    ):
        bound = signature_of(fn).bind(*args)
        bound.apply_defaults()
        program = _program(fn, args)
        self.args = {each.name: bound.arguments[each.name] for each in program.inputs}
        self._choose = (lambda out: out[0]) if first_output else (lambda out: out)
        self._program = program.with_(output=program.output.items[0]) if first_output else program
        check_output(self._program, self._program.output)
        self._active = [is_floating(self._program, atom) for atom in self._program.outputs()]
        self._evaluate = _evaluator(fn, program, bound)
        self.paths = [
            path
            for path in tree.paths(tree.from_object(self.args, lambda leaf, _: leaf))
            if is_real(tree.follow(self.args, path)) and (only is None or path in only)
        ]
        self.directions = [_direction(self.leaf(i), rng) for i in range(len(self.paths))]
        self.value = self._outputs(self.args)
        self.weights = [like(rng.standard_normal(np.shape(y)), y) for y in self.value]

    def leaf(self, i: int) -> Any:
        return tree.follow(self.args, self.paths[i])

    def label(self, i: int) -> str:
        """What the user calls leaf `i`."""
        (_, name), *rest = self.paths[i]
        return tree.path_text(name, tuple(rest))

    @property
    def precision(self) -> float:
        """Of the coarsest dtype that takes part."""
        return precision([*map(self.leaf, range(len(self.paths))), *self.value])

    def forward(self, i: int) -> list:
        """The tangent of each output along the direction of leaf `i`."""
        directions = [like(np.zeros(np.shape(each)), each) for each in self.directions]
        directions[i] = self.directions[i]
        return self._floats(self._tangent(*self.args.values(), *directions)[1])

    @lazy
    def has_forward(self) -> bool:
        """Whether there is a forward mode: a rule of the user's may be for reverse mode alone."""
        try:
            return callable(self._tangent)
        except NoForwardMode:
            return False

    @lazy
    def adjoints(self) -> list:
        """The adjoint of each leaf, for the weights as adjoints of the outputs."""
        backward = _loaded(cotangent_program(self._program, pair(*self._targets())))
        return leaves(backward(*self.args.values(), *self.weights)[1])

    def central(self, i: int) -> tuple[list, list]:
        """The change of each output along the direction of leaf `i`, and how far to trust it.

        From steps of two lengths: what they disagree by is rounding, or the function is not smooth.
        """
        near = self.precision ** (1 / 3)
        short, long = self._slopes(i, near), self._slopes(i, 2 * near)
        return short, [np.abs(a - b) for a, b in zip(short, long, strict=True)]

    def _slopes(self, i: int, step: float) -> list:
        changes = (self.directions[i] * each for each in (step, -step))
        after, before = (self._outputs(moved(self.args, self.paths[i], each)) for each in changes)
        return [(a - b) / (2 * step) for a, b in zip(after, before, strict=True)]

    @lazy
    def _tangent(self) -> Callable:
        return _loaded(tangent_program(self._program, self._targets()))

    def _targets(self) -> list[Target]:
        inputs = self._program.inputs
        named = Tree(dict, tuple(self.args), tuple(each.tree for each in inputs))
        found = [functools.reduce(lambda at, step: at.get(step[1]), p, named) for p in self.paths]
        return [Target(i, leaf, leaf) for i, leaf in enumerate(found)]

    def _outputs(self, args: dict[str, Any]) -> list:
        return self._floats(self._choose(self._evaluate(args)))

    def _floats(self, output: Any) -> list:
        return list(itertools.compress(leaves(output), self._active))


def _direction(x: Any, rng: np.random.Generator) -> Any:
    """Random, and in proportion to what it moves: log(x) stays defined."""
    size = np.where(np.equal(x, 0), 1.0, np.abs(x))
    return like(rng.standard_normal(np.shape(x)) * size, x)


def _program(fn: Callable, args: tuple) -> Program:
    """The function in Core, without prints and asserts, all its inputs by position."""
    plain = jit(fn)
    plain.source(*args)  # finds out which arguments count by value
    program = list(plain.lower(*args).values())[-1]
    body = tuple(statement for statement in program.body if isinstance(statement, form.Op))
    return program.with_(body=body, inputs=tuple(Input(i.name, i.tree) for i in program.inputs))


def _evaluator(fn: Callable, program: Program, bound: inspect.BoundArguments) -> Callable:
    """The function of its arguments by name, in which nothing moves that `stop_gradient` holds.

    Differences would see through `stop_gradient`. So where there is one, what it holds is computed
    once and handed to the rest of the program, and that is what is evaluated.
    """
    stops = [each for each in program.body if each.function is runtime.stop_gradient]
    if not stops:
        return lambda args: _call(fn, bound, args)
    names = [each.target for each in stops]
    held = program.with_(output=pair(*(gast.Name(n, gast.Load(), None, None) for n in names)))
    rest = program.with_(
        body=tuple(each for each in program.body if each not in stops),
        inputs=(*program.inputs, Input("held", pair(*names))),
    )
    first = [bound.arguments[each.name] for each in program.inputs]
    values, evaluate = _loaded(held)(*first), _loaded(rest)
    return lambda args: evaluate(*args.values(), values)


def _call(fn: Callable, bound: inspect.BoundArguments, args: dict[str, Any]) -> Any:
    again = inspect.BoundArguments(bound.signature, bound.arguments | args)
    return fn(*again.args, **again.kwargs)


def _loaded(program: Program) -> Callable:
    program = finish(program, derived=True)
    return load(program, write(program)).function
