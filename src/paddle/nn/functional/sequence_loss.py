"""Losses over sequences, and over so many classes that they are split up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.ops import elementwise as ew
from ...engine.ops.activation import Softplus
from ...engine.ops.indexing import Gather
from ...engine.ops.linalg import matmul
from ...engine.ops.logic import select
from ...engine.ops.loss import CtcLoss, TransducerLoss
from ...engine.ops.math import acos, cos
from ...engine.ops.reduction import mean_, sum_
from ...engine.ops.shape import reshape
from ...engine.ops.softmax import LogSoftmax, PickLabel, PutLabel, Softmax, SoftmaxCrossEntropy
from ...engine.types import int64
from ...framework.random import next_key
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import check_reduction, floating, reduced, tensor

__all__ = [
    "adaptive_log_softmax_with_loss", "class_center_sample", "ctc_loss", "hsigmoid_loss", "margin_cross_entropy",
    "rnnt_loss",
]  # fmt: skip


def _lengths(name: str, n: int, **tensors: Any) -> list[Any]:
    for label, t in tensors.items():
        if tuple(tensor(t, name, label).shape) != (n,):
            raise errors.invalid_argument(
                f"{name}: {label} does not fit.", expected=f"{label}: [{n}]", received=f"{label}: {t.type}"
            )
    return [ew.cast(t, int64) for t in tensors.values()]


@public(guarded=True)
def ctc_loss(log_probs: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = 0,
             reduction: str = "mean", norm_by_times: bool = False, zero_infinity: bool = False) -> Tensor:  # fmt: skip
    """Minus the log of the probability of all alignments of labels with a sequence.

    Source: Graves et al. 2006, doi:10.1145/1143844.1143891.

    Args:
        log_probs (Tensor): [T, N, C]; the softmax is taken here.
        labels (Tensor): int32 or int64, [N, L], without blanks.
        input_lengths (Tensor): int64, [N], steps of each sequence.
        label_lengths (Tensor): int64, [N], labels of each sequence.
        blank (int, optional): the class that stands for nothing. Default: 0.
        reduction (str, optional): "mean" of the losses over their label_lengths, "sum" or "none". Default: "mean".
        norm_by_times (bool, optional): the gradient is divided by input_lengths. Default: False.
        zero_infinity (bool, optional): sequences without an alignment give 0; as upstream, they do in any case.

    Returns:
        Tensor: a number, or the losses, [N].

    Raises:
        AssertionError: reduction is not known. ValueError: the shapes do not fit. IndexError: a label is no class.
    """
    fn = "ctc_loss"
    if reduction not in ("mean", "sum", "none"):
        raise errors.asserted(
            "ctc_loss: reduction is not known.",
            expected="'mean', 'sum' or 'none'",
            received=f"reduction: {reduction!r}",
        )
    floating(log_probs, fn, "log_probs")
    tensor(labels, fn, "labels")
    if log_probs.ndim != 3 or labels.ndim != 2 or labels.shape[0] != log_probs.shape[1]:
        raise errors.invalid_argument(
            "ctc_loss: the shapes do not fit.",
            expected="log_probs [T, N, C], labels [N, L]",
            received=f"log_probs: {log_probs.type}, labels: {labels.type}",
        )
    times, lengths = _lengths(fn, labels.shape[0], input_lengths=input_lengths, label_lengths=label_lengths)
    loss = CtcLoss(int(blank))(log_probs, ew.cast(labels, int64), times, lengths)
    if norm_by_times:  # the value stays, only the gradient is divided
        share = loss / ew.cast(times, loss.dtype)
        loss = share + ew.Detach()(loss - share)
    if reduction == "mean":
        return mean_(loss / ew.maximum(ew.cast(lengths, loss.dtype), 1.0), (0,))
    return reduced(loss, reduction)


@public(guarded=True)
def rnnt_loss(input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = 0,
              fastemit_lambda: float = 0.001, reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """Minus the log of the probability of all ways through a transducer's lattice.

    Source: Graves 2012, arXiv:1211.3711.

    Args:
        input (Tensor): log-probabilities, [N, T, U + 1, C].
        label (Tensor): int32, [N, U].
        input_lengths (Tensor): int32, [N], steps of each sequence.
        label_lengths (Tensor): int32, [N], labels of each sequence.
        blank (int, optional): the class that goes on in time. Default: 0.
        fastemit_lambda (float, optional): strengthens the gradient of emissions. Default: 0.001.
        reduction (str, optional): "mean", "sum" or "none". Default: "mean".
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: a number, or the losses, [N].

    Raises:
        ValueError: the shapes do not fit, or reduction is not known. IndexError: a label is no class.
    """
    fn = "rnnt_loss"
    check_reduction(reduction, fn)
    floating(input, fn, "input")
    tensor(label, fn, "label")
    if input.ndim != 4 or label.ndim != 2 or label.shape[0] != input.shape[0] or input.shape[2] != label.shape[1] + 1:
        raise errors.invalid_argument(
            "rnnt_loss: the shapes do not fit.",
            expected="input [N, T, U + 1, C], label [N, U]",
            received=f"input: {input.type}, label: {label.type}",
        )
    times, lengths = _lengths(fn, label.shape[0], input_lengths=input_lengths, label_lengths=label_lengths)
    op = TransducerLoss(int(blank), float(fastemit_lambda))
    return reduced(op(input, ew.cast(label, int64), times, lengths), reduction)


# ---- many classes -----------------------------------------------------------------------------
def _check_labels(name: str, labels: np.ndarray, classes: int, make: Any = errors.invalid_argument) -> None:
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        bad = (labels < 0) | (labels >= classes)
        allowed = f"classes in [0, {classes})"
        raise make(f"{name}: " + errors.offending("a label is out of range", bad, labels, allowed, "label"))


def _default_paths(label: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Inner nodes and turns from the root to each label in a complete binary tree, -1 where a path has ended."""
    code = label.astype(np.int64) + classes
    depth = int(2 * classes - 1).bit_length() - 1
    bits = np.arange(depth)
    inside = (code[:, None] >> (bits + 1)) > 0
    table = np.where(inside, (code[:, None] >> (bits + 1)) - 1, -1)
    return table, np.where(inside, (code[:, None] >> bits) & 1, -1)


