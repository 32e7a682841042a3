"""Where Python raises because lengths do not fit together, so does every transform: also where the
derivative does not need what would raise."""

from __future__ import annotations

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import grad, jit, jvp, value_and_grad, vmap
from s2s_ad.diagnostics import LengthError, S2SError

CAPTURED = np.arange(4.0)
SAID = "fit|length|broadcast|shape|mismatch|match|rows"  # by Python, or by us


def dropped(x, w):
    x * w
    return np.sum(x)


def stored(x, w):
    z = np.zeros(4)
    z[:] = w
    return np.sum(x * 2)


def added_to_a_part(x, w):
    y = x.copy()
    y[1:] += w
    return np.sum(y)


def in_a_loop(x, w):
    total = 0.0
    for _ in range(3):
        total = total + x @ w
    return total


def helper(x, w):
    y = x
    for _ in range(2):
        y = y * 1.1
    if np.sum(y) > 100.0:
        return 2 * y @ w
    return y @ w


def in_a_helper(x, w):
    return helper(x, w) * 2


CASES = [  # function, shapes that fit, shapes that do not
    (lambda x, w: x @ w, [(3,), (3,)], [(3,), (4,)]),
    (lambda x, w: np.sum(x + w), [(3,), (3,)], [(3,), (4,)]),
    (lambda x, w: np.sum(np.stack([x, w])), [(3,), (3,)], [(4,), (3,)]),
    (lambda x, w: np.sum(np.concatenate([x, w])), [(2, 3), (4, 3)], [(2, 3), (2, 4)]),
    (lambda x, w: np.sum(np.einsum("ij,jk->ik", x, w)), [(2, 3), (3, 4)], [(2, 3), (4, 2)]),
    (lambda x, w: np.sum(np.where(x > 0, x, w)), [(3,), (3,)], [(3,), (4,)]),
    (lambda x, w: np.sum(x[:2] * w), [(4,), (2,)], [(4,), (3,)]),
    (lambda x, w: np.sum(x.reshape(2, 2)) * w[0], [(4,), (2,)], [(5,), (2,)]),
    (lambda x, w: np.sum(x.reshape(-1, 2)) * w[0], [(4,), (2,)], [(5,), (2,)]),
    (lambda x, w: np.sum(np.linalg.solve(x, w)), [(2, 2), (2,)], [(2, 2), (3,)]),
    (lambda x, w: np.sum(np.broadcast_to(x, (2, 3))) * w[0], [(3,), (2,)], [(4,), (2,)]),
    (lambda x, w: x @ CAPTURED * w[0], [(4,), (2,)], [(3,), (2,)]),
    (dropped, [(3,), (3,)], [(3,), (4,)]),
    (stored, [(2,), (4,)], [(2,), (3,)]),
    (added_to_a_part, [(4,), (3,)], [(4,), (4,)]),
    (in_a_loop, [(3,), (3,)], [(3,), (4,)]),
    (in_a_helper, [(3,), (3,)], [(3,), (4,)]),
    # what is as long as one is not stretched either
    (lambda x, w: np.sum(np.stack([x, w])), [(3,), (3,)], [(3,), (1,)]),
    (lambda x, w: np.sum(np.array([[x, x], [x, w]])), [(3,), (3,)], [(3,), (1,)]),
    (lambda x, w: np.sum(np.array([x[0], w])), [(3,), ()], [(3,), (2,)]),
    (lambda x, w: np.sum(np.concatenate([x, w])), [(2, 3), (4, 3)], [(2, 3), (2, 1)]),
    (lambda x, w: np.sum(np.vander(x) @ w), [(3,), (3,)], [(3,), (1,)]),
    (lambda x, w: np.interp(0.5, x, w), [(3,), (3,)], [(1,), (3,)]),
    (lambda x, w: np.sum(np.gradient(x, w) + x), [(3,), (3,)], [(3,), (2,)]),
    (lambda x, w: np.sum(np.full_like(x, w) * 2), [(3,), (3,)], [(3,), (2,)]),
    (lambda x, w: np.sum(np.bincount([0, 1, 1], w)) * x[0], [(3,), (3,)], [(3,), (1,)]),
]


def filled(shapes):
    rng = np.random.default_rng(3)
    return [rng.uniform(0.5, 1.5, shape) for shape in shapes]


def batched(f):
    return lambda *arrays: vmap(f)(*[np.stack([each, each]) for each in arrays])


