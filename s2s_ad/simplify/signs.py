"""Values of which everybody reads the negative: that is computed in their place."""

from __future__ import annotations

import operator
from collections import defaultdict
from dataclasses import replace

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import DERIVED, fresh_name
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import everywhere

FARTHEST = 8  # operations between a negative and what can have another sign


def turn_signs(program: Program) -> Program:
    """The sign of a value goes into a number, or a difference, that it is computed from.

    Example:
        >>> from s2s_ad.check.passes import after
        >>> def f(x, y, w):
        ...     r = (x - y) / w
        ...     s = r * w
        ...     return -r, -s
        >>> print(after(TURN_SIGNS, f, 1.0, 2.0, 3.0, derived=True))
        f(x: float, y: float, w: float):
            t1 = y - x
            t2 = t1 / w
            t3 = t2 * w
            return (t2, t3)
    """
    turning = None
    for target in _candidates(program):
        turning = turning or _Turning(program)
        if turning.turn(target) and turning.saved > 0 and not turning.loses_names():
            program, turning = turning.program(), None
        else:
            turning.forget()
    return program


def _candidates(program: Program) -> list[str]:
    """What derivatives take the negative of, having computed it, and these negatives."""
    derived = [each for each in program.body if isinstance(each, form.Op) and each.phase in DERIVED]
    made = {each.target for each in derived}
    negatives = [each for each in derived if each.function is operator.neg]
    pairs = [name for each in negatives for name in (*each.reads, each.target)]
    return [each for each in dict.fromkeys(pairs) if each in made]


class _Turning:
    """Finds what has to have another sign so that one value has.

    Attributes:
        written: what the statements of which the result has the other sign become.
        by: the operand that gives a product, or another linear function, its other sign.
        read: what statements become that read such a result, and have none.
        gone: negatives, by their names what they are negatives of.
        saved: how many negatives are gone.
    """

    def __init__(self, program: Program):
        self.block = program
        self.made = {each.target: each for each in program.body if isinstance(each, form.Op)}
        self.readers: defaultdict[str, list[form.Statement | None]] = defaultdict(list)
        for each in program.body:
            for name in each.reads:
                self.readers[name].append(each)
        for atom in program.outputs():
            self.readers[getattr(atom, "id", "")].append(None)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.written: dict[str, form.Op | gast.AST] = {}
        self.by: dict[str, str] = {}
        self.read: dict[str, form.Op] = {}
        self.gone: dict[str, str] = {}
        self.saved = 0

    def turn(self, name: str, farthest: int = FARTHEST) -> bool:
        """Whether a value, and with it all that has to, may have the other sign."""
        if name in self.written:
            return True
        statement = self.made.get(name)
        if statement is None or statement.phase not in DERIVED or not farthest:
            return False
        if name in self.read or name in self.gone:
            return False  # it is the same again because of another value
        if not values.is_inexact(self.block.facts[name]):
            return False
        kept = dict(self.written), dict(self.by), dict(self.read), dict(self.gone), self.saved
        turned = self._source(statement, farthest) and self._spread(name)
        if not turned:
            self.written, self.by, self.read, self.gone, self.saved = kept
        return turned

    def _source(self, statement: form.Op, farthest: int) -> bool:
        """Whether what computes a value can give the other sign."""
        if statement.function is operator.neg:
            self.written[statement.target] = statement.operands[0]
            self.saved += 1
            return True
        if statement.function is operator.sub:
            self.written[statement.target] = statement.with_operands(statement.operands[::-1])
            return True
        if number := _with_other_number(statement):
            self.written[statement.target] = number
            return True
        self.written[statement.target] = statement
        for position in statement.rule.odd_in():
            source = getattr(statement.operands[position], "id", "")
            self.by[statement.target] = source
            if statement.reads.count(source) == 1 and self.turn(source, farthest - 1):
                return True
        return False

    def _spread(self, name: str) -> bool:
        """Whether all that reads a value can read the other sign."""
        return all(self._reads(each, name) for each in self.readers[name])

    def _reads(self, reader: form.Statement | None, name: str) -> bool:
        if not isinstance(reader, form.Op) or reader.phase not in DERIVED:
            return False
        if reader.reads.count(name) > 1 or reader.target in self.read:
            return False
        if reader.function is operator.neg:
            if reader.target not in self.written and reader.target not in self.gone:
                self.gone[reader.target] = name
                self.saved += 1
            return reader.target in self.gone
        if reader.target in self.written:
            return self.by.get(reader.target) == name
        if reader.rule.adds:
            return self._adds(reader, name)
        position = next((i for i, x in enumerate(reader.operands) if _is(x, name)), None)
        if position not in reader.rule.odd_in():
            return False
        if number := _with_other_number(reader):
            self.read[reader.target] = number
            return True
        self.written[reader.target], self.by[reader.target] = reader, name
        return self._spread(reader.target)

    def _adds(self, reader: form.Op, name: str) -> bool:
        """Subtract what was added, or add what was subtracted."""
        one, other = reader.operands
        if _is(one, name):
            if reader.function is operator.sub:
                return False
            one, other = other, one
        function = operator.add if reader.function is operator.sub else operator.sub
        self.read[reader.target] = reader.with_call(function, [one, other], reader.parameters)
        return True

    def loses_names(self) -> bool:
        """Whether a value that says what it is would be one without a name."""
        kept = {*self.gone.values()}  # its negative gives a name
        changed = {name for name, made in self.written.items() if isinstance(made, form.Op)}
        hints = [self.block.hints.get(name, TEMPORARY) for name in changed - kept]
        return any(each.kind != "temporary" and each.text for each in hints)

    def program(self) -> Program:
        """The block with those statements."""
        names = {name: negative for negative, name in self.gone.items()}
        atoms: dict[str, gast.AST] = {}
        facts, body = dict(self.block.facts), []
        for each in self.block.body:
            target = getattr(each, "target", "")
            if target in self.gone:
                atoms[target] = atoms[self.gone[target]]
                continue
            made = form.substitute(self.written.get(target, self.read.get(target, each)), atoms)
            if target not in self.written:
                body.append(made)
            elif isinstance(made, form.Op):
                name = names.get(target) or fresh_name()
                facts[name] = facts[target]
                atoms[target] = form.name(name)
                body.append(replace(made, target=name))
            else:
                atoms[target] = made
        output = tree.tree_map(lambda atom: form.substitute(atom, atoms), self.block.output)
        return self.block.with_(body=tuple(body), output=output, facts=facts)


def _is(atom: gast.AST, name: str) -> bool:
    return isinstance(atom, gast.Name) and atom.id == name


def _with_other_number(statement: form.Op) -> form.Op | None:
    """A product with a number, or a quotient of one, with that of the other sign."""
    if not statement.operands:
        return None
    number, *others = statement.operands
    if not isinstance(number, gast.Constant) or type(number.value) not in (int, float):
        return None
    if not statement.rule.elementwise or 0 not in statement.rule.odd_in():
        return None
    return statement.with_operands([form.constant(-number.value), *others])


TURN_SIGNS = Pass("turn-signs", everywhere(turn_signs))
