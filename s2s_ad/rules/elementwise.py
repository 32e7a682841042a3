"""The elementwise kind: broadcasting functions whose derivative is one factor per element.

A row gives the adjoint contribution of each operand as the text of a NumPy expression over the
operands, the result `y` and its adjoint `y_bar`. As the Jacobian is diagonal the same text, with
the tangent for `y_bar`, is the forward mode.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import OPERATORS, Builder, Symbol
from s2s_ad.core.registry import METHODS, RULES, Operation, Rule, register
from s2s_ad.rules import support

OPERAND_NAMES = {1: ("x",), 2: ("a", "b"), 3: ("condition", "a", "b")}
UFUNC_OF = {function: ufunc for ufunc, function in OPERATORS.items()}


@functools.cache
def compiled(text: str) -> Any:
    return compile(text, f"<rule {text}>", "eval")


class Elementwise(Rule):
    """A function applied to each element of its broadcast operands.

    Args:
        adjoints: per operand the text of its contribution; None where there is no derivative.
        domain: where the function is defined and smooth, for the generated tests.
        identity: per operand position, the number that leaves the other operand as it is.
        total: whether the function is defined (and cheap) for every number, so that np.where may
            evaluate it where it is not wanted.
        dtype_of: the operands that the dtype of the result comes from.
    """

    def __init__(
        self,
        function: Callable,
        adjoints: tuple[str | None, ...],
        *,
        domain: str = "real",
        identity: dict[int, float] | None = None,
        total: bool = True,
        operands: tuple[str, ...] | None = None,
        dtype_of: slice = slice(None),
    ):
        super().__init__(function, getattr(function, "__name__", str(function)))
        self.ufunc = UNARY_UFUNC.get(function, UFUNC_OF.get(function, function))
        self.adjoints, self.domain, self.identity = adjoints, domain, identity or {}
        self.operand_names = operands or OPERAND_NAMES[len(adjoints)]
        self.flat = not any(adjoints)
        self.total, self.dtype_of = total, dtype_of

    # ---- calls

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        arguments = support.bind_call(builder, self, ", ".join(self.operand_names), args, kwargs)
        operands = [support.as_operand(builder, arguments[each]) for each in self.operand_names]
        plain = OPERATORS.get(self.function) if isinstance(self.function, np.ufunc) else None
        if plain and self._is_operator([builder.fact(each) for each in operands]):
            return builder.emit(RULES[plain], operands, {})  # np.add(a, b) is a + b on arrays
        return builder.emit(self, operands, {})

    def _is_operator(self, facts: list) -> bool:
        """Whether the ufunc is exactly what the operator computes: one operand is an array."""
        return any(isinstance(fact, values.Array) for fact in facts)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if any(isinstance(each, values.Unknown | values.Static) for each in operands):
            if self.flat:
                return values.Unknown()
            return support.unknown(*operands)
        if self.function is not self.ufunc and all(isinstance(e, values.Scalar) for e in operands):
            return self._infer_python(operands)
        return values.Array(self._dtype(operands), values.broadcast(map(values.shape_of, operands)))

    def _infer_python(self, operands: list) -> values.AbstractValue:
        """The type that Python gives an operator on numbers."""
        kinds = [each.kind for each in operands]
        if self.function is operator.pow and kinds == [int, int]:
            return values.Unknown()  # 2 ** -1 is a float
        return values.Scalar(type(self.function(*(kind(1) for kind in kinds))))

    def _dtype(self, operands: list) -> np.dtype | None:
        kinds = tuple(values.dtype_argument(each) for each in operands)
        if values.missing(kinds):
            return None
        if isinstance(self.ufunc, np.ufunc):
            return ufunc_dtype(self.ufunc, kinds)
        values_ = (kind(0) if isinstance(kind, type) else kind for kind in kinds[self.dtype_of])
        return np.result_type(*values_)

    # ---- simplification

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        if self.function is not self.ufunc and not any(map(_is_symbolic, operands)):
            folded = self._fold(builder, operands)
            if folded is not None:
                return folded
        for position, neutral in self.identity.items():
            other = operands[1 - position]
            if self._is_neutral(builder, operands[position], neutral, other):
                return other
        return self._lift_broadcast(builder, operands)

    def _fold(self, builder: Builder, numbers: list) -> Any:
        """Whole numbers are computed now; a user's other arithmetic stays as written."""
        exact = all(type(each) is int for each in numbers) and self.function in FOLDED
        ours = builder.derived and self.function in ARITHMETIC
        return self.function(*numbers) if exact or ours or self.function is operator.neg else None

    def _is_neutral(self, builder: Builder, value: Any, neutral: float, other: Any) -> bool:
        """Whether `value` leaves `other` as it is, in value, in dtype and in shape."""
        if type(value) not in (int, float) or value != neutral or not isinstance(other, Symbol):
            return False
        return values.is_inexact(other.fact) is True or (
            type(value) is int and getattr(values.strong_dtype(other.fact), "kind", "b") != "b"
        )

    def _lift_broadcast(self, builder: Builder, operands: list) -> Any:
        """f(broadcast_like(s, x), e) needs no broadcast before f, and often none after it."""
        lifted = [broadcast_source(builder, each) for each in operands]
        if not any(each is not None for each in lifted) or any(map(_is_unknown, operands)):
            return None
        small = [
            operand if source is None else source[0]
            for operand, source in zip(operands, lifted, strict=True)
        ]
        result = builder.emit(self, small, {})
        full = values.broadcast(map(support.shape, operands))
        if values.same_shape(support.shape(result), full):
            return result
        like = next((s[1] for s in lifted if s and values.same_shape(s[1].shape, full)), None)
        return None if like is None else builder.call(runtime.broadcast_like, (result, like), {})

    # ---- derivatives

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        """The row's text for one operand, evaluated on Symbols."""
        names = dict(zip(self.operand_names, operation.operands, strict=True))
        return eval(
            compiled(self.adjoints[position]),
            {"math": math, "np": np, "y": operation.result, "y_bar": y_bar} | names,
        )

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        return [
            builder.call(runtime.unbroadcast, (self.factor(i, operation, y_bar), operand), {})
            if operation.active[i] and self.adjoints[i]
            else None
            for i, operand in enumerate(operation.operands)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        terms = [
            self.factor(i, operation, tangent)
            for i, tangent in enumerate(tangents)
            if tangent is not None and self.adjoints[i]
        ]
        if not terms:
            return None
        builder, y = operation.result.builder, operation.result
        y_dot = builder.call(runtime.broadcast_like, (functools.reduce(operator.add, terms), y), {})
        return support.cast(builder, y_dot, y)

    # ---- batching

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = support.align_all(operation.operands, batched)
        return batch.builder.emit(self, operands, {})


def broadcast_source(builder: Builder, value: Any) -> tuple[Any, Symbol] | None:
    """(s, x) where the value is broadcast_like(s, x)."""
    rule, operands, _ = builder.definition(value)
    return tuple(operands) if rule is not None and rule.function is runtime.broadcast_like else None


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Symbol) or type(value) not in values.PYTHON_NUMBERS