@public(guarded=True)
def hsigmoid_loss(input: Tensor, label: Tensor, num_classes: int, weight: Tensor, bias: Tensor | None = None,
                  path_table: Tensor | None = None, path_code: Tensor | None = None, is_sparse: bool = False,
                  name: str | None = None) -> Tensor:  # fmt: skip
    """Cross entropy of the turns on the way to a label in a binary tree of classes.

    Source: Morin and Bengio 2005, "Hierarchical probabilistic neural network language model", section 3.

    Args:
        input (Tensor): [N, D].
        label (Tensor): int64, [N] or [N, 1], in [0, num_classes).
        num_classes (int): at least 2.
        weight (Tensor): [num_classes - 1, D], of the inner nodes.
        bias (Tensor, optional): [num_classes - 1, 1]. Default: None.
        path_table (Tensor, optional): int64 [N, depth], inner nodes on the way to each label, -1 after its end.
            Default: None, a complete tree.
        path_code (Tensor, optional): int64 [N, depth], the turns, 0 or 1. Default: None.
        is_sparse (bool, optional): gradients by rows; a hint that changes no result. Default: False.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [N, 1].

    Raises:
        ValueError: num_classes is below 2, or only one of path_table and path_code is given.
    """
    fn = "hsigmoid_loss"
    floating(input, fn, "input")
    floating(weight, fn, "weight")
    tensor(label, fn, "label")
    if num_classes < 2 and path_table is None:
        raise errors.invalid_argument(f"{fn}: num_classes is below 2.", expected=">= 2", received=f"{num_classes}")
    if (path_table is None) != (path_code is None):
        raise errors.invalid_argument(
            f"{fn}: only one of path_table and path_code is given.",
            expected="both or none",
            received=f"path_table: {path_table is not None}, path_code: {path_code is not None}",
        )
    if path_table is None:
        values = label.array().reshape(-1)
        _check_labels(fn, values, num_classes, errors.out_of_range)
        table, code = _default_paths(values, num_classes)
    else:
        table, code = (tensor(t, fn, "path").array() for t in (path_table, path_code))
    used = table >= 0
    nodes = from_array(np.where(used, table, 0).astype(np.int64))
    rows = Gather(0, False)(weight, nodes)  # [N, depth, D]
    n, depth = table.shape
    score = sum_(rows * reshape(input, (n, 1, input.shape[1])), (2,))
    if bias is not None:
        score = score + Gather(0, False)(reshape(bias, (bias.size,)), nodes)
    turn = from_array(np.where(used, code, 0).astype(input.dtype.np))
    # as upstream, each place after the end of a path adds log 2, the loss of a score of 0
    score = score * from_array(used.astype(input.dtype.np))
    loss = Softplus(1.0, float("inf"))(score) - turn * score
    return sum_(loss, (1,), True)


