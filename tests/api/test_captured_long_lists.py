"""Long lists of numbers, and of tuples of them, that a function reads and is not passed."""

import pickle

import numpy as np
import pytest

from s2s_ad import grad, hessian, jit, jvp, value_and_grad, vjp, vmap
from transforms.differences import differences

pytestmark = pytest.mark.thinned(2)

EDGES = [(i, i + 1) for i in range(40)] + [(i, i + 2) for i in range(39)]
WEIGHTS = [0.1 * k - 1.3 for k in range(60)]
LABELS = [k * 7 % 41 for k in range(50)]
POSES = np.linspace(-1.0, 2.0, 41) ** 2


class Mesh:
    def __init__(self):
        self.edges = list(EDGES)
        self.parts = {"weights": list(WEIGHTS)}

    def energy(self, p):
        total = 0.0
        for k, (i, j) in enumerate(self.edges):
            total += self.parts["weights"][k % 60] * (p[i] - p[j]) ** 2
        return total


mesh = Mesh()


def over_rows(p):
    total = 0.0
    for i, j in EDGES:
        total += np.sin(p[i] - p[j]) ** 2
    return total


def with_numbers(p):
    total = 0.0
    for (i, j), w in zip(EDGES, WEIGHTS):
        total += w * p[i] * p[j]
    return total


def by_index(p):
    total = 0.0
    for k in range(len(LABELS)):
        total += p[LABELS[k]] ** 2 * WEIGHTS[k]
    return total


def as_array(p):
    return np.sum(np.array(WEIGHTS)[:41] * p**2) + np.sum(p[LABELS])


NAMES = [chr(97 + k % 26) for k in range(70)]


def with_words(p):
    total = 0.0
    for name, w in zip(NAMES, WEIGHTS):
        total += (w if name == "c" else 1.0) * p[3] ** 2
    return total


def static_use(p):
    return np.sum(np.sum(p.reshape(1, -1), axis=LABELS[0]) ** 2)


def of_one(p):
    i, j = EDGES[3]
    return p[i] * p[j] * WEIGHTS[-1]


def of_parts(p):
    first = EDGES[1:]
    total = 0.0
    for edge in first:
        total += p[edge[0]] * p[edge[1]]
    return total + len(EDGES) * p[0]


def of_all(p):
    return (
        sum(WEIGHTS) * p[0] + max(WEIGHTS) * p[1] + sorted(LABELS)[2] * p[2] + (7 in LABELS) * p[3]
    )


def sized(p):
    out = np.zeros(len(LABELS))
    for k, label in enumerate(LABELS):
        out[k] = p[label] ** 2
    return np.sum(out * out)


def in_a_helper(p):
    return stretched(p, 0.5) * stretched(p**2, 1.5)


def stretched(p, rest):
    total = 0.0
    for i, j in EDGES:
        total += (p[j] - p[i] - rest) ** 2
    return total


def copied(p):
    own = list(LABELS)
    own.append(3)
    total = 0.0
    for each in own:
        total += p[each]
    return total**2


def while_loop(p):
    k, total = 0, 0.0
    while k < len(EDGES) and total < 1e9:
        i, j = EDGES[k]
        total += p[i] ** 2 * p[j]
        k += 1
    return total


def made(p):
    return mesh.energy(p)


def in_a_cell():
    edges = list(EDGES)

    def inner(p):
        total = 0.0
        for i, j in edges:
            total += (p[i] * p[j]) ** 2
        return total

    return inner


PROGRAMS = [
    *(
        with_words,
        static_use,
        over_rows,
        with_numbers,
        by_index,
        as_array,
        of_one,
        of_parts,
        of_all,
        sized,
    ),
    *(in_a_helper, copied, while_loop, made, mesh.energy, in_a_cell()),
]
NAMED = pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__qualname__)


