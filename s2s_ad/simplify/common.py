"""What derivatives compute twice is computed once: in a block, or before it where it knows that."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.builder import DERIVED
from s2s_ad.core.callee import Compound
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Branch, Loop, region_of, with_blocks

Known = Mapping[Any, str]
Key = tuple[Any, tuple, tuple, tuple]  # what is computed: rule, operands, parameters, settings


def share(program: Program) -> Program:
    """A derivative that is computed again is the one that there is.

    What the user wrote twice stays, and so does what is computed again to keep less.

    Example:
        >>> import numpy as np
        >>> from s2s_ad.check.passes import after
        >>> def f(x):
        ...     return np.cos(x) * np.cos(x)
        >>> print(after(SHARE_AGAIN, f, 1.0, derived=True))
        f(x: float):
            t1 = np.cos(x)
            t2 = t1 * t1
            return t2
    """
    return _shared(program, {})


def _shared(program: Program, known: Known) -> Program:
    found, atoms, body = dict(known), {}, []
    variables: dict[tuple[Key, str], str] = {}  # of the user's: helpers written in place have some
    for statement in program.body:
        statement = form.substitute(statement, atoms) if atoms else statement
        if region_of(statement) is not None:
            statement = _with_blocks(statement, found)
        key = None if program.tried else _key(statement)
        hint = program.hints.get(statement.target, TEMPORARY)
        if key is None:
            name = None
        elif hint.kind == "user":
            name = variables.setdefault((key, hint.text), statement.target)
        else:
            name = found.get(key) if statement.phase in DERIVED else None
        if name is None or name == statement.target:
            body.append(statement)
            if key is not None:
                found.setdefault(key, statement.target)
        else:
            atoms[statement.target] = form.name(name)
    if not atoms:
        return program.with_body(body)
    output = tree.tree_map(lambda atom: form.substitute(atom, atoms), program.output)
    return program.with_(body=tuple(body), output=output)


def _with_blocks(statement: form.Statement, known: Known) -> form.Op:
    region: Any = region_of(statement)
    blocks = [_shared(block, dict(_inside(statement, block, known))) for block in region.blocks]
    return with_blocks(statement, region, blocks)


def _inside(
    statement: form.Statement, block: Program, known: Known
) -> Iterator[tuple[Hashable, str]]:
    """What is known in a block of what is computed before it: in terms of its leaves."""
    leaves = dict(handed_in(statement, block))
    for key, name in known.items():
        own = inside(key, leaves)
        if name in leaves and own is not None:
            yield own, leaves[name]


def inside(key: Key, leaves: Known) -> Key | None:
    """What a block computes that is the same, in terms of its leaves; None where it lacks one."""
    function, operands, params, settings = key
    own = [leaves.get(each) if type(each) is str else each for each in operands]
    if None in own or any(_names_in(each) for _, each in params):
        return None
    return function, tuple(own), params, settings


def handed_in(statement: form.Statement, block: Program) -> Iterator[tuple[str, str]]:
    """(a name outside, the leaf that it is inside, in all passes)."""
    region, args = region_of(statement), statement.operands
    pairs: Iterable = ()
    if isinstance(region, Branch):
        pairs = zip(args[1:], block.leaves(), strict=True)
    elif isinstance(region, Loop):
        pairs = zip(region.parts(args).fixed, region.leaves(block).fixed, strict=True)
    return ((atom.id, leaf) for atom, leaf in pairs if isinstance(atom, gast.Name))


def _key(statement: form.Statement) -> Key | None:
    """Lengths that the user's code reads are asked for, too."""
    is_asked = statement.phase in DERIVED or statement.rule.length
    return key_of(statement) if is_asked else None


def key_of(statement: form.Statement) -> Key | None:
    """What two statements have in common that compute the same; None where that is unknown."""
    rule = statement.rule
    if rule.effects or rule.distinct or isinstance(rule, Compound):
        return None
    operands = tuple(map(_atom, statement.operands))
    params = tuple((key, _atom(each)) for key, each in statement.parameters.items())
    settings = () if statement.origin is None else statement.origin.settings
    return rule, operands, params, settings


def _atom(node: object) -> Hashable:
    """A name as itself, everything else as a tuple with all fields."""
    if isinstance(node, gast.Name):
        return node.id
    if isinstance(node, gast.Constant):
        return type(node.value), repr(node.value)
    if isinstance(node, list):
        return (list, *map(_atom, node))
    if not isinstance(node, gast.AST):
        return type(node), repr(node)
    return (type(node), *(_atom(getattr(node, field, None)) for field in node._fields))


def _names_in(key: Hashable) -> bool:
    return type(key) is str or (type(key) is tuple and any(map(_names_in, key)))


SHARE_AGAIN = Pass("share-again", share)
