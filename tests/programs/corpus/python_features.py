"""Python itself: each program leans on constructs of the language that are easily overlooked."""

import functools
import itertools
import math
import operator

import numpy as np

from programs.case import Case

SCALE = 1.5
OFFSETS = (0.1, -0.2, 0.3)


def first_stable(rates, x):
    """for-else and while-else: an else runs where no break was met."""
    for rate in rates:
        y, n = x, 0
        while n < 4:
            y = y - rate * (y**3 - y)
            if abs(y) > 2.0:
                break
            n += 1
        else:
            chosen = rate * y
            break
    else:
        chosen = x**2
    return chosen + 0.1 * n


def checked_ratio(a, b, table):
    """try with except, else and finally, around what is known to fail or not."""
    total = 0.0
    attempts = 0
    for key in ("first", "missing", "second"):
        try:
            value = table[key]
        except KeyError:
            total += 0.5 * a
        else:
            total += value * a / b
        finally:
            attempts += 1
    try:
        scale = float("1.5")
    except ValueError:
        scale = 2.0
    return scale * total**2 + attempts


def validated_norm(x, p=2, *, axis=None, eps=1e-6):
    if not isinstance(x, np.ndarray):
        raise TypeError("x has to be an array")
    if p <= 0:
        raise ValueError(f"p = {p} is not positive")
    assert x.ndim <= 2, "x has too many axes"
    if np.any(np.isnan(x)):
        raise ValueError("x holds values that are not numbers")
    s = np.sum((x * x + eps) ** (p / 2), axis=axis)
    return np.sum(s ** (1 / p))


def safe_log_odds(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.log(p / (1 - p)) - np.log(q)
        clean = np.where(np.isfinite(raw), raw, 0.0)
    return np.sum(clean**2)


def collatz_with_walrus(x, limit):
    count = 0
    while (y := 0.5 * x + 0.1 * math.sin(x)) > limit:
        x = y
        count += 1
    if (rest := x - limit) > 0:
        return rest**2 + count
    return [last := x * 2, last + 1][1]


class Leaf:
    __match_args__ = ("value",)

    def __init__(self, value):
        self.value = value


class Branch:
    __match_args__ = ("kind", "children")

    def __init__(self, kind, *children):
        self.kind, self.children = kind, children


def evaluate(tree):
    match tree:
        case Leaf(value):
            return value
        case Branch("sum", (first, *rest)):
            return evaluate(first) + sum(evaluate(child) for child in rest)
        case Branch("product", (left, right)):
            return evaluate(left) * evaluate(right)
        case Branch(kind="power", children=(base, Leaf(exponent))) if exponent >= 0:
            return evaluate(base) ** exponent
        case [scale, inner]:
            return scale * evaluate(inner)
        case float() | int():
            return tree
    raise TypeError(f"cannot evaluate {tree!r}")


def matched_tree(x, y):
    """Class patterns, sequence patterns, guards and alternatives, on a tree made here."""
    tree = Branch(
        "sum",
        Branch("product", Leaf(x), [3.0, Leaf(y)]),
        Branch("power", Branch("sum", Leaf(x), Leaf(y), 1), Leaf(3)),
        0.5,
    )
    return evaluate(tree)


def sieve_of_products(values, limit):
    """break and continue in nested loops, the inner ones bound to their own loop."""
    total = 0.0
    for i, a in enumerate(values):
        if a < 0:
            continue
        product = a
        for b in values[i + 1 :]:
            if b < 0:
                continue
            if product * b > limit:
                break
            product *= b
        else:
            total += 0.1
        if i == 3:
            break
        total += product
    return total


def first_pair(values, target):
    """Returns from inside two loops; the pair that is found decides the value."""
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if values[i] + values[j] > target:
                return values[i] * values[j] + 0.1 * i
    return np.sum(values)


def combine(first, *others, weight=1.0, **named):
    total = weight * first
    for i, other in enumerate(others, start=2):
        total += other**i
    for name, value in named.items():
        total += len(name) * value
    return total


def forwarded_arguments(x, y):
    arguments = [x, y, x * y]
    options = {"weight": y, "shift": x**2}
    plain = combine(*arguments)
    keyed = combine(x, **options, bias=y)
    both = combine(*arguments[:2], 2.0, **{**options, "weight": 0.5})
    return plain + 2 * keyed - both**2


def scaled(factor):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return factor * f(*args, **kwargs)

        return wrapper

    return decorate


def clipped(f):
    @functools.wraps(f)
    def wrapper(x, low=-5.0, high=5.0):
        return max(low, min(high, f(x)))

    return wrapper


@scaled(2.0)
@scaled(0.7)
def wave(x, frequency=2.0):
    return math.sin(frequency * x)


@clipped
def cubic(x):
    return x**3 - x


def decorated_helpers(x):
    return wave(x) * wave(x, frequency=3.0) + cubic(x) + cubic(x * 10.0, high=4.0) * x


def make_power(n):
    def power(x):
        result = 1.0
        for _ in range(n):
            result *= x
        return result

    return power


def closures_called(x, y):
    """Functions made, returned, stored, and called on the spot."""
    shift = x

    def moved(t, by=shift):
        return t + by * shift

    shift = y
    powers = [make_power(n) for n in range(3)]
    total = make_power(3)(x) + (lambda t: t * shift)(y)
    total += sum(p(moved(y)) for p in powers)
    counter = 0.0

    def count(amount):
        nonlocal counter
        counter += amount
        return counter

    count(x)
    return total + count(y) * counter


def composed(*functions):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), functions)


