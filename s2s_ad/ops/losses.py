"""Losses: what a prediction costs for each sample, then averaged, summed or left as it is.

`reduction` is 'mean', 'sum' or 'none'. Losses of logits go through logarithms of sums of
exponentials, so large logits of either sign give right values and derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.ops.activations import log_one_plus_exp, log_softmax
from s2s_ad.ops.arguments import (
    REDUCTIONS,
    array,
    choice,
    count_of,
    floating,
    indices_of,
    positive,
    probability,
    same_shape,
)
from s2s_ad.tensors import Tensor


def reduced(loss: Any, reduction: str) -> Any:
    """The mean or the sum of a loss, or the loss itself."""
    if reduction == "none":
        return loss
    return np.mean(loss) if reduction == "mean" else np.sum(loss)


# ---- distances -----------------------------------------------------------------------------------


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """(input - target) ** 2. The two broadcast.

    Raises:
        ArgumentValueError: reduction is another text.

    Example:
        >>> mse_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).tolist()
        2.0
    """
    choice("mse_loss", reduction, "reduction", REDUCTIONS)
    difference = floating("mse_loss", input) - array("mse_loss", target, "target")
    return reduced(np.square(difference), reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """abs(input - target). The two broadcast."""
    choice("l1_loss", reduction, "reduction", REDUCTIONS)
    difference = floating("l1_loss", input) - array("l1_loss", target, "target")
    return reduced(np.abs(difference), reduction)


def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """difference**2 / (2 * beta) up to a distance of beta, abs(difference) - beta / 2 beyond."""
    choice("smooth_l1_loss", reduction, "reduction", REDUCTIONS)
    positive("smooth_l1_loss", beta, "beta")
    difference = floating("smooth_l1_loss", input) - array("smooth_l1_loss", target, "target")
    distance = np.abs(difference)
    loss = np.where(distance < beta, np.square(difference) / (2 * beta), distance - 0.5 * beta)
    return reduced(loss, reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """difference**2 / 2 up to a distance of delta, a straight line beyond."""
    choice("huber_loss", reduction, "reduction", REDUCTIONS)
    positive("huber_loss", delta, "delta")
    difference = floating("huber_loss", input) - array("huber_loss", target, "target")
    distance = np.abs(difference)
    near, far = 0.5 * np.square(difference), delta * (distance - 0.5 * delta)
    return reduced(np.where(distance < delta, near, far), reduction)


# ---- two classes ---------------------------------------------------------------------------------


def binary_cross_entropy(
    logits: Any, labels: Any, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """-(labels * log(p) + (1 - labels) * log(1 - p)) for probabilities p; logarithms >= -100.

    Raises:
        ArgumentValueError: the shapes differ, or reduction is another text.
    """
    api = "binary_cross_entropy"
    choice(api, reduction, "reduction", REDUCTIONS)
    p, y = floating(api, logits, "logits"), array(api, labels, "labels")
    same_shape(api, p, y, ("logits", "labels"))
    loss = -(y * np.maximum(np.log(p), -100) + (1 - y) * np.maximum(np.log1p(-p), -100))
    return reduced(loss if weight is None else weight * loss, reduction)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """binary_cross_entropy(sigmoid(input), target), right for large logits of either sign.

    Args:
        weight: of each element; pos_weight: of what `target` has of class 1. Both broadcast.

    Raises:
        ArgumentTypeError: input or target is no Tensor.
        ArgumentValueError: their shapes differ, or reduction is another text.

    Example:
        >>> binary_cross_entropy_with_logits(Tensor([100.0]), Tensor([0.0])).tolist()
        100.0
    """
    api = "binary_cross_entropy_with_logits"
    choice(api, reduction, "reduction", REDUCTIONS)
    x, y = floating(api, input), array(api, target, "target")
    same_shape(api, x, y, ("input", "target"))
    softplus = log_one_plus_exp(-x)
    if pos_weight is None:
        loss = (1 - y) * x + softplus
    else:
        loss = (1 - y) * x + (1 + (pos_weight - 1) * y) * softplus
    return reduced(loss if weight is None else weight * loss, reduction)


# ---- many classes --------------------------------------------------------------------------------


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log(softmax(input)) of the class that each target names, or the mean over probabilities.

    Args:
        input: logits of shape (classes,), (n, classes) or (n, classes, ...).
        target: class indices of shape (), (n,) or (n, ...), or probabilities in input's shape.
        weight: one number for each class. The mean is then one by these weights.
        ignore_index: samples of this class cost nothing, and the mean is over the others.
        label_smoothing: how much of each target is spread over all classes, from 0 to 1.

    Raises:
        ArgumentValueError: the shapes do not fit, or a target is no class.

    Example:
        >>> round(cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1])).tolist(), 4)
        0.6931
    """
    x = floating("cross_entropy", input)
    logarithms = log_softmax(x, 1 if np.ndim(x) > 1 else 0)
    if np.result_type(array("cross_entropy", target, "target")).kind == "f":
        return cost_of_probabilities(logarithms, target, weight, reduction, label_smoothing)
    return cost_of_classes(
        "cross_entropy", logarithms, target, weight, ignore_index, reduction, label_smoothing
    )


