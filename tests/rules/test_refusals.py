"""What a rule cannot do right it refuses, in place; and functions that are captured."""

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import grad, jit, vmap
from s2s_ad.core.registry import RULES
from s2s_ad.diagnostics import S2SError
from s2s_ad.rules.elementwise import Elementwise

X = np.arange(6.0).reshape(2, 3)

#: spread of fewer numbers than `ddof` asks for: NumPy divides by zero, never by less
SPREADS = [
    ("np.var(x, ddof=1)", (0,)),
    ("np.var(x, ddof=1)", (1,)),
    ("np.var(x, axis=0, ddof=2)", (1, 2)),
    ("np.var(x, axis=0, ddof=2)", (2, 2)),
    ("np.std(x, where=x > 9.0, ddof=1)", (3,)),
    ("np.cov(x)", (2, 0)),
    ("np.cov(x, ddof=2)", (2, 1)),
    ("np.cov(x, ddof=2, fweights=np.ones(1, int))", (2, 1)),
]


@pytest.mark.parametrize("text, shape", SPREADS)
@pytest.mark.filterwarnings("ignore")
def test_spread_of_too_few(text, shape):
    f = module(f"def f(x):\n    return {text}\n").f
    x = np.arange(np.prod(shape, dtype=float)).reshape(shape)
    np.testing.assert_array_equal(jit(f)(x), f(x))
    np.testing.assert_array_equal(vmap(f)(np.stack([x, x])), np.stack([f(x), f(x)]))


CALLS = [
    ("np.sum(x, axis=5)", "axis"),
    ("np.sum(x, bogus=1)", "bogus"),
    ("np.max(x, where=x > 0)", "initial"),
    ("np.cumulative_sum(x)", "axis is required"),
    ("np.gradient(x, 1.0, 2.0, 3.0)", "number of arguments"),
    ("np.reshape(x, (3, 2), order='A')", "order"),
    ("np.transpose(x, (0, 1, 2))", "axes"),
    ("np.swapaxes(x, 0, 7)", "out of range"),
    ("np.repeat(x, [1, 2], axis=0)", "number of repeats"),
    ("np.linalg.norm(x, 3)", "a norm of matrices with ord=3"),
    ("np.linalg.norm(x, 'nuc', axis=0)", "a norm of vectors with ord='nuc'"),
    ("np.linalg.solve(x[0], x[0])", "rank 1"),
    ("np.matmul(x, 2.0)", "matmul"),
    ("x @ np.ones((1, 3))", "lengths"),
    ("np.einsum('ij->', x, dtype=np.float32)", "Cannot cast"),
    ("np.concatenate([x, x], dtype=int)", "Cannot cast"),
    ("np.matmul(x, x.T, where=x[:, :1] > 0)", "where"),
    ("np.add(x, np.arange(3), casting='no')", "cast"),
    ("np.einsum('ijk->i', x)", "rank 2"),
    ("np.abs(np.fft.ifft2(x, out=np.zeros((2, 3), complex)))", "leaves the array"),
    ("np.split(x, 3)[3]", ""),
    ("x[0, 0, 0]", "too many indices"),
    ("x[0.5]", "index"),
    ("np.nditer(x)", "in the order in which they stand in memory"),
    ("next(x)", "an iterator"),
    ("np.packbits(x > 0, axis=2)", "axis"),
    ("np.poly(x[0] * 1j)", "conjugate pairs"),
    ("scipy.linalg.pinv(x, atol=0.1)", "atol"),
    ("scipy.linalg.pinvh(x[:, :2], 0.1)", "atol"),
    ("np.clip(x, 0, 1, 2, 3, 4)", ""),
    ("np.matmul(x, x.T, where=True)", "where"),
    ("np.ravel(x, order='Z')", "order must be"),
    ("x.copy(order='Z')", "order must be"),
    ("x.astype(float, order='')", "order must be"),
    ("x * np.ones((2, 3), order='Q')", "order must be"),
    ("np.sin(x, order='CF')", "order must be"),
]


@pytest.mark.parametrize("text, said", CALLS)
def test_call_that_is_refused(text, said):
    f = module(f"def f(x):\n    return np.sum({text})\n").f
    with pytest.raises(S2SError) as caught:
        grad(f)(X)
    assert said in str(caught.value)
    assert text in caught.value.origin.text
    assert caught.value.origin.text[caught.value.origin.column :]


