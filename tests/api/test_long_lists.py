"""Long lists of numbers are one input: code, and the time to compile it, do not grow with the data.

The expected gradients are those of the same function of an array, or differences.
"""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest

from rules.properties import module
from s2s_ad import S2SError, grad, jit, jvp, linearize, value_and_grad, vjp, vmap
from s2s_ad.api import function as compiling
from s2s_ad.check import central_differences
from s2s_ad.diagnostics import InternalError

pytestmark = pytest.mark.thinned(3)

LENGTHS = (40, 57)


def indexed(p):
    total = 0.0
    for i in range(1, len(p)):
        total += np.sin(p[i] - p[i - 1]) * i
    return total


def iterated(p):
    total = 1.0
    for k, v in enumerate(p):
        total += np.cos(k * v) * v
    return total


def paired(p):
    return sum([(b - a) ** 2 * a for a, b in itertools.pairwise(p)])


def of_builtins(p):
    return max(p) * min(p) + sum(p) * p[-1] / len(p)


def selected(p):
    total = 0.0
    for v in p:
        if v > 0.5:
            total += v * v
        else:
            total -= v
    return total


def as_array(p):
    return np.sum(np.sin(p) * np.array(p))


def copied(p):
    q = list(p)
    q[0] = q[1] * 2.0
    return sum(q) * q[0] + p[0]


def unpacked(p):
    a, b, *others = p
    return a * b + sum(others) * a


def stored(p):
    p[3] = p[2] * p[1]
    return sum(p) * p[3]


def first_stored(p):
    p[0] = p[2] * p[1]
    return sum(p) * p[-1]


def path_length(points):
    total = 0.0
    for i in range(1, len(points)):
        dx = points[i][0] - points[i - 1][0]
        dy = points[i][1] - points[i - 1][1]
        total += np.sqrt(dx * dx + dy * dy)
    return total


def area(points):
    total = 0.0
    for i in range(len(points)):
        x, y = points[i]
        u, v = points[(i + 1) % len(points)]
        total += x * v - u * y * x
    return 0.5 * total


def rows(points):
    return sum([x * np.sin(y) for x, y in points])


def row_stored(points):
    points[0][1] = points[2][0] * points[2][1]
    return sum([row[0] * row[1] for row in points])


def columns(points):
    xs, ys = zip(*points, strict=True)
    return sum(xs) * sum(ys) * xs[0]


ONE_INPUT = [indexed, iterated, paired, of_builtins, selected, as_array, copied, unpacked]
POINTS = [path_length, area, rows]
APART = [stored, first_stored, row_stored, columns]
OF_POINTS = {*POINTS, row_stored, columns}


def data(function, length):
    rng = np.random.default_rng(length)
    shape = (length, 2) if function in OF_POINTS else (length,)
    return rng.uniform(0.2, 1.0, shape).tolist()


def slopes(function, p):
    """Central differences by each number."""
    at, h, found = np.array(p), 1e-6, np.zeros(np.shape(p))
    for index in np.ndindex(at.shape):
        above, below = at.copy(), at.copy()
        above[index] += h
        below[index] -= h
        found[index] = (function(above.tolist()) - function(below.tolist())) / (2 * h)
    return found


@pytest.mark.parametrize("function", [*ONE_INPUT, *POINTS, *APART])
def test_derivatives(function):
    derived = grad(function)
    for length in LENGTHS if function not in APART else LENGTHS[:1]:
        p = data(function, length)
        expected = slopes(function, data(function, length))
        found = derived(p)
        assert isinstance(found, list)
        assert isinstance(found[0], type(p[0]))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        assert p == data(function, length)  # the caller's list is as it was
        along = np.random.default_rng(1).normal(size=np.shape(p))
        _, tangent = jvp(function, (p,), (along.tolist(),))
        np.testing.assert_allclose(tangent, np.sum(expected * along), rtol=1e-6)
        assert jit(function)(p) == pytest.approx(function(data(function, length)), rel=1e-12)


@pytest.mark.parametrize("function", [indexed, iterated, path_length])
def test_second_derivatives(function):
    p = data(function, LENGTHS[0])
    along = np.random.default_rng(2).normal(size=np.shape(p))
    _, found = jvp(grad(function), (p,), (along.tolist(),))
    h, derived = 1e-6, grad(function)
    above, below = (derived((np.array(p) + s * h * along).tolist()) for s in (1, -1))
    np.testing.assert_allclose(found, np.subtract(above, below) / (2 * h), rtol=1e-5, atol=1e-5)


