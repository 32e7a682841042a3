"""The table of elementwise functions: for each operand the text of its adjoint."""

from __future__ import annotations

import operator

import numpy as np

from s2s_ad import runtime
from s2s_ad.core.registry import METHODS, RULES
from s2s_ad.rules.arithmetic import (
    Clip,
    Difference,
    LogOfSum,
    Masked,
    Multiplication,
    Negative,
    Power,
    PowerSlope,
    Quotient,
    RealPower,
    Square,
    Sum,
)
from s2s_ad.rules.elementwise import elementwise, flat
from s2s_ad.rules.masks import Extreme, Halves, Selection, Where
from s2s_ad.rules.outputs import Output

elementwise(
    (abs, np.absolute),
    "y_bar * np.sign(x)",
    of_complex=("runtime.times_sign(y_bar, x)",),  # y_bar * x / abs(x), and 0 at 0
    tangents=("np.real(y_bar * np.conj(np.sign(x)))",),
    total=True,
    never_negative=True,
)
elementwise((operator.add, np.add), "y_bar", "y_bar", kind=Sum, identity={0: 0, 1: 0}, total=True)
# A product of two differences has no rounding where x is close to 1, as 1 - x**2 has.
elementwise(
    np.arccos,
    "-y_bar / np.sqrt((1 - x) * (1 + x))",
    of_complex=("-y_bar / np.sqrt(1 - x**2)",),
    domain="unit",
)
elementwise(
    np.arccosh,
    "y_bar / (np.sqrt(x - 1) * np.sqrt(x + 1))",  # of complex numbers the branch left of 0, too
    domain="above one",
)
elementwise(
    np.arcsin,
    "y_bar / np.sqrt((1 - x) * (1 + x))",
    of_complex=("y_bar / np.sqrt(1 - x**2)",),
    domain="unit",
)
elementwise(np.arcsinh, "y_bar / np.sqrt(x**2 + 1)", total=True)
elementwise(np.arctan, "y_bar / (1 + x**2)", total=True, settles={0: "np.isfinite(x)"})
elementwise(np.arctan2, "y_bar / (a**2 + b**2) * b", "-y_bar / (a**2 + b**2) * a")
elementwise(np.arctanh, "y_bar / ((1 - x) * (1 + x))", domain="unit")
elementwise(np.cbrt, "y_bar / (3 * y**2)", domain="positive")
# np.clip passes the derivative on the closed interval, as torch.clamp does.
elementwise(
    np.clip,
    "selected(a == y, y_bar)",
    "selected(a < a_min, y_bar)",
    "selected(a > a_max, y_bar)",
    operands=("a", "a_min", "a_max"),
    kind=Clip,
    dtype_of=slice(None),
    total=True,
)
# A zero a has no sign of its own here: its derivative is taken to be 0.
elementwise(np.copysign, "y_bar * (np.sign(a) * np.copysign(1.0, b))", None)
elementwise(np.cos, "-y_bar * np.sin(x)", total=True)
elementwise(np.cosh, "y_bar * np.sinh(x)", overflows=True)
elementwise((np.deg2rad, np.radians), "np.deg2rad(y_bar)", total=True)
EXPONENTIAL = {"overflows": True, "settles": {0: "x > -np.inf"}}
VANISHING = {**EXPONENTIAL, "vanishes": {0: (operator.gt, -np.inf)}}
elementwise(np.exp, "y_bar * y", never_negative=True, rises=True, **VANISHING)
elementwise(np.exp2, "y_bar * (math.log(2.0) * y)", **VANISHING)
elementwise(np.expm1, "y_bar * (y + 1)", **EXPONENTIAL)
elementwise(np.fabs, "y_bar * np.sign(x)", total=True)
# As np.maximum and np.minimum, but a number goes before nan.
elementwise(
    np.fmax,
    "runtime.where_larger(y_bar, a, b, True)",
    "runtime.where_larger(y_bar, b, a, True)",
    kind=Extreme,
    alone=("selected(y > b, y_bar)", "selected(y > a, y_bar)"),
    largest=True,
    total=True,
)
elementwise(
    np.fmin,
    "runtime.where_smaller(y_bar, a, b, True)",
    "runtime.where_smaller(y_bar, b, a, True)",
    kind=Extreme,
    alone=("selected(y < b, y_bar)", "selected(y < a, y_bar)"),
    largest=False,
    total=True,
)
elementwise(np.fmod, "y_bar", "-y_bar * np.trunc(a / b)", domain="positive")
elementwise(np.heaviside, None, "np.where(a == 0, y_bar, 0.0)", total=True)
elementwise(np.hypot, "y_bar * (a / y)", "y_bar * (b / y)")
# The derivatives of I0 are means of cos(t)**n * exp(x * cos(t)): Abramowitz and Stegun 9.6.16.
elementwise(np.i0, "y_bar * runtime.i0_derivative(x)")
elementwise(
    runtime.i0_derivative,
    "y_bar * runtime.i0_derivative(x, order + 1)",
    options=", order=1",
)
elementwise(np.ldexp, "np.ldexp(y_bar, b)", None)
elementwise(np.log, "y_bar / x", domain="positive", rises=True)
elementwise(np.log10, "y_bar / (math.log(10.0) * x)", domain="positive")
elementwise(np.log1p, "y_bar / (1 + x)", domain="positive", rises=True)
elementwise(np.log2, "y_bar / (math.log(2.0) * x)", domain="positive")
# Where both operands are -inf, so is the result: their difference is no number.
elementwise(
    np.logaddexp,
    "y_bar * np.exp(a - subtractable(y))",
    "y_bar * np.exp(b - subtractable(y))",
    kind=LogOfSum,
)
elementwise(
    np.logaddexp2,
    "y_bar * np.exp2(a - subtractable(y))",
    "y_bar * np.exp2(b - subtractable(y))",
    kind=LogOfSum,
)
elementwise(
    np.maximum,
    "runtime.where_larger(y_bar, a, b)",
    "runtime.where_larger(y_bar, b, a)",
    kind=Extreme,
    alone=("selected(y > b, y_bar)", "selected(y > a, y_bar)"),
    largest=True,
    total=True,
)
elementwise(
    np.minimum,
    "runtime.where_smaller(y_bar, a, b)",
    "runtime.where_smaller(y_bar, b, a)",
    kind=Extreme,
    alone=("selected(y < b, y_bar)", "selected(y < a, y_bar)"),
    largest=False,
    total=True,
)
elementwise(
    np.nan_to_num,
    "selected(np.isfinite(x), y_bar)",
    options=", copy=True, nan=0.0, posinf=None, neginf=None",
    kind=Masked,
    total=True,
)
elementwise(np.nextafter, "y_bar", None, total=True)
elementwise((operator.mod, np.remainder), "y_bar", "-y_bar * np.floor(a / b)", domain="positive")
for each in (operator.mod, np.remainder):
    RULES[each].remainder = True