@public(guarded=True)
def adaptive_log_softmax_with_loss(input: Tensor, label: Tensor, head_weight: Tensor,
                                   tail_weights: Sequence[Sequence[Tensor]], cutoffs: Sequence[int],
                                   head_bias: Tensor | None = None,
                                   name: str | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Log-probability of each label, with rare classes in clusters of lower width.

    Source: Grave et al. 2017, arXiv:1609.04309, section 4.

    Args:
        input (Tensor): [N, D] or [D].
        label (Tensor): int64, [N] or [].
        head_weight (Tensor): [D, cutoffs[0] + number of clusters].
        tail_weights (list): for each cluster [D, width] and [width, classes in the cluster].
        cutoffs (list): first class of each cluster, and the number of classes.
        head_bias (Tensor, optional): of the head. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        tuple: the log-probabilities in the shape of label, and minus their mean.

    Raises:
        ValueError: the shapes do not fit, or a known label is out of range.
    """
    fn = "adaptive_log_softmax_with_loss"
    floating(input, fn, "input")
    tensor(label, fn, "label")
    single = label.ndim == 0
    if input.ndim != label.ndim + 1 or label.ndim > 1 or tuple(input.shape)[:-1] != tuple(label.shape):
        raise errors.invalid_argument(
            f"{fn}: the shapes do not fit.",
            expected="input [N, D] and label [N], or [D] and []",
            received=f"input: {input.type}, label: {label.type}",
        )
    edges = [int(c) for c in cutoffs]
    if label.buffer is not None:
        _check_labels(fn, label.buffer, edges[-1])
    x = reshape(input, (1, *input.shape)) if single else input
    y = ew.cast(reshape(label, (1,)) if single else label, int64)
    head = matmul(x, head_weight)
    head = LogSoftmax(1)(head if head_bias is None else head + head_bias)
    place = y  # column of the head: the class itself, or its cluster
    tails: Any = None
    for i, (low, high) in enumerate(zip(edges, edges[1:])):
        inside = ew.cast(ew.greater_equal(y, low), int64) * ew.cast(ew.less_than(y, high), int64)
        member = ew.equal(inside, 1)
        place = select(member, edges[0] + i, place)
        first, second = tail_weights[i]
        scores = LogSoftmax(1)(matmul(matmul(x, first), second))
        own = PickLabel(1, -1)(scores, select(member, y - low, -1))
        tails = own if tails is None else tails + own
    out = PickLabel(1, -1)(head, place)
    out = out if tails is None else out + tails
    loss = -mean_(out, (0,))
    return (reshape(out, ()) if single else out), loss


@public(guarded=True)
def class_center_sample(label: Tensor, num_classes: int, num_samples: int, group: Any = None) -> tuple[Tensor, Tensor]:
    """The classes of a batch and random others, and the labels as numbers among them.

    Source: An et al. 2021, arXiv:2010.05222, section 3.

    Args:
        label (Tensor): int32 or int64, [N].
        num_classes (int): number of classes.
        num_samples (int): classes to draw; all of the batch are kept even if they are more.
        group (Group, optional): processes that hold parts of the classes; one process only. Default: None.

    Returns:
        tuple: the labels renumbered, and the classes drawn: those of the batch in order, then the others.

    Raises:
        ValueError: num_samples is above num_classes, or a label is out of range.
    """
    fn = "class_center_sample"
    values = tensor(label, fn, "label").array()
    if num_samples > num_classes:
        raise errors.invalid_argument(
            f"{fn}: num_samples is above num_classes.", expected=f"<= {num_classes}", received=f"{num_samples}"
        )
    _check_labels(fn, values, num_classes)
    kept = np.unique(values)
    others = np.setdiff1d(np.arange(num_classes), kept)
    seed, offset = (int(v) & 0xFFFFFFFFFFFFFFFF for v in next_key().array())
    rng = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, offset, 0]))
    drawn = rng.permutation(others)[: max(num_samples - len(kept), 0)]
    classes = np.concatenate([kept, drawn]).astype(values.dtype)
    return from_array(np.searchsorted(kept, values).astype(values.dtype)), from_array(classes)


@public(guarded=True)
def margin_cross_entropy(logits: Tensor, label: Tensor, margin1: float = 1.0, margin2: float = 0.5,
                         margin3: float = 0.0, scale: float = 64.0, group: Any = None, return_softmax: bool = False,
                         reduction: str | None = "mean") -> Any:  # fmt: skip
    """Cross entropy of cosines, that at the label being cos(margin1 * angle + margin2) - margin3, times scale.

    Source: Deng et al. 2019, arXiv:1801.07698, equation 4.

    Args:
        logits (Tensor): cosines, [N, C].
        label (Tensor): int32 or int64, [N] or [N, 1].
        margin1, margin2 (radians), margin3 (float, optional): Defaults: 1.0, 0.5, 0.0.
        scale (float, optional): Default: 64.0.
        group (Group, optional): processes that hold parts of the classes; one process only. Default: None.
        return_softmax (bool, optional): also return the softmax. Default: False.
        reduction (str, optional): "mean", "sum", or None for the losses. Default: "mean".

    Returns:
        Tensor: a number, or [N, 1]; with return_softmax a tuple with the softmax.

    Raises:
        ValueError: the shapes do not fit, or reduction is not known. IndexError: a label is outside [0, C).
    """
    fn = "margin_cross_entropy"
    check_reduction(reduction, fn, ("mean", "sum", "none", None))
    floating(logits, fn, "logits")
    if logits.ndim != 2 or tensor(label, fn, "label").size != logits.shape[0]:
        raise errors.invalid_argument(
            f"{fn}: the shapes do not fit.", expected="logits [N, C], label [N]",
            received=f"logits: {logits.type}, label: {label.type}",
        )  # fmt: skip
    n, c = logits.shape
    y = reshape(label, (n,))
    never = -(2**62)
    own = PickLabel(1, never)(logits, y)
    moved = cos(acos(own) * float(margin1) + float(margin2)) - float(margin3)
    scores = (logits + PutLabel(1, c, never)(moved - own, y)) * float(scale)
    loss = reshape(SoftmaxCrossEntropy(1, never)(scores, y), (n, 1))
    loss = loss if reduction in (None, "none") else reduced(loss, reduction)
    return (loss, Softmax(1)(scores)) if return_softmax else loss
