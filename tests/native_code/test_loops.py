"""Loop text as Python runs it: the same results as by NumPy, and no element that there is not."""

from __future__ import annotations

import copy
import itertools
import math

import gast
import numpy as np
import pytest

from native_code.interpreted import OutOfBounds, interpreted
from native_code.programs import PROGRAMS
from native_code.test_native import leaves, loops_alone, moving
from s2s_ad import grad, jit, value_and_grad
from s2s_ad.load.native import Native
from s2s_ad.native import affine
from s2s_ad.native.counters import counted_together

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
rng = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def as_python(monkeypatch):
    """Loops that Python runs."""
    monkeypatch.setenv("S2S_AD_NATIVE", "1")
    monkeypatch.setattr(Native, "kernel", lambda self: interpreted(self.text, self.name))


def triangle(A, B):
    """Products of columns: the loops go down, and along columns."""
    B = B.copy()
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    return np.sum(B**2)


def by_masks(x):
    """What is selected is counted in loops of its own."""
    large, small = x[x > 0.5], x[x < 0.4]
    return np.sum(large**2) * np.sum(small) + len(large) * x[0]


def leapfrog(q, steps, k):
    """Lists are kept in each pass, and arrays of one length have the same index."""
    p, force = np.zeros_like(q), np.zeros_like(q)
    for _ in range(steps):
        force[k] = -np.sin(q[k])
        p[k] = p[k] + 0.1 * force[k] * p[k] ** 2 - 0.1
        q = q + 0.1 * p * q**2
    return np.sum(q**2 + p**2)


def orthogonal(A):
    """All loops go along columns."""
    A, n = A.copy(), A.shape[1]
    Q = np.zeros_like(A)
    for k in range(n):
        Q[:, k] = A[:, k] / np.sqrt(A[:, k] @ A[:, k])
        for j in range(k + 1, n):
            A[:, j] -= Q[:, k] * (Q[:, k] @ A[:, j])
    return np.sum(Q**3) + np.sum(A**2)


def sweep(p, q):
    """Columns of the columns before them."""
    p, q = p.copy(), q.copy()
    for j in range(1, p.shape[1]):
        p[1:-1, j] = p[1:-1, j - 1] ** 2 / (1 + q[1:-1, j])
        q[1:-1, j] = q[1:-1, j - 1] * p[2:, j]
    return np.sum(p * q)


def kept_by_both(x, steps):
    """What is kept are lists of lists, for the one loop and for the other."""
    y = x.copy()
    for i in range(steps):
        for j in range(i):
            if y[j] > 0.5:
                y = y * np.sin(y)
            y = y + 0.1 * y[j] * y
    return np.sum(y**2)


def covariances(A):
    """Products of a column with those behind it, and columns that are rows."""
    cov = np.zeros((A.shape[1], A.shape[1]))
    for i in range(A.shape[1]):
        cov[i, i:] = A[:, i] @ A[:, i:] / len(A)
        cov[i:, i] = cov[i, i:]
    return np.sum(cov**2)


def mirrored(A):
    A = A.copy()
    for i in range(len(A)):
        A[i:, i] = A[i, i:] * 2
    return np.sum(A**3)


def shifted(x):
    """Elements that are read before they are stored, and others that are not."""
    x = x.copy()
    x[:-1] = x[1:] ** 2
    x[1:] = x[:-1] * 0.5
    x[2:] += x[:-2]
    return np.sum(x**2)


def shrinking(x, down):
    """A list of arrays of which each has another length."""
    values = x
    while len(values) > 1:
        values = down * values[1:] * values[:-1]
    return values[0]


def resampled(x, y):
    """What one path alone has is kept for each pass."""
    for t in range(3):
        if y[t] > 0.5:
            x = x[np.argsort(x + y[t])]
        x = x * y[t]
    return np.sum(x**2 * np.arange(len(x)))


def total(items):
    return sum(items) * items[0]


