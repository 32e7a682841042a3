"""The rule of each_sample: what one sample's rule writes, batched."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name, to_node
from s2s_ad.core.program import Input, Program
from s2s_ad.core.registry import register, rule_of
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.core.tree import tuple_of
from s2s_ad.diagnostics import BatchError
from s2s_ad.transforms.batch.walk import batch


class EachSample(Rule):
    """each_sample(function, batched, *operands): derived by batching the function's own rules."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        function, flags, *operands = args
        return builder.emit(self, operands, {"function": function, "batched": flags} | kwargs)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Unknown(any(values.is_inexact(each) for each in operands))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        inner, flags, options = self._inner(operation)
        builder = operation.result.builder
        scratch = Builder()
        samples = [_stand_in(scratch, each) for each in operation.operands]
        y, seed = scratch.symbol(values.Unknown(True)), scratch.symbol(values.Unknown(True))
        own = Operation(inner, samples, options, y, operation.active)
        with scratch.at(builder.origin, "backward"):
            adjoints = inner.reverse(own, seed)
        inputs = [*samples, y, seed]
        arguments = [*operation.operands, operation.result, y_bar]
        wanted = [each for each in adjoints if each is not None]
        results = iter(_batched(builder, scratch, inputs, arguments, [*flags, True, True], wanted))
        found = []
        for adjoint, flag in zip(adjoints, flags, strict=True):
            value = None if adjoint is None else next(results)
            found.append(value if flag or value is None else np.sum(value, axis=0))
        return found

    def forward(self, operation: Operation, tangents: list) -> Any:
        inner, flags, options = self._inner(operation)
        scratch = Builder()
        samples = [_stand_in(scratch, each) for each in operation.operands]
        dots = [None if each is None else scratch.symbol(values.Unknown(True)) for each in tangents]
        y = scratch.symbol(values.Unknown(True))
        tangent = inner.forward(Operation(inner, samples, options, y), dots)
        if tangent is None:
            return None
        present = [
            (d, t, f) for d, t, f in zip(dots, tangents, flags, strict=True) if d is not None
        ]
        inputs = [*samples, y, *(d for d, _, _ in present)]
        arguments = [*operation.operands, operation.result, *(t for _, t, _ in present)]
        moved = [*flags, True, *(f for _, _, f in present)]
        builder = operation.result.builder
        return next(iter(_batched(builder, scratch, inputs, arguments, moved, [tangent])))

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        raise BatchError(
            "S2S402",
            f"a batch of batches of {operation['function']!r}",
            origin=batch.builder.origin,
            help="give example arguments, so that ranks are known",
        )

    def _inner(self, operation: Operation) -> tuple[Rule, tuple[bool, ...], dict[str, Any]]:
        options = dict(operation.params)
        function, flags = options.pop("function"), options.pop("batched")
        return rule_of(function), flags, options

    def surface(self, call: gast.Call, facts: Any) -> gast.AST:
        """each_sample(np.sort, (True,), x, axis=0), or with a lambda: lambda x: x[1:]."""
        function, flags, *params = call.keywords
        names = _parameters(len(call.args))
        one = gast.Call(function.value, [form.name(each) for each in names], params)
        spelled = rule_of(function.value.value).surface(one, lambda node: values.Unknown())
        if spelled is one and not any(isinstance(each.value, gast.Slice) for each in params):
            first = [function.value, flags.value]
            return gast.Call(func=call.func, args=[*first, *call.args], keywords=params)
        return _with_lambda(call, function.value.value, flags.value, params)


def _parameters(count: int) -> list[str]:
    return ["x"] if count == 1 else list("abcdefghijklm"[:count])


def _with_lambda(
    call: gast.Call, function: Any, flags: gast.Tuple, params: list[gast.keyword]
) -> gast.Call:
    """The sample's expression as a lambda, which reads nothing but its own parameters."""
    free = list(dict.fromkeys(name for each in params for name in form.reads(each.value)))
    names = _parameters(len(call.args) + len(free))
    own, shared = names[: len(call.args)], names[len(call.args) :]
    atoms = {old: form.name(new) for old, new in zip(free, shared, strict=True)}
    given = [gast.keyword(each.arg, form.substitute(each.value, atoms)) for each in params]
    one = gast.Call(form.constant(function), [form.name(each) for each in own], given)
    arguments = gast.arguments(
        args=[form.name(each, gast.Param) for each in names],
        posonlyargs=[],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    body = rule_of(function).surface(one, lambda node: values.Unknown())
    batched = [*flags.elts, *(form.constant(False) for _ in free)]
    first = [gast.Lambda(arguments, body), gast.Tuple(batched, gast.Load())]
    return gast.Call(call.func, [*first, *call.args, *map(form.name, free)], [])


def _stand_in(scratch: Builder, value: Any) -> Any:
    if not isinstance(value, Symbol):
        return value
    return scratch.symbol(values.Unknown(values.is_inexact(value.fact) is True))


def _batched(
    builder: Builder, scratch: Builder, inputs: list, arguments: list, flags: list, outputs: list
) -> list:
    """Batch what was written into `scratch` over the inputs that are flagged."""
    pairs = [
        (symbol, argument, flag)
        for symbol, argument, flag in zip(inputs, arguments, flags, strict=True)
        if isinstance(symbol, Symbol)
    ]
    shared = _shared(builder, scratch)
    pairs += [(each, each, False) for each in shared]
    for _, argument, _ in pairs:
        if not isinstance(argument, Symbol):
            raise BatchError("S2S402", "a constant adjoint of samples of unknown rank")
    program = Program(
        name=fresh_name(),
        doc="",
        inputs=tuple(Input(symbol.name, symbol.name) for symbol, _, _ in pairs),
        body=tuple(scratch.body),
        output=tuple_of(map(to_node, outputs)),
        facts=scratch.facts | {each.name: each.fact for each in shared},
        hints=scratch.hints,
    )
    named = {symbol.name: argument for symbol, argument, _ in pairs}
    moved = {symbol.name for symbol, _, flag in pairs if flag}
    results, _, _ = batch(builder, program, named, moved)
    return results


def _shared(builder: Builder, scratch: Builder) -> list[Symbol]:
    """What the operations read that is no input of theirs: indices, the same for all samples."""
    read = dict.fromkeys(name for statement in scratch.body for name in statement.reads)
    return [Symbol(builder, name) for name in read if name not in scratch.facts]


register(EachSample(runtime.each_sample, "each_sample"))
