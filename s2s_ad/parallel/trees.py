"""The tree over which results of chunks are added: it depends on their number alone."""

from __future__ import annotations

from s2s_ad.parallel.tasks import combined

FAN_IN = 4  # results that one node adds


def tree_of(keys: list[str], fates: str, last: int = 1) -> tuple[dict, list[str]]:
    """The nodes that add the results of `keys`, in their order.

    Args:
        fates: what becomes of each leaf of the results.
        last: how many partial sums may be left over, for someone else to add.

    Returns:
        The tasks, and the keys of what is left.
    """
    graph: dict = {}
    token, level = keys[0], 0
    while len(keys) > max(last, 1):
        level += 1
        groups = [keys[i : i + FAN_IN] for i in range(0, len(keys), FAN_IN)]
        for i, group in enumerate(groups):
            if len(group) > 1:
                graph[f"s2s-sum-{token}-{level}.{i}"] = (combined, fates, *group)
        names = [f"s2s-sum-{token}-{level}.{i}" for i in range(len(groups))]
        pairs = zip(groups, names, strict=True)
        keys = [name if len(group) > 1 else group[0] for group, name in pairs]
    return graph, keys


def added_here(parts: list, fates: str) -> list:
    """What is left over of the tree, added as its nodes would add it."""
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        parts = [combined(fates, *group) for group in groups]
    return parts[0]


def depth_of(count: int) -> int:
    """How many nodes a result goes through until all are added."""
    depth = 0
    while count > 1:
        count, depth = -(-count // FAN_IN), depth + 1
    return depth
