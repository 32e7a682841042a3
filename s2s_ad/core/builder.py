"""Building Core: a Builder appends operations, infers facts and simplifies as it goes.

A Symbol stands for a Core name and behaves like an array, so that rules are written as the NumPy
they mean: `y_bar * np.cos(x)` on Symbols appends two operations.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from s2s_ad.core import form, known_arrays, sizes, tree, values
from s2s_ad.core.homes import home_of
from s2s_ad.core.program import TEMPORARY, Hint, Program
from s2s_ad.core.registry import METHODS, rule_of
from s2s_ad.core.rule import ITEM, Operation, Rule
from s2s_ad.core.sizes import Size
from s2s_ad.diagnostics import ArgumentTypeError, Origin, S2SError

_counter = itertools.count()
DERIVED = ("backward", "tangent")  # the phases of what the user did not write


def fresh_name() -> str:
    """A Core name that no other program has; the printer gives it its readable name."""
    return f"v{next(_counter)}"


class NeedStatic(Exception):
    """A rule needs the value of a name while code is generated.

    `error` says what to raise where it cannot be known; None where the purpose says enough.
    `names` are those from which it is computed, where there are several.
    """

    def __init__(
        self, name: str, purpose: str, error: S2SError | None = None, names: Sequence[str] = ()
    ):
        self.name, self.purpose, self.error = name, purpose, error
        self.names = names or (name,)
        super().__init__(f"{purpose} must be known when the code is generated")


class NeedKind(NeedStatic):
    """The rank or the dtype of an array has to be known: a loop may have made it another one."""


class Symbol(np.lib.mixins.NDArrayOperatorsMixin):
    """A Core name in a rule's hands."""

    __slots__ = ("builder", "name")
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    def __init__(self, builder: Builder, name: str):
        self.builder, self.name = builder, name

    @property
    def fact(self) -> values.AbstractValue:
        return self.builder.facts[self.name]

    @property
    def shape(self) -> values.Shape | None:
        return values.shape_of(self.fact)

    @property
    def ndim(self) -> int | None:
        return values.rank_of(self.fact)

    @property
    def dtype(self) -> np.dtype | None:
        return values.strong_dtype(self.fact)

    @property
    def real(self) -> Any:
        return np.real(self)

    @property
    def imag(self) -> Any:
        return np.imag(self)

    @property
    def T(self) -> Any:
        itself: Any = self
        return np.transpose(itself)

    def __getitem__(self, index: Any) -> Any:
        return self.builder.call(operator.getitem, (self, index), {})

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return self.builder.call(getattr(ufunc, method), inputs, kwargs)
        return self.builder.call(OPERATORS.get(ufunc, ufunc), inputs, kwargs)

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        return self.builder.call(function, args, kwargs)

    if TYPE_CHECKING:  # NumPy takes it for an array

        def __array__(self, dtype: Any = None) -> np.ndarray: ...

    def __bool__(self) -> bool:
        return bool(static(self, "a condition"))

    def __index__(self) -> int:
        return operator.index(static(self, "a number"))

    def __iter__(self):
        raise ArgumentTypeError(
            "S2S205",
            "the items of an array whose length is not known",
            origin=self.builder.origin,
            help="give a list of arrays",
        )

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or attribute not in METHODS:
            raise AttributeError(attribute)
        return lambda *args, **kwargs: self.builder.call(METHODS[attribute], (self, *args), kwargs)


OPERATORS: dict[np.ufunc, Callable] = {
    np.add: operator.add,
    np.divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.matmul: operator.matmul,
    np.multiply: operator.mul,
    np.negative: operator.neg,
    np.power: operator.pow,
    np.remainder: operator.mod,
    np.subtract: operator.sub,
    np.equal: operator.eq,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.not_equal: operator.ne,
}


def to_node(value: Any) -> gast.AST:
    """The operand that a Symbol or a Python object stands for."""
    if isinstance(value, Symbol):
        return form.name(value.name)
    if isinstance(value, tuple):
        return gast.Tuple(elts=[to_node(item) for item in value], ctx=gast.Load())
    if isinstance(value, list):
        return gast.List(elts=[to_node(item) for item in value], ctx=gast.Load())
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        parts = [None if each is None else to_node(each) for each in bounds]
        return gast.Slice(*parts)
    return form.constant(value)


