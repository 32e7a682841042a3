"""What loop text calls: small functions for Numba, each as the text that stands in the module."""

from __future__ import annotations

#: name -> text
SUPPORT = {
    "within": '''@njit
def within(index, length):
    """The index from 0 on, which has to be one of so many."""
    if index < 0:
        index += length
    if index < 0 or index >= length:
        raise IndexError
    return index
''',
    "bound": '''@njit
def bound(index, length):
    """Where a slice of so many starts or stops."""
    if index < 0:
        return max(index + length, 0)
    return min(index, length)
''',
    "count": '''@njit
def count(start, stop, step):
    """How many elements a slice takes."""
    return max((stop - start + step - 1) // step, 0)
''',
    "add": '''@njit
def add(a, b):
    """The sum of two of Python's whole numbers."""
    result = a + b
    if ((a ^ result) & (b ^ result)) < 0:
        raise OverflowError
    return result
''',
    "sub": '''@njit
def sub(a, b):
    """The difference of two of Python's whole numbers."""
    result = a - b
    if ((a ^ b) & (a ^ result)) < 0:
        raise OverflowError
    return result
''',
    "mul": '''@njit
def mul(a, b):
    """The product of two of Python's whole numbers."""
    if abs(float(a) * float(b)) > 9.0e18:
        raise OverflowError
    return a * b
''',
    "power": '''@njit
def power(a, b):
    """A power of two of Python's whole numbers that is one."""
    if b < 0:
        raise ValueError
    result = 1
    for _ in range(b):
        result = mul(result, a)
    return result
''',
    "half_power": '''@njit(error_model="numpy")
def half_power(x, halves):
    """x ** (halves / 2) of an odd number of halves."""
    size = abs(x)
    result = math.sqrt(x + 0.0 if x > -np.inf else size)  # no number below 0 has one, but -inf
    for _ in range(abs(halves) // 2):
        result *= size
    return result if halves > 0 else 1.0 / result
''',
    "left": '''@njit
def left(a, b):
    """a << b of two of Python's whole numbers."""
    if b < 0 or b > 62 or (a << b) >> b != a:
        raise OverflowError
    return a << b
''',
    "right": '''@njit
def right(a, b):
    """a >> b of two of Python's whole numbers."""
    if b < 0:
        raise ValueError
    return a >> min(b, 63)
''',
    "first_beyond": '''@njit
def first_beyond(items, value, right):
    """Where a value belongs among sorted items: before its equals, or behind them; nan is last.

    The steps are the same for all values: nobody has to guess which half comes next.
    """
    low, count, is_nan = 0, len(items), value != value
    while count > 0:
        half = (count + 1) // 2
        item = items[low + half - 1]
        is_before = (item < value) | (right & (item == value))
        is_before |= is_nan & (right | (item == item))
        low += half * int(is_before)
        count -= half
    return low
''',
    "sorted_at": '''@njit(error_model="numpy")
def sorted_at(items, q, method):
    """The number that a part q of sorted numbers is below: the one before it, behind or between."""
    last = len(items) - 1
    if last < 0:
        raise ValueError
    if items[last] != items[last]:
        return np.nan
    place = last * q
    before, behind = items[int(math.floor(place))], items[int(math.ceil(place))]
    part = place - math.floor(place)
    if method:
        return before if method < 0 else behind
    if part == 0.5:
        return (before + behind) / 2.0 if before != behind else before
    step = behind - before
    return before + step * part if part < 0.5 else behind - step * (1.0 - part)
''',
    "position_of": '''@njit
def position_of(items, value):
    """Where a value stands first among the items of a list."""
    for i in range(len(items)):
        if items[i] == value:
            return i
    raise ValueError
''',
    "item_sums": '''@njit
def item_sums(a, b):
    """The sums of the items of two lists."""
    if len(a) != len(b):
        raise ValueError
    return [a[i] + b[i] for i in range(len(a))]
''',
    "truncated": '''@njit
def truncated(x):
    """The whole number of a float, which has 64 bits."""
    if abs(x) < 9.0e18:
        return int(x)
    raise ValueError
''',
    "bins_of": '''@njit
def bins_of(items, least):
    """How many bins whole numbers from 0 on need, and at least so many."""
    low, high = 0, -1
    for i in range(len(items)):
        low, high = min(low, items[i]), max(high, items[i])
    if low < 0:
        raise ValueError
    return max(least, high + 1)
''',
    "convolved": '''@njit(error_model="numpy")
def convolved(x, y, mode):
    """np.convolve(x, y, mode)"""
    if len(x) < len(y):
        x, y = y, x
    n, m = len(x), len(y)
    if m == 0:
        raise ValueError
    start, length = 0, n + m - 1
    if mode == "same":
        start, length = (m - 1) // 2, n
    if mode == "valid":
        start, length = m - 1, n - m + 1
    result = np.zeros(length)
    if length < m:  # sums along the longer axis
        y = y[::-1].copy()
        for i in range(length):
            low = max(i + start - n + 1, 0)
            count = min(m, i + start + 1) - low
            moved, part, total = x[i + start - low - count + 1 :], y[m - low - count :], 0.0
            for j in range(count):
                total = plus(total, moved[j] * part[j])
            result[i] = total
        return result
    for first in range(0, length, 1024):  # a part that stays in the nearest cache
        for j in range(m):
            shift = start - j
            low, high = max(-shift, first), min(n - shift, length, first + 1024)
            moved, part = x[low + shift :], result[low:]
            for i in range(high - low):
                part[i] += moved[i] * y[j]
    return result
''',
    "polynomial": '''@njit
def polynomial(coefficients, x):
    """The value of a polynomial; the coefficient of the highest power is the first."""
    y = 0.0
    for each in coefficients:
        y = y * x + each
    return y
''',
    "cholesky_adjoint": '''@njit(error_model="numpy")
def cholesky_adjoint(L, L_bar):
    """The adjoint of the lower triangle of a matrix, from that of its Cholesky factor."""
    A_bar = np.tril(L_bar)
    for i in range(len(L) - 1, -1, -1):
        A_bar[i, i] *= 0.5 / L[i, i]
        for k in range(i):
            A_bar[i, k] -= 2.0 * A_bar[i, i] * L[i, k]
        for j in range(i - 1, -1, -1):
            part = A_bar[i, j] / L[j, j]
            A_bar[i, j] = part
            A_bar[j, j] -= part * L[i, j]
            for k in range(j):
                A_bar[i, k] -= part * L[j, k]
                A_bar[j, k] -= part * L[i, k]
    return A_bar
''',
    "roomy": '''@njit
def roomy(items):
    """An array with the same items, and room for as many more."""
    larger = np.empty((2 * len(items),) + items.shape[1:], items.dtype)
    before, after = items.ravel(), larger.ravel()  # views; a copy of parts takes 3 s to compile
    for i in range(len(before)):
        after[i] = before[i]
    return larger
''',
    "at": '''@intrinsic
def at(typing, index):
    """An index of the elements from the first on, never from the last."""

    def generate(context, builder, signature, args):
        return args[0]

    return types.uintp(types.intp), generate
''',
    "plus": '''@intrinsic
def plus(typing, a, b):
    """a + b, as a term of a sum whose terms may be added in any order."""

    def generate(context, builder, signature, args):
        return builder.fadd(*args, flags=("reassoc", "contract"))

    return a(a, a), generate
''',
    "complex_plus": '''@intrinsic
def complex_plus(typing, a, b):
    """a + b of complex numbers, as a term of a sum whose terms may be added in any order."""

    def generate(context, builder, signature, args):
        total = args[0]
        for part in (0, 1):
            terms = [builder.extract_value(each, part) for each in args]
            one = builder.fadd(*terms, flags=("reassoc", "contract"))
            total = builder.insert_value(total, one, part)
        return total

    return a(a, a), generate
''',
    "direction": '''@njit(error_model="numpy")
def direction(z):
    """The complex number of size 1 that points where this one does; 0 of 0."""
    size = abs(z)
    if math.isinf(z.real) != math.isinf(z.imag):
        size = 1.0
        real = math.copysign(1.0, z.real) if math.isinf(z.real) else 0.0
        z = complex(real, math.copysign(1.0, z.imag) if math.isinf(z.imag) else 0.0)
    return complex(z.real / size, z.imag / size) if z != 0 else z
''',
    "square": '''@njit
def square(z):
    """z ** 2 of a complex number."""
    return z * z
''',
    "size_of": '''@njit(error_model="numpy", forceinline=True)
def size_of(z):
    """abs(z) of a complex number, whose squares are seldom too large or too small."""
    squares = z.real * z.real + z.imag * z.imag
    if (squares > 1e-290) & (squares < 1e300):
        return math.sqrt(squares)
    real, imag = abs(z.real), abs(z.imag)
    is_large = real + imag > 1.0
    scale, back = (2.0**-600, 2.0**600) if is_large else (2.0**600, 2.0**-600)
    size = math.sqrt((real * scale) ** 2 + (imag * scale) ** 2) * back
    return np.inf if (real == np.inf) | (imag == np.inf) else size
''',
    "quotient": '''@njit(error_model="numpy", forceinline=True)
def quotient(a, b):
    """a / b of complex numbers, scaled by the larger part of b."""
    is_real, is_zero = abs(b.real) >= abs(b.imag), (b.real == 0) & (b.imag == 0)
    most, least = (b.real, b.imag) if is_real else (b.imag, b.real)
    ratio = least / most
    scale = 1.0 / (most + least * ratio)
    with_real, with_imag = (1.0, ratio) if is_real else (ratio, 1.0)
    real = (a.real * with_real + a.imag * with_imag) * scale
    imag = (a.imag * with_real - a.real * with_imag) * scale
    real = a.real / abs(b.real) if is_zero else real
    return complex(real, a.imag / abs(b.real) if is_zero else imag)
''',
    "complex_exp": '''@njit(error_model="numpy")
def complex_exp(z):
    """e**z of a complex number, by the functions of its parts."""
    if (abs(z.real) < 700.0) & (abs(z.imag) <= 1e5):
        size = exp(z.real)
        return complex(size * cos(z.imag), size * sin(z.imag))
    if z.imag == 0.0:
        return complex(exp(z.real), z.imag)
    if abs(z.imag) < np.inf:
        half = exp(0.5 * z.real)  # two steps: the size alone may be too large, or too small
        return complex(half * math.cos(z.imag) * half, half * math.sin(z.imag) * half)
    if abs(z.real) < np.inf or z.real != z.real:
        return complex(np.nan, np.nan)
    return complex(exp(z.real), 0.0 if z.real < 0.0 else np.nan)
''',
    "chosen": '''@njit
def chosen(condition, a, b):
    """The one number or the other; both are there."""
    return a if condition else b
''',
    "larger": '''@njit
def larger(a, b):
    """The larger of two numbers, or nan."""
    return a if (a > b) | (a != a) else b
''',
    "smaller": '''@njit
def smaller(a, b):
    """The smaller of two numbers, or nan."""
    return a if (a < b) | (a != a) else b
''',
    "product": '''@njit(error_model="numpy")
def product(a, b):
    """a @ b of two matrices: by loops where they are small, and by BLAS."""
    n, m, k = len(a), b.shape[1], len(b)
    result = np.empty((n, m), a.dtype)
    if n * m * k > 1728:
        return np.dot(a, b, result)  # what makes room for it itself takes longer to compile
    for i in range(n):
        for j in range(m):
            result[i, j] = 0
        for l in range(k):
            for j in range(m):
                result[i, j] += a[i, l] * b[l, j]
    return result
''',
    "bits_of": '''@intrinsic
def bits_of(typing, x):
    """The bits of a float, as a whole number."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate
''',
    "of_bits": '''@intrinsic
def of_bits(typing, n):
    """The float that has these bits."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate
''',
    "exp": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def exp(x):
    """e**x, of several numbers at once where a loop goes over them: 2**k * e**r, |r| < 0.35."""
    bounded = min(max(x, -746.0), 710.0)
    shifted = bounded * 1.4426950408889634 + 6755399441055744.0  # a whole number in the last bits
    n = shifted - 6755399441055744.0
    r = (bounded - n * 0.6931471803691238) - n * 1.9082149292705877e-10
    p = 2.505210838544172e-08 + r * 2.08767569878681e-09
    p = 2.755731922398589e-06 + r * (2.755731922398589e-07 + r * p)
    p = 0.0001984126984126984 + r * (2.48015873015873e-05 + r * p)
    p = 0.008333333333333333 + r * (0.001388888888888889 + r * p)
    p = 0.16666666666666666 + r * (0.041666666666666664 + r * p)
    k = bits_of(shifted) - 4843621399236968448
    half = k >> 1  # two steps: 2**k alone may be too large, or too small
    y = (1.0 + (r + r * r * (0.5 + r * p))) * of_bits((half + 1023) << 52)
    y = y * of_bits((k - half + 1023) << 52)
    return y if x == x else x
''',
    "log": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def log(x):
    """The natural logarithm, of several numbers at once: k * log(2) + log(m), m near 1."""
    is_small = x < 2.2250738585072014e-308
    bits = bits_of(x * 18014398509481984.0 if is_small else x)
    k = (bits - 4604544271217802189) >> 52
    f = of_bits(bits - (k << 52)) - 1.0
    n = of_bits(k + 4843621399236968448) - 6755399441055744.0 - (54.0 if is_small else 0.0)
    s = f / (2.0 + f)
    z = s * s
    p = 0.09523809523809523 + z * 0.08695652173913043
    p = 0.11764705882352941 + z * (0.10526315789473684 + z * p)
    p = 0.15384615384615385 + z * (0.13333333333333333 + z * p)
    p = 0.2222222222222222 + z * (0.18181818181818182 + z * p)
    p = z * (0.6666666666666666 + z * (0.4 + z * (0.2857142857142857 + z * p)))
    h = 0.5 * f * f
    y = n * 0.6931471803691238 + (f - (h - (s * (h + p) + n * 1.9082149292705877e-10)))
    y = y if x > 0.0 else (-np.inf if x == 0.0 else np.nan)
    return y if x < np.inf else x
''',
    "tanh": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def tanh(x):
    """The hyperbolic tangent: a quotient of polynomials near 0, and else by way of exp."""
    z = x * x
    above = 135135.0 + z * (17325.0 + z * (378.0 + z))
    below = 135135.0 + z * (62370.0 + z * (3150.0 + z * 28.0))
    large = 1.0 - 2.0 / (exp(2.0 * abs(x)) + 1.0)
    return x * above / below if abs(x) < 0.4 else (large if x > 0.0 else -large)
''',
    "log2": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def log2(x):
    """The logarithm to the base 2, of several numbers at once: exact of powers of 2."""
    is_small = x < 2.2250738585072014e-308
    bits = bits_of(x * 18014398509481984.0 if is_small else x)
    k = (bits - 4604544271217802189) >> 52
    n = of_bits(k + 4843621399236968448) - 6755399441055744.0 - (54.0 if is_small else 0.0)
    y = n + log(of_bits(bits - (k << 52))) * 1.4426950408889634
    y = y if x > 0.0 else (-np.inf if x == 0.0 else np.nan)
    return y if x < np.inf else x
''',
    "log10": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def log10(x):
    """The logarithm to the base 10, of several numbers at once: exact of powers of 10."""
    is_small = x < 2.2250738585072014e-308
    bits = bits_of(x * 18014398509481984.0 if is_small else x)
    k = (bits - 4604544271217802189) >> 52
    n = of_bits(k + 4843621399236968448) - 6755399441055744.0 - (54.0 if is_small else 0.0)
    rest = n * 1.1451100898021838e-10 + log(of_bits(bits - (k << 52))) * 0.4342944819032518
    y = rest + n * 0.3010299955494702  # of which the product is exact
    y = y if x > 0.0 else (-np.inf if x == 0.0 else np.nan)
    return y if x < np.inf else x
''',
    "log1p": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def log1p(x):
    """log(1 + x), of several numbers at once: what 1 + x loses is made up for by a factor."""
    above = 1.0 + x
    y = x if above == 1.0 else log(above) * (x / (above - 1.0))
    return y if abs(x) < np.inf else log(x)
''',
    "expm1": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def expm1(x):
    """e**x - 1, of several numbers at once: a polynomial near 0."""
    p = 2.505210838544172e-08 + x * 2.08767569878681e-09
    p = 2.755731922398589e-06 + x * (2.755731922398589e-07 + x * p)
    p = 0.0001984126984126984 + x * (2.48015873015873e-05 + x * p)
    p = 0.008333333333333333 + x * (0.001388888888888889 + x * p)
    p = 0.16666666666666666 + x * (0.041666666666666664 + x * p)
    return x * (1.0 + x * (0.5 + x * p)) if abs(x) < 0.34 else exp(x) - 1.0
''',
    "quarters": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def quarters(x):
    """The quarter turns in an angle up to 1e5, and sine and cosine of what is left, |r| < 0.79."""
    shifted = x * 0.6366197723675814 + 6755399441055744.0  # a whole number in the last bits
    n = shifted - 6755399441055744.0
    r = x - n * 1.5707963267341256 - n * 6.077100506303966e-11 - n * 2.0222662487959506e-21
    z = r * r
    p = -2.5050760253406863e-08 + z * 1.58969099521155e-10
    p = -0.0001984126982985795 + z * (2.7557313707070068e-06 + z * p)
    sine = r + r * z * (-0.16666666666666632 + z * (0.00833333333332249 + z * p))
    p = 2.087572321298175e-09 + z * -1.1359647557788195e-11
    p = 2.480158728947673e-05 + z * (-2.7557314351390663e-07 + z * p)
    cosine = 1.0 - (0.5 * z - z * z * (0.0416666666666666 + z * (-0.001388888888887411 + z * p)))
    return bits_of(shifted), sine, cosine
''',
    "sin": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def sin(x):
    """The sine, of several numbers at once: of angles up to 1e5."""
    n, sine, cosine = quarters(x)
    y = cosine if n & 1 != 0 else sine
    y = -y if n & 2 != 0 else y
    return x if x == 0.0 else y
''',
    "cos": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def cos(x):
    """The cosine, of several numbers at once: of angles up to 1e5."""
    n, sine, cosine = quarters(x)
    y = sine if n & 1 != 0 else cosine
    return -y if (n + 1) & 2 != 0 else y
''',
    "tan": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def tan(x):
    """The tangent, of several numbers at once: of angles up to 1e5."""
    n, sine, cosine = quarters(x)
    y = -cosine / sine if n & 1 != 0 else sine / cosine
    return x if x == 0.0 else y
''',
    "atan": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def atan(x):
    """The arc tangent, of several numbers at once."""
    return atan2(x, 1.0)
''',
    "atan2": '''@njit(error_model="numpy", forceinline=True, fastmath={"contract"})
def atan2(y, x):
    """The angle of a point, of several at once: of the octant it is in, and a polynomial there."""
    a, b = abs(x), abs(y)
    least, most = min(a, b), max(a, b)
    is_diagonal, scale = least == np.inf, 0.5 if most > 8e307 else 1.0
    least, most = 1.0 if is_diagonal else least * scale, 1.0 if is_diagonal else most * scale
    is_middle = least > 0.41421356237309503 * most
    above, below = least - most if is_middle else least, least + most if is_middle else most
    t = above / below if most > 0.0 else most
    z = t * t
    p = -0.03456773407862408 + z * 0.016282680870979022
    p = -0.05230429421993087 + z * (0.04551481423379214 + z * p)
    p = -0.06666424587634726 + z * (0.05878925589682939 + z * p)
    p = -0.09090908752925154 + z * (0.07692296358410944 + z * p)
    p = -0.14285714285659695 + z * (0.11111111105143641 + z * p)
    p = -0.3333333333333333 + z * (0.19999999999999804 + z * p)
    rest = t * z * p
    angle = 0.7853981633974483 + (t + (rest + 3.061616997868383e-17)) if is_middle else t + rest
    angle = 1.5707963267948966 - (angle - 6.123233995736766e-17) if b > a else angle
    angle = 3.141592653589793 - (angle - 1.2246467991473532e-16) if bits_of(x) < 0 else angle
    angle = -angle if bits_of(y) < 0 else angle
    return angle if x == x and y == y else x + y
''',
}

#: name -> what it calls
CALLED = {
    "power": {"mul"},
    "convolved": {"plus"},
    "exp": {"bits_of", "of_bits"},
    "log": {"bits_of", "of_bits"},
    "tanh": {"exp", "bits_of", "of_bits"},
    "log2": {"log", "bits_of", "of_bits"},
    "log10": {"log", "bits_of", "of_bits"},
    "log1p": {"log", "bits_of", "of_bits"},
    "expm1": {"exp", "bits_of", "of_bits"},
    "quarters": {"bits_of"},
    "sin": {"quarters", "bits_of"},
    "cos": {"quarters", "bits_of"},
    "complex_exp": {"exp", "cos", "sin", "quarters", "bits_of", "of_bits"},
    "tan": {"quarters", "bits_of"},
    "atan": {"atan2", "bits_of"},
    "atan2": {"bits_of"},
}
INTRINSICS = {"at", "plus", "complex_plus", "bits_of", "of_bits"}