TRANSFORMS = {
    "jit": jit,
    "grad": grad,
    "both": lambda f: grad(f, (0, 1)),
    "value_and_grad": value_and_grad,
    "jvp": lambda f: lambda *arrays: jvp(f, arrays, arrays),
    "vmap": lambda f: batched(f),
    "vmap(grad)": lambda f: batched(grad(f)),
    "grad(grad)": lambda f: grad(lambda *arrays: np.sum(grad(f)(*arrays))),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("f, good, bad", CASES)
def test_what_python_refuses_every_transform_refuses(f, good, bad, transform):
    """`jit` read past the end of what was stacked, and the gradients of the rest had numbers."""
    with pytest.raises(ValueError, match=SAID):
        f(*filled(bad))
    transformed = TRANSFORMS[transform](f)
    for _ in range(2):  # also where code for other lengths is at hand
        with pytest.raises(ValueError, match=SAID):
            transformed(*filled(bad))
        transformed(*filled(good))


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: np.sum(x[w > 0]),
        lambda x, w: np.polyfit(x, w, 1)[0],
        lambda x, w: np.linalg.lstsq(x[:, None], w)[0][0],
    ],
    ids=["mask", "polyfit", "lstsq"],
)
def test_other_errors_than_value_errors(f, position):
    """The gradient by what the result does not depend on was there all the same."""
    assert np.all(np.isfinite(grad(f, position)(*filled([(3,), (3,)]))))
    for length in (1, 2):
        with pytest.raises((IndexError, TypeError, np.linalg.LinAlgError)):
            f(*filled([(3,), (length,)]))
        with pytest.raises(LengthError):
            grad(f, position)(*filled([(3,), (length,)]))


def test_code_for_calls_of_all_lengths_asks_too():
    """The fifth of the variants assumes nothing of lengths: an unread product was dropped."""

    def of(f):
        return grad(lambda x, w: f(x, w) + np.sum(x))

    variants = [lambda x, w, i=i: np.sum(x[1:] * w[:-1] * i) for i in range(5)]
    for f in variants:
        np.testing.assert_allclose(of(f)(*filled([(3,), (3,)]))[0], 1.0)
    broken = of(lambda x, w: np.sum(np.diff(w) * np.ones((2, len(x) - 1))))
    with pytest.raises(ValueError, match=SAID):
        broken(*filled([(3,), (1,)]))


def summed(x):
    return np.sum(x[:2] * 2 + np.ones(3)[: int(x[0])])


def spaced(x):
    return np.sum(x[:2] - np.linspace(0.0, 1.0, int(x[0])))


def of_masks(x):
    return np.sum(x[x > 1.5] - 2.0 * x[x < x[0]])


def unread_in_a_loop(x):
    total = 0.0
    for i in range(3):
        np.maximum(x[:2], np.ones(4)[: int(x[0])])
        total += x[i] ** 2
    return total


def stored_and_unread(x):
    y = np.zeros(4)
    y[: int(x[0])] = np.ones(2)
    return np.sum(x)


def stored_and_read(x):
    y = x * 2
    y[: int(x[0])] = np.ones(2)
    return np.sum(y)


def stored_part(x):
    y = x * 2
    y[:2] = np.ones(3)[: int(x[0])]
    return y[2]


def multiplied(x):
    return np.sum(x) + np.sum(np.ones((4, int(x[0]))) @ np.ones(2))


@pytest.mark.parametrize(
    "f",
    [
        summed,
        spaced,
        of_masks,
        unread_in_a_loop,
        stored_and_unread,
        stored_and_read,
        stored_part,
        multiplied,
    ],
)
@pytest.mark.parametrize("transform", [each for each in TRANSFORMS if each != "both"])
def test_lengths_that_values_decide_have_to_fit_too(f, transform):
    good, bad = np.array([2.0, 1.0, 0.5, 4.0]), np.array([3.0, 1.0, 2.0, 4.0])
    transformed = TRANSFORMS[transform](f)
    with pytest.raises(ValueError, match=SAID):
        f(bad)
    f(good)
    with pytest.raises(ValueError, match=SAID):
        transformed(bad)
    transformed(good)


def test_a_new_captured_array_counts_by_its_lengths():
    derived = grad(lambda x: x @ held[0])
    for length in (3, 4, 3, 4):
        held = [np.full(length, 2.0)]
        np.testing.assert_array_equal(derived(np.ones(length)), np.full(length, 2.0))
        with pytest.raises(ValueError, match=SAID):
            derived(np.ones(length + 1))


def checked(x, w):
    assert x.shape == w.shape, "shapes"
    return np.sum(x * w)


def chosen(x, w):
    return np.sum(x * w) if len(x) == len(w) else np.sum(x) * 5


def caught(x, w):
    try:
        return x @ w
    except ValueError:
        return np.sum(x) * 7


def product(x, w):
    if len(x) != len(w):
        return np.sum(x) * 3
    return x @ w


def turns(x, w):
    total = np.sum(x)
    for _ in range(int(w[0])):
        total = total + x @ w
    return total


def to_the_end(x, w):
    if len(x) == len(w):
        return np.sum(x * w)
    return x[0] + to_the_end(x[1:], w)


