"""Positions as rotations of queries and keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine import errors
from ....engine.eager.trace import from_array
from ....tensor import concat, gather, split, stack
from ....tensor.tensor import Tensor

__all__: list[str] = []

# Shape letters: B batch, S sequence, H heads, K width of a head.


def fused_rotary_position_embedding(
    q: Tensor, k: Tensor | None = None, v: Tensor | None = None, sin: Tensor | None = None, cos: Tensor | None = None,
    position_ids: Tensor | None = None, use_neox_rotary_style: bool = True, time_major: bool = False,
    rotary_emb_base: float = 10000.0,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    """Turns pairs of elements of each head by angles that grow with the position.

    Args:
        q (Tensor): [B, S, H, K], K even. k, v (Tensor, optional): likewise, with their own H.
        sin, cos (Tensor, optional): [1, T, 1, K] or [T, K], each angle twice, side by side or in halves as the style
            has it. Default: of position / base ** (2 i / K).
        position_ids (Tensor, optional): [B, S], positions among those of sin and cos. Default: 0, 1, 2, ...
        use_neox_rotary_style (bool): Pairs are neighbours, 2 i and 2 i + 1; else i and i + K / 2. Default: True.
        time_major (bool): S is the first axis, B the second. Default: False.
        rotary_emb_base (float): Default: 10000.0.

    Returns:
        tuple: q, k and v turned; None for those not given.

    Raises:
        ValueError: K is odd, or only one of sin and cos is given.

    Source: Su et al. 2021, arXiv:2104.09864.

    Examples:
        >>> q = paddle.ones([1, 2, 1, 2])
        >>> out, _, _ = paddle.incubate.nn.functional.fused_rotary_position_embedding(q)
        >>> [round(x, 3) for x in out[0, 1, 0].tolist()]
        [-0.301, 1.382]
    """
    fn = "fused_rotary_position_embedding"
    width = q.shape[-1]
    if q.ndim != 4 or width % 2:
        raise errors.invalid_argument(
            f"{fn}: q has no pairs.", expected="[B, S, H, K] with K even", received=f"q: {q.type}"
        )
    if (sin is None) is not (cos is None):
        raise errors.invalid_argument(f"{fn}: one of sin and cos is missing.", expected="both, or none")
    length = q.shape[0] if time_major else q.shape[1]
    if sin is None:
        steps = length if position_ids is None else int(position_ids.array().max(initial=0)) + 1
        angle = np.arange(steps)[:, None] / rotary_emb_base ** (np.arange(0, width, 2) / width)
        twice = np.repeat(angle, 2, 1) if use_neox_rotary_style else np.concatenate([angle, angle], 1)
        sin_SK, cos_SK = (from_array(f(twice).astype(np.float32)) for f in (np.sin, np.cos))
    else:
        sin_SK, cos_SK = (t.reshape([-1, width]) for t in (sin, cos))
    if position_ids is None:
        tables: list[Any] = [t[:length].unsqueeze([0, 2]) for t in (sin_SK, cos_SK)]
    else:
        at = position_ids.reshape([-1])
        tables = [gather(t, at).reshape([*position_ids.shape, 1, width]) for t in (sin_SK, cos_SK)]
    if time_major:
        tables = [t.transpose([1, 0, 2, 3]) for t in tables]
    return tuple(None if t is None else _turned(t, *tables, use_neox_rotary_style) for t in (q, k, v))


def _turned(x: Any, sin: Any, cos: Any, neighbours: bool) -> Any:
    if neighbours:
        pairs = x.reshape([*x.shape[:-1], -1, 2])
        other = stack([-pairs[..., 1], pairs[..., 0]], -1).reshape(x.shape)
    else:
        a, b = split(x, 2, -1)
        other = concat([-b, a], -1)
    return x * cos.astype(x.dtype) + other * sin.astype(x.dtype)
