"""What vmap makes of a CellList: each cell computes one sample of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError


class Ensemble:
    """Cell i on sample i of the inputs that have a batch axis, and on the others as they are.

    The outputs of the cells are joined along a new axis. `in_axes` and `out_axes` are those of
    vmap, but that `in_axes` may be None: all cells get the same inputs.

    Raises:
        ArgumentValueError: there are no cells, an output is to have no batch axis, or a batch axis
            has not the length of the list.
    """

    __s2s_static__ = True  # the axes are part of compiled code

    def __init__(self, cells: Any, in_axes: Any, out_axes: Any):
        if len(cells) == 0:
            raise ArgumentValueError("S2S502", "vmap: the CellList has no cells")
        if has_none(out_axes):
            raise ArgumentValueError(
                "S2S502",
                f"vmap: argument 'out_axes', got {out_axes}; the outputs of the cells of a "
                "CellList differ, so that each has a batch axis",
            )
        self.cells, self.in_axes, self.out_axes = cells, in_axes, out_axes

    def __call__(self, *inputs: Any) -> Any:
        return self.outputs(*inputs)

    __call__.__s2s_method__ = "outputs"  # type: ignore[attr-defined]

    def outputs(self, *inputs: Any) -> Any:
        """What vmap(cells, in_axes, out_axes)(*inputs) is."""
        axes = axes_of(self.in_axes, inputs, "in_axes")
        count = len(self.cells)
        outputs = [
            cell(*[sample(x, axis, i, count) for x, axis in zip(inputs, axes, strict=True)])
            for i, cell in enumerate(self.cells)
        ]
        return joined(outputs, self.out_axes)


def has_none(axes: Any) -> bool:
    """Whether some part of `axes` is None."""
    if isinstance(axes, dict):
        return any(has_none(each) for each in axes.values())
    return any(has_none(each) for each in axes) if isinstance(axes, tuple | list) else axes is None


def axes_of(axes: Any, items: Any, name: str) -> Any:
    """An entry of `axes` for each of the items: its own, or one for all."""
    if not isinstance(axes, tuple | list):
        return (axes,) * len(items)
    if len(axes) != len(items):
        raise ArgumentValueError(
            "S2S502", f"vmap: argument '{name}' has {len(axes)} entries for {len(items)} items"
        )
    return axes


def sample(x: Any, axis: Any, i: int, count: int) -> Any:
    """Sample i of an input, or of each part of one."""
    if axis is None:
        return x
    if isinstance(x, dict):
        return {key: sample(x[key], of_key(axis, key), i, count) for key in x}
    if isinstance(x, tuple | list):
        pairs = zip(x, axes_of(axis, x, "in_axes"), strict=True)
        return type(x)([sample(each, mine, i, count) for each, mine in pairs])
    rank = np.ndim(x)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ArgumentValueError(
            "S2S502", f"vmap: argument 'in_axes' is {axis} for an input with {rank} axes"
        )
    if np.shape(x)[axis] != count:
        raise ArgumentValueError(
            "S2S502",
            f"vmap: axis {axis} of an input has length {np.shape(x)[axis]}, beside a CellList of "
            f"{count}",
        )
    return x[(*(slice(None),) * (axis % rank), i)]


def of_key(axes: Any, key: Any) -> Any:
    """The entry of a key: its own, or one for all."""
    return axes[key] if isinstance(axes, dict) else axes


def joined(outputs: list, axes: Any) -> Any:
    """The outputs of the cells along a new axis, in the structure of one."""
    first = outputs[0]
    if isinstance(first, dict):
        return {key: joined([each[key] for each in outputs], of_key(axes, key)) for key in first}
    if isinstance(first, tuple | list):
        each_axis = axes_of(axes, first, "out_axes")
        parts = zip(zip(*outputs, strict=True), each_axis, strict=True)
        return type(first)([joined(list(mine), axis) for mine, axis in parts])
    if not isinstance(axes, int):
        raise ArgumentTypeError("S2S501", f"vmap: argument 'out_axes' is {axes} for one output")
    return np.stack(outputs, axes)
