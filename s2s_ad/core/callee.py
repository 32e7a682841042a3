"""Operations with programs inside, and the calls of functions that keep their name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import DERIVED, Builder, Symbol
from s2s_ad.core.magnitudes import may_be_infinite, may_overflow
from s2s_ad.core.program import Program
from s2s_ad.core.rule import ITEM, Rule
from s2s_ad.core.sharing import lazy
from s2s_ad.core.sizes import Size, are_met

#: what is asked of the outputs of blocks, by the name of the attribute that answers for all
MAGNITUDES = {"has_poles": may_be_infinite, "overflows": may_overflow}


class Compound(Rule):
    """An operation with programs inside: `blocks`.

    With several outputs the result is a tuple, which `ITEM` takes apart. What the transforms
    derive from it is remembered in `derived`, so that each form is made once.
    """

    of_complex = True
    is_stub = False
    #: programs that transforms derive from instead of the blocks
    told_derivatives: tuple[Program, ...] = ()

    def __init__(self, name: str, blocks: Sequence[Program]):
        super().__init__(self, name)
        self.blocks = tuple(blocks)
        self.derived: dict[Any, Any] = {}

    @lazy
    def effects(self) -> bool:  # type: ignore[override]
        """Whether a block, or a function that it calls, does more than to compute values."""
        seen: dict[int, Compound] = {id(self): self}
        waiting: list[Compound] = [self]
        while waiting:
            for statement in (each for block in waiting.pop().blocks for each in block.body):
                inner = compound_of(statement)
                if inner is None:
                    if has_effect(statement):
                        return True
                elif inner.asks_blocks and "effects" in inner.__dict__:
                    if inner.effects:  # asked before
                        return True
                elif id(inner) not in seen:
                    seen[id(inner)] = inner
                    waiting.append(inner)
        for inner in seen.values():  # what they come to, we came to
            if inner.asks_blocks:
                inner.__dict__["effects"] = False
        return False

    @lazy
    def checks(self) -> bool:  # type: ignore[override]
        """Whether something in a block raises where arguments do not fit."""
        self.__dict__["checks"] = False  # what a function that calls itself knows meanwhile
        self.__dict__["checks"] = any(
            checks(statement, block.fact) for block in self.blocks for statement in block.body
        )
        return self.__dict__["checks"]

    @lazy
    def inside(self) -> tuple[Size, ...]:
        """What is required (see `form.Op`) by the statements of its blocks."""
        self.__dict__["inside"] = ()  # what a function that calls itself knows meanwhile
        every = (each for block in self.blocks for each in block.body)
        found = dict.fromkeys(size for each in every for size in required_by(each))
        self.__dict__["inside"] = tuple(found)
        return self.__dict__["inside"]

    @lazy
    def has_poles(self) -> bool:  # type: ignore[override]
        """Whether an output may be infinite, or nan, where what the blocks are given is finite."""
        return self._gives("has_poles")

    @lazy
    def overflows(self) -> bool:  # type: ignore[override]
        """Whether an output may be infinite because an exponential is."""
        return self._gives("overflows")

    def judged_by(self, outputs: Iterable[Any]) -> Self:
        """Note whether outputs are finite, as these values say, which know more around them."""
        outputs = [each for each in outputs if isinstance(each, Symbol)]
        for question, asked in MAGNITUDES.items():
            self.__dict__[question] = any(asked(each.builder, each) for each in outputs)
        return self

    def grows_with(self, operands: list) -> tuple[int, ...]:
        return tuple(range(len(operands)))

    def _gives(self, question: str) -> bool:
        if self.is_stub:
            return True  # until its body is known
        self.__dict__[question] = False  # what a function that calls itself knows meanwhile
        insides = [(Builder.of(block), block.outputs()) for block in self.blocks]
        names = (
            (inside, a.id) for inside, atoms in insides for a in atoms if isinstance(a, gast.Name)
        )
        asked = MAGNITUDES[question]
        self.__dict__[question] = any(asked(each, Symbol(each, name)) for each, name in names)
        return self.__dict__[question]

    @property
    def asks_blocks(self) -> bool:
        """Whether its effects are those of its blocks."""
        return type(self).effects is Compound.effects

    @property
    def count(self) -> int | None:
        """The number of outputs where the result is a tuple; None where it is one value."""
        raise NotImplementedError

    @property
    def several(self) -> bool:
        return self.count is not None

    def call(self, builder: Builder, operands: Sequence[Any]) -> list:
        """Emit the operation; returns the value of each output."""
        result = builder.emit(self, list(operands), {})
        return self.items(builder, result)

    def items(self, builder: Builder, result: Symbol) -> list:
        if self.count is None:
            return [result]
        return [builder.emit_item(result, index) for index in range(self.count)]


class Callee(Compound):
    """A Program as the function of an operation; its operands are the program's leaves.

    A function that calls itself is first a stub, a program with its inputs and outputs and no
    body, and is given its body by `define` when that is known.
    """

    def __init__(self, program: Program, *, stub: bool = False):
        super().__init__(program.name, (program,))
        self.is_stub = stub
        self._calls_itself: bool | None = None  # None until that is certain

    @property
    def program(self) -> Program:
        return self.blocks[0]

    def with_program(self, change: Callable[[Program], Program]) -> Callee:
        """The callee with a changed program, which calls what is made here where it calls this."""
        made = copy.copy(self)
        made.function, made.derived = made, {}
        self.derived[change] = made
        made.blocks, made._calls_itself = (change(self.program),), None
        _forget(made)
        return made

    def define(self, program: Program) -> Callee:
        """Give a stub its body; returns the callee."""
        self.blocks, self.is_stub = (program,), False
        _forget(self)
        if self.is_recursive:
            for each in reached(self.blocks):
                _forget(each)  # what was said of the stub
        return self

    @property
    def gives_outputs(self) -> bool:
        """Whether its result is the output of its program, and nothing else."""
        return type(self) is Callee and not self.is_stub

    @property
    def is_recursive(self) -> bool:
        """Whether it calls itself, perhaps through others."""
        if self._calls_itself is not None:
            return self._calls_itself
        seen: set[int] = set()
        waiting, has_stub = list(self.blocks), self.is_stub
        while waiting:
            for compound in waiting.pop().compounds:
                if compound is self:
                    self._calls_itself = True
                    return True
                # what we come to comes to us only if it calls itself, too
                if id(compound) in seen or getattr(compound, "_calls_itself", None) is False:
                    continue
                seen.add(id(compound))
                has_stub |= compound.is_stub
                waiting += compound.blocks
        self._calls_itself = None if has_stub else False
        return False

    def required(self, builder: Builder, operands: list, params: dict[str, Any]) -> list[Size]:
        return [*self.inside]

    @property
    def count(self) -> int | None:
        output = self.program.output
        return len(output.items) if isinstance(output, tree.Tree) else None

    def infer(self, operands: list, params: dict[str, Any]) -> Any:
        program = self.program
        own = [program.facts[name] for name in program.leaves()]
        captured = [program.facts[each.name] for each in program.captured()]
        lengths = values.Lengths([*own, *captured], [*operands, *captured])
        return tree.tree_map(lambda atom: lengths.translated(program.fact(atom)), program.output)


def _forget(compound: Compound) -> None:
    for question in ("effects", "checks", "inside", *MAGNITUDES):
        compound.__dict__.pop(question, None)


def reached(blocks: Sequence[Program]) -> list[Compound]:
    """All operations with programs inside that the blocks come to, each once."""
    found: dict[int, Compound] = {}
    waiting = list(blocks)
    while waiting:
        for compound in waiting.pop().compounds:
            if id(compound) not in found:
                found[id(compound)] = compound
                waiting += compound.blocks
    return list(found.values())


def has_effect(statement: form.Statement) -> bool:
    """Whether the statement does more than to compute a value."""
    return statement.rule.effects


def drawn(program: Program) -> Iterator[form.Statement]:
    """The operations in it that give another value each time: draws, clocks."""
    for each in (program, *(block for inner in reached([program]) for block in inner.blocks)):
        for statement in each.body:
            simple = isinstance(statement, form.Op) and compound_of(statement) is None
            if simple and has_effect(statement):
                yield statement


def draws(blocks: Sequence[Program]) -> bool:
    """Whether anything in them draws random numbers from a state that was there before."""
    found = (each for block in blocks for each in drawn(block))
    return any(each.rule.draws(each.operands) for each in found)


def seeds(program: Program) -> bool:
    """Whether it sets the state that draws of random numbers come from."""
    return any(each.rule.seeds for each in drawn(program))


def may_run_again(body: Iterable[form.Statement]) -> bool:
    """Whether a run of the statements that ended early leaves nothing behind: no print, no draw.

    What raises, or asserts, ends a run.
    """
    waiting, seen = [body], set()
    while waiting:
        for statement in waiting.pop():
            if isinstance(statement, form.Effect):
                if any(isinstance(node, gast.Expr) for node in gast.walk(statement.node)):
                    return False
                continue
            inner = compound_of(statement)
            if inner is None or not inner.asks_blocks:
                if has_effect(statement):
                    return False
                continue
            fresh = [block for block in inner.blocks if id(block) not in seen]
            seen.update(map(id, fresh))
            waiting += [block.body for block in fresh]
    return True


def is_watched(statement: form.Statement) -> bool:
    """Whether `np.errstate` says that it raises where a number overflows, or is none.

    That is said of the user's operations, not of what derivatives compute beside them.
    """
    origin = statement.origin
    return origin is not None and origin.raises and statement.phase not in DERIVED


def checks(statement: form.Statement, fact: Callable[[gast.AST], Any]) -> bool:
    """Whether a statement of the user's may raise because arguments do not fit, or because
    `np.errstate` says so: it runs, though nobody reads its result."""
    if statement.phase in DERIVED:
        return False
    if statement.rule.checks or is_watched(statement):
        return may_raise(statement, fact)
    if isinstance(statement, form.Effect):
        return False
    return statement.waits


def may_be_out_of_range(statement: form.Statement) -> bool:
    """Whether an index of the user's may be out of range: that raises, too.

    What it is asked of is assumed where the lengths of a call say so: of what is read nobody asks.
    """
    return not are_met(required_by(statement))


def required_by(statement: form.Statement) -> tuple[Size, ...]:
    """What a statement of the user's requires (see `form.Op`), one with blocks all that they do."""
    if statement.phase in DERIVED or isinstance(statement, form.Effect):
        return ()
    compound = compound_of(statement)
    if compound is None or isinstance(compound, Callee):
        return statement.required
    return compound.inside