def constant_value(value: Any) -> Any:
    """The number that operations on nothing but numbers give; other values as they are."""
    if not isinstance(value, Symbol) or value.shape != ():
        return value
    known = value.builder.constants
    value.builder.asked.add(value.name)
    if value.name not in known:
        known[value.name] = _constant_value(value)
    found = known[value.name]
    return value if isinstance(found, Symbol) else found  # of one name there may be several arrays


def _constant_value(value: Symbol) -> Any:
    rule, operands, params = value.builder.definition(value)
    if rule is ITEM:
        known = _constant_output(operands[0], params["index"])
        return value if isinstance(known, Symbol) else known
    if rule is None or rule.effects or not operands or not callable(rule.function):
        return value
    if params:
        return _constant_item(value)
    known = [constant_value(each) for each in operands]
    if not all(type(x) in values.PYTHON_NUMBERS or isinstance(x, np.generic) for x in known):
        return value
    try:
        return rule.function(*known)
    except ArithmeticError:  # it is raised where the code comes to it
        return value


def _constant_item(value: Symbol) -> Any:
    """An item of an array that counts from a known whole number to another one."""
    rule, (array, *_), params = value.builder.definition(value)
    index = params.get("index")
    if rule is None or not rule.view or len(params) > 1:
        return value
    if type(index) is not int or not isinstance(array, Symbol):
        return value
    rule, _, numbers = value.builder.definition(array)
    if rule is None or not rule.counts_up or any(type(x) is not int for x in numbers.values()):
        return value
    items = range(*numbers.values())
    return np.int_(items[index]) if -len(items) <= index < len(items) else value


def _constant_output(call: Symbol, index: int) -> Any:
    """An output of a function, where it does not depend on what the function is called with."""
    rule: Any = call.builder.definition(call)[0]
    if not getattr(rule, "gives_outputs", False):
        return call
    program = rule.program
    atom = program.output.items[index]
    if isinstance(atom, gast.Constant):
        return atom.value
    notes, key = call.builder.notes, ("inside", id(program))
    if key not in notes:
        notes[key] = Builder.of(program)
    return constant_value(Symbol(notes[key], atom.id)) if isinstance(atom, gast.Name) else call


def static(value: Any, purpose: str = "this argument") -> Any:
    """The value without Symbols, or NeedStatic: it has to be known now."""
    if isinstance(value, Symbol):
        known = constant_value(value)
        items = (value.builder.known or {}).get(value.name)
        if known is value and isinstance(items, np.ndarray):
            return items.tolist()
        if known is value:
            raise NeedStatic(value.name, purpose)
        return known
    if isinstance(value, tuple | list):
        return type(value)(static(item, purpose) for item in value)
    return value


class At:
    """Around operations that come from one place of the user's code, in one phase."""

    __slots__ = ("before", "builder", "here")

    def __init__(self, builder: Builder, origin: Origin | None, phase: str):
        self.builder, self.here = builder, (origin, phase)

    def __enter__(self) -> None:
        builder = self.builder
        self.before = builder.origin, builder.phase
        builder.origin, builder.phase = self.here

    def __exit__(self, *error: object) -> None:
        self.builder.origin, self.builder.phase = self.before


