"""Objects and functions of which data pick one: what is done with the value is done with each."""

import copy
import dataclasses
import enum
import functools
import math
import warnings

import numpy as np
import pytest

from frontend.every_mode import assert_both_modes
from s2s_ad import S2SError, grad, jit, jvp, value_and_grad, vmap

pytestmark = pytest.mark.thinned(2)

X = np.array([0.5, -1.2, 0.8, 1.9, -0.3])


class Spring:
    def __init__(self, k, rest=1.0):
        self.k = k
        self.rest = rest

    def force(self, x):
        d = x - self.rest
        return -self.k * d

    @property
    def stiffness(self):
        return 2 * self.k


class Damper:
    def __init__(self, c):
        self.c = c

    def force(self, x):
        return -self.c * x**2

    stiffness = 0.0


class Hard(Spring):
    def force(self, x):
        base = super().force(x)
        return base - 0.3 * x**3


SPRING, DAMPER, HARD = Spring(2.0), Damper(0.7), Hard(1.5, 0.2)
ELEMENTS = [SPRING, DAMPER, HARD]
RATES = [Spring(0.1 * i) for i in range(6)]


def leaky(z, a=0.1):
    out = np.where(z > 0, z, a * z)
    return out


# ---- picked by a condition -----------------------------------------------------------------------


def function_of_a_choice(x):
    f = np.sin if x[0] > 0 else np.cos
    return np.sum(f(x))


def function_of_branches(x):
    if x[0] > x[1]:
        act = leaky
    elif x[2] > 5:
        act = np.tanh
    else:
        act = lambda v: v**3
    return np.sum(act(x) * x)


def captured_objects(x):
    el = SPRING if x[1] > 0 else DAMPER
    return el.force(x[0]) * el.force(x[3]) + el.stiffness * x[2]


def made_inside(x):
    a, b = Spring(x[0]), Damper(x[1])
    el = a if x[2] > 0 else b
    return el.force(x[3]) * 2


def made_in_branches(x):
    if x[0] > 0:
        el = Spring(x[1], rest=x[2])
    else:
        el = Damper(x[3])
    return el.force(x[0]) + el.stiffness


def class_of_a_choice(x):
    kind = Spring if x[0] > 0 else Damper
    return kind(x[1]).force(x[3])


def methods_and_partials(x):
    force = SPRING.force if x[0] > 0 else DAMPER.force
    slope = 0.3 if x[1] > 0 else 0.6
    act = functools.partial(leaky, a=slope) if x[2] > 0 else math.exp
    total = np.sum if x[0] > 0 else np.mean
    return force(x[1]) * act(x[4]) * total(x)


def several_flags(x):
    f = np.sin if x[0] > 0 else np.cos
    g = np.exp if x[1] > 0 else f
    h = g if x[2] > 0 else np.tanh
    return f(x[3]) + g(x[3]) + h(x[4])


def handed_to_functions(x):
    def twice(f, v):
        y = f(v)
        return f(y) + y

    f = np.sin if x[0] > 0 else np.exp
    return twice(f, x[1]) + (lambda v, act=f: act(v))(x[2]) + sum(map(f, [x[3], x[4]]))


# ---- picked by a number --------------------------------------------------------------------------


def by_the_largest(x):
    el = ELEMENTS[np.argmax(x[:3])]
    return el.force(x[0]) + el.stiffness * x[1]


def by_a_number_below_zero(x):
    k = int(np.argmax(x[:3])) - 1
    return ELEMENTS[k].force(x[1])


def from_a_table_of_pairs(x):
    table = [(1.0, SPRING), (2.0, DAMPER), (3.0, HARD)]
    weight, el = table[int(np.argmax(x[:3]))]
    return weight * el.force(x[1])


def from_lists_in_a_list(x):
    grid = [[np.sin, np.cos], [np.tanh, leaky]]
    i, j = int(x[0] > 0), float(x[1]) > 0
    return grid[i][j](x[2])


