"""A batch in native code: a loop over samples around the function of one.

What differs from sample to sample, branches, loops and all, needs no masks there. The rows of a
batch may be computed by several threads: `NAME_rows` computes some of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from s2s_ad.core import values
from s2s_ad.core.program import Program
from s2s_ad.emit.provenance import NO_ROW
from s2s_ad.emit.text import Text
from s2s_ad.native.module import DECORATOR, Module, Native, functions_of, hint_of, with_native
from s2s_ad.native.nodes import NotNative
from s2s_ad.native.rooms import Rooms
from s2s_ad.native.state import RESERVED, captured_by, is_passed

ROWS, FIRST = "_rows", "_first"
OWN = ("n", "start", "stop", "row")  # variables of the loops


def with_rows(text: Text, sample: Program, batch: Program, axes: Sequence[Any]) -> Text:
    """The text with the loops of a batch around those of one sample, where these can be had."""
    return with_native(text, lambda: native_batch(sample, batch, axes))


def native_batch(sample: Program, batch: Program, axes: Sequence[Any]) -> Native:
    """The module with the loops of a batch.

    Args:
        sample, batch: the program of one sample, and that of all.
        axes: for each leaf of the inputs where it has the batch axis.

    Raises:
        NotNative: something has no native form.
    """
    captured = captured_by(sample)
    if [*captured] != [*captured_by(batch)]:
        raise NotNative("a batch that captures other values than a sample")
    if any(axis not in (None, 0) for axis in axes):
        raise NotNative("a batch axis that is not the first")
    if len(axes) != len(sample.leaves()):
        raise NotNative("a batch whose samples take other arguments")
    facts = [sample.facts[each] for each in sample.leaves()]
    leaves = [
        (name, axis) for name, fact, axis in zip(sample.leaves(), facts, axes, strict=True)
        if is_passed(fact)
    ]  # fmt: skip
    names = parameter_names(sample, [name for name, _ in leaves] + [*captured], OWN)
    mapped = [names[name] for name, axis in leaves if axis == 0]
    outputs = [sample.fact(each) for each in sample.outputs()]
    known = [values.strong_dtype(e) is not None and values.rank_of(e) is not None for e in outputs]
    if not mapped or not all(known):
        raise NotNative("a batch of which the results are not known")
    rows = {name: axis == 0 for name, axis in leaves}
    given = [names[name] + ("[{}]" if rows.get(name) else "") for name in names]
    own = f"{batch.name}_of_one"
    taken = [own, batch.name, batch.name + FIRST, batch.name + ROWS]
    functions = Module(functions_of(sample), taken)
    module, rows = functions.text(sample.with_(name=own), [batch.name], many_calls=True)
    around = Functions(batch.name, [*names.values()], mapped, len(outputs))
    loops = f"\n\n{_loops(around, own, given, outputs, functions.rooms)}"
    return module + loops, (*rows, *[NO_ROW] * loops.count("\n"))


def parameter_names(sample: Program, leaves: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """What the parameters are called; `taken` are names that mean something else."""
    names: dict[str, str] = {}
    for each in leaves:
        text, count = hint_of(sample, each), 2
        while text in {*names.values(), *RESERVED, *taken}:
            text, count = f"{hint_of(sample, each)}_{count}", count + 1
        names[each] = text
    return names


class Functions:
    """The functions of a batch: one allocates, one computes some rows, and one does both.

    Args:
        name: what the last one is called.
        names: the parameters.
        mapped: those with a batch axis.
        count: how many results there are.
    """

    def __init__(self, name: str, names: Sequence[str], mapped: Sequence[str], count: int):
        self.name, self.names, self.mapped = name, names, mapped
        one = "y"
        while any(each.startswith(one) for each in names):
            one += "_"
        self.results = [f"{one}{k}" for k in range(count)]
        self.arrays = [f"{each}_rows" for each in self.results]

    def taken(self, own: Collection[str]) -> set[str]:
        """The names that stand for something, with those that the loops have besides."""
        return {*self.names, *self.results, *self.arrays, *own}

    def text(self, docs: Sequence[str], allocated: str, rows: str, start: int) -> str:
        """All three.

        Args:
            docs: what the first two do.
            allocated: the statements that make the arrays of `n` samples.
            rows: those that compute the rows from `start` to `stop`.
            start: the first row that is not computed where the arrays are made.
        """
        head, tail = ", ".join(self.names), ", ".join(self.arrays)
        first, *others = self.mapped
        checks = "".join(f"    if len({each}) != n:\n        raise ValueError\n" for each in others)
        return (
            f"{DECORATOR}def {self.name}{FIRST}({head}):\n"
            f'    """{docs[0]}"""\n'
            f"    n = len({first})\n{checks}"
            f"    if n == 0:\n        raise ValueError\n"
            f"{allocated}"
            f"    return {tail}\n\n\n"
            f"{DECORATOR}def {self.name}{ROWS}({head}, {tail}, start, stop):\n"
            f'    """{docs[1]}"""\n'
            f"{rows}\n\n"
            f"{DECORATOR}def {self.name}({head}):\n"
            f'    """The results of all samples."""\n'
            f"    {tail} = {self.name}{FIRST}({head})\n"
            f"    {self.name}{ROWS}({head}, {tail}, {start}, len({self.arrays[0]}))\n"
            f"    return {tail}\n"
        )


def indented(statements: Iterable[str]) -> str:
    """Statements, each of which may have several lines, as they stand in a function."""
    return "".join(f"    {line}\n" for each in statements for line in each.split("\n"))


def _loops(functions: Functions, own: str, given: list[str], outputs: list, rooms: Rooms) -> str:
    """The loop over samples; `given` is what the function of one is given of them."""
    results, arrays = functions.results, functions.arrays
    work, lines = rooms.written([each.format(0) for each in given], functions.taken(OWN))
    room, call = indented(lines), f"{own}({', '.join([*given, *work])})"
    made = "".join(
        f"    {array} = np.empty({_shape(y, fact)})\n    {array}[0] = {y}\n"
        for y, array, fact in zip(results, arrays, outputs, strict=True)
    )
    stores = "".join(f"        {a}[row] = {y}\n" for y, a in zip(results, arrays, strict=True))
    found = ", ".join(results)
    return functions.text(
        [
            "Arrays for the results of all samples, with those of the first one.",
            "The results of some of the samples.",
        ],
        f"{room}    {found} = {call.format(*[0] * call.count('{}'))}\n{made}",
        f"{room}"
        f"    for row in range(start, stop):\n"
        f"        {found} = {call.replace('{}', 'row')}\n"
        f"{stores}",
        start=1,
    )


def _shape(result: str, fact: Any) -> str:
    rank, dtype = values.rank_of(fact), values.strong_dtype(fact)
    kind = "" if dtype.name == "float64" else f", np.{dtype.name}"
    return f"n{kind}" if rank == 0 else f"(n,) + {result}.shape{kind}"
