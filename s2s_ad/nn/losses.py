"""Losses: what a prediction is worth, reduced to a number by 'mean' or 'sum', or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.nn import check
from s2s_ad.nn.cell import Cell


class LossBase(Cell):
    """A loss whose terms are reduced to their mean, to their sum, or ('none') not at all.

    Subclasses say the terms in `construct` and hand them to `get_loss`.

    Raises:
        ArgumentValueError: the reduction is none of these.
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__()
        check.reduction(type(self).__name__, reduction)
        self.reduction = reduction

    def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
        """The terms, weighted and reduced."""
        return reduced(weights * x, self.reduction)


def reduced(terms: Any, reduction: str) -> Any:
    return np.mean(terms) if reduction == "mean" else np.sum(terms) if reduction == "sum" else terms


class MSELoss(LossBase):
    """(logits - labels)**2

    Example:
        >>> from s2s_ad import Tensor, nn
        >>> print(nn.MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])))
        2.0
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        return reduced((logits - labels) ** 2, self.reduction)


class L1Loss(LossBase):
    """|logits - labels|"""

    def construct(self, logits: Any, labels: Any) -> Any:
        return reduced(np.abs(logits - labels), self.reduction)


__all__ = ["L1Loss", "LossBase", "MSELoss"]