def _is_unknown(value: Any) -> bool:
    return isinstance(value, Symbol) and value.shape is None


@functools.cache
def ufunc_dtype(ufunc: np.ufunc, kinds: tuple) -> np.dtype:
    """The dtype of a ufunc's result; Python types are weak, as in NumPy 2 (NEP 50)."""
    return ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))[-1]


UNARY_UFUNC = {
    abs: np.absolute,
    operator.and_: np.bitwise_and,
    operator.invert: np.invert,
    operator.lshift: np.left_shift,
    operator.neg: np.negative,
    operator.or_: np.bitwise_or,
    operator.pos: np.positive,
    operator.rshift: np.right_shift,
    operator.xor: np.bitwise_xor,
}
ARITHMETIC = {operator.add, operator.mul, operator.neg, operator.sub}
FOLDED = ARITHMETIC | {operator.eq, operator.floordiv, operator.ge, operator.gt, operator.le}
FOLDED |= {operator.lt, operator.mod, operator.ne}


class Negative(Elementwise):
    """Negation, which goes into a constant factor where there is one."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[0])
        if rule is not None and rule.function is operator.neg:
            return inner[0]
        if rule is not None and rule.function is operator.mul and type(inner[0]) in (int, float):
            return -inner[0] * inner[1]
        if rule is not None and rule.function is operator.sub and builder.derived:
            return inner[1] - inner[0]
        return super().shortcut(builder, operands, params)


class Multiplication(Elementwise):
    """Multiplication: constants are gathered, and stand in front."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        a, b = operands
        if type(b) in (int, float) and isinstance(a, Symbol):
            a, b = b, a
        if type(a) in (int, float) and isinstance(b, Symbol):
            scaled = self._scale(builder, a, b)
            if scaled is not None:
                return scaled
        elif builder.derived and isinstance(a, Symbol) and isinstance(b, Symbol):
            for one, other in ((a, b), (b, a)):
                rule, inner, _ = builder.definition(one)
                if rule is not None and rule.function is operator.neg:
                    return -(inner[0] * other)
            factors = [_factor(builder, each) for each in (a, b)]
            if None not in factors:
                (left, x), (right, w) = factors
                return (left * right) * (x * w)
        if builder.derived and a is not operands[0]:
            return builder.emit(self, [a, b], {})
        return super().shortcut(builder, operands, params)

    def _scale(self, builder: Builder, factor: Any, x: Symbol) -> Any:
        if factor == -1 and values.is_inexact(x.fact):
            return -x
        rule, inner, _ = builder.definition(x)
        if rule is None or not builder.derived or not values.is_inexact(x.fact):
            return None
        if rule.function is operator.neg:
            return -factor * inner[0]
        if rule.function is operator.mul and type(inner[0]) in (int, float):
            return (factor * inner[0]) * inner[1]
        return None


