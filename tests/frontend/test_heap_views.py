"""Views and aliases: what is written through one name is read through the other."""

import numpy as np
import pytest

from frontend.flow import assert_like_python
from s2s_ad import grad, jit
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError

X = np.array([3.0, 1.0, 2.0, 5.0])
A = np.arange(12.0).reshape(3, 4) + 0.5


def alias(x):
    y = x * 1.0
    z = y
    y[0] = 5.0
    z[1] = 6.0
    return z * y


def written_through_the_view(x):
    y = x * 1.0
    v = y[1:]
    v[0] = 9.0
    v += 1.0
    return y, v


def written_through_the_array(x):
    y = x * 1.0
    v = y[1:]
    y[2] = 9.0
    y *= 2.0
    return y, v


def diagonal_of_what_changes_later(a):
    b = a.copy()
    first, second = np.diag(b), np.diagonal(b)
    b[0, 0] = b[1, 1] ** 2
    return np.sum(first * second) + np.sum(np.diag(np.diag(b)))


def view_taken_after_the_store(x):
    y = x * 1.0
    y[1] = 4.0
    v = y[:2]
    before = v * 1.0
    y[0] = 8.0
    return v, before


def view_of_a_view(a):
    b = a.copy()
    v = b[1:]
    w = v[:, 1:]
    w[0, 0] = 5.0
    v[0] *= 2
    b[2] += 1.0
    w[:, -1] = b[0, :2]
    return b, v, w


def views_that_overlap(x):
    y = x * 1.0
    v, w, every = y[:3], y[1:], y[:]
    v[1] = 7.0
    w[0] += 1.0
    every[2] = 0.0
    return y, v, w, every


def steps(a):
    b = np.zeros((3, 4))
    v = b[::2, 1:]
    v[1] = a[0, :3]
    w = v[:, ::-1]
    w[0, 0] = 2.0
    b[0] = a[1]
    return b, v, w


def transposed(a):
    b = a * 1.0
    t = b.T
    t[1, 2] = 3.0
    t[0] = 4.0
    t[:, 1] += 1.0
    b[0, 3] = 8.0
    t.T[2, 2] = -1.0
    return b, t


def permuted(a):
    b = np.zeros((2, 3, 4))
    m = np.moveaxis(b, 0, 2)
    m[0, 0, 1] = a[0, 0]
    s = b.swapaxes(0, 1)
    s[1] = 2.0
    t = b.transpose(2, 0, 1)
    t[3] += 1.0
    np.swapaxes(b, 0, 2)[1, :, 0] = [5.0, 6.0, 7.0]
    return b, m, s, t


def flipped(x):
    y = x * 1.0
    f = np.flip(y)
    f[0] = 1.0
    y[0] = 2.0
    y[::-1][1] = 3.0
    return y, f


def axes_of_length_one(a):
    b = np.zeros((1, 3))
    s = np.squeeze(b, axis=0)
    s[1] = a[0, 0]
    e = s[:, None]
    e[2, 0] = 4.0
    x = np.expand_dims(s, 0)
    x[0, 0] = -1
    return b, s, e, x


def reshaped_where_we_made_the_memory(x):
    y = np.zeros((2, 3))
    z = y.reshape(6)
    z[4] = x[0]
    w = y.ravel()
    w[0] = x[1]
    y[1] += 1.0
    p = np.reshape(y, (3, 2))
    p[0] = x[:2]
    q = x.reshape(2, 2).copy()
    q.ravel()[1] = 9.0
    return y, z, w, p, q


def reshaped_vector(x):
    y = x * 1.0
    m = y.reshape(2, 2)
    m[1] = 0.0
    m[:, 0] += 1.0
    return y, m


def copies_are_not_views(a):
    b = a.copy()
    f, c, d, g = b.flatten(), b.copy(), np.array(b), b[[0, 1]]
    e = b.astype(float)
    b[0] = 0.0
    f[0] = c[0, 0] = d[0, 0] = e[0, 0] = g[0, 0] = 100.0
    return b, f, c, d, e, g


