"""The rules for complex numbers: each case of the tables that NumPy takes complex numbers for."""

import operator
import warnings

import numpy as np
import pytest

from rules.complex_properties import check_complex
from rules.test_elementwise import cases_of, rows
from rules.test_functions import CASES
from rules.test_indexing import INDEXING
from rules.test_products import PRODUCTS
from s2s_ad import grad, jit, runtime, vmap

pytestmark = pytest.mark.thinned(3)


def takes_complex(each, names) -> bool:
    """Whether NumPy evaluates the case with these inputs complex (scipy is not NumPy)."""
    rng = np.random.default_rng(0)
    drawn = {
        name: draw(rng) + 1j * draw(rng) if name in names else draw(rng)
        for name, draw in each.inputs.items()
    }
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            eval(each.text, {"np": np, "operator": operator, "runtime": runtime}, drawn)
    except (NameError, TypeError, ValueError, np.exceptions.ComplexWarning):
        return False
    return True


def with_some_complex(cases):
    """Each case with all inputs complex, and with each one alone."""
    found = []
    for each in cases:
        names = tuple(each.varying)
        chosen = [names, *((name,) for name in names if len(names) > 1)]
        found += [(each, some) for some in chosen if some and takes_complex(each, some)]
    return found


def some_slow(pairs, step):
    """One of so many by default, the others with the slow tests."""
    return [
        pair if place % step == 0 else pytest.param(pair, marks=pytest.mark.slow)
        for place, pair in enumerate(pairs)
    ]


#: what is refused by name: its derivative is known for real numbers only
REFUSED = ("clip", "cond(x", "eig", "lstsq(a, b)[2]", "linalg.qr", "nuc", "norm(x, 2", "norm(x, -2")
REFUSED += ("geomspace", "histogram", "logspace", "real_if_close")
REFUSED += ("corrcoef", "median", "percentile", "poly(", "quantile", "slogdet(a)[0]", "svd")
#: whose steps the differences below may cross
STEPS = ("isclose",)
#: whose result NumPy gives in no order, where the numbers are complex
IN_NO_ORDER = ("unique_values",)
#: whose result has another type than NumPy gives it
OTHER_TYPE = ("average(", "interp(")


def known(cases):
    return [
        each
        for each in cases
        if not any(name in each.text for name in REFUSED + STEPS + IN_NO_ORDER + OTHER_TYPE)
    ]


def elementwise_rows():
    """Each row with two of its patterns."""
    found = []
    for place, row in enumerate(rows()):
        cases = cases_of(*row)
        found += [cases[0], cases[(3 * place + 1) % len(cases)]]
    return some_slow(with_some_complex(known(found)), 4)


def functions():
    return some_slow(with_some_complex(known(CASES + PRODUCTS + INDEXING)), 9)


def label(pair):
    each, names = pair
    return f"{each} complex {','.join(names)}"


@pytest.mark.thinned(24)
@pytest.mark.parametrize("pair", elementwise_rows(), ids=label)
def test_elementwise(pair):
    check_complex(*pair)


@pytest.mark.thinned(90)
@pytest.mark.parametrize("pair", functions(), ids=label)
def test_function(pair):
    check_complex(*pair)


# ---- an array whose parts and whose elements are read: one adjoint is real, the other complex ----


def imaginary_parts_and_an_element(a):
    return a[0].real + np.sum(a.imag)


def real_parts_and_an_element(a):
    return np.sum(a.real) + (a[0] * 1j).real


def parts_of_parts(a):
    return np.sum(a.real) + np.sum(np.imag(a[1:])) + np.abs(a[2]) ** 2


def parts_in_turn(a):
    total = np.mean(a.imag)
    for each in a:
        total = total + each.imag * each.real
    return total


def parts_and_products(a):
    return np.sum(a.imag * 2) + np.sum((a[::2] * a[1::2]).imag)


def parts_after_stores(a):
    a = a * 2
    a[1] *= 1j
    a.imag[2] = a.real[0]
    return np.sum(a.imag) + a[3].real


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize(
    "f",
    [
        imaginary_parts_and_an_element,
        real_parts_and_an_element,
        parts_of_parts,
        parts_in_turn,
        parts_and_products,
        parts_after_stores,
    ],
)
def test_adjoints_of_parts_and_of_elements_are_added(f, precision):
    x = np.array([0.83, 0.37, 0.52, 0.29])
    turned = np.result_type(precision, 0j).type(1 + 2j)

    def of_reals(x):
        return f(x * turned)

    steps = np.eye(4) * 1e-6
    expected = [(f((x + h) * (1 + 2j)) - f((x - h) * (1 + 2j))) / 2e-6 for h in steps]
    tolerance = 1e-7 if precision is np.float64 else 2e-5
    given = x.astype(precision)
    for found in (grad(of_reals)(given), jit(grad(of_reals))(given)):
        assert found.dtype == precision
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    batch = vmap(grad(of_reals))(np.stack([given, given]))
    np.testing.assert_allclose(batch, [expected] * 2, rtol=tolerance, atol=tolerance)


def test_a_complex_number_of_pythons_takes_a_double_for_a_float():
    """1j * np.float64(2.0) is a complex number of Python's, which has no `ravel`."""

    def f(x):
        part = np.array([x[3]], dtype=complex).reshape(())
        x = x.copy()
        x[1] *= np.imag(part) + 2.0
        x[2] *= np.real(part)
        return np.sum(x)

    x = np.array([-0.37, 1.759, 0.089, -0.781])
    expected = np.array([1.0, 2.0, x[3], 1.0 + x[2]])
    np.testing.assert_allclose(grad(f)(x), expected)
    np.testing.assert_allclose(vmap(grad(f))(x[None])[0], expected)
    assert type(1j * x[0]) is complex  # what this rests on


def test_a_product_of_such_a_number_is_one_as_well():
    def f(w, rate):
        part = np.array(rate, dtype=complex).reshape(())
        w = (w + part) * rate
        w = (w + part) * rate
        return np.sum(np.imag(w))

    w, rate, step = np.array([0.4 + 1.1j, -1.6 - 0.8j]), np.float64(0.7), np.float64(1e-6)
    slope = grad(f, 1)(w, rate)
    np.testing.assert_allclose(slope, (f(w, rate + step) - f(w, rate - step)) / 2e-6, rtol=1e-7)
