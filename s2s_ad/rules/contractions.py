"""The contraction kind: matmul, dot, inner, outer, tensordot and einsum are one operation.

Where the ranks are known each of them becomes `contract(spec, a, b)` with an einsum specification
of two operands; adjoints, tangents and batched forms are then other specifications. The surface
(`a @ b`, `np.outer(a, b)`, `a[:, None] * b`, `np.einsum(...)`) is chosen when text is written.
"""

from __future__ import annotations

import functools
import operator
import string
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, static
from s2s_ad.core.registry import METHODS, Operation, Rule, register
from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.rules import support
from s2s_ad.rules.triangles import Diagonal


def parts(spec: str) -> tuple[str, str, str]:
    left, out = spec.split("->")
    a, b = left.split(",")
    return a, b, out


class Contract(Rule):
    """contract(spec, a, b): the sum over products that an einsum specification names."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        spec, a, b = args
        return builder.emit(self, [a, b], {"spec": canonical(spec)})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        a, b, out = parts(params["spec"])
        dims: dict[str, Any] = {}
        for letters, operand in ((a, operands[0]), (b, operands[1])):
            for letter, dim in zip(letters, values.shape_of(operand), strict=True):
                dims[letter] = values.broadcast_dims(dims[letter], dim) if letter in dims else dim
        kinds = [values.strong_dtype(each) for each in operands]
        dtype = None if values.missing(kinds) else np.result_type(*kinds)
        return values.Array(dtype, tuple(dims[letter] for letter in out))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        a, b, out = parts(params["spec"])
        scaled = self._scaling(builder, operands, (a, b, out))
        if scaled is not None:
            return scaled
        for position, letters in ((0, a), (1, b)):
            rule, inner, options = builder.definition(operands[position])
            if rule is not None and rule.function is np.transpose:
                axes = options.get("axes") or tuple(reversed(range(len(letters))))
                order = "".join(letters[axes.index(i)] for i in range(len(letters)))
                spec = f"{order},{b}->{out}" if position == 0 else f"{a},{order}->{out}"
                both = (inner[0], operands[1]) if position == 0 else (operands[0], inner[0])
                return builder.call(runtime.contract, (spec, *both), {})
        return None

    def _scaling(self, builder: Builder, operands: list, letters: tuple[str, str, str]) -> Any:
        """A product in which nothing is summed and one operand's axes are the other's: `*`."""
        a, b, out = letters
        if a == out and set(b) <= set(a) and ordered(b, a):
            return operands[0] * _inserted(operands[1], b, out)
        if b == out and set(a) <= set(b) and ordered(a, b):
            return _inserted(operands[0], a, out) * operands[1]
        return None

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        a, b, out = parts(operation["spec"])
        builder = operation.result.builder
        x, w = operation.operands
        adjoints = [None, None]
        if operation.active[0]:
            adjoints[0] = _adjoint(builder, (out, b, a), y_bar, w, x)
        if operation.active[1]:
            adjoints[1] = _adjoint(builder, (out, a, b), y_bar, x, w)
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        x, w = operation.operands
        builder = operation.result.builder
        pairs = [(tangents[0], w), (x, tangents[1])]
        terms = [
            builder.call(runtime.contract, (operation["spec"], *pair), {})
            for pair, tangent in zip(pairs, tangents, strict=True)
            if tangent is not None
        ]
        return functools.reduce(operator.add, terms) if terms else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        a, b, out = parts(operation["spec"])
        new = next(each for each in string.ascii_letters if each not in a + b)
        spec = f"{new * batched[0]}{a},{new * batched[1]}{b}->{new}{out}"
        return batch.builder.call(runtime.contract, (spec, *operation.operands), {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        spec = call.keywords[0].value.value
        return product_surface(spec, *call.args)


def _check_lengths(spec: str, a: Any, b: Any) -> None:
    """Products sum over axes of equal length: unlike einsum's, theirs do not stretch."""
    left, right, out = parts(spec)
    dims = dict(zip(left, support.shape(a), strict=True))
    for letter, dim in zip(right, support.shape(b), strict=True):
        both = (dim, dims.get(letter, dim))
        if letter not in out and 1 in both and any(map(values.known_not_one, both)):
            raise ValueError("axes that are summed over have different lengths")


