"""Cells of cells: one after the other, in a list, by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from s2s_ad.nn.cell import Cell, check_cell
from s2s_ad.nn.check import wrong_type, wrong_value
from s2s_ad.nn.ensembles import Ensemble


class _Listed(Cell):
    """Cells in an order, that carry their positions as names."""

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def __getitem__(self, index: int | slice | str) -> Any:
        if isinstance(index, str):
            return self._cells[index]
        if isinstance(index, slice):
            return container_of(type(self), list(self._cells.items())[index])
        return list(self._cells.values())[index]

    def __setitem__(self, index: int, cell: Cell) -> None:
        check_cell(type(self).__name__, "cell", cell)
        self._adopt(self._key(index), cell)

    def __delitem__(self, index: int | slice) -> None:
        cells = list(self._cells.values())
        del cells[index]
        self._refill(cells)

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end; gives the container."""
        check_cell(f"{type(self).__name__}.append", "cell", cell)
        self._adopt(str(len(self._cells)), cell)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the one at `index`; those after it get new names."""
        check_cell(f"{type(self).__name__}.insert", "cell", cell)
        cells = list(self._cells.values())
        cells.insert(index, cell)
        self._refill(cells)

    def extend(self, cells: Iterable[Cell]) -> Any:
        """Add cells at the end; gives the container."""
        if not isinstance(cells, list | tuple | _Listed):
            raise wrong_type(f"{type(self).__name__}.extend", "cells", cells, "a list of Cells")
        for cell in cells:
            self.append(cell)
        return self

    def _key(self, index: int) -> str:
        try:
            return list(self._cells)[index]
        except (IndexError, TypeError):
            expected = f"an int in [{-len(self)}, {len(self)})"
            raise wrong_value(type(self).__name__, "index", index, expected) from None

    def _refill(self, cells: list[Cell]) -> None:
        self._cells.clear()
        for cell in cells:
            self._adopt(str(len(self._cells)), cell)


def container_of(kind: type, named: list) -> Any:
    """A container of cells that are in another one: their parameters keep their names."""
    part = kind(auto_prefix=False)
    part._cells.update(named)
    return part


container_of.__s2s_static__ = True  # it is made once, of what is known when code is generated


class SequentialCell(_Listed):
    """Cells one after the other: what the first gives is the input of the second, and so on.

    Args:
        args: Cells; or one list of Cells; or one OrderedDict of Cells, whose keys are their names.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> net = nn.SequentialCell(nn.Dense(2, 1, weight_init="ones"), nn.ReLU())
        >>> print(net)
        SequentialCell(
          (0): Dense(input_channels=2, output_channels=1, has_bias=True)
          (1): ReLU()
        )
    """

    def __init__(self, *args: Any, auto_prefix: bool = True):
        super().__init__(auto_prefix=auto_prefix)
        cells = args[0] if len(args) == 1 and not isinstance(args[0], Cell) else args
        if not isinstance(cells, dict | list | tuple):
            raise wrong_type("SequentialCell", "args", cells, "Cells, or a list or dict of Cells")
        named = cells if isinstance(cells, dict) else {str(i): each for i, each in enumerate(cells)}
        for name, cell in named.items():
            check_cell("SequentialCell", name, cell)
            self._adopt(name, cell)

    def construct(self, x: Any) -> Any:
        for cell in self._cells.values():
            x = cell(x)
        return x


class CellList(_Listed):
    """A list of Cells. It cannot be called: `for cell in cells: x = cell(x)`.

    `vmap(cells, in_axes=None)(x)` gives the outputs of all cells for one input, joined along a new
    axis; an input that has an axis in `in_axes` has one sample for each cell.

    Args:
        args: Cells; or one list of Cells.
        auto_prefix: whether the names of their parameters begin with their positions.
    """

    def __init__(self, *args: Any, auto_prefix: bool = True):
        super().__init__(auto_prefix=auto_prefix)
        self.extend(args[0] if len(args) == 1 and not isinstance(args[0], Cell) else args)

    def __s2s_vmap__(self, in_axes: Any, out_axes: Any) -> Ensemble:
        """What vmap(cells) computes."""
        return Ensemble(self, in_axes, out_axes)


class CellDict(Cell):
    """Cells by name. It cannot be called.

    Args:
        cells: a dict of Cells, or pairs of a name and a Cell.

    Raises:
        ArgumentTypeError: a value is not a Cell, or a name not a str.
    """

    def __init__(self, cells: Any = (), *, auto_prefix: bool = True):
        super().__init__(auto_prefix=auto_prefix)
        self.update(cells)

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise wrong_type("CellDict", "key", key, "a str")
        check_cell("CellDict", key, cell)
        self._adopt(key, cell)

    def __delitem__(self, key: str) -> None:
        del self._cells[key]

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.keys())

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def keys(self) -> Any:
        """The names."""
        return self._cells.keys()

    def values(self) -> Any:
        """The Cells."""
        return self._cells.values()

    def items(self) -> Any:
        """Pairs of a name and a Cell."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Add Cells, from a dict or from pairs."""
        try:
            named = OrderedDict(cells.items() if hasattr(cells, "items") else cells)
        except (TypeError, ValueError):
            raise wrong_type("CellDict", "cells", cells, "a dict of Cells, or pairs") from None
        for key, cell in named.items():
            self[key] = cell

    def pop(self, key: str) -> Cell:
        """Take a Cell out."""
        return self._cells.pop(key)

    def clear(self) -> None:
        """Take all Cells out."""
        self._cells.clear()


__all__ = ["CellDict", "CellList", "SequentialCell"]
