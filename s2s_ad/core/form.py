"""The form of Core: a statement is an operation on atoms, or an effect; how to build and check it.

An `Op` applies a rule to operands, and its result has a name; an `Effect` is a print, assert or
raise kept whole, whose names are atoms. Operands are Names, Constants, and tuples, lists and slices
of these, in gast, as is what an effect does. Every name is assigned once; statements are frozen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import gast
import numpy as np

from s2s_ad.core.registry import rule_of
from s2s_ad.core.rule import EFFECT, Rule
from s2s_ad.core.sizes import Size
from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import InternalError, Origin

Atom = gast.Name | gast.Constant
Nodes = Mapping[str, gast.AST]
NONE: Nodes = {}


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """target = rule(*operands, **parameters).

    Attributes:
        operands: what derivatives may be asked of.
        parameters: what they are not asked of: axes, indices, options.
        origin: where in the user's code it comes from.
        phase: the sweep that it belongs to: "forward", "backward", "tangent" or "".
        waits: only the run tells whether lengths that have to be equal are; where not, it raises.
        required: sizes none of which may be below 0, or it raises: where an index has to be.
    """

    target: str
    rule: Rule
    operands: tuple[gast.AST, ...]
    parameters: Nodes
    origin: Origin | None
    phase: str
    waits: bool = False
    required: tuple[Size, ...] = ()
    _names: tuple[str, ...] | None = field(init=False, repr=False, default=None)

    @property
    def function(self) -> Any:
        return self.rule.function

    @property
    def reads(self) -> tuple[str, ...]:
        """The names that it reads, in order, with repeats."""
        names = self._names
        if names is None:
            names = tuple(reads([*self.operands, *self.parameters.values()]))
            object.__setattr__(self, "_names", names)  # it is asked often, and never changes
        return names

    @property
    def call(self) -> gast.Call:
        """The operation as an expression."""
        return operation(self.rule.function, [*self.operands], self.parameters)

    def with_call(
        self, function: Any, operands: Sequence[gast.AST], parameters: Nodes = NONE
    ) -> Op:
        """Another operation whose result has the name of this one's."""
        return self.beside(self.target, function, operands, parameters)

    def beside(
        self, target: str, function: Any, operands: Sequence[gast.AST], parameters: Nodes = NONE
    ) -> Op:
        """An operation whose result has another name, from the same place in the user's code."""
        return op(target, function, operands, parameters, self.origin, self.phase)

    def with_operands(self, operands: Sequence[gast.AST]) -> Op:
        """The operation on other operands."""
        made = (self.target, self.rule, tuple(operands), self.parameters, self.origin, self.phase)
        return Op(*made, self.waits, self.required)

    def with_rule(self, rule: Rule) -> Op:
        """Another operation on these operands."""
        made = (self.target, rule, self.operands, self.parameters, self.origin, self.phase)
        return self if rule is self.rule else Op(*made, self.waits, self.required)

    def trusted(self, active: Collection[int]) -> Op:
        """The operation where derivatives with respect to some operands find out if it raises.

        The adjoint of an element has to be in range, too; that of a value that is stored is read
        where it is stored, and has to be as long.
        """
        waits = self.waits and not (self.rule.updates and 1 in active)
        required = () if active else self.required
        if waits == self.waits and required == self.required:
            return self
        made = (self.target, self.rule, self.operands, self.parameters, self.origin, self.phase)
        return Op(*made, waits, required)

    def at(self, origin: Origin | None, phase: str) -> Op:
        """The operation at another place."""
        made = (self.target, self.rule, self.operands, self.parameters, origin, phase)
        return Op(*made, self.waits, self.required)


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """A statement of Python that is kept whole; the names in it are atoms."""

    node: gast.stmt
    origin: Origin | None
    phase: str

    #: what is asked of any statement; operands are asked for once it is known to be an Op
    rule: ClassVar[Any] = EFFECT
    function: ClassVar[Any] = None
    target: ClassVar[Any] = None
    if TYPE_CHECKING:
        operands: ClassVar[Any]
        parameters: ClassVar[Any]
        call: ClassVar[Any]
        with_call: ClassVar[Any]
        with_operands: ClassVar[Any]
        beside: ClassVar[Any]

    @property
    def reads(self) -> tuple[str, ...]:
        """The names that it reads, in order, with repeats; names it binds itself are left out."""
        return tuple(reads(self.node))

    def at(self, origin: Origin | None, phase: str) -> Effect:
        """The effect at another place."""
        return Effect(self.node, origin, phase)


