"""Sorting and searching. These need whole rows at once and run on the host; NaN counts as the greatest number."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import types
from ..errors import invalid_argument, unavailable
from ..types import TensorType
from .along import AddAlong, TakeAlong
from .registry import Operator, absent, letters, operator

ON_HOST = absent("a whole row at once: runs on the host")


def sortable(x: np.ndarray) -> np.ndarray:
    """x in a type that numpy orders with NaN last: float32 for bfloat16."""
    return x.astype(np.float32) if x.dtype.kind not in "biuf" else x


def order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Stable order along an axis; equals keep their order in either direction."""
    x = sortable(x)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    back = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(back, axis)


@operator
class Argsort(Operator):
    """The order that sorts x along an axis, int64."""

    vjp = absent("positions have no gradient")
    loops = ON_HOST

    axis: int
    descending: bool = False

    def infer(self, x: TensorType) -> TensorType:
        _need_order(self.name, x)
        return x.with_dtype(types.int64)

    def numpy(self, x):
        return order(x, self.axis, self.descending).astype("int64")

    def xla(self, jnp, x):
        return jnp.argsort(x, axis=self.axis, stable=True, descending=self.descending).astype("int64")

    def spmd(self, *types):
        before = "abcdefgh"[: self.axis]
        return f"{before}R...->{before}R..."

    @classmethod
    def samples(cls, rng):
        x = rng.integers(0, 5, (3, 4, 5)).astype("float32")
        for axis in range(3):
            yield cls(axis), (x,)
            yield cls(axis, True), (x,)
        yield cls(0, True), (rng.integers(0, 255, 30).astype("uint8"),)
        yield cls(0), (np.array([1.0, np.nan, -np.inf, np.inf]),)
        yield cls(1), (np.zeros((2, 0)),)


def _need_order(name: str, x: TensorType) -> None:
    if x.dtype.kind == "c":
        raise unavailable(f"{name}: complex numbers have no order.", expected="a real number type", received=f"x: {x}")


@operator
class TopK(Operator):
    """The k greatest (or smallest) elements along an axis, in order, and where they are (int64)."""

    loops = ON_HOST

    k: int
    axis: int
    largest: bool = True
    name = "topk"

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        _need_order("topk", x)
        if not 0 < self.k <= x.shape[self.axis]:
            raise invalid_argument(
                "topk: there are not that many elements.",
                expected=f"k in [1, {x.shape[self.axis]}], the size of axis {self.axis}",
                received=f"k: {self.k}, x: {x}",
            )
        out = x.with_shape((*x.shape[: self.axis], self.k, *x.shape[self.axis + 1 :]))
        return out, out.with_dtype(types.int64)

    def numpy(self, x):
        n, k = x.shape[self.axis], self.k
        cut = tuple(slice(k) if i == self.axis else slice(None) for i in range(x.ndim))
        if k * 8 < n and x.size:  # a partition reads each element about twice, sorting log n times
            s = sortable(x)
            part = np.argpartition(s, n - k if self.largest else k - 1, axis=self.axis)
            part = np.take(part, range(n - k, n) if self.largest else range(k), axis=self.axis)
            part = np.sort(part, axis=self.axis)
            found = np.take_along_axis(s, part, self.axis)
            at = np.take_along_axis(part, order(found, self.axis, self.largest), self.axis)
        else:
            at = order(x, self.axis, self.largest)[cut]
        return np.take_along_axis(x, at, self.axis), at.astype("int64")

    def vjp(self, g, out, x):
        return (AddAlong(self.axis, tuple(x.shape))(g[0], out[1]) if g[0] is not None else None,)

    def xla(self, jnp, x):
        at = jnp.argsort(x, axis=self.axis, stable=True, descending=self.largest)
        at = at[tuple(slice(self.k) if i == self.axis else slice(None) for i in range(x.ndim))]
        return jnp.take_along_axis(x, at, self.axis), at.astype("int64")

    def spmd(self, *types):
        names = letters(types[0].ndim, (self.axis,))
        return f"{names}->{names},{names}"

    @classmethod
    def samples(cls, rng):
        x = rng.permutation(60).reshape(3, 4, 5).astype("float32")
        yield cls(2, 2), (x,)
        yield cls(1, 0, False), (x,)
        yield cls(4, 1, True), (x,)
        yield cls(3, 0), (rng.permutation(100),)
        yield cls(3, 0, False), (rng.permutation(100).astype("float64"),)
        yield cls(2, 0), (np.array([1.0, np.nan, np.inf]),)
        yield cls(1, 1), (np.zeros((0, 3)),)


@operator
class SearchSorted(Operator):
    """Where values would go into sorted rows (the last axis); before equals, or behind them if `right`."""

    vjp = absent("positions have no gradient")
    loops = ON_HOST

    right: bool = False
    dtype: types.DType = types.int64
    name = "searchsorted"

    def infer(self, rows: TensorType, values: TensorType) -> TensorType:
        if rows.ndim != 1 and rows.shape[:-1] != values.shape[:-1]:
            raise unavailable(
                "searchsorted: the leading axes differ.",
                expected="a vector, or the shape of values except for the last axis",
                received=f"sorted_sequence: {rows}, values: {values}",
            )
        return values.with_dtype(self.dtype)

    def numpy(self, rows, values):
        side = "right" if self.right else "left"
        if rows.ndim == 1:
            return np.asarray(np.searchsorted(sortable(rows), sortable(values), side)).astype(self.dtype.np)
        out = np.empty(values.shape, self.dtype.np)
        for i in np.ndindex(rows.shape[:-1]):
            out[i] = np.searchsorted(sortable(rows[i]), sortable(values[i]), side)
        return out

    def xla(self, jnp, rows, values):
        n = rows.shape[-1]
        low, high = (jnp.full(values.shape, i) for i in (0, n))
        for _ in range(n.bit_length()):  # halves the range that is left
            middle = jnp.minimum((low + high) // 2, n - 1)
            found = rows[middle] if rows.ndim == 1 else jnp.take_along_axis(rows, middle, -1)
            if self.right:
                behind = (found <= values) | jnp.isnan(values)
            else:
                behind = (found < values) | (jnp.isnan(values) & ~jnp.isnan(found))
            open_ = low < high
            low, high = jnp.where(open_ & behind, middle + 1, low), jnp.where(open_ & ~behind, middle, high)
        return low.astype(self.dtype.name)

    def spmd(self, *types):
        return "N,...->..." if types[0].ndim == 1 else "...N,...m->...m"

    @classmethod
    def samples(cls, rng):
        rows = np.sort(rng.integers(0, 9, (2, 3, 7)).astype("float32"), -1)
        yield cls(), (rows, rng.integers(0, 9, (2, 3, 4)).astype("float32"))
        yield cls(True, types.int32), (rows[0, 0], rng.integers(0, 9, (2, 5)).astype("float32"))
        yield cls(), (rows[0, 0], np.array(4.0, "float32"))
        yield cls(), (np.zeros(0), np.array([1.0]))


def sort(x: Any, axis: int, descending: bool = False) -> tuple[Any, Any]:
    """Sorted values and the order that sorts them."""
    at = Argsort(axis, descending)(x)
    return TakeAlong(axis)(x, at), at
