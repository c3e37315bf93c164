"""Functions that read and write elements where a mask is true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager.trace import from_array
from ..engine.ops import indexing as ops
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.logic import select
from ..engine.ops.shape import broadcast_to, reshape
from ..engine.types import broadcast_shapes
from ..utils.public import inplace, public
from .arguments import (
    fill_out,
    tensor_argument,
)
from .scattering import same_type, scalar_tensor
from .tensor import Tensor

__all__ = [
    "masked_select", "masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_",
]  # fmt: skip


def mask_argument(mask: Any, name: str) -> Tensor:
    if tensor_argument(mask, name, "mask").type.dtype is not types.bool_:
        raise errors.invalid_argument(
            f"{name}: mask is not of bool.", received=f"mask: {mask.type}", expected="a Tensor of bool"
        )
    return mask


def _together(x: Tensor, mask: Tensor, name: str) -> tuple[int, ...]:
    try:
        return broadcast_shapes(x.type.shape, mask.type.shape)
    except ValueError:
        raise errors.precondition(
            f"{name}: x and mask do not broadcast.",
            received=f"x: {x.type}, mask: {mask.type}",
            expected="equal sizes, or 1, axis by axis from the right",
        ) from None


@public(also={"x": "input"}, method=True)
def masked_select(x: Tensor, mask: Tensor, name: str | None = None, *, out: Any = None) -> Tensor:
    """The elements of x where the mask is true, as a vector. The values of the mask are needed at once.

    Args:
        x (Tensor): any type. mask (Tensor): bool; the two broadcast.

    Raises:
        ValueError: mask is not of bool. RuntimeError: the shapes do not broadcast.

    Examples:
        >>> paddle.masked_select(paddle.to_tensor([1, 2]), paddle.to_tensor([False, True])).tolist()
        [2]
    """
    tensor_argument(x, "masked_select")
    shape = _together(x, mask_argument(mask, "masked_select"), "masked_select")
    at = from_array(np.flatnonzero(np.broadcast_to(mask.array(), shape)))
    return fill_out(ops.Gather(0)(reshape(broadcast_to(x, shape), (math.prod(shape),)), at), out)


@public(method=True)
def masked_fill(x: Tensor, mask: Tensor, value: Any, name: str | None = None) -> Tensor:
    """x with one number where the mask is true.

    Args:
        x (Tensor): any type. mask (Tensor): bool; the two broadcast. value (number|Tensor): the number.

    Raises:
        ValueError: mask is not of bool. RuntimeError: the shapes do not broadcast.

    Examples:
        >>> paddle.masked_fill(paddle.to_tensor([1, 2]), paddle.to_tensor([False, True]), 9).tolist()
        [1, 9]
    """
    tensor_argument(x, "masked_fill")
    shape = _together(x, mask_argument(mask, "masked_fill"), "masked_fill")
    if isinstance(value, Tensor):
        value = cast(reshape(value, ()) if value.type.size == 1 else value, x.type.dtype)
    elif is_number(value):
        value = scalar_tensor(value, x, "masked_fill") if x.type.dtype.kind in "biu" else value
    else:
        raise errors.invalid_argument(
            "masked_fill: value is not a number.",
            received=type(value).__name__,
            expected="a number, or a Tensor of one",
        )
    return select(mask, value, broadcast_to(x, shape))


masked_fill_ = inplace(masked_fill)


@public(method=True)
def masked_scatter(x: Tensor, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
    """x with the elements where the mask is true replaced by the first ones of value, in order.

    Args:
        x (Tensor): any type. mask (Tensor): bool; broadcasts to x. value (Tensor): enough elements, in the type of x.

    Raises:
        ValueError: mask is not of bool, or value of another type. AssertionError: too few values.

    Examples:
        >>> x, m = paddle.zeros([3]), paddle.to_tensor([True, False, True])
        >>> paddle.masked_scatter(x, m, paddle.to_tensor([5.0, 6.0])).tolist()
        [5.0, 0.0, 6.0]
    """
    s = tensor_argument(x, "masked_scatter").type.shape
    shape = _together(x, mask_argument(mask, "masked_scatter"), "masked_scatter")
    same_type(tensor_argument(value, "masked_scatter", "value"), x, "masked_scatter", "value")
    if shape != s:
        x = broadcast_to(x, shape)
    at = np.flatnonzero(np.broadcast_to(mask.array(), shape))
    if len(at) > value.type.size:
        raise errors.asserted(
            "masked_scatter: there are too few values.",
            expected=f"at least {len(at)}, one for each True of mask",
            received=f"value: {value.type}",
        )
    from ..engine.ops.shape import slice_axis

    first = slice_axis(reshape(value, (value.type.size,)), 0, 0, len(at))
    return reshape(ops.ScatterSet(0)(reshape(x, (x.type.size,)), first, from_array(at)), shape)


masked_scatter_ = inplace(masked_scatter)


# ---- others -----------------------------------------------------------------------------------
