"""insert_grad_of, custom_rule, checkpoint: what a user may rely on."""

import functools

import numpy as np
import pytest

from s2s_ad import (
    S2SError,
    checkpoint,
    custom_rule,
    grad,
    insert_grad_of,
    jit,
    jvp,
    value_and_grad,
    vmap,
)

X = np.array([0.4, -1.3, 0.7])
A = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.5, 2.5]])


def numeric(f, x, step=1e-6):
    """Central differences of a function of one array or number."""
    x = np.asarray(x, float)
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[index] = step
        ahead, behind = (x + move, x - move) if x.shape else (float(x + move), float(x - move))
        result[index] = (f(ahead) - f(behind)) / (2 * step)
    return result


# ---- insert_grad_of ------------------------------------------------------------------------------


def clipped(x):
    y = x * x
    with insert_grad_of(y) as y_bar:
        y_bar = np.clip(y_bar, -1.0, 1.0)
    return np.sum(np.exp(3.0 * y))


def scaled_by_a_value(x):
    scale = np.sum(x**2)
    y = np.sin(x)
    with insert_grad_of(y) as y_bar:
        y_bar = y_bar * scale
    return np.sum(y)


def in_a_loop(x):
    y = x
    for _ in range(3):
        y = 1.5 * y
        with insert_grad_of(y) as y_bar:
            y_bar = 0.5 * y_bar
    return y


def printing(x):
    y = 2.0 * x
    print("forward")
    with insert_grad_of(y) as y_bar:
        print("backward", y_bar)
    return y * y


def test_the_body_changes_the_gradient_where_it_stands():
    expected = 2 * X * np.clip(3.0 * np.exp(3.0 * X**2), -1.0, 1.0)
    np.testing.assert_allclose(grad(clipped)(X), expected)


def test_the_body_may_read_values_of_the_function():
    np.testing.assert_allclose(grad(scaled_by_a_value)(X), np.cos(X) * np.sum(X**2))


def test_in_a_loop_it_runs_in_each_pass():
    assert grad(in_a_loop)(2.0) == pytest.approx((1.5 * 0.5) ** 3)


def test_the_body_runs_once_and_in_the_backward_pass(capsys):
    assert grad(printing)(3.0) == pytest.approx(24.0)
    assert capsys.readouterr().out.split() == ["forward", "backward", "12.0"]


def test_forward_mode_and_the_value_are_as_if_it_were_not_there():
    value, tangent = jvp(scaled_by_a_value, (X,), (np.ones(3),))
    assert value == pytest.approx(np.sum(np.sin(X)))
    assert tangent == pytest.approx(np.sum(np.cos(X)))


def test_a_batch_has_it_for_each_sample():
    batch = np.stack([X, 2 * X, -X])
    expected = np.stack([grad(scaled_by_a_value)(each) for each in batch])
    np.testing.assert_allclose(vmap(grad(scaled_by_a_value))(batch), expected)


def test_the_body_is_differentiated_by_the_next_derivative():
    second = grad(lambda x: np.sum(grad(scaled_by_a_value)(x)))(X)
    expected = numeric(lambda x: np.sum(np.cos(x) * np.sum(x**2)), X)
    np.testing.assert_allclose(second, expected, rtol=1e-6)


def changes_more(x):
    y = x * x
    with insert_grad_of(y) as y_bar:
        y_bar, x = 2 * y_bar, 0.0
    return y + x


def test_a_body_that_does_more_is_refused():
    with pytest.raises(S2SError, match="more than to change the gradient"):
        grad(changes_more)(2.0)


def test_called_as_it_stands_it_does_nothing():
    assert clipped(X) == pytest.approx(np.sum(np.exp(3.0 * X**2)))


# ---- custom_rule ---------------------------------------------------------------------------------


@custom_rule(reverse=lambda y_bar, y, x: y_bar * y * (1 - y))
def logistic(x):
    return 1 / (1 + np.exp(-x))


def solve_reverse(y_bar, y, A, b):
    b_bar = np.linalg.solve(A.T, y_bar)
    return -np.outer(b_bar, y), b_bar


