"""Functions that write elements at given positions: scatter, index_put, and their kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors
from ..engine.ops import indexing as ops
from ..engine.ops.along import PutAlong
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.shape import broadcast_to, reshape
from ..utils.public import METHODS, inplace, public
from .arguments import (
    axis_argument,
    fill_out,
    int_argument,
    ints_argument,
    tensor_argument,
)
from .creation import filled
from .gathering import axis_second, index_argument, same_rank, spread, vector_index
from .indexing import assigned, value_of
from .tensor import Tensor, flag

__all__ = [
    "scatter", "scatter_", "scatter_nd", "scatter_nd_add", "index_add", "index_add_", "index_put", "index_put_",
    "index_fill", "index_fill_", "put_along_axis", "put_along_axis_", "scatter_add", "scatter_add_", "scatter_reduce",
    "select_scatter", "slice_scatter",
]  # fmt: skip


@public(method=True)
def scatter(
    x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None, out: Any = None
) -> Tensor:
    """x with rows replaced, or summed.

    Args:
        x (Tensor): at least one axis. index (Tensor): numbers of rows, a vector or a number, int32 or int64.
        updates (Tensor): the rows, in the type of x.
        overwrite (bool): True: of equal numbers the last counts. False: the rows of x that are named begin at zero and
            their updates are summed.

    Raises:
        ValueError: the shapes do not fit. IndexError: a number out of range.

    Examples:
        >>> x = paddle.zeros([3])
        >>> paddle.scatter(x, paddle.to_tensor([2, 0]), paddle.to_tensor([5.0, 7.0])).tolist()
        [7.0, 0.0, 5.0]
    """
    s = tensor_argument(x, "scatter").type.shape
    index = index_argument(index, "scatter")
    u = tensor_argument(updates, "scatter", "updates").type.shape
    if not s or u[1:] != s[1:] and index.type.shape:
        raise errors.invalid_argument("scatter: the updates do not fit.", expected=f"rows of shape {list(s[1:])}",
                                      received=f"x: {x.type}, updates: {updates.type}")  # fmt: skip
    if index.type.shape:
        index = vector_index(index, "scatter")
        if len(u) != len(s) or index.type.shape[0] > u[0]:
            raise errors.invalid_argument(
                "scatter: there are fewer updates than numbers.",
                expected="updates: [M, ...] for index: [M]",
                received=f"index: {index.type}, updates: {updates.type}",
            )
        if index.type.shape[0] < u[0]:
            from ..engine.ops.shape import slice_axis

            updates = slice_axis(updates, 0, 0, index.type.shape[0])
    else:
        index, updates = reshape(index, (1,)), reshape(updates, (1, *s[1:]))
    updates = same_type(updates, x, "scatter")
    if overwrite:
        return fill_out(ops.ScatterSet(0)(x, updates, index), out)
    cleared = ops.ScatterSet(0)(x, filled(updates.type.shape, 0, x.type.dtype), index)
    return fill_out(cleared + ops.ScatterAdd(0, s[:1])(updates, index), out)


def same_type(v: Tensor, x: Tensor, name: str, label: str = "updates") -> Tensor:
    if v.type.dtype is not x.type.dtype:
        raise errors.invalid_argument(
            f"{name}: {label} is of another type.", expected=x.type.dtype.name, received=f"{label}: {v.type}"
        )
    return v


scatter_ = inplace(scatter)


@public(method=True)
def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """x with updates added at positions that the last axis of index spells.

    Args:
        x (Tensor): any type. index (Tensor): [..., k], int32 or int64.
        updates (Tensor): index.shape[:-1] + x.shape[k:], in the type of x.

    Raises:
        ValueError: the shapes do not fit. IndexError: a position out of range.

    Examples:
        >>> x, i = paddle.zeros([2]), paddle.to_tensor([[1], [1]])
        >>> paddle.scatter_nd_add(x, i, paddle.to_tensor([2.0, 3.0])).tolist()
        [0.0, 5.0]
    """
    tensor_argument(x, "scatter_nd_add")
    same_type(tensor_argument(updates, "scatter_nd_add", "updates"), x, "scatter_nd_add")
    return x + _scattered(x.type.shape, index, updates, "scatter_nd_add")


def _scattered(shape: tuple[int, ...], index: Any, updates: Any, name: str) -> Any:
    """Zeros with updates added at positions."""
    from ..engine.ops.shape import slice_axis

    at = index_argument(index, name).type.shape
    k = at[-1] if at else 0
    if not at or k > len(shape) or updates.type.shape != at[:-1] + shape[k:]:
        raise errors.invalid_argument(
            f"{name}: the updates do not fit.",
            expected=f"updates of shape {list(at[:-1] + shape[k:])}",
            received=f"x: {list(shape)}, index: {index.type}, updates: {updates.type}",
        )
    if k == 0:
        from ..engine.ops.reduction import sum_

        return sum_(updates, range(len(at) - 1))
    parts = [reshape(slice_axis(index, len(at) - 1, j, j + 1), at[:-1]) for j in range(k)]
    return ops.ScatterAdd(0, shape[:k])(updates, *parts)


@public(method=False)
def scatter_nd(index: Tensor, updates: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of a shape with updates added at positions; see `scatter_nd_add`."""
    tensor_argument(updates, "scatter_nd", "updates")
    return _scattered(tuple(ints_argument(shape, "scatter_nd", "shape")), index, updates, "scatter_nd")