def asarray_is_the_array(x):
    y = x * 2.0
    z = np.asarray(y)
    y += 1.0
    z[0] = 0.0
    return y, z


def rows_of_a_loop(a):
    b = a.copy()
    for row in b:
        row[0] = 1.0
        row *= 2.0
    return b


def columns_of_a_loop(a):
    b = a.copy()
    for column in b.T:
        column[0] = 1.0
        column += column[1]
    return b


def rows_with_their_number(a):
    b = a.copy()
    for i, (row, other) in enumerate(zip(b, a)):
        row[i] = other[0]
        b[0, i] += 1.0
    return b


def items_of_an_array_in_a_loop(x):
    y, z = x * 1.0, x * 1.0
    for v in y:
        y[0] += v
    for i, v in enumerate(z):
        z[i] = v * 2.0
    return y, z


def rows_by_index(a, n):
    b = a.copy()
    for i in range(n):
        row, before = b[i], b[i - 1]
        row += before
        b[i, 0] = row[1]
    return b


def view_from_before_the_loop(x, n):
    y = x * 1.0
    v = y[1:]
    for _ in range(n):
        y[1] += 1.0
        v[1] *= 2.0
    return y, v


def view_of_the_last_pass(a, n):
    b, row = a.copy(), a[0]
    for i in range(n):
        row = b[i] * 1.0
        row[0] = 0.0
    return b, row


def alias_in_the_loop(x, n):
    y = x * 1.0
    for i in range(n):
        z = y
        z[i] = z[i] * 2.0
        y = z
    return y


def array_of_the_pass_before(x, n):
    y = x * 1.0
    prev = y
    for _ in range(n):
        prev = y
        y = y + 1.0
        prev[0] = 7.0
    return y, prev


def buffer_of_the_pass_before(x, n):
    y = x * 1.0
    prev = y.copy()
    for _ in range(n):
        prev[:] = y
        y += prev * 0.5
    return y, prev


def views_on_two_paths(x, c):
    y = x * 1.0
    v = y[:2]
    if c > 0:
        y[0] = 3.0
    else:
        v[1] = 4.0
    v += 1
    return y, v


def alias_that_one_path_makes(x, c):
    y = x * 1.0
    if c > 0:
        y[0] = 1.0
        z = y
    else:
        z = x * 2
    z[1] = 5.0
    return z


def same_array_twice(x):
    def g(p, q):
        p[0] = 1.0
        p += q
        return q * 2

    y = x.copy()
    return g(y, y), y


def closures(x):
    y = x * 1.0

    def g(i, v):
        y[i] = v

    g(0, 5.0)
    h = lambda: y
    y[1] = 6.0
    held = h()
    held[2] = 7.0
    return h() * 2, y


def defaults_and_methods(x):
    y = x * 2.0
    f = lambda v=y: v
    total = y.sum
    y += 1.0
    return f(), total()


def containers(x):
    y = x * 1.0
    items, d, pair = [y, y], {"y": y}, (y, x)
    y[0] = 4.0
    items[1][1] = 5.0
    d["y"][2] = 6.0
    pair[0][3] = 7.0
    pair[0][:2] += 1.0
    return items, d, pair, y


def through_a_call(x):
    identity = lambda a: a
    y = x * 2.0
    z = identity(y)
    z += 1.0
    return y * z


def first_two(a):
    b = a * 1.0
    return a[:2], b


def views_from_a_helper(x):
    y = x * 2.0
    v, other = first_two(y)
    y[0] = 9.0
    v[1] = 8.0
    return y, v, other


def exchanged(x):
    y = x * 1.0
    a, b = y[:2], y[2:]
    a[:], b[:] = b, a
    return y


def added_to_itself(x):
    y = x * 1.0
    y += y[::-1]
    y[:] = y[::-1]
    y -= y
    return y


