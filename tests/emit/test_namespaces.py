"""Text for other array namespaces: run there, and compared with NumPy's."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from s2s_ad import grad, jit, value_and_grad, vmap
from s2s_ad.core import tree
from s2s_ad.diagnostics import ArgumentValueError, UnsupportedError
from s2s_ad.emit.namespaces import DIALECTS

rng = np.random.default_rng(0)
X, Y, W = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3)
U, K = rng.normal(size=9), np.array(0.1)
PARAMS = {"W": rng.normal(size=(3, 4)), "b": np.zeros(4)}


def loss(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def cross_entropy(params, x, label):
    logits = np.maximum(x @ params["W"] + params["b"], 0.0)
    z = logits - np.max(logits)
    return np.log(np.sum(np.exp(z))) - z[label]


def recurrence(x, w):
    total, h = 0.0, np.zeros(3)
    for i in range(len(x)):
        h = np.tanh(w * h + x[i])
        total += np.mean(h)
    return total


def likelihood(x, w):
    variance = np.zeros(len(x))
    variance[0] = w[0]
    for t in range(1, len(x)):
        variance[t] = w[0] + w[1] ** 2 * x[t - 1] ** 2 + w[2] ** 2 * variance[t - 1]
    return np.sum(np.log(1.0 + variance**2))


def solved(a, b):
    return np.sum(np.linalg.solve(a @ a.T + np.eye(3), b) ** 2)


def transposed(x):
    return np.sum(np.concatenate([x.T.ravel(), x.reshape(-1) ** 2]))


def of_rows(x, w):
    return np.sum(np.sum(x, axis=0) * np.exp(w))


PROGRAMS = {
    "loss": (grad(loss), (W, X, Y)),
    "per sample": (vmap(grad(loss), in_axes=(None, 0, 0)), (W, X, Y)),
    "loss and value": (value_and_grad(loss), (W, X, Y)),
    "stores": (grad(energy, (0, 1)), (U, K, 3)),
    "dict": (grad(cross_entropy), (PARAMS, W, 2)),
    "recurrence": (grad(recurrence, (0, 1)), (X, W)),
    "elements": (grad(likelihood, (0, 1)), (Y, W)),
    "a system": (grad(solved, (0, 1)), (X[:3], W)),
    "shapes": (grad(transposed), (X,)),
    "products of vectors": (grad(lambda x, w: np.sum(np.cross(x, w) ** 2)), (X, W)),
    "rows": (grad(of_rows), (X, W)),
    "no derivative": (jit(loss), (W, X, Y)),
}


def library(name: str):
    """(to its arrays, from its arrays)"""
    if name == "jax.numpy":
        jax = pytest.importorskip("jax", reason="JAX is not installed")
        return jax.numpy.asarray, np.asarray
    if name == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
        return torch.from_numpy, lambda tensor: np.asarray(tensor)
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    return strict.asarray, lambda a: a if isinstance(a, float) else np.from_dlpack(a)


def run(name: str, made, args: tuple):
    """The results of the text for a namespace, and of NumPy, in double precision."""
    if name == "jax.numpy":
        jax = pytest.importorskip("jax", reason="JAX is not installed")
        with jax.enable_x64(True):
            return results(name, made, args)
    return results(name, made, args)


def results(name: str, made, args: tuple):
    to, back = library(name)
    source = made.source(*args, namespace=name)
    space: dict = {}
    exec(compile(source, f"<{name}>", "exec"), space)
    given = tree.to_object(
        tree.from_object(
            copy.deepcopy(args), lambda leaf, _: to(leaf) if isinstance(leaf, np.ndarray) else leaf
        )
    )
    label = source.split("def ")[1].partition("(")[0]
    found, expected = space[label](*given), made(*args)
    leaves = [
        tree.leaves(tree.from_object(each, lambda leaf, _: leaf)) for each in (found, expected)
    ]
    return [(np.asarray(back(a)), np.asarray(b)) for a, b in zip(*leaves, strict=True)]


@pytest.mark.parametrize("name", ["array_api", "jax.numpy", "torch"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_text_gives_what_numpys_gives(program, name):
    made, args = PROGRAMS[program]
    for found, expected in run(name, made, args):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_what_the_text_looks_like():
    text = PROGRAMS["loss"][0].source(W, X, Y, namespace="array_api")
    assert "    xp = array_namespace(w, x, y)\n" in text
    assert "    tanh_x = xp.tanh(x @ w)  # line" in text
    text = PROGRAMS["stores"][0].source(U, K, 3, namespace="jax.numpy")
    assert text.startswith("import jax.numpy as jnp\n\n\ndef energy_grad(")
    assert "    u = u.at[1:-1].add(k * u_difference)\n" in text
    assert "u_bar = u_bar.at[1:-1].add(-(2 * u_difference_bar))\n" in text
    assert PROGRAMS["loss"][0].source(W, X, Y, namespace="cupy").startswith("import cupy as cp\n")


FACTOR = np.arange(3.0)


def caught(a):
    try:
        return np.sum(np.linalg.cholesky(a))
    except np.linalg.LinAlgError:
        return np.sum(a)


REFUSED = [
    ("jax.numpy", jit(caught), (np.eye(3),), "try"),
    ("torch", jit(caught), (np.eye(3),), "try"),
    ("array_api", jit(lambda x: np.interp(x, x, x)), (W,), "np.interp"),
    ("array_api", jit(lambda x: x * FACTOR), (W,), "a captured array"),
    ("array_api", grad(lambda x: np.sum(x[np.array([0, 0])])), (W,), "np.add.at"),
    ("array_api", jit(lambda s: np.sum(np.arange(3) * s)), (0.5,), "a call without an array"),
    ("torch", jit(lambda x: np.nanmax(x)), (W,), "np.nanmax"),
    ("torch", jit(lambda x: x[::-1] * x), (W,), "a slice that goes down"),
]


@pytest.mark.parametrize("name, made, args, said", REFUSED)
def test_what_has_no_form_is_refused(name, made, args, said):
    with pytest.raises(UnsupportedError, match=f"{said}.* has no form in {name}"):
        made.source(*args, namespace=name)


def array_of_a_list(x):
    """Adjoints of one name would be those of an array and of a list in turn."""
    path = [x[0]]
    while len(path) < 4:
        path.append(path[-1] * x[1] + 0.5)
    out = np.array(path) ** x[2]
    return np.sum(np.log(out)[1:] * out[:-1])


def rows(x):
    work = x.copy()
    row = work[1]
    row += work[0]
    return np.sum(work**2)


def parts_of_parts(x):
    work = np.sin(x)
    top = work[:3]
    for row in top:
        row[1:] *= 2.0
    top[0] = work[4]
    return np.sum(work * x)


def in_lists(x):
    kept = [x[0] * 1.0, x[1] * 2.0]
    for each in kept:
        each[0] = 3.0
    kept[1][2] += x[2, 2]
    return np.sum(kept[0] * kept[1])


def of_helpers(x):
    work = x * 1.0
    for i in range(len(work)):
        halved(work, i)
    return np.sum(work**2)


def halved(work, i):
    work[i] *= 0.5
    work[i, 0] = 1.0


@pytest.mark.parametrize("made", [jit, grad, lambda f: jit(vmap(f))])
@pytest.mark.parametrize("f", [rows, parts_of_parts, in_lists, of_helpers])
@pytest.mark.parametrize("name", ["array_api", "jax.numpy", "torch"])
def test_what_changes_by_a_part_of_it_changes_where_parts_are_copies(name, f, made):
    args = (np.stack([X, X[::-1]]),) if made not in (jit, grad) else (X,)
    for found, expected in run(name, made(f), args):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def counted(x):
    """Numbers of Python's, masks and whole numbers beside floats."""
    steps = np.arange(len(x)) / 3
    size = min(len(x), 4)
    phase = 0.0
    for n in range(size):
        phase = phase + np.sin(phase) + np.maximum(n, 2) * x[n]
    phase = phase + np.mean(x > 0.0) * np.sum(x)
    return phase + np.sum((x > 0.0) * steps * x) / np.sum(x > -9.0) + np.mean(np.sqrt(steps) * x)


