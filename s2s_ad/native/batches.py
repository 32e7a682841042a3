"""A batch in native code: a loop over samples around the function of one.

What differs from sample to sample, branches, loops and all, needs no masks there. The rows of a
batch may be computed by several threads: `NAME_rows` computes some of them.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    names = parameter_names(
        sample, [name for name, _ in leaves] + [*captured], ("n", "start", "stop", "row")
    )
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
    loops = _loops(batch.name, own, [*names.values()], mapped, given, outputs, functions.rooms)
    loops = f"\n\n{loops}"
    return module + loops, (*rows, *[NO_ROW] * loops.count("\n"))


def parameter_names(sample: Program, leaves: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """What the parameters are called, for whom some names are taken."""
    names: dict[str, str] = {}
    for each in leaves:
        text, count = hint_of(sample, each), 2
        while text in {*names.values(), *RESERVED, *taken}:
            text, count = f"{hint_of(sample, each)}_{count}", count + 1
        names[each] = text
    return names


def _loops(
    name: str,
    own: str,
    names: list[str],
    mapped: list[str],
    given: list[str],
    outputs: list,
    rooms: Rooms,
) -> str:
    """The functions that allocate, that compute some rows, and that do both."""
    one = "y"
    while any(each.startswith(one) for each in names):
        one += "_"
    results = [f"{one}{k}" for k in range(len(outputs))]
    arrays = [f"{each}_rows" for each in results]
    head, tail = ", ".join(names), ", ".join(arrays)
    results_of_one = ", ".join(results)
    firsts = [each.format(0) for each in given]
    own_names = {*names, *results, *arrays, "n", "start", "stop", "row"}
    work, lines = rooms.written(firsts, own_names)
    room = "".join(f"    {line}\n" for text in lines for line in text.split("\n"))
    given = [*given, *work]
    call = f"{own}({', '.join(given)})"
    made = [
        f"    {array} = np.empty({_shape(y, fact)})\n    {array}[0] = {y}\n"
        for y, array, fact in zip(results, arrays, outputs, strict=True)
    ]
    checks = "".join(f"    if len({each}) != n:\n        raise ValueError\n" for each in mapped[1:])
    stores = "".join(f"        {a}[row] = {y}\n" for y, a in zip(results, arrays, strict=True))
    return (
        f"{DECORATOR}def {name}{FIRST}({head}):\n"
        f'    """Arrays for the results of all samples, with those of the first one."""\n'
        f"    n = len({mapped[0]})\n{checks}"
        f"    if n == 0:\n        raise ValueError\n"
        f"{room}"
        f"    {results_of_one} = {call.format(*[0] * call.count('{}'))}\n"
        f"{''.join(made)}"
        f"    return {tail}\n\n\n"
        f"{DECORATOR}def {name}{ROWS}({head}, {tail}, start, stop):\n"
        f'    """The results of some of the samples."""\n'
        f"{room}"
        f"    for row in range(start, stop):\n"
        f"        {results_of_one} = {call.replace('{}', 'row')}\n"
        f"{stores}\n\n"
        f"{DECORATOR}def {name}({head}):\n"
        f'    """The results of all samples."""\n'
        f"    {tail} = {name}{FIRST}({head})\n"
        f"    {name}{ROWS}({head}, {tail}, 1, len({arrays[0]}))\n"
        f"    return {tail}\n"
    )


def _shape(result: str, fact: Any) -> str:
    rank, dtype = values.rank_of(fact), values.strong_dtype(fact)
    kind = "" if dtype.name == "float64" else f", np.{dtype.name}"
    return f"n{kind}" if rank == 0 else f"(n,) + {result}.shape{kind}"
