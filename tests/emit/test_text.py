"""What the generated text promises: memory of its own, stores in place where that is safe."""

from __future__ import annotations

import linecache
import math
import re

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap

rng = np.random.default_rng(0)
x, y, table = rng.normal(size=5), rng.normal(size=5), rng.normal(size=(4, 3))


def product(x, y):
    return np.sum(x * y)


def total(x, y):
    return np.sum((x + y) ** 2)


def mirrored(x, y):
    return np.sum(x[::-1] * y)


def picked(table):
    return table[1, 2] * table[0, 0]


def gathered(table, rows):
    return np.sum(table[rows] ** 2)


def windowed(x):
    return np.sum(x[1:] * x[:-1])


def twice(x):
    z = x * 2
    return np.sum(z * z) + z[0]


@pytest.mark.parametrize("f", [product, total, mirrored])
def test_gradients_share_no_memory_with_arguments_or_each_other(f):
    before = x.copy(), y.copy()
    x_bar, y_bar = grad(f, (0, 1))(x, y)
    for part in (x_bar, y_bar):
        assert not np.shares_memory(part, x)
        assert not np.shares_memory(part, y)
    assert not np.shares_memory(x_bar, y_bar)
    x_bar += 1.0
    y_bar += 1.0
    assert np.array_equal(x, before[0])
    assert np.array_equal(y, before[1])


def test_one_buffer_serves_all_stores():
    text = grad(picked).source(table)
    assert text.count("zeros_like") == 1
    assert len(re.findall(r"table_bar\[.*\] \+?=", text)) == 2
    assert "copy" not in text
    assert "index_add" not in text


def test_repeated_indices_accumulate():
    rows = np.array([1, 1, 3])
    assert "np.add.at(" in grad(gathered).source(table, rows)
    expected = np.zeros_like(table)
    for row in rows:
        expected[row] += 2 * table[row]
    np.testing.assert_allclose(grad(gathered)(table, rows), expected)


def test_slices_need_no_add_at():
    text = grad(windowed).source(x)
    assert "x_bar[1:] +=" in text
    assert "x_bar[:-1] = " in text
    assert "add.at" not in text


def test_per_sample_elements_need_no_add_at():
    derived = vmap(grad(picked))
    text = derived.source(np.stack([table, table]))
    assert "add.at" not in text
    np.testing.assert_allclose(derived(np.stack([table, 2 * table]))[1], grad(picked)(2 * table))


def test_a_value_is_read_before_the_store_that_changes_it():
    expected = 8 * x
    expected[0] += 2
    np.testing.assert_allclose(grad(twice)(x), expected)


@pytest.mark.parametrize("f, arguments", [(product, (x, y)), (picked, (table,)), (twice, (x,))])
def test_the_same_input_gives_the_same_text(f, arguments):
    derive = value_and_grad(f)
    assert derive.source(*arguments) == value_and_grad(f).source(*arguments)


def shadowing(len, np_, x_bar):
    total = np.mean(np_) * len
    return total * x_bar


def test_no_name_of_the_users_is_taken():
    arguments = (2.0, x, 3.0)
    x_mean = np.mean(x)
    len_bar, array_bar, x_bar_bar = grad(shadowing, (0, 1, 2))(*arguments)
    assert np.isclose(len_bar, 3 * x_mean)
    assert np.isclose(x_bar_bar, 2 * x_mean)
    np.testing.assert_allclose(array_bar, np.full(5, 6 / 5))


@pytest.mark.parametrize("length", range(1, 40, 6))
def test_the_name_of_a_file_is_not_broken_at_its_hyphens(length):
    file, name = "<ipython-input-9-40c739ebd935>", "f" * length
    cell = f"def {name}(x):\n    return x * x\n"
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    exec(compile(cell, file, "exec"), space := {})
    assert f"({file}:1)" in grad(grad(space[name])).source(2.0)


def test_lines_of_the_user_are_named():
    text = grad(twice).source(x)
    first = twice.__code__.co_firstlineno
    assert f"# line {first + 1}" in text
    assert f"# line {first + 2}" in text


def best_of_all_pairs(x, w):
    for _ in range(3):
        x = np.max(x[:, None] + w, axis=0)
    return np.sum(x)


def test_the_adjoint_of_an_added_axis_is_a_sum():
    text = grad(best_of_all_pairs, (0, 1)).source(np.ones(3), np.ones((3, 3)))
    assert "x_bar = np.sum(x_plus_w_bar, axis=1)" in text
    assert text.count("_saved = []") == 1


