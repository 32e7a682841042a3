"""Methods of Tensors that work element by element; each is the NumPy that it says.

Functions of real numbers take integer Tensors for Float32 (`inexact`), as quotients do.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def inexact(x: Any) -> Any:
    """The Tensor itself, or an integer one as Float32."""
    return x.astype(np.float32) if x.dtype.kind in "biu" else x


def in_array(value: Any, other: Any) -> Any:
    """A number as an array beside `other`: where they are equal each has half of the derivative."""
    if not isinstance(value, bool | int | float):
        return value
    return np.asarray(value, np.result_type(value, other))


class Elementwise:
    """Methods of Tensors that work element by element."""

    __slots__ = ()

    # ---- arithmetic --------------------------------------------------------------------------

    def add(self, other, *, alpha=1) -> Any:
        return self + other if alpha == 1 else self + alpha * other

    def sub(self, other, *, alpha=1) -> Any:
        return self - other if alpha == 1 else self - alpha * other

    def subtract(self, other, *, alpha=1) -> Any:
        return self - other if alpha == 1 else self - alpha * other

    def mul(self, other) -> Any:
        return self * other

    def multiply(self, other) -> Any:
        return self * other

    def div(self, other) -> Any:
        return self / other

    def divide(self, other) -> Any:
        return self / other

    def true_divide(self, other) -> Any:
        return self / other

    def floor_divide(self, other) -> Any:
        return self // other

    def remainder(self, other) -> Any:
        return self % other

    def fmod(self, other) -> Any:
        return np.fmod(self, other)

    def pow(self, exponent) -> Any:
        return self**exponent

    def float_power(self, exponent) -> Any:
        return self.astype(np.float64) ** exponent

    def neg(self) -> Any:
        return -self

    def negative(self) -> Any:
        return -self

    def positive(self) -> Any:
        return +self

    def square(self) -> Any:
        return np.square(self)

    def reciprocal(self) -> Any:
        return 1 / self

    def lerp(self, end, weight) -> Any:
        return self + weight * (end - self)

    def addcmul(self, tensor1, tensor2, value=1) -> Any:
        return self + value * (tensor1 * tensor2)

    def addcdiv(self, tensor1, tensor2, value=1) -> Any:
        return self + value * (tensor1 / tensor2)

    def hypot(self, other) -> Any:
        return np.hypot(self, other)

    def maximum(self, other) -> Any:
        return np.maximum(self, in_array(other, self))

    def minimum(self, other) -> Any:
        return np.minimum(self, in_array(other, self))

    def clip(self, min=None, max=None) -> Any:
        return np.clip(self, min, max)

    def clamp(self, min=None, max=None) -> Any:
        return np.clip(self, min, max)

    def copysign(self, other) -> Any:
        return np.copysign(inexact(self), other)

    def heaviside(self, values) -> Any:
        return np.heaviside(inexact(self), values)

    def ldexp(self, other) -> Any:
        return np.ldexp(inexact(self), other)

    def logaddexp(self, other) -> Any:
        return np.logaddexp(inexact(self), other)

    def logaddexp2(self, other) -> Any:
        return np.logaddexp2(inexact(self), other)

    # ---- functions of one number -------------------------------------------------------------

    def abs(self) -> Any:
        return np.abs(self)

    def absolute(self) -> Any:
        return np.abs(self)

    def sign(self) -> Any:
        return np.sign(self)

    def sgn(self) -> Any:
        return np.sign(self)

    def signbit(self) -> Any:
        return np.signbit(self)

    def sqrt(self) -> Any:
        return np.sqrt(inexact(self))

    def rsqrt(self) -> Any:
        return 1 / np.sqrt(inexact(self))

    def exp(self) -> Any:
        return np.exp(inexact(self))

    def exp2(self) -> Any:
        return np.exp2(inexact(self))

    def expm1(self) -> Any:
        return np.expm1(inexact(self))

    def log(self) -> Any:
        return np.log(inexact(self))

    def log2(self) -> Any:
        return np.log2(inexact(self))

    def log10(self) -> Any:
        return np.log10(inexact(self))

    def log1p(self) -> Any:
        return np.log1p(inexact(self))

    def sin(self) -> Any:
        return np.sin(inexact(self))

    def cos(self) -> Any:
        return np.cos(inexact(self))

    def tan(self) -> Any:
        return np.tan(inexact(self))

    def asin(self) -> Any:
        return np.arcsin(inexact(self))

    def arcsin(self) -> Any:
        return np.arcsin(inexact(self))

    def acos(self) -> Any:
        return np.arccos(inexact(self))

    def arccos(self) -> Any:
        return np.arccos(inexact(self))

    def atan(self) -> Any:
        return np.arctan(inexact(self))

    def arctan(self) -> Any:
        return np.arctan(inexact(self))

    def atan2(self, other) -> Any:
        return np.arctan2(inexact(self), other)

    def arctan2(self, other) -> Any:
        return np.arctan2(inexact(self), other)

    def sinh(self) -> Any:
        return np.sinh(inexact(self))

    def cosh(self) -> Any:
        return np.cosh(inexact(self))

    def tanh(self) -> Any:
        return np.tanh(inexact(self))

    def asinh(self) -> Any:
        return np.arcsinh(inexact(self))

    def arcsinh(self) -> Any:
        return np.arcsinh(inexact(self))

    def acosh(self) -> Any:
        return np.arccosh(inexact(self))

    def arccosh(self) -> Any:
        return np.arccosh(inexact(self))

    def atanh(self) -> Any:
        return np.arctanh(inexact(self))

    def arctanh(self) -> Any:
        return np.arctanh(inexact(self))

    def sinc(self) -> Any:
        return np.sinc(inexact(self))

    def sigmoid(self) -> Any:
        return np.exp(-np.logaddexp(0, -inexact(self)))

    def logit(self) -> Any:
        return np.log(self / (1 - self))

    def relu(self) -> Any:
        return np.where(self <= 0, 0, self)

    def softmax(self, axis=-1) -> Any:
        return np.exp(self.log_softmax(axis))

    def log_softmax(self, axis=-1) -> Any:
        return inexact(self) - np.logaddexp.reduce(inexact(self), axis=axis, keepdims=True)

    def floor(self) -> Any:
        return np.floor(self)

    def ceil(self) -> Any:
        return np.ceil(self)

    def trunc(self) -> Any:
        return np.trunc(self)

    def round(self, decimals=0) -> Any:
        return np.round(self, decimals)

    def deg2rad(self) -> Any:
        return np.deg2rad(inexact(self))

    def rad2deg(self) -> Any:
        return np.rad2deg(inexact(self))

    def angle(self) -> Any:
        return np.angle(inexact(self))

    def conj(self) -> Any:
        return np.conj(self)

    def nan_to_num(self, nan=0.0, posinf=None, neginf=None) -> Any:
        return np.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)

    # ---- comparisons and logic ---------------------------------------------------------------

    def eq(self, other) -> Any:
        return self == other

    def equal(self, other) -> Any:
        return self == other

    def ne(self, other) -> Any:
        return self != other

    def not_equal(self, other) -> Any:
        return self != other

    def lt(self, other) -> Any:
        return self < other

    def less(self, other) -> Any:
        return self < other

    def le(self, other) -> Any:
        return self <= other

    def less_equal(self, other) -> Any:
        return self <= other

    def gt(self, other) -> Any:
        return self > other

    def greater(self, other) -> Any:
        return self > other

    def ge(self, other) -> Any:
        return self >= other

    def greater_equal(self, other) -> Any:
        return self >= other

    def isfinite(self) -> Any:
        return np.isfinite(self)

    def isinf(self) -> Any:
        return np.isinf(self)

    def isnan(self) -> Any:
        return np.isnan(self)

    def isposinf(self) -> Any:
        return self == np.inf

    def isneginf(self) -> Any:
        return self == -np.inf

    def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> Any:
        return np.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> Any:
        return np.allclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def logical_and(self, other) -> Any:
        return np.logical_and(self, other)

    def logical_or(self, other) -> Any:
        return np.logical_or(self, other)

    def logical_xor(self, other) -> Any:
        return np.logical_xor(self, other)

    def logical_not(self) -> Any:
        return np.logical_not(self)

    def bitwise_and(self, other) -> Any:
        return self & other

    def bitwise_or(self, other) -> Any:
        return self | other

    def bitwise_xor(self, other) -> Any:
        return self ^ other

    def bitwise_not(self) -> Any:
        return ~self

    def bitwise_left_shift(self, other) -> Any:
        return self << other

    def bitwise_right_shift(self, other) -> Any:
        return self >> other

    # ---- choices -----------------------------------------------------------------------------

    def where(self, condition, y) -> Any:
        return np.where(condition, self, y)

    def fill(self, value) -> Any:
        """A new Tensor full of the value (an array's method of this name changes the array)."""
        return np.full_like(self, value)

    def fills(self, value) -> Any:
        return np.full_like(self, value)

    def masked_fill(self, mask, value) -> Any:
        return np.where(mask, value, self).astype(self.dtype)

    # ---- dtypes ------------------------------------------------------------------------------

    def to(self, dtype) -> Any:
        return self.astype(dtype)

    def type(self, dtype=None) -> Any:
        return self.dtype if dtype is None else self.astype(dtype)

    def type_as(self, other) -> Any:
        return self.astype(other.dtype)

    def bool(self) -> Any:
        return self.astype(np.bool_)

    def byte(self) -> Any:
        return self.astype(np.uint8)

    def short(self) -> Any:
        return self.astype(np.int16)

    def int(self) -> Any:
        return self.astype(np.int32)

    def long(self) -> Any:
        return self.astype(np.int64)

    def half(self) -> Any:
        return self.astype(np.float16)

    def float(self) -> Any:
        return self.astype(np.float32)

    def double(self) -> Any:
        return self.astype(np.float64)

    def is_floating_point(self) -> Any:
        return self.dtype.kind == "f"

    def is_complex(self) -> Any:
        return self.dtype.kind == "c"

    def is_signed(self) -> Any:
        return self.dtype.kind in "ifc"

    # ---- in place ----------------------------------------------------------------------------

    def add_(self, other, *, alpha=1) -> Any:
        self += other if alpha == 1 else alpha * other
        return self

    def sub_(self, other, *, alpha=1) -> Any:
        self -= other if alpha == 1 else alpha * other
        return self

    def mul_(self, other) -> Any:
        self *= other
        return self

    def div_(self, other) -> Any:
        self /= other
        return self

    def copy_(self, other) -> Any:
        self[...] = other
        return self

    def assign_value(self, value) -> Any:
        self[...] = value
        return self

    def fill_(self, value) -> Any:
        self[...] = value
        return self

    def zero_(self) -> Any:
        self[...] = 0
        return self

    def clamp_(self, min=None, max=None) -> Any:
        self[...] = np.clip(self, min, max)
        return self

    def masked_fill_(self, mask, value) -> Any:
        self[mask] = value
        return self
