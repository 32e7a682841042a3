"""Names of the user's that generated text calls too: what the text calls is still what it means."""

import builtins

import numpy as np
import pytest

from frontend.loading import load
from s2s_ad import S2SError, grad, jit, jvp, vmap

PROGRAM = """
    import numpy as array_module

    index_range, together, length = range, zip, len

    HELPER_GLOBAL = array_module.array([0.5, 1.5, 2.5])

    def HELPER(v, k):
        t = v
        for j in index_range(k):
            t = t * v + j
        return t

    def FUNCTION(x, n, PARAMETER, TREE):
        kept = []
        LOCAL = 0.0
        for LOOP in x:
            LOCAL = LOCAL + LOOP * LOOP * PARAMETER
            kept.append(LOCAL)
        for a, b in together(x, kept):
            LOCAL = LOCAL + a * b
        for k in index_range(n - 1, -1, -1):
            LOCAL = LOCAL * 0.5 + HELPER(x[k], 2) * length(x)
        inner = lambda LAMBDA: LAMBDA * TREE[0] + TREE[1]
        for w in HELPER_GLOBAL:
            LOCAL = inner(LOCAL) * w
        return LOCAL
    """
POSITIONS = ["HELPER_GLOBAL", "HELPER", "FUNCTION", "PARAMETER", "TREE", "LOCAL", "LOOP", "LAMBDA"]
CALLED = ["range", "len", "zip", "reversed", "enumerate", "np"]
OTHERS = ["numpy", "math", "float", "int", "isinstance", "print", "max", "slice", "ValueError"]
OTHERS += ["unbroadcast", "where_larger", "s2s_ad", "type", "_"]
X = np.array([1.2, -0.7, 0.9])
REST = (3, 1.5, [0.25, 0.75])


def check(folder, position, name):
    text = PROGRAM.replace("HELPER_GLOBAL", "GLOBAL")
    place = "GLOBAL" if position == "HELPER_GLOBAL" else position
    f = getattr(
        load(folder, text.replace(place, name)), name if place == "FUNCTION" else "FUNCTION"
    )
    steps = 1e-6 * np.eye(3)
    expected = [(f(X + h, *REST) - f(X - h, *REST)) / 2e-6 for h in steps]
    rows = np.stack([X, 1.1 * X])
    np.testing.assert_allclose(jit(f)(X, *REST), f(X, *REST))
    np.testing.assert_allclose(grad(f)(X, *REST), expected, rtol=1e-6)
    np.testing.assert_allclose(
        vmap(grad(f), (0, None, None, None))(rows, *REST)[0], grad(f)(X, *REST)
    )
    tangent = jvp(lambda x: f(x, *REST), (X,), (np.ones(3),))[1]
    np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-6)


@pytest.mark.thinned(28)
@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("position", POSITIONS)
def test_what_loops_call_is_not_shadowed(tmp_path, position, name):
    check(tmp_path, position, name)


def test_a_parameter_that_is_passed_by_name_keeps_it():
    def f(x, *, range):
        s = 0.0
        for i in builtins.range(3):
            s = s + x[i] * range
        return s

    def g(x, *, range):
        return x * x * range

    with pytest.raises(S2SError, match="keyword-only parameter called 'range'"):
        grad(f)(X, range=2.0)
    assert grad(g)(3.0, range=2.0) == 12.0


#: what a module calls itself, and what Python lets nobody bind
OF_MODULES = {"__name__", "__debug__"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [*OTHERS, *(n for n in dir(builtins) if n.islower() and n not in OF_MODULES)]
)
@pytest.mark.parametrize("position", POSITIONS)
def test_no_name_is_shadowed(tmp_path, position, name):
    check(tmp_path, position, name)
