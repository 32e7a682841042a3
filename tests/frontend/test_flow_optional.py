"""Values that are None on some paths: what Core says of them, and their derivatives."""

import dataclasses

import numpy as np
import pytest

from frontend.flow import assert_like_python, lowered
from s2s_ad import S2SError, grad, vmap
from s2s_ad.check import central_differences

XS = np.array([1.0, 0.3, 2.0, -0.5, -1.5, 0.7])
ROWS = np.array([[1.0, 0.3, 2.0], [-0.5, 3.0, 0.7]])


@dataclasses.dataclass
class Hit:
    distance: float
    normal: float


class Smoother:
    def __init__(self, rate):
        self.rate, self.last = rate, None

    def step(self, x):
        if self.last is None:
            self.last = x
        else:
            self.last = self.rate * self.last + (1 - self.rate) * x
        return self.last


def smallest(xs, w):
    best = None
    for x in xs:
        y = w * x * x - x
        if best is None or y < best:
            best = y
    return best


def first_above(xs, limit):
    found = None
    for x in xs:
        if x > limit:
            found = x * x
            break
    return 0.0 if found is None else found


def bracketed(x):
    """Newton's method within the ends that were found, of which there is none at first."""
    low = high = None
    guess = x
    for _ in range(3):
        excess = guess * guess - x
        if excess < 0.0:
            low = guess
        else:
            high = guess
        guess = guess - excess / (2 * guess)
        if low is not None and high is not None and not low < guess < high:
            guess = 0.5 * (low + high)
    return guess


def differences(xs):
    last, total = None, 0.0
    for x in xs:
        if last is not None:
            total += (x - last) ** 2
        last = x
    return total


def second_differences(xs):
    a, b = None, None
    total = 0.0
    for x in xs:
        if a is not None and b is not None:
            total += (a - 2 * b + x) ** 2
        a, b = b, x
    return total


def forgets(xs, w):
    last, total = None, 0.0
    for x in xs:
        if x > 0:
            if last is not None:
                total += w * last * x
            last = x
        elif last is not None and x < -1:
            last = None
    return total + (0.0 if last is None else last)


def state(xs, w):
    h = None
    for x in xs:
        h = w * x * np.ones(2) if h is None else np.tanh(h * w + x)
    if h is None:
        raise ValueError("nothing")
    return h.sum()


def best_pair(xs):
    best = None
    for i, x in enumerate(xs):
        y = np.sin(x) * x
        if best is None or y > best[0]:
            best = (y, i)
    y, i = best
    return y * (1 + i)


def best_row(rows, w):
    best = None
    for row in rows:
        scaled = row * w
        if best is None or scaled.sum() > best.sum():
            best = scaled
    best[0] = best[1] * 2
    return (best**2).sum()


def of_each_row(rows):
    total = 0.0
    for row in rows:
        best = None
        for x in row:
            if best is None or x > best:
                best = x
        total += best**2
    return total


def hit(b, a):
    d = b * b - a
    if d < 0:
        return None
    root = np.sqrt(d)
    return Hit(root - b, root * b)


def nearest(bs, a):
    best = None
    for b in bs:
        found = hit(b, a)
        if found is None:
            continue
        if best is None or found.distance < best.distance:
            best = found
    if best is None:
        return 0.0 * a
    return best.distance * 2 + best.normal


def by_walrus(bs, a):
    total = 0.0
    for b in bs:
        if (found := hit(b, a)) is not None:
            total += found.distance * found.normal
    return total


def attribute(xs, rate):
    smoother, total = Smoother(rate), 0.0
    for x in xs:
        total += smoother.step(x) ** 2
    return total


def in_a_dict(xs):
    found = {"best": None, "sum": 0.0}
    for x in xs:
        found["sum"] += x * x
        if found["best"] is None or x > found["best"]:
            found["best"] = x
    return found["best"] * found["sum"]


def asserted(xs):
    top = None
    for x in xs:
        top = x if top is None else max(top, x)
    assert top is not None
    return top**3


def until_settled(x):
    last = None
    while last is None or abs(x - last) > 1e-3:
        last = x
        x = 0.5 * (x + 2.0 / x)
    return x * last


def or_else(x):
    y = None
    if x > 0:
        y = x * 3
    return (y or 1.5 * x) * x


def not_none(x):
    y = None
    if x > 1:
        y = x * x
    if not (y is None or x < 0):
        return y * 2
    return x


def nothing_on_one_path(x):
    if x < 5:
        return x * x


def is_a_number(x):
    y = x * 2 if x > 0 else None
    return (x if y == 3.0 else -x) * (2.0 if y != 3.0 else 1.0)


