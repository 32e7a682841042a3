"""Functions of libraries that have a rule are transformed as they stand: no `def` around them."""

import inspect
import math
import operator

import numpy as np
import pytest

from s2s_ad import (
    GradOperation,
    S2SError,
    grad,
    hessian,
    jacrev,
    jit,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from s2s_ad.diagnostics import InternalError

X = np.array([0.3, 1.1, 2.0])
A = np.array([[2.0, 0.5], [0.3, 1.0]])


def without_signature(function):
    """Whether nobody knows its parameters: before NumPy 2.4 so of functions in C."""
    try:
        inspect.signature(function)
    except ValueError:
        return True
    return False


CASES = [
    ("grad", lambda: grad(np.sqrt)(4.0), 0.25),
    ("grad of a number", lambda: grad(math.sin)(1.0), math.cos(1.0)),
    ("grad of a reduction", lambda: grad(np.linalg.norm)(X), X / np.sqrt(X @ X)),
    ("grad at the limit", lambda: grad(math.sqrt)(0.0), math.inf),
    ("operator", lambda: grad(operator.mul, (0, 1))(2.0, 3.0), (3.0, 2.0)),
    ("jvp", lambda: jvp(np.tanh, (0.0,), (2.0,)), (0.0, 2.0)),
    ("vjp", lambda: vjp(np.add, 0.4, 0.4)[1](1.0), (1.0, 1.0)),
    ("linearize", lambda: linearize(np.multiply, (3.0, 5.0))[1](1.0, 0.0), 5.0),
    ("jacrev", lambda: jacrev(np.sin)(X), np.diag(np.cos(X))),
    ("hessian", lambda: hessian(np.prod)(X[:2]), np.array([[0.0, 1.0], [1.0, 0.0]])),
    ("vmap", lambda: vmap(np.linalg.det)(np.stack([A, 2 * A])), np.array([1.85, 7.4])),
    ("vmap of grad", lambda: vmap(grad(np.sin))(X), np.cos(X)),
    ("keywords", lambda: jit(np.sum)(A, axis=0), A.sum(0)),
    ("a shape", lambda: jit(np.reshape)(X, (3, 1)), X[:, None]),
    ("builtin", lambda: jit(abs)(-3.0), 3.0),
    ("a deviation that is 0 everywhere", lambda: grad(np.std)(3.0), 0.0),
    ("inside", lambda: grad(lambda x: grad(np.sin)(x) * x)(1.0), math.cos(1) - math.sin(1)),
    ("object", lambda: GradOperation()(np.exp)(0.0), 1.0),
]
if not without_signature(np.dot):
    CASES += [
        ("value and grad", lambda: value_and_grad(np.dot)(X, X), (X @ X, X)),
        ("arrays", lambda: jit(np.concatenate)([X, X]), np.concatenate([X, X])),
    ]


@pytest.mark.parametrize("run, expected", [pytest.param(*case, id=name) for name, *case in CASES])
def test_every_transform(run, expected):
    found = run()
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_text_names_the_library():
    assert grad(np.sqrt).source(4.0) == (
        "import numpy as np\n\n\ndef sqrt_grad(x, /):\n"
        '    """Gradient of sqrt with respect to x."""\n'
        "    return 0.5 / np.sqrt(x)\n"
    )


@pytest.mark.parametrize("run", [lambda: jit(np.reshape)(X, (7,)), lambda: grad(np.argmax)(X)])
def test_mistakes_are_no_faults_of_the_compiler(run):
    with pytest.raises((S2SError, ValueError)) as caught:
        run()
    assert not isinstance(caught.value, InternalError)
