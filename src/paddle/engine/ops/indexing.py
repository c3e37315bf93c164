"""Operators that read and write elements at computed positions: gather, scatter, and their kind.

Index tensors are int32 or int64. Each operator checks them; an index out of range is an IndexError.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import invalid_argument, invalid_type, offending
from ..types import TensorType, broadcast_shapes
from .creation import Full
from .elementwise import is_number, sum_to
from .number import Number
from .registry import Operator, absent, letters, operator
from .shape import Slice, reshape, slice_axis

OUT_OF_RANGE = "an index is out of range.\n  received: {value}"


# ---- shared by the rules ----------------------------------------------------------------------
def index_shape(name: str, *index: TensorType) -> tuple[int, ...]:
    """The shape that the index tensors broadcast to."""
    for i in index:
        if not i.dtype.is_integer:
            raise invalid_type(f"{name}: an index is not of an integer type.", expected="int32 or int64",
                               received=f"{i}")  # fmt: skip
    try:
        return broadcast_shapes(*(i.shape for i in index))
    except ValueError:
        raise invalid_argument(
            f"{name}: the index tensors do not broadcast.",
            expected="equal sizes, or 1, axis by axis from the right",
            received=", ".join(map(repr, index)),
        ) from None


def checked(index: Any, n: int, wrap: bool = True) -> np.ndarray:
    """int64 positions in [0, n); negative ones count from the end if `wrap`. IndexError if out of range."""
    i = np.asarray(index)
    i = i if i.dtype == np.int64 else i.astype(np.int64)
    if i.size:
        low, least = i.min(), -n if wrap else 0
        if low < least or i.max() >= n:
            bad = (i < least) | (i >= n)
            raise IndexError(offending("an index is out of range", bad, i, f"numbers in [{least}, {n})", "index"))
        if low < 0:
            i = np.where(i < 0, i + n, i)
    return i


def position(k: Any, i: Any, n: Any, wrap: bool = True) -> Any:
    """The same as an expression: the element `i` of an index tensor as a position on an axis of size n."""
    i = k.index(i)
    at = k.where(i < 0, i + n, i) if wrap else i
    return k.check((at >= 0) & (at < n), at, i, OUT_OF_RANGE)


def flat_positions(index: tuple[np.ndarray, ...], sizes: tuple[int, ...], wrap: bool) -> np.ndarray:
    """Row-major positions in a block of `sizes`, in the broadcast shape of the indices."""
    flat: Any = None
    for i, n in zip(index, sizes):
        i = checked(i, n, wrap)
        flat = i if flat is None else flat * n + i
    return flat


def add_rows(total: int, flat: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Zeros [total, width] with rows[j] added to row flat[j]: a sort and sums of runs, much faster than `add.at`."""
    width = rows.shape[1]
    dtype = rows.dtype
    out = np.zeros((total, width), dtype)
    if not rows.size:
        return out
    if dtype.kind == "f" and dtype.itemsize >= 4 and width <= 4:
        for j in range(width):
            out[:, j] = np.bincount(flat, weights=rows[:, j], minlength=total)
        return out
    if dtype.kind not in "fciub" or dtype.itemsize < 4 and dtype.kind == "f":
        rows = rows.astype(np.float32)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if len(first) == len(flat):
        out[flat] = rows
    else:
        out[ordered[first]] = np.add.reduceat(rows[order], first, axis=0)
    return out


def last_of_equals(jnp: Any, flat: Any, total: int) -> Any:
    """For each of the positions `flat` (in [0, total)) the place in `flat` of the last equal one.

    XLA writes to equal positions in any order, so they all have to write the same.
    """
    last = jnp.zeros(total, flat.dtype).at[flat].max(jnp.arange(flat.size, dtype=flat.dtype))
    return last[flat] if flat.size else flat


def index_names(axis: int, ndim: int, index: tuple[TensorType, ...]) -> tuple[str, str, list[str]]:
    """Axes for the sharding rules of whole positions.

    Returns:
        Of the indexed tensor (`ndim` axes, those indexed are capitals), of what Gather gives, and of each index.
    """
    n = max(i.ndim for i in index)
    names = letters(ndim + n)
    before, after, inner = names[:axis], names[axis + len(index) : ndim], names[ndim:]
    whole = names[axis : axis + len(index)].upper()
    return before + whole + after, before + inner + after, [inner[n - i.ndim :] for i in index]


