"""Softmax of scores with a mask."""

from __future__ import annotations

from ...nn.functional import softmax
from ...tensor.tensor import Tensor

__all__: list[str] = []


def softmax_mask_fuse(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """softmax(x + mask) along the last axis.

    Args:
        x (Tensor): [batch, heads, queries, keys], floating.
        mask (Tensor): [batch, 1, queries, keys], added to the scores.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: the shape of x.

    Examples:
        >>> x, mask = paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([[[[0.0, -1e4]]]])
        >>> [round(v, 3) for v in paddle.incubate.softmax_mask_fuse(x, mask)[0, 0, 0].tolist()]
        [1.0, 0.0]
    """
    return softmax(x + mask, -1)
