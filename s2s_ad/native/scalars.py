"""Elementwise functions of one element: how they are spelled, and where Python would raise."""

from __future__ import annotations

import builtins
import math
import operator
import sys
from collections.abc import Callable, Sequence

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.native.nodes import NotNative
from s2s_ad.native.spelling import (
    Expression,
    binary,
    call,
    compare,
    either,
    number,
    value_of,
)

OPERATORS: dict[Callable, type] = {
    operator.add: gast.Add,
    operator.sub: gast.Sub,
    operator.mul: gast.Mult,
    operator.truediv: gast.Div,
    operator.floordiv: gast.FloorDiv,
    operator.mod: gast.Mod,
    operator.pow: gast.Pow,
    operator.and_: gast.BitAnd,
    operator.or_: gast.BitOr,
    operator.xor: gast.BitXor,
    operator.lshift: gast.LShift,
    operator.rshift: gast.RShift,
}
COMPARISONS: dict[Callable, type] = {
    operator.lt: gast.Lt,
    operator.le: gast.LtE,
    operator.gt: gast.Gt,
    operator.ge: gast.GtE,
    operator.eq: gast.Eq,
    operator.ne: gast.NotEq,
}
LOGICAL: dict[Callable, type] = {np.logical_and: gast.BitAnd, np.logical_or: gast.BitOr}
#: what Numba has as a call, and of truths as an operator
OF_TRUTHS = {np.bitwise_and: gast.BitAnd, np.bitwise_or: gast.BitOr, np.bitwise_xor: gast.BitXor}

#: how the math module calls functions of NumPy's; where it is alike, and of numbers the same
OF_MATH: dict[Callable, str] = {
    **{getattr(np, each): each for each in ("sqrt", "exp", "expm1", "log", "log1p", "log2")},
    **{getattr(np, each): each for each in ("log10", "sin", "cos", "tan", "sinh", "cosh")},
    **{getattr(np, each): each for each in ("tanh", "hypot", "copysign", "degrees", "radians")},
    **{getattr(np, each): each for each in ("isnan", "isinf", "isfinite")},
    np.arcsin: "asin",
    np.arccos: "acos",
    np.arctan: "atan",
    np.arctan2: "atan2",
    np.arcsinh: "asinh",
    np.arccosh: "acosh",
    np.arctanh: "atanh",
    np.absolute: "fabs",
    np.deg2rad: "radians",
    np.rad2deg: "degrees",
}
#: SciPy's functions that the math module has, by their names there
OF_SCIPY = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "gammaln": "lgamma"}

#: functions of the math module of which Numba's are slow: `support` has them
VECTORISED = {"exp", "expm1", "log", "log1p", "log2", "log10", "tanh", "atan", "atan2"}
#: and of complex numbers, by their names there
OF_COMPLEX_NUMBERS: dict[Callable, str] = {np.exp: "complex_exp"}
#: those that `support` has for arrays of bounded numbers, and the bound
BOUNDED: dict[Callable, float] = {np.sin: 1e5, np.cos: 1e5, np.tan: 1e5}
#: those that a processor has an instruction for, or a few
INSTRUCTIONS = {"sqrt", "fabs", "copysign", "isnan", "isinf", "isfinite", "degrees", "radians"}
INSTRUCTIONS |= {"sign", "floor", "ceil", "trunc", "rint"}

WHOLE = "iu"  # kinds of dtypes
WIDEST = {*map(np.dtype, (int, np.uint64, float, complex))}  # what arithmetic of Numba's gives
LARGEST = 2.0**62


def promoted(dtypes: Sequence[np.dtype], weak: Sequence[bool]) -> np.dtype:
    """The dtype that NumPy computes in, where Python's numbers are weak."""
    kinds = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}
    pairs = zip(dtypes, weak, strict=True)
    return np.result_type(*(kinds[dtype.kind] if flag else dtype for dtype, flag in pairs))


