"""Operations on arrays whose items are part of the code, done when code is generated.

That is asked for where a number has to be known which comes from constants alone: a key of a dict
that `np.unique(LABELS)` gives, where `np.split` cuts, how many elements a mask of constants takes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, values

LARGEST = 10_000  # items of an array that is part of the code
LITERALS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))


def computed(call: gast.Call, rule: Any, facts: Callable, known: Mapping[str, Any]) -> Any:
    """What an operation on known names gives; UNDEFINED where that cannot be said."""
    names: dict[str, Any] = dict(known)
    try:
        with np.errstate(all="ignore"):
            node = _named(rule.surface(call, facts), names)
            text = ast.unparse(gast.gast_to_ast(gast.Expression(node)))
            found = eval(text, names)  # it would run as generated code
    except Exception:  # the code raises it where it comes to it
        return values.UNDEFINED
    small = all(isinstance(each, np.ndarray | np.generic | int) for each in _parts(found))
    return found if small and sum(map(np.size, _parts(found))) <= LARGEST else values.UNDEFINED


def is_whole(value: Any) -> bool:
    """Whether the value is a whole number, or a truth."""
    return isinstance(value, int | np.integer | np.bool_)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for each in value:
            yield from _parts(each)
    else:
        yield value


def _named(node: Any, names: dict[str, Any]) -> Any:
    """The tree with names for objects that have no literal."""
    if isinstance(node, list):
        return [_named(each, names) for each in node]
    if isinstance(node, gast.Constant) and type(node.value) not in LITERALS:
        name = f"object_{len(names)}"
        names[name] = node.value
        return form.name(name)
    if not isinstance(node, gast.AST) or isinstance(node, gast.Name):
        return node
    fields = {name: _named(getattr(node, name, None), names) for name in node._fields}
    return type(node)(**fields)
