"""Break a logical line of Python that is too long, where `ruff format` would break it.

The printer writes a logical line as a flat list of tokens. Plain strings are text. A `Mark` is
where the layout has a choice; as a string it is what it prints on one line, so that the tokens
joined are the line, and the layout is asked only where that does not fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from unicodedata import east_asian_width

from s2s_ad.emit.precedence import Level

INDENT = 4


class Role(Enum):
    """What a mark does to the tokens around it."""

    CLOSE = auto()  # ends what was opened last
    BREAK = auto()  # a line may end here, if the brackets or the group around it are broken
    IF_BROKEN = auto()  # text that is there only where breaks are taken
    GROUP = auto()  # opens a group: its breaks are all taken, or none
    BRACKETS = auto()  # opens brackets that are always there
    SUBSCRIPT = auto()  # like BRACKETS, but never a reason to leave out parentheses
    IF_TOO_LONG = auto()  # opens parentheses that appear if what is in them does not fit
    IF_UNBREAKABLE = auto()  # the same, if it does not fit even with its own brackets broken
    IF_HELPFUL = auto()  # the same, if with them it fits
    VALUE = auto()  # opens what becomes one of these three, or a group
    EAGER_VALUE = auto()  # the same, for parentheses rather than breaks to the left of the value
    BODY = auto()  # the same for the body of a lambda, which gets parentheses inside brackets too


class Mark(str):
    """A token with a role, the level of the operator behind a BREAK, and the text of IF_BROKEN."""

    __slots__ = ("broken", "level", "role")
    role: Role
    level: int
    broken: str

    def __new__(cls, text: str, role: Role, level: int = 0, broken: str = "") -> Mark:
        mark = super().__new__(cls, text)
        mark.role = role
        mark.level = level
        mark.broken = broken
        return mark


SPACE = Mark(" ", Role.BREAK)
TRAILING_COMMA = Mark("", Role.IF_BROKEN, broken=",")
SPACE_IF_BROKEN = Mark("", Role.IF_BROKEN, broken=" ")
GROUP = Mark("", Role.GROUP)
VALUE = Mark("", Role.VALUE)
EAGER_VALUE = Mark("", Role.EAGER_VALUE)
BODY = Mark("", Role.BODY)
IF_TOO_LONG = Mark("", Role.IF_TOO_LONG)
IF_UNBREAKABLE = Mark("", Role.IF_UNBREAKABLE)
SUBSCRIPT = Mark("[", Role.SUBSCRIPT)
OPEN = {bracket: Mark(bracket, Role.BRACKETS) for bracket in "([{"}
CLOSE = {bracket: Mark(bracket, Role.CLOSE) for bracket in ")]}"}
END = Mark("", Role.CLOSE)

_NEWLINE = Mark("", Role.BREAK)
_EMPTY_BRACKETS = frozenset(("()", "[]", "{}"))
_PREFIXES = frozenset(("-", "+", "~", "not ", "await ", "*", "**"))
_BRACKETS = frozenset((Role.BRACKETS, Role.SUBSCRIPT))
# For each kind of value, the parentheses that it has instead of those it would have as VALUE.
_STRICTER = {
    Role.VALUE: {},
    Role.EAGER_VALUE: {Role.IF_HELPFUL: Role.IF_UNBREAKABLE},
    Role.BODY: {
        Role.IF_HELPFUL: Role.IF_UNBREAKABLE,
        Role.IF_UNBREAKABLE: Role.IF_TOO_LONG,
    },
}
_LEAVES = frozenset((Role.BREAK, Role.IF_BROKEN))
_TRANSPARENT = frozenset((Role.GROUP, Role.IF_HELPFUL))


class _Mode(Enum):
    """How breaks and brackets behave at some place."""

    FLAT = auto()  # nothing breaks
    OUTSIDE = auto()  # not in brackets: only brackets break
    OPEN = auto()  # the same, where parentheses were left out because brackets can break instead
    BROKEN = auto()  # in brackets or a group that is broken: every break is taken


class _Nested:
    """The tokens between an opening mark and its end."""

    __slots__ = ("closing", "is_body", "items", "opening", "role")

    def __init__(self, opening: Mark) -> None:
        self.opening = str(opening)
        self.role = opening.role
        self.is_body = opening.role is Role.BODY
        self.items: list[_Item] = []
        self.closing = ""

    def close(self, closing: str) -> None:
        """End the items; what they are decides about the parentheses of a value."""
        self.closing = str(closing)
        if self.role in _STRICTER:
            if self.role is Role.EAGER_VALUE and self.items[0] in _PREFIXES:
                self.role = Role.VALUE
            role = _parentheses_of_value(self.items)
            self.role = _STRICTER[self.role].get(role, role)

    def can_break(self, mode: _Mode) -> bool:
        """Whether there are brackets here, or can be, after which a line may end."""
        if self.role in _BRACKETS or (self.is_body and self.role is not Role.GROUP):
            return mode is not _Mode.FLAT
        return mode is _Mode.OUTSIDE and self.role not in _TRANSPARENT


_Item = str | _Nested
_Entry = tuple[_Item, int, _Mode]


def display_width(text: str) -> int:
    """The number of columns that text takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def lay_out(tokens: Iterable[str], indent: int, width: int) -> str:
    """The tokens of one logical line as text, broken to fit; its first line is not indented."""
    layout = _Layout(width, indent)
    layout.print(_nest(tokens), indent)
    return "".join(layout.output)


