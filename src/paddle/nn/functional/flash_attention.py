"""Attention.

Shape letters: B batch, S queries, T keys, H heads of the queries, G heads of keys and values, K width of a head.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.eager.trace import from_array
from ...engine.ops import elementwise as ew
from ...engine.ops.attention import FEW_HALF, Attention, suits
from ...engine.ops.linalg import matmul
from ...engine.ops.logic import logical_and, logical_not, logical_or, select
from ...engine.ops.reduction import Max, sum_
from ...engine.ops.shape import broadcast_to, reshape, slice_axis, transpose
from ...engine.ops.softmax import Softmax
from ...engine.ops.tables import table
from ...framework.tables import general, tensor_of
from ...tensor.tensor import Tensor
from ...utils.public import public
from ._check import floating, tensor
from .dropout import dropout

# `flash_attention` and `flash_attn_unpadded` are found in this module only, which has the name of the first
__all__ = [
    "flash_attention_v3_varlen", "flash_attn_qkvpacked", "flash_attn_varlen_qkvpacked", "flashmask_attention",
    "scaled_dot_product_attention", "sdp_kernel", "sparse_attention",
]  # fmt: skip


@table("causal", lambda queries, keys: queries * keys)
@lru_cache(maxsize=32)
def _causal(queries: int, keys: int) -> np.ndarray:
    """Which keys a query sees when it sees no later ones; the first of both stand side by side."""
    return np.tril(np.ones((queries, keys), bool))


def _repeated(t_BHTK: Any, heads: int) -> Any:
    """Each head as often as it takes to make `heads` of them."""
    b, groups, *rest = t_BHTK.shape
    if groups == heads:
        return t_BHTK
    spread = broadcast_to(reshape(t_BHTK, (b, groups, 1, *rest)), (b, groups, heads // groups, *rest))
    return reshape(spread, (b, heads, *rest))


def _scores(q_BSHK: Any, k_BTGK: Any, scale: float | None) -> Any:
    """Scaled products of queries and keys, [B, H, S, T]."""
    q, k = transpose(q_BSHK, (0, 2, 1, 3)), transpose(k_BTGK, (0, 2, 1, 3))
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    return matmul(q * factor, _repeated(k, q.shape[1]), False, True)


def in_blocks(q_BSHK: Any, k_BTGK: Any, v_BTGK: Any, mask: Any, causal: bool, scale: float) -> Any:
    """Attention by the operator that holds no scores; None where scores and weights are as well be made.

    That is so for a few queries or keys, and where a mask has a gradient.
    """
    q, k, v = q_BSHK, k_BTGK, v_BTGK
    s, t = q.shape[1], k.shape[1]
    least = FEW_HALF if general() else 0
    if not (q.dtype is k.dtype is v.dtype) or not suits(
        max(s, least), max(t, least), max(q.shape[3], v.shape[3]), q.dtype
    ):
        return None
    if mask is None:
        return Attention(scale, causal)(q, k, v)[0]
    if not 1 <= mask.ndim <= 4 or mask.shape[-1] != t or not (mask.stop_gradient or mask.dtype.is_bool):
        return None
    if any(n not in (1, w) for n, w in zip(tuple(mask.shape)[::-1], (t, s, q.shape[2], q.shape[0]))):
        return None
    return Attention(scale, causal)(q, k, v, mask if mask.dtype.is_bool else ew.cast(mask, q.dtype))[0]


def attend(q_BSHK: Any, k_BTGK: Any, v_BTGK: Any, mask: Any, p: float, causal: bool, training: bool,
           scale: float | None, weighs: bool = False) -> tuple[Any, Any]:  # fmt: skip
    """Attention and, if it `weighs`, its weights, [B, H, S, T], after dropout."""
    if not weighs and not (p and training):
        factor = 1 / math.sqrt(q_BSHK.shape[-1]) if scale is None else float(scale)
        found = in_blocks(q_BSHK, k_BTGK, v_BTGK, mask, causal, factor)
        if found is not None:
            return found, None
    scores = _scores(q_BSHK, k_BTGK, scale)
    if causal:
        scores = select(tensor_of(_causal, *tuple(scores.shape)[-2:]), scores, -math.inf)
    if mask is not None:
        if mask.dtype.is_bool:
            scores = select(mask, scores, -math.inf)
        else:
            scores = scores + ew.cast(mask, scores.dtype)
    weights = dropout(Softmax(scores.ndim - 1)(scores), p, training=training)
    values = _repeated(transpose(v_BTGK, (0, 2, 1, 3)), scores.shape[1])
    return transpose(matmul(weights, values), (0, 2, 1, 3)), weights


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


@public(guarded=True)
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
        is_causal (bool, optional): query i sees no keys after i. Default: False.
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
        paddle.Size([1, 2, 1, 4])
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


@public(guarded=True)
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
    out, weights = attend(query, key, value, None, dropout, causal, training, softmax_scale, return_softmax)
    return out, weights if return_softmax else None


def _split_packed(qkv: Any, name: str) -> tuple[Any, Any, Any]:
    """Query, key and value from [..., H / G + 2, G, K]."""
    floating(qkv, name, "qkv")
    *lead, parts, groups, width = qkv.shape
    if len(lead) < 1 or parts < 3:
        raise errors.invalid_argument(
            f"{name}: qkv is not packed.", expected="[..., H / G + 2, G, K]", received=f"qkv: {qkv.type}"
        )
    axis = len(lead)
    piece = lambda a, b: slice_axis(qkv, axis, a, b)  # noqa: E731
    q = reshape(piece(0, parts - 2), (*lead, (parts - 2) * groups, width))
    k, v = (reshape(piece(i, i + 1), (*lead, groups, width)) for i in (parts - 2, parts - 1))
    return q, k, v


@public(guarded=True)
def flash_attn_qkvpacked(qkv: Tensor, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, *,
                         fixed_seed_offset: Tensor | None = None, rng_name: str = "", training: bool = True,
                         name: str | None = None) -> tuple[Tensor, Any]:  # fmt: skip
    """`flash_attention` of query, key and value in one tensor.

    Args:
        qkv (Tensor): [B, S, H / G + 2, G, K]: the queries, then keys, then values.
        dropout, causal, return_softmax, fixed_seed_offset, rng_name, training, name: as for `flash_attention`.

    Returns:
        tuple: [B, S, H, K], and the weights [B, H, S, S] or None.

    Raises:
        ValueError: the shape does not fit.
    """
    q, k, v = _split_packed(qkv, "flash_attn_qkvpacked")
    return flash_attention(q, k, v, dropout, causal, return_softmax, training=training)


def _segments(cu_seqlens: Any, total: int, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of the rows laid end to end: its sequence, its place in it, and the length of that sequence."""
    edges = tensor(cu_seqlens, name, "cu_seqlens").array().astype(np.int64)
    if edges.ndim != 1 or not edges.size or edges[0] or edges[-1] > total or (np.diff(edges) < 0).any():
        raise errors.invalid_argument(
            f"{name}: cu_seqlens is not a list of edges.", expected=f"0, ..., at most {total}, in ascending order",
            received=f"{edges.tolist()}",
        )  # fmt: skip
    rows = np.arange(total)
    segment = np.searchsorted(edges[1:], rows, side="right")
    start = edges[np.minimum(segment, len(edges) - 1)]
    length = np.append(np.diff(edges), 0)[segment]
    return segment, rows - start, length


