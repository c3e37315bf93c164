"""Attention under another name."""

from __future__ import annotations

from ...nn.functional import dropout, softmax
from ...nn.functional.flash_attention import in_blocks
from ...tensor import matmul, transpose
from ...tensor.tensor import Tensor

__all__: list[str] = []


def memory_efficient_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None, p: float = 0.0,
    scale: float | None = None, training: bool = True,
) -> Tensor:  # fmt: skip
    """softmax(query key^T * scale + attn_bias) value, for each head.

    Args:
        query (Tensor): [batch, queries, heads, width]. key, value (Tensor): [batch, keys, heads, width].
        attn_bias (Tensor, optional): broadcasts with [batch, heads, queries, keys]. Default: None.
        p (float): Probability of dropout of the weights. Default: 0.0.
        scale (float, optional): Default: the inverse of the root of the width.
        training (bool): Whether there is dropout. Default: True.

    Returns:
        Tensor: the shape of query.

    Examples:
        >>> x = paddle.ones([1, 2, 1, 4])
        >>> attention = paddle.incubate.nn.memory_efficient_attention.memory_efficient_attention
        >>> attention(x, x, x).shape
        paddle.Size([1, 2, 1, 4])
    """
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    if not (p and training) and (attn_bias is None or attn_bias.dtype.is_floating):
        out = in_blocks(query, key, value, attn_bias, False, float(factor))
        if out is not None:
            return out
    q, k, v = (transpose(t, [0, 2, 1, 3]) for t in (query, key, value))
    scores = matmul(q * factor, k, transpose_y=True)
    if attn_bias is not None:
        scores = scores + attn_bias
    weights = dropout(softmax(scores, -1), p, training=training)
    return transpose(matmul(weights, v), [0, 2, 1, 3])