def as_keys_and_members(x):
    weights = {SPRING: 1.0, DAMPER: 2.0, HARD: 3.0}
    el = ELEMENTS[int(np.argmax(x[:3]))]
    some = {SPRING, HARD}
    place = ELEMENTS.index(el)
    return weights[el] * x[0] ** 2 + weights.get(el, 0.0) * place + (x[1] if el in some else x[2])


def from_dicts(x):
    k = int(np.argmax(x[:3]))
    acts = {0: np.sin, 1: np.cos, 2: leaky}
    by_sign = {True: SPRING, False: DAMPER}
    some = {0: x[1] ** 2, 5: 3.0}
    other = some[k] if k in some else x[4]
    return acts[k](x[1]) * by_sign[bool(x[0] > 0)].force(x[2]) + some.get(k, x[3]) * other


def one_of_many(x):
    total = 0.0
    for i in range(len(x)):
        total += RATES[int(np.floor(np.abs(x[i]) * 5.1)) % 6].k * x[i] ** 2
    return total


def functions_in_turn(x):
    fs = [np.sin, np.cos, lambda v: v**2, functools.partial(leaky, a=0.3)]
    y = x[0]
    for i in np.argsort(x[:4]):
        y = fs[i](y) + 0.1
    return np.sum(y)


def where_no_number_is_whole(x):
    table = [SPRING, DAMPER]
    if x[0] > 100:
        return table[x[0]].force(x[1])
    return table[0].force(x[1])


# ---- carried by loops ----------------------------------------------------------------------------


def state_of_functions(xs):
    state, c = start, 0.3
    for x in xs:
        state, c = state(c, x)
    return c * (2.0 if state is stop else 3.0)


def start(c, v):
    return (middle if v > 0 else stop), c + v


def middle(c, v):
    return (stop if c > 2 else start), c * 1.1 + v**2


def stop(c, v):
    return stop, c


def until_it_stops(x):
    state, c, n = start, x[0], 0
    while state is not stop and n < 20:
        state, c = state(c, x[1] + 0.8)
        n += 1
    return c


def swapped_in_a_loop(x):
    f, g, n, y = np.sin, np.cos, 0, x[0]
    while n < 6:
        y = f(y) + x[1]
        if y > 0.2:
            f, g = g, f
        n += 1
    return y


def none_at_first(xs):
    last, total = None, 0.0
    for x in xs:
        if last is not None:
            total += last.force(x)
        if x > 1:
            last = SPRING
        elif x > 0:
            last = DAMPER
    return total


def the_best(x):
    best, score = None, -np.inf
    for el in ELEMENTS:
        s = el.force(x[0]) ** 2
        if s > score:
            best, score = el, s
    return best.force(x[1]) * score + max(ELEMENTS, key=lambda e: e.force(x[2])).force(x[3])


def made_for_each(x):
    def made(v):
        if v > 1:
            return Spring(v)
        if v > 0:
            return Damper(v)
        return Hard(v, rest=0.5)

    elements = [made(v) for v in x]
    return sum(e.force(0.3) for e in sorted(elements, key=lambda e: e.force(0.4)))


class Phase(enum.Enum):
    COLD = "cold"
    WARM = "warm"
    HOT = "hot"


def phases(xs):
    phase, total = Phase.COLD, 0.0
    for x in xs:
        if phase is Phase.COLD and x > 0:
            phase = Phase.WARM
        elif phase == Phase.WARM and x < 0:
            phase = Phase.HOT
        total += {Phase.COLD: 1.0, Phase.WARM: 2.0, Phase.HOT: 3.0}[phase] * x**2
    return total * len(phase.name)


# ---- changed -------------------------------------------------------------------------------------


class Sum:
    def __init__(self):
        self.total = 0.0

    def add(self, v):
        self.total += v


class Product:
    def __init__(self):
        self.total = 1.0

    def add(self, v):
        self.total *= v


