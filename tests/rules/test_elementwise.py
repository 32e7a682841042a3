"""Every row of the elementwise table, on inputs of its domain and in every broadcast pattern."""

import numpy as np
import pytest

from rules.properties import (
    DOMAINS,
    Case,
    Draw,
    Subject,
    case,
    check_all,
    check_float32,
    check_reverse,
    check_value,
    distinct,
    elementwise_rows,
    integers,
    mask,
    module,
    number,
    real,
    spelled,
)
from s2s_ad import grad, jit, value_and_grad
from s2s_ad.rules.arithmetic import PowerSlope
from s2s_ad.rules.python_math import OfNumber

UNARY = [(3,), (2, 3), (), (1,), (0,), (2, 1), None]
BINARY = [
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((2, 3), ()),
    (None, (3,)),
    ((2, 3), None),
    ((1,), (3,)),
    ((), (2, 3)),
    ((3,), (3,)),
    ((0,), (1,)),
    ((2, 3), (1,)),
    ((2, 1, 3), (4, 1)),
    ((), ()),
    (None, ()),
]
TERNARY = [
    ((3,), (2, 3), (3,)),
    ((2, 1), (1, 3), ()),
    ((2, 3), None, (2, 3)),
    ((), (3,), (2, 1)),
    ((3,), (3,), None),
    ((0,), (1,), (0,)),
    ((2, 3), (1, 1), (3,)),
]


def draw(domain, shape):
    return number(1.3, 1.9) if shape is None else domain(*shape)


def rows() -> list:
    """Those of NumPy; functions of math are in test_python_math.

    The operands of a `PowerSlope` depend on each other: test_special_points asks for powers.
    """
    elsewhere = OfNumber | PowerSlope
    return [
        row for row in elementwise_rows() if not row[1].flat and not isinstance(row[1], elsewhere)
    ]


def patterns(arity: int) -> list:
    return {1: [(shape,) for shape in UNARY], 2: BINARY, 3: TERNARY}[arity]


def cases_of(function, rule) -> list[Case]:
    name, arity = spelled(function), len(rule.adjoints)
    if rule.domain == "unit" and arity == 1:
        chosen = [pattern for pattern in patterns(1) if pattern != (None,)]
    else:
        chosen = patterns(arity)
    return [case_of(name, rule, pattern) for pattern in chosen]


def case_of(name, rule, pattern) -> Case:
    if name == "np.where":
        inputs = [mask(*pattern[0]), *(draw(real, shape) for shape in pattern[1:])]
    elif name == "np.clip":
        inputs = [draw(apart, pattern[0]), draw(lower, pattern[1]), draw(upper, pattern[2])]
        inputs = [upper() if each.shape is None else each for each in inputs]
    elif name in ("np.ldexp", "runtime.by_halves"):
        inputs = [draw(real, pattern[0]), integers(*(pattern[1] or ()))]
    elif name in ("np.fmod", "np.remainder", "operator.mod"):
        inputs = [draw(between_steps, pattern[0]), draw(near_one, pattern[1])]
        inputs = [number(1.0, 1.05) if each.shape is None else each for each in inputs]
    else:
        inputs = [draw(DOMAINS[rule.domain], shape) for shape in pattern]
    named = dict(zip("abc", inputs, strict=False))
    steps = None in rule.adjoints and None in pattern  # its adjoint: a zero of a rank not known
    return Case(f"{name}({', '.join(named)})", named, general=not steps)


def apart(*shape):
    """Numbers inside and outside of the bounds below."""
    return Draw(shape, lambda rng, shape: rng.choice([-0.8, -0.4, 0.3, 0.9], shape))


def lower(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(-0.65, -0.55, shape))


def upper(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(0.55, 0.65, shape))


def between_steps(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(2.4, 2.6, shape))


def near_one(*shape):
    return Draw(shape, lambda rng, shape: rng.uniform(0.95, 1.05, shape))