def _adjoint(builder: Builder, spec: tuple, y_bar: Any, other: Any, varied: Any) -> Any:
    """Adjoint of `varied` (letters spec[2]): y_bar (spec[0]) contracted with `other` (spec[1])."""
    out, right, wanted = spec
    lone = [letter for letter in wanted if letter not in out + right]
    kept = "".join(letter for letter in wanted if letter not in lone)
    value = builder.call(runtime.contract, (f"{out},{right}->{kept}", y_bar, other), {})
    if lone:  # summed over in `varied` alone: every element has the same adjoint
        axes = tuple(wanted.index(letter) for letter in lone)
        value = np.expand_dims(value, axes[0] if len(axes) == 1 else axes)
        value = builder.call(runtime.broadcast_like, (value, varied), {})
    return builder.call(runtime.unbroadcast, (value, varied), {})


def ordered(letters: str, among: str) -> bool:
    places = [among.index(letter) for letter in letters]
    return places == sorted(places)


def _inserted(value: Any, letters: str, out: str) -> Any:
    """`value` with axes of length one wherever `out` has a letter that it lacks."""
    if not letters:
        return value
    lead = next(i for i, letter in enumerate(out) if letter in letters)
    missing = tuple(i - lead for i, each in enumerate(out) if each not in letters and i > lead)
    if not missing:
        return value
    return np.expand_dims(value, missing[0] if len(missing) == 1 else missing)


def canonical(spec: str) -> str:
    """The same specification in letters a, b, c ... by first appearance."""
    order: dict[str, str] = {}
    letters = iter(string.ascii_letters)
    for each in spec:
        if each not in ",->" and each not in order:
            order[each] = next(letters)
    return "".join(order.get(each, each) for each in spec)


# ---- surfaces ----------------------------------------------------------------------------------


def product_surface(spec: str, x: gast.AST, w: gast.AST) -> gast.AST:
    """The product as an expert writes it."""
    a, b, out = parts(spec)
    direct = _matmul_surface(a, b, out, x, w) or _matmul_surface(b, a, out, w, x)
    if direct is not None:
        return direct
    if len(a) == len(b) == 1 and a != b and out in (a + b, b + a):
        return _call(np.outer, *((x, w) if out == a + b else (w, x)))
    summed = [letter for letter in a if letter in b and letter not in out]
    tensor = [letter for letter in a + b if letter not in summed]
    if summed and out == "".join(tensor) and len(set(tensor)) == len(tensor):
        return _tensordot_surface(a, b, summed, x, w)
    mine, theirs = _free(a, b, out), _free(b, a, out)
    if mine and theirs and out.index(theirs[0]) < out.index(mine[0]):
        spec, x, w = f"{b},{a}->{out}", w, x  # operands in the order of the result's axes
    return _call(np.einsum, form.constant(readable(spec)), x, w)


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
        i, k, j = a[-2], a[-1], b[-1]
        if b[-2] == k and out[-2:] == i + j:
            return _binary(x, w)
    stack = len(a) > 2 and len(b) in (1, 2) and out == a[:-1] + b[1:]
    if stack and a[-1] == b[0] and b[0] not in out:
        return _binary(x, w)
    return None


def _tensordot_surface(a: str, b: str, summed: list[str], x: Any, w: Any) -> gast.AST:
    count = len(summed)
    if a[-count:] == b[:count]:
        axes: Any = count
    else:
        axes = tuple(tuple(each.index(letter) for letter in summed) for each in (a, b))
        axes = tuple(each[0] for each in axes) if count == 1 else axes
    call = _call(np.tensordot, x, w)
    node = form.constant(axes) if isinstance(axes, int) else _nested(axes)
    return gast.Call(call.func, call.args, [gast.keyword(arg="axes", value=node)])


def _nested(value: Any) -> gast.AST:
    if isinstance(value, int):
        return form.constant(value)
    return gast.Tuple(elts=[_nested(each) for each in value], ctx=gast.Load())


def _binary(left: gast.AST, right: gast.AST) -> gast.AST:
    return _call(operator.matmul, left, right)


def _transposed(x: gast.AST) -> gast.AST:
    return _call(np.transpose, x)


def _call(function: Callable, *args: gast.AST) -> gast.Call:
    return gast.Call(func=form.constant(function), args=list(args), keywords=[])


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


# ---- the functions that become contractions ------------------------------------------------------