def by_halves(x, w):
    if len(x) < 2:
        return np.sum(x * w[:1])
    half = len(x) // 2
    return by_halves(x[:half], w) + 2 * by_halves(x[half:], w) + x[0]


def in_turn(x, w):
    if len(x) <= len(w):
        return then(x, w)
    return x[0] + in_turn(x[1:], w)


def then(x, w):
    if len(x) == len(w):
        return np.sum(x * w)
    return in_turn(x[1:], w)


def with_more(x, w):
    if len(x) == len(w):
        return np.sum(x * w)
    return with_more(x, np.concatenate([w, w[-1:]]))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", [to_the_end, by_halves, in_turn, with_more])
def test_calls_of_itself_have_lengths_of_their_own(f):
    x, w = np.arange(1.0, 6.0), np.array([2.0, 3.0, 4.0])
    assert jit(f)(x, w) == pytest.approx(f(x, w), rel=1e-12)
    np.testing.assert_allclose(grad(f)(x, w), gradient(lambda each: f(each, w), x), rtol=1e-7)
    np.testing.assert_allclose(grad(f)(x, x.copy()), gradient(lambda each: f(each, x), x))
    if f is not with_more:  # whose array only grows: a batch of it is refused
        both = vmap(grad(f), (0, None))(np.stack([x, x + 1]), w)
        np.testing.assert_allclose(both[0], grad(f)(x, w), rtol=1e-12)


def test_only_what_runs_has_to_fit():
    np.testing.assert_array_equal(grad(product)(np.ones(1), np.ones(3)), [3])
    x, w = np.ones(3), np.zeros(4)
    np.testing.assert_array_equal(grad(chosen)(x, w), [5, 5, 5])
    np.testing.assert_array_equal(grad(caught)(x, w), [7, 7, 7])
    np.testing.assert_array_equal(grad(turns)(x, w), [1, 1, 1])
    with pytest.raises(ValueError, match=SAID):
        grad(turns)(x, w + 1)
    with pytest.raises(AssertionError, match="shapes"):
        grad(checked)(x, w)


def spread_over_one_row(x, w):
    if w[0, 0] > 2.0:
        x = x[:1] * 1.0
        x += w
    return np.sum(x**2)


def multiplied_by_a_wide_matrix(x, w):
    if w[0, 0] > 2.0:
        x = np.stack([x[0], x[0]])[:, :1] * 1.0
        x @= np.ones((1, 2)) * w[0, 0]
    return np.sum(x**2)


@pytest.mark.parametrize("f", [spread_over_one_row, multiplied_by_a_wide_matrix])
def test_what_never_fits_is_refused_where_it_runs(f):
    x, w = np.full((2, 2), 3.0), np.ones((2, 2))
    np.testing.assert_allclose(grad(f)(x, w), 2 * x)
    for each in (f, grad(f), jit(f)):
        with pytest.raises(ValueError, match=r"shape|mismatch"):
            each(x, w * 3)


def test_the_refusal_says_where_and_which():
    with pytest.raises(LengthError, match=r"(?s)do not fit together: 3 and 4.*x \* w\n.*\^"):
        grad(dropped)(np.ones(3), np.ones(4))
    with pytest.raises(
        ValueError, match="; pass arrays whose lengths agree"
    ):  # where it is reached
        grad(turns)(np.ones(3), np.ones(4))


def copied_to(x):
    np.copyto(x, np.abs(x[1:] + 1.0))
    return np.sum(x)


def put_out(x):
    np.abs(x[1:] + 1.0, out=x)
    return np.sum(x)


@pytest.mark.parametrize("f", [copied_to, put_out])
def test_code_that_was_made_for_an_empty_array_asks_whether_lengths_fit(f):
    jitted = jit(f)
    for length in (0, 3, 2, 5):
        if length in (0, 2):
            assert jitted(np.ones(length)) == f(np.ones(length))
        else:
            with pytest.raises(ValueError, match=SAID):
                f(np.ones(length))
            with pytest.raises(LengthError):
                jitted(np.ones(length))


def assigned_in_a_loop(x, w):
    for _ in range(3):
        new = x * w
        x = new
    return np.sum(new)


def endless(x, w):
    while True:
        x = x * w
        if np.max(x) < 1:
            break
    return np.sum(x)


@pytest.mark.parametrize("f", [assigned_in_a_loop, endless])
def test_what_nothing_comes_to_is_refused_with_the_lengths_that_do_not_fit(f):
    where = r"test_lengths_have_to_fit\.py:\d+: lengths that do not fit together: 3 and 4"
    with pytest.raises(S2SError, match=rf"(?s)on the way there, {where}.*pass arrays whose"):
        grad(f)(np.ones(3), np.ones(4))
