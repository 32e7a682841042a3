"""The math module and `not`: NumPy's functions of one number, which give Python's own numbers."""

from __future__ import annotations

import functools
import importlib
import math
import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.registry import RULES, register
from s2s_ad.core.rule import CannotBatch, Operation
from s2s_ad.core.sharing import lazy
from s2s_ad.diagnostics import NoDerivative
from s2s_ad.rules import support
from s2s_ad.rules.arithmetic import PowerSlopes
from s2s_ad.rules.elementwise import Elementwise, compiled


class OfPython:
    """np in the rows of math: Python's functions of Python's numbers, so that math stays math.

    Only of those that are defined for all numbers: elsewhere math raises where NumPy gives nan.
    """

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        plain = next((each for each, other in COUNTERPARTS.items() if other is function), None)
        row = RULES.get(function)
        if plain is None or row.domain != "real" or len(row.operand_names) > 1:
            return function
        return functools.partial(_called, plain, function)


def _called(plain: Callable, function: Callable, x: Any) -> Any:
    return x.builder.call(plain, (x,), {}) if _is_double_number(x) else function(x)


def _is_double_number(x: Any) -> bool:
    """Whether it is a real number of Python's, or one of NumPy's in double precision."""
    if not isinstance(x, Symbol) or x.shape not in ((), None):
        return False
    if isinstance(x.fact, values.Scalar):
        return x.fact.kind is not complex
    return x.shape == () and values.is_dtype(x.dtype, float)


class OfNumber(Elementwise):
    """A function of math; for a batch of numbers NumPy's function of the same meaning.

    Args:
        counterpart: NumPy's function; None where it has none.
        kind: the type that Python gives the result.
    """

    arrays = OfPython()

    def __init__(
        self,
        function: Callable,
        adjoints: tuple[str | None, ...],
        counterpart: Callable | None,
        *,
        kind: type = float,
        domain: str = "real",
        total: bool = False,
        options: str = "",
    ):
        super().__init__(function, adjoints, domain=domain, total=total, options=options)
        self.counterpart, self.kind = counterpart, kind

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) != len(self.operand_names) or (kwargs and self.text.count("=") == 0):
            names = ", ".join(self.operand_names)
            raise TypeError(f"math.{self.name} takes {len(self.operand_names)} arguments: {names}")
        given = support.bind_call(builder, self, self.text, args, kwargs)
        operands = [given.pop(each) for each in self.operand_names]
        params = support.given(support.static_params(given, self), self.text)
        if not any(isinstance(each, Symbol) for each in operands):
            try:
                return self.function(*operands, **params)
            except (ArithmeticError, ValueError):  # raised where it runs, if it runs
                return builder.emit(self, operands, params)
        if any(values.known_not_one(n) for each in operands for n in support.shape(each) or ()):
            error = TypeError("only 0-dimensional arrays can be converted to Python scalars")
            error.add_note(f"use np.{self.counterpart.__name__}, which takes arrays")
            raise error
        if self.kind is float and any(values.is_complex(builder.fact(e)) for e in operands):
            raise TypeError("must be real number, not complex")
        return builder.emit(self, operands, params)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(self.kind)

    def may_raise(self, operands: list, result: values.AbstractValue) -> bool:
        """Unlike NumPy's, `math.sin` of infinity is an error."""
        return not self.total or self._infinity_is_refused

    @lazy
    def _infinity_is_refused(self) -> bool:
        try:
            self.function(*(math.inf for _ in self.operand_names))
        except (ArithmeticError, ValueError):
            return True
        return False

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        return None

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if self.counterpart is None:
            raise CannotBatch
        operands = support.align_all(operation.operands, batched)
        result = batch.builder.call(self.counterpart, operands, {})
        if self.kind is float and not _is_double(result):  # Python's numbers are
            operands = [e.astype(float) if isinstance(e, Symbol) else e for e in operands]
            result = batch.builder.call(self.counterpart, operands, {})
        return result if self.kind is not int else result.astype(int)


def _is_double(value: Symbol) -> bool:
    return value.dtype is None or values.is_dtype(value.dtype, float)


class Truth(OfNumber):
    """bool(x) of a number."""

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return operation.operands[0] != 0


class Rounding(OfNumber):
    """round(x), a whole number, and round(x, digits), which is of the type of x."""

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return operands[0] if "ndigits" in params else values.Scalar(int)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        x, digits = operation.operands[0], operation.params.get("ndigits")
        return np.rint(x).astype(int) if digits is None else np.round(x, digits)


class Gamma(OfNumber):
    """math.gamma and math.lgamma, whose derivatives SciPy's digamma gives.

    Args:
        of_arrays: the name of the function in scipy.special.
    """

    def __init__(self, function: Callable, adjoint: str, of_arrays: str):
        super().__init__(function, (adjoint,), None, domain="positive")
        self.of_arrays = of_arrays

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        special = _special(self.function)
        names = {"special": special, "x": operation.operands[0], "y": operation.result}
        return eval(compiled(self.adjoints[position]), names | {"y_bar": y_bar})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return getattr(_special(self.function), self.of_arrays)(operation.operands[0])


def _special(function: Callable) -> Any:
    try:
        return importlib.import_module("scipy.special")
    except ImportError:
        raise NoDerivative(
            "S2S301",
            f"math.{function.__name__} has no derivative without SciPy",
            why="it is scipy.special.digamma",
            help="install SciPy",
        ) from None


