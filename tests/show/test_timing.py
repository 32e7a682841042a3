"""The time of each line: what is measured runs as it did, and the dear line is seen to be dear."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad, jit, value_and_grad
from s2s_ad.api.pages import page
from s2s_ad.load import timing

MATRIX = np.eye(120) + 0.001 * np.ones((120, 120))


def solves(x, k):
    y = np.sin(x[0]) * k
    z = np.linalg.inv(x)
    return np.sum(z) + np.sum(y)


def squares(x, k):
    return k * np.sum(x**2)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def searched(x):
    while x > 1.0:
        x = x / 3.0
        if x < 1.5:
            break
    return x


def tried(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 0.0
    return y * x


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(timing, "LONGEST", 0.02)


def lines(transformed, *args):
    loaded = transformed.specialised(args, {})
    times = timing.time_lines(loaded, args, {})
    return {line: times.get(n) for n, line in enumerate(loaded.text.module.split("\n"), 1)}


def test_the_dear_line_takes_most_of_the_time():
    times = lines(jit(solves), MATRIX, 2.0)
    dear = [line for line in times if "np.linalg.inv" in line]
    assert times[dear[0]] > 0.5 * sum(filter(None, times.values()))


@pytest.mark.parametrize(
    "transformed, args",
    [
        (value_and_grad(power), (2.0, 3)),
        (value_and_grad(searched), (9.0,)),
        (value_and_grad(tried), (2.0,)),
        (jit(tried), (0.0,)),
    ],
)
def test_what_ticks_returns_what_it_did(transformed, args):
    loaded = transformed.specialised(args, {})
    ticks = []
    ticking = timing._instrumented(loaded, ticks.append)
    assert ticking(*args) == loaded.function(*args)
    ran = [loaded.text.module.split("\n")[line - 1] for line in ticks]
    assert any("return" in line for line in ran)
    assert not [line for line in ran if line.lstrip().startswith(("#", "import"))]


def test_the_page_shows_times_of_all_texts():
    made = page(grad(squares), (np.ones(3), 2.0), {}, timed=True)
    for panel in made.panels:
        if panel.key != "core":
            assert any(line.time for line in panel.lines), panel.label
            assert [each for each in panel.facts if each.label == "time"]


def test_a_call_that_raises_is_told():
    made = page(jit(solves), (np.zeros((2, 2)), 1.0), {}, timed=True)
    (fact,) = [each for each in made.shown.facts if each.label == "time"]
    assert fact.value == "the call raises LinAlgError"