METHODS["scatter_nd"] = scatter_nd


@axis_second
@public(also={"x": "input", "axis": "dim", "value": "source"})
def index_add(
    x: Tensor, index: Tensor, axis: Any, value: Tensor, alpha: Any = 1, name: str | None = None, *, out: Any = None
) -> Tensor:
    """x with slices of value added to slices of x, picked by number.

    Args:
        x (Tensor): any type. index (Tensor): a vector, int32 or int64. axis (int): which.
        value (Tensor): one slice per number, in the type of x. alpha (number): factor of value.

    Raises:
        ValueError: the shapes do not fit. IndexError: a number out of range.

    Examples:
        >>> x, i = paddle.zeros([2]), paddle.to_tensor([1, 1])
        >>> paddle.index_add(x, i, 0, paddle.to_tensor([2.0, 3.0])).tolist()
        [0.0, 5.0]
    """
    s = tensor_argument(x, "index_add").type.shape
    index = vector_index(index, "index_add")
    a = axis_argument(axis, len(s), "index_add")
    same_type(tensor_argument(value, "index_add", "value"), x, "index_add", "value")
    region = s[:a] + index.type.shape + s[a + 1 :]
    if len(value.type.shape) != len(s):
        raise errors.invalid_argument("index_add: value does not fit.", expected=f"shape {list(region)}",
                                      received=f"value: {value.type}")  # fmt: skip
    if value.type.shape != region and value.type.shape[a] > region[a]:
        from ..engine.ops.shape import slice_axis

        value = slice_axis(value, a, 0, region[a])
    value = broadcast_to(value, region)
    if alpha != 1:
        value = value * alpha
    return fill_out(x + ops.ScatterAdd(a, (s[a],))(value, index), out)


index_add_ = METHODS["index_add_"] = axis_second(inplace(index_add))


