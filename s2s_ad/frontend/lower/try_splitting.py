"""The body of a `try` in parts, so that what it did before it failed is known where it failed.

Each part ends with the one statement that changes what is read after a failure; where it raises,
that was not done. A flag says that a part has failed; what follows runs where none has:

    try:                        failed = False
        x = f(x)                try:
        y = g(x)                    x = f(x)
    except ValueError:          except ValueError:
        y = x                       failed = True
                                if not failed:
                                    try:
                                        y = g(x)
                                    except ValueError:
                                        failed = True
                                if failed:
                                    y = x

Branches and loops around the parts stay outside of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import gast

from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import FAILED, LOOPS, is_users, leavers
from s2s_ad.frontend.scopes import FUNCTIONS, bound_names

STORES = (gast.Assign, gast.AugAssign, gast.AnnAssign)
SIMPLE = (*STORES, gast.Assert, gast.Delete, gast.Expr, gast.FunctionDef, gast.Pass, gast.Raise)
SIMPLE += (gast.Break, gast.Continue, gast.Return)
#: methods of containers that change nothing where they raise
CHANGES = ("add", "append", "appendleft", "discard", "insert", "pop", "remove")
RAISING = (gast.Call, gast.Subscript, gast.BinOp, gast.Attribute, gast.NamedExpr, gast.IfExp)


class Part(gast.Try):
    """A part of a `try` that was taken apart."""


class Bare(gast.For):
    """A loop around parts of a `try`: what taking an item raises, its handlers do not catch."""


def in_parts(
    node: gast.Try, function: gast.AST, *, changes: bool = False
) -> list[gast.stmt] | None:
    """The statements that a `try` without `finally` stands for; None where one part will do.

    `changes` says that it changes memory that may be read after it has failed.
    """
    single = len(node.body) == 1 and isinstance(node.body[0], SIMPLE)
    if isinstance(node, Part) or single:
        return None
    seen = seen_after(function, node)
    stays = [_stays(each) for each in node.handlers]
    if not (changes or half_done(node) & seen) or not all(map(_may_move, node.handlers, stays)):
        return None
    return _Parts(seen, changes).of(node, stays, ())


def half_done(node: gast.Try) -> set[str]:
    """The names that the body of a try may or may not have assigned where it failed."""
    *before, last = up_to_last(node.body)
    early = set().union(*bound_names(before))
    late = set().union(*bound_names([last]))
    return early | late if values_of_change(last) is None else early


def up_to_last(body: list[gast.stmt]) -> list[gast.stmt]:
    """The body of a try without what cannot raise behind its last statement that does something."""
    quiet = gast.Break | gast.Continue | gast.Pass
    count = len(body)
    while count > 1 and isinstance(body[count - 1], quiet):
        count -= 1
    return body[:count]


def values_of_change(node: gast.stmt) -> list[gast.expr] | None:
    """What a statement computes before the one change that it makes; None where it makes others."""
    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
        given = [*node.value.args, *(each.value for each in node.value.keywords)]
        return None if any(isinstance(each, gast.Starred) for each in given) else given
    if isinstance(node, gast.Delete):
        plain = len(node.targets) == 1 and isinstance(node.targets[0], gast.Name | gast.Subscript)
        return calls_in(node.targets[0]) if plain else None
    if not _is_atomic(node):
        return None
    targets = node.targets if isinstance(node, gast.Assign) else [node.target]
    return [node.value, *(call for each in targets for call in calls_in(each))]


def calls_in(target: gast.expr) -> list[gast.expr]:
    """What the target of a store calls, or assigns, for its index."""
    if isinstance(target, gast.Call | gast.NamedExpr):
        return [target]
    return [call for child in gast.iter_child_nodes(target) for call in calls_in(child)]


def _is_atomic(node: gast.stmt) -> bool:
    """Whether the statement has changed nothing where it raises, unless its value does."""
    if isinstance(node, gast.Assign):
        if len(node.targets) > 1:
            return all(isinstance(each, gast.Name) for each in node.targets)
        (target,) = node.targets
        names = isinstance(target, gast.Tuple | gast.List) and all(
            isinstance(each, gast.Name) for each in target.elts
        )
        return names or isinstance(target, gast.Name | gast.Subscript | gast.Attribute)
    return isinstance(node, gast.AugAssign | gast.AnnAssign) and isinstance(node.value, gast.expr)


# ---- what is seen after a failure ----------------------------------------------------------------


def seen_after(function: gast.AST, node: gast.Try) -> set[str]:
    """The names whose value at the failure of a `try` in the function may be read."""
    inside = {_place(each) for statement in node.body for each in gast.walk(statement)}
    repeated = any(
        isinstance(each, LOOPS) and any(_place(x) == _place(node) for x in gast.walk(each))
        for each in gast.walk(function)
    )
    nodes = [each for each in gast.walk(function) if repeated or _place(each) not in inside]
    after = set(_read(nodes))
    found = {each for x in gast.walk(function) if isinstance(x, gast.Nonlocal) for each in x.names}
    for handler in node.handlers:
        assigned: set[str] = set()
        for statement in handler.body:
            found |= set(_read(gast.walk(statement))) - assigned
            if isinstance(statement, gast.Assign):
                assigned |= {x.id for x in statement.targets if isinstance(x, gast.Name)}
        if not isinstance(handler.body[-1], gast.Return | gast.Raise):
            found |= after - assigned
    return found


def _place(node: gast.AST) -> tuple:
    return (type(node), getattr(node, "lineno", None), getattr(node, "col_offset", None))


def _read(nodes: Iterable[gast.AST]) -> Iterator[str]:
    for each in nodes:
        target = each.target if isinstance(each, gast.AugAssign) else each
        loaded = target is not each or isinstance(getattr(each, "ctx", None), gast.Load | gast.Del)
        if loaded and isinstance(target, gast.Name):
            yield target.id


# ---- handlers ------------------------------------------------------------------------------------


def _stays(handler: gast.ExceptHandler) -> bool:
    """Whether the handler has to run where the exception is caught, for it may raise it again."""
    again = (each for s in handler.body for each in gast.walk(s) if isinstance(each, gast.Raise))
    return isinstance(handler.body[-1], gast.Raise) or any(each.exc is None for each in again)


def _may_move(handler: gast.ExceptHandler, stays: bool) -> bool:
    """Whether the handler says the same behind the `try`, or in each of its parts."""
    if stays:
        return all(isinstance(each, gast.Return) for each in leavers(handler.body))
    name = getattr(handler.name, "id", None)
    return name not in set(_read(x for each in handler.body for x in gast.walk(each)))


# ---- parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parts:
    """Takes bodies apart; `seen` and `changes` as above."""

    seen: set[str]
    changes: bool

    def of(
        self, node: gast.Try, stays: Sequence[bool], around: Sequence[gast.ExceptHandler]
    ) -> list[gast.stmt]:
        """The parts of a `try`, inside of others whose handlers are `around` it."""
        flag, outer = f"{FAILED} at {node.lineno}:{node.col_offset}", _flags(around)
        while flag in outer:  # a `try` with a `finally` stands for two in the same position
            flag += ", inside"
        catching, moved, single = [], [], len(stays) == 1
        for handler, stay in zip(node.handlers, stays, strict=True):
            number = quote(f"F = {single or len(moved) + 1}", node, {"F": flag})
            if not stay:
                moved.append(handler)
            body = [*handler.body, *number] if stay else number
            name = handler.name if stay else None
            made = gast.ExceptHandler(handler.type, name, body)
            catching.append(gast.copy_location(made, handler))
        body = self.body(node.body, [*catching, *around], [flag, *outer])
        after = self._body_around(node.orelse, around, outer)
        for number, handler in reversed([*enumerate(moved, 1)]):
            if not after and all(isinstance(each, gast.Pass) for each in handler.body):
                continue
            places = {"F": flag, "H": self._body_around(handler.body, around, outer), "E": after}
            test = "F" if single else f"F == {number}"
            text = f"if {test}:\n    H" + ("\nelse:\n    E" if after else "")
            after = quote(text, handler, places)
        first = quote("F = False" if single else "F = 0", node, {"F": flag})
        return [*first, *body, *self._unless(outer, after, node)]

    def _body_around(self, body: list, around: Sequence, flags: Sequence[str]) -> list[gast.stmt]:
        return self.body(body, around, flags) if around else body

    def body(
        self, body: Sequence[gast.stmt], catching: Sequence, flags: Sequence[str]
    ) -> list[gast.stmt]:
        """The statements in parts, each of which runs where the one before has not failed."""
        found: list[gast.stmt] = []
        part: list[gast.stmt] = []
        body = [each for node in body for each in _one_by_one(node)]
        for index, node in enumerate(body):
            rest = body[index + 1 :]
            inside = None if isinstance(node, SIMPLE) else self._inside(node, catching, flags)
            if inside is None:
                part.append(node)
                if rest and not self._ends(node):
                    continue
                inside = []
            found += [_tried(part, catching)] if part else []
            if inside and part:
                inside = self._unless(flags, inside, node)
            found += inside
            return found + self._unless(flags, self.body(rest, catching, flags), node)
        return found

    def _ends(self, node: gast.stmt) -> bool:
        """Whether a part ends with the statement."""
        updates = self.changes and _updates_a_name(node)
        bound = bound_in(node)
        ours = not all(map(is_users, bound))  # what the next part reads
        return updates or ours or bool(self.seen & bound) or _changes_memory(node)

    def _in_loop(self, node: gast.For | gast.While) -> _Parts:
        """What a pass leaves, the next one may read, or the test."""
        return replace(self, seen=self.seen | (set(_read(gast.walk(node))) & bound_in(node)))

    def _unless(self, flags: Sequence[str], body: list, node: gast.stmt) -> list[gast.stmt]:
        for flag in flags if body else ():
            places = {"F": flag, "B": body}
            body = quote("if F:\n    pass\nelse:\n    F = False\n    B", node, places)
        return body

    # ---- compound statements

    def _inside(
        self, node: gast.stmt, catching: Sequence, flags: Sequence[str]
    ) -> list[gast.stmt] | None:
        """A compound statement with the parts of its bodies; None where it is a part itself."""
        if not self._ends(node):
            return None
        if isinstance(node, gast.If):
            return self._branch(node, catching, flags)
        if isinstance(node, gast.For):
            return self._loop(node, catching, flags)
        if isinstance(node, gast.While):
            return self._while(node, catching, flags)
        if isinstance(node, gast.With):
            body = self.body(node.body, catching, flags)
            return [gast.copy_location(gast.With(node.items, body, None), node)]
        if isinstance(node, gast.Try) and not node.finalbody:
            stays = [*map(_stays, node.handlers)]  # what raises in a handler, another `try` catches
            movable = not any(stays) and all(map(_may_move, node.handlers, stays))
            return self.of(node, stays, catching) if movable else None
        return None

    def _head(self, head: gast.expr) -> tuple[list[gast.stmt], gast.expr]:
        """(what computes the head of a compound statement, what stands for it there).

        What a call is given is computed first: the call, of `zip` say, may be all that is left.
        """
        if not _may_raise(head):
            return [], head
        first = []
        if isinstance(head, gast.Call):
            given = [self._head(each) for each in head.args]
            first = [each for statements, _ in given for each in statements]
            args = [each for _, each in given]
            head = gast.copy_location(gast.Call(head.func, args, head.keywords), head)
        name = f"head {head.lineno}:{head.col_offset}"
        first += quote("T = E", head, {"T": name, "E": head})
        return first, quote("T", head, {"T": name})[0].value

    def _after(
        self, first: list[gast.stmt], rest: list, catching: Sequence, flags: Sequence[str]
    ) -> list[gast.stmt]:
        """The statements, each of them a part, and the rest where none of them has failed."""
        for each in reversed(first):
            rest = [_tried([each], catching), *self._unless(flags, rest, each)]
        return rest

    def _branch(self, node: gast.If, catching: Sequence, flags: Sequence[str]) -> list[gast.stmt]:
        first, test = self._head(node.test)
        bodies = [self.body(each, catching, flags) for each in (node.body, node.orelse)]
        made = [gast.copy_location(gast.If(test, *bodies), node)]
        return self._after(first, made, catching, flags)

    def _loop(
        self, node: gast.For, catching: Sequence, flags: Sequence[str]
    ) -> list[gast.stmt] | None:
        known = isinstance(node.iter, gast.Call)
        if not isinstance(node.target, gast.Name) and not known:
            return None  # taking an item apart may fail
        first, items = self._head(node.iter)
        body = [*self._in_loop(node).body(node.body, catching, flags), *_leave(flags, node)]
        orelse = self.body(node.orelse, catching, flags)
        made = Bare(node.target, items, body, orelse, None)
        return self._after(first, [gast.copy_location(made, node)], catching, flags)

    def _while(
        self, node: gast.While, catching: Sequence, flags: Sequence[str]
    ) -> list[gast.stmt] | None:
        body = [*self._in_loop(node).body(node.body, catching, flags), *_leave(flags, node)]
        first, test = self._head(node.test)
        if not first:
            orelse = self.body(node.orelse, catching, flags)
            return [gast.copy_location(gast.While(test, body, orelse), node)]
        if node.orelse:
            return None
        first = self._after(first, [], catching, flags)
        places = {"FIRST": [*first, *_leave(flags, node)], "TEST": test, "BODY": body}
        text = "while True:\n    FIRST\n    if not TEST:\n        break\n    BODY"
        return quote(text, node, places)


def _flags(catching: Sequence[gast.ExceptHandler]) -> list[str]:
    """The flags that handlers set."""
    return list(dict.fromkeys(each.body[-1].targets[0].id for each in catching))


def _leave(flags: Sequence[str], node: gast.stmt) -> list[gast.stmt]:
    return [x for each in flags for x in quote("if F:\n    break", node, {"F": each})]


def _tried(body: Sequence[gast.stmt], catching: Sequence[gast.ExceptHandler]) -> gast.Try:
    return gast.copy_location(Part(list(body), list(catching), [], []), body[0])


def _one_by_one(node: gast.stmt) -> list[gast.stmt]:
    """a[i], a[j] = x, y: the values, then each of the stores, which may fail after the other."""
    target = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
    plain = isinstance(target, gast.Tuple) and isinstance(node.value, gast.Tuple)
    if not plain or len(target.elts) != len(node.value.elts):
        return [node]
    if not all(isinstance(each, gast.Subscript | gast.Attribute) for each in target.elts):
        return [node]
    names = [f"value {i} {node.lineno}:{node.col_offset}" for i in range(len(target.elts))]
    places = [{"T": n, "E": e} for n, e in zip(names, node.value.elts, strict=True)]
    first = [each for given in places for each in quote("T = E", node, given)]
    read = [quote("T", node, {"T": name})[0].value for name in names]
    stores = [
        gast.copy_location(gast.Assign([each], value, None), node)
        for each, value in zip(target.elts, read, strict=True)
    ]
    return [*first, *stores]


def bound_in(node: gast.stmt) -> set[str]:
    """The names that a statement assigns."""
    return set().union(*bound_names([node]))


def _updates_a_name(node: gast.stmt) -> bool:
    """Whether arrays that have names may be changed in place: a += b."""
    nodes = (each for each in gast.walk(node) if isinstance(each, gast.AugAssign))
    return any(isinstance(each.target, gast.Name) for each in nodes)


def _changes_memory(node: gast.stmt) -> bool:
    """Whether the statement seems to change an array or a container."""
    for each in gast.walk(node):
        if isinstance(each, gast.Subscript | gast.Attribute) and not isinstance(
            each.ctx, gast.Load
        ):
            return True
        if isinstance(each, gast.Expr) and isinstance(each.value, gast.Call):
            return True
    return False


def _may_raise(head: gast.expr) -> bool:
    """Whether the head of a compound statement may raise, going by its form.

    Where it turns out not to, the `try` that is put around it leaves nothing.
    """
    nodes = (each for each in gast.walk(head) if not isinstance(each, FUNCTIONS))
    return any(isinstance(each, RAISING) for each in nodes)


__all__ = ["CHANGES", "half_done", "in_parts", "values_of_change"]
