"""The adjoint of the output as an input of the program, for its caller to give."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, to_node
from s2s_ad.core.measure import all_lengths
from s2s_ad.core.program import Hint, Input
from s2s_ad.transforms.reverse import Reverse


@dataclass(frozen=True, slots=True)
class Sens:
    """An adjoint that the caller gives: its name, its abstract value, its kind of parameter.

    It has the structure of the output; what it gives for outputs without a gradient is not read.
    Messages begin with the label.
    """

    label: str
    name: str
    fact: Any
    kind: inspect._ParameterKind

    def entered(self, sweep: Reverse, output: Any) -> Input:
        """Seed the sweep with it; returns the input."""
        builder, subject, texts = sweep.builder, sweep.program.name, iter(self._texts())
        names = tree.tree_map(
            lambda fact: builder.symbol(fact, Hint(next(texts), "user")).name, self.fact
        )
        with builder.at(sweep.program.origin, "backward"):
            for atom, name in zip(tree.leaves(output), tree.leaves(names), strict=True):
                y = sweep.output(atom)
                if isinstance(y, Symbol) and values.is_inexact(y.fact) is not False:
                    y_bar = Symbol(builder, name)
                    shown = f"{self.label}: {builder.hints[name].text}", f"the output of {subject}"
                    require_same_shape(builder, y_bar, y, shown)
                    sweep.seed(atom, y_bar)
        return Input(self.name, names, self.kind)

    @property
    def tensors(self) -> bool:
        """Whether there are Tensors in it."""
        return any(map(values.is_tensor, tree.leaves(self.fact)))

    def _texts(self) -> list[str]:
        count = len(tree.leaves(self.fact))
        if not isinstance(self.fact, tree.Tree):
            return [self.name]
        return [f"{self.name}_{i}" for i in range(count)]


def require_same_shape(builder: Builder, a: Symbol, b: Symbol, names: tuple[str, str]) -> None:
    """Append a check that raises ValueError where two shapes differ; none where they cannot."""
    if a.ndim is None or b.ndim is None:
        shapes = [gast.Call(form.constant(np.shape), [form.name(x.name)], []) for x in (a, b)]
        tests = [gast.Compare(shapes[0], [gast.NotEq()], shapes[1:])]
        texts = [[gast.FormattedValue(shape, -1, None)] for shape in shapes]
    else:
        sizes = [all_lengths(x) for x in (a, b)]
        columns = zip(*sizes, a.shape or (), b.shape or (), strict=True)
        tests = [
            gast.Compare(to_node(one), [gast.NotEq()], [to_node(other)])
            for one, other, one_length, other_length in columns
            if one_length != other_length
        ]
        texts = [_shape_text(each) for each in sizes]
    if not tests:
        return
    message = [
        gast.Constant(f"{names[0]} has shape ", None),
        *texts[0],
        gast.Constant(f", {names[1]} has shape ", None),
        *texts[1],
    ]
    error = gast.Call(form.constant(ValueError), [gast.JoinedStr(message)], [])
    test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)
    builder.effect(
        gast.If(test, [gast.Raise(error, None)], []), _atoms(builder, [*tests, *message])
    )


def _shape_text(sizes: Sequence[Any]) -> list[gast.AST]:
    """The parts of an f-string: (2, 3), or (2,)."""
    parts: list[gast.AST] = [gast.Constant("(", None)]
    for i, size in enumerate(sizes):
        parts += [gast.Constant(", ", None)] if i else []
        parts.append(gast.FormattedValue(to_node(size), -1, None))
    return [*parts, gast.Constant(",)" if len(sizes) == 1 else ")", None)]


def _atoms(builder: Builder, nodes: Sequence[gast.AST]) -> dict[str, Symbol]:
    read = {each.id for node in nodes for each in gast.walk(node) if isinstance(each, gast.Name)}
    return {name: Symbol(builder, name) for name in read}
