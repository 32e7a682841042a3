"""Writes docs/language.md from the tables that the frontend itself works with.

python docs/make_language.py
"""

from __future__ import annotations

import pathlib
import types
from collections import deque
from collections.abc import Iterable

import s2s_ad
from s2s_ad.core.builder import describe
from s2s_ad.core.homes import module_of
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
and objects with `__call__`. Objects of plain classes, dataclasses and namedtuples can be made, and
so can bounded deques and SimpleNamespaces; dates, decimals, fractions and compiled patterns are
computed with where nothing in them is a value. Members of Enums are found by value and by name, and
those of an IntEnum are numbers. What Numba's `@njit`, `@jit` and `@vectorize` have made stands for
the Python below them, and `prange` for `range`. An object says itself whether it is true and what
`==` gives.
"""

GENERATORS = """\
## Iterators and generator functions

`iter`, `zip`, `map`, `(f(x) for x in xs)` and their kin give an iterator, whose position is a value
like any other: `next(it)` and `next(it, default)` move it on, in branches, loops and helpers, and a
`for` over it reads what is left. What is read by `sum`, `zip`, `list` and the like is read to its
end; who reads it again is refused.

A call of a generator function is run to its end, and the loop (or `sum`, `list`, `next`, ...) goes
over what it has yielded. Where that would be seen (a loop that never ends, arrays or names of the
functions around that change between two items, prints, exceptions) it runs step by step: `next`,
and each pass of a loop, run its text from one `yield` to the next. So do `zip`, `enumerate`, `map`,
`filter` and most of `itertools` over such a generator. `yield` is a statement of its own, there in
conditions and loops alone; `send` and a `yield` in a `try` or `with` are refused.
"""

NONE = """\
## Values that are None on some paths

`best = None` before a loop and `best = x` in it, a helper that returns nothing on one path: such a
value is a flag and a value, and `best is None` is the flag. Where a condition on the way (`if`,
`and`, `or`, `while`, an `assert`, a `raise`, `continue` or `return` where it is None) says that it
is not None, it is used like any other; where none does, using it raises TypeError where it is None,
as Python does. What Python does with None as well (`==`, a print, `isinstance`, `match`) needs such
a condition.
"""

LISTS = """\
## Texts that differ from path to path

`mode = "heat"` on one path and `mode = "idle"` on another is a text when the code runs, too. It is
compared (`==`, `!=`, `in`, `match`), printed and returned as it is; a function that is called with
it, and a dict that is read or written at it, are a choice among the texts that it may be. As a key
of a new dict, or taken apart into characters, it is refused. A batch whose samples differ in it is
taken sample by sample.

`f"{x:.3f}"`, `str(x)`, `repr(x)` and `np.array2string(x)` of values are made when the code runs:
they are printed, returned beside the result, compared, joined by `+`, and asked by `len` and the
methods of `str`. Where such a text has to be known (a key), what it shows has to be. It may not
differ from sample to sample of a batch.

## Lists whose length is not known

A list that grows in a loop whose passes are not counted when code is generated holds numbers,
arrays, lists of these, or tuples, dicts and objects of one structure (the same keys, the same
classes). It is appended to, popped from, joined, sliced, indexed by numbers that are not known,
and looped over; an array is made of it by `np.array(items)`. An item that is a dict or an object is
read, and replaced as a whole.

What only a list of known length can do (objects in it that are changed, keys made of its places, a
chain of objects, items of other structures) is done where its length follows from the lengths of
arrays and from integers that are passed: these then count by value, the loops that make the list
are written out, and other lengths have code of their own. Where values decide the length, as in
`[x for x in xs if x > 0]`, it is refused.

`x in items`, `items.index(x)`, `items.count(x)` and `items.remove(x)` compare numbers when the code
runs, in lists of any length; `pop`, `insert` and `del` take places that are not known.
"""

CAPTURED = """\
## What is captured

Globals, cells of closures, defaults, and attributes of objects and classes are read where they
stand, under guards: a changed number or array is followed, and whatever shaped the code (a
function, a text, the keys of a dict, a number used as an axis) leads to new code when it changes.
Your module and your objects are never written to.
"""

UNREAD = """\
## What nobody reads

Statements that print, log, check (`assert`) or `raise` are kept, in their place. Everything else is
computed where something reads it, and only there: a derivative does not compute the value of the
function if it does not need it. So an error that only such a value would have raised (`x[7]` of
three elements, a division by zero) may not come; a wrong result never does. In the body of a
`try` whatever may raise is kept.
"""

MEMORY = """\
## Changes in place

Arrays, lists, dicts, sets and objects that the function makes, or is given, are changed as in
Python, through any name, container, closure or view that holds them. An argument that the function
changes is its own: the caller's object stays as it is. To add to a list that was passed is refused,
though, for a function that does so keeps a record for its caller: it is returned beside the value,
with `has_aux=True`. What was captured may not be changed. Where
memory may be shared or not (`reshape` of memory that the function did not make, one of two arrays
that a branch in a loop chose between), a store makes the other unreadable: reading it is refused,
and `.copy()` is the advice. These methods are refused:
"""


def page() -> str:
    """The whole text of the page."""
    return "\n".join(
        [
            HEAD,
            *accepted(),
            *refusals(),
            CALLS,
            *functions(),
            GENERATORS,
            NONE,
            LISTS,
            CAPTURED,
            UNREAD,
            *in_place(),
        ]
    )


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
    code, text = (" ".join(each.split()).replace("|", r"\|") for each in (doc[:end], doc[end:]))
    return code, text


def refusals() -> Iterable[str]:
    yield "## Refused\n"
    yield "| node | is refused as | instead |\n| --- | --- | --- |"
    for name, (what, help) in sorted(refused.REFUSED.items()):
        yield f"| {name} | {what} | {help} |"
    yield ""


def functions() -> Iterable[str]:
    """Python's own functions, and what arrays have."""
    named = [each for each in HANDLERS if hasattr(each, "__name__")]  # `exit` has none
    given = [each for each in named if callable(each) and not is_method(each)]
    own = [each for each in given if getattr(each, "__module__", "") != "gast.gast"]
    functions = [each for each in own if module_of(each) is None]  # SciPy's come when they are met
    known = {name for name in map(describe, functions) if not name.startswith("s2s_ad")}
    public = [each for each in functions if vars(s2s_ad).get(each.__name__) is each]
    own = {each.__name__ for each in public}
    methods = {*METHODS, *filter(attributes.same_as_function, attributes.SAME_AS_FUNCTION)}
    yield listed("Python's functions, on what is known", known | {"abs"})
    yield listed("Of this library", own)
    yield listed("Statements of their own", map(describe, refused.STATEMENTS_ONLY))
    yield listed("Inside prints, asserts and raises also", map(describe, effects.PURE))
    yield listed("Attributes of arrays", set(attributes.PROPERTIES) - {"item"})
    yield listed("Methods of arrays", {*methods, "item"})
    for kind in (list, dict, set, deque):
        names = [each.__name__ for each in HANDLERS if getattr(each, "__objclass__", None) is kind]
        yield listed(f"Methods of a {kind.__name__}", names)


def is_method(function: object) -> bool:
    """Whether it is a method of one of Python's classes, which an object is asked for."""
    return isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType)


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
