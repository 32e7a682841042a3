"""Texts that differ from path to path: compared, looked up, and used like any other text."""

import dataclasses
import re

import numpy as np
import pytest

from frontend.every_mode import assert_both_modes
from frontend.flow import assert_like_python
from s2s_ad import S2SError, grad, jit, value_and_grad, vmap

XS = np.array([0.5, -1.2, 0.8, 1.9, -0.3])


def hysteresis(xs):
    mode, level, used = "heat", 0.3, 0.0
    for x in xs:
        if mode == "heat" and level > 0.8:
            mode = "idle"
        elif mode == "idle" and level < 0.2:
            mode = "heat"
        power = 1.5 if mode == "heat" else 0.0
        level += 0.3 * (x - level) + 0.2 * power
        used += power * level
    return used + level**2


def machine_of_three_states(xs):
    state, total = "start", 0.0
    for x in xs:
        if state == "start":
            state = "up" if x > 0 else "down"
        elif state == "up" and x < 0:
            state, total = "down", total * 0.5
        elif state != "up":
            state = "start"
        total += x**2 * {"start": 1.0, "up": 2.0, "down": -1.0}[state]
    return total


def chosen_by_a_branch(xs):
    name = "sin" if xs[0] > xs[1] else "cos"
    scale = 2.0 if name == "sin" else 3.0
    return scale * (np.sin(xs) if name in ("sin", "tan") else np.cos(xs)).sum()


def of_a_helper(xs):
    def kind(x):
        if x < -1:
            return "low"
        return "middle" if x < 1 else "high"

    weights = {"low": xs[0], "middle": xs[1] ** 2, "high": xs[2] * xs[3]}
    return sum(weights[kind(x)] * x for x in xs)


def stored_by_name(xs):
    sums = {"even": 0.0, "odd": 1.0}
    turn = "even"
    for x in xs:
        if x > 0:
            turn = "odd" if turn == "even" else "even"
        sums[turn] += x**2
    return sums["even"] * sums["odd"] + len(turn) * xs[0]


@dataclasses.dataclass
class Valve:
    mode: str = "closed"
    flow: float = 0.0

    def step(self, x):
        match self.mode:
            case "closed":
                self.mode = "open" if x > 0.4 else "closed"
            case "open" | "stuck":
                self.flow += x
                if x < 0:
                    self.mode = "stuck"


def mode_of_an_object(xs):
    valve, total = Valve(), 0.0
    for x in xs:
        valve.step(x * x)
        total += valve.flow * x
    return total if valve.mode == "open" else 2 * total


def compared_with_each_other(xs):
    a = "x" if xs[0] > 0 else "y"
    b = "x" if xs[1] > 0 else "z"
    total = xs[0] * (a == b) + xs[1] * (a != b) + xs[2] * (a < b) + xs[3] * (a is not None)
    return total + xs[4] * (a == 3) + xs[0] ** 2 * (a + b).count("x") + a.startswith("y")


def in_a_tuple_and_none(xs):
    found = ("none", 0.0)
    last = None
    for x in xs:
        if x > 0.6:
            found = ("large", x)
            last = "seen" if last is None else "again"
    return xs.sum() * found[1] + (3 if last == "again" else 5) * (found[0] == "large") * xs[0]


def empty_text_is_false(xs):
    text = "" if xs[0] > 0 else "negative"
    return xs[0] ** 2 if not text else xs[1] * (2 if text else 1)


def in_a_while_loop(xs):
    phase, x, n = "grow", abs(xs[0]) + 0.1, 0
    while phase != "done":
        n += 1
        if phase == "grow":
            x = x * 1.5
            phase = "shrink" if abs(x) > 2 else "grow"
        else:
            x = x - 0.4
            phase = "done" if x < 1 else "shrink"
    return x * n


PROGRAMS = [
    (hysteresis, (XS,)),
    (machine_of_three_states, (XS,)),
    (chosen_by_a_branch, (XS,)),
    (of_a_helper, (XS,)),
    (stored_by_name, (XS,)),
    (mode_of_an_object, (XS,)),
    (compared_with_each_other, (XS,)),
    (in_a_tuple_and_none, (XS,)),
    (empty_text_is_false, (XS,)),
    (in_a_while_loop, (np.array([0.5, 0.0]),)),
]


