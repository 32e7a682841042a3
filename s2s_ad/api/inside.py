"""grad, vmap, vjp and their kin inside a function that is compiled itself."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import gast

from s2s_ad.api.arguments import KEYWORD_ONLY, Arguments
from s2s_ad.api.check_arguments import check_like
from s2s_ad.api.function import OUTER, Transformed, splice
from s2s_ad.api.pullback import leaf_by_leaf, one_by_one
from s2s_ad.api.transform import Jvp, Linearization, Vjp
from s2s_ad.api.weights import check_weights
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.passes import run
from s2s_ad.core.program import Capture, Input, Program, as_name
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, UnsupportedError
from s2s_ad.frontend.lower.attributes import Method
from s2s_ad.frontend.lower.calls import HANDLERS, Partial, apply
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.program import as_call, inputs_of, output_of
from s2s_ad.frontend.lower.references import settled
from s2s_ad.frontend.resolve import unwrap
from s2s_ad.simplify.pipelines import AFTER
from s2s_ad.transforms.common import pair
from s2s_ad.transforms.seeds import require_same_shape


class Local:
    """A function defined inside the function that is compiled, as a transform takes it.

    What it reads of the function around becomes inputs that the transforms leave alone.
    """

    def __init__(self, lowering: Any, closure: Closure):
        self.lowering, self.closure = lowering, closure
        self.__name__ = self.__qualname__ = closure.name
        self.__signature__ = closure.signature()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.__name__} is called while it is compiled")

    def __s2s_lower__(self, facts: dict[str, Any]) -> Program:
        """The program: what a call emits, taken out of the program around it."""
        lowering, builder = self.lowering, self.lowering.builder
        name = as_name(self.__name__)
        start, before = len(builder.body), lowering.captures.held_parameters()
        inputs, given = inputs_of(lowering, self, facts)
        result = apply(lowering, self.closure, *as_call(self.__signature__, given))
        output = output_of(result, name, builder.origin)  # which may add to the body
        body = tuple(builder.body[start:])
        del builder.body[start:]
        parameters = {**lowering.captures.named_parameters(), **before}
        output, writes = self._with_writes(output, before)
        own = {leaf for each in inputs for leaf in tree.leaves(each.tree)}
        free = _free(body, output, own)
        outer = [Input(OUTER + each, each, KEYWORD_ONLY) for each in free if each not in parameters]
        return Program(
            name=name,
            doc=name,
            inputs=(*inputs, *outer),
            body=body,
            output=output,
            facts=builder.facts,
            hints=builder.hints,
            captures=tuple(parameters[each] for each in free if each in parameters),
            origin=builder.origin,
            writes=writes,
        )

    def _with_writes(
        self, output: Any, before: dict[str, Capture]
    ) -> tuple[Any, tuple[Capture, ...]]:
        """(the output and the new values of Parameters, these); here they hold the old ones.

        `before` says what they held when the function was called.
        """
        captures, memory = self.lowering.captures, self.lowering.memory
        names = {id(each.value): name for name, each in before.items()}
        new, writes = [], []
        for name, held in captures.held_parameters().items():
            known = names.get(id(held.value), captures.named(held.value))
            if name != known:
                new.append(form.name(name))
                writes.append(held)
                reference = captures.parameter(held.value, held.text)
                memory.assign(reference, Symbol(self.lowering.builder, known))
        return (pair(output, *new) if writes else output), tuple(writes)


def _free(body: tuple[form.Statement, ...], output: Any, own: set[str]) -> list[str]:
    """The names that a body reads and does not assign, in the order in which it reads them."""
    assigned = {each.target for each in body if isinstance(each, form.Op)} | own
    read = [name for each in body for name in each.reads]
    read += [atom.id for atom in tree.leaves(output) if isinstance(atom, gast.Name)]
    return [name for name in dict.fromkeys(read) if name not in assigned]


def _callable(lowering: Any, value: Any) -> Any:
    """A function as a transform takes it."""
    if isinstance(value, Method) and isinstance(value.function, types.FunctionType):
        holder = unwrap(value.holder)
        if not isinstance(holder, Symbol | Tree):
            return types.MethodType(value.function, holder)
    if isinstance(value, Partial):
        raise UnsupportedError(
            "S2S201",
            "a transform of a partial function or checkpoint that was made inside the function",
            origin=lowering.builder.origin,
            help="give it a name of its own: def f(x): return ...",
        )
    return Local(lowering, value) if isinstance(value, Closure) else unwrap(value)


def _argument(lowering: Any, value: Any) -> Any:
    """An argument of a maker: a function, an option, or Parameters, which are the objects."""
    parameters = lowering.captures.held_parameters()

    def leaf(each: Any) -> Any:
        capture = parameters.get(each.name) if isinstance(each, Symbol) else None
        return each if capture is None else capture.value

    return tree.to_object(tree.tree_map(leaf, _callable(lowering, value)))


# ---- grad(f), vmap(f), ... -----------------------------------------------------------------------


def handle_maker(maker: Callable) -> None:
    """Let `maker(f, ...)` be called inside functions: it makes its function while they compile."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return made_inside(lowering, maker, args, kwargs)

    HANDLERS[maker] = handler