class Builder:
    """Appends operations to a body; what it returns are Symbols, or numbers known already.

    With `merge` an operation that was emitted before is not emitted again.
    """

    def __init__(self, *, merge: bool = True) -> None:
        self.merge = merge
        self.body: list[form.Statement] = []
        self.facts: dict[str, values.AbstractValue] = {}
        self.hints: dict[str, Hint] = {}
        self.origin: Origin | None = None
        self.phase = ""
        self.trusted: Collection[int] = ()  # see `trusting`
        self.has_complex = False
        self.constants: dict[str, Any] = {}  # what `constant_value` has found, by name
        self.asked: set[str] = set()  # of which `constant_value` was asked
        self._numbers: dict[str, sizes.Atom] = {}
        self._counts: dict[str, sizes.Atom] = {}
        self.definitions: dict[str, tuple[Rule, list, dict]] = {}
        self.derived_names: set[str] = set()  # of operations that the user did not write
        self.notes: dict[Any, Any] = {}  # what rules found out of names, by the question
        #: arrays by name whose items are part of the code; None where that was not asked for
        self.known: dict[str, Any] | None = None
        self._numbered: dict[Any, Symbol] = {}

    @classmethod
    def of(cls, program: Program) -> Builder:
        """A builder that knows how each name of the program was computed."""
        builder = cls()
        builder.facts, builder.hints = dict(program.own_facts), dict(program.hints)
        builder.has_complex = program.knows_complex
        atoms = {name: Symbol(builder, name) for name in builder.facts}
        for statement in program.body:
            if isinstance(statement, form.Op):
                made = builder.operation(statement, atoms)
                entry = (made.rule, made.operands, made.params)
                builder.definitions[statement.target] = entry
                if statement.phase in DERIVED:
                    builder.derived_names.add(statement.target)
        return builder

    # ---- names

    def symbol(self, fact: values.AbstractValue, hint: Hint = TEMPORARY) -> Symbol:
        """A new name with this abstract value."""
        return self.adopt(fresh_name(), fact, hint)

    def adopt(self, name: str, fact: values.AbstractValue, hint: Hint = TEMPORARY) -> Symbol:
        self.facts[name], self.hints[name] = values.told_apart(fact), hint
        self.has_complex |= values.is_complex(fact)
        return Symbol(self, name)

    def named(self, value: Any, hint: Hint) -> Any:
        """`value`, to be called `hint` in the text unless it has a better name already."""
        if isinstance(value, Symbol) and hint.text:
            order = ("user", "derived", "temporary")
            old = self.hints[value.name]
            if order.index(hint.kind) < order.index(old.kind) or not old.text:
                self.hints[value.name] = hint
        return value

    def fact(self, value: Any) -> values.AbstractValue:
        return value.fact if isinstance(value, Symbol) else values.of_constant(value)

    def fact_with_size(self, value: Any) -> values.AbstractValue:
        """The abstract value, which says of a whole number which one it is."""
        return values.Scalar(int, sizes.of(value)) if type(value) is int else self.fact(value)

    def fact_of(self, node: gast.AST) -> values.AbstractValue:
        """The abstract value of an atom."""
        if isinstance(node, gast.Name):
            return self.facts[node.id]
        return (
            values.of_constant(node.value) if isinstance(node, gast.Constant) else values.Unknown()
        )

    def size(self, value: Any) -> Size | None:
        """Which whole number a value is; None where it is no such number of Python's."""
        if type(value) is int:
            return sizes.of(value)
        return getattr(value.fact, "size", None) if isinstance(value, Symbol) else None

    def number(self, value: Symbol) -> Size:
        """A whole number of NumPy's as a size: it is the same wherever it bounds a slice."""
        atom = self._numbers.setdefault(value.name, sizes.fresh(is_length=False))
        return sizes.of(atom)

    def count(self, mask: Symbol) -> values.Dim:
        """How many elements a mask takes: as many of each array."""
        atom = self._counts.setdefault(mask.name, sizes.fresh())
        return values.Dim(sizes.of(atom))

    def is_size(self, value: Symbol, size: Size) -> None:
        """Say which whole number a name is."""
        self.facts[value.name] = values.Scalar(int, size)

    def may_be_complex(self, value: Any) -> bool:
        """Whether a value may be complex: one of no known type is where complex numbers are near.

        Text for arguments of which nothing is known is text for real numbers.
        """
        fact = self.fact(value)
        return values.is_complex(fact) or (self.has_complex and not values.is_real(fact))

    def at(self, origin: Origin | None, phase: str | None = None) -> At:
        """Operations emitted inside come from this place of the user's code."""
        return At(self, origin, self.phase if phase is None else phase)

    @property
    def derived(self) -> bool:
        """Whether we write now what the user did not: there simpler algebra is welcome."""
        return self.phase in DERIVED

    @property
    def _raises(self) -> bool:
        """Whether we write what raises by `np.errstate`; see `callee.is_watched`."""
        return self.origin is not None and self.origin.raises and not self.derived

    @contextmanager
    def trusting(self, active: Collection[int]) -> Iterator[None]:
        """Derivatives with respect to these operands find out whether what is emitted inside
        raises; see `Op.trusted`."""
        before, self.trusted = self.trusted, active
        try:
            yield
        finally:
            self.trusted = before

    def mark(self) -> tuple:
        """What `undo` needs to take back everything that is appended from now on."""
        return len(self.body), dict(self._numbered), self.origin, self.phase

    def undo(self, mark: tuple) -> None:
        count, self._numbered, self.origin, self.phase = mark
        del self.body[count:]

    def forget(self, mark: tuple) -> None:
        """Read nothing again that was computed since the mark: it goes into a block."""
        self._numbered = dict(mark[1])

    # ---- operations

    def call(self, function: Callable, args: Iterable, kwargs: Mapping[str, Any]) -> Any:
        """Emit what a call of `function` with these arguments stands for."""
        rule = rule_of(function, self.origin)  # the user's calls were looked at before
        args = map(self._computed, args if rule.lists else map(self._as_array, args))
        return self._computed(rule.bind(self, tuple(args), dict(kwargs)))

    def _computed(self, value: Any) -> Any:
        """An array that NumPy made of constants while a rule was asked, as operations make it."""
        if type(value) in (list, tuple):
            return type(value)(map(self._computed, value))
        if not isinstance(value, np.ndarray):
            return value
        if value.ndim == 0:
            return self.call(value.dtype.type, (value.item(),), {})
        is_default = np.array(value.tolist()).dtype == value.dtype
        return self.call(
            np.array, (value.tolist(),), {} if is_default else {"dtype": value.dtype.type}
        )

    def _as_array(self, value: Any) -> Any:
        """NumPy makes an array of a list."""
        is_list = isinstance(value, Symbol) and isinstance(value.fact, values.List)
        return self.call(np.array, (value,), {}) if is_list else value

    def emit(self, rule: Rule, operands: list, params: dict[str, Any]) -> Any:
        """Append one operation, unless a simpler value stands for it or it was computed before."""
        short = rule.shortcut(self, operands, params)
        if short is not None:
            return short
        key = (rule.function, *map(key_of, operands), *((k, key_of(v)) for k, v in params.items()))
        if self._raises:
            key = (*key, "raise")  # where it did not raise, it was not asked to
        if key not in self._numbered or not self.merge or rule.effects or rule.distinct:
            value = self._known_value(rule, operands, params)
            if known_arrays.is_whole(value):
                return value
            asked = sizes.asked_of_the_run()
            fact = rule.inferred(self, operands, params)
            waits = sizes.asked_of_the_run() > asked
            required = () if self.derived else rule.required(self, operands, params)
            fact = values.as_tensor(fact) if any(map(self._holds_tensor, operands)) else fact
            fact = self._real_where_it_is(rule, operands, fact)
            if isinstance(value, np.ndarray):
                fact = values.Array(value.dtype, value.shape)
            result = self.symbol(fact)
            if self.known is not None and value is not values.UNDEFINED:
                self.known[result.name] = value
            size = rule.size(self, operands, params) if fact == values.Scalar(int) else None
            if size is not None:
                self.is_size(result, size)
            atoms = (*operands, *params.values())
            self.has_complex |= rule.gives_complex or any(map(values.names_complex, atoms))
            nodes = {name: to_node(value) for name, value in params.items()}
            atoms = tuple(map(to_node, operands))
            origin = self.origin.calm if self.origin and self.derived else self.origin
            place = origin, self.phase
            made = form.Op(result.name, rule, atoms, nodes, *place, waits, tuple(required))
            self.body.append(made.trusted(self.trusted) if self.trusted else made)
            self.definitions[result.name] = (rule, operands, params)
            self._numbered[key] = result
            if self.derived:
                self.derived_names.add(result.name)
        return self._numbered[key]

    def _known_value(self, rule: Rule, operands: list, params: dict[str, Any]) -> Any:
        """What an operation on known arrays gives; UNDEFINED where it is on others."""
        atoms = [*operands, *params.values()]
        if self.known is None or rule.effects or rule.distinct or self._raises:
            return values.UNDEFINED
        if not all(name in self.known for name in names_in(atoms)):
            return values.UNDEFINED
        if rule is ITEM:
            return self.known[operands[0].name][params["index"]]
        keywords = [gast.keyword(name, to_node(value)) for name, value in params.items()]
        call = gast.Call(form.constant(rule.function), [*map(to_node, operands)], keywords)
        return known_arrays.computed(call, rule, self.fact_of, self.known)

    def found(self, function: Callable, *operands: Any, **params: Any) -> Symbol | None:
        """The result of an operation that was computed before."""
        given = ((key, key_of(value)) for key, value in params.items())
        return self._numbered.get((function, *map(key_of, operands), *given))

    def stands_for(self, result: Symbol, function: Callable, operand: Symbol) -> None:
        """Give this result for `function` of the operand, as long as both can be read."""
        self._numbered[function, key_of(operand)] = result

    def _real_where_it_is(self, rule: Rule, operands: list, fact: Any) -> Any:
        """The fact of a result whose dtype is not known, with what is known of that.

        A power of what may be a number of Python's may be complex.
        """
        if not isinstance(fact, values.Array) or fact.dtype is not None or fact.weak:
            return fact
        said = fact.real and rule is ITEM  # by the block that hands it over
        return replace(fact, real=said or (rule.keeps_real and all(map(self._is_real, operands))))

    def _is_real(self, operand: Any) -> bool:
        """Whether an operand is real, or an index."""
        if isinstance(operand, tuple | list):
            return all(map(self._is_real, operand))
        if isinstance(operand, Symbol):
            return values.is_real(operand.fact)
        return operand is None or isinstance(operand, slice) or np.isrealobj(operand)

    def _holds_tensor(self, operand: Any) -> bool:
        """Whether an operand is a Tensor, or a sequence with one in it."""
        if isinstance(operand, tuple | list):
            return any(map(self._holds_tensor, operand))
        return isinstance(operand, Symbol) and values.is_tensor(operand.fact)

    def emit_item(self, result: Symbol, index: int) -> Symbol:
        """One output of an operation with several."""
        return self.emit(ITEM, [result], {"index": index})

    def effect(self, node: gast.stmt, atoms: Mapping[str, Any]) -> None:
        """Append an effect with its names replaced."""
        nodes = {name: to_node(value) for name, value in atoms.items()}
        self.body.append(form.Effect(form.substitute(node, nodes), self.origin, self.phase))

    def definition(self, value: Any) -> tuple[Rule | None, list, dict]:
        """How a Symbol was computed: rule, operands, parameters (rule None: an input).

        Of whole numbers that may have begun anew nothing follows from how they were computed.
        """
        name = value.name if isinstance(value, Symbol) else ""
        found = self.definitions.get(name, (None, [], {}))
        rule = found[0]
        if rule is not None and rule.elementwise and values.may_wrap(self.facts[name]):
            return None, [], {}
        return found

    def operands_of(self, value: Any, function: Callable) -> list:
        """What a function was applied to, to compute a value; nothing where another one was."""
        rule, operands, _ = self.definition(value)
        return operands if rule is not None and rule.function is function else []

    def applied(self, value: Any, function: Callable) -> tuple[Any, list[tuple[list, dict]]]:
        """What a function was first applied to, and its operations, each on the result of the one
        before: (operands, parameters)."""
        found = []
        while True:
            rule, operands, params = self.definition(value)
            if rule is None or rule.function is not function:
                return value, found[::-1]
            found.append((operands, params))
            value = operands[0]

    def ancestors(
        self, *names: str, through: Callable[[Rule | None], bool] = lambda rule: True
    ) -> set[str]:
        """The names that values were computed from `through` some operations, and their own."""
        waiting, found = [*names], set()
        while waiting:
            each = waiting.pop()
            if each in found:
                continue
            found.add(each)
            rule, operands, params = self.definitions.get(each, (None, [], {}))
            if rule is None or through(rule):
                waiting += names_in([*operands, *params.values()])
        return found

    # ---- programs

    def as_body_of(self, program: Program, **changes: Any) -> Program:
        """The program with what was written here as its body, and other changes."""
        facts, hints = dict(self.facts), dict(self.hints)
        return program.with_(body=tuple(self.body), facts=facts, hints=hints, **changes)

    def view(self, node: gast.AST | None, atoms: Mapping[str, Any]) -> Any:
        """The Symbol or Python object that an operand stands for, its names read from `atoms`."""
        if isinstance(node, gast.Name):
            return atoms[node.id]
        if isinstance(node, gast.Constant):
            return node.value
        if node is None:
            return None
        if isinstance(node, gast.Slice):
            return slice(*(self.view(each, atoms) for each in (node.lower, node.upper, node.step)))
        kind = tuple if isinstance(node, gast.Tuple) else list
        return kind(self.view(item, atoms) for item in node.elts)

    def operation(self, statement: form.Statement, atoms: Mapping[str, Any]) -> Operation:
        """The statement as a rule sees it, its names read from `atoms`."""
        operands = [self.view(each, atoms) for each in statement.operands]
        params = {key: self.view(each, atoms) for key, each in statement.parameters.items()}
        return Operation(statement.rule, operands, params, atoms.get(statement.target))

    def replay(self, statement: form.Statement, atoms: dict[str, Any], program: Program) -> None:
        """Emit a statement of another program; its result is entered in `atoms`."""
        if isinstance(statement, form.Effect):
            self.effect(statement.node, atoms)
            return
        operation = self.operation(statement, atoms)
        result = self.emit(operation.rule, operation.operands, operation.params)
        name = statement.target
        atoms[name] = self.named(result, program.hints.get(name, TEMPORARY))

    def splice(
        self, program: Program, arguments: Mapping[str, Any], *, phase: str | None = None
    ) -> Any:
        """Emit a whole program with its leaves replaced; returns its output, a Tree of values.

        A captured name that is not among the arguments stays what it is. The statements are of
        the phase that they were, or of `phase`.
        """
        atoms = dict(arguments)
        for capture in program.captured():
            if capture.name not in atoms:
                atoms[capture.name] = self.import_name(program, capture.name)
        for statement in program.body:
            with self.at(statement.origin, statement.phase if phase is None else phase):
                self.replay(statement, atoms, program)
        return tree.tree_map(lambda atom: self.view(atom, atoms), program.output)

    def know_captures(self, programs: Sequence[Program]) -> None:
        """Say of what the programs capture what it is, where a block around them captures it."""
        for program in programs:
            for capture in program.captured():
                if capture.name not in self.facts:
                    self.import_name(program, capture.name)

    def import_name(self, program: Program, name: str) -> Symbol:
        """A leaf or captured name of `program` under its own name."""
        symbol = self.adopt(name, program.facts[name], program.hints.get(name, TEMPORARY))
        self.facts[name] = program.facts[name]  # it is the number that it is there
        return symbol