def payoffs(spot, up):
    values = np.ones(7)
    for k in range(2):
        for j in range(7):
            values[j] = max(0.0, spot * up ** (2 * j - 6) - 1.0) * values[k]
    return np.sum(values**2)


def test_what_one_side_alone_reads_is_read_before_its_array_changes():
    text = grad(payoffs, (0, 1)).source(1.0, 1.1)
    assert "copy" not in text
    assert text.index("values_j_bar = values_bar[j]") < text.index("values_bar[j] = 0.0")


def first_elements(x):
    return x[0] * x[1] + np.sum(x[2:]) + x[1] ** 2


def test_the_first_sum_into_zeros_is_a_store():
    text = grad(first_elements).source(np.ones(5))
    assert "x_bar[1] = 2.0 * x[1]" in text
    assert "x_bar[2:] = 1.0" in text
    assert "x_bar[0] = x[1]" in text
    np.testing.assert_allclose(grad(first_elements)(np.arange(1.0, 6.0)), [2, 5, 1, 1, 1])


def quotient_of_sums(a, b, c):
    s = a + b
    t = np.sin(s) * b
    return np.sum(s * t / c - b * c)


def test_parts_of_an_adjoint_are_called_after_it():
    text = grad(quotient_of_sums, (0, 1, 2)).source(*[np.ones(3)] * 3)
    assert not re.search(r"\b(total|difference)(_\d)? = .*_bar", text)


def factor(K, y):
    for jitter in (0.0, 1e-6, 1e-3):
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(2))
            root = np.trace(L)
            break
        except np.linalg.LinAlgError:
            continue
    else:
        raise ValueError("not positive definite")
    return np.sum(np.linalg.solve(L, y)) * root


