"""The corpus: ordinary programs in every mode, against what does not rest on derivative rules."""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import inspect
import pkgutil
from pathlib import Path

import numpy as np
import pytest

from programs import corpus
from programs.case import Case
from programs.refused import FIRST_ORDER_ONLY, REFUSED
from s2s_ad import S2SError, grad, jvp, value_and_grad, vjp, written
from s2s_ad.check import central_differences, complex_step
from s2s_ad.core import tree

TOPICS = sorted(each.name for each in pkgutil.iter_modules(corpus.__path__))
LISTED = [
    (f"{topic}.{case.function.__name__}", case)
    for topic in TOPICS
    for case in importlib.import_module(f"programs.corpus.{topic}").CASES
]
CASES: dict[str, Case] = dict(LISTED)
SUPPORTED = [name for name in CASES if name not in REFUSED]
SMOOTH = [name for name in SUPPORTED if CASES[name].smooth and name not in FIRST_ORDER_ONLY]
EXACT = 1e-9  # two ways to the same number that differ by rounding alone

every_case = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if place % 16 == 0 else pytest.mark.slow)
        for place, name in enumerate(SUPPORTED)  # every sixteenth in the quick selection
    ],
)
every_smooth_case = pytest.mark.parametrize("name", SMOOTH)


def test_names_are_unique():
    assert len(LISTED) == len(CASES)


# ---- the case ------------------------------------------------------------------------------------


def moving(case):
    """The arguments that it is differentiated by."""
    return tuple(case.arguments[i] for i in case.wrt)


def of_moving(case, function=None):
    """The program as a function of these alone, for transforms that take no others."""
    function = function or case.function
    names = list(inspect.signature(case.function).parameters)
    moved = tuple(names[i] for i in case.wrt)
    held = {names[i]: x for i, x in enumerate(case.arguments) if i not in case.wrt}

    def of_moved(*values):
        return function(**dict(zip(moved, values, strict=True)), **held)

    return of_moved


def plain(case):
    """The same, run by Python; a program that changes its arguments changes copies."""
    return of_moving(case, lambda **given: case.function(**copy.deepcopy(given)))


@functools.cache
def oracle(name):
    """The gradient by central differences, which all other oracles have to agree with."""
    return leaves(central_differences(plain(CASES[name]), moving(CASES[name])))


@functools.cache
def derived(name):
    """value_and_grad of a case, compiled once for the tests of its results."""
    return value_and_grad(CASES[name].function, CASES[name].wrt)


# ---- containers as vectors -----------------------------------------------------------------------


def leaves(value):
    return tree.leaves(tree.from_object(value, lambda leaf, _: leaf))


def directions(arguments, seed):
    """Something of the structure of the arguments, as large as they are."""
    rng = np.random.default_rng(seed)

    def leaf(x, _):
        x = np.asarray(x)
        return (float, np.asarray)[x.ndim > 0](rng.normal(size=x.shape) * (np.max(np.abs(x)) or 1))

    return tree.to_object(tree.from_object(tuple(arguments), leaf))


def moved(arguments, direction, step):
    def leaf(x, path):
        return x + step * tree.follow(direction, path)

    return tree.to_object(tree.from_object(tuple(arguments), leaf))


def inner(left, right):
    return sum(np.sum(a * b) for a, b in zip(leaves(left), leaves(right), strict=True))


def total(value):
    return sum(np.sum(each) for each in leaves(value))


def bare(parts):
    """The results for several positions, as `grad` gives them: one alone is not in a tuple."""
    return parts[0] if len(parts) == 1 else tuple(parts)


def agree(found, expected, tolerance, floor=0.0):
    """Each leaf of the one is that of the other, relative to its largest element or to `floor`."""
    found, expected = leaves(found), leaves(expected)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        scale = np.max(np.abs(theirs), initial=floor)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * (scale + 1e-12))


def rough(value):
    """How small a derivative may be for differences of such values to show it."""
    return 1e-3 * max(1.0, np.max(np.abs(leaves(value)[0]), initial=0.0))


def extrapolated(differences, step):
    """Differences for two lengths of step, and from these for none."""
    short, long = leaves(differences(step)), leaves(differences(2 * step))
    return [(4 * a - b) / 3 for a, b in zip(short, long, strict=True)]


# ---- the corpus itself ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_oracles_agree(name):
    case = CASES[name]
    f, arguments = plain(case), moving(case)
    floor = rough(f(*arguments))
    assert np.all(np.isfinite(total(f(*arguments))))
    by_steps = extrapolated(lambda step: central_differences(f, arguments, step=step), 1e-4)
    agree(by_steps, oracle(name), case.tolerance, floor)
    assert any(np.any(each != 0) for each in oracle(name))
    if case.complex_step:
        agree(complex_step(f, arguments), oracle(name), case.tolerance, floor)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_by_name_and_place(name):
    with pytest.raises(S2SError) as refusal:
        derived(name)(*copy.deepcopy(CASES[name].arguments))
    assert refusal.value.code in REFUSED[name].split(" or ")
    assert refusal.value.origin is not None


