"""A function without a rule: the error names the closest one that has one, and the lines that add a
rule, which work as they stand once the derivative is filled in."""

import re

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from rules.properties import module
from s2s_ad import custom_rule, grad, vmap
from s2s_ad.core.advice import RELATIVES, closest
from s2s_ad.core.builder import describe
from s2s_ad.core.registry import rule_for
from s2s_ad.diagnostics import ArgumentValueError, NoDerivative, S2SError

X = np.array([0.6, 0.9])
A = np.array([[3.0, 0.4], [0.4, 2.0]])
#: kolmogi is the inverse of 2 sum (-1)**(k - 1) exp(-2 k**2 y**2), and this is the slope of that
SERIES = "(np.sum([8 * (-1)**k * k**2 * np.exp(-2 * k**2 * y**2) for k in range(1, 30)], 0) * y)"
INVERSE = scipy.special.kolmogi
#: body of f, its argument, what the user fills in, the gradient
FUNCTIONS = {
    "ufunc": (
        "return np.sum(scipy.special.kolmogi(x))",
        X,
        f"y_bar / {SERIES}",
        (INVERSE(X + 1e-4) - INVERSE(X - 1e-4)) / 2e-4,
    ),
    "keyword": (
        "return 2 * scipy.stats.moment(x, order=2)",
        X,
        "y_bar * (a - np.mean(a))",  # of two numbers
        2 * (X - np.mean(X)),
    ),
    "several results": (  # the product of the diagonal of D is the determinant
        "L, D, p = scipy.linalg.ldl(x)\n    return D[0, 0] * D[1, 1]",
        A,
        "(y_bar[1][0, 0] / y[1][1, 1] * np.linalg.det(A) * np.linalg.inv(A)).T",
        np.linalg.det(A) * np.linalg.inv(A),
    ),
}


def refusal(body, x):
    """The error, and its lines of code."""
    with pytest.raises(NoDerivative) as caught:
        grad(module(f"def f(x):\n    {body}\n").f)(x)
    lines = [each.strip() for each in caught.value.help.split("call ")[-1].splitlines()[1:]]
    return caught.value, lines


@pytest.mark.parametrize("body, x, derivative, expected", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_lines_work_when_pasted(body, x, derivative, expected):
    error, lines = refusal(body, x)
    assert len(lines) == 5
    assert lines[3].startswith("return ...")
    lines[3] = "    " + lines[3].replace("...", derivative, 1)
    name = lines[4].partition(" = ")[0]
    body = body.replace(error.what.removesuffix(" has no rule"), name)
    f = module("\n".join([*lines, "def f(x):", f"    {body}", ""])).f
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)


def test_what_is_given_nothing_is_called_outside():
    """The help for datetime.now was math.pow, the name that is most like it."""
    error, _ = refusal("import datetime as d\n    return x * d.datetime.now().hour", X)
    assert error.help == "call it outside of the function, and hand in what it gives"


def test_the_error_says_what_and_where():
    error, lines = refusal("return np.sum(scipy.special.kolmogi(x))", X)
    assert error.what == "scipy.special.kolmogi has no rule"
    assert "scipy.special.kolmogi(x)" in error.origin.text
    assert re.search(r"\n +\| +\^{24}\n", str(error))
    assert "closest function that has a rule is scipy.special.kolmogorov" in error.help
    assert lines == [
        "import scipy.special",
        "from s2s_ad import custom_rule",
        "def kolmogi_reverse(y_bar, y, x):",
        "return ...  # the adjoint of x, from that of y = kolmogi(...)",
        "kolmogi = custom_rule(scipy.special.kolmogi, reverse=kolmogi_reverse)",
    ]


def test_a_function_of_the_users_own_is_named_as_he_names_it():
    c_function = "ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(float)"
    text = f"import ctypes\nclass Table:\n    lookup = staticmethod({c_function})\n"
    f = module(f"{text}def f(x):\n    return Table.lookup(x)\n").f
    with pytest.raises(NoDerivative) as caught:
        grad(f)(1.0)
    assert "lookup = custom_rule(Table.lookup, reverse=lookup_reverse)" in caught.value.help


def test_a_class_is_no_function_to_write_a_rule_for():
    error, _lines = refusal("return scipy.stats.rv_histogram((x, x))", X)
    assert error.what == "scipy.stats.rv_histogram has no rule"
    assert "custom_rule" not in error.help


class Named:
    """What a library calls a function that nobody knows."""

    def __init__(self, path):
        self.__module__, _, self.__name__ = path.rpartition(".")
        self.__qualname__ = self.__name__


@pytest.mark.parametrize(
    "path, expected",
    [
        ("numpy.linalg.slogdett", "np.linalg.slogdet"),  # of its own module first
        ("numpy.fft.irfft3", "np.fft.irfft"),
        ("mymodule.logaddexp3", "np.logaddexp"),  # then of any
        ("mymodule.qqqqqqqqq", None),
    ],
)
def test_the_closest_function(path, expected):
    assert closest(Named(path)) == expected


def test_what_is_there_to_be_refused_is_no_advice():
    assert closest(Named("numpy.nditers")) != "np.nditer"


@pytest.mark.parametrize("path, relative", RELATIVES.items())
def test_relatives_have_rules_and_the_others_have_none(path, relative):
    def found(name):
        value = {"np": np, "scipy": scipy}[name.partition(".")[0]]
        for part in name.split(".")[1:]:
            value = getattr(value, part)
        return value

    assert rule_for(found(path)) is None
    assert rule_for(found(relative)) is not None
    assert describe(found(path)) == path


# ---- functions that are called as they stand -----------------------------------------------------


def test_a_library_function_is_called_once_a_sample():
    f = module(
        "from s2s_ad import custom_rule\n"
        "tail = custom_rule(scipy.special.kolmogi, reverse=lambda y_bar, y, x: y_bar * x)\n"
        "def f(x):\n    return np.sum(tail(x) ** 2)\n"
    ).f
    batch = np.stack([X, X - 0.1, X - 0.2])
    expected = 2 * scipy.special.kolmogi(batch) * batch
    with pytest.warns(match="a loop over samples"):
        np.testing.assert_allclose(vmap(grad(f))(batch), expected, rtol=1e-14)
    np.testing.assert_allclose(grad(f)(X), expected[0], rtol=1e-14)


def test_the_number_of_results_is_a_number():
    with pytest.raises(ArgumentValueError, match="'results' must be a positive int, got str 'two'"):
        custom_rule(scipy.linalg.ldl, reverse=lambda y_bar, y, a: a, results="two")


def test_a_class_has_no_rule():
    with pytest.raises(S2SError, match="'function' must be a function"):
        custom_rule(scipy.stats.gaussian_kde, reverse=lambda y_bar, y, a: a)


def test_what_depends_on_no_value_is_called_outside():
    """A rule for it would have no adjoint, and a function of a like name is no help."""

    def writes(x):
        open("numbers.txt")
        return x

    with pytest.raises(NoDerivative) as caught:
        grad(writes)(1.0)
    assert caught.value.help == "call it outside of the function, and hand in what it gives"