def objects_that_change(xs):
    a, b, c = Sum(), Product(), Sum()
    for x in xs:
        (a if x > 0 else b).add(x)
        (a if x > 1 else c).add(x * x)
    return a.total * b.total + c.total


def attributes_set_through_it(x):
    a, b = Spring(x[0]), Damper(x[1])
    t = a if x[2] > 0 else b
    c = copy.copy(t)
    c.k = 10.0
    t.extra, t.k = x[3], 4.0
    return t.extra * t.k + a.force(x[4]) + c.k * x[0]


class Model:
    def __init__(self, strategy):
        self.strategy = strategy
        self.seen = []

    def step(self, v):
        y = self.strategy(v)
        self.seen.append(y)
        if y > 0.5:
            self.strategy = np.cos
        return y


def attribute_that_is_another(x):
    model = Model(np.sin)
    return sum(model.step(v) for v in x) + sum(model.seen)


# ---- asked ---------------------------------------------------------------------------------------


def asked_for_its_class(x):
    el = ELEMENTS[int(np.argmax(x[:3]))]
    if isinstance(el, Hard):
        r = el.rest * x[0]
    elif isinstance(el, Spring):
        r = el.k * x[1]
    else:
        r = el.c * x[2]
    match el:
        case Hard():
            return r * r
        case Spring(k=k):
            return k * r
        case _:
            return r**3


def asked_what_it_is(x):
    el = ELEMENTS[int(np.argmax(x[:3]))]
    w = 2.0 if el is SPRING else 3.0
    v = 5.0 if el in (SPRING, HARD) else 7.0
    u = 1.0 if el is None or el == DAMPER else 0.5
    return (w + v + u + len(type(el).__name__)) * x[0] ** 2


def asked_for_attributes(x):
    el = SPRING if x[0] > 0 else DAMPER
    c = getattr(el, "c", 9.0)
    if hasattr(el, "k"):
        c = c + el.k
    try:
        k = el.k
    except AttributeError:
        k = 5.0
    return c * k * x[1] ** 2


def lacks_what_is_not_read(x):
    el = SPRING if x[0] > 0 else DAMPER
    kind = "spring" if x[0] > 0 else "damper"
    if kind == "spring":
        return el.k * x[1]
    return el.c * x[1]


@dataclasses.dataclass
class Poly:
    c: tuple

    def __call__(self, x):
        return sum(c * x**i for i, c in enumerate(self.c))

    def __mul__(self, other):
        return self(other) * 2

    def __len__(self):
        return len(self.c) - 2

    def __getitem__(self, i):
        return self.c[i]

    def __iter__(self):
        return iter(self.c[:2])


def operators(x):
    p = Poly((1.0, x[1])) if x[0] > 0.7 else Poly((x[2], 0.0, 1.0))
    a, b = p
    total = p(x[1]) + p * x[2] + len(p) * x[3] + p[1] * x[0] + a * b + sum(v * x[4] for v in p)
    return total if p else 2 * total


@functools.singledispatch
def kind_of(el, x):
    return x**2


@kind_of.register
def _(el: Spring, x):
    return x**3 * el.k


def dispatched(x):
    return kind_of(SPRING if x[0] > 0 else DAMPER, x[1])


PROGRAMS = [
    function_of_a_choice,
    function_of_branches,
    captured_objects,
    made_inside,
    made_in_branches,
    class_of_a_choice,
    methods_and_partials,
    several_flags,
    handed_to_functions,
    by_the_largest,
    by_a_number_below_zero,
    from_a_table_of_pairs,
    from_lists_in_a_list,
    as_keys_and_members,
    from_dicts,
    one_of_many,
    functions_in_turn,
    where_no_number_is_whole,
    state_of_functions,
    until_it_stops,
    swapped_in_a_loop,
    none_at_first,
    the_best,
    made_for_each,
    phases,
    objects_that_change,
    attributes_set_through_it,
    attribute_that_is_another,
    asked_for_its_class,
    asked_what_it_is,
    asked_for_attributes,
    lacks_what_is_not_read,
    operators,
    dispatched,
]