@pytest.mark.parametrize("function, args", PROGRAMS)
@pytest.mark.parametrize("scale", [-1.0, 1.7])
def test_on_other_paths_too(function, args, scale):
    assert_like_python(function, (args[0] * scale,))


def test_the_text_of_the_code_is_that_of_the_user():
    source = jit(hysteresis).source(XS)
    assert 'mode = "heat"' in source
    assert 'if mode == "heat" and level > 0.8:' in source
    namespace = {}
    exec(jit(hysteresis).source(XS, standalone=True), namespace)
    np.testing.assert_allclose(namespace["hysteresis"](XS), hysteresis(XS))


def test_a_text_can_be_returned():
    def kind(x):
        name = "rising" if x > 0 else "falling"
        return {"kind": name, "value": x**2}

    assert jit(kind)(1.5) == kind(1.5)
    assert jit(kind)(-1.5) == kind(-1.5)


def test_a_text_that_is_printed(capsys):
    def shown(x):
        name = "rising" if x > 0 else "falling"
        print(name, f"[{name}]")
        return x**2

    assert value_and_grad(shown)(-2.0) == (4.0, -4.0)
    assert capsys.readouterr().out == "falling [falling]\n"


@pytest.mark.parametrize("function", [hysteresis, machine_of_three_states, mode_of_an_object])
def test_samples_take_paths_of_their_own(function):
    batch = np.stack([XS, -XS, XS[::-1] * 1.5])
    with pytest.warns(match="no batched form"):
        values = vmap(function)(batch)
    np.testing.assert_allclose(values, [function(x) for x in batch])
    with pytest.warns(match="no batched form"):
        gradients = vmap(grad(function))(batch)
    np.testing.assert_allclose(gradients, [grad(function)(x) for x in batch])


def key_of_a_new_dict(xs):
    name = "a" if xs[0] > 0 else "b"
    return sum({name: xs[0], "c": xs[1]}.values())


def characters(xs):
    name = "ab" if xs[0] > 0 else "cd"
    return sum(xs[0] for c in name if c > "a")


@pytest.mark.parametrize("function", [key_of_a_new_dict, characters])
def test_what_needs_to_know_the_text_is_refused(function):
    with pytest.raises(S2SError) as caught:
        jit(function)(XS)
    assert "a text that differs from path to path" in str(caught.value)
    assert caught.value.origin is not None


def by_a_pattern(xs, text):
    total = 0.0
    for part in re.findall(r"[a-z]\d", text):
        total = total + xs[int(part[1])] ** 2 * (2 if part[0] == "a" else 3)
    return total * len(re.split("[ab]", text)) + len(re.sub("a", "bb", text))


def calculator(xs, text):
    """Functions that call each other, and take texts away from a list."""
    tokens = re.findall(r"[a-z]|[-+*()]", text)
    return added(tokens, {"a": xs[0], "b": xs[1]}) ** 2


def added(tokens, names):
    value = multiplied(tokens, names)
    while tokens and tokens[0] in "+-":
        if tokens.pop(0) == "+":
            value = value + multiplied(tokens, names)
        else:
            value = value - multiplied(tokens, names)
    return value


def multiplied(tokens, names):
    value = single(tokens, names)
    while tokens and tokens[0] == "*":
        tokens.pop(0)
        value = value * single(tokens, names)
    return value


def single(tokens, names):
    token = tokens.pop(0)
    if token == "(":
        value = added(tokens, names)
        tokens.pop(0)
        return value
    return names[token]


@pytest.mark.parametrize("function, text", [(by_a_pattern, "a1b2a3"), (calculator, "a*(b-a*a)+b")])
def test_patterns_of_texts_that_are_known(function, text):
    np.testing.assert_allclose(jit(function)(XS, text), function(XS, text))
    assert_both_modes(function, (XS, text))


