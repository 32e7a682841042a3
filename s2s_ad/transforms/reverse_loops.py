"""Reverse mode of loops: the passes once more, the last first.

What a pass computes and its backward half needs goes into a list, and is taken from its end. The
adjoints of what the loop carries are carried, and so are the adjoints of what is fixed, to which
each pass adds.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2s_ad import runtime
from s2s_ad.analysis import activity
from s2s_ad.analysis.elements import Nest
from s2s_ad.analysis.restoring import restoring
from s2s_ad.core import form, values
from s2s_ad.core.builder import Builder, Symbol, fresh_name, is_same, to_node
from s2s_ad.core.callee import Compound, has_effect, item_of
from s2s_ad.core.magnitudes import hand_in, is_steep, note_steep, relies, rely_on, stays_finite
from s2s_ad.core.parts import in_kind_of, is_one_number
from s2s_ad.core.program import TEMPORARY, Program
from s2s_ad.core.regions import Loop
from s2s_ad.core.rule import ITEM
from s2s_ad.core.tree import Tree
from s2s_ad.storage.costs import TYPICAL, cost_of_computing, cost_of_keeping
from s2s_ad.transforms import halves
from s2s_ad.transforms.halves import adjoint_fact
from s2s_ad.transforms.saving_loops import Carried, Pass, Saving, list_leaf
from s2s_ad.transforms.small import described


def reverse_loop(sweep: Any, statement: form.Op, loop: Loop, given: dict[int, Any]) -> list:
    """Write the backward pass of a loop: what it adds to adjoints of names."""
    return Backward(sweep, statement, loop, given).write()


class Backward:
    """The backward pass of one loop.

    Args:
        sweep: the sweep over the program that it stands in.
        given: the adjoints of its outputs.
    """

    def __init__(self, sweep: Any, statement: form.Op, loop: Loop, given: dict[int, Any]):
        self.outer, self.builder, self.loop = sweep, sweep.builder, loop
        self.body, self.leaves = loop.body, loop.leaves(loop.body)
        self.result: Symbol = sweep.atoms[statement.target]
        self.operands = loop.parts([sweep.output(each) for each in statement.operands])
        self.adjoints = self._active(statement, given)
        self.alike = {each.name for each in self.adjoints if self._is_one_number(each)}
        self.nest = self._nest(statement)
        self.arrays = self._arrays()

    def write(self) -> list[tuple[str, Any]]:
        """The names of operands, and their adjoints."""
        sweep, changed = self._sweep()
        carried = [each for each, _ in changed]
        found: list[tuple[str, Any]] = [
            (each.operand, each.start)
            for each in self.adjoints
            if each not in carried and each.operand is not None and each.start is not None
        ]
        if changed:
            made = self._divide(sweep, changed)
            saving = Saving(self.outer, self.loop, self.result, self.operands)
            lists, lasting, count = saving.write(made)
            items = self._backward(made, lists, lasting, count)
            pairs = [(each.operand, item) for each, item in zip(carried, items, strict=False)]
            found += [self._shaped(name, item) for name, item in pairs if name is not None]
        return found

    def _shaped(self, operand: str, adjoint: Symbol) -> tuple[str, Symbol]:
        """The adjoint of an operand, which has the shape of that."""
        primal = values.shape_of(self.builder.fact(self.outer.atoms[operand]))
        fact = adjoint.fact
        if isinstance(fact, values.Array) and primal and fact.rank == len(primal):
            self.builder.facts[adjoint.name] = replace(fact, shape=primal)
        return operand, adjoint

    def _active(self, statement: form.Op, given: dict[int, Any]) -> list[Carried]:
        """The adjoints to carry, with what they start from."""
        outer, args = self.outer, self.loop.parts(statement.operands)
        flags = [outer.name_of(each) in outer.active for each in statement.operands]
        varied = activity.varied_carried(self.loop, flags)
        found = []
        for index in sorted(varied & activity.useful_carried(self.loop, given)):
            start = given.get(index)
            leaf, operand = self.leaves.carried[index], self._operand(args.carried[index])
            found.append(Carried(leaf, fresh_name(), start, index, operand))
        first = len(args.bounds) + self.loop.carried
        useful = activity.useful_operands(self.loop, frozenset(given))
        for index, each in enumerate(args.fixed):
            operand = self._operand(each)
            if operand is not None and first + index in useful:
                start = outer.adjoints.pop(operand, None)
                found.append(Carried(self.leaves.fixed[index], fresh_name(), start, None, operand))
        return found

    def _is_one_number(self, each: Carried) -> bool:
        """Whether the adjoint of a list that the loop carries is one number for all that is in it.

        It stays that where the passes do no more than to append.
        """
        given = each.out is not None and each.start is not None
        is_list = isinstance(self.body.facts[each.leaf], values.List)
        return given and is_list and is_one_number(each.start)

    def _operand(self, atom: gast.AST) -> str | None:
        name = self.outer.name_of(atom)
        return name if name in self.outer.active else None

    # ---- the sweeps over the body

    def _sweep(self) -> tuple[Any, list[tuple[Carried, Any]]]:
        """Sweep over the body, with facts of the carried adjoints that hold for all passes."""
        found = {each.name: self._start_fact(each) for each in self.adjoints}
        facts = {each.name: self._fact(each, found[each.name]) for each in self.adjoints}
        starts = [each.start for each in self.adjoints]
        finite = {each.name for each in self.adjoints if stays_finite(self.builder, each.start)}
        unbounded = {each.name for each in self.adjoints} - finite
        while True:
            sweep, results = self._swept(facts, unbounded)
            changed = self.alike.intersection(each.name for each, _ in results)
            if changed:
                self.alike -= changed
                facts = {each.name: self._fact(each, found[each.name]) for each in self.adjoints}
                continue
            if relies(sweep.builder):
                for each in starts:
                    rely_on(self.builder, each)
                changing = {each.name: value for each, value in results}
                more = changing.keys() - unbounded  # what each pass leaves as it was stays finite
                if not all(stays_finite(sweep.builder, changing[name]) for name in more):
                    unbounded |= more
                    continue
            after = {
                each.name: values.join(facts[each.name], sweep.builder.fact(result))
                for each, result in results
                if isinstance(result, Symbol)
            }
            more = {
                each.name: self._fact(each, after.get(each.name, facts[each.name]))
                for each in self.adjoints
            }
            if all(halves.same_kind(facts[name], more[name]) for name in facts):
                self.facts = facts  # between passes
                self._note_steep(sweep, starts)
                return sweep, results
            facts = more

    def _note_steep(self, sweep: Any, starts: list) -> None:
        """Whether a pass may multiply zeros of the adjoints with what is infinite."""
        self.outer.steep = is_steep(sweep.builder)
        for each in starts if self.outer.steep else ():
            note_steep(self.builder, each)

    def _start_fact(self, each: Carried) -> Any:
        """The fact of what an adjoint is before the loop, where it has the precision of its value.

        A number of Python's that is an adjoint of one of NumPy's is converted there (`full`).
        """
        start = 0.0 if each.start is None else each.start
        given, primal = self.builder.fact(start), self.body.facts[each.leaf]
        is_number = isinstance(primal, values.Array) and primal.shape == ()
        if not (is_number and isinstance(given, values.Scalar)) or each.name in self.alike:
            return given
        if not isinstance(start, Symbol):
            return self.builder.fact(in_kind_of(self.builder, start, primal))
        return values.Array(primal.dtype, ()) if values.is_inexact(primal) else given

    def _fact(self, each: Carried, given: values.AbstractValue) -> Any:
        """The fact of a carried adjoint, of which `given` is known to be one."""
        if each.name in self.alike:
            return self._start_fact(each)
        primal = self.body.facts[each.leaf]
        if each.out is not None and not self._keeps_shape(each):
            primal = values.join(primal, self.body.fact(self.body.outputs()[each.out]))
        if isinstance(given, values.Scalar):
            given = primal if values.shape_of(primal) != () else given
        return adjoint_fact(primal, given)

    def _keeps_shape(self, each: Carried) -> bool:
        """Whether a pass leaves the shape of a value as it was."""
        if each.out is None:
            return True
        before = self.body.facts[each.leaf]
        after = self.body.fact(self.body.outputs()[each.out])
        if values.same_form(before, after):
            return True
        shape = values.shape_of(before)
        return shape is not None and shape == values.shape_of(after)

    def _swept(
        self, facts: Mapping[str, Any], unbounded: Collection[str]
    ) -> tuple[Any, list[tuple[Carried, Any]]]:
        """(the sweep, the adjoints that a pass changes and what they are after it)."""
        builder, atoms = Builder(), self.body.outputs()
        places = [each.out for each in self.adjoints if each.out is not None]
        wanted = [each.leaf for each in self.adjoints]
        sweep = self.outer.inner(builder, self.body, wanted, places, repeated=True)
        sweep.passing.update(self.leaves.carried)
        sweep.forward_sweep()
        if self.nest is not None and sweep.program is self.body:
            sweep.nest = self.nest
            for key, array in self.arrays.items():
                hint = self.builder.hints[array.name]
                sweep.arrays[key] = builder.adopt(fresh_name(), array.fact, hint)
        before = {}
        for each in self.adjoints:
            hint = self.body.hints.get(each.leaf, TEMPORARY).derived("_bar")
            fact = self._in_pass(sweep, each, facts[each.name])
            before[each] = builder.adopt(each.name, fact, hint)
            hand_in(builder, [each.name], bounded=each.name not in unbounded)
            if each.out is None:
                sweep.adjoints[each.leaf] = before[each]
        for each in self.adjoints:
            if each.name in self.alike and not isinstance(each.start, Symbol):
                before[each] = each.start
            if each.out is not None:
                sweep.seed(atoms[each.out], before[each])
        sweep.walk_back()
        with builder.at(self.body.origin, "backward"):
            after = [(each, self._after(sweep, each, before[each])) for each in self.adjoints]
        return sweep, [(each, value) for each, value in after if not is_same(value, before[each])]

    def _in_pass(self, sweep: Any, each: Carried, fact: Any) -> Any:
        """The fact of a carried adjoint in one pass: it has the shape of what the pass leaves."""
        if each.out is None or not isinstance(fact, values.Array) or self._keeps_shape(each):
            return fact
        left = values.shape_of(sweep.builder.fact(sweep.output(self.body.outputs()[each.out])))
        return fact if left is None or len(left) != fact.rank else replace(fact, shape=left)

    def _after(self, sweep: Any, each: Carried, before: Any) -> Any:
        """An adjoint after a pass; zero where the pass does not read the value."""
        if each.name in self.alike:
            return sweep.adjoints.get(each.leaf)
        if each.leaf in sweep.adjoints:
            return sweep.settled(each.leaf, sweep.adjoints[each.leaf])
        if self._keeps_shape(each) and not isinstance(before.fact, values.List):
            return sweep.full(0.0, before)
        return sweep.settled(each.leaf, 0.0)

    def _divide(self, sweep: Any, changed: list[tuple[Carried, Any]]) -> Pass:
        """Divide the sweeps over the body in two."""
        outputs = [sweep.output(atom) for atom in self.body.outputs()]
        results = [value for _, value in changed]
        names = [each.name for each in self.adjoints]
        like = [*self.leaves.fixed, *names]
        names += [each.name for each in sweep.arrays.values()]
        joint = halves.joint(sweep.builder, self.body, names, [*outputs, *results], like)
        carried, passing = outputs[: self.loop.carried], self.leaves.carried
        instead = halves.lengths(joint, like) | self._instead(sweep)
        options = {"passing": passing, "instead": instead, "repeated": True}
        options["given"] = self.body.leaves()
        lasting = self._lasting(joint)
        made = halves.halve(joint, results, free=lasting, **options)
        free = self._free(carried, made.kept)
        if free:
            made = halves.halve(joint, results, free=free | lasting, **options)
        plain = self._pass(sweep, changed, joint, made, lasting, {})
        return self._restoring(plain, carried, lasting, options)

    def _pass(
        self,
        sweep: Any,
        changed: list,
        joint: Program,
        made: halves.Halves,
        lasting: set[str],
        restored: dict[str, int],
    ) -> Pass:
        carried = [sweep.output(atom) for atom in self.body.outputs()][: self.loop.carried]
        shadows = self._shadows(carried, made.kept) | restored
        saved = [name for name in made.kept if name not in {*shadows, *lasting}]
        still = [name for name in made.kept if name in lasting]
        late = {each.target for each in joint.body if each.phase == "backward"}
        joint = described(joint, late.intersection(saved))
        return Pass(sweep, changed, joint, made, saved, shadows, still)

    def _restoring(self, best: Pass, carried: list, lasting: set[str], options: dict) -> Pass:
        """The pass with elements put back into arrays, where less is kept that way."""
        places: dict[int, tuple[str, str]] = {}
        joint, results = best.joint, [value for _, value in best.adjoints]
        late = (each.target for each in best.halves.late if isinstance(each, form.Op))
        needed = {*best.halves.kept, *late}
        for index, (leaf, value) in enumerate(zip(self.leaves.carried, carried, strict=True)):
            if not isinstance(value, Symbol) or value.name == leaf:
                continue
            found = restoring(joint, places | {index: (leaf, value.name)}, needed)
            if found is None or index not in found.after.values():
                continue
            more = [*results, *(Symbol(best.sweep.builder, name) for name in found.leaves)]
            made = halves.halve(found.program, more, free=lasting, restoring=found, **options)
            parts = (best.sweep, best.adjoints, found.program, made)
            other = self._pass(*parts, lasting, found.after)
            if self._cost(other) < self._cost(best):
                best, places = other, places | {index: (leaf, value.name)}
        return best

    def _cost(self, made: Pass) -> float:
        """What is kept in a pass; an array that is carried back is kept once for all passes."""
        facts = made.joint.facts
        cost = sum(cost_of_keeping(facts[name]) or 0 for name in made.saved)
        arrays = made.shadows if self.outer.repeated else ()
        return cost + sum(cost_of_keeping(facts[name]) or 0 for name in arrays) / TYPICAL

    def _lasting(self, joint: Program) -> set[str]:
        """The values that are the same in each pass and dearer to compute again than to keep.

        What passes of a loop inside have kept is none: the first that reads takes it off the list.
        """
        known = {*self.leaves.fixed, *(each.name for each in joint.captured())}
        found = set()
        for each in joint.body:
            if isinstance(each, form.Effect) or has_effect(each) or each.phase == "backward":
                continue
            if not known.issuperset(each.reads):
                continue
            name = each.target
            known.add(name)
            fact = joint.facts[name]
            keep, again = cost_of_keeping(fact), cost_of_computing(each, fact)
            inner = item_of(each) is not None or isinstance(each.rule, Compound)
            if isinstance(fact, Tree) or (inner and isinstance(fact, values.List | values.Saved)):
                continue
            if item_of(each) or again is None or (keep is not None and again > keep):
                found.add(name)
        return found

    def _arrays(self) -> dict[tuple[int, bool], Symbol]:
        """The arrays that the outermost loop writes, after it (True) and before it (False).

        In a loop that itself runs many times an array would have to be kept each time.
        """
        if self.nest is None:
            return {}
        if self.outer.nest is not None:
            return self.outer.arrays
        found = {}
        for array in self.nest.arrays:
            start = self.operands.carried[array.place]
            found[array.place, True] = self._final(array.place)
            if isinstance(start, Symbol):
                found[array.place, False] = start
        return found

    def _nest(self, statement: form.Op) -> Nest | None:
        outer = self.outer
        if outer.nest is not None:
            place = next(n for n, each in enumerate(outer.program.body) if each is statement)
            return outer.nest.inside(place)
        return None if outer.repeated else Nest.outermost(statement, outer.program)

    def _instead(self, sweep: Any) -> dict[str, form.Op]:
        """How values of a pass are read off the arrays that the outermost loop writes."""
        instead: dict[str, form.Op] = {}
        nest: Nest | None = sweep.nest
        if nest is None:
            return instead
        for name, each in nest.elements():
            array, value = sweep.arrays.get((each.place, each.lasts)), sweep.atoms[name]
            if array is None or not isinstance(value, Symbol) or value.name in instead:
                continue
            if not each.lasts and not self._is_worth_it(array, value, len(nest.levels)):
                continue
            index = to_node(sweep.builder.view(each.index, sweep.atoms))
            place = each.statement.origin, "forward"
            made = value.name, operator.getitem, [form.name(array.name)], {"index": index}
            instead[value.name] = form.op(*made, *place)
        return instead

    def _is_worth_it(self, array: Symbol, value: Symbol, depth: int) -> bool:
        """Whether the passes would keep as much as the whole array, which may have to be copied."""
        whole, kept = array.ndim, value.ndim
        return whole is not None and kept is not None and whole <= kept + depth

    def _free(self, carried: list, kept: list[str]) -> set[str]:
        """What a pass carries on where what it started from is kept: that of the next is this."""
        pairs = zip(self.leaves.carried, carried, strict=True)
        return {value.name for leaf, value in pairs if leaf in kept and isinstance(value, Symbol)}

    def _shadows(self, carried: list, kept: list[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for index, value in enumerate(carried):
            name, leaf = getattr(value, "name", None), self.leaves.carried[index]
            if name not in kept or leaf not in kept or name in found:
                continue
            first = leaf
            while first in found:
                first = self.leaves.carried[found[first]]
            if first != name:
                found[name] = index
        return found

    # ---- the backward loop

    def _backward(self, made: Pass, lists: list, lasting: list, count: Any) -> list:
        """Write the backward loop; returns its outputs, the adjoints first."""
        writer, leaves = halves.writer(made.joint), self.leaves
        popped = [list_leaf(writer, name) for name in made.saved]
        with writer.at(self.body.origin, "backward"):
            rests = [
                self._pop(writer, items, name)
                for items, name in zip(popped, made.saved, strict=True)
            ]
        writer.body += made.halves.late
        fixed = [i for i, name in enumerate(leaves.fixed) if name in made.halves.read]
        index = leaves.bounds or [writer.symbol(values.Scalar(int)).name]
        carried = [each.name for each, _ in made.adjoints]
        carried += [*(each.name for each in popped), *made.shadows]
        still = self._still(made)
        names = [*index, *carried, *(leaves.fixed[i] for i in fixed)]
        names += [each.name for each in still]
        arrays = {
            each.name: self.arrays[key]
            for key, each in made.sweep.arrays.items()
            if each.name in made.halves.read
        }
        names += [*arrays, *made.lasting]
        nexts = [Symbol(writer, leaves.carried[place]) for place in made.shadows.values()]
        outputs = [*(value for _, value in made.adjoints), *rests, *nexts]
        writer.facts |= {each.name: self.facts[each.name] for each, _ in made.adjoints}
        body = halves.written(writer, made.joint, names, outputs)
        indexed = self.loop.is_for and index[0] in made.halves.read
        bounds, backwards = self._bounds(indexed, lists, count)
        starts = [self._start(each) for each, _ in made.adjoints]
        starts += [*lists, *(self._final(place) for place in made.shadows.values())]
        operands = [*bounds, *starts, *(self.operands.fixed[i] for i in fixed)]
        operands += [*map(self._start, still), *arrays.values(), *lasting]
        loop = Loop(body, len(carried), backwards=backwards)
        return loop.judged_by(value for _, value in made.adjoints).call(self.builder, operands)

    def _still(self, made: Pass) -> list[Carried]:
        """The adjoints that no pass changes, and the passes read."""
        moving = [each for each, _ in made.adjoints]
        read = made.halves.read
        return [each for each in self.adjoints if each not in moving and each.name in read]

    def _pop(self, writer: Builder, items: Symbol, name: str) -> Symbol:
        """Take a value from its list; returns the rest of the list."""
        pair = writer.call(runtime.list_pop, (items,), {})
        halves.define(writer, name, ITEM, [pair], index=0)
        rest = writer.emit_item(pair, 1)
        return writer.named(rest, writer.hints[items.name])

    def _final(self, index: int) -> Symbol:
        return self.builder.emit_item(self.result, index)

    def _start(self, each: Carried) -> Any:
        """What a carried adjoint is before the loop."""
        adjoint = 0.0 if each.start is None else each.start
        if each.name in self.alike:
            return adjoint
        if each.out is not None:
            return self.outer.full(adjoint, self._final(each.out))
        return self.outer.full(adjoint, self.operands.fixed[self.leaves.fixed.index(each.leaf)])

    def _bounds(self, indexed: bool, lists: list[Symbol], count: Any) -> tuple[list, bool]:
        """The range that the backward loop runs over, and whether from its end."""
        loop, bounds = self.loop, self.operands.bounds
        if loop.is_for and not loop.exits:
            return bounds, indexed and not loop.backwards
        if lists:
            count = np.size(lists[0], 0)
        if not indexed:
            return [0, count, 1], False
        start, stop, step = bounds
        if not loop.backwards:
            return [start, start + count * step, step], True
        length = stop - start if _is_one(step) else -((start - stop) // step)
        return [start + (length - count) * step, start + length * step, step], False


def _is_one(value: Any) -> bool:
    return type(value) is int and value == 1
