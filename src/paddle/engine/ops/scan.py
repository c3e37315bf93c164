"""Running sums, products and extremes along an axis. They run on the host: an element needs all before it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from .. import types
from ..errors import unavailable
from ..types import TensorType
from .along import AddAlong
from .elementwise import cast, conj, equal, exp, greater_than, log, not_equal
from .logic import logical_and, select
from .reduction import narrow
from .registry import Operator, absent, operator
from .shape import flip


class Scan(Operator):
    """Base: goes along `axis` (non-negative) and keeps the shape."""

    loops = absent("an element needs all before it: runs on the host")

    axis: int

    def infer(self, x: TensorType) -> Any:
        return x

    def spmd(self, *types):
        before = "abcdefgh"[: self.axis]
        return f"{before}R...->{before}R..."

    @classmethod
    def samples(cls, rng):
        x = rng.uniform(0.5, 2, (3, 4, 5)).astype("float32")
        for axis in range(3):
            yield cls(axis), (x,)
        yield cls(0), (rng.normal(size=40),)
        yield cls(1), (rng.normal(size=(2, 0)),)
        yield cls(0), (np.array([1.0, np.inf, -np.inf, np.nan, 2.0]),)


def _running(f: Any, x: np.ndarray, axis: int) -> np.ndarray:
    wide = np.float32 if narrow(x) else x.dtype
    return f(x, axis=axis, dtype=wide).astype(x.dtype)


@operator
class Cumsum(Scan):
    """out[i] = x[0] + ... + x[i] along an axis; from the end if `reverse`."""

    axis: int
    reverse: bool = False

    def numpy(self, x):
        if self.reverse:
            return np.flip(_running(np.cumsum, np.flip(x, self.axis), self.axis), self.axis)
        return _running(np.cumsum, x, self.axis)

    def vjp(self, g, out, x):
        return (Cumsum(self.axis, not self.reverse)(g),)

    def xla(self, jnp, x):
        if self.reverse:
            return jnp.flip(jnp.cumsum(jnp.flip(x, self.axis), axis=self.axis, dtype=x.dtype), self.axis)
        return jnp.cumsum(x, axis=self.axis, dtype=x.dtype)

    @classmethod
    def samples(cls, rng):
        yield from super().samples(rng)
        yield cls(1, True), (rng.normal(size=(3, 4)).astype("float32"),)
        yield cls(0), (rng.integers(-9, 9, 12),)


@operator
class Cumprod(Scan):
    """out[i] = x[0] * ... * x[i] along an axis."""

    axis: int

    def numpy(self, x):
        return _running(np.cumprod, x, self.axis)

    def vjp(self, g, out, x):
        # dx[j] = sum over i >= j of g[i] * out[i] / x[j]. From the first zero on, out[i] is 0 and tells nothing:
        # there the product is taken without that zero, whose own gradient it is.
        zero = equal(x, 0)
        safe = select(zero, 1, x)
        seen = Cumsum(self.axis)(cast(zero, types.int64))
        whole = Cumprod(self.axis)(safe)
        up_to = Cumsum(self.axis, True)
        dx = up_to(g * conj(select(equal(seen, 0), whole, 0))) / conj(safe)
        through = up_to(g * conj(select(equal(seen, 1), whole, 0)))
        first = cast(zero, types.int64) * cast(equal(seen, 1), types.int64)
        return (select(equal(first, 1), through, dx),)

    def xla(self, jnp, x):
        return jnp.cumprod(x, axis=self.axis, dtype=x.dtype)

    @classmethod
    def samples(cls, rng):
        yield from super().samples(rng)
        yield cls(0), (np.array([2.0, 0.0, 3.0, 4.0, 0.0, 5.0]),)


@operator
class Logcumsumexp(Scan):
    """out[i] = log(exp(x[0]) + ... + exp(x[i])) along an axis, without overflow."""

    axis: int

    def numpy(self, x):
        wide = x.astype(np.float32) if narrow(x) else x
        return np.logaddexp.accumulate(wide, axis=self.axis).astype(x.dtype) if x.size else x

    def vjp(self, g, out, x):
        # the sum over j >= i of g[j] * exp(x[i] - out[j]), in logarithms, where large x would overflow
        total = None
        for side in (1.0, -1.0):
            counts = logical_and(greater_than(g * side, 0), not_equal(out, -math.inf))
            parts = select(counts, log(select(counts, g * side, 1)) - select(counts, out, 0), -math.inf)
            behind = flip(Logcumsumexp(self.axis)(flip(parts, (self.axis,))), (self.axis,))
            none = equal(behind, -math.inf)
            share = select(none, 0, exp(select(none, 0, x + behind)))
            total = share if total is None else total - share
        return (total,)

    def xla(self, jnp, x):
        return jnp.logaddexp.accumulate(x, axis=self.axis)


class RunningExtreme(Scan):
    """Base of cummax and cummin: the value and where (the last of equals) it is, NaN from the first NaN on."""

    axis: int
    dtype: types.DType = types.int64
    ufunc: ClassVar[Any] = None

    def spmd(self, *types):
        before = "abcdefgh"[: self.axis]
        return f"{before}R...->{before}R...,{before}R..."

    def infer(self, x: TensorType) -> tuple[TensorType, TensorType]:
        if x.dtype.kind in "bc":
            raise unavailable(
                f"{self.name}: it is not defined for {x.dtype.name}.", expected="a real number type", received=f"x: {x}"
            )
        return x, x.with_dtype(self.dtype)

    def numpy(self, x):
        values = type(self).ufunc.accumulate(x, axis=self.axis) if x.size else x
        place = np.arange(x.shape[self.axis]).reshape([-1 if i == self.axis else 1 for i in range(x.ndim)])
        here = (values == x) | (np.isnan(x) if x.dtype.kind not in "iu" else False)
        where = np.maximum.accumulate(np.where(here, place, 0), axis=self.axis) if x.size else np.zeros(x.shape)
        return values, where.astype(self.dtype.np)

    def vjp(self, g, out, x):
        return (AddAlong(self.axis, tuple(x.shape))(g[0], out[1]) if g[0] is not None else None,)

    def xla(self, jnp, x):
        running = jnp.lax.cummax if type(self).ufunc is np.maximum else jnp.lax.cummin
        values = running(x, self.axis)
        place = jnp.arange(x.shape[self.axis]).reshape([-1 if i == self.axis else 1 for i in range(x.ndim)])
        where = jnp.lax.cummax(jnp.where((values == x) | jnp.isnan(x), place, 0), self.axis)
        return values, where.astype(self.dtype.name)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)).astype("float32")
        for axis in range(3):
            yield cls(axis), (x,)
        yield cls(0, types.int32), (rng.permutation(20),)
        yield cls(0), (np.array([1.0, np.nan, 5.0]),)
        yield cls(1), (np.zeros((2, 0)),)


@operator
class Cummax(RunningExtreme):
    """Running maximum along an axis, and its position."""

    axis: int
    dtype: types.DType = types.int64
    ufunc = np.maximum


@operator
class Cummin(RunningExtreme):
    """Running minimum along an axis, and its position."""

    axis: int
    dtype: types.DType = types.int64
    ufunc = np.minimum


def cumsum(x: Any, axis: int) -> Any:
    return Cumsum(axis)(x)
