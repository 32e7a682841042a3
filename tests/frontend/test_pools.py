"""A pool of which data say which one is changed, as people write it: servers, accounts, particles.

Each function gives what Python gives, in all modes.
"""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import grad, jit, jvp, vmap


@dataclass
class Account:
    balance: float
    fees: float = 0.0


class Server:
    def __init__(self, rate):
        self.rate, self.free_at = rate, 0.0

    def serve(self, arrival, work):
        self.free_at = max(arrival, self.free_at) + work / self.rate
        return self.free_at - arrival


class Particle:
    def __init__(self, position):
        self.pos, self.vel = np.array([position, 0.0]), np.array([1.0, position])

    def step(self, dt):
        self.pos = self.pos + dt * self.vel
        self.vel[1] -= 9.81 * dt


def deposit(account, amount):
    account.balance += amount
    account.fees += 0.01 * amount


def worth(accounts):
    return sum((k + 1) * each.balance**2 - each.fees for k, each in enumerate(accounts))


def jobs_for_the_first_that_is_free(x):
    servers = [Server(each) for each in x]
    total = 0.0
    for job in range(5):
        server = min(servers, key=lambda each: each.free_at)
        total += server.serve(0.3 * job, 1.0)
    return total


def at_an_index(x):
    pool = [Account(each) for each in x]
    i = int(np.argmax(x))
    pool[i].balance *= x[0]
    deposit(pool[(i + 1) % 3], x[1])
    return worth(pool)


def poorest_by_a_loop(x):
    accounts = [Account(each) for each in x]
    for _ in range(4):
        poorest = accounts[0]
        for account in accounts:
            if account.balance < poorest.balance:
                poorest = account
        deposit(poorest, 0.5 * x[0])
    return worth(accounts)


def transfer(x):
    accounts = [Account(each) for each in x]
    rich, *_, poor = sorted(accounts, key=lambda each: -each.balance)
    amount = 0.3 * (rich.balance - poor.balance)
    rich.balance -= amount
    poor.balance += amount
    accounts[1].fees += amount**2
    return worth(accounts) + rich.fees


def lowest_moves(x):
    pool = [Particle(each) for each in x]
    for _ in range(4):
        lowest = sorted(pool, key=lambda each: each.pos[1])[0]
        lowest.step(0.1)
        pool[0].vel[0] += lowest.pos[0]
    return sum(np.sum(each.pos**2) for each in pool)


def first_with_room(x):
    cells, rest = [{"level": each, "room": 1.0} for each in x], 0.9
    for _ in range(3):
        found = None
        for cell in cells:
            if cell["level"] < cell["room"]:
                found = cell
                break
        if found is not None:
            take = min(rest, found["room"] - found["level"])
            found["level"] += take
            rest -= take * 0.5
    return sum(each["level"] ** 2 for each in cells) + rest


def rows_by_numbers(x):
    table = [[each, 0.0] for each in x]
    for k in range(4):
        row = table[int(table[0][0] * 10 + k) % 3]
        row[1] += x[k % 3] * row[0]
    return sum(a * b for a, b in table)


def arrays_by_key(x):
    table = [np.array([each, 1.0]) for each in x]
    best = min(table, key=lambda row: row[0])
    best *= 2.0
    best[1] += x[0]
    table[int(x[2] * 2)][:] = best * x[1]
    return sum(np.sum(row**2) * (k + 1) for k, row in enumerate(table))


def another_in_its_place(x):
    pool = [Account(each) for each in x]
    spare = Account(0.0)
    i = int(x[0] * 3)
    pool[i], spare = spare, pool[i]
    spare.balance += 1.5
    pool[i].balance -= x[1]
    return worth(pool) + spare.balance**3


def leader_that_changes(x):
    accounts = [Account(each) for each in x]
    leader = accounts[0]
    for turn in range(5):
        deposit(leader, -0.2 * x[turn % 3])
        if leader.balance < 0.5:
            leader = accounts[(turn * 2 + 1) % 3]
    return worth(accounts)


def one_of_two_lists(x):
    high, low = [x[0]], [x[1]]
    for each in x:
        side = high if each > 0.5 else low
        side.append(each * side[0])
    return sum(high) * 3 + sum(low)


def those_who_have_enough(x):
    pool = [Account(each) for each in x]
    winners = []
    for account in pool:
        if account.balance > 0.5:
            winners.append(account)
    for winner in winners:
        winner.balance *= 1.1
    return worth(pool) + len(winners)


def filtered_and_ordered(x):
    pool = [Account(each) for each in x]
    some = [each for each in pool if each.balance > 0.3]
    ranked = sorted(some, key=lambda each: each.balance)
    if ranked:
        ranked[0].balance *= 2
        ranked[-1].fees += x[1]
    for k, each in enumerate(sorted(some, key=lambda each: each.balance, reverse=True)):
        each.balance += 0.1 * k
    return worth(pool) + worth(some) + worth(ranked)


def parts_of_those_there(x):
    pool = [Account(each) for each in x]
    some = [each for each in pool if each.balance > 0.3]
    for each in some[1:]:
        each.balance *= 2
    both = some + pool[:1]
    for each in both:
        each.balance += 1
    some.insert(0, pool[2])
    some.extend(both)
    some.pop(0).fees += x[0]
    for each in some:
        each.balance *= x[1]
    return worth(pool) + worth(some) + len(both)


def while_any_is_alive(x):
    pool = [Account(each) for each in x]
    for t in range(3):
        alive = [each for each in pool if each.balance > 0.2]
        if not alive:
            break
        hit = min(alive, key=lambda each: each.balance + each.fees)
        hit.balance -= 0.3 * x[t]
        hit.fees += 0.05
    return worth(pool) + len(alive)


