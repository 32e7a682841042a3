"""Ordinary differential equations y' = f(t, y) that a library solves.

Forward mode solves for the solution and its tangent together. Reverse mode solves the adjoint
equation a' = -J.T @ a from each point back to the one before it, where the adjoint of the solution
there is added; what f reads besides gets its adjoint by -(df).T @ a along with it. (Pontryagin et
al., The Mathematical Theory of Optimal Processes, 1962; Chen et al., Neural Ordinary Differential
Equations, 2018.) Between two points y is solved for again, from the value that is kept. Both go
through the same function of the library with the same tolerances, and derivatives are as accurate.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.callers import Caller, Library
from s2s_ad.core.measure import all_lengths, length
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.regions import Branch, Loop, block
from s2s_ad.core.rule import Operation
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import DerivativeError
from s2s_ad.transforms.batches import batched_program
from s2s_ad.transforms.callers import in_dtype_of, targets, written
from s2s_ad.transforms.calls import derived_callee, with_inputs, without_effects
from s2s_ad.transforms.common import pair
from s2s_ad.transforms.gradients import cotangent_program, tangent_program


class Flow(Caller):
    """The solution at points in time; the kinds of this know how their library is called.

    Attributes:
        time: which argument of the user's function is the time, 0 or 1; the other is the state.
    """

    time: int

    @property
    def quiet(self) -> Program:
        return without_effects(self.program)

    def _arguments(self, y: Any, t: Any, fixed: list) -> list:
        """The arguments of the user's function in its order."""
        return [t, y, *fixed] if self.time == 0 else [y, t, *fixed]

    @property
    def state(self) -> values.Array:
        """The abstract value of the state."""
        return self.program.facts[self.program.leaves()[1 - self.time]]

    def of(self, program: Program) -> Flow:
        """The solution of another equation by the same library, to the same tolerances."""
        raise NotImplementedError

    def slopes(self, builder: Builder, y: Any, t: Any, fixed: list) -> Any:
        """f at all points: the states are the rows of y."""
        axes = self._arguments(0, 0, [None] * len(fixed))
        made = batched_program(self.quiet, axes, 0)
        return written(builder, made, self._arguments(y, t, fixed))

    def slope(self, builder: Builder, y: Any, t: Any, fixed: list) -> Any:
        return written(builder, self.program, self._arguments(y, t, fixed))

    # ---- equations

    def tangent_equation(self, indices: list[int]) -> Flow:
        """The equation of the state and its tangent, one behind the other; tangents of what is
        fixed follow what is fixed."""
        writer = _Writer(self, "the equation of the tangent")
        n = writer.length(0)
        y, y_dot = writer.part(slice(None, n)), writer.part(slice(n, None), "_dot")
        dots = [writer.input(index, "_dot") for index in indices]
        made = tangent_program(self.quiet, targets(self.program, [1 - self.time, *indices]))
        arguments = self._arguments(y, writer.t, writer.fixed)
        value, dot = written(writer.builder, made, [*arguments, y_dot, *dots]).items
        name = f"{self.program.name}_jvp"
        return self.of(writer.program(name, [value, dot], [*writer.fixed, *dots]))

    def adjoint_equation(self, indices: list[int]) -> Flow:
        """The equation of the state, its adjoint, and the adjoints of what is fixed at indices."""
        writer = _Writer(self, "the adjoint equation")
        sizes = [0, *(_size(writer.fixed[index - 2]) for index in indices)]
        n = writer.length(_total(sizes))
        after = slice(n, 2 * n if indices else None)
        y, y_bar = writer.part(slice(None, n)), writer.part(after, "_bar")
        made = cotangent_program(
            self.quiet, pair(*targets(self.program, [1 - self.time, *indices]))
        )
        arguments = self._arguments(y, writer.t, writer.fixed)
        value, bars = written(writer.builder, made, [*arguments, y_bar]).items
        name = f"{self.program.name}_adjoint"
        parts = [value, *(-_flat(writer.builder, each) for each in bars.items)]
        return self.of(writer.program(name, parts, writer.fixed))

    # ---- the adjoint of a solution

    def back(
        self, builder: Builder, indices: list[int], points: tuple[Any, Any, Any], fixed: list
    ) -> Symbol:
        """The adjoints at the first of the points: of the state, then of what is fixed at indices.

        They are one vector. points: the states by rows, what is added to the adjoints of all but
        the first, and the times.
        """
        sizes = [_size(fixed[index - 2]) for index in indices]
        adjoint = builder.call(np.zeros, (_total([length(points[0], 1), *sizes]),), {})
        adjoint = builder.named(adjoint, Hint("adjoint", "derived"))
        inner, (k, before, *leaves) = _inside(
            builder, (values.Scalar(int), "k"), adjoint, *points, *fixed
        )
        y, y_bar, t, *others = leaves
        after = self._step(inner, indices, before, (y[k], y_bar[k]), (t[k], t[k - 1]), others)
        loop = Loop(_block(inner, [k, before, *leaves], after), 1, backwards=True)
        count = np.size(points[0], 0)
        return loop.call(builder, [1, count, 1, adjoint, *points, *fixed])[0]

    def back_to(
        self,
        builder: Builder,
        indices: list[int],
        adjoint: Symbol,
        point: tuple[Any, Any, Any],
        start: Any,
        fixed: list,
    ) -> Symbol:
        """The adjoint from the first point back to the time `start`, where these times differ."""
        operands = [adjoint, *point, start, *fixed]
        then, leaves = _inside(builder, *operands)
        before, y, y_bar, t, until, *others = leaves
        after = self._step(then, indices, before, (y, y_bar), (t, until), others)
        orelse, same = _inside(builder, *operands)
        n = length(same[1], 0)
        rest: Any = (
            np.concatenate(_added(indices, same[0], same[2], n)) if indices else same[0] + same[2]
        )
        orelse.facts[rest.name] = same[0].fact
        sides = (_block(then, leaves, after), _block(orelse, same, rest))
        return Branch(*sides).call(builder, [point[2] != start, *operands])[0]

    def _step(
        self,
        builder: Builder,
        indices: list[int],
        adjoint: Symbol,
        point: tuple[Any, Any],
        span: tuple[Any, Any],
        fixed: list,
    ) -> Symbol:
        """The adjoints at the end of a span that begins at a point: its state and what is added."""
        y, y_bar = point
        n = length(y, 0)
        state = np.concatenate([y, *_added(indices, adjoint, y_bar, n)])
        after = self.adjoint_equation(indices).at_end(builder, state, span, fixed, n)
        builder.facts[after.name] = adjoint.fact
        return after

    def parts(self, adjoint: Symbol, indices: list[int], n: Any, fixed: list) -> tuple[Any, list]:
        """The adjoint of the state, and those of what is fixed at indices."""
        found, offset = [], n
        for index in indices:
            value = fixed[index - 2]
            found.append(_unpacked(adjoint.builder, adjoint, offset, _size(value), value))
            offset = offset + _size(value)
        return (adjoint[:n] if indices else adjoint), found

    def at_end(self, builder: Builder, y: Any, span: tuple, fixed: list, first: Any) -> Any:
        """The state at the end of a span of time, from the number `first` on, written."""
        raise NotImplementedError


