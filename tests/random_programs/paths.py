"""Programs that take another path, for what depends on the path alone: the dtype of a result.

A batch is one array, so its dtype cannot depend on the path of a sample, as that of a result in
Python may. To know which dtypes there are, each decision of a program is turned in each way.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from random_programs.program import Endless, namespace, quiet
from random_programs.values import kind, leaves


def turned(source: str) -> Iterator[str]:
    """The program with one of its decisions, or with two of them, made for it."""
    tree = ast.parse(source)
    ways = [way for node in ast.walk(tree) for way in _ways(node)]
    for chosen in (*itertools.combinations(ways, 1), *itertools.combinations(ways, 2)):
        undo = [way() for way in chosen]
        yield ast.unparse(ast.fix_missing_locations(tree))
        for each in reversed(undo):
            each()


def _ways(node: ast.AST) -> list[Callable[[], Callable[[], None]]]:
    """What changes a node in place, each giving what changes it back."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        truths = (False,) if isinstance(node, ast.While) else (True, False)
        return [_replacing(node, "test", ast.Constant(truth)) for truth in truths]
    if isinstance(node, ast.For):
        return [_replacing(node, "iter", ast.Tuple([], ast.Load()))]
    if isinstance(node, ast.Try):
        raised = [each.type for each in node.handlers if each.type is not None]
        names = [each.elts[0] if isinstance(each, ast.Tuple) else each for each in raised]
        quiet_body = [each for each in node.body if not isinstance(each, ast.Raise)]
        bodies = [[ast.Raise(name), *node.body] for name in names] + [quiet_body or [ast.Pass()]]
        return [_replacing(node, "body", body) for body in bodies]
    return []


def _replacing(node: ast.AST, field: str, value: Any) -> Callable[[], Callable[[], None]]:
    def replace() -> Callable[[], None]:
        before = getattr(node, field)
        setattr(node, field, value)
        return lambda: setattr(node, field, before)

    return replace


def dtypes(source: str, samples: Callable[[], list[list]]) -> list[set[np.dtype]]:
    """For each leaf of the result the dtypes that it has on some path."""
    found: list[set[np.dtype]] = []
    for text in itertools.islice(turned(source), 200):
        scope = namespace(text)
        for args in samples():
            try:
                with quiet():
                    result = leaves(scope["main"](*args))
            except (Exception, Endless):
                continue
            found = found or [set() for _ in result]
            if len(result) == len(found):
                for each, leaf in zip(found, result, strict=True):
                    each |= {np.asarray(leaf).dtype} if kind(leaf) else set()
    return found


def may_have(dtype: np.dtype, dtypes: set[np.dtype]) -> bool:
    """Whether an array of values of some of these dtypes has this one."""
    sets = (each for n in range(1, len(dtypes) + 1) for each in itertools.combinations(dtypes, n))
    return any(np.result_type(*each) == dtype for each in sets)
