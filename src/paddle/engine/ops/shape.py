"""Operators that rearrange elements without changing them: reshape, transpose, broadcast_to, ..."""

from __future__ import annotations

import math

import numpy as np

from ..errors import invalid_argument
from ..types import TensorType
from .registry import Operator, letters, operator


@operator
class Reshape(Operator):
    """The same elements in row-major order under another shape (fully known sizes)."""

    shape: tuple

    def infer(self, x: TensorType) -> TensorType:
        if math.prod(self.shape) != x.size:
            raise invalid_argument(
                "reshape: the number of elements changes.",
                expected=f"a shape of {x.size} elements",
                received=f"x: {x}, shape: {list(self.shape)}",
            )
        return x.with_shape(self.shape)

    def numpy(self, x):
        return np.reshape(x, self.shape)

    def vjp(self, g, out, x):
        return (reshape(g, tuple(x.shape)),)

    def loops(self, k, x):
        flat = k.scope.const(0, k.at[0].dtype) if k.at else None
        for i, n in zip(k.at, k.shape):
            flat = flat * n + i
        at = []
        for n in reversed(x.shape):
            if flat is None:
                at.append(0)
                continue
            at.append(flat % n)
            flat = flat // n
        return k.load(x, at[::-1])

    def xla(self, jnp, x):
        return jnp.reshape(x, self.shape)

    def spmd(self, *types):
        shape = types[0].shape
        pairs = leading_axes(shape, self.shape)
        left, right = list(letters(len(shape), range(99))), list(letters(len(self.shape), range(99)))
        for (i, j), c in zip(pairs, letters(len(pairs))):
            left[i] = right[j] = c
        return f"{''.join(left)}->{''.join(right)}"

    def sized(self, *shapes):
        return Reshape(shapes[0])

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(4, 6)).astype("float32")
        for shape in ((24,), (2, 2, 6), (6, 4), (1, 24, 1)):
            yield cls(shape), (x,)
        yield cls((1, 1)), (np.float32(3).reshape(()),)
        yield cls((3, 0)), (np.zeros((0, 7)),)


def leading_axes(shape, other):
    """Pairs of axes of two shapes of equal size that can be cut alike.

    The shapes fall into runs of equal products; within a run, parts of the first axis that is longer than 1 are
    neighbours in memory on both sides.
    """
    pairs: list[tuple[int, int]] = []
    if 0 in shape:
        return pairs
    i = j = 0
    while i < len(shape) and j < len(other):
        first, second = [i], [j]
        p, q = shape[i], other[j]
        while p != q:
            if p < q:
                i += 1
                p *= shape[i]
                first.append(i)
            else:
                j += 1
                q *= other[j]
                second.append(j)
        if p > 1:
            pairs.append((next(a for a in first if shape[a] > 1), next(a for a in second if other[a] > 1)))
        i, j = i + 1, j + 1
    return pairs


def reshape(x, shape):
    return x if tuple(x.shape) == tuple(shape) else Reshape(tuple(int(n) for n in shape))(x)


@operator
class Transpose(Operator):
    """Axes in another order: axis i of the result is axis perm[i] of x."""

    perm: tuple

    def infer(self, x: TensorType) -> TensorType:
        if sorted(self.perm) != list(range(x.ndim)):
            raise invalid_argument(
                "transpose: perm is not a permutation of the axes of x.",
                expected=f"each of 0..{x.ndim - 1} once",
                received=f"x: {x}, perm: {list(self.perm)}",
            )
        return x.with_shape(tuple(x.shape[p] for p in self.perm))

    def numpy(self, x):
        return np.transpose(x, self.perm)

    def vjp(self, g, out, x):
        inverse = [0] * len(self.perm)
        for i, p in enumerate(self.perm):
            inverse[p] = i
        return (Transpose(tuple(inverse))(g),)

    def loops(self, k, x):
        at = [None] * len(self.perm)
        for i, p in enumerate(self.perm):
            at[p] = k.at[i]
        return k.load(x, at)

    def xla(self, jnp, x):
        return jnp.transpose(x, self.perm)

    def spmd(self, *types):
        names = "abcdefghijkl"[: len(self.perm)]
        return f"{names}->{''.join(names[p] for p in self.perm)}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 4, 5)).astype("float32")
        for perm in ((2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)):
            yield cls(perm), (x,)
        yield cls((1, 0)), (np.zeros((0, 4)),)
        yield cls(()), (np.float64(2).reshape(()),)


