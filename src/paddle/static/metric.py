"""Measures of classifiers as operations of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.capture import in_program
from ..engine.types import TensorType, int64
from ..tensor.tensor import Tensor
from ..utils import unique_name

__all__ = ["accuracy", "auc"]


def accuracy(input: Tensor, label: Tensor, k: int = 1, correct: Any = None, total: Any = None) -> Tensor:
    """The share of samples whose label is among the k greatest scores.

    Args:
        input (Tensor): [N, C], scores.
        label (Tensor): [N, 1], classes.
        k (int): Default: 1.
        correct, total (Tensor, optional): take the numbers of correct samples and of all.

    Returns:
        Tensor: 0-d float32.

    Examples:
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> float(paddle.static.accuracy(scores, paddle.to_tensor([[1], [1]])))
        0.5
    """
    import paddle

    if not in_program():
        return paddle.metric.accuracy(input, label, k, correct, total)
    _, places = paddle.topk(input, k)
    hit = (places == label.reshape([-1, 1]).astype("int64")).astype("float32")
    return hit.sum(axis=1).mean()


def auc(
    input: Tensor, label: Tensor, curve: str = "ROC", num_thresholds: int = 4095, topk: int = 1, slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The area under the ROC curve of all samples so far, by counts in bins of the predicted probability.

    Args:
        input (Tensor): [N, 2], probabilities of the two classes.
        label (Tensor): [N, 1], 0 or 1.
        curve (str): "ROC".
        num_thresholds (int): number of bins less one. Default: 4095.
        topk (int): 1. slide_steps (int): 1; the area is that of all batches.
        ins_tag_weight (optional): None.

    Returns:
        tuple: the area, 0-d float64; counts of positive and of negative samples, [1, num_thresholds + 1] int64.

    Raises:
        ValueError: another curve. RuntimeError: in dynamic mode.
    """
    import paddle

    from .backward import variable
    from .program import default_main_program, default_startup_program

    if curve != "ROC" or ins_tag_weight is not None:
        raise errors.invalid_argument(
            "auc: this is not supported.", expected='curve "ROC"', received=f"curve: {curve!r}"
        )
    if not in_program():
        raise errors.precondition(
            "auc: counts are variables of a static program.",
            expected="static mode",
            received="dynamic mode",
            hint="use paddle.metric.Auc.",
        )
    bins = num_thresholds + 1
    type_ = TensorType((1, bins), int64)
    zeros = lambda value_of: tracing.from_array(np.zeros((1, bins), np.int64))
    program, startup = default_main_program(), default_startup_program()
    counts = [variable(program, startup, unique_name.generate(f"auc_{w}"), type_, zeros) for w in ("pos", "neg")]
    place = (input[:, 1] * float(num_thresholds)).astype("int64").clip(0, num_thresholds)
    positive = (label.reshape([-1]) != 0).astype("int64")
    hits = paddle.nn.functional.one_hot(place, bins).astype("int64")
    for count, weight in zip(counts, (positive, 1 - positive)):
        tracing.rebind(count, count + (hits * weight.unsqueeze(1)).sum(axis=0, keepdim=True))
    p, n = (c.flip(1).astype("float64") for c in counts)
    above = p.cumsum(axis=1) - p
    area = (n * (above + p * 0.5)).sum()
    every = p.sum() * n.sum()
    return paddle.where(every > 0, area / every.clip(1.0), every * 0.0), counts[0], counts[1]
