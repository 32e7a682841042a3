"""Where a body is left: what its statements say of it, and bodies rearranged so that few have to.

`if a: return x` with statements after it is the same as `if a: return x` with these statements as
its `else`. So most exits need no flags: both sides of the branch come to an end of their own.
"""

from __future__ import annotations

import enum
import keyword
from collections.abc import Iterable, Sequence
from typing import Any

import gast

from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.scopes import FUNCTIONS


class Exits(enum.Enum):
    """What the statements of a body say of the one that follows."""

    CONTINUE = "it is reached"
    LEAVES = "it is never reached: the function or the pass of a loop ends here"
    MAYBE = "it is reached on some paths; the flags in the frame's locals tell on which"
    STOPS = "it is never reached, for an exception was raised"


CONTINUE, LEAVES, MAYBE, STOPS = Exits

#: flags among a frame's locals, under names that no local has: the function ends, the loop ends,
#: the pass of the loop ends; and what the function returns
RETURN, BREAK, SKIP = "return", "break", "continue"
RESULT = "return value"
FLAGS = (RETURN, BREAK, SKIP)
#: which handler of a `try` is to run, followed by the place of the `try`
FAILED = "try failed"


def is_flag(name: str) -> bool:
    """Whether a local is one of ours that is a condition and nothing else."""
    return name in FLAGS or name.startswith(f"{FAILED} ")


def is_users(name: str) -> bool:
    """Whether a local may be one of the user's: names of our own none of these can have."""
    return name.isidentifier() and not keyword.iskeyword(name)


LOOPS = (gast.For, gast.While)
LEAVING = (gast.Return, gast.Break, gast.Continue)


def leave(names: dict[str, Any], value: Any) -> Exits:
    """Note in a frame's locals that the function ends with this value."""
    names |= {RESULT: value, RETURN: True, BREAK: True, SKIP: True}
    return LEAVES


class Raises(Exception):
    """The function raises at this statement whatever its inputs: what follows never runs."""


@remembered
def structured(function: gast.FunctionDef) -> tuple[gast.stmt, ...]:
    """The body of a function with what follows an exit moved into the branch that goes on.

    Before: `if a: return x` and `y = b` after it; after: `if a: return x, else: y = b`.
    """
    return tuple(rearranged(function.body))


def rearranged(body: Sequence[gast.stmt]) -> list[gast.stmt]:
    """The statements with what follows an exit moved into the branch that goes on."""
    result: list[gast.stmt] = []
    for index, node in enumerate(body):
        rest = list(body[index + 1 :])
        if isinstance(node, gast.If) and rest and may_leave(node):
            joined = _with_rest(node, rest)
            if joined is not None:
                return [*result, joined]
        result.append(_inside(node))
        if isinstance(node, (*LEAVING, gast.Raise)):
            break
    return result


def _with_rest(node: gast.If, rest: list[gast.stmt]) -> gast.If | None:
    """The branch with what follows it inside, where that is written once or is next to nothing."""
    short = len(rest) == 1 and _is_short(rest[0])
    if always_leaves(node.body):
        return _rebuilt(node, node.body, [*node.orelse, *rest])
    if node.orelse and always_leaves(node.orelse):
        return _rebuilt(node, [*node.body, *rest], node.orelse)
    return _rebuilt(node, [*node.body, *rest], [*node.orelse, *rest]) if short else None


def _is_short(node: gast.stmt) -> bool:
    if isinstance(node, gast.Return):
        return node.value is None or isinstance(node.value, gast.Name | gast.Constant)
    return isinstance(node, gast.Break | gast.Continue | gast.Pass)


def _rebuilt(node: gast.If, body: list[gast.stmt], orelse: list[gast.stmt]) -> gast.If:
    made = gast.If(test=node.test, body=rearranged(body), orelse=rearranged(orelse))
    return gast.copy_location(made, node)


def _inside(node: gast.stmt) -> gast.stmt:
    """The statement with the bodies in it rearranged."""
    if isinstance(node, (*FUNCTIONS, gast.ClassDef)):
        return node
    fields = {name: getattr(node, name, None) for name in node._fields}
    bodies = {name: rearranged(value) for name, value in fields.items() if _is_body(value)}
    if isinstance(node, gast.Try):
        bodies["handlers"] = [_inside(each) for each in node.handlers]
    if isinstance(node, gast.Match):
        bodies["cases"] = [_inside(each) for each in node.cases]
    return gast.copy_location(type(node)(**(fields | bodies)), node) if bodies else node


def _is_body(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], gast.stmt)


def always_leaves(body: Sequence[gast.stmt]) -> bool:
    """Whether what follows these statements is certain not to be reached."""
    return any(_always_leaves(node) for node in body)


def _always_leaves(node: gast.stmt) -> bool:
    if isinstance(node, (*LEAVING, gast.Raise)):
        return True
    if isinstance(node, gast.If):
        return always_leaves(node.body) and always_leaves(node.orelse)
    return isinstance(node, gast.With) and always_leaves(node.body)


def may_leave(*nodes: gast.AST) -> bool:
    """Whether a return, or a break or continue of a loop around the nodes, stands in them."""
    return any(True for _ in leavers(nodes))


def leavers(nodes: Iterable[gast.AST], *, in_loop: bool = False) -> Iterable[gast.stmt]:
    """The statements in the nodes that leave what stands around them."""
    for node in nodes:
        if isinstance(node, gast.Return) or (isinstance(node, LEAVING) and not in_loop):
            yield node
        elif isinstance(node, LOOPS):
            yield from leavers(node.body, in_loop=True)
            yield from leavers(node.orelse, in_loop=in_loop)
        elif not isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.expr)):
            yield from leavers(gast.iter_child_nodes(node), in_loop=in_loop)
