"""Names, constants, arithmetic, comparison."""

from __future__ import annotations

import ast
import enum
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import Symbol, constant_value
from s2s_ad.core.tree import VIEWS, Tree
from s2s_ad.diagnostics import S2SError, UnsupportedError
from s2s_ad.frontend.lower import growing, slots
from s2s_ad.frontend.lower.attributes import ClassOf, Method, read_attribute
from s2s_ad.frontend.lower.calls import as_argument, known_object, numbers_of
from s2s_ad.frontend.lower.caught import Error
from s2s_ad.frontend.lower.classes import is_written
from s2s_ad.frontend.lower.conditions import (
    asked,
    asked_of_each,
    choose,
    for_each_picked,
    for_each_text,
    is_text_of,
    known_truth,
    lazily,
    negated,
    truth_of,
)
from s2s_ad.frontend.lower.constants import is_constant, with_operator
from s2s_ad.frontend.lower.containers import (
    is_sequence,
    is_set_like,
    new_dict,
    new_list,
    new_set,
    sequence,
    set_of,
)
from s2s_ad.frontend.lower.core import HANDLERS, Lowering, expression
from s2s_ad.frontend.lower.entries import may_lack_items
from s2s_ad.frontend.lower.functions import may_be_two
from s2s_ad.frontend.lower.heap import symbols
from s2s_ad.frontend.lower.iteration import Range
from s2s_ad.frontend.lower.kinds import class_name, with_article
from s2s_ad.frontend.lower.lengths import items_needed
from s2s_ad.frontend.lower.may_alias import may_be_one
from s2s_ad.frontend.lower.objects import (
    NOTHING,
    call_method,
    class_of,
    compared_fields,
    of_objects,
)
from s2s_ad.frontend.lower.objects import UNARY as UNARY_METHODS
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.poisons import readable
from s2s_ad.frontend.lower.promotion import promoted
from s2s_ad.frontend.lower.references import Box, Reference
from s2s_ad.frontend.lower.refused import refused_foreign
from s2s_ad.frontend.lower.searches import EQUAL, HERE, contains
from s2s_ad.frontend.lower.string_unions import is_open_text, is_text, is_word
from s2s_ad.frontend.lower.texts import formatted, joined_texts
from s2s_ad.frontend.resolve import Captured, unwrap

BINARY: dict[type, Callable] = {
    gast.Add: operator.add,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.LShift: operator.lshift,
    gast.MatMult: operator.matmul,
    gast.Mod: operator.mod,
    gast.Mult: operator.mul,
    gast.Pow: operator.pow,
    gast.RShift: operator.rshift,
    gast.Sub: operator.sub,
}
UNARY: dict[type, Callable] = {
    gast.Invert: operator.invert,
    gast.UAdd: operator.pos,
    gast.USub: operator.neg,
}
COMPARE: dict[type, Callable] = {
    gast.Eq: operator.eq,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.NotEq: operator.ne,
}
OF_SETS = (operator.and_, operator.or_, operator.sub, operator.xor)
ORDER = (gast.Gt, gast.GtE, gast.Lt, gast.LtE)
IDENTITY = {gast.Is: True, gast.IsNot: False}
SAMENESS = (gast.Eq, gast.NotEq, gast.Is, gast.IsNot)


@expression(gast.Name)
def name(lowering: Lowering, node: gast.Name) -> Any:
    """`x` Locals, names of functions around, cells, globals and builtins, under guards."""
    return lowering.lookup(node)


@expression(gast.Constant)
def constant(lowering: Lowering, node: gast.Constant) -> Any:
    """`2.0`, `"text"`, `None`"""
    return node.value


@expression(gast.BinOp)
def binary(lowering: Lowering, node: gast.BinOp) -> Any:
    """`a * b`, `a @ b` All operators, on numbers and arrays; + * and | join containers."""
    left, right = lowering.evaluate(node.left), lowering.evaluate(node.right)
    try:
        return apply_operator(lowering, node.op, left, right)
    except UnsupportedError as error:
        nothing = left is None or right is None
        raise (_of_nothing(lowering, node) if nothing else None) or error from None


