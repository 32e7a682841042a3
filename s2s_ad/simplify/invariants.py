"""What blocks need not be told: values that they hand on as they are, and numbers known before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import gast

from s2s_ad.analysis import liveness
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name, to_node
from s2s_ad.core.callee import item_of
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.core.regions import Branch, Loop, Region, everywhere, region_of

Atoms = Mapping[str, gast.AST]  # what a name stands for

# ---- what is handed on -------------------------------------------------------------------------


def pass_by(program: Program) -> Program:
    """What each block of a region hands on as it came is read from where it came from.

    What each pass of a loop carries on unchanged is no longer carried.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(a, c):
        ...     b = a if c > 0 else 1 * a
        ...     return 2 * b
        >>> print(after(PASS_BY, f, np.ones(3), 1.0))
        f(a: f64[n], c: float):
            t1 = c > 0
            _ = if t1:
                give a
            else:
                give a
            t2 = 2 * a
            return t2
    """
    passed: dict[str, dict[int, gast.AST]] = {}  # a region's result -> the outputs that pass by
    known: dict[str, gast.AST] = {}
    body = []
    for statement in program.body:
        region, item = region_of(statement), item_of(statement)
        if region is not None:
            passed[statement.target] = indices = _unchanged(program, region, statement)
            if isinstance(region, Loop) and indices:
                statement = _not_carried(statement, region, indices)
        elif item is not None and item[1] in passed.get(item[0], {}):
            atom = passed[item[0]][item[1]]
            if _stands_for(program, atom, program.facts[statement.target]):
                known[statement.target] = atom
        body.append(statement)
    program = program.with_(body=tuple(body))
    return replayed(program, known) if known else program


def _unchanged(program: Program, region: Region, statement: form.Statement) -> dict[int, gast.AST]:
    """The outputs of a branch or loop that are certain to be an operand, and which."""
    operands = statement.operands
    if isinstance(region, Loop):
        leaves = region.leaves(region.body).carried
        starts = region.parts(operands).carried
        pairs = enumerate(zip(leaves, starts, region.results()[0], strict=True))
        return {
            index: start
            for index, (leaf, start, atom) in pairs
            if getattr(atom, "id", None) == leaf
            and _stands_for(program, start, region.body.facts[leaf])
        }
    if not isinstance(region, Branch):
        return {}
    sides = [_handed_on(block, operands[1:]) for block in region.blocks]
    return {
        index: atom
        for index, atom in sides[0].items()
        if index in sides[1] and _is_same(atom, sides[1][index])
    }


def _handed_on(block: Program, operands: Sequence[gast.AST]) -> dict[int, gast.AST]:
    """The outputs of a block of a branch that are operands."""
    given = dict(zip(block.leaves(), operands, strict=True))
    names = [getattr(atom, "id", None) for atom in block.outputs()]
    return {index: given[name] for index, name in enumerate(names) if name in given}


def _is_same(one: gast.AST, other: gast.AST) -> bool:
    return isinstance(one, gast.Name) and getattr(other, "id", None) == one.id


def _not_carried(statement: form.Statement, loop: Loop, places: Mapping[int, gast.AST]) -> form.Op:
    """The loop reading what it does not change from further operands; it is carried for nobody."""
    blocks = []
    for block in loop.blocks:
        carried = loop.leaves(block).carried
        fresh = {carried[index]: fresh_name() for index in places}
        facts = {name: block.facts[leaf] for leaf, name in fresh.items()}
        hints = {name: block.hints.get(leaf, TEMPORARY) for leaf, name in fresh.items()}
        atoms = {leaf: form.name(name) for leaf, name in fresh.items()}
        blocks.append(
            block.with_(
                inputs=(*block.inputs, *(Input(name, name) for name in fresh.values())),
                body=tuple(form.substitute(each, atoms) for each in block.body),
                facts=block.facts | facts,
                hints=block.hints | hints,
            )
        )
    return statement.with_call(loop.with_blocks(blocks), [*statement.operands, *places.values()])


# ---- numbers that are known --------------------------------------------------------------------


def tell(program: Program) -> Program:
    """A number that a block is handed stands in the block, where algebra may do without it.

    In the gradient of a sum of squares it is the adjoint of the sum, 1.0:

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     total = 0.0
        ...     for i in range(len(x)):
        ...         total += x[i] ** 2
        ...     return total
        >>> print(after(TELL, grad(f), np.ones(3)))
        f_grad(x: f64[n]):
            t1 = np.size(x, axis=0)
            t2 = broadcast_like(0.0, x)
            x_bar.3 = for i in reversed range(t1) with x_bar = t2:
                t3 = x[i]
                t4 = 2 * t3
                x_i_bar = 2.0 * t3
                x_bar.2 = index_add(x_bar, x_i_bar, index=i)
                next x_bar.2
            return x_bar.3
    """
    body = []
    for statement in program.body:
        region = region_of(statement)
        if region is not None:
            blocks = []
            for block in region.blocks:
                handed = dict(_handed(region, block, statement.operands))
                blocks.append(tell(_told(_with_kinds(block, handed, program), handed)))
            statement = statement.with_call(region.with_blocks(blocks), statement.operands)
        body.append(statement)
    return program.with_(body=tuple(body))


def _handed(
    region: Region, block: Program, operands: Sequence[gast.AST]
) -> Iterator[tuple[str, gast.AST]]:
    """The leaves of a block that are the same whenever it runs, with their operands."""
    if isinstance(region, Loop):
        leaves, operands = region.leaves(block).fixed, region.parts(operands).fixed
    else:
        leaves = block.leaves()
        operands = operands[1:] if isinstance(region, Branch) else operands
    return zip(leaves, operands, strict=True)


def _with_kinds(block: Program, handed: Atoms, program: Program) -> Program:
    """The block that knows of what it is handed that this is no number of Python's."""
    facts = {
        leaf: program.fact(operand)
        for leaf, operand in handed.items()
        if getattr(block.facts[leaf], "weak", False)
        and replace(block.facts[leaf], weak=False) == program.fact(operand)
    }
    return block.with_(facts=block.facts | facts) if facts else block


