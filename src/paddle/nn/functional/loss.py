"""Losses of classification and regression. Those on margins and on sequences have files of their own."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...engine.ops import elementwise as ew
from ...engine.ops.activation import Softplus
from ...engine.ops.logic import select
from ...engine.ops.loss import BinaryCrossEntropy
from ...engine.ops.math import abs_, pow_
from ...engine.ops.reduction import sum_
from ...engine.ops.shape import broadcast_to, reshape
from ...engine.ops.softmax import LogSoftmax, PickLabel, PutLabel, Softmax, SoftmaxCrossEntropy
from ...engine.types import int64
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import axis_of, check_reduction, floating, no_kernel, reduced, tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "kl_div", "l1_loss", "log_loss",
    "mse_loss", "nll_loss", "sigmoid_focal_loss", "smooth_l1_loss", "softmax_with_cross_entropy", "square_error_cost",
]  # fmt: skip

# log(1 + exp(x)), never cut to x
_softplus = Softplus(1.0, float("inf"))


# ---- classes ----------------------------------------------------------------------------------
def _hard_label(name: str, x: Any, label: Any, axis: int) -> tuple[Any, bool]:
    """Labels without the axis of classes, and whether they had it (with size 1)."""
    rest = tuple(n for i, n in enumerate(x.shape) if i != axis)
    shape = tuple(label.shape)
    kept = len(shape) == x.ndim
    wanted = tuple(1 if i == axis else n for i, n in enumerate(x.shape)) if kept else rest
    if shape != wanted:
        raise errors.invalid_argument(
            f"{name}: label does not fit input.",
            expected=f"label: {list(rest)}, or with 1 on axis {axis}; or soft_label=True and the shape of input",
            received=f"input: {x.type}, label: {label.type}",
        )
    if label.dtype.is_floating:
        label = ew.cast(label, int64)
    elif label.dtype.name not in ("int32", "int64"):
        raise no_kernel(
            f"{name}: there is no kernel for this type of label.", expected="int32 or int64",
            received=f"label: {label.type}",
        )  # fmt: skip
    return reshape(label, rest), kept


def _class_weight(name: str, weight: Any, classes: int) -> None:
    if weight is not None and tuple(tensor(weight, name, "weight").shape) != (classes,):
        raise errors.invalid_argument(
            f"{name}: weight does not fit the classes.", expected=f"weight: [{classes}]",
            received=f"weight: {weight.type}",
        )  # fmt: skip


def _weight_of(weight: Any, x: Any, label: Any, axis: int, ignore_index: int) -> Any:
    """The weight of each label, 0 where it is ignored."""
    row = reshape(weight, tuple(weight.shape[0] if i == axis else 1 for i in range(x.ndim)))
    return PickLabel(axis, ignore_index)(broadcast_to(row, tuple(x.shape)), label)


def _averaged(loss: Any, share: Any) -> Any:
    """sum(loss) / sum(share), 0 where all shares are 0."""
    total = sum_(share, tuple(range(share.ndim)))
    total = total + ew.cast(ew.equal(total, 0.0), total.dtype)
    return sum_(loss, tuple(range(loss.ndim))) / total


@public(also={"label": "target"}, composed=True)
def cross_entropy(input: Tensor, label: Tensor, weight: Tensor | None = None, ignore_index: int = -100,
                  reduction: str = "mean", soft_label: bool = False, axis: int = -1, use_softmax: bool = True,
                  label_smoothing: float = 0.0, name: str | None = None) -> Tensor:  # fmt: skip
    """-log of the probability that the softmax of input gives to the label.

    Args:
        input (Tensor): [N, ..., C]: logits, or probabilities if use_softmax is False.
        label (Tensor): classes, int32 or int64, [N, ...] or with 1 in place of C; or probabilities in the shape of
            input, if soft_label.
        weight (Tensor, optional): [C], of each class. Default: None.
        ignore_index (int, optional): rows with this label count nothing. Default: -100.
        reduction (str, optional): "mean" over the rows that count (by weight), "sum" or "none". Default: "mean".
        soft_label (bool, optional): whether labels are probabilities. Default: False.
        axis (int, optional): of the classes. Default: -1.
        use_softmax (bool, optional): whether input is logits. Default: True.
        label_smoothing (float, optional): share of the label that is spread over all classes. Default: 0.0.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of label (with 1 on axis if it is soft).

    Raises:
        ValueError: shapes do not fit, or reduction is not known. IndexError: a label is outside [0, C) and not
            ignore_index; raised where the loss is computed.

    Examples:
        >>> x = paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]])
        >>> round(paddle.nn.functional.cross_entropy(x, paddle.to_tensor([0, 0])).item(), 4)
        1.1269
    """
    fn = "cross_entropy"
    check_reduction(reduction, fn)
    if soft_label and ignore_index > 0:
        raise errors.invalid_argument(
            "cross_entropy: ignore_index does not go with soft labels.",
            expected="ignore_index -100",
            received=f"ignore_index: {ignore_index}",
        )
    x = floating(input, fn, "input")
    tensor(label, fn, "label")
    if x.ndim == 0:
        raise errors.invalid_argument(
            "cross_entropy: input is 0-D.", expected="an axis of classes", received=f"input: {x.type}"
        )
    if label.ndim not in (x.ndim, x.ndim - 1):
        raise errors.invalid_argument(
            "cross_entropy: label has the wrong number of axes.",
            expected=f"{x.ndim - 1} or {x.ndim} axes",
            received=f"input: {x.type}, label: {label.type}",
        )
    axis = axis_of(axis, x.ndim, fn)
    classes = x.shape[axis]
    _class_weight(fn, weight, classes)
    if soft_label and tuple(label.shape) != tuple(x.shape):
        raise errors.invalid_argument(
            "cross_entropy: soft labels do not fit the input.",
            expected=f"label: {list(x.shape)}, a probability for each class",
            received=f"input: {x.type}, label: {label.type}",
            hint="leave soft_label out for labels that are numbers of classes.",
        )
    if label_smoothing > 0.0 or soft_label:
        squeeze = label.ndim == x.ndim - 1 and not label_smoothing
        soft = _soft_label(x, label, axis, label_smoothing, ignore_index)
        loss = _soft_loss(x, soft, axis, use_softmax)
        if weight is None:
            return reduced(reshape(loss, _without(x, axis)) if squeeze else loss, reduction)
        row = reshape(weight, tuple(classes if i == axis else 1 for i in range(x.ndim)))
        share = sum_(soft * row, (axis,), True)
        loss = loss * share
        return _averaged(loss, share) if reduction == "mean" else reduced(loss, reduction)
    label, kept = _hard_label(fn, x, label, axis)
    if use_softmax:
        loss = SoftmaxCrossEntropy(axis, int(ignore_index))(x, label)
    else:
        loss = _log_loss_at(x, label, axis, int(ignore_index))
    share = None
    if weight is not None:
        share = _weight_of(weight, x, label, axis, int(ignore_index))
        loss = loss * share
    if reduction == "mean":
        if not loss.size:
            return reduced(loss, "mean")
        if share is None and ignore_index < 0:
            return reduced(loss, "mean")  # as upstream: with a negative ignore_index all rows count in the divisor
        if share is None:
            share = ew.cast(ew.not_equal(label, int(ignore_index)), loss.dtype)
        return _averaged(loss, share)
    if reduction == "sum":
        return reduced(loss, "sum")
    return reshape(loss, tuple(1 if i == axis else n for i, n in enumerate(x.shape))) if kept else loss


def _without(x: Any, axis: int) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(x.shape) if i != axis)


def _log_loss_at(x: Any, label: Any, axis: int, ignore_index: int) -> Any:
    """-log(x) at the label; 0 where it is ignored."""
    kept = ew.not_equal(label, ignore_index)
    return -ew.log(select(kept, PickLabel(axis, ignore_index)(x, label), 1.0))


def _soft_label(x: Any, label: Any, axis: int, smoothing: float, ignore_index: int) -> Any:
    """Labels as probabilities in the shape of x, smoothed."""
    if not 0.0 <= smoothing <= 1.0:
        raise errors.invalid_argument(
            "cross_entropy: label_smoothing is out of range.", expected="0 <= label_smoothing <= 1",
            received=f"{smoothing}",
        )  # fmt: skip
    if tuple(label.shape) != tuple(x.shape):
        from ...engine.ops.creation import Full

        label, _ = _hard_label("cross_entropy", x, label, axis)
        ones = Full(tuple(label.shape), 1.0, x.dtype)()
        label = PutLabel(axis, x.shape[axis], ignore_index)(ones, label)
    label = ew.cast(label, x.dtype)
    return label * (1.0 - smoothing) + smoothing / x.shape[axis] if smoothing else label


def _soft_loss(x: Any, label: Any, axis: int, use_softmax: bool) -> Any:
    return -sum_(label * (LogSoftmax(axis)(x) if use_softmax else ew.log(x)), (axis,), True)


@public(composed=True)
def softmax_with_cross_entropy(logits: Tensor, label: Tensor, soft_label: bool = False, ignore_index: int = -100,
                               numeric_stable_mode: bool = True, return_softmax: bool = False,
                               axis: int = -1) -> Any:  # fmt: skip
    """-log of the probability that the softmax of logits gives to the label, for each row.

    Args:
        logits (Tensor): [N, ..., C].
        label (Tensor): classes, int32 or int64, in the shape of logits with 1 in place of C; or probabilities in the
            shape of logits, if soft_label.
        soft_label (bool, optional): whether labels are probabilities. Default: False.
        ignore_index (int, optional): rows with this label give 0. Default: -100.
        numeric_stable_mode (bool, optional): the computation is always stable. Default: True.
        return_softmax (bool, optional): also return the softmax. Default: False.
        axis (int, optional): of the classes. Default: -1.

    Returns:
        Tensor: the losses, with 1 on axis; with return_softmax a tuple with the softmax.

    Raises:
        ValueError: shapes do not fit. IndexError: a label is outside [0, C) and not ignore_index.
    """
    fn = "softmax_with_cross_entropy"
    x = floating(logits, fn, "logits")
    tensor(label, fn, "label")
    axis = axis_of(axis, x.ndim, fn)
    if label.ndim != x.ndim:
        raise errors.invalid_argument(
            f"{fn}: label has the wrong number of axes.",
            expected=f"{x.ndim} axes",
            received=f"logits: {x.type}, label: {label.type}",
        )
    if soft_label:
        loss = _soft_loss(x, ew.cast(label, x.dtype), axis, True)
    else:
        label, _ = _hard_label(fn, x, label, axis)
        loss = SoftmaxCrossEntropy(axis, int(ignore_index))(x, label)
        loss = reshape(loss, tuple(1 if i == axis else n for i, n in enumerate(x.shape)))
    return (loss, Softmax(axis)(x)) if return_softmax else loss


@public(composed=True)
def nll_loss(input: Tensor, label: Tensor, weight: Tensor | None = None, ignore_index: int = -100,
             reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """-input at the label.

    Args:
        input (Tensor): log-probabilities, [N, C] or [N, C, d1, ...].
        label (Tensor): int64, [N] or [N, d1, ...].
        weight (Tensor, optional): [C], of each class. Default: None.
        ignore_index (int, optional): rows with this label count nothing. Default: -100.
        reduction (str, optional): "mean" (by weight), "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of label.

    Raises:
        ValueError: shapes do not fit, or reduction is not known. IndexError: a label is outside [0, C) and not
            ignore_index; raised where the loss is computed.
    """
    fn = "nll_loss"
    check_reduction(reduction, fn)
    x = floating(input, fn, "input")
    tensor(label, fn, "label")
    if x.ndim < 2:
        raise errors.invalid_argument("nll_loss: input has fewer than 2 axes.", expected="[N, C, ...]",
                                      received=f"input: {x.type}")  # fmt: skip
    _class_weight(fn, weight, x.shape[1])
    label, _ = _hard_label(fn, x, label, 1)
    from .input import check_range

    if label.buffer is not None and ignore_index not in label.buffer:
        check_range(label, x.shape[1], fn)
    loss = -PickLabel(1, int(ignore_index))(x, label)
    share = None
    if weight is not None:
        share = _weight_of(weight, x, label, 1, int(ignore_index))
        loss = loss * share
    if reduction == "mean":
        if share is None:
            share = ew.cast(ew.not_equal(label, int(ignore_index)), loss.dtype)
        return _averaged(loss, share)
    return reduced(loss, reduction)


def _same_shape(name: str, x: Any, label: Any) -> None:
    floating(x, name, "input")
    tensor(label, name, "label")
    if tuple(x.shape) != tuple(label.shape):
        raise errors.invalid_argument(
            f"{name}: input and label differ in shape.",
            expected="equal shapes",
            received=f"input: {x.type}, label: {label.type}",
        )


@public(composed=True)
def binary_cross_entropy(input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean",
                         name: str | None = None) -> Tensor:  # fmt: skip
    """-(label * log(input) + (1 - label) * log(1 - input)), with logarithms of at least -100.

    Args:
        input (Tensor): probabilities, in [0, 1].
        label (Tensor): in [0, 1], shape and dtype of input.
        weight (Tensor, optional): multiplies the losses; broadcasts with input. Default: None.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of input.

    Raises:
        ValueError: shapes differ, reduction is not known, or an element of input is outside [0, 1] (raised where the
            loss is computed).
    """
    fn = "binary_cross_entropy"
    check_reduction(reduction, fn)
    _same_shape(fn, input, label)
    loss = BinaryCrossEntropy()(input, ew.cast(label, input.dtype))
    if weight is not None:
        loss = loss * tensor(weight, fn, "weight")
    return reduced(loss, reduction)


@public(composed=True)
def binary_cross_entropy_with_logits(logit: Tensor, label: Tensor, weight: Tensor | None = None,
                                     reduction: str = "mean", pos_weight: Tensor | None = None,
                                     name: str | None = None) -> Tensor:  # fmt: skip
    """`binary_cross_entropy` of sigmoid(logit), without overflow.

    Args:
        logit (Tensor): any floating dtype.
        label (Tensor): in [0, 1], shape and dtype of logit.
        weight (Tensor, optional): multiplies the losses; broadcasts with logit. Default: None.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        pos_weight (Tensor, optional): multiplies the part of the positive label; broadcasts. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of logit.

    Raises:
        ValueError: shapes do not fit, or reduction is not known.
    """
    fn = "binary_cross_entropy_with_logits"
    check_reduction(reduction, fn)
    _same_shape(fn, logit, label)
    loss = _logit_loss(logit, ew.cast(label, logit.dtype), pos_weight)
    if weight is not None:
        loss = loss * tensor(weight, fn, "weight")
    return reduced(loss, reduction)


def _logit_loss(logit: Any, label: Any, pos_weight: Any = None) -> Any:
    positive = label * _softplus(-logit)
    if pos_weight is not None:
        positive = positive * tensor(pos_weight, "binary_cross_entropy_with_logits", "pos_weight")
    return positive + (1.0 - label) * _softplus(logit)


@public(composed=True)
def sigmoid_focal_loss(logit: Tensor, label: Tensor, normalizer: Tensor | None = None, alpha: float = 0.25,
                       gamma: float = 2.0, reduction: str = "sum", name: str | None = None) -> Tensor:  # fmt: skip
    """Binary cross entropy that counts what is classified well already the less, the better.

    Source: Lin et al. 2017, arXiv:1708.02002, equation 5.

    Args:
        logit (Tensor): any floating dtype.
        label (Tensor): 0 or 1, shape and dtype of logit.
        normalizer (Tensor, optional): [] or [1], divides the losses. Default: None.
        alpha (float, optional): weight of the positive label; the other has 1 - alpha. Default: 0.25.
        gamma (float, optional): strength, not negative. Default: 2.0.
        reduction (str, optional): "mean", "sum" or "none". Default: "sum".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of logit.

    Raises:
        ValueError: shapes do not fit, or reduction is not known.
    """
    fn = "sigmoid_focal_loss"
    check_reduction(reduction, fn)
    if normalizer is not None and tensor(normalizer, fn, "normalizer").ndim > 1:
        raise errors.invalid_argument(
            "sigmoid_focal_loss: normalizer is no number.", expected="[] or [1]", received=f"{normalizer.type}"
        )
    _same_shape(fn, logit, label)
    label = ew.cast(label, logit.dtype)
    p = ew.sigmoid(logit)
    wrong = p + label - p * label * 2.0
    loss = _logit_loss(logit, label) * (label * (2.0 * alpha - 1.0) + (1.0 - alpha))
    if gamma:
        loss = loss * pow_(wrong, float(gamma))
    if normalizer is not None:
        loss = loss / normalizer
    return reduced(loss, reduction)


# ---- numbers ----------------------------------------------------------------------------------
@public(composed=True)
def mse_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """(input - label) ** 2.

    Args:
        input (Tensor): any dtype.
        label (Tensor): dtype of input; broadcasts with it.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the broadcast shape.

    Raises:
        ValueError: the shapes do not broadcast, or reduction is not known.

    Examples:
        >>> paddle.nn.functional.mse_loss(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])).item()
        2.0
    """
    check_reduction(reduction, "mse_loss")
    loss = square_error_cost(input, label)
    if reduction == "mean" and not loss.dtype.is_floating:
        return ew.cast(reduced(loss, "mean"), loss.dtype)
    return reduced(loss, reduction)


@public(composed=True)
def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """(input - label) ** 2, element by element; see `mse_loss`."""
    d = tensor(input, "square_error_cost", "input") - tensor(label, "square_error_cost", "label")
    return d * d


@public(composed=True)
def l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """|input - label|.

    Args:
        input (Tensor): any dtype.
        label (Tensor): dtype of input; broadcasts with it.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the broadcast shape.

    Raises:
        ValueError: the shapes do not broadcast, or reduction is not known. RuntimeError: the mean of integers.
    """
    check_reduction(reduction, "l1_loss")
    loss = abs_(tensor(input, "l1_loss", "input") - tensor(label, "l1_loss", "label"))
    if reduction == "mean":
        floating(loss, "l1_loss", "input")
    return reduced(loss, reduction)


@public(composed=True)
def smooth_l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True,
                   name: str | None = None) -> Tensor:  # fmt: skip
    """d ** 2 / 2 for a difference d within delta, else delta * (|d| - delta / 2); over delta if not is_huber.

    Source: Huber 1964, doi:10.1214/aoms/1177703732.

    Args:
        input (Tensor): any floating dtype.
        label (Tensor): shape and dtype of input.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        delta (float, optional): where the square ends. Default: 1.0.
        is_huber (bool, optional): False divides by delta. Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the shape of input.

    Raises:
        ValueError: the shapes differ, or reduction is not known.
    """
    check_reduction(reduction, "smooth_l1_loss")
    _same_shape("smooth_l1_loss", input, label)
    d = abs_(input - label)
    inner = ew.minimum(d, float(delta))
    loss = inner * (d - inner * 0.5)
    return reduced(loss if is_huber else loss / float(delta), reduction)


@public(composed=True)
def kl_div(input: Tensor, label: Tensor, reduction: str = "mean", log_target: bool = False,
           name: str | None = None) -> Tensor:  # fmt: skip
    """label * (log(label) - input): the divergence of log-probabilities from a distribution.

    Source: Kullback and Leibler 1951, doi:10.1214/aoms/1177729694.

    Args:
        input (Tensor): log-probabilities.
        label (Tensor): probabilities (0 gives 0), or their logarithms if log_target; broadcasts with input.
        reduction (str, optional): "mean", "sum", "batchmean" (the sum over the size of the first axis) or "none".
            Default: "mean".
        log_target (bool, optional): whether label is logarithms. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses in the broadcast shape.

    Raises:
        ValueError: the shapes do not broadcast, or reduction is not known.
    """
    check_reduction(reduction, "kl_div", ("none", "mean", "sum", "batchmean"))
    floating(input, "kl_div", "input")
    floating(label, "kl_div", "label")
    if log_target:
        loss = ew.exp(label) * (label - input)
    else:
        present = ew.greater_than(label, 0.0)
        loss = label * (ew.log(select(present, label, 1.0)) - input)
        loss = select(present, loss, 0.0)
    if reduction == "batchmean":
        total = reduced(loss, "sum")
        return total / float(loss.shape[0]) if loss.ndim else total
    return reduced(loss, reduction)


@public(composed=True)
def log_loss(input: Tensor, label: Tensor, epsilon: float = 1e-4, name: str | None = None) -> Tensor:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon).

    Args:
        input (Tensor): probabilities, [N, 1].
        label (Tensor): 0 or 1, shape and dtype of input.
        epsilon (float, optional): keeps the logarithms finite. Default: 1e-4.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, 1].

    Raises:
        ValueError: the shapes differ, or input has not 2 axes.
    """
    _same_shape("log_loss", input, label)
    if input.ndim != 2:
        raise errors.invalid_argument("log_loss: input has not 2 axes.", expected="[N, 1]", received=f"{input.type}")
    return -label * ew.log(input + float(epsilon)) - (1.0 - label) * ew.log(1.0 - input + float(epsilon))
