"""Branches and loops as text: what a reader would have written, and runs to the same value."""

from __future__ import annotations

import inspect
import re
import textwrap

import gast
import numpy as np
import pytest

from s2s_ad import grad, jit
from s2s_ad.emit.choices import negated
from s2s_ad.emit.printer import print_expression, print_statements
from s2s_ad.emit.sugar import sweetened, turned_round

xs, ys = np.array([0.3, 1.2, -0.7, 0.9]), np.array([1.0, -2.0, 0.5])
table = np.arange(12.0).reshape(4, 3)


def body(text):
    """The statements of the first function in a text, its docstring and comments apart."""
    function = text.split("\ndef ", 1)[1].split("\n\n\ndef ")[0]
    function = re.sub(r' *"""\w.*?"""\n', "", function, flags=re.DOTALL)
    lines = [re.sub(r"  # line \d+$", "", line) for line in function.split("\n")[1:]]
    return textwrap.dedent("\n".join(lines)).strip()


def swapped(a, b, n):
    for _ in range(n):
        a, b = b, a
    return a - 2 * b


def rotated(a, b, c, n):
    for _ in range(n):
        a, b, c = b, c, a
    return a + 2 * b + 3 * c


def fibonacci(a, b, n):
    for _ in range(n):
        a, b = b, a + b
    return a


def shifted(a, b, n):
    for _ in range(n):
        a = b
        b = 2 * b
    return a + b


def constant_in_the_loop(x, n):
    y = x + 1
    for _ in range(n):
        x = x * y
    return x


def used_after(x, n):
    y = x
    for i in range(n):
        y = x * i
    return x + y


def initial_used_later(x, n):
    y = x
    for _ in range(n):
        y = y * 2
    return x * y


def last_index(n):
    i = -1.0
    for i in range(n):
        pass
    return i * 2.0


def summed_rows(xs):
    total = 0.0
    for x in xs:
        total = total + np.sin(x)
    return total


