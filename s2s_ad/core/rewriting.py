"""A program written again, statement by statement: what most passes are."""

from __future__ import annotations

from collections.abc import Callable, Collection

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.program import Program
from s2s_ad.core.values import AbstractValue


def rewritten(
    program: Program,
    change: Callable[[form.Statement], form.Statement | list | gast.AST],
    facts: dict[str, AbstractValue] | None = None,
    gone: Collection[str] = (),
) -> Program:
    """The program with what `change` gives in the place of each statement.

    That is a statement, a list of some, or an atom: then the statement goes, and the atom is read
    for its result from there on, before `change` sees what reads it.

    Args:
        facts: those of the program, to which `change` may add those of new names.
        gone: results, to which `change` may add, that nothing reads any more: what computes them
            goes, too.
    """
    atoms: dict[str, gast.AST] = {}
    body: list[form.Statement] = []
    for statement in program.body:
        made = change(form.substitute(statement, atoms) if atoms else statement)
        if isinstance(made, form.Op | form.Effect):
            body.append(made)
        elif isinstance(made, list):
            body += made
        else:
            atoms[statement.target] = made
    if gone:
        body = [each for each in body if getattr(each, "target", "") not in gone]
    if facts is not None and len(facts) > len(program.facts):
        program = program.with_(facts=facts)
    if not atoms:
        return program.with_body(body)
    output = tree.tree_map(lambda atom: form.substitute(atom, atoms), program.output)
    return program.with_(body=tuple(body), output=output)
