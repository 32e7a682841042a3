"""Functions with axes, shapes and options: a table of calls, each checked in every mode.

A function that is registered with a derivative and named by no case fails `test_every_rule`.
"""

import numpy as np
import pytest

from rules.cases import linear_algebra, scipy_linalg, shapes, ufuncs
from rules.cases.complex_numbers import OF_COMPLEX
from rules.cases.fourier import FOURIER
from rules.cases.padding import PADDING
from rules.cases.reductions import REDUCTIONS
from rules.cases.scans import SCANS
from rules.cases.searching import SEARCHING
from rules.cases.signals import SIGNALS
from rules.cases.statistics import STATISTICS
from rules.properties import (
    case,
    check_all,
    functions_named,
    integers,
    module,
    number,
    real,
    some_slow,
)
from rules.test_indexing import INDEXING
from rules.test_products import PRODUCTS
from s2s_ad import grad, runtime
from s2s_ad.core.builder import describe
from s2s_ad.core.homes import module_of
from s2s_ad.core.registry import METHODS, RULES
from s2s_ad.rules.draws import Draw
from s2s_ad.rules.elementwise import Elementwise

LIKE = {"general": False}  # needs the rank of its argument

SHAPES = [
    case("np.reshape(x, (3, 2))", x=real(2, 3)),
    case("np.reshape(x, -1)", x=real(2, 3)),
    case("np.reshape(x, (-1, 2))", x=real(2, 3)),
    case("np.reshape(x, (3, 2), order='F')", x=real(2, 3)),
    case("x.reshape(-1, 2, order='F', copy=True)", x=real(2, 3)),
    case("np.ravel(x, 'F')", x=real(2, 3)),
    case("np.reshape(x, (1, 6, 1))", x=real(2, 3)),
    case("np.reshape(x, (1,))", x=real()),
    case("np.reshape(x, ())", x=real(1)),
    case("np.reshape(x, (0, 2))", x=real(2, 0)),
    case("x.reshape(3, -1)", x=real(2, 3), **LIKE),
    case("x.reshape((x.shape[1], x.shape[0]))", x=real(2, 3), **LIKE),
    case("np.ravel(x) * 2", x=real(2, 3)),
    case("x.flatten() + x.ravel()", x=real(2, 3), **LIKE),
    case("x.copy() + np.copy(x)", x=real(2, 3), **LIKE),
    case("x.T", x=real(2, 3)),
    case("x.T", x=real(2, 3, 4)),
    case("np.transpose(x)", x=real(3)),
    case("np.transpose(x, (1, 2, 0))", x=real(2, 3, 4)),
    case("np.transpose(x, (-1, 0, 1))", x=real(2, 3, 4)),
    case("x.transpose(0, 2, 1)", x=real(2, 3, 4), **LIKE),
    case("x.transpose((0, 2, 1))", x=real(2, 3, 4), **LIKE),
    case("np._core.umath.clip(x, -0.5, 0.75)", x=real(2, 3)),
    case("x.transpose([0, 2, 1])", x=real(2, 3, 4), **LIKE),
    case("x.transpose(None)", x=real(2, 3), **LIKE),
    case("np.moveaxis(x, 0, -1)", x=real(2, 3, 4), **LIKE),
    case("np.moveaxis(x, (0, 1), (2, 0))", x=real(2, 3, 4), **LIKE),
    case("np.swapaxes(x, 0, -1)", x=real(2, 3, 4), **LIKE),
    case("x.swapaxes(-1, -2)", x=real(2, 3, 4), **LIKE),
    case("np.expand_dims(x, 0)", x=real(2, 3)),
    case("np.expand_dims(x, ())", x=real(2, 3)),
    case("np.expand_dims(x, (0, -1))", x=real(2, 3)),
    case("np.expand_dims(x, -2)", x=real(3)),
    case("np.squeeze(x)", x=real(1, 3, 1)),
    case("np.squeeze(x, axis=0)", x=real(1, 3)),
    case("np.squeeze(x, axis=(0, -1))", x=real(1, 3, 1)),
    case("x.squeeze(1)", x=real(3, 1), **LIKE),
    case("np.broadcast_to(x, (2, 3))", x=real(3)),
    case("np.broadcast_to(x, (2, 3))", x=real(2, 1)),
    case("np.broadcast_to(x, (2, 3, 4))", x=real(3, 1)),
    case("np.broadcast_to(x, (0, 3))", x=real(3)),
    case("np.broadcast_to(x, (2,))", x=real()),
    case("np.flip(x)", x=real(2, 3)),
    case("np.flip(x, 0)", x=real(2, 3)),
    case("np.flip(x, axis=(0, -1))", x=real(2, 3, 2)),
    case("np.fliplr(x) + np.flipud(x)", x=real(2, 3)),
    case("np.roll(x, 1)", x=real(3)),
    case("np.roll(x, 1)", x=real(2, 3)),
    case("np.roll(x, -1, axis=1)", x=real(2, 3)),
    case("np.roll(x, (1, 2), axis=(0, 1))", x=real(2, 3)),
    case("np.roll(x, 4, axis=-1)", x=real(2, 3)),
    case("np.roll(x, y)", x=real(4), y=real()),
    case("x.astype(np.float64) * 2", x=real(3), **LIKE),
    case("np.tril(x)", x=real(3, 3)),
    case("np.triu(x, 1)", x=real(2, 3)),
    case("np.tril(x, k=-1)", x=real(2, 3, 4)),
    case("np.diagonal(x)", x=real(3, 3), **LIKE),
    case("np.diagonal(x, 1)", x=real(3, 4), **LIKE),
    case("np.diagonal(x, -1)", x=real(3, 4), **LIKE),
    case("np.diagonal(x, 0, 1, 2)", x=real(2, 3, 3), **LIKE),
    case("np.diagonal(x, 1, 0, 2)", x=real(3, 2, 4), **LIKE),
    case("np.diagonal(x, axis1=-1, axis2=0)", x=real(3, 2, 3), **LIKE),
    case("np.diagonal(x, offset=1, axis1=2, axis2=1)", x=real(2, 3, 4), **LIKE),
    case("np.trace(x)", x=real(3, 3), **LIKE),
    case("np.trace(x)", x=real(2, 4), **LIKE),
    case("np.trace(x)", x=real(2, 3, 4), **LIKE),
    case("np.diag(x)", x=real(3), **LIKE),
    case("np.diag(x)", x=real(3, 4), **LIKE),
    case("np.diag(x, 1)", x=real(3, 4), **LIKE),
]

