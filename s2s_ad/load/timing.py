"""How long each line of generated code takes, by a copy of its module that asks a clock."""

from __future__ import annotations

import ast
import itertools
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from s2s_ad.load.module import Loaded

TICK = "__s2s_tick"
RESULT = "__s2s_result"
LONGEST = 0.3  # seconds that are spent on calls
MOST, LEAST = 2000, 3  # calls


def time_lines(loaded: Loaded, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[int, float]:
    """Seconds that each line of the module takes in a call, those of its calls left out.

    It is the median of many calls; what the clock itself takes is left out, too. Raises what the
    function raises.
    """
    clock = _Clock()
    function = _instrumented(loaded, clock.tick)
    runs: list[dict[int, float]] = []
    end = perf_counter_ns() + int(LONGEST * 1e9)
    while len(runs) < LEAST or (perf_counter_ns() < end and len(runs) < MOST):
        clock.start()
        function(*args, **kwargs)
        runs.append(clock.seconds())
    lines = sorted({line for run in runs for line in run})
    return {line: statistics.median(run.get(line, 0.0) for run in runs) for line in lines}


class _Clock:
    """Adds up what passes between ticks, for the line that each tick names."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, int]] = []
        self.own = 0.0
        self.own = self._measured()

    def start(self) -> None:
        self.marks = [(0, perf_counter_ns())]

    def tick(self, line: int) -> None:
        self.marks.append((line, perf_counter_ns()))

    def seconds(self) -> dict[int, float]:
        found: dict[int, float] = {}
        before = self.marks[0][1]
        for line, now in self.marks[1:]:
            found[line] = found.get(line, 0.0) + max(now - before - self.own, 0.0) * 1e-9
            before = now
        return found

    def _measured(self) -> float:
        """Nanoseconds from one tick to the next where nothing is between them."""
        self.start()
        tick = self.tick
        for _ in range(1001):
            tick(0)
        times = [now for _, now in self.marks[1:]]
        return statistics.median(b - a for a, b in itertools.pairwise(times))


def _instrumented(loaded: Loaded, tick: Callable) -> Callable:
    """The function in a copy of its module that ticks."""
    tree = ast.fix_missing_locations(_Ticking().visit(ast.parse(loaded.text.module)))
    own = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    space = {**loaded.namespace, TICK: tick}
    exec(compile(tree, f"<s2s_ad timed {loaded.text.name}>", "exec"), space)
    space.update({key: value for key, value in loaded.namespace.items() if key not in own})
    return space[loaded.text.name]


class _Ticking(ast.NodeTransformer):
    """Puts a tick behind each statement, at the begin of each block, and before each return."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        start = 1 if ast.get_docstring(node) is not None else 0
        node.body = [*node.body[:start], *self._block(node.body[start:])]
        return node

    def _block(self, body: list[ast.stmt], head: int | None = None) -> list[ast.stmt]:
        """The statements of a block; its begin ends what the line `head` does."""
        found = [] if head is None else [_tick(head)]
        for statement in body:
            found += self._statement(statement)
        return found

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        line = statement.lineno
        if isinstance(statement, ast.Return):
            if statement.value is None:
                return [_tick(line), statement]
            kept = ast.Assign([ast.Name(RESULT, ast.Store())], statement.value)
            return [kept, _tick(line), ast.Return(ast.Name(RESULT, ast.Load()))]
        if isinstance(statement, ast.Break | ast.Continue | ast.Raise):
            return [_tick(line), statement]
        if isinstance(statement, ast.Try):
            statement.body = self._block(statement.body)
            for handler in statement.handlers:
                handler.body = self._block(handler.body, handler.lineno)
            return [statement]
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner:
                setattr(statement, name, self._block(inner, line))
        return [statement, _tick(line)]


def _tick(line: int) -> ast.stmt:
    call = ast.Call(ast.Name(TICK, ast.Load()), [ast.Constant(line)], [])
    return ast.Expr(call)


__all__ = ["time_lines"]
