"""Functions of each element: arithmetic, powers, exponentials, circles, comparisons, logic.

Integers become floating-point where the function gives such numbers: a Tensor one of float32. Two
operands broadcast and are promoted as those of an operator on Tensors. A derivative that jumps is
0 at the jump (`abs`, `sign`, `floor`, ...), and shared between equal operands of `maximum` and
`minimum`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.ops.arguments import array, beside, choice, floating
from s2s_ad.tensors import Tensor
from s2s_ad.tensors.elementwise import in_array

# ---- arithmetic ----------------------------------------------------------------------------------


def add(input: Any, other: Any) -> Tensor:
    """input + other.

    Example:
        >>> add(Tensor([1.0, 2.0]), 1.0).tolist()
        [2.0, 3.0]
    """
    return array("add", input) + array("add", other, "other")


def sub(input: Any, other: Any) -> Tensor:
    """input - other."""
    return array("sub", input) - array("sub", other, "other")


def mul(input: Any, other: Any) -> Tensor:
    """input * other."""
    return array("mul", input) * array("mul", other, "other")


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; with rounding_mode 'floor' or 'trunc' rounded down or towards 0.

    Raises:
        ArgumentValueError: rounding_mode is another text.
    """
    array("div", input), array("div", other, "other")
    if rounding_mode is None:
        return input / other
    choice("div", rounding_mode, "rounding_mode", ("floor", "trunc"))
    return input // other if rounding_mode == "floor" else np.trunc(input / other)


def floor_divide(input: Any, other: Any) -> Tensor:
    """input // other: the quotient rounded down. Its derivative is 0."""
    return array("floor_divide", input) // array("floor_divide", other, "other")


def remainder(input: Any, other: Any) -> Tensor:
    """input % other: what is left of `floor_divide`; it has the sign of `other`."""
    return array("remainder", input) % array("remainder", other, "other")


def fmod(input: Any, other: Any) -> Tensor:
    """What is left of the quotient rounded towards 0; it has the sign of `input`."""
    array("fmod", input), array("fmod", other, "other")
    return np.fmod(beside("fmod", input, other), beside("fmod", other, input, "other"))


def neg(input: Any) -> Tensor:
    """-input."""
    return -array("neg", input)


def positive(input: Any) -> Tensor:
    """+input."""
    return +array("positive", input)