class _Writer:
    """Writes the right-hand side of an equation whose state holds several vectors."""

    def __init__(self, flow: Flow, doc: str):
        self.flow, self.builder, self.doc = flow, Builder(), doc
        program = flow.quiet
        self.builder.origin = program.origin
        leaves = program.leaves()
        self.z = self.builder.symbol(
            values.Array(np.dtype(float), (values.fresh_dim(False),)),
            Hint("state", "derived"),
        )
        self.t = self.builder.import_name(program, leaves[flow.time])
        self.fixed = [self.builder.import_name(program, each) for each in leaves[2:]]

    def length(self, others: Any) -> Any:
        """The length of the first vector: there are two, and other numbers."""
        (known,) = self.flow.state.shape or (None,)
        if isinstance(known, int):
            return known
        size = np.size(self.z)
        n = size // 2 if isinstance(others, int) and not others else (size - others) // 2
        return self.builder.named(n, Hint("n", "derived"))

    def part(self, where: slice, suffix: str = "") -> Symbol:
        """A vector that is as long as the state of the user's function, and called like it."""
        program = self.flow.program
        found = self.z[where]
        self.builder.facts[found.name] = self.flow.state
        hint = program.hints.get(program.leaves()[1 - self.flow.time], TEMPORARY)
        return self.builder.named(found, hint.derived(suffix) if suffix else hint)

    def input(self, index: int, suffix: str) -> Symbol:
        value = self.fixed[index - 2]
        return self.builder.symbol(value.fact, self.builder.hints[value.name].derived(suffix))

    def program(self, name: str, parts: list, fixed: list) -> Program:
        program = self.flow.quiet
        output: Any = np.concatenate(parts)
        self.builder.facts[output.name] = self.z.fact
        names = [e.name for e in self.flow._arguments(self.z, self.t, fixed)]
        made = with_inputs(self.builder.as_body_of(program), names, {})
        doc = f"{self.doc} of {program.doc}"
        return derived_callee(made, [output], name=name, doc=doc).program