def _of_nothing(lowering: Lowering, node: gast.BinOp) -> S2SError | None:
    """The error for an operand that a call gave, which gives None."""
    call = next((each for each in lowering.gave_none if each in gast.walk(node)), None)
    if call is None:
        return None
    name = ast.unparse(gast.gast_to_ast(call.func))
    return UnsupportedError(
        "S2S203",
        f"{name}(...) gives None, which is no operand",
        origin=lowering.origin(call),
        why="what it does it does to its arguments",
        help="call it in a statement of its own, and use what it has changed",
    )


def apply_operator(lowering: Lowering, node: gast.AST, left: Any, right: Any) -> Any:
    """left op right: an operation on numbers and arrays, or containers joined."""
    if is_picked(left):
        return for_each_picked(lowering, left, lambda x: apply_operator(lowering, node, x, right))
    if is_picked(right):
        return for_each_picked(lowering, right, lambda x: apply_operator(lowering, node, left, x))
    return _operator_of(lowering, node, left, right)


def _operator_of(lowering: Lowering, node: gast.AST, left: Any, right: Any) -> Any:
    function = BINARY[type(node)]
    if is_word(left) or is_word(right):
        return _of_words(lowering, node, left, right)
    if is_constant(left) or is_constant(right):
        return with_operator(lowering, function, left, right)
    if class_of(left) is not None or class_of(right) is not None:
        result = of_objects(lowering, function, left, right)
        if result is not NOTHING:
            return result
    if isinstance(left, str) and function is operator.mod:
        return formatted(lowering, left, right)
    left, right = member_number(left), member_number(right)
    if isinstance(left, Tree) or isinstance(right, Tree) or _is_frozen(left):
        return _of_containers(lowering, function, left, right)
    left, right = _beside_array(lowering, left, right), _beside_array(lowering, right, left)
    if is_number(left) and is_number(right):
        return lowering.call(function, *promoted(lowering, function, left, right))
    left, right = unwrap(left), unwrap(right)
    if isinstance(left, str | bytes) and not isinstance(right, Symbol):
        return function(left, right)
    if function is operator.or_ and all(isinstance(each, CLASSES) for each in (left, right)):
        return left | right
    raise _unsupported(lowering, left, right)


def _beside_array(lowering: Lowering, value: Any, other: Any) -> Any:
    """A range beside an array is an array of its numbers; other values as they are."""
    if not isinstance(unwrap(value), range | Range) or not isinstance(other, Symbol):
        return value
    if isinstance(other.fact, values.Scalar):
        return value
    return numbers_of(lowering, unwrap(value))


def _of_words(lowering: Lowering, node: gast.AST, left: Any, right: Any) -> Any:
    """left op right of texts that are not known: with each that they may be."""
    is_open = any(map(is_open_text, (left, right)))
    if is_open and isinstance(node, gast.Add) and is_text(left) and is_text(right):
        return joined_texts(lowering, left, right)
    if is_word(left):
        return for_each_text(lowering, left, lambda x: apply_operator(lowering, node, x, right))
    return for_each_text(lowering, right, lambda x: apply_operator(lowering, node, left, x))


#: what a union of classes is made of
CLASSES = (type, types.UnionType, type(None))


def is_number(value: Any) -> bool:
    return isinstance(value, Symbol | np.generic) or type(value) in values.PYTHON_NUMBERS


def member_number(value: Any) -> Any:
    """The number that a member of an IntEnum is; other values as they are."""
    known = unwrap(value)
    if not isinstance(known, enum.Enum) or not isinstance(known, int | float):
        return value
    return int(known) if isinstance(known, int) else float(known)


def _unsupported(lowering: Lowering, *operands: Any) -> Exception:
    for each in operands:
        readable(lowering, each)
    foreign = refused_foreign(type(each) for each in operands if not isinstance(each, Symbol))
    if foreign is not None:
        return foreign
    kinds = " and ".join(map(_kind, operands))
    return UnsupportedError("S2S203", f"unsupported operands: {kinds}", help=_meant(*operands))


