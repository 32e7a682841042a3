"""No element of a Jacobian is missing from its pattern: rule by rule, and program by program.

What depends on what is found by trying: by differences of the function itself.
"""

import importlib
import pkgutil
import warnings

import numpy as np
import pytest

import programs.corpus
from programs.case import Case as ProgramCase
from random_programs.program import Endless, TimeIsUp, limited, namespace, quiet
from random_programs.statements import generate
from rules.properties import Case, Subject
from s2s_ad import grad
from s2s_ad.diagnostics import InternalError, S2SError
from sparsity.dependence import assert_covers

pytestmark = pytest.mark.thinned(2)

MODULES = ("test_functions", "cases.signals", "cases.scipy_linalg", "test_elementwise")
MODULES += ("test_scipy_solvers", "test_scipy_sparse")
SEEDS = 300


def cases() -> list[Case]:
    """The cases of the rules, each once."""
    tables = [
        table
        for name in MODULES
        for table in vars(importlib.import_module(f"rules.{name}")).values()
        if isinstance(table, list | tuple)
    ]
    found = [each for table in tables for each in table if isinstance(each, Case)]
    return list({str(each): each for each in found}.values())


def covered(fn, args: tuple, position: int) -> bool:
    """Whether there is a pattern, which then has all elements; where shapes depend on the elements
    of the input, or there is no derivative, there is none."""
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            assert_covers(fn, args, position)
        except InternalError:
            raise
        except S2SError:
            return False
    return True


@pytest.mark.thinned(200)
@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_patterns_of_rules(case):
    subject = Subject(case)
    for position in subject.positions:
        covered(subject.f, tuple(subject.args), position - 1)
        covered(grad(subject.loss, position), (subject.w, *subject.args), position)


def test_most_rules_have_a_pattern():
    chosen = cases()[::40]
    found = []
    for subject in map(Subject, chosen):
        found += [covered(subject.f, tuple(subject.args), at - 1) for at in subject.positions]
    assert sum(found) > 0.9 * len(found) > 15


def corpus() -> list:
    modules = pkgutil.iter_modules(programs.corpus.__path__, "programs.corpus.")
    tables = [v for each in modules for v in vars(importlib.import_module(each.name)).values()]
    rows = [row for table in tables if isinstance(table, list | tuple) for row in table]
    rows = [each for each in rows if isinstance(each, ProgramCase)]
    return [pytest.param(each, id=each.function.__name__) for each in rows]


@pytest.mark.thinned(200)
@pytest.mark.parametrize("case", corpus())
def test_the_patterns_of_programs(case):
    for position in case.wrt:
        covered(case.function, case.arguments, position)
        covered(grad(case.function, position), case.arguments, position)


def of_random_program(seed: int) -> None:
    made = generate(seed)
    scope = namespace(made.source, readable=True)
    main = scope["main"]
    args = tuple(eval(each, dict(scope)) for each in made.arguments)
    with quiet():
        for position, each in enumerate(args):
            if isinstance(each, float) or getattr(each, "dtype", None) == np.float64:
                for fn in (main, grad(main, position)):
                    try:
                        with limited(20):
                            covered(fn, args, position)
                    except (ArithmeticError, Endless, TimeIsUp, ValueError):
                        pass  # the program itself, a step away


@pytest.mark.parametrize("seed", range(900, 904))
def test_a_random_program(seed):
    of_random_program(seed)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(10))
def test_random_programs(shard):
    for seed in range(1000 + shard, 1000 + SEEDS, 10):
        of_random_program(seed)
