"""Taking and putting elements by their position in a plane: the row-major number on the last axes, as pooling gives it.

Shape letters: B the leading axes, S sizes of the plane, Z sizes of the indices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import types
from ..errors import offending
from ..types import TensorType
from .elementwise import cast
from .indexing import last_of_equals
from .registry import Operator, absent, letters, operator


def plane(sizes: Any) -> int:
    return math.prod(sizes)


def planes(rank: int, count: int) -> str:
    """The sharding rule of what needs whole planes and has one result."""
    term = "..." + letters(rank, range(rank))
    return f"{','.join([term] * count)}->{term}"


@operator
class TakePlane(Operator):
    """Elements of x at positions on its last `rank` axes. Shapes: x [B, *S], index [B, *Z] -> [B, *Z]."""

    rank: int

    def infer(self, x: TensorType, index: TensorType) -> TensorType:
        return x.with_shape(index.shape)

    def numpy(self, x, index):
        lead = x.shape[: x.ndim - self.rank]
        flat = x.reshape(*lead, plane(x.shape[x.ndim - self.rank :]))
        i = check_positions(index.reshape(*lead, -1 if index.size else 0), flat.shape[-1])
        return np.take_along_axis(flat, i, -1).reshape(index.shape)

    def vjp(self, g, out, x, index):
        return PutPlane(self.rank, tuple(x.shape)[len(x.shape) - self.rank :])(g, index), None

    def loops(self, k, x, index):
        source = x.shape[len(x.shape) - self.rank :]
        i = k.index(k.load(index, k.at))
        total = None
        for n in source:
            total = k.scope.lift(n, types.int64) if total is None else total * n
        i = k.check((i >= 0) & (i < total), i, i, "a position is outside the plane.\n  received: indices: {value}")
        at = []
        for n in reversed(source):
            at.append(i % n)
            i = i // n
        return k.load(x, [*k.at[: len(x.shape) - self.rank], *at[::-1]])

    def xla(self, jnp, x, index):
        lead = x.shape[: x.ndim - self.rank]
        flat = x.reshape(*lead, plane(x.shape[x.ndim - self.rank :]))
        i = index.reshape(*lead, plane(index.shape[x.ndim - self.rank :]))
        return jnp.take_along_axis(flat, i, -1).reshape(index.shape)

    def spmd(self, *types):
        return planes(self.rank, 2)

    @classmethod
    def samples(cls, rng):
        yield cls(2), (rng.normal(size=(2, 3, 4, 5)).astype("float32"), rng.integers(0, 20, (2, 3, 2, 2)))
        yield cls(1), (rng.normal(size=(3, 7)), rng.integers(0, 7, (3, 4)).astype("int32"))


def check_positions(index: np.ndarray, size: int) -> np.ndarray:
    i = index.astype(np.int64)
    if i.size and (i.min() < 0 or i.max() >= size):
        bad = (i < 0) | (i >= size)
        raise IndexError(offending("a position is outside the plane", bad, i, f"positions in [0, {size})", "indices"))
    return i


@operator
class PutPlane(Operator):
    """Zeros with g added at positions: the transpose of TakePlane. Shapes: g and index [B, *Z] -> [B, *sizes]."""

    rank: int
    sizes: tuple
    loops = absent("writes where indices say, twice where they say so twice")

    def infer(self, g: TensorType, index: TensorType) -> TensorType:
        return g.with_shape((*g.shape[: g.ndim - self.rank], *self.sizes))

    def numpy(self, g, index):
        lead = g.shape[: g.ndim - self.rank]
        rows, size = math.prod(lead), plane(self.sizes)
        i = check_positions(index.reshape(rows, -1 if index.size else 0), size)
        flat = (i + np.arange(rows)[:, None] * size).ravel()
        wide = g.ravel().astype(np.float64)
        return np.bincount(flat, wide, rows * size).astype(g.dtype).reshape(*lead, *self.sizes)

    def vjp(self, gg, out, g, index):
        return TakePlane(self.rank)(gg, index), None

    def xla(self, jnp, g, index):
        lead = g.shape[: g.ndim - self.rank]
        rows, wide = math.prod(lead), np.float32 if g.dtype.itemsize < 4 else g.dtype
        i = index.reshape(rows, plane(index.shape[len(lead) :]))
        out = jnp.zeros((rows, plane(self.sizes)), wide).at[jnp.arange(rows)[:, None], i].add(g.reshape(i.shape))
        return out.astype(g.dtype).reshape(*lead, *self.sizes)

    def spmd(self, *types):
        return planes(self.rank, 2)

    @classmethod
    def samples(cls, rng):
        yield cls(2, (4, 5)), (rng.normal(size=(2, 3, 2, 2)).astype("float32"), rng.integers(0, 20, (2, 3, 2, 2)))
        yield cls(1, (7,)), (rng.normal(size=(3, 4)), rng.integers(0, 7, (3, 4)).astype("int32"))


@operator
class SetPlane(Operator):
    """Zeros with the elements of x put at positions, the last of equal ones. Shapes as PutPlane."""

    rank: int
    sizes: tuple
    fault = "bad_index"
    loops = absent("writes where indices say, twice where they say so twice")

    def infer(self, x: TensorType, index: TensorType) -> TensorType:
        return x.with_shape((*x.shape[: x.ndim - self.rank], *self.sizes))

    def numpy(self, x, index):
        lead = x.shape[: x.ndim - self.rank]
        rows, size = math.prod(lead), plane(self.sizes)
        i = check_positions(index.reshape(rows, -1 if index.size else 0), size)
        out = np.zeros(rows * size, x.dtype)
        out[(i + np.arange(rows)[:, None] * size).ravel()] = x.ravel()
        return out.reshape(*lead, *self.sizes)

    def vjp(self, g, out, x, index):
        return cast(TakePlane(self.rank)(g, index), x.dtype), None

    def xla(self, jnp, x, index):
        lead = x.shape[: x.ndim - self.rank]
        rows, size = math.prod(lead), plane(self.sizes)
        i = index.reshape(rows, plane(index.shape[len(lead) :]))
        flat = (i + jnp.arange(rows)[:, None] * size).ravel()
        out = jnp.zeros(rows * size, x.dtype).at[flat].set(x.ravel()[last_of_equals(jnp, flat, rows * size)])
        return out.reshape(*lead, *self.sizes)

    def spmd(self, *types):
        return planes(self.rank, 2)

    @classmethod
    def samples(cls, rng):
        index = rng.permuted(np.tile(np.arange(20), (6, 1)), axis=1)[:, :4].reshape(2, 3, 2, 2)
        yield cls(2, (4, 5)), (rng.normal(size=(2, 3, 2, 2)).astype("float32"), index)