def cast(node: Expression, source: np.dtype, target: np.dtype) -> Expression:
    """The number in another dtype."""
    if source == target:
        return node
    value = value_of(node)
    if isinstance(node, gast.Constant) and type(node.value) is bool:
        value = int(node.value)
    if value is not None and target.itemsize == 8 and target.kind in "fi":
        return number(float(value) if target.kind == "f" else int(value))
    if source is not None and source.kind == "c" and target.kind not in "cb":
        raise NotNative("real numbers made of complex ones")
    if target == np.dtype(complex) and value is not None:
        return number(complex(value))
    if source is not None and source.kind == "b" and target.kind == "c":
        node, source = either(node, number(1.0), number(0.0)), np.dtype(float)
    if source is not None and source.kind == "b" and target.kind == "f":
        node = either(node, number(1.0), number(0.0))
        return node if target.itemsize == 8 else call(f"np.{target.name}", node)
    plain = {"float64": "float", "int64": "int", "bool": "bool", "complex128": "complex"}
    return call(plain.get(target.name, f"np.{target.name}"), node)


def spelled(
    function: Callable, operands: list[Expression], dtypes: list[np.dtype], weak: list[bool],
    result: np.dtype,
) -> Expression:  # fmt: skip
    """The text of an elementwise function of one element.

    Raises:
        NotNative: it has no native form.
    """
    if function in (np.where, runtime.where_or_zero):
        return _chosen(function, operands, dtypes, result)
    if function is np.invert and dtypes[0].kind == "b":
        return gast.UnaryOp(gast.Not(), operands[0])
    if function in OF_TRUTHS and result.kind == "b":
        return binary(operands[0], OF_TRUTHS[function], operands[1])
    if function in LOGICAL:
        return binary(
            _truth(operands[0], dtypes[0]), LOGICAL[function], _truth(operands[1], dtypes[1])
        )
    if function in (operator.not_, np.logical_not):
        return gast.UnaryOp(gast.Not(), operands[0])
    inner = promoted(dtypes, weak) if dtypes else result
    if function in COMPARISONS:
        if inner.kind == "c" and function not in (operator.eq, operator.ne):
            raise NotNative("the order of complex numbers")
        given = [cast(x, d, inner) for x, d in zip(operands, dtypes, strict=True)]
        return compare(given[0], COMPARISONS[function], given[1])
    short = _short_power(operands, dtypes, result) if function is operator.pow else None
    if short is not None:
        return short
    is_narrower = (inner.kind == "f" and result.kind in WHOLE) or inner.kind == "c"
    if result.kind != "b" and not (is_narrower and inner.kind != result.kind):
        inner = result
    given = [cast(x, d, inner) for x, d in zip(operands, dtypes, strict=True)]
    return _of_one_kind(function, given, inner, result)


def _short_power(
    operands: list[Expression], dtypes: list[np.dtype], result: np.dtype
) -> Expression | None:
    """A power with a small exponent that is known, as products and roots."""
    exponent = value_of(operands[1])
    if exponent is None or result.kind not in "fc":
        return None
    if result.kind == "c" and exponent == 2:
        return call("square", cast(operands[0], dtypes[0], result))
    if dtypes[1].kind in WHOLE and abs(exponent) <= 4:  # Numba multiplies
        return binary(cast(operands[0], dtypes[0], result), gast.Pow, operands[1])
    if exponent == 0.5 and result == np.dtype(float):  # NumPy's powers are roots, too
        return call("math.sqrt", cast(operands[0], dtypes[0], result))
    if result == dtypes[0] == np.dtype(float) and 2 * exponent % 2 == 1 and abs(exponent) <= 4:
        return call("half_power", operands[0], number(int(2 * exponent)))
    return None


def _of_one_kind(
    function: Callable, operands: list[Expression], inner: np.dtype, result: np.dtype
) -> Expression:
    """A function whose operands have the dtype that it computes in."""
    if result.kind == "b" and function in (operator.add, operator.mul):
        either_or = gast.BitOr if function is operator.add else gast.BitAnd
        return binary(operands[0], either_or, operands[1])
    if result.kind == "b" and function is operator.invert:
        return gast.UnaryOp(gast.Not(), operands[0])
    if function in OPERATORS and not (inner.kind == "c" and function in OF_COMPLEX):
        made = binary(operands[0], OPERATORS[function], operands[1])
        return made if result in WIDEST or result.kind == "b" else cast(made, None, result)
    form = OF_COMPLEX.get(function) if inner.kind == "c" else None
    form = FORMS.get(function) if form is None else form
    if form is not None and function is np.reciprocal and result.kind not in "fc":
        raise NotNative("np.reciprocal of whole numbers")
    if inner.kind == "c" and function in OF_REAL:
        raise NotNative(f"{called(function)} of complex numbers")
    return _function(function, operands, inner) if form is None else form(*operands)


def _unchanged(x: Expression) -> Expression:
    return x


