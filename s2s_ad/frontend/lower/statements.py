"""Assignments, unpacking, expression statements, return and pass."""

from __future__ import annotations

import operator
from collections.abc import Iterator as Context
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np

from s2s_ad.core import values
from s2s_ad.core.builder import NeedStatic, Symbol, key_of
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import SharedMemoryError, UnsupportedError
from s2s_ad.frontend.lower import growing
from s2s_ad.frontend.lower.attributes import read_attribute
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.conditions import for_each_picked
from s2s_ad.frontend.lower.containers import (
    all_items,
    known_items,
    new_list,
    opened,
    rows,
    sequence,
)
from s2s_ad.frontend.lower.core import CONTINUE, Lowering, statement
from s2s_ad.frontend.lower.derived import shows_part_of
from s2s_ad.frontend.lower.effects import keep_statement, require
from s2s_ad.frontend.lower.growing import is_growing
from s2s_ad.frontend.lower.iteration import Generator, Items, Iterator, Produced, Reversed
from s2s_ad.frontend.lower.kinds import class_name, hint_of_name, is_plain_sequence, with_article
from s2s_ad.frontend.lower.lists import in_place_container
from s2s_ad.frontend.lower.nonlocals import give_name
from s2s_ad.frontend.lower.objects import NOTHING, class_of, in_place_object, set_attribute
from s2s_ad.frontend.lower.operators import BINARY, apply_operator
from s2s_ad.frontend.lower.picked import is_picked
from s2s_ad.frontend.lower.poisons import may_be_known
from s2s_ad.frontend.lower.references import Box, Reference, settled, symbols
from s2s_ad.frontend.lower.stores import add_in_place, as_array, updated
from s2s_ad.frontend.lower.subscripts import as_index, read_item, write_item
from s2s_ad.frontend.remembered import remembered
from s2s_ad.rules.support import may_equal

#: what names a list and a place in it, and does nothing else
PLAIN = (gast.Subscript, gast.Name, gast.Attribute, gast.Constant, gast.BinOp, gast.UnaryOp)
PLAIN += (gast.expr_context, gast.operator, gast.unaryop)

LAZY = (Generator, Items, Produced, Reversed)  # iterables whose items are computed when asked for


@statement(gast.Assign)
def assign(lowering: Lowering, node: gast.Assign) -> Any:
    """`a = (b, *c) = value` Names, elements and attributes, nested and starred."""
    value = lowering.evaluate_any(node.value)
    with _exchanged(lowering, node):
        for target in node.targets:
            bind(lowering, target, value)
    return CONTINUE


@contextmanager
def _exchanged(lowering: Lowering, node: gast.Assign) -> Context[None]:
    """Around `a[i], a[j] = a[j], a[i]`: a list holds no item twice where it did not before."""
    holder = exchanged(node)
    held = None if holder is None else lowering.evaluate(holder)
    distinct = isinstance(held, Box) and held.distinct
    yield
    if distinct:
        held.distinct = True


@remembered
def exchanged(node: gast.Assign) -> gast.AST | None:
    """The list whose items the assignment exchanges, and does nothing else."""
    sides = [*node.targets, node.value]
    if len(sides) != 2 or not all(isinstance(each, gast.Tuple) for each in sides):
        return None
    items = [each for side in sides for each in side.elts]
    if not all(isinstance(each, gast.Subscript) for each in items):
        return None
    parts = [part for each in items for part in gast.walk(each) if not isinstance(part, PLAIN)]
    holders = {gast.dump(each.value) for each in items}
    (after, before) = (sorted(gast.dump(each.slice) for each in side.elts) for side in sides)
    return items[0].value if not parts and len(holders) == 1 and after == before else None


@statement(gast.AnnAssign)
def annotated(lowering: Lowering, node: gast.AnnAssign) -> Any:
    """`a: float = value` The annotation says nothing to the compiler."""
    if node.value is not None:
        bind(lowering, node.target, lowering.evaluate_any(node.value))
    return CONTINUE


