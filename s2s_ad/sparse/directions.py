"""The transform behind sparse Jacobians: the tangents of a function along many directions."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import gast
import numpy as np

from s2s_ad.api import check_arguments
from s2s_ad.api.arguments import Arguments
from s2s_ad.api.transform import BY_POSITION, Differentiation, free_name, located
from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, Symbol
from s2s_ad.core.program import Hint, Input, Program
from s2s_ad.diagnostics import UnsupportedError
from s2s_ad.transforms.batches import batched_program
from s2s_ad.transforms.calls import without_effects
from s2s_ad.transforms.common import check_output, check_real, finished, is_floating, pair
from s2s_ad.transforms.gradients import cotangent_program, tangent_program


@dataclass(frozen=True)
class Directions(Differentiation):
    """(seeds, inputs) -> the tangent of the output along each seed, `vmap(jvp)`, in rows.

    A seed is a row, too, whatever the shape of the input. With `reverse` the seeds are adjoints of
    the output, and the results adjoints of the input.
    """

    reverse: bool = False

    def signature(self, inner: inspect.Signature) -> inspect.Signature:
        seeds = inspect.Parameter(free_name("seeds", {*inner.parameters}), BY_POSITION)
        if any(
            each.kind is inspect.Parameter.POSITIONAL_ONLY for each in inner.parameters.values()
        ):
            seeds = seeds.replace(kind=inspect.Parameter.POSITIONAL_ONLY)
        return inner.replace(parameters=[seeds, *inner.parameters.values()])

    def _own(self, arguments: Arguments) -> Arguments:
        """What the function inside is called with."""
        parameters = list(arguments.signature.parameters.values())[1:]
        facts = {each.name: arguments.facts[each.name] for each in parameters
                 if each.name in arguments.facts}  # fmt: skip
        return Arguments(inspect.Signature(parameters), facts)

    def inside(self, arguments: Arguments, inner: inspect.Signature) -> Arguments:
        return Arguments(inner, self._own(arguments).facts)

    def inner_call(self, bound: inspect.BoundArguments) -> tuple[tuple, dict] | None:
        return bound.args[1:], bound.kwargs

    def required(self, signature: inspect.Signature) -> list[str]:
        return super().required(self._own(Arguments(signature, {})).signature)

    def check(self, label: str, arguments: Arguments) -> None:
        own = self._own(arguments)
        super().check(label, own)
        for slot in located(self.positions, own, label):
            if isinstance(own.at(slot), tree.Tree):
                raise UnsupportedError(
                    "S2S303",
                    f"{label}: {slot.text()} is a container: a sparse Jacobian is by one array",
                    help="join its arrays into one, and take them apart inside the function",
                )
            check_arguments.check_real(label, slot.text, own.at(slot))

    def watched(self, arguments: Arguments) -> set[str]:
        return super().watched(self._own(arguments)) | {next(iter(arguments.signature.parameters))}

    def programs(self, program: Program, arguments: Arguments) -> list[Program]:
        (target,) = self.targets(program, self._own(arguments))
        check_output(program, program.result)
        outputs = tree.leaves(program.result)
        self._check_leaves(program, outputs)
        subject = without_effects(program.with_(output=program.result, writes=()))
        if self.reverse:
            subject = subject.with_(output=outputs[0])
            made = cotangent_program(subject, pair(target))
            wanted = made.output.items[1].items
        else:
            made = tangent_program(subject, [target])
            wanted = tree.leaves(made.output.items[1])
        seed = made.leaves()[-1]
        axes = [0 if name == seed else None for name in made.leaves()]
        batched = batched_program(made.with_(output=pair(*wanted)), axes, 0)
        like = outputs[0] if self.reverse else form.name(target.tree)
        first = next(iter(arguments.signature.parameters.values()))
        given = Input(first.name, seed, first.kind)
        return [_flat(batched, given, subject.with_(output=like))]

    def _check_leaves(self, program: Program, outputs: list) -> None:
        several = self.reverse and isinstance(program.result, tree.Tree)
        if several or not all(is_floating(program, each) for each in outputs):
            raise UnsupportedError(
                "S2S304",
                f"{program.name} returns other than one array of floating-point numbers",
                origin=program.origin,
                help="join what it returns into one array",
            )
        check_real(program, [each for each in outputs if isinstance(each, gast.Name)])


def _flat(program: Program, given: Input, like: Program) -> Program:
    """The program with its seeds first, each a row of the length of `like`; so are the results."""
    builder, seed = Builder(), given.tree
    leaves = {each: builder.import_name(program, each) for each in program.leaves() if each != seed}
    shape = builder.splice(like, leaves)
    rank = shape.ndim if isinstance(shape, Symbol) else 0
    dtype = values.strong_dtype(program.facts[seed])
    rows = values.Array(dtype, (values.fresh_dim(), values.fresh_dim()))
    seeds = builder.adopt(seed, rows, Hint(given.name, "user"))
    count = np.size(seeds, 0)
    sizes = [np.size(shape, axis) for axis in range(rank)]
    leaves[seed] = seeds if rank == 1 else np.reshape(seeds, (count, *sizes))
    found = [
        each if each.ndim == 2 else np.reshape(each, (count, -1))
        for each in builder.splice(program, leaves).items
    ]
    return finished(
        builder,
        program,
        name=program.name,
        doc=program.doc,
        inputs=(given, *(each for each in program.inputs if each.tree != seed)),
        output=found[0] if len(found) == 1 else np.concatenate(found, axis=1),
    )