GRADIENT = grad(selected)


def squared_gradient(p):
    return sum([v * v for v in GRADIENT(p)])


def test_a_gradient_inside_of_a_function():
    p = data(selected, LENGTHS[0])
    found = grad(squared_gradient)(p)
    np.testing.assert_allclose(found, [8 * v if v > 0.5 else 0.0 for v in p])


@pytest.mark.parametrize("function", [*ONE_INPUT, *POINTS])
@pytest.mark.parametrize("transform", [grad, jit])
def test_the_text_does_not_depend_on_the_length(function, transform):
    texts = {transform(function).source(data(function, n)) for n in (40, 300)}
    assert len(texts) == 1
    derived = transform(function)
    for length in (40, 57, 300):
        derived(data(function, length))
        assert derived.source(data(function, length)) in texts
    assert len(derived._dispatch.by_signature) == 1


def test_short_lists_and_other_items_are_inputs_of_their_own():
    assert "p_0" in grad(iterated).source([0.5, 0.25])
    mixed = [0.5] * 40 + [np.float64(0.25)]
    np.testing.assert_allclose(grad(iterated)(mixed), slopes(iterated, mixed), rtol=1e-6)
    with pytest.raises(S2SError, match="gradients need floating-point numbers"):
        grad(iterated)([0.5] * 40 + [1])


@pytest.mark.parametrize("function", [indexed, selected, copied, path_length, stored])
def test_halves_that_run_later(function):
    """What the second half reads is as it was, whatever has become of the list."""
    p = data(function, LENGTHS[0])
    value, pullback = vjp(function, p)
    along = np.random.default_rng(1).normal(size=np.shape(p))
    _, tangent = linearize(function, (data(function, LENGTHS[0]),))
    for row in p if isinstance(p[0], list) else [p]:
        row[0] = row[1] = 9.0
    expected = slopes(function, data(function, LENGTHS[0]))
    assert value == pytest.approx(function(data(function, LENGTHS[0])), rel=1e-12)
    for _ in range(2):
        found = pullback(1.0)[0]
        assert isinstance(found, list)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(tangent(along.tolist()), np.sum(expected * along), rtol=1e-6)


def test_a_fault_of_the_compiler_is_told():
    """Code for lists is not given up because the compiler failed, which hides the fault."""
    twice = [ZeroDivisionError("ours"), mock.DEFAULT]
    with mock.patch.object(compiling, "finish", wraps=compiling.finish, side_effect=twice):
        with pytest.raises(InternalError, match="ours"):
            grad(iterated)(data(iterated, 40))


def scaled(weights, x):
    return np.sum(sum(weights["w"]) * x * weights["b"]) * weights["w"][2]


def test_inside_of_other_containers_and_for_a_batch():
    w, x = data(indexed, 40), np.array([1.0, 2.0, 3.0])
    weights = {"w": w, "b": 2.0}
    found = value_and_grad(scaled)(weights, x)[1]
    expected = np.full(40, 12.0 * w[2])
    expected[2] += 12.0 * sum(w)
    np.testing.assert_allclose(found["w"], expected)
    assert found["b"] == pytest.approx(6.0 * sum(w) * w[2])
    each = vmap(grad(scaled), in_axes=(None, 0))(weights, x)
    np.testing.assert_allclose(each["b"], x * sum(w) * w[2])
    _, back = vjp(iterated, w)
    np.testing.assert_allclose(np.ravel(back(2.0)), 2 * slopes(iterated, w), rtol=1e-6)