def _meant(*operands: Any) -> str:
    """The help for an operator, where an operand is None or a method that is not called."""
    if any(each is None for each in operands):
        return "ask before whether it is None, or give it a value"
    method = next((each for each in operands if isinstance(each, Method)), None)
    if method is not None:
        return f"call the method: {method.function.__name__}()"
    if any(isinstance(each, str) for each in operands):
        return "put the value into the text: f'{x}'"
    return "make an array of it: np.array(items)" if any(map(is_sequence, operands)) else ""


def _kind(value: Any) -> str:
    if isinstance(value, Symbol):
        return "a value"
    return class_name(value)


def _of_containers(lowering: Lowering, function: Callable, left: Any, right: Any) -> Any:
    """Lists and tuples are joined by + and repeated by *; arrays take them as arrays."""
    if function in OF_SETS and _are_sets(left, right):
        found = function(set_of(lowering, left), set_of(lowering, right))
        return frozenset(found) if _is_frozen(left) else new_set(lowering, found)
    if any(
        isinstance(each, Tree) and each.kind not in (tuple, list, dict, set)
        for each in (left, right)
    ):
        raise _unsupported(lowering, left, right)
    kinds = [each.kind if isinstance(each, Tree) else None for each in (left, right)]
    if function is operator.or_ and kinds == [dict, dict]:
        return new_dict(lowering, {**_entries(left), **_entries(right)})
    if dict in kinds or set in kinds:
        raise _unsupported(lowering, left, right)
    if function is operator.add and kinds[0] is kinds[1]:
        if may_lack_items(left) or may_lack_items(right):
            return slots.joined(lowering, left, right)
        if growing.is_growing(left) or growing.is_growing(right):
            return growing.joined(lowering, left, right)
        return _made(lowering, left.kind, [*left.items, *right.items])
    items, other = (left, right) if kinds[0] else (right, left)
    if _takes_a_list(function, other):
        return lowering.call(function, *(as_argument(lowering, each) for each in (left, right)))
    if function is operator.mul and not isinstance(other, Tree):
        return _repeated(lowering, items, other)
    raise _unsupported(lowering, left, right)


def _are_sets(*operands: Any) -> bool:
    """Whether the operands are sets; beside keys or entries of a dict a sequence counts as one."""
    beside_view = any(isinstance(each, Tree) and each.kind in VIEWS for each in operands)
    return all(is_set_like(each) or (beside_view and is_sequence(each)) for each in operands)


def _is_frozen(value: Any) -> bool:
    return isinstance(unwrap(value), frozenset)


def _takes_a_list(function: Callable, value: Any) -> bool:
    """Whether the operator of an array, or of a NumPy number, makes an array of a list beside it.

    A number would repeat the list.
    """
    if not isinstance(value, Symbol) or not isinstance(value.fact, values.Array):
        return False
    return value.shape != () or function is not operator.mul


def _repeated(lowering: Lowering, items: Tree, count: Any) -> Tree:
    """`items * count`"""
    if growing.is_growing(items) and type(count) is int:
        return growing.several(lowering, items, count)
    if growing.is_repeated(lowering, items, count):
        return growing.repeated(lowering, items, count)
    if _is_array(count):
        raise _unsupported(lowering, items, count)
    return _made(lowering, items.kind, list(items.items) * operator.index(unwrap(count)))


def _made(lowering: Lowering, kind: type, items: list) -> Tree:
    return new_list(lowering, items) if kind is list else sequence(kind, items)


def _entries(value: Tree) -> dict[Any, Any]:
    return dict(zip(value.keys, value.items, strict=True))


def _is_array(value: Any) -> bool:
    """Whether the value is an array or may be one."""
    return isinstance(value, Symbol) and not isinstance(value.fact, values.Scalar)


