"""What passes change, as text: which steps are shown, and how."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_ad import grad
from s2s_ad.core import passes
from s2s_ad.core.dump import Dump, change_text
from s2s_ad.simplify.dead import DEAD


def unused(x):
    y = np.sin(x)
    z = np.cos(x)  # noqa: F841
    return np.sum(y)


def long(x):
    for _ in range(30):
        x = np.sin(x) * x + x
    y = np.cos(x)  # noqa: F841
    a = x[0]
    b = a * x[1]
    c = np.exp(b) + np.sum(x)
    d = c / a
    e = d * c
    g = d + e - b
    return np.sum(x) + g * e - a


def dumped(function, names, *args):
    """What a dump of a compilation writes, and its steps as (name, before, after)."""
    texts, steps = [], []
    dump = Dump(texts.append, names, passes.KNOWN)
    with passes.watched(dump), passes.watched(lambda *step: steps.append(step)):
        function.core(*args)
    return texts, steps


def lowered(function, *args):
    """The program before any pass."""
    _, steps = dumped(grad(function), (), *args)
    return next(after for name, _, after in steps if name == "lower")


X = np.ones(3)


def test_without_names_each_step_that_changes_something_is_shown():
    texts, steps = dumped(grad(unused), (), X)
    changed = [name for name, old, new in steps if old is None or str(old) != str(new)]
    titles = [each.partition("\n")[0] for each in texts]
    assert [each.partition(":")[0].removeprefix("# ") for each in titles] == changed
    assert {"lower", "dead", "transform"} <= set(changed)


def test_a_step_that_is_named_is_shown_though_nothing_changes():
    texts, _ = dumped(grad(unused), ("merge",), X)
    assert texts == ["# merge: unused_grad\nnothing changes\n"]


def test_short_programs_are_shown_before_and_after():
    before = lowered(unused, X)
    assert change_text(before, DEAD.run(before)).split("\n") == [
        "before",
        "unused(x: f64[n]):",
        "    y = np.sin(x)",
        "    z = np.cos(x)",
        "    t1 = np.sum(y)",
        "    return t1",
        "after",
        "unused(x: f64[n]):",
        "    y = np.sin(x)",
        "    t1 = np.sum(y)",
        "    return t1",
    ]


def test_long_programs_are_shown_as_a_difference_in_which_names_stay():
    before = lowered(long, X)
    lines = change_text(before, DEAD.run(before)).split("\n")
    assert lines[0].startswith("@@")
    assert [each for each in lines if each[0] in "+-"] == ["-    y = np.cos(x.4)"]


def test_a_name_that_no_pass_has_is_said_once():
    (first, *others), _ = dumped(grad(unused), ("dead", "daed"), X)
    assert first.startswith("# no pass is called daed: ")
    assert "dead" in first.partition(": ")[2]
    assert all(each.startswith("# dead: ") for each in others)


@pytest.mark.parametrize(
    "value, shown",
    [("", None), ("all", {"lower", "dead", "transform"}), ("lower,merge", {"lower", "merge"})],
)
def test_the_environment_asks_for_dumps(monkeypatch, capsys, value, shown):
    monkeypatch.setenv("S2S_AD_DUMP", value)
    watchers = passes._from_environment()
    if shown is None:
        assert watchers == ()
        return
    with passes.watched(*watchers):
        grad(unused).core(X)
    out, err = capsys.readouterr()
    titles = {line[2:].partition(":")[0] for line in err.split("\n") if line.startswith("# ")}
    assert out == ""
    assert titles == shown
