"""Programs whose native code is compared with Python: name -> (function, arguments)."""

import math

import numpy as np

rng = np.random.default_rng(7)
x, y, A, B = rng.random(7), rng.random(7), rng.random((4, 5)), rng.random((5, 3))


def heat(u, k):
    u = u.copy()
    for _ in range(3):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def normalise(row):
    row -= np.mean(row)
    row /= np.sqrt(np.sum(row**2))


def rows_in_place(A):
    """Views of one array are changed by a helper, and a part of what is full of one number."""
    B, scales = A.copy(), np.full(len(A), 0.5)
    for row in B:
        normalise(row)
    behind = scales[1:]
    behind *= 3.0
    return np.sum(scales @ (np.tanh(B) * A))


def history(x, rate):
    """One array several times in a list, and copies of it."""
    x, same, copies = x.copy(), [], []
    for _ in range(3):
        same.append(x)
        copies.append(x.copy())
        x -= rate * x**3
    return sum(np.sum(s * c) for s, c in zip(same, copies, strict=True))


def newton(a, b):
    z = a
    for _ in range(50):
        f = z**3 - b * z - a
        if abs(f) < 1e-13:
            break
        z = z - f / (3 * z**2 - b)
    return z


def halving(x):
    count = 0
    while np.sum(x**2) > 0.1:
        x, count = x / 2, count + 1
    return np.sum(np.sin(x)) * count


def best_so_far(x):
    """max and min of numbers, whole ones and such of NumPy among them."""
    x, best, count = x.copy(), 0, 0
    for i in range(1, len(x)):
        x[i] = max(x[i], 0.9 * x[i - 1])
        best = max(best, x[i] * min(1.0, x[i - 1], 0.7))
        count = min(count + 2, 7)
    return best + np.sum(x) * max(count, 1)


def masked(x):
    z = np.zeros_like(x)
    z[x > 0.5] = x[x > 0.5] ** 2
    z[x <= 0.5] = 1.0
    return np.sum(z * np.where(x > 0.3, x, 0.0))


def gathered(x, places):
    z = np.zeros(4)
    np.add.at(z, places, x[places] * x[::-1][places])
    return np.sum(z**2)


def softmax_loss(A, B):
    z = A @ B
    p = np.exp(z - np.max(z, axis=1, keepdims=True))
    return -np.sum(np.log(p / np.sum(p, axis=1, keepdims=True))[:, 0])


def with_helpers(x, y):
    def cell(h, v):
        return np.tanh(h * v + 0.1)

    h = 0.3
    for v, w in zip(x, y, strict=True):
        h = cell(h, v) * cell(w, h)
    return h


def decided(x, kind="log", scale=2):
    if kind == "log":
        return scale * math.log(x) if x > 1 else scale * math.exp(-x)
    return x


def rows_kept(x, steps):
    """What each pass changes stands in one array, of which the rows are popped."""
    x = x.copy()
    for _ in range(steps):
        y = x * x
        x[1:] -= 0.1 * y[:-1] * x[1:]
    return np.sum(x**2)


def handed_on(a, steps):
    """Two values that change places, and one that only goes through the loops."""
    b, c = a + 1.0, a
    for _ in range(steps):
        a, b = b, a * b
        for _ in range(2):
            c = c * 0.5 + a
    return a * b + c


def damped(x, waves):
    """Complex numbers: products, quotients, sizes, parts and powers."""
    z = np.exp(1j * waves[:, None] * x) / (np.complex128(waves[0]) + 2j * x)
    z[0] *= z[1].conj()
    total = np.sum(z, axis=0) ** 2
    return np.sum(np.abs(total)) + np.sum(total.real * total.imag) + np.sum(np.angle(z[1]) ** 2)


def solved_complex(A, x):
    z = A[:, :4] + 1j * np.outer(x[:4], x[:4]) + 3 * np.eye(4)
    return np.sum(np.abs(np.linalg.solve(z, x[:4] + 1j)) ** 2)


def masked_rows(A, keep):
    A = A.copy()
    A[keep, 1:] *= 2.0
    A[~keep] += A[keep][0]
    return np.sum(A**3) + np.sum(A[:, 0][np.flatnonzero(keep)])


def repeated(A, many):
    wide = np.pad(np.repeat(A, many, axis=1), ((1, 0), (0, 2)))
    return np.sum(np.tile(wide, (2, 1)) ** 3)


def searched(x, grid):
    place = np.searchsorted(grid, x)
    counts = np.bincount(place, x**2, minlength=9)
    return np.sum(counts**2) + np.sum(np.convolve(x, grid, mode="same") ** 2)


