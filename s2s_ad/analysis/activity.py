"""Activity: which names depend on the inputs that are differentiated and reach the outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values
from s2s_ad.core.callee import item_of
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Branch, Loop, Region, region_of


def carries_derivative(program: Program, name: str) -> bool:
    """Whether a name may hold floating-point numbers at all."""
    return values.is_inexact(program.facts[name]) is not False


def has_complex(program: Program) -> bool:
    """Whether complex numbers are known to occur in a program."""
    if program.knows_complex:
        return True
    general = any(isinstance(program.facts[leaf], values.Unknown) for leaf in program.leaves())
    return any(
        _makes_complex(each) or (not general and _takes_apart(program, each))
        for each in program.body
        if isinstance(each, form.Op)
    )


def _takes_apart(program: Program, statement: form.Op) -> bool:
    """Whether a part is taken of what may be complex, though the types of the inputs are known.

    Text for inputs of which nothing is known is for real numbers.
    """
    if not statement.rule.takes_apart:
        return False
    facts = [program.facts.get(getattr(each, "id", "")) for each in statement.operands]
    return any(isinstance(fact, values.Array) and fact.dtype is None for fact in facts)


def _makes_complex(statement: form.Op) -> bool:
    atoms = [*statement.operands, *statement.parameters.values()]
    named = [each.value for each in atoms if isinstance(each, gast.Constant)]
    return statement.rule.gives_complex or any(map(values.names_complex, named))


def _flat_in(program: Program) -> Callable[[form.Op], bool]:
    """Tells of an operation whether no derivative passes through.

    What may be complex counts as complex: there fewer functions move in steps.
    """
    near_complex = has_complex(program)

    def seen(arg: gast.AST) -> Any:
        fact = program.facts.get(getattr(arg, "id", ""))
        unknown = fact is not None and values.is_inexact(fact) is not False
        if near_complex and unknown and not values.is_real(fact):
            return values.Array(np.dtype(complex), None)
        return fact

    def is_flat(statement: form.Op) -> bool:
        rule = statement.rule
        return rule.is_flat([seen(each) for each in statement.operands])

    return is_flat


def varied(program: Program, inputs: Iterable[str]) -> set[str]:
    """The names whose value depends differentiably on the inputs."""
    found, is_flat = set(inputs), _flat_in(program)
    outputs: dict[str, frozenset[int]] = {}  # of each region the outputs that do
    for statement in program.body:
        if isinstance(statement, form.Effect):
            continue
        name, region, item = statement.target, region_of(statement), item_of(statement)
        if region is not None:
            flags = tuple(getattr(each, "id", None) in found for each in statement.operands)
            outputs[name] = varied_outputs(region, flags)
            depends = bool(outputs[name])
        elif item is not None and item[0] in outputs:
            depends = item[1] in outputs[item[0]]
        elif is_flat(statement):
            continue
        else:
            depends = any(each in found for each in names_read(statement))
        if depends and carries_derivative(program, name):
            found.add(name)
    return found


def useful(program: Program, outputs: Iterable[str]) -> set[str]:
    """The names that the outputs depend on differentiably."""
    found, is_flat = set(outputs), _flat_in(program)
    items: dict[str, set[int]] = {}  # of each region the outputs that are useful
    for statement in reversed(program.body):
        if isinstance(statement, form.Effect) or statement.target not in found:
            continue
        region, item = region_of(statement), item_of(statement)
        if region is not None:
            used = useful_operands(region, frozenset(items.get(statement.target, ())))
            args = [statement.operands[index] for index in used]
            found.update(each.id for each in args if isinstance(each, gast.Name))
        elif not is_flat(statement):
            found.update(names_read(statement))
            if item is not None:
                items.setdefault(item[0], set()).add(item[1])
    return found


def names_read(statement: form.Op) -> list[str]:
    """The names among the operands and parameters."""
    return [*operand_names(statement), *parameter_names(statement)]


def operand_names(statement: form.Op) -> list[str]:
    return [each for operand in statement.operands for each in _names(operand)]


def parameter_names(statement: form.Op) -> list[str]:
    """The names among the parameters: no rule passes a derivative through these."""
    return [each for atom in statement.parameters.values() for each in _names(atom)]


def _names(operand: gast.AST) -> list[str]:
    return [atom.id for atom in form.atoms_of(operand) if isinstance(atom, gast.Name)]


# ---- branches and loops ------------------------------------------------------------------------


def varied_outputs(region: Region, flags: tuple[bool, ...]) -> frozenset[int]:
    """The outputs that depend differentiably on the operands that `flags` marks."""
    key = ("varied", flags)
    if key not in region.derived:
        if isinstance(region, Loop):
            found = varied_carried(region, flags)
        else:
            marked = flags[len(flags) - len(region.blocks[0].leaves()) :]
            found = {
                index
                for block in region.blocks
                for index in _varied_in(block, _chosen(block.leaves(), marked))
                if values.is_inexact(region.facts[index]) is not False
            }
        region.derived[key] = frozenset(found)
    return region.derived[key]


def varied_carried(loop: Loop, flags: Sequence[bool]) -> set[int]:
    """The carried values that depend differentiably on the marked operands, on some pass."""
    parts, names = loop.parts(flags), loop.leaves(loop.body)
    floats = {i for i, fact in enumerate(loop.facts) if values.is_inexact(fact) is not False}
    found = floats & {index for index, flag in enumerate(parts.carried) if flag}
    while True:
        leaves = [*(names.carried[i] for i in sorted(found)), *_chosen(names.fixed, parts.fixed)]
        more = found | (floats & _varied_in(loop.body, leaves))
        if more == found:
            return found
        found = more


def useful_operands(region: Region, outputs: frozenset[int]) -> frozenset[int]:
    """The operands that these outputs depend on differentiably."""
    key = ("useful", outputs)
    if key not in region.derived:
        if isinstance(region, Loop):
            found = _useful_of_loop(region, outputs)
        else:  # which block of an attempt ran is no output of its blocks, and not inexact either
            inexact = {i for i in outputs if values.is_inexact(region.facts[i]) is not False}
            found = {
                index
                for block in region.blocks
                for index in _useful_leaves(block, inexact, block.leaves())
            }
            condition = 1 if isinstance(region, Branch) else 0
            found = {condition + index for index in found}
        region.derived[key] = frozenset(found)
    return region.derived[key]


def useful_carried(loop: Loop, outputs: Iterable[int]) -> set[int]:
    """The carried values that these depend on, on some pass, and they themselves."""
    found = set(outputs)
    while True:
        more = found | _useful_leaves(loop.body, found, loop.leaves(loop.body).carried)
        if more == found:
            return found
        found = more


def _useful_of_loop(loop: Loop, outputs: frozenset[int]) -> set[int]:
    carried = useful_carried(loop, outputs)
    first = 3 if loop.is_for else 0
    fixed = _useful_leaves(loop.body, carried, loop.leaves(loop.body).fixed)
    return {first + i for i in carried} | {first + loop.carried + i for i in fixed}


def _varied_in(block: Program, leaves: Iterable[str]) -> set[int]:
    """The outputs of a block that depend on these leaves."""
    found = varied(block, leaves)
    atoms = enumerate(block.outputs())
    return {index for index, atom in atoms if getattr(atom, "id", None) in found}


def _useful_leaves(block: Program, outputs: Iterable[int], leaves: Sequence[str]) -> set[int]:
    """The indices of the leaves that these outputs of a block depend on."""
    atoms = block.outputs()
    chosen = [atoms[index] for index in outputs]
    found = useful(block, [each.id for each in chosen if isinstance(each, gast.Name)])
    return {index for index, name in enumerate(leaves) if name in found}


def _chosen(items: Sequence[str], flags: Sequence[bool]) -> list[str]:
    return [each for each, flag in zip(items, flags, strict=True) if flag]
