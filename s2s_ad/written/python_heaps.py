"""heapq: a list whose smallest item is first, kept as Python keeps it."""

from __future__ import annotations

from typing import Any


def heappush(heap: list, item: Any) -> None:
    heap.append(item)
    index = len(heap) - 1
    while index > 0:
        above = (index - 1) // 2
        if not item < heap[above]:
            break
        heap[index] = heap[above]
        index = above
    heap[index] = item


def heappop(heap: list) -> Any:
    first = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        sink(heap, 0, last)
    return first


def heapreplace(heap: list, item: Any) -> Any:
    first = heap[0]
    sink(heap, 0, item)
    return first


def heappushpop(heap: list, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(x: list) -> None:
    for index in range(len(x) // 2 - 1, -1, -1):
        sink(x, index, x[index])


def sink(heap: list, index: int, item: Any) -> None:
    """Put the item at the index, or where it belongs below: behind what is equal."""
    below = 2 * index + 1
    while below < len(heap):
        if below + 1 < len(heap) and not heap[below] < heap[below + 1]:
            below += 1
        if item < heap[below]:
            break
        heap[index] = heap[below]
        index = below
        below = 2 * index + 1
    heap[index] = item


def nsmallest(n: int, iterable: Any, key: Any = None) -> list:
    return sorted(iterable, key=key)[:n]


def nlargest(n: int, iterable: Any, key: Any = None) -> list:
    return sorted(iterable, key=key, reverse=True)[:n]


__all__ = ["heapify", "heappop", "heappush", "heappushpop", "heapreplace", "nlargest", "nsmallest"]