@pytest.mark.parametrize("corner", [1.2, 1 - 5e-4], ids=["at once", "at the third attempt"])
def test_a_flag_of_which_side_was_taken_is_the_condition(corner):
    K, y = np.array([[1.0, 1.0], [1.0, corner]]), np.array([1.0, 2.0])
    derived = grad(factor, 1)
    text = derived.source(K, y)
    assert " = not failed" in text
    assert "False if" not in text
    expected = [(factor(K, y + d) - factor(K, y - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(derived(K, y), expected, rtol=1e-6)


def first_negative(x):
    for v in x:
        if v < 0:
            return 2 * v
    return x[0]


@pytest.mark.parametrize("x", [[1.0, -2.0, 3.0], [1.0, 2.0, 3.0], [-1.0, -2.0, 3.0]])
def test_a_flag_of_a_return_is_its_condition(x):
    derived = grad(first_negative)
    assert "returned = v < 0" in derived.source(np.array(x))
    expected = np.where(np.cumsum(np.array(x) < 0) == 1, np.where(np.array(x) < 0, 2.0, 0.0), 0.0)
    expected[0] += 1.0 if min(x) > 0 else 0.0
    np.testing.assert_allclose(derived(np.array(x)), expected)


def soft_minimum(a, b, c):
    m = min(a, b, c)
    return m - math.log(math.exp(m - a) + math.exp(m - b) + math.exp(m - c))


def soft_minima(x):
    total = 0.0
    for i in range(2, len(x)):
        total += soft_minimum(x[i - 2], x[i - 1], x[i])
    return total


def test_the_distance_from_a_smallest_number_stays_behind_it():
    """On the side that picks c, `m - c` is no adjoint that cancels."""
    x = np.array([0.4, 0.3, 0.1])
    assert "m = min(a, b, c)" in grad(soft_minima).source(x)
    np.testing.assert_allclose(grad(soft_minima)(x), np.exp(-x) / np.sum(np.exp(-x)))


def test_names_that_python_reads_as_others():
    """Full-width letters are plain ones in code, and two keys of a dict are two."""

    def f(p):
        return np.sum(p["\uff57"] * p["w"])

    f.__name__ = "\uff46\uff55\uff4c\uff4c"
    given = {"\uff57": np.ones(2), "w": np.full(2, 3.0)}
    assert "def full_grad(p):" in grad(f).source(given)
    found = grad(f)(given)
    np.testing.assert_array_equal(found["\uff57"], [3.0, 3.0])
    np.testing.assert_array_equal(found["w"], [1.0, 1.0])


def test_a_function_that_is_called_like_a_word_of_python():
    f = lambda x: x * x
    f.__name__ = "class"
    assert jit(f)(3.0) == 9.0


def sums_from_an_array(x, start):
    s = start(x)
    kept = []
    for v in x:
        s = s + v * v
        kept.append(s)
    return kept[0] + 2.0 * kept[1] + 3.0 * kept[2]


STARTS = {
    "zeros": lambda x: np.zeros(()),
    "full": lambda x: np.full((), 0.5),
    "array": lambda x: np.array(0.5),
    "zeros_like": lambda x: np.zeros_like(x[0]),
    "copy": lambda x: np.copy(x[0]),
    "where": lambda x: np.where(x[0] > 0, x[0], 1.0),
    "item": lambda x: [np.zeros(()), x[0]][0],
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_sum_that_begins_as_an_array_without_axes_leaves_others_as_they_are(start):
    """`s += v` would change the array that was put into the list."""
    x = np.array([1.0, 2.0, 3.0])
    assert jit(sums_from_an_array)(x, start) == sums_from_an_array(x, start)


def of_lengths(x, k):
    H, W, C = x.shape
    kh, kw = k.shape
    for i in range(H - kh):
        x = x * (W - kw + C + i)
    return np.sum(x) / (H * W)


def one_length(x, k):
    _, width, _ = x.shape
    return np.sum(x) / width


def test_an_unpacked_shape_stays_one_line():
    x, k = np.ones((4, 5, 2)), np.ones((2, 3))
    text = grad(of_lengths).source(x, k)
    assert "    H, W, C = x.shape" in text
    assert "    kh, kw = k.shape" in text
    np.testing.assert_allclose(grad(of_lengths)(x, k), np.full(x.shape, 4 * 5 / 20.0))


def test_one_length_is_read_by_itself():
    assert "x.shape[1]" in grad(one_length).source(np.ones((4, 5, 2)), np.ones(2))


def test_the_index_next_to_another_has_no_name():
    """What the user wrote three times is written three times, forward and backward."""

    def steps(x, y):
        levels, total = np.zeros((len(y) + 1, len(x))), 0.0
        levels[0] = x
        for t in range(len(y)):
            levels[t + 1] = np.sin(levels[t])
            levels[t + 1, 0] += y[t]
            total += np.sum(levels[t + 1] ** 2)
        return total

    x, y = np.array([0.3, 0.8]), np.array([0.1, -0.4, 0.7])
    source = grad(steps).source(x, y)
    assert "levels[t + 1] = np.sin(levels[t])" in source
    assert "levels[t + 1, 0] += y[t]" in source
    assert "= t + 1" not in source
    move = 1e-6 * np.eye(2)
    slopes = [(steps(x + each, y) - steps(x - each, y)) / 2e-6 for each in move]
    np.testing.assert_allclose(grad(steps)(x, y), slopes, rtol=1e-7)


def level(x, level):
    """A parameter that is called as the function is."""
    return np.sum(np.log(2.5 * x)) * level


def test_a_parameter_with_the_name_of_the_function_is_no_call_of_it():
    source = grad(level).source(np.ones(3), 2.0)
    assert source.count("def ") == 1
    np.testing.assert_allclose(grad(level)(np.array([1.0, 2.0]), 2.0), [2.0, 1.0])


def test_a_factor_cancels_in_the_slope_of_a_logarithm():
    assert "level / x" in grad(level).source(np.ones(3), 2.0)


def element_on_a_path(x, y):
    for _ in x:
        row = y[1]
    else:
        row[[-1]] -= np.array([x[0]]) if (row <= 2.0).all() else np.arange(1, dtype=float)
    return np.sum(y) + x[0]


def test_an_array_full_of_a_number_is_merged_into_a_branch_after_it():
    """Its shape is a tuple there, too."""
    y = np.array([[0.3, 1.2, -0.8], [-0.6, -1.1, 1.0]])
    value, (x_bar, y_bar) = value_and_grad(element_on_a_path, (0, 1))([-1.1], y.copy())
    assert value == pytest.approx(np.sum(y))
    assert x_bar == [0.0]
    np.testing.assert_array_equal(y_bar, np.ones((2, 3)))


def slope_in_a_try(x):
    try:
        y = np.reciprocal(x)
        x = y**2
    except ArithmeticError:
        x = 2.0 * x
    return np.sum(x)


def test_a_value_in_a_try_that_is_a_slope_too_is_there_where_it_is_returned():
    x = np.array([0.5, 2.0])
    value, tangent = jvp(slope_in_a_try, x, np.ones(2))
    np.testing.assert_allclose([value, tangent], [np.sum(x**-2), np.sum(-2 * x**-3)])
