"""An element that a pass stores and reads again behind that is a number meanwhile.

LLVM reads it from memory once more where the loop has stored into another array: for all that it
knows the two may overlap, and then the loop has no vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeGuard

import gast

from s2s_ad.emit.provenance import with_origin
from s2s_ad.native.fusion import Kin
from s2s_ad.native.spelling import assign, name, names_in, put, same, unused


def kept(body: list[gast.stmt], parameters: Sequence[str]) -> list[gast.stmt]:
    """The statements of a function, where what is stored and read again is a number."""
    return _Kept(body, parameters).block(body)


class _Kept:
    def __init__(self, body: list[gast.stmt], parameters: Sequence[str]):
        self.kin = Kin(body, parameters)
        self.taken = {each for statement in body for each in names_in(statement)}

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        made: list[gast.stmt] = []
        for index, each in enumerate(body):
            self.kin.enter(each)
            for part in ("body", "orelse"):
                inner = getattr(each, part, None)
                if isinstance(inner, list) and inner:
                    with self.kin.block():
                        setattr(each, part, self.block(inner))
            readers = self._readers(each, body[index + 1 :]) if _stores_result(each) else []
            if readers:
                own = unused(f"{each.targets[0].value.id}_element", self.taken)
                for reader in readers:
                    put(own, reader, functools.partial(_is_read, element=each.targets[0]))
                known = getattr(each, "origin", None), getattr(each, "phase", "")
                made.append(with_origin(assign(own, each.value), *known))
                each.value = name(own)
            made.append(each)
        return made

    def _readers(self, store: gast.Assign, behind: Sequence[gast.stmt]) -> list[gast.stmt]:
        """The statements that read the element; none where nothing is stored in between."""
        element, found, between = store.targets[0], [], False
        for each in behind:
            if not isinstance(each, gast.Assign | gast.AugAssign):
                break
            if isinstance(each, gast.AugAssign) and _is_element(each.target, element):
                break
            if any(_is_read(node, element) for node in gast.walk(each)):
                found.append((each, between))
            targets = each.targets if isinstance(each, gast.Assign) else [each.target]
            if not all(self._is_apart(target, element) for target in targets):
                break
            between |= any(isinstance(target, gast.Subscript) for target in targets)
        return [each for each, _ in found] if any(late for _, late in found) else []

    def _is_apart(self, target: gast.AST, element: gast.Subscript) -> bool:
        """Whether an assignment leaves the element, and which one that is, as it was."""
        if isinstance(target, gast.Name):
            return target.id not in names_in(element)
        array = getattr(getattr(target, "value", None), "id", None)
        return array is not None and self.kin.are_apart(array, element.value.id)


def _stores_result(node: gast.stmt) -> bool:
    """Whether it computes one element of an array that has a name, and stores it."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0]
    element = isinstance(target, gast.Subscript) and isinstance(target.value, gast.Name)
    plain = (gast.Slice, gast.Call, gast.Subscript)
    simple = element and not any(isinstance(each, plain) for each in gast.walk(target.slice))
    return simple and not isinstance(node.value, gast.Name | gast.Constant)


def _is_element(node: Any, element: gast.Subscript) -> TypeGuard[gast.Subscript]:
    if not isinstance(node, gast.Subscript) or not same(node.value, element.value):
        return False
    return same(node.slice, element.slice)


def _is_read(node: Any, element: gast.Subscript) -> bool:
    return _is_element(node, element) and isinstance(node.ctx, gast.Load)
