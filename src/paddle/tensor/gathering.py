"""Functions that read elements at given positions: gather, index_select, take, and their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.ops import indexing as ops
from ..engine.ops.along import IndexSample, TakeAlong
from ..engine.ops.elementwise import cast
from ..engine.ops.logic import select
from ..engine.ops.shape import BroadcastTo, Reshape, broadcast_to, reshape
from ..engine.types import broadcast_shapes
from ..framework.tables import positions
from ..utils.public import METHODS, public
from .arguments import (
    axis_argument,
    fill_out,
    not_a_tensor,
    tensor_argument,
)
from .tensor import Tensor

__all__ = [
    "gather", "gather_nd", "index_select", "index_sample", "take_along_axis", "take_along_dim", "take", "multiplex",
    "shard_index",
]  # fmt: skip


def index_argument(index: Any, name: str, label: str = "index") -> Tensor:
    """An index Tensor of int32 or int64. Raises ValueError for another type, TypeError for a number."""
    if isinstance(index, (bool, int)) and name in ("gather", "index_select", "scatter"):
        raise not_a_tensor(index, name, label, TypeError)
    tensor_argument(index, name, label)
    if not index.type.dtype.is_integer:
        raise errors.invalid_argument(
            f"{name}: {label} is not of an integer type.", expected="int32 or int64", received=f"{label}: {index.type}",
            hint=f"cast it, as in {label}.astype('int64').",
        )  # fmt: skip
    return index


def vector_index(index: Any, name: str) -> Tensor:
    """An index vector; [n, 1] counts as one."""
    s = index_argument(index, name).type.shape
    if len(s) == 2 and s[1] == 1:
        return Reshape(s[:1])(index)
    if len(s) != 1:
        raise errors.invalid_argument(f"{name}: index is not a vector.", expected="one axis",
                                      received=f"index: {index.type}")  # fmt: skip
    return index


# ---- reading ----------------------------------------------------------------------------------
@public(method=True)
def gather(x: Tensor, index: Tensor, axis: Any = None, name: str | None = None, out: Any = None) -> Tensor:
    """Slices of x along an axis, picked by number.

    Args:
        x (Tensor): at least one axis. index (Tensor): a vector or a number, int32 or int64.
        axis (int|Tensor, optional): which. Default: 0.

    Returns:
        Tensor: like x, with len(index) slices; without the axis if index is a number.

    Raises:
        IndexError: a number out of range. ValueError: index is a matrix.

    Examples:
        >>> paddle.gather(paddle.to_tensor([10, 20, 30]), paddle.to_tensor([2, 0])).tolist()
        [30, 10]
    """
    n = len(tensor_argument(x, "gather").type.shape)
    index = index_argument(index, "gather")
    if index.type.shape:
        index = vector_index(index, "gather")
    a = 0 if axis is None else axis_argument(axis, n, "gather")
    return fill_out(ops.Gather(a)(x, index), out)


@public(method=True)
def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """Parts of x at positions that the last axis of index spells.

    Args:
        x (Tensor): any type. index (Tensor): [..., k], int32 or int64; k at most the number of axes of x.

    Returns:
        Tensor: index.shape[:-1] + x.shape[k:].

    Raises:
        ValueError: k is too large, or a position out of range.

    Examples:
        >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    s = tensor_argument(x, "gather_nd").type.shape
    at = index_argument(index, "gather_nd").type.shape
    if not at or at[-1] > len(s):
        raise errors.invalid_argument(
            "gather_nd: the positions have too many numbers.",
            expected=f"at most {len(s)} on the last axis of index",
            received=f"x: {x.type}, index: {index.type}",
        )
    if at[-1] == 0:
        return BroadcastTo(at[:-1] + s)(x)
    return ops.gather_nd(x, index)


def axis_second(f: Callable[..., Any]) -> Callable[..., Any]:
    """Lets (x, axis, index, ...) stand for (x, index, axis, ...)."""
    import functools

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 2 and isinstance(args[1], (int, np.integer)) and isinstance(args[2], Tensor):
            args = (args[0], args[2], args[1], *args[3:])
        elif len(args) == 2 and isinstance(args[1], (int, np.integer)) and "index" in kwargs:
            kwargs["axis"] = args[1]
            args = args[:1]
        return f(*args, **kwargs)

    METHODS[f.__name__] = call
    return call


@axis_second
@public(also={"x": "input", "axis": "dim"})
def index_select(x: Tensor, index: Tensor, axis: Any = 0, name: str | None = None, *, out: Any = None) -> Tensor:
    """Slices of x along an axis, picked by number.

    Args:
        x (Tensor): at least one axis. index (Tensor): a vector, int32 or int64. axis (int): which.

    Raises:
        ValueError: index is not a vector of integers, or a number out of range.

    Examples:
        >>> paddle.index_select(paddle.to_tensor([[1, 2, 3]]), paddle.to_tensor([2, 0]), 1).tolist()
        [[3, 1]]
    """
    n = len(tensor_argument(x, "index_select").type.shape)
    index = vector_index(index, "index_select")
    return fill_out(ops.IndexSelect(axis_argument(axis, n, "index_select"))(x, index), out)


