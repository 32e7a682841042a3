"""Einsum specifications of two operands: their parts, and the letters they are written in."""

from __future__ import annotations

import string


def parts(spec: str) -> tuple[str, str, str]:
    left, out = spec.split("->")
    a, b = left.split(",")
    return a, b, out


def canonical(spec: str) -> str:
    """The specification in letters a, b, c ... by first appearance."""
    order: dict[str, str] = {}
    letters = iter(string.ascii_letters)
    for each in spec:
        if each not in ",->" and each not in order:
            order[each] = next(letters)
    return "".join(order.get(each, each) for each in spec)


def readable(spec: str) -> str:
    """The letters of a specification as readers expect them: b for a batch, then i, j, k."""
    a, b, out = parts(spec)
    batch = [letter for letter in out if letter in a and letter in b]
    names = dict(zip(batch, "bcdefgh", strict=False))
    rest = iter("ijklmnopqrstuvwxyz")
    for letter in a + b:
        if letter not in names:
            names[letter] = next(rest)
    return "".join(names.get(each, each) for each in spec)


def ordered(letters: str, among: str) -> bool:
    indices = [among.index(letter) for letter in letters]
    return indices == sorted(indices)
