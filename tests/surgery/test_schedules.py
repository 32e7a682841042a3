"""checkpoint(range(n), ...): the gradient of the loop, in bounded memory, with few more passes."""

from __future__ import annotations

import math
import weakref

import numpy as np
import pytest

from s2s_ad import S2SError, checkpoint, grad, jvp, vmap
from s2s_ad.runtime import passes_ahead

X = np.array([0.4, -1.3, 0.7])
BATCH = np.stack([X, 2 * X, X - 1])


def march(x, w, n, loop):
    y = x
    for i in loop(range(n)):
        y = np.tanh(w * y + 0.1 * i)
    return np.sum(y)


def strides(x, w, n, loop):
    y, v = x, 0.0 * x
    for i in loop(range(n - 1, -2, -2)):
        y, v = np.sin(w * y) + 0.1 * i, v + y
    return np.sum(y * v)


def turned(x, w, n, loop):
    y = x
    for i in loop(reversed(range(1, n))):
        y = y + np.sin(w * y) / i
    return np.sum(y)


def leaves(x, w, n, loop):
    y, v = x, 0.0 * x
    for i in loop(range(n)):
        y, v = np.sin(w * y) + 0.1 * i, v + y
        if np.sum(v) > 1.0:
            break
    return np.sum(y * v)


def counts(x, w, n, loop):
    y, total, count = x, 0.0, 0
    for _ in loop(range(n)):
        y = np.sin(w * y)
        total = total + w
        count += 1
    return np.sum(y) * total * count


def nested(x, w, n, loop):
    y = x
    for i in loop(range(n)):
        for j in loop(range(i)):
            y = np.sin(w * y) + 0.1 * j
    return np.sum(y)


def elements(x, w, n, loop):
    h = np.zeros(n + 1)
    h[0] = x[0]
    for i in loop(range(n)):
        h[i + 1] = np.sin(w * h[i]) + x[i % 3]
    return np.sum(h**2)


def returns(x, w, n, loop):
    y = x
    for _ in loop(range(n)):
        y = np.sin(1.5 * y) + 0.2 * w
        if y[0] > 0.9:
            return y[1] ** 2 * w
    return np.sum(y) ** 3


PROGRAMS = [march, strides, turned, leaves, counts, nested, elements, returns]
LENGTHS = [(0, 2), (1, 1), (2, 1), (7, 3), (6, 40), (20, 2)]


def as_it_stands(items):
    return items


def memory(m):
    return lambda items: checkpoint(items, memory=m)


def every(k):
    return lambda items: checkpoint(items, every=k)


def same(a, b):
    for p, q in zip(a, b, strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-11, atol=1e-13)


