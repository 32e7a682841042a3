"""Choices of one value as one line, and conditions as a person writes them."""

from __future__ import annotations

import runpy

import gast
import numpy as np
import pytest

from s2s_ad import grad, jit
from s2s_ad.emit.choices import chosen
from s2s_ad.emit.printer import print_statements

X = np.array([0.3, -1.2, 1.7, 0.4])


@pytest.mark.parametrize(
    "condition, expected",
    [
        ("a > 0 or b < 1", "a > 0 or b < 1"),
        ("np.logical_and(a > 0, b < 1)", "a > 0 and b < 1"),
        ("np.logical_or(a > 0, np.logical_and(b > 0, a < 2))", "a > 0 or b > 0 and a < 2"),
        ("np.logical_and(np.logical_or(a > 0, b > 0), a < 2)", "(a > 0 or b > 0) and a < 2"),
        ("0.1 < a < b <= 3", "0.1 < a < b <= 3"),
        ("0.1 < a and b > a and a < 3", "0.1 < a and b > a and a < 3"),
        ("np.logical_not(a == b)", "a != b"),
        ("np.logical_not(a < b)", "not a < b"),  # there is nan
        ("np.logical_and(a > 0, x[5] > 0)", "np.logical_and(a > 0, x[5] > 0)"),  # may raise
        ("np.logical_and(a > 0, 1 / b > 0)", "np.logical_and(a > 0, 1 / b > 0)"),
        ("np.any(np.logical_and(x > 0, x < 1))", "np.any(np.logical_and(x > 0, x < 1))"),
    ],
)
def test_a_condition_is_written_with_and_or_not(tmp_path, condition, expected):
    """Also where the backward pass asks it again, and it has a name."""
    once = f"    if {condition}:\n        return a * b\n    return b\n"
    again = f"    y = a\n    if {condition}:\n        y = a * a * b\n    return y * y\n"
    for body in (once, again):
        text = grad(defined(tmp_path, body), (0, 1)).source(0.5, 0.25, X)
        assert expected in text
        assert text.count("np.logical") == expected.count("np.logical")


def defined(folder, body):
    file = folder / f"conditions_{len(body)}.py"
    file.write_text(f"import numpy as np\n\n\ndef f(a, b, x):\n{body}")
    return runpy.run_path(str(file))["f"]


@pytest.mark.parametrize(
    "then, orelse, truth, expected",
    [
        ("1.0", "0.0", False, "v = 1.0 if c else 0.0"),
        ("True", "a > b", True, "v = c or a > b"),
        ("a > b", "False", True, "v = c and a > b"),
        ("False", "a > b", True, "v = not c and a > b"),
        ("a > b", "True", True, "v = not c or a > b"),
        ("True", "a > b", False, None),
        ("np.sin(a)", "0.0", False, None),
    ],
)
def test_a_branch_that_chooses_a_value_is_one_line(then, orelse, truth, expected):
    text = f"if c:\n    v = {then}\nelse:\n    v = {orelse}\n"
    branch = gast.parse(text).body[0]
    found = print_statements([chosen(branch, truth=truth, plain=True)], 88).strip()
    assert found == (expected or text.strip())


def largest(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return 2.0 * best


def inside(a, low, high):
    return a * a if a > low and a < high else low * a


def weighted(table):
    total = 0.0
    for i in range(len(table)):
        for j in range(len(table)):
            total += table[i, j] ** 2 * (1 if i == j else 0.5)
    return total


def test_an_or_of_the_users_is_an_or():
    assert "= best_is_none or v > best" in grad(largest).source(X)
    np.testing.assert_array_equal(grad(largest)(X), [0, 0, 2, 0])


def test_an_and_of_the_users_is_an_and():
    assert "if a > low and a < high:" in jit(inside).source(0.5, 0.0, 1.0)
    assert [grad(inside)(a, 0.1, 1.0) for a in (0.5, 2.0)] == [1.0, 0.1]


def test_a_choice_in_one_line_is_one_line():
    assert "1 if i == j else 0.5" in jit(weighted).source(np.ones((3, 3)))
    found = grad(weighted)(np.ones((2, 2)))
    np.testing.assert_array_equal(found, [[2, 1], [1, 2]])


def branched(x, c):
    if c > 0:
        y = np.exp(x) * x
    else:
        y = x
    return y * y


def reassigned(x, c):
    if c > 0:
        c = c + np.sin(x)
    return c * c


@pytest.mark.parametrize("function, names", [(branched, 0), (reassigned, 1)])
@pytest.mark.parametrize("c", [0.7, -0.7])
def test_a_comparison_of_what_is_still_there_is_asked_again(function, names, c):
    """In the backward pass; it has a name where what it compares has another value by then."""
    text = grad(function, (0, 1)).source(0.3, c)
    assert text.count("if c > 0:") == 2 * (1 - names)
    assert text.count("_mask = ") == names
    step = 1e-6
    expected = (
        (function(0.3 + step, c) - function(0.3 - step, c)) / (2 * step),
        (function(0.3, c + step) - function(0.3, c - step)) / (2 * step),
    )
    np.testing.assert_allclose(grad(function, (0, 1))(0.3, c), expected, rtol=1e-7, atol=1e-10)
