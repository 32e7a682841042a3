"""A list of objects that data index is a list for each attribute: what is read and changed at an
index is an element of these, however many objects there are."""

import numpy as np
import pytest

from api.oracles import gradient
from s2s_ad import grad, jit, jvp, vmap
from s2s_ad.diagnostics import SharedMemoryError


class Account:
    def __init__(self, balance, rate):
        self.balance, self.rate = balance, rate

    def grow(self):
        if self.balance > 1.5:
            self.balance *= 1 + self.rate
        else:
            self.rate = self.rate * 2


class Bank:
    def __init__(self, x):
        self.accounts, self.fees = made(x), 0.0

    def transfer(self, i, j, amount):
        if self.accounts[i].balance > amount:
            self.accounts[i].balance -= amount
            self.accounts[j].balance += 0.9 * amount
            self.fees += 0.1 * amount


def made(x):
    return [Account(each, 0.1 * i) for i, each in enumerate(x)]


def worth(accounts):
    return sum(each.balance**2 * (1 + each.rate) for each in accounts)


def deposit(account, amount):
    account.balance += amount * account.rate
    account.rate = 0.5 * account.rate + 0.1 * account.balance


def at_an_index(x, places):
    accounts = made(x)
    for i in places:
        accounts[i].balance *= 1.1
    return worth(accounts)


def by_a_method(x, places):
    accounts = made(x)
    for i in places:
        accounts[i].grow()
    return worth(accounts)


def by_a_function(x, places):
    accounts = made(x)
    for i in places:
        deposit(accounts[i], x[1])
    return worth(accounts)


def two_that_may_be_one(x, places):
    accounts = made(x)
    for k in range(len(places) - 1):
        i, j = places[k], places[k + 1]
        a, b = accounts[i], accounts[j]
        a.balance += 0.5 * b.balance
        b.balance *= 1.2
        a.rate += 0.1 * b.balance
    return worth(accounts)


def one_and_all(x, places):
    accounts = made(x)
    for i in places:
        accounts[i].balance += 1.0
        for k, each in enumerate(accounts):
            each.balance *= 1 + 0.01 * k
    return worth(accounts)


def exchanged(x, places):
    accounts = made(x)
    for k in range(len(places) - 1):
        i, j = places[k], places[k + 1]
        accounts[i], accounts[j] = accounts[j], accounts[i]
        accounts[i].balance += x[1]
    return worth(accounts) + accounts[0].balance


def on_a_condition(x, places):
    accounts = made(x)
    for i in places:
        if accounts[i].balance > 1:
            accounts[i].balance -= x[2]
        else:
            accounts[i].rate += 0.4
            break
    return worth(accounts)


def outside_of_it(x, places):
    accounts = made(x)
    for i in places:
        try:
            accounts[i + 1].balance *= 3.0
        except IndexError:
            accounts[0].balance += 1.0
    return worth(accounts)


def of_an_object(x, places):
    bank = Bank(x)
    for k in range(len(places) - 1):
        i, j = places[k], places[k + 1]
        bank.transfer(i, j, 0.3 * x[0])
    return worth(bank.accounts) + bank.fees


def dicts_and_lists(x, places):
    dicts, lists = [{"b": each, "r": 0.1} for each in x], [[each, 0.1] for each in x]
    for i in places:
        dicts[i]["b"] += dicts[i]["r"]
        dicts[i]["r"] *= 2
        lists[i][0] += lists[i - 1][1] * x[0]
    return sum(each["b"] ** 2 * each["r"] for each in dicts) + sum(a * b for a, b in lists)


def whole_numbers(x, places):
    accounts = [Account(0, 0) for _ in x]
    for i in places:
        accounts[i].rate += 1
        accounts[i].balance += x[i] * accounts[i].rate
    return sum(each.balance * each.rate for each in accounts)


COLUMNS = [at_an_index, by_a_method, by_a_function, two_that_may_be_one, one_and_all, exchanged]
COLUMNS += [on_a_condition, outside_of_it, of_an_object, dicts_and_lists, whole_numbers]
X = np.array([1.3, 0.7, 2.1, 0.4])


@pytest.mark.filterwarnings("ignore:.*has no batched form")
@pytest.mark.thinned(12)
@pytest.mark.parametrize("places", [[0, 2, 1], [3, 3, 1], [0, 0, 0]], ids=str)
@pytest.mark.parametrize("f", COLUMNS)
def test_columns_in_all_modes(f, places):
    places = np.array(places)
    slopes = gradient(lambda x: f(x, places), X)
    np.testing.assert_allclose(jit(f)(X, places), f(X, places), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(X, places), slopes, rtol=1e-5, atol=1e-6)
    tangent = jvp(lambda x: f(x, places), X, np.ones(4))[1]
    np.testing.assert_allclose(tangent, np.sum(slopes), rtol=1e-5)
    each = vmap(grad(f), (None, 0))(X, np.stack([places, places]))
    np.testing.assert_allclose(each, [slopes, slopes], rtol=1e-5, atol=1e-6)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("f", COLUMNS)
