"""Losses as Cells: the functions of `ops` with their options."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad import ops
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
        return ops.mse_loss(logits, labels, self.reduction)


class L1Loss(LossBase):
    """|logits - labels|"""

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.l1_loss(logits, labels, self.reduction)


class MAELoss(L1Loss):
    """L1Loss by another name."""


class SmoothL1Loss(LossBase):
    """d**2 / (2 * beta) where |d| < beta, |d| - beta / 2 elsewhere, of d = logits - labels.

    Args:
        beta: where the one becomes the other, greater than 0.
        reduction: 'none' by default, other than that of the other losses.
    """

    def __init__(self, beta: float = 1.0, reduction: str = "none"):
        super().__init__(reduction)
        positive("SmoothL1Loss", "beta", beta)
        self.beta = beta

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """d**2 / 2 where |d| <= delta, delta * (|d| - delta / 2) elsewhere, of d = logits - labels."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction)
        positive("HuberLoss", "delta", delta)
        self.delta = delta

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


def positive(api: str, name: str, value: Any) -> None:
    check.number(api, **{name: value})
    if not value > 0:
        raise check.wrong_value(api, name, value, "a number greater than 0")


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels * logits)), for labels of 1 and -1."""

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class BCELoss(LossBase):
    """-(labels * log(logits) + (1 - labels) * log(1 - logits)), of probabilities `logits`.

    Args:
        weight: a factor of each term, in a shape that broadcasts.
    """

    def __init__(self, weight: Any = None, reduction: str = "mean"):
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """BCELoss of sigmoid(logits), without overflow.

    Args:
        weight: a factor of each term; pos_weight: of those of positive labels.
    """

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None):
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.binary_cross_entropy_with_logits(
            logits, labels, self.weight, self.pos_weight, self.reduction
        )


class CrossEntropyLoss(LossBase):
    """-log(softmax(logits)) of the class that each label names.

    Args:
        weight: of each class.
        ignore_index: the label of samples that do not count.
        label_smoothing: how much of each label is spread over all classes, in [0, 1].

    Inputs:
        logits: (n, classes, ...); labels: (n, ...) of integers, or probabilities like the logits.
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):
        super().__init__(reduction)
        check.number("CrossEntropyLoss", label_smoothing=label_smoothing)
        if not 0 <= label_smoothing <= 1:
            expected = "a number in [0, 1]"
            raise check.wrong_value(
                "CrossEntropyLoss", "label_smoothing", label_smoothing, expected
            )
        self.weight, self.ignore_index = weight, ignore_index
        self.label_smoothing = label_smoothing

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.cross_entropy(
            logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


class NLLLoss(LossBase):
    """-logits of the class that each label names, of logarithms of probabilities."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"):
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """-log(softmax(logits)), weighted by labels that are probabilities of the classes.

    Args:
        sparse: whether labels are the numbers of classes rather than probabilities.
        reduction: 'none' by default, other than that of the other losses.
    """

    def __init__(self, sparse: bool = False, reduction: str = "none"):
        super().__init__(reduction)
        check.flag("SoftmaxCrossEntropyWithLogits", sparse=sparse)
        self.sparse = sparse

    def construct(self, logits: Any, labels: Any) -> Any:
        return (
            ops.cross_entropy(logits, labels, reduction=self.reduction)
            if self.sparse
            else reduced(-np.sum(labels * ops.log_softmax(logits), axis=-1), self.reduction)
        )


class KLDivLoss(LossBase):
    """labels * (log(labels) - logits), of logarithms of probabilities `logits`.

    Args:
        reduction: 'mean', 'batchmean' (the sum over the number of samples), 'sum' or 'none'.
    """

    def __init__(self, reduction: str = "mean"):
        check.choice("KLDivLoss", "reduction", reduction, (*check.REDUCTIONS, "batchmean"))
        super().__init__()
        self.reduction = reduction

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.kl_div(logits, labels, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cos of the angle between rows where the target is 1, max(0, cos - margin) where -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean"):
        super().__init__(reduction)
        check.number("CosineEmbeddingLoss", margin=margin)
        self.margin = margin

    def construct(self, logits_x1: Any, logits_x2: Any, labels: Any) -> Any:
        return reduced(
            of_angles(cosines(logits_x1, logits_x2), labels, self.margin), self.reduction
        )


def cosines(a: Any, b: Any) -> Any:
    return np.sum(a * b, axis=1) / np.sqrt(np.sum(a * a, axis=1) * np.sum(b * b, axis=1))


def of_angles(cosine: Any, labels: Any, margin: float) -> Any:
    return np.where(labels == 1, 1 - cosine, np.maximum(0, cosine - margin))


__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "SoftmaxCrossEntropyWithLogits",
]