CASES = [
    (alias, (X,)),
    (written_through_the_view, (X,)),
    (written_through_the_array, (X,)),
    (view_taken_after_the_store, (X,)),
    (diagonal_of_what_changes_later, (A,)),
    (view_of_a_view, (A,)),
    (views_that_overlap, (X,)),
    (steps, (A,)),
    (transposed, (A,)),
    (permuted, (A,)),
    (flipped, (X,)),
    (axes_of_length_one, (A,)),
    (reshaped_where_we_made_the_memory, (X,)),
    (reshaped_vector, (X,)),
    (copies_are_not_views, (A,)),
    (asarray_is_the_array, (X,)),
    (rows_of_a_loop, (A,)),
    (columns_of_a_loop, (A,)),
    (rows_with_their_number, (A,)),
    (items_of_an_array_in_a_loop, (X,)),
    (rows_by_index, (A, 3)),
    (view_from_before_the_loop, (X, 3)),
    (view_of_the_last_pass, (A, 3)),
    (alias_in_the_loop, (X, 3)),
    (array_of_the_pass_before, (X, 3)),
    (buffer_of_the_pass_before, (X, 3)),
    (views_on_two_paths, (X, 1.0)),
    (views_on_two_paths, (X, -1.0)),
    (alias_that_one_path_makes, (X, 1.0)),
    (alias_that_one_path_makes, (X, -1.0)),
    (same_array_twice, (X,)),
    (closures, (X,)),
    (defaults_and_methods, (X,)),
    (containers, (X,)),
    (through_a_call, (X,)),
    (views_from_a_helper, (X,)),
    (exchanged, (X,)),
    (added_to_itself, (X,)),
]


@pytest.mark.parametrize("function, args", CASES)
def test_views_are_those_of_numpy(function, args):
    assert_like_python(function, args)