@statement(gast.AugAssign)
def augmented(lowering: Lowering, node: gast.AugAssign) -> Any:
    """`a += value`, `a[i] *= value`, `a.b -= value` In place where Python does it in place."""
    target = node.target
    if isinstance(target, gast.Name):
        old = lowering.present(lowering.lookup(target))
        bind(lowering, target, in_place(lowering, node, old, lowering.evaluate(node.value)))
    elif isinstance(target, gast.Attribute):
        holder = lowering.evaluate(target.value)
        old = lowering.present(read_attribute(lowering, holder, target.attr))
        value = in_place(lowering, node, old, lowering.evaluate(node.value))
        set_attribute(lowering, holder, target.attr, value)
    else:
        _augmented_item(lowering, node, target)
    return CONTINUE


def _augmented_item(lowering: Lowering, node: gast.AugAssign, target: gast.Subscript) -> None:
    holder, index = lowering.evaluate(target.value), lowering.evaluate(target.slice)
    is_array = isinstance(holder, Reference) and not isinstance(holder.fact, values.Scalar)
    if is_array and isinstance(node.op, gast.Add | gast.Sub):
        place, listed = as_index(lowering, index), _numbers_in(index)
        before = settled((holder, place))
        value = as_array(lowering, lowering.evaluate(node.value))
        if _numbers_in(index) != listed:
            place = as_index(lowering, index)
        if key_of(settled((holder, place))) != key_of(before):
            old = _as_it_was(lowering, holder, index, before)
            _write_back(lowering, holder, index, old, in_place(lowering, node, old, value))
        elif not _added(lowering, node, holder, place, value):
            old = read_item(lowering, holder, index)
            _write_back(lowering, holder, index, old, in_place(lowering, node, old, value))
        return
    old = lowering.present(read_item(lowering, holder, index))
    value = in_place(lowering, node, old, lowering.evaluate(node.value))
    _write_back(lowering, holder, index, old, value)


def _numbers_in(index: Any) -> list[str]:
    """The names of what the lists of an index hold now."""
    return [each.name for each in symbols(index)] if isinstance(index, Tree | Box) else []


def _as_it_was(lowering: Lowering, holder: Reference, index: Any, before: tuple) -> Any:
    """`a[i]` where evaluating `v` of `a[i] += v` has changed `a`, or `i`: Python has read it first.

    A part that is a view of the array has changed with it.
    """
    now = read_item(lowering, holder, index)
    if not isinstance(now, Reference) or now.view is None:
        return lowering.call(operator.getitem, *before)
    if now.number is None and now.shape in (None, ()):
        raise SharedMemoryError(
            "S2S207",
            "a part of an array is added to that the right-hand side changes",
            why="whether it is a number, which stays as it was, or an array is not known here",
            help="write what is added in a statement of its own before",
        )
    return now


def _added(
    lowering: Lowering, node: gast.AugAssign, holder: Reference, index: Any, value: Any
) -> bool:
    """`a[i] += v` and `a[i] -= v` as an addition to the array, where that says the same."""
    if not isinstance(value, Symbol | int | float):
        return False
    if isinstance(node.op, gast.Sub):
        value = -value
    return add_in_place(lowering, holder, index, value)


def _write_back(lowering: Lowering, holder: Any, index: Any, old: Any, value: Any) -> None:
    """The second half of `a[i] op= v`; what changed in place stands there already, but where a
    class of the user's says what an item is, and what it is to store one."""
    stands = isinstance(old, Reference) and old.view is not None
    if isinstance(holder, Tree):
        stands = class_of(holder) is None or shows_part_of(lowering, holder, old)
    if value is not old or not stands:
        write_item(lowering, holder, index, value)


def in_place(lowering: Lowering, node: gast.AugAssign, old: Any, value: Any) -> Any:
    """What `old op= value` gives: old itself, where it is an object that changes."""
    if is_picked(old):
        return for_each_picked(lowering, old, lambda each: in_place(lowering, node, each, value))
    if isinstance(old, Tree):
        changed = in_place_container(lowering, node.op, old, value)
        if changed is not None:
            return changed
    if class_of(old) is not None:
        changed = in_place_object(lowering, BINARY[type(node.op)], old, value)
        if changed is not NOTHING:
            return changed
    result = apply_operator(lowering, node.op, old, value)
    if isinstance(node.op, gast.MatMult):
        check_product(lowering, old, value, result)
    return updated(lowering, old, result) if isinstance(old, Symbol) else result