Statement = Op | Effect


@dataclass(frozen=True, slots=True, eq=False)
class Handled:
    """What a handler of an `Attempt` catches: exceptions of these classes.

    It stands for the exception, too, in effects of that handler alone; `name` is what the user
    calls it there.
    """

    kinds: tuple[type[BaseException], ...]
    name: str


def op(
    target: str,
    function: Any,
    operands: Sequence[gast.AST],
    parameters: Nodes = NONE,
    origin: Origin | None = None,
    phase: str = "",
) -> Op:
    """The operation that applies a function for which there is a rule."""
    return Op(target, rule_of(function, origin), tuple(operands), parameters, origin, phase)


_CONTEXTS = {kind: kind() for kind in (gast.Load, gast.Store, gast.Param)}


# Nodes are made by the ten thousand: they are filled without gast's constructor, which is slow.


def name(identifier: str, context: type = gast.Load) -> gast.Name:
    node = gast.Name.__new__(gast.Name)
    node.id, node.ctx = identifier, _CONTEXTS[context]
    node.annotation = node.type_comment = None
    return node


def constant(value: Any) -> gast.Constant:
    node = gast.Constant.__new__(gast.Constant)
    node.value, node.kind = value, None
    return node


def operation(function: Any, operands: list[gast.AST], params: Mapping[str, gast.AST]) -> gast.Call:
    """A call as an expression; the function is a Constant that holds the very object."""
    node = gast.Call.__new__(gast.Call)
    node.func, node.args = constant(function), operands
    node.keywords = [_keyword(key, value) for key, value in params.items()] if params else []
    return node


def _keyword(arg: str, value: gast.AST) -> gast.keyword:
    node = gast.keyword.__new__(gast.keyword)
    node.arg, node.value = arg, value
    return node


def reads(node: Any) -> list[str]:
    """The names that the node reads, in order, with repeats; names it binds itself are left out."""
    if isinstance(node, Op | Effect):
        return [*node.reads]
    found: list[str] = []
    bound: set[str] = set()
    _collect(node, found, bound)
    return [each for each in found if each not in bound] if bound else found


def _collect(node: Any, found: list[str], bound: set[str]) -> None:
    kind = type(node)
    if kind is gast.Name:
        (found.append if isinstance(node.ctx, gast.Load) else bound.add)(node.id)
    elif kind is gast.Call:
        for item in (node.func, *node.args, *(each.value for each in node.keywords)):
            _collect(item, found, bound)
    elif kind is list:
        for item in node:
            _collect(item, found, bound)
    elif kind is not gast.Constant and isinstance(node, gast.AST):
        for part in node._fields:
            _collect(getattr(node, part, None), found, bound)


def substitute(node: Any, atoms: Mapping[str, gast.AST]) -> Any:
    """The node in which each name that `atoms` holds is replaced; a statement is a fresh one."""
    kind: Any = type(node)
    if kind is Op:
        return _substituted(node, atoms)
    if kind is Effect:
        return Effect(substitute(node.node, atoms), node.origin, node.phase)
    if kind is gast.Name:
        return atoms.get(node.id, node)
    if kind is list:
        return [substitute(item, atoms) for item in node]
    if kind is gast.Constant or not isinstance(node, gast.AST):
        return node
    copy = kind.__new__(kind)
    for part in node._fields:
        setattr(copy, part, substitute(getattr(node, part, None), atoms))
    return copy


