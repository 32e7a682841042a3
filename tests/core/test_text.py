"""Core as text: what a program looks like, and that nothing of it is missing."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit
from s2s_ad.core import form
from s2s_ad.core.callee import item_of, reached
from s2s_ad.core.text import core_text, program_text

X = np.ones(5)


def decay(u, k, steps):
    for _ in range(steps):
        u[1:] -= k * u[:-1]
    return np.sum(u**2)


def signed(x, y):
    if y > 0.0:
        z = np.sin(x)
    else:
        z = -x
    return z


def halved(x):
    while x > 1.0:
        x = x / 2.0
    return x


def guarded(table, key, x):
    assert x > 0.0
    try:
        scale = 1.0 / x
    except ZeroDivisionError:
        scale = 0.0
    return table["a"] * scale


def step(x, w):
    y = np.tanh(x * w)
    return y + x


def twice(x, w):
    return step(step(x, w), w)


def test_a_loop_says_what_it_carries():
    program = jit(decay).lower(X, 0.1, 5)["core"]
    assert str(program).split("\n") == [
        "decay(u: f64[n], k: float, steps: int):",
        "    u.4 = for _ in range(steps) with u.2 = u:",
        "        t1 = u.2[:-1]",
        "        t2 = k * t1",
        "        t3 = -t2",
        "        u.3 = index_add(u.2, t3, index=1:)",
        "        next u.3",
        "    t4 = u.4 ** 2",
        "    t5 = np.sum(t4)",
        "    return t5",
    ]


def test_facts_are_written_on_demand():
    program = jit(decay).lower(X, 0.1, 5)["core"]
    (line,) = [each for each in program_text(program, facts=True).split("\n") if "t1 =" in each]
    assert line.split() == ["t1", "=", "u.2[:-1]", "#", "f64[n", "-", "1]"]


@pytest.mark.parametrize(
    "function, arguments, wanted",
    [
        (signed, (X, 1.0), ["if t1:", "else:", "give z", "= np.sin(x)"]),
        (halved, (3.0,), ["= while with x.2 = x:", "x.2 > 1.0", "x.2 / 2.0", "next x"]),
        (
            guarded,
            ({"a": 2.0}, "a", 3.0),
            ["= try:", "except ZeroDivisionError:", "assert x > 0.0"],
        ),
        (guarded, ({"a": 2.0}, "a", 3.0), ["table: {'a': a: float}"]),
        (twice, (X, 2.0), ["= step(x, w)", "step(x: f64[n], w: float):"]),
    ],
)
def test_regions_effects_and_functions(function, arguments, wanted):
    text = str(jit(function).lower(*arguments)["core"])
    for each in wanted:
        assert each in text


@pytest.mark.parametrize(
    "function, arguments",
    [(decay, (X, 0.1, 5)), (signed, (X, 1.0)), (halved, (3.0,)), (twice, (X, 2.0))],
)
def test_every_statement_has_its_line(function, arguments):
    """But for those that take results apart, which stand where the results are made."""
    program = grad(function).lower(*arguments)["grad"]
    shown = {id(line.statement) for line in core_text(program).lines}
    blocks = [program, *(block for each in reached((program,)) for block in each.blocks)]
    for block in blocks:
        for statement in block.body:
            assert (
                isinstance(statement, form.Effect) or item_of(statement) or id(statement) in shown
            )


def test_stages_are_shown_one_below_the_other():
    stages = grad(decay).lower(X, 0.1, 5)
    assert set(stages) == {"core", "grad"}
    assert repr(stages) == f"# core\n{stages['core']}\n\n# grad\n{stages['grad']}"


def test_names_say_which_of_the_users_they_are_made_of():
    families = core_text(grad(decay).lower(X, 0.1, 5)["grad"]).families
    assert families["u_bar.2"] == families["u_bar"] == families["u.2"] == "u"


def test_the_same_text_each_time():
    first, second = (str(grad(twice).lower(X, 2.0)["grad"]) for _ in range(2))
    assert first == second
