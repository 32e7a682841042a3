"""The cheapest choice between keeping values and computing them again: a minimum cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Node = tuple[str, str]
NEVER = 1 << 60  # more than anything costs


@dataclass(frozen=True, slots=True)
class Value:
    """What it costs to have a value once more; None where that way is closed.

    Attributes:
        keep: the cost of keeping it.
        again: the cost of computing it from its operands.
        operands: the values that it is computed from; those that are at hand do not count.
    """

    keep: int | None
    again: int | None
    operands: tuple[str, ...] = ()


def cheapest(needed: Iterable[str], values: Mapping[str, Value]) -> tuple[set[str], set[str]]:
    """(the values to keep, the values to compute again), so that the needed ones can be had.

    What `values` does not describe is at hand. Of choices that cost the same it takes the one
    nearest to the use.

    Example:
        >>> described = {"x": Value(12, None), "y": Value(12, 1, ("x",)), "z": Value(12, 1, ("x",))}
        >>> kept, again = cheapest(["y", "z"], described)
        >>> sorted(kept), sorted(again)
        (['x'], ['y', 'z'])
    """
    # A value has two nodes: that it has to be had, and that it is computed again. The cut runs
    # between the two where it is kept, and behind the second where it is computed.
    source, sink = ("source", ""), ("sink", "")
    flow = Flow()
    for name in needed:
        if name in values:
            flow.connect(source, ("had", name), NEVER)
    waiting, seen = [name for name in needed if name in values], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        value = values[name]
        flow.connect(("had", name), ("again", name), NEVER if value.keep is None else value.keep)
        if value.again is None:
            flow.connect(("again", name), sink, NEVER)
            continue
        flow.connect(("again", name), sink, value.again)
        for operand in value.operands:
            if operand in values:
                flow.connect(("again", name), ("had", operand), NEVER)
                waiting.append(operand)
    side = flow.near_side(source, sink)
    again = {name for name in seen if ("again", name) in side}
    return {name for name in seen if ("had", name) in side} - again, again


class Flow:
    """A network of pipes, and the minimum cut that a maximum flow through it shows."""

    def __init__(self) -> None:
        self.free: dict[Node, dict[Node, int]] = {}

    def connect(self, start: Node, end: Node, capacity: int) -> None:
        pipes = self.free.setdefault(start, {})
        pipes[end] = pipes.get(end, 0) + capacity
        self.free.setdefault(end, {}).setdefault(start, 0)

    def near_side(self, source: Node, sink: Node) -> set[Node]:
        """The nodes on the source's side of the minimum cut that is nearest to the source."""
        self.free.setdefault(source, {})
        while True:
            before = self._reach(source, sink)
            if sink not in before:
                return set(before)
            path = [sink]
            while path[-1] != source:
                path.append(before[path[-1]])
            pairs = list(zip(path[1:], path, strict=False))
            room = min(self.free[start][end] for start, end in pairs)
            if room >= NEVER:
                raise ValueError(f"{path[-2][1]} can neither be kept nor be computed again")
            for start, end in pairs:
                self.free[start][end] -= room
                self.free[end][start] += room

    def _reach(self, source: Node, sink: Node) -> dict[Node, Node]:
        """Where each node that can be reached is reached from; stops at the sink."""
        before = {source: source}
        waiting = deque([source])
        while waiting and sink not in before:
            node = waiting.popleft()
            for end, room in self.free[node].items():
                if room and end not in before:
                    before[end] = node
                    waiting.append(end)
        return before