@operator
class BroadcastTo(Operator):
    """x repeated along new axes and axes of size 1."""

    pointwise = True
    shape_attributes = ("shape",)
    shape: tuple

    def infer(self, x: TensorType) -> TensorType:
        skip = len(self.shape) - x.ndim
        if skip < 0 or any(n not in (1, m) for n, m in zip(x.shape, self.shape[skip:])):
            raise invalid_argument(
                "broadcast_to: x does not broadcast to the shape.",
                expected="sizes of x equal to those of shape, or 1, axis by axis from the right",
                received=f"x: {x}, shape: {list(self.shape)}",
            )
        return x.with_shape(self.shape)

    def numpy(self, x):
        return np.broadcast_to(x, self.shape)

    def vjp(self, g, out, x):
        from .elementwise import sum_to

        return (sum_to(g, tuple(x.shape)),)

    def loops(self, k, x):
        return k.broadcast(x)

    def xla(self, jnp, x):
        return jnp.broadcast_to(x, self.shape)

    def spmd(self, *types):
        return "...->..."

    def sized(self, *shapes):
        return BroadcastTo(shapes[0])

    @classmethod
    def samples(cls, rng):
        yield cls((2, 3, 4)), (rng.normal(size=(3, 1)).astype("float32"),)
        yield cls((5,)), (rng.normal(size=()).astype("float64"),)
        yield cls((0, 3)), (rng.normal(size=3).astype("float32"),)


def broadcast_to(x, shape):
    return x if tuple(x.shape) == tuple(shape) else BroadcastTo(tuple(int(n) for n in shape))(x)


# ---- windows: pad, slice, dilate --------------------------------------------------------------
@operator
class Pad(Operator):
    """x with `value` around it: low[i] elements before and high[i] after axis i. Negative amounts cut off."""

    number_attributes = ("low", "high")
    low: tuple
    high: tuple
    value: float = 0.0

    def infer(self, x: TensorType) -> TensorType:
        shape = tuple(n + a + b for n, a, b in zip(x.shape, self.low, self.high))
        if not (len(self.low) == len(self.high) == x.ndim) or any(n < 0 for n in shape):
            raise invalid_argument(
                "pad: the amounts do not fit x.",
                expected="one pair per axis that leaves no axis with a negative size",
                received=f"x: {x}, low: {list(self.low)}, high: {list(self.high)}",
            )
        return x.with_shape(shape)

    def numpy(self, x):
        source, target = [], []
        for n, a, b in zip(x.shape, self.low, self.high):
            source.append(slice(max(-a, 0), max(n - max(-b, 0), 0)))
            target.append(slice(max(a, 0), max(n + a + b - max(b, 0), 0)))
        out = np.full(
            [n + a + b for n, a, b in zip(x.shape, self.low, self.high)], np.asarray(self.value).astype(x.dtype)
        )
        inner = x[tuple(source)]
        if inner.size:
            out[tuple(target)] = inner
        return out

    def vjp(self, g, out, x):
        return (pad(g, tuple(-n for n in self.low), tuple(-n for n in self.high)),)

    def loops(self, k, x):
        at, inside = [], None
        positive = lambda n: not isinstance(n, int) or n > 0
        for i, n, a, b in zip(k.at, x.shape, self.low, self.high):
            i = i - a
            for needed, test in ((positive(a), i >= 0), (positive(b), i < n)):
                if needed:
                    inside = test if inside is None else inside & test
            at.append(i)
        return k.load(x, at, inside, self.value)

    def xla(self, jnp, x):
        return jnp.lax.pad(x, jnp.asarray(self.value, x.dtype), [(a, b, 0) for a, b in zip(self.low, self.high)])

    def spmd(self, *types):
        names = letters(len(self.low), [i for i, pair in enumerate(zip(self.low, self.high)) if any(pair)])
        return f"{names}->{names}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 5)).astype("float32")
        yield cls((1, 0), (2, 3)), (x,)
        yield cls((0, -1), (-1, 2), 1.5), (x,)
        yield cls((2,), (1,), -3.0), (np.zeros(0, "float64"),)
        yield cls((), ()), (np.float32(2).reshape(()),)
        yield cls((1, 2, 3), (0, 0, 1), 7), (rng.integers(-9, 9, (2, 3, 4)),)


def pad(x, low, high, value=0.0):
    return Pad(tuple(low), tuple(high), value)(x) if any(low) or any(high) else x


