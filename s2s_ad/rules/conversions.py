"""The same values in another type or in other memory: float, np.float32, astype, copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, static
from s2s_ad.core.dependence import Dependence, Use, same_elements
from s2s_ad.core.registry import METHODS, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.composite import composite
from s2s_ad.rules.structure import Structural


class AsType(Structural):
    """x.astype(dtype); the adjoint goes back to the dtype of x."""

    text = "x, dtype, order='K', casting='unsafe', *, subok=True, copy=True"
    view = False
    allocates = converts = total = keeps_array = True

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        kind = support.dtype_given(params["dtype"], "the dtype of astype")
        dtype = np.dtype(kind)
        casting = static(params["casting"], "casting of astype")
        if x.dtype is not None and not np.can_cast(x.dtype, dtype, casting):
            raise TypeError(f"Cannot cast array data from {x.dtype} to {dtype}: {casting!r}")
        return {"dtype": kind}

    def dependence(self, use: Use, position: int) -> Dependence:
        return same_elements(use.shape)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        dtype = np.dtype(params["dtype"])
        x = operands[0]
        if isinstance(x, values.Unknown):
            return values.Unknown(dtype.kind in "fc")
        return values.Array(dtype, values.shape_of(x))

    def shortcut(self, builder: Builder, operands: list, params: dict[str, Any]) -> Any:
        (x,) = operands
        if not isinstance(x, Symbol):
            return np.dtype(params["dtype"]).type(x)  # a number that took the place of an array
        rule, _, _ = builder.definition(x)
        same = values.is_dtype(x.dtype, params["dtype"]) and not values.may_be_wider(x.fact)
        same = same and not (rule and rule.double_if_empty)
        return x if builder.derived and same else None

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        x = operation.operands[0]
        return x.builder.call(runtime.unbroadcast, (y_bar, x), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, operation.params)

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        (x,), dtype = call.args, call.keywords[0].value
        fact = facts(x)
        is_array = getattr(fact, "number", None) is False
        may_be_number = values.shape_of(fact) == () or values.may_be_python(fact)
        may_be_number |= isinstance(fact, values.Array) and fact.shape is None
        if may_be_number and not is_array:
            if values.shape_of(fact) == ():
                return form.operation(dtype.value, [x], {})  # it may be a number of Python's
            made = form.operation(np.array, [x, dtype], {})  # np.float64(x) may be x itself
            return gast.Subscript(made, gast.Tuple([], gast.Load()), gast.Load())
        method = gast.Attribute(value=x, attr="astype", ctx=gast.Load())
        return gast.Call(func=method, args=[dtype], keywords=[])


class Conversion(Rule):
    """A type called as a function; of arrays NumPy's types are `astype`."""

    cost = 1
    of_complex = typed = True

    def __init__(self, function: Callable):
        super().__init__(function, function.__name__)
        self.flat = np.dtype(function).kind not in "fc"

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        (x,) = support.bind_call(builder, self, "x=0", args, kwargs).values()
        of_array = isinstance(x, Symbol) and isinstance(x.fact, values.Array)
        if of_array and self.function not in (complex, float, int):
            return x.astype(self.function)
        return builder.emit(self, [x], {})

    def dependence(self, use: Use, position: int) -> Dependence:
        return same_elements(use.shape)

    def vanishes_with(self) -> tuple[int, ...]:
        return (0,) if self.function is not complex else ()

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        if self.function in (complex, float, int):
            return values.Scalar(self.function)
        return values.Array(np.dtype(self.function), ())

    def may_raise(self, operands: list, result: values.AbstractValue) -> bool:
        """float() raises of large whole numbers, int() of nan and infinity."""
        if self.function not in (complex, float, int):
            return True
        inexact, one = values.is_inexact(operands[0]), values.rank_of(operands[0]) == 0
        return not one or not values.is_real(operands[0]) or inexact is not (not self.flat)

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        return [builder.call(runtime.unbroadcast, (y_bar, operation.operands[0]), {})]

    def forward(self, operation: Operation, tangents: list) -> Any:
        if tangents[0] is None:
            return None
        return operation.result.builder.call(self.function, (tangents[0],), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return operation.operands[0].astype(self.function)


class ComplexNumber(Conversion):
    """complex(a, b) of two real numbers is a Python number; for a batch it is a + 1j * b."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "real=0, imag=None", args, kwargs)
        operands = [each for each in given.values() if each is not None]
        if not any(isinstance(each, Symbol) for each in operands):
            return complex(*operands)
        if len(operands) == 2 and not all(values.is_real(builder.fact(e)) for e in operands):
            return self._of_parts(builder, operands)
        return builder.emit(self, operands, {})

    def _of_parts(self, builder: Builder, operands: list) -> Any:
        """complex(a, b) of complex numbers: a + 1j * b, each part by itself."""
        facts = [builder.fact(each) for each in operands]
        if not all(values.is_real(fact) or values.is_complex(fact) for fact in facts):
            raise UnsupportedError(
                "S2S203",
                "complex(a, b) of numbers that are not known to be real",
                origin=builder.origin,
                help="write a + 1j * b",
            )
        real, imag = ([part(each) for each in operands] for part in (np.real, np.imag))
        return builder.emit(self, [real[0] - imag[1], imag[0] + real[1]], {})

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder, operands = operation.result.builder, operation.operands
        parts = [y_bar, builder.call(np.imag, (y_bar,), {})][: len(operands)]
        return [
            builder.call(runtime.unbroadcast, (part, operand), {}) if active else None
            for part, operand, active in zip(parts, operands, operation.active, strict=True)
        ]

    def forward(self, operation: Operation, tangents: list) -> Any:
        dots = [0.0 if each is None else each for each in tangents]
        return operation.result.builder.call(complex, dots, {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        real, *imag = operation.operands
        if imag:
            return real + 1j * imag[0]
        return real.astype(complex)


class Identity(Structural):
    """np.copy(x): the identity of values."""

    copy = allocates = total = keeps_array = gives_array = asks_for_a_copy = True
    in_c_order = "first"
    text = "x, order='K', subok=False"
    view = False

    def dependence(self, use: Use, position: int) -> Dependence:
        return same_elements(use.shape)

    def prepare(self, x: Symbol, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        x = operands[0]
        if isinstance(x, values.Unknown):
            return x
        if values.may_be_wider(x):  # of a number of Python's it is an array of doubles
            return values.Array(None, x.shape, real=values.is_real(x))
        return values.with_shape(x, x.shape)

    def transposed(self, operation: Operation, y_bar: Any) -> Any:
        return y_bar

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return batch.builder.emit(self, operation.operands, {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        fact = facts(call.args[0])
        if not isinstance(fact, values.Array) or fact.weak or fact.shape is None:
            return call  # it may be a number of Python's
        method = gast.Attribute(value=call.args[0], attr="copy", ctx=gast.Load())
        return gast.Call(func=method, args=[], keywords=[])


class CopyIfThere(Identity):
    """copied(x): a copy of what may be absent."""

    text = "value"

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        (value,) = call.args
        if not isinstance(value, gast.Name) or values.shape_of(facts(value)) is None:
            return call
        method = gast.Attribute(value=value, attr="copy", ctx=gast.Load())
        made = gast.Call(func=method, args=[], keywords=[])
        is_array = form.operation(isinstance, [value, form.constant(np.ndarray)], {})
        return gast.IfExp(is_array, made, value)


class WithoutAxes(Identity):
    """array_without_axes(x): what NumPy's operations give as a number is an array of the user's."""

    copy = allocates = gives_array = False
    in_c_order = ""
    text = "x"
    view = True

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        return operation.operands[0]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        return form.operation(np.asarray, call.args, {})


register(AsType(np.ndarray.astype, "astype"))
register(WithoutAxes(runtime.array_without_axes, "array_without_axes"))
register(CopyIfThere(runtime.copied, "copied"))
register(Identity(np.copy, "copy"))


# ---- the same array in another layout: its values are the same -----------------------------------


def _as_array(x: Any, dtype: Any, **layout: Any) -> Any:
    if not isinstance(x, Symbol):
        return np.asarray(x, dtype)
    return x.builder.call(np.asarray, (x,), {"dtype": dtype})


def _as_vector(x: Any, dtype: Any) -> Any:
    """np.ascontiguousarray and np.asfortranarray: at least one axis."""
    x = _as_array(x, dtype)
    return np.reshape(x, (1,)) if isinstance(x, Symbol) and x.shape == () else x


composite(np.asanyarray, "x, dtype=None, order=None, copy=None", _as_array)
composite(np.ascontiguousarray, "x, dtype=None", _as_vector)
composite(np.asfortranarray, "x, dtype=None", _as_vector)
composite(np.astype, "x, dtype, copy=True", lambda x, dtype, copy: x.astype(dtype))
composite(np.require, "x, dtype=None, requirements=None", _as_array)


register(ComplexNumber(complex))
OF_NUMBERS = (float, int, np.bool_, np.complex64, np.complex128, np.float16, np.float32)
OF_NUMBERS += (np.float64, np.int8, np.int16, np.int32, np.int64)
OF_NUMBERS += (np.uint8, np.uint16, np.uint32, np.uint64)
for each in OF_NUMBERS:
    register(Conversion(each))


METHODS |= {"astype": np.ndarray.astype, "copy": np.copy}