@pytest.mark.thinned(8)
@pytest.mark.parametrize("function", PROGRAMS)
def test_each_of_the_objects(function):
    for x in (X, -X, 1.1 * X[::-1], X[[2, 0, 1, 3, 4]]):
        assert_both_modes(function, (x,))


@pytest.mark.thinned(12)
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.filterwarnings("ignore:.*no batched form")
def test_samples_and_second_derivatives(function):
    batch = np.stack([X, -X, 1.1 * X[::-1]])
    np.testing.assert_allclose(vmap(function)(batch), [function(x) for x in batch])
    gradients = [grad(function)(x) for x in batch]
    np.testing.assert_allclose(vmap(grad(function))(batch), gradients)
    v, h = np.linspace(0.3, 1.1, 5), 1e-5
    change = jvp(grad(function), (X,), (v,))[1]
    expected = (grad(function)(X + h * v) - grad(function)(X - h * v)) / (2 * h)
    np.testing.assert_allclose(change, expected, rtol=1e-5, atol=1e-6)
    namespace = {}
    exec(grad(function).source(X, standalone=True), namespace)
    alone = namespace[f"{function.__name__}_grad"]
    np.testing.assert_array_equal(alone(X), grad(function)(X))


def test_the_text_asks_as_the_user_does():
    source = grad(by_the_largest).source(X)
    assert "if argmax_x == 0:" in source
    assert "elif argmax_x == 1:" in source
    assert "IndexError" not in source
    assert "[int(np.floor(5.1 * np.abs(x_i))) % 6]" in grad(one_of_many).source(X)


def test_what_is_not_there_raises_as_in_python():
    def entry(x):
        return {0: SPRING, 1: DAMPER}[int(np.argmax(x))].force(x[0])

    def position(x):
        return [SPRING, DAMPER][int(np.argmax(x)) - 1].force(x[0])

    def truth(x):
        return [SPRING, DAMPER][x[0] < 1].force(x[0])

    x = np.array([0.0, 1.0, 2.0, 5.0])
    with warnings.catch_warnings(action="error"):  # older releases deprecate it
        for call in (truth, jit(truth)):
            with pytest.raises((TypeError, DeprecationWarning, S2SError), match=r"ind(ex|ices)"):
                call(x)

    def attribute(x):
        return (SPRING if x[0] > 0 else DAMPER).k * x[1]

    for function, error in ((entry, KeyError), (position, IndexError), (attribute, AttributeError)):
        for call in (function, jit(function), grad(function)):
            with pytest.raises(error):
                call(x)
        np.testing.assert_allclose(jit(function)(x[::-1]), function(x[::-1]))


def test_it_is_shown(capsys):
    class Named:
        def __init__(self, name):
            self.name = name

        def __str__(self):
            return f"<{self.name}>"

    def shown(x):
        el = Named("a") if x > 0 else Named("b")
        act = SPRING if x > 0 else DAMPER
        if hasattr(act, "c"):
            print(el, f"{el} {el.name}", act.c)
        return act.force(x) * len(str(el))

    for x in (-2.0, 2.0):
        expected = shown(x)
        printed = capsys.readouterr().out
        assert value_and_grad(shown)(x)[0] == expected
        assert capsys.readouterr().out == printed


def test_it_is_not_returned():
    with pytest.raises(S2SError, match="one of several objects, that is returned"):
        jit(lambda x: SPRING if x > 0 else DAMPER)(1.0)


def in_a_try(x):
    try:
        k = SPRING.k if x[0] > 0 else DAMPER.k
    except AttributeError:
        k = 5.0
    return k * x[1]


@pytest.mark.filterwarnings("ignore:.*no batched form")
def test_some_samples_raise_in_a_try():
    batch = np.stack([X, -X])
    np.testing.assert_allclose(vmap(in_a_try)(batch), [in_a_try(x) for x in batch])
