"""Sorting, searching and counting in Tensors, and choosing between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.ops import elementwise as ew
from ..engine.ops import logic, reduction
from ..engine.ops import search as ops
from ..engine.ops.along import TakeAlong
from ..engine.ops.creation import Full
from ..engine.ops.elementwise import cast, is_number
from ..engine.ops.shape import reshape, slice_axis
from ..engine.types import dtype_of
from ..utils.public import METHODS, public
from .arguments import axis_argument, fill_out, int_argument, kernel_dtype
from .eager import on_host
from .families import need_tensor, no_method
from .tensor import Tensor, flag

__all__ = [
    "argmax", "argmin", "argsort", "sort", "msort", "topk", "kthvalue", "mode", "where", "nonzero", "argwhere",
    "searchsorted", "bucketize", "unique", "unique_consecutive", "bincount", "histogram", "histogram_bin_edges",
    "histogramdd",
]  # fmt: skip


# ---- positions --------------------------------------------------------------------------------
def _position(op: Any, x: Any, axis: Any, keepdim: bool, dtype: Any, name: str) -> Tensor:
    need_tensor(x, name)
    if dtype is None:
        raise errors.invalid_argument(f"{name}: dtype is None.", expected="int32 or int64", received="None")
    flag(keepdim, "keepdim")
    place = kernel_dtype(dtype)
    if place not in (types.int32, types.int64):
        raise errors.invalid_argument(
            f"{name}: positions are integers.", expected="int32 or int64", received=f"dtype: {dtype}"
        )
    if axis is None:
        flat = op(0, False)(reshape(x, (x.type.size,)))
        return cast(reshape(flat, (1,) * x.ndim) if keepdim else flat, place)
    a = axis_argument(axis, x.ndim, name)
    if not x.ndim:
        return cast(op(0, False)(reshape(x, (1,))), place)
    return cast(op(a, bool(keepdim))(x), place)


@public(also={"x": "input", "axis": "dim", "keepdim": "keepdims"}, method=True, kind=ValueError)
def argmax(x: Tensor, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """Where along an axis the greatest element is: the first of equals.

    Args:
        x (Tensor): Any real number type.
        axis (int, optional): None for all elements in a row. keepdim (bool): the axis stays, with size 1.
        dtype (str|dtype): int32 or int64.

    Returns:
        Tensor: positions, x without the axis.

    Raises:
        ValueError: x is not a Tensor, there is no such axis, or no element.

    Examples:
        >>> paddle.argmax(paddle.to_tensor([[1, 3, 2], [4, 0, 4]]), axis=1).tolist()
        [1, 0]
    """
    return _position(reduction.Argmax, x, axis, keepdim, dtype, "argmax")


@public(also={"x": "input", "axis": "dim", "keepdim": "keepdims"}, method=True, kind=ValueError)
def argmin(x: Tensor, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """Where along an axis the smallest element is: the first of equals. Arguments as `argmax`.

    Examples:
        >>> paddle.argmin(paddle.to_tensor([[1, 3, 2], [4, 0, 0]]), axis=1).tolist()
        [0, 1]
    """
    return _position(reduction.Argmin, x, axis, keepdim, dtype, "argmin")


@public(also={"x": "input", "axis": "dim"}, method=True)
def argsort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False,
            name: str | None = None) -> Tensor:  # fmt: skip
    """The order that sorts x along an axis; equals keep their order.

    Args:
        x (Tensor): Any real type; NaN counts as the greatest. axis (int). descending (bool): greatest first.
        stable (bool): accepted; the order is always stable.

    Returns:
        Tensor: int64, the shape of x.

    Examples:
        >>> paddle.argsort(paddle.to_tensor([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    need_tensor(x, "argsort")
    flag(stable, "stable")
    a = axis_argument(axis, x.ndim, "argsort")
    return ops.Argsort(a, flag(descending, "descending"))(x) if x.ndim else Full((), 0, types.int64)()


def _sorted(x: Tensor, axis: Any, descending: bool, name: str) -> tuple[Tensor, Tensor]:
    need_tensor(x, name)
    a = axis_argument(axis, x.ndim, name)
    if not x.ndim:
        return x * 1, Full((), 0, types.int64)()
    return ops.sort(x, a, flag(descending, "descending"))


@public(method=True)
def sort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> Tensor:
    """x sorted along an axis. Arguments as `argsort`.

    Examples:
        >>> paddle.sort(paddle.to_tensor([3, 1, 2]), descending=True).tolist()
        [3, 2, 1]
    """
    return _sorted(x, axis, descending, "sort")[0]


def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """x sorted along its first axis.

    Examples:
        >>> paddle.msort(paddle.to_tensor([[3, 1], [1, 2]])).tolist()
        [[1, 1], [3, 2]]
    """
    return fill_out(_sorted(input, 0, False, "msort")[0], out)


METHODS["msort"] = msort


@public(also={"x": "input", "axis": "dim"}, method=True)
def topk(x: Tensor, k: Any, axis: int | None = None, largest: bool = True, sorted: bool = True,
         name: str | None = None, *, out: Any = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The k greatest (or smallest) elements along an axis, in order, and where they are.

    Args:
        x (Tensor): Any real type; NaN counts as the greatest.
        k (int|Tensor): how many. axis (int, optional): the last by default.
        largest (bool): the greatest, else the smallest. sorted (bool): accepted; the result is always in order.

    Returns:
        tuple: values and positions (int64).

    Raises:
        ValueError: k is not in [1, size of the axis].

    Examples:
        >>> [t.tolist() for t in paddle.topk(paddle.to_tensor([1.0, 4.0, 2.0]), 2)]
        [[4.0, 2.0], [1, 2]]
    """
    need_tensor(x, "topk", kind=TypeError)
    k = int_argument(k, "topk", "k")
    a = axis_argument(-1 if axis is None else axis, x.ndim, "topk")
    if not x.ndim:
        if k != 1:
            raise errors.invalid_argument("topk: x has one element.", expected="k: 1", received=f"k: {k}")
        found = (x * 1, Full((), 0, types.int64)())
    else:
        flag(sorted, "sorted")
        found = ops.TopK(k, a, flag(largest, "largest"))(x)
    return tuple(fill_out(t, o) for t, o in zip(found, out)) if out is not None else found  # type: ignore[return-value]


@public(method=True)
def kthvalue(x: Tensor, k: int, axis: int | None = None, keepdim: bool = False,
             name: str | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The k-th smallest element along an axis (k from 1), and where it is.

    Examples:
        >>> [t.item() for t in paddle.kthvalue(paddle.to_tensor([3.0, 1.0, 2.0]), 2)]
        [2.0, 2]
    """
    need_tensor(x, "kthvalue", kind=TypeError)
    a = axis_argument(-1 if axis is None else axis, x.ndim, "kthvalue")
    size = x.type.shape[a] if x.ndim else 1
    if not 0 < k <= size:
        raise errors.invalid_argument("kthvalue: no such element.", expected=f"k in [1, {size}]", received=f"k: {k}")
    values, at = _sorted(x, a, False, "kthvalue")
    if not x.ndim:
        return values, at
    found = slice_axis(values, a, k - 1, k), slice_axis(at, a, k - 1, k)
    if keepdim:
        return found
    shape = x.type.shape[:a] + x.type.shape[a + 1 :]
    return reshape(found[0], shape), reshape(found[1], shape)


@public(method=True)
def mode(x: Tensor, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis, and the last place where it is; the least of equally frequent ones.

    Examples:
        >>> [t.item() for t in paddle.mode(paddle.to_tensor([2, 1, 2, 3]))]
        [2, 2]
    """
    need_tensor(x, "mode")
    a = axis_argument(axis, x.ndim, "mode")
    if not x.ndim:
        return x * 1, Full((), 0, types.int64)()

    def find(v: np.ndarray) -> np.ndarray:
        rows = np.moveaxis(v, a, -1)
        at = np.empty(rows.shape[:-1] + (1,), "int64")
        for i in np.ndindex(rows.shape[:-1]):
            at[i] = _frequent(rows[i])
        return np.moveaxis(at, -1, a)

    at = on_host(find, x)
    values = TakeAlong(a)(x, at)
    if keepdim:
        return values, at
    shape = x.type.shape[:a] + x.type.shape[a + 1 :]
    return reshape(values, shape), reshape(at, shape)


def _frequent(row: np.ndarray) -> int:
    found, counts = np.unique(ops.sortable(row), return_counts=True)
    best = found[np.argmax(counts)]  # the smallest of those that come as often
    same = np.flatnonzero(ops.sortable(row) == best)
    return int(same[-1]) if len(same) else len(row) - 1


# ---- choosing ---------------------------------------------------------------------------------
@public(also={"x": "input", "y": "other"})
def where(condition: Tensor, x: Any = None, y: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """x where the condition holds, else y; all three broadcast. With a condition alone: `nonzero(as_tuple=True)`.

    Args:
        condition (Tensor): bool.
        x, y (Tensor|number, optional): both or none; of one type, or two floating ones.
        out (Tensor, optional): Takes the result and is returned.

    Returns:
        Tensor: the broadcast shape.

    Raises:
        ValueError: one of x and y is missing, or the condition is no Tensor. TypeError: the types do not mix.

    Examples:
        >>> paddle.where(paddle.to_tensor([True, False]), paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [1, 4]
    """
    need_tensor(condition, "where", "condition")
    if x is None and y is None:
        return nonzero(condition, True)
    if x is None or y is None:
        raise errors.invalid_argument(
            "where: one of x and y is missing.", expected="both or none", received=f"x: {x!r}, y: {y!r}"
        )
    x, y = _choice(x, "x"), _choice(y, "y")
    if x.dtype is not y.dtype:
        x, y = ew.promoted("where", x, y, scalars=False)
    if not condition.dtype.is_bool:
        raise errors.invalid_argument(
            "where: the condition is not bool.", received=f"condition: {condition.type}", expected="a Tensor of bool"
        )
    return fill_out(logic.Select()(condition, x, y), out)


def _choice(v: Any, label: str) -> Any:
    if isinstance(v, Tensor):
        return v
    if not is_number(v):
        raise errors.invalid_type(f"where: {label} is no Tensor.", expected="a Tensor or a number", received=f"{v!r}")
    kind = ew.number_type(v)
    dtype = {"b": types.bool_, "i": types.int64, "f": types.default_dtype(), "c": types.complex64}[kind]
    return Full((), v, dtype)()


METHODS["where"] = where


@public(also={"x": "input"}, method=True)
def nonzero(x: Tensor, as_tuple: bool = False, *, out: Any = None) -> Any:
    """Where elements are not zero, in row-major order.

    Args:
        x (Tensor): Any type, at least one axis. as_tuple (bool): one vector per axis.

    Returns:
        Tensor: int64 [number of elements, number of axes], or a tuple.

    Examples:
        >>> paddle.nonzero(paddle.to_tensor([[0, 1], [2, 0]])).tolist()
        [[0, 1], [1, 0]]
    """
    need_tensor(x, "nonzero")
    if not x.ndim:
        raise errors.invalid_argument("nonzero: x is 0-D.", expected="at least one axis", received=f"x: {x.type}")
    if as_tuple:
        return on_host(np.nonzero, x)
    return fill_out(on_host(lambda v: np.argwhere(v).astype("int64"), x), out)


def argwhere(input: Tensor) -> Tensor:
    """Where elements are not zero: `nonzero`.

    Examples:
        >>> paddle.argwhere(paddle.to_tensor([0, 5])).tolist()
        [[1]]
    """
    return nonzero(need_tensor(input, "argwhere", "input"))


METHODS["argwhere"] = argwhere


# ---- searching --------------------------------------------------------------------------------
@public(also={"values": "input"}, method=True)
def searchsorted(sorted_sequence: Tensor, values: Tensor, out_int32: bool = False, right: bool = False,
                 name: str | None = None, *, side: str | None = None, out: Any = None,
                 sorter: Any = None) -> Tensor:  # fmt: skip
    """Where values go into sorted rows.

    Args:
        sorted_sequence (Tensor): sorted along the last axis; a vector serves all values.
        values (Tensor): of the same type.
        out_int32 (bool): positions in int32, not int64.
        right (bool), side (str): behind equals ("right"), or before them ("left").
        sorter (Tensor, optional): the order that sorts `sorted_sequence`.

    Returns:
        Tensor: positions, the shape of values.

    Examples:
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([3, 6])).tolist()
        [1, 3]
    """
    need_tensor(sorted_sequence, "searchsorted", "sorted_sequence")
    if is_number(values):
        values = Full((), values, sorted_sequence.dtype)()
    need_tensor(values, "searchsorted", "values")
    if side is not None:
        if side not in ("left", "right") or (right and side == "left"):
            raise errors.invalid_argument("searchsorted: no such side.", expected="left or right", received=f"{side!r}")
        right = side == "right"
    if sorter is not None:
        sorted_sequence = TakeAlong(sorted_sequence.ndim - 1)(sorted_sequence, sorter)
    errors.need_equal_dtypes("searchsorted", sorted_sequence=sorted_sequence, values=values)
    op = ops.SearchSorted(flag(right, "right"), types.int32 if out_int32 else types.int64)
    return fill_out(op(sorted_sequence, values), out)


@public(also={"x": "input", "sorted_sequence": "boundaries"}, method=True)
def bucketize(x: Tensor, sorted_sequence: Tensor, out_int32: bool = False, right: bool = False,
              name: str | None = None, *, out: Any = None) -> Tensor:  # fmt: skip
    """The bucket of each element between sorted boundaries: `searchsorted` with a vector.

    Examples:
        >>> paddle.bucketize(paddle.to_tensor([3, 6]), paddle.to_tensor([1, 3, 5])).tolist()
        [1, 3]
    """
    need_tensor(sorted_sequence, "bucketize", "sorted_sequence", TypeError)
    if sorted_sequence.ndim != 1:
        raise errors.invalid_argument(
            "bucketize: the boundaries are no vector.", expected="one axis", received=f"{sorted_sequence.type}"
        )
    return searchsorted(sorted_sequence, x, out_int32, right, out=out)


# ---- distinct elements ------------------------------------------------------------------------
@public(method=True)
def unique(x: Tensor, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: Any = None, dtype: Any = "int64", sorted: bool = True, name: str | None = None) -> Any:  # fmt: skip
    """The distinct elements (or slices along an axis), sorted.

    Args:
        x (Tensor): Any real type.
        return_index, return_inverse, return_counts (bool): also where each is first, which one each element of x is,
            and how often each occurs.
        axis (int, optional): None for single elements. dtype (str|dtype): of the positions, int32 or int64.

    Returns:
        Tensor or tuple: the elements, and what was asked for.

    Examples:
        >>> [t.tolist() for t in paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)]
        [[1, 3], [1, 2]]
    """
    no_method(x, "unique")
    place = _place("unique", dtype)
    a = (
        None
        if axis is None or axis == []
        else axis_argument(axis[0] if isinstance(axis, list) else axis, x.ndim, "unique")
    )

    def find(v: np.ndarray) -> tuple[np.ndarray, ...]:
        found = np.unique(ops.sortable(v), True, True, True, a, equal_nan=False)
        n = found[0].shape[a or 0] if a is not None else found[0].size
        return (found[0].astype(v.dtype), *(f.reshape(-1)[: max(n, f.size)].astype(place) for f in found[1:]))

    found = on_host(find, x)
    return _chosen(found, (True, return_index, return_inverse, return_counts))


def _place(name: str, dtype: Any) -> np.dtype:
    place = dtype_of(dtype)
    if place not in (types.int32, types.int64):
        raise errors.invalid_type(f"{name}: positions are integers.", expected="int32 or int64", received=f"{dtype}")
    return place.np


def _chosen(found: tuple[Any, ...], wanted: tuple[bool, ...]) -> Any:
    out = tuple(f for f, w in zip(found, wanted) if w)
    return out if len(out) > 1 else out[0]


@public(also={"x": "input", "axis": "dim"}, method=True)
def unique_consecutive(x: Tensor, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
                       dtype: Any = "int64", name: str | None = None) -> Any:  # fmt: skip
    """x without elements (or slices along an axis) that equal the one before.

    Examples:
        >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    no_method(x, "unique_consecutive")
    place = _place("unique_consecutive", dtype)
    a = (
        None
        if axis is None or axis == []
        else axis_argument(axis[0] if isinstance(axis, list) else axis, x.ndim, "unique")
    )

    def find(v: np.ndarray) -> tuple[np.ndarray, ...]:
        rows = v.reshape(-1, 1) if a is None else np.moveaxis(v, a, 0).reshape(v.shape[a], -1)
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]).any(1)
        start = np.flatnonzero(new)
        kept = v.reshape(-1)[start] if a is None else np.take(v, start, a)
        counts = np.diff(np.append(start, len(rows)))
        return kept, (np.cumsum(new) - 1).astype(place), counts.astype(place)

    return _chosen(on_host(find, x), (True, return_inverse, return_counts))


# ---- counting ---------------------------------------------------------------------------------
@public(method=True)
def bincount(x: Tensor, weights: Any = None, minlength: int = 0, name: str | None = None) -> Tensor:
    """How often each of 0, 1, 2, ... occurs in a vector, or the sum of its weights.

    Args:
        x (Tensor): a vector of non-negative int32 or int64. weights (Tensor, optional): the shape of x.
        minlength (int): the least length of the result.

    Returns:
        Tensor: [max(x) + 1 or minlength]; int64, or the type of the weights.

    Raises:
        TypeError: x is not of integers. ValueError: an element is negative, or x is no vector.

    Examples:
        >>> paddle.bincount(paddle.to_tensor([1, 2, 2])).tolist()
        [0, 1, 2]
    """
    if no_method(x, "bincount").dtype not in (types.int32, types.int64):
        raise errors.invalid_type("bincount: x is not of integers.", expected="int32 or int64", received=f"x: {x.type}")
    if x.ndim != 1:
        raise errors.invalid_argument("bincount: x is no vector.", expected="one axis", received=f"x: {x.type}")
    if minlength < 0:
        raise errors.invalid_argument(
            "bincount: minlength is negative.", received=f"minlength: {minlength}", expected="minlength >= 0"
        )
    if weights is not None and weights.type.shape != x.type.shape:
        raise errors.invalid_argument(
            "bincount: the weights do not fit.", expected=f"{x.type.shape}", received=f"{weights.type}"
        )

    def count(v: np.ndarray, *w: np.ndarray) -> np.ndarray:
        if v.size and v.min() < 0:
            raise errors.invalid_argument(
                "bincount: an element is negative.", received=f"{v.min()}", expected="numbers of 0 or more"
            )
        out = np.bincount(v, *w, minlength=minlength)
        if not w:
            return out.astype("int64")
        return out.astype(w[0].dtype if w[0].dtype.kind == "f" else "int64" if w[0].dtype.kind in "iu" else "float64")

    return on_host(count, x, *(() if weights is None else (weights,)))


def _range(v: np.ndarray, low: float, high: float) -> tuple[float, float]:
    if low == 0 == high and v.size:
        low, high = float(v.min()), float(v.max())
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _check_bins(name: str, bins: Any, low: Any, high: Any) -> None:
    if not isinstance(bins, int) or bins < 1:
        raise errors.invalid_argument(f"{name}: there are no bins.", expected="bins >= 1", received=f"bins: {bins}")
    if low > high:
        raise errors.invalid_argument(f"{name}: the range is empty.", expected="min <= max", received=f"{low}, {high}")


@public(method=True)
def histogram(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0, weight: Any = None,
              density: bool = False, name: str | None = None) -> Tensor:  # fmt: skip
    """How many elements lie in each of `bins` equal parts of [min, max]; the range of the elements if both are 0.

    Args:
        input (Tensor): Any real type. weight (Tensor, optional): counts each element so often.
        density (bool): the counts are scaled so that the area is 1.

    Returns:
        Tensor: [bins]; int64, or float32 with weight or density.

    Examples:
        >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), bins=4).tolist()
        [2, 0, 0, 1]
    """
    need_tensor(input, "histogram", "input")
    _check_bins("histogram", bins, min, max)

    def count(v: np.ndarray, *w: np.ndarray) -> np.ndarray:
        v = v.reshape(-1)
        limits = _range(v, float(min), float(max))
        out, _ = np.histogram(v, bins, limits, density=density, weights=w[0].reshape(-1) if w else None)
        return out.astype("float32" if density or w else "int64")

    return on_host(count, input, *(() if weight is None else (weight,)))


@public(method=True)
def histogram_bin_edges(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0,
                        name: str | None = None) -> Tensor:  # fmt: skip
    """The limits of the parts that `histogram` counts in: float32 [bins + 1].

    Examples:
        >>> paddle.histogram_bin_edges(paddle.to_tensor([1.0, 2.0]), bins=2).tolist()
        [1.0, 1.5, 2.0]
    """
    no_method(input, "histogram_bin_edges")
    _check_bins("histogram_bin_edges", bins, min, max)
    edges = lambda v: np.linspace(*_range(v, float(min), float(max)), bins + 1).astype("float32")  # noqa: E731
    return on_host(edges, input)


@public(method=True)
def histogramdd(x: Tensor, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Any = None,
                name: str | None = None) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """Counts of points [N, D] in a grid.

    Args:
        bins (int|list): parts per axis, or a list of Tensors with their limits.
        ranges (list of float, optional): lower and upper limit of each axis, in a row.

    Returns:
        tuple: the counts in the type of x, and the list of limits.

    Examples:
        >>> paddle.histogramdd(paddle.to_tensor([[0.0, 1.0], [1.0, 0.0]]), bins=2)[0].tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    no_method(x, "histogramdd")
    limits = [tuple(ranges[i : i + 2]) for i in range(0, len(ranges), 2)] if ranges is not None else None
    given = [b.array() if isinstance(b, Tensor) else b for b in bins] if isinstance(bins, (list, tuple)) else bins

    def count(v: np.ndarray, *w: np.ndarray) -> tuple[np.ndarray, ...]:
        points = v.reshape(-1, v.shape[-1])
        out, edges = np.histogramdd(points, given, limits, density=density, weights=w[0].reshape(-1) if w else None)
        return (out.astype(v.dtype), *(e.astype(v.dtype) for e in edges))

    found = on_host(count, x, *(() if weights is None else (weights,)))
    return found[0], list(found[1:])