def _negative(x: Expression) -> Expression:
    return gast.UnaryOp(gast.USub(), x)


def _part(which: str) -> Callable[[Expression], Expression]:
    return lambda x: gast.Attribute(x, which, gast.Load())


def _clipped(x: Expression, low: Expression, high: Expression) -> Expression:
    return call("smaller", call("larger", x, low), high)


def _where_beyond(order: type) -> Callable:
    """where_larger and its like: half of the value at ties."""

    def form(value: Expression, a: Expression, b: Expression) -> Expression:
        half = binary(number(0.5), gast.Mult, value)
        ties = chosen(compare(a, gast.Eq, b), half, number(0.0))
        return chosen(compare(a, order, b), value, ties)

    return form


def _halves_of(order: type) -> Callable:
    """halves_larger and its like."""

    def form(a: Expression, b: Expression) -> Expression:
        ties = chosen(compare(a, gast.Eq, b), number(1), number(0))
        return chosen(compare(a, order, b), number(2), ties)

    return form


def _by_halves(value: Expression, halves: Expression) -> Expression:
    half = chosen(compare(halves, gast.Eq, number(1)), number(0.5), number(1.0))
    return chosen(compare(halves, gast.Eq, number(0)), number(0.0), binary(half, gast.Mult, value))


def _of_python(order: type) -> Callable:
    """Python's min and max: the first of those that none beats."""

    def form(*operands: Expression) -> Expression:
        best, *others = operands
        for each in others:
            best = either(compare(each, order, best), each, best)
        return best

    return form


#: function -> how it is spelled, of one element of each operand
FORMS: dict[Callable, Callable[..., Expression]] = {
    operator.neg: _negative,
    np.negative: _negative,
    operator.pos: _unchanged,
    np.positive: _unchanged,
    np.copy: _unchanged,
    runtime.stop_gradient: _unchanged,
    operator.invert: lambda x: gast.UnaryOp(gast.Invert(), x),
    abs: lambda x: call("abs", x),
    np.absolute: lambda x: call("abs", x),
    np.fabs: lambda x: call("abs", x),
    np.conj: _unchanged,
    np.real: _unchanged,
    np.imag: lambda x: number(0.0),
    np.angle: lambda x: either(compare(x, gast.Lt, number(0)), number(math.pi), number(0.0)),
    np.square: lambda x: binary(x, gast.Pow, number(2)),
    runtime.times_sign: lambda value, x: binary(value, gast.Mult, call("np.sign", x)),
    np.reciprocal: lambda x: binary(number(1.0), gast.Div, x),
    np.clip: _clipped,
    np.maximum: lambda a, b: call("larger", a, b),
    np.minimum: lambda a, b: call("smaller", a, b),
    runtime.power_slope: lambda a, b, e: binary(b, gast.Mult, binary(a, gast.Pow, e)),
    runtime.by_halves: _by_halves,
    runtime.halves_larger: _halves_of(gast.Gt),
    runtime.halves_smaller: _halves_of(gast.Lt),
    runtime.where_larger: _where_beyond(gast.Gt),
    runtime.where_smaller: _where_beyond(gast.Lt),
    builtins.min: _of_python(gast.Lt),
    builtins.max: _of_python(gast.Gt),
}


#: how complex numbers have it otherwise
OF_COMPLEX: dict[Callable, Callable[..., Expression]] = {
    operator.truediv: lambda a, b: call("quotient", a, b),
    np.reciprocal: lambda x: call("quotient", number(1 + 0j), x),
    np.square: lambda x: call("square", x),
    np.absolute: lambda x: call("size_of", x),
    abs: lambda x: call("size_of", x),
    np.conj: lambda x: call("np.conj", x),
    np.real: _part("real"),
    np.imag: _part("imag"),
    np.angle: lambda x: call("atan2", _part("imag")(x), _part("real")(x)),
    np.sign: lambda x: call("direction", x),
    runtime.times_sign: lambda value, x: binary(value, gast.Mult, call("direction", x)),
}
#: what has another meaning for complex numbers, or none
OF_REAL = {np.fabs, np.clip, np.maximum, np.minimum, builtins.min, builtins.max, np.floor}
OF_REAL |= {runtime.where_larger, runtime.where_smaller, runtime.halves_larger}
OF_REAL |= {runtime.halves_smaller, runtime.by_halves}


