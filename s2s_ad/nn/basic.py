"""Layers that are one formula: Dense, Embedding, Dropout, Flatten, Identity."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.nn import check
from s2s_ad.nn.activations import activation_of
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.parameters import affine, parameter, scaled


class Dense(Cell):
    """activation(x @ weight.T + bias)

    Args:
        in_channels: the length of the last axis of the input.
        out_channels: that of the output.
        weight_init: initial values of `weight`, of shape (out_channels, in_channels): a name, an
            Initializer, a number or a Tensor. By default uniform within 1 / sqrt(in_channels).
        bias_init: the same for `bias`, of shape (out_channels,).
        has_bias: whether there is a bias; `bias` is None where there is none.
        activation: a name, a function or a Cell that the result goes through.
        dtype: the dtype of the parameters.

    Inputs:
        x: of shape (..., in_channels); the output has (..., out_channels).

    Raises:
        ArgumentTypeError, ArgumentValueError: an argument is none of these.

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> layer = nn.Dense(2, 1, weight_init="ones", bias_init=0.5)
        >>> print(layer(Tensor([[1.0, 2.0]])))
        [[3.5]]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = np.float32,
    ):
        super().__init__()
        check.positive_int("Dense", in_channels=in_channels, out_channels=out_channels)
        check.flag("Dense", has_bias=has_bias)
        self.in_channels, self.out_channels, self.has_bias = in_channels, out_channels, has_bias
        shape = (out_channels, in_channels)
        self.weight = affine("Dense", weight_init, shape, dtype)
        bias = scaled(shape) if bias_init is None else bias_init
        self.bias = parameter("Dense", "bias_init", bias, shape[:1], dtype) if has_bias else None
        self.activation = activation_of("Dense", activation)

    def construct(self, x: Any) -> Any:
        y = ops.dense(x, self._used(self.weight), self._used(self.bias))
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        text += ", has_bias=True" if self.has_bias else ""
        return text if self.activation is None else f"{text}, activation={self.activation}"


class Identity(Cell):
    """x"""

    def construct(self, x: Any) -> Any:
        return x


class Flatten(Cell):
    """The axes from `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        for name, value in (("start_dim", start_dim), ("end_dim", end_dim)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise check.wrong_type("Flatten", name, value, "an int")
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Any) -> Any:
        return flattened(x, self.start_dim % x.ndim, self.end_dim % x.ndim + 1)


def flattened(x: Any, start: int, stop: int) -> Any:
    """The axes from `start` to before `stop` as one."""
    return x.reshape(*x.shape[:start], -1, *x.shape[stop:])


class Dropout(Cell):
    """In training each element is 0 with probability p, and x / (1 - p) otherwise.

    Args:
        keep_prob: 1 - p, where p is not given.
        p: the probability of 0, in [0, 1).
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None):
        super().__init__()
        if p is None:
            check.number("Dropout", keep_prob=keep_prob)
            if not 0 < keep_prob <= 1:
                raise check.wrong_value("Dropout", "keep_prob", keep_prob, "a number in (0, 1]")
            p = 1 - keep_prob
        check.rate("Dropout", p=p)
        self.p = p

    def construct(self, x: Any) -> Any:
        return ops.dropout(x, self.p, self.training)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Embedding(Cell):
    """Rows of a table, by their numbers.

    Args:
        vocab_size: the number of rows.
        embedding_size: their length.
        use_one_hot: taken for MindSpore's sake: the result is the same.
        embedding_table: the initial values of the parameter of that name.
        dtype: its dtype.
        padding_idx: a row that is 0 at first.

    Inputs:
        x: integers of any shape; the output has one axis more.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = np.float32,
        padding_idx: int | None = None,
    ):
        super().__init__()
        check.positive_int("Embedding", vocab_size=vocab_size, embedding_size=embedding_size)
        check.flag("Embedding", use_one_hot=use_one_hot)
        shape = (vocab_size, embedding_size)
        self.vocab_size, self.embedding_size = shape
        table = parameter("Embedding", "embedding_table", embedding_table, shape, dtype)
        if padding_idx is not None:
            if padding_idx not in range(vocab_size):
                expected = f"a row, in [0, {vocab_size})"
                raise check.wrong_value("Embedding", "padding_idx", padding_idx, expected)
            table[padding_idx] = 0
        self.padding_idx, self.embedding_table = padding_idx, table

    def construct(self, x: Any) -> Any:
        return self._used(self.embedding_table)[x]

    def extend_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}"


__all__ = ["Dense", "Dropout", "Embedding", "Flatten", "Identity"]