def in_turn() -> list[Case]:
    """Each row with two of its patterns, the next row with the next two."""
    chosen = []
    for place, row in enumerate(rows()):
        cases = cases_of(*row)
        chosen += [cases[2 * place % len(cases)], cases[(2 * place + 1) % len(cases)]]
    return chosen


@pytest.mark.thinned(48)
@pytest.mark.parametrize("each", in_turn(), ids=str)
def test_row(each):
    check_all(each)


# ---- keyword arguments of ufuncs -----------------------------------------------------------------


def ufuncs() -> list:
    """The rows of NumPy's ufuncs, but for what takes whole numbers.

    SciPy's (1.17) compute other elements than where= names.
    """
    found = [row for row in rows() if isinstance(row[0], np.ufunc)]
    return [row for row in found if hasattr(np, row[0].__name__) and row[0] is not np.ldexp]


def of_ufunc(row, keywords: str, **more) -> Case:
    """A call with keyword arguments."""
    function, rule = row
    plain = case_of(spelled(function), rule, [(2, 3), (3,)][: len(rule.adjoints)])
    call = plain.text[:-1]
    return Case(f"{call}, {keywords})", plain.inputs | more)


def where_and_out(row) -> Case:
    """Of the elements left out, which would give no numbers, nothing is computed."""
    each = of_ufunc(row, "where=m, out=np.full((2, 3), 2.0)", m=mask(2, 3))
    return Case(each.text.replace("(a", "(np.where(m, a, np.nan)", 1), each.inputs)


def by_name(row) -> str:
    return spelled(row[0])


@pytest.mark.thinned(6)
@pytest.mark.parametrize("row", ufuncs(), ids=by_name)
def test_where_and_out(row):
    subject = Subject(where_and_out(row))
    check_value(subject)
    check_reverse(subject)


@pytest.mark.thinned(4)
@pytest.mark.slow
@pytest.mark.parametrize("row", ufuncs(), ids=by_name)
def test_where_and_out_in_every_mode(row):
    check_all(where_and_out(row))


@pytest.mark.thinned(6)
@pytest.mark.parametrize("row", ufuncs(), ids=by_name)
@pytest.mark.parametrize("keywords", ["np.empty((2, 3))", "dtype=np.float64, order='C'"])
def test_result_in_double_precision(row, keywords):
    """Into an array of that dtype, or computed in it; gradients come in the operands' dtypes."""
    subject = Subject(of_ufunc(row, keywords))
    check_value(subject)
    check_reverse(subject)
    check_float32(subject)


# ---- what arrays hold, and where they stand in memory --------------------------------------------

EXTREMES = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 1e-310, 0.5, -0.5])


@pytest.mark.parametrize("row", elementwise_rows(), ids=by_name)
def test_what_is_no_number_passes_as_in_numpy(row):
    function, rule = row
    names = ", ".join("abc"[: len(rule.adjoints)])
    f = module(f"def f({names}):\n    return {spelled(function)}({names})\n").f
    grid = np.meshgrid(*[EXTREMES] * len(rule.adjoints))
    with np.errstate(all="ignore"):
        try:
            expected = f(*grid)
        except (TypeError, ValueError):  # whole numbers, or one number, only
            return
        np.testing.assert_array_equal(jit(f)(*grid), expected)
        np.testing.assert_array_equal(np.signbit(jit(f)(*grid)), np.signbit(expected))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("row", rows(), ids=by_name)
def test_arrays_that_are_strided_or_cannot_be_written_to(row):
    subject = Subject(cases_of(*row)[0])
    expected = subject.gradient()
    for args in (strided(subject.args), read_only(subject.args)):
        for actual, bar in zip(subject.gradient(args), expected, strict=True):
            np.testing.assert_array_equal(actual, bar)


def strided(args) -> list:
    """Every other element of arrays twice as long, from the end."""
    return [np.repeat(x, 2, axis=-1)[..., ::-2][..., ::-1] if np.ndim(x) else x for x in args]


