"""Helpers of generated code that take a whole stack of small matrices, where SciPy takes one.

In them the samples stand last, so that a call of NumPy works on one element of all matrices. What
they do not serve (large or singular matrices, numbers that are not finite) is left to SciPy, which
takes one sample after the other, and raises what it raises.
"""

from __future__ import annotations

import numpy as np


def samples_last(largest, *stacks):
    """The stacks in one dtype with their samples last; None where SciPy has to serve.

    largest: the number of rows or columns up to which this takes less time than SciPy.
    """
    dtype = np.result_type(*stacks)
    dtype = np.dtype(float) if dtype.kind in "biu" else dtype
    sides = [side for each in stacks for side in np.shape(each)[-2:]]
    if dtype.char not in "fdFD" or min(sides) == 0 or max(sides) > largest:
        return None
    if not all(each.size and np.all(np.isfinite(each)) for each in map(np.asarray, stacks)):
        return None
    rank = max(map(np.ndim, stacks))
    found = []
    for each in stacks:
        each = np.reshape(each, (1,) * (rank - np.ndim(each)) + np.shape(each))
        found.append(np.array(np.moveaxis(each, (-2, -1), (0, 1)), dtype, order="C"))
    return found


def samples_first(array):
    """A stack of matrices whose samples stand last."""
    return np.ascontiguousarray(np.moveaxis(array, (0, 1), (-2, -1)))


def products_of_samples(a, b):
    """The products of matrices, the samples last."""
    return np.einsum("ij...,jk...->ik...", a, b)


def lu_of_samples(a):
    """L and U in place of the matrices, the samples last, and the exchanges of rows.

    None where a pivot is zero. As LAPACK does, the first row with the largest pivot is taken.
    """
    rows = a.reshape(*a.shape[:2], -1)
    exchanges = np.empty((min(a.shape[:2]), rows.shape[2]), np.int32)
    for j, indices in enumerate(exchanges):
        sizes = np.abs(rows[j:, j].real)
        sizes = sizes + np.abs(rows[j:, j].imag) if np.iscomplexobj(a) else sizes
        indices[:] = np.argmax(sizes, axis=0) + j
        moved = np.flatnonzero(indices != j)
        if moved.size:
            upper = rows[j][:, moved]
            rows[j][:, moved] = rows[indices[moved], :, moved].T
            rows[indices[moved], :, moved] = upper.T
        if not np.all(rows[j, j]):
            return None
        rows[j + 1 :, j] /= rows[j, j]
        rows[j + 1 :, j + 1 :] -= rows[j + 1 :, j, None] * rows[j, None, j + 1 :]
    return rows.reshape(a.shape), exchanges.reshape(-1, *a.shape[2:])


def order_of_samples(exchanges, count):
    """The order of this many rows after the exchanges, the samples last."""
    flat = exchanges.reshape(len(exchanges), -1)
    samples = np.arange(flat.shape[1])
    order = np.repeat(np.arange(count)[:, None], len(samples), axis=1)
    for j, indices in enumerate(flat):
        order[j], order[indices, samples] = order[indices, samples], order[j].copy()
    return order.reshape(count, *exchanges.shape[1:])


def substituted(a, b, lower, unit_diagonal=False):
    """The solutions of triangular systems, the samples last, by columns of the matrices."""
    x = np.array(np.broadcast_to(b, (*b.shape[:2], *np.broadcast(a[0, 0], b[0, 0]).shape)))
    count = len(a)
    for j in range(count) if lower else reversed(range(count)):
        if not unit_diagonal:
            x[j] /= a[j, j]
        rest = slice(j + 1, count) if lower else slice(j)
        x[rest] -= a[rest, j, None] * x[j]
    return x