def folded_axes(A, B):
    """A contraction in which several axes are the rows of one matrix."""
    stack = A[:, :, None] * np.array([1.0, 2.0])
    return np.sum(np.tensordot(stack, B @ B.T, axes=(1, 0)) ** 2)


def array_of_each_pass(x, passes):
    """The sum is an array of its own in each pass, and a name of what the next one reads."""
    x = x * 1.5
    for _ in range(passes):
        x = x + 1.0
    return np.sum(x**2)


def whole_numbers_first(x, n):
    """Lists of whole numbers and bools that hold floats later: by items, joined, appended to."""
    sums, flags, same = [0, 0, 0], [True, False], [1, 2, 3]
    for i in range(n):
        sums[i] = sums[i] + x[i] * x[i]
        flags[i] = x[i]
        same[i] = same[i] * x[i + 1]
    sums.append(x[n])
    return sum(sums) * flags[0] + flags[1] * sum([1, 2] + same)


def grown(w, leaf):
    """An array is twice as long after each pass, and as long as another one in the end."""
    p = np.ones(1)
    for k in range(int(np.log2(len(leaf)))):
        s = np.exp(w[k] * np.arange(len(p)))
        p = np.stack([p * s, p * (1 - s)], axis=1).ravel()
    return p @ leaf


def likelihood(A, x):
    """A determinant and a system."""
    S = A @ A.T + np.eye(4)
    sign, size = np.linalg.slogdet(S)
    return -0.5 * (sign * size + x[:4] @ np.linalg.solve(S, x[:4]))


def exp(x):
    """Called like a function that loops may call."""
    return np.sum(np.exp(x) * x**-1.5)


PROGRAMS = {
    "stencil": (heat, (x, 0.2)),
    "views": (rows_in_place, (A,)),
    "aliases": (history, (x, 0.3)),
    "a loop that breaks": (newton, (1.7, 0.4)),
    "a while": (halving, (x,)),
    "masks": (masked, (x,)),
    "max and min": (best_so_far, (x,)),
    "gathers and sums": (gathered, (x, np.array([0, 3, 3, 1, 2]))),
    "contractions": (softmax_loss, (A, B)),
    "helpers": (with_helpers, (x, y)),
    "numbers of Python": (decided, (1.7,)),
    "texts decide": (decided, (0.7, "log", 3)),
    "overlapping slices": (lambda x: np.sum(np.cumsum(x)[1:] * x[:-1]), (x,)),
    "broadcasts": (lambda x, y: np.sum(np.sin(x[:, None] * y) / (1 + x)[:, None]), (x, y)),
    "joined": (lambda x, y: np.sum(np.concatenate([x[2:], y]) ** 3) * np.stack([x, y])[1], (x, y)),
    "solved": (lambda A, x: np.sum(np.linalg.solve(A @ A.T + np.eye(4), x[:4])), (A, x)),
    "single precision": (lambda x: np.sum(np.exp(x) * x), (x.astype(np.float32),)),
    "rows that are kept": (rows_kept, (x, 4)),
    "values handed on": (handed_on, (0.7, 3)),
    "complex numbers": (damped, (x, np.array([0.3, 1.1]))),
    "complex systems": (solved_complex, (A, x)),
    "masks among indices": (masked_rows, (A, np.array([True, False, False, True]))),
    "repeated": (repeated, (A, 3)),
    "searched": (searched, (x, np.linspace(0, 1, 4))),
    "axes that are one": (folded_axes, (A, B[:, :3])),
    "called like a helper": (exp, (x,)),
    "an array of each pass": (array_of_each_pass, (x, 3)),
    "whole numbers first": (whole_numbers_first, (x, 2)),
    "columns of sums": (lambda A, x: np.sum((x[:4] @ A) ** 2 * (A @ x[:5])[0]), (A, x)),
    "powers of Cholesky": (lambda A: np.sum(np.linalg.cholesky(A @ A.T + np.eye(4)) ** 3), (A,)),
    "largest along axes": (lambda A: np.sum(A[np.argmax(A, axis=0), np.arange(5)] ** 2), (A,)),
    "crossed": (lambda A, x: np.sum(np.cross(A[:, 1:4], x[:3]) ** 2 * A[:, 2:]), (A, x)),
    "an array that grows": (grown, (x, np.array([0.3, -0.2, 0.8, 0.5]))),
    "determinants": (likelihood, (A, x)),
    "rounded": (lambda x: np.sum((x - np.round(x, 1)) * np.round(7 * x) + np.round(x, -1)), (x,)),
    "containers": (lambda p: np.sum(p["w"] * p["b"][0]), ({"w": x, "b": [y, 1.0]},)),
}  # fmt: skip
