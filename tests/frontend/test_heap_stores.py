"""Stores into arrays: what Core says of them is what NumPy does."""

import numpy as np
import pytest

from frontend.flow import assert_like_python

X = np.array([3.0, 1.0, 2.0, 5.0])
A = np.arange(12.0).reshape(3, 4) + 0.5
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
PLACES = np.array([0, 0, 3])


def elements(x):
    y = x.copy()
    y[1] = 7.0
    y[-1] = y[0] * 2
    y[2] = x[0] + y[1]
    return y


def element_of_an_argument(x):
    x[1] = x[0] * 2
    return x * x


def augmented_elements(x, i):
    y = x * 1.0
    y[0] += x[2]
    y[1] -= 2.0
    y[2] *= 3.0
    y[3] /= x[0]
    y[i] **= 2
    y[-2] //= 2
    return y


def unpacked_into_elements(x):
    y, z = x * 1.0, np.zeros(3)
    y[0], y[1] = y[1], y[0]
    (y[2], (z[0], *rest)), z[1] = (1.0, (2.0, 3.0, 4.0)), 5.0
    return y, z, rest


def matrix_elements(a, i):
    b = a.copy()
    b[0, 1] = 5.0
    b[i, -1] += b[0, 1]
    b[i][2] = 8.0
    b[1][1:3] *= 2.0
    b[i, i] -= b[i][i - 1]
    return b


def slices(x):
    y = x.copy()
    y[1:3] = 4.0
    y[::-1] = x
    y[::2] *= 3
    y[1:] -= 1.0
    y[:0] = 9.0
    y[-2:] = [1.0, 2.0]
    return y


def overlapping_assignment(x):
    y, z = x.copy(), x.copy()
    y[1:] = y[:-1]
    z[:-1] = z[1:]
    return y, z


def overlapping_update(x):
    y = x.copy()
    y[1:] += y[:-1]
    y[:-1] -= y[1:]
    y[::2] *= y[1::2]
    return y


def swapped_rows(a):
    b = a.copy()
    b[[0, 1]] = b[[1, 0]]
    return b


def swapped_rows_with_copies(a):
    b = a.copy()
    b[0], b[1] = b[1].copy(), b[0].copy()
    return b


def element_that_the_right_side_changes(x):
    """`a[i] += v` reads the element first; the right-hand side changes it after that."""
    y = x.copy()

    def changed():
        y[0] = 1.5 * y[1]
        return y[2] * 2

    y[0] -= changed()
    y[[0, 3]] += changed()
    y[y > 0] -= changed()
    return y


def part_that_the_right_side_changes(a):
    """A slice is a view: what is added to has changed by then."""
    b = a * 1.0

    def changed():
        b[0, 0] = b[1, 1] * 0.5
        return b[2, 2]

    b[0] -= changed()
    b[:2, 0] += changed()
    return b


def index_that_the_right_side_changes(x):
    """The elements are read with the index as it was, and stored with it as it is."""
    y, i = x.copy(), np.array([0, 1])

    def changed():
        i[0] = 2
        return y[1]

    y[i] += changed()
    return y


def rows_that_overwrite_each_other(a):
    b = a.copy()
    b[0], b[1] = b[1], b[0]
    return b


def broadcast_values(a):
    b = a.copy()
    b[:] = b[0]
    b[:, 1] = [1.0, 2.0, 3.0]
    b[0] = np.ones((1, 4))
    b[None, 1] = 7.0
    b[..., 2] += 1.0
    b[1:, None, 3] = 2.0
    return b


def indices_that_repeat(x, i):
    y = x * 1.0
    y[i] += x[i]
    y[i] = y[i] * 2.0 + np.arange(3)
    y[i] -= 1.0
    return y


def lists_of_indices(x):
    y = x * 1.0
    y[[0, 2]] += 1.0
    y[[0, 0]] += 1.0
    y[[1, 3]], y[[0, 2]] = y[[0, 2]], y[[1, 3]]
    return y


