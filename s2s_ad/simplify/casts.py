"""Numbers of Python's that derivatives take into NumPy's type, where NumPy does so anyway."""

from __future__ import annotations

import operator
from collections.abc import Iterator

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, everywhere_inwards, region_of, with_blocks
from s2s_ad.core.rewriting import rewritten

DOUBLES = (np.dtype(float), np.dtype(complex))


def uncast(program: Program) -> Program:
    """A number is not converted where it is only computed with arrays of that precision.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x, s):
        ...     return np.float64(s) * x
        >>> print(after(UNCAST, f, np.ones(3), 2.0, derived=True))
        f(x: f64[n], s: float):
            t1 = s * x
            return t1
    """
    program = _with_plain_numbers(program)
    casts = {
        each.target: each.operands[0]
        for each in program.body
        if _is_cast(program, each) and _is_taken(program, each.target)
    }
    if not casts:
        return program

    told = _told(program, set(casts))
    return rewritten(told, lambda each: casts.get(each.target, each))


def _with_plain_numbers(program: Program) -> Program:
    """Doubles that a derivative is computed with, such as `np.log(10)`, as numbers of Python's."""
    body = []
    for each in program.body:
        if isinstance(each, form.Op) and each.phase in DERIVED and each.rule.elementwise:
            doubles = [_is_double(program.fact(atom)) for atom in each.operands]
            constant = [_is_number(atom) for atom in each.operands]
            if any(constant) and any(map(operator.gt, doubles, constant)):
                numbers = [
                    form.constant(float(atom.value)) if plain else atom
                    for atom, plain in zip(each.operands, constant, strict=True)
                ]
                each = each.with_operands(numbers)
        body.append(each)
    return program.with_(body=tuple(body))


def _is_number(atom: gast.AST) -> bool:
    return isinstance(atom, gast.Constant) and isinstance(atom.value, np.float64)


def _is_cast(program: Program, statement: form.Statement) -> bool:
    """Whether it makes a double of a derivative that is one of Python's floats."""
    if isinstance(statement, form.Effect) or statement.phase not in DERIVED:
        return False
    if statement.function is not np.float64 or len(statement.operands) != 1:
        return False
    return program.fact(statement.operands[0]) == values.Scalar(float)


def _is_taken(block: Program, name: str) -> bool:
    """Whether all that reads a number gives the same where it is one of Python's."""
    if any(getattr(atom, "id", None) == name for atom in block.outputs()):
        return False
    return all(_takes(block, each, name) for each in block.body if name in each.reads)


def _takes(block: Program, statement: form.Statement, name: str) -> bool:
    if isinstance(statement, form.Effect):
        return False
    region = region_of(statement)
    if isinstance(region, Loop | Branch):
        leaves = [*_leaves(statement, name)]
        every = len(leaves) == statement.reads.count(name) * len(region.blocks)
        return every and all(_is_taken(inner, leaf) for inner, leaf in leaves)
    operands = statement.operands
    others = [each for each in operands if getattr(each, "id", None) != name]
    if len(operands) - len(others) != 1 or statement.reads.count(name) != 1:
        return False
    if statement.rule.updates:
        return getattr(operands[1], "id", None) == name and _is_double(block.fact(operands[0]))
    facts = [*map(block.fact, others)]
    if _is_of_numbers(statement) and all(isinstance(each, values.Scalar) for each in facts):
        return _is_taken(block, statement.target)
    return statement.rule.elementwise and any(map(_is_double, facts))


def _is_of_numbers(statement: form.Op) -> bool:
    """Whether it is an operator that does the same to numbers of Python's, and raises nothing."""
    rule = statement.rule
    of_python = getattr(rule, "ufunc", rule.function) is not rule.function
    return rule.elementwise and rule.total and of_python


def _is_double(fact: values.AbstractValue) -> bool:
    """Whether it is an array, or a number of NumPy's, in double precision."""
    if not isinstance(fact, values.Array) or fact.weak or fact.absent:
        return False
    return any(values.is_dtype(fact.dtype, each) for each in DOUBLES)


def _leaves(statement: form.Op, name: str) -> Iterator[tuple[Program, str]]:
    """The blocks of a branch or loop, each with a leaf that is nothing else than a value."""
    region = region_of(statement)
    for block in () if region is None else region.blocks:
        operands, leaves = statement.operands[1:], block.leaves()
        if isinstance(region, Loop):
            operands = region.parts(statement.operands).fixed
            leaves = region.leaves(block).fixed
        for operand, leaf in zip(operands, leaves, strict=True):
            if getattr(operand, "id", None) == name:
                yield block, leaf


def _told(block: Program, names: set[str]) -> Program:
    """The block that knows that these are numbers of Python's, and what is computed of them."""
    facts, body = dict(block.facts), []
    facts |= dict.fromkeys(names, values.Scalar(float))
    known = set(names)
    for statement in block.body:
        if known.isdisjoint(statement.reads) or isinstance(statement, form.Effect):
            body.append(statement)
            continue
        region = region_of(statement)
        if region is not None:
            inside = [pair for name in known for pair in _leaves(statement, name)]
            blocks = []
            for each in region.blocks:
                own = {leaf for inner, leaf in inside if inner is each}
                blocks.append(_told(each, own) if own else each)
            statement = with_blocks(statement, region, blocks)
        elif statement.rule.elementwise:
            atoms = (getattr(each, "id", None) for each in statement.operands)
            pairs = zip(statement.operands, atoms, strict=True)
            operands = [facts[name] if name in facts else block.fact(each) for each, name in pairs]
            if all(isinstance(each, values.Scalar) for each in operands):
                facts[statement.target] = statement.rule.infer(operands, {})
                known.add(statement.target)
        body.append(statement)
    return block.with_(facts=facts, body=tuple(body))


UNCAST = Pass("uncast", everywhere_inwards(uncast))
