"""Attention over sequences of different lengths."""

from __future__ import annotations

import numpy as np

from ....engine.eager.trace import from_array
from ....nn.functional import softmax
from ....tensor import matmul, repeat_interleave, where, zeros_like
from ....tensor.tensor import Tensor

__all__: list[str] = []


def variable_length_memory_efficient_attention(
    query: Tensor, key: Tensor, value: Tensor, seq_lens: Tensor, kv_seq_lens: Tensor, mask: Tensor | None = None,
    scale: float | None = None, causal: bool = False, pre_cache_length: int = 0,
) -> Tensor:  # fmt: skip
    """softmax(query key^T * scale + mask) value within the length of each sequence; zeros beyond it.

    Args:
        query (Tensor): [batch, heads, queries, width]. key, value (Tensor): [batch, key heads, keys, width].
        seq_lens, kv_seq_lens (Tensor): integers [batch, 1] or [batch], lengths of queries and keys.
        mask (Tensor, optional): added to the scores, broadcasts with [batch, heads, queries, keys]. Default: None.
        scale (float, optional): Default: the inverse of the root of the width.
        causal (bool): A query sees no later keys. Default: False.
        pre_cache_length (int): So many keys come before the first query. Default: 0.

    Returns:
        Tensor: the shape of query.

    Examples:
        >>> x, n = paddle.ones([1, 1, 2, 4]), paddle.to_tensor([1])
        >>> attention = paddle.incubate.nn.functional.variable_length_memory_efficient_attention
        >>> attention(x, x, x, n, n)[0, 0, :, 0].tolist()
        [1.0, 0.0]
    """
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (repeat_interleave(t, groups, 1) for t in (key, value))
    n, m = query.shape[2], key.shape[2]
    scores = matmul(query * (scale if scale is not None else query.shape[-1] ** -0.5), key, transpose_y=True)
    if mask is not None:
        scores = scores + mask[..., :n, :m]
    keys = kv_seq_lens.reshape([-1, 1, 1, 1]) + pre_cache_length
    seen = from_array(np.arange(m)).reshape([1, 1, 1, -1]) < keys.astype("int64")
    if causal:
        within = from_array(np.arange(m)[None, :] <= np.arange(n)[:, None] + pre_cache_length)
        seen = seen.logical_and(within)
    lowest = zeros_like(scores) + float(np.finfo(np.float32).min) / 2
    weights = softmax(where(seen.expand(scores.shape), scores, lowest.astype(scores.dtype)), -1)
    real = from_array(np.arange(n)).reshape([1, 1, -1, 1]) < seq_lens.reshape([-1, 1, 1, 1]).astype("int64")
    out = matmul(weights, value)
    return where(real.expand(out.shape), out, zeros_like(out))