def _nest(tokens: Iterable[str]) -> list[_Item]:
    """The tree that the opening and closing marks among tokens stand for."""
    enclosing = [_Nested(Mark("", Role.GROUP))]
    for token in tokens:
        if not isinstance(token, Mark) or token.role in _LEAVES:
            enclosing[-1].items.append(token)
        elif token.role is Role.CLOSE:
            enclosing.pop().close(token)
        else:
            nested = _Nested(token)
            enclosing[-1].items.append(nested)
            enclosing.append(nested)
    return enclosing[0].items


class _Layout:
    """Prints a tree of tokens from left to right, and decides where it comes to brackets."""

    def __init__(self, width: int, column: int) -> None:
        self.width = width
        self.column = column
        self.output: list[str] = []
        self.pending: list[_Entry] = []

    def print(self, items: Sequence[_Item], indent: int) -> None:
        """Print the items of a logical line."""
        self._push(items, indent, _Mode.OUTSIDE)
        while self.pending:
            item, indent, mode = self.pending.pop()
            if isinstance(item, _Nested):
                self._open(item, indent, mode)
            elif not isinstance(item, Mark) or mode is not _Mode.BROKEN:
                self._write(str(item))
            elif item.role is Role.IF_BROKEN:
                self._write(item.broken)
            else:
                self.output.append("\n" + " " * indent)
                self.column = indent

    def _push(self, items: Sequence[_Item], indent: int, mode: _Mode) -> None:
        self.pending.extend((item, indent, mode) for item in reversed(items))

    def _write(self, text: str) -> None:
        self.output.append(text)
        self.column += display_width(text)

    def _open(self, nested: _Nested, indent: int, mode: _Mode) -> None:
        """Decide how nested is printed, and put its items on the stack."""
        if nested.role in _BRACKETS:
            if mode is _Mode.FLAT or self._fits([nested], indent, _Mode.FLAT):
                self._push([nested.opening, *nested.items, nested.closing], indent, _Mode.FLAT)
            else:
                self._break(nested.items, nested.opening, nested.closing, indent)
        elif nested.role is Role.GROUP:
            if mode is _Mode.BROKEN and self._fits(nested.items, indent, _Mode.FLAT):
                mode = _Mode.FLAT
            self._push(nested.items, indent, mode)
        elif mode is _Mode.FLAT or (mode is not _Mode.OUTSIDE and not nested.is_body):
            self._push(nested.items, indent, mode)
        elif self._needs_parentheses(nested, indent):
            self._break(nested.items, "(", ")", indent)
        else:
            self._push(nested.items, indent, _Mode.OPEN)

    def _break(self, items: Sequence[_Item], opening: str, closing: str, indent: int) -> None:
        """Print brackets with their items on lines of their own."""
        self._write(opening)
        self._push([_NEWLINE, closing], indent, _Mode.BROKEN)
        self._push([_NEWLINE, *items], indent + INDENT, _Mode.BROKEN)

    def _needs_parentheses(self, nested: _Nested, indent: int) -> bool:
        """Whether the parentheses that nested may get are printed."""
        mode = _Mode.FLAT if nested.role is Role.IF_TOO_LONG else _Mode.OPEN
        if self._fits(nested.items, indent, mode):
            return False
        if nested.role is not Role.IF_HELPFUL:
            return True
        inside = indent + INDENT
        return self.column < self.width and self._fits(nested.items, indent, _Mode.OPEN, inside)

    def _fits(
        self, items: Sequence[_Item], indent: int, mode: _Mode, column: int | None = None
    ) -> bool:
        """Whether items, and what follows up to the first place where a line may end, fit.

        With a column, the items start there, and are the last on their line.
        """
        unread = len(self.pending) if column is None else 0
        column = self.column if column is None else column
        stack = [(item, indent, mode) for item in reversed(items)]
        while column <= self.width:
            if stack:
                item, indent, mode = stack.pop()
            elif unread:
                unread -= 1
                item, indent, mode = self.pending[unread]
            else:
                return True
            if isinstance(item, _Nested):
                if item.can_break(mode):
                    if mode is not _Mode.OPEN or column == self.width:
                        return column < self.width
                    # What follows the brackets has to fit too, but it would start on a new line.
                    column = indent + 1
                else:
                    stack.append((item.closing, indent, mode))
                    stack.extend((inner, indent, mode) for inner in reversed(item.items))
                    column += len(item.opening)
            elif not isinstance(item, Mark) or mode is not _Mode.BROKEN:
                column += display_width(item)
            elif item.role is Role.IF_BROKEN:
                column += len(item.broken)
            else:
                return True
        return False


