"""Sums, products, extremes of Tensors over axes, and their running forms."""

from __future__ import annotations

import builtins
from typing import Any

from ..engine import errors, types
from ..engine.ops import elementwise as ew
from ..engine.ops import logic, scan
from ..engine.ops import reduction as ops
from ..engine.ops.elementwise import cast
from ..engine.ops.shape import reshape
from ..engine.types import DType, dtype_of
from ..utils.public import public
from .arguments import axis_argument, fill_out, kernel_dtype
from .axes import axes_argument
from .creation import copy_of
from .families import need_tensor, no_method
from .tensor import Tensor, flag

__all__ = [
    "sum", "nansum", "prod", "max", "min", "amax", "amin", "all", "any", "logsumexp", "count_nonzero", "reduce_as",
    "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp",
]  # fmt: skip


def _summed_type(x: Tensor, dtype: Any, running: bool = False) -> DType:
    """int32 and bool are added in int64, and in running sums every integer type."""
    if dtype is not None:
        return kernel_dtype(dtype)
    wide = x.dtype.kind in "biu" if running else x.dtype in (types.bool_, types.int32)
    return types.int64 if wide else x.dtype


@public(also={"x": "input", "axis": "dim"}, method=True, kind=ValueError)
def sum(x: Tensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None, *,
        out: Any = None) -> Tensor:  # fmt: skip
    """The sum of elements over axes.

    Args:
        x (Tensor): Any type; bool and int32 are added in int64.
        axis (int|list|tuple, optional): the axes; None for all.
        dtype (str|dtype, optional): the type to add in, and of the result.
        keepdim (bool): reduced axes stay, with size 1.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: x without the axes; 0 where there is nothing to add.

    Raises:
        ValueError: x is not a Tensor, or no such axis. TypeError: axis is not an integer.

    Examples:
        >>> paddle.sum(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
        [4.0, 6.0]
    """
    need_tensor(x, "sum")
    if isinstance(dtype, bool):  # torch's order: sum(x, dim, keepdim)
        dtype, keepdim = None, dtype
    axes = axes_argument(axis, x.ndim, "sum")
    return fill_out(ops.sum_(cast(x, _summed_type(x, dtype)), axes, flag(keepdim, "keepdim")), out)


