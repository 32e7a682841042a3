"""Attention: each query takes a weighted mean of values, by how its key fits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.nn import check
from s2s_ad.nn.basic import Dense
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.parameters import parameter


class MultiheadAttention(Cell):
    """softmax(q @ k.T / sqrt(d)) @ v in several heads, of inputs through linear layers.

    Args:
        embed_dim: the length of an input, a multiple of num_heads.
        num_heads: into how many parts it falls.
        dropout: in training, how likely a weight is 0.
        has_bias: whether the linear layers have biases.
        batch_first: whether axis 0 is that of the samples rather than of the positions.

    Inputs:
        query: (positions, n, embed_dim); key, value: (others, n, embed_dim).
        key_padding_mask: (n, others), True where a key does not count.
        attn_mask: (positions, others), True where a key does not count; or numbers to be added.

    Returns:
        The output, as the query, and the weights, (n, positions, others): their mean over the
        heads, or (n, num_heads, positions, others); None without `need_weights`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        batch_first: bool = False,
        dtype: Any = np.float32,
    ):
        super().__init__()
        name = "MultiheadAttention"
        check.positive_int(name, embed_dim=embed_dim, num_heads=num_heads)
        check.rate(name, dropout=dropout)
        check.flag(name, has_bias=has_bias, batch_first=batch_first)
        if embed_dim % num_heads:
            expected = f"a multiple of num_heads={num_heads}"
            raise check.wrong_value(name, "embed_dim", embed_dim, expected)
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.head_dim, self.batch_first = embed_dim // num_heads, batch_first
        rows = 3 * embed_dim
        self.in_proj_weight = parameter(
            name, "in_proj_weight", "xavier_uniform", (rows, embed_dim), dtype
        )
        self.in_proj_bias = (
            parameter(name, "in_proj_bias", "zeros", (rows,), dtype) if has_bias else None
        )
        self.out_proj = Dense(
            embed_dim, embed_dim, bias_init="zeros", has_bias=has_bias, dtype=dtype
        )

    def construct(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> Any:
        q, k, v = (self._heads(each, i) for i, each in enumerate((query, key, value)))
        scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(self.head_dim)
        if attn_mask is not None:
            scores = masked(scores, attn_mask)
        if key_padding_mask is not None:
            scores = masked(scores, key_padding_mask[:, None, None, :])
        weights = ops.dropout(ops.softmax(scores), self.dropout, self.training)
        mixed = np.swapaxes(weights @ v, 1, 2)  # (n, positions, heads, head_dim)
        y = self.out_proj(mixed.reshape(mixed.shape[0], mixed.shape[1], self.embed_dim))
        y = y if self.batch_first else np.swapaxes(y, 0, 1)
        if not need_weights:
            return y, None
        return y, np.mean(weights, axis=1) if average_attn_weights else weights

    def _heads(self, x: Any, part: int) -> Any:
        """An input through its linear layer, as (n, heads, positions, head_dim)."""
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        weight, bias = self._used(self.in_proj_weight), self._used(self.in_proj_bias)
        y = ops.dense(
            x if self.batch_first else np.swapaxes(x, 0, 1),
            weight[rows],
            None if bias is None else bias[rows],
        )
        y = y.reshape(y.shape[0], y.shape[1], self.num_heads, self.head_dim)
        return np.swapaxes(y, 1, 2)

    def extend_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def masked(scores: Any, mask: Any) -> Any:
    """Scores of -inf where a mask is True; or with a mask of numbers added."""
    return np.where(mask, -np.inf, scores) if mask.dtype == np.bool_ else scores + mask


__all__ = ["MultiheadAttention"]
