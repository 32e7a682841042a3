"""The elementwise kind: broadcasting functions whose derivative is one factor per element.

A row gives the adjoint contribution of each operand as the text of a NumPy expression over the
operands, the result `y` and its adjoint `y_bar`. As the Jacobian is diagonal the same text, with
the tangent for `y_bar`, is the forward mode.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from s2s_ad import runtime
from s2s_ad.core import sizes, values
from s2s_ad.core.builder import OPERATORS, Builder, Symbol, filling_of
from s2s_ad.core.dependence import Dependence, Use, broadcast
from s2s_ad.core.magnitudes import as_value, is_divided_by, is_off_zero, may_overflow, times_settled
from s2s_ad.core.registry import RULES, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.core.sizes import Size
from s2s_ad.rules import support, ufunc_calls
from s2s_ad.rules.real_powers import note_use

OPERAND_NAMES = {1: ("x",), 2: ("a", "b"), 3: ("condition", "a", "b")}
UFUNC_OF: dict[Callable, np.ufunc] = {  # the ufunc that an operator or builtin is on arrays
    **{function: ufunc for ufunc, function in OPERATORS.items()},
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
ONE_INSTRUCTION = {abs, operator.mod, operator.pos, operator.truediv, np.divide} | ARITHMETIC
ONE_INSTRUCTION |= {np.absolute, np.add, np.fabs, np.multiply, np.negative, np.reciprocal}
ONE_INSTRUCTION |= {np.sqrt, np.square, np.subtract}
ONE_INSTRUCTION |= {np.clip, np.maximum, np.minimum, np.where}
TRANSCENDENTAL = 16  # additions


@functools.cache
def compiled(text: str) -> Any:
    return compile(text, f"<rule {text}>", "eval")


class UnfitTypes(TypeError):
    """The error that Python itself raises for operands of these types, whatever their values."""


class Elementwise(Rule):
    """A function applied to each element of its broadcast operands.

    Args:
        adjoints: per operand the text of its contribution; None where there is no derivative.
        domain: where the function is defined and smooth, for the generated tests.
        identity: per operand position, the number that leaves the other operand as it is.
        operands: their names in the texts and in calls; None for x, or a and b.
        options: what a call may say besides, as in a signature: ", decimals=0"; known now.
        dtype_of: of a function that is no ufunc, the operands that are promoted to the dtype of
            the result; None where NumPy itself has to be asked.
        cost: of one element, in additions; operators and steps count as one.
        total: whether value and derivatives are finite wherever the operands are.
        of_complex: the texts where complex numbers occur; None: they are the same.
        settles: operand position -> text of where the value still changes with this operand, which
            may be infinite because an exponential is: elsewhere the derivative is 0.
        vanishes: see `Rule`.
        overflows: whether it is infinite for large operands, as an exponential is.
        never_negative: whether the result is never below zero, of real operands.
        rises: whether it is a function of one operand that nowhere falls.
        tangents: of a function that is not complex-differentiable the texts of the forward mode;
            the texts of the adjoints are then the adjoints themselves.

    Of a holomorphic function the text is linear in y_bar: with the tangent for y_bar it is the
    tangent, and the adjoint is its conjugate for the conjugate of y_bar: y_bar * conj(factor).
    """

    allocates = elementwise = of_complex = typed = True
    in_c_order = "operands"
    #: the modules whose functions the texts may call besides math and np
    modules: ClassVar[dict[str, Any]] = {"runtime": runtime}
    #: what else they may name
    space: ClassVar[dict[str, Any]] = {}
    #: what they call np
    arrays: Any = np

    def __init__(
        self,
        function: Callable,
        adjoints: tuple[str | None, ...],
        *,
        domain: str = "real",
        identity: dict[int, float] | None = None,
        operands: tuple[str, ...] | None = None,
        options: str = "",
        dtype_of: slice | None = None,
        cost: int = TRANSCENDENTAL,
        total: bool = False,
        of_complex: tuple[str | None, ...] | None = None,
        tangents: tuple[str | None, ...] | None = None,
        settles: dict[int, str] | None = None,
        vanishes: dict[int, tuple] | None = None,
        overflows: bool = False,
        never_negative: bool = False,
        rises: bool = False,
    ):
        super().__init__(function, getattr(function, "__name__", str(function)))
        self.ufunc = UFUNC_OF.get(function, function)
        self.adjoints, self.domain, self.identity = adjoints, domain, identity or {}
        self.complex_adjoints, self.tangents = of_complex or adjoints, tangents
        self.operand_names = operands or OPERAND_NAMES[len(adjoints)]
        self.flat = not any(adjoints)
        self.text = ", ".join(self.operand_names) + options
        self.dtype_of = dtype_of
        self.cost = 1 if self.flat or function in ONE_INSTRUCTION else cost
        self.total = total
        self.settles, self.vanishes, self.overflows = settles or {}, vanishes or {}, overflows
        self.never_negative, self.rises = never_negative, rises
        self.tells_complex = tangents is not None or not self.of_complex
        self.keeps_array = not isinstance(self.ufunc, np.ufunc)

    def is_finite(self, builder: Builder, operands: list) -> bool:
        smooth = self.domain == "positive" and len(operands) == 1
        return self.is_total(operands) or (smooth and is_off_zero(builder, operands[0]))

    def least(self, operands: list, of: Callable[[Any], float | None]) -> float | None:
        low = of(operands[0]) if self.rises else None
        if low is None or (self.domain == "positive" and low <= 0):
            return super().least(operands, of)
        with np.errstate(all="ignore"):
            return float(self.function(low))

    # ---- calls

    def dependence(self, use: Use, position: int) -> Dependence:
        return broadcast(use.shapes[position], use.shape)

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if not isinstance(self.function, np.ufunc):
            return self._bound(builder, args, kwargs, ufunc_calls.Options())
        kwargs, options = ufunc_calls.options_of(kwargs)
        return ufunc_calls.chosen(self._bound(builder, args, kwargs, options), options)

    def _bound(self, builder: Builder, args: tuple, kwargs: dict, options: Any) -> Any:
        arguments = support.bind_call(builder, self, self.text, args, kwargs)
        operands = [support.as_operand(builder, arguments.pop(e)) for e in self.operand_names]
        operands = ufunc_calls.prepared(builder, self, operands, options)
        params = support.given(support.static_params(arguments, self), self.text)
        plain = OPERATORS.get(self.function) if isinstance(self.function, np.ufunc) else None
        if plain and self._is_operator([builder.fact(each) for each in operands]):
            return builder.emit(RULES[plain], operands, {})  # np.add(a, b) is a + b on arrays
        note_use(builder, self)
        return builder.emit(self, operands, params)

    def _is_operator(self, facts: list) -> bool:
        """Whether the ufunc is exactly what the operator computes: one operand is NumPy's."""
        numpys = (isinstance(fact, values.Array) and not fact.weak for fact in facts)
        return any(numpys)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if any(isinstance(each, values.Unknown | values.Static) for each in operands):
            if self.flat:
                return values.unknown()
            arrays = [each for each in operands if not isinstance(each, values.Scalar)]
            alike = all(values.same_form(each, arrays[0]) for each in arrays)
            return values.as_inexact(arrays[0]) if alike else support.unknown(*operands)
        if self.function is not self.ufunc and all(isinstance(e, values.Scalar) for e in operands):
            return self._infer_python(operands)
        of_python = self.function is not self.ufunc
        weak = of_python and all(map(values.may_be_python, operands))
        dtypes = [self._dtype(each, **params) for each in _as_they_may_be(operands, weak)]
        same = not values.missing(dtypes) and all(each == dtypes[0] for each in dtypes)
        shape = values.broadcast(map(values.shape_of, operands))
        weak = weak or (of_python and _takes_doubles_for_floats(operands))
        return values.Array(dtypes[0] if same else None, shape, weak=weak)

    def _infer_python(self, operands: list) -> values.AbstractValue:
        """The type that Python gives an operator on numbers."""
        kinds = [each.kind for each in operands]
        if self.function is operator.pow and kinds == [int, int]:
            exponent = operands[1].size
            if exponent is None or not sizes.is_natural(exponent):
                return values.Array(None, ())  # 2 ** -1 is a float
        try:
            return values.Scalar(type(self.function(*(kind(1) for kind in kinds))))
        except TypeError as error:
            raise UnfitTypes(*error.args) from None

    def symmetric_with(
        self, builder: Builder, operands: list, params: dict[str, Any]
    ) -> list | None:
        return None if params else operands

    def size(self, builder: Builder, operands: list, params: dict[str, Any]) -> Size | None:
        """Operators on sizes are sizes, as far as there are such."""
        found = [*map(builder.size, operands)]
        if None in found or self.function is self.ufunc:
            return None
        try:
            return self.function(*found)
        except TypeError:
            return None

    def _dtype(self, operands: list, **options: Any) -> np.dtype | None:
        if self.dtype_of is None and not isinstance(self.ufunc, np.ufunc):
            return support.result_dtype(self.function, operands, **options)
        kinds = tuple(values.dtype_argument(each) for each in operands)
        if values.missing(kinds):
            return None
        if isinstance(self.ufunc, np.ufunc):
            return ufunc_dtype(self.ufunc, kinds)
        values_ = (kind(0) if isinstance(kind, type) else kind for kind in kinds[self.dtype_of])
        return np.result_type(*values_)

    def may_raise(self, operands: list, result: values.AbstractValue) -> bool:
        """Shapes that need not fit together raise, some of Python's numbers, and whole powers."""
        if isinstance(result, values.Scalar):
            return not self.total
        if getattr(result, "weak", False) and not self.total:
            return True
        fits = values.broadcasts(map(values.shape_of, operands))
        return not fits or not (self.flat or self.total or values.is_inexact(result))

    def fits(self, operands: list, result: Any, params: dict[str, Any]) -> bool:
        if not self.may_raise(operands, result):
            return True
        shapes = [shape for each in operands if (shape := values.shape_of(each)) != ()]
        same = bool(shapes) and all(values.are_equal(each, shapes[0]) for each in shapes)
        return same and not self.may_raise([result for _ in operands], result)

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
        return self._lift_broadcast(builder, operands, params)

    def _fold(self, builder: Builder, numbers: list) -> Any:
        """Whole numbers are computed now; a user's other arithmetic stays as written.

        What raises does so where it runs, if it runs.
        """
        whole = all(type(each) is int for each in numbers)
        exact = whole and (self.function in FOLDED or self._is_small_power(numbers))
        ours = builder.derived and self.function in ARITHMETIC
        if not (exact or ours or self.function is operator.neg):
            return None
        try:
            return self.function(*numbers)
        except (ArithmeticError, ValueError):
            return None

    def _is_small_power(self, numbers: list) -> bool:
        """Whether it is a power of whole numbers that is a whole number, and no large one."""
        if self.function is not operator.pow:
            return False
        base, exponent = numbers
        return exponent >= 0 and exponent * base.bit_length() <= 64

    def _is_neutral(self, builder: Builder, value: Any, neutral: float, other: Any) -> bool:
        """Whether `value` leaves `other` as it is, in value, in dtype and in shape."""
        if type(value) not in (int, float) or value != neutral or not isinstance(other, Symbol):
            return False
        if not keeps_its_type(builder, other):
            return False
        return values.is_inexact(other.fact) is True or (
            type(value) is int and getattr(values.strong_dtype(other.fact), "kind", "b") != "b"
        )

    def _lift_broadcast(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        """f(broadcast_like(s, x), e) needs no broadcast before f, and often none after it."""
        lifted = [broadcast_source(builder, each) for each in operands]
        if not any(each is not None for each in lifted):
            return None
        if any(map(_is_unknown, operands)) and not self._alike(builder, operands):
            return None
        small = [
            operand if source is None else source[0]
            for operand, source in zip(operands, lifted, strict=True)
        ]
        result = builder.emit(self, small, params)
        if not self._same_dtype(builder, result, operands, params):
            return None  # nothing but Python's numbers was left to say it
        if any(map(_is_unknown, operands)):
            like = next(source[1] for source in lifted if source is not None)
            full = any(values.same_form(builder.fact(each), like.fact) for each in small)
            if not full or not isinstance(result, Symbol):
                return builder.call(runtime.broadcast_like, (result, like), {})
            builder.facts[result.name] = values.as_inexact(like.fact)
            return result
        full = values.broadcast(map(support.shape, operands))
        if values.same_shape(support.shape(result), full):
            return result
        like = next((s[1] for s in lifted if s and values.same_shape(s[1].shape, full)), None)
        return None if like is None else builder.call(runtime.broadcast_like, (result, like), {})

    def _same_dtype(self, builder: Builder, result: Any, operands: list, params: dict) -> bool:
        """Whether the result has the dtype that it has of these operands, or is a plain number."""
        fact = builder.fact(result)
        if fact == values.Scalar(bool):
            return False  # in the shape of an array it would have the dtype of that
        if not isinstance(fact, values.Array) or fact.dtype is None:
            return True
        whole = values.strong_dtype(self.infer(list(map(builder.fact, operands)), params))
        return whole is None or whole == fact.dtype

    def _alike(self, builder: Builder, operands: list) -> bool:
        """Whether all operands but numbers have the same shape, though it is not known."""
        facts = [builder.fact(each) for each in operands]
        arrays = [each for each in facts if not isinstance(each, values.Scalar)]
        return all(values.same_form(each, arrays[0]) for each in arrays)

    # ---- derivatives

    def evaluated(self, text: str, operation: Operation, y_bar: Any) -> Any:
        """The row's text for one operand, evaluated on Symbols."""
        builder = operation.result.builder
        known = {name: Helpers(builder, module) for name, module in self.modules.items()}
        options = {name: p.default for name, p in support.signature(self.text).parameters.items()}
        operands = [self._in_range(each, operation.result) for each in operation.operands]
        names = dict(zip(self.operand_names, operands, strict=True)) | operation.params
        own = {"math": math, "np": self.arrays, "y": operation.result, "y_bar": y_bar}
        scope = known | self.space | options | names | own
        try:
            return eval(compiled(text), scope)
        except ArithmeticError:  # of numbers that are known: NumPy's give inf or nan
            numbers = {k: np.asarray(v)[()] for k, v in scope.items() if type(v) in (int, float)}
            with np.errstate(all="ignore"):
                return eval(compiled(text), scope | numbers)

    def _in_range(self, operand: Any, y: Symbol) -> Any:
        """The operand, as numbers that a text may square, where whole numbers would wrap."""
        narrow = isinstance(operand, Symbol) and values.may_wrap(operand.fact)
        return operand.astype(y.dtype) if narrow and y.dtype and not self.linear else operand

    def has_slope(self, position: int, operation: Operation) -> bool:
        """Whether there is a derivative by one operand that need not be zero."""
        return bool(self.adjoints[position])

    def factor(self, position: int, operation: Operation, y_bar: Any) -> Any:
        """The derivative by one operand, times y_bar."""
        if self._is_complex(operation):
            return self.evaluated(self.complex_adjoints[position], operation, y_bar)
        text = self.adjoints[position]
        if not self._may_settle(position, operation, y_bar):
            return self.evaluated(text, operation, y_bar)
        moves = self.evaluated(self.settles[position], operation, y_bar)
        if operation.result.builder.phase == "tangent":  # that of the operand may be infinite
            return as_value(np.where(moves, self.evaluated(text, operation, y_bar), 0.0))
        slope = np.where(moves, self.evaluated(text, operation, 1.0), 0.0)
        return times_settled(y_bar, slope)

    def _may_settle(self, position: int, operation: Operation, y_bar: Any) -> bool:
        """Whether an overflow of this operand leaves the value, and what follows, finite."""
        if position not in self.settles:
            return False
        builder = operation.result.builder
        if is_divided_by(builder, y_bar, operation.result):  # a logarithm of it is not
            return False
        over = [may_overflow(builder, each) for each in operation.operands]
        return over[position] and sum(over) == 1

    def _is_complex(self, operation: Operation) -> bool:
        """Whether complex numbers may occur."""
        atoms = (*operation.operands, operation.result)
        return any(map(operation.result.builder.may_be_complex, atoms))

    def adjoint(self, position: int, operation: Operation, y_bar: Any) -> Any:
        """The contribution to one operand, before it is summed over broadcast axes."""
        if self.tangents or not self._is_complex(operation):
            return self.factor(position, operation, y_bar)
        return support.conj(self.factor(position, operation, support.conj(y_bar)))

    def tangent(self, position: int, operation: Operation, x_dot: Any) -> Any:
        """What the tangent of one operand gives."""
        if self.tangents and self._is_complex(operation):
            return self.evaluated(self.tangents[position], operation, x_dot)
        return self.factor(position, operation, x_dot)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        return [
            builder.call(runtime.unbroadcast, (self.adjoint(i, operation, y_bar), operand), {})
            if operation.active[i] and self.has_slope(i, operation)
            else None
            for i, operand in enumerate(operation.operands)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        terms = [
            self.tangent(i, operation, tangent)
            for i, tangent in enumerate(tangents)
            if tangent is not None and self.has_slope(i, operation)
        ]
        if not terms:
            return None
        builder, y = operation.result.builder, operation.result
        y_dot = builder.call(runtime.broadcast_like, (functools.reduce(operator.add, terms), y), {})
        return support.cast(builder, y_dot, y)

    # ---- batching

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        operands = support.align_all(operation.operands, batched)
        return batch.builder.emit(self, operands, operation.params)


class Helpers:
    """The functions of a module, as the text of a row calls them."""

    def __init__(self, builder: Builder, module: Any):
        self._builder, self._module = builder, module

    def __getattr__(self, name: str) -> Callable:
        return lambda *args: self._builder.call(getattr(self._module, name), args, {})


def broadcast_source(builder: Builder, value: Any) -> tuple[Any, Symbol] | None:
    """(s, x) where the value is broadcast_like(s, x).

    In the user's own code that is np.full_like: a number of Python's does not say its dtype.
    """
    rule, operands, _ = builder.definition(value)
    if rule is None or rule.function is not runtime.broadcast_like:
        return None
    weak = isinstance(builder.fact(operands[0]), values.Scalar)
    return tuple(operands) if builder.derived or not weak else None


def one_number(builder: Builder, value: Any) -> Any:
    """The number, known or not, that all elements of a value are; None where it is not that."""
    filling = filling_of(builder, value)
    source = broadcast_source(builder, value) if filling is None else None
    if source is None:
        return filling
    return source[0] if values.shape_of(builder.fact(source[0])) == () else None


def _takes_doubles_for_floats(operands: list) -> bool:
    """Whether Python's complex numbers come first, for which np.float64 is one of Python's floats.

    1j * np.float64(2.0) is a complex number of Python's.
    """
    first, *rest = operands
    pythons = values.may_be_python(first) and values.is_complex(first)
    doubles = (values.is_dtype(values.strong_dtype(each), float) for each in rest)
    return pythons and all(values.shape_of(each) == () for each in rest) and any(doubles)


def _as_they_may_be(operands: list, to_number: bool) -> list[list]:
    """The operands with each one that may be a Python number as that number, too.

    `to_number`: where all of them are, the result is one, which promotes as it is.
    """
    if not any(getattr(each, "weak", False) and each.dtype is not None for each in operands):
        return [operands]
    options = [
        [each, values.Scalar(type(each.dtype.type(0).item()))]
        if getattr(each, "weak", False) and each.dtype is not None
        else [each]
        for each in operands
    ]
    found = list(map(list, itertools.product(*options)))
    return found[:-1] if to_number else found


def keeps_its_type(builder: Builder, value: Symbol) -> bool:
    """Whether NumPy gives what an operation leaves as it is: of an array without axes, which text
    takes as it takes numbers, it makes a number."""
    rule = builder.definition(value)[0]
    stays = rule is None or rule.view or rule.copy or rule.keeps_array
    may_be_array = stays and isinstance(value.fact, values.Array) and value.fact.shape == ()
    return builder.derived or not may_be_array


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Symbol) or type(value) not in values.PYTHON_NUMBERS


def _is_unknown(value: Any) -> bool:
    return isinstance(value, Symbol) and value.shape is None


@functools.cache
def ufunc_dtype(ufunc: np.ufunc, kinds: tuple) -> np.dtype:
    """The dtype of a ufunc's result; Python types are weak, as in NumPy 2 (NEP 50)."""
    try:
        return ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))[-1]
    except TypeError as error:
        raise UnfitTypes(*error.args) from None


def elementwise(
    function: Any, *adjoints: str | None, kind: type = Elementwise, **facts: Any
) -> None:
    """One row; a tuple of functions gives each of them the same row."""
    for each in function if isinstance(function, tuple) else (function,):
        register(kind(each, adjoints, **facts))


def flat(arity: int, *functions: Callable, kind: type = Elementwise, **facts: Any) -> None:
    """Functions whose value moves in steps: the derivative is zero wherever it exists."""
    for function in functions:
        register(kind(function, (None,) * arity, **facts))