def solved_samples(a, b):
    """The solutions of systems, the samples last; None where a matrix is singular."""
    samples = np.broadcast(a[0, 0], b[0, 0]).shape
    both = [np.broadcast_to(each, (*each.shape[:2], *samples)) for each in (a, b)]
    found = lu_of_samples(np.concatenate(both, axis=1))
    return None if found is None else substituted(found[0], found[0][:, len(a) :], False)


# ---- systems -------------------------------------------------------------------------------------


def lu_of_stack(a):
    """scipy.linalg.lu of a stack of matrices."""
    from scipy import linalg

    last = samples_last(16, a)
    found = None if last is None else lu_of_samples(last[0])
    if found is None:
        return linalg.lu(a)
    lu, exchanges = found
    rows, count = len(lu), len(exchanges)
    order = np.moveaxis(order_of_samples(exchanges, rows), 0, -1)
    p = (np.arange(rows)[:, None] == order[..., None, :]).astype(lu.real.dtype)
    lu = samples_first(lu)
    lower = np.tril(lu[..., :count], -1)
    lower[..., np.arange(count), np.arange(count)] = 1
    return p, lower, np.triu(lu[..., :count, :])


def lu_factor_of_stack(a):
    """scipy.linalg.lu_factor of a stack of matrices."""
    from scipy import linalg

    last = samples_last(16, a)
    found = None if last is None else lu_of_samples(last[0])
    if found is None:
        return linalg.lu_factor(a)
    return samples_first(found[0]), np.ascontiguousarray(np.moveaxis(found[1], 0, -1))


def solve_triangular_of_stack(a, b, trans=0, lower=False, unit_diagonal=False):
    """scipy.linalg.solve_triangular of a stack of systems."""
    from scipy import linalg

    rows, columns = np.shape(a)[-2:]
    fits = rows == columns == np.shape(b)[-2] and trans in (0, 1, 2)
    last = samples_last(32, a, b) if fits else None
    if last is None or not (unit_diagonal or np.all(np.einsum("ii...->i...", last[0]))):
        return linalg.solve_triangular(a, b, trans, lower, unit_diagonal)
    a, b = last
    a = a if trans == 0 else np.swapaxes(a, 0, 1)
    a = np.conj(a) if trans == 2 else a
    with np.errstate(all="ignore"):
        return samples_first(substituted(a, b, lower == (trans == 0), unit_diagonal))


def solve_banded_of_stack(l_and_u, ab, b):
    """scipy.linalg.solve_banded of a stack of systems: elimination in windows along the band."""
    from scipy import linalg

    low, up = l_and_u
    count = np.shape(ab)[-1]
    fits = np.shape(ab)[-2] == low + up + 1 and np.shape(b)[-2] == count > max(low, up)
    found = samples_last(np.inf, ab, b) if fits and max(low, up) <= 4 else None
    x = None if found is None else eliminated_bands(low, up, *found)
    return linalg.solve_banded(l_and_u, ab, b) if x is None else samples_first(x)


def eliminated_bands(low, up, ab, b):
    """The solutions of banded systems, the samples last; None where a matrix is singular.

    Row i of `rows` holds the elements from column i - low on; an exchange of rows makes room for
    `low` more of them.
    """
    count, width, samples = ab.shape[1], low + up + 1, np.broadcast(ab[0, 0], b[0, 0]).shape
    size = int(np.prod(samples))
    rows = np.zeros((count + low, width + low, size), ab.dtype)
    for k in range(width):  # element (i, i + up - k)
        first, last = max(0, k - up), min(count, count + k - up)
        part = ab[k, first - k + up : last - k + up]
        rows[first:last, low + up - k] = np.broadcast_to(part, (last - first, *samples)).reshape(
            last - first, size
        )
    x = np.zeros((count + low, b.shape[1], size), ab.dtype)
    x[:count] = np.broadcast_to(b, (*b.shape[:2], *samples)).reshape(*b.shape[:2], size)
    at, every = np.arange(low + 1), np.arange(size)
    columns = low - at[:, None] + np.arange(width)  # of the window, in each of its rows
    for j in range(count):
        window, right = rows[j + at[:, None], columns], x[j : j + low + 1]
        sizes = np.abs(window[:, 0].real) + np.abs(window[:, 0].imag)
        index = np.argmax(sizes, axis=0)
        moved = every[index > 0]
        if moved.size:
            for each in (window, right):
                upper = each[0][:, moved]
                each[0][:, moved] = each[index[moved], :, moved].T
                each[index[moved], :, moved] = upper.T
        if not np.all(window[0, 0]):
            return None
        factors = window[1:, :1] / window[0, 0]
        window[1:] -= factors * window[0]
        right[1:] -= factors * right[0]
        rows[j + at[:, None], columns] = window
    with np.errstate(all="ignore"):
        for j in reversed(range(count)):
            known = min(width - 1, count - 1 - j)
            row = rows[j, low + 1 : low + 1 + known, None]
            x[j] = (x[j] - np.sum(row * x[j + 1 : j + 1 + known], axis=0)) / rows[j, low]
    return x[:count].reshape(*b.shape[:2], *samples)