def check_product(lowering: Lowering, old: Any, value: Any, result: Any) -> None:
    """`a @= b` keeps the shape of `a`: nothing broadcasts.

    Raises:
        ValueError: as NumPy says it.
    """
    shapes = [getattr(each, "shape", None) for each in (old, value, result)]
    if None in shapes:
        return
    if not shapes[0] or len(shapes[1]) < 2:
        text = "inplace matrix multiplication requires the first operand to have at least one "
        text += "and the second at least two dimensions"
        raise lowering.there_is_none(ValueError(text))
    if not may_equal(shapes[0], shapes[2]):
        text = "the product has another shape than the array that is to hold it"
        raise lowering.there_is_none(ValueError(text))


@statement(gast.Nonlocal)
def names_outside(lowering: Lowering, node: gast.Nonlocal) -> Any:
    """`nonlocal x` Of functions that are called in the function that is compiled."""
    return CONTINUE


@statement(gast.Global)
def names_of_module(lowering: Lowering, node: gast.Global) -> Any:
    """`global x` Numbers, texts and arrays that are other ones at the end are stored."""
    return CONTINUE


@statement(gast.Pass)
def passed(lowering: Lowering, node: gast.Pass) -> Any:
    """`pass`"""
    return CONTINUE


@statement(gast.Expr)
def expression_statement(lowering: Lowering, node: gast.Expr) -> Any:
    """`print(x)` Prints, warnings and logs run once; other values are dropped."""
    branch = as_branch(node)
    if branch is not None:
        return lowering.run([branch])
    if not isinstance(node.value, gast.Constant) and not keep_statement(lowering, node):
        lowering.evaluate(node.value)
    return CONTINUE


@remembered
def as_branch(node: gast.Expr) -> gast.If | None:
    """`print(x) if debug else None`, `debug and print(x)`, `quiet or print(x)` as an `if`; None of
    other statements."""
    value = node.value
    if isinstance(value, gast.IfExp):
        test, parts = value.test, (value.body, value.orelse)
    elif isinstance(value, gast.BoolOp):
        *before, last = value.values
        first = before[0] if len(before) == 1 else gast.BoolOp(value.op, before)
        stops = isinstance(value.op, gast.Or)
        test = gast.copy_location(gast.UnaryOp(gast.Not(), first) if stops else first, value)
        gast.copy_location(first, value)
        parts = (last, None)
    else:
        return None
    body, orelse = (
        [] if each is None else [gast.copy_location(gast.Expr(each), each)] for each in parts
    )
    return gast.copy_location(gast.If(test, body, orelse), node)


# ---- targets -------------------------------------------------------------------------------------


def bind(lowering: Lowering, target: gast.AST, value: Any) -> None:
    """Assign to a name, an element, an attribute, or a nest of these."""
    if isinstance(target, gast.Name):
        hint = hint_of_name(target.id)
        if lowering.frame.is_own:
            hint = Hint(hint.text, "temporary")
        give_name(lowering, target, lowering.builder.named(value, hint))
    elif isinstance(target, gast.Tuple | gast.List):
        unpack(lowering, target, value)
    elif isinstance(target, gast.Subscript):
        with lowering.placed(target):
            holder = lowering.evaluate(target.value)
            write_item(lowering, holder, lowering.evaluate(target.slice), value)
    else:
        with lowering.placed(target):
            set_attribute(lowering, lowering.evaluate(target.value), target.attr, value)


