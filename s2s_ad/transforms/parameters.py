"""Parameters as leaves of a program that nobody passes: the ones it reads, and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.program import Capture, Hint, Program, identifier
from s2s_ad.transforms.common import Target


def with_parameters(program: Program, parameters: Iterable[Any]) -> tuple[Program, list[Target]]:
    """The program with each of these objects as a captured leaf, and each as a target.

    What the function reads is a leaf already, one for each object; another becomes one here. The
    gradient with respect to it is zero, in its shape and dtype.
    """
    names = {id(each.value): each.name for each in program.captured()}
    facts, hints, captures = dict(program.facts), dict(program.hints), list(program.captures)
    targets = []
    for each in parameters:
        if id(each) not in names:
            name = names[id(each)] = fresh_name()
            facts[name] = values.of_leaf(each, each.name)
            hints[name] = Hint(identifier(each.name), "user")
            captures.append(Capture(each.name, lambda each=each: each, each, name))
        targets.append(Target(each.name, each.name, names[id(each)]))
    tensors = program.tensors or bool(targets)
    made = program.with_(facts=facts, hints=hints, captures=tuple(captures), tensors=tensors)
    return made, targets
