"""Pooling over windows of the last axes.

Shape letters: B the leading axes, S sizes of the pooled axes, Z sizes of the result. A window starts at
z * stride - low; what lies outside x is not there. Positions count elements of the S axes in row-major order.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .. import types
from ..errors import invalid_argument
from ..types import TensorType
from .planes import PutPlane, TakePlane, plane, planes
from .registry import Operator, absent, operator


class Windows(Operator):
    """Base: windows of sizes `kernel` over the last axes.

    Attributes:
        kernel, strides: per pooled axis.
        low: how far the first window starts before x.
        sizes: number of windows.
        exact: no window reaches outside x.
    """

    kernel: tuple
    strides: tuple
    low: tuple
    sizes: tuple
    exact: bool

    @property
    def rank(self) -> int:
        return len(self.kernel)

    def spmd(self, *types):
        return planes(self.rank, len(types))

    def pooled(self, x: TensorType) -> TensorType:
        ends = [(z - 1) * s + k for z, s, k in zip(self.sizes, self.strides, self.kernel)]
        if self.exact and (any(self.low) or any(e > n for e, n in zip(ends, x.shape[x.ndim - self.rank :]))):
            raise invalid_argument(  # kernels would read outside x
                f"{self.name}: a window reaches outside.", expected=f"at least {ends}", received=f"x: {x}"
            )
        return x.with_shape((*x.shape[: x.ndim - self.rank], *self.sizes))

    def views(self, x: Any, fill: Any, xp: Any = np) -> Any:
        """For each place in the kernel, in row-major order, the elements of all windows there."""
        rank = self.rank
        if not self.exact:
            high = [
                max((z - 1) * s - a + k - n, 0)
                for z, s, a, k, n in zip(self.sizes, self.strides, self.low, self.kernel, x.shape[x.ndim - rank :])
            ]
            width = [(0, 0)] * (x.ndim - rank) + list(zip(self.low, high))
            x = xp.pad(x, width, constant_values=fill)
        for kk in itertools.product(*map(range, self.kernel)):
            at: Any = (..., *(slice(j, j + (z - 1) * s + 1, s) for j, z, s in zip(kk, self.sizes, self.strides)))
            yield x[at]

    def window(self, k: Any, x: Any, z: Any, kk: Any) -> tuple[list[Any], Any]:
        """Indices on the pooled axes of one element of a window, and whether it lies in x."""
        at, inside = [], None
        for i, j, s, a, n in zip(z, kk, self.strides, self.low, x.shape[len(x.shape) - self.rank :]):
            i = i * s + j
            if not self.exact:
                i = i - a
                inside = i >= 0 if inside is None else inside & (i >= 0)
                inside = inside & (i < n)
            at.append(i)
        return at, inside

    def owners(self, k: Any, count: Any, at: Any, tt: Any) -> tuple[list[Any], Any]:
        """The tt-th window, counted back from the last, that may hold position `at`; and whether it exists."""
        z, inside = [], None
        for i, t, s, a, m in zip(at, tt, self.strides, self.low, count):
            i = (i + a) // s - t
            test = (i >= 0) & (i < m)
            inside = test if inside is None else inside & test
            z.append(i)
        return z, inside

    def overlap(self) -> list[int]:
        """How many windows may hold one element, per axis."""
        return [-(-k // s) for k, s in zip(self.kernel, self.strides)]

    @classmethod
    def geometries(cls) -> Any:
        """Kernel, strides, low, sizes, exact and the pooled sizes of x."""
        yield (2,), (2,), (0,), (3,), True, (7,)
        yield (3, 2), (2, 1), (1, 0), (3, 4), False, (5, 5)
        yield (2, 2), (2, 2), (0, 0), (3, 2), True, (6, 5)
        yield (2, 2), (3, 3), (0, 0), (2, 2), True, (6, 5)
        yield (3, 3), (1, 1), (1, 1), (4, 4), False, (4, 4)
        yield (2, 1, 2), (1, 1, 2), (0, 0, 1), (2, 2, 2), False, (3, 2, 3)


@operator
class MaxPool(Windows):
    """Greatest element of each window (NaN wins). The gradient goes to the first of equals."""

    shape_attributes = ("sizes",)
    kernel: tuple
    strides: tuple
    low: tuple
    sizes: tuple
    exact: bool

    def infer(self, x: TensorType) -> TensorType:
        return self.pooled(x)

    def numpy(self, x):
        out = None
        for v in self.views(x, lowest(x.dtype)):
            out = v if out is None else np.maximum(out, v)
        return np.array(out)

    def vjp(self, g, out, x):
        sizes = tuple(x.shape)[len(x.shape) - len(self.kernel) :]
        index = MaxPoolIndex(self.kernel, self.strides, self.low, self.sizes, self.exact)(x)
        return (MaxPoolGrad(self.kernel, self.strides, self.low, self.sizes, self.exact, sizes)(g, index),)

    def loops(self, k, x):
        lead, z = k.at[: len(k.at) - self.rank], k.at[len(k.at) - self.rank :]

        def element(*kk):
            at, inside = self.window(k, x, z, kk)
            return k.load(x, [*lead, *at], inside, lowest(x.dtype.np))

        return k.reduce("max", self.kernel, element)

    def xla(self, jnp, x):
        lax = jnp.lax
        lead = x.ndim - self.rank
        high = [(z - 1) * s - a + k - n for z, s, a, k, n in
                zip(self.sizes, self.strides, self.low, self.kernel, x.shape[lead:])]  # fmt: skip
        start = jnp.asarray(lowest(np.dtype(x.dtype)), x.dtype)
        x = lax.pad(x, start, [(0, 0, 0)] * lead + [(a, b, 0) for a, b in zip(self.low, high)])
        return lax.reduce_window(x, start, lax.max, (1,) * lead + self.kernel, (1,) * lead + self.strides, "VALID")

    @classmethod
    def samples(cls, rng):
        for *attributes, sizes in cls.geometries():
            yield cls(*attributes), (rng.normal(size=(2, 3, *sizes)).astype("float32"),)
        yield cls((2,), (2,), (0,), (2,), True), (np.array([[1, 1, 2, 0], [np.nan, 1, -np.inf, -np.inf]], "float64"),)
        yield cls((2,), (2,), (0,), (2,), True), (np.zeros((0, 4), "float32"),)


def lowest(dtype: np.dtype) -> Any:
    """Less than, or equal to, every number of an element type."""
    return -math.inf if dtype.kind not in "iub" else False if dtype.kind == "b" else int(np.iinfo(dtype).min)


@operator
class MaxPoolIndex(Windows):
    """Position in x of the first greatest element of each window, int32."""

    shape_attributes = ("sizes",)
    kernel: tuple
    strides: tuple
    low: tuple
    sizes: tuple
    exact: bool
    vjp = absent("positions have no gradient")

    def infer(self, x: TensorType) -> TensorType:
        return self.pooled(x).with_dtype(types.int32)

    def numpy(self, x):
        return self.places(np, x)

    def places(self, xp: Any, x: Any) -> Any:
        """The meaning in numpy or what is like it."""
        best, place = None, None
        for i, v in enumerate(self.views(x, lowest(x.dtype), xp)):
            if best is None:
                best, place = xp.array(v), xp.zeros(v.shape, np.int64)
            else:
                better = (v > best) | (xp.isnan(v) & ~xp.isnan(best))
                best, place = xp.where(better, v, best), xp.where(better, i, place)
        out, rank = 0, self.rank
        for axis, j in enumerate(xp.unravel_index(place, self.kernel)):
            n = x.shape[x.ndim - rank + axis]
            start = (np.arange(self.sizes[axis]) * self.strides[axis] - self.low[axis]).reshape(
                [-1] + [1] * (rank - 1 - axis)
            )
            out = out * n + xp.clip(start + j, 0, n - 1)
        return xp.asarray(out).astype(np.int32)

    def loops(self, k, x):
        lead, z = k.at[: len(k.at) - self.rank], k.at[len(k.at) - self.rank :]

        def element(*kk):
            at, inside = self.window(k, x, z, kk)
            return k.load(x, [*lead, *at], inside, lowest(x.dtype.np))

        place, kk = k.reduce("argmax", self.kernel, element), []
        for n in reversed(self.kernel):
            kk.append(place % n)
            place = place // n
        at, _ = self.window(k, x, z, kk[::-1])
        flat = None
        for i, n in zip(at, x.shape[len(x.shape) - self.rank :]):
            if not self.exact:  # a window of nothing but -inf finds its first place, outside x
                i = k.max(k.min(i, k.scope.lift(n, types.int64) - 1), 0)
            flat = i if flat is None else flat * n + i
        return k.cast(flat, types.int32)

    def xla(self, jnp, x):
        return self.places(jnp, x)

    @classmethod
    def samples(cls, rng):
        for *attributes, sizes in cls.geometries():
            yield cls(*attributes), (rng.integers(0, 4, size=(2, 3, *sizes)).astype("float32"),)
        yield cls((2,), (2,), (0,), (2,), True), (np.array([[1, 1, 2, 0], [np.nan, 1, -np.inf, -np.inf]], "float64"),)


@operator
class MaxPoolGrad(Windows):
    """Each element of g added where its window found the greatest element.

    Shapes: g and index [B, *Z] -> [B, *S].
    """

    kernel: tuple
    strides: tuple
    low: tuple
    sizes: tuple
    exact: bool
    source: tuple

    def infer(self, g: TensorType, index: TensorType) -> TensorType:
        return g.with_shape((*g.shape[: g.ndim - self.rank], *self.source))

    def numpy(self, g, index):
        return PutPlane(self.rank, self.source).numpy(g, index)

    def vjp(self, gg, out, g, index):
        return TakePlane(len(self.kernel))(gg, index), None

    def loops(self, k, g, index):
        lead, at = k.at[: len(k.at) - self.rank], k.at[len(k.at) - self.rank :]
        count = g.shape[len(g.shape) - self.rank :]
        flat = None
        for i, n in zip(at, self.source):
            flat = i if flat is None else flat * n + i
        flat = k.cast(flat, types.int32)

        def part(*tt):
            z, inside = self.owners(k, count, at, tt)
            hit = k.load(index, [*lead, *z], inside, -1).eq(flat)
            return k.load(g, [*lead, *z], inside & hit)

        return k.sum(self.overlap(), part)

    def blocks(self, k, g, index):
        """Windows that lie side by side: each is read once and writes all its elements."""
        whole = tuple(z * n for z, n in zip(self.sizes, self.kernel))
        if self.kernel != self.strides or not self.exact or any(self.low) or whole != self.source:
            return None
        rank = self.rank

        def body():
            lead, z = k.at[: len(k.at) - rank], k.at[len(k.at) - rank :]
            place, value = k.load(index, k.at), k.load(g, k.at)
            for kk in itertools.product(*map(range, self.kernel)):
                at = [i * n + j for i, n, j in zip(z, self.kernel, kk)]
                flat = at[0]
                for i, n in zip(at[1:], self.source[1:]):
                    flat = flat * n + i
                yield [*lead, *at], k.where(place.eq(k.cast(flat, types.int32)), value, 0)

        return (*g.shape[: len(g.shape) - rank], *self.sizes), body

    def xla(self, jnp, g, index):
        return PutPlane(self.rank, self.source).xla(jnp, g, index)

    @classmethod
    def samples(cls, rng):
        for *attributes, sizes in cls.geometries():
            x = rng.integers(0, 4, size=(2, 3, *sizes)).astype("float32")
            index = MaxPoolIndex(*attributes).numpy(x)
            yield cls(*attributes, sizes), (rng.normal(size=index.shape), index)


@operator
class AvgPool(Windows):
    """Sum of each window over its size.

    divisor: what sums are divided by; 0 for the number of elements of the window: those in x if `high` is empty,
    else those in x with `low` and `high` elements around it.
    """

    shape_attributes = ("sizes",)
    kernel: tuple
    strides: tuple
    low: tuple
    sizes: tuple
    exact: bool
    high: tuple = ()
    divisor: float = 0.0

    def infer(self, x: TensorType) -> TensorType:
        return self.pooled(x)

    def counts(self, source: Any) -> np.ndarray:
        """What each window is divided by, [*Z]."""
        if self.divisor:
            return np.full(self.sizes, float(self.divisor))
        out = np.ones(())
        for axis, n in enumerate(source):
            start = np.arange(self.sizes[axis]) * self.strides[axis] - self.low[axis]
            first, last = (-self.low[axis], n + self.high[axis]) if self.high else (0, n)
            count = np.minimum(start + self.kernel[axis], last) - np.maximum(start, first)
            out = out[..., None] * count
        return out

    def numpy(self, x):
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        total = 0
        for v in self.views(wide, 0):
            total = total + v
        return (total / self.counts(x.shape[x.ndim - self.rank :]).astype(wide.dtype)).astype(x.dtype)

    def vjp(self, g, out, x):
        sizes = tuple(x.shape)[len(x.shape) - len(self.kernel) :]
        return (AvgPoolGrad(*(getattr(self, n) for n in self.attributes()), sizes)(g),)

    def divided(self, k: Any, e: Any, z: Any, source: Any) -> Any:
        """e over the number of elements of window z."""
        if self.divisor:
            return e / float(self.divisor)
        if self.exact:
            return e / float(plane(self.kernel))
        count = None
        for axis, n in enumerate(source):
            start = z[axis] * self.strides[axis] - self.low[axis]
            first, last = (-self.low[axis], n + self.high[axis]) if self.high else (0, n)
            c = k.min(start + self.kernel[axis], last) - k.max(start, first)
            count = c if count is None else count * c
        return e / k.cast(count, k.dtype)

    def loops(self, k, x):
        lead, z = k.at[: len(k.at) - self.rank], k.at[len(k.at) - self.rank :]

        def element(*kk):
            at, inside = self.window(k, x, z, kk)
            return k.load(x, [*lead, *at], inside)

        return self.divided(k, k.sum(self.kernel, element), z, x.shape[len(x.shape) - self.rank :])

    def xla(self, jnp, x):
        lax, lead = jnp.lax, x.ndim - self.rank
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        high = [(z - 1) * s - a + k - n for z, s, a, k, n in
                zip(self.sizes, self.strides, self.low, self.kernel, x.shape[lead:])]  # fmt: skip
        zero = np.zeros((), wide.dtype)
        wide = lax.pad(wide, zero, [(0, 0, 0)] * lead + [(a, b, 0) for a, b in zip(self.low, high)])
        kernel, strides = (1,) * lead + self.kernel, (1,) * lead + self.strides
        total = lax.reduce_window(wide, zero, lax.add, kernel, strides, "VALID")
        return (total / self.counts(x.shape[lead:]).astype(wide.dtype)).astype(x.dtype)

    @classmethod
    def samples(cls, rng):
        for *attributes, sizes in cls.geometries():
            x = rng.normal(size=(2, 3, *sizes)).astype("float32")
            yield cls(*attributes), (x,)
            yield cls(*attributes, attributes[2]), (x,)
        yield cls((2,), (2,), (0,), (2,), True, (), 3.0), (rng.normal(size=(2, 4)),)
        yield cls((2,), (2,), (0,), (2,), True), (np.zeros((0, 4), "float32"),)


@operator
class AvgPoolGrad(Windows):
    """Each element of g, divided, added to all elements of its window: the transpose of AvgPool. -> [B, *source]."""

    kernel: tuple
    strides: tuple
    low: tuple
    sizes: tuple
    exact: bool
    high: tuple
    divisor: float
    source: tuple

    def forward(self) -> AvgPool:
        return AvgPool(self.kernel, self.strides, self.low, self.sizes, self.exact, self.high, self.divisor)

    def infer(self, g: TensorType) -> TensorType:
        return g.with_shape((*g.shape[: g.ndim - self.rank], *self.source))

    def numpy(self, g):
        wide = g.astype(np.float32) if g.dtype.itemsize < 4 else g
        part = wide / self.forward().counts(self.source).astype(wide.dtype)
        reach = [max((z - 1) * s + k, n + a) for z, s, k, n, a in
                 zip(self.sizes, self.strides, self.kernel, self.source, self.low)]  # fmt: skip
        out = np.zeros((*g.shape[: g.ndim - self.rank], *reach), wide.dtype)
        for kk in itertools.product(*map(range, self.kernel)):
            at = (..., *(slice(j, j + (z - 1) * s + 1, s) for j, z, s in zip(kk, self.sizes, self.strides)))
            out[at] += part
        inside = (..., *(slice(a, a + n) for a, n in zip(self.low, self.source)))
        return out[inside].astype(g.dtype)

    def vjp(self, gg, out, g):
        return (self.forward()(gg),)

    def loops(self, k, g):
        lead, at = k.at[: len(k.at) - self.rank], k.at[len(k.at) - self.rank :]
        count = g.shape[len(g.shape) - self.rank :]

        def part(*tt):
            z, inside = self.owners(k, count, at, tt)
            for i, j, s, a, size in zip(at, z, self.strides, self.low, self.kernel):
                if size % s:  # not every window this near reaches the element
                    inside = inside & (i + a - j * s < size)
            value = self.forward().divided(k, k.load(g, [*lead, *z], inside), z, self.source)
            return k.where(inside, value, 0)  # a window that does not exist may have no elements: 0 / 0

        return k.sum(self.overlap(), part)

    def xla(self, jnp, g):
        # An element of x takes part in all windows that start less than a kernel before it.
        lax, lead = jnp.lax, g.ndim - self.rank
        wide = g.astype(np.float32) if g.dtype.itemsize < 4 else g
        part = wide / self.forward().counts(self.source).astype(wide.dtype)
        edges = [
            (k - 1 - a, n + a - ((z - 1) * s + 1), s - 1)
            for z, s, k, n, a in zip(self.sizes, self.strides, self.kernel, self.source, self.low)
        ]
        zero = np.zeros((), wide.dtype)
        part = lax.pad(part, zero, [(0, 0, 0)] * lead + edges)
        whole = lax.reduce_window(part, zero, lax.add, (1,) * lead + self.kernel, (1,) * g.ndim, "VALID")
        return whole.astype(g.dtype)

    @classmethod
    def samples(cls, rng):
        for kernel, strides, low, sizes, exact, source in cls.geometries():
            g = rng.normal(size=(2, 3, *sizes)).astype("float32")
            yield cls(kernel, strides, low, sizes, exact, (), 0.0, source), (g,)
            yield cls(kernel, strides, low, sizes, exact, low, 0.0, source), (g,)


# ---- adaptive pooling -------------------------------------------------------------------------
@operator
class AdaptiveMaxIndex(Operator):
    """Position of the first greatest element of each bin, int32. Bin z covers floor(z*S/Z) .. ceil((z+1)*S/Z)."""

    sizes: tuple
    vjp = absent("positions have no gradient")

    def infer(self, x: TensorType) -> TensorType:
        return x.with_shape((*x.shape[: x.ndim - len(self.sizes)], *self.sizes)).with_dtype(types.int32)

    def numpy(self, x):
        return bin_argmax(np, x, self.edges(x.shape))

    def edges(self, shape: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        """Where bins start and stop, per axis."""
        source = shape[len(shape) - len(self.sizes) :]
        return [[(i * n // z, -(-(i + 1) * n // z)) for i in range(z)] for n, z in zip(source, self.sizes)]

    def xla(self, jnp, x):
        return bin_argmax(jnp, x, self.edges(x.shape))

    def loops(self, k, x):
        rank = len(self.sizes)
        lead, z = k.at[: len(k.at) - rank], k.at[len(k.at) - rank :]
        source = x.shape[len(x.shape) - rank :]
        starts = [i * n // m for i, n, m in zip(z, source, self.sizes)]
        stops = [((i + 1) * n + (m - 1)) // m for i, n, m in zip(z, source, self.sizes)]
        widest = [(k.scope.lift(n, types.int64) + (m - 1)) // m + 1 for n, m in zip(source, self.sizes)]

        def element(*kk):
            at, inside = [], None
            for a, b, j in zip(starts, stops, kk):
                inside = a + j < b if inside is None else inside & (a + j < b)
                at.append(a + j)
            return k.load(x, [*lead, *at], inside, lowest(x.dtype.np))

        widest = [w.attr if w.op == "const" else w for w in widest]
        place, kk = k.reduce("argmax", widest, element), []
        for n in reversed(widest):
            kk.append(place % n)
            place = place // n
        flat = None
        for a, j, n in zip(starts, kk[::-1], source):
            flat = a + j if flat is None else flat * n + (a + j)
        return k.cast(flat, types.int32)

    def spmd(self, *types):
        return planes(len(self.sizes), 1)

    @classmethod
    def samples(cls, rng):
        yield cls((3,)), (rng.integers(0, 5, (2, 7)).astype("float32"),)
        yield cls((2, 3)), (rng.integers(0, 5, (2, 2, 5, 4)).astype("float64"),)
        yield cls((5,)), (rng.normal(size=(2, 3)),)


def bin_argmax(xp: Any, x: Any, edges: list[list[tuple[int, int]]]) -> Any:
    """Row-major position (int32) of the first greatest element of each bin; bins are given per axis.

    xp: numpy or what is like it.
    """
    lead, source = x.shape[: x.ndim - len(edges)], x.shape[x.ndim - len(edges) :]
    found = []
    for box in itertools.product(*edges):
        inside: Any = (..., *(slice(a, b) for a, b in box))
        sizes = tuple(b - a for a, b in box)
        best = xp.unravel_index(x[inside].reshape(*lead, plane(sizes)).argmax(-1), sizes)
        flat: Any = 0
        for n, (a, _), j in zip(source, box, best):
            flat = flat * n + (a + j)
        found.append(flat)
    out = xp.stack(found, -1) if found else np.zeros((*lead, 0))
    return out.reshape(*lead, *map(len, edges)).astype(np.int32)


@operator
class BinMaxIndex(Operator):
    """Position of the first greatest element of each bin, int32; bins are (start, stop) pairs per axis."""

    bins: tuple
    vjp = absent("positions have no gradient")
    loops = absent("bins of uneven size")

    def infer(self, x: TensorType) -> TensorType:
        return x.with_shape((*x.shape[: x.ndim - len(self.bins)], *map(len, self.bins))).with_dtype(types.int32)

    def numpy(self, x):
        return bin_argmax(np, x, [list(b) for b in self.bins])

    def xla(self, jnp, x):
        return bin_argmax(jnp, x, [list(b) for b in self.bins])

    def spmd(self, *types):
        return planes(len(self.bins), 1)

    @classmethod
    def samples(cls, rng):
        yield cls((((0, 2), (1, 4)), ((0, 1), (0, 3), (2, 5)))), (rng.normal(size=(2, 4, 5)),)
