"""Code in pieces that are coloured alike: what is a keyword, a number, a name."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence

Piece = tuple[str, str]  # the kind of a piece ("" is plain) and its text
NAME = "b"  # of which kind names are, which belong together with others
KINDS = {tokenize.COMMENT: "c", tokenize.NUMBER: "n", tokenize.STRING: "s"}
CORE = re.compile(
    r"(?P<c>#.*)|(?P<s>'[^']*'|\"[^\"]*\")|(?P<n>(?<![\w.])\d[\d.]*(?:e[-+]?\d+)?)"
    r"|(?P<word>[A-Za-z_][\w.]*)"
)
WORDS_OF_CORE = {"captured", "except", "give", "list", "next", "of", "reversed", "undefined"}


def python(lines: Sequence[str]) -> list[list[Piece]]:
    """The pieces of each line of Python; behind what is not Python all is plain."""
    rows = [_Row(line) for line in lines]
    previous = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            if kind := _kind(token, previous):
                _colour(rows, token, kind)
            previous = token.string.strip() or previous
    except (tokenize.TokenError, SyntaxError):
        pass  # what comes before the fault is coloured
    return [row.whole() for row in rows]


class _Row:
    """One line, from left to right."""

    def __init__(self, text: str):
        self.text, self.end = text, 0
        self.pieces: list[Piece] = []

    def add(self, start: int, end: int, kind: str) -> None:
        if start > self.end:
            self.pieces.append(("", self.text[self.end : start]))
        if end > start:
            self.pieces.append((kind, self.text[start:end]))
        self.end = max(self.end, end)

    def whole(self) -> list[Piece]:
        self.add(len(self.text), len(self.text), "")
        return self.pieces


def _colour(rows: list[_Row], token: tokenize.TokenInfo, kind: str) -> None:
    """Enter a token, which may go over several lines."""
    (first, start), (last, end) = token.start, token.end
    for number in range(first, min(last, len(rows)) + 1):
        row = rows[number - 1]
        row.add(start if number == first else 0, end if number == last else len(row.text), kind)


def _kind(token: tokenize.TokenInfo, previous: str) -> str:
    if token.type == tokenize.NAME:
        return _kind_of_name(token.string, previous)
    of_text = tokenize.tok_name[token.type].startswith("FSTRING")
    return "s" if of_text else KINDS.get(token.type, "")


def _kind_of_name(name: str, previous: str) -> str:
    if keyword.iskeyword(name):
        return "k"
    if previous in ("def", "class"):
        return "d"
    return "" if previous == "." else NAME


def core(lines: Sequence[str]) -> list[list[Piece]]:
    """The pieces of each line of Core."""
    return [list(_core_pieces(line)) for line in lines]


def _core_pieces(line: str) -> Iterator[Piece]:
    end = 0
    for match in CORE.finditer(line):
        if match.start() > end:
            yield "", line[end : match.start()]
        kind, text = match.lastgroup, match[0]
        if kind == "word":
            kind = "k" if keyword.iskeyword(text) or text in WORDS_OF_CORE else NAME
        yield kind, text
        end = match.end()
    if end < len(line):
        yield "", line[end:]


__all__ = ["NAME", "Piece", "core", "python"]
