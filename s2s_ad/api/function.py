"""Transformed: a function with a chain of transforms, compiled for each kind of arguments."""

from __future__ import annotations

import functools
import inspect
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from s2s_ad import rules  # noqa: F401  (fills the registry)
from s2s_ad.api.check_arguments import signature_of
from s2s_ad.api.explain import explanation
from s2s_ad.api.transform import StarTree, Transform
from s2s_ad.core import tree, values
from s2s_ad.core.passes import run
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import ArgumentTypeError, S2SError
from s2s_ad.emit.write import Text, write
from s2s_ad.frontend.lower import lower
from s2s_ad.frontend.lower.core import StaticNeeded
from s2s_ad.load.dispatch import Dispatcher, exact_key, fast_call
from s2s_ad.load.module import Loaded, load
from s2s_ad.simplify.pipelines import FINAL, FINAL_DERIVED

STAR = inspect.Parameter.VAR_POSITIONAL


class Transformed:
    """A function made by `grad`, `vmap`, `jit` and their kin. Call it as the original.

    Methods:
        source(*args): the generated text for arguments of this kind; without arguments the
            general text.
        explain(*args): what the backward pass keeps, and why.
        lower(*args): the program in Core, stage by stage.
        check(*args): compares the derivative with central differences (see `s2s_ad.check`).
    """

    def __init__(self, fn: Callable, transform: Transform, label: str):
        functools.update_wrapper(self, fn, updated=())
        self.fn, self.transform, self.label = fn, transform, label
        self.__signature__ = transform.signature(signature_of(label, fn))
        self._statics: set[tuple[str, tree.Path]] = set()
        self._dispatch = Dispatcher(
            self.__signature__, self._prepare, self._compile, self._exact_key
        )
        self._bound: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        # each has its own class, whose __call__ is generated for its arity (see load.dispatch)
        self.__class__ = type(type(self).__name__, (type(self),), {"__slots__": ()})

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._slow(args, kwargs)

    def _slow(self, args: tuple, kwargs: dict | None = None) -> Any:
        found, bound = self._specialised(args, kwargs or {})
        return found.loaded.function(*bound.args, **bound.kwargs)

    def _specialised(self, args: tuple, kwargs: dict) -> tuple[Any, inspect.BoundArguments]:
        bound = self._bind(args, kwargs)
        found = self._dispatch.find(bound)
        if self._dispatch.hot_call(self._exact_key(bound.arguments)):
            self._follow(bound.arguments, found)
        return found, bound

    def _follow(self, arguments: dict[str, Any], found: Any) -> None:
        by_value = {name for name, path in self._statics if not path}
        if any(path for _, path in self._statics):
            return
        call = fast_call(self.__signature__, arguments, found, self._slow, by_value)
        if call is not None:
            type(self).__call__ = call

    def _bind(self, args: tuple, kwargs: dict) -> inspect.BoundArguments:
        try:
            return self._dispatch.bind(args, kwargs)
        except TypeError as error:
            name = getattr(self, "__name__", "f")
            raise ArgumentTypeError("S2S501", f"{name}() {error}") from None

    def _exact_key(self, arguments: dict[str, Any]) -> Any:
        key = tuple(map(exact_key, arguments.values()))
        if not self._statics:
            return key
        return key, tuple(tree.follow(arguments[n], path) for n, path in sorted(self._statics))

    # ---- compilation

    def _abstract(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The abstract value of each argument; those that count by value are static."""
        found = {}
        for name, value in arguments.items():
            abstract = values.of_object(value, name)
            if self._statics:
                abstract = self._with_statics(name, value, abstract)
            if self.__signature__.parameters[name].kind is STAR:
                abstract = StarTree(abstract.kind, abstract.keys, abstract.items)
            found[name] = abstract
        return found

    def _with_statics(self, name: str, value: Any, abstract: Any) -> Any:
        paths = iter(tree.paths(abstract))

        def fix(fact: Any) -> Any:
            path = next(paths)
            if (name, path) in self._statics:
                return values.Static(tree.follow(value, path))
            return fact

        return tree.tree_map(fix, abstract)

    def _prepare(self, arguments: dict[str, Any]) -> dict[str, Any]:
        abstract = self._abstract(arguments)
        self._check(arguments, abstract)
        return self.transform.loosen(abstract)

    def _check(self, arguments: dict[str, Any], abstract: dict[str, Any]) -> None:
        self.transform.check(self.label, arguments, abstract)
        if isinstance(self.fn, Transformed):
            inner = self.transform.inside(abstract)
            self.fn._check_inner(arguments, inner)

    def _check_inner(self, arguments: dict[str, Any], abstract: dict[str, Any]) -> None:
        """Checks that need no values: the outer transform may have changed them."""
        self.transform.check(self.label, {}, abstract)
        if isinstance(self.fn, Transformed):
            self.fn._check_inner({}, self.transform.inside(abstract))

    def derive(self, abstract: dict[str, Any]) -> Program:
        """The program for arguments of these abstract values."""
        return self.transform.program(self._inner, abstract)

    def _inner(self, abstract: dict[str, Any]) -> Program:
        if isinstance(self.fn, Transformed):
            return self.fn.derive(abstract)
        return lower(self.fn, abstract)

    def _compile(self, abstract: dict[str, Any], arguments: dict[str, Any]) -> Loaded:
        while True:
            try:
                programs = self.transform.programs(self._inner, abstract)
                break
            except StaticNeeded as need:
                self._make_static(need, arguments)
                abstract = self._prepare(arguments)
        loaded = [load(*self._finished(program)) for program in programs]
        loaded[0].companions.extend(loaded[1:])
        return loaded[0]

    def _make_static(self, need: StaticNeeded, arguments: dict[str, Any]) -> None:
        """Let the arguments that a rule asked for count by value from now on."""
        fresh = [each for each in need.inputs if each not in self._statics]
        plain = [
            (name, path)
            for name, path in fresh
            if name in arguments and isinstance(tree.follow(arguments[name], path), int)
        ]
        if not plain:
            raise need.error
        self._statics.update(plain)

    def _finished(self, program: Program) -> tuple[Program, Text]:
        pipeline = FINAL if type(self).__mro__ and self._is_plain() else FINAL_DERIVED
        program = run(program, pipeline)
        return program, write(program)

    def _is_plain(self) -> bool:
        from s2s_ad.api.transform import Jit

        inner: Any = self
        while isinstance(inner, Transformed):
            if not isinstance(inner.transform, Jit):
                return False
            inner = inner.fn
        return True

    # ---- looking inside

    def _general(self) -> dict[str, Any]:
        """Abstract values of which nothing is known."""
        found: dict[str, Any] = {}
        for name, parameter in self.__signature__.parameters.items():
            if parameter.kind in (STAR, inspect.Parameter.VAR_KEYWORD):
                raise ArgumentTypeError(
                    "S2S501",
                    f"{self.label}: the general text of a function with *{name}",
                    help="give example arguments",
                )
            found[name] = values.Unknown(inexact=True)
        return found

    def _text(self, args: tuple, kwargs: dict) -> tuple[Program, Text]:
        if args or kwargs:
            found, _ = self._specialised(args, kwargs)
            return found.loaded.program, found.loaded.text
        abstract = self._general()
        self._check_inner({}, abstract)
        try:
            return self._finished(self.derive(abstract))
        except StaticNeeded as need:
            raise need.error from None

    def text(self, *args: Any, **kwargs: Any) -> Text:
        """The generated text with what belongs to it (see `emit.write.Text`)."""
        return self._text(args, kwargs)[1]

    def source(self, *args: Any, standalone: bool = False, **kwargs: Any) -> str:
        """The generated source for arguments of this kind.

        Args:
            args, kwargs: example arguments; without any the general text, which is right for
                all arguments and asks the ranks at run time.
            standalone: paste helpers and captured values, so that it runs with NumPy alone.

        Example:
            >>> from s2s_ad import grad
            >>> cube_grad = grad(lambda x: x**3)  # doctest: +SKIP
            >>> print(cube_grad.source(2.0))  # doctest: +SKIP
        """
        program, text = self._text(args, kwargs)
        if not standalone:
            return text.module
        from s2s_ad.emit.standalone import standalone_module

        return standalone_module(program, text)

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What the backward pass keeps of the forward pass: which name, line, bytes, and why."""
        bound = self._bind(args, kwargs)
        abstract = self._prepare(bound.arguments)
        found = self._dispatch.find(bound)
        return explanation(found.loaded.program, found.loaded.text, abstract, bound.arguments)

    def lower(self, *args: Any, **kwargs: Any) -> dict[str, Program]:
        """The stages by name: "core" (the function), then the program of each transform."""
        if args or kwargs:
            abstract = self._prepare(self._bind(args, kwargs).arguments)
        else:
            abstract = self._general()
        chain: list[Transformed] = [self]
        while isinstance(chain[-1].fn, Transformed):
            chain.append(chain[-1].fn)
        inside = [abstract]
        for each in chain[:-1]:
            inside.append(each.transform.inside(inside[-1]))
        last = chain[-1]
        stages = {"core": lower(last.fn, last.transform.inside(inside[-1]))}
        for each, facts in zip(reversed(chain), reversed(inside), strict=True):
            stages[each.label] = each.derive(facts)
        return stages

    # ---- inside another function

    def __s2s_program__(self, fact: Callable, args: list, kwargs: dict) -> tuple[Program, list]:
        """The program for a call inside a function that is lowered, and a value per leaf."""
        bound = self._bind(tuple(args), kwargs)
        abstract, leaves = {}, []
        for name, value in bound.arguments.items():
            star = self.__signature__.parameters[name].kind is STAR
            items = tree.from_object(value, lambda leaf, _: leaf) if star else value
            facts = tree.tree_map(lambda leaf: _argument_fact(fact, leaf), items)
            abstract[name] = StarTree(facts.kind, facts.keys, facts.items) if star else facts
            leaves += tree.leaves(items)
        self._check_inner({}, abstract)
        return self.derive(abstract), leaves

    # ---- Python's protocols

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with self._lock:
            try:
                return self._bound.setdefault(instance, self._bind_to(instance))
            except TypeError:  # not hashable or no weak references
                return self._bind_to(instance)

    def _bind_to(self, instance: Any) -> Transformed:
        inner = self.fn.__get__(instance, type(instance))
        return _base(type(self))(inner, self.transform, self.label)

    def __reduce__(self) -> tuple:
        return _restored, (_base(type(self)), _by_name(self.fn, self), self.transform, self.label)

    def __repr__(self) -> str:
        inner = repr(self.fn) if isinstance(self.fn, Transformed) else _name(self.fn)
        return f"{self.label}({inner})"

    def _repr_markdown_(self) -> str:
        latest = next(reversed(self._dispatch.by_pattern.values()), None)
        if latest is None:
            return f"`{self!r}`, not yet compiled"
        return f"`{self!r}`\n\n```python\n{latest.loaded.text.module}```"


def _argument_fact(fact: Callable, leaf: Any) -> Any:
    if isinstance(leaf, Tree):
        raise AssertionError
    known = fact(leaf)
    exact = isinstance(known, values.Scalar) and known.kind in (int, bool)
    return values.Static(leaf) if exact and type(leaf) in (int, bool) else known


def _base(kind: type) -> type:
    """The class that was written down, below the one made for one instance."""
    return kind.__mro__[1]


def _name(fn: Callable) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__


def _by_name(fn: Callable, holder: Any) -> Any:
    """What pickle finds the function by; where the decorated name hides it, through the holder."""
    if not isinstance(fn, types.FunctionType):
        return fn
    import sys

    found: Any = sys.modules.get(fn.__module__)
    for part in fn.__qualname__.split("."):
        found = getattr(found, part, None)
    return _Hidden(fn.__module__, fn.__qualname__) if isinstance(found, Transformed) else fn


class _Hidden:
    """A function that its decorated name hides: pickled by that name."""

    def __init__(self, module: str, qualname: str):
        self.module, self.qualname = module, qualname

    def find(self) -> Callable:
        import importlib

        found: Any = importlib.import_module(self.module)
        for part in self.qualname.split("."):
            found = getattr(found, part)
        while isinstance(found, Transformed):
            found = found.fn
        return found


def _restored(kind: type, fn: Any, transform: Transform, label: str) -> Transformed:
    return kind(fn.find() if isinstance(fn, _Hidden) else fn, transform, label)


__all__ = ["S2SError", "Transformed"]