def waiting_and_done(x):
    pool = [Account(each) for each in x]
    waiting, done = list(pool), []
    for _ in range(4):
        if not waiting:
            break
        one = waiting.pop(0)
        one.balance -= 0.4
        if one.balance > 0.1:
            waiting.append(one)
        else:
            done.append(one)
    for each in done:
        each.fees += 0.3 * x[0]
    return worth(pool) + worth(done) * 2 + len(waiting)


def shorter_while_it_is_read(x):
    pool = [Account(each) for each in x]
    some = [each for each in pool if each.balance > 0.3]
    for each in some:
        each.balance *= 2
        if len(some) > 2:
            some.pop()
    return worth(pool) + worth(some)


def rows_and_arrays_of_some(x):
    rows, arrays = [[each, 0.0] for each in x], [np.array([each, 1.0]) for each in x]
    for row in [each for each in rows if each[0] > 0.3]:
        row[1] += row[0] * 2
    some = [each for each in arrays if each[0] > 0.3]
    for each in some:
        each *= 2.0
    arrays[1][1] += x[0]
    kept = sum((k + 1) * np.sum(each) for k, each in enumerate(some))
    return kept + sum(a * b for a, b in rows) + sum(each[0] * each[1] for each in arrays)


def lists_that_a_loop_exchanges(x):
    rows = [[each, 0.0] for each in x]
    least = min(rows, key=lambda row: row[0])
    for each in x:
        if x[0] > 0.5:
            least[1] = each
            rows = rows[:2] + [[each, 1.0]]
    return least[1] + sum((k + 1) * (a + b) for k, (a, b) in enumerate(rows))


def all_but_the_one(x):
    pool = [Account(each) for each in x]
    best = max(pool, key=lambda each: each.balance)
    for each in pool:
        if each is best:
            each.balance *= 2
        else:
            each.fees += 0.5 * x[1]
    for each in [each for each in pool if each is not best]:
        each.balance -= 0.1
    return worth(pool)


def copies_of_them(x):
    pool = [Account(each) for each in x]
    one = pool[int(x[0] * 3)]
    its_copy, others = copy.copy(one), copy.deepcopy(pool)
    its_copy.balance += 1
    one.balance *= 2
    others[int(x[1] * 3)].balance += 5 * x[0]
    return worth(pool) + its_copy.balance**2 + worth(others)


PROGRAMS = [jobs_for_the_first_that_is_free, at_an_index, poorest_by_a_loop, transfer]
PROGRAMS += [lowest_moves, first_with_room, rows_by_numbers, arrays_by_key]
PROGRAMS += [another_in_its_place, leader_that_changes, one_of_two_lists]
PROGRAMS += [those_who_have_enough, filtered_and_ordered, parts_of_those_there]
PROGRAMS += [while_any_is_alive, waiting_and_done, shorter_while_it_is_read]
PROGRAMS += [rows_and_arrays_of_some, lists_that_a_loop_exchanges]
PROGRAMS += [all_but_the_one, copies_of_them]
XS = (np.array([0.713, 0.217, 0.937]), np.array([0.41, 0.83, 0.62]))


@pytest.mark.thinned(6)
@pytest.mark.filterwarnings("ignore:.*has no batched form")
@pytest.mark.parametrize("f", PROGRAMS)
def test_who_is_picked_is_changed(f):
    for x in XS:
        slopes = gradient(f, x)
        np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(grad(f)(x), slopes, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], np.sum(slopes), rtol=1e-5)
    np.testing.assert_allclose(vmap(f)(np.stack(XS)), [f(x) for x in XS], rtol=1e-12)


def returned_as_it_is(x):
    rows = [np.array([each, 1.0]) for each in x]
    best = min(rows, key=lambda row: row[0])
    rows[1][1] = x[0]
    return best


def kept_in_an_array(x):
    rows = [np.array([each, 1.0]) for each in x]
    best = max(rows, key=lambda row: row[0])
    rows[0][1] = x[1]
    return np.stack([best, rows[0]])


def returned_though_it_may_be_another(x):
    rows = [np.array([each, 1.0]) for each in x]
    i = int(x[0] * 3)
    rows[i][1] = x[0]
    rows[0] *= 2
    return rows[i]


@pytest.mark.parametrize(
    "f", [returned_as_it_is, kept_in_an_array, returned_though_it_may_be_another]
)
def test_an_array_that_is_picked_is_a_value_where_it_is_used(f):
    for x in XS:
        np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(
            grad(lambda x: np.sum(f(x) ** 2))(x), gradient(lambda x: f(x) ** 2, x), rtol=1e-5
        )


def outside_of_the_list(x):
    pool = [Account(each) for each in x]
    pool[int(x[0] * 10)].balance += 1.0
    return worth(pool)


def put_outside_of_the_list(x):
    pool = [Account(each) for each in x]
    kept = pool[0]
    pool[int(x[0] * 10)] = pool[1]
    kept.balance += 1.0
    return worth(pool)


def outside_of_those_there(x):
    pool = [Account(each) for each in x]
    some = [each for each in pool if each.balance > 5 or each.balance < 0]
    some[0].balance += 1.0
    return worth(pool)


@pytest.mark.parametrize(
    "f", [outside_of_the_list, put_outside_of_the_list, outside_of_those_there]
)
def test_an_index_outside_of_the_list_raises(f):
    for where in (f, jit(f), grad(f)):
        with pytest.raises(IndexError, match="out of range"):
            where(XS[0])
    near = np.array([-0.213, 0.2, 0.3])
    np.testing.assert_allclose(jit(f)(near), f(near), rtol=1e-12)