@expression(gast.UnaryOp)
def unary(lowering: Lowering, node: gast.UnaryOp) -> Any:
    """`-a`, `+a`, `~a`, `not a`"""
    if isinstance(node.op, gast.Not):
        return negated(lowering, node)
    value = lowering.evaluate(node.operand)
    if is_picked(value):
        return for_each_picked(lowering, value, lambda each: _unary(lowering, node, each))
    return _unary(lowering, node, value)


def _unary(lowering: Lowering, node: gast.UnaryOp, value: Any) -> Any:
    if class_of(value) is not None:
        result = call_method(lowering, value, UNARY_METHODS[UNARY[type(node.op)]], [])
        if result is not NOTHING:
            return result
    value = member_number(value)
    if not is_number(value):
        raise _unsupported(lowering, value)
    if type(value) is int:
        return UNARY[type(node.op)](value)
    return lowering.call(UNARY[type(node.op)], value)


# ---- comparison ----------------------------------------------------------------------------------


@expression(gast.Compare)
def compare(lowering: Lowering, node: gast.Compare) -> Any:
    """`a < b`, `a < b < c`, `is`, `in` Of numbers and containers; `is` of objects and None."""
    return _chain(lowering, node, lowering.evaluate_any(node.left), 0)


def _chain(lowering: Lowering, node: gast.Compare, left: Any, index: int) -> Any:
    """The comparisons from one on; the next is only looked at where this one is true."""
    right = lowering.evaluate_any(node.comparators[index])
    result = _compared(lowering, node, type(node.ops[index]), left, right)
    if index + 1 == len(node.ops):
        return result
    result = asked(lowering, result)
    truth = known_truth(result)
    if truth is False:
        return result
    if truth:
        return _chain(lowering, node, right, index + 1)
    return lazily(lowering, False, result, lambda: _chain(lowering, node, right, index + 1))