def _outermost(items: Sequence[_Item]) -> Iterator[_Item]:
    """The items that are not in brackets."""
    for item in items:
        if type(item) is _Nested and item.role is Role.GROUP:
            yield from _outermost(item.items)
        else:
            yield item


def _has_brackets(item: _Item) -> bool:
    return type(item) is _Nested or item in _EMPTY_BRACKETS


def _parentheses_of_value(items: Sequence[_Item]) -> Role:
    """Which parentheses suit a value that is too long for its line; GROUP for none at all."""
    outermost = list(_outermost(items))
    operands = [item for item in outermost if item not in _PREFIXES]
    if operands[0] == "lambda":
        return Role.IF_UNBREAKABLE
    if not any(type(item) is Mark for item in operands):
        # There is nowhere to break but in brackets.
        return Role.GROUP if _has_brackets(operands[0]) else Role.IF_HELPFUL
    if not any(map(_has_brackets, operands)):
        return Role.IF_TOO_LONG
    levels = Counter(_levels(outermost))
    loosest = min(levels, default=Level.ATOM)
    if levels[loosest] > 1:
        return Role.IF_TOO_LONG
    last = outermost[-1]
    brackets_can_break = (
        loosest == Level.ATOM
        or type(outermost[0]) is _Nested
        or (type(last) is _Nested and last.role is Role.BRACKETS)
    )
    return Role.IF_UNBREAKABLE if brackets_can_break else Role.IF_TOO_LONG


def _levels(outermost: Sequence[_Item]) -> Iterator[int]:
    """How tightly each operator binds, and each attribute of something in brackets."""
    previous: _Item = ""
    for item in outermost:
        if type(item) is Mark:
            if item.role is Role.BREAK:
                yield item.level
        elif item == "~":
            yield Level.UNARY
        elif type(item) is str and item.startswith(".") and _has_brackets(previous):
            yield Level.ATOM
        previous = item