elementwise(
    (operator.mul, np.multiply),
    "y_bar * b",
    "y_bar * a",
    kind=Multiplication,
    total=True,
    identity={0: 1, 1: 1},
)
elementwise((operator.neg, np.negative), "-y_bar", kind=Negative, total=True)
elementwise((operator.pos, np.positive), "y_bar", total=True)
elementwise(
    (operator.pow, np.power, np.float_power),
    "y_bar * (b * a ** (b - 1))",  # where b cannot be 0: see `power_slope`
    "y_bar * (y * logarithm(a))",
    kind=Power,
    domain="positive",
)
elementwise(
    runtime.real_power,
    "y_bar * (b * a ** (b - 1))",
    "y_bar * (y * logarithm(a))",
    kind=RealPower,
    dtype_of=slice(None),
    domain="positive",
)
elementwise(
    runtime.power_slope,
    "y_bar * (b * runtime.power_slope(a, e, e - (e != 0)))",
    "y_bar * (a ** (b - 1) * (1 + b * logarithm(a)))",
    None,
    operands=("a", "b", "e"),
    kind=PowerSlope,
    dtype_of=slice(None),
    domain="positive",
)
elementwise((np.rad2deg, np.degrees), "np.rad2deg(y_bar)", total=True)
elementwise(np.reciprocal, "-y_bar * y**2", domain="positive", settles={0: "np.isfinite(x)"})
elementwise(np.sin, "y_bar * np.cos(x)", total=True)
# Of any order: x * y' + y = cos(pi * x), differentiated again and again.
elementwise(np.sinc, "y_bar * runtime.sinc_derivative(x)", total=True)
elementwise(
    runtime.sinc_derivative,
    "y_bar * runtime.sinc_derivative(x, order + 1)",
    options=", order=1",
    total=True,
)
elementwise(np.sinh, "y_bar * np.cosh(x)", overflows=True)
elementwise(np.sqrt, "y_bar * (0.5 / y)", domain="positive", never_negative=True, rises=True)
elementwise(np.square, "y_bar * (2 * x)", kind=Square, total=True, never_negative=True)
elementwise(
    (operator.sub, np.subtract), "y_bar", "-y_bar", kind=Difference, identity={1: 0}, total=True
)
elementwise(np.tan, "y_bar * (1 + y**2)", domain="unit")
elementwise(np.tanh, "y_bar * (1 - y**2)", total=True, settles={0: "np.isfinite(x)"})
elementwise(
    (operator.truediv, np.divide),
    "y_bar / b",
    "-y_bar * (y / b)",
    kind=Quotient,
    domain="positive",
    settles={1: "np.isfinite(b)"},
    vanishes={1: (np.isfinite,)},
)
elementwise(
    np.where,
    None,
    "np.where(condition, y_bar, 0.0)",
    "np.where(condition, 0.0, y_bar)",
    kind=Where,
    chosen=(1, 2),
    dtype_of=slice(1, 3),
    total=True,
)

