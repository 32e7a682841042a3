"""How a product of two arrays is written: `a @ b.T`, np.outer, np.tensordot or np.einsum."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form
from s2s_ad.rules.specifications import parts, readable


def product_surface(spec: str, x: gast.AST, w: gast.AST, *, real: bool = False) -> gast.AST:
    """The product as an expert writes it; `real` where both arrays are certain to be."""
    a, b, out = parts(spec)
    if real and a == b and len(a) > 1 and len(set(a)) == len(a) and not out:
        return form.operation(np.vdot, [x, w], {})
    direct = _matmul_surface(a, b, out, x, w) or _matmul_surface(b, a, out, w, x)
    if direct is not None:
        return direct
    if len(a) == len(b) == 1 and a != b and out in (a + b, b + a):
        return form.operation(np.outer, [x, w] if out == a + b else [w, x], {})
    summed = [letter for letter in a if letter in b and letter not in out]
    for first, second, operands in ((a, b, (x, w)), (b, a, (w, x))):
        tensor = [letter for letter in first + second if letter not in summed]
        if summed and out == "".join(tensor) and len(set(tensor)) == len(tensor):
            return _tensordot_surface(first, second, summed, *operands)
    stacked = _stacked_surface((a, x), (b, w), out)
    if stacked is not None:
        return stacked
    mine, theirs = _free(a, b, out), _free(b, a, out)
    if mine and theirs and out.index(theirs[0]) < out.index(mine[0]):
        spec, x, w = f"{b},{a}->{out}", w, x  # operands in the order of the result's axes
    return form.operation(np.einsum, [form.constant(readable(spec)), x, w], {})


def _free(letters: str, other: str, out: str) -> list[str]:
    """The letters of the result that only one operand has."""
    return [each for each in letters if each in out and each not in other]


def _matmul_surface(a: str, b: str, out: str, x: Any, w: Any) -> gast.AST | None:
    """x @ w, with transposes, where that is what the specification means."""
    if len(set(a)) < len(a) or len(set(b)) < len(b):
        return None
    if len(a) == 1 and a == b and not out:
        return _binary(x, w)
    if len(a) == 2 and len(b) == 1 and b in a and len(out) == 1 and out in a and out != b:
        return _binary(x, w) if a == out + b else _binary(w, x)
    if len(a) == len(b) == len(out) == 2:
        shared = set(a) & set(b)
        if len(shared) != 1 or shared & set(out) or out[0] not in a:
            return None
        (k,) = shared
        left = x if a[1] == k else _transposed(x)
        return _binary(left, w if b[0] == k else _transposed(w))
    if len(a) > 2 and len(a) == len(b) == len(out) and a[:-2] == b[:-2] == out[:-2]:
        shared = set(a[-2:]) & set(b[-2:])
        if len(shared) == 1 and not shared & set(out) and out[-2] in a and out[-1] in b:
            (k,) = shared
            left = x if a[-1] == k else _transposed(x, "mT")
            return _binary(left, w if b[-2] == k else _transposed(w, "mT"))
    stack = len(a) > 2 and len(b) in (1, 2) and out == a[:-1] + b[1:]
    if stack and a[-1] == b[0] and b[0] not in out:
        return _binary(x, w)
    return _one_by_stack(a, b, out, x, w)


def _one_by_stack(a: str, b: str, out: str, x: Any, w: Any) -> gast.AST | None:
    """x @ w of one matrix and each of a stack, or with the transpose of that one."""
    if len(a) != 2 or len(b) < 3 or out[:-2] != b[:-2] or out[-1] != b[-1]:
        return None
    k = b[-2]
    if set(a) != {k, out[-2]} or out[-2] in b or k in out:
        return None
    return _binary(x if a[1] == k else _transposed(x), w)


def _stacked_surface(
    one: tuple[str, gast.AST], other: tuple[str, gast.AST], out: str
) -> gast.AST | None:
    """x @ w of stacks of matrices whose axes are transposed to stand last; np.einsum is slower.

    Args:
        one, other: the letters of an operand, and the operand.
    """
    a, b = one[0], other[0]
    stack = "".join(letter for letter in out if letter in a and letter in b)
    summed = [letter for letter in a if letter in b and letter not in out]
    mine, theirs = _free(a, b, out), _free(b, a, out)
    single = len(summed) == len(mine) == len(theirs) == 1 and stack
    if not single or not len(stack) + 2 == len(a) == len(b) == len(out):
        return None
    ways = []
    for (left, x), row, (right, w), column in (
        (one, mine[0], other, theirs[0]),
        (other, theirs[0], one, mine[0]),
    ):
        wanted = stack + row + summed[0], stack + summed[0] + column, stack + row + column
        turns = sum(map(operator.ne, wanted, (left, right, out)))
        product = _binary(_turned(x, left, wanted[0]), _turned(w, right, wanted[1]))
        ways.append((turns, _turned(product, wanted[2], out)))
    return min(ways, key=lambda way: way[0])[1]


def _turned(x: gast.AST, letters: str, wanted: str) -> gast.AST:
    """An array with its axes in another order."""
    axes = tuple(letters.index(each) for each in wanted)
    last = len(axes) - 1
    if axes == (*range(last - 1), last, last - 1):
        return _transposed(x, "mT")
    plain = axes == (*range(len(axes)),)
    return x if plain else form.operation(np.transpose, [x, _nested(axes)], {})


def _tensordot_surface(a: str, b: str, summed: list[str], x: Any, w: Any) -> gast.AST:
    count = len(summed)
    if a[-count:] == b[:count]:
        axes: Any = count
    else:
        axes = tuple(tuple(each.index(letter) for letter in summed) for each in (a, b))
        axes = tuple(each[0] for each in axes) if count == 1 else axes
    return form.operation(np.tensordot, [x, w], {"axes": _nested(axes)})


def _nested(value: Any) -> gast.AST:
    if isinstance(value, int):
        return form.constant(value)
    return gast.Tuple(elts=[_nested(each) for each in value], ctx=gast.Load())


def _binary(left: gast.AST, right: gast.AST) -> gast.AST:
    return form.operation(operator.matmul, [left, right], {})


def _transposed(x: gast.AST, attribute: str = "T") -> gast.AST:
    return gast.Attribute(value=x, attr=attribute, ctx=gast.Load())
