"""Complex numbers taken apart: conj, real, imag, angle, abs and sign, with their simplifications.

The adjoint of a complex number z = a + ib is a_bar + i b_bar: the direction of steepest ascent.
For a holomorphic f it is y_bar * conj(f'(z)); none of the functions of this page is holomorphic,
so each row gives its adjoint and its tangent as they are (as functions over the real numbers).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.registry import METHODS, RULES
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.arithmetic import with_sign
from s2s_ad.rules.composite import composite
from s2s_ad.rules.elementwise import Elementwise, elementwise
from s2s_ad.rules.real_powers import note_use


class OfComplex(Elementwise):
    """A function of complex numbers, Python's among them, that is trivial for real ones."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (x,) = support.bind_call(builder, self, "x", args, kwargs).values()
        x = support.as_operand(builder, x)
        if not isinstance(x, Symbol):
            return self.of_number(x)
        note_use(builder, self)
        return builder.emit(self, [x], {})

    def of_number(self, x: Any) -> Any:
        return self.function(x)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        (x,) = operands
        if isinstance(x, values.Scalar):
            return self.of_scalar(x)
        return super().infer(operands, params)

    def of_scalar(self, x: values.Scalar) -> values.AbstractValue:
        """What the function gives for a Python number."""
        return values.Array(np.asarray(self.function(x.kind(1))).dtype, ())

    def _dtype(self, operands: list) -> np.dtype | None:
        dtype = values.strong_dtype(operands[0])
        return None if dtype is None else np.asarray(self.function(np.ones((), dtype))).dtype


class Conjugate(OfComplex):
    """np.conj: the identity of real numbers; of what is a conjugate already it takes that away."""

    conjugates = (0,)
    is_conjugate = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        if kwargs or (args and isinstance(args[0], Symbol)):
            return Elementwise.bind(self, builder, args, kwargs)
        return super().bind(builder, args, kwargs)

    def of_number(self, x: Any) -> Any:
        return x.conjugate()

    def of_scalar(self, x: values.Scalar) -> values.AbstractValue:
        return values.Array(np.dtype(x.kind), ()) if x.kind is not bool else super().of_scalar(x)

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        (x,) = operands
        if builder.derived:
            return _conjugate_of(builder, x)
        real = values.is_real(x.fact) and values.is_inexact(x.fact)
        return x if real and isinstance(x.fact, values.Array) else None


def _conjugate_of(builder: Builder, value: Any) -> Any:
    """The conjugate of a value where it costs nothing; None where it has to be computed."""
    if not isinstance(value, Symbol):
        return support.conj(value)
    if not builder.may_be_complex(value):
        return value
    found = builder.found(np.conj, value)
    if found is not None or (np.conj, value.name) in builder.notes:
        return found
    found = _conjugate_of_result(builder, value)
    if isinstance(found, Symbol):
        builder.stands_for(found, np.conj, value)
    elif found is None:
        builder.notes[np.conj, value.name] = "has to be computed"
    return found


def _conjugate_of_result(builder: Builder, value: Symbol) -> Any:
    """The conjugate of an operation's result, by the conjugates of what that reads; or None."""
    rule, operands, params = builder.definition(value)
    if rule is None:
        return None
    if rule.function is np.conj:
        return operands[0]
    if not rule.conjugates:
        return None
    swapped = list(operands)
    for index in rule.conjugates:
        swapped[index] = _conjugate_of(builder, operands[index])
    missing = [index for index in rule.conjugates if swapped[index] is None]
    if len(missing) == 1 and rule.function in (operator.mul, operator.truediv):
        index = missing.pop()
        if len(operands) > 1 and not all(a is b for a, b in zip(swapped, operands, strict=True)):
            swapped[index] = builder.emit(CONJ, [operands[index]], {})
    return None if missing else builder.emit(rule, swapped, params)


class Part(OfComplex):
    """np.real and np.imag, as attributes; of a Python number they are floats."""

    view = True
    allocates = False
    written_back = "part"

    def of_scalar(self, x: values.Scalar) -> values.AbstractValue:
        return values.Scalar(type(self.function(x.kind(1))))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        if not isinstance(facts(call.args[0]), values.Array | values.Scalar):
            return call
        return gast.Attribute(value=call.args[0], attr=self.name, ctx=gast.Load())


