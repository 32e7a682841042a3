"""Dead code: operations whose result nobody reads go; effects, and what they read, stay."""

from __future__ import annotations

import gast

from s2s_ad.core import form
from s2s_ad.core.callee import captured_names, has_effect
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import Program


def remove_dead(program: Program) -> Program:
    """Drop what neither the outputs nor an effect need.

    Before: `a = np.sin(x); b = np.cos(x); return b`; after: `b = np.cos(x); return b`.
    """
    live = {atom.id for atom in program.outputs() if isinstance(atom, gast.Name)}
    kept = []
    for statement in reversed(program.body):
        if has_effect(statement) or form.target(statement) in live:
            live.update(form.reads(statement))
            live.update(captured_names(statement))
            kept.append(statement)
    captures = tuple(each for each in program.captures if each.name is None or each.name in live)
    return program.with_(body=tuple(reversed(kept)), captures=captures)


DEAD = Pass("dead", remove_dead)
