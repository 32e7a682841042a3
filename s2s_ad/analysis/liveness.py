"""Liveness: where each name is read last, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import gast

from s2s_ad.core import form


def counts(body: Sequence[form.Statement], outputs: Sequence[gast.AST]) -> Counter[str]:
    """How often each name is read."""
    found: Counter[str] = Counter()
    for statement in body:
        found.update(form.reads(statement))
    found.update(atom.id for atom in outputs if isinstance(atom, gast.Name))
    return found


def last_reads(body: Sequence[form.Statement], outputs: Sequence[gast.AST]) -> dict[str, int]:
    """The position of the last statement that reads each name; len(body) for the return."""
    last: dict[str, int] = {}
    for position, statement in enumerate(body):
        last.update(dict.fromkeys(form.reads(statement), position))
    last.update({atom.id: len(body) for atom in outputs if isinstance(atom, gast.Name)})
    return last