def unpack(lowering: Lowering, target: gast.Tuple, value: Any) -> None:
    """a, (b, *c) = value."""
    stars = [i for i, each in enumerate(target.elts) if isinstance(each, gast.Starred)]
    value = lowering.present(value)
    if is_picked(value) and not stars:
        wanted = len(target.elts)
        value = for_each_picked(lowering, value, lambda one: _items_of_one(lowering, one, wanted))
    value = HANDLERS[Iterator](lowering, opened(lowering, value))
    if isinstance(value, LAZY) and known_items(lowering, value) is None:
        value = HANDLERS[list](lowering, [value], {})
    is_array = isinstance(value, Symbol) and value.shape != ()
    if is_array and stars and lowering.memory.choices is not None and value.shape:
        value = _as_rows(lowering, value)
        is_array = isinstance(value, Symbol)
    if is_growing(value) or (is_array and stars):
        value = parts_of(lowering, value, len(target.elts), stars)
        stars = []
    items = items_of(lowering, value, len(target.elts))
    wanted, count = len(target.elts), len(items)
    if count < wanted - len(stars) or (count > wanted and not stars):
        text = f"cannot unpack {count} values into {wanted} names"
        raise _not_as_many(lowering, target, text, isinstance(value, str))
    if stars:
        start, stop = stars[0], count - (wanted - stars[0] - 1)
        rest = items[start:stop]
        items[start:stop] = [new_list(lowering, rest)]
    for each, item in zip(target.elts, items, strict=True):
        bind(lowering, each.value if isinstance(each, gast.Starred) else each, item)


def _not_as_many(
    lowering: Lowering, target: gast.Tuple, text: str, is_text: bool = False
) -> Exception:
    """What to raise for certain, where there are not as many values as names."""
    if lowering.is_caught(ValueError()):
        return lowering.python_raises(ValueError(text))
    help = "give each value a name, or the rest of them one: a, *rest = values"
    if is_text:
        help = "a text is taken apart: keys and values of a dict are in its items()"
    return UnsupportedError("S2S203", text, origin=lowering.origin(target), help=help)


def _items_of_one(lowering: Lowering, value: Any, wanted: int) -> Any:
    """One of several objects, which is unpacked; what has more or fewer items raises there."""
    count = len(known_items(lowering, value) or ()) if is_plain_sequence(value) else wanted
    if count != wanted:
        text = f"cannot unpack {count} values into {wanted} names"
        raise lowering.there_is_none(ValueError(text))
    return sequence(tuple, items_of(lowering, opened(lowering, value), wanted))


def _as_rows(lowering: Lowering, value: Symbol) -> Any:
    """The rows, each of them a view, for it was asked which of them share memory with others."""
    length = np.size(value, 0)
    if not isinstance(length, Symbol):
        return sequence(tuple, rows(lowering, value, length))
    if value.ndim > 1 and may_be_known(lowering, length):
        raise NeedStatic(length.name, "the number of items that are unpacked")
    return value


def parts_of(lowering: Lowering, value: Any, wanted: int, stars: list[int]) -> Tree:
    """An array, or a list whose length is not known, as one item for each target.

    Its length is checked when it runs.
    """
    is_array = isinstance(value, Symbol)
    length = np.size(value, 0) if is_array else growing.length(lowering, value)

    def item(index: int | slice) -> Any:
        if is_array:
            with lowering.builder.trusting([0]):
                return lowering.call(operator.getitem, value, index)
        return growing.item(lowering, value, index)

    if not stars:
        require(lowering, length, wanted, ValueError(f"{wanted} values expected to unpack"))
        return sequence(tuple, [item(i) for i in range(wanted)])
    (start,), last = stars, wanted - stars[0] - 1
    message = f"at least {wanted - 1} values expected to unpack"
    require(lowering, length, wanted - 1, ValueError(message), at_least=True)
    middle = item(slice(start, -last if last else None))
    rest = HANDLERS[list](lowering, [middle], {}) if is_array else middle
    items = [item(i) for i in range(start)], [rest], [item(i) for i in range(-last, 0)]
    return sequence(tuple, [each for some in items for each in some])


def items_of(lowering: Lowering, value: Any, wanted: int) -> list:
    """The items of a value that is unpacked; of an array as many as there are names."""
    if not isinstance(value, Symbol):
        found = all_items(lowering, value)
        if found is None:
            raise TypeError(f"cannot unpack {with_article(class_name(value))}")
        return found
    if value.shape == ():
        raise lowering.python_raises(TypeError("cannot unpack a number"))
    if value.shape and isinstance(value.shape[0], int) and value.shape[0] != wanted:
        return rows(lowering, value, value.shape[0])
    return lowering.unpacked(value, wanted)
