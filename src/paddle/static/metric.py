"""Measures of classifiers as operations of a program."""

from __future__ import annotations

from typing import Any

from ..engine.eager.capture import in_program
from ..tensor.tensor import Tensor

__all__ = ["accuracy"]


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
