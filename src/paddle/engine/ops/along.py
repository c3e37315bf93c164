"""Operators that read and write with one position per element along an axis; the other axes run together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import invalid_argument
from ..types import TensorType
from .creation import Full
from .elementwise import cast, equal
from .indexing import add_rows, checked, index_shape, last_of_equals, position, zeros
from .reduction import narrow
from .registry import Operator, absent, letters, operator


def along_names(axis: int, shape: tuple[int, ...], index: TensorType, place: str) -> tuple[str, str]:
    """Axes for the sharding rules of one position per element: of the tensor, and of the index, `place` on `axis`.

    An index that is shorter than the tensor on another axis meets its first elements: that axis is kept whole.
    """
    names = letters(len(shape), [i for i, n in enumerate(shape) if i == axis or index.shape[i] != n])
    return names, names[:axis] + place + names[axis + 1 :]


@operator
class TakeAlong(Operator):
    """out[.., j, ..] = x[.., index[.., j, ..], ..]: one index per element; the other axes run together."""

    axis: int
    wrap: bool = True

    def infer(self, x: TensorType, index: TensorType) -> TensorType:
        index_shape("take_along_axis", index)
        ok = x.ndim == index.ndim and all(
            i == self.axis or m <= n for i, (n, m) in enumerate(zip(x.shape, index.shape))
        )
        if not ok:
            raise invalid_argument(
                "take_along_axis: the index does not fit.",
                expected=f"as many axes as x, none but axis {self.axis} longer than that of x",
                received=f"x: {x}, indices: {index}",
            )
        return x.with_shape(index.shape)

    def numpy(self, x, index):
        return x[along(checked(index, x.shape[self.axis], self.wrap), self.axis)]

    def vjp(self, g, out, x, index):
        return AddAlong(self.axis, tuple(x.shape), self.wrap)(g, index), None

    def loops(self, k, x, index):
        at = list(k.at)
        at[self.axis] = position(k, k.load(index, k.at), x.shape[self.axis], self.wrap)
        return k.load(x, at)

    def xla(self, jnp, x, index):
        cut = x[tuple(slice(None) if i == self.axis else slice(m) for i, m in enumerate(index.shape))]
        return jnp.take_along_axis(cut, index, self.axis)

    def spmd(self, *types):
        x, index = along_names(self.axis, types[0].shape, types[1], "z")
        return f"{x},{index}->{index}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(5, 4)).astype("float32")
        yield cls(0), (x, rng.integers(-5, 5, (3, 4)))
        yield cls(1), (x, rng.integers(0, 4, (5, 6)).astype("int32"))
        yield cls(1), (x, rng.integers(0, 4, (2, 2)))
        yield cls(0), (rng.normal(size=7), np.zeros(0, "int64"))


def along(index: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """Index arrays that pair each element of `index` with its own place on the other axes."""
    grid = np.ogrid[tuple(slice(n) for n in index.shape)]
    return tuple(index if i == axis else g for i, g in enumerate(grid))


def flat_along(index: np.ndarray, axis: int, shape: tuple[int, ...]) -> np.ndarray:
    flat: Any = 0
    for i, n in zip(along(index, axis), shape):
        flat = flat * n + i
    return np.broadcast_to(flat, index.shape).reshape(-1)


@operator
class IndexSample(TakeAlong):
    """TakeAlong, as the function uses it that calls a bad index a bad value."""

    fault = "bad_index"


@operator
class AddAlong(Operator):
    """Zeros of `shape` with each element of g added at its position along an axis: the gradient of TakeAlong."""

    axis: int
    shape: tuple
    wrap: bool = True
    loops = absent("writes where indices say, twice where they say so twice")

    def infer(self, g: TensorType, index: TensorType) -> TensorType:
        return g.with_shape(self.shape)

    def numpy(self, g, index):
        flat = flat_along(checked(index, self.shape[self.axis], self.wrap), self.axis, self.shape)
        return add_rows(math.prod(self.shape), flat, g.reshape(-1, 1)).reshape(self.shape)

    def vjp(self, g, out, u, index):
        return TakeAlong(self.axis, self.wrap)(g, index), None

    def xla(self, jnp, g, index):
        wide = jnp.zeros(self.shape, np.float32 if narrow(g) else g.dtype)
        return wide.at[along(index, self.axis)].add(g).astype(g.dtype)

    def spmd(self, *types):
        out, index = along_names(self.axis, self.shape, types[1], "z")
        return f"{index},{index}->{out}"

    def sized(self, *shapes):
        return AddAlong(self.axis, shapes[0], self.wrap)

    @classmethod
    def samples(cls, rng):
        yield cls(0, (5, 4)), (rng.normal(size=(3, 4)).astype("float32"), rng.integers(-5, 5, (3, 4)))
        yield cls(1, (5, 4)), (rng.normal(size=(2, 9)), rng.integers(0, 4, (2, 9)).astype("int32"))
        yield cls(0, (3,)), (np.zeros(0), np.zeros(0, "int64"))


_REDUCERS = {"add": np.add, "mul": np.multiply, "amin": np.minimum, "amax": np.maximum}


@operator
class PutAlong(Operator):
    """x with each element of v put at its position along an axis.

    reduce: "assign" (of equal positions the last one counts), or what combines the elements that meet: "add", "mul",
    "amin", "amax", "mean". include_self: the element of x takes part in it.
    """

    axis: int
    reduce: str = "assign"
    include_self: bool = True
    loops = absent("writes where indices say, twice where they say so twice")

    def infer(self, x: TensorType, v: TensorType, index: TensorType) -> TensorType:
        index_shape("put_along_axis", index)
        ok = x.ndim == index.ndim and all(
            i == self.axis or m <= n for i, (n, m) in enumerate(zip(x.shape, index.shape))
        )
        if not ok or v.shape != index.shape or v.dtype is not x.dtype:
            raise invalid_argument(
                "put_along_axis: the index or the values do not fit.",
                expected=f"an index with as many axes as x, none but axis {self.axis} longer than that of x, and as "
                "many values of x's dtype",
                received=f"x: {x}, indices: {index}, values: {v}",
            )
        return x

    def numpy(self, x, v, index):
        flat = flat_along(checked(index, x.shape[self.axis]), self.axis, x.shape)
        out = np.array(x).reshape(-1)
        values = v.reshape(-1)
        if self.reduce == "assign":
            out[flat] = values
            return out.reshape(x.shape)
        if not self.include_self:
            out[flat] = start_of(self.reduce, x.dtype)
        if self.reduce == "mean":
            np.add.at(out, flat, values)
            count = np.bincount(flat, minlength=out.size) + (1 if self.include_self else 0)
            count = np.maximum(count, 1)
            out = (out // count if x.dtype.kind in "iu" else out / count.astype(x.dtype)).astype(x.dtype)
        else:
            _REDUCERS[self.reduce].at(out, flat, values)
        return out.reshape(x.shape)

    def vjp(self, g, out, x, v, index):
        take = TakeAlong(self.axis)
        none = zeros(v.shape, g.dtype)
        if self.reduce == "assign":
            return PutAlong(self.axis)(g, none, index), take(g, index), None
        kept = g if self.include_self else PutAlong(self.axis)(g, none, index)
        if self.reduce == "add":
            return kept, take(g, index), None
        if self.reduce == "mean":
            ones = Full(tuple(v.shape), 1, g.dtype)()
            base = Full(tuple(x.shape), 1 if self.include_self else 0, g.dtype)()
            count = PutAlong(self.axis, "add", True)(base, ones, index)
            if not self.include_self:
                count = PutAlong(self.axis, "amax", True)(count, ones, index)
                return kept, take(g, index) / take(count, index), None
            return kept / count, take(g / count, index), None
        if self.reduce == "mul":
            return kept * out / x if self.include_self else kept, take(g * out, index) / v, None
        hit_x = cast(equal(x, out), g.dtype)
        hit_v = cast(equal(v, take(out, index)), g.dtype)
        base = hit_x if self.include_self else PutAlong(self.axis)(hit_x, none, index)
        count = PutAlong(self.axis, "add")(base, hit_v, index)
        return (g * base / count, take(g / count, index) * hit_v, None)

    def xla(self, jnp, x, v, index):
        at = along(jnp.where(index < 0, index + x.shape[self.axis], index), self.axis)
        if self.reduce == "assign":
            flat: Any = 0
            for i, n in zip(at, x.shape):
                flat = flat * n + i
            flat = jnp.broadcast_to(flat, index.shape).ravel()
            return x.at[at].set(v.ravel()[last_of_equals(jnp, flat, x.size)].reshape(v.shape))
        if not self.include_self:
            x = x.at[at].set(start_of(self.reduce, x.dtype))
        if self.reduce == "mean":
            start = 1 if self.include_self else 0
            count = jnp.maximum(jnp.full(x.shape, start).at[at].add(1), 1)
            total = x.at[at].add(v)
            return (total // count if x.dtype.kind in "iu" else total / count.astype(x.dtype)).astype(x.dtype)
        method = {"add": "add", "mul": "multiply", "amin": "min", "amax": "max"}[self.reduce]
        return getattr(x.at[at], method)(v)

    def spmd(self, *types):
        x, index = along_names(self.axis, types[0].shape, types[2], "Z")
        return f"{x},{index},{index}->{x}"

    @classmethod
    def samples(cls, rng):
        x = rng.normal(size=(5, 4)).astype("float32") + 3
        for reduce in ("assign", "add", "mul", "amin", "amax", "mean"):
            v = rng.normal(size=(3, 4)).astype("float32") + 3
            index = np.stack([rng.permutation(5)[:3] for _ in range(4)], 1)
            yield cls(0, reduce), (x, v, index)
            if reduce != "assign":
                yield cls(0, reduce), (x, v, np.array([[0, 1, 2, 0]] * 3))
        yield cls(1, "add", False), (x, rng.normal(size=(5, 2)).astype("float32"), rng.integers(0, 4, (5, 2)))
        yield (
            cls(1, "amax", False),
            (rng.integers(0, 9, (2, 3)), rng.integers(0, 9, (2, 2)), np.array([[0, 0], [1, 2]])),
        )


def start_of(reduce: str, dtype: np.dtype) -> Any:
    """What a reduction starts from when nothing has come yet."""
    if reduce in ("add", "mean"):
        return 0
    if reduce == "mul":
        return 1
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.max if reduce == "amin" else info.min
    return np.inf if reduce == "amin" else -np.inf
