"""What every composition needs: targets, outputs, and finishing a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2s_ad.core import form, tree, values
from s2s_ad.core.builder import Builder, to_node
from s2s_ad.core.passes import run
from s2s_ad.core.program import Program
from s2s_ad.core.tree import Tree
from s2s_ad.diagnostics import (
    ArgumentTypeError,
    ArgumentValueError,
    DerivativeError,
    InternalError,
)
from s2s_ad.simplify.pipelines import AFTER


@dataclass(frozen=True, slots=True)
class Target:
    """What is differentiated: its position in the call or its name, a name for it, its leaves."""

    identity: int | str
    name: str
    tree: Any


def finished(
    builder: Builder, program: Program, *, written: Sequence[Any] = (), **changes: Any
) -> Program:
    """The program that the builder holds, simplified; `output` is given as a Tree of values.

    `written` are the new values of the Parameters that the program changes.
    """
    if len(written) != len(program.writes):
        raise InternalError("S2S901", f"{program.name}: what is written to Parameters was lost")
    output = pair(changes["output"], *written) if program.writes else changes["output"]
    changes["output"] = tree.tree_map(to_node, output)
    return run(builder.as_body_of(program, derived=True, **changes), AFTER)


def pair(*items: Any, kind: type = tuple) -> Tree:
    return Tree(kind, tuple(range(len(items))), items)


def refill(structure: Any, leaves: Sequence[Any]) -> Any:
    """The structure with its leaves replaced in order."""
    rest = iter(leaves)
    return tree.tree_map(lambda _: next(rest), structure)


def has_gradient(program: Program, leaf: str) -> bool:
    """Whether a leaf of an input may hold floating-point numbers: a name or a count has none.

    Raises:
        DerivativeError: they stand in tuples of a list that is one input.
    """
    fact = program.facts[leaf]
    if values.holds_rows(fact):
        raise DerivativeError("S2S303", "a list of tuples, as one input, has no gradient")
    return values.is_inexact(fact) is not False


def wanted_leaves(program: Program, targets: Sequence[Target]) -> list[str]:
    """The leaves of the targets that have a gradient, each once."""
    leaves = [leaf for target in targets for leaf in tree.leaves(target.tree)]
    return list(dict.fromkeys(leaf for leaf in leaves if has_gradient(program, leaf)))


def for_gradients(program: Program, structure: Any, change: Callable[[str], Any]) -> Any:
    """The leaves of a target changed; None where there is no gradient."""
    return tree.tree_map(
        lambda leaf: change(leaf) if has_gradient(program, leaf) else None, structure
    )


def with_respect_to(targets: Sequence[Target]) -> str:
    names = [target.name for target in targets]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def split_aux(program: Program, has_aux: bool) -> tuple[Any, Any]:
    """The output that is differentiated, and the rest."""
    output = program.result
    if not has_aux:
        return output, None
    if not isinstance(output, Tree) or output.kind is not tuple or len(output.items) < 2:
        raise ArgumentValueError(
            "S2S502",
            "has_aux=True needs a function that returns a tuple of two or more, "
            f"{program.name} returned {_returned(program, output)}",
            origin=program.origin,
            help="return (loss, aux), or leave has_aux out",
        )
    return output.items[0], pair(*output.items[1:])


def bare_aux(aux: Tree) -> Any:
    """The rest of the output as jvp, vjp and the Jacobians give it: one output comes bare."""
    return aux.items[0] if len(aux.items) == 1 else aux


def check_output(program: Program, output: Any) -> list[gast.AST]:
    """The floating-point leaves of what is differentiated; there has to be one, or a constant.

    The derivative of a constant, be it written or the derivative of a linear function, is zero.
    """
    leaves = tree.leaves(output)
    floating = [leaf for leaf in leaves if is_floating(program, leaf)]
    if not floating and not always_raises(program):
        nothing = all(getattr(leaf, "value", ...) is None for leaf in leaves)
        raise ArgumentTypeError(
            "S2S304",
            f"{program.name} returned {', '.join(_kind(program, leaf) for leaf in leaves)}",
            origin=program.origin,
            why="a gradient needs an output of floating-point numbers",
            help="is a return statement missing?"
            if nothing
            else "check that the function returns its result",
        )
    return [leaf for leaf in floating if isinstance(leaf, gast.Name)]


def is_floating(program: Program, leaf: gast.AST) -> bool:
    """Whether an output may be a floating-point number, or an array of these."""
    if isinstance(leaf, gast.Name):
        return values.is_inexact(program.facts[leaf.id]) is not False
    return isinstance(leaf.value, float | complex)


def check_real(program: Program, floats: Sequence[gast.AST]) -> None:
    """What has a gradient is real: complex numbers have no order to ascend in."""
    for leaf in floats:
        if values.is_complex(program.facts[leaf.id]):
            raise ArgumentTypeError(
                "S2S304",
                f"{program.name} returned {_kind(program, leaf)}",
                origin=program.origin,
                why="a gradient is the direction in which a real number grows fastest",
                help="return its real part or its absolute value, or use vjp",
            )


def always_raises(program: Program) -> bool:
    """Whether the program ends with an exception of the user's, whatever its inputs."""
    return bool(program.body) and form.raised(program.body[-1]) is not None


def _returned(program: Program, output: Any) -> str:
    """What a function returned, as a message shows it."""
    if not isinstance(output, Tree):
        return _kind(program, output)
    return f"a {output.kind.__name__} of {len(output.items)}"


def _kind(program: Program, leaf: gast.AST) -> str:
    if isinstance(leaf, gast.Constant):
        return f"{type(leaf.value).__name__} {leaf.value!r}" if leaf.value is not None else "None"
    fact = program.facts[leaf.id]
    dtype, kind = values.strong_dtype(fact), "a Tensor" if values.is_tensor(fact) else "an array"
    return f"{kind} of {dtype}" if dtype is not None else "a value without a number in it"
