"""Values and dtypes on integers, booleans and mixed precision, with a derivative or without one."""

import itertools
import random
import time

import numpy as np
import pytest

from rules.properties import (
    Subject,
    case,
    check_batches,
    check_facts,
    check_value,
    close,
    elementwise_rows,
    functions_named,
    integers,
    mask,
    module,
    real,
    same_dtype,
    spelled,
)
from rules.test_functions import CASES, INTERNAL, ROUNDING
from s2s_ad import jit, jvp, vmap
from s2s_ad.core.builder import describe
from s2s_ad.core.registry import RULES
from s2s_ad.diagnostics import S2SError
from s2s_ad.rules.elementwise import Elementwise
from s2s_ad.rules.unsupported import Refused

DTYPES = [np.bool_, np.int8, np.int64, np.uint8, np.float32, np.float64]
PYTHON = [2, 0.5]


def operands(arity: int) -> list:
    """Every pair of dtypes once, and arrays with Python's numbers."""
    arrays = [np.array([1, 0, 1]).astype(dtype) for dtype in DTYPES]
    if arity == 1:
        return [(x,) for x in arrays]
    pairs = [*itertools.product(arrays, arrays), *itertools.product(arrays, PYTHON)]
    pairs += [(b, a) for a, b in itertools.product(arrays, PYTHON)]
    if arity == 2:
        return pairs
    return [(np.array([True, False, True]), *pair) for pair in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("row", elementwise_rows(), ids=lambda row: spelled(row[0]))
def test_row_on_every_dtype(row):
    check_dtypes(*row, operands(len(row[1].adjoints)))


@pytest.mark.thinned(8)
@pytest.mark.parametrize("row", elementwise_rows(), ids=lambda row: spelled(row[0]))
def test_row_on_some_dtypes(row):
    chosen = operands(len(row[1].adjoints))
    start = elementwise_rows().index(row) % 5
    check_dtypes(*row, chosen if len(chosen) < 9 else chosen[start :: max(1, len(chosen) // 7)])


def check_dtypes(function, rule, arguments) -> None:
    """The value and the dtype are NumPy's; what NumPy refuses is not computed either."""
    names = ", ".join("abc"[: len(rule.adjoints)])
    f = module(f"def f({names}):\n    return {spelled(function)}({names})\n").f
    for given in arguments:
        with np.errstate(all="ignore"):
            try:
                expected = f(*given)
            except (TypeError, ValueError, OverflowError):
                with pytest.raises((TypeError, ValueError, OverflowError, S2SError)):
                    jit(f)(*given)
                continue
            actual = jit(f)(*given)
            what = f"{spelled(function)} of {[getattr(x, 'dtype', x) for x in given]}"
            np.testing.assert_array_equal(actual, expected, err_msg=what)
            same_dtype(actual, expected, what)


UNTESTED = ["np.empty", "np.empty_like"]  # there are no values to compare
UNTESTED += ["np.packbits", "np.unpackbits"]  # see test_bits
# test_python_math has these; test_refusals has max of lengths, test_as_written max and min
ELSEWHERE = {
    int,
    max,
    min,
    random.Random,  # test_draws has these
    random.Random.seed,
    np.random.RandomState,
    np.random.default_rng,
    np.random.seed,
    time.monotonic,
    time.perf_counter,
    time.process_time,
    time.time,
    time.time_ns,
}

NO_DERIVATIVE = [
    case("np.argmax(x, axis=1)", x=real(2, 3)),
    case("np.argmin(x)", x=real(2, 3)),
    case("np.sum(np.flatnonzero(x > 0))", x=real(2, 3)),
    case("np.all(x > 0, axis=0) | np.any(x > 0, axis=0, keepdims=True)", x=real(2, 3)),
    case("np.count_nonzero(x > 0, axis=(0, 1))", x=real(2, 3)),
    case("np.argsort(x, axis=0)", x=real(3, 2)),
    case("x.argsort()", x=real(3)),
    case("scipy.stats.rankdata(x)", x=real(4)),
    case("np.sum(x[0], axis=0) + np.max(x[1], axis=-1)", x=real(3)),
    case("np.linalg.matrix_power(x, np.arange(1, 4)[-1]) + 0 * x", x=real(2, 2)),
    case("sum(np.linalg.matrix_power(x, k) for k in np.arange(3))", x=real(2, 2)),
    case("np.poly(x) * np.arange(len(x) + 1)", x=real(3)),
    case("np.sum(i, axis=0) + np.max(i)", i=integers(2, 3)),
    case("np.mean(i, axis=0) + np.std(i)", i=integers(2, 3)),
    case("np.cumsum(m, axis=1)", m=mask(2, 3)),
    case("np.sort(i)[::-1]", i=integers(4)),
    case("np.diff(m)", m=mask(4)),
    case("np.diff(i, n=2)", i=integers(4)),
    case("np.concatenate([i, m])", i=integers(2), m=mask(3)),
    case("np.stack([i, i]) @ i", i=integers(3)),
    case("np.dot(i, i) + np.inner(i, i) + np.einsum('i,i', i, i)", i=integers(3)),
    case("np.outer(i, m)", i=integers(2), m=mask(3)),
    case("i // 2 + i % 2 + i**2 - (-i) + abs(i) + (i & 1) + (i << 1)", i=integers(3)),
    case("i / 2 + 1 / (i + 1)", i=integers(3)),
    case("np.where(m, i, 0) + np.where(m, 1, 0)", i=integers(3), m=mask(3)),
    case("np.clip(i, 1, 2) + np.maximum(i, 1)", i=integers(3)),
    case("~m & (i > 1) ^ m", i=integers(3), m=mask(3)),
    case("np.repeat(i, 2) + np.tile(i, 2)", i=integers(3)),
    case("np.zeros_like(i) + np.ones_like(i) + np.full_like(i, 2)", i=integers(3)),
    case("np.full_like(i, 2.5) + np.full_like(i, True)", i=integers(3)),
    case("np.full_like(i, 2.5, dtype=np.float32, order='F', subok=False)", i=integers(2, 3)),
    case("np.concatenate([i, m], dtype=np.float32)", i=integers(2), m=mask(3)),
    case("np.stack([i, i], axis=1, dtype=np.int8, casting='unsafe')", i=integers(3)),
    case("np.zeros_like(i, order='F') + np.zeros((2, 3), order='F')", i=integers(2, 3)),
    case("np.packbits(m, axis=1) + np.packbits(m, 1, bitorder='little')", m=mask(3, 4)),
    case("np.maximum.reduce(i, dtype=np.float32)", i=integers(3)),
    case("np.zeros(3, dtype=np.float32) + np.ones(3, dtype=int) * i", i=integers(3)),
    case("np.full(3, 2, dtype=np.float32) * np.eye(3, dtype=np.float32)", i=integers(3)),
    case("np.array([1, 2, 3]) * i + np.array([1.0, 2.0, 3.0], dtype=np.float32)", i=integers(3)),
    case("np.linalg.norm(i, axis=0)", i=integers(3, 2)),
    case("i.astype(np.float32) / 2", i=integers(3)),
    case("np.floor(x) + np.ceil(x) + np.rint(x) + np.trunc(x) + np.sign(x)", x=real(3)),
    case("np.isnan(x) | np.isinf(x) | np.isfinite(x) | np.signbit(x)", x=real(3)),
    case("np.int32(i) + np.int64(i)", i=integers()),
    case("np.int8(i) + np.int16(i) + np.uint8(i) * np.bool(i)", i=integers()),
    case("np.uint16(i) - np.uint32(1) * np.uint64(i)", i=integers(low=1)),
    case("np.trace(i) + np.diagonal(i) + np.tril(i)[0]", i=integers(3, 3)),
]


@pytest.mark.parametrize("each", NO_DERIVATIVE, ids=str)
def test_function_of_integers(each):
    if any(draw.varies for draw in each.inputs.values()):
        f = module(f"def f({', '.join(each.names)}):\n    return {each.text}\n").f
        rng = np.random.default_rng(0)
        samples = [[draw(rng) for draw in each.inputs.values()] for _ in range(3)]
        batch = [np.stack(column) for column in zip(*samples, strict=True)]
        expected = np.stack([f(*sample) for sample in samples])
        close(jit(f)(*samples[0]), expected[0], "value")
        same_dtype(jit(f)(*samples[0]), expected, "value")
        close(vmap(f)(*batch), expected, "vmap")
        same_dtype(vmap(f)(*batch), expected, "vmap")
        return
    subject = Subject(each)
    check_value(subject)
    check_facts(subject)
    check_batches(subject)


def test_every_flat_rule_is_named():
    """Functions without a derivative are in the table above, or are elementwise."""
    named = {f for each in [*NO_DERIVATIVE, *CASES] for f in functions_named(each.text)}
    named |= {getattr(np, getattr(f, "__name__", ""), None) for f in named}
    missing = [
        describe(function)
        for function, rule in RULES.items()
        if rule.flat and not isinstance(rule, Elementwise | Refused) and function not in named
    ]
    known = {describe(each) for each in INTERNAL | ROUNDING | ELSEWHERE}
    assert set(missing) <= known | set(UNTESTED)


def test_bits():
    f = module("def f(m):\n    return np.packbits(m), np.unpackbits(np.packbits(m))\n").f
    m = np.array([True, False, True, True, False, False, True, False])
    for actual, expected in zip(jit(f)(m), f(m), strict=True):
        np.testing.assert_array_equal(actual, expected)
        same_dtype(actual, expected, "bits")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_the_tangent_of_a_converted_number_may_be_a_number_of_python(dtype):
    """The zero from NumPy has no tangent, so that of the difference is Python's."""

    def converted(y):
        return dtype(np.zeros(2).prod() - y)

    def collected(x, n):
        items = [x, 2.0 * x]
        for _ in range(n):
            items.append(dtype(items[-1] * 0.5))
        return items[-1] + dtype(items[0])

    assert jit(collected)(2.0, 3) == collected(2.0, 3) == 2.5
    assert jit(collected)(2.0, 0) == collected(2.0, 0) == 6.0
    value, tangent = jvp(converted, (2.0,), (0.5,))
    assert (value, tangent) == (-2.0, -0.5)
    assert value.dtype == tangent.dtype == dtype


@pytest.mark.parametrize("truths", [np.greater, np.equal, np.isnan])
def test_truths_of_an_array_full_of_one_number(truths):
    """They are no numbers in the dtype of the array whose shape it has."""
    x = np.ones((2, 3))
    operands = [np.float64(0.5)] * (truths.nin - 1)
    found = jit(lambda x: truths(np.full_like(x, 0.31), *operands))(x)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, np.zeros((2, 3), bool))
    assert jit(lambda x: np.sum(np.full_like(x, 0.31) > 0.2))(x) == 6
    assert jit(lambda x: x[np.full_like(x, 0.31) > 0.2].size)(x) == 6
