"""scipy.linalg: the derivatives of each case, and slowly every property of it."""

import numpy as np
import pytest

from rules.cases.scipy_linalg import CASES
from rules.properties import (
    Subject,
    check_all,
    check_forward,
    check_reverse,
    check_value,
    module,
)
from s2s_ad import grad, vmap
from s2s_ad.diagnostics import BatchError, S2SError


@pytest.mark.thinned(16)
@pytest.mark.parametrize("each", CASES, ids=str)
def test_derivatives(each):
    subject = Subject(each)
    check_value(subject)
    if each.varying:
        check_forward(subject)
        check_reverse(subject)


@pytest.mark.slow
@pytest.mark.parametrize("each", CASES, ids=str)
def test_every_property(each):
    check_all(each)


def test_the_text_calls_what_the_user_calls_where_numpy_has_nothing_like_it():
    f = module("def f(a, b):\n    return scipy.linalg.solve_triangular(a, b, lower=True)[0]\n").f
    text = grad(f, 1).source(np.eye(3), np.ones(3), standalone=True)
    assert "import scipy.linalg\n" in text
    assert "returnscipy.linalg.solve_triangular(a," in "".join(text.split())
    assert "lower=True,trans=1)" in "".join(text.split())


@pytest.mark.parametrize(
    "call, why",
    [
        ("scipy.linalg.schur(a)[0]", "the algorithm's choice"),
        ("scipy.linalg.hessenberg(a)", "the reflections that LAPACK works with"),
        ("np.real(scipy.linalg.funm(a, np.exp))", "of which only values are given"),
        ("scipy.linalg.rsf2csf(a, a)[0]", "a Schur form has no derivative"),
        ("scipy.linalg.block_diag(a, np.ones((2, 3, 3)))", "block_diag of an array of rank 3"),
        ("scipy.linalg.orthogonal_procrustes(np.ones((2, 3, 3)) * a[0, 0], a)[1]", "of rank 3"),
        ("scipy.linalg.qr_multiply(a, np.ones((2, 3, 3)))[0]", "qr_multiply of an array of rank 3"),
    ],
)
def test_what_has_no_derivative_says_why(call, why):
    f = module(f"def f(a):\n    return np.sum({call})\n").f
    with pytest.raises(S2SError, match=why):
        grad(f)(np.eye(3))


def test_one_vector_of_several_of_a_null_space_has_no_derivative():
    f = module("def f(a):\n    return np.sum(scipy.linalg.null_space(a))\n").f
    with pytest.raises(ValueError, match="any basis of a space"):
        grad(f)(np.eye(2, 4))


@pytest.mark.parametrize("name", ["null_space", "orth"])
def test_a_basis_of_each_sample_may_have_another_size(name):
    f = module(f"def f(a):\n    return scipy.linalg.{name}(a)\n").f
    with pytest.raises(BatchError, match="another shape for each sample"):
        vmap(f)(np.ones((2, 3, 4)))


def test_a_matrix_of_one_number_is_not_one_of_any_size():
    """SciPy takes it for one: of which the gradient would have another shape."""
    f = module("def f(a, b):\n    return np.sum(scipy.linalg.solve(a, b))\n").f
    assert f(np.array([[2.0]]), np.ones(3)) == 1.5
    with pytest.raises(S2SError, match="b has as many rows as the matrix has"):
        grad(f)(np.array([[2.0]]), np.ones(3))
