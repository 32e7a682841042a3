"""What a branch chooses between True and False is its condition, or the opposite of it."""

from __future__ import annotations

import operator
from collections.abc import Container, Mapping

import gast

from s2s_ad.analysis.truths import Valued
from s2s_ad.core import form, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, blocks_of, everywhere, region_of
from s2s_ad.core.rewriting import rewritten

Makers = Mapping[str, form.Op]


def decide(program: Program) -> Program:
    """The program with conditions in place of the truths that branches choose."""
    valued = Valued(program)
    return everywhere(lambda block: _decide(block, valued))(program)


def _decide(program: Program, valued: Container[str]) -> Program:
    """A truth that only says which side of a branch was taken is the condition.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x, done):
        ...     failed = False if done else True
        ...     return 2 * x if failed else x
        >>> print(after(DECIDE, f, 1.0, np.bool_(True)))
        f(x: float, done: bool):
            _ = if done:
                give False
            else:
                give True
            t1 = not done
            t3 = if t1:
                t2 = 2 * x
                give t2
            else:
                give x
            return t3
    """
    makers: dict[str, form.Op] = {}

    def change(statement: form.Statement) -> form.Statement | gast.Name:
        made = _decided(program, makers, statement, valued) or statement
        if isinstance(made, form.Op):
            makers[made.target] = made
        return made

    return rewritten(program, change)


def _decided(
    program: Program, makers: Makers, statement: form.Statement, valued: Container[str]
) -> gast.Name | form.Op | None:
    """What an output of a branch is in terms of the condition."""
    item = item_of(statement)
    branch = makers.get(item[0]) if item is not None else None
    if item is None or branch is None or not isinstance(region_of(branch), Branch):
        return None
    condition = branch.operands[0]
    if not isinstance(condition, gast.Name):
        return None
    fact = program.fact(condition)
    if fact != values.Scalar(bool) and (statement.target in valued or not _is_truth(fact)):
        return None
    truths = [_truth(makers, branch, side, item[1]) for side in (0, 1)]
    if truths == [True, False]:
        return condition
    if truths == [False, True]:
        return _opposite(makers, condition) or statement.with_call(operator.not_, [condition])
    return None


def _is_truth(fact: values.AbstractValue) -> bool:
    """Whether it is a truth of NumPy's: a condition like Python's, and another number."""
    return values.shape_of(fact) == () and values.is_dtype(getattr(fact, "dtype", None), bool)


def _truth(makers: Makers, branch: form.Op, side: int, index: int) -> bool | None:
    """What an output is certain to be on a side; None where that is open."""
    condition, *operands = branch.operands
    block = blocks_of(branch)[side]
    atom = block.outputs()[index]
    if isinstance(atom, gast.Name) and atom.id in block.leaves():
        atom = operands[block.leaves().index(atom.id)]
    elif isinstance(atom, gast.Name):
        return None
    if isinstance(atom, gast.Constant):
        return atom.value if isinstance(atom.value, bool) else None
    if atom.id == condition.id:
        return side == 0
    opposites = (_opposite(makers, condition), atom), (_opposite(makers, atom), condition)
    if any(getattr(one, "id", "") == other.id for one, other in opposites):
        return side == 1
    return None


def _opposite(makers: Makers, atom: gast.AST) -> gast.Name | None:
    """x of an atom that is `not x`."""
    made = makers.get(atom.id)
    if made is None or not made.rule.negates:
        return None
    return made.operands[0] if isinstance(made.operands[0], gast.Name) else None


DECIDE = Pass("decide", decide)