def number_behind_a_loop(A, x):
    """Of the last pass; the loop stays where it is."""
    A, t = A.copy(), 1.0
    for i in range(A.shape[1]):
        t = x[i] * 2
        for j in range(len(A)):
            A[j, i] = A[j, i] * t
    return np.sum(A**2) * t


def number_of_the_pass_before(A, x):
    A, t = A.copy(), 0.0
    for i in range(A.shape[1]):
        for j in range(len(A)):
            A[j, i] = A[j, i] * 2 + t
        t = x[i] * 3
    return np.sum(A**2)


def called_like_a_value(x):
    first = total([x[0], x[1], x[2]])
    total_ = total([x[1], x[0], x[3]])
    return first * total_


def least_of_sums(path):
    for k in range(path.shape[0]):
        path = np.minimum(path, path[:, k][:, None] + path[k])
    return np.sum(path**2)


def exchanged(M):
    M = M.copy()
    M[[0, 2]] = M[[2, 0]]
    return np.sum(M[0] ** 3) + np.sum(M**2)


def below_limits(x):
    """Elements that a mask takes, of others that it takes: nothing need be copied."""
    y, z = x.copy(), x * 2
    y[x > 0.4] = z[x > 0.4] * x[x > 0.4]
    y[y < 0.2] = y[y < 0.2] ** 2
    return np.sum(y**2)


def chosen_elements(x, scale, c):
    """Elements that a mask takes and puts back, once with others that are read behind it."""
    y, small, large = x * 2, x < 0.5, x > 0.6
    y[small] = np.exp(y[small] * scale) - x[small] / scale
    y[small] -= np.tanh(x[small])
    z = y.reshape(1, -1)
    z[z < 0] = -z[z < 0]
    c[large] = c[large] * y[large] ** 2
    taken = x[large] * scale
    y[large] = taken
    return np.sum(z**3) * np.sum(c) + np.sum(taken) + np.sum(np.exp(x[small] ** 2))


def attracted(points, mass):
    """Columns that are read for each pair of points."""
    dx = points[:, 0] - points[:, 0, np.newaxis]
    dy = points[:, 1] - points[:, 1, np.newaxis]
    pull = (dx**2 + dy**2 + 0.1) ** -1.5
    return np.sum(((dx * pull) @ mass) ** 2) + np.sum(((dy * pull) @ mass) ** 2)


def scaled_rows(M, x):
    """What is the same along a row, whose length may be 0."""
    M = M.copy()
    for i in range(len(x)):
        M[i] = M[i] * x[i] + x[i - 1]
    return np.sum(M**2) + np.sum(x)


def shortest_paths(a):
    a = a.copy()
    for k in range(len(a)):
        a = np.minimum(a, a[:, k][:, None] + a[k])
    return np.sum(a * a)


def recurrent(X, W, U):
    h = np.zeros(len(U))
    for t in range(len(X)):
        h = np.tanh(X[t] @ W + h @ U)
    return np.sum(h**2)


def of_columns(X, W):
    """Products of columns but the last, of which one is read again."""
    total, Y = 0.0, np.zeros((X.shape[1], len(W)))
    for i in range(X.shape[1] - 1):
        y = W @ X[:, i]
        y[0] *= X[0, i]
        Y[i, 1:] += y[1:] ** 2
        total += np.sum(y * np.arange(len(y))) * X[1, i]
    return total + np.sum(Y**3)


def above_diagonal(X):
    """Rows from a number on that is another one in each pass."""
    m = X.shape[1]
    products = np.zeros((m, m))
    for i in range(1, m):
        products[i, i:] = X[:, i] @ X[:, i:]
    return np.sum(products**2)


def read_between(X, W):
    """A sum of products that passes read."""
    total, S = 0.0, W.copy()
    for i in range(len(X)):
        S += np.outer(X[i], X[i] @ W)
        total += S[0, 1]
    return total


x, A = rng.random(7), rng.random((6, 6)) + 0.1