# ---- decompositions ------------------------------------------------------------------------------


def hessenberg_of_stack(a, calc_q=True):
    """scipy.linalg.hessenberg of a stack of matrices, with the reflections that LAPACK takes."""
    from scipy import linalg

    count = np.shape(a)[-1]
    last = samples_last(16, a) if np.shape(a)[-2] == count > 2 else None
    if last is None:
        return linalg.hessenberg(a, calc_q=calc_q)
    h = last[0]
    q = np.zeros_like(h)
    q[np.arange(count), np.arange(count)] = 1
    for j in range(count - 1 if np.iscomplexobj(h) else count - 2):
        v, tau, h[j + 1, j] = reflection(h[j + 1 :, j])
        h[j + 2 :, j] = 0
        rest, turned = h[j + 1 :, j + 1 :], np.conj(v)
        rest -= v[:, None] * (np.conj(tau) * np.sum(turned[:, None] * rest, axis=0))
        for each in (h, q):
            columns = each[:, j + 1 :]
            columns -= (tau * np.sum(columns * v, axis=1))[:, None] * turned
    return samples_first(h), samples_first(q)


def reflection(x):
    """v, tau and beta: 1 - tau * v * mH(v) is the reflection of which the conjugate transpose
    takes x to beta and zeros, v[0] = 1 (LAPACK's larfg), the samples last."""
    largest = np.max(np.abs(x), axis=0)
    unit = np.where(largest > 0, largest, 1)
    x = x / unit
    alpha = x[0]
    rest = np.sqrt(np.sum(np.abs(x[1:]) ** 2, axis=0))
    flat = (rest == 0) & (alpha.imag == 0)
    beta = np.where(flat, alpha.real, -np.copysign(np.hypot(np.abs(alpha), rest), alpha.real))
    with np.errstate(all="ignore"):
        tau = np.where(flat, 0, (beta - alpha) / beta).astype(x.dtype)
        v = np.where(flat, 0, x / (alpha - beta)).astype(x.dtype)
    v[0] = 1
    return v, tau, beta * unit


def polar_of_stack(a):
    """scipy.linalg.polar of a stack of matrices."""
    from scipy import linalg

    if not np.all(np.isfinite(a)):
        return linalg.polar(a)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u @ vh, (np.conj(np.swapaxes(vh, -1, -2)) * s[..., None, :]) @ vh


def rq_of_stack(a, mode="full"):
    """scipy.linalg.rq of a stack: the QR decomposition of what is turned by half a turn."""
    from scipy import linalg

    if not np.all(np.isfinite(a)):
        return linalg.rq(a, mode=mode)
    turned = np.conj(np.swapaxes(a[..., ::-1, ::-1], -1, -2))
    q, r = np.linalg.qr(turned, mode="complete" if mode == "full" else "reduced")
    r, q = (np.conj(np.swapaxes(each[..., ::-1, ::-1], -1, -2)) for each in (r, q))
    return np.ascontiguousarray(r), np.ascontiguousarray(q)


