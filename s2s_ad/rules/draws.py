"""Random numbers and clocks: read once, in the forward pass, in the order in which they stand."""

from __future__ import annotations

import functools
import operator
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, describe, static
from s2s_ad.core.registry import FINDERS, register
from s2s_ad.core.rule import Operation, Rule
from s2s_ad.diagnostics import BatchError, DerivativeError, UnsupportedError
from s2s_ad.rules import support
from s2s_ad.rules.shapes import dim_of


class Draw(Rule):
    """A function of random numbers: its parameters are operands, its shape and dtype parameters.

    Args:
        text: its signature; `size` is the shape of the result.
        kind: the type of one number.
    """

    effects = True

    def __init__(self, function: Callable, text: str, kind: type = float):
        super().__init__(function, getattr(function, "__name__", "draw"))
        self.text, self.kind = text, kind

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        holder, args = list(args[: self.first]), args[self.first :]
        given = support.bind_call(builder, self, self.text, args, kwargs)
        plain = support.given(given, self.text)
        params = {"size": plain.pop("size")} if "size" in plain else {}
        if "dtype" in plain:
            params["dtype"] = static(plain.pop("dtype"), "the dtype of random numbers")
        params |= {key: value for key, value in plain.items() if value is None}
        names = tuple(key for key in plain if key not in params)
        return builder.emit(
            self,
            [*holder, *(plain[key] for key in names)],
            params | ({"names": names} if names else {}),
        )

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        size = params.get("size")
        shapes = [values.shape_of(each) for each in operands[self.first :]]
        if size is None or size == ():
            if any(shape is None or shape for shape in shapes):
                return values.Array(np.dtype(self.kind), values.broadcast(shapes))
            return values.Scalar(self.kind)
        dims = size if isinstance(size, tuple | list) else (size,)
        dtype = params.get("dtype", self.kind)
        return values.Array(np.dtype(dtype), tuple(map(dim_of, dims)))

    #: the number of operands before the parameters
    first = 0

    def draws(self, operands: Sequence) -> bool:
        return not self.first

    def _parameters(self, operation: Operation) -> dict[str, Any]:
        """The parameters by name, those left out with their defaults."""
        known = support.signature(self.text).parameters.values()
        found = {each.name: each.default for each in known}
        names = operation.params.get("names", ())
        return found | dict(zip(names, operation.operands[self.first :], strict=True))

    def _slope(self, operation: Operation, index: int) -> Any:
        """The derivative with respect to a parameter, of the same draw of standard numbers."""
        name = operation.params["names"][index - self.first]
        slope = SLOPES.get(self.name, {}).get(name)
        if slope is None:
            raise DerivativeError(
                "S2S302",
                f"a derivative with respect to {name} of {describe(self.function)}",
                origin=operation.result.builder.origin,
                why="only what shifts and scales standard numbers has one",
                help="draw it with stop_gradient of the parameter, or from another distribution",
            )
        return slope(operation.result, **self._parameters(operation))

    def reverse(self, operation: Operation, y_bar: Any) -> list:
        builder = operation.result.builder
        adjoints: list[Any] = [None] * len(operation.operands)
        for index, (operand, flag) in enumerate(
            zip(operation.operands, operation.active, strict=True)
        ):
            if flag:
                product = y_bar * self._slope(operation, index)
                adjoints[index] = builder.call(runtime.unbroadcast, (product, operand), {})
        return adjoints

    def forward(self, operation: Operation, tangents: list) -> Any:
        terms = [
            self._slope(operation, index) * tangent
            for index, tangent in enumerate(tangents)
            if tangent is not None
        ]
        total = functools.reduce(operator.add, terms)
        return operation.result.builder.call(runtime.broadcast_like, (total, operation.result), {})

    def batch(self, operation: Operation, batched: list[bool], batch: Any) -> Any:
        """One draw of standard numbers for all samples, shifted and scaled for each of them."""
        pairs = list(zip(operation.operands, batched, strict=True))
        size, given = operation.params.get("size"), self._parameters(operation)
        count = len(size) if isinstance(size, tuple | list) else 1
        ranks = [support.sample_rank(*pair) for pair in pairs[self.first :]]
        rank = 0 if size is None else count
        if self.name not in SHIFTED or any(each > rank for each in ranks):
            raise BatchError(
                "S2S402",
                f"{describe(self.function)} with a parameter that differs from sample to sample",
                origin=batch.builder.origin,
                help="draw standard numbers and shift them: mean + scale * rng.normal(size=n)",
            )
        options = {key: each for key, each in operation.params.items() if key != "names"}
        standard = batch.builder.emit(self, operation.operands[: self.first], options)
        aligned = [support.align(*pair, rank) for pair in pairs[self.first :]]
        names = operation.params["names"]
        return SHIFTED[self.name](standard, **given | dict(zip(names, aligned, strict=True)))

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        params = {each.arg: each.value for each in call.keywords}
        names = params.pop("names", None)
        keys = [each.value for each in names.elts] if names is not None else []
        given = call.args[self.first :]
        keywords = [gast.keyword(*pair) for pair in zip(keys, given, strict=True)]
        keywords += [gast.keyword(key, value) for key, value in params.items()]
        if self.first:
            return gast.Call(gast.Attribute(call.args[0], self.name, gast.Load()), [], keywords)
        holder = getattr(self.function, "__self__", None)
        function: gast.AST = form.constant(self.function)
        if isinstance(holder, np.random.Generator | np.random.RandomState | random.Random):
            function = gast.Attribute(_spelled_holder(holder), self.name, gast.Load())
        return gast.Call(function, [], keywords)