def in_span(given: list[gast.AST]) -> tuple[list[gast.AST], dict[str, gast.AST]]:
    """How solve_ivp is given what it starts from: (t0, t1), y0, t_eval=times."""
    t0, t1, y0, *times = given
    return [gast.Tuple([t0, t1], gast.Load()), y0], dict(zip(["t_eval"], times, strict=False))


def _vector(builder: Builder, number: Any) -> Symbol:
    return builder.call(np.array, ([number],), {})


def _joined(builder: Builder, number: Any, vector: Symbol) -> Any:
    return np.concatenate([_vector(builder, number), vector])


def _inside(outer: Builder, *operands: Any) -> tuple[Builder, list[Symbol]]:
    """A builder for a block, with a leaf for each operand, or for a fact and what it is called."""
    builder, leaves = Builder(), []
    builder.origin, builder.phase = outer.origin, outer.phase
    for each in operands:
        if isinstance(each, tuple):
            leaves.append(builder.symbol(each[0], Hint(each[1], "derived")))
        else:
            hint = outer.hints[each.name] if isinstance(each, Symbol) else TEMPORARY
            leaves.append(builder.symbol(outer.fact(each), hint))
    return builder, leaves


def _block(builder: Builder, leaves: list[Symbol], output: Symbol) -> Program:
    return block(builder, [each.name for each in leaves], [output])


def _added(indices: list[int], adjoint: Symbol, y_bar: Symbol, n: Any) -> list:
    """The adjoints, in parts, with y_bar added to that of the state."""
    return [adjoint[:n] + y_bar, adjoint[n:]] if indices else [adjoint + y_bar]


def _total(counts: list) -> Any:
    """The sum; what is known of it is added up now."""
    known = sum(each for each in counts if isinstance(each, int))
    terms: list[Any] = [each for each in counts if not isinstance(each, int)]
    if known or not terms:
        terms.append(known)
    return functools.reduce(operator.add, terms)


def _size(value: Any) -> Any:
    """How many numbers a value holds."""
    if not isinstance(value, Symbol) or value.ndim == 0:
        return 1
    return functools.reduce(operator.mul, all_lengths(value))


def _flat(builder: Builder, value: Any) -> Any:
    """A value as a vector."""
    if not isinstance(value, Symbol) or value.ndim == 0:
        return _vector(builder, value)
    return value if value.ndim == 1 else np.reshape(value, (-1,))


def _unpacked(builder: Builder, vector: Symbol, offset: Any, size: Any, like: Any) -> Any:
    """The numbers of a vector from an offset on, in the shape of a value."""
    if not isinstance(like, Symbol) or like.ndim == 0:
        return vector[offset]
    part = vector[offset : offset + size]
    builder.facts[part.name] = values.Array(
        part.dtype, like.shape if like.ndim == 1 else part.shape
    )
    if like.ndim == 1:
        return part
    return np.reshape(part, tuple(all_lengths(like)))


