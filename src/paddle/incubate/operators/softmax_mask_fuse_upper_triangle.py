"""Softmax of scores of which a query sees no later keys."""

from __future__ import annotations

import numpy as np

from ...engine.eager.trace import from_array
from ...nn.functional import softmax
from ...tensor import where
from ...tensor.tensor import Tensor

__all__: list[str] = []


def softmax_mask_fuse_upper_triangle(x: Tensor) -> Tensor:
    """softmax along the last axis, of the elements up to the diagonal; 0 above it.

    Args:
        x (Tensor): [batch, heads, queries, keys], floating, as many queries as keys.

    Returns:
        Tensor: the shape of x.

    Examples:
        >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2]))[0, 0].tolist()
        [[1.0, 0.0], [0.5, 0.5]]
    """
    seen = from_array(np.tri(*tuple(x.shape)[-2:], dtype=bool))
    least = x * 0 + float(np.finfo(x.dtype.np if x.dtype.name != "bfloat16" else "float32").min) / 2
    return softmax(where(seen.expand(x.shape), x, least.astype(x.dtype)), -1)
