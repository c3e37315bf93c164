"""Statistics of Tensors: means, spreads, quantiles."""

from __future__ import annotations

import functools
import math
from typing import Any

from ..engine import errors, types
from ..engine.ops import elementwise as ew
from ..engine.ops import logic, search
from ..engine.ops import reduction as ops
from ..engine.ops.along import TakeAlong
from ..engine.ops.elementwise import cast
from ..engine.ops.shape import broadcast_to, reshape, transpose
from ..engine.types import dtype_of
from ..utils.public import METHODS, F, public
from .arguments import fill_out
from .axes import axes_argument
from .creation import full
from .families import need_tensor, no_method
from .tensor import Tensor, flag

__all__ = ["mean", "nanmean", "var", "std", "median", "nanmedian", "quantile", "nanquantile"]


@public(also={"x": "input", "axis": "dim"}, method=True)
def mean(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None, *, dtype: Any = None,
         out: Any = None) -> Tensor:  # fmt: skip
    """The mean over axes; NaN where there are no elements.

    Args:
        x (Tensor): Any type; the mean of integers is rounded toward zero.
        axis (int|list|tuple, optional): the axes; None for all. keepdim (bool): reduced axes stay, with size 1.
        dtype (str|dtype, optional): x is converted to it first.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: x without the axes.

    Examples:
        >>> paddle.mean(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
        [2.0, 3.0]
    """
    need_tensor(x, "mean")
    if dtype is not None:
        x = cast(x, dtype_of(dtype))
    axes = axes_argument(axis, x.ndim, "mean")
    if x.dtype.kind in "biu":
        whole = ops.mean_(cast(x, types.float64), axes, flag(keepdim, "keepdim"))
        return fill_out(cast(whole, x.dtype), out)
    return fill_out(ops.mean_(x, axes, flag(keepdim, "keepdim")), out)