@custom_rule(reverse=solve_reverse)
def solve(A, b):
    return np.linalg.solve(A, b)


def test_a_rule_of_a_lambda_has_a_name_that_text_can_have():
    tripled = custom_rule(lambda x: 2.0 * x, reverse=lambda y_bar, y, x: 3.0 * y_bar)
    np.testing.assert_allclose(grad(lambda x: np.sum(tripled(x)))(X), np.full(X.shape, 3.0))


@custom_rule(forward=lambda dots, y, x, w: dots[0] * w + dots[1] * x)
def product(x, w):
    return x * w


@custom_rule(reverse=lambda y_bar, y, x: 7.0 * y_bar, forward=lambda dots, y, x: 7.0 * dots[0])
def sevenfold(x):
    return np.sin(x)


def test_reverse_code_is_what_grad_uses():
    np.testing.assert_allclose(grad(lambda x: np.sum(sevenfold(x) ** 2))(X), 14 * np.sin(X))
    f = lambda x: np.sum(logistic(x) ** 2)
    np.testing.assert_allclose(grad(f)(X), numeric(f, X), rtol=1e-6)


def test_each_argument_has_its_adjoint():
    f = lambda A, b: np.sum(solve(A, b) ** 3)
    of_A, of_b = grad(f, (0, 1))(A, X)
    np.testing.assert_allclose(of_A, numeric(lambda M: f(M, X), A), rtol=1e-5)
    np.testing.assert_allclose(of_b, numeric(lambda b: f(A, b), X), rtol=1e-5)


def test_forward_code_is_what_jvp_uses_and_serves_reverse_mode_too():
    _, tangent = jvp(lambda x: product(x, 3.0 * x), (2.0,), (1.0,))
    assert tangent == pytest.approx(12.0)
    assert grad(lambda x: product(x, 3.0 * x))(2.0) == pytest.approx(12.0)
    _, tangent = jvp(sevenfold, (0.5,), (1.0,))
    assert tangent == pytest.approx(7.0)


def test_the_code_is_differentiated_again():
    second = grad(grad(lambda x: logistic(x)))(0.3)
    assert second == pytest.approx(float(numeric(grad(lambda x: 1 / (1 + np.exp(-x))), 0.3)), 1e-6)


@pytest.mark.parametrize("f", [lambda x: np.sum(logistic(x)), lambda x: np.sum(solve(A, x) ** 2)])
def test_a_batch_uses_the_code_for_each_sample(f):
    batch = np.stack([X, 2 * X, X - 1])
    expected = np.stack([grad(f)(each) for each in batch])
    np.testing.assert_allclose(vmap(grad(f))(batch), expected, rtol=1e-12)


def test_the_adjoint_of_what_the_samples_share_is_a_sum():
    batch = np.stack([X, 2 * X])
    shared = grad(lambda M: np.sum(vmap(solve, in_axes=(None, 0))(M, batch) ** 2))
    expected = sum(grad(lambda M: np.sum(solve(M, each) ** 2))(A) for each in batch)
    np.testing.assert_allclose(shared(A), expected, rtol=1e-12)


def test_in_a_loop():
    def f(x):
        for _ in range(3):
            x = logistic(x)
        return x

    plain = lambda x: 1 / (1 + np.exp(-1 / (1 + np.exp(-1 / (1 + np.exp(-x))))))
    assert grad(f)(0.3) == pytest.approx(float(numeric(plain, 0.3)), 1e-6)


ROWS, COLUMNS = np.array([2.0, 1.0, 3.0]), np.array([1.0, 2.0, 5.0])
apart = custom_rule(
    np.sin,
    reverse=lambda y_bar, y, x: y_bar * ROWS * np.cos(x),
    forward=lambda dots, y, x: dots[0] * COLUMNS * np.cos(x),
)


def test_each_code_may_read_globals_that_nothing_else_reads():
    f = lambda x: np.sum(apart(2 * x))
    np.testing.assert_allclose(grad(f)(X), 2 * ROWS * np.cos(2 * X))
    np.testing.assert_allclose(vmap(grad(f))(X[None]), [2 * ROWS * np.cos(2 * X)])
    assert jvp(f, (X,), (X,))[1] == pytest.approx(2 * COLUMNS * np.cos(2 * X) @ X)
    assert "bound" not in jit(f).source(X)
    assert "COLUMNS" not in grad(f).source(X)


