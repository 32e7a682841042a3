"""Lists of containers whose length is not known: a list of each of their parts, kept together.

`history.append((x, y))` in a loop makes such a list: its content is a Tree of the kind `Rows`, with
the structure of one item, in which a list of numbers or arrays stands for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, NeedStatic, Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.caught import is_error
from s2s_ad.frontend.lower.kinds import (
    Kinds,
    Leaf,
    contents,
    describe,
    inner_hint,
    is_leaf,
    is_same,
)
from s2s_ad.frontend.lower.optional import is_optional
from s2s_ad.frontend.lower.picked import is_picked, is_told_apart, members
from s2s_ad.frontend.lower.references import EACH, Poison, Rows, is_rows
from s2s_ad.frontend.lower.string_unions import Word, is_text, is_word, text_of, word


def rows(structure: Any) -> Tree:
    """The content of a list with a list in place of each number and array of an item."""
    return Tree(Rows, (EACH,), (structure,))


def columns(structure: Any) -> Iterator[Symbol]:
    """The lists of the parts."""
    if isinstance(structure, Symbol):
        yield structure
    for each in structure.items if isinstance(structure, Tree) else ():
        yield from columns(each)


def measure(content: Any) -> Symbol:
    """The list of a part that tells how many items there are: one that is read anyway, no label."""
    if isinstance(content, Poison):
        raise content.error()
    lists = [*columns(content)]
    return next((each for each in lists if not _holds_texts(each)), lists[0])


def _holds_texts(column: Symbol) -> bool:
    item = column.fact.item
    known = isinstance(item, values.Static) and type(item.value) is str
    return known or isinstance(item, values.Word)


def texts_of(content: Any) -> Symbol | None:
    """The list that a list of texts, or of exceptions, is; None of any other content."""
    item = content.items[0] if is_rows(content) else None
    return item.items[0] if is_word(item) or is_error(item) else None


def over(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """The structure with function(list, part of the others) in the place of each list."""
    if isinstance(structure, Symbol):
        return function(structure, *others)
    if not isinstance(structure, Tree):
        return structure
    parts = zip(structure.items, *map(_parts, others), strict=True)
    return Tree(structure.kind, structure.keys, tuple(over(function, *each) for each in parts))


def _parts(item: Any) -> Sequence[Any]:
    """What a container, or a text, is made of in a list of such."""
    item = contents(item)
    return (text_of(item),) if is_text(item) else item.items


def fits(structure: Any, item: Any) -> bool:
    """Whether a value has the structure of the items."""
    if isinstance(structure, Symbol):
        return is_leaf(item)
    item = contents(item)
    if not isinstance(structure, Tree):
        return is_same(structure, item)
    if structure.kind is Word:
        return is_text(item)
    alike = isinstance(item, Tree) and (item.kind, item.keys) == (structure.kind, structure.keys)
    return alike and all(map(fits, structure.items, item.items))


def are_alike(a: Any, b: Any) -> bool:
    """Whether two lists have items of one structure."""
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return isinstance(a, Symbol) and isinstance(b, Symbol)
    if not isinstance(a, Tree) or not isinstance(b, Tree):
        return is_same(a, b)
    return (a.kind, a.keys) == (b.kind, b.keys) and all(map(are_alike, a.items, b.items))


def check(structure: Any, item: Any) -> None:
    """Refuse an item of another structure, unless it can be known how many items there are."""
    if not fits(structure, item):
        error = UnsupportedError(
            "S2S201",
            f"{describe(item)} in a list of other items, whose length is not known",
            help="give all items the same structure",
        )
        held = next(columns(structure), None)
        raise error if held is None else NeedStatic(held.name, "the number of items", error)


# ---- templates -----------------------------------------------------------------------------------


def is_list_of_any(value: Any) -> bool:
    """Whether the content, or the template of it, is that of a list of containers, texts or
    nothing."""
    if not isinstance(value, Tree) or value.kind not in (list, Rows):
        return False
    return is_rows(value) or all(map(is_row, value.items))


def holds_known_texts(content: Tree) -> bool:
    """Whether texts stand in it that are known: a loop that takes them away is written out."""
    return not is_rows(content) and any(type(each) is str for each in content.items)


def is_row(item: Any) -> bool:
    """Whether an item of a list is a container or a text."""
    return isinstance(contents(item), Tree) or type(item) is str


def general_rows(builder: Builder, lists: Iterable[Tree], hint: Hint) -> Tree:
    """The template of what is one of these lists of containers.

    Raises:
        Kinds: their items differ in more than their numbers and arrays.
    """
    found = None
    for each in lists:
        items = each.items if is_rows(each) else map(contents, each.items)
        for item in items:
            made = _columns(builder, item, hint, is_rows(each))
            found = made if found is None else _merged(found, made)
    return rows(found)


def _columns(builder: Builder, item: Any, hint: Hint, listed: bool) -> Any:
    """An item with the template of a list in place of each number and array."""
    if isinstance(item, Leaf):
        return item if listed else Leaf(values.List(item.fact), item.hint)
    apart = is_picked(item) and any(map(is_told_apart, members(item)))
    if apart or is_optional(item) or (not listed and _is_of_any_length(contents(item))):
        raise Kinds(f"a list of containers with {describe(item)} in them")
    item = contents(item)
    if is_leaf(item):
        fact = builder.fact(item)
        return Leaf(fact if listed else values.List(fact), hint)
    if type(item) is str:
        fact = values.Static(item)
        return word(Leaf(fact if listed else values.List(fact), hint))
    if not isinstance(item, Tree):
        return item
    pairs = zip(item.keys, item.items, strict=True)
    items = [_columns(builder, each, inner_hint(hint, key), listed) for key, each in pairs]
    return Tree(item.kind, item.keys, tuple(items))


def _is_of_any_length(content: Any) -> bool:
    """Whether it is what a list holds whose length is not known."""
    is_list = isinstance(content, Symbol) and isinstance(content.fact, values.List)
    return is_list or is_rows(content)


def _merged(a: Any, b: Any) -> Any:
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return a.joined(b.fact)
    if isinstance(a, Tree) and isinstance(b, Tree) and (a.kind, a.keys) == (b.kind, b.keys):
        return Tree(a.kind, a.keys, tuple(map(_merged, a.items, b.items)))
    if not isinstance(a, Leaf | Tree) and is_same(a, b):
        return a
    raise Kinds("a list of containers of several structures")


def transposed(structure: Any, items: Sequence[Any]) -> Any:
    """A list of containers as lists of their parts, each of known length."""
    if isinstance(structure, Leaf):
        return Tree(list, tuple(range(len(items))), tuple(items))
    if not isinstance(structure, Tree):
        return structure
    made = [
        transposed(part, [_parts(each)[index] for each in items])
        for index, part in enumerate(structure.items)
    ]
    return Tree(structure.kind, structure.keys, tuple(made))


def parts_of(template: Tree, content: Any) -> Any:
    """What a list holds, in the structure of a template of such lists."""
    if content is UNDEFINED or is_rows(content):
        return (UNDEFINED,) if content is UNDEFINED else content.items
    return (transposed(template.items[0], content.items),)