def test_the_same_list_twice_and_a_list_that_is_not_read():
    def product(p, q, r):
        return paired(p) * iterated(q)

    p = data(indexed, 40)
    by_p, by_q, by_r = grad(product, (0, 1, 2))(p, p, p)
    np.testing.assert_allclose(by_p, slopes(paired, p) * iterated(p), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(by_q, slopes(iterated, p) * paired(p), rtol=1e-6, atol=1e-7)
    assert by_r == [0.0] * 40


def test_an_index_beyond_the_end_is_an_error_of_the_call():
    def beyond(p):
        return p[50] * p[50]

    p = data(indexed, 57)
    derived = grad(beyond)
    assert derived(p)[50] == 2 * p[50]
    with pytest.raises(IndexError):
        derived(p[:40])
    with pytest.raises(S2SError, match="a list of 39"):
        jvp(indexed, (p[:40],), (p[:39],))


def polynomial(p, x):
    total = 0.0
    for c in reversed(p):
        total = total * x + c
    return total


def every_product(p, x):
    return [c * x for c in p]


@pytest.mark.parametrize(
    "function, derived",
    [
        (polynomial, lambda f: f),
        (polynomial, grad),
        (polynomial, lambda f: grad(f, 1)),
        (every_product, lambda f: f),
    ],
)
def test_a_list_that_all_samples_share(function, derived):
    xs = np.linspace(0.1, 0.9, 5)
    batched = vmap(derived(function), in_axes=(None, 0))
    for length in LENGTHS:
        p = data(indexed, length)
        samples = [derived(function)(p, x) for x in xs.tolist()]
        found = batched(p, xs)
        np.testing.assert_allclose(
            np.array(found).T if isinstance(samples[0], list) else found, samples
        )
    assert len({batched.source(data(indexed, n), xs) for n in (40, 300)}) == 1
    with pytest.raises(S2SError, match="a Python float: it has no axis 0 to map"):
        vmap(derived(function))(data(indexed, 40), xs)


# ---- whole numbers -------------------------------------------------------------------------------


def cross_entropy(w, x, labels):
    z = x @ w
    total = 0.0
    for k, c in enumerate(labels):
        total += np.log(np.sum(np.exp(z[k]))) - z[k, c]
    return total / len(labels)


def picked(w, x, labels):
    return -np.mean(np.sin(x @ w)[np.arange(len(labels)), labels])


def stored_at(w, x, labels):
    y = np.zeros(4)
    y[labels] += np.exp(w[0, 0])
    return np.sum(y * x[0, 0])


def compared(w, x, labels):
    return np.sum((x @ w)[:, 0] * (np.array(labels) == 1)) + sum(labels) * w[0, 0] ** 2


def tree_of_joints(w, x, parents):
    positions = []
    for k, parent in enumerate(parents):
        positions.append(x[k] @ w if parent < 1 else positions[parent - 1] + np.sin(x[k] @ w))
    return np.sum(positions[-1] ** 2)


def repeated(w, x, counts):
    total = 0.0
    for k in range(len(counts)):
        for _ in range(counts[k]):
            total += w[0, 0] ** 2 * x[k, 0]
    return total


WHOLE = [cross_entropy, picked, stored_at, compared, tree_of_joints, repeated]


def whole_data(length):
    rng = np.random.default_rng(length)
    labels = [0, *(int(rng.integers(0, min(k + 1, 4))) for k in range(1, length))]
    return rng.normal(size=(3, 4)), rng.normal(size=(length, 3)), labels


@pytest.mark.parametrize("function", WHOLE)
def test_lists_of_whole_numbers(function):
    derived, texts = grad(function), set()
    for length in LENGTHS:
        w, x, labels = whole_data(length)
        expected = np.zeros_like(w)
        for index in np.ndindex(w.shape):
            step = np.zeros_like(w)
            step[index] = 1e-6
            above, below = function(w + step, x, labels), function(w - step, x, labels)
            expected[index] = (above - below) / 2e-6
        found = derived(w, x, labels)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        batch = vmap(derived, (0, None, None))(np.stack([w, w]), x, labels)
        np.testing.assert_allclose(batch, [found, found], rtol=1e-12)
        np.testing.assert_allclose(jit(derived)(w, x, labels), found, rtol=1e-12)
        texts.add(derived.source(w, x, labels))
    assert len(texts) == 1


def test_an_index_that_is_a_list_without_items_is_one_of_whole_numbers():
    def none_of(x, n):
        chosen = []
        for k in range(n):
            chosen.append(k)
        return np.sum(x[chosen] ** 2)

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(grad(none_of)(x, 0), np.zeros(3))
    np.testing.assert_allclose(grad(none_of)(x, 2), [2.0, 4.0, 0.0])


# ---- tuples --------------------------------------------------------------------------------------


def springs(p, bonds):
    energy = 0.0
    for i, j, k in bonds:
        energy += k * np.sin(p[i] - p[j]) ** 2
    return energy


def by_index(p, bonds):
    total = 0.0
    for n in range(1, len(bonds)):
        total += p[bonds[n][0]] * p[bonds[n - 1][1]] ** 2
    return total


def zipped(p, bonds):
    return sum([(p[a] - p[c]) ** 2 for (a, _, _), (_, c, _) in itertools.pairwise(bonds)])


def neighbours(p, bonds):
    near = [[] for _ in range(len(p))]
    for i, j, _ in bonds:
        near[i].append(j)
    return sum([p[i] * p[j] ** 2 for i in range(len(p)) for j in near[i]])


def array_of_tuples(p, bonds):
    return np.sum(np.array(bonds)[:, 2] * p[0] ** 2) + np.mean(bonds, axis=0) @ p[:3]


def kinds_of_items(p, bonds):
    pairs = [bond for bond in bonds if isinstance(bond, tuple) and not isinstance(bond, list)]
    return p[0] ** 2 * len(pairs) + p[1] * len(bonds[0])


def lengthened(p, bonds):
    bonds = [*bonds, (0, 1, 2.0)]
    bonds.append((1, 2, 0.5))
    return springs(p, bonds)


def of_polygons(p, bonds):
    return sum([p[i] * p[j] * k for polygon in [bonds, bonds[:7]] for i, j, k in polygon])


def until(p, bonds):
    n, total = 0, 0.0
    while bonds[n][2] < 19.0:
        total += p[bonds[n][0]] ** 2
        n += 1
    return total


TUPLES = [
    springs,
    by_index,
    zipped,
    neighbours,
    array_of_tuples,
    kinds_of_items,
    lengthened,
    of_polygons,
    until,
]
ONE_TEXT = [springs, by_index, zipped, neighbours, array_of_tuples, until]


def bonds_of(length):
    return [(n % 5, (n + 2) % 5, n / 2) for n in range(length)]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("function", TUPLES)
def test_lists_of_tuples(function):
    derived, texts = grad(function), set()
    for length in LENGTHS:
        p, bonds = np.random.default_rng(length).normal(size=5), bonds_of(length)
        steps = np.eye(5) * 1e-6
        expected = [(function(p + h, bonds) - function(p - h, bonds)) / 2e-6 for h in steps]
        found = derived(p, bonds)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        batch = vmap(derived, (0, None))(np.stack([p, p]), bonds)
        np.testing.assert_allclose(batch, [found, found], rtol=1e-12)
        np.testing.assert_allclose(jit(derived)(p, bonds), found, rtol=1e-12)
        assert jit(function)(p, bonds) == pytest.approx(function(p, bonds), rel=1e-12)
        assert bonds == bonds_of(length)
        texts.add(derived.source(p, bonds))
    assert len(texts) == 1 or function not in ONE_TEXT


def line_fit(p, points):
    return sum([(p[0] * x + p[1] - y) ** 2 for x, y in points])


@pytest.mark.parametrize("length", [3, 40])
def test_by_the_numbers_of_tuples_themselves(length):
    p, points = np.array([0.5, -0.25]), [(0.1 * n, 0.2) for n in range(length)]
    expected = [2 * p[0] * (p[0] * x + p[1] - y) for x, y in points]
    found = grad(line_fit, 1)(p, points)
    assert isinstance(found[0], tuple)
    np.testing.assert_allclose([x for x, _ in found], expected, rtol=1e-12)
    np.testing.assert_allclose([x for x, _ in vjp(line_fit, p, points)[1](1.0)[1]], expected)
    _, tangent = jvp(line_fit, (p, points), (0 * p, [(1.0, 0.0)] * len(points)))
    np.testing.assert_allclose(tangent, sum(expected), rtol=1e-12)


def test_what_python_refuses_of_tuples_is_refused():
    bonds, p = bonds_of(40), np.ones(5)
    with pytest.raises(IndexError):
        grad(lambda p, bonds: p[bonds[len(bonds)][0]] ** 2)(p, bonds)
    with pytest.raises(S2SError, match="cannot unpack 3 values into 2 names"):
        grad(line_fit)(p, bonds)
    with pytest.raises(S2SError, match="does not support item assignment"):
        grad(overwritten)(p, bonds)


def test_a_refused_call_leaves_the_text_of_others_as_it_was():
    derived, p = grad(line_fit), np.ones(2)
    with pytest.raises(S2SError, match="cannot unpack 3 values into 2 names"):
        derived(p, bonds_of(40))
    points = [(0.1 * n, 0.2) for n in range(40)]
    np.testing.assert_allclose(
        derived(p, points),
        [2 * sum(x * (x + 0.8) for x, _ in points), 2 * sum(x + 0.8 for x, _ in points)],
    )
    assert "for x, y in reversed(points)" in derived.source(p, points)


def overwritten(p, bonds):
    bonds[0][1] = 3
    return p[0] ** 2


def perimeter(p, polygons):
    return sum([(p[0] * x - p[1] * y) ** 2 for polygon in polygons for x, y in polygon])


def test_lists_of_lists_of_tuples():
    p, polygons = np.array([0.5, -0.25]), [[(0.1 * n, 0.2), (0.3, n * 1.0)] for n in range(20)]
    slopes = [
        sum(
            2 * sign * c * (p[0] * x - p[1] * y)
            for corners in polygons
            for x, y in corners
            for c in [x if sign > 0 else y]
        )
        for sign in (1, -1)
    ]
    np.testing.assert_allclose(grad(perimeter)(p, polygons), slopes)


@pytest.mark.parametrize(
    "function, arguments",
    [
        (springs, (np.ones(5), bonds_of(40))),
        (cross_entropy, whole_data(40)),
        (iterated, (data(iterated, 40),)),
    ],
)
def test_later_calls_do_not_make_an_abstract_value_of_each_number(function, arguments):
    """That took twenty times as long as the gradient."""
    derived = grad(function)
    for _ in range(3):
        expected = derived(*arguments)
    with mock.patch("s2s_ad.core.values.of_leaf", side_effect=AssertionError):
        np.testing.assert_array_equal(derived(*arguments), expected)


@pytest.mark.parametrize(
    "item",
    [
        "x[k] > 0.7",
        "k % 2 == 0",
        "np.argmax(x[k:])",
        "order[k]",
        "np.uint8(k)",
        "order[k] if k % 2 else k",
        "(order + k)[:2] % len(x)",
        "np.array([k, k])",
    ],
)
def test_the_items_of_a_list_that_is_an_index(item):
    f = module(
        "import numpy as np\n\n"
        "def f(x):\n"
        "    order, chosen = np.argsort(x), []\n"
        f"    for k in range(len(x)):\n        chosen.append({item})\n"
        "    y = x[chosen] ** 2\n"
        "    return np.sum(y * np.arange(1.0, 1 + len(y)).reshape((-1, *[1] * (y.ndim - 1))))\n"
    ).f
    x = np.array([0.9, 0.3, 0.8, 1.2, 1.5])
    batch = np.stack([x, x * 1.1])
    expected = [central_differences(f, (each,))[0] for each in batch]
    np.testing.assert_allclose(grad(f)(x), expected[0], atol=1e-8)
    np.testing.assert_allclose(vmap(grad(f))(batch), expected, atol=1e-8)


def test_a_list_of_floats_is_no_index():
    def f(x):
        chosen = []
        for k in range(len(x)):
            chosen.append(k * 0.5)
        return np.sum(x[chosen])

    with pytest.raises(S2SError, match="an index that is not an integer or a boolean"):
        grad(f)(np.ones(3))


@pytest.mark.parametrize("text", ["x / k", "x * (1 / k)", "1 / k + x", "x * k**-1", "x * (3 // k)"])
@pytest.mark.parametrize("kind", [int, float])
def test_a_quotient_by_the_zero_of_a_long_list_raises(text, kind):
    f = module(
        f"def f(x, ks):\n    total = 0.0\n    for k in ks: total += {text}\n    return total\n"
    ).f
    numbers = [kind(each) for each in range(50)]
    for function in (f, jit(f), value_and_grad(f)):
        with pytest.raises(ZeroDivisionError):
            function(1.0, numbers)
    if text != "1 / k + x":  # its derivative reads no quotient
        with pytest.raises(ZeroDivisionError):
            grad(f)(1.0, numbers)
    assert grad(f)(1.0, numbers[1:]) == pytest.approx(
        f(1.5, numbers[1:]) / 0.5 - f(1.0, numbers[1:]) / 0.5
    )