def read_only(args) -> list:
    copies = [np.copy(x) for x in args]
    for each in copies:
        each.setflags(write=False)
    return copies


@pytest.mark.thinned(8)
@pytest.mark.parametrize("pattern", BINARY, ids=str)
def test_every_broadcast_pattern_of_a_product(pattern):
    inputs = dict(zip("ab", (draw(real, shape) for shape in pattern), strict=True))
    check_all(Case("a * np.sin(b) - b / (a**2 + 1)", inputs))


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: spelled(row[0]))
def test_row_in_every_pattern(row):
    for each in cases_of(*row):
        check_all(each, thorough=True)


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    "each",
    [
        case("np.clip(a, -0.6, 0.6)", a=apart(3)),
        case("np.clip(a, None, 0.6)", a=apart(3)),
        case("np.clip(a, min=-0.6)", a=apart(2, 3)),
        case("np.clip(a, -0.6, b)", a=distinct(2, 3), b=upper(3)),
        case("a.clip(-0.6, 0.6)", a=apart(3), general=False),
        case("a**2 + a**-1 + a**0.5 + a**3.0 + a**1 + a**0", a=DOMAINS["positive"](3)),
        case("2**a + 0.5**a + a**a", a=DOMAINS["positive"](3)),
        case("np.where(a > 0, a**2, -a)", a=distinct(2, 3)),
        case("np.where(m, np.sqrt(np.where(m, a, 1.0)), 0.0)", a=DOMAINS["positive"](3), m=mask(3)),
        case("a // 0.7 + a % 0.7 + np.floor(a) * a", a=DOMAINS["positive"](3)),
        case("(a > 0) * a + (a == a) * 2 + np.sign(a) * a", a=distinct(3)),
        case("-(a - b) + (-a) * 3 - (-2.0) * b + 0.0 * a", a=real(3), b=real(2, 3)),
        case("a * 1 + 1.0 * a + a + 0 + a / 1 - 0.0", a=real(3)),
        case("np.abs(a) + np.maximum(a, 0) + np.minimum(0.25, a)", a=distinct(3)),
        case("np.copysign(a, b)", a=distinct(2, 3), b=number()),  # nothing depends on b
    ],
    ids=str,
)
def test_expression(each):
    check_all(each)


@pytest.mark.parametrize(
    "text, slopes",
    [
        ("np.maximum(x, y)", (0.5, 0.5)),
        ("np.minimum(x, y)", (0.5, 0.5)),
        ("np.clip(x, y, 9.0)", (1.0, 0.0)),
        ("abs(x - y)", (0.0, 0.0)),
        ("np.fmax(x, y)", (0.5, 0.5)),
        ("np.fmin(x, y + np.nan)", (1.0, 0.0)),
        ("np.logaddexp(x - np.inf, y - np.inf)", (0.0, 0.0)),
        ("np.nextafter(x, y)", (1.0, 0.0)),
        ("np.maximum.reduce(np.stack([x, y, x]))", (2 / 3, 1 / 3)),
        ("np.maximum.accumulate(np.stack([x, y]))[1]", (1.0, 0.0)),
        ("(x - y) ** 2.5", (0.0, 0.0)),
    ],
)
def test_where_arguments_are_equal(text, slopes):
    """The conventions at ties: they are shared evenly, clip passes on the closed interval."""
    f = module(f"def f(x, y):\n    return {text}\n").f
    assert grad(f, (0, 1))(np.float64(2.0), np.float64(2.0)) == slopes


def test_division_by_a_zero_that_is_known():
    """NumPy's number over 0 is infinite, and so is the derivative; Python's raises when it runs."""
    with np.errstate(all="ignore"):
        assert grad(lambda y: y / 0)(np.array(-0.4)) == np.inf
        np.testing.assert_array_equal(grad(lambda y: y / 0.0)(np.array([-0.4, 1.0])), np.inf)
    with pytest.raises(ZeroDivisionError):
        value_and_grad(lambda y: y / 0)(-0.4)