def made_inside(lowering: Any, maker: Callable, args: list, kwargs: dict[str, Any]) -> Any:
    """What a maker makes of arguments inside a function that is compiled."""
    plain = [_argument(lowering, each) for each in args]
    named = {key: _argument(lowering, each) for key, each in kwargs.items()}
    return maker(*plain, **named)


def handle_value(function: Callable) -> None:
    """Let a function that only takes containers apart be called inside functions."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        result = made_inside(lowering, function, args, kwargs)
        return tree.from_object(result, lambda leaf, _: leaf)

    HANDLERS[function] = handler


def handle_body(function: Callable, body: Callable) -> None:
    """Let a function be called inside functions: there it is the Python function `body`."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return apply(lowering, body, args, kwargs)

    HANDLERS[function] = handler


# ---- jvp and vjp ---------------------------------------------------------------------------------


def handle_jvp(jvp: Callable) -> None:
    """Let jvp(f, inputs, v) be called inside functions."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return _jvp(lowering, *args, **kwargs)

    HANDLERS[jvp] = handler


def _jvp(lowering: Any, fn: Any, inputs: Any, v: Any, has_aux: bool = False) -> Any:
    primals, tangents = listed(inputs), listed(v)
    check_count(primals, tangents)
    transform = Jvp(len(primals), has_aux)
    made = Transformed(_callable(lowering, fn), transform, "jvp")
    return made.__s2s_call__(lowering, [*primals, *tangents], {})


def listed(value: Any) -> list:
    """The arguments that are given as one, or as a tuple or list."""
    if isinstance(value, Tree):
        return list(value.items) if value.kind in (tuple, list) else [value]
    return list(value) if type(value) in (tuple, list) else [value]


def check_count(primals: list, tangents: list) -> None:
    if len(primals) != len(tangents):
        raise ArgumentValueError(
            "S2S502",
            f"jvp: {_counted(primals, 'input')} and {_counted(tangents, 'tangent')} in 'v'",
            help="give one tangent for each input",
        )


def _counted(items: list, noun: str) -> str:
    return f"{len(items)} {noun}{'s' if len(items) != 1 else ''}"


def handle_vjp(vjp: Callable) -> None:
    """Let vjp(f, *inputs) be called inside functions."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return _vjp(lowering, *args, **kwargs)

    HANDLERS[vjp] = handler


def _vjp(lowering: Any, fn: Any, *inputs: Any, weights: Any = None, has_aux: bool = False) -> Tree:
    parameters = check_weights("vjp", _argument(lowering, weights))
    transform = Vjp(tuple(range(len(inputs))), has_aux, parameters)
    made = Transformed(_callable(lowering, fn), transform, "vjp")
    pullback = SecondHalf(made, *made.lowered(lowering, list(inputs), {}))
    value = pullback.value(lowering)
    output, *aux = value.items if has_aux else (value,)
    return pair(output, Pullback(pullback, output), *aux)


