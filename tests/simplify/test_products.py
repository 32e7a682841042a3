"""Sums of products in derivatives are contractions."""

import numpy as np
import pytest

from s2s_ad import grad, jvp, value_and_grad, vmap
from s2s_ad.check import central_differences

rng = np.random.default_rng(3)
A, x, y = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=3)
a, v, w = np.array(0.7), rng.normal(size=4), rng.normal(size=(2, 3, 4))
ROWS = {
    "two vectors": (lambda a, v: np.sum(np.sin(a * v)), (a, v), " @ v"),
    "two arrays": (lambda a, w: np.sum(np.sin(a * w)), (a, w), "np.vdot"),
    "a matrix and a vector": (
        lambda x, A: np.sum(np.sin(A * x)),
        (x, A),
        "np.sum(",
    ),
    "stretched": (lambda y, x: np.sum(np.sin(y[:, None] * x)), (y, x), " @ x"),
    "of halves": (
        lambda a, v: np.sum(np.sin(a * v)),
        (np.float32(0.7), v.astype(np.float32)),
        " @ v",
    ),
    "not of one dtype": (lambda a, v: np.sum(np.sin(a * v)), (a, np.arange(4)), "np.sum("),
    "complex": (lambda a, v: np.sum(np.abs(a * v) ** 2), (a, v + 1j), ""),
    "one axis of length one": (lambda y, A: np.sum(np.sin(y * A)), (y[:1], A), "np.sum("),
    "a sum that is read twice": (lambda a, v: np.sum(np.sin(a * v)) * a, (a, v), "@"),
    "neither along an axis that is kept": (
        lambda y, a: np.sum(np.sin(y[:, None] * np.stack([a, a])[:, None]) ** 2),
        (y[:2], a),
        "",
    ),
    "divided by what is the same": (lambda s, A: np.sum(np.sin(A / s)), (x, A), "axis=0) / s"),
    "an identity": (
        lambda a, w: np.log(np.linalg.det(w @ w.T + np.exp(a) * np.eye(3))),
        (a, w[0]),
        "np.diagonal(",
    ),
    "an identity and an outer product": (
        lambda a, A, y: np.sum(np.linalg.solve(A @ A.T + np.exp(a) * np.eye(len(A)), y) ** 2),
        (a, A, y),
        " @ ",
    ),
    "a number first": (lambda v, a: np.sum(a * v * v[0] ** 2), (v, a), ""),
    "negatives of each other": (
        lambda v: np.sum(np.sin(v[0] - 0.7 * (v[1:] - v[:-1]))),
        (v,),
        "v_bar[1:] -= ",
    ),
    "a sum of rows": (lambda A, w: np.sum(w @ A.T), (A, w), "np.full(A.shape, np.sum("),
    "a product with both seeds": (
        lambda A, x: np.sum(A @ x),
        (A, x),
        "np.full(A.shape, x)",
    ),
    "a Gram matrix": (
        lambda A, y: np.sum(np.sin(A @ A.T) * y),
        (A, y),
        "_bar + A_dot_A_bar.T) @ A",
    ),
    "a system with a Gram matrix": (
        lambda A, y: np.sum(np.tanh(A @ A.T)) + y @ np.linalg.solve(A @ A.T + np.eye(3), y),
        (A, y),
        "return 2 * (",
    ),
    "an inverse between": (
        lambda A, y: np.sum(np.sin(np.linalg.inv(A @ A.T + np.eye(3)))) * np.sum(y),
        (A, y),
        "np.cos(",
    ),
    "a symmetric matrix between": (
        lambda A, x: np.sum(np.sin(A @ np.diag(x) @ A.T) @ (A @ A.T)),
        (A, x),
        "",
    ),
    "one between that is not symmetric": (
        lambda A, x: np.sum(np.sin(A @ np.diag(x[1:], 1) @ A.T) @ A @ np.diag(x[1:], 1) @ A.T),
        (A, x),
        "",
    ),
    "what is added beside the diagonal": (
        lambda A, x: np.sum(np.linalg.solve(A @ A.T + np.diag(x[:2], -1), A @ x) ** 2),
        (A, x),
        ".T, ",
    ),
    "axes in front that broadcasting puts there": (
        lambda A, x: np.sum(np.sin(A - np.mean(A, axis=0)) * x) + np.sum(np.mean(A, axis=0) ** 2),
        (A, x),
        "A_minus_mean_A_bar, axis=0)",
    ),
    "the same in single precision, and where nothing has more axes": (
        lambda A, x: np.sum(np.exp(np.mean(A, axis=0)) ** 2) + np.sum(A[:1] * np.sum(A, axis=0)),
        (A.astype(np.float32), x),
        "",
    ),
    "a matrix from both sides": (
        lambda x, B: x @ B @ x + np.sum(np.sin(B @ x) * np.cos(x @ B)),
        (y, w[0, :, :3]),
        "B @ (x ",
    ),
    "elements alone": (lambda w: np.sum(np.tanh(w)[:, 0] ** 2), (w,), "tanh_w_0**2"),
    "elements of a row that is stretched": (
        lambda x, A: np.sum((np.exp(x) * A)[:, 1:] ** 2),
        (x, A),
        "",
    ),
    "a sum over several axes": (
        lambda w, u: np.sum(np.sin(np.sum(w[..., np.newaxis] * u[np.newaxis], axis=(1, 2)))),
        (w, rng.normal(size=(3, 4, 2))),
        "np.tensordot(",
    ),
    "one element in zeros": (lambda v: np.exp(v)[2] + np.sum(np.exp(v)[:2]), (v,), "v_bar[2] = "),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_gradient_and_its_text(name):
    f, args, part = ROWS[name]
    found, text = grad(f)(*args), grad(f).source(*args)
    rtol = 1e-3 if args[0].dtype == np.float32 else 1e-6
    expected = central_differences(lambda first: f(first, *args[1:]), args[:1])
    np.testing.assert_allclose(found, expected[0], rtol=rtol)
    assert np.asarray(found).dtype == args[0].dtype
    assert np.shape(found) == np.shape(args[0])
    assert part in text


def test_what_the_user_wrote_stays():
    f = lambda v: np.sum(v * np.sin(v)) ** 2
    assert "np.sum(v * sin_v)" in grad(f).source(v)


def kronecker_sum(A, B):
    K, q = np.zeros((len(A) * len(B), len(A) * len(B))), len(B)
    for i in range(len(A)):
        for j in range(len(A)):
            K[i * q : (i + 1) * q, j * q : (j + 1) * q] += A[i, j] * np.eye(q)
        K[i * q : (i + 1) * q, i * q : (i + 1) * q] += B
    return np.log(np.linalg.det(K))


def test_a_product_may_read_what_was_made_of_nothing():
    args = np.array([[4.0, 1.0], [0.5, 3.0]]), np.array([[2.0, 0.3], [0.4, 1.0]])
    _, found = value_and_grad(kronecker_sum, (0, 1))(*args)
    for mine, other in zip(found, central_differences(kronecker_sum, args), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


def test_a_multiple_that_is_shared_with_its_negative_may_be_an_output():
    def f(a, b):
        ratio = b / b
        return 0.8 * b + np.sin(a + a - ratio - ratio)

    a, b = np.array([0.3, 0.4]), np.array([0.5, 2.0])
    a_bar, b_bar = vmap(grad(f, (0, 1)))(a, b)
    np.testing.assert_allclose(a_bar, 2 * np.cos(2 * a - 2))
    np.testing.assert_allclose(b_bar, 0.8)


def test_the_least_of_what_has_no_known_rank():
    """The index True adds an axis, which the facts do not tell."""

    def f(u):
        return np.min(u[True], axis=2, keepdims=True)

    u, u_dot = rng.normal(size=(2, 2, 2, 1))
    value, tangent = jvp(f, (u[None],), (u_dot[None],))
    at = np.argmin(u, axis=0)[None]
    np.testing.assert_allclose(value[0, 0], u.min(axis=0)[None])
    np.testing.assert_allclose(tangent[0, 0], np.take_along_axis(u_dot, at, axis=0))
