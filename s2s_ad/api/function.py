"""Transformed: a function with a chain of transforms, compiled for each kind of arguments."""

from __future__ import annotations

import copy
import functools
import html
import inspect
import itertools
import linecache
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_ad import rules  # noqa: F401  (fills the registry)
from s2s_ad.analysis.elements import atoms_of_fact
from s2s_ad.api.aliasing import told_apart, watching
from s2s_ad.api.arguments import (
    DOUBLE_STAR,
    KEYWORD_ONLY,
    POSITIONAL_ONLY,
    STAR,
    Arguments,
    any_length,
    exact,
    has_lists,
    sens_of,
    unknown,
    with_lists,
)
from s2s_ad.api.batching import Vmap
from s2s_ad.api.check_arguments import (
    call_of,
    check_nesting,
    misfit,
    name_of,
    same_signature,
    signature_of,
)
from s2s_ad.api.collection import patient
from s2s_ad.api.depth import DEEPEST, deep_enough
from s2s_ad.api.explain import copies_explained, explanation, native_explained
from s2s_ad.api.families import Chain, Family, family_of
from s2s_ad.api.pickling import deep_copied, reduced
from s2s_ad.api.recent import Recent
from s2s_ad.api.replaced import refuse_replaced
from s2s_ad.api.tracebacks import short, shortened
from s2s_ad.api.transform import Jit, Transform
from s2s_ad.core import faults, passes, sizes, tree, values
from s2s_ad.core.builder import NeedStatic, Symbol, is_array_in_text
from s2s_ad.core.program import Program
from s2s_ad.core.regions import Loop, everywhere, region_of
from s2s_ad.core.sharing import lazy
from s2s_ad.core.sizes import Atom
from s2s_ad.core.text import Stages
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import (
    ArgumentTypeError,
    ArgumentValueError,
    InternalError,
    Origin,
    S2SError,
    UnsupportedError,
)
from s2s_ad.emit.namespace_kinds import known_names
from s2s_ad.emit.namespaces import dialect, in_namespace
from s2s_ad.emit.standalone import standalone_module
from s2s_ad.emit.text import Text
from s2s_ad.emit.write import functions_of, write
from s2s_ad.frontend.called import called
from s2s_ad.frontend.lower import lower
from s2s_ad.frontend.lower.core import StaticNeeded
from s2s_ad.frontend.lower.functions import Closure
from s2s_ad.frontend.lower.outside import go_into
from s2s_ad.frontend.lower.program import is_of_library, mentioned
from s2s_ad.frontend.lower.references import settled
from s2s_ad.frontend.resolve import Captured, WholeLists, unwrap, whole_lists
from s2s_ad.load.dispatch import (
    Assumed,
    Dispatcher,
    Entry,
    Specialisation,
    assembled,
    exact_key,
    static_key,
)
from s2s_ad.load.fast import ABSENT, Hot, linked, with_call
from s2s_ad.load.ieee_fallback import careful
from s2s_ad.load.module import Loaded, load
from s2s_ad.load.native import module_in_parts, natively
from s2s_ad.load.noted import noted
from s2s_ad.native.batches import with_rows
from s2s_ad.native.cutting import with_parts
from s2s_ad.native.lanes import is_of_numbers, with_lanes
from s2s_ad.native.module import with_loops
from s2s_ad.native.state import captured_by
from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.pipelines import finish
from s2s_ad.tensors import Parameter
from s2s_ad.transforms.batches import masked_program
from s2s_ad.transforms.without_saved import without_saved

if TYPE_CHECKING:
    from s2s_ad.api.shown import Shown


class Renewed(Exception):
    """The function has got another signature since arguments were bound to its parameters."""


