"""Both sweeps over a function that is called, of which its two passes are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2s_ad.core import form
from s2s_ad.core.builder import Builder, fresh_name
from s2s_ad.core.callee import Callee
from s2s_ad.core.magnitudes import hand_in
from s2s_ad.core.program import Program
from s2s_ad.core.rewriting import rewritten
from s2s_ad.core.tree import one_or_tuple
from s2s_ad.transforms import halves
from s2s_ad.transforms.calls import derived_callee, with_inputs
from s2s_ad.transforms.halves import adjoint_fact
from s2s_ad.transforms.scattered import Handed, Scattered, Whole, handed, handed_out


class Swept:
    """Both sweeps over a callee.

    Args:
        again: whether the backward pass runs the whole function again, and is handed nothing.
        whole: whether each adjoint is returned as a whole, and not its elements alone.
        extents: for each operand when that is so of elements.
        bounded: whether the adjoints that it is given are finite.
        repeated: whether the forward pass runs many times before the backward pass does.
        chosen: for the adjoints that are selections the kind of what says which elements they take.

    Attributes:
        extents: what they have at least to be for each leaf, so that this is right.
    """

    def __init__(
        self,
        outer: Any,
        call: Callee,
        active: tuple[bool, ...],
        seeds: tuple[int, ...],
        *,
        again: bool = False,
        whole: bool = False,
        extents: tuple[Whole, ...] = (),
        bounded: bool = False,
        repeated: bool = False,
        chosen: tuple[Any, ...] = (),
    ):
        self.program, self.builder = call.program, Builder()
        self.leaves, atoms = self.program.leaves(), self.program.outputs()
        wanted = [name for name, flag in zip(self.leaves, active, strict=True) if flag]
        swept = (self.builder, self.program, wanted, seeds)
        sweep = (
            outer.recomputing(*swept)
            if again
            else outer.inner(*swept, handed=True, repeated=repeated)
        )
        sweep.forward_sweep()
        kinds = chosen or (None,) * len(seeds)
        pairs = list(zip(seeds, kinds, strict=True))
        self.seeds = [sweep.seed_with_input(atoms[i], kind).name for i, kind in pairs]
        self.chosen = [each.name for each in sweep.chosen]
        sweep.entered.update(self.seeds, self.chosen)
        hand_in(self.builder, self.seeds, bounded=bounded)
        adjoints = sweep.backward_sweep()
        self.scattered: tuple[Scattered | Handed | None, ...] = (None,) * len(wanted)
        self.extents = dict.fromkeys(self.leaves, Whole.NEVER)
        if not whole:
            known = dict(zip(self.leaves, extents, strict=True))
            with self.builder.at(call.program.origin, "backward"):
                made = [handed_out(x, adjoints[x], self.leaves, known[x]) for x in wanted]
            for name, (adjoint, _, extent) in zip(wanted, made, strict=True):
                adjoints[name], self.extents[name] = adjoint, extent
            given = handed([adjoints[name] for name in wanted], self.seeds)
            pairs = zip(made, given, strict=True)
            self.scattered = tuple(own or other for (_, own, _), other in pairs)
        self.results = [
            value
            for name, elements in zip(wanted, self.scattered, strict=True)
            for value in _returned(adjoints[name], elements)
        ]
        self.outputs = [sweep.output(atom) for atom in atoms]
        everything = [*self.outputs, *self.results]
        more = [*self.seeds, *self.chosen]
        joint = halves.joint(self.builder, self.program, more, everything)
        self.joint = rewritten(joint, self._as_given) if self.chosen else joint

    def _as_given(self, statement: form.Statement) -> form.Statement | gast.AST:
        """An adjoint that is given as a selection is zero already where the mask is not."""
        if statement.function is not np.where:
            return statement
        mask, y_bar, _ = statement.operands
        names = getattr(mask, "id", ""), getattr(y_bar, "id", "")
        given = names[0] in self.chosen and names[1] in self.seeds
        returned = any(getattr(each, "name", "") == statement.target for each in self.results)
        return y_bar if given and not returned else statement

    def backward(self, made: halves.Halves, needed: list[str], unnamed: dict[str, str]) -> Callee:
        return derived_callee(
            with_inputs(self.joint, [*needed, *self.seeds, *self.chosen], unnamed),
            self.results,
            body=tuple(made.late),
            tried=False,
            name=f"{self.program.name}_backward",
            doc=f"backward pass of {self.program.doc}",
        )


def _returned(adjoint: Any, elements: Scattered | Handed | None) -> Sequence[Any]:
    """What the backward pass returns of an adjoint."""
    if elements is None:
        return [adjoint]
    return elements.added if isinstance(elements, Scattered) else []


def backward_stub(program: Program, active: tuple[bool, ...], seeds: tuple[int, ...]) -> Callee:
    """A backward pass of which the adjoints are known, and not yet how it computes them.

    An adjoint is like the leaf that it is of, which stands for it.
    """
    facts, atoms, leaves = dict(program.facts), program.outputs(), program.leaves()
    primals = [program.fact(atoms[i]) for i in seeds]
    y_bars = {fresh_name(): adjoint_fact(fact, fact) for fact in primals}
    nodes = tuple(form.name(name) for name, flag in zip(leaves, active, strict=True) if flag)
    output = one_or_tuple(nodes)
    made = program.with_(body=(), facts=facts | y_bars, output=output, tried=False)
    named = with_inputs(made, [*leaves, *y_bars], {}).with_(name=f"{program.name}_backward")
    return Callee(named, stub=True)