def indices_of_two_axes(a, i):
    b = a.copy()
    b[i[:2], i[1:]] = 0.0
    b[np.array([0, 2]), 1] *= 5.0
    b[1][np.array([0, 3])] += 2.0
    b[np.arange(3), np.arange(3)] += a[:, 0]
    return b


def tuples_in_an_index(a, x):
    for d in range(2):
        out = np.where(a[:, d] < 0)
        a[out, d] *= -2
    a[(0, 1), 1] += x[0]
    return a


def masks(a, x):
    b, y = a.copy(), x * 1.0
    b[b > 5] = 0.0
    b[:, x > 2] += 1.0
    y[y > 2] *= 2.0
    y[y < 2] += x[1]
    y[y > 4] = y[y > 4] / 2
    b[1][x > 2] = 3.0
    return b, y


def whole_array(x):
    y = x * 1.0
    z = y
    y *= 2
    y += x
    y -= 1
    y /= 3
    y **= 2
    y %= 4.0
    return y, z


def whole_argument(x):
    z = x
    x += 1.0
    return x * z


def broadcast_update(a, x):
    b = a * 1.0
    b += x
    b *= a[:, :1]
    return b


def matrix_product_in_place(a):
    b = a[:, :3] * 1.0
    b @= SQUARE
    return b


def dtypes_are_kept(x):
    y = np.zeros(4, np.float32)
    y[1:] += x[1:]
    y *= x
    y[0] = x[2]
    n = np.zeros(3, int)
    n[0] = x[0] + 0.7
    n[1] += 2.6
    n += 2
    n //= 2
    return y, n


def results_in_arrays_of_ours(x, a):
    y = np.empty(4)
    z = np.multiply(x, x, out=y)
    z[0] = 1.0
    np.add(y, x, y)
    s = np.zeros(4)
    np.sum(a, axis=0, out=s)
    np.exp(s[:2], out=s[2:])
    np.subtract(s, 1.0, out=s, where=s > 20)
    p = np.empty(3)
    np.matmul(a, x, out=p)
    np.sqrt(x, out=(x,))
    return y, z, s, p, x, np.add(x, 1.0, out=None)


def filled_and_sorted(x, a):
    y = x * 2.0
    y.sort()
    z = np.zeros(3)
    z.fill(x[0])
    b = a * -1.0
    b.sort(axis=0)
    b[1].sort()
    b[:, 0].fill(4.0)
    return y, z, b


def copied_to(x):
    y, z, w = x * 2.0, x * 1.0, np.zeros(2, int)
    np.copyto(y, 1.0)
    np.copyto(z, x * 3, where=x > 2)
    np.copyto(w, x[:2], casting="unsafe")
    np.copyto(y[1:3], z[:2])
    return y, z, w


def added_at(x, i):
    y = np.zeros(4)
    np.add.at(y, i, x[:3])
    np.subtract.at(y, i, 1.0)
    np.add.at(y, (i,), 2.0)
    np.multiply.at(y, [1, 2], 3.0)
    np.negative.at(y, [0, 3])
    return y


def diagonals(a):
    m, n, k = a[:, :3] * 1.0, a.copy(), np.zeros((4, 4))
    np.fill_diagonal(m, 0.0)
    np.fill_diagonal(n, a[0, 0])
    np.fill_diagonal(k, a[0])
    np.fill_diagonal(tall := np.ones((8, 2)), a[0], wrap=True)
    return m, n, k, tall


def put_into(a, x):
    b, y = a.copy(), x * 1.0
    i = np.argmax(a, axis=1)
    np.put_along_axis(b, i[:, None], 0.0, axis=1)
    np.put_along_axis(b, i[:2, None] % 2, a[:2, :1], axis=0)  # the same rows in each column
    np.put_along_axis(b, np.array([3, 4]), a[1, :2], axis=None)
    np.put(b, [1, 5], a[0, 0])
    np.put(y, [0, 2], [x[1], x[2]])
    b[0].put(2, 4.0)
    np.put(b, [7, -8], a[1, 0], mode="wrap")
    y.put([9, -2], x[:2] * 3.0, mode="clip")
    np.divmod(a, 2.0, out=(b, a), where=b > 1.0)
    np.putmask(b, b > 9.0, 1.0)
    np.place(y, y > 4.0, 0.5)
    return b, y