# ---- functions of matrices -----------------------------------------------------------------------


def exponentials(a, both=False):
    """The exponentials of matrices, with `both` also of -a; None where SciPy has to serve.

    By scaling and squaring with as small an approximant as all samples allow (Al-Mohy and Higham,
    2009, algorithm 6.1, with the norms themselves for their estimates).
    """
    bounds = {3: 1.495585217958292e-2, 5: 2.539398330063230e-1, 7: 9.504178996162932e-1}
    bounds |= {9: 2.097847961257068, 13: 4.25}
    sizes = one_norms(a)
    if np.max(sizes) > 2.0**20:
        return None
    degree = next((each for each, bound in bounds.items() if np.all(sizes <= bound)), 13)
    halvings = np.ceil(np.log2(np.maximum(sizes / bounds[degree], 1))).astype(int)
    if np.any(halvings):
        halvings = np.minimum(halvings, needed_halvings(a, bounds[13]))
        a = a * np.ldexp(1.0, -halvings).astype(a.real.dtype)
    even, odd = parts_of_approximant(a, degree)
    signs = (odd, -odd) if both else (odd,)
    found = [solved_samples(even - each, even + each) for each in signs]
    if any(each is None for each in found):
        return None
    for x in found:
        for done in range(np.max(halvings)):
            chosen = halvings > done
            x[:, :, chosen] = products_of_samples(x[:, :, chosen], x[:, :, chosen])
    return found


def one_norms(a):
    """The largest sums of absolute values in a column, the samples last."""
    return np.max(np.sum(np.abs(a), axis=0), axis=0)


def needed_halvings(a, bound):
    """How often matrices are halved before the approximant of degree 13, the samples last."""
    square = products_of_samples(a, a)
    fourth = products_of_samples(square, square)
    sixth = products_of_samples(fourth, square)
    d6 = one_norms(sixth) ** (1 / 6)
    d8 = one_norms(products_of_samples(fourth, fourth)) ** (1 / 8)
    d10 = one_norms(products_of_samples(fourth, sixth)) ** (1 / 10)
    size = np.minimum(np.maximum(d6, d8), np.maximum(d8, d10))
    count = np.ceil(np.log2(np.maximum(size / bound, 1))).astype(int)
    scaled = np.abs(a) * np.ldexp(1.0, -count)
    sums = np.ones_like(scaled[0])
    for _ in range(27):
        sums = np.sum(sums[:, None] * scaled, axis=0)
    rest = np.max(sums, axis=0) / (one_norms(scaled) + (one_norms(scaled) == 0))
    # the coefficient of the first term that is left out, in units of the roundoff
    excess = np.log2(np.maximum(rest / 113250775606021113483283660800000000.0 * 2.0**53, 1))
    return count + np.ceil(excess / 26).astype(int)


