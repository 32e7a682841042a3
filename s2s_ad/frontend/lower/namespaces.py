"""vars(obj) and `obj.__dict__`: the attributes of an object as a dict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.frontend.lower.attributes import NAMESPACES, Made, Method, kept_by, read_attribute
from s2s_ad.frontend.lower.builtin import evaluates
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.containers import known_key, new_dict
from s2s_ad.frontend.lower.core import Lowering
from s2s_ad.frontend.lower.derived import written_methods
from s2s_ad.frontend.lower.entries import drop_entry, has_entry, put_entry, read_entry
from s2s_ad.frontend.lower.kinds import class_name
from s2s_ad.frontend.lower.objects import class_of
from s2s_ad.frontend.lower.optional import is_partial
from s2s_ad.frontend.lower.references import Box
from s2s_ad.frontend.lower.searches import ASKED
from s2s_ad.frontend.lower.subscripts import CHANGES, ITEMS
from s2s_ad.frontend.resolve import Captured


@dataclass(frozen=True, eq=False, slots=True)
class Namespace(Made):
    """`obj.__dict__` of an object of the function: what is put into it are attributes."""

    in_python: ClassVar[str] = "dict"

    holder: Box

    def holds(self) -> tuple:
        return (self.holder,)

    def attribute(self, lowering: Lowering, name: str) -> Any:
        if name == "update":
            return Method(_update, self.holder)
        if name in READ_AS_THEY_ARE and not is_partial(self.holder.content):
            return Method(getattr(dict, name), self.holder)
        if name == "copy":
            return Method(_snapshot, self)
        return read_attribute(lowering, attributes_of(lowering, self.holder), name)

    def opened(self, lowering: Lowering) -> Any:
        """The attributes as they are now, in a dict that nobody else holds."""
        return new_dict(lowering, dict(zip(self.holder.keys, self.holder.items, strict=True)))


#: methods of a dict whose results read its entries when these are asked for
READ_AS_THEY_ARE = ("keys", "values", "items")


@evaluates(vars)
def variables(lowering: Lowering, value: Any) -> Any:
    """vars(obj) A dict of the attributes of an object."""
    is_object = class_of(value) is not None and isinstance(value, Box)
    return _of_object(value) if is_object else attributes_of(lowering, value)


def _of_object(value: Box) -> Namespace:
    if written_methods(value.kind):
        what = f"the attributes of a {class_name(value)}, which derives from a container"
        raise UnsupportedError("S2S201", what, help="name them")
    return Namespace(value)


def attributes_of(lowering: Lowering, value: Any) -> Any:
    """vars(obj): as the attributes are now, so neither the dict nor the object may be changed."""
    if class_of(value) is None or (isinstance(value, Tree) and not isinstance(value, Box)):
        raise UnsupportedError("S2S201", "vars() of anything but an object", help="name the parts")
    if isinstance(value, Captured):
        names = lowering.captures.attributes(value)
        entries = {name: lowering.captures.attribute(value, name) for name in names}
    else:
        entries = dict(zip(value.keys, value.items, strict=True))
        value.refusal = "an object is changed of which vars() was asked"
    made = new_dict(lowering, entries)
    made.refusal = "what vars() has returned is changed"
    return made


def _update(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> None:
    """The handler of itself: `obj.__dict__.update(...)`."""
    holder, *others = args
    given = [
        each.holder if isinstance(each, Namespace) else HANDLERS[dict](lowering, [each], {})
        for each in others
    ]
    for each in (*given, HANDLERS[dict](lowering, [], kwargs)):
        for name, item in zip(each.keys, each.items, strict=True):
            put_entry(lowering, holder, name, item)


def _snapshot(lowering: Lowering, args: list, kwargs: dict[str, Any]) -> Any:
    """The handler of itself: `obj.__dict__.copy()`."""
    return args[0].opened(lowering)


def _namespace(lowering: Lowering, value: Any) -> Any:
    return _of_object(value) if isinstance(value, Box) else attributes_of(lowering, value)


HANDLERS[_update] = _update
HANDLERS[_snapshot] = _snapshot


def _item(lowering: Lowering, namespace: Namespace, index: Any) -> Any:
    """`obj.__dict__[name]`"""
    name = known_key(lowering, index)
    return read_entry(lowering, namespace.holder, name, KeyError(name))


def _change(lowering: Lowering, namespace: Namespace, index: Any, *value: Any) -> None:
    """`obj.__dict__[name] = value`, `del obj.__dict__[name]`"""
    name, holder = known_key(lowering, index), namespace.holder
    if value:
        put_entry(lowering, holder, name, kept_by(holder, *value))
    else:
        drop_entry(lowering, holder, name, KeyError(name))


def _contains(lowering: Lowering, namespace: Namespace, value: Any) -> Any:
    """`name in obj.__dict__`"""
    return has_entry(lowering, namespace.holder, known_key(lowering, value))


ASKED[Namespace] = _contains
ITEMS[Namespace] = _item
CHANGES[Namespace] = _change
NAMESPACES["__dict__"] = _namespace
