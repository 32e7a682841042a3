"""Core as text for those who work on the compiler: one operation a line, blocks indented."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import describe
from s2s_ad.core.callee import item_of, items_of, reached
from s2s_ad.core.program import TEMPORARY, Input, Program
from s2s_ad.core.regions import Attempt, Branch, Region, region_of
from s2s_ad.core.sizes import Atom, atoms_of, size_text
from s2s_ad.core.tree import Tree

INDENT = "    "
LENGTHS = "nmpqrstuvw"  # what lengths that are not known are called
FACTS_AT = 44  # the column where facts begin

BINARY = {
    operator.add: "+",
    operator.eq: "==",
    operator.floordiv: "//",
    operator.ge: ">=",
    operator.gt: ">",
    operator.le: "<=",
    operator.lt: "<",
    operator.matmul: "@",
    operator.mod: "%",
    operator.mul: "*",
    operator.ne: "!=",
    operator.pow: "**",
    operator.sub: "-",
    operator.truediv: "/",
}
UNARY = {operator.neg: "-", operator.invert: "~", operator.not_: "not "}


@dataclass(frozen=True, slots=True)
class CoreLine:
    """One line of Core as text, and the statement that it shows, if it shows one."""

    text: str
    statement: form.Statement | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class CoreText:
    """A program line by line, and for each of its names the one that it is made of."""

    lines: list[CoreLine]
    families: dict[str, str]

    def __str__(self) -> str:
        return "\n".join(f"{INDENT * line.depth}{line.text}".rstrip() for line in self.lines)


class Stages(dict[str, Program]):
    """Programs by the name of the stage that they are of; they are shown one below the other."""

    def __repr__(self) -> str:
        return "\n\n".join(f"# {name}\n{program}" for name, program in self.items())


def program_text(program: Program, *, facts: bool = False) -> str:
    """The program, and below it the functions that it calls.

    Args:
        facts: write the abstract value of what each line computes behind it.
    """
    return str(core_text(program, facts=facts))


def program_texts(before: Program, after: Program) -> tuple[str, str]:
    """Two forms of one program, in which a Core name that both have is called the same."""
    names: dict[str, _Names] = {}
    return str(core_text(before, names=names)), str(core_text(after, names=names))


def core_text(
    program: Program, *, facts: bool = False, names: dict[str, _Names] | None = None
) -> CoreText:
    """The program, and the functions that it calls, line by line.

    Args:
        facts: write the abstract value of what each line computes behind it.
        names: what names are called, by function: kept for further programs.
    """
    writer = _Writer(facts, names)
    found = [*writer.function(program)]
    for each in reached((program,)):
        if not isinstance(each, Region) and not each.is_stub:
            for block in each.blocks:
                found += [CoreLine(""), *writer.function(block)]
    return CoreText(found, writer.families)


class _Names:
    """What the names of a program are called: what the user calls them, with numbers."""

    def __init__(self, families: dict[str, str]) -> None:
        self.shown: dict[str, str] = {}
        self.taken: set[str] = set()
        self.families = families

    def of(self, name: str, program: Program) -> str:
        if name not in self.shown:
            hint = program.hints.get(name, TEMPORARY)
            text = hint.text if hint.text and not iskeyword(hint.text) else "t"
            number, candidate = 2, text if text != "t" else "t1"
            while candidate in self.taken:
                candidate = f"{text}{number}" if text == "t" else f"{text}.{number}"
                number += 1
            self.taken.add(candidate)
            self.shown[name] = candidate
            self.families.setdefault(candidate, hint.of or hint.text or candidate)
        return self.shown[name]


class _Writer:
    """Writes programs; what is known of lengths is said in the same letters in all of them."""

    def __init__(self, facts: bool, names: dict[str, _Names] | None):
        self.facts, self.lengths = facts, _Lengths()
        self.families: dict[str, str] = {}
        self.names = _Names(self.families)
        self._known = names

    def function(self, program: Program) -> Iterator[CoreLine]:
        self.names = _Names(self.families)
        if self._known is not None:
            self.names = self._known.setdefault(program.name, self.names)
        inputs = ", ".join(self._input(each, program) for each in program.inputs)
        yield CoreLine(f"{program.name}({inputs}):")
        captured = [
            f"{self._name(each.name, program)} = {each.text}" for each in program.captured()
        ]
        if captured:
            yield CoreLine(f"captured {', '.join(captured)}", depth=1)
        yield from self.body(program, 1)
        yield CoreLine(f"return {self._tree(program.output, program)}", depth=1)

    def body(self, program: Program, depth: int) -> Iterator[CoreLine]:
        items = items_of(program)
        for statement in program.body:
            item = item_of(statement)
            if isinstance(statement, form.Effect):
                yield from self._effect(statement, program, depth)
            elif item is None or items[item[0]][item[1]] != statement.target:
                yield from self._statement(statement, program, items, depth)

    def _statement(
        self, statement: form.Op, program: Program, items: dict, depth: int
    ) -> Iterator[CoreLine]:
        name, region = statement.target, region_of(statement)
        used = items.get(name, {})
        count = statement.rule.count
        targets = [name] if count is None else [used.get(i) for i in range(count)]
        blocks: list[CoreLine] = []
        if region is None:
            text = self._operation(statement, program)
        else:  # what blocks compute is named before what the region hands out
            text, blocks = self._region(region, statement, program, depth)
        if targets:
            text = f"{self._targets(targets, program)} = {text}"
        yield self._line(text, statement, program, targets, depth)
        yield from blocks

    def _line(
        self,
        text: str,
        statement: form.Statement,
        program: Program,
        targets: Sequence[str | None],
        depth: int,
    ) -> CoreLine:
        if self.facts:
            known = ", ".join(
                self.lengths.fact(program.facts[each]) for each in targets if each is not None
            )
            text = f"{text.ljust(FACTS_AT - len(INDENT) * depth)}  # {known}" if known else text
        return CoreLine(text, statement, depth)

    def _targets(self, targets: Sequence[str | None], program: Program) -> str:
        return ", ".join("_" if each is None else self._name(each, program) for each in targets)

    # ---- blocks

    def _region(
        self, region: Region, statement: form.Op, program: Program, depth: int
    ) -> tuple[str, list[CoreLine]]:
        """The head of a region, and the lines of its blocks."""
        given = [self._atom(each, program) for each in statement.operands]
        if isinstance(region, Branch):
            inside = [
                *self._block(region.then, region.then.leaves(), given[1:], depth),
                CoreLine("else:", statement, depth),
                *self._block(region.orelse, region.orelse.leaves(), given[1:], depth),
            ]
            return f"if {given[0]}:", inside
        if isinstance(region, Attempt):
            inside = self._block(region.body, region.body.leaves(), given, depth)
            for handled, handler in zip(region.errors, region.handlers, strict=True):
                kinds = ", ".join(getattr(each, "__name__", str(each)) for each in handled.kinds)
                inside.append(CoreLine(f"except {kinds}:", statement, depth))
                inside += self._block(handler, handler.leaves(), given, depth)
            return "try:", inside
        return self._loop(region, given, statement, depth)

    def _loop(
        self, loop: Any, given: list[str], statement: form.Op, depth: int
    ) -> tuple[str, list[CoreLine]]:
        parts, leaves = loop.parts(given), loop.leaves(loop.body)
        for leaf, text in zip(leaves.fixed, parts.fixed, strict=True):
            self._alias(leaf, text)
        carried = [self._name(each, loop.body) for each in leaves.carried]
        starts = [f"{new} = {old}" for new, old in zip(carried, parts.carried, strict=True)]
        carrying = f" with {', '.join(starts)}" if starts else ""
        inside: list[CoreLine] = []
        if loop.is_for:
            span = ", ".join(_bounds(parts.bounds))
            order = "reversed " if loop.backwards else ""
            head = (
                f"for {self._name(leaves.bounds[0], loop.body)} in {order}range({span}){carrying}:"
            )
        else:
            head = f"while{carrying}:"
            tested = [*carried, *parts.fixed]
            inside += self._block(loop.test, loop.test.leaves(), tested, depth, "while")
        inside += self._block(loop.body, (), (), depth, "next")
        return head, inside

    def _block(
        self,
        block: Program,
        leaves: Iterable[str],
        given: Iterable[str],
        depth: int,
        hands: str = "give",
    ) -> list[CoreLine]:
        for leaf, text in zip(leaves, given, strict=False):
            self._alias(leaf, text)
        body = [*self.body(block, depth + 1)]
        outputs = ", ".join(self._atom(each, block) for each in block.outputs())
        return [*body, CoreLine(f"{hands} {outputs}".rstrip(), None, depth + 1)]

    def _alias(self, leaf: str, text: str) -> None:
        """A leaf that is always the same value is called what that is called."""
        self.names.shown[leaf] = text

    # ---- operations

    def _operation(self, statement: form.Op, program: Program) -> str:
        function = statement.function
        args = [self._atom(each, program) for each in statement.operands]
        params = {key: self._atom(each, program) for key, each in statement.parameters.items()}
        item = item_of(statement)
        if item is not None:
            return f"{self._name(item[0], program)}[{item[1]}]"
        if function in BINARY and len(args) == 2:
            return f"{args[0]} {BINARY[function]} {args[1]}"
        if function in UNARY and len(args) == 1:
            return f"{UNARY[function]}{args[0]}"
        if function is operator.getitem and "index" in params:
            return f"{args[0]}[{params['index']}]"
        known = [f"{key}={value}" for key, value in params.items()]
        return f"{self._function(statement)}({', '.join([*args, *known])})"

    def _function(self, statement: form.Op) -> str:
        if statement.function is statement.rule:
            return statement.rule.name
        return describe(statement.function).removeprefix("s2s_ad.runtime.")

    def _effect(self, statement: form.Effect, program: Program, depth: int) -> Iterator[CoreLine]:
        atoms = {each: form.name(self._name(each, program)) for each in statement.reads}
        node = gast.gast_to_ast(form.substitute(statement.node, atoms))
        text = ast.unparse(ast.fix_missing_locations(_plain(node)))
        for line in text.split("\n"):
            yield CoreLine(line, statement, depth)

    # ---- atoms

    def _name(self, name: str, program: Program) -> str:
        return self.names.of(name, program)

    def _atom(self, atom: gast.AST, program: Program) -> str:
        if isinstance(atom, gast.Name):
            return self._name(atom.id, program)
        if isinstance(atom, gast.Constant):
            return _constant(atom.value)
        if isinstance(atom, gast.Slice):
            bounds = [self._bound(each, program) for each in (atom.lower, atom.upper)]
            step = self._bound(atom.step, program)
            return ":".join([*bounds, *([step] if step else [])])
        items = ", ".join(self._atom(each, program) for each in atom.elts)
        if isinstance(atom, gast.List):
            return f"[{items}]"
        return f"({items},)" if len(atom.elts) == 1 else f"({items})"

    def _bound(self, atom: gast.AST | None, program: Program) -> str:
        return "" if atom is None else self._atom(atom, program)

    def _tree(self, value: Any, program: Program) -> str:
        if not isinstance(value, Tree):
            return self._atom(value, program)
        items = [self._tree(each, program) for each in value.items]
        return _container(value, items)

    def _input(self, each: Input, program: Program) -> str:
        def leaf(name: str) -> str:
            return f"{self._name(name, program)}: {self.lengths.fact(program.facts[name])}"

        star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        if not isinstance(each.tree, Tree):
            return leaf(each.tree)
        shown = tree.tree_map(leaf, each.tree)
        return f"{star.get(each.kind, '')}{each.name}: {_shown_tree(shown)}"


def _shown_tree(value: Any) -> str:
    if not isinstance(value, Tree):
        return value
    return _container(value, [_shown_tree(each) for each in value.items])


def _container(value: Tree, items: list[str]) -> str:
    if value.kind is tuple:
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if value.kind is list:
        return f"[{', '.join(items)}]"
    pairs = zip(value.keys, items, strict=True)
    if value.kind is dict:
        return f"{{{', '.join(f'{key!r}: {item}' for key, item in pairs)}}}"
    name = getattr(value.kind, "__name__", str(value.kind))
    return f"{name}({', '.join(f'{key}={item}' for key, item in pairs)})"


def _bounds(bounds: list[str]) -> list[str]:
    """The bounds of a range as one writes them."""
    start, stop, step = bounds
    if step != "1":
        return bounds
    return [stop] if start == "0" else [start, stop]


def _constant(value: Any) -> str:
    if value is values.UNDEFINED:
        return "undefined"
    if isinstance(value, np.dtype):
        return f"np.{value.name}"
    if isinstance(value, type) or callable(value):
        return describe(value)
    return repr(value)


class _Objects(ast.NodeTransformer):
    """The functions that an effect holds, as the names that they have."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        plain = value is None or isinstance(value, bool | int | float | complex | str | bytes)
        return node if plain or value is ... else ast.Name(_constant(value), ast.Load())