# ---- whole positions --------------------------------------------------------------------------
@operator
class Gather(Operator):
    """x indexed by n integer tensors on its n axes from `axis` on; the shape of the indices takes their place.

    One index tensor on axis 0 is a row look-up. wrap: negative indices count from the end.
    """

    axis: int = 0
    wrap: bool = True

    def infer(self, x: TensorType, *index: TensorType) -> TensorType:
        shape = index_shape("gather", *index)
        if self.axis + len(index) > x.ndim:
            raise invalid_argument(
                "gather: there are more indices than axes.",
                expected=f"at most {x.ndim - self.axis} index tensors from axis {self.axis} on",
                received=f"x: {x}, {len(index)} index tensors",
            )
        return x.with_shape(x.shape[: self.axis] + shape + x.shape[self.axis + len(index) :])

    def numpy(self, x, *index):
        a = self.axis
        sizes = x.shape[a : a + len(index)]
        if len(index) == 1:
            return np.take(x, checked(index[0], sizes[0], self.wrap), axis=a)
        return x[(slice(None),) * a + tuple(checked(i, n, self.wrap) for i, n in zip(index, sizes))]

    def vjp(self, g, out, x, *index):
        sizes = tuple(x.shape)[self.axis : self.axis + len(index)]
        return (ScatterAdd(self.axis, sizes, self.wrap)(g, *index), *(None for _ in index))

    def loops(self, k, x, *index):
        a = self.axis
        n = max(len(i.shape) for i in index)
        inner = k.at[a : a + n]
        at = [
            position(k, k.broadcast(i, inner), size, self.wrap) for i, size in zip(index, x.shape[a : a + len(index)])
        ]
        return k.load(x, [*k.at[:a], *at, *k.at[a + n :]])

    def xla(self, jnp, x, *index):
        return x[(slice(None),) * self.axis + index]

    def spmd(self, *types):
        x, out, index = index_names(self.axis, types[0].ndim, types[1:])
        return f"{','.join([x, *index])}->{out}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(5, 4, 3)).astype("float32")
        yield cls(0), (x, np.array([4, 0, -1, 4]))
        yield cls(1), (x, np.array([[3, 0], [1, 1]], "int32"))
        yield cls(0), (x, np.array([[1], [2]]), np.array([0, 3, 3]))
        yield cls(1), (x, np.array([0, 3, 3]), np.array(2))
        yield cls(0, False), (np.arange(6), np.array(5))
        yield cls(0), (x, np.zeros((0, 2), "int64"))
        yield cls(0), (np.zeros((0, 3)), np.zeros(0, "int64"))


@operator
class IndexSelect(Gather):
    """Gather, as the functions use it that call a bad index a bad value."""

    fault = "bad_index"


@operator
class ScatterAdd(Operator):
    """Zeros with g added at integer positions: the gradient of Gather.

    The result has axes of `sizes` from `axis` on, where g has those of the index tensors. An index that comes up
    twice adds twice.
    """

    axis: int
    sizes: tuple
    wrap: bool = True
    loops = absent("writes where indices say, twice where they say so twice")

    def infer(self, g: TensorType, *index: TensorType) -> TensorType:
        shape = index_shape("scatter_add", *index)
        a, n = self.axis, len(shape)
        if g.shape[a : a + n] != shape or len(index) != len(self.sizes):
            raise invalid_argument(
                "scatter_add: the updates do not fit the indices.",
                expected=f"axes {list(shape)} from axis {a} on",
                received=f"updates: {g}, indices: {', '.join(map(repr, index))}",
            )
        return g.with_shape(g.shape[:a] + self.sizes + g.shape[a + n :])

    def numpy(self, g, *index):
        a, n = self.axis, np.broadcast(*index).ndim
        outer, inner = g.shape[:a], g.shape[a + n :]
        flat = np.broadcast_to(flat_positions(index, self.sizes, self.wrap), g.shape[a : a + n]).reshape(-1)
        block = math.prod(self.sizes)
        if outer:
            flat = (np.arange(math.prod(outer))[:, None] * block + flat).reshape(-1)
        width = math.prod(inner)
        rows = add_rows(math.prod(outer) * block, flat, g.reshape(flat.size, width))
        return rows.reshape(outer + self.sizes + inner)

    def vjp(self, g, out, u, *index):
        return (Gather(self.axis, self.wrap)(g, *index), *(None for _ in index))

    def xla(self, jnp, g, *index):
        a, n = self.axis, max(i.ndim for i in index)
        zeros = jnp.zeros(g.shape[:a] + self.sizes + g.shape[a + n :], g.dtype)
        return zeros.at[(slice(None),) * a + index].add(g)

    def spmd(self, *types):
        n = max(i.ndim for i in types[1:])
        x, out, index = index_names(self.axis, types[0].ndim - n + len(self.sizes), types[1:])
        return f"{','.join([out, *index])}->{x}"

    @classmethod
    def samples(cls, rng):
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls(0, (5,)), (f(4, 4, 3), np.array([4, 0, -1, 4]))
        yield cls(1, (4,)), (f(5, 2, 2, 3), np.array([[3, 0], [1, 1]], "int32"))
        yield cls(0, (5, 4)), (f(2, 3, 9), np.array([[1], [2]]), np.array([0, 3, 3]))
        yield cls(0, (3,)), (f(7), np.array([1, 1, 2, 1, 0, 2, 1]))
        yield cls(0, (3,)), (rng.integers(-9, 9, (4, 2)), np.array([1, 1, 2, 1]))
        yield cls(0, (3,)), (f(0, 2), np.zeros(0, "int64"))
        yield cls(0, (2,)), (f(3, 6).astype("float16"), np.array([1, 1, 0]))


