"""Losses on margins between scores, on distances, and of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import errors, types
from ...engine.eager.trace import from_array
from ...engine.ops import elementwise as ew
from ...engine.ops.activation import LogSigmoid, Softplus
from ...engine.ops.linalg import matmul
from ...engine.ops.logic import select
from ...engine.ops.math import pow_
from ...engine.ops.reduction import mean_, sum_
from ...engine.ops.shape import broadcast_to, reshape, transpose
from ...engine.ops.softmax import PickLabel, PutLabel
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import check_reduction, floating, reduced, tensor
from .distance import pairwise_distance
from .loss import cross_entropy

__all__ = [
    "cosine_embedding_loss", "dice_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss",
    "multi_label_margin_loss", "multi_label_soft_margin_loss", "multi_margin_loss", "npair_loss", "poisson_nll_loss",
    "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip

_softplus = Softplus(1.0, float("inf"))


def _mismatch(name: str, **tensors: Any) -> Exception:
    return errors.invalid_argument(
        f"{name}: the shapes do not fit.",
        expected="equal shapes",
        received=", ".join(f"{label}: {t.type}" for label, t in tensors.items()),
    )


@public(composed=True)
def hinge_embedding_loss(input: Tensor, label: Tensor, margin: float = 1.0, reduction: str = "mean",
                         name: str | None = None) -> Tensor:  # fmt: skip
    """input where label is 1, max(0, margin - input) where it is -1.

    Args:
        input (Tensor): distances.
        label (Tensor): 1 or -1, shape of input.
        margin (float, optional): Default: 1.0.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of input.

    Raises:
        ValueError: reduction is not known.
    """
    check_reduction(reduction, "hinge_embedding_loss")
    floating(input, "hinge_embedding_loss", "input")
    tensor(label, "hinge_embedding_loss", "label")
    label = ew.cast(label, input.dtype)
    loss = select(ew.equal(label, 1.0), input, 0.0)
    loss = loss + select(ew.equal(label, -1.0), ew.relu(float(margin) - input), 0.0)
    return reduced(loss, reduction)


@public(composed=True)
def margin_ranking_loss(input: Tensor, other: Tensor, label: Tensor, margin: float = 0.0, reduction: str = "mean",
                        name: str | None = None) -> Tensor:  # fmt: skip
    """max(0, -label * (input - other) + margin).

    Args:
        input (Tensor): scores.
        other (Tensor): scores; broadcasts with input.
        label (Tensor): 1 where input ought to rank higher, -1 where other ought to.
        margin (float, optional): Default: 0.0.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the broadcast shape.

    Raises:
        ValueError: reduction is not known, or the shapes do not broadcast.
    """
    check_reduction(reduction, "margin_ranking_loss")
    for t, what in ((input, "input"), (other, "other"), (label, "label")):
        floating(t, "margin_ranking_loss", what)
    loss = label * (other - input)
    return reduced(ew.relu(loss + float(margin) if margin else loss), reduction)


@public(composed=True)
def soft_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """log(1 + exp(-label * input)).

    Args:
        input (Tensor): any floating dtype.
        label (Tensor): 1 or -1, shape of input.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of input.

    Raises:
        ValueError: the shapes differ, or reduction is not known.
    """
    check_reduction(reduction, "soft_margin_loss")
    if tensor(input, "soft_margin_loss", "input").dtype.is_integer:
        input = ew.cast(input, types.float32)
    floating(input, "soft_margin_loss", "input")
    if tuple(tensor(label, "soft_margin_loss", "label").shape) != tuple(input.shape):
        raise _mismatch("soft_margin_loss", input=input, label=label)
    return reduced(_softplus(-ew.cast(label, input.dtype) * input), reduction)


@public(composed=True)
def cosine_embedding_loss(input1: Tensor, input2: Tensor, label: Tensor, margin: float = 0, reduction: str = "mean",
                          name: str | None = None) -> Tensor:  # fmt: skip
    """1 - cos where label is 1, max(0, cos - margin) where it is -1; cos between rows of the inputs.

    Args:
        input1 (Tensor): [N, D] or [D].
        input2 (Tensor): shape of input1.
        label (Tensor): 1 or -1, [N] or [].
        margin (float, optional): in [-1, 1]. Default: 0.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of label.

    Raises:
        ValueError: the shapes do not fit, or reduction is not known.
    """
    fn = "cosine_embedding_loss"
    check_reduction(reduction, fn)
    floating(input1, fn, "input1")
    floating(input2, fn, "input2")
    tensor(label, fn, "label")
    if tuple(input1.shape) != tuple(input2.shape):
        raise _mismatch(fn, input1=input1, input2=input2)
    if label.ndim != 1 or input1.ndim > 2:
        raise errors.invalid_argument(
            f"{fn}: label is no vector, or the inputs have more than 2 axes.",
            expected="label [N], inputs [N, D]",
            received=f"input1: {input1.type}, label: {label.type}",
        )
    last = (input1.ndim - 1,)
    square1, square2 = (sum_(t * t, last) + 1e-11 for t in (input1, input2))
    cos = sum_(input1 * input2, last) / ew.sqrt(square1 * square2)
    loss = select(ew.equal(label, 1), 1.0 - cos, 0.0)
    loss = loss + select(ew.equal(label, -1), ew.relu(cos - float(margin)), 0.0)
    return reduced(loss, reduction)


# ---- triplets ---------------------------------------------------------------------------------
def _triplet(name: str, anchor: Any, positive: Any, negative: Any, distance: Callable[[Any, Any], Any], margin: float,
             swap: bool, reduction: str) -> Any:  # fmt: skip
    check_reduction(reduction, name)
    if margin < 0:
        raise errors.invalid_argument(f"{name}: margin is negative.", expected="margin >= 0", received=f"{margin}")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ew.minimum(far, distance(positive, negative))
    return reduced(ew.relu(near - far + float(margin)), reduction)


@public(composed=True)
def triplet_margin_loss(input: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        epsilon: float = 1e-6, swap: bool = False, reduction: str = "mean",
                        name: str | None = None) -> Tensor:  # fmt: skip
    """max(0, |input - positive| - |input - negative| + margin).

    Source: Balntas et al. 2016, doi:10.5244/C.30.119.

    Args:
        input (Tensor): [N, D].
        positive (Tensor): shape of input: of the same class.
        negative (Tensor): shape of input: of another class.
        margin (float, optional): not negative. Default: 1.0.
        p (float, optional): of the norm. Default: 2.
        epsilon (float, optional): keeps the norm off 0. Default: 1e-6.
        swap (bool, optional): the distance of positive and negative counts too, if smaller. Default: False.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses, [N].

    Raises:
        ValueError: margin is negative, or reduction is not known.
    """
    for t, what in ((input, "input"), (positive, "positive"), (negative, "negative")):
        floating(t, "triplet_margin_loss", what)
    return _triplet("triplet_margin_loss", input, positive, negative,
                    lambda a, b: pairwise_distance(a, b, p, epsilon), margin, swap, reduction)  # fmt: skip


@public(guarded=True)
def triplet_margin_with_distance_loss(input: Tensor, positive: Tensor, negative: Tensor,
                                      distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
                                      margin: float = 1.0, swap: bool = False, reduction: str = "mean",
                                      name: str | None = None) -> Tensor:  # fmt: skip
    """max(0, d(input, positive) - d(input, negative) + margin).

    Args:
        input (Tensor): [N, D].
        positive (Tensor): shape of input: of the same class.
        negative (Tensor): shape of input: of another class.
        distance_function (callable, optional): d; the 2-norm of the difference if None. Default: None.
        margin (float, optional): not negative. Default: 1.0.
        swap (bool, optional): the distance of positive and negative counts too, if smaller. Default: False.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses.

    Raises:
        ValueError: margin is negative, or reduction is not known.
    """
    for t, what in ((input, "input"), (positive, "positive"), (negative, "negative")):
        floating(t, "triplet_margin_with_distance_loss", what)
    distance = distance_function or (lambda a, b: pairwise_distance(a, b, 2.0, 0.0))
    return _triplet("triplet_margin_with_distance_loss", input, positive, negative, distance, margin, swap, reduction)


@public(composed=True)
def npair_loss(anchor: Tensor, positive: Tensor, labels: Tensor, l2_reg: float = 0.002) -> Tensor:
    """Cross entropy of all similarities of anchors and positives against equal labels, plus a penalty on lengths.

    Source: Sohn 2016, Advances in Neural Information Processing Systems 29, equation 4.

    Args:
        anchor (Tensor): [N, D].
        positive (Tensor): [N, D].
        labels (Tensor): [N], classes.
        l2_reg (float, optional): weight of the penalty. Default: 0.002.

    Returns:
        Tensor: a number.
    """
    floating(anchor, "npair_loss", "anchor")
    floating(positive, "npair_loss", "positive")
    tensor(labels, "npair_loss", "labels")
    n = labels.shape[0]
    column = broadcast_to(reshape(labels, (n, 1)), (n, n))
    same = ew.cast(ew.equal(column, transpose(column, (1, 0))), anchor.dtype)
    target = same / sum_(same, (1,), True)
    square = lambda t: mean_(sum_(t * t, (1,)), (0,))  # noqa: E731
    penalty = (square(anchor) + square(positive)) * (0.25 * l2_reg)
    loss = cross_entropy(matmul(anchor, positive, False, True), target, soft_label=True, reduction="none")
    weighted = sum_(target * loss, (0,))
    return mean_(weighted, (0,)) + penalty


# ---- several classes --------------------------------------------------------------------------
@public(composed=True)
def multi_margin_loss(input: Tensor, label: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
                      reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """Mean over the other classes j of weight[label] * max(0, margin - input[label] + input[j]) ** p.

    Args:
        input (Tensor): [N, C].
        label (Tensor): int64, [N].
        p (int, optional): the power. Default: 1.
        margin (float, optional): Default: 1.0.
        weight (Tensor, optional): [C], of each label. Default: None.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses, [N].

    Raises:
        ValueError: the shapes do not fit, or reduction is not known. IndexError: a label is outside [0, C).
    """
    fn = "multi_margin_loss"
    check_reduction(reduction, fn)
    floating(input, fn, "input")
    tensor(label, fn, "label")
    if input.ndim != 2 or tuple(label.shape) != (input.shape[0],):
        raise _mismatch(fn, input=input, label=label)
    n, c = input.shape
    pick = PickLabel(1, -(2**62))
    gap = input - reshape(pick(input, label), (n, 1)) + float(margin)
    above = ew.relu(gap)
    powered = above if p == 1 else above * above if p == 2 else pow_(above, float(p))
    loss = mean_(powered, (1,)) - float(margin) ** p / c  # without the label's own class
    if weight is not None:
        loss = pick(broadcast_to(reshape(tensor(weight, fn, "weight"), (1, c)), (n, c)), label) * loss
    return reduced(loss, reduction)


@public(composed=True)
def multi_label_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """Sum over the classes i of the sample and j of the others of max(0, 1 - (input[i] - input[j])) / C.

    Args:
        input (Tensor): [N, C].
        label (Tensor): int64, [N, C]: classes of each sample, the first negative number ends them.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses, [N].

    Raises:
        ValueError: the shapes differ, or reduction is not known. IndexError: a class is not below C.
    """
    fn = "multi_label_margin_loss"
    check_reduction(reduction, fn)
    floating(input, fn, "input")
    tensor(label, fn, "label")
    if input.ndim != 2 or tuple(input.shape) != tuple(label.shape):
        raise _mismatch(fn, input=input, label=label)
    n, c = input.shape
    # a class counts while no negative number came before it: how many did is a product with a triangle
    ended = ew.cast(ew.less_than(label, 0), input.dtype)
    upto = matmul(ended, from_array(np.triu(np.ones((c, c), input.dtype.np))))
    counts = ew.equal(upto, 0.0)
    number = select(counts, label, -1)
    one_hot = PutLabel(2, c, -1)(ew.cast(counts, input.dtype), number)  # [N, place, C]
    belongs = sum_(one_hot, (1,))
    others = ew.cast(ew.equal(belongs, 0.0), input.dtype)
    own = PickLabel(2, -1)(broadcast_to(reshape(input, (n, 1, c)), (n, c, c)), number)
    gap = ew.relu(1.0 - reshape(own, (n, c, 1)) + reshape(input, (n, 1, c)))
    mask = reshape(ew.cast(counts, input.dtype), (n, c, 1)) * reshape(others, (n, 1, c))
    return reduced(sum_(gap * mask, (1, 2)) / float(c), reduction)


@public(composed=True)
def multi_label_soft_margin_loss(input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean",
                                 name: str | None = None) -> Tensor:  # fmt: skip
    """Mean over the classes of the binary cross entropy of sigmoid(input).

    Args:
        input (Tensor): [N, C].
        label (Tensor): 0 or 1, shape of input.
        weight (Tensor, optional): [C] or broadcasts with input. Default: None.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses, [N].

    Raises:
        ValueError: the shapes differ, or reduction is not known.
    """
    fn = "multi_label_soft_margin_loss"
    check_reduction(reduction, fn)
    floating(input, fn, "input")
    if tuple(tensor(label, fn, "label").shape) != tuple(input.shape):
        raise _mismatch(fn, input=input, label=label)
    log_sigmoid = LogSigmoid()
    label = ew.cast(label, input.dtype)
    loss = -(label * log_sigmoid(input) + (1.0 - label) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * tensor(weight, fn, "weight")
    return reduced(mean_(loss, (loss.ndim - 1,)), reduction)


@public(composed=True)
def dice_loss(input: Tensor, label: Tensor, epsilon: float = 1e-5, name: str | None = None) -> Tensor:
    """1 less twice the overlap over the sum of sizes, averaged over samples.

    Source: Milletari, Navab and Ahmadi 2016, arXiv:1606.04797, section 3.

    Args:
        input (Tensor): probabilities, [N, ..., C].
        label (Tensor): int32 or int64 classes, [N, ..., 1].
        epsilon (float, optional): keeps the divisor off 0. Default: 1e-5.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number.

    Raises:
        AssertionError: the shapes do not fit. ValueError: a label is outside [0, C).
    """
    from ...engine.ops.embedding import OneHot

    floating(input, "dice_loss", "input")
    tensor(label, "dice_loss", "label")
    shape = tuple(input.shape)
    if input.ndim < 2 or tuple(label.shape) != (*shape[:-1], 1):
        raise errors.asserted(
            "dice_loss: the shapes do not fit.",
            expected="input: [N, ..., C], label: [N, ..., 1]",
            received=f"input: {input.type}, label: {label.type}",
        )
    one_hot = OneHot(shape[-1], input.dtype)(reshape(label, shape[:-1]))
    axes = tuple(range(1, input.ndim))
    overlap = sum_(input * one_hot, axes)
    sizes = sum_(input, axes) + sum_(one_hot, axes)
    return mean_(1.0 - overlap * 2.0 / (sizes + float(epsilon)), (0,))


# ---- likelihoods ------------------------------------------------------------------------------
@public(composed=True)
def gaussian_nll_loss(input: Tensor, label: Tensor, variance: Tensor, full: bool = False, epsilon: float = 1e-6,
                      reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """(log(variance) + (input - label) ** 2 / variance) / 2.

    Args:
        input (Tensor): means.
        label (Tensor): samples; broadcasts with input.
        variance (Tensor): not negative: shape of input, or with 1 on the last axis, or without it.
        full (bool, optional): add log(2 pi) / 2. Default: False.
        epsilon (float, optional): least variance. Default: 1e-6.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of input.

    Raises:
        ValueError: the shapes do not fit, reduction is not known, or a known variance is negative.
    """
    fn = "gaussian_nll_loss"
    check_reduction(reduction, fn)
    for t, what in ((input, "input"), (label, "label"), (variance, "variance")):
        floating(t, fn, what)
    shape = tuple(input.shape)
    if tuple(variance.shape) != shape:
        if shape[:-1] == tuple(variance.shape):
            variance = reshape(variance, (*shape[:-1], 1))
        elif not (shape[:-1] == tuple(variance.shape)[:-1] and variance.ndim and variance.shape[-1] == 1):
            raise _mismatch(fn, input=input, variance=variance)
    if variance.buffer is not None and (variance.buffer < 0).any():
        raise errors.invalid_argument(
            f"{fn}: a variance is negative.",
            expected="variances of at least 0",
            received=f"variance: {variance.buffer.min()}",
        )
    v = ew.maximum(variance, float(epsilon))
    d = input - label
    loss = (ew.log(v) + d * d / v) * 0.5
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@public(composed=True)
def poisson_nll_loss(input: Tensor, label: Tensor, log_input: bool = True, full: bool = False, epsilon: float = 1e-8,
                     reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """exp(input) - label * input, or input - label * log(input + epsilon) if not log_input.

    Args:
        input (Tensor): rates, or their logarithms.
        label (Tensor): counts; broadcasts with input.
        log_input (bool, optional): whether input is logarithms. Default: True.
        full (bool, optional): add Stirling's approximation of log(label!) where label is above 1. Default: False.
        epsilon (float, optional): keeps the logarithm finite, above 0. Default: 1e-8.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the broadcast shape.

    Raises:
        ValueError: epsilon is not above 0, or reduction is not known.
    """
    fn = "poisson_nll_loss"
    check_reduction(reduction, fn)
    if epsilon <= 0:
        raise errors.invalid_argument(f"{fn}: epsilon is not above 0.", expected="epsilon > 0", received=f"{epsilon}")
    floating(input, fn, "input")
    label = ew.cast(tensor(label, fn, "label"), input.dtype)
    loss = ew.exp(input) - label * input if log_input else input - label * ew.log(input + float(epsilon))
    if full:
        many = ew.greater_than(label, 1.0)
        safe = select(many, label, 1.0)
        stirling = safe * ew.log(safe) - safe + ew.log(safe * (2 * math.pi)) * 0.5
        loss = loss + select(many, stirling, 0.0)
    return reduced(loss, reduction)
