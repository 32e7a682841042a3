"""Every helper that generated code may call: NumPy only, pasted by `standalone`.

A helper that stands for something of SciPy's imports what else it needs where it runs.
"""

from __future__ import annotations

import numpy as np

from s2s_ad.runtime_stacks import *  # noqa: F403


def accumulate(a, b):
    """The sum of two adjoints, item by item where they are lists."""
    if isinstance(a, list):
        return [accumulate(x, y) for x, y in zip(a, b, strict=True)]
    return a + b


def as_tensor(value):
    """`value` itself, which is a Tensor in the user's code."""
    return value


def beta_tail_by_shapes(a, b, x, y, by_a, by_b):
    """A derivative of scipy.special.betainc by its shapes where x is left of the mean; y = 1 - x.

    It is x**a * y**(b - 1) / (a * beta(a, b)), times 1 + (b - 1) * x / y times the integral of
    exp(-(a + 1) * s) * (1 + x / y * (1 - exp(-s)))**(b - 2): from t = x * exp(-s), and by parts,
    so that no term of a first derivative is much larger than the sum.
    """
    import itertools
    import math

    from scipy import special

    def slope(i, j):  # of the logarithm of the factor before the integral
        n = i + j - 1
        first = (i == 1) * np.log(x) - special.polygamma(n, a + 1) if j == 0 else 0.0
        second = (j == 1) * np.log(y) - special.polygamma(n, b) if i == 0 else 0.0
        return special.polygamma(n, a + b) + first + second

    orders = list(itertools.product(range(by_a + 1), range(by_b + 1)))
    factors, moments = {}, {each: float(each == (0, 0)) for each in orders}
    for i, j in orders:
        p, q = (i - 1, j) if i else (0, j - 1)
        terms = (
            math.comb(p, k) * math.comb(q, m) * slope(i - p + k, j - q + m) * factors[p - k, q - m]
            for k, m in itertools.product(range(p + 1), range(q + 1))
        )
        factors[i, j] = sum(terms) if i + j else 1.0
    bend = np.maximum(b - 2, 0) * x / y
    rate = abs(a + 1 - bend) + np.sqrt(bend / y)
    for node, weight in zip(*half_line(), strict=True):
        s = node / rate
        v = np.log1p(-x / y * np.expm1(-s))
        term = x / y * weight / rate * np.exp((b - 2) * v - (a + 1) * s)
        for i, j in orders:
            moments[i, j] += term * (-s) ** i * ((b - 1) * v**j + j * v ** max(j - 1, 0))
    total = sum(
        math.comb(by_a, i) * math.comb(by_b, j) * factors[by_a - i, by_b - j] * moments[i, j]
        for i, j in orders
    )
    return special.betainc(a, b, x) * (total / moments[0, 0])


def bessel_j2(x):
    """The Bessel function of the first kind of order 2: by its power series near zero, elsewhere
    by those of orders 0 and 1, which SciPy has much faster (Abramowitz and Stegun 9.1.10, 9.1.27).
    """
    from scipy import special

    def part(x):
        near = np.abs(x) < 1
        small, large = np.where(near, x, 0.0), np.where(near, 1.0, x)
        square, series = small * small / 4, np.zeros_like(small)
        for k in range(9, 0, -1):
            series = (1.0 + series) * square / -(k * (k + 2.0))
        return np.where(
            near,
            (1.0 + series) * square / 2,
            2 * special.j1(large) / large - special.j0(large),
        )

    return by_parts(part, np.asarray(x))[()]


def betainc_by_shapes(a, b, x, by_a, by_b):
    """A derivative of scipy.special.betainc by its shapes, by_a and by_b times.

    Left of the mean it is that of the lower tail, right of it that of the upper one.
    """
    a, b, x = (each.astype(float) for each in np.broadcast_arrays(a, b, x))
    valid = (a > 0) & (b > 0) & np.isfinite(a + b)
    result = np.where(valid & ((x == 0) | (x == 1)), 0.0, np.nan)
    valid, upper = valid & (x > 0) & (x < 1), x * (a + b) > a
    lower, upper = valid & ~upper, valid & upper
    with np.errstate(all="ignore"):
        tail = (each[lower] for each in (a, b, x, 1 - x))
        result[lower] = beta_tail_by_shapes(*tail, by_a, by_b)
        tail = (each[upper] for each in (b, a, 1 - x, x))
        result[upper] = -beta_tail_by_shapes(*tail, by_b, by_a)
    return result[()]


def broadcast_like(value, array):
    """`value` with the shape of `array`; a number of Python's stays one beside a number."""
    shape = np.shape(array)
    return value if np.shape(value) == shape else np.broadcast_to(value, shape)


def by_halves(value, halves):
    """`value` where there are two halves, half of it where there is one, 0 elsewhere."""

    def part(value, halves):
        half = 0.5 * value
        room = half if np.shape(half) == np.shape(halves) != () else None
        with np.errstate(invalid="ignore", over="ignore"):
            result = np.multiply(half, halves, out=room)
            finite = np.isfinite(np.sum(result))
        return result if finite else np.where(halves, result, result.dtype.type(0))

    return by_parts(part, value, halves)


def by_parts(function, *operands):
    """function(*operands), elementwise; of large arrays part by part, so that it stays in cache."""
    size, width = max(map(np.size, operands)), 1 << 15
    shapes = {np.shape(each) for each in operands} - {()}
    if size <= 2 * width or len(shapes) > 1:
        return function(*operands)
    flat = [np.reshape(each, -1) if np.shape(each) else each for each in operands]
    result = None
    for start in range(0, size, width):
        part = slice(start, start + width)
        found = function(*(each[part] if np.shape(each) else each for each in flat))
        result = np.empty(size, found.dtype) if result is None else result
        result[part] = found
    return result.reshape(*shapes)


def cholesky_adjoint(lower, lower_bar):
    """The adjoint of the lower triangle of matrices, from that of their lower Cholesky factors.

    Block by block from the last columns on: about twice the work of the factorisation
    (Murray, 2016, section 4.2).
    """
    a_bar, size = np.tril(lower_bar), lower.shape[-1]
    for stop in range(size, 0, -32):
        start = max(stop - 32, 0)
        now, left, below = slice(start, stop), slice(start), slice(stop, size)
        rows, block = lower[..., now, left], lower[..., now, now]
        inverse = np.linalg.inv(block)
        columns_bar = a_bar[..., below, now] @ inverse
        turned = np.conj(np.swapaxes(columns_bar, -1, -2))
        inner = a_bar[..., now, now] - np.tril(turned @ lower[..., below, now])
        inner = np.tril(np.conj(np.swapaxes(block, -1, -2)) @ inner)
        inner = (inner + np.conj(np.swapaxes(inner, -1, -2))) * (1 - 0.5 * np.eye(stop - start))
        whole = np.conj(np.swapaxes(inverse, -1, -2)) @ inner @ inverse
        a_bar[..., below, now] = columns_bar
        a_bar[..., now, now] = np.tril(whole) * (1 - 0.5 * np.eye(stop - start))
        a_bar[..., below, left] -= columns_bar @ rows
        a_bar[..., now, left] -= turned @ lower[..., below, left] + whole @ rows
    return a_bar