def ScatterAddRows(size: int, wrap: bool = True) -> ScatterAdd:
    """Zeros [size, ...] with rows added: ScatterAddRows(size)(rows, index); the gradient of an embedding."""
    return ScatterAdd(0, (int(size),), wrap)


@operator
class ScatterSet(Operator):
    """x with the elements at integer positions replaced by those of v; of equal positions the last one counts.

    Positions as in Gather; v has the shape that Gather would give.
    """

    axis: int = 0
    wrap: bool = True
    loops = absent("writes where indices say, twice where they say so twice")

    def infer(self, x: TensorType, v: TensorType, *index: TensorType) -> TensorType:
        shape = index_shape("scatter", *index)
        a = self.axis
        want = x.shape[:a] + shape + x.shape[a + len(index) :]
        if v.shape != want or v.dtype is not x.dtype:
            raise invalid_argument(
                "scatter: the updates do not fit.",
                expected=f"updates: {x.with_shape(want)}",
                received=f"updates: {v}, x: {x}, indices: {', '.join(map(repr, index))}",
            )
        return x

    def numpy(self, x, v, *index):
        out = np.array(x)
        sizes = x.shape[self.axis :]
        out[(slice(None),) * self.axis + tuple(checked(i, n, self.wrap) for i, n in zip(index, sizes))] = v
        return out

    def vjp(self, g, out, x, v, *index):
        return (
            ScatterSet(self.axis, self.wrap)(g, zeros(v.shape, g.dtype), *index),
            Gather(self.axis, self.wrap)(g, *index),
            *(None for _ in index),
        )

    def xla(self, jnp, x, v, *index):
        a, sizes = self.axis, x.shape[self.axis : self.axis + len(index)]
        flat: Any = 0
        for i, n in zip(index, sizes):
            flat = flat * n + jnp.where(i < 0, i + n, i)
        last = last_of_equals(jnp, flat.ravel(), math.prod(sizes)).reshape(flat.shape)
        rows = v.reshape(*x.shape[:a], flat.size, *x.shape[a + len(index) :])
        return x.at[(slice(None),) * a + index].set(jnp.take(rows, last, a))

    def spmd(self, *types):
        x, out, index = index_names(self.axis, types[0].ndim, types[2:])
        index = [i.upper() for i in index]
        a, n = self.axis, types[1].ndim - types[0].ndim + len(index)
        v = out[:a] + out[a : a + n].upper() + out[a + n :]
        return f"{','.join([x, v, *index])}->{x}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(5, 4, 3)).astype("float32")
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls(0), (x, f(2, 4, 3), np.array([4, -2]))
        yield cls(1), (x, f(5, 2, 1, 3), np.array([[3], [1]], "int32"))
        yield cls(0), (x, f(2, 2, 3), np.array([[1], [2]]), np.array([0, 3]))
        yield cls(0), (np.arange(6), np.array(7), np.array(5))
        yield cls(0), (x, np.zeros((0, 4, 3), "float32"), np.zeros(0, "int64"))