@public(method=True)
def nanmean(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean over axes of what is not NaN.

    Examples:
        >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
    no_method(x, "nanmean")
    axes = axes_argument(axis, x.ndim, "nanmean")
    if not (x.dtype.is_floating or x.dtype.is_complex):
        x = cast(x, types.float32)
    nan = logic.isnan(x)
    total = ops.sum_(logic.select(nan, 0.0, x), axes, flag(keepdim, "keepdim"))
    return total / ops.sum_(cast(logic.logical_not(nan), x.dtype), axes, flag(keepdim, "keepdim"))


def _variance(x: Any, axis: Any, unbiased: bool | None, correction: Any, keepdim: bool, name: str) -> Tensor:
    need_tensor(x, name)
    if unbiased is not None:
        correction = 1.0 if unbiased else 0.0
    axes = axes_argument(axis, x.ndim, name)
    if x.dtype.kind in "biu":  # in integers all the way, as upstream has it
        d = cast(x - mean(x, list(axes), True), types.int64)
        n = math.prod(x.type.shape[a] for a in axes)
        squares = cast(ops.sum_(d * d, axes, flag(keepdim, "keepdim")), types.float64)
        return cast(squares / float(max(n - correction, 0.0)), x.dtype)
    return ops.var_(x, axes, float(correction), flag(keepdim, "keepdim"))


@public(also={"x": "input", "axis": "dim"}, method=True)
def var(x: Tensor, axis: Any = None, unbiased: bool | None = None, keepdim: bool = False, name: str | None = None, *,
        correction: float = 1, out: Any = None) -> Tensor:  # fmt: skip
    """The variance over axes.

    Args:
        x (Tensor): Any real type.
        axis (int|list|tuple, optional): the axes; None for all.
        unbiased (bool, optional): the sum of squares is divided by n - 1 (True) or n (False).
        keepdim (bool): reduced axes stay, with size 1.
        correction (number): what is taken from n if `unbiased` is None.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: x without the axes; NaN for a single element with correction 1.

    Examples:
        >>> paddle.var(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    return fill_out(_variance(x, axis, unbiased, correction, keepdim, "var"), out)


@public(also={"x": "input", "axis": "dim"}, method=True)
def std(x: Tensor, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The standard deviation over axes: the root of `var`.

    Examples:
        >>> paddle.std(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    return ew.sqrt(_variance(x, axis, flag(unbiased, "unbiased"), 1.0, keepdim, "std"))


# ---- quantiles --------------------------------------------------------------------------------
def _rows(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """x with the axes to reduce in one, which is the last."""
    keep = [i for i in range(x.ndim) if i not in axes]
    moved = transpose(x, (*keep, *axes)) if (*keep, *axes) != tuple(range(x.ndim)) else x
    n = math.prod(x.type.shape[i] for i in axes)
    return reshape(moved, (*(x.type.shape[i] for i in keep), n))


def _shape_of_result(x: Tensor, axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(x.type.shape) if keepdim or i not in axes)


def _at(ordered: Tensor, index: Tensor) -> Tensor:
    """The elements of sorted rows at positions: index has the shape of the rows with the last axis 1."""
    return TakeAlong(ordered.ndim - 1)(ordered, cast(index, types.int64))


def _axis_once(axis: Any, x: Tensor, name: str) -> tuple[int, ...]:
    """axes_argument, which refuses an empty list."""
    if isinstance(axis, (list, tuple)) and not axis:
        raise errors.invalid_argument(f"{name}: there is no axis.", expected="at least one", received="axis: []")
    return axes_argument(axis, x.ndim, name)


def _quantile(x: Tensor, q: Any, axis: Any, keepdim: bool, interpolation: str, ignore_nan: bool, name: str) -> Tensor:
    need_tensor(x, name, kind=TypeError)
    if not x.dtype.is_floating:
        raise errors.unavailable(
            f"{name}: it is not defined for {x.dtype.name}.", expected="float32 or float64", received=f"x: {x.type}"
        )
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise errors.invalid_argument(
            f"{name}: no such interpolation.",
            expected="linear, lower, higher, midpoint or nearest",
            received=f"{interpolation!r}",
        )
    if isinstance(q, Tensor):
        listed, qs = q.ndim > 0, [float(v) for v in q.array().reshape(-1)]
    elif isinstance(q, (list, tuple)):
        listed, qs = True, [float(v) for v in q]
    elif isinstance(q, (int, float)) and not isinstance(q, bool):
        listed, qs = False, [float(q)]
    else:
        raise errors.invalid_type(f"{name}: q is no number.", expected="a float, a list or a Tensor", received=f"{q!r}")
    if not qs or not all(0 <= v <= 1 for v in qs):
        raise errors.invalid_argument(f"{name}: q is out of range.", expected="q in [0, 1]", received=f"q: {qs}")
    axes = _axis_once(axis, x, name)
    rows = _rows(x, axes)
    ordered, _ = search.sort(rows, rows.ndim - 1)
    last = (rows.ndim - 1,)
    nan = logic.isnan(rows)
    lead = rows.type.shape[:-1]
    if ignore_nan:
        count = ops.sum_(cast(logic.logical_not(nan), types.float64), last, True)
    else:
        from ..engine.ops.creation import Full

        count = Full((*lead, 1), float(rows.type.shape[-1]), types.float64)()
    top = ew.maximum(count - 1.0, 0.0)
    found = [_between(ordered, v, top, interpolation) for v in qs]
    if not ignore_nan:
        spoilt = ops.Any_(last, True)(nan)
        found = [logic.select(spoilt, float("nan"), f) for f in found]
    shape = _shape_of_result(x, axes, keepdim)
    found = [reshape(f, shape) for f in found]
    if not listed or len(found) == 1:
        return found[0]
    from ..engine.ops.join import Concat

    return Concat(0)(*(reshape(f, (1, *shape)) for f in found))


def _between(ordered: Tensor, q: float, top: Tensor, interpolation: str) -> Tensor:
    from ..engine.ops.math import ceil, floor, round_

    place = top * q
    low, high = floor(place), ceil(place)
    if interpolation == "lower":
        return _at(ordered, low)
    if interpolation == "higher":
        return _at(ordered, high)
    if interpolation == "nearest":
        return _at(ordered, round_(place))
    a, b = _at(ordered, low), _at(ordered, high)
    weight = cast(place - low, ordered.dtype)
    if interpolation == "midpoint":
        return a + (b - a) * 0.5
    return a + (b - a) * broadcast_to(weight, tuple(a.shape))


@public(also={"x": "input", "axis": "dim"}, method=True)
def quantile(x: Tensor, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear",
             name: str | None = None, *, out: Any = None) -> Tensor:  # fmt: skip
    """The value below which a share q of the elements over axes lies.

    Args:
        x (Tensor): floating.
        q (float|list|Tensor): in [0, 1]; a list or vector of several adds a first axis.
        axis (int|list|tuple, optional): the axes; None for all. keepdim (bool): reduced axes stay, with size 1.
        interpolation (str): what lies between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

    Returns:
        Tensor: NaN where an element is NaN.

    Examples:
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0]), 0.5).item()
        2.0
    """
    return fill_out(_quantile(x, q, axis, keepdim, interpolation, False, "quantile"), out)


@public(method=True)
def nanquantile(x: Tensor, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Tensor:
    """`quantile` of what is not NaN.

    Examples:
        >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
        2.0
    """
    return _quantile(x, q, axis, keepdim, interpolation, True, "nanquantile")


def _median(x: Any, axis: Any, keepdim: bool, mode: str, ignore_nan: bool, name: str) -> Any:
    need_tensor(x, name, kind=TypeError)
    if mode not in ("avg", "min"):
        raise errors.invalid_argument(f"{name}: no such mode.", expected="'avg' or 'min'", received=f"{mode!r}")
    axes = _axis_once(axis, x, name)
    if x.type.size == 0:  # upstream has NaN for the middle of nothing
        kind = x.dtype if x.dtype.is_floating else types.float32
        empty = full(list(_shape_of_result(x, axes, keepdim)), float("nan"), kind)
        return empty if mode == "avg" or axis is None else (empty, cast(empty * 0, types.int64))
    if x.dtype.kind in "biu" and (mode == "avg" and not ignore_nan):
        x = cast(x, types.float32)
    rows = _rows(x, axes)
    values, order = search.sort(rows, rows.ndim - 1)
    shape = _shape_of_result(x, axes, keepdim)
    last = (rows.ndim - 1,)
    floating = x.dtype.is_floating
    nan = logic.isnan(rows)
    valid = ops.sum_(cast(logic.logical_not(nan), types.int64), last, True)
    low = ew.maximum(_half(valid - 1), cast(valid * 0, types.int64))
    a = _at(values, low)
    spoilt = ops.Any_(last, True)(nan) if not ignore_nan else ew.equal(valid, 0)
    if mode == "avg":
        b = _at(values, ew.maximum(_half(valid), valid * 0) if rows.type.shape[-1] else low)
        mid = (a + b) * 0.5 if floating else cast(a + b, types.float32) * 0.5
        if not floating and ignore_nan:  # upstream keeps integers here, cut toward zero
            return reshape(cast(mid, x.dtype), shape)
        out = logic.select(spoilt, float("nan"), mid) if floating else mid
        return reshape(cast(out, types.float32) if out.dtype.itemsize < 4 else out, shape)
    place = _at(order, low)
    if floating:
        a = logic.select(spoilt, float("nan"), a)
        first_nan = reshape(ops.Argmax(rows.ndim - 1)(cast(nan, types.int32)), tuple(place.shape))
        place = logic.select(spoilt, first_nan, place)
    a, place = reshape(a, shape), reshape(place, shape)
    return a if axis is None else (a, place)


def _half(n: Tensor) -> Tensor:
    from ..engine.ops.math import floor_divide

    return floor_divide(n, 2)


def _smaller_under_aliases(f: F) -> F:
    """Called by `input` or `dim`, the smaller of two middle elements is meant, as upstream has it."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and ("input" in kwargs or "dim" in kwargs) and len(args) < 4:
            kwargs.setdefault("mode", "min")
        return f(*args, **kwargs)

    METHODS[f.__name__] = call
    return call  # type: ignore[return-value]


