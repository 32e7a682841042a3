"""Makes a failing program small: a delta debugger on syntax trees that keeps how it fails."""

from __future__ import annotations

import ast
import copy
import re
import time
from collections.abc import Callable, Iterator

from random_programs import oracle

Edit = Callable[[], Callable[[], None]]  # does something to the tree, and returns what undoes it


def signature(outcome: oracle.Outcome) -> tuple[str, str]:
    """What a smaller program has to have in common with the failing one."""
    detail = ""
    if outcome.status == "refused" or outcome.sort == "internal":
        detail = re.sub(r"'[^']*'|`[^`]*`|\d+|\([^)]*\)", "_", outcome.detail.split("\n")[0])
    return f"{outcome.status} {outcome.sort}", detail


def reduced(
    source: str, arguments: list[str], seed: int, outcome: oracle.Outcome, seconds: float = 60.0
) -> tuple[str, list[str]]:
    """The smallest program found in so many seconds that still fails in this mode, in this way."""
    wanted = signature(outcome)
    deadline = time.monotonic() + seconds

    def fails(text: str, texts: list[str]) -> bool:
        try:
            found, _ = oracle.check(text, texts, seed, (outcome.mode,))
        except Exception:
            return False
        return any(signature(each) == wanted for each in found)

    tree = ast.parse(source)
    arguments = list(arguments)
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for undo in _edits(tree, arguments):
            if time.monotonic() > deadline:
                undo()
                break
            try:
                keeps = fails(ast.unparse(ast.fix_missing_locations(tree)), arguments)
            except (ValueError, TypeError, AttributeError, SyntaxError):
                keeps = False
            if keeps:
                progress = True
            else:
                undo()
    return ast.unparse(tree), arguments


def _edits(tree: ast.Module, arguments: list[str]) -> Iterator[Callable[[], None]]:
    """Makes the tree smaller in one way after the other; who does not like one undoes it."""
    yield from _without_statements(tree)
    yield from _opened_blocks(tree)
    yield from _without_arguments(tree, arguments)
    yield from _smaller_expressions(tree)


def _blocks(tree: ast.AST) -> Iterator[list]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


def _without_statements(tree: ast.Module) -> Iterator[Callable[[], None]]:
    for block in list(_blocks(tree)):
        size = max(1, len(block) // 2)
        while size:
            start = len(block) - size
            while start >= 0:
                before = list(block)
                del block[start : start + size]
                undone = False

                def undo(block: list = block, before: list = before) -> None:
                    nonlocal undone
                    block[:] = before
                    undone = True

                yield undo
                start -= size
                start = min(start, len(block) - size)
            size //= 2


def _opened_blocks(tree: ast.Module) -> Iterator[Callable[[], None]]:
    for block in list(_blocks(tree)):
        for i in range(len(block) - 1, -1, -1):
            if i >= len(block):
                continue
            node = block[i]
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            for inner in [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]:
                if (
                    isinstance(inner, list)
                    and inner
                    and isinstance(inner[0], ast.stmt)
                    and isinstance(node, ast.stmt)
                ):
                    before = list(block)
                    block[i : i + 1] = inner
                    changed = list(block)

                    def undo(block: list = block, before: list = before) -> None:
                        block[:] = before

                    yield undo
                    if block == changed:
                        break


def _without_arguments(tree: ast.Module, arguments: list[str]) -> Iterator[Callable[[], None]]:
    main = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main"), None)
    if main is None:
        return
    for i in range(len(main.args.args) - 1, -1, -1):
        parameters, texts = list(main.args.args), list(arguments)
        del main.args.args[i]
        del arguments[i]

        def undo(parameters: list = parameters, texts: list = texts) -> None:
            main.args.args[:] = parameters
            arguments[:] = texts

        yield undo


def _smaller_expressions(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Each expression is replaced by one inside, or by a constant."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        for field, value in ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for i, item in enumerate(items):
                if i >= len(items) or not isinstance(item, ast.AST):
                    continue
                if isinstance(item, ast.expr) and not isinstance(
                    getattr(item, "ctx", None), ast.Store | ast.Del
                ):
                    current = item
                    for other in _inside(item):
                        if isinstance(value, list):
                            value[i] = other
                        else:
                            setattr(node, field, other)

                        def undo(node=node, field=field, value=value, i=i, current=current) -> None:
                            if isinstance(value, list):
                                value[i] = current
                            else:
                                setattr(node, field, current)

                        yield undo
                        now = value[i] if isinstance(value, list) else getattr(node, field)
                        if now is other:
                            break
                now = value[i] if isinstance(value, list) else getattr(node, field)
                pending.append(now)


def _inside(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Constant | ast.Name):
        return []
    inner = [
        n
        for n in ast.iter_child_nodes(node)
        if isinstance(n, ast.expr) and not isinstance(n, ast.Slice)
    ]
    if isinstance(node, ast.Call):
        inner = [*node.args, *[k.value for k in node.keywords if k.arg]]
        if isinstance(node.func, ast.Attribute) and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id in ("np", "math")
        ):
            inner.append(node.func.value)
    constants = [ast.Constant(1.5)] if not isinstance(node, ast.UnaryOp) else []
    return [copy.copy(n) if isinstance(n, ast.Name) else n for n in inner] + constants
