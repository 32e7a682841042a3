"""`a, b, c = x` is one operation: that line in the text, one array of adjoints for it.

Derivatives are compared with differences of the function itself, batches with its samples.
"""

import numpy as np
import pytest

from s2s_ad import grad, hessian, jacfwd, jacrev, jit, jvp, value_and_grad, vmap
from transforms.differences import differences

Q = np.array([0.9, 0.1, -0.3, 0.2])
V = np.array([0.4, -1.2, 0.7])
ROWS = np.array([[0.5, 1.5, -0.2], [1.0, 0.2, 0.4], [-0.7, 0.3, 0.9]])


def of_an_expression(p):
    amplitude, length, noise = np.exp(p)
    return amplitude * np.sin(length) + noise**2


def of_two(p):
    a, _, c = np.exp(p)
    return a * c


def not_all_read(p):
    a, _, c = p
    return a * np.exp(c)


def one_read(p):
    _, b, _ = p
    return b**3


def read_again_as_a_whole(p):
    a, b, c = p
    return np.sum(p**2) * a - b / c + p[0] * p[1]


def rows_of_a_matrix(m):
    i, f, g = m
    return np.sum(i * np.tanh(f) - g**2)


def some_rows(m):
    i, _, g = m
    return np.sum(np.exp(i) * g)


def columns(m):
    x, y, z = m.T
    return np.sum(x * y - np.sin(z))


def parts_of_a_vector(m):
    a, b, c = np.split(m.ravel(), 3)
    return np.sum(a * b) + np.sum(c**3)


def each_row(m):
    total = 0.0
    for x, y, z in m:
        total += x * y**2 + np.cos(z) * x
    return total


def each_row_of_many(m):
    total = 0.0
    for a, b, c, d, e, f in np.concatenate([m, m**2], axis=1):
        total += a * b + c * d + e * np.sin(f)
    return total


def named_rows(m):
    total = 0.0
    for row in m:
        x, y, _ = row
        total += x * np.sin(y) + row[2]
    return total


def nested(m):
    total = 0.0
    for k, (x, y, z) in enumerate(m):
        total += (k + 1) * x * np.exp(y - z)
    return total


def nested_targets(m):
    (a, b, c), row, (d, *rest) = m
    return a * b * c + np.sum(row**2) + d * rest[0] + rest[1] ** 2


def with_a_star(p):
    first, *rest = p
    return first**2 * rest[0] + rest[1]


def in_a_branch(p):
    if np.sum(p) > 0:
        a, b, c = p
        return a * b * c
    c, b, a = p
    return a - b * c


def in_a_loop(p):
    for _ in range(3):
        a, b, c = p
        p = np.array([b * c, np.sin(a), a + 0.5 * c])
    return np.sum(p**2)


def in_a_try(p):
    try:
        a, b = p
    except ValueError:
        a, b, c = p
        b = b * c
    return a * b


def written_to(m):
    m = m.copy()
    a, b, c = m
    a[0] = 3.0 * b[1]
    b += a
    c[:] = np.sin(a)
    return np.sum(m**2 * b)


def kept_after_a_store(m):
    m = m.copy()
    a, b, c = m
    m[0] = b * c
    return np.sum(a * m[2]) + np.sum(b**2)


def numbers_kept_after_a_store(p):
    p = p.copy()
    a, b, c = p
    p[0] = b * c
    return a * p[0] + b * p[1] + c


def quat_mul(a, b):
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return np.array([
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ])  # fmt: skip


def rotated(q):
    pure = np.concatenate(([0.0], V))
    turned = quat_mul(quat_mul(q, pure), q * np.array([1.0, -1.0, -1.0, -1.0]))
    return np.sum(np.sin(turned[1:]))


PROGRAMS = {
    V.shape: [of_an_expression, not_all_read, one_read, read_again_as_a_whole, with_a_star],
    Q.shape: [rotated],
    ROWS.shape: [rows_of_a_matrix, some_rows, columns, parts_of_a_vector, each_row, named_rows],
}
PROGRAMS[V.shape] += [in_a_branch, in_a_loop, in_a_try, numbers_kept_after_a_store]
PROGRAMS[ROWS.shape] += [each_row_of_many, nested, nested_targets, written_to, kept_after_a_store]
EXAMPLES = {each.shape: each for each in (V, Q, ROWS)}
BY_DEFAULT = (not_all_read, rows_of_a_matrix, each_row)  # in every mode; the others in one


def examples(*always):
    """Each program with its input; those that are not run `always` are slow."""
    for shape, functions in PROGRAMS.items():
        for each in functions:
            marks = () if not always or each in always else pytest.mark.slow
            yield pytest.param(each, EXAMPLES[shape], id=each.__name__, marks=marks)


every_program = pytest.mark.parametrize("function, x", [*examples()])
programs = pytest.mark.parametrize("function, x", [*examples(*BY_DEFAULT)])