@public(guarded=True)
def flash_attn_unpadded(query: Tensor, key: Tensor, value: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor,
                        max_seqlen_q: int, max_seqlen_k: int, scale: float, dropout: float = 0.0,
                        causal: bool = False, return_softmax: bool = False,
                        fixed_seed_offset: Tensor | None = None, rng_name: str = "", training: bool = True,
                        name: str | None = None) -> tuple[Tensor, Any]:  # fmt: skip
    """Attention within sequences of different lengths that lie end to end.

    Args:
        query (Tensor): [all queries, H, K].
        key (Tensor): [all keys, G, K].
        value (Tensor): [all keys, G, V].
        cu_seqlens_q, cu_seqlens_k (Tensor): int32, where each sequence starts, and the end of the last.
        max_seqlen_q, max_seqlen_k (int): the longest sequence; upstream's kernel needs it.
        scale (float): multiplies the scores.
        dropout (float, optional): probability that a weight becomes 0. Default: 0.0.
        causal (bool, optional): a query sees no later keys of its sequence. Default: False.
        return_softmax (bool, optional): also return the weights. Default: False.
        fixed_seed_offset, rng_name, training, name: as for `flash_attention`.

    Returns:
        tuple: [all queries, H, V], and the weights [H, all queries, all keys] or None.

    Raises:
        ValueError: the shapes do not fit, or the edges do not ascend.
    """
    fn = "flash_attn_unpadded"
    q, k, v = (reshape(tensor(t, fn, what), (1, *t.shape)) for t, what in
               ((query, "query"), (key, "key"), (value, "value")))  # fmt: skip
    _check(fn, q, k, v)
    seg_q, at_q, len_q = _segments(cu_seqlens_q, query.shape[0], fn)
    seg_k, at_k, len_k = _segments(cu_seqlens_k, key.shape[0], fn)
    seen = seg_q[:, None] == seg_k
    if causal:
        seen &= (at_q - len_q)[:, None] >= at_k - len_k  # the last query and the last key stand side by side
    out, weights = attend(q, k, v, from_array(seen), dropout, False, training, scale, return_softmax)
    out = reshape(out, tuple(out.shape)[1:])
    return out, reshape(weights, tuple(weights.shape)[1:]) if return_softmax else None


