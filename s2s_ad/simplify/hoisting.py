"""Arrays that each pass of a backward loop would compute alike are computed before it.

Where an earlier loop computes the same in each of its passes it stands before that, once for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from s2s_ad.core import form, values
from s2s_ad.core.builder import fresh_name
from s2s_ad.core.callee import Compound, has_effect, is_watched, may_raise
from s2s_ad.core.passes import Pass
from s2s_ad.core.program import TEMPORARY, Hint, Input, Program
from s2s_ad.core.regions import Loop, region_of, with_blocks
from s2s_ad.core.rule import Item
from s2s_ad.simplify.common import Key, handed_in, inside, key_of
from s2s_ad.simplify.presence import has_value, present_inside, runs


def hoist(program: Program) -> Program:
    """Take out of backward loops what is the same in each pass, where it takes work.

    What the user has written in a loop stays there, unless the derivative needs the same; numbers
    and views are as soon found again.

    Example:
        >>> import numpy as np
        >>> from s2s_ad import grad
        >>> from s2s_ad.check.passes import after
        >>> def f(x, w):
        ...     for _ in range(3):
        ...         x = np.sin(x) * np.abs(w)
        ...     return np.sum(x)
        >>> print(after(HOIST, grad(f), np.ones(3), np.ones(3)))
        f_grad(x: f64[n], w: f64[n]):
            t1 = list_of()
            t2 = np.abs(w)
            x.4, x_saved.3 = for _ in range(3) with x.2 = x, x_saved = t1:
                x_saved.2 = list_append(x_saved, x.2)
                t3 = np.sin(x.2)
                x.3 = t3 * t2
                next x.3, x_saved.2
            x_bar = broadcast_like(1.0, x.4)
            x_bar.4, _ = for _ in range(3) with x_bar.2 = x_bar, x_saved.4 = x_saved.3:
                x.2, x_saved.5 = list_pop(x_saved.4)
                sin_x_bar = x_bar.2 * t2
                t4 = np.cos(x.2)
                x_bar.3 = sin_x_bar * t4
                next x_bar.3, x_saved.5
            return x_bar.4
    """
    return _hoisted(program, program.leaves())


def hoist_called(program: Program) -> Program:
    """`hoist` of a function of ours, which may be given what only a pass of a loop has made."""
    return _hoisted(program, ())


def _hoisted(program: Program, there: Iterable[str]) -> Program:
    """`there` are names of the program that have a value whatever loops have run."""
    return _Hoisting(program, there).done()


class _Hoisting:
    """A program while loops hand out what each of their passes would compute alike."""

    def __init__(self, program: Program, there: Iterable[str]):
        self.program, self.there = program, {*there}
        self.body: list[form.Statement] = []
        self.facts, self.hints = dict(program.facts), dict(program.hints)

    def done(self) -> Program:
        for statement in self.program.body:
            region = region_of(statement)
            if region is not None:
                blocks = [
                    _hoisted(each, present_inside(statement, each, self.there))
                    for each in region.blocks
                ]
                statement = with_blocks(statement, region, blocks)
            if isinstance(statement.rule, Loop):
                statement = self._handed_out(statement, statement.rule)
            self.body.append(statement)
            if has_value(self.program, statement):
                self.there.add(statement.target)
        if len(self.body) == len(self.program.body):
            return self.program.with_body(self.body)
        return self.program.with_(body=tuple(self.body), facts=self.facts, hints=self.hints)

    def _handed_out(self, statement: form.Statement, loop: Loop) -> form.Statement:
        """The loop without what it computes in each pass alike, which stands before it now."""
        found = _alike(self.program, statement, loop, self.there)
        if not found:
            return statement
        ahead, made = _taken_out(statement, loop, found)
        for each, inner in zip(ahead, found, strict=True):
            self.facts[each.target] = loop.body.facts[inner.target]
            self.hints[each.target] = loop.body.hints.get(inner.target, TEMPORARY)
        moved: set[str] = set()
        for each in ahead:
            if _takes_work(self.facts, each):
                moved |= self._from_earlier(_what_it_needs(each, ahead), moved)
        self.body += [each for each in ahead if each.target not in moved]
        return made

    def _from_earlier(self, chain: list[form.Op], moved: Collection[str]) -> set[str]:
        """Take the last of these, and what it needs, out of an earlier loop that computes it, too.

        Returns the names that are had of that loop; none where no loop computes all of them.
        """
        body, hints = list(self.body), {}
        for statement in chain:
            if statement.target in moved:
                continue
            taken = self._taken_from(body, statement, {*moved, *hints})
            if taken is None:
                return set()
            hints[statement.target] = taken
        self.body = body
        self.hints |= {name: hint for name, hint in hints.items() if hint.text}
        return {*hints}

    def _taken_from(
        self, body: list[form.Statement], statement: form.Op, moved: Collection[str]
    ) -> Hint | None:
        """Put a statement before a loop in which it stands, too: what it is called there."""
        key = key_of(statement)
        if key is None or not self.there.union(moved).issuperset(statement.reads):
            return None
        for index, each in enumerate(body):
            told = _told(each, key, statement.target, self.facts[statement.target])
            if told is not None:
                body[index], hint = told
                body.insert(index, statement.at(statement.origin, "forward"))
                return hint
        return None


def _what_it_needs(statement: form.Op, ahead: Sequence[form.Op]) -> list[form.Op]:
    """The statement and those of `ahead` that it is computed from, in order."""
    needed = {statement.target}
    for each in reversed(ahead):
        if each.target in needed:
            needed.update(each.reads)
    return [each for each in ahead if each.target in needed]


def _told(
    statement: form.Statement, key: Key, name: str, fact: values.AbstractValue
) -> tuple[form.Op, Hint] | None:
    """A loop that is told what it has computed in each pass, and what that was called.

    None where it does not compute that, or each pass needs it for itself.
    """
    loop = region_of(statement)
    if not isinstance(loop, Loop):
        return None
    block = loop.body
    leaves = {each.name: each.name for each in block.captured()}
    own = inside(key, leaves | dict(handed_in(statement, block)))
    if own is None:
        return None
    changed, body = _changed(block), list(block.body)
    for index, each in enumerate(body):
        leaf = fresh_name()
        if key_of(each) == own and each.target not in changed and not is_watched(each):
            leaf, hint = each.target, block.hints.get(each.target, TEMPORARY)
            del body[index]
            break
        told = _told(each, own, leaf, fact)
        if told is not None:
            body[index], hint = told
            break
    else:
        return None
    blocks = []
    for each in loop.blocks:
        made = each.with_body(body) if each is block else each
        facts, hints = each.facts | {leaf: fact}, each.hints | {leaf: hint}
        blocks.append(
            made.with_(inputs=(*each.inputs, Input(leaf, leaf)), facts=facts, hints=hints)
        )
    operands = [*statement.operands, form.name(name)]
    return statement.with_call(loop.with_blocks(blocks), operands), hint


def _alike(
    program: Program, statement: form.Statement, loop: Loop, there: set[str]
) -> list[form.Op]:
    """The statements of a pass to take out, and what they read, in order.

    What a loop has made is there only where that ran, which nobody asks if this one does not.
    """
    block, parts = loop.body, loop.parts(statement.operands)
    fixed = zip(loop.leaves(loop.body).fixed, parts.fixed, strict=True)
    known = {
        leaf for leaf, atom in fixed if runs(loop, parts) or there.issuperset(form.reads(atom))
    }
    known |= {each.name for each in block.captured()} & {each.name for each in program.captured()}
    alike: dict[str, form.Op] = {}
    for each in block.body:
        if not isinstance(each, form.Op) or each.phase != "backward":
            continue
        if _is_plain(block, each) and known.issuperset(each.reads):
            known.add(each.target)
            alike[each.target] = each
    changed = _changed(block)
    wanted = [e for e in alike.values() if _takes_work(block.facts, e) and e.target not in changed]
    needed = {each.target for each in wanted}
    for each in reversed(alike.values()):
        if each.target in needed:
            needed.update(each.reads)
    return [each for each in alike.values() if each.target in needed]


def _is_plain(block: Program, statement: form.Op) -> bool:
    if has_effect(statement) or isinstance(statement.rule, Compound | Item):
        return False
    if statement.rule.distinct:
        return False
    operands, result = map(block.fact, statement.operands), block.facts[statement.target]
    if statement.rule.view:
        return statement.rule.fits(list(operands), result, form.literals(statement))
    return not may_raise(statement, block.fact)


def _takes_work(facts: Mapping[str, values.AbstractValue], statement: form.Op) -> bool:
    rule = statement.rule
    computes = not (rule.cheap or rule.view) and rule.like_position is None
    return computes and bool(values.shape_of(facts[statement.target]))


def _changed(block: Program) -> Collection[str]:
    """What is written to, or handed on to be: each pass needs an array of its own."""
    written = [each.operands[0] for each in block.body if each.rule.updates]
    return {name for atom in (*written, *block.outputs()) for name in form.reads(atom)}


def _taken_out(
    statement: form.Statement, loop: Loop, found: list[form.Op]
) -> tuple[list[form.Op], form.Statement]:
    """(statements before the loop, the loop to which their results are fixed)."""
    fixed = zip(loop.leaves(loop.body).fixed, loop.parts(statement.operands).fixed, strict=True)
    atoms, ahead = dict(fixed), []
    for each in found:
        atoms[each.target] = form.name(fresh_name())
        ahead.append(form.substitute(each, atoms))
    targets = [each.target for each in found]
    more = tuple(Input(name, name) for name in targets)
    blocks = []
    for block in loop.blocks:
        body = [each for each in block.body if each.target not in targets]
        made = block.with_(inputs=(*block.inputs, *more), body=tuple(body))
        blocks.append(made)
    operands = [*statement.operands, *(atoms[name] for name in targets)]
    return ahead, statement.with_call(loop.with_blocks(blocks), operands)


HOIST = Pass("hoist", hoist)
HOIST_CALLED = Pass("hoist", hoist_called)