def test_text_does_not_grow_with_the_number_of_objects(f):
    few, many = (grad(f).source(np.ones(n), np.array([0, 1])) for n in (3, 300))
    assert few.count("\n") == many.count("\n") < 90


# ---- who else has the object ---------------------------------------------------------------------


def read_before(x, i, j):
    items = made(x)
    a, b = items[i], items[j]
    a.balance += 1.0
    return b.balance


def read_before_it_grew(x, i, j):
    items = made(x)
    a, b = items[i], items[j]
    items.append(Account(5.0, 1.0))
    a.balance += 1.0
    return b.balance


def changed_in_the_list_that_grew(x, i, j):
    items = made(x)
    a = items[i]
    items.append(Account(5.0, 1.0))
    items[j].balance += 1.0
    return a.balance


def put_into_it(x, i, j):
    first, items = Account(x[0], 0.5), []
    items.append(first)
    for each in x:
        items.append(Account(each, 0.1))
    items[i].balance += 1.0
    items[j].rate += first.rate
    return first.balance + first.rate


def put_into_it_before_it_grew(x, i, j):
    first, items = Account(x[0], 0.5), []
    items.append(first)
    for each in x:
        items.append(Account(each, 0.1))
    a = items[i]
    items.append(Account(x[j], 6.0))
    a.balance += 1.0
    return first.balance


def in_a_copy(x, i, j):
    items = made(x)
    others = items[:]
    items[i].balance += 1.0
    return others[j].balance


def of_some(x, i, j):
    items = made(x)
    some = [items[i], items[j]]
    some[0].balance += 1.0
    return items[j].balance + some[1].balance


def on_a_path(x, i, j):
    items = made(x)
    a, b = items[i], items[j]
    if x[0] > 1:
        a.balance += 1.0
    return b.balance


def one_of_two(x, i, j):
    items = made(x)
    a = items[i] if x[0] > 1 else items[j]
    a.balance += 1.0
    return items[j].balance


def the_same_many_times(x, i, j):
    one = Account(x[0], 0.1)
    items = [one for _ in x]
    items[i].balance += 1.0
    return items[j].balance + one.balance


def the_same_or_not(x, i, j):
    items = made(x)
    total = 0.0
    for each in items:
        if each is not items[i]:
            total += each.balance
    items[j].balance += total
    return items[i].balance


def backwards(x, i, j):
    items = made(x)
    a = items[i]
    items.reverse()
    a.balance += 1.0
    items[j].balance *= 2.0
    return a.balance + items[0].balance


def of_a_generator(x, i, j):
    items = made(x)
    each = iter(items)
    next(each).balance += 1.0
    items[i].balance *= 2.0
    return next(each).balance + items[j].balance


def another_kind(x, i, j):
    items = made(x)
    items[i].balance = x[:2] * 2.0
    return np.sum(items[j].balance)


def lists_before_they_grew(x, i, j):
    items = []
    for each in x:
        items.append([each, 1.0])
    a, b = items[i], items[j]
    items.append([5.0, 6.0])
    a[0] += 1.0
    return b[0]


def a_list_put_into_it(x, i, j):
    first, items = [x[0], 3.0], []
    items.append(first)
    for each in x:
        items.append([each, x[j]])
    a = items[i]
    items.append([5.0, 6.0])
    a[0] += 1.0
    return first[0]


def lists_of_any_length(x, i, j):
    items = []
    for each in x:
        items.append([other for other in x if other > each])
    a, b = items[i], items[j]
    items.append([1.0])
    a.append(1.0)
    return sum(b)


SHARED = [read_before, read_before_it_grew, changed_in_the_list_that_grew, put_into_it]
SHARED += [put_into_it_before_it_grew, in_a_copy, of_some, on_a_path, one_of_two]
SHARED += [the_same_many_times, the_same_or_not, backwards, of_a_generator, another_kind]
SHARED += [lists_before_they_grew, a_list_put_into_it]


@pytest.mark.thinned(6)
@pytest.mark.parametrize("i, j", [(1, 1), (0, 0), (2, 0), (-1, 3)])
@pytest.mark.parametrize("f", SHARED)
def test_who_else_has_the_object_sees_the_change(f, i, j):
    np.testing.assert_allclose(jit(f)(X, i, j), f(X, i, j), rtol=1e-12)


def test_lists_of_any_length_that_may_be_one_are_refused():
    with pytest.raises(SharedMemoryError):
        jit(lists_of_any_length)(X, 1, 1)
