"""What a generated function gives for a chunk, as the compiler knows it: nothing is run for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2s_ad.core import sizes, tree, values
from s2s_ad.core.callee import drawn
from s2s_ad.core.program import Program
from s2s_ad.core.sizes import Atom
from s2s_ad.diagnostics import DerivativeError, UnsupportedError
from s2s_ad.load.module import Loaded
from s2s_ad.load.tensor_entry import wrapped
from s2s_ad.parallel.calls import Call
from s2s_ad.tensors import Parameter, plain


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array or number of a result.

    `fixed`: it is the same in each call, as the name or number of a parameter (`return_ids`).
    `shape` is that of this chunk, with None for what is not known; `own` the same where the number
    of samples says nothing of it: a length that depends on this number is None.
    """

    path: str
    fact: Any
    fixed: bool
    shape: tuple[int | None, ...] | None
    own: tuple[int | None, ...] | None
    per_sample: bool

    @property
    def dtype(self) -> np.dtype | None:
        return values.strong_dtype(self.fact)

    @property
    def nbytes(self) -> int:
        """How many bytes it takes; 0 where that is not known."""
        known = self.shape is not None and None not in self.shape and self.dtype is not None
        return math.prod(self.shape) * self.dtype.itemsize if known else 0


@dataclass(frozen=True)
class Outcome:
    """The result of a chunk: its structure, its leaves, and whether its arrays are Tensors."""

    result: Any
    leaves: list[Leaf]
    tensors: bool

    def assembled(self, items: list) -> Any:
        """The result with these leaves, as a call of the function itself gives it."""
        made = self.structured(items)
        return wrapped(made) if self.tensors else made

    def structured(self, items: list) -> Any:
        """The containers of the result with these in the place of its leaves."""
        rest = iter(items)
        return tree.to_object(tree.tree_map(lambda _: next(rest), self.result))


def outcome_of(call: Call, loaded: Loaded, length: int) -> Outcome:
    """What chunks of so many samples give.

    Raises:
        UnsupportedError, DerivativeError: it cannot be computed in parts.
    """
    program = loaded.program
    whole, without, batch = _lengths(call, loaded, length)
    leaves = []
    for path, atom in zip(tree.paths(program.result), tree.leaves(program.result), strict=True):
        fact = program.fact(atom)
        shape = values.shape_of(fact)
        per_sample = bool(shape) and shape[0] in batch
        own = _shape(shape, without)
        fixed = isinstance(atom, gast.Constant) and type(atom.value) not in (float, complex)
        text = tree.path_text("result", path)
        leaf = Leaf(text, fact, fixed, _shape(shape, whole), own, per_sample)
        leaves.append(leaf)
    return Outcome(program.result, leaves, program.tensors)


def _lengths(
    call: Call, loaded: Loaded, length: int
) -> tuple[dict[Atom, int], dict[Atom, int], set[values.Dim]]:
    """The lengths of a chunk's call; those that are no number of samples; these numbers."""
    program = loaded.program
    given, axes = call.arguments(length), call.axes()
    whole: dict[Atom, int] = {}
    without: dict[Atom, int] = {}
    batch: set[values.Dim] = set()
    for each in program.inputs:
        for path, leaf in zip(tree.paths(each.tree), tree.leaves(each.tree), strict=True):
            if each.name not in given:
                continue
            fact, value = program.facts[leaf], tree.follow(given[each.name], path)
            axis = tree.follow(axes[each.name], path)
            whole |= values.lengths_of(fact, np.shape(value))
            if type(axis) is not int:
                without |= values.lengths_of(fact, np.shape(value))
                continue
            shape = [*values.shape_of(fact)]
            if isinstance(shape[axis], int) and length > 1:
                raise _counts_samples(call.label, program, each.name)
            batch |= {shape[axis]} - {1}
            shape[axis] = 1
            without |= values.lengths_of(values.with_shape(fact, tuple(shape)), np.shape(value))
    for shown, name in loaded.text.captured.items():
        captured = values.lengths_of(program.facts[name], np.shape(loaded.namespace[shown]))
        whole, without = whole | captured, without | captured
    return whole, without, batch


def _counts_samples(label: str, program: Program, name: str) -> UnsupportedError:
    return UnsupportedError(
        "S2S402",
        f"{label}: how many samples {name} has is part of the code of {program.name}",
        origin=program.origin,
        why="it takes them apart one by one, and results for a chunk need not be a part of that "
        "for all",
        help="write it for any number of samples: np.sum(x, axis=0) instead of a, b = x",
    )


def _shape(
    shape: values.Shape | None, lengths: Mapping[Atom, int]
) -> tuple[int | None, ...] | None:
    if shape is None:
        return None
    return tuple(sizes.value_of(values.size_of_dim(dim), lengths) for dim in shape)


# ---- what is refused -----------------------------------------------------------------------------


def refuse_state(label: str, loaded: Loaded, *, merged: bool = False, seeded: bool = False) -> None:
    """Refuse what a chunk on another machine would do to no avail, or differently each time.

    Args:
        merged: the new values of Parameters that say what becomes of them come back.
        seeded: what is drawn from NumPy's state may be, for each chunk begins at a seed.
    """
    program = loaded.program
    if loaded.companions:
        raise UnsupportedError(
            "S2S203",
            f"{label}: {program.name} returns a function",
            why="it would hold what one chunk computed",
            help="use grad, value_and_grad, jacrev or vmap, or call it inside a function",
        )
    comes_back = {e.text for e in program.writes if merged and _is_merged(e.value)}
    changed = [*(name for name, _ in program.mutated), *(each.text for each in program.writes)]
    changed = [name for name in changed if name not in comes_back]
    if changed:
        raise UnsupportedError(
            "S2S203",
            f"{label}: {program.name} changes {', '.join(dict.fromkeys(changed))} in place",
            origin=program.origin,
            why="each chunk would change a copy of its own",
            help="return the new value; of a Cell, set_train(False) where that is what changes it; "
            "of a Parameter of floats whose new value may be the mean of those of the chunks, "
            "over_chunks = 'mean' says so to data_parallel",
        )
    for statement in drawn(program):
        if not (seeded and _is_of_numpys_state(statement.function)):
            raise DerivativeError(
                "S2S203",
                f"{label}: {statement.rule.name} in {program.name} gives "
                "another value for each chunk, and whenever a chunk is computed again",
                origin=statement.origin,
                why="results have to be the same whatever the number of workers and their deaths",
                help="draw it outside and pass it as an argument, in chunks like the samples; in "
                "data_parallel what np.random draws has a seed for each chunk",
            )


def changed_parameters(label: str, loaded: Iterable[Loaded], merged: bool) -> list[Parameter]:
    """The Parameters that a chunk gives new values, whichever of these texts it runs."""
    found = []
    for each in loaded:
        refuse_state(label, each, merged=merged, seeded=True)
        found.append([capture.value for capture in each.program.writes])
    if any(list(map(id, each)) != list(map(id, found[0])) for each in found):
        raise UnsupportedError(
            "S2S203",
            f"{label}: which Parameters are changed depends on the number of samples in a chunk",
            help="give all chunks one length",
        )
    return found[0]


def _is_merged(parameter: Parameter) -> bool:
    return parameter.over_chunks == "mean" and plain(parameter).dtype.kind == "f"


def _is_of_numpys_state(function: Any) -> bool:
    """Whether it draws from the state that np.random.seed sets."""
    return getattr(function, "__self__", None) is np.random.mtrand._rand


def draws(loaded: Loaded) -> bool:
    """Whether it draws random numbers."""
    return any(True for _ in drawn(loaded.program))