def functional_style(x, y):
    """partial, reduce, map, filter, and composition of functions."""
    affine = functools.partial(lambda a, b, t: a * t + b, x)
    pipeline = composed(functools.partial(affine, y), math.sin, lambda t: t * t + 1)
    numbers = [x, y, x + y, x - y]
    product = functools.reduce(operator.mul, map(pipeline, numbers), 1.0)
    positive = list(filter(lambda t: t > 0, numbers))
    return product + sum(positive) / len(positive)


def tree_depth_sum(tree, decay, depth=0):
    """Recursion over nested tuples; numbers weigh less the deeper they are."""
    if isinstance(tree, tuple):
        return sum(tree_depth_sum(branch, decay, depth + 1) for branch in tree)
    return tree * decay**depth


def even_part(coefficients, x):
    if not coefficients:
        return 0.0
    return coefficients[0] + odd_part(coefficients[1:], x) * x


def odd_part(coefficients, x):
    if not coefficients:
        return 0.0
    return -0.5 * coefficients[0] + even_part(coefficients[1:], x) * x


def mutual_recursion(a, b, x):
    return even_part((a, b, a * b, 2.0), x) - odd_part([b, a], x) ** 2


def simpson(f, a, b):
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))


def adaptive_simpson(f, a, b, tolerance):
    """Recursion as deep as the values ask for."""
    middle = (a + b) / 2
    whole = simpson(f, a, b)
    halves = simpson(f, a, middle) + simpson(f, middle, b)
    if abs(halves - whole) < 15 * tolerance:
        return halves + (halves - whole) / 15
    left = adaptive_simpson(f, a, middle, tolerance / 2)
    right = adaptive_simpson(f, middle, b, tolerance / 2)
    return left + right


def peaked_integral(width, end):
    return adaptive_simpson(lambda t: math.exp(-(t**2) / width), 0.0, end, 1e-4)


def quadratic_map(x, r, n):
    if n == 0:
        return x
    if x < 0.5:
        return quadratic_map(r * x * (1 - x), r, n - 1)
    return 0.9 * quadratic_map(r * x * (1 - x) + 0.01, r, n - 1) + 0.02 * n


def generators_in_reductions(values, weights):
    total = sum(w * v for v, w in zip(values, weights) if v > 0)
    top = max(v * w for v in values for w in weights)
    least = min((abs(v - 1.0) for v in values), default=0.0)
    if any(v > 10 for v in values) or not all(w > 0 for w in weights):
        return total
    if sum(1 for v in values if v < 0) == 1:
        total *= 2
    return total + top * least


def comprehensions(matrix, v):
    rows, columns = matrix.shape
    transposed = [[matrix[i, j] for i in range(rows)] for j in range(columns)]
    flat = [x for row in transposed for x in row if abs(x) > 0.2]
    products = {(i, j): v[i] * matrix[i, j] for i in range(rows) for j in range(columns) if i != j}
    named = {f"row{i}": sum(row) for i, row in enumerate(transposed)}
    kinds = {i % 2 for i, _ in products}
    upper = np.array([[products.get((i, j), 0.0) for j in range(columns)] for i in range(rows)])
    return sum(x**2 for x in flat) + named["row1"] * len(kinds) + np.sum(upper @ upper.T)