class Real(Part):
    """np.real: of i times a number it is the imaginary part, negated."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        (x,) = operands
        if not builder.may_be_complex(x) and (builder.derived or values.is_real(builder.fact(x))):
            return x
        rule, inner, _ = builder.definition(x)
        if rule is None or not builder.derived:
            return None
        if rule.function is np.conj:
            return np.real(inner[0])
        if rule.function is operator.neg:
            return -np.real(inner[0])
        if rule.function is operator.mul:
            for one, other in (inner, inner[::-1]):
                if type(one) is complex and one in (1j, -1j) and isinstance(other, Symbol):
                    return -np.imag(other) if one == 1j else np.imag(other)
        return None


class Imag(Part):
    """np.imag, which is zero of real numbers."""

    takes_apart = True

    def is_flat(self, operands: list) -> bool:
        return not values.is_complex(operands[0])

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        (x,) = operands
        fact = builder.fact(x)  # of a constant, where a branch hands one over
        if not values.is_real(fact):
            return None
        if values.shape_of(fact) != () or values.is_tensor(fact):
            return np.zeros_like(x)
        if isinstance(fact, values.Scalar):
            return fact.kind(0).imag
        if builder.derived or fact.dtype is None:
            return 0.0
        return np.float64(0) if values.is_dtype(fact.dtype, float) else np.zeros_like(x)


class Sign(Elementwise):
    """np.sign: steps for real numbers, x / abs(x) for complex ones."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.flat = True

    def is_flat(self, operands: list) -> bool:
        return not values.is_complex(operands[0])


class TimesSign(Elementwise):
    """times_sign(value, x): abs(x) * sign(x) is x."""

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        value, x = operands
        found = with_sign(builder, value, x) if isinstance(x, Symbol) else None
        return super().shortcut(builder, operands, params) if found is None else found


class Angle(OfComplex):
    """np.angle, in radians where text is written: steps for real numbers."""

    takes_apart = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        z, deg = support.bind_call(builder, self, "z, deg=False", args, kwargs).values()
        radians = super().bind(builder, (z,), {})
        return (
            builder.call(np.rad2deg, (radians,), {}) if static(deg, "deg of np.angle") else radians
        )

    def is_flat(self, operands: list) -> bool:
        return not values.is_complex(operands[0])


elementwise(
    np.angle, "1j * y_bar / np.conj(x)", tangents=("np.imag(y_bar / x)",), kind=Angle, total=False
)
elementwise(np.conj, "np.conj(y_bar)", tangents=("np.conj(y_bar)",), kind=Conjugate, total=True)
elementwise(np.imag, "1j * y_bar", tangents=("np.imag(y_bar)",), kind=Imag, total=True)
elementwise(np.real, "y_bar", tangents=("np.real(y_bar)",), kind=Real, total=True)
# Of complex numbers NumPy's sign is x / abs(x): y_bar less its part along y, by abs(x); 0 at 0.
SLOPE = "({1} - {0} * np.real(np.conj({0}) * {1})) / np.where(x == 0, np.inf, np.abs(x))"
SLOPE_OF_SIGN = SLOPE.format("y", "y_bar")
elementwise(
    np.sign,
    SLOPE_OF_SIGN,
    tangents=(SLOPE_OF_SIGN,),
    kind=Sign,
    total=True,
)
elementwise(
    runtime.times_sign,
    "np.conj(np.sign(x)) * y_bar",
    SLOPE.format("np.sign(x)", "(np.conj(value) * y_bar)"),
    operands=("value", "x"),
    tangents=("y_bar * np.sign(x)", f"value * ({SLOPE.format('np.sign(x)', 'y_bar')})"),
    kind=TimesSign,
    dtype_of=slice(None),
    total=True,
)
CONJ = RULES[np.conj]


def _real_if_close(a: Any, tol: Any) -> Any:
    """The type of the result depends on the values, which are not known."""
    if not isinstance(a, Symbol) or values.is_real(a.fact):
        return a
    raise UnsupportedError(
        "S2S203",
        "np.real_if_close of complex numbers: whether it is real depends on the values",
        origin=a.builder.origin,
        help="say which it is: np.real(a), or a itself",
    )


def _iscomplexobj(x: Any) -> bool:
    return _kind_of(x, "np.iscomplexobj") == "c"


def _isrealobj(x: Any) -> bool:
    return _kind_of(x, "np.isrealobj") != "c"


def _kind_of(x: Any, name: str) -> str:
    if not isinstance(x, Symbol):
        return np.asarray(x).dtype.kind
    if x.dtype is None:
        raise UnsupportedError(
            "S2S203",
            f"{name} of a value of unknown type",
            origin=x.builder.origin,
            help="give example arguments, so that it is known",
        )
    return x.dtype.kind


def _sort_complex(a: Any) -> Any:
    ordered = np.sort(a, axis=-1)
    return ordered if values.is_complex(ordered.fact) else ordered.astype(complex)


composite(np.iscomplexobj, "x", _iscomplexobj)
composite(np.isrealobj, "x", _isrealobj)
composite(np.real_if_close, "a, tol=100", _real_if_close)
composite(np.sort_complex, "a", _sort_complex)

METHODS |= {"conj": np.conj, "conjugate": np.conj}
