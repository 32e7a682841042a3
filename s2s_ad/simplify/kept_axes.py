"""Axes of length one that all readers of a value take away again."""

from __future__ import annotations

from collections import defaultdict

import gast
import numpy as np

from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere

Axes = tuple[int, ...]  # counted from the last, which is -1: so they are those of operands, too


def drop_kept_axes(program: Program) -> Program:
    """What is computed with axes that are then taken away is computed without them.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x, y):
        ...     return np.squeeze(np.sum(x, axis=1, keepdims=True) * y[:, None], axis=1)
        >>> print(after(DROP_KEPT_AXES, f, np.ones((2, 3)), np.ones(2), derived=True))
        f(x: f64[n, m], y: f64[p]):
            t1 = np.sum(x, axis=1)
            t2 = np.expand_dims(y, axis=1)
            t3 = t1 * y
            return t3
    """
    if not any(each.rule.removes_axes and each.phase in DERIVED for each in _ops(program)):
        return program
    kept = _Kept(program)
    return _Dropping(kept).program() if kept.dropped else program


def _ops(program: Program) -> list[form.Op]:
    return [each for each in program.body if isinstance(each, form.Op)]


class _Kept:
    """Which values of a block are to be computed without axes: read from its end.

    Attributes:
        dropped: these values, with the axes.
        ends: by each statement that takes axes from another's result, these axes.
    """

    def __init__(self, program: Program):
        self.block, self.made = program, {each.target: each for each in _ops(program)}
        self.counts = liveness.counts(program.body, program.outputs())
        self.dropped: dict[str, Axes] = {}
        self.ends: dict[str, Axes] = {}
        wanted: defaultdict[str, list[Axes]] = defaultdict(list)  # what each reader does without
        for target, statement in reversed(self.made.items()):
            if axes := self._taken(statement):
                self.ends[target] = axes
                wanted[statement.reads[0]].append(axes)
            asked = wanted[target]
            every = len(set(asked)) == 1 and len(asked) == self.counts[target]
            if every and self._is_better(statement, asked[0]):
                self.dropped[target] = asked[0]
                for atom, axes in self.with_axes(statement, asked[0]):
                    wanted[atom.id].append(axes)

    def _taken(self, statement: form.Op) -> Axes:
        """The axes that a statement takes away, some others being left."""
        if not statement.rule.removes_axes or statement.phase not in DERIVED:
            return ()
        rank, axes = self._rank(statement.operands[0]), self._axes(statement)
        return tuple(axis - rank for axis in axes) if rank and len(axes) < rank else ()

    def _axes(self, statement: form.Op) -> tuple:
        axes = form.literals(statement).get("axis", ())
        return axes if isinstance(axes, tuple) else (axes,)

    def _rank(self, atom: gast.AST) -> int | None:
        fact = self.block.fact(atom)
        return 0 if isinstance(fact, values.Scalar) else values.rank_of(fact)

    def with_axes(self, statement: form.Op, axes: Axes) -> list[tuple[gast.Name, Axes]]:
        """The operands of an elementwise operation that have any of the axes, with those."""
        if not statement.rule.elementwise:
            return []
        names = [each for each in statement.operands if isinstance(each, gast.Name)]
        pairs = [(each, self._present(each, axes)) for each in names]
        return [(each, own) for each, own in pairs if own]

    def _present(self, atom: gast.AST, axes: Axes) -> Axes:
        return tuple(each for each in axes if each + (self._rank(atom) or 0) >= 0)

    def _is_better(self, statement: form.Op, axes: Axes) -> bool:
        """Whether the same without axes takes an axis from one operand at most."""
        if not statement.rule.elementwise:
            return statement.rule.reduction and self.is_free(statement.target, axes)
        if statement.parameters or None in map(self._rank, statement.operands):
            return False
        inner = {each.id: own for each, own in self.with_axes(statement, axes)}
        free = [self.is_free(*each) for each in inner.items()]
        return any(free) and free.count(False) <= 1

    def is_free(self, name: str, axes: Axes) -> bool:
        """Whether a value is there without axes, or is computed so if nothing else reads it."""
        statement = self.made.get(name)
        if statement is None:
            return False
        if statement.rule.inserts_axes or statement.rule.reduction:
            rank = values.rank_of(self.block.facts[name]) or 0
            if self._axes(statement) != tuple(each + rank for each in axes):
                return False
        if statement.rule.inserts_axes:
            return True
        if self.counts[name] > 1:
            return False
        if statement.rule.reduction:
            keeps = form.literals(statement).get("keepdims")
            return keeps is True and len(statement.operands) == 1
        inner = self.with_axes(statement, axes)
        return bool(inner) and all(self.is_free(each.id, own) for each, own in inner)


class _Dropping:
    """Writes a block anew, in which values lack axes.

    Attributes:
        short: what stands for a value with axes, by both.
    """

    def __init__(self, kept: _Kept):
        self.kept, self.facts = kept, dict(kept.block.facts)
        self.short: dict[tuple[str, Axes], gast.AST] = {}
        self.body: list[form.Statement] = []

    def program(self) -> Program:
        """The block."""
        atoms: dict[str, gast.AST] = {}
        for statement in self.kept.block.body:
            target = getattr(statement, "target", "")
            if target in self.kept.ends and statement.reads[0] in self.kept.dropped:
                atoms[target] = form.name(statement.reads[0])
            else:
                self.body.append(self._written(form.substitute(statement, atoms)))
        output = tree.tree_map(lambda atom: form.substitute(atom, atoms), self.kept.block.output)
        return self.kept.block.with_(body=tuple(self.body), output=output, facts=self.facts)

    def _written(self, statement: form.Statement) -> form.Statement:
        axes = self.kept.dropped.get(getattr(statement, "target", ""))
        if axes is None or not isinstance(statement, form.Op):
            return statement
        if statement.rule.reduction:
            rest = {k: node for k, node in statement.parameters.items() if k != "keepdims"}
            made = statement.with_call(statement.function, statement.operands, rest)
        else:
            inner = {atom.id: own for atom, own in self.kept.with_axes(statement, axes)}
            atoms = [
                self._without(name, inner[name], statement) if name in inner else atom
                for atom in statement.operands
                for name in [getattr(atom, "id", "")]
            ]
            made = statement.with_operands(atoms)
        self._tell(made.target, made.target, axes)
        return made

    def _tell(self, name: str, full: str, axes: Axes) -> None:
        """Note the fact of what a name has: that of another one, without axes."""
        shape = values.shape_of(self.kept.block.facts[full]) or ()
        left = tuple(dim for i, dim in enumerate(shape) if i - len(shape) not in axes)
        self.facts[name] = values.with_shape(self.kept.block.facts[full], left)

    def _without(self, name: str, axes: Axes, reader: form.Op) -> gast.AST:
        """The value without axes: at hand, or taken from it."""
        made = self.kept.made.get(name)
        if name in self.kept.dropped:
            return form.name(name)
        if made is not None and made.rule.inserts_axes and self.kept.is_free(name, axes):
            return made.operands[0]
        if (name, axes) not in self.short:
            short, rank = fresh_name(), values.rank_of(self.kept.block.facts[name]) or 0
            axis = [form.constant(each + rank) for each in axes]
            node = axis[0] if len(axis) == 1 else gast.Tuple(elts=axis, ctx=gast.Load())
            self.body.append(reader.beside(short, np.squeeze, [form.name(name)], {"axis": node}))
            self._tell(short, name, axes)
            self.short[name, axes] = form.name(short)
        return self.short[name, axes]


DROP_KEPT_AXES = Pass("drop-kept-axes", everywhere(drop_kept_axes))