class Odeint(Flow):
    """odeint(f, y0, t): the states at the times t, by rows; it starts at the first of them."""

    def __init__(self, library: Library, program: Program, time: int):
        super().__init__(library, program, 2)
        self.time = time

    def of(self, program: Program) -> Odeint:
        return Odeint(self.library, program, self.time)

    def at_end(self, builder: Builder, y: Any, span: tuple, fixed: list, first: Any) -> Any:
        times = builder.call(np.array, (list(span),), {})
        return builder.emit(self, [y, times, *fixed], {})[-1, first:]

    def forward(self, operation: Operation, tangents: list) -> Any:
        builder, y = operation.result.builder, operation.result
        (y0, t), fixed = operation.operands[:2], operation.operands[2:]
        y0_dot, t_dot = tangents[:2]
        given = [index for index in range(2, 2 + len(fixed)) if tangents[index] is not None]
        start = builder.call(np.zeros_like, (y0,), {}) if y0_dot is None else y0_dot
        if t_dot is not None:
            start = start - self.slope(builder, y0, t[0], fixed) * t_dot[0]
        state = np.concatenate([y0, start])
        equation = self.tangent_equation(given)
        operands = [state, t, *fixed, *(tangents[index] for index in given)]
        y_dot = builder.emit(equation, operands, {})[:, np.size(y0) :]
        builder.facts[y_dot.name] = y.fact
        if t_dot is not None:
            y_dot = y_dot + self.slopes(builder, y, t, fixed) * t_dot[:, None]
        return y_dot

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, y = operation.result.builder, operation.result
        (y0, t), fixed = operation.operands[:2], operation.operands[2:]
        active = operation.active
        indices = [index for index in range(2, 2 + len(fixed)) if active[index]]
        adjoint = self.back(builder, indices, (y, y_bar, t), fixed)
        bar, found = self.parts(adjoint, indices, length(y, 1), fixed)
        adjoints: list[Any] = [None] * len(active)
        if active[0]:
            adjoints[0] = in_dtype_of(bar + y_bar[0], y0)
        if active[1]:
            heights = np.sum(self.slopes(builder, y, t, fixed)[1:] * y_bar[1:], axis=1)
            first = -np.sum(bar * self.slope(builder, y0, t[0], fixed))
            adjoints[1] = _joined(builder, first, heights)
        for index, value in zip(indices, found, strict=True):
            adjoints[index] = in_dtype_of(value, fixed[index - 2])
        return adjoints


