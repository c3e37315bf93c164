"""Counts of integers in a range."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine import errors
from ....engine.eager.trace import from_array
from ....tensor.arguments import dtype_argument
from ....tensor.tensor import Tensor

__all__: list[str] = []


def int_bincount(x: Tensor, low: int, high: int, dtype: Any = None, name: str | None = None) -> Tensor:
    """How often each of the integers low, low + 1, ..., high - 1 comes up in x.

    Args:
        x (Tensor): integers. low, high (int): the range.
        dtype (str|dtype, optional): of the result. Default: that of x.
        name (str, optional): Shown in printed programs. Default: None.

    Returns:
        Tensor: [high - low].

    Raises:
        ValueError: x holds no integers, or the range is empty.

    Examples:
        >>> paddle.incubate.nn.functional.int_bincount(paddle.to_tensor([0, 1, 1, 3]), 0, 3).tolist()
        [1, 2, 0]
    """
    if not x.dtype.is_integer or high <= low:
        raise errors.invalid_argument(
            "int_bincount: there is nothing to count.", expected="integers, and low < high",
            received=f"x: {x.type}, low: {low}, high: {high}",
        )  # fmt: skip
    a = x.array().reshape(-1)
    a = a[(a >= low) & (a < high)] - low
    return from_array(np.bincount(a, minlength=high - low).astype(dtype_argument(dtype, x.dtype).np))
