"""Templates: the structure of what a loop carries, with a Leaf where a value changes.

A template holds before, between and after all passes. It is found by lowering passes: where it does
not hold for what a pass leaves, it becomes more general.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from s2s_ad.core import values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import Hint
from s2s_ad.core.tree import Tree
from s2s_ad.core.values import UNDEFINED
from s2s_ad.frontend.lower import rows
from s2s_ad.frontend.lower.derived import is_array_object, may_be_array
from s2s_ad.frontend.lower.kinds import (
    Alike,
    Kinds,
    Leaf,
    are_entries,
    contents,
    describe,
    inner_hint,
    is_alike,
    is_leaf,
    is_of_one_kind,
    is_same,
)
from s2s_ad.frontend.lower.optional import (
    KEYS,
    NOTHING,
    entry_in,
    is_ordered,
    is_partial,
    kind_of_nothing,
    merged,
    parts,
    whole,
)
from s2s_ad.frontend.lower.picked import (
    Picked,
    are_several,
    are_the_same,
    flag_of,
    is_object,
    is_told_apart,
    members,
    names_of,
    picked,
    table,
)
from s2s_ad.frontend.lower.poisons import after_pass, is_unreadable
from s2s_ad.frontend.lower.references import Box, Each, Reference, Rows, held_by, opened_by
from s2s_ad.frontend.lower.string_unions import Word, is_text, text_of, word

if TYPE_CHECKING:
    from s2s_ad.frontend.lower.core import Lowering


def template_of(builder: Builder, value: Any, hint: Hint) -> Any:
    """The template that holds for one value only as far as its leaves go."""
    if is_unreadable(value) or isinstance(value, Box):
        return value
    if is_leaf(value):
        return Leaf(builder.fact(value), hint)
    if not isinstance(value, Tree):
        return value
    pairs = zip(value.keys, value.items, strict=True)
    items = tuple(_of_item(builder, each, inner_hint(hint, key)) for key, each in pairs)
    return Tree(value.kind, value.keys, items)


def _of_item(builder: Builder, value: Any, hint: Hint) -> Any:
    """An array or a truth in a container stays that, until a pass puts another in its place."""
    stays = type(value) is bool or (isinstance(value, Reference) and value.number is False)
    return value if stays else template_of(builder, value, hint)


def general(lowering: Lowering, template: Any, end: Any, hint: Hint, alike: Alike) -> Any:
    """The template that holds for what a pass leaves, too.

    Args:
        alike: the lengths that the pass was seen to change.

    Raises:
        Kinds: there is none.
    """
    builder = lowering.builder
    if end is UNDEFINED or template is UNDEFINED or template is end or is_unreadable(template):
        return template
    if is_unreadable(end):
        return after_pass(end)
    kind = kind_of_nothing((template, end))
    if kind is not None:
        return _optional(lowering, template, end, hint, kind, alike)
    same = functools.partial(is_one, clock=alike.clock)
    if are_several((template, end), same) and not are_the_same(template, end, same):
        if any(_is_made_of(lowering, each, members(template)) for each in members(end)):
            raise Kinds(f"{describe(template)} before the loop and made of that after a pass")
        return _picked(lowering, template, end, hint, alike)
    if isinstance(template, Reference) or (type(template) is bool and not is_same(template, end)):
        template = Leaf(builder.fact(template), hint)
    if isinstance(template, Leaf) and is_leaf(end):
        return template.joined(builder.fact(end), alike)
    if not isinstance(template, Leaf | Tree) and is_same(template, end):
        return template
    content = content_template(builder, template, hint), alike.held_by(end)
    found = _content(lowering, *content, hint, alike)
    return _of_two_kinds(lowering, template, end, hint, alike) if found is None else found


def _of_two_kinds(lowering: Lowering, template: Any, end: Any, hint: Hint, alike: Alike) -> Any:
    """The template of an array that is also an object that holds one; of other kinds there is
    none."""
    if _are_arrays(members(template), members(end)):
        return _picked(lowering, template, end, hint, alike)
    first = "a number or an array" if isinstance(template, Leaf) else describe(template)
    what = f"{first} before the loop and {describe(end)} after a pass"
    content = content_template(lowering.builder, template, hint), alike.held_by(end)
    raise Kinds(what, are_entries(content))


def _are_arrays(*several: list) -> bool:
    """Whether it is an array before the loop, or after a pass, and an object that holds one at the
    other time."""
    each = [*itertools.chain(*several)]
    arrays = all(may_be_array(one) or is_leaf(one) or isinstance(one, Leaf) for one in each)
    return arrays and any(map(is_array_object, each))


def template_at_first(builder: Builder, value: Any, hint: Hint, clock: int) -> Any:
    """The template of what the loop finds, or what its first pass leaves: where objects are told
    apart, what was there before `clock` stays what it is."""
    if not is_told_apart(value):
        return template_of(builder, value, hint)
    if value.born <= clock:
        return value
    return content_template(builder, value, hint) if isinstance(value, Box) else _leaf(value, hint)


def _leaf(value: Reference, hint: Hint) -> Leaf:
    return Leaf(value.fact, hint)


def is_one(a: Any, b: Any, clock: int | None = None) -> bool:
    """Whether a value is in the place of a template: an object that is told apart in its own.

    What is no object of a class, and is made in a pass, after `clock`, makes a place more general.
    """
    if is_told_apart(a):
        made = clock is not None and not is_object(a) and getattr(b, "born", 0) > clock
        return a is b or (made and is_of_one_kind_or_leaf(a, b))
    if clock is not None and is_told_apart(b) and b.born <= clock:
        return False
    return is_of_one_kind_or_leaf(a, b)


def is_of_one_kind_or_leaf(a: Any, b: Any) -> bool:
    """Whether one template holds for both, of which each may be a template."""
    lists = [_is_of_lists(each) for each in (a, b)]
    if any(lists):
        return all(lists)
    leaves = all(isinstance(each, Leaf) or is_leaf(each) for each in (a, b))
    return leaves or is_of_one_kind(a, b)


def _is_of_lists(value: Any) -> bool:
    """Whether it is a list, or a template of lists."""
    if isinstance(value, Leaf):
        return isinstance(value.fact, values.List)
    return isinstance(value, Tree) and (value.kind is Rows or whole(value.kind) is list)


def _content(lowering: Lowering, opened: Any, content: Any, hint: Hint, alike: Alike) -> Any:
    """The template of what containers hold; None where there is none."""
    if isinstance(opened, Tree) and is_alike(opened, content):
        columns = zip(opened.keys, opened.items, content.items, strict=True)
        items = [general(lowering, a, b, inner_hint(hint, key), alike) for key, a, b in columns]
        return Tree(opened.kind, opened.keys, tuple(items))
    if is_text(opened) and is_text(content):
        texts = map(text_of, (opened, content))
        facts = (x.fact if isinstance(x, Leaf) else lowering.builder.fact(x) for x in texts)
        return word(Leaf(values.join(*facts), hint))
    if lowering.lacks_entries and are_entries((opened, content)):
        return _entries(lowering, opened, content, hint, alike)
    content = opened_by(alike.held_by, content)
    lists = [list_fact(lowering.builder, each) for each in (opened, content)]
    if None not in lists:
        return Leaf(lists[0], hint).joined(lists[1])
    if all(map(rows.is_list_of_any, (opened, content))) and not rows.holds_known_texts(opened):
        return rows.general_rows(lowering.builder, (opened, content), hint)
    return None


def _is_made_of(lowering: Lowering, value: Any, before: Sequence[Any]) -> bool:
    """Whether an object of a pass holds one that was there before it: `step = twice(step)` is
    another one in each pass, and no code holds for all of them."""
    known, waiting, seen = set(_frames(lowering)), [value], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if each is not value and any(each is one for one in before):
            return True
        waiting += held_by(each)
        frame = getattr(each, "frame", None)
        if frame is not None and frame not in known:
            waiting += frame.locals.values()
    return False


def _frames(lowering: Lowering) -> Iterator[Any]:
    """The frames of the function that is lowered, and of those around it."""
    frame = lowering.frame
    while frame is not None:
        yield frame
        frame = frame.parent


def _picked(lowering: Lowering, template: Any, end: Any, hint: Hint, alike: Alike) -> Any:
    """The template of what is one of several objects before the loop or after a pass."""
    same = functools.partial(is_one, clock=alike.clock)
    columns, pairs = zip(*table((template, end), same), strict=True)
    objects = []
    for before, now in pairs:
        first = before
        if before is UNDEFINED:
            first = template_at_first(lowering.builder, now, hint, alike.clock)
        objects.append(general(lowering, first, now, hint, alike))
    for each in objects:
        if is_unreadable(each):
            return each
    flags = []
    for column, name in zip(columns, names_of(objects), strict=True):
        flag = Leaf(values.Scalar(bool), inner_hint(hint, flag_of(name)))
        known = [each for each in column if isinstance(each, Leaf | Symbol)]
        flags.append(functools.reduce(lambda a, b: a.joined(b.fact), known, flag))
    return picked(list(zip(flags, objects, strict=True)))


def _entries(lowering: Lowering, template: Tree, end: Tree, hint: Hint, alike: Alike) -> Tree:
    """The template of what a dict or an object holds that has other entries after a pass."""
    kind, keys = merged((template, end))
    items = [
        general(lowering, entry_in(template, key), entry_in(end, key), inner_hint(hint, key), alike)
        for key in keys
    ]
    return Tree(kind, keys, tuple(items))


def _optional(
    lowering: Lowering, template: Any, end: Any, hint: Hint, kind: type, alike: Alike
) -> Tree:
    """The template of what is None, or missing, on some paths or before the loop."""
    flag = Leaf(values.Scalar(bool), inner_hint(hint, KEYS[kind][0]))
    if isinstance(end, Box) and _nests(end.content, end.kind):
        raise Kinds(
            f"None before the loop and a {end.kind.__name__} that holds others after a pass"
        )
    (known, held), (is_none, now) = parts(template, kind), parts(end, kind)
    if isinstance(is_none, Symbol):
        flag = flag.joined(is_none.fact)
    if isinstance(known, Leaf):
        flag = flag.joined(known.fact)
    if held is UNDEFINED:
        held = template_at_first(lowering.builder, now, hint, alike.clock)
    return Tree(kind, KEYS[kind], (flag, general(lowering, held, now, hint, alike)))


def _nests(value: Any, kind: type) -> bool:
    """Whether a container holds one of the same class: a chain that grows with each pass."""
    items = value.items if isinstance(value, Tree) else ()
    return any(
        isinstance(each, Tree) and (each.kind is kind or _nests(each, kind)) for each in items
    )


def holds_content(place: tuple) -> bool:
    """Whether the place is that of all that an object holds, or of a part of it."""
    inside = any(isinstance(each, Each) for each in place)
    return inside or (len(place) == 1 and not isinstance(place[0], str))


def content_template(builder: Builder, value: Any, hint: Hint) -> Any:
    """The template of what a list or dict holds; other templates as they are."""
    return template_of(builder, value.content, hint) if isinstance(value, Box) else value


def list_fact(builder: Builder, value: Any) -> values.List | None:
    """What is known of the items, if this is a list of numbers and arrays or a template of one."""
    if isinstance(value, Tree):
        facts = [_fact(builder, each) for each in value.items]
        return (
            None
            if value.kind is not list or None in facts
            else values.List(values.join_items(facts))
        )
    fact = _fact(builder, value)
    return fact if isinstance(fact, values.List) else None


def _fact(builder: Builder, value: Any) -> Any:
    if isinstance(value, Leaf):
        return value.fact
    value = contents(value)
    if isinstance(value, Tree):
        return list_fact(builder, value)
    return builder.fact(value) if is_leaf(value) else None


def is_equal(a: Any, b: Any) -> bool:
    """Whether two templates are the same."""
    if isinstance(a, Leaf):
        return isinstance(b, Leaf) and a == b
    if type(a) is Tree and type(b) is Tree:
        alike = a.keys == b.keys and is_ordered(a) is is_ordered(b)
        return alike and all(map(is_equal, a.items, b.items))
    return a is b


def _items(template: Tree, value: Any, held: Callable[[Any], Any]) -> Sequence[Any]:
    """The items of a value, where the template has its own."""
    if template.kind in NOTHING:
        return parts(value, template.kind)
    if is_partial(template):
        content = value if value is UNDEFINED else held(value)
        return [entry_in(content, key) for key in template.keys]
    if template.kind is Word:
        return (text_of(value),)
    if template.kind is Picked:
        rows_ = table((template, value), is_one)
        return [*(flags[1] for flags, _ in rows_), *(objects[1] for _, objects in rows_)]
    if template.kind is Rows:
        return rows.parts_of(template, value if value is UNDEFINED else opened_by(held, value))
    if value is UNDEFINED:
        return [UNDEFINED] * len(template.items)
    content = held(value)
    return [content] * len(template.items) if is_unreadable(content) else content.items


Visit = Callable[[tuple, Leaf, Any, Any], Any]
Make = Callable[[tuple, Tree, Any, Any], Any]


def fill(
    template: Any,
    place: tuple,
    before: Any,
    end: Any,
    visit: Visit,
    make: Make,
    at_end: Callable[[Any], Any] = contents,
) -> Any:
    """The template with each Leaf replaced by visit(place, leaf, before, end).

    `make(place, tree, before, end)` gives the container for what is in it, `at_end` what a
    container holds at the end.
    """
    if isinstance(template, Leaf):
        return visit(place, template, before, end)
    if not isinstance(template, Tree) or isinstance(template, Box):
        return template
    columns = [_items(template, *each) for each in ((before, contents), (end, at_end))]
    rows = zip(template.keys, template.items, *columns, strict=True)
    items = tuple(
        fill(each, (*place, key), *others, visit, make, at_end) for key, each, *others in rows
    )
    return make(place, Tree(template.kind, template.keys, items), before, end)