@public(also={"x": "input", "value": "values"}, method=True)
def index_put(x: Tensor, indices: Any, value: Tensor, accumulate: bool = False, name: str | None = None) -> Tensor:
    """x with elements replaced (or added to), at positions that a tuple of index Tensors gives.

    Args:
        x (Tensor): any type. indices (tuple of Tensor): integers or bool, as in x[indices].
        value (Tensor): broadcasts to x[indices], in the type of x. accumulate (bool): add.

    Raises:
        ValueError: the shapes do not fit. IndexError: a position out of range.

    Examples:
        >>> x = paddle.zeros([3])
        >>> paddle.index_put(x, (paddle.to_tensor([0, 2]),), paddle.to_tensor(5.0)).tolist()
        [5.0, 0.0, 5.0]
    """
    tensor_argument(x, "index_put")
    if not isinstance(indices, (list, tuple)) or not indices or not all(isinstance(i, Tensor) for i in indices):
        raise errors.invalid_argument(
            "index_put: indices is not a tuple of Tensors.",
            received=type(indices).__name__,
            expected="a tuple of Tensors, one per axis",
        )
    same_type(tensor_argument(value, "index_put", "value"), x, "index_put", "value")
    if not accumulate:
        return assigned(x, tuple(indices), value)
    from .indexing import advanced, fit, plan_of

    _, rest = plan_of(x.type, tuple(indices))
    placed, at, axis, _ = advanced(x, rest)
    found = np.broadcast_shapes(*(i.type.shape for i in at))
    s = placed.type.shape
    region = found + s[len(at) :]
    added = ops.ScatterAdd(axis, s[: len(at)])(broadcast_to(fit(value, region), region), *at)
    return x + reshape(added, x.type.shape)


index_put_ = inplace(index_put)


@public(method=True)
def index_fill(x: Tensor, index: Tensor, axis: Any, value: Any, name: str | None = None) -> Tensor:
    """x with slices along an axis, picked by number, set to one number.

    Args:
        x (Tensor): any type. index (Tensor): a vector, int32 or int64. axis (int): which.
        value (number|Tensor): the number.

    Examples:
        >>> paddle.index_fill(paddle.ones([3]), paddle.to_tensor([1]), 0, 9.0).tolist()
        [1.0, 9.0, 1.0]
    """
    s = tensor_argument(x, "index_fill").type.shape
    index = vector_index(index, "index_fill")
    a = axis_argument(axis, len(s), "index_fill")
    region = s[:a] + index.type.shape + s[a + 1 :]
    return ops.ScatterSet(a)(x, broadcast_to(scalar_tensor(value, x, "index_fill"), region), index)


index_fill_ = inplace(index_fill)


def scalar_tensor(value: Any, x: Tensor, name: str) -> Any:
    """A number or a Tensor of one element, as a 0-d Tensor of the type of x."""
    if isinstance(value, Tensor):
        if value.type.size != 1:
            raise errors.invalid_argument(
                f"{name}: value has more than one element.", received=f"value: {value.type}", expected="one element"
            )
        return cast(reshape(value, ()), x.type.dtype)
    if not is_number(value):
        raise errors.invalid_argument(
            f"{name}: value is not a number.",
            received=f"value: {type(value).__name__}",
            expected="a number, or a Tensor of one",
        )
    return value_of(np.asarray(value), x.type.dtype)


_NAMES = {"assign": "assign", "add": "add", "sum": "add", "multiply": "mul", "mul": "mul", "prod": "mul",
          "mean": "mean", "amin": "amin", "amax": "amax"}  # fmt: skip