@public(guarded=True)
def flash_attn_varlen_qkvpacked(qkv: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int,
                                max_seqlen_k: int, scale: float, dropout: float = 0.0, causal: bool = False,
                                return_softmax: bool = False, fixed_seed_offset: Tensor | None = None,
                                rng_name: str = "", varlen_padded: bool = True, training: bool = True,
                                name: str | None = None) -> tuple[Tensor, Any]:  # fmt: skip
    """`flash_attn_unpadded` of query, key and value in one tensor.

    Args:
        qkv (Tensor): [all rows, H / G + 2, G, K].
        cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout, causal, return_softmax,
            fixed_seed_offset, rng_name, training, name: as for `flash_attn_unpadded`.
        varlen_padded (bool, optional): upstream's layout of a kernel's result; without effect.

    Returns:
        tuple: [all rows, H, K], and the weights or None.

    Raises:
        ValueError: the shape does not fit, or the edges do not ascend.
    """
    q, k, v = _split_packed(qkv, "flash_attn_varlen_qkvpacked")
    return flash_attn_unpadded(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout, causal,
                               return_softmax, training=training)  # fmt: skip


@public(guarded=True)
def flash_attention_v3_varlen(query: Tensor, key: Tensor, value: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor,
                              max_seqlen_q: int, max_seqlen_k: int, seqused_q: Tensor | None = None,
                              seqused_k: Tensor | None = None, softmax_scale: float | None = None,
                              causal: bool = False, qv: Tensor | None = None, q_descale: Tensor | None = None,
                              k_descale: Tensor | None = None, v_descale: Tensor | None = None,
                              window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0, num_splits: int = 1,
                              pack_gqa: bool | None = None, sm_margin: int = 0) -> tuple[Tensor, Any]:  # fmt: skip
    """`flash_attn_unpadded` with the arguments of a later kernel.

    Args:
        query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal: as there.
        softmax_scale (float, optional): 1 / sqrt(K) if None. Default: None.
        num_splits, pack_gqa, sm_margin: upstream's schedule of the kernel; without effect.
        seqused_q, seqused_k, qv, q_descale, k_descale, v_descale, window_size, softcap: only their defaults.

    Returns:
        tuple: [all queries, H, V], and None.

    Raises:
        NotImplementedError: one of the last group is given. ValueError: the shapes do not fit.
    """
    if any(t is not None for t in (seqused_q, seqused_k, qv, q_descale, k_descale, v_descale)) or softcap or (
        tuple(window_size) != (-1, -1)):  # fmt: skip
        raise errors.unimplemented(
            "flash_attention_v3_varlen: an argument is given that has no meaning here.",
            expected="defaults for seqused_*, qv, *_descale, window_size and softcap",
            received=f"window_size: {window_size}, softcap: {softcap}, and others",
        )
    scale = 1 / math.sqrt(query.shape[-1]) if softmax_scale is None else softmax_scale
    return flash_attn_unpadded(query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, 0.0,
                               causal)  # fmt: skip


