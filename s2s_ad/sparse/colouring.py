"""Columns that are computed together: colourings of the columns of a sparse matrix.

Columns of one colour have no row in common, so their sum holds all their elements. Of a symmetric
matrix fewer colours do: an element may also be read where its mirror image stands (star colouring:
Coleman and More 1984; the greedy algorithm as in Gebremedhin, Manne and Pothen 2005).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

#: steps of the search for a star colouring beyond which a plain one is taken
PATIENCE = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """What is computed, and where each element of the matrix is found in it.

    Attributes:
        colours: of each column.
        count: how many there are.
        colour_read, row_read: element k of the matrix is the element `[colour_read[k],
            row_read[k]]` of the sums of the columns of each colour.
    """

    colours: np.ndarray
    count: int
    colour_read: np.ndarray
    row_read: np.ndarray


def of_columns(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Colouring:
    """A colouring of the columns of a matrix with elements at these rows and columns."""
    found = min(
        (_greedy(rows, columns, shape, order) for order in _orders(columns, shape[1])),
        key=lambda colours: colours.max(initial=-1),
    )
    return Colouring(found, int(found.max(initial=-1)) + 1, found[columns], rows)


def _orders(columns: np.ndarray, count: int) -> list[np.ndarray]:
    """As they stand, which suits bands, and the longest ones first."""
    lengths = np.bincount(columns, minlength=count)
    return [np.arange(count), np.argsort(-lengths, kind="stable")]


def _greedy(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], order: np.ndarray
) -> np.ndarray:
    """Each column gets the first colour that no column with a row in common has."""
    taken = [0] * shape[0]  # the colours of the columns in each row, as the bits of a number
    inside = _members(columns, rows, shape[1])
    colours = np.zeros(shape[1], np.int64)
    for column in order.tolist():
        mask = 0
        for row in inside[column]:
            mask |= taken[row]
        bit = ~mask & (mask + 1)
        colours[column] = bit.bit_length() - 1
        for row in inside[column]:
            taken[row] |= bit
    return colours


def _members(keys: np.ndarray, items: np.ndarray, count: int) -> list[list[int]]:
    """For each key below `count` the items that stand beside it."""
    order = np.argsort(keys, kind="stable")
    bounds = np.searchsorted(keys[order], np.arange(count + 1)).tolist()
    listed = items[order].tolist()
    return [listed[a:b] for a, b in itertools.pairwise(bounds)]


def of_symmetric(rows: np.ndarray, columns: np.ndarray, count: int) -> Colouring:
    """A colouring of a symmetric matrix, whose elements stand at both mirror images."""
    plain = of_columns(rows, columns, (count, count))
    degrees = np.bincount(rows, minlength=count).astype(float)
    if np.sum(degrees[rows] * degrees[columns]) > PATIENCE:
        return plain
    off = rows != columns
    neighbours = _members(rows[off], columns[off], count)
    orders = [range(count), np.argsort(-degrees, kind="stable").tolist()]
    found = min((_star(neighbours, order) for order in orders), key=max, default=[])
    colours = np.array(found, np.int64)
    number = int(colours.max(initial=-1)) + 1
    return plain if number >= plain.count else _symmetric(rows, columns, colours, number)


def _star(neighbours: list[list[int]], order: list[int] | range) -> list[int]:
    """Neighbours differ, and so do the ends of no path of four with two colours alone."""
    colours = [-1] * len(neighbours)
    for v in order:
        forbidden = set()
        for w in neighbours[v]:
            if colours[w] >= 0:
                forbidden.add(colours[w])
            for x in neighbours[w]:
                if x == v or colours[x] < 0:
                    continue
                if colours[w] < 0 or any(
                    y != w and colours[y] == colours[w] for y in neighbours[x]
                ):
                    forbidden.add(colours[x])
        colour = 0
        while colour in forbidden:
            colour += 1
        colours[v] = colour
    return colours


def _symmetric(
    rows: np.ndarray, columns: np.ndarray, colours: np.ndarray, number: int
) -> Colouring:
    """Element (i, j) is read in row i where no other column there has the colour of j; else its
    mirror image is, in row j."""
    keys = rows * number + colours[columns]
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = counts[place] == 1
    colour_read = np.where(alone, colours[columns], colours[rows])
    row_read = np.where(alone, rows, columns)
    return Colouring(colours, number, colour_read, row_read)