def arrays_without_axes(x):
    a = np.array(1.0)
    b = a
    a += x[0]
    c = np.zeros(())
    c[...] = x[1]
    c[()] = c + 1
    return a, b, c


def numbers_are_never_changed(x):
    a = np.sum(x)
    b = a
    a += 1.0
    c = d = x[0]
    c *= 2
    e = f = 2.0
    e += c
    return a, b, c, d, e, f


def triangles(x):
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(i, 3):
            a[i, j] = x[i] * x[j]
            a[j, i] = a[i, j]
    return a


def cholesky(m):
    lower = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(m[i, i] - s) if i == j else (m[i, j] - s) / lower[j, j]
    return lower


def heat(x, n):
    u = x.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def two_buffers(x, n):
    u, v = x * 1.0, np.zeros_like(x)
    for _ in range(n):
        v[1:-1] = u[2:] + u[:-2]
        u, v = v, u
    return u, v


def recurrence(x, n):
    h = np.zeros((n + 1, 4))
    for t in range(n):
        h[t + 1] = h[t] * 0.5 + x
    return h, h[-1]


def stores_on_two_paths(x, c):
    y = x * 1.0
    if c > 0:
        y[0] = 1.0
    else:
        y[1:] *= c
        y = y + 1.0
    y[2] += c
    return y


def helper(v):
    v[0] = 0.0
    v *= 2


def returning_helper(v, w):
    v += w
    return v


def helpers_that_change_their_arguments(x):
    y, z = x * 2.0, x * 1.0
    helper(y)
    helper(z[1:])
    same = returning_helper(z, z)
    return y, z, same


CASES = [
    (element_that_the_right_side_changes, (X,)),
    (part_that_the_right_side_changes, (A,)),
    (index_that_the_right_side_changes, (X,)),
    (elements, (X,)),
    (element_of_an_argument, (X,)),
    (augmented_elements, (X, 1)),
    (unpacked_into_elements, (X,)),
    (matrix_elements, (A, 2)),
    (slices, (X,)),
    (overlapping_assignment, (X,)),
    (overlapping_update, (X,)),
    (swapped_rows, (A,)),
    (swapped_rows_with_copies, (A,)),
    (rows_that_overwrite_each_other, (A,)),
    (broadcast_values, (A,)),
    (indices_that_repeat, (X, PLACES)),
    (lists_of_indices, (X,)),
    (indices_of_two_axes, (A, PLACES)),
    (tuples_in_an_index, (A - 3.0, X)),
    (masks, (A, X)),
    (whole_array, (X,)),
    (whole_argument, (X,)),
    (broadcast_update, (A, X)),
    (matrix_product_in_place, (A,)),
    (dtypes_are_kept, (X,)),
    (results_in_arrays_of_ours, (X, A)),
    (filled_and_sorted, (X, A)),
    (copied_to, (X,)),
    (added_at, (X, PLACES)),
    (diagonals, (A,)),
    (put_into, (A, X)),
    (arrays_without_axes, (X,)),
    (numbers_are_never_changed, (X,)),
    (triangles, (X,)),
    (cholesky, (SQUARE,)),
    (heat, (X, 3)),
    (two_buffers, (X, 3)),
    (two_buffers, (X, 0)),
    (recurrence, (X, 3)),
    (stores_on_two_paths, (X, 2.0)),
    (stores_on_two_paths, (X, -2.0)),
    (helpers_that_change_their_arguments, (X,)),
]


@pytest.mark.parametrize("function, args", CASES)
def test_stores_are_those_of_numpy(function, args):
    assert_like_python(function, args)