JOINING = [
    case("np.concatenate([x, y])", x=real(2, 3), y=real(1, 3)),
    case("np.concatenate([x, y], axis=1)", x=real(2, 3), y=real(2, 1)),
    case("np.concatenate((x, y, x), axis=-1)", x=real(2, 3), y=real(2, 2), **LIKE),
    case("np.concatenate([x, y], axis=None)", x=real(2, 3), y=real(2), **LIKE),
    case("np.concatenate([x, y])", x=real(0), y=real(3)),
    case("np.append(x, y)", x=real(3), y=real(2)),
    case("np.append(x, y, axis=1)", x=real(2, 3), y=real(2, 1)),
    case("np.stack([x, y])", x=real(2, 3), y=real(2, 3)),
    case("np.stack([x, 2 * y], axis=-1)", x=real(3), y=real(3), **LIKE),
    case("np.stack([x, y], axis=1)", x=real(2, 3), y=real(2, 3)),
    case("np.stack([x, y])", x=real(), y=real()),
    case("np.array([x, y])", x=real(), y=real()),
    case("np.array([[x, 1.0], [y, x * y]])", x=real(), y=number()),
    case("a @ np.concatenate([y, np.array([x, 1.0])])", a=real(2, 4), y=real(2), x=real()),
    case("np.asarray(x) + np.array(x)", x=real(3)),
    case("np.vstack([x, y])", x=real(3), y=real(2, 3), **LIKE),
    case("np.hstack([x, y])", x=real(2), y=real(3), **LIKE),
    case("np.hstack([x, y])", x=real(2, 2), y=real(2, 3), **LIKE),
    case("np.column_stack([x, y])", x=real(2), y=real(2, 3), **LIKE),
    case("np.repeat(x, 2)", x=real(2, 3), **LIKE),
    case("np.repeat(x, 3, axis=0)", x=real(2, 3), **LIKE),
    case("np.repeat(x, 2, axis=-1)", x=real(2, 3), **LIKE),
    case("x.repeat(2)", x=real(3), **LIKE),
    case("np.repeat(x, 0, axis=0)", x=real(2, 3), **LIKE),
    case("np.repeat(x, 1, axis=0)", x=real(2, 3), **LIKE),
    case("np.repeat(x, 2)", x=real(), **LIKE),
    case("np.repeat(x, 2, axis=0)", x=real(1, 3), **LIKE),
    case("np.tile(x, 2)", x=real(3), **LIKE),
    case("np.tile(x, 2)", x=real(2, 3), **LIKE),
    case("np.tile(x, (2, 1))", x=real(2, 3), **LIKE),
    case("np.tile(x, (2, 3))", x=real(3), **LIKE),
    case("np.tile(x, (2, 1, 3))", x=real(2, 1), **LIKE),
    case("np.tile(x, (0, 2))", x=real(2, 3), **LIKE),
    case("np.tile(x, 3)", x=real(), **LIKE),
    case("np.split(x, 3)[1] * np.split(x, 3)[2]", x=real(6), **LIKE),
    case("np.split(x, 2, axis=1)[0]", x=real(3, 4), **LIKE),
    case("np.concatenate(np.split(x, [1, 3], axis=-1)[::-1], axis=1)", x=real(2, 4), **LIKE),
]