@pytest.mark.thinned(12)
@pytest.mark.parametrize("schedule", [memory, every])
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n, m", LENGTHS)
def test_the_gradient_is_that_of_the_loop(f, schedule, n, m):
    of_f = grad(f, (0, 1))
    same(of_f(X, 1.3, n, schedule(m)), of_f(X, 1.3, n, as_it_stands))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_value_and_forward_mode_are_those_of_the_loop(f):
    assert f(X, 1.3, 6, memory(2)) == pytest.approx(f(X, 1.3, 6, as_it_stands), rel=1e-14)
    made, plain = (
        jvp(lambda w, loop=loop: f(X, w, 6, loop), (1.3,), (1.0,))
        for loop in (memory(2), as_it_stands)
    )
    same(made, plain)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_order(f):
    second = grad(grad(f, 1), 1)
    expected = second(X, 1.3, 5, as_it_stands)
    assert second(X, 1.3, 5, memory(2)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.thinned(6)
@pytest.mark.filterwarnings("ignore::s2s_ad.diagnostics.SampleLoopWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_a_batch_of_gradients_and_the_gradient_of_a_batch(f):
    batched = vmap(f, in_axes=(0, None, None, None))
    each = vmap(grad(f, (0, 1)), in_axes=(0, None, None, None))
    of_sum = grad(lambda B, w, n, loop: np.sum(batched(B, w, n, loop)), (0, 1))
    for g in (each, of_sum):
        same(g(BATCH, 1.3, 5, memory(2)), g(BATCH, 1.3, 5, as_it_stands))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("f", [march, nested])
def test_a_batch_of_second_derivatives(f):
    second = vmap(grad(grad(f, 1), 1), in_axes=(0, None, None, None))
    same(second(BATCH, 1.3, 5, memory(2)), second(BATCH, 1.3, 5, as_it_stands))


def returns_an_array(x, n):
    y = x
    for _ in checkpoint(range(n), memory=2):
        y = np.sin(y)
        if y[0] > 0.9:
            return y[1:]
    return y[:-1]


def test_an_array_that_only_the_last_pass_has_is_refused():
    with pytest.raises(S2SError, match="an array that no pass before has assigned"):
        grad(lambda x: np.sum(returns_an_array(x, 4)))(X)


# ---- the schedule --------------------------------------------------------------------------------


def marched(x, w, n, m):
    y = x
    for i in checkpoint(range(n), memory=m):
        y = np.tanh(w * y + 0.1 * i)
    return np.sum(y)


class Counting:
    """NumPy, which counts the calls of tanh, and those of its results that are there."""

    def __init__(self):
        self.calls = self.live = self.most = 0

    def __getattr__(self, name):
        return getattr(np, name)

    def tanh(self, x):
        self.calls += 1
        result = np.tanh(x)
        self.live += 1
        self.most = max(self.most, self.live)
        weakref.finalize(result, self._gone)
        return result

    def _gone(self):
        self.live -= 1


def least(n, m):
    """The least number of passes that run ahead (Griewank and Walther 2000, formula 2)."""
    repeats = 0
    while math.comb(m + repeats, m) < n:
        repeats += 1
    return repeats * n - math.comb(m + repeats, repeats - 1) if repeats else 0


def counted(n, m):
    """The gradient by the generated code, and a NumPy that counted in it."""
    counting = Counting()
    names = {"np": counting}
    text = grad(marched).source(X, 1.3, n, m)
    exec(text.replace("import numpy as np\n", ""), names)
    return names["marched_grad"](X, 1.3, n, m), counting


@pytest.mark.parametrize("n, m", [(1, 1), (5, 1), (10, 3), (35, 4), (100, 5), (200, 2)])
def test_as_few_passes_run_again_as_can_be(n, m):
    found, counting = counted(n, m)
    np.testing.assert_allclose(found, grad(marched)(X, 1.3, n, m))
    forward = least(n, m) + 1  # with the last pass, for the value
    assert counting.calls == forward + n


@pytest.mark.parametrize("n, m", [(10, 3), (100, 5), (200, 2), (300, 12)])
def test_no_more_states_are_kept_than_there_is_memory_for(n, m):
    _, counting = counted(n, m)
    assert counting.most <= m + 3  # a pass that runs has two, and hands over one


def test_the_schedule_is_optimal():
    costs = {}

    def cost(n, m):
        if n > 1 and (n, m) not in costs:
            ahead = passes_ahead(n, m)
            costs[n, m] = ahead + cost(n - ahead, m - 1) + cost(ahead, m)
        return costs.get((n, m), 0)

    for m in range(1, 8):
        for n in range(1, 120):
            assert cost(n, m) == least(n, m)


def test_the_text_does_not_grow_with_the_number_of_passes():
    few, many = (grad(marched).source(X, 1.3, n, 10) for n in (20, 20_000))
    assert few == many


def test_explain_counts_the_states():
    text = grad(marched).explain(X, 1.3, 100, 5)
    assert "y in steps" in text
    assert f"{6 * X.nbytes}" in text


def test_effects_happen_once(capsys):
    def f(x, n):
        y = x
        for i in checkpoint(range(n), memory=2):
            print(i)
            y = np.sin(y)
        return y

    grad(f)(0.3, 6)
    assert capsys.readouterr().out.split() == [str(i) for i in range(6)]


@checkpoint
def noisy(x):
    y = x * np.random.normal()
    return np.sin(y)


def noisy_march(x):
    for _ in checkpoint(range(4), memory=2):
        x = np.sin(x * np.random.normal())
    return x


@pytest.mark.parametrize("f", [lambda x: noisy(x), noisy_march])
def test_what_would_be_drawn_twice_is_refused(f):
    with pytest.raises(S2SError, match="computes again"):
        grad(f)(0.3)


@pytest.mark.parametrize("options", [{"memory": 0}, {"memory": 2.5}, {"memory": 2, "every": 3}])
def test_wrong_schedules_are_refused(options):
    with pytest.raises(S2SError, match="checkpoint"):
        checkpoint(range(3), **options)


@pytest.mark.parametrize("m", [0, -2])
def test_a_number_that_shows_at_run_time_is_checked_there(m):
    with pytest.raises(ValueError, match="positive"):
        grad(marched)(X, 1.3, 7, m)