@operator
class PadFrom(Operator):
    """x with elements of its own around it.

    mode: "reflect" mirrors without repeating the edge, "replicate" repeats the edge, "circular" goes on at the other
    end.
    """

    low: tuple
    high: tuple
    mode: str

    def infer(self, x: TensorType) -> TensorType:
        bound = {"reflect": -1, "circular": 0}.get(self.mode)
        for n, a, b in zip(x.shape, self.low, self.high):
            if bound is not None and max(a, b) > n + bound or (max(a, b) and not n):
                raise invalid_argument(
                    f"pad: {self.mode} padding is wider than the axis allows.",
                    expected=f"at most {n + (bound or 0)} elements on each side of an axis of size {n}",
                    received=f"x: {x}, low: {list(self.low)}, high: {list(self.high)}",
                )
        return x.with_shape(tuple(n + a + b for n, a, b in zip(x.shape, self.low, self.high)))

    def numpy(self, x):
        names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
        return np.pad(x, list(zip(self.low, self.high)), mode=names[self.mode])

    def vjp(self, g, out, x):
        for axis, (n, a, b) in enumerate(zip(tuple(x.shape), self.low, self.high)):
            g = self.fold(g, axis, n, a, b)
        return (g,)

    def fold(self, g, axis, n, a, b):
        """The gradient of one axis: what lies outside is added where it was read."""
        from .reduction import Sum

        if not a and not b:
            return g
        total = slice_axis(g, axis, a, a + n)
        for start, size, before in ((0, a, True), (a + n, b, False)):
            if not size:
                continue
            part = slice_axis(g, axis, start, start + size)
            if self.mode == "replicate":
                part, at, size = Sum((axis,), True)(part), 0 if before else n - 1, 1
            elif self.mode == "circular":
                at = n - size if before else 0
            else:
                part, at = flip(part, (axis,)), 1 if before else n - 1 - size
            low, high = [0] * len(g.shape), [0] * len(g.shape)
            low[axis], high[axis] = at, n - at - size
            total = total + pad(part, low, high)
        return total

    def loops(self, k, x):
        at = []
        for i, n, a, b in zip(k.at, x.shape, self.low, self.high):
            if a or b:
                i = i - a
                last = k.scope.lift(n, i.dtype) - 1
                if self.mode == "replicate":
                    i = k.max(k.min(i, last), 0)
                elif self.mode == "circular":
                    i = (i + n) % n
                else:
                    i = k.max(i, -i)
                    i = k.min(i, last * 2 - i)
            at.append(i)
        return k.load(x, at)

    def xla(self, jnp, x):
        names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
        return jnp.pad(x, list(zip(self.low, self.high)), mode=names[self.mode])

    def spmd(self, *types):
        return Pad(self.low, self.high).spmd()

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(3, 5)).astype("float32")
        for mode in ("reflect", "replicate", "circular"):
            yield cls((1, 0), (2, 3), mode), (x,)
            yield cls((0, 2, 1), (0, 2, 0), mode), (rng.normal(size=(2, 3, 4)),)
        yield cls((4,), (5,), "replicate"), (rng.normal(size=3),)


@operator
class Slice(Operator):
    """Elements range(starts[i], stops[i], steps[i]) of each axis i; bounds count from the front, none are wrapped."""

    shape_attributes = ("stops",)
    number_attributes = ("starts",)
    starts: tuple
    stops: tuple
    steps: tuple

    def sizes(self) -> tuple[int, ...]:
        return tuple(len(range(a, b, s)) for a, b, s in zip(self.starts, self.stops, self.steps))

    def infer(self, x: TensorType) -> TensorType:
        sizes = self.sizes()
        ok = len(sizes) == x.ndim
        for n, m, a, s in zip(x.shape, sizes, self.starts, self.steps):
            ok = ok and (m == 0 or (0 <= a < n and 0 <= a + (m - 1) * s < n))
        if not ok:
            raise invalid_argument(
                "slice: the bounds do not fit x.",
                expected="bounds within each axis",
                received=f"x: {x}, starts: {list(self.starts)}, stops: {list(self.stops)}, steps: {list(self.steps)}",
            )
        return x.with_shape(sizes)

    def numpy(self, x):
        return x[tuple(self.as_slices())]

    def as_slices(self) -> list[slice]:
        return [
            slice(a, b if b >= 0 else None, s) if len(range(a, b, s)) else slice(0, 0)
            for a, b, s in zip(self.starts, self.stops, self.steps)
        ]

    def vjp(self, g, out, x):
        return (unslice(g, self.starts, self.sizes(), self.steps, tuple(x.shape)),)

    def loops(self, k, x):
        return k.load(x, [i * s + a for i, a, s in zip(k.at, self.starts, self.steps)])

    def xla(self, jnp, x):
        return x[tuple(self.as_slices())]

    def spmd(self, *types):
        names = letters(len(self.starts), self.cuts(types[0].shape))
        return f"{names}->{names}"

    def cuts(self, shape: tuple[int, ...]) -> list[int]:
        """The axes that are not taken as they are."""
        taken = zip(self.starts, self.sizes(), self.steps, shape)
        return [i for i, (a, m, s, n) in enumerate(taken) if a != 0 or m != n or s != 1]

    def sized(self, *shapes):
        stops = [b if m == old else a + m * s for a, b, s, m, old in
                 zip(self.starts, self.stops, self.steps, shapes[0], self.sizes())]  # fmt: skip
        return Slice(self.starts, tuple(stops), self.steps)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(4, 7)).astype("float32")
        yield cls((1, 0), (3, 7), (1, 1)), (x,)
        yield cls((3, 6), (-1, -1), (-1, -2)), (x,)
        yield cls((0, 1), (4, 7), (3, 2)), (x,)
        yield cls((2, 5), (2, 6), (1, 1)), (x,)
        yield cls((), (), ()), (np.float64(1).reshape(()),)
        yield cls((1,), (9,), (3,)), (np.arange(9),)