def summed_pairs(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        total += x * y
    return total


def weighted(xs):
    total = 0.0
    for i, x in enumerate(xs):
        total += i * x
    return total


def backwards(xs):
    total = 0.0
    for x in reversed(xs):
        total = 0.5 * total + x
    return total


def first_above(xs, limit):
    found = -1.0
    for x in xs:
        if x > limit:
            found = x
            break
    return found


def counted_until(xs, limit):
    count = 0
    for x in xs:
        if x > limit:
            break
        count += 1
    return count


def last_of_each(table, limit):
    total = 0.0
    for row in table:
        for x in row:
            if x > limit:
                break
            total += x
    return total


def root(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def halved(x):
    while True:
        x = 0.5 * x
        if x < 1.0:
            break
    return x


def three_ways(x):
    if x > 1:
        y = x * x
    elif x < -1:
        y = -x
    else:
        y = 1.0
    return y


def only_else(x, y):
    if x > y:
        pass
    else:
        x = y * y
    return x


def skipped(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        total += x
    return total


def alternating(x, n):
    for i in range(n):
        x = x * 2 if i % 2 == 0 else x + 1
    return x


def guarded(x):
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = 0.0
    return y


def collected(xs):
    squares = []
    for x in xs:
        squares.append(x * x)
    return np.sum(np.array(squares))


def filled(xs):
    result = np.zeros(len(xs))
    for i in range(1, len(xs)):
        result[i] = 0.5 * result[i - 1] + xs[i]
    return result


def bisected(a, low, high):
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return low


# function, arguments, what is written: the function's own body where that is None
PROGRAMS = [
    (swapped, (1.0, 2.0, 5), None),
    (rotated, (1.0, 2.0, 3.0, 4), None),
    (fibonacci, (1.0, 2.0, 5), None),
    (shifted, (1.0, 2.0, 5), None),
    (constant_in_the_loop, (1.5, 3), None),
    (used_after, (1.5, 3), None),
    (used_after, (1.5, 0), None),
    (initial_used_later, (1.5, 3), None),
    (summed_rows, (xs,), "total = total + => total +="),
    (summed_pairs, (xs, ys), ", strict=False => "),
    (weighted, (xs,), None),
    (backwards, (xs,), None),
    (first_above, (xs, 0.5), None),
    (first_above, (xs, 5.0), None),
    (counted_until, (xs, 0.5), None),
    (last_of_each, (table, 4.0), None),
    (root, (2.0,), None),
    (halved, (9.0,), None),
    (three_ways, (-3.0,), None),
    (skipped, (xs,), "if x < 0:\n        continue\n    total => if not x < 0:\n        total"),
    (guarded, (0.0,), None),
    (filled, (xs,), None),
    (bisected, (2.0, 0.0, 2.0), None),
]


@pytest.mark.parametrize("function, arguments, change", PROGRAMS)
def test_a_program_is_written_as_the_user_wrote_it(function, arguments, change):
    derived = jit(function)
    np.testing.assert_allclose(derived(*arguments), function(*arguments))
    _, _, expected = inspect.getsource(function).partition(":\n")
    old, _, new = (change or "").partition(" => ")
    expected = textwrap.dedent(expected).strip().replace(old, new)
    assert body(derived.source(*arguments)) == expected


WRITTEN = [
    (only_else, (1.0, 2.0), """
        if not x > y:
            x = y * y
        return x
    """),
    (alternating, (1.5, 4), """
        for i in range(n):
            if i % 2 == 0:
                x = x * 2
            else:
                x = x + 1
        return x
    """),
    (collected, (xs,), """
        squares = [x * x for x in xs]
        return np.sum(np.array(squares))
    """),
]  # fmt: skip


@pytest.mark.parametrize("function, arguments, expected", WRITTEN)
def test_the_text_of_a_program(function, arguments, expected):
    derived = jit(function)
    np.testing.assert_allclose(derived(*arguments), function(*arguments))
    assert body(derived.source(*arguments)) == textwrap.dedent(expected).strip()


def test_the_index_after_a_loop():
    for trips in (0, 3):
        assert jit(last_index)(trips) == last_index(trips)


# ---- gradients -----------------------------------------------------------------------------------


def logistic(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def stencil(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def test_a_kept_value_is_called_by_its_variable():
    text = grad(logistic).source(0.3, 0.5, 4)
    assert "x_saved.append(x)\n" in text
    assert "for x in reversed(x_saved):" in text


def test_a_kept_value_without_a_name_is_called_the_same_on_both_ways():
    text = grad(stencil, (0, 1)).source(xs, 0.1, 3)
    (name,) = re.findall(r"(\w+)_saved = \[\]", text)
    assert re.search(rf"\b{name} = u\[2:\]", text)
    assert f"for {name} in reversed({name}_saved):" in text


def as_often(x, n):
    for _ in range(n):
        x = x * np.sin(x)
    return x


def while_large(x, n):
    while x > 0.1:
        x = x * np.sin(x)
    return x


def with_what_is_read(x, n):
    for i, y in enumerate(ys):
        x = np.sin(x) * x + i * y
    return x


def in_each_pass(x, n):
    for _ in range(n):
        for _ in range(n):
            x = x * np.sin(x)
    return x


@pytest.mark.parametrize(
    "f, loops",
    [
        (as_often, ["x in reversed(x_saved)"]),
        (while_large, ["x in reversed(x_saved)"]),
        (with_what_is_read, ["x in reversed(x_saved)"]),
        (
            in_each_pass,
            ["_ in range(n)", "_ in range(n)"],
        ),  # one stack, of which each takes its part
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_list_that_is_popped_to_its_end_is_gone_through(f, loops):
    _, backward = grad(f).source(0.7, 3).split("# backward")
    assert re.findall(r"for (.*?):", backward) == loops
    difference = (f(0.7 + 1e-6, 3) - f(0.7 - 1e-6, 3)) / 2e-6
    np.testing.assert_allclose(grad(f)(0.7, 3), difference, rtol=1e-6, atol=1e-9)


def left_early(x, y):
    if x < 0:
        return 0.0
    root = np.sqrt(x)
    if root > y:
        return y
    return root * y * y


def test_a_path_that_has_its_results_at_once_returns_them():
    text = grad(left_early, (0, 1)).source(4.0, 3.0)
    assert body(text).startswith("if x < 0:\n    return 0.0, 0.0\nroot = np.sqrt(x)\n"), text
    assert "    return 0.0, 1.0\n" in text
    assert "else" not in text
    assert "else" not in jit(left_early).source(4.0, 3.0)
    for x, y, slopes in ((-1.0, 2.0, (0, 0)), (9.0, 2.0, (0, 1)), (4.0, 3.0, (2.25, 12))):
        assert grad(left_early, (0, 1))(x, y) == slopes


def test_statements_in_blocks_are_counted():
    assert jit(root).text(2.0).statements == 4
    assert jit(three_ways).text(2.0).statements == 6


# ---- loops over rows -----------------------------------------------------------------------------

ROWS = [  # a loop, what is written; None: the same
    ("for i in range(len(a)): x = a[i]; f(x)", "for x in a: f(x)"),
    ("for i in reversed(range(len(a))): x = a[i]; f(x)", "for x in reversed(a): f(x)"),
    ("for i in range(len(a)): x = a[i]; f(x, i)", "for i, x in enumerate(a): f(x, i)"),
    ("for i in reversed(range(len(a))): x = a[i]; f(x, i)", None),
    ("for i in range(len(a)): y = 2 * z; x = a[i]; f(x)", "for x in a: y = 2 * z; f(x)"),
    ("for i in range(len(a)): x = a[i]; x = x + 1; f(x)", "for x in a: x = x + 1; f(x)"),
    ("for i in range(len(a)): x = a[i]; a[i] = 2 * x", "for i, x in enumerate(a): a[i] = 2 * x"),
    ("for i in range(len(a)): y = 2 * x; x = a[i]; f(y)", None),
    ("for i in range(len(a)): a[0] = 1; x = a[i]; f(x)", None),
    ("for i in range(len(a)):\n if y: break\n x = a[i]; f(x)", None),
    ("for i in range(len(a)): y = b.pop(); x = a[i]; f(x)", "for x in a: y = b.pop(); f(x)"),
    ("for i in range(len(a)): b.append(y); x = a[i]; f(x)", "for x in a: b.append(y); f(x)"),
    ("for i in range(len(a)): np.add.at(a, 0, 1); x = a[i]; f(x)", None),
    ("for i in range(len(a)): x = a[i]; a.append(x)", None),
    ("for i in range(len(a)): x = a[i]; y = a.pop()", None),
    ("for i in range(len(a)): x = a[i]; a = f(x)", None),
    ("for i in range(len(a)): x = b[i]; f(x)", None),
    ("for i in range(1, len(a)): x = a[i]; f(x)", None),
    ("for i in range(len(a)): a = a[i]; f(a)", None),
    ("for i in range(len(a)): i = a[i]; f(i)", None),
    (
        "for i in range(np.minimum(len(a), len(b))): x = a[i]; y = b[i]; f(x, y)",
        "for x, y in zip(a, b): f(x, y)",
    ),
    ("for i in range(np.minimum(len(a), len(b))): x = a[i]; f(x)", None),
    ("for i in range(np.minimum(len(a), len(b))): x = a[i]; y = b[i]; f(x, y, i)", None),
    ("for i in range(np.minimum(len(a), n)): x = a[i]; f(x)", None),
]


def laid_out(statement):
    """The text of a compound statement on one line, as the printer lays it out."""
    return print_statements(gast.parse(statement).body)


@pytest.mark.parametrize("before, after", ROWS)
def test_a_loop_takes_rows_where_only_they_are_read(before, after):
    (loop,) = gast.parse(before).body
    reads = sum(getattr(each, "id", None) == "i" for each in gast.walk(loop)) - 1
    written = print_statements([sweetened(loop, reads=reads)])
    assert written == laid_out(after or before)


def without_first(w, a):
    h = 0.3
    for x in a[1:]:
        h = np.tanh(w * h) * x
    return h


def inner_ones(w, a):
    h = 0.3
    for x in a[1:-1]:
        h = np.tanh(w * h) * x
    return h


def from_the_end(w, a):
    h = 0.3
    for x in a[::-1]:
        h = np.tanh(w * h) * x
    return h


def neighbours(w, a):
    h = 0.3
    for x, y in zip(a[1:], a[:-1], strict=True):
        h = np.tanh(w * h) * x * y
    return h


def unread(w, a):
    h = 0.3
    for _ in a[2:-1]:
        h = np.tanh(w * h)
    return h


def in_a_row(w, a):
    h = 0.3
    for x, y, z in zip(a, a[1:], a[2:]):
        h = np.tanh(w * h) * x * y - z
    return h


def with_steps(w, a):
    h = 0.3
    for x in a[1::2]:
        h = np.tanh(w * h) * x
    return h


PARTS = [
    (without_first, "x in a[1:]", "x in reversed(a[1:])"),
    (inner_ones, "x in a[1:-1]", "x in reversed(a[1:-1])"),
    (from_the_end, "x in a[::-1]", "x in reversed(a[::-1])"),
    (in_a_row, "x, y, z in zip(a[:-2], a[1:-1], a[2:])", "i in range(len(a) - 3, -1, -1)"),
    (with_steps, "x in a[1::2]", "x in reversed(a[1::2])"),
    (neighbours, "x, y in zip(a[1:], a[:-1])", "i in range(len(a) - 2, -1, -1)"),
    (unread, "_ in range(len(a) - 3)", "h_2 in reversed(h_saved)"),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("length", [7, 5, 1, 0])
@pytest.mark.parametrize("f, forwards, backwards", PARTS)
def test_a_loop_over_a_part_of_an_array_says_so(f, forwards, backwards, length):
    a = np.linspace(0.3, 0.9, length)
    derived = grad(f)
    loops = re.findall("for (.*):", derived.source(0.7, a))
    assert loops == [forwards, backwards] or length < 2
    expected = (f(0.7 + 1e-6, a) - f(0.7 - 1e-6, a)) / 2e-6
    np.testing.assert_allclose(derived(0.7, a), expected, rtol=1e-6)
    values = [float(each) for each in a]
    np.testing.assert_allclose(derived(0.7, values), derived(0.7, a))


def added_and_subtracted(w, a):
    total = 0.0
    for x in a:
        e = x - w * x
        total += e * e * np.exp(w)
    return total


def test_what_several_terms_are_added_to_is_updated():
    text = grad(added_and_subtracted).source(0.7, xs)
    assert re.search(r"w_bar \+= .* - ", text)


def test_an_index_that_is_read_elsewhere_stays():
    (loop,) = gast.parse("for i in range(len(a)): x = a[i]; f(x)").body
    written = print_statements([sweetened(loop, reads=2)])
    assert written.startswith("for i, x in enumerate(a):")


@pytest.mark.parametrize(
    "condition, opposite",
    [
        ("a == b", "a != b"),
        ("a is None", "a is not None"),
        ("a in b", "a not in b"),
        ("not a", "a"),
        ("a", "not a"),
        ("a < b", "not a < b"),  # both are false where one is nan
        ("a < b < c", "not a < b < c"),
    ],
)
def test_conditions_turned_round(condition, opposite):
    (statement,) = gast.parse(condition).body
    assert print_expression(negated(statement.value)) == opposite


def written_through_a_reversed_view(x):
    y = x.copy()
    r = y[::-1]
    for i, v in enumerate(reversed(y)):
        r[i] = r[i] + v * i
    return np.sum(y * y)


def test_a_backward_loop_does_not_count_the_rows_of_what_it_makes():
    derived = grad(written_through_a_reversed_view)
    assert "range(len(x) - 1, -1, -1)" in derived.source(np.ones(3))
    np.testing.assert_allclose(derived(np.array([1.0, 2.0, 3.0])), [18.0, 16.0, 6.0])


TURNED = {
    "range(n)": "range(n - 1, -1, -1)",
    "range(1, n)": "range(n - 1, 0, -1)",
    "range(m, n + 1)": "range(n, m - 1, -1)",
    "range(n - 1)": "range(n - 2, -1, -1)",
    "range(1 - n, 3)": "range(2, 1 - n - 1, -1)",
    "range(2 * n)": "range(2 * n - 1, -1, -1)",
    "range(0, n, 2)": "reversed(range(0, n, 2))",
}


@pytest.mark.parametrize("before", TURNED)
def test_a_range_is_turned_round(before):
    """Numba has no `reversed`."""
    loop = gast.parse(f"for i in reversed({before}): f(i)").body[0]
    after = gast.unparse(turned_round(loop).iter)
    assert after == TURNED[before]
    for n in range(4):
        for m in range(3):
            expected = [*reversed(eval(before, {"n": n, "m": m}))]
            assert [*eval(after, {"n": n, "m": m})] == expected


def counted_down(x):
    y = x.copy()
    for i in range(len(x) - 1, 0, -1):
        y[i] = y[i - 1] * x[i]
    return np.sum(y)


def test_a_range_that_counts_down_is_turned_round():
    derived = grad(counted_down)
    assert "for i in range(1, len(x)):" in derived.source(np.ones(3))
    np.testing.assert_allclose(derived(np.array([1.0, 2.0, 3.0])), [3.0, 4.0, 2.0])


def weighted_sum(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y**2
    return total


def test_arrays_of_one_length_are_read_together():
    """That they are as long in the call is assumed, and another call is served by other text."""
    xs, ys = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.3, 0.7])
    text = jit(weighted_sum).source(xs, ys)
    assert "    for x, y in zip(xs, ys):" in text
    assert "len(xs) == len(ys)" in text
    slope = grad(weighted_sum)
    np.testing.assert_allclose(slope(xs, ys), ys**2)
    np.testing.assert_allclose(slope(xs, ys[:2]), [1.5**2, 0.3**2, 0.0])
    np.testing.assert_allclose(slope(xs[:1], ys), [1.5**2])


def divided(a, n):
    for i in range(n):
        a = a / (i + 1.0)
    return a


def test_a_loop_over_numbers_of_numpy_goes_back_as_it_is():
    """Of eight bits without a sign 0 - 1 is 255."""
    assert "range(n - 1, -1, -1)" in grad(divided).source(2.0, 3)
    assert grad(divided)(2.0, np.uint8(0)) == 1.0
    np.testing.assert_allclose(grad(divided)(2.0, np.uint8(3)), 1 / 6)
