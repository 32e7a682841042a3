"""Programs that take another path, for what depends on the path alone: the dtype or the structure
of a result, and whether a list that was passed gets longer.

A batch is one array, so its dtype cannot depend on the path of a sample, as that of a result in
Python may. To know which dtypes there are, each decision of a program is turned in each way.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from random_programs.program import Endless, TimeIsUp, limited, namespace, quiet
from random_programs.values import children, is_container, kind, leaves, rebuilt

MOST_PATHS = 400
SECONDS = 2  # for one of them


def turned(source: str, of: Callable[[ast.AST], bool] = lambda node: True) -> Iterator[str]:
    """The program with one of its decisions, or with two of them, made for it."""
    tree = ast.parse(source)
    ways = [way for node in ast.walk(tree) if of(node) for way in _ways(node)]
    for chosen in (*itertools.combinations(ways, 1), *itertools.combinations(ways, 2)):
        undo = [way() for way in chosen]
        yield ast.unparse(ast.fix_missing_locations(tree))
        for each in reversed(undo):
            each()


def _ways(node: ast.AST) -> list[Callable[[], Callable[[], None]]]:
    """What changes a node in place, each giving what changes it back."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        truths = (False,) if isinstance(node, ast.While) else (True, False)
        return [_replacing(node, test=ast.Constant(truth)) for truth in truths]
    if isinstance(node, ast.For):
        return [_replacing(node, iter=ast.Tuple([], ast.Load()))]
    if isinstance(node, ast.Match):
        anything = ast.MatchAs(None, None)
        bodies = [ast.match_case(anything, None, each.body) for each in node.cases]
        return [_replacing(node, cases=[each]) for each in bodies]
    if isinstance(node, ast.Try):
        raised = [each.type for each in node.handlers if each.type is not None]
        names = [each.elts[0] if isinstance(each, ast.Tuple) else each for each in raised]
        quiet_body = [each for each in node.body if not isinstance(each, ast.Raise)]
        bodies = [[ast.Raise(name), *node.body] for name in names] + [quiet_body or [ast.Pass()]]
        return [_replacing(node, body=body) for body in bodies]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("min", "max"):
        if len(node.args) > 1 and not any(isinstance(each, ast.Starred) for each in node.args):
            alone = [ast.List([each], ast.Load()) for each in node.args]
            return [_replacing(node, args=[each]) for each in alone]
        return [_replacing(node, func=ast.Name(other, ast.Load())) for other in ("min", "max")]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return [_replacing(node, targets=[ast.Name("_", ast.Store())])]  # it is another element
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        array = ast.Attribute(ast.Name("np", ast.Load()), "resize", ast.Load())
        some = ast.Call(array, [node.value, ast.Constant(1)], [])  # there is one, in longer arrays
        return [_replacing(node, value=some, slice=ast.Constant(0))]
    return []


def _depends_on_numbers(node: ast.AST) -> bool:
    """Whether a decision compares what is computed from an argument, or from anything named."""
    test = getattr(node, "test", None)
    read = {each.id for each in ast.walk(test) if isinstance(each, ast.Name)} if test else set()
    compares = test is not None and any(isinstance(e, ast.Compare) for e in ast.walk(test))
    return compares and bool(read - {"np", "math", *vars(builtins)})


def has_structures(source: str, samples: Callable[[], list[list]]) -> bool:
    """Whether the result is another container on a path that other numbers would take."""
    found = set()
    for text in (source, *itertools.islice(turned(source, _depends_on_numbers), MOST_PATHS)):
        scope = namespace(text)
        for args in samples():
            with contextlib.suppress(Exception, Endless, TimeIsUp), quiet(), limited(SECONDS):
                found.add(structure(scope["main"](*args)))
    return len(found) > 1


def structure(value: Any) -> Any:
    """What containers a value consists of."""
    if not is_container(value):
        return ()
    return (type(value).__name__, *((part, structure(item)) for part, item in children(value)))


def _replacing(node: ast.AST, **fields: Any) -> Callable[[], Callable[[], None]]:
    def replace() -> Callable[[], None]:
        before = {field: getattr(node, field) for field in fields}
        vars(node).update(fields)
        return lambda: vars(node).update(before)

    return replace


def dtypes(source: str, samples: Callable[[], list[list]]) -> list[set[np.dtype]]:
    """For each leaf of the result the dtypes that it has on some path."""
    found: list[set[np.dtype]] = []
    for text in itertools.islice(turned(source), MOST_PATHS):
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


class Watched(list):
    """A list that is passed to a program; `longer` says whether it ever got longer."""

    longer = False


def _watching(name: str) -> Callable:
    method = getattr(list, name)

    def changes(self: Watched, *args: Any) -> Any:
        before = len(self)
        try:
            return method(self, *args)
        finally:
            self.longer |= len(self) > before

    return changes


for _name in ("append", "extend", "insert", "__iadd__", "__imul__", "__setitem__"):
    setattr(Watched, _name, _watching(_name))


def lengthens(source: str, arguments: list[str]) -> bool:
    """Whether the program adds to a list that it is given, on some path."""
    for text in (source, *itertools.islice(turned(source), MOST_PATHS)):
        scope, passed = namespace(text), []

        def watched(items: list, passed: list[Watched] = passed) -> Watched:
            passed.append(Watched(items))
            return passed[-1]

        args = [rebuilt(eval(each, scope), lambda leaf: leaf, watched) for each in arguments]
        with contextlib.suppress(Exception, Endless, TimeIsUp), quiet(), limited(SECONDS):
            scope["main"](*args)
        if any(each.longer for each in passed):
            return True
    return False
