"""Calls of functions with derivatives of the user's own, and of functions that are checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gast

from s2s_ad.core import form, tree
from s2s_ad.core.builder import Symbol, to_node
from s2s_ad.core.callee import Callee, callee_of, item_of
from s2s_ad.core.custom import CheckpointCallee, CustomCallee, Opaque
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower.calls import apply, is_foreign
from s2s_ad.frontend.lower.containers import sequence
from s2s_ad.frontend.lower.paths import block, free_names
from s2s_ad.frontend.resolve import unwrap

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def checkpoint_call(
    lowering: Lowering, function: Any, name: str, args: list, kwargs: dict[str, Any]
) -> Any:
    """A call whose backward pass computes again what it needs."""
    own = _symbols([*args, *kwargs.values()])
    code = getattr(function, "node", None) or unwrap(function)
    if any(code is each for each in lowering.checkpoints):
        raise UnsupportedError(
            "S2S201",
            f"the checkpoint {name} calls itself",
            origin=lowering.builder.origin,
            why="what each call computes again would be computed again by the call around it",
            help="make a checkpoint of the part that does not call the function, or of one call",
        )
    lowering.checkpoints.append(code)
    try:
        body, result = _cut(lowering, function, name, args, kwargs)
    finally:
        lowering.checkpoints.pop()
    outputs = _symbols([result])
    if not outputs:
        return result
    whole = callee_of(body[0]) if body else None
    if whole is not None and all(map(item_of, body[1:])):
        return _as_checkpoint(lowering, whole, body, result)
    free = free_names(lowering, body, [form.name(each.name) for each in [*outputs, *own]])
    operands = [Symbol(lowering.builder, each) for each in free]
    callee = CheckpointCallee(_program(lowering, name, body, free, outputs))
    return _placed(callee.call(lowering.builder, operands), outputs, result)


def _as_checkpoint(lowering: Lowering, call: Callee, body: list, result: Any) -> Any:
    """The call of a function that keeps its name, as the checkpoint."""
    builder, first = lowering.builder, body[0]
    atoms = {name: Symbol(builder, name) for name in first.reads}
    operands = [builder.view(each, atoms) for each in first.operands]
    results = CheckpointCallee(call.program).call(builder, operands)
    found = {each.target: results[item_of(each)[1]] for each in body[1:]}
    if not call.several:
        found[first.target] = results[0]
    return tree.tree_map(
        lambda leaf: found.get(leaf.name, leaf) if isinstance(leaf, Symbol) else leaf, result
    )


def custom_call(
    lowering: Lowering,
    function: Any,
    reverse: Any,
    forward: Any,
    results: int | None,
    name: str,
    args: list,
    kwargs: dict[str, Any],
) -> Any:
    """A call of a function whose derivatives are functions too."""
    if is_foreign(function):
        function = Opaque(function, results)
    given = _symbols([*args, *kwargs.values()])
    fresh = {id(each): _fresh(lowering, each) for each in given}
    args = [_replaced(each, fresh) for each in args]
    kwargs = {key: _replaced(each, fresh) for key, each in kwargs.items()}
    own = list(fresh.values())
    body, result = _cut(lowering, function, name, args, kwargs)
    outputs = _symbols([result])
    free = _free(lowering, body, outputs, own)
    leaves = [*(each.name for each in own), *free]
    program = _program(lowering, name, body, leaves, outputs)
    code = _Code(lowering, name, args, kwargs, result, own, outputs)
    backward = None if reverse is None else code.reverse(reverse, leaves)
    tangents = None if forward is None else code.forward(forward, leaves)
    callee = CustomCallee(program, backward, tangents, len(own))
    operands = [*given, *(Symbol(lowering.builder, each) for each in free)]
    return _placed(callee.call(lowering.builder, operands), outputs, result)


class _Code:
    """The user's derivative code of one call, lowered: programs of adjoints or tangents."""

    def __init__(
        self,
        lowering: Lowering,
        name: str,
        args: list,
        kwargs: dict[str, Any],
        result: Any,
        own: Sequence[Symbol],
        outputs: Sequence[Symbol],
    ):
        self.lowering, self.name, self.args, self.kwargs = lowering, name, args, kwargs
        self.result, self.own, self.outputs = result, own, outputs

    def reverse(self, function: Any, leaves: list[str]) -> Program:
        """reverse(y_bar, y, *args) gives the adjoint of each argument."""
        y_bars = {id(each): _fresh(self.lowering, each, "_bar") for each in self.outputs}
        given = [_replaced(self.result, y_bars), self.result, *self.args]
        body, adjoints = _cut(self.lowering, function, self.name, given, self.kwargs)
        arguments = [*self.args, *self.kwargs.values()]
        results = self._by_leaf(adjoints, arguments, "the adjoint of each argument")
        return self._program(body, [*y_bars.values(), *self.outputs], leaves, results)

    def forward(self, function: Any, leaves: list[str]) -> Program:
        """forward(dots, y, *args) gives the tangent of the result."""
        dots = {id(each): _fresh(self.lowering, each, "_dot") for each in self.own}
        tangents = [_replaced(each, dots) for each in [*self.args, *self.kwargs.values()]]
        given = [sequence(tuple, tangents), self.result, *self.args]
        body, tangent = _cut(self.lowering, function, self.name, given, self.kwargs)
        results = self._by_leaf(tangent, [self.result], "the tangent of the result")
        return self._program(body, [*dots.values(), *self.outputs], leaves, results)

    def _by_leaf(self, found: Any, wanted: list, what: str) -> list:
        """What the code gives for each leaf that is not known now; one value may come bare."""
        items = list(found.items) if isinstance(found, Tree) and found.kind is tuple else [found]
        if len(wanted) == 1 and len(items) != 1:
            items = [found]
        if len(items) != len(wanted):
            raise ArgumentTypeError(
                "S2S501",
                f"the derivative code of {self.name} gives {len(items)} values, "
                f"and {len(wanted)} are expected: {what}",
                origin=self.lowering.builder.origin,
            )
        results = []
        for item, value in zip(items, wanted, strict=True):
            leaves = tree.leaves(value)
            parts = tree.leaves(item) if item is not None else [None] * len(leaves)
            if len(parts) != len(leaves):
                raise ArgumentTypeError(
                    "S2S501",
                    f"the derivative code of {self.name} gives a value of another structure",
                    origin=self.lowering.builder.origin,
                    help=f"give {what}, in the structure of that value",
                )
            pairs = zip(leaves, parts, strict=True)
            results += [part for leaf, part in pairs if isinstance(leaf, Symbol)]
        return results

    def _program(
        self, body: list, first: Sequence[Symbol], leaves: list[str], results: list
    ) -> Program:
        names = [*(each.name for each in first), *leaves]
        others = [
            each for each in _free(self.lowering, body, _symbols(results)) if each not in names
        ]
        if others:
            raise UnsupportedError(
                "S2S201",
                f"the derivative code of {self.name} reads a value of the function around it",
                origin=self.lowering.builder.origin,
                help="pass the value as an argument",
            )
        return _program(self.lowering, self.name, body, names, results)


