"""Writes docs/language.md from the tables that the frontend itself works with.

python docs/make_language.py
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable

import s2s_ad  # noqa: F401  (fills the tables)
from s2s_ad.core.builder import describe
from s2s_ad.core.registry import METHODS
from s2s_ad.frontend.lower import attributes, effects, refused
from s2s_ad.frontend.lower.calls import HANDLERS
from s2s_ad.frontend.lower.core import EXPRESSIONS, STATEMENTS

PAGE = pathlib.Path(__file__).with_name("language.md")

HEAD = """\
# The supported language

<!-- Written by docs/make_language.py from the frontend's own tables. Do not edit. -->

The frontend is a list of what it takes: what is not on this page is refused by name, with its
place and what to write instead. Nothing is guessed. Functions are read from their files, notebook
cells or anything else that `linecache` knows; code that has no text, or other text than what runs,
is refused too.
"""

CALLS = """\
## What can be called

NumPy functions that have a rule, by any name that leads to them. Functions of yours in any module,
with defaults, keywords, keyword-only parameters, `*args` and `**kwargs` of known length; lambdas,
closures, decorated functions, `functools.partial`; methods, properties, static and class methods,
and objects with `__call__`. Dataclasses without `__post_init__` and namedtuples can be made.
"""

CAPTURED = """\
## What is captured

Globals, cells of closures, defaults, and attributes of objects and classes are read where they
stand, under guards: a changed number or array is followed, and whatever shaped the code (a
function, a text, the keys of a dict, a number used as an axis) leads to new code when it changes.
Your module and your objects are never written to.
"""

MEMORY = """\
## Changes in place

A value is never changed: `a += b` makes a new value of `a`. So it is taken only where no one could
see the difference: where `a` is an array made in the function, and no other name, container or view
holds it. Stores into elements and attributes are refused, and so are these methods:
"""


def page() -> str:
    """The whole text of the page."""
    return "\n".join([HEAD, *accepted(), *refusals(), CALLS, *functions(), CAPTURED, *in_place()])


def accepted() -> Iterable[str]:
    for title, table in (("Statements", STATEMENTS), ("Expressions", EXPRESSIONS)):
        yield f"## {title}\n"
        yield "| node | written | |\n| --- | --- | --- |"
        for kind in sorted(table, key=lambda each: each.__name__):
            code, text = split(table[kind].__doc__)
            yield f"| {kind.__name__} | {code} | {text} |"
        yield ""


def split(doc: str) -> tuple[str, str]:
    """The examples in backquotes at the start, and the sentences after them."""
    end = doc.rindex("`") + 1
    return doc[:end].replace("|", r"\|"), doc[end:].strip().replace("|", r"\|")


def refusals() -> Iterable[str]:
    yield "## Refused\n"
    yield "| node | is refused as | instead |\n| --- | --- | --- |"
    for name, (what, help) in sorted(refused.REFUSED.items()):
        yield f"| {name} | {what} | {help} |"
    yield ""


def functions() -> Iterable[str]:
    """Python's own functions, and what arrays have."""
    known = {name for name in map(describe, HANDLERS) if not name.startswith("s2s_ad")}
    own = {each.__name__ for each in HANDLERS if describe(each).startswith("s2s_ad")}
    methods = {*METHODS, *filter(attributes.same_as_function, attributes.SAME_AS_FUNCTION)}
    yield listed("Python's functions, on what is known", known | {"abs"})
    yield listed("Transforms", own)
    yield listed("Statements of their own", map(describe, refused.STATEMENTS_ONLY))
    yield listed("Inside prints, asserts and raises also", map(describe, effects.PURE))
    yield listed("Attributes of arrays", set(attributes.PROPERTIES) - {"item"})
    yield listed("Methods of arrays", {*methods, "item"})
    yield listed("Methods of dicts", attributes.DICT_METHODS)


def listed(title: str, names: Iterable[str]) -> str:
    plain = sorted({name.removeprefix("_") for name in names})
    return f"{title}: " + ", ".join(f"`{name}`" for name in plain) + ".\n"


def in_place() -> Iterable[str]:
    yield MEMORY
    yield "| method | instead |\n| --- | --- |"
    for name, help in sorted(refused.IN_PLACE_METHODS.items()):
        yield f"| {name} | {help} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