def parts_of_approximant(a, degree):
    """The even and the odd part of the numerators of Pade approximants, the samples last."""
    terms = {
        3: (120, 60, 12, 1),
        5: (30240, 15120, 3360, 420, 30, 1),
        7: (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1),
        9: (17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1),
        13: (
            *(64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800),
            *(129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800),
            *(960960, 16380, 182, 1),
        ),
    }[degree]
    coefficients = np.array(terms, a.dtype).reshape(-1, 2).T  # of even and of odd powers
    count = min(degree // 2, 4 if degree < 13 else 3) + 1
    powers = np.zeros((count, *a.shape), a.dtype)
    powers[0, np.arange(len(a)), np.arange(len(a))] = 1
    powers[1] = products_of_samples(a, a)
    for k in range(2, count):
        powers[k] = products_of_samples(powers[k - 1], powers[1])
    flat = powers.reshape(count, -1)
    even, odd = (coefficients[:, :count] @ flat).reshape(2, *a.shape)
    if degree == 13:
        high = (coefficients[:, count:] @ flat[1:]).reshape(2, *a.shape)
        even += products_of_samples(powers[3], high[0])
        odd += products_of_samples(powers[3], high[1])
    return even, products_of_samples(a, odd)


def expm_of_stack(a):
    """scipy.linalg.expm of a stack of matrices."""
    return expm_of_signs(a, both=False)[0]


def expm_of_signs(a, both=True):
    """scipy.linalg.expm of a stack of matrices, and of -a; SciPy has a way of its own for
    triangular ones."""
    from scipy import linalg

    count = np.shape(a)[-1]
    last = samples_last(6, a) if 1 < count == np.shape(a)[-2] else None
    with np.errstate(all="ignore"):
        found = None if last is None else exponentials(last[0], both)
    signs = (a, -a) if both else (a,)
    if found is None:
        return [linalg.expm(each) for each in signs]
    y = [samples_first(each) for each in found]
    below = np.tri(count, k=-1, dtype=bool)
    triangular = ~(np.any(last[0][below], axis=0) & np.any(last[0][below.T], axis=0))
    if np.any(triangular):
        for each, sign in zip(y, signs, strict=True):
            each[triangular] = linalg.expm(np.asarray(sign)[triangular])
    return y


def expm_frechet_of_stack(a, e, compute_expm=False):
    """scipy.linalg.expm_frechet of stacks of matrices and directions: a block of the exponential
    of [[a, e], [0, a]], in which e is made as large as a."""
    from scipy import linalg

    fits = np.shape(a)[-2:] == np.shape(e)[-2:] and np.shape(a)[-1] == np.shape(a)[-2]
    double = np.result_type(a, e, float)  # which SciPy works in
    last = None
    if fits and not compute_expm:
        last = samples_last(4, np.asarray(a, double), np.asarray(e, double))
    if last is not None:
        a_last, e_last = last
        count, samples = len(a_last), np.broadcast(a_last[0, 0], e_last[0, 0]).shape
        e_size = one_norms(e_last)
        size = np.where(one_norms(a_last) > 0, one_norms(a_last), 1.0)
        scale = np.exp2(np.rint(np.log2(size / np.where(e_size > 0, e_size, size))))
        block = np.zeros((2 * count, 2 * count, *samples), a_last.dtype)
        block[:count, :count] = block[count:, count:] = a_last
        block[:count, count:] = e_last * scale
        with np.errstate(all="ignore"):
            found = exponentials(block)
        if found is not None:
            return samples_first(found[0][:count, count:] / scale)
    return linalg.expm_frechet(a, e, compute_expm=compute_expm)


def cosm_of_stack(a):
    """scipy.linalg.cosm of a stack of matrices."""
    return cosines_and_sines(a)[0]


def sinm_of_stack(a):
    """scipy.linalg.sinm of a stack of matrices."""
    return cosines_and_sines(a)[1]


def tanm_of_stack(a):
    """scipy.linalg.tanm of a stack of matrices."""
    return quotients(*cosines_and_sines(a))


def cosines_and_sines(a):
    """scipy.linalg.cosm and sinm of a stack of matrices."""
    if not np.iscomplexobj(a):
        y = expm_of_stack(1j * a)
        return y.real, y.imag
    y, other = expm_of_signs(1j * a)
    return 0.5 * (y + other), -0.5j * (y - other)


def coshm_of_stack(a):
    """scipy.linalg.coshm of a stack of matrices."""
    y, other = expm_of_signs(a)
    return 0.5 * (y + other)


def sinhm_of_stack(a):
    """scipy.linalg.sinhm of a stack of matrices."""
    y, other = expm_of_signs(a)
    return 0.5 * (y - other)


def tanhm_of_stack(a):
    """scipy.linalg.tanhm of a stack of matrices."""
    y, other = expm_of_signs(a)
    return quotients(0.5 * (y + other), 0.5 * (y - other))


def quotients(a, b):
    """scipy.linalg.solve of a stack of systems."""
    from scipy import linalg

    last = samples_last(16, a, b)
    found = None if last is None else solved_samples(*last)
    return linalg.solve(a, b) if found is None else samples_first(found)


# ---- equations -----------------------------------------------------------------------------------


def solve_sylvester_of_stack(a, b, q):
    """scipy.linalg.solve_sylvester of a stack of equations, each one as a linear system.

    The system has as many rows as q has elements, so that this is for a few of them.
    """
    from scipy import linalg

    rows, columns = np.shape(a)[-1], np.shape(b)[-1]
    samples = np.broadcast_shapes(*(np.shape(each)[:-2] for each in (a, b, q)))
    if 0 < rows * columns <= 36:
        left = np.zeros((*samples, rows, columns, rows, columns), np.result_type(a, b))
        for j in range(columns):
            left[..., :, j, :, j] += a
        for i in range(rows):
            left[..., i, :, i, :] += np.swapaxes(b, -1, -2)
        found = solved_flat(left, q, largest_of(a) + largest_of(b))
        if found is not None:
            return found
    return linalg.solve_sylvester(a, b, q)


def solve_discrete_lyapunov_of_stack(a, q):
    """scipy.linalg.solve_discrete_lyapunov of a stack of equations, each one as a linear system,
    which SciPy solves for a few rows, too."""
    from scipy import linalg

    count = np.shape(a)[-1]
    if 0 < count <= 6:
        both = np.einsum("...ik,...jl->...ijkl", a, np.conj(a))
        left = np.eye(count**2).reshape([count] * 4) - both
        found = solved_flat(left, q, 1 + largest_of(a) ** 2)
        if found is not None:
            return found
    return linalg.solve_discrete_lyapunov(a, q)


def largest_of(a):
    """The largest absolute values of matrices."""
    return np.max(np.abs(a), axis=(-2, -1))


def solved_flat(left, q, largest):
    """x of left @ x = q for matrices x and q; None unless it is good to many digits.

    largest: about the largest absolute value in each of the matrices `left`.
    """
    size = np.shape(q)[-1] * np.shape(q)[-2]
    if not (left.size and np.all(np.isfinite(largest)) and np.all(np.isfinite(q))):
        return None
    left = left.reshape(*left.shape[:-4], size, size)
    right = np.reshape(q, (*np.shape(q)[:-2], size, 1))
    probe = np.broadcast_to(np.cos(np.arange(size))[:, None], right.shape)  # any other vector
    right = np.concatenate([right, probe.astype(right.dtype)], axis=-1)
    try:
        x = np.linalg.solve(left, right)
    except np.linalg.LinAlgError:
        return None
    grown = np.max(np.abs(x), axis=-2) * largest[..., None]
    if not np.all(grown <= 1e8 * np.max(np.abs(right), axis=-2)):
        return None
    x = x[..., :1]
    return x.reshape(*x.shape[:-2], *np.shape(q)[-2:])


def solve_discrete_are_of_stack(a, b, q, r):
    """scipy.linalg.solve_discrete_are of a stack of equations."""
    from scipy import linalg

    found = riccati_solutions(discrete_solutions, a, b, q, r)
    return linalg.solve_discrete_are(a, b, q, r) if found is None else found


def solve_continuous_are_of_stack(a, b, q, r):
    """scipy.linalg.solve_continuous_are of a stack of equations."""
    from scipy import linalg

    found = riccati_solutions(continuous_solutions, a, b, q, r)
    return linalg.solve_continuous_are(a, b, q, r) if found is None else found


def riccati_solutions(solutions, *operands):
    """The solutions of Riccati's equations; None where SciPy has to serve."""
    if not is_riccati(*operands):
        return None
    with np.errstate(all="ignore"):
        try:
            return solutions(*operands)
        except np.linalg.LinAlgError:
            return None


def discrete_solutions(a, b, q, r):
    """The solutions of discrete equations; None where they are not good to many digits."""
    turned = np.conj(np.swapaxes(b, -1, -2))
    x = doubled(a, b @ np.linalg.solve(r, turned), q)
    if x is None:
        return None
    right = turned @ x @ a
    fed_back = np.conj(np.swapaxes(right, -1, -2)) @ np.linalg.solve(r + turned @ x @ b, right)
    return x if balances(np.conj(np.swapaxes(a, -1, -2)) @ x @ a, -fed_back, q, -x) else None


def continuous_solutions(a, b, q, r):
    """The solutions of continuous equations, by discrete ones with the same solutions (Chu, Fan
    and Lin, 2005); None where they are not good to many digits."""
    g = b @ np.linalg.solve(r, np.conj(np.swapaxes(b, -1, -2)))
    size = np.sqrt(np.max(np.abs(g)) * np.max(np.abs(q))) + np.max(np.sum(np.abs(a), axis=-2))
    identity = np.eye(np.shape(a)[-1])
    shifted = a - size * identity
    adjoint = np.conj(np.swapaxes(shifted, -1, -2))
    inverse = np.linalg.inv(adjoint + q @ np.linalg.solve(shifted, g))
    x = doubled(
        identity + 2 * size * np.conj(np.swapaxes(inverse, -1, -2)),
        2 * size * np.linalg.solve(shifted, g) @ inverse,
        2 * size * inverse @ np.conj(np.swapaxes(np.linalg.solve(adjoint, q), -1, -2)),
    )
    if x is None:
        return None
    mapped = x @ a
    return x if balances(mapped, np.conj(np.swapaxes(mapped, -1, -2)), -x @ g @ x, q) else None


def is_riccati(a, b, q, r):
    """Whether the matrices are those of an equation that doubling is for."""
    sides = np.shape(a)[-1], np.shape(r)[-1]
    shapes = [np.shape(each)[-2:] for each in (a, b, q, r)]
    fits = shapes == [sides[:1] * 2, sides, sides[:1] * 2, sides[1:] * 2] and sides[0] <= 16
    return (
        fits
        and np.result_type(a, b, q, r).char in "dD"
        and all(np.size(each) and np.all(np.isfinite(each)) for each in (a, b, q, r))
        and all(np.array_equal(each, np.conj(np.swapaxes(each, -1, -2))) for each in (q, r))
        and np.min(np.linalg.svdvals(r)) > 1e-6 * np.max(np.abs(r))
    )


def doubled(a, g, h):
    """The stabilising solution of x = h + mH(a) @ x @ inv(1 + g @ x) @ a, by doubling; None where
    it does not converge (Chu, Fan, Lin and Wang, 2004)."""
    identity = np.eye(np.shape(a)[-1])
    for _ in range(40):
        turned = np.conj(np.swapaxes(a, -1, -2))
        try:
            both = np.linalg.solve(identity + g @ h, np.concatenate(np.broadcast_arrays(a, g), -1))
        except np.linalg.LinAlgError:
            return None
        of_a, of_g = np.split(both, 2, axis=-1)
        g, step, a = g + a @ of_g @ turned, turned @ h @ of_a, a @ of_a
        h = h + step
        if not np.all(np.isfinite(h)):
            return None
        if np.all(largest_of(step) <= 1e-17 * largest_of(h)) and np.all(
            np.abs(a) < 1e-6
        ):  # what it controls is stable
            return 0.5 * (h + np.conj(np.swapaxes(h, -1, -2)))
    return None


def balances(*terms):
    """Whether the terms of equations between matrices add up to zero, but for rounding."""
    largest = largest_of(terms[0])
    for each in terms[1:]:
        largest = np.maximum(largest, largest_of(each))
    return np.all(largest_of(sum(terms)) <= 1e-13 * largest)