@public(method=True)
def nansum(x: Tensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum over axes in which NaN counts as 0. Arguments as `sum`.

    Examples:
        >>> paddle.nansum(paddle.to_tensor([1.0, float("nan")])).item()
        1.0
    """
    no_method(x, "nansum")
    return sum(_without_nan(x), axis, dtype, keepdim)


def _without_nan(x: Tensor) -> Tensor:
    return logic.select(logic.isnan(x), 0.0, x) if x.dtype.is_floating else x


@public(also={"x": "input", "axis": "dim"}, method=True)
def prod(x: Tensor, axis: Any = None, keepdim: bool = False, dtype: Any = None, out: Any = None,
         name: str | None = None) -> Tensor:  # fmt: skip
    """The product of elements over axes, in the type of x unless `dtype` is given. Arguments as `sum`.

    Examples:
        >>> paddle.prod(paddle.to_tensor([2.0, 3.0, 4.0])).item()
        24.0
    """
    need_tensor(x, "prod")
    axes = axes_argument(axis, x.ndim, "prod")
    if dtype is not None:
        x = cast(x, dtype_of(dtype))
    elif x.dtype.is_bool:
        raise errors.unavailable(
            "prod: it is not defined for bool.", hint="pass a dtype.", expected="a number type", received=f"x: {x.type}"
        )
    return fill_out(ops.Prod(axes, flag(keepdim, "keepdim"))(x) if axes else x * 1, out)


def _extreme(op: Any, x: Any, axis: Any, keepdim: Any, name: str) -> Tensor:
    need_tensor(x, name)
    axes = axes_argument(axis, x.ndim, name)
    return op(axes, flag(keepdim, "keepdim"))(x)


_FORBIDDEN = {"dim", "input", "other"}


def _forbid(f: Any) -> Any:
    """max and min take Paddle's names only: with torch's they would have to return indices too."""
    import functools

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not _FORBIDDEN.isdisjoint(kwargs):
            raise errors.invalid_type(
                f"{f.__name__}: no such argument.", expected="x, axis, keepdim", received=", ".join(kwargs)
            )
        return f(*args, **kwargs)

    from ..utils.public import METHODS

    METHODS[f.__name__] = call
    return call


@_forbid
def max(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The greatest element over axes; NaN where one is NaN. The gradient is spread evenly over equals.

    Args:
        x (Tensor): Any real number type.
        axis (int|list|tuple, optional): the axes; None for all. keepdim (bool): reduced axes stay, with size 1.

    Returns:
        Tensor: x without the axes.

    Raises:
        ValueError: x is not a Tensor, there is no such axis, or nothing to compare.

    Examples:
        >>> paddle.max(paddle.to_tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1).tolist()
        [5.0, 4.0]
    """
    return _extreme(ops.Max, x, axis, keepdim, "max")


@_forbid
def min(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The smallest element over axes; NaN where one is NaN. Arguments as `max`.

    Examples:
        >>> paddle.min(paddle.to_tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1).tolist()
        [1.0, 3.0]
    """
    return _extreme(ops.Min, x, axis, keepdim, "min")


@public(also={"x": "input", "axis": "dim"}, method=True, kind=ValueError)
def amax(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Tensor:
    """The greatest element over axes, as `max`.

    Examples:
        >>> paddle.amax(paddle.to_tensor([1.0, 3.0, 3.0])).item()
        3.0
    """
    return fill_out(_extreme(ops.Max, x, axis, keepdim, "amax"), out)


@public(also={"x": "input", "axis": "dim"}, method=True, kind=ValueError)
def amin(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Tensor:
    """The smallest element over axes, as `min`.

    Examples:
        >>> paddle.amin(paddle.to_tensor([1.0, 3.0, 3.0])).item()
        1.0
    """
    return fill_out(_extreme(ops.Min, x, axis, keepdim, "amin"), out)


@public(also={"x": "input", "axis": "dim"}, method=True, kind=ValueError)
def all(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Tensor:
    """Whether all elements over axes are true (not zero).

    Args:
        x (Tensor): Any type.
        axis (int|list|tuple, optional): the axes; None for all. keepdim (bool): reduced axes stay, with size 1.

    Returns:
        Tensor: bool; True where there is nothing to test.

    Examples:
        >>> paddle.all(paddle.to_tensor([[True, False], [True, True]]), axis=1).tolist()
        [False, True]
    """
    need_tensor(x, "all")
    return fill_out(ops.All(axes_argument(axis, x.ndim, "all"), flag(keepdim, "keepdim"))(x), out)


@public(also={"x": "input", "axis": "dim"}, method=True, kind=ValueError)
def any(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Tensor:
    """Whether some element over axes is true (not zero). Arguments as `all`.

    Examples:
        >>> paddle.any(paddle.to_tensor([[True, False], [False, False]]), axis=1).tolist()
        [True, False]
    """
    need_tensor(x, "any")
    return fill_out(ops.Any_(axes_argument(axis, x.ndim, "any"), flag(keepdim, "keepdim"))(x), out)


@public(also={"x": "input", "axis": "dim"}, method=True, kind=ValueError)
def logsumexp(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None, *,
              out: Any = None) -> Tensor:  # fmt: skip
    """The log of the sum of exponentials over axes, without overflow. Arguments as `sum`.

    Examples:
        >>> round(paddle.logsumexp(paddle.to_tensor([1000.0, 1000.0])).item(), 2)
        1000.69
    """
    need_tensor(x, "logsumexp")
    if not x.dtype.is_floating:
        x = cast(x, types.float32)
    return fill_out(ops.Logsumexp(axes_argument(axis, x.ndim, "logsumexp"), flag(keepdim, "keepdim"))(x), out)


@public(method=True)
def count_nonzero(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """How many elements over axes are not zero, int64.

    Examples:
        >>> paddle.count_nonzero(paddle.to_tensor([0.0, 1.1, 1.2])).item()
        2
    """
    need_tensor(x, "count_nonzero")
    axes = axes_argument(axis, x.ndim, "count_nonzero")
    return ops.sum_(cast(ew.not_equal(x, 0), types.int64), axes, flag(keepdim, "keepdim"))


@public(method=True)
def reduce_as(x: Tensor, target: Tensor, name: str | None = None) -> Tensor:
    """x summed to the shape of target, over the axes along which target would broadcast.

    Examples:
        >>> paddle.reduce_as(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([0.0, 0.0])).tolist()
        [4.0, 6.0]
    """
    need_tensor(x, "reduce_as", kind=TypeError)
    need_tensor(target, "reduce_as", "target", TypeError)
    if x.dtype.kind in "biu" and x.type.shape != target.type.shape:
        x = cast(x, types.int64)
    return copy_of(x) if x.type.shape == target.type.shape else ew.sum_to(x, target.type.shape)


# ---- running ----------------------------------------------------------------------------------
def _along(x: Tensor, axis: Any, name: str) -> tuple[Tensor, int]:
    """x and the axis to run along: all of x in a row for None."""
    if axis is None:
        return reshape(x, (x.type.size,)), 0
    if name != "cumprod" and isinstance(axis, int) and not -builtins.max(x.ndim, 1) <= axis < builtins.max(x.ndim, 1):
        raise errors.out_of_range(
            f"{name}: x has no such axis.", expected=f"axis in [{-x.ndim}, {x.ndim})", received=f"axis: {axis}"
        )
    a = axis_argument(axis, x.ndim, name)
    return (x if x.ndim else reshape(x, (1,))), a


def _as_was(t: Any, x: Tensor, axis: Any) -> Any:
    return reshape(t, ()) if axis is not None and not x.ndim else t


@public(also={"x": "input", "axis": "dim"}, method=True)
def cumsum(x: Tensor, axis: Any = None, dtype: Any = None, name: str | None = None, *, out: Any = None) -> Tensor:
    """The running sum along an axis.

    Args:
        x (Tensor): Any numeric type; bool and integers are added in int64.
        axis (int, optional): None for all elements in a row. dtype (str|dtype, optional): the type to add in.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: the shape of x, a vector if axis is None.

    Raises:
        IndexError: no such axis.

    Examples:
        >>> paddle.cumsum(paddle.to_tensor([1, 2, 3])).tolist()
        [1, 3, 6]
    """
    no_method(x, "cumsum")
    dtype = None if dtype is None else dtype_of(dtype)
    t, a = _along(cast(x, _summed_type(x, dtype, True)), axis, "cumsum")
    return fill_out(_as_was(scan.Cumsum(a)(t), x, axis), out)


@public(also={"x": "input"}, method=True)
def cumprod(x: Tensor, dim: Any = None, *, dtype: Any = None, out: Any = None, name: str | None = None) -> Tensor:
    """The running product along an axis, in the type of x. Arguments as `cumsum`.

    Examples:
        >>> paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0]), dim=0).tolist()
        [1.0, 2.0, 6.0]
    """
    no_method(x, "cumprod")
    t, a = _along(x if dtype is None else cast(x, dtype_of(dtype)), dim, "cumprod")
    return fill_out(_as_was(scan.Cumprod(a)(t), x, dim), out)


def _running(op: Any, x: Any, axis: Any, dtype: Any, name: str) -> tuple[Tensor, Tensor]:
    no_method(x, name)
    place = dtype_of(dtype)
    if place not in (types.int32, types.int64):
        raise errors.invalid_argument(
            f"{name}: positions are integers.", expected="int32 or int64", received=f"{dtype}"
        )
    t, a = _along(x, axis, name)
    values, at = op(a, place)(t)
    return _as_was(values, x, axis), _as_was(at, x, axis)


@public(method=True)
def cummax(x: Tensor, axis: Any = None, dtype: Any = "int64", name: str | None = None) -> tuple[Tensor, Tensor]:
    """The running maximum along an axis (of all elements in a row for None), and where it is: the last of equals.

    Examples:
        >>> [t.tolist() for t in paddle.cummax(paddle.to_tensor([1, 3, 2]))]
        [[1, 3, 3], [0, 1, 1]]
    """
    return _running(scan.Cummax, x, axis, dtype, "cummax")


@public(method=True)
def cummin(x: Tensor, axis: Any = None, dtype: Any = "int64", name: str | None = None) -> tuple[Tensor, Tensor]:
    """The running minimum along an axis (of all elements in a row for None), and where it is: the last of equals.

    Examples:
        >>> [t.tolist() for t in paddle.cummin(paddle.to_tensor([3, 1, 2]))]
        [[3, 1, 1], [0, 1, 1]]
    """
    return _running(scan.Cummin, x, axis, dtype, "cummin")


@public(method=True)
def logcumsumexp(x: Tensor, axis: Any = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """The log of the running sum of exponentials along an axis, without overflow.

    Examples:
        >>> [round(v, 4) for v in paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0])).tolist()]
        [0.0, 0.6931]
    """
    need_tensor(x, "logcumsumexp")
    t = cast(x, dtype_of(dtype)) if dtype is not None else x if x.dtype.is_floating else cast(x, types.float32)
    t, a = _along(t, axis, "logcumsumexp")
    return _as_was(scan.Logcumsumexp(a)(t), x, axis)