def nll_loss(
    inputs: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative of the logarithm that each target names: cross_entropy of log_softmax."""
    return cost_of_classes(
        "nll_loss",
        floating("nll_loss", inputs, "inputs"),
        array("nll_loss", target, "target"),
        weight,
        ignore_index,
        reduction,
        label_smoothing,
    )


def cost_of_classes(
    api: str,
    logarithms: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Any:
    """The loss of logarithms of probabilities for class indices."""
    choice(api, reduction, "reduction", REDUCTIONS)
    axis = 1 if np.ndim(logarithms) > 1 else 0
    indices_of(api, target, "target")
    fitting_classes(api, logarithms, target, axis)
    fitting_weight(api, logarithms, weight, axis)
    probability(api, label_smoothing, "label_smoothing")
    count_of(api, ignore_index, "ignore_index", -(2**31))
    classes = np.shape(logarithms)[axis]
    kept = target != ignore_index
    wrong = kept & ((target < 0) | (target >= classes))
    if np.any(wrong):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: target[{np.argmax(wrong)}] = {np.ravel(target)[np.argmax(wrong)]} "
            f"is not a class index ({classes} classes)",
        )
    index = np.where(kept, target, 0)
    share = kept.astype(logarithms.dtype) if weight is None else np.where(kept, weight[index], 0)
    picked = np.take_along_axis(logarithms, np.expand_dims(index, axis), axis)
    loss = -share * np.squeeze(picked, axis)
    if label_smoothing > 0:
        each = logarithms if weight is None else along(weight, logarithms, axis) * logarithms
        spread = np.where(kept, np.mean(each, axis=axis), 0)
        loss = (1 - label_smoothing) * loss - label_smoothing * spread
    if reduction == "mean":
        return np.sum(loss) / np.sum(share)
    return reduced(loss, reduction)


def cost_of_probabilities(
    logarithms: Any, target: Any, weight: Any, reduction: str, label_smoothing: float
) -> Any:
    """The loss of logarithms of probabilities for probabilities."""
    choice("cross_entropy", reduction, "reduction", REDUCTIONS)
    same_shape("cross_entropy", logarithms, target, ("input", "target"))
    axis = 1 if np.ndim(logarithms) > 1 else 0
    fitting_weight("cross_entropy", logarithms, weight, axis)
    probability("cross_entropy", label_smoothing, "label_smoothing")
    y = target
    if label_smoothing > 0:
        y = (1 - label_smoothing) * target + label_smoothing / np.shape(logarithms)[axis]
    each = logarithms if weight is None else along(weight, logarithms, axis) * logarithms
    return reduced(-np.sum(y * each, axis=axis), reduction)


def along(weight: Any, like: Any, axis: int) -> Any:
    """A vector that goes along an axis of `like`."""
    return np.reshape(weight, (-1,) + (1,) * (np.ndim(like) - axis - 1))


def fitting_classes(api: str, logarithms: Any, target: Any, axis: int) -> None:
    """The target has the shape of the logits without the axis of classes."""
    if np.ndim(target) != np.ndim(logarithms) - 1:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: input has {np.ndim(logarithms)} axes and target {np.ndim(target)}; expected "
            f"{np.ndim(logarithms) - 1}, class indices, or probabilities in the shape of input",
        )
    if axis == 1 and len(target) != len(logarithms):
        raise ArgumentValueError(
            "S2S502", f"{api}: input has {len(logarithms)} rows, target has {len(target)}"
        )
    if np.shape(target)[1:] != np.shape(logarithms)[2:]:
        raise ArgumentValueError(
            "S2S502",
            f"{api}: input has shape {np.shape(logarithms)}, target has shape {np.shape(target)}; "
            "expected that of input without axis 1",
        )


def fitting_weight(api: str, logarithms: Any, weight: Any, axis: int) -> None:
    """There is no weight, or one for each class."""
    if weight is None:
        return
    array(api, weight, "weight")
    if np.shape(weight) != (np.shape(logarithms)[axis],):
        raise ArgumentValueError(
            "S2S502",
            f"{api}: argument 'weight' has shape {np.shape(weight)}; expected one number for each "
            f"of {np.shape(logarithms)[axis]} classes",
        )


def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Tensor:
    """labels * (log(labels) - logits) for logarithms of probabilities `logits`; 0 where labels are.

    Args:
        reduction: 'mean' over all elements, 'batchmean' over the first axis, 'sum' or 'none'.
    """
    choice("kl_div", reduction, "reduction", (*REDUCTIONS, "batchmean"))
    x, y = floating("kl_div", logits, "logits"), array("kl_div", labels, "labels")
    same_shape("kl_div", x, y, ("logits", "labels"))
    loss = np.where(y > 0, y * (np.log(np.where(y > 0, y, 1)) - x), 0)
    return np.sum(loss) / len(x) if reduction == "batchmean" else reduced(loss, reduction)


# ---- margins -------------------------------------------------------------------------------------


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin), for targets 1 and -1."""
    choice("margin_ranking_loss", reduction, "reduction", REDUCTIONS)
    array("margin_ranking_loss", input1, "input1"), array("margin_ranking_loss", input2, "input2")
    return reduced(np.maximum(0, -target * (input1 - input2) + margin), reduction)


def hinge_embedding_loss(
    inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """inputs where the target is 1, max(0, margin - inputs) where it is -1."""
    choice("hinge_embedding_loss", reduction, "reduction", REDUCTIONS)
    x = floating("hinge_embedding_loss", inputs, "inputs")
    return reduced(np.where(targets == 1, x, np.maximum(0, margin - x)), reduction)


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)), for targets 1 and -1."""
    choice("soft_margin_loss", reduction, "reduction", REDUCTIONS)
    x = floating("soft_margin_loss", input)
    return reduced(log_one_plus_exp(-target * x), reduction)


def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-06, reduction: str = "mean"
) -> Tensor:
    """(log(var) + (x - target)**2 / var) / 2, with variances of at least eps."""
    choice("gaussian_nll_loss", reduction, "reduction", REDUCTIONS)
    variance = np.maximum(var, eps)
    difference = floating("gaussian_nll_loss", x, "x") - target
    loss = 0.5 * (np.log(variance) + np.square(difference) / variance)
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)