class OfSeveral(OfNumber):
    """A function of any number of numbers: math.hypot, math.fsum, math.gcd.

    Args:
        adjoint: the text of the contribution of one of them, x; None where there is none.
        of_pair: NumPy's function of two arrays; for a batch it is applied again and again.
        in_list: whether Python takes the numbers in a list.
    """

    def __init__(
        self,
        function: Callable,
        adjoint: str | None,
        of_pair: Callable | None,
        *,
        kind: type = float,
        in_list: bool = False,
    ):
        super().__init__(function, (adjoint,), of_pair, kind=kind)
        self.in_list = in_list

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        items = list(args[0] if self.in_list else args)
        if kwargs or not any(isinstance(each, Symbol) for each in items):
            return self.function(*args, **kwargs)
        return builder.emit(self, items, {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        active = operation.active
        return [
            self._term(operation, x, y_bar) if flag else None
            for x, flag in zip(operation.operands, active, strict=True)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        pairs = zip(operation.operands, tangents, strict=True)
        terms = [self._term(operation, x, dot) for x, dot in pairs if dot is not None]
        return functools.reduce(operator.add, terms)

    def _term(self, operation: Operation, x: Any, y_bar: Any) -> Any:
        names = {"x": x, "y": operation.result, "y_bar": y_bar}
        return eval(compiled(self.adjoints[0]), names)

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        if self.counterpart is None:
            raise CannotBatch
        call = batch.builder.call
        pairs = functools.partial(lambda a, b: call(self.counterpart, (a, b), {}))
        return functools.reduce(pairs, operation.operands)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if not self.in_list:
            return call
        items = gast.List(elts=call.args, ctx=gast.Load())
        return gast.Call(func=call.func, args=[items], keywords=[])


class OfPower(PowerSlopes, OfNumber):
    """math.pow."""


class Logarithm(OfNumber):
    """math.log(x), and math.log(x, base) as a quotient."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) == 2:
            over, under = (builder.call(math.log, (each,), {}) for each in args)
            return over / under
        return super().bind(builder, args, kwargs)


#: functions of math -> NumPy's, where the names differ
COUNTERPARTS: dict[Callable, Callable] = {
    math.acos: np.arccos,
    math.acosh: np.arccosh,
    math.asin: np.arcsin,
    math.asinh: np.arcsinh,
    math.atan: np.arctan,
    math.atan2: np.arctan2,
    math.atanh: np.arctanh,
    math.degrees: np.rad2deg,
    math.radians: np.deg2rad,
}
SAME = ("cbrt", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "fabs", "fmod")
SAME += ("log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh")
STEPS = {math.ceil: np.ceil, math.floor: np.floor, math.trunc: np.trunc}
TESTS = {math.isfinite: np.isfinite, math.isinf: np.isinf, math.isnan: np.isnan}

COUNTERPARTS |= {getattr(math, name): getattr(np, name) for name in SAME}
for _function, _counterpart in COUNTERPARTS.items():
    _row = RULES[_counterpart]
    register(OfNumber(_function, _row.adjoints, _counterpart, domain=_row.domain, total=_row.total))
#: functions of whole numbers, of any number of them where NumPy's function of two says so
OF_INTEGERS = {math.gcd: np.gcd, math.lcm: np.lcm}
OF_INTEGERS |= dict.fromkeys((math.comb, math.factorial, math.isqrt, math.perm))
for _function, _counterpart in OF_INTEGERS.items():
    register(OfSeveral(_function, None, _counterpart, kind=int))
for _function, _counterpart in STEPS.items():  # infinite numbers have no whole part
    register(OfNumber(_function, (None,), _counterpart, kind=int))
for _function, _counterpart in TESTS.items():
    register(OfNumber(_function, (None,), _counterpart, kind=bool, total=True)).asks_finite = True
_not = register(OfNumber(operator.not_, (None,), np.logical_not, kind=bool, total=True))
_not.unasked = _not.negates = True
register(Gamma(math.gamma, "y_bar * (y * special.digamma(x))", "gamma"))
register(Gamma(math.lgamma, "y_bar * special.digamma(x)", "gammaln"))
# What the nearest whole number of times b leaves of a (IEEE 754, 5.3.1).
register(OfNumber(math.remainder, ("y_bar", "-y_bar * np.rint(a / b)"), None))
register(OfNumber(math.nextafter, ("y_bar", None), np.nextafter, total=True))
register(OfNumber(math.ldexp, ("np.ldexp(y_bar, b)", None), np.ldexp))
register(OfNumber(math.ulp, (None,), None, total=True))
CLOSE = ", *, rel_tol=1e-09, abs_tol=0.0"
register(OfNumber(math.isclose, (None, None), None, kind=bool, options=CLOSE))
register(OfSeveral(math.fsum, "y_bar", None, in_list=True))
register(OfSeveral(math.hypot, "y_bar * (x / y)", np.hypot))
register(Rounding(round, (None,), None, kind=int, options=", ndigits=None"))
register(Truth(bool, (None,), None, kind=bool, total=True))
register(OfPower(math.pow, RULES[np.power].adjoints, np.float_power, domain="positive"))
register(Logarithm(math.log, RULES[np.log].adjoints, np.log, domain="positive"))
register(OfNumber(math.erf, ("y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))",), None))
register(OfNumber(math.erfc, ("-y_bar * (2 / math.sqrt(math.pi) * np.exp(-(x**2)))",), None))