CREATION = [
    case("x * np.ones((2, 3)) + np.zeros(3) + np.eye(2, 3)", x=real(2, 3)),
    case("x * np.arange(3) + np.linspace(0.0, 1.0, 3)", x=real(3)),
    case("x * np.arange(len(x)) + np.ones(x.shape)", x=real(3), **LIKE),
    case("np.sum(np.arange(float(x[0]), x[1] + 9.2, 1.3) ** 2)", x=real(2)),
    case("np.sum(np.cos(np.arange(float(x[0]), 9.2, 1.5 + x[1] ** 2)))", x=real(2)),
    case("np.sum(np.arange(float(x[0]) ** 2 + 3.1) ** 2 * x[1])", x=real(2)),
    case("np.arange(float(x[1]), 2.5 + x[1])[0] * x", x=real(2)),
    case("np.full((2, 3), x) + np.full(3, 2.0)", x=real()),
    case("np.full((2, 3), x)", x=real(3)),
    case("np.full(3, x)", x=number()),
    case("np.full(3, x, dtype=float)", x=number()),
    case("np.full_like(y, x) * y", x=number(), y=real(2, 3)),
    case("np.full_like(y, x) * y", x=real(3), y=real(2, 3)),
    case("np.zeros_like(x) + np.ones_like(x) * x", x=real(2, 3)),
    case("x / np.size(x) + x * np.shape(x)[0] + x * np.ndim(x)", x=real(2, 3), **LIKE),
    case("x * x.size + x * x.shape[1] + x * x.ndim", x=real(2, 3), **LIKE),
    case("np.identity(3) * x", x=real(3)),
    case("np.concatenate([np.empty(0), x])", x=real(3)),
    case("np.linspace(a, b, 4)", a=real(), b=real(), **LIKE),
    case("np.linspace(a, b, 3, endpoint=False)", a=number(), b=number(), **LIKE),
    case("np.linspace(a, b, 3, axis=-1)", a=real(2, 1), b=real(4), **LIKE),
    case("np.linspace(a, 2.0, 3)", a=real(2), **LIKE),
    case("np.linspace(1, b, 3, retstep=True)[1]", b=real(2), **LIKE),
    case("float(x) * y", x=number(), y=real(3), **LIKE),
    case("np.float64(x) * y", x=number(), y=real(3)),
    case("x * i + i", x=real(3), i=integers(3)),
    case("np.take(x, i, axis=1)", x=real(2, 3), i=integers(4), **LIKE),
    case("np.take(x, i)", x=real(2, 3), i=integers(2, 2), **LIKE),
    case("x.take(i)", x=real(3), i=integers(4), **LIKE),
    case("np.take_along_axis(x, i, axis=1)", x=real(2, 3), i=integers(2, 4), **LIKE),
    case("np.take_along_axis(x, i, axis=0)", x=real(3, 2), i=integers(2, 2), **LIKE),
    case("np.take_along_axis(x, i, axis=1)", x=real(3, 3), i=integers(3, 1), **LIKE),
    case("np.take_along_axis(x, i, axis=1)", x=real(3, 3), i=integers(1, 2), **LIKE),
    case("np.take_along_axis(x, i, axis=None)", x=real(3, 2), i=integers(2), **LIKE),
]