#: how a view is taken, and back and forth through which of the two names is written
TAKEN = {
    "all": lambda b: b[:],
    "column": lambda b: b[:, 1],
    "element kept": lambda b: b[1:2, 2:3],
    "ellipsis": lambda b: b[..., 0],
    "flip": lambda b: np.flip(b, axis=1),
    "flipud": np.flipud,
    "new axis": lambda b: b[None],
    "ravel": lambda b: b.ravel(),
    "reshape": lambda b: b.reshape(4, 3),
    "row": lambda b: b[1],
    "row of a column": lambda b: b[:, 1:][2],
    "slice": lambda b: b[1:, ::2],
    "swapaxes": lambda b: b.swapaxes(0, 1),
    "transposed": lambda b: b.T,
    "transposed row": lambda b: b.T[2],
    "transposed slice": lambda b: b.T[1:3, ::-1],
    "twice transposed": lambda b: b.T.T,
    "view of a view": lambda b: b[1:][:, 1:][0],
}
WRITTEN = {
    "add": lambda v: np.add(v, 1.0, out=v),
    "fill": lambda v: v.fill(3.0),
    "mask": lambda v: np.putmask(v, v > 5.0, 0.0),
    "sort": lambda v: v.sort(),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("taken", TAKEN)
def test_each_view_written_in_each_way(taken, written):
    take, write = TAKEN[taken], WRITTEN[written]

    def function(a):
        b = np.zeros((3, 4))
        b += a
        view = take(b)
        write(view)
        seen = view * 1.0
        b *= 2.0
        write(b)
        view += 1.0
        return b, view, seen

    assert_like_python(function, (A[::-1] * 1.3,))


STORES = {
    "element": "view[0] = 7.0",
    "slice": "view[1:] = view[:-1] * 2.0",
    "step": "view[::-1] *= 2.0",
    "update": "view[-1] += 1.0",
    "whole": "view **= 2",
}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("taken", TAKEN)
def test_each_store_into_each_view(taken, store, tmp_path):
    from frontend.loading import load

    text = f"""
        import numpy as np


        def function(a, take):
            b = np.zeros((3, 4))
            b += a
            view = take(b)
            first = view * 1.0
            {STORES[store]}
            second = view * 1.0
            b[1] = a[0]
            {STORES[store]}
            b -= 1.0
            return b, view, first, second
        """
    function = load(tmp_path, text).function
    take = TAKEN[taken]
    wrapped = lambda a: function(a, take)
    assert_like_python(wrapped, (A * 1.0,))


#: arrays that NumPy lays out in memory as it likes, or as it is told
LAID_OUT = {
    "concatenate": lambda a: np.concatenate([a.T, a.T]),
    "full": lambda a: np.full((3, 4), 1.0, None, "F"),
    "linspace": lambda a: np.linspace(a, 2.0 * a, 3, axis=-1),
    "product": lambda a: a.T * 2.0,
    "stack": lambda a: np.stack([a.T, a.T], axis=2),
    "vstack": lambda a: np.vstack([a.T, a.T]),
}


@pytest.mark.parametrize("laid_out", LAID_OUT)
def test_a_flat_form_is_a_view_where_the_memory_is_certain_to_allow_it(laid_out):
    made = LAID_OUT[laid_out]

    def function(a):
        whole = made(a)
        flat = whole.ravel()
        flat[1] = 50.0
        return whole, flat

    try:
        found = jit(function)(A.copy())
    except UnsupportedError:
        return  # nobody knows, so it says so
    assert all(map(np.array_equal, found, function(A.copy())))


def rows_of_vectors(x):
    whole = np.stack([x, 2.0 * x], axis=1)
    flat = whole.ravel()
    flat[1] = 50.0
    return whole, flat


def test_vectors_side_by_side_are_in_order():
    assert_like_python(rows_of_vectors, (X,))


def in_columns(x):
    m = np.outer(x, x + 1).T
    part = m.ravel(order="F")
    part[1] = 5.0
    return m


def in_rows(x):
    m = np.outer(x, x + 1)
    part = np.reshape(m, -1, order="F")
    part[1] = 5.0
    return m


def in_columns_of_two(x):
    y = x * 1
    part = y.reshape((2, 2), order="F")
    part[1] = 4.0
    return y


def kept_in_its_order(x):
    m = np.outer(x, x + 1).T.copy("K")
    part = m.reshape(-1)
    part[1] = 5.0
    return m


def transposed_twice(x):
    m = np.outer(x, x + 1).T
    part = np.reshape(np.transpose(m), (2, 8))
    part[1] = 5.0
    return m


def of_one_axis(x):
    y = x * 1
    part = np.ravel(y[1:], order="F")
    part[1] = 5.0
    return y


def in_columns_and_read_alone(x):
    m = np.outer(x, x + 1)
    part = m.flatten("F")
    part[1] = 3.0
    return part * m[0, 1]


IN_OTHER_ORDERS = {
    in_columns: False,
    in_rows: False,
    in_columns_of_two: False,
    kept_in_its_order: False,
    transposed_twice: False,
    of_one_axis: True,
    in_columns_and_read_alone: True,
}


@pytest.mark.parametrize("f", IN_OTHER_ORDERS, ids=lambda f: f.__name__)
def test_what_is_taken_in_another_order_is_a_view_or_none_as_in_numpy(f):
    """Where that is not known, it is refused."""
    x = np.array([0.7, -0.4, 1.3, 0.35])
    if IN_OTHER_ORDERS[f]:
        np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
    else:
        with pytest.raises(SharedMemoryError):
            jit(f)(x)


def where_a_list_says(x):
    y = x.copy()
    np.multiply(y, 2, out=y, where=[True, False, True, False])
    np.divmod(y, 0.3, out=(y, np.zeros(4)), where=[False, True, True, False])
    return np.sum(y * x)


def test_a_list_says_where_the_result_goes():
    x = np.array([0.7, -0.4, 1.3, 0.35])
    np.testing.assert_allclose(jit(where_a_list_says)(x), where_a_list_says(x), rtol=1e-12)
    np.testing.assert_allclose(grad(where_a_list_says)(x), [2.8, -2.0, 8.0, 0.7], rtol=1e-12)
