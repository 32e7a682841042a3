"""A helper is given what it reads of an object, not the histories that it holds as well."""

import numpy as np
import pytest

from s2s_ad import grad, jit, jvp, value_and_grad, vmap
from s2s_ad.diagnostics import S2SError
from transforms.differences import agrees, differences

X = np.array([0.3, -0.7, 1.9])


class Body:
    def __init__(self, x, rate):
        self.x, self.v, self.rate, self.log = x, np.zeros(3), rate, []

    def force(self):
        stretch = np.sin(self.x)
        return self.rate * stretch - self.x

    def energy(self):
        kinetic = np.sum(self.v**2)
        return kinetic + self.force() @ self.x

    def record(self):
        made = self.energy()
        scaled = made * self.rate
        return scaled, self.log

    def step(self):
        self.v = self.v + 0.1 * self.force()
        self.x = self.x + 0.1 * self.v
        self.log.append(self.energy())


def with_a_history(x):
    body = Body(x, x[0] * x[1])
    for _ in range(4):
        body.step()
    return sum(body.log) + np.sum(body.x)


def of_a_dict(x):
    def slope(state):
        turned = np.cos(state["x"])
        return turned * state["k"]

    state = {"k": x[2], "past": [], "x": x}
    for _ in range(3):
        state["past"].append(np.sum(state["x"]))
        state["x"] = state["x"] + 0.2 * slope(state)
    return np.sum(np.array(state["past"]) ** 2) + np.sum(slope(state))


def of_a_list_inside(x):
    def last(pair):
        first = pair[0] * 2.0
        return np.sin(first) + first

    past = [x[0]]
    for k in range(3):
        past.append(last((x[k], past)))
    return sum(past)


KEPT = [with_a_history, of_a_dict, of_a_list_inside]


def hands_back_what_it_does_not_read(x):
    body = Body(x, x[2])
    total = 0.0
    for _ in range(2):
        body.step()
        scaled, log = body.record()
        total = total + scaled * log[0]
    return total


def asks_for_a_length(x):
    def mean(body):
        total = np.sum(np.exp(body.x))
        return total / (1 + len(body.log))

    body = Body(x, x[1])
    made = []
    for _ in range(3):
        made.append(mean(body))
        body.log.append(made[-1])
    return sum(made)


def one_array_in_two_places(x):
    def work(a, body):
        scaled = a * 2.0
        return np.sum(scaled**2)

    body = Body(x, x[0])
    return work(body.x, body) + work(body.v + x, body) * work(x[:2], Body(x[1:], x[2]))


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "fn",
    [*KEPT, hands_back_what_it_does_not_read, asks_for_a_length, one_array_in_two_places],
)
def test_values_and_gradients(fn):
    agrees(fn, X)
    second = differences(lambda x: np.sum(grad(fn)(x)), X)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(fn)(x)))(X), second, atol=1e-5)


@pytest.mark.parametrize("fn", KEPT)
def test_no_history_is_copied_or_given_away(fn):
    text = str(value_and_grad(fn).source(X))
    assert "[:]" not in text
    assert "accumulate" not in text
    assert not any(part in text for part in ("self_log", "state_past", "pair_1"))


class Refused(Exception):
    pass


class Account:
    def __init__(self, balance):
        self.balance, self.ledger = balance, [("open", balance)]

    def take(self, amount):
        if amount > self.balance:
            raise Refused(amount)
        self.balance -= amount
        self.ledger.append(("taken", amount))
        self.ledger.append(("left", self.balance))


@pytest.mark.filterwarnings("ignore:.*no batched form")
def test_what_a_method_changes_after_its_guard_is_known_where_the_guard_has_raised():
    """A list that grows raises nothing, so that it is the guard that has failed, or nothing has."""

    def left(balance, rate):
        account, refused = Account(balance), 0
        for _ in range(5):
            account.balance *= 1 + rate
            try:
                account.take(30.0)
            except Refused:
                refused += 1
        return (
            account.balance + 0.1 * sum(n for what, n in account.ledger if what == "left") - refused
        )

    at = np.array([100.0, 0.05])
    expected = differences(lambda x: left(x[0], x[1]), at)
    assert jit(left)(*at) == left(*at)
    np.testing.assert_allclose(grad(left, (0, 1))(*at), expected, rtol=1e-6)
    np.testing.assert_allclose(vmap(grad(left))(*np.stack([at, at], 1))[1], expected[0], rtol=1e-6)


class Joint:
    def __init__(self, length, parent):
        self.length, self.parent, self.angle = length, parent, 0.0

    def pose(self):
        if self.parent is None:
            return np.zeros(2), self.angle
        at, angle = self.parent.pose()
        along = np.array([np.cos(angle), np.sin(angle)])
        return at + self.parent.length * along, angle + self.angle


def chain(x):
    """Each joint holds the one before it, so that no two are alike."""
    joints = []
    for i, angle in enumerate(x):
        joint = Joint(1.0 / (i + 1), joints[-1] if joints else None)
        joint.angle = angle
        joints.append(joint)
    at, angle = joints[-1].pose()
    return np.sum(at**2) + np.sin(angle)


def rows_of_two_kinds(x):
    made = []
    for k in range(3):
        if x[k] > 0:
            made.append((x[k],))
        else:
            made.append((x[k], x[k] ** 2))
    return sum(sum(each) for each in made)


@pytest.mark.parametrize("fn", [chain, rows_of_two_kinds])
def test_a_loop_is_written_out_whose_items_are_of_several_kinds(fn):
    expected = differences(fn, X)
    np.testing.assert_allclose(grad(fn)(X), expected, atol=1e-6)
    np.testing.assert_allclose(jvp(fn, X, np.ones(3))[1], np.sum(expected), atol=1e-6)
    batch = vmap(grad(chain))(np.stack([X, X + 0.1]))
    np.testing.assert_allclose(batch[1], differences(chain, X + 0.1), atol=1e-6)


def grows_until_it_is_large(x):
    made = [Joint(x[0], None)]
    while made[-1].length < 3.0:
        made.append(Joint(made[-1].length + x[2], made[-1]))
    return made[-1].length


def test_how_many_only_the_run_knows_is_refused():
    with pytest.raises(S2SError, match="containers of several structures"):
        grad(grows_until_it_is_large)(X)
