"""Write expressions as tokens: the text of a line, and the places where it may be broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import gast
from astunparse.unparser import Unparser, interleave

from s2s_ad.core import form
from s2s_ad.emit.layout import (
    BODY,
    CLOSE,
    END,
    GROUP,
    IF_TOO_LONG,
    OPEN,
    SPACE,
    SPACE_IF_BROKEN,
    SUBSCRIPT,
    TRAILING_COMMA,
    VALUE,
    Mark,
    Role,
)
from s2s_ad.emit.literals import (
    constant_text,
    escape_quotes,
    preferred_quote,
    string_body,
)
from s2s_ad.emit.precedence import (
    CHAIN,
    Level,
    is_fluent,
    is_power,
    is_simple_bound,
    is_simple_operand,
    level_of,
    may_start_line,
    needs_parentheses_before_dot,
)

_OPERATOR_BREAKS = [Mark(" ", Role.BREAK, level) for level in range(Level.ATOM)]
_OPERATOR_BREAKS[Level.AND] = _OPERATOR_BREAKS[Level.OR]  # `and` and `or` break together
_POWER_BREAK = Mark("", Role.BREAK, Level.POWER)
_DOT_BREAK = Mark("", Role.BREAK, Level.ATOM)
_OTHER_QUOTE = {'"': "'", "'": '"'}


class ExpressionPrinter(Unparser):
    """Writes tokens; the names of the operators are the base class's.

    Strings are put in the given quotes if that takes no more escapes than the other quotes.
    """

    def __init__(self, quote: str = '"') -> None:
        # Not super().__init__, which prints a tree while it is constructed.
        self.quote = quote
        self.tokens: list[str] = []
        self.write: Callable[[str], None] = self.tokens.append

    def expression(self, node: gast.AST, level: int, in_parentheses: bool = False) -> None:
        """Write an expression, in parentheses if it binds looser than level or if told so."""
        if in_parentheses or level_of(node) < level:
            self.write(OPEN["("])
            self.dispatch(node)
            self.write(CLOSE[")"])
        else:
            self.dispatch(node)

    def test(self, node: gast.AST) -> None:
        """An expression where neither `:=` nor a bare tuple may stand."""
        self.expression(node, Level.TEST)

    def element(self, node: gast.AST) -> None:
        """An expression between brackets."""
        self.expression(node, Level.NAMED)

    def alone(self, node: gast.AST) -> None:
        """An expression that is all of a line or of what is assigned: a yield may stand there."""
        is_yield = type(node) is gast.Yield or type(node) is gast.YieldFrom
        self.expression(node, Level.YIELD if is_yield else Level.TEST)

    def bare(self, node: gast.AST) -> None:
        """An expression where a tuple needs no parentheses on one line."""
        if is_bare_tuple(node):
            self.items(self.test, node.elts)
        else:
            self.test(node)

    # Items between commas

    def _comma(self) -> None:
        self.write(",")
        self.write(SPACE)

    def items(
        self,
        write_item: Callable[[gast.AST], None],
        nodes: Sequence[gast.AST],
        mark: Mark = IF_TOO_LONG,
    ) -> None:
        """Nodes between commas, with parentheses and a trailing comma only if they are broken."""
        self.write(mark)
        interleave(self._comma, write_item, nodes)
        self.write(TRAILING_COMMA)
        self.write(END)

    def brackets(self, opening: str, write_item: Callable, items: Sequence, closing: str) -> None:
        """Items in brackets; if these are broken, each item has a line."""
        if not items:
            self.write(opening + closing)
            return
        self.write(OPEN[opening])
        interleave(self._comma, write_item, items)
        if len(items) > 1:
            self.write(TRAILING_COMMA)
        self.write(CLOSE[closing])

    def arguments(self, opening: str, write_item: Callable, items: Sequence, closing: str) -> None:
        """Items in brackets; if these are broken, all items have one line if that is enough."""
        if not items:
            self.write(opening + closing)
            return
        self.write(OPEN[opening])
        self.write(GROUP)
        interleave(self._comma, write_item, items)
        if len(items) > 1:
            self.write(TRAILING_COMMA)
        self.write(END)
        self.write(CLOSE[closing])

    def argument(self, node: gast.AST) -> None:
        """An argument of a call, or a base of a class."""
        if type(node) is gast.Starred:
            self.write("*")
            self.test(node.value)
        else:
            self.element(node)

    def _keyword(self, node: gast.keyword) -> None:
        self.write("**" if node.arg is None else node.arg + "=")
        self.test(node.value)

    def parameter(self, parameter: tuple[str, gast.Name | None, gast.AST | None]) -> None:
        """A parameter, as parameters_of has it."""
        prefix, name, default = parameter
        self.write(prefix + name.id if name else prefix)
        annotation = name.annotation if name else None
        if annotation is not None:
            self.write(": ")
            self.test(annotation)
        if default is not None:
            self.write("=" if annotation is None else " = ")
            self.test(default)

    def _Starred(self, node: gast.Starred) -> None:
        self.write("*")
        self.expression(node.value, Level.BIT_OR)

    def _NamedExpr(self, node: gast.NamedExpr) -> None:
        self.write(f"{node.target.id} := ")
        self.test(node.value)

    # Operations

    def _Yield(self, node: gast.Yield) -> None:
        self.write("yield")
        if node.value is not None:
            self.write(" ")
            self.write(VALUE)
            self.bare(node.value)
            self.write(END)

    def _YieldFrom(self, node: gast.YieldFrom) -> None:
        self.write("yield from ")
        self.write(VALUE)
        self.test(node.value)
        self.write(END)

    def _Lambda(self, node: gast.Lambda) -> None:
        self.write("lambda")
        parameters = list(parameters_of(node.args))
        if parameters:
            self.write(" ")
        interleave(lambda: self.write(", "), self.parameter, parameters)
        self.write(": ")
        self.write(BODY)
        self.test(node.body)
        self.write(END)

    def _IfExp(self, node: gast.IfExp) -> None:
        self.write(GROUP)
        while True:
            self.expression(node.body, Level.OR)
            self.write(_OPERATOR_BREAKS[Level.TEST])
            self.write("if ")
            self.expression(node.test, Level.OR)
            self.write(_OPERATOR_BREAKS[Level.TEST])
            self.write("else ")
            if type(node.orelse) is not gast.IfExp:
                break
            node = node.orelse
        self.test(node.orelse)
        self.write(END)

    def _BoolOp(self, node: gast.BoolOp) -> None:
        self.write(GROUP)
        self._boolean(node)
        self.write(END)

    def _boolean(self, node: gast.BoolOp) -> None:
        level = level_of(node)
        operator = "or " if level == Level.OR else "and "
        for position, value in enumerate(node.values):
            if position:
                self.write(_OPERATOR_BREAKS[level])
                self.write(operator)
            if type(value) is gast.BoolOp and level_of(value) > level:
                self._boolean(value)
            else:
                self.expression(value, level + 1)

    def _Compare(self, node: gast.Compare) -> None:
        self.write(GROUP)
        self.expression(node.left, Level.BIT_OR)
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            self.write(_OPERATOR_BREAKS[Level.COMPARE])
            self.write(self.cmpops[type(operator).__name__] + " ")
            self.expression(operand, Level.BIT_OR)
        self.write(END)

    def _UnaryOp(self, node: gast.UnaryOp) -> None:
        operator = self.unop[type(node.op).__name__]
        self.write("not " if operator == "not" else operator)
        # ruff puts a power in parentheses here, where Python needs none.
        self.expression(node.operand, level_of(node), is_power(node.operand))

    def _BinOp(self, node: gast.BinOp) -> None:
        self.write(GROUP)
        if type(node.op) is gast.Pow:
            self._power(node)
        else:
            self._operations(node)
        self.write(END)

    def _operations(self, node: gast.BinOp) -> None:
        """Operators that bind equally tightly, from left to right."""
        level = level_of(node)
        rest = []
        while type(node) is gast.BinOp and level_of(node) == level:
            rest.append((node.op, node.right))
            node = node.left
        self.expression(node, level)
        for operator, operand in reversed(rest):
            self.write(_OPERATOR_BREAKS[level])
            self.write(self.binop[type(operator).__name__] + " ")
            self.expression(operand, level + 1)

    def _power(self, node: gast.BinOp) -> None:
        """Powers of powers, from left to right; between simple operands there are no spaces."""
        while True:
            right = node.right
            right_is_power = is_power(right)
            self.expression(node.left, Level.BASE)
            exponent = right.left if right_is_power else right
            if is_simple_operand(node.left, Level.BASE) and is_simple_operand(
                exponent, Level.UNARY
            ):
                self.write(_POWER_BREAK)
                self.write("**")
                self.write(SPACE_IF_BROKEN)
            else:
                self.write(_OPERATOR_BREAKS[Level.POWER])
                self.write("** ")
            if not right_is_power:
                break
            node = right
        self.expression(right, Level.UNARY)

    # Attributes, calls and subscripts

    def _Attribute(self, node: gast.Attribute) -> None:
        self._chain(node)

    def _Call(self, node: gast.Call) -> None:
        self._chain(node)

    def _Subscript(self, node: gast.Subscript) -> None:
        self._chain(node)

    def _chain(self, node: gast.AST) -> None:
        if is_fluent(node):
            self.write(GROUP)
            self._link(node, _DOT_BREAK)
            self.write(END)
        else:
            self._link(node, None)

    def _link(self, node: gast.AST, dot: Mark | None) -> None:
        value = node.func if isinstance(node, gast.Call) else node.value
        if type(value) in CHAIN:
            self._link(value, dot)
        else:
            before_dot = isinstance(node, gast.Attribute) and needs_parentheses_before_dot(value)
            self.expression(value, Level.ATOM, before_dot)
        if isinstance(node, gast.Attribute):
            if dot is not None and may_start_line(node):
                self.write(dot)
            self.write("." + node.attr)
        elif isinstance(node, gast.Call):
            self._arguments_of(node)
        else:
            self._index(node.slice)

    def _arguments_of(self, node: gast.Call) -> None:
        if len(node.args) == 1 and not node.keywords and type(node.args[0]) is gast.GeneratorExp:
            self.dispatch(node.args[0])
        else:
            self.arguments("(", self.argument, node.args + node.keywords, ")")

    def _index(self, index: gast.AST) -> None:
        self.write(SUBSCRIPT)
        if type(index) is not gast.Tuple or not index.elts:
            self.element(index)
        elif len(index.elts) == 1:
            self.element(index.elts[0])
            if type(index.elts[0]) is not gast.Starred:
                self.write(",")
        else:
            self.write(GROUP)
            interleave(self._comma, self.element, index.elts)
            self.write(TRAILING_COMMA)
            self.write(END)
        self.write(CLOSE["]"])

    def _Slice(self, node: gast.Slice) -> None:
        bounds = (node.lower, node.upper, node.step)
        space = "" if all(is_simple_bound(bound) for bound in bounds) else " "
        if node.lower is not None:
            self.test(node.lower)
            self.write(space)
        self.write(":")
        if node.upper is not None:
            self.write(space)
            self.test(node.upper)
        if node.step is not None:
            self.write(":" if node.upper is None else space + ":")
            self.write(space)
            self.test(node.step)

    # Displays and comprehensions

    def _Tuple(self, node: gast.Tuple) -> None:
        if len(node.elts) == 1:
            self.write(OPEN["("])
            self.element(node.elts[0])
            self.write(",")
            self.write(CLOSE[")"])
        else:
            self.brackets("(", self.element, node.elts, ")")

    def _List(self, node: gast.List) -> None:
        self.brackets("[", self.element, node.elts, "]")

    def _Set(self, node: gast.Set) -> None:
        self.brackets("{", self.element, node.elts, "}")

    def _Dict(self, node: gast.Dict) -> None:
        items = list(zip(node.keys, node.values, strict=True))
        self.brackets("{", self._dict_item, items, "}")

    def _dict_item(self, item: tuple[gast.AST | None, gast.AST]) -> None:
        key, value = item
        if key is None:
            self.write("**")
            self.expression(value, Level.BIT_OR)
        else:
            self.test(key)
            self.write(": ")
            self.test(value)

    def _GeneratorExp(self, node: gast.GeneratorExp) -> None:
        self._comprehension_in("(", node, ")")

    def _ListComp(self, node: gast.ListComp) -> None:
        self._comprehension_in("[", node, "]")

    def _SetComp(self, node: gast.SetComp) -> None:
        self._comprehension_in("{", node, "}")

    def _DictComp(self, node: gast.DictComp) -> None:
        self._comprehension_in("{", node, "}")

    def _comprehension_in(self, opening: str, node: gast.AST, closing: str) -> None:
        self.write(OPEN[opening])
        self.write(GROUP)
        if type(node) is gast.DictComp:
            self._dict_item((node.key, node.value))
        else:
            self.element(node.elt)
        for generator in node.generators:
            self.dispatch(generator)
        self.write(END)
        self.write(CLOSE[closing])

    def _comprehension(self, node: gast.comprehension) -> None:
        self.write(SPACE)
        self.write("for ")
        if is_bare_tuple(node.target):
            interleave(lambda: self.write(", "), self.test, node.target.elts)
        else:
            self.test(node.target)
        self.write(" in ")
        self.expression(node.iter, Level.OR)
        for condition in node.ifs:
            self.write(SPACE)
            self.write("if ")
            self.expression(condition, Level.OR)

    # Atoms

    def _Name(self, node: gast.Name) -> None:
        self.write(node.id)

    def _Constant(self, node: gast.Constant) -> None:
        self.write(constant_text(node.value, self.quote))

    def _JoinedStr(self, node: gast.JoinedStr) -> None:
        """In the first quotes that the expressions in it do without."""
        quote = preferred_quote("".join(_literal_parts(node)), self.quote)
        other = _OTHER_QUOTE[quote]
        for delimiter in (quote, other, 3 * quote, 3 * other):
            parts = self._parts(node, delimiter)
            fields = [text for text, is_field in parts if is_field]
            if not any(delimiter in text or "\\" in text for text in fields):
                break
        else:  # only Python 3.12 and later read such fields
            self.expression(_formatted(node), Level.ATOM)
            return
        self.write("f" + delimiter + "".join(text for text, _ in parts) + delimiter)

    def _parts(self, node: gast.AST, delimiter: str) -> list[tuple[str, bool]]:
        """The texts that an f-string consists of, and whether each is a replacement field."""
        parts = []
        for value in node.values:
            if type(value) is gast.Constant:
                body = string_body(value.value).replace("{", "{{").replace("}", "}}")
                parts.append((escape_quotes(body, delimiter), False))
            else:
                parts.append((self._field(value, delimiter), True))
        return parts

    def _field(self, node: gast.AST, delimiter: str) -> str:
        """A replacement field: an expression, perhaps with a conversion and a format."""
        printer = ExpressionPrinter(_OTHER_QUOTE[delimiter[0]])
        # The colon of a lambda would start the format.
        printer.expression(node.value, Level.TEST, _ends_with_lambda(node.value))
        text = "".join(printer.tokens)
        if text.startswith("{"):
            text = f" {text} "
        if node.conversion != -1:
            text += "!" + chr(node.conversion)
        if node.format_spec is not None:
            text += ":" + "".join(part for part, _ in self._parts(node.format_spec, delimiter))
        return "{" + text + "}"


def _formatted(node: gast.JoinedStr) -> gast.Call:
    """An f-string as a call of `str.format`: "{:.3f}".format(x) for f"{x:.3f}"."""
    shown: list[gast.AST] = []

    def text_of(each: gast.AST) -> str:
        if isinstance(each, gast.Constant):
            return each.value.replace("{", "{{").replace("}", "}}")
        shown.append(each.value)
        conversion = "" if each.conversion == -1 else "!" + chr(each.conversion)
        spec = (
            "" if each.format_spec is None else ":" + "".join(map(text_of, each.format_spec.values))
        )
        return "{" + conversion + spec + "}"

    text = "".join(map(text_of, node.values))
    function = gast.Attribute(form.constant(text), "format", gast.Load())
    return gast.Call(function, shown, [])


def parameters_of(
    arguments: gast.arguments,
) -> Iterator[tuple[str, gast.Name | None, gast.AST | None]]:
    """Each parameter: the stars before it, its name and its default, None if it has none."""
    positional = arguments.posonlyargs + arguments.args
    without_default = len(positional) - len(arguments.defaults)
    for position, name in enumerate(positional):
        if position and position == len(arguments.posonlyargs):
            yield "/", None, None
        default = position - without_default
        yield "", name, arguments.defaults[default] if default >= 0 else None
    if arguments.posonlyargs and not arguments.args:
        yield "/", None, None
    if arguments.vararg is not None or arguments.kwonlyargs:
        yield "*", arguments.vararg, None
    for name, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield "", name, default
    if arguments.kwarg is not None:
        yield "**", arguments.kwarg, None


def is_bare_tuple(node: gast.AST) -> bool:
    """Whether node is a tuple that needs no parentheses where a bare tuple may stand."""
    return type(node) is gast.Tuple and len(node.elts) > 1


def _ends_with_lambda(node: gast.AST) -> bool:
    while type(node) is gast.IfExp:
        node = node.orelse
    return type(node) is gast.Lambda


def _literal_parts(node: gast.AST) -> Iterator[str]:
    """The literal text of an f-string."""
    for value in node.values:
        if type(value) is gast.Constant:
            yield value.value
        elif value.format_spec is not None:
            yield from _literal_parts(value.format_spec)