def unslice(g, starts, sizes, steps, shape):
    """Zeros of `shape` with g at the elements that a slice reads: the gradient of a slice."""
    from .creation import Full

    if 0 in sizes:
        return Full(shape, 0, g.dtype)()
    back = tuple(i for i, s in enumerate(steps) if s < 0)
    if back:
        g = flip(g, back)
    starts = tuple(a + (m - 1) * s if s < 0 else a for a, m, s in zip(starts, sizes, steps))
    steps = tuple(abs(s) if m > 1 else 1 for s, m in zip(steps, sizes))
    if any(s != 1 for s in steps):
        g = Dilate(steps)(g)
    return pad(g, starts, tuple(n - a - (m - 1) * s - 1 for n, a, m, s in zip(shape, starts, sizes, steps)))


def slice_axis(x, axis, start, stop, step=1):
    """x cut along one axis; bounds within the axis."""
    n = x.shape[axis]
    if (start, stop, step) == (0, n, 1):
        return x
    starts, stops, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return Slice(tuple(starts), tuple(stops), tuple(steps))(x)


def flip(x, axes):
    """x with the order of elements reversed along axes."""
    shape = tuple(x.shape)
    back = [i in axes for i in range(len(shape))]
    return Slice(
        tuple(n - 1 if b else 0 for n, b in zip(shape, back)),
        tuple(-1 if b else n for n, b in zip(shape, back)),
        tuple(-1 if b else 1 for b in back),
    )(x)


@operator
class Dilate(Operator):
    """x with factors[i] - 1 zeros between neighbours along axis i."""

    factors: tuple

    def infer(self, x: TensorType) -> TensorType:
        if len(self.factors) != x.ndim or any(f < 1 for f in self.factors):
            raise invalid_argument(
                "dilate: the factors do not fit x.",
                expected="a factor of at least 1 per axis",
                received=f"x: {x}, factors: {list(self.factors)}",
            )
        return x.with_shape(tuple((n - 1) * f + 1 if n else 0 for n, f in zip(x.shape, self.factors)))

    def numpy(self, x):
        out = np.zeros([(n - 1) * f + 1 if n else 0 for n, f in zip(x.shape, self.factors)], x.dtype)
        out[tuple(slice(None, None, f) for f in self.factors)] = x
        return out

    def vjp(self, g, out, x):
        zeros = (0,) * len(self.factors)
        return (Slice(zeros, tuple(g.shape), self.factors)(g),)

    def loops(self, k, x):
        at, inside = [], None
        for i, f in zip(k.at, self.factors):
            if f > 1:
                test = (i % f).eq(0)
                inside = test if inside is None else inside & test
                i = i // f
            at.append(i)
        return k.load(x, at, inside)

    def xla(self, jnp, x):
        return jnp.lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, f - 1) for f in self.factors])

    def spmd(self, *types):
        names = letters(len(self.factors), [i for i, f in enumerate(self.factors) if f > 1])
        return f"{names}->{names}"

    @classmethod
    def samples(cls, rng):
        yield cls((2, 3)), (rng.normal(size=(3, 4)).astype("float32"),)
        yield cls((1, 2)), (rng.normal(size=(0, 4)),)
        yield cls((3,)), (np.arange(1),)


def transpose(x, perm):
    perm = tuple(perm)
    return x if perm == tuple(range(len(perm))) else Transpose(perm)(x)