def _substituted(old: Op, atoms: Mapping[str, gast.AST]) -> Op:
    target = atoms[old.target].id if old.target in atoms else old.target
    operands = tuple(substitute(each, atoms) for each in old.operands)
    parameters = {key: substitute(each, atoms) for key, each in old.parameters.items()}
    made = (target, old.rule, operands, parameters, old.origin, old.phase, old.waits, old.required)
    return Op(*made)


def literals(statement: Statement) -> dict[str, Any]:
    """What the parameters of a statement are, where they are known; else how they are written."""
    return {key: _literal(each) for key, each in statement.parameters.items()}


def _literal(node: gast.AST) -> Any:
    if isinstance(node, gast.Tuple):
        return tuple(map(_literal, node.elts))
    return getattr(node, "value", node)


def as_value(index: gast.AST) -> gast.AST:
    """An index as an object of its own: slices become calls of slice()."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[as_value(item) for item in index.elts], ctx=gast.Load())
    if not isinstance(index, gast.Slice):
        return index
    bounds = [each or constant(None) for each in (index.lower, index.upper, index.step)]
    if isinstance(index.step, type(None)) and index.lower is None:
        bounds = bounds[1:2]
    elif index.step is None:
        bounds = bounds[:2]
    return gast.Call(func=name("slice"), args=bounds, keywords=[])


def atoms_of(tree: Any) -> Iterator[gast.AST]:
    """The Names and Constants of an operand."""
    if isinstance(tree, gast.Tuple | gast.List):
        for item in tree.elts:
            yield from atoms_of(item)
    elif isinstance(tree, gast.Slice):
        for item in (tree.lower, tree.upper, tree.step):
            if item is not None:
                yield from atoms_of(item)
    else:
        yield tree


def is_undefined(atom: Any) -> bool:
    """Whether an atom stands for a value that a path does not have."""
    return isinstance(atom, gast.Constant) and atom.value is UNDEFINED


def raised(statement: Statement) -> gast.Raise | None:
    """What a statement does that is certain to raise."""
    node = getattr(statement, "node", None)
    return node if isinstance(node, gast.Raise) else None


def raised_class(statement: Statement) -> type[BaseException] | None:
    """The class of what a statement is certain to raise: `raise KeyError`, `raise KeyError(x)`."""
    error = getattr(raised(statement), "exc", None)
    kind = getattr(getattr(error, "func", error), "value", None)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def verify(body: list[Statement], inputs: list[str], outputs: list[gast.AST]) -> None:
    """Raise InternalError where a body breaks the form that this module's docstring gives."""
    defined = set(inputs)
    for statement in body:
        if not isinstance(statement, Op | Effect):
            raise _broken(f"a {type(statement).__name__} as a statement", statement)
        for each in statement.reads:
            if each not in defined:
                raise _broken(f"{each} is read before it is assigned", statement)
        if isinstance(statement, Op):
            _verify_operands(statement)
            if statement.target in defined:
                raise _broken(f"{statement.target} is assigned twice", statement)
            defined.add(statement.target)
    for atom in outputs:
        if isinstance(atom, gast.Name) and atom.id not in defined:
            raise _broken(f"{atom.id} is returned and never assigned", atom)


def _verify_operands(statement: Op) -> None:
    for operand in (*statement.operands, *statement.parameters.values()):
        for atom in atoms_of(operand):
            if not isinstance(atom, gast.Name | gast.Constant):
                raise _broken(f"an operand that is a {type(atom).__name__}", statement)
            if isinstance(getattr(atom, "value", None), np.ndarray):  # computed past the builder
                raise _broken("an array as a constant", statement)


def _broken(what: str, node: Any) -> InternalError:
    origin = getattr(node, "origin", None)
    return InternalError("S2S901", f"Core is malformed: {what}", origin=origin)