# ---- values and gradients ------------------------------------------------------------------------


@pytest.mark.thinned(4)
@every_case
def test_value(name):
    case = CASES[name]
    value, _ = derived(name)(*copy.deepcopy(case.arguments))
    agree(value, plain(case)(*moving(case)), EXACT)


@pytest.mark.thinned(40)
@pytest.mark.parametrize("name", SUPPORTED)
def test_every_statement_has_an_origin(name):
    """Nearly all have their own: what binds and returns is of the function as such."""
    case = CASES[name]
    ours = str(Path(__file__).parent), str(Path(written.__file__).parent)
    text = derived(name).text(*copy.deepcopy(case.arguments))
    bare = ast.Assign | ast.Return | ast.Expr | ast.Raise | ast.If | ast.Break
    for statement in ast.walk(ast.parse(text.function)):
        if isinstance(statement, ast.stmt):
            row = text.rows[statement.lineno - 1]
            assert row.origins
            assert all(each.file.startswith(ours) for each in row.origins)
            assert row.own or isinstance(statement, bare)


@every_case
def test_gradient(name):
    case = CASES[name]
    value, gradient = derived(name)(*copy.deepcopy(case.arguments))
    agree(gradient, oracle(name), case.tolerance, rough(value))
    if case.complex_step:
        agree(gradient, complex_step(plain(case), moving(case)), EXACT, rough(value))


@pytest.mark.slow
@every_case
def test_forward_mode(name):
    case = CASES[name]
    arguments = copy.deepcopy(moving(case))
    gradient = derived(name)(*copy.deepcopy(case.arguments))[1]
    for seed in range(2):
        direction = directions(arguments, seed)
        value, tangent = jvp(of_moving(case), arguments, direction)
        agree(value, plain(case)(*arguments), EXACT)
        terms = [np.abs(a * b) for a, b in zip(leaves(gradient), leaves(direction), strict=True)]
        agree(total(tangent), inner(gradient, direction), EXACT, total(terms))


@pytest.mark.slow
@every_smooth_case
def test_second_order(name):
    """The Hessian times a direction: forward and reverse over reverse, and by differences."""
    case = CASES[name]
    arguments = copy.deepcopy(moving(case))
    direction = directions(arguments, 0)
    gradient = grad(of_moving(case), tuple(range(len(arguments))))

    def differences(step):
        ends = (leaves(gradient(*moved(arguments, direction, each))) for each in (step, -step))
        return [(after - before) / (2 * step) for after, before in zip(*ends, strict=True)]

    value, forward = jvp(gradient, arguments, direction)
    reverse = vjp(gradient, *arguments)[1](bare(direction))
    agree(reverse, forward, EXACT, rough(forward))
    agree(forward, extrapolated(differences, 1e-4), 10 * case.tolerance, rough(value))


# ---- what is promised of all code ----------------------------------------------------------------


def same(left, right):
    """Whether two nests of objects are the same to the last bit."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray | np.generic):
        key = [(each.dtype, each.shape, each.tobytes()) for each in (left, right)]
        return key[0] == key[1]
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    if hasattr(left, "__dict__") and not callable(left):
        return same(vars(left), vars(right))
    return repr(left) == repr(right)


@every_case
def test_inputs_are_unchanged(name):
    case = CASES[name]
    before, given = copy.deepcopy(case.arguments), copy.deepcopy(case.arguments)
    derived(name)(*given)
    assert same(given, before)


@pytest.mark.slow
@every_case
def test_source_is_deterministic(name):
    case = CASES[name]
    again = value_and_grad(case.function, case.wrt)
    first, second = (f.source(*copy.deepcopy(case.arguments)) for f in (derived(name), again))
    assert first == second


@pytest.mark.slow
@every_case
def test_standalone(name):
    """The text alone, in an empty namespace, gives these numbers but for rounding.

    It assumes nothing of sizes, so that terms may be added in another order.
    """
    case = CASES[name]
    whole = derived(name)
    text = whole.source(*copy.deepcopy(case.arguments), standalone=True)
    assert "s2s_ad" not in text.partition("def ")[0]
    space = {}
    exec(text, space)
    alone = space[f"{case.function.__name__}_value_and_grad"]
    found = alone(*copy.deepcopy(case.arguments))
    agree(found, whole(*copy.deepcopy(case.arguments)), 1e-13)