def handle_linearize(linearize: Callable) -> None:
    """Let linearize(f, inputs) be called inside functions."""

    def handler(lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        return _linearize(lowering, *args, **kwargs)

    HANDLERS[linearize] = handler


def _linearize(lowering: Any, fn: Any, inputs: Any) -> Tree:
    primals = listed(inputs)
    transform = Linearization(tuple(range(len(primals))))
    made = Transformed(_callable(lowering, fn), transform, "linearize")
    linear = SecondHalf(made, *made.lowered(lowering, primals, {}))
    return pair(linear.value(lowering), Pushforward(linear, primals))


class SecondHalf:
    """What a vjp or a linearize inside a function writes in place once it is given its inputs."""

    def __init__(self, made: Transformed, arguments: Arguments, leaves: dict):
        self.leaves = leaves
        inner = made.inner_program(arguments)
        self.program = made.transform.joint(inner, arguments)
        self.count = len(self.program.inputs) - len(inner.inputs)

    def value(self, lowering: Any) -> Any:
        """The output of the function itself."""
        forward = self.program.with_(
            inputs=self.program.inputs[: len(self.program.inputs) - self.count],
            output=self.program.with_result(self.program.result.items[0]),
        )
        return splice(lowering, run(forward, AFTER), self.leaves)

    def written(self, lowering: Any, given: list) -> Any:
        """The second half for these leaves."""
        second = self.program.with_(output=self.program.result.items[1], writes=())
        leaves = self.leaves | {("given", i): each for i, each in enumerate(given)}
        return splice(lowering, run(second, AFTER), leaves)


class Pullback:
    """The vjp_fn of a vjp inside a function."""

    def __init__(self, half: SecondHalf, output: Any):
        self.half, self.output = half, output

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        _refuse_keywords("vjp_fn", kwargs)
        builder = lowering.builder
        leaves = zip(tree.paths(self.output), tree.leaves(self.output), strict=True)
        seeds = []
        for y_bar, (path, y) in zip(leaf_by_leaf(args, self.output), leaves, strict=True):
            if values.is_inexact(builder.fact(settled(y))) is not False:
                names = tree.path_text("the adjoint", path), tree.path_text("the output", path)
                _check_like(builder, "vjp_fn", names, y_bar, y)
                seeds.append(y_bar)
        return self.half.written(lowering, seeds)


class Pushforward:
    """What linearize inside a function gives beside the value."""

    def __init__(self, half: SecondHalf, inputs: list):
        self.half, self.inputs = half, inputs

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        _refuse_keywords("linearize", kwargs)
        given = one_by_one(args, self.inputs)
        for i, (v, x) in enumerate(zip(given, self.inputs, strict=True)):
            _check_like(lowering.builder, "linearize", (f"the tangent {i}", f"input {i}"), v, x)
        return self.half.written(lowering, tree.leaves(pair(*given)))


def _refuse_keywords(label: str, kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise ArgumentTypeError("S2S501", f"{label}: takes no keywords, {', '.join(kwargs)} given")


def _check_like(builder: Builder, label: str, names: tuple[str, str], one: Any, like: Any) -> None:
    """Refuse a tangent or an adjoint that does not fit; where the lengths say it the text does."""
    facts = [tree.tree_map(lambda leaf: builder.fact(settled(leaf)), each) for each in (one, like)]
    check_like(label, names[0], facts[0], names[1], facts[1])
    for leaf, other in zip(tree.leaves(one), tree.leaves(like), strict=True):
        pair_of = settled(leaf), settled(other)
        if all(isinstance(each, Symbol) for each in pair_of):
            require_same_shape(builder, *pair_of, names)
