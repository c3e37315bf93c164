"""Functions that read and write elements at given positions: gather, scatter, masks, and their kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager.trace import from_array
from ..engine.ops import indexing as ops
from ..engine.ops.along import IndexSample, PutAlong, TakeAlong
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.logic import select
from ..engine.ops.shape import BroadcastTo, Reshape, broadcast_to, reshape
from ..engine.types import broadcast_shapes
from ..utils.public import METHODS, inplace, public
from .arguments import (
    axis_argument,
    fill_out,
    int_argument,
    ints_argument,
    not_a_tensor,
    tensor_argument,
)
from .creation import filled
from .indexing import assigned, value_of
from .tensor import Tensor, flag

__all__ = [
    "gather", "gather_nd", "scatter", "scatter_", "scatter_nd", "scatter_nd_add", "index_select", "index_sample",
    "index_add", "index_add_", "index_put", "index_put_", "index_fill", "index_fill_", "take_along_axis",
    "take_along_dim", "put_along_axis", "put_along_axis_", "scatter_add", "scatter_add_", "scatter_reduce",
    "masked_select", "masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_", "take", "select_scatter",
    "slice_scatter", "multiplex", "shard_index",
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


def _axis_second(f: Callable[..., Any]) -> Callable[..., Any]:
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


@_axis_second
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


def _spread(x: Tensor, indices: Tensor, axis: int, name: str) -> Tensor:
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


def _same_rank(x: Tensor, indices: Tensor, name: str) -> None:
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
    _same_rank(arr, indices, "take_along_axis")
    a = axis_argument(axis, len(s), "take_along_axis")
    index = _spread(arr, indices, a, "take_along_axis") if broadcast else indices
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


# ---- writing ----------------------------------------------------------------------------------
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
    updates = _same_type(updates, x, "scatter")
    if overwrite:
        return fill_out(ops.ScatterSet(0)(x, updates, index), out)
    cleared = ops.ScatterSet(0)(x, filled(updates.type.shape, 0, x.type.dtype), index)
    return fill_out(cleared + ops.ScatterAdd(0, s[:1])(updates, index), out)


def _same_type(v: Tensor, x: Tensor, name: str, label: str = "updates") -> Tensor:
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
    _same_type(tensor_argument(updates, "scatter_nd_add", "updates"), x, "scatter_nd_add")
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


@_axis_second
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
    _same_type(tensor_argument(value, "index_add", "value"), x, "index_add", "value")
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


index_add_ = METHODS["index_add_"] = _axis_second(inplace(index_add))


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
    _same_type(tensor_argument(value, "index_put", "value"), x, "index_put", "value")
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
    return ops.ScatterSet(a)(x, broadcast_to(_scalar_tensor(value, x, "index_fill"), region), index)


index_fill_ = inplace(index_fill)


def _scalar_tensor(value: Any, x: Tensor, name: str) -> Any:
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
    _same_rank(arr, indices, "put_along_axis")
    a = axis_argument(axis, len(arr.type.shape), "put_along_axis")
    index = _spread(arr, indices, a, "put_along_axis") if broadcast else indices
    if isinstance(values, Tensor):
        v = _same_type(values, arr, "put_along_axis", "values")
        if not broadcast and v.type.shape != index.type.shape and len(v.type.shape) == len(index.type.shape):
            from ..engine.ops.shape import slice_axis

            for i, n in enumerate(index.type.shape):
                if v.type.shape[i] > n:
                    v = slice_axis(v, i, 0, n)
    else:
        v = _scalar_tensor(values, arr, "put_along_axis")
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
        value = _scalar_tensor(value, x, "masked_fill") if x.type.dtype.kind in "biu" else value
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
    _same_type(tensor_argument(value, "masked_scatter", "value"), x, "masked_scatter", "value")
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
    rows = from_array(np.arange(at.type.shape[0]))
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