def normalise(row):
    row -= row.mean()
    row /= np.sqrt(np.sum(row**2))


def push_all(items, extra):
    for e in extra:
        items.append(e)
    items[0] = items[0] * 2


def relabel(record, shift):
    record["x"] = record.pop("old") + shift


def mutating_helpers(A, shift):
    """Helpers that return nothing and change what they are given."""
    B = A.copy()
    for row in B:
        normalise(row)
    items = [B[0, 0], B[1, 1]]
    push_all(items, [shift, B[0, 1]])
    record = {"old": items[0] * items[2]}
    relabel(record, shift)
    return sum(items) + record["x"] ** 2 + np.sum(np.tanh(B))


def swaps_and_stars(x, y, z):
    x, y = y, x
    a, *middle, b = (x, y, z, x * y, z**2)
    (c, d), e = middle[:2], middle[-1]
    x = y = c + d
    (p, q), [r, *s] = (a, b), [e, x, y]
    p, q, r = r, p, q
    low, high = sorted((p, q))
    return p * q - r + sum(s) * (high - low)


def chained_conditions(x, low, high):
    total = 0.0
    for value in x:
        if low <= value < high != 0:
            total += value**2
        elif not low < value or value > 2 * high > 0:
            total -= value
        else:
            total += 1.0 if value > 1.2 else value if value > 1.1 else 3 * value
        total = total or value
    return total and total * low


def globals_and_del(x):
    scratch = x * SCALE
    values = list(OFFSETS)
    y = scratch + sum(values)
    del scratch
    del values[1]
    for k in range(3):
        y = y * SCALE if k % 2 else y + OFFSETS[k]
    scratch = y**2
    return scratch * len(values)


def lambdas_in_containers(x, choice):
    steps = {
        "double": lambda t: 2 * t,
        "bend": lambda t, k=0.3: t + k * t**3,
        "wave": np.sin,
    }
    schedule = [("double", {}), ("bend", {"k": 0.1}), ("wave", {}), ("bend", {})]
    for name, options in schedule:
        if name == choice:
            continue
        x = steps[name](x, **options)
    late = [lambda t: t * i for i in range(1, 4)]
    early = [lambda t, i=i: t * i for i in range(1, 4)]
    return sum(f(x) for f in late) + 0.1 * sum(f(x) ** 2 for f in early)


def iterators(values, weights):
    """itertools, as far as numbers flow through it."""
    running = list(itertools.accumulate(values))
    pairs = sum(a * b for a, b in itertools.combinations(values, 2))
    grid = sum(v * w**k for (v, w), k in zip(itertools.product(values, weights), range(6)))
    steps = [b - a for a, b in itertools.pairwise(running)]
    padded = itertools.chain([0.0], steps, weights)
    longest = itertools.zip_longest(values, weights, fillvalue=1.0)
    return pairs + grid + sum(padded) * running[-1] + sum(a * b for a, b in longest)


def counters_and_reversal(values):
    """enumerate, reversed, slices with negative steps, range with all its arguments."""
    total = 0.0
    for i, v in enumerate(reversed(values), start=2):
        total += v / i
    for j in range(len(values) - 1, 0, -2):
        total += values[j] * values[-j]
    for a, b in zip(values[::-2], values[1::2]):
        total *= 1 + 0.1 * a * b
    last = 0.0
    for last in values:
        pass
    return total + last * j


def windows(values, width):
    for start in range(len(values) - width + 1):
        yield values[start : start + width]


def sliding_spread(values, power):
    """A generator function, and a generator expression that reads it."""
    spreads = (max(w) - min(w) for w in windows(values, 3))
    total = 0.0
    for weight, spread in enumerate(spreads, start=1):
        total += weight * spread**power
    return total