def of_numbers(s, v):
    up = np.exp(v * np.sqrt(0.5))
    total = 0.0
    for k in range(3):
        total += np.hypot(s * up ** (2 * k - 3) - 1.0, 2.0) * np.cos(up)
    return total


def overlapping(x):
    work = x * 1.0
    work[1:] = work[:-1]
    for row in (work * x).reshape(-1, 1):
        work[0] += row[0]
    a, b, c, d, e = work
    return a * b + c * d + np.sum(x * e)


def rotated(x, angle):
    """Lists in a list, some of whose items are numbers of Python's."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    return np.sum((turn @ x[:2] + np.array([[x[0], 1.0], [angle, x[1]]]) @ x[1:3]) ** 2)


def bell(z):
    z = z * 1.5
    return np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)


def helped(x, spread):
    """A helper that is given numbers; a condition that is one."""
    width = bell(spread) + np.where(np.isfinite(spread), x, 0.0)
    return np.sum(width * np.full(len(x), x[0])) + np.sum(np.full(3, x[1]) ** 2)


def chosen(x):
    """Indices that are elements of arrays of whole numbers; a mask; powers of these."""
    order = np.argsort(x)
    best = np.argmax(x)
    out = np.zeros((len(x), 2))
    for i in order:
        out[i, 0] = x[i] ** 2
    out[best, 1] = 3.0 * x[best]
    rows = out[x > 0.0]
    return np.sum(rows**3) + np.sum(x * np.stack([order**2, order], axis=1)[:, 0])


def of_lists(x):
    """A list that an array is made of, and its parts again."""
    grown = [x[0]]
    for k in range(1, min(len(x), 9)):
        grown.append(0.5 * grown[-1] + np.sin(x[k]))
    path = np.array(grown)
    return np.sum(np.log(path[1:] ** 2 + 1.0) - path[:-1]) + grown[2]


def typed(x):
    """Python's types as dtypes."""
    counts = np.zeros(len(x), dtype=int)
    for i in range(1, len(x)):
        counts[i] = counts[i - 1] + (x[i] > x[i - 1])
    allowed = np.array([True, False, True, True], dtype=bool)
    kept = (x > 0.0).astype(float)
    return np.sum(x * counts * kept) + np.sum(np.where(allowed, x[:4] ** 2, 0.0))