LOOPS = {
    "shortest paths": (shortest_paths, (np.abs(A[:3, :3]),)),
    "columns of a triangle": (triangle, (A, rng.random((6, 4)))),
    "columns of an orthogonal matrix": (orthogonal, (A[:, :4],)),
    "columns of the columns before": (sweep, (A, rng.random((6, 6)))),
    "a column of a row": (mirrored, (A,)),
    "lists of lists": (kept_by_both, (x, 5)),
    "parts by masks": (by_masks, (x,)),
    "lists filled in step": (leapfrog, (x, 5, -2)),
    "products of columns": (covariances, (A[:, :4],)),
    "elements beside each other": (shifted, (x,)),
    "lengths that differ": (shrinking, (x, 1.5)),
    "what a path lacks": (resampled, (x, np.array([0.7, 0.2, 0.9]))),
    "a number behind a loop": (number_behind_a_loop, (A, x)),
    "a number of the pass before": (number_of_the_pass_before, (A, x)),
    "called like a function": (called_like_a_value, (x,)),
    "one of two": (least_of_sums, (A,)),
    "rows that change places": (exchanged, (A,)),
    "places among sorted items": (
        lambda x, y: np.sum(y[np.searchsorted(x[:3], y) + np.searchsorted(x[2:4], y, "right")]),
        (np.array([0.2, 0.2, 0.5, np.nan]), np.array([0.2, np.nan, 0.5, 0.1, 0.7, -np.inf])),
    ),
    "elements of a mask": (below_limits, (x,)),
    "elements chosen by masks": (chosen_elements, (x, 1.5, np.ones(7))),
    "no element chosen": (chosen_elements, (np.zeros(0), 1.5, np.ones(0))),
    "pairs of points": (attracted, (rng.random((5, 2)), rng.random(5))),
    "no point at all": (attracted, (np.zeros((0, 2)), np.zeros(0))),
    "numbers of a row": (scaled_rows, (rng.random((7, 3)), x)),
    "rows without elements": (scaled_rows, (np.zeros((7, 0)), x)),
    "a median": (lambda x: np.median(x) * np.sum(x[np.quantile(x, 0.3) < x]), (x,)),
    "a median of two": (lambda A: np.median(A) ** 2, (A,)),
    "floats as whole numbers": (lambda x: np.sum(x[(x * 5).astype(int)] ** 2), (x,)),
    "the place of an item": (lambda x: [x[0], x[2], x[1]].index(x[1]) * x[0] ** 2, (x,)),
    "a long filter": (lambda x, y: np.sum(np.convolve(x, y, "valid") ** 2), (x, np.tile(x, 3))),
    "products of rows": (recurrent, (rng.random((9, 6)), A[:, :4], rng.random((4, 4)))),
    "no row": (recurrent, (np.zeros((0, 6)), A[:, :4], rng.random((4, 4)))),
    "products of columns but one": (of_columns, (A[:4], A[:, :4])),
    "products above the diagonal": (above_diagonal, (A[:, :4],)),
    "products that are read between": (read_between, (A, rng.random((6, 6)))),
    "a filter": (lambda x, y: np.sum(np.convolve(x, y, "same") ** 2), (x, x[:2])),
}


def agrees(function, args):
    places = moving(args)
    plain = value_and_grad(function, places if len(places) > 1 else places[0])
    found = loops_alone(jit(plain), *copy.deepcopy(args))
    for mine, its in zip(leaves(found), leaves(plain(*args)), strict=True):
        rtol = 1e-3 if np.asarray(its).dtype == np.float32 else 1e-11
        np.testing.assert_allclose(mine, its, rtol=rtol, atol=1e-13)
        assert np.asarray(mine).dtype == np.asarray(its).dtype


