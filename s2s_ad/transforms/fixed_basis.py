"""What is computed of all eigenvectors alike has a derivative where eigenvalues are equal.

Of `(v * f(w)) @ v.T` it makes no difference which vectors those of equal eigenvalues are, though
none of them has a derivative alone (`analysis/turned`). In the fixed basis `v` the matrix is
diagonal, and what scales vectors along the axis that counts them is a function of that matrix:

    y * f(w)    is    y @ f(L)    with L = diag(w)

The derivative of f(L) by L is that of Daleckii and Krein, (f(w[i]) - f(w[j])) / (w[i] - w[j]) at
[i, j], or f' where the eigenvalues are equal, and that of L by the matrix knows no gaps. So for
the vectors, and for the eigenvalues where they scale these, operations are written that have no
derivative, and for each f(L) one that has a derivative by L. The shortcut of each is what it
stands for, so nothing of them is left in what a transform writes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis.turned import Kind, Turned
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.rule import Operation, Rule


def in_fixed_basis(program: Program, outputs: Collection[str]) -> Program:
    """The program in which decompositions have their derivatives in a fixed basis, if the outputs
    that have one do not depend on which of the vectors are which."""
    turned = Turned.of(program, outputs)
    return _Writer(turned).written() if turned.made else program


class _Writer:
    """Writes a program in the fixed basis.

    Attributes:
        vectors: eigenvectors -> the same as what has no derivative.
        scales: functions of eigenvalues -> the same of eigenvalues that have no derivative.
        inner: decomposition -> the matrix in its basis.
    """

    def __init__(self, turned: Turned):
        self.turned, self.program = turned, turned.program
        self.vectors: dict[str, gast.AST] = {}
        self.scales: dict[str, gast.AST] = {}
        self.inner: dict[str, str] = {}
        self.facts: dict[str, values.AbstractValue] = {}
        self.hints: dict[str, Hint] = {}
        self.body: list[form.Statement] = []

    def written(self) -> Program:
        for statement in self.program.body:
            self._write(statement)
        facts, hints = self.program.facts | self.facts, self.program.hints | self.hints
        return self.program.with_(body=tuple(self.body), facts=facts, hints=hints)

    def _write(self, statement: form.Statement) -> None:
        kind = None if statement.target is None else self.turned.kinds.get(statement.target)
        if isinstance(statement, form.Op) and kind is not None and kind.of in self.turned.made:
            self._write_of(kind, statement)
        else:
            self.body.append(form.substitute(statement, self.vectors))

    def _write_of(self, kind: Kind, statement: form.Op) -> None:
        """Write what depends on a decomposition."""
        if statement.target in self.turned.sites:
            made = self._scaled(statement, kind)
            self.body.append(form.substitute(made, self.vectors | self.scales))
            return
        self.body.append(form.substitute(statement, self.vectors))
        item = self.turned.outputs.get(statement.target)
        if item is not None:
            self._fix(statement, FIXED, [form.name(statement.target)], {})
            if item[1] == 1:
                self._write_inner(kind.of, statement)
        elif kind.scales:
            again = form.substitute(statement, self.scales)
            self._fix(statement, statement.rule, again.operands, again.parameters)

    def _fix(
        self, old: form.Op, rule: Any, operands: Sequence[gast.AST], params: Mapping[str, gast.AST]
    ) -> None:
        """Compute a result as what has no derivative by the matrix."""
        name = fresh_name()
        self.facts[name] = self.program.facts[old.target]
        self.hints[name] = self.program.hints.get(old.target, TEMPORARY)
        fixed = self.scales if self.turned.kinds[old.target].scales else self.vectors
        fixed[old.target] = form.name(name)
        self.body.append(old.beside(name, rule, operands, {**params}))

    def _write_inner(self, of: str, vectors: form.Op) -> None:
        """Write the matrix in the basis of its vectors."""
        whole, name = self.turned.made[of], self.inner.setdefault(of, fresh_name())
        self.facts[name] = self.program.facts[vectors.target]
        self.hints[name] = Hint("inner", "derived")
        operands = [*whole.operands, form.name(vectors.target)]
        self.body.append(vectors.beside(name, InBasis(whole.rule), operands, whole.parameters))

    def _scaled(self, statement: form.Op, kind: Kind) -> form.Op:
        """The operation with a derivative by the matrix in the basis."""
        kinds = [self.turned.kinds.get(getattr(each, "id", "")) for each in statement.operands]
        scales = [(i, each) for i, each in enumerate(kinds) if each is not None and each.scales]
        vectors = next((i for i, each in enumerate(kinds) if each and not each.scales), None)
        others = sorted(set().union(*(each.others for _, each in scales)))
        names = (self.inner[kind.of], self.turned.items[kind.of, 0], *others)
        pair: list[gast.AST] = []
        if kind.paired and vectors is not None:
            pair += self.turned.pair(statement.operands[vectors]) or ()
            kind = self.turned.kinds[form.reads(pair[0])[0]]
        rule = Scaled(statement.rule, len(kinds), vectors, scales[0][0], kind, len(pair))
        operands = [*statement.operands, *pair, *map(form.name, names)]
        return statement.beside(statement.target, rule, operands, statement.parameters)


# ---- operations that are there for derivatives alone ---------------------------------------------


class Fixed(Rule):
    """fixed(x): x without a derivative."""

    of_complex = flat = quiet = True

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return operands[0]


FIXED = Fixed(None, "fixed")


class InBasis(Rule):
    """in_basis(a, v): the matrix in the basis of its eigenvectors. Its value is never read."""

    of_complex = quiet = True

    def __init__(self, of: Rule):
        super().__init__(self, "in_basis")
        self.of: Any = of

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return operands[1]

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        return [self.of.out_of_basis(operation, operation.operands[1], y_bar), None]

    def forward(self, operation: Operation, tangents: list) -> Any:
        return self.of.into_basis(operation, operation.operands[1], tangents[0])


class Scaled(Rule):
    """An operation that scales vectors, or makes a matrix in their basis: its operands, then the
    matrix in the basis, the eigenvalues, and what else the scales depend on. Where it scales the
    products of vectors, these two stand before the matrix: `c * d * f(w)` is `c @ f(L) * d`.

    The scales are functions of fixed eigenvalues: what passes through them is their derivative by
    the rest.

    Attributes:
        of, arity: the rule of the operation, and how many operands it has.
        vectors: the place of the vectors among them; None where a matrix is made.
        scale: the place of what stands on its diagonal.
        kind: that of the result, or of the first of two vectors.
        factors: how many vectors stand before the matrix.
    """

    of_complex = quiet = True

    def __init__(
        self, of: Rule, arity: int, vectors: int | None, scale: int, kind: Kind, factors: int = 0
    ):
        super().__init__(self, "scaled")
        self.of, self.arity, self.vectors, self.scale, self.kind = of, arity, vectors, scale, kind
        self.inner = arity + factors

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return builder.emit(self.of, operands[: self.arity], params)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        given, inner_bar = self._own(operation), y_bar
        if self.vectors is not None:
            y, *factor = self._vectors(operation, self.vectors)
            letters, turned, matrix = self._letters(y)
            along = functools.reduce(operator.mul, map(np.conj, factor), y_bar)
            inner_bar = _product(f"{letters},{turned}->{matrix}", np.conj(y), along)
        inner_bar = inner_bar * np.conj(self._slopes(operation))
        before = [None] * (self.inner - self.arity)
        rest = [None] * (len(operation.operands) - self.inner - 1)
        return [*self.of.reverse(given, y_bar), *before, inner_bar, *rest]

    def forward(self, operation: Operation, tangents: list) -> Any:
        given, terms = self._own(operation), []
        own, moved = list(tangents[: self.arity]), tangents[self.inner]
        if any(each is not None for each in own):
            terms.append(self.of.forward(given, own))
        if moved is not None:
            moved = moved * self._slopes(operation)
            if self.vectors is not None:
                y, *factor = self._vectors(operation, self.vectors)
                letters, turned, matrix = self._letters(y)
                moved = _product(f"{letters},{matrix}->{turned}", y, moved)
                moved = functools.reduce(operator.mul, factor, moved)
            terms.append(moved)
        return functools.reduce(operator.add, terms) if terms else None

    def _own(self, operation: Operation) -> Operation:
        """The operation that it stands for."""
        own = slice(self.arity)
        operands, active = operation.operands[own], operation.active[own]
        return Operation(self.of, operands, operation.params, operation.result, active)

    def _vectors(self, operation: Operation, place: int) -> list[Any]:
        """The vectors that are scaled, and the other ones that these are multiplied by."""
        factors = operation.operands[self.arity : self.inner]
        return list(factors) or [operation.operands[place]]

    def _letters(self, value: Any) -> tuple[str, str, str]:
        """Those of the axes of vectors, of these turned into others, and of the matrix."""
        letters = [chr(ord("a") + axis) for axis in range(value.ndim)]
        (axis,), turned = self.kind.axes, list(letters)
        turned[axis] = "z"
        pair = [letters[axis], "z"]
        if self.kind.conjugated == (True,):
            pair.reverse()  # what is conjugated stands to the right of the matrix
        matrix = [*(letters[each] for each in self.kind.stack), *pair]
        return "".join(letters), "".join(turned), "".join(matrix)

    def _slopes(self, operation: Operation) -> Any:
        """How f(L) moves with each element of L."""
        w, *others = operation.operands[self.inner + 1 :]
        scale = self._scale(operation, w)
        slope = _slope(scale, w, others)
        if scale.shape != w.shape:  # laid along an axis of the vectors
            scale, slope = (np.reshape(each, np.shape(w)) for each in (scale, slope))
        slopes = w.builder.call(runtime.divided_differences, (w, scale, slope), {})
        return w.builder.named(slopes, Hint("slopes", "derived"))

    def _scale(self, operation: Operation, w: Symbol) -> Any:
        """What the vectors are scaled by, as a function of the eigenvalues."""
        operands = operation.operands[: self.arity]
        if self.vectors is None:
            return operands[self.scale]
        operands[self.vectors] = 1.0
        return w.builder.emit(self.of, operands, operation.params)


def _product(spec: str, a: Any, b: Any) -> Any:
    return a.builder.call(runtime.contract, (spec, a, b), {})


def _slope(value: Any, w: Symbol, others: Sequence[Any]) -> Any:
    """The derivative of a function of each eigenvalue by that, others being what they are."""
    builder = w.builder
    known: dict[str, Any] = {each.name: None for each in others if isinstance(each, Symbol)}
    known[w.name] = builder.call(runtime.broadcast_like, (1.0, w), {})

    def slope(of: Any) -> Any:
        if not isinstance(of, Symbol):
            return None
        if of.name not in known:
            rule, operands, params = builder.definition(of)
            parts = [slope(each) for each in operands]
            if rule is None or all(each is None for each in parts):
                known[of.name] = None
            else:
                known[of.name] = rule.forward(Operation(rule, operands, params, of), parts)
        return known[of.name]

    found = slope(value)
    return builder.call(runtime.broadcast_like, (0.0, value), {}) if found is None else found
