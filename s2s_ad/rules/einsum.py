"""np.einsum: contractions of two operands at a time, from the left."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import register
from s2s_ad.core.rule import Rule
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.triangles import Diagonal


class Einsum(Rule):
    """np.einsum: contractions two by two, from the left."""

    text = "subscripts, *operands, optimize=False, dtype=None, order='K', casting='safe'"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args, kwargs)
        if isinstance(args[0], Symbol | list | tuple):
            args = _with_letters(args)
        spec = static(args[0], "the subscripts of np.einsum").replace(" ", "")
        operands = [support.as_operand(builder, each) for each in args[1:]]
        operands = support.in_dtype(builder, operands, given["dtype"], given["casting"])
        inputs, out = explicit(spec, [support.rank(each) for each in operands], builder)
        inputs, operands = _without_stretched(inputs, operands)
        return self._pairwise(builder, inputs, out, operands)

    def _pairwise(self, builder: Builder, inputs: list, out: str, operands: list) -> Any:
        pending = list(zip(inputs, operands, strict=True))
        letters, value = _diagonals(*pending.pop(0))
        while pending:
            other, operand = _diagonals(*pending.pop(0))
            needed = set(out).union(*(each for each, _ in pending))
            letters, value = _reduced(letters, value, needed | set(other))
            other, operand = _reduced(other, operand, needed | set(letters))
            kept = (
                out
                if not pending
                else "".join(dict.fromkeys(each for each in letters + other if each in needed))
            )
            value = builder.call(
                runtime.contract, (f"{letters},{other}->{kept}", value, operand), {}
            )
            letters = kept
        letters, value = _reduced(letters, value, set(out))
        order = tuple(letters.index(each) for each in out)
        return np.transpose(value, order) if order != tuple(range(len(order))) else value


def _with_letters(args: tuple) -> tuple:
    """`np.einsum(a, [0, 1], b, [1, 2], [0, 2])` as it is with letters."""
    count = len(args) // 2
    lists = static(args[1 : 2 * count : 2], "the subscripts of np.einsum")
    output = static(args[2 * count :], "the subscripts of np.einsum")
    used = sorted({each for one in (*lists, *output) for each in one if each is not Ellipsis})
    names = dict(zip(used, sorted(string.ascii_letters), strict=False)) | {Ellipsis: "..."}
    texts = ["".join(names[each] for each in one) for one in (*lists, *output)]
    spec = ",".join(texts[:count]) + "".join("->" + each for each in texts[count:])
    return (spec, *args[: 2 * count : 2])


def explicit(spec: str, ranks: list, builder: Builder) -> tuple[list[str], str]:
    """The inputs and the output of a specification with `...` and the output written out."""
    if None in ranks:
        raise ArgumentValueError(
            "S2S205",
            "np.einsum of an operand whose rank is not known",
            origin=builder.origin,
            help="give example arguments, or --like on the command line",
        )
    left, arrow, out = spec.partition("->")
    inputs = left.split(",")
    spare = [each for each in string.ascii_letters if each not in spec]
    longest = 0
    for i, (letters, rank) in enumerate(zip(inputs, ranks, strict=True)):
        if "..." in letters:
            count = rank - len(letters) + 3
            longest = max(longest, count)
            inputs[i] = letters.replace("...", "".join(reversed(spare[:count])))
        elif len(letters) != rank:
            raise ArgumentValueError(
                "S2S203",
                f"np.einsum: operand {i} has rank {rank}, its subscripts are {letters!r}",
                origin=builder.origin,
            )
    broadcast = "".join(reversed(spare[:longest]))
    if arrow:
        return inputs, out.replace("...", broadcast)
    joined = "".join(inputs)
    once = sorted(each for each in set(joined) if joined.count(each) == 1 and each not in broadcast)
    return inputs, broadcast + "".join(once)


def _without_stretched(inputs: list[str], operands: list) -> tuple[list[str], list]:
    """Drop axes of length one that another operand's axis of the same letter stretches."""
    shapes = map(support.shape, operands)
    pairs = [list(zip(x, y, strict=True)) for x, y in zip(inputs, shapes, strict=True)]
    long = {letter for each in pairs for letter, dim in each if values.known_not_one(dim)}
    made = []
    for letters, operand, dims in zip(inputs, operands, pairs, strict=True):
        short = [i for i, (letter, dim) in enumerate(dims) if dim == 1 and letter in long]
        kept = "".join(each for i, each in enumerate(letters) if i not in short)
        if any(letter in kept for letter in (letters[i] for i in short)):
            raise ValueError("the axes of a repeated subscript have different lengths")
        made.append((kept, np.squeeze(operand, axis=tuple(short)) if short else operand))
    return [kept for kept, _ in made], [operand for _, operand in made]


def _diagonals(letters: str, value: Any) -> tuple[str, Any]:
    """A letter that stands twice takes the diagonal."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            i = letters.index(letter)
            j = letters.index(letter, i + 1)
            value = value.builder.call(runtime.equal_diagonal, (value,), {"axis1": i, "axis2": j})
            letters = (
                letters.replace(letter, "") + letter
                if letters.count(letter) == 2
                else (letters[:i] + letters[i + 1 : j] + letters[j + 1 :] + letter)
            )
    return letters, value


def _reduced(letters: str, value: Any, needed: set[str]) -> tuple[str, Any]:
    """Letters that nobody else has are summed away."""
    axes = tuple(i for i, letter in enumerate(letters) if letter not in needed)
    if not axes:
        return letters, value
    kept = "".join(letter for letter in letters if letter in needed)
    axis = support.axis_of(axes) if kept else None
    return kept, np.sum(value, axis=axis)


class EqualDiagonal(Diagonal):
    """The diagonal that einsum takes for a repeated letter: it wants axes of equal length."""

    text = "x, axis1, axis2"

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        axes = (keyword.value.value for keyword in call.keywords)
        spec = _diagonal_spec(values.rank_of(facts(call.args[0])), *axes)
        return form.operation(np.einsum, [form.constant(spec), *call.args], {})


def _diagonal_spec(rank: int, axis1: int, axis2: int) -> str:
    letters = string.ascii_lowercase[8 : 8 + rank]
    letters = letters[:axis2] + letters[axis1] + letters[axis2 + 1 :]
    return f"{letters}->{letters.replace(letters[axis1], '')}{letters[axis1]}"


register(Einsum(np.einsum, "np.einsum"))
register(EqualDiagonal(runtime.equal_diagonal, "equal_diagonal"))