#: those that another one has a loop like
ALIKE = {
    "no element chosen",
    "lists of lists",
    "columns of a triangle",
    "one of two",
    "a filter",
    "a median of two",
    "a column of a row",
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    "name", [pytest.param(e, marks=pytest.mark.slow if e in ALIKE else ()) for e in LOOPS]
)
def test_loops_agree(name):
    agrees(*LOOPS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_agree_within_their_arrays(name):
    agrees(*PROGRAMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_loops_agree_where_numba_compiles_them(name, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("S2S_AD_NATIVE", "1")
    agrees(*LOOPS[name])


def test_what_is_out_of_bounds_is_seen():
    text = "def f(x):\n    y = np.empty(3)\n    return y[len(x)] + x[0]\n"
    assert np.isnan(interpreted(text, "f")(np.ones(2)))
    with pytest.raises(OutOfBounds):
        interpreted(text, "f")(np.ones(3))


# ---- products of all passes ----------------------------------------------------------------------


def products_in_loops(text):
    """How many products stand in loops, and how many beside them."""
    function = gast.parse(text).body[-1]
    calls = lambda node: [e for e in gast.walk(node) if getattr(e, "id", "") == "product"]
    inside = {id(c) for e in gast.walk(function) if isinstance(e, gast.For) for c in calls(e)}
    return len(inside), len(calls(function)) - len(inside)


@pytest.mark.parametrize(
    "name, beside",
    [
        ("products of rows", 3),
        ("products of columns but one", 3),
        ("products above the diagonal", 3),
        ("products that are read between", 2),
    ],
)
def test_products_of_all_passes_are_one(name, beside):
    function, args = LOOPS[name]
    text = jit(grad(function, moving(args))).source(*args, native=True)
    assert products_in_loops(text) == (0, beside)
    assert "+= " in text


@pytest.mark.thinned(2)
@pytest.mark.parametrize("place", [(0, 3), (2, 1)])
@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_rows_without_a_vector_do_not_meet_infinity(place, number):
    X = A[:, :4].copy()
    X[place] = number
    for function, args in ((above_diagonal, (X,)), (of_columns, (X.T.copy(), A[:, :4]))):
        plain = grad(function)
        np.testing.assert_array_equal(jit(plain)(*args), plain(*args))


# ---- the order of loops --------------------------------------------------------------------------


def innermost(text):
    """The loops without a loop inside."""
    tree = gast.parse(text)
    loops = [each for each in gast.walk(tree) if isinstance(each, gast.For)]
    return [
        e for e in loops if not any(isinstance(i, gast.For) for b in e.body for i in gast.walk(b))
    ]


def gaps(text):
    """The elements of arrays by rows whose first index an innermost loop moves."""
    columns = [
        line.split(" = ")[0].strip()
        for line in text.splitlines()
        if line.split("#")[0].rstrip().endswith(".T")
    ]
    found = []
    for loop in innermost(text):
        for node in (n for each in loop.body for n in gast.walk(each)):
            if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Tuple):
                by_columns = node.value.id in columns
                axis = node.slice.elts[1 if by_columns else 0]
                names = {each.id for each in gast.walk(axis) if isinstance(each, gast.Name)}
                found += [gast.unparse(node)] if loop.target.id in names else []
    return found


def test_innermost_loops_go_along_memory():
    text = jit(grad(triangle, (0, 1))).source(*LOOPS["columns of a triangle"][1], native=True)
    assert not [each for each in gaps(text) if each.startswith(("B_bar", "broadcast_like"))]
    assert "-1, -1)" not in text.split("# backward")[1].split("for k")[1]


def test_columns_stand_side_by_side():
    arguments = LOOPS["columns of an orthogonal matrix"][1]
    gradient = jit(grad(orthogonal))
    text = gradient.source(*arguments, native=True)
    assert "Q = np.zeros((A.shape[1], len(A))).T" in text
    assert not {"Q[i, k]", "A_2[i, k]", "A_2[i, j]"} & {*gaps(text.split("# backward")[0])}
    assert gradient(*arguments).flags.c_contiguous


def test_only_sums_of_variables_are_marked_as_counted_from_the_start():
    """Numba asks of each other index of these whether it is below 0, and LLVM can answer."""
    text = jit(grad(covariances)).source(A, native=True)
    assert "at(i + j)" in text
    assert "at(i)" not in text
    assert "at(" not in jit(grad(shifted)).source(x, native=True)


def test_what_stays_in_a_loop_is_read_before_it():
    """Otherwise LLVM reads it in each pass, for the arrays that the loop stores may overlap it."""
    for function, args in (LOOPS["pairs of points"], LOOPS["numbers of a row"]):
        text = jit(grad(function, (0, 1))).source(*args, native=True)
        for loop in innermost(text):
            nodes = [each for statement in loop.body for each in gast.walk(statement)]
            elements = [each for each in nodes if isinstance(each, gast.Subscript)]
            stored = {e.value.id for e in elements if isinstance(e.ctx, gast.Store)}
            for each in elements if stored else ():
                moves = loop.target.id in gast.unparse(each.slice)
                assert moves or each.value.id in stored, gast.unparse(loop)


def test_what_a_loop_stores_and_reads_again_is_a_number():
    text = jit(grad(shortest_paths)).source(*LOOPS["shortest paths"][1], native=True)
    for loop in innermost(text):
        stored = {gast.unparse(e.targets[0]) for e in loop.body if isinstance(e, gast.Assign)}
        for statement in loop.body[1:]:
            read = {gast.unparse(e) for e in gast.walk(statement.value)}
            assert not [each for each in read & stored if "[" in each], gast.unparse(loop)


def test_columns_of_pairs_are_put_side_by_side():
    text = jit(grad(attracted, (0, 1))).source(*LOOPS["pairs of points"][1], native=True)
    inside = [e for e in gaps(text) if e.startswith("points")]
    assert not [e for e in inside if e.startswith("points[j")]


def test_lists_of_lists_are_one_array():
    """What is kept for paths of which some count: not each pass back takes what was put there."""

    def paid(x):
        total = 0.0
        for i in range(3):
            price, average = x + 0.1 * np.sin(total), 0.0
            for _ in range(4):
                price = 0.5 * price + math.exp(-price * i)
                average += price
            if average > 2.1:
                total += average
        return total

    text = jit(grad(paid)).source(0.3, native=True)
    assert ".append(" not in text
    assert "filled_2" in text


def test_loops_in_loops_fill_one_array():
    text = jit(grad(orthogonal)).source(A[:, :4], native=True)
    assert ".append(" not in text
    assert "filled_2" not in text


def test_lists_that_are_filled_in_step_have_one_counter():
    text = jit(grad(leapfrog)).source(x, 5, -2, native=True)
    assert "saved_2[filled]" in text
    assert "filled_2" not in text


def test_an_index_is_asked_once_of_arrays_of_one_length():
    text = jit(grad(leapfrog)).source(x, 5, -2, native=True)
    assert text.count("= within(") == 2  # in the loop, and in that of the backward pass


IN_STEP = """
a = 0
b = 0
for i in range(n):
    {}
"""


@pytest.mark.parametrize(
    "body, is_one",
    [
        ("a += 1; s[a] = x; b += 1", True),
        ("a += 1; s[b] = x; b += 1", True),
        ("b += 1; s[a] = x; a += 1", True),
        ("a += 1; s[a] = t[b]; b += 1", False),
        ("a += 1; s[a] = x; a += 1; s[b] = x; b += 1; b += 1", False),
        ("a += 1; b += 2", False),
        ("a += 1; b = a + 1", False),
        ("a += int(t[i] > 1); b += int(t[i] > 2)", False),
        ("a += 1\n    if i > 2:\n        break\n    b += 1", False),
        ("a += 1\n    if i > 2:\n        b += 1", False),
        ("a += 1\n    if i > 2:\n        s[a] = x\n    b += 1", True),
    ],
)
def test_counters_are_one_where_nothing_tells_them_apart(body, is_one):
    text = IN_STEP.format(body)
    statements = gast.parse(text).body
    for each in (node for statement in statements for node in gast.walk(statement)):
        if isinstance(each, gast.AugAssign):
            each.target.ctx = gast.Load()  # as some of who write loops leave it
    made = gast.unparse(gast.Module(counted_together(statements), []))
    assert ("b" in made) is not is_one
    both = []
    for each in (text, made):
        space = {"n": 5, "x": 1.0, "s": [0.0] * 20, "t": [*range(20)]}
        exec(each, space)
        both.append((space["s"], space["a"], space.get("b", space["a"])))
    assert both[0] == both[1]


def test_updates_are_copied_where_they_have_to_be():
    text = jit(shifted).source(x, native=True)
    assert text.count("np.empty") == 2  # x[1:] of x[:-1], x[2:] of x[:-2]; not x[:-1] of x[1:]


INDICES = [
    "i",
    "i + 1",
    "2 * i",
    "a",
    "a + 1",
    "j",
    "i + j",
    "a + i",
    "j - i",
    "b - j",
    "a + j + 2",
]
SPACE = [{"i": i, "j": j, "a": 1, "b": 2} for i in range(4) for j in range(3)]
VALUES = {each: [eval(each, dict(at)) for at in SPACE] for each in INDICES}
FORMS = {each: affine.form_of(gast.parse(each, mode="eval").body) for each in INDICES}


@pytest.mark.parametrize("first", INDICES)
def test_distances_by_enumeration(first):
    """Where a proof says that a copy is not needed, none is, however long the loops are."""
    for second, *read in itertools.product(INDICES, repeat=3):
        forms = [[FORMS[each] for each in pair] for pair in ((first, second), read)]
        if affine.comes_no_later(affine.distances(*forms, ["i", "j"])):
            stored = {}
            for k, place in enumerate(zip(VALUES[first], VALUES[second], strict=True)):
                stored.setdefault(place, k)
            places = zip(*(VALUES[each] for each in read), strict=True)
            assert all(stored.get(place, k) >= k for k, place in enumerate(places)), (second, read)


def first_of_what_is_left(items, k):
    while k:
        k -= 1
        items.pop()
    items[0] = 0.1
    return items[0] * np.float64(0.5)


@pytest.mark.parametrize("kind", [np.float32, np.complex128])
def test_a_number_of_pythons_in_a_list_stays_one(kind):
    """0.1 is no number of single precision, and a complex one is another number."""
    found = jit(first_of_what_is_left)([kind(1.0), kind(2.0)], 1)
    assert (found, found.dtype) == (0.1 * 0.5, np.float64)


def shifted_by_a_sum(x, k):
    """The sum is one of single precision, and its adjoint that of a number of Python's."""
    total = 0
    for each in x:
        total = total + (each * each + k)
    return np.sum(x) - 2.0 * float(total)


def left_at_a_sum(x, k):
    total, i = 0.0, 0
    while total < 3:
        total = total + (x[i] * x[i] + k)
        i += 1
    return float(total) * 1.5


@pytest.mark.parametrize("function", [shifted_by_a_sum, left_at_a_sum])
def test_the_adjoint_of_a_sum_has_its_precision_in_a_loop(function):
    gradient, args = grad(function, (0, 1)), (np.array([1, 0.4, 0.7], np.float32), 2.0)
    loops = jit(gradient)
    assert loops.text(*args).native
    for found, expected in zip(loops(*args), gradient(*args), strict=True):
        assert found.dtype == expected.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def largest_of_many(x):
    items = [x[0] * 1, x[1] * 2, x[2] * 3, x[0] * 4, x[1] * 5, x[2] * 6, x[0] * 7, x[1] * 8]
    return max(items) * items.index(min(items))


def test_each_of_many_numbers_is_compared_once():
    x = np.array([0.3, 0.9, 0.1])
    text = jit(largest_of_many).source(x, native=True)
    assert text.count(" > ") + text.count(" < ") == 7 + 7
    assert jit(largest_of_many)(x) == largest_of_many(x)
