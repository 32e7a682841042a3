"""np.poly1d made inside a function: NumPy's values, gradients by differences, batches, refusals."""

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import S2SError, grad, jit, jvp, vmap

#: statements that give y, of coefficients u; V are the points
BODIES = {
    "value": "y = np.poly1d(u)(V)",
    "at_a_number": "y = np.poly1d(u)(u[0]) * V",
    "sum": "y = (np.poly1d(u) + np.poly1d(u[:2]) - 3 + [1, 2])(V)",
    "number_first": "y = (2.0 - 3.0 * np.poly1d(u) * 2 + 1)(V)",
    "product": "y = (np.poly1d(u) * np.poly1d([1.0, u[0]]) ** 3)(V)",
    "power_0": "y = (np.poly1d(u) ** 0)(V) * u[0]",
    "quotient": "y = sum([q(V) for q in np.poly1d(u) / np.poly1d(u[:2])])",
    "by_a_number": "y = (np.poly1d(u) / u[1])(V)",
    "of_constants": "y = np.polyval(np.polyder([1.0, 2.0, 3.0]), u[0]) * V",
    "deriv": "p = np.poly1d(u); y = p.deriv()(V) + p.deriv(2)(V) + p.deriv(m=5)(V)",
    "integ": "y = np.poly1d(u).integ()(V) + np.poly1d(u).integ(2, k=u[0])(V)",
    "item": "y = V * np.poly1d(u)[0] * np.poly1d(u)[2] + np.poly1d(u)[9]",
    "set_item": "p = np.poly1d(u * 1.0); p[1] = u[0] ** 2; p[6] = u[1]; y = p(V)",
    "coeffs": "p = np.poly1d(np.concatenate([[0.0], u])); y = p.coeffs * p.order * len(p) * p.c",
    "roots": "y = np.abs(np.poly1d(u).roots) + np.abs(np.poly1d(u).r)",
    "of_roots": "y = np.poly1d(u, True)(V) + np.poly1d(u, r=True).coeffs[1]",
    "of_a_polynomial": "y = np.poly1d(u)(np.poly1d([1.0, u[1]]))(V)",
    "iterated": "y = np.array([c * c for c in np.poly1d(u)])",
    "minus": "y = (-(+np.poly1d(u)))(V)",
    "variable": "p = np.poly1d(u, variable='zz'); y = np.poly1d(p)(V) * len(p.variable)",
    "isinstance": "y = V * isinstance(np.poly1d(u), np.poly1d) * u[0]",
}
U = np.array([0.7, 1.2, -0.4, 0.3])
HEAD = "V = np.array([0.5, -1.1, 2.0])\nW = np.array([0.9, -0.4, 1.3, 0.7])\n\n\n"


def program(body):
    lines = "".join(f"    {each}\n" for each in body.split("; "))
    loss = "def loss(u):\n    y = f(u)\n    return np.sum(y * W[: len(y)])\n"
    return module(f"{HEAD}def f(u):\n{lines}    return y\n\n\n{loss}")


def differences(function, u):
    steps = 1e-6 * np.eye(len(u))
    return np.array([(function(u + each) - function(u - each)) / 2e-6 for each in steps])


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
def test_method(name):
    space = program(BODIES[name])
    np.testing.assert_allclose(jit(space.f)(U), space.f(U), rtol=1e-14)
    expected = differences(space.loss, U)
    np.testing.assert_allclose(grad(space.loss)(U), expected, rtol=1e-6, atol=1e-7)
    change = jvp(space.loss, (U,), (U,))[1]
    np.testing.assert_allclose(change, expected @ U, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(vmap(space.f)(np.stack([U, 2 * U])), [space.f(U), space.f(2 * U)])


@pytest.mark.parametrize(
    "body, said",
    [
        ("y = (u * np.poly1d(u))(V)", "put the polynomial first"),
        ("y = V * (np.poly1d(u) == np.poly1d(u))", "compare the coefficients"),
        ("c = u * 2.0; p = np.poly1d(c); p[1] = u[0]; y = c * p.coeffs", "may share memory"),
        ("y = np.polymul(np.poly1d(u), u)", "as an argument of a NumPy function"),
    ],
)
def test_what_is_refused(body, said):
    with pytest.raises(S2SError, match=said):
        grad(program(body).loss)(U)


@pytest.mark.parametrize(
    "body, said",
    [
        ("y = np.poly1d(np.stack([u, u]))(V)", "Polynomial must be 1d only"),
        ("y = (np.poly1d(u) ** -1)(V)", "non-negative integers"),
        ("p = np.poly1d(u); p[-1] = 2.0; y = p(V)", "negative powers"),
    ],
)
def test_errors_are_those_of_numpy(body, said):
    space = program(body)
    for function in (space.loss, grad(space.loss)):
        with pytest.raises(ValueError, match=said):
            function(U.copy())