def _told(block: Program, handed: Atoms) -> Program:
    """The block with the numbers among its operands in place of its leaves."""
    known = {
        leaf: operand
        for leaf, operand in handed.items()
        if isinstance(operand, gast.Constant)
        and type(operand.value) in (int, float)
        and _stands_for(block, operand, block.facts[leaf])
    }
    return replayed(block, known) if known else block


# ---- both --------------------------------------------------------------------------------------


def _stands_for(program: Program, atom: gast.AST, fact: values.AbstractValue) -> bool:
    """Whether the atom may be read for a value of this fact.

    A Python float that is carried where numbers of NumPy are is a Python float all the same, and
    a number of NumPy's where either may be is one of NumPy's.
    """
    is_float = isinstance(atom, gast.Constant) and type(atom.value) is float
    number = values.shape_of(fact) == () and values.is_inexact(fact) is True
    if isinstance(fact, values.Array) and fact.weak:
        fact = replace(fact, weak=getattr(program.fact(atom), "weak", False))
    return (is_float and number) or program.fact(atom) == fact


def replayed(program: Program, known: Atoms) -> Program:
    """The program written again with other atoms for some of its names, and simplified by that."""
    builder = Builder()
    names = [*program.leaves(), *(each.name for each in program.captured())]
    atoms = {name: builder.import_name(program, name) for name in names}
    atoms |= {name: builder.view(known[name], {}) for name in names if name in known}
    counts = liveness.counts(program.body, program.outputs())
    read_anyway = builder.notes.setdefault("read anyway", set())
    for statement in program.body:
        name = statement.target or ""
        if name in known:
            atoms[name] = builder.view(known[name], atoms)
            continue
        with builder.at(statement.origin, statement.phase):
            builder.replay(statement, atoms, program)
        if counts[name] > 1 and isinstance(atoms[name], Symbol):
            read_anyway.add(atoms[name].name)
    output = tree.tree_map(lambda atom: to_node(builder.view(atom, atoms)), program.output)
    facts, hints = program.facts | builder.facts, program.hints | builder.hints
    return program.with_(body=tuple(builder.body), output=output, facts=facts, hints=hints)


PASS_BY = Pass("pass-by", everywhere(pass_by))
TELL = Pass("tell-numbers", tell)
