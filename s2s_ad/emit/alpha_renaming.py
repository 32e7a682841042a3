"""Names of blocks renamed apart: in the text a block stands among the names around it."""

from __future__ import annotations

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.program import Program
from s2s_ad.core.regions import map_blocks


def apart(program: Program) -> Program:
    """The program with no name of a block the name of anything else.

    The facts and hints of all blocks are those of the program too.
    """
    facts, hints = dict(program.facts), dict(program.hints)
    taken = {*program.leaves(), *_targets(program)}

    def renamed(block: Program) -> Program:
        own = [*block.leaves(), *_targets(block)]
        new = {old: fresh_name() if old in taken else old for old in own}
        taken.update(new.values())
        block = map_blocks(block, renamed)
        atoms = {old: form.name(name) for old, name in new.items()}
        own_facts = {new[old]: block.facts[old] for old in new}
        own_hints = {new[old]: block.hints[old] for old in new if old in block.hints}
        facts.update(own_facts)
        hints.update(own_hints)
        return block.with_(
            inputs=tuple(type(each)(new[each.tree], new[each.tree]) for each in block.inputs),
            body=tuple(_renamed(each, atoms) for each in block.body),
            output=tree.tree_map(lambda atom: form.substitute(atom, atoms), block.output),
            facts=block.facts | own_facts,
            hints=block.hints | own_hints,
        )

    made = map_blocks(program, renamed)
    return made.with_(facts=facts, hints=hints)


def _targets(program: Program) -> list[str]:
    return [each.target for each in program.body if isinstance(each, form.Op)]


def _renamed(statement: form.Statement, atoms: dict[str, gast.Name]) -> form.Statement:
    return form.substitute(statement, atoms)