@_smaller_under_aliases
@public(also={"x": "input", "axis": "dim"})
def median(x: Tensor, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None, *,
           out: Any = None) -> Any:  # fmt: skip
    """The middle of the sorted elements along an axis.

    Args:
        x (Tensor): Any real type.
        axis (int, optional): None for all elements. keepdim (bool): the axis stays, with size 1.
        mode (str): of two middle elements "avg" takes the mean, "min" the smaller.

    Returns:
        Tensor: NaN where an element is NaN; with "min" and an axis a pair of values and positions.

    Examples:
        >>> paddle.median(paddle.to_tensor([1.0, 4.0, 2.0, 3.0])).item()
        2.5
    """
    if isinstance(axis, (list, tuple)):
        raise errors.invalid_argument("median: one axis at a time.", expected="an int or None", received=f"{axis}")
    found = _median(x, axis, keepdim, mode, False, "median")
    if out is None:
        return found
    if isinstance(found, tuple):
        return tuple(fill_out(f, o) for f, o in zip(found, out))
    return fill_out(found, out)


@public(method=True)
def nanmedian(x: Tensor, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Any:
    """`median` of what is not NaN; axis may be a list.

    Examples:
        >>> paddle.nanmedian(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
    found = _median(x, axis, keepdim, mode, True, "nanmedian")
    return found if isinstance(found, tuple) or not x.dtype.is_integer else cast(found, x.dtype)