def abs(input: Any) -> Tensor:
    """The absolute value of each element; its derivative at 0 is 0.

    Example:
        >>> abs(Tensor([-1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return np.abs(array("abs", input))


def sign(input: Any) -> Tensor:
    """-1, 0 or 1 for negative, zero and positive elements."""
    return np.sign(array("sign", input))


def reciprocal(input: Any) -> Tensor:
    """1 / input."""
    return 1 / floating("reciprocal", input)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return array("addcdiv", input) + value * (tensor1 / tensor2)


def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return array("addcmul", input) + value * (tensor1 * tensor2)


def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """input + weight * (end - input): the point between the two."""
    return array("lerp", input) + weight * (end - input)


def maximum(input: Any, other: Any) -> Tensor:
    """The larger of each two elements; nan where one is nan.

    Example:
        >>> maximum(Tensor([1.0, 5.0]), Tensor([2.0, 3.0])).tolist()
        [2.0, 5.0]
    """
    array("maximum", input), array("maximum", other, "other")
    x, y = beside("maximum", input, other), beside("maximum", other, input, "other")
    return np.maximum(in_array(x, y), in_array(y, x))


def minimum(input: Any, other: Any) -> Tensor:
    """The smaller of each two elements; nan where one is nan."""
    array("minimum", input), array("minimum", other, "other")
    x, y = beside("minimum", input, other), beside("minimum", other, input, "other")
    return np.minimum(in_array(x, y), in_array(y, x))


def fmax(input: Any, other: Any) -> Tensor:
    """The larger of each two elements; where one is nan, the other."""
    array("fmax", input), array("fmax", other, "other")
    return np.fmax(beside("fmax", input, other), beside("fmax", other, input, "other"))


def fmin(input: Any, other: Any) -> Tensor:
    """The smaller of each two elements; where one is nan, the other."""
    array("fmin", input), array("fmin", other, "other")
    return np.fmin(beside("fmin", input, other), beside("fmin", other, input, "other"))


# ---- rounding ------------------------------------------------------------------------------------


def floor(input: Any) -> Tensor:
    """Rounded down."""
    return np.floor(array("floor", input))


def ceil(input: Any) -> Tensor:
    """Rounded up."""
    return np.ceil(array("ceil", input))


def trunc(input: Any) -> Tensor:
    """Rounded towards 0."""
    return np.trunc(array("trunc", input))


def round(input: Any, *, decimals: int = 0) -> Tensor:
    """Rounded to the nearest number with `decimals` decimals, halves to even."""
    return np.round(array("round", input), decimals)


def frac(input: Any) -> Tensor:
    """What is left of `trunc`."""
    return array("frac", input) - np.trunc(input)


# ---- powers and exponentials ---------------------------------------------------------------------


def pow(input: Any, exponent: Any) -> Tensor:
    """input ** exponent.

    Example:
        >>> pow(Tensor([1.0, 2.0, 3.0]), 2).tolist()
        [1.0, 4.0, 9.0]
    """
    return array("pow", input) ** array("pow", exponent, "exponent")


def square(input: Any) -> Tensor:
    """input ** 2."""
    return np.square(array("square", input))


def sqrt(input: Any) -> Tensor:
    """The square root; its derivative at 0 is inf."""
    return np.sqrt(floating("sqrt", input))


def rsqrt(input: Any) -> Tensor:
    """1 / sqrt(input)."""
    return 1 / np.sqrt(floating("rsqrt", input))


def exp(input: Any) -> Tensor:
    """e ** input."""
    return np.exp(floating("exp", input))


def exp2(input: Any) -> Tensor:
    """2 ** input."""
    return np.exp2(floating("exp2", input))


def expm1(input: Any) -> Tensor:
    """exp(input) - 1, exact near 0."""
    return np.expm1(floating("expm1", input))


def log(input: Any) -> Tensor:
    """The natural logarithm."""
    return np.log(floating("log", input))


def log2(input: Any) -> Tensor:
    """The logarithm to base 2."""
    return np.log2(floating("log2", input))


def log10(input: Any) -> Tensor:
    """The logarithm to base 10."""
    return np.log10(floating("log10", input))


def log1p(input: Any) -> Tensor:
    """log(1 + input), exact near 0."""
    return np.log1p(floating("log1p", input))


def logaddexp(input: Any, other: Any) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""
    return np.logaddexp(floating("logaddexp", input), floating("logaddexp", other, "other"))


def logaddexp2(input: Any, other: Any) -> Tensor:
    """log2(2**input + 2**other), without overflow."""
    return np.logaddexp2(floating("logaddexp2", input), floating("logaddexp2", other, "other"))


def xlogy(input: Any, other: Any) -> Tensor:
    """input * log(other), and 0 where input is 0."""
    array("xlogy", input), array("xlogy", other, "other")
    return np.where(input == 0, 0, input * np.log(np.where(input == 0, 1, other)))


def hypot(input: Any, other: Any) -> Tensor:
    """sqrt(input**2 + other**2), without overflow."""
    return np.hypot(floating("hypot", input), floating("hypot", other, "other"))


# ---- circles and hyperbolas ----------------------------------------------------------------------


def sin(input: Any) -> Tensor:
    """The sine of an angle in radians.

    Example:
        >>> sin(Tensor([0.0])).tolist()
        [0.0]
    """
    return np.sin(floating("sin", input))


def cos(input: Any) -> Tensor:
    """The cosine of an angle in radians."""
    return np.cos(floating("cos", input))


def tan(input: Any) -> Tensor:
    """The tangent of an angle in radians."""
    return np.tan(floating("tan", input))


def asin(input: Any) -> Tensor:
    """The angle with this sine."""
    return np.arcsin(floating("asin", input))


def acos(input: Any) -> Tensor:
    """The angle with this cosine."""
    return np.arccos(floating("acos", input))


def atan(input: Any) -> Tensor:
    """The angle with this tangent."""
    return np.arctan(floating("atan", input))


def atan2(input: Any, other: Any) -> Tensor:
    """The angle of the point (other, input)."""
    return np.arctan2(floating("atan2", input), floating("atan2", other, "other"))


def sinh(input: Any) -> Tensor:
    """The hyperbolic sine."""
    return np.sinh(floating("sinh", input))


def cosh(input: Any) -> Tensor:
    """The hyperbolic cosine."""
    return np.cosh(floating("cosh", input))


def tanh(input: Any) -> Tensor:
    """The hyperbolic tangent."""
    return np.tanh(floating("tanh", input))


def asinh(input: Any) -> Tensor:
    """The inverse of sinh."""
    return np.arcsinh(floating("asinh", input))


def acosh(input: Any) -> Tensor:
    """The inverse of cosh."""
    return np.arccosh(floating("acosh", input))


def atanh(input: Any) -> Tensor:
    """The inverse of tanh."""
    return np.arctanh(floating("atanh", input))


def sinc(input: Any) -> Tensor:
    """sin(pi * input) / (pi * input), and 1 at 0."""
    return np.sinc(floating("sinc", input))


def deg2rad(x: Any) -> Tensor:
    """Radians of degrees."""
    return np.deg2rad(floating("deg2rad", x, "x"))


def rad2deg(x: Any) -> Tensor:
    """Degrees of radians."""
    return np.rad2deg(floating("rad2deg", x, "x"))


# ---- complex numbers -----------------------------------------------------------------------------


def real(input: Any) -> Tensor:
    """The real part."""
    return np.real(array("real", input))


def imag(input: Any) -> Tensor:
    """The imaginary part."""
    return np.imag(array("imag", input))


def conj(input: Any) -> Tensor:
    """The conjugate."""
    return np.conj(array("conj", input))


def angle(input: Any) -> Tensor:
    """The angle of a complex number."""
    return np.angle(array("angle", input))


# ---- comparisons and logic -----------------------------------------------------------------------


def equal(input: Any, other: Any) -> Tensor:
    """Whether input == other."""
    return array("equal", input) == array("equal", other, "other")


def not_equal(input: Any, other: Any) -> Tensor:
    """Whether input != other."""
    return array("not_equal", input) != array("not_equal", other, "other")


def greater(input: Any, other: Any) -> Tensor:
    """Whether input > other."""
    return array("greater", input) > array("greater", other, "other")


def greater_equal(input: Any, other: Any) -> Tensor:
    """Whether input >= other."""
    return array("greater_equal", input) >= array("greater_equal", other, "other")


def less(input: Any, other: Any) -> Tensor:
    """Whether input < other."""
    return array("less", input) < array("less", other, "other")


def less_equal(input: Any, other: Any) -> Tensor:
    """Whether input <= other."""
    return array("less_equal", input) <= array("less_equal", other, "other")


def isclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether abs(input - other) <= atol + rtol * abs(other)."""
    array("isclose", input), array("isclose", other, "other")
    return np.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