@pytest.mark.parametrize("at", ["np.add.at", "np.subtract.at"])
@pytest.mark.parametrize("read", ["x * a", "x"], ids=["read", "not read"])
def test_complex_values_added_to_real_numbers(at, read):
    """NumPy raises, so do we: whether the sum is read or not."""
    text = (
        f"def f(x):\n    a = np.zeros(3)\n    {at}(a, [0, 1], x[0, :2] * 1j)\n    return {read}\n"
    )
    with pytest.raises(S2SError, match="a complex value in an array of real numbers") as caught:
        grad(module(text).f)(X)
    assert at in caught.value.origin.text


def test_diagonal_of_axes_of_different_length():
    """Lengths are not known when code is generated: NumPy says it when it runs."""
    f = module("def f(x):\n    return np.sum(np.einsum('ii->i', x))\n").f
    with pytest.raises(ValueError, match="don't match"):
        grad(f)(X)


BATCHES = [
    ("x[x > 0]", "what f returns could have another shape for each sample"),
    ("x[:i]", "what f returns could have another shape for each sample"),
    ("np.arange(i) * 1.0", "np.arange"),
    ("np.zeros(i) + x[0]", ""),
    ("np.reshape(x, (i, 1))", ""),
]


@pytest.mark.parametrize("text, said", BATCHES)
def test_batch_that_is_refused(text, said):
    """The samples' results could have different shapes."""
    f = module(f"def f(x, i):\n    return {text}\n").f
    with pytest.raises(S2SError) as caught:
        vmap(f)(np.ones((3, 2)), np.array([0, 1, 1]))
    assert said in str(caught.value)
    assert text in caught.value.origin.text


BITS = np.array([1, 0, 1], dtype=np.uint8)


@pytest.mark.parametrize("text", ["np.packbits(BITS)", "np.unpackbits(BITS, bitorder='little')"])
def test_bits(text):
    """They are constants to a derivative."""
    space = module(f"def f(x):\n    return np.sum(x * np.sum({text}))\n")
    space.BITS = BITS
    np.testing.assert_array_equal(grad(space.f)(X), np.full(X.shape, eval(text).sum()))


def test_roots_of_a_polynomial_without_its_first_coefficient():
    f = module("def f(x):\n    return np.sum(np.abs(np.roots(x)))\n").f
    with pytest.raises(ValueError, match="first coefficient is zero"):
        grad(f)(np.array([0.0, 1.0, 2.0]))


def test_quotient_by_a_polynomial_of_higher_degree():
    f = module("def f(x, y):\n    return np.polydiv(x, y)\n").f
    x, y = np.array([1.0, 2.0]), np.array([3.0, 1.0, 1.0])
    for actual, expected in zip(jit(f)(x, y), f(x, y), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_captured_function():
    """One piece of code that calls the function it closes over: each closure gets its own."""
    space = module(
        "def applied(function):\n"
        "    def apply(x):\n"
        "        return np.sum(function(x))\n"
        "    return apply\n"
    )
    x = np.array([0.3, 0.7])
    functions = [
        function
        for function, rule in RULES.items()
        if isinstance(rule, Elementwise) and isinstance(function, np.ufunc)
        if len(rule.adjoints) == 1 and not rule.flat and rule.domain != "above one"
        if not np.iscomplexobj(function(x))
    ]
    assert len(functions) > 20
    for function in functions:
        step = 1e-6
        slope = (function(x + step) - function(x - step)) / (2 * step)
        np.testing.assert_allclose(grad(space.applied(function))(x), slope, rtol=1e-6, atol=1e-8)
        np.testing.assert_equal(jit(space.applied(function))(x), np.sum(function(x)))


def test_captured_function_that_changes():
    """The cell is guarded: another function in it is another program."""
    space = module(
        "def two():\n"
        "    function = np.sin\n"
        "    def apply(x):\n"
        "        return function(x)\n"
        "    def put(other):\n"
        "        nonlocal function\n"
        "        function = other\n"
        "    return apply, put\n"
    )
    apply, put = space.two()
    slope = grad(apply)
    assert slope(0.5) == np.cos(0.5)
    put(np.exp)
    assert slope(0.5) == np.exp(0.5)