def _factor(builder: Builder, value: Any) -> tuple[Any, Any] | None:
    """(c, x) where the value is c * x with a number c."""
    rule, inner, _ = builder.definition(value)
    scaled = rule is not None and rule.function is operator.mul and type(inner[0]) in (int, float)
    return tuple(inner) if scaled else None


class Quotient(Elementwise):
    """Division: a constant factor of the dividend goes in front."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[0])
        negated = rule is not None and rule.function is operator.neg
        if negated and builder.derived and isinstance(operands[1], Symbol):
            return -(inner[0] / operands[1])
        return super().shortcut(builder, operands, params)


class Sum(Elementwise):
    """Addition: a + (-b) is a - b; an update of a buffer of zeros starts from the other term."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        if builder.derived:
            for one, other in (operands, operands[::-1]):
                simpler = self._simpler(builder, one, other)
                if simpler is not None:
                    return simpler
        return super().shortcut(builder, operands, params)

    def _simpler(self, builder: Builder, a: Any, b: Any) -> Any:
        rule, inner, params = builder.definition(b)
        if rule is None:
            return None
        if rule.function is operator.neg:
            return a - inner[0]
        if rule.function is operator.mul and type(inner[0]) in (int, float) and inner[0] < 0:
            return a - (-inner[0] * inner[1])
        into_zeros = rule.function is runtime.index_add and is_zeros(builder, inner[0])
        if into_zeros and values.same_shape(support.shape(a), inner[0].shape):
            return builder.call(runtime.index_add, (a, params["index"], inner[1]), {})
        return None