@public(method=True)
def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """out[i, j] = x[i, index[i, j]].

    Args:
        x (Tensor): [n, m]. index (Tensor): [n, k], int32 or int64.

    Raises:
        ValueError: other shapes, or a number out of range.

    Examples:
        >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    s, at = tensor_argument(x, "index_sample").type.shape, index_argument(index, "index_sample").type.shape
    if len(s) != 2 or len(at) != 2 or s[0] != at[0]:
        raise errors.invalid_argument("index_sample: the shapes do not fit.", expected="two matrices with as many rows",
                                      received=f"x: {x.type}, index: {index.type}")  # fmt: skip
    return IndexSample(1, False)(x, index)


def spread(x: Tensor, indices: Tensor, axis: int, name: str) -> Tensor:
    """The index, broadcast against x on the axes that it does not pick from."""
    s, at = x.type.shape, indices.type.shape
    try:
        shape = broadcast_shapes(s[:axis] + (1,) + s[axis + 1 :], at)
    except ValueError:
        shape = at
    if any(m != n for i, (m, n) in enumerate(zip(shape, s)) if i != axis):
        raise errors.invalid_argument(
            f"{name}: the index does not broadcast against the array.",
            expected=f"equal sizes, or 1, on all axes but {axis}",
            received=f"arr: {x.type}, indices: {indices.type}",
        )
    return broadcast_to(indices, shape)


def same_rank(x: Tensor, indices: Tensor, name: str) -> None:
    if len(x.type.shape) != len(indices.type.shape):
        raise errors.invalid_argument(
            f"{name}: the array and the index have different numbers of axes.",
            received=f"arr: {x.type}, indices: {indices.type}",
            expected="as many axes",
        )


@public(also={"arr": "input", "axis": "dim"}, method=("take_along_axis", "take_along_dim"))
def take_along_axis(arr: Tensor, indices: Tensor, axis: Any, broadcast: bool = True, *, out: Any = None) -> Tensor:
    """One element of a line along an axis for each index: out[.., j, ..] = arr[.., indices[.., j, ..], ..].

    Args:
        arr (Tensor): any type. indices (Tensor): as many axes, int32 or int64. axis (int): which.
        broadcast (bool): the index is repeated to the other axes of arr.

    Raises:
        ValueError: the shapes do not fit. IndexError: a number out of range.

    Examples:
        >>> x = paddle.to_tensor([[3, 1], [2, 4]])
        >>> paddle.take_along_axis(x, paddle.to_tensor([[1], [0]]), 1).tolist()
        [[1], [2]]
    """
    s = tensor_argument(arr, "take_along_axis", "arr").type.shape
    index_argument(indices, "take_along_axis", "indices")
    if axis is None:
        return fill_out(TakeAlong(0)(Reshape((arr.type.size,))(arr), reshape(indices, (indices.type.size,))), out)
    same_rank(arr, indices, "take_along_axis")
    a = axis_argument(axis, len(s), "take_along_axis")
    index = spread(arr, indices, a, "take_along_axis") if broadcast else indices
    if not s:
        return fill_out(reshape(TakeAlong(0)(reshape(arr, (1,)), reshape(index, (1,))), ()), out)
    return fill_out(TakeAlong(a)(arr, index), out)


take_along_dim = take_along_axis


@public(method=True)
def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements of x as a vector, picked by number.

    Args:
        x (Tensor): any type. index (Tensor): any shape, int32 or int64.
        mode (str): for numbers out of range: "raise", "wrap" around, or "clip" to the nearest.

    Returns:
        Tensor: in the shape of index.

    Raises:
        ValueError: no such mode, or a number out of range in the mode "raise".

    Examples:
        >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([0, -1])).tolist()
        [1, 4]
    """
    tensor_argument(x, "take")
    if mode not in ("raise", "wrap", "clip"):
        raise errors.invalid_argument("take: no such mode.", expected="'raise', 'wrap' or 'clip'", received=repr(mode))
    if not isinstance(index, Tensor) or not index.type.dtype.is_integer:
        raise errors.invalid_type(
            "take: index is not an integer Tensor.",
            received=f"{getattr(index, 'type', index)}",
            expected="int32 or int64",
        )
    n = x.type.size
    if mode == "wrap":
        from ..engine.ops.math import remainder

        index = remainder(index, n)
    elif mode == "clip":
        from ..engine.ops.elementwise import maximum, minimum

        index = minimum(maximum(index, 0), n - 1)
    return ops.IndexSelect(0)(reshape(x, (n,)), index)


@public(method=True)
def multiplex(inputs: Any, index: Tensor, name: str | None = None) -> Tensor:
    """Row i of the Tensor with number index[i], for all i.

    Args:
        inputs (list of Tensor): of one shape [n, ...]. index (Tensor): [n, 1], int32 or int64.

    Examples:
        >>> a, b = paddle.to_tensor([[1], [2]]), paddle.to_tensor([[3], [4]])
        >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]])).tolist()
        [[3], [2]]
    """
    from .arguments import tensor_list
    from .joining import stack

    xs = stack(tensor_list(inputs, "multiplex", "inputs"), 0)
    at = vector_index(index, "multiplex")
    rows = positions(at.type.shape[0], types.int64)
    return ops.Gather(0)(xs, cast(at, types.int64), rows)


@public(method=True)
def shard_index(input: Tensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Tensor:
    """Numbers of rows as they count within one of several equal shards; ignore_value for those of other shards.

    Args:
        input (Tensor): [..., 1], int32 or int64. index_num (int): rows in all. nshards (int): shards.
        shard_id (int): which shard.

    Raises:
        ValueError: no such shard.

    Examples:
        >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), 20, 2, 0).tolist()
        [[-1], [1]]
    """
    tensor_argument(input, "shard_index", "input")
    if not 0 <= shard_id < nshards:
        raise errors.invalid_argument("shard_index: there is no such shard.", expected=f"a number in [0, {nshards})",
                                      received=f"shard_id: {shard_id}")  # fmt: skip
    from ..engine.ops.elementwise import greater_equal, less_than
    from ..engine.ops.logic import logical_and

    size = (index_num + nshards - 1) // nshards
    low = shard_id * size
    here = logical_and(greater_equal(input, low), less_than(input, low + size))
    return select(here, input - low, ignore_value)