@dataclass(frozen=True, slots=True)
class Signatures:
    """The signatures of a transformed function: of the function inside, and its own.

    `required` are parameters that are inputs even where a call leaves them to their defaults;
    `needed` are these and those without one. `last` is the parameter that comes last though it is
    passed by name. `by_position` says how many a call may give by position: -1 where not each of
    the parameters (`names`) takes one argument.
    """

    inner: inspect.Signature
    own: inspect.Signature
    required: frozenset[str]
    last: str | None
    names: tuple[str, ...]
    needed: frozenset[str]
    by_position: int

    @classmethod
    def of(cls, transformed: Transformed) -> Signatures:
        transform = transformed.transform
        inner = signature_of(transformed.label, transformed.fn)
        own = transform.signature(inner)
        sens = sens_of(own)
        last = sens.name if sens is not None and sens.kind is KEYWORD_ONLY else None
        required = frozenset(transform.required(own))
        parameters = own.parameters.values()
        kinds = [each.kind for each in parameters]
        needed = {each.name for each in parameters if each.default is each.empty}
        each_takes_one = not {POSITIONAL_ONLY, STAR, DOUBLE_STAR} & set(kinds)
        count = sum(kind < STAR for kind in kinds) if each_takes_one and last is None else -1
        names = tuple(own.parameters)
        return cls(inner, own, required, last, names, frozenset(needed | required), count)

    def without_defaults(self) -> Signatures:
        """These signatures, which keep no object alive that is a default of one function."""
        return replace(self, inner=_without_defaults(self.inner), own=_without_defaults(self.own))

    def completed(self, arguments: dict[str, Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments of a call in their order; None where it does not fit."""
        if kwargs.keys() & arguments.keys() or kwargs.keys() - self.own.parameters.keys():
            return None
        given = arguments | kwargs
        return (
            {n: given[n] for n in self.names if n in given} if self.needed <= given.keys() else None
        )


def _opened_inside(lowering: Any, value: Any) -> Any:
    """What a function that is lowered has captured, with the objects in it as trees."""
    if isinstance(value, Captured) and tree.is_object(value.value):
        captures = lowering.captures
        names = captures.attributes(value, tree.attributes_of)
        read = (captures.attribute(value, name) for name in names)
        value = Tree(type(value.value), names, tuple(read))
    if not isinstance(value, Tree):
        return value
    items = (_opened_inside(lowering, each) for each in value.items)
    return Tree(value.kind, value.keys, tuple(items))


def _holds_object(fact: Any) -> bool:
    """Whether there is an object in an argument that could be a tree, and is none."""
    known = (each.value for each in tree.leaves(fact) if isinstance(each, values.Static))
    return any(map(tree.is_object, known))


def _is_used(whole: WholeLists | None) -> bool:
    """Whether a list that is captured was taken as one value."""
    return whole is not None and whole.used


def _without_defaults(signature: inspect.Signature) -> inspect.Signature:
    every = signature.parameters.values()
    if all(each.default is each.empty for each in every):
        return signature
    return signature.replace(
        parameters=[e if e.default is e.empty else e.replace(default=None) for e in every]
    )


class OwnSignature:
    """`__signature__` of objects, read when it is asked for; the class has its own."""

    def __get__(self, instance: Any, owner: type | None = None) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return instance._signatures.own


#: calls that an object makes before it gets a table and a fast path of its own
FIRST_CALLS = 8


class Transformed:
    """A function made by `grad`, `vmap`, `jit` and their kin. Call it as the original.

    Methods:
        source(*args): the generated text for arguments of this kind; without arguments the
            general text.
        explain(*args): what the backward pass keeps, and why.
        show(*args): a page with the user's code beside the generated code, line by line.
        lower(*args): the program in Core, stage by stage.

    Attributes:
        fn: the function inside; transform: what was made of it; label: what made it.
    """

    __signature__ = OwnSignature()
    __class_getitem__ = classmethod(types.GenericAlias)  # Transformed[[float], float], for checkers
    _hot: tuple[Hot, ...] = ()  # the kinds of calls that the fast path serves

    def __init__(
        self, fn: Callable, transform: Transform, label: str, check: Callable | None = None
    ):
        """With `check` its options are checked against `fn`, where they were not before."""
        functools.update_wrapper(self, fn, updated=())
        if self.__doc__ is None:  # then help() says what a transformed function has
            del self.__doc__
        self.fn, self.transform, self.label = fn, transform, label
        inside = isinstance(fn, Transformed)
        self.root: Callable = fn.root if inside else fn
        self.chain: Chain = (*(fn.chain if inside else ()), (label, transform))
        self._first_calls = FIRST_CALLS
        self._join(check)

    def __del__(self) -> None:
        """A class is garbage that waits to be collected: what its method serves need not wait."""
        if self._has_fast_path:
            del type(self).__call__

    def _join(self, check: Callable | None = None) -> None:
        """Find the functions that have the same code."""

        def make(family: Family) -> None:
            if check is not None:
                check(self.fn)
            self.__dict__["_signatures"] = Signatures.of(self)
            family.signatures = self._signatures.without_defaults()

        self._family = family_of(self.root, self.chain, make)
        if self._family.key is None:
            self._first_calls = 0

    @lazy
    def _signatures(self) -> Signatures:
        """Those of the family, where the function has no defaults of its own."""
        root = self.root
        own = getattr(root, "__defaults__", None) or getattr(root, "__kwdefaults__", None)
        return Signatures.of(self) if own else self._family.signatures

    @lazy
    def _dispatch(self) -> Dispatcher:
        return Dispatcher(
            Transformed.exact_key,
            Transformed._prepare,
            Transformed._compile,
            lambda transformed: transformed._family,
        )

    @lazy
    def _methods(self) -> Recent:
        return Recent()

    def _is_renewed(self) -> bool:
        """Whether the signature of the function is another than before; then it is taken over."""
        if isinstance(self.fn, Transformed):
            self.fn._is_renewed()
        before = self._signatures.inner
        if self._family.key is not None and not self._family.is_of(self.root):
            self._join()
        if same_signature(signature_of(self.label, self.fn), before):
            return False
        self.__dict__["_signatures"] = Signatures.of(self)
        self._hot = ()
        if self._has_fast_path:
            del type(self).__call__
        return True

    @property
    def _has_fast_path(self) -> bool:
        own = vars(type(self))
        return "_of_one_object" in own and "__call__" in own

    @property
    def kind(self) -> type[Transformed]:
        """The class, below the one that was made for this object."""
        kind = type(self)
        return kind.__mro__[1] if "_of_one_object" in vars(kind) else kind

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._known_to_family(args, kwargs) if self._first_calls else None
        if function is None:
            function, args, kwargs = self._known_to_it(args, kwargs)
        try:
            return function(*args, **kwargs)
        except ArithmeticError as error:
            failed = error
        except Exception as error:
            noted(error)
            raise
        bound, entry = self._served(args, kwargs)
        try:
            return self._in_the_limit(entry.found, bound, failed)
        finally:
            del failed  # it leads to this frame, and the frame to it

    def _known_to_family(self, args: tuple, kwargs: dict[str, Any]) -> Callable | None:
        """What serves a call where other functions with the same code were called like this.

        An object that is called again and again gets a table and a fast path of its own.
        """
        family = self._family
        signatures = family.signatures
        if len(args) > signatures.by_position or not family.is_of(self.root):
            return None
        arguments = dict(zip(signatures.names, args, strict=False))
        if kwargs or len(args) < len(signatures.names):
            arguments = signatures.completed(arguments, kwargs)
            if arguments is None:
                return None
        try:
            exactly = Transformed.exact_key(self, arguments)
            function = family.serving(exactly, self.root, arguments)
        except RecursionError:  # containers in containers: what is wrong with them is said later
            return None
        if function is not None:
            self._first_calls -= 1
        return function

    def _known_to_it(
        self, args: tuple, kwargs: dict[str, Any]
    ) -> tuple[Callable, tuple, dict[str, Any]]:
        """What serves a call by its own table, and the arguments that it is called with."""
        try:
            bound, entry = self._served(args, kwargs)
        except S2SError as error:
            raise shortened(error)  # noqa: B904  (it is this one)
        if self._first_calls:
            self._first_calls -= 1
        elif entry.is_hot or not self._has_fast_path:
            self._follow(bound.arguments, entry)
        return entry.found.function, bound.args, bound.kwargs

    def _in_the_limit(
        self, found: Specialisation, bound: inspect.BoundArguments, failed: ArithmeticError
    ) -> Any:
        """The result where Python's numbers fail in the derivative, and not in the function.

        NumPy's numbers give inf or nan there, with a warning.
        """
        inner = None if self._signatures.last is not None else self._innermost(bound)
        again = None if inner is None else careful(found.loaded)
        if again is None:
            noted(failed)
            try:
                raise failed
            finally:
                del failed
        function, args, kwargs = inner
        if again.program.mutated:
            args, kwargs = copy.deepcopy((args, kwargs))
        function(*args, **kwargs)  # what it raises, it raises
        return assembled(again, found.assemble)(*bound.args, **bound.kwargs)

    def _innermost(
        self, bound: inspect.BoundArguments
    ) -> tuple[Callable, tuple, dict[str, Any]] | None:
        """The user's function, and what a call of this one calls it with, if there is such a call.

        Of a batch it is the call for the first sample.
        """
        inner = self.transform.inner_call(bound)
        if inner is None:
            return None
        if isinstance(self.fn, Transformed):
            return self.fn._innermost(self.fn.bind(*inner))
        plain = isinstance(called(self.fn), types.FunctionType) or is_of_library(self.fn)
        return (self.fn, *inner) if plain else None

    def _served(self, args: tuple, kwargs: dict[str, Any]) -> tuple[inspect.BoundArguments, Entry]:
        """The arguments of a call, and what serves it."""
        try:
            bound = self.bind(args, kwargs)
            return bound, self._entry(bound.arguments)
        except Renewed:
            bound = self.bind(args, kwargs)
            return bound, self._entry(bound.arguments)

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """The arguments by parameter; those that keep their default are left out."""
        last = self._signatures.last
        if last is not None and args and last not in kwargs:  # it comes last
            args, kwargs = args[:-1], {last: args[-1], **kwargs}
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError:
            if self._is_renewed():
                return self.bind(args, kwargs)
            text = misfit(self._name(), self.__signature__, args, kwargs)
            call = call_of(self._name(), self.__signature__)
            help = self.transform.advice() or f"a derivative is called as its function: {call}"
            raise ArgumentTypeError("S2S501", text, help=help) from None
        for name in self._signatures.required - bound.arguments.keys():
            default = self.__signature__.parameters[name].default
            if default is not inspect.Parameter.empty:
                bound.arguments[name] = default
        return bound

    def specialised(self, args: tuple, kwargs: dict[str, Any]) -> Loaded:
        """What is compiled for these arguments."""
        return self._served(args, kwargs)[1].found.loaded

    def _entry(self, arguments: dict[str, Any]) -> Entry:
        """What serves a call with these arguments."""
        try:
            return self._dispatch.find(self, arguments)
        except RecursionError:
            check_nesting(self.label, arguments)
            raise

    def _follow(self, arguments: dict[str, Any], entry: Entry) -> None:
        """Let the fast path serve calls like this one."""
        if self._signatures.last is not None or entry.found.loaded.program.takes_lists:
            return  # it would compare each of their items
        if self._family.floats:
            return  # which it takes for the same where they are equal: 0.0 and -0.0
        given = exact(self.__signature__, arguments, self._family.opened)
        names = self._watched(given)
        hots = with_call(
            self._hot,
            self.__signature__,
            arguments,
            entry.found,
            _from_fast_path,
            _failed_there,
            by_value=frozenset(self._family.by_value),
            ignored=arguments.keys() - names,
            required=self._signatures.required,
        )
        if hots is not self._hot:
            self._hot, call = hots, linked(hots)
            call.__qualname__ = self._name()
            if "_of_one_object" not in vars(type(self)):  # its `__call__` is for it alone
                members = {"__slots__": (), "_of_one_object": True}
                self.__class__ = type(type(self).__name__, (type(self),), members)
            type(self).__call__ = call

    def _watched(self, arguments: Arguments) -> set[str]:
        """Parameters whose arguments may make a difference."""
        if isinstance(self.fn, Transformed):
            inner = self.fn._watched(self._inside(arguments))
        else:
            inner = mentioned(self.fn)
        return inner | self.transform.watched(arguments)

    def exact_key(self, arguments: dict[str, Any]) -> Any:
        opened = self._family.opened
        pairs = arguments.items()
        key = tuple((name, exact_key(value, opens=name in opened)) for name, value in pairs)
        known = [static_key(value) for _, value in self._known(arguments)]
        return (key, *known) if known else key

    def _known(self, arguments: dict[str, Any]) -> Iterator[tuple[tuple[str, tree.Path], Any]]:
        """What counts by value in a call: numbers, shapes of arrays, and where they stand."""
        for place in self._family.by_value:
            name, path = place
            try:
                value = tree.follow(arguments[name], path)
            except (LookupError, AttributeError, TypeError):
                continue  # this call has another structure
            if type(value) is int or (type(value) is float and place in self._family.floats):
                yield place, value
            elif isinstance(value, np.ndarray):
                yield place, value.shape

    # ---- compilation

    def _prepare(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The abstract values that the code is compiled for, once nothing is wrong with them."""
        if self._is_renewed():
            raise Renewed
        found = self._opened(arguments)
        self._check(found)
        known = dict(self._known(arguments))
        facts = {}
        for name, fact in found.facts.items():
            paths = iter(tree.paths(fact))

            def leaf(each: Any, name: str = name, paths: Iterator = paths) -> Any:
                place = (name, next(paths))
                if place not in known:
                    return any_length(each)
                return each if isinstance(each, values.Array) else values.Static(known[place])

            facts[name] = tree.tree_map(leaf, fact)
        facts = self.transform.loosen(Arguments(self.__signature__, facts)).facts
        return self._with_lists(facts, found) if self._takes_lists() else facts

    def _opened(self, arguments: dict[str, Any]) -> Arguments:
        """The abstract values of arguments; objects that are differentiated by, or mapped over, are
        trees from now on."""
        family = self._family
        found = exact(self.__signature__, arguments, family.opened)
        fresh = self._to_open(found)
        if not fresh:
            return found
        family.opened |= fresh
        return exact(self.__signature__, arguments, family.opened)

    def _to_open(self, arguments: Arguments) -> set[str]:
        """The parameters in which objects have to be trees, and are not yet."""
        closed = {name for name, fact in arguments.facts.items() if _holds_object(fact)}
        return closed & self._reached(arguments) if closed else closed

    def _reached(self, arguments: Arguments) -> set[str]:
        """Parameters that a transform of the chain differentiates by, or maps over."""
        found = self.transform.watched(arguments)
        if isinstance(self.fn, Transformed):
            return {*found, *self.fn._reached(self._inside(arguments))}
        return found

    def _with_lists(self, facts: dict[str, Any], arguments: Arguments) -> dict[str, Any]:
        """The abstract values in which long lists of numbers are one input.

        Not those of tuples that a transform differentiates by, or maps over.
        """
        rows, reached = self._takes_rows(), self._reached(arguments)
        return {
            name: with_lists(fact, rows=rows, tuples=rows and name not in reached)
            for name, fact in facts.items()
        }

    def _takes_rows(self) -> bool:
        """Whether a list of lists may be one input, where a list may."""
        inner = not isinstance(self.fn, Transformed) or self.fn._takes_rows()
        return inner and self.transform.takes_rows

    def _takes_lists(self) -> bool:
        """Whether a long list of numbers is one input, until the function asks for its length."""
        inner = not isinstance(self.fn, Transformed) or self.fn._takes_lists()
        return inner and self.transform.takes_lists and not self._family.lists_apart

    def _check(self, arguments: Arguments) -> None:
        """Each transform of the chain checks what it will be called with."""
        self.transform.check(self.label, arguments)
        if isinstance(self.fn, Transformed):
            self.fn._check(self._inside(arguments))

    def _inside(self, arguments: Arguments) -> Arguments:
        return self.transform.inside(arguments, self._signatures.inner)

    def derive(self, arguments: Arguments) -> list[Program]:
        """The program for arguments of these abstract values, and those that come with it."""
        inner = self.inner_program(arguments)
        try:
            programs = self.transform.programs(inner, arguments)
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise error.labelled(self.label) from None
        for each in programs:
            passes.tell(passes.TRANSFORM, inner, each)
        return programs

    def inner_program(self, arguments: Arguments) -> Program:
        """The program of the function inside, for what this one is called with."""
        inside = self._inside(arguments)
        try:
            if isinstance(self.fn, Transformed):
                return self.fn.derive(inside)[0]
            lower_it = getattr(self.fn, "__s2s_lower__", self._lowered)
            with sizes.fitting():
                program = lower_it(inside.facts)
                if known := _learned(program):  # from the start it tells more
                    told = functools.partial(values.with_lengths, known=known)
                    program = lower_it(inside.map(told).facts)
        except StaticNeeded as need:
            places = [self.transform.place(each, self._signatures.inner) for each in need.inputs]
            raise StaticNeeded(places, need.error) from None
        return watching(passes.run(passes.lowered(program), (DEAD,)))

    def _lowered(self, facts: dict[str, Any]) -> Program:
        """The program of the user's function."""
        varying = self._family.varying(self.fn)
        try:
            return lower(self.fn, facts, varying)
        except S2SError:
            if not varying:
                raise
        self._family.numbers_are_fixed = True
        return lower(self.fn, facts)

    def _compile(
        self, abstract: dict[str, Any], arguments: dict[str, Any], assumes: bool
    ) -> tuple[Loaded, Callable, Assumed]:
        self._first_calls = 0  # from now on it has a table of its own
        apart = self._family.lists_apart
        while True:
            lengths = values.lengths_of_inputs(abstract, arguments)
            assumptions = sizes.Assumptions(lengths, general=not assumes)
            try:
                whole = WholeLists() if self._takes_lists() and self._takes_rows() else None
                with sizes.assuming(assumptions), whole_lists(whole):
                    programs = self._programs(abstract, arguments, whole)
            except S2SError:  # it was not for the lists
                self._family.lists_apart = apart
                raise
            if programs is not None:
                break
            abstract = self._prepare(arguments)
        assumed = Assumed.of(abstract, assumptions)
        program, text = programs[0]
        programs[0] = program, replace(text, assumed=tuple(assumed.texts()))
        with faults.told():
            loaded = [
                self._loaded(*programs[0], assumed),
                *itertools.starmap(self._loaded, programs[1:]),
            ]
            loaded[0].companions.extend(loaded[1:])
            return loaded[0], told_apart(self.transform.function), assumed

    def _programs(
        self, abstract: dict[str, Any], arguments: dict[str, Any], whole: WholeLists | None
    ) -> list[tuple[Program, Text]] | None:
        """What is compiled for abstract values; None where it has to be others.

        Something counts by value from now on, or each item of a list is an input of its own.
        """
        lists = {name for name, fact in abstract.items() if has_lists(fact)}
        try:
            programs = self._finished(Arguments(self.__signature__, abstract))
            if not lists & {name for name, _ in programs[0][0].mutated}:
                return programs
        except StaticNeeded as need:
            try:
                return self._count_by_value(need, arguments)
            except S2SError as error:
                if not (lists or _is_used(whole)) or isinstance(error, InternalError):
                    raise
        except S2SError as error:
            if not (lists or _is_used(whole)) or isinstance(error, InternalError):
                raise
        self._family.lists_apart = True
        return None

    def _count_by_value(self, need: StaticNeeded, arguments: dict[str, Any]) -> None:
        """Let the numbers and shapes that a rule asked for be part of the signature from now on.

        Not the floats that a transform differentiates by.
        """
        family = self._family
        before = family.by_value, family.floats
        known = {place for place, _ in self._known(arguments)}
        reached = self._reached(self._opened(arguments))
        family.by_value = tuple(dict.fromkeys((*family.by_value, *need.inputs)))
        family.floats = family.floats.union(x for x in need.inputs if x[0] not in reached)
        if not {place for place, _ in self._known(arguments)} - known:
            family.by_value, family.floats = before
            raise need.error

    @patient()
    @faults.told()
    def _finished(self, arguments: Arguments) -> list[tuple[Program, Text]]:
        refuse_replaced()
        try:
            return deep_enough(functools.partial(self._written, arguments))
        except RecursionError:
            check_nesting(self.label, arguments.facts)
            raise _too_deep(self) from None
        except NeedStatic as need:
            raise need.error or UnsupportedError(
                "S2S205",
                f"{need.purpose} must be known when the code is generated",
                help="pass it as a plain Python int or a constant",
            ) from None

    def _written(self, arguments: Arguments) -> list[tuple[Program, Text]]:
        programs = self.derive(arguments)
        derives = self._derives()
        finished = [finish(each, derived=derives or each.derived) for each in programs]
        pairs = zip(finished, programs, strict=True)
        return [(program, self._text_of(program, arguments, each)) for program, each in pairs]

    def _text_of(self, program: Program, arguments: Arguments, derived: Program) -> Text:
        """The text of a finished program, and its native code; `derived` is what was finished."""
        text = write(program)
        if self._native is None:
            return text
        batch = self.fn if isinstance(self.transform, Jit) else self
        if not isinstance(batch, Transformed) or not isinstance(batch.transform, Vmap):
            return self._with_loops(program, derived, text)
        if batch.transform.is_first():
            sample = batch.inner_program(arguments)
            axes = tree.leaves(batch.transform.leaf_axes(arguments))
            text = self._with_rows(program, sample, axes, text)
        return text if text.native else self._with_loops(program, derived, text)

    def _with_rows(self, program: Program, sample: Program, axes: list, text: Text) -> Text:
        """The text with loops over samples; `sample` is the program of one."""
        batched = masked_program(sample, axes) if is_of_numbers(sample) else None
        if batched is not None:
            found = with_lanes(text, finish(batched, derived=True), axes)
            if found.native:
                return found
        return with_rows(text, finish(sample, derived=self._derives()), program, axes)

    def _with_loops(self, program: Program, derived: Program, text: Text) -> Text:
        """The text with loops: of all, or of parts where not all has a native form.

        What functions that call themselves save has none; where they compute it again they have.
        """
        text = with_loops(program, text)
        if text.native:
            return text
        again = everywhere(functools.partial(without_saved, real=False))(derived)
        if again is not derived:
            again = finish(again, derived=self._derives() or derived.derived)
            if [*captured_by(again)] == [*captured_by(program)]:
                found = with_loops(again, text)
                if found.native:
                    return found
        return with_parts(program, text)

    def _loaded(self, program: Program, text: Text, assumed: Assumed | None = None) -> Loaded:
        loaded = load(program, text)
        asked = self._native
        if not text.native or asked is None:
            return loaded
        options = {"parallel": asked.parallel, "wait": asked.wait, "cache": asked.cache}
        return natively(loaded, assumed, **options)

    @property
    def _native(self) -> Jit | None:
        """The `jit` of the chain that asks for native code: the last one."""
        asked = (each for _, each in reversed(self.chain) if isinstance(each, Jit) and each.native)
        return next(asked, None)

    def _derives(self) -> bool:
        """Whether the code is other than the user's own."""
        inner = isinstance(self.fn, Transformed) and self.fn._derives()
        return inner or not isinstance(self.transform, Jit)

    # ---- looking inside

    def _text(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Program, Text]:
        if args or kwargs:
            loaded = self.specialised(args, kwargs)
            return loaded.program, loaded.text
        arguments = self._general()
        self._check(arguments)
        try:
            return self._finished(arguments)[0]
        except StaticNeeded as need:
            raise need.error.of_unknown_arguments() from None
        except UnsupportedError as error:
            raise error.of_unknown_arguments() from None

    def _without_door(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Program, Text]:
        """The text of code that no door guards: it assumes nothing of lengths."""
        if args or kwargs:
            bound, entry = self._served(args, kwargs)
            if entry.found.assumed.guards:
                abstract = self._prepare(bound.arguments)
                loaded = self._compile(abstract, bound.arguments, False)[0]
                return loaded.program, loaded.text
        return self._text(args, kwargs)

    def _general(self) -> Arguments:
        """Arguments of which nothing is known."""
        self._is_renewed()
        for name, parameter in self.__signature__.parameters.items():
            if parameter.kind in (STAR, DOUBLE_STAR):
                raise ArgumentTypeError(
                    "S2S501",
                    f"{self.label}: the general text of a function that takes {parameter}",
                    why=f"how many {name} there are is part of the text",
                    help="give example arguments",
                )
        return unknown(self.__signature__)

    @short
    def text(self, *args: Any, **kwargs: Any) -> Text:
        """The generated text with what belongs to it (see `emit.text.Text`)."""
        return self._text(args, kwargs)[1]

    @short
    def source(
        self,
        *args: Any,
        standalone: bool = False,
        native: bool = False,
        namespace: str = "",
        **kwargs: Any,
    ) -> str:
        """The generated source for arguments of this kind.

        Args:
            args, kwargs: example arguments; without any the general text, which is right for
                all arguments and asks the ranks at run time.
            standalone: paste helpers and captured values, so that it runs with NumPy alone.
            native: the loops that `jit` has Numba compile; they need NumPy and Numba alone.
            namespace: "jax.numpy", "torch", "cupy" or "array_api": standalone text for arrays of
                these, or of any library that follows the array API standard. Values are those of
                NumPy; what raises is up to the library (JAX raises for no index out of range).

        Raises:
            ArgumentValueError: `native` is asked for, and there is no native form of it.
            UnsupportedError: the text does something that the namespace has no form for.
        """
        if native:
            text = self.with_native_code(args, kwargs)
            return text.native if text.cut is None else module_in_parts(text.cut)
        if not standalone and not namespace:
            return self._text(args, kwargs)[1].module
        by_parts = not namespace or dialect(namespace).views
        program, text = self._without_door(args, kwargs)
        if not by_parts:
            text = write(program, by_parts=False)
        module = standalone_module(program, text)
        if not namespace:
            return module
        known = known_names(functions_of(program, by_parts=by_parts))
        return in_namespace(module, namespace, known)

    def with_native_code(self, args: tuple, kwargs: dict[str, Any]) -> Text:
        """The text, which has native code for arguments like these."""
        text = self._text(args, kwargs)[1]
        if not text.native:
            raise ArgumentValueError(
                "S2S502",
                f"{self!r} has no native code for these arguments",
                why=text.refused or "no `jit` asks for it, or Numba is not installed",
                help="jit(...) around it makes native code where Numba is installed"
                " (pip install 's2s_ad[native]')",
            )
        return text

    @short
    def explain(self, *args: Any, copies: bool = False, native: bool = False, **kwargs: Any) -> str:
        """What the backward pass keeps of the forward pass: which name, line, bytes, and why.

        Of what `jit` compiled it says whether that is native code, and if not, why not.

        Args:
            args, kwargs: example arguments.
            copies: tell of each copy in the text, too: which, line, bytes, how often, and why.
            native: tell of each line which native code it is in, or why in none.
        """
        program, text = self._text(args, kwargs)
        given = self.bind(args, kwargs).arguments if args or kwargs else {}
        told = [explanation(program, text, given)]
        told += [copies_explained(program, given)] if copies else []
        told += [native_explained(program, text)] if native else []
        return "\n".join(told)

    @short
    def show(
        self, *args: Any, path: str | Path | None = None, time: bool = False, **kwargs: Any
    ) -> Shown:
        """A page with the user's code beside what is generated from it, line by line.

        A notebook displays it, elsewhere the browser opens it. It has the gradient, the batched
        and the second derivative of the function, too, and what the backward pass keeps.

        Args:
            args, kwargs: example arguments.
            path: a file that it is written into, and not opened.
            time: call the functions, and show how long each line takes.
        """
        from s2s_ad.api.pages import page
        from s2s_ad.api.shown import Shown, shown

        made = page(self, args, kwargs, timed=time)
        if path is None:
            return shown(made)
        found = Shown(made)
        found.save(path)
        return found

    @short
    def core(self, *args: Any, **kwargs: Any) -> Program:
        """The program in Core after the last pass: `str` of it is what the text is written from.

        Before a pass, and after it, S2S_AD_DUMP shows programs (`core/passes.py`).
        """
        return self._text(args, kwargs)[0]

    @short
    def lower(self, *args: Any, **kwargs: Any) -> dict[str, Program]:
        """The stages by name: "core" (the function), then the program of each transform."""
        if not args and not kwargs:
            return self._stages(self._general(), {})
        self._is_renewed()
        bound = self.bind(args, kwargs).arguments
        while True:
            arguments = Arguments(self.__signature__, self._prepare(bound))
            try:
                return self._stages(arguments, values.lengths_of_inputs(arguments.facts, bound))
            except StaticNeeded as need:
                self._count_by_value(need, bound)

    def _stages(self, arguments: Arguments, lengths: dict[sizes.Atom, int]) -> dict[str, Program]:
        stages = Stages()
        with faults.told(), sizes.assuming(sizes.Assumptions(lengths)):
            self._add_stages(arguments, stages)
        return stages

    def _add_stages(self, arguments: Arguments, stages: dict[str, Program]) -> Program:
        if isinstance(self.fn, Transformed):
            program = self.fn._add_stages(self._inside(arguments), stages)
        else:
            program = stages["core"] = self.inner_program(arguments)
        made = self.transform.programs(program, arguments)[0]
        again = sum(name.split(" ")[0] == self.label for name in stages)
        stages[f"{self.label} {again + 1}" if again else self.label] = made
        return made

    # ---- inside another function

    def __s2s_call__(self, lowering: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """A call inside a function that is lowered: the program, written in place."""
        arguments, leaves = self.lowered(lowering, args, kwargs)
        try:
            program = self.derive(arguments)[0]
        except StaticNeeded as need:
            known = self._known_inside(arguments, need, leaves)
            if not known:
                raise self._needed(need, leaves) from None
            program = self.derive(known)[0]
        return splice(lowering, program, leaves)

    def _known_inside(
        self, arguments: Arguments, need: StaticNeeded, leaves: dict
    ) -> Arguments | None:
        """The arguments with the floats by value that are needed; None where none is known."""
        reached = self._reached(arguments)
        floats = {x for x in need.inputs if x[0] not in reached and type(leaves.get(x)) is float}
        if not floats:
            return None
        facts = {}
        for name, fact in arguments.facts.items():
            places = iter([(name, path) for path in tree.paths(fact)])

            def by_value(each: Any, places: Iterator = places) -> Any:
                place = next(places)
                return values.Static(leaves[place]) if place in floats else each

            facts[name] = tree.tree_map(by_value, fact)
        return Arguments(arguments.signature, facts)

    def lowered(
        self, lowering: Any, args: list, kwargs: dict[str, Any]
    ) -> tuple[Arguments, dict[tuple[str, tree.Path], Any]]:
        """What a call inside a function that is lowered is called with, and its leaves by place."""
        bound = self.bind(tuple(args), kwargs)
        given = {}
        for name, parameter in self.__signature__.parameters.items():
            if name in bound.arguments:
                given[name] = value = bound.arguments[name]
                if parameter.kind in (STAR, DOUBLE_STAR):
                    top = tree.one_level(value)
                    given[name] = Tree(top.kind, top.keys, top.items)
        arguments = self._facts_inside(lowering, given)
        opened = self._to_open(arguments)
        if opened:
            given |= {name: _opened_inside(lowering, given[name]) for name in opened}
            arguments = self._facts_inside(lowering, given)
        self._check(arguments)
        leaves = {}
        for name, value in given.items():
            for path, leaf in zip(tree.paths(value), tree.leaves(value), strict=True):
                leaves[name, path] = leaf
        return arguments, leaves

    def _facts_inside(self, lowering: Any, given: dict[str, Any]) -> Arguments:
        def fact(leaf: Any) -> Any:
            return _fact_inside(lowering, leaf)

        facts = {name: tree.tree_map(fact, value) for name, value in given.items()}
        return Arguments(self.__signature__, facts)

    def _needed(self, need: StaticNeeded, leaves: dict) -> Exception:
        symbols = [leaves[place] for place in need.inputs if place in leaves]
        known = [each for each in symbols if isinstance(each, Symbol)]
        names = [each.name for each in known]
        return NeedStatic(names[0], "this argument", names=names) if names else need.error

    # ---- Python's protocols

    def __get__(self, instance: Any, owner: type | None = None) -> Transformed:
        if instance is None:
            return self
        return self._methods.get((instance,), lambda: self._bound_to(instance))

    def _bound_to(self, instance: Any) -> Transformed:
        inner = self.fn.__get__(instance, type(instance))
        return self.kind(inner, self.transform, self.label)

    def __reduce__(self) -> str | tuple:
        return reduced(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Transformed:
        return deep_copied(self, memo)

    def __repr__(self) -> str:
        inner = repr(self.fn) if isinstance(self.fn, Transformed) else self._name()
        return f"{self.label}({inner}{self.transform.options()})"

    def _name(self) -> str:
        return name_of(self.fn)

    def _repr_markdown_(self) -> str:
        """For notebooks: the text that was compiled last."""
        latest = self._latest()
        if latest is None:
            return f"`{self!r}`, not compiled yet"
        return f"`{self!r}`\n\n```python\n{latest.text.module}```"

    def _latest(self) -> Loaded | None:
        """What was compiled last for it, or else for others with the same code."""
        return self._dispatch.latest() or self._family.latest()

    def _repr_html_(self) -> str:
        """For notebooks: the same beside the user's code; nothing is compiled for it."""
        latest = self._latest()
        if latest is None:
            return f"<code>{html.escape(repr(self))}</code>, not compiled yet"
        from s2s_ad.api.pages import page_of_latest
        from s2s_ad.show.html import fragment

        return fragment(page_of_latest(self, latest))


def _from_fast_path(self: Transformed, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call that the fast path does not know."""
    given, named = _given(self, args, kwargs)
    return Transformed.__call__(self, *given, **named)


def _failed_there(
    self: Transformed, failed: ArithmeticError, args: tuple, kwargs: dict[str, Any]
) -> Any:
    """A call of the fast path that came to such an error."""
    bound = self.bind(*_given(self, args, kwargs))
    try:
        return self._in_the_limit(self._entry(bound.arguments).found, bound, failed)
    finally:
        del failed


def _given(self: Transformed, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict]:
    """The arguments of a call of the fast path; ABSENT stands for what it was not given."""
    given = tuple(itertools.takewhile(lambda each: each is not ABSENT, args))
    rest = zip(list(self.__signature__.parameters)[len(given) :], args[len(given) :], strict=False)
    return given, {k: v for k, v in (*rest, *kwargs.items()) if v is not ABSENT}


def _too_deep(function: Any) -> UnsupportedError:
    """What is said of a function whose parts stand too deep in each other."""
    while isinstance(function, Transformed):
        function = function.fn
    code = getattr(function, "__code__", None)
    origin = None
    if code is not None:
        file, line = code.co_filename, code.co_firstlineno
        text = linecache.getline(file, line).rstrip("\n")
        start = len(text) - len(text.lstrip())
        origin = Origin(file, line, start, len(text), text, code.co_name)
    return UnsupportedError(
        "S2S201",
        f"{name_of(function)} is nested too deeply",
        origin=origin,
        why="its expressions and blocks are walked by functions that call themselves, as often as"
        f" Python allows: {DEEPEST} times",
        help="give names to parts of a long expression, or make a loop of it",
    )


# ---- inside functions that are lowered -----------------------------------------------------------

OUTER = "outer "  # begins the name of an input that the function around supplies by itself


def splice(lowering: Any, program: Program, leaves: dict[Any, Any]) -> Any:
    """The program written in place, for these leaves in their order."""
    lowering.derived = True
    go_into(lowering, program)
    rest = iter(leaves.values())
    named = {}
    for capture in program.captures:
        if capture.name is not None and isinstance(capture.value, Parameter):
            held = lowering.captures.parameter(capture.value, capture.text)
            named[capture.name] = settled(held)  # what it holds here, if it was changed before
        else:
            lowering.captures.adopt(capture)
    for each in program.inputs:
        for leaf in tree.leaves(each.tree):
            own = each.name.startswith(OUTER)
            named[leaf] = Symbol(lowering.builder, leaf) if own else next(rest)
    given = [each for each in leaves.values() if isinstance(each, Symbol)]

    def entered(leaf: Any) -> Any:
        return _entered(lowering, leaf, given)

    output = lowering.builder.splice(program, named)
    if not program.writes:
        return tree.tree_map(entered, output)
    result, *written = output.items
    for capture, value in zip(program.writes, written, strict=True):
        held = lowering.captures.parameter(capture.value, capture.text)
        lowering.memory.store(held, entered(value))
    return tree.tree_map(entered, result)


def _entered(lowering: Any, leaf: Any, given: list[Symbol]) -> Any:
    """What a program gives, as a value of the function that it is written into."""
    if isinstance(leaf, np.generic):  # a derivative that is known, in the precision of its value
        return lowering.builder.call(type(leaf), (leaf.item(),), {})
    if not isinstance(leaf, Symbol):
        return leaf
    made = lowering.memory.kindred(leaf, given)
    if made.shape == ():
        made.number = not is_array_in_text(leaf)
    return made


def _fact_inside(lowering: Any, leaf: Any) -> Any:
    if isinstance(leaf, Closure):
        raise UnsupportedError(
            "S2S201",
            f"{leaf.name} is passed to a transformed function",
            why="it was defined inside the function that is compiled",
            help="define it at the top of a module",
        )
    exactly = type(leaf) in (int, bool)
    return values.Static(leaf) if exactly else lowering.builder.fact(unwrap(leaf))


def _learned(program: Program) -> dict[Atom, int | Atom]:
    """What lengths of inputs have to be, where that would tell more about the program.

    Lengths that have to be equal tell more where loops carry arrays whose lengths are not known.
    """
    known: dict[Atom, int | Atom] = dict(sizes.required_numbers())
    if equal := sizes.required_equal():
        given = {atom for name in program.leaves() for atom in atoms_of_fact(program.facts[name])}
        if not all(given.issuperset(atoms_of_fact(fact)) for fact in _carried(program)):
            known |= equal
    return known


def _carried(program: Program) -> Iterator[Any]:
    """The facts of the arrays that loops carry."""
    for statement in program.body:
        region = region_of(statement)
        for block in () if region is None else region.blocks:
            yield from _carried(block)
        if isinstance(region, Loop):
            leaves = region.leaves(region.body).carried
            facts = (region.body.facts[leaf] for leaf in leaves)
            yield from (each for each in facts if isinstance(each, values.Array))