@public(also={"arr": "input", "axis": "dim"}, method=True)
def put_along_axis(
    arr: Tensor, indices: Tensor, values: Any, axis: Any, reduce: str = "assign", include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:  # fmt: skip
    """arr with one element of a line along an axis replaced, or combined, for each index.

    Args:
        arr (Tensor): any type. indices (Tensor): as many axes, int32 or int64.
        values (Tensor|number): broadcasts to indices. axis (int): which.
        reduce (str): "assign", "add", "multiply" (or "mul"), "mean", "amin" or "amax".
        include_self (bool): the element of arr takes part in it.
        broadcast (bool): the index is repeated to the other axes of arr.

    Raises:
        ValueError: the shapes do not fit, or no such reduce. IndexError: a number out of range.

    Examples:
        >>> x = paddle.zeros([2, 2])
        >>> paddle.put_along_axis(x, paddle.to_tensor([[1], [0]]), 5.0, 1, broadcast=False).tolist()
        [[0.0, 5.0], [5.0, 0.0]]
    """
    tensor_argument(arr, "put_along_axis", "arr")
    index_argument(indices, "put_along_axis", "indices")
    if reduce not in _NAMES:
        raise errors.invalid_argument("put_along_axis: no such reduce.", expected=", ".join(_NAMES),
                                      received=repr(reduce))  # fmt: skip
    if axis is None:
        flat = put_along_axis(
            reshape(arr, (arr.type.size,)), reshape(indices, (indices.type.size,)), values, 0, reduce, include_self
        )
        return reshape(flat, arr.type.shape)
    same_rank(arr, indices, "put_along_axis")
    a = axis_argument(axis, len(arr.type.shape), "put_along_axis")
    index = spread(arr, indices, a, "put_along_axis") if broadcast else indices
    if isinstance(values, Tensor):
        v = same_type(values, arr, "put_along_axis", "values")
        if not broadcast and v.type.shape != index.type.shape and len(v.type.shape) == len(index.type.shape):
            from ..engine.ops.shape import slice_axis

            for i, n in enumerate(index.type.shape):
                if v.type.shape[i] > n:
                    v = slice_axis(v, i, 0, n)
    else:
        v = scalar_tensor(values, arr, "put_along_axis")
    v = broadcast_to(v, index.type.shape)
    if not arr.type.shape:
        arr1, v1, index1 = (reshape(t, (1,)) for t in (arr, v, index))
        return reshape(PutAlong(0, _NAMES[reduce], flag(include_self, "include_self"))(arr1, v1, index1), ())
    return PutAlong(a, _NAMES[reduce], flag(include_self, "include_self"))(arr, v, index)


put_along_axis_ = inplace(put_along_axis)


@public(method=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """input with elements of src added along an axis, at the positions in index."""
    return put_along_axis(input, index, src, dim, "add", broadcast=False)


scatter_add_ = inplace(scatter_add)


@public(method=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """input with elements of src combined along an axis, at the positions in index.

    reduce: "sum", "prod", "mean", "amin" or "amax".
    """
    if reduce not in ("sum", "prod", "mean", "amin", "amax"):
        raise errors.invalid_argument(
            "scatter_reduce: no such reduce.", received=repr(reduce), expected="'sum', 'prod', 'mean', 'amin' or 'amax'"
        )
    return put_along_axis(input, index, src, dim, reduce, include_self, broadcast=False)


@public(method=True)
def select_scatter(x: Tensor, values: Tensor, axis: int, index: int, name: str | None = None) -> Tensor:
    """x with one slice along an axis replaced."""
    s = tensor_argument(x, "select_scatter").type.shape
    a = axis_argument(axis, len(s), "select_scatter")
    i = int_argument(index, "select_scatter", "index")
    want = s[:a] + s[a + 1 :]
    if tensor_argument(values, "select_scatter", "values").type.shape != want:
        raise RuntimeError(
            errors.message("InvalidArgument", "select_scatter: values does not fit.", f"shape {list(want)}",
                           f"values: {values.type}")
        )  # fmt: skip
    return assigned(x, (slice(None),) * a + (i,), cast(values, x.type.dtype))


@public(method=True)
def slice_scatter(
    x: Tensor, value: Tensor, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Tensor:
    """x with the elements that `strided_slice` would give replaced by those of value."""
    s = tensor_argument(x, "slice_scatter").type.shape
    key = [slice(None)] * len(s)
    for a, start, end, step in zip(
        *(ints_argument(v, "slice_scatter", n) for v, n in
          ((axes, "axes"), (starts, "starts"), (ends, "ends"), (strides, "strides")))
    ):  # fmt: skip
        key[axis_argument(a, len(s), "slice_scatter")] = slice(start, end, step)
    return assigned(x, tuple(key), tensor_argument(value, "slice_scatter", "value"))


# ---- masks ------------------------------------------------------------------------------------