@pytest.mark.thinned(10)
@NAMED
def test_every_transform(fn):
    expected = differences(fn, POSES)
    np.testing.assert_allclose(grad(fn)(POSES), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jit(fn)(POSES), fn(POSES), rtol=1e-12)
    np.testing.assert_allclose(jit(grad(fn))(POSES), grad(fn)(POSES), rtol=1e-10)
    value, slope = value_and_grad(fn)(POSES)
    np.testing.assert_allclose(value, fn(POSES), rtol=1e-12)
    np.testing.assert_allclose(slope, grad(fn)(POSES), rtol=1e-12)
    batch = np.stack([POSES, POSES[::-1]])
    np.testing.assert_allclose(vmap(fn)(batch), [fn(each) for each in batch], rtol=1e-12)
    rows = [grad(fn)(each) for each in batch]
    np.testing.assert_allclose(vmap(grad(fn))(batch), rows, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(jvp(fn, (POSES,), (POSES,))[1], slope @ POSES, rtol=1e-9)
    np.testing.assert_allclose(vjp(fn, POSES)[1](1.0)[0], slope, rtol=1e-12)


def test_second_order():
    along = differences(lambda p: grad(over_rows)(p) @ POSES, POSES)
    np.testing.assert_allclose(hessian(over_rows)(POSES) @ POSES, along, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fn", [over_rows, with_numbers, by_index, sized, in_a_helper, made])
def test_text_does_not_grow_with_the_list(fn):
    assert grad(fn).text(POSES).statements < 40


@pytest.fixture
def edges():
    before = list(EDGES)
    yield EDGES
    EDGES[:] = before


def test_what_is_done_to_the_list_is_seen(edges):
    gradient = grad(over_rows)
    gradient(POSES)
    edges.pop()
    np.testing.assert_allclose(gradient(POSES), differences(over_rows, POSES), rtol=1e-5, atol=1e-6)
    edges[4] = (0, 40)
    np.testing.assert_allclose(gradient(POSES), differences(over_rows, POSES), rtol=1e-5, atol=1e-6)
    edges[4] = [0, 40]  # no longer alike
    np.testing.assert_allclose(gradient(POSES), differences(over_rows, POSES), rtol=1e-5, atol=1e-6)
    edges[4] = (0.5, 40)
    with pytest.raises(Exception, match="index"):
        gradient(POSES)
    del edges[3:]
    np.testing.assert_allclose(gradient(POSES), differences(over_rows, POSES), rtol=1e-5, atol=1e-6)
    edges.clear()
    np.testing.assert_allclose(gradient(POSES), 0.0 * POSES)


def test_another_list_in_its_place(monkeypatch):
    gradient = grad(over_rows)
    gradient(POSES)
    monkeypatch.setitem(globals(), "EDGES", [(k, 40 - k) for k in range(30)])
    np.testing.assert_allclose(gradient(POSES), differences(over_rows, POSES), rtol=1e-5, atol=1e-6)
    monkeypatch.setitem(globals(), "EDGES", ((0, 1), (2, 5)))
    np.testing.assert_allclose(gradient(POSES), differences(over_rows, POSES), rtol=1e-5, atol=1e-6)


def test_closures_have_lists_of_their_own():
    def made(edges):
        return grad(lambda p: sum(p[i] * p[j] for i, j in edges))

    for step in (1, 2, 3):
        edges = [(k, k + step) for k in range(38)]
        expected = np.zeros(41)
        for i, j in edges:
            expected[i] += POSES[j]
            expected[j] += POSES[i]
        np.testing.assert_allclose(made(edges)(POSES), expected, rtol=1e-12)


def adding(p):
    EDGES.append((0, 1))
    return p[0] ** 2 * len(EDGES)


def test_it_cannot_be_changed(edges):
    count = len(edges)
    with pytest.raises(Exception, match="list"):
        grad(adding)(POSES)
    assert len(edges) == count


def test_text_that_stands_alone_has_the_list():
    text = grad(over_rows).source(POSES, standalone=True)
    space = {}
    exec(compile(text, "standalone", "exec"), space)
    np.testing.assert_allclose(space["over_rows_grad"](POSES), grad(over_rows)(POSES))
    assert space["EDGES"] == EDGES


def test_pickled():
    again = pickle.loads(pickle.dumps(grad(over_rows)))
    np.testing.assert_allclose(again(POSES), grad(over_rows)(POSES))