class Product(Rule):
    """matmul, dot, inner, outer, tensordot: a contraction where the ranks are known."""

    def __init__(self, function: Callable, name: str, text: str = "a, b"):
        super().__init__(function, name)
        self.text = text

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        a, b = (support.as_operand(builder, arguments.pop(each)) for each in "ab")
        params = support.static_params(arguments, self)
        if support.rank(a) is None or support.rank(b) is None:
            return builder.emit(self, [a, b], support.given(params, self.text))
        a, b = (support.strong(builder, each) for each in (a, b))
        if self.name == "outer":
            a, b = (each if support.rank(each) == 1 else np.ravel(each) for each in (a, b))
        elif self.name == "matmul" and 0 in (support.rank(a), support.rank(b)):
            raise ArgumentValueError(
                "S2S203", "matmul of a number", origin=builder.origin, help="write a * b"
            )
        spec = runtime.product_spec(self.name, support.rank(a), support.rank(b), **params)
        _check_lengths(spec, a, b)
        return builder.call(runtime.contract, (spec, a, b), {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return support.unknown(*operands)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        return [
            builder.call(
                runtime.product_adjoint,
                (y_bar, *operation.operands),
                {"name": self.name, "position": position} | operation.params,
            )
            if operation.active[position]
            else None
            for position in (0, 1)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        x, w = operation.operands
        pairs = [(tangents[0], w), (x, tangents[1])]
        terms = [
            operation.result.builder.call(self.function, pair, operation.params)
            for pair, tangent in zip(pairs, tangents, strict=True)
            if tangent is not None
        ]
        return functools.reduce(operator.add, terms) if terms else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise support.CannotBatch


class ProductAdjoint(Rule):
    """The adjoint of a product whose ranks are not known: bilinear in y_bar and the other."""

    view = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, list(args), kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.as_inexact(operands[1 + params["position"]])

    def forward(self, operation: Operation, tangents: list) -> Any:
        y_bar, *pair = operation.operands
        other = 1 - operation["position"]
        choices = []
        if tangents[0] is not None:
            choices.append((tangents[0], *pair))
        if tangents[1 + other] is not None:
            changed = list(pair)
            changed[other] = tangents[1 + other]
            choices.append((y_bar, *changed))
        builder, params = operation.result.builder, operation.params
        terms = [builder.call(self.function, each, params) for each in choices]
        return functools.reduce(operator.add, terms) if terms else None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise support.CannotBatch

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        args = [*call.args, *(each.value for each in call.keywords)]
        return gast.Call(func=call.func, args=args, keywords=[])


class Einsum(Rule):
    """np.einsum: contractions two by two, from the left."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        support.bind_call(builder, self, "subscripts, *operands, optimize=False", args, kwargs)
        spec = static(args[0], "the subscripts of np.einsum").replace(" ", "")
        operands = [support.as_operand(builder, each) for each in args[1:]]
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


def _diagonal_spec(rank: int, axis1: int, axis2: int) -> str:
    letters = string.ascii_lowercase[8 : 8 + rank]
    letters = letters[:axis2] + letters[axis1] + letters[axis2 + 1 :]
    return f"{letters}->{letters.replace(letters[axis1], '')}{letters[axis1]}"


class EqualDiagonal(Diagonal):
    """The diagonal that einsum takes for a repeated letter: it wants axes of equal length."""

    text = "x, axis1, axis2"

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        axes = (keyword.value.value for keyword in call.keywords)
        spec = _diagonal_spec(values.rank_of(facts(call.args[0])), *axes)
        return _call(np.einsum, form.constant(spec), *call.args)


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
    axis = None if not kept else axes[0] if len(axes) == 1 else axes
    return kept, np.sum(value, axis=axis)


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


register(Contract(runtime.contract, "contract"))
register(ProductAdjoint(runtime.product_adjoint, "product_adjoint"))
register(Einsum(np.einsum, "np.einsum"))
register(EqualDiagonal(runtime.equal_diagonal, "equal_diagonal"))
register(Product(np.dot, "dot"))
register(Product(np.inner, "inner"))
register(Product(np.matmul, "matmul"))
register(Product(np.outer, "outer"))
register(Product(np.tensordot, "tensordot", "a, b, axes=2"))
register(Product(operator.matmul, "matmul"))
METHODS["dot"] = np.dot