def is_zeros(builder: Builder, value: Any) -> bool:
    rule, operands, _ = builder.definition(value)
    if rule is None:
        return False
    if rule.function is runtime.broadcast_like:
        return type(operands[0]) in (int, float) and operands[0] == 0
    return rule.function is np.zeros_like


class Difference(Elementwise):
    """Subtraction: a - (-b) is a + b."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        rule, inner, _ = builder.definition(operands[1])
        if rule is not None and rule.function is operator.neg and builder.derived:
            return operands[0] + inner[0]
        return super().shortcut(builder, operands, params)


class Power(Elementwise):
    """x ** 1 is x."""

    def _dtype(self, operands: list) -> np.dtype | None:
        """Of booleans x ** 2 is computed as np.square, whose dtype is another one."""
        base, exponent = operands
        boolean = values.is_dtype(values.strong_dtype(base), bool)
        if boolean and self.function is operator.pow and isinstance(exponent, values.Scalar):
            return None
        return super()._dtype(operands)

    def _is_operator(self, facts: list) -> bool:
        return super()._is_operator(facts) and values.is_inexact(facts[0]) is True

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        base, exponent = operands
        one = type(exponent) in (int, float) and exponent == 1 and isinstance(base, Symbol)
        if one and (type(exponent) is int or values.is_inexact(base.fact)):
            return base
        return super().shortcut(builder, operands, params)


class Clip(Elementwise):
    """np.clip, whose bounds may be missing or be called min and max."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        text = "a, a_min=None, a_max=None, min=None, max=None"
        given = support.bind_call(builder, self, text, args, kwargs)
        low = given["a_min"] if given["min"] is None else given["min"]
        high = given["a_max"] if given["max"] is None else given["max"]
        x = support.as_operand(builder, given["a"])
        if low is None or high is None:
            bound, function = (high, np.minimum) if low is None else (low, np.maximum)
            return x if bound is None else builder.call(function, (x, bound), {})
        return builder.emit(self, [x, low, high], {})


def elementwise(
    function: Any, *adjoints: str | None, kind: type = Elementwise, **facts: Any
) -> None:
    """One row; a tuple of functions gives each of them the same row."""
    for each in function if isinstance(function, tuple) else (function,):
        register(kind(each, adjoints, **facts))


def flat(arity: int, *functions: Callable, **facts: Any) -> None:
    """Functions whose value moves in steps: the derivative is zero wherever it exists."""
    for function in functions:
        register(Elementwise(function, (None,) * arity, **facts))


# ---- the table -----------------------------------------------------------------------------------