def _plain(node: ast.AST) -> ast.AST:
    return _Objects().visit(node)


class _Lengths:
    """Abstract values as text, with a letter for each length."""

    def __init__(self) -> None:
        self.names: dict[Atom, str] = {}

    def fact(self, fact: Any) -> str:
        """f64[n, 3], float, list of f64[n], ..."""
        if isinstance(fact, Tree):
            return _container(fact, [self.fact(each) for each in fact.items])
        if isinstance(fact, values.Scalar):
            return fact.kind.__name__
        if isinstance(fact, values.Static):
            return _constant(fact.value)
        if isinstance(fact, values.List):
            return f"list of {self.fact(fact.item)}"
        if isinstance(fact, values.Row):
            return f"({', '.join(kind.__name__ for kind in fact.kinds)})"
        if isinstance(fact, values.Word):
            return "str"
        if isinstance(fact, values.Error):
            return " | ".join(sorted(each.__name__ for each in fact.kinds))
        if isinstance(fact, values.Array):
            kind = "any" if fact.dtype is None else f"{fact.dtype.kind}{8 * fact.dtype.itemsize}"
            kind = "bool" if kind == "b8" else kind
            if fact.shape is None:
                return f"{kind}[...]"
            shape = ", ".join(self._dim(each) for each in fact.shape)
            return f"{kind}[{shape}]" if shape else kind
        return "any"

    def _dim(self, dim: Any) -> str:
        if isinstance(dim, int):
            return str(dim)
        for factor in sorted(atoms_of(dim.size), key=lambda each: each.serial):
            if factor not in self.names:
                number = len(self.names)
                again = number // len(LENGTHS)
                self.names[factor] = LENGTHS[number % len(LENGTHS)] + (str(again) if again else "")
        return size_text(dim.size, self.names)


__all__ = ["CoreLine", "CoreText", "Stages", "core_text", "program_text", "program_texts"]
