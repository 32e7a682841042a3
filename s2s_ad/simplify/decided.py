"""What a branch chooses between True and False is its condition, or the opposite of it."""

from __future__ import annotations

import operator
from collections.abc import Container, Mapping

import gast

from s2s_ad.analysis.truths import Valued
from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, everywhere, region_of

Makers = Mapping[str, gast.Assign]


def decide(program: Program) -> Program:
    """The program with conditions in place of the truths that branches choose."""
    valued = Valued(program)
    return everywhere(lambda block: _decide(block, valued))(program)


def _decide(program: Program, valued: Container[str]) -> Program:
    """A truth that only says which side of a branch was taken is the condition.

    Before: `failed = False if done else True`, `if not stopped: stopped = False`;
    after: `failed = not done`, and nothing.
    """
    makers: dict[str, gast.Assign] = {}
    atoms: dict[str, gast.AST] = {}
    body = []
    for each in program.body:
        statement = form.substitute(each, atoms) if atoms else each
        found = _decided(program, makers, statement, valued)
        if isinstance(found, gast.Name):
            atoms[form.target(statement)] = found
            continue
        if found is not None:
            name, origin, phase = form.target(statement), statement.origin, statement.phase
            statement = form.assign(name, found, origin, phase)
        if not form.is_effect(statement):
            makers[form.target(statement)] = statement
        body.append(statement)
    output = tree.tree_map(lambda atom: form.substitute(atom, atoms), program.output)
    return program.with_(body=tuple(body), output=output)


def _decided(
    program: Program, makers: Makers, statement: form.Statement, valued: Container[str]
) -> gast.AST | None:
    """What an output of a branch is in terms of the condition."""
    item = item_of(statement)
    branch = makers.get(item[0]) if item is not None else None
    if branch is None or not isinstance(region_of(branch), Branch):
        return None
    condition = branch.value.args[0]
    if not isinstance(condition, gast.Name):
        return None
    fact = program.fact(condition)
    if fact != values.Scalar(bool) and (form.target(statement) in valued or not _is_truth(fact)):
        return None
    truths = [_truth(makers, branch, side, item[1]) for side in (0, 1)]
    if truths == [True, False]:
        return condition
    if truths == [False, True]:
        return _opposite(makers, condition) or form.operation(operator.not_, [condition], {})
    return None


def _is_truth(fact: values.AbstractValue) -> bool:
    """Whether it is a truth of NumPy's: a condition like Python's, and another number."""
    return values.shape_of(fact) == () and values.is_dtype(getattr(fact, "dtype", None), bool)


def _truth(makers: Makers, branch: gast.Assign, side: int, place: int) -> bool | None:
    """What an output is certain to be on a side; None where that is open."""
    condition, *operands = branch.value.args
    block = region_of(branch).blocks[side]
    atom = block.outputs()[place]
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


def _opposite(makers: Makers, atom: gast.Name) -> gast.Name | None:
    """x of an atom that is `not x`."""
    made = makers.get(atom.id)
    if made is None or form.function_of(made) is not operator.not_:
        return None
    return made.value.args[0] if isinstance(made.value.args[0], gast.Name) else None


DECIDE = Pass("decide truths", decide)
