"""Rows reduced by the segment that they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager.trace import from_array
from ..engine.ops.elementwise import cast, divide
from ..engine.ops.indexing import ScatterAdd
from ..engine.ops.segment import RowExtreme
from ..engine.ops.shape import reshape
from ..engine.types import float64
from ..tensor.families import need_tensor
from ..tensor.tensor import Tensor

__all__: list[str] = []


def reduce_rows(x: Tensor, at: Tensor, count: int, how: str) -> Tensor:
    """Rows x[j] summed ("sum"), averaged ("mean") or compared ("max", "min") where at[j] says, of `count` places."""
    if how in ("max", "min"):
        return RowExtreme(count, how == "max")(x, at)
    total = ScatterAdd(0, (count,), False)(x, at)
    if how == "sum":
        return total
    sizes = np.maximum(np.bincount(at.array().reshape(-1), minlength=count)[:count], 1)
    sizes = from_array(sizes.reshape(count, *(1,) * (x.ndim - 1)).astype(np.int64))
    if x.dtype.is_integer:  # toward 0, as upstream
        return cast(divide(cast(total, float64), cast(sizes, float64)), x.dtype)
    return divide(total, cast(sizes, x.dtype))


def _segments(data: Any, segment_ids: Any, fn: str) -> tuple[Tensor, int]:
    """The numbers as a vector, checked, and how many segments there are. Their values are needed at once."""
    need_tensor(data, fn, "data")
    ids = need_tensor(segment_ids, fn, "segment_ids")
    if ids.dtype.name not in ("int32", "int64"):
        raise errors.invalid_argument(f"{fn}: segment_ids are no integers.", expected="int32 or int64",
                                      received=f"segment_ids: {ids.type}")  # fmt: skip
    if not data.ndim or not ids.ndim or ids.shape[0] != data.shape[0]:
        raise errors.invalid_argument(
            f"{fn}: there is not one number for each row.", expected="data: [N, ...], segment_ids: [N]",
            received=f"data: {data.type}, segment_ids: {ids.type}",
        )  # fmt: skip
    a = ids.array().reshape(-1)[: data.shape[0]]
    if a.size and a[0] < 0:
        raise errors.out_of_range(f"{fn}: a number is negative.", received=f"{int(a[0])}")
    if (a[1:] < a[:-1]).any():
        raise errors.invalid_argument(f"{fn}: segment_ids do not rise.", expected="each at least the one before")
    return reshape(ids, (a.size,)), int(a[-1]) + 1 if a.size else 0


def segment_sum(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The sum of the rows of each segment.

    Args:
        data (Tensor): [N, ...].
        segment_ids (Tensor): int32 or int64 [N], the segment of each row; numbers that do not fall.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [segments, ...]; zeros where a segment has no rows.

    Raises:
        ValueError: there is not one number for each row, or the numbers fall. IndexError: a negative number.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0, 4.0])
        >>> paddle.geometric.segment_sum(x, paddle.to_tensor([0, 0, 2])).tolist()
        [3.0, 0.0, 4.0]
    """
    return reduce_rows(data, *_segments(data, segment_ids, "segment_sum"), "sum")


def segment_mean(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The mean of the rows of each segment; arguments as `segment_sum`.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0, 4.0])
        >>> paddle.geometric.segment_mean(x, paddle.to_tensor([0, 0, 1])).tolist()
        [1.5, 4.0]
    """
    return reduce_rows(data, *_segments(data, segment_ids, "segment_mean"), "mean")


def segment_min(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The smallest elements of the rows of each segment; arguments as `segment_sum`.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0, 4.0])
        >>> paddle.geometric.segment_min(x, paddle.to_tensor([0, 0, 1])).tolist()
        [1.0, 4.0]
    """
    return reduce_rows(data, *_segments(data, segment_ids, "segment_min"), "min")


def segment_max(data: Tensor, segment_ids: Tensor, name: str | None = None) -> Tensor:
    """The greatest elements of the rows of each segment; arguments as `segment_sum`.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0, 4.0])
        >>> paddle.geometric.segment_max(x, paddle.to_tensor([0, 0, 1])).tolist()
        [2.0, 4.0]
    """
    return reduce_rows(data, *_segments(data, segment_ids, "segment_max"), "max")
