"""Print gast trees as source text, the way `ruff format` would leave it."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from s2s_ad.emit.expressions import ExpressionPrinter, is_bare_tuple, parameters_of
from s2s_ad.emit.layout import (
    CLOSE,
    EAGER_VALUE,
    END,
    IF_TOO_LONG,
    IF_UNBREAKABLE,
    INDENT,
    OPEN,
    TRAILING_COMMA,
    VALUE,
    Mark,
    display_width,
    lay_out,
)
from s2s_ad.emit.literals import docstring_text
from s2s_ad.emit.precedence import Level

# ruff breaks only these at their operator where the result is not used.
_SPLIT_AS_STATEMENT = frozenset(
    (gast.Add, gast.Sub, gast.LShift, gast.RShift, gast.BitOr, gast.BitXor, gast.BitAnd)
)
_IMPORTS = frozenset((gast.Import, gast.ImportFrom))
# The last of these that a compound statement has is where it ends.
_BLOCKS = ("finalbody", "orelse", "handlers", "body")


def print_statements(statements: Sequence[gast.AST], width: int = 88) -> str:
    """The source text of statements, in lines of at most width columns where that can be done.

    A statement may carry `comments_before` (a list of lines), `comment_after` (the comment at its
    end; for a compound statement, at the end of its header) and `blank_before` (true for a blank
    line above it).
    """
    return print_rows(statements, width)[0]


def print_rows(
    statements: Sequence[gast.AST], width: int = 88
) -> tuple[str, list[gast.AST | None]]:
    """The text of `print_statements`, and for each line the statement that it is of, if any.

    A comment is of no statement; a header is of the compound statement.
    """
    printer = _Printer(width)
    printer.block(statements, "module")
    rows = [
        statement
        for line, statement in zip(printer.lines, printer.statements, strict=True)
        for _ in range(line.count("\n") + 1)
    ]
    return "".join(f"{line}\n" for line in printer.lines), rows


def print_expression(node: gast.AST) -> str:
    """The source text of an expression, on one line."""
    printer = ExpressionPrinter()
    printer.alone(node)
    return "".join(printer.tokens)


class _Printer(ExpressionPrinter):
    """Collects lines; lays out each that is too long, and puts the comments where they belong."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.lines: list[str] = []
        self.statements: list[gast.AST | None] = []  # of which statement each of the lines is
        self._statement: gast.AST | None = None
        self._indent = 0
        self._comment: str | None = None

    # Lines

    def fill(self, text: str = "") -> None:
        """End the line before, and start a new one."""
        self._end_line()
        if text:
            self.write(text)

    def enter(self) -> None:
        """End the header of a block."""
        self.write(":")
        self._end_line()
        self._indent += 1

    def leave(self) -> None:
        """End a block."""
        self._end_line()
        self._indent -= 1

    def _end_line(self) -> None:
        if not self.tokens:
            return
        indent = INDENT * self._indent
        text = "".join(self.tokens)
        if indent + display_width(text) > self.width:
            text = lay_out(self.tokens, indent, self.width)
        self.tokens.clear()
        if self._comment is not None:
            text = self._with_comment(text, f"# {self._comment}", indent)
            self._comment = None
        self.lines.append(" " * indent + text)
        self.statements.append(self._statement)

    def _with_comment(self, text: str, comment: str, indent: int) -> str:
        """Text with a comment behind it, or above it where the line would be too long."""
        *above, last = text.split("\n")
        column = display_width(last) + (0 if above else indent)
        # A comment behind a parenthesised name would have to be in the parentheses.
        may_be_name = len(above) == 2 and above[0].endswith(" (")
        if column + 2 + display_width(comment) > self.width or may_be_name:
            return f"{comment}\n{' ' * indent}{text}"
        return f"{text}  {comment}"

    def _comments_before(self, statement: gast.AST) -> list[str]:
        margin = " " * (INDENT * self._indent)
        comments = getattr(statement, "comments_before", ())
        return [f"{margin}# {comment}".rstrip() for comment in comments]

    # Blocks

    def block(self, statements: Sequence[gast.AST], kind: str) -> None:
        """Write the statements of a "module", "class" or "function", or of any other "block"."""
        previous, around = None, self._statement
        for statement in statements:
            start = len(self.lines)
            self._statement = statement
            self._comment = getattr(statement, "comment_after", None)
            if previous is None and kind != "block" and _is_string(statement):
                self.write(docstring_text(statement.value.value))
            else:
                self.dispatch(statement)
            self._end_line()
            comments = self._comments_before(statement)
            starts_with_comment = bool(comments) or self.lines[start].lstrip().startswith("#")
            count = self._blank_lines(kind, previous, statement, starts_with_comment)
            self._insert(start, [""] * count + comments)
            previous = statement
        self._statement = around

    def _insert(self, start: int, lines: list[str]) -> None:
        """Lines that are of no statement."""
        self.lines[start:start] = lines
        self.statements[start:start] = [None] * len(lines)

    def _blank_lines(
        self, kind: str, previous: gast.AST | None, statement: gast.AST, starts_with_comment: bool
    ) -> int:
        """How many blank lines there are between a statement and the one before it in its block."""
        is_definition = type(statement) is gast.FunctionDef
        if previous is None:
            return int(kind == "block" and is_definition and not starts_with_comment)
        if is_definition or _ends_with_definition(previous):
            return 1 if self._indent else 2
        continues_imports = type(statement) in _IMPORTS and not starts_with_comment
        return int(
            getattr(statement, "blank_before", False)
            or (type(previous) in _IMPORTS and not continues_imports)
            or (kind in ("module", "class") and _is_string(previous))
        )

    def _clause(self, header: str, body: list[gast.AST]) -> None:
        """A header that is only a keyword, and its block."""
        if body:
            self.fill(header)
            self._body(body)

    def _body(self, body: list[gast.AST], kind: str = "block") -> None:
        self.enter()
        self.block(body, kind)
        self.leave()

    # Compound statements

    def _FunctionDef(self, node: gast.FunctionDef) -> None:
        self._decorators(node)
        self.fill("def " + node.name)
        self._signature(list(parameters_of(node.args)))
        if node.returns is not None:
            # As one token: the parameters are broken first.
            self.write(f" -> {print_expression(node.returns)}")
        self._definition_body(node, "function")

    def _signature(self, parameters: list) -> None:
        if len(parameters) == 1:
            # Unlike a single argument, it gets a trailing comma.
            self.write(OPEN["("])
            self.parameter(parameters[0])
            self.write(TRAILING_COMMA)
            self.write(CLOSE[")"])
        else:
            self.arguments("(", self.parameter, parameters, ")")

    def _decorators(self, node: gast.AST) -> None:
        comment, self._comment = self._comment, None
        for decorator in node.decorator_list:
            self.fill("@")
            self.expression(decorator, Level.NAMED)
        self._end_line()
        self._comment = comment

    def _definition_body(self, node: gast.AST, kind: str) -> None:
        first = node.body[0]
        has_comment = getattr(first, "comments_before", ()) or getattr(first, "comment_after", "")
        if len(node.body) == 1 and _is_ellipsis(first) and not has_comment:
            self.write(": ...")
        else:
            self._body(node.body, kind)

    def _If(self, node: gast.If, keyword: str = "if ") -> None:
        self.fill(keyword)
        self.value(node.test, Level.NAMED)
        self._body(node.body)
        if len(node.orelse) == 1 and type(node.orelse[0]) is gast.If:
            alternative = node.orelse[0]
            self._insert(len(self.lines), self._comments_before(alternative))
            self._comment = getattr(alternative, "comment_after", None)
            around, self._statement = self._statement, alternative
            self._If(alternative, "elif ")
            self._end_line()
            self._statement = around
        else:
            self._clause("else", node.orelse)

    def _For(self, node: gast.For) -> None:
        self.fill("for ")
        if is_bare_tuple(node.target):
            self.items(self.test, node.target.elts, IF_UNBREAKABLE)
        else:
            self.value(node.target)
        self.write(" in ")
        self.value(node.iter)
        self._body(node.body)
        self._clause("else", node.orelse)

    def _While(self, node: gast.While) -> None:
        self.fill("while ")
        self.value(node.test, Level.NAMED)
        self._body(node.body)
        self._clause("else", node.orelse)

    def _With(self, node: gast.With) -> None:
        self.fill("with ")
        if len(node.items) > 1:
            self.items(self.dispatch, node.items)
        else:
            self.write(VALUE)
            self.dispatch(node.items[0])
            self.write(END)
        self._body(node.body)

    def _withitem(self, node: gast.withitem) -> None:
        self.test(node.context_expr)
        if node.optional_vars is not None:
            self.write(" as ")
            self.test(node.optional_vars)

    def _Try(self, node: gast.Try) -> None:
        self._clause("try", node.body)
        for handler in node.handlers:
            self.fill("except")
            if handler.type is not None:
                self.write(" ")
                self.value(handler.type)
            if handler.name is not None:
                self.write(f" as {handler.name.id}")
            self._body(handler.body)
        self._clause("else", node.orelse)
        self._clause("finally", node.finalbody)

    # Simple statements: import, global, nonlocal, pass, break and continue are the base class's

    def _Expr(self, node: gast.Expr) -> None:
        self.fill()
        if type(node.value) is gast.BinOp and type(node.value.op) in _SPLIT_AS_STATEMENT:
            self.value(node.value)
        else:
            self.alone(node.value)

    def _Assign(self, node: gast.Assign) -> None:
        self.fill()
        first, *others = node.targets
        self.bare(first)
        for target in others:
            self.write(" = ")
            if _has_brackets(target):
                self.bare(target)
            else:
                self.value(target, mark=IF_TOO_LONG)
        self.write(" = ")
        self._assigned(node.value, is_eager=bool(others) or _has_brackets(first))

    def _AugAssign(self, node: gast.AugAssign) -> None:
        self.fill()
        self.expression(node.target, Level.ATOM)
        self.write(f" {self.binop[type(node.op).__name__]}= ")
        self._assigned(node.value, _has_brackets(node.target))

    def _AnnAssign(self, node: gast.AnnAssign) -> None:
        self.fill()
        in_parentheses = type(node.target) is gast.Name and not node.simple
        self.expression(node.target, Level.ATOM, in_parentheses)
        self.write(": ")
        self.test(node.annotation)
        if node.value is not None:
            self.write(" = ")
            self._assigned(node.value, is_eager=True)

    def _Return(self, node: gast.Return) -> None:
        self.fill("return")
        if node.value is not None:
            self.write(" ")
            if is_bare_tuple(node.value):
                is_pair = len(node.value.elts) == 2
                self.items(self.test, node.value.elts, IF_UNBREAKABLE if is_pair else IF_TOO_LONG)
            else:
                self.value(node.value)

    def _Delete(self, node: gast.Delete) -> None:
        self.fill("del ")
        if len(node.targets) > 1:
            self.items(self.test, node.targets)
        else:
            self.value(node.targets[0])

    def _Assert(self, node: gast.Assert) -> None:
        self.fill("assert ")
        self.value(node.test, mark=EAGER_VALUE)
        if node.msg is not None:
            self.write(", ")
            self.value(node.msg, mark=EAGER_VALUE)

    def _Raise(self, node: gast.Raise) -> None:
        self.fill("raise")
        if node.exc is not None:
            self.write(" ")
            self.value(node.exc)
        if node.cause is not None:
            self.write(" from ")
            self.value(node.cause)

    def _ImportFrom(self, node: gast.ImportFrom) -> None:
        self.fill(f"from {'.' * (node.level or 0)}{node.module or ''} import ")
        self.items(self.dispatch, node.names)

    # Parts that statements share

    def value(self, node: gast.AST, level: int = Level.TEST, mark: Mark = VALUE) -> None:
        """An expression that may get parentheses to break its line."""
        self.write(mark)
        self.expression(node, level)
        self.write(END)

    def _assigned(self, value: gast.AST, is_eager: bool) -> None:
        """The right-hand side of an assignment; if eager, it is broken rather than the left."""
        if is_bare_tuple(value):
            self.items(self.test, value.elts)
        else:
            self.write(EAGER_VALUE if is_eager else VALUE)
            self.alone(value)
            self.write(END)

    # Patterns


def _is_string(node: gast.AST) -> bool:
    """Whether a statement is only a string: a docstring, if it is the first."""
    return _is_constant(node) and isinstance(node.value.value, str)


def _is_ellipsis(node: gast.AST) -> bool:
    return _is_constant(node) and node.value.value is Ellipsis


def _is_constant(node: gast.AST) -> bool:
    return type(node) is gast.Expr and type(node.value) is gast.Constant


def _has_brackets(target: gast.AST) -> bool:
    """Whether a target has brackets that a line can be broken in."""
    return type(target) in (gast.List, gast.Subscript, gast.Tuple)


def _ends_with_definition(node: gast.AST) -> bool:
    """Whether the last of the lines of a statement belong to a function."""
    while type(node) is not gast.FunctionDef:
        blocks = (getattr(node, name, None) for name in _BLOCKS)
        block = next(filter(None, blocks), None)
        if block is None:
            return False
        node = block[-1]
    return True