elementwise((abs, np.absolute), "y_bar * np.sign(x)")
elementwise((operator.add, np.add), "y_bar", "y_bar", kind=Sum, identity={0: 0, 1: 0})
elementwise(np.arccos, "-y_bar / np.sqrt(1 - x**2)", domain="unit")
elementwise(np.arccosh, "y_bar / np.sqrt(x**2 - 1)", domain="above one")
elementwise(np.arcsin, "y_bar / np.sqrt(1 - x**2)", domain="unit")
elementwise(np.arcsinh, "y_bar / np.sqrt(x**2 + 1)")
elementwise(np.arctan, "y_bar / (1 + x**2)")
elementwise(np.arctan2, "y_bar * b / (a**2 + b**2)", "-y_bar * a / (a**2 + b**2)")
elementwise(np.arctanh, "y_bar / (1 - x**2)", domain="unit")
elementwise(np.cbrt, "y_bar / (3 * y**2)", domain="positive")
elementwise(np.cos, "-y_bar * np.sin(x)")
elementwise(np.cosh, "y_bar * np.sinh(x)")
elementwise(np.deg2rad, "np.deg2rad(y_bar)")
elementwise(np.exp, "y_bar * y")
elementwise(np.exp2, "y_bar * (math.log(2.0) * y)")
elementwise(np.expm1, "y_bar * (y + 1)")
elementwise(np.fabs, "y_bar * np.sign(x)")
elementwise(np.hypot, "y_bar * (a / y)", "y_bar * (b / y)")
elementwise(np.log, "y_bar / x", domain="positive")
elementwise(np.log10, "y_bar / (math.log(10.0) * x)", domain="positive")
elementwise(np.log1p, "y_bar / (1 + x)", domain="positive")
elementwise(np.log2, "y_bar / (math.log(2.0) * x)", domain="positive")
elementwise(np.logaddexp, "y_bar * np.exp(a - y)", "y_bar * np.exp(b - y)")
elementwise(
    np.maximum,
    "np.where(a > b, y_bar, np.where(a == b, 0.5 * y_bar, 0.0))",
    "np.where(b > a, y_bar, np.where(a == b, 0.5 * y_bar, 0.0))",
)
elementwise(
    np.minimum,
    "np.where(a < b, y_bar, np.where(a == b, 0.5 * y_bar, 0.0))",
    "np.where(b < a, y_bar, np.where(a == b, 0.5 * y_bar, 0.0))",
)
elementwise((operator.mod, np.remainder), "y_bar", "-y_bar * np.floor(a / b)", domain="positive")
elementwise(
    (operator.mul, np.multiply),
    "y_bar * b",
    "y_bar * a",
    kind=Multiplication,
    identity={0: 1, 1: 1},
)
elementwise((operator.neg, np.negative), "-y_bar", kind=Negative)
elementwise((operator.pos, np.positive), "y_bar")
elementwise(
    (operator.pow, np.power, np.float_power),
    "y_bar * (b * a ** (b - 1))",
    "y_bar * (y * np.log(np.where(a == 0, 1.0, a)))",  # 0 at a == 0, where y * log(a) is nan
    kind=Power,
    domain="positive",
)
elementwise(np.rad2deg, "np.rad2deg(y_bar)")
elementwise(np.reciprocal, "-y_bar * y**2", domain="positive")
elementwise(np.sin, "y_bar * np.cos(x)")
elementwise(np.sinh, "y_bar * np.cosh(x)")
elementwise(np.sqrt, "y_bar * (0.5 / y)", domain="positive")
elementwise(np.square, "y_bar * (2 * x)")
elementwise((operator.sub, np.subtract), "y_bar", "-y_bar", kind=Difference)
elementwise(np.tan, "y_bar * (1 + y**2)", domain="unit")
elementwise(np.tanh, "y_bar * (1 - y**2)")
elementwise(
    (operator.truediv, np.divide),
    "y_bar / b",
    "-y_bar * (y / b)",
    kind=Quotient,
    domain="positive",
)
elementwise(
    np.where,
    None,
    "np.where(condition, y_bar, 0.0)",
    "np.where(condition, 0.0, y_bar)",
    dtype_of=slice(1, 3),
)

# np.clip passes the derivative on the closed interval, as torch.clamp does.
elementwise(
    np.clip,
    "np.where((a_min <= a) & (a <= a_max), y_bar, 0.0)",
    "np.where(a < a_min, y_bar, 0.0)",
    "np.where(a > a_max, y_bar, 0.0)",
    operands=("a", "a_min", "a_max"),
    kind=Clip,
)

flat(1, np.ceil, np.floor, np.invert, np.isfinite, np.isinf, np.isnan, np.logical_not)
flat(1, np.rint, np.sign, np.signbit, np.trunc, operator.invert)
flat(2, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.equal, np.floor_divide, np.greater)
flat(2, np.greater_equal, np.less, np.less_equal, np.logical_and, np.logical_or, np.logical_xor)
flat(2, np.not_equal, operator.and_, operator.eq, operator.floordiv, operator.ge, operator.gt)
flat(2, operator.le, operator.lshift, operator.lt, operator.ne, operator.or_, operator.rshift)
flat(2, operator.xor)

METHODS["clip"] = np.clip