KINDS = {
    "lists in lists": (rotated, (Y, 0.4)),
    "a helper of numbers": (helped, (Y, 0.3)),
    "indices that are elements": (chosen, (Y,)),
    "lists and arrays": (of_lists, (Y,)),
    "an array of a list": (array_of_a_list, (np.abs(Y),)),
    "array and numbers": (counted, (Y,)),
    "numbers alone": (of_numbers, (1.2, 0.3)),
    "parts of one array": (overlapping, (Y,)),
    "types as dtypes": (typed, (Y,)),
}


@pytest.mark.parametrize("program", KINDS)
@pytest.mark.parametrize("made", [jit, grad])
@pytest.mark.parametrize("name", ["array_api", "jax.numpy", "torch"])
def test_numbers_and_arrays_are_what_the_namespace_takes(name, made, program):
    f, args = KINDS[program]
    for found, expected in run(name, made(f), args):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@dataclass
class Weights:
    kind: float
    bias: float


def test_a_field_of_the_users_is_no_keyword_of_numpys():
    def f(weights, x):
        return weights.kind * np.sum(np.sort(x, kind="stable")) ** 2 + weights.bias

    text = grad(f).source(Weights(2.0, 0.5), W, namespace="jax.numpy")
    assert "Weights(kind=" in text
    assert "stable=True" in text


def test_unknown_namespaces():
    with pytest.raises(ArgumentValueError, match="no namespace 'mlx'"):
        PROGRAMS["loss"][0].source(W, X, Y, namespace="mlx")
    assert [*DIALECTS] == ["array_api", "cupy", "jax.numpy", "torch"]
