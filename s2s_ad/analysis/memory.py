"""Memory: which names may share it, and which of it the generated function owns."""

from __future__ import annotations

import gast

from s2s_ad.core import form
from s2s_ad.core.program import Program
from s2s_ad.core.registry import rule_for


class Memory:
    """For each name the name whose memory it may share: its root.

    Inputs and captured names are roots that the function does not own.
    """

    def __init__(self, program: Program):
        self.roots: dict[str, str] = {}
        self.owned: set[str] = set()
        self.overlapping: set[str] = set()
        for statement in program.body:
            if form.is_effect(statement):
                continue
            name = form.target(statement)
            rule = rule_for(form.function_of(statement))
            if rule.is_view(statement.value, program.fact):
                self.share(name, statement.value.args[0])
                source = getattr(statement.value.args[0], "id", None)
                if rule.overlapping or source in self.overlapping:
                    self.overlapping.add(name)
            else:
                self.roots[name] = name
                self.owned.add(name)

    def share(self, name: str, other: gast.AST) -> None:
        """`name` may be memory of `other`."""
        self.roots[name] = self.root(other.id) if isinstance(other, gast.Name) else name

    def root(self, name: str) -> str:
        return self.roots.get(name, name)

    def owns(self, name: str) -> bool:
        """Whether the memory was allocated by the function itself, and can be written to."""
        return self.root(name) in self.owned and name not in self.overlapping

    def sharing(self, name: str) -> list[str]:
        """All names that may be the same memory."""
        root = self.root(name)
        return [root, *(each for each, own in self.roots.items() if own == root and each != root)]