def complex_eig(a):
    """The eigenvalues and eigenvectors of a, complex also where all of them are real."""
    w, v = np.linalg.eig(a)
    return w.astype(np.result_type(w, np.complex64)), v.astype(np.result_type(v, np.complex64))


def copied(value):
    """A copy of an array; None, or the number 0, stands for a value that is not there."""
    return value.copy() if isinstance(value, np.ndarray) else value


def array_without_axes(x):
    """A number, or an array without axes, as an array."""
    return np.asarray(x)


def contract(spec, a, b):
    """The contraction of two arrays that an einsum specification names."""
    return np.einsum(spec, a, b)


def instance(kind, /, **attributes):
    """An object with these attributes; its `__init__` does not run."""
    made = object.__new__(kind)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def log_abs_det(a):
    """The logarithm of the absolute value of the determinant."""
    return np.linalg.slogdet(a)[1]


def mode_count(x, axis=0, keepdims=False):
    """How often the element is there that is there most often."""
    import scipy.stats

    return scipy.stats.mode(x, axis=axis, keepdims=keepdims).count


def mode_place(x, axis=0, keepdims=False):
    """Where along an axis the first of the elements is that are there most often."""
    import scipy.stats

    found = scipy.stats.mode(x, axis=axis, keepdims=True).mode
    return np.argmax((x == found) | ((x != x) & (found != found)), axis=axis, keepdims=keepdims)


def log1p_slope(z):
    """(log1p(z) - z / (1 + z)) / z**2: near zero by the series of log1p in z / (2 + z)."""

    def part(z):
        near = np.abs(z) < 0.25
        small, large = np.where(near, z, 0.0), np.where(near, 1.0, z)
        t = small / (2.0 + small)
        series = np.zeros_like(t)
        for k in range(11, 0, -1):
            series = series * t * t + 1.0 / (2 * k + 1)
        series = (1.0 - t) ** 2 / 2 * (1.0 / (1.0 + t) + series * t)
        return np.where(near, series, (np.log1p(large) - large / (1.0 + large)) / large**2)

    return by_parts(part, np.asarray(z))[()]


def moved_with(items, source, target, axis):
    """`items`, which stand where the elements of `source` do, as those stand in `target`.

    Of a vector only what lies between the elements whose item is not zero is put in order.
    """
    moving = np.flatnonzero(items) if np.ndim(source) == 1 else ()
    if 0 < 8 * len(moving) < np.size(items):
        low, high = np.min(source[moving]), np.max(source[moving])
        before = np.flatnonzero((source >= low) & (source <= high))
        after = np.flatnonzero((target >= low) & (target <= high))
        if before.size and before.size == after.size:
            result = np.zeros_like(items)
            order = before[np.argsort(source[before])]
            result[after[np.argsort(target[after])]] = items[order]
            return result
    order = np.argsort(source, axis=axis)
    indices = np.argsort(np.argsort(target, axis=axis), axis=axis)
    return np.take_along_axis(np.take_along_axis(items, order, axis), indices, axis)


def of_product(factors_bar, p, q):
    """The adjoint of the factors of a matrix, whose own adjoint is -p @ q.H."""
    return factors_bar


def pad_samples(array, rank):
    """A batch of samples with axes of length one inserted after the first, up to `rank` axes."""
    shape = np.shape(array)
    return np.reshape(array, shape[:1] + (1,) * (rank - len(shape)) + shape[1:])


def padded_for_filter(x, weights, mode, shift, cval, samples=0):
    """x with what scipy.ndimage has beyond its edges."""
    widths, edge = filter_widths(weights, shift, samples), padding_mode(mode)
    return np.pad(x, widths, edge) if edge else np.pad(x, widths, constant_values=cval)


def padding_mode(edge):
    """np.pad's name of what scipy.ndimage has beyond the edges; None of a constant."""
    if edge.endswith("constant"):
        return None
    names = {"mirror": "reflect", "nearest": "edge", "grid-wrap": "wrap", "wrap": "wrap"}
    return names.get(edge, "symmetric")


def pair_sums(weights, x):
    """The adjoint of x from those of the differences x[i] - x[j], each weight times the difference;
    the pairs i < j are in the order of scipy.spatial.distance.pdist.
    """
    total = np.zeros(x.shape, np.result_type(weights, x))
    start = 0
    for i in range(len(x) - 1):
        weight = weights[start : start + len(x) - 1 - i]
        start += len(weight)
        difference = x[i] - x[i + 1 :]
        total[i] += weight @ difference
        total[i + 1 :] -= np.multiply(weight[:, None], difference, out=difference)
    return total