@operator
class SliceSet(Operator):
    """x with the elements that Slice(starts, stops, steps) reads replaced by those of v, which broadcasts.

    v may be a number.
    """

    starts: tuple
    stops: tuple
    steps: tuple

    def slice(self):
        return Slice(self.starts, self.stops, self.steps)

    def prepare(self, x: Any, v: Any) -> tuple[Any, Any]:
        return x, Number(v, x.dtype) if is_number(v) else v

    def infer(self, x: TensorType, v: TensorType) -> TensorType:
        want = self.slice().infer(x)
        skip = want.ndim - v.ndim
        fits = skip >= 0 and all(n in (1, m) for n, m in zip(v.shape, want.shape[skip:]))
        if not fits or v.dtype is not x.dtype:
            raise invalid_argument(
                "set_value: the value does not fit the elements that it replaces.",
                expected=f"a value that broadcasts to {want}",
                received=f"{v}",
            )
        return x

    def numpy(self, x, v):
        out = np.array(x)
        out[tuple(self.slice().as_slices())] = v
        return out

    def vjp(self, g, out, x, v):
        return (
            SliceSet(self.starts, self.stops, self.steps)(g, zeros(v.shape, g.dtype)),
            sum_to(self.slice()(g), tuple(v.shape)),
        )

    def loops(self, k, x, v):
        inside, at = None, []
        for i, m, a, s in zip(k.at, self.slice().sizes(), self.starts, self.steps):
            back = s < 0
            if back:
                a, s = a + (m - 1) * s, -s
            j = i - a
            tests = [j < (m - 1) * s + 1] if a <= 0 else [j >= 0, j < (m - 1) * s + 1]
            if s > 1:
                tests.append((j % s).eq(0))
                j = j // s
            for test in tests:
                inside = test if inside is None else inside & test
            at.append(j * -1 + (m - 1) if back else j)
        at = at[len(at) - len(v.shape) :]
        value = k.load(v, [0 if n == 1 else j for n, j in zip(v.shape, at)], inside)
        return value if inside is None else k.where(inside, value, k.load(x, k.at))

    def xla(self, jnp, x, v):
        return x.at[tuple(self.slice().as_slices())].set(v)

    def spmd(self, *types):
        x, v = types
        names = letters(x.ndim, self.slice().cuts(x.shape))
        return f"{names},{names[x.ndim - v.ndim :]}->{names}"

    def sized(self, *shapes):
        return SliceSet(self.starts, tuple(map(min, self.stops, shapes[0])), self.steps)

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(4, 7)).astype("float32")
        f = lambda *s: rng.normal(size=s).astype("float32")  # noqa: E731
        yield cls((1, 0), (3, 7), (1, 1)), (x, f(2, 7))
        yield cls((3, 6), (-1, -1), (-1, -2)), (x, f(4, 4))
        yield cls((0, 1), (4, 7), (3, 2)), (x, f(2, 3))
        yield cls((0, 1), (4, 7), (3, 2)), (x, f(3))
        yield cls((0, 1), (4, 7), (3, 2)), (x, f(2, 1))
        yield cls((0, 1), (4, 7), (3, 2)), (x, f())
        yield cls((2, 5), (2, 6), (1, 1)), (x, f(0, 1))
        yield cls((), (), ()), (np.array(1.0), np.array(2.0))


def zeros(shape, dtype):
    return Full(tuple(shape), 0, dtype)()


@operator
class Index(Operator):
    """What basic indexing gives: a slice, in a shape without the axes of the integers and with new axes."""

    starts: tuple
    stops: tuple
    steps: tuple
    shape: tuple

    def infer(self, x: TensorType) -> TensorType:
        return x.with_shape(self.shape)

    def compose(self, x):
        return reshape(Slice(self.starts, self.stops, self.steps)(x), self.shape)

    @classmethod
    def samples(cls, rng):
        yield cls((1, 0), (2, 5), (1, 2), (3, 1)), (rng.normal(size=(4, 5)).astype("float32"),)


# ---- functions for other rules ----------------------------------------------------------------
def gather_nd(x, index):
    """x at the positions that the last axis of `index` spells: one integer per leading axis of x."""
    n, last = index.shape[-1], len(index.shape) - 1
    parts = [reshape(slice_axis(index, last, j, j + 1), tuple(index.shape)[:-1]) for j in range(n)]
    return IndexSelect(0)(x, *parts)
