"""Arguments described by type and shape: the little language of --like.

specification  items separated by commas, one for each argument
item           f64[3, 4]  an array        f64, f64[]  a 0-d array
               float      a number        int, bool   likewise
               (a, b)  [a, b]  {"key": a} containers of items
               "mode"  3  -0.5  None True what it says
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

TYPES = {
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"c{bits}": np.dtype(f"complex{bits}") for bits in (64, 128)},
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    "b": np.dtype(bool),
}
NUMBERS = {each.__name__: each for each in (float, int, bool, complex)}
NAMES = {"None": None, "True": True, "False": False}

TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<sign>[][(){},:])
      | (?P<end>$)
    )""",
    re.VERBOSE,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}


class LikeError(ValueError):
    """A specification that is not one; the message points at the place."""


Fill = Callable[[np.dtype, tuple[int, ...]], np.ndarray]


def zeros(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape, dtype)


def random(rng: np.random.Generator) -> Fill:
    """Normal numbers in double precision; zeros and ones for what counts or indexes."""

    def fill(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        if dtype.kind == "f":
            return np.asarray(rng.standard_normal(shape))
        if dtype.kind == "c":
            return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape))
        return np.asarray(rng.integers(0, 2, shape), dtype)

    return fill


def parse(text: str, fill: Fill) -> tuple:
    """The arguments that a specification describes; `fill(dtype, shape)` makes their arrays.

    Raises:
        LikeError: the specification is not one.

    Example:
        >>> parse('f32[2], {"axis": 1}', lambda dtype, shape: np.zeros(shape, dtype))
        (array([0., 0.], dtype=float32), {'axis': 1})
    """
    parser = _Parser(text, fill)
    items, _ = parser.items("end", parser.item)
    return tuple(items)


class _Parser:
    """Reads one token ahead."""

    def __init__(self, text: str, fill: Fill):
        self.text, self.fill, self.end = text, fill, 0
        self.advance()

    def advance(self) -> None:
        """Read the next token: its kind, its text, and where it stands."""
        match = TOKEN.match(self.text, self.end)
        if match is None:
            self.start = re.compile(r"\s*").match(self.text, self.end).end()
            self.end = self.start + 1
            self.fail(f"unexpected {self.text[self.start]!r}")
        self.kind = match.lastgroup
        self.token = match[self.kind]
        self.start, self.end = match.span(self.kind)

    def fail(self, what: str, help: str = "") -> NoReturn:
        carets = " " * self.start + "^" * max(1, self.end - self.start)
        lines = [what, f"  {self.text}", f"  {carets}", *([f"  help: {help}"] if help else [])]
        raise LikeError("\n".join(lines))

    def take(self) -> str:
        token = self.token
        self.advance()
        return token

    def at(self, mark: str) -> bool:
        return self.kind == "end" if mark == "end" else (self.kind, self.token) == ("sign", mark)

    def items(self, close: str, one: Callable[[], Any]) -> tuple[list, bool]:
        """Items up to the closing sign, and whether the last one has a comma behind it."""
        found, comma = [], False
        while not self.at(close):
            found.append(one())
            comma = self.at(",")
            if comma:
                self.take()
            elif not self.at(close):
                self.fail(f"expected ',' or {'the end' if close == 'end' else repr(close)}")
        if close != "end":
            self.take()
        return found, comma

    def item(self) -> Any:
        """One argument, or one element of a container."""
        if self.kind == "sign" and self.token in CLOSING:
            return self.container()
        if self.kind in ("number", "string"):
            return ast.literal_eval(self.take())
        if self.kind != "name":
            self.fail("expected a type, a container or a value")
        if self.token in NAMES:
            return NAMES[self.take()]
        if self.token in NUMBERS:
            kind = NUMBERS[self.take()]
            return kind(self.fill(np.dtype(kind), ()).item())
        if self.token not in TYPES:
            known = ", ".join([*TYPES, *NUMBERS])
            self.fail(f"unknown type {self.token!r}", help=f"one of {known}")
        dtype = TYPES[self.take()]
        if not self.at("["):
            return self.fill(dtype, ())
        self.take()
        return self.fill(dtype, tuple(self.items("]", self.length)[0]))

    def length(self) -> int:
        if self.kind != "number" or not self.token.isdigit():
            self.fail("expected a length", help="lengths are whole numbers: f64[64,3]")
        return int(self.take())

    def container(self) -> Any:
        opened = self.take()
        if opened == "{":
            return dict(self.items("}", self.entry)[0])
        found, comma = self.items(CLOSING[opened], self.item)
        if opened == "[":
            return found
        return found[0] if len(found) == 1 and not comma else tuple(found)

    def entry(self) -> tuple[Any, Any]:
        if self.kind not in ("string", "number"):
            self.fail("expected a key", help='keys are strings or numbers: {"W": f64[3]}')
        key = ast.literal_eval(self.take())
        if not self.at(":"):
            self.fail("expected ':'")
        self.take()
        return key, self.item()