def test_a_text_that_grows_in_each_pass_is_written_out():
    def grown(x):
        text = "a"
        for _ in range(2):
            text = text.replace("a", "aba")
        return x * text.count("b")

    assert jit(grown)(1.5) == grown(1.5)


# ---- texts that are made when the code runs ------------------------------------------------------


class Point:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        return f"P({self.x:.1f})"


def described(xs):
    y = np.sum(xs**2)
    label = "x=" + str(y) + f" ({xs[0]:.1f})"
    return y, (label.upper(), len(label), label.find("("), repr(xs), np.array2string(xs[1:]))


def joined_in_a_loop(xs):
    lines = []
    for i in range(len(xs)):
        lines.append(f"{i}: {xs[i]:.2f}")
    return np.sum(xs**3), "\n".join(lines)


def the_last_that_is_positive(xs):
    shown = "none"
    for x in xs:
        if x > 0:
            shown = f"{x:.1f}"
    return np.sum(xs**2), shown


def of_an_object(xs):
    return np.sum(xs), str(Point(xs[0])), f"{xs.shape} of {xs[3] * 10:.0f}"


@pytest.mark.parametrize(
    "function", [described, joined_in_a_loop, the_last_that_is_positive, of_an_object]
)
def test_texts_beside_the_result(function):
    expected, *texts = function(XS)
    (value, *others), gradient = value_and_grad(function, has_aux=True)(XS)
    assert (value, others) == (expected, texts)
    numbers = value_and_grad(lambda xs: function(xs)[0])(XS)[1]
    np.testing.assert_array_equal(gradient, numbers)


def decides(xs):
    shown = f"{xs[0] ** 2:.0f}"
    factor = 2.0 if shown == "0" else 3.0
    return factor * np.sum(xs**2) * (shown.startswith("0") + 1) * len(shown + str(xs.shape))


def names_in_a_loop(xs):
    named, total = {f"w{i}": xs[i] for i in range(3)}, 0.0
    for i in range(3):
        total += named[f"w{i}"] * named["w" + str(i)] * (i + 1)
    return total


LETTERS = "CDEFGHJKLMNP"


def zone(xs):
    letter = LETTERS[int(4 * xs[0] ** 2) % len(LETTERS)]
    half = 1.0 if letter.lower() >= "f" else 2.0
    return half * np.sum(xs**2) if letter != LETTERS[-1] else xs[0]


def aligned(xs):
    score, first, second = np.zeros((4, 3)), "ACG", "AG"
    for i in range(1, 4):
        for j in range(1, 3):
            same = xs[0] ** 2 if first[i - 1] == second[j - 1] else -0.5 * xs[1]
            score[i, j] = max(score[i - 1, j - 1] + same, score[i - 1, j] - 0.1, score[i, j - 1])
    return score[-1, -1]


@pytest.mark.parametrize("function", [decides, names_in_a_loop, zone, aligned])
@pytest.mark.parametrize("scale", [1.0, -1.7])
def test_texts_that_decide(function, scale):
    assert_both_modes(function, (XS * scale,))


def test_a_text_of_values_is_no_key():
    def f(xs):
        return np.sum(xs) * {"0": 2.0}[f"{xs[0]:.0f}"]

    with pytest.raises(S2SError, match="depends on values, where it has to be known"):
        grad(f)(XS)


@pytest.mark.filterwarnings("ignore:.*a loop over samples")
@pytest.mark.parametrize("function", [decides, zone])
def test_what_is_asked_of_the_text_of_each_sample(function):
    batch = np.stack([XS, -1.7 * XS, 0.1 * XS])
    np.testing.assert_allclose(vmap(function)(batch), [function(xs) for xs in batch])
    slopes = [grad(function)(xs) for xs in batch]
    np.testing.assert_allclose(vmap(grad(function))(batch), slopes)


def test_a_text_that_differs_from_sample_to_sample():
    with pytest.raises(S2SError, match="a text that differs from sample to sample"):
        vmap(joined_in_a_loop)(np.stack([XS, XS]))