def is_at_once(made: Expression) -> bool:
    """Whether a processor computes what `spelled` gives of several numbers at once."""
    return all(map(_is_instruction, gast.walk(made)))


def _is_instruction(node: gast.AST) -> bool:
    """Whether it is no call into a library: a function of math's or NumPy's, a general power."""
    if isinstance(node, gast.Call):
        return getattr(node.func, "attr", "") in {"", *INSTRUCTIONS}
    is_power = isinstance(node, gast.BinOp) and isinstance(node.op, gast.Pow)
    return not is_power or type(value_of(node.right)) is int


def _function(function: Callable, operands: list[Expression], inner: np.dtype) -> Expression:
    """A function that Numba knows by the name that it has in math, or in NumPy."""
    name = getattr(function, "__name__", "")
    special = getattr(sys.modules.get("scipy.special"), name, None)
    of_math = OF_MATH.get(function) or (special is function and OF_SCIPY.get(name))
    if getattr(math, name, None) is function:
        of_math = name
    if inner == np.dtype(float) and of_math in VECTORISED:
        return call(of_math, *operands)
    if inner == np.dtype(complex) and function in OF_COMPLEX_NUMBERS:
        return call(OF_COMPLEX_NUMBERS[function], *operands)
    if inner.kind == "f" and of_math:
        return call(f"math.{of_math}", *operands)
    if isinstance(function, np.ufunc) and getattr(np, name, None) is function:
        return call(f"np.{name}", *operands)
    raise NotNative(f"{called(function)} has no native form")


def _truth(node: Expression, dtype: np.dtype) -> Expression:
    return node if dtype.kind == "b" else compare(node, gast.NotEq, number(0))


def _chosen(
    function: Callable, operands: list[Expression], dtypes: list[np.dtype], result: np.dtype
) -> Expression:
    if function is np.where and len(operands) != 3:
        raise NotNative("np.where of a condition alone")
    condition, *values = [*zip(operands, dtypes, strict=True)]
    given = [cast(node, dtype, result) for node, dtype in values]
    if function is runtime.where_or_zero:
        given.append(cast(number(0), np.dtype(int), result))
    return chosen(_truth(*condition), *given)


def chosen(condition: Expression, then: Expression, orelse: Expression) -> Expression:
    """One of two numbers, both of which are there at each index.

    Elements are read before one is chosen, so that LLVM can compute several at once; what is dear
    is computed only where it is needed.
    """
    nodes = [each for part in (then, orelse) for each in gast.walk(part)]
    calls = (e for e in nodes if isinstance(e, gast.Call) and _function_name(e) not in CHEAP_CALLS)
    reads = any(isinstance(each, gast.Subscript) for each in nodes)
    return (
        call("chosen", condition, then, orelse)
        if reads and not any(calls)
        else either(condition, then, orelse)
    )


CHEAP_CALLS = {"chosen", "len", "float", "abs", "np.sign"}


def _function_name(node: gast.Call) -> str:
    inside = getattr(getattr(node.func, "value", None), "id", "")
    return f"{inside}.{node.func.attr}" if inside else getattr(node.func, "id", "")


def called(function: Callable) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


# ---- where Python raises -------------------------------------------------------------------------


def divisor_is_checked(function: Callable) -> bool:
    """Whether Python raises where the second of two numbers is zero."""
    return function in (operator.truediv, operator.floordiv, operator.mod, divmod)


def is_checked(function: Callable) -> bool:
    """Whether Python raises, or gives a complex number, where the result is not finite."""
    of_math = getattr(math, getattr(function, "__name__", ""), None) is function
    return of_math or function in (operator.pow, builtins.round)


def whole_numbers(function: Callable, operands: list[Expression]) -> Expression | None:
    """An operation on Python's whole numbers, of which no result is too large for 64 bits."""
    helper = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}.get(function)
    if helper is not None:
        return call(helper, *operands)
    if function is operator.pow:
        return call("power", *operands)
    if function in (operator.lshift, operator.rshift):
        return call("left" if function is operator.lshift else "right", *operands)
    known = (operator.floordiv, operator.mod, operator.neg, operator.pos, abs, operator.invert)
    if function in known or function in (operator.and_, operator.or_, operator.xor):
        return spelled(
            function,
            operands,
            [np.dtype(int)] * len(operands),
            [False] * len(operands),
            np.dtype(int),
        )
    if function in (builtins.min, builtins.max):
        return _of_one_kind(function, operands, np.dtype(int), np.dtype(int))
    return None