def _hidden(bounds: Any, causal: bool, rows: int) -> Any:
    """Where flashmask hides keys: bool [B, G, S, T] from bounds [B, G, T, 1, 2 or 4] of rows."""
    row = from_array(np.arange(rows, dtype=bounds.dtype.np).reshape(rows, 1))
    n = bounds.shape[3]
    bound = [transpose(slice_axis(bounds, 3, i, i + 1), (0, 1, 3, 2)) for i in range(n)]
    after = lambda i: ew.greater_equal(row, bound[i])  # noqa: E731
    before = lambda i: ew.less_than(row, bound[i])  # noqa: E731
    if n == 1:
        return after(0)
    if n == 2:
        return logical_and(after(0), before(1)) if causal else logical_or(after(0), before(1))
    return logical_or(logical_and(after(0), before(1)), logical_and(after(2), before(3)))


@public(guarded=True)
def flashmask_attention(query: Tensor, key: Tensor, value: Tensor, startend_row_indices: Tensor | None = None, *,
                        dropout: float = 0.0, causal: bool = False, window_size: Any = None,
                        return_softmax_lse: bool = False, return_seed_offset: bool = False,
                        fixed_seed_offset: Tensor | None = None, rng_name: str = "", training: bool = True,
                        name: str | None = None, softmax_scale: float | None = None,
                        block_mask: Tensor | None = None) -> Any:  # fmt: skip
    """Attention with a mask that is given, for each key, by ranges of queries that do not see it.

    Source: Wang et al. 2024, arXiv:2410.01359.

    Args:
        query (Tensor): [B, S, H, K].
        key (Tensor): [B, T, G, K].
        value (Tensor): [B, T, G, V].
        startend_row_indices (Tensor, optional): int32 [B, 1 or G, T, n], numbers of queries. If causal: n = 1, hidden
            from start on; n = 2, hidden from start to end. Else: n = 2, hidden from the first on and before the
            second; n = 4, hidden in both ranges. Default: None, nothing is hidden.
        dropout (float, optional): probability that a weight becomes 0. Default: 0.0.
        causal (bool, optional): a query sees no later keys. Default: False.
        window_size (int|tuple, optional): keys seen before and after the query's own place. Default: None.
        return_softmax_lse (bool, optional): also return the log of the sum of exponentials of the scores.
        return_seed_offset (bool, optional): also return the seed of the kernel, here zeros.
        fixed_seed_offset, rng_name, training, name: as for `flash_attention`.
        softmax_scale (float, optional): 1 / sqrt(K) if None. Default: None.
        block_mask (Tensor, optional): only None.

    Returns:
        Tensor: [B, S, H, V]; a tuple if more is asked for.

    Raises:
        ValueError: the shapes do not fit. NotImplementedError: block_mask is given.
    """
    fn = "flashmask_attention"
    _check(fn, query, key, value)
    if block_mask is not None:
        raise errors.unimplemented(
            f"{fn}: block_mask is not supported.", expected="block_mask=None", received="block_mask: a Tensor"
        )
    s, t = query.shape[1], key.shape[1]
    place = np.arange(s)[:, None] + (t - s) - np.arange(t)  # how far a key lies before the query
    seen = np.ones((s, t), bool)
    if causal:
        seen &= place >= 0
    if window_size is not None:
        left, right = (window_size, window_size) if isinstance(window_size, int) else window_size
        seen &= (place <= left) if left >= 0 else True
        seen &= (-place <= (0 if causal else right)) if right >= 0 else True
    mask: Any = None if seen.all() else from_array(seen)
    if startend_row_indices is not None:
        bounds = tensor(startend_row_indices, fn, "startend_row_indices")
        heads, groups = query.shape[2], key.shape[2]
        ok = bounds.ndim == 4 and bounds.shape[0] == query.shape[0] and bounds.shape[2] == t
        if not ok or bounds.shape[1] not in (1, groups) or bounds.shape[3] not in ((1, 2) if causal else (2, 4)):
            raise errors.invalid_argument(
                f"{fn}: startend_row_indices does not fit.",
                expected=f"[{query.shape[0]}, 1 or {groups}, {t}, {'1 or 2' if causal else '2 or 4'}]",
                received=f"{bounds.type}",
            )
        hidden = _hidden(bounds, causal, s)
        if bounds.shape[1] not in (1, heads):  # each head of the keys serves several of the queries
            b, g, rows, columns = hidden.shape
            hidden = broadcast_to(reshape(hidden, (b, g, 1, rows, columns)), (b, g, heads // g, rows, columns))
            hidden = reshape(hidden, (b, heads, rows, columns))
        visible = logical_not(hidden)
        mask = visible if mask is None else logical_and(visible, mask)
    out, _ = attend(query, key, value, mask, dropout, False, training, softmax_scale)
    if mask is not None:  # a query that sees no key gives zeros, not 0 / 0
        some = ew.cast(mask, out.dtype)
        some = ew.greater_than(Max((some.ndim - 1,), True)(some), 0.0)  # [..., S, 1]
        if some.ndim == 2:
            some = reshape(some, (1, 1, s, 1))
        out = select(transpose(some, (0, 2, 1, 3)), out, 0.0)
    more: list[Any] = []
    if return_softmax_lse:
        more.append(_log_sum(query, key, mask, softmax_scale))
    if return_seed_offset:
        more.append(from_array(np.zeros(2, np.int64)))
    return (out, *more) if more else out


def _log_sum(query: Any, key: Any, mask: Any, scale: float | None) -> Any:
    """log of the sum of exponentials of the scores, [B, H, S]."""
    scores = _scores(query, key, scale)
    if mask is not None:
        scores = select(mask, scores, -math.inf)
    top = Max((3,), True)(scores)
    total = sum_(ew.exp(scores - top), (3,), True)
    return reshape(ew.log(total) + top, tuple(scores.shape)[:-1])


@public(guarded=True)
def sparse_attention(query: Tensor, key: Tensor, value: Tensor, sparse_csr_offset: Tensor, sparse_csr_columns: Tensor,
                     key_padding_mask: Tensor | None = None, attn_mask: Tensor | None = None,
                     name: str | None = None) -> Tensor:  # fmt: skip
    """Attention in which a query sees the keys that a compressed sparse matrix names.

    Args:
        query, key, value (Tensor): [B, H, S, K].
        sparse_csr_offset (Tensor): int32 [B, H, S + 1], where the keys of each query start.
        sparse_csr_columns (Tensor): int32 [B, H, number of pairs], numbers of keys.
        key_padding_mask (Tensor, optional): [B, S], added to the scores of each key. Default: None.
        attn_mask (Tensor, optional): [S, S], added to the scores. Default: None.
        name (str, optional): shown in printed programs. Default: None.

    Returns:
        Tensor: [B, H, S, K].

    Raises:
        ValueError: the shapes do not fit.
    """
    fn = "sparse_attention"
    for t, what in ((query, "query"), (key, "key"), (value, "value")):
        floating(t, fn, what)
    offset, columns = (tensor(t, fn, "sparse_csr").array() for t in (sparse_csr_offset, sparse_csr_columns))
    if (
        query.ndim != 4
        or offset.shape != (*query.shape[:2], query.shape[2] + 1)
        or columns.shape[:2] != offset.shape[:2]
    ):
        raise errors.invalid_argument(
            f"{fn}: the shapes do not fit.", expected="query [B, H, S, K], offset [B, H, S + 1], columns [B, H, pairs]",
            received=f"query: {query.type}, offset: {list(offset.shape)}, columns: {list(columns.shape)}",
        )  # fmt: skip
    seen = np.zeros((*query.shape[:3], key.shape[2]), bool)
    for b, h in np.ndindex(*offset.shape[:2]):
        rows = np.repeat(np.arange(query.shape[2]), np.diff(offset[b, h]))
        seen[b, h, rows, columns[b, h, : len(rows)]] = True
    scores = matmul(query, key, False, True) * (1 / math.sqrt(query.shape[-1]))
    if key_padding_mask is not None:
        b, n = key_padding_mask.shape
        scores = scores + reshape(key_padding_mask, (b, 1, 1, n))
    if attn_mask is not None:
        scores = scores + attn_mask
    return matmul(Softmax(3)(select(from_array(seen), scores, -math.inf)), value)


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
        raise errors.invalid_argument(
            "sdp_kernel: no kernel is left.",
            expected="at least one of the three",
            received="enable_math: False, enable_flash: False, enable_mem_efficient: False",
        )
    yield
