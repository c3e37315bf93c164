"""Attention.

Shape letters: B batch, S queries, T keys, H heads of the queries, G heads of keys and values, K width of a head.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.ops import elementwise as ew
from ...engine.ops.linalg import matmul
from ...engine.ops.logic import select
from ...engine.ops.shape import broadcast_to, reshape, transpose
from ...engine.ops.softmax import Softmax
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, tensor
from .common import dropout

__all__ = ["flash_attention", "scaled_dot_product_attention", "sdp_kernel"]


def attend(q_BSHK: Any, k_BTGK: Any, v_BTGK: Any, mask: Any, p: float, causal: bool, training: bool,
           scale: float | None) -> tuple[Any, Any]:  # fmt: skip
    """Attention and its weights, [B, H, S, T], after dropout."""
    q, k, v = (transpose(t, (0, 2, 1, 3)) for t in (q_BSHK, k_BTGK, v_BTGK))
    heads, groups = q.shape[1], k.shape[1]
    if heads != groups:  # each head of the keys serves several of the queries
        k, v = (
            reshape(broadcast_to(reshape(t, (t.shape[0], groups, 1, *tuple(t.shape)[2:])),
                                 (t.shape[0], groups, heads // groups, *tuple(t.shape)[2:])),
                    (t.shape[0], heads, *tuple(t.shape)[2:]))
            for t in (k, v)
        )  # fmt: skip
    scores = matmul(q * (1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)), k, False, True)
    if causal:
        s, t = scores.shape[-2:]
        seen = from_array(np.tril(np.ones((s, t), bool), t - s))
        scores = select(seen, scores, -math.inf)
    if mask is not None:
        if mask.dtype.is_bool:
            scores = select(mask, scores, -math.inf)
        else:
            scores = scores + ew.cast(mask, scores.dtype)
    weights = dropout(Softmax(scores.ndim - 1)(scores), p, training=training)
    return transpose(matmul(weights, v), (0, 2, 1, 3)), weights


def _check(name: str, q: Any, k: Any, v: Any, gqa: bool = True) -> None:
    for t, label in ((q, "query"), (k, "key"), (v, "value")):
        floating(t, name, label)
    ok = q.ndim == k.ndim == v.ndim == 4 and k.shape[:3] == v.shape[:3]
    ok = ok and q.shape[0] == k.shape[0] and q.shape[3] == k.shape[3] and k.shape[2] and q.shape[2] % k.shape[2] == 0
    if not ok or (not gqa and q.shape[2] != k.shape[2]):
        raise errors.invalid_argument(
            f"{name}: query, key and value do not fit.",
            expected="query [B, S, H, K], key and value [B, T, G, K] with G a divisor of H",
            received=f"query: {q.type}, key: {k.type}, value: {v.type}",
        )


@public()
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, training: bool = True,
                                 backend: str | None = None, scale: float | None = None, enable_gqa: bool = True,
                                 name: str | None = None) -> Tensor:  # fmt: skip
    """softmax(query @ key^T * scale + mask) @ value, for each head.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1.

    Args:
        query (Tensor): [B, S, H, K]; or [S, H, K].
        key (Tensor): [B, T, G, K]; or [T, G, K]. With G < H each head of the keys serves H / G of the queries.
        value (Tensor): [B, T, G, V]; or [T, G, V].
        attn_mask (Tensor, optional): broadcasts to [B, H, S, T]: bool, True where a key is seen; or floating, added
            to the scores. Default: None.
        dropout_p (float, optional): probability that a weight becomes 0. Default: 0.0.
        is_causal (bool, optional): a query sees no later keys; the last of both stand side by side. Default: False.
        training (bool, optional): whether to drop. Default: True.
        backend (str, optional): upstream's choice of a kernel; without effect. Default: None.
        scale (float, optional): 1 / sqrt(K) if None. Default: None.
        enable_gqa (bool, optional): allow G < H. Default: True.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [B, S, H, V]; or [S, H, V].

    Raises:
        ValueError: the shapes do not fit.

    Examples:
        >>> q = paddle.ones([1, 2, 1, 4])
        >>> paddle.nn.functional.scaled_dot_product_attention(q, q, q).shape
        [1, 2, 1, 4]
    """
    fn = "scaled_dot_product_attention"
    q, k, v = (tensor(t, fn, label) for t, label in ((query, "query"), (key, "key"), (value, "value")))
    single = q.ndim == k.ndim == v.ndim == 3
    if single:
        q, k, v = (reshape(t, (1, *t.shape)) for t in (q, k, v))
    _check(fn, q, k, v, enable_gqa)
    if attn_mask is not None:
        tensor(attn_mask, fn, "attn_mask")
    out, _ = attend(q, k, v, attn_mask, dropout_p, is_causal and attn_mask is None, training, scale)
    return reshape(out, tuple(out.shape)[1:]) if single else out


@public()
def flash_attention(query: Tensor, key: Tensor, value: Tensor, dropout: float = 0.0, causal: bool = False,
                    return_softmax: bool = False, *, fixed_seed_offset: Tensor | None = None, rng_name: str = "",
                    training: bool = True, name: str | None = None,
                    softmax_scale: float | None = None) -> tuple[Tensor, Any]:  # fmt: skip
    """`scaled_dot_product_attention` with the weights, if asked for.

    Args:
        query (Tensor): [B, S, H, K].
        key (Tensor): [B, T, G, K].
        value (Tensor): [B, T, G, V].
        dropout (float, optional): probability that a weight becomes 0. Default: 0.0.
        causal (bool, optional): a query sees no later keys. Default: False.
        return_softmax (bool, optional): also return the weights. Default: False.
        fixed_seed_offset (Tensor, optional): upstream's seed of the kernel; without effect. Default: None.
        rng_name (str, optional): upstream's name of a generator; without effect. Default: "".
        training (bool, optional): whether to drop. Default: True.
        name (str, optional): shown in printed programs. Default: None.
        softmax_scale (float, optional): 1 / sqrt(K) if None. Default: None.

    Returns:
        tuple: [B, S, H, V], and the weights [B, H, S, T] or None.

    Raises:
        ValueError: the shapes do not fit.
    """
    _check("flash_attention", query, key, value)
    out, weights = attend(query, key, value, None, dropout, causal, training, softmax_scale)
    return out, weights if return_softmax else None


@contextlib.contextmanager
def sdp_kernel(
    enable_math: bool = True, enable_flash: bool = True, enable_mem_efficient: bool = True
) -> Iterator[None]:
    """Upstream's choice of attention kernels within a block. There is one here, so nothing changes.

    Args:
        enable_math, enable_flash, enable_mem_efficient (bool, optional): at least one is True.

    Raises:
        ValueError: all are False.
    """
    if not (enable_math or enable_flash or enable_mem_efficient):
        raise errors.invalid_argument("sdp_kernel: no kernel is left.", expected="at least one of the three")
    yield
