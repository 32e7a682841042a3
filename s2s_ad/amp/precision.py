"""Mixed precision: which cells of a network compute in float16."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import nn
from s2s_ad.nn.cell import Cell, check_cell
from s2s_ad.nn.check import choice, wrong_type, wrong_value
from s2s_ad.tensors import dtype_of

LEVELS = ("O0", "O1", "O2", "O3")
#: cells that gain from float16
WHITE_LIST = (nn.Conv1d, nn.Conv2d, nn.Dense, nn.GRUCell, nn.LSTMCell, nn.RNNCell)
#: cells that lose too much by it
BLACK_LIST = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm)


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Any = np.float16) -> Cell:
    """Let cells of a network compute in float16; gives the network.

    Parameters stay as they are, and so do the dtypes of their gradients.

    Args:
        network: a Cell.
        amp_level: 'O0' for no cell, 'O1' for those of `get_white_list()`, whose results are cast
            back, 'O2' for all but those of `get_black_list()`, 'O3' for all. The result of the
            network is then of float32.
        dtype: float16.

    Raises:
        ArgumentTypeError: `network` is no Cell.
        ArgumentValueError: there is no such level; `dtype` is another.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> net = nn.SequentialCell(nn.Dense(1, 1, 1 / 3, has_bias=False), nn.ReLU())
        >>> print(net(Tensor([[1.0]])), auto_mixed_precision(net, "O2")(Tensor([[1.0]])))
        [[0.33333334]] [[0.33325195]]
    """
    api = "auto_mixed_precision"
    check_cell(api, "network", network)
    choice(api, "amp_level", amp_level, LEVELS)
    half = _half(api, dtype)
    if amp_level == "O1":
        return _with_white(network, WHITE_LIST, half)
    if amp_level in ("O2", "O3"):
        return _without_black(network, BLACK_LIST if amp_level == "O2" else (), half)
    return network


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: Any = np.float16,
) -> Cell:
    """Let cells of a network compute in float16, by their classes; gives the network.

    Args:
        network: a Cell.
        white_list: the classes of the cells that do, as with level 'O1'; or
        black_list: the classes of those that do not, as with level 'O2'.
        dtype: float16.

    Raises:
        ArgumentTypeError: an argument is of the wrong kind.
        ArgumentValueError: both lists are given, or none; `dtype` is another.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> net = nn.Dense(1, 1, 1 / 3, has_bias=False)
        >>> print(custom_mixed_precision(net, white_list=[nn.Dense])(Tensor([[1.0]])))
        [[0.33325195]]
    """
    api = "custom_mixed_precision"
    check_cell(api, "network", network)
    half = _half(api, dtype)
    if (white_list is None) == (black_list is None):
        given = "neither" if white_list is None else "both"
        raise wrong_value(api, "white_list", given, "either white_list or black_list")
    if black_list is None:
        return _with_white(network, _classes(api, "white_list", white_list), half)
    return _without_black(network, _classes(api, "black_list", black_list), half)


def get_white_list() -> list[type]:
    """The classes of the cells that compute in float16 with level 'O1'."""
    return list(WHITE_LIST)


def get_black_list() -> list[type]:
    """The classes of the cells that do not with level 'O2'."""
    return list(BLACK_LIST)


def _with_white(network: Cell, classes: tuple[type, ...], half: np.dtype) -> Cell:
    for _, cell in network.cells_and_names():
        if isinstance(cell, classes):
            cell.to_float(half).add_flags(_result_dtype=np.dtype(np.float32))
    return network


def _without_black(network: Cell, classes: tuple[type, ...], half: np.dtype) -> Cell:
    network.to_float(half).add_flags(_result_dtype=np.dtype(np.float32))
    for _, cell in network.cells_and_names():
        if isinstance(cell, classes):
            cell.to_float(np.float32)
    return network


def _half(api: str, dtype: Any) -> np.dtype:
    if dtype_of(dtype) != np.float16:
        raise wrong_value(api, "dtype", dtype, "float16")
    return np.dtype(np.float16)


def _classes(api: str, name: str, classes: Any) -> tuple[type, ...]:
    if not isinstance(classes, list):
        raise wrong_type(api, name, classes, "a list of classes of Cells")
    for each in classes:
        if not isinstance(each, type) or not issubclass(each, Cell):
            raise wrong_type(api, name, each, "a list of classes of Cells")
    return tuple(classes)