def _compared(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """A comparison, with each of several objects that an operand may be."""
    if is_picked(left) and not is_optional(right):
        return asked_of_each(lowering, left, lambda x: _compared(lowering, node, kind, x, right))
    if is_picked(right) and not is_optional(left):
        return asked_of_each(lowering, right, lambda x: _compared(lowering, node, kind, left, x))
    if kind in SAMENESS and any(isinstance(each, ClassOf) for each in (left, right)):
        return HANDLERS[type, Error](lowering, [left, right, kind in (gast.Eq, gast.Is)], {})
    return _comparison(lowering, node, kind, left, right)


def _comparison(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    if any(is_optional(each) or is_word(each) for each in (left, right)):
        return _compared_of_paths(lowering, node, kind, left, right)
    if kind in IDENTITY:
        return _by_identity(lowering, node, left, right, positive=IDENTITY[kind])
    if kind in (gast.In, gast.NotIn):
        found = _contains(lowering, node, left, right)
        if isinstance(found, Symbol):
            return found if kind is gast.In else lowering.call(np.logical_not, found)
        return found is (kind is gast.In)
    if class_of(left) is not None or class_of(right) is not None:
        result = compared_objects(lowering, node, kind, left, right)
        if result is not NOTHING:
            return result
        left, right = member_number(left), member_number(right)
    if is_number(left) and is_number(right):
        left, right = (constant_value(each) for each in (left, right))
        if not symbols_in(left, right):
            return COMPARE[kind](left, right)
        return lowering.call(COMPARE[kind], left, right)
    if isinstance(left, Symbol | Tree) or isinstance(right, Symbol | Tree):
        return _compared_with(lowering, node, kind, left, right)
    _tell_apart(lowering, node, left, right)
    return COMPARE[kind](*(_comparable(lowering, node, each) for each in (left, right)))


def _tell_apart(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> None:
    """Refuse to compare two functions of which one may stand for the other."""
    if may_be_two(left, right):
        what, help = "a comparison of functions that a loop defines", "define it before the loop"
        raise lowering.refuse(node, what, help)


def compared_objects(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """A comparison of objects, as their classes have written it; NOTHING where none has.

    `!=` is what `==` is not. Dataclasses compare the fields; other objects are equal where they are
    the same.
    """
    result = of_objects(lowering, COMPARE[kind], left, right)
    if result is not NOTHING:
        return result
    if kind is gast.NotEq:
        same = of_objects(lowering, operator.eq, left, right)
        if same is not NOTHING:
            return not same if isinstance(same, bool) else lowering.call(operator.not_, same)
    operation = operator.eq if kind is gast.NotEq else COMPARE[kind]
    fields = compared_fields(class_of(left), class_of(right), operation.__name__)
    if fields is not None:
        pair = (
            sequence(tuple, [read_attribute(lowering, each, name) for name in fields])
            for each in (left, right)
        )
        return _compared(lowering, node, kind, *pair)
    kinds = {class_of(left), class_of(right)}
    if kind not in (gast.Eq, gast.NotEq) or not all(map(_is_compared_by_identity, kinds)):
        return NOTHING
    return _identical(lowering, node, left, right) is (kind is gast.Eq)


def _is_compared_by_identity(kind: type | None) -> bool:
    return kind is not None and kind.__eq__ is object.__eq__ and not issubclass(kind, enum.Enum)


def _compared_of_paths(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """A comparison of what is None on some paths, or another text."""
    if is_optional(left) or is_optional(right):
        return _compared_optional(lowering, node, kind, left, right)
    return _compared_texts(lowering, node, kind, left, right)


def _compared_texts(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """A comparison of a text that is not known."""
    positive = kind in (gast.Eq, gast.Is, gast.In)
    texts = is_text(left) and is_text(right)
    if texts and kind not in SAMENESS and (is_open_text(left) or is_open_text(right)):
        return HANDLERS[gast.Compare](lowering, [kind, left, right], {})
    if kind in SAMENESS and is_text(left) and is_text(right):
        return is_text_of(lowering, left, right, same=positive)
    if kind in SAMENESS:
        return not positive
    if is_word(right):
        return for_each_text(
            lowering, right, lambda text: _compared(lowering, node, kind, left, text)
        )
    if kind in ORDER or isinstance(unwrap(right), str):
        return for_each_text(
            lowering, left, lambda text: _compared(lowering, node, kind, text, right)
        )
    if isinstance(right, Tree) and right.kind in (dict, set):
        return for_each_text(lowering, left, lambda x: _compared(lowering, node, kind, x, right))
    found = _contains(lowering, node, left, right)
    if isinstance(found, bool):
        return found is positive
    return found if positive else lowering.call(operator.not_, found)


def _compared_optional(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """`x is None`, or a comparison that has to know that it is not."""
    value, other = (left, right) if is_optional(left) else (right, left)
    known = lowering.assumptions.settled(value)
    if kind in IDENTITY and other is None and not is_optional(known):
        return (known is None) is IDENTITY[kind]
    if kind in IDENTITY and other is None:
        is_none, held = value.items
        lowering.partial.update(each.name for each in symbols(held))
        return is_none if IDENTITY[kind] else lowering.call(operator.not_, is_none)
    if kind in (gast.Eq, gast.NotEq) and (is_text(other) or _is_one_number(other)):
        differs = kind is gast.NotEq  # None is neither a text nor a number

        def held() -> Any:
            return _compared(lowering, node, kind, lowering.present(value), other)

        return choose(lowering, value.items[0], lambda: differs, held)
    if kind in ORDER:
        pair = (lowering.present(each) for each in (left, right))
    else:
        pair = (lowering.certain(each, "a comparison of") for each in (left, right))
    return _compared(lowering, node, kind, *pair)


def _is_one_number(value: Any) -> bool:
    return type(value) in values.PYTHON_NUMBERS or (
        isinstance(value, Symbol) and isinstance(value.fact, values.Scalar)
    )


def _is_container(value: Any) -> bool:
    """Whether it is one of Python's containers, which equal no number of Python's."""
    return isinstance(value, Tree) and value.kind in (tuple, list, dict, set)


def _compared_with(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Any, right: Any
) -> Any:
    """A number, an array or a container with something else."""
    certain = [each for each in (left, right) if not isinstance(each, Symbol | Tree)]
    fixed = bool(certain) and (certain[0] is None or isinstance(certain[0], str | type))
    arrays = any(_is_array(each) and each.shape != () for each in (left, right))
    if is_set_like(left) and is_set_like(right):
        return COMPARE[kind](set_of(lowering, left), set_of(lowering, right))
    beside_sets = (is_set_like(left) or is_set_like(right)) and not arrays
    of_kinds = any(map(_is_container, (left, right))) and any(map(_is_one_number, (left, right)))
    if ((fixed and not arrays) or of_kinds or beside_sets) and kind in (gast.Eq, gast.NotEq):
        return kind is gast.NotEq
    both = is_sequence(left) and is_sequence(right) and not symbols_in(left, right)
    if both and kind in (gast.Eq, gast.NotEq):
        return COMPARE[kind](known_object(left), known_object(right))
    alike = is_sequence(left) and is_sequence(right)
    dicts = all(isinstance(each, Tree) and each.kind is dict for each in (left, right))
    if (alike or dicts) and kind in (gast.Eq, gast.NotEq):
        return _compared_items(lowering, node, kind, left, right)
    if alike and kind in ORDER and issubclass(left.kind, list) is issubclass(right.kind, list):
        return _ordered(lowering, node, kind, left.items, right.items)
    beside = [b for a, b in ((left, right), (right, left)) if is_sequence(a)]
    if len(beside) == 1 and _takes_a_list(COMPARE[kind], beside[0]):
        pair = (as_argument(lowering, each) for each in (left, right))
        return lowering.call(COMPARE[kind], *pair)
    what = f"a comparison of {_kind(left)} and {_kind(right)}"
    raise lowering.refuse(node, what, _meant(left, right) or "compare the items one by one")


def _compared_items(
    lowering: Lowering, node: gast.Compare, kind: type[gast.AST], left: Tree, right: Tree
) -> Any:
    """`a.shape == (2, 3)`, `a.shape != b.shape`: item by item, those of dicts by key."""
    if len(left.items) != len(right.items) or left.kind is not right.kind:
        return kind is gast.NotEq
    others = right.items
    if left.kind is dict:
        if {*left.keys} != {*right.keys}:
            return kind is gast.NotEq
        others = tuple(map(_entries(right).__getitem__, left.keys))
    stops = kind is gast.NotEq
    pairs = zip(left.items, others, strict=True)
    found = [
        not stops
        if _is_one_array(a, b)  # Python asks first whether items are the same object
        else _if_known(_compared(lowering, node, kind, a, b))
        for a, b in pairs
    ]
    unknown = [each for each in found if isinstance(each, Symbol)]
    if any(each is stops for each in found):
        return stops
    if not unknown:
        return not stops
    function = np.logical_or if stops else np.logical_and
    return functools.reduce(lambda a, b: lowering.call(function, a, b), unknown)


def _is_one_array(left: Any, right: Any) -> bool:
    """Whether it is certain that both are one array."""
    arrays = _is_array(left) and _is_array(right) and left.shape not in ((), None)
    if isinstance(left, Reference) or isinstance(right, Reference):
        return arrays and left is right
    return arrays and left.name == right.name


def _ordered(
    lowering: Lowering,
    node: gast.Compare,
    kind: type[gast.AST],
    left: Sequence[Any],
    right: Sequence[Any],
) -> Any:
    """`(a, b) < (c, d)`: the first items that differ decide."""
    if not left or not right:
        return COMPARE[kind](len(left), len(right))
    pair, rest = (left[0], right[0]), (left[1:], right[1:])
    if len(left) == len(right) == 1:
        return _compared(lowering, node, kind, *pair)
    same = _if_known(_compared(lowering, node, gast.Eq, *pair))
    if isinstance(same, bool):
        return (
            _ordered(lowering, node, kind, *rest)
            if same
            else _compared(lowering, node, kind, *pair)
        )
    return choose(
        lowering,
        same,
        lambda: _ordered(lowering, node, kind, *rest),
        lambda: _compared(lowering, node, kind, *pair),
    )


def _if_known(truth: Any) -> Any:
    """The truth of a comparison as True or False; a value where it is not known."""
    known = known_truth(truth)
    return truth if known is None else known


def _equal(lowering: Lowering, args: list, kwargs: dict) -> Any:
    """`a == b` where a method of a list asks: True, False or a value."""
    return _if_known(_compared(lowering, HERE, gast.Eq, *args))


HANDLERS[EQUAL] = _equal


def symbols_in(*operands: Any) -> bool:
    return any(True for _ in symbols(operands))


def _comparable(lowering: Lowering, node: gast.Compare, value: Any) -> Any:
    """An object whose comparison gives the same at every call."""
    known = unwrap(value)
    own = type(known).__eq__ is not object.__eq__
    plain = isinstance(known, enum.Enum | frozenset) or is_constant(known)
    if isinstance(value, Captured) and own and not plain:
        raise lowering.refuse(node, f"a comparison of {with_article(class_name(known))}")
    return known


def _by_identity(
    lowering: Lowering, node: gast.Compare, left: Any, right: Any, *, positive: bool
) -> Any:
    """`is` or `is not`: of a truth of Python's, which True and False are, it is that truth."""
    for truth, other in ((left, right), (right, left)):
        known = unwrap(truth)
        if type(known) is bool and getattr(other, "fact", None) == values.Scalar(bool):
            return other if known is positive else lowering.call(operator.not_, other)
    return _identical(lowering, node, left, right) is positive


def _identical(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> bool:
    """`is`, which is certain where one side is None, True, False, a type or a function."""
    _tell_apart(lowering, node, left, right)
    for one, other in ((left, right), (right, left)):
        known = unwrap(one)
        if isinstance(one, Symbol | Tree) or type(known) in (int, float, complex, str):
            continue
        if isinstance(other, Symbol) and not _is_of_other_kind(other, known):
            break
        return unwrap(left) is unwrap(right)
    same = _is_same_object(lowering, left, right)
    if same is not None:
        return same
    error = lowering.refuse(node, "'is' between values that are not known", "compare with None")
    both = isinstance(left, Box) and isinstance(right, Box)
    lowering.lumped |= both
    raise items_needed(left, error) if both else error  # passes written out tell them apart


def _is_same_object(lowering: Lowering, left: Any, right: Any) -> bool | None:
    """`is` between arrays and containers of the function; None where it is not certain."""
    if not isinstance(left, Reference | Box) or not isinstance(right, Reference | Box):
        return None
    if left is right:
        return True
    if isinstance(left, Box) and isinstance(right, Box):
        return None if may_be_one(left, right) else False
    arrays = [each for each in (left, right) if isinstance(each, Reference)]
    uncertain = any(each.number is not False for each in arrays)
    return None if uncertain or lowering.memory.may_share(left, right) else False


def _is_of_other_kind(value: Symbol, known: Any) -> bool:
    """Whether a value that is not known cannot be the object."""
    if isinstance(value.fact, values.Unknown):
        return False
    is_truth = values.is_of_two_kinds(value.fact) or value.fact == values.Scalar(bool)
    return not (is_truth and isinstance(known, bool))


def _contains(lowering: Lowering, node: gast.Compare, left: Any, right: Any) -> Any:
    """`in`: known for containers and texts that are, a condition for numbers."""

    def equal(value: Any, item: Any) -> Any:
        return _if_known(_compared(lowering, node, gast.Eq, value, item))

    found = _said_to_contain(lowering, left, right)
    if found is None:
        found = contains(lowering, right, left, equal)
    if found is None:
        help = "compare with np.any(x == v)"
        raise lowering.refuse(node, "'in' on values that are not known", help)
    return found


def _said_to_contain(lowering: Lowering, value: Any, items: Any) -> Any:
    """What `__contains__` of the user's class says; None where there is none."""
    if not is_written(class_of(items), "__contains__"):
        return None
    said = asked(lowering, call_method(lowering, items, "__contains__", [value]))
    truth = known_truth(said)
    return truth_of(lowering, said) if truth is None else truth