def test_a_lambda_may_have_derivative_code():
    rule = custom_rule(lambda x: x**2, reverse=lambda y_bar, y, x: 5.0 * y_bar)
    assert grad(lambda x: rule(x))(3.0) == 5.0
    assert jit(lambda x: rule(x))(3.0) == 9.0


def test_forward_mode_without_forward_code_is_refused():
    with pytest.raises(S2SError, match="forward"):
        jvp(logistic, (0.3,), (1.0,))


def test_a_wrong_number_of_adjoints_is_refused():
    wrong = custom_rule(lambda x, w: x * w, reverse=lambda y_bar, y, x, w: (y_bar,) * 3)
    with pytest.raises(S2SError, match="gives 3 values, and 2 are expected"):
        grad(lambda x: wrong(x, 2.0))(1.0)


def test_code_is_asked_for():
    with pytest.raises(S2SError, match="neither 'reverse' nor 'forward'"):
        custom_rule(lambda x: x)


# ---- checkpoint ----------------------------------------------------------------------------------


@checkpoint
def block(x, w):
    y = np.tanh(w * x)
    y = np.tanh(w * y)
    return np.tanh(w * y)


def deep(x, w):
    for _ in range(4):
        x = block(x, w)
    return np.sum(x)


def test_a_checkpoint_changes_no_number():
    value, (of_x, of_w) = value_and_grad(deep, (0, 1))(X, 1.3)
    assert value == pytest.approx(deep(X, 1.3))
    np.testing.assert_allclose(of_x, numeric(lambda x: deep(x, 1.3), X), rtol=1e-6, atol=1e-10)
    assert of_w == pytest.approx(float(numeric(lambda w: deep(X, w), 1.3)), rel=1e-6)


def test_a_checkpoint_keeps_its_argument_alone():
    text = grad(deep).source(X, 1.3)
    assert text.count(".append(") == 1
    assert "x_saved.append(" in text


def test_second_order_and_batches_through_a_checkpoint():
    second = grad(lambda x: np.sum(grad(deep)(x, 1.3) ** 2))(X)
    expected = numeric(lambda x: np.sum(grad(deep)(x, 1.3) ** 2), X)
    np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-9)
    batch = np.stack([X, 2 * X])
    each = np.stack([grad(deep)(x, 1.3) for x in batch])
    np.testing.assert_allclose(vmap(grad(deep), in_axes=(0, None))(batch, 1.3), each, rtol=1e-12)


def march(x, w, n, k):
    y = x
    for i in checkpoint(range(n), every=k):
        y = np.sin(w * y) + 0.1 * i
    return np.sum(y)


def march_back(x, w, n, k):
    y = x
    for i in checkpoint(range(n - 1, -1, -1), every=k):
        y = np.sin(w * y) + 0.1 * i
    return np.sum(y)


def down_the_rows(A, x):
    for row in checkpoint(A, every=2):
        x = np.tanh(x + row)
    return np.sum(x)


@pytest.mark.parametrize("f", [march, march_back])
@pytest.mark.parametrize("n, k", [(7, 3), (6, 3), (2, 5), (1, 1), (0, 4)])
def test_a_loop_kept_every_few_passes(f, n, k):
    of_x, of_w = grad(f, (0, 1))(X, 1.3, n, k)
    np.testing.assert_allclose(of_x, numeric(lambda x: f(x, 1.3, n, k), X), atol=1e-9)
    assert of_w == pytest.approx(float(numeric(lambda w: f(X, w, n, k), 1.3)), abs=1e-8)


def test_a_loop_over_rows_kept_every_few_passes():
    of_A, of_x = grad(down_the_rows, (0, 1))(A, X)
    np.testing.assert_allclose(of_A, numeric(lambda M: down_the_rows(M, X), A), atol=1e-9)
    np.testing.assert_allclose(of_x, numeric(lambda x: down_the_rows(A, x), X), atol=1e-9)


