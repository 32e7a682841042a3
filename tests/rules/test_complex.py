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
from s2s_ad import runtime


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
    except (NameError, TypeError, np.linalg.LinAlgError, np.exceptions.ComplexWarning):
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


@pytest.mark.thinned(4)
@pytest.mark.parametrize("pair", elementwise_rows(), ids=label)
def test_elementwise(pair):
    check_complex(*pair)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("pair", functions(), ids=label)
def test_function(pair):
    check_complex(*pair)