def memoised_basis(t, coefficients):
    """The recursion of Cox and de Boor, which remembers what it has computed."""
    knots = (0.0, 0.5, 1.0, 1.7, 2.5, 3.0, 3.6)

    @functools.cache
    def basis(i, degree):
        if degree == 0:
            return 1.0 if knots[i] <= t < knots[i + 1] else 0.0
        left = (t - knots[i]) / (knots[i + degree] - knots[i])
        right = (knots[i + degree + 1] - t) / (knots[i + degree + 1] - knots[i + 1])
        return left * basis(i, degree - 1) + right * basis(i + 1, degree - 1)

    return sum(c * basis(i, 2) for i, c in enumerate(coefficients))


def complex_impedance(resistance, inductance, omega):
    """Real and imaginary parts by hand, in a ladder of equal cells."""
    re, im = resistance, omega * inductance
    for _ in range(3):
        denominator = re * re + im * im
        re, im = re / denominator, -im / denominator
        im += 0.2 * omega
        denominator = re**2 + im**2
        re, im = resistance + re / denominator, omega * inductance - im / denominator
    return math.sqrt(re**2 + im**2) + math.atan2(im, re)


CASES = [
    Case(first_stable, ((3.0, 1.8, 0.3), 1.6), wrt=(0, 1), complex_step=True),
    Case(
        checked_ratio, (0.8, 1.7, {"first": 0.5, "second": -1.2}), wrt=(0, 1, 2), complex_step=True
    ),
    Case(validated_norm, (np.array([[0.4, -1.2], [0.9, 0.3]]), 3), complex_step=True),
    Case(
        safe_log_odds,
        (np.array([0.2, 0.7, 0.5]), np.array([1.2, 0.6, 2.0])),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(collatz_with_walrus, (7.3, 1.1), wrt=(0, 1)),
    Case(matched_tree, (0.7, -1.2), wrt=(0, 1), complex_step=True),
    Case(sieve_of_products, (np.array([0.8, -0.5, 1.7, 2.2, 0.6, 1.9]), 3.0), complex_step=True),
    Case(first_pair, (np.array([0.3, 0.9, -0.2, 1.4]), 1.5), complex_step=True),
    Case(forwarded_arguments, (0.7, 1.3), wrt=(0, 1), complex_step=True),
    Case(decorated_helpers, (0.8,)),
    Case(closures_called, (0.6, 1.4), wrt=(0, 1), complex_step=True),
    Case(functional_style, (0.9, 0.4), wrt=(0, 1)),
    Case(tree_depth_sum, (((0.5, (1.2, 0.3)), 0.8, ((0.1,),)), 0.7), wrt=(0, 1), complex_step=True),
    Case(mutual_recursion, (0.4, -0.9, 1.3), wrt=(0, 1, 2), complex_step=True),
    Case(peaked_integral, (0.3, 1.7), wrt=(0, 1)),
    Case(quadratic_map, (0.3, 3.1, 5), wrt=(0, 1)),
    Case(
        generators_in_reductions,
        (np.array([0.5, -0.8, 1.7]), np.array([0.3, 1.1, 0.6])),
        wrt=(0, 1),
    ),
    Case(
        comprehensions,
        (np.array([[0.5, -0.1, 0.9], [0.7, 1.2, -0.4]]), np.array([0.3, -0.8])),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        mutating_helpers,
        (np.array([[0.2, 1.4, -0.6], [0.9, 0.1, 0.5]]), 0.3),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(swaps_and_stars, (0.7, 1.6, -0.4), wrt=(0, 1, 2)),
    Case(chained_conditions, ([0.4, 1.3, 0.9, -0.2, 2.5, 1.15], 0.1, 1.05), wrt=(0, 1, 2)),
    Case(globals_and_del, (0.8,), complex_step=True),
    Case(lambdas_in_containers, (0.4, "wave"), complex_step=True),
    Case(iterators, ([0.5, 1.2, -0.7], [0.9, 0.4]), wrt=(0, 1), complex_step=True),
    Case(counters_and_reversal, (np.array([0.5, 1.2, -0.7, 0.9, 1.4]),), complex_step=True),
    Case(complex_impedance, (1.2, 0.5, 0.9), wrt=(0, 1, 2)),
    Case(sliding_spread, ([0.4, 1.3, -0.6, 0.8, 2.1], 1.7), wrt=(0, 1)),
    Case(memoised_basis, (1.4, np.array([0.8, -0.5, 1.2, 0.7])), wrt=(0, 1)),
]
