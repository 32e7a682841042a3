"""A batch in native code whose samples are numbers: a loop over strips of samples, which the
processor computes side by side.

What differs from sample to sample is masked: see `masked_program`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s_ad.core import form, tree, values
from s2s_ad.core.callee import compound_of, reached
from s2s_ad.core.program import Program
from s2s_ad.emit.provenance import NO_ROW
from s2s_ad.emit.text import Text
from s2s_ad.native.batches import FIRST, ROWS, Functions, indented, parameter_names
from s2s_ad.native.module import Module, Native, functions_of, with_native
from s2s_ad.native.nodes import NotNative
from s2s_ad.native.rooms import Rooms
from s2s_ad.native.state import captured_by, is_passed

STRIP = 64  # samples: enough to pay for the arrays of a strip, which stay in the cache


def is_of_numbers(sample: Program) -> bool:
    """Whether all that a program computes are numbers, and lists of them."""
    blocks = [sample, *(block for each in reached([sample]) for block in each.blocks)]
    return all(
        _is_number(fact)
        for block in blocks
        for each in block.body
        if isinstance(each, form.Op) and compound_of(each) is None
        for fact in tree.leaves(block.facts[each.target])
    )


def _is_number(fact: Any) -> bool:
    fact = fact.item if isinstance(fact, values.List) else fact
    return isinstance(fact, values.Static) or values.rank_of(fact) == 0


def with_lanes(text: Text, batch: Program, axes: Sequence[Any]) -> Text:
    """The text with loops over strips, where these can be had.

    Args:
        batch: the program of a strip.
        axes: for each leaf of the inputs where it has the batch axis.
    """
    return with_native(text, lambda: native_lanes(batch, text.name, axes))


def native_lanes(batch: Program, name: str, axes: Sequence[Any]) -> Native:
    """The module with the loop over strips.

    Raises:
        NotNative: something has no native form, or is computed for one sample after the other.
    """
    if any(axis not in (None, 0) for axis in axes):
        raise NotNative("a batch axis that is not the first")
    outputs = [batch.fact(each) for each in batch.outputs()]
    dtypes = [values.strong_dtype(each) for each in outputs]
    if values.missing(dtypes) or any(values.rank_of(each) != 1 for each in outputs):
        raise NotNative("a batch of which the results are not known")
    leaves = dict(zip(batch.leaves(), axes, strict=True))
    facts = {each: batch.facts[each] for each in leaves} | captured_by(batch)
    passed = [each for each, fact in facts.items() if is_passed(fact)]
    names = parameter_names(batch, passed, OWN)
    mapped = {names[e]: values.rank_of(facts[e]) for e in passed if leaves.get(e) == 0}
    if not mapped or values.missing(mapped.values()):
        raise NotNative("a batch of which the arguments are not known")
    own = f"{name}_strip"
    functions = Module(functions_of(batch), [own, name, name + FIRST, name + ROWS])
    module, rows = functions.text(batch.with_(name=own), [name], many_calls=True)
    if functions.one_by_one:
        raise NotNative(f"{min(functions.one_by_one)}, which is computed one by one")
    around = Functions(name, [*names.values()], [*mapped], len(outputs))
    loops = f"\n\n{Strips(around, own, mapped, dtypes, functions.rooms).text()}"
    return module + loops, (*rows, *[NO_ROW] * loops.count("\n"))


OWN = ("n", "start", "stop", "first", "width", "row", "lane")  # variables of the loops


class Strips:
    """The loop over strips.

    Args:
        functions: those that it stands in.
        own: what the function of a strip is called.
        mapped: the rank of the parameters with a batch axis.
        dtypes: those of the results.
        rooms: arrays that the function of a strip works in.
    """

    def __init__(
        self, functions: Functions, own: str, mapped: dict[str, int], dtypes: list, rooms: Rooms
    ):
        self.functions, self.own, self.mapped, self.dtypes = functions, own, mapped, dtypes
        self.turned = {each: f"{each}_strip" for each, rank in mapped.items() if rank > 1}
        firsts = [f"{each}[:width]" if each in mapped else each for each in functions.names]
        taken = functions.taken((*OWN, *self.turned.values()))
        self.work, made = rooms.written(firsts, taken)
        self.stored = self._stored(rooms.results)
        for room, array in self.stored.items():
            self.work[room] = f"{array}[first : first + width]"
        self.room = indented(each for room, each in enumerate(made) if room not in self.stored)

    def _stored(self, results: Sequence[int | None]) -> dict[int, str]:
        """The rooms that are results, each with the array that the strip is stored in at once."""
        found: dict[int, str] = {}
        for room, array in zip(results, self.functions.arrays, strict=True):
            if room is not None:
                found.setdefault(room, array)
        return found

    def text(self) -> str:
        functions = self.functions
        pairs = zip(functions.arrays, self.dtypes, strict=True)
        allocated = "".join(f"    {a} = np.empty(n, np.{dtype.name})\n" for a, dtype in pairs)
        given = ", ".join([*map(self._strip_of, functions.names), *self.work])
        stores = self._stores()
        results = f"{', '.join(functions.results)} = " if stores else ""
        return functions.text(
            [
                "Arrays for the results of all samples.",
                "The results of some of the samples, by strips; the last two may overlap.",
            ],
            allocated,
            f"    width = max(min({STRIP}, stop - start), 1)\n"
            f"{self.room}{self._buffers()}"
            f"    for row in range(start, stop, width):\n"
            f"        first = min(row, stop - width)\n"
            f"{''.join(map(self._copies, self.turned))}"
            f"        {results}{self.own}({given})\n"
            f"{stores}",
            start=0,
        )

    def _stores(self) -> str:
        """The loop that stores the results which are not in the arrays yet."""
        copied = [
            f"            {array}[first + lane] = {y}[lane]\n"
            for array, y in zip(self.functions.arrays, self.functions.results, strict=True)
            if array not in self.stored.values()
        ]
        return "".join(["        for lane in range(width):\n", *copied] if copied else [])

    def _strip_of(self, name: str) -> str:
        """What the function of a strip is given for a parameter."""
        if name in self.turned:
            return self.turned[name]
        return f"{name}[first : first + width]" if name in self.mapped else name

    def _buffers(self) -> str:
        """Strips of arrays, of which the same element of all samples stands side by side."""
        lines = []
        for each, text in self.turned.items():
            lengths = [f"{each}.shape[{k}]" for k in range(self.mapped[each] - 1, 0, -1)]
            lines.append(f"    {text} = np.empty(({', '.join(lengths)}, width), {each}.dtype).T\n")
        return "".join(lines)

    def _copies(self, name: str) -> str:
        """The loops that copy the elements of a strip."""
        lines, at, space = [], [], " " * 8
        for k in range(1, self.mapped[name]):
            at.append(f"k{k}")
            lines.append(f"{space}for k{k} in range({name}.shape[{k}]):\n")
            space += " " * 4
        index = ", ".join(at)
        lines.append(f"{space}for lane in range(width):\n")
        lines.append(
            f"{space}    {self.turned[name]}[lane, {index}] = {name}[first + lane, {index}]\n"
        )
        return "".join(lines)