def isfinite(input: Any) -> Tensor:
    """Whether each element is a finite number."""
    return np.isfinite(array("isfinite", input))


def isinf(input: Any) -> Tensor:
    """Whether each element is inf or -inf."""
    return np.isinf(array("isinf", input))


def isnan(input: Any) -> Tensor:
    """Whether each element is nan."""
    return np.isnan(array("isnan", input))


def logical_and(input: Any, other: Any) -> Tensor:
    """Whether both are other than 0."""
    return np.logical_and(array("logical_and", input), array("logical_and", other, "other"))


def logical_or(input: Any, other: Any) -> Tensor:
    """Whether one is other than 0."""
    return np.logical_or(array("logical_or", input), array("logical_or", other, "other"))


def logical_xor(input: Any, other: Any) -> Tensor:
    """Whether exactly one is other than 0."""
    return np.logical_xor(array("logical_xor", input), array("logical_xor", other, "other"))


def logical_not(input: Any) -> Tensor:
    """Whether it is 0."""
    return np.logical_not(array("logical_not", input))


def bitwise_and(input: Any, other: Any) -> Tensor:
    """input & other, bit by bit."""
    return array("bitwise_and", input) & array("bitwise_and", other, "other")


def bitwise_or(input: Any, other: Any) -> Tensor:
    """input | other, bit by bit."""
    return array("bitwise_or", input) | array("bitwise_or", other, "other")


def bitwise_xor(input: Any, other: Any) -> Tensor:
    """input ^ other, bit by bit."""
    return array("bitwise_xor", input) ^ array("bitwise_xor", other, "other")


def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Numbers for nan (0 unless told) and the infinities (the largest numbers unless told)."""
    return np.nan_to_num(
        array("nan_to_num", input), nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf
    )


# ---- other names ---------------------------------------------------------------------------------

absolute = abs
arccos, arccosh, arcsin, arcsinh = acos, acosh, asin, asinh
arctan, arctan2, arctanh = atan, atan2, atanh
divide = true_divide = div
eq, ge, gt, le, lt, ne = equal, greater_equal, greater, less_equal, less, not_equal
floor_div = floor_divide
floor_mod = remainder
inv = reciprocal
multiply, negative, subtract = mul, neg, sub
