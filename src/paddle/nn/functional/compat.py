"""Functions under the names and with the arguments of other frameworks, as upstream offers them at `paddle.*`."""

from __future__ import annotations

from typing import Any

from ...tensor.tensor import Tensor
from ...utils.public import public
from . import activation
from ._check import tensor

__all__ = ["softmax"]


@public()
def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) over its sum along an axis.

    Args:
        input (Tensor): any floating dtype.
        dim (int, optional): the axis; None for 0 with 0, 1 or 3 axes, else 1. Default: None.
        dtype (str|dtype, optional): input is cast to it first. Default: None.
        out (Tensor, optional): takes the result's value. Default: None.

    Returns:
        Tensor: shape of input.

    Raises:
        ValueError: there is no such axis.

    Examples:
        >>> paddle.softmax(paddle.zeros([1, 2])).tolist()
        [[0.5, 0.5]]
    """
    tensor(input, "softmax", "input")
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return activation.softmax(input, dim, dtype, out=out)