def may_raise(statement: form.Statement, fact: Callable[[gast.AST], Any]) -> bool:
    """Whether a statement may raise an exception; `fact` gives the abstract value of an atom."""
    if isinstance(statement, form.Effect):
        return True
    compound = compound_of(statement)
    if compound is not None:
        return not compound.marker and _blocks_may_raise(compound)
    rule, result = statement.rule, fact(form.name(statement.target))
    if is_watched(statement) and rule.computes(result):
        return True
    return rule.may_raise([*map(fact, statement.operands)], result)


def _blocks_may_raise(compound: Compound) -> bool:
    """Whether something in its programs may raise; of a function not known yet anything may."""
    return getattr(compound, "is_stub", False) or any(
        may_raise(statement, block.fact)
        for each in (compound, *reached(compound.blocks))
        for block in each.blocks
        for statement in block.body
        if compound_of(statement) is None
    )


def compound_of(statement: form.Statement) -> Compound | None:
    """The function of an operation with programs inside."""
    return statement.rule if isinstance(statement.rule, Compound) else None


def callee_of(statement: form.Statement) -> Callee | None:
    """The function of a call that keeps its name."""
    return statement.rule if isinstance(statement.rule, Callee) else None


def captured_names(statement: form.Statement) -> list[str]:
    """The captured names that the programs of the statement read, and those of its derivatives."""
    compound = compound_of(statement)
    programs = () if compound is None else (*compound.blocks, *compound.told_derivatives)
    return [each.name for program in programs for each in program.captured()]


def item_of(statement: form.Statement) -> tuple[str, int] | None:
    """(result, index) where the statement takes an output of a call."""
    if statement.rule is not ITEM:
        return None
    return statement.operands[0].id, statement.parameters["index"].value


def items_of(program: Program) -> dict[str, dict[int, str]]:
    """For each call with several outputs the name of each output that is used."""
    found: dict[str, dict[int, str]] = {}
    for statement in program.body:
        item = item_of(statement)
        if item is not None:
            found.setdefault(item[0], {})[item[1]] = statement.target
    return found