CASES = PADDING + REDUCTIONS + SEARCHING + STATISTICS + SHAPES + JOINING + SCANS + CREATION
CASES += shapes.SHAPES + SIGNALS + FOURIER + OF_COMPLEX + ufuncs.CASES + linear_algebra.CASES

EVERY = 22  # of the cases is checked by `make test`, all by `make test-all`

# What the rules of other functions emit.
INTERNAL = {each for each in vars(runtime).values() if callable(each)}
ROUNDING = {np.float16, np.float32}  # no difference quotient of float64 can be had of these
COMPLEX = {complex, np.complex64, np.complex128}  # test_complex has these


@pytest.mark.thinned(36)
@pytest.mark.parametrize("each", some_slow(CASES, EVERY))
def test_function(each):
    check_all(each)


@pytest.mark.slow
@pytest.mark.parametrize("each", CASES, ids=str)
def test_function_at_every_batch_axis(each):
    check_all(each, thorough=True)


def test_every_rule():
    """No function is registered as differentiable without a case."""
    cases = CASES + INDEXING + PRODUCTS + scipy_linalg.CASES
    named = {function for each in cases for function in functions_named(each.text)}
    named |= {METHODS.get(getattr(function, "__name__", "")) for function in named}
    missing = [
        describe(function)
        for function, rule in RULES.items()
        if not rule.flat
        and not isinstance(rule, Elementwise | Draw)  # test_python_math has what draws numbers
        and module_of(function) in (None, "scipy.linalg")  # others: test_scipy etc.
        and function not in INTERNAL | ROUNDING | COMPLEX
        and getattr(function, "__module__", "") != "cmath"  # test_python_cmath has these
        and getattr(function, "__module__", "") != "s2s_ad.rules.scipy_sparse"  # test_scipy_sparse
        and function not in named
    ]
    assert not missing


@pytest.mark.parametrize("kind", ["np.float16", "np.float32"])
def test_conversion_to_fewer_digits(kind):
    """The derivative of the rounding is one, and comes back in the dtype of the input."""
    f = module(f"def f(x, y):\n    return np.sum({kind}(x) * y)\n").f
    slope = grad(f)(np.float64(2.0), np.array([1.5, 2.5]))
    assert slope == 4.0
    assert slope.dtype == np.float64


@pytest.mark.parametrize(
    "row", [[2.0, 3.0, 5.0], [0.0, 3.0, 5.0], [0.0, 0.0, 5.0], [1e-200, 1e-200, 3.0], [1e200] * 3]
)
def test_a_product_too_small_or_too_large(row):
    """What a product is without one of its factors is found whatever the whole product is."""
    f = module("def f(x):\n    return np.sum(np.prod(x, axis=1))\n").f
    x = np.array([row, [2.0, 4.0, 8.0]])
    expected = [[np.prod(np.delete(each, place)) for place in range(3)] for each in x]
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-14)