def filling_of(builder: Builder, value: Any) -> Any:
    """The number that all elements of a value are, or that it is; None where it is not known."""
    if not isinstance(value, Symbol):
        return value
    rule, operands, _ = builder.definition(value)
    return None if rule is None else rule.filled_with(operands)


def is_array_in_text(value: Symbol) -> bool:
    """Whether what computes a value without axes gives an array, and no number."""
    rule, operands, _ = value.builder.definition(value)
    if rule is None:
        return getattr(value.fact, "number", None) is False
    if rule.copy:
        return isinstance(operands[0], Symbol) and is_array_in_text(operands[0])
    if rule.view and rule.function is not operator.getitem:
        return bool(values.rank_of(value.builder.fact(operands[0])))
    return rule.gives_array


def is_same(a: Any, b: Any) -> bool:
    """Whether two operands are certain to be the same value."""
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return a.name == b.name
    return type(a) is type(b) and not isinstance(a, Symbol) and a == b


def names_in(value: Any) -> Iterator[str]:
    """The names of the Symbols in operands."""
    if isinstance(value, Symbol):
        yield value.name
    elif isinstance(value, slice):
        yield from names_in([value.start, value.stop, value.step])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from names_in(each)


def key_of(value: Any) -> Any:
    """A hashable key that tells operands apart: 1, 1.0 and True differ."""
    if isinstance(value, Symbol):
        return (Symbol, value.name)
    if isinstance(value, slice):
        return (slice, key_of(value.start), key_of(value.stop), key_of(value.step))
    if isinstance(value, tuple | list):
        return (type(value), *map(key_of, value))
    if type(value) is float:
        return (float, repr(value))  # tells 0.0 from -0.0
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)


def describe(function: Any) -> str:
    """How a reader calls the function: np.linalg.solve, math.sin, mymodule.helper."""
    home = home_of(function)
    if home is not None:
        return home.path
    module = getattr(function, "__module__", None) or ""
    label = getattr(function, "__qualname__", getattr(function, "__name__", repr(function)))
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}"
    if module == "numpy" or module.startswith("numpy."):
        return f"np{module.removeprefix('numpy')}.{label}"
    return label if module in ("", "builtins") else f"{module}.{label}"
