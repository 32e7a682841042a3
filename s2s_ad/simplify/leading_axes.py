"""Axes of length one in front of all others, which broadcasting puts there by itself."""

from __future__ import annotations

from typing import Any

import gast

from s2s_ad.analysis import liveness
from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import everywhere


def drop_leading_axes(program: Program) -> Program:
    """What a derivative computes with an array of more axes is given none for that.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x, y):
        ...     return x + np.expand_dims(y, 0) / 3.0
        >>> print(after(DROP_LEADING_AXES, f, np.ones((2, 3)), np.ones(3), derived=True))
        f(x: f64[n, m], y: f64[p]):
            t1 = np.expand_dims(y, axis=0)
            t2 = y / 3.0
            t3 = x + t2
            return t3
    """
    made = {
        each.target: each
        for each in program.body
        if isinstance(each, form.Op) and each.phase in DERIVED
    }
    if not any(each.rule.inserts_axes for each in made.values()):
        return program
    dropping = _Dropping(program, made)
    for statement in reversed(made.values()):
        dropping.look_at(statement)
    if not dropping.changed:
        return program
    body = [dropping.changed.get(each.target or "", each) for each in program.body]
    return program.with_(body=tuple(body), facts=dropping.facts)


class _Dropping:
    """Goes through the elementwise operations of a block, those that read others first.

    Attributes:
        changed: the operations that are written anew, by the names of their results.
    """

    def __init__(self, program: Program, made: dict[str, form.Op]):
        self.made, self.facts = made, dict(program.facts)
        self.fact = program.fact
        self.counts = liveness.counts(program.body, program.outputs())
        self.changed: dict[str, form.Op] = {}

    def look_at(self, statement: form.Op) -> None:
        """Drop the axes of operands where another one has as many of its own."""
        if statement.target in self.changed or not self._is_plain(statement):
            return
        ranks = [values.rank_of(self.fact(each)) for each in statement.operands]
        full = [each for each, rank in zip(statement.operands, ranks, strict=True) if rank]
        full = [
            each for each in full if values.rank_of(self.fact(each)) == max(filter(None, ranks))
        ]
        less = [each for each in full if self._has_less(each)]
        if less and len(less) < len(full):
            atoms = [self._dropped(x) if x in less else x for x in statement.operands]
            self.changed[statement.target] = statement.with_operands(atoms)

    def _is_plain(self, statement: form.Op) -> bool:
        known = [values.rank_of(self.fact(each)) for each in statement.operands]
        return statement.rule.elementwise and not statement.parameters and None not in known

    def _has_less(self, atom: gast.AST) -> bool:
        """Whether an array is one without its first axes, or made of such ones alone."""
        statement = self.made.get(getattr(atom, "id", ""))
        if statement is None:
            return False
        if statement.rule.inserts_axes:
            axes = form.literals(statement)["axis"]
            axes = axes if isinstance(axes, tuple) else (axes,)
            own = values.rank_of(self.fact(statement.operands[0]))
            return bool(own) and axes == tuple(range(len(axes)))  # numbers have dtypes of their own
        rank = values.rank_of(self.fact(atom))
        once = self.counts[statement.target] == 1 and statement.target not in self.changed
        if not once or not rank or not self._is_plain(statement):
            return False
        arrays = [each for each in statement.operands if values.rank_of(self.fact(each))]
        same = all(values.rank_of(self.fact(each)) == rank for each in arrays)
        return same and all(map(self._has_less, arrays))

    def _dropped(self, atom: gast.AST) -> gast.AST:
        """The array without those axes."""
        statement = self.made.get(getattr(atom, "id", ""))
        if statement is None:
            return atom
        if statement.rule.inserts_axes:
            return statement.operands[0]
        atoms = [
            self._dropped(x) if values.rank_of(self.fact(x)) else x for x in statement.operands
        ]
        self.changed[statement.target] = statement.with_operands(atoms)
        fact: Any = self.facts[statement.target]
        shapes = [values.shape_of(self._fact_now(each)) for each in atoms]
        self.facts[statement.target] = values.with_shape(fact, values.broadcast(shapes))
        return atom

    def _fact_now(self, atom: gast.AST) -> Any:
        return self.facts[atom.id] if isinstance(atom, gast.Name) else self.fact(atom)


DROP_LEADING_AXES = Pass("drop-leading-axes", everywhere(drop_leading_axes))