# np.where and the adjoints of np.maximum and its kin, written as functions that are fast.
OF_LARGER = {"operands": ("value", "a", "b"), "options": ", skip_nan=False", "total": True}
OF_LARGER |= {"kind": Selection, "chosen": (0,)}
elementwise(
    runtime.where_larger,
    "runtime.where_larger(y_bar, a, b, skip_nan)",
    None,
    None,
    steps=(runtime.halves_larger, runtime.by_halves),
    **OF_LARGER,
)
elementwise(
    runtime.where_smaller,
    "runtime.where_smaller(y_bar, a, b, skip_nan)",
    None,
    None,
    steps=(runtime.halves_smaller, runtime.by_halves),
    **OF_LARGER,
)
elementwise(
    runtime.by_halves,
    "runtime.by_halves(y_bar, halves)",
    None,
    operands=("value", "halves"),
    kind=Selection,
    chosen=(0,),
    total=True,
)
flat(2, runtime.halves_larger, kind=Halves, step_of=runtime.where_larger, total=True)
flat(2, runtime.halves_smaller, kind=Halves, step_of=runtime.where_smaller, total=True)

# One item of the tuples that np.frexp and np.modf give.
elementwise(
    runtime.frexp_mantissa,
    "np.ldexp(y_bar, -runtime.frexp_exponent(x))",
    kind=Output,
    of=(np.frexp, 0),
)
elementwise(runtime.modf_fraction, "y_bar", kind=Output, of=(np.modf, 0))

TOTAL = {"total": True}
flat(1, np.bitwise_count, np.ceil, np.fix, np.floor, np.invert, np.iscomplex, **TOTAL)
flat(1, np.isfinite, np.isinf, np.isnan, np.isneginf, np.isposinf, np.isreal, **TOTAL)
flat(1, np.logical_not, np.rint, np.signbit, np.spacing, np.trunc, **TOTAL)
flat(1, operator.invert, **TOTAL)
flat(1, np.around, np.round, operands=("a",), options=", decimals=0", **TOTAL)
flat(1, runtime.frexp_exponent, kind=Output, of=(np.frexp, 1), **TOTAL)
flat(2, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.equal, np.gcd, **TOTAL)
flat(2, np.greater, np.greater_equal, np.lcm, np.left_shift, np.less, np.less_equal, **TOTAL)
flat(2, np.logical_and, np.logical_or, np.logical_xor, np.not_equal, np.right_shift, **TOTAL)
flat(2, operator.and_, operator.eq, operator.ge, operator.gt, operator.le, **TOTAL)
flat(2, operator.lt, operator.ne, operator.or_, operator.xor, **TOTAL)
for _function in (np.isfinite, np.isinf, np.isnan, np.isneginf, np.isposinf, np.nan_to_num):
    RULES[_function].asks_finite = True
for _function in (
    *(np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal),
    *(operator.eq, operator.ge, operator.gt, operator.le, operator.lt, operator.ne),
):
    RULES[_function].compares = True
for _function in (abs, np.absolute, np.fabs):
    RULES[_function].is_size = True
for _function in (np.logical_and, operator.and_):
    RULES[_function].shared_truth = True
for _function in (np.logical_or, operator.or_):
    RULES[_function].shared_truth = False
RULES[np.logical_not].negates = True
for _function in (
    *(abs, np.absolute, np.isfinite, np.isinf, np.isnan),
    *(np.logical_and, np.logical_not, np.logical_or),
    *(operator.eq, operator.ge, operator.gt, operator.le, operator.lt, operator.ne),
):
    RULES[_function].unasked = True
flat(2, operator.lshift, operator.rshift)  # of Python's ints, by less than 0, is an error
flat(2, np.floor_divide, operator.floordiv)
flat(2, np.isclose, options=", rtol=1e-05, atol=1e-08, equal_nan=False", **TOTAL)

METHODS |= {"clip": np.clip, "round": np.round}