class SolveIvp(Flow):
    """solve_ivp(f, (t0, t1), y0): the states by columns, their times, and whether it succeeded.

    The operands are t0, t1, y0 and, where they are given, the times. Without these the library
    chooses them: they count as given then, but for the last, which is t1.
    """

    time = 0

    def __init__(self, library: Library, program: Program, given: int):
        super().__init__(library, program, given, 3)

    def of(self, program: Program) -> SolveIvp:
        return SolveIvp(self.library, program, self.given)

    def infer(self, operands: list, params: dict[str, Any]) -> Tree:
        count = operands[3].shape[0] if self.given == 4 else values.fresh_dim()
        shapes = (operands[2].shape[0], count), (count,)
        arrays = (values.Array(np.dtype(float), shape) for shape in shapes)
        return Tree(tuple, (0, 1, 2), (*arrays, values.Scalar(bool)))

    def at_end(self, builder: Builder, y: Any, span: tuple, fixed: list, first: Any) -> Any:
        states = SolveIvp(self.library, self.program, 3).call(builder, [*span, y, *fixed])[0]
        return states[first:, -1]

    def forward(self, operation: Operation, tangents: list) -> Any:
        builder, y, times = self._results(operation)
        (t0, _, y0), fixed = operation.operands[:3], operation.operands[self.given :]
        t0_dot, t1_dot, y0_dot = tangents[:3]
        given = {2 + i: dot for i, dot in enumerate(tangents[self.given :]) if dot is not None}
        start = builder.call(np.zeros_like, (y0,), {}) if y0_dot is None else y0_dot
        if t0_dot is not None:
            start = start - self.slope(builder, y0, t0, fixed) * t0_dot
        equation = SolveIvp(self.library, self.tangent_equation([*given]).program, 4)
        state = np.concatenate([y0, start])
        operands = [*operation.operands[:2], state, times, *fixed, *given.values()]
        y_dot = equation.call(builder, operands)[0][length(y0, 0) :]
        builder.facts[y_dot.name] = values.Array(y.dtype, y.shape[::-1])
        times_dot = tangents[3] if self.given == 4 else self._ends(builder, times, t0_dot, t1_dot)
        if times_dot is not None:
            y_dot = y_dot + (self.slopes(builder, y, times, fixed) * times_dot[:, None]).T
        return [self._if_solved(operation, y_dot), np.nan, None]

    def _ends(self, builder: Builder, times: Any, t0_dot: Any, t1_dot: Any) -> Any:
        """The tangent of times that the library chooses: the first and the last move alone."""
        if t0_dot is None and t1_dot is None:
            return None
        between = builder.call(np.zeros, (np.size(times) - 2,), {})
        first, last = (0.0 if dot is None else dot for dot in (t0_dot, t1_dot))
        return np.concatenate([_vector(builder, first), between, _vector(builder, last)])

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, y, times = self._results(operation)
        (t0, _, y0), fixed = operation.operands[:3], operation.operands[self.given :]
        active = operation.active
        adjoints: list[Any] = [None] * len(active)
        if 1 in y_bar:
            raise DerivativeError(
                "S2S302",
                "a derivative of the times that solve_ivp chooses",
                origin=builder.origin,
                help="choose them: t_eval=np.linspace(t0, t1, 100)",
            )
        if 0 not in y_bar:
            return adjoints
        y_bar = builder.named(y_bar[0].T, Hint("states_bar", "derived"))
        first = self.given - 2  # from a leaf of the user's function to the operand
        places = [leaf for leaf in range(2, len(active) - first) if active[leaf + first]]
        adjoint = self.back(builder, places, (y, y_bar, times), fixed)
        if self.given == 4:
            point = y[0], y_bar[0], times[0]
            adjoint = self.back_to(builder, places, adjoint, point, t0, fixed)
        adjoint = self._if_solved(operation, adjoint)
        bar, found = self.parts(adjoint, places, length(y, 1), fixed)
        for leaf, value in zip(places, found, strict=True):
            adjoints[leaf + first] = in_dtype_of(value, fixed[leaf - 2])
        if active[2]:
            adjoints[2] = in_dtype_of(bar if self.given == 4 else bar + y_bar[0], y0)
        if active[0]:
            adjoints[0] = -np.sum(bar * self.slope(builder, y0, t0, fixed))
        if self.given == 4 and active[3]:
            adjoints[3] = np.sum(self.slopes(builder, y, times, fixed) * y_bar, axis=1)
        if self.given == 3 and active[1]:
            adjoints[1] = np.sum(self.slope(builder, y[-1], times[-1], fixed) * y_bar[-1])
        return adjoints

    def _results(self, operation: Operation) -> tuple[Builder, Any, Any]:
        """The builder, the states by rows, and their times."""
        builder = operation.result.builder
        states = builder.named(builder.emit_item(operation.result, 0).T, Hint("states", "derived"))
        if self.given == 4:
            return builder, states, operation.operands[3]
        chosen = builder.emit_item(operation.result, 1)
        times = builder.call(runtime.stop_gradient, (chosen,), {})
        ends = operation.operands[:2]
        if any(isinstance(each, Symbol) for each in ends):
            first, last = (_vector(builder, each) for each in ends)
            times: Any = np.concatenate([first, times[1:-1], last])
            builder.facts[times.name] = chosen.fact
        return builder, states, builder.named(times, Hint("times", "derived"))

    def _if_solved(self, operation: Operation, value: Any) -> Any:
        """The value, which is nan where the library did not come to the end."""
        builder = operation.result.builder
        success = builder.emit_item(operation.result, 2)
        return value * builder.call(np.where, (success, 1.0, np.nan), {})