def _spelled_holder(holder: Any) -> gast.AST:
    """np.random for NumPy's own state; any other generator by a name of its own."""
    if holder is np.random.mtrand._rand:
        return gast.Attribute(form.name("np"), "random", gast.Load())
    return form.constant(random if holder is random.gauss.__self__ else holder)


#: of NumPy's generators and of its module: signature and type of one number
NUMPY: dict[str, tuple[str, type]] = {
    "beta": ("a, b, size=None", float),
    "binomial": ("n, p, size=None", int),
    "exponential": ("scale=1.0, size=None", float),
    "gamma": ("shape, scale=1.0, size=None", float),
    "integers": ("low, high=None, size=None, dtype=int", int),
    "laplace": ("loc=0.0, scale=1.0, size=None", float),
    "logistic": ("loc=0.0, scale=1.0, size=None", float),
    "lognormal": ("mean=0.0, sigma=1.0, size=None", float),
    "normal": ("loc=0.0, scale=1.0, size=None", float),
    "poisson": ("lam=1.0, size=None", int),
    "randint": ("low, high=None, size=None, dtype=int", int),
    "random": ("size=None", float),
    "random_sample": ("size=None", float),
    "standard_normal": ("size=None", float),
    "uniform": ("low=0.0, high=1.0, size=None", float),
}
#: of Python's module and its generators
PYTHON: dict[str, tuple[str, type]] = {
    "gauss": ("mu=0.0, sigma=1.0", float),
    "randint": ("a, b", int),
    "random": ("", float),
    "randrange": ("start, stop=None, step=1", int),
    "uniform": ("a, b", float),
}


def _by_scale(y: Any, loc: Any = 0.0, scale: Any = 1.0, **_: Any) -> Any:
    return (y - loc) / scale


#: the derivative of a draw with respect to its parameters, the standard numbers being the same
SLOPES: dict[str, dict[str, Callable]] = {
    "gauss": {"mu": lambda y, **_: 1.0, "sigma": lambda y, mu, sigma: (y - mu) / sigma},
    "exponential": {"scale": lambda y, scale, **_: y / scale},
    "gamma": {"scale": lambda y, scale, **_: y / scale},
    "laplace": {"loc": lambda y, **_: 1.0, "scale": _by_scale},
    "logistic": {"loc": lambda y, **_: 1.0, "scale": _by_scale},
    "lognormal": {
        "mean": lambda y, **_: y,
        "sigma": lambda y, mean, sigma, **_: y * ((np.log(y) - mean) / sigma),
    },
    "normal": {"loc": lambda y, **_: 1.0, "scale": _by_scale},
    "uniform": {
        "low": lambda y, low, high, **_: (high - y) / (high - low),
        "high": lambda y, low, high, **_: (y - low) / (high - low),
    },
}
#: what becomes of standard numbers, as NumPy computes it
SHIFTED: dict[str, Callable] = {
    "gauss": lambda z, mu, sigma: mu + sigma * z,
    "exponential": lambda z, scale, **_: scale * z,
    **dict.fromkeys(("laplace", "logistic", "normal"), lambda z, loc, scale, **_: loc + scale * z),
    "uniform": lambda z, low, high, **_: low + (high - low) * z,
}