@pytest.mark.thinned(2)
@every_program
def test_gradients_are_those_of_differences(function, x):
    value, x_bar = value_and_grad(function)(x)
    assert value == pytest.approx(function(x.copy()), rel=1e-14)
    np.testing.assert_allclose(x_bar, differences(function, x), rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    _, dot = jvp(function, (x,), (direction,))
    np.testing.assert_allclose(dot, np.sum(x_bar * direction), rtol=1e-12)


@programs
def test_batches_are_those_of_the_samples(function, x):
    samples = np.stack([x, 0.5 * x, x[::-1], 1.5 * x])
    expected = [grad(function)(each) for each in samples]
    np.testing.assert_allclose(vmap(grad(function))(samples), expected, rtol=1e-12)
    values = [function(each.copy()) for each in samples]
    np.testing.assert_allclose(vmap(function)(samples), values, rtol=1e-12)


@programs
def test_second_derivatives_are_differences_of_gradients(function, x):
    first = grad(function)
    columns = [differences(lambda y, k=k: first(y).flat[k], x) for k in range(x.size)]
    expected = np.reshape(columns, x.shape * 2)
    for derived in (hessian(function), jacrev(first), jacfwd(first)):
        np.testing.assert_allclose(derived(x), expected, rtol=1e-5, atol=1e-7)


@programs
def test_single_precision_stays(function, x):
    x_bar = grad(function)(x.astype(np.float32))
    assert x_bar.dtype == np.float32
    np.testing.assert_allclose(x_bar, grad(function)(x), rtol=2e-4, atol=2e-5)


def test_complex_items_have_the_adjoint_of_steepest_ascent():
    def f(z):
        a, b = z
        return np.abs(a * b) ** 2

    a, b = z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    expected = [2 * a * abs(b) ** 2, 2 * b * abs(a) ** 2]
    np.testing.assert_allclose(grad(f)(z), expected, rtol=1e-12)


def test_items_that_nobody_reads_are_left_out_of_steep_functions():
    def f(p):
        a, _, c = np.sqrt(p)
        return a * c

    np.testing.assert_allclose(grad(f)(np.array([4.0, 0.0, 9.0])), [0.75, 0.0, 2 / 6])


def test_the_line_stays_and_its_adjoint_is_one_array():
    text = grad(of_an_expression).source(V)
    assert "    amplitude, length, noise = exp_p\n" in text
    assert "    return np.array([amplitude_bar, " in text
    assert "]) * exp_p\n" in text
    assert "    a, _, c = np.exp(p)  #" in jit(of_two).source(V)


def test_a_batch_is_unpacked_along_its_columns():
    assert "a, _, c = p.T" in vmap(not_all_read).source(np.stack([V, V]))


def test_a_helper_is_one_function_whatever_the_lengths_are_known_of():
    text = grad(rotated).source(Q)
    assert "def quat_mul_2" not in text
    assert "    aw, ax, ay, az = a" in text


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("function", [not_all_read, one_read, rows_of_a_matrix])
def test_another_number_of_items_is_refused_in_every_form(function, count):
    x = np.ones((count, 3) if function is rows_of_a_matrix else count)
    for form in (grad(function), jit(function)):
        with pytest.raises(ValueError, match="unpack"):
            form(x)
    for form in (vmap(function), vmap(grad(function))):
        with pytest.raises(ValueError, match="unpack"):
            form(np.stack([x, x]))


def test_what_nobody_reads_is_still_checked():
    def unread(p, x):
        _, _ = p
        return x**2

    def unread_in_a_loop(p, x):
        for _ in range(2):
            _, _ = p
        return x**2

    def unread_in_a_helper(p, x):
        return helper(p, x)

    for function in (unread, unread_in_a_loop, unread_in_a_helper):
        assert grad(function, 1)(np.ones(2), 3.0) == 6.0
        with pytest.raises(ValueError, match="unpack"):
            grad(function, 1)(np.ones(3), 3.0)


def helper(p, x):
    _, _ = p
    return x**2 + 0.0


def test_a_number_cannot_be_unpacked():
    with pytest.raises(Exception, match="cannot unpack a number"):
        grad(not_all_read)(np.array(1.0))


def test_rows_are_views_and_numbers_are_not():
    def through_views(m):
        m = m.copy()
        _, b = m
        b[0] = 7.0
        return m

    def through_numbers(m):
        m = m.copy()
        _, b = m
        b += 7.0
        return m

    m = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(jit(through_views)(m), [[0, 1], [7, 3]])
    np.testing.assert_array_equal(jit(through_numbers)(m[0]), m[0])
    np.testing.assert_array_equal(m, np.arange(4.0).reshape(2, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_items_whose_adjoints_are_numbers(dtype):
    def handed_on(y, z):
        a, b, _c = z
        return a, y, b

    for position in (1, (0, 1)):
        found = grad(handed_on, position)(np.ones(2), np.array([0.2, 0.3, 0.4], dtype))
        found = found[1] if position == (0, 1) else found
        np.testing.assert_array_equal(found, [1.0, 1.0, 0.0])
        assert found.dtype == dtype