def found_by_one_of_two_breaks(x):
    n, hit = 1.0, None
    for i in range(len(x)):
        n = n + x[i] ** 2
        if n > 3.0:
            hit = n * x[i]
            break
        if n < -2.0:
            hit = n + x[i]
            break
    if hit is None:
        return n
    return hit * n


def found_in_a_helper(x):
    return found_by_one_of_two_breaks(x) * found_by_one_of_two_breaks(0.1 * x)


def asked_for_its_kind(x):
    y = x * 2 if x > 0 else None
    if isinstance(y, (str, dict)):
        return x
    return x * y if isinstance(y, float) else -x


def asked_whether_it_is_none_or_a_list(xs, limit):
    found = None
    for x in xs:
        if x > limit:
            found = [x, limit * x]
    if isinstance(found, (type(None), str)):
        return xs[0] * limit
    return found[0] * found[1]


PROGRAMS = [
    (asked_for_its_kind, (1.5,)),
    (asked_for_its_kind, (-1.5,)),
    (asked_whether_it_is_none_or_a_list, (XS, 1.5)),
    (asked_whether_it_is_none_or_a_list, (XS, 5.0)),
    (bracketed, (0.4,)),
    (bracketed, (2.0,)),
    (found_by_one_of_two_breaks, (XS,)),
    (found_by_one_of_two_breaks, (0.1 * XS,)),
    (found_in_a_helper, (XS,)),
    (is_a_number, (1.0,)),
    (is_a_number, (-1.5,)),
    (smallest, (XS, 1.3)),
    (first_above, (XS, 1.5)),
    (first_above, (XS, 5.0)),
    (differences, (XS,)),
    (second_differences, (XS,)),
    (forgets, (XS, 0.7)),
    (state, (XS, 0.4)),
    (best_pair, (XS,)),
    (best_row, (ROWS, np.array([1.0, 0.5, 2.0]))),
    (of_each_row, (ROWS,)),
    (nearest, (np.array([0.5, 1.5, 2.0]), 1.0)),
    (nearest, (np.array([0.5, 0.5, 0.2]), 1.0)),
    (by_walrus, (np.array([0.5, 1.5, 2.0]), 1.0)),
    (attribute, (XS, 0.3)),
    (in_a_dict, (XS,)),
    (asserted, (XS,)),
    (until_settled, (1.3,)),
    (or_else, (1.2,)),
    (or_else, (-1.2,)),
    (not_none, (1.5,)),
    (not_none, (0.5,)),
    (nothing_on_one_path, (1.5,)),
]


# ---- where it is None, and used ------------------------------------------------------------------


def test_using_none_raises_as_python_does():
    with pytest.raises(TypeError, match="best is None"):
        grad(best_pair)(XS[:0])
    with pytest.raises(TypeError, match=r"the result of smallest .* is None"):
        grad(smallest)(XS[:0], 1.3)
    with pytest.raises(TypeError, match=r"the result of nothing_on_one_path .* is None"):
        grad(nothing_on_one_path)(6.5)
    with pytest.raises(ValueError, match="nothing"):
        grad(state)(XS[:0], 0.4)
    with pytest.raises(TypeError, match="is None"):
        vmap(nothing_on_one_path)(np.array([1.5, 6.5]))


def compared(x):
    y = x * 2 if x > 0 else None
    other = x if x < 5 else None
    return x if y == other else -x


def printed(x):
    y = x * 2 if x > 0 else None
    print(y)
    return x


def matched(x):
    y = x * 2 if x > 0 else None
    match y:
        case None:
            return x
    return -x


@pytest.mark.parametrize("function", [compared, printed, matched])
def test_where_python_takes_none_too_the_question_has_to_be_asked(function):
    with pytest.raises(S2SError, match="may be None") as caught:
        lowered(function, (1.5,))
    assert "if x is not None" in str(caught.value)
    assert caught.value.origin is not None


class Node:
    def __init__(self, value, below):
        self.value, self.below = value, below


def chain(xs):
    top = None
    for i in range(3):
        top = Node(xs[i], top)
    total = 0.0
    while top is not None:
        total = total * 0.5 + top.value**2
        top = top.below
    return total


def test_chains_are_taken_where_their_length_is_known():
    assert_like_python(chain, (XS,))
    expected = central_differences(chain, (XS,))[0]
    np.testing.assert_allclose(grad(chain)(XS), expected, atol=1e-7)


def equal(x, y):
    if x == y:
        return x * y
    return x - y


def test_a_comparison_of_two_values_is_a_condition_like_any():
    assert_like_python(equal, (1.5, 2.5))
    assert grad(equal)(1.5, 1.5) == 1.5