def _cut(
    lowering: Lowering, function: Any, name: str, args: list, kwargs: dict[str, Any]
) -> tuple[list[form.Statement], Any]:
    """What a call appends, taken out again, and its result."""
    builder, start = lowering.builder, len(lowering.builder.body)
    moment = lowering.memory.moment()
    result = apply(lowering, function, args, kwargs)
    if lowering.memory.changes(moment):
        raise SharedMemoryError(
            "S2S207",
            f"{name} changes an object in place",
            origin=builder.origin,
            why="a function with derivative code of its own, or a checkpoint, may only compute",
            help="let it work on a copy: x = x.copy()",
        )
    body = builder.body[start:]
    del builder.body[start:]
    return body, tree.tree_map(unwrap, result)


def _program(
    lowering: Lowering, name: str, body: list, leaves: Sequence[str], outputs: Sequence[Any]
) -> Program:
    nodes: list[gast.AST] = [to_node(each) for each in outputs]
    made = block(lowering, body, leaves, nodes)
    output = made.output if len(nodes) != 1 else nodes[0]
    inputs = tuple(
        each.__class__(lowering.builder.hints.get(each.tree, TEMPORARY).text or f"x{i}", each.tree)
        for i, each in enumerate(made.inputs)
    )
    return made.with_(name=name, doc=name, output=output, inputs=inputs)


def _free(
    lowering: Lowering, body: list, outputs: Sequence[Symbol], own: Sequence[Symbol] = ()
) -> list[str]:
    names = {each.name for each in own}
    nodes = [form.name(each.name) for each in outputs]
    return [each for each in free_names(lowering, body, nodes) if each not in names]


def _fresh(lowering: Lowering, value: Symbol, suffix: str = "") -> Symbol:
    hint = lowering.builder.hints.get(value.name, TEMPORARY)
    return lowering.builder.symbol(value.fact, hint.derived(suffix) if suffix else hint)


def _symbols(items: Sequence[Any]) -> list[Symbol]:
    """The values that are not known now, each object once."""
    leaves = [leaf for item in items for leaf in tree.leaves(item)]
    return list({id(each): each for each in leaves if isinstance(each, Symbol)}.values())


def _replaced(value: Any, by: dict[int, Any]) -> Any:
    return tree.tree_map(lambda leaf: by.get(id(leaf), leaf), value)


def _placed(results: list, outputs: Sequence[Symbol], result: Any) -> Any:
    """The result of the call with the outputs in their places."""
    found = {id(old): new for old, new in zip(outputs, results, strict=True)}
    return _replaced(result, found)


__all__ = ["checkpoint_call", "custom_call"]
