"""What a generator function runs from each of its yields on, as the text of a function.

From a `yield` to the next one: what follows it in its block, then what follows that block; where
it stands in a loop, the loop once more. A `yield` on the way hands out its item and leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.frontend.locality import assigns_first
from s2s_ad.frontend.lower.desugar import quote
from s2s_ad.frontend.lower.exits import LOOPS, always_leaves, leavers
from s2s_ad.frontend.remembered import remembered
from s2s_ad.frontend.scopes import FUNCTIONS, bound_names, parameters_of, scope_of

#: locals under names that are no identifiers of Python: whether the generator has begun, whether it
#: is at its end, at which of its yields it waits, what was sent to it, what it yields, the item of
#: another
STARTED, FINISHED, STAGE = "generator started", "generator finished", "yield stage"
SENT = "sent to the generator"
RESUME = "from a yield on"
ITEM, STEP = "yielded ", "item of another"
STATE = (STARTED, FINISHED, STAGE)

Block = list[gast.stmt]


def begin_items() -> None:
    """Stands for iter() where a loop that yields begins."""


def has_item() -> None:
    """Stands for the question of such a loop whether there is a next item."""


def take_item() -> None:
    """Stands for that item."""


@dataclass(frozen=True, slots=True)
class Resumable:
    """A generator function as a function that goes on from where it was left.

    The locals of `around` are what lasts from one yield to the next; `resume` is defined in it.
    `given` are parameters that nothing assigns.
    """

    around: gast.FunctionDef
    resume: gast.FunctionDef
    given: set[str]


@remembered
def resumable(node: gast.FunctionDef) -> Resumable:
    """The definition of what goes on from one yield to the next."""
    return _Resuming(node).made()


def not_resumable(node: gast.FunctionDef) -> gast.AST | None:
    """What stands around a yield, or is asked of it, from where nothing can go on."""
    plain = [x.value for x in own_nodes(node.body) if isinstance(x, gast.Expr) or receives(x)]
    for each in own_nodes(node.body):
        if isinstance(each, gast.Yield | gast.YieldFrom):
            if not any(each is other for other in plain):
                return each
        elif isinstance(each, gast.Return) and each.value is not None:
            return each
        elif isinstance(each, gast.stmt) and not isinstance(each, (gast.Expr, gast.If, *LOOPS)):
            if has_yields(each) and not receives(each):
                return each
        elif isinstance(each, LOOPS) and has_yields(each):
            for leaver in leavers(each.body):
                if not isinstance(leaver, gast.Return) and not _in_ifs(each.body, leaver):
                    return leaver
    return None


def _in_ifs(body: Block, node: gast.stmt) -> bool:
    """Whether the statement stands in the body with nothing around it but conditions."""
    inner = (part for x in body if isinstance(x, gast.If) for part in (x.body, x.orelse))
    return any(each is node for each in body) or any(_in_ifs(each, node) for each in inner)


class _Resuming:
    """One generator function while it is rewritten."""

    def __init__(self, node: gast.FunctionDef):
        self.node, self.body = node, _one_by_one(node.body)
        nodes = [*own_nodes(self.body)]
        self.yields = [each for each in nodes if is_yield(each)]
        self.loops = [each for each in nodes if isinstance(each, LOOPS)]

    def made(self) -> Resumable:
        begin = self.up_to_yields(self.body)
        stages = [self.follows(self.body, each, []) for each in self.yields]
        scope, names = scope_of(self.node), sorted(self._lasting([begin, *stages]))
        places: dict[str, Any] = {"A": STARTED, "F": FINISHED, "B": begin}
        places["C"] = self._dispatched(stages)
        text = "if F: return\nF = True\nif A:\n    C\nelse:\n    A = True\n    B"
        outer = [gast.Nonlocal([*scope.outer])] if scope.outer else []
        module = [gast.Global([*scope.module])] if scope.module else []
        said = [gast.Nonlocal([*names, *scope.outer]), *module]
        resume = self._function([*said, *quote(text, self.node, places)], _nothing())
        bound = [each for name in names for each in quote("V = 0", self.node, {"V": name})]
        bound += [each for name in scope.module for each in quote("V = 0", self.node, {"V": name})]
        around = self._function([*outer, *module, *bound, resume], self.node.args)
        given = parameters_of(self.node).difference(*bound_names(self.body))
        return Resumable(around, resume, given)

    def _lasting(self, blocks: list[Block]) -> set[str]:
        """The locals that one stretch of the text assigns and another reads."""
        names = scope_of(self.node).names
        inner = [x for x in own_nodes(self.body) if isinstance(x, FUNCTIONS)]
        kept = {x.id for each in inner for x in gast.walk(each) if isinstance(x, gast.Name)} & names
        kept |= {x.name for x in inner if isinstance(x, gast.FunctionDef)}
        found = {*names, *map(self._iterator, self.loops)} - kept
        found = {x for x in found if not all(assigns_first(each, x) for each in blocks)}
        sent = {SENT} if is_sent_to(self.node) else set()
        return found | kept | parameters_of(self.node) | {*STATE} | sent

    def _dispatched(self, stages: list[Block]) -> Block:
        """What follows the yield at which it waits."""
        made = stages[-1]
        for number, each in reversed([*enumerate(stages[:-1])]):
            places = {"S": STAGE, "N": _constant(number, self.node), "B": each, "C": made}
            made = quote("if S == N:\n    B\nelse:\n    C", self.node, places)
        return made

    def _function(self, body: list, args: gast.arguments) -> gast.FunctionDef:
        fields = {name: getattr(self.node, name, None) for name in self.node._fields}
        fields |= {"body": body, "args": args, "decorator_list": [], "name": RESUME}
        for each in body:
            if not hasattr(each, "lineno"):
                gast.copy_location(each, self.node)
        return gast.copy_location(gast.FunctionDef(**fields), self.node)

    def _iterator(self, loop: gast.stmt) -> str:
        """The local that holds what a loop reads."""
        index = next(i for i, each in enumerate(self.loops) if each is loop)
        return f"items of loop {index}"

    # ---- up to the next yield

    def up_to_yields(self, body: Sequence[gast.stmt]) -> Block:
        """The statements; at each yield they are left."""
        made: Block = []
        for each in body:
            made += self._up_to_yield(each)
            if _ends(made):
                break
        return made

    def _up_to_yield(self, node: gast.stmt) -> Block:
        if is_yield(node):
            return self._left(node)
        if not has_yields(node):
            return [node]
        if isinstance(node, gast.For):
            places = {"V": self._iterator(node), "G": _constant(begin_items, node.iter)}
            begun = quote("V = G(E)", node.iter, places | {"E": node.iter})
            return [*begun, *self._once_more(node)]
        if isinstance(node, LOOPS):
            return self._once_more(node)
        branches = self.up_to_yields(node.body), self.up_to_yields(node.orelse)
        return [gast.copy_location(gast.If(node.test, *branches), node)]

    def _once_more(self, node: gast.For | gast.While) -> Block:
        """A loop from the test on that begins a pass."""
        body, orelse = self.up_to_yields(node.body), self.up_to_yields(node.orelse)
        if isinstance(node, gast.While):
            test = node.test
        else:
            places = {"V": self._iterator(node), "X": node.target}
            places |= {"M": _constant(has_item, node), "N": _constant(take_item, node)}
            test = quote("M(V)", node.iter, places)[0].value
            body = [*quote("X = N(V)", node, places), *body]
        if _ends(body) and not any(map(_is_of_loop, leavers(body))):
            known = isinstance(test, gast.Constant) and bool(test.value)
            return body if known else [gast.copy_location(gast.If(test, body, orelse), node)]
        return [gast.copy_location(gast.While(test, body, orelse), node)]

    def _left(self, node: gast.stmt) -> Block:
        number = next(i for i, each in enumerate(self.yields) if each is node)
        value = node.value.value or _constant(None, node)
        places = {"T": ITEM, "E": value, "F": FINISHED, "S": STAGE, "N": _constant(number, node)}
        return quote("T = E\nS = N\nF = False\nreturn", node, places)

    # ---- from a yield on

    def follows(self, body: Block, target: gast.stmt, after: Block) -> Block:
        """What runs from a yield on that stands in the body, and what runs after the body."""
        index = next(
            i for i, each in enumerate(body) if any(x is target for x in own_nodes([each]))
        )
        node, rest = body[index], _joined(self.up_to_yields(body[index + 1 :]), after)
        if node is target:
            return rest
        inside = any(each is target for each in own_nodes(node.body))
        if isinstance(node, LOOPS) and inside:
            again = _joined(self._once_more(node), rest)
            return _routed(self.follows(node.body, target, []), again, rest)
        return self.follows(node.body if inside else node.orelse, target, rest)


def _routed(body: Block, again: Block, left: Block) -> Block:
    """The end of a pass that stands outside of its loop, with what runs after it."""
    made: Block = []
    for index, node in enumerate(body):
        if isinstance(node, gast.Break):
            return made + left
        if isinstance(node, gast.Continue):
            return made + again
        if not any(map(_is_of_loop, leavers([node]))):
            made.append(node)
            continue
        rest = body[index + 1 :]
        branches = [_routed(_joined(each, rest), again, left) for each in (node.body, node.orelse)]
        return [*made, gast.copy_location(gast.If(node.test, *branches), node)]
    return _joined(made, again)


def _joined(body: Block, after: Block) -> Block:
    return body if _ends(body) else [*body, *after]


def _ends(body: Block) -> bool:
    """Whether what follows the statements is never reached."""
    return always_leaves(body) or any(map(never_ends, body))


def never_ends(loop: gast.AST) -> bool:
    """Whether it is a loop that nothing leaves."""
    is_true = isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant)
    return is_true and bool(loop.test.value) and not any(True for _ in leavers(loop.body))


def _is_of_loop(node: gast.stmt) -> bool:
    return isinstance(node, gast.Break | gast.Continue)


def is_yield(node: gast.AST) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Yield)


def receives(node: gast.AST) -> bool:
    """Whether the statement is `x = yield y`."""
    return isinstance(node, gast.Assign) and isinstance(node.value, gast.Yield)


def is_sent_to(node: gast.FunctionDef) -> bool:
    """Whether the generator reads what is sent to it."""
    return any(map(receives, own_nodes(node.body)))


def has_yields(node: gast.AST) -> bool:
    return any(isinstance(each, gast.Yield | gast.YieldFrom) for each in own_nodes([node]))


def own_nodes(nodes: Iterable[gast.AST]) -> Iterator[gast.AST]:
    """The nodes of one scope: those in functions inside are left out."""
    for node in nodes:
        yield node
        if not isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            yield from own_nodes(gast.iter_child_nodes(node))


def _one_by_one(body: Block) -> Block:
    """The statements with `yield from` as the loop that it is, and `x = yield y` as two."""
    return [made for each in body for made in _yielding(each)]


def _yielding(node: gast.stmt) -> Block:
    value = getattr(node, "value", None)
    if isinstance(node, gast.Expr) and isinstance(value, gast.YieldFrom):
        item = gast.copy_location(gast.Name(STEP, gast.Load(), None, None), node)
        (given,) = quote("V", node, {"V": gast.copy_location(gast.Yield(item), node)})
        return quote("for V in E: B", node, {"V": STEP, "E": value.value, "B": [given]})
    if receives(node):
        given = gast.copy_location(gast.Expr(value), node)
        sent = gast.copy_location(gast.Name(SENT, gast.Load(), None, None), node)
        return [given, gast.copy_location(gast.Assign(node.targets, sent, None), node)]
    if not has_yields(node):
        return [node]
    fields = {name: getattr(node, name, None) for name in node._fields}
    fields |= {name: _one_by_one(fields[name]) for name in ("body", "orelse") if name in fields}
    return [gast.copy_location(type(node)(**fields), node)]


def _constant(value: Any, node: gast.AST) -> gast.Constant:
    return gast.copy_location(gast.Constant(value=value, kind=None), node)


def _nothing() -> gast.arguments:
    return gast.arguments([], [], None, [], [], None, [])