class MadeGenerator(Rule):
    """np.random.default_rng(seed): a generator that the function makes for itself."""

    flat = distinct = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, "seed=None", args, kwargs)
        return builder.emit(self, [given["seed"]] if given["seed"] is not None else [], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Generator()


class DrawOfMade(Draw):
    """A draw of a generator that the function has made: its first operand."""

    first = 1


class DrawAxes(Draw):
    """np.random.rand(d0, d1, ...) and randn: the shape is the arguments."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        holder, size = [*args[: self.first]], args[self.first :]
        return builder.emit(self, holder, {"size": size} if size else {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        plain = super().surface(call, facts)
        return gast.Call(plain.func, plain.keywords[0].value.elts if plain.keywords else [], [])


class DrawAxesOfMade(DrawAxes):
    """The like of a generator that the function has made."""

    first = 1


class DrawOrder(Draw):
    """rng.permutation(n): the numbers below n in another order; of an array, its rows."""

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = support.bind_call(builder, self, self.text, args[self.first :], kwargs)["x"]
        rows = builder.call(np.asarray, (given,), {}) if isinstance(given, list | tuple) else given
        if not isinstance(rows, Symbol) or support.known_rank(rows, self.name) == 0:
            return builder.emit(self, [*args[: self.first]], {"size": rows})
        return rows[builder.emit(self, [*args[: self.first]], {"size": np.size(rows, 0)})]

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        plain = super().surface(call, facts)
        return gast.Call(plain.func, [each.value for each in plain.keywords], [])


class DrawOrderOfMade(DrawOrder):
    """The like of a generator that the function has made."""

    first = 1


#: of np.random and its RandomState: what takes the shape as its arguments
AXES = ("rand", "randn")


@functools.cache
def draw_of_made(kind: type, name: str) -> Draw | None:
    """The rule of a method of a generator of this class."""
    if not hasattr(kind, name):
        return None
    if name in AXES:
        made: Draw = DrawAxesOfMade(getattr(kind, name), "")
    elif name == "permutation":
        made = DrawOrderOfMade(getattr(kind, name), "x", int)
    elif name in (known := PYTHON if kind is random.Random else NUMPY):
        made = DrawOfMade(getattr(kind, name), *known[name])
    else:
        return None
    register(made)
    return made


class Seed(Rule):
    """np.random.seed(n), random.seed(n): NumPy's own state, or Python's, begins anew."""

    effects = flat = seeds = True

    def __init__(self, function: Callable, text: str):
        super().__init__(function, "seed")
        self.text = text

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        seed, *more = support.bind_call(builder, self, self.text, args, kwargs).values()
        if more not in ([], [2]):
            raise UnsupportedError("S2S201", "random.seed of an older version of Python's")
        builder.emit(self, [seed] if seed is not None else [], {})

    def surface(self, call: gast.Call, facts: Callable) -> gast.AST:
        holder = getattr(self.function, "__self__", None)
        if holder is None:
            return call
        function = gast.Attribute(_spelled_holder(holder), "seed", gast.Load())
        return gast.Call(function, call.args, call.keywords)

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Static(None)


class Clock(Rule):
    """A function that reads a clock."""

    effects = flat = True

    def bind(self, builder: Builder, args: tuple, kwargs: dict[str, Any]) -> Any:
        return builder.emit(self, [], {})

    def infer(self, operands: list, params: dict[str, Any]) -> values.AbstractValue:
        return values.Scalar(int if self.name.endswith("_ns") else float)


def rule_of_generator(function: Any) -> Draw | None:
    """The rule of a method of a generator: `rng.normal`, `random.Random(0).gauss`."""
    holder, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(holder, np.random.RandomState) and name in AXES:
        return _drawn(DrawAxes, function, "")
    if isinstance(holder, np.random.Generator | np.random.RandomState) and name == "permutation":
        return _drawn(DrawOrder, function, "x", int)
    if isinstance(holder, np.random.Generator | np.random.RandomState) and name in NUMPY:
        return _drawn(Draw, function, *NUMPY[name])
    if isinstance(holder, random.Random) and name in PYTHON:
        return _drawn(Draw, function, *PYTHON[name])
    return None


@functools.lru_cache(maxsize=256)
def _drawn(rule: type[Draw], function: Any, *row: Any) -> Draw:
    """Only methods of generators come here: what is remembered is kept alive."""
    return rule(function, *row)


for _name, _row in NUMPY.items():
    if hasattr(np.random, _name):
        register(Draw(getattr(np.random, _name), *_row))
for _name, _row in PYTHON.items():
    register(Draw(getattr(random, _name), *_row))
for _name in AXES:
    register(DrawAxes(getattr(np.random, _name), ""))
register(DrawOrder(np.random.permutation, "x", int))
for _function in (time.time, time.monotonic, time.perf_counter, time.process_time, time.time_ns):
    register(Clock(_function, _function.__name__))

register(Seed(np.random.seed, "seed=None"))
register(Seed(random.seed, "a=None, version=2"))
for _function in (np.random.default_rng, np.random.RandomState, random.Random):
    register(MadeGenerator(_function, _function.__name__))

FINDERS.append(rule_of_generator)