def test_the_text_does_not_grow_with_the_number_of_passes():
    few, many = (grad(march).source(X, 1.3, n, 10) for n in (20, 20_000))
    assert few == many


def test_second_order_through_segments():
    f = lambda w: march(X, w, 5, 2)
    assert grad(grad(f))(1.3) == pytest.approx(float(numeric(grad(f), 1.3)), rel=1e-6)


@pytest.mark.parametrize("every", [0, -1, 2.5, True])
def test_every_is_a_positive_int(every):
    with pytest.raises(S2SError, match="every"):
        checkpoint(range(3), every=every)


def with_a_checkpoint_inside(x, w):
    def layer(y):
        for _ in range(2):
            y = np.tanh(w * y)
        return y

    both = checkpoint(functools.partial(lambda a, y: a * y, w))
    return np.sum(checkpoint(layer)(x) * checkpoint(lambda y: np.sin(y) * w)(both(x)))


def test_a_checkpoint_of_a_function_of_the_function_around():
    of_x, of_w = grad(with_a_checkpoint_inside, (0, 1))(X, 1.3)
    expected = numeric(lambda x: with_a_checkpoint_inside(x, 1.3), X)
    np.testing.assert_allclose(of_x, expected, rtol=1e-6, atol=1e-10)
    expected = numeric(lambda w: with_a_checkpoint_inside(X, w), 1.3)
    assert of_w == pytest.approx(float(expected), rel=1e-6)
    assert "layer_backward(x, " in grad(with_a_checkpoint_inside).source(X, 1.3)


def turned_in_a_loop(x):
    y = x
    for _ in range(3):
        y = np.sin(y) * x
        with insert_grad_of(y) as y_bar:
            y_bar = A @ y_bar
            if np.sum(y_bar) > 1.0:
                y_bar = y_bar / np.sum(y_bar)
    return np.sum(y)


def test_code_for_an_adjoint_in_a_loop_runs_in_the_backward_pass_alone():
    """The same by hand: the adjoint of each pass goes through the code, the last pass first."""
    ys = [X]
    for _ in range(3):
        ys.append(np.sin(ys[-1]) * X)
    x_bar, y_bar = np.zeros(3), np.ones(3)
    for y in ys[-2::-1]:
        y_bar = A @ y_bar
        y_bar = y_bar / np.sum(y_bar) if np.sum(y_bar) > 1.0 else y_bar
        x_bar, y_bar = x_bar + y_bar * np.sin(y), y_bar * X * np.cos(y)
    np.testing.assert_allclose(grad(turned_in_a_loop)(X), x_bar + y_bar, rtol=1e-12)
    forward, _, _ = grad(turned_in_a_loop).source(X).partition("# backward")
    assert "y_bar" not in forward


@checkpoint
def power_by_checkpoints(x, n):
    return x if n == 0 else np.sin(power_by_checkpoints(2 * x, n - 1))


def test_a_checkpoint_that_calls_itself_is_refused():
    with pytest.raises(S2SError, match="power_by_checkpoints calls itself") as caught:
        grad(lambda x: power_by_checkpoints(x, 3))(0.5)
    assert "np.sin(power_by_checkpoints" in caught.value.origin.text


def test_a_checkpoint_of_a_lambda_has_a_name_in_the_text():
    f = checkpoint(lambda v: v * np.sin(v))
    np.testing.assert_allclose(vmap(grad(f))(X), np.sin(X) + X * np.cos(X), rtol=1e-12)
    np.testing.assert_allclose(grad(lambda x: np.sum(f(x)))(X), np.sin(X) + X * np.cos(X))


def test_a_transform_of_a_checkpoint_made_inside_is_refused_with_its_place():
    def f(x):
        return np.sum(vmap(checkpoint(lambda v: v * np.sin(v) * x[0]))(x))

    with pytest.raises(S2SError, match="checkpoint that was made inside the function") as caught:
        grad(f)(X)
    assert "vmap(checkpoint(" in caught.value.origin.text