def passes_ahead(passes, states):
    """How far ahead of a kept state the next is kept: the binomial schedule for `passes` passes.

    `states` counts the states that there is memory for, the first one included. The number of
    passes that run again is the least possible (Griewank and Walther, 2000).
    """
    if passes < 2:
        return passes
    if states < 1:
        raise ValueError("checkpoint: argument 'memory' must be a positive int")
    repeats, reach = 1, states + 1  # with so many repeats this many passes can be gone back
    while reach < passes:
        repeats += 1
        reach = reach * (states + repeats) // repeats
    nearest = reach * repeats // (states + repeats)  # with one repeat less
    return min(nearest, passes - nearest * states // (states + repeats - 1))


def places_joined(indices, at, more):
    """Places with more of them put in before those at `at`."""
    return np.insert(indices, at, more)


def polynomial_from_roots(zeros):
    """The coefficients of the polynomial with these zeros, along the last axis."""
    y = np.ones((*zeros.shape[:-1], 1), zeros.dtype)
    for zero in np.moveaxis(zeros, -1, 0)[..., None]:
        first, last = y[..., :1], -zero * y[..., -1:]
        y = np.concatenate([first, y[..., 1:] - zero * y[..., :-1], last], axis=-1)
    return y


def polynomial_roots(p):
    """The roots of polynomials, along the last axis; complex also where all of them are real."""
    rows = np.reshape(p, (-1, np.shape(p)[-1]))
    if rows.shape[1] == 0 or np.any(rows[:, 0] == 0):
        raise ValueError("np.roots: the first coefficient is zero; np.trim_zeros takes it away")
    y = np.zeros((len(rows), rows.shape[1] - 1), np.result_type(p, np.complex64))
    if y.shape[1] > 1 and np.all(rows[:, -1]):  # the eigenvalues of companion matrices
        companions = np.zeros((len(rows), *2 * y.shape[1:]), rows.dtype)
        companions[:, 1:, :-1] = np.eye(y.shape[1] - 1)
        companions[:, 0] = -rows[:, 1:] / rows[:, :1]
        y[:] = np.linalg.eigvals(companions)
    else:
        for index, row in enumerate(rows):
            y[index] = np.roots(row)
    return np.reshape(y, (*np.shape(p)[:-1], rows.shape[1] - 1))


def power_slope(a, b, e):
    """The derivative of a**b by a; e is b - 1, and 0 where b is 0."""
    return b * a**e


def real_power(a, b):
    """a**b of Python's numbers, which has to be real."""
    power = a**b
    if isinstance(power, complex):
        raise ValueError(
            f"complex: ({a!r})**{b!r} is complex for Python's numbers; this code takes the power"
            " for a real number; pass np.float64(...) for nan, or a complex number"
        )
    return power


def stays_real(x, low, high):
    """What is handed to a function of np.emath; real numbers have to be between the bounds."""
    if np.isrealobj(x) and (np.any(x < low) or np.any(x > high)):
        raise ValueError(
            "complex: a function of np.emath goes over to complex numbers; this code takes what it"
            " gives for real numbers; pass complex numbers, x + 0j"
        )
    return x


def power_sums(items, x, count):
    """The sums of items * x**k, from k = count - 1 down to 0: the adjoint of np.polyval."""
    result = np.empty(count, np.result_type(items, x))
    for index in reversed(range(count)):
        result[index] = np.sum(items)
        items = items * x if index else items
    return result


def product_spec(name, a_rank, b_rank, axes=2):
    """The einsum specification of np.matmul, dot, inner, outer or tensordot for these ranks."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    a, b = letters[:a_rank], letters[a_rank : a_rank + b_rank]
    if name == "tensordot":
        pairs = (range(a_rank - axes, a_rank), range(axes)) if isinstance(axes, int) else axes
        left, right = ([each] if isinstance(each, int) else list(each) for each in pairs)
        for i, j in zip(left, right, strict=True):
            b = b.replace(b[j], a[i])
        dropped = {a[i] for i in left}
    elif name == "outer" or not a or not b:
        dropped = set()
    else:
        b = b.replace(b[-1] if name == "inner" or b_rank == 1 else b[-2], a[-1])
        dropped = {a[-1]}
        if name == "matmul":
            shared = min(a_rank, b_rank) - 2
            for back in range(3, 3 + shared):
                b = b.replace(b[-back], a[-back])
    stack = ""
    if name == "matmul" and b_rank > max(a_rank, 2):
        stack = b[: b_rank - max(a_rank, 2)]
    kept = [each for each in a if each not in dropped]
    kept += [each for each in b if each not in dropped and each not in a and each not in stack]
    return f"{a},{b}->{stack}{''.join(kept)}"


def product_adjoint(y_bar, a, b, name, position, axes=2):
    """Adjoint of operand `position` of a matmul, dot, inner, outer or tensordot of any ranks."""
    ranks = (1, 1) if name == "outer" else (np.ndim(a), np.ndim(b))
    left, right = product_spec(name, *ranks, axes).split("->")[0].split(",")
    out = product_spec(name, *ranks, axes).split("->")[1]
    varied, other = ((a, b), (b, a))[position]
    if name == "outer":
        other = np.ravel(other)
    if position == 1:
        left, right = right, left
    letters = "".join(each for each in left if each in out or each in right)
    adjoint = np.einsum(f"{out},{right}->{letters}", y_bar, other)
    return unbroadcast(adjoint.reshape(np.shape(varied)) if name == "outer" else adjoint, varied)


def any_basis():
    return ValueError(
        "a derivative of vectors that are any basis of a space: decompose the matrix without them"
        " (full_matrices=False, mode='reduced'), or differentiate what is the same for each basis"
    )


def determined(vectors_bar, values, axis):
    """The adjoints of the vectors that belong to values; any others have to be zero."""
    count = np.shape(values)[-1]
    kept, rest = np.split(vectors_bar, [count], axis)
    if np.any(rest):
        raise any_basis()
    return kept


def undetermined(vectors):
    """The tangents of vectors that are any basis of a space: none is theirs."""
    return np.full_like(vectors, np.nan)


def determined_tangent(tangent):
    """A tangent that depends on no vectors which are any basis of a space, as far as it shows."""
    if np.any(np.isnan(tangent)):
        raise any_basis()
    return tangent


def divisors(s, vectors):
    """The numbers s, or infinity where the vectors are square: then nothing is left to divide."""
    rows, columns = np.shape(vectors)[-2:]
    return np.full_like(s, np.inf) if rows == columns else s


def each_sample(function, batched, *operands, **parameters):
    """`function` of one sample after the other, stacked; `batched` tells which operands vary."""
    pairs = list(zip(operands, batched, strict=True))
    size = next(len(operand) for operand, flag in pairs if flag)
    samples = ([x[i] if flag else x for x, flag in pairs] for i in range(size))
    return stacked([function(*sample, **parameters) for sample in samples])


def equal_diagonal(array, axis1, axis2):
    """The diagonal of two axes, which have to have the same length."""
    if np.shape(array)[axis1] != np.shape(array)[axis2]:
        raise ValueError("the axes of a repeated subscript don't match in length")
    return np.diagonal(array, axis1=axis1, axis2=axis2)


def filter_adjoint(y_bar, weights, mode="reflect", shift=0, samples=0):
    """The adjoint of x in filtered(x, weights, ...), from that of the result."""
    from scipy import ndimage

    if samples:
        widths = filter_widths(weights, shift, samples)
        wide = np.zeros_like(np.pad(y_bar, widths))
        for part, weight in filter_parts(wide, weights, samples):
            part += weight * y_bar
        return folded(wide, y_bar, widths, padding_mode(mode))
    sizes = np.shape(weights)
    wide = np.pad(y_bar, [(0, size - 1) for size in sizes])
    origin = [size - 1 - size // 2 for size in sizes]
    wide = ndimage.correlate(wide, np.flip(weights), mode="constant", origin=origin)
    return folded(wide, y_bar, filter_widths(weights, shift), padding_mode(mode))


def filter_parts(wide, weights, samples=0):
    """For each of the weights the part of the padded array that it is multiplied by, and the
    weight; the first axes are those of samples, which have weights of their own."""
    rank = np.ndim(weights)
    sizes = np.shape(weights)[samples:]
    for index in np.ndindex(sizes):
        axes = zip(index, sizes, np.shape(wide)[samples:], strict=True)
        part = tuple(slice(i, i + length - size + 1) for i, size, length in axes)
        weight = np.reshape(weights[(..., *index)], np.shape(weights)[:samples] + (1,) * len(sizes))
        yield wide[(slice(None),) * (rank - len(sizes)) + part], weight


def filter_widths(weights, shift, samples=0):
    """By how much an array is padded so that each of its elements has a whole window."""
    sizes = np.shape(weights)[samples:]
    return [(0, 0)] * samples + [
        ((size - shift) // 2, size - 1 - (size - shift) // 2) for size in sizes
    ]


def filter_weights_adjoint(x, y_bar, weights, mode="reflect", shift=0, cval=0.0, samples=0):
    """The adjoint of the weights in filtered(x, weights, ...), from that of the result."""
    if not np.size(y_bar):
        return np.zeros_like(weights)
    wide = padded_for_filter(x, weights, mode, shift, cval, samples)
    axes = list(range(np.ndim(x)))
    terms = [
        np.einsum(part, axes, y_bar, axes, axes[:samples], dtype=float)
        for part, _ in filter_parts(wide, weights, samples)
    ]
    total = np.moveaxis(np.array(terms), 0, -1) if samples else np.array(terms)
    return total.reshape(np.shape(weights)).astype(weights.dtype, copy=False)


def filtered(x, weights, mode="reflect", shift=0, cval=0.0, samples=0):
    """The sums over the windows of x, by weights of the same rank; a window reaches
    (size - shift) // 2 to the front. Along the first axes, `samples` of them, weights differ.
    """
    from scipy import ndimage

    if samples:
        wide = padded_for_filter(x, weights, mode, shift, cval, samples)
        total = sum(part * weight for part, weight in filter_parts(wide, weights, samples))
        return total.astype(x.dtype, copy=False)
    origin = [(size - shift) // 2 - size // 2 for size in np.shape(weights)]
    return ndimage.correlate(x, weights, mode=mode, cval=cval, origin=origin)


def first_places(y, axis):
    """Where each value of a running extreme along an axis stood first."""
    y = np.moveaxis(y, axis, -1)
    new = np.ones(y.shape, bool)
    new[..., 1:] = y[..., 1:] != y[..., :-1]
    indices = np.maximum.accumulate(np.where(new, np.arange(y.shape[-1]), 0), axis=-1)
    return np.moveaxis(indices, -1, axis)


def folded(wide, like, pad_width, mode):
    """The adjoint of np.pad(like, pad_width, mode): what was added at the ends, added where it is a
    copy of; of constants (mode None) nothing is."""
    for axis, (before, after) in enumerate(pad_width):
        if before or after:
            wide = np.moveaxis(wide, axis, 0)
            total = wide[before : len(wide) - after]
            if mode is not None and len(total):
                total = total.copy()
                indices = np.pad(np.arange(len(total)), (before, after), mode)
                for index in (*range(before), *range(len(wide) - after, len(wide))):
                    total[indices[index]] += wide[index]
            wide = np.moveaxis(total, 0, axis)
    return wide


def frexp_exponent(x):
    """The second result of np.frexp: the power of two."""
    return np.frexp(x)[1]


def frexp_mantissa(x):
    """The first result of np.frexp: a number from 0.5 to 1."""
    return np.frexp(x)[0]


def halves_larger(a, b):
    """How many halves of an adjoint a has of np.maximum(a, b): two, one where they are equal."""
    return np.greater(a, b).view(np.int8) + np.greater_equal(a, b).view(np.int8)


def halves_smaller(a, b):
    """How many halves of an adjoint a has of np.minimum(a, b): two, one where they are equal."""
    return np.less(a, b).view(np.int8) + np.less_equal(a, b).view(np.int8)


def i0_derivative(x, order=1):
    """A derivative of np.i0, by the midpoint rule for its integral over half a period."""
    x = np.asarray(x) if np.result_type(x).kind == "f" else np.asarray(x, float)
    largest = np.max(np.abs(x), initial=0.0, where=np.isfinite(x))
    count = 8 + int(2.25 * np.sqrt(min(largest, 750.0)))
    even, total = order % 2 == 0, np.zeros_like(x)
    for k in range(count):
        c = float(np.cos((k + 0.5) * np.pi / (2 * count)))
        total += c**order * (np.cosh(c * x) if even else np.sinh(c * x))
    return (total / count)[()]


def full_rank(a):
    """The matrix, which has to have more rows than columns, and these independent."""
    rows, columns = np.shape(a)[-2:]
    if rows <= columns or np.any(np.linalg.matrix_rank(a, rtol=None) < columns):
        raise ValueError("np.linalg.lstsq has no residuals: the matrix has no full column rank")
    return a


def gamma_tail_by_shape(a, x, order, sign):
    """A derivative of scipy.special.gammaincc (1) or gammainc (-1) by the shape.

    They are x**a * exp(-x) / gamma(a), times the integral of exp(a * s - x * (exp(s) - 1)); the
    lower one is taken by parts as well, so that no term is much larger than the sum.
    """
    import math

    from scipy import special

    shape = a if sign == 1 else a + 1
    slopes = [(i == 0) * np.log(x) - special.polygamma(i, shape) for i in range(order)]
    factors, moments = [1.0], [float(sign == -1 and i == 0) for i in range(order + 1)]
    for i in range(order):
        terms = (math.comb(i, k) * slopes[k] * factors[i - k] for k in range(i + 1))
        factors.append(sum(terms))
    rate = abs(x - shape) + np.sqrt(x)
    for node, weight in zip(*half_line(), strict=True):
        s = sign * node / rate
        term = np.exp(shape * s - x * np.expm1(s)) * weight / rate * (1 if sign == 1 else x)
        for i in range(order + 1):
            moments[i] += term * s**i
    total = sum(math.comb(order, i) * factors[order - i] * moments[i] for i in range(order + 1))
    value = special.gammaincc(a, x) if sign == 1 else special.gammainc(a, x)
    return value * (total / moments[0])


def gammainc_by_shape(a, x, order):
    """A derivative of scipy.special.gammainc by its shape: left of the mean that of the lower tail,
    right of it that of the upper one."""
    a, x = (each.astype(float) for each in np.broadcast_arrays(a, x))
    valid = (a > 0) & np.isfinite(a)
    result = np.where(valid & ((x == 0) | (x == np.inf)), 0.0, np.nan)
    valid, upper = valid & (x > 0) & np.isfinite(x), x > np.maximum(a, 1.0)
    lower, upper = valid & ~upper, valid & upper
    with np.errstate(all="ignore"):
        result[lower] = gamma_tail_by_shape(a[lower], x[lower], order, -1)
        result[upper] = -gamma_tail_by_shape(a[upper], x[upper], order, 1)
    return result[()]


def half_line():
    """Places and weights: the integral over s > 0 of what falls off like exp(-s).

    The trapezoidal rule in t, with s = exp(t - exp(-t)) (Takahasi and Mori, 1974).
    """
    t, step = np.linspace(-3.4, 4.0, 89, retstep=True)
    s = np.exp(t - np.exp(-t))
    return s, s * (1 + np.exp(-t)) * step


def index_add(array, index, value):
    """A copy of `array` in which `value` is added at `index`; repeated indices accumulate."""
    if isinstance(array, dict):
        return {**array, index: array[index] + value}
    if isinstance(array, (tuple, list)):
        items = list(array)
        items[index] = items[index] + value
        return type(array)(items)
    result = np.array(array)
    np.add.at(result, index, value)
    return result


def index_set(array, index, value):
    """A copy of `array` in which the elements at `index` are `value`."""
    if isinstance(array, dict):
        return {**array, index: value}
    result = list(array) if isinstance(array, (tuple, list)) else np.array(array)
    result[index] = value
    return type(array)(result) if isinstance(array, tuple) else result


def in_dtype_of(value, array):
    """`value` in the dtype of `array`; beside a number of Python's it stays as it is."""
    dtype = getattr(array, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return value
    value = np.asarray(value) if dtype.kind == "c" else np.real(np.asarray(value))
    return value.astype(dtype, copy=False)[()]


def inverse_gaps(w):
    """1 / (w[j] - w[i]) at [i, j]: zero on the diagonal, nan where w is equal but for rounding."""
    gaps = w[..., None, :] - w[..., :, None]
    count = w.shape[-1]
    size = np.max(np.abs(w), axis=-1, initial=0)[..., None, None]
    equal = np.abs(gaps) <= 4 * count * np.finfo(gaps.dtype).eps * size
    inverse = np.where(equal, np.nan, 1 / np.where(equal, 1, gaps))
    return np.where(np.eye(count, dtype=bool), 0, inverse)


def divided_differences(w, y, slope):
    """(y[i] - y[j]) / (w[i] - w[j]) at [i, j]: the mean of the slopes where `are_near`."""
    near = are_near(w, y, slope)
    rises = y[..., :, None] - y[..., None, :]
    means = (slope[..., :, None] + slope[..., None, :]) / 2
    return np.where(near, means, rises / np.where(near, 1, w[..., :, None] - w[..., None, :]))


def are_near(w, y, slope):
    """Where y rises from w[j] to w[i] as the slopes there say, but for rounding."""
    gaps = w[..., :, None] - w[..., None, :]
    rises = y[..., :, None] - y[..., None, :]
    size = np.maximum(np.abs(y)[..., :, None], np.abs(y)[..., None, :])
    with np.errstate(invalid="ignore", over="ignore"):
        missed = np.abs(rises - gaps * ((slope[..., :, None] + slope[..., None, :]) / 2))
    return (gaps == 0) | (missed <= 8 * np.finfo(missed.dtype).eps * size)


def is_last(array, index):
    """Where `array[index] = value` keeps what it wrote: no later item has the same place."""
    last = np.empty(np.shape(array), int)
    order = np.arange(last[index].size).reshape(last[index].shape)
    last[index] = order
    return last[index] == order


def least_residuals(a, b, rcond=None):
    """The sums of squares that a least squares solution leaves."""
    return np.linalg.lstsq(a, b, rcond)[1]


def least_squares(a, b, rcond=None):
    """The solution of a @ x = b with the smallest sum of squares, and the smallest such x."""
    return np.linalg.lstsq(a, b, rcond)[0]


def list_append(items, value):
    """A list of the items, and `value` at the end."""
    return [*items, value]


def list_array(items, axis=0):
    """The items side by side along a new axis."""
    return np.stack(items, axis) if axis else np.array(items)


def list_concatenate(items):
    """The items one after the other along their first axis."""
    return np.concatenate(items)


def list_contains(items, value):
    """Whether the value is one of the items."""
    return value in items


def list_count(items, value):
    """How many of the items are the value."""
    return items.count(value)


def list_index(items, value):
    """Where the value stands first among the items."""
    return items.index(value)


def list_join(a, b):
    """A list of the items of both lists."""
    return a + b


def list_of(*items):
    """A list of the items."""
    return list(items)


def list_pop(items):
    """The last item, and a list of the items before it."""
    return items[-1], items[:-1]


def list_parts(rows, part):
    """A list of a part of each tuple of a list."""
    return [row[part] for row in rows]


def list_rows(array, numbers=False):
    """A list of the rows of an array, or of its `numbers` as those of Python."""
    return array.tolist() if numbers else list(array)


def list_split(array, items):
    """A list of parts of `array` along its first axis, each as long as the item at its place."""
    stops = np.cumsum([len(item) for item in items])
    return np.split(array, stops[:-1])


def modf_fraction(x):
    """The first result of np.modf: what stands after the point."""
    return np.modf(x)[0]


def products_of_others(x, axis):
    """For each element the product of all others along an axis; zeros are as good as any."""
    x = np.moveaxis(x, axis, -1)
    y = np.prod(x, axis=-1)
    inexact = ~(np.isfinite(y) & (np.abs(y) > np.finfo(y.dtype).tiny))
    with np.errstate(divide="ignore", invalid="ignore"):
        others = y[..., None] / x
    if np.any(inexact):
        rows = x[inexact]
        ones = np.ones_like(rows[:, :1])
        before = np.cumprod(np.concatenate([ones, rows[:, :-1]], axis=1), axis=1)
        after = np.cumprod(np.concatenate([ones, rows[:, :0:-1]], axis=1), axis=1)
        others[inexact] = before * after[:, ::-1]
    return np.moveaxis(others, -1, axis)


def other_text(a, b):
    """Whether two texts differ."""
    return a != b


def same_text(a, b):
    """Whether two texts are the same."""
    return a == b


def poisson_entropy_by_mu(mu, order):
    """A derivative of the entropy of Poisson's distribution, the first of which is the mean of
    log((k + 1) / mu): the derivative of a mean is that of the differences from k to k + 1. From
    1000 on the asymptotic series in 1 / mu."""
    import math

    from scipy import special

    whole = np.asarray(mu) * 1.0
    with np.errstate(all="ignore"):
        numbers = (1 / 2, 1 / 12, 1 / 12, 19 / 120, 9 / 20, 863 / 504)
        powers = (a * special.poch(j, order - 1) / whole**j for j, a in enumerate(numbers, 1))
        far = (-1) ** (order - 1) * sum(powers) / whole ** (order - 1)
        mu = np.minimum(whole, 1000.0)
        first = np.floor(np.maximum(mu - 12 * np.sqrt(mu) - 30, 0.0))
        most = float(np.max(mu, initial=1.0, where=mu > 0))
        total, mass = np.zeros(mu.shape), np.zeros(mu.shape)
        for place in range(math.ceil(24 * math.sqrt(most)) + 62):
            k = first + place
            weight = np.exp(special.xlogy(k, mu) - mu - special.gammaln(k + 1))
            if order == 1:
                term = np.log1p((k + 1 - mu) / mu)
            elif order == 2:
                term = np.log1p(1 / (k + 1))
            else:
                ways = [(-1) ** i * math.comb(order - 3, i) for i in range(order - 2)]
                places = (k + order - 1 - i for i in range(order - 2))
                term = sum(n * np.log1p(-1 / at**2) for n, at in zip(ways, places, strict=True))
            total, mass = total + weight * term, mass + weight
        own = (-1) ** order * math.factorial(order - 2) / mu ** (order - 1) if order > 1 else 0.0
        return np.where(whole < 1000, total / mass - own, far)[()]


def psi_half_step(x, order):
    """A derivative of psi(x + 1/2) - psi(x) - 1 / (2 * x), for x > 0, without their cancellation:
    half the integral of exp(-x * s) * tanh(s / 4); the function itself by its difference from the
    one at x + 1, and by the series of Abramowitz and Stegun 6.3.18 from 9 on."""
    x, total = np.asarray(x) * np.float64(1.0), 0.0
    if order == 0:
        return by_parts(psi_half_step_itself, x)[()]
    for node, weight in zip(*half_line(), strict=True):
        s = node / x
        total = total + weight / x * (-s) ** order * np.exp(-node) * np.tanh(s / 4) / 2
    return total


def psi_half_step_itself(x):
    """The sum over k of 1 / (4 * (x + k) * (x + k + 1/2) * (x + k + 1)), of positive terms."""
    from scipy.special import bernoulli

    total, even = np.zeros_like(x), bernoulli(26)[2::2]
    for _ in range(9):
        total = total + 0.25 / (x * (x + 0.5) * (x + 1.0))
        x = x + 1.0
    series, inverse = np.zeros_like(x), 1.0 / (x * x)
    for k in range(len(even), 0, -1):
        series = (series + float(even[k - 1]) * (1.0 - 0.25**k) / k) * inverse
    return total + series


def put_back(left, indices, length, axis):
    """What np.delete left along an axis of this length, where it stood; zeros where it deleted."""
    left = np.moveaxis(left, axis, 0)
    kept = np.ones(length, bool)
    kept[indices] = False
    result = np.zeros((length, *left.shape[1:]), left.dtype)
    result[kept] = left
    return np.moveaxis(result, 0, axis)


def recurrence(a, b, axis, reverse=False):
    """y[i] = a[i] * y[i - 1] + b[i] along an axis; blocks of it advance side by side."""
    a, b = (np.moveaxis(np.flip(each, axis) if reverse else each, axis, 0) for each in (a, b))
    y = np.array(b, np.result_type(a, b), order="C")
    a = np.array(a, y.dtype, order="C")
    width = max(int(len(y) ** 0.5), 1) if y[:1].size < 100 else 1
    count = len(y) // width
    blocks = y[: count * width].reshape(count, width, *y.shape[1:])
    factors = a[: count * width].reshape(blocks.shape)
    for i in range(1, width):
        blocks[:, i] += factors[:, i] * blocks[:, i - 1]
        factors[:, i] *= factors[:, i - 1]
    for i in range(1, count):
        last = blocks[i - 1, -1]
        blocks[i] += np.where(last == 0, 0, factors[i] * last)
    for i in range(max(count * width, 1), len(y)):
        y[i] += a[i] * y[i - 1]
    y = np.moveaxis(y, 0, axis)
    return np.flip(y, axis) if reverse else y


def resized(array, length, axis):
    """`array` cropped or filled up with zeros to a length along an axis."""
    if np.shape(array)[axis] == length:
        return array
    array = np.moveaxis(array, axis, -1)[..., :length]
    missing = np.zeros((*array.shape[:-1], length - array.shape[-1]), array.dtype)
    return np.moveaxis(np.concatenate([array, missing], axis=-1), -1, axis)


def row_order(piv, matrix):
    """The order of the rows of a matrix after the exchanges of an LU factorisation."""
    count, exchanges = np.shape(matrix)[-2], np.array(piv, int, ndmin=2)
    exchanges = exchanges.reshape(np.prod(exchanges.shape[:-1], dtype=int), exchanges.shape[-1])
    order = np.tile(np.arange(count), (len(exchanges), 1))
    if len(exchanges) == 1:
        rows = order[0].tolist()
        for i, index in enumerate(exchanges[0].tolist()):
            rows[i], rows[index] = rows[index], rows[i]
        order[0] = rows
        return order.reshape(np.shape(matrix)[:-1])
    samples = np.arange(len(exchanges))
    for i, index in enumerate(exchanges.T):
        moved = order[samples, index]
        order[samples, index] = order[:, i]
        order[:, i] = moved
    return order.reshape(np.shape(matrix)[:-1])


def samples_array(items, example):
    """The items side by side, each of which is that of all samples of the example."""
    return np.stack(items, axis=1) if items else np.empty((len(example), 0))


def samples_equal(a, b, equal_nan=False, broadcast=False):
    """np.array_equal for each of a batch of pairs; with `broadcast` np.array_equiv."""
    shapes = np.shape(a), np.shape(b)
    fit = all(m == n or (broadcast and 1 in (m, n)) for m, n in zip(*shapes, strict=True))
    if not fit:
        return np.zeros(len(a), bool)
    same = (a == b) | (np.isnan(a) & np.isnan(b)) if equal_nan else a == b
    return np.all(same, axis=tuple(range(1, same.ndim)))


def search_of_stack(a, v, side="left"):
    """np.searchsorted for each of a batch, by bisection of all rows at once; nan is the largest."""
    dtype = np.result_type(a, v)
    if dtype.kind not in "biuf":
        pairs = zip(a, v, strict=True)
        indices = [np.searchsorted(*pair, side=side) for pair in pairs]
        return np.reshape(np.array(indices, np.intp), np.shape(v))
    a, v = a.astype(dtype), v.astype(dtype)
    count, missing = a.shape[1], np.isnan(v)
    low, high = np.zeros(v.shape, np.intp), np.full(v.shape, count)
    rows = np.arange(len(a)).reshape(-1, *[1] * (v.ndim - 1))
    for _ in range(count.bit_length()):
        middle = np.minimum((low + high) // 2, count - 1)
        found = a[rows, middle]
        before = found <= v if side == "right" else found < v
        if np.any(missing):
            before |= missing if side == "right" else missing & ~np.isnan(found)
        before &= low < high
        low, high = np.where(before, middle + 1, low), np.where(before, high, middle)
    return low


def segment_ends(x, xp):
    """For each x the place of the point at which its segment ends."""
    return np.clip(np.searchsorted(xp, x, side="right"), 1, len(xp) - 1)


def series_quotient(u, v):
    """The first len(u) coefficients of the quotient of two power series."""
    q = np.array(u, np.result_type(u, v))
    for i in range(len(q)):
        q[i] /= v[0]
        q[i + 1 : i + len(v)] -= q[i] * v[1 : len(q) - i]
    return q


def sign_of_det(a):
    """The sign of the determinant."""
    return np.linalg.slogdet(a)[0]


def sinc_derivative(x, order=1):
    """A derivative of np.sinc: by its power series near zero, by recurrence elsewhere."""

    def part(x):
        near = np.abs(x) < 1
        small, large = np.where(near, x, 0.0), np.where(near, 1.0, x)
        series = np.zeros_like(small)
        for k in range((order + 1) // 2 + 14, (order - 1) // 2, -1):
            rest = 2 * k - order
            factor = (-1.0) ** k * np.pi ** (2 * k) / np.prod(np.arange(1.0, rest + 1))
            series = series * small**2 + float(factor / (2 * k + 1))
        series = series * small ** (order % 2)
        if np.all(near):
            return series
        y = np.sinc(large)
        for n in range(1, order + 1):
            y = (np.pi ** (n - 1) * np.sin(np.pi * large + n * np.pi / 2) - n * y) / large
        return np.where(near, series, y)

    return by_parts(part, x)[()]


def sine_integral(phi, m, p, q):
    """The integral of sin(t)**(2 * q) / (1 - m * sin(t)**2)**(p / 2) from 0 to phi, for small m."""
    phi, m = np.broadcast_arrays(np.asarray(phi) * 1.0, np.asarray(m) * 1.0)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    turns = np.rint(phi / np.pi)

    def up_to(end):
        sine = np.sin(end[..., None] * (nodes + 1) / 2)
        return end / 2 * ((sine ** (2 * q) / (1 - m[..., None] * sine**2) ** (p / 2)) @ weights)

    return up_to(phi - turns * np.pi) + 2 * turns * up_to(np.full(m.shape, np.pi / 2))


def spread_segments(sums, indices, length, axis):
    """The adjoint of np.add.reduceat for an axis of this length."""
    sums = np.moveaxis(sums, axis, 0)
    result = np.zeros((length, *sums.shape[1:]), sums.dtype)
    stops = [*indices[1:], length]
    for start, stop, value in zip(indices, stops, sums, strict=True):
        result[start : max(stop, start + 1)] += value
    return np.moveaxis(result, 0, axis)


def stacked(samples):
    """The results of one sample after the other in one array; they have to have one shape."""
    shapes = list(dict.fromkeys(np.shape(each) for each in samples))
    if not shapes:
        raise ValueError(
            "vmap: an empty batch of what runs sample by sample; without a sample the shape of its"
            " result is not known; leave the call out where there are no samples"
        )
    if len(shapes) > 1:
        raise ValueError(
            f"vmap: results of shapes {shapes[0]} and {shapes[1]} for two samples; a batch is one"
            " array; return arrays of one shape: np.where(mask, x, other) instead of x[mask]"
        )
    return np.array(samples)


def states_kept(passes, memory):
    """How many states are kept ahead of the first: no more than there are passes to reach them."""
    if memory < 1:
        raise ValueError("checkpoint: argument 'memory' must be a positive int")
    return min(memory, passes - 1)


def stop_gradient(value):
    """`value` itself; no derivative passes through."""
    return value


def sums_of_differences(weights, a, b):
    """For each i the sum over j of weights[i, j] * (a[i] - b[j])."""
    total = np.zeros(a.shape, np.result_type(weights, a, b))
    if len(b) < len(a):
        for weight, row in zip(weights.T, b, strict=True):
            total += weight[:, None] * (a - row)
        return total
    for i, row in enumerate(a):
        total[i] = weights[i] @ (row - b)
    return total


def sums_of_runs(items, y, axis):
    """The items, summed over each run of equal elements of y along an axis, where it begins."""
    y, items = np.moveaxis(y, axis, -1), np.moveaxis(items, axis, -1)
    new = np.ones(y.shape, bool)
    new[..., 1:] = y[..., 1:] != y[..., :-1]
    starts, result = np.flatnonzero(new), np.zeros(items.shape, items.dtype)
    if starts.size:
        result.reshape(-1)[starts] = np.add.reduceat(items.reshape(-1), starts)
    return np.moveaxis(result, -1, axis)


def t_cdf_by_df(t, df, order):
    """A derivative by df of the distribution function of Student's t, for df > 1/4: an integral of
    that of the density, from 0 to t where t is small, and else over the tail, where df + u**2 is
    (df + t**2) * exp(s).
    """
    import scipy.stats

    def part(t, df):
        result, near = np.array(t), abs(t) < 1
        nodes, weights = np.polynomial.legendre.leggauss(20)
        half, v = t[near] / 2, df[near]
        moved = t_density_by_df((half[:, None] * (nodes + 1)) ** 2, v[:, None], order) @ weights
        result[near] = half * scipy.stats.t.pdf(0.0, v) * moved
        far, v = np.clip(abs(t[~near]), 1.0, 1e50)[:, None], df[~near][:, None]
        places, weights = half_line()
        rate = v / 2 * (1 + 0.5 / far**2)
        square = far**2 + (v + far**2) * np.expm1(places / rate)
        weights = weights * (v + square) / (2 * np.sqrt(square) * rate)
        moved = np.sum(t_density_by_df(square, v, order) * weights, axis=-1)
        result[~near] = -np.sign(t[~near]) * scipy.stats.t.pdf(0.0, df[~near]) * moved
        return np.where(np.isnan(t), t, result)

    with np.errstate(over="ignore", under="ignore"):
        t, df = np.broadcast_arrays(np.asarray(t) * 1.0, np.minimum(df, 1e150))
        return by_parts(part, t, df)[()]


def t_density_by_df(square, df, order):
    """A derivative by df of Student's density, over the density at 0."""
    import math

    slopes, factors = [t_slope(square, df, k) for k in range(order)], [1.0]
    for j in range(order):
        terms = (math.comb(j, k) * slopes[k] * factors[j - k] for k in range(j + 1))
        factors.append(sum(terms))
    return np.exp(-(df + 1) / 2 * np.log1p(square / df)) * factors[order]


def t_slope(square, df, order):
    """A derivative by df of the slope by df of the log-density of Student's t at the root of
    `square`, without cancellation for large df."""
    import math

    own, whole = psi_half_step(df / 2, order) / 2**order, df + square
    share, rest = square / whole, df / whole
    if order == 0:  # -log(1 - share) - share, the first terms of which are equal
        small, series = np.minimum(share, 0.2), 0.0
        for k in range(22, 1, -1):
            series = (series + 1 / k) * small
        excess = np.where(share < 0.2, series * small, np.log1p(square / df) - share)
        return (own - excess + share / df) / 2
    logarithm = sum(rest ** (i + j) for j in range(order) for i in range(order - j)) * share**2
    powers = sum(rest**j for j in range(order + 1)) * share * order / df
    factor = (-1) ** order * math.factorial(order - 1) / df**order
    return (own + factor * (powers - logarithm)) / 2


def times_sign(value, x):
    """value * np.sign(x), the adjoint of abs: of large arrays of complex numbers without np.sign,
    which takes twenty times as long as abs.
    """
    if np.size(x) < 1024 or not np.iscomplexobj(x) or np.iscomplexobj(value):
        return value * np.sign(x)
    size = np.abs(x)
    with np.errstate(all="ignore"):
        factor = value / np.where(size, size, 1.0) if not size.all() else value / size
    if not np.isfinite(factor).all():  # infinite, or too small to divide by
        return value * np.sign(x)
    result = np.empty(factor.shape, np.result_type(factor, x))
    np.multiply(x.real, factor, out=result.real)
    np.multiply(x.imag, factor, out=result.imag)
    return result


def trigamma(x):
    """The derivative of the digamma function: terms of its series up to x + 8, and from there its
    asymptotic series; left of zero by reflection (Abramowitz and Stegun 6.4.6, 6.4.7, 6.4.12)."""

    def part(x):
        right = x > 0
        z, total = np.where(right, x, 1 - x), 0.0
        for n in range(8):
            w = 1 / (z + n)
            total = total + w * w
        w = 1 / (z + 8)
        square, tail = w * w, 0.0
        bernoulli = (43867 / 798, -3617 / 510, 7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42)
        for number in (*bernoulli, -1 / 30, 1 / 6):
            tail = tail * square + number
        total = total + w + square / 2 + tail * square * w
        if np.all(right):
            return total
        return np.where(right, total, (np.pi / np.sin(np.pi * (x - np.rint(x)))) ** 2 - total)

    with np.errstate(all="ignore"):
        return by_parts(part, x)


def complex_polygamma(n, x):
    """A derivative of the digamma function at complex numbers: the recurrence and from there the
    asymptotic series; on the left by reflection (DLMF 5.15.5, 5.15.6, 5.15.8)."""
    import math

    x = np.asarray(x) * 1.0
    right = np.real(x) > 0.5
    z = np.where(right, x, 1 - x)
    count, whole = 16 + n, math.factorial(n)
    total = sum(whole / (z + k) ** (n + 1) for k in range(count))
    w = z + count
    total = total + math.factorial(n - 1) / w**n + whole / (2 * w ** (n + 1))
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
    for k, number in enumerate(bernoulli, 1):
        rising = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        total = total + number * rising / w ** (2 * k + n)
    total = (-1) ** (n + 1) * total
    if np.all(right):
        return total.astype(x.dtype)[()]
    slope = np.polynomial.Polynomial([0.0, np.pi])  # in c = cot(pi * x), by x: -pi * (1 + c**2)
    for _ in range(n):
        slope = slope.deriv() * np.polynomial.Polynomial([-np.pi, 0.0, -np.pi])
    with np.errstate(all="ignore"):
        reflected = (-1) ** n * total - slope(1 / np.tan(np.pi * x))
    return np.where(right, total, reflected).astype(x.dtype)[()]


def unbroadcast(value, array):
    """Sum `value` over the axes along which `array` was broadcast, in the dtype of `array`."""
    shape, dtype = np.shape(array), np.result_type(array)
    value = np.asarray(value) if np.iscomplexobj(array) else np.real(np.asarray(value))
    if value.ndim > len(shape):
        value = np.sum(value, axis=tuple(range(value.ndim - len(shape))))
    ones = tuple(axis for axis, n in enumerate(shape) if n == 1 and value.shape[axis] != 1)
    value = np.sum(value, axis=ones, keepdims=True) if ones else value
    typed = shape or isinstance(array, np.ndarray | np.generic)
    return (value.astype(dtype, copy=False) if typed and dtype.kind in "fc" else value)[()]


def upper_factor(a):
    """The second factor of a QR decomposition."""
    return np.linalg.qr(a, mode="r")


def zeta_derivative(x, q, order):
    """A derivative by x of Hurwitz's zeta function: the Euler-Maclaurin sum, term by term."""
    dtype = np.result_type(x, q, 1.0)
    x, q = np.broadcast_arrays(np.asarray(x) * 1.0, np.asarray(q) * 1.0)
    total = sum((-np.log(q + n)) ** order * (q + n) ** -x for n in range(12))
    w, choose, tail, falling = q + 12, 1, 0.0, 1
    weights = []  # Leibniz's rule: the k-th derivative of a factor goes with weights[k]
    for k in range(order + 1):
        weights.append(choose * (-np.log(w)) ** (order - k))
        tail = tail + weights[k] * falling * (-1) ** k / (x - 1) ** (k + 1)
        choose, falling = choose * (order - k) // (k + 1), falling * (k + 1)
    total = total + w ** (1 - x) * tail + weights[0] * w**-x / 2
    rising, factorial = np.polynomial.Polynomial([0.0, 1.0]), 2
    for j, bernoulli in enumerate([1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6], 1):
        slopes = sum(weight * rising.deriv(k)(x) for k, weight in enumerate(weights))
        total = total + bernoulli / factorial * w ** (1 - 2 * j - x) * slopes
        rising = rising * np.polynomial.Polynomial([4 * j**2 - 2 * j, 4 * j - 1, 1])
        factorial = factorial * (2 * j + 1) * (2 * j + 2)
    return total.astype(dtype)


def unique_counts(x, **options):
    """How often each of the different elements is there."""
    return np.unique(x, return_counts=True, **options)[1]


def unique_index(x, **options):
    """The place of the first of each of the different elements."""
    return np.unique(x, return_index=True, **options)[1]


def unique_inverse(x, **options):
    """For each element its place among the different ones."""
    return np.unique(x, return_inverse=True, **options)[1]


def where_larger(value, a, b, skip_nan=False):
    """`value` where a > b, half of it where they are equal, 0 elsewhere: np.maximum's adjoint.

    With `skip_nan` the value also where b is nan.
    """

    def part(value, a, b):
        return with_ties(a > b, a == b, b, skip_nan, value)

    return by_parts(part, value, a, b)


def where_or_zero(mask, value):
    """np.where(mask, value, 0); of large arrays without a branch for each element."""
    value = np.asarray(value)
    if np.size(mask) < 4096 or value.dtype.itemsize > 8 or value.dtype.kind not in "fc":
        return np.where(mask, value, value.dtype.type(0))
    bits = value.view(f"i{value.dtype.itemsize}")
    return (bits * np.asarray(mask, bool)).view(value.dtype)


def where_smaller(value, a, b, skip_nan=False):
    """`value` where a < b, half of it where they are equal, 0 elsewhere: np.minimum's adjoint.

    With `skip_nan` the value also where b is nan.
    """

    def part(value, a, b):
        return with_ties(a < b, a == b, b, skip_nan, value)

    return by_parts(part, value, a, b)


def windows_added(windows, length, axis):
    """What is read through sliding windows along an axis, added up where it stands."""
    windows = np.moveaxis(windows, axis, -2)
    count, width = windows.shape[-2:]
    total = np.zeros((*windows.shape[:-2], length), windows.dtype)
    for start in range(width):
        total[..., start : start + count] += windows[..., start]
    return np.moveaxis(total, -1, axis)


def with_ties(chosen, equal, other, skip_nan, value):
    """`value` where chosen, and with `skip_nan` where `other` is nan; half of it where equal."""
    if skip_nan:
        chosen = chosen | np.isnan(other)
    if np.result_type(value).kind not in "fc":
        value = np.multiply(value, 1.0)
    result = where_or_zero(chosen, value)
    if np.any(equal):
        np.copyto(result, 0.5 * value, where=equal)
    return result


def ones_like(items):
    """Ones in the structure of a list of numbers, arrays, or lists of these."""
    return [ones_like(item) if isinstance(item, list) else np.ones_like(item)[()] for item in items]


def zeros_like(value):
    """Zeros in the structure of `value`: an array, a number, or a container of these.

    None, or the number 0, stands for a value that is not there.
    """
    if isinstance(value, dict):
        return {key: zeros_like(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([zeros_like(item) for item in value])
    if value is None or type(value) in (bool, int, float):
        return 0.0
    exact = np.asarray(value).dtype.kind in "biu"
    return np.zeros(np.shape(value)) if exact else np.zeros_like(value)
